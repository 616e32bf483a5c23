//! What the plug-in does with rules that it has read.

use super::*;

#[test]
fn a_filter_removes_what_matches_in_any_case() {
    gives(
        "filter:\n{\n\"ClassName\" \"LIGHT\"\n}",
        "classname=light; classname=lights; classname=Light",
        "classname=lights",
    );
    gives("remove:\n{\n\"classname\" \"light\"\n}", "classname=light; classname=b", "classname=b");
    // Before any header the mode is filter.
    gives("{\n\"classname\" \"light\"\n}", "classname=light; classname=b", "classname=b");
}

#[test]
fn pairs_of_an_entity_are_counted_that_match_any_listed_pair() {
    let rule = "{\n\"classname\" \"relay\"\n\"on\" \"/door/\"\n}";
    gives(rule, "classname=relay on=door; classname=relay; on=door", "classname=relay; on=door");
    // Two pairs that match the same listed one are as good as one for each.
    gives(rule, "classname=x on=door1 on=door2", "");
    // One pair that matches two listed ones is counted once.
    gives("{\n\"a\" \"1\"\n\"a\" \"/1/\"\n}", "a=1; a=1 a=1", "a=1");
    // The same pair listed twice needs two pairs.
    gives("{\n\"a\" \"1\"\n\"a\" \"1\"\n}", "a=1; a=1 a=1", "a=1");
    // More hits than listed pairs: the plug-in stops counting at their number.
    gives("{\n\"a\" \"/./\"\n}", "a=1 a=2 a=3; b=1", "b=1");
}

#[test]
fn an_empty_block_matches_every_entity() {
    let text = map("classname=light");
    let mut entities = Entities::parse(text.as_bytes(), EntityRules::QUAKE2).unwrap();
    let rules = parse("filter:\n{\n; \"classname\" \"light\"\n}", Mode::Plugin).unwrap();
    let error = rules.apply(&mut entities, "map").unwrap_err();
    assert_eq!(error.to_string(), "the rule at r.cfg:2:1 cannot be applied");
    assert!(format!("{error:?}").contains("worldspawn"), "{error:?}");
    assert_eq!(entities.to_bytes(), text.as_bytes());
    // A modify block without pairs to match changes all of them, worldspawn too.
    let rules = parse("modify:\n{\ninsert:\n{\n\"a\" \"1\"\n}\n}", Mode::Plugin).unwrap();
    let report = rules.apply(&mut entities, "map").unwrap();
    assert_eq!(report.rules[0].matched, [0, 1]);
}

#[test]
fn expressions_ignore_case_and_match_anywhere() {
    gives("{\n\"n\" \"/OOR_/\"\n}", "n=door_1; n=door", "n=door");
    gives("{\n\"n\" \"/^door$/\"\n}", "n=Door; n=door_1", "n=door_1");
    // Keys are never expressions.
    gives("{\n\"/n/\" \"door\"\n}", "n=door; /n/=door", "n=door");
}

#[test]
fn an_expression_that_does_not_compile_widens_the_filter() {
    let rule = "{\n\"classname\" \"light\"\n\"n\" \"/*_1/\"\n}";
    gives(rule, "classname=light n=a; classname=light; classname=b", "classname=b");
    assert_eq!(findings(rule, Mode::Plugin), ["3:7 rule-pattern"]);
}

#[test]
fn slashes() {
    // The closing slash of a value that is stored is cut off.
    gives("add:\n{\n\"classname\" \"a\"\n\"m\" \"/x/\"\n}", "", "classname=a m=/x");
    gives("add:\n{\n\"classname\" \"a\"\n\"m\" \"/x\"\n}", "", "classname=a m=/x");
    gives(
        "modify:\n{\nmatch:\n{\n\"a\" \"1\"\n}\nreplace:\n{\n\"a\" \"/2/\"\n}\ninsert:\n{\n\"b\" \"/3/\"\n}\n}",
        "a=1",
        "a=/2 b=/3",
    );
    // What does not compile is left out there too, and what this program cannot run is stored.
    gives("add:\n{\n\"classname\" \"a\"\n\"m\" \"/(/\"\n\"n\" \"/(?=x)/\"\n}", "", "classname=a n=/(?=x)");
    // Two slashes are an empty expression, which matches any value; so is a single one.
    gives("{\n\"n\" \"//\"\n}", "n=door; m=1", "m=1");
    gives("{\n\"n\" \"/\"\n}", "n=door; m=1", "m=1");
}

