//! Pairs the tokens of an entity text into entities.

use std::ops::Range;

use super::diagnostic::{DiagnosticKind, Diagnostics};
use super::token::{self, Kind, Span};
use crate::bytes::{is_zero, wide};
use crate::dialect::EntityRules;
use crate::{Data, Error, ErrorKind, Place, Result};

/// The longest text in bytes: it bounds what a hostile one costs, and spans of 32 bits stay far from their end.
pub(super) const MAX_TEXT: usize = 16 << 20;
/// The most entities and pairs; shipped maps have some 3,000 entities. They bound the memory a hostile text takes.
pub(super) const MAX_ENTITIES: usize = 1 << 17;
const MAX_PAIRS: usize = 1 << 20;

/// The tokens of a pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairSpan {
    pub(super) key: Span,
    pub(super) value: Span,
}

/// An entity as it stands in the source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    /// From the opening brace to the closing one, or to the last token where that is missing.
    pub(super) body: Span,
    /// To the end of the body's line where only blanks follow on it, otherwise to the end of the body.
    line: Span,
    pub(super) is_closed: bool,
    first_pair: usize,
}

/// A parsed text, never changed again.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) data: Data<'a>,
    /// The offset of the first NUL, or the length.
    pub(super) text_len: usize,
    pub(super) entities: Vec<Placed>,
    pairs: Vec<PairSpan>,
    pub(super) diagnostics: Diagnostics,
}

impl<'a> Source<'a> {
    /// Reads a lump, with the diagnostics that are wanted.
    pub(super) fn parse(data: Data<'a>, rules: &EntityRules, wanted: fn(DiagnosticKind) -> bool) -> Result<Self> {
        let text_len = memchr::memchr(0, &data).unwrap_or(data.len());
        if text_len > MAX_TEXT {
            return Err(too_large(format!("an entity text of {text_len} bytes, more than {MAX_TEXT}")));
        }
        let mut builder = Builder::new(&data[..text_len], wanted);
        let text = builder.text;
        let is_single = |byte: &u8| rules.single_tokens.contains(byte);
        token::for_each(text, rules.block_comments, |kind, token| {
            let is_word = kind == Kind::Text && text[token.start] != b'"';
            if !is_word || !text[token.clone()].iter().any(is_single) {
                return builder.token(kind, token);
            }
            let mut at = token.start;
            while at < token.end {
                let word = text[at..token.end].iter().take_while(|byte| !is_single(byte)).count();
                let end = at + word.max(1);
                builder.token(kind, at..end)?;
                at = end;
            }
            Ok(())
        })?;
        let (entities, pairs, mut diagnostics) = builder.finish()?;

        let tail = &data[text_len..];
        let kind = match tail {
            [] => Some(DiagnosticKind::NoNul),
            [_] => None,
            tail if is_zero(tail) => Some(DiagnosticKind::ManyNuls),
            _ => Some(DiagnosticKind::BytesBehindNul),
        };
        if let Some(kind) = kind.filter(|&kind| wanted(kind)) {
            diagnostics.push(kind, text_len..data.len(), None);
        }
        Ok(Source { text_len, entities, pairs, diagnostics, data })
    }

    pub(super) fn pairs(&self, index: usize) -> &[PairSpan] {
        let end = self.entities.get(index + 1).map_or(self.pairs.len(), |next| next.first_pair);
        &self.pairs[self.entities[index].first_pair..end]
    }

    /// What stands before an entity, behind the line of the one before it.
    pub(super) fn lead(&self, index: usize) -> &[u8] {
        let start = index.checked_sub(1).map_or(0, |before| self.entities[before].line.end());
        &self.data[start..self.entities[index].body.start()]
    }

    /// The rest of an entity's line, with the line break.
    pub(super) fn trail(&self, index: usize) -> &[u8] {
        let entity = &self.entities[index];
        &self.data[entity.body.end()..entity.line.end()]
    }

    /// What stands between the last entity's line and the end of the text.
    pub(super) fn end(&self) -> &[u8] {
        let start = self.entities.last().map_or(0, |last| last.line.end());
        &self.data[start..self.text_len]
    }
}

