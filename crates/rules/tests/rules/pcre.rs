//! Random expressions, and what a real PCRE says of them: PCRE 8, since PCRE 7.9 of the plug-in is nowhere to be had.
//! What the two versions read in different ways is not among the parts of these expressions: `\N`, the vertical tab for
//! `\s`, `[a-\d]`, `\9` where there are fewer groups, and repeated assertions and edges.
//!
//! The test needs `python3` and `libpcre.so.3`, which `.ci/run` installs; without them it is skipped with a notice.
//! `BSPKIT_REQUIRE_PCRE=1` makes that a failure, `BSPKIT_PATTERNS` is the number of expressions.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use super::*;

/// Numbers that look random, the same ones each time (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).unwrap()
    }

    fn any<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

const ATOMS: &[&str] = &[
    "\\81",
    "\\97",
    "a",
    "b",
    "c",
    "A",
    "B",
    "1",
    "_",
    "-",
    " ",
    ".",
    ".",
    "\\d",
    "\\D",
    "\\w",
    "\\W",
    "\\s",
    "\\S",
    "\\h",
    "\\H",
    "\\.",
    "\\-",
    "\\x41",
    "\\x{62}",
    "\\141",
    "\\0",
    "\\e",
    "\\t",
    "\\n",
    "\\R",
    "\\v",
    "\\V",
    "\\y",
    "\\E",
    "\\Qa.b\\E",
    "\\Q\\E",
    "\\xe9",
    "\u{e9}",
    "#",
    ",",
    ":",
    "&&",
    "~",
    "}",
    "]",
    "{",
    "{,2}",
    "{x}",
    "(?#x)",
    "(?i)",
    "(?-i)",
    "(?s)",
    "(?-s)",
    "(?i-s)",
];
const SETS: &[&str] = &[
    "[\\8a]",
    "[a\\9]",
    "[ab]",
    "[^ab]",
    "[a-c]",
    "[^a-c1]",
    "[]a]",
    "[^]a]",
    "[a-]",
    "[-a]",
    "[\\d-z]",
    "[\\w-.]",
    "[a\\-c]",
    "[[:alpha:]]",
    "[[:^alpha:]1]",
    "[[:upper:]]",
    "[[:lower:]_]",
    "[[:digit:]-z]",
    "[[:space:]]",
    "[[:punct:]]",
    "[[:word:]]",
    "[[:xdigit:]]",
    "[[:blank:]]",
    "[\\s\\d]",
    "[^\\W]",
    "[\\b]",
    "[\\x41-\\x43]",
    "[\\101]",
    "[a&&b]",
    "[[a]",
    "[a[b]",
    "[:a]",
    "[\\Qa-c\\E]",
    "[\\h]",
    "[^\\h]",
    "[\\E]a]",
    "[a\\E-c]",
    "[\\xe0-\\xef]",
    "[.]",
    "[$^]",
    "[a-c-e]",
    "[\\R]",
    "[\\B]",
    "[[.a.]]",
    "[[:foo:]]",
    "[z-a]",
    "[\\n]",
    "[^\\n]",
    "[\\]]",
    "[{}]",
    "[\\v]",
];
const EDGES: &[&str] = &["^", "$", "\\b", "\\B", "\\A", "\\Z", "\\z", "\\G", "^", "$"];
const OPENINGS: &[&str] = &[
    "(", "(", "(", "(?:", "(?:", "(?<n>", "(?P<m>", "(?'o'", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:", "(?-i:",
    "(?s:",
];
const REPEATS: &[&str] = &[
    "*", "+", "?", "*?", "+?", "??", "{2}", "{0}", "{1,2}", "{0,1}", "{2,}", "{1,2}?", "*+", "++", "?+", "{,2}",
    "{2,1}",
];
const BACK: &[&str] =
    &["\\1", "\\2", "\\g1", "\\g{1}", "\\g{-1}", "\\g-1", "\\k<n>", "\\k{n}", "(?P=m)", "\\k'o'", "\\3"];
/// What a slip of the hand leaves.
const SLIPS: &[&str] = &["(", ")", "[", "\\", "|", "(?", "(?<", "*", "{", "(?z)", "[:digit:]", "(?P>n)", "(?<1a>b)"];

/// The plug-in does not see pairs without a value.
const SUBJECTS: &[&[u8]] = &[
    b"a", b"b", b"A", b"ab", b"aB", b"abc", b"ABC", b"aab", b"aa", b"a.b", b"a-b", b"1", b"a1_", b" ", b"a b", b"-",
    b"c", b"a\n", b"\n", b"a\nb", b"aa bb", b"abab", b"ba", b"]", b"{", b"a{,2}", b"\xe9", b"a\xe9", b"\xc9", b"z",
    b"\t", b"a\r\nb", b"abcabc", b"AbAb", b"e", b"y", b"0", b"{x}", b":", b"&&", b"\x1b", b"a\n\n", b"_a-1", b"bbb",
    b"cab",
];

fn expression(random: &mut Random, depth: usize) -> String {
    let mut text = String::new();
    for _ in 0..=random.below(4) {
        let is_repeated = match random.below(14) {
            0..=4 => {
                let atom = random.any(ATOMS);
                text += atom;
                // What follows these repeats what is before them.
                !atom.ends_with("\\E") && !atom.starts_with("(?")
            }
            5 | 6 => {
                text += random.any(SETS);
                true
            }
            7 => {
                text += random.any(EDGES);
                false
            }
            8..=10 if depth < 3 => {
                let opening = random.any(OPENINGS);
                text += opening;
                text += &expression(random, depth + 1);
                text += ")";
                !opening.contains(['=', '!'])
            }
            11 => {
                text += random.any(BACK);
                true
            }
            12 => {
                text += "|";
                false
            }
            13 if random.below(6) == 0 => {
                text += random.any(SLIPS);
                true
            }
            _ => {
                text += random.any(&["a", "b", "ab"]);
                true
            }
        };
        if is_repeated && random.below(3) == 0 {
            text += random.any(REPEATS);
        }
    }
    text
}

/// What the library says: as PCRE's script, or `refused`.
fn verdict(expression: &str) -> String {
    let mut text = b"{\n\"classname\" \"worldspawn\"\n}\n".to_vec();
    for (number, subject) in SUBJECTS.iter().enumerate() {
        text.extend(
            format!("{{\n\"n\" \"{number}\"\n\"v\" \"").bytes().chain(subject.iter().copied()).chain(*b"\"\n}\n"),
        );
    }
    let mut entities = Entities::parse(&text[..], EntityRules::QUAKE2).unwrap();
    // One byte for each letter: the plug-in knows no UTF-8.
    let bytes: Vec<u8> = expression.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap()).collect();
    let file = [b"{\n\"v\" \"/", &bytes[..], b"/\"\n}"].concat();
    let Ok(rules) = Rules::parse("r.cfg", &file, Format::Stripper, Mode::Plugin) else { return "refused".to_owned() };
    if rules.findings.iter().any(|finding| finding.code.name == "rule-pattern") {
        return "error".to_owned();
    }
    match rules.apply(&mut entities, "map") {
        Err(_) => "refused".to_owned(),
        Ok(_) => {
            let left: Vec<usize> =
                entities.iter().filter_map(|entity| std::str::from_utf8(entity.get("n")?).ok()?.parse().ok()).collect();
            (0..SUBJECTS.len()).map(|number| if left.contains(&number) { '0' } else { '1' }).collect()
        }
    }
}

