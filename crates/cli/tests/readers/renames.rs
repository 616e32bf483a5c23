//! srctools resolves the materials of a map before and after it gets another name: each leads to the same files.

use std::path::{Path, PathBuf};

use bspkit::{Bsp, Draft, Layout};
use bspkit_game::rename::{Rename, owners};

use crate::{Reader, corpus, maps, run};

/// What srctools says of the materials of each map.
fn materials(program: &Path, paths: &[PathBuf]) -> Vec<Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/readers/materials.py");
    let paths = paths.iter().map(|path| std::path::absolute(path).unwrap().display().to_string());
    let words: Vec<String> = ["-B".to_owned(), script.display().to_string()].into_iter().chain(paths).collect();
    let ended = run::run(program, &words, folder.path());
    assert_eq!(ended.how, Ok(0), "{}", ended.text);
    let mut found: Vec<Vec<String>> = Vec::new();
    for line in ended.text.lines().filter_map(|line| line.strip_prefix("READ ")) {
        match line {
            "map" => found.push(Vec::new()),
            line => found.last_mut().unwrap().push(line.to_owned()),
        }
    }
    found
}

/// A room with a cube map, and a patch of a patch below a folder in the folder of the map.
fn room(folder: &Path) -> PathBuf {
    let mut draft = Bsp::open(maps::fixture("source/room_v20")).unwrap().draft();
    let pak = draft.pak().unwrap();
    pak.add("materials/maps/room_v20/c0_0_0.vtf", "VTF").unwrap();
    let patch = "patch\r\n{\r\n\tinclude \"materials/maps/room_v20/own/wall_0_0_0.vmt\"\r\n\treplace\r\n\t{\r\n\t\
        $bumpmap \"maps/room_v20/c0_0_0\"\r\n\t}\r\n}\r\n";
    pak.add("materials/maps/room_v20/maps/room_v20/own/wall_depth_24.vmt", patch).unwrap();
    let strings = draft.texture_strings().unwrap();
    strings.rename(0, "maps/room_v20/maps/room_v20/own/wall_depth_24").unwrap();
    save(&draft, folder.join("room.bsp"))
}

fn save(draft: &Draft<'_>, path: PathBuf) -> PathBuf {
    std::fs::write(&path, draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
    path
}

/// Maps that srctools opens, with the name that their paths have: a room, and real maps with texture names of their own.
fn candidates(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = vec![(room(folder), b"room_v20".to_vec())];
    for path in corpus::maps() {
        let owner =
            Bsp::open(&path).ok().and_then(|map| owners(&map).ok()?.into_iter().find(|owner| owner.textures > 0));
        found.extend(owner.map(|owner| (path, owner.name)));
    }
    found
}

#[test]
fn materials_lead_to_the_same_files_under_another_name() {
    let Some(srctools) = Reader::srctools() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for (number, (path, name)) in candidates(folder.path()).into_iter().enumerate() {
        let mut draft = Bsp::open(&path).unwrap().draft();
        Rename::new(name, "own_arena").unwrap().apply(&mut draft).unwrap();
        after.push(save(&draft, folder.path().join(format!("{number}.bsp"))));
        before.push(path);
    }
    let [old, new] = [&before, &after].map(|paths| materials(&srctools.program, paths));
    let resolved = old[0].iter().filter(|line| !line.ends_with("none")).count();
    assert_eq!((resolved, old.len()), (2, before.len()), "{:?}", old[0]);
    assert!(old[0].iter().any(|line| line.contains("('$envmap', 3)")), "{:?}", old[0]);
    for ((path, old), new) in before.iter().zip(&old).zip(&new) {
        assert_eq!(old, new, "{}", path.display());
    }
}

/// Names that do not follow are seen.
#[test]
fn a_name_that_stays_is_noticed() {
    let Some(srctools) = Reader::srctools() else { return };
    let folder = tempfile::tempdir().unwrap();
    let map = room(folder.path());
    let bsp = Bsp::open(&map).unwrap();
    let mut wrong = Vec::new();
    for (number, name) in ["texts", "textures", "files"].into_iter().enumerate() {
        let mut draft = bsp.draft();
        Rename::new("room_v20", "own_arena").unwrap().apply(&mut draft).unwrap();
        let pak = draft.pak().unwrap();
        match name {
            "texts" => {
                for (index, file) in bsp.pak().unwrap().iter().enumerate() {
                    pak.update(index, file.data().unwrap()).unwrap();
                }
            }
            "textures" => draft.texture_strings().unwrap().rename(0, "maps/room_v20/own/wall_0_0_0").unwrap(),
            _ => pak.rename(3, "materials/maps/room_v20/c0_0_0.vtf").unwrap(),
        }
        wrong.push(save(&draft, folder.path().join(format!("{number}.bsp"))));
    }
    let right = materials(&srctools.program, &[map]).remove(0);
    for (number, read) in materials(&srctools.program, &wrong).into_iter().enumerate() {
        assert_ne!(read, right, "fault {number}");
    }
}
