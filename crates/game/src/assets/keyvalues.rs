//! Valve's KeyValues: the text of materials, scripts and `gameinfo.txt`.
//!
//! The bytes are kept, and the place of each [`Token`] is known, so that a value can be replaced with every other byte
//! as it was. Every text opens: what engines would not read is a [`KeyValues::fault`]. Texts are bytes, since old files
//! are not UTF-8; a backslash is a letter, as it is in engines unless a program asks for escapes.
//!
//! ```
//! use bspkit_game::assets::keyvalues::{KeyValues, Token};
//! let text = "patch {\n include \"materials/own/wall.vmt\" // comment\n insert { $envmap own/cube [!$X360] }\n}\n";
//! let material = KeyValues::parse(text)?;
//! let patch = material.roots().next().unwrap();
//! assert_eq!(patch.get("Include"), Some(&b"materials/own/wall.vmt"[..]));
//!
//! let envmap = material.iter().find(|pair| pair.key() == b"$envmap").unwrap();
//! assert_eq!((envmap.line(), envmap.condition()), (3, Some(&b"[!$X360]"[..])));
//! let value: Token = envmap.value_token().unwrap();
//! let edited = material.with([(value, b"my cube".to_vec())])?;
//! assert_eq!(edited, text.replace("own/cube", "\"my cube\"").as_bytes());
//! # Ok::<(), bspkit::Error>(())
//! ```

use std::ops::Range;

use bspkit::bytes::{Data, escaped};
use bspkit::{Error, ErrorKind, Result};

/// A larger text is not read.
const MOST_BYTES: usize = 32 << 20;

/// A text with more pairs is not read.
const MOST_PAIRS: usize = 1 << 20;

/// A text of keys, each with a value or a block of other keys.
#[derive(Clone, Debug)]
pub struct KeyValues<'a> {
    bytes: Data<'a>,
    /// In the order of the text: a block is followed by what is in it.
    nodes: Vec<Node>,
    fault: Option<(usize, &'static str)>,
}

/// Where a key or value is in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    start: usize,
    end: usize,
    is_quoted: bool,
}

impl Token {
    /// Its bytes, without quotes.
    pub fn range(&self) -> Range<usize> {
        self.start..self.end
    }
}

#[derive(Clone, Debug)]
struct Node {
    key: Token,
    /// `None` for a block.
    value: Option<Token>,
    condition: Option<Token>,
    /// The node after this one and what is in it.
    next: usize,
    depth: usize,
    /// The line of the key, from 1.
    line: usize,
}

impl<'a> KeyValues<'a> {
    /// Reads a text.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] for a text of more than 32 MiB or 1,048,576 pairs. Nothing else is an error.
    pub fn parse(text: impl Into<Data<'a>>) -> Result<Self> {
        let bytes = text.into();
        let too_large = |what: String| Err(Error::new(ErrorKind::TooLarge, what));
        if bytes.len() > MOST_BYTES {
            return too_large(format!("a text of {} bytes; at most {MOST_BYTES} are read", bytes.len()));
        }
        let parser = Parser::run(&bytes);
        if parser.nodes.len() > MOST_PAIRS {
            return too_large(format!("a text with more than {MOST_PAIRS} keys"));
        }
        let (nodes, fault) = (parser.nodes, parser.fault);
        Ok(KeyValues { bytes, nodes, fault })
    }

    /// The first thing that engines would not read: a key without a value, a brace too many or too few. What could be
    /// read is there.
    pub fn fault(&self) -> Option<Error> {
        let (at, why) = self.fault?;
        let line = 1 + memchr::memchr_iter(b'\n', &self.bytes[..at]).count();
        let message = format!("line {line}: {why}");
        Some(Error::new(ErrorKind::Malformed, message))
    }

    /// All pairs, in the order of the text; a block is followed by what is in it.
    pub fn iter(&self) -> impl Iterator<Item = Pair<'_, 'a>> {
        (0..self.nodes.len()).map(|index| Pair { text: self, index })
    }

    /// The pairs that are in no block.
    pub fn roots(&self) -> Pairs<'_, 'a> {
        Pairs { text: self, range: 0..self.nodes.len() }
    }

