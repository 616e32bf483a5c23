//! What a copied model needs of its old map: it comes with the model, or is named.

use bspkit::Bsp;
use bspkit_ops::models::Copying;

use super::maps::saved;

fn open(name: &str) -> Bsp<'static> {
    Bsp::open(format!("../../tests/maps/{name}.bsp")).unwrap()
}

/// The map with a copied model, and what is said.
fn copied(to: &Bsp<'static>, from: &Bsp<'static>, model: usize) -> (Bsp<'static>, Vec<String>) {
    let mut draft = to.draft();
    let warnings = Copying::default().run(&mut draft, from, &[model]).unwrap().warnings;
    (saved(&draft), warnings)
}

fn textures(map: &Bsp<'_>) -> Vec<String> {
    let textures = map.textures().unwrap();
    let name = |at| textures.name(at).map(|name| String::from_utf8_lossy(name).to_ascii_lowercase());
    (0..textures.len()).filter_map(name).collect()
}

#[test]
fn all_frames_of_an_animation_come_with_one() {
    for (game, frames) in [("q1", ["+0own_btn", "+1own_btn"]), ("goldsrc", ["+0own_btn", "+aown_btn"])] {
        let (map, warnings) = copied(&open(&format!("{game}/own_box")), &open(&format!("{game}/own_rooms")), 2);
        assert_eq!(warnings, [""; 0], "{game}");
        let names = textures(&map);
        assert!(frames.iter().all(|frame| names.iter().filter(|name| name == frame).count() == 1), "{game}: {names:?}");
    }
}

#[test]
fn wad_files_that_the_map_does_not_name_are_said() {
    let map = open("goldsrc/own_rooms");
    let wads = |wads: &str| {
        let mut draft = map.draft();
        let textures = draft.textures().unwrap();
        (0..textures.len()).for_each(|at| _ = textures.strip(at));
        draft.entities().unwrap().get_mut(0).unwrap().set("wad", wads).unwrap();
        saved(&draft)
    };
    let to = open("goldsrc/own_box");
    let (_, warnings) = copied(&to, &wads("\\half-life\\valve\\Own.wad;d:/other.wad"), 3);
    assert!(warnings.len() == 1 && warnings[0].ends_with(": `other.wad`, `own.wad`"), "{warnings:?}");
    let named = {
        let mut draft = to.draft();
        draft.entities().unwrap().get_mut(0).unwrap().set("wad", "own.wad;x/OTHER.WAD;z.wad").unwrap();
        saved(&draft)
    };
    assert_eq!(copied(&named, &wads("own.wad;other.wad"), 3).1, [""; 0]);
}

/// A compiler gives each name of switched lights a number of its own.
#[test]
fn styles_that_another_light_switches_are_said() {
    let map = open("q2/own_rooms");
    assert_eq!(copied(&map, &map, 1).1, [""; 0]);
    let to = open("q2/own_box");
    let (_, warnings) = copied(&to, &map, 1);
    let is_said = |end: &str, warnings: &[String]| {
        warnings.len() == 1
            && warnings[0].starts_with("light of the model has style 32, which `lamp`")
            && warnings[0].ends_with(end)
    };
    assert!(is_said("and nothing here", &warnings), "{warnings:?}");
    let mut draft = to.draft();
    let light = [("classname", "light"), ("targetname", "Other"), ("style", "32")];
    draft.entities().unwrap().add(light).unwrap();
    let (_, warnings) = copied(&saved(&draft), &map, 1);
    assert!(is_said("and `other` here", &warnings), "{warnings:?}");
}
