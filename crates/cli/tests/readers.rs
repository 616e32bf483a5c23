//! Readers of Source maps that nobody here wrote open what the program saved and see in it what they saw before.
//!
//! srctools, sourcepp and bsp_tool are Python's: `BSPKIT_PYTHON` names an interpreter that has them, else `python3` is
//! asked. The crate vbsp is a program of its own (`tests/readers/vbsp`): `BSPKIT_VBSP` names it. `.ci/run` installs all
//! four. A test without its reader is skipped with a notice; `BSPKIT_REQUIRE_READERS=1` makes that a failure.
//!
//! The unedited map's verdict comes first, so that what a reader gets wrong by itself is not held against the program.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[allow(dead_code)]
#[path = "../../../tests/edits/follow/beside.rs"]
mod beside;
#[path = "../../../tests/common/corpus.rs"]
#[allow(dead_code)]
mod corpus;
#[allow(dead_code)]
#[path = "../../../tests/edits/follow/facts.rs"]
mod facts;
#[path = "readers/images.rs"]
mod images;
#[allow(dead_code)]
#[path = "engines/maps.rs"]
mod maps;
#[path = "readers/meshes.rs"]
mod meshes;
#[path = "readers/needs.rs"]
mod needs;
#[path = "readers/orders.rs"]
mod orders;
#[path = "readers/renames.rs"]
mod renames;
#[allow(dead_code)]
#[path = "engines/run.rs"]
mod run;
#[allow(dead_code)]
#[path = "../../../tests/edits/follow/shuffle.rs"]
mod shuffle;
#[allow(dead_code)]
#[path = "../../../tests/edits/follow/walk.rs"]
mod walk;

use std::path::{Path, PathBuf};

use maps::LAYOUTS;
use run::same_lines;

const ROOMS: &[&str] = &[
    "source/room_v19",
    "source/room_v20",
    "source/room_v21",
    "source/room_l4d2",
    "source/room_v20_lzma",
    "source/room_strata",
];

/// A program that prints what it reads in maps, and what is known of it.
struct Reader {
    name: &'static str,
    program: PathBuf,
    arguments: Vec<String>,
    /// The rooms that it knows the version of.
    rooms: &'static [&'static str],
    /// How many of the four outputs under one key it sees.
    outputs: usize,
    /// Lumps of which it says nothing, whatever is in them.
    blind: &'static [usize],
}

/// What a reader said of a map: a line for each fact.
type Facts = Vec<String>;

impl Reader {
    fn srctools() -> Option<Self> {
        Self::python("srctools", 4, &[])
    }

    fn sourcepp() -> Option<Self> {
        Self::python("sourcepp", 1, &[])
    }

    fn bsp_tool() -> Option<Self> {
        Self::python("bsp_tool", 4, &[])
    }

    fn vbsp() -> Option<Self> {
        let program = std::env::var_os("BSPKIT_VBSP").map(PathBuf::from);
        let Some(program) = program else { return missing("vbsp", "BSPKIT_VBSP names no program") };
        // What it keeps to itself or does not read: lights, normals, areas, what runs beside faces and leafs, physics.
        let blind = &[8, 9, 11, 15, 20, 21, 28, 29, 30, 31, 42, 46, 47, 51, 52, 53, 54, 55, 56, 58, 59];
        let rooms = ROOMS.split_last().map_or(ROOMS, |(_, before_strata)| before_strata);
        Some(Reader { name: "vbsp", program, arguments: Vec::new(), rooms, outputs: 4, blind })
    }

    fn python(name: &'static str, outputs: usize, blind: &'static [usize]) -> Option<Self> {
        let python = std::env::var_os("BSPKIT_PYTHON").map_or_else(|| PathBuf::from("python3"), PathBuf::from);
        let has_it = std::process::Command::new(&python).args(["-c", &format!("import {name}")]).output();
        if !has_it.is_ok_and(|output| output.status.success()) {
            return missing(name, &format!("{} has no package of this name", python.display()));
        }
        let script = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/readers/read.py");
        let arguments = vec!["-B".to_owned(), script.display().to_string(), name.to_owned()];
        Some(Reader { name, program: python, arguments, rooms: ROOMS, outputs, blind })
    }

    /// All readers that there are.
    fn all() -> Vec<Self> {
        [Self::srctools(), Self::sourcepp(), Self::bsp_tool(), Self::vbsp()].into_iter().flatten().collect()
    }

