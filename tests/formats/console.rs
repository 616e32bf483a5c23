//! Source's console maps: twins of the project's rooms with their numbers turned here, by a walk of its own over the
//! structs, so that what the library turns is compared with what somebody else did.

use crate::corpus;
use bspkit::content::lightmap::Adjustment;
use bspkit::content::texture_names::Renaming;
use bspkit::content::visibility::VisSet;
use bspkit::dialect::{Form, Key, Role, SOURCE, SOURCE360, source};
use bspkit::record::{FieldInfo, Number, Record, RecordInfo, Shape};
use bspkit::{Bsp, Builder, Draft, ErrorKind, Layout, SlotId};
use bspkit::{compress, verify};
use bspkit_ops::check;

const ROOMS: [&str; 2] = ["room_v20", "room_v19"];
const LAYOUTS: [Layout; 3] = [Layout::Keep, Layout::Append, Layout::Repack];

fn room(name: &str) -> Bsp<'static> {
    Bsp::open(format!("tests/maps/source/{name}.bsp")).unwrap()
}

/// Every number of a record, as where it stands and how wide it is.
fn numbers(fields: &[FieldInfo], at: usize) -> Vec<(usize, Number)> {
    fn of(shape: Shape, at: usize) -> Vec<(usize, Number)> {
        match shape {
            Shape::Number(number) => vec![(at, number)],
            Shape::Array(item, count) => (0..count).flat_map(|index| of(*item, at + index * item.size())).collect(),
            Shape::Record(fields) => numbers(fields, at),
            _ => Vec::new(),
        }
    }
    fields.iter().flat_map(|field| of(field.shape, at + field.offset)).collect()
}

fn turn_records(record: &RecordInfo, bytes: &mut [u8]) {
    for (at, number) in numbers(record.fields, 0) {
        for record in bytes.chunks_exact_mut(record.size) {
            record[at..at + number.size()].reverse();
        }
    }
}

/// The bytes of a lump of a PC's map as a console has them.
fn turned(map: &Bsp<'_>, slot: &bspkit::Slot) -> Vec<u8> {
    turned_bytes(map, slot, &map.bytes(slot.id).unwrap())
}

fn turned_bytes(map: &Bsp<'_>, slot: &bspkit::Slot, bytes: &[u8]) -> Vec<u8> {
    let word = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let mut out = bytes.to_vec();
    let mut reverse = |at: usize, size: usize| out[at..at + size].reverse();
    match map.row(slot).map(|row| row.form) {
        Ok(Form::Lens("visibility")) if !bytes.is_empty() => {
            (0..=2 * word(bytes, 0)).for_each(|index| reverse(4 * index, 4));
        }
        Ok(Form::Lens("physics")) => {
            let mut at = 0;
            while at < bytes.len() {
                (0..4).for_each(|field| reverse(at + 4 * field, 4));
                let (solids, text, count) = (word(bytes, at + 4), word(bytes, at + 8), word(bytes, at + 12));
                if solids == u32::MAX as usize {
                    break;
                }
                let mut solid = at + 16;
                for _ in 0..count {
                    reverse(solid, 4);
                    solid += 4 + word(bytes, solid);
                }
                at += 16 + solids + text;
            }
        }
        Ok(Form::Lens("physics of displacements")) if !bytes.is_empty() => {
            (0..=usize::from(bytes[0])).for_each(|index| reverse(2 * index, 2));
        }
        Ok(row @ (Form::Array(_) | Form::Lists(_))) => {
            for part in map.row(slot).unwrap().parts(bytes).unwrap() {
                if let Form::Lists(_) = row {
                    out[part.range.start - 4..part.range.start].reverse();
                }
                turn_records(part.record, &mut out[part.range]);
            }
        }
        _ => {}
    }
    out
}

