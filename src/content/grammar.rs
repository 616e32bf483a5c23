//! The grammar of selectors, of changes to pairs and of queries for records, and the errors of texts that it cannot
//! read.

use pest::error::InputLocation;

use crate::{Error, ErrorKind, Result};
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

/// How deep `:not(...)` may be nested.
const MAX_DEPTH: usize = 32;

/// Alternatives that are read part by part, in parentheses within parentheses. `A` is one alternative.
pub(crate) struct Nest<'t, A> {
    what: &'static str,
    text: &'t str,
    outer: Vec<Level<A>>,
    level: Level<A>,
}

/// The complete alternatives, and the one that is being read.
struct Level<A> {
    either: Vec<A>,
    last: Option<A>,
    /// Where its `:not(` is.
    start: usize,
}

impl<'t, A: Default> Nest<'t, A> {
    pub(crate) fn new(what: &'static str, text: &'t str) -> Self {
        Nest { what, text, outer: Vec::new(), level: Level::new(0) }
    }

    /// The error at this place.
    pub(crate) fn wrong(&self, at: usize, why: &str) -> Error {
        wrong(self.what, self.text, at, why)
    }

    /// Whether an alternative begins here.
    pub(crate) fn is_first(&self) -> bool {
        self.level.last.is_none()
    }

    /// The alternative that is being read.
    pub(crate) fn last(&mut self) -> &mut A {
        self.level.last.get_or_insert_default()
    }

    /// A comma: another alternative follows.
    pub(crate) fn comma(&mut self, at: usize) -> Result<()> {
        let last = self.level.last.take().ok_or_else(|| self.wrong(at, &format!("a {} is missing", self.what)))?;
        self.level.either.push(last);
        Ok(())
    }

    /// The parenthesis of a `:not(`.
    pub(crate) fn open(&mut self, at: usize) -> Result<()> {
        if self.outer.len() == MAX_DEPTH {
            return Err(self.wrong(at, &format!("`:not(...)` is nested deeper than {MAX_DEPTH}")));
        }
        self.outer.push(std::mem::replace(&mut self.level, Level::new(at)));
        Ok(())
    }

    /// The parenthesis that ends a `:not(`: the alternatives in it.
    pub(crate) fn close(&mut self, at: usize) -> Result<Vec<A>> {
        self.comma(at)?;
        let around = self.outer.pop().ok_or_else(|| self.wrong(at, "this `)` has no `:not(`"))?;
        Ok(std::mem::replace(&mut self.level, around).either)
    }

    /// The end: all alternatives.
    pub(crate) fn finish(mut self, at: usize) -> Result<Vec<A>> {
        if !self.outer.is_empty() {
            return Err(self.wrong(self.level.start, "this `:not(` has no `)`"));
        }
        self.comma(at)?;
        Ok(self.level.either)
    }
}

impl<A> Level<A> {
    fn new(start: usize) -> Self {
        Level { either: Vec::new(), last: None, start }
    }
}
