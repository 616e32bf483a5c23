//! Zips of every kind, also of kinds that no writer of maps makes.

#[path = "../../../tests/formats/pak/zip.rs"]
#[allow(dead_code)]
mod parts;

use bspkit::file::lzma;
use parts::{File, Zip};

use super::edits::Choices;

const NAMES: [&[u8]; 12] = [
    b"a.txt",
    b"A.TXT",
    b"materials/own/a.vmt",
    b"materials\\own\\a.vmt",
    b"sound/a.wav",
    b"./a.txt",
    b"../a.txt",
    b"own/",
    b"",
    b"con.txt",
    b"\xFF.txt",
    b"own/a.txt",
];

/// A zip with at most six files.
pub fn zip(choices: &mut Choices<'_>) -> Zip {
    let mut files: Vec<File> = (0..choices.below(7)).map(|_| file(choices)).collect();
    if choices.below(8) == 0 {
        // A directory that contradicts the files.
        files.iter_mut().for_each(|file| file.central_extra.truncate(choices.below(3)));
    }
    Zip {
        order: if choices.below(2) == 0 { (0..files.len()).rev().collect() } else { Vec::new() },
        gap_before_directory: some(choices),
        gap_before_end: some(choices),
        comment: if choices.below(2) == 0 { some(choices) } else { b"XZP1 0".to_vec() },
        behind: some(choices),
        is_console: choices.below(8) == 0,
        files,
    }
}

fn file(choices: &mut Choices<'_>) -> File {
    let name = NAMES[choices.below(NAMES.len())];
    let data = vec![b'a'; choices.below(300)];
    let mut file = File::new(name, &data);
    match choices.below(4) {
        0 => {
            // A version and the size of the properties, which a lump of the same data has after its sizes.
            let packed = lzma::compress(&data, lzma::Level::default()).unwrap_or_default();
            file.stored = [b"\x15\x03\x05\0", packed.get(12..).unwrap_or_default()].concat();
            file.method = 14;
        }
        1 => file.method = [0, 8, 12, 14, 99][choices.below(5)],
        _ => {}
    }
    file.flags = [0, 0, 0, 1, 2, 8, 1 << 11, 1 << 13][choices.below(8)];
    if file.flags == 8 {
        file.descriptor = [b"PK\x07\x08", &[0; 12][..]].concat();
    }
    file.local_extra = some(choices);
    file.central_extra = if choices.below(2) == 0 { file.local_extra.clone() } else { some(choices) };
    file.gap = some(choices);
    file.comment = some(choices);
    file.crc ^= u32::from(choices.below(8) == 0);
    file.size += u32::from(choices.below(16) == 0);
    file.attributes = [0, 0x10, 0x41ED_0000][choices.below(3)];
    file
}

/// A few bytes, most often none.
fn some(choices: &mut Choices<'_>) -> Vec<u8> {
    match choices.below(3) {
        0 => [b"PK\x01\x02\0\0", b"\x01\0\x02\0ab", b"abcdef"][choices.below(3)][..choices.below(7)].to_vec(),
        _ => Vec::new(),
    }
}
