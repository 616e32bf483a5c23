//! Checks an edit before it is saved: new warnings are printed, new errors are refused.

use anyhow::Result;
use bspkit::op::check::{self, Finding, Options, Severity};
use bspkit::{Draft, Error, ErrorKind};

use crate::cli::show::count;
use crate::cli::talk::Job;

/// The findings that an edit adds.
#[derive(Default)]
pub(super) struct Findings(pub(super) Vec<Finding>);

impl Findings {
    pub(super) fn of(draft: &Draft<'_>) -> Result<Self> {
        Ok(Findings(check::introduced(draft, &Options::default())?))
    }

    fn errors(&self) -> impl Iterator<Item = &Finding> {
        self.0.iter().filter(|finding| finding.code.severity == Severity::Error)
    }

    /// Whether a save needs --force.
    pub(super) fn needs_force(&self) -> bool {
        self.errors().next().is_some()
    }

    /// Refuses a save if the edit adds errors. The message lists up to ten of them.
    pub(super) fn refuse(&self) -> Result<()> {
        const LISTED: usize = 10;
        let errors: usize = self.errors().map(|finding| finding.count).sum();
        if errors == 0 {
            return Ok(());
        }
        let listed: Vec<String> = self.errors().take(LISTED).map(Finding::to_string).collect();
        let rest = errors - self.errors().take(LISTED).map(|finding| finding.count).sum::<usize>();
        let more = if rest > 0 { format!("\nand {rest} more") } else { String::new() };
        let message = format!("the edit would add {} to the map", count(errors, "error", "errors"));
        let hint = format!("{}{more}\nuse --force to save it anyway", listed.join("\n"));
        Err(Error::new(ErrorKind::Refused, message).with_hint(hint).into())
    }

    /// Prints the findings that are not refused; notes about lumps only with `--verbose`.
    pub(super) fn say(&self, job: &mut Job<'_>) {
        let is_said = |finding: &&Finding| {
            let is_note = finding.code.severity == Severity::Note;
            job.talk.verbose || !is_note || finding.code.name.starts_with("entity-")
        };
        for finding in self.0.iter().filter(is_said) {
            job.warn_here(&format!("the edit adds {finding}"));
        }
    }
}
