//! Sets of bytes in brackets. Each byte is written as a number: what is special in them differs.

use std::fmt::Write;

use super::escape::Escaped;
use super::{Flavor, Scan, Unfit};

const NAMES: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "word",
    "xdigit",
];

/// The letter and the inside of `[:alpha:]`, `[.a.]` and `[=a=]` at the start of a text, as PCRE tells them from a set.
pub(super) fn posix(text: &[u8]) -> Option<(u8, &[u8])> {
    let [b'[', kind @ (b':' | b'.' | b'='), inside @ ..] = text else { return None };
    let mut at = 0;
    loop {
        match inside.get(at..)? {
            [b'\\', b']', ..] => at += 1,
            [b']', ..] | [] => return None,
            [one, b']', ..] if one == kind => return Some((*kind, &inside[..at])),
            _ => {}
        }
        at += 1;
    }
}

impl Scan<'_> {
    pub(super) fn class(&mut self) -> Result<(), Unfit> {
        let open = self.at;
        if self.flavor == Flavor::Pcre && posix(self.rest()).is_some() {
            return self.invalid("a named set has to be within brackets: `[[:alpha:]]`");
        }
        let unclosed = || Unfit::Invalid(open, "the `[` is not closed".to_owned());
        let mut set = String::from("[");
        self.at += 1;
        self.skip_ends();
        if self.peek(0) == Some(b'^') {
            set.push('^');
            self.at += 1;
            self.skip_ends();
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
                Escaped::Nothing => continue,
                Escaped::Byte(start) => start,
            };
            // Writing into a string cannot fail.
            let _ = write!(set, r"\x{start:02x}");
            self.skip_ends();
            if self.peek(0) == Some(b'-') {
                let hyphen = self.at;
                self.at += 1;
                self.skip_ends();
                if matches!(self.peek(0), Some(b']') | None) {
                    set.push_str(r"\x2d");
                    continue;
                }
                let next = self.peek(0).ok_or_else(unclosed)?;
                // The end of a range is a letter or an escape: `[` begins no name there.
                let end = if next == b'[' {
                    self.at += 1;
                    Escaped::Byte(next)
                } else {
                    self.member(next)?
                };
                match end {
                    Escaped::Byte(end) if end >= start => drop(write!(set, r"-\x{end:02x}")),
                    Escaped::Byte(_) => return self.invalid("the range in the brackets is out of order"),
                    Escaped::Nothing => return self.unsupported(r"a range without an end"),
                    Escaped::Set(_) if self.flavor == Flavor::DotNet => {
                        return self.invalid("a range ends with a set");
                    }
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

    /// Moves past `\E` that ends nothing: PCRE sees a range through it.
    fn skip_ends(&mut self) {
        while self.flavor == Flavor::Pcre && self.rest().starts_with(br"\E") {
            self.at += 2;
        }
    }

    /// One member of a set; moves past it.
    fn member(&mut self, byte: u8) -> Result<Escaped, Unfit> {
        match (byte, self.peek(1)) {
            (b'[', _) if self.flavor == Flavor::Pcre && posix(self.rest()).is_some() => self.named(),
            (b'\\', Some(b'b')) => {
                self.at += 2;
                Ok(Escaped::Byte(8))
            }
            (b'-', Some(b'[')) if self.flavor == Flavor::DotNet => self.unsupported("a set without another set"),
            (b'\\', Some(b'g')) => self.unsupported(r"`\g` in brackets"),
            (b'\\', Some(b'Q')) => self.unsupported(r"`\Q` in brackets"),
            (b'\\', Some(b'E')) if self.flavor == Flavor::Pcre => {
                self.at += 2;
                Ok(Escaped::Nothing)
            }
            (b'\\', Some(b'1'..=b'7')) if self.flavor == Flavor::Pcre => self.octal(1).map(Escaped::Byte),
            (b'\\', Some(b'1'..=b'9')) => self.unsupported("a number in brackets: use `\\x`"),
            // Escapes that match a place, or several bytes, are letters here.
            (b'\\', Some(letter)) if self.flavor == Flavor::Pcre && b"ABCGKRXZkz".contains(&letter) => {
                self.at += 2;
                Ok(Escaped::Byte(letter))
            }
            (b'\\', _) => self.escaped(),
            _ => {
                self.at += 1;
                Ok(Escaped::Byte(byte))
            }
        }
    }

    /// `[:alpha:]`, `[:^alpha:]`.
    fn named(&mut self) -> Result<Escaped, Unfit> {
        let Some((b':', name)) = posix(self.rest()) else {
            return self.invalid("elements of a collation are not supported there either");
        };
        let length = name.len();
        let name = std::str::from_utf8(name).unwrap_or_default();
        let (hat, name) = name.strip_prefix('^').map_or(("", name), |name| ("^", name));
        if !NAMES.contains(&name) {
            return self.invalid("the name of a set is not known");
        }
        // Where case does not matter, a letter is of both.
        let name = if self.is_caseless && matches!(name, "upper" | "lower") { "alpha" } else { name };
        let set = format!("[:{hat}{name}:]");
        self.at += length + 4;
        Ok(Escaped::Set(set))
    }
}
