//! New values: numbers calculated exactly, values with other values in them, matches of an expression replaced.

use std::borrow::Cow;
use std::ops::Range;

use super::{Operator, Outcome};
use crate::bytes::{escaped, unescape};
use crate::content::entities::Key;
use crate::content::select::Expression;

// New values: calculated, or with matches of an expression replaced.

/// The places of the words of a value.
pub(super) fn words(value: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        at += value[at..].iter().take_while(|byte| **byte <= b' ').count();
        let start = at;
        at += value[at..].iter().take_while(|byte| **byte > b' ').count();
        (start < at).then_some(start..at)
    })
}

/// The numbers of a value with their places. The error is a sentence.
fn numbers(value: &[u8]) -> Result<Vec<(Range<usize>, Decimal)>, String> {
    let number = |place: Range<usize>| {
        let word = &value[place.clone()];
        Decimal::parse(word).map(|number| (place, number)).ok_or_else(|| match word == value {
            true => format!("`{}` is not a number", shown(value)),
            false => format!("`{}` has the word `{}`, which is not a number", shown(value), shown(word)),
        })
    };
    let numbers = words(value).map(number).collect::<Result<Vec<_>, _>>()?;
    if numbers.is_empty() { Err("it has no number".to_owned()) } else { Ok(numbers) }
}

/// The value with every number changed by the number at the same place of the operand, or by the only one. All bytes
/// between the numbers stay, and so do the letters of numbers that do not change.
pub(super) fn calculated(value: &[u8], operator: Operator, operand: &[u8]) -> Outcome<'static> {
    let old = match numbers(value) {
        Ok(old) => old,
        Err(why) => return Outcome::Left(why),
    };
    let operands = match numbers(operand) {
        Ok(operands) => operands,
        Err(why) => return Outcome::Left(format!("the operand is not a number: {why}")),
    };
    if operands.len() > 1 && operands.len() != old.len() {
        let (count, several) = (old.len(), operands.len());
        return Outcome::Left(format!("it has {count} numbers, and the operand {several}: `{}`", shown(value)));
    }
    let mut style = Style::default();
    old.iter().for_each(|(place, _)| style.add(&value[place.clone()]));
    let (mut new, mut end) = (Vec::with_capacity(value.len() + 8), 0);
    for ((place, number), (_, operand)) in old.iter().zip(operands.iter().cycle()) {
        new.extend_from_slice(&value[end..place.start]);
        match number.calculate(operator, *operand, style) {
            Ok(Some(text)) => new.extend_from_slice(text.as_bytes()),
            Ok(None) => new.extend_from_slice(&value[place.clone()]),
            Err(Fault::DivisionByZero) => return Outcome::Refused(format!("`{}` is divided by 0", shown(value))),
            Err(Fault::TooManyDigits) => {
                return Outcome::Left(format!("the result for `{}` is too large or has too many digits", shown(value)));
            }
        }
        end = place.end;
    }
    new.extend_from_slice(&value[end..]);
    Outcome::New(new.into())
}

/// What searches have left to do: an expression can look through all the rest of a value for each of its matches.
#[derive(Debug)]
pub(super) struct Effort(u64);

impl Effort {
    pub(super) const fn new(letters: u64) -> Self {
        Effort(letters)
    }

    fn spend(&mut self, letters: usize) -> bool {
        let rest = u64::try_from(letters).ok().and_then(|letters| self.0.checked_sub(letters));
        self.0 = rest.unwrap_or(0);
        rest.is_some()
    }
}

/// The value with the first match replaced, or with all of them.
pub(super) fn rewritten(
    values: Values<'_>,
    value: &[u8],
    (from, to, is_global): (&Expression, &Template, bool),
    effort: &mut Effort,
    most: usize,
) -> Outcome<'static> {
    // `end`: where the last match ended; `at`: where the next one may start.
    let (mut new, mut end, mut at, mut matches) = (Vec::new(), 0, 0, 0_usize);
    let letters = std::str::from_utf8(value).ok();
    let is_between = |place: usize| letters.is_none_or(|text| text.is_char_boundary(place));
    while at <= value.len() {
        if !effort.spend(1 + value.len() - at) {
            return Outcome::Refused("the expression takes too long on these values".to_owned());
        }
        let Some(groups) = from.captures(value, at) else { break };
        let Some(place) = groups.get(0).map(|whole| whole.range()) else { break };
        if groups.iter().flatten().any(|group| !is_between(group.start()) || !is_between(group.end())) {
            let what = format!("the expression would cut a letter of several bytes in `{}`", shown(value));
            return Outcome::Refused(format!(
                "{what}; write the letters that are meant, or `.` with no `i`, \\w and \\b"
            ));
        }
        // An empty match directly after another one is not one.
        if !(place.is_empty() && matches > 0 && place.start == end) {
            new.extend_from_slice(&value[end..place.start]);
            let group = |group: usize| groups.get(group).map_or(&b""[..], |found| found.as_bytes());
            match to.fill(values, &group, &mut new, most) {
                Ok(()) => {}
                Err(unfilled) => return Outcome::unfilled(unfilled),
            }
            (end, matches) = (place.end, matches + 1);
        }
        if matches > 0 && !is_global {
            break;
        }
        at = if place.is_empty() { place.end + 1 } else { place.end };
        while at < value.len() && !is_between(at) {
            at += 1;
        }
    }
    if matches == 0 {
        return Outcome::NoMatch;
    }
    if new.len() + value.len() - end > most {
        return Outcome::unfilled(Unfilled::TooLong);
    }
    new.extend_from_slice(&value[end..]);
    Outcome::New(new.into())
}

