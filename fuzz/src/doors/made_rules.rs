//! Rules of every format that mean entities of a map: well-formed, with expressions that grow from their values.

use bspkit::Bsp;
use bspkit_rules::Format;

use super::edits::Choices;

/// What an expression may have in place of a character of a value, or around it.
const PARTS: [&str; 48] = [
    ".",
    ".*",
    ".+?",
    "\\d",
    "\\d+",
    "\\w*",
    "\\s?",
    "\\S",
    "\\D",
    "\\W",
    "\\b",
    "\\B",
    "^",
    "$",
    "[a-z]",
    "[^0-9]+",
    "[_\\-.]*",
    "[\\w\\s]",
    "[]]",
    "[^]",
    "()",
    "(?:)",
    "(a|b|)",
    "(.)\\1",
    "(?<n>.)\\k<n>",
    "(?=.)",
    "(?!x)",
    "(?<=.)",
    "(?<!x)",
    "(?i)",
    "(?i:A)",
    "(?>.*)",
    ".*+",
    "{2}",
    "{1,3}",
    "{,2}",
    "{2,1}",
    "\\x41",
    "\\u0041",
    "\\cA",
    "\\t",
    "\\/",
    "\\.",
    "\\Q.\\E",
    "[[:alpha:]]",
    "\\p{L}",
    "(*ANY)",
    "\u{e9}",
];

/// Keys that the entity may not have.
const KEYS: [&str; 10] =
    ["classname", "targetname", "origin", "OnTrigger", "OnUser1", "spawnflags", "model", "hammerid", "angles", "*"];

/// Values that it may not have.
const VALUES: [&str; 12] =
    ["", "light", "worldspawn", "0 0 64", "a,b,c,1.5,-1", "lamp_1", "1", "-1", "a\\b", "x/y", "#1", "caf\u{e9}"];

/// A rule file in a format, for a map.
pub fn rules(choices: &mut Choices<'_>, map: &Bsp<'_>, format: Format) -> Vec<u8> {
    let entities = map.entities().ok();
    let mut known = Vec::new();
    let count = entities.as_ref().map_or(0, |entities| entities.len());
    for _ in 0..4 {
        let entity = entities.as_ref().and_then(|entities| entities.get(choices.below(count)));
        let pairs = entity.into_iter().flat_map(|entity| {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(['"', '\n', '\r'], "");
            entity.pairs().map(|pair| (text(pair.key), text(pair.value))).take(12).collect::<Vec<_>>()
        });
        known.extend(pairs);
    }
    let mut writer = Writer { choices, known };
    let count = 1 + writer.choices.below(4);
    let text = match format {
        Format::Cs2 => writer.json(count),
        Format::Stripper => (0..count).map(|_| writer.stripper()).collect(),
        Format::Qmm => (0..count).map(|_| writer.qmm()).collect(),
        _ => (0..count).map(|_| writer.lazyripent()).collect::<Vec<_>>().join("\n"),
    };
    text.into_bytes()
}

struct Writer<'c, 'b> {
    choices: &'c mut Choices<'b>,
    known: Vec<(String, String)>,
}

impl Writer<'_, '_> {
    fn one_in(&mut self, number: usize) -> bool {
        self.choices.below(number) == 0
    }

    /// A key and a value: mostly those of an entity.
    fn pair(&mut self) -> (String, String) {
        let own = self.choices.below(self.known.len() + 4);
        let is_loud = self.one_in(4);
        match self.known.get(own) {
            Some((key, value)) => (if is_loud { key.to_uppercase() } else { key.clone() }, value.clone()),
            None => (KEYS[self.choices.below(KEYS.len())].into(), VALUES[self.choices.below(VALUES.len())].into()),
        }
    }

    /// A pair to look for: the value, or an expression that its characters are in.
    fn test(&mut self) -> (String, String) {
        let (key, value) = self.pair();
        if self.one_in(2) {
            return (key, value);
        }
        let mut text = String::from(if self.one_in(2) { "^" } else { "" });
        for letter in value.chars().take(24) {
            match self.choices.below(4) {
                0 => text += PARTS[self.choices.below(PARTS.len())],
                1 if letter.is_ascii_punctuation() => text.extend(['\\', letter]),
                2 if text.len() > 3 => {}
                _ => text.push(letter),
            }
        }
        text += if self.one_in(2) { "$" } else { "" };
        (key, format!("/{text}/"))
    }

    fn tests(&mut self) -> Vec<(String, String)> {
        (0..1 + self.choices.below(3)).map(|_| self.test()).collect()
    }

