//! Checks an edit before it is saved: new warnings are printed, new errors are refused.

use anyhow::Result;
use bspkit::op::check::{self, Finding, Options, Severity, Stale};
use bspkit::{Draft, Error, ErrorKind};

use crate::cli::show::count;
use crate::cli::talk::Job;

/// The most that is listed as text.
const LISTED: usize = 10;

/// The findings that an edit adds.
#[derive(Default)]
pub(crate) struct Findings {
    pub(crate) list: Vec<Finding>,
    /// References by index to records that left their index.
    pub(crate) stale: Vec<Stale>,
}

impl Findings {
    pub(crate) fn of(draft: &Draft<'_>) -> Result<Self> {
        Ok(Findings { list: check::introduced(draft, &Options::default())?, stale: check::stale(draft)? })
    }

    /// The findings that are known to be new.
    pub(crate) fn new(list: Vec<Finding>) -> Self {
        Findings { list, stale: Vec::new() }
    }

    fn errors(&self) -> impl Iterator<Item = &Finding> {
        self.list.iter().filter(|finding| finding.code.severity == Severity::Error)
    }

    /// Whether a save needs --force.
    pub(crate) fn needs_force(&self) -> bool {
        self.errors().next().is_some()
    }

    /// Refuses a save if the edit adds errors. The message lists up to ten of them.
    pub(crate) fn refuse(&self) -> Result<()> {
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

    /// Prints the findings that are not refused, notes about lumps only with `--verbose`, and the references that the
    /// edit does not update.
    pub(crate) fn say(&self, job: &mut Job<'_>) {
        let is_said = |finding: &&Finding| {
            let is_note = finding.code.severity == Severity::Note;
            job.talk.verbose || !is_note || finding.code.name.starts_with("entity-")
        };
        for finding in self.list.iter().filter(is_said) {
            job.warn_here(&format!("the edit adds {finding}"));
        }
        self.stale.iter().take(LISTED).for_each(|stale| job.warn_here(&stale.to_string()));
        if self.stale.len() > LISTED {
            let fields = count(self.stale.len() - LISTED, "more field refers", "more fields refer");
            job.warn_here(&format!("{fields} to other records than before"));
        }
    }
}
