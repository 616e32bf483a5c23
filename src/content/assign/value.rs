//! New values: calculated, or with matches of an expression replaced.

use std::ops::Range;

use super::number::{Decimal, Fault, Style};
use super::template::{Template, Unfilled, Values};
use super::{Operator, Outcome};
use crate::bytes::escaped;
use crate::content::select::Expression;

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
pub(super) fn calculated(value: &[u8], operator: Operator, operand: &[u8]) -> Outcome {
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
                return Outcome::Refused(format!(
                    "the result for `{}` is too large or has too many digits",
                    shown(value)
                ));
            }
        }
        end = place.end;
    }
    new.extend_from_slice(&value[end..]);
    Outcome::New(new)
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
) -> Outcome {
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
    Outcome::New(new)
}

/// The text of a template with these values.
pub(super) fn filled(values: Values<'_>, template: &Template, most: usize) -> Result<Vec<u8>, Outcome> {
    let mut text = Vec::new();
    template.fill(values, &|_| b"", &mut text, most).map_err(Outcome::unfilled)?;
    Ok(text)
}

impl Outcome {
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
