//! The report of a command about a map, as text or as JSON.

use anyhow::{Error, Result};
use serde::Serialize;

use super::show::{Head, json};
use super::talk::{Code, Job, hints};

/// The report of a reading command about one map. Its fields are the fields of the JSON document.
pub(crate) trait Report: Serialize {
    /// Prints it as text.
    fn print(&self, job: &mut Job<'_>) -> Result<()>;

    /// The line before the text if there are several maps; only for text that does not name the map.
    fn heading(&self, _path: &str) -> Option<String> {
        None
    }

    /// The exit status.
    fn code(&self) -> Code {
        Code::Done
    }
}

/// A JSON document: its head, and the fields of the report.
#[derive(Serialize)]
struct Document<'a, R> {
    #[serde(flatten)]
    head: Head<'a>,
    #[serde(flatten)]
    report: R,
    #[serde(flatten)]
    extra: &'a serde_json::Map<String, serde_json::Value>,
}

/// The JSON report of a map that failed.
#[derive(Serialize)]
struct Failed {
    error: String,
    /// What to do, or a list of everything that is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl Job<'_> {
    /// Adds the report of the map to the output, as text or as JSON.
    pub(crate) fn report(&mut self, report: &impl Report) -> Result<Code> {
        if self.json {
            self.document(report)?;
        } else {
            let heading = if self.many { report.heading(&self.path) } else { None };
            heading.iter().for_each(|line| self.line(line));
            report.print(self)?;
        }
        Ok(report.code())
    }

    /// Adds a JSON document with these fields: indented for a single map, one line for each of several.
    pub(crate) fn document(&mut self, report: &impl Serialize) -> Result<()> {
        let document = Document { head: Head::new(self.file), report, extra: &self.extra };
        self.line(json(&document, self.many)?);
        Ok(())
    }

    /// Reports an error on stderr; also as a JSON document if the map has none yet.
    pub(crate) fn fail_as_report(&mut self, error: &Error) {
        if self.json && self.is_silent() {
            let hints: Vec<String> = hints(error).collect();
            let hint = (!hints.is_empty()).then(|| hints.join("\n"));
            let error = format!("{error:#}");
            self.extra.clear();
            // Strings can always be written as JSON.
            self.document(&Failed { error, hint }).ok();
        }
        self.fail(error);
    }
}
