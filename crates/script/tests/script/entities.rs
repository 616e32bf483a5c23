//! Entities, pairs, vectors and outputs.

use super::*;

#[test]
fn values_are_read_and_set() {
    let said = reports(
        r#"let e = entities.first("info_player_start");
        report(e.classname, e["CLASSNAME"], e.no_such_key, e.vec("origin") + vec(0, 0, 8));
        e.origin = vec(e.origin) * -1.5;
        e.angle = 90.0;
        e.message = "x";
        report(e.origin, e.angle, e.number("angle") + 1, e.message);"#,
    );
    assert_eq!(said, ["info_player_start info_player_start null 48 0 48", "-72 0 -60 90 91 x"]);
}

#[test]
fn bytes_that_are_not_utf8_are_escapes_and_stay() {
    let mut draft = fixture("q3/own_rooms.bsp").draft();
    draft.entities().unwrap().get_mut(1).unwrap().set("message", b"caf\xe9 \\ \x1b").unwrap();
    let script = r#"let e = entities[1]; report(e.message); e.copy = e.message; e.message += "!";"#;
    let said = Script::compile("bytes.rhai", script).unwrap().run(&mut draft, &Settings::default()).unwrap();
    assert_eq!(said.reports[0].text, r"caf\xe9 \\ \x1b");
    let entity = draft.entities().unwrap().get(1).unwrap();
    assert_eq!(entity.get("copy"), Some(&b"caf\xe9 \\ \x1b"[..]));
    assert_eq!(entity.get("message"), Some(&b"caf\xe9 \\ \x1b!"[..]));
}

