//! Rules as patches, patches as rules, and rules as text of Stripper.

use bspkit_rules::Doubt;
use bspkit_text::patch;

use super::cousins::read;
use super::*;

fn lost<T>(converted: &bspkit_rules::Converted<T>) -> Vec<String> {
    converted.lost.iter().map(|(at, what)| format!("{at} {what}")).collect()
}

#[test]
fn rules_that_a_patch_can_say_do_the_same() {
    let text = "filter:\n{\n\"classname\" \"/^mon/\"\n}\n{\n\"classname\" \"Light\"\n\"n\" \"1\"\n}\nadd:\n{\n\"classname\" \"new\"\n}\n\
                modify:\n{\nmatch:\n{\n\"classname\" \"door\"\n}\nreplace:\n{\n\"speed\" \"9\"\n}\ninsert:\n{\n\"wait\" \"1\"\n}\n}\n";
    let before = "classname=monster; classname=light n=1; classname=light; classname=door speed=1; classname=Door";
    let rules = parse(text, Mode::Plugin).unwrap();
    let converted = rules.to_patch().unwrap();
    assert_eq!(lost(&converted), [""; 0]);
    let patch = patch::read(patch::write(&converted.result).as_bytes()).unwrap();
    let entities = Entities::parse(map(before).into_bytes(), EntityRules::QUAKE2).unwrap();
    let patched = Entities::parse(patch.apply(&entities).unwrap(), EntityRules::QUAKE2).unwrap();
    assert_eq!(short(&patched), applied(text, before, Mode::Plugin));
}

#[test]
fn what_a_patch_cannot_say_is_named() {
    let text = "modify:\n{\nmatch:\n{\n\"classname\" \"door\"\n}\ndelete:\n{\n\"on\" \"/x/\"\n}\n}\n";
    let converted = parse(text, Mode::Plugin).unwrap().to_patch().unwrap();
    assert_eq!(lost(&converted), ["9:7 the removal of `on` by its value"]);
}

