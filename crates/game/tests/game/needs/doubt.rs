//! Doubt in forms that a reader passes over easily: texts in UTF-16, second files of one name, encrypted scripts, files
//! of the game that belong to the map.

use bspkit::{Bsp, Layout};
use bspkit_game::needs::{Found, Sure};

use super::unused::{LAST, doubts, likely};
use super::{Memory, find, room};

/// The room with these files.
fn packed(files: &[(&str, &[u8])]) -> Bsp<'static> {
    let mut draft = room(&[], &[LAST]).draft();
    for (name, bytes) in files {
        draft.pak().unwrap().add(name, bytes.to_vec()).unwrap();
    }
    Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap()
}

/// The files that are likely unused, with an empty game.
fn unused(files: &[(&str, &[u8])]) -> Vec<String> {
    let found = doubts(&packed(files), &Memory::default());
    likely(&found).into_iter().map(str::to_owned).collect()
}

fn little(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn big(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_be_bytes).collect()
}

const PIXELS: (&str, &[u8]) = ("materials/far/pixels.vtf", b"VTF");

/// A file that a surface of the room names.
const FLOOR: &str = "materials/own/floor.vmt";

#[test]
fn texts_in_utf16_are_read() {
    let text = "\u{FEFF}LightmappedGeneric {\n$basetexture far/pixels }";
    let map = packed(&[(FLOOR, &little(text)), PIXELS]);
    let needs = find(&map, &Memory::default());
    assert_eq!(needs.get(FLOOR).unwrap().name, FLOOR.as_bytes());
    let pixels = needs.get(PIXELS.0).expect("the texture is named in UTF-16");
    assert_eq!(needs.referrer(&pixels.references[0]), format!("{FLOOR}, line 2"));
    assert!(needs.faults.iter().all(|fault| fault.name != FLOOR.as_bytes()));
    assert_eq!(unused(&[(FLOOR, &little(text)), PIXELS]), [LAST.0]);
}

/// What no engine is known to translate leaves a doubt, and nothing is asked for that only it names.
#[test]
fn texts_in_other_forms_of_utf16_are_searched() {
    let text = "LightmappedGeneric {\n$basetexture far/pixels }";
    let marked = format!("\u{FEFF}{text}");
    let map = packed(&[(FLOOR, &big(&marked))]);
    let needs = find(&map, &Memory::default());
    assert!(needs.get(PIXELS.0).is_none());
    assert!(needs.faults.iter().any(|fault| fault.message.contains("UTF-16")));
    assert_eq!(unused(&[(FLOOR, &big(&marked)), PIXELS]), [LAST.0]);
    for bytes in [little(&marked), big(&marked), little(text), big(text)] {
        for name in [FLOOR, "scripts/x.txt", "scripts/population/x.pop", "resource/x.res"] {
            assert_eq!(unused(&[(name, &bytes), PIXELS]), [LAST.0], "{name}");
        }
    }
    assert_eq!(unused(&[("scripts/x.txt", &little("other")), PIXELS]).len(), 2);
}

/// `CSoundEmitterSystemBase` asks for a file of each gender, and never for the name as it is written.
#[test]
fn a_sound_with_a_gender_is_two_files() {
    let script = ("maps/room_v20_level_sounds.txt", &b"Own.Hey { rndwave { wave \"*own/hey_$Gender01.wav\" } }"[..]);
    let [male, female] = ["sound/own/hey_male01.wav", "sound/own/hey_female01.wav"];
    let needs = find(&packed(&[script]), &Memory::default());
    let sounds = super::names(&needs, |need| need.name.starts_with(b"sound/"));
    assert_eq!(sounds, [female, male]);
    assert_eq!(unused(&[script, (male, b"RIFF"), (female, b"RIFF")]), [LAST.0]);
    let other = "sound/own/hey_other01.wav";
    assert_eq!(unused(&[script, (male, b"RIFF"), (other, b"RIFF")]), [LAST.0, other]);
    // A file with the letters themselves may be meant by other games.
    assert_eq!(unused(&[script, ("sound/own/hey_$gender01.wav", b"RIFF")]), [LAST.0]);
}

