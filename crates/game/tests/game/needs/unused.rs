//! Packed files that the engine does not need: doubt passes on along references, and nothing that may be loaded is
//! likely unused.

use bspkit::content::pak::Pak;
use bspkit::{Bsp, Layout};
use bspkit_game::needs::{self, Doubt, Options, Referrer};
use bspkit_game::rename::{FILES, Rename};

use super::{Memory, room};

/// The doubt about each packed file that is listed.
pub(super) fn doubts(map: &Bsp<'_>, game: &Memory) -> Vec<(String, Doubt, String)> {
    let (_, unused) = needs::unused(map, &Options::new("room_v20").game(game)).unwrap();
    let pak = map.pak().unwrap();
    let name = |index: usize| String::from_utf8_lossy(pak.get(index).unwrap().name()).into_owned();
    unused.into_iter().map(|file| (name(file.index), file.doubt, file.why)).collect()
}

/// The files that are likely, or certainly, unused.
pub(super) fn likely(doubts: &[(String, Doubt, String)]) -> Vec<&str> {
    doubts.iter().filter(|(_, doubt, _)| *doubt < Doubt::Much).map(|(name, ..)| &name[..]).collect()
}

pub(super) const LAST: (&str, &str) = ("materials/zz/zzz.vmt", "LightmappedGeneric { $basetexture zz/zzz }");
const MATERIAL: &str = "LightmappedGeneric { $basetexture far/pixels }";
const PIXELS: (&str, &str) = ("materials/far/pixels.vtf", "VTF");

/// What is tried, the entities, the embedded files with their texts, and the files that are likely unused.
type Case = (&'static str, &'static [&'static str], &'static [(&'static str, &'static str)], &'static [&'static str]);

