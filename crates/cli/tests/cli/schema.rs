//! Every document that the program prints is as its schema in `docs/schema` says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use super::commands::COMMANDS;
use super::room::{Room, fixture};

/// As much of JSON Schema as the schemas use; an error is the place that does not hold.
pub(crate) fn validate(root: &Value, rule: &Value, value: &Value, place: &str) -> Result<(), String> {
    let wrong = |what: &str| Err(format!("{place}: {what}: {value}"));
    for (word, rule) in rule.as_object().unwrap() {
        let fits = |rule: &Value| validate(root, rule, value, place).is_ok();
        let some = |rules: &Value| rules.as_array().unwrap().iter().filter(|rule| fits(rule)).count();
        let is_type = |name: &Value| match name.as_str().unwrap() {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "integer" => value.is_i64() || value.is_u64(),
            "boolean" => value.is_boolean(),
            "number" => value.is_number(),
            "null" => value.is_null(),
            other => panic!("the type {other}"),
        };
        let good = match word.as_str() {
            "$ref" => {
                let rule = root.pointer(&rule.as_str().unwrap()[1..]).unwrap();
                validate(root, rule, value, place)?;
                true
            }
            "type" => rule.as_array().map_or_else(|| is_type(rule), |types| types.iter().any(is_type)),
            "const" => rule == value,
            "enum" => rule.as_array().unwrap().contains(value),
            "oneOf" => some(rule) == 1,
            "anyOf" => some(rule) > 0,
            "not" => !fits(rule),
            "required" => rule.as_array().unwrap().iter().all(|name| value.get(name.as_str().unwrap()).is_some()),
            "maximum" => value.is_null() || value.as_f64() <= rule.as_f64(),
            "minimum" => value.is_null() || value.as_f64() >= rule.as_f64(),
            "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= rule.as_u64().unwrap()),
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    validate(root, rule, item, &format!("{place}[{index}]"))?;
                }
                true
            }
            "properties" => {
                for (name, rule) in rule.as_object().unwrap() {
                    if let Some(value) = value.get(name) {
                        validate(root, rule, value, &format!("{place}.{name}"))?;
                    }
                }
                true
            }
            "additionalProperties" => {
                for value in
                    value.as_object().into_iter().flat_map(|object| object.values()).filter(|_| rule.is_object())
                {
                    validate(root, rule, value, place)?;
                }
                true
            }
            "pattern" => regex::Regex::new(rule.as_str().unwrap()).unwrap().is_match(value.as_str().unwrap()),
            "maxItems" => value.as_array().is_none_or(|items| items.len() as u64 <= rule.as_u64().unwrap()),
            "$schema" | "$id" | "$defs" | "title" | "description" | "contentEncoding" => true,
            other => panic!("the word {other}"),
        };
        if !good {
            return wrong(word);
        }
    }
    let known = rule.get("properties").and_then(Value::as_object);
    if rule.get("additionalProperties") == Some(&json!(false))
        && let Some(name) = value
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, _)| name)
            .find(|name| known.is_none_or(|known| !known.contains_key(*name)))
    {
        return wrong(&format!("the field {name}"));
    }
    Ok(())
}

