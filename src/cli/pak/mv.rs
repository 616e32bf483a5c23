//! `pak mv`: renames embedded files.

use std::collections::HashMap;
use std::ffi::OsString;

use anyhow::Result;
use bspkit::ErrorKind;
use bspkit::content::pak::{Moves, Pak};

use super::names_of;
use crate::cli::choose::Choice;
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::save::{Edited, Save, bad_argument};
use crate::cli::show::count;
use crate::cli::talk::Code;

/// Rename embedded files, one or many at once
///
/// In NEW the wildcards `*`, `**` and `?` are the text that those of OLD match, in their order; `{1}` is the text of
/// the first one, as in `tex rename`. Several moves take place at once, so files can swap their names, and a file goes
/// by the first move that matches it. If a new name is that of another file, nothing is written, and all such names are
/// listed. Files keep their bytes, their order and their times.
///
/// Names in the map and in materials do not change.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit pak mv map.bsp materials/my/wall.vmt materials/my/floor.vmt -o out.bsp
  bspkit pak mv map.bsp 'materials/maps/old/**' 'materials/maps/new/**' --dry-run
  bspkit pak mv map.bsp '*.txt' '*.cfg' '#0' cfg/first.cfg --in-place --backup"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The files, and their new names byte for byte: a name in any case, `#` and an index, or a GLOB
    #[arg(value_name = "OLD NEW", required = true, num_args = 2..)]
    moves: Vec<OsString>,
    #[command(flatten)]
    save: Save,
}

/// The files of a move, with their new names.
fn apply(pak: &Pak<'_>, old: &[u8], new: &[u8]) -> Result<Vec<(usize, Vec<u8>)>> {
    let is_pattern = old.iter().any(|byte| matches!(byte, b'*' | b'?'));
    match Choice::new(old) {
        Choice::Index(index) if index < pak.len() => Ok(vec![(index, new.to_vec())]),
        _ if is_pattern => {
            let moves = Moves::new(old, new)?;
            Ok(pak.iter().filter_map(|entry| Some((entry.index(), moves.apply(entry.name())?))).collect())
        }
        _ => match pak.one(old) {
            Ok(index) => Ok(vec![(index, new.to_vec())]),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        },
    }
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    if !args.moves.len().is_multiple_of(2) {
        let message = format!("{} names are not pairs of OLD and NEW", args.moves.len());
        return Err(bad_argument(message, "quote a GLOB, so that the shell leaves it as it is"));
    }
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        job.lists_all = true;
        let pak = draft.pak()?;
        let mut renamed: HashMap<usize, Vec<u8>> = HashMap::new();
        let mut idle = Vec::new();
        for pair in args.moves.chunks_exact(2) {
            let files = apply(pak, pair[0].as_encoded_bytes(), pair[1].as_encoded_bytes())?;
            if files.is_empty() {
                idle.push(pair[0].clone());
            }
            for (index, new) in files {
                renamed.entry(index).or_insert(new);
            }
        }
        if renamed.is_empty() {
            return Ok(Edited::Nothing(names_of(pak).nothing(&idle)));
        }
        idle.iter().for_each(|old| job.warn_here(&names_of(pak).nothing(std::slice::from_ref(old))));
        let mut renamed: Vec<(usize, Vec<u8>)> = renamed.into_iter().collect();
        renamed.retain(|(index, new)| pak.get(*index).is_some_and(|entry| entry.name() != new));
        renamed.sort_unstable();
        pak.rename_all(&renamed)?;
        Ok(Edited::With { what: format!("{} renamed", count(renamed.len(), "file", "files")), is_whole: true })
    })
}
