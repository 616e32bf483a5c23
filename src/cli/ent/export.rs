//! `ent export`: writes the entity text to a file.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use bspkit::SaveOptions;
use bspkit::dialect::Role;
use bspkit::file::replace;

use super::select::{refuse_cut, warn_if_verbose};
use crate::cli::context::{Context, is_stdin};
use crate::cli::help;
use crate::cli::maps::{MapArgs, real_path, target_path};
use crate::cli::show::{count, shown};
use crate::cli::talk::Code;

/// The extension of the files if there are several maps.
pub(super) const EXTENSION: &str = "ent";

/// Write the entity text unchanged, with the NUL at its end
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent export dm4.bsp -o dm4.ent
  bspkit ent export dm4.bsp | grep -a classname
  bspkit ent export maps -o texts"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The file to write; for several maps: a folder, with MAP.ent for each [default: stdout]
    #[arg(short, long, value_name = "FILE|DIR")]
    output: Option<PathBuf>,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let maps = args.maps.find();
    if let Some(output) = args.output.as_deref().filter(|_| maps.many)
        && let Some(path) = maps.written_over(maps.iter().map(|map| map.place(output, EXTENSION)))?
    {
        bail!("{} is an input map: name another folder for the texts", shown(&path));
    }
    args.output.iter().filter(|_| maps.many).try_for_each(|output| maps.check_folder(output))?;
    maps.each(cx, |map, job| {
        let bsp = cx.open(&map.path)?;
        let cannot_read = || format!("cannot read the entities of {}", shown(&map.path));
        let Some(slot) = bsp.role(Role::Entities) else { bail!("{} has no entity lump", shown(&map.path)) };
        refuse_cut(&bsp, job).with_context(cannot_read)?;
        let bytes = bsp.bytes(slot.id).with_context(cannot_read)?;
        if cx.talk.verbose {
            warn_if_verbose(bsp.entities().with_context(cannot_read)?.diagnostics(), job);
        }
        let Some(output) = args.output.as_deref().filter(|output| !is_stdin(output)) else {
            job.write(&bytes)?;
            return Ok(Code::Done);
        };
        let path = &map.file_in(output, EXTENSION)?;
        let real = target_path(path)?;
        if real.is_some() && real == real_path(&map.path)? {
            bail!("{} is the input map: name another file for the text", shown(path));
        }
        replace(path, &SaveOptions::default(), |mut file| file.write_all(&bytes))?;
        job.say(&format!("{}: {}", shown(path), count(bytes.len(), "byte", "bytes")));
        Ok(Code::Done)
    })
}
