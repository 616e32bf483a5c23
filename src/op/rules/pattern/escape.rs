//! Backslashes of regular expressions.

use super::{Scan, Unfit};

/// Blanks of PCRE 7.9, in the syntax of the crate `regex`: `\s` has no vertical tab.
const BLANK: &str = r"\x09\x0a\x0c\x0d\x20";
/// Horizontal and vertical blanks.
const HORIZONTAL: &str = r"\x09\x20\xa0";
const VERTICAL: &str = r"\x0a-\x0d\x85";

/// What a backslash and the letters after it are.
pub(super) enum Escaped {
    Byte(u8),
    /// A set of bytes, as it is written inside of brackets.
    Set(String),
}

impl Scan<'_> {
    /// A backslash outside of brackets.
    pub(super) fn escape(&mut self) -> Result<(), Unfit> {
        let Some(letter) = self.peek(1) else { return self.invalid("a backslash ends the expression") };
        match letter {
            b'A' | b'b' | b'B' | b'z' => {
                self.out.push('\\');
                self.out.push(char::from(letter));
                self.at += 1;
                self.no_quantifier_after(&format!("\\{}", char::from(letter)))?;
                self.at += 1;
            }
            b'Q' => {
                self.at += 2;
                let rest = self.rest();
                let length = memchr::memmem::find(rest, br"\E").unwrap_or(rest.len());
                rest[..length].iter().for_each(|byte| self.byte(*byte));
                self.at += (length + 2).min(rest.len());
            }
            b'E' => self.at += 2,
            b'N' => return self.invalid(r"PCRE 7.9 does not know `\N`"),
            b'C' => {
                self.item(r"(?s:.)");
                self.at += 2;
            }
            b'1'..=b'9' => self.reference_or_octal()?,
            b'G' => return self.unsupported(r"`\G`"),
            b'K' => return self.unsupported(r"`\K`"),
            b'R' => return self.unsupported(r"`\R`"),
            b'X' => return self.unsupported(r"`\X`"),
            b'Z' => return self.unsupported(r"`\Z`: use `$`, or `\z` for the very end"),
            b'g' | b'k' => return self.unsupported("a back-reference"),
            _ => match self.escaped()? {
                Escaped::Byte(byte) => self.byte(byte),
                Escaped::Set(set) => self.item(&format!("[{set}]")),
            },
        }
        Ok(())
    }

    /// `\1` refers to a group; `\12` does if there are as many, and is an octal number otherwise.
    fn reference_or_octal(&mut self) -> Result<(), Unfit> {
        let digits = self.rest()[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let text = std::str::from_utf8(&self.rest()[1..=digits]).unwrap_or_default();
        let number: usize = text.parse().unwrap_or(usize::MAX);
        if number <= self.captures {
            return self.unsupported("a back-reference");
        }
        if number < 10 || text.starts_with(['8', '9']) {
            return self.invalid("the back-reference is to a group that does not exist");
        }
        let byte = self.octal(1)?;
        self.byte(byte);
        Ok(())
    }

    /// A backslash that means the same inside and outside of brackets; moves past it.
    pub(super) fn escaped(&mut self) -> Result<Escaped, Unfit> {
        let Some(letter) = self.peek(1) else { return self.invalid("a backslash ends the expression") };
        let set = match letter {
            b's' => BLANK.to_owned(),
            b'S' => format!("[^{BLANK}]"),
            b'd' | b'D' | b'w' | b'W' => format!("\\{}", char::from(letter)),
            b'h' => HORIZONTAL.to_owned(),
            b'H' => format!("[^{HORIZONTAL}]"),
            b'v' => VERTICAL.to_owned(),
            b'V' => format!("[^{VERTICAL}]"),
            b'p' | b'P' => return self.unsupported("a property of Unicode"),
            _ => return self.escaped_byte(letter).map(Escaped::Byte),
        };
        self.at += 2;
        Ok(Escaped::Set(set))
    }

    fn escaped_byte(&mut self, letter: u8) -> Result<u8, Unfit> {
        let byte = match letter {
            b'a' => 7,
            b'e' => 0x1B,
            b'f' => 0x0C,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'0' => return self.octal(1),
            b'x' => return self.hexadecimal(),
            b'c' => match self.peek(2) {
                Some(control @ 0x20..=0x7E) => {
                    self.at += 3;
                    return Ok(control.to_ascii_uppercase() ^ 0x40);
                }
                _ => return self.invalid(r"`\c` needs a printable letter"),
            },
            b'o' => return self.unsupported(r"`\o{}`: use `\x`"),
            letter if letter.is_ascii_alphanumeric() => {
                return self.invalid("the letter after the backslash is not known");
            }
            other => other,
        };
        self.at += 2;
        Ok(byte)
    }

    /// Up to three octal digits, from this many bytes on.
    fn octal(&mut self, start: usize) -> Result<u8, Unfit> {
        let digits = &self.rest()[start..];
        let length = digits.iter().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
        let text = std::str::from_utf8(&digits[..length]).unwrap_or_default();
        let Ok(byte) = u8::from_str_radix(text, 8) else { return self.invalid("the octal number is too large") };
        self.at += start + length;
        Ok(byte)
    }

    /// `\xHH` with up to two digits, or `\x{HH}`.
    fn hexadecimal(&mut self) -> Result<u8, Unfit> {
        let rest = &self.rest()[2..];
        let braced = rest.strip_prefix(b"{").and_then(|rest| rest.split(|byte| *byte == b'}').next());
        let is_braced = braced.is_some_and(|inside| {
            !inside.is_empty() && inside.iter().all(u8::is_ascii_hexdigit) && rest.get(inside.len() + 1) == Some(&b'}')
        });
        let (digits, length) = match braced {
            Some(inside) if is_braced => (inside, inside.len() + 4),
            _ => {
                let length = rest.iter().take(2).take_while(|byte| byte.is_ascii_hexdigit()).count();
                (&rest[..length], length + 2)
            }
        };
        let text = std::str::from_utf8(digits).unwrap_or_default();
        let number = if text.is_empty() { Ok(0) } else { u8::from_str_radix(text, 16) };
        let Ok(byte) = number else { return self.invalid("the number of the character is too large") };
        self.at += length;
        Ok(byte)
    }
}