    /// The text with other bytes for some of its keys and values. All other bytes stay; quotes are added where a token
    /// without them now needs them.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] for new bytes with a quote or a NUL in them; [`ErrorKind::Argument`] if two edits are of
    /// one token.
    pub fn with(&self, edits: impl IntoIterator<Item = (Token, Vec<u8>)>) -> Result<Vec<u8>> {
        let mut edits: Vec<(Token, Vec<u8>)> = edits.into_iter().collect();
        edits.sort_by_key(|(token, _)| token.start);
        let (mut out, mut at) = (Vec::with_capacity(self.bytes.len()), 0);
        for (token, new) in &edits {
            if new.iter().any(|byte| matches!(byte, b'"' | 0)) {
                let message = format!("`{}` has a quote or a NUL, which no value can have", escaped(new));
                return Err(Error::new(ErrorKind::Refused, message));
            }
            let Some(kept) = self.bytes.get(at..token.start) else {
                return Err(Error::new(ErrorKind::Argument, "two edits of one value"));
            };
            out.extend_from_slice(kept);
            let needs_quotes = !token.is_quoted && (new.is_empty() || new.iter().any(|byte| ends_word(*byte)));
            let quote: &[u8] = if needs_quotes || new.starts_with(b"//") && !token.is_quoted { b"\"" } else { b"" };
            [quote, new, quote].iter().for_each(|part| out.extend_from_slice(part));
            at = token.end;
        }
        out.extend_from_slice(self.bytes.get(at..).unwrap_or_default());
        Ok(out)
    }

    fn text(&self, token: Token) -> &[u8] {
        &self.bytes[token.range()]
    }
}

/// A key with its value or its block.
///
/// ```
/// use bspkit_game::assets::keyvalues::KeyValues;
/// let text = KeyValues::parse("a { b 1 c { d 2 } } e 3")?;
/// let a = text.roots().next().unwrap();
/// assert!(a.is_block() && a.value().is_none());
/// let inside: Vec<&[u8]> = a.children().map(|pair| pair.key()).collect();
/// assert_eq!(inside, [b"b", b"c"]);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Pair<'t, 'a> {
    text: &'t KeyValues<'a>,
    index: usize,
}

impl<'t, 'a> Pair<'t, 'a> {
    fn node(&self) -> &'t Node {
        &self.text.nodes[self.index]
    }

    /// The key, as it is written.
    pub fn key(&self) -> &'t [u8] {
        self.text.text(self.node().key)
    }

    /// The value; `None` for a block.
    pub fn value(&self) -> Option<&'t [u8]> {
        self.node().value.map(|token| self.text.text(token))
    }

    /// Whether it has a block instead of a value.
    pub fn is_block(&self) -> bool {
        self.node().value.is_none()
    }

    /// Whether the key is this one; case does not count.
    pub fn is(&self, key: impl AsRef<[u8]>) -> bool {
        self.key().eq_ignore_ascii_case(key.as_ref())
    }

    /// Where the key is.
    pub fn key_token(&self) -> Token {
        self.node().key
    }

    /// Where the value is.
    pub fn value_token(&self) -> Option<Token> {
        self.node().value
    }

    /// The condition after it with its brackets, such as `[$X360]`.
    pub fn condition(&self) -> Option<&'t [u8]> {
        self.node().condition.map(|token| self.text.text(token))
    }

    /// Whether its condition can be true on a PC.
    pub fn is_for_pc(&self) -> bool {
        self.condition().is_none_or(holds_on_pc)
    }

    /// The line of the key, from 1.
    pub fn line(&self) -> usize {
        self.node().line
    }

    /// In how many blocks it is.
    pub fn depth(&self) -> usize {
        self.node().depth
    }

    /// The pairs of its block.
    pub fn children(&self) -> Pairs<'t, 'a> {
        Pairs { text: self.text, range: self.index + 1..self.node().next }
    }

    /// All pairs of its block, and those in blocks in it.
    pub fn inside(&self) -> impl Iterator<Item = Pair<'t, 'a>> + use<'t, 'a> {
        let text = self.text;
        (self.index + 1..self.node().next).map(move |index| Pair { text, index })
    }

    /// The first pair of its block with this key; case does not count.
    pub fn child(&self, key: impl AsRef<[u8]>) -> Option<Pair<'t, 'a>> {
        self.children().find(|pair| pair.is(key.as_ref()))
    }

    /// The value of the first pair of its block with this key; case does not count.
    pub fn get(&self, key: impl AsRef<[u8]>) -> Option<&'t [u8]> {
        self.children().find(|pair| pair.is(key.as_ref()) && !pair.is_block())?.value()
    }
}

