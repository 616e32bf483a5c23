//! The readings of the same file: strict, and as Lumper reads it.

use super::*;

#[test]
fn strict_needs_every_pair() {
    let rule = "{\n\"classname\" \"relay\"\n\"on\" \"/door/\"\n}";
    let before = "classname=x on=door1 on=door2; classname=relay on=door";
    assert_eq!(applied(rule, before, Mode::Plugin), "");
    assert_eq!(applied(rule, before, Mode::Strict), "classname=x on=door1 on=door2");
}

#[test]
fn strict_refuses_what_the_plug_in_reads_in_another_way() {
    let refused = |text: &str| parse(text, Mode::Strict).unwrap_err().to_string();
    assert!(parse("{\n\"a\" \"1\" // lamp\n}", Mode::Strict).is_ok());
    assert!(refused("filter:\n{\n}").starts_with("r.cfg:2:1: the filter has no pairs"));
    let of_two = refused("{\n\"b\" \"1\"\n\"a\" \"/(/\"\n}");
    assert!(of_two.starts_with("r.cfg:3:7: the regular expression /(/ cannot be used"), "{of_two}");
    assert!(refused("{\n\"b\" \"1\"\n\"a\" \"\"\n}").starts_with("r.cfg:3:1: the key or the value is empty"));
    assert!(refused("add:\n{\n\"a\" \"/b/\"\n}").starts_with("r.cfg:3:6: the value is stored without its last slash"));
    assert!(refused(&format!("{{\n\"b\" \"1\"\n\"a\" \"{}\"\n}}", "b".repeat(250))).starts_with("r.cfg:3:1: "));
    // What follows a header or a brace in its line, and the second of equal keys.
    assert!(refused("filter:\n{\n\"a\" \"1\"\n} add: { \"b\" \"1\" }").starts_with("r.cfg:4:2: the text after `}`"));
    assert!(refused("filter: \"b\" \"1\"\n{\n\"a\" \"1\"\n}").starts_with("r.cfg:1:8: the text after `filter:`"));
    assert!(refused("filter:\n{\n\"a\" \"1\"\n}}").starts_with("r.cfg:4:2: the text after `}`"));
    assert!(refused("filter:\r{\r\"a\" \"1\"\r}\r").starts_with("r.cfg:1:8: the text after `filter:`"));
    assert!(parse("filter: // all\n{\n\"a\" \"1\"\n} ; end\n", Mode::Strict).is_ok());
    let twice = "modify:\n{\nmatch: x\n{\n\"a\" \"1\"\n}\nreplace:\n{\n\"b\" \"1\"\n\"B\" \"2\"\n}\n}";
    assert!(refused(twice).starts_with("r.cfg:3:7: the text after `match:`"));
    assert!(refused(&twice.replace(" x", "")).starts_with("r.cfg:10:6: the block has the key `B` before"));
    // All of it, if there is more.
    let error = parse("Filter:\n{\n\"a\" \"1\"\n", Mode::Strict).unwrap_err();
    assert!(
        matches!(error.hint(), Some(bspkit::Hint::Text(rest)) if rest.starts_with("r.cfg:2:1: the block is not closed"))
    );
}

#[test]
fn lumper_cuts_the_last_letter_of_expressions() {
    let rule = "filter:\n{\n\"n\" \"/^door_1$/\"\n}";
    assert_eq!(applied(rule, "n=door_1; n=door_12", Mode::Plugin), "n=door_12");
    assert_eq!(applied(rule, "n=door_1; n=door_12", Mode::Lumper), "");
    // Two slashes are a value, and one that does not compile matches nothing.
    assert_eq!(applied("filter:\n{\n\"n\" \"//\"\n}", "n=//; n=1", Mode::Lumper), "n=1");
    assert_eq!(applied("filter:\n{\n\"n\" \"/(a)/\"\n}", "n=a; n=1", Mode::Lumper), "n=a; n=1");
}

#[test]
fn lumper_joins_blocks_and_replaces_first() {
    let rule = "modify:\n{\nmatch:\n{\n\"n\" \"1\"\n}\nmatch:\n{\n\"m\" \"1\"\n}\n\
                delete:\n{\n\"a\" \"2\"\n}\nreplace:\n{\n\"a\" \"2\"\n\"b\" \"3\"\n\"b\" \"4\"\n}\ninsert:\n{\n\"c\" \"5\"\n}\n}";
    assert_eq!(applied(rule, "n=1; n=1 m=1 a=1 B=1 b=1", Mode::Lumper), "n=1; n=1 m=1 B=1 b=4 c=5");
}

#[test]
fn lumper_stores_slashes_and_long_values() {
    let long = "y".repeat(300);
    let rule = format!("ADD:\n{{\n\"classname\" \"/x/\"\n\"m\" \"{long}\"\n}}");
    assert_eq!(applied(&rule, "", Mode::Lumper), format!("classname=/x/ m={long}"));
}

#[test]
fn lumper_stops_at_what_it_does_not_know() {
    let refused = |text: &str| parse(text, Mode::Lumper).unwrap_err().to_string();
    let expected = "r.cfg:1:1: `filters:` is not a header: filter:, remove:, add: or modify: was expected";
    assert_eq!(refused("filters:\n{\n}"), expected);
    assert_eq!(
        refused("{\n\"a\" \"1\"\n}"),
        "r.cfg:1:1: `{` is not a header: filter:, remove:, add: or modify: was expected"
    );
    assert_eq!(refused("add:\n{\n; x\n}"), "r.cfg:3:1: a pair \"key\" \"value\" was expected instead of `; x`");
    assert_eq!(refused("add:\n\"a\" \"1\""), "r.cfg:2:1: `{` was expected instead of `\"a\" \"1\"`");
    let expected = "r.cfg:3:1: `add:` is not a header: match:, replace:, delete: or insert: was expected";
    assert_eq!(refused("modify:\n{\nadd:\n{\n}\n}"), expected);
}
