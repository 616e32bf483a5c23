//! What makes a folder a map: the manifest, with the header and a file for each lump, and the folder `original`.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::Survey;
use super::pack::{Key, Keys};
use crate::records::Format;
use bspkit::disk::input;
use bspkit::json::{Members, syntax};
use bspkit::{Error, ErrorKind};

// The manifest: the header of a map, and a file for each lump. The schema is docs/schema/manifest.schema.json.

/// The name of the manifest in a folder.
pub(super) const NAME: &str = "manifest.json";

/// The description of a map: its header, and a file for each lump.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a manifest: a JSON object")]
pub(super) struct Manifest {
    /// The version of the format: 1.
    pub(super) bspkit_manifest: u32,
    pub(super) dialect: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) revision: Option<i32>,
    /// The checksum in the header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) checksum: Option<u32>,
    /// The number of entries in the lump directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) entries: Option<usize>,
    /// The game whose flag names the files of records use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) game: Option<String>,
    pub(super) lumps: Vec<Part>,
    /// The order of the lumps in the file. The others follow in the usual order of the dialect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) order: Vec<String>,
    /// The alignment of the members of the game lump, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) align_game_lumps: Option<usize>,
    /// A trailer such as Bloodlines' patches write.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) trailer: bool,
    /// Bytes after everything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tail: Option<String>,
    /// Whether the file is not padded to a multiple of 4 bytes, or of 2048 bytes on consoles.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) unpadded: bool,
    /// The line of each member in the file.
    #[serde(skip)]
    pub(super) lines: HashMap<String, usize>,
}

/// A lump, a member of the game lump, a lump of Xash3D's extra header or a BSPX entry.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a lump: a JSON object")]
pub(super) struct Part {
    /// The name of the slot: `PLANES`, `game:sprp`, `extra:LIGHTVECS`, `bspx:RGBLIGHTING`.
    pub(super) lump: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) file: Option<String>,
    /// The folder with the embedded files, for the pakfile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) folder: Option<String>,
    /// The names of embedded files that are not those of their files, by the paths of the files.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) names: BTreeMap<String, String>,
    /// The folder with images of its content, which is in the folder `original`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) images: Option<String>,
    /// The format of the file, if it differs from the extension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) format: Option<Format>,
    /// The type of the records in the file, if the lump may have several types.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) record: Option<String>,
    /// The size of a record, if several types have the same name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) record_size: Option<usize>,
    /// Bytes after the last record, in base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rest: Option<String>,
    /// How many NULs follow the bytes of the file: 1 for entity text (.ent), otherwise 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) nuls: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<i32>,
    /// The flags of a member of the game lump.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) flags: u16,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) compressed: bool,
    /// The alignment of its offset, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) align: Option<usize>,
    /// A file with the bytes before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) gap_before: Option<String>,
    /// The line of the manifest, and the index in it.
    #[serde(skip)]
    pub(super) line: usize,
    #[serde(skip)]
    pub(super) index: usize,
}

pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A problem of a folder: the place, and what is wrong there.
pub(super) fn wrong(place: impl std::fmt::Display, why: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Argument, format!("{place}: {why}"))
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// All problems: the file cannot be read, or parts of it are wrong.
    pub(super) fn read(path: &Path) -> Result<Self, Vec<Error>> {
        let text = input::read(path).map_err(|error| vec![error])?;
        input::refuse_utf16(NAME.as_ref(), &text).map_err(|error| vec![error])?;
        let start = input::without_mark(&text);
        let text = std::str::from_utf8(start).map_err(|_| vec![wrong(NAME, "it is not UTF-8 text")])?;
        Manifest::parse(text)
    }

    fn parse(text: &str) -> Result<Self, Vec<Error>> {
        let at = |line: usize, error: &serde_json::Error| wrong(line_of(line + error.line()), syntax(error));
        let lumps = lumps(text);
        // The problems of all lumps, not only the first one.
        let read = lumps.iter().map(|(lump, line)| (serde_json::from_str::<Part>(lump), line));
        let problems: Vec<Error> =
            read.filter_map(|(part, line)| part.err().map(|error| at(line - 1, &error))).collect();
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut manifest: Manifest = serde_json::from_str(text).map_err(|error| vec![at(0, &error)])?;
        for (index, (part, (_, line))) in manifest.lumps.iter_mut().zip(&lumps).enumerate() {
            (part.line, part.index) = (*line, index);
        }
        manifest.lines = members(text).into_iter().map(|(name, raw)| (name, line_at(text, raw))).collect();
        if manifest.bspkit_manifest != 1 {
            let why = format!("version {} is not supported, only 1", manifest.bspkit_manifest);
            return Err(vec![manifest.wrong("bspkit_manifest", why)]);
        }
        Ok(manifest)
    }

    /// A problem of a member.
    pub(super) fn wrong(&self, member: &str, why: impl std::fmt::Display) -> Error {
        let name = member.split(['[', '.']).next().unwrap_or_default();
        let place = self.lines.get(name).map_or_else(|| NAME.to_owned(), |line| line_of(*line));
        wrong(place, format!("{member}: {why}"))
    }

    /// Its text: one line for each member, and for each lump.
    pub(super) fn text(&self) -> Vec<u8> {
        print(self)
    }
}

