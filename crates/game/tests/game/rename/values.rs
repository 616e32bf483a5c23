//! Names in values of entities and in texts: each path of a list, sounds with characters before their names, and scripts
//! that an output runs.

use bspkit::{Bsp, Layout};
use bspkit_game::rename::{Rename, Renamed};

use super::cases::room;

const FILES: [(&str, &str); 7] = [
    ("scripts/vscripts/room_v20.nut", ""),
    ("scripts/vscripts/maps/room_v20/init.nut", ""),
    ("sound/maps/room_v20/hum.wav", ""),
    (
        "maps/room_v20_level_sounds.txt",
        "\"hum\"\n{\n\"wave\" \")maps/room_v20/hum.wav\"\n\"wave\" \"room_v20 hum\"\n}\n",
    ),
    ("scripts/soundscapes_room_v20.txt", "\"a\"\n{\n\"rndwave\"\n{\n\"wave\" \"~maps/room_v20/hum.wav\"\n}\n}\n"),
    ("models/maps/room_v20/a.mdl", ""),
    ("models/maps/room_v20/b.mdl", ""),
];

/// The values of an entity with these pairs after the renaming.
fn renamed(pairs: &[(&str, &str)]) -> (usize, Vec<String>, Bsp<'static>, Renamed) {
    let base = room("room_v20");
    let mut draft = base.draft();
    for (name, text) in FILES {
        draft.pak().unwrap().add(name, text.as_bytes().to_vec()).unwrap();
    }
    let entities = draft.entities().unwrap();
    let index = entities.add(pairs.iter().copied()).unwrap();
    let done = Rename::new("room_v20", "zz").unwrap().apply(&mut draft).unwrap();
    let map = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    let values = map.entities().unwrap().get(index).unwrap().pairs().skip(1).map(|pair| text(pair.value)).collect();
    (index, values, map, done)
}

#[test]
fn every_path_of_a_value_follows() {
    for (key, value, wanted) in [
        ("vscripts", "room_v20 maps/room_v20/init", "zz maps/zz/init"),
        ("vscripts", "room_v20.nut  x", "zz.nut  x"),
        ("m", "models/maps/room_v20/a.mdl;models/maps/room_v20/b.mdl", "models/maps/zz/a.mdl;models/maps/zz/b.mdl"),
        ("m", "maps/room_v20/a.mdl|maps/room_v20/b.mdl", "maps/zz/a.mdl|maps/zz/b.mdl"),
        ("m", "maps/room_v20/a.mdl, maps/room_v20/b.mdl", "maps/zz/a.mdl, maps/zz/b.mdl"),
        ("message", "*maps/room_v20/hum.wav", "*maps/zz/hum.wav"),
        ("message", ")maps\\ROOM_V20\\hum.wav", ")maps\\zz\\hum.wav"),
        ("OnMapSpawn", "x,RunScriptFile,room_v20.nut,0,-1", "x,RunScriptFile,zz.nut,0,-1"),
        (
            "OnMapSpawn",
            "x\u{1b}runscriptfile\u{1b}room_v20\u{1b}0\u{1b}-1",
            "x\u{1b}runscriptfile\u{1b}zz\u{1b}0\u{1b}-1",
        ),
        (
            "OnMapSpawn",
            "x,AddOutput,OnUser1 y:RunScriptFile:maps/room_v20/init:0:-1",
            "x,AddOutput,OnUser1 y:RunScriptFile:maps/zz/init:0:-1",
        ),
        (
            "OnMapSpawn",
            "x,AddOutput,OnUser1 y:RunScriptFile:room_v20:0:-1",
            "x,AddOutput,OnUser1 y:RunScriptFile:zz:0:-1",
        ),
        ("OnMapSpawn", "room_v20,FireUser1,room_v20,0,-1", "room_v20,FireUser1,room_v20,0,-1"),
    ] {
        let (index, values, _, done) = renamed(&[("classname", "x"), (key, value)]);
        assert_eq!(values, [wanted], "{value}");
        let is_listed = done.left.iter().any(|left| left.place.to_string() == format!("entity {index} {key}"));
        assert_eq!(is_listed, wanted.contains("room_v20"), "{value}: {:?}", done.left);
    }
}

/// Of a value that changes in part, the rest is listed.
#[test]
fn what_stays_beside_a_path_is_listed() {
    let (_, values, _, done) = renamed(&[("classname", "x"), ("m", "maps/room_v20/a.mdl;play room_v20")]);
    assert_eq!(values, ["maps/zz/a.mdl;play room_v20"]);
    let left: Vec<String> = done.left.iter().map(ToString::to_string).collect();
    assert!(left.iter().any(|left| left.contains(" m: ") && left.contains("play room_v20")), "{left:?}");
}

#[test]
fn sounds_in_texts_follow() {
    let (_, _, map, done) = renamed(&[("classname", "x")]);
    let pak = map.pak().unwrap();
    let text = |name: &str| String::from_utf8(pak.get(pak.find(name)[0]).unwrap().data().unwrap().to_vec()).unwrap();
    assert!(text("maps/zz_level_sounds.txt").contains(")maps/zz/hum.wav"));
    assert!(text("scripts/soundscapes_zz.txt").contains("~maps/zz/hum.wav"));
    assert!(
        done.left.iter().any(|left| left.to_string() == "maps/room_v20_level_sounds.txt:4: \"wave\" \"room_v20 hum\"")
    );
}
