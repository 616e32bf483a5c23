//! Over hostile bytes: what is read is what the engines read, and what is edited reads back.

use bspkit::ErrorKind;
use bspkit::content::entities::Entities;
use bspkit::dialect::{EntityRules, TextSyntax};
use proptest::prelude::*;

use super::engines::ENGINES;
use super::{pairs, parse, random};

const SEEDS: &str = "tests/proptest-regressions/entities.txt";

/// More are not read.
const MOST_ENTITIES: usize = 1 << 17;

fn agrees_with_engines(text: &[u8]) {
    for engine in &ENGINES {
        let read = engine.read(text);
        let entities = match Entities::parse(text, engine.rules) {
            Ok(entities) => entities,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::TooLarge);
                assert!(read.entities.len() > MOST_ENTITIES, "{error}");
                continue;
            }
        };
        assert!(pairs(&entities) == read.entities, "{}: {}", engine.rules.engines, text.escape_ascii());
        assert!(entities.to_bytes() == text && !entities.is_edited());
        // Only the first thousand are listed.
        let has_brace = read.entities.iter().flatten().any(|(_, value)| value.first() == Some(&b'}'));
        let is_odd = entities.diagnostics().iter().any(|diagnostic| diagnostic.kind.stops_engines()) || has_brace;
        assert!(is_odd || !read.stops, "{}: {}", engine.rules.engines, text.escape_ascii());
        let ends: Vec<_> = entities.iter().map(|entity| entity.span().unwrap()).collect();
        assert!(ends.is_sorted_by(|one, next| one.end <= next.start), "{}", text.escape_ascii());
    }
}

