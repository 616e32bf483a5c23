//! The formats beside Stripper:Source: stripper_qmm, Lazyripent2 and StripperCS2.

use bspkit_rules::apply;
use bspkit_rules::files as rules;

use super::*;

pub(super) fn read(name: &str, text: &str) -> bspkit::Result<Rules> {
    let rules = rules::read(name, text.as_bytes(), rules::detect(name, text.as_bytes()), Mode::Plugin);
    rules.refusal().map_or(Ok(rules), Err)
}

/// What the rules make of a map, or the error.
fn run(name: &str, text: &str, before: &str) -> Result<String, String> {
    let say = |error: bspkit::Error| {
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
        format!("{error}{cause}")
    };
    let text = read(name, text).map_err(say)?;
    let map = map(before);
    let mut entities = Entities::parse(map.as_bytes(), EntityRules::QUAKE2).unwrap();
    apply([&text], &mut entities, "dm1").map_err(say)?;
    Ok(short(&entities))
}

#[track_caller]
fn becomes(name: &str, text: &str, before: &str, after: &str) {
    assert_eq!(run(name, text, before).as_deref(), Ok(after), "{text}");
}

#[track_caller]
fn fails(name: &str, text: &str, before: &str, why: &str) {
    assert_eq!(
        run(name, text, before).map_err(|error| error[..why.len().min(error.len())].to_owned()),
        Err(why.to_owned()),
        "{text}"
    );
}

#[test]
fn qmm_filters_with_case_and_absent_keys() {
    becomes(
        "r.ini",
        "filter: { \"classname\" \"light\" \"n\" \"\" }",
        "classname=light; classname=Light; classname=light n=1",
        "classname=Light; classname=light n=1",
    );
    // An expression has to match all of the value, with its case.
    becomes(
        "r.ini",
        "{ classname /door_.*/ }",
        "classname=door_1; classname=Door_1; classname=a_door_1",
        "classname=Door_1; classname=a_door_1",
    );
    // An empty filter is ignored; each pair of it needs its own one.
    becomes("r.ini", "filter: { } { \"a\" \"1\" \"b\" \"1\" }", "a=1 b=1; a=1 a=1", "a=1 a=1");
}

#[test]
fn qmm_adds_and_replaces() {
    becomes(
        "r.ini",
        "add:\n{\n\"classname\" \"a\"\n\"n\" \"1\"\n}\nfilter: { \"n\" \"1\" }",
        "classname=b",
        "classname=b",
    );
    becomes("r.ini", "add: { \"n\" \"1\" }", "", "");
    // `with` is for all masks since the last one; it sets, adds and removes.
    let text = "replace: { \"classname\" \"a\" } { \"classname\" \"b\" } with: { \"n\" \"2\" \"m\" \"\" } with: { \"n\" \"3\" }";
    becomes(
        "r.ini",
        text,
        "classname=a n=1 m=1; classname=b; classname=c",
        "classname=a n=2; classname=b n=2; classname=c",
    );
    becomes("r.ini", "replace: { } with: { \"g\" \"ffa\" }", "classname=a g=1; b=1", "classname=a g=ffa; b=1 g=ffa");
}

#[test]
fn qmm_files_of_older_versions_have_lines() {
    let text = "\u{feff}; of version 2.4\r\nFilter:\r\n{\r\n\tclassname=item_armor_shard\r\n  origin=1120 2092 16\r\n}\r\n\
                // masks\r\nreplace:\r\n{\r\nclassname=/weapon_.*/\r\nspawnflags=\r\n}\r\nwith:\r\n{\r\n\
                classname=weapon_rail\r\nn=a=b {c}\r\n}\r\nadd:\r\n{\r\nn=1\r\nclassname=x\r\n}\r\n";
    becomes(
        "r.ini",
        text,
        "classname=item_armor_shard origin=1120~2092~16; classname=weapon_a; classname=weapon_a spawnflags=1",
        "classname=weapon_rail n=a=b~{c}; classname=weapon_a spawnflags=1; n=1 classname=x",
    );
    // A replacement without a mask is for all entities; lines of no use are ignored, and found.
    becomes("r.ini", "}\nx\nreplace:\n{\n{\n}\nwith:\n{\ny\nn=2\n}\n", "a=1", "a=1 n=2");
    let rules = read("r.ini", "}\nx\n{\ny\nn=1\n{\n}\n").unwrap();
    let found: Vec<String> = rules.findings.iter().map(|found| found.at.to_string()).collect();
    assert_eq!(found, ["1:1", "2:1", "4:1", "6:1"]);
    fails("r.ini", "{\na=1\n", "", "r.ini:1:1: the block is not closed");
    // With quotes it is a file of version 2.5.
    fails("r.ini", "{\n\"a\" \"1\"\nb=1\n}\n", "", "r.ini:3:1: a pair \"key\" \"value\" was expected");
}

