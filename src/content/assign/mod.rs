//! Changes of pairs as users write them: values, calculations, replacements of text, and what to remove.
//!
//! ```
//! use bspkit::content::assign::Assignment;
//! use bspkit::content::select::Selector;
//!
//! let mut draft = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?.draft();
//! let entities = draft.entities()?;
//! let lights = entities.select("light")?;
//! let done = entities.assign(&lights, &[Assignment::parse("light*=1.5")?, Assignment::parse("origin+=0 0 8")?])?;
//! assert_eq!((done.entities, done.left.len()), (lights.len(), 0));
//! # Ok::<(), bspkit::Error>(())
//! ```

mod value;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use pest::Parser;
use pest::iterators::Pair;

use crate::bytes::{escaped, unescape};
use crate::content::entities::{Entities, Entity, EntityMut, Key};
use crate::content::grammar::{self, Grammar, Rule, offset};
use crate::content::select::{Compare, Expression, compared};
use crate::{Error, ErrorKind, Hint, Place, Result};
use value::{Decimal, Effort, Piece, Template, calculated, filled, rewritten, unescaped, words};

/// The longest value that an assignment makes, in bytes; engines read some thousands.
const MOST_VALUE: usize = 1 << 20;
/// The most bytes of new values that one call makes: as many as an entity text may have.
const MOST_IN_TOTAL: usize = 16 << 20;
/// How many letters the expressions of one call may look at.
const MOST_EFFORT: u64 = 1 << 27;
/// How many values that were left are listed.
const MOST_LISTED: usize = 1000;

/// A change of a pair.
///
/// | assignment | new value |
/// |---|---|
/// | `KEY=VALUE` | this one; a missing key is added |
/// | `KEY+=2`, `-=`, `*=`, `/=` | each number of the value, calculated with this number |
/// | `origin+=0 0 8` | each number, calculated with the number at the same place |
/// | `KEY~s/OLD/NEW/` | with NEW for the first match of a regular expression |
/// | `KEY~s/OLD/NEW/gi` | with NEW for all matches (`g`), in any case (`i`) |
/// | `KEY={OTHER}_x` | with the value of another key in it, in each of these |
///
/// `KEY#2` is the second of equal keys; without a number it is the first. A NEW has the groups of the match as `{1}`
/// and the whole match as `{0}`. `\{`, `\/`, `\xNN`, `\n` and `\\` are escapes; a brace that nothing closes is a
/// letter.
///
/// Calculations are exact in decimals. A number that does not change keeps its letters, and so does all that is between
/// numbers. Whole results are written without a point, unless the value has decimals that end with a zero, which keep
/// their number. A result that has no end, or more than 18 digits, is rounded to nine digits, as many as a 32-bit float
/// has.
///
/// Expressions see the letters of a value in UTF-8, and the bytes of others. `\w`, `\d`, `\b` and `i` know ASCII
/// alone; an expression that would cut a letter is refused.
///
/// ```
/// use bspkit::content::assign::Assignment;
/// let error = Assignment::parse("health:=2").unwrap_err();
/// assert!(error.to_string().contains("ends like an operator"));
/// assert_eq!(Assignment::parse("health*=2")?.key().name, b"health");
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    key: Key,
    what: What,
}

#[derive(Clone, Debug, PartialEq)]
enum What {
    Set(Template),
    Calculate(Operator, Template),
    Rewrite { from: Expression, to: Template, is_global: bool },
}

/// An operator of a calculation.
///
/// ```
/// use bspkit::content::assign::{Operator, calculate};
/// assert_eq!(calculate("0.1", Operator::Add, "0.2").as_deref(), Ok("0.3"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
}

impl Operator {
    pub(crate) fn of(text: &str) -> Self {
        match text {
            "-=" => Operator::Subtract,
            "*=" => Operator::Multiply,
            "/=" => Operator::Divide,
            _ => Operator::Add,
        }
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
        })
    }
}