/// A map of a PC as a console would have it.
fn twin(map: &Bsp<'_>, is_packed: bool) -> Vec<u8> {
    let mut builder = Builder::new(&SOURCE360).version(map.version()).revision(7).align(40, 2048);
    for slot in map.slots() {
        let (bytes, version) = (turned(map, slot), slot.version.unwrap());
        builder = match slot.id {
            // Consoles have no such lump.
            SlotId::Lump(35 | 49) => builder,
            SlotId::Lump(lump) if is_packed && lump != 40 && !bytes.is_empty() => {
                builder.compressed_lump(lump, &bytes).unwrap().lump_version(lump, version)
            }
            SlotId::Lump(lump) => builder.lump(lump, bytes).lump_version(lump, version),
            _ => {
                let id: [u8; 4] = slot.name.as_bytes()[5..].try_into().unwrap();
                let version = u16::try_from(version).unwrap();
                match is_packed {
                    true => builder.compressed_game_lump(id, version, &bytes).unwrap(),
                    false => builder.game_lump(id, version, bytes),
                }
            }
        };
    }
    let mut file = if is_packed { builder.game_lump_end() } else { builder }.build().unwrap();
    file.resize(file.len().next_multiple_of(2048), 0);
    file
}

fn twins() -> impl Iterator<Item = (Bsp<'static>, Bsp<'static>)> {
    let all = ROOMS.into_iter().flat_map(|name| [(name, false), (name, true)]);
    all.map(|(name, is_packed)| (room(name), Bsp::from_vec(twin(&room(name), is_packed)).unwrap()))
}

/// What a check finds.
fn found(map: &Bsp<'_>) -> Vec<String> {
    let found = check::run(map, &check::Options::default()).unwrap();
    let faults = found.iter().filter(|finding| finding.code.name != "unused-records");
    faults.map(|finding| format!("{} {}", finding.code.name, finding.message)).collect()
}

/// A number of static props that does not fit is an error, as in the map of a PC.
#[test]
fn counts_of_static_props_are_looked_at() {
    for map in [room("room_v20"), Bsp::from_vec(twin(&room("room_v20"), false)).unwrap()] {
        let slot = map.slot("game:sprp").unwrap();
        let names = map.byte_order().word(&map.stored(slot.id), 0).unwrap();
        let mut bytes = map.stored(slot.id).to_vec();
        bytes[..4].copy_from_slice(&map.byte_order().word_bytes(names + 1));
        let mut draft = map.draft();
        draft.set(slot.id, bytes).unwrap();
        let odd = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
        let findings = check::run(&odd, &check::Options::default()).unwrap();
        assert!(findings.iter().any(|finding| finding.code.name == "count-misfit"), "{findings:?}");

        // Props of another size are those of another game.
        let props = map.static_props().unwrap().len();
        let mut draft = map.draft();
        draft.set(slot.id, [&map.stored(slot.id)[..], &vec![0; 4 * props]].concat()).unwrap();
        let other = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
        let findings = check::run(&other, &check::Options::default()).unwrap();
        assert!(findings.iter().all(|finding| finding.code.name != "count-misfit"), "{findings:?}");
    }
}

#[test]
fn the_directory_is_read_in_its_order() {
    let bytes = twin(&room("room_v20"), true);
    let word = |at: usize| i32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!((&bytes[..4], word(4), word(1032)), (&b"PSBV"[..], 20, 7));
    let map = Bsp::parse(&bytes).unwrap();
    assert_eq!((map.dialect().name, map.version(), map.revision()), ("source360", 20, Some(7)));
    for slot in map.slots() {
        match slot.id {
            SlotId::Lump(index) => {
                let entry = 8 + 16 * index;
                let says = [0, 4, 8, 12].map(|field| word(entry + field));
                assert_eq!(says, [slot.offset, slot.length, slot.version.unwrap(), slot.unpacked.unwrap()]);
            }
            SlotId::Game(index) => {
                let lump = map.role(Role::GameLump).unwrap().offset;
                let entry = usize::try_from(lump).unwrap() + 4 + 16 * index;
                assert_eq!(lump + word(entry + 8), slot.offset, "{}", slot.name);
                assert!(slot.length == 0 || slot.name.as_bytes()[5..] == bytes[entry..entry + 4], "{}", slot.name);
            }
            _ => unreachable!(),
        }
    }
    // Other versions of the same, and the same for PCs, are said to be what they are.
    for (magic, version, kind) in [(b"PSBV", 21_i32, ErrorKind::Unsupported), (b"VBSP", 20, ErrorKind::Unsupported)] {
        let mut other = bytes.clone();
        other[..4].copy_from_slice(magic);
        other[4..8].copy_from_slice(&version.to_be_bytes());
        let error = Bsp::parse(&other).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
    }
}

