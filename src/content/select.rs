//! Selectors: which entities an edit is about.

use pest::Parser;
use pest::error::InputLocation;
use pest::iterators::Pair;

use crate::bytes::unescape;
use crate::content::entities::Entity;
use crate::{Error, ErrorKind, Result};

#[allow(missing_docs, unreachable_pub)]
mod grammar {
    #[derive(pest_derive::Parser)]
    #[grammar = "../grammar/select.pest"]
    pub(super) struct Grammar;
}

use grammar::{Grammar, Rule};

/// A choice of entities: a class, an index, and tests of keys.
///
/// | selector | entities |
/// |---|---|
/// | `light` | of this class; case does not matter |
/// | `info_player_*` | of classes like this: `*` is any run of bytes, `?` is one |
/// | `*` | all of them |
/// | `#17` | the one of this index |
/// | `[targetname]` | that have this key; case does not matter |
/// | `[style=32]` | where the key has this value, byte for byte |
/// | `[target^=door_]` | where the value begins so |
/// | `[target$=_1]` | where the value ends so |
/// | `[target*=oor]` | where the value contains this |
///
/// Tests may follow a class, an index or another test, and all have to hold. Where an entity has a key several
/// times, one of its values has to pass. A value goes up to the `]`, or is in quotes; `\xNN`, `\n` and `\\` are
/// escapes, as in [`unescape`].
///
/// ```
/// use bspkit::content::entities::Entities;
/// use bspkit::content::select::Selector;
/// use bspkit::dialect::EntityRules;
///
/// let text = b"{ \"classname\" \"worldspawn\" } { \"classname\" \"light_spot\" \"target\" \"door_1\" }\0";
/// let entities = Entities::parse(&text[..], EntityRules::SOURCE)?;
/// let selector = Selector::parse("light*[target^=door_]")?;
/// assert_eq!(entities.select(&selector), [1]);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Selector {
    head: Head,
    tests: Vec<Test>,
}

#[derive(Clone, Debug, Default)]
enum Head {
    #[default]
    Any,
    Index(usize),
    Class(Vec<u8>),
}

#[derive(Clone, Debug)]
struct Test {
    key: Vec<u8>,
    compare: Compare,
    value: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
enum Compare {
    Exists,
    Equal,
    Begins,
    Ends,
    Contains,
}

impl Selector {
    /// Reads a selector.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if it cannot be understood; the advice points at the place.
    pub fn parse(text: &str) -> Result<Self> {
        if text.is_empty() {
            return Err(Error::new(ErrorKind::Argument, "the selector is empty").hint("`*` selects all entities"));
        }
        let tree = Grammar::parse(Rule::selector, text).map_err(|error| {
            let (InputLocation::Pos(at) | InputLocation::Span((at, _))) = error.location;
            unreadable(text, at)
        })?;
        let mut selector = Selector::default();
        for part in tree.flat_map(Pair::into_inner) {
            match part.as_rule() {
                Rule::class if part.as_str() == "*" => {}
                Rule::class => selector.head = Head::Class(unescape(part.as_str())),
                Rule::index => {
                    // Only too many digits are no number; no entity has such an index.
                    selector.head = Head::Index(part.as_str()[1..].parse().unwrap_or(usize::MAX));
                }
                Rule::test => selector.tests.push(Test::new(part)),
                _ => {}
            }
        }
        Ok(selector)
    }

    /// Whether an entity is among those selected.
    pub fn matches(&self, entity: &Entity<'_>) -> bool {
        let head = match &self.head {
            Head::Any => true,
            Head::Index(index) => entity.index() == *index,
            Head::Class(pattern) => entity.class().is_some_and(|class| is_like(class, pattern)),
        };
        head && self.tests.iter().all(|test| entity.all(&test.key).any(|value| test.holds(value)))
    }
}

impl Test {
    fn new(test: Pair<'_, Rule>) -> Self {
        let mut result = Test { key: Vec::new(), compare: Compare::Exists, value: Vec::new() };
        for part in test.into_inner() {
            match (part.as_rule(), part.as_str()) {
                (Rule::key, text) => result.key = unescape(text),
                (Rule::operator, "^=") => result.compare = Compare::Begins,
                (Rule::operator, "$=") => result.compare = Compare::Ends,
                (Rule::operator, "*=") => result.compare = Compare::Contains,
                (Rule::operator, _) => result.compare = Compare::Equal,
                (_, _) => {
                    result.value = part.into_inner().map(|text| unescape(text.as_str())).collect::<Vec<_>>().concat()
                }
            }
        }
        result
    }

    fn holds(&self, value: &[u8]) -> bool {
        match self.compare {
            Compare::Exists => true,
            Compare::Equal => value == self.value,
            Compare::Begins => value.starts_with(&self.value),
            Compare::Ends => value.ends_with(&self.value),
            Compare::Contains => memchr::memmem::find(value, &self.value).is_some(),
        }
    }
}

/// Whether a class is like a pattern, in time proportional to their product at worst.
fn is_like(class: &[u8], pattern: &[u8]) -> bool {
    let (mut at, mut next) = (0, 0);
    // Where to go on if the run that the last `*` stands for has to be longer.
    let mut retry = None;
    while at < class.len() {
        match pattern.get(next) {
            Some(b'*') => {
                retry = Some((at, next));
                next += 1;
            }
            Some(letter) if *letter == b'?' || letter.eq_ignore_ascii_case(&class[at]) => {
                at += 1;
                next += 1;
            }
            _ => match &mut retry {
                Some((from, star)) => {
                    *from += 1;
                    (at, next) = (*from, *star + 1);
                }
                None => return false,
            },
        }
    }
    pattern[next..].iter().all(|&letter| letter == b'*')
}

fn unreadable(text: &str, at: usize) -> Error {
    let rest = &text[at..];
    let later = "is not supported yet";
    let why = match rest.as_bytes() {
        [b',', ..] => format!("a comma for either of two selectors {later}"),
        [b':', ..] => format!("`:not(...)` {later}"),
        [b'~', ..] => format!("`~` for regular expressions {later}"),
        [b'<' | b'>', ..] => format!("a comparison of numbers {later}"),
        [b'!', b'=', ..] => format!("`!=` {later}"),
        [] => "it ends too early; a `]` is missing".to_owned(),
        [b'"', ..] if text[..at].ends_with('=') => "behind the quote, `\"` and then `]` are missing".to_owned(),
        _ if text[..at].ends_with('#') => "an index is a number".to_owned(),
        _ if text[..at].ends_with('[') => "a key is missing".to_owned(),
        _ => format!("`{}` is not expected here", rest.chars().next().unwrap_or_default()),
    };
    let caret = " ".repeat(text[..at].chars().count());
    Error::new(ErrorKind::Argument, format!("cannot read the selector `{}`: {why}", text.escape_debug()))
        .hint(format!("{}\n{caret}^", text.replace(char::is_control, " ")))
}
