//! Tokens of an entity text, read by the grammar in windows of bounded size.

use std::ops::Range;

use pest::{Parser, Token};

use crate::bytes::{index, short};
use crate::dialect::TextSyntax;
use crate::{Error, ErrorKind, Result};

/// pest keeps 80 bytes per token, so it is given small windows.
const WINDOW: usize = 32 * 1024;

#[allow(missing_docs, unreachable_pub)]
mod grammar {
    #[derive(pest_derive::Parser)]
    #[grammar = "../grammar/entities.pest"]
    pub(super) struct Grammar;
}

use grammar::{Grammar, Rule};

/// What a token is. Strings, words and tokens of one byte differ by their first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Comment,
}

/// Where a token, an entity or a gap lies in its buffer; no buffer is longer than
/// [`MAX_TEXT`](super::parse::MAX_TEXT).
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
/// A token that touches the end of its window may continue after it: it is read again, in a window that starts at the
/// end of the token before it. A token that fills a window alone is read again in a larger one.
pub(super) fn for_each(
    text: &[u8],
    syntax: &TextSyntax,
    mut each: impl FnMut(Kind, Range<usize>) -> Result<()>,
) -> Result<()> {
    let (mut at, mut window, mut rule) = (0, WINDOW, Rule::all);
    let mut mask = Mask::new(syntax);
    while at < text.len() {
        let end = text.len().min(at.saturating_add(window));
        let is_last = end == text.len();
        let mut trusted = at;
        let shadow = mask.of(&text[at..end])?;
        for (kind, token) in tokens(rule, shadow)?.flat_map(|(rule, range)| parts(rule, range, shadow)) {
            let token = at + token.start..at + token.end;
            if token.end == end && !is_last {
                break;
            }
            trusted = token.end;
            each(kind, token)?;
        }
        if is_last && (rule == Rule::all || trusted == at) {
            break;
        } else if trusted > at {
            (at, window, rule) = (trusted, WINDOW, Rule::all);
        } else {
            (window, rule) = (window.saturating_mul(2), Rule::first);
        }
    }
    Ok(())
}

fn tokens(rule: Rule, shadow: &str) -> Result<impl Iterator<Item = (Rule, Range<usize>)>> {
    let tree = Grammar::parse(rule, shadow).map_err(|error| {
        // The grammar accepts all bytes. If it has a mistake, an error with the place is better than a panic.
        Error::new(ErrorKind::Malformed, format!("the entity grammar stopped at {:?}", error.location))
    })?;
    let mut start = 0;
    Ok(tree.tokens().filter_map(move |token| match token {
        Token::Start { pos, .. } => {
            start = pos.pos();
            None
        }
        Token::End { rule: Rule::all | Rule::first | Rule::EOI, .. } => None,
        Token::End { rule, pos } => Some((rule, start..pos.pos())),
    }))
}

/// The tokens of a match: the strings of a run, with one blank between two, or the match itself.
fn parts(rule: Rule, range: Range<usize>, shadow: &str) -> impl Iterator<Item = (Kind, Range<usize>)> {
    let kind = if matches!(rule, Rule::comment | Rule::block_comment) { Kind::Comment } else { Kind::Text };
    let mut at = range.start;
    std::iter::from_fn(move || {
        let inner = shadow.as_bytes().get(at + 1..range.end).filter(|_| at < range.end)?;
        let quote = if rule == Rule::strings { memchr::memchr(b'"', inner) } else { None };
        let token = at..quote.map_or(range.end, |quote| at + quote + 2);
        at = token.end + 1;
        Some((kind, token))
    })
}

/// Windows as text of the same length in the grammar's classes of bytes: pest reads only UTF-8, and entity texts are in
/// many encodings. Line feeds become NUL, since pest would keep the offset of each: eight bytes for one byte of a
/// hostile text.
struct Mask {
    classes: [u8; 256],
    escaped: &'static [u8],
    shadow: Vec<u8>,
}

impl Mask {
    fn new(syntax: &TextSyntax) -> Self {
        let mut classes = [b'x'; 256];
        for (class, byte) in classes.iter_mut().zip(0_u8..=255) {
            *class = match byte {
                b'\n' => 0,
                0..=b' ' => b' ',
                0x80.. if syntax.high_blanks => b' ',
                _ if syntax.single_tokens.contains(&byte) => b'{',
                b'"' | b'/' => byte,
                b'*' if syntax.block_comments => byte,
                _ => b'x',
            };
        }
        Mask { classes, escaped: syntax.escaped, shadow: Vec::new() }
    }

    fn of(&mut self, window: &[u8]) -> Result<&str> {
        self.shadow.clear();
        self.shadow.extend(window.iter().map(|&byte| self.classes[usize::from(byte)]));
        if !self.escaped.is_empty() {
            self.hide_escaped(window);
        }
        // Every class is below 0x80.
        std::str::from_utf8(&self.shadow)
            .map_err(|error| Error::new(ErrorKind::Malformed, "not ASCII").with_source(error))
    }

    /// Makes escaped quotes letters. This changes nothing outside quotes: there a backslash is part of a word, and so
    /// is a quote after it.
    fn hide_escaped(&mut self, window: &[u8]) {
        let mut at = 0;
        while let Some(found) = memchr::memchr(b'\\', &window[at..]) {
            at += found + 1;
            if window.get(at).is_some_and(|next| self.escaped.contains(next)) {
                self.shadow[at] = b'x';
                at += 1;
            }
        }
    }
}
