//! Reads an entity text: tokens by the grammar, in windows of bounded size, then pairs and entities.

use std::ops::Range;

use pest::{Parser, Token};

use super::rule::{DiagnosticKind, Diagnostics};
use super::unquoted;
use crate::bytes::{index, is_zero, short, wide};
use crate::dialect::{EntityRules, TextSyntax};
use crate::{Data, Error, ErrorKind, Place, Result, threads};
use grammar::{Grammar, Rule};

// Pairs the tokens of an entity text into entities.

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
        let pieces = text_len / MIN_PIECE;
        let Parsed { entities, pairs, mut diagnostics } = parsed(&data[..text_len], &rules.syntax, wanted, pieces)?;

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

/// The entities of a text, or of a piece of it.
#[derive(Debug, Default)]
struct Parsed {
    entities: Vec<Placed>,
    pairs: Vec<PairSpan>,
    diagnostics: Diagnostics,
}

impl Parsed {
    /// Adds those of the piece that comes next.
    fn append(&mut self, next: Parsed) {
        let (entities, pairs) = (self.entities.len(), self.pairs.len());
        let moved = next.entities.into_iter().map(|entity| Placed { first_pair: pairs + entity.first_pair, ..entity });
        self.entities.extend(moved);
        self.pairs.extend(next.pairs);
        self.diagnostics.append(next.diagnostics, entities);
    }
}

/// A smaller piece of a text takes less time than a thread needs to start. Of a long text there are more pieces than
/// threads: one that starts late takes fewer of them.
const MIN_PIECE: usize = 128 * 1024;

/// Reads a text in pieces, on one thread for each core.
///
/// A text is cut where a line starts with an opening brace. A string or a comment may go over such a place, and an
/// entity may be open there: then the text is read again as one.
fn parsed(text: &[u8], syntax: &TextSyntax, wanted: fn(DiagnosticKind) -> bool, pieces: usize) -> Result<Parsed> {
    match joined(text, syntax, wanted, &cut(text, pieces)) {
        Some(joined) => Ok(joined),
        None => built(text, 0..text.len(), syntax, wanted)?.finish(),
    }
}

/// What is in the pieces of a text; `None` for one piece, and if the text has to be read as one.
fn joined(
    text: &[u8],
    syntax: &TextSyntax,
    wanted: fn(DiagnosticKind) -> bool,
    pieces: &[Range<usize>],
) -> Option<Parsed> {
    if pieces.len() < 2 {
        return None;
    }
    let whole = |piece: &Range<usize>| {
        let builder = built(text, piece.clone(), syntax, wanted).ok()?;
        if piece.end == text.len() { builder.finish().ok() } else { builder.ended_before(piece.end) }
    };
    // To ask for the number of cores takes longer than to read a short text.
    let read: Option<Vec<Parsed>> = threads::in_parallel(threads::cores(), pieces, whole).into_iter().collect();
    let joined = read?.into_iter().reduce(|mut all, next| {
        all.append(next);
        all
    });
    joined.filter(|all| all.entities.len() <= MAX_ENTITIES && all.pairs.len() <= MAX_PAIRS)
}

/// Reads a piece of a text.
fn built<'t>(
    text: &'t [u8],
    piece: Range<usize>,
    syntax: &'t TextSyntax,
    wanted: fn(DiagnosticKind) -> bool,
) -> Result<Builder<'t>> {
    let mut builder = Builder::new(text, syntax, wanted);
    for_each(text, piece, syntax, |kind, token| builder.token(kind, token))?;
    Ok(builder)
}

/// Where the text can be cut into pieces of about the same size.
fn cut(text: &[u8], pieces: usize) -> Vec<Range<usize>> {
    let line = memchr::memmem::Finder::new("\n{");
    let (mut ranges, mut start) = (Vec::new(), 0);
    // No byte is searched twice.
    for from in (1..pieces).map(|piece| text.len() / pieces * piece) {
        if from < start {
            continue;
        }
        let Some(at) = line.find(&text[from..]) else { break };
        let end = from + at + 1;
        ranges.push(start..end);
        start = end;
    }
    ranges.push(start..text.len());
    ranges
}

