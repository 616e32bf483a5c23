//! GitLab's code quality report, a subset of the format of Code Climate.

use serde_json::{Value, json};

use super::{MapFindings, sentence, severity};
use crate::op::check::Finding;

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
