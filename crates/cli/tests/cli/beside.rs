//! Files beside a map that an edit makes stale: each is named once, with the reason, and others are not named.

use bspkit::dialect::{By, Lump, Part};

use super::room::{Room, Run, fixture};

fn maps() -> Room {
    let room = Room::new();
    room.write("q1.bsp", &fixture("q1/own_rooms"));
    room
}

/// What is said of files beside the map, without the rest.
fn said(room: &Room, edit: &str, files: &[&str]) -> Vec<String> {
    let run = room.bspkit(edit).done();
    let is_named = |line: &&str| line.starts_with("warning: ") && files.iter().any(|file| line.contains(file));
    run.err.lines().filter(is_named).map(str::to_owned).collect()
}

/// An edit, the file beside the map, and how the warning begins after its name; nothing where the edit is none of its.
const CASES: &[(&str, &str, &str)] = &[
    ("ent set q1.bsp worldspawn message=x --in-place", "q1.ent", "replaces the entities of the map"),
    ("model rm q1.bsp *1 --in-place", "q1.ent", "names brush models by the numbers that they had"),
    ("model rm goldsrc.bsp *1 --in-place", "goldsrc.ent", "names brush models by the numbers that they had"),
    ("records mv q1.bsp models[1] 2 --in-place", "q1.ent", "names brush models by the numbers that they had"),
    ("model copy q1.bsp *1 --from q1.bsp --in-place", "q1.ent", "replaces the entities of the map"),
    ("ent set q1.bsp worldspawn message=x --in-place", "q1.lit", ""),
    ("ent set q1.bsp worldspawn message=x --in-place", "q1.vis", ""),
    ("ent set q1.bsp worldspawn message=x --in-place", "q1.way", ""),
    ("ent set q1.bsp light light=1 --in-place", "q1.way", ""),
    ("ent set q1.bsp func_door wait=1 --in-place", "q1.way", "is of the map before"),
    ("ent add q1.bsp classname=info_teleport_destination --in-place", "q1.bot", "is of the map before"),
    ("ent set q1.bsp item_health angle=8 --in-place", "q1.bot", ""),
    ("ent set q1.bsp worldspawn message=x --in-place", "q1.loc", ""),
    ("vis fill q1.bsp --in-place", "q1.way", ""),
    ("vis fill q1.bsp --in-place", "q1.prt", ""),
    ("vis fill q1.bsp --in-place", "q1.loc", ""),
    ("set q1.bsp planes[0].distance=3 --in-place --force", "q1.way", "is of the map before"),
    ("set q1.bsp planes[0].distance=3 --in-place --force", "q1.loc", "names places of the map before"),
    ("set q1.bsp planes[0].distance=3 --in-place --force", "q1.prt", "has the portals of the map before"),
    ("set q1.bsp leafs[1].ambient_levels[0]=3 --in-place", "q1.way", ""),
    ("set q1.bsp leafs[1].contents=-3 --in-place", "q1.way", "is of the map before"),
    ("ent set q1.bsp light light=1 --in-place", "q1.rtlights", "replaces the lights of the entities"),
    ("ent rm q1.bsp #6 --in-place", "q1.rtlights", "replaces the lights of the entities"),
    ("ent set q1.bsp func_door wait=1 --in-place", "q1.rtlights", ""),
    ("ent set q2.bsp light light=1 --in-place", "q2.rtlights", "replaces the lights of the entities"),
    ("light adjust q1.bsp --gain 0.5 --in-place", "q1.rtlights", ""),
    ("ent set q1.bsp worldspawn message=x -o new.bsp", "q1.ent", ""),
    ("ent set q1.bsp worldspawn message=x -o new.bsp", "new.ent", "replaces the entities of the map"),
    ("ent set q1.bsp worldspawn message=x -o out/q1.bsp", "q1.ent", "replaces the entities of the map"),
    ("light adjust q1.bsp --gain 0.5 --in-place", "q1.lit", "replaces the light of the map"),
    ("light adjust q1.bsp --gain 0.5 --in-place", "q1.ent", ""),
    ("light adjust q1.bsp --gain 0.5 --in-place", "q1.vis", ""),
    ("set q1.bsp faces[2].styles[0]=3 --in-place", "q1.lit", ""),
    ("set q1.bsp faces[2].styles[1]=3 --in-place --force", "q1.lit", "has the light of faces where"),
    ("set q1.bsp faces[2].light_offset=16 --in-place --force", "q1.lit", "has the light of faces where"),
    ("set q1.bsp texinfo[0].flags=0 --in-place", "q1.lit", ""),
    ("tex rename q1.bsp own_floor own_other --in-place", "q1.lit", ""),
    ("records rm q1.bsp models[4] --cascade --in-place", "q1.lit", ""),
    ("vis fill q1.bsp --in-place", "q1.vis", "replaces visibility and leafs"),
    ("records dup q1.bsp faces[5] --in-place", "q1.vis", "has the leafs of the map before"),
    ("model rm q1.bsp *2 --in-place", "q1.vis", "has the leafs of the map before"),
    ("model copy q1.bsp *1 --from q1.bsp --in-place", "q1.vis", "has the leafs of the map before"),
    ("model copy q1.bsp *1 --from q1.bsp --in-place", "q1.lit", "has the light of faces where"),
    ("model copy q1.bsp *1 --from q1.bsp --in-place", "q1.lux", "has the light of faces where"),
    ("prune q1.bsp --light --in-place", "q1.lit", "has the light of faces where"),
    ("vis fill q1.bsp --in-place", "q1.lit", ""),
    ("ent set goldsrc.bsp worldspawn message=x --in-place", "goldsrc.ent", "replaces the entities of the map"),
    ("light adjust goldsrc.bsp --gain 0.5 --in-place", "goldsrc.ent", "is older than the map then"),
    ("light adjust goldsrc.bsp --gain 0.5 --in-place", "graphs/goldsrc.nod", "is older than the map then"),
    ("light adjust goldsrc.bsp --gain 0.5 --in-place", "goldsrc.nav", ""),
    ("ent set goldsrc.bsp worldspawn message=x --in-place", "goldsrc.res", ""),
    (
        "ent add goldsrc.bsp classname=env_sprite model=sprites/new.spr --in-place",
        "goldsrc.res",
        "does not list the files",
    ),
    ("ent set q2.bsp worldspawn message=x --in-place", "q2.ent", "replaces the entities of the map"),
    ("ent set q2.bsp worldspawn message=x --in-place", "q2.lit", ""),
    ("ent set q3.bsp worldspawn message=x --in-place", "q3.aas", "holds a checksum of the whole map"),
    ("set q3.bsp surfaces[0].lightmap=0 --in-place --force", "q3.srf", ""),
    ("ent set source.bsp worldspawn message=x --in-place", "source.ent", ""),
    ("ent set source.bsp worldspawn message=x --in-place", "source.bsp.bz2", "is the map before this edit"),
    ("ent set source.bsp worldspawn message=x --in-place", "graphs/source.ain", "is older than the map then"),
    ("ent set source.bsp worldspawn message=x --in-place", "source.nav", "holds the size of the map before"),
];

