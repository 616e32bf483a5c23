//! The oddities of shipped maps, and what an edit makes of each.

use bspkit::content::entities::{DiagnosticKind, Entities, EntityMut};
use bspkit::dialect::EntityRules;
use bspkit::{ErrorKind, Hint};

use super::parse;

/// The text after an edit of the first entity.
fn edited(text: &[u8], edit: impl FnOnce(&mut EntityMut<'_, '_>)) -> String {
    let mut entities = parse(text);
    edit(&mut entities.get_mut(0).unwrap());
    String::from_utf8(entities.to_bytes()).unwrap()
}

fn kinds(text: &[u8]) -> Vec<DiagnosticKind> {
    parse(text).diagnostics().iter().map(|diagnostic| diagnostic.kind).collect()
}

#[test]
fn a_compilers_text_is_canonical() {
    let text = b"{\n\"world_maxs\" \"1 2 3\"\n\"classname\" \"worldspawn\"\n}\n{\n\"\" \",,,0,-1\"\n\"a\" \"\"\n\"a\" \"x\"\n}\n\0";
    assert_eq!(parse(text).canonical().unwrap(), text);
    assert_eq!(kinds(text), []);
}

#[test]
fn crlf_stays_and_is_copied() {
    let text = b"{\r\n\"classname\" \"light\"\r\n}\r\n\0";
    let expected = "{\r\n\"classname\" \"light\"\r\n\"style\" \"32\"\r\n}\r\n\0";
    assert_eq!(edited(text, |light| light.set("style", "32").unwrap()), expected);
    let mut entities = parse(text);
    entities.add([("classname", "a"), ("b", "c")]).unwrap();
    let added = b"{\r\n\"classname\" \"light\"\r\n}\r\n{\r\n\"classname\" \"a\"\r\n\"b\" \"c\"\r\n}\r\n\0";
    assert_eq!(entities.to_bytes(), added);
}

#[test]
fn one_line_entities_stay_on_their_line() {
    let text = b"{ \"classname\" \"light\" }\n{ \"classname\" \"b\" }\0";
    assert_eq!(
        edited(text, |light| light.set("style", "32").unwrap()),
        "{ \"classname\" \"light\" \"style\" \"32\" }\n{ \"classname\" \"b\" }\0"
    );
    let mut entities = parse(text);
    entities.add([("classname", "c")]).unwrap();
    let added = b"{ \"classname\" \"light\" }\n{ \"classname\" \"b\" } { \"classname\" \"c\" }\0";
    assert_eq!(entities.to_bytes(), added);
}

#[test]
fn indent_and_alignment_are_copied() {
    let text = b"  {\n\t\"classname\"\t\t\"light\"\n  }\n";
    let expected = "  {\n\t\"classname\"\t\t\"light\"\n\t\"style\"\t\t\"1\"\n  }\n";
    assert_eq!(edited(text, |light| light.set("style", "1").unwrap()), expected);
}

#[test]
fn comments_stay_when_pairs_go() {
    let text = b"{\n\"a\" \"1\" // first\n// of b\n\"b\" \"2\" // second\n\"c\" \"3\"}\n\0";
    let gone = "{\n\"a\" \"1\" // first\n// of b\n // second\n\"c\" \"3\"}\n\0";
    assert_eq!(edited(text, |entity| assert_eq!(entity.unset("b").unwrap(), 1)), gone);
    let last = "{\n\"a\" \"1\" // first\n// of b\n\"b\" \"2\" // second\n}\n\0";
    assert_eq!(edited(text, |entity| assert_eq!(entity.unset("c").unwrap(), 1)), last);
    let first = "{ // first\n// of b\n\"b\" \"2\" // second\n\"c\" \"3\"}\n\0";
    assert_eq!(edited(text, |entity| assert_eq!(entity.unset("a").unwrap(), 1)), first);
}

#[test]
fn a_pair_goes_behind_the_comment_on_the_last_line() {
    let text = b"{\n\"a\" \"1\" // first\n}\n\0";
    let expected = "{\n\"a\" \"1\" // first\n\"b\" \"2\"\n}\n\0";
    assert_eq!(edited(text, |entity| entity.set("b", "2").unwrap()), expected);
}

