//! Regular expressions as PCRE reads them: what matches, what it rejects, what its versions read in different ways, and
//! what this program cannot do.

use super::*;

/// Whether a filter with this expression removes an entity with this value.
#[track_caller]
fn matches(expression: &str, value: &str) -> bool {
    let rules = format!("{{\n\"v\" \"/{expression}/\"\n}}");
    let text = format!("{{\n\"classname\" \"worldspawn\"\n}}\n{{\n\"v\" \"{value}\"\n}}\n\0");
    let mut entities = Entities::parse(text.as_bytes(), EntityRules::QUAKE2).unwrap();
    let rules = parse(&rules, Mode::Plugin).unwrap();
    assert!(rules.findings.is_empty(), "{expression}: {:?}", rules.findings);
    let report = rules.apply(&mut entities, "map").unwrap();
    !report.rules[0].matched.is_empty()
}

#[test]
fn what_matches() {
    let rows: &[(&str, &[&str], &[&str])] = &[
        ("a", &["a", "A", "xay"], &["b"]),
        ("^a$", &["a"], &["ab", "ba"]),
        ("^a$", &["a\n"], &["a\n\n", "a\nb"]),
        ("a.b", &["axb"], &["a\nb", "ab"]),
        ("(?s)a.b", &["a\nb"], &[]),
        ("(?-i)a", &["a"], &["A"]),
        ("(?-i:a)b", &["aB"], &["AB"]),
        ("x(?i)y", &["XY"], &[]),
        ("[]a]", &["]", "a", "A"], &["["]),
        ("[^]a]", &["b"], &["]", "a"]),
        ("^[a[b]$", &["[", "a", "b"], &["]", "c"]),
        ("^[a&&b]$", &["&", "a", "b"], &[]),
        ("^[a~~b+--]$", &["~", "a", ","], &["z"]),
        ("^[\\d_-]+$", &["1-2_3"], &["1a"]),
        ("^[[:alpha:]x0]+$", &["abX0"], &["1"]),
        ("^\\w+\\s\\d+$", &["ab 12"], &["ab12"]),
        ("\\bcat\\b", &["a cat"], &["cats"]),
        ("^\\x41\\x{42}\\103$", &["abc", "ABC"], &[]),
        ("^\\Qa.b\\E.$", &["a.bc"], &["axbc"]),
        ("^a{2}$", &["aa"], &["a", "aaa"]),
        ("^a{2,}$", &["aaa"], &["a"]),
        ("^a{1,2}$", &["a", "aa"], &["aaa"]),
        ("^a{x}$", &["a{x}"], &["a"]),
        ("^{$", &["{"], &[]),
        ("^(a|b)+$", &["abab"], &["c"]),
        ("^(?:a|b)(?<n>c)(?P<m>d)(?'o'e)(?#note)$", &["acde"], &[]),
        ("a*?b+?", &["b"], &["a"]),
        ("^\\h\\v?$", &[" ", "\t\n"], &["x"]),
        ("^[\\h]$", &["\t"], &["\n"]),
        ("^[a\\E-c]$", &["a", "b", "c"], &["-", "d"]),
        ("^[a-\\E\\Ec]$", &["b"], &["-"]),
        ("^[a-\\E]$", &["a", "-"], &["b"]),
        ("^[\\E]a]$", &["]", "a"], &["E"]),
        ("^x(a|\\g{-1}b)*$", &["xa", "xaab"], &["xb"]),
        ("(\\g{-1}a|b)+c", &["bc", "bbac"], &["ac"]),
        ("^[:a]$", &[":", "a"], &["b"]),
        ("^a\\sb$", &["a b", "a\tb"], &["a\u{b}b"]),
        ("^\\,\\/\\-$", &[",/-"], &[]),
        ("a(?=b)", &["ab", "AB"], &["ac", "ba"]),
        ("^(?!worldspawn|info_)", &["light"], &["info_null", "WORLDSPAWN"]),
        ("(?<=a)b", &["ab", "AB"], &["cb", "b"]),
        ("(?<!a)b", &["cb", "b"], &["ab", "AB"]),
        ("(?<=ab|c)d", &["abd", "cd"], &["bd"]),
        ("^(?>a|ab)c", &["ac"], &["abc"]),
        ("^(a)\\1$", &["aa", "aA"], &["a", "ab"]),
        ("^(?-i)(a)\\1$", &["aa"], &["aA", "AA"]),
        ("^(?<n>a|b)\\k<n>$", &["aa", "bB"], &["ab"]),
        ("^(?P<n>a|b)(?P=n)\\k{n}\\k'n'$", &["aaaa"], &["aaab"]),
        ("^(a|b)\\g1\\g{1}\\g{-1}$", &["aaaa", "bbbb"], &["aaab"]),
        ("^(a)(b)\\g-1$", &["abb"], &["aba"]),
        ("^(?#()(a|b)\\g-1$", &["bb"], &["ba"]),
        ("^(.)(.)(.)(.)(.)(.)(.)(.)(.)(.)\\10$", &["abcdefghijj"], &["abcdefghija"]),
        ("^a++b$", &["aab"], &["b"]),
        ("^a*+a", &[], &["aaa"]),
        ("^a?+a$", &["aa"], &["a"]),
        ("a\\Z", &["a", "a\n"], &["a\n\n", "ab"]),
        ("a$\\n", &["a\n"], &["a", "a\n\n"]),
        ("^(a$)\\n?$", &["a", "a\n"], &["ab"]),
        ("^(?!a$)", &["b", "ab"], &["a", "a\n"]),
        ("^a\\Rb$", &["a\r\nb", "a\nb", "a\u{b}b"], &["ab", "a\n\nb"]),
        ("^a\\R\\nb$", &["a\n\nb"], &["a\r\nb"]),
        ("\\Ga", &["ab"], &["ba"]),
        ("^a\\Kb$", &["ab"], &["b"]),
        ("^[\\101]$", &["a", "A"], &["b"]),
        ("^[[:upper:]]$", &["a", "A"], &["1"]),
        ("^[[:^lower:]]$", &["1"], &["a", "A"]),
        ("^(?=.)[a-c]\\x41.[^x]\\w\\s\\Q.\\E$", &["bazzz ."], &["ba\u{a}zz .", "bazzz x"]),
        ("^(?=a)a.\\xe9\\h$", &[], &["ab\u{e9} "]),
        ("\\z", &["a"], &[]),
        ("^\\e?$", &["\x1b"], &["e"]),
        ("", &["a"], &[]),
        ("a||b", &["x"], &[]),
        ("ab?c", &["ac", "ABC"], &["b"]),
        ("ab*", &["a"], &["b"]),
        ("xa{0}b", &["xb"], &["x"]),
        ("(?:ab)?c", &["c"], &["ab"]),
        ("ab(?#note)cd", &["abcd"], &["ab"]),
        ("ab|cd", &["cd"], &["ad"]),
        ("\u{e9}", &["\u{e9}"], &["e", "\u{c9}"]),
    ];
    for (expression, yes, no) in rows {
        yes.iter().for_each(|value| assert!(matches(expression, value), "{expression} has to match {value:?}"));
        no.iter().for_each(|value| assert!(!matches(expression, value), "{expression} must not match {value:?}"));
    }
}

