//! `ent patch`: applies a JSON patch.

use std::path::PathBuf;

use anyhow::{Context as _, Result, anyhow};
use bspkit::content::entities::Entities;
use bspkit::dialect::Role;
use bspkit::face::patch;

use super::import;
use super::select::refuse_cut;
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::save::{Edited, Save};
use crate::cli::show::shown;
use crate::cli::talk::Code;

/// Apply a JSON patch to the entities, such as `ent diff` writes
///
/// A patch is `{"bspkit_patch": 1, "operations": [...]}`. An operation has an `op` (edit, replace, remove, move, add,
/// text). Its `on` selects entities: `{"index": 17}`, `{"match": [{"key": ..., "value": ...}]}` (the one entity with
/// these pairs) or `{"select": "SEL"}`. Its `expect` lists pairs that must exist. If any is missing or different, all
/// of these are listed and nothing is written. docs/schema/patch.schema.json describes all fields.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent patch dm4.bsp brighter.json -o out.bsp
  bspkit ent patch maps brighter.json --dry-run
  bspkit ent patch dm4.bsp - -o out.bsp <brighter.json
  bspkit ent diff dm4.bsp dm4_new.bsp | bspkit ent patch dm4.bsp - -o out.bsp"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The patch; `-` is stdin
    #[arg(value_name = "PATCH.json")]
    patch: PathBuf,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.save.spare(&args.patch)?;
    let cannot_read = || format!("cannot read {}", shown(&args.patch));
    let text = import::read(&args.patch)?;
    let patch = patch::read(&text).with_context(cannot_read)?;
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        let id = draft.bsp().role(Role::Entities).ok_or_else(|| anyhow!("the map has no entity lump"))?.id;
        refuse_cut(draft.bsp(), job)?;
        let entities = draft.entities()?;
        if args.save.force {
            entities.for_any_engine();
        }
        let bytes = patch.apply(entities)?;
        let entities = Entities::parse(&bytes[..], draft.bsp().entity_rules())?;
        if !args.save.force {
            import::refuse_unreadable(draft, &entities)?;
        }
        drop(entities);
        draft.set(id, bytes)?;
        Ok(Edited::Done)
    })
}