#[test]
fn each_file_that_an_edit_makes_stale_is_named() {
    for (edit, file, words) in CASES {
        let room = maps();
        for folder in ["graphs", "out"] {
            std::fs::create_dir(room.path(folder)).unwrap();
        }
        let without = said(&room, &format!("{edit} --dry-run"), &[file]);
        assert!(without.is_empty(), "{edit}: {file} is not there: {without:?}");
        room.write(file, b"x");
        let dry = said(&room, &format!("{edit} --dry-run"), &[file]);
        let named = said(&room, edit, &[file]);
        assert_eq!(dry, named, "{edit}");
        match *words {
            "" => assert!(named.is_empty(), "{edit}: {named:?}"),
            words => {
                assert_eq!(named.len(), 1, "{edit} {file}: {named:?}");
                let said = named[0].replace(" (beside the old map)", "");
                assert!(said.starts_with(&format!("warning: {file} {words}")), "{edit}: {named:?}");
            }
        }
    }
}

#[test]
fn lump_files_of_edited_lumps_are_named() {
    let room = maps();
    let lump_file = |name: &str, lump: i32| {
        let head = [20, lump, 0, 4, 1].map(i32::to_le_bytes).concat();
        room.write(name, &[head, b"{}\n\0".to_vec()].concat());
    };
    let edit = "ent set source.bsp worldspawn message=x --dry-run";
    // The numbers are the order in which engines read them, and say nothing of the lumps.
    lump_file("source_l_0.lmp", 1);
    lump_file("source_l_1.lmp", 0);
    lump_file("source_l_3.lmp", 0);
    let named = said(&room, edit, &[".lmp"]);
    assert_eq!(named.len(), 1, "{named:?}");
    assert!(named[0].starts_with("warning: source_l_1.lmp replaces ENTITIES of the map in games"), "{named:?}");
    // What is no lump file is not read by a game either.
    room.write("source_l_1.lmp", b"short");
    assert!(said(&room, edit, &[".lmp"]).is_empty());
    // With other lumps the lump changes what it names by number.
    room.write("source.bsp", &fixture("source/room_v20"));
    lump_file("source_l_1.lmp", 7);
    let named = said(&room, "records dup source.bsp texinfo[0] --dry-run", &[".lmp"]);
    assert!(named.len() == 1 && named[0].contains("FACES of the map in games that read lump files, with the numbers"));
    lump_file("source_l_1.lmp", 0);
    let named = said(&room, "model rm source.bsp *1 --dry-run", &["_l_1.lmp"]);
    let is_said = |text: &String| text.contains("ENTITIES of the map in games that read lump files, with the numbers");
    assert!(named.len() == 1 && named.iter().all(is_said), "{named:?}");
}