struct Builder<'t> {
    text: &'t [u8],
    syntax: &'t TextSyntax,
    wanted: fn(DiagnosticKind) -> bool,
    parsed: Parsed,
    open: Option<Open>,
    key: Option<Span>,
    first_pair: usize,
    /// Where the last word without quotes ends.
    word_end: Option<usize>,
    /// Where the last token ends.
    end: usize,
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
        let (open, key, word_end) = (None, None, None);
        Builder { text, syntax, wanted, parsed: Parsed::default(), open, key, first_pair: 0, word_end, end: 0 }
    }

    fn token(&mut self, kind: Kind, token: Range<usize>) -> Result<()> {
        self.end = token.end;
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
        if self.parsed.pairs.len() == MAX_PAIRS {
            return Err(too_large(format!("an entity text of more than {MAX_PAIRS} pairs")).at(place(token)));
        }
        self.parsed.pairs.push(PairSpan { key, value: token });
        Ok(())
    }

    /// Ends the open entity, at a closing brace or without one.
    fn end_entity(&mut self, close: Option<usize>) -> Result<()> {
        let Some(Open { brace, end }) = self.open.take() else { return Ok(()) };
        if let Some(key) = self.key.take() {
            self.diagnose_in(DiagnosticKind::KeyWithoutValue, key.range(), Some(self.parsed.entities.len()));
        }
        let body = Span::new(brace.start..end);
        if self.parsed.entities.len() == MAX_ENTITIES {
            return Err(too_large(format!("an entity text of more than {MAX_ENTITIES} entities")).at(place(body)));
        }
        let line = Span::new(brace.start..if close.is_some() { end_of_line(self.text, end) } else { end });
        let inside = Span::new(brace.end..close.unwrap_or(end));
        self.parsed.entities.push(Placed { body, inside, line, first_pair: self.first_pair });
        self.first_pair = self.parsed.pairs.len();
        Ok(())
    }

    fn diagnose(&mut self, kind: DiagnosticKind, span: &Range<usize>) {
        let entity = self.open.as_ref().map(|_| self.parsed.entities.len());
        self.diagnose_in(kind, span.clone(), entity);
    }

    fn diagnose_in(&mut self, kind: DiagnosticKind, span: Range<usize>, entity: Option<usize>) {
        if (self.wanted)(kind) {
            self.parsed.diagnostics.push(kind, span, entity);
        }
    }

    /// What was read, if no entity and no token goes on to `border`.
    fn ended_before(self, border: usize) -> Option<Parsed> {
        (self.open.is_none() && self.end < border).then_some(self.parsed)
    }

    fn finish(mut self) -> Result<Parsed> {
        if let Some(end) = self.open.as_ref().map(|open| open.end) {
            self.diagnose(DiagnosticKind::MissingClosingBrace, &(end..end));
            self.end_entity(None)?;
        }
        Ok(self.parsed)
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

/// Whether a text of this many bytes, entities and pairs can be read.
pub(super) fn check_limits(bytes: usize, entities: usize, pairs: usize) -> Result<()> {
    let found = [(bytes, MAX_TEXT, "bytes"), (entities, MAX_ENTITIES, "entities"), (pairs, MAX_PAIRS, "pairs")];
    match found.into_iter().find(|(count, most, _)| count > most) {
        Some((count, most, what)) => {
            Err(too_large(format!("the entity text would have {count} {what}, more than {most}")))
        }
        None => Ok(()),
    }
}

fn too_large(message: String) -> Error {
    Error::new(ErrorKind::TooLarge, message)
}

// Tokens of an entity text, read by the grammar in windows of bounded size.

/// pest keeps 80 bytes per token, so it is given small windows.
const WINDOW: usize = 32 * 1024;

/// What a token is. Strings, words and tokens of one byte differ by their first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Comment,
}

/// Where a token, an entity or a gap lies in its buffer; no buffer is longer than
/// [`MAX_TEXT`](MAX_TEXT).
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

