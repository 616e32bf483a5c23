//! Values calculate as in `ent set`, or it is an error; faults of functions that the language calls are faults.

use super::*;

/// The value of `x` of an entity that has it, after a script that changes it.
fn after(value: &str, change: &str) -> String {
    let text = format!("let e = entities[1]; e.x = `{value}`; {change}; report(e.x)");
    reports(&text).concat()
}

fn error_after(value: &str, change: &str) -> String {
    error(&format!("let e = entities[1]; e.x = `{value}`; {change}; report(e.x)"))
}

#[test]
fn values_calculate_as_in_ent_set() {
    for (value, change, new) in [
        ("100", "e.x += 50", "150"),
        ("100", "e.x -= 50", "50"),
        ("100", "e.x *= 1.5", "150"),
        ("0.1", "e.x += 0.2", "0.3"),
        ("123456.789", "e.x *= 2", "246913.578"),
        ("100 0.50", "e.x /= 2", "50 0.25"),
        ("1 2 3", "e.x += vec(0, 0, 8)", "1 2 11"),
        ("1 2 3", "e.x -= `0 0 8`", "1 2 -5"),
        ("1 2 3", "e.x *= 2", "2 4 6"),
        ("100", "e[\"x\"] += 50", "150"),
        ("100", "e.x = e.number(\"x\") + 50", "150"),
        ("100", "e.x = number(e.x) + 50", "150"),
        ("123456.789", "e.x = e.number(\"x\")", "123456.789"),
        ("0.1", "e.x = e.number(\"x\") + 0.2", "0.3"),
        // Texts are joined where they are no numbers.
        ("door", "e.x += \"_1\"", "door_1"),
        ("door", "e.x = e.x + 1", "door1"),
        ("door", "e.x = 1 + e.x", "1door"),
        ("door", "e.x += 's'", "doors"),
        ("of ", "e.x = e.x + [1, 2]", "of [1,2]"),
        ("at", "e.x = e.x + vec(1, 2, 3)", "at1 2 3"),
        ("", "e.x = \"\" + 5", "5"),
        ("100", "e.x = `${e.x}50`", "10050"),
    ] {
        assert_eq!(after(value, change), new, "{value}: {change}");
    }
}

#[test]
fn what_could_be_two_things_is_an_error() {
    for (value, change, what) in [
        ("never", "e.x += 50", "`never` is not a number"),
        ("1 2", "e.x += vec(0, 0, 8)", "it has 2 numbers, and the operand 3"),
        ("100", "e.x = e.x + 50", "are numbers, and `+` could join them"),
        ("100", "e.x = 50 + e.x", "are numbers, and `+` could join them"),
        ("100", "e.x = e.x + e.x", "are numbers, and `+` could join them"),
        ("100", "e.x += `5`", "are numbers, and `+` could join them"),
        ("1 2 3", "e.x = e.x + vec(0, 0, 8)", "are numbers, and `+` could join them"),
        ("1 2 3", "e.x = vec(0, 0, 8) + e.x", "are numbers, and `+` could join them"),
        ("100", "e.x /= 0", "divided by 0"),
        ("100", "e.x += e.y", "() is not a value"),
        ("1 2 3", "e.x += [0, 0, 8]", "an array is not a value to add to a text"),
        ("100", "e.x += true", "is not a value to add to a text"),
        ("door", "e.x += [1]", "an array is not a value to add to a text"),
        ("door", "e.x += #{a: 1}", "an object is not a value to add to a text"),
        ("100", "e.x += '5'", "are numbers, and `+` could join them"),
        ("1 2 3", "e.x = e.x + [0, 0, 8]", "`1 2 3` is numbers, and an array is not a value to calculate with"),
        ("100", "e.x = true + e.x", "`100` is numbers, and"),
        ("100", "let sum = 0; sum += e.x", "are numbers, and `+` could join them"),
        ("100", "e.x = e.x * 2", "`*` cannot be used with"),
        ("never", "if e.x > 9 {}", "`never` is not a number"),
        ("100", "if e.x > `9` {}", "are numbers, compared as text"),
        ("100", "e.x = 1.0 / 0.0", "is not a number that engines read"),
        ("100", "e.x = (0.0 / 0.0)", "is not a number that engines read"),
        ("100", "e.x = 1e300", "is not a number that engines read"),
        ("100", "e.x = vec(1, 2, 3) / 0", "is not a number that engines read"),
        ("100", "e.x = 9223372036854775807 + 1", "overflow"),
        ("100", "let n = 9223372036854775807; n += 1", "too large"),
        ("100", "let n = 1; n /= 0", "has no result"),
    ] {
        let error = error_after(value, change);
        assert!(error.contains(what), "{value}: {change}: {error}");
    }
}

#[test]
fn values_compare_as_numbers() {
    for (value, test, is) in [
        ("100", "e.x > 9", true),
        ("100", "9 < e.x", true),
        ("100", "e.x <= 99.5", false),
        ("100", "e.x == 100", true),
        ("100.0", "e.x == 100", true),
        ("100", "100 != e.x", false),
        ("never", "e.x == 100", false),
        ("never", "e.x != 100", true),
        ("1 2 3", "e.x == vec(1, 2, 3)", true),
        ("1.0 2 3", "vec(1, 2, 3) != e.x", false),
        ("abc", "e.x < `b`", true),
        ("never", "e.x == `never`", true),
    ] {
        assert_eq!(after(value, &format!("e.x = {test}")), u8::from(is).to_string(), "{value}: {test}");
    }
}

