//! `ent import`: replaces the entity text.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use bspkit::content::entities::Entities;
use bspkit::dialect::Role;
use bspkit::face::input;
use bspkit::{Draft, Error, ErrorKind};

use super::select::warn_if_verbose;
use super::{export, listed};
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::save::{Edited, Save};
use crate::cli::talk::Code;

/// Replace the whole entity text, or take back a list of entities in JSON
///
/// A text is used unchanged. A byte order mark at its start, which some editors of Windows add, is left out unless the
/// old text has one. If it does not end with a NUL, the NULs at the end of the old text are added.
///
/// JSON is what `ent list --json` prints, edited by any program. Entities keep their `index` and `span`; those without
/// are new, those that are left out are removed, and the order is that of the list. Entities and pairs that are not
/// changed keep their bytes. If the list was made with a selector, only those entities are meant. A value's `raw` wins
/// over its text.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent import dm4.bsp dm4.ent -o out.bsp
  bspkit ent import maps texts -o edited
  bspkit ent list dm4.bsp --json | jq 'del(.entities[7])' | bspkit ent import dm4.bsp - -o out.bsp
  bspkit ent export dm4.bsp | sed s/light_spot/light/ | bspkit ent import dm4.bsp - -o out.bsp"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The file with the text or JSON; `-` is stdin. For several maps: a file for all, or a folder that `ent export`
    /// wrote
    #[arg(value_name = "FILE|DIR")]
    file: PathBuf,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.save.spare(&args.file)?;
    // A folder has a text for each map.
    let is_folder = args.file.is_dir() && args.maps.are_many();
    let text = if is_folder { Vec::new() } else { read(&args.file)? };
    let lists = if listed::is_json(&text) { Some(listed::read(&text)?) } else { None };
    args.save.each(cx, args.maps.find(), |draft, map, job| {
        let id = draft.bsp().role(Role::Entities).ok_or_else(|| anyhow!("the map has no entity lump"))?.id;
        let mut text = match is_folder.then(|| map.read_from(&args.file, export::EXTENSION)) {
            None => text.clone(),
            Some(None) => {
                return Ok(Edited::Nothing("no text to import".to_owned()));
            }
            Some(Some(file)) => {
                args.save.spare(&file)?;
                read(&file)?
            }
        };
        match &lists {
            Some(lists) => return listed::import(draft, lists, args.maps.are_many(), &args.save, job),
            None if is_folder && listed::is_json(&text) => {
                return listed::import(draft, &listed::read(&text)?, false, &args.save, job);
            }
            None => {}
        }
        if input::has_mark(&text) && !draft.bsp().bytes(id).is_ok_and(|old| input::has_mark(&old)) {
            text = input::without_mark(&text).to_vec();
        }
        if !text.ends_with(b"\0") {
            // If the old text cannot be read, the new one gets one NUL.
            let old = draft.bsp().bytes(id).map(|old| old.iter().rev().take_while(|byte| **byte == 0).count());
            text.resize(text.len() + old.unwrap_or(1), 0);
        }
        let entities = Entities::parse(&text[..], draft.bsp().entity_rules())?;
        if !args.save.force {
            refuse_foreign(&text)?;
            refuse_unreadable(draft, &entities)?;
        }
        warn_if_verbose(entities.diagnostics(), job);
        drop(entities);
        draft.set(id, text)?;
        Ok(Edited::Done)
    })
}

pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    if path == Path::new("-") {
        let mut text = Vec::new();
        input::stdin().read_to_end(&mut text).context("cannot read stdin")?;
        input::refuse_utf16(path, &text)?;
        return Ok(text);
    }
    let text = input::read(path)?;
    input::refuse_utf16(path, &text)?;
    Ok(text)
}

/// Refuses a file that is clearly not entity text.
fn refuse_foreign(text: &[u8]) -> Result<()> {
    let body = text.trim_ascii_start();
    if body.starts_with(b"{") || body.starts_with(b"/") || !body.iter().any(|byte| matches!(byte, 1..=8)) {
        return Ok(());
    }
    let message = "the file is not entity text: it looks like binary data";
    Err(Error::new(ErrorKind::Refused, message).with_hint("entity text is what `bspkit ent export` writes").into())
}

/// Refuses a text that engines cannot read, unless the old text had at least as many such places.
pub(super) fn refuse_unreadable(draft: &Draft<'_>, entities: &Entities<'_>) -> Result<()> {
    let stops =
        |entities: &Entities<'_>| entities.diagnostics().iter().filter(|found| found.kind.stops_engines()).count();
    let (old_stops, old) = draft.bsp().entities().map_or((0, 0), |old| (stops(&old), old.unreadable().count()));
    let first_stop = entities.diagnostics().iter().find(|found| found.kind.stops_engines());
    let refused = match (first_stop, entities.unreadable().next()) {
        (Some(found), _) if stops(entities) > old_stops => {
            Error::new(ErrorKind::Refused, format!("{} stop at the text: {found}", entities.rules().engines))
        }
        (_, Some(error)) if entities.unreadable().count() > old => error,
        _ => return Ok(()),
    };
    Err(anyhow::Error::new(refused).context("engines cannot read the text; --force saves it anyway"))
}