/// A file of entities that has those of the new map is right.
#[test]
fn a_file_with_the_same_entities_is_not_named() {
    let room = maps();
    room.bspkit("ripent -export q1").done();
    let text = String::from_utf8(room.read("q1.ent")).unwrap();
    room.write("q1.ent", text.replace("own fixture", "another").as_bytes());
    let run = room.bspkit("ripent -import q1").done();
    assert!(!run.err.contains("q1.ent replaces"), "{}", run.err);
    assert_eq!(said(&room, "ent set q1.bsp worldspawn message=x --dry-run", &[".ent"]).len(), 1);
}

#[test]
fn an_entity_file_by_checksum_is_named() {
    let room = maps();
    for map in ["q1", "q2"] {
        let sums = room.bspkit(&format!("checksum {map}.bsp --json")).done().json();
        let sums = sums["checksums"].as_array().unwrap();
        let key = sums.iter().find(|sum| sum["name"] == "entity-key").unwrap()["value"].as_str().unwrap().to_owned();
        let file = format!("{map}@{key}.ent");
        room.write(&file, b"{}");
        room.write(format!("{map}@0000.ent"), b"{}");
        let named = said(&room, &format!("ent set {map}.bsp worldspawn message=x --dry-run"), &[".ent"]);
        assert_eq!(named.len(), 1, "{named:?}");
        assert!(named[0].starts_with(&format!("warning: {file} is found by the checksum")), "{named:?}");
    }
}

#[test]
fn json_and_folders_have_the_warnings() {
    let room = maps();
    room.write("q2.ent", b"{}");
    let json = room.bspkit("ent set q2.bsp worldspawn message=x --dry-run --json -q").done().json();
    assert!(json["warnings"][0].as_str().unwrap().starts_with("q2.ent replaces"), "{json}");
    room.bspkit("unpack q2.bsp -o tree").done();
    assert!(said(&room, "pack tree -o q2.bsp", &[".ent"]).is_empty(), "the map as it was");
    let text = String::from_utf8(room.read("tree/00_ENTITIES.ent")).unwrap();
    room.write("tree/00_ENTITIES.ent", text.replacen("worldspawn\"", "worldspawn\"\n\"own_key\" \"1\"", 1).as_bytes());
    let run = room.bspkit("pack tree -o q2.bsp");
    assert!(run.err.contains("q2.ent replaces the entities"), "{}", run.err);
}

