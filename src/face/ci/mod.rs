//! Findings about many maps in the formats that CI systems read: a [`Report`], and the [`Baseline`] of what is known.

mod baseline;
mod github;
mod gitlab;
mod json;
mod junit;
mod report;
mod sarif;

pub use baseline::Baseline;
pub use report::{Format, Report};

use std::collections::HashMap;
use std::path::PathBuf;

use md5::{Digest, Md5};

use crate::op::check::{Finding, Severity};

/// The findings about one map.
///
/// ```
/// use bspkit::face::ci::MapFindings;
/// let error = bspkit::Bsp::parse(b"text").unwrap_err();
/// let findings = vec![(bspkit::op::policy::unread(&error), true)];
/// let map = MapFindings { path: "a.bsp".into(), findings, ..MapFindings::default() };
/// assert_eq!(map.denied(), 1);
/// ```
#[derive(Clone, Debug, Default)]
pub struct MapFindings {
    /// The path of the map.
    pub path: PathBuf,
    /// The dialect; `None` if the map could not be opened.
    pub dialect: Option<&'static str>,
    /// Each finding, and whether it counts as a failure.
    pub findings: Vec<(Finding, bool)>,
    /// How many findings were left out, since the baseline has them.
    pub known: usize,
}

impl MapFindings {
    /// How many findings count as failures.
    pub fn denied(&self) -> usize {
        self.findings.iter().filter(|(_, is_denied)| *is_denied).map(|(finding, _)| finding.count).sum()
    }

    /// Whether it could not be opened.
    fn is_unread(&self) -> bool {
        self.dialect.is_none()
    }

    /// The path with slashes, without `./` at its start.
    fn uri(&self) -> String {
        let path = self.path.to_string_lossy();
        let path = if cfg!(windows) { path.replace('\\', "/") } else { path.into_owned() };
        path.strip_prefix("./").map_or(path.clone(), str::to_owned)
    }
}

/// Where a finding is, in words: `FACES, record 3, texinfo`; empty if no place is known.
fn place(finding: &Finding) -> String {
    let place = &finding.place;
    let mut parts: Vec<String> = place.lump.iter().cloned().collect();
    parts.extend(place.record.map(|record| format!("record {record}")));
    parts.extend(finding.field.clone());
    let offset = place.offset.filter(|_| place.record.is_none());
    parts.extend(offset.map(|offset| format!("offset {offset}")));
    parts.join(", ")
}

/// The place and the sentence of a finding.
fn sentence(finding: &Finding) -> String {
    match place(finding) {
        place if place.is_empty() => finding.message.clone(),
        place => format!("{place}: {}", finding.message),
    }
}

/// Names for findings of a map that stay the same when records and offsets move: a hash of the path, the code, the lump
/// and the sentence, with a number for equal ones.
#[derive(Default)]
struct Fingerprints(HashMap<String, usize>);

impl Fingerprints {
    fn of(&mut self, map: &MapFindings, finding: &Finding) -> String {
        let (lump, field) = (finding.place.lump.as_deref().unwrap_or(""), finding.field.as_deref().unwrap_or(""));
        let text = [&map.uri(), finding.code.name, lump, field, &finding.message].join("\0");
        let nth = self.0.entry(text.clone()).or_default();
        *nth += 1;
        hex(&Md5::digest(format!("{text}\0{nth}")))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The name of a severity in another format.
fn severity(severity: Severity, names: [&'static str; 3]) -> &'static str {
    match severity {
        Severity::Error => names[0],
        Severity::Warning => names[1],
        Severity::Note => names[2],
    }
}

/// `3 findings`, `1 finding`.
fn count(number: usize, one: &str, more: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { more })
}
