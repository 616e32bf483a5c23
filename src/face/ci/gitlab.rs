//! GitLab's code quality report, a subset of the format of Code Climate.

use serde_json::{Value, json};

use super::{Fingerprints, MapFindings, sentence, severity};

/// All findings as a code quality report of GitLab. A map has no lines, so each is on line 1.
pub fn gitlab(maps: &[MapFindings]) -> String {
    let mut fingerprints = Fingerprints::default();
    let all = maps.iter().flat_map(|map| map.findings.iter().map(move |(finding, denied)| (map, finding, *denied)));
    let issues = all.map(|(map, finding, denied)| {
        let own = severity(finding.code.severity, ["major", "minor", "info"]);
        json!({
            "description": sentence(finding),
            "check_name": finding.code.name,
            "fingerprint": fingerprints.of(map, finding),
            "severity": if denied { "major" } else { own },
            "location": {"path": map.uri(), "lines": {"begin": 1}},
        })
    });
    let issues: Vec<Value> = issues.collect();
    format!("{:#}\n", Value::Array(issues))
}
