//! What a project says always: the section `[defaults]` of its file `bspkit.toml`, which gives options of commands the
//! values that they have if the command line does not name them.
//!
//! The file may come from anywhere, as with a repository that was fetched. So it has only keys that can do no harm:
//! none of them chooses what is written or run, and no path leads out of the folder of the file.
//!
//! ```
//! use bspkit_text::defaults;
//! let found = defaults::read("bspkit.toml", "[defaults]\nlayout = \"append\"\ngame = \"game\"\n")?;
//! assert_eq!(found.values, [("layout", vec!["append".to_owned()]), ("game", vec!["game".to_owned()])]);
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
    /// Names of options without dashes, as in [`KEYS`], in the order of the file; and their values. Paths are relative
    /// to the folder of the file.
    pub values: Vec<(&'static str, Vec<String>)>,
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

/// All keys.
pub const KEYS: [Key; 8] = [
    Key { name: "color", is_path: false },
    Key { name: "dialect", is_path: false },
    Key { name: "layout", is_path: false },
    Key { name: "game", is_path: true },
    Key { name: "vpk", is_path: true },
    Key { name: "stock", is_path: true },
    Key { name: "fgd", is_path: true },
    Key { name: "rules", is_path: true },
];

const SECTIONS: [Section<Defaults>; 1] = [(
    SECTION,
    &[
        ("color", |found, value| found.word("color", value, |word| one_of(word, &["auto", "always", "never"]))),
        ("dialect", |found, value| found.word("dialect", value, |word| dialect::by_name(word).map(drop))),
        ("layout", |found, value| found.word("layout", value, |word| one_of(word, &["keep", "append", "repack"]))),
        ("game", |found, value| found.paths("game", value)),
        ("vpk", |found, value| found.paths("vpk", value)),
        ("stock", |found, value| found.paths("stock", value)),
        ("fgd", |found, value| found.word("fgd", value, inner)),
        ("rules", |found, value| found.word("rules", value, inner)),
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
    fn word(
        &mut self,
        key: &'static str,
        value: &Value<'_>,
        check: fn(&str) -> Result<()>,
    ) -> Result<(), Vec<Problem>> {
        let word = string(value)?;
        check(word).map_err(|error| vec![(value.span().start, project::sentence(&error))])?;
        self.values.push((key, vec![word.to_owned()]));
        Ok(())
    }

    /// One path, or a list of paths.
    fn paths(&mut self, key: &'static str, value: &Value<'_>) -> Result<(), Vec<Problem>> {
        if value.get_ref().is_str() {
            return self.word(key, value, inner);
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
