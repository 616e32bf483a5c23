//! Stripper:Source files as Lumper reads them: lines of any length, headers in any case, blocks of the same kind are
//! joined, and a line that is not understood ends the reading with an error.
//!
//! Source: `StripperConfig.cs` of momentum-mod/lumper.

use super::finding::{self, At};
use super::model::{Action, Expected, Match, Need, NewPair, Rule, Rules, Step, Test};
use super::stripper::{PAIR_OF_DOTNET, shown};
use crate::bytes::escaped;

/// A line that is not understood: its place, and what was expected.
type Wrong = (At, String);
type Pair = (At, Vec<u8>, Vec<u8>);
type Lines<'t> = std::iter::Peekable<std::vec::IntoIter<(At, &'t [u8])>>;

/// The blocks of `modify:`.
const PARTS: [&[u8]; 4] = [b"match:", b"replace:", b"delete:", b"insert:"];

/// Reads a file up to the first line that is not understood.
pub(super) fn read(rules: &mut Rules, text: &[u8]) {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    let mut lines = Vec::new();
    for (number, line) in lines_of(text).enumerate() {
        let column = 1 + line.len() - line.trim_ascii_start().len();
        lines.push((At { line: number + 1, column }, line.trim_ascii()));
    }
    lines.retain(|(_, line)| !line.is_empty());
    if let Err((at, message)) = blocks(rules, &mut lines.into_iter().peekable()) {
        rules.find(finding::SYNTAX, at, message);
    }
}

/// The lines of .NET: a carriage return alone ends one too.
fn lines_of(mut text: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        if text.is_empty() {
            return None;
        }
        let length = memchr::memchr2(b'\n', b'\r', text).unwrap_or(text.len());
        let line = &text[..length];
        let end = if text[length..].starts_with(b"\r\n") { 2 } else { 1 };
        text = text.get(length + end..).unwrap_or_default();
        Some(line)
    })
}

fn is_comment(line: &[u8]) -> bool {
    line.starts_with(b";") || line.starts_with(b"#") || line.starts_with(b"//")
}

fn blocks(rules: &mut Rules, lines: &mut Lines<'_>) -> Result<(), Wrong> {
    let mut header = Vec::new();
    while let Some((at, line)) = lines.next() {
        if is_comment(line) {
            continue;
        }
        let is_open = line == b"{";
        if !is_open {
            header = line.to_ascii_lowercase();
        }
        let rule = match &header[..] {
            b"filter:" | b"remove:" => {
                let on = Match { tests: tests(rules, pairs(lines, is_open)?), need: Need::Each };
                Rule { at, maps: Vec::new(), on, action: Action::Remove }
            }
            b"add:" => {
                let action = Action::Add(stored(pairs(lines, is_open)?));
                Rule { at, maps: Vec::new(), on: Match::default(), action }
            }
            b"modify:" => modify(rules, lines, at, is_open)?,
            _ => {
                return Err((
                    at,
                    format!("{} is not a header: filter:, remove:, add: or modify: was expected", shown(line)),
                ));
            }
        };
        let is_empty = match &rule.action {
            Action::Add(pairs) => pairs.is_empty(),
            _ => rule.on.tests.is_empty(),
        };
        if is_empty {
            rules.find(finding::EMPTY_BLOCK, at, "the block has no pairs and matches every entity");
        }
        rules.rules.push(rule);
    }
    Ok(())
}

/// The pairs of a block. Lumper knows no comments in it.
fn pairs(lines: &mut Lines<'_>, mut is_open: bool) -> Result<Vec<Pair>, Wrong> {
    let mut pairs = Vec::new();
    for (at, line) in lines.by_ref() {
        match (line, is_open) {
            (b"{", false) => is_open = true,
            (b"}", true) => break,
            (_, false) => return Err((at, format!("`{{` was expected instead of {}", shown(line)))),
            _ => {
                let found = PAIR_OF_DOTNET.as_ref().and_then(|pair| pair.captures(line));
                let Some((key, value)) = found.and_then(|found| Some((found.get(1)?, found.get(2)?))) else {
                    return Err((at, format!("a pair \"key\" \"value\" was expected instead of {}", shown(line))));
                };
                let at = At { column: at.column + value.start(), ..at };
                pairs.push((at, key.as_bytes().to_vec(), value.as_bytes().to_vec()));
            }
        }
    }
    Ok(pairs)
}

fn modify(rules: &mut Rules, lines: &mut Lines<'_>, at: At, mut is_open: bool) -> Result<Rule, Wrong> {
    let mut parts: [Vec<Pair>; 4] = Default::default();
    let mut header = Vec::new();
    while let Some((at, line)) = lines.next() {
        let lower = line.to_ascii_lowercase();
        match (line, is_open) {
            (b"{", false) => is_open = true,
            (_, false) => return Err((at, format!("`{{` was expected instead of {}", shown(line)))),
            (b"}", true) => break,
            _ if is_comment(line) => {}
            _ => {
                let opens = line == b"{";
                if !opens {
                    header = lower;
                }
                let Some(place) = PARTS.iter().position(|part| *part == header) else {
                    let message = "is not a header: match:, replace:, delete: or insert: was expected";
                    return Err((at, format!("{} {message}", shown(line))));
                };
                parts[place].append(&mut pairs(lines, opens)?);
            }
        }
    }
    let [matches, replace, delete, insert] = parts;
    let on = Match { tests: tests(rules, matches), need: Need::Each };
    let replace = stored(replace).into_iter().map(|pair| Step::Replace { pairs: vec![pair], is_exact: true });
    let delete = Step::Delete(tests(rules, delete));
    let insert = stored(insert).into_iter().map(Step::Insert);
    let steps = replace.chain([delete]).chain(insert).collect();
    Ok(Rule { at, maps: Vec::new(), on, action: Action::Modify(steps) })
}

/// Lumper cuts the last letter off an expression.
fn tests(rules: &mut Rules, pairs: Vec<Pair>) -> Vec<Test> {
    let mut tests = Vec::with_capacity(pairs.len());
    for (at, key, value) in pairs {
        let is_pattern = value.len() > 2 && value.starts_with(b"/") && value.ends_with(b"/");
        let value = match is_pattern.then(|| &value[1..value.len() - 2]) {
            Some(text) => {
                let cut = At { column: at.column + 1, ..at };
                let pattern = rules.pattern(cut, text);
                let message = format!("Lumper reads only `{}` of the regular expression", escaped(text));
                rules.find(finding::REST, at, message);
                // An expression that does not compile matches nothing.
                pattern.map_or(Expected::Nothing, Expected::Like)
            }
            None => Expected::Is(value),
        };
        tests.push(Test { at, key, is_exact: false, value, is_negated: false });
    }
    tests
}

fn stored(pairs: Vec<Pair>) -> Vec<NewPair> {
    pairs.into_iter().map(|(at, key, value)| NewPair { at, key, value }).collect()
}