/// The records of a lump as text.
fn as_text(map: &Bsp<'_>, slot: &bspkit::Slot) -> String {
    use bspkit_text::records::{Format, Lump};
    let lump = Lump::read(map, slot).unwrap();
    let mut text = Vec::new();
    if lump.usual_format() == Format::Json {
        let names = &[];
        let write = |piece: &[u8]| -> bspkit::Result<bool> {
            text.extend_from_slice(piece);
            Ok(true)
        };
        lump.print(Format::Json, names, write).unwrap();
    }
    String::from_utf8(text).unwrap()
}

#[test]
fn values_are_those_of_the_twin() {
    for (plain, console) in twins() {
        for (slot, other) in plain.slots().iter().zip(console.slots()).filter(|(slot, _)| slot.id != SlotId::Lump(49)) {
            // The game lump's own bytes say where its members stand.
            if slot.id != SlotId::Lump(35) {
                assert_eq!(*console.bytes(other.id).unwrap(), turned(&plain, slot), "{}", slot.name);
            }
            assert_eq!(as_text(&console, other), as_text(&plain, slot), "{}", slot.name);
            // Of functions only their addresses are printed, which may differ for the same one.
            let without_addresses = |form: String| -> Vec<String> {
                let parts = form.split("0x");
                parts.map(|part| part.trim_start_matches(|c: char| c.is_ascii_hexdigit()).to_owned()).collect()
            };
            let form = |map: &Bsp<'_>, slot| {
                let row = map.row(slot).map(|row| without_addresses(format!("{:?}", row.form)));
                row.map_err(|why| why.to_string())
            };
            assert_eq!(form(&console, other), form(&plain, slot), "{}", slot.name);
        }
        let planes = [&plain, &console].map(|map| map.table(source::PLANES).unwrap().iter().collect::<Vec<_>>());
        assert!(planes[0] == planes[1] && planes[0].iter().any(|plane| plane.distance.abs() > 1.0));
        assert_eq!(console.entities().unwrap().to_bytes(), plain.entities().unwrap().to_bytes());
        let names = |map: &Bsp<'_>| map.texture_strings().unwrap().get(0).map(<[u8]>::to_vec).unwrap();
        assert_eq!(names(&console), names(&plain));
        let props = |map: &Bsp<'_>| {
            let props = map.static_props().unwrap();
            let each: Vec<_> = (0..props.len()).map(|index| format!("{:?}", props.get(index))).collect();
            (each, props.leafs().collect::<Vec<_>>(), props.names().map(<[u8]>::to_vec).collect::<Vec<_>>())
        };
        assert_eq!(props(&console), props(&plain));
        let lit = |map: &Bsp<'_>| format!("{:?}", map.light().unwrap().sets());
        assert_eq!(lit(&console), lit(&plain));
        let visibility = [&plain, &console].map(|map| map.visibility().unwrap());
        for cluster in 0..visibility[0].len() {
            let rows = visibility.each_ref().map(|of| of.row(VisSet::Pvs, cluster).unwrap());
            assert_eq!(rows[0], rows[1]);
        }
        assert_eq!(found(&console), found(&plain));
        let outcome = verify::run(&console);
        assert!(outcome.laws.iter().all(|(_, verdict)| *verdict == verify::Verdict::Pass), "{outcome:?}");
    }
}