/// Commands that print JSON, and the schema of it. The maps are good and damaged ones, and one that is not there.
const OUTPUTS: [(&str, &str); 82] = [
    ("run", "run lint.rhai q2.bsp q3.bsp --json"),
    ("run", "run statistics.rhai q2.bsp cut.bsp none.bsp --json"),
    ("save", "run all.rhai q2.bsp --dry-run --json"),
    ("info", "info q2.bsp goldsrc.bsp q3.bsp source.bsp --json"),
    ("info", "info none.bsp --json"),
    ("info-limits", "info q2.bsp goldsrc.bsp source.bsp none.bsp --limits --json"),
    ("diff", "diff q2.bsp q2.bsp --json"),
    ("diff", "diff q2.bsp q3.bsp --json"),
    ("diff", "diff source.bsp cut.bsp --json"),
    ("diff", "diff old new --json"),
    ("res", "res goldsrc.bsp q2.bsp none.bsp --json"),
    ("ls", "ls q2.bsp source.bsp cut.bsp --json"),
    ("cat", "cat q2.bsp entities --json"),
    ("cat", "cat q2.bsp planes --json"),
    ("verify", "verify q2.bsp --source --json"),
    ("verify", "verify q3.bsp none.bsp --stats --json"),
    ("check", "check q2.bsp cut.bsp goldsrc.bsp none.bsp --json"),
    ("ci", "ci q2.bsp cut.bsp goldsrc.bsp none.bsp --format json"),
    ("codes", "check --codes --json"),
    ("config", "config . --json"),
    ("config", "config q2.bsp q3.bsp --json"),
    ("checksum", "checksum q2.bsp goldsrc.bsp source.bsp --json"),
    ("get", "get q2.bsp planes[0] faces[1].styles texinfo[0].texture --json"),
    ("refs", "refs q2.bsp none.bsp models[1] --json"),
    ("save", "records rm q2.bsp brushes[7] --dry-run --json"),
    ("save", "prune q3.bsp q2.bsp none.bsp --light --dry-run --json"),
    ("dump", "dump q2.bsp q3.bsp models --json"),
    ("unpack", "unpack q2.bsp -o folder --json"),
    ("unpack", "unpack q3.bsp none.bsp -o folders --dry-run --json"),
    ("pack", "pack folder --dry-run --json"),
    ("pack", "pack folder none -o packed --json"),
    ("pack", "pack folder -o packed.bsp --json"),
    ("ent-list", "ent list q2.bsp odd.bsp --json"),
    ("stats", "stats q2.bsp source.bsp none.bsp --json"),
    ("groups", "ent list q2.bsp q3.bsp --group classname --json"),
    ("groups", "ent get q2.bsp light --group light --json"),
    ("ent-get", "ent get q2.bsp light --json"),
    ("ent-get", "ent get q2.bsp light light --json"),
    ("pak-list", "pak list source.bsp --json"),
    ("pak-diff", "pak diff source.bsp other.bsp --json"),
    ("pak-diff", "pak diff other.bsp text.bsp --json"),
    ("pak-refs", "pak refs source.bsp cut.bsp none.bsp --json"),
    ("pak-missing", "pak missing room_v20.bsp source.bsp none.bsp --stock r.cfg --json"),
    ("pak-unused", "pak unused room_v20.bsp other.bsp none.bsp --json"),
    ("save", "pak fill room_v20.bsp --from . --dry-run --json"),
    ("git-resolve", "git resolve rooms.bsp --json"),
    ("git-resolve", "git resolve none.bsp --json"),
    ("git-resolve", "git resolve rooms.bsp --theirs --json"),
    ("pak-verify", "pak verify source.bsp --json"),
    ("backups-list", "backups list kept.bsp q2.bsp none.bsp --json"),
    ("undo", "undo kept.bsp q2.bsp none.bsp --dry-run --json"),
    ("rename", "rename room_v20.bsp own_arena --json"),
    ("rename", "rename none.bsp own_arena --json"),
    ("save", "rename room_v20.bsp own_arena --dry-run --json"),
    ("save", "cubemap strip room_v20.bsp --default --dry-run --json"),
    ("cubemap-list", "cubemap list room_v20.bsp q2.bsp --json"),
    ("model-list", "model list q2.bsp goldsrc.bsp source.bsp cut.bsp none.bsp --json"),
    ("save", "model rm q2.bsp *2 --dry-run --json"),
    ("save", "model copy q2.bsp --from q2.bsp *2 --dry-run --json"),
    ("light-stat", "light stat q2.bsp goldsrc.bsp q3.bsp --json"),
    ("vis-stat", "vis stat q2.bsp goldsrc.bsp --json"),
    ("export", "export q2.bsp -o q2.gltf --json"),
    ("export", "export q3.bsp goldsrc.bsp cut.bsp none.bsp -o meshes --json"),
    ("export", "view q2.bsp -o q2.html --json"),
    ("decompile", "decompile q2.bsp -o q2.map --json"),
    ("decompile", "decompile q2.bsp -o bare.map --no-proof --json"),
    ("decompile", "decompile q3.bsp source.bsp cut.bsp none.bsp -o sources --json"),
    ("tex-list", "tex list goldsrc.bsp --json"),
    ("tex-list", "tex list q2.bsp source.bsp --json"),
    ("save", "ent set q2.bsp light light=1 --dry-run --json"),
    ("save", "ent set q2.bsp q3.bsp light light=1 --dry-run --json"),
    ("save", "ent rm q3.bsp #1 -o out.bsp --checksum --json"),
    ("save", "compress source.bsp --dry-run --json"),
    ("save", "load q2.bsp planes planes.jsonl --dry-run --json"),
    ("save", "vis fill q2.bsp --dry-run --json"),
    ("rules-lint", "rules lint r.cfg q2.bsp --json"),
    ("rules-lint", "rules lint r.cfg --mode lumper --json"),
    ("save", "ent apply q3.bsp --rules r.cfg -o applied.bsp --json"),
    ("save", "ent apply applied.bsp --rules r.cfg -o twice.bsp --json"),
    ("rules-status", "rules status applied.bsp q2.bsp none.bsp --json"),
    ("save", "ent apply q2.bsp none.bsp --rules r.cfg --dry-run --json"),
    ("save", "ent apply q2.bsp q3.bsp --rules r.cfg --require-matches --dry-run --json"),
];

