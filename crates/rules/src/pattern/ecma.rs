//! Expressions of stripper_qmm: ECMAScript as `std::regex` of C++ reads it.
//!
//! The plug-in is built with two standard libraries, libstdc++ and that of MSVC, and catches no error of theirs. What
//! both reject is [`Unfit::Invalid`]; what one of them rejects, or reads in another way, is [`Unfit::Doubtful`]. A
//! value with line breaks is read as versions without a mode for lines do. Sources: `bits/regex_scanner.tcc` and
//! `bits/regex_compiler.tcc` of libstdc++, `regex` of MSVC, `ent.cpp` of stripper_qmm.

use std::fmt::Write;

use super::parts::POSIX;
use super::{Scan, Unfit};

/// All bytes but line breaks, blanks and what is no blank, as they are written inside of brackets.
const NO_BREAK: &str = r"[^\r\n]";
const BLANK: &str = r"\x09-\x0d\x20";
const NO_BLANK: &str = r"\x00-\x08\x0e-\x1f\x21-\xff";
/// What has a backslash before it to be itself.
const SPECIAL: &[u8] = br"\.+*?()|[]{}^$";
/// The highest number of a quantifier that is looked at.
const MOST_TIMES: usize = 65_535;

/// A bracket that is open.
struct Open {
    at: usize,
    /// The number of the group from 0, if it has one.
    group: Option<usize>,
    looks: bool,
    /// Whether a match begins here at the start of the value, and whether it has to be at its end.
    is_start: bool,
    is_end: bool,
    /// Whether an alternative before this one has to end at the end.
    others_end: bool,
    /// Whether there is a place in it that depends on where it begins or ends.
    has_edge: bool,
}

/// One member of a set.
enum Member {
    Byte(u8),
    Set(String),
}

/// An expression on the way into the syntax of the crate `regex`.
struct Reader<'s, 'p> {
    scan: &'s mut Scan<'p>,
    open: Vec<Open>,
    /// The alternative that each open bracket is in, and the one here; each has another number.
    path: Vec<usize>,
    alternatives: usize,
    /// For each group that is closed, the alternative that it is in; `None` if it is open, or may be passed over.
    groups: Vec<Option<usize>>,
    is_start: bool,
    is_end: bool,
    /// The group that was closed just now, and whether a bracket with an edge was.
    last_group: Option<usize>,
    last_has_edge: bool,
}

/// Rewrites the expression of a scan.
pub(super) fn read(scan: &mut Scan<'_>) -> Result<(), Unfit> {
    let mut reader = Reader {
        scan,
        open: Vec::new(),
        path: vec![0],
        alternatives: 0,
        groups: Vec::new(),
        is_start: true,
        is_end: false,
        last_group: None,
        last_has_edge: false,
    };
    while let Some(byte) = reader.scan.peek(0) {
        reader.one(byte)?;
        if reader.scan.is_too_long() {
            return Err(super::too_long());
        }
    }
    match reader.open.last() {
        Some(open) => Err(Unfit::Invalid(open.at, "the bracket is not closed".to_owned())),
        None => Ok(()),
    }
}

impl Reader<'_, '_> {
    fn one(&mut self, byte: u8) -> Result<(), Unfit> {
        match byte {
            b'\\' => self.escape(),
            b'[' => self.class(),
            b'(' => self.open_group(),
            b')' => self.close_group(),
            b'*' => self.repeat(1, "*", 1),
            b'+' => self.repeat(1, "+", 2),
            b'?' => self.repeat(1, "?", 1),
            b'{' => self.braces(),
            b']' | b'}' => self.doubtful(&format!("`{}` without a backslash", char::from(byte))),
            b'|' => {
                self.scan.place("|");
                self.scan.at += 1;
                let start = self.open.last().is_none_or(|open| open.is_start);
                let end = std::mem::replace(&mut self.is_end, self.open.last().is_some_and(|open| open.is_end));
                if let Some(open) = self.open.last_mut() {
                    open.others_end |= end;
                }
                self.is_start = start;
                self.enter();
                Ok(())
            }
            b'.' => self.item(NO_BREAK, 1),
            b'^' if !self.is_start => self.doubtful("`^` after other text"),
            b'^' => self.edge(r"\A", 1),
            b'$' => {
                self.edge(r"\z", 1)?;
                self.is_end = true;
                Ok(())
            }
            byte => self.literal(byte, 1),
        }
    }

    /// What not all builds of the plug-in read alike.
    fn doubtful<T>(&self, what: &str) -> Result<T, Unfit> {
        let why = format!("not all builds of the plug-in read {what} alike");
        Err(Unfit::Doubtful(self.scan.at, why))
    }

