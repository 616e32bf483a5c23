//! `model rm`: removes brush models.

use anyhow::{Context as _, Result};
use bspkit::op::models::{Removal, Removed};

use super::ModelName;
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::save::{Edited, Save};
use crate::cli::show::count;
use crate::cli::talk::{Code, Job};

/// Remove brush models with all that only they have: faces, brushes or clip nodes, light, collision models
///
/// The entity that names a model goes with it, unless `--keep-entity` is given. Later models get smaller numbers, which
/// all entities follow. What the model shares with others stays, and so does what nothing used before.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit model rm base1.bsp '*2' -o out.bsp
  bspkit model rm base1.bsp '*2' '*3' --in-place --backup
  bspkit model rm base1.bsp '*2' --dry-run"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The models: `*2`, or its number
    #[arg(value_name = "MODEL", required = true)]
    models: Vec<ModelName>,
    /// Keep the entities that name them, without their key `model`; refused for classes that engines refuse so
    #[arg(long)]
    keep_entity: bool,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let models: Vec<usize> = args.models.iter().map(|model| model.0).collect();
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        let removal = Removal::default().keep_entity(args.keep_entity).force(args.save.force);
        let removed = removal.run(draft, &models).context("cannot remove the model")?;
        Ok(gone(&removed, job))
    })
}

/// What went, for the report.
pub(in crate::cli) fn gone(removed: &Removed, job: &mut Job<'_>) -> Edited {
    removed.followed.warnings.iter().for_each(|warning| job.warn_here(warning));
    let gone = removed.followed.removed.iter().map(|gone| format!("{} of {}", gone.count, gone.lump));
    let gone: Vec<String> = gone.collect();
    // What the model shares with another one stays.
    let gone = if gone.is_empty() { "no records".to_owned() } else { gone.join(", ") };
    let entities = match removed.entities.len() {
        0 => "no entity named it".to_owned(),
        entities if removed.is_kept => format!("{} without a model", count(entities, "entity", "entities")),
        entities => format!("{} removed", count(entities, "entity", "entities")),
    };
    let what = format!("removed {gone}; {} bytes of light; {entities}", removed.light);
    Edited::With { what, is_whole: true }
}
