//! What a command says about a map: as text, or as JSON.

use anyhow::{Error, Result};
use serde::Serialize;

use super::show::{Head, json};
use super::talk::{Code, Job, hints};

/// What a reading command says about one map. Its fields are those of the JSON document.
pub(crate) trait Report: Serialize {
    /// Prints it as text.
    fn print(&self, job: &mut Job<'_>) -> Result<()>;

    /// The line before the text of one of several maps, for text that does not name the map.
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
}

/// What is reported of a map that fails.
#[derive(Serialize)]
struct Failed {
    error: String,
    /// What to do, or all of what is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl Job<'_> {
    /// Gives the report of the map, in the form that was asked for.
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

    /// Adds a JSON document with these fields: one on several lines for one map, a line for one of several.
    pub(crate) fn document(&mut self, report: &impl Serialize) -> Result<()> {
        let document = Document { head: Head::new(self.file), report };
        self.line(json(&document, self.many)?);
        Ok(())
    }

    /// Says what failed, as a report too where nothing else was reported.
    pub(crate) fn fail_as_report(&mut self, error: &Error) {
        if self.json && self.is_silent() {
            let hints: Vec<String> = hints(error).collect();
            let hint = (!hints.is_empty()).then(|| hints.join("\n"));
            let error = format!("{error:#}");
            // Strings are always JSON.
            self.document(&Failed { error, hint }).ok();
        }
        self.fail(error);
    }
}
