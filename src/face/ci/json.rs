//! JSON lines: one document for each map, as `docs/schema/ci.schema.json` says.

use serde::Serialize;

use super::MapFindings;
use crate::face::report::{FindingJson, Head};

#[derive(Serialize)]
struct Document<'m> {
    #[serde(flatten)]
    head: Head<'m>,
    ok: bool,
    dialect: Option<&'static str>,
    findings: Vec<Row>,
    known_count: usize,
}

#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    finding: FindingJson,
    /// Whether it counts as a failure.
    denied: bool,
}

/// A line of JSON for a map.
pub(super) fn line(map: &MapFindings) -> String {
    let findings = map.findings.iter().map(|(finding, denied)| Row { finding: finding.into(), denied: *denied });
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