/// The result of an assignment for one entity.
enum Outcome<'t> {
    New(Cow<'t, [u8]>),
    /// The expression matches nothing.
    NoMatch,
    /// The value stays as it is, with the reason.
    Left(String),
    /// The whole edit is refused, with the reason.
    Refused(String),
}

/// What assignments did.
///
/// ```
/// use bspkit::content::assign::Assignment;
/// use bspkit::content::entities::Entities;
/// use bspkit::dialect::EntityRules;
///
/// let text = "{ \"wait\" \"2\" } { \"wait\" \"never\" }";
/// let mut entities = Entities::parse(text, EntityRules::QUAKE2)?;
/// let done = entities.assign(&[0, 1], &[Assignment::parse("wait+=0.5")?])?;
/// assert_eq!(done.entities, 1);
/// assert_eq!(done.left[0].to_string(), "entity #1: `wait` stays: `never` is not a number");
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Assigned {
    /// The number of entities with a value that was set, calculated or rewritten, also to what it was.
    pub entities: usize,
    /// The values that stay as they are, and why: the first thousand.
    pub left: Vec<Left>,
    /// The number of all values that stay.
    pub left_in_total: usize,
}

/// A value that stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Left {
    /// The index of the entity.
    pub entity: usize,
    /// The key.
    pub key: Key,
    /// Why, in one sentence.
    pub why: String,
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "entity #{}: `{}` stays: {}", self.entity, self.key, self.why)
    }
}

impl Assignment {
    /// Reads an assignment.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if it cannot be read; the hint marks the place. A key with an operator in it is
    /// refused: [`Assignment::literal`] sets it.
    pub fn parse(text: &str) -> Result<Self> {
        assignment(text)
    }

    /// Sets a key to a value, both as they are.
    pub fn literal(key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) -> Self {
        Assignment { key: Key::literal(key), what: What::Set(Template::literal(value.into())) }
    }

    /// The key that it changes.
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// The pairs of a new entity. A value may refer to the pairs before it.
    ///
    /// ```
    /// use bspkit::content::assign::Assignment;
    /// let pairs = ["classname=light", "targetname={classname}_1"].map(|text| Assignment::parse(text).unwrap());
    /// assert_eq!(Assignment::new_pairs(&pairs)?[1].1, b"light_1");
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for a calculation, a rewriting or a number among equal keys: a new entity has no values
    /// yet; for a value that refers to a key that is not before it, or is too long.
    pub fn new_pairs(assignments: &[Assignment]) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
        let mut pairs: Vec<(Vec<u8>, Vec<u8>)> = Vec::with_capacity(assignments.len());
        for Assignment { key, what } in assignments {
            let wrong = |why: &str| Error::new(ErrorKind::Argument, format!("`{key}` cannot be set: {why}"));
            let template = match what {
                What::Set(template) if key.nth.is_none() => template,
                What::Set(_) => {
                    return Err(wrong(
                        "a new entity has no equal keys yet; write the key twice, or \\x23 for # in a name",
                    ));
                }
                _ => return Err(wrong("a new entity has no value yet that could change; use KEY=VALUE")),
            };
            let value = filled(&|key| key.value_in(&pairs), template, MOST_VALUE).map_err(|outcome| match outcome {
                Outcome::Left(why) | Outcome::Refused(why) => wrong(&why),
                Outcome::New(_) | Outcome::NoMatch => wrong("it has no value"),
            })?;
            pairs.push((key.name.clone(), value.into_owned()));
        }
        Ok(pairs)
    }

    fn outcome(&self, entity: &Entity<'_>, effort: &mut Effort, most: usize) -> Outcome<'_> {
        let values = |key: &Key| key.value(entity);
        let template = match &self.what {
            What::Set(template) | What::Calculate(_, template) => template,
            What::Rewrite { from, to, is_global } => {
                return match self.key.value(entity) {
                    Some(value) => rewritten(&values, value, (from, to, *is_global), effort, most),
                    None => Outcome::Left("the entity does not have it".to_owned()),
                };
            }
        };
        match (&self.what, filled(&values, template, most)) {
            (_, Err(outcome)) => outcome,
            (What::Calculate(operator, _), Ok(operand)) => match self.key.value(entity) {
                Some(value) => calculated(value, *operator, &operand),
                None => Outcome::Left("the entity does not have it".to_owned()),
            },
            (_, Ok(value)) => Outcome::New(value),
        }
    }
}