#[test]
fn modify_deletes_then_replaces_then_inserts_whatever_the_order_in_the_file() {
    let rule = "modify:\n{\ninsert:\n{\n\"a\" \"new\"\n\"c\" \"3\"\n}\nreplace:\n{\n\"a\" \"2\"\n\"b\" \"9\"\n}\n\
                delete:\n{\n\"a\" \"1\"\n}\nmatch:\n{\n\"classname\" \"x\"\n}\n}";
    // The deleted pair is not replaced, the inserted one neither, and a missing key is not added by replace.
    gives(rule, "classname=x a=1 A=5; classname=y a=1", "classname=x A=2 a=new c=3; classname=y a=1");
    // Of equal keys in `replace` the first one wins; every pair with the key gets the value.
    let rule = "modify:\n{\nmatch:\n{\n\"classname\" \"x\"\n}\nreplace:\n{\n\"a\" \"1\"\n\"A\" \"2\"\n}\n}";
    gives(rule, "classname=x a=7 a=8", "classname=x a=1 a=1");
    // `delete` needs the value, which may be an expression; duplicates go together.
    let rule = "modify:\n{\nmatch:\n{\n\"classname\" \"x\"\n}\ndelete:\n{\n\"a\" \"/^1/\"\n\"b\" \"2\"\n}\n}";
    gives(rule, "classname=x a=1 a=12 a=2 b=2 b=3", "classname=x a=2 b=3");
}

#[test]
fn a_class_may_be_deleted_and_inserted_again() {
    let text = map("classname=light n=1");
    let mut entities = Entities::parse(text.as_bytes(), EntityRules::SOURCE).unwrap();
    let with = |insert: &str| {
        format!("modify:\n{{\nmatch:\n{{\n\"n\" \"1\"\n}}\ndelete:\n{{\n\"classname\" \"light\"\n}}\n{insert}}}")
    };
    let error = parse(&with(""), Mode::Plugin).unwrap().apply(&mut entities, "map").unwrap_err();
    assert_eq!(error.to_string(), "the rule at r.cfg:1:1 cannot be applied");
    let rules = parse(&with("insert:\n{\n\"classname\" \"lamp\"\n}\n"), Mode::Plugin).unwrap();
    rules.apply(&mut entities, "map").unwrap();
    assert_eq!(short(&entities), "n=1 classname=lamp");
}

#[test]
fn rules_apply_one_after_the_other_to_what_the_last_one_left() {
    // An added entity is hit by a later filter, and an earlier filter does not hit it.
    let add = "add:\n{\n\"classname\" \"a\"\n}\n";
    let filter = "filter:\n{\n\"classname\" \"a\"\n}\n";
    gives(&format!("{filter}{add}"), "classname=b", "classname=b; classname=a");
    gives(&format!("{add}{filter}"), "classname=b", "classname=b");
    // What was changed is matched by its new pairs.
    let modify = "modify:\n{\nmatch:\n{\n\"classname\" \"a\"\n}\nreplace:\n{\n\"classname\" \"b\"\n}\n}\n";
    gives(&format!("{modify}{filter}"), "classname=a", "classname=b");
    gives(
        &format!("{modify}filter:\n{{\n\"classname\" \"b\"\n}}"),
        "classname=a; classname=b; classname=c",
        "classname=c",
    );
    gives(&format!("{add}{modify}"), "", "classname=b");
}

#[test]
fn pairs_without_a_value_are_not_seen() {
    gives("{\n\"n\" \"/^/\"\n}", "classname=a n=; n=1", "classname=a n=");
    let rule = "modify:\n{\nmatch:\n{\n\"classname\" \"a\"\n}\nreplace:\n{\n\"n\" \"1\"\n}\n}";
    gives(rule, "classname=a n=; classname=a n=2", "classname=a n=; classname=a n=1");
}

