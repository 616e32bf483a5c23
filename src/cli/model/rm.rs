//! `model rm`: removes brush models.

use anyhow::{Context as _, Result};
use bspkit::op::models::Removal;

use super::ModelName;
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::save::{Edited, Save};
use crate::cli::show::count;
use crate::cli::talk::Code;

/// Remove brush models with all that only they have: faces, brushes or clip nodes, light, collision models
///
/// The entity that names a model stays, without its key `model`, unless `--with-entity` is given. Later models get
/// smaller numbers, which all entities follow. What the model shares with others stays, and so does what nothing used
/// before.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit model rm base1.bsp '*2' -o out.bsp
  bspkit model rm base1.bsp '*2' '*3' --with-entity --in-place --backup
  bspkit model rm base1.bsp '*2' --dry-run"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The models: `*2`, or its number
    #[arg(value_name = "MODEL", required = true)]
    models: Vec<ModelName>,
    /// Remove the entities too that name them
    #[arg(long)]
    with_entity: bool,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let models: Vec<usize> = args.models.iter().map(|model| model.0).collect();
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        let removal = Removal::default().with_entity(args.with_entity).force(args.save.force);
        let removed = removal.run(draft, &models).context("cannot remove the model")?;
        removed.followed.warnings.iter().for_each(|warning| job.warn_here(warning));
        let gone = removed.followed.removed.iter().map(|gone| format!("{} of {}", gone.count, gone.lump));
        let gone: Vec<String> = gone.collect();
        let entities = match (removed.entities.len(), args.with_entity) {
            (0, _) => "no entity named it".to_owned(),
            (entities, true) => format!("{} removed", count(entities, "entity", "entities")),
            (entities, false) => format!("{} without a model", count(entities, "entity", "entities")),
        };
        let what = format!("removed {}; {} bytes of light; {entities}", gone.join(", "), removed.light);
        Ok(Edited::With { what, is_whole: true })
    })
}