/// The text of a template with these values.
pub(super) fn filled<'t>(
    values: Values<'_>,
    template: &'t Template,
    most: usize,
) -> Result<Cow<'t, [u8]>, Outcome<'t>> {
    if let [Piece::Text(text)] = &template.0[..]
        && text.len() <= most
    {
        return Ok(Cow::Borrowed(text));
    }
    let mut text = Vec::new();
    template.fill(values, &|_| b"", &mut text, most).map_err(Outcome::unfilled)?;
    Ok(text.into())
}

impl Outcome<'_> {
    fn unfilled(unfilled: Unfilled) -> Self {
        match unfilled {
            Unfilled::Missing(key) => {
                Outcome::Left(format!("it needs the key `{key}`, which the entity does not have"))
            }
            Unfilled::TooLong => Outcome::Refused("the new value would be too long".to_owned()),
        }
    }
}

/// A value on one line; a long one is shortened.
fn shown(value: &[u8]) -> String {
    let dots = if value.len() > 40 { "..." } else { "" };
    format!("{}{dots}", escaped(&value[..value.len().min(40)]))
}

// Numbers of entity text: decimals of any length, calculated exactly, and rounded once where that is needed.

/// The digits that a 32-bit float keeps: a result that is not exact has this many.
const SIGNIFICANT: u32 = 9;

/// The most digits of an exact result; one with more is rounded as a result without an end is.
const MOST_EXACT: u32 = 18;

/// A decimal as it is written: `digits / 10^scale`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decimal {
    digits: i128,
    scale: u32,
}

/// How numbers of a value are written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Style {
    /// Whether some number ends with a zero after its point, or has the six decimals that compilers print: then all
    /// keep their decimals.
    is_padded: bool,
    /// Whether some number has no digit before its point.
    is_bare: bool,
}

/// The exact result of a calculation, in lowest terms.
#[derive(Clone, Copy, Debug)]
struct Ratio {
    over: i128,
    /// More than 0.
    under: i128,
}

/// Why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    DivisionByZero,
    TooManyDigits,
}

impl Decimal {
    /// Reads a whole word: digits with a sign, a point, an exponent. `None` for anything else, and for numbers of more
    /// digits than are calculated with.
    pub(super) fn parse(word: &[u8]) -> Option<Self> {
        let (number, exponent) = match word.iter().position(|byte| matches!(byte, b'e' | b'E')) {
            Some(at) => (&word[..at], signed(&word[at + 1..])?),
            None => (word, 0),
        };
        let (is_negative, number) = match number {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            rest => (false, rest),
        };
        let point = number.iter().position(|byte| *byte == b'.').unwrap_or(number.len());
        let (whole, fraction) = (&number[..point], number.get(point + 1..).unwrap_or_default());
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let mut digits: i128 = 0;
        for byte in whole.iter().chain(fraction) {
            let digit = byte.is_ascii_digit().then(|| i128::from(byte - b'0'))?;
            digits = digits.checked_mul(10)?.checked_add(digit)?;
        }
        let digits = if is_negative { -digits } else { digits };
        let scale = i64::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
        match u32::try_from(scale) {
            Ok(scale) => Some(Decimal { digits, scale }),
            Err(_) => {
                let zeros = u32::try_from(scale.checked_neg()?).ok()?;
                let digits = if digits == 0 { 0 } else { digits.checked_mul(power(zeros)?)? };
                Some(Decimal { digits, scale: 0 })
            }
        }
    }

    pub(super) fn is_zero(self) -> bool {
        self.digits == 0
    }