/// The pairs of one block: [`KeyValues::roots`], [`Pair::children`].
#[derive(Clone, Debug)]
pub struct Pairs<'t, 'a> {
    text: &'t KeyValues<'a>,
    range: Range<usize>,
}

impl<'t, 'a> Iterator for Pairs<'t, 'a> {
    type Item = Pair<'t, 'a>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.range.is_empty() {
            return None;
        }
        let pair = Pair { text: self.text, index: self.range.start };
        self.range.start = pair.node().next;
        Some(pair)
    }
}

// The parser: tokens, pairs, blocks, conditions.

/// Whether a condition such as `[$X360||$PS3]` can be true on a PC. An unknown name may be.
fn holds_on_pc(condition: &[u8]) -> bool {
    const CONSOLES: [&[u8]; 5] = [b"$X360", b"$XBOX", b"$PS3", b"$GAMECONSOLE", b"$DURANGO"];
    const PC: [&[u8]; 2] = [b"$WIN32", b"$PC"];
    let inner = condition.strip_prefix(b"[").unwrap_or(condition);
    let inner = inner.strip_suffix(b"]").unwrap_or(inner);
    let term = |term: &[u8]| {
        let term = term.trim_ascii();
        let (name, is_not) = term.strip_prefix(b"!").map_or((term, false), |name| (name, true));
        let is_of = |list: &[&[u8]]| list.iter().any(|known| known.eq_ignore_ascii_case(name.trim_ascii()));
        if is_not { !is_of(&PC) } else { !is_of(&CONSOLES) }
    };
    let all = |terms: &[u8]| terms.split(|byte| *byte == b'&').filter(|part| !part.is_empty()).all(term);
    inner.split(|byte| *byte == b'|').filter(|part| !part.is_empty()).any(all)
}

fn is_space(byte: u8) -> bool {
    byte <= b' '
}

/// Whether a byte ends a token without quotes.
fn ends_word(byte: u8) -> bool {
    is_space(byte) || matches!(byte, b'"' | b'{' | b'}')
}

#[derive(Clone, Copy, PartialEq)]
enum Piece {
    Open(usize),
    Close(usize),
    Word(Token),
}

struct Parser<'t> {
    text: &'t [u8],
    at: usize,
    nodes: Vec<Node>,
    /// The blocks that are open, outermost first.
    open: Vec<usize>,
    fault: Option<(usize, &'static str)>,
    /// A place, and its line.
    counted: (usize, usize),
}

