//! What rules do on maps, as findings.

use bspkit_rules::{CODES, Lint};

use super::*;

fn found(rules: &str, maps: &[&str]) -> Vec<String> {
    found_in(EntityRules::SOURCE, rules, maps)
}

fn found_in(engine: EntityRules, rules: &str, maps: &[&str]) -> Vec<String> {
    let rules = Rules::read("r.cfg", rules.as_bytes(), Format::Stripper, Mode::Plugin);
    let mut lint = Lint::default();
    let mut found = Vec::new();
    for before in maps {
        let text = map(before);
        let entities = Entities::parse(text.as_bytes(), engine).unwrap();
        found.extend(lint.try_on(&[&rules], &entities, "map").into_iter().map(|(_, finding)| finding));
    }
    found.extend(lint.unmatched(&rules));
    found.iter().map(|found| format!("{} {}", found.at, found.code.name)).collect()
}

#[test]
fn rules_are_tried_on_maps() {
    let door = "{\n\"classname\" \"door\"\n}\n";
    assert_eq!(found(door, &["classname=a", "classname=door"]), [""; 0]);
    assert_eq!(found(door, &["classname=a"]), ["1:1 rule-no-match"]);
    assert_eq!(found(door, &[]), [""; 0]);
    let doors = "classname=door;".repeat(9);
    assert_eq!(found(door, &[&doors]), ["1:1 rule-many"]);
    assert_eq!(found(door, &[&"classname=door;".repeat(8)]), [""; 0]);
    assert_eq!(found("{\n\"classname\" \"/./\"\n}\n", &["classname=a"]), ["1:1 rule-refused"]);
    assert_eq!(found("{\n\"classname\" \"x\"\n\"on\" \"/./\"\n}\n", &["classname=y on=1 on=2"]), ["1:1 rule-loose"]);
    assert_eq!(found("add:\n{\n\"n\" \"1\"\n}\n", &["classname=y"]), ["2:1 rule-refused"]);
}

#[test]
fn names_that_nothing_has_are_found() {
    let button = "add:\n{\n\"classname\" \"button\"\n\"target\" \"lift\"\n}\n";
    assert_eq!(found(button, &["classname=a"]), ["2:1 rule-target"]);
    assert_eq!(found(button, &["classname=a targetname=Lift"]), [""; 0]);
    // It counts what is there after all rules.
    let lift = "add:\n{\n\"classname\" \"door\"\n\"targetname\" \"lift\"\n}\n";
    assert_eq!(found(&format!("{button}{lift}"), &["classname=a"]), [""; 0]);
    let output =
        "modify:\n{\nmatch:\n{\n\"classname\" \"b\"\n}\ninsert:\n{\n\"OnPressed\" \"TARGET,Open,,0,-1\"\n}\n}\n";
    let with = |target: &str| found(&output.replace("TARGET", target), &["classname=a;classname=b;classname=b"]);
    assert_eq!(with("lift"), ["1:1 rule-target"]);
    for target in ["a", "!self", "player", "a*"] {
        assert_eq!(with(target), [""; 0], "{target}");
    }
    // A rule that takes a name away leaves those that give it; what was so before is not its fault.
    let no_door = "{\n\"classname\" \"door\"\n}\n";
    assert_eq!(found(no_door, &["classname=a;classname=door targetname=d;classname=b target=d"]), ["1:1 rule-left"]);
    assert_eq!(found(no_door, &["classname=a;classname=door targetname=e;classname=b target=d"]), [""; 0]);
}

/// A name in letters of another case is another name in games that tell them apart, before and after the rules.
#[test]
fn names_are_compared_as_the_game_does() {
    let rename = "modify:\n{\nmatch:\n{\n\"targetname\" \"d\"\n}\nreplace:\n{\n\"targetname\" \"D\"\n}\n}\n";
    // One target was lost before: it is written with the letters that the rule gives the name.
    let map = ["classname=a;classname=door targetname=d;classname=b target=d;classname=b target=E"];
    assert_eq!(found_in(EntityRules::QUAKE2, rename, &map), [""; 0]);
    assert_eq!(found_in(EntityRules::QUAKE, rename, &map), ["1:1 rule-left"]);
    let lost = ["classname=a;classname=door targetname=d;classname=b target=d;classname=b target=D"];
    assert_eq!(found_in(EntityRules::QUAKE, rename, &lost), ["1:1 rule-left"]);
}

/// What comes after a rule that cannot be applied was not tried.
#[test]
fn rules_that_were_not_tried_do_not_match_nothing() {
    let later = "{\n\"classname\" \"b\"\n}\n{\n\"classname\" \"none\"\n}\n";
    let slow = "{\n\"v\" \"/^(x+x+)+\\1[yz]/\"\n}\n";
    let many_x = format!("classname=b v={}", "x".repeat(40));
    assert_eq!(found(&format!("{slow}{later}"), &[&many_x]), ["1:1 rule-refused"]);
}

#[test]
fn codes_are_unique() {
    let names: std::collections::BTreeSet<_> = CODES.iter().map(|code| code.name).collect();
    assert_eq!(names.len(), CODES.len());
    assert!(names.iter().all(|name| name.starts_with("rule-")));
}
