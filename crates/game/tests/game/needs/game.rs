//! The game in tests/game with a map that refers to all of it.

use bspkit_game::needs::{self, Found, Keys, Options, Sure};

use super::{Memory, find, names, room};

/// Entities of the map, a key and a value on each line.
const ENTITIES: [&str; 24] = [
    "classname ambient_generic\nmessage own/hum.wav",
    "classname ambient_generic\nmessage Own.Creak",
    "classname ambient_generic\nmessage *own/lost.wav",
    "classname ambient_generic\nmessage Own.Lost",
    "classname env_sprite\nmodel own/glow.spr",
    "classname env_beam\ntexture own/beam.vmt",
    "classname infodecal\ntexture own/decal",
    "classname keyframe_rope\nRopeMaterial own/rope.vmt",
    "classname env_soundscape\nsoundscape own.outside",
    "classname env_soundscape\nsoundscape own.inside",
    "classname info_particle_system\neffect_name own_fire",
    "classname info_particle_system\neffect_name own_lost",
    "classname logic_choreographed_scene\nSceneFile scenes\\own\\talk.vcd",
    "classname env_screenoverlay\nOverlayName1 own/overlay",
    "classname env_projectedtexture\ntexturename own/cookie",
    "classname color_correction\nfilename materials/correction/own.raw",
    "classname logic_script\nvscripts own/clock",
    "classname logic_relay\nOnTrigger s,RunScriptFile,own/bell.nut,0,-1\nOnTrigger c,Command,play own/song.mp3,0,-1",
    "classname prop_door_rotating\nsoundlockedoverride own/lock.wav\nmodel models/own/plank.mdl",
    "classname func_button\nlocked_sound 3\nmodel *1",
    "classname own_jukebox\nrecord own/extra\ncover own/decal",
    "classname game_text\nmessage Own.Creak",
    "classname own_jukebox\nother own/extra.wav",
    "classname func_door\nnoise1 Own.Step",
];

/// Files in the pakfile.
const PACKED: [(&str, &str); 7] = [
    ("maps/room_v20_level_sounds.txt", "\"Own.Extra\"\n{\n\"wave\" \"own/hum.wav\"\n}\n"),
    ("maps/room_v20_particles.txt", "particles_manifest { file particles/own_fire.pcf }"),
    ("scripts/soundscapes_room_v20.txt", "own.inside { playlooping { wave own/wind.wav } }"),
    ("maps/room_v20.nav", "mesh"),
    ("resource/overviews/room_v20.txt", "room_v20 { material overviews/room_v20 }"),
    ("materials/maps/room_v20/c0_0_0.hdr.vtf", "VTF"),
    ("sp_1.vhv", "light"),
];

/// What the planted map refers to and nobody has.
const MISSING: [&str; 5] = [
    "materials/maps/room_v20/c0_0_0.vtf",
    "materials/overviews/room_v20.vmt",
    "materials/own/rope.vmt",
    "materials/own/wall.vtf",
    "sound/own/lost.wav",
];

/// What is in the game and not for maps, or to which the planted map does not refer.
const OTHERS: [&str; 7] = [
    "gameinfo.txt",
    "gen.py",
    "own.fgd",
    "own_base.fgd",
    "particles/particles_manifest.txt",
    "particles/own_extra.pcf",
    "scripts/game_sounds_broken.txt",
];

#[test]
fn every_file_is_found_and_nothing_else() {
    let (game, map) = (Memory::of_folder("../../tests/game"), room(&ENTITIES, &PACKED));
    let needs = find(&map, &game);
    assert_eq!(names(&needs, |need| need.found == Found::Nowhere), MISSING);

    let all: Vec<&str> = game.0.keys().map(|name| std::str::from_utf8(name).unwrap()).collect();
    let found = names(&needs, |need| need.found == Found::Game);
    let left: Vec<&&str> = all.iter().filter(|name| !found.contains(name)).collect();
    let mut others: Vec<&&str> = OTHERS.iter().filter(|name| **name != "particles/particles_manifest.txt").collect();
    others.sort_unstable();
    assert_eq!(left, others);

    let packed = names(&needs, |need| need.found == Found::Packed);
    let mut expected: Vec<&str> = PACKED.iter().map(|(name, _)| *name).collect();
    expected.extend(["materials/maps/room_v20/own/wall_0_0_0.vmt", "materials/own/wall.vmt", "maps/room_v20.txt"]);
    expected.sort_unstable();
    assert_eq!(packed, expected);
}

#[test]
fn names_that_nothing_defines_are_listed() {
    let needs = find(&room(&ENTITIES, &PACKED), &Memory::of_folder("../../tests/game"));
    let mut unresolved: Vec<&str> =
        needs.unresolved.iter().map(|name| std::str::from_utf8(&name.name).unwrap()).collect();
    unresolved.sort_unstable();
    assert_eq!(unresolved, ["Own.Lost", "own_lost"]);
    let faults: Vec<String> = needs
        .faults
        .iter()
        .map(|fault| format!("{}: {}", String::from_utf8_lossy(&fault.name), fault.message))
        .collect();
    assert_eq!(faults, ["scripts/game_sounds_broken.txt: line 1: a block without a closing brace"]);
}

