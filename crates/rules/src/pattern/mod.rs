//! Regular expressions of rule files: Perl's syntax as PCRE 7.9, which the plug-in had, and PCRE2, which it has, both
//! read it, on bytes, case-insensitive, unanchored; as .NET reads it, for Lumper; and that of ECMAScript ([`ecma`]).
//!
//! The expression is rewritten for the crate `regex`, which takes time linear in the value, or, if it looks around,
//! refers back or does not give back what it took, for `fancy-regex`, which tries ways up to a limit. What the engine
//! rejects is [`Unfit::Invalid`]; what it accepts and this program cannot do is [`Unfit::Unsupported`]; what engines
//! that may be there read in different ways is [`Unfit::Doubtful`], with the position in all cases. Sources: the
//! manuals and the change logs of PCRE and PCRE2; RegexParser of .NET.

mod ecma;
mod parts;

use std::cell::Cell;

use memchr::memmem::Finder;
use regex::bytes::{Regex, RegexBuilder};

use bspkit::{Error, ErrorKind};

/// The most steps of an expression after its counted repetitions are multiplied out.
const MOST_STEPS: usize = 4096;
/// The memory of a compiled expression in bytes.
const MOST_BYTES: usize = 1 << 20;
const MOST_GROUPS: u32 = 64;
/// How often a match that looks around may go back and try another way. PCRE gives up after some millions of steps.
const MOST_ATTEMPTS: usize = 20_000;

/// Why a rule is refused whose expression gave up.
pub(super) const TOO_MANY: &str = "an expression takes too many attempts on a value, so that it is not known whether \
                                   it matches; write it without repetitions inside of repetitions";

/// Whose expressions they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flavor {
    /// What PCRE 7.9 and PCRE2 read alike, without UTF-8 and tables of Unicode.
    Pcre,
    /// Lumper's.
    DotNet,
    /// That of stripper_qmm.
    Ecma,
}

thread_local! {
    /// Whether a match on this thread took too many attempts, so that it is not known whether it is one.
    static GAVE_UP: Cell<bool> = const { Cell::new(false) };
}

/// Whether an expression gave up on this thread since the last question.
pub(super) fn gave_up() -> bool {
    GAVE_UP.take()
}

/// An engine with the expression.
#[derive(Clone, Debug)]
enum Engine {
    Linear(Regex),
    Trying(Box<fancy_regex::Regex>),
}

/// A compiled expression with the text that it was read from.
///
/// ```
/// use bspkit_rules::{Expected, Format, Mode, Rules};
/// let text = b"filter:\n{\n\"classname\" \"/^light/\"\n}\n";
/// let rules = Rules::parse("r.cfg", text, Format::Stripper, Mode::Plugin)?;
/// let Expected::Like(pattern) = &rules.rules[0].on.tests[0].value else { unreachable!() };
/// assert!(pattern.is_match(b"Light_spot")? && !pattern.is_match(b"no_light")?);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pattern {
    text: Vec<u8>,
    /// The same in the syntax of the crate `regex`, without flags.
    rewritten: String,
    engine: Engine,
    /// Whether it has to match the whole value, with its case.
    is_whole: bool,
    /// Whether case matters nowhere.
    pub(super) is_caseless: bool,
    /// The number of its steps.
    pub(super) steps: usize,
    /// Letters that every match contains, in lower case.
    literal: Finder<'static>,
}

