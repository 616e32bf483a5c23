//! The words of rule files that are not read line by line.

use super::finding::At;

/// A word of a rule file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) at: At,
    pub(super) kind: Kind,
    pub(super) text: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Open,
    Close,
    Word,
    /// Between quotes.
    Quoted,
}

/// Splits a text at blanks, braces and quotes; what begins with one of `comments` goes to the end of its line, and a
/// byte order mark is left out. The error is a quote that is not closed.
pub(super) fn split(text: &[u8], comments: &[&[u8]]) -> Result<Vec<Token>, (At, String)> {
    let mut tokens = Vec::new();
    let is_comment = |rest: &[u8]| comments.iter().any(|comment| rest.starts_with(comment));
    let first = if text.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    let (mut line, mut start, mut at) = (1, first, first);
    while let Some(&byte) = text.get(at) {
        let place = At { line, column: at - start + 1 };
        let rest = &text[at..];
        let mut token = |kind, text: &[u8]| tokens.push(Token { at: place, kind, text: text.to_vec() });
        let length = match byte {
            b'\n' => {
                (line, start) = (line + 1, at + 1);
                1
            }
            _ if byte <= b' ' => 1,
            b'{' | b'}' => {
                token(if byte == b'{' { Kind::Open } else { Kind::Close }, &rest[..1]);
                1
            }
            b'"' => {
                let Some(length) = memchr::memchr(b'"', &rest[1..]) else {
                    return Err((place, "a closing quote was expected".to_owned()));
                };
                let inner = &rest[1..=length];
                token(Kind::Quoted, inner);
                line += memchr::memchr_iter(b'\n', inner).count();
                start = memchr::memrchr(b'\n', inner).map_or(start, |end| at + end + 2);
                length + 2
            }
            _ if is_comment(rest) => memchr::memchr(b'\n', rest).unwrap_or(rest.len()),
            _ => {
                let is_end = |at: &usize| rest[*at] <= b' ' || b"{}\"".contains(&rest[*at]) || is_comment(&rest[*at..]);
                let length = (0..rest.len()).find(is_end).unwrap_or(rest.len());
                token(Kind::Word, &rest[..length]);
                length
            }
        };
        at += length;
    }
    Ok(tokens)
}
