//! What a Source map refers to: a small game of our own, in which every file is found and nothing else.

mod bad;
mod doubt;
mod game;
mod real;
mod unused;

use crate::corpus;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use bspkit::{Bsp, Data, Error, ErrorKind, Layout, Result};
use bspkit_game::assets::{Files, normal_name};
use bspkit_game::needs::{self, Keys, Needs, Options};

/// Files in memory, by their names.
#[derive(Default)]
struct Memory(BTreeMap<Vec<u8>, Vec<u8>>);

impl Memory {
    /// All files below a folder.
    fn of_folder(folder: &str) -> Memory {
        let mut memory = Memory::default();
        let mut folders = vec![Path::new(folder).to_path_buf()];
        while let Some(next) = folders.pop() {
            for entry in fs::read_dir(next).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = normal_name(path.strip_prefix(folder).unwrap().to_str().unwrap());
                    memory.0.insert(name, fs::read(path).unwrap());
                }
            }
        }
        memory
    }

    fn with(mut self, name: &str, text: impl AsRef<[u8]>) -> Memory {
        self.0.insert(name.into(), text.as_ref().to_vec());
        self
    }
}

impl Files for Memory {
    fn has(&self, name: &[u8]) -> bool {
        self.0.contains_key(name)
    }

    fn read(&self, name: &[u8], most: usize) -> Result<Option<Data<'_>>> {
        match self.0.get(name) {
            Some(bytes) if bytes.len() > most => Err(Error::new(ErrorKind::TooLarge, "the file is too large")),
            found => Ok(found.map(|bytes| Data::from(&bytes[..]))),
        }
    }

    fn names_in(&self, folder: &[u8]) -> Vec<Vec<u8>> {
        let is_in = |name: &&Vec<u8>| name.rsplitn(2, |byte| *byte == b'/').nth(1) == Some(folder);
        self.0.keys().filter(is_in).cloned().collect()
    }
}

/// The room with other entities after its own, and these files in its pakfile.
fn room(entities: &[&str], files: &[(&str, &str)]) -> Bsp<'static> {
    let map = Bsp::open("../../tests/maps/source/room_v20.bsp").unwrap();
    let mut draft = map.draft();
    for text in entities {
        let pairs: Vec<(&str, &str)> = text.lines().map(|line| line.trim().split_once(' ').unwrap()).collect();
        let list = draft.entities().unwrap();
        list.add(pairs).unwrap();
    }
    for (name, text) in files {
        draft.pak().unwrap().add(name, text.as_bytes().to_vec()).unwrap();
    }
    Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap()
}

fn find(map: &Bsp<'_>, game: &dyn Files) -> Needs {
    needs::find(map, &Options::new("room_v20").game(game)).unwrap()
}

/// The name of each file with what is asked about it.
fn names(needs: &Needs, is_asked: impl Fn(&needs::Need) -> bool) -> Vec<&str> {
    let mut names: Vec<&str> =
        needs.files.iter().filter(|need| is_asked(need)).map(|need| std::str::from_utf8(&need.name).unwrap()).collect();
    names.sort_unstable();
    names
}

/// A table with the keys of an FGD text.
fn keys_of(text: &str) -> Keys {
    let mut fgd = bspkit_game::assets::fgd::Fgd::default();
    fgd.read(text.as_bytes()).unwrap();
    let mut keys = Keys::built_in().clone();
    keys.extend(&fgd);
    keys
}