/// A JSON object with one line for each member, and for each object in a list.
pub(super) fn print(object: &impl Serialize) -> Vec<u8> {
    // Strings and numbers can always be written.
    let Ok(Value::Object(members)) = serde_json::to_value(object) else { return Vec::new() };
    let lines = members.into_iter().map(|(name, value)| match value {
        Value::Array(items) if items.iter().any(Value::is_object) => {
            let items: Vec<_> = items.iter().map(|item| format!("    {}", line(item))).collect();
            format!("  \"{name}\": [\n{}\n  ]", items.join(",\n"))
        }
        value => format!("  \"{name}\": {}", line(&value)),
    });
    format!("{{\n{}\n}}\n", lines.collect::<Vec<_>>().join(",\n")).into_bytes()
}

/// JSON on one line, with spaces.
fn line(value: &Value) -> String {
    let join = |items: Vec<String>| items.join(", ");
    match value {
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| format!("{}: {}", Value::from(name.as_str()), line(value));
            format!("{{{}}}", join(members.iter().map(member).collect()))
        }
        Value::Array(items) => format!("[{}]", join(items.iter().map(line).collect())),
        value => value.to_string(),
    }
}

fn line_of(line: usize) -> String {
    format!("{NAME}, line {line}")
}

/// The members of an object; none if the text is wrong.
fn members(text: &str) -> Vec<(String, &RawValue)> {
    serde_json::from_str::<Members<'_>>(text).map_or_else(|_| Vec::new(), |members| members.0)
}

/// The text of each lump of a manifest, and its line.
fn lumps(text: &str) -> Vec<(&str, usize)> {
    let lumps = members(text).into_iter().find(|(name, _)| name == "lumps");
    let lumps = lumps.and_then(|(_, lumps)| serde_json::from_str::<Vec<&RawValue>>(lumps.get()).ok());
    lumps.unwrap_or_default().into_iter().map(|lump| (lump.get(), line_at(text, lump))).collect()
}

/// The line of a part of a text.
fn line_at(text: &str, part: &RawValue) -> usize {
    let offset = part.get().as_ptr().addr().saturating_sub(text.as_ptr().addr());
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}

impl Part {
    /// The name of the part in messages.
    pub(super) fn place(&self) -> String {
        format!("{}: lumps[{}] ({})", line_of(self.line), self.index, self.lump)
    }

    /// A problem of a member of the part.
    pub(super) fn wrong(&self, member: &str, why: impl std::fmt::Display) -> Error {
        wrong(format!("{}.{member}", self.place()), why)
    }

    /// The format of its file.
    pub(super) fn file_format(&self) -> Format {
        let extension = self.file.as_deref().and_then(|file| file.rsplit_once('.')).map(|(_, extension)| extension);
        self.format.or(extension.and_then(Format::of_extension)).unwrap_or(Format::Raw)
    }

    /// Whether its file is entity text.
    pub(super) fn is_text(&self) -> bool {
        self.file.as_deref().is_some_and(|file| file.to_ascii_lowercase().ends_with(".ent"))
    }

    /// How many NULs follow the bytes of the file.
    pub(super) fn nul_count(&self) -> usize {
        self.nuls.map_or(usize::from(self.is_text()), usize::from)
    }
}

// The folder `original`: what it takes, beside the other files, to make the very same map again.
//
// `index.json` says where each slot was and what bytes it had. `map.bin` has the bytes of no slot, and a file for each
// slot that its own file does not give back: a compressed one, the structure of the pakfile.

pub(super) const INDEX: &str = "original/index.json";
/// The file with the bytes that no slot of the index covers.
pub(super) const MAP: &str = "original/map.bin";

/// The largest map: offsets are signed.
const MOST_BYTES: usize = 0x7FFF_FFFF;

