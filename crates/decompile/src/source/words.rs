//! The words of `.map` and `.vmf` texts, with their lines.

use bspkit::bytes::escaped;
use bspkit::{Error, ErrorKind, Result};

/// A word: its bytes without quotes, and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word<'t> {
    pub(super) bytes: &'t [u8],
    pub(super) is_quoted: bool,
    pub(super) line: usize,
}

impl Word<'_> {
    /// Whether it is this mark, not in quotes.
    pub(super) fn is(&self, mark: &[u8]) -> bool {
        !self.is_quoted && self.bytes == mark
    }
}

/// The words that are left of a text. Comments from `//` to the end of the line are none.
#[derive(Clone, Debug)]
pub(super) struct Words<'t> {
    text: &'t [u8],
    at: usize,
    line: usize,
}

impl<'t> Words<'t> {
    pub(super) fn new(text: &'t [u8]) -> Self {
        Words { text, at: 0, line: 1 }
    }

    /// The next word; `None` at the end of the text.
    pub(super) fn next(&mut self) -> Result<Option<Word<'t>>> {
        self.skip();
        let Some(first) = self.text.get(self.at) else { return Ok(None) };
        let (start, line) = (self.at, self.line);
        if *first == b'"' {
            let rest = &self.text[start + 1..];
            let Some(length) = rest.iter().position(|byte| *byte == b'"') else {
                return Err(error(line, "nothing ends the quote that begins here"));
            };
            let bytes = &rest[..length];
            self.line += bytes.iter().filter(|byte| **byte == b'\n').count();
            self.at = start + length + 2;
            return Ok(Some(Word { bytes, is_quoted: true, line }));
        }
        let rest = &self.text[start..];
        let end =
            start + rest.iter().position(|byte| byte.is_ascii_whitespace() || *byte == b'"').unwrap_or(rest.len());
        self.at = end;
        Ok(Some(Word { bytes: &self.text[start..end], is_quoted: false, line }))
    }

    /// The comments before the next word, line by line, without the marks that begin them.
    pub(super) fn comments(&self) -> Vec<&'t [u8]> {
        let mut after = self.clone();
        after.skip();
        let lines = self.text[self.at..after.at].split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        lines.filter_map(|line| line.strip_prefix(b"//")).map(<[u8]>::trim_ascii).collect()
    }

    /// The next word without taking it.
    pub(super) fn peek(&self) -> Result<Option<Word<'t>>> {
        self.clone().next()
    }

    /// The next word, which must be there.
    pub(super) fn take(&mut self) -> Result<Word<'t>> {
        let line = self.line;
        self.next()?.ok_or_else(|| error(line, "the text ends within a block"))
    }

    /// Takes a mark that must be there.
    pub(super) fn expect(&mut self, mark: &str) -> Result<()> {
        let word = self.take()?;
        match word.is(mark.as_bytes()) {
            true => Ok(()),
            false => Err(error(word.line, format!("`{mark}` is expected, not `{}`", escaped(word.bytes)))),
        }
    }

    /// Takes a mark if it is next.
    pub(super) fn accept(&mut self, mark: &[u8]) -> Result<bool> {
        let mut after = self.clone();
        let found = after.next()?.is_some_and(|word| word.is(mark));
        if found {
            *self = after;
        }
        Ok(found)
    }

    /// Takes a number that must be there.
    pub(super) fn number(&mut self) -> Result<f64> {
        let word = self.take()?;
        super::numbers::parse(word.bytes)
            .ok_or_else(|| error(word.line, format!("`{}` is not a number", escaped(word.bytes))))
    }

    /// Takes some numbers.
    pub(super) fn numbers<const N: usize>(&mut self) -> Result<[f64; N]> {
        let mut all = [0.0; N];
        for number in &mut all {
            *number = self.number()?;
        }
        Ok(all)
    }

    fn skip(&mut self) {
        while let Some(byte) = self.text.get(self.at) {
            if *byte == b'\n' {
                self.line += 1;
            } else if self.text[self.at..].starts_with(b"//") {
                let rest = &self.text[self.at..];
                self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                continue;
            } else if !byte.is_ascii_whitespace() && *byte != 0 {
                return;
            }
            self.at += 1;
        }
    }
}

/// An error with its line.
pub(super) fn error(line: usize, message: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Malformed, format!("line {line}: {message}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_their_lines() {
        let mut words = Words::new(b"{ // one\n\"two\nlines\" ( -1.5 )}\n");
        let all: Vec<_> = std::iter::from_fn(|| words.next().unwrap()).collect();
        let lines: Vec<usize> = all.iter().map(|word| word.line).collect();
        assert_eq!(lines, [1, 2, 3, 3, 3]);
        assert!(all[1].is_quoted && all[1].bytes == b"two\nlines" && all[4].bytes == b")}");
    }

    #[test]
    fn an_open_quote_is_an_error_with_its_line() {
        let found = Words::new(b"\n\"open").next().unwrap_err();
        assert_eq!(found.to_string(), "line 2: nothing ends the quote that begins here");
    }
}
