//! What can be packed: files that a map needs, that neither it nor the game has, and that are found elsewhere.

use super::{Found, Needs, Options, find};
use crate::bsp::Bsp;
use crate::bytes::Data;
use crate::content::assets::Files;
use crate::content::pak::Pak;
use crate::content::pattern::Pattern;
use crate::error::Result;
use crate::file::names::path_hazard;

/// What a map needs once files from elsewhere are there too.
///
/// ```
/// use bspkit::content::assets::PakFiles;
/// use bspkit::content::pak::Pak;
/// use bspkit::op::needs::{self, Choice, Options};
/// let mut draft = bspkit::Bsp::open("tests/maps/source/room_v20.bsp")?.draft();
/// let mut from = Pak::new(b"");
/// from.add("materials/own/wall.vtf", "pixels")?;
/// let from = PakFiles::new(&from);
/// let fill = needs::fill(draft.bsp(), &Options::new("room_v20"), &from, &Choice::default())?;
/// assert_eq!(fill.embed(draft.pak()?, &from)?, [(fill.found[0], 6)]);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Fill {
    /// All files that the map refers to. Those of `from` were followed: their references are here as well.
    pub needs: Needs,
    /// The indices of the files that can be packed.
    pub found: Vec<usize>,
    /// The indices of those that are nowhere.
    pub missing: Vec<usize>,
}

impl Fill {
    /// A larger file is not embedded. No engine reads a pakfile of 2 GiB.
    const MOST_BYTES: usize = 1 << 30;

    /// Embeds the files that were found in `from`. The result has their indices in `needs`, and their sizes in bytes. A
    /// file of which only the name is known is left out.
    ///
    /// # Errors
    /// As [`Files::read`] and [`Pak::add`]; the files before are embedded then.
    pub fn embed(&self, pak: &mut Pak<'_>, from: &dyn Files) -> Result<Vec<(usize, usize)>> {
        let mut embedded = Vec::new();
        for index in &self.found {
            let name = &self.needs.files[*index].name;
            let Some(data) = from.read(name, Self::MOST_BYTES)? else { continue };
            embedded.push((*index, data.len()));
            pak.add(name, Data::from(data.to_vec()))?;
        }
        Ok(embedded)
    }
}

/// Which files may be packed.
///
/// ```
/// use bspkit::content::pattern::Pattern;
/// use bspkit::op::needs::Choice;
/// let choice = Choice { exclude: vec![Pattern::new("*.wav")], ..Choice::default() };
/// # assert!(choice.only.is_empty());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// These alone, if there is one.
    pub only: Vec<Pattern>,
    /// Not these, nor what only they refer to. They are not missing.
    pub exclude: Vec<Pattern>,
}

impl Choice {
    fn is_excluded(&self, name: &[u8]) -> bool {
        self.exclude.iter().any(|pattern| pattern.matches(name))
    }

    fn is_asked_for(&self, name: &[u8]) -> bool {
        self.only.is_empty() || self.only.iter().any(|pattern| pattern.matches(name))
    }
}

/// The game, and after it the files that can be packed.
struct Both<'f> {
    game: Option<&'f dyn Files>,
    from: &'f dyn Files,
    choice: &'f Choice,
}

impl Both<'_> {
    fn is_of_game(&self, name: &[u8]) -> bool {
        self.game.is_some_and(|game| game.has(name))
    }

    /// What is not written to a disk is not taken from one either: a map can name any file.
    fn may_be_packed(&self, name: &[u8]) -> bool {
        path_hazard(name).is_none() && !self.choice.is_excluded(name)
    }
}

impl Files for Both<'_> {
    fn has(&self, name: &[u8]) -> bool {
        self.is_of_game(name) || (self.may_be_packed(name) && self.from.has(name))
    }

    fn read(&self, name: &[u8], most: usize) -> Result<Option<Data<'_>>> {
        match self.game.filter(|game| game.has(name)) {
            Some(game) => game.read(name, most),
            None if self.may_be_packed(name) => self.from.read(name, most),
            None => Ok(None),
        }
    }
}

/// Finds the files that a map needs, that `choice` allows, that neither it nor the game of `options` has, and that
/// `from` has.
///
/// # Errors
/// As [`find`].
///
/// ```
/// use bspkit::content::assets::PakFiles;
/// use bspkit::content::pak::Pak;
/// use bspkit::op::needs::{self, Choice, Options};
/// let map = bspkit::Bsp::open("tests/maps/source/room_v20.bsp")?;
/// let mut from = Pak::new(b"");
/// from.add("materials/own/wall.vtf", "pixels")?;
/// from.add("materials/own/other.vmt", "of no use")?;
/// let fill = needs::fill(&map, &Options::new("room_v20"), &PakFiles::new(&from), &Choice::default())?;
/// let names: Vec<&[u8]> = fill.found.iter().map(|index| &fill.needs.files[*index].name[..]).collect();
/// assert_eq!(names, [b"materials/own/wall.vtf"]); // the material that names it is in the map
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn fill(map: &Bsp<'_>, options: &Options<'_>, from: &dyn Files, choice: &Choice) -> Result<Fill> {
    let both = Both { game: options.game, from, choice };
    let needs = find(map, &options.with_game(&both))?;
    let of = |wanted: Found, is_asked: &dyn Fn(&[u8]) -> bool| -> Vec<usize> {
        let files = needs.files.iter().enumerate();
        files.filter(|(_, need)| need.found == wanted && is_asked(&need.name)).map(|(index, _)| index).collect()
    };
    let found = of(Found::Game, &|name| !both.is_of_game(name) && choice.is_asked_for(name));
    let missing = of(Found::Nowhere, &|name| !choice.is_excluded(name));
    Ok(Fill { found, missing, needs })
}
