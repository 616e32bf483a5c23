//! `pak unused`: packed files to which nothing refers.

use anyhow::{Context as _, Result};
use bspkit::content::assets::Files;
use bspkit::op::needs::{self, Options};
use serde::Serialize;

use super::game::GameArgs;
use super::refs::How;
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::Reading;
use crate::cli::report::Report;
use crate::cli::show::{count, shown, text_and_raw};
use crate::cli::talk::{Code, Job};

/// List embedded files that the map does not need, with how sure that is
///
/// `certain`: no engine reads the file. `likely`: nothing that may be loaded refers to it or has its name. `possible`:
/// it replaces a file of the game, code of games looks for such files, its name is in the entities or in a packed text,
/// or a file refers to it that may be loaded itself. Without the files of the game (--game, --vpk, --stock), with a
/// packed script, which can put names together, and where a packed file cannot be read all files are possible. Nothing
/// is removed; `pak rm` does that. The exit status is 1 if a file is listed.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit pak unused map.bsp
  bspkit pak unused map.bsp --game 'Team Fortress 2/tf' --json"
))]
pub(crate) struct Args {
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    game: GameArgs,
    #[command(flatten)]
    how: How,
}

#[derive(Serialize)]
struct Unused {
    file_count: usize,
    unused: Vec<UnusedJson>,
}

#[derive(Serialize)]
struct UnusedJson {
    index: usize,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<String>,
    bytes: usize,
    sure: &'static str,
    why: String,
}

impl Report for Unused {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        for UnusedJson { index, name, bytes, sure, why, .. } in &self.unused {
            job.line(format!("{sure:9} #{index} {name}, {bytes} bytes: {why}"));
        }
        let bytes: usize = self.unused.iter().map(|file| file.bytes).sum();
        let files = count(self.file_count, "file", "files");
        job.say(&format!("{}: {} of {files} unused, {bytes} bytes", job.path, self.unused.len()));
        Ok(())
    }

    fn heading(&self, path: &str) -> Option<String> {
        (!self.unused.is_empty()).then(|| format!("{path}:"))
    }

    fn code(&self) -> Code {
        if self.unused.is_empty() { Code::Done } else { Code::Found }
    }
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let (game, keys) = (args.game.open(cx)?, args.how.keys(cx)?);
    args.reading.maps().each(cx, |map, job| {
        let bsp = cx.open(&map.path)?;
        let cannot = || format!("cannot find what {} refers to", shown(&map.path));
        let (name, other) = args.how.names(map, &bsp, job);
        let game = game.as_ref().map(|game| -> &dyn Files { game });
        let options = Options::new(&name).with_name(other.as_deref()).with_keys(&keys);
        let options = game.map_or(options, |game| options.with_game(game));
        let pak = bsp.pak().with_context(cannot)?;
        let (needs, unused) = needs::unused(&bsp, &options).with_context(cannot)?;
        for fault in &needs.faults {
            job.warn_here(&format!("`{}` is skipped: {}", bspkit::bytes::escaped(&fault.name), fault.message));
        }
        let unused = unused.into_iter().filter_map(|file| {
            let entry = pak.get(file.index)?;
            let (name, raw) = text_and_raw(entry.name());
            let (name, bytes) = (name.into_owned(), entry.size());
            Some(UnusedJson { index: file.index, name, raw, bytes, sure: file.doubt.name(), why: file.why })
        });
        job.report(&Unused { file_count: pak.len(), unused: unused.collect() })
    })
}
