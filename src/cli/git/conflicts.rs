//! Conflicts of a merge, as text and as JSON.

use anyhow::Result;
use bspkit::bytes::escaped;
use bspkit::face::report::ValueJson;
use bspkit::op::merge::{Conflict, Side};
use serde::Serialize;

use crate::cli::report::Report;
use crate::cli::show::count;
use crate::cli::talk::{Code, Job};

/// The most bytes of a value that are printed as text.
const SHOWN: usize = 200;

/// A conflict with its name and the values of all three maps.
pub(crate) fn lines(conflict: &Conflict) -> Vec<String> {
    let name = conflict.name();
    let mut lines = vec![match name.is_empty() {
        true => format!("  {conflict}"),
        false => format!("  {name}: {conflict}"),
    }];
    for (side, value) in Side::ALL.iter().zip(conflict.values.iter().flatten()) {
        let text = match value {
            Some(value) if value.len() > SHOWN => format!("{}...", escaped(&value[..SHOWN])),
            Some(value) => escaped(value).to_string(),
            None => "(not there)".to_owned(),
        };
        lines.push(format!("    {:<8}{text}", side.name()));
    }
    lines
}

#[derive(Serialize)]
struct Values<'c> {
    base: Option<ValueJson<'c>>,
    ours: Option<ValueJson<'c>>,
    theirs: Option<ValueJson<'c>>,
}

#[derive(Serialize)]
struct One<'c> {
    name: String,
    message: String,
    can_settle: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Values<'c>>,
}

impl<'c> One<'c> {
    fn of(conflict: &'c Conflict) -> Self {
        let value = |value: &'c Option<Vec<u8>>| value.as_deref().map(ValueJson::new);
        let values = conflict.values.as_ref();
        let values =
            values.map(|[base, ours, theirs]| Values { base: value(base), ours: value(ours), theirs: value(theirs) });
        let (name, message) = (conflict.name(), conflict.to_string());
        One { name, message, can_settle: conflict.can_settle, values }
    }
}

/// The conflicts that are left, and how many are settled.
#[derive(Serialize)]
pub(super) struct Conflicts<'c> {
    conflicts: Vec<One<'c>>,
    settled: usize,
    #[serde(skip)]
    all: &'c [Conflict],
}

impl<'c> Conflicts<'c> {
    pub(super) fn new(all: &'c [Conflict], settled: usize) -> Self {
        Conflicts { conflicts: all.iter().map(One::of).collect(), settled, all }
    }
}

impl Report for Conflicts<'_> {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        let conflicts = count(self.all.len(), "conflict", "conflicts");
        job.line(format!("{}: {conflicts}, {} settled", job.path, self.settled));
        self.all.iter().flat_map(lines).for_each(|line| job.line(line));
        Ok(())
    }

    fn code(&self) -> Code {
        if self.all.is_empty() { Code::Done } else { Code::Found }
    }
}
