//! What stops a script, and what it says.

use std::time::{Duration, Instant};

use bspkit_script::Limits;

use super::*;

/// Runs a script with bounds that are reached soon; says its error.
fn stopped(text: &str) -> String {
    let mut limits = Limits::default();
    (limits.steps, limits.time, limits.memory) = (300_000, Duration::from_secs(10), 8 << 30);
    let mut draft = fixture("q3/own_rooms.bsp").draft();
    let script = Script::compile("bound.rhai", text).unwrap();
    let begun = Instant::now();
    let error = script.run(&mut draft, &Settings::default().limits(limits)).expect_err(text);
    assert!(begun.elapsed() < Duration::from_secs(60), "{text}");
    assert!(draft.changes().unwrap().is_empty());
    error.to_string()
}

#[test]
fn endless_loops_end() {
    let steps = "the script has taken 300000 steps";
    assert_eq!(stopped("loop {}"), format!("bound.rhai:1:6: {steps}"));
    for text in [
        "while true { entities[0].message = \"x\"; }",
        "for e in entities { loop { let x = e.index(); } }",
        "fn f(n) { loop { n += 1; } } f(1)",
        "let a = [1]; for x in a { loop { a.push(1); a.pop(); } }",
        "[1].map(|x| { loop {} })",
        "for i in 0..9223372036854775807 {}",
    ] {
        assert!(stopped(text).ends_with(steps), "{text}");
    }
}

#[test]
fn recursion_ends() {
    assert!(stopped("fn f(n) { f(n + 1) } f(0)").ends_with("functions call each other more than 64 deep"));
    assert!(stopped("fn f() { g() } fn g() { f() } f()").ends_with("functions call each other more than 64 deep"));
    let deep = format!("let x = {}1{};", "(".repeat(1000), ")".repeat(1000));
    assert!(Script::compile("deep.rhai", deep).is_err());
    let deep = format!("let x = {}1{};", "[".repeat(100_000), "]".repeat(100_000));
    assert!(Script::compile("deep.rhai", deep).is_err());
    let deep = format!("let x = {}1;", "-".repeat(100_000));
    assert!(Script::compile("deep.rhai", deep).is_err());
}

#[test]
fn a_call_makes_no_value_that_is_too_large() {
    let string = "a string, or the text of a value, has more than 4194304 bytes";
    let long = "let s = \"aaaaaaaaaaaaaaaa\"; for i in 0..16 { s += s; }";
    let longer = format!("{long} s = `${{s}}${{s}}${{s}}${{s}}${{s}}`;");
    for text in [
        "let s = \"x\"; loop { s += s; }",
        "let s = \"x\"; loop { s = s + s; }",
        "let s = \"x\"; s.pad(100000000000, \"y\");",
        "let s = \"x\"; s.pad(100000000000, 'y');",
        &format!("{long} s.replace(\"a\", s);"),
        &format!("{longer} s.split(\"\");"),
        &format!("{longer} s.split('a', 9000000);"),
        &format!("{longer} s.split_rev(\"\");"),
        &format!("{longer} s.to_chars();"),
        &format!("{long} let a = []; a.pad(1000, s); let t = `${{a}}`;"),
        &format!("{long} let a = []; a.pad(1000, s); a.to_string()"),
        &format!("{long} let a = []; a.pad(1000, s); print(a)"),
        &format!("{long} let a = []; a.pad(1000, s); report(a)"),
        &format!("{long} let a = []; a.pad(1000, s); report(csv(a))"),
        &format!("{long} let a = []; a.pad(1000, [\"x\", s]); entities.add(a)"),
        &format!("{long} let a = #{{}}; for i in 0..100 {{ a[`${{i}}`] = s; }} \"x\" + a"),
    ] {
        let end = stopped(text);
        assert!(end.ends_with(string), "{text}: {end}");
    }
    for text in ["let a = []; a.pad(100000000000, 1);", "let b = blob(100000000000);", "blob(1).pad(100000000000, 1);"]
    {
        let end = stopped(text);
        assert!(end.ends_with("an array or a blob has more than 4194304 items"), "{text}: {end}");
    }
    assert!(stopped("fn f(n) { let a = n; let b = n; f(n) } let x0 = 1; f(x0)").contains("deep"));
    let many: String = (0..300).map(|n| format!("let x{n} = 1;")).collect();
    assert!(stopped(&many).ends_with("there are more than 256 variables"));
    assert!(stopped("let s = \"\"; s.pad(1000000, \"x\"); loop { report(s); }").contains("reports more than 64 MiB"));
}

