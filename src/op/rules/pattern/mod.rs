//! Regular expressions of rule files: Perl's syntax as PCRE2 reads it, on bytes, case-insensitive, unanchored.
//!
//! The expression is rewritten for the crate `regex`, which takes time linear in the value. What PCRE2 rejects is
//! [`Unfit::Invalid`]; what it accepts and the crate cannot do (look-around, back-references and others) is
//! [`Unfit::Unsupported`], with the position in both cases. Source: pcre2pattern(3).

mod class;
mod escape;

use std::fmt::Write;

use regex::bytes::{Regex, RegexBuilder};

/// The most steps of an expression after its counted repetitions are multiplied out.
const MOST_STEPS: usize = 4096;
/// The memory of a compiled expression in bytes.
const MOST_BYTES: usize = 1 << 20;
const MOST_GROUPS: u32 = 64;

/// A compiled expression with the text that it was read from.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: Vec<u8>,
    /// The same in the syntax of the crate `regex`, without flags.
    rewritten: String,
    regex: Regex,
    /// Whether it has to match the whole value, with its case.
    is_whole: bool,
    /// Whether case matters nowhere.
    pub(super) is_caseless: bool,
    /// The number of its steps.
    pub(super) steps: usize,
}

/// Why an expression cannot be used, and the offset in its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unfit {
    /// PCRE2 rejects it too.
    Invalid(usize, String),
    /// PCRE2 accepts it.
    Unsupported(usize, String),
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Pattern {
    /// Compiles an expression that ignores case and matches anywhere in a value.
    pub(super) fn new(text: &[u8]) -> Result<Self, Unfit> {
        Pattern::compile(text, false)
    }

    /// Compiles an expression that has to match the whole value, with its case.
    pub(super) fn whole(text: &[u8]) -> Result<Self, Unfit> {
        Pattern::compile(text, true)
    }

    fn compile(text: &[u8], is_whole: bool) -> Result<Self, Unfit> {
        let mut scan = Scan::new(text);
        scan.all()?;
        let Scan { out, is_caseless, steps, .. } = scan;
        let rewritten = if is_whole { format!(r"\A(?:{out})\z") } else { out };
        let regex = RegexBuilder::new(&rewritten)
            .unicode(false)
            .case_insensitive(!is_whole)
            .size_limit(MOST_BYTES)
            .nest_limit(MOST_GROUPS)
            .build();
        let (steps, is_caseless) = (steps.iter().sum(), is_caseless && !is_whole);
        match regex {
            Ok(regex) => Ok(Pattern { text: text.to_vec(), rewritten, regex, is_whole, is_caseless, steps }),
            Err(regex::Error::CompiledTooBig(_)) => Err(too_long()),
            Err(error) => {
                let why = error.to_string();
                let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ");
                Err(Unfit::Unsupported(0, format!("this program cannot read it: {why}")))
            }
        }
    }

    /// The text between the slashes.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The expression in the syntax of [`Selector`](crate::content::select::Selector).
    pub(super) fn rewritten(&self) -> &str {
        &self.rewritten
    }

    /// The expression for the plug-in, which ignores case and matches anywhere.
    pub(super) fn for_plug_in(&self) -> Vec<u8> {
        match self.is_whole {
            true => [b"(?-i)\\A(?:", &self.text[..], b")\\z"].concat(),
            false => self.text.clone(),
        }
    }

    /// Whether it matches somewhere in a value.
    pub fn is_match(&self, value: &[u8]) -> bool {
        self.regex.is_match(value)
    }
}

fn too_long() -> Unfit {
    Unfit::Unsupported(0, format!("it has more than {MOST_STEPS} steps after its repetitions are multiplied out"))
}

/// A bracket that is open.
struct Group {
    at: usize,
}

/// An expression on the way into the other syntax.
struct Scan<'p> {
    text: &'p [u8],
    at: usize,
    out: String,
    open: Vec<Group>,
    /// The capturing groups of the whole expression.
    captures: usize,
    is_caseless: bool,
    /// Whether a quantifier may follow.
    can_repeat: bool,
    /// The steps of each open group, the outermost first, and of the last item.
    steps: Vec<usize>,
    last: usize,
}