    /// A step of this many bytes.
    fn item(&mut self, text: &str, length: usize) -> Result<(), Unfit> {
        if self.is_end {
            return self.doubtful("text after `$`");
        }
        self.scan.item(text);
        self.scan.at += length;
        self.is_start = false;
        (self.last_group, self.last_has_edge) = (None, false);
        Ok(())
    }

    fn literal(&mut self, byte: u8, length: usize) -> Result<(), Unfit> {
        match byte {
            _ if SPECIAL.contains(&byte) => self.item(&format!("\\{}", char::from(byte)), length),
            b' '..=b'~' if byte != b'"' => self.item(char::from(byte).encode_utf8(&mut [0; 4]), length),
            _ => self.item(&format!(r"\x{byte:02x}"), length),
        }
    }

    /// A place that depends on where the text begins or ends.
    fn edge(&mut self, text: &str, length: usize) -> Result<(), Unfit> {
        // To libstdc++ the text begins where the expression begins to look ahead.
        if self.open.iter().any(|open| open.looks && !open.is_start) && !text.ends_with('z') {
            return self.doubtful("a start of a text or a word within `(?=` or `(?!` after other text");
        }
        self.open.iter_mut().for_each(|open| open.has_edge = true);
        self.scan.place(text);
        self.scan.at += length;
        Ok(())
    }

    /// Begins another alternative.
    fn enter(&mut self) {
        self.alternatives += 1;
        if let Some(last) = self.path.last_mut() {
            *last = self.alternatives;
        }
    }

    fn open_group(&mut self) -> Result<(), Unfit> {
        let (text, length) = match self.scan.rest() {
            [_, b'?', b':', ..] => ("(?:", 3),
            [_, b'?', b'=', ..] => ("(?=", 3),
            [_, b'?', b'!', ..] => ("(?!", 3),
            [_, b'?', ..] => return self.scan.invalid("only `:`, `=` and `!` can be after `(?`"),
            _ => ("(", 1),
        };
        let (looks, is_numbered) = (text.ends_with(['=', '!']), length == 1);
        let group = is_numbered.then_some(self.groups.len());
        if is_numbered {
            self.groups.push(None);
        }
        self.scan.is_hard |= looks;
        let (is_start, is_end) = (self.is_start, self.is_end);
        let at = self.scan.at;
        self.open.push(Open { at, group, looks, is_start, is_end, others_end: false, has_edge: false });
        self.path.push(0);
        self.enter();
        self.scan.place(text);
        self.scan.steps.push(0);
        self.scan.at += length;
        Ok(())
    }

    fn close_group(&mut self) -> Result<(), Unfit> {
        let Some(open) = self.open.pop() else { return self.scan.invalid("no bracket is open") };
        self.path.pop();
        let inside = self.scan.steps.pop().unwrap_or_default();
        self.scan.item(")");
        self.scan.count(inside);
        self.scan.can_repeat = !open.looks;
        self.scan.at += 1;
        self.is_start = open.looks && open.is_start;
        self.is_end = if open.looks { open.is_end } else { self.is_end || open.others_end };
        if let Some(number) = open.group {
            self.groups[number] = self.path.last().copied();
        }
        (self.last_group, self.last_has_edge) = (open.group, open.has_edge);
        Ok(())
    }

    /// A quantifier of this many bytes, which repeats at most this often.
    fn repeat(&mut self, length: usize, text: &str, most: usize) -> Result<(), Unfit> {
        if !self.scan.can_repeat {
            return self.scan.invalid("the quantifier does not follow a repeatable item");
        }
        if self.last_has_edge && text != "?" {
            return self.doubtful("a repetition of `^`, `$` or `\\b`");
        }
        let lazy = usize::from(self.scan.peek(length) == Some(b'?'));
        if matches!(self.scan.peek(length + lazy), Some(b'*' | b'+' | b'?' | b'{')) {
            self.scan.at += length + lazy;
            return self.doubtful("a quantifier after a quantifier");
        }
        self.scan.repeat(length, most, text)?;
        // A group that is repeated may not be there, or keep what an empty repetition left.
        if let Some(group) = self.last_group.take() {
            self.groups[group] = Some(usize::MAX);
        }
        Ok(())
    }

