//! Regular expressions: on bytes, in linear time, of bounded size.

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
        self.regex.is_match(value)
    }

    /// The number of groups; the whole match is one.
    pub(crate) fn groups(&self) -> usize {
        self.regex.captures_len()
    }

    /// The first match that starts at this offset or after it.
    pub(crate) fn captures<'v>(&self, value: &'v [u8], at: usize) -> Option<Captures<'v>> {
        self.regex.captures_at(value, at)
    }

    /// Compiles an expression; the error is the reason and its place in the text in characters.
    fn new(text: &str, ignores_case: bool) -> Result<Self, (String, usize)> {
        let regex = RegexBuilder::new(text)
            .unicode(false)
            .case_insensitive(ignores_case)
            .size_limit(MAX_EXPRESSION)
            .nest_limit(MAX_GROUPS)
            .build();
        match regex {
            Ok(regex) => Ok(Expression { text: text.to_owned(), ignores_case, regex }),
            Err(regex::Error::CompiledTooBig(_)) => {
                Err((format!("the expression takes more than {MAX_EXPRESSION} bytes when it is compiled"), 0))
            }
            Err(error) => Err(reason(&error.to_string())),
        }
    }
}

/// The last line of the crate's message, and the column of its caret, which it indents by four spaces.
fn reason(said: &str) -> (String, usize) {
    let why = said.lines().last().unwrap_or_default();
    let why = why.strip_prefix("error: ").unwrap_or(why);
    let caret = said.lines().find(|line| line.trim_start().starts_with('^') && line.trim_end().ends_with('^'));
    let column = caret.and_then(|line| line.find('^')).map_or(0, |at| at.saturating_sub(4));
    (format!("the expression cannot be read: {why}"), column)
}
