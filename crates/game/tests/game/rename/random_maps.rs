//! Random maps with odd names: beginnings of each other, with capitals, in compressed files, in nested folders.

use bspkit::content::pak::Pak;
use bspkit::{Bsp, Builder, dialect};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::law;
use super::random;
use super::zip::{File, Zip};

const SEEDS: &str = "tests/proptest-regressions/rename.txt";

const NAMES: [&str; 9] = ["a", "ab", "a_b", "A", "Ab", "own", "x.y", "$2$", "room"];

/// What names are put together from.
const PARTS: [&str; 11] = ["maps", "MAPS", "a", "ab", "A", "a_b", "maps", "room", "x.y", "materials", "own"];

#[derive(Clone, Debug)]
struct Plan {
    textures: Vec<(String, bool)>,
    files: Vec<(String, String, bool)>,
    values: Vec<(String, String)>,
}

fn path() -> impl Strategy<Value = String> {
    let parts = vec(select(&PARTS[..]), 1..6);
    (parts, prop::bool::weighted(0.2)).prop_map(|(parts, back)| parts.join(if back { "\\" } else { "/" }))
}

fn text() -> impl Strategy<Value = String> {
    let line = (path(), 0..6_u8).prop_map(|(path, kind)| match kind {
        0 => format!("\t\"$envmap\"\t\"{path}\"\r\n"),
        1 => format!(" include {path} // of {path}\n"),
        2 => format!("\"replace\" {{ \"$basetexture\" \"{path}\" }}\n"),
        3 => format!("// {path}\n"),
        4 => format!("\"{path}\" \"materials/{path}\"\n"),
        _ => format!("$bumpmap \"{path}\n"),
    });
    vec(line, 0..6).prop_map(|lines| format!("patch\n{{\n{}}}\n", lines.concat()))
}

fn plans() -> impl Strategy<Value = Plan> {
    let end = select(&[".vmt", ".vmt", ".txt", ".vtf", ".nut", ".mdl", ""][..]);
    let root = select(&["materials/", "", "scripts/soundscapes_", "materials/overviews/", "MATERIALS\\"][..]);
    let file = (root, path(), end, text(), any::<bool>());
    let file = file.prop_map(|(root, path, end, text, packed)| (format!("{root}{path}{end}"), text, packed));
    let key = select(&["map", "NextMap", "message", "detailmaterial", "OnUser1", "vscripts"][..]);
    let value = prop_oneof![
        path(),
        path().prop_map(|path| format!("a,In,{path},0,-1")),
        select(&NAMES[..]).prop_map(str::to_owned)
    ];
    let value = (key.prop_map(str::to_owned), value);
    (vec((path(), any::<bool>()), 0..6), vec(file, 0..8), vec(value, 0..4)).prop_map(|(textures, files, values)| Plan {
        textures,
        files,
        values,
    })
}

impl Plan {
    fn build(&self) -> Vec<u8> {
        let (mut strings, mut table) = (Vec::new(), Vec::new());
        let mut last = 0;
        for (name, is_shared) in &self.textures {
            if !is_shared || strings.is_empty() {
                last = strings.len();
                strings.extend_from_slice(name.as_bytes());
                strings.push(0);
            }
            table.extend_from_slice(&u32::try_from(last).unwrap().to_le_bytes());
        }
        let file = |(at, (name, text, _)): (usize, &(String, String, bool))| {
            let at = u16::try_from(at).unwrap();
            let mut file = File::new(name, text);
            (file.time, file.attributes, file.comment) = (0x4321 + at, 0o644 << 16, vec![b'c'; usize::from(at % 3)]);
            file.gap = vec![b'g'; usize::from(at % 2)];
            file
        };
        let zip = Zip { comment: b"XZP1 0".to_vec(), ..Zip::of(self.files.iter().enumerate().map(file)) }.build();
        let mut pak = Pak::parse(&zip[..]).unwrap();
        let packed = self.files.iter().enumerate().filter(|(_, (.., is_packed))| *is_packed).map(|(at, _)| at);
        let _ = pak.compress(&packed.collect::<Vec<_>>(), 1, Default::default());
        let values: String = self.values.iter().map(|(key, value)| format!("\"{key}\" \"{value}\"\n")).collect();
        let entities = format!("{{\n\"classname\" \"worldspawn\"\n{values}}}\n\0");
        let pak = pak.to_rope().unwrap().to_data();
        Builder::new(&dialect::SOURCE)
            .lump(0, entities.into_bytes())
            .lump(40, pak.to_vec())
            .lump(43, strings)
            .lump(44, table)
            .build()
            .unwrap()
    }
}

proptest! {
    #![proptest_config(random::config(600, SEEDS))]

    #[test]
    fn the_laws_hold(plan in plans(), old in select(&NAMES[..]), new in select(&NAMES[..])) {
        let map = Bsp::from_vec(plan.build()).unwrap();
        let done = law::all(&map, old.as_bytes(), new.as_bytes(), &law::rename);
        prop_assert!(done.is_ok(), "{}", done.unwrap_err());
    }
}

/// The random maps are not all refused, and most of them have something to rename.
#[test]
fn random_maps_are_renamed() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let (mut refused, mut changed, mut exact) = (0, 0, 0);
    for _ in 0..300 {
        let plan = plans().new_tree(&mut runner).unwrap().current();
        let map = Bsp::from_vec(plan.build()).unwrap();
        match law::rename(&map, b"a", b"room_2") {
            Err(_) => refused += 1,
            Ok((_, renamed)) if !renamed.changes.is_empty() => {
                changed += 1;
                exact += usize::from(renamed.respelled == 0);
            }
            Ok(_) => {}
        }
    }
    assert!(refused < 30 && changed > 100 && exact > 30, "{refused} refused, {changed} changed, {exact} exact");
}
