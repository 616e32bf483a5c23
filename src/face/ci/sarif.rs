//! SARIF 2.1.0, the Static Analysis Results Interchange Format of OASIS.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Fingerprints, MapFindings, place, sentence, severity};
use crate::op::check::{Code, Severity};

/// All findings as one run of SARIF 2.1.0.
///
/// A map has no lines; readers such as GitHub want one, so each result is on line 1 and names the lump and the record
/// as a logical location.
pub fn sarif(maps: &[MapFindings]) -> String {
    let all = || maps.iter().flat_map(|map| map.findings.iter().map(move |(finding, denied)| (map, finding, *denied)));
    let codes: BTreeMap<&str, &'static Code> = all().map(|(_, finding, _)| (finding.code.name, finding.code)).collect();
    let rules: Vec<Value> = codes.values().map(|code| rule(code)).collect();
    let mut fingerprints = Fingerprints::default();
    let results = all().map(|(map, finding, denied)| {
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
        let level = if denied { "error" } else { level(finding.code.severity) };
        json!({
            "ruleId": finding.code.name,
            "ruleIndex": codes.keys().position(|name| *name == finding.code.name),
            "level": level,
            "message": {"text": sentence(finding)},
            "locations": [location],
            "partialFingerprints": {"bspkit/v1": fingerprints.of(map, finding)},
            "occurrenceCount": finding.count,
        })
    });
    let results: Vec<Value> = results.collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "bspkit",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    format!("{log:#}\n")
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