impl Parser<'_> {
    /// Reads a whole text.
    fn run(text: &[u8]) -> Parser<'_> {
        let mut parser = Parser { text, at: 0, nodes: Vec::new(), open: Vec::new(), fault: None, counted: (0, 1) };
        parser.read();
        parser
    }

    fn read(&mut self) {
        if self.text.starts_with(b"\xEF\xBB\xBF") {
            self.at = 3;
        }
        while let Some(piece) = self.next() {
            if self.nodes.len() > MOST_PAIRS {
                break;
            }
            match piece {
                Piece::Word(key) => self.pair(key),
                Piece::Open(at) => self.note(at, "a block without a key"),
                Piece::Close(at) => match self.open.pop() {
                    Some(block) => self.nodes[block].next = self.nodes.len(),
                    None => self.note(at, "a closing brace without an opening one"),
                },
            }
        }
        if let Some(block) = self.open.last() {
            let at = self.nodes[*block].key.start;
            self.note(at, "a block without a closing brace");
        }
        let end = self.nodes.len();
        self.open.iter().for_each(|block| self.nodes[*block].next = end);
    }

    /// Reads what follows a key.
    fn pair(&mut self, key: Token) {
        let mut condition = self.condition();
        let value = match self.peek() {
            Some(Piece::Open(_)) => {
                self.next();
                None
            }
            Some(Piece::Word(value)) => {
                self.next();
                condition = condition.or_else(|| self.condition());
                Some(value)
            }
            Some(Piece::Close(_)) | None => return self.note(key.start, "a key without a value"),
        };
        let (at, line) = self.counted;
        let line = line + memchr::memchr_iter(b'\n', &self.text[at..key.start]).count();
        self.counted = (key.start, line);
        let index = self.nodes.len();
        self.nodes.push(Node { key, value, condition, next: index + 1, depth: self.open.len(), line });
        if value.is_none() {
            self.open.push(index);
        }
    }

    fn note(&mut self, at: usize, why: &'static str) {
        self.fault = self.fault.or(Some((at, why)));
    }

    /// A condition, if one is next.
    fn condition(&mut self) -> Option<Token> {
        let at = self.skip(self.at);
        let rest = self.text.get(at..).filter(|rest| rest.starts_with(b"["))?;
        let line = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        let close = rest[..line].iter().position(|byte| *byte == b']')?;
        // A vector of a material, such as `[1 0.5 1]`, is a value.
        let is_one = matches!(rest[1..close].trim_ascii_start().first(), Some(b'$' | b'!'));
        let token = Token { start: at, end: at + close + 1, is_quoted: false };
        is_one.then(|| {
            self.at = token.end;
            token
        })
    }

    fn peek(&mut self) -> Option<Piece> {
        let at = self.at;
        let piece = self.next();
        // A word is read again: the text stays linear, since each word is peeked at most once.
        self.at = at;
        piece
    }

    fn next(&mut self) -> Option<Piece> {
        let at = self.skip(self.at);
        let rest = self.text.get(at..)?;
        let (piece, end) = match rest.first()? {
            b'{' => (Piece::Open(at), at + 1),
            b'}' => (Piece::Close(at), at + 1),
            b'"' => {
                let length = memchr::memchr(b'"', &rest[1..]);
                if length.is_none() {
                    self.note(at, "a quote that is not closed");
                }
                let end = at + 1 + length.unwrap_or(rest.len() - 1);
                let token = Token { start: at + 1, end, is_quoted: true };
                (Piece::Word(token), (end + 1).min(self.text.len()))
            }
            _ => {
                let end = at + rest.iter().position(|byte| ends_word(*byte)).unwrap_or(rest.len());
                (Piece::Word(Token { start: at, end, is_quoted: false }), end)
            }
        };
        self.at = end;
        Some(piece)
    }

    /// The place after spaces and comments.
    fn skip(&self, mut at: usize) -> usize {
        while let Some(rest) = self.text.get(at..).filter(|rest| !rest.is_empty()) {
            if rest.starts_with(b"//") {
                at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            } else if is_space(rest[0]) {
                at += 1;
            } else {
                break;
            }
        }
        at
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{KeyValues, MOST_PAIRS, Pair};
    use bspkit::ErrorKind;

    #[test]
    fn a_text_without_an_edit_stays() {
        let text = &b"\xEF\xBB\xBF// a\r\n\"A b\"\r\n{ k v//no comment\r\n x \"\\\" y{ } }\r\n}"[..];
        let read = KeyValues::parse(text).unwrap();
        assert_eq!(read.with([]).unwrap(), text);
        let pairs: Vec<_> = read.iter().map(|pair| (pair.depth(), pair.key())).collect();
        assert_eq!(pairs[..3], [(0, &b"A b"[..]), (1, b"k"), (1, b"comment")]);
        assert_eq!(read.iter().nth(1).unwrap().value(), Some(&b"v//no"[..]));
        assert!(read.fault().is_some());
    }

    #[test]
    fn faults_are_named_and_the_rest_is_read() {
        let faults = [
            ("a { b", "line 1: a key without a value"),
            ("\n}", "line 2: a closing brace without an opening one"),
            ("{ a b }", "line 1: a block without a key"),
            ("a \"b", "line 1: a quote that is not closed"),
            ("\n\na {", "line 3: a block without a closing brace"),
        ];
        for (text, why) in faults {
            assert_eq!(KeyValues::parse(text).unwrap().fault().unwrap().to_string(), why);
        }
        let deep = "a{".repeat(200_000);
        assert_eq!(KeyValues::parse(deep).unwrap().roots().count(), 1);
        assert_eq!(KeyValues::parse("a 1 ".repeat(MOST_PAIRS + 1)).unwrap_err().kind(), ErrorKind::TooLarge);
    }

    #[test]
    fn conditions_of_consoles_are_known() {
        let text =
            "a 1 [$X360] b 2 [!$X360] c [$WIN32] { d 3 } e 4 [$PS3||$WIN32] f 5 [!$WIN32] g 6 [$X360||$PS3] h [1";
        let read = KeyValues::parse(text).unwrap();
        let kept: Vec<&[u8]> = read.iter().filter(Pair::is_for_pc).map(|pair| pair.key()).collect();
        assert_eq!(kept, [b"b", b"c", b"d", b"e", b"h"]);
        assert_eq!(read.iter().last().unwrap().value(), Some(&b"[1"[..]));
    }
}
