//! `difference`: the rules give the other entities, or what they cannot say is named.

use bspkit_rules::difference;
use proptest::prelude::*;

use super::random::config;
use super::*;

/// The rules between two maps in short, without what is the same in all of them; the law holds, and nothing is lost.
#[track_caller]
fn between(old: &str, new: &str) -> String {
    let (text, lost) = law(&map(old), &map(new));
    assert_eq!(lost, [""; 0], "{text}");
    text.replace("{\n", "")
        .replace("}\n", "")
        .replace("\" \"", "=")
        .replace('"', "")
        .replace('\n', " ")
        .trim()
        .to_owned()
}

#[track_caller]
fn lost(old: &str, new: &str) -> Vec<String> {
    law(&map(old), &map(new)).1
}

/// Applies the rules as the plug-in does. Where nothing is lost, the result has the entities of the other map.
#[track_caller]
fn law(old: &str, new: &str) -> (String, Vec<String>) {
    let read = |text: &str| Entities::parse(text.as_bytes().to_vec(), EntityRules::QUAKE2).unwrap();
    let (mut old, new) = (read(old), read(new));
    let found = difference(&old, &new);
    let rules = Rules::parse("d.cfg", &found.text, Format::Stripper, Mode::Plugin).unwrap();
    let text = String::from_utf8_lossy(&found.text).into_owned();
    let applied = rules.apply(&mut old, "map");
    if found.lost.is_empty() {
        applied.unwrap();
        assert_eq!(short(&old), short(&new), "{text}");
        assert!(old.iter().zip(&new).all(|(old, new)| old.pairs().eq(new.pairs())), "{text}");
    }
    (text, found.lost)
}

#[test]
fn a_change_is_matched_by_what_only_its_entity_has() {
    assert_eq!(between("c=a n=1; c=a n=2", "c=a n=1; c=a n=2"), "");
    let rules = between(
        "classname=l origin=1 light=5; classname=l origin=2 light=5",
        "classname=l origin=1 light=6; classname=l origin=2 light=5",
    );
    assert_eq!(rules, "modify: match: origin=1 replace: light=6");
    let rules = between(
        "classname=l targetname=a; classname=m targetname=a",
        "classname=l targetname=a x=1; classname=m targetname=a",
    );
    assert_eq!(rules, "modify: match: classname=l targetname=a insert: x=1");
    // A name that another entity gets is not unique.
    let rules =
        between("hammerid=1 targetname=a; hammerid=2 targetname=b", "hammerid=1 targetname=b; hammerid=2 targetname=c");
    assert_eq!(
        rules,
        "modify: match: hammerid=1 replace: targetname=b modify: match: hammerid=2 replace: targetname=c"
    );
    let rules = between("classname=l; classname=m", "classname=m");
    assert_eq!(rules, "filter: classname=l");
    assert_eq!(between("", "classname=l origin=1"), "add: classname=l origin=1");
    // Worldspawn by its class.
    let old = map("classname=a");
    let (text, lost) = law(&old, &old.replace("\"worldspawn\"\n", "\"worldspawn\"\n\"sky\" \"x\"\n"));
    assert_eq!(
        (&text[..], lost.len()),
        ("modify:\n{\nmatch:\n{\n\"classname\" \"worldspawn\"\n}\ninsert:\n{\n\"sky\" \"x\"\n}\n}\n", 0)
    );
}

#[test]
fn pairs_are_deleted_replaced_and_inserted() {
    let of = |old: &str, new: &str| between(&format!("hammerid=1 {old}"), &format!("hammerid=1 {new}"));
    let start = "modify: match: hammerid=1 ";
    assert_eq!(of("a=1 b=2", "b=2"), format!("{start}delete: a=1"));
    assert_eq!(of("a=1 a=2", "a=1 a=2 a=3"), format!("{start}insert: a=3"));
    assert_eq!(of("a=1 a=2 a=3", "a=1"), format!("{start}delete: a=2 a=3"));
    // Equal keys keep their order: all of them are written anew where the first ones change.
    assert_eq!(of("a=1 a=2", "a=3 a=2"), format!("{start}delete: a=1 a=2 insert: a=3 a=2"));
    // Deletions hit equal pairs.
    assert_eq!(of("a=1 a=1 a=2", "a=1 a=2"), format!("{start}delete: a=1 a=2 insert: a=1 a=2"));
    assert_eq!(of("a=x a=X", "a=x"), format!("{start}delete: a=/(?-i)\\AX\\z/"));
    assert_eq!(of("a=1", "A=1"), format!("{start}delete: a=1 insert: A=1"));
}

#[test]
fn what_looks_like_an_expression_is_matched_by_one() {
    assert_eq!(between("n=/a/; n=b", "n=b"), "filter: n=/\\A\\x2fa\\x2f\\z/");
    // A value with a quote cannot be in a line, and an expression can stand for it.
    let old = "{\"classname\" \"worldspawn\"}\n{ \"n\" a\"b }\n{ \"n\" \"c\" }\n\0";
    let (text, lost) = law(old, "{\"classname\" \"worldspawn\"}\n{ \"n\" \"c\" }\n\0");
    assert_eq!((&text[..], lost.len()), ("filter:\n{\n\"n\" \"/\\Aa\\x22b\\z/\"\n}\n", 0));
}

