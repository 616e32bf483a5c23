//! Sounds: values that name a file or an entry in a script, and what scenes play.

use super::graph::Graph;
use super::{Kind, Referrer, Sure, normal_name};

/// A larger scene is not read.
const MOST_BYTES: usize = 4 << 20;

/// The characters before the name of a sound file that say how it is played.
const PREFIXES: &[u8] = b"*#@<>^)(}$!?&~`+%";

/// The path of a sound file: without the characters before its name, below `sound`.
pub(super) fn file(written: &[u8]) -> Vec<u8> {
    let start = written.iter().position(|byte| !PREFIXES.contains(byte)).unwrap_or(written.len());
    let name = normal_name(&written[start..]);
    let folder: &[u8] = if name.starts_with(b"sound/") { b"" } else { b"sound/" };
    [folder, &name].concat()
}

/// Whether a value is the name of a sound file; another name is an entry of a script.
pub(super) fn is_file(written: &[u8]) -> bool {
    let end = written.len().checked_sub(4).map_or(&b""[..], |at| &written[at..]);
    [&b".wav"[..], b".mp3", b".ogg"].iter().any(|known| end.eq_ignore_ascii_case(known))
}

/// Adds what a value names: a file, or an entry of a script.
pub(super) fn named(graph: &mut Graph<'_>, written: &[u8], referrer: Referrer, sure: Sure) {
    let written = written.trim_ascii();
    if is_file(written) {
        graph.add(Kind::Sound, &file(written), referrer, written, sure);
    } else if !written.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-')) {
        graph.want(Kind::SoundScript, written, referrer, sure);
    }
}

/// What a scene plays: `event speak "name"` has a block with the name of the sound after `param`.
pub(super) fn expand_scene(graph: &mut Graph<'_>, index: usize) {
    let name = graph.needs.files[index].name.clone();
    let Some(data) = graph.read(&name, MOST_BYTES) else { return };
    let (mut before, mut event): (&[u8], &[u8]) = (b"", b"");
    for (line, text) in data.split(|byte| *byte == b'\n').enumerate() {
        for word in words(text) {
            let from = Referrer::File { index, line: Some(line + 1) };
            match before {
                b"event" => event = word,
                b"param" if event == b"speak" => named(graph, word, from, Sure::Certain),
                b"param" if event == b"subscene" => graph.add(Kind::Scene, word, from, word, Sure::Certain),
                _ => {}
            }
            before = word;
        }
    }
}

/// The words of a line up to a comment; one in quotes may have spaces.
fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = line;
    std::iter::from_fn(move || {
        rest = rest.trim_ascii_start();
        let (word, next) = match rest {
            [] | [b'/', b'/', ..] => return None,
            [b'"', inner @ ..] => {
                let end = memchr::memchr(b'"', inner).unwrap_or(inner.len());
                (&inner[..end], &inner[(end + 1).min(inner.len())..])
            }
            _ => rest.split_at(rest.iter().position(|byte| *byte <= b' ').unwrap_or(rest.len())),
        };
        rest = next;
        Some(word)
    })
}
