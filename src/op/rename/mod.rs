//! A new name for a map: the paths that engines, compilers and materials put together from the old one change wherever
//! they are, and nothing else does.
//!
//! A path is the map's own if it has a part `maps` and the name of the map after it (`maps/NAME/…`), or if engines look
//! for a file under it by the name of the map ([`FILES`]). Such paths change as names of embedded files, in the texts
//! of materials and scripts, as names of textures and models, and in values of entities. Keys that name a map (`map`,
//! `nextmap`) change too. Everything else that has the name is listed and stays ([`Renamed::left`]).
//!
//! Renaming back gives all lumps their old bytes, unless [`Renamed::respelled`] or [`Renamed::problems`] says
//! otherwise; a compressed file is compressed again by this library, which other programs may do in other bytes.
//!
//! ```
//! use bspkit::op::rename::{self, Renamed, Rename};
//! use bspkit::{Bsp, Layout};
//! let map = Bsp::open("tests/maps/source/room_v20.bsp")?;
//! let mut draft = map.draft();
//! let renamed: Renamed = Rename::new("room_v20", "own_arena")?.apply(&mut draft)?;
//! assert_eq!(renamed.summary(), "2 files, 1 path in texts, 1 texture name");
//!
//! let saved = Bsp::from_vec(draft.plan(Layout::Keep)?.to_vec())?;
//! assert!(saved.texture_names()?.iter().any(|name| name.name == b"maps/own_arena/own/wall_0_0_0"));
//! assert_eq!(rename::owners(&saved)?[0].name, b"own_arena");
//! # Ok::<(), bspkit::Error>(())
//! ```

mod entities;
pub(in crate::op) mod files;
pub(in crate::op) mod names;
mod owners;
mod pak;
mod report;
mod text;

use std::collections::HashMap;

use crate::bytes::escaped;
use crate::content::texture_names::Renaming;
use crate::draft::Draft;
use crate::error::{Error, ErrorKind, Hint, Result};
pub use files::FILES;
use names::{Names, Scope};
pub use owners::owners;
pub use report::{Change, Left, Owner, Renamed, Spot};

/// A renaming of a map.
///
/// ```
/// use bspkit::op::rename::Rename;
/// let rename = Rename::new("dm4", "arena")?;
/// assert_eq!(rename.file("maps/dm4.nav"), Some(b"maps/arena.nav".to_vec()));
/// assert_eq!(rename.file("maps/dm4b.nav"), None);
/// assert!(Rename::new("dm4", "two words").is_err());
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Rename {
    names: Names,
    merges: bool,
}

impl Rename {
    /// A renaming from one name to another, without folder and extension. Where the old name is written in lower case,
    /// the new one is too; elsewhere it is written as it is given here.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] for a new name that no engine could load a map by, and for an old one that no path has.
    pub fn new(old: impl AsRef<[u8]>, new: impl AsRef<[u8]>) -> Result<Self> {
        Ok(Rename { names: Names::new(old.as_ref(), new.as_ref())?, merges: false })
    }

    /// Renames only the files of cube maps, and the paths in materials that name them.
    #[must_use]
    pub fn only_cubemaps(mut self) -> Self {
        self.names.scope = Scope::Cubemaps;
        self
    }

    /// Allows that the map has paths with the new name already. Renaming back would change those too.
    #[must_use]
    pub fn merging(mut self, merges: bool) -> Self {
        self.merges = merges;
        self
    }

    /// The new path of a file that belongs to the map; `None` if it does not.
    pub fn file(&self, path: impl AsRef<[u8]>) -> Option<Vec<u8>> {
        let ranges = self.names.in_file(path.as_ref());
        (!ranges.is_empty()).then(|| self.names.replaced(path.as_ref(), &ranges))
    }

    /// Renames the map. After an error the draft is as it was.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] if a new path is too long or in use, if the map has paths with the new name already, and
    /// for an edit that the pakfile or the entity text refuses.
    pub fn apply(&self, draft: &mut Draft<'_>) -> Result<Renamed> {
        let mut report = self.report();
        draft.transaction(|draft| {
            run(draft, &self.names, &mut report)?;
            if self.merges { Ok(()) } else { self.refuse_mixture(draft, &report) }
        })?;
        report.others = owners(draft.bsp())?;
        report.others.retain(|owner| !self.names.is_old(&owner.name));
        Ok(report)
    }

