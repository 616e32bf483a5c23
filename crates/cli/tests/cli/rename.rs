//! `rename` and `cubemap`: previews, saves, other maps in a folder, files beside the map.

use bspkit::Bsp;
use serde_json::Value;

use super::room::{Room, fixture, slashes};
use super::transcript::check;

/// A map with every kind of file that has its name, and some that only look so.
const FILES: [(&str, &str); 16] = [
    ("materials/maps/room_v20/c0_0_0.vtf", "VTF"),
    ("materials/maps/room_v20/c0_0_0.hdr.vtf", "VTF"),
    ("materials/maps/room_v20/cubemapdefault.vtf", "VTF"),
    ("materials/maps/room_v20b/c0_0_0.vtf", "VTF"),
    ("materials/overviews/room_v20.vmt", "UnlitGeneric { $basetexture overviews/room_v20 // of room_v20\r\n}\r\n"),
    ("materials/overviews/room_v20.vtf", "VTF"),
    (
        "resource/overviews/room_v20.txt",
        "\"room_v20\"\r\n{\r\n\t\"material\"\t\"overviews/room_v20\" // the image\r\n\t\"zoom\"\t\"0\"\r\n}\r\n",
    ),
    ("resource/overviews/room_v20_radar.dds", "DDS"),
    ("scripts/soundscapes_room_v20.txt", "\"room_v20.inside\" { playlooping { wave \"maps/room_v20/hum.wav\" } }\n"),
    ("sound/maps/room_v20/hum.wav", "RIFF"),
    ("maps/room_v20_particles.txt", "particles_manifest { file \"particles/own.pcf\" }\n"),
    ("maps/room_v20_old_notes.txt", "nothing of it\n"),
    ("maps/graphs/room_v20.ain", "AIN"),
    ("scripts/vscripts/room_v20.nut", "// a line\nSendToConsole(\"changelevel room_v20\")\n"),
    ("particles/own.pcf", "\0materials/maps/room_v20/glow.vmt\0"),
    ("cfg/server.cfg", "map room_v20 // and room_v20b\n"),
];

fn room() -> Room {
    let room = Room::empty();
    room.write("bare.bsp", &fixture("source/room_v20"));
    let mut add = vec!["pak".to_owned(), "add".into(), "bare.bsp".into()];
    for (at, (name, text)) in FILES.iter().enumerate() {
        room.write(format!("files/{at}"), text.as_bytes());
        add.push(format!("{name}=files/{at}"));
    }
    add.extend(["-o", "2.bsp", "-q"].map(str::to_owned));
    room.run(&add).done();
    let values = "bspkit ent set 2.bsp worldspawn detailmaterial=maps/room_v20/grass vscripts='room_v20.nut own.nut' \
        -o 3.bsp -q
        bspkit ent add 3.bsp classname=trigger_changelevel map=room_v20 'OnUser1=cmd,Command,changelevel room_v20,0,-1' \
        'OnUser2=cam,SetMaterial,maps/room_v20/own/wall,0,-1' -o room_v20.bsp -q; rm 2.bsp 3.bsp bare.bsp; rm -r files";
    room.shell(values).done();
    room
}

fn text(room: &Room, map: &str, name: &str) -> String {
    let map = Bsp::from_vec(room.read(map)).unwrap();
    let pak = map.pak().unwrap();
    String::from_utf8(pak.get(pak.one(name).unwrap()).unwrap().data().unwrap().to_vec()).unwrap()
}

