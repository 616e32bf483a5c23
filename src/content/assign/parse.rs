//! Assignments and removals from text.

use pest::Parser;
use pest::iterators::Pair;

use super::number::Decimal;
use super::template::{Piece, Template, unescaped};
use super::value::words;
use super::{Assignment, Operator, Removal, What};
use crate::bytes::unescape;
use crate::content::entities::Key;
use crate::content::grammar::{self, Grammar, Rule, offset};
use crate::content::select::{Compare, Expression, compared};
use crate::{Error, ErrorKind, Hint, Result};

const ASSIGNMENT: &str = "assignment";
const REMOVAL: &str = "removal";

pub(super) fn assignment(text: &str) -> Result<Assignment> {
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

pub(super) fn removal(text: &str) -> Result<Removal> {
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