/// A sentence has no word for its pauses.
#[test]
fn sounds_of_punctuation_are_possible() {
    let sentences = ("scripts/sentences.txt", &b"OWN_A own/hello, there."[..]);
    let sounds = ["hello", "there", "_comma", "_period", "other"].map(|word| format!("sound/own/{word}.wav"));
    let mut files: Vec<(&str, &[u8])> = sounds.iter().map(|name| (&name[..], &b"RIFF"[..])).collect();
    files.push(sentences);
    assert_eq!(unused(&files), [LAST.0, "sound/own/other.wav"]);
}

/// An engine may take the last file of a name: what that one refers to is as possible as it is itself.
#[test]
fn doubt_passes_on_from_a_second_file_of_one_name() {
    let second = |text: &[u8], more: (&str, &[u8])| {
        let first = (FLOOR, &b"LightmappedGeneric { $basetexture far/first }"[..]);
        let map = packed(&[first, ("materials/own/fl00r.vmt", text), more]);
        let mut bytes = map.container().bytes().to_vec();
        let places: Vec<usize> = memchr::memmem::find_iter(&bytes, "fl00r.vmt").collect();
        places.into_iter().for_each(|at| bytes[at..at + 9].copy_from_slice(b"floor.vmt"));
        let found = doubts(&Bsp::from_vec(bytes).unwrap(), &Memory::default());
        likely(&found).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(second(b"LightmappedGeneric { $basetexture far/pixels }", PIXELS), [LAST.0]);
    assert_eq!(second(b"LightmappedGeneric { $basetexture far/other }", PIXELS), [LAST.0, PIXELS.0]);
    assert_eq!(second(&little("\u{FEFF}X { $basetexture far/pixels }"), PIXELS), [LAST.0]);
    // What cannot be searched may refer to all files.
    assert_eq!(second(&vec![b' '; 17 << 20], PIXELS), [""; 0]);
}

#[test]
fn what_an_encrypted_script_names_is_not_known() {
    let map = packed(&[("scripts/weapon_own.ctx", &[0x9C; 512]), ("models/weapons/v_own.mdl", b"IDST")]);
    let found = doubts(&map, &Memory::default());
    assert!(likely(&found).is_empty(), "{found:?}");
    let why = "`scripts/weapon_own.ctx` cannot be read, and may refer to it";
    assert!(found.iter().any(|(name, _, said)| name == LAST.0 && said == why), "{found:?}");
}

#[test]
fn icons_of_classes_are_named_without_their_beginning() {
    let icon = ("materials/hud/leaderboard_class_boss_icn.vmt", &b"UnlitGeneric { $basetexture far/pixels }"[..]);
    let wave = |class: &'static [u8]| ("scripts/population/x.pop", class);
    assert_eq!(unused(&[wave(b"Wave { ClassIcon boss_icn }"), icon, PIXELS]), [LAST.0]);
    assert_eq!(unused(&[wave(b"Wave { ClassIcon boss }"), icon, PIXELS]), [LAST.0, icon.0, PIXELS.0]);
    let poster = ("materials/vgui/poster_widescreen.vtf", &b"VTF"[..]);
    assert_eq!(unused(&[("missions/x.txt", b"posterImage poster"), poster]), [LAST.0]);
}

/// Files of the game by the name of the map, and those that its entities name, may name files of the pakfile.
#[test]
fn files_of_the_game_that_belong_to_the_map_are_searched() {
    let map = packed(&[PIXELS, ("materials/far/quay.vmt", b"X { $odd far/pixels }")]);
    let of = |map: &Bsp<'_>, name: &str, text: &[u8]| {
        let found = doubts(map, &Memory::default().with(name, text));
        likely(&found).len()
    };
    for name in [
        "maps/room_v20_commentary.txt",
        "cfg/room_v20.cfg",
        "scripts/population/room_v20.pop",
        "scripts/population/room_v20_hard.pop",
        "maps/room_v20_l_0.lmp",
    ] {
        assert_eq!(of(&map, name, b"say far/quay"), 1, "{name}");
        assert_eq!(of(&map, name, &little("\u{FEFF}say far/quay")), 1, "{name}");
        assert_eq!(of(&map, name, b"say nothing"), 3, "{name}");
        // What cannot be searched may name all files.
        assert_eq!(of(&map, name, &vec![b' '; 17 << 20]), 0, "{name}");
    }
    assert_eq!(of(&map, "materials/vgui/maps/room_v20.vmt", b"{{{ far/quay"), 1);
    assert_eq!(of(&map, "scripts/population/other_hard.pop", b"say far/quay"), 3);
    assert_eq!(of(&map, "cfg/other.cfg", b"say far/quay"), 3);
    assert_eq!(of(&map, "maps/room_v20.bsp.bz2", b"far/quay"), 3);
    let files = [LAST, ("materials/far/quay.vmt", "X { }")];
    let commanded = room(&["classname logic_auto\nOnMapSpawn x,Command,exec far,0,-1"], &files);
    assert_eq!(of(&commanded, "cfg/far.cfg", b"say far/quay"), 1);
    // A program that the map runs can put names together.
    let scripted = room(&["classname logic_script\nvscripts far"], &files);
    assert_eq!(of(&scripted, "scripts/vscripts/far.nut", b"x <- 1"), 0);
    assert_eq!(of(&scripted, "scripts/vscripts/other.nut", b"x <- 1"), 2);
    assert_eq!(of(&map, "scripts/vscripts/room_v20.nut", b"x <- 1"), 0);
}