/// Edits of every kind: through records, through lenses, as bytes.
const EDITS: [fn(&mut Draft<'static>); 8] = [
    |draft| draft.update(source::PLANES, 3, |plane| plane.distance += 8.5).unwrap(),
    |draft| draft.table(source::STATIC_PROPS_V6).unwrap().update(0, |prop| prop.origin[1] = -300.25).unwrap(),
    |draft| {
        let visibility = draft.visibility().unwrap();
        let row = visibility.plain(false);
        (0..visibility.len()).for_each(|from| visibility.set_row(VisSet::Pvs, from, row.clone()).unwrap());
    },
    |draft| {
        drop(draft.texture_names().unwrap().rename(&Renaming::new("own/*", "a/longer/folder/{1}").unwrap()).unwrap())
    },
    |draft| {
        let half = Adjustment { gain: 0.5, ..Adjustment::default() };
        draft.light().unwrap().adjust(&half, |_, _, _| true).unwrap();
    },
    |draft| draft.entities().unwrap().first_class("worldspawn").unwrap().set("message", "a place").unwrap(),
    |draft| draft.static_props().unwrap().update(1, |prop| prop.skin = 0x0102_0304).unwrap(),
    |draft| draft.texture_strings().unwrap().rename(0, "own/a_name_of_another_length").unwrap(),
];

#[test]
fn edits_are_those_of_the_twin() {
    for (plain, console) in twins().filter(|(plain, _)| plain.version() == 20) {
        for (number, edit) in EDITS.into_iter().enumerate() {
            let (mut on_plain, mut on_console) = (plain.draft(), console.draft());
            edit(&mut on_plain);
            edit(&mut on_console);
            let changes = on_plain.changes().unwrap();
            assert!(!changes.is_empty(), "edit {number}");
            assert_eq!(on_console.changes().unwrap(), changes, "edit {number}");
            for layout in LAYOUTS {
                let saved = Bsp::from_vec(on_console.plan(layout).unwrap().to_vec()).unwrap();
                for slot in plain.slots().iter().filter(|slot| !matches!(slot.id, SlotId::Lump(35 | 49))) {
                    let wanted = turned_bytes(&plain, slot, &on_plain.bytes(slot.id).unwrap());
                    assert_eq!(*saved.bytes(slot.id).unwrap(), wanted, "edit {number}, {layout:?}: {}", slot.name);
                    let is_packed = |map: &Bsp<'_>| map.decompressed_size(slot.id).is_some();
                    assert_eq!(is_packed(&saved), is_packed(&console), "{}", slot.name);
                }
                let outcome = verify::run(&saved);
                assert!(outcome.is_ok(), "edit {number}, {layout:?}: {outcome:?}");
                places(&saved);
            }
            on_console.revert_all();
            assert!(on_console.changes().unwrap().is_empty());
        }
    }
}

/// Collision models: sizes are turned, the solids of the console's own stay, and so does their text.
#[test]
fn physics_are_read_and_edited() {
    let word = |number: i32| number.to_be_bytes();
    let solid = |len: i32| [&word(len)[..], b"YHPV", &vec![7; usize::try_from(len).unwrap() - 4]].concat();
    let solids = [solid(24), solid(9)].concat();
    let lump = |text: &[u8]| {
        let sizes = [0, i32::try_from(solids.len()).unwrap(), i32::try_from(text.len()).unwrap(), 2].map(word);
        [&sizes.concat(), &solids, text, &[-1, -1, 0, 0].map(word).concat()].concat()
    };
    let (old, new) = (b"solid {}\n\0", b"solid {\n\"index\" \"1\"\n}\n\0");
    let disps = [&[0, 2, 0, 3, 0xFF, 0xFF][..], b"abc"].concat();
    let builder = Builder::new(&SOURCE360).lump(29, lump(old)).lump(28, disps);
    let map = Bsp::from_vec(builder.build().unwrap()).unwrap();
    let mut draft = map.draft();
    let physics = draft.physics().unwrap();
    assert_eq!((physics.len(), physics.model(0).unwrap()), (1, 0));
    let found: Vec<Vec<u8>> = physics.solids(0).unwrap().map(<[u8]>::to_vec).collect();
    assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [24, 9]);
    assert!(found[0].starts_with(b"YHPV"));
    physics.set_text(0, &new[..new.len() - 1]).unwrap();
    let saved = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
    assert_eq!(*saved.stored(SlotId::Lump(29)), lump(new));
    let disps = map.phys_disp().unwrap();
    assert_eq!((disps.len(), disps.get(0), disps.get(1)), (2, Some(&b"abc"[..]), None));
}