/// A map, and a file in another folder of its game, after an edit of what bots walk on.
const FOLDERS: &[(&str, &str)] = &[
    ("q1/own_rooms", "bots/navigation/e1.nav"),
    ("q1/own_rooms", "bots/maps/e1.bot"),
    ("q2/own_rooms", "nav/e1.nod"),
    ("goldsrc/own_rooms", "addons/podbot/wptdefault/e1.pwf"),
    ("goldsrc/own_rooms", "addons/ebot/waypoints/e1.ewp"),
    ("goldsrc/own_rooms", "addons/jk_botti/waypoints/e1.wpt"),
    ("goldsrc/own_rooms", "addons/yapb/data/graph/e1.graph"),
    ("source/room_v20", "rcbot2/waypoints/tf2/e1.rcw"),
    ("source/room_v20", "addons/rcbot2/waypoints/dod/e1.rcw"),
];

#[test]
fn files_in_other_folders_of_a_game_are_found() {
    for (map, file) in FOLDERS {
        let room = Room::empty();
        room.write("game/maps/e1.bsp", &fixture(map));
        room.write(format!("game/{file}"), b"x");
        let (_, name) = file.rsplit_once('/').unwrap();
        let harmless = said(&room, "ent set game/maps/e1.bsp light _light=x --dry-run", &[name]);
        assert!(harmless.iter().all(|line| line.contains("holds the size")), "{file}: {harmless:?}");
        // The same from within the folder of the map.
        for map in ["e1.bsp", "./e1.bsp"] {
            let mut command = room.command();
            let edit = ["ent", "add", map, "classname=func_wall", "model=*1", "--dry-run", "--force"];
            let run = Run::of(command.current_dir(room.path("game/maps")).args(edit));
            let named = run.err.lines().filter(|line| line.contains(name) && line.contains("../"));
            assert_eq!(named.count(), 1, "{file} of {map}: {}", run.err);
        }
        let edit = "ent add game/maps/e1.bsp classname=func_wall model=*1 --in-place --force";
        let named = said(&room, edit, &[name]);
        assert!(named.len() == 1 && named[0].starts_with(&format!("warning: game/{file} ")), "{file}: {named:?}");
    }
}

#[test]
fn fields_in_the_table_are_fields_of_records() {
    for dialect in bspkit::dialect::ALL {
        let stale = dialect.beside.iter().copied().flatten().flat_map(|file| file.stale);
        let parts = stale.filter_map(|stale| if let By::Content(parts) = stale.by { Some(parts) } else { None });
        for part in parts.flatten() {
            let Part::Fields(role, names) = part else { continue };
            let of_role = |lump: &&Lump| lump.role == Some(*role);
            let Some(lump) = dialect.lumps.iter().find(of_role) else { continue };
            let mut records = dialect.rows_of(lump.name).filter_map(|row| row.record());
            let known = records.any(|record| names.iter().any(|name| record.field(name).is_some()));
            assert!(known, "{} {}: {names:?}", dialect.name, lump.name);
        }
    }
}

/// The compressed map that is saved is the new one.
#[test]
fn a_compressed_map_that_is_saved_is_not_stale() {
    let room = Room::empty();
    room.write("q.bsp", &fixture("source/room_v20"));
    room.bspkit("ent set q.bsp worldspawn a=b -o q.bsp.bz2").done();
    for command in ["--in-place", "-o q.bsp.bz2"] {
        let map = if command == "--in-place" { "q.bsp.bz2" } else { "q.bsp" };
        let run = room.bspkit(&format!("ent set {map} worldspawn a=c{} {command}", command.len())).done();
        assert!(!run.err.contains("before this edit"), "{}", run.err);
    }
    assert!(room.bspkit("ent set q.bsp worldspawn a=d --in-place").done().err.contains("q.bsp.bz2 is the map before"));
}
