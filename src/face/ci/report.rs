//! A report about many maps, written map by map.

use std::io::{self, Seek, Write};

use serde_json::Value;
use tempfile::SpooledTempFile;

use super::{Fingerprints, MapFindings, github, gitlab, json, junit, sarif};
use crate::face::shown;
use crate::op::check::Code;

/// A longer report waits in a file without a name.
const MOST_IN_MEMORY: usize = 1 << 20;

/// The format of a [`Report`].
///
/// ```
/// use bspkit::face::ci::{Format, Report};
/// let mut text = Vec::new();
/// Report::new(Format::Gitlab).write_to(&mut text)?;
/// assert_eq!(text, b"[]\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// A line for each finding.
    Text,
    /// A line of JSON for each map, as `docs/schema/ci.schema.json` says.
    JsonLines,
    /// JUnit XML: a test case for each map.
    Junit,
    /// SARIF 2.1.0, the Static Analysis Results Interchange Format of OASIS.
    Sarif,
    /// Workflow commands of GitHub Actions.
    Github,
    /// GitLab's code quality report.
    Gitlab,
}

/// A report about many maps. Its memory does not depend on their number.
///
/// ```
/// use bspkit::face::ci::{Format, MapFindings, Report};
/// let error = bspkit::Bsp::parse(b"text").unwrap_err();
/// let findings = vec![(bspkit::op::policy::unread(&error), true)];
/// let mut report = Report::new(Format::Github);
/// report.add(&MapFindings { path: "maps/a.bsp".into(), findings, ..MapFindings::default() });
/// let mut text = Vec::new();
/// report.write_to(&mut text)?;
/// assert!(text.starts_with(b"::error file=maps/a.bsp,title=map-unread::"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Report {
    format: Format,
    body: SpooledTempFile,
    /// The first error of the file.
    error: Option<io::Error>,
    totals: Totals,
    /// The codes that were found, in the order of the first finding of each.
    codes: Vec<&'static Code>,
    /// The rows of GitHub's summary.
    rows: Vec<String>,
}

/// What was counted so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub(super) maps: usize,
    /// Maps that could not be opened, and others with findings that count as failures.
    pub(super) errors: usize,
    pub(super) failures: usize,
    pub(super) findings: usize,
    pub(super) known: usize,
}

impl Report {
    /// A report about no map yet.
    pub fn new(format: Format) -> Self {
        let (error, totals, codes, rows) = Default::default();
        Report { format, body: SpooledTempFile::new(MOST_IN_MEMORY), error, totals, codes, rows }
    }

    /// Adds a map. An error of the file in which a long report waits is given by [`Report::write_to`].
    pub fn add(&mut self, map: &MapFindings) {
        self.totals.maps += 1;
        self.totals.errors += usize::from(map.is_unread());
        self.totals.failures += usize::from(!map.is_unread() && map.denied() > 0);
        self.totals.known += map.known;
        let part = self.part(map);
        self.totals.findings += map.findings.len();
        if let Err(error) = self.body.write_all(part.as_bytes()) {
            self.error.get_or_insert(error);
        }
    }

    /// The part of the report about a map.
    fn part(&mut self, map: &MapFindings) -> String {
        match self.format {
            Format::Text => {
                let path = shown(&map.path);
                map.findings.iter().map(|(finding, _)| format!("{path}: {finding}\n")).collect()
            }
            Format::JsonLines => json::line(map),
            Format::Junit => junit::case(map),
            Format::Github => {
                let room = github::MOST_LISTED - self.rows.len();
                self.rows.extend(map.findings.iter().take(room).map(|(finding, _)| github::row(map, finding)));
                github::lines(map)
            }
            Format::Sarif => {
                let rules: Vec<usize> = map.findings.iter().map(|(finding, _)| self.rule(finding.code)).collect();
                let mut prints = Fingerprints::default();
                let results = map.findings.iter().zip(rules);
                self.items(8, results.map(|(it, rule)| sarif::result(map, it, rule, &prints.of(map, &it.0))))
            }
            Format::Gitlab => {
                let mut prints = Fingerprints::default();
                self.items(2, map.findings.iter().map(|it| gitlab::issue(map, it, &prints.of(map, &it.0))))
            }
        }
    }

    /// The place of a code among those that were found.
    fn rule(&mut self, code: &'static Code) -> usize {
        self.codes.iter().position(|known| std::ptr::eq(*known, code)).unwrap_or_else(|| {
            self.codes.push(code);
            self.codes.len() - 1
        })
    }

    /// Items of a list of JSON, each on lines of its own that are indented.
    fn items(&self, spaces: usize, items: impl Iterator<Item = Value>) -> String {
        let indent = format!("\n{:spaces$}", "");
        let mut text = String::new();
        for (index, item) in items.enumerate() {
            if index > 0 || self.totals.findings > 0 {
                text.push(',');
            }
            // Line breaks within strings are escaped.
            text += &format!("\n{item:#}").replace('\n', &indent);
        }
        text
    }

    /// Writes the report.
    ///
    /// # Errors
    /// Those of the writer, and those of the file in which a long report waited.
    pub fn write_to(&mut self, mut out: impl Write) -> io::Result<()> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let [head, foot] = match self.format {
            Format::Junit => junit::frame(&self.totals),
            Format::Sarif => sarif::frame(&self.codes),
            Format::Gitlab => ["[".to_owned(), "]\n".to_owned()],
            Format::Text | Format::JsonLines | Format::Github => Default::default(),
        };
        out.write_all(head.as_bytes())?;
        self.body.rewind()?;
        io::copy(&mut self.body, &mut out)?;
        // The end of a list that is not empty has its own line.
        let end = match self.format {
            Format::Sarif if self.totals.findings > 0 => "\n      ",
            Format::Gitlab if self.totals.findings > 0 => "\n",
            _ => "",
        };
        out.write_all(end.as_bytes())?;
        out.write_all(foot.as_bytes())
    }

    /// A summary in Markdown, for the file that `GITHUB_STEP_SUMMARY` names. A report in GitHub's format has it.
    pub fn summary(&self) -> String {
        github::summary(&self.totals, &self.rows)
    }
}
