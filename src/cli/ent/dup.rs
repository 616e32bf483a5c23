//! `ent dup`: copies of entities.

use std::path::PathBuf;

use anyhow::Result;

use super::select::Choice;
use crate::cli::help;
use crate::cli::options::Options;
use crate::cli::save::{Edited, Save};
use crate::cli::talk::{Code, Talk};

/// Copy each chosen entity directly behind itself
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent dup dm4.bsp '#3' -o out.bsp"
))]
pub(crate) struct Args {
    /// A map, or a folder of maps
    #[arg(value_name = "MAP")]
    map: PathBuf,
    /// Which entities
    #[arg(value_name = "SEL")]
    selector: String,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(options: &Options, talk: &Talk, args: &Args) -> Result<Code> {
    let choice = Choice::parse(&args.selector)?;
    args.save.each(options, talk, &args.map, |draft, job| {
        let entities = draft.entities()?;
        let indices = choice.edited(entities, job);
        if indices.is_empty() {
            return Ok(Edited::Nothing(choice.nothing()));
        }
        entities.duplicate_all(&indices)?;
        Ok(Edited::Done)
    })
}