#[test]
fn equal_entities_share_a_rule() {
    assert_eq!(between("c=a n=1; c=a n=1; c=b", "c=b"), "filter: c=a n=1");
    assert_eq!(
        lost("c=a n=1; c=a n=1; c=b", "c=a n=1; c=b"),
        ["#2 of A: its removal: another entity has all of its pairs too"]
    );
    assert_eq!(lost("c=a; c=a n=1", "c=a n=1"), ["#1 of A: its removal: another entity has all of its pairs too"]);
}

#[test]
fn what_cannot_be_said_is_named() {
    let long = "y".repeat(300);
    for (new, why) in [
        ("n=1 m=".to_owned(), "#1 of A: the pair `m` ``: the value is empty".to_owned()),
        (
            "n=1 m=/x/".to_owned(),
            "#1 of A: the pair `m` `/x/`: the value begins and ends with a slash, and the last slash would be cut off"
                .to_owned(),
        ),
        (
            format!("n=1 m={long}"),
            format!("#1 of A: the pair `m` `{}...`: the line would have 306 bytes, and 253 are read", &long[..40]),
        ),
    ] {
        assert_eq!(lost("n=1", &new), [why]);
    }
    let old = map("n=1");
    let with = |value: &str| law(&old, &old.replace("\"n\" \"1\"\n", &format!("\"n\" \"1\"\n\"m\" {value}\n"))).1;
    assert_eq!(with("\"a\nb\""), ["#1 of A: the pair `m` `a\\nb`: the value contains a line break or a NUL"]);
    assert_eq!(with("a\"b"), ["#1 of A: the pair `m` `a\"b`: the value contains a quote"]);
    assert_eq!(lost("n=1 m=", "n=1"), ["#1 of A: the removal or change of `m`, which has no value"]);
    assert_eq!(
        lost("n=1; m=2", "n=1; p=/x/ q=1; m=2"),
        [
            "#2 of B, which is new: the pair `p` `/x/`: the value begins and ends with a slash, and the last slash would be cut off",
            "the order of the entities: rules add entities after the last one",
        ][..1]
    );
    assert_eq!(lost("n=1; m=2", "n=1; p=1; m=2"), ["the order of the entities: rules add entities after the last one"]);
    assert_eq!(lost("n=1; m=2", "m=2; n=1"), ["the order of the entities: rules add entities after the last one"]);
    assert_eq!(lost("n=1 m=2", "m=2 n=1"), ["the order of the pairs of #1 of B"]);
}

fn words() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "A", "b", "c", "1", "1~2", "", "/x/", "/", "a/b", "d\u{e9}"]).prop_map(str::to_owned)
}

fn entity() -> impl Strategy<Value = String> {
    let key = prop::sample::select(vec!["classname", "targetname", "origin", "hammerid", "on", "ON", "k"]);
    let pair = (key, words()).prop_map(|(key, value)| format!("{key}={value}"));
    prop::collection::vec(pair, 1..6).prop_map(|pairs| pairs.join(" "))
}

proptest! {
    #![proptest_config(config(400, "rules"))]

    #[test]
    fn the_rules_give_the_other_entities_or_say_what_is_lost(
        old in prop::collection::vec(entity(), 0..7),
        edits in prop::collection::vec((0usize..8, 0usize..4, entity()), 0..5),
    ) {
        let mut new = old.clone();
        for (at, what, other) in edits {
            match what {
                0 => new.push(other),
                1 if at < new.len() => drop(new.remove(at)),
                2 if at < new.len() => new[at] = format!("{} {other}", new[at]),
                _ if at < new.len() => {
                    let mut pairs: Vec<&str> = new[at].split(' ').collect();
                    pairs.pop();
                    new[at] = pairs.into_iter().chain([&other[..]]).collect::<Vec<_>>().join(" ");
                }
                _ => {}
            }
        }
        law(&map(&old.join(";")), &map(&new.join(";")));
        // The other way round, too.
        law(&map(&new.join(";")), &map(&old.join(";")));
    }

    #[test]
    fn rules_read_any_bytes(text in prop::collection::vec(
        prop::sample::select(vec![
            "filter:", "add:", "modify:", "match:", "replace:", "delete:", "insert:", "{", "}", "\n", "\n", "\n",
            "\"classname\" \"light\"", "\"n\" \"/a+/\"", "\"n\" \"/(/\"", "\"\"", ";", "\0", "\"k\" \"v\" \"", "  ",
        ]), 0..40)
    ) {
        let text = text.concat();
        let before = map("classname=light n=aa; classname=door n=b");
        for mode in [Mode::Plugin, Mode::Strict, Mode::Lumper] {
            let mut entities = Entities::parse(before.as_bytes(), EntityRules::QUAKE2).unwrap();
            if let Ok(rules) = Rules::parse("r.cfg", text.as_bytes(), Format::Stripper, mode)
                && rules.apply(&mut entities, "map").is_err()
            {
                // All or nothing.
                prop_assert_eq!(entities.to_bytes(), before.as_bytes());
            }
        }
    }
}
