//! `vis export`: a picture of what is visible from where.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use super::picture::{self, Kind};
use super::{Set, places};
use crate::cli::help;
use crate::cli::options::Options;
use crate::cli::put::{spare, stream};
use crate::cli::show::shown;
use crate::cli::talk::{Code, Job, Talk};

/// Write a picture: a row for each leaf or cluster, white where it may see the one of the column
///
/// In Quake and GoldSrc maps the first row and column are those of leaf 1, as leaf 0 is all that is solid. A row that cannot be read
/// is black, and named.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit vis export dm4.bsp dm4.png
  bspkit vis export base1.bsp heard.pbm --set phs"
))]
pub(crate) struct Args {
    /// The map
    #[arg(value_name = "MAP")]
    map: PathBuf,
    /// The picture: .png or .pbm
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Which rows
    #[arg(long, value_name = "SET", default_value = "pvs")]
    set: Set,
    /// Replace a file that is there
    #[arg(long)]
    force: bool,
}

pub(super) fn run(options: &Options, talk: &Talk, args: &Args) -> Result<Code> {
    let mut job = Job::new(talk, &args.map);
    let cannot = || format!("cannot export the visibility of {}", shown(&args.map));
    let kind = Kind::of(&args.file).with_context(|| format!("cannot write {}", shown(&args.file)))?;
    let bsp = options.open(&args.map)?;
    let visibility = bsp.visibility().with_context(cannot)?;
    let places = places(&visibility);
    if places.is_empty() {
        let code = job.nothing("no visibility: everything is visible");
        talk.stderr(&job.err);
        return Ok(code);
    }
    let set = args.set.into();
    if !visibility.sets().contains(&set) {
        bail!("{} has no rows of what is heard", shown(&args.map));
    }
    spare(&args.file, &args.map)?;
    let (all, none) = (visibility.plain(true), visibility.plain(false));
    let mut row = |index: usize| {
        let row = match visibility.row(set, places[index]) {
            Ok(row) => row.unwrap_or_else(|| all.clone()),
            Err(error) => {
                job.warn_here(&error.to_string());
                job.code = Code::Found;
                none.clone()
            }
        };
        Ok(row.bytes().to_vec())
    };
    stream(&args.file, args.force, |file| picture::write(file, kind, places.len(), &mut row))?;
    job.say(&format!("{}: {} by {} pixels", shown(&args.file), places.len(), places.len()));
    talk.stderr(&job.err);
    Ok(job.code)
}
