//! What a project says always: the section `[defaults]` of its file `bspkit.toml`, which gives options of commands the
//! values that they have if the command line does not name them.
//!
//! The file may come from anywhere, as with a repository that was fetched. So it has only keys that can do no harm:
//! none of them chooses what is written or run, and no path leads out of the folder of the file.
//!
//! ```
//! use bspkit_text::defaults;
//! let found = defaults::read("bspkit.toml", "[defaults]\nlayout = \"append\"\ngame = \"game\"\n")?;
//! let values: Vec<_> = found.values.iter().map(|(key, values)| (key.name, &values[0][..])).collect();
//! assert_eq!(values, [("game", "game"), ("layout", "append")]);
//! let error = defaults::read("bspkit.toml", "[defaults]\ngame = \"../game\"\n").unwrap_err();
//! assert!(error.to_string().contains("leads out of the folder"));
//! # Ok::<(), bspkit::Error>(())
//! ```

use std::path::{Component, Path};

use bspkit::bytes::escaped;
use bspkit::{Error, ErrorKind, Result, dialect, near};

use crate::project::{self, Others, Problem, Section, Value, list, string};

/// The name of the section.
pub(crate) const SECTION: &str = "defaults";

/// The options that have a default.
///
/// ```
/// let none = bspkit_text::defaults::read("bspkit.toml", "")?;
/// assert!(none.values.is_empty());
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Defaults {
    /// The keys of the file, by name, and their values. Paths are relative to the folder of the file.
    pub values: Vec<(Key, Vec<String>)>,
}

/// A key of the section, which is also the name of an option.
///
/// ```
/// use bspkit_text::defaults::KEYS;
/// assert!(KEYS.iter().any(|key| key.name == "game" && key.is_path));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The name, without dashes.
    pub name: &'static str,
    /// Whether the values are paths.
    pub is_path: bool,
}

impl Key {
    const fn word(name: &'static str) -> Self {
        Key { name, is_path: false }
    }

    const fn path(name: &'static str) -> Self {
        Key { name, is_path: true }
    }
}

const COLOR: Key = Key::word("color");
const DIALECT: Key = Key::word("dialect");
const LAYOUT: Key = Key::word("layout");
const GAME: Key = Key::path("game");
const VPK: Key = Key::path("vpk");
const STOCK: Key = Key::path("stock");
const FGD: Key = Key::path("fgd");
const RULES: Key = Key::path("rules");

/// All keys.
pub const KEYS: [Key; 8] = [COLOR, DIALECT, LAYOUT, GAME, VPK, STOCK, FGD, RULES];

const SECTIONS: [Section<Defaults>; 1] = [(
    SECTION,
    &[
        (COLOR.name, |found, value| found.one(COLOR, value, |word| one_of(word, &["auto", "always", "never"]))),
        (DIALECT.name, |found, value| found.one(DIALECT, value, |word| dialect::by_name(word).map(drop))),
        (LAYOUT.name, |found, value| found.one(LAYOUT, value, |word| one_of(word, &["keep", "append", "repack"]))),
        (GAME.name, |found, value| found.paths(GAME, value)),
        (VPK.name, |found, value| found.paths(VPK, value)),
        (STOCK.name, |found, value| found.paths(STOCK, value)),
        (FGD.name, |found, value| found.one(FGD, value, inner)),
        (RULES.name, |found, value| found.one(RULES, value, inner)),
    ],
)];

/// Reads the section of a file; `path` is the name of the file in messages. Other sections are not looked at.
///
/// # Errors
/// [`ErrorKind::Argument`] with everything that is wrong, each with its line and column: the file is not TOML, a key or
/// a value is not known, a path leads out of the folder.
pub fn read(path: &str, text: &str) -> Result<Defaults> {
    project::read(path, text, &SECTIONS, Others::All)
}

impl Defaults {
    fn one(&mut self, key: Key, value: &Value<'_>, check: fn(&str) -> Result<()>) -> Result<(), Vec<Problem>> {
        let word = string(value)?;
        check(word).map_err(|error| vec![(value.span().start, project::sentence(&error))])?;
        self.values.push((key, vec![word.to_owned()]));
        Ok(())
    }

    /// One path, or a list of paths.
    fn paths(&mut self, key: Key, value: &Value<'_>) -> Result<(), Vec<Problem>> {
        if value.get_ref().is_str() {
            return self.one(key, value, inner);
        }
        let paths = list(value, |path| inner(path).map(|()| path.to_owned()))?;
        self.values.push((key, paths));
        Ok(())
    }
}

fn one_of(word: &str, known: &[&str]) -> Result<()> {
    if known.contains(&word) {
        return Ok(());
    }
    let hint = near::or_all(word, known, "the values are");
    Err(Error::new(ErrorKind::Argument, format!("`{}` is not a value: {hint}", escaped(word.as_bytes()))))
}

/// Refuses a path that is not in the folder of the file.
fn inner(path: &str) -> Result<()> {
    let is_inner = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    // Of paths of Windows, on any system: a drive, a share, a folder above.
    let is_windows = path.contains(':') || path.starts_with('\\') || path.split('\\').any(|part| part == "..");
    if !path.is_empty() && Path::new(path).components().all(is_inner) && !is_windows {
        return Ok(());
    }
    let message =
        format!("`{}` leads out of the folder of this file: name it on the command line", escaped(path.as_bytes()));
    Err(Error::new(ErrorKind::Argument, message))
}
