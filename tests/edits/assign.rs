//! Assignments and removals: each form by example, against an evaluator of their own, taken back, and what is refused.

use crate::random;
use bspkit::content::assign::{Assigned, Assignment, Removal};
use bspkit::content::entities::Entities;
use bspkit::dialect::EntityRules;
use bspkit::{ErrorKind, Hint};
use proptest::prelude::*;
use random::config;

fn with_value(value: &str) -> Entities<'static> {
    let text = format!("{{ \"classname\" \"worldspawn\" }}\n{{ \"v\" \"{value}\" \"name\" \"a\" \"name\" \"b2\" }}\0");
    // No engine's limits: those of assignments are tried.
    let mut rules = EntityRules::SOURCE;
    rules.rules = &[];
    Entities::parse(text.into_bytes(), rules).unwrap()
}

fn assigned(value: &str, assignment: &str) -> (String, Assigned) {
    let mut entities = with_value(value);
    let done = entities.assign(&[1], &[Assignment::parse(assignment).unwrap()]).unwrap();
    (String::from_utf8(entities.get(1).unwrap().get("v").unwrap().to_vec()).unwrap(), done)
}

#[track_caller]
fn becomes(value: &str, assignment: &str, new: &str) {
    let (found, done) = assigned(value, assignment);
    assert_eq!((found.as_str(), done.left.len()), (new, 0), "{value} {assignment}: {done:?}");
}

#[test]
fn numbers_keep_the_way_they_are_written() {
    for (value, assignment, new) in [
        ("300", "v*=1.5", "450"),
        ("301", "v*=1.5", "451.5"),
        ("300", "v+=-20", "280"),
        ("-1", "v-=-1", "0"),
        ("2.5", "v+=0.5", "3"),
        ("1.500", "v+=1", "2.500"),
        ("1.500", "v*=1.5", "2.250"),
        ("0.50", "v-=0.5", "0.00"),
        ("0.1", "v+=0.2", "0.3"),
        ("0.333333", "v+=0.666667", "1.000000"),
        (".5", "v/=2", ".25"),
        ("-.5", "v+=1", ".5"),
        ("5.", "v+=1", "6"),
        ("+5", "v+=1", "6"),
        ("007", "v+=1", "8"),
        ("1e2", "v+=1", "101"),
        ("1E-2", "v*=1", "1E-2"),
        ("-4.37114e-08", "v*=2", "-0.0000000874228"),
        ("10", "v/=3", "3.33333333"),
        ("2", "v/=3", "0.666666667"),
        ("-2", "v/=3", "-0.666666667"),
        ("1000", "v/=3", "333.333333"),
        ("1", "v/=3000000", "0.000000333333333"),
        ("0.123456789012", "v+=1", "1.123456789012"),
        ("123456.789", "v*=1.5", "185185.1835"),
        ("123456.789", "v/=8", "15432.098625"),
        ("123456.789012", "v*=1.0000001", "123456.801358"),
    ] {
        becomes(value, assignment, new);
    }
}

#[test]
fn vectors_are_calculated_number_by_number() {
    for (value, assignment, new) in [
        ("384 0 160", "v+=0 0 8", "384 0 168"),
        ("384 0 -160", "v*=-1 1 1", "-384 0 -160"),
        ("0 -0 +0", "v*=-1", "0 -0 +0"),
        ("255 128 64 200", "v/=2", "127.5 64 32 100"),
        ("  1.0\t2   3 ", "v+=0.5", "  1.5\t2.5   3.5 "),
        ("1.0 2 3", "v+=1", "2.0 3 4"),
        ("1 2 3", "v+={v}", "2 4 6"),
        ("7", "v*={v} ", "49"),
    ] {
        becomes(value, assignment, new);
    }
}