#[test]
fn every_kind_of_path_follows() {
    let room = room();
    room.bspkit("rename room_v20.bsp Arena -o Arena.bsp").done();
    let text = |name: &str| text(&room, "Arena.bsp", name);
    assert_eq!(
        text("resource/overviews/arena.txt"),
        "\"arena\"\r\n{\r\n\t\"material\"\t\"overviews/arena\" // the image\r\n\t\"zoom\"\t\"0\"\r\n}\r\n"
    );
    let material = text("materials/overviews/arena.vmt");
    assert_eq!(material, "UnlitGeneric { $basetexture overviews/arena // of room_v20\r\n}\r\n");
    let sounds = text("scripts/soundscapes_arena.txt");
    assert_eq!(sounds, "\"room_v20.inside\" { playlooping { wave \"maps/arena/hum.wav\" } }\n");
    let names = room.bspkit("pak list Arena.bsp").done();
    for name in ["resource/overviews/arena_radar.dds", "maps/graphs/arena.ain", "scripts/vscripts/arena.nut"] {
        assert!(names.text().contains(name), "{name}");
    }
    for name in ["materials/maps/room_v20b/c0_0_0.vtf", "maps/room_v20_old_notes.txt"] {
        assert!(names.text().contains(name), "{name}");
    }
    let values = room.bspkit("ent list Arena.bsp worldspawn,trigger_changelevel").done();
    for pair in [
        "\"detailmaterial\" \"maps/arena/grass\"",
        "\"vscripts\" \"arena.nut own.nut\"",
        "\"map\" \"Arena\"",
        "\"OnUser1\" \"cmd,Command,changelevel room_v20,0,-1\"",
        "\"OnUser2\" \"cam,SetMaterial,maps/arena/own/wall,0,-1\"",
    ] {
        assert!(values.text().contains(pair), "{pair}: {}", values.text());
    }
    room.bspkit("rename Arena.bsp room_v20 -o back.bsp").done();
    let [old, new] = ["room_v20.bsp", "back.bsp"].map(|name| Bsp::from_vec(room.read(name)).unwrap());
    for slot in old.slots() {
        assert_eq!(&*old.bytes(slot.id).unwrap(), &*new.bytes(slot.id).unwrap(), "{}", slot.name);
    }
}

#[test]
fn what_is_printed() {
    let room = room();
    room.write("maps/room_v20.bsp", &room.read("room_v20.bsp"));
    for name in [
        "maps/room_v20.nav",
        "maps/room_v20b.nav",
        "maps/room_v20_l_0.lmp",
        "maps/graphs/room_v20.ain",
        "resource/overviews/room_v20.txt",
        "maps/cfg/server.cfg",
    ] {
        room.write(name, b"");
    }
    let lines = [
        "bspkit rename room_v20.bsp own_arena",
        "bspkit rename maps/room_v20.bsp own_arena -o own_arena.bsp",
        "bspkit rename room_v20.bsp own_arena -o other.bsp | cat",
        "bspkit rename other.bsp x --dry-run | head -3",
        "bspkit rename other.bsp x --old none",
        "bspkit rename other.bsp x --old none -o x.bsp",
        "bspkit rename room_v20.bsp room_v20b -o x.bsp",
        "bspkit rename room_v20.bsp own -o x.bsp",
        "bspkit rename room_v20.bsp own -o x.bsp --force -q",
        "bspkit rename room_v20.bsp 'own arena' -o x.bsp",
        "cp room_v20.bsp 'my map.bsp'; bspkit pak mv 'my map.bsp' 'materials/maps/**' 'materials/{1}' '*.vmt' '*.txt' -o 2.bsp -q; bspkit tex rename 2.bsp 'maps/**' '{1}' -o '3 4.bsp' -q; bspkit rename '3 4.bsp' x",
        "bspkit rename room_v20.bsp maps x",
        "bspkit rename - x <room_v20.bsp",
        "bspkit cubemap list room_v20.bsp",
        "bspkit cubemap list room_v20.bsp --json | head -20",
        "bspkit cubemap rename room_v20.bsp own --dry-run | head -5",
        "bspkit cubemap rename room_v20.bsp own --old none -o x.bsp",
        "bspkit cubemap strip room_v20.bsp -o stripped.bsp",
        "bspkit cubemap list stripped.bsp",
        "bspkit cubemap strip stripped.bsp -o x.bsp",
        "bspkit cubemap strip stripped.bsp --default --dry-run | head -2",
    ];
    check("rename", &room, &lines);
}

