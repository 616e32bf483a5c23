//! `ci`: reports in the formats of CI systems, baselines, and maps that changed.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::room::{Room, fixture};
use super::schema::validate;
use super::transcript::check;
use super::xml;

/// Maps with findings of all severities, one that does not open, and names that formats have to escape.
fn room() -> Room {
    let room = Room::empty();
    room.write("maps/rooms.bsp", &fixture("q2/own_rooms"));
    room.write("maps/a & b, 100%: <\u{fc}>.bsp", &fixture("q3/own_rooms"));
    room.write("maps/note.bsp", b"Not a map.\n");
    room.shell("bspkit set maps/rooms.bsp faces[3].texinfo=500 -o maps/odd.bsp --force -q").done();
    let policy = "[map]\nnames = ['r*', 'o*']\n[entities]\nforbidden = ['light']\n[check]\ndeny = ['warning']\n";
    room.write("bspkit.toml", policy.as_bytes());
    room
}

/// A map with a face that names a texture that does not exist.
fn odd() -> Vec<u8> {
    room().read("maps/odd.bsp")
}

fn schema(name: &str) -> Value {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/schema").join(name);
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn documents(text: &str) -> Vec<Value> {
    serde_json::Deserializer::from_str(text).into_iter().collect::<Result<_, _>>().unwrap()
}

/// A report about some of the maps says so: otherwise what is wrong with the others would count as mended.
#[test]
fn the_report_of_a_stopped_run_says_it() {
    let room = room();
    let report = |format: &str| {
        let run = room.bspkit(&format!("ci maps --format {format} --fail-fast -j1 -o report")).without_data(1);
        assert!(run.err.contains("the report is not about 2 maps"), "{}", run.err);
        String::from_utf8(room.read("report")).unwrap()
    };
    let log: Value = serde_json::from_str(&report("sarif")).unwrap();
    let schema = schema("sarif.json");
    assert_eq!(validate(&schema, &schema, &log, ""), Ok(()));
    let invocation = &log["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let said = invocation["toolExecutionNotifications"][0]["message"]["text"].as_str().unwrap();
    assert_eq!(said, "The run was stopped: 2 maps were not looked at");
    let junit = report("junit");
    assert!(junit.contains("skipped=\"1\"") && junit.contains(&format!("<skipped message=\"{said}\"/>")), "{junit}");

    // A whole run, and parts of one, are complete.
    for options in ["", " --shard 1/2", " --shard 2/2"] {
        room.bspkit(&format!("ci maps --format sarif -o report{options}"));
        let log: Value = serde_json::from_slice(&room.read("report")).unwrap();
        assert_eq!(log["runs"][0]["invocations"], serde_json::json!([{"executionSuccessful": true}]), "{options}");
    }
}

/// An archive or folder that was named and cannot be read is in every report, and SARIF says that the run failed.
#[test]
fn what_cannot_be_read_is_reported() {
    let room = Room::empty();
    room.write("bad.pk3", b"PK\x03\x04cut");
    room.write("maps/b.bsp", &fixture("q2/own_rooms"));
    std::fs::create_dir(room.path("none")).unwrap();
    for (line, unread, maps, code) in
        [("bad.pk3", "bad.pk3", 0, 2), ("none", "none", 0, 2), ("bad.pk3 maps/b.bsp", "bad.pk3", 1, 1)]
    {
        let report = |format: &str| {
            room.bspkit(&format!("ci {line} --format {format} -o report")).without_data(code);
            String::from_utf8(room.read("report")).unwrap()
        };
        let log: Value = serde_json::from_str(&report("sarif")).unwrap();
        let schema = schema("sarif.json");
        assert_eq!(validate(&schema, &schema, &log, ""), Ok(()));
        let invocation = &log["runs"][0]["invocations"][0];
        assert_eq!(invocation["executionSuccessful"], false, "{line}");
        let said = invocation["toolExecutionNotifications"][0]["message"]["text"].as_str().unwrap();
        assert!(said.starts_with(&format!("{unread}: ")), "{line}: {said}");
        let junit = report("junit");
        let counts = format!("tests=\"{}\" failures=\"0\" errors=\"1\"", maps + 1);
        assert!(junit.contains(&counts) && junit.contains("<error message="), "{line}: {junit}");
        let issues: Value = serde_json::from_str(&report("gitlab")).unwrap();
        let is_unread = |issue: &Value| issue["location"]["path"] == unread && issue["check_name"] == "map-unread";
        assert!(issues.as_array().unwrap().iter().any(is_unread), "{line}: {issues}");
        assert!(report("github").contains(&format!("::error file={unread},title=map-unread::")), "{line}");
    }
}

/// A baseline may begin with a byte order mark, as some editors write it, and may be written anew.
#[test]
fn a_baseline_with_a_byte_order_mark_is_written_anew() {
    let room = Room::empty();
    (0..2).for_each(|number| room.write(format!("maps/bad{number}.bsp"), b"no map"));
    room.bspkit("ci maps/bad0.bsp --baseline known.json --write-baseline -q").done();
    room.write("known.json", &[b"\xef\xbb\xbf", &room.read("known.json")[..]].concat());
    room.bspkit("ci maps/bad1.bsp --baseline known.json --write-baseline -q").done();
    room.bspkit("ci maps --baseline known.json -q").without_data(0);
}

/// Two maps whose names are not UTF-8 are two maps, in reports and in baselines.
#[test]
#[cfg(unix)]
fn names_that_are_not_utf8_stay_apart() {
    use std::os::unix::ffi::OsStrExt;

    let room = Room::new();
    let map =
        |byte: u8| std::ffi::OsString::from(std::ffi::OsStr::from_bytes(&[b"maps/a", &[byte][..], b".bsp"].concat()));
    room.write("bspkit.toml", b"[entities]\nforbidden = [\"light\"]\n");
    room.write(map(0xfe), &room.read("q2.bsp"));
    room.bspkit("ci maps --baseline known.json --write-baseline -q");
    room.bspkit("ci maps --baseline known.json -q").without_data(0);
    room.write(map(0xff), &room.read("q2.bsp"));
    let prints = |format: &str, name: &str| -> (usize, BTreeSet<String>) {
        let report: Value = serde_json::from_str(room.bspkit(&format!("ci maps --format {format}")).text()).unwrap();
        let all: Vec<String> = report.pointer(name).unwrap().as_array().unwrap().iter().map(Value::to_string).collect();
        (all.len(), all.into_iter().collect())
    };
    for (format, list) in [("gitlab", ""), ("sarif", "/runs/0/results")] {
        let (all, different) = prints(format, list);
        assert!(all > 4 && all == different.len(), "{format}: {} of {all}", different.len());
    }
    let sarif = room.bspkit("ci maps --format sarif");
    assert!(sarif.text().contains("maps/a%FE.bsp") && sarif.text().contains("maps/a%FF.bsp"), "{}", sarif.text());
    let run = room.bspkit("ci maps --baseline known.json");
    assert!(run.code == Some(1) && !run.text().contains("a\\xfe.bsp: error"), "{}{}", run.text(), run.err);
    // Another map does not make this one unknown.
    std::fs::remove_file(room.path(map(0xff))).unwrap();
    room.bspkit("ci maps --baseline known.json --write-baseline -q");
    room.bspkit("ci maps --baseline known.json -q").without_data(0);
}

/// A name with a byte that is not UTF-8, and one with the letters that stand for it, are two names.
#[test]
#[cfg(unix)]
fn an_escaped_name_is_no_other_name() {
    use std::os::unix::ffi::OsStrExt;

    let room = Room::new();
    let names = [&b"maps/a\xff.bsp"[..], br"maps/a\xff.bsp", br"maps/a\\xff.bsp"].map(std::ffi::OsStr::from_bytes);
    room.write("bspkit.toml", b"[entities]\nforbidden = [\"light\"]\n");
    for name in names {
        room.write(name, &room.read("q2.bsp"));
    }
    let report: Value = serde_json::from_str(room.bspkit("ci maps --format gitlab").text()).unwrap();
    let prints: Vec<String> = report.as_array().unwrap().iter().map(|issue| issue["fingerprint"].to_string()).collect();
    assert_eq!(prints.iter().collect::<BTreeSet<_>>().len(), prints.len());
    // What is known of one of them is known of no other one.
    for name in names {
        room.bspkit("ci maps --baseline known.json --write-baseline -q");
        room.bspkit("ci maps --baseline known.json -q").without_data(0);
        let old = String::from_utf8(room.read("known.json")).unwrap();
        std::fs::rename(room.path(name), room.path("keep")).unwrap();
        std::fs::remove_file(room.path("known.json")).unwrap();
        room.bspkit("ci maps --baseline known.json --write-baseline -q");
        let new = String::from_utf8(room.read("known.json")).unwrap();
        assert!(new.lines().count() < old.lines().count(), "{name:?}");
        std::fs::rename(room.path("keep"), room.path(name)).unwrap();
        assert_eq!(room.bspkit("ci maps --baseline known.json -q").code, Some(1), "{name:?}");
    }
}

/// A map is one map, however often it is named.
#[test]
fn a_map_that_is_named_twice_is_one_map() {
    let room = Room::new();
    room.write("maps/a.bsp", &room.read("q2.bsp"));
    let once = room.bspkit("ent list maps --group classname --json").done();
    for line in ["maps maps/a.bsp", "maps/a.bsp ./maps/a.bsp", "maps/../maps maps/a.bsp"] {
        let twice = room.bspkit(&format!("ent list {line} --group classname --json")).done();
        assert_eq!(once.text(), twice.text(), "{line}");
        let junit = room.bspkit(&format!("ci {line} --format junit"));
        assert!(junit.text().contains("tests=\"1\""), "{}", junit.text());
    }
}

#[test]
fn sarif_is_as_its_schema_says() {
    let room = room();
    let run = room.bspkit("ci maps --format sarif -o report.sarif").without_data(1);
    assert!(run.err.contains("failed: maps/note.bsp"), "{}", run.err);
    let log: Value = serde_json::from_slice(&room.read("report.sarif")).unwrap();
    let schema = schema("sarif.json");
    assert_eq!(validate(&schema, &schema, &log, ""), Ok(()));
    let run = &log["runs"][0];
    let (results, rules) = (run["results"].as_array().unwrap(), &run["tool"]["driver"]["rules"]);
    assert!(results.len() > 8);
    let mut prints = BTreeSet::new();
    for result in results {
        let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
        assert_eq!(rule["id"], result["ruleId"]);
        assert!(prints.insert(result["partialFingerprints"]["bspkit/v1"].to_string()), "{result}");
    }
    let uris: BTreeSet<_> = results
        .iter()
        .map(|it| it["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].to_string())
        .collect();
    assert!(uris.contains("\"maps/a%20%26%20b%2C%20100%25%3A%20%3C%C3%BC%3E.bsp\""), "{uris:?}");
    for bad in ["\"version\": \"2.1.0\"", "\"level\": \"error\"", "\"uri\": \"maps/odd.bsp\"", "\"text\""] {
        let text = String::from_utf8(room.read("report.sarif")).unwrap();
        assert!(text.contains(bad), "{bad}");
        let other: Value =
            serde_json::from_str(&text.replace(bad, &bad.replacen("\": ", "\": 1, \"x\": ", 1).replace("text", "txt")))
                .unwrap();
        assert!(validate(&schema, &schema, &other, "").is_err(), "{bad}");
    }
}

#[test]
fn gitlab_is_as_its_documentation_says() {
    let room = room();
    let run = room.bspkit("ci maps --format gitlab");
    assert_eq!(run.code, Some(1), "{}", run.err);
    let (report, schema) = (run.json(), schema("gitlab.json"));
    assert_eq!(validate(&schema, &schema, &report, ""), Ok(()));
    let prints: BTreeSet<_> = report.as_array().unwrap().iter().map(|it| it["fingerprint"].to_string()).collect();
    assert_eq!(prints.len(), report.as_array().unwrap().len());
    assert!(prints.len() > 8);
    // The same findings have the same names in a second run, and with the map in another place of the list.
    let again = room.bspkit("ci maps/rooms.bsp maps --format gitlab").json();
    let again: BTreeSet<_> = again.as_array().unwrap().iter().map(|it| it["fingerprint"].to_string()).collect();
    assert!(prints.is_subset(&again));
    let mut bad = report.clone();
    bad[0]["severity"] = "error".into();
    assert!(validate(&schema, &schema, &bad, "").is_err());
}

#[test]
fn junit_has_a_case_for_each_map() {
    let room = room();
    room.bspkit("ci maps --format junit -o report.xml").without_data(1);
    let text = String::from_utf8(room.read("report.xml")).unwrap();
    let suites = xml::parse(&text).unwrap();
    assert_eq!((suites.name.as_str(), suites.inner.len()), ("testsuites", 1));
    let suite = &suites.inner[0];
    assert_eq!((suite.name.as_str(), suite.get("name")), ("testsuite", Some("bspkit ci")));
    assert_eq!(suite.get("tests"), Some("4"));
    let with = |name: &str| suite.inner.iter().filter(|case| case.inner.iter().any(|it| it.name == name)).count();
    assert_eq!(suite.get("failures"), Some(&*with("failure").to_string()));
    assert_eq!((suite.get("errors"), with("error"), with("failure")), (Some("1"), 1, 3));
    for case in &suite.inner {
        assert_eq!((case.name.as_str(), case.get("classname")), ("testcase", Some("maps")));
        let kinds: Vec<&str> = case.inner.iter().map(|it| it.name.as_str()).collect();
        assert!(["failure", "error"].contains(&kinds[0]) && kinds.len() <= 2, "{kinds:?}");
        assert!(case.inner[0].get("message").is_some() && case.inner[0].get("type").is_some(), "{case:?}");
        assert!(!case.inner[0].text.trim().is_empty());
    }
    assert!(suite.inner.iter().any(|case| case.get("name") == Some("a & b, 100%: <\u{fc}>.bsp")));
}

#[test]
fn github_has_annotations_and_a_summary() {
    let room = room();
    room.write("summary.md", b"before\n");
    let run = super::room::Run::of(
        room.command().args(["ci", "maps", "--format", "github"]).env("GITHUB_STEP_SUMMARY", room.path("summary.md")),
    );
    assert_eq!(run.code, Some(1), "{}", run.err);
    for line in run.text().lines() {
        let rest = ["::error ", "::warning ", "::notice "].iter().find_map(|command| line.strip_prefix(command));
        let (properties, message) = rest.unwrap_or_else(|| panic!("{line}")).split_once("::").unwrap();
        let properties: Vec<_> = properties.split(',').map(|it| it.split_once('=').unwrap()).collect();
        assert_eq!((properties[0].0, properties[1].0, properties.len()), ("file", "title", 2), "{line}");
        assert!(!properties[0].1.contains([':', '\n']) && !message.is_empty(), "{line}");
    }
    assert!(run.text().contains("file=maps/a & b%2C 100%25%3A <\u{fc}>.bsp,title=policy-name::"), "{}", run.text());
    let summary = String::from_utf8(room.read("summary.md")).unwrap();
    assert!(summary.starts_with("before\n### bspkit ci: 4 maps checked, 4 failed\n\n| map |"), "{summary}");
    assert!(summary.contains("\n| maps/a & b".replace('&', "&amp;").as_str()), "{summary}");
    let columns = |line: &str| line.replace("\\|", "").matches('|').count();
    assert!(summary.lines().filter(|line| line.starts_with('|')).all(|line| columns(line) == 6), "{summary}");
}

#[test]
fn what_people_read() {
    let room = room();
    let lines = [
        "bspkit ci maps/rooms.bsp maps/odd.bsp -q",
        "bspkit ci maps/rooms.bsp --format json",
        "bspkit ci maps/rooms.bsp --format github",
        "bspkit ci maps/note.bsp --format gitlab",
        "bspkit ci maps --baseline known.json --write-baseline -q",
        "bspkit ci maps --baseline known.json",
        "bspkit ci maps --baseline none.json",
        "bspkit ci maps --baseline bspkit.toml",
        "printf '[entities]\\nmax_cuont = 2\\nforbidden = \"light\"\\n' >maps/bspkit.toml; bspkit ci maps",
        "bspkit ci maps --policy bspkit.toml -q -o text.txt; head -3 text.txt",
        "bspkit ci maps --policy no.toml",
        "bspkit ci maps --write-baseline",
        "bspkit ci - <maps/odd.bsp --policy bspkit.toml",
    ];
    check("ci", &room, &lines);
}

#[test]
fn a_baseline_knows_findings_that_moved() {
    let room = room();
    let run = |name: &str| room.bspkit(&format!("ci maps/{name}.bsp --baseline known.json --policy bspkit.toml"));
    room.bspkit("ci maps/rooms.bsp --baseline known.json --write-baseline").done();
    assert_eq!(run("rooms").code, Some(0));
    // All entities and offsets move, and nothing is new.
    room.shell("bspkit ent add maps/rooms.bsp classname=info_null -o x.bsp -q").done();
    room.shell("bspkit ent mv x.bsp info_null --after '#0' -o y.bsp -q && mv y.bsp maps/rooms.bsp").done();
    let moved = run("rooms");
    assert_eq!(moved.code, Some(0), "{}{}", moved.text(), moved.err);
    // One light more than before is one finding more.
    room.shell("bspkit ent dup maps/rooms.bsp 'light[style=32]' -o y.bsp -q && mv y.bsp maps/rooms.bsp").done();
    let more = run("rooms");
    assert_eq!((more.code, more.text().lines().count()), (Some(1), 1), "{}", more.text());
    // Another map does not have these findings.
    assert_eq!(run("odd").code, Some(1));
    // One that was fixed is not missed, and the file is the same in a second run.
    room.shell("bspkit ent rm maps/rooms.bsp light -o y.bsp -q && mv y.bsp maps/rooms.bsp").done();
    assert_eq!(run("rooms").code, Some(0));
    let write = |name: &str| {
        room.bspkit(&format!("ci maps --baseline {name} --write-baseline")).without_data(0);
        room.read(name)
    };
    assert_eq!(write("one.json"), write("two.json"));
}

#[test]
fn only_maps_that_changed() {
    let room = room();
    let checked = |rev: &str| -> BTreeSet<String> {
        let run = room.bspkit(&format!("ci maps --format json --changed-since {rev}"));
        documents(run.text()).iter().map(|it| it["path"].as_str().unwrap().to_owned()).collect()
    };
    let list = |names: &[&str]| names.iter().map(|name| format!("maps/{name}.bsp")).collect::<BTreeSet<_>>();
    let git = "git init -q . && git config user.name a && git config user.email a@example.com";
    room.shell(&format!("{git} && git add . && git commit -qm one")).done();
    assert_eq!(checked("HEAD"), list(&[]));
    let none = room.bspkit("ci maps --changed-since HEAD --format sarif -o empty.sarif").done();
    assert_eq!(none.err, "no map has changed since HEAD\n");
    assert!(String::from_utf8(room.read("empty.sarif")).unwrap().contains("\"results\": []"));
    room.shell("bspkit ent set maps/rooms.bsp light light=1 --in-place -q && cp maps/odd.bsp maps/new.bsp").done();
    assert_eq!(checked("HEAD"), list(&["rooms", "new"]));
    room.shell("git add . && git commit -qm two").done();
    assert_eq!(checked("HEAD"), list(&[]));
    assert_eq!(checked("HEAD^"), list(&["rooms", "new"]));
    room.shell("echo >>bspkit.toml").done();
    assert_eq!(checked("HEAD"), list(&["a & b, 100%: <\u{fc}>", "new", "note", "odd", "rooms"]));
    for rev in ["nope", "-x", "HEAD^^^"] {
        let run = room.run(&["ci", "maps", &format!("--changed-since={rev}")]).without_data(2);
        assert!(run.err.contains(rev) && !run.err.contains("without a message"), "{}", run.err);
    }
    // What another branch changed meanwhile is not a change of this one.
    let edit =
        |map: &str| format!("bspkit ent set maps/{map}.bsp light light=3 --in-place -q && git commit -qam {map}");
    room.shell("git checkout -q bspkit.toml && git checkout -qb other HEAD^").done();
    room.shell(&edit("odd")).done();
    room.shell(&format!("git checkout -qb own HEAD^ && {}", edit("rooms"))).done();
    assert_eq!(checked("other"), list(&["rooms"]));
    // Histories that have no commit in common.
    room.shell("git checkout -q --orphan alone && git commit -qm alone").done();
    assert_eq!(checked("other"), list(&["odd", "rooms"]));
}

/// The commands of the examples, in a repository with two commits.
#[test]
fn examples_for_ci_run() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("examples/ci");
    let room = Room::empty();
    for (name, map) in [("q2_rooms", "q2/own_rooms"), ("q3_rooms", "q3/own_rooms"), ("room_v20", "source/room_v20")] {
        room.write(format!("maps/{name}.bsp"), &fixture(map));
    }
    room.write("bspkit.toml", &std::fs::read(folder.join("bspkit.toml")).unwrap());
    // The page of one map is not that of another one of the same name.
    room.write("other/q2_rooms.bsp", &fixture("q2/own_rooms"));
    room.write("other/q2 ü.bsp", &fixture("q2/own_rooms"));
    room.write("-c.bsp", &fixture("q2/own_rooms"));
    let prepare = "git init -q . && git config user.name a && git config user.email a@example.com && git add . &&
        git commit -qm one && bspkit ci maps --baseline known.json --write-baseline &&
        for map in maps/q2_rooms.bsp other/* ./-c.bsp; do bspkit ent set \"$map\" light light=200 --in-place -q; done && git add . &&
        git commit -qm two";
    room.shell(prepare).done();
    let mut seen = 0;
    for file in ["github.yml", "gitlab.yml"] {
        let text = std::fs::read_to_string(folder.join(file)).unwrap();
        let commands = text.lines().filter_map(|line| Some(&line[line.find("bspkit ci")?..]));
        for command in commands {
            // The example notes the exit status and goes on.
            let command = command.trim_end_matches(" || code=$?");
            let run = room.shell(command).done();
            assert!(!run.err.contains("error"), "{command}: {}", run.err);
            // The same command sees a map that breaks the policy.
            room.shell("cp maps/q2_rooms.bsp keep && bspkit ent add maps/q2_rooms.bsp classname=info_null --in-place")
                .done();
            assert_eq!(room.shell(command).code, Some(1), "{command}");
            room.shell("mv keep maps/q2_rooms.bsp").done();
            seen += 1;
        }
    }
    assert_eq!(seen, 4);
    // The whole script of GitLab, where a map breaks the policy: both reports are there, and the job fails.
    let script = std::fs::read_to_string(folder.join("gitlab.yml")).unwrap();
    let lines = script.lines().filter_map(|line| line.trim_start().strip_prefix("- "));
    let lines: Vec<&str> = lines.filter(|line| !line.starts_with("cargo")).collect();
    room.shell("cp maps/q2_rooms.bsp keep && bspkit ent add maps/q2_rooms.bsp classname=info_null --in-place").done();
    assert_eq!(room.shell(&format!("rm -f quality.json junit.xml; set -e\n{}", lines.join("\n"))).code, Some(1));
    assert!(room.path("quality.json").exists() && room.path("junit.xml").exists());
    room.shell("mv keep maps/q2_rooms.bsp && rm quality.json junit.xml").done();
    let workflow = std::fs::read_to_string(folder.join("github.yml")).unwrap();
    let (_, script) = workflow.split_once("run: |\n").unwrap();
    let script: Vec<&str> = script.lines().take_while(|line| line.starts_with("          ")).collect();
    // GitHub runs it in bash.
    room.write("review.sh", format!("set -eo pipefail\n{}", script.join("\n")).as_bytes());
    room.shell("bash review.sh").done();
    let pages = room.shell("cd review && find . -type f | sort").done().out;
    let expected = "./-c.bsp.html\n./maps/q2_rooms.bsp.html\n./other/q2 ü.bsp.html\n./other/q2_rooms.bsp.html\n";
    assert_eq!(String::from_utf8_lossy(&pages), expected, "a page about each map that changed");
    // As a hook, git runs it and does not commit.
    room.write(".git/hooks/pre-commit", &std::fs::read(folder.join("pre-commit")).unwrap());
    room.shell("chmod +x .git/hooks/pre-commit").done();
    room.shell("bspkit ent add maps/q3_rooms.bsp classname=info_null --in-place -q").done();
    assert_eq!(room.shell("git commit -qam three").code, Some(1));
    room.shell("bspkit ent rm maps/q3_rooms.bsp info_null --in-place -q").done();
    room.shell("git commit -qam three --allow-empty").done();
    // It looks at what is committed, and not at the files beside it.
    room.shell("cp maps/q3_rooms.bsp keep && bspkit ent add maps/q3_rooms.bsp classname=info_null --in-place -q")
        .done();
    room.shell("git add maps && cp maps/q3_rooms.bsp bad && cp keep maps/q3_rooms.bsp").done();
    assert_eq!(room.shell("git commit -qm four").code, Some(1));
    room.shell("git add maps && bspkit ent set maps/q3_rooms.bsp worldspawn a=b --in-place -q && git add maps").done();
    room.shell("cp bad maps/q3_rooms.bsp && git commit -qm four").done();
    // The files that the policy names are there.
    room.write("own.fgd", b"@PointClass = light : \"own\" []\n");
    room.write("bspkit.toml", b"[defaults]\nfgd = \"own.fgd\"\n");
    room.shell("bspkit ent set maps/q3_rooms.bsp worldspawn a=c --in-place -q && git add .").done();
    room.shell("git commit -qm five").done();
}

/// The framework of hooks runs the entry, its args and the names: a project has other args.
#[test]
fn the_hook_takes_args() {
    let hook = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.pre-commit-hooks.yaml")).unwrap();
    let line = |key: &str| hook.lines().find_map(|line| line.trim().strip_prefix(key)).unwrap().trim();
    let room = Room::empty();
    room.write("-a.bsp", &fixture("q2/own_rooms"));
    room.write("own.toml", b"[map]\nmax_bytes = 1\n");
    let entry = line("entry:");
    let args: Vec<String> = serde_json::from_str(line("args:")).unwrap();
    room.shell(&format!("{entry} {} -a.bsp", args.join(" "))).done();
    assert_eq!(room.shell(&format!("{entry} --policy own.toml -- -a.bsp")).code, Some(1));
}

#[test]
fn lists_end_after_ten_of_a_kind_but_with_v() {
    let room = Room::empty();
    let names: String = (0..14).map(|name| format!("{{ \"classname\" \"door\" \"target\" \"t{name}\" }}\n")).collect();
    room.write("maps/q2.bsp", &fixture("q2/own_rooms"));
    room.write("doors.ent", format!("{{ \"classname\" \"worldspawn\" }}\n{names}").as_bytes());
    room.shell("bspkit ent import maps/q2.bsp doors.ent --in-place -q").done();
    room.write("bspkit.toml", b"[check]\ndeny = ['entity-target']\n");
    let listed = |arguments: &str| {
        let run = room.bspkit(&format!("ci maps {arguments}"));
        assert_eq!(run.code, Some(1), "{}", run.err);
        String::from_utf8(run.out).unwrap().matches("no entity has this name").count()
    };
    assert_eq!((listed(""), listed("-v"), listed("--format json"), listed("--format json -v")), (10, 14, 10, 14));
    // A baseline knows all: another one of a kind is new, also where one of them has gone.
    room.shell("bspkit ci maps --baseline known.json --write-baseline -q").done();
    room.shell("bspkit ci maps --baseline known.json -v").done();
    room.shell("bspkit ci maps --baseline known.json").done();
    room.shell("bspkit ent set maps/q2.bsp '#13' target=other7 --in-place -q").done();
    let run = room.bspkit("ci maps --baseline known.json");
    let out = String::from_utf8(run.out).unwrap();
    assert!(run.code == Some(1) && out.contains("`other7`") && out.lines().count() == 1, "{out}");
    // Digits of a name are not numbers of records.
    room.shell("bspkit ent set maps/q2.bsp '#13' target=t99 --in-place -q").done();
    assert!(String::from_utf8(room.bspkit("ci maps --baseline known.json").out).unwrap().contains("`t99`"));
    for number in 0..14 {
        room.write(format!("bad/{number}.bsp"), b"Not a map.\n");
    }
    let run = room.bspkit("ci bad").without_data(2);
    assert_eq!(run.err.matches("\nfailed: ").count(), 11, "{}", run.err);
    assert!(run.err.contains("failed: 4 other maps; -v names all\n"), "{}", run.err);
    assert_eq!(room.bspkit("ci bad -v").err.matches("\nfailed: bad/").count(), 14);
}

/// A baseline takes the place of nothing else, and does not know a map that cannot be read.
#[test]
fn a_baseline_replaces_only_a_baseline() {
    let room = Room::new();
    let old = room.read("q3.bsp");
    let run = room.bspkit("ci q2.bsp --baseline q3.bsp --write-baseline").without_data(2);
    assert!(run.err.contains("q3.bsp is not UTF-8") && room.read("q3.bsp") == old, "{}", run.err);
    room.write("empty.json", b"");
    for _ in 0..2 {
        room.bspkit("ci q2.bsp --baseline empty.json --write-baseline").done();
    }
    let run = room.bspkit("ci q2.bsp gone.bsp --baseline known.json --write-baseline").without_data(1);
    assert!(run.err.contains("gone.bsp"), "{}", run.err);
    room.bspkit("ci q2.bsp --baseline known.json").done();
    assert_ne!(room.bspkit("ci q2.bsp gone.bsp --baseline known.json").code, Some(0));
}

/// Findings of maps that are not looked at stay known; those of maps that are gone do not.
#[test]
fn a_part_of_the_maps_renews_a_part_of_the_baseline() {
    let room = Room::empty();
    room.write("bspkit.toml", b"[entities]\nforbidden = ['light']\n");
    for name in ["a.bsp", "b.bsp", "c.bsp"] {
        room.write(name, &fixture("q2/own_rooms"));
    }
    room.bspkit("ci . --baseline known.json --write-baseline").done();
    let lines = || String::from_utf8(room.read("known.json")).unwrap().lines().count();
    let all = lines();
    room.bspkit("ci b.bsp --baseline known.json --write-baseline").done();
    assert_eq!(lines(), all);
    std::fs::remove_file(room.path("c.bsp")).unwrap();
    room.bspkit("ci b.bsp --baseline known.json --write-baseline").done();
    assert!(lines() < all);
    room.bspkit("ci . --baseline known.json").done();
    // The maps need not be in the folder of the baseline.
    room.write("ci/empty.json", b"");
    room.bspkit("ci a.bsp b.bsp --baseline ci/empty.json --write-baseline").done();
    room.bspkit("ci b.bsp --baseline ci/empty.json --write-baseline").done();
    room.bspkit("ci a.bsp b.bsp --baseline ci/empty.json").done();
}

/// A map whose nearest policy is gone has another one.
#[test]
fn a_policy_that_is_removed_is_a_change() {
    let room = Room::empty();
    room.write("bspkit.toml", b"[entities]\nforbidden = ['light']\n");
    room.write("inner/bspkit.toml", b"");
    room.write("inner/a.bsp", &fixture("q2/own_rooms"));
    let git = "git -c user.name=n -c user.email=e -c init.defaultBranch=main";
    room.shell(&format!("{git} init -q && git add -A && {git} commit -q -m one")).done();
    room.bspkit("ci . --changed-since HEAD").done();
    room.shell(&format!("git rm -q inner/bspkit.toml && {git} commit -q -m two")).done();
    let run = room.bspkit("ci . --changed-since HEAD^");
    assert!(run.code == Some(1) && run.text().contains("light"), "{run:?}");
}

/// The classes of a map are those of the FGD file and of all that it includes.
#[test]
fn a_change_of_an_included_fgd_file_is_a_change() {
    let room = Room::empty();
    room.write("a.bsp", &fixture("q2/own_rooms"));
    room.write("game.fgd", b"@include \"base.fgd\"\n@SolidClass = worldspawn [ message(string) ]\n");
    room.write("base.fgd", b"@PointClass = own_thing [ ]\n");
    let git = "git -c user.name=n -c user.email=e -c init.defaultBranch=main";
    room.shell(&format!("{git} init -q && git add -A && {git} commit -q -m one")).done();
    let none = room.bspkit("ci a.bsp --fgd game.fgd --changed-since HEAD").done();
    assert!(none.err.contains("no map has changed"), "{none:?}");
    room.write("base.fgd", b"@PointClass = other_thing [ ]\n");
    let changed = room.bspkit("ci a.bsp --fgd game.fgd --changed-since HEAD");
    assert!(!changed.err.contains("no map has changed"), "{changed:?}");
    std::fs::remove_file(room.path("base.fgd")).unwrap();
    let gone = room.bspkit("ci a.bsp --fgd game.fgd --changed-since HEAD");
    assert!(gone.err.contains("is skipped") && !gone.err.contains("no map has changed"), "{gone:?}");
}

/// A new note is nothing wrong; what the baseline knows is.
#[test]
fn a_map_with_known_findings_is_not_said_to_have_none() {
    let room = Room::new();
    room.write("maps/bspkit.toml", b"[entities]\nforbidden = [\"light\"]\n");
    room.write("maps/q2.bsp", &room.read("q2.bsp"));
    room.bspkit("ci maps --baseline known.json --write-baseline -q");
    room.bspkit("ent rm maps/q2.bsp light[style=32] --in-place -q").done();
    let run = room.bspkit("ci maps --baseline known.json");
    assert!(run.code == Some(0) && !run.err.contains("nothing wrong"), "{run:?}");
    assert!(run.err.contains("q2.bsp: nothing new is wrong"), "{run:?}");
}

/// A link that leads to another map is another map, also where neither of both changed; what git says nothing of is
/// looked at.
#[cfg(unix)]
#[test]
fn a_link_that_leads_elsewhere_is_a_change() {
    let room = Room::empty();
    let [good, bad] = [fixture("q2/own_rooms"), odd()];
    room.write("maps/good.bsp", &good);
    room.write("maps/bad.bsp", &bad);
    room.write("elsewhere/x.bsp", &bad);
    let git = "git -c user.name=n -c user.email=e -c init.defaultBranch=main";
    room.shell("ln -s good.bsp maps/now.bsp").done();
    room.shell(&format!("cd maps && {git} init -q && {git} add -A && {git} commit -q -m one")).done();
    let checked = |of: &str| -> Vec<String> {
        let run = room.bspkit(&format!("ci {of} --format json --changed-since HEAD"));
        documents(run.text()).iter().map(|it| it["path"].as_str().unwrap().to_owned()).collect()
    };
    assert!(checked("maps").is_empty());
    room.shell("ln -sfn bad.bsp maps/now.bsp").done();
    assert_eq!(checked("maps"), ["maps/now.bsp"]);
    assert_eq!(checked("maps/now.bsp"), ["maps/now.bsp"]);
    room.shell(&format!("cd maps && {git} add -A && {git} commit -q -m two")).done();
    assert!(checked("maps").is_empty());
    // What the link leads to changed.
    room.write("maps/bad.bsp", &good);
    assert_eq!(checked("maps"), ["maps/bad.bsp", "maps/now.bsp"]);
    room.write("maps/bad.bsp", &bad);
    // One that leads out of the repository, and one to nothing, do not stop the others.
    room.shell("ln -s ../elsewhere/x.bsp maps/out.bsp && ln -s nowhere.bsp maps/gone.bsp").done();
    room.shell(&format!("cd maps && {git} add -A && {git} commit -q -m three")).done();
    room.shell("cp maps/good.bsp maps/new.bsp").done();
    assert_eq!(checked("maps"), ["maps/gone.bsp", "maps/new.bsp", "maps/out.bsp"]);
    let piped = room.shell("cd maps && bspkit ci - --changed-since HEAD <bad.bsp");
    assert!(piped.code == Some(1) && piped.text().contains("index-range"), "{piped:?}");
}

#[test]
fn an_archive_that_changed_is_looked_at() {
    let room = Room::empty();
    room.write("a.bsp", &fixture("q2/own_rooms"));
    room.shell("python3 -m zipfile -c p.pk3 a.bsp && rm a.bsp").done();
    let git = "git -c user.name=n -c user.email=e -c init.defaultBranch=main";
    room.shell(&format!("{git} init -q && {git} add -A && {git} commit -q -m one")).done();
    let none = room.bspkit("ci p.pk3 --changed-since HEAD").done();
    assert!(none.err.contains("no map has changed"), "{none:?}");
    room.shell("printf x >>p.pk3").done();
    let run = room.bspkit("ci p.pk3 --changed-since HEAD --format json");
    assert_eq!(documents(run.text()).len(), 1, "{run:?}");
}

/// A map in an archive and a link have places of their own below the folder of the baseline, however they are named.
#[cfg(unix)]
#[test]
fn a_baseline_knows_archives_and_links_by_their_places() {
    let room = Room::empty();
    room.write("bspkit.toml", b"[map]\nnames = ['x']\n");
    room.write("sub/maps/b.bsp", &odd());
    room.shell("cd sub && python3 -m zipfile -c p.pk3 maps/b.bsp && rm -r maps").done();
    room.write("x.bsp", &fixture("q2/own_rooms"));
    room.shell("ln -s x.bsp l.bsp").done();
    room.bspkit("ci . sub/p.pk3 --baseline k.json --write-baseline").without_data(0);
    for of in [".", "sub/p.pk3", "./sub/p.pk3", "sub/../sub/p.pk3", "\"$PWD/sub/p.pk3\"", "l.bsp"] {
        room.shell(&format!("bspkit ci {of} --baseline k.json")).done();
    }
    room.shell("cd sub && bspkit ci p.pk3 --baseline ../k.json").done();
    room.shell("cd sub && bspkit ci p.pk3 --baseline ../k.json --write-baseline").without_data(0);
    let text = String::from_utf8(room.read("k.json")).unwrap();
    assert!(!text.contains("\"p.pk3"), "{text}");
}

/// A link to a map is held to the policy of its own folder.
#[cfg(unix)]
#[test]
fn a_link_has_the_policy_of_its_folder() {
    let room = Room::empty();
    room.write("else/m.bsp", &fixture("q2/own_rooms"));
    room.write("own/bspkit.toml", b"[map]\nmax_bytes = 1\n");
    room.shell("ln -s ../else/m.bsp own/m.bsp && ln -s own linked").done();
    for of in ["own/m.bsp", "own", "linked/m.bsp", "linked"] {
        let run = room.bspkit(&format!("ci {of}"));
        assert!(run.code == Some(1) && run.text().contains("policy-size"), "{of}: {run:?}");
    }
    room.bspkit("ci else").done();
    // A link to nothing is not no policy, and neither is a folder.
    room.shell("rm own/bspkit.toml && ln -s nowhere own/bspkit.toml").done();
    room.bspkit("ci own").without_data(2);
    room.shell("rm own/bspkit.toml && mkdir own/bspkit.toml").done();
    room.bspkit("ci own").without_data(2);
}

#[test]
fn the_file_of_a_project_is_not_written_over_nor_half_read() {
    let room = Room::empty();
    room.write("g.bsp", &fixture("q2/own_rooms"));
    room.write("bspkit.toml", b"[defaults]\nlayout = 'append'\n");
    room.write("p.toml", b"[map]\nmax_bytes = 1000000\n");
    let run = room.bspkit("ci g.bsp --policy p.toml --format json -o bspkit.toml").without_data(2);
    assert!(run.err.contains("bspkit.toml"), "{run:?}");
    room.write("p.toml", b"[defaults]\ncolor = 'red'\n");
    room.bspkit("ci g.bsp --policy p.toml").without_data(2);
}
