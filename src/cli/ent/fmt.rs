//! `ent fmt`: rewrites the entity text in the form of the compilers.

use anyhow::Result;
use bspkit::content::entities::Diagnostic;
use bspkit::dialect::Role;
use bspkit::{Error, ErrorKind};

use super::select::{is_broken, refuse_cut, warn_of};
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::save::{Edited, Save};
use crate::cli::show::count;
use crate::cli::talk::Code;

/// Rewrite the entity text in the form that compilers write
///
/// This is refused if it would lose something (comments, tokens outside of entities, keys without a value). --force
/// allows it.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent fmt dm4.bsp -o out.bsp
  bspkit ent fmt maps --in-place --backup"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        refuse_cut(draft.bsp(), job)?;
        let entities = draft.entities()?;
        let lost = entities.lost_in_canonical()?;
        if let Some(first) = lost.iter().next().filter(|_| !args.save.force) {
            let places = count(lost.total(), "place", "places");
            let message = format!("the canonical form would lose text at {places}; the first: {first}");
            return Err(Error::new(ErrorKind::Refused, message).with_hint("--force does it anyway").into());
        }
        let is_listed = |found: &&Diagnostic| job.talk.verbose || is_broken(found.kind);
        let diagnostics: Vec<Diagnostic> = entities.diagnostics().iter().filter(is_listed).cloned().collect();
        warn_of(diagnostics.len(), diagnostics.iter(), job);
        let text = entities.canonical()?;
        if let Some(slot) = draft.bsp().role(Role::Entities) {
            let id = slot.id;
            draft.set(id, text)?;
        }
        Ok(Edited::Done)
    })
}