/// A range of the map: its offset and its length in bytes.
pub(super) type At = [usize; 2];

/// The index of the original map.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Original {
    /// The version of the format: 1.
    pub(super) bspkit_original: u32,
    /// The size of the map in bytes.
    pub(super) size: usize,
    /// The CRC-32 of the map.
    pub(super) crc: String,
    /// The slots with content in the folder, in the order of the directories.
    pub(super) slots: Vec<Stored>,
    /// The images, by their paths below the folder of the map.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) images: Vec<Picture>,
    /// The embedded files with content in the folder, in the order of their directory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) embedded: Vec<Embedded>,
}

/// A slot of the original map.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stored {
    pub(super) lump: String,
    pub(super) at: At,
    /// The CRC-32 of its bytes, decompressed.
    pub(super) crc: String,
    /// The line ends of its text.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) lines: Lines,
    /// The file with its stored bytes, without those of embedded files, if they are needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) kept: Option<String>,
}

/// An image of the original map.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Picture {
    pub(super) file: String,
    /// The CRC-32 of the file; in text, without carriage returns.
    pub(super) crc: String,
}

impl Picture {
    pub(super) fn new(file: &str, bytes: &[u8]) -> Self {
        let crc = match file.ends_with(".json") {
            true => crc(&Lines::Lf.restore(bytes.to_vec())),
            false => crc(bytes),
        };
        Picture { file: file.to_owned(), crc }
    }
}

/// An embedded file of the original map.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Embedded {
    /// The path below the folder of embedded files.
    pub(super) file: String,
    /// Its index in the directory of the pakfile.
    pub(super) entry: usize,
    /// Where its bytes are in the map, if it is not compressed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) at: Option<At>,
    /// The CRC-32 of its bytes.
    pub(super) crc: String,
}

/// The line ends of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Lines {
    #[default]
    Lf,
    Crlf,
    Mixed,
}

/// The CRC-32 of bytes, in hex.
pub(super) fn crc(bytes: &[u8]) -> String {
    format!("{:08x}", crc32fast::hash(bytes))
}

pub(super) fn at(range: &Range<usize>) -> At {
    [range.start, range.len()]
}

fn range([start, length]: At) -> Range<usize> {
    start..start.saturating_add(length)
}

impl Lines {
    pub(super) fn of(text: &[u8]) -> Self {
        let ends = memchr::memchr_iter(b'\n', text);
        let (all, windows) = ends.fold((0_usize, 0_usize), |(all, windows), end| {
            (all + 1, windows + usize::from(end > 0 && text[end - 1] == b'\r'))
        });
        match windows {
            0 => Lines::Lf,
            windows if windows == all => Lines::Crlf,
            _ => Lines::Mixed,
        }
    }

    /// A text with these line ends, whatever an editor or git made of them.
    pub(super) fn restore(self, text: Vec<u8>) -> Vec<u8> {
        if self == Lines::Mixed || self == Lines::of(&text) {
            return text;
        }
        let mut restored = Vec::with_capacity(text.len());
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            let bare = line.strip_suffix(b"\n").map(|line| line.strip_suffix(b"\r").unwrap_or(line));
            match bare {
                None => restored.extend_from_slice(line),
                Some(bare) => {
                    restored.extend_from_slice(bare);
                    restored.extend_from_slice(if self == Lines::Crlf { b"\r\n" } else { b"\n" });
                }
            }
        }
        restored
    }
}

/// The parts of a range that none of the others covers.
fn without(whole: Range<usize>, others: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut others: Vec<_> = others.filter(|other| !other.is_empty()).collect();
    others.sort_by_key(|other| other.start);
    let (mut rest, mut start) = (Vec::new(), whole.start);
    for other in others.into_iter().chain(std::iter::once(whole.end..whole.end)) {
        if start < other.start.min(whole.end) {
            rest.push(start..other.start.min(whole.end));
        }
        start = start.max(other.end);
    }
    rest
}