/// A value that is taken out of another one is not copied, so its layers take a script no time.
#[test]
fn what_is_taken_out_is_not_nested_deep() {
    for take in ["a.drain(0..1)", "a.split(0)", "a.pop()", "a.shift()", "a.remove(0)", "a.take()", "a.drain(0, 9)"] {
        let end = stopped(&format!("let a = [[]]; loop {{ a = [[{take}]]; }}"));
        assert!(end.ends_with("nested more than 4096 deep"), "{take}: {end}");
    }
    let end = stopped("let a = #{}; loop { a = #{a: #{a: a.remove(\"a\")}}; }");
    assert!(end.ends_with("nested more than 4096 deep"), "{end}");
}

/// Functions of the language that have bounds here do what the language says.
#[test]
fn functions_with_bounds_are_those_of_the_language() {
    let said = reports(
        r#"let a = [1, 2, 3, 4, 5, 6];
        report(a.drain(1..3), a); report(a.drain(-1, 5), a); report(a.drain(1..=1), a); report(a.drain(7, 1), a);
        a = [1, 2, 3, 4, 5, 6];
        report(a.retain(1..4), a); report(a.retain(9, 1), a); report(a.retain(1..=1), a);
        a = [1, 2, 3, 4];
        report(a.pop(), a.shift(), a.remove(-1), a.remove(9), a, [].pop(), [].shift());
        a = [1, 2, 3]; report(a.split(-1), a, a.split(0), a);
        report("a b  c".split(), "a-b-c".split("-"), "a-b-c".split('-', 2), "a-b-c".split_rev("-", 2), "".split("x"));
        let s = "ab"; s.pad(5, "xy"); report(s, "ab".to_chars(), "é".split(""));
        let b = blob(2, 7); b.pad(4, 9); report(b.to_array(), blob(0).len());
        let o = #{a: 1}; report(o.remove("a"), o.remove("b"), o.take(), o);
        a = [1]; a.pad(3, 0); report(a);"#,
    );
    let expected = [
        "[2,3] [1,4,5,6]",
        "[6] [1,4,5]",
        "[4] [1,5]",
        "[] [1,5]",
        "[1,5,6] [2,3,4]",
        "[] [2,3,4]",
        "[2,4] [3]",
        "4 1 3 null [2] null null",
        "[3] [1,2] [1,2] []",
        r#"["a","b","c"] ["a","b","c"] ["a","b-c"] ["c","a-b"] [""]"#,
        r#"abxyx ["a","b"] ["","é",""]"#,
        "[7,7,9,9] 0",
        "1 null {} null",
        "[1,0,0]",
    ];
    assert_eq!(said, expected);
}

/// Values that are nested as deep as their bounds allow are dropped without an overflow of the stack.
#[test]
fn deep_values_do_not_overflow_the_stack() {
    let [open, close] = ["[", "]"].map(|bracket| bracket.repeat(10));
    let end = stopped(&format!("let a = []; loop {{ a = {open}a{close}; }}"));
    assert!(["steps", "arrays in it", "too long"].iter().any(|what| end.ends_with(what)), "{end}");
    let deep = "let a = []; let i = 0; while i < 3000 { a = [a]; i += 1; }";
    for end in ["report(a)", "a == a", "let b = a; b == [b]", "a.to_string()", "entities[0].x = a", "report(#{a: a})"] {
        let error = error(&format!("{deep} {end}"));
        assert!(error.ends_with("deep") || error.contains("is not a value"), "{end}: {error}");
    }
    let object = "let a = #{}; let i = 0; while i < 3000 { a = #{a: a}; i += 1; }";
    for end in ["report(a)", "a == a", "a.to_json()", "a.to_string()"] {
        assert!(error(&format!("{object} {end}")).ends_with("deep"), "{end}");
    }
}

#[test]
fn time_and_the_memory_of_the_process_are_measured() {
    let run = |change: fn(&mut Limits)| {
        let mut limits = Limits::default();
        change(&mut limits);
        let settings = Settings::default().limits(limits);
        let script = Script::compile("bound.rhai", "loop {}").unwrap();
        script.run(&mut fixture("q3/own_rooms.bsp").draft(), &settings).unwrap_err().to_string()
    };
    assert!(run(|limits| limits.time = Duration::from_millis(30)).ends_with("the script takes too long"));
    let memory = run(|limits| (limits.memory, limits.time) = (1, Duration::from_secs(1)));
    let expected = if cfg!(any(windows, target_os = "linux")) {
        "uses more memory than a script may use"
    } else {
        "takes too long"
    };
    assert!(memory.ends_with(expected), "{memory}");
}

