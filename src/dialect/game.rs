//! Games of a dialect that differ only in the names of flags.

use super::Dialect;
use crate::error::{Error, ErrorKind, Result};
use crate::near;
use crate::record::FlagNames;

/// A game with its names for flags.
///
/// ```
/// use bspkit::dialect::QUAKE2;
/// assert_eq!(QUAKE2.game(38).name, "quake2");
/// assert_eq!(QUAKE2.game_by_name("kingpin")?.title, "Kingpin");
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Game {
    /// The short name: lower case, no spaces.
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// The map versions of this game; if empty, all versions of the dialect.
    pub versions: &'static [i32],
    /// Its names for the bits of flags.
    pub flags: FlagNames,
}

/// Used if a dialect has no games.
const NAMELESS: Game = Game { name: "", title: "", versions: &[], flags: &[] };

impl Dialect {
    /// The game for a map of this version if the user names none.
    pub fn game(&self, version: i32) -> &'static Game {
        let is_its = |game: &&Game| game.versions.is_empty() || game.versions.contains(&version);
        self.games.iter().find(is_its).or(self.games.first()).unwrap_or(&NAMELESS)
    }

    /// The game of this name.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] with the names there are.
    pub fn game_by_name(&self, name: &str) -> Result<&'static Game> {
        self.games.iter().find(|game| game.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
            let names: Vec<_> = self.games.iter().map(|game| game.name).collect();
            Error::new(ErrorKind::Argument, format!("{} has no game {name}", self.title))
                .with_hint(near::or_all(name, &names, "it has"))
        })
    }
}
