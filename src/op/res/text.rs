//! Files by the name of the map, and the `.res` file as text.

use std::collections::HashSet;

use super::{Collector, Kind, List, Origin};
use crate::content::assets::{Files, normal_name};

/// The files that engines look for by the name of the map, which is between the two parts.
const BY_NAME: [(&str, &str, Kind); 5] = [
    ("overviews/", ".txt", Kind::Overview),
    ("overviews/", ".bmp", Kind::Overview),
    ("overviews/", ".tga", Kind::Overview),
    ("maps/", ".txt", Kind::Text),
    ("maps/", "_detail.txt", Kind::Detail),
];

/// A larger list of detail textures is not read.
const MOST_BYTES: usize = 1 << 20;

/// Adds the files that are there.
pub(super) fn collect(map: &[u8], own: &dyn Files, collector: &mut Collector) {
    for (before, after, kind) in BY_NAME {
        let name = [before.as_bytes(), map, after.as_bytes()].concat();
        if own.has(&normal_name(&name)) {
            collector.add(kind, &name, Origin::Map);
            if kind == Kind::Detail {
                details(&name, own, collector);
            }
        }
    }
}

/// Adds the textures of a list: a line has a texture, its detail texture below `gfx`, and two numbers.
fn details(list: &[u8], own: &dyn Files, collector: &mut Collector) {
    let text = match own.read(&normal_name(list), MOST_BYTES) {
        Ok(Some(text)) => text,
        Ok(None) => return,
        Err(error) => return collector.faults.push(error.to_string()),
    };
    for line in text.split(|byte| *byte == b'\n') {
        let words = line.split(|byte| byte.is_ascii_whitespace() || *byte == b'"').filter(|word| !word.is_empty());
        let words: Vec<&[u8]> = words.take_while(|word| !word.starts_with(b"//")).collect();
        let [_, detail, ..] = words[..] else { continue };
        collector.add(Kind::Detail, &[b"gfx/", detail, b".tga"].concat(), Origin::File(list.to_vec()));
    }
}

impl List {
    /// The text of a new `.res` file.
    pub fn text(&self) -> Vec<u8> {
        self.text_after(b"")
    }

    /// The text of a `.res` file, with what it lacks at its end. Its lines stay; a name in a comment counts as listed.
    pub fn text_after(&self, old: &[u8]) -> Vec<u8> {
        let end: &[u8] = if old.windows(2).any(|two| two == b"\r\n") { b"\r\n" } else { b"\n" };
        let listed: HashSet<Vec<u8>> = old.split(|byte| *byte == b'\n').map(name).collect();
        let mut out = old.to_vec();
        let mut last = None;
        for file in self.files.iter().filter(|file| !listed.contains(&normal_name(&file.name))) {
            if !out.is_empty() && !out.ends_with(b"\n") {
                out.extend_from_slice(end);
            }
            if last != Some(file.kind) {
                out.extend_from_slice(format!("// {}", heading(file.kind)).as_bytes());
                out.extend_from_slice(end);
                last = Some(file.kind);
            }
            // The engine's parser ends a word at a space.
            let quote: &[u8] = if file.name.iter().any(u8::is_ascii_whitespace) { b"\"" } else { b"" };
            out.extend_from_slice(&[quote, &file.name, quote, end].concat());
        }
        out
    }
}

/// The name in a line, also in a comment.
fn name(line: &[u8]) -> Vec<u8> {
    let line = line.trim_ascii();
    let line = line.strip_prefix(b"//").unwrap_or(line).trim_ascii();
    let quoted = line.strip_prefix(b"\"").and_then(|rest| rest.split(|byte| *byte == b'"').next());
    normal_name(quoted.unwrap_or_else(|| line.split(|byte| byte.is_ascii_whitespace()).next().unwrap_or_default()))
}

fn heading(kind: Kind) -> &'static str {
    match kind {
        Kind::Model => "models",
        Kind::Sprite => "sprites",
        Kind::Sound => "sounds",
        Kind::Wad => "wads",
        Kind::Sky => "sky",
        Kind::Overview => "overview",
        Kind::Text => "text",
        Kind::Detail => "detail textures",
    }
}