#[test]
fn comments_between_entities_stay_when_entities_go() {
    let text = b"// worldspawn\n{\n\"a\" \"1\"\n}\n// light\n{\n\"b\" \"2\"\n}\n// end\n\0";
    let mut entities = parse(text);
    assert_eq!(entities.lost_in_canonical().unwrap().total(), 3);
    entities.remove(1).unwrap();
    assert_eq!(entities.to_bytes(), b"// worldspawn\n{\n\"a\" \"1\"\n}\n// light\n// end\n\0");
    entities.add([("c", "3")]).unwrap();
    let added = b"// worldspawn\n{\n\"a\" \"1\"\n}\n{\n\"c\" \"3\"\n}\n// light\n// end\n\0";
    assert_eq!(entities.to_bytes(), added);
}

#[test]
fn a_block_comment_is_one_only_where_engines_say_so() {
    let text = b"/* { */ { \"a\" /* b */ \"c\" }\0";
    assert_eq!(Entities::parse(&text[..], EntityRules::QUAKE3).unwrap().len(), 1);
    assert_eq!(parse(text).len(), 2);
}

#[test]
fn a_commented_out_brace_leaves_the_last_entity_open() {
    let text = b"{\n\"a\" \"1\"\n}\n{\n\"b\" \"2\"\n//}\n\0";
    assert_eq!(kinds(text), [DiagnosticKind::MissingClosingBrace]);
    let mut entities = parse(text);
    assert_eq!(entities.add([("c", "3")]).unwrap_err().kind(), ErrorKind::Refused);
    entities.get_mut(1).unwrap().set("c", "3").unwrap();
    assert_eq!(entities.to_bytes(), b"{\n\"a\" \"1\"\n}\n{\n\"b\" \"2\"\n\"c\" \"3\"\n//}\n\0");
}

#[test]
fn braces_may_touch() {
    let text = b"{\n\"a\" \"1\"\n}{\n\"b\" \"2\"\n}\n\0";
    let mut entities = parse(text);
    assert_eq!(entities.len(), 2);
    entities.duplicate(0).unwrap();
    assert_eq!(entities.to_bytes(), b"{\n\"a\" \"1\"\n}\n{\n\"a\" \"1\"\n}\n{\n\"b\" \"2\"\n}\n\0");
}

#[test]
fn repeated_keys_keep_their_order() {
    let text = b"{\n\"On\" \"a\"\n\"x\" \"1\"\n\"on\" \"b\"\n\"On\" \"c\"\n}\n\0";
    let set = edited(text, |entity| entity.set_nth("On", 2, "B").unwrap());
    assert_eq!(set, "{\n\"On\" \"a\"\n\"x\" \"1\"\n\"on\" \"B\"\n\"On\" \"c\"\n}\n\0");
    let unset = edited(text, |entity| assert_eq!(entity.unset("on").unwrap(), 3));
    assert_eq!(unset, "{\n\"x\" \"1\"\n}\n\0");
    let renamed = edited(text, |entity| entity.rename_nth("on", 3, "Off").unwrap());
    assert_eq!(renamed, "{\n\"On\" \"a\"\n\"x\" \"1\"\n\"on\" \"b\"\n\"Off\" \"c\"\n}\n\0");
    let mut entities = parse(text);
    let error = entities.get_mut(0).unwrap().set_nth("On", 4, "d").unwrap_err();
    assert_eq!(error.to_string(), "no pair 4 of key `On`: the entity has 3 (entities, record 0)");
}