    /// The result of a calculation as text, in the style of the value. `None` if the value stays the same.
    pub(super) fn calculate(self, operator: Operator, operand: Decimal, style: Style) -> Result<Option<String>, Fault> {
        let result = self.exact(operator, operand)?;
        if self.ratio().is_some_and(|own| (own.over, own.under) == (result.over, result.under)) {
            return Ok(None);
        }
        let kept = match operator {
            Operator::Add | Operator::Subtract => self.scale.max(operand.scale),
            Operator::Multiply | Operator::Divide => self.scale,
        };
        let least = if style.is_padded { self.scale } else { 0 };
        result.print(kept, least, style.is_bare).map(Some).ok_or(Fault::TooManyDigits)
    }

    fn ratio(self) -> Option<Ratio> {
        // Zero is zero with any number of decimals.
        if self.digits == 0 { Some(Ratio { over: 0, under: 1 }) } else { Ratio::new(self.digits, power(self.scale)?) }
    }

    fn exact(self, operator: Operator, operand: Decimal) -> Result<Ratio, Fault> {
        let (one, other) = self.ratio().zip(operand.ratio()).ok_or(Fault::TooManyDigits)?;
        if operator == Operator::Divide && other.over == 0 {
            return Err(Fault::DivisionByZero);
        }
        let result = match operator {
            Operator::Add => one.add(other),
            Operator::Subtract => one.add(Ratio { over: -other.over, ..other }),
            Operator::Multiply => one.times(other),
            Operator::Divide => Ratio::new(other.under, other.over).and_then(|inverse| one.times(inverse)),
        };
        result.ok_or(Fault::TooManyDigits)
    }
}

impl Ratio {
    fn new(over: i128, under: i128) -> Option<Self> {
        let common = common_divisor(over, under).max(1);
        let (over, under) = (over / common, under / common);
        match under < 0 {
            true => Some(Ratio { over: over.checked_neg()?, under: under.checked_neg()? }),
            false => Some(Ratio { over, under }),
        }
    }

    fn add(self, other: Ratio) -> Option<Self> {
        let common = common_divisor(self.under, other.under).max(1);
        let under = self.under.checked_mul(other.under / common)?;
        let one = self.over.checked_mul(other.under / common)?;
        let two = other.over.checked_mul(self.under / common)?;
        Ratio::new(one.checked_add(two)?, under)
    }

    fn times(self, other: Ratio) -> Option<Self> {
        // Shortened first, so that products that fit are not refused.
        let one = Ratio::new(self.over, other.under)?;
        let two = Ratio::new(other.over, self.under)?;
        Ratio::new(one.over.checked_mul(two.over)?, one.under.checked_mul(two.under)?)
    }

    /// The number as text: exact if it ends within [`MOST_EXACT`] digits, otherwise rounded to the decimals `kept` or
    /// to the digits that a float keeps, whichever are more. It has at least the decimals `least`.
    fn print(self, kept: u32, least: u32, is_bare: bool) -> Option<String> {
        let limit = kept.max(self.decimals_of_floats()?);
        let whole_digits = (self.over / self.under).unsigned_abs().checked_ilog10().map_or(0, |log| log + 1);
        let mut decimals = match self.exact_decimals() {
            Some(exact) if whole_digits + exact <= MOST_EXACT => exact,
            Some(exact) => exact.min(limit),
            None => limit,
        };
        let mut digits = self.rounded(decimals)?;
        while decimals > 0 && digits % 10 == 0 {
            (digits, decimals) = (digits / 10, decimals - 1);
        }
        if decimals < least {
            (digits, decimals) = (digits.checked_mul(power(least - decimals)?)?, least);
        }
        let sign = if digits < 0 { "-" } else { "" };
        let width = usize::try_from(decimals).ok()?;
        let text = format!("{:0>1$}", digits.unsigned_abs(), width + 1);
        let (whole, fraction) = text.split_at(text.len() - width);
        let whole = if is_bare && whole == "0" && width > 0 { "" } else { whole };
        let point = if width > 0 { "." } else { "" };
        Some(format!("{sign}{whole}{point}{fraction}"))
    }

    /// The decimals after which a number of this size has all digits that a float keeps.
    fn decimals_of_floats(self) -> Option<u32> {
        let whole = (self.over / self.under).unsigned_abs();
        if let Some(log) = whole.checked_ilog10() {
            return Some(SIGNIFICANT.saturating_sub(log + 1));
        }
        if self.over == 0 {
            return Some(0);
        }
        let mut zeros = 0;
        while self.over.checked_mul(power(zeros + 1)?)? / self.under == 0 {
            zeros += 1;
        }
        Some(zeros + SIGNIFICANT)
    }