/// Calls `each` for all tokens of a piece of `text`, from front to back.
///
/// A token that touches the end of its window may continue after it: it is read again, in a window that starts at the
/// end of the token before it. A token that fills a window alone is read again in a larger one.
pub(super) fn for_each(
    text: &[u8],
    piece: Range<usize>,
    syntax: &TextSyntax,
    mut each: impl FnMut(Kind, Range<usize>) -> Result<()>,
) -> Result<()> {
    let (mut at, mut window, mut rule) = (piece.start, WINDOW, Rule::all);
    let mut mask = Mask::new(syntax);
    while at < piece.end {
        let end = piece.end.min(at.saturating_add(window));
        let is_last = end == piece.end;
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

#[allow(missing_docs, unreachable_pub)]
mod grammar {
    #[derive(pest_derive::Parser)]
    #[grammar = "../grammar/entities.pest"]
    pub(super) struct Grammar;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::dialect::ALL;

    /// What is found in the same text in 1 and in `pieces` pieces.
    fn in_pieces(text: &[u8], syntax: &TextSyntax, pieces: usize) -> [String; 2] {
        [1, pieces].map(|pieces| match parsed(text, syntax, |_| true, pieces) {
            Ok(parsed) => format!("{parsed:?}"),
            Err(error) => error.to_string(),
        })
    }

    proptest! {
        #[test]
        fn a_text_in_pieces_is_the_same_text(
            parts in proptest::collection::vec(
                prop_oneof![
                    4 => Just("{\n\"classname\" \"light\"\n\"origin\" \"0 0 64\"\n}\n"),
                    1 => proptest::sample::select(vec![
                        "{", "}", "\n{", "}\n", "\"", "\n", "//", "/*", "*/", "\\\"", "word",
                        "{\r\n\"a\" \"b\"\r\n}\r\n",
                        "\"a\" \"\n{\"\n", "// }\n{\n", "\u{e9}", "\t",
                    ]),
                ],
                0..60,
            ),
            pieces in 2_usize..9,
        ) {
            let text = parts.concat();
            for dialect in ALL {
                let [whole, joined] = in_pieces(text.as_bytes(), &dialect.text.syntax, pieces);
                prop_assert_eq!(whole, joined, "{}", dialect.name);
            }
        }
    }

    #[test]
    fn a_clean_text_is_read_in_pieces() {
        let text = "{\n\"classname\" \"light\"\n\"origin\" \"0 0 64\"\n}\n".repeat(100);
        for dialect in ALL {
            for pieces in 2..9 {
                let cut = cut(text.as_bytes(), pieces);
                let read = joined(text.as_bytes(), &dialect.text.syntax, |_| true, &cut);
                assert_eq!(cut.len(), pieces, "{}", dialect.name);
                assert_eq!(read.map(|read| read.entities.len()), Some(100), "{}", dialect.name);
            }
        }
    }

    #[test]
    fn only_a_clean_border_ends_a_piece() {
        let syntax = &ALL[0].text.syntax;
        let entity = "{\n\"classname\" \"light\"\n}\n";
        let ends = |text: &str| {
            let mut builder = Builder::new(text.as_bytes(), syntax, |_| true);
            for_each(text.as_bytes(), 0..text.len(), syntax, |kind, token| builder.token(kind, token)).unwrap();
            builder.ended_before(text.len()).is_some()
        };
        assert!(ends(entity) && ends("// a comment\n"));
        for open in ["{\n", "{\n\"a\" \"b\n", "\"a\n", "{}", "{ a }\n /*\n"] {
            assert!(!ends(open) || open.contains("/*") && !syntax.block_comments, "{open:?}");
        }
        assert_eq!(cut(entity.repeat(8).as_bytes(), 4).len(), 4);
        assert_eq!(cut(b"{}", 4), vec![0..2]);
    }

    #[test]
    fn limits_hold_in_pieces() {
        let text = "{}\n".repeat(MAX_ENTITIES + 1);
        let [whole, joined] = in_pieces(text.as_bytes(), &ALL[0].text.syntax, 2);
        assert_eq!(whole, joined);
        assert!(whole.contains("entities"), "{whole}");
    }
}