#[test]
fn there_is_no_way_out() {
    for text in ["eval(\"1\")", "import \"a\" as b;", "let f = |x| x; f.curry(1);", "export let x = 1;"] {
        assert!(Script::compile("out.rhai", text).is_err(), "{text}");
    }
    assert_eq!(error("sleep(1)"), "test.rhai:1:1: a script cannot wait");
    assert_eq!(error("sleep(0.5)"), "test.rhai:1:1: a script cannot wait");
}

#[test]
fn an_error_has_the_place_the_line_and_the_calls() {
    let text = "fn inner(e) {\n    e.message = [1];\n}\nfn outer() {\n    inner(entities[0])\n}\nouter();\n";
    let (_, said) = run_on("q3/own_rooms.bsp", text);
    let error = said.unwrap_err();
    assert!(error.to_string().starts_with("test.rhai:2:6: an array is not a value for an entity"));
    let hint = "e.message = [1];\n ^\nin `inner`, called at test.rhai:5:5\nin `outer`, called at test.rhai:7:1";
    assert_eq!(error.hint().unwrap().to_string(), hint);
}

#[test]
fn unknown_names_have_suggestions() {
    let hint = |text: &str| run_on("q3/own_rooms.bsp", text).1.unwrap_err().hint().unwrap().to_string();
    assert!(hint("entites.len()").ends_with("did you mean entities?"));
    assert!(hint("entities.selct(\"x\")").ends_with("did you mean select?"));
    assert!(hint("let counter = 1; coutner += 1;").ends_with("did you mean counter?"));
    assert!(hint("entities.select(5)").contains("it is called as entities.select(selector)"));
    assert_eq!(error("no_such_thing()"), "test.rhai:1:1: there is no function `no_such_thing`");
}

#[test]
fn values_of_a_wrong_type_are_named() {
    assert_eq!(error("entities[0].number(\"no\") * 2"), "test.rhai:1:26: `*` cannot be used with () and a number");
    assert_eq!(error("().trim()"), "test.rhai:1:4: there is no function `trim` for (())");
    let hint = |text: &str| match Script::compile("test.rhai", text) {
        Ok(_) => run_on("q3/own_rooms.bsp", text).1.unwrap_err().hint().unwrap().to_string(),
        Err(error) => error.hint().unwrap().to_string(),
    };
    assert!(hint("entities[0].no * 2").ends_with("what a key has that an entity does not have"));
    assert!(hint("entities.first(\"*\").light = 5;").ends_with("let e = entities[0]; e.light = 5;"));
}

#[test]
fn all_or_nothing() {
    assert_eq!(error("entities[0].message = \"new\"; throw \"stop\""), "test.rhai:1:30: stop");
    assert_eq!(reports("try { entities[99] } catch(e) { report(e) }"), ["there is no entity 99: the map has 18"]);
}

#[test]
fn arguments_are_words_and_names() {
    let script = Script::compile("args.rhai", "report(args.axis, args.dry_run, args.n, args.no, args[0], args.len())");
    let mut draft = fixture("q3/own_rooms.bsp").draft();
    let settings = Settings::default().args(["--axis", "x", "word", "--dry-run", "--n=-5"]);
    let said = script.unwrap().run(&mut draft, &settings).unwrap();
    assert_eq!(said.reports[0].text, "x true -5 null --axis 5");
    let printed = Script::compile("args.rhai", "report(`${args}`)").unwrap().run(&mut draft, &settings).unwrap();
    assert!(format!("{printed:?}").contains("word"), "{printed:?}");
    let only = Script::compile("args.rhai", "args.only([\"axes\"])").unwrap().run(&mut draft, &settings).unwrap_err();
    assert_eq!(only.to_string(), "args.rhai:1:6: the script has no argument --axis");
    assert!(only.hint().unwrap().to_string().ends_with("did you mean --axes?"));
    // A name is the same with `-` and with `_`, as it is on the command line.
    for names in ["dry_run", "dry-run"] {
        let text = format!("args.only([\"axis\", \"n\", \"{names}\"]);");
        Script::compile("args.rhai", &text).unwrap().run(&mut draft, &settings).unwrap();
    }
}
