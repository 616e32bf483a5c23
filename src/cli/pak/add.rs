//! `pak add`: embeds new files, and replaces embedded files.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use bspkit::Data;
use bspkit::bytes::escaped;
use bspkit::content::pak::lookup_name;

use super::list_file::{self, New};
use super::notices::{RENAMED, about, left_out};
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::save::{Edited, Save};
use crate::cli::show::{count, shown};
use crate::cli::talk::Code;
use bspkit::face::input;
use bspkit::face::names::path;
use bspkit::face::pak::{FoundFile, Names, files_in};
use bspkit::file::names::path_hazard;

/// Embed files: after the others, or in the place of a file with the same name for engines
///
/// A zip file is embedded as one file. To replace the whole pakfile by it, use `load MAP pak FILE.zip`.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit pak add map.bsp materials/my/wall.vmt=wall.vmt -o out.bsp
  bspkit pak add map.bsp content/ -o out.bsp
  bspkit pak add map.bsp --list files.txt --in-place --backup"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The name in the map, and the file; or a folder: all files in it, with their paths in the folder
    #[arg(value_name = "NAME=FILE|DIR", required_unless_present = "list")]
    files: Vec<OsString>,
    /// A list of files as for bspzip: a line with the name, then a line with the path, and so on
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,
    /// Keep case and backslashes of names, and embed all files, also .DS_Store, Thumbs.db and .git
    #[arg(long)]
    as_is: bool,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let mut new = Vec::new();
    if let Some(list) = &args.list {
        let cannot = || format!("cannot read the list {}", shown(list));
        new.extend(list_file::parse(&input::read(list)?).with_context(cannot)?);
    }
    for argument in &args.files {
        collect(argument, &mut new)?;
    }
    let how = if args.as_is { Names::AsIs } else { Names::Normal };
    if !cx.talk.quiet {
        notices(&new, how).iter().for_each(|notice| cx.talk.stderr(format!("{notice}\n").as_bytes()));
    }
    new.retain(|new| !(new.is_found && how.leaves_out(&new.name).is_some()));
    new.iter_mut().for_each(|new| new.name = how.name(&new.name));
    // Lists that scripts write often name a file twice.
    let mut pairs = HashSet::new();
    new.retain(|new| pairs.insert((lookup_name(&new.name), new.path.clone())));
    let mut names = HashSet::new();
    if let Some(twice) = new.iter().find(|new| !names.insert(lookup_name(&new.name))) {
        bail!("two of the files have the name `{}` for engines: leave one out", escaped(&twice.name));
    }
    let read = |new: New| -> Result<(Vec<u8>, Data<'static>)> {
        let cannot = || format!("cannot read {}", shown(&new.path));
        // Reading a device might never end.
        if !fs::metadata(&new.path).with_context(cannot)?.is_file() {
            return Err(anyhow!("it is not a regular file").context(cannot()));
        }
        let bytes = fs::read(&new.path).with_context(cannot)?;
        Ok((new.name, Data::from(bytes)))
    };
    let files = new.into_iter().map(read).collect::<Result<Vec<_>>>()?;
    if files.is_empty() {
        bail!("there is no file to embed");
    }
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        job.lists_all = true;
        let pak = draft.pak()?;
        let before = pak.len();
        for (name, bytes) in &files {
            pak.add(name, bytes.clone())?;
        }
        unwritable(&files).iter().for_each(|notice| job.say(notice));
        let added = pak.len() - before;
        let replaced = files.len() - added;
        let others = if replaced > 0 { format!(", {replaced} of them replaced old files") } else { String::new() };
        // Reported after the save, which fails if the pakfile is full.
        let what = format!("{} embedded{others}", count(files.len(), "file", "files"));
        Ok(Edited::With { what, is_whole: true })
    })
}

/// Adds the files that an argument names.
fn collect(argument: &OsStr, new: &mut Vec<New>) -> Result<()> {
    let bytes = argument.as_encoded_bytes();
    let parts = bytes.iter().position(|byte| *byte == b'=').map(|at| (&bytes[..at], &bytes[at + 1..]));
    let folder = Path::new(argument);
    match parts {
        _ if folder.is_dir() => {
            let found = files_in(folder)?;
            let is_empty = found.is_empty();
            new.extend(found.into_iter().map(|FoundFile { name, path, .. }| New { name, path, is_found: true }));
            if is_empty {
                bail!("there is no file in {}", shown(folder));
            }
            Ok(())
        }
        Some((name, file)) => {
            new.push(New { name: name.to_vec(), path: path(file)?, is_found: false });
            Ok(())
        }
        None if folder.is_file() => {
            let file = escaped(argument.as_encoded_bytes());
            bail!("{file} needs a name in the map: write NAME={file}; to replace the whole pakfile, use `load MAP pak`")
        }
        None => bail!("{} is neither a folder nor NAME=FILE", escaped(argument.as_encoded_bytes())),
    }
}

/// The notices about files that are left out, and names that change.
fn notices(new: &[New], how: Names) -> Vec<String> {
    let is_left_out = |new: &&New| new.is_found && how.leaves_out(&new.name).is_some();
    let left: Vec<Vec<u8>> = new.iter().filter(is_left_out).map(|new| new.name.clone()).collect();
    let renamed = new.iter().filter(|new| !is_left_out(new) && how.name(&new.name) != new.name);
    let mut notices = left_out(&left, how);
    notices.extend(about(renamed.map(|new| &new.name[..]), RENAMED));
    notices
}

/// The notice about files that were asked for by name and that are not extracted.
fn unwritable(files: &[(Vec<u8>, Data<'_>)]) -> Option<String> {
    let why = files.iter().find_map(|(name, _)| path_hazard(name))?;
    let names = files.iter().map(|(name, _)| &name[..]).filter(|name| path_hazard(name).is_some());
    about(names, &format!("is embedded, but `pak extract` does not write it: {why}"))
}
