//! Regular expressions, in linear time, of bounded size: on the letters of a text in UTF-8, on bytes otherwise.

use std::sync::OnceLock;

use regex::bytes::{Captures, Regex, RegexBuilder};

/// The memory of one compiled expression in bytes: without a limit a short text can need gigabytes.
const MAX_EXPRESSION: usize = 1 << 20;
/// How deep groups of an expression may be nested.
const MAX_GROUPS: u32 = 64;

/// A regular expression with the text it was read from.
#[derive(Clone, Debug)]
pub(crate) struct Expression {
    pub(crate) text: String,
    pub(crate) ignores_case: bool,
    regex: Regex,
    /// The same for text in UTF-8, where a letter of several bytes is one; `None` if it needs tables of Unicode.
    letters: OnceLock<Option<Regex>>,
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        (&self.text, self.ignores_case) == (&other.text, other.ignores_case)
    }
}

impl Expression {
    /// Compiles an expression at this offset of a larger text; the error is the offset of the mistake and the reason.
    pub(crate) fn at((text, at): (&str, usize), ignores_case: bool) -> Result<Self, (usize, String)> {
        Expression::new(text, ignores_case).map_err(|(why, column)| {
            let skipped = text.char_indices().nth(column).map_or(text.len(), |(offset, _)| offset);
            (at + skipped, why)
        })
    }

    /// Whether it matches somewhere in a value.
    pub(crate) fn is_match(&self, value: &[u8]) -> bool {
        self.on(value).is_match(value)
    }

    /// The number of groups; the whole match is one.
    pub(crate) fn groups(&self) -> usize {
        self.regex.captures_len()
    }

    /// The first match that starts at this offset or after it.
    pub(crate) fn captures<'v>(&self, value: &'v [u8], at: usize) -> Option<Captures<'v>> {
        self.on(value).captures_at(value, at)
    }

    /// The expression for this value.
    fn on(&self, value: &[u8]) -> &Regex {
        if value.is_ascii() || std::str::from_utf8(value).is_err() {
            return &self.regex;
        }
        let compile = || {
            let regex = || self::builder(&self.text, false).unicode(true).build().ok();
            if self.ignores_case || is_of_bytes(&self.text) { None } else { regex() }
        };
        self.letters.get_or_init(compile).as_ref().unwrap_or(&self.regex)
    }

    /// Compiles an expression; the error is the reason and its place in the text in characters.
    fn new(text: &str, ignores_case: bool) -> Result<Self, (String, usize)> {
        match builder(text, ignores_case).unicode(false).build() {
            Ok(regex) => Ok(Expression { text: text.to_owned(), ignores_case, regex, letters: OnceLock::new() }),
            Err(regex::Error::CompiledTooBig(_)) => {
                Err((format!("the expression takes more than {MAX_EXPRESSION} bytes when it is compiled"), 0))
            }
            Err(error) => Err(reason(&error.to_string())),
        }
    }
}

/// Whether an expression has escapes that mean bytes or ASCII, or flags. Whether the crate has tables of Unicode for
/// them depends on what else a program is built with.
fn is_of_bytes(text: &str) -> bool {
    let has = |start: char, letters: &str| {
        text.match_indices(start).any(|(at, _)| text[at + 1..].starts_with(|next| letters.contains(next)))
    };
    has('\\', "xuUwWdDsSbBpP") || has('?', "imsxuRU-")
}

fn builder(text: &str, ignores_case: bool) -> RegexBuilder {
    let mut builder = RegexBuilder::new(text);
    builder.case_insensitive(ignores_case).size_limit(MAX_EXPRESSION).nest_limit(MAX_GROUPS);
    builder
}

/// The last line of the crate's message, and the column of its caret, which it indents by four spaces.
fn reason(said: &str) -> (String, usize) {
    let why = said.lines().last().unwrap_or_default();
    let why = why.strip_prefix("error: ").unwrap_or(why);
    let caret = said.lines().find(|line| line.trim_start().starts_with('^') && line.trim_end().ends_with('^'));
    let column = caret.and_then(|line| line.find('^')).map_or(0, |at| at.saturating_sub(4));
    (format!("the expression cannot be read: {why}"), column)
}
