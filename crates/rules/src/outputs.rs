//! Outputs of Source as rules write, match and change them: a key with five parts as its value, such as
//! `door,Open,,0.5,-1`.

use bspkit::bytes::short;
use bspkit::content::entities::Output;

use super::{Pair, PairCounts, Test};

/// An output as a rule writes it; what it does not give can be anything, or stays.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    pub(super) name: Option<String>,
    /// Target, input and parameter.
    pub(super) texts: [Option<String>; 3],
    pub(super) delay: Option<f32>,
    pub(super) times: Option<i32>,
}

impl Wanted {
    /// The parts that are given.
    pub(super) fn parts(&self) -> [Option<Vec<u8>>; 5] {
        let [target, input, parameter] = self.texts.each_ref().map(|text| text.clone().map(String::into_bytes));
        let delay = self.delay.map(|delay| delay.to_string().into_bytes());
        [target, input, parameter, delay, self.times.map(|times| times.to_string().into_bytes())]
    }

    /// The value of a new output.
    pub(super) fn value(&self) -> Vec<u8> {
        const DEFAULTS: [&[u8]; 5] = [b"", b"", b"", b"0", b"-1"];
        let parts = self.parts();
        let parts: Vec<&[u8]> = parts.iter().zip(DEFAULTS).map(|(part, new)| part.as_deref().unwrap_or(new)).collect();
        parts.join(&Output::COMMA)
    }

    /// An expression for the values of such outputs; nothing if there are none. Numbers are compared as numbers.
    pub(super) fn expression(&self) -> Option<String> {
        // A part of newer games may have a comma.
        let of = |bytes: &[char], any: &str, separator: &str| {
            let is_part = self.texts.iter().flatten().all(|text| !text.contains(bytes));
            let text = |text: &Option<String>| text.as_deref().map_or(any.to_owned(), literal);
            let numbers = [self.delay.map(|delay| delay.to_string()), self.times.map(|times| times.to_string())];
            let numbers = numbers.map(|number| number.map_or(any.to_owned(), |number| numeral(&number)));
            let parts = self.texts.iter().map(text).chain(numbers).collect::<Vec<_>>();
            is_part.then(|| parts.join(separator))
        };
        let ways = [of(&[',', '\x1b'], "[^,\\x1b]*", ","), of(&['\x1b'], "[^\\x1b]*", "\\x1b")];
        let ways: Vec<String> = ways.into_iter().flatten().collect();
        (!ways.is_empty()).then(|| format!("(?-i)\\A(?:{})\\z", ways.join("|")))
    }
}

/// An expression for a text.
fn literal(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'_' | b' ' | b'!' => char::from(byte).to_string(),
        _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    };
    text.bytes().map(byte).collect()
}

/// An expression for all the ways in which a number without an exponent is written: 3, 3.0, 03, +3, 3e0.
fn numeral(number: &str) -> String {
    let digits = number.trim_start_matches('-');
    let sign = match (number.starts_with('-'), digits.trim_matches(['0', '.']).is_empty()) {
        (_, true) => "[-+]?",
        (true, _) => "-",
        (false, _) => "\\+?",
    };
    let digits = match digits.split_once('.') {
        None if digits == "0" => "(?:0+(?:\\.0*)?|\\.0+)".to_owned(),
        None => format!("0*{digits}(?:\\.0*)?"),
        Some(("0", part)) => format!("0*\\.{part}0*"),
        Some((whole, part)) => format!("0*{whole}\\.{part}0*"),
    };
    format!(" *{sign}{digits}(?:[eE][-+]?0+)? *")
}

/// What outputs get: a name and parts. They keep what is not given.
pub(super) type Given<'s> = (Option<&'s [u8]>, &'s [Option<Vec<u8>>; 5]);

/// Gives the outputs that pass one of the tests other parts, and puts them after the others, as the program does that
/// removes and adds them. Where that is the same they stay in their places. Returns what the pairs took that are gone,
/// and what the new ones take.
pub(super) fn change<'w>(
    pairs: &mut Vec<Pair<'w>>,
    tests: &[Test],
    (key, parts): Given<'w>,
    (number, hides_empty): (usize, bool),
    counts: &mut PairCounts,
) -> (usize, usize) {
    let is_hit =
        |pair: &Pair<'_>| pair.is_seen(hides_empty) && tests.iter().any(|test| test.passes(&pair.key, &pair.value));
    let hits: Vec<bool> = pairs.iter().map(is_hit).collect();
    let Some(first) = hits.iter().position(|is_hit| *is_hit) else { return (0, 0) };
    let mut rest = pairs.iter().zip(&hits).skip(first);
    let has_name = |pair: &Pair<'_>| key.is_none_or(|key| *pair.key == *key);
    let stays = rest.all(|(pair, is_hit)| if *is_hit { has_name(pair) } else { Output::parse(&pair.value).is_none() });
    let by = Some(short(number));
    let (mut gone, mut new) = (0, 0);
    let (mut others, mut changed) = (Vec::with_capacity(pairs.len()), Vec::new());
    for (mut pair, is_hit) in std::mem::take(pairs).into_iter().zip(hits) {
        if !is_hit {
            others.push(pair);
            continue;
        }
        let value = joined(&pair.value, parts);
        if stays && value == *pair.value {
            others.push(pair);
            continue;
        }
        gone += pair.size();
        match stays {
            true => {
                (pair.value, pair.by) = (value.into(), by);
                new += pair.size();
                counts.set += 1;
                others.push(pair);
            }
            false => {
                let name = key.map_or(pair.key, Into::into);
                let pair = Pair { key: name, value: value.into(), origin: None, by };
                new += pair.size();
                (counts.removed, counts.added) = (counts.removed + 1, counts.added + 1);
                changed.push(pair);
            }
        }
    }
    others.append(&mut changed);
    *pairs = others;
    (gone, new)
}

/// The value of an output with other parts.
fn joined(value: &[u8], parts: &[Option<Vec<u8>>; 5]) -> Vec<u8> {
    let separator = if value.contains(&Output::ESCAPE) { Output::ESCAPE } else { Output::COMMA };
    let old = value.split(|byte| *byte == separator);
    let new: Vec<&[u8]> = old.zip(parts).map(|(old, new)| new.as_deref().unwrap_or(old)).collect();
    new.join(&separator)
}