    /// Has the reader open maps. Where it crashes over one, that is the last fact of that map.
    fn read(&self, maps: &[PathBuf]) -> Vec<Facts> {
        let folder = tempfile::tempdir().unwrap();
        let mut all: Vec<Facts> = Vec::new();
        while all.len() < maps.len() {
            let rest = maps[all.len()..].iter().map(|map| map.display().to_string());
            let arguments: Vec<String> = self.arguments.iter().cloned().chain(rest).collect();
            let ended = run::run(&self.program, &arguments, folder.path());
            let before = all.len();
            for line in ended.text.lines() {
                match (line.strip_prefix("READ "), all.len() > before) {
                    (Some("map"), _) => all.push(Vec::new()),
                    (Some(fact), true) => all.last_mut().unwrap().push(fact.to_owned()),
                    _ => {}
                }
            }
            assert!(all.len() > before, "{} reads nothing: {}", self.name, ended.text);
            if ended.how != Ok(0) {
                all.last_mut().unwrap().push(format!("failed map: crashed: {:?}", ended.how));
            }
        }
        all
    }

    fn read_one(&self, map: &Path) -> Facts {
        self.read(&[map.to_owned()]).remove(0)
    }
}

fn missing<T>(name: &str, why: &str) -> Option<T> {
    let notice = format!("{name} is missing ({why}): it does not read the saved maps");
    assert!(std::env::var_os("BSPKIT_REQUIRE_READERS").is_none_or(|value| value != "1"), "{notice}");
    eprintln!("skipped: {notice}");
    None
}

fn fixtures(reader: &Reader) -> Vec<PathBuf> {
    reader.rooms.iter().map(|room| maps::fixture(room)).collect()
}

/// The facts that begin with a word, without it.
fn about<'f>(facts: &'f Facts, word: &str) -> Vec<&'f str> {
    facts.iter().filter_map(|fact| fact.strip_prefix(word)?.strip_prefix(' ')).collect()
}

/// Before any edit: every reader comes to the end of every room, and sees what was put into it.
#[test]
fn the_rooms_are_read() {
    for reader in Reader::all() {
        for (name, facts) in reader.rooms.iter().zip(reader.read(&fixtures(&reader))) {
            let case = format!("{}, {name}", reader.name);
            let known: &[&str] = match (reader.name, *name) {
                // An entry without an offset ends the list of members, which it takes for a member.
                ("bsp_tool", "source/room_v20_lzma") => &["GAME_LUMP ValueError: whence value -4 unsupported"],
                _ => &[],
            };
            assert_eq!(about(&facts, "failed"), known, "{case}");
            assert_eq!(facts.last().map(String::as_str), Some("end"), "{case}");
            let pairs = about(&facts, "entity");
            let has = |pair: &str| pairs.iter().filter(|fact| fact.to_lowercase().contains(pair)).count();
            assert_eq!((has("\"classname\", "), has("\"worldspawn\"")), (7, 1), "{case}: {pairs:?}");
            assert_eq!(has("\"ontrigger\", "), reader.outputs, "{case}: {pairs:?}");
            assert_eq!(about(&facts, "pak").len(), 3, "{case}: {facts:?}");
        }
    }
}

/// The entity text grows and shrinks, with each layout; nothing else is another.
#[test]
fn an_edit_is_seen_and_nothing_else() {
    let long = "another name of the room, longer than before ".repeat(20);
    for reader in Reader::all() {
        let folder = tempfile::tempdir().unwrap();
        let mut saved = Vec::new();
        for name in reader.rooms {
            for layout in LAYOUTS {
                for message in [long.trim_end(), "x"] {
                    let to = folder.path().join(format!("{}-{layout}-{}", name.replace('/', "-"), message.len()));
                    std::fs::create_dir(&to).unwrap();
                    let words = format!("message={message}");
                    let map = maps::edit(&maps::fixture(name), layout, &[&["set", "worldspawn", &words]], &to);
                    saved.push((name, layout, message, map));
                }
            }
        }
        let before: Vec<Facts> = reader.read(&fixtures(&reader));
        let after = reader.read(&saved.iter().map(|(.., map)| map.clone()).collect::<Vec<_>>());
        for ((name, layout, message, _), facts) in saved.iter().zip(after) {
            let case = format!("{}, {name}, {layout}, a message of {} bytes", reader.name, message.len());
            let old = &before[reader.rooms.iter().position(|room| room == *name).unwrap()];
            let new_message = format!("entity 0 [\"message\", \"{message}\"]");
            assert_eq!(facts.iter().filter(|fact| **fact == new_message).count(), 1, "{case}: {facts:?}");
            let others = |facts: &Facts| -> Facts {
                let is_text =
                    |fact: &&String| fact.starts_with("entity 0 [\"message\", ") || fact.starts_with("lump ENTITIES ");
                facts.iter().filter(|fact| !is_text(fact)).cloned().collect()
            };
            assert_eq!(facts.len(), old.len(), "{case}");
            same_lines(&others(old), &others(&facts)).unwrap_or_else(|difference| panic!("{case}: {difference}"));
        }
    }
}