#[test]
fn qmm_says_what_it_does_not_read() {
    fails(
        "r.ini",
        "; a\nfilter:",
        "",
        "r.ini:1:1: filter:, add:, replace:, with: or `{` was expected instead of `;`; there are no comments since version 2.5",
    );
    fails(
        "r.ini",
        "filter:\n{\n \"a\" \"1\" classname=light\n}",
        "",
        "r.ini:3:10: a pair \"key\" \"value\" was expected instead of `classname=light`; since version 2.5",
    );
    fails("r.ini", "filter: { \"a\"", "", "r.ini:1:11: a pair");
    fails("r.ini", "filter: { \"a\" \"b", "", "r.ini:1:15: a closing quote was expected");
    fails("r.ini", "filter: { \"a\" \"1\"", "", "r.ini:1:9: the block is not closed");
    fails("r.ini", "add: { \"classname\" \"a\" \"n\" \"\" }", "", "r.ini:1:28: the value of an added entity is empty");
    fails("r.ini", "{ \"a\" \"/(/\" }", "", "r.ini:1:9: the regular expression /(/ cannot be used");
    fails("r.ini", "add: { \"classname\" \"worldspawn\" }", "", "r.ini:1:6: a worldspawn before all other entities");
}

#[test]
fn lazyripent_selects_and_acts() {
    let before = "classname=light light=100; classname=light; classname=Light light=1";
    becomes(
        "r.rule",
        "# x\n{ match classname light have light replace light 200 }",
        before,
        "classname=light light=200; classname=light; classname=Light light=1",
    );
    becomes("r.rule", "{ have n dont-match n 1 remove-entity }", "n=1; a=1; n=2", "n=1; a=1");
    // What does not have the key is not selected.
    becomes("r.rule", "{ dont-match n 1 remove-entity }", "n=1; a=1; n=2", "n=1; a=1");
    // Numbers without quotes are numbers; comments end words.
    becomes(
        "r.rule",
        "\u{feff}{ have n#x\n replace n 100.50//y\n new m -0.5 new k \"1.0\" }",
        "n=1",
        "n=100.5 m=-0.5 k=1.0",
    );
    becomes(
        "r.rule",
        "{ match classname light dont-have light new light \"1 2\" }",
        before,
        "classname=light light=100; classname=light light=1~2; classname=Light light=1",
    );
    becomes(
        "r.rule",
        "{ have light rename light _light }",
        before,
        "classname=light _light=100; classname=light; classname=Light _light=1",
    );
    becomes("r.rule", "{ have light remove light }", before, "classname=light; classname=light; classname=Light");
    // Only for some maps.
    becomes("r.rule", "map dm2 dm3 { have light remove light }", "light=1", "light=1");
    becomes("r.rule", "map dm1 { have light remove light }", "light=1 a=1", "a=1");
}

#[test]
fn lazyripent_calculates() {
    let with = |act: &str, value: &str| run("r.rule", &format!("{{ have n {act} }}"), &format!("n={value}"));
    for (act, before, after) in [
        ("add n 100", "5", "n=105"),
        ("sub n 1", "0.5", "n=-0.5"),
        ("mult n 1.5", "3", "n=4.5"),
        ("div n 4", "1", "n=0.25"),
        ("bit-set n b000101", "2", "n=7"),
        ("bit-clear n b000101", "7", "n=2"),
        ("bit-set n b100000", "64", "n=96"),
        ("replace n \"{n} and {n}\"", "1", "n=1~and~1"),
        ("replace n \"\\{n}\"", "1", "n={n}"),
    ] {
        assert_eq!(with(act, before).as_deref(), Ok(after), "{act}");
    }
    for (act, before, why) in [
        ("add n 1", "x", "#1: the value `x` of `n` is not a number (line 1)"),
        ("div n 0", "1", "#1: the result for `n` is not a number (line 1)"),
        ("bit-set n b000001", "1.5", "#1: the value `1.5` of `n` is not a whole number (line 1)"),
        ("replace m 1", "1", "#1: the entity has no key `m` (line 1)"),
        ("new n 2", "1", "#1: the entity has the key `n` already (line 1)"),
        ("replace n \"{m}\"", "1", "#1: `{m}` is not known (line 1)"),
    ] {
        assert_eq!(with(act, before), Err(format!("the rule at r.rule:1:1 cannot be applied: {why}")));
    }
}

#[test]
fn lazyripent_stores_and_adds() {
    let text = "{ match classname a store n last } { match classname b replace n \"{global.last}\" }";
    becomes(
        "r.rule",
        text,
        "classname=a n=1; classname=a n=2; classname=b n=0",
        "classname=a n=1; classname=a n=2; classname=b n=2",
    );
    // A value of an entity that is removed.
    becomes(
        "r.rule",
        "{ match classname a remove-entity store n last } { have m replace m \"{global.last}\" }",
        "classname=a n=1; m=0",
        "m=1",
    );
    // Each action on all entities, then the next one.
    becomes("r.rule", "{ match c a store n v replace n \"{global.v}\" }", "c=a n=1; c=a n=2", "c=a n=2; c=a n=2");
    becomes("r.rule", "{ new-entity info_null new n 1 }", "a=1", "a=1; classname=info_null n=1");
    becomes(
        "r.rule",
        "{ match classname a new-entity b new n \"{n}\" }",
        "classname=a n=1; classname=a n=2",
        "classname=a n=1; classname=a n=2; classname=b n=1; classname=b n=2",
    );
    // What doubles each time ends.
    let bomb = "{ have classname new-entity a } ".repeat(30);
    fails("r.rule", &bomb, "classname=a", "the rule at r.rule:1:");
    // So does what each rule makes longer.
    let insert = format!("\"n\" \"{}\"\n", "y".repeat(200)).repeat(1000);
    let bomb = format!("modify:\n{{\nmatch:\n{{\n}}\ninsert:\n{{\n{insert}}}\n}}\n").repeat(300);
    fails("r.cfg", &bomb, "a=1; a=1", "the rule at r.cfg:");
}