/// Why an expression cannot be used, and the offset in its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unfit {
    /// The engine rejects it too.
    Invalid(usize, String),
    /// The engine accepts it.
    Unsupported(usize, String),
    /// The engines that may be there do not agree about it.
    Doubtful(usize, String),
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Pattern {
    /// Compiles an expression. One of ECMAScript has to match the whole value, with its case; others ignore case and
    /// match anywhere in a value.
    pub(super) fn new(text: &[u8], flavor: Flavor) -> Result<Self, Unfit> {
        let is_whole = flavor == Flavor::Ecma;
        let mut scan = Scan::new(text, flavor);
        scan.is_caseless = !is_whole;
        match flavor {
            Flavor::Ecma => ecma::read(&mut scan)?,
            Flavor::Pcre | Flavor::DotNet => scan.all()?,
        }
        scan.end_run();
        let literal = Finder::new(if scan.has_choice { &b""[..] } else { &scan.literal[..] }).into_owned();
        let Scan { out, is_caseless, is_hard, steps, .. } = scan;
        let rewritten = if is_whole { format!(r"\A(?:{out})\z") } else { out };
        let (steps, is_caseless) = (steps.iter().sum(), is_caseless && !is_whole);
        let pattern = |engine| Pattern {
            text: text.to_vec(),
            rewritten: rewritten.clone(),
            engine,
            is_whole,
            is_caseless,
            steps,
            literal,
        };
        if is_hard {
            let regex = fancy_regex::RegexBuilder::new(&rewritten)
                .bytes_mode(fancy_regex::BytesMode::Ascii)
                .case_insensitive(!is_whole)
                .backtrack_limit(MOST_ATTEMPTS)
                .delegate_size_limit(MOST_BYTES)
                .max_prog_size(8 * MOST_STEPS)
                .build();
            return match regex {
                Ok(regex) if steps <= MOST_STEPS => Ok(pattern(Engine::Trying(Box::new(regex)))),
                Ok(_) => Err(too_long()),
                Err(error) => Err(Unfit::Unsupported(0, format!("this program cannot read it: {error}"))),
            };
        }
        let regex = RegexBuilder::new(&rewritten)
            .unicode(false)
            .case_insensitive(!is_whole)
            .size_limit(MOST_BYTES)
            .nest_limit(MOST_GROUPS)
            .build();
        match regex {
            Ok(regex) => Ok(pattern(Engine::Linear(regex))),
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

    /// The expression in the syntax of [`Selector`](bspkit::content::select::Selector), if that has all of it.
    pub(super) fn rewritten(&self) -> Option<&str> {
        matches!(self.engine, Engine::Linear(_)).then_some(&*self.rewritten)
    }

    /// Whether the case of letters matters, and the whole value.
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The expression for the plug-in, which ignores case and matches anywhere; none if PCRE reads it in another way.
    pub(super) fn for_plug_in(&self) -> Option<Vec<u8>> {
        let read = |text: &[u8]| Pattern::new(text, Flavor::Pcre).ok();
        if self.is_whole {
            // It is written so that PCRE reads it too.
            let text = [b"(?-i)", self.rewritten.as_bytes()].concat();
            return read(&text).map(|_| text);
        }
        let written = [&self.text[..], self.rewritten.as_bytes()].into_iter();
        let is_same = |text: &&[u8]| read(text).is_some_and(|other| other.rewritten == self.rewritten);
        written.filter(is_same).map(<[u8]>::to_vec).next()
    }

    /// Whether it matches somewhere in a value that is in lower case; it has to ignore case.
    pub(super) fn is_match_in_lower(&self, value: &[u8]) -> bool {
        // Most values lack the letters, which is found much faster.
        self.literal.find(value).is_some() && self.is_hit(value)
    }

    /// Whether it matches somewhere in a value.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] for an expression that looks around or refers back and takes too many attempts.
    pub fn is_match(&self, value: &[u8]) -> Result<bool, Error> {
        let before = GAVE_UP.take();
        let is_hit = self.is_hit(value);
        match GAVE_UP.replace(before) {
            true => Err(Error::new(ErrorKind::Refused, TOO_MANY)),
            false => Ok(is_hit),
        }
    }

    /// Whether it matches somewhere in a value; `false` from the first time on that one on this thread [`gave_up`].
    pub(super) fn is_hit(&self, value: &[u8]) -> bool {
        match &self.engine {
            Engine::Linear(regex) => regex.is_match(value),
            Engine::Trying(_) if GAVE_UP.get() => false,
            Engine::Trying(regex) => regex.is_match(value).unwrap_or_else(|_| {
                GAVE_UP.set(true);
                false
            }),
        }
    }
}

fn too_long() -> Unfit {
    Unfit::Unsupported(0, format!("it has more than {MOST_STEPS} steps after its repetitions are multiplied out"))
}

/// A bracket that is open.
struct Group {
    at: usize,
    /// Whether it looks around: no quantifier may follow.
    looks: bool,
    /// Whether it is `(?<=` or `(?<!`: all in it has a fixed length.
    looks_behind: bool,
}

/// An expression on the way into the other syntax.
struct Scan<'p> {
    text: &'p [u8],
    at: usize,
    out: String,
    open: Vec<Group>,
    /// The capturing groups of the whole expression, by their names; those without one have an empty name.
    captures: Vec<&'p [u8]>,
    flavor: Flavor,
    /// Whether it needs more than the crate `regex` has.
    is_hard: bool,
    is_caseless: bool,
    /// Whether a quantifier may follow, and whether what looks around ends here, which only later versions repeat.
    can_repeat: bool,
    is_behind_look: bool,
    /// The steps of each open group, the outermost first, and of the last item.
    steps: Vec<usize>,
    last: usize,
    /// Letters outside of groups that follow each other up to here, and the most of them so far.
    run: Vec<u8>,
    literal: Vec<u8>,
    /// Whether there are alternatives outside of groups.
    has_choice: bool,
}

impl<'p> Scan<'p> {
    fn new(text: &'p [u8], flavor: Flavor) -> Self {
        let captures = captures(text).into_iter().map(|(_, name)| name).collect();
        let (out, open, steps) = (String::new(), Vec::new(), vec![0]);
        Scan {
            text,
            at: 0,
            out,
            open,
            captures,
            flavor,
            is_hard: false,
            is_caseless: true,
            can_repeat: false,
            is_behind_look: false,
            steps,
            last: 0,
            run: Vec::new(),
            literal: Vec::new(),
            has_choice: false,
        }
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

    /// What versions of PCRE that a plug-in may have do not read alike.
    fn doubtful<T>(&self, what: &str) -> Result<T, Unfit> {
        Err(Unfit::Doubtful(self.at, format!("versions of PCRE do not read {what} alike")))
    }

    /// Ends a run of letters.
    fn end_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        if run.len() > self.literal.len() {
            self.literal = run;
        }
    }

    /// A step that a quantifier may follow.
    fn item(&mut self, text: &str) {
        self.end_run();
        self.out.push_str(text);
        self.count(1);
        (self.can_repeat, self.is_behind_look) = (true, false);
    }

    fn count(&mut self, steps: usize) {
        self.last = steps;
        if let Some(sum) = self.steps.last_mut() {
            *sum += steps;
        }
    }

    fn byte(&mut self, byte: u8) {
        let run = std::mem::take(&mut self.run);
        if byte.is_ascii_alphanumeric() || byte == b'_' {
            self.item(char::from(byte).encode_utf8(&mut [0; 4]));
        } else {
            self.item(&format!(r"\x{byte:02x}"));
        }
        if self.open.is_empty() {
            self.run = run;
            self.run.push(byte.to_ascii_lowercase());
        }
    }

    fn is_too_long(&self) -> bool {
        self.steps.iter().fold(0, |sum: usize, steps| sum.saturating_add(*steps)) > MOST_STEPS
    }

    fn all(&mut self) -> Result<(), Unfit> {
        while let Some(byte) = self.peek(0) {
            self.one(byte)?;
            if self.is_too_long() {
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
                let Some(group) = self.open.pop() else { return self.invalid("no bracket is open") };
                let inside = self.steps.pop().unwrap_or_default();
                self.item(")");
                self.count(inside);
                self.can_repeat = !group.looks;
                self.is_behind_look = group.looks;
            }
            b'*' | b'+' | b'?' => return self.repeat(1, 1, char::from(byte).encode_utf8(&mut [0; 4])),
            b'{' => return self.braces(),
            // PCRE wants alternatives of one length here, which is not counted.
            b'|' if self.flavor == Flavor::Pcre && self.looks_behind() && !self.is_in_look() => {
                return self.doubtful("alternatives in a bracket within `(?<`");
            }
            b'|' => {
                self.end_run();
                self.has_choice |= self.open.is_empty();
                self.out.push('|');
                (self.can_repeat, self.is_behind_look) = (false, false);
            }
            b'.' => self.item("."),
            b'^' => self.place("^"),
            b'$' => {
                self.end_of_text(1);
                return Ok(());
            }
            byte => self.byte(byte),
        }
        self.at += 1;
        Ok(())
    }

    /// Whether what is here has to have a fixed length.
    fn looks_behind(&self) -> bool {
        self.open.iter().rfind(|group| group.looks).is_some_and(|group| group.looks_behind)
    }

    /// Whether the innermost bracket is one that looks around.
    fn is_in_look(&self) -> bool {
        self.open.last().is_some_and(|group| group.looks)
    }

    /// A place between letters, which no quantifier may follow.
    fn place(&mut self, text: &str) {
        self.end_run();
        self.out.push_str(text);
        (self.can_repeat, self.is_behind_look) = (false, false);
    }

    /// The end of the text, or before a line break there, which may match what follows in the expression.
    fn end_of_text(&mut self, length: usize) {
        self.at += length;
        let rest = self.rest();
        let is_last = match self.open.iter().any(|group| group.looks) {
            true => false,
            false => rest.iter().all(|byte| *byte == b')') || self.open.is_empty() && rest.starts_with(b"|"),
        };
        self.is_hard |= !is_last;
        self.place(if is_last { r"(?:\n?\z)" } else { r"(?=\n?\z)" });
    }

    /// A quantifier of this many bytes, which repeats at most this often.
    fn repeat(&mut self, length: usize, most: usize, text: &str) -> Result<(), Unfit> {
        if self.is_behind_look && self.flavor == Flavor::Pcre {
            return self.doubtful("a quantifier after what looks around");
        }
        if !self.can_repeat {
            return self.invalid("the quantifier does not follow a repeatable item");
        }
        if most == 0 && self.looks_behind() {
            return self.unsupported("a repetition of no times within `(?<`");
        }
        // What is repeated may not be there.
        self.run.pop();
        self.end_run();
        self.out.push_str(text);
        self.at += length;
        match self.peek(0) {
            Some(b'+') if self.flavor == Flavor::DotNet => {
                return self.invalid("the quantifier does not follow a repeatable item");
            }
            Some(b'+') if text.len() > 1 => return self.unsupported("a possessive quantifier after braces"),
            Some(b'+') => {
                self.is_hard = true;
                self.out.push('+');
                self.at += 1;
            }
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
        let may_be = |byte: &u8| byte.is_ascii_digit() || b" \t,".contains(byte);
        let has_digit = inside.iter().any(u8::is_ascii_digit);
        let is_odd = inside.starts_with(b",") || inside.iter().any(|byte| b" \t".contains(byte));
        if self.flavor == Flavor::Pcre && is_closed && has_digit && is_odd && inside.iter().all(may_be) {
            return self.doubtful("braces with blanks or without a first number");
        }
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
}

fn number(digits: &[u8]) -> Option<usize> {
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(digits).ok().filter(|_| is_number).map(|text| text.parse().unwrap_or(usize::MAX))
}

/// The places and names of the capturing groups, in their order; an empty name for a group without one.
fn captures(text: &[u8]) -> Vec<(usize, &[u8])> {
    let mut names: Vec<(usize, &[u8])> = Vec::new();
    let mut at = 0;
    let name = |start: usize, end: u8| text[start..].split(|byte| *byte == end).next().unwrap_or_default();
    while at < text.len() {
        match &text[at..] {
            [b'\\', b'Q', rest @ ..] => at += 1 + memchr::memmem::find(rest, br"\E").map_or(rest.len(), |end| end + 2),
            [b'\\', ..] => at += 1,
            [b'(', b'?', b'#', rest @ ..] => at += 2 + memchr::memchr(b')', rest).unwrap_or(rest.len()),
            [b'[', ..] => at = end_of_set(text, at),
            [b'(', b'?', b'<', next, ..] if !b"=!".contains(next) => names.push((at, name(at + 3, b'>'))),
            [b'(', b'?', b'P', b'<', ..] => names.push((at, name(at + 4, b'>'))),
            [b'(', b'?', b'\'', ..] => names.push((at, name(at + 3, b'\''))),
            [b'(', next, ..] if !b"?*".contains(next) => names.push((at, b"")),
            _ => {}
        }
        at += 1;
    }
    names
}

/// The place of the bracket that closes a set.
fn end_of_set(text: &[u8], open: usize) -> usize {
    let after_ends = |at: usize| at + 2 * text[at..].chunks(2).take_while(|two| *two == br"\E").count();
    let mut at = after_ends(open + 1);
    if text.get(at) == Some(&b'^') {
        at = after_ends(at + 1);
    }
    at += usize::from(text.get(at) == Some(&b']'));
    while at < text.len() {
        match &text[at..] {
            [b'\\', ..] => at += 1,
            [b'[', b':', ..] if parts::posix(&text[at..]).is_some() => at += 2,
            [b']', ..] => return at,
            _ => {}
        }
        at += 1;
    }
    at
}
