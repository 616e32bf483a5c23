//! The files of a game, and what maps need of them; maps that get another name; lists of resources.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use bspkit::{Bsp, Draft, Layout};
use bspkit_game::assets::fgd::{self, Fgd};
use bspkit_game::assets::{Files, PakFiles, Stack};
use bspkit_game::needs::{self, Choice, Keys, Options};
use bspkit_game::rename::{OldName, Rename, old_name};
use bspkit_game::{Game, beside, cubemaps, res};

use super::edits::{Choices, saved};
use super::{Kind, all_maps, folder_of, good_maps};
use crate::mutate::{Random, changed};
use crate::seeds::root;

/// The files of the project's own game, by their paths below its folder.
static GAME: LazyLock<Vec<(PathBuf, Vec<u8>)>> = LazyLock::new(|| {
    let (base, mut found, mut open) = (root().join("tests/game"), Vec::new(), vec![root().join("tests/game")]);
    while let Some(folder) = open.pop() {
        for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            match (path.is_dir(), fs::read(&path), path.strip_prefix(&base)) {
                (true, ..) => open.push(path),
                (false, Ok(bytes), Ok(name)) => found.push((name.to_path_buf(), bytes)),
                _ => {}
            }
        }
    }
    found.sort();
    found
});

/// Archives: small ones that say where everything is, of two versions.
pub fn vpks() -> Vec<Vec<u8>> {
    [1, 2].map(|version| vpk(version, &GAME)).to_vec()
}

/// An archive with all files in itself.
fn vpk(version: u32, files: &[(PathBuf, Vec<u8>)]) -> Vec<u8> {
    let (mut tree, mut data) = (Vec::new(), Vec::<u8>::new());
    for (path, bytes) in files.iter().filter(|(_, bytes)| bytes.len() < 4096) {
        let part = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
        let folder = path.parent().map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default();
        let folder = if folder.is_empty() { " ".to_owned() } else { folder };
        for word in [part(path.extension()), folder, part(path.file_stem())] {
            tree.extend(word.as_bytes());
            tree.push(0);
        }
        let small = |number: usize| u32::try_from(number).unwrap_or(0).to_le_bytes();
        let before = bytes.len().min(data.len() % 5);
        tree.extend([0; 4]);
        tree.extend(&small(before)[..2]);
        tree.extend([0xFF, 0x7F]);
        tree.extend(small(data.len()));
        tree.extend(small(bytes.len() - before));
        tree.extend([0xFF, 0xFF]);
        tree.extend(&bytes[..before]);
        data.extend(&bytes[before..]);
        // The lists of this name, this folder and this extension end.
        tree.extend([0, 0]);
    }
    tree.push(0);
    let mut file = [0x55AA_1234, version, u32::try_from(tree.len()).unwrap_or(0)].map(u32::to_le_bytes).concat();
    if version == 2 {
        file.extend([u32::try_from(data.len()).unwrap_or(0), 0, 0, 0].map(u32::to_le_bytes).concat());
    }
    file.extend(tree);
    file.extend(data);
    file
}

/// Texts of `gameinfo.txt`.
pub fn infos() -> Vec<Vec<u8>> {
    let paths = "\"GameInfo\" { FileSystem { SearchPaths { game+mod |gameinfo_path|. game |all_source_engine_paths|hl2 \
        game custom/* game own.vpk game \"|gameinfo_path|addons/*.vpk\" platform ../own } } }";
    let own = GAME.iter().filter(|(path, _)| path.ends_with("gameinfo.txt")).map(|(_, bytes)| bytes.clone());
    own.chain([paths.as_bytes().to_vec()]).collect()
}

