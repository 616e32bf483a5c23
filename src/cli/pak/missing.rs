//! `pak missing`: files that a map needs and that neither it nor the game has.

use anyhow::{Context as _, Result};
use bspkit::bytes::escaped;
use bspkit::op::needs::{self, Found, Needs, Options};
use serde::Serialize;

use super::game::{GameArgs, chain};
use super::refs::How;
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::Reading;
use crate::cli::report::Report;
use crate::cli::show::{count, shown, text_and_raw};
use crate::cli::talk::{Code, Job};

/// List the files that a map refers to and that neither it nor the game has
///
/// Below each file is what refers to it, up to the map itself. The word `likely` marks files that the map may not need.
/// Files without which the engine goes on, such as the navigation mesh, are never missing. The exit status is 1 if a
/// file is missing.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit pak missing map.bsp --game 'Team Fortress 2/tf'
  bspkit pak missing tf/maps --vpk pak01_dir.vpk --json
  bspkit pak missing map.bsp --stock stock.txt"
))]
pub(crate) struct Args {
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    game: GameArgs,
    #[command(flatten)]
    how: How,
}

/// The most references of a file that are printed as text, and in JSON.
const LISTED: usize = 5;
const LISTED_IN_JSON: usize = 100;

#[derive(Serialize)]
struct Missing {
    ok: bool,
    file_count: usize,
    missing: Vec<MissingJson>,
    unresolved: Vec<UnresolvedJson>,
    faults: Vec<FaultJson>,
}

#[derive(Serialize)]
struct MissingJson {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<String>,
    kind: &'static str,
    sure: &'static str,
    /// For each reference the places that lead from it to the map.
    references: Vec<Vec<String>>,
    #[serde(skip_serializing_if = "is_zero")]
    more: usize,
}

#[derive(Serialize)]
struct UnresolvedJson {
    name: String,
    kind: &'static str,
    sure: &'static str,
    by: String,
}

#[derive(Serialize)]
struct FaultJson {
    name: String,
    message: String,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde gives a reference.
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Missing {
    fn new(needs: &Needs) -> Self {
        let missing: Vec<MissingJson> = needs
            .files
            .iter()
            .filter(|need| need.found == Found::Nowhere)
            .map(|need| {
                let (name, raw) = text_and_raw(&need.name);
                let references: Vec<Vec<String>> =
                    need.references.iter().take(LISTED_IN_JSON).map(|reference| chain(needs, reference)).collect();
                let more = need.references.len() - references.len();
                let (kind, sure) = (need.kind.name(), need.sure.name());
                MissingJson { name: name.into_owned(), raw, kind, sure, references, more }
            })
            .collect();
        let unresolved = needs.unresolved.iter().map(|name| UnresolvedJson {
            name: escaped(&name.name).to_string(),
            kind: name.kind.name(),
            sure: name.sure.name(),
            by: needs.place(&name.referrer),
        });
        let faults = needs
            .faults
            .iter()
            .map(|fault| FaultJson { name: escaped(&fault.name).to_string(), message: fault.message.clone() });
        Missing {
            ok: missing.is_empty(),
            file_count: needs.files.len(),
            missing,
            unresolved: unresolved.collect(),
            faults: faults.collect(),
        }
    }
}

impl Report for Missing {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        let word = job.talk.verdict(self.ok, if self.ok { "pass" } else { "fail" });
        let (missing, files) = (self.missing.len(), count(self.file_count, "file", "files"));
        job.line(format!("{word} {} ({missing} of {files} missing)", job.path));
        for file in &self.missing {
            let likely = if file.sure == "certain" { String::new() } else { format!(", {}", file.sure) };
            job.line(format!("  {} ({}{likely})", file.name, file.kind));
            for chain in file.references.iter().take(LISTED) {
                for (depth, place) in chain.iter().enumerate() {
                    job.line(format!("    {}{place}", "  ".repeat(depth.min(32))));
                }
            }
            let more = file.references.len().saturating_sub(LISTED) + file.more;
            if more > 0 {
                job.line(format!("    and {}", count(more, "other", "others")));
            }
        }
        for name in &self.unresolved {
            job.line(format!("  unknown: {} ({} of {})", name.name, name.kind, name.by));
        }
        for fault in &self.faults {
            job.warn_here(&format!("`{}` is skipped: {}", fault.name, fault.message));
        }
        Ok(())
    }

    fn code(&self) -> Code {
        if self.ok { Code::Done } else { Code::Found }
    }
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let (game, keys) = (args.game.required(cx)?, args.how.keys(cx)?);
    args.reading.maps().each(cx, |map, job| {
        let bsp = cx.open(&map.path)?;
        let (name, other) = args.how.names(map, &bsp, job);
        let options = Options::new(&name).with_name(other.as_deref()).with_keys(&keys).with_game(&game);
        let needs =
            needs::find(&bsp, &options).with_context(|| format!("cannot find what {} refers to", shown(&map.path)))?;
        job.report(&Missing::new(&needs))
    })
}