/// The other maps in a folder follow, whatever the family; the folder is complete.
#[test]
fn other_maps_lead_to_the_new_name() {
    let room = Room::new();
    let add = "mkdir -p maps/deep
        bspkit ent add q2.bsp classname=target_changelevel map='film.cin+*start$one' -o maps/q2.bsp -q
        bspkit ent add goldsrc.bsp classname=trigger_changelevel map=START landmark=start -o maps/deep/goldsrc.bsp -q
        bspkit ent add source.bsp classname=logic_auto 'OnMapSpawn=cmd,Command,changelevel start,0,-1' -o maps/s.bsp -q
        cp q3.bsp maps/deep/start.bsp; cp q3.bsp maps/q3.bsp";
    room.shell(add).done();
    let preview = room.bspkit("rename maps/deep/start.bsp Begin --in maps").done();
    assert_eq!(
        slashes(preview.text()),
        "maps/deep/start.bsp: start -> Begin: nothing to rename\n\
         maps/deep/goldsrc.bsp: start -> Begin: 1 value to rename\n  entity 18 map: START -> Begin\n  \
         1 name is written in other letters; renaming back does not restore the capitals\n\
         maps/q2.bsp: start -> Begin: 1 value to rename\n  entity 20 map: film.cin+*start$one -> film.cin+*Begin$one\n\
         maps/s.bsp: start -> Begin: nothing to rename\n  not changed: entity 2 OnMapSpawn: cmd,Command,changelevel start,0,-1\n"
    );
    room.bspkit("rename maps/deep/start.bsp Begin --in maps -o out -q").done();
    let maps = ["deep/Begin.bsp", "deep/goldsrc.bsp", "q2.bsp", "q3.bsp", "s.bsp"];
    let expected: Vec<_> = maps.iter().map(|map| room.path("out").join(map)).collect();
    let is_map = |path: &std::path::PathBuf| path.starts_with(room.path("out")) && path.extension().is_some();
    assert_eq!(room.names().into_iter().filter(is_map).collect::<Vec<_>>(), expected);
    assert_eq!(room.read("out/deep/Begin.bsp"), room.read("q3.bsp"));
    assert_eq!(room.read("out/q3.bsp"), room.read("q3.bsp"));
    let value = |line: &str| room.bspkit(line).done().text().to_owned();
    assert_eq!(value("ent get out/q2.bsp target_changelevel map"), "film.cin+*Begin$one\n");
    assert_eq!(value("ent get out/deep/goldsrc.bsp trigger_changelevel landmark"), "start\n");
    room.bspkit("rename maps/deep/start.bsp Begin --in maps --in-place -q").done();
    assert_eq!(room.read("maps/q2.bsp"), room.read("out/q2.bsp"));
    assert!(room.path("maps/deep/start.bsp").exists());
    // One of the maps has the name already.
    let taken = room.bspkit("rename maps/deep/start.bsp goldsrc --in maps -o two");
    assert_eq!(taken.code, Some(2));
    assert!(taken.err.contains("goldsrc.bsp has this name already"), "{}", taken.err);
    // A map that is not in the folder, and one without others.
    room.shell("mkdir lone; cp q3.bsp lone").done();
    room.bspkit("rename lone/q3.bsp new --in maps -o three -q").done();
    assert!(room.path("three/new.bsp").exists() && room.path("three/deep/start.bsp").exists());
    room.bspkit("rename lone/q3.bsp new --in lone -o four -q").done();
    assert_eq!(room.shell("ls four").done().text(), "new.bsp\n");
}

/// The JSON of a preview and of a save have the same members.
#[test]
fn the_document_of_a_preview_is_that_of_a_save() {
    let room = room();
    let json = |line: &str| -> Value { serde_json::from_str(room.bspkit(line).done().text()).unwrap() };
    let preview = json("rename room_v20.bsp own_2 --json");
    let save = json("rename room_v20.bsp own_2 -o own_2.bsp --json");
    assert_eq!(preview["rename"], save["rename"]);
    assert_eq!(preview["rename"]["other_maps"][0]["name"], "room_v20b");
    assert!(preview["rename"]["left"].as_array().unwrap().len() >= 6);
    assert_eq!(save["changed"], true);
}

/// Engines load no map with a space in its name, but a file can have one.
#[test]
fn an_old_name_may_have_a_space() {
    let room = Room::empty();
    room.write("my map.bsp", &fixture("q3/own_rooms"));
    let run = |arguments: [&str; 5]| room.run(&arguments.map(str::to_owned));
    run(["rename", "my map.bsp", "newer", "-o", "newer.bsp"]).done();
    assert!(room.read("newer.bsp") == room.read("my map.bsp"));
    let error = run(["rename", "my map.bsp", "new er", "-o", "no.bsp"]).without_data(2);
    assert!(error.err.contains("no map can be called `new er`"), "{}", error.err);
}

