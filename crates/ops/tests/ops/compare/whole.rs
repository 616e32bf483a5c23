//! Whole files: nothing that differs goes unnamed, and nothing else is named.

use std::path::Path;

use bspkit::verify::{self, Subject};
use bspkit::{Bsp, Builder, Compression, Data, Draft, Layout, Rope, SegmentKind, dialect};
use bspkit_ops::compare::{self, Change, Comparison, How, Kind};

use super::named::{byte_is_named, every_byte_is_named, lines, names, read};
use super::{corpus, fixture, saved};

#[test]
fn every_byte_of_every_family_is_named_and_nothing_else() {
    for path in corpus::under(Path::new("../../tests/maps")) {
        let named = every_byte_is_named(&Bsp::open(&path).unwrap(), 8, compare::whole);
        named.unwrap_or_else(|what| panic!("{}: {what}", path.display()));
    }
    for path in corpus::under(Path::new("../../tests/broken")) {
        if let Ok(map) = Bsp::open(&path) {
            let named = every_byte_is_named(&map, 8, compare::whole);
            named.unwrap_or_else(|what| panic!("{}: {what}", path.display()));
        }
    }
}

/// Each byte of a pakfile with stored and compressed files (local headers, names, streams, directory, end record), of a
/// game lump with its directory, of a compressed lump, and of a BSPX directory.
#[test]
fn every_byte_of_directories_within_lumps_is_named() {
    let mut draft = fixture("source/room_v20").draft();
    let pak = draft.pak().unwrap();
    pak.remove(&(0..pak.len()).collect::<Vec<_>>()).unwrap();
    pak.add("cfg/a.cfg", "sv_gravity 800\n").unwrap();
    let packed = pak.add("materials/b.vmt", "LightmappedGeneric ".repeat(20)).unwrap();
    pak.compress(&[packed], 1, Default::default()).unwrap();
    draft.set_compression(draft.bsp().slot("entities").unwrap().id, Compression::Lzma).unwrap();
    let built = saved(&draft);
    for (map, lumps) in [(&built, &["PAKFILE", "GAME_LUMP", "ENTITIES"][..]), (&fixture("q2/own_rooms_bspx"), &[])] {
        let (container, is_bspx) = (map.container(), |kind| kind == SegmentKind::Bspx);
        let directory = container.segments().into_iter().filter(|segment| is_bspx(segment.kind));
        let lumps = lumps.iter().map(|lump| map.slot(lump).unwrap().stored.clone());
        for at in lumps.chain(directory.map(|segment| segment.range)).flatten() {
            byte_is_named(map, at, compare::whole).unwrap();
        }
    }
}

#[test]
fn a_byte_anywhere_in_real_maps_is_named() {
    for path in corpus::maps() {
        let Ok(map) = Bsp::open(&path) else { continue };
        assert!(compare::whole(&map, &map, 10).lumps.is_empty());
        let file = map.container().bytes();
        for at in [file.len() / 3, file.len() - 1] {
            let mut bytes = file.to_vec();
            bytes[at] ^= 1;
            if let Some(new) = read(&map, bytes) {
                assert!(!compare::whole(&map, &new, 10).lumps.is_empty(), "{}: byte {at}", path.display());
            }
        }
    }
}

/// What `verify` does to a map: each save is compared with the map, and what the draft changed is named, and nothing
/// else but the places of lumps and padding.
#[test]
fn every_edit_of_verify_is_named_and_nothing_else() {
    fn write<'a>(draft: &Draft<'a>, layout: Layout) -> bspkit::Result<Rope<'a>> {
        let file = (Subject::REAL.write)(draft, layout)?;
        let bytes = file.to_data();
        let known = compare::draft(draft, 10)?;
        let new = Bsp::from_data(Data::from(&bytes[..]), Some(draft.bsp().dialect()))?;
        let found = compare::whole(draft.bsp(), &new, 10);
        let content = |found: &Comparison| -> Vec<String> {
            let is_part = |kind: Kind| matches!(kind, Kind::Header | Kind::Gaps);
            let lumps = found.lumps.iter().filter(|lump| !lump.touched.is_empty() && !is_part(lump.kind));
            lumps.map(|lump| format!("{} {}", lump.lump, lump.touched)).collect()
        };
        assert_eq!(content(&found), content(&known), "{layout:?}");
        // A save never changes the header or bytes that no lump covers.
        let parts = found.lumps.iter().filter(|lump| matches!(lump.kind, Kind::Header | Kind::Gaps));
        let parts: Vec<_> = parts.filter(|lump| lump.lump != "padding" && !lump.touched.is_empty()).collect();
        assert!(parts.is_empty() || layout == Layout::Repack, "{layout:?}: {parts:?}");
        assert_eq!(found.lumps.is_empty(), *draft.bsp().container().bytes() == *bytes);
        Ok(file)
    }
    for path in corpus::under(Path::new("../../tests/maps")) {
        let outcome = verify::run_on(&Bsp::open(&path).unwrap(), &Subject { write, ..Subject::REAL });
        assert!(outcome.is_ok(), "{}", path.display());
    }
}

