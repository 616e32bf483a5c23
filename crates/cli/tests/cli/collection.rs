//! Collections of maps: which maps have something, how often, and rows for other programs.

use std::collections::BTreeMap;
use std::path::Path;

use bspkit::Bsp;
use serde_json::Value;

use super::room::{Room, fixture};

const MAPS: [&str; 4] = ["q2/own_rooms", "q3/own_rooms", "goldsrc/own_rooms", "source/room_v20"];

fn room() -> Room {
    let room = Room::empty();
    for name in MAPS {
        room.write(format!("maps/{}.bsp", name.replace('/', "_")), &fixture(name));
    }
    room
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap().replace('\\', "/")
}

/// How many entities of each class each map has, counted without the program.
fn classes() -> BTreeMap<String, Vec<(String, usize)>> {
    let mut all: BTreeMap<String, Vec<(String, usize)>> = BTreeMap::new();
    for name in MAPS {
        let bytes = fixture(name);
        let map = Bsp::parse(&bytes).unwrap();
        let slot = map.slot("entities").unwrap();
        let lump = String::from_utf8_lossy(&map.bytes(slot.id).unwrap()).into_owned();
        let mut of_map: BTreeMap<String, usize> = BTreeMap::new();
        for line in lump.lines().filter_map(|line| line.trim().strip_prefix("\"classname\" \"")) {
            *of_map.entry(line.trim_end_matches('"').to_lowercase()).or_default() += 1;
        }
        for (class, number) in of_map {
            all.entry(class).or_default().push((format!("maps/{}.bsp", name.replace('/', "_")), number));
        }
    }
    all
}

#[test]
fn maps_are_named_and_counted_as_by_hand() {
    let room = room();
    for (class, maps) in classes() {
        let named: Vec<String> = maps.iter().map(|(path, _)| path.clone()).collect();
        let run = room.run(&["ent", "list", "-l", "maps", "--", &class]);
        let mut found: Vec<String> = text(&run.out).lines().map(str::to_owned).collect();
        found.sort();
        let mut sorted = named.clone();
        sorted.sort();
        assert_eq!(found, sorted, "{class}");
        assert_eq!(run.code, Some(0));
        let run = room.run(&["ent", "list", "-c", "maps", "--", &class]);
        for (path, number) in &maps {
            assert!(text(&run.out).lines().any(|line| line == format!("{path}:{number}")), "{class}: {run:?}");
        }
        assert_eq!(text(&run.out).lines().count(), MAPS.len(), "{run:?}");
        let run = room.run(&["ent", "list", &maps[0].0, &class, "--count"]);
        assert_eq!(text(&run.out), format!("{}\n", maps[0].1));
    }
    let run = room.run(&["ent", "list", "-l", "maps", "--", "no_such_class"]);
    assert_eq!((run.code, &run.out[..]), (Some(1), &b""[..]), "{run:?}");
}

#[test]
fn values_are_grouped_over_all_maps() {
    let room = room();
    let document: Value = room.bspkit("ent list maps --group classname --json").json();
    let groups = document["groups"].as_array().unwrap();
    let expected = classes();
    assert_eq!(groups.len(), expected.len());
    for group in groups {
        let maps = &expected[group["value"].as_str().unwrap()];
        assert_eq!(group["maps"], maps.len());
        assert_eq!(group["count"], maps.iter().map(|(_, number)| number).sum::<usize>());
    }
    let run = room.bspkit("ent list maps --group classname");
    assert!(text(&run.out).starts_with("    maps      count  classname\n"), "{run:?}");
    assert_eq!(room.bspkit("ent list maps --group nothing_has_it").code, Some(1));
}

