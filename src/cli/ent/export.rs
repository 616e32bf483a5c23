//! `ent export`: the whole text.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use bspkit::dialect::Role;
use bspkit::file::replace;

use super::select::warn_if_verbose;
use crate::cli::help;
use crate::cli::maps::real_path;
use crate::cli::options::Options;
use crate::cli::show::{count, shown};
use crate::cli::talk::{Code, Job, Talk};

/// Write the entity text as it is, every byte of it, the NUL at its end included
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent export dm4.bsp -o dm4.ent
  bspkit ent export dm4.bsp | grep -a classname"
))]
pub(crate) struct Args {
    /// The map
    #[arg(value_name = "MAP")]
    map: PathBuf,
    /// Where to [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run(options: &Options, talk: &Talk, args: &Args) -> Result<Code> {
    let bsp = options.open(&args.map)?;
    let cannot_read = || format!("cannot read the entities of {}", shown(&args.map));
    let Some(slot) = bsp.role(Role::Entities) else { bail!("{} has no entity lump", shown(&args.map)) };
    let bytes = bsp.bytes(slot.id).with_context(cannot_read)?;
    let mut job = Job::new(talk, &args.map);
    if talk.verbose {
        warn_if_verbose(bsp.entities().with_context(cannot_read)?.diagnostics(), &mut job);
    }
    match &args.output {
        None => drop(talk.stdout(&bytes)?),
        Some(path) => {
            let cannot = || format!("cannot write {}", shown(path));
            let real = real_path(path).with_context(cannot)?;
            if real.is_some() && real == real_path(&args.map).with_context(cannot)? {
                bail!("{} is the map: the text needs a file of its own", shown(path));
            }
            replace(path, None, |mut file| file.write_all(&bytes)).with_context(cannot)?;
            job.say(&format!("{}: {}", shown(path), count(bytes.len(), "byte", "bytes")));
        }
    }
    talk.stderr(&job.err);
    Ok(Code::Done)
}