const CASES: &[Case] = &[
    (
        "a material that an output names",
        &["classname logic_auto\nOnMapSpawn x,SetOverlay,far/quay,0,-1"],
        &[("materials/far/quay.vmt", MATERIAL), PIXELS],
        &[],
    ),
    (
        "a material in a weapon script",
        &[],
        &[
            ("scripts/weapon_x.txt", "WeaponData { viewmat \"far/quay\" }"),
            ("materials/far/quay.vmt", MATERIAL),
            PIXELS,
        ],
        &[],
    ),
    (
        "a material in a pop file",
        &[],
        &[("scripts/population/x.pop", "Icon \"quay\""), ("materials/far/quay.vmt", MATERIAL), PIXELS],
        &[],
    ),
    (
        "a model in maps/NAME.kv that cannot be read",
        &[],
        &[
            ("maps/room_v20.kv", "x { t_arms models/far/quay.mdl }"),
            ("models/far/quay.mdl", "broken far_b"),
            ("materials/models/far_b.vmt", MATERIAL),
            PIXELS,
        ],
        &[],
    ),
    (
        "an override of a stock material",
        &[],
        &[("materials/far/stock.vmt", MATERIAL), PIXELS],
        &["materials/far/stock.vmt"],
    ),
    (
        "an override of a stock particle file",
        &[],
        &[("particles/stock.pcf", "broken far/quay.vmt"), ("materials/far/quay.vmt", MATERIAL), PIXELS],
        &["particles/stock.pcf"],
    ),
    (
        "numbered materials",
        &["classname env_smokestack\nSmokeMaterial far/quay.vmt"],
        &[("materials/far/quay.vmt", MATERIAL), ("materials/far/quay2.vmt", MATERIAL), PIXELS],
        &[],
    ),
    (
        "the far side of a rope",
        &["classname move_rope\nRopeMaterial far/quay.vmt"],
        &[("materials/far/quay.vmt", MATERIAL), ("materials/far/quay_back.vmt", MATERIAL), PIXELS],
        &[],
    ),
    (
        "a folder of slides",
        &["classname vgui_slideshow_display\ndirectory far/slides"],
        &[("materials/vgui/far/slides/one.vmt", MATERIAL), PIXELS],
        &[],
    ),
    (
        "a sky in an output",
        &["classname logic_auto\nOnMapSpawn x,Command,sv_skyname night,0,-1"],
        &[("materials/skybox/nightup.vmt", MATERIAL), ("materials/skybox/nightrt.vmt", MATERIAL), PIXELS],
        &[],
    ),
    (
        "a sky in a script",
        &[],
        &[("cfg/x.cfg", "sv_skyname night"), ("materials/skybox/nightup.vmt", MATERIAL), PIXELS],
        &[],
    ),
    (
        "colors of teams",
        &["classname item_teamflag\nflag_icon ../hud/far\nflag_trail far"],
        &[("materials/hud/far_red.vmt", MATERIAL), ("materials/effects/far_blue.vmt", MATERIAL), PIXELS],
        &[],
    ),
    (
        "a key of a proxy without $",
        &["classname info_overlay\nmaterial far/quay"],
        &[("materials/far/quay.vmt", "X { Proxies { Swap { other far\\pixels } } }"), PIXELS],
        &[],
    ),
    (
        "a key without $",
        &["classname info_overlay\nmaterial far/quay"],
        &[("materials/far/quay.vmt", "X { other far/pixels }"), PIXELS],
        &[],
    ),
    (
        "backslashes",
        &["classname info_overlay\nmaterial far\\quay"],
        &[("materials/far/quay.vmt", "X { $odd far\\pixels }"), PIXELS],
        &[],
    ),
    (
        "a material that cannot be read",
        &["classname info_overlay\nmaterial far/quay"],
        &[("materials/far/quay.vmt", "{{{ $basetexture far/pixels"), PIXELS],
        &[],
    ),
    (
        "an included text",
        &["classname info_overlay\nmaterial far/quay"],
        &[("materials/far/quay.vmt", "#base \"berth.vmt\"\nX { }"), ("materials/far/berth.vmt", MATERIAL), PIXELS],
        &[],
    ),
    (
        "a sound in a scene",
        &[],
        &[("scenes/x.vcd", "event speak x { param far/hit.wav }"), ("sound/far/hit.wav", "RIFF")],
        &[],
    ),
    (
        "a second format of a sound",
        &["classname ambient_generic\nmessage far/hit.wav"],
        &[("sound/far/hit.mp3", "ID3")],
        &["sound/far/hit.wav"],
    ),
    (
        "a sound in a console command",
        &["classname logic_auto\nOnMapSpawn x,Command,wait 5; play far/hit,0,-1"],
        &[("sound/far/hit.wav", "RIFF")],
        &[],
    ),
    (
        "a part of a model of another form",
        &["classname prop_dynamic\nmodel models/far/quay.mdl"],
        &[("models/far/quay.mdl", "broken"), ("models/far/quay.dx11.vtx", "x"), ("models/far/quay.phy", "x")],
        &[],
    ),
    ("a file by the map's name", &[], &[("materials/vgui/loadingscreen_room_v20.vmt", MATERIAL), PIXELS], &[]),
    (
        "a model that AddOutput names",
        &["classname logic_auto\nOnMapSpawn x,AddOutput,model models/far/quay.mdl,0,-1"],
        &[("models/far/quay.mdl", "broken pixels"), PIXELS],
        &[],
    ),
    (
        "an output that AddOutput adds",
        &["classname logic_auto\nOnMapSpawn x,AddOutput,OnUser1 y:SetModel:models/far/quay.mdl:0:1,0,-1"],
        &[("models/far/quay.mdl", "broken pixels"), PIXELS],
        &[],
    ),
    (
        "a chain of texts",
        &[],
        &[("a.txt", "see zzb"), ("materials/zzb.vmt", "X { $odd far/quay }"), ("materials/far/quay.vtf", "VTF")],
        &[],
    ),
];

