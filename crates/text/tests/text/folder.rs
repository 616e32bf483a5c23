//! Folders of maps that nobody made: what is packed is what was unpacked, and edited files are edits of the map.

use crate::{random, recipe};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use bspkit::dialect::Role;
use bspkit::{Bsp, Error, Layout, SlotId};
use bspkit_text::folder::{Folder, How, Packed, unpack};
use bspkit_text::records::{Format, Numbers};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use tempfile::TempDir;

type Files = BTreeMap<String, Vec<u8>>;

fn files(map: &Bsp<'_>, how: &How) -> Files {
    let mut files = Files::new();
    unpack(map, how, |name, bytes| {
        assert!(files.insert(name.to_owned(), bytes.to_vec()).is_none(), "{name} is written twice");
        Ok(())
    })
    .unwrap();
    files
}

fn folder(files: &Files) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    folder
}

fn pack(folder: &Path) -> Result<Packed, Vec<Error>> {
    Folder::read(folder).and_then(|folder| folder.pack(Numbers::Kept))
}

fn packed(files: &Files) -> Vec<u8> {
    let packed = pack(folder(files).path()).unwrap();
    assert_eq!(packed.edited, [""; 0]);
    packed.draft.plan(Layout::Keep).unwrap().to_vec()
}

/// Everything as bytes, so that a file has what its slot has.
fn as_bytes() -> How {
    let mut how = How::default();
    (how.format, how.no_images) = (Some(Format::Raw), true);
    how
}

/// The slots of a folder of bytes, each with the name of its file.
fn slots(map: &Bsp<'_>, files: &Files) -> Vec<(SlotId, String)> {
    let manifest: serde_json::Value = serde_json::from_slice(&files["manifest.json"]).unwrap();
    let parts = manifest["lumps"].as_array().unwrap().iter();
    let mut seen = BTreeMap::<String, usize>::new();
    let slot = |part: &serde_json::Value| {
        let name = part["lump"].as_str().unwrap();
        let nth = seen.entry(name.to_owned()).or_default();
        *nth += 1;
        let slot = map.slots().iter().filter(|slot| slot.name == name).nth(*nth - 1).unwrap();
        Some((slot.id, part["file"].as_str()?.to_owned()))
    };
    parts.map(slot).collect::<Vec<_>>().into_iter().flatten().collect()
}

/// Planted faults: a changed byte in a file is an edit, or it is refused; it never passes for the original.
#[test]
fn a_changed_byte_is_seen() {
    for map in ["goldsrc/own_rooms", "q2/own_rooms_bspx", "source/room_v20", "source/room_v20_lzma"] {
        let map =
            Bsp::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/maps").join(map).with_extension("bsp"));
        let whole = files(&map.unwrap(), &How::default());
        for (name, bytes) in &whole {
            let is_text = [".json", ".jsonl", ".gitattributes"].iter().any(|end| name.ends_with(end));
            if bytes.is_empty() || is_text {
                continue;
            }
            for at in [0, bytes.len() / 2, bytes.len() - 1] {
                let mut files = whole.clone();
                files.get_mut(name).unwrap()[at] ^= 1;
                match pack(folder(&files).path()) {
                    Err(problems) => assert!(!problems.is_empty()),
                    // Pixels that the map does not have are said, and are no edit.
                    Ok(packed) => {
                        let is_said = !packed.edited.is_empty() || !packed.warnings.is_empty();
                        assert!(is_said, "{name}, byte {at}");
                    }
                }
            }
        }
    }
}

