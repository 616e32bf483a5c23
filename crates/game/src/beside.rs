//! Files beside a map that an edit of the map makes stale, by the table of the dialect ([`bspkit::dialect::Beside`]).

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use bspkit::bytes::wide;
use bspkit::content::entities::Entity;
use bspkit::content::lightmap::Light;
use bspkit::dialect::bspx::{LIGHT_PLACES, LIGHT_SIZES};
use bspkit::dialect::{AREAS, Beside, By, Covers, Part, Role, TEXT_FILE};
use bspkit::disk::{names, shown};
use bspkit::file::directory::LumpFileHeader;
use bspkit::record::{Field as _, Record as _};
use bspkit::{Bsp, Draft, Plan, SlotId};
use bspkit_ops::checksum;

use crate::res;

/// Engines read as many lump files of a map (`MAX_LUMPFILES`).
const MOST_LUMP_FILES: usize = 128;

/// Folders that are looked into where a table has any folder.
const MOST_FOLDERS: usize = 256;

/// What says where the light of faces is, and how much there is.
const LIT: &[Role] = &[Role::Lighting, Role::Faces, Role::TexInfo, Role::Vertexes, Role::Edges, Role::SurfEdges];

/// A file that does not fit the map after an edit.
///
/// ```
/// use bspkit_game::beside;
/// let folder = tempfile::tempdir()?;
/// let [map, text] = ["rooms.bsp", "rooms.ent"].map(|name| folder.path().join(name));
/// std::fs::copy("../../tests/maps/q2/own_rooms.bsp", &map)?;
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
    /// Whether it is beside the map in the source, and none is beside the target: the saved map may come to be there.
    pub is_by_source: bool,
    /// Whether it has the checksum of the map, which can be written into it ([`crate::aas`]).
    pub is_areas: bool,
}

impl fmt::Display for StaleFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.is_by_source { " (beside the old map)" } else { "" };
        write!(f, "{}{place} {}", shown(&self.path), self.says)
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
        let there = places.into_iter().flatten().map(|map| (map, edit.there(file, map)));
        let Some((map, there)) = there.into_iter().find(|(_, there)| !there.is_empty()) else { continue };
        // A compressed map that is saved is the new map.
        let others = there.into_iter().filter(|path| !is_target(path, target));
        let judged = others.filter_map(|path| edit.judge(file, path));
        // The saved map may go to where the old one is.
        found.extend(judged.map(|stale| StaleFile { is_by_source: map != target, ..stale }));
    }
    found
}

