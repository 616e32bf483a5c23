//! `pak add`: embeds new files, and replaces embedded files.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use bspkit::Data;
use bspkit::bytes::escaped;
use bspkit::content::pak::lookup_name;

use super::list_file::{self, New, path};
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::save::{Edited, Save};
use crate::cli::show::{count, shown};
use crate::cli::talk::Code;
use bspkit::face::input;

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
    /// Keep backslashes in names, and do not leave out system files (.DS_Store, Thumbs.db, desktop.ini)
    #[arg(long)]
    as_is: bool,
    #[command(flatten)]
    save: Save,
}

/// Files that file managers create in folders, in lower case.
const OF_SYSTEMS: [&[u8]; 3] = [b".ds_store", b"thumbs.db", b"desktop.ini"];

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let mut new = Vec::new();
    if let Some(list) = &args.list {
        let cannot = || format!("cannot read the list {}", shown(list));
        new.extend(list_file::parse(&input::read(list)?).with_context(cannot)?);
    }
    for argument in &args.files {
        collect(argument, &mut new)?;
    }
    if !cx.talk.quiet {
        notices(&new, args.as_is).iter().for_each(|notice| cx.talk.stderr(format!("note: {notice}\n").as_bytes()));
    }
    if !args.as_is {
        new.retain(|new| !(new.is_found && is_of_system(&new.name)));
        new.iter_mut().for_each(|new| new.name.iter_mut().filter(|byte| **byte == b'\\').for_each(|byte| *byte = b'/'));
    }
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
    args.save.each(cx, args.maps.find(), |draft, _, _| {
        let pak = draft.pak()?;
        let before = pak.len();
        for (name, bytes) in &files {
            pak.add(name, bytes.clone())?;
        }
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
            let before = new.len();
            walk(folder, b"", new)?;
            if new.len() == before {
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

/// Whether a file is one that file managers create.
fn is_of_system(name: &[u8]) -> bool {
    let last = name.rsplit(|byte| *byte == b'/').next().unwrap_or_default().to_ascii_lowercase();
    OF_SYSTEMS.contains(&&last[..])
}

/// The notices about odd names: for each kind the first name, and the number of others.
fn notices(new: &[New], as_is: bool) -> Vec<String> {
    let of = |is_odd: &dyn Fn(&New) -> bool, what: &str| {
        let mut odd = new.iter().filter(|new| is_odd(new));
        let first = odd.next()?;
        let more = match odd.count() {
            0 => String::new(),
            more => format!(" (and {})", count(more, "other", "others")),
        };
        Some(format!("`{}`{more} {what}", escaped(&first.name)))
    };
    let is_left_out = |new: &New| new.is_found && is_of_system(&new.name) && !as_is;
    let has_backslash = |new: &New| new.name.contains(&b'\\') && !as_is;
    let has_upper_case = |new: &New| new.name.iter().any(u8::is_ascii_uppercase) && !is_left_out(new);
    let all = [
        of(&is_left_out, "is left out, since file managers create it; --as-is embeds it"),
        of(&has_backslash, "is stored with / for \\, which is the same name for engines; --as-is keeps it"),
        of(&has_upper_case, "has upper case letters: engines ignore case, but other tools may not find it"),
    ];
    all.into_iter().flatten().collect()
}

/// Adds all files below a folder, sorted by name. Links to files are followed; links to folders are refused.
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
            false => new.push(New { name, path, is_found: true }),
        }
    }
    Ok(())
}
