//! `ent mv`: moves entities.

use anyhow::{Result, bail};

use super::select::{Choice, Which};
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::save::{Edited, Save};
use crate::cli::talk::Code;

/// Move entities before or after another one
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent mv dm4.bsp light --after '#1' -o out.bsp"
))]
pub(crate) struct Args {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    save: Save,
}

#[derive(clap::Args)]
#[group(required = true, multiple = false)]
struct Target {
    /// The entity to move them before; SEL must match exactly one
    #[arg(long, value_name = "SEL")]
    before: Option<String>,
    /// The entity to move them after; SEL must match exactly one
    #[arg(long, value_name = "SEL")]
    after: Option<String>,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let before = args.target.before.as_deref().map(Choice::parse).transpose()?;
    let after = args.target.after.as_deref().map(Choice::parse).transpose()?;
    args.which.edit(cx, &args.save, |entities, chosen, _| {
        for (target, is_before) in [(&before, true), (&after, false)] {
            let Some(target) = target else { continue };
            match (&target.of(entities)[..], is_before) {
                ([], _) => return Ok(Edited::Nothing(target.nothing(entities))),
                ([one], true) => entities.move_all_before(chosen.indices, *one)?,
                ([one], false) => entities.move_all_after(chosen.indices, *one)?,
                (several, _) => {
                    bail!("{} matches {} entities, but must match exactly one", target.text, several.len())
                }
            }
        }
        Ok(Edited::Done)
    })
}