/// Whether a file that is there is the one that is saved.
fn is_target(path: &Path, target: &Path) -> bool {
    path == target || path.canonicalize().is_ok_and(|path| target.canonicalize().is_ok_and(|target| path == target))
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
        let stem = names::of_map(map);
        let folders = folders(file, map);
        let named = |after: &str| {
            let name: OsString = [stem, after.as_ref()].into_iter().collect();
            folders.iter().map(|folder| folder.join(&name)).filter(|path| path.is_file()).collect::<Vec<_>>()
        };
        match file.after.split_once(['*', '#']) {
            None => named(file.after),
            Some((before, after)) if file.after.contains('#') => {
                let files = (0..MOST_LUMP_FILES).map(|number| named(&format!("{before}{number}{after}")));
                files.take_while(|files| !files.is_empty()).flatten().collect()
            }
            Some((before, after)) => {
                let bsp = self.draft.bsp();
                let of_entities = bsp.dialect().checksums.iter().find(|sum| sum.covers == Covers::EntityText);
                let sum = of_entities.map(|sum| checksum::of(bsp, sum));
                sum.map(|sum| named(&format!("{before}{sum}{after}"))).unwrap_or_default()
            }
        }
    }

    /// Whether the edit makes a file stale, and why.
    fn judge(&self, file: &Beside, path: PathBuf) -> Option<StaleFile> {
        if file.after == TEXT_FILE && self.has_new_text(&path) {
            return None;
        }
        let says = file.stale.iter().find_map(|stale| match stale.by {
            By::LumpFile | By::LumpFileNumbers => {
                let slot = self.lump_of(&path)?;
                let bsp = self.draft.bsp();
                let is_one = matches!(stale.by, By::LumpFile) || self.moves_numbers_of(slot);
                let name = || bsp.container().slot(slot).map_or_else(|| slot.to_string(), |slot| slot.name.clone());
                is_one.then(|| format!("replaces {} of the map {}", name(), stale.says))
            }
            by => self.is(by).then(|| stale.says.to_owned()),
        })?;
        Some(StaleFile { path, says, is_by_source: false, is_areas: file.after == AREAS })
    }

    fn is(&self, by: By) -> bool {
        let bsp = self.draft.bsp();
        match by {
            By::Any | By::LumpFile | By::LumpFileNumbers => true,
            By::Size => self.plan.size() != bsp.container().bytes().len(),
            By::Content(parts) => parts.iter().any(|part| self.touches(part)),
            By::Needs => match (needs(bsp), self.draft.view()) {
                (old, Ok(Some(new))) => old != needs(&new),
                (_, Ok(None)) => false,
                (_, Err(_)) => true,
            },
        }
    }

    /// Whether the edit changes a part of the map.
    fn touches(&self, part: &Part) -> bool {
        let bsp = self.draft.bsp();
        match *part {
            Part::Role(role) => self.changed().iter().any(|slot| bsp.role_of(*slot) == Some(role)),
            Part::Lump(name) => {
                self.changed().iter().any(|slot| bsp.container().slot(*slot).is_some_and(|slot| slot.name == name))
            }
            Part::Fields(role, names) => self.touches(&Part::Role(role)) && self.differ(|map| fields(map, role, names)),
            Part::Entities(classes, with_models) => {
                self.touches(&Part::Role(Role::Entities)) && self.differ(|map| entities(map, classes, with_models))
            }
            Part::ModelNumbers => self.touches(&Part::Role(Role::Models)) && self.moves_models(),
            Part::LightPlaces => {
                let is_one = |slot: &SlotId| {
                    let name = bsp.container().slot(*slot).map_or("", |slot| &slot.name);
                    LIGHT_SIZES.contains(&name)
                        || LIGHT_PLACES.contains(&name)
                        || bsp.role_of(*slot).is_some_and(|role| LIT.contains(&role))
                };
                self.changed().iter().any(is_one) && self.light_moves()
            }
        }
    }

    /// Whether a part of the map is another one after the edit. What cannot be read counts as another.
    fn differ<T: PartialEq>(&self, part: impl Fn(&Bsp<'_>) -> Option<T>) -> bool {
        match self.draft.view() {
            Ok(None) => false,
            Ok(Some(new)) => part(self.draft.bsp()).zip(part(&new)).is_none_or(|(old, new)| old != new),
            Err(_) => true,
        }
    }

    /// Whether a face has its light where there was none of this size before, or there is more or less light: engines
    /// compare the length.
    fn light_moves(&self) -> bool {
        let Ok(Some(new)) = self.draft.view() else { return true };
        let length = |map: &Bsp<'_>| Some(map.bytes(map.role(Role::Lighting)?.id).ok()?.len());
        if length(self.draft.bsp()) != length(&new) {
            return true;
        }
        let [Ok(old), Ok(new)] = [self.draft.bsp().light(), new.light()] else { return true };
        let places = |light: &Light<'_>| -> HashMap<(usize, [usize; 2]), usize> {
            let sets = light.sets().iter().filter(|set| set.copy_of().is_none());
            let blocks = sets.flat_map(|set| set.blocks());
            blocks.map(|block| ((block.bytes().start, block.size()), block.bytes().len())).collect()
        };
        let before = places(&old);
        places(&new).iter().any(|(place, len)| before.get(place).is_none_or(|room| room < len))
    }

    /// Whether a model has another number after the edit, or is not there: there are fewer, or the same entities name
    /// others.
    fn moves_models(&self) -> bool {
        let Ok(Some(new)) = self.draft.view() else { return true };
        let count = |map: &Bsp<'_>| {
            let lists = map.lists(map.role(Role::Models)?.name.as_str()).ok()?;
            Some(lists.first()?.iter().count())
        };
        let numbers = |map: &Bsp<'_>| -> Option<Vec<Vec<u8>>> {
            let entities = map.entities().ok()?;
            let numbers = entities.iter().filter_map(|entity| Some(entity.get("model")?.to_vec()));
            Some(numbers.filter(|model| model.starts_with(b"*")).collect())
        };
        let old = self.draft.bsp();
        let (Some(before), Some(after)) = (count(old), count(&new)) else { return true };
        let (Some(old), Some(new)) = (numbers(old), numbers(&new)) else { return true };
        before > after || before == after && old.len() == new.len() && old != new
    }

    /// Whether the edit may give other numbers to what a lump names.
    fn moves_numbers_of(&self, slot: SlotId) -> bool {
        let bsp = self.draft.bsp();
        if bsp.role_of(slot) == Some(Role::Entities) {
            return self.touches(&Part::ModelNumbers);
        }
        let Ok(links) = bsp.links() else { return true };
        let slot_of = |site: usize| links.sites[site].slot;
        let mut named = links.links.iter().filter(|link| slot_of(link.from) == slot).map(|link| slot_of(link.to));
        named.any(|other| other != slot && self.changed().contains(&other))
    }

    /// Whether a file of entities has the text of the map after the edit.
    fn has_new_text(&self, path: &Path) -> bool {
        let is_end = |byte: &u8| *byte == 0 || byte.is_ascii_whitespace();
        let trimmed = |text: &[u8]| text.iter().rposition(|byte| !is_end(byte)).map_or(0, |last| last + 1);
        let Some(slot) = self.draft.bsp().role(Role::Entities) else { return false };
        let Ok(new) = self.draft.bytes(slot.id) else { return false };
        let new = &new[..trimmed(&new)];
        let mut file = Vec::with_capacity(new.len());
        let read = File::open(path).and_then(|file_of| file_of.take(2 * wide(new.len()) + 64).read_to_end(&mut file));
        read.is_ok() && file[..trimmed(&file)] == *new
    }

    /// The lump of a lump file, if the edit changes it. A file that cannot be read does not count.
    fn lump_of(&self, path: &Path) -> Option<SlotId> {
        let mut head = [0; LumpFileHeader::SIZE];
        File::open(path).and_then(|mut file| file.read_exact(&mut head)).ok()?;
        let slot = SlotId::Lump(usize::try_from(LumpFileHeader::decode(&head)?.id).ok()?);
        let bsp = self.draft.bsp();
        // The game lump holds its members.
        let is_member =
            |changed: &SlotId| matches!(changed, SlotId::Game(_)) && bsp.role_of(slot) == Some(Role::GameLump);
        let is_changed = self.changed().contains(&slot) || self.changed().iter().any(is_member);
        is_changed.then_some(slot)
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

/// The bytes of fields of all records in the lump with a role: fields that the records do not have are left out, and
/// a lump without known records is its bytes.
fn fields(map: &Bsp<'_>, role: Role, names: &[&str]) -> Option<Vec<u8>> {
    let Some(slot) = map.role(role) else { return Some(Vec::new()) };
    let lists = map.lists(slot.name.as_str()).ok()?;
    if lists.is_empty() {
        return Some(map.bytes(slot.id).ok()?.to_vec());
    }
    let mut found = Vec::new();
    for list in &lists {
        let fields: Vec<_> = names.iter().filter_map(|name| list.info().field(name)).collect();
        for record in list.iter() {
            fields.iter().for_each(|field| found.extend(&record[field.offset..][..field.shape.size()]));
        }
    }
    Some(found)
}

/// The pairs of entities whose class begins with one of these words; with `true`, those with a brush model too.
fn entities(map: &Bsp<'_>, classes: &[&str], with_models: bool) -> Option<Vec<(Vec<u8>, Vec<u8>)>> {
    let is_one = |entity: &Entity<'_>| {
        let class = entity.class().unwrap_or_default();
        let begins =
            |word: &&str| class.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()));
        classes.iter().any(begins) || with_models && entity.get("model").is_some_and(|model| model.starts_with(b"*"))
    };
    let map = map.entities().ok()?;
    let mut found = Vec::new();
    for entity in map.iter().filter(is_one) {
        found.extend(entity.pairs().map(|pair| (pair.key.to_vec(), pair.value.to_vec())));
        // Where the next one begins.
        found.push((Vec::new(), Vec::new()));
    }
    Some(found)
}