/// A binary file may begin as a text in UTF-16 does: its letters of one byte are searched too.
#[test]
fn a_binary_file_that_begins_as_utf16_is_searched_as_it_is() {
    let bytes = [&b"D\0A\0T\0A\0\x01\x02"[..], b"\0far/pixels\0"].concat();
    assert_eq!(unused(&[("scripts/x.dat", &bytes), PIXELS]), [LAST.0]);
}

/// What a patch replaces is not loaded for it. Whatever else names the material loads it, before or after the patch.
#[test]
fn textures_that_a_patch_replaces_are_a_doubt() {
    let base = ("materials/far/base.vmt", &b"X { $basetexture far/lost $bumpmap far/bump $envmap far/sky }"[..]);
    let patch = b"patch { include materials/far/base.vmt insert { $BaseTexture far/own } \
        replace { $envmap far/own 360?$bumpmap far/own } }";
    let lost = |files: &[(&str, &[u8])]| {
        let needs = find(&packed(files), &Memory::default());
        let lost = needs.files.iter().filter(|need| need.sure == Sure::Certain && need.found == Found::Nowhere);
        let lost = lost.map(|need| String::from_utf8_lossy(&need.name).into_owned());
        lost.filter(|name| name.starts_with("materials/far/")).collect::<Vec<_>>()
    };
    let of_patch = ["materials/far/bump.vtf", "materials/far/own.vtf"];
    let sorted = |files: &[(&str, &[u8])]| {
        let mut lost = lost(files);
        lost.sort_unstable();
        lost
    };
    assert_eq!(sorted(&[base, (FLOOR, patch)]), of_patch);
    let within = ("materials/far/base.vmt", &b"X { $basetexture far/lost sub { $basetexture far/in } }"[..]);
    assert_eq!(sorted(&[within, (FLOOR, patch)]), ["materials/far/in.vtf", "materials/far/own.vtf"]);
    // A second material names the same one, as itself or with fewer keys.
    let below = b"patch { include materials/far/base.vmt insert { $BaseTexture far/own $bottommaterial far/below } \
        replace { $envmap far/own } }";
    let all = ["materials/far/bump.vtf", "materials/far/lost.vtf", "materials/far/own.vtf", "materials/far/sky.vtf"];
    let one: &[u8] = b"X { $bottommaterial far/base }";
    assert_eq!(sorted(&[base, (FLOOR, below), ("materials/far/below.vmt", one)]), all);
    let fewer: &[u8] = b"patch { include materials/far/base.vmt replace { $envmap far/own } }";
    assert_eq!(sorted(&[base, (FLOOR, below), ("materials/far/below.vmt", fewer)]), all[..3]);
    assert_eq!(sorted(&[base, (FLOOR, below), ("materials/far/below.vmt", patch)]), of_patch);
}
