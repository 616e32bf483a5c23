//! Selectors: choose the entities for an edit.

mod guess;
mod matching;

use std::fmt;
use std::str::FromStr;

use pest::Parser;
use pest::iterators::Pair;

use crate::bytes::{escaped, unescape};
use crate::content::entities::Entity;
use crate::content::grammar::{self, Grammar, Nest, Rule, offset};
use crate::{Error, ErrorKind, Result};
pub use matching::Index;
pub(crate) use matching::{Compare, Expression};
use matching::{Order, Test, is_like, one_number};

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
/// | `[target^=door_]` | where the value begins with this |
/// | `[target$=_1]` | where the value ends with this |
/// | `[target*=oor]` | where the value contains this |
/// | `[message~/re/]`, `[message~/re/i]` | where a regular expression matches in the value; `i` ignores case |
/// | `[wait>2]`, `<`, `>=`, `<=` | where the whole value is one number, and the comparison is true |
/// | `light:not([style])` | that the selector in the parentheses does not match |
/// | `light,#17` | that either matches |
///
/// Tests and `:not(...)` may follow a class, an index or each other, and all have to hold. If an entity has a key
/// several times, one of its values has to pass. A value ends at the `]`, or is in quotes; `\xNN`, `\n` and `\\` are
/// escapes, as in [`unescape`]; in a class, so are signs of tests (`= < > ~ !`) and `| ; &`. Spaces may be around
/// commas and parentheses.
///
/// Regular expressions are those of the crate `regex`, on bytes and in time linear in the value: `.` is any byte except
/// a line break, `\xe9` the byte, `\d` and `\w` are ASCII, and `\/` is a slash.
///
/// ```
/// use bspkit::content::entities::Entities;
/// use bspkit::content::select::Selector;
/// use bspkit::dialect::EntityRules;
///
/// let text = b"{ \"classname\" \"worldspawn\" } { \"classname\" \"light_spot\" \"target\" \"door_1\" }\0";
/// let entities = Entities::parse(&text[..], EntityRules::SOURCE)?;
/// let selector = Selector::parse("light*[target^=door_]")?;
/// assert_eq!(entities.matching(&selector), [1]);
/// # Ok::<(), bspkit::Error>(())
/// ```
/// [`Display`](std::fmt::Display) prints a selector that reads back as the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Selector {
    /// One of these has to match; there is at least one.
    either: Vec<All>,
}

/// Conditions that all have to hold: without a head and tests it matches everything.
#[derive(Clone, Debug, Default, PartialEq)]
struct All {
    head: Head,
    tests: Vec<Test>,
}

#[derive(Clone, Debug, Default, PartialEq)]
enum Head {
    #[default]
    Any,
    Index(usize),
    Class(Vec<u8>),
}

impl Selector {
    /// Reads a selector.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if it cannot be read; the hint marks the place.
    pub fn parse(text: &str) -> Result<Self> {
        parse(text)
    }

    /// Whether it goes by what an entity has alone, and not by its index.
    pub fn is_of_pairs(&self) -> bool {
        let is_of_pairs = |all: &All| !matches!(all.head, Head::Index(_)) && all.tests.iter().all(Test::is_of_pairs);
        self.either.iter().all(is_of_pairs)
    }

    /// The numbers of entities that it names.
    pub fn indexes(&self) -> impl Iterator<Item = usize> {
        self.either.iter().filter_map(|all| if let Head::Index(index) = all.head { Some(index) } else { None })
    }

    /// Whether an entity is among those selected.
    pub fn matches(&self, entity: &Entity<'_>) -> bool {
        self.either.iter().any(|all| all.matches(entity))
    }
}

impl Default for Selector {
    /// All entities.
    fn default() -> Self {
        Selector { either: vec![All::default()] }
    }
}

impl FromStr for Selector {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Selector::parse(text)
    }
}

impl All {
    fn matches(&self, entity: &Entity<'_>) -> bool {
        let head = match &self.head {
            Head::Any => true,
            Head::Index(index) => entity.index() == *index,
            Head::Class(pattern) => entity.class().is_some_and(|class| is_like(class, pattern)),
        };
        head && self.tests.iter().all(|test| test.holds(entity))
    }
}