impl<'p> Scan<'p> {
    fn new(text: &'p [u8]) -> Self {
        let captures = captures(text);
        let (out, open, steps) = (String::new(), Vec::new(), vec![0]);
        Scan { text, at: 0, out, open, captures, is_caseless: true, can_repeat: false, steps, last: 0 }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    fn rest(&self) -> &'p [u8] {
        &self.text[self.at..]
    }

    fn invalid<T>(&self, why: &str) -> Result<T, Unfit> {
        Err(Unfit::Invalid(self.at, why.to_owned()))
    }

    fn unsupported<T>(&self, why: &str) -> Result<T, Unfit> {
        Err(Unfit::Unsupported(self.at, why.to_owned()))
    }

    /// A step that a quantifier may follow.
    fn item(&mut self, text: &str) {
        self.out.push_str(text);
        self.count(1);
        self.can_repeat = true;
    }

    fn count(&mut self, steps: usize) {
        self.last = steps;
        if let Some(sum) = self.steps.last_mut() {
            *sum += steps;
        }
    }

    fn byte(&mut self, byte: u8) {
        if byte.is_ascii_alphanumeric() || byte == b'_' {
            self.item(char::from(byte).encode_utf8(&mut [0; 4]));
        } else {
            self.item(&format!(r"\x{byte:02x}"));
        }
    }

    fn all(&mut self) -> Result<(), Unfit> {
        while let Some(byte) = self.peek(0) {
            self.one(byte)?;
            if self.steps.iter().sum::<usize>() > MOST_STEPS {
                return Err(too_long());
            }
        }
        match self.open.last() {
            Some(group) => Err(Unfit::Invalid(group.at, "the bracket is not closed".to_owned())),
            None => Ok(()),
        }
    }

    fn one(&mut self, byte: u8) -> Result<(), Unfit> {
        match byte {
            b'\\' => return self.escape(),
            b'[' => return self.class(),
            b'(' => return self.open_group(),
            b')' => {
                if self.open.pop().is_none() {
                    return self.invalid("no bracket is open");
                }
                let inside = self.steps.pop().unwrap_or_default();
                self.item(")");
                self.count(inside);
            }
            b'*' | b'+' | b'?' => return self.repeat(1, 1, char::from(byte).encode_utf8(&mut [0; 4])),
            b'{' => return self.braces(),
            b'|' => {
                self.out.push('|');
                self.can_repeat = false;
            }
            b'.' => self.item("."),
            b'^' => {
                self.out.push('^');
                self.no_quantifier_after("^")?;
            }
            // Before a line break at the end, too.
            b'$' => {
                self.out.push_str(r"(?:\n?\z)");
                self.no_quantifier_after("$")?;
            }
            byte => self.byte(byte),
        }
        self.at += 1;
        Ok(())
    }

    /// What no quantifier may follow; PCRE2 allows it, with no use.
    fn no_quantifier_after(&mut self, what: &str) -> Result<(), Unfit> {
        self.can_repeat = false;
        match self.peek(1) {
            Some(b'*' | b'+' | b'?') => self.unsupported(&format!("a quantifier after `{what}`")),
            _ => Ok(()),
        }
    }

    /// A quantifier of this many bytes, which repeats at most this often.
    fn repeat(&mut self, length: usize, most: usize, text: &str) -> Result<(), Unfit> {
        if !self.can_repeat {
            return self.invalid("the quantifier does not follow a repeatable item");
        }
        self.out.push_str(text);
        self.at += length;
        match self.peek(0) {
            Some(b'+') => return self.unsupported("a possessive quantifier"),
            Some(b'?') => {
                self.out.push('?');
                self.at += 1;
            }
            _ => {}
        }
        let more = self.last.saturating_mul(most.max(1) - 1);
        if let Some(sum) = self.steps.last_mut() {
            *sum = sum.saturating_add(more);
        }
        self.can_repeat = false;
        Ok(())
    }

