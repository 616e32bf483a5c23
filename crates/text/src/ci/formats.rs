//! The formats that CI systems read: annotations of GitHub, GitLab's code quality report, JSON lines, JUnit XML,
//! SARIF.

use serde::Serialize;
use serde_json::{Value, json};

use super::{MapFindings, Totals, count, place, sentence, severity};
use bspkit::finding::{Code, Finding, Severity};
use bspkit::json::Head;

// Annotations and step summaries of GitHub Actions.

/// Workflow commands of GitHub Actions, one line for each finding, which GitHub shows as annotations.
pub(super) fn lines(map: &MapFindings) -> String {
    let line = |(finding, denied): &(Finding, bool)| {
        let own = severity(finding.code.severity, ["error", "warning", "notice"]);
        let command = if *denied { "error" } else { own };
        let (file, title) = (property(&map.uri()), property(finding.code.name));
        format!("::{command} file={file},title={title}::{}\n", data(&sentence(finding)))
    };
    map.findings.iter().map(line).collect()
}

/// The most findings that a summary lists: GitHub refuses one of more than 1 MiB.
pub(super) const MOST_LISTED: usize = 500;

/// A row of the summary.
pub(super) fn row(map: &MapFindings, finding: &Finding) -> String {
    let (path, code, place) = (cell(&map.uri()), finding.code, cell(&place(finding)));
    format!("| {path} | {} | `{}` | {place} | {} |\n", code.severity, code.name, cell(&finding.message))
}

/// A summary in Markdown, for the file that `GITHUB_STEP_SUMMARY` names.
pub(super) fn summary(totals: &Totals, rows: &[String]) -> String {
    let failed = totals.failures + totals.errors;
    let mut text = format!("### bspkit ci: {} checked, {failed} failed\n", count(totals.maps, "map", "maps"));
    if !rows.is_empty() {
        text += "\n| map | severity | code | place | finding |\n|---|---|---|---|---|\n";
    }
    text.extend(rows.iter().map(String::as_str));
    if totals.findings > rows.len() {
        text += &format!("\n{} more are not listed.\n", totals.findings - rows.len());
    }
    if totals.left_out > 0 {
        text += &format!("\n{}.\n", not_looked_at(totals.left_out));
    }
    if totals.known > 0 {
        text += &format!("\n{} in the baseline.\n", count(totals.known, "finding is", "findings are"));
    }
    text
}

/// The sentence about maps that a stopped run did not reach.
fn not_looked_at(maps: usize) -> String {
    format!("The run was stopped: {} not looked at", count(maps, "map was", "maps were"))
}

/// The text after the second `::` of a workflow command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// The text of a cell of a table.
fn cell(text: &str) -> String {
    let mut safe = String::new();
    for letter in text.chars() {
        match letter {
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' => safe.extend(['\\', letter]),
            '<' => safe += "&lt;",
            '&' => safe += "&amp;",
            '\r' | '\n' => safe.push(' '),
            letter => safe.push(letter),
        }
    }
    safe
}

// GitLab's code quality report, a subset of the format of Code Climate.

/// A finding as an issue. A map has no lines, so each is on line 1.
pub(super) fn issue(map: &MapFindings, (finding, denied): &(Finding, bool), print: &str) -> Value {
    let own = severity(finding.code.severity, ["major", "minor", "info"]);
    json!({
        "description": sentence(finding),
        "check_name": finding.code.name,
        "fingerprint": print,
        "severity": if *denied { "major" } else { own },
        "location": {"path": map.uri(), "lines": {"begin": 1}},
    })
}

// JSON lines: one document for each map, as `docs/schema/ci.schema.json` says.

#[derive(Serialize)]
struct Document<'m> {
    #[serde(flatten)]
    head: Head<'m>,
    ok: bool,
    dialect: Option<&'static str>,
    findings: Vec<Row<'m>>,
    known_count: usize,
}

#[derive(Serialize)]
struct Row<'m> {
    #[serde(flatten)]
    finding: &'m Finding,
    /// Whether it counts as a failure.
    denied: bool,
}

/// A line of JSON for a map.
pub(super) fn line(map: &MapFindings) -> String {
    let findings = map.findings.iter().map(|(finding, denied)| Row { finding, denied: *denied });
    let document = Document {
        head: Head::new(&map.path),
        ok: map.denied() == 0,
        dialect: map.dialect,
        findings: findings.collect(),
        known_count: map.known,
    };
    // Strings and numbers can always be written.
    serde_json::to_string(&document).unwrap_or_default() + "\n"
}

// JUnit XML, as Jenkins, GitLab and others read it.

