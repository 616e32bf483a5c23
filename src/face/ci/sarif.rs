//! SARIF 2.1.0, the Static Analysis Results Interchange Format of OASIS.

use serde_json::{Value, json};

use super::{MapFindings, place, sentence, severity};
use crate::op::check::{Code, Finding, Severity};

/// A finding as a result, in the form that it has in the log; `rule` is the place of its code among the rules.
///
/// A map has no lines; readers such as GitHub want one, so each result is on line 1 and names the lump and the record
/// as a logical location.
pub(super) fn result(map: &MapFindings, (finding, denied): &(Finding, bool), rule: usize, print: &str) -> Value {
    let mut location = json!({
        "physicalLocation": {
            "artifactLocation": {"uri": uri(&map.uri())},
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
pub(super) fn frame(codes: &[&'static Code]) -> [String; 2] {
    const RESULTS: &str = "\"results\": [";
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "bspkit",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": codes.iter().map(|code| rule(code)).collect::<Vec<_>>(),
            }},
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
fn uri(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let encoded = path.bytes().map(|byte| match is_plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    let scheme = if path.starts_with('/') { "file://" } else { "" };
    scheme.chars().map(String::from).chain(encoded).collect()
}