    /// `{2}`, `{2,}`, `{2,5}`; anything else in braces is letters.
    fn braces(&mut self) -> Result<(), Unfit> {
        let inside = self.rest()[1..].split(|byte| *byte == b'}').next().unwrap_or_default();
        let is_closed = self.rest().len() > inside.len() + 1;
        let mut parts = inside.splitn(2, |byte| *byte == b',').map(|part| (part, number(part)));
        let Some((_, Some(least))) = parts.next().filter(|_| is_closed) else {
            self.byte(b'{');
            self.at += 1;
            return Ok(());
        };
        let most = match parts.next() {
            None => Some(least),
            Some((b"", _)) => None,
            Some((_, Some(most))) => Some(most),
            Some((_, None)) => {
                self.byte(b'{');
                self.at += 1;
                return Ok(());
            }
        };
        if least > 65_535 || most.is_some_and(|most| most > 65_535) {
            return self.invalid("the number is too large in a quantifier");
        }
        if most.is_some_and(|most| most < least) {
            return self.invalid("the numbers of the quantifier are out of order");
        }
        let text = format!("{{{}}}", String::from_utf8_lossy(inside));
        self.repeat(inside.len() + 2, most.unwrap_or(least + 1), &text)
    }

    fn open_group(&mut self) -> Result<(), Unfit> {
        let (length, text) = match self.rest() {
            [b'(', b'?', b'#', comment @ ..] => {
                let Some(end) = memchr::memchr(b')', comment) else {
                    return self.invalid("the bracket after `(?#` is not closed");
                };
                self.at += end + 4;
                return Ok(());
            }
            [b'(', b'?', b':', ..] => (3, "(?:".to_owned()),
            [b'(', b'?', b'=' | b'!', ..] => return self.unsupported("a look-ahead"),
            [b'(', b'?', b'<', b'=' | b'!', ..] => return self.unsupported("a look-behind"),
            [b'(', b'?', b'>', ..] => return self.unsupported("an atomic group"),
            [b'(', b'?', b'|', ..] => return self.unsupported("a branch reset"),
            [b'(', b'?', b'(', ..] => return self.unsupported("a condition"),
            [b'(', b'?', b'P', b'<', name @ ..] | [b'(', b'?', b'<', name @ ..] => self.name(name, b'>')?,
            [b'(', b'?', b'\'', name @ ..] => self.name(name, b'\'')?,
            [b'(', b'?', flags @ ..] => return self.flags(flags),
            [b'(', b'*', ..] => return self.unsupported("a verb"),
            _ => (1, "(".to_owned()),
        };
        self.open.push(Group { at: self.at });
        self.steps.push(0);
        self.out.push_str(&text);
        self.can_repeat = false;
        self.at += length;
        Ok(())
    }

    /// The name of a group, which nothing can refer to here.
    fn name(&self, name: &[u8], end: u8) -> Result<(usize, String), Unfit> {
        let length = name.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        let is_name = length > 0 && !name[0].is_ascii_digit() && name.get(length) == Some(&end);
        let before = self.rest().len() - name.len();
        match is_name {
            true => Ok((before + length + 1, "(?:".to_owned())),
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
                self.flags_of(set.split(|flag| *flag == b'-').next(), &text_of(is_off), ":");
                self.open.push(Group { at: self.at });
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

fn number(digits: &[u8]) -> Option<usize> {
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(digits).ok().filter(|_| is_number).map(|text| text.parse().unwrap_or(usize::MAX))
}

/// The number of groups that a back-reference could mean; at least that, which decides what `\12` is.
fn captures(text: &[u8]) -> usize {
    let mut number = 0;
    let mut at = 0;
    while at < text.len() {
        match &text[at..] {
            [b'\\', ..] => at += 1,
            [b'(', b'?', b'<', next, ..] if !b"=!".contains(next) => number += 1,
            [b'(', b'?', b'P', b'<', ..] | [b'(', b'?', b'\'', ..] => number += 1,
            [b'(', next, ..] if !b"?*".contains(next) => number += 1,
            _ => {}
        }
        at += 1;
    }
    number
}
