//! `ent diff` and `ent patch`, and that the schema says what they write and read.

use std::path::Path;

use serde_json::{Value, json};

use super::room::{Room, entities};
use super::schema::validate;

fn schema() -> Value {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("docs/schema/patch.schema.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[track_caller]
fn is_valid(patch: &Value) {
    let schema = schema();
    validate(&schema, &schema, patch, "").unwrap();
}

/// A patch of every form that there is.
const ALL_FORMS: &str = r##"{"bspkit_patch": 1, "entities": 2, "operations": [
    {"op": "edit", "on": {"index": 1}, "expect": [{"key": "OnTrigger#2", "value": "b,Open"}, {"key": "x", "value": null},
        {"key": "on\\xe9", "key_raw": "b27p", "value": null}], "changes": [
        {"do": "set", "key": "OnTrigger#2", "value": "caf\\xe9", "raw": "Y2Fm6Q=="},
        {"do": "add", "key": "OnTrigger", "value": "c,Open"},
        {"do": "rename", "key": "OnTrigger#1", "to": "OnUser1"},
        {"do": "set", "key_raw": "YSMy", "value": "literal"},
        {"do": "set", "key": "spare", "value": ""},
        {"do": "unset", "key": "spare"}]},
    {"op": "replace", "on": {"match": [{"key": "classname", "value": "worldspawn"}]},
        "old": "{\n\"world_maxs\" \"1 2 3\"\n\"classname\" \"worldspawn\"\n}", "text": "{ \"classname\" \"worldspawn\" }"},
    {"op": "add", "pairs": [{"key": "classname", "value": "a#2"}], "after": {"index": 0}},
    {"op": "add", "text": "{ b c }", "before": {"select": "logic_*", "count": 1}},
    {"op": "move", "on": {"select": "[OnTrigger]"}, "expect": [], "after": {"index": 0}},
    {"op": "remove", "on": {"match": [{"key": "classname", "value": "none"}], "count": 0}}
]}"##;

#[test]
fn every_form_is_read_and_is_valid() {
    let room = Room::new();
    is_valid(&serde_json::from_str(ALL_FORMS).unwrap());
    room.write("all.json", ALL_FORMS.as_bytes());
    // An entity without a class is one of the forms; Source stops at it.
    room.bspkit("ent patch source.bsp all.json -o out.bsp").without_data(2);
    room.bspkit("ent patch source.bsp all.json -o out.bsp --force").done();
    let text = room.bspkit("ent export out.bsp").done().out;
    let expected = b"{ \"classname\" \"worldspawn\" }\n{\n\"classname\" \"a#2\"\n}\n{\n\"OnUser1\" \"a,Open\"\n\"OnTrigger\" \"caf\xe9\"\n\
        \"classname\" \"logic_auto\"\n\"OnTrigger\" \"c,Open\"\n\"a#2\" \"literal\"\n}\n{ b c }\n\0";
    assert_eq!(String::from_utf8_lossy(&text), String::from_utf8_lossy(expected));
    // And back: what is written is valid, and leads to the same bytes.
    for (from, to) in [("source.bsp", "out.bsp"), ("out.bsp", "source.bsp")] {
        let run = room.bspkit(&format!("ent diff {from} {to} -o changes.json")).without_data(1);
        assert!(run.err.contains("changed, "), "{}", run.err);
        is_valid(&serde_json::from_slice(&room.read("changes.json")).unwrap());
        room.bspkit(&format!("ent patch {from} changes.json -o again.bsp --force")).done();
        let text = |map: &str| room.bspkit(&format!("ent export {map}")).done().out;
        assert_eq!(text("again.bsp"), text(to));
    }
}

#[test]
fn the_same_is_the_same() {
    let room = Room::new();
    let run = room.bspkit("ent diff q3.bsp q3.bsp").done();
    assert_eq!(run.json(), json!({"bspkit_patch": 1, "operations": []}));
    assert_eq!(run.err, "the entities are the same\n");
    room.write("none.json", &run.out);
    room.bspkit("ent patch q3.bsp none.json -o out.bsp").done();
    assert_eq!(room.read("out.bsp"), room.read("q3.bsp"));
    room.bspkit("ent diff q3.bsp none.bsp").without_data(2);
    room.bspkit("ent diff q3.bsp q2.bsp -o q3.bsp").without_data(2);
}