impl FromStr for Assignment {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Assignment::parse(text)
    }
}

impl Entities<'_> {
    /// Changes pairs of entities. Each assignment sees what those before it did to the same entity.
    ///
    /// # Errors
    /// As all methods of [`EntityMut`]; [`ErrorKind::NotFound`] if there are fewer entities, or fewer equal keys;
    /// [`ErrorKind::Refused`] for a division by 0, or if an expression takes too long; [`ErrorKind::TooLarge`] for
    /// new values of more than 16 MiB. What was edited before stays edited.
    pub fn assign(&mut self, indices: &[usize], assignments: &[Assignment]) -> Result<Assigned> {
        let (mut done, mut effort, mut room) = (Assigned::default(), Effort::new(MOST_EFFORT), MOST_IN_TOTAL);
        for index in indices {
            let mut entity = self.get_mut(*index)?;
            let mut is_done = false;
            for assignment in assignments {
                let value = match assignment.outcome(&entity.entity(), &mut effort, MOST_VALUE) {
                    Outcome::New(value) => value,
                    Outcome::NoMatch => continue,
                    Outcome::Left(why) => {
                        done.leave(*index, assignment, why);
                        continue;
                    }
                    Outcome::Refused(why) => return Err(refused(*index, assignment, &why)),
                };
                room = room.checked_sub(value.len()).ok_or_else(|| {
                    Error::new(ErrorKind::TooLarge, format!("the new values have more than {MOST_IN_TOTAL} bytes"))
                })?;
                assignment.key.set(&mut entity, &value)?;
                is_done = true;
            }
            done.entities += usize::from(is_done);
        }
        Ok(done)
    }

    /// Removes pairs of entities, and returns how many each removal removed. All of them look at the pairs as they are
    /// before: `KEY#1` and `KEY#2` are what was first and second.
    ///
    /// # Errors
    /// As all methods of [`EntityMut`]; what was edited before stays edited.
    pub fn remove_pairs(&mut self, indices: &[usize], removals: &[Removal]) -> Result<Vec<usize>> {
        let mut removed = vec![0; removals.len()];
        for index in indices {
            let mut entity = self.get_mut(*index)?;
            let found: Vec<Vec<usize>> = removals.iter().map(|removal| removal.pairs(&entity)).collect();
            removed.iter_mut().zip(&found).for_each(|(removed, found)| *removed += found.len());
            let mut pairs = found.concat();
            pairs.sort_unstable();
            pairs.dedup();
            entity.remove_pairs(&pairs)?;
        }
        Ok(removed)
    }
}

/// A number with another one added, subtracted, multiplied or divided, exactly.
///
/// # Errors
/// A sentence, where one of them is not a number or the result has no end.
pub fn calculate(number: &str, operator: Operator, operand: &str) -> Result<String, String> {
    match calculated(number.as_bytes(), operator, operand.as_bytes()) {
        Outcome::New(number) => Ok(String::from_utf8_lossy(&number).into_owned()),
        Outcome::Left(why) | Outcome::Refused(why) => Err(why),
        Outcome::NoMatch => Ok(number.to_owned()),
    }
}

/// Whether a text is a number, or several with blanks between them.
pub fn is_numbers(text: &[u8]) -> bool {
    /// Calculations take no longer texts here.
    const MOST: usize = 1 << 10;
    let is_number = |word| value::Decimal::parse(&text[word]).is_some();
    text.len() <= MOST && value::words(text).next().is_some() && value::words(text).all(is_number)
}

