//! What a copied model needs of its old map: it comes with the model, or is named.

use bspkit::Bsp;
use bspkit_ops::models::Copying;

use super::maps::saved;
use super::new_errors;

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

/// A map that is cut off may have had more entities of a model.
#[test]
fn entities_that_are_cut_off_are_a_doubt() {
    let whole = open("q2/own_rooms");
    let bytes = whole.container().bytes();
    let cut = Bsp::from_vec(bytes[..bytes.len() - 60].to_vec()).unwrap();
    assert!(cut.role(bspkit::dialect::Role::Entities).unwrap().bounds.is_damaged());
    let (_, warnings) = copied(&open("q2/own_box"), &cut, 1);
    assert!(warnings.iter().any(|warning| warning.contains("may have had more entities")), "{warnings:?}");
    let (_, warnings) = copied(&open("q2/own_box"), &whole, 1);
    assert!(!warnings.iter().any(|warning| warning.contains("cut off")), "{warnings:?}");
}

/// A map may have any number of textures of one name.
#[test]
fn many_frames_take_no_room_on_the_stack() {
    let map = open("q1/own_rooms");
    let mut draft = map.draft();
    let textures = draft.textures().unwrap();
    let button = (0..textures.len()).find(|at| textures.name(*at) == Some(b"+0own_btn")).unwrap();
    let frame = textures.get(button).unwrap().unwrap().bytes().to_vec();
    let all = textures.with(&vec![Some(frame); 4_000]).unwrap();
    draft.set(map.slot("textures").unwrap().id, all).unwrap();
    let from = saved(&draft);
    let mut draft = open("q1/own_box").draft();
    let copying = std::thread::Builder::new().stack_size(256 << 10);
    copying.spawn(move || drop(Copying::default().run(&mut draft, &from, &[2]))).unwrap().join().unwrap();
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

/// The samples of light in leafs belong to a list that is left out.
#[test]
fn what_only_lists_name_that_are_left_out_stays_too() {
    let map = open("source/room_strata");
    let leafs = map.lists("leafs").unwrap()[0].iter().count();
    let with = |index: &[u8], samples: &[u8]| {
        let mut draft = map.draft();
        for (name, bytes) in [("LEAF_AMBIENT_INDEX", index), ("LEAF_AMBIENT_LIGHTING", samples)] {
            for name in [name.to_owned(), format!("{name}_HDR")] {
                let slot = map.slot(&name).unwrap().id;
                draft.set(slot, bytes.to_vec()).unwrap();
            }
        }
        saved(&draft)
    };
    let index: Vec<u8> =
        (0..leafs).flat_map(|leaf| [1, u32::try_from(leaf).unwrap()].map(u32::to_le_bytes).concat()).collect();
    let (from, to) = (with(&index, &vec![7; 28 * leafs]), with(&[], &[]));
    let mut draft = to.draft();
    let copied = Copying::default().run(&mut draft, &from, &[1]).unwrap();
    let left = ["LEAF_AMBIENT_INDEX", "LEAF_AMBIENT_INDEX_HDR"]
        .map(|name| format!("{name} is left out, since the map has none"));
    assert!(left.iter().all(|line| copied.warnings.contains(line)), "{:?}", copied.warnings);
    assert_eq!(new_errors(&draft), Vec::new());
    let new = saved(&draft);
    assert!(new.bytes(new.slot("LEAF_AMBIENT_LIGHTING").unwrap().id).unwrap().is_empty());
}

/// Where the flags of a map say that alphas follow the luxels of each face, light without them would be read wrongly.
#[test]
fn light_with_other_alphas_is_left_out() {
    let map = Bsp::open("../../tests/maps/source/room_strata.bsp").unwrap();
    let with = |flags: u8| {
        let mut draft = map.draft();
        draft.set(map.slot("MAP_FLAGS").unwrap().id, vec![flags, 0, 0, 0]).unwrap();
        // No face has light, so that nothing is read as alphas.
        for change in ["faces[*].light_offset=-1", "faces_hdr[*].light_offset=-1"] {
            bspkit::query::FieldChange::parse(change).unwrap().apply(&mut draft, &[]).unwrap();
        }
        Bsp::from_data(draft.plan(bspkit::Layout::Keep).unwrap().to_vec().into(), Some(map.dialect())).unwrap()
    };
    for (flags, is_copied) in [(0, true), (0x04, false), (0x7C, false)] {
        let to = with(flags);
        let mut draft = to.draft();
        let copied = Copying::default().force(true).run(&mut draft, &map, &[1]).unwrap();
        assert_eq!(copied.light > 0, is_copied, "{flags}");
        let is_said = copied.warnings.iter().any(|warning| warning.contains("that of the map has other alphas"));
        assert_eq!(is_said, !is_copied, "{flags}: {:?}", copied.warnings);
        assert!(new_errors(&draft).is_empty(), "{flags}");
    }
}