/// The doubts about a case, without one of its entities, files or stock files.
fn doubts_of((_, entities, files, stock): &Case, without: Option<usize>) -> Vec<(String, Doubt, String)> {
    let (mut at, mut files) = (0, files.to_vec());
    let mut is_there = || {
        at += 1;
        without != Some(at - 1)
    };
    let entities: Vec<&str> = entities.iter().copied().filter(|_| is_there()).collect();
    files.retain(|_| is_there());
    files.push(LAST);
    let stock = stock.iter().filter(|_| is_there());
    let game = stock.fold(Memory::of_folder("../../tests/game"), |game, name| game.with(name, "stock"));
    doubts(&room(&entities, &files), &game)
}

#[test]
fn no_file_that_may_be_loaded_is_likely_unused() {
    for case in CASES {
        let doubts = doubts_of(case, None);
        assert_eq!(likely(&doubts), [LAST.0], "{}: {doubts:?}", case.0);
    }
}

/// A reference that is not followed is seen: without what refers to it, a file of each case is likely unused.
#[test]
fn a_reference_that_is_not_followed_is_seen() {
    let mut unseen = Vec::new();
    for case in CASES {
        let (name, entities, files, stock) = case;
        let is_seen = |without: usize| likely(&doubts_of(case, Some(without))).len() > 1;
        // Each entity matters; if there is none, one of the files or a file of the game does.
        unseen.extend((0..entities.len()).filter(|at| !is_seen(*at)).map(|at| (*name, at)));
        if entities.is_empty() && !(0..files.len() + stock.len()).any(is_seen) {
            unseen.push((*name, 0));
        }
    }
    assert!(unseen.is_empty(), "nobody misses {unseen:#?}");
}

#[test]
fn what_cannot_be_searched_makes_all_files_possible() {
    let game = Memory::of_folder("../../tests/game");
    let long = "x".repeat(17 << 20);
    for (case, entities, files, why) in [
        ("a program", &[][..], ("scripts/vscripts/a.nut", "x <- 1"), "a program can put its name together"),
        (
            "code in an output",
            &["classname logic_auto\nOnMapSpawn x,RunScriptCode,F(),0,-1"][..],
            ("a.txt", "b"),
            "a program",
        ),
        ("a long text", &[], ("a.txt", &long[..]), "`a.txt` cannot be read, and may refer to it"),
    ] {
        let found = doubts(&room(entities, &[files, LAST]), &game);
        let last = found.iter().find(|(name, ..)| name == LAST.0).unwrap();
        assert!(last.1 == Doubt::Much && last.2.contains(why), "{case}: {last:?}");
    }
    // Without the game every file may replace one of it.
    let map = room(&[], &[LAST]);
    let (_, unused) = needs::unused(&map, &Options::new("room_v20")).unwrap();
    assert!(!unused.is_empty() && unused.iter().all(|file| file.doubt == Doubt::Much));
}

#[test]
fn a_second_file_of_one_name_is_certain_only_with_equal_bytes() {
    let map = room(
        &[],
        &[("materials/own/aaaa.vmt", "one"), ("materials/own/aaab.vmt", "one"), ("materials/own/aaac.vmt", "two")],
    );
    let mut bytes = map.container().bytes().to_vec();
    for name in ["aaab.vmt", "aaac.vmt"] {
        let places: Vec<usize> = memchr::memmem::find_iter(&bytes, name).collect();
        places.into_iter().for_each(|at| bytes[at..at + 8].copy_from_slice(b"AAAA.VMT"));
    }
    let map = Bsp::from_vec(bytes).unwrap();
    let found = doubts(&map, &Memory::default());
    let of = |index: usize| &found.iter().filter(|(name, ..)| name.ends_with("AAAA.VMT")).nth(index).unwrap().1;
    assert_eq!((of(0), of(1)), (&Doubt::None, &Doubt::Much), "{found:?}");
}

#[test]
fn many_files_are_searched_in_linear_time() {
    let map = Bsp::open("../../tests/maps/source/room_v20.bsp").unwrap();
    let mut draft = map.draft();
    // Each text names the next one.
    let mut pak = Pak::new(b"");
    for index in 0..20_000 {
        pak.add(format!("materials/a/m{index}x.vmt"), format!("X {{ $odd a/m{}x }}", index + 1)).unwrap();
    }
    pak.add("a.txt", "a/m0x").unwrap();
    *draft.pak().unwrap() = pak;
    let map = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
    let found = doubts(&map, &Memory::default());
    assert_eq!(found.iter().filter(|(_, doubt, _)| *doubt == Doubt::Much).count(), 20_001);
}