impl Assigned {
    fn leave(&mut self, entity: usize, assignment: &Assignment, why: String) {
        self.left_in_total += 1;
        if self.left.len() < MOST_LISTED {
            self.left.push(Left { entity, key: assignment.key.clone(), why });
        }
    }
}

fn refused(index: usize, assignment: &Assignment, why: &str) -> Error {
    let place = Place::default().lump("entities").record(index);
    Error::new(ErrorKind::Refused, format!("cannot change `{}`: {why}", escaped(&assignment.key.name))).at(place)
}

/// Pairs to remove: `message`, `message#2`, `light=300`, `message~/re/i`, and the other tests of
/// [`Selector`](crate::content::select::Selector).
///
/// ```
/// use bspkit::content::assign::Removal;
/// use bspkit::content::entities::Entities;
/// use bspkit::dialect::EntityRules;
///
/// let mut entities = Entities::parse("{ \"light\" \"300\" \"wait\" \"2\" }", EntityRules::QUAKE2)?;
/// let removals = [Removal::parse("light=200")?, Removal::parse("wait>1")?];
/// assert_eq!(entities.remove_pairs(&[0], &removals)?, [0, 1]);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Removal {
    key: Key,
    compare: Compare,
    text: String,
}

impl Removal {
    /// Reads a removal. A key with an operator in it has an escape for it: `\x3d` for `=`.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if it cannot be read; the hint marks the place.
    pub fn parse(text: &str) -> Result<Self> {
        removal(text)
    }

    /// The key of the pairs.
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// The indices of the pairs.
    fn pairs(&self, entity: &EntityMut<'_, '_>) -> Vec<usize> {
        let pairs = entity.entity();
        let key = self.key.of(&pairs);
        let equal = pairs.pairs().enumerate().filter(|(_, pair)| pair.key.eq_ignore_ascii_case(&key.name));
        let numbered = equal.zip(1..).filter(|(_, number)| key.nth.is_none_or(|nth| nth == *number));
        numbered.filter(|((_, pair), _)| self.compare.holds(pair.value)).map(|((at, _), _)| at).collect()
    }
}

