//! `build`: maps from manifests, those that `dump --all` writes and others, and mistakes in them.

use std::path::Path;

use bspkit::file::SegmentKind;
use bspkit::{Bsp, Slot, SlotId};
use serde_json::{Value, json};

use super::corpus;
use super::room::Room;
use super::schema::validate;

fn schema() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schema/manifest.schema.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// What two maps have to have in common; the first difference.
fn same_slots(old: &Bsp<'_>, new: &Bsp<'_>) -> Result<(), String> {
    let head = |map: &Bsp<'_>| (map.dialect().name, map.version(), map.revision(), map.container().shape());
    if head(old) != head(new) {
        return Err(format!("{:?} became {:?}", head(old), head(new)));
    }
    let names = |map: &Bsp<'_>| map.slots().iter().map(|slot| (slot.id, slot.name.clone())).collect::<Vec<_>>();
    if names(old) != names(new) {
        return Err(format!("{:?} became {:?}", names(old), names(new)));
    }
    let members = old.slots().iter().any(|slot| matches!(slot.id, SlotId::Game(_)));
    let game = old.dialect().rules.game_lump.filter(|_| members).map(SlotId::Lump);
    for (one, other) in old.slots().iter().zip(new.slots()) {
        // Its directory says where in the file the members are.
        let is_directory = Some(one.id) == game;
        let kept = |map: &Bsp<'_>, slot: &Slot| (slot.version, map.decompressed_size(slot.id));
        if kept(old, one) != kept(new, other) {
            return Err(format!("{}: {:?} became {:?}", one.name, kept(old, one), kept(new, other)));
        }
        // Bit 0 says whether it is compressed; what else there is must come along.
        if old.member_flags(one.id) != new.member_flags(other.id) {
            return Err(format!("{} has other flags", one.name));
        }
        if !is_directory && *old.bytes(one.id).unwrap() != *new.bytes(other.id).unwrap() {
            return Err(format!("{} has other bytes", one.name));
        }
    }
    let sector = old.dialect().rules.end_alignment;
    let fills = |map: &Bsp<'_>| map.container().bytes().len().is_multiple_of(sector);
    // Without padding a file may end there all the same, and behind a tail nothing is padded.
    let has_tail = old.container().segments().iter().any(|segment| segment.kind == SegmentKind::Tail);
    match fills(old) && !fills(new) && !has_tail {
        true => Err(format!("it ends at no multiple of {sector} any more")),
        false => Ok(()),
    }
}

/// Dumps a map and builds it again: whether all of it was dumped.
fn rebuild(room: &Room, map: &Path, schema: &Value) -> Result<bool, String> {
    for old in ["folder", "built.bsp"].map(|name| room.path(name)) {
        let _ = std::fs::remove_dir_all(&old).or_else(|_| std::fs::remove_file(&old));
    }
    let dump = room.run(&["dump", "--all", "-q", map.to_str().unwrap(), "folder"]);
    if dump.code != Some(0) {
        return Ok(false);
    }
    let manifest: Value = serde_json::from_slice(&room.read("folder/manifest.json")).unwrap();
    validate(schema, schema, &manifest, "")?;
    let build = room.bspkit("build folder/manifest.json -o built.bsp");
    if build.code != Some(0) {
        return Err(build.err);
    }
    let (old, new) = (Bsp::open(map).unwrap(), Bsp::open(room.path("built.bsp")).map_err(|error| error.to_string())?);
    same_slots(&old, &new).map(|()| true)
}

