//! The limits: 2 GiB for a file, and what hostile input may cost.

use std::path::Path;

use bspkit::record::Shape;
use bspkit::verify;
use bspkit::{Bsp, ErrorKind, Layout};
use bspkit_ops::unused::Unused;
use bspkit_ops::{check, compare, models};

/// A map of nearly 2 GiB, all but its beginning a hole in the disk.
#[cfg(all(unix, feature = "mmap"))]
#[test]
fn growth_past_2_gib_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("huge.bsp");
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/maps/q2/own_rooms.bsp");
    std::fs::copy(fixture, &path).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(0x7FFF_FFFF - 8).unwrap();

    let map = Bsp::open_mapped(&path, None).unwrap();
    let mut draft = map.draft();
    draft.entities().unwrap().first_class("worldspawn").unwrap().set("message", "x".repeat(100)).unwrap();
    for layout in [Layout::Keep, Layout::Append] {
        let error = draft.plan(layout).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge, "{error}");
        assert!(error.to_string().contains("2 GiB"), "{error}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing was written");
}

/// Opening costs the directory: a map of nearly 2 GiB opens as fast as a small one, though nobody could read it in
/// that time.
#[cfg(all(unix, feature = "mmap"))]
#[test]
fn opening_does_not_depend_on_the_size() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("huge.bsp");
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/maps/q3/own_rooms.bsp");
    std::fs::copy(fixture, &path).unwrap();
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(0x7FFF_0000).unwrap();
    let fastest = (0..20).map(|_| {
        let start = std::time::Instant::now();
        Bsp::open_mapped(&path, None).unwrap();
        start.elapsed()
    });
    let fastest = fastest.min().unwrap();
    assert!(fastest.as_millis() < 20, "{fastest:?}");
}

#[test]
fn hostile_entity_text_is_read_or_refused() {
    let plain = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/maps/q2/own_box.bsp")).unwrap();
    let map = Bsp::parse(&plain).unwrap();
    let entities = map.slot("entities").unwrap().id;
    let texts = ["{", "}", "\"", "\"\" ", "a ", "//", "{}", "{\"a\" \"b\"}", "\n"];
    for text in texts {
        let mut draft = map.draft();
        draft.set(entities, text.repeat(2_000_000 / text.len()).into_bytes()).unwrap();
        let hostile = draft.plan(Layout::Keep).unwrap().to_vec();
        let hostile = Bsp::parse(&hostile).unwrap();
        match hostile.entities() {
            Ok(read) => assert_eq!(read.to_bytes(), *hostile.bytes(entities).unwrap(), "{text}"),
            Err(error) => assert_eq!(error.kind(), ErrorKind::TooLarge, "{text}: {error}"),
        }
    }
}

/// The messages of limits after so many entities of a class were added to a map: those of the check of the whole map,
/// which are those of the check of the edit.
fn limits_after(map: &str, class: &str, number: usize) -> Vec<String> {
    let map = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/maps").join(map)).unwrap();
    let map = Bsp::parse(&map).unwrap();
    let mut draft = map.draft();
    let entities = draft.entities().unwrap();
    for _ in 0..number {
        entities.add([("classname", class)]).unwrap();
    }
    let messages = |findings: Vec<bspkit::finding::Finding>| -> Vec<String> {
        findings.into_iter().filter(|it| it.code.name == "limit").map(|it| it.message).collect()
    };
    let introduced = messages(bspkit_ops::check::introduced(&draft, &Default::default()).unwrap());
    let saved = draft.plan(Layout::Keep).unwrap().to_vec();
    let checked = messages(bspkit_ops::check::run(&Bsp::parse(&saved).unwrap(), &Default::default()).unwrap());
    assert_eq!(introduced, checked);
    checked
}

/// `light` removes itself and gives its place back; a monster stays. The numbers are those of the engines' errors
/// "ED_Alloc: no free edicts" and "G_Spawn: no free entities".
#[test]
fn check_counts_the_entities_that_the_game_keeps() {
    for (map, class, room, title) in [
        ("q1/own_rooms.bsp", "monster_army", 594, "Quake"),
        ("q2/own_rooms.bsp", "monster_soldier", 1_014, "Quake II"),
        ("q3/own_rooms.bsp", "info_player_deathmatch", 950, "Quake III Arena"),
    ] {
        assert!(limits_after(map, "light", 1_000).is_empty(), "{map}");
        assert!(limits_after(map, class, 500).is_empty(), "{map}");
        let messages = limits_after(map, class, room);
        let [message] = &messages[..] else { panic!("{map}: {messages:?}") };
        assert!(message.ends_with(&format!("entities in the game at once; {title} has room for {room}")), "{message}");
    }
    let messages = limits_after("q2/own_rooms.bsp", "light", 2_100);
    assert_eq!(messages, ["it has 2120 entities; compilers for Quake II accept 2048"]);
}

