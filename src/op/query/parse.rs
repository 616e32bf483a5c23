//! Queries and changes from text.

use pest::Parser;
use pest::iterators::Pair;

use super::change::{Operator, Value};
use super::test::{All, Check, Test};
use super::{FieldChange, Query};
use crate::bytes::unescape;
use crate::content::grammar::{self, Grammar, Nest, Rule, offset};
use crate::content::select::{Compare, Expression, compared};
use crate::{Error, Result};

const QUERY: &str = "query";
/// How many regular expressions a query may have: each takes up to a mebibyte.
const MAX_EXPRESSIONS: usize = 64;

pub(super) fn query(text: &str) -> Result<Query> {
    let tree = Grammar::parse(Rule::query, text).map_err(|error| unreadable(text, offset(&error), false))?;
    place(text, tree.flat_map(Pair::into_inner)).map(|(query, _)| query)
}

pub(super) fn change(text: &str) -> Result<FieldChange> {
    let tree = Grammar::parse(Rule::change, text).map_err(|error| unreadable(text, offset(&error), true))?;
    let (query, rest) = place(text, tree.flat_map(Pair::into_inner))?;
    let (mut sign, mut value) = ("=", ("", text.len()));
    for part in rest {
        match part.as_rule() {
            Rule::sign => sign = part.as_str(),
            Rule::whole => value = (part.as_str(), part.as_span().start()),
            _ => {}
        }
    }
    let operator = Operator::of(sign);
    let value = Value::new(operator, value.0).map_err(|why| grammar::wrong(QUERY, text, value.1, &why))?;
    Ok(FieldChange { query, operator, value })
}

/// The query in a text, and the parts after it.
fn place<'t>(text: &str, parts: impl Iterator<Item = Pair<'t, Rule>>) -> Result<(Query, Vec<Pair<'t, Rule>>)> {
    let (mut lump, mut path, mut rest, mut end) = ("", "", Vec::new(), text.len());
    let mut nest: Nest<'_, All> = Nest::new(QUERY, text);
    let (mut expressions, mut last) = (0, 0);
    for part in parts {
        let (at, letters) = (part.as_span().start(), part.as_str());
        if matches!(part.as_rule(), Rule::comma | Rule::not | Rule::close | Rule::bracket) {
            last = part.as_span().end();
        }
        match part.as_rule() {
            Rule::lump => lump = letters,
            Rule::comma => nest.comma(at)?,
            Rule::not => nest.open(at)?,
            Rule::close => {
                let either = nest.close(at)?;
                nest.last().0.push(Test::Not(either));
            }
            Rule::bracket => {
                let test = part.into_inner().next().map(|part| test(text, part)).transpose()?.flatten();
                let has_expression =
                    |test: &&Test| matches!(test, Test::Field { check: Check::Compare(Compare::Matches(_)), .. });
                expressions += test.iter().filter(has_expression).count();
                if expressions > MAX_EXPRESSIONS {
                    return Err(nest.wrong(at, &format!("there are more than {MAX_EXPRESSIONS} expressions")));
                }
                nest.last().0.extend(test);
            }
            Rule::path => (path, end) = (letters, part.as_span().end()),
            Rule::sign | Rule::whole => {
                end = end.min(at);
                rest.push(part);
            }
            _ => {}
        }
    }
    let either = nest.finish(last)?;
    let text = text[..end].to_owned();
    Ok((Query { text, lump: lump.to_owned(), either, field: path.to_owned() }, rest))
}

/// What is in a pair of brackets; `None` for `*`.
fn test(text: &str, part: Pair<'_, Rule>) -> Result<Option<Test>> {
    // Only a number with too many digits does not fit; no record has such an index.
    let index = |digits: &str, none: usize| if digits.is_empty() { none } else { digits.parse().unwrap_or(usize::MAX) };
    Ok(match part.as_rule() {
        Rule::one => Some(Test::One(index(part.as_str(), 0))),
        Rule::range => {
            let (start, end) = part.as_str().split_once("..").unwrap_or_default();
            Some(Test::Range(index(start, 0), index(end, usize::MAX)))
        }
        Rule::field => Some(field(text, part)?),
        _ => None,
    })
}

fn field(text: &str, part: Pair<'_, Rule>) -> Result<Test> {
    let (mut path, mut at, mut operator, mut source) = (String::new(), 0, "", ("", 0));
    let mut check = Check::Compare(Compare::Exists);
    for part in part.into_inner() {
        let (start, letters) = (part.as_span().start(), part.as_str());
        match part.as_rule() {
            Rule::path => (path, at) = (letters.to_owned(), start),
            Rule::bits | Rule::operator => operator = letters,
            Rule::expression => source = (letters, start),
            Rule::letters => {
                let compiled = Expression::at(source, letters == "i");
                let compiled = compiled.map_err(|(at, why)| grammar::wrong(QUERY, text, at, &why))?;
                check = Check::Compare(Compare::Matches(compiled));
            }
            Rule::value => {
                let value = part.into_inner().map(|text| text.as_str()).collect::<Vec<_>>().concat();
                check = match operator {
                    "&" => Check::Bits(value),
                    _ => Check::Compare(
                        compared(operator, unescape(&value)).map_err(|why| grammar::wrong(QUERY, text, start, &why))?,
                    ),
                };
            }
            _ => {}
        }
    }
    Ok(Test::Field { path, at, check })
}

/// The reason why the text cannot be read from here on.
fn unreadable(text: &str, at: usize, is_change: bool) -> Error {
    let (before, rest) = text.split_at(at);
    let form = if is_change {
        "LUMP[INDEX].FIELD=VALUE, as in planes[0].normal[2]=1"
    } else {
        "LUMP[INDEX].FIELD, as in planes[0].normal[2]"
    };
    let why = match rest {
        _ if !text.contains('[') => format!("a record is missing: write {form}"),
        _ if before.ends_with('[') => "an index, a range such as 3..9, `*` or a field is expected here".to_owned(),
        _ if rest.starts_with("!=") => "`!=` is written `:not([field=value])`".to_owned(),
        _ if rest.starts_with('~') => "an expression is written between slashes: `[field~/re/]`".to_owned(),
        _ if rest.starts_with('=') && !is_change => {
            "there is no value here: `get` prints fields, and `set` changes them".to_owned()
        }
        "" if before.contains("~/") && !before.contains("/]") && !before.contains("/i]") => {
            "it ends too early; `/]` is missing".to_owned()
        }
        "" if before.rfind('[') > before.rfind(']') => "it ends too early; a `]` is missing".to_owned(),
        "" if is_change => format!("an operator is missing: write {form}"),
        "" => "it ends too early".to_owned(),
        _ if before.ends_with(']') && is_change => "an operator is expected here: = += -= *= /= |= &= ^=".to_owned(),
        _ if is_change && before.rfind(']') < before.rfind('.') => {
            "a field, or an operator: = += -= *= /= |= &= ^=".to_owned()
        }
        _ => format!("`{}` is not expected here", rest.chars().next().unwrap_or_default()),
    };
    grammar::wrong(QUERY, text, at, &why)
}
