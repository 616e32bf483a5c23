//! Pairs the tokens of an entity text into entities.

use std::ops::Range;

use super::diagnostic::{DiagnosticKind, Diagnostics};
use super::entity::unquoted;
use super::token::{self, Kind, Span};
use crate::bytes::{is_zero, wide};
use crate::dialect::{EntityRules, TextSyntax};
use crate::{Data, Error, ErrorKind, Place, Result};

/// The longest text in bytes. It limits the cost of a hostile text, and 32-bit spans cannot overflow.
pub(super) const MAX_TEXT: usize = 16 << 20;
/// The most entities and pairs. They limit the memory that a hostile text takes; shipped maps have about 3,000
/// entities.
pub(super) const MAX_ENTITIES: usize = 1 << 17;
const MAX_PAIRS: usize = 1 << 20;

/// The tokens of a pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairSpan {
    pub(super) key: Span,
    pub(super) value: Span,
}

/// An entity as it is in the source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    /// From the opening brace to the closing one; to the last token if the closing brace is missing.
    pub(super) body: Span,
    /// From the end of the opening brace to the closing one.
    pub(super) inside: Span,
    /// To the end of the body's line if only blanks follow the body there, otherwise to the end of the body.
    line: Span,
    first_pair: usize,
}

/// A parsed text; it never changes.
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
    /// Reads a lump, and collects the diagnostics that the caller chooses.
    pub(super) fn parse(data: Data<'a>, rules: &EntityRules, wanted: fn(DiagnosticKind) -> bool) -> Result<Self> {
        let text_len = memchr::memchr(0, &data).unwrap_or(data.len());
        if text_len > MAX_TEXT {
            return Err(too_large(format!("an entity text of {text_len} bytes, more than {MAX_TEXT}")));
        }
        let mut builder = Builder::new(&data[..text_len], &rules.syntax, wanted);
        token::for_each(builder.text, &rules.syntax, |kind, token| builder.token(kind, token))?;
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

    /// The bytes before an entity, from the end of the line of the one before it.
    pub(super) fn lead(&self, index: usize) -> &[u8] {
        let start = index.checked_sub(1).map_or(0, |before| self.entities[before].line.end());
        &self.data[start..self.entities[index].body.start()]
    }

    /// The rest of an entity's line, with the line break.
    pub(super) fn trail(&self, index: usize) -> &[u8] {
        let entity = &self.entities[index];
        &self.data[entity.body.end()..entity.line.end()]
    }

    /// The bytes between the last entity's line and the end of the text.
    pub(super) fn end(&self) -> &[u8] {
        let start = self.entities.last().map_or(0, |last| last.line.end());
        &self.data[start..self.text_len]
    }
}

struct Builder<'t> {
    text: &'t [u8],
    syntax: &'t TextSyntax,
    wanted: fn(DiagnosticKind) -> bool,
    entities: Vec<Placed>,
    pairs: Vec<PairSpan>,
    diagnostics: Diagnostics,
    open: Option<Open>,
    key: Option<Span>,
    first_pair: usize,
    /// Where the last word without quotes ends.
    word_end: Option<usize>,
}

/// The open entity: its opening brace, and where its last token ends.
struct Open {
    brace: Range<usize>,
    end: usize,
}

/// Applies a token to the open entity.
enum Meaning {
    Open,
    Close,
    Text,
}

impl<'t> Builder<'t> {
    fn new(text: &'t [u8], syntax: &'t TextSyntax, wanted: fn(DiagnosticKind) -> bool) -> Self {
        let (entities, pairs, diagnostics) = Default::default();
        let (open, key, word_end) = (None, None, None);
        Builder { text, syntax, wanted, entities, pairs, diagnostics, open, key, first_pair: 0, word_end }
    }

