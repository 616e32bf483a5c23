//! Prints an entity text: the original with the edits in it, as the smallest changes in the spacing that it has, or
//! the compilers' form.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::parse::{MAX_TEXT, PairSpan, Source, Span};
use super::{Body, DiagnosticKind, Diagnostics, Entities, Entity, EntityMut, Node, Own, rule, unquoted};
use crate::bytes::{escaped, index};
use crate::dialect::EntityRules;
use crate::{Data, Error, ErrorKind, Result};

// Prints an entity text: the original with the edits in it, or the compilers' form.

impl Entities<'_> {
    /// The lump's bytes: those that were read, with the edits.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.source.data.len());
        self.chunks().for_each(|chunk| bytes.extend_from_slice(chunk));
        bytes
    }

    /// Whether [`Entities::to_bytes`] differs from the bytes that were read.
    pub fn is_edited(&self) -> bool {
        let mut rest = &self.source.data[..];
        let same = self.chunks().all(|chunk| match rest.strip_prefix(chunk) {
            Some(remaining) => {
                rest = remaining;
                true
            }
            None => false,
        });
        !same || !rest.is_empty()
    }

    /// The lump's bytes in the form that compilers write: an entity is a line `{`, a line `"key" "value"` for each
    /// pair, and a line `}`. NULs and other bytes after the text stay as they are.
    ///
    /// The text of a compiler is already in this form, byte for byte. [`Entities::lost_in_canonical`] lists what this
    /// form drops.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] with the place if the dialect's engines would read the
    /// canonical form in another way. For example, a word with a quote in it cannot be between quotes.
    ///
    /// ```
    /// use bspkit::content::entities::Entities;
    /// use bspkit::dialect::EntityRules;
    ///
    /// let entities = Entities::parse("{ classname \"light\" }", EntityRules::QUAKE2)?;
    /// assert_eq!(entities.canonical()?, b"{\n\"classname\" \"light\"\n}\n");
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn canonical(&self) -> Result<Vec<u8>> {
        let style = Style::canonical();
        let mut bytes = Vec::with_capacity(self.source.data.len());
        for entity in self.iter() {
            bytes.extend_from_slice(b"{\n");
            for pair in entity.pairs() {
                style.pair(pair.key, pair.value, &mut bytes);
                bytes.push(b'\n');
            }
            bytes.extend_from_slice(b"}\n");
        }
        bytes.extend_from_slice(self.tail());
        let again = Entities::parse(&bytes[..], self.rules)?;
        let is_same = |index: usize| match (self.get(index), again.get(index)) {
            (Some(old), Some(new)) => old.pairs().eq(new.pairs()),
            _ => false,
        };
        match (0..self.len().max(again.len())).find(|&index| !is_same(index)) {
            Some(index) => {
                let message =
                    format!("{} would read the canonical form of this entity in another way", self.rules.engines);
                Err(rule::refused(message)
                    .at(rule::place(index))
                    .with_hint("set the values that have a quote in them first"))
            }
            None => Ok(bytes),
        }
    }

    /// Lists what [`Entities::canonical`] drops: comments, tokens outside entities and keys without a value. The spans
    /// refer to [`Entities::to_bytes`].
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] if the edited text exceeds the limits of
    /// [`Entities::parse`].
    pub fn lost_in_canonical(&self) -> Result<Diagnostics> {
        let text = Data::from(self.to_bytes());
        Ok(Source::parse(text, &self.rules, DiagnosticKind::is_lost_in_canonical)?.diagnostics)
    }

    fn chunks(&self) -> impl Iterator<Item = &[u8]> {
        let nodes = self.nodes.iter().enumerate().flat_map(|(index, node)| {
            let (lead, trail) = self.around(node);
            [lead, self.view(index).bytes(), trail]
        });
        nodes.chain([self.end_bytes(), self.tail()])
    }

    /// The bytes before an entity, and the rest of its line.
    pub(super) fn around<'e>(&'e self, node: &'e Node) -> (&'e [u8], &'e [u8]) {
        let origin = match &node.body {
            Body::Source(origin) => Some(*origin),
            Body::Own(own) => own.origin,
        };
        match (&node.around, origin) {
            (Some(around), _) => (&around.lead, &around.trail),
            (None, Some(origin)) => (self.source.lead(index(origin)), self.source.trail(index(origin))),
            (None, None) => (b"", b""),
        }
    }

    /// The bytes after the last entity's line.
    pub(super) fn end_bytes(&self) -> &[u8] {
        self.end.as_ref().map_or_else(|| self.source.end(), Arc::as_ref)
    }

    /// The NUL that ends the text, and what follows.
    fn tail(&self) -> &[u8] {
        &self.source.data[self.source.text_len..]
    }
}