#[test]
fn bytes_are_not_letters() {
    let text = b"{ \"classname\" \"worldspawn\" }\n{ \"n\" \"caf\xe9\" }\n\0";
    for (expression, number) in [(&b"^caf.$"[..], 1), (b"\\xe9", 1), (b"caf\xe9", 1), (b"caf\xc9", 0), (b"caf\\w", 0)] {
        let mut entities = Entities::parse(&text[..], EntityRules::QUAKE2).unwrap();
        let file = [b"{\n\"n\" \"/", expression, b"/\"\n}"].concat();
        let rules = Rules::parse("r.cfg", &file, Format::Stripper, Mode::Plugin).unwrap();
        assert_eq!(rules.apply(&mut entities, "map").unwrap().rules[0].count, number, "{}", file.escape_ascii());
    }
}

#[test]
fn what_pcre_rejects_too_leaves_the_pair_out() {
    let rows = [
        ("(", 7),
        ("a(b", 8),
        (")", 7),
        ("a)", 8),
        ("[a", 7),
        ("*a", 7),
        ("a**", 9),
        ("a|+", 9),
        ("(?:*)", 10),
        ("[z-a]", 11),
        ("[[:foo:]]", 8),
        ("[:digit:]", 7),
        ("a[=b=]", 8),
        ("\\u", 7),
        ("^*", 8),
        ("\\b+", 9),
        ("$?", 8),
        ("(a)\\2", 10),
        ("(a)\\k<n>", 10),
        ("(?<n>a)(?<n>b)", 7),
        ("\\1", 7),
        ("a\\", 8),
        ("a{2,1}", 8),
        ("a{70000}", 8),
        ("(?<1a>b)", 7),
        ("(?z)", 7),
        ("\\x{100}", 7),
        ("(?#a", 7),
    ];
    for (expression, column) in rows {
        let rule = format!("{{\n\"v\" \"/{expression}/\"\n}}");
        let found = findings(&rule, Mode::Plugin);
        assert_eq!(found, ["1:1 rule-empty-block".to_owned(), format!("2:{column} rule-pattern")], "{expression}");
        assert!(parse(&rule, Mode::Plugin).is_ok());
    }
}

