//! Real engines load every map that the examples of the guide write, but those which the guide damages on purpose.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::darkplaces::DarkPlaces;
use crate::ioquake3::{Ioquake3, Probe};
use crate::maps;
use crate::room;
use crate::run::Verdict;

/// Maps that no engine has to load: the section of the guide, the name of the file, the reason.
const EXEMPT: &[(&str, &str, &str)] =
    &[("Folders of maps, and CI", "bad.bsp", "a text with the name of a map, for `check` to report")];

/// How a map begins, by engine: the name and the version of the format.
const OF_DARKPLACES: &[&[u8]] = &[b"\x1d\0\0\0", b"BSP2", b"2PSB", b"IBSP\x26\0\0\0", b"\x1e\0\0\0", OF_IOQUAKE3];
const OF_IOQUAKE3: &[u8] = b"IBSP\x2e\0\0\0";

/// How a map of Source begins: no engine for it is free.
const OF_SOURCE: &[u8] = b"VBSP";

/// The fewest maps that the guide writes for each engine: if fewer are found, the search is broken.
const FEWEST: [usize; 2] = [40, 7];

/// A map that a command of the guide wrote.
struct Written {
    section: String,
    command: String,
    name: String,
    bytes: Vec<u8>,
}

impl Written {
    fn is_of(&self, heads: &[&[u8]]) -> bool {
        heads.iter().any(|head| self.bytes.starts_with(head))
    }

    fn is(&self, (section, name, _): &(&str, &str, &str)) -> bool {
        self.section == *section && self.name == *name
    }
}

#[test]
fn the_maps_of_the_guide_load_in_engines() {
    let (darkplaces, quake3) = (DarkPlaces::find(), Ioquake3::find().and_then(|_| Probe::find()));
    if darkplaces.is_none() && quake3.is_none() {
        return;
    }
    let written = written();
    for row in EXEMPT {
        assert!(written.iter().any(|map| map.is(row)), "the guide writes no such map: {row:?}");
    }
    let (folder, mut loaded, mut wrong) = (tempfile::tempdir().unwrap(), [0; 2], Vec::new());
    let path = folder.path().join("t.bsp");
    for map in written.iter().filter(|map| !EXEMPT.iter().any(|row| map.is(row))) {
        let Written { section, command, name, .. } = map;
        if !map.is_of(OF_DARKPLACES) && !map.is_of(&[OF_SOURCE]) {
            wrong.push(format!("{section}: {name} of `{command}` is of no known format"));
        }
        let engine = darkplaces.as_ref().filter(|_| map.is_of(OF_DARKPLACES)).map(|engine| engine.load(&map.bytes));
        let probe = quake3.as_ref().filter(|_| map.is_of(&[OF_IOQUAKE3])).map(|engine| engine.load(&map.bytes));
        for (number, verdict) in [engine, probe].into_iter().enumerate() {
            let Some(verdict) = verdict else { continue };
            loaded[number] += 1;
            fs::write(&path, &map.bytes).unwrap();
            let complaint = match verdict {
                Verdict::Refused(reason) => reason,
                Verdict::Loaded(seen) if seen.entities != maps::entities_of(&path) => {
                    "it sees other entities".to_owned()
                }
                Verdict::Loaded(_) => continue,
            };
            let engine = ["DarkPlaces", "ioquake3"][number];
            wrong.push(format!("{section}: {name} of `{command}`: {engine}: {complaint}"));
        }
    }
    eprintln!("{loaded:?} maps of the guide were loaded by DarkPlaces and ioquake3");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (is_there, loaded, fewest) in
        [(darkplaces.is_some(), loaded[0], FEWEST[0]), (quake3.is_some(), loaded[1], FEWEST[1])]
    {
        assert!(!is_there || loaded >= fewest, "{loaded} maps were loaded, and {fewest} were expected");
    }
}

/// Every map that the guide writes, each content once, by the first command that writes it.
fn written() -> Vec<Written> {
    let guide = room::read("docs/guide.md");
    let sections = room::sections(&guide);
    let (mut all, mut seen) = (Vec::new(), HashSet::new());
    for (number, section) in sections.iter().enumerate().skip(1) {
        let title = section.lines().next().unwrap().trim_start_matches("## ");
        let folder = room::folder_to_try();
        if number > 1 {
            room::commands(sections[1]).for_each(|line| drop(room::run(&folder, line)));
        }
        for command in room::commands(section) {
            room::run(&folder, command);
            for path in maps_in(&folder) {
                let (bytes, name) = (fs::read(&path).unwrap(), path.file_name().unwrap().to_str().unwrap().to_owned());
                if seen.insert(bytes.clone()) {
                    all.push(Written { section: title.to_owned(), command: command.to_owned(), name, bytes });
                }
            }
        }
    }
    all
}

/// The maps in a folder and in folders of it, in the order of their names; links are not followed.
fn maps_in(folder: &TempDir) -> Vec<PathBuf> {
    let (mut maps, mut folders) = (Vec::new(), vec![folder.path().to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() && is_map(&path) {
                maps.push(path);
            }
        }
    }
    maps.sort();
    maps
}

fn is_map(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "bsp")
}
