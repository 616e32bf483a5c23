//! Annotations and step summaries of GitHub Actions.

use super::{MapFindings, count, place, sentence, severity};

/// Workflow commands of GitHub Actions, one line for each finding, which GitHub shows as annotations.
pub fn github(maps: &[MapFindings]) -> String {
    let mut text = String::new();
    for map in maps {
        for (finding, denied) in &map.findings {
            let own = severity(finding.code.severity, ["error", "warning", "notice"]);
            let command = if *denied { "error" } else { own };
            let (file, title) = (property(&map.uri()), property(finding.code.name));
            text += &format!("::{command} file={file},title={title}::{}\n", data(&sentence(finding)));
        }
    }
    text
}

/// The most findings that a summary lists: GitHub refuses one of more than 1 MiB.
const MOST_LISTED: usize = 500;

/// A summary in Markdown, for the file that `GITHUB_STEP_SUMMARY` names.
pub fn summary(maps: &[MapFindings]) -> String {
    let failed = maps.iter().filter(|map| map.denied() > 0).count();
    let known: usize = maps.iter().map(|map| map.known).sum();
    let mut text = format!("### bspkit ci: {} checked, {failed} failed\n", count(maps.len(), "map", "maps"));
    let all: Vec<_> = maps.iter().flat_map(|map| map.findings.iter().map(move |(finding, _)| (map, finding))).collect();
    if !all.is_empty() {
        text += "\n| map | severity | code | place | finding |\n|---|---|---|---|---|\n";
    }
    for (map, finding) in all.iter().take(MOST_LISTED) {
        let (path, code, place) = (cell(&map.uri()), finding.code, cell(&place(finding)));
        text += &format!("| {path} | {} | `{}` | {place} | {} |\n", code.severity, code.name, cell(&finding.message));
    }
    if all.len() > MOST_LISTED {
        text += &format!("\n{} more are not listed.\n", all.len() - MOST_LISTED);
    }
    if known > 0 {
        text += &format!("\n{} in the baseline.\n", count(known, "finding is", "findings are"));
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