/// What is before and after the test cases: one suite.
pub(super) fn junit_frame(totals: &Totals) -> [String; 2] {
    let Totals { maps, failures, errors, left_out, .. } = *totals;
    // One case for all maps that were not looked at.
    let skipped = usize::from(left_out > 0);
    let counts = format!("tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\"", maps + skipped);
    let head = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n  <testsuite name=\"bspkit ci\" {counts} \
         skipped=\"{skipped}\">\n"
    );
    let others = match left_out {
        0 => String::new(),
        _ => format!(
            "    <testcase classname=\"maps\" name=\"other maps\">\n      <skipped message=\"{}\"/>\n    </testcase>\n",
            not_looked_at(left_out)
        ),
    };
    [head, others + "  </testsuite>\n</testsuites>\n"]
}

/// A test case for a map. Findings that count as failures are the failure of the case, the others are its output. A map
/// that cannot be opened is an error.
pub(super) fn case(map: &MapFindings) -> String {
    let uri = map.uri();
    let (folder, name) = uri.rsplit_once('/').unwrap_or(("maps", &uri));
    let mut text =
        format!("    <testcase classname=\"{}\" name=\"{}\" file=\"{}\">\n", xml(folder), xml(name), xml(&uri));
    let lines = |wanted: bool| {
        let its = map.findings.iter().filter(|(_, denied)| *denied == wanted);
        its.map(|(finding, _)| format!("{}[{}] {}\n", finding.code.severity, finding.code.name, sentence(finding)))
            .collect::<String>()
    };
    let (denied, others) = (lines(true), lines(false));
    let first = map.findings.iter().find(|(_, denied)| *denied);
    if let Some((finding, _)) = first {
        let element = if map.is_unread() { "error" } else { "failure" };
        let message = match map.denied() {
            1 => sentence(finding),
            number => format!("{}, first: {}", count(number, "finding", "findings"), sentence(finding)),
        };
        let (message, kind) = (xml(&message), xml(finding.code.name));
        text += &format!("      <{element} message=\"{message}\" type=\"{kind}\">{}</{element}>\n", xml(&denied));
    }
    if !others.is_empty() {
        text += &format!("      <system-out>{}</system-out>\n", xml(&others));
    }
    text + "    </testcase>\n"
}

/// Text in XML 1.0, which has no control characters.
fn xml(text: &str) -> String {
    let mut safe = String::new();
    for letter in text.chars() {
        match letter {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\n' => safe += "&#10;",
            '\t' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'.. => safe.push(letter),
            _ => safe.push('\u{fffd}'),
        }
    }
    safe
}

// SARIF 2.1.0, the Static Analysis Results Interchange Format of OASIS.

/// A finding as a result, in the form that it has in the log; `rule` is the place of its code among the rules.
///
/// A map has no lines; readers such as GitHub want one, so each result is on line 1 and names the lump and the record
/// as a logical location.
pub(super) fn result(map: &MapFindings, (finding, denied): &(Finding, bool), rule: usize, print: &str) -> Value {
    let mut location = json!({
        "physicalLocation": {
            "artifactLocation": {"uri": uri(&map.bytes())},
            "region": {"startLine": 1},
        },
    });
    if finding.place.lump.is_some() {
        location["logicalLocations"] = json!([{"fullyQualifiedName": place(finding)}]);
    }
    // What the user denies is an error, whatever the severity of its code.
    let level = if *denied { "error" } else { level(finding.code.severity) };
    json!({
        "ruleId": finding.code.name,
        "ruleIndex": rule,
        "level": level,
        "message": {"text": sentence(finding)},
        "locations": [location],
        "partialFingerprints": {"bspkit/v1": print},
        "occurrenceCount": finding.count,
    })
}

/// What is before and after the results: one run of SARIF 2.1.0.
pub(super) fn sarif_frame(codes: &[&'static Code], left_out: usize, unread: &[String]) -> [String; 2] {
    const RESULTS: &str = "\"results\": [";
    let said = unread.iter().cloned().chain((left_out > 0).then(|| not_looked_at(left_out)));
    let said: Vec<Value> = said.map(|text| json!({"level": "error", "message": {"text": text}})).collect();
    let mut invocation = json!({"executionSuccessful": said.is_empty()});
    if !said.is_empty() {
        invocation["toolExecutionNotifications"] = json!(said);
    }
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "bspkit",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": codes.iter().map(|code| rule(code)).collect::<Vec<_>>(),
            }},
            "invocations": [invocation],
            "columnKind": "unicodeCodePoints",
            "results": [],
        }],
    });
    let text = format!("{log:#}\n");
    let (head, foot) = text.rsplit_once(RESULTS).unwrap_or_default();
    [[head, RESULTS].concat(), foot.to_owned()]
}

fn rule(code: &Code) -> Value {
    json!({
        "id": code.name,
        "shortDescription": {"text": code.meaning},
        "defaultConfiguration": {"level": level(code.severity)},
    })
}

fn level(of: Severity) -> &'static str {
    severity(of, ["error", "warning", "note"])
}

/// A path as a reference of RFC 3986: relative, or with the scheme `file`.
fn uri(path: &[u8]) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let encoded = path.iter().map(|&byte| match is_plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    let scheme = if path.starts_with(b"/") { "file://" } else { "" };
    scheme.chars().map(String::from).chain(encoded).collect()
}