impl Original {
    /// Reads the index, if the folder has one.
    ///
    /// # Errors
    /// It cannot be read, or contradicts itself.
    pub(super) fn read(survey: &Survey) -> Result<Option<Self>, Error> {
        if !survey.has(INDEX) {
            return Ok(None);
        }
        let text = survey.read(INDEX).map_err(|why| wrong(INDEX, why))?;
        input::refuse_utf16(INDEX.as_ref(), &text)?;
        let read: Original = serde_json::from_slice(input::without_mark(&text)).map_err(|error| wrong(INDEX, error))?;
        let is_inside = |at: &At| range(*at).end <= read.size;
        let mut ranges =
            read.slots.iter().map(|slot| &slot.at).chain(read.embedded.iter().filter_map(|it| it.at.as_ref()));
        match () {
            () if read.bspkit_original != 1 => {
                Err(wrong(INDEX, format!("version {} is not supported, only 1", read.bspkit_original)))
            }
            () if read.size > MOST_BYTES => Err(wrong(INDEX, "no map is as large as its size")),
            () if !ranges.all(is_inside) => Err(wrong(INDEX, "a range in it lies past the end of the map")),
            () => Ok(Some(read)),
        }
    }

    pub(super) fn text(&self) -> Vec<u8> {
        print(self)
    }

    /// The files in the folder `original`, each with the ranges of the map that it holds, in order.
    pub(super) fn kept(&self) -> Vec<(&str, Vec<Range<usize>>)> {
        let embedded = || self.embedded.iter().filter_map(|file| file.at).map(range);
        let of_slots = self.slots.iter().filter_map(|slot| {
            let kept = slot.kept.as_deref()?;
            Some((kept, without(range(slot.at), embedded())))
        });
        let of_none = without(0..self.size, self.slots.iter().map(|slot| range(slot.at)));
        std::iter::once((MAP, of_none)).chain(of_slots).collect()
    }

    /// The bytes of the map that the folder `original` holds; the others are zeros.
    ///
    /// # Errors
    /// Files that are missing or have another size.
    pub(super) fn frame(&self, survey: &Survey) -> Result<Vec<u8>, Vec<Error>> {
        let mut map = vec![0; self.size];
        let mut problems = Vec::new();
        for (name, ranges) in self.kept() {
            let size: usize = ranges.iter().map(ExactSizeIterator::len).sum();
            let bytes = match survey.read(name) {
                Ok(bytes) if bytes.len() == size => bytes,
                Ok(bytes) => {
                    let why = format!("it has {} bytes, but {INDEX} needs {size}: unpack the map again", bytes.len());
                    problems.push(wrong(name, why));
                    continue;
                }
                Err(why) => {
                    problems.push(wrong(INDEX, why));
                    continue;
                }
            };
            let mut rest = &bytes[..];
            for range in ranges {
                let (part, after) = rest.split_at(range.len());
                map[range].copy_from_slice(part);
                rest = after;
            }
        }
        if problems.is_empty() { Ok(map) } else { Err(problems) }
    }

    /// The slots with their keys.
    pub(super) fn keyed(&self) -> Vec<(Key, &Stored)> {
        let mut keys = Keys::default();
        self.slots.iter().map(|slot| (keys.next(&slot.lump), slot)).collect()
    }
}

impl Stored {
    pub(super) fn range(&self) -> Range<usize> {
        range(self.at)
    }
}

impl Embedded {
    pub(super) fn range(&self) -> Option<Range<usize>> {
        self.at.map(range)
    }
}

/// A problem of the folder `original`.
pub(super) fn damaged(why: &str) -> Error {
    wrong("original", why).with_hint("unpack the map again, or remove the folder `original` to build a new map")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_a_range_is_what_nothing_covers() {
        let rest = |others: &[[usize; 2]]| {
            let parts = without(10..20, others.iter().map(|[start, end]| *start..*end));
            parts.into_iter().map(|part| [part.start, part.end]).collect::<Vec<_>>()
        };
        assert_eq!(rest(&[]), [[10, 20]]);
        assert!(rest(&[[0, 40]]).is_empty());
        assert_eq!(rest(&[[12, 14], [13, 15], [0, 11], [18, 30]]), [[11, 12], [15, 18]]);
        assert_eq!(rest(&[[20, 30], [0, 10]]), [[10, 20]]);
    }

    #[test]
    fn line_ends_come_back() {
        for (text, lines) in [("a\nb\n", Lines::Lf), ("a\r\nb\r\n", Lines::Crlf), ("a", Lines::Lf), ("", Lines::Lf)] {
            assert_eq!(Lines::of(text.as_bytes()), lines);
            for other in [text.replace("\r\n", "\n"), text.replace("\r\n", "\n").replace('\n', "\r\n")] {
                assert_eq!(lines.restore(other.into_bytes()), text.as_bytes());
            }
        }
        assert_eq!(Lines::of(b"a\r\nb\n"), Lines::Mixed);
        assert_eq!(Lines::Mixed.restore(b"a\nb\n".to_vec()), b"a\nb\n");
    }
}
