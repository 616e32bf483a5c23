//! What can be packed: files that a map needs, that neither it nor the game has, and that are found elsewhere.

use super::{Found, Needs, Options, find};
use crate::bsp::Bsp;
use crate::bytes::Data;
use crate::content::assets::Files;
use crate::error::Result;
use crate::file::names::path_hazard;

/// What a map needs once files from elsewhere are there too.
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

/// The game, and after it the files that can be packed.
struct Both<'f> {
    game: Option<&'f dyn Files>,
    from: &'f dyn Files,
}

impl Both<'_> {
    fn is_of_game(&self, name: &[u8]) -> bool {
        self.game.is_some_and(|game| game.has(name))
    }
}

impl Files for Both<'_> {
    /// What is not written to a disk is not taken from one either: a map can name any file.
    fn has(&self, name: &[u8]) -> bool {
        self.is_of_game(name) || (path_hazard(name).is_none() && self.from.has(name))
    }

    fn read(&self, name: &[u8], most: usize) -> Result<Option<Data<'_>>> {
        match self.game.filter(|game| game.has(name)) {
            Some(game) => game.read(name, most),
            None => self.from.read(name, most),
        }
    }
}

/// Finds the files that a map needs, that neither it nor the game of `options` has, and that `from` has.
///
/// # Errors
/// As [`find`].
///
/// ```
/// use bspkit::content::assets::PakFiles;
/// use bspkit::content::pak::Pak;
/// use bspkit::op::needs::{self, Options};
/// let map = bspkit::Bsp::open("tests/maps/source/room_v20.bsp")?;
/// let mut from = Pak::new(b"");
/// from.add("materials/own/wall.vtf", "pixels")?;
/// from.add("materials/own/other.vmt", "of no use")?;
/// let fill = needs::fill(&map, &Options::new("room_v20"), &PakFiles::new(&from))?;
/// let names: Vec<&[u8]> = fill.found.iter().map(|index| &fill.needs.files[*index].name[..]).collect();
/// assert_eq!(names, [b"materials/own/wall.vtf"]); // the material that names it is in the map
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn fill(map: &Bsp<'_>, options: &Options<'_>, from: &dyn Files) -> Result<Fill> {
    let both = Both { game: options.game, from };
    let needs = find(map, &options.with_game(&both))?;
    let of = |wanted: Found, is_asked: &dyn Fn(&[u8]) -> bool| -> Vec<usize> {
        let files = needs.files.iter().enumerate();
        files.filter(|(_, need)| need.found == wanted && is_asked(&need.name)).map(|(index, _)| index).collect()
    };
    let found = of(Found::Game, &|name| !both.is_of_game(name));
    let missing = of(Found::Nowhere, &|_| true);
    Ok(Fill { found, missing, needs })
}
