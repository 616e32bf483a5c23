//! Renamings with one mistake each, and the law that has to see it.

use bspkit::content::pak::{Pak, Time};
use bspkit::{Bsp, Draft, Layout};
use bspkit_game::rename::{Rename, Renamed, Spot};

#[path = "../../../crates/game/tests/game/rename/law.rs"]
mod law;
#[path = "../../../crates/game/tests/game/rename/resolve.rs"]
mod resolve;

/// A map in which there is something to lose.
fn delicate() -> Bsp<'static> {
    let mut draft = Bsp::open("tests/maps/source/room_v20.bsp").unwrap().draft();
    let pak = draft.pak().unwrap();
    let patch = "\"patch\"\r\n{\r\n\t\"include\" \"materials/maps/room_v20/own/wall_0_0_0.vmt\" // room_v20\r\n}\r\n";
    pak.add("materials/maps/room_v20/maps/room_v20/own/wall_depth_24.vmt", patch).unwrap();
    pak.add("materials/maps/room_v20b/c0_0_0.vtf", "VTF").unwrap();
    let packed = pak.add("materials/maps/room_v20/packed.vmt", patch.repeat(9)).unwrap();
    pak.compress(&[packed], 1, Default::default()).unwrap();
    let all: Vec<usize> = (0..pak.len()).collect();
    pak.set_time(&all, Time::parse("2013-06-20").unwrap()).unwrap();
    let mut world = draft.entities().unwrap().first_class("worldspawn").unwrap();
    world.set("detailmaterial", "maps/room_v20/own/wall_0_0_0").unwrap();
    let lens = draft.texture_strings().unwrap();
    lens.rename(3, "maps/room_v20/maps/room_v20/own/wall_depth_24").unwrap();
    Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap()
}