// Selectors from text: pest reads the words, and this module builds the selector from them.

const SELECTOR: &str = "selector";

/// How many regular expressions a selector may have: each takes up to a mebibyte.
const MAX_EXPRESSIONS: usize = 64;

fn parse(text: &str) -> Result<Selector> {
    if text.is_empty() {
        return Err(Error::new(ErrorKind::Argument, "the selector is empty").with_hint("`*` selects all entities"));
    }
    read(text).map_err(|error| match guess::unreadable(text) {
        Some(right) => {
            let hint = error.hint().cloned();
            let error = Error::new(error.kind(), format!("{error}; did you mean `{right}`?"));
            hint.into_iter().fold(error, Error::with_hint)
        }
        None => error,
    })
}

fn read(text: &str) -> Result<Selector> {
    let tree = Grammar::parse(Rule::selector, text).map_err(|error| unreadable(text, offset(&error)))?;
    let mut nest: Nest<'_, All> = Nest::new(SELECTOR, text);
    let mut expressions = 0;
    for part in tree.flat_map(Pair::into_inner) {
        let at = part.as_span().start();
        match part.as_rule() {
            Rule::comma => nest.comma(at)?,
            Rule::not => nest.open(at)?,
            Rule::close => {
                let either = nest.close(at)?;
                nest.last().tests.push(Test::Not(Selector { either }));
            }
            Rule::class | Rule::index => {
                if !nest.is_first() {
                    return Err(wrong(text, at, "a class or an index must be first; use `,` between alternatives"));
                }
                if part.as_rule() == Rule::class && part.as_str().bytes().all(|byte| byte.is_ascii_digit()) {
                    return Err(wrong(text, at, "a number of an entity follows a `#`"));
                }
                nest.last().head = head(&part);
            }
            Rule::test => {
                let test = test(text, part)?;
                expressions += usize::from(matches!(test, Test::Key { compare: Compare::Matches(_), .. }));
                if expressions > MAX_EXPRESSIONS {
                    return Err(wrong(text, at, &format!("there are more than {MAX_EXPRESSIONS} expressions")));
                }
                nest.last().tests.push(test);
            }
            _ => {}
        }
    }
    Ok(Selector { either: nest.finish(text.len())? })
}

fn head(part: &Pair<'_, Rule>) -> Head {
    match (part.as_rule(), part.as_str()) {
        // Only a number with too many digits does not fit; no entity has such an index.
        (Rule::index, text) => Head::Index(text[1..].parse().unwrap_or(usize::MAX)),
        (_, "*") => Head::Any,
        (_, text) => Head::Class(unescape(text)),
    }
}

fn test(text: &str, test: Pair<'_, Rule>) -> Result<Test> {
    let (mut key, mut operator) = (Vec::new(), "");
    let mut compare = Compare::Exists;
    let mut expression = ("", 0);
    for part in test.into_inner() {
        let (at, letters) = (part.as_span().start(), part.as_str());
        match part.as_rule() {
            Rule::key => key = unescape(letters),
            Rule::operator => operator = letters,
            Rule::expression => expression = (letters, at),
            Rule::letters => {
                let compiled = Expression::at(expression, letters == "i");
                compare = Compare::Matches(compiled.map_err(|(at, why)| wrong(text, at, &why))?);
            }
            Rule::value => {
                let value = part.into_inner().map(|text| unescape(text.as_str())).collect::<Vec<_>>().concat();
                compare = compared(operator, value).map_err(|why| wrong(text, at, &why))?;
            }
            _ => {}
        }
    }
    Ok(Test::Key { key, compare })
}

/// The test of a value by an operator.
pub(crate) fn compared(operator: &str, value: Vec<u8>) -> Result<Compare, String> {
    let order = match operator {
        "^=" => return Ok(Compare::Begins(value)),
        "$=" => return Ok(Compare::Ends(value)),
        "*=" => return Ok(Compare::Contains(value)),
        "<" => Order::Less,
        "<=" => Order::LessOrEqual,
        ">" => Order::Greater,
        ">=" => Order::GreaterOrEqual,
        _ => return Ok(Compare::Equal(value)),
    };
    let number = one_number(&value).ok_or_else(|| format!("`{operator}` compares with a number, such as 2 or -0.5"))?;
    Ok(Compare::Number(order, number))
}