#[test]
fn what_moved_is_not_changed() {
    let map = fixture("q2/own_rooms");
    let packed = Bsp::from_vec(map.draft().plan(Layout::Repack).unwrap().to_vec()).unwrap();
    let found = compare::whole(&map, &packed, 10);
    assert!(found.moved() > 5 && found.touched().is_empty(), "{found:?}");

    // A record that is at another index.
    let mut draft = map.draft();
    let (id, mut planes) =
        (map.slot("planes").unwrap().id, map.bytes(map.slot("planes").unwrap().id).unwrap().to_vec());
    let record: Vec<u8> = planes.drain(10 * 20..11 * 20).collect();
    planes.splice(30 * 20..30 * 20, record);
    draft.set(id, planes).unwrap();
    let moved = compare::whole(&map, &saved(&draft), 100);
    let [Change::Record(record)] = &moved.lumps[0].changes[..] else { panic!("{:?}", lines(&moved)) };
    assert_eq!((record.how, record.index, record.from), (How::Moved, 30, Some(10)));
    assert_eq!(lines(&moved), ["PLANES[30] moved from 10"]);
}

#[test]
fn files_of_a_pakfile_are_compared_line_by_line_and_in_their_order() {
    let mut draft = fixture("source/room_v20").draft();
    let pak = draft.pak().unwrap();
    ["a.cfg", "b.cfg", "c.cfg"].iter().for_each(|name| assert!(pak.add(name, "one\ntwo\nthree\n").is_ok()));
    let old = saved(&draft);
    let mut draft = old.draft();
    draft.pak().unwrap().add("b.cfg", "one\n2\nthree\nfour\n").unwrap();
    let found = compare::whole(&old, &saved(&draft), 10);
    let Change::File(file) = &found.lumps[0].changes[0] else { panic!("{found:?}") };
    let text = file.text.as_ref().unwrap();
    assert_eq!((text.added, text.removed, text.hunks.len(), text.hunks[0].at), (2, 1, 2, (1, 1)));

    let mut draft = old.draft();
    let pak = draft.pak().unwrap();
    let at = pak.one("a.cfg").unwrap();
    pak.remove(&[at]).unwrap();
    pak.add("a.cfg", "one\ntwo\nthree\n").unwrap();
    let found = compare::whole(&old, &saved(&draft), 10);
    let Change::File(file) = &found.lumps[0].changes[0] else { panic!("{found:?}") };
    assert_eq!((file.how, &file.name[..], found.touched().files), (How::Moved, &b"a.cfg"[..], 1));
}

#[test]
fn gaps_the_tail_and_words_of_the_header_are_named() {
    let build = |stale: &[u8], tail: &[u8], revision: i32| {
        let builder = Builder::new(&dialect::SOURCE).lump(0, "{}\n\0").lump(1, [2; 40]).revision(revision);
        let bytes = builder.gap_before(1, stale).tail(tail).order(&[0, 1]).build().unwrap();
        Bsp::from_vec(bytes).unwrap()
    };
    let old = build(b"stale text", b"appended", 1);
    let found = |new: &Bsp<'_>| lines(&compare::whole(&old, new, 10));
    let [line] = &found(&build(b"stale test", b"appended", 1))[..] else { panic!() };
    assert!(line.starts_with("gap after ENTITIES: 1 byte at 10"), "{line}");
    let [line] = &found(&build(b"stale text", b"appendix", 1))[..] else { panic!() };
    assert!(line.starts_with("tail: 2 bytes at "), "{line}");
    assert_eq!(found(&build(b"stale text", b"appended", 7)), ["header: revision 1 -> 7"]);
}

#[test]
fn a_lump_that_is_compressed_in_another_way_is_named() {
    let map = fixture("source/room_v20");
    let mut draft = map.draft();
    draft.set_compression(map.slot("planes").unwrap().id, Compression::Lzma).unwrap();
    let found = compare::whole(&map, &saved(&draft), 10);
    assert!(lines(&found).contains(&"PLANES: compressed".to_owned()), "{:?}", lines(&found));
    assert!(found.touched().is_empty());
}

#[test]
fn of_two_dialects_what_has_the_same_form_is_compared() {
    let found = compare::whole(&fixture("q2/own_rooms"), &fixture("q3/own_rooms"), 10);
    let files = found.files.as_ref().unwrap();
    assert_eq!(files.dialects, ("quake2", "quake3"));
    assert!(files.skipped.contains(&"FACES".to_owned()) && !files.skipped.contains(&"ENTITIES".to_owned()));
    assert!(found.lumps.iter().all(|lump| lump.lump == "ENTITIES"), "{:?}", names(&found));
}

#[test]
fn records_of_one_struct_are_compared_in_maps_of_two_dialects() {
    let found = compare::whole(&fixture("source/room_v20"), &fixture("source/room_l4d2"), 10);
    let files = found.files.as_ref().unwrap();
    assert_eq!(files.dialects, ("source", "l4d2"));
    assert!(files.skipped.iter().all(|lump| !["PLANES", "VERTEXES", "FACES"].contains(&lump.as_str())), "{files:?}");
}