#[test]
fn a_backslash_escapes_a_quote_only_where_engines_say_so() {
    let text = b"{\n\"command\" \"world,Play,\\\"vdata/x\\\",4\"\n\"classname\" \"logic_relay\"\n}\n\0";
    let entities = parse(text);
    assert_eq!(entities.get(0).unwrap().get("command"), Some(&b"world,Play,\\"[..]));
    assert!(kinds(text).contains(&DiagnosticKind::UnquotedToken));
    assert_eq!(entities.to_bytes(), text);
    let mut entities = Entities::parse(&text[..], EntityRules::BLOODLINES).unwrap();
    let mut relay = entities.first_class("logic_relay").unwrap();
    assert_eq!(relay.entity().get("command"), Some(&b"world,Play,\\\"vdata/x\\\",4"[..]));
    relay.set("command", "say \\\"hi\\\"").unwrap();
    let bytes = entities.to_bytes();
    assert_eq!(bytes, b"{\n\"command\" \"say \\\"hi\\\"\"\n\"classname\" \"logic_relay\"\n}\n\0");
    for (value, why) in [("a\"b", "contains a quote"), ("a\\", "ends with a backslash")] {
        let error = entities.get_mut(0).unwrap().set("command", value).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    // Strata escapes backslashes too, from version 1 of the lump on.
    let text = b"{\n\"a\" \"b\\\\\"\n\"c\" \"\\\"d\"\n}\n\0";
    let strata = Entities::parse(&text[..], EntityRules::STRATA.of_version(1)).unwrap();
    assert_eq!(strata.get(0).unwrap().get("c"), Some(&b"\\\"d"[..]));
    let old = Entities::parse(&text[..], EntityRules::STRATA.of_version(0)).unwrap();
    assert_eq!(old.get(0).unwrap().get("c"), Some(&b"\\"[..]));
}

#[test]
fn a_brace_is_a_letter_where_engines_say_so() {
    let text = b"{\"classname\" \"worldspawn\"}\n\0";
    let kinds = |rules| {
        let entities = Entities::parse(&text[..], rules).unwrap();
        entities.diagnostics().iter().map(|diagnostic| diagnostic.kind).collect::<Vec<_>>()
    };
    assert_eq!(kinds(EntityRules::QUAKE), [DiagnosticKind::TouchingBrace]);
    assert_eq!(kinds(EntityRules::QUAKE2), [DiagnosticKind::BraceInToken, DiagnosticKind::KeyWithoutValue]);
    let entities = Entities::parse(&text[..], EntityRules::QUAKE2).unwrap();
    assert_eq!(entities.lost_in_canonical().unwrap().total(), 2);
    // What an edit leaves behind is read by all.
    let mut entities = Entities::parse(&b"{ a 1 \"b\" \"c\"}\0"[..], EntityRules::QUAKE).unwrap();
    entities.get_mut(0).unwrap().unset("b").unwrap();
    assert_eq!(entities.to_bytes(), b"{ a 1 }\0");
}

#[test]
fn what_only_some_engines_refuse_can_be_forced() {
    let text = b"{\n\"classname\" \"worldspawn\"\n}\n{\n\"classname\" \"light\"\n}\n\0";
    type Edit = fn(&mut Entities<'_>) -> bspkit::Result<()>;
    let cases: [(EntityRules, Edit, &str); 6] = [
        (EntityRules::GOLDSRC, |all| all.get_mut(1)?.set("a", "x".repeat(1500)), "GoldSrc reads no more than 1023"),
        (EntityRules::GOLDSRC, |all| all.get_mut(1)?.set("k".repeat(300), "v"), "GoldSrc reads no more than 255"),
        (EntityRules::QUAKE, |all| all.get_mut(1)?.set("classname", ""), "QuakeSpasm stops there"),
        (EntityRules::SOURCE, |all| all.get_mut(1)?.unset("classname").map(drop), "Source engines stop there"),
        (EntityRules::SOURCE, |all| all.get_mut(1)?.rename("classname", "Classname").map(drop), "no key `classname`"),
        (EntityRules::SOURCE, |all| all.add([("origin", "0 0 0")]).map(drop), "no key `classname`"),
    ];
    for (rules, edit, said) in cases {
        let mut entities = Entities::parse(&text[..], rules).unwrap();
        let error = edit(&mut entities).unwrap_err();
        assert!(error.kind() == ErrorKind::Refused && error.to_string().contains(said), "{error}");
        assert!(matches!(error.hint(), Some(Hint::OrForce(_))), "{error}");
        assert!(!entities.is_edited());
        entities.for_any_engine();
        edit(&mut entities).unwrap();
        let bytes = entities.to_bytes();
        let again = Entities::parse(&bytes[..], rules).unwrap();
        assert_eq!((again.unreadable().count(), again.flaws().count()), (1, 1));
    }
    let mut entities = Entities::parse(&text[..], EntityRules::GOLDSRC.for_any_engine()).unwrap();
    assert!(entities.get_mut(1).unwrap().set("a", "x".repeat(16_384)).is_err());
}

#[test]
fn what_engines_read_in_another_way_is_a_flaw() {
    let flaws = |rules, pair: &str| {
        let text = format!("{{\n\"classname\" \"worldspawn\"\n{pair}\n}}\n\0");
        let entities = Entities::parse(text.into_bytes(), rules).unwrap();
        assert_eq!(entities.unreadable().count(), 0);
        entities.flaws().map(|flaw| flaw.rule.what).collect::<Vec<_>>()
    };
    use bspkit::dialect::TextTrait::{Backslash, BackslashAtEnd, MorePairs, SpaceBehindKey};
    assert_eq!(flaws(EntityRules::GOLDSRC, r#""path" "c:\""#), [BackslashAtEnd]);
    assert_eq!(flaws(EntityRules::GOLDSRC, r#""message" "a\b""#), []);
    assert_eq!(flaws(EntityRules::GOLDSRC, &"\"a\" \"b\"\n".repeat(300)), [MorePairs(256)]);
    assert_eq!(flaws(EntityRules::QUAKE, r#""message" "a\nb\\c""#), []);
    assert_eq!(flaws(EntityRules::QUAKE, r#""message" "maps\e1m1""#), [Backslash]);
    assert_eq!(flaws(EntityRules::QUAKE, r#""wad" "maps\e1m1" "_a" "\b""#), []);
    assert_eq!(flaws(EntityRules::QUAKE, r#""message " "a""#), [SpaceBehindKey]);
}

#[test]
fn a_missing_opening_quote_is_a_word_with_a_quote() {
    let text = b"{\n\"OnStartTouch\" outside,Kill,,\"\n\"classname\" \"a\"\n}\n\0";
    let entities = parse(text);
    assert_eq!(entities.get(0).unwrap().get("OnStartTouch"), Some(&b"outside,Kill,,\""[..]));
    assert_eq!(entities.get(0).unwrap().class(), Some(&b"a"[..]));
    assert_eq!(entities.to_bytes(), text);
}

#[test]
fn an_unterminated_value_is_only_closed_when_it_changes() {
    let text = b"{\n\"a\" \"1\"\n\"b\" \"2\n}\n\0";
    assert_eq!(kinds(text), [DiagnosticKind::UnterminatedQuote, DiagnosticKind::MissingClosingBrace]);
    assert_eq!(edited(text, |entity| entity.set("a", "3").unwrap()), "{\n\"a\" \"3\"\n\"b\" \"2\n}\n\0");
    let mut entities = parse(text);
    assert_eq!(entities.get_mut(0).unwrap().push("c", "3").unwrap_err().kind(), ErrorKind::Refused);
    assert_eq!(edited(text, |entity| entity.set("b", "3").unwrap()), "{\n\"a\" \"1\"\n\"b\" \"3\"\0");
}

/// The string that the first brace is in goes to the end of the text, and would take a new pair along.
#[test]
fn nothing_goes_into_an_entity_whose_first_brace_is_in_an_open_string() {
    for text in ["\"{ light\n", "{ \"a\" \"b\" \"key"] {
        let mut entities = parse(text.as_bytes());
        match entities.get_mut(0).unwrap().set("style", "1") {
            Err(error) => assert_eq!(error.kind(), ErrorKind::Refused),
            Ok(()) => assert_eq!(parse(&entities.to_bytes()).get(0).unwrap().get("style"), Some(&b"1"[..])),
        }
    }
}

/// The quote before the last brace goes to the end of the text, and would take what comes after it along.
#[test]
fn nothing_goes_after_an_entity_whose_brace_is_in_an_open_string() {
    let text = b"{\n\"classname\" \"worldspawn\"\n}\n{\n\"classname\" \"light\"\n\"}\n{\n";
    let refused = |edit: fn(&mut Entities<'_>) -> bspkit::Result<()>| {
        let mut entities = parse(text);
        let error = edit(&mut entities).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused);
        assert_eq!(entities.to_bytes(), text);
    };
    refused(|entities| entities.duplicate(1).map(drop));
    refused(|entities| entities.duplicate_all(&[1]));
    refused(|entities| entities.add([("classname", "light")]).map(drop));
    refused(|entities| entities.move_before(1, 0));
    refused(|entities| entities.move_after(0, 1));
}

/// Each edit is small, and all of them together make a text that could not be read again.
#[test]
fn a_text_that_grows_beyond_the_limit_is_not_saved() {
    let entity = "{\n\"classname\" \"light\"\n}\n";
    let text = format!("{{\n\"classname\" \"worldspawn\"\n}}\n{}\0", entity.repeat(17_500));
    let bytes = bspkit::Builder::new(&bspkit::dialect::QUAKE).lump(0, text).build().unwrap();
    let map = bspkit::Bsp::parse(&bytes).unwrap();
    let mut draft = map.draft();
    let set = |draft: &mut bspkit::Draft<'_>, len: usize| {
        let value = "x".repeat(len);
        let all = draft.entities().unwrap();
        (1..all.len()).for_each(|index| all.get_mut(index).unwrap().set("_a", &value).unwrap());
        draft.plan(bspkit::Layout::Keep).map(|plan| plan.to_vec())
    };
    let saved = set(&mut draft, 800).unwrap();
    assert_eq!(bspkit::Bsp::parse(&saved).unwrap().entities().unwrap().len(), 17_501);
    let error = set(&mut draft, 1000).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLarge);
    assert!(error.to_string().contains("bytes, more than 16777216"), "{error}");
}

#[test]
fn tails_are_kept() {
    use DiagnosticKind::{BytesBehindNul, ManyNuls, NoNul};
    let cases: [(&[u8], &[DiagnosticKind]); 5] =
        [(b"", &[NoNul]), (b"\0", &[]), (b"\0\0", &[ManyNuls]), (b" ", &[NoNul]), (b"\0 {", &[BytesBehindNul])];
    for (tail, expected) in cases {
        let text = [b"{\n\"classname\" \"a\"\n}\n", tail].concat();
        assert_eq!(kinds(&text), expected);
        let mut entities = parse(&text);
        entities.add([("classname", "b")]).unwrap();
        assert!(entities.to_bytes().ends_with(&[b"\"b\"\n}\n", tail].concat()));
    }
}

#[test]
fn bytes_outside_ascii_and_line_breaks_are_values_like_others() {
    let text = b"{\n\"message\" \"caf\xe9\nbar\"\n\"k\x93\" \"\x1b\"\n}\n\0";
    let mut entities = parse(text);
    assert_eq!(entities.get(0).unwrap().get(b"K\x93"), Some(&b"\x1b"[..]));
    entities.get_mut(0).unwrap().set("message", b"th\xe9\n").unwrap();
    assert_eq!(entities.to_bytes(), b"{\n\"message\" \"th\xe9\n\"\n\"k\x93\" \"\x1b\"\n}\n\0");
}

#[test]
fn words_get_quotes_only_when_they_change() {
    let text = b"{classname light style 1}\0";
    assert_eq!(edited(text, |entity| entity.set("style", "2").unwrap()), "{classname light style \"2\"}\0");
    let mut entities = parse(text);
    let mut light = entities.first_class("LIGHT").unwrap();
    light.set("style", "2").unwrap();
    light.set("style", "1").unwrap();
    assert!(!entities.is_edited());
    assert_eq!(edited(b"{a b \"c\"\"d\"e f}", |entity| assert_eq!(entity.unset("c").unwrap(), 1)), "{a b e f}");
}

#[test]
fn an_empty_entity_takes_the_style_of_its_neighbour() {
    let mut entities = parse(b"{ \"a\" \"b\" } {}\n\0");
    entities.get_mut(1).unwrap().set("c", "d").unwrap();
    assert_eq!(entities.to_bytes(), b"{ \"a\" \"b\" } { \"c\" \"d\" }\n\0");
    entities.get_mut(1).unwrap().unset("c").unwrap();
    assert!(!entities.is_edited());
}

#[test]
fn a_text_without_entities_takes_one() {
    for (text, expected) in [
        (&b"\0"[..], &b"{\n\"a\" \"b\"\n}\n\0"[..]),
        (b"// none", b"// none\n{\n\"a\" \"b\"\n}\n"),
        (b"stray \n\0", b"stray \n{\n\"a\" \"b\"\n}\n\0"),
    ] {
        let mut entities = parse(text);
        assert_eq!(entities.add([("a", "b")]).unwrap(), 0);
        assert_eq!(entities.to_bytes(), expected);
    }
    assert_eq!(parse(b"\"stray").add([("a", "b")]).unwrap_err().kind(), ErrorKind::Refused);
}

#[test]
fn what_engines_cannot_read_is_refused_and_changes_nothing() {
    let text = b"{\n\"classname\" \"worldspawn\"\n}\n{\n\"classname\" \"light\"\n}\n\0";
    let long = "x".repeat(2048);
    for (key, value, message) in [
        (
            "a",
            "say \"hi\"",
            "the value `say \"hi\"` contains a quote, where Source engines end it (entities, record 1)",
        ),
        ("a\0", "b", "the key `a\\x00` contains a NUL, where Source engines end the text (entities, record 1)"),
        (
            "a",
            "}b",
            "the value `}b` begins with `}`, which ends the entity for Source engines even in quotes (entities, record 1)",
        ),
        ("a", "{", "the value `{` is a lone `{`, which Source engines take for an entity's start (entities, record 1)"),
        (
            "a",
            &long,
            "the value `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...` is 2048 bytes long; Source engines read no more than 2047 (entities, record 1)",
        ),
    ] {
        let mut entities = parse(text);
        let error = entities.get_mut(1).unwrap().set(key, value).unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Refused, message));
        assert!(error.hint().is_some());
        assert!(entities.add([(key, value)]).is_err());
        assert!(!entities.is_edited());
    }
    parse(text).get_mut(1).unwrap().set("", "").unwrap();
    Entities::parse(&text[..], EntityRules::GOLDSRC).unwrap().get_mut(1).unwrap().set("a", "{").unwrap();
}

/// 32 times as much takes some 32 times as long; 1,024 times would be quadratic. A busy machine is forgiven.
#[test]
fn the_time_of_an_order_grows_with_the_number_of_entities() {
    let time = |count: usize, order: fn(usize, usize) -> usize| {
        let text: String = (0..count).map(|at| format!("// {at}\n{{\n\"classname\" \"c{at}\"\n}}\n")).collect();
        let mut entities = parse(text.as_bytes());
        let order: Vec<usize> = (0..count).map(|at| order(at, count)).collect();
        let start = std::time::Instant::now();
        entities.reorder(&order).unwrap();
        start.elapsed().as_secs_f64()
    };
    let orders: [fn(usize, usize) -> usize; 3] =
        [|at, count| count - 1 - at, |at, count| (at + 1) % count, |at, count| at / 2 + at % 2 * (count / 2)];
    for order in orders {
        let mut ratios = (0..6).map(|_| time(64_000, order) / time(2_000, order));
        assert!(ratios.any(|ratio| ratio < 128.0), "more than 128 times the time for 32 times the entities");
    }
}

#[test]
fn an_order_names_each_entity_once() {
    let text = b"// a\n{\n\"a\" \"1\"\n}\n// b\n{\n\"b\" \"2\"\n}\n{\n\"c\" \"3\"\n}\n\0";
    let mut entities = parse(text);
    for order in [&[0, 1][..], &[0, 1, 1], &[0, 1, 3], &[0, 1, 2, 2], &[]] {
        assert_eq!(entities.reorder(order).unwrap_err().kind(), ErrorKind::Argument);
        assert_eq!(entities.to_bytes(), text);
    }
    entities.reorder(&[2, 0, 1]).unwrap();
    let expected = b"{\n\"c\" \"3\"\n}\n// a\n{\n\"a\" \"1\"\n}\n// b\n{\n\"b\" \"2\"\n}\n\0";
    assert_eq!(entities.to_bytes().escape_ascii().to_string(), expected.escape_ascii().to_string());
    entities.reorder(&[0, 2, 1]).unwrap();
    let expected = b"{\n\"c\" \"3\"\n}\n{\n\"b\" \"2\"\n}\n// a\n{\n\"a\" \"1\"\n}\n// b\n\0";
    assert_eq!(entities.to_bytes().escape_ascii().to_string(), expected.escape_ascii().to_string());
}

#[test]
fn worldspawn_stays_first() {
    let text = b"{\n\"classname\" \"worldspawn\"\n}\n{\n\"classname\" \"light\"\n}\n\0";
    let edits: [fn(&mut Entities<'_>) -> bspkit::Result<()>; 8] = [
        |entities| entities.remove(0),
        |entities| entities.remove_all(&[0, 1]),
        |entities| entities.move_after(0, 1),
        |entities| entities.move_before(1, 0),
        |entities| entities.reorder(&[1, 0]),
        |entities| entities.get_mut(0)?.set("classname", "light"),
        |entities| entities.get_mut(0)?.unset("classname").map(drop),
        |entities| entities.get_mut(0)?.rename("classname", "class").map(drop),
    ];
    for edit in edits {
        let mut entities = parse(text);
        assert_eq!(edit(&mut entities).unwrap_err().kind(), ErrorKind::Refused);
        assert_eq!(entities.to_bytes(), text);
    }
}

#[test]
fn limits_of_pairs_may_be_kept_but_not_passed() {
    let full = |count: usize| {
        let pairs: String = (0..count).map(|at| format!("\"k{at}\" \"v\"\n")).collect();
        format!("{{\n{pairs}}}\n\0").into_bytes()
    };
    let parse = |text: Vec<u8>| Entities::parse(text, EntityRules::QUAKE3).unwrap();
    parse(full(63)).get_mut(0).unwrap().push("a", "b").unwrap();
    let error = parse(full(64)).get_mut(0).unwrap().push("a", "b").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    parse(full(70)).get_mut(0).unwrap().set("k0", "w").unwrap();
    let mut entities = parse(full(60));
    for at in 0..4 {
        entities.get_mut(0).unwrap().set(format!("k{at}"), "x".repeat(900)).unwrap();
    }
    assert_eq!(entities.get_mut(0).unwrap().set("k5", "x".repeat(900)).unwrap_err().kind(), ErrorKind::Refused);
}

#[test]
fn too_much_is_an_error_and_a_text_of_mistakes_is_none() {
    let parse = |text: Vec<u8>| Entities::parse(text, EntityRules::QUAKE2);
    let pairs = |count: usize| [&b"{ "[..], &b"a b ".repeat(count)].concat();
    let too_large = |text: Vec<u8>| parse(text).unwrap_err();
    // The limits that the documentation names, and one more.
    for (most, more, said) in [
        (pairs(1 << 20), pairs((1 << 20) + 1), "an entity text of more than 1048576 pairs (entities, offset 4194308)"),
        (
            b"{ } ".repeat(1 << 17),
            b"{ } ".repeat((1 << 17) + 1),
            "an entity text of more than 131072 entities (entities, offset 524288)",
        ),
        (b" ".repeat(16 << 20), b" ".repeat((16 << 20) + 1), "an entity text of 16777217 bytes, more than 16777216"),
    ] {
        assert!(parse(most).is_ok(), "{said}");
        let error = too_large(more);
        assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::TooLarge, said));
    }
    let entities = parse(b"} ".repeat(5000)).unwrap();
    assert_eq!((entities.diagnostics().iter().count(), entities.diagnostics().total()), (1000, 5001));
}

#[test]
fn many_pairs_of_a_key_go_at_once() {
    let text = [&b"{"[..], &b"\n\"a\" \"b\"".repeat(200_000), b"\n}\n\0"].concat();
    let mut entities = parse(&text);
    assert_eq!(entities.get_mut(0).unwrap().rename("a", "c").unwrap(), 200_000);
    assert_eq!(entities.get_mut(0).unwrap().unset("c").unwrap(), 200_000);
    assert_eq!(entities.to_bytes(), b"{\n}\n\0");
}

#[test]
fn entities_are_found_by_a_value() {
    let entities = parse(b"{\"targetname\" \"a\"}{\"TargetName\" \"b\"}{\"targetname\" \"a\" \"targetname\" \"a\"}");
    let index = entities.index_by("targetname");
    assert_eq!((&index[&b"a"[..]], &index[&b"b"[..]]), (&vec![0, 2], &vec![1]));
    assert!(parse(b"").first_class("light").unwrap_err().to_string().contains("`light`"));
}

#[test]
fn entities_can_be_shared_between_threads() {
    fn check<T: Send + Sync + Clone>() {}
    check::<Entities<'static>>();
}