/// The reason why the text cannot be read from here on.
fn unreadable(text: &str, at: usize) -> Error {
    let rest = &text[at..];
    let why = match rest.as_bytes() {
        [b':', ..] => "only `not(` can follow a `:`".to_owned(),
        [b'!', b'~', ..] => "`!~` is written `:not([key~/re/])`".to_owned(),
        [b'!', b'=', ..] => "`!=` is written `:not([key=value])`".to_owned(),
        [b'=' | b'<' | b'>' | b'~', ..] if !text[..at].contains('[') => "a test of a key is in brackets".to_owned(),
        [b'=', ..] if text[..at].ends_with('=') => {
            "one `=` compares; a value that begins with it is in quotes".to_owned()
        }
        [b'|' | b';' | b'&', ..] => {
            "a `,` is between alternatives, and nothing between tests that all have to hold".to_owned()
        }
        [b'~', ..] => "an expression is written between slashes: `[message~/re/]`".to_owned(),
        [] if text.contains("~/") => "it ends too early; `/]` or a `]` is missing".to_owned(),
        [] => "it ends too early; a `]` is missing".to_owned(),
        [b'"', ..] if text[..at].ends_with('=') => "a closing `\"` and then `]` are missing".to_owned(),
        [b'(', ..] => "a parenthesis can only follow `:not`; in a class write `\\x28`".to_owned(),
        _ if text[..at].ends_with('#') => "an index is a number".to_owned(),
        _ if text[..at].ends_with('[') => "a key is missing".to_owned(),
        _ if text[..at].ends_with('/') => "an expression is followed by `]`, or by `i` and `]`".to_owned(),
        _ => format!("`{}` is not expected here", rest.chars().next().unwrap_or_default()),
    };
    wrong(text, at, &why)
}

fn wrong(text: &str, at: usize, why: &str) -> Error {
    grammar::wrong(SELECTOR, text, at, why)
}

// Selectors as text that reads back as the same selector.

/// The characters to escape in a class, besides those that always are.
const IN_CLASS: &str = "[],:#\"() =<>~!|;&";
/// In a key.
const IN_KEY: &str = "[]=^$*~<>!";
/// In a value without quotes.
const IN_VALUE: &str = "]\"";

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, all) in self.either.iter().enumerate() {
            write!(f, "{}{all}", if index > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}

impl fmt::Display for All {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.head {
            Head::Any if self.tests.is_empty() => f.write_str("*")?,
            Head::Any => {}
            Head::Index(index) => write!(f, "#{index}")?,
            // A bare `*` also matches entities without a class.
            Head::Class(class) if class == b"*" => f.write_str("\\x2a")?,
            // Digits alone do not name a class.
            Head::Class(class) if class.iter().all(u8::is_ascii_digit) => {
                class.iter().try_for_each(|byte| write!(f, "\\x{byte:02x}"))?;
            }
            Head::Class(class) => print(f, class, IN_CLASS)?,
        }
        self.tests.iter().try_for_each(|test| write!(f, "{test}"))
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (key, compare) = match self {
            Test::Not(selector) => return write!(f, ":not({selector})"),
            Test::Key { key, compare } => (key, compare),
        };
        f.write_str("[")?;
        print(f, key, IN_KEY)?;
        match compare {
            Compare::Exists => {}
            Compare::Equal(value) => with(f, "=", value)?,
            Compare::Begins(value) => with(f, "^=", value)?,
            Compare::Ends(value) => with(f, "$=", value)?,
            Compare::Contains(value) => with(f, "*=", value)?,
            Compare::Matches(it) => write!(f, "~/{}/{}", it.text, if it.ignores_case { "i" } else { "" })?,
            Compare::Number(Order::Less, number) => write!(f, "<{number}")?,
            Compare::Number(Order::LessOrEqual, number) => write!(f, "<={number}")?,
            Compare::Number(Order::Greater, number) => write!(f, ">{number}")?,
            Compare::Number(Order::GreaterOrEqual, number) => write!(f, ">={number}")?,
        }
        f.write_str("]")
    }
}