struct Builder<'t> {
    text: &'t [u8],
    wanted: fn(DiagnosticKind) -> bool,
    entities: Vec<Placed>,
    pairs: Vec<PairSpan>,
    diagnostics: Diagnostics,
    /// Where the open entity starts, and where its last token ends.
    open: Option<(usize, usize)>,
    key: Option<Span>,
    first_pair: usize,
}

impl<'t> Builder<'t> {
    fn new(text: &'t [u8], wanted: fn(DiagnosticKind) -> bool) -> Self {
        let (entities, pairs, diagnostics) = Default::default();
        Builder { text, wanted, entities, pairs, diagnostics, open: None, key: None, first_pair: 0 }
    }

    fn token(&mut self, kind: Kind, token: Range<usize>) -> Result<()> {
        match kind {
            Kind::Text => self.text(token)?,
            Kind::Open => {
                if self.open.is_some() {
                    self.diagnose(DiagnosticKind::NestedBrace, &token);
                    self.end_entity(false)?;
                }
                self.open = Some((token.start, token.end));
            }
            Kind::Close => match &mut self.open {
                Some((_, end)) => {
                    *end = token.end;
                    self.end_entity(true)?;
                }
                None => self.diagnose(DiagnosticKind::StrayToken, &token),
            },
            Kind::Comment => self.diagnose(DiagnosticKind::Comment, &token),
        }
        Ok(())
    }

    fn text(&mut self, token: Range<usize>) -> Result<()> {
        if self.text[token.start] != b'"' {
            self.diagnose(DiagnosticKind::UnquotedToken, &token);
        } else if token.len() == 1 || self.text[token.end - 1] != b'"' {
            self.diagnose(DiagnosticKind::UnterminatedQuote, &token);
        }
        let Some((_, end)) = &mut self.open else {
            self.diagnose(DiagnosticKind::StrayToken, &token);
            return Ok(());
        };
        *end = token.end;
        let token = Span::new(token);
        let Some(key) = self.key.take() else {
            self.key = Some(token);
            return Ok(());
        };
        if self.pairs.len() == MAX_PAIRS {
            return Err(too_large(format!("an entity text of more than {MAX_PAIRS} pairs")).at(place(token)));
        }
        self.pairs.push(PairSpan { key, value: token });
        Ok(())
    }

    fn end_entity(&mut self, is_closed: bool) -> Result<()> {
        let Some((start, end)) = self.open.take() else { return Ok(()) };
        if let Some(key) = self.key.take() {
            self.diagnose_in(DiagnosticKind::KeyWithoutValue, key.range(), Some(self.entities.len()));
        }
        let body = Span::new(start..end);
        if self.entities.len() == MAX_ENTITIES {
            return Err(too_large(format!("an entity text of more than {MAX_ENTITIES} entities")).at(place(body)));
        }
        let line = Span::new(start..if is_closed { end_of_line(self.text, end) } else { end });
        self.entities.push(Placed { body, line, first_pair: self.first_pair, is_closed });
        self.first_pair = self.pairs.len();
        Ok(())
    }

    fn diagnose(&mut self, kind: DiagnosticKind, span: &Range<usize>) {
        let entity = self.open.map(|_| self.entities.len());
        self.diagnose_in(kind, span.clone(), entity);
    }

    fn diagnose_in(&mut self, kind: DiagnosticKind, span: Range<usize>, entity: Option<usize>) {
        if (self.wanted)(kind) {
            self.diagnostics.push(kind, span, entity);
        }
    }

    fn finish(mut self) -> Result<(Vec<Placed>, Vec<PairSpan>, Diagnostics)> {
        if let Some((_, end)) = self.open {
            self.diagnose(DiagnosticKind::MissingClosingBrace, &(end..end));
            self.end_entity(false)?;
        }
        Ok((self.entities, self.pairs, self.diagnostics))
    }
}

/// The end of the line that `at` is on if only blanks follow, otherwise `at`.
pub(super) fn end_of_line(text: &[u8], at: usize) -> usize {
    let blanks = text[at..].iter().take_while(|&&byte| byte <= b' ' && byte != b'\n').count();
    if text.get(at + blanks) == Some(&b'\n') { at + blanks + 1 } else { at }
}

fn place(span: Span) -> Place {
    Place::default().lump("entities").offset(wide(span.start()))
}

fn too_large(message: String) -> Error {
    Error::new(ErrorKind::TooLarge, message)
}
