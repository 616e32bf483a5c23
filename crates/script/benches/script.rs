//! How fast scripts are, beside the same loop in Rust: `cargo bench --bench script`.
//!
//! The text has 20,000 entities. The last lines state which aims are met.

#[path = "../../../benches/core/harness.rs"]
#[allow(dead_code)]
mod harness;
#[path = "../../../benches/core/maps.rs"]
#[allow(dead_code)]
mod maps;

use bspkit::content::entities::Entities;
use bspkit::dialect::SOURCE;
use bspkit::{Bsp, Builder, Draft};
use bspkit_script::{Script, Settings};

use harness::{Group, Outcome, Work, in_time, three_digits};

const READ: &str =
    "let sum = 0; for e in entities { for p in e.pairs() { sum += p.key.len() + p.value.len(); } } report(sum)";
const VALUE: &str = "let sum = 0; for e in entities { sum += e[\"classname\"].len(); } report(sum)";
const EDIT: &str = "for e in entities { e[\"origin\"] = \"1 2 3\"; }";

fn main() -> Outcome {
    let turns = if std::env::args().any(|argument| argument == "--bench") {
        21
    } else {
        println!("Without --bench everything runs once, to see that it runs; the figures mean nothing.");
        1
    };
    let text = maps::text(20_000)?;
    let map = Bsp::from_vec(Builder::new(&SOURCE).lump(0, text.bytes.to_vec()).build()?)?;
    let mut read = map.draft();
    read.entities()?;
    let settings = Settings::default();
    let run = |script: &Script, draft: &Draft<'static>| -> Outcome<String> {
        let said = script.run(&mut draft.clone(), &settings)?;
        Ok(said.reports.first().map(|report| report.text.clone()).unwrap_or_default())
    };
    let [all, value, edit, empty] = [READ, VALUE, EDIT, "1"].map(|text| Script::compile("bench.rhai", text));
    let (all, value, edit, empty) = (all?, value?, edit?, empty?);
    assert_eq!(run(&all, &map.draft())?, sum(&mut map.draft().entities()?.clone()).to_string());

    let work = Work::Entities(20_000);
    let mut group = Group::new("20,000 entities".to_owned());
    let opened = group.reference("read the text and every pair, in Rust", work, || Ok(sum(map.draft().entities()?)));
    let script = group.row("the same by a script", work, opened, || run(&all, &map.draft()));
    let pairs =
        group.reference("every pair of a text that was read, in Rust", work, || Ok(sum(read.clone().entities()?)));
    let pairs_script = group.row("the same by a script", work, pairs, || run(&all, &read));
    group.row("one value of each, by a script", work, pairs, || run(&value, &read));
    let edits = group.reference("set one value of each, in Rust", work, || {
        let mut draft = read.clone();
        draft.entities()?.for_each_mut(|entity| entity.set("origin", "1 2 3"))?;
        Ok(draft)
    });
    group.row("the same by a script", work, edits, || run(&edit, &read));
    let start = group.reference("compile and run an empty script", Work::Once, || {
        Script::compile("bench.rhai", READ)?;
        run(&empty, &map.draft())
    });
    let measured = group.measure(turns)?;
    println!();
    for (what, found, most) in [
        ("read and every pair, beside Rust", measured.ratio(script, opened), 20.0),
        ("every pair, beside Rust", measured.ratio(pairs_script, pairs), 20.0),
    ] {
        println!("aim: {what} within {most}: {}, {}", three_digits(found), verdict(found, most));
    }
    let start = measured.seconds(start);
    println!("aim: start-up below 5 ms: {}, {}", in_time(start), verdict(start, 0.005));
    Ok(())
}

fn verdict(found: f64, most: f64) -> &'static str {
    if found <= most { "met" } else { "missed" }
}

/// The letters of all keys and values.
fn sum(entities: &mut Entities<'_>) -> usize {
    entities.iter().flat_map(|entity| entity.pairs()).map(|pair| pair.key.len() + pair.value.len()).sum()
}