/// The folder of a game around a map in its folder `maps`, also where the path does not say the name of that folder
/// (`rooms.bsp`, `./rooms.bsp`).
///
/// ```
/// use std::path::Path;
/// use bspkit_game::beside::game_folder;
/// assert_eq!(game_folder(Path::new("game/maps/rooms.bsp")).as_deref(), Some(Path::new("game/")));
/// assert_eq!(game_folder(Path::new("game/rooms.bsp")), None);
/// ```
pub fn game_folder(map: &Path) -> Option<PathBuf> {
    let own = map.parent().unwrap_or(Path::new(""));
    let is_maps = |folder: &Path| folder.file_name().is_some_and(|name| name.eq_ignore_ascii_case("maps"));
    if own.file_name().is_some() {
        return is_maps(own).then(|| own.with_file_name(""));
    }
    let here = if own.as_os_str().is_empty() { Path::new(".") } else { own };
    here.canonicalize().ok().filter(|whole| is_maps(whole)).map(|_| own.join(".."))
}

/// The folders of a file beside a map. Other folders of a game are known only around one that is called `maps`.
fn folders(file: &Beside, map: &Path) -> Vec<PathBuf> {
    let own = map.parent().unwrap_or(Path::new(""));
    if let Some(below) = file.folder.strip_prefix("maps/") {
        return vec![own.join(below)];
    }
    let Some(game) = game_folder(map) else { return Vec::new() };
    let Some((before, after)) = file.folder.split_once("*/") else { return vec![game.join(file.folder)] };
    let entries = std::fs::read_dir(game.join(before)).into_iter().flatten().flatten();
    let mut folders: Vec<_> = entries.take(MOST_FOLDERS).map(|entry| entry.path().join(after)).collect();
    folders.sort_unstable();
    folders
}
