//! `ent patch`: applies a JSON patch.

use std::path::PathBuf;

use anyhow::{Context as _, Result, anyhow};
use bspkit::content::entities::Entities;
use bspkit::dialect::Role;
use bspkit::face::patch;
use bspkit::op::merge::merge_patch;
use bspkit::op::patch::{Found, Patch, Search};
use bspkit::{Bsp, Draft, ErrorKind};
use serde_json::json;

use super::import;
use super::select::refuse_cut;
use crate::cli::context::Context;
use crate::cli::git::conflict_lines;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::save::{Edited, Save};
use crate::cli::show::{Few, count, shown};
use crate::cli::talk::{Code, Job};

/// Apply a JSON patch to the entities, such as `ent diff` writes
///
/// A patch is `{"bspkit_patch": 1, "operations": [...]}`. An operation has an `op` (edit, replace, remove, move, add,
/// text). Its `on` says which entity: `{"match": [{"key": ..., "value": ...}]}` is the one with these pairs,
/// `{"select": "SEL"}` are those of a selector, `{"index": 17}` is a position. Its `expect` lists pairs that must
/// exist. docs/schema/patch.schema.json describes all fields.
///
/// Patches of `ent diff` find their entities by name, wherever these are now. If one is missing, there are several of
/// it, or something expected is different, all of it is listed, with the entities that may be meant, and nothing is
/// written. --fuzzy takes the best of these. --base merges: the patch is applied to OLD.bsp, from which both the patch
/// and the map come, and what that changes is merged into the map.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent patch dm4.bsp brighter.json -o out.bsp
  bspkit ent patch maps brighter.json --dry-run
  bspkit ent patch dm4_new.bsp brighter.json --base dm4.bsp -o out.bsp
  bspkit ent patch dm4.bsp - -o out.bsp <brighter.json
  bspkit ent diff dm4.bsp dm4_new.bsp | bspkit ent patch dm4.bsp - -o out.bsp"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The patch; `-` is stdin
    #[arg(value_name = "PATCH.json")]
    patch: PathBuf,
    /// Where a target means no entity or too many, take the entity that has the most of its pairs; pairs that are
    /// not changed may have other values. What was guessed is listed
    #[arg(long)]
    fuzzy: bool,
    /// Apply the patch to OLD.bsp, the map that it was made from, and merge its changes with what changed since then
    #[arg(long, value_name = "OLD.bsp", conflicts_with = "fuzzy")]
    base: Option<PathBuf>,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.save.spare(&args.patch)?;
    args.base.iter().try_for_each(|base| args.save.spare(base))?;
    let cannot_read = || format!("cannot read {}", shown(&args.patch));
    let text = import::read(&args.patch)?;
    let patch = patch::read(&text).with_context(cannot_read)?;
    let base = args.base.as_ref().map(|base| cx.open(base)).transpose()?;
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        let id = draft.bsp().role(Role::Entities).ok_or_else(|| anyhow!("the map has no entity lump"))?.id;
        refuse_cut(draft.bsp(), job)?;
        let bytes = match &base {
            Some(base) => merged(base, draft.bsp(), &patch)?,
            None => applied(&patch, draft, args, job)?,
        };
        let entities = Entities::parse(&bytes[..], draft.bsp().entity_rules())?;
        if !args.save.force {
            import::refuse_unreadable(draft, &entities)?;
        }
        drop(entities);
        draft.set(id, bytes)?;
        Ok(Edited::Done)
    })
}

/// The entity text after the patch; says where its entities were found.
fn applied(patch: &Patch, draft: &mut Draft<'_>, args: &Args, job: &mut Job<'_>) -> Result<Vec<u8>> {
    let entities = draft.entities()?;
    if args.save.force {
        entities.for_any_engine();
    }
    let search = if args.fuzzy { Search::Guess } else { Search::Exact };
    let located = patch.locate(entities, search)?;
    let bytes = located.apply()?;
    for guess in &located.guesses {
        job.warn_here(&format!("guessed: {guess}"));
    }
    tell(&located.found, job);
    if job.json {
        let found = located.found.iter().map(|found| {
            let Found { operation, target, was, index } = found;
            json!({"operation": operation, "target": target, "was": was, "index": index})
        });
        job.extra.insert("found".to_owned(), found.collect());
        job.extra.insert("guesses".to_owned(), located.guesses.clone().into());
    }
    Ok(bytes)
}

/// The entities that are not where they were in the map that the patch was made from.
fn tell(found: &[Found], job: &mut Job<'_>) {
    let mut few = Few::new(job.talk.verbose);
    for Found { operation, target, was, index } in found {
        let Some(was) = was.filter(|was| was != index) else { continue };
        if few.takes("entities at other places") {
            job.say(&format!("{}: operations[{operation}]: {target} was #{was} and is #{index}", job.path));
        }
    }
    few.rest().for_each(|rest| job.say(&format!("{}: {rest}", job.path)));
}

/// The entity text of a map with the changes of a patch of its base; refuses conflicts.
fn merged(base: &Bsp<'_>, ours: &Bsp<'_>, patch: &Patch) -> Result<Vec<u8>> {
    let merged = merge_patch(base, ours, patch).context("the patch cannot be merged by way of its base")?;
    if !merged.conflicts.is_empty() {
        let number = count(merged.conflicts.len(), "conflict", "conflicts");
        let message = format!("what the patch changes has changed since its base too: {number}");
        let lines: Vec<String> = merged.conflicts.iter().flat_map(conflict_lines).collect();
        return Err(bspkit::Error::new(ErrorKind::Refused, message).with_hint(lines.join("\n")).into());
    }
    let id = ours.role(Role::Entities).ok_or_else(|| anyhow!("the map has no entity lump"))?.id;
    Ok(merged.draft.bytes(id)?.to_vec())
}