#[test]
fn what_was_dumped_is_built_again() {
    let (room, schema) = (Room::empty(), schema());
    let maps = corpus::under(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/maps"));
    assert!(maps.len() > 15);
    let mut identical = 0;
    for map in maps {
        assert_eq!(rebuild(&room, &map, &schema), Ok(true), "{}", map.display());
        let bytes = std::fs::read(&map).unwrap();
        identical += usize::from(room.read("built.bsp") == bytes);
        room.bspkit(&format!("load --all {} folder -o loaded.bsp", map.display())).done();
        assert!(room.read("loaded.bsp") == bytes, "{}", map.display());
    }
    // All but what compilers say of the places of empty lumps.
    assert!(identical > 12, "{identical}");
}

#[test]
fn maps_of_the_corpus_are_built_again() {
    let (room, schema) = (Room::empty(), schema());
    let (mut built, mut broken, mut skipped) = (0, Vec::new(), Vec::new());
    for map in corpus::maps() {
        if Bsp::open(&map).is_err() {
            continue;
        }
        match rebuild(&room, &map, &schema) {
            Ok(true) => built += 1,
            Ok(false) => skipped.push(map.display().to_string()),
            Err(why) => broken.push(format!("{}: {why}", map.display())),
        }
    }
    println!("{built} maps built again; not all of it can be dumped: {}", skipped.join(", "));
    assert!(broken.is_empty(), "{} maps:\n{}", broken.len(), broken.join("\n"));
}

/// The example in the documentation: a room from nothing but text, which every reader of Quake II's maps takes.
#[test]
fn a_box_from_text_files() {
    let (room, schema) = (Room::empty(), schema());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/box/manifest.json");
    let manifest: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    validate(&schema, &schema, &manifest, "").unwrap();
    room.run(&["build", path.to_str().unwrap(), "-o", "box.bsp"]).done();
    assert!(room.bspkit("check box.bsp --deny note -v").done().err.contains("nothing wrong"));
    let map = Bsp::open(room.path("box.bsp")).unwrap();
    assert_eq!((map.dialect().name, map.entities().unwrap().len()), ("quake2", 2));
    assert!(map.bytes(map.slot("entities").unwrap().id).unwrap().ends_with(b"}\n\0"));
    let again = room.read("box.bsp");
    room.run(&["build", path.to_str().unwrap(), "-o", "box.bsp", "--backup"]).done();
    assert_eq!((room.read("box.bsp"), room.read("box.bsp.bak")), (again.clone(), again));
    let layout = room.run(&["build", path.to_str().unwrap(), "--dry-run"]).done();
    assert!(layout.text().contains("  160    480  PLANES\n"), "{}", layout.text());
}

/// What a manifest may say of a Source map, and what it comes to.
#[test]
fn everything_is_where_the_manifest_says() {
    let room = Room::empty();
    for (name, bytes) in [("pak.bin", &b"PAK"[..]), ("light", b"LIGHT"), ("props.bin", b"PROPS"), ("gap", b"GAP!")] {
        room.write(name, bytes);
    }
    let manifest = json!({
        "bspkit_manifest": 1, "dialect": "source", "version": 19, "revision": 5,
        "lumps": [
            {"lump": "pak", "file": "pak.bin", "align": 2048, "version": 2},
            {"lump": "8", "file": "light", "format": "raw", "compressed": true, "gap_before": "gap"},
            {"lump": "VERTEXES", "file": room.path("v.csv").to_str().unwrap(), "rest": "AQI="},
            {"lump": "game:sprp", "file": "props.bin", "version": 5, "flags": 6},
            {"lump": "game:dprp", "file": "props.bin", "version": 4, "compressed": true},
            {"lump": "game:\\x00\\x00\\x00\\x00"},
            {"lump": "bspx:OWN", "file": "light"},
        ],
        "order": ["PAKFILE", "VERTEXES", "GAME_LUMP", "LIGHTING"], "tail": "gap",
    });
    validate(&schema(), &schema(), &manifest, "").unwrap();
    room.write("v.csv", b"point[0],point[1],point[2]\n1,2,3.5\n");
    room.write("m.json", manifest.to_string().as_bytes());
    room.bspkit("build m.json -o out.bsp").done();
    let bytes = room.read("out.bsp");
    let map = Bsp::parse(&bytes).unwrap();
    let slot = |name: &str| map.slot(name).unwrap();
    let content = |name: &str| map.bytes(slot(name).id).unwrap().to_vec();
    assert_eq!((map.version(), map.revision()), (19, Some(5)));
    assert_eq!((slot("pak").stored.start, slot("pak").version), (2048, Some(2)));
    assert_eq!((content("lighting"), map.decompressed_size(slot("lighting").id)), (b"LIGHT".to_vec(), Some(5)));
    assert!(bytes.windows(4).any(|window| window == b"GAP!") && bytes.ends_with(b"GAP!"));
    let vertex = [1.0_f32.to_le_bytes(), 2.0_f32.to_le_bytes(), 3.5_f32.to_le_bytes()].concat();
    assert_eq!(content("vertexes"), [&vertex[..], &[1, 2]].concat());
    assert_eq!(
        (content("game:sprp"), content("game:dprp"), content("bspx:OWN")),
        (b"PROPS".to_vec(), b"PROPS".to_vec(), b"LIGHT".to_vec())
    );
    assert_eq!((slot("game:sprp").version, map.decompressed_size(slot("game:dprp").id)), (Some(5), Some(5)));
    let directory = map.stored(slot("35").id);
    assert_eq!((directory[0], directory[8], directory[24]), (3, 6, 1));
    let starts = ["pak", "vertexes", "35", "lighting"].map(|name| slot(name).stored.start);
    assert!(starts.is_sorted(), "{starts:?}");
}

/// Flags and records are turned on their way out and in, and the file ends with a sector.
#[test]
fn a_consoles_map_is_built_again() {
    let room = Room::empty();
    let map = bspkit::Builder::new(bspkit::dialect::by_name("source360").unwrap());
    let map = map.lump(0, "{\n\"classname\" \"worldspawn\"\n}\n\0").lump(13, [0, 0, 0, 1]).lump(40, "PAK");
    let map = map.game_lump(*b"gone", 1, [1, 2, 3]).game_lump_flags(6);
    let map = map.compressed_game_lump(*b"sprp", 6, &[0; 12]).unwrap().game_lump_end();
    room.write("m.bsp", &map.build().unwrap());
    assert_eq!(rebuild(&room, &room.path("m.bsp"), &schema()), Ok(true));
    let manifest: Value = serde_json::from_slice(&room.read("folder/manifest.json")).unwrap();
    let flags: Vec<_> =
        manifest["lumps"].as_array().unwrap().iter().filter_map(|lump| lump["flags"].as_u64()).collect();
    assert_eq!((flags, room.read("folder/13_SURFEDGES.jsonl")), (vec![6], b"{\"edge\":1}\n".to_vec()));
    assert_eq!(room.read("built.bsp").len(), 2048);
}

/// A checksum that the header holds is no sum of anything at hand: it is printed, kept and built again.
#[test]
fn a_checksum_in_the_header_is_kept() {
    let room = Room::empty();
    let text = "{\n\"classname\" \"worldspawn\"\n}\n\0";
    let map = bspkit::Builder::new(bspkit::dialect::by_name("mohaa").unwrap()).lump(14, text).checksum(0xFEDC_BA98);
    room.write("m.bsp", &map.build().unwrap());
    assert_eq!(rebuild(&room, &room.path("m.bsp"), &schema()), Ok(true));
    room.bspkit("ent set built.bsp worldspawn message=x -o out.bsp").done();
    for map in ["m.bsp", "built.bsp", "out.bsp"] {
        assert!(room.bspkit(&format!("checksum {map}")).done().text().contains("0xfedcba98"), "{map}");
    }
}

/// Each is refused with its place, and nothing is written.
#[test]
fn mistakes_are_refused_with_their_place() {
    let room = Room::empty();
    room.write("v.jsonl", b"{\"point\":[1,2,3]}\n");
    room.write("bad.jsonl", b"{\"point\":[1,2,3]}\n{\"pint\":[1,2,3]}\n");
    room.write("e", b"{}");
    let lumps = |lumps: Value| json!({"bspkit_manifest": 1, "dialect": "quake2", "lumps": lumps});
    let with = |field: &str, value: Value| {
        let mut manifest = lumps(json!([{"lump": "entities", "file": "e"}]));
        manifest[field] = value;
        manifest
    };
    let source = |lump: Value| json!({"bspkit_manifest": 1, "dialect": "source", "lumps": lump});
    for (manifest, why, by_schema) in [
        (with("colour", json!(1)), "unknown field `colour`", true),
        (with("bspkit_manifest", json!(2)), "bspkit_manifest: version 2", true),
        (with("dialect", json!("quake9")), "no dialect is called quake9", false),
        (with("version", json!(39)), "version: Quake II has no maps of version 39, only 38", false),
        (with("entries", json!(18)), "entries: a directory of Quake II has 19", false),
        (with("revision", json!(1)), "revision: maps of Quake II have none", false),
        (with("checksum", json!(7)), "checksum: maps of Quake II hold none", false),
        (with("game", json!("chess")), "has no game chess", false),
        (with("trailer", json!(true)), "trailer: ", false),
        (with("tail", json!("../e")), "tail: `../e` is outside the folder of the manifest", false),
        (with("tail", json!("none")), "cannot read none", false),
        (with("order", json!(["planes", "1"])), "order: a lump is given twice", false),
        (with("order", json!(["planes", "game:sprp"])), "order[1]: `game:sprp` is not a lump of the directory", false),
        (with("align_game_lumps", json!(4)), "align_game_lumps: maps of Quake II have no game lump", false),
        (json!([]), "expected a manifest: a JSON object", true),
        (lumps(json!([{"lump": "planes", "fiel": "e"}])), "unknown field `fiel`", true),
        (lumps(json!([{"file": "e"}])), "missing field `lump`", true),
        (
            lumps(json!([{"lump": "0", "file": "e"}, {"lump": "Entities", "file": "e"}])),
            "lumps[1] (Entities): it is given twice",
            false,
        ),
        (lumps(json!([{"lump": "walls"}])), "lumps[0] (walls): maps of Quake II have no such lump", false),
        (lumps(json!([{"lump": "vertexes", "file": "none.jsonl"}])), "cannot read none.jsonl", false),
        (lumps(json!([{"lump": "vertexes", "file": "bad.jsonl"}])), "line 2: there is no field pint", false),
        (lumps(json!([{"lump": "planes", "file": "v.jsonl"}])), "line 1: there is no field point", false),
        (
            lumps(json!([{"lump": "vertexes", "file": "v.jsonl", "record": "Corner"}])),
            "VERTEXES has no records of this kind",
            false,
        ),
        (lumps(json!([{"lump": "entities", "file": "v.jsonl"}])), "ENTITIES has no records of this kind", false),
        (lumps(json!([{"lump": "planes", "rest": "?"}])), "lumps[0] (planes).rest: it is not base64", false),
        (
            lumps(json!([{"lump": "planes", "version": 1}])),
            "lumps[0] (planes).version: this kind of lump has no such property",
            false,
        ),
        (lumps(json!([{"lump": "planes", "compressed": true}])), "lumps[0] (planes).compressed", false),
        (lumps(json!([{"lump": "planes", "flags": 1}])), "lumps[0] (planes).flags", false),
        (lumps(json!([{"lump": "planes", "align": 48}])), "lumps[0] (planes).align: 48 is not a power of two", false),
        (
            lumps(json!([{"lump": "planes", "file": "a/../../e"}])),
            "lumps[0] (planes).file: `a/../../e` is outside",
            false,
        ),
        (lumps(json!([{"lump": "game:sprp"}])), "maps of Quake II have no game lump", false),
        (lumps(json!([{"lump": "extra:LIGHTVECS"}])), "maps of Quake II have no such lump", false),
        (lumps(json!([{"lump": "bspx:"}])), "the name of a BSPX entry", false),
        (
            source(json!([{"lump": "game:prop"}, {"lump": "game:props"}])),
            "lumps[1] (game:props): the name of a member has four",
            false,
        ),
        (
            json!({"bspkit_manifest": 1, "dialect": "source", "lumps": [], "align_game_lumps": 3}),
            "align_game_lumps: 3 is not a power of two",
            false,
        ),
        (
            source(json!([{"lump": "game:sprp", "version": 70000}])),
            "lumps[0] (game:sprp).version: it has 16 bits",
            false,
        ),
        (
            source(json!([{"lump": "35", "file": "v.jsonl", "format": "raw"}, {"lump": "game:sprp"}])),
            "both the game lump and its members have files",
            false,
        ),
        (source(json!([{"lump": "leafs", "file": "v.jsonl"}])), "there is no field point", false),
        (
            source(json!([{"lump": "game:sprp", "file": "v.jsonl", "version": 99}])),
            "may have records of several kinds",
            false,
        ),
    ] {
        room.write("m.json", manifest.to_string().as_bytes());
        let run = room.bspkit("build m.json -o out.bsp").without_data(2);
        assert!(run.err.contains(why), "{manifest}: {}", run.err);
        assert!(!room.path("out.bsp").exists());
        assert_eq!(validate(&schema(), &schema(), &manifest, "").is_err(), by_schema, "{manifest}");
    }
    room.write("m.json", lumps(json!([{"lump": "entities", "file": "e"}])).to_string().as_bytes());
    for target in ["m.json", "e", "./e"] {
        assert!(
            room.bspkit(&format!("build m.json -o {target}"))
                .without_data(2)
                .err
                .contains("is an input file and would be")
        );
    }
    room.bspkit("build m.json").without_data(2);
    // Some editors put a mark before the text.
    room.write("m.json", format!("\u{feff}{}", lumps(json!([{"lump": "entities", "file": "e"}]))).as_bytes());
    room.bspkit("build m.json -o out.bsp").done();
    for text in ["", "{", "[]", "{\"bspkit_manifest\": 1, \"bspkit_manifest\": 1}", "\u{1}"] {
        room.write("m.json", text.as_bytes());
        room.bspkit("build m.json -o out.bsp").without_data(2);
    }
}
