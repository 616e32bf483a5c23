//! Expressions of stripper_qmm: what `std::regex` of libstdc++ 12 matches and rejects was asked, what that of MSVC
//! rejects was read in its source.

use bspkit_rules::apply;
use bspkit_rules::files::{detect, read};

use super::*;

/// The text of a rule file.
fn filter(expression: &str) -> String {
    format!("filter:\n{{\n\"v\" \"/{expression}/\"\n}}")
}

/// Whether rules remove an entity with this value.
fn removes(rules: &Rules, value: &str) -> bool {
    let text = format!("{{\n\"classname\" \"worldspawn\"\n}}\n{{\n\"v\" \"{value}\"\n}}\n\0");
    let mut entities = Entities::parse(text.as_bytes(), EntityRules::QUAKE2).unwrap();
    apply([rules], &mut entities, "map").unwrap().rules[0].count > 0
}

/// A file for stripper_qmm, and the errors that refuse it.
fn refused(expression: &str) -> String {
    let text = filter(expression);
    let rules = read("r.ini", text.as_bytes(), detect("r.ini", text.as_bytes()), Mode::Plugin);
    rules.refusal().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn what_matches() {
    let rows: &[(&str, &[&str], &[&str])] = &[
        ("item_.*", &["item_", "item_a b"], &["Item_a", "xitem_a", "item_a\n"]),
        ("item_[^]*", &["item_a\nb", "item_"], &[]),
        ("a.b", &["axb"], &["a\nb", "a\rb", "ab"]),
        ("^a$", &["a"], &["ab", "a\n"]),
        ("^(?:a|b)$|c", &["a", "b", "c"], &["ac"]),
        ("[]", &[], &["", "a"]),
        ("[^]", &["a", "\n"], &[""]),
        ("a|[]b", &["a"], &["b"]),
        ("\\u0069\\x6e\\t\\0?", &["in\t"], &["in"]),
        ("[\\u0041-\\x43]", &["A", "C"], &["D", "a"]),
        ("[[:alpha:]_]+", &["aZ_"], &["a1"]),
        ("[^[:digit:]]", &["a"], &["1"]),
        ("[[=i=]]", &["i", "I"], &["j"]),
        ("[[.i.]x]", &["i", "x"], &["I"]),
        ("[[a]", &["[", "a"], &["]"]),
        ("[-a]", &["-", "a"], &["b"]),
        ("[a-c-e]", &["b", "-", "e"], &["d"]),
        ("[\\d-]", &["1", "-"], &["d"]),
        ("[--/]", &[".", "-"], &["0"]),
        ("[\\b]", &["\u{8}"], &["b"]),
        ("[\\]\\\\]", &["]", "\\"], &["a"]),
        ("\\d\\D\\s\\S\\w\\W", &["1a bc.", "1a\u{b}bc."], &["aa bc."]),
        ("\\bcat\\b.*", &["cat", "cat x"], &["cats"]),
        ("a\\B.", &["ab"], &["a "]),
        ("(a|b)\\1", &["aa", "bb"], &["ab"]),
        ("(a)(.)\\2\\1", &["abba"], &["abab"]),
        ("(?:(a|b)\\1)+", &["aabb"], &["aab"]),
        ("(?=a)..", &["ab"], &["ba"]),
        ("(?!info_|light$).+", &["item", "lights"], &["info_null", "light"]),
        ("a(?=b)b", &["ab"], &["b"]),
        ("(?!.*\\bcat).*", &["dog", "bobcat"], &["a cat"]),
        ("a+?b*?c??d{2}?e{1,2}f{0,}", &["addef", "abcddee"], &["ade"]),
        ("a{0}b", &["b"], &["ab"]),
        ("\\/\\.\\-\\}\\]\\{", &["/.-}]{"], &["/a-}]{"]),
        ("", &[], &["a"]),
        ("a||b", &["a", "b"], &["ab"]),
        ("(|a)()b", &["b", "ab"], &["a"]),
    ];
    for (expression, yes, no) in rows {
        let text = filter(expression);
        let rules = Rules::parse("r.ini", text.as_bytes(), Format::Qmm, Mode::Plugin).unwrap();
        // Stripper:Source has another dialect, and the same meaning.
        let printed = rules.to_stripper();
        assert_eq!(printed.lost, [], "{expression}");
        let other = Rules::parse("r.cfg", &printed.result, Format::Stripper, Mode::Strict).unwrap();
        // To the plug-in an entity without a value has no pair.
        for (values, is_match) in [(yes, true), (no, false)] {
            for value in *values {
                assert_eq!(removes(&rules, value), is_match, "{expression} on {value:?}");
                let is_same = value.is_empty() || removes(&other, value) == is_match;
                assert!(is_same, "{} on {value:?}", String::from_utf8_lossy(&printed.result));
            }
        }
    }
}

#[test]
fn what_the_plug_in_stops_at_is_an_error_with_its_place() {
    let rows = [
        ("(?i)a", 0, "only"),
        ("(?<n>a)", 0, "only"),
        ("(?P<n>a)", 0, "only"),
        ("(?#c)a", 0, "only"),
        ("(?<=x)a", 0, "only"),
        ("(?>a)", 0, "only"),
        ("(?R)", 0, "only"),
        ("(?(1)a)", 0, "only"),
        ("a{,5}", 1, "in braces"),
        ("{", 0, "the quantifier"),
        ("a{x}", 1, "in braces"),
        ("a{2,1}", 1, "the numbers"),
        ("a{", 1, "the `{`"),
        ("*a", 0, "the quantifier"),
        ("a|+", 2, "the quantifier"),
        ("(?=a)*", 5, "the quantifier"),
        ("\\b+", 2, "the quantifier"),
        ("^*", 1, "the quantifier"),
        ("[a-\\w]", 5, "a set"),
        ("[\\w-z]", 3, "a set"),
        ("[z-a]", 4, "the range"),
        ("[[:foo:]]", 1, "the name"),
        ("[[:a", 1, "the name"),
        ("[a", 0, "the `[`"),
        ("[a-", 0, "the `[`"),
        ("[\\1]", 1, "a back-reference"),
        ("(a", 0, "the bracket"),
        ("a)", 1, "no bracket"),
        ("a\\", 1, "a backslash"),
        ("\\1", 0, "the back-reference"),
        ("(a\\1)", 2, "the back-reference"),
        ("\\x4", 0, "2 hexadecimal"),
        ("\\u004", 0, "4 hexadecimal"),
    ];
    for (expression, offset, why) in rows {
        let error = refused(expression);
        let start = format!("r.ini:3:{}: the regular expression /", offset + 7);
        let said = format!("cannot be used: {why}");
        assert!(error.starts_with(&start) && error.contains(&said), "{expression}: {error}");
        assert!(error.contains("; the plug-in stops at it"), "{error}");
    }
}

#[test]
fn what_builds_of_the_plug_in_read_differently_is_refused() {
    let rows = [
        ("\\Aitem_.*\\z", "`\\A`"),
        ("\\Qitem\\E.*", "`\\Q`"),
        ("\\health", "`\\h`"),
        ("a\\K", "`\\K`"),
        ("\\R", "`\\R`"),
        ("\\G", "`\\G`"),
        ("\\Z", "`\\Z`"),
        ("\\X", "`\\X`"),
        ("\\N", "`\\N`"),
        ("\\cA", "`\\c`"),
        ("\\_", "`\\_`"),
        ("[\\h]", "`\\h`"),
        ("[]item_health]*", "`]`"),
        ("}", "`}`"),
        ("a*+", "a quantifier"),
        ("a**", "a quantifier"),
        ("\\01", "a digit"),
        ("\\u0141", "a letter"),
        ("[[.space.]]", "another element"),
        ("[[=1=]]", "another element"),
        ("[[.a.]-c]", "an element"),
        ("[[:w:]]", "`[:w:]`"),
        ("(a)|\\1b", "a back-reference"),
        ("(a)?\\1", "a back-reference"),
        ("(?:(a)|b)\\1", "a back-reference"),
        ("x(?=\\by)y", "a start"),
        ("x(?!^)y", "`^`"),
        ("x^y", "`^`"),
        ("x$y", "text"),
        ("(?:x$)*", "a repetition"),
    ];
    for (expression, what) in rows {
        let said = format!("cannot be used: not all builds of the plug-in read {what}");
        let error = refused(expression);
        assert!(error.contains(&said), "{expression}: {error}");
    }
}
