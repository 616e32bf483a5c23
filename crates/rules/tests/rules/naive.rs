//! The plug-in of Stripper once more, as simply as it can be written, and random files for both. Each of its rules can be
//! broken, to see that a difference would be found.

use std::sync::LazyLock;

use bspkit::content::entities::Entities;
use bspkit::dialect::EntityRules;
use bspkit_rules::{Format, Mode, Rules};
use regex::bytes::{Regex, RegexBuilder};

pub(crate) type Pairs = Vec<(String, String)>;

/// A rule of the plug-in that is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    /// Every pair of a filter has to be in the entity.
    Count,
    /// A header is only for the next block.
    Sticky,
    /// A second block of a kind inside of `modify:` adds to the first one.
    LastBlock,
    /// Pairs are replaced before others are deleted.
    Order,
    /// A replaced key that is missing is added.
    Missing,
    /// Values are compared with their case.
    Case,
    /// Expressions match the whole value.
    Anchored,
    /// An expression that cannot be read matches nothing.
    Unreadable,
    /// Lines have any length.
    LongLine,
    /// A pair may have a comment before it.
    Comment,
    /// All rules see the entities of the map, and not what the rules before made of them.
    Sequence,
}

pub(crate) const ALL: [Broken; 11] = [
    Broken::Count,
    Broken::Sticky,
    Broken::LastBlock,
    Broken::Order,
    Broken::Missing,
    Broken::Case,
    Broken::Anchored,
    Broken::Unreadable,
    Broken::LongLine,
    Broken::Comment,
    Broken::Sequence,
];

#[derive(Clone)]
enum Wanted {
    Text(String),
    Like(Regex),
}

/// A pair of a file: the key, the value as it is stored, and what it matches.
type Line = (String, String, Wanted);

struct Plugin {
    broken: Option<Broken>,
    /// The map before all rules.
    first: Vec<Pairs>,
    entities: Vec<Pairs>,
    mode: u8,
    part: Option<usize>,
    in_block: bool,
    block: Vec<Line>,
    parts: [Vec<Line>; 4],
}

/// What a file makes of entities.
pub(crate) fn apply(file: &str, entities: &[Pairs], broken: Option<Broken>) -> Vec<Pairs> {
    let mut plugin = Plugin {
        broken,
        first: entities.to_vec(),
        entities: entities.to_vec(),
        mode: b'f',
        part: None,
        in_block: false,
        block: Vec::new(),
        parts: Default::default(),
    };
    let mut rest = file;
    while !rest.is_empty() {
        let end = rest.find('\n').map_or(rest.len(), |end| end + 1);
        let end = if broken == Some(Broken::LongLine) { end } else { end.min(253) };
        plugin.line(rest[..end].trim());
        rest = &rest[end..];
    }
    plugin.entities
}

impl Plugin {
    fn line(&mut self, line: &str) {
        const PARTS: [&str; 4] = ["match:", "delete:", "replace:", "insert:"];
        let is_comment = line.starts_with([';', '#']) || line.starts_with("//");
        if line.is_empty() || is_comment && self.broken != Some(Broken::Comment) {
            return;
        }
        match line {
            _ if line.starts_with("filter:") || line.starts_with("remove:") => self.mode = b'f',
            _ if line.starts_with("add:") => self.mode = b'a',
            "modify:" => (self.mode, self.part) = (b'm', None),
            _ if self.mode == b'm' && PARTS.iter().any(|part| line.starts_with(part)) => {
                self.part = PARTS.iter().position(|part| line.starts_with(part));
            }
            "{" if !self.in_block => {
                self.in_block = self.mode != b'm' || self.part.is_some();
                if self.in_block {
                    self.block.clear();
                }
            }
            _ if line.starts_with('}') && self.in_block => self.close(),
            _ if line.starts_with('}') && self.mode == b'm' => self.modify(),
            _ if self.in_block => self.pair(line),
            _ => {}
        }
    }