/// What consoles need: flags first, light and pakfile last, sectors.
fn places(map: &Bsp<'_>) {
    let mut top: Vec<_> = map.slots().iter().filter(|slot| !slot.stored.is_empty()).collect();
    top.retain(|slot| matches!(slot.id, SlotId::Lump(_)));
    top.sort_by_key(|slot| slot.stored.start);
    assert_eq!(top[0].name, "MAP_FLAGS");
    let last: Vec<_> = top[top.len() - 2..].iter().map(|slot| slot.name.as_str()).collect();
    assert!(last[0].starts_with("LIGHTING") && last[1] == "PAKFILE", "{last:?}");
    assert_eq!((top[top.len() - 1].stored.start % 2048, map.container().bytes().len() % 2048), (0, 0));
    // The end of the list says where the last compressed member ends.
    let (lump, end) = (map.role(Role::GameLump).unwrap(), map.slots().last().unwrap());
    if end.stored.is_empty() {
        let last = map.slots().iter().filter(|slot| matches!(slot.id, SlotId::Game(_))).map(|slot| slot.stored.end);
        assert_eq!(usize::try_from(end.offset).ok(), last.max());
        assert_eq!(usize::try_from(end.offset).unwrap(), lump.stored.end);
    }
}

#[test]
fn it_is_compressed_as_consoles_want_it_and_back() {
    let console = Bsp::from_vec(twin(&room("room_v20"), false)).unwrap();
    let mut draft = console.draft();
    compress::compress(&mut draft, &compress::Options::default()).unwrap();
    let small = Bsp::from_vec(draft.plan(Layout::Repack).unwrap().to_vec()).unwrap();
    places(&small);
    let packed = small.slots().iter().filter(|slot| small.decompressed_size(slot.id).is_some());
    let stored: Vec<_> = packed.map(|slot| small.stored(slot.id)).collect();
    assert!(stored.len() > 10);
    // The dictionary of every compressed lump of a real one.
    assert!(stored.iter().all(|stored| stored[12..17] == [0x5D, 0, 0, 4, 0]));
    for slot in console.slots().iter().filter(|slot| slot.id != SlotId::Lump(35)) {
        assert_eq!(*small.bytes(slot.id).unwrap(), *console.bytes(slot.id).unwrap(), "{}", slot.name);
    }
}

