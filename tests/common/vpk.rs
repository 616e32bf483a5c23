//! VPK archives for tests, written without the library.

#![allow(dead_code)] // Each test binary uses a part.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// How many of the first bytes of a file are in the directory.
const PRELOAD: usize = 3;

/// An archive in two parts, beside its directory `NAME_dir.vpk`.
pub(crate) fn write(path: &Path, version: u32, files: &[(&str, &[u8])]) {
    let mut parts: [Vec<u8>; 2] = Default::default();
    let tree = tree(files, |index, bytes: &[u8]| {
        let part = &mut parts[index % 2];
        part.extend_from_slice(b"pad");
        part.extend_from_slice(bytes);
        ((index % 2) as u16, part.len() - bytes.len())
    });
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, [header(version, tree.len()), tree].concat()).unwrap();
    for (number, part) in parts.iter().enumerate() {
        let name = path.file_name().unwrap().to_str().unwrap().replace("_dir.vpk", &format!("_{number:03}.vpk"));
        fs::write(path.with_file_name(name), part).unwrap();
    }
}

/// An archive in one file.
pub(crate) fn write_single(path: &Path, files: &[(&str, &[u8])]) {
    let mut data = Vec::new();
    let tree = tree(files, |_, bytes: &[u8]| {
        data.extend_from_slice(bytes);
        (0x7FFF, data.len() - bytes.len())
    });
    fs::write(path, [header(1, tree.len()), tree, data].concat()).unwrap();
}

fn header(version: u32, size: usize) -> Vec<u8> {
    let mut header = [0x55AA_1234, version, size as u32].map(u32::to_le_bytes).concat();
    header.resize(if version == 2 { 28 } else { 12 }, 0);
    header
}

/// A CRC-32 bit by bit, as the definition has it.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 })
    })
}

/// Extension, folder, files of it: the number, name and bytes of each.
type Tree<'f> = BTreeMap<String, BTreeMap<String, Vec<(usize, String, &'f [u8])>>>;

/// The tree; `put` gives the place of a file's last bytes.
fn tree(files: &[(&str, &[u8])], mut put: impl FnMut(usize, &[u8]) -> (u16, usize)) -> Vec<u8> {
    let mut sorted = Tree::new();
    let or_space = |text: &str| if text.is_empty() { " ".to_owned() } else { text.to_owned() };
    for (index, (name, bytes)) in files.iter().enumerate() {
        let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
        let (stem, extension) = file.rsplit_once('.').unwrap_or((file, ""));
        let folders = sorted.entry(or_space(extension)).or_default();
        folders.entry(or_space(folder)).or_default().push((index, or_space(stem), bytes));
    }
    let mut tree = Vec::new();
    for (extension, folders) in sorted {
        tree.extend([extension.as_bytes(), b"\0"].concat());
        for (folder, files) in folders {
            tree.extend([folder.as_bytes(), b"\0"].concat());
            for (index, stem, bytes) in files {
                let (preload, rest) = bytes.split_at(bytes.len().min(PRELOAD));
                let (archive, offset) = put(index, rest);
                let crc = crc32(bytes).to_le_bytes();
                tree.extend([stem.as_bytes(), b"\0", &crc, &(preload.len() as u16).to_le_bytes()].concat());
                tree.extend([&archive.to_le_bytes()[..], &(offset as u32).to_le_bytes()].concat());
                tree.extend([&(rest.len() as u32).to_le_bytes()[..], &[0xFF; 2], preload].concat());
            }
            tree.push(0);
        }
        tree.push(0);
    }
    tree.push(0);
    tree
}