    fn pairs(&mut self) -> Vec<(String, String)> {
        (0..1 + self.choices.below(3)).map(|_| self.pair()).collect()
    }

    fn lines(pairs: &[(String, String)]) -> String {
        pairs.iter().map(|(key, value)| format!("\"{key}\" \"{value}\"\n")).collect()
    }

    fn stripper(&mut self) -> String {
        match self.choices.below(3) {
            0 => format!("filter:\n{{\n{}}}\n", Self::lines(&self.tests())),
            1 => format!("add:\n{{\n{}}}\n", Self::lines(&self.pairs())),
            _ => {
                let block = |name: &str, pairs: Vec<_>| format!("{name}:\n{{\n{}}}\n", Self::lines(&pairs));
                let (on, replace) = (self.tests(), self.pairs());
                let (delete, insert) = (self.tests(), self.pairs());
                let blocks = [("match", on), ("replace", replace), ("delete", delete), ("insert", insert)];
                let chosen = blocks.into_iter().filter(|(name, _)| *name == "match" || !self.one_in(3));
                let blocks: String = chosen.map(|(name, pairs)| block(name, pairs)).collect();
                format!("modify:\n{{\n{blocks}}}\n")
            }
        }
    }

    fn qmm(&mut self) -> String {
        match self.choices.below(3) {
            0 => format!("filter:\n{{\n{}}}\n", Self::lines(&self.tests())),
            1 => format!("add:\n{{\n{}}}\n", Self::lines(&self.pairs())),
            _ => {
                format!("replace:\n{{\n{}}}\nwith:\n{{\n{}}}\n", Self::lines(&self.tests()), Self::lines(&self.pairs()))
            }
        }
    }

    fn lazyripent(&mut self) -> String {
        let mut text = String::from("{\n");
        for _ in 0..1 + self.choices.below(5) {
            let (key, value) = self.pair();
            let (number, other) = (self.choices.below(40), VALUES[self.choices.below(VALUES.len())]);
            text += &match self.choices.below(12) {
                0 | 1 => format!("match {key} \"{value}\"\n"),
                2 => format!("match {key} \"{}*\"\n", value.chars().take(number).collect::<String>()),
                3 => format!("dont-match {key} \"{value}\"\n"),
                4 => format!("{} {key}\n", ["have", "dont-have", "remove"][number % 3]),
                5 => format!("replace {key} \"{other}\"\n"),
                6 => format!("new netname \"{{{key}}} {{global.old}} {other}\"\n"),
                7 => format!("{} {key} {number}e{}\n", ["add", "sub", "mult", "div"][number % 4], number % 9),
                8 => format!("bit-{} {key} b{number:b}\n", ["set", "clear"][number % 2]),
                9 => format!("store {key} old\n"),
                10 => format!("rename {key} netname\n"),
                _ => ["remove-entity\n", "new-entity light\n"][number % 2].to_owned(),
            };
        }
        text + "}\n"
    }

    fn json(&mut self, count: usize) -> String {
        let mut lists: [Vec<serde_json::Value>; 3] = Default::default();
        for _ in 0..count {
            let list = self.choices.below(3);
            let rule = match list {
                0 => self.object(true),
                1 => self.object(false),
                _ => {
                    let mut rule = serde_json::Map::new();
                    rule.insert("match".into(), self.object(true));
                    for (name, is_test) in [("replace", false), ("delete", true), ("insert", false)] {
                        if !self.one_in(3) {
                            rule.insert(name.into(), self.object(is_test));
                        }
                        // An object is a template of outputs in `replace`; a list is refused.
                        if let Some(io) = rule.get_mut("replace").and_then(|replace| replace.get_mut("io"))
                            && let Some(first) = io.get(0).cloned()
                        {
                            *io = first;
                        }
                    }
                    rule.into()
                }
            };
            lists[list].push(rule);
        }
        let [filter, add, modify] = lists;
        serde_json::json!({ "filter": filter, "add": add, "modify": modify }).to_string()
    }

    fn object(&mut self, is_test: bool) -> serde_json::Value {
        let pairs = if is_test { self.tests() } else { self.pairs() };
        let mut object: serde_json::Map<_, _> = pairs.into_iter().map(|(key, value)| (key, value.into())).collect();
        if self.one_in(3) {
            let value = |writer: &mut Self| if is_test { writer.test().1 } else { writer.pair().1 };
            let output = serde_json::json!({
                "outputname": KEYS[3 + self.choices.below(2)],
                "targetname": value(self),
                "inputname": value(self),
                "delay": self.choices.below(3),
            });
            object.insert("io".into(), serde_json::json!([output]));
        }
        object.into()
    }
}