fn with(f: &mut fmt::Formatter<'_>, operator: &str, value: &[u8]) -> fmt::Result {
    f.write_str(operator)?;
    // What would be read as another operator.
    if let [first @ (b'=' | b'~'), rest @ ..] = value {
        write!(f, "\\x{first:02x}")?;
        return print(f, rest, IN_VALUE);
    }
    print(f, value, IN_VALUE)
}

/// Prints bytes with their own escapes, and one for each byte that would end them.
fn print(f: &mut fmt::Formatter<'_>, bytes: &[u8], ends: &str) -> fmt::Result {
    for letter in escaped(bytes).to_string().chars() {
        match ends.contains(letter) {
            // Those are ASCII.
            true => write!(f, "\\x{:02x}", u32::from(letter))?,
            false => write!(f, "{letter}")?,
        }
    }
    Ok(())
}

// Selectors made by the program, and selectors as pairs: rules of other formats in both directions.

/// A key, and the value that it must have; `None` for any: [`Selector::pairs`].
pub type TestedKey<'s> = (&'s [u8], Option<&'s [u8]>);

impl Selector {
    /// The entities of a class, or of all classes, in which for each key a value matches the expression, whatever the
    /// case.
    ///
    /// ```
    /// use bspkit::content::select::Selector;
    /// let lights = Selector::like(Some(b"light"), [(b"targetname".to_vec(), "^hall".to_owned())])?;
    /// assert_eq!(lights.to_string(), "light[targetname~/^hall/i]");
    /// assert_eq!(lights.pairs(), None);
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for an expression that cannot be read or is beyond the limits of selectors.
    pub fn like(class: Option<&[u8]>, tests: impl IntoIterator<Item = (Vec<u8>, String)>) -> Result<Self> {
        let test = |(key, text): (Vec<u8>, String)| match Expression::at((&text, 0), true) {
            Ok(expression) => Ok(Test::Key { key, compare: Compare::Matches(expression) }),
            Err((_, why)) => Err(Error::new(ErrorKind::Argument, why)),
        };
        let tests = tests.into_iter().map(test).collect::<Result<_>>()?;
        let head = class.map_or(Head::Any, |class| Head::Class(class.to_vec()));
        Ok(Selector { either: vec![All { head, tests }] })
    }

    /// Whether a class means itself in a selector: it is not empty and has no wildcards.
    pub fn is_class(class: &[u8]) -> bool {
        !class.is_empty() && !class.iter().any(|letter| b"*?".contains(letter))
    }

    /// The class that the selector begins with, if it is a name without wildcards. Its case does not matter.
    ///
    /// ```
    /// use bspkit::content::select::Selector;
    /// assert_eq!("Light[style=32]".parse::<Selector>()?.class(), Some(&b"Light"[..]));
    /// assert_eq!("[classname=light]".parse::<Selector>()?.class(), None);
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn class(&self) -> Option<&[u8]> {
        match &self.either[..] {
            [all] => match &all.head {
                Head::Class(class) if Selector::is_class(class) => Some(class),
                _ => None,
            },
            _ => None,
        }
    }

    /// The keys that are tested, each with the value that it must have, `None` for any; the class is one of them.
    /// `None` if there are other tests.
    ///
    /// ```
    /// use bspkit::content::select::Selector;
    /// let lights: Selector = "light[style=32][targetname]".parse()?;
    /// let keys: Vec<&[u8]> = lights.pairs().unwrap().into_iter().map(|(key, _)| key).collect();
    /// assert_eq!(keys, [&b"classname"[..], b"style", b"targetname"]);
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn pairs(&self) -> Option<Vec<TestedKey<'_>>> {
        let [all] = &self.either[..] else { return None };
        let mut pairs = Vec::new();
        if !matches!(all.head, Head::Any) {
            pairs.push((&b"classname"[..], Some(self.class()?)));
        }
        for test in &all.tests {
            match test {
                Test::Key { key, compare: Compare::Equal(value) } => pairs.push((key, Some(value))),
                Test::Key { key, compare: Compare::Exists } => pairs.push((key, None)),
                _ => return None,
            }
        }
        Some(pairs)
    }
}