#[test]
fn what_only_pcre_can_do_is_refused_with_its_place() {
    let rows = [
        ("a{2}+", 11, "a possessive quantifier"),
        ("(?<=a*)b", 7, "this program cannot read it"),
        ("(a)\\g<1>", 10, "a call of a group"),
        ("\\X", 7, "`\\X`"),
        ("(?R)", 7, "`(?R`"),
        ("(?1)", 7, "a call of a group"),
        ("(?(1)a)", 7, "a condition"),
        ("(?|a)", 7, "a branch reset"),
        ("(*FAIL)", 7, "a verb"),
        ("\\pL", 7, "a property of Unicode"),
        ("(?m)a", 7, "`(?m`"),
        ("(?x) a", 7, "`(?x`"),
    ];
    for (expression, column, why) in rows {
        let rule = format!("{{\n\"v\" \"/{expression}/\"\n}}");
        let error = parse(&rule, Mode::Plugin).unwrap_err().to_string();
        let start = format!(
            "r.cfg:2:{column}: the regular expression /{}/ cannot be used: {why}",
            expression.replace('\\', "\\\\")
        );
        assert!(error.starts_with(&start), "{error}\n{start}");
    }
}

/// PCRE 8.39 and 10.42 were asked, and the manual of 7.9 was read.
#[test]
fn what_versions_of_pcre_read_differently_is_refused() {
    let rows = [
        ("\\o{151}", 7, "`\\o`"),
        ("\\N", 7, "`\\N`"),
        ("a\\y", 8, "`\\y`"),
        ("[\\i]", 8, "`\\i`"),
        ("[\\B]", 8, "`\\B` in brackets"),
        ("[[:<:]]a", 8, "`[[:<:]]`"),
        ("[\\w-.]", 10, "a hyphen after a set"),
        ("[[:digit:]-z]", 17, "a hyphen after a set"),
        ("[a-\\d]", 9, "a hyphen before a set"),
        ("a{,2}", 8, "braces"),
        ("a{1, 2}", 8, "braces"),
        ("\\x{", 7, "`\\x{`"),
        ("\\8", 7, "a number"),
        ("\\g{+1}(a)", 7, "a back-reference"),
        ("(?=a)*", 12, "a quantifier"),
        ("(a)(?<=\\1)", 14, "a back-reference"),
        ("(?<=(a)\\1)", 14, "a back-reference"),
        ("(?=a\\K)", 11, "`\\K`"),
        ("(?^)a", 7, "`(?^`"),
        ("(?--i)a", 7, "two hyphens"),
        ("(?<n12345678901234567890123456789012>a)", 7, "a name"),
    ];
    for (expression, column, what) in rows {
        let error = parse(&format!("{{\n\"v\" \"/{expression}/\"\n}}"), Mode::Plugin).unwrap_err().to_string();
        let said = format!("cannot be used: versions of PCRE do not read {what}");
        assert!(error.starts_with(&format!("r.cfg:2:{column}: ")) && error.contains(&said), "{error}\n{said}");
    }
    // A hyphen at the end of a set is a letter to all of them.
    assert!(matches("^[\\w-]+$", "a-b") && !matches("^[\\w-]+$", "a b"));
}

