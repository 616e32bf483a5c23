//! Selectors from text: pest reads the words, and this module builds the selector from them.

use pest::Parser;
use pest::iterators::Pair;

use super::expression::Expression;
use super::test::{Compare, Order, Test, one_number};
use super::{All, Head, Selector};
use crate::bytes::unescape;
use crate::content::grammar::{self, Grammar, Nest, Rule, offset};
use crate::{Error, ErrorKind, Result};

const SELECTOR: &str = "selector";

/// How many regular expressions a selector may have: each takes up to a mebibyte.
const MAX_EXPRESSIONS: usize = 64;

pub(super) fn parse(text: &str) -> Result<Selector> {
    if text.is_empty() {
        return Err(Error::new(ErrorKind::Argument, "the selector is empty").with_hint("`*` selects all entities"));
    }
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
        [b'~', ..] => "an expression is written between slashes: `[message~/re/]`".to_owned(),
        [b'!', b'=', ..] => "`!=` is written `:not([key=value])`".to_owned(),
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
