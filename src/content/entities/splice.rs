//! Splices: the smallest changes of an entity's text that make an edit.

use std::ops::Range;

use super::entity::unquoted;
use super::parse::{MAX_TEXT, PairSpan};
use super::style::{Style, quote, spaces_before};
use super::token::Span;
use super::{Entity, Own};
use crate::{Error, ErrorKind, Result};

/// Bytes that take the place of a range of the entity's buffer.
pub(super) struct Splice {
    range: Range<usize>,
    with: Vec<u8>,
}

impl Own {
    /// The entity with splices in ascending order, without the pairs of the given indices, also ascending.
    pub(super) fn spliced(entity: &Entity<'_>, splices: &[Splice], without: &[usize]) -> Result<Own> {
        let mut text = Vec::with_capacity(entity.range.len());
        let mut copied = entity.range.start;
        for splice in splices {
            text.extend_from_slice(&entity.bytes[copied..splice.range.start]);
            text.extend_from_slice(&splice.with);
            copied = splice.range.end;
        }
        text.extend_from_slice(&entity.bytes[copied..entity.range.end]);
        if text.len() > MAX_TEXT {
            return Err(Error::new(
                ErrorKind::TooLarge,
                format!("the entity would have {} bytes, more than {MAX_TEXT}", text.len()),
            ));
        }

        let (mut starts, mut ends) = (Shift::new(entity, splices), Shift::new(entity, splices));
        let mut moved = |span: Span| {
            let start = starts.to(span.start(), |splice| splice.range.end <= span.start());
            // Bytes inserted directly after a token are not part of it.
            let after = |splice: &Splice| splice.range.end <= span.end() && splice.range.start < span.end();
            Span::new(start..ends.to(span.end(), after))
        };
        let mut without = without.iter().copied().peekable();
        let mut pairs = Vec::with_capacity(entity.pairs.len());
        for (index, pair) in entity.pairs.iter().enumerate() {
            let pair = PairSpan { key: moved(pair.key), value: moved(pair.value) };
            if without.next_if_eq(&index).is_none() {
                pairs.push(pair);
            }
        }
        let inside = entity.inside.start - entity.range.start..text.len() - (entity.range.end - entity.inside.end);
        Ok(Own { origin: None, text, pairs, inside })
    }

    /// The entity with more pairs, after its last one.
    pub(super) fn with_pairs(entity: &Entity<'_>, style: &Style, pairs: &[(&[u8], &[u8])]) -> Result<Own> {
        let at = match entity.pairs.last() {
            Some(last) => behind_comment(entity, last.value.end(), &style.between),
            None if is_blank(entity) => return Ok(Own::new(style, pairs)),
            None => entity.inside.start,
        };
        let (mut with, mut spans) = (Vec::new(), Vec::with_capacity(pairs.len()));
        let start = at - entity.range.start;
        for (key, value) in pairs {
            with.extend_from_slice(&style.between);
            let key_at = start + with.len();
            style.pair(key, value, &mut with);
            let end = start + with.len();
            let key = Span::new(key_at..key_at + key.len() + 2);
            spans.push(PairSpan { key, value: Span::new(end - (value.len() + 2)..end) });
        }
        let mut own = Own::spliced(entity, &[Splice { range: at..at, with }], &[])?;
        own.pairs.append(&mut spans);
        Ok(own)
    }

    /// A new entity.
    pub(super) fn new(style: &Style, pairs: &[(&[u8], &[u8])]) -> Own {
        let text = style.entity(pairs);
        let mut spans = Vec::with_capacity(pairs.len());
        let mut at = 1;
        let mut token = |bytes: &[u8]| {
            // Spacing holds no quote, so the next one starts the token.
            let start = at + memchr::memchr(b'"', &text[at..]).unwrap_or_default();
            at = start + bytes.len() + 2;
            Span::new(start..at)
        };
        for (key, value) in pairs {
            spans.push(PairSpan { key: token(key), value: token(value) });
        }
        Own { origin: None, inside: 1..text.len() - 1, text, pairs: spans }
    }
}

