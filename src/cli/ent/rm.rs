//! `ent rm`: removes entities.

use std::path::PathBuf;

use anyhow::Result;

use super::select::Choice;
use crate::cli::help;
use crate::cli::options::Options;
use crate::cli::save::{Edited, Save};
use crate::cli::talk::{Code, Talk};

/// Remove entities; comments around them stay
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent rm dm4.bsp 'light*' -o out.bsp
  bspkit ent rm maps info_null --in-place"
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
        entities.remove_all(&indices)?;
        Ok(Edited::Done)
    })
}
