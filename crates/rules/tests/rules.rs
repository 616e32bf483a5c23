//! Rule files: every quirk of the plug-in of Stripper, with texts that were worked out by hand from its rules.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "rules/convert.rs"]
mod convert;
#[path = "../../../tests/common/corpus.rs"]
mod corpus;
#[path = "rules/cousins.rs"]
mod cousins;
#[path = "rules/difference.rs"]
mod difference;
#[path = "rules/ecma.rs"]
mod ecma;
#[path = "rules/lint.rs"]
mod lint;
#[path = "rules/modes.rs"]
mod modes;
#[path = "rules/naive.rs"]
mod naive;
#[path = "rules/patterns.rs"]
mod patterns;
#[path = "rules/pcre.rs"]
mod pcre;
#[path = "rules/plugin.rs"]
mod plugin;
#[path = "../../../tests/common/random.rs"]
mod random;
#[path = "rules/reader.rs"]
mod reader;
#[path = "rules/real.rs"]
mod real;

use bspkit::content::entities::Entities;
use bspkit::dialect::EntityRules;
use bspkit_rules::{Format, Mode, Rules};

/// Entities in short: `classname=light a=1; classname=door`. A blank in a value is `~`. The first one is worldspawn.
fn map(short: &str) -> String {
    let pair = |pair: &str| {
        let (key, value) = pair.split_once('=').unwrap();
        format!("\"{key}\" \"{}\"\n", value.replace('~', " "))
    };
    let entity = |entity: &str| format!("{{\n{}}}\n", entity.split_whitespace().map(pair).collect::<String>());
    let entities: String = short.split(';').filter(|entity| !entity.trim().is_empty()).map(entity).collect();
    format!("{{\n\"classname\" \"worldspawn\"\n}}\n{entities}\0")
}

/// The entities of a text in short, without worldspawn.
fn short(entities: &Entities<'_>) -> String {
    let entity = |pairs: Vec<String>| pairs.join(" ");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(' ', "~");
    let all = entities
        .iter()
        .skip(1)
        .map(|it| entity(it.pairs().map(|pair| format!("{}={}", text(pair.key), text(pair.value))).collect()));
    all.collect::<Vec<_>>().join("; ")
}

fn parse(text: &str, mode: Mode) -> bspkit::Result<Rules> {
    Rules::parse("r.cfg", text.as_bytes(), Format::Stripper, mode)
}

/// The codes and places of all findings.
fn findings(text: &str, mode: Mode) -> Vec<String> {
    let rules = Rules::read("r.cfg", text.as_bytes(), Format::Stripper, mode);
    rules.findings.iter().map(|found| format!("{} {}", found.at, found.code.name)).collect()
}

/// What rules make of a map, both in short.
#[track_caller]
fn applied(rules: &str, before: &str, mode: Mode) -> String {
    let text = map(before);
    // The classes of tests are not those of a game, and need not be there.
    let mut entities = Entities::parse(text.as_bytes(), EntityRules::QUAKE2).unwrap();
    parse(rules, mode).unwrap().apply(&mut entities, "map").unwrap();
    short(&entities)
}

#[track_caller]
fn gives(rules: &str, before: &str, after: &str) {
    assert_eq!(applied(rules, before, Mode::Plugin), after, "{rules}");
}