#[test]
fn a_whole_text_leads_there_too() {
    let room = Room::new();
    room.write("odd.ent", b"{ \"classname\" \"worldspawn\" }\n// caf\xe9\n{ }\0\0");
    room.bspkit("ent import q3.bsp odd.ent -o odd.bsp").done();
    let run = room.bspkit("ent diff q3.bsp odd.bsp");
    assert_eq!((run.code, run.json()["operations"][0]["op"].clone()), (Some(1), json!("text")));
    is_valid(&run.json());
    room.write("odd.json", &run.out);
    room.bspkit("ent patch q3.bsp odd.json -o out.bsp").done();
    assert_eq!(entities(&room.read("out.bsp")), room.read("odd.ent"));
    room.bspkit("ent set q3.bsp worldspawn a=b -o other.bsp").done();
    let run = room.bspkit("ent patch other.bsp odd.json -o no.bsp").without_data(2);
    assert!(run.err.contains("the checksum of the entity text is not the expected one"), "{}", run.err);
    assert!(!room.path("no.bsp").exists());
}

/// Each is refused with its place, by the schema too unless it cannot know, and nothing is written.
#[test]
fn what_is_not_understood_is_refused_with_its_place() {
    let room = Room::new();
    let on = r#""on": {"index": 0}"#;
    let operation = |inner: &str| format!(r#"{{"bspkit_patch": 1, "operations": [{{{inner}}}]}}"#);
    let change = |inner: &str| operation(&format!(r#""op": "edit", {on}, "changes": [{{{inner}}}]"#));
    let cases = [
        ("[]".to_owned(), "the patch is not an object", true),
        ("{".to_owned(), "it is not JSON", true),
        ("{}".to_owned(), "bspkit_patch is missing", true),
        (r#"{"bspkit_patch": 2, "operations": []}"#.to_owned(), "version 2 is not supported", true),
        (r#"{"bspkit_patch": 1}"#.to_owned(), "operations is missing", true),
        (r#"{"bspkit_patch": 1, "operations": [], "x": 1}"#.to_owned(), "no field x here", true),
        (r#"{"bspkit_patch": 1, "operations": [], "operations": []}"#.to_owned(), "operations is given twice", false),
        (operation(r#""op": "delete""#), "operations[0].op: `delete` is not an operation", true),
        (operation(&format!(r#""op": "remove", {on}, "all": true"#)), "no field operations[0].all here", true),
        (operation(r#""op": "remove", "on": {"indx": 1}"#), "no field operations[0].on.indx here", true),
        (operation(r#""op": "remove", "on": {}"#), "operations[0].on: no entities are selected", true),
        (operation(r#""op": "remove", "on": {"index": 1, "count": 1}"#), "no field operations[0].on.count here", true),
        (operation(r#""op": "remove", "on": {"index": -1}"#), "operations[0].on.index is not a whole number", true),
        (operation(r#""op": "remove", "on": {"select": "a["}"#), "operations[0].on.select: cannot read", false),
        (operation(r#""op": "remove", "on": {"match": []}"#), "operations[0].on.match is empty", true),
        (operation(&format!(r#""op": "move", {on}"#)), "`before` or `after` is missing", true),
        (operation(r#""op": "add", "pairs": [], "before": {"index": 0}, "after": {"index": 0}"#), "exclude each", true),
        (
            operation(&format!(r#""op": "remove", {on}, "expect": [{{"key": "a", "valu": "b"}}]"#)),
            "value is missing",
            true,
        ),
        (operation(r#""op": "text", "text": "", "crc32": "12""#), "operations[0].crc32 is not a checksum", true),
        (change(r#""do": "put", "key": "a""#), "operations[0].changes[0].do: `put` is not a change", true),
        (change(r#""do": "set", "key": "a", "value": 1"#), "operations[0].changes[0].value is not a string", true),
        (change(r#""do": "set", "key": "a#0", "value": """#), "counted from 1", false),
        (change(r#""do": "set", "key": "a", "value": "x", "raw": "eQ==""#), "alone is a text without escapes", false),
        (change(r#""do": "set", "key": "a", "raw": "!""#), "operations[0].changes[0].raw is not base64", false),
        (change(r#""do": "unset", "key": "a", "nht": 2"#), "no field operations[0].changes[0].nht here", true),
    ];
    for (text, why, by_schema) in cases {
        room.write("bad.json", text.as_bytes());
        let run = room.bspkit("ent patch q3.bsp bad.json -o no.bsp").without_data(2);
        assert!(run.err.contains(why), "{text}: {}", run.err);
        assert!(!room.path("no.bsp").exists());
        let schema = schema();
        let is_valid = serde_json::from_str(&text).is_ok_and(|value| validate(&schema, &schema, &value, "").is_ok());
        assert_eq!(!is_valid, by_schema, "{text}");
    }
}

/// Programs that read the lines learn all that does not fit, as people do.
#[test]
fn what_does_not_fit_is_said_in_json_too() {
    let room = Room::new();
    room.write("maps/q3.bsp", &room.read("q3.bsp"));
    let all = r#"[{"key": "classname", "value": "light_none"}]"#;
    let operations = format!(
        r#"{{"op": "remove", "on": {{"match": {all}}}}}, {{"op": "remove", "on": {{"select": "worldspawn", "count": 2}}}}"#
    );
    room.write("p.json", format!(r#"{{"bspkit_patch": 1, "operations": [{operations}]}}"#).as_bytes());
    let run = room.bspkit("ent patch maps p.json --dry-run --json");
    let hint = "operations[0]: the entity with `classname` `light_none` means no entity, and 1 was expected\n\
        operations[1]: worldspawn means 1 entity, and 2 were expected";
    assert_eq!((run.code, run.json()["hint"].as_str()), (Some(2), Some(hint)));
}

/// A patch fits maps with other entities; what is not clear is refused, guessed aloud, or merged by way of the base.
#[test]
fn a_patch_finds_its_entities_by_name() {
    let room = Room::new();
    let light = |map: &str| room.bspkit(&format!("ent get {map} light[style=2] light")).done().out;
    room.bspkit("ent set q2.bsp light[style=2] light=350 -o new.bsp").done();
    room.bspkit("ent diff q2.bsp new.bsp -o p.json").without_data(1);
    is_valid(&serde_json::from_slice(&room.read("p.json")).unwrap());
    room.bspkit("ent add q2.bsp classname=info_null -o more.bsp").done();
    room.bspkit("ent mv more.bsp #20 --after #0 --in-place").done();
    room.bspkit("ent rm more.bsp info_player_coop --in-place");
    let run = room.bspkit("ent patch more.bsp p.json -o out.bsp").done();
    assert!(run.err.contains(" was #7 and is #8"), "{}", run.err);
    assert_eq!(light("out.bsp"), b"350\n");
    let report = room.bspkit("ent patch more.bsp p.json --dry-run --json").done().json();
    assert_eq!((&report["found"][0]["was"], &report["found"][0]["index"]), (&json!(7), &json!(8)));

    room.bspkit("ent set more.bsp light[style=2] origin=0 -o moved.bsp").done();
    let run = room.bspkit("ent patch moved.bsp p.json -o no.bsp").without_data(2);
    assert!(
        run.err.contains("perhaps #8 light") && run.err.contains("--fuzzy") && run.err.contains("--base"),
        "{}",
        run.err
    );
    let run = room.bspkit("ent patch moved.bsp p.json --fuzzy -o out.bsp").done();
    assert!(run.err.contains("warning: moved.bsp: guessed: operations[0]: "), "{}", run.err);
    assert_eq!(light("out.bsp"), b"350\n");
    room.bspkit("ent patch moved.bsp p.json --base q2.bsp -o out.bsp").done();
    assert_eq!(
        (light("out.bsp"), room.bspkit("ent get out.bsp light[style=2] origin").done().out),
        (b"350\n".to_vec(), b"0\n".to_vec())
    );

    room.bspkit("ent set more.bsp light[style=2] light=1 -o other.bsp").done();
    for how in ["--base q2.bsp", "--fuzzy", ""] {
        room.bspkit(&format!("ent patch other.bsp p.json {how} -o no.bsp")).without_data(2);
        assert!(!room.path("no.bsp").exists());
    }
    let run = room.bspkit("ent patch other.bsp p.json --base q2.bsp -o no.bsp");
    assert!(run.err.contains("both sides change `light`") && run.err.contains("theirs  350"), "{}", run.err);
    room.bspkit("ent patch other.bsp p.json --base more.bsp --fuzzy -o no.bsp").without_data(2);
    room.bspkit("ent patch moved.bsp p.json --base q2.bsp -o q2.bsp").without_data(2);
}

/// A patch that was applied is not an error, and nothing is written in place.
#[test]
fn a_patch_that_was_applied_is_not_applied_again() {
    let room = Room::new();
    room.bspkit("ent set q2.bsp worldspawn message=Other -o out.bsp").done();
    room.bspkit("ent diff q2.bsp out.bsp -o changes.json").without_data(1);
    let before = room.read("out.bsp");
    let run = room.bspkit("ent patch out.bsp changes.json --in-place").done();
    assert!(run.err.contains("not applied again: the entities are already what the patch leads to"), "{}", run.err);
    assert_eq!(room.read("out.bsp"), before);
    let run = room.bspkit("ent patch out.bsp changes.json --dry-run --json").done();
    let report: Value = serde_json::from_slice(&run.out).unwrap();
    assert_eq!(report["already"], "the entities are already what the patch leads to");
    // With one change missing it does not fit.
    room.bspkit("ent set q2.bsp worldspawn message=Third -o third.bsp").done();
    room.bspkit("ent patch third.bsp changes.json --dry-run").without_data(2);
    // One that only adds fits again, and is not added twice.
    room.bspkit("ent add q2.bsp classname=info_null -o more.bsp").done();
    room.bspkit("ent diff q2.bsp more.bsp -o add.json").without_data(1);
    assert!(room.bspkit("ent patch more.bsp add.json --in-place").done().err.contains("not applied again"));
    // In another map it cannot be known whether it was: what is there already is said.
    for (map, says) in [("q2.bsp", false), ("more.bsp", true)] {
        room.bspkit(&format!("ent set {map} worldspawn message=Other -o other.bsp")).done();
        let run = room.bspkit("ent patch other.bsp add.json -o two.bsp").done();
        let said = "1 entity or pair that the patch adds comes a second time: the map has the same already";
        assert_eq!(run.err.contains(said), says, "{}", run.err);
    }
    // One that was edited by hand leads elsewhere: it is applied, or does not fit.
    let text = String::from_utf8(room.read("changes.json")).unwrap();
    room.write("edited.json", text.replace("\"Other\"", "\"Fourth\"").as_bytes());
    let run = room.bspkit("ent patch out.bsp edited.json --dry-run").without_data(2);
    assert!(run.err.contains("does not fit"), "{}", run.err);
}

/// A patch that adds an entity with a brush model, on a map whose models have other numbers.
#[test]
fn the_number_of_a_brush_model_is_a_doubt_in_another_map() {
    let room = Room::new();
    room.bspkit("ent add q2.bsp classname=func_wall model=*3 -o more.bsp").done();
    room.bspkit("ent diff q2.bsp more.bsp -o p.json").without_data(1);
    room.bspkit("model rm q2.bsp *1 -o less.bsp").done();
    let run = room.bspkit("ent patch less.bsp p.json -o out.bsp").done();
    assert!(run.err.contains("writes the brush model *3") && run.err.contains("--base"), "{}", run.err);
    let json = room.bspkit("ent patch less.bsp p.json -o out.bsp --json").done().json();
    assert_eq!(json["doubts"].as_array().map(Vec::len), Some(1), "{json}");
    // With the base the model is found, and in the map itself there is no doubt.
    let run = room.bspkit("ent patch less.bsp p.json --base q2.bsp -o out.bsp").done();
    assert!(!run.err.contains("writes the brush model"), "{}", run.err);
    assert!(room.bspkit("ent get out.bsp func_wall model").done().text().contains("*2"));
    let run = room.bspkit("ent patch q2.bsp p.json -o same.bsp").done();
    assert!(!run.err.contains("writes the brush model"), "{}", run.err);
    assert_eq!(room.read("same.bsp"), room.read("more.bsp"));
}