/// Writes a folder of a game, with one file changed.
fn game_in(folder: &Path, choices: &mut Choices<'_>, info: Option<&[u8]>) {
    let change = choices.below(GAME.len() + 20);
    for (number, (name, bytes)) in GAME.iter().enumerate() {
        let (path, mut bytes) = (folder.join(name), bytes.clone());
        if number == change {
            let seeds: Vec<Vec<u8>> = GAME.iter().map(|(_, bytes)| bytes.clone()).collect();
            changed(Kind::Bytes, &mut bytes, &seeds, &mut Random::new(7 + choices.below(60_000) as u64));
        }
        let bytes = info.filter(|_| name.ends_with("gameinfo.txt")).map_or(bytes, <[u8]>::to_vec);
        let _ = path.parent().map(fs::create_dir_all);
        fs::write(path, bytes).expect("a file can be written");
    }
    let more = folder.join("custom/more");
    let _ = (fs::create_dir_all(more.join("materials/own")), fs::create_dir_all(folder.join("addons")));
    let _ = (fs::write(more.join("materials/own/more.vmt"), "x {}"), fs::write(folder.join("names.txt"), NAMES));
    let archive = vpk(1 + u32::from(choices.below(2) == 0), &GAME);
    let _ = (fs::write(folder.join("addons/a_dir.vpk"), &archive), fs::write(folder.join("own.vpk"), archive));
}

const NAMES: &str = "\u{FEFF}materials/own/wall.vmt // a wall\nsound/own.wav # a sound\n\nmodels\\own\\crate.mdl\n";

/// A game of changed files, as a folder, as an archive and as a list of names: what a map needs of it is embedded, and
/// then it needs that no more.
pub fn needs_of(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let folder = folder_of("game");
    game_in(&folder, &mut choices, None);
    let (mut game, mut stock) = (Game::default(), Game::default());
    match choices.below(4) {
        0 => drop(game.add_game(&folder)),
        1 => drop(game.add(&folder.join("own.vpk"))),
        2 => drop(game.add_names(&folder.join("names.txt"))),
        _ => drop(game.add(&folder)),
    }
    if choices.below(2) == 0 {
        let _ = stock.add_names(&folder.join("names.txt"));
    }
    let maps: Vec<&Bsp<'_>> = all_maps().iter().filter(|map| map.pak().is_ok()).collect();
    let map = maps[choices.below(maps.len())];
    let mut keys = Keys::built_in().clone();
    let mut classes = Fgd::default();
    let known = fgd::read(&folder.join("own.fgd"));
    known.into_iter().for_each(|(read, _)| classes = read);
    keys.extend(&classes);
    let mut draft = map.draft();
    let Some(map) = referring(&mut draft, &mut choices) else { return };
    let map = &map;
    let name = ["room", "room_v20", "own_room"][choices.below(3)];
    let options = Options::new(name).keys(&keys);
    let options = if choices.below(2) == 0 { options.game(&stock) } else { options };
    let _ = needs::unused(map, &options.game(&game));
    if let Ok(fill) = needs::fill(map, &options, &game, &Choice::default()) {
        let mut draft = map.draft();
        let Ok(pak) = draft.pak() else { return };
        let embedded = fill.embed(pak, &game);
        if let (Ok(embedded), Some(new)) = (&embedded, saved(&draft, Layout::Keep)) {
            let Ok(after) = needs::fill(&new, &options, &game, &Choice::default()) else { return };
            let left: HashSet<&[u8]> = after.found.iter().map(|index| &after.needs.files[*index].name[..]).collect();
            for (index, _) in embedded {
                let name = &fill.needs.files[*index].name[..];
                assert!(!left.contains(name), "{} is embedded and needed", String::from_utf8_lossy(name));
            }
        }
    }
    listed(&mut choices, &game, &stock);
    let _ = fs::remove_dir_all(&folder);
}