#[test]
fn lazyripent_says_what_it_does_not_read() {
    fails("r.rule", "{ match a b }", "", "r.rule:1:1: the block has no action");
    fails("r.rule", "{ remove a }", "", "r.rule:1:1: the block has no selector, so it would match every entity");
    fails(
        "r.rule",
        "{ match a b remove-entity remove c }",
        "",
        "r.rule:1:1: a block with remove-entity can have no other actions than store",
    );
    fails("r.rule", "{ match a \"{b}\" remove a }", "", "r.rule:1:9: a selector whose value refers to a key");
    fails(
        "r.rule",
        "{ new-entity a replace b c }",
        "",
        "r.rule:1:16: a block with new-entity cannot replace or remove keys",
    );
    fails("r.rule", "{\n match a\n}", "", "r.rule:2:2: a value was expected after `match`");
    fails("r.rule", "{ matches a b }", "", "r.rule:1:3: `matches` is not a selector or action: match,");
    fails("r.rule", "{ have n bit-set n 5 }", "", "r.rule:1:20: b and six digits 0 or 1");
    fails("r.rule", "{ have n add n x }", "", "r.rule:1:16: a number was expected");
    fails("r.rule", "maps a { }", "", "r.rule:1:1: `{` or `map` was expected");
    fails("r.rule", "{ have n remove n", "", "r.rule:1:1: the block is not closed");
}

#[test]
fn cs2_filters_adds_and_modifies_in_this_order() {
    let text = "// x\n{ \"$schema\": \"s\", \"add\": [ { \"classname\": \"new\" } ], /* \"y\" */\n\"filter\": [ { \"classname\": \"light\" } ],\n\
                \"filter\": [ { \"n\": \"/^A/\" } ], \"modify\": [ { \"match\": { \"classname\": \"new\" }, \"insert\": { \"a\": \"//1\" } } ] }";
    becomes(
        "r.jsonc",
        text,
        "classname=light; classname=Light; n=abc; classname=b",
        "classname=Light; classname=b; classname=new a=//1",
    );
    let modify = |parts: &str| format!("{{\"modify\": [{{\"match\": {{\"c\": \"a\"}}, {parts}}}]}}");
    becomes(
        "r.jsonc",
        &modify("\"replace\": {\"n\": \"2\", \"m\": \"3\"}, \"delete\": {\"n\": \"2\"}"),
        "c=a n=1; c=b n=1",
        "c=a m=3; c=b n=1",
    );
    becomes("r.jsonc", &modify("\"insert\": {\"n\": \"2\"}"), "c=a n=1; c=a", "c=a n=2; c=a n=2");
}

#[test]
fn cs2_outputs_are_pairs_of_source() {
    let io = |what: &str| format!("{{\"modify\": [{{\"match\": {{\"c\": \"a\"}}, {what}}}]}}");
    let delete = io("\"delete\": {\"io\": [{\"outputname\": \"OnUse\", \"inputname\": \"Open\", \"delay\": 1}]}");
    becomes(
        "r.jsonc",
        &delete,
        "c=a OnUse=d,Open,,1,-1 OnUse=d,Open,,1.00,1 OnUse=d,Open,,10,1 OnUse=d,Close,,1,1",
        "c=a OnUse=d,Open,,10,1 OnUse=d,Close,,1,1",
    );
    let insert = io(
        "\"insert\": {\"io\": [{\"outputname\": \"OnUse\", \"targetname\": \"d\", \"inputname\": \"Open\", \"delay\": 0.5}]}",
    );
    becomes("r.jsonc", &insert, "c=a OnUse=x,Y,,0,-1", "c=a OnUse=x,Y,,0,-1 OnUse=d,Open,,0.5,-1");
    let filter = "{\"filter\": [{\"io\": [{\"outputname\": \"OnUse\", \"targetname\": \"d.r\"}]}]}";
    becomes("r.jsonc", filter, "OnUse=d.r,Open,,0,1; OnUse=dxr,Open,,0,1", "OnUse=dxr,Open,,0,1");
    // Outputs of newer games are divided by byte 27.
    let text = "{ \"classname\" \"worldspawn\" }\n{ \"OnUse\" \"d.r\x1bOpen\x1b\x1b0\x1b1\" }\n\0";
    let mut entities = Entities::parse(text.as_bytes(), EntityRules::SOURCE).unwrap();
    entities.for_any_engine();
    assert_eq!(apply([&read("r.jsonc", filter).unwrap()], &mut entities, "").unwrap().rules[0].count, 1);
}

