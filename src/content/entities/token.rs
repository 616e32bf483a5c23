//! Tokens of an entity text, read by the grammar in windows of bounded size.

use std::ops::Range;

use pest::{Parser, Token};

use crate::bytes::{index, short};
use crate::{Error, ErrorKind, Result};

/// pest keeps 80 bytes for a token, so what it sees at a time is kept small.
const WINDOW: usize = 32 * 1024;

#[allow(missing_docs, unreachable_pub)]
mod grammar {
    #[derive(pest_derive::Parser)]
    #[grammar = "../grammar/entities.pest"]
    pub(super) struct Grammar;
}

use grammar::{Grammar, Rule};

/// What a token is; words and strings are told apart by their first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Open,
    Close,
    Text,
    Comment,
}

/// Where a token, an entity or a gap lies in its buffer; no buffer is longer than [`MAX_TEXT`](super::parse::MAX_TEXT).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    pub(super) fn new(range: Range<usize>) -> Self {
        // No text is longer than MAX_TEXT, so neither bound saturates.
        Span { start: short(range.start), end: short(range.end) }
    }

    pub(super) fn start(self) -> usize {
        index(self.start)
    }

    pub(super) fn end(self) -> usize {
        index(self.end)
    }

    pub(super) fn range(self) -> Range<usize> {
        self.start()..self.end()
    }
}

/// Calls `each` for all tokens of `text`, from front to back.
///
/// A token that touches the end of its window may go on behind it: it is read again, in a window that starts at the
/// end of the token before it. A token that fills a window alone is read in ever larger ones.
pub(super) fn for_each(
    text: &[u8],
    block_comments: bool,
    mut each: impl FnMut(Kind, Range<usize>) -> Result<()>,
) -> Result<()> {
    let (all, first) = match block_comments {
        false => (Rule::plain, Rule::plain_first),
        true => (Rule::block, Rule::block_first),
    };
    let (mut at, mut window, mut rule) = (0, WINDOW, all);
    let mut shadow = Vec::new();
    while at < text.len() {
        let end = text.len().min(at.saturating_add(window));
        let is_last = end == text.len();
        let mut trusted = at;
        for (kind, token) in tokens(rule, mask(&text[at..end], &mut shadow)?)? {
            let token = at + token.start..at + token.end;
            if token.end == end && !is_last {
                break;
            }
            trusted = token.end;
            each(kind, token)?;
        }
        if is_last && (rule == all || trusted == at) {
            break;
        } else if trusted > at {
            (at, window, rule) = (trusted, WINDOW, all);
        } else {
            (window, rule) = (window.saturating_mul(2), first);
        }
    }
    Ok(())
}

fn tokens(rule: Rule, shadow: &str) -> Result<impl Iterator<Item = (Kind, Range<usize>)>> {
    let tree = Grammar::parse(rule, shadow).map_err(|error| {
        // The grammar accepts everything; should it ever not, the place is worth more than a panic.
        Error::new(ErrorKind::Malformed, format!("the entity grammar stopped at {:?}", error.location))
    })?;
    let mut start = 0;
    Ok(tree.tokens().filter_map(move |token| match token {
        Token::Start { pos, .. } => {
            start = pos.pos();
            None
        }
        Token::End { rule, pos } => {
            let kind = match rule {
                Rule::string | Rule::word => Kind::Text,
                Rule::open => Kind::Open,
                Rule::close => Kind::Close,
                Rule::comment | Rule::block_comment => Kind::Comment,
                _ => return None,
            };
            Some((kind, start..pos.pos()))
        }
    }))
}

/// The window as text of the same length: pest reads nothing but UTF-8, and entity texts are in many encodings. Line
/// feeds become NUL because pest would keep the offset of each, eight bytes for one byte of a hostile text.
fn mask<'s>(window: &[u8], shadow: &'s mut Vec<u8>) -> Result<&'s str> {
    shadow.clear();
    shadow.extend(window.iter().map(|&byte| match byte {
        b'\n' => 0,
        0x80.. => b'x',
        _ => byte,
    }));
    // Every byte is below 0x80 now.
    std::str::from_utf8(shadow).map_err(|error| Error::new(ErrorKind::Malformed, "not ASCII").because(error))
}