impl fmt::Display for Removal {
    /// As it was read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

// Assignments and removals from text.

const ASSIGNMENT: &str = "assignment";
const REMOVAL: &str = "removal";

fn assignment(text: &str) -> Result<Assignment> {
    let wrong = |at, why: &str| grammar::wrong(ASSIGNMENT, text, at, why);
    if text.starts_with('=') {
        return Err(literal_key("there is no key before the `=`".to_owned(), ""));
    }
    let tree = Grammar::parse(Rule::assignment, text).map_err(|error| unreadable(text, offset(&error)))?;
    let (mut key, mut what) = (Key::literal(Vec::new()), None);
    for part in tree.flat_map(Pair::into_inner) {
        let at = part.as_span().start();
        match part.as_rule() {
            Rule::target => {
                check_key(part.as_str())?;
                key = Key::parse(part.as_str()).map_err(|error| wrong(at, &error.to_string()))?;
            }
            Rule::template => {
                check_value(text, &part)?;
                what = Some(What::Set(template(text, part, None)?));
            }
            Rule::calculation => what = Some(calculation(text, part)?),
            Rule::rewrite => what = Some(rewrite(text, part)?),
            _ => {}
        }
    }
    let what = what.ok_or_else(|| wrong(text.len(), "it ends too early"))?;
    Ok(Assignment { key, what })
}

/// Refuses keys that have an operator in them: no game has such keys, and a mistake would add one without a word.
fn check_key(key: &str) -> Result<()> {
    let why = match key.chars().last() {
        _ if key.starts_with(' ') => "begins with a space",
        _ if key.contains('~') => "has a `~`, which is for `KEY~s/OLD/NEW/`",
        Some(' ') => "ends with a space; write the operator without spaces",
        Some(end) if "+-*/%^&|!:<>?=".contains(end) => "ends like an operator; there are = += -= *= /= ~s/OLD/NEW/",
        _ if key.contains(['*', '+', '^', '|', '&']) => "has an operator in it; write `KEY*=2`",
        _ => return Ok(()),
    };
    Err(literal_key(format!("the key `{}` {why}", key.escape_debug()), key))
}

/// Refuses values that begin like the rest of an operator: `x==1`, `x=~s/a/b/`.
fn check_value(text: &str, value: &Pair<'_, Rule>) -> Result<()> {
    let key = &text[..value.as_span().start() - 1];
    let why = match value.as_str() {
        value if value.starts_with('=') => "there is no operator `==`",
        value if value.starts_with("~s/") => "the operator is written `~s/OLD/NEW/`, without `=`",
        value => match calculation_in_text(key, value) {
            Some(why) => {
                return Err(
                    Error::new(ErrorKind::Argument, why).with_hint("`\\x2a` is a star in a text, `\\x2b` a plus")
                );
            }
            None => return Ok(()),
        },
    };
    Err(literal_key(why.to_owned(), key))
}

/// Why a value like `{light}*1.5` is refused: it would be text, though it looks like a calculation.
fn calculation_in_text(key: &str, value: &str) -> Option<String> {
    let (name, rest) = value.strip_prefix('{')?.split_once('}')?;
    let operator = rest.trim_start().chars().next().filter(|operator| "*+/-".contains(*operator))?;
    let operand = rest.trim_start()[1..].trim();
    Decimal::parse(operand.as_bytes())?;
    let is_own = name.eq_ignore_ascii_case(key);
    if !is_own && operator != '*' {
        return None;
    }
    let first = if is_own { String::new() } else { format!("{key}={{{name}}} and then ") };
    Some(format!("`{value}` is a text and no calculation; write {first}{key}{operator}={operand}"))
}

fn literal_key(why: String, key: &str) -> Error {
    Error::new(ErrorKind::Argument, why).with_hint(Hint::LiteralKey(key.to_owned()))
}

fn calculation(text: &str, part: Pair<'_, Rule>) -> Result<What> {
    let (mut operator, mut operand, mut at) = (Operator::Add, Template::literal(Vec::new()), 0);
    for part in part.into_inner() {
        match part.as_rule() {
            Rule::arithmetic => operator = Operator::of(part.as_str()),
            _ => {
                at = part.as_span().start();
                operand = template(text, part, None)?;
            }
        }
    }
    let wrong = |why: &str| grammar::wrong(ASSIGNMENT, text, at, why);
    if let Some(constant) = operand.constant() {
        let numbers: Option<Vec<Decimal>> = words(&constant).map(|word| Decimal::parse(&constant[word])).collect();
        let numbers = numbers.filter(|numbers| !numbers.is_empty());
        let numbers = numbers.ok_or_else(|| wrong("a number is expected here, or several: `0 0 8`"))?;
        if operator == Operator::Divide && numbers.iter().any(|number| number.is_zero()) {
            return Err(wrong("nothing can be divided by 0"));
        }
    }
    Ok(What::Calculate(operator, operand))
}

fn rewrite(text: &str, part: Pair<'_, Rule>) -> Result<What> {
    let (mut source, mut to, mut options) = (("", 0), None, "");
    for part in part.into_inner() {
        match part.as_rule() {
            Rule::expression => source = (part.as_str(), part.as_span().start()),
            Rule::replacement => to = Some(part),
            Rule::options => options = part.as_str(),
            _ => {}
        }
    }
    let wrong = |at, why: &str| grammar::wrong(ASSIGNMENT, text, at, why);
    let from = Expression::at(source, options.contains('i')).map_err(|(at, why)| wrong(at, &why))?;
    let to = match to {
        Some(to) => template(text, to, Some(from.groups()))?,
        None => Template::literal(Vec::new()),
    };
    Ok(What::Rewrite { from, to, is_global: options.contains('g') })
}

/// A value with holes; numbers in braces are groups where there are any.
fn template(text: &str, part: Pair<'_, Rule>, groups: Option<usize>) -> Result<Template> {
    let wrong = |at, why: &str| grammar::wrong(ASSIGNMENT, text, at, why);
    let mut pieces = Vec::new();
    for piece in part.into_inner() {
        let (at, letters) = (piece.as_span().start(), piece.as_str());
        if piece.as_rule() != Rule::hole {
            if let Some(place) = groups.and_then(|_| foreign_group(letters)) {
                return Err(wrong(at + place, "a group is written {1}, and the whole match {0}"));
            }
            pieces.push(Piece::Text(unescaped(letters)));
            continue;
        }
        let name = &letters[1..letters.len() - 1];
        pieces.push(match (groups, name.parse::<usize>()) {
            (Some(groups), Ok(group)) if group < groups => Piece::Group(group),
            (Some(groups), Ok(_)) => {
                return Err(wrong(at, &format!("the expression has {} groups in parentheses", groups - 1)));
            }
            _ => Piece::Hole(Key::parse(name).map_err(|error| wrong(at, &error.to_string()))?),
        });
    }
    Ok(Template::new(pieces))
}

/// Where a group is written as other programs have it: `\1`, `$1`, `${1}`.
fn foreign_group(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (b'\\' | b'$', Some(b'0'..=b'9')) => return Some(at),
            (b'\\', _) => at += 2,
            (b'$', None) => return None,
            _ => at += 1,
        }
    }
    None
}