#[test]
fn bytes_are_not_letters_where_an_expression_looks_around_either() {
    let text = b"{ \"classname\" \"worldspawn\" }\n{ \"n\" \"caf\xe9\" }\n\0";
    let rows = [
        (&b"(?=c)caf.$"[..], 1),
        (b"(?<=f)\\xe9", 1),
        (b"(?<=\\xe9)$", 1),
        (b"(?=c)caf\xe9", 1),
        (b"(?=c)caf[\xe0-\xef]", 1),
        (b"(?=c)caf\xc9", 0),
        (b"(?=c)caf\\w", 0),
    ];
    for (expression, number) in rows {
        let mut entities = Entities::parse(&text[..], EntityRules::QUAKE2).unwrap();
        let file = [b"{\n\"n\" \"/", expression, b"/\"\n}"].concat();
        let rules = Rules::parse("r.cfg", &file, Format::Stripper, Mode::Plugin).unwrap();
        assert_eq!(rules.apply(&mut entities, "map").unwrap().rules[0].count, number, "{}", file.escape_ascii());
    }
}

#[test]
fn a_match_that_takes_too_long_names_its_rule() {
    let text = format!("{{\n\"classname\" \"worldspawn\"\n}}\n{{\n\"v\" \"{}\"\n}}\n\0", "a".repeat(100) + "cb");
    for (rules, is_refused) in [
        ("{\n\"v\" \"/^(a|aa)+\\1b/\"\n}", true),
        ("{\n\"v\" \"/(?-i)^(a|aa)+\\1b/\"\n}", true),
        ("modify:\n{\nmatch:\n{\n\"v\" \"/a/\"\n}\ndelete:\n{\n\"v\" \"/^(a|aa)+\\1b/\"\n}\n}", true),
        ("{\n\"v\" \"/^(a)+\\1b/\"\n}", false),
    ] {
        let mut entities = Entities::parse(text.as_bytes(), EntityRules::QUAKE2).unwrap();
        let rules = parse(rules, Mode::Plugin).unwrap();
        let done = rules.apply(&mut entities, "map").map(|_| ()).map_err(|error| format!("{error:?} {error}"));
        assert_eq!(done.is_err(), is_refused, "{done:?}");
        if let Err(why) = done {
            assert!(why.contains("r.cfg:") && why.contains("too many attempts"), "{why}");
            assert_eq!(entities.to_bytes(), text.as_bytes());
        }
    }
}

#[test]
fn lumper_reads_expressions_as_dot_net() {
    // Lumper reads all but the last letter of an expression.
    let found = |text: &str| {
        let rule = format!("filter:\n{{\n\"v\" \"/{text}_/\"\n}}");
        let rules = Rules::parse("r.cfg", rule.as_bytes(), Format::Stripper, Mode::Lumper);
        rules.map(|rules| rules.findings.iter().filter(|one| one.message.contains("cannot be used")).count())
    };
    for refused in ["\\h", "\\y", "\u{e9}", "a++", "[a-z-[x]]", "(?P<n>a)"] {
        assert!(found(refused).map_or(true, |number| number > 0), "{refused}: {:?}", found(refused));
    }
    for read in ["[[:digit:]]", "a(?=b)", "(a)\\1", "\\v"] {
        assert!(matches!(found(read), Ok(0)), "{read}: {:?}", found(read));
    }
}

#[test]
fn expressions_are_bounded() {
    let error = |text: &str| parse(&format!("{{\n\"v\" \"/{text}/\"\n}}"), Mode::Plugin).unwrap_err().to_string();
    assert!(error("(a{100}){100}").contains("more than 4096 steps"));
    assert!(error("((((a{60}){60}){60}){60}){60}").contains("more than 4096 steps"));
    // Together they may not be too large either.
    let many = format!("{{\n{}}}", "\"v\" \"/a{4000}/\"\n".repeat(300));
    assert!(parse(&many, Mode::Plugin).unwrap_err().to_string().contains("too large together"));
    // Groups as deep as a line can have them.
    let deep = format!("{}a{}", "(".repeat(120), ")".repeat(120));
    assert!(error(&deep).contains("cannot be used"));
}
