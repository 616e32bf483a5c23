//! The policy of a project as TOML: `bspkit.toml`. Its keys are those of [`Policy`]; docs/policy.md lists them, and
//! docs/schema/policy.schema.json is a JSON Schema of it for editors.
//!
//! ```
//! use bspkit_text::policy;
//! let policy = policy::read("bspkit.toml", "[entities]\nrequired = [\"info_player_start\"]\nmax_count = 100\n")?;
//! assert_eq!(policy.entities.max_count, Some(100));
//! let error = policy::read("bspkit.toml", "[entities]\nmax_cont = 100\n").unwrap_err();
//! assert_eq!(error.to_string(), "bspkit.toml:2:1: there is no key `max_cont` in [entities]: did you mean max_count?");
//! # Ok::<(), bspkit::Error>(())
//! ```

use bspkit::bytes::escaped;
use bspkit::content::select::Selector;
use bspkit::dialect::{self, ALL, Role};
use bspkit::near;
use bspkit::{Error, ErrorKind, Result};
use bspkit_ops::check::{self, Denied};
use bspkit_ops::policy::{Compressed, Glob, Policy};

use crate::defaults;
use crate::project::{self, Others, Problem, Section, Value, boolean, keys, list, number, put, some, string};

/// The keys of each section.
const SECTIONS: [Section<Policy>; 7] = [
    (
        "map",
        &[
            ("names", |policy, value| put(&mut policy.map.names, some(value, glob))),
            ("lower_case", |policy, value| put(&mut policy.map.lower_case, boolean(value))),
            ("dialects", |policy, value| put(&mut policy.map.dialects, some(value, dialect::by_name))),
            ("max_bytes", |policy, value| put(&mut policy.map.max_bytes, number(value, None))),
            ("no_stale_text", |policy, value| put(&mut policy.map.no_stale_text, boolean(value))),
        ],
    ),
    (
        "lumps",
        &[
            ("required", |policy, value| put(&mut policy.lumps.required, list(value, lump))),
            ("forbidden", |policy, value| put(&mut policy.lumps.forbidden, list(value, lump))),
            ("compression", |policy, value| put(&mut policy.lumps.compression, compression(value))),
        ],
    ),
    (
        "entities",
        &[
            ("required", |policy, value| put(&mut policy.entities.required, list(value, Selector::parse))),
            ("forbidden", |policy, value| put(&mut policy.entities.forbidden, list(value, Selector::parse))),
            ("required_keys", |policy, value| put(&mut policy.entities.required_keys, keys(value))),
            ("forbidden_keys", |policy, value| put(&mut policy.entities.forbidden_keys, keys(value))),
            ("max_count", |policy, value| put(&mut policy.entities.max_count, number(value, None))),
            ("max_bytes", |policy, value| put(&mut policy.entities.max_bytes, number(value, None))),
        ],
    ),
    (
        "files",
        &[
            ("required", |policy, value| put(&mut policy.files.required, list(value, glob))),
            ("forbidden", |policy, value| put(&mut policy.files.forbidden, list(value, glob))),
            ("allowed", |policy, value| put(&mut policy.files.allowed, some(value, glob))),
            ("lower_case", |policy, value| put(&mut policy.files.lower_case, boolean(value))),
            ("intact", |policy, value| put(&mut policy.files.intact, boolean(value))),
            ("max_count", |policy, value| put(&mut policy.files.max_count, number(value, None))),
            ("max_bytes", |policy, value| put(&mut policy.files.max_bytes, number(value, None))),
            ("compression", |policy, value| put(&mut policy.files.compression, compression(value))),
        ],
    ),
    (
        "textures",
        &[
            ("allowed", |policy, value| put(&mut policy.textures.allowed, some(value, glob))),
            ("forbidden", |policy, value| put(&mut policy.textures.forbidden, list(value, glob))),
        ],
    ),
    (
        "limits",
        &[
            ("engines", |policy, value| put(&mut policy.limits.engines, some(value, engine))),
            ("margin", |policy, value| put(&mut policy.limits.margin, number(value, Some(100)))),
        ],
    ),
    (
        "check",
        &[
            ("verify", |policy, value| put(&mut policy.check.verify, boolean(value))),
            ("allow", |policy, value| put(&mut policy.check.allow, list(value, check::code))),
            ("deny", |policy, value| put(&mut policy.check.deny, list(value, Denied::by_name))),
        ],
    ),
];

/// The names of all keys: `map.names`.
///
/// ```
/// assert!(bspkit_text::policy::keys_of_policies().any(|key| key == "entities.max_count"));
/// ```
pub fn keys_of_policies() -> impl Iterator<Item = String> {
    SECTIONS.iter().flat_map(|(section, keys)| keys.iter().map(move |(key, _)| format!("{section}.{key}")))
}

/// Reads a policy; `path` is the name of the file in messages.
///
/// # Errors
/// [`ErrorKind::Argument`] with everything that is wrong, each with its line and column.
pub fn read(path: &str, text: &str) -> Result<Policy> {
    project::read(path, text, &SECTIONS, Others::Named(&[defaults::SECTION]))
}

fn compression(value: &Value<'_>) -> Result<Option<Compressed>, Vec<Problem>> {
    let known = [("required", Compressed::Required), ("forbidden", Compressed::Forbidden)];
    let text = string(value)?;
    match known.into_iter().find(|(name, _)| *name == text) {
        Some((_, wanted)) => Ok(Some(wanted)),
        None => {
            let hint = near::or_all(text, &known.map(|(name, _)| name), "the values are");
            Err(vec![(value.span().start, format!("`{}` is not a value: {hint}", escaped(text.as_bytes())))])
        }
    }
}

fn glob(text: &str) -> Result<Glob> {
    Ok(Glob::new(text))
}

/// A lump of any dialect, a role, or an entry of BSPX or of the game lump, whose names are not known beforehand.
fn lump(name: &str) -> Result<String> {
    let lumps = ALL.iter().flat_map(|dialect| dialect.lumps).map(|lump| lump.name);
    let known: Vec<&str> = lumps.chain(Role::ALL.iter().map(|role| role.name())).collect();
    match known.iter().any(|known| known.eq_ignore_ascii_case(name)) || name.contains(':') {
        true => Ok(name.to_owned()),
        false => Err(unknown("lump", name, &known)),
    }
}

fn engine(name: &str) -> Result<String> {
    let known: Vec<&str> = ALL.iter().flat_map(|dialect| dialect.checks.engines).map(|engine| engine.name).collect();
    match known.iter().any(|known| known.eq_ignore_ascii_case(name)) {
        true => Ok(name.to_owned()),
        false => {
            let mut known = known;
            known.sort_unstable();
            known.dedup();
            let hint = near::or_all(name, &known, "the engines are");
            Err(Error::new(ErrorKind::Argument, format!("there is no engine `{}`: {hint}", escaped(name.as_bytes()))))
        }
    }
}

/// The error for an unknown name, with the names that are close to it.
fn unknown(what: &str, name: &str, known: &[&str]) -> Error {
    let message = format!("there is no {what} `{}`", escaped(name.as_bytes()));
    near::or_none(Error::new(ErrorKind::Argument, message), name.as_bytes(), known)
}
