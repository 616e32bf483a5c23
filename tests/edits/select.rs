//! Selectors: what each form matches, what is said of those that cannot be read, and that the printed form reads back.

use crate::random;
use bspkit::content::entities::Entities;
use bspkit::content::select::Selector;
use bspkit::dialect::EntityRules;
use bspkit::{ErrorKind, Hint};
use proptest::prelude::*;
use random::config;

const TEXT: &[u8] = b"{ \"classname\" \"worldspawn\" \"message\" \"Caf\xe9 (one)\" }
{ \"classname\" \"light\" \"light\" \"300\" \"style\" \"32\" }
{ \"classname\" \"light_spot\" \"light\" \"1e2\" \"_color\" \"1 1 1\" }
{ \"classname\" \"func_door\" \"wait\" \"-1\" \"targetname\" \"door/1\" }
{ \"classname\" \"func_door\" \"wait\" \"2.5\" \"WAIT\" \"7\" \"spawnflags\" \"inf\" }
{ }\0";

#[track_caller]
fn selected(selector: &str) -> Vec<usize> {
    let entities = Entities::parse(TEXT, EntityRules::SOURCE).unwrap();
    let selector = Selector::parse(selector).unwrap();
    let found = entities.matching(&selector);
    let printed = selector.to_string();
    assert_eq!(Selector::parse(&printed).unwrap(), selector, "{printed}");
    found
}

#[test]
fn either() {
    assert_eq!(selected("light,func_door"), [1, 3, 4]);
    assert_eq!(selected(" #5 , #0,light "), [0, 1, 5]);
    assert_eq!(selected("[style=32],[wait],light"), [1, 3, 4]);
    assert_eq!(selected("[targetname=a,b],#2"), [2]);
}

#[test]
fn not() {
    assert_eq!(selected("*:not(light*)"), [0, 3, 4, 5]);
    assert_eq!(selected(":not([classname])"), [5]);
    assert_eq!(selected("func_door:not([targetname])[wait]"), [4]);
    assert_eq!(selected(":not( light , #0,:not([classname]) )"), [2, 3, 4]);
    assert_eq!(selected("light:not(:not([style]))"), [1]);
}

#[test]
fn numbers_compare_where_the_whole_value_is_one() {
    assert_eq!(selected("[light>100]"), [1]);
    assert_eq!(selected("[light>=100]"), [1, 2]);
    assert_eq!(selected("[light<3e2]"), [2]);
    assert_eq!(selected("[light<=\"300\"]"), [1, 2]);
    assert_eq!(selected("[wait<0]"), [3]);
    // One of equal keys has to pass; words and lists are no numbers.
    assert_eq!(selected("[wait>6]"), [4]);
    assert!(selected("[_color<9]").is_empty());
    assert!(selected("[spawnflags>0]").is_empty());
    assert!(selected("[spawnflags<=0]").is_empty());
}

/// A dot is a letter in UTF-8, with and without `i`.
#[test]
fn expressions_are_on_letters_of_utf8() {
    let text = "{ \"message\" \"Caf\u{e9}\" }\n{ \"message\" \"CAF\u{c9}\" }\n\0";
    let entities = Entities::parse(text.as_bytes(), EntityRules::SOURCE).unwrap();
    let selected = |selector: &str| entities.matching(&Selector::parse(selector).unwrap());
    assert_eq!(selected("[message~/^Caf.$/]"), [0]);
    assert_eq!(selected("[message~/^caf.$/i]"), [0, 1]);
    assert_eq!(selected("[message~/^caf..$/i]"), [0; 0]);
}

#[test]
fn expressions_are_on_bytes() {
    assert!(selected("[message~/caf/]").is_empty());
    assert_eq!(selected("[message~/CAF/i]"), [0]);
    assert_eq!(selected(r"[message~/^Caf\xe9 \(o.e\)$/]"), [0]);
    assert_eq!(selected("[message~/f. /]"), [0]);
    assert_eq!(selected(r"[targetname~/^door\/[0-9]+$/]"), [3]);
    assert_eq!(selected(r"[classname~/^light(_spot)?$/][light~/^\d{3}$/]"), [1]);
    assert_eq!(selected("[classname~//]"), [0, 1, 2, 3, 4]);
}

#[test]
fn what_cannot_be_read_is_pointed_at() {
    let cases = [
        ("light,", 6, "a selector is missing"),
        (",light", 0, "a selector is missing"),
        ("light:not()", 10, "a selector is missing"),
        ("light:not([a]", 5, "this `:not(` has no `)`"),
        ("light)", 5, "this `)` has no `:not(`"),
        ("light(1)", 5, "a parenthesis can only follow `:not`"),
        ("[a]light", 3, "a class or an index must be first"),
        ("#1#2", 2, "a class or an index must be first"),
        ("light spot", 6, "a class or an index must be first"),
        ("light:has(x)", 5, "only `not(` can follow a `:`"),
        ("[a~b]", 2, "between slashes"),
        ("[a~/b]", 6, "it ends too early; `/]`"),
        ("[a~/b/x]", 6, "an expression is followed by `]`, or by `i`"),
        ("[a~/(b/]", 4, "the expression cannot be read: unclosed group"),
        ("[a~/\u{e4}\u{e4}[z-a]/]", 9, "invalid character class range"),
        (r"[a~/\w{9999}{99}/]", 4, "takes more than"),
        ("[wait>two]", 6, "`>` compares with a number"),
        ("[wait>]", 6, "compares with a number"),
        ("[wait<=inf]", 7, "compares with a number"),
        ("[a!=b]", 2, "`!=` is written `:not([key=value])`"),
        ("[a", 2, "a `]` is missing"),
        ("#x", 1, "an index is a number"),
        ("style>2", 5, "a test of a key is in brackets"),
        ("light,classname=x", 15, "a test of a key is in brackets"),
        ("17", 0, "a number of an entity follows a `#`"),
        ("light|func_door", 5, "a `,` is between alternatives"),
        ("[style==2]", 7, "one `=` compares"),
    ];
    for (text, at, why) in cases {
        let error = Selector::parse(text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument, "{text}");
        assert!(error.to_string().contains(why), "{text}: {error}");
        let caret = " ".repeat(text.as_bytes()[..at].utf8_chunks().map(|part| part.valid().chars().count()).sum());
        assert_eq!(error.hint(), Some(&Hint::Text(format!("{text}\n{caret}^"))), "{text}");
    }
}

/// Wrong selectors that cannot be read, and the right form, with what it selects in the text above.
const WRONG: &[(&str, &str, &[usize])] = &[
    ("style>2", "[style>2]", &[1]),
    ("style > 2", "[style>2]", &[1]),
    ("light>=300", "[light>=300]", &[1]),
    ("classname=light", "light", &[1]),
    ("classname==light", "light", &[1]),
    ("class=light", "light", &[1]),
    ("classname:light", "light", &[1]),
    ("Classname = light", "light", &[1]),
    ("classname=light*", "light*", &[1, 2]),
    ("classname~light", "[classname~/light/]", &[1, 2]),
    ("classname=~/^light/i", "[classname~/^light/i]", &[1, 2]),
    ("classname~/^light$/", "[classname~/^light$/]", &[1]),
    ("classname!=light", ":not(light)", &[0, 2, 3, 4, 5]),
    ("classname^=light", "[classname^=light]", &[1, 2]),
    ("classname$=_spot", "[classname$=_spot]", &[2]),
    ("targetname*=oor", "[targetname*=oor]", &[3]),
    ("targetname:door/1", "[targetname=door/1]", &[3]),
    ("light[style!=3]", "light:not([style=3])", &[1]),
    ("[style==32]", "[style=32]", &[1]),
    ("[classname=~/light/]", "[classname~/light/]", &[1, 2]),
    ("[message!~/one/]", ":not([message~/one/])", &[1, 2, 3, 4, 5]),
    ("[light~30]", "[light~/30/]", &[1]),
    ("light style>2", "light[style>2]", &[1]),
    ("light.style>2", "light[style>2]", &[1]),
    ("light and style>2", "light[style>2]", &[1]),
    ("light && [style=32]", "light[style=32]", &[1]),
    ("light=300 and style=32", "[light=300][style=32]", &[1]),
    ("light|func_door", "light,func_door", &[1, 3, 4]),
    ("light || func_door", "light,func_door", &[1, 3, 4]),
    ("light or func_door", "light,func_door", &[1, 3, 4]),
    ("light;func_door", "light,func_door", &[1, 3, 4]),
    ("light func_door", "light,func_door", &[1, 3, 4]),
    ("light,style>2", "light,[style>2]", &[1]),
    ("style>2,wait>2", "[style>2],[wait>2]", &[1, 4]),
    ("classname=light,classname=func_door", "light,func_door", &[1, 3, 4]),
    ("17", "#17", &[]),
    ("1,2", "#1,#2", &[1, 2]),
    ("#1,2, 4", "#1,#2,#4", &[1, 2, 4]),
    ("light,3", "light,#3", &[1, 3]),
    ("!light", ":not(light)", &[0, 2, 3, 4, 5]),
    ("not light", ":not(light)", &[0, 2, 3, 4, 5]),
    ("not(light)", ":not(light)", &[0, 2, 3, 4, 5]),
    ("\"light\"", "light", &[1]),
];

#[test]
fn wrong_selectors_are_named_with_the_right_form() {
    for (text, right, found) in WRONG {
        let error = Selector::parse(text).unwrap_err();
        assert!(error.to_string().ends_with(&format!("; did you mean `{right}`?")), "{text}: {error}");
        assert_eq!(selected(right), *found, "{right}");
    }
    for text in ["light(", "[a", ":not(", "#", "=", "[a~/(/]", "[wait>two]"] {
        let error = Selector::parse(text).unwrap_err();
        assert!(!error.to_string().contains("did you mean"), "{text}: {error}");
    }
}

/// Selectors that can be read and match nothing here, and what is meant.
const UNMATCHED: &[(&str, Option<&str>)] = &[
    ("style", Some("[style]")),
    ("door/1", None),
    ("[targetname='door/1']", Some("[targetname=door/1]")),
    ("[style = 32]", Some("[style=32]")),
    ("[targetname=door*]", Some("[targetname^=door]")),
    ("[targetname=*1]", Some("[targetname$=1]")),
    ("[targetname=*oor*]", Some("[targetname*=oor]")),
    ("light_.*", Some("light_*")),
    ("/^light/", Some("[classname~/^light/]")),
    ("-light", Some(":not(light)")),
    ("'light'", Some("light")),
    ("monster_ogre", None),
];

#[test]
fn selectors_without_a_match_have_a_form_that_matches() {
    let entities = Entities::parse(TEXT, EntityRules::SOURCE).unwrap();
    for (text, right) in UNMATCHED {
        assert!(selected(text).is_empty(), "{text}");
        let meant = entities.meant(text);
        assert_eq!(meant.as_ref().map(|(text, _)| &**text), *right, "{text}");
        if let Some((text, count)) = meant {
            assert_eq!(selected(&text).len(), count);
        }
    }
    let names = b"{ \"targetname\" \"door_1\" } { \"model\" \"*1\" }";
    let entities = Entities::parse(&names[..], EntityRules::SOURCE).unwrap();
    assert_eq!(entities.meant("door_1"), Some(("[targetname=door_1]".to_owned(), 1)));
    assert_eq!(entities.meant("*1"), Some(("[model=*1]".to_owned(), 1)));
}

#[test]
fn what_would_take_too_much_is_refused() {
    let nested = |depth: usize| [":not(".repeat(depth), "light".to_owned(), ")".repeat(depth)].concat();
    assert_eq!(selected(&nested(32)), [1]);
    for depth in [33, 1_000_000] {
        let error = Selector::parse(&nested(depth)).unwrap_err();
        assert!(error.to_string().contains("nested deeper than 32"), "{depth}");
    }
    assert_eq!(selected(&"[light~/3/]".repeat(64)), [1]);
    assert!(Selector::parse(&"[light~/3/]".repeat(65)).is_err());
    // Exponential where expressions go back: here it is linear.
    let text = [&b"{ \"a\" \""[..], &b"a".repeat(100_000), b"\" }"].concat();
    let entities = Entities::parse(&text[..], EntityRules::SOURCE).unwrap();
    assert_eq!(entities.select("[a~/^(a+)+$/]").unwrap(), [0]);
    assert!(entities.select("[a~/^(a+)+b$/]").unwrap().is_empty());
}

/// Pieces of selectors, good ones more often than not.
fn soup() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "light",
        "func_*",
        "*",
        "#3",
        "[",
        "]",
        "[a]",
        "[a=b]",
        "[a^=\"x]\"]",
        "[wait>2]",
        "[a<=-1e3]",
        "[a~/b+\\/c/i]",
        ":not(",
        ":not(",
        ")",
        ")",
        ",",
        ",",
        " ",
        "~",
        "/",
        "\"",
        "\\x5d",
        "\\x2a",
        "=",
        "<",
        "(",
        "\u{e9}",
        "\\\\",
        "\\n",
        "==",
        "~/",
        "17",
        "\\x3d",
        "\\x37",
    ]);
    prop_oneof![prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat()), ".{0,20}"]
}

proptest! {
    #![proptest_config(config(2000, "tests/proptest-regressions/select.txt"))]

    #[test]
    fn the_printed_form_reads_back(text in soup()) {
        if let Ok(selector) = Selector::parse(&text) {
            let printed = selector.to_string();
            let again = Selector::parse(&printed);
            prop_assert!(again.as_ref().is_ok_and(|again| *again == selector), "{} {} {:?}", text, printed, again);
            let entities = Entities::parse(TEXT, EntityRules::SOURCE).unwrap();
            prop_assert_eq!(entities.matching(&again.unwrap()), entities.matching(&selector));
        }
    }

    /// Any bytes may be a class, a key or a value.
    #[test]
    fn any_bytes_can_be_said(key in prop::collection::vec(any::<u8>(), 1..8), value: Vec<u8>) {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect::<String>();
        let selector = Selector::parse(&format!("{}[{}={}]", hex(&key), hex(&key), hex(&value))).unwrap();
        prop_assert_eq!(&Selector::parse(&selector.to_string()).unwrap(), &selector);
    }
}
