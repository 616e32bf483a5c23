//! The grammar of selectors, of changes to pairs and of queries for records, and the errors of texts that it cannot
//! read.

use pest::error::InputLocation;

use crate::{Error, ErrorKind};
pub(crate) use parser::{Grammar, Rule};

#[allow(missing_docs, unreachable_pub)]
mod parser {
    #[derive(pest_derive::Parser)]
    #[grammar = "../grammar/select.pest"]
    pub(crate) struct Grammar;
}

/// Where the grammar cannot read on.
pub(crate) fn offset(error: &pest::error::Error<Rule>) -> usize {
    let (InputLocation::Pos(at) | InputLocation::Span((at, _))) = error.location;
    at
}

/// The error for a text that cannot be read. The hint has a mark under the place.
pub(crate) fn wrong(what: &str, text: &str, at: usize, why: &str) -> Error {
    let caret = " ".repeat(text[..at].chars().count());
    Error::new(ErrorKind::Argument, format!("cannot read the {what} `{}`: {why}", text.escape_debug()))
        .with_hint(format!("{}\n{caret}^", text.replace(char::is_control, " ")))
}
