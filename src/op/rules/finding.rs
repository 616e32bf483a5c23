//! What is wrong or risky in rule files: all codes, and which readings refuse which of them.

use std::fmt;

use super::Mode;
use crate::op::check::Severity;

/// A kind of finding about rules. Its meaning never changes.
///
/// ```
/// use bspkit::op::rules::CODES;
/// let code = CODES.iter().find(|code| code.name == "rule-long-line").map(|code| code.refused_by.len());
/// assert_eq!(code, Some(1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// The name.
    pub name: &'static str,
    /// How serious it is.
    pub severity: Severity,
    /// What it means, in one sentence.
    pub meaning: &'static str,
    /// The modes that apply no rule of a file with such a finding.
    pub refused_by: &'static [Mode],
}

macro_rules! codes {
    ($($name:ident = $text:literal, $severity:ident, [$($mode:ident),*], $meaning:literal;)*) => {
        $(pub(crate) const $name: &Code =
            &Code { name: $text, severity: Severity::$severity, meaning: $meaning, refused_by: &[$(Mode::$mode),*] };)*

        /// All kinds of findings about rules.
        pub const CODES: &[&Code] = &[$($name),*];
    };
}

codes! {
    UNSUPPORTED = "rule-unsupported", Error, [Plugin, Strict, Lumper],
        "the rule is valid, and this program cannot do what it says";
    SYNTAX = "rule-syntax", Error, [Plugin, Strict, Lumper], "the file cannot be read as rules";
    PATTERN = "rule-pattern", Error, [Strict],
        "a regular expression does not compile, so its pair is left out and the rule matches more";
    EMPTY_BLOCK = "rule-empty-block", Error, [Strict], "a block without pairs matches every entity";
    UNCLOSED = "rule-unclosed", Error, [Strict], "a block is not closed, so it is never applied";
    LONG_LINE = "rule-long-line", Warning, [Strict], "a line has more than 253 bytes, and its rest is read as a line";
    EMPTY_VALUE = "rule-empty-value", Warning, [Strict], "a pair has an empty key or value, so it is left out";
    SLASHES = "rule-slashes", Warning, [Strict],
        "a value to be stored begins and ends with a slash, and the last one is cut off";
    IGNORED = "rule-ignored", Warning, [Strict], "a line is not a header, a brace, a pair or a comment";
    REST = "rule-rest", Note, [], "text after a pair is ignored, also a comment";
    REPLACED = "rule-replaced", Warning, [Strict], "a later block of the same kind takes the place of this one";
    NO_MATCH = "rule-no-match", Warning, [], "the rule matches no entity of the maps";
    NO_MAP = "rule-no-map", Warning, [], "the file or the rule is for maps of other names than those that were given";
    MANY = "rule-many", Warning, [], "the rule matches worldspawn, or half of a map's entities or more";
    REFUSED = "rule-refused", Error, [],
        "a map that the rule would make cannot be read by its engines, so it is not applied";
    LOOSE = "rule-loose", Warning, [], "an entity matches by equal keys, though not every pair of the rule is in it";
}

/// Where something is in a rule file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct At {
    /// The line, from 1.
    pub line: usize,
    /// The byte in the line, from 1.
    pub column: usize,
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Something wrong or risky in a rule file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The kind of finding.
    pub code: &'static Code,
    /// Its place in the file.
    pub at: At,
    /// The fault: a sentence without a capital and a full stop.
    pub message: String,
}