#[test]
fn patches_become_rules() {
    let patch = |operations: &str| {
        patch::read(format!("{{\"bspkit_patch\": 1, \"operations\": [{operations}]}}").as_bytes()).unwrap()
    };
    let converted = |operations: &str| {
        let rules = Rules::from_patch("p.json", &patch(operations));
        let printed = rules.result.to_stripper();
        assert_eq!(lost(&printed), [""; 0]);
        (String::from_utf8(printed.result).unwrap(), lost(&rules))
    };
    let (text, _) = converted(r#"{"op": "remove", "on": {"match": [{"key": "n", "value": "Lamp"}]}}"#);
    gives(&text, "n=Lamp; n=lamp", "n=lamp");
    let (text, _) = converted(
        r#"{"op": "edit", "on": {"select": "light[n=1]"}, "changes": [{"do": "set", "key": "a", "value": "2"},
        {"do": "unset", "key": "b"}, {"do": "add", "key": "c", "value": "3"}]}"#,
    );
    gives(
        &text,
        "classname=light n=1 a=1 b=5; classname=light n=2",
        "classname=light n=1 a=2 c=3; classname=light n=2",
    );
    // What the patch expects makes it exact, and is matched.
    let (text, _) = converted(
        r#"{"op": "edit", "on": {"index": 7}, "expect": [{"key": "n", "value": "1"}, {"key": "z", "value": null}],
        "changes": [{"do": "set", "key": "n", "value": "2"}, {"do": "set", "key": "z", "value": "3"}]}"#,
    );
    gives(&text, "a=1 n=1 b=1; n=3", "a=1 n=2 b=1 z=3; n=3");
    // The same pair twice, as a match and with its number.
    let (text, _) = converted(
        r#"{"op": "edit", "on": {"match": [{"key": "n", "value": "1"}]}, "expect": [{"key": "n#1", "value": "1"}],
        "changes": [{"do": "set", "key": "a", "value": "2"}]}"#,
    );
    gives(&text, "n=1 a=1; n=2 a=1", "n=1 a=2; n=2 a=1");
    // Another value of the key is another test.
    let other = patch(
        r#"{"op": "remove", "on": {"match": [{"key": "n", "value": "1"}]}, "expect": [{"key": "n#2", "value": "2"}]}"#,
    );
    let printed = Rules::from_patch("p.json", &other).result.to_stripper();
    assert_eq!(String::from_utf8(printed.result).unwrap(), "filter:\n{\n\"n\" \"1\"\n\"n\" \"2\"\n}\n");
    let (text, _) = converted(r#"{"op": "add", "pairs": [{"key": "classname", "value": "x"}]}"#);
    gives(&text, "", "classname=x");
    for (operation, what) in [
        (r#"{"op": "remove", "on": {"index": 3}}"#, "the entity #3 by its index"),
        (r#"{"op": "remove", "on": {"select": "*"}}"#, "all entities"),
        (
            r#"{"op": "remove", "on": {"match": [{"key": "n", "value": "1"}], "nth": 2, "count": 3}}"#,
            "which of equal entities is meant (entity 2 of 3 with `n` `1`)",
        ),
        (r#"{"op": "remove", "on": {"select": "light_*"}}"#, "the selector light_*"),
        (r#"{"op": "move", "on": {"index": 3}, "before": {"index": 2}}"#, "a place among the entities"),
        (r#"{"op": "text", "text": ""}"#, "text with its spacing and comments"),
        (r#"{"op": "add", "pairs": [], "after": {"index": 2}}"#, "the place of an added entity"),
        (
            r#"{"op": "edit", "on": {"select": "a"}, "changes": [{"do": "set", "key": "n#2", "value": "2"}]}"#,
            "the value of `n#2`, one of equal keys",
        ),
        (
            r#"{"op": "edit", "on": {"select": "a"}, "changes": [{"do": "unset", "key": "n#2"}]}"#,
            "the removal of `n#2`, one of equal keys",
        ),
        (
            r#"{"op": "edit", "on": {"select": "a"}, "changes": [{"do": "rename", "key": "n", "to": "m"}]}"#,
            "the new key of `n` without its value",
        ),
    ] {
        let (text, lost) = converted(operation);
        assert_eq!((&text[..], lost), ("", vec![format!("1:1 {what}")]));
    }
}

#[test]
fn text_of_rules_reads_back_as_the_same_rules() {
    let text = "filter:\n{\n\"classname\" \"/^mon/\"\n}\nadd:\n{\n\"classname\" \"a b\"\n}\n\
                modify:\n{\nmatch:\n{\n\"n\" \"1\"\n}\ndelete:\n{\n\"a\" \"/x/\"\n}\nreplace:\n{\n\"b\" \"2\"\n}\ninsert:\n{\n\"c\" \"3\"\n}\n}\n";
    let printed = parse(text, Mode::Plugin).unwrap().to_stripper();
    assert_eq!((String::from_utf8(printed.result).unwrap(), printed.lost.len()), (text.to_owned(), 0));
    // Lumper replaces before it deletes.
    let of = |key: &str| {
        format!(
            "modify:\n{{\nmatch:\n{{\n\"n\" \"1\"\n}}\ndelete:\n{{\n\"{key}\" \"1\"\n}}\nreplace:\n{{\n\"b\" \"2\"\n}}\n}}\n"
        )
    };
    let printed = parse(&of("a"), Mode::Lumper).unwrap().to_stripper();
    assert_eq!((String::from_utf8(printed.result).unwrap(), printed.lost.len()), (of("a"), 0));
    let printed = parse(&of("b"), Mode::Lumper).unwrap().to_stripper();
    assert_eq!(lost(&printed), ["1:1 the order of the steps: the plug-in deletes, then replaces, then inserts"]);
    assert!(printed.result.is_empty());
}

/// Expressions are of bytes in a patch too: one that names a byte that is no UTF-8, and sets that have such bytes.
#[test]
fn an_expression_of_bytes_stays_one_in_a_patch() {
    let text =
        &b"{ \"classname\" \"worldspawn\" }\n{ \"n\" \"caf\xe9\" }\n{ \"n\" \"caf\xc3\xa9\" }\n{ \"n\" \"cafe\" }\n\0"
            [..];
    let kept = |entities: &Entities<'_>| -> Vec<Vec<u8>> {
        entities.iter().filter_map(|entity| entity.get("n").map(<[u8]>::to_vec)).collect()
    };
    let mut removed = 0;
    for expression in [
        &b"^caf.$"[..],
        b"^caf..$",
        b"\\xe9",
        b"f\xe9$",
        b"f\xc3\xa9$",
        b"f[^x]$",
        b"f[\\x80-\\xff]+$",
        b"\\W$",
        b"f\\w$",
        b"\\bf.\\b",
    ] {
        let file = [b"{\n\"n\" \"/", expression, b"/\"\n}"].concat();
        let rules = Rules::parse("r.cfg", &file, Format::Stripper, Mode::Plugin).unwrap();
        let mut ruled = Entities::parse(text, EntityRules::QUAKE2).unwrap();
        rules.apply(&mut ruled, "map").unwrap();
        let converted = rules.to_patch().unwrap();
        assert_eq!(lost(&converted), [""; 0]);
        let patch = patch::read(patch::write(&converted.result).as_bytes()).unwrap();
        let entities = Entities::parse(text, EntityRules::QUAKE2).unwrap();
        // A patch that finds nothing is an error.
        let patched = patch.apply(&entities).map(|text| Entities::parse(text, EntityRules::QUAKE2).unwrap());
        let patched = patched.as_ref().unwrap_or(&entities);
        assert_eq!(kept(patched), kept(&ruled), "{}", expression.escape_ascii());
        removed += 3 - kept(&ruled).len();
    }
    assert!(removed > 9, "{removed}");
}

fn doubts<T>(converted: &bspkit_rules::Converted<T>) -> Vec<(usize, Doubt)> {
    converted.doubts.iter().map(|(at, doubt)| (at.line, *doubt)).collect()
}

fn as_patch(operations: &str) -> bspkit_ops::patch::Patch {
    patch::read(format!("{{\"bspkit_patch\": 1, \"operations\": [{operations}]}}").as_bytes()).unwrap()
}

/// What a patch expects of a key is no longer so after its first change of the key.
#[test]
fn later_changes_of_a_key_do_not_go_by_what_the_patch_expects() {
    let changes = r#"{"op": "edit", "on": {"match": [{"key": "n", "value": "1"}]}, "expect": [{"key": "n", "value": "1"}],
        "changes": [{"do": "unset", "key": "n"}, {"do": "set", "key": "n", "value": "2"}]}"#;
    let rules = Rules::from_patch("p.json", &as_patch(changes));
    let printed = rules.result.to_stripper();
    assert_eq!((lost(&rules), lost(&printed)), (Vec::new(), Vec::new()));
    gives(&String::from_utf8(printed.result).unwrap(), "n=1 a=1; n=2", "a=1 n=2; n=2");
}

/// Selectors ignore the case of classes, but not that of values.
#[test]
fn a_class_keeps_that_its_case_does_not_matter() {
    for (select, after) in [("LIGHT", ""), ("[classname=light]", "classname=Light")] {
        let patch = as_patch(&format!(r#"{{"op": "remove", "on": {{"select": "{select}"}}}}"#));
        let printed = Rules::from_patch("p.json", &patch).result.to_stripper();
        gives(&String::from_utf8(printed.result).unwrap(), "classname=light; classname=Light", after);
    }
}

/// The plug-in does not see pairs with an empty value.
#[test]
fn a_patch_of_rules_leaves_out_empty_values() {
    let text = "filter:\n{\n\"n\" \"/^a*$/\"\n}\nmodify:\n{\nmatch:\n{\n\"classname\" \"x\"\n}\nreplace:\n{\n\"m\" \"1\"\n}\n}\n";
    let before = "classname=x n= m=; classname=x n=b m=2; classname=x n=aa";
    let rules = parse(text, Mode::Plugin).unwrap();
    let patch = rules.to_patch().unwrap().result;
    let entities = Entities::parse(map(before).into_bytes(), EntityRules::QUAKE2).unwrap();
    let patched = Entities::parse(patch.apply(&entities).unwrap(), EntityRules::QUAKE2).unwrap();
    assert_eq!(short(&patched), applied(text, before, Mode::Plugin));
    let other = read("r.ini", "filter: { \"empty\" \"/.*/\" }").unwrap();
    let said = [(1, Doubt::Repeated), (1, Doubt::Empty), (1, Doubt::Case)];
    assert_eq!(doubts(&other.to_stripper()), said);
}

#[test]
fn what_depends_on_the_map_is_a_doubt() {
    let class = "\"classname\" \"x\"\n";
    let filter = |test: &str| format!("filter:\n{{\n{test}}}\n");
    let add = |pairs: &str| format!("add:\n{{\n{pairs}}}\n");
    let modify =
        |test: &str, step: &str, pair: &str| format!("modify:\n{{\nmatch:\n{{\n{test}}}\n{step}:\n{{\n{pair}}}\n}}\n");
    let of = |text: String| doubts(&parse(&text, Mode::Plugin).unwrap().to_patch().unwrap());
    assert_eq!(of(filter(class) + &add(class)), []);
    assert_eq!(of(filter(&format!("{class}\"a\" \"1\"\n"))), [(2, Doubt::Repeated)]);
    assert_eq!(of(modify(class, "replace", "\"a\" \"1\"\n")), [(1, Doubt::Repeated)]);
    assert_eq!(of(modify(class, "insert", "\"a\" \"1\"\n")), []);
    // A rule about what an earlier one adds or writes.
    assert_eq!(of(add(class) + &filter(class)), [(6, Doubt::Order)]);
    assert_eq!(of(add("\"classname\" \"y\"\n") + &filter(class)), []);
    let insert = |test: &str| modify(test, "insert", "\"a\" \"1\"\n");
    assert_eq!(of(insert(class) + &insert("\"A\" \"2\"\n")), [(12, Doubt::Order)]);
    assert_eq!(of(insert(class) + &insert("\"b\" \"2\"\n")), []);

    let edit = |pair: &str, key: &str| {
        format!(
            r#"{{"op": "edit", "on": {{"match": [{{"key": "{pair}", "value": "1"}}]}}, "changes": [{{"do": "add", "key": "{key}", "value": "1"}}]}}"#
        )
    };
    let of = |operations: String| doubts(&Rules::from_patch("p.json", &as_patch(&operations)));
    assert_eq!(of(edit("a", "b")), []);
    assert_eq!(of(edit("a", "b") + "," + &edit("b", "c")), [(2, Doubt::Order)]);
    assert_eq!(
        of(edit("a", "b").replace(r#""add", "key": "b", "value": "1""#, r#""unset", "key": "b""#)),
        [(1, Doubt::Empty)]
    );
    assert_eq!(
        of(r#"{"op": "remove", "on": {"select": "x[n]"}}"#.to_owned()),
        [(1, Doubt::Repeated), (1, Doubt::Empty)]
    );

    let of = |name: &str, text: &str| doubts(&read(name, text).unwrap().to_stripper());
    assert_eq!(
        of("r.ini", "replace: { \"a\" \"1\" } with: { \"b\" \"2\" }"),
        [(1, Doubt::Repeated), (1, Doubt::Empty), (1, Doubt::Case)]
    );
    let both = [(1, Doubt::Repeated), (1, Doubt::Case)];
    assert_eq!(of("r.rule", "{\nmatch a 1\nreplace b 2\n}\n"), both);
    assert_eq!(of("r.rule", "{\nmatch a 1\nremove-entity\n}\n"), both);
    assert_eq!(of("r.rule", "{\nnew-entity a\nnew b 2\n}\n"), []);
    assert_eq!(of("r.jsonc", r#"{"filter": [{"a": "1"}]}"#), []);
    let named = read("r.rule", "{\nmatch a 1\nreplace Speed 2\n}\n").unwrap().to_stripper();
    assert_eq!(lost(&named), ["3:1 the case of the key `Speed`"]);
}

/// Of equal keys to replace the plug-in takes the first one, and Lumper the last.
#[test]
fn equal_keys_to_replace_are_converted() {
    let text = "modify:\n{\nmatch:\n{\n\"n\" \"1\"\n}\nreplace:\n{\n\"a\" \"1\"\n\"a\" \"2\"\n}\n}\n";
    let entities = Entities::parse(map("n=1 a=0").into_bytes(), EntityRules::QUAKE2).unwrap();
    let patch = parse(text, Mode::Plugin).unwrap().to_patch().unwrap().result;
    let patched = Entities::parse(patch.apply(&entities).unwrap(), EntityRules::QUAKE2).unwrap();
    assert_eq!(short(&patched), "n=1 a=1");
    assert_eq!(applied(text, "n=1 a=0", Mode::Plugin), "n=1 a=1");
    for mode in [Mode::Lumper, Mode::Plugin] {
        let printed = parse(text, mode).unwrap().to_stripper();
        let printed = String::from_utf8(printed.result).unwrap();
        assert_eq!(applied(&printed, "n=1 a=0", Mode::Plugin), applied(text, "n=1 a=0", mode), "{printed}");
    }
}

/// Each test holds by itself where pairs are not counted.
#[test]
fn the_count_of_pairs_is_a_doubt_for_every_mode() {
    let text = "filter:\n{\n\"a\" \"1\"\n\"b\" \"2\"\n}\n";
    for (mode, doubts) in [(Mode::Plugin, 0), (Mode::Strict, 1), (Mode::Lumper, 1)] {
        let converted = parse(text, mode).unwrap().to_stripper();
        let repeated = converted.doubts.iter().filter(|(_, doubt)| *doubt == Doubt::Repeated).count();
        assert_eq!(repeated, doubts, "{mode:?}");
    }
}

/// Lumper's expressions are those of .NET, without the last letter before the slash. One that PCRE reads in another way is written as PCRE has it, or said.
#[test]
fn expressions_of_lumper_mean_the_same_in_the_plug_in() {
    let of = |inside: &str| {
        let text = format!("filter:\n{{\n\"n\" \"/{inside}./\"\n}}\n");
        let printed = parse(&text, Mode::Lumper).unwrap().to_stripper();
        (String::from_utf8(printed.result.clone()).unwrap(), lost(&printed).len())
    };
    assert_eq!(of("^a{2}$"), ("filter:\n{\n\"n\" \"/^a{2}$/\"\n}\n".into(), 0));
    // To .NET these are letters, and versions of PCRE do not agree.
    let (printed, count) = of("a{,2}");
    assert!(count == 1 || applied(&printed, "n=a{,2}; n=aa", Mode::Plugin) == "n=aa", "{printed}");
    // A class in a set of PCRE, and letters in a set of .NET.
    let (printed, count) = of("^[[:alpha:]]$");
    let left = applied(&printed, "n=a]; n=b", Mode::Plugin);
    assert!(count == 1 || left == "n=b", "{printed} {left}");
}

/// Where the case of a key matters, and where only the last of equal keys counts, the result does more on some maps.
#[test]
fn the_case_of_keys_and_equal_keys_are_a_doubt() {
    let run = |rules: &Rules, before: &str| {
        let text = map(before);
        let mut entities = Entities::parse(text.as_bytes(), EntityRules::QUAKE2).unwrap();
        rules.apply(&mut entities, "map").unwrap();
        short(&entities)
    };
    let both = [Doubt::Repeated, Doubt::Case];
    for (name, text, before, after, said) in [
        ("r.ini", "filter: { \"a\" \"x\" }", "a=x a=y", "a=x a=y", &both[..]),
        ("r.ini", "filter: { \"a\" \"x\" }", "A=x", "A=x", &both),
        ("r.rule", "{ match a x remove-entity }", "a=x a=y; A=x", "a=x a=y; A=x", &both),
        (
            "r.jsonc",
            r#"{"filter":[{"io":[{"outputname":"OnA","targetname":"x"}]}]}"#,
            "ONA=x,Open,,0,-1",
            "ONA=x,Open,,0,-1",
            &both[1..],
        ),
    ] {
        let rules = read(name, text).unwrap();
        assert_eq!(run(&rules, before), after, "{text}");
        let (stripper, patch) = (rules.to_stripper(), rules.to_patch().unwrap());
        assert_eq!((lost(&stripper), lost(&patch)), (Vec::new(), Vec::new()));
        for doubts in [&stripper.doubts, &patch.doubts] {
            assert_eq!(doubts.iter().map(|(_, doubt)| *doubt).collect::<Vec<_>>(), said, "{name} {text}");
            assert!(doubts.iter().all(|(_, doubt)| !doubt.to_string().contains("Stripper")), "{doubts:?}");
        }
        // That is what the doubt is about.
        let other = parse(&String::from_utf8(stripper.result).unwrap(), Mode::Plugin).unwrap();
        assert_eq!(run(&other, before), "", "{text}");
    }
    // Keys of any case, of which all values count: nothing is in doubt.
    let rules = read("r.jsonc", r#"{"filter":[{"a":"x"}]}"#).unwrap();
    assert_eq!((rules.to_stripper().doubts, rules.to_patch().unwrap().doubts), (Vec::new(), Vec::new()));
    // What is removed has a key, too.
    let rules = read("r.ini", "replace: { \"a\" \"x\" } with: { \"Model\" \"\" }").unwrap();
    assert_eq!(lost(&rules.to_stripper()), ["1:38 the case of the key `Model`"]);
}