/// The same operation by a script and by an assignment.
#[test]
fn scripts_and_assignments_agree() {
    use bspkit::content::assign::Assignment;
    for value in ["100", "0.5 1.50", "-3", "1e3", ".5", "123456.789", "0.000001", "99999999999"] {
        for operator in ["+=", "-=", "*=", "/="] {
            for operand in ["3", "0.5", "1.5", "-7"] {
                let script = format!("let e = entities[1]; e.x = `{value}`; e.x {operator} {operand};");
                let (mut one, said) = run_on("q3/own_rooms.bsp", &script);
                let mut other = fixture("q3/own_rooms.bsp").draft();
                let entities = other.entities().unwrap();
                let set = [format!("x={value}"), format!("x{operator}{operand}")];
                let set = set.map(|text| Assignment::parse(&text).unwrap());
                match entities.assign(&[1], &set) {
                    Ok(done) if done.left.is_empty() => {
                        said.unwrap();
                        assert_eq!(one.entities().unwrap().to_bytes(), entities.to_bytes(), "{script}");
                    }
                    _ => assert!(said.is_err(), "{script}"),
                }
            }
        }
    }
}

/// Each function that takes a function of the script, with a fault in that, and with a result of another type.
#[test]
fn faults_in_functions_are_faults() {
    let array = "let a = [3, 1, 2, 2];";
    let object = "let a = #{x: 1, y: 2};";
    for (on, call) in [
        (array, "sort(|a, b| BAD)"),
        (array, "sort_by(|a, b| BAD)"),
        (array, "dedup(|a, b| BAD)"),
        (array, "filter(|a| BAD)"),
        (array, "filter(|a, i| BAD)"),
        (array, "filter(|| BAD)"),
        (array, "find(|a| BAD)"),
        (array, "find(|a| BAD, 1)"),
        (array, "index_of(|a| BAD)"),
        (array, "index_of(|a| BAD, 1)"),
        (array, "some(|a| BAD)"),
        (array, "all(|a| BAD)"),
        (array, "drain(|a| BAD)"),
        (array, "retain(|a| BAD)"),
        (object, "filter(|k, v| BAD)"),
        (object, "drain(|k, v| BAD)"),
        (object, "retain(|k, v| BAD)"),
    ] {
        let fault = error(&format!("{on}\na.{}", call.replace("BAD", "nothing_there")));
        assert!(fault.starts_with("test.rhai:2:") && fault.contains("nothing_there"), "{call}: {fault}");
        let wrong = error(&format!("{on}\na.{}", call.replace("BAD", "\"text\"")));
        assert!(wrong.contains("the function gives a string"), "{call}: {wrong}");
    }
    for call in
        ["map(|a| BAD)", "for_each(|a| BAD)", "find_map(|a| BAD)", "reduce(|s, a| BAD)", "reduce_rev(|s, a| BAD)"]
    {
        let fault = error(&format!("{array}\na.{}", call.replace("BAD", "nothing_there")));
        assert!(fault.starts_with("test.rhai:2:") && fault.contains("nothing_there"), "{call}: {fault}");
    }
}

#[test]
fn functions_of_the_language_do_what_they_say() {
    for (call, result) in [
        ("a.sort(|a, b| a - b); a", "[1,2,2,3]"),
        ("a.sort(|a, b| b - a); a", "[3,2,2,1]"),
        ("a.sort(|a, b| a < b); a", "[1,2,2,3]"),
        ("a.sort(|a, b| (a - b) * 0.5); a", "[1,2,2,3]"),
        ("a.dedup(|a, b| a == b); a", "[3,1,2]"),
        ("a.filter(|a| a > 1)", "[3,2,2]"),
        ("a.filter(|a, i| i > 1)", "[2,2]"),
        ("a.filter(|| this > 2)", "[3]"),
        ("a.find(|a| a < 3)", "1"),
        ("a.find(|a| a < 3, 2)", "2"),
        ("a.find(|a| a < 3, -1)", "2"),
        ("a.index_of(|a| a == 2)", "2"),
        ("a.index_of(|a| a == 9)", "-1"),
        ("a.index_of(|a| a == 2, 3)", "3"),
        ("a.some(|a| a == 9)", "false"),
        ("a.all(|a| a > 0)", "true"),
        ("[a.drain(|a| a == 2), a]", "[[2,2],[3,1]]"),
        ("[a.retain(|a| a == 2), a]", "[[3,1],[2,2]]"),
        ("o.filter(|k, v| v > 1)", "{\"y\":2}"),
        ("[o.drain(|k, v| k == \"x\"), o]", "[{\"x\":1},{\"y\":2}]"),
        ("[o.retain(|k, v| k == \"x\"), o]", "[{\"y\":2},{\"x\":1}]"),
    ] {
        let said = reports(&format!("let a = [3, 1, 2, 2]; let o = #{{x: 1, y: 2}}; let r = {{ {call} }}; report(r)"));
        assert_eq!(said, [result], "{call}");
    }
    // A function that contradicts itself ends, with all items.
    let said = reports(
        "let a = []; for i in 0..500 { a.push(i * 7919 % 500); } a.sort(|a, b| -1); a.sort(); report(a[499], a.len())",
    );
    assert_eq!(said, ["499 500"]);
}
