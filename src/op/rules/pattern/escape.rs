//! Backslashes of regular expressions.

use super::{Flavor, Scan, Unfit};

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
    /// `\E`
    Nothing,
}

/// Letters that .NET knows after a backslash; others are an error there.
const OF_DOTNET: &[u8] = b"AbBGzZdDsSwWaefnrtvcxkpPu";
/// Letters after a backslash that PCRE 7.9 refuses; those that it does not know are themselves.
const REFUSED: &[u8] = b"LlNUu";

impl Scan<'_> {
    /// A backslash outside of brackets.
    pub(super) fn escape(&mut self) -> Result<(), Unfit> {
        let Some(letter) = self.peek(1) else { return self.invalid("a backslash ends the expression") };
        self.check_letter(letter)?;
        match letter {
            b'A' | b'b' | b'B' | b'z' => {
                self.place(&format!("\\{}", char::from(letter)));
                self.at += 2;
            }
            // A match begins at the start of a value; what it keeps does not matter.
            b'G' => {
                self.place(r"\A");
                self.at += 2;
            }
            b'K' => {
                self.place("");
                self.at += 2;
            }
            b'R' => {
                self.is_hard = true;
                self.item(r"(?>\r\n|[\x0a-\x0d\x85])");
                self.at += 2;
            }
            b'Z' => self.end_of_text(2),
            b'g' | b'k' => self.reference()?,
            b'Q' => {
                self.at += 2;
                let rest = self.rest();
                let length = memchr::memmem::find(rest, br"\E").unwrap_or(rest.len());
                rest[..length].iter().for_each(|byte| self.byte(*byte));
                self.at += (length + 2).min(rest.len());
            }
            b'E' => self.at += 2,
            b'C' => {
                self.item(r"(?s:.)");
                self.at += 2;
            }
            b'1'..=b'9' => self.reference_or_octal()?,
            b'X' => return self.unsupported(r"`\X`"),
            _ => match self.escaped()? {
                Escaped::Byte(byte) => self.byte(byte),
                Escaped::Set(set) => self.item(&format!("[{set}]")),
                Escaped::Nothing => {}
            },
        }
        Ok(())
    }

    /// Refuses a letter after a backslash as the engine does.
    fn check_letter(&self, letter: u8) -> Result<(), Unfit> {
        let is_refused = match self.flavor {
            Flavor::Pcre => REFUSED.contains(&letter),
            Flavor::DotNet => letter.is_ascii_alphabetic() && !OF_DOTNET.contains(&letter),
        };
        if is_refused { self.invalid("the engine refuses the letter after the backslash") } else { Ok(()) }
    }

    /// `\g1`, `\g{-1}`, `\g{name}`, `\k<name>`, `\k'name'`, `\k{name}`.
    fn reference(&mut self) -> Result<(), Unfit> {
        let rest = &self.rest()[2..];
        let (name, length) = match (self.peek(1), rest.first()) {
            (Some(b'g'), Some(b'<' | b'\'')) => return self.unsupported("a call of a group"),
            (_, Some(open @ (b'{' | b'<' | b'\''))) => {
                let close = match open {
                    b'{' => b'}',
                    b'<' => b'>',
                    other => *other,
                };
                let Some(length) = memchr::memchr(close, &rest[1..]) else {
                    return self.invalid("the name of a group is not closed");
                };
                (&rest[1..=length], length + 4)
            }
            (Some(b'g'), _) => {
                let sign = usize::from(rest.first() == Some(&b'-'));
                let length = sign + rest[sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                (&rest[..length], length + 2)
            }
            _ => return self.invalid(r"`\k` needs the name of a group"),
        };
        let text = std::str::from_utf8(name).unwrap_or_default();
        let number = match text.parse::<i64>() {
            // Backwards from the last group that is open here.
            Ok(back) if back < 0 => {
                let opened = super::captures(self.text).iter().filter(|(at, _)| *at < self.at).count();
                let opened = i64::try_from(opened).unwrap_or(i64::MAX);
                usize::try_from(opened.saturating_add(back).saturating_add(1)).unwrap_or(0)
            }
            Ok(number) => usize::try_from(number).unwrap_or(0),
            Err(_) if name.is_empty() => 0,
            Err(_) => self.captures.iter().position(|own| *own == name).map_or(0, |at| at + 1),
        };
        self.refer(number, length)
    }

    /// A reference to the group of this number; moves on by this many bytes.
    pub(super) fn refer(&mut self, number: usize, length: usize) -> Result<(), Unfit> {
        if number == 0 || number > self.captures.len() {
            return self.invalid("the back-reference is to a group that does not exist");
        }
        if self.looks_behind() && self.flavor == Flavor::Pcre {
            return self.invalid("what is within `(?<` has no fixed length");
        }
        let is_named = |name: &&[u8]| !name.is_empty();
        if self.flavor == Flavor::DotNet && self.captures.iter().any(is_named) {
            return self.unsupported("a back-reference in an expression with named groups");
        }
        self.is_hard = true;
        self.item(&format!(r"(?:\{number})"));
        self.at += length;
        Ok(())
    }

    /// `\1` refers to a group; `\12` does if there are as many, and is an octal number otherwise.
    fn reference_or_octal(&mut self) -> Result<(), Unfit> {
        let digits = self.rest()[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let text = std::str::from_utf8(&self.rest()[1..=digits]).unwrap_or_default();
        let number: usize = text.parse().unwrap_or(usize::MAX);
        if number <= self.captures.len() {
            return self.refer(number, digits + 1);
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
        self.check_letter(letter)?;
        let is_pcre = self.flavor == Flavor::Pcre;
        let set = match letter {
            b's' if is_pcre => BLANK.to_owned(),
            b'S' if is_pcre => format!("[^{BLANK}]"),
            b'd' | b'D' | b's' | b'S' | b'w' | b'W' => format!("\\{}", char::from(letter)),
            b'v' if !is_pcre => return self.escaped_byte(letter).map(Escaped::Byte),
            b'u' | b'k' if !is_pcre => return self.unsupported("an escape of .NET"),
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
            b'v' => 0x0B,
            b'0' => return self.octal(1),
            b'x' => return self.hexadecimal(),
            b'c' => match self.peek(2) {
                Some(control @ 0x20..=0x7E) => {
                    self.at += 3;
                    return Ok(control.to_ascii_uppercase() ^ 0x40);
                }
                _ => return self.invalid(r"`\c` needs a printable letter"),
            },
            letter @ b'1'..=b'9' => return self.invalid(&format!("`\\{}` is not a number here", char::from(letter))),
            other => other,
        };
        self.at += 2;
        Ok(byte)
    }

    /// Up to three octal digits, from this many bytes on.
    pub(super) fn octal(&mut self, start: usize) -> Result<u8, Unfit> {
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