    fn close(&mut self) {
        self.in_block = false;
        let block = std::mem::take(&mut self.block);
        match (self.mode, self.part) {
            (b'f', _) => {
                let first = self.first.clone();
                let is_there = |index: usize, pairs: &Pairs| match self.broken == Some(Broken::Sequence) {
                    true => first.get(index).is_none_or(|pairs| !self.fits(pairs, &block)),
                    false => !self.fits(pairs, &block),
                };
                let kept = self.entities.iter().enumerate().filter(|(index, pairs)| is_there(*index, pairs));
                self.entities = kept.map(|(_, pairs)| pairs.clone()).collect();
            }
            (b'a', _) => self.entities.push(block.into_iter().map(|(key, value, _)| (key, value)).collect()),
            (_, Some(part)) if self.broken == Some(Broken::LastBlock) => self.parts[part].extend(block),
            (_, Some(part)) => self.parts[part] = block,
            _ => {}
        }
        if self.broken == Some(Broken::Sticky) && self.mode != b'm' {
            self.mode = b'f';
        }
    }

    fn modify(&mut self) {
        let [wanted, delete, replace, insert] = std::mem::take(&mut self.parts);
        let mut entities = std::mem::take(&mut self.entities);
        for pairs in entities.iter_mut().filter(|pairs| self.fits(pairs, &wanted)) {
            let remove = |pairs: &mut Pairs| {
                pairs.retain(|pair| !delete.iter().any(|line| self.is_hit(line, pair)));
            };
            if self.broken != Some(Broken::Order) {
                remove(pairs);
            }
            for pair in pairs.iter_mut() {
                if let Some(line) = replace.iter().find(|line| line.0.eq_ignore_ascii_case(&pair.0)) {
                    pair.1.clone_from(&line.1);
                }
            }
            for line in replace.iter().filter(|_| self.broken == Some(Broken::Missing)) {
                if !pairs.iter().any(|pair| line.0.eq_ignore_ascii_case(&pair.0)) {
                    pairs.push((line.0.clone(), line.1.clone()));
                }
            }
            if self.broken == Some(Broken::Order) {
                remove(pairs);
            }
            pairs.extend(insert.iter().map(|line| (line.0.clone(), line.1.clone())));
        }
        self.entities = entities;
    }

    fn pair(&mut self, line: &str) {
        static PAIR: LazyLock<Regex> = LazyLock::new(|| Regex::new("\"([^\"]+)\"\\s+\"([^\"]+)\"").unwrap());
        let Some(found) = PAIR.captures(line.as_bytes()) else { return };
        let text = |group: usize| String::from_utf8(found[group].to_vec()).unwrap();
        let (key, mut value) = (text(1), text(2));
        let mut wanted = Wanted::Text(value.clone());
        if value.starts_with('/') && value.ends_with('/') {
            value.pop();
            let inner = value.get(1..).unwrap_or_default();
            let inner = if self.broken == Some(Broken::Anchored) { format!("^(?:{inner})$") } else { inner.to_owned() };
            match RegexBuilder::new(&inner).case_insensitive(true).unicode(false).build() {
                Ok(like) => wanted = Wanted::Like(like),
                Err(_) if self.broken == Some(Broken::Unreadable) => {}
                Err(_) => return,
            }
        }
        self.block.push((key, value, wanted));
    }

    fn is_hit(&self, (key, _, wanted): &Line, pair: &(String, String)) -> bool {
        key.eq_ignore_ascii_case(&pair.0)
            && match wanted {
                Wanted::Text(text) if self.broken == Some(Broken::Case) => *text == pair.1,
                Wanted::Text(text) => text.eq_ignore_ascii_case(&pair.1),
                Wanted::Like(like) => like.is_match(pair.1.as_bytes()),
            }
    }

    fn fits(&self, pairs: &Pairs, lines: &[Line]) -> bool {
        if self.broken == Some(Broken::Count) {
            return lines.iter().all(|line| pairs.iter().any(|pair| self.is_hit(line, pair)));
        }
        let hits = pairs.iter().filter(|pair| lines.iter().any(|line| self.is_hit(line, pair))).count();
        hits >= lines.len()
    }
}

/// Numbers that look random, from a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most
    }

    fn of<'o>(&mut self, options: &[&'o str]) -> &'o str {
        options[self.below(options.len())]
    }
}