/// A damaged file is named, the others are renamed, and the exit status says so.
#[test]
fn a_file_that_cannot_be_read_stays() {
    let room = Room::empty();
    room.write("room_v20_lzma.bsp", &fixture("source/room_v20_lzma"));
    let map = Bsp::from_vec(room.read("room_v20_lzma.bsp")).unwrap();
    let (pak, slot) = (map.pak().unwrap(), map.slot("PAKFILE").unwrap());
    let name = pak.get(0).unwrap().name().to_vec();
    let mut bytes = room.read("room_v20_lzma.bsp");
    let at = bytes[slot.stored.start..].windows(name.len()).position(|window| window == name).unwrap();
    bytes[slot.stored.start + at + name.len() + 9] ^= 0xFF;
    room.write("room_v20_lzma.bsp", &bytes);
    let run = room.bspkit("rename room_v20_lzma.bsp own -o own.bsp --force");
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(run.err.contains("wall_0_0_0.vmt` cannot be decompressed"), "{}", run.err);
    assert!(room.bspkit("pak list own.bsp").done().text().contains("maps/own.txt"));
}

/// What leads to the old name would lead to the other map.
#[test]
fn a_name_that_another_map_has_is_refused() {
    let room = Room::empty();
    for (name, map) in
        [("in/start.bsp", "q2/own_rooms"), ("in/begin.bsp", "q2/own_rooms"), ("in/q1.bsp", "q1/own_rooms")]
    {
        room.write(name, &fixture(map));
    }
    let old = room.read("in/start.bsp");
    for target in ["", "--in-place", "-o out"] {
        let run = room.bspkit(&format!("rename in/start.bsp begin --in in {target}"));
        assert!(run.code == Some(2) && run.err.contains("begin.bsp"), "{target}: {run:?}");
    }
    assert!(room.read("in/start.bsp") == old);
}

/// An output gives an input a command or a pair: the path in it is one of the words.
#[test]
fn paths_after_a_blank_in_outputs_follow() {
    let room = Room::empty();
    room.write("room_v20.bsp", &fixture("source/room_v20"));
    room.write("fx.vmt", b"UnlitGeneric { }");
    let outputs = [
        "OnMapSpawn=cc,Command,r_screenoverlay maps/room_v20/fx,0,-1",
        "OnUser1=spr,AddOutput,texture maps/room_v20/fx,0,-1",
    ];
    let add =
        ["ent", "add", "room_v20.bsp", "classname=logic_auto", outputs[0], outputs[1], "message=see maps/room_v20/fx"];
    room.run(&[&add[..], &["--in-place"]].concat()).done();
    room.bspkit("pak add room_v20.bsp materials/maps/room_v20/fx.vmt=fx.vmt --in-place").done();
    room.bspkit("rename room_v20.bsp arena -o arena.bsp").done();
    let refs = room.bspkit("pak refs arena.bsp *fx.vmt").done();
    assert!(refs.text().starts_with("packed   materials/maps/arena/fx.vmt"), "{}", refs.text());
    let values = room.bspkit("ent list arena.bsp logic_auto").done();
    let values = values.text();
    assert!(values.contains("r_screenoverlay maps/arena/fx,") && values.contains("texture maps/arena/fx,"), "{values}");
    // What only players read stays.
    assert!(values.contains("see maps/room_v20/fx"), "{values}");
}

/// Engines go by the name of the file: a copy of a map has files of its own name, and the other map keeps its own.
#[test]
fn files_beside_a_copy_are_those_of_its_name() {
    let room = Room::empty();
    room.write("room_v20.bsp", &fixture("source/room_v20"));
    room.write("z.bsp", &fixture("source/room_v20"));
    for file in ["z.nav", "z_commentary.txt", "room_v20.nav", "room_v20_commentary.txt"] {
        room.write(file, b"x");
    }
    let listed = |of: &str| {
        let run = room.bspkit(&format!("rename {of} --json"));
        let json: Value = serde_json::from_slice(&run.out).unwrap();
        let pairs = json["rename"]["also_rename"].as_array().unwrap().clone();
        pairs
            .iter()
            .map(|pair| [&pair["from"], &pair["to"]].map(|it| it.as_str().unwrap().to_owned()))
            .collect::<Vec<_>>()
    };
    let own = [["z.nav", "room_v21.nav"], ["z_commentary.txt", "room_v21_commentary.txt"]];
    assert_eq!(listed("z.bsp room_v21"), own);
    assert_eq!(listed("z.bsp room_v21 -o room_v21.bsp"), own);
    // Without the other map its files may be those of this one, where it has none of its own name.
    room.shell("rm room_v20.bsp room_v21.bsp z.nav").done();
    assert_eq!(listed("z.bsp room_v21"), [["room_v20.nav", "room_v21.nav"], own[1]]);
}
