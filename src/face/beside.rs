//! Files beside a map that an edit of the map makes stale, by the table of the dialect ([`crate::dialect::Beside`]).

use std::cell::OnceCell;
use std::collections::HashSet;
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::shown;
use crate::dialect::{AREAS, Beside, By, Covers, Role};
use crate::file::directory::LumpFileHeader;
use crate::op::{checksum, res};
use crate::record::{Field as _, Record as _};
use crate::{Bsp, Draft, Plan, SlotId};

/// Engines read as many lump files of a map (`MAX_LUMPFILES`).
const MOST_LUMP_FILES: usize = 128;

/// A file that does not fit the map after an edit.
///
/// ```
/// use bspkit::face::beside;
/// let folder = tempfile::tempdir()?;
/// let [map, text] = ["rooms.bsp", "rooms.ent"].map(|name| folder.path().join(name));
/// std::fs::copy("tests/maps/q2/own_rooms.bsp", &map)?;
/// std::fs::write(&text, "{}")?;
///
/// let mut draft = bspkit::Bsp::open(&map)?.draft();
/// draft.entities()?.first_class("worldspawn")?.set("message", "The Place")?;
/// let stale = beside::stale(&draft, &draft.plan(bspkit::Layout::Keep)?, &map, &map);
/// assert_eq!((stale.len(), &stale[0].path), (1, &text));
/// assert!(stale[0].says.starts_with("replaces the entities of the map"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StaleFile {
    /// Its path.
    pub path: PathBuf,
    /// What follows its name in a sentence.
    pub says: String,
    /// Whether it has the checksum of the map, which can be written into it ([`crate::op::aas`]).
    pub is_areas: bool,
}

impl fmt::Display for StaleFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", shown(&self.path), self.says)
    }
}

/// The files that do not fit the map any more when the edits of a draft are saved to `target`: those beside the target,
/// and, if it has the name of the map in `source`, those beside that one. Areas for bots are named beside either.
///
/// A file that is not there is not named, and neither is anything if nothing changes. Content that cannot be read
/// counts as changed.
pub fn stale(draft: &Draft<'_>, plan: &Plan<'_>, source: &Path, target: &Path) -> Vec<StaleFile> {
    if plan.is_identity() {
        return Vec::new();
    }
    let edit = Edit { draft, plan, changed: OnceCell::new() };
    let is_same_name = source.file_name() == target.file_name();
    let mut found = Vec::new();
    for file in draft.bsp().dialect().beside.iter().copied().flatten() {
        let places = [Some(target), Some(source).filter(|_| is_same_name || file.after == AREAS)];
        let there = places.into_iter().flatten().map(|map| edit.there(file, map)).find(|there| !there.is_empty());
        found.extend(there.into_iter().flatten().filter_map(|path| edit.judge(file, path)));
    }
    found
}

/// An edit, and what is found out about it on the way.
struct Edit<'e, 'd, 'p> {
    draft: &'e Draft<'d>,
    plan: &'e Plan<'p>,
    changed: OnceCell<HashSet<SlotId>>,
}

impl Edit<'_, '_, '_> {
    /// The files of a row that are there.
    fn there(&self, file: &Beside, map: &Path) -> Vec<PathBuf> {
        let (Some(folder), Some(stem)) = (folder(file, map), map.file_stem()) else { return Vec::new() };
        let named = |after: &str| {
            let name: OsString = [stem, after.as_ref()].into_iter().collect();
            Some(folder.join(name)).filter(|path| path.is_file())
        };
        match file.after.split_once(['*', '#']) {
            None => named(file.after).into_iter().collect(),
            Some((before, after)) if file.after.contains('#') => {
                (0..MOST_LUMP_FILES).map_while(|number| named(&format!("{before}{number}{after}"))).collect()
            }
            Some((before, after)) => {
                let bsp = self.draft.bsp();
                let of_entities = bsp.dialect().checksums.iter().find(|sum| sum.covers == Covers::EntityText);
                let sum = of_entities.map(|sum| checksum::of(bsp, sum));
                sum.and_then(|sum| named(&format!("{before}{sum}{after}"))).into_iter().collect()
            }
        }
    }

    /// Whether the edit makes a file stale, and why.
    fn judge(&self, file: &Beside, path: PathBuf) -> Option<StaleFile> {
        let says = file.stale.iter().find_map(|stale| {
            let lump = match stale.by {
                By::LumpFile => Some(self.lump_of(&path)?),
                _ => None,
            };
            self.is(stale.by).then(|| match lump {
                Some(lump) => format!("replaces {lump} of the map {}", stale.says),
                None => stale.says.to_owned(),
            })
        })?;
        Some(StaleFile { path, says, is_areas: file.after == AREAS })
    }

    fn is(&self, by: By) -> bool {
        let bsp = self.draft.bsp();
        match by {
            By::Any | By::LumpFile => true,
            By::Size => self.plan.size() != bsp.container().bytes().len(),
            By::Content(roles, lumps) => self.changed().iter().any(|slot| {
                let name = bsp.container().slot(*slot).map_or("", |slot| &slot.name);
                lumps.contains(&name) || bsp.role_of(*slot).is_some_and(|role| roles.contains(&role))
            }),
            By::Needs => match (needs(bsp), self.draft.view()) {
                (old, Ok(Some(new))) => old != needs(&new),
                (_, Ok(None)) => false,
                (_, Err(_)) => true,
            },
        }
    }

    /// The lump of a lump file, if the edit changes it. A file that cannot be read does not count.
    fn lump_of(&self, path: &Path) -> Option<String> {
        let mut head = [0; LumpFileHeader::SIZE];
        File::open(path).and_then(|mut file| file.read_exact(&mut head)).ok()?;
        let slot = SlotId::Lump(usize::try_from(LumpFileHeader::decode(&head)?.id).ok()?);
        let bsp = self.draft.bsp();
        // The game lump holds its members.
        let is_member =
            |changed: &SlotId| matches!(changed, SlotId::Game(_)) && bsp.role_of(slot) == Some(Role::GameLump);
        let is_changed = self.changed().contains(&slot) || self.changed().iter().any(is_member);
        is_changed.then(|| bsp.container().slot(slot).map_or_else(|| slot.to_string(), |slot| slot.name.clone()))
    }

    /// The slots with other content; those that are only stored in another way do not count.
    fn changed(&self) -> &HashSet<SlotId> {
        self.changed.get_or_init(|| {
            let bsp = self.draft.bsp();
            let Ok(changes) = self.draft.changes() else { return bsp.slots().iter().map(|slot| slot.id).collect() };
            let differs = |slot: &SlotId| match (bsp.bytes(*slot), self.draft.bytes(*slot)) {
                (Ok(old), Ok(new)) => *old != *new,
                _ => true,
            };
            changes.into_iter().filter(differs).collect()
        })
    }
}

/// The files that players of a map need, if that can be known.
fn needs(bsp: &Bsp<'_>) -> Option<Vec<Vec<u8>>> {
    let list = res::find(bsp, &res::Options::new("")).ok()?;
    Some(list.files.into_iter().map(|file| file.name).collect())
}

/// The folder of a file beside a map. Other folders of a game are known only around one that is called `maps`.
fn folder(file: &Beside, map: &Path) -> Option<PathBuf> {
    let own = map.parent().unwrap_or(Path::new(""));
    match file.folder.strip_prefix("maps/") {
        Some(below) => Some(own.join(below)),
        None => own
            .file_name()
            .is_some_and(|name| name.eq_ignore_ascii_case("maps"))
            .then(|| own.with_file_name("").join(file.folder)),
    }
}