    /// `{2}`, `{2,}`, `{2,5}`; nothing else may be in braces.
    fn braces(&mut self) -> Result<(), Unfit> {
        if !self.scan.can_repeat {
            return self.scan.invalid("the quantifier does not follow a repeatable item");
        }
        let rest = self.scan.rest();
        let Some(end) = memchr::memchr(b'}', rest) else { return self.scan.invalid("the `{` is not closed") };
        let mut parts = rest[1..end].splitn(2, |byte| *byte == b',');
        let least = parts.next().and_then(super::number);
        let most = match parts.next() {
            None => least.map(Some),
            Some(b"") => Some(None),
            Some(most) => super::number(most).map(Some),
        };
        let (Some(least), Some(most)) = (least, most) else {
            return self.scan.invalid("in braces there are numbers only: `{2}`, `{2,}`, `{2,5}`");
        };
        if most.is_some_and(|most| most < least) {
            return self.scan.invalid("the numbers of the quantifier are out of order");
        }
        if least.max(most.unwrap_or(0)) > MOST_TIMES {
            return Err(super::too_long());
        }
        let text = match most {
            None => format!("{{{least},}}"),
            Some(most) if most == least => format!("{{{least}}}"),
            Some(most) => format!("{{{least},{most}}}"),
        };
        self.repeat(end + 1, &text, most.unwrap_or(least + 1))
    }

    /// A backslash outside of brackets.
    fn escape(&mut self) -> Result<(), Unfit> {
        match self.scan.peek(1) {
            Some(b'b') if self.open.iter().any(|open| open.looks) => self.edge(r"\b", 2),
            Some(b'B') if self.open.iter().any(|open| open.looks) => self.edge(r"\B", 2),
            Some(letter @ (b'b' | b'B')) => {
                self.scan.place(&format!("\\{}", char::from(letter)));
                self.scan.at += 2;
                Ok(())
            }
            Some(b'1'..=b'9') => self.reference(),
            _ => {
                let before = self.scan.at;
                let member = self.escaped()?;
                let length = std::mem::replace(&mut self.scan.at, before) - before;
                match member {
                    Member::Byte(byte) => self.literal(byte, length),
                    Member::Set(set) => self.item(&format!("[{set}]"), length),
                }
            }
        }
    }