#[test]
fn rows_have_every_pair_once() {
    let room = room();
    let csv = text(&room.bspkit("ent list maps --format csv").out);
    let lines = text(&room.bspkit("ent list maps --format jsonl").out);
    let mut pairs = 0;
    for name in MAPS {
        pairs +=
            Bsp::parse(&fixture(name)).unwrap().entities().unwrap().iter().map(|it| it.pairs().count()).sum::<usize>();
    }
    assert_eq!(
        (csv.lines().next(), csv.lines().count(), lines.lines().count()),
        (Some("path,entity,key,value"), pairs + 1, pairs)
    );
    let rows: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(rows.iter().all(|row| Path::new(row["path"].as_str().unwrap()).extension().is_some()));
    let only = text(&room.bspkit("ent get maps worldspawn classname --format csv").out);
    assert_eq!(only.lines().count(), MAPS.len() + 1, "{only}");
    assert!(only.lines().skip(1).all(|line| line.ends_with(",0,classname,worldspawn")), "{only}");
    // A map whose text is not UTF-8, with quotes and commas for CSV.
    let odd = room.bspkit("ent set maps/q2_own_rooms.bsp worldspawn message=a,\\xe9 -o odd.bsp");
    assert_eq!(odd.code, Some(0));
    let odd = text(&room.bspkit("ent get odd.bsp worldspawn message --format csv").out);
    assert_eq!(odd, "path,entity,key,value\nodd.bsp,0,message,\"a,/xe9\"\n");
}

#[test]
fn statistics_are_those_of_the_single_maps() {
    let room = room();
    let document: Value = room.bspkit("stats maps --json").json();
    assert_eq!(document["maps"], MAPS.len());
    let bytes: usize = MAPS.iter().map(|name| fixture(name).len()).sum();
    assert_eq!(document["bytes"], bytes);
    let rows = document["rows"].as_array().unwrap();
    let row = |kind: &str, name: &str| rows.iter().find(|row| row["kind"] == kind && row["name"] == name).cloned();
    for (class, maps) in classes() {
        let row = row("class", &class).unwrap();
        assert_eq!(
            (&row["maps"], &row["count"]),
            (&maps.len().into(), &maps.iter().map(|(_, it)| it).sum::<usize>().into())
        );
    }
    assert_eq!(row("dialect", "quake2").unwrap()["bytes"], fixture("q2/own_rooms").len());
    assert!(row("file", "materials/own/floor.vmt").is_some() || rows.iter().any(|row| row["kind"] == "file"));
    let csv = text(&room.bspkit("stats maps --format csv").out);
    assert_eq!(csv.lines().count(), rows.len() + 1);
    let only = text(&room.bspkit("stats maps --format jsonl --only class").out);
    assert_eq!(only.lines().count(), classes().len());
    // A damaged map does not stop the others, and is named.
    room.write("maps/broken.bsp", b"no map");
    let run = room.bspkit("stats maps --only dialect");
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(text(&run.out).starts_with("4 maps"), "{run:?}");
}

#[test]
fn textures_and_files_name_their_maps() {
    let room = room();
    let run = room.run(&["pak", "list", "maps/source_room_v20.bsp", "*.vmt", "-c"]);
    assert_eq!((run.code, text(&run.out)), (Some(0), "2\n".to_owned()), "{run:?}");
    let run = room.run(&["tex", "list", "maps", "--only", "own/**", "-l"]);
    let found = text(&run.out);
    for name in MAPS {
        let path = format!("maps/{}.bsp", name.replace('/', "_"));
        let list = room.run(&["tex", "list", &path, "--only", "own/**", "--json"]);
        assert_eq!(list.code == Some(0), found.lines().any(|line| line == path), "{path}: {found}");
    }
    assert_eq!(room.run(&["tex", "list", "maps", "--only", "no_such", "-l"]).code, Some(1));
}