impl Splice {
    /// Other bytes for a key or value; `None` where they are equal.
    pub(super) fn token(entity: &Entity<'_>, span: Span, with: &[u8]) -> Option<Splice> {
        let token = &entity.bytes[span.range()];
        let (content, is_whole) = unquoted(token, entity.syntax);
        if content == with {
            return None;
        }
        if token[0] == b'"' && is_whole {
            return Some(Splice { range: span.start() + 1..span.end() - 1, with: with.to_vec() });
        }
        let mut quoted = Vec::with_capacity(with.len() + 2);
        quote(with, &mut quoted);
        Some(Splice { range: span.range(), with: quoted })
    }

    /// The removal of pairs, each with the spacing before it; comments stay.
    pub(super) fn removal(entity: &Entity<'_>, pairs: &[usize]) -> Vec<Splice> {
        let mut runs: Vec<(usize, Range<usize>)> = Vec::new();
        for &index in pairs {
            let PairSpan { key, value } = entity.pairs[index];
            let before = match index.checked_sub(1) {
                Some(before) => entity.pairs[before].value.end(),
                None => entity.inside.start,
            };
            for (gap, token) in [(before, key), (key.end(), value)] {
                match runs.last_mut() {
                    // Two tokens with only spaces between them are removed as one.
                    Some((_, run)) if run.end == gap && spaces_only(&entity.bytes[gap..token.start()]) => {
                        run.end = token.end();
                    }
                    _ => runs.push((gap, token.range())),
                }
            }
        }
        runs.into_iter().map(|(gap, run)| Splice::run_removal(entity, gap, run)).collect()
    }

    /// The removal of consecutive tokens, after a gap that starts at `gap`.
    fn run_removal(entity: &Entity<'_>, gap: usize, run: Range<usize>) -> Splice {
        let bytes = &entity.bytes[..entity.range.end];
        let spaces = run.start - spaces_before(&bytes[gap..run.start])..run.start;
        let breaks_line = super::parse::end_of_line(bytes, run.end) > run.end;
        // A comment may follow directly after an entity that is not closed.
        let next = bytes.get(run.end).copied().unwrap_or(b'/');
        let mut start = spaces.start;
        if start > gap && !breaks_line {
            // The line break that ends a comment has to stay.
            start += memchr::memchr(b'\n', &bytes[spaces.clone()]).map_or(0, |at| at + 1);
        }
        let is_first = start == entity.inside.start;
        if is_first && next > b' ' {
            // Quake II needs a space after the brace.
            start = run.start;
        }
        // A brace must not touch a word either: some engines read it as a letter of the word.
        let joins = bytes[start - 1] > b' ' && !is_first && next > b' ';
        Splice { range: start..run.end, with: if joins { b" ".to_vec() } else { Vec::new() } }
    }
}

/// Positions of the old text in the new one, asked for in ascending order.
struct Shift<'s> {
    splices: &'s [Splice],
    old: usize,
    new: usize,
}

impl<'s> Shift<'s> {
    fn new(entity: &Entity<'_>, splices: &'s [Splice]) -> Self {
        Shift { splices, old: entity.range.start, new: 0 }
    }

    fn to(&mut self, position: usize, applies: impl Fn(&Splice) -> bool) -> usize {
        while let Some((splice, rest)) = self.splices.split_first()
            && applies(splice)
        {
            self.old += splice.range.len();
            self.new += splice.with.len();
            self.splices = rest;
        }
        position + self.new - self.old
    }
}

fn is_blank(entity: &Entity<'_>) -> bool {
    entity.is_closed() && spaces_only(&entity.bytes[entity.inside.clone()])
}

fn spaces_only(text: &[u8]) -> bool {
    text.iter().all(|&byte| byte <= b' ')
}

/// Where a pair at `at` is inserted: after a comment on the same line, if the pair starts a line of its own.
fn behind_comment(entity: &Entity<'_>, at: usize, before: &[u8]) -> usize {
    let rest = &entity.bytes[at..entity.range.end];
    let blanks = rest.iter().take_while(|&&byte| byte <= b' ' && byte != b'\n').count();
    let line = match memchr::memchr(b'\n', rest) {
        Some(end) if rest[blanks..].starts_with(b"//") && before.contains(&b'\n') => end,
        _ => return at,
    };
    at + if rest[..line].ends_with(b"\r") { line - 1 } else { line }
}
