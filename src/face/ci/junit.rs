//! JUnit XML, as Jenkins, GitLab and others read it.

use super::report::Totals;
use super::{MapFindings, count, sentence};

/// What is before and after the test cases: one suite.
pub(super) fn frame(totals: &Totals) -> [String; 2] {
    let Totals { maps, failures, errors, .. } = totals;
    let counts = format!("tests=\"{maps}\" failures=\"{failures}\" errors=\"{errors}\"");
    let head = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n  <testsuite name=\"bspkit ci\" {counts} \
         skipped=\"0\">\n"
    );
    [head, "  </testsuite>\n</testsuites>\n".to_owned()]
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