/// A random map, and a random file of rules that is about such maps.
pub(crate) fn case(seed: u64) -> (Vec<Pairs>, String) {
    const KEYS: [&str; 5] = ["classname", "n", "m", "N", "k"];
    const VALUES: [&str; 6] = ["light", "Light", "door", "1", "2", "door_1"];
    let mut dice = Dice(seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let pairs = |dice: &mut Dice, most: usize| -> Pairs {
        (0..1 + dice.below(most)).map(|_| (dice.of(&KEYS).to_owned(), dice.of(&VALUES).to_owned())).collect()
    };
    let world = vec![("classname".to_owned(), "worldspawn".to_owned())];
    let entities = std::iter::once(world).chain((0..6).map(|_| pairs(&mut dice, 4))).collect();
    let mut file = String::new();
    let block = |dice: &mut Dice, can_match: bool| {
        let mut text = String::from("{\n");
        for (key, value) in pairs(dice, 2) {
            let like = ["/^l/", "/1$/", "/oo/", "/(/", "/d.*r/"];
            let value = if can_match && dice.below(3) == 0 { dice.of(&like).to_owned() } else { value };
            let before = match dice.below(12) {
                0 => "; ".to_owned(),
                1 => format!(";{}", " ".repeat(252)),
                _ => String::new(),
            };
            text += &format!("{before}\"{key}\" \"{value}\"\n");
        }
        text + "}\n"
    };
    for _ in 0..1 + dice.below(4) {
        match dice.below(3) {
            0 => file += &format!("filter:\n{}", block(&mut dice, true)),
            1 => (0..1 + dice.below(2)).for_each(|time| {
                let header = if time == 0 { "add:\n" } else { "" };
                file += &format!("{header}{}", block(&mut dice, false));
            }),
            _ => {
                file += "modify:\n{\n";
                for _ in 0..1 + dice.below(4) {
                    let part = dice.of(&["match:", "match:", "delete:", "replace:", "insert:"]);
                    file += &format!("{part}\n{}", block(&mut dice, matches!(part, "match:" | "delete:")));
                }
                file += "}\n";
            }
        }
    }
    (entities, file)
}

/// What the library makes of it; `None` where it refuses to remove worldspawn.
pub(crate) fn real(file: &str, entities: &[Pairs]) -> Option<Vec<Pairs>> {
    let pair = |(key, value): &(String, String)| format!("\"{key}\" \"{value}\"\n");
    let entity = |pairs: &Pairs| format!("{{\n{}}}\n", pairs.iter().map(pair).collect::<String>());
    let text = entities.iter().map(entity).collect::<String>() + "\0";
    let mut entities = Entities::parse(text.as_bytes(), EntityRules::QUAKE2).unwrap();
    let rules = Rules::parse("r.cfg", file.as_bytes(), Format::Stripper, Mode::Plugin).unwrap();
    rules.apply(&mut entities, "map").ok()?;
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let pairs = |entity: bspkit::content::entities::Entity<'_>| {
        entity.pairs().map(|pair| (text(pair.key), text(pair.value))).collect::<Pairs>()
    };
    Some(entities.iter().map(pairs).collect())
}

/// How many random files are tried.
const CASES: u64 = 600;

/// The library and the plug-in as it is written down do the same with random files. A plug-in with any of its rules
/// broken does not, so each of them is tested.
#[test]
fn rules_are_those_of_the_plug_in() {
    let mut applied = 0;
    let mut seen = vec![0; ALL.len()];
    for seed in 0..CASES {
        let (entities, file) = case(seed);
        let Some(real) = real(&file, &entities) else { continue };
        applied += 1;
        assert_eq!(real, apply(&file, &entities, None), "{file}\n{entities:?}");
        for (broken, seen) in ALL.into_iter().zip(&mut seen) {
            *seen += usize::from(apply(&file, &entities, Some(broken)) != real);
        }
    }
    assert!(applied > CASES / 2, "{applied} of {CASES} cases can be applied");
    for (broken, seen) in ALL.into_iter().zip(seen) {
        assert!(seen > 0, "no case shows that {broken:?} is broken");
    }
}