#[test]
fn text_is_replaced_and_filled_in() {
    for (value, assignment, new) in [
        ("door_12", r"v~s/door_(\d+)/{1}_gate/", "12_gate"),
        ("aXbx", "v~s/x/-/", "aXb-"),
        ("aXbx", "v~s/x/-/i", "a-bx"),
        ("aXbx", "v~s/x/<{0}>/gi", "a<X>b<x>"),
        ("abc", "v~s/x*/-/g", "-a-b-c-"),
        ("baaac", "v~s/a*/-/g", "-b-c-"),
        ("abab", "v~s/^a/-/g", "-bab"),
        ("a/b", r"v~s/\//\\/", r"a\b"),
        ("a", r"v~s/a/{name#2}\/\{1}/", "b2/{1}"),
        ("abc", r"v~s/(x)?b/[{1}]/", "a[]c"),
        ("abc", "v~s/b//", "ac"),
        ("x", "v={v}{name}_{name#2}", "xa_b2"),
        ("x", r"v=\{v}", "{v}"),
        ("x", "v={fence", "{fence"),
        ("x", "v={blood1 }}{", "{blood1 }}{"),
        ("x", r"v=\x7bv}\\", r"{v}\"),
        ("x", "v=The Place = here", "The Place = here"),
    ] {
        // A key `blood1 ` does not exist: what looks like one is left.
        match value == "x" && assignment.contains("blood1 }") {
            true => assert_eq!(
                assigned(value, assignment).1.left[0].why,
                "it needs the key `blood1 `, which the entity does not have"
            ),
            false => becomes(value, assignment, new),
        }
    }
}

/// Text in UTF-8 by letters, other text by bytes; no letter is cut.
#[test]
fn letters_of_several_bytes_stay_whole() {
    becomes("при a", "v~s/[^a-z ]/X/", "Xри a");
    becomes("при a", "v~s/[^a-z ]/X/g", "XXX a");
    becomes("при", "v~s/^.(.)/{1}/", "ри");
    becomes("ПРИ a", "v~s/[^a-z ]/X/i", "XРИ a");
    becomes("ПРИ", "v~s/п/x/i", "xРИ");
    let mut entities = with_value("ПРИ");
    let error = entities.assign(&[1], &[Assignment::parse(r"v~s/\xd0/X/").unwrap()]).unwrap_err();
    assert!(error.to_string().contains("would cut a letter"), "{error}");
}

#[test]
fn a_calculation_in_a_text_is_refused() {
    for text in ["light={light}*1.5", "light={_light} * 2", "light={light}+50"] {
        let error = Assignment::parse(text).unwrap_err();
        assert!(error.to_string().contains("is a text and no calculation"), "{error}");
    }
    for text in ["name={class}_1", "name={class}-1", "light={light}\\x2a2", "name={class}*"] {
        Assignment::parse(text).unwrap();
    }
}

#[test]
fn each_assignment_sees_those_before_it() {
    let mut entities = with_value("1");
    let assignments = ["v+=1", "v*=10", "w={v}", "v#2={w}", "v#2-=5"].map(|text| Assignment::parse(text).unwrap());
    let done = entities.assign(&[1], &assignments).unwrap();
    assert_eq!((done.entities, done.left_in_total), (1, 0));
    let text = "{ \"v\" \"20\" \"name\" \"a\" \"name\" \"b2\" \"w\" \"20\" \"v\" \"15\" }\0";
    assert!(entities.to_bytes().ends_with(text.as_bytes()), "{:?}", String::from_utf8(entities.to_bytes()));
}

#[test]
fn what_cannot_be_calculated_is_named_and_left() {
    let left = |value: &str, assignment: &str| {
        let (found, done) = assigned(value, assignment);
        assert_eq!((found.as_str(), done.entities, done.left_in_total), (value, 0, 1), "{assignment}");
        done.left[0].to_string()
    };
    assert_eq!(left("never", "v+=1"), "entity #1: `v` stays: `never` is not a number");
    assert_eq!(left("", "v+=1"), "entity #1: `v` stays: it has no number");
    assert_eq!(left("1 x 3", "v+=1"), "entity #1: `v` stays: `1 x 3` has the word `x`, which is not a number");
    assert_eq!(left("1 2", "v+=1 2 3"), "entity #1: `v` stays: it has 2 numbers, and the operand 3: `1 2`");
    assert_eq!(left("1", "nope+=1"), "entity #1: `nope` stays: the entity does not have it");
    assert_eq!(left("1", "name#3~s/a/b/"), "entity #1: `name#3` stays: the entity does not have it");
    assert_eq!(left("1", "v={nope}"), "entity #1: `v` stays: it needs the key `nope`, which the entity does not have");
    assert_eq!(left("1", "v+={name}"), "entity #1: `v` stays: the operand is not a number: `a` is not a number");
    for odd in ["nan", "inf", "-inf", "0x10", "1,5", "1e", ".", "-", "1.2.3", "--1", "1e999"] {
        assert!(left(odd, "v*=2").ends_with(&format!("`{odd}` is not a number")), "{odd}");
    }
    for (value, assignment) in
        [("99999999999999999999", "v*=99999999999999999999"), ("1e38", "v*=10"), ("1e-45", "v*=2")]
    {
        assert!(left(value, assignment).ends_with("is too large or has too many digits"), "{value}");
    }
    // Nothing matches: neither done nor left.
    assert_eq!(assigned("1", "v~s/x/y/").1, Assigned::default());
}

#[test]
fn divisions_by_zero_are_refused() {
    let mut entities = with_value("1 2");
    let assignments = ["zero=0.0", "v/={zero}"].map(|text| Assignment::parse(text).unwrap());
    let error = entities.assign(&[1], &assignments).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert!(error.to_string().contains("`1 2` is divided by 0"), "{error}");
}

#[test]
fn what_cannot_be_read_is_pointed_at() {
    for (text, at, why) in [
        ("light*=a", 7, "a number is expected here"),
        ("light+=", 7, "a number is expected here"),
        ("light/=2 0", 7, "nothing can be divided by 0"),
        ("a#0=1", 0, "equal keys are counted from 1"),
        ("a={b#0}", 2, "equal keys are counted from 1"),
        ("light", 5, "it has no operator"),
        ("a~s/b/c", 7, "three slashes"),
        ("a~s/b", 5, "three slashes"),
        ("a~s/b/c/x", 8, "`g` (all matches) and `i`"),
        ("a~s/\u{e4}(/c/", 6, "unclosed group"),
        (r"a~s/b/x\1/", 7, "a group is written {1}"),
        ("a~s/b/$1/", 6, "a group is written {1}"),
        ("a~s/(b)/{2}/", 8, "the expression has 1 groups"),
        (r"a~s/\w{9999}{99}/c/", 4, "takes more than"),
    ] {
        let error = Assignment::parse(text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument, "{text}");
        assert!(error.to_string().contains(why), "{text}: {error}");
        let caret = " ".repeat(text.as_bytes()[..at].utf8_chunks().map(|part| part.valid().chars().count()).sum());
        assert_eq!(error.hint(), Some(&Hint::Text(format!("{text}\n{caret}^"))), "{text}");
    }
    for (text, key) in [
        ("=x", ""),
        ("x+ =1", "x+ "),
        ("light*2=5", "light*2"),
        ("x =1", "x "),
        ("y:=1", "y:"),
        ("y==1", "y"),
        ("y**=2", "y*"),
        ("y!=2", "y!"),
        ("y|=2", "y|"),
        ("y~=2", "y~"),
        ("y=~s/a/b/", "y"),
        ("y~s|a=b|c|", "y~s|a"),
        ("y~/a=/", "y~/a"),
    ] {
        let error = Assignment::parse(text).unwrap_err();
        assert_eq!(error.hint(), Some(&Hint::LiteralKey(key.to_owned())), "{text}: {error}");
    }
    assert!(Assignment::parse("a-b=1").is_ok());
    assert!(Assignment::parse(r"a\x3db=1").is_ok());
}

#[test]
fn pairs_are_removed_by_their_values() {
    let text = "{ \"a\" \"1\" \"A\" \"2\" \"a\" \"x1\" \"b\" \"\" }\0";
    let removed = |removals: &[&str]| {
        let mut entities = Entities::parse(text, EntityRules::SOURCE).unwrap();
        let removals: Vec<_> = removals.iter().map(|text| Removal::parse(text).unwrap()).collect();
        let counts = entities.remove_pairs(&[0], &removals).unwrap();
        let pairs = entities.get(0).unwrap();
        (
            counts,
            pairs.pairs().map(|pair| String::from_utf8(pair.value.to_vec()).unwrap()).collect::<Vec<_>>().join(","),
        )
    };
    assert_eq!(removed(&["a"]), (vec![3], "".into()));
    assert_eq!(removed(&["a#2"]), (vec![1], "1,x1,".into()));
    assert_eq!(removed(&["a#1", "a#2"]), (vec![1, 1], "x1,".into()));
    assert_eq!(removed(&["a=2"]), (vec![1], "1,x1,".into()));
    assert_eq!(removed(&["a#1=2", "a#2=2", "a"]), (vec![0, 1, 3], "".into()));
    assert_eq!(removed(&["a>=1"]), (vec![2], "x1,".into()));
    assert_eq!(removed(&["a~/^X/i"]), (vec![1], "1,2,".into()));
    assert_eq!(removed(&["a*=1", "b="]), (vec![2, 1], "2".into()));
    assert_eq!(removed(&[r"a\x3d", "health*"]), (vec![0, 0], "1,2,x1,".into()));
    for (text, at, why) in [
        ("", 0, "a key is missing"),
        ("=1", 0, "a key is missing"),
        ("a!=b", 2, "there are ="),
        ("a==b", 1, "there are ="),
        ("a>x", 2, "compares with a number"),
        ("a~/(/", 3, "unclosed group"),
        ("a~/b", 4, "between slashes"),
        ("a~/b/g", 5, "between slashes"),
    ] {
        let error = Removal::parse(text).unwrap_err();
        assert!(error.to_string().contains(why), "{text}: {error}");
        assert_eq!(error.hint(), Some(&Hint::Text(format!("{text}\n{}^", " ".repeat(at)))), "{text}");
    }
}

#[test]
fn what_would_take_too_much_is_refused() {
    let doubling: Vec<_> = (0..40).map(|_| Assignment::parse("v={v}{v}").unwrap()).collect();
    let error = with_value("xxxxxxxx").assign(&[1], &doubling).unwrap_err();
    assert!(error.to_string().contains("would be too long"), "{error}");
    let rewriting = Assignment::parse("v~s/x/{v}{v}/g").unwrap();
    let error = with_value(&"x".repeat(2000)).assign(&[1], &[rewriting]).unwrap_err();
    assert!(error.to_string().contains("would be too long"), "{error}");
    // Each match of this looks through all the rest.
    let slow = Assignment::parse("v~s/x*y|x/-/g").unwrap();
    let error = with_value(&"x".repeat(1 << 17)).assign(&[1], &[slow]).unwrap_err();
    assert!(error.to_string().contains("takes too long"), "{error}");
    let many = Assignment::parse(&format!("v={}", "x".repeat(1 << 20))).unwrap();
    let error = with_value("").assign(&[1; 17], &[many]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLarge);
}

/// A decimal of the evaluator: whole units of `10^-decimals`.
#[derive(Clone, Copy, Debug)]
struct Plain(i128, u32);

fn plain() -> impl Strategy<Value = Plain> {
    (-1_000_000_i128..1_000_000, 0_u32..5).prop_map(|(units, decimals)| Plain(units, decimals))
}

/// Written by taking digits off the end.
fn written(Plain(units, decimals): Plain) -> String {
    let (mut rest, mut digits) = (units.abs(), Vec::new());
    for place in 0.. {
        if rest == 0 && place > decimals {
            break;
        }
        if place == decimals && place > 0 {
            digits.push('.');
        }
        digits.push(char::from(b'0' + u8::try_from(rest % 10).unwrap()));
        rest /= 10;
    }
    let sign = if units < 0 { "-" } else { "" };
    sign.chars().chain(digits.into_iter().rev()).collect()
}

/// Without zeros at the end, but with at least these decimals.
fn trimmed(Plain(mut units, mut decimals): Plain, least: u32) -> Plain {
    while decimals > least && units % 10 == 0 {
        (units, decimals) = (units / 10, decimals - 1);
    }
    while decimals < least {
        (units, decimals) = (units * 10, decimals + 1);
    }
    Plain(units, decimals)
}

proptest! {
    #![proptest_config(config(2000, "tests/proptest-regressions/assign.txt"))]

    #[test]
    fn calculations_are_those_of_an_evaluator(old in prop::collection::vec(plain(), 1..4), operand in plain(), which in 0_usize..3) {
        let value = old.iter().map(|number| written(*number)).collect::<Vec<_>>().join(" ");
        let is_padded = value.split(' ').any(|word| word.contains('.') && word.ends_with('0'));
        let operator = ["+=", "-=", "*="][which];
        let (found, done) = assigned(&value, &format!("v{operator}{}", written(operand)));
        prop_assert_eq!(done.left_in_total, 0);
        for ((word, Plain(units, decimals)), old) in found.split(' ').zip(&old).zip(value.split(' ')) {
            let Plain(other, more) = operand;
            let (one, two) = (units * 10_i128.pow(more), other * 10_i128.pow(*decimals));
            let exact = match which {
                0 => Plain(one + two, decimals + more),
                1 => Plain(one - two, decimals + more),
                _ => Plain(units * other, decimals + more),
            };
            let expected = written(trimmed(exact, if is_padded { *decimals } else { 0 }));
            let digits = expected.trim_start_matches(['-', '0', '.']).chars().filter(char::is_ascii_digit).count();
            let is_same = exact.0 == units * 10_i128.pow(more);
            if is_same {
                prop_assert_eq!(word, old);
            } else if digits <= 18 || which < 2 {
                prop_assert_eq!(word, expected, "{} {} {:?}", value, operator, operand);
            } else {
                let (near, exact): (f64, f64) = (word.parse().unwrap(), expected.parse().unwrap());
                prop_assert!(((near - exact) / exact).abs() <= 5e-9, "{} for {}", word, expected);
            }
        }
    }

    #[test]
    fn quotients_are_the_nearest(one in -1_000_000_i64..1_000_000, other in 1_i64..100_000) {
        let (found, _) = assigned(&one.to_string(), &format!("v/={other}"));
        let (near, exact) = (found.parse::<f64>().unwrap(), one as f64 / other as f64);
        prop_assert!((near - exact).abs() <= 5e-9 * exact.abs(), "{} / {}: {}", one, other, found);
        let digits = found.trim_start_matches(['-', '0', '.']).chars().filter(char::is_ascii_digit).count();
        // A quotient ends if its denominator has no other prime factors than those of ten.
        let mut under = i64::abs(other) / common_divisor(one.abs(), other);
        for prime in [2, 5] {
            while under % prime == 0 {
                under /= prime;
            }
        }
        let most = if under == 1 { 18 } else { 9 };
        prop_assert!(digits <= most, "{}", found);
    }

    /// An assignment and its inverse give the old bytes, wherever the numbers are exact: any number without zeros at
    /// the end, and one that keeps its decimals if it still shows them in between.
    #[test]
    fn the_inverse_takes_it_back(old in prop::collection::vec(plain(), 1..4), other in plain(), factor in 0_usize..6) {
        let text = |least| old.iter().map(|number| written(trimmed(*number, least))).collect::<Vec<_>>().join("  ");
        let (short, long) = (text(0), text(7));
        let (whole, other) = (other.0, written(trimmed(other, 0)));
        let factor = ["2", "4", "0.5", "-1", "10", "2.5"][factor];
        for (value, there, back) in [
            (&short, format!("v+={other}"), format!("v-={other}")),
            (&short, format!("v-={other}"), format!("v+={other}")),
            (&short, format!("v*={factor}"), format!("v/={factor}")),
            (&long, format!("v+={whole}"), format!("v-={whole}")),
            (&long, "v*=-1".into(), "v/=-1".into()),
        ] {
            let mut entities = with_value(value);
            let before = entities.to_bytes();
            for assignment in [&there, &back] {
                let done = entities.assign(&[1], &[Assignment::parse(assignment).unwrap()]).unwrap();
                prop_assert_eq!(done.left_in_total, 0);
            }
            prop_assert!(entities.to_bytes() == before, "{} {} {}", value, there, back);
            prop_assert!(!entities.is_edited());
        }
    }

    #[test]
    fn replacements_are_those_of_the_crate(value in "[abx ]{0,12}", which in 0_usize..8, is_global: bool) {
        let expression = ["a", "x*", "(a)|(b)", "a*?", "^a", "b$", "(a*)(b*)", "a|$"][which];
        let (found, _) = assigned(&value, &format!("v~s/{expression}/<{{0}}>/{}", if is_global { "g" } else { "" }));
        let regex = regex::Regex::new(expression).unwrap();
        let expected = regex.replacen(&value, usize::from(!is_global), "<${0}>");
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn no_text_makes_it_panic(text in "[a-b#0-9.+*/~=s{}\\\\ x\u{e9}-]{0,16}", value in "[0-9eE.+ -]{0,8}") {
        let _ = Removal::parse(&text);
        if let Ok(assignment) = Assignment::parse(&text) {
            let _ = with_value(&value).assign(&[0, 1], &[assignment]);
        }
        if let Ok(assignment) = Assignment::parse(&format!("v{text}")) {
            let _ = with_value(&value).assign(&[0, 1], &[assignment]);
        }
    }
}

fn common_divisor(one: i64, other: i64) -> i64 {
    if other == 0 { one } else { common_divisor(other, one % other) }
}
