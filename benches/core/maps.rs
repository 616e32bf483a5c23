//! The input: available maps, a large map made from a small one, an entity text of any length.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use bspkit::dialect::{EntityRules, Role};
use bspkit::{Bsp, Data, Layout};

use crate::harness::{Outcome, in_bytes};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/maps");

/// A file that opens as a map.
pub(crate) struct Map {
    pub(crate) path: PathBuf,
    pub(crate) size: usize,
    /// Whether its directory claims bytes that it does not have; then an edit is only saved with `force`.
    pub(crate) is_damaged: bool,
}

impl Map {
    pub(crate) fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        format!("{name} ({})", in_bytes(self.size))
    }

    fn entity_text(&self) -> Option<Text> {
        let map = Bsp::open_mapped(&self.path, None).ok()?;
        let bytes = map.bytes(map.role(Role::Entities)?.id).ok()?;
        let problems = map.entities().ok()?.diagnostics().total();
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        Some(Text { name: name.into_owned(), bytes, rules: map.entity_rules(), problems })
    }
}

/// An entity lump.
pub(crate) struct Text {
    name: String,
    pub(crate) bytes: Data<'static>,
    pub(crate) rules: EntityRules,
    /// If a quote is missing, keys and values are read as single words; the time depends on words, not on bytes.
    problems: usize,
}

impl Text {
    pub(crate) fn name(&self) -> String {
        let size = in_bytes(self.bytes.len());
        match self.problems {
            0 => format!("{} ({size} of text)", self.name),
            problems => format!("{} ({size} of text, {problems} problems)", self.name),
        }
    }
}

/// All maps in the corpus, or the fixtures if there are none, by size.
pub(crate) fn at_hand() -> Outcome<Vec<Map>> {
    let corpus = std::env::var_os("BSPKIT_CORPUS").map_or(PathBuf::from("tests/corpus"), PathBuf::from);
    let mut maps = Vec::new();
    if corpus.is_dir() {
        collect(&corpus, &mut maps)?;
    }
    if maps.is_empty() {
        println!("There is no corpus, so the maps are the fixtures; BSPKIT_CORPUS says where other maps are.");
        collect(FIXTURES.as_ref(), &mut maps)?;
    }
    maps.sort_by_key(|map| map.size);
    Ok(maps)
}

fn collect(folder: &Path, maps: &mut Vec<Map>) -> Outcome {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, maps)?;
        } else if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("bsp"))
            && let Ok(map) = Bsp::open_mapped(&path, None)
        {
            let is_damaged = map.container().damaged().next().is_some();
            maps.push(Map { size: map.container().bytes().len(), path, is_damaged });
        }
    }
    Ok(())
}

pub(crate) fn longest_text(maps: &[Map]) -> Outcome<Text> {
    let texts = maps.iter().filter_map(Map::entity_text);
    texts.max_by_key(|text| text.bytes.len()).ok_or_else(|| "no map has entities".into())
}

/// A map of about this size: a fixture with added pages of light.
pub(crate) fn enlarged(size: usize, folder: &Path) -> Outcome<Map> {
    const PAGE: usize = 128 * 128 * 3;
    let small = Bsp::open(format!("{FIXTURES}/q3/own_rooms.bsp"))?;
    let light = small.slot("LIGHTMAPS")?.id;
    // Pages that are not zero: a file system may store zeros in a special way.
    let pages = (0..size / PAGE * PAGE).map(|at| (at * 31 + at / PAGE) as u8).collect::<Vec<u8>>();
    let mut draft = small.draft();
    draft.set(light, pages)?;
    fs::create_dir_all(folder)?;
    let path = folder.join("enlarged.bsp");
    let plan = draft.plan(Layout::Keep)?;
    plan.save(&path)?;
    Ok(Map { path, size: plan.size(), is_damaged: false })
}

/// A text of this many entities, as compilers write it.
pub(crate) fn text(entities: usize) -> Outcome<Text> {
    let mut text = "{\n\"classname\" \"worldspawn\"\n\"message\" \"A long text\"\n\"light\" \"8\"\n}\n".to_owned();
    for index in 1..entities {
        let (x, y, z) = (index % 97 * 64, index % 89 * 48, index % 13 * 96);
        write!(
            text,
            "{{\n\"classname\" \"func_door_rotating\"\n\"origin\" \"{x} {y} {z}\"\n\"angles\" \"0 {} 0\"\n\
             \"targetname\" \"door_{index}\"\n\"target\" \"path_{}\"\n\"spawnflags\" \"{}\"\n\"light\" \"300\"\n}}\n",
            index % 360,
            index / 2,
            index % 64,
        )?;
    }
    text.push('\0');
    let bytes = Data::from(text.into_bytes());
    Ok(Text { name: format!("{entities} entities"), bytes, rules: EntityRules::QUAKE3, problems: 0 })
}