    fn reference(&mut self) -> Result<(), Unfit> {
        let digits = self.scan.rest()[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = super::number(&self.scan.rest()[1..=digits]).unwrap_or_default();
        let Some(Some(alternative)) = self.groups.get(number.wrapping_sub(1)) else {
            return self.scan.invalid("the back-reference is to a group that is not closed before it");
        };
        // To libstdc++ a group that matched nothing is nowhere, to MSVC it is everywhere.
        if !self.path.contains(alternative) {
            return self.doubtful("a back-reference to a group that is repeated or may be passed over");
        }
        self.scan.is_hard = true;
        self.item(&format!(r"(?:\{number})"), digits + 1)
    }

    /// A backslash that means the same inside and outside of brackets; moves past it.
    fn escaped(&mut self) -> Result<Member, Unfit> {
        let Some(letter) = self.scan.peek(1) else { return self.scan.invalid("a backslash ends the expression") };
        let byte = match letter {
            b's' => return Ok(self.set(BLANK)),
            b'S' => return Ok(self.set(NO_BLANK)),
            b'd' | b'D' | b'w' | b'W' => return Ok(self.set(&format!("\\{}", char::from(letter)))),
            b'f' => 0x0C,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 0x0B,
            b'0' if self.scan.peek(2).is_some_and(|next| next.is_ascii_digit()) => {
                return self.doubtful("a digit after `\\0`");
            }
            b'0' => 0,
            b'x' => return self.hexadecimal(2),
            b'u' => return self.hexadecimal(4),
            _ if letter.is_ascii_alphanumeric() || letter == b'_' => {
                return self.doubtful(&format!("`\\{}`", char::from(letter)));
            }
            _ if !letter.is_ascii() => return self.doubtful("a backslash before a letter that is not ASCII"),
            other => other,
        };
        self.scan.at += 2;
        Ok(Member::Byte(byte))
    }

    fn set(&mut self, text: &str) -> Member {
        self.scan.at += 2;
        Member::Set(text.to_owned())
    }

    /// `\xHH`, `\uHHHH`
    fn hexadecimal(&mut self, digits: usize) -> Result<Member, Unfit> {
        let text = self.scan.rest().get(2..2 + digits).filter(|text| text.iter().all(u8::is_ascii_hexdigit));
        let Some(text) = text.and_then(|text| std::str::from_utf8(text).ok()) else {
            return self.scan.invalid(&format!("{digits} hexadecimal digits have to follow"));
        };
        let Some(byte) = u32::from_str_radix(text, 16).ok().and_then(|number| u8::try_from(number).ok()) else {
            return self.doubtful("a letter of more than one byte");
        };
        self.scan.at += 2 + digits;
        Ok(Member::Byte(byte))
    }

    fn class(&mut self) -> Result<(), Unfit> {
        let open = self.scan.at;
        let unclosed = || Unfit::Invalid(open, "the `[` is not closed".to_owned());
        self.scan.at += 1;
        let is_negated = self.scan.peek(0) == Some(b'^');
        self.scan.at += usize::from(is_negated);
        let mut set = String::new();
        while self.scan.peek(0).ok_or_else(unclosed)? != b']' {
            let first = self.member()?;
            let is_range = self.scan.peek(0) == Some(b'-') && self.scan.peek(1) != Some(b']');
            let start = match first {
                Member::Set(_) if is_range => return self.scan.invalid("a set is no start of a range"),
                Member::Set(members) => {
                    set.push_str(&members);
                    continue;
                }
                Member::Byte(start) => start,
            };
            // Writing into a string cannot fail.
            let _ = write!(set, r"\x{start:02x}");
            if is_range {
                self.scan.at += 1;
                if self.scan.peek(0).is_none() {
                    return Err(unclosed());
                }
                let at = self.scan.at;
                match self.member()? {
                    Member::Byte(end) if start.is_ascii() != end.is_ascii() => {
                        self.scan.at = at;
                        return self.doubtful("a range from ASCII to other bytes");
                    }
                    Member::Byte(end) if start <= end => drop(write!(set, r"-\x{end:02x}")),
                    Member::Byte(_) => return self.scan.invalid("the range in the brackets is out of order"),
                    Member::Set(_) => return self.scan.invalid("a set is no end of a range"),
                }
            }
        }
        self.scan.at += 1;
        let length = std::mem::replace(&mut self.scan.at, open) - open;
        match (set.is_empty(), is_negated) {
            (true, false) => self.item(r"[^\x00-\xff]", length),
            (true, true) => self.item(r"[\x00-\xff]", length),
            (false, true) => self.item(&format!("[^{set}]"), length),
            (false, false) => self.item(&format!("[{set}]"), length),
        }
    }

    /// One member of a set; moves past it.
    fn member(&mut self) -> Result<Member, Unfit> {
        let byte = match self.scan.rest() {
            [b'\\', b'b', ..] => {
                self.scan.at += 2;
                return Ok(Member::Byte(8));
            }
            [b'\\', b'1'..=b'9', ..] => return self.scan.invalid("a back-reference cannot be in brackets"),
            [b'\\', ..] => return self.escaped(),
            [b'[', kind @ (b':' | b'.' | b'='), ..] => return self.named(*kind),
            [byte, ..] => *byte,
            [] => return self.scan.invalid("the `[` is not closed"),
        };
        self.scan.at += 1;
        Ok(Member::Byte(byte))
    }

    /// `[:alpha:]`, `[.a.]`, and `[=a=]`, which also has the letter in the other case.
    fn named(&mut self, kind: u8) -> Result<Member, Unfit> {
        let inside = &self.scan.rest()[2..];
        let length = memchr::memchr(kind, inside).filter(|end| inside.get(end + 1) == Some(&b']'));
        let Some(length) = length else { return self.scan.invalid("the name in the brackets is not closed") };
        let name = String::from_utf8_lossy(&inside[..length]).into_owned();
        let lower = name.to_ascii_lowercase();
        let set = match (kind, name.as_bytes()) {
            (b':', _) if POSIX.contains(&&*name) => format!("[:{name}:]"),
            (b':', _) if POSIX.contains(&&*lower) || matches!(&*lower, "d" | "s" | "w") => {
                return self.doubtful(&format!("`[:{name}:]`"));
            }
            (b':', _) => return self.scan.invalid("the name of a set is not known"),
            (b'=', [letter]) if letter.is_ascii_alphabetic() => {
                format!(r"\x{:02x}\x{:02x}", letter.to_ascii_lowercase(), letter.to_ascii_uppercase())
            }
            (b'.', [letter]) if letter.is_ascii_alphabetic() => format!(r"\x{letter:02x}"),
            _ => return self.doubtful("another element of a collation than a letter"),
        };
        let before = self.scan.at.checked_sub(1).and_then(|at| self.scan.text.get(at));
        let after = &inside[length + 2..];
        if kind == b'.' && (before == Some(&b'-') || after.starts_with(b"-") && !after.starts_with(b"-]")) {
            return self.doubtful("an element of a collation in a range");
        }
        self.scan.at += length + 4;
        Ok(Member::Set(set))
    }
}
