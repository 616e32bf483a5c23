//! How fast rule files are read and applied, beside a scan of all pairs for every rule: `cargo bench --bench rules`.
//!
//! The texts are the longest one of the maps under `BSPKIT_CORPUS` (`tests/corpus` if that is not set, or else the
//! fixtures), and one of 20,000 entities.

#[path = "../../../benches/core/harness.rs"]
#[allow(dead_code)]
mod harness;
#[path = "../../../benches/core/maps.rs"]
#[allow(dead_code)]
mod maps;

use std::hint::black_box;

use bspkit::content::entities::{Entities, Entity};
use bspkit_rules::{Format, Mode, Rules};
use regex::bytes::{Regex, RegexBuilder};

use harness::{Group, Outcome, Work};
use maps::Text;

const RULES: usize = 1_000;

fn main() -> Outcome {
    let turns = if std::env::args().any(|argument| argument == "--bench") {
        5
    } else {
        println!("Without --bench everything runs once, to see that it runs; the figures mean nothing.");
        1
    };
    measure(&maps::longest_text(&maps::at_hand()?)?, turns)?;
    measure(&maps::text(20_000)?, turns)
}

/// A rule as the scan has it: pairs, and whether the values are expressions.
struct Plain {
    pairs: Vec<PlainPair>,
}

/// A key, and the value or the expression that it must have.
type PlainPair = (Vec<u8>, Option<Vec<u8>>, Option<Regex>);

fn measure(text: &Text, turns: usize) -> Outcome {
    let entities = Entities::parse(text.bytes.clone(), text.rules)?;
    for (what, with_expressions) in [("plain values", false), ("every fifth with expressions", true)] {
        let (file, plain) = rules(&entities, with_expressions)?;
        let rules = Rules::parse("r.cfg", file.as_bytes(), Format::Stripper, Mode::Plugin)?;
        let mut group = Group::new(format!("{RULES} rules, {what}, on {}", text.name()));
        let work = Work::Entities(entities.len());
        let scan = group.reference("a scan for each rule", work, || Ok(black_box(scan(&entities, &plain))));
        group.row("reading the file", work, scan, || {
            Ok(Rules::parse("r.cfg", file.as_bytes(), Format::Stripper, Mode::Plugin)?)
        });
        group.row("applying it", work, scan, || {
            let mut entities = entities.clone();
            entities.for_any_engine();
            let report = rules.apply(&mut entities, "map")?;
            Ok((report.matched(), entities.to_bytes()))
        });
        group.measure(turns)?;
    }
    Ok(())
}

/// Rules about entities that are there: half of them remove, the others change.
fn rules(entities: &Entities<'_>, with_expressions: bool) -> Outcome<(String, Vec<Plain>)> {
    let (mut file, mut plain) = (String::new(), Vec::with_capacity(RULES));
    let mut numbers = (0..).map(|number| 1 + number * 7919 % (entities.len() - 1));
    while plain.len() < RULES {
        let Some(entity) = numbers.next().and_then(|number| entities.get(number)) else { break };
        let is_expression = with_expressions && plain.len() % 5 == 0;
        let Some((text, rule)) = matching(&entity, plain.len(), is_expression)? else { continue };
        match plain.len() % 2 {
            0 => file += &format!("filter:\n{{\n{text}}}\n"),
            _ => file += &format!("modify:\n{{\nmatch:\n{{\n{text}}}\nreplace:\n{{\n\"spawnflags\" \"1\"\n}}\n}}\n"),
        }
        plain.push(rule);
    }
    Ok((file, plain))
}

/// The class of an entity and one of its other pairs.
fn matching(entity: &Entity<'_>, number: usize, is_expression: bool) -> Outcome<Option<(String, Plain)>> {
    let words = |text: &[u8]| text.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_ -".contains(byte));
    // Pairs that few entities have, as in rules that people write.
    let telling = |key: &[u8]| [&b"hammerid"[..], b"targetname", b"origin", b"target", b"model"].contains(&key);
    let others = entity.pairs().filter(|pair| telling(pair.key) && !pair.value.is_empty() && words(pair.value));
    let others: Vec<_> = others.collect();
    let class = entity.class().filter(|class| words(class));
    let (Some(class), false) = (class, others.is_empty()) else { return Ok(None) };
    let other = others[number % others.len()];
    let (class, key, value) = (text(class), text(other.key), text(other.value));
    let shown = if is_expression { format!("/^{value}$/") } else { value.clone() };
    let regex = RegexBuilder::new(&format!("^{value}$")).unicode(false).case_insensitive(true).build()?;
    let (plain, regex) = if is_expression { (None, Some(regex)) } else { (Some(value.into_bytes()), None) };
    let pairs =
        vec![(b"classname".to_vec(), Some(class.clone().into_bytes()), None), (key.clone().into(), plain, regex)];
    Ok(Some((format!("\"classname\" \"{class}\"\n\"{key}\" \"{shown}\"\n"), Plain { pairs })))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// How many entities the rules match, pair by pair.
fn scan(entities: &Entities<'_>, rules: &[Plain]) -> usize {
    let mut matched = 0;
    for rule in rules {
        for entity in entities {
            let is_hit = |(key, value): (&[u8], &[u8])| {
                rule.pairs.iter().any(|(own, plain, regex)| {
                    key.eq_ignore_ascii_case(own)
                        && plain.as_ref().is_none_or(|plain| value.eq_ignore_ascii_case(plain))
                        && regex.as_ref().is_none_or(|regex| regex.is_match(value))
                })
            };
            let hits = entity.pairs().filter(|pair| is_hit((pair.key, pair.value))).count();
            matched += usize::from(hits >= rule.pairs.len());
        }
    }
    matched
}
