//! The file of a project, `bspkit.toml`: sections with keys, each of which a table reads. [`crate::policy`] and
//! [`crate::defaults`] have the tables.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use bspkit::bytes::escaped;
use bspkit::content::select::Selector;
use bspkit::near;
use bspkit::{Error, ErrorKind, Result};

pub(crate) type Value<'i> = Spanned<DeValue<'i>>;

/// Something wrong in the file: an offset in bytes, and a sentence.
pub(crate) type Problem = (usize, String);

/// Reads the value of a key, and gives everything that is wrong with it.
pub(crate) type Take<T> = fn(&mut T, &Value<'_>) -> Result<(), Vec<Problem>>;

/// A section and its keys.
pub(crate) type Section<T> = (&'static str, &'static [(&'static str, Take<T>)]);

/// The sections of the file that another table reads.
#[derive(Clone, Copy)]
pub(crate) enum Others {
    /// Sections with these names.
    Named(&'static [&'static str]),
    /// Sections with any other name.
    All,
}

/// Reads the sections of a table; `path` is the name of the file in messages.
///
/// # Errors
/// [`ErrorKind::Argument`] with everything that is wrong, each with its line and column.
pub(crate) fn read<T: Default>(path: &str, text: &str, sections: &[Section<T>], others: Others) -> Result<T> {
    let mut target = T::default();
    let (table, errors) = DeTable::parse_recoverable(text);
    let syntax = errors.iter().map(|error| (error.span().map_or(0, |span| span.start), error.message().to_owned()));
    let mut problems: Vec<Problem> = syntax.collect();
    if problems.is_empty() {
        problems = fill(&mut target, table.get_ref(), sections, others);
    }
    problems.sort();
    // Where the last problem is: a long text has many.
    let (mut last, mut line, mut column) = (0, 1, 1);
    let mut said = problems.into_iter().map(|(at, message)| {
        let between = text.get(last..at).unwrap_or_default();
        last += between.len();
        match between.rfind('\n') {
            None => column += between.chars().count(),
            Some(end) => {
                line += between.matches('\n').count();
                column = between[end + 1..].chars().count() + 1;
            }
        }
        format!("{path}:{line}:{column}: {message}")
    });
    let Some(first) = said.next() else { return Ok(target) };
    Err(Error::new(ErrorKind::Argument, first).with_list(said))
}

fn fill<T>(target: &mut T, table: &DeTable<'_>, sections: &[Section<T>], others: Others) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (section, value) in table {
        let name = section.get_ref();
        let Some((name, keys)) = sections.iter().find(|(own, _)| own == name) else {
            let message = no_section(name, value.get_ref().is_table(), sections, others);
            problems.extend(message.map(|message| (section.span().start, message)));
            continue;
        };
        let Some(table) = value.get_ref().as_table() else {
            problems.push((value.span().start, format!("[{name}] is a table of keys")));
            continue;
        };
        for (key, value) in table {
            match keys.iter().find(|(name, _)| *name == key.get_ref()) {
                Some((_, take)) => problems.extend(take(target, value).err().into_iter().flatten()),
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

/// The sentence for an unknown section, or for a key outside of its section; none for what another table may have.
fn no_section<T>(name: &str, is_table: bool, sections: &[Section<T>], others: Others) -> Option<String> {
    if matches!(others, Others::Named(names) if is_table && names.contains(&name)) {
        return None;
    }
    let has_key = |(_, keys): &&Section<T>| keys.iter().any(|(key, _)| *key == name);
    let homes: Vec<String> = sections.iter().filter(has_key).map(|(section, _)| format!("[{section}]")).collect();
    if !homes.is_empty() {
        return Some(format!("`{name}` is outside of a section: write it below {}", homes.join(" or ")));
    }
    let section = escaped(name.as_bytes());
    let own = sections.iter().map(|(name, _)| *name);
    match others {
        Others::Named(others) => {
            let known: Vec<&str> = own.chain(others.iter().copied()).collect();
            Some(format!("there is no section [{section}]: {}", near::or_all(name, &known, "the sections are")))
        }
        // A typing error would be silent: no other table looks for this name.
        Others::All => {
            let close = near::near(name, own);
            close.first().map(|own| format!("there is no section [{section}]: did you mean {own}?"))
        }
    }
}

pub(crate) fn put<T>(place: &mut T, value: Result<T, Vec<Problem>>) -> Result<(), Vec<Problem>> {
    *place = value?;
    Ok(())
}

fn wrong<T>(value: &Value<'_>, needed: &str) -> Result<T, Vec<Problem>> {
    let kind = value.get_ref().type_str();
    let article = if kind.starts_with(['a', 'i']) { "an" } else { "a" };
    let message = format!("{needed} is needed here, not {article} {kind}");
    Err(vec![(value.span().start, message)])
}

pub(crate) fn boolean(value: &Value<'_>) -> Result<bool, Vec<Problem>> {
    value.get_ref().as_bool().map_or_else(|| wrong(value, "true or false"), Ok)
}

/// A number of 0 or more, up to a limit.
pub(crate) fn number(value: &Value<'_>, most: Option<usize>) -> Result<Option<usize>, Vec<Problem>> {
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
pub(crate) fn list<T>(value: &Value<'_>, read: impl Fn(&str) -> Result<T>) -> Result<Vec<T>, Vec<Problem>> {
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
pub(crate) fn some<T>(value: &Value<'_>, read: impl Fn(&str) -> Result<T>) -> Result<Vec<T>, Vec<Problem>> {
    match list(value, read) {
        Ok(all) if all.is_empty() => Err(vec![(
            value.span().start,
            "an empty list is no rule: name what is allowed, or remove the key".to_owned(),
        )]),
        read => read,
    }
}

pub(crate) fn string<'v>(value: &'v Value<'_>) -> Result<&'v str, Vec<Problem>> {
    value.get_ref().as_str().map_or_else(|| wrong(value, "a string"), Ok)
}

/// A table of selectors, each with a list of keys.
pub(crate) fn keys(value: &Value<'_>) -> Result<Vec<(Selector, Vec<String>)>, Vec<Problem>> {
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

/// A longer hint lists everything that is known, which says little about one name.
const LONGEST_HINT: usize = 200;

/// An error in one line.
pub(crate) fn sentence(error: &Error) -> String {
    let hint = error.hint().map(ToString::to_string).unwrap_or_default();
    match hint.lines().next().filter(|_| hint.len() <= LONGEST_HINT && !hint.contains('\n')) {
        Some(hint) => format!("{error}: {hint}"),
        None => error.to_string(),
    }
}