/// One table: what engines look for by the name of the map is referred to, is used, and is renamed.
#[test]
fn every_file_by_the_map_s_name_is_known_everywhere() {
    let rows = FILES.iter().flat_map(|(before, after)| after.iter().map(move |after| (before, after)));
    let name = |map: &str, (before, after): (&&str, &&str)| {
        format!("{before}{map}{}", after.replace(".*", ".xyz").replace('*', "xyz").replace('#', "3"))
    };
    let mut names: Vec<String> = rows.clone().map(|row| name("room_v20", row)).collect();
    names.sort();
    names.dedup();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (&name[..], "x")).collect();
    let map = room(&[], &files);
    let (found, unused) = needs::unused(&map, &Options::new("room_v20").game(&Memory::default())).unwrap();
    let pak = map.pak().unwrap();
    for file in &unused {
        let name = String::from_utf8_lossy(pak.get(file.index).unwrap().name()).into_owned();
        assert!(!names.contains(&name), "{name}: {}", file.why);
    }
    // A row that is missing is seen: a name that is in no row leads nowhere.
    let other: Vec<_> = rows.clone().map(|row| name("other_map", row)).collect();
    assert!(other.iter().all(|other| found.get(other).is_none()), "{other:?}");
    let rename = Rename::new("room_v20", "own_arena").unwrap();
    for row in rows {
        let (old, new) = (name("room_v20", row), name("own_arena", row));
        let need = found.get(&old).unwrap_or_else(|| panic!("{old} is not referred to"));
        assert!(need.references.iter().any(|reference| reference.referrer == Referrer::MapName), "{old}");
        assert_eq!(rename.file(&old), Some(new.into_bytes()));
    }
}

#[test]
fn the_name_that_the_paths_have_counts_too() {
    let map = room(
        &[],
        &[("maps/room_v20.nav", "mesh"), ("maps/copy.nav", "mesh"), ("materials/maps/room_v20/c0_0_0.vtf", "VTF")],
    );
    let other = needs::compiled_name(&map, b"copy").unwrap();
    assert_eq!(other.as_deref(), Some(&b"room_v20"[..]));
    assert_eq!(needs::compiled_name(&map, b"Room_v20").unwrap(), None);
    let options = Options::new("copy").also(other.as_deref());
    let found = needs::find(&map, &options).unwrap();
    for name in ["maps/room_v20.nav", "maps/copy.nav", "materials/maps/room_v20/c0_0_0.vtf"] {
        assert!(found.get(name).is_some(), "{name}");
    }
}

/// What no engine asks for is not missing.
#[test]
fn what_no_engine_asks_for_is_not_missing() {
    let map = room(
        &[
            "classname item_teamflag\nflag_icon ../hud/objectives_flagpanel_carried\nflag_trail flagtrail",
            "classname logic_auto\nOnMapSpawn x,AddOutput,model models/own/plank.mdl,0,-1",
            "classname logic_auto\nOnMapSpawn x,AddOutput,OnUser1 y:SetModel:models/own/lost.mdl:0:1,0,-1",
            "classname info_overlay\nmaterial far/glass",
        ],
        &[("materials/far/glass.vmt", "Glass { include \"GLASS/GLASS01\" }")],
    );
    let game = Memory::of_folder("../../tests/game");
    let before = needs::find(&room(&[], &[]), &Options::new("room_v20").game(&game)).unwrap();
    let found = needs::find(&map, &Options::new("room_v20").game(&game)).unwrap();
    let missing = super::names(&found, |need| need.found == needs::Found::Nowhere && before.get(&need.name).is_none());
    assert_eq!(missing, ["models/own/lost.mdl"]);
    assert!(found.get("models/own/plank.mdl").is_some());
}