/// An entity of Source takes one of 2,048 edicts, if its class is not one that the server alone knows. The world has one,
/// and a player. The text is counted here by its lines.
#[test]
fn check_counts_the_edicts_of_source() {
    let room = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/maps/source/room_v20.bsp")).unwrap();
    let text = String::from_utf8_lossy(&room).into_owned();
    let has = |class: &str| text.matches(&format!("\"classname\" \"{class}\"")).count();
    // Lights without a name are gone before the next entity is there.
    let unnamed = text.split("}\n{").filter(|it| it.contains("\"light\"") && !it.contains("targetname")).count();
    let own = text.matches("\"classname\"").count() - has("worldspawn") - has("logic_relay") - unnamed;
    assert!(own >= 3 && has("logic_relay") == 1, "{text}");
    let left = 2_046 - own;
    let after = |class: &str, number: usize| limits_after("source/room_v20.bsp", class, number);
    for class in ["light", "logic_relay", "math_counter", "phys_hinge", "info_node", "filter_multi"] {
        assert_eq!(after(class, 2_100), [""; 0], "{class}");
    }
    assert_eq!(after("prop_dynamic", left), [""; 0]);
    let message = after("prop_dynamic", left + 1);
    assert_eq!(message, ["it has 2047 entities in the game at once; Source SDK 2013 has room for 2046"]);
    // These remove themselves when all are there.
    assert_eq!(after("info_null", left + 1).len(), 1);
    // Of a class of some game it is not known.
    assert_eq!(after("logic_of_some_game", left), [""; 0]);
    let messages = after("logic_of_some_game", left + 1);
    let [message] = &messages[..] else { panic!("it may be too many") };
    let expected =
        format!("it has {own} to 2047 entities in the game at once (which classes count is not known of all)");
    assert_eq!(*message, format!("{expected}; Source SDK 2013 has room for 2046"));
}

/// A map whose records claim as many others as their fields can say, in all fields or in one of them.
fn claiming(map: &Bsp<'_>, only: Option<(&str, &str)>) -> Option<Vec<u8>> {
    let mut draft = map.draft();
    for slot in map.slots() {
        let Some(record) = map.row(slot).ok().and_then(|row| row.record()) else { continue };
        let is_meant = |name: &str| only.is_none_or(|only| only == (slot.name.as_str(), name));
        let mut bytes = map.bytes(slot.id).unwrap().to_vec();
        for field in record.fields.iter().filter(|field| field.name.contains("count") && is_meant(field.name)) {
            let Shape::Number(number) = field.shape else { continue };
            for record in bytes.chunks_exact_mut(record.size) {
                let place = &mut record[field.offset..field.offset + number.size()];
                place.fill(0xFF);
                place[number.size() - 1] = 0x7F;
            }
        }
        draft.set(slot.id, bytes).unwrap();
    }
    let plan = draft.plan(Layout::Keep).unwrap();
    (!plan.is_identity()).then(|| plan.to_vec())
}

/// What a record claims to have is not what there is: nothing counts to two thousand million.
#[test]
fn what_records_claim_costs_no_time() {
    let names = ["q1/own_rooms_bspx", "bsp2/own_rooms", "goldsrc/own_rooms", "q2/own_rooms", "q3/own_rooms"];
    let mut tried = 0;
    for name in names.into_iter().chain(["source/room_v20", "source/room_l4d2"]) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/maps").join(name).with_extension("bsp");
        let whole = std::fs::read(path).unwrap();
        let map = Bsp::parse(&whole).unwrap();
        let counts = map.slots().iter().filter_map(|slot| Some((slot, map.row(slot).ok()?.record()?)));
        let counts = counts.flat_map(|(slot, record)| record.fields.iter().map(|field| (&*slot.name, field.name)));
        for only in std::iter::once(None).chain(counts.map(Some)) {
            let Some(bytes) = claiming(&map, only) else { continue };
            tried += 1;
            let hostile = Bsp::parse(&bytes).unwrap();
            let look = |what: &str, work: &dyn Fn()| {
                let start = std::time::Instant::now();
                work();
                assert!(start.elapsed().as_secs() < 10, "{what} of {name} with {only:?}: {:?}", start.elapsed());
            };
            look("check", &|| drop(check::run(&hostile, &check::Options::default())));
            look("limits", &|| drop(check::usage(&hostile, &hostile.dialect().checks.engines[0])));
            look("diff", &|| drop(compare::whole(&map, &hostile, 10)));
            look("models", &|| drop(models::list(&hostile)));
            look("unused", &|| drop(Unused::of(&hostile)));
            look("light", &|| drop(hostile.light().map(|light| light.stat(0))));
            look("visibility", &|| drop(hostile.visibility()));
            look("polygons", &|| drop(hostile.polygons().map(|polygons| polygons.iter().count())));
            look("verify", &|| drop(verify::run(&hostile)));
            look("page", &|| {
                let found = compare::whole(&map, &hostile, 10);
                drop(bspkit_text::page::page(["old", "new"], [&map, &hostile], &found));
            });
            look("outline", &|| drop(bspkit_text::outline::outline(&hostile)));
        }
    }
    assert!(tried > 40, "{tried} maps");
}