    fn token(&mut self, kind: Kind, token: Range<usize>) -> Result<()> {
        if kind == Kind::Comment {
            self.diagnose(DiagnosticKind::Comment, &token);
            return Ok(());
        }
        match self.meaning(&token) {
            Meaning::Text => self.text(token)?,
            Meaning::Open => {
                if self.open.is_some() {
                    self.diagnose(DiagnosticKind::NestedBrace, &token);
                    self.end_entity(None)?;
                }
                self.diagnose_brace(&token);
                self.open = Some(Open { end: token.end, brace: token });
            }
            Meaning::Close => {
                self.diagnose_brace(&token);
                match &mut self.open {
                    Some(open) => {
                        open.end = token.end;
                        self.end_entity(Some(token.start))?;
                    }
                    None => self.diagnose(DiagnosticKind::StrayToken, &token),
                }
            }
        }
        Ok(())
    }

    /// Where a brace may be, engines look at a token's first letter, in quotes or not. An opening brace inside an
    /// entity is read as the start of the next one: most engines stop there, and here no byte is lost.
    fn meaning(&self, token: &Range<usize>) -> Meaning {
        let is_quoted = self.text[token.start] == b'"';
        let first = self.text[token.start + usize::from(is_quoted)..token.end].first();
        let is_alone = token.len() == 1;
        match (first, &self.open, self.key) {
            (Some(b'{'), None, _) => Meaning::Open,
            (Some(b'{'), Some(_), _) if is_alone => Meaning::Open,
            (Some(b'}'), Some(_), None) => Meaning::Close,
            (Some(b'}'), ..) if !is_quoted => Meaning::Close,
            _ => Meaning::Text,
        }
    }

    /// Reports a brace that is not a token of its own for every engine.
    fn diagnose_brace(&mut self, token: &Range<usize>) {
        let next = self.text.get(token.end).copied().unwrap_or_default();
        if token.len() > 1 {
            self.diagnose(DiagnosticKind::BraceInToken, token);
        } else if next > b' ' || self.word_end == Some(token.start) {
            self.diagnose(DiagnosticKind::TouchingBrace, token);
        }
    }

    fn text(&mut self, token: Range<usize>) -> Result<()> {
        if self.text[token.start] != b'"' {
            self.diagnose(DiagnosticKind::UnquotedToken, &token);
            self.word_end = Some(token.end);
        } else if !unquoted(&self.text[token.clone()], self.syntax).1 {
            self.diagnose(DiagnosticKind::UnterminatedQuote, &token);
        }
        let Some(open) = &mut self.open else {
            self.diagnose(DiagnosticKind::StrayToken, &token);
            return Ok(());
        };
        open.end = token.end;
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

    /// Ends the open entity, at a closing brace or without one.
    fn end_entity(&mut self, close: Option<usize>) -> Result<()> {
        let Some(Open { brace, end }) = self.open.take() else { return Ok(()) };
        if let Some(key) = self.key.take() {
            self.diagnose_in(DiagnosticKind::KeyWithoutValue, key.range(), Some(self.entities.len()));
        }
        let body = Span::new(brace.start..end);
        if self.entities.len() == MAX_ENTITIES {
            return Err(too_large(format!("an entity text of more than {MAX_ENTITIES} entities")).at(place(body)));
        }
        let line = Span::new(brace.start..if close.is_some() { end_of_line(self.text, end) } else { end });
        let inside = Span::new(brace.end..close.unwrap_or(end));
        self.entities.push(Placed { body, inside, line, first_pair: self.first_pair });
        self.first_pair = self.pairs.len();
        Ok(())
    }

    fn diagnose(&mut self, kind: DiagnosticKind, span: &Range<usize>) {
        let entity = self.open.as_ref().map(|_| self.entities.len());
        self.diagnose_in(kind, span.clone(), entity);
    }

    fn diagnose_in(&mut self, kind: DiagnosticKind, span: Range<usize>, entity: Option<usize>) {
        if (self.wanted)(kind) {
            self.diagnostics.push(kind, span, entity);
        }
    }

    fn finish(mut self) -> Result<(Vec<Placed>, Vec<PairSpan>, Diagnostics)> {
        if let Some(end) = self.open.as_ref().map(|open| open.end) {
            self.diagnose(DiagnosticKind::MissingClosingBrace, &(end..end));
            self.end_entity(None)?;
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
