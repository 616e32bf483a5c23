//! Drafts: what was edited through a lens, as bytes, in its compression and version is one draft, of which every part can
//! be taken back.

use bspkit::dialect::{self, Role};
use bspkit::{Bsp, Builder, Compression, Draft, Error, ErrorKind, Layout, SlotId};

const TEXT: &[u8] = b"{\n\"classname\" \"worldspawn\"\n}\n\0";
const OTHER: &[u8] = b"{\n\"classname\" \"worldspawn\"\n\"message\" \"other\"\n}\n\0";

fn map() -> Vec<u8> {
    Builder::new(&dialect::SOURCE).lump(0, TEXT).lump(1, [7; 400]).lump(14, [0; 48]).build().unwrap()
}

fn ids(map: &Bsp<'_>) -> [SlotId; 3] {
    [Role::Entities, Role::Pak, Role::Planes].map(|role| map.role(role).unwrap().id)
}

/// An edit of every kind.
fn edit_all(draft: &mut Draft<'_>) {
    let [_, _, planes] = ids(draft.bsp());
    draft.entities().unwrap().get_mut(0).unwrap().set("message", "lens").unwrap();
    draft.pak().unwrap().add("a.txt", &b"a file"[..]).unwrap();
    draft.set_compression(planes, Compression::Lzma).unwrap();
    draft.set_version(SlotId::Lump(14), 3).unwrap();
}

fn is_identity(draft: &Draft<'_>) -> bool {
    draft.changes().unwrap().is_empty() && draft.plan(Layout::Keep).unwrap().is_identity()
}

#[test]
fn every_edit_can_be_taken_back_by_its_slot() {
    let bytes = map();
    let map = Bsp::parse(&bytes).unwrap();
    let mut draft = map.draft();
    edit_all(&mut draft);
    let [entities, pak, planes] = ids(&map);
    assert_eq!(draft.changes().unwrap(), [entities, planes, pak]);
    draft.revert(entities);
    assert_eq!(draft.changes().unwrap(), [planes, pak]);
    assert_eq!(draft.entities().unwrap().get(0).unwrap().get("message"), None);
    draft.revert(pak);
    assert_eq!(draft.changes().unwrap(), [planes]);
    assert!(draft.pak().unwrap().is_empty());
    draft.revert(planes);
    assert!(draft.changes().unwrap().is_empty() && !is_identity(&draft), "the version is left");
    draft.revert(SlotId::Lump(14));
    assert!(is_identity(&draft));

    edit_all(&mut draft);
    assert!(!is_identity(&draft));
    draft.revert_all();
    assert!(is_identity(&draft));
    assert_eq!(draft.compression(planes), Compression::Raw);
}

#[test]
fn bytes_that_are_set_take_the_place_of_what_a_lens_had() {
    let bytes = map();
    let map = Bsp::parse(&bytes).unwrap();
    let [entities, pak, _] = ids(&map);
    let mut draft = map.draft();
    draft.entities().unwrap().get_mut(0).unwrap().set("message", "lens").unwrap();
    assert!(draft.bytes(entities).unwrap().windows(4).any(|four| four == b"lens"));
    draft.set(entities, OTHER).unwrap();
    assert_eq!(*draft.bytes(entities).unwrap(), *OTHER);
    // The lens goes on from there.
    let mut world = draft.entities().unwrap().get_mut(0).unwrap();
    assert_eq!(world.entity().get("message"), Some(&b"other"[..]));
    world.set("sounds", "3").unwrap();
    let saved = draft.plan(Layout::Keep).unwrap().to_vec();
    let saved = Bsp::parse(&saved).unwrap().entities().unwrap().to_bytes();
    assert_eq!(saved, b"{\n\"classname\" \"worldspawn\"\n\"message\" \"other\"\n\"sounds\" \"3\"\n}\n\0");
    draft.set(entities, TEXT).unwrap();
    assert!(is_identity(&draft));

    draft.pak().unwrap().add("a.txt", &b"a file"[..]).unwrap();
    let zip = draft.bytes(pak).unwrap();
    draft.pak().unwrap().add("b.txt", &b"another"[..]).unwrap();
    draft.set(pak, zip).unwrap();
    let names: Vec<_> = draft.pak().unwrap().iter().map(|entry| entry.name().to_vec()).collect();
    assert_eq!(names, [b"a.txt"]);
    draft.set(pak, Vec::new()).unwrap();
    assert!(is_identity(&draft));
}

#[test]
fn a_transaction_is_done_as_a_whole_or_not_at_all() {
    let bytes = map();
    let map = Bsp::parse(&bytes).unwrap();
    let [entities, _, _] = ids(&map);
    let mut draft = map.draft();
    draft.set(entities, OTHER).unwrap();
    let before = draft.plan(Layout::Keep).unwrap().to_vec();
    let failed = draft.transaction(|draft| -> bspkit::Result<()> {
        edit_all(draft);
        draft.set(entities, TEXT)?;
        Err(Error::new(ErrorKind::Refused, "the last of several edits"))
    });
    assert_eq!(failed.unwrap_err().kind(), ErrorKind::Refused);
    assert_eq!(draft.plan(Layout::Keep).unwrap().to_vec(), before);
    assert_eq!(draft.transaction(|draft| draft.set(entities, TEXT).map(|()| 7)).unwrap(), 7);
    assert!(is_identity(&draft));
}

#[test]
fn what_is_not_there_cannot_be_edited() {
    let bytes = map();
    let mut draft = Bsp::parse(&bytes).unwrap().draft();
    for error in [
        draft.set(SlotId::Bspx(0), Vec::new()).unwrap_err(),
        draft.set_version(SlotId::Lump(64), 1).unwrap_err(),
        draft.set_compression(SlotId::Game(0), Compression::Lzma).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    }
    assert!(is_identity(&draft));
}

/// Parts of the game lump have bytes in common: after an edit of one, the old bytes of another are not given.
#[test]
fn parts_of_the_game_lump_are_not_read_after_an_edit_of_another_part() {
    let map = Bsp::open("tests/maps/source/room_v20.bsp").unwrap();
    let [lump, member] = ["GAME_LUMP", "game:sprp"].map(|name| map.slot(name).unwrap().id);
    let mut draft = map.draft();
    draft.set(lump, Vec::new()).unwrap();
    assert_eq!(draft.bytes(member).unwrap_err().kind(), ErrorKind::Refused);
    assert!(draft.bytes(lump).unwrap().is_empty());
    draft.revert(lump);
    assert_eq!(*draft.bytes(member).unwrap(), *map.bytes(member).unwrap());
    draft.set(member, b"own".to_vec()).unwrap();
    assert_eq!(draft.bytes(lump).unwrap_err().kind(), ErrorKind::Refused);
    assert_eq!(*draft.bytes(member).unwrap(), *b"own");
}