// Splices: the smallest changes of an entity's text that make an edit.

/// Bytes that take the place of a range of the entity's buffer.
pub(super) struct Splice<'t> {
    range: Range<usize>,
    with: Cow<'t, [u8]>,
}

impl Own {
    /// The entity with splices in ascending order, without the pairs of the given indices, also ascending.
    pub(super) fn spliced(entity: &Entity<'_>, splices: &[Splice<'_>], without: &[usize]) -> Result<Own> {
        let mut text = Vec::with_capacity(entity.range.len());
        let mut copied = entity.range.start;
        for splice in splices {
            text.extend_from_slice(&entity.bytes[copied..splice.range.start]);
            text.extend_from_slice(&splice.with);
            copied = splice.range.end;
        }
        text.extend_from_slice(&entity.bytes[copied..entity.range.end]);
        check_len(text.len())?;

        let (mut starts, mut ends) = (Shift::new(entity, splices), Shift::new(entity, splices));
        let mut moved = |span: Span| {
            let start = starts.to(span.start(), |splice| splice.range.end <= span.start());
            // Bytes inserted directly after a token are not part of it.
            let after = |splice: &Splice<'_>| splice.range.end <= span.end() && splice.range.start < span.end();
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
    pub(super) fn with_pairs(entity: &Entity<'_>, style: &Style<'_>, pairs: &[(&[u8], &[u8])]) -> Result<Own> {
        let at = match entity.pairs.last() {
            Some(last) => behind_comment(entity, last.value.end(), style.between),
            None if is_blank(entity) => return Ok(Own::new(style, pairs).with_braces_of(entity)),
            None => entity.inside.start,
        };
        let Range { start, end } = entity.range;
        let added: usize = pairs.iter().map(|(key, value)| style.size(key, value)).sum();
        check_len(entity.range.len() + added)?;
        let mut text = Vec::with_capacity(entity.range.len() + added);
        text.extend_from_slice(&entity.bytes[start..at]);
        // Nothing before the new pairs moves.
        let moved = |span: Span| Span::new(span.start() - start..span.end() - start);
        let mut spans = Vec::with_capacity(entity.pairs.len() + pairs.len());
        spans.extend(entity.pairs.iter().map(|pair| PairSpan { key: moved(pair.key), value: moved(pair.value) }));
        for (key, value) in pairs {
            text.extend_from_slice(style.between);
            let key_at = text.len();
            style.pair(key, value, &mut text);
            let key = Span::new(key_at..key_at + key.len() + 2);
            spans.push(PairSpan { key, value: Span::new(text.len() - (value.len() + 2)..text.len()) });
        }
        text.extend_from_slice(&entity.bytes[at..end]);
        let inside = entity.inside.start - start..text.len() - (end - entity.inside.end);
        Ok(Own { origin: None, text, pairs: spans, inside })
    }

    /// A new entity with the braces of another one, which may be in quotes.
    fn with_braces_of(self, entity: &Entity<'_>) -> Own {
        let Range { start, end } = entity.range;
        let (open, close) = (&entity.bytes[start..entity.inside.start], &entity.bytes[entity.inside.end..end]);
        let text = [open, &self.text[self.inside], close].concat();
        let moved = |span: Span| Span::new(span.start() - 1 + open.len()..span.end() - 1 + open.len());
        let pairs = self.pairs.iter().map(|pair| PairSpan { key: moved(pair.key), value: moved(pair.value) }).collect();
        Own { origin: None, inside: open.len()..text.len() - close.len(), text, pairs }
    }

    /// A new entity.
    pub(super) fn new(style: &Style<'_>, pairs: &[(&[u8], &[u8])]) -> Own {
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

impl<'t> Splice<'t> {
    /// Other bytes for a key or value; none where they are equal.
    pub(super) fn token(entity: &Entity<'_>, span: Span, with: &'t [u8]) -> Vec<Self> {
        let token = &entity.bytes[span.range()];
        let (content, is_whole) = unquoted(token, entity.syntax);
        if content == with {
            return Vec::new();
        }
        if token[0] == b'"' && is_whole {
            return vec![Splice { range: span.start() + 1..span.end() - 1, with: with.into() }];
        }
        let mut quoted = Vec::with_capacity(with.len() + 2);
        quote(with, &mut quoted);
        let start = span.start();
        // A word directly before it would go on into the quote.
        let joins = entity.bytes[..start]
            .last()
            .is_some_and(|byte| token[0] != b'"' && *byte > b' ' && !entity.syntax.single_tokens.contains(byte));
        let blank = joins.then(|| Splice { range: start..start, with: b" "[..].into() });
        blank.into_iter().chain([Splice { range: span.range(), with: quoted.into() }]).collect()
    }

    /// The removal of pairs, each with the spacing before it; comments stay.
    pub(super) fn removal(entity: &Entity<'_>, pairs: &[usize]) -> Vec<Self> {
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
    fn run_removal(entity: &Entity<'_>, gap: usize, run: Range<usize>) -> Self {
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
        Splice { range: start..run.end, with: if joins { b" "[..].into() } else { Cow::default() } }
    }
}

/// Positions of the old text in the new one, asked for in ascending order.
struct Shift<'s> {
    splices: &'s [Splice<'s>],
    old: usize,
    new: usize,
}

impl<'s> Shift<'s> {
    fn new(entity: &Entity<'_>, splices: &'s [Splice<'s>]) -> Self {
        Shift { splices, old: entity.range.start, new: 0 }
    }

    fn to(&mut self, position: usize, applies: impl Fn(&Splice<'_>) -> bool) -> usize {
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

/// Refuses a text of an entity that is too long.
fn check_len(len: usize) -> Result<()> {
    match len > MAX_TEXT {
        true => {
            let message = format!("the entity would have {len} bytes, more than {MAX_TEXT}");
            Err(Error::new(ErrorKind::TooLarge, message))
        }
        false => Ok(()),
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

// The spacing of an entity, for pairs and entities that are added next to it.

/// The spacing of an entity.
#[derive(Clone, Copy)]
pub(super) struct Style<'s> {
    /// Between the opening brace and the first key.
    open: &'s [u8],
    /// Between a value and the next key.
    pub(super) between: &'s [u8],
    /// Between a key and its value.
    pub(super) middle: &'s [u8],
    /// Between the last value and the closing brace.
    close: &'s [u8],
}

impl<'s> Style<'s> {
    /// The compilers' form.
    pub(super) fn canonical() -> Self {
        Style { open: b"\n", between: b"\n", middle: b" ", close: b"\n" }
    }

    /// The style of an entity that has pairs. Words would join without the spacing, and Quake II needs a space after a
    /// brace, so only the spacing before a brace may be empty.
    pub(super) fn of(entity: &Entity<'s>) -> Option<Self> {
        let (first, last) = (entity.pairs.first()?, entity.pairs.last()?);
        let open = spacing(entity, entity.inside.start, first.key.start());
        let close = match entity.is_closed() {
            true => spacing(entity, last.value.end(), entity.inside.end),
            false => open,
        };
        let between = match entity.pairs {
            [.., PairSpan { value, .. }, last] => spacing(entity, value.end(), last.key.start()),
            _ => open,
        };
        let middle = spacing(entity, last.key.end(), last.value.start());
        let between = match (between.is_empty(), close.contains(&b'\n')) {
            (false, _) => between,
            (true, true) => close,
            (true, false) => b" ",
        };
        let middle = if middle.is_empty() { b" " } else { middle };
        let open = if open.is_empty() { between } else { open };
        Some(Style { open, between, middle, close })
    }

    /// A whole entity in this style.
    pub(super) fn entity(&self, pairs: &[(&[u8], &[u8])]) -> Vec<u8> {
        let size: usize = pairs.iter().map(|(key, value)| self.size(key, value)).sum();
        let mut text = Vec::with_capacity(size + self.open.len() + self.close.len() + 2);
        text.push(b'{');
        for (index, (key, value)) in pairs.iter().enumerate() {
            text.extend_from_slice(if index == 0 { self.open } else { self.between });
            self.pair(key, value, &mut text);
        }
        let close = if pairs.is_empty() && self.close.is_empty() { self.open } else { self.close };
        text.extend_from_slice(close);
        text.push(b'}');
        text
    }

    /// A pair without the spacing before it.
    pub(super) fn pair(&self, key: &[u8], value: &[u8], text: &mut Vec<u8>) {
        quote(key, text);
        text.extend_from_slice(self.middle);
        quote(value, text);
    }

    /// The bytes of a pair with the spacing before it.
    fn size(&self, key: &[u8], value: &[u8]) -> usize {
        self.between.len() + key.len() + self.middle.len() + value.len() + 4
    }
}

pub(super) fn quote(token: &[u8], text: &mut Vec<u8>) {
    text.push(b'"');
    text.extend_from_slice(token);
    text.push(b'"');
}

/// The spaces directly before `end`, from their last line break on.
fn spacing<'e>(entity: &Entity<'e>, start: usize, end: usize) -> &'e [u8] {
    let gap = &entity.bytes[start..end];
    let spaces = &gap[gap.len() - spaces_before(gap)..];
    let line = match spaces.iter().rposition(|byte| *byte == b'\n') {
        Some(at) if at > 0 && spaces[at - 1] == b'\r' => at - 1,
        Some(at) => at,
        None => 0,
    };
    &spaces[line..]
}

/// How many bytes at the end are spaces.
pub(super) fn spaces_before(text: &[u8]) -> usize {
    text.iter().rev().take_while(|&&byte| byte <= b' ').count()
}

// Entities whose text is given byte for byte.

impl Entities<'_> {
    /// Adds an entity after the last one, from its text: braces, spacing and comments as they are. Its pairs are not
    /// checked; [`Entities::unreadable`] finds what no engine could read back.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if the text is not one entity; as [`Entities::add`] for its place.
    pub fn add_text(&mut self, text: impl AsRef<[u8]>) -> Result<usize> {
        self.add_exact(self.ends(), text.as_ref())
    }

    /// Adds an entity after the last one. The ends of the order are given, which need not be those of the list.
    pub(super) fn add_exact(&mut self, ends: Option<(usize, usize)>, text: &[u8]) -> Result<usize> {
        let index = self.len();
        let body = Body::Own(Arc::new(Own::read(text, &self.rules)?));
        self.check_room(ends.map(|(_, last)| last), 1)?;
        self.add_body(ends, body)?;
        Ok(index)
    }
}

impl Entities<'_> {
    /// The text of an entity with these pairs, in the style of the entity of this index.
    ///
    /// # Errors
    /// As [`EntityMut::push`].
    pub fn text_like(&self, index: usize, pairs: &[(&[u8], &[u8])]) -> Result<Vec<u8>> {
        pairs.iter().try_for_each(|(key, value)| rule::check_pair(&self.rules, index, key, value))?;
        let style = self.get(index).as_ref().and_then(Style::of).unwrap_or_else(|| self.style_near(index));
        Ok(style.entity(pairs))
    }
}

impl EntityMut<'_, '_> {
    /// Gives the entity another text, from brace to brace: spacing and comments as they are. Its pairs are not checked;
    /// [`Entities::unreadable`] finds what no engine could read back.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if the text is not one entity, besides those of all edits.
    pub fn set_text(&mut self, text: impl AsRef<[u8]>) -> Result<()> {
        let text = text.as_ref();
        if self.entity().bytes() == text {
            return Ok(());
        }
        let mut own = Own::read(text, &self.entities.rules)?;
        own.origin = match &self.entities.nodes[self.index].body {
            Body::Source(origin) => Some(*origin),
            Body::Own(old) => old.origin,
        };
        let source = &self.entities.source;
        let is_old = |origin: &u32| {
            let body = source.entities[crate::bytes::index(*origin)].body;
            source.data[body.range()] == *text
        };
        let body = match own.origin.filter(is_old) {
            Some(origin) => Body::Source(origin),
            None => Body::Own(Arc::new(own)),
        };
        self.put(body)
    }
}

impl Own {
    /// Reads an entity from its text.
    fn read(text: &[u8], rules: &EntityRules) -> Result<Own> {
        let source = Source::parse(Data::from(text), rules, |_| false)?;
        match &source.entities[..] {
            [placed] if placed.body.range() == (0..text.len()) && placed.inside.end() < text.len() => {
                let (pairs, inside) = (source.pairs(0).to_vec(), placed.inside.range());
                Ok(Own { origin: None, text: text.to_vec(), pairs, inside })
            }
            _ => {
                let shown = escaped(&text[..text.len().min(40)]);
                let message = format!("the text `{shown}` is not one entity from brace to brace");
                Err(Error::new(ErrorKind::Argument, message))
            }
        }
    }
}