/// Each rule of the syntax, planted wrong: the engine's reader sees it.
#[test]
fn a_tokenizer_with_another_rule_reads_something_else() {
    type Fault = fn(&mut TextSyntax);
    let faults: [(usize, &[u8], Fault); 7] = [
        (0, b"{a b:c d}", |syntax| syntax.single_tokens = b"{}()'"),
        (1, b"{a b}{c d}", |syntax| syntax.single_tokens = b""),
        (2, b"{ a b} c }", |syntax| syntax.single_tokens = b"{}"),
        (2, b"{ a\xe9b }", |syntax| syntax.high_blanks = false),
        (3, b"{ a /* b */ c }", |syntax| syntax.block_comments = false),
        (6, br#"{"a" "b\"c"}"#, |syntax| syntax.escaped = b""),
        (7, br#"{"a" "b\\" "c" "d"}"#, |syntax| syntax.escaped = b"\""),
    ];
    for (engine, text, fault) in faults {
        let (engine, shown) = (&ENGINES[engine], text.escape_ascii());
        let reads = |rules| pairs(&Entities::parse(text, rules).unwrap());
        let mut rules = engine.rules;
        assert_eq!(reads(rules), engine.read(text).entities, "{shown}");
        fault(&mut rules.syntax);
        assert_ne!(reads(rules), engine.read(text).entities, "{}: {shown}", engine.rules.engines);
    }
}

/// What is said of a text comes from the table of rules: without them nothing is.
#[test]
fn without_its_rule_a_text_is_not_refused() {
    for (rules, text) in [
        (EntityRules::QUAKE, &br#"{"classname" ""}"#[..]),
        (EntityRules::SOURCE, br#"{"Classname" "light"}"#),
        (EntityRules::SOURCE, br#"{"classname" "light" "a" "{"}"#),
    ] {
        let flaws = |rules| Entities::parse(text, rules).unwrap().flaws().count();
        assert_eq!(flaws(rules), 1, "{}", text.escape_ascii());
        let mut without = rules;
        without.rules = &[];
        assert_eq!(flaws(without), 0, "{}", text.escape_ascii());
    }
}

const NASTY: &[&[u8]] = &[
    b"{",
    b"}",
    b"{",
    b"}",
    b"\"",
    b" ",
    b"\n",
    b"\r\n",
    b"//",
    b"/*",
    b"*/",
    b"a",
    b"b c",
    b"\xe9",
    b"\x1b",
    b"\\\"",
    b"\"a\" \"1\"",
    b"\n\"a\" \"2\"",
    b"\"classname\" \"worldspawn\"",
    b"\n\"classname\" \"light\"\n",
    b"// c\n",
    b"\"\"",
    b"{\n\"classname\" \"light\"\n}\n",
    b"{ \"a\" \"1\" }",
    b"{x",
    b"}y",
    b"\"}\"",
    b"\"{\"",
    b"w\"",
    b"\\",
    b"\\\\",
    b"(",
    b"'",
    b":",
    b",",
];

const TAILS: &[&[u8]] = &[b"", b"\0", b"\0\0", b" ", b"\0junk\"{"];

fn nasty() -> impl Strategy<Value = Vec<u8>> {
    let fragments = prop::collection::vec(prop::sample::select(NASTY), 0..40);
    let tail = prop::sample::select(TAILS);
    (fragments, tail).prop_map(|(fragments, tail)| [fragments.concat(), tail.to_vec()].concat())
}

const FILLERS: &[&[u8]] = &[b"a", b" ", b"\n", b"/", b"\"", b"{", b"*", b"\xe9"];

fn rules() -> impl Strategy<Value = EntityRules> {
    prop::sample::select(ENGINES.map(|engine| engine.rules.for_any_engine()).to_vec())
}

/// Texts with few, long tokens and gaps, around the sizes at which windows end.
fn long() -> impl Strategy<Value = Vec<u8>> {
    let filler = prop::sample::select(FILLERS);
    let window = 32 * 1024_usize;
    let count = prop_oneof![0..5_usize, window - 9..window + 9, 2 * window - 9..2 * window + 9];
    let part = (prop::sample::select(NASTY), filler, count).prop_map(|(fragment, filler, count)| {
        let mut part = fragment.to_vec();
        part.extend(filler.repeat(count));
        part
    });
    prop::collection::vec(part, 1..8).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(random::config(256, SEEDS))]

    #[test]
    fn any_text_is_read_as_by_engines_and_printed_as_it_was(text in nasty()) {
        agrees_with_engines(&text);
    }

    #[test]
    fn any_bytes_are_read_as_by_engines(text: Vec<u8>) {
        agrees_with_engines(&text);
    }

    #[test]
    fn canonical_is_a_fixpoint_that_engines_read_as_before(text in nasty(), engine in 0..ENGINES.len()) {
        let engine = &ENGINES[engine];
        let entities = Entities::parse(&text[..], engine.rules).unwrap();
        match entities.canonical() {
            Ok(canonical) => {
                let again = Entities::parse(&canonical[..], engine.rules).unwrap();
                prop_assert_eq!(engine.read(&text).entities, engine.read(&canonical).entities);
                prop_assert_eq!(&again.canonical().unwrap(), &canonical);
                prop_assert!(again.lost_in_canonical().unwrap().is_empty());
            }
            // A quote in a word, a value like a brace, a last backslash: nothing else is refused.
            Err(_) => {
                let is_odd = |token: &Vec<u8>| token.contains(&b'"') || token.ends_with(b"\\") || token.starts_with(b"}");
                prop_assert!(pairs(&entities).iter().flatten().any(|(key, value)| is_odd(key) || is_odd(value)));
            }
        }
    }

    #[test]
    fn setting_what_is_there_changes_nothing(text in nasty()) {
        let mut entities = parse(&text);
        for (index, pairs) in pairs(&entities).into_iter().enumerate() {
            for key in pairs.iter().map(|pair| &pair.0) {
                let value = entities.get(index).unwrap().get(key).unwrap().to_vec();
                entities.get_mut(index).unwrap().set(key, value).unwrap();
            }
        }
        prop_assert_eq!(entities.to_bytes(), text);
    }

    #[test]
    fn an_edit_changes_only_its_entity_and_can_be_undone(
        text in nasty(), rules in rules(), at: prop::sample::Index, edit in 0..4
    ) {
        let mut entities = Entities::parse(&text[..], rules).unwrap();
        if entities.is_empty() {
            return Ok(());
        }
        let index = at.index(entities.len());
        let span = entities.get(index).unwrap().span().unwrap();
        let old = pairs(&entities);
        let mut expected = old[index].clone();
        let mut entity = entities.get_mut(index).unwrap();
        let key = expected.first().map_or(b"a".to_vec(), |pair| pair.0.clone());
        let is_key = |pair: &(Vec<u8>, Vec<u8>)| pair.0.eq_ignore_ascii_case(&key);
        let made = match edit {
            0 => {
                match expected.iter_mut().find(|pair| is_key(pair)) {
                    Some(pair) => pair.1 = b"new value".to_vec(),
                    None => expected.push((key.clone(), b"new value".to_vec())),
                }
                entity.set(&key, "new value")
            }
            1 => {
                expected.push((b"new".to_vec(), b"pair".to_vec()));
                entity.push("new", "pair")
            }
            2 => {
                expected.retain(|pair| !is_key(pair));
                entity.unset(&key).map(drop)
            }
            _ => {
                expected.iter_mut().filter(|pair| pair.0.eq_ignore_ascii_case(&key)).for_each(|pair| pair.0 = b"K".to_vec());
                entity.rename(&key, "K").map(drop)
            }
        };
        if made.is_err() {
            prop_assert_eq!(entities.to_bytes(), text);
            return Ok(());
        }
        let bytes = entities.to_bytes();
        prop_assert_eq!(&bytes[..span.start], &text[..span.start]);
        prop_assert!(bytes.ends_with(&text[span.end..]));
        // What was read is what an engine reads back, not only what the lens thinks it wrote.
        let mut all = old;
        all[index] = expected;
        prop_assert_eq!(&pairs(&entities), &all);
        let again = Entities::parse(&bytes[..], rules).unwrap();
        prop_assert!(pairs(&again) == all, "{} became {}", text.escape_ascii(), bytes.escape_ascii());
        if edit == 1 {
            let mut entity = entities.get_mut(index).unwrap();
            let count = entity.entity().all("new").count();
            entity.unset_nth("new", count).unwrap();
            prop_assert_eq!(entities.to_bytes(), text);
        }
    }

    #[test]
    fn arranging_keeps_the_pairs_and_what_is_between(
        text in nasty(), rules in rules(), one: prop::sample::Index, other: prop::sample::Index, edit in 0..5
    ) {
        let mut entities = Entities::parse(&text[..], rules).unwrap();
        if entities.is_empty() {
            return Ok(());
        }
        let (one, other) = (one.index(entities.len()), other.index(entities.len()));
        let mut expected = pairs(&entities);
        let made = match edit {
            0 => { expected.remove(one); entities.remove(one) }
            1 => { expected.insert(one, expected[one].clone()); entities.duplicate(one).map(drop) }
            2 => { expected.push(vec![(b"k".to_vec(), b"v".to_vec())]); entities.add([("k", "v")]).map(drop) }
            3 => {
                let moved = expected.remove(one);
                expected.insert(if one < other { other - 1 } else { other }, moved);
                if one == other { return Ok(()) }
                entities.move_before(one, other)
            }
            _ => {
                let moved = expected.remove(one);
                if one == other { return Ok(()) }
                expected.insert(if one < other { other } else { other + 1 }, moved);
                entities.move_after(one, other)
            }
        };
        if made.is_err() {
            prop_assert_eq!(entities.to_bytes(), text);
            return Ok(());
        }
        prop_assert_eq!(&pairs(&entities), &expected);
        let bytes = entities.to_bytes();
        let again = Entities::parse(&bytes[..], rules).unwrap();
        prop_assert!(pairs(&again) == expected, "{} became {}", text.escape_ascii(), bytes.escape_ascii());
        // Comments are between entities or in them; only those in a removed one go.
        let comments = |bytes: &[u8]| Entities::parse(bytes, rules).unwrap().lost_in_canonical().unwrap().total();
        if edit >= 2 {
            prop_assert_eq!(comments(&bytes), comments(&text));
        }
    }

    #[test]
    fn many_go_as_one_after_the_other(text in nasty(), rules in rules(), chosen: [bool; 8]) {
        let mut entities = Entities::parse(&text[..], rules).unwrap();
        let indices: Vec<usize> = (0..entities.len()).filter(|&index| chosen[index % 8]).collect();
        let mut single = entities.clone();
        let made = entities.remove_all(&indices);
        let result: bspkit::Result<Vec<()>> = indices.iter().rev().map(|&index| single.remove(index)).collect();
        if made.is_ok() && result.is_ok() {
            prop_assert_eq!(pairs(&entities), pairs(&single));
        }
        let bytes = entities.to_bytes();
        prop_assert_eq!(pairs(&Entities::parse(&bytes[..], rules).unwrap()), pairs(&entities));
        let Some(target) = entities.len().checked_sub(1) else { return Ok(()) };
        let moving: Vec<usize> = (0..target).filter(|&index| chosen[index % 8]).collect();
        let old = pairs(&entities);
        let staying = (0..target).filter(|index| !moving.contains(index));
        let expected: Vec<_> = staying.chain([target]).chain(moving.iter().copied()).map(|at| old[at].clone()).collect();
        let expected = if entities.move_all_after(&moving, target).is_ok() { expected } else { old };
        let bytes = entities.to_bytes();
        prop_assert_eq!(&pairs(&entities), &expected);
        prop_assert_eq!(pairs(&Entities::parse(&bytes[..], rules).unwrap()), expected);
    }

    #[test]
    fn another_order_is_that_of_moves_one_by_one(text in nasty(), rules in rules(), keys: [u8; 8]) {
        let mut entities = Entities::parse(&text[..], rules).unwrap();
        let (mut single, old) = (entities.clone(), pairs(&entities));
        let mut order: Vec<usize> = (0..entities.len()).collect();
        order.sort_by_key(|index| keys[index % 8] / 64);
        let made = entities.reorder(&order);
        let comments = |bytes: &[u8]| Entities::parse(bytes, rules).unwrap().lost_in_canonical().unwrap().total();
        let bytes = entities.to_bytes();
        if made.is_err() {
            prop_assert_eq!(&bytes, &text);
        } else {
            let expected: Vec<_> = order.iter().map(|index| old[*index].clone()).collect();
            prop_assert_eq!(&pairs(&entities), &expected);
            prop_assert_eq!(pairs(&Entities::parse(&bytes[..], rules).unwrap()), expected);
            prop_assert_eq!(comments(&bytes), comments(&text));
        }
        let mut list: Vec<usize> = (0..old.len()).collect();
        let moved = order.iter().enumerate().try_for_each(|(at, index)| {
            let from = list.iter().position(|other| other == index).unwrap();
            list.remove(from);
            list.insert(at, *index);
            if from == at { Ok(()) } else { single.move_before(from, at) }
        });
        prop_assert_eq!(made.is_ok(), moved.is_ok());
        // Comments and spaces may stay at other entities, since some meet only on the way.
        let letters = |bytes: Vec<u8>| bytes.into_iter().filter(|byte| *byte > b' ').collect::<Vec<u8>>();
        if comments(&text) == 0 && moved.is_ok() {
            prop_assert_eq!(letters(bytes), letters(single.to_bytes()));
        }
    }

    #[test]
    fn arranging_leaves_canonical_text_canonical(count in 1..6_usize, one in 0..6_usize, other in 0..6_usize, edit in 0..4) {
        let text: String = (0..count).map(|at| format!("{{\n\"classname\" \"c{at}\"\n}}\n")).collect::<String>() + "\0";
        let mut entities = parse(text.as_bytes());
        let (one, other) = (one % count, other % count);
        match edit {
            0 => entities.remove(one).unwrap(),
            1 => assert_eq!(entities.duplicate(one).unwrap(), one + 1),
            2 => assert_eq!(entities.add([("classname", "new"), ("", "")]).unwrap(), count),
            _ => entities.move_before(one, other).unwrap(),
        }
        prop_assert_eq!(entities.to_bytes(), entities.canonical().unwrap());
    }
}

proptest! {
    #![proptest_config(random::config(64, SEEDS))]
    #[test]
    fn windows_do_not_show(text in long()) {
        agrees_with_engines(&text);
    }
}