/// Damaged maps whose lumps reach to the end of the file have the bytes of others in them: of records, images, and
/// embedded files.
#[test]
fn lumps_that_have_the_bytes_of_all_others_are_packed_as_they_were() {
    for (name, first, step) in [("q2/own_rooms", 8, 8), ("goldsrc/own_rooms", 4, 8), ("source/room_v20", 8, 16)] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/maps").join(name).with_extension("bsp");
        let whole = std::fs::read(path).unwrap();
        let lumps =
            Bsp::parse(&whole).unwrap().slots().iter().filter(|slot| matches!(slot.id, SlotId::Lump(_))).count();
        for word in (0..lumps).map(|lump| first + lump * step + 4) {
            let start: [u8; 4] = whole[word - 4..word].try_into().unwrap();
            let start = usize::try_from(u32::from_le_bytes(start)).unwrap();
            let mut bytes = whole.clone();
            let length = u32::try_from(whole.len() - start).unwrap();
            bytes[word..word + 4].copy_from_slice(&length.to_le_bytes());
            let Ok(map) = Bsp::parse(&bytes) else { continue };
            assert!(packed(&files(&map, &How::default())) == bytes, "{name}, {word}");
        }
    }
}

/// The record of the original is not needed to understand a folder: without it the same content becomes a new map.
#[test]
fn without_the_original_the_content_is_the_same() {
    for name in ["q1/own_rooms", "q2/own_rooms_bspx", "q3/own_rooms", "goldsrc/own_rooms", "source/room_v20_lzma"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/maps").join(name).with_extension("bsp");
        let map = Bsp::open(path).unwrap();
        let mut how = How::default();
        how.no_images = true;
        let mut files = files(&map, &how);
        files.retain(|name, _| !name.starts_with("original/"));
        let packed = pack(folder(&files).path()).unwrap();
        assert!(packed.is_new);
        let new = packed.draft.bsp();
        for slot in map.slots().iter().filter(|slot| Some(slot.id) != map.role(Role::GameLump).map(|slot| slot.id)) {
            let other = new.container().slot(slot.id).unwrap();
            assert_eq!((slot.version, &slot.name), (other.version, &other.name), "{name}");
            let is_pak = new.role(Role::Pak).is_some_and(|pak| pak.id == slot.id);
            let files =
                |map: &Bsp<'_>| map.pak().unwrap().iter().map(|it| it.data().unwrap().to_vec()).collect::<Vec<_>>();
            match is_pak {
                true => assert_eq!(files(&map).iter().collect::<BTreeSet<_>>(), files(new).iter().collect(), "{name}"),
                false => assert!(map.bytes(slot.id).unwrap() == new.bytes(slot.id).unwrap(), "{name} {}", slot.name),
            }
        }
    }
}

/// The manifest gives an embedded file its name, also one that is as it was.
#[test]
fn an_embedded_file_gets_the_name_of_the_manifest() {
    let map = Bsp::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/maps/source/room_v20.bsp")).unwrap();
    for edited in [false, true] {
        let mut files = files(&map, &How::default());
        let mut manifest: serde_json::Value = serde_json::from_slice(&files["manifest.json"]).unwrap();
        let part = manifest["lumps"].as_array_mut().unwrap().iter_mut().find(|part| part["folder"] == "pak").unwrap();
        part["names"] = serde_json::json!({"maps/room_v20.txt": "maps/renamed.txt"});
        files.insert("manifest.json".into(), serde_json::to_vec(&manifest).unwrap());
        if edited {
            files.insert("pak/maps/room_v20.txt".into(), b"new".to_vec());
        }
        let packed = pack(folder(&files).path()).unwrap();
        assert!(packed.edited.iter().any(|name| name.contains("renamed to maps/renamed.txt")), "{:?}", packed.edited);
        let bytes = packed.draft.plan(Layout::Keep).unwrap().to_vec();
        let (new, old) = (Bsp::parse(&bytes).unwrap().pak().unwrap().to_owned(), map.pak().unwrap());
        let names = |pak: &bspkit::content::pak::Pak<'_>| pak.iter().map(|it| it.name().to_vec()).collect::<Vec<_>>();
        let expected = names(&old).into_iter().map(|name| match &name[..] {
            b"maps/room_v20.txt" => b"maps/renamed.txt".to_vec(),
            _ => name,
        });
        assert_eq!(names(&new), expected.collect::<Vec<_>>());
        let file = new.get(new.one("maps/renamed.txt").unwrap()).unwrap().data().unwrap();
        assert_eq!(*file == *b"new", edited);
    }
}