#[test]
fn it_says_who_refers_and_how_sure_that_is() {
    let needs = find(&room(&ENTITIES, &PACKED), &Memory::of_folder("../../tests/game"));
    let of = |name: &str| {
        let need = needs.get(name).unwrap_or_else(|| panic!("{name}"));
        let places: Vec<String> = need.references.iter().map(|place| needs.referrer(place)).collect();
        (need.sure, places)
    };
    let certain = |places: &[&str]| (Sure::Certain, places.iter().map(|place| (*place).to_owned()).collect::<Vec<_>>());
    assert_eq!(of("sound/own/creak.wav"), certain(&["scripts/game_sounds_own.txt, line 1"]));
    assert_eq!(of("sound/own/rain.wav"), certain(&["scripts/soundscapes_own.txt, line 8"]));
    assert_eq!(of("sound/own/song.mp3"), certain(&["entity 24 (logic_relay), OnTrigger"]));
    assert_eq!(of("materials/own/smoke.vmt"), certain(&["particles/own_fire.pcf"]));
    assert_eq!(of("materials/models/own/plank.vmt"), certain(&["models/own/plank.mdl"]));
    assert_eq!(of("models/own/lamp.ani"), certain(&["models/own/lamp.mdl", "models/own/lamp.mdl"][..1]));
    assert_eq!(of("models/own/crate.sw.vtx"), (Sure::Optional, vec!["models/own/crate.mdl".into()]));
    assert_eq!(of("sp_1.vhv"), (Sure::Optional, vec!["game:sprp, record 1".into()]));
    assert_eq!(of("sound/own/extra.wav"), (Sure::Likely, vec!["entity 29 (own_jukebox), other".into()]));
    assert_eq!(of("sound/own/voice.wav"), certain(&["scripts/game_sounds_own.txt, line 3"]));
    assert!(of("materials/own/door.vmt").1.contains(&"materials/own/door_base.vmt, line 1".to_owned()));
}

#[test]
fn an_fgd_file_says_what_keys_hold() {
    let (fgd, skipped) = bspkit_game::assets::fgd::read("../../tests/game/own.fgd".as_ref()).unwrap();
    assert!(skipped.is_empty());
    let mut keys = Keys::built_in().clone();
    keys.extend(&fgd);
    let map = room(&["classname own_jukebox\nrecord own/extra.wav\ncover own/cover"], &[]);
    let game = Memory::of_folder("../../tests/game");
    let needs = needs::find(&map, &Options::new("room_v20").game(&game).keys(&keys)).unwrap();
    assert_eq!(needs.get("sound/own/extra.wav").unwrap().sure, Sure::Certain);
    assert_eq!(needs.get("materials/own/cover.vmt").unwrap().found, Found::Nowhere);
    assert!(find(&map, &game).get("materials/own/cover.vmt").is_none());
}

#[test]
fn without_the_game_only_the_map_speaks() {
    let map = room(&ENTITIES, &PACKED);
    let needs = needs::find(&map, &Options::new("room_v20")).unwrap();
    assert!(needs.files.iter().all(|need| need.found != Found::Game));
    assert!(needs.get("models/own/crate.mdl").is_some() && needs.get("models/own/crate.vvd").is_none());
    assert_eq!(needs.unresolved.len(), 6);
}

#[test]
fn what_an_unsure_file_names_is_as_unsure() {
    let plank = std::fs::read("../../tests/game/models/own/plank.mdl").unwrap();
    let game = Memory::of_folder("../../tests/game").with("models/own/alone.mdl", plank);
    let needs = find(&room(&["classname own_jukebox\nother models/own/alone.mdl"], &[]), &game);
    let part = needs.get("models/own/alone.vvd").unwrap();
    assert_eq!((part.sure, part.references[0].sure), (Sure::Likely, Sure::Certain));
}

#[test]
fn slides_of_the_game_are_those_of_the_folder_that_an_entity_names() {
    let game = Memory::default()
        .with("materials/vgui/own/show/two.vmt", "Own { $basetexture own/two }")
        .with("materials/vgui/own/show/notes.txt", "")
        .with("materials/vgui/own/shown.vmt", "")
        .with("materials/own/two.vtf", "");
    let one = ("materials/vgui/own/show/one.vmt", "Own { }");
    let map = room(&["classname vgui_slideshow_display\ndirectory Own\\Show"], &[one]);
    let needs = find(&map, &game);
    let slides = names(&needs, |need| need.name.starts_with(b"materials/vgui"));
    assert_eq!(slides, ["materials/vgui/own/show/one.vmt", "materials/vgui/own/show/two.vmt"]);
    assert_eq!(
        needs.get("materials/own/two.vtf").map(|need| (need.sure, need.found)),
        Some((Sure::Likely, Found::Game))
    );
}

/// An entity without a folder does not mean all that the game has for its interface.
#[test]
fn slides_without_a_folder_are_none_of_the_game() {
    let game = Memory::default().with("materials/vgui/stock.vmt", "");
    for folder in [".", "x/.."] {
        let map = room(&[&format!("classname vgui_slideshow_display\ndirectory {folder}")], &[]);
        assert!(find(&map, &game).get("materials/vgui/stock.vmt").is_none(), "{folder}");
    }
}

#[test]
fn folders_of_slides_that_were_not_looked_at_are_said() {
    let entities: Vec<String> =
        (0..257).map(|index| format!("classname vgui_slideshow_display\ndirectory own/{index:03}")).collect();
    let map = room(&entities.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
    let game = Memory::default().with("materials/vgui/own/255/a.vmt", "").with("materials/vgui/own/256/b.vmt", "");
    let needs = find(&map, &game);
    assert_eq!(names(&needs, |need| need.name.starts_with(b"materials/vgui")), ["materials/vgui/own/255/a.vmt"]);
    let fault = "`materials/vgui/own/256` is skipped: the map has 257 folders of slides, and 256 are looked at";
    assert_eq!(needs.faults[0].to_string(), fault);
    assert!(needs.is_partial);
}