    /// The decimals of the exact number; `None` if they do not end.
    fn exact_decimals(self) -> Option<u32> {
        let (mut rest, mut twos, mut fives) = (self.under, 0, 0);
        while rest % 2 == 0 {
            (rest, twos) = (rest / 2, twos + 1);
        }
        while rest % 5 == 0 {
            (rest, fives) = (rest / 5, fives + 1);
        }
        (rest == 1).then_some(twos.max(fives))
    }

    /// The number times `10^decimals`, rounded to the nearest; halves away from zero.
    fn rounded(self, decimals: u32) -> Option<i128> {
        let power = power(decimals)?;
        let common = common_divisor(power, self.under).max(1);
        let (over, under) = (self.over.checked_mul(power / common)?, self.under / common);
        let (quotient, rest) = (over / under, over % under);
        let is_up = rest.unsigned_abs() >= under.unsigned_abs() - rest.unsigned_abs();
        Some(if is_up { quotient + over.signum() } else { quotient })
    }
}

impl Style {
    /// The style of a word, beside that of others.
    pub(super) fn add(&mut self, word: &[u8]) {
        let digits = word.strip_prefix(b"-").or(word.strip_prefix(b"+")).unwrap_or(word);
        self.is_bare |= digits.starts_with(b".");
        let fraction = digits.iter().position(|byte| *byte == b'.').map_or(&b""[..], |point| &digits[point + 1..]);
        self.is_padded |= fraction.ends_with(b"0") || fraction.len() == 6;
    }
}

fn signed(text: &[u8]) -> Option<i64> {
    let number = std::str::from_utf8(text).ok()?.parse().ok()?;
    // More than any number that fits.
    (-99..=99).contains(&number).then_some(number)
}

fn power(exponent: u32) -> Option<i128> {
    10_i128.checked_pow(exponent)
}

fn common_divisor(one: i128, other: i128) -> i128 {
    let (mut one, mut other) = (one.unsigned_abs(), other.unsigned_abs());
    while other != 0 {
        (one, other) = (other, one % other);
    }
    i128::try_from(one).unwrap_or(1)
}

// Values with the values of other keys in them.

/// A value with holes for other values.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Template(Vec<Piece>);

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    Text(Vec<u8>),
    /// The value of another key.
    Hole(Key),
    /// A group of the match of an expression; 0 is the whole match.
    Group(usize),
}

/// Gives the value of another key.
pub(super) type Values<'v> = &'v dyn Fn(&Key) -> Option<&'v [u8]>;
/// Gives a group of a match.
pub(super) type Groups<'g> = &'g dyn Fn(usize) -> &'g [u8];

impl Template {
    pub(super) fn new(pieces: Vec<Piece>) -> Self {
        Template(pieces)
    }

    /// The bytes as they are.
    pub(super) fn literal(bytes: Vec<u8>) -> Self {
        Template(vec![Piece::Text(bytes)])
    }

    /// The text, if nothing in it depends on an entity.
    pub(super) fn constant(&self) -> Option<Vec<u8>> {
        let text = |piece: &Piece| match piece {
            Piece::Text(text) => Some(text.clone()),
            Piece::Hole(_) | Piece::Group(_) => None,
        };
        self.0.iter().map(text).collect::<Option<Vec<_>>>().map(|texts| texts.concat())
    }

    /// Adds the text, up to this many bytes; the error is the reason why it cannot.
    pub(super) fn fill(
        &self,
        values: Values<'_>,
        groups: Groups<'_>,
        to: &mut Vec<u8>,
        most: usize,
    ) -> Result<(), Unfilled> {
        for piece in &self.0 {
            let text = match piece {
                Piece::Text(text) => text,
                Piece::Hole(key) => values(key).ok_or_else(|| Unfilled::Missing(key.to_string()))?,
                Piece::Group(group) => groups(*group),
            };
            if to.len() + text.len() > most {
                return Err(Unfilled::TooLong);
            }
            to.extend_from_slice(text);
        }
        Ok(())
    }
}

/// Why a template has no text for an entity.
#[derive(Debug)]
pub(super) enum Unfilled {
    /// The entity does not have this key.
    Missing(String),
    TooLong,
}

/// The bytes of a text between holes: escapes, and those of braces and slashes.
pub(super) fn unescaped(text: &str) -> Vec<u8> {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, letter == '\\') {
            (_, true) => match letters.next() {
                Some(brace @ ('{' | '}' | '/')) => plain.push(brace),
                Some(other) => plain.extend(['\\', other]),
                None => plain.push('\\'),
            },
            (letter, _) => plain.push(letter),
        }
    }
    unescape(&plain)
}
