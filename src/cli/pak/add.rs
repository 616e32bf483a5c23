//! `pak add`: new files, and new bytes for those that are there.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use bspkit::Data;
use bspkit::bytes::escaped;
use bspkit::content::pak::lookup_name;

use super::choose::text;
use super::list_file::{self, New, path};
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::Maps;
use crate::cli::save::{Edited, Save};
use crate::cli::show::{count, shown};
use crate::cli::talk::Code;
use bspkit::face::input;

/// Embed files: behind the others, or in the place of those that engines take for them
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit pak add map.bsp materials/my/wall.vmt=wall.vmt -o out.bsp
  bspkit pak add map.bsp content/ -o out.bsp
  bspkit pak add map.bsp --list files.txt --in-place --backup"
))]
pub(crate) struct Args {
    /// A map, or a folder of maps
    #[arg(value_name = "MAP")]
    map: PathBuf,
    /// The name that it is to have, and the file; or a folder: all files in it under their paths there
    #[arg(value_name = "NAME=FILE|DIR", required_unless_present = "list")]
    files: Vec<OsString>,
    /// A list as bspzip reads it: a line with the name, a line with the file, and so on
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,
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
    let mut names = HashSet::new();
    if let Some(twice) = new.iter().find(|new| !names.insert(lookup_name(&new.name))) {
        bail!("two of the files are to be `{}`, as engines look it up", escaped(&twice.name));
    }
    let read = |new: New| -> Result<(Vec<u8>, Data<'static>)> {
        let cannot = || format!("cannot read {}", shown(&new.path));
        // A device may have no end.
        if !fs::metadata(&new.path).with_context(cannot)?.is_file() {
            return Err(anyhow!("it is no regular file").context(cannot()));
        }
        let bytes = fs::read(&new.path).with_context(cannot)?;
        Ok((new.name, Data::from(bytes)))
    };
    let files = new.into_iter().map(read).collect::<Result<Vec<_>>>()?;
    if files.is_empty() {
        bail!("there is no file to embed");
    }
    args.save.each(cx, Maps::of(&args.map), |draft, _, job| {
        let pak = draft.pak()?;
        let before = pak.len();
        for (name, bytes) in &files {
            pak.set(name, bytes.clone())?;
        }
        let added = pak.len() - before;
        let replaced = files.len() - added;
        let others = if replaced > 0 { format!(", {replaced} in the place of others") } else { String::new() };
        job.say(&format!("{}: {} embedded{others}", job.path, count(files.len(), "file", "files")));
        Ok(Edited::Done)
    })
}

/// What one argument names.
fn collect(argument: &OsStr, new: &mut Vec<New>) -> Result<()> {
    let bytes = argument.as_encoded_bytes();
    let parts = bytes.iter().position(|byte| *byte == b'=').map(|at| (&bytes[..at], &bytes[at + 1..]));
    let folder = Path::new(argument);
    match parts {
        _ if folder.is_dir() => {
            let before = new.len();
            walk(folder, b"", new)?;
            if new.len() == before {
                bail!("there is no file in {}", shown(folder));
            }
            Ok(())
        }
        Some((name, file)) => {
            new.push(New { name: name.to_vec(), path: path(file)? });
            Ok(())
        }
        None => bail!("{} is no folder, and no NAME=FILE", text(argument)),
    }
}

/// Adds all files below a folder, in the order of their names. Links are followed to files and not to folders.
fn walk(folder: &Path, prefix: &[u8], new: &mut Vec<New>) -> Result<()> {
    let cannot = || format!("cannot read {}", shown(folder));
    let entries = fs::read_dir(folder).with_context(cannot)?.collect::<Result<Vec<_>, _>>().with_context(cannot)?;
    let mut names: Vec<OsString> = entries.into_iter().map(|entry| entry.file_name()).collect();
    names.sort();
    for file in names {
        let path = folder.join(&file);
        let name = [prefix, file.as_encoded_bytes()].concat();
        match path.is_dir() {
            true if path.is_symlink() => bail!("{} links to a folder, which is not followed", shown(&path)),
            true => walk(&path, &[&name[..], b"/"].concat(), new)?,
            false => new.push(New { name, path }),
        }
    }
    Ok(())
}
