//! Stripper:Source files, as the plug-in reads them, line by line, and as Lumper does.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::pattern::Pattern;
use super::{Action, At, Expected, Finding, Match, Mode, Need, NewPair, Rule, Rules, Step, Test};
use crate as rules;
use bspkit::bytes::escaped;

// Stripper:Source files as the plug-in reads them, line by line.
//
// A header stays in force until the next one, also within a block; what a block does is decided when it is closed.
// Source: `Stripper::ApplyFileFilter` (parser.cpp of alliedmodders/stripper-source).

/// The plug-in reads a line into a buffer of 255 bytes with `fgets`, which it gives one byte less.
pub(super) const MOST_IN_LINE: usize = 253;

/// A pair; the first one in a line counts. All expressions are literals that compile. `\s` of PCRE 7.9 has no
/// vertical tab.
pub(super) static PAIR: LazyLock<Option<Regex>> =
    LazyLock::new(|| expression(r#"(?-u)"([^"]+)"[ \t\n\f\r]+"([^"]+)""#));
/// The same as .NET reads it.
pub(super) static PAIR_OF_DOTNET: LazyLock<Option<Regex>> =
    LazyLock::new(|| expression(r#"(?-u)"([^"]+)"\s+"([^"]+)""#));
static EMPTY_PAIR: LazyLock<Option<Regex>> = LazyLock::new(|| expression(r#"(?-u)^"[^"]*"\s+"[^"]*""#));

fn expression(text: &str) -> Option<Regex> {
    Regex::new(text).ok()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Filter,
    Add,
    Modify,
}

/// The blocks inside of `modify:`, by their place in [`Reader::parts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Match,
    Replace,
    Delete,
    Insert,
}

/// What a line switches to, if it begins with a word. The last ones count only after `modify:`.
const HEADERS: [(&[u8], Kind); 3] = [(b"filter:", Kind::Filter), (b"remove:", Kind::Filter), (b"add:", Kind::Add)];
const PARTS: [(&[u8], Part, &str); 4] = [
    (b"match:", Part::Match, "match"),
    (b"replace:", Part::Replace, "replace"),
    (b"delete:", Part::Delete, "delete"),
    (b"insert:", Part::Insert, "insert"),
];

/// A pair with the value as the plug-in keeps it: without a closing slash, if it is an expression.
#[derive(Clone, Debug)]
struct Prop {
    at: At,
    key: Vec<u8>,
    value: Vec<u8>,
    pattern: Option<Result<Box<Pattern>, Finding>>,
}

struct Reader<'r> {
    rules: &'r mut Rules,
    kind: Kind,
    part: Option<Part>,
    /// The place of the block that is open.
    block: Option<At>,
    props: Vec<Prop>,
    /// The blocks of `modify:` that wait for its end, each with its place.
    parts: [Option<(At, Vec<Prop>)>; 4],
    /// The place of the `modify:` that they belong to.
    modify: Option<At>,
}

/// Reads a file.
pub(super) fn read(rules: &mut Rules, text: &[u8]) {
    let mut reader = Reader {
        rules,
        kind: Kind::Filter,
        part: None,
        block: None,
        props: Vec::new(),
        parts: Default::default(),
        modify: None,
    };
    let (mut line, mut rest) = (1, text);
    let mut column = 1;
    while !rest.is_empty() {
        let most = rest.len().min(MOST_IN_LINE);
        let length = memchr::memchr(b'\n', &rest[..most]).map_or(most, |end| end + 1);
        let (chunk, after) = rest.split_at(length);
        let is_whole = chunk.ends_with(b"\n");
        // Once for a line: it may have millions of bytes.
        let next = || after.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii_end().len();
        let next = if !is_whole && column == 1 { next() } else { 0 };
        if next > 0 {
            let at = At { line, column: MOST_IN_LINE + 1 };
            let length = MOST_IN_LINE + next;
            reader.rules.find(
                rules::LONG_LINE,
                at,
                format!("the line has {length} bytes; from here on it is read as another line"),
            );
        }
        reader.chunk(At { line, column }, chunk);
        (line, column) = if is_whole { (line + 1, 1) } else { (line, column + length) };
        rest = after;
    }
    reader.end();
}

/// A line without what follows a NUL and without blanks around it, and how many there are before it.
fn trimmed(chunk: &[u8]) -> (usize, &[u8]) {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t'..=b'\r');
    let text = chunk.split(|byte| *byte == 0).next().unwrap_or_default();
    let start = text.iter().take_while(|byte| is_blank(byte)).count();
    let blanks = text[start..].iter().rev().take_while(|byte| is_blank(byte)).count();
    (start, &text[start..text.len() - blanks])
}

impl Reader<'_> {
    fn chunk(&mut self, at: At, chunk: &[u8]) {
        let (start, text) = trimmed(chunk);
        let at = At { column: at.column + start, ..at };
        if text.is_empty() || text.starts_with(b";") || text.starts_with(b"#") || text.starts_with(b"//") {
            return;
        }
        if let Some((word, kind)) = HEADERS.iter().find(|(word, _)| text.starts_with(word)) {
            self.kind = *kind;
            self.rest(at, text, word.len());
        } else if text == b"modify:" {
            (self.kind, self.part) = (Kind::Modify, None);
            self.warn_of_open_modify(at);
            self.modify = Some(at);
        } else if let Some((word, part, _)) =
            PARTS.iter().find(|(word, ..)| self.kind == Kind::Modify && text.starts_with(word))
        {
            self.part = Some(*part);
            self.rest(at, text, word.len());
            self.modify.get_or_insert(at);
        } else if text == b"{" && self.block.is_none() {
            self.open(at);
        } else if text.starts_with(b"}") && self.block.is_some() {
            self.close();
            self.rest(at, text, 1);
        } else if text.starts_with(b"}") && self.kind == Kind::Modify {
            self.run_modify(at);
            self.rest(at, text, 1);
        } else if self.block.is_some() && text != b"{" {
            self.pair(at, text);
        } else {
            self.ignored(at, text);
        }
    }

    /// What follows a header or a brace in its line: the plug-in does not read it.
    fn rest(&mut self, at: At, text: &[u8], length: usize) {
        let (word, rest) = text.split_at(length);
        let code = match rest.trim_ascii_start() {
            [] => return,
            rest if is_comment(rest) => rules::REST,
            _ => rules::IGNORED,
        };
        let at = At { column: at.column + length, ..at };
        self.rules.find(code, at, format!("the text after {} is ignored", shown(word)));
    }

    fn open(&mut self, at: At) {
        if self.kind == Kind::Modify && self.part.is_none() {
            self.modify.get_or_insert(at);
            return;
        }
        self.props.clear();
        self.block = Some(at);
    }

    fn close(&mut self) {
        let Some(at) = self.block.take() else { return };
        match (self.kind, self.part) {
            (Kind::Filter, _) => {
                let tests = self.tests_of_block();
                self.warn_of_empty(at, tests.is_empty(), "the filter has no pairs and removes every entity");
                let on = Match { tests, need: self.need() };
                self.rules.rules.push(Rule { at, maps: Vec::new(), on, action: Action::Remove });
            }
            (Kind::Add, _) => {
                let props = std::mem::take(&mut self.props);
                self.warn_of_empty(at, props.is_empty(), "the added entity has no pairs");
                let action = Action::Add(self.stored(props));
                self.rules.rules.push(Rule { at, maps: Vec::new(), on: Match::default(), action });
            }
            (Kind::Modify, Some(part)) => {
                let new = (at, std::mem::take(&mut self.props));
                let (place, name) = PARTS
                    .iter()
                    .enumerate()
                    .find(|(_, row)| row.1 == part)
                    .map_or((0, ""), |(place, row)| (place, row.2));
                if let Some((old, _)) = self.parts[place].replace(new).filter(|(_, props)| !props.is_empty()) {
                    let message =
                        format!("this block is not used: the `{name}` block in line {} takes its place", at.line);
                    self.rules.find(rules::REPLACED, old, message);
                }
            }
            // The header of the part is missing: the plug-in forgets the block when the next one is opened.
            (Kind::Modify, None) => self.ignored(at, b"{"),
        }
    }

    fn run_modify(&mut self, at: At) {
        let place = self.modify.take().unwrap_or(at);
        if self.parts.iter().all(Option::is_none) {
            return self.ignored(at, b"}");
        }
        let [matches, replace, delete, insert] =
            std::mem::take(&mut self.parts).map(|part| part.map(|(_, props)| props).unwrap_or_default());
        let tests = self.tests(matches);
        self.warn_of_empty(place, tests.is_empty(), "the modify block has no pairs to match and changes every entity");
        let delete = Step::Delete(self.tests(delete));
        self.warn_of_repeated(&replace);
        let replace = Step::Replace { pairs: self.stored(replace), is_exact: false };
        let insert = self.stored(insert).into_iter().map(Step::Insert);
        let steps = [delete, replace].into_iter().chain(insert).collect();
        let on = Match { tests, need: self.need() };
        self.rules.rules.push(Rule { at: place, maps: Vec::new(), on, action: Action::Modify(steps) });
    }

    fn need(&self) -> Need {
        if self.rules.mode == Mode::Strict { Need::Each } else { Need::Count }
    }

    fn pair(&mut self, at: At, text: &[u8]) {
        let groups = PAIR.as_ref().and_then(|pair| pair.captures(text));
        let Some((whole, key, value)) = groups.and_then(|it| Some((it.get(0)?, it.get(1)?, it.get(2)?))) else {
            return match EMPTY_PAIR.as_ref().is_some_and(|pair| pair.is_match(text)) {
                true => self.rules.find(
                    rules::EMPTY_VALUE,
                    at,
                    format!("the key or the value is empty, so the pair is left out: {}", shown(text)),
                ),
                false => self.ignored(at, text),
            };
        };
        let rest = text[whole.end()..].trim_ascii();
        if is_comment(rest) {
            let at = At { column: at.column + whole.end(), ..at };
            self.rules.find(rules::REST, at, "the text after the pair is ignored");
        } else if !rest.is_empty() || whole.start() > 0 {
            self.rules.find(rules::IGNORED, at, format!("only {} is read of the line", shown(whole.as_bytes())));
        }
        let value_at = At { column: at.column + value.start(), ..at };
        let mut prop =
            Prop { at: value_at, key: key.as_bytes().to_vec(), value: value.as_bytes().to_vec(), pattern: None };
        if prop.value.starts_with(b"/") && prop.value.ends_with(b"/") {
            prop.value.pop();
            match self.expression(value_at, prop.value.get(1..).unwrap_or_default()) {
                Some(pattern) => prop.pattern = Some(pattern),
                None => return,
            }
        }
        self.props.push(prop);
    }

    /// The expression, or why it is not supported; `None` if the plug-in would leave the pair out.
    fn expression(&mut self, at: At, text: &[u8]) -> Option<Result<Box<Pattern>, Finding>> {
        let number = self.rules.findings.len();
        let at = At { column: at.column + 1, ..at };
        match self.rules.pattern(at, text) {
            Some(pattern) => Some(Ok(pattern)),
            // Only a block that matches needs it; whether this one does is known at its end.
            None => match self.rules.findings.pop_if(|found| found.code == rules::UNSUPPORTED) {
                Some(found) if self.rules.findings.len() == number => Some(Err(found)),
                _ => {
                    if let Some(found) = self.rules.findings.last_mut() {
                        found.message += "; the plug-in leaves the pair out, so the rule matches more";
                    }
                    None
                }
            },
        }
    }

    fn tests_of_block(&mut self) -> Vec<Test> {
        let props = std::mem::take(&mut self.props);
        self.tests(props)
    }

    fn tests(&mut self, props: Vec<Prop>) -> Vec<Test> {
        let mut tests = Vec::with_capacity(props.len());
        for Prop { at, key, value, pattern } in props {
            let value = match pattern {
                None => Expected::Is(value),
                Some(Ok(pattern)) => Expected::Like(pattern),
                Some(Err(found)) => {
                    self.rules.findings.push(found);
                    Expected::Nothing
                }
            };
            tests.push(Test { at, key, is_exact: false, value, is_negated: false });
        }
        tests
    }

    /// Pairs to be written.
    fn stored(&mut self, props: Vec<Prop>) -> Vec<NewPair> {
        for prop in props.iter().filter(|prop| prop.pattern.is_some()) {
            let message = format!("the value is stored without its last slash, as `{}`", escaped(&prop.value));
            self.rules.find(rules::SLASHES, prop.at, message);
        }
        props.into_iter().map(|Prop { at, key, value, .. }| NewPair { at, key, value }).collect()
    }

    /// Of equal keys in a `replace` block the first one counts.
    fn warn_of_repeated(&mut self, props: &[Prop]) {
        let mut keys = HashSet::new();
        for prop in props.iter().filter(|prop| !keys.insert(prop.key.to_ascii_lowercase())) {
            let message = format!("the block has the key `{}` before: this pair does nothing", escaped(&prop.key));
            self.rules.find(rules::REPEATED, prop.at, message);
        }
    }

    fn warn_of_empty(&mut self, at: At, is_empty: bool, message: &str) {
        if is_empty {
            self.rules.find(rules::EMPTY_BLOCK, at, message);
        }
    }

    fn warn_of_open_modify(&mut self, at: At) {
        if self.parts.iter().any(Option::is_some) {
            let place = self.modify.unwrap_or(at);
            let message = format!("the modify block is not closed, so its parts belong to the one in line {}", at.line);
            self.rules.find(rules::UNCLOSED, place, message);
        }
    }

    fn ignored(&mut self, at: At, text: &[u8]) {
        let lower = text.to_ascii_lowercase();
        let is_header = HEADERS
            .iter()
            .map(|row| row.0)
            .chain(PARTS.iter().map(|row| row.0))
            .chain([&b"modify:"[..]])
            .any(|word| lower.starts_with(word));
        let why = match text {
            _ if text.starts_with(b"\xEF\xBB\xBF") => {
                "; the byte order mark before it is not a blank: save the file without one"
            }
            b"{" | b"}" => "; no block begins or ends here",
            _ if text.starts_with(b"{") => "; a brace has to be alone in its line",
            _ if is_header && self.kind != Kind::Modify && lower == text => "; this header belongs into `modify:`",
            _ if is_header => "; headers are in lower case, and `modify:` is alone in its line",
            _ => "",
        };
        self.rules.find(rules::IGNORED, at, format!("the line {} is ignored{why}", shown(text)));
    }

    fn end(self) {
        if let Some(at) = self.block {
            self.rules.find(rules::UNCLOSED, at, "the block is not closed, so it is never applied");
        } else if let Some((block, _)) = self.parts.iter().flatten().next() {
            // Without a beginning of its own it follows one that is closed.
            let at = self.modify.unwrap_or(*block);
            self.rules.find(rules::UNCLOSED, at, "the modify block is not closed, so it is never applied");
        }
    }
}

/// The beginning of a line.
pub(super) fn shown(text: &[u8]) -> String {
    let dots = if text.len() > 60 { "..." } else { "" };
    format!("`{}{dots}`", escaped(&text[..text.len().min(60)]))
}

// Stripper:Source files as Lumper reads them: lines of any length, headers in any case, blocks of the same kind are
// joined, and a line that is not understood ends the reading with an error.
//
// Source: `StripperConfig.cs` of momentum-mod/lumper.

/// A line that is not understood: its place, and what was expected.
type Wrong = (At, String);
type Pair = (At, Vec<u8>, Vec<u8>);
type Lines<'t> = std::iter::Peekable<std::vec::IntoIter<(At, &'t [u8])>>;

/// The blocks of `modify:`.
const LUMPER_PARTS: [&[u8]; 4] = [b"match:", b"replace:", b"delete:", b"insert:"];

/// Reads a file up to the first line that is not understood.
pub(super) fn read_lumper(rules: &mut Rules, text: &[u8]) {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    let mut lines = Vec::new();
    for (number, line) in lines_of(text).enumerate() {
        let column = 1 + line.len() - line.trim_ascii_start().len();
        lines.push((At { line: number + 1, column }, line.trim_ascii()));
    }
    lines.retain(|(_, line)| !line.is_empty());
    if let Err((at, message)) = blocks(rules, &mut lines.into_iter().peekable()) {
        rules.find(rules::SYNTAX, at, message);
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
            rules.find(rules::EMPTY_BLOCK, at, "the block has no pairs and matches every entity");
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
                let Some(place) = LUMPER_PARTS.iter().position(|part| *part == header) else {
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
                rules.find(rules::REST, at, message);
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
