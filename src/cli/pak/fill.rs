//! `pak fill`: embeds files that a map needs and that neither it nor the game has.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use bspkit::bytes::escaped;
use bspkit::content::pattern::Pattern;
use bspkit::face::game::Game;
use bspkit::op::needs::{self, Choice, Need, Options};
use serde::Serialize;

use super::game::{GameArgs, chain};
use super::refs::How;
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::save::{Edited, Save};
use crate::cli::show::{count, shown};
use crate::cli::talk::Code;

/// Embed the files that a map needs and that neither it nor the game has
///
/// What an embedded file refers to is embedded too: a material brings its textures, a model its parts and materials.
/// Files of the game and embedded files are never added or replaced. Names are stored in lower case. The exit status is
/// 1 if a file is still missing.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit pak fill map.bsp --from content --game 'Team Fortress 2/tf' --dry-run
  bspkit pak fill map.bsp --from content --stock stock.txt --exclude '*.wav' -o out.bsp"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// Where files are: a folder of loose files, or an archive (.vpk); can be repeated
    #[arg(long, value_name = "DIR", required = true)]
    from: Vec<PathBuf>,
    /// Leave out these files and what only they refer to; can be repeated
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<OsString>,
    /// Embed only these files; can be repeated
    #[arg(long, value_name = "GLOB")]
    only: Vec<OsString>,
    #[command(flatten)]
    game: GameArgs,
    #[command(flatten)]
    how: How,
    #[command(flatten)]
    save: Save,
}

#[derive(Serialize)]
struct PackedJson {
    name: String,
    bytes: usize,
    from: String,
    why: Vec<String>,
}

#[derive(Serialize)]
struct MissingJson {
    name: String,
    sure: &'static str,
    why: Vec<String>,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let (game, keys) = (args.game.open(cx)?, args.how.keys(cx)?);
    let mut from = Game::default();
    for place in &args.from {
        from.add(place).with_context(|| format!("cannot read {}", shown(place)))?;
    }
    let patterns = |texts: &[OsString]| -> Vec<Pattern> {
        texts.iter().map(|text| Pattern::new(text.as_encoded_bytes())).collect()
    };
    let choice = Choice { only: patterns(&args.only), exclude: patterns(&args.exclude) };
    args.save.each(cx, args.maps.find(), |draft, map, job| {
        let (name, other) = args.how.names(map, draft.bsp(), job);
        let options = Options::new(&name).with_name(other.as_deref()).with_keys(&keys);
        let options = game.as_ref().map_or(options, |game| options.with_game(game));
        let fill = needs::fill(draft.bsp(), &options, &from, &choice)?;
        for fault in &fill.needs.faults {
            job.warn_here(&format!("`{}` is skipped: {}", escaped(&fault.name), fault.message));
        }
        let why = |need: &Need| need.references.first().map_or_else(Vec::new, |first| chain(&fill.needs, first));
        let embedded = fill.embed(draft.pak()?, &from)?;
        let total: usize = embedded.iter().map(|(_, bytes)| bytes).sum();
        let row = |(index, bytes): (usize, usize)| {
            let need = &fill.needs.files[index];
            let from = from.place(&need.name).map_or_else(String::new, shown);
            PackedJson { name: escaped(&need.name).to_string(), bytes, from, why: why(need) }
        };
        let packed: Vec<_> = embedded.into_iter().map(row).collect();
        let missing = fill.missing.iter().map(|index| &fill.needs.files[*index]);
        let missing: Vec<MissingJson> = missing
            .map(|need| MissingJson { name: escaped(&need.name).to_string(), sure: need.sure.name(), why: why(need) })
            .collect();
        if args.save.dry_run && !args.save.json {
            for PackedJson { name, bytes, from, why } in &packed {
                job.line(format!("  {name}, {bytes} bytes, from {from}, for {}", why.join(", for ")));
            }
        }
        missing
            .iter()
            .for_each(|file| job.warn_here(&format!("{} is missing, for {}", file.name, file.why.join(", for "))));
        let files = count(packed.len(), "file", "files");
        let what = format!("{files} embedded, {total} bytes; {} missing", missing.len());
        let is_whole = missing.is_empty();
        job.extra.insert("packed".to_owned(), serde_json::to_value(packed)?);
        job.extra.insert("missing".to_owned(), serde_json::to_value(missing)?);
        Ok(Edited::With { what, is_whole })
    })
}