/// The classes and keys of an FGD file: what it does not have, and what is close to what it has.
#[test]
fn entities_are_compared_with_the_classes_of_a_game() {
    let room = room();
    let fgd = "@BaseClass = Named [ targetname(target_source) : \"Name\" target(target_destination) : \"Target\" ]\n\
        @SolidClass = worldspawn [ message(string) : \"Message\" sky(string) : \"Sky\" ]\n\
        @PointClass base(Named) = light [ light(integer) : \"Light\" origin(vector) : \"Place\" ]\n";
    room.write("own.fgd", fgd.as_bytes());
    let run = room.bspkit("ent rename-key maps/q2_own_rooms.bsp light light lihgt -o a.bsp");
    assert_eq!(run.code, Some(0), "{run:?}");
    let document = room.bspkit("check a.bsp --fgd own.fgd --json").json();
    let findings = document["findings"].as_array().unwrap();
    let of = |code: &str| findings.iter().filter(|it| it["code"] == code).cloned().collect::<Vec<_>>();
    let keys = of("key-unknown");
    assert_eq!(keys.len(), 1, "{keys:?}");
    assert_eq!(keys[0]["message"], "`lihgt` is no key of light: did you mean light?");
    assert_eq!(keys[0]["count"], 3);
    let unknown: Vec<String> = of("class-unknown").iter().map(|it| it["message"].to_string()).collect();
    assert!(
        unknown.iter().any(|it| it.contains("`func_door`")) && !unknown.iter().any(|it| it.contains("`light`")),
        "{unknown:?}"
    );
    // Each class of the map that is not in the file is one finding.
    let in_map = classes().into_iter().filter(|(_, maps)| maps.iter().any(|(path, _)| path.contains("q2")));
    let expected = in_map.filter(|(class, _)| !["light", "worldspawn"].contains(&&class[..])).count();
    let shown: u64 = of("class-unknown").iter().map(|it| it["count"].as_u64().unwrap_or(1)).sum();
    assert!(unknown.len() <= 11 && shown >= expected as u64, "{unknown:?}");
    assert_eq!(room.bspkit("check a.bsp --fgd own.fgd --deny class-unknown -q").code, Some(1));
    let quiet = room.bspkit("check a.bsp --fgd own.fgd --deny warning --allow class-unknown --allow key-unknown");
    assert_eq!(quiet.code, Some(0), "{quiet:?}");
    assert_eq!(room.bspkit("check a.bsp --fgd none.fgd").code, Some(2));
    room.write("no.fgd", b"{ \"not\": \"an FGD file\" }");
    let run = room.bspkit("check a.bsp --fgd no.fgd");
    assert!(run.code == Some(2) && run.err.contains("it is not an FGD file"), "{run:?}");
    // A key of compilers is not a typing error of another key.
    assert_eq!(room.bspkit("ent set maps/q2_own_rooms.bsp light _light=1 -o b.bsp").code, Some(0));
    assert!(!room.bspkit("check b.bsp --fgd own.fgd --json").text().contains("key-unknown"));
    // The file can be a default of the project.
    room.write("bspkit.toml", b"[defaults]\nfgd = 'own.fgd'\n");
    assert!(room.bspkit("check a.bsp --json").json()["findings"].to_string().contains("key-unknown"));
    // `ci` finds the same, its policy decides.
    let run = room.bspkit("ci a.bsp");
    assert!(run.code == Some(0) && run.text().contains("key-unknown"), "{run:?}");
    room.write(
        "bspkit.toml",
        b"[defaults]\nfgd = 'own.fgd'\n[check]\ndeny = ['key-unknown']\nallow = ['class-unknown']\n",
    );
    let run = room.bspkit("ci a.bsp");
    assert!(run.code == Some(1) && !run.text().contains("class-unknown"), "{run:?}");
    assert_eq!(room.bspkit("ci a.bsp --init").code, Some(0));
    // It is not written over.
    assert_eq!(room.bspkit("ci a.bsp --format json -o own.fgd").code, Some(2));
}

/// A document about all maps is the only one, also if a map cannot be read.
#[test]
fn groups_are_one_document() {
    let room = room();
    room.write("maps/bad.bsp", b"no map");
    for line in ["ent list maps --group classname --json", "ent get maps * classname --group classname --json"] {
        let run = room.bspkit(line);
        let document = run.json();
        assert!(document["groups"].as_array().is_some_and(|groups| groups.len() > 5), "{run:?}");
        assert!(run.err.contains("bad.bsp") && run.code == Some(1), "{run:?}");
    }
}

/// The values are counted that would be printed.
#[test]
fn equal_keys_are_counted_as_they_are_printed() {
    let room = room();
    room.bspkit("ent add maps/q2_own_rooms.bsp classname=own -o a.bsp").done();
    room.write("three.rhai", b"let e = entities.first(\"own\"); e.push(\"a\", 1); e.push(\"a\", 2); e.push(\"a\", 3);");
    room.bspkit("run three.rhai a.bsp --in-place").done();
    assert_eq!(room.bspkit("ent get a.bsp own a").text().lines().count(), 3);
    assert_eq!(room.bspkit("ent get a.bsp own a -c").text(), "3\n");
}