#[test]
fn what_no_rule_touches_keeps_its_bytes() {
    let text = "{ classname worldspawn } {\t\"n\"  \"1\" // lamp\n\"m\" \"2\" }\n{ \"n\" \"3\" }\n\0tail";
    let rules = |text: &str| parse(text, Mode::Plugin).unwrap();
    let run = |rule: &str| {
        let mut entities = Entities::parse(text.as_bytes(), EntityRules::QUAKE3).unwrap();
        rules(rule).apply(&mut entities, "map").unwrap();
        String::from_utf8(entities.to_bytes()).unwrap()
    };
    assert_eq!(run("{\n\"n\" \"7\"\n}"), text);
    let replace = "modify:\n{\nmatch:\n{\n\"n\" \"1\"\n}\nreplace:\n{\n\"m\" \"5\"\n}\n}";
    assert_eq!(run(replace), text.replace("\"2\"", "\"5\""));
    // What is replaced by the same value changes nothing, and neither does a rule that a later one takes back.
    assert_eq!(run(&replace.replace('5', "2")), text);
    assert_eq!(run(&format!("{replace}{}", replace.replace('5', "2"))), text);
}

#[test]
fn the_report_has_each_rule_with_its_entities() {
    let text = map("classname=light targetname=l; classname=light; classname=x a=1 a=2");
    let mut entities = Entities::parse(text.as_bytes(), EntityRules::QUAKE2).unwrap();
    let rules = "{\n\"classname\" \"light\"\n}\n{\n\"classname\" \"none\"\n}\nadd:\n{\n\"classname\" \"n\"\n}\n\
                 modify:\n{\nmatch:\n{\n\"a\" \"1\"\n\"a\" \"/./\"\n}\ndelete:\n{\n\"a\" \"1\"\n}\nreplace:\n{\n\"a\" \"3\"\n}\n\
                 insert:\n{\n\"b\" \"4\"\n\"c\" \"5\"\n}\n}";
    let rules = parse(rules, Mode::Plugin).unwrap();
    let report = rules.apply(&mut entities, "map").unwrap();
    let pairs = |it: &bspkit_rules::Applied<'_>| [it.pairs.removed, it.pairs.set, it.pairs.added];
    let seen: Vec<_> = report.rules.iter().map(|it| (it.rule.at.line, &it.matched[..], it.count, pairs(it))).collect();
    let none = [0; 3];
    assert_eq!(seen, [(1, &[1, 2][..], 2, none), (4, &[], 0, none), (8, &[4], 1, [0, 0, 1]), (11, &[3], 1, [1, 1, 2])]);
    assert_eq!(report.unmatched().collect::<Vec<_>>(), ["r.cfg:4"]);
    assert_eq!(report.entities[&1].name.as_deref(), Some(&b"l"[..]));
    assert!(report.entities[&4].is_new && !report.entities[&3].is_new);
    assert_eq!(short(&entities), "classname=x a=3 b=4 c=5; classname=n");
}

#[test]
fn rules_can_take_back_an_earlier_edit() {
    let text = map("classname=x");
    let mut entities = Entities::parse(text.as_bytes(), EntityRules::QUAKE2).unwrap();
    entities.add([("classname", "light")]).unwrap();
    let rules = parse("{\n\"classname\" \"light\"\n}", Mode::Plugin).unwrap();
    assert_eq!(rules.apply(&mut entities, "map").unwrap().rules[0].count, 1);
    assert_eq!(entities.to_bytes(), text.as_bytes());
}

/// The plug-in leaves out empty values of the map alone: one that a rule wrote is there for the rules after it.
#[test]
fn an_empty_value_that_a_rule_wrote_is_seen() {
    let replace = |value: &str| {
        format!("modify:\n{{\nmatch:\n{{\n\"classname\" \"b\"\n}}\nreplace:\n{{\n\"a\" \"{value}\"\n}}\n}}\n")
    };
    gives(&format!("{}{}", replace("/"), replace("9")), "classname=b a=1", "classname=b a=9");
    gives(&replace("9"), "classname=b a=", "classname=b a=");
}
