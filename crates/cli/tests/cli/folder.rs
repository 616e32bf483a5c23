//! `unpack` and `pack`: the law that a packed map is the one that was unpacked, new maps, and mistakes in manifests.

use std::path::Path;

use bspkit::Bsp;
use serde_json::{Value, json};

use super::corpus;
use super::room::Room;
use super::schema::validate;

fn schema() -> Value {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("docs/schema/manifest.schema.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Takes a map apart and makes it again; the folder without its record of the original becomes a map as well.
fn law(room: &Room, map: &Path, schema: &Value) -> Result<(), String> {
    let _ = std::fs::remove_dir_all(room.path("folder"));
    room.run(&["unpack", "-q", map.to_str().unwrap(), "-o", "folder"]).done();
    let manifest: Value = serde_json::from_slice(&room.read("folder/manifest.json")).unwrap();
    validate(schema, schema, &manifest, "")?;
    let pack = room.bspkit("pack folder -o packed.bsp");
    match pack.code == Some(0) && room.read("packed.bsp") == std::fs::read(map).unwrap() {
        true => Ok(()),
        false => Err(format!("{}: {}", map.display(), pack.err)),
    }
}

#[test]
fn a_packed_map_is_the_one_that_was_unpacked() {
    let (room, schema) = (Room::empty(), schema());
    let maps = ["tests/maps", "tests/broken"]
        .map(|folder| Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(folder));
    let maps: Vec<_> =
        maps.iter().flat_map(|folder| corpus::under(folder)).filter(|map| Bsp::open(map).is_ok()).collect();
    assert!(maps.len() > 35, "{}", maps.len());
    let wrong: Vec<_> = maps.iter().filter_map(|map| law(&room, map, &schema).err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn maps_of_the_corpus_are_packed_again() {
    let (room, schema) = (Room::empty(), schema());
    let maps = corpus::maps().into_iter().filter(|map| Bsp::open(map).is_ok());
    let wrong: Vec<_> = maps.filter_map(|map| law(&room, &map, &schema).err()).collect();
    assert!(wrong.is_empty(), "{} maps:\n{}", wrong.len(), wrong.join("\n"));
}

/// The example in the documentation: a room from nothing but text, which every reader of Quake II's maps takes.
#[test]
fn a_box_from_text_files() {
    let (room, schema) = (Room::empty(), schema());
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("docs/box");
    let manifest: Value = serde_json::from_slice(&std::fs::read(path.join("manifest.json")).unwrap()).unwrap();
    validate(&schema, &schema, &manifest, "").unwrap();
    room.run(&["pack", path.to_str().unwrap(), "-o", "box.bsp"]).done();
    assert!(room.bspkit("check box.bsp --deny note -v").done().err.contains("nothing wrong"));
    let map = Bsp::open(room.path("box.bsp")).unwrap();
    assert_eq!((map.dialect().name, map.entities().unwrap().len()), ("quake2", 2));
    assert!(map.bytes(map.slot("entities").unwrap().id).unwrap().ends_with(b"}\n\0"));
    let again = room.read("box.bsp");
    room.run(&["pack", path.to_str().unwrap(), "-o", "box.bsp", "--backup"]).done();
    assert_eq!((room.read("box.bsp"), room.read("box.bsp.bak")), (again.clone(), again));
    let run = room.run(&["pack", path.to_str().unwrap(), "--dry-run"]).done();
    assert!(run.text().contains("a new map, 1892 bytes"), "{}", run.text());
}

/// What a manifest may say of a Source map, and what it comes to.
#[test]
fn everything_is_where_the_manifest_says() {
    let room = Room::empty();
    for (name, bytes) in [("pak.bin", &b"PAK"[..]), ("light", b"LIGHT"), ("props.bin", b"PROPS"), ("gap", b"GAP!")] {
        room.write(format!("f/{name}"), bytes);
    }
    let manifest = json!({
        "bspkit_manifest": 1, "dialect": "source", "version": 19, "revision": 5,
        "lumps": [
            {"lump": "pak", "file": "pak.bin", "align": 2048, "version": 2},
            {"lump": "8", "file": "light", "format": "raw", "compressed": true, "gap_before": "gap"},
            {"lump": "VERTEXES", "file": "v.csv", "rest": "AQI="},
            {"lump": "game:sprp", "file": "props.bin", "version": 5, "flags": 6},
            {"lump": "game:dprp", "file": "props.bin", "version": 4, "compressed": true},
            {"lump": "game:\\x00\\x00\\x00\\x00"},
            {"lump": "bspx:OWN", "file": "light"},
        ],
        "order": ["PAKFILE", "VERTEXES", "GAME_LUMP", "LIGHTING"], "tail": "gap",
    });
    validate(&schema(), &schema(), &manifest, "").unwrap();
    room.write("f/v.csv", b"point[0],point[1],point[2]\n1,2,3.5\n");
    room.write("f/manifest.json", manifest.to_string().as_bytes());
    room.bspkit("pack f -o out.bsp").done();
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

/// The extra header of Xash3D says how records are read, whether it has lumps or not.
#[test]
fn an_extra_header_without_lumps_is_packed_again() {
    let room = Room::empty();
    let map = bspkit::Builder::new(&bspkit::dialect::GOLDSRC).lump(0, "{\n\"classname\" \"worldspawn\"\n}\n\0");
    let map = map.lump(6, vec![0; 40]).extra(3, Vec::new());
    room.write("m.bsp", &map.build().unwrap());
    assert_eq!(law(&room, &room.path("m.bsp"), &schema()), Ok(()));
    std::fs::remove_dir_all(room.path("folder/original")).unwrap();
    room.bspkit("pack folder -o new.bsp").done();
    let new = Bsp::open(room.path("new.bsp")).unwrap();
    assert!(new.slot("extra:LIGHTVECS").is_ok());
}

/// Flags and records are byte-swapped, and the file ends with a sector, with and without the original.
#[test]
fn a_consoles_map_is_packed_again() {
    let room = Room::empty();
    let map = bspkit::Builder::new(bspkit::dialect::by_name("source360").unwrap());
    let map = map.lump(0, "{\n\"classname\" \"worldspawn\"\n}\n\0").lump(13, [0, 0, 0, 1]).lump(40, "PAK");
    let map = map.game_lump(*b"gone", 1, [1, 2, 3]).game_lump_flags(6);
    let map = map.compressed_game_lump(*b"sprp", 6, &[0; 12]).unwrap().game_lump_end().lump_version(7, 1);
    room.write("m.bsp", &map.build().unwrap());
    assert_eq!(law(&room, &room.path("m.bsp"), &schema()), Ok(()));
    let manifest: Value = serde_json::from_slice(&room.read("folder/manifest.json")).unwrap();
    let flags: Vec<_> =
        manifest["lumps"].as_array().unwrap().iter().filter_map(|lump| lump["flags"].as_u64()).collect();
    assert_eq!((flags, room.read("folder/13_SURFEDGES.jsonl")), (vec![6], b"{\"edge\":1}\n".to_vec()));
    std::fs::remove_dir_all(room.path("folder/original")).unwrap();
    room.bspkit("pack folder -o new.bsp").done();
    assert_eq!(room.read("new.bsp").len(), 2048);
    let (old, new) = (Bsp::open(room.path("m.bsp")).unwrap(), Bsp::open(room.path("new.bsp")).unwrap());
    for slot in ["entities", "surfedges", "40", "game:gone", "game:sprp"] {
        let bytes = |map: &Bsp<'_>| map.bytes(map.slot(slot).unwrap().id).unwrap().to_vec();
        assert_eq!(bytes(&old), bytes(&new), "{slot}");
    }
    let version = |map: &Bsp<'_>| map.slot("faces").unwrap().version;
    assert_eq!((version(&old), version(&new)), (Some(1), Some(1)), "an empty lump keeps its version");
}

/// A checksum in the header is not the sum of anything that is known: it is printed, kept and packed.
#[test]
fn a_checksum_in_the_header_is_kept() {
    let room = Room::empty();
    let text = "{\n\"classname\" \"worldspawn\"\n}\n\0";
    let map = bspkit::Builder::new(bspkit::dialect::by_name("mohaa").unwrap()).lump(14, text).checksum(0xFEDC_BA98);
    room.write("m.bsp", &map.build().unwrap());
    assert_eq!(law(&room, &room.path("m.bsp"), &schema()), Ok(()));
    std::fs::remove_dir_all(room.path("folder/original")).unwrap();
    room.bspkit("pack folder -o new.bsp").done();
    room.bspkit("ent set new.bsp worldspawn message=x -o out.bsp").done();
    for map in ["m.bsp", "new.bsp", "out.bsp"] {
        assert!(room.bspkit(&format!("checksum {map}")).done().text().contains("0xfedcba98"), "{map}");
    }
}

/// Each is refused with its place, and nothing is written.
#[test]
fn mistakes_are_refused_with_their_place() {
    let room = Room::empty();
    room.write("f/v.jsonl", b"{\"point\":[1,2,3]}\n");
    room.write("f/bad.jsonl", b"{\"point\":[1,2,3]}\n{\"pint\":[1,2,3]}\n");
    room.write("f/e", b"{}");
    let lumps = |lumps: Value| json!({"bspkit_manifest": 1, "dialect": "quake2", "lumps": lumps});
    let with = |field: &str, value: Value| {
        let mut manifest = lumps(json!([{"lump": "entities", "file": "e"}]));
        manifest[field] = value;
        manifest
    };
    let source = |lump: Value| json!({"bspkit_manifest": 1, "dialect": "source", "lumps": lump});
    for (manifest, why, by_schema) in [
        (with("colour", json!(1)), "unknown field `colour`", true),
        (with("bspkit_manifest", json!(2)), "line 1: bspkit_manifest: version 2", true),
        (with("dialect", json!("quake9")), "no dialect is called quake9", false),
        (with("version", json!(39)), "version: Quake II has no maps of version 39, only 38", false),
        (with("entries", json!(18)), "entries: a directory of Quake II has 19", false),
        (with("revision", json!(1)), "revision: maps of Quake II have none", false),
        (with("checksum", json!(7)), "checksum: maps of Quake II hold none", false),
        (with("game", json!("chess")), "has no game chess", false),
        (with("trailer", json!(true)), "trailer: ", false),
        (with("tail", json!("../e")), "tail: `../e` is not a path below the folder", false),
        (with("tail", json!("none")), "tail: the file none is missing", false),
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
        (lumps(json!([{"lump": "vertexes", "file": "none.jsonl"}])), "the file none.jsonl is missing", false),
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
            "lumps[0] (planes).file: `a/../../e` is not a path below",
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
        room.write("f/manifest.json", manifest.to_string().as_bytes());
        let run = room.bspkit("pack f -o out.bsp").without_data(2);
        assert!(run.err.contains(why), "{manifest}: {}", run.err);
        assert!(!room.path("out.bsp").exists());
        assert_eq!(validate(&schema(), &schema(), &manifest, "").is_err(), by_schema, "{manifest}");
    }
    let good = lumps(json!([{"lump": "entities", "file": "e"}])).to_string();
    room.write("g/manifest.json", good.as_bytes());
    room.write("g/e", b"{}");
    for target in ["g/manifest.json", "g/e", "g/new.bsp"] {
        let run = room.bspkit(&format!("pack g -o {target}")).without_data(2);
        assert!(run.err.contains("would be in the folder that is packed"), "{}", run.err);
    }
    room.bspkit("pack g").without_data(2);
    // Some editors put a mark before the text.
    room.write("g/manifest.json", format!("\u{feff}{good}").as_bytes());
    room.bspkit("pack g -o out.bsp").done();
    for text in ["", "{", "[]", "{\"bspkit_manifest\": 1, \"bspkit_manifest\": 1}", "\u{1}"] {
        room.write("g/manifest.json", text.as_bytes());
        room.bspkit("pack g -o no.bsp").without_data(2);
        assert!(!room.path("no.bsp").exists());
    }
}

/// What is in the folder of each fixture.
#[test]
#[cfg(unix)]
fn folders_of_fixtures() {
    let room = Room::empty();
    let maps = [
        ("q1", "q1/own_rooms_bspx"),
        ("bsp2", "bsp2/own_box"),
        ("q2", "q2/own_rooms_bspx"),
        ("qbism", "qbism/own_rooms_qbism"),
        ("q3", "q3/own_rooms"),
        ("goldsrc", "goldsrc/own_rooms"),
        ("source", "source/room_v20"),
        ("lzma", "source/room_v20_lzma"),
        ("l4d2", "source/room_l4d2"),
        ("strata", "source/room_strata"),
    ];
    let mut lines = Vec::new();
    for (name, map) in maps {
        room.write(format!("{name}.bsp"), &super::room::fixture(map));
        lines.push(format!("bspkit unpack {name}.bsp -o {name} --dry-run"));
    }
    let more = [
        "bspkit unpack source.bsp -o source && cat source/manifest.json",
        "cat source/original/index.json",
        "bspkit unpack lzma.bsp -o lzma --format csv --text faces --no-images && cat lzma/manifest.json",
        "bspkit pack lzma --dry-run",
        "sed -i 's/\"revision\": 7/\"revision\": 8/; s/, \"compressed\": true//' lzma/manifest.json && bspkit pack lzma --dry-run",
        "bspkit pack lzma -o out.bsp && bspkit info out.bsp | head -2",
        "bspkit pack source none -o packed",
        "bspkit pack none",
    ];
    lines.extend(more.map(str::to_owned));
    super::transcript::check("folders", &room, &lines.iter().map(String::as_str).collect::<Vec<_>>());
}
