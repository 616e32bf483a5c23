//! JUnit XML, as Jenkins, GitLab and others read it.

use super::{MapFindings, count, sentence};

/// A test suite with one test case for each map. Findings that count as failures are the failure of the case, the
/// others are its output. A map that cannot be opened is an error.
pub fn junit(maps: &[MapFindings]) -> String {
    let is_error = |map: &&MapFindings| map.dialect.is_none();
    let errors = maps.iter().filter(is_error).count();
    let failures = maps.iter().filter(|map| !is_error(map) && map.denied() > 0).count();
    let counts = format!("tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\"", maps.len());
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    text += &format!("<testsuites {counts}>\n  <testsuite name=\"bspkit ci\" {counts} skipped=\"0\">\n");
    for map in maps {
        let uri = map.uri();
        let (folder, name) = uri.rsplit_once('/').unwrap_or(("maps", &uri));
        text +=
            &format!("    <testcase classname=\"{}\" name=\"{}\" file=\"{}\">\n", xml(folder), xml(name), xml(&uri));
        let lines = |wanted: bool| {
            let its = map.findings.iter().filter(|(_, denied)| *denied == wanted);
            its.map(|(finding, _)| format!("{}[{}] {}\n", finding.code.severity, finding.code.name, sentence(finding)))
                .collect::<String>()
        };
        let (denied, others) = (lines(true), lines(false));
        let first = map.findings.iter().find(|(_, denied)| *denied);
        if let Some((finding, _)) = first {
            let element = if is_error(&map) { "error" } else { "failure" };
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
        text += "    </testcase>\n";
    }
    text += "  </testsuite>\n</testsuites>\n";
    text
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
