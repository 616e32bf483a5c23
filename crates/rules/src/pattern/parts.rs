//! The parts of a regular expression: backslashes, sets of bytes in brackets, groups.

use std::fmt::Write;

use super::{Flavor, Group, Scan, Unfit};

// Backslashes of regular expressions.

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
/// Letters after a backslash that PCRE refuses.
const REFUSED: &[u8] = b"LlUu";
/// Letters after a backslash that are themselves in PCRE 7.9, and an error or something else in later versions; it
/// refuses `\N`.
const DOUBTFUL: &[u8] = b"FIJMNOTYijmoqy";

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
            b'K' if self.flavor == Flavor::Pcre && self.open.iter().any(|group| group.looks) => {
                return self.doubtful(r"`\K` that looks around");
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
            Flavor::Pcre if DOUBTFUL.contains(&letter) => {
                return self.doubtful(&format!("`\\{}`", char::from(letter)));
            }
            Flavor::Pcre | Flavor::Ecma => REFUSED.contains(&letter),
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
        if text.starts_with('+') && self.flavor == Flavor::Pcre {
            return self.doubtful("a back-reference to a group that follows");
        }
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
            return self.doubtful("a back-reference within `(?<`");
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
            // A NUL and digits for PCRE 7.9, digits for PCRE 8.39, an error for PCRE2.
            if text.starts_with(['8', '9']) && self.flavor == Flavor::Pcre {
                return self.doubtful("a number of no group that begins with 8 or 9");
            }
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
            _ if self.flavor == Flavor::Pcre && rest.starts_with(b"{") => {
                return self.doubtful(r"`\x{` without digits and a brace");
            }
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

// Sets of bytes in brackets. Each byte is written as a number: what is special in them differs.

pub(super) const POSIX: [&str; 12] =
    ["alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit"];

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
                // A hyphen that follows is a letter to PCRE 7.9, and an error to PCRE2.
                Escaped::Set(members) => {
                    self.skip_ends();
                    if self.flavor == Flavor::Pcre && self.peek(0) == Some(b'-') && self.peek(1) != Some(b']') {
                        return self.doubtful("a hyphen after a set");
                    }
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
                    Escaped::Set(_) if self.flavor == Flavor::Pcre => {
                        self.at = hyphen;
                        return self.doubtful("a hyphen before a set");
                    }
                    Escaped::Set(_) => return self.invalid("a range ends with a set"),
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
            // Escapes that match a place, or several bytes, are letters here to PCRE 7.9, and an error to PCRE2.
            (b'\\', Some(letter)) if self.flavor == Flavor::Pcre && b"ABCGKRXZkz".contains(&letter) => {
                self.doubtful(&format!("`\\{}` in brackets", char::from(letter)))
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
        if matches!(name, "<" | ">") {
            return self.doubtful(&format!("`[[:{name}:]]`"));
        }
        if !POSIX.contains(&name) && !matches!(name, "ascii" | "word") {
            return self.invalid("the name of a set is not known");
        }
        // Where case does not matter, a letter is of both.
        let name = if self.is_caseless && matches!(name, "upper" | "lower") { "alpha" } else { name };
        let set = format!("[:{hat}{name}:]");
        self.at += length + 4;
        Ok(Escaped::Set(set))
    }
}

// Groups of regular expressions: with and without a number or name, and flags.

impl Scan<'_> {
    pub(super) fn open_group(&mut self) -> Result<(), Unfit> {
        let (length, text) = match self.rest() {
            [b'(', b'?', b'P', ..] if self.flavor == Flavor::DotNet => {
                return self.invalid("the character after `(?` is not known");
            }
            [b'(', b'?', b'#', comment @ ..] => {
                let Some(end) = memchr::memchr(b')', comment) else {
                    return self.invalid("the bracket after `(?#` is not closed");
                };
                self.at += end + 4;
                return Ok(());
            }
            [b'(', b'?', b':', ..] => (3, "(?:".to_owned()),
            [b'(', b'?', way @ (b'=' | b'!' | b'>'), ..] => (3, format!("(?{}", char::from(*way))),
            [b'(', b'?', b'<', way @ (b'=' | b'!'), ..] => (4, format!("(?<{}", char::from(*way))),
            [b'(', b'?', b'P', b'=', name @ ..] if self.flavor == Flavor::Pcre => {
                let Some(end) = memchr::memchr(b')', name) else {
                    return self.invalid("the name of a group is not closed");
                };
                let number = self.captures.iter().position(|own| *own == &name[..end]).map_or(0, |at| at + 1);
                return self.refer(number, end + 5);
            }
            [b'(', b'?', b'|', ..] => return self.unsupported("a branch reset"),
            [b'(', b'?', b'(', ..] => return self.unsupported("a condition"),
            [b'(', b'?', b'P', b'<', name @ ..] | [b'(', b'?', b'<', name @ ..] => self.name(name, b'>')?,
            [b'(', b'?', b'\'', name @ ..] => self.name(name, b'\'')?,
            [b'(', b'?', flags @ ..] => return self.flags(flags),
            [b'(', b'*', ..] => return self.unsupported("a verb"),
            _ => (1, "(".to_owned()),
        };
        self.end_run();
        self.is_hard |= matches!(&*text, "(?=" | "(?!" | "(?>" | "(?<=" | "(?<!");
        let looks = text.ends_with(['=', '!']);
        self.open.push(Group { at: self.at, looks, looks_behind: looks && text.len() == 4 });
        self.steps.push(0);
        self.out.push_str(&text);
        (self.can_repeat, self.is_behind_look) = (false, false);
        self.at += length;
        Ok(())
    }

    /// The name of a group; references are by number.
    fn name(&self, name: &[u8], end: u8) -> Result<(usize, String), Unfit> {
        let length = name.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        let is_name = length > 0 && !name[0].is_ascii_digit() && name.get(length) == Some(&end);
        let before = self.rest().len() - name.len();
        if self.flavor == Flavor::Pcre && length > 32 {
            return self.doubtful("a name of more than 32 letters");
        }
        if is_name && self.captures.iter().filter(|own| **own == &name[..length]).count() > 1 {
            return self.invalid("two groups have one name");
        }
        match is_name {
            true => Ok((before + length + 1, "(".to_owned())),
            false => self.invalid("the name of a group is missing or not closed"),
        }
    }

    /// `(?i)`, `(?s-i:`: flags for the rest of the group, or for a group.
    fn flags(&mut self, flags: &[u8]) -> Result<(), Unfit> {
        let length = flags.iter().take_while(|byte| byte.is_ascii_alphabetic() || **byte == b'-').count();
        let (set, end) = (&flags[..length], flags.get(length));
        if let Some(other) = set.iter().find(|flag| !b"is-".contains(flag)) {
            let (letter, known) = (char::from(*other), b"JUmnxPRC".contains(other));
            if self.flavor == Flavor::Pcre && b"ar".contains(other) {
                return self.doubtful(&format!("`(?{letter}`"));
            }
            return match known {
                true => self.unsupported(&format!("`(?{letter}`: only the flags i and s are supported")),
                false => self.invalid("the character after `(?` is not known"),
            };
        }
        let hyphens = set.iter().filter(|flag| **flag == b'-').count();
        if hyphens > 1 && self.flavor == Flavor::Pcre {
            return self.doubtful("two hyphens among the flags");
        }
        if hyphens > 1 {
            return self.invalid("there are two hyphens among the flags");
        }
        let is_off = set.split(|flag| *flag == b'-').nth(1).unwrap_or_default();
        self.is_caseless &= !is_off.contains(&b'i');
        match end {
            Some(b')') if is_off.is_empty() => self.flags_of(set.split(|flag| *flag == b'-').next(), "", ")"),
            Some(b')') => self.flags_of(set.split(|flag| *flag == b'-').next(), &text_of(is_off), ")"),
            Some(b':') => {
                self.end_run();
                self.flags_of(set.split(|flag| *flag == b'-').next(), &text_of(is_off), ":");
                self.open.push(Group { at: self.at, looks: false, looks_behind: false });
                self.steps.push(0);
            }
            Some(b'0'..=b'9' | b'+' | b'&') => return self.unsupported("a call of a group"),
            Some(other @ (b'^' | b'*' | b'[')) if set.is_empty() && self.flavor == Flavor::Pcre => {
                return self.doubtful(&format!("`(?{}`", char::from(*other)));
            }
            _ => return self.invalid("the character after `(?` is not known"),
        }
        (self.can_repeat, self.is_behind_look) = (false, false);
        self.at += length + 3;
        Ok(())
    }

    fn flags_of(&mut self, on: Option<&[u8]>, off: &str, end: &str) {
        let on = text_of(on.unwrap_or_default());
        let hyphen = if off.is_empty() { "" } else { "-" };
        if !(on.is_empty() && off.is_empty() && end == ")") {
            // Writing into a string cannot fail.
            let _ = write!(self.out, "(?{on}{hyphen}{off}{end}");
        }
    }
}

/// Each flag once: the crate accepts no flag twice.
fn text_of(flags: &[u8]) -> String {
    b"is".iter().filter(|flag| flags.contains(flag)).map(|flag| char::from(*flag)).collect()
}
