//! The parser: tokens, pairs, blocks, conditions.

use super::{MOST_PAIRS, Node, Token};

/// Whether a condition such as `[$X360||$PS3]` can be true on a PC. An unknown name may be.
pub(super) fn holds_on_pc(condition: &[u8]) -> bool {
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
pub(super) fn ends_word(byte: u8) -> bool {
    is_space(byte) || matches!(byte, b'"' | b'{' | b'}')
}

#[derive(Clone, Copy, PartialEq)]
enum Piece {
    Open(usize),
    Close(usize),
    Word(Token),
}

pub(super) struct Parser<'t> {
    text: &'t [u8],
    at: usize,
    pub(super) nodes: Vec<Node>,
    /// The blocks that are open, outermost first.
    open: Vec<usize>,
    pub(super) fault: Option<(usize, &'static str)>,
    /// A place, and its line.
    counted: (usize, usize),
}

impl Parser<'_> {
    /// Reads a whole text.
    pub(super) fn run(text: &[u8]) -> Parser<'_> {
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
    use super::super::{KeyValues, Pair};
    use super::MOST_PAIRS;
    use crate::error::ErrorKind;

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
