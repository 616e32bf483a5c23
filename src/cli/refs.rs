//! `refs`: what refers to a record, and what it refers to.

use anyhow::Result;
use bspkit::face::records::list_name;
use bspkit::{Reference, References};
use serde::Serialize;

use super::context::Context;
use super::help;
use super::maps::Reading;
use super::order::Target;
use super::report::Report;
use super::save::bad_argument;
use super::talk::{Code, Job};

/// Print what refers to a record, and what it refers to
///
/// Beside the fields of records these are values of entities, collision models, and lumps that run parallel.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit refs base1.bsp 'models[1]'
  bspkit refs base1.bsp 'faces[12]' --all
  bspkit refs base1.bsp 'planes[3]' --json"
))]
pub(crate) struct Args {
    #[command(flatten)]
    reading: Reading,
    /// The record
    #[arg(value_name = "LUMP[INDEX]")]
    record: Target,
    /// Print all references, not only the first 20 in each direction
    #[arg(long)]
    all: bool,
}

#[derive(Serialize)]
struct Refs {
    lump: String,
    record: usize,
    #[serde(flatten)]
    references: References,
    /// How many to print in each direction.
    #[serde(skip)]
    most: usize,
}

impl Refs {
    fn print_all(&self, job: &mut Job<'_>, title: &str, references: &[Reference]) {
        if references.is_empty() {
            return;
        }
        job.line(format!("  {title}"));
        for reference in references.iter().take(self.most) {
            job.line(format!("    {reference}  {}", reference.field));
        }
        if references.len() > self.most {
            job.line(format!("    and {} more", references.len() - self.most));
        }
    }
}

impl Report for Refs {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        job.line(format!("{}: {}[{}]", job.path, self.lump, self.record));
        self.print_all(job, "refers to", &self.references.to);
        self.print_all(job, "is referred to by", &self.references.by);
        Ok(())
    }

    fn code(&self) -> Code {
        Code::Done
    }
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    if args.record.range.len() != 1 {
        return Err(bad_argument("references are those of one record".to_owned(), "name it as LUMP[INDEX]"));
    }
    let most = if args.all { usize::MAX } else { 20 };
    args.reading.each(cx, |bsp, job| {
        let (lump, record) = (list_name(&bsp, &args.record.list)?, args.record.range.start);
        let references = bsp.draft().references_of(&lump, record)?;
        job.report(&Refs { lump, record, references, most })
    })
}
