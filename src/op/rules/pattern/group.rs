//! Groups of regular expressions: with and without a number or name, and flags.

use std::fmt::Write;

use super::{Flavor, Group, Scan, Unfit};

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
        self.can_repeat = false;
        self.at += length;
        Ok(())
    }

    /// The name of a group; references are by number.
    fn name(&self, name: &[u8], end: u8) -> Result<(usize, String), Unfit> {
        let length = name.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        let is_name = length > 0 && !name[0].is_ascii_digit() && name.get(length) == Some(&end);
        let before = self.rest().len() - name.len();
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
            return match known {
                true => self.unsupported(&format!("`(?{letter}`: only the flags i and s are supported")),
                false => self.invalid("the character after `(?` is not known"),
            };
        }
        if set.iter().filter(|flag| **flag == b'-').count() > 1 {
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
            _ => return self.invalid("the character after `(?` is not known"),
        }
        self.can_repeat = false;
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