    /// Changes the values of entities by which another map leads to this one.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] for a value that engines could not read back.
    pub fn apply_to_other(&self, draft: &mut Draft<'_>) -> Result<Renamed> {
        let mut report = self.report();
        draft.transaction(|draft| entities::rename_levels(draft, &self.names, &mut report))?;
        Ok(report)
    }

    fn report(&self) -> Renamed {
        Renamed { old: self.names.old.clone(), new: self.names.new.clone(), ..Renamed::default() }
    }

    /// Refuses a map that had paths with the new name before: nothing would part them from those of the old name. They
    /// are what renaming back would change besides.
    fn refuse_mixture(&self, draft: &mut Draft<'_>, done: &Renamed) -> Result<()> {
        let mut back = Renamed::default();
        run(draft, &self.names.back(), &mut back)?;
        // Without regard to case, since renaming back may write other letters.
        let key = |from: &[u8], to: &[u8]| [from, to].map(<[u8]>::to_ascii_lowercase);
        let mut ours: HashMap<_, usize> = HashMap::new();
        done.changes.iter().for_each(|change| *ours.entry(key(&change.from, &change.to)).or_default() += 1);
        let is_other = |change: &&Change| match ours.get_mut(&key(&change.to, &change.from)) {
            Some(count @ 1..) => {
                *count -= 1;
                false
            }
            _ => true,
        };
        let others: Vec<&Change> = back.changes.iter().filter(is_other).collect();
        let Some(first) = others.first() else { return Ok(()) };
        let name = escaped(&self.names.new);
        let places = if others.len() == 1 { "1 place".to_owned() } else { format!("{} places", others.len()) };
        let from = escaped(&first.from);
        let message = format!("the map has the name `{name}` in {places} already: {}: {from}", first.place);
        let hint = format!("give `{name}` another name first");
        Err(Error::new(ErrorKind::Refused, message).with_hint(Hint::OrForce(hint)))
    }
}

fn run(draft: &mut Draft<'_>, names: &Names, report: &mut Renamed) -> Result<()> {
    let moved = pak::rename(draft, names, report)?;
    if names.scope == Scope::Cubemaps {
        return Ok(());
    }
    rename_textures(draft, names, report)?;
    rename_models(draft, names, report)?;
    entities::rename(draft, names, &moved, report)
}

/// What is `None` where the map has no such content.
fn there<T>(opened: Result<T>) -> Result<Option<T>> {
    match opened {
        Ok(opened) => Ok(Some(opened)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn rename_textures(draft: &mut Draft<'_>, names: &Names, report: &mut Renamed) -> Result<()> {
    let Some(textures) = there(draft.texture_names())? else { return Ok(()) };
    for name in textures.iter() {
        let ranges = names.in_folders(&name.name);
        if !ranges.is_empty() {
            report.count(names, &name.name, &ranges);
            let place = Spot::Texture { lump: name.lump, index: name.index };
            report.change(place, &name.name, names.replaced(&name.name, &ranges));
        } else if let Some(word) = names.words(&name.name).first() {
            report.leave(Spot::Texture { lump: name.lump, index: name.index }, &name.name, word.start);
        }
    }
    if !names.writes {
        return Ok(());
    }
    let own = names.clone();
    let renaming = Renaming::by(move |name| {
        let ranges = own.in_folders(name);
        (!ranges.is_empty()).then(|| own.replaced(name, &ranges))
    });
    let renamed = textures.rename(&renaming)?;
    report.problems.extend(renamed.left);
    Ok(())
}

/// Renames models in the lists of props. A list that cannot be read stays.
fn rename_models(draft: &mut Draft<'_>, names: &Names, report: &mut Renamed) -> Result<()> {
    macro_rules! rename {
        ($lens:ident, $lump:literal) => {
            if let Ok(props) = draft.$lens() {
                let models: Vec<Vec<u8>> = props.names().map(<[u8]>::to_vec).collect();
                for (index, model) in models.into_iter().enumerate() {
                    let ranges = names.in_folders(&model);
                    if !ranges.is_empty() {
                        let new = names.replaced(&model, &ranges);
                        if names.writes {
                            props.set_name(index, &new)?;
                        }
                        report.count(names, &model, &ranges);
                        report.change(Spot::Model { lump: $lump, index }, &model, new);
                    }
                }
            }
        };
    }
    rename!(static_props, "game:sprp");
    rename!(detail_props, "game:dprp");
    Ok(())
}