/// The reason why the text cannot be read from here on.
fn unreadable(text: &str, at: usize) -> Error {
    let rest = &text[at..];
    let why = match rest {
        "" if text.contains("~s/") => "it ends too early; write KEY~s/OLD/NEW/ with three slashes",
        "" => "it has no operator; write KEY=VALUE",
        _ if text[..at].contains("~s/") => "`g` (all matches) and `i` (in any case) can be here",
        _ => "it is not expected here",
    };
    grammar::wrong(ASSIGNMENT, text, at, why)
}

fn removal(text: &str) -> Result<Removal> {
    let wrong = |at, why: &str| grammar::wrong(REMOVAL, text, at, why);
    let tree = Grammar::parse(Rule::removal, text).map_err(|error| {
        let at = offset(&error);
        let why = match (text.is_empty() || at == 0, text.contains("~/")) {
            (true, _) => "a key is missing",
            (_, true) => "an expression is written between slashes: `KEY~/re/`, or `KEY~/re/i`",
            _ => "it is not expected here",
        };
        wrong(at, why)
    })?;
    let (mut key, mut compare) = (Key::literal(Vec::new()), Compare::Exists);
    let (mut operator, mut source, mut name) = ("", ("", 0), "");
    for part in tree.flat_map(Pair::into_inner) {
        let (at, letters) = (part.as_span().start(), part.as_str());
        match part.as_rule() {
            Rule::removed => {
                name = letters;
                key = Key::parse(letters).map_err(|error| wrong(at, &error.to_string()))?;
            }
            Rule::operator => operator = letters,
            Rule::expression => source = (letters, at),
            Rule::letters => {
                let compiled = Expression::at(source, letters == "i");
                compare = Compare::Matches(compiled.map_err(|(at, why)| wrong(at, &why))?);
            }
            Rule::whole => {
                if name.ends_with(['!', '~', ':', '+', '-', ' ']) || letters.starts_with('=') {
                    return Err(wrong(at - operator.len(), "there are = ^= $= *= < <= > >= ~/re/"));
                }
                compare = compared(operator, unescape(letters)).map_err(|why| wrong(at, &why))?;
            }
            _ => {}
        }
    }
    Ok(Removal { key, compare, text: text.to_owned() })
}
