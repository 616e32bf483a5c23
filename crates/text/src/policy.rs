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

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use bspkit::bytes::escaped;
use bspkit::content::select::Selector;
use bspkit::dialect::{self, ALL, Role};
use bspkit::near;
use bspkit::{Error, ErrorKind, Result};
use bspkit_ops::check::{self, Denied};
use bspkit_ops::policy::{Compressed, Glob, Policy};

type Value<'i> = Spanned<DeValue<'i>>;

/// Something wrong in the file: an offset in bytes, and a sentence.
type Problem = (usize, String);

/// Reads the value of a key into a policy, and gives everything that is wrong with it.
type Take = fn(&mut Policy, &Value<'_>) -> Result<(), Vec<Problem>>;

/// The keys of each section.
const SECTIONS: [(&str, &[(&str, Take)]); 7] = [
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
    let mut policy = Policy::default();
    let (table, errors) = DeTable::parse_recoverable(text);
    let syntax = errors.iter().map(|error| (error.span().map_or(0, |span| span.start), error.message().to_owned()));
    let mut problems: Vec<Problem> = syntax.collect();
    if problems.is_empty() {
        problems = fill(&mut policy, table.get_ref());
    }
    problems.sort();
    let mut said = problems.into_iter().map(|(at, message)| {
        let before = text.get(..at).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        let (line, column) = (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1);
        format!("{path}:{line}:{column}: {message}")
    });
    let Some(first) = said.next() else { return Ok(policy) };
    Err(Error::new(ErrorKind::Argument, first).with_list(said))
}

fn fill(policy: &mut Policy, table: &DeTable<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (section, value) in table {
        let Some((name, keys)) = SECTIONS.iter().find(|(name, _)| *name == section.get_ref()) else {
            problems.push((section.span().start, no_section(section.get_ref())));
            continue;
        };
        let Some(table) = value.get_ref().as_table() else {
            problems.push((value.span().start, format!("[{name}] is a table of keys")));
            continue;
        };
        for (key, value) in table {
            match keys.iter().find(|(name, _)| *name == key.get_ref()) {
                Some((_, take)) => problems.extend(take(policy, value).err().into_iter().flatten()),
                None => {
                    let known: Vec<&str> = keys.iter().map(|(name, _)| *name).collect();
                    let hint = near::or_all(key.get_ref(), &known, "the keys are");
                    let message =
                        format!("there is no key `{}` in [{name}]: {hint}", escaped(key.get_ref().as_bytes()));
                    problems.push((key.span().start, message));
                }
            }
        }
    }
    problems
}

/// The sentence for an unknown section, or for a key outside of its section.
fn no_section(name: &str) -> String {
    let has_key = |(_, keys): &&(&str, &[(&str, Take)])| keys.iter().any(|(key, _)| *key == name);
    let homes: Vec<String> = SECTIONS.iter().filter(has_key).map(|(section, _)| format!("[{section}]")).collect();
    if !homes.is_empty() {
        return format!("`{name}` is outside of a section: write it below {}", homes.join(" or "));
    }
    let hint = near::or_all(name, &SECTIONS.map(|(name, _)| name), "the sections are");
    format!("there is no section [{}]: {hint}", escaped(name.as_bytes()))
}

fn put<T>(place: &mut T, value: Result<T, Vec<Problem>>) -> Result<(), Vec<Problem>> {
    *place = value?;
    Ok(())
}

fn wrong<T>(value: &Value<'_>, needed: &str) -> Result<T, Vec<Problem>> {
    let kind = value.get_ref().type_str();
    let article = if kind.starts_with(['a', 'i']) { "an" } else { "a" };
    let message = format!("{needed} is needed here, not {article} {kind}");
    Err(vec![(value.span().start, message)])
}

fn boolean(value: &Value<'_>) -> Result<bool, Vec<Problem>> {
    value.get_ref().as_bool().map_or_else(|| wrong(value, "true or false"), Ok)
}

/// A number of 0 or more, up to a limit.
fn number(value: &Value<'_>, most: Option<usize>) -> Result<Option<usize>, Vec<Problem>> {
    let Some(number) = value.get_ref().as_integer() else { return wrong(value, "a number") };
    let number = usize::from_str_radix(number.as_str(), number.radix()).ok();
    match number.filter(|number| most.is_none_or(|most| *number <= most)) {
        Some(number) => Ok(Some(number)),
        None => {
            let most = most.map_or_else(|| "or more".to_owned(), |most| format!("to {most}"));
            Err(vec![(value.span().start, format!("a number of 0 {most} is needed here"))])
        }
    }
}

/// A list of strings, each of which is read.
fn list<T>(value: &Value<'_>, read: impl Fn(&str) -> Result<T>) -> Result<Vec<T>, Vec<Problem>> {
    let Some(items) = value.get_ref().as_array() else { return wrong(value, "a list of strings") };
    let (mut all, mut problems) = (Vec::new(), Vec::new());
    for item in items {
        match string(item).and_then(|text| read(text).map_err(|error| vec![(item.span().start, sentence(&error))])) {
            Ok(one) => all.push(one),
            Err(mut more) => problems.append(&mut more),
        }
    }
    if problems.is_empty() { Ok(all) } else { Err(problems) }
}

/// A list that says what is allowed. An empty one could mean nothing, or all.
fn some<T>(value: &Value<'_>, read: impl Fn(&str) -> Result<T>) -> Result<Vec<T>, Vec<Problem>> {
    match list(value, read) {
        Ok(all) if all.is_empty() => Err(vec![(
            value.span().start,
            "an empty list is no rule: name what is allowed, or remove the key".to_owned(),
        )]),
        read => read,
    }
}

fn string<'v>(value: &'v Value<'_>) -> Result<&'v str, Vec<Problem>> {
    value.get_ref().as_str().map_or_else(|| wrong(value, "a string"), Ok)
}

/// A table of selectors, each with a list of keys.
fn keys(value: &Value<'_>) -> Result<Vec<(Selector, Vec<String>)>, Vec<Problem>> {
    let Some(table) = value.get_ref().as_table() else { return wrong(value, "a table of selectors") };
    let (mut all, mut problems) = (Vec::new(), Vec::new());
    for (text, value) in table {
        let selector = Selector::parse(text.get_ref()).map_err(|error| vec![(text.span().start, sentence(&error))]);
        match (selector, list(value, |key| Ok(key.to_owned()))) {
            (Ok(selector), Ok(keys)) => all.push((selector, keys)),
            (selector, keys) => problems.extend([selector.err(), keys.err()].into_iter().flatten().flatten()),
        }
    }
    if problems.is_empty() { Ok(all) } else { Err(problems) }
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

/// A longer hint lists everything that is known, which says little about one name.
const LONGEST_HINT: usize = 200;

/// An error in one line.
fn sentence(error: &Error) -> String {
    let hint = error.hint().map(ToString::to_string).unwrap_or_default();
    match hint.lines().next().filter(|_| hint.len() <= LONGEST_HINT && !hint.contains('\n')) {
        Some(hint) => format!("{error}: {hint}"),
        None => error.to_string(),
    }
}