/// A law that cannot fail is no law: each lump in turn is said to lie where it does not, and the reader must see it.
#[test]
fn a_lump_in_the_wrong_place_is_noticed() {
    let map = std::fs::read(maps::fixture(ROOMS[1])).unwrap();
    let elsewhere = |lump: usize| {
        let (start, size) = (word(&map, entry(lump)), word(&map, entry(lump) + 4) as usize);
        let bytes = |at: i32| map[at as usize..].iter().take(size);
        // Not where the bytes happen to be the same.
        let wrong = (start + 8..).step_by(4).find(|at| !bytes(start).eq(bytes(*at)));
        with_word(&map, entry(lump), |_| wrong.unwrap())
    };
    let faults: Vec<_> = lumps(&map).into_iter().map(|lump| (lump, elsewhere(lump))).collect();
    assert!(faults.len() > 40);
    for reader in Reader::all() {
        let unseen = unseen(&reader, &map, &faults);
        assert_eq!(unseen, reader.blind, "{} does not notice that these lumps lie elsewhere", reader.name);
    }
}

/// The mistakes that writers of maps make.
#[test]
fn mistakes_of_writers_are_noticed() {
    let map = std::fs::read(maps::fixture(ROOMS[1])).unwrap();
    let game = word(&map, entry(35)) as usize;
    let text = word(&map, entry(0)) as usize;
    let key = b"\"OnTrigger\" \"door_1,Close,,4,-1\"\n";
    let output = text + map[text..].windows(key.len()).position(|bytes| bytes == key).unwrap();
    let pak = word(&map, entry(40)) as usize;
    let with = |at: usize, new: &[u8]| {
        let mut bytes = map.clone();
        bytes[at..at + new.len()].copy_from_slice(new);
        bytes
    };
    let faults = [
        ("the static props' offset is not rebased", with_word(&map, game + 4 + 8, |offset| offset + 16)),
        ("the details' offset is not rebased", with_word(&map, game + 20 + 8, |offset| offset + 16)),
        ("an edge is lost", with_word(&map, entry(12) + 4, |length| length - 4)),
        ("an edge is half lost", with_word(&map, entry(12) + 4, |length| length - 2)),
        ("an output whose key comes twice is lost", with(output, &vec![b'\n'; key.len()])),
        ("a file in the pakfile is another", with(pak + 30 + 45 + 10, b"!")),
        ("the directory of the pakfile is cut off", with_word(&map, entry(40) + 4, |length| length - 60)),
    ];
    for reader in Reader::all() {
        let known: &[&str] = match reader.name {
            // It takes members one behind the other, wherever they are said to be.
            "sourcepp" => &["the static props' offset is not rebased", "the details' offset is not rebased"],
            // It does not read details.
            "vbsp" => &["the details' offset is not rebased"],
            _ => &[],
        };
        assert_eq!(unseen(&reader, &map, &faults), known, "{} does not notice", reader.name);
    }
}

/// The faults that a reader takes no notice of.
fn unseen<T: Copy>(reader: &Reader, map: &[u8], faults: &[(T, Vec<u8>)]) -> Vec<T> {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: String, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let good = reader.read_one(&write("good.bsp".to_owned(), map));
    let broken: Vec<_> =
        faults.iter().enumerate().map(|(index, (_, bytes))| write(format!("{index}.bsp"), bytes)).collect();
    let seen = reader.read(&broken);
    faults.iter().zip(seen).filter(|(_, facts)| *facts == good).map(|((fault, _), _)| *fault).collect()
}

/// The lumps of a map that have bytes.
fn lumps(map: &[u8]) -> Vec<usize> {
    (0..64).filter(|lump| word(map, entry(*lump) + 4) > 0).collect()
}

/// Where the directory entry of a lump stands: offset, length, version, size after decompression.
fn entry(lump: usize) -> usize {
    8 + 16 * lump
}

fn word(map: &[u8], at: usize) -> i32 {
    i32::from_le_bytes(map[at..at + 4].try_into().unwrap())
}

fn with_word(map: &[u8], at: usize, change: impl Fn(i32) -> i32) -> Vec<u8> {
    let mut bytes = map.to_vec();
    bytes[at..at + 4].copy_from_slice(&change(word(map, at)).to_le_bytes());
    bytes
}