/// Keys of entities with what they may hold.
const KEYS: [&str; 24] = [
    "model",
    "vscripts",
    "skyname",
    "noise1",
    "message",
    "soundscape",
    "scenefile",
    "effect_name",
    "texture",
    "material",
    "overlaymaterial",
    "ropematerial",
    "smokematerial",
    "directory",
    "flag_icon",
    "texturename",
    "moviefilename",
    "filename",
    "OnTrigger",
    "OnMapSpawn",
    "OnUser1",
    "gmod",
    "detailmaterial",
    "commentaryfile",
];
const CLASSES: [&str; 10] = [
    "prop_static",
    "ambient_generic",
    "env_soundscape",
    "vgui_slideshow_display",
    "env_smokestack",
    "color_correction",
    "env_beam",
    "env_projectedtexture",
    "logic_auto",
    "point_commentary_node",
];
const VALUES: [&str; 24] = [
    "own/wall",
    "models/own/crate.mdl",
    "sound/own/hit.wav",
    "own.Hit",
    "sky_own",
    "scenes/own.vcd",
    "own_smoke",
    "own/reflection.hdr",
    "scripts/own.nut own",
    "materials/own/beam.vmt",
    "media/own.bik",
    "own/../x.raw",
    "*1",
    "",
    "c,Command,play own/hit.wav,0,-1",
    "c,Command,sv_skyname sky_own,0,1",
    "c,RunScriptFile,own,0,-1",
    "c,SetModel,models/own/crate.mdl,0,-1",
    "c,AddOutput,texture own/wall,0,-1",
    "c,Command,r_screenoverlay own/beam,0,-1",
    "c,AddOutput,OnUser1 c:SetModel:models/own/lamp.mdl:0:1,0,1",
    "c,Command,exec own,0,1",
    "c\u{1B}Command\u{1B}script_execute x\u{1B}0\u{1B}1",
    "c,Skin,own/particles.pcf,0,1",
];

/// The map with entities that refer to files in each way.
fn referring(draft: &mut Draft<'static>, choices: &mut Choices<'_>) -> Option<Bsp<'static>> {
    for _ in 0..choices.below(12) {
        let (class, key) = (CLASSES[choices.below(10)], KEYS[choices.below(24)]);
        let _ = draft.entities().and_then(|all| all.add([("classname", class), (key, VALUES[choices.below(24)])]));
    }
    if choices.below(3) == 0 {
        let text = "\"x\" { \"own\" { \"wave\" \"own/hit.wav\" \"rndwave\" { \"wave\" \")own/a.wav\" } } }";
        for name in
            ["maps/room_particles.txt", "maps/room_level_sounds.txt", "maps/room.res", "scripts/soundscapes_room.txt"]
        {
            let _ = draft.pak().and_then(|pak| pak.add(name, text));
        }
    }
    saved(draft, Layout::Keep)
}

/// A list of resources has all of them, and nothing is added to it again.
fn listed(choices: &mut Choices<'_>, own: &dyn Files, stock: &dyn Files) {
    let all = all_maps();
    let map = &all[choices.below(all.len())];
    let options = res::Options::new("own_rooms").own(Some(own));
    let options = if choices.below(2) == 0 { options.stock(stock) } else { options };
    let Ok(list) = res::find(map, &options) else { return };
    complete(&list, &list.text());
}

fn complete(list: &res::List, text: &[u8]) {
    let Ok(once) = list.text_after(text) else { return };
    let shown = String::from_utf8_lossy(&once);
    let again = list.text_after(&once).unwrap_or_else(|error| panic!("{error}: {shown}"));
    assert!(again == once, "{shown}");
    let names = list.listed(&once).unwrap_or_else(|error| panic!("{error}: {shown}"));
    let _ = (names.len(), list.is_of_source());
}

/// A `.res` file of somebody else.
pub fn resources(bytes: &[u8]) {
    let maps = good_maps();
    let map = &maps[bytes.len() % maps.len()];
    if let Ok(list) = res::find(map, &res::Options::new("room")) {
        let _ = list.listed(bytes);
        complete(&list, bytes);
    }
}

/// The search paths of a game.
pub fn info(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let folder = folder_of("info").join("own");
    game_in(&folder, &mut choices, Some(bytes));
    let mut game = Game::default();
    if game.add_game(&folder).is_ok() {
        let name = b"materials/own/floor.vmt";
        let read = game.read(name, 1 << 20).ok().flatten().is_some();
        assert!(!read || game.has(name) && game.place(name).is_some());
        let _ = (game.names_in(b"materials/own").len(), game.faults().len(), game.is_empty());
        let has = game.has(name);
        assert_eq!(Stack::new(vec![Box::new(game)]).has(name), has);
    }
    let _ = fs::remove_dir_all(folder.parent().unwrap_or(&folder));
}