/// A mistake after the right renaming.
type Spoil = fn(&mut Draft<'static>, &mut Renamed);

struct Fault {
    name: &'static str,
    spoil: Spoil,
    caught_by: &'static str,
}

/// The indices of the files with texts that change.
fn edited(pak: &Pak<'_>, renamed: &Renamed) -> Vec<usize> {
    let text = |change: &bspkit_game::rename::Change| match &change.place {
        Spot::Text { file, .. } => Some(file.clone()),
        _ => None,
    };
    let old: Vec<Vec<u8>> = renamed.changes.iter().filter_map(text).collect();
    let rename = Rename::new(&renamed.old, &renamed.new).unwrap();
    let new = old.iter().map(|name| rename.file(name).unwrap_or_else(|| name.clone()));
    let mut found: Vec<usize> = new.map(|name| pak.one(name).unwrap()).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Gives the texts that change other bytes.
fn with_texts(draft: &mut Draft<'static>, renamed: &Renamed, change: impl Fn(String) -> String) {
    let pak = draft.pak().unwrap();
    for index in edited(pak, renamed) {
        let text = String::from_utf8(pak.get(index).unwrap().data().unwrap().to_vec()).unwrap();
        pak.update(index, change(text).into_bytes()).unwrap();
    }
}

fn name(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

const FAULTS: [Fault; 12] = [
    Fault {
        name: "texts keep the old paths",
        spoil: |draft, renamed| {
            let (old, new) = (name(&renamed.old), name(&renamed.new));
            with_texts(draft, renamed, |text| text.replace(&new, &old));
        },
        caught_by: "resolve",
    },
    Fault {
        name: "texture names stay",
        spoil: |draft, renamed| {
            let strings = draft.texture_strings().unwrap();
            for change in &renamed.changes {
                if let Spot::Texture { index, .. } = change.place {
                    strings.rename(index, &change.from).unwrap();
                }
            }
        },
        caught_by: "resolve",
    },
    Fault {
        name: "values of entities stay",
        spoil: |draft, renamed| {
            let value = format!("maps/{}/own/wall_0_0_0", name(&renamed.old));
            let entities = draft.entities().unwrap();
            entities.first_class("worldspawn").unwrap().set("detailmaterial", value).unwrap();
        },
        caught_by: "resolve",
    },
    Fault {
        name: "only the first of two folders is renamed",
        spoil: |draft, renamed| {
            let (old, new) = (name(&renamed.old), name(&renamed.new));
            let pak = draft.pak().unwrap();
            let nested = pak.one(format!("materials/maps/{new}/maps/{new}/own/wall_depth_24.vmt")).unwrap();
            pak.rename(nested, format!("materials/maps/{new}/maps/{old}/own/wall_depth_24.vmt")).unwrap();
            let strings = draft.texture_strings().unwrap();
            strings.rename(3, format!("maps/{new}/maps/{old}/own/wall_depth_24")).unwrap();
        },
        caught_by: "follow",
    },
    Fault {
        name: "a name that only begins alike is renamed",
        spoil: |draft, renamed| {
            let pak = draft.pak().unwrap();
            if let Ok(other) = pak.one("materials/maps/room_v20b/c0_0_0.vtf") {
                pak.rename(other, format!("materials/maps/{}b/c0_0_0.vtf", name(&renamed.new))).unwrap();
            }
        },
        caught_by: "else",
    },
    Fault {
        name: "edited files lose their time",
        spoil: |draft, renamed| {
            let pak = draft.pak().unwrap();
            let files = edited(pak, renamed);
            pak.set_time(&files, Time::NONE).unwrap();
        },
        caught_by: "else",
    },
    Fault {
        name: "compressed files are stored",
        spoil: |draft, renamed| {
            let pak = draft.pak().unwrap();
            let files = edited(pak, renamed);
            pak.store(&files, 1).unwrap();
        },
        caught_by: "else",
    },
    Fault {
        name: "files come in another order",
        spoil: |draft, _| {
            let pak = draft.pak().unwrap();
            let first = pak.get(0).unwrap();
            let (name, data) = (first.name().to_vec(), first.data().unwrap());
            pak.remove(&[0]).unwrap();
            pak.add(name, data).unwrap();
        },
        caught_by: "resolve",
    },
    Fault {
        name: "another lump changes",
        spoil: |draft, _| draft.set(bspkit::SlotId::Lump(1), vec![7; 40]).unwrap(),
        caught_by: "else",
    },
    Fault {
        name: "an edited text is not listed",
        spoil: |_, renamed| renamed.changes.retain(|change| !matches!(change.place, Spot::Text { .. })),
        caught_by: "else",
    },
    Fault {
        name: "line ends change",
        spoil: |draft, renamed| with_texts(draft, renamed, |text| text.replace("\r\n", "\n")),
        caught_by: "back",
    },
    Fault {
        name: "names in comments change",
        spoil: |draft, renamed| {
            let new = name(&renamed.new);
            with_texts(draft, renamed, |text| text.replace("// room_v20", &format!("// {new}")));
        },
        caught_by: "back",
    },
];

fn spoiled(map: &Bsp<'static>, old: &[u8], new: &[u8], spoil: Spoil) -> bspkit::Result<(Vec<u8>, Renamed)> {
    let mut draft = map.draft();
    let mut renamed = Rename::new(old, new)?.apply(&mut draft)?;
    spoil(&mut draft, &mut renamed);
    Ok((draft.plan(Layout::Keep)?.to_vec(), renamed))
}

#[test]
fn every_mistake_of_a_renaming_is_caught() {
    let map = delicate();
    let right = law::all(&map, b"room_v20", b"own_arena", &law::rename).unwrap().unwrap();
    assert_eq!(right.summary(), "4 files, 11 paths in texts, 2 texture names, 1 value");
    for Fault { name, spoil, caught_by } in FAULTS {
        let wrong = law::all(&map, b"room_v20", b"own_arena", &|map, old, new| spoiled(map, old, new, spoil));
        let error = wrong.expect_err(name);
        assert!(error.starts_with(caught_by), "{name}: {caught_by} does not see it: {error}");
    }
}