/// The verdicts of PCRE; nothing if it is not there.
fn of_pcre(expressions: &[String]) -> Option<Vec<String>> {
    let python = std::env::var("BSPKIT_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/rules/pcre.py");
    let mut command = Command::new(python);
    let child = command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut input = String::new();
    for expression in expressions {
        let bytes = expression.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap());
        input += "x";
        bytes.for_each(|byte| write!(input, "{byte:02x}").unwrap());
        for subject in SUBJECTS {
            input += " x";
            subject.iter().for_each(|byte| write!(input, "{byte:02x}").unwrap());
        }
        input += "\n";
    }
    let output = child.and_then(|mut child| {
        let mut stdin = child.stdin.take().unwrap();
        let writing = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
        let output = child.wait_with_output();
        writing.join().unwrap().ok();
        output
    });
    let output = output.ok().filter(|output| output.status.success());
    if output.is_none() {
        assert!(std::env::var_os("BSPKIT_REQUIRE_PCRE").is_none(), "PCRE 8 is missing");
        eprintln!("notice: python3 or libpcre.so.3 is missing: the test is skipped");
    }
    let text = String::from_utf8(output?.stdout).unwrap();
    let verdicts: Vec<String> = text.lines().skip(1).map(str::to_owned).collect();
    assert_eq!(verdicts.len(), expressions.len());
    Some(verdicts)
}

#[test]
fn random_expressions_match_what_pcre_matches() {
    let number = std::env::var("BSPKIT_PATTERNS").ok().and_then(|number| number.parse().ok()).unwrap_or(600);
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut expressions: Vec<String> = (0..number).map(|_| expression(&mut random, 0)).collect();
    expressions.retain(|expression| !expression.contains('/'));
    let Some(theirs) = of_pcre(&expressions) else { return };
    let (mut tally, mut wrong) = (BTreeMap::<&str, usize>::new(), Vec::new());
    for (expression, theirs) in expressions.iter().zip(&theirs) {
        let ours = verdict(expression);
        let kind = match (&ours[..], &theirs[..]) {
            ("refused", _) => "refused",
            ("error", theirs) if theirs.starts_with("error") => "both errors",
            (_, theirs) if theirs.contains('?') => "PCRE gives up",
            (ours, theirs) if ours == theirs => "the same",
            _ => {
                let differs = ours.bytes().zip(theirs.bytes()).position(|(one, other)| one != other).unwrap_or(0);
                let subject = SUBJECTS.get(differs).map(|subject| subject.escape_ascii().to_string());
                wrong.push(format!("/{expression}/ on {subject:?}: ours {ours}, PCRE's {theirs}"));
                "different"
            }
        };
        *tally.entry(kind).or_default() += 1;
    }
    eprintln!("{tally:?}");
    assert!(wrong.is_empty(), "{tally:?}\n{}", wrong.join("\n"));
    assert!(tally["the same"] > number / 3 && tally["both errors"] > number / 20, "{tally:?}");
}