/// Renamed, and renamed back: the same map. A refused renaming leaves the draft as it was.
pub fn renamed(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let all = all_maps();
    let map = &all[choices.below(all.len())];
    let name = |choices: &mut Choices<'_>| {
        let known = ["room", "room_v20", "own_rooms", "own_room", "arena", "x", "Room_V20", "sky"];
        match choices.below(4) {
            0 => bytes.iter().copied().filter(u8::is_ascii_graphic).take(20).collect(),
            _ => known[choices.below(8)].as_bytes().to_vec(),
        }
    };
    let (own, new) = (name(&mut choices), name(&mut choices));
    let old = match old_name(map, &own) {
        Ok(OldName::OfPaths(owner)) => owner.name,
        Ok(OldName::Unclear(owners)) => owners.into_iter().next().map_or(own, |owner| owner.name),
        _ => own,
    };
    let Ok(mut rename) = Rename::new(&old, &new) else { return };
    let merges = choices.below(3) == 0;
    rename = rename.merging(merges);
    let only = choices.below(4) == 0;
    rename = if only { rename.only_cubemaps() } else { rename };
    let mut draft = map.draft();
    // References may be of another map that this one leads to.
    let other = choices.below(4) == 0;
    let done = if other { rename.apply_to_other(&mut draft) } else { rename.apply(&mut draft) };
    let Ok(done) = done else {
        assert!(draft.changes().is_ok_and(|changes| changes.is_empty()), "a refused renaming is in the draft");
        return;
    };
    assert!(done.changes.iter().all(|it| !it.place.kind().is_empty() && !it.to_string().is_empty()));
    let _ = (done.summary(), done.left.iter().map(ToString::to_string).collect::<Vec<_>>());
    let Some(saved) = saved(&draft, Layout::Keep) else { return };
    // What is written in other letters does not come back as it was.
    let is_plain = [&old, &new].iter().all(|name| name.iter().all(|byte| !byte.is_ascii_uppercase()));
    if other || merges || only || !is_plain || done.changes.is_empty() {
        return;
    }
    let back = Rename::new(&new, &old).expect("the old name is a name");
    let mut draft = saved.draft();
    let undone = match back.apply(&mut draft) {
        Ok(undone) => undone,
        Err(error) => panic!("{old:?} {new:?}: {error}"),
    };
    assert_eq!(undone.changes.len(), done.changes.len(), "{old:?} {new:?}");
}

/// Files beside a map that an edit makes stale, and cube maps that are taken out.
pub fn stale(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let all = all_maps();
    let map = &all[choices.below(all.len())];
    let folder = folder_of("beside");
    let _ = fs::create_dir_all(&folder);
    let path = folder.join("room.bsp");
    fs::write(&path, map.container().bytes()).expect("a map can be written");
    for end in ["ent", "lit", "vis", "aas", "nav", "ain", "lin", "prt", "res", "rad", "srf", "txt"] {
        let content = if choices.below(2) == 0 { bytes.to_vec() } else { vec![0; choices.below(64)] };
        let _ = fs::write(path.with_extension(end), content);
    }
    let _ = fs::write(folder.join("room_l_0.lmp"), bytes);
    let mut draft = map.draft();
    super::edits::edit(&mut draft, &mut choices);
    let _ = cubemaps::strip(&mut draft, b"room", choices.below(2) == 0);
    let Ok(plan) = draft.plan(Layout::Keep) else { return };
    let found = beside::stale(&draft, &plan, &path, &path);
    assert!(found.iter().all(|file| file.path.exists() && !file.to_string().is_empty()));
    let other = folder.join("other.bsp");
    let _ = beside::stale(&draft, &plan, &path, &other);
    let has_pak = PakFiles::new(&bspkit::content::pak::Pak::new(b"")).has(b"x");
    assert!(!has_pak);
    let _ = fs::remove_dir_all(&folder);
}