/// A builder refuses what it would leave out or cut.
#[test]
fn nothing_is_left_out_of_a_built_map() {
    use bspkit::file::directory::EntryFields;
    use bspkit::{Builder, ErrorKind, dialect};
    let quake2 = || Builder::new(&dialect::QUAKE2);
    let source = || Builder::new(&dialect::SOURCE);
    let entry = EntryFields { offset: 0, length: 0, version: None, unpacked: None };
    for (builder, why) in [
        (quake2().extra(12, "x"), "no entry 12"),
        (quake2().entry(99, entry), "no entry 99"),
        (quake2().lump(99, "x"), "no entry 99"),
        (quake2().game_lump(*b"sprp", 4, "x"), "have no game lump"),
        (source().lump(35, "x").game_lump(*b"sprp", 4, "x"), "members and other bytes"),
        (quake2().align(1, 0), "not an alignment"),
        (source().align_game_lumps(3), "not an alignment"),
        (quake2().order(&[1, 2, 1]), "the lump 1 twice"),
        (quake2().bspx(&"N".repeat(24), "x"), "not a name of BSPX"),
        (quake2().bspx("A\0B", "x"), "not a name of BSPX"),
        (quake2().compressed_lump(1, &[7; 99]).unwrap(), "cannot be compressed"),
    ] {
        let error = builder.build().unwrap_err();
        assert!(error.kind() == ErrorKind::Argument && error.to_string().contains(why), "{why}: {error}");
    }
    assert!(quake2().bspx(&"N".repeat(23), "x").align(1, 8).build().is_ok());
    // Nothing stays nothing: 22 bytes of a compressed lump without content would be read as they are.
    let empty = source().compressed_lump(1, &[]).unwrap().compressed_game_lump(*b"sprp", 4, &[]).unwrap();
    let map = bspkit::Bsp::from_vec(empty.build().unwrap()).unwrap();
    assert!(
        map.slots().iter().filter(|slot| slot.name != "GAME_LUMP").all(|slot| map.bytes(slot.id).unwrap().is_empty())
    );
}

#[test]
fn arguments_of_any_size_do_not_panic() {
    use bspkit::content::entities::{Output, OutputField};
    let map = bspkit::Bsp::open("tests/maps/goldsrc/own_rooms.bsp").unwrap();
    let textures = map.textures().unwrap();
    for kept in [vec![], vec![true], vec![true; textures.len() + 5]] {
        let left = kept.iter().take(textures.len()).count();
        let only = textures.only(&kept).unwrap().unwrap();
        assert_eq!(bspkit::content::textures::Textures::parse(only).unwrap().len(), left);
    }
    let mut image = textures.get(1).unwrap().unwrap().image().unwrap();
    image.pixels.pop();
    let mut draft = map.draft();
    assert!(draft.textures().unwrap().set_image(1, &image, None).is_err());
    assert!(
        bspkit::content::wal::Wal::new(b"x", &image, &bspkit::content::palette::Palette::read(&[0; 768]).unwrap())
            .is_err()
    );
    let light = map.light().unwrap();
    let one = light.images().next().unwrap();
    assert!(light.average(bspkit::content::lightmap::Image { style: 99, ..one }).is_none());
    let visibility = map.visibility().unwrap();
    assert!(visibility.start(bspkit::content::visibility::VisSet::Phs, 0).is_err());
    assert!(visibility.start(bspkit::content::visibility::VisSet::Pvs, usize::MAX).is_err());
    let mut output = Output::parse(b"door,Open,,0,-1").unwrap();
    assert!(output.set(OutputField::Input, "").is_err() && Output::parse(&output.to_bytes()).is_some());
}