/// Engines find one of two files of one name. The other one would be lost in silence.
#[test]
fn two_files_of_one_name_are_refused() {
    let map = Bsp::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/maps/source/room_v20.bsp")).unwrap();
    let mut draft = map.draft();
    let pak = draft.pak().unwrap();
    pak.add(b"own/a.txt", b"one".to_vec()).unwrap();
    pak.add(b"own/b.txt", b"two".to_vec()).unwrap();
    let plain = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
    for ((path, name), added) in [
        // Two files of the folder, of which the manifest names one as the other.
        (("own/c.txt", "own/d.txt"), &["own/c.txt", "own/d.txt"][..]),
        // A new one with the name of an old one, in other letters.
        (("own/c.txt", r"OWN\\A.TXT"), &["own/c.txt"]),
    ] {
        for has_original in [true, false] {
            let mut how = How::default();
            how.no_images = true;
            let mut files = files(&plain, &how);
            files.retain(|name, _| has_original || !name.starts_with("original/"));
            let mut manifest: serde_json::Value = serde_json::from_slice(&files["manifest.json"]).unwrap();
            let parts = manifest["lumps"].as_array_mut().unwrap();
            let part = parts.iter_mut().find(|part| part["folder"] == "pak").unwrap();
            part["names"] = serde_json::json!({path: name});
            files.insert("manifest.json".into(), serde_json::to_vec(&manifest).unwrap());
            added.iter().for_each(|path| drop(files.insert(format!("pak/{path}"), path.as_bytes().to_vec())));
            let errors = pack(folder(&files).path()).err().unwrap();
            assert!(errors[0].to_string().contains("have the same name for engines"), "{errors:?}");
        }
    }
}

proptest! {
    #![proptest_config(random::config(250, "tests/proptest-regressions/folder.txt"))]

    #[test]
    fn what_is_packed_is_what_was_unpacked(recipe in recipe::recipes()) {
        let bytes = recipe.build();
        let Ok(map) = Bsp::parse(&bytes) else { return Ok(()) };
        for how in [How::default(), as_bytes()] {
            let files = files(&map, &how);
            prop_assert_eq!(&packed(&files), &bytes);
            prop_assert!(files == self::files(&map, &how), "two unpacks differ");
        }
    }

    #[test]
    fn edited_files_are_edits_of_the_map(
        recipe in recipe::recipes(),
        edits in vec((any::<Index>(), vec(1..=255_u8, 0..60)), 1..4),
    ) {
        let bytes = recipe.build();
        let Ok(map) = Bsp::parse(&bytes) else { return Ok(()) };
        let mut files = files(&map, &as_bytes());
        let slots = slots(&map, &files);
        prop_assume!(!slots.is_empty());
        let mut draft = map.draft();
        let mut refused = false;
        for (index, new) in edits {
            let (slot, file) = &slots[index.index(slots.len())];
            // Line ends are restored, so that text has none.
            let new: Vec<u8> = new.into_iter().map(|byte| if byte == b'\n' { b' ' } else { byte }).collect();
            let old = map.bytes(*slot).unwrap();
            let nuls = old.iter().rev().take_while(|byte| **byte == 0).count();
            let nuls = if file.ends_with(".ent") { nuls } else { 0 };
            files.insert(file.clone(), new.clone());
            refused |= draft.set(*slot, [new, vec![0; nuls]].concat()).is_err();
        }
        let expected = draft.plan(Layout::Keep).map(|plan| plan.to_vec());
        let packed = pack(folder(&files).path());
        match (expected, packed) {
            (Ok(expected), Ok(packed)) if !refused => {
                let found = packed.draft.plan(Layout::Keep).map(|plan| plan.to_vec()).map_err(|error| error.to_string());
                prop_assert!(found.as_ref() == Ok(&expected), "{:?} of {:?}", found.map(|it| it.len()), expected.len());
            }
            (Err(_), Ok(packed)) => prop_assert!(packed.draft.plan(Layout::Keep).is_err(), "the plan is not refused"),
            (_, Ok(_)) => prop_assert!(false, "the edit is not refused"),
            (expected, Err(problems)) => prop_assert!(refused || expected.is_err(), "{problems:?}"),
        }
    }
}
