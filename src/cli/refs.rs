//! `refs`: what refers to a record, and what it refers to, as a tree.

use anyhow::Result;
use bspkit::face::records::list_name;
use bspkit::{Branches, ReferenceTree};
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
/// Beside the fields of records these are values of entities, collision models, and lumps that run parallel. Each
/// reference is followed on in the same direction, of several records from the first one. A record that is on the way
/// already is marked as a cycle.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit refs base1.bsp 'models[1]'
  bspkit refs base1.bsp 'faces[12]' --depth 4
  bspkit refs base1.bsp 'planes[3]' --depth 1 --all
  bspkit refs base1.bsp 'planes[3]' --json"
))]
pub(crate) struct Args {
    #[command(flatten)]
    reading: Reading,
    /// The record
    #[arg(value_name = "LUMP[INDEX]")]
    record: Target,
    /// How many references to follow one after the other
    #[arg(long, value_name = "N", default_value_t = 2)]
    depth: usize,
    /// Print all references of each record, not only the first 10; at most 2000 in each direction
    #[arg(long)]
    all: bool,
}

#[derive(Serialize)]
struct Refs {
    lump: String,
    record: usize,
    #[serde(flatten)]
    tree: ReferenceTree,
}

fn print_all(job: &mut Job<'_>, branches: &Branches, indent: usize) {
    for branch in &branches.branches {
        let cycle = if branch.is_cycle { "  (cycle)" } else { "" };
        job.line(format!("{:indent$}{}  {}{cycle}", "", branch.reference, branch.reference.field));
        print_all(job, &branch.next, indent + 2);
    }
    if branches.more > 0 {
        job.line(format!("{:indent$}and {} more", "", branches.more));
    }
}

impl Report for Refs {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        job.line(format!("{}: {}[{}]", job.path, self.lump, self.record));
        for (title, branches) in [("refers to", &self.tree.to), ("is referred to by", &self.tree.by)] {
            if !branches.branches.is_empty() {
                job.line(format!("  {title}"));
                print_all(job, branches, 4);
            }
        }
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
    // A way through a tree of nodes is as long as the tree is deep; 64 levels are more than anybody reads.
    let (depth, most) = (args.depth.clamp(1, 64), if args.all { usize::MAX } else { 10 });
    args.reading.each(cx, |bsp, job| {
        let (lump, record) = (list_name(&bsp, &args.record.list)?, args.record.range.start);
        let tree = bsp.draft().reference_tree(&lump, record, depth, most)?;
        job.report(&Refs { lump, record, tree })
    })
}