#[test]
fn a_handle_stays_the_same_entity_or_fails() {
    let said = reports(
        r#"let last = entities[-1];
        let start = entities.first("info_player_start");
        let name = last.classname;
        entities[5].remove();
        entities.insert(1, #{classname: "new"});
        last.move_before(entities[3]);
        report(last.index(), last.classname == name, start.index(), start.classname, entities.len());
        start.remove();
        report(start.exists(), last.index(), last == entities[last.index()], start == last);"#,
    );
    assert_eq!(said, ["3 true 2 info_player_start 18", "false 2 true false"]);
    let removed = "test.rhai:1:42: the entity was removed from the map, so it cannot be used any more";
    assert_eq!(error("let e = entities[3]; e.remove(); report(e.origin)"), removed);
}

#[test]
fn moves_are_where_they_should_be() {
    for (from, to) in [(3, 9), (9, 3), (3, 4), (4, 3), (5, 5), (2, 17), (17, 2)] {
        let script = format!(
            r#"let e = entities[{from}]; let other = entities[{to}];
            if e != other {{ e.move_after(other); report(e.index() - other.index()); e.move_before(other); }}
            else {{ e.move_before(e); report(1) }}
            report(entities[e.index()] == e, entities[other.index()] == other, other.index() - e.index());
            let seen = 0; for x in entities {{ if x.index() != seen {{ throw "order" }} seen += 1; }}"#
        );
        let distance = i32::from(from != to);
        assert_eq!(reports(&script), ["1".to_owned(), format!("true true {distance}")], "{from} {to}");
    }
}

#[test]
fn a_loop_visits_what_was_there_when_it_began() {
    let said = reports(
        r#"let seen = 0; let all = entities.len();
        for e in entities {
            seen += 1;
            if e.index() == 4 { entities[5].remove(); entities.add(#{classname: "late"}); }
        }
        report(all - seen, entities.len());"#,
    );
    assert_eq!(said, ["1 18"]);
}

#[test]
fn equal_keys_keep_their_order() {
    let script = r#"let e = entities[1];
        e.push("OnTrigger", "a,Open,,0,-1"); e.push("OnTrigger", "b,Open,,1.5,1"); e.push("OnTrigger", "a,Open,,0,-1");
        for p in e.pairs() {
            let o = output(p.value);
            if o == () { continue; }
            if o.target == "b" { o.target = "c"; o.delay += 1; p.value = o; p.key = "OnUser1"; }
            else if p.key == "OnTrigger" && o.target == "a" { p.remove(); break; }
        }
        report(e.all("OnTrigger"), e.OnUser1);"#;
    assert_eq!(reports(script), [r#"["b,Open,,1.5,1","a,Open,,0,-1"] null"#]);
    let script = script.replace("p.remove(); break;", "o.input = \"Close\"; p.value = o;");
    assert_eq!(reports(&script), [r#"["a,Close,,0,-1","a,Close,,0,-1"] c,Open,,2.5,1"#]);
}

#[test]
fn an_output_keeps_its_separator_and_its_text() {
    let said = reports(
        r#"let o = output("door\x1bOpen\x1b1,2\x1b0.50\x1b-1");
        report(o.target, o.parameter, o.delay, o.times, o.separator, o);
        o.target = "gate"; report(o);
        report(output("a,b"), output("0,0,0,0,0"), output("x", "Kill", "", 0.5, 1));"#,
    );
    assert_eq!(said[0], r"door 1,2 0.5 -1 \x1b door\x1bOpen\x1b1,2\x1b0.50\x1b-1");
    assert_eq!(said[1], r"gate\x1bOpen\x1b1,2\x1b0.50\x1b-1");
    // Five numbers have no input that could be told from a number, but that is what the value would mean.
    assert_eq!(said[2], "null 0,0,0,0,0 x,Kill,,0.5,1");
    let comma = r#"let o = output("x", "Kill", "", 0, 1); o.parameter = "a,b";"#;
    assert_eq!(error(comma), "test.rhai:1:42: `a,b` has the separator `,` of the fields of an output");
}

#[test]
fn the_text_is_what_the_library_makes_of_the_same_edit() {
    let mut draft = fixture("q3/own_rooms.bsp").draft();
    let entities = draft.entities().unwrap();
    entities.first_class("info_player_start").unwrap().set("angle", "45").unwrap();
    entities.remove(7).unwrap();
    entities.add([("classname", "light"), ("origin", "0 0 8"), ("light", "300")]).unwrap();
    let script = r#"let e = entities.first("info_player_start"); e.angle = 45; entities[7].remove();
        entities.add(#{origin: vec(0, 0, 8), light: 300, classname: "light"});"#;
    // Members of an object have no order: classname is first, and the others are sorted.
    let script = script.replace("#{origin: vec(0, 0, 8), light: 300, classname: \"light\"}", "PAIRS");
    let pairs = r#"[["classname", "light"], ["origin", "0 0 8"], ["light", 300]]"#;
    assert_eq!(text_after(&script.replace("PAIRS", pairs)).as_bytes(), &entities.to_bytes()[..]);
    assert!(
        text_after("entities.add(#{b: 1, classname: \"x\", a: 2})")
            .contains("\"classname\" \"x\"\n\"a\" \"2\"\n\"b\" \"1\"")
    );
}

#[test]
fn vectors_and_angles() {
    let said = reports(
        r#"let v = vec(1, 2, 3); v.x += 1; v.z = 4.5;
        report(v, v - vec(1, 1, 1), -v, v * 2, 0.5 * v, v / 2, v * vec(-1, 1, 1));
        report(v[1], v.length() > 5, v.dot(v));
        report(vec(0, 90, 0).direction().angles(), vec(-30, 225, 5).direction().angles(), v == vec("2 2 4.5"));
        report(vec(0, 90, 0).direction() * 64, vec(90, 0, 0).direction(), vec(0, -180, 0).direction());
        report(0.1 + 0.2, vec(0.1 + 0.2, 1e20, -0.0));"#,
    );
    assert_eq!(said[0], "2 2 4.5 1 1 3.5 -2 -2 -4.5 4 4 9 1 1 2.25 1 1 2.25 -2 2 4.5");
    assert_eq!(said[1], "2 true 28.25");
    assert_eq!(said[2], "0 90 0 -30 225 0 true");
    assert_eq!(said[3], "0 64 0 0 0 -1 -1 0 0");
    assert_eq!(said[4], "0.3 0.3 100000000000000000000 0");
    assert_eq!(error("vec(\"1 2\")"), "test.rhai:1:1: `1 2` is not three numbers");
}

#[test]
fn arrays_and_objects_are_compared_part_by_part() {
    let said = reports(
        r#"let a = [1, "x", [2.5, #{k: entities[1]}]];
        report(a == [1, "x", [2.5, #{k: entities[1]}]], a == [1, "x", [2.5, #{k: entities[2]}]], a != [1, "x"]);
        report(entities[1] in [entities[2], entities[1]], #{a: 1} == #{a: 1}, #{a: 1} == #{b: 1}, [1] == ["1"]);
        for p in entities[1].pairs() { report(p); break; }"#,
    );
    assert_eq!(said, ["true false true", "true true false false", "classname=info_player_start"]);
}

#[test]
fn worldspawn_stays_the_first() {
    assert!(error("entities[0].remove()").contains("worldspawn"));
    assert!(error("entities[3].move_before(entities[0])").contains("worldspawn"));
    assert!(error("entities.insert(0, #{classname: \"light\"})").contains("worldspawn"));
}
