//! Annotations and step summaries of GitHub Actions.

use super::report::Totals;
use super::{MapFindings, count, place, sentence, severity};
use crate::op::check::Finding;

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
    if totals.known > 0 {
        text += &format!("\n{} in the baseline.\n", count(totals.known, "finding is", "findings are"));
    }
    text
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
