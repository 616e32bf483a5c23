//! An edit of entities is checked by what it touches, and that finds what a check of the whole text finds.

use bspkit::finding::Finding;
use bspkit::{Bsp, Draft};
use bspkit_ops::check::{self, Options};

fn fixture(name: &str) -> Bsp<'static> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/maps");
    Bsp::open(folder.join(name).with_extension("bsp")).unwrap()
}

type Edit = fn(&mut Draft<'_>) -> bspkit::Result<()>;

/// Edits by the lens, some of which break the map.
const EDITS: &[(&str, Edit)] = &[
    ("nothing wrong", |draft| draft.entities()?.get_mut(1)?.set("message", "x")),
    ("no such model", |draft| draft.entities()?.get_mut(1)?.set("model", "*999")),
    ("no model at all", |draft| draft.entities()?.get_mut(1)?.set("model", "*x")),
    ("long", |draft| {
        draft.entities()?.for_any_engine();
        draft.entities()?.get_mut(2)?.set("message", "x".repeat(1_500))
    }),
    ("backslash", |draft| {
        draft.entities()?.for_any_engine();
        draft.entities()?.get_mut(2)?.set("message", r"a\b")
    }),
    ("no class", |draft| {
        draft.entities()?.for_any_engine();
        draft.entities()?.get_mut(2)?.unset("classname").map(drop)
    }),
    ("other world", |draft| draft.entities()?.move_after(0, 3)),
    ("added", |draft| draft.entities()?.add([("classname", "light"), ("model", "*77")]).map(drop)),
    ("a class that needs a model", |draft| draft.entities()?.get_mut(2)?.set("classname", "func_door")),
    ("the name of another class", |draft| draft.entities()?.get_mut(1)?.rename("classname", "model").map(drop)),
    ("names nobody", |draft| draft.entities()?.get_mut(1)?.set("target", "nobody")),
    ("moved pairs", |draft| {
        draft.entities()?.get_mut(2)?.all_at_once(|entity| {
            let class = entity.class().unwrap_or_default().to_vec();
            entity.unset("classname")?;
            entity.push("model", "*400")?;
            entity.push("classname", class)
        })
    }),
    ("the first and the last of equal pairs", |draft| {
        let mut entity = draft.entities()?.get_mut(2)?;
        ["*600", "x", "*601"].iter().try_for_each(|model| entity.push("model", model))
    }),
    ("without a key that engines need", |draft| {
        draft.entities()?.for_each_mut(|entity| entity.unset("noise").map(drop))
    }),
    ("a key that engines need has another name", |draft| {
        draft.entities()?.for_each_mut(|entity| entity.rename("noise", "sound").map(drop))
    }),
    ("a train that the game keeps", |draft| draft.entities()?.for_each_mut(|entity| entity.set("target", "corner"))),
    ("another distance between points of light", |draft| draft.entities()?.get_mut(0)?.set("gridsize", "32 32 32")),
    ("no distance between points of light", |draft| draft.entities()?.get_mut(0)?.unset("gridsize").map(drop)),
    ("removed", |draft| draft.entities()?.remove(1)),
    ("another size", |draft| draft.entities()?.get_mut(1)?.set("message", "0123456789")),
    ("yet another size", |draft| draft.entities()?.get_mut(1)?.set("message", "0123456")),
    ("many", |draft| (0..3_000).try_for_each(|_| draft.entities()?.add([("classname", "monster_army")]).map(drop))),
    ("in all", |draft| draft.entities()?.for_each_mut(|entity| entity.set("model", "*500"))),
];

/// A text without the world is refused whichever way it came: as bytes, or by the lens. A map that had none keeps it.
#[test]
fn an_edit_may_not_take_the_world_away() {
    let lost = |map: &Bsp<'_>, text: &str| {
        let mut draft = map.draft();
        draft.set(map.slot("entities").unwrap().id, text.as_bytes().to_vec()).unwrap();
        let found = check::introduced(&draft, &Options::default()).unwrap();
        let world = found.iter().filter(|finding| finding.code.name.contains("world"));
        world.map(|finding| (finding.code.name, finding.is_error())).collect::<Vec<_>>()
    };
    let light = "{\n\"classname\" \"light\"\n}\n\0";
    for name in ["q1/own_rooms", "goldsrc/own_rooms", "q2/own_rooms", "q3/own_rooms", "source/room_v20"] {
        let map = fixture(name);
        for text in ["\0", light] {
            assert_eq!(lost(&map, text), [("entity-no-world", true)], "{name}: {text}");
        }
        assert_eq!(lost(&map, &format!("{{\n\"classname\" \"worldspawn\"\n}}\n{light}")), [], "{name}");
        let mut without = map.draft();
        without.set(map.slot("entities").unwrap().id, light.as_bytes().to_vec()).unwrap();
        let without = Bsp::from_vec(without.plan(bspkit::Layout::Keep).unwrap().to_vec()).unwrap();
        assert_eq!(lost(&without, &light.replace("light", "info_null")), [], "{name}");
    }
}

#[test]
fn an_edit_is_checked_as_the_whole_text_is() {
    let mut found = 0;
    for name in ["q1/own_rooms", "goldsrc/own_rooms", "q2/own_rooms", "q3/own_rooms", "source/room_v20"] {
        let map = fixture(name);
        let slot = map.slot("entities").unwrap().id;
        // A map that is wrong already: what is wrong elsewhere is not new.
        let mut wrong = map.draft();
        wrong.entities().unwrap().get_mut(3).unwrap().set("model", "*888").unwrap();
        for pairs in [[("classname", "target_speaker"), ("noise", "x.wav")], [("classname", "func_train"), ("x", "y")]]
        {
            wrong.entities().unwrap().add(pairs).unwrap();
        }
        let wrong = Bsp::from_vec(wrong.plan(bspkit::Layout::Keep).unwrap().to_vec()).unwrap();
        // Without a NUL, of a size that ends in memory with a zero, or with none.
        let without: Vec<Bsp<'_>> = (0..16)
            .map(|more| {
                let mut draft = map.draft();
                let mut text = map.bytes(slot).unwrap().to_vec();
                text.pop();
                text.extend(vec![b'\n'; more]);
                draft.set(slot, text).unwrap();
                Bsp::from_vec(draft.plan(bspkit::Layout::Keep).unwrap().to_vec()).unwrap()
            })
            .collect();
        for map in [map, wrong].into_iter().chain(without) {
            for (what, edit) in EDITS {
                let mut draft = map.draft();
                if edit(&mut draft).is_err() {
                    continue;
                }
                let mut whole = map.draft();
                whole.set(slot, draft.bytes(slot).unwrap()).unwrap();
                let look = |draft: &Draft<'_>| -> Vec<Finding> {
                    let mut all = check::introduced(draft, &Options::default()).unwrap();
                    // A text whose end was worse before is not warned of by an edit.
                    all.retain(|finding| finding.code.name != "entity-nul");
                    all.sort_by_key(ToString::to_string);
                    all
                };
                assert_eq!(look(&draft), look(&whole), "{name}: {what}");
                found += look(&draft).len();
            }
        }
    }
    assert!(found > 40, "{found} findings");
}
