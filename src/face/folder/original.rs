//! The folder `original`: what it takes, beside the other files, to make the very same map again.
//!
//! `index.json` says where each slot was and what bytes it had. `map.bin` has the bytes of no slot, and a file for each
//! slot that its own file does not give back: a compressed one, the structure of the pakfile.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::contents::{Key, Keys};
use super::manifest::{is_default, print, wrong};
use super::survey::Survey;
use crate::Error;
use crate::face::input;

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
