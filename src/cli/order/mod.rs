//! `records`: the order and the number of records.

mod dup;
mod insert;
mod mv;
mod rm;
mod target;

use anyhow::Result;
use bspkit::{Draft, Followed, Structure};

use super::context::Context;
use super::save::Edited;
use super::show::count;
use super::talk::{Code, Job};
use super::{commands, help};
pub(super) use target::Target;

/// Insert, remove, duplicate and move records; everything that refers to them follows
///
/// Indices, ranges, values of entities, rows of visibility and lumps that run parallel get the new numbers. If one of
/// them cannot follow, nothing is changed, and the message names it.
#[derive(clap::Args)]
#[command(disable_help_subcommand = true, after_help = help!(
    "  bspkit records rm base1.bsp 'brushes[7]' -o out.bsp
  bspkit records dup base1.bsp 'texinfo[3]' -o out.bsp
  bspkit records mv base1.bsp 'texinfo[3..6]' 0 --in-place --backup
  bspkit records insert base1.bsp 'planes[10]' planes.jsonl -o out.bsp"
))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

commands! {
    Insert(insert),
    Rm(rm),
    Dup(dup),
    Mv(mv),
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.command.run(cx)
}

/// Starts an edit with the options of the command.
fn structure<'d>(draft: &'d mut Draft<'static>, force: bool) -> Structure<'d, 'static> {
    draft.structure().force(force)
}

/// What followed, for the report.
pub(super) fn done(followed: &Followed, job: &mut Job<'_>) -> Edited {
    followed.warnings.iter().for_each(|warning| job.warn_here(warning));
    Edited::With { what: sentence(followed), is_whole: true }
}

/// What followed, as a sentence.
pub(super) fn sentence(followed: &Followed) -> String {
    let removed: Vec<String> =
        followed.removed.iter().map(|removed| format!("{} of {}", removed.count, removed.lump)).collect();
    let removed = if removed.is_empty() { String::new() } else { format!("removed {}; ", removed.join(", ")) };
    let fields = count(followed.fields.len(), "field follows", "fields follow");
    format!("{removed}{fields}")
}
