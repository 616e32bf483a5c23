//! The maps given to the engines: fixtures, copies edited by the program, copies broken on purpose.
//!
//! Nothing here uses the library: what is under test does not judge itself.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The layouts the program can save with.
pub(crate) const LAYOUTS: [&str; 3] = ["keep", "append", "repack"];

/// The path of a fixture such as `q3/own_rooms`.
pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/maps").join(name).with_extension("bsp")
}

/// Has the program edit a map, one `ent` command after the other, and gives the path of the last result.
///
/// A step is a verb and its arguments, without map and options: `["set", "worldspawn", "gravity=321"]`.
pub(crate) fn edit(map: &Path, layout: &str, steps: &[&[&str]], folder: &Path) -> PathBuf {
    let mut last = map.to_owned();
    for (index, step) in steps.iter().enumerate() {
        let out = folder.join(format!("edited-{layout}-{index}.bsp"));
        let run = Command::new(env!("CARGO_BIN_EXE_bspkit"))
            .args(["ent", step[0]])
            .arg(&last)
            .args(&step[1..])
            .arg("-o")
            .arg(&out)
            .args(["--layout", layout])
            .output()
            .unwrap();
        let words = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "bspkit ent {step:?} --layout {layout} on {}: {words}", last.display());
        last = out;
    }
    last
}

/// Runs the program, which has to succeed.
pub(crate) fn bspkit(arguments: &[&str]) -> Vec<u8> {
    let run = Command::new(env!("CARGO_BIN_EXE_bspkit")).args(arguments).output().unwrap();
    assert!(run.status.success(), "bspkit {arguments:?}: {}", String::from_utf8_lossy(&run.stderr));
    run.stdout
}

/// The first sum that the program prints of a map, as engines print it.
pub(crate) fn checksum(map: &Path) -> String {
    let printed = bspkit(&["checksum", map.to_str().unwrap(), "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&printed).unwrap();
    json["checksums"][0]["signed"].to_string()
}

/// A file of areas for bots with no areas in it.
pub(crate) fn areas(version: u8, checksum: i32) -> Vec<u8> {
    let mut head = checksum.to_le_bytes().to_vec();
    // Fourteen empty lumps.
    head.extend([[124, 0, 0, 0], [0; 4]].concat().repeat(14));
    if version == 5 {
        head.iter_mut().zip(0_usize..).for_each(|(byte, at)| *byte ^= (at * 119) as u8);
    }
    [b"EAAS".to_vec(), vec![version, 0, 0, 0], head].concat()
}

/// A map with the version number of no format.
pub(crate) fn with_wrong_version(map: &Path) -> Vec<u8> {
    let mut bytes = std::fs::read(map).unwrap();
    let at = directory(&bytes) - 4;
    bytes[at] += 9;
    bytes
}

/// A map whose lump `number` is said to lie eight bytes behind its place, or before it where the file ends there.
///
/// This is what a layout gets wrong when it moves bytes and forgets the word that says where they are.
pub(crate) fn with_stale_offset(map: &Path, number: usize) -> Vec<u8> {
    let mut bytes = std::fs::read(map).unwrap();
    let Range { start, end } = lump(&bytes, number);
    let wrong = if end + 8 <= bytes.len() { start + 8 } else { start - 8 };
    let at = directory(&bytes) + 8 * number;
    bytes[at..at + 4].copy_from_slice(&u32::try_from(wrong).unwrap().to_le_bytes());
    bytes
}

/// The numbers of the lumps that have bytes.
pub(crate) fn lumps(map: &Path) -> Vec<usize> {
    let bytes = std::fs::read(map).unwrap();
    let count = match &bytes[..8] {
        b"IBSP\x26\0\0\0" => 19,
        b"IBSP\x2e\0\0\0" => 17,
        _ => 15,
    };
    (0..count).filter(|&number| !lump(&bytes, number).is_empty()).collect()
}

/// Where the directory begins: behind the version, which has a name before it in all but GoldSrc's maps.
fn directory(bytes: &[u8]) -> usize {
    if bytes.starts_with(b"IBSP") { 8 } else { 4 }
}

fn lump(bytes: &[u8], number: usize) -> Range<usize> {
    let at = directory(bytes) + 8 * number;
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    word(at)..word(at) + word(at + 4)
}

/// Keys and values of one entity, in order.
pub(crate) type Entity = Vec<(String, String)>;

/// The entities that stand in a fixture.
pub(crate) fn entities_of(map: &Path) -> Vec<Entity> {
    let bytes = std::fs::read(map).unwrap();
    let range = lump(&bytes, 0);
    entities(std::str::from_utf8(&bytes[range]).unwrap()).unwrap()
}

/// Reads entity text: braces and quoted strings, nothing else.
pub(crate) fn entities(text: &str) -> Result<Vec<Entity>, String> {
    let mut all = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['"', '}']) {
        let inside = &rest[at + 1..];
        if rest.as_bytes()[at] == b'}' {
            all.push(pairs(std::mem::take(&mut words))?);
            rest = inside;
        } else {
            let end = inside.find('"').ok_or_else(|| format!("no quote behind {inside:?}"))?;
            words.push(inside[..end].to_owned());
            rest = &inside[end + 1..];
        }
    }
    if words.is_empty() { Ok(all) } else { Err(format!("no brace behind {words:?}")) }
}

/// Makes pairs of words that are key and value in turn.
pub(crate) fn pairs(words: Vec<String>) -> Result<Entity, String> {
    if !words.len().is_multiple_of(2) {
        return Err(format!("a key without its value in {words:?}"));
    }
    let mut words = words.into_iter();
    let mut all = Vec::new();
    while let (Some(key), Some(value)) = (words.next(), words.next()) {
        all.push((key, value));
    }
    Ok(all)
}

/// Takes the one entity of this class out, and gives it.
pub(crate) fn take_entity(all: &mut Vec<Entity>, class: &str) -> Entity {
    let of_class = |entity: &Entity| entity.iter().any(|(key, value)| key == "classname" && value == class);
    let places: Vec<usize> = (0..all.len()).filter(|&index| of_class(&all[index])).collect();
    assert_eq!(places.len(), 1, "entities of class {class}");
    all.remove(places[0])
}

/// Takes the one value of this key out of the first entity (worldspawn), and gives it.
pub(crate) fn take_value(all: &mut [Entity], key: &str) -> String {
    let places: Vec<usize> = (0..all[0].len()).filter(|&index| all[0][index].0 == key).collect();
    assert_eq!(places.len(), 1, "values of {key} in {:?}", all[0]);
    all[0].remove(places[0]).1
}
