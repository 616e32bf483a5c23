//! Sets of bytes in brackets. Each byte is written as a number: what is special in them differs.

use std::fmt::Write;

use super::escape::Escaped;
use super::{Scan, Unfit};

const NAMES: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "word",
    "xdigit",
];

/// Whether a text begins with `[:alpha:]`, `[.a.]` or `[=a=]`, as PCRE tells them from a set.
fn is_posix(text: &[u8]) -> bool {
    let [b'[', kind @ (b':' | b'.' | b'='), inside @ ..] = text else { return false };
    let mut at = 0;
    loop {
        match inside.get(at..) {
            Some([b'\\', b']', ..]) => at += 1,
            None | Some([b']', ..] | []) => return false,
            Some([one, b']', ..]) if one == kind => return true,
            _ => {}
        }
        at += 1;
    }
}

impl Scan<'_> {
    pub(super) fn class(&mut self) -> Result<(), Unfit> {
        let open = self.at;
        if is_posix(self.rest()) {
            return self.invalid("a named set has to be within brackets: `[[:alpha:]]`");
        }
        let unclosed = || Unfit::Invalid(open, "the `[` is not closed".to_owned());
        let mut set = String::from("[");
        self.at += 1;
        if self.peek(0) == Some(b'^') {
            set.push('^');
            self.at += 1;
        }
        let first = self.at;
        loop {
            let byte = self.peek(0).ok_or_else(unclosed)?;
            if byte == b']' && self.at > first {
                break;
            }
            let start = match self.member(byte)? {
                // To PCRE 7.9 a hyphen that follows is a letter.
                Escaped::Set(members) => {
                    set.push_str(&members);
                    continue;
                }
                Escaped::Byte(start) => start,
            };
            // Writing into a string cannot fail.
            let _ = write!(set, r"\x{start:02x}");
            if self.peek(0) == Some(b'-') && !matches!(self.peek(1), Some(b']') | None) {
                let hyphen = self.at;
                self.at += 1;
                let next = self.peek(0).ok_or_else(unclosed)?;
                match self.member(next)? {
                    Escaped::Byte(end) if end >= start => drop(write!(set, r"-\x{end:02x}")),
                    Escaped::Byte(_) => return self.invalid("the range in the brackets is out of order"),
                    // The hyphen is a letter, and the set follows it.
                    Escaped::Set(_) => {
                        self.at = hyphen + 1;
                        set.push_str(r"\x2d");
                    }
                }
            }
        }
        set.push(']');
        self.at += 1;
        self.item(&set);
        Ok(())
    }

    /// One member of a set; moves past it.
    fn member(&mut self, byte: u8) -> Result<Escaped, Unfit> {
        match (byte, self.peek(1)) {
            (b'[', Some(b':')) if memchr::memmem::find(self.rest(), b":]").is_some() => self.named(),
            (b'[', Some(b'.' | b'=')) => self.unsupported("`[.` and `[=` in brackets"),
            (b'\\', Some(b'b')) => {
                self.at += 2;
                Ok(Escaped::Byte(8))
            }
            (b'\\', Some(b'Q' | b'E')) => self.unsupported(r"`\Q` and `\E` in brackets"),
            (b'\\', Some(b'1'..=b'7')) => self.unsupported("an octal number in brackets: use `\\x`"),
            (b'\\', Some(b'N' | b'R' | b'X' | b'B')) => self.invalid("the escape is not allowed in brackets"),
            (b'\\', _) => self.escaped(),
            _ => {
                self.at += 1;
                Ok(Escaped::Byte(byte))
            }
        }
    }

    /// `[:alpha:]`, `[:^alpha:]`.
    fn named(&mut self) -> Result<Escaped, Unfit> {
        let inside = &self.rest()[2..];
        let length = memchr::memmem::find(inside, b":]").unwrap_or_default();
        let name = std::str::from_utf8(&inside[..length]).unwrap_or_default();
        if !NAMES.contains(&name.trim_start_matches('^')) {
            // `[[:x]` without a name before `:]` is a set of letters.
            if !name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'^') {
                self.at += 1;
                return Ok(Escaped::Byte(b'['));
            }
            return self.invalid("the name of a set is not known");
        }
        let set = format!("[:{name}:]");
        self.at += length + 4;
        Ok(Escaped::Set(set))
    }
}