fn schema(name: &str) -> Value {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(format!("docs/schema/{name}.schema.json"));
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn every_document_is_as_its_schema_says() {
    let room = Room::new();
    let map = room.read("q2.bsp");
    room.write("cut.bsp", &map[..map.len() / 2]);
    ["old/a.bsp", "new/a.bsp", "new/b.bsp"].iter().for_each(|name| room.write(name, &map));
    room.write("1.bsp", &fixture("source/room_v20"));
    room.write("c.vtf", b"VTF");
    let images = "pak add 1.bsp materials/maps/room_v20/c0_0_0.vtf=c.vtf materials/maps/b/cubemapdefault.vtf=c.vtf";
    room.bspkit(&format!("{images} -o room_v20.bsp -q")).done();
    room.bspkit("ent export q2.bsp -o q2.ent").done();
    let text = String::from_utf8_lossy(&room.read("q2.ent")).replacen("{", "stray {", 1);
    room.write("odd.ent", text.as_bytes());
    room.bspkit("ent import q2.bsp odd.ent -o odd.bsp --force");
    let planes = room.bspkit("dump q2.bsp planes").done();
    room.write("planes.jsonl", planes.text().as_bytes());

    let index = "git init -q -b main .
        for light in 1 2 3; do bspkit ent set q2.bsp light light=$light -o rooms.bsp -q --force
        printf '100644 %s %s\\trooms.bsp\\n' $(git hash-object -w rooms.bsp) $light; done | git update-index --index-info; rm rooms.bsp";
    room.shell(index).done();

    room.write("materials/own/wall.vtf", b"pixels");
    room.write("t.txt", b"one\ntwo\n");
    room.bspkit("pak add source.bsp a.cfg=planes.jsonl t.txt=t.txt -o other.bsp").without_data(0);
    room.write("t.txt", b"one\nthree\n");
    room.bspkit("pak add other.bsp t.txt=t.txt -o text.bsp").without_data(0);
    room.write("r.cfg", b"{\n\"classname\" \"light\"\n}\nadd:\n{\n\"classname\" \"light\"\n}\n");
    for script in ["lint", "statistics"] {
        let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
            .join("examples/scripts")
            .join(script)
            .with_extension("rhai");
        room.write(format!("{script}.rhai"), &std::fs::read(path).unwrap());
    }
    let all = b"report(1, #{a: [1.5, ()]}); finding(\"odd\", entities[1]); let e = entities[1]; e.x = 1;";
    room.write("all.rhai", all);
    room.write("kept.bsp", &room.read("q2.bsp"));
    room.bspkit("ent set kept.bsp worldspawn message=One --in-place --backup -q").done();
    let mut wrong = Vec::new();
    for (name, line) in OUTPUTS {
        let schema = schema(name);
        let run = room.bspkit(line);
        let documents: Vec<Value> =
            serde_json::Deserializer::from_str(run.text()).into_iter().collect::<Result<_, _>>().unwrap();
        if documents.is_empty() {
            wrong.push(format!("{line}: no document, {}", run.err));
        }
        for document in &documents {
            if let Err(error) = validate(&schema, &schema, document, "") {
                let report = schema.pointer("/$defs/report").filter(|_| document.get("hint").is_none());
                let near = report.and_then(|report| validate(&schema, report, document, "").err());
                wrong.push(format!("{line}: {}", near.unwrap_or(error)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Programs open the paths of documents as they are.
#[test]
#[cfg(unix)]
fn paths_of_documents_name_files() {
    use std::os::unix::ffi::OsStrExt;

    let room = Room::new();
    let map = room.read("q2.bsp");
    ["odd/b\\s.bsp", "odd/n\nl.bsp"].iter().for_each(|name| room.write(name, &map));
    let lines = [
        ("save", "/output", "ent set odd worldspawn a=1 --in-place --backup --json"),
        ("save", "/backup", "ent set odd worldspawn a=2 --in-place --backup --json"),
        ("backups-list", "/backups/0/file", "backups list odd --json"),
        ("undo", "/backup", "undo odd --dry-run --json"),
        ("save", "/output", "ent set odd worldspawn a=3 -o out --json"),
        ("diff", "/old", "diff odd out --json"),
        ("unpack", "/folder", "unpack odd -o folders --no-images --json"),
        ("pack", "/output", "pack folders -o packed --json"),
        ("export", "/files/0/file", "export odd -o meshes --json"),
        ("decompile", "/file", "decompile odd -o sources --json"),
        ("info-limits", "/path", "info odd --limits --json"),
    ];
    for (name, member, line) in lines {
        let (run, schema) = (room.bspkit(line), schema(name));
        let documents: Vec<Value> =
            serde_json::Deserializer::from_str(run.text()).into_iter().collect::<Result<_, _>>().unwrap();
        assert_eq!(documents.len(), 2, "{line}: {}", run.err);
        for document in &documents {
            let path = document.pointer(member).and_then(Value::as_str).unwrap_or_default();
            assert!(room.path(path).exists() && !path.is_empty(), "{line}: {member} is {path:?}");
            validate(&schema, &schema, document, "").unwrap_or_else(|error| panic!("{line}: {error}"));
        }
    }

    // A name that is not UTF-8 is there in base64.
    room.write(std::ffi::OsStr::from_bytes(b"raw/o\xff.bsp"), &map);
    let run = room.bspkit("ent set raw worldspawn a=3 -o out --json");
    let document: Value = serde_json::from_str(run.text()).unwrap();
    assert_eq!((&document["output"], &document["output_raw"]), (&json!("out/o\\xff.bsp"), &json!("b3V0L2//LmJzcA==")));
    for (name, line) in
        [("save", "ent set raw worldspawn a=3 -o out --json"), ("info-limits", "info raw --limits --json")]
    {
        let (schema, run) = (schema(name), room.bspkit(line));
        validate(&schema, &schema, &serde_json::from_str(run.text()).unwrap(), "").unwrap();
    }
}

/// Every command that has `--json` is among those above, so that what it prints has a schema.
#[test]
fn every_command_with_json_has_a_schema() {
    let room = Room::empty();
    // Options begin a line; sentences name those of other commands as well.
    let has = |command: &str, option: &str| {
        let help = room.bspkit(&format!("{command} --help"));
        help.text().lines().any(|line| line.trim_start().trim_start_matches("-n, ").starts_with(option))
    };
    let commands = COMMANDS.into_iter().filter(|command| !command.is_empty());
    let with_json: Vec<&str> = commands.filter(|command| has(command, "--json")).collect();
    assert!(with_json.len() > 20, "{with_json:?}");
    let is_shown = |command: &&str| OUTPUTS.iter().any(|(_, line)| line.starts_with(&format!("{command} ")));
    // Commands that save all print the same document.
    let saves = |command: &&str| has(command, "--dry-run");
    let missing: Vec<_> = with_json.iter().filter(|command| !is_shown(command) && !saves(command)).collect();
    assert!(missing.is_empty(), "no document of these commands is held to a schema: {missing:?}");
}

/// A document of another shape does not pass: the schemas leave nothing open.
#[test]
fn another_document_would_be_seen() {
    let schema = schema("checksum");
    let good = json!({"version": 1, "path": "a.bsp", "dialect": "quake2", "checksums": []});
    assert!(validate(&schema, &schema, &good, "").is_ok());
    for (member, value) in [("version", json!(2)), ("path", json!(1)), ("extra", json!(1)), ("checksums", json!({}))] {
        let mut bad = good.clone();
        bad[member] = value;
        assert!(validate(&schema, &schema, &bad, "").is_err(), "{member}");
    }
}

#[test]
fn every_schema_is_of_an_output() {
    let files =
        std::fs::read_dir(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("docs/schema")).unwrap();
    let files = files.map(|file| file.unwrap().file_name().into_string().unwrap().replace(".schema.json", ""));
    let known = OUTPUTS.map(|(name, _)| name).into_iter().chain(["manifest", "patch", "policy"]).map(str::to_owned);
    assert_eq!(files.collect::<BTreeSet<_>>(), known.collect::<BTreeSet<_>>());
}

/// What several documents have in common is the same in all of their schemas.
#[test]
fn definitions_of_one_name_are_equal_in_all_schemas() {
    // What a document lists is its own; findings of CI name a map, those of rules a line, errors of folders a folder.
    let own = ["report", "file"];
    let other =
        [("finding", "ci"), ("finding", "rules-lint"), ("error", "pack"), ("error", "unpack"), ("change", "patch")];
    let mut first: BTreeMap<String, (String, Value)> = BTreeMap::new();
    let (mut shared, mut wrong) = (0, Vec::new());
    let files = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema")).unwrap();
    for file in files {
        let file = file.unwrap().file_name().into_string().unwrap().replace(".schema.json", "");
        let schema = schema(&file);
        for (name, definition) in schema["$defs"].as_object().into_iter().flatten() {
            if own.contains(&&**name) || other.contains(&(name, &file)) {
                continue;
            }
            let (at, known) = first.entry(name.clone()).or_insert_with(|| (file.clone(), definition.clone()));
            shared += usize::from(*at != file);
            if known != definition {
                wrong.push(format!("{name} of {at} and {file}"));
            }
        }
    }
    assert!(wrong.is_empty() && shared > 40, "{shared}: {}", wrong.join(", "));
}