/// As `SwapBSPFile` leaves a map with light of a high range: the faces of the low range are not there.
#[test]
fn stripped_faces_are_no_fault_and_wrong_ones_are() {
    let plain = room("room_v20");
    let strip = |first_face: u16| {
        let mut lumps: Vec<_> = plain.slots().iter().filter(|slot| matches!(slot.id, SlotId::Lump(_))).collect();
        lumps.retain(|slot| !matches!(slot.id, SlotId::Lump(7 | 8 | 11 | 15 | 27 | 32 | 35 | 52 | 56 | 47)));
        let mut builder = Builder::new(&SOURCE360).version(20);
        for slot in lumps {
            let SlotId::Lump(lump) = slot.id else { continue };
            let mut bytes = turned(&plain, slot);
            if lump == 5 {
                bytes[24..28].copy_from_slice(&[first_face.to_be_bytes(), [0, 1]].concat());
            }
            builder = builder.lump(lump, bytes).lump_version(lump, slot.version.unwrap());
        }
        for (from, to) in [(7, 58), (8, 53)] {
            let slot = plain.container().slot(SlotId::Lump(from)).unwrap();
            builder = builder.lump(to, turned(&plain, slot)).lump_version(to, slot.version.unwrap());
        }
        Bsp::from_vec(builder.build().unwrap()).unwrap()
    };
    let faces = plain.table(source::FACES).unwrap().len();
    let (good, bad) = (found(&strip(0)), found(&strip(u16::try_from(faces).unwrap())));
    let of_faces = |found: &[String]| found.iter().filter(|found| found.contains("FACES")).count();
    assert_eq!(of_faces(&good), 0, "{good:?}");
    assert_eq!(of_faces(&bad), 1, "{bad:?}");
    assert!(bad.iter().any(|found| found.contains("run-range") && found.contains("FACES_HDR has")), "{bad:?}");
}

#[test]
fn what_is_not_known_is_refused() {
    let console = Bsp::from_vec(twin(&room("room_v20"), false)).unwrap();
    let error = bspkit_ops::lmp::LumpFile::export(&console, SlotId::Lump(0)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    // A console's pakfile is not made anew either.
    let mut draft = Bsp::from_vec(Builder::new(&SOURCE360).build().unwrap()).unwrap().draft();
    let error = draft.pak().unwrap().add("a.txt", &b"text"[..]).unwrap_err();
    assert!(error.to_string().contains("a console's"), "{error}");
    // A game lump with a member elsewhere stays where it is.
    let bytes =
        Builder::new(&SOURCE360).lump(35, [0, 0, 0, 1, b's', b'p', b'r', b'p', 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 9]);
    let map = Bsp::from_vec(bytes.lump(0, "{\n}\n\0").order(&[0, 35]).build().unwrap()).unwrap();
    assert!(map.container().pinned(SlotId::Lump(35)).is_some());
    let mut draft = map.draft();
    draft.set(SlotId::Lump(0), vec![b'\n'; 300]).unwrap();
    assert_eq!(draft.plan(Layout::Repack).unwrap_err().kind(), ErrorKind::Refused);
}

/// Compares a table's numbers with the bytes of the file, and says how many there are.
fn swapped<R: Record>(map: &Bsp<'_>, key: Key<R>) -> usize {
    let stored = map.bytes(map.slot(key.lump()).unwrap().id).unwrap();
    let mut seen = 0;
    for (record, mut old) in map.table(key).unwrap().iter().zip(stored.chunks_exact(R::SIZE).map(<[u8]>::to_vec)) {
        turn_records(R::INFO, &mut old);
        assert_eq!(record.encode(), old, "{}", key.lump());
        seen += numbers(R::INFO.fields, 0).len();
    }
    seen
}

/// On real maps: numbers of records are what their bytes say, the highest first, and the checks find nothing.
#[test]
fn real_maps_hold_what_their_bytes_say() {
    for path in corpus::maps() {
        let Ok(map) = Bsp::open(&path) else { continue };
        if map.dialect().name != "source360" {
            continue;
        }
        let seen = swapped(&map, source::PLANES)
            + swapped(&map, source::VERTEXES)
            + swapped(&map, source::EDGES)
            + swapped(&map, source::NODES)
            + swapped(&map, source::BRUSHSIDES)
            + swapped(&map, source::TEXINFO);
        assert!(seen > 1000, "{}", path.display());
        assert_eq!(found(&map), [""; 0], "{}", path.display());
    }
    assert_ne!(SOURCE.byte_order(), SOURCE360.byte_order());
}