#[test]
fn cs2_says_what_it_does_not_read() {
    fails("r.jsonc", "{ \"filter\": [\n  { \"a\" } ] }", "", "r.jsonc:2:9: ");
    fails(
        "r.jsonc",
        "{\n\"filters\": [] }",
        "",
        "r.jsonc:2:12: there is no `filters` here: filter, add and modify are known",
    );
    fails("r.jsonc", "{ \"filter\": [ 1 ] }", "", "r.jsonc:1:15: an object was expected");
    fails("r.jsonc", "{ \"filter\": [ { \"a\": 1 } ] }", "", "r.jsonc:1:22: a string was expected");
    fails(
        "r.jsonc",
        "{ \"filter\": [ { \"a\": \"/(/\" } ] }",
        "",
        "r.jsonc:1:24: the regular expression /(/ cannot be used",
    );
    fails(
        "r.jsonc",
        "{ \"filter\": [ { \"io\": [ { \"targettype\": 7, \"outputname\": \"a\" } ] } ] }",
        "",
        "r.jsonc:1:41: `targettype` is of Source 2 only",
    );
    for (list, what, why) in [
        ("add", r#"{"io":[{"targetname":"a"}]}"#, "r.jsonc:1:16: `outputname` is missing"),
        (
            "filter",
            r#"{"io":{"outputname":"a"}}"#,
            "r.jsonc:1:18: `io` is not a list, and StripperCS2 reads nothing else",
        ),
        ("filter", r#"{"io":[{"targetname":1}]}"#, "r.jsonc:1:33: a string was expected"),
        ("filter", r#"{"io":[{"delay":"1"}]}"#, "r.jsonc:1:28: a number was expected"),
        ("filter", r#"{"io":[{"delay":1e99}]}"#, "r.jsonc:1:28: a number was expected"),
        ("filter", r#"{"io":[{"timestofire":1e10}]}"#, "r.jsonc:1:34: a number was expected that is not too large"),
        ("filter", r#"{"io":[{"outputname":"/./"}]}"#, "r.jsonc:1:33: versions of StripperCS2 differ: "),
        ("add", r#"{"io":[{"outputname":"a","targetname":"/b/"}]}"#, "r.jsonc:1:47: versions of StripperCS2 differ: "),
        (
            "add",
            r#"{"io":[{"outputname":"a","overrideparam":"b,c"}]}"#,
            "r.jsonc:1:16: the part `b,c` of an output has a comma",
        ),
    ] {
        fails("r.jsonc", &format!("{{\"{list}\":[{what}]}}"), "", why);
    }
}

#[test]
fn formats_are_detected_and_examples_are_read() {
    for (name, text, format) in [
        ("a.cfg", "", Format::Stripper),
        ("a.INI", "", Format::Qmm),
        ("a.rule", "", Format::Lazyripent),
        ("a", "{ \"filter\": [] }", Format::Cs2),
        ("a", "{\n\"classname\" \"x\"", Format::Stripper),
        ("a.json", "", Format::Cs2),
    ] {
        assert_eq!(rules::detect(name, text.as_bytes()), format, "{name}");
    }
    for name in ["triggers.rule", "quake3.ini", "clean.jsonc"] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/rules").join(name);
        let rules = read(name, &std::fs::read_to_string(path).unwrap()).unwrap();
        assert!(rules.findings.is_empty() && !rules.rules.is_empty(), "{name}");
    }
}

#[test]
fn rules_of_one_format_are_written_as_stripper() {
    let stripper = |name: &str, text: &str| {
        let printed = read(name, text).unwrap().to_stripper();
        (String::from_utf8(printed.result).unwrap(), printed.lost.into_iter().map(|(_, what)| what).collect::<Vec<_>>())
    };
    let (text, lost) = stripper("r.ini", "filter: { \"classname\" \"/a.*/\" \"n\" \"Lamp\" }");
    assert_eq!(
        (&text[..], lost.len()),
        ("filter:\n{\n\"classname\" \"/(?-i)\\A(?:a[^\\r\\n]*)\\z/\"\n\"n\" \"/(?-i)\\ALamp\\z/\"\n}\n", 0)
    );
    gives(
        &text,
        "classname=ab n=Lamp; classname=ab n=lamp; classname=xa n=Lamp",
        "classname=ab n=lamp; classname=xa n=Lamp",
    );
    let (text, _) = stripper("r.rule", "{ match classname a replace n 2 }");
    gives(&text, "classname=a n=1; classname=b n=1", "classname=a n=2; classname=b n=1");
    assert_eq!(stripper("r.ini", "{ \"n\" \"\" \"a\" \"1\" }").1, ["a test that no `n` may pass"]);
    assert_eq!(stripper("r.rule", "{ have n add n 1 }").1, ["actions that calculate or refer to values"]);
    assert_eq!(
        stripper("r.rule", "map a { have n remove n }").1,
        ["the rule is for some maps only; put it into files of their names: a"]
    );
}

/// What the other side does not take for the same is named; what is the same is written once.
#[test]
fn what_counts_differently_is_named() {
    let lost = |name: &str, text: &str| {
        let rules = read(name, text).unwrap();
        let named = |lost: Vec<(bspkit_rules::At, String)>| lost.into_iter().map(|(_, what)| what).collect::<Vec<_>>();
        (named(rules.to_patch().unwrap().lost), named(rules.to_stripper().lost))
    };
    let counted = "two tests of `light`: the plug-in counts the pairs that pass any of them";
    let (patch, stripper) = lost("r.cfg", "filter:\n{\n\"light\" \"/8/\"\n\"Light\" \"/9/\"\n}\n");
    assert_eq!((&patch[..], &stripper[..]), (&[counted.replace("light", "Light")][..], &[][..]));
    let (_, stripper) = lost("r.rule", "{\nmatch light 2\nmatch light 3\nremove-entity\n}\n");
    assert_eq!(stripper, [counted]);
    let (patch, stripper) = lost("r.ini", "filter: { \"LIGHT\" \"8\" }");
    assert_eq!((&patch, &stripper), (&vec!["the case of the key `LIGHT`".to_owned()], &patch));

    let twice = read("r.rule", "{\nmatch light 2\nmatch light 2\nremove-entity\n}\n").unwrap().to_stripper();
    assert_eq!(twice.lost, []);
    let text = String::from_utf8(twice.result).unwrap();
    assert_eq!(run("r.cfg", &text, "light=2; light=3").as_deref(), Ok("light=3"));
}

/// An expression of stripper_qmm keeps its case in a patch.
#[test]
fn a_patch_keeps_the_case_of_an_expression() {
    let patch = read("r.ini", "filter: { \"classname\" \"/l.*/\" }").unwrap().to_patch().unwrap();
    assert_eq!(patch.lost, []);
    let text = map("classname=light; classname=Light; classname=xlight");
    let entities = Entities::parse(text.as_bytes(), EntityRules::QUAKE2).unwrap();
    let patched = Entities::parse(patch.result.apply(&entities).unwrap(), EntityRules::QUAKE2).unwrap();
    assert_eq!(short(&patched), "classname=Light; classname=xlight");
}

/// StripperCS2 reads no object where it wants a list; a name of a map counts with its case in Lazyripent2.
#[test]
fn what_the_other_programs_do_not_read_is_refused_or_left_out() {
    fails(
        "r.jsonc",
        r#"{"filter": {"a": "1"}}"#,
        "",
        "r.jsonc:1:12: `filter` is not a list, and StripperCS2 reads nothing else there",
    );
    let rules = read("r.rule", "map Dm1 {\nmatch a 1\nremove-entity\n}\n").unwrap();
    for (name, left) in [("Dm1", 1), ("dm1", 2)] {
        let text = map("a=1");
        let mut entities = Entities::parse(text.as_bytes(), EntityRules::QUAKE2).unwrap();
        rules.apply(&mut entities, name).unwrap();
        assert_eq!(entities.len(), left, "{name}");
    }
}

/// Both programs keep one value for each key of an entity: the last one.
#[test]
fn the_last_of_equal_keys_counts() {
    becomes("r.ini", "{ \"a\" \"1\" }", "a=1 a=2; a=2 a=1", "a=1 a=2");
    becomes("r.ini", "replace: { \"a\" \"2\" } with: { \"b\" \"3\" }", "a=1 a=2; a=2 a=1", "a=1 a=2 b=3; a=2 a=1");
    becomes("r.rule", "{ match a 1 remove-entity }", "a=1 a=2; a=2 a=1", "a=1 a=2");
    becomes("r.rule", "{ dont-match a 1 remove-entity }", "a=1 a=2; a=2 a=1; b=1", "a=2 a=1; b=1");
    becomes("r.rule", "{ have a replace a 5 }", "a=1 b=1 a=2; A=1 a=2", "b=1 a=5; A=1 a=5");
    becomes("r.rule", "{ have a rename a b }", "a=1 a=2", "b=2");
    becomes("r.rule", "{ have a add a 5 }", "a=1 a=2", "a=7");
    becomes("r.rule", "{ have a bit-set a b000001 }", "a=8 a=2", "a=3");
    becomes(
        "r.rule",
        "{ have a store a x } { have a new b \"{global.x}\" new c \"{a}\" }",
        "a=1 a=2",
        "a=1 a=2 b=2 c=2",
    );
    fails("r.rule", "{ have a rename a b }", "a=1 a=2 b=1", "the rule at r.rule:1:1 cannot be applied");
    fails("r.rule", "{ new-entity bar new classname foo }", "a=1", "r.rule:1:18: the added entity has the key");
}

#[test]
fn the_last_of_equal_keys_of_a_qmm_block_counts() {
    let text = "filter:\n{\na=1\na=2\n}\nadd:\n{\nclassname=x\nb=1\nb=2\n}\n";
    becomes("r.ini", text, "a=1; a=2", "a=1; classname=x b=2");
    let rules = read("r.ini", text).unwrap();
    let found: Vec<_> = rules.findings.iter().map(|found| (found.code.name, found.at.line)).collect();
    assert_eq!(found, [("rule-repeated", 3), ("rule-repeated", 9)]);
}

/// Lazyripent2 makes `angles` of `angle` before its rules.
#[test]
fn rules_that_name_angles_are_in_doubt() {
    let found = |text: &str| {
        let rules = read("r.rule", text).unwrap();
        rules.findings.iter().map(|found| (found.code.name, found.at.to_string())).collect::<Vec<_>>()
    };
    assert_eq!(found("{ have angle remove-entity }"), [("rule-angles", "1:8".into())]);
    assert_eq!(found("{ match a 1 replace angles \"0 90 0\" }"), [("rule-angles", "1:13".into())]);
    assert_eq!(found("{ match a 1 replace n 2 }\n{ new-entity foo new angles \"0 90 0\" }"), []);
}

/// Lazyripent2 reads values once more as words of its files, in which comments begin with `#` and `//`.
#[test]
fn values_with_comments_are_in_doubt() {
    let found = |text: &str| {
        let rules = read("r.rule", text).unwrap();
        rules.findings.iter().map(|found| (found.code.name, found.at.to_string())).collect::<Vec<_>>()
    };
    assert_eq!(found("{ match a \"b#c\" remove-entity }"), [("rule-comment", "1:9".into())]);
    assert_eq!(found("{ have a replace b \"http://c\" }"), [("rule-comment", "1:10".into())]);
    assert_eq!(found("{ new-entity a new b \"#\" }"), [("rule-comment", "1:16".into())]);
    assert_eq!(found("{ have a new-entity b new c \"//\" }"), [("rule-comment", "1:23".into())]);
    assert_eq!(found("{ have \"a#\" replace b \"c/d\" rename b \"#c\" store a \"//\" } # comment"), []);
}

/// Whole numbers of up to nine digits have no exponent, as .NET prints them.
#[test]
fn numbers_are_printed_as_the_tool_prints_them() {
    let numbers = "0.0001=0.0001 0.00001=1E-05 0.000012345=1.2345E-05 -0.00001=-1E-05 123456789=123456790 1000000000=1E+09 3000000000.0=3E+09 2147483647=2.1474836E+09 \
                   -2147483647=-2.1474836E+09 16777217=16777216 0.1=0.1 -0=-0 007=7";
    for (written, is) in numbers.split_whitespace().map(|pair| pair.split_once('=').unwrap()) {
        becomes("r.rule", &format!("{{ have a replace a {written} }}"), "a=x", &format!("a={is}"));
    }
    becomes("r.rule", "{ have a div a 100000 }", "a=1", "a=1E-05");
    becomes("r.rule", "{ have a mult a 100000 }", "a=100000", "a=1E+10");
}

/// A template of `replace` is for the outputs that `match` found, which keep what it does not give and go after the
/// others (`ApplyMapOverride` of StripperCS2).
#[test]
fn cs2_replaces_parts_of_the_outputs_that_match() {
    let modify =
        |on: &str, new: &str| format!(r#"{{"modify":[{{"match":{{"io":[{on}]}},"replace":{{"io":{new}}}}}]}}"#);
    let before = "OnTrigger=t,Kill,,0,-1 OnUser1=t,Open,p,1.5,2 OnTrigger=q,Kill,,3,1";
    let q = r#"{"outputname":"OnTrigger","targetname":"q"}"#;
    becomes(
        "r.jsonc",
        &modify(q, r#"{"outputname":"OnTrigger","targetname":"door_9"}"#),
        before,
        "OnTrigger=t,Kill,,0,-1 OnUser1=t,Open,p,1.5,2 OnTrigger=door_9,Kill,,3,1",
    );
    becomes(
        "r.jsonc",
        &modify(q, r#"{"outputname":"OnX","delay":5}"#),
        before,
        "OnTrigger=t,Kill,,0,-1 OnUser1=t,Open,p,1.5,2 OnX=q,Kill,,5,1",
    );
    // Each output that any of the tests found; they go to the end in their order.
    let open = r#"{"outputname":"OnUser1","inputname":"Open"},{"outputname":"OnTrigger","targetname":"t"}"#;
    becomes(
        "r.jsonc",
        &modify(open, r#"{"outputname":"OnX","inputname":"Close","timestofire":1}"#),
        &format!("a=1 {before} b=2"),
        "a=1 OnTrigger=q,Kill,,3,1 b=2 OnX=t,Close,,0,1 OnX=t,Close,p,1.5,1",
    );
    becomes(
        "r.jsonc",
        &modify(open, r#"{"outputname":"OnUser1","targetname":"t"}"#),
        "OnTrigger=t,A,,0,-1 OnUser1=x,B,,0,-1; OnTrigger=t,A,,0,-1 OnUser1=x,Open,,0,-1 b=2",
        "OnTrigger=t,A,,0,-1 OnUser1=x,B,,0,-1; b=2 OnUser1=t,A,,0,-1 OnUser1=t,Open,,0,-1",
    );
    // What does not change stays where it is.
    becomes("r.jsonc", &modify(q, q), &format!("{before} b=2"), &format!("{before} b=2"));
    // The text between the parts stays too.
    let text = "{ \"classname\" \"worldspawn\" }\n{ \"OnTrigger\" \"q\x1bOpen\x1ba,b\x1b0\x1b1\" }\n\0";
    let mut entities = Entities::parse(text.as_bytes(), EntityRules::SOURCE).unwrap();
    entities.for_any_engine();
    let rules = read("r.jsonc", &modify(q, r#"{"outputname":"OnTrigger","delay":2}"#)).unwrap();
    apply([&rules], &mut entities, "").unwrap();
    assert_eq!(short(&entities), "OnTrigger=q\x1bOpen\x1ba,b\x1b2\x1b1");
    // No output is meant.
    let text = r#"{"modify":[{"match":{"a":"1"},"replace":{"io":{"outputname":"OnTrigger","targetname":"x"}}}]}"#;
    becomes("r.jsonc", text, "a=1 OnTrigger=q,Kill,,3,1", "a=1 OnTrigger=q,Kill,,3,1");
    let found = read("r.jsonc", text).unwrap().findings;
    assert_eq!(
        found.iter().map(|found| (found.code.name, found.at.column)).collect::<Vec<_>>(),
        [("rule-ignored", 47)]
    );
    fails(
        "r.jsonc",
        &modify(q, &format!("[{q}]")),
        "",
        "r.jsonc:1:90: `io` is a list, and StripperCS2 reads one object",
    );
    let converted = read("r.jsonc", &modify(q, r#"{"outputname":"OnX","delay":5}"#)).unwrap();
    let lost = [converted.to_stripper().lost, converted.to_patch().unwrap().lost];
    assert!(lost.iter().all(|lost| lost[0].1.starts_with("other parts of the outputs that match")), "{lost:?}");
}

/// Names and parts of outputs are compared with their case, as values are (`DoesConnectionMatch` of StripperCS2).
#[test]
fn cs2_compares_outputs_with_their_case() {
    let before = "OnTrigger=q,Kill,,3,1 a=1; OnTrigger=Q,Kill,,3,1; ontrigger=q,Kill,,3,1";
    let filter = |on: &str| format!(r#"{{"filter":[{{"io":[{on}]}}]}}"#);
    let small = filter(r#"{"outputname":"OnTrigger","targetname":"q"}"#);
    becomes("r.jsonc", &small, before, "OnTrigger=Q,Kill,,3,1; ontrigger=q,Kill,,3,1");
    becomes("r.jsonc", &filter(r#"{"outputname":"OnTrigger","inputname":"kill"}"#), before, before);
    becomes("r.jsonc", &filter(r#"{"outputname":"ONTRIGGER","targetname":"q"}"#), before, before);
    // The case of values stays in what they are converted to.
    let rules = read("r.jsonc", &small).unwrap();
    let (text, patch) = (rules.to_stripper(), rules.to_patch().unwrap());
    assert_eq!((text.lost, patch.lost), (Vec::new(), Vec::new()));
    let text = String::from_utf8(text.result).unwrap();
    assert!(text.starts_with("filter:\n{\n\"OnTrigger\" \"/(?-i)\\A(?:q,[^,\\x1b]*,"), "{text}");
    becomes("r.cfg", &text, before, "OnTrigger=Q,Kill,,3,1");
    let entities = Entities::parse(map(before).into_bytes(), EntityRules::QUAKE2).unwrap();
    let patched = Entities::parse(patch.result.apply(&entities).unwrap(), EntityRules::QUAKE2).unwrap();
    assert_eq!(short(&patched), "OnTrigger=Q,Kill,,3,1");
}

/// A part that is not written can be anything, also the name, and numbers are numbers.
#[test]
fn cs2_tests_of_outputs_leave_out_parts_and_compare_numbers() {
    let filter = |on: &str| format!(r#"{{"filter":[{{"io":[{on}]}}]}}"#);
    let before = "a=1 OnTrigger=q,Kill,,3,1; OnX=q,Open,,3.50,-1; n=a,,Kill,c,d; n=a,Kill,c,1.5,2 OnA=x";
    let all: Vec<&str> = before.split("; ").collect();
    for (on, gone) in [
        (r#""inputname":"Kill""#, &[0, 3][..]),
        ("", &[0, 1, 3]),
        (r#""delay":3.0"#, &[0]),
        (r#""delay":3e0"#, &[0]),
        (r#""delay":3.5"#, &[1]),
        (r#""delay":30"#, &[]),
        (r#""timestofire":1.0"#, &[0]),
        (r#""timestofire":-1"#, &[1]),
        (r#""timestofire":2.5,"delay":15e-1"#, &[3]),
        (r#""outputname":"OnTrigger","delay":3"#, &[0]),
    ] {
        let kept: Vec<&str> = (0..4).filter(|number| !gone.contains(number)).map(|number| all[number]).collect();
        becomes("r.jsonc", &filter(&format!("{{{on}}}")), before, &kept.join("; "));
    }
    for (number, same) in [
        ("0", "0 0.0 .0 -0 +0 00 0. 0e0 ~0"),
        ("3", "3 3. 3.00 03 +3 3e0 3E+00 3~"),
        ("0.5", "0.5 .5 00.50 +.5"),
        ("-1.25", "-1.25 -01.250"),
        ("100", "100 100.0"),
    ] {
        let on = filter(&format!(r#"{{"outputname":"OnA","delay":{number}}}"#));
        for text in same.split(' ') {
            becomes("r.jsonc", &on, &format!("OnA=t,B,,{text},1"), "");
        }
        for text in "x 30 33 .05 5 1.25 -3 - . 1e0 0.00001".split(' ') {
            becomes("r.jsonc", &on, &format!("OnA=t,B,,{text},1"), &format!("OnA=t,B,,{text},1"));
        }
    }
    // In a template the name stays.
    becomes(
        "r.jsonc",
        r#"{"modify":[{"match":{"io":[{"inputname":"Kill"}]},"replace":{"io":{"delay":5.0}}}]}"#,
        "OnTrigger=t,Kill,,0,-1 OnUser1=t,Open,p,1.5,2 OnTrigger=q,Kill,,3,1",
        "OnUser1=t,Open,p,1.5,2 OnTrigger=t,Kill,,5,-1 OnTrigger=q,Kill,,5,1",
    );
    // What is added beside others need not begin with `On`.
    becomes(
        "r.jsonc",
        r#"{"modify":[{"match":{"a":"1"},"insert":{"io":[{"outputname":"Case","delay":2.0,"timestofire":1}]}}]}"#,
        "a=1 Case=x",
        "a=1 Case=x Case=,,,2,1",
    );
    let rules = read("r.jsonc", &filter(r#"{"inputname":"Kill"}"#)).unwrap();
    let lost = [rules.to_stripper().lost, rules.to_patch().unwrap().lost];
    assert!(lost.iter().all(|lost| lost[0].1 == "a test of outputs of any name"), "{lost:?}");
}

/// Of equal keys of an object the JSON reader of StripperCS2 keeps the last one.
#[test]
fn the_last_of_equal_keys_of_a_cs2_object_counts() {
    let last = |text: &str, before: &str, after: &str, places: &[&str]| {
        becomes("r.jsonc", text, before, after);
        let found = read("r.jsonc", text).unwrap().findings;
        assert!(found.iter().all(|found| found.code.name == "rule-repeated"), "{found:?}");
        assert_eq!(found.iter().map(|found| found.at.to_string()).collect::<Vec<_>>(), places, "{text}");
    };
    last("{\"filter\":[{\"b\":\"x\",\n\"b\":\"Foo\",\"B\":\"Foo\"}]}", "b=x; b=Foo", "b=x", &["1:17"]);
    last(
        r#"{"modify":[{"match":{"a":"1"},"match":{"a":"2"},"insert":{"b":"1","b":"2"}}]}"#,
        "a=1; a=2",
        "a=1; a=2 b=2",
        &["1:21", "1:63"],
    );
    last(
        r#"{"filter":[{"io":[{"outputname":"OnA","delay":1,"delay":2}]}],"filter":[{"c":"1"}]}"#,
        "OnA=t,B,,1,1; OnA=t,B,,2,1; c=1",
        "OnA=t,B,,1,1",
        &["1:47"],
    );
}

/// The lexer of Lazyripent2 reads a number without a point as an `int`, without its sign.
#[test]
fn numbers_that_the_lexer_does_not_read_are_errors() {
    for (number, why) in [
        ("3000000000", "the number `3000000000` is too large: Lazyripent2 reads none above 2147483647"),
        ("-2147483648", "the number `-2147483648` is too large: "),
        (".5", "the number `.5` needs digits on both sides of one point"),
        ("5.", "the number `5.` needs digits on both sides of one point"),
        ("1.2.3", "the number `1.2.3` needs digits on both sides of one point"),
        (&format!("{}.0", "9".repeat(50)), "the number `99999"),
    ] {
        fails("r.rule", &format!("{{ have a\n replace a {number} }}"), "a=1", &format!("r.rule:2:12: {why}"));
    }
    becomes("r.rule", "{ have a replace a \"3000000000\" new b \"1.2.3\" }", "a=1", "a=3000000000 b=1.2.3");
}

/// What is not supported says what to write instead.
#[test]
fn a_selector_that_refers_to_a_key_is_refused_with_what_to_do() {
    let error = run("r.rule", "{ match health \"{health}\" remove-entity }", "").unwrap_err();
    assert_eq!(
        error,
        "r.rule:1:9: a selector whose value refers to a key or a stored value (`{...}`) is not supported by this program: \
         write the value itself, in a block for each value that is meant"
    );
}
