//! What the file `bspkit.toml` of a project says always: it is found above the maps, and its section `[defaults]` gives
//! options the values that they have if the command line does not name them.

use std::collections::HashSet;
use std::env;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::output::PathJson;
use anyhow::{Context as _, Result, bail};
use bspkit::disk::input;
use bspkit_text::defaults::{self, Defaults, KEYS, Key};
use serde::Serialize;

use super::context::{Context, is_stdin};
use super::help;
use super::maps::{own_place, real_input};
use super::talk::{Code, Head, bad_argument, json, shown};

/// The name of the file of a folder and the folders in it.
pub(crate) const NAME: &str = "bspkit.toml";

/// The nearest file of a project: in the folder that is named, or in the folders above it, the map or the archive that
/// has the map. A link to a map is a map of the folder that it is in.
pub(crate) fn nearest(path: &Path) -> Result<Option<PathBuf>> {
    let from = if is_stdin(path) { env::current_dir().ok() } else { own_place(path) };
    let mut folders = from.iter().flat_map(|from| from.ancestors()).filter(|folder| folder.is_dir());
    let is_here = |folder: &Path| {
        let path = folder.join(NAME);
        // A file that cannot be read is not a missing one: it would be as if it allowed everything.
        Ok((path.is_symlink() || input::is_there(&path)? && (path.is_file() || path.is_dir())).then_some(path))
    };
    folders.find_map(|folder| is_here(folder).transpose()).transpose()
}

/// A path relative to the current folder, where it can be: for messages.
pub(crate) fn from_here(path: &Path) -> String {
    shown(below_here(path))
}

fn below_here(path: &Path) -> &Path {
    let here = env::current_dir().and_then(|folder| folder.canonicalize()).unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path)
}

/// The defaults of a file.
pub(crate) struct Found {
    file: PathBuf,
    values: Vec<(Key, Vec<String>)>,
}

impl Found {
    fn read(file: &Path) -> Result<Self> {
        let Defaults { values } = defaults::read(&from_here(file), &input::text(file)?)?;
        Ok(Found { file: file.to_path_buf(), values })
    }

    /// The values of an option, with paths that are absolute.
    ///
    /// # Errors
    /// A path does not exist, or a link leads out of the folder of the file.
    fn of(&self, option: &str) -> Result<Option<Vec<OsString>>> {
        let Some((key, values)) = self.values.iter().find(|(key, _)| key.name == option) else { return Ok(None) };
        let folder = self.file.parent().unwrap_or(Path::new(""));
        let values = values.iter().map(|value| match key.is_path {
            true => Ok(inner(folder, value, &self.file)?.into_os_string()),
            false => Ok(value.into()),
        });
        values.collect::<Result<_>>().map(Some)
    }
}

/// A path in the folder of the file, which no link leads out of.
fn inner(folder: &Path, path: &str, file: &Path) -> Result<PathBuf> {
    let (real, place) = (folder.canonicalize()?, folder.join(path));
    let place = place.canonicalize().with_context(|| format!("{}: cannot find {path}", from_here(file)))?;
    if place.starts_with(&real) {
        return Ok(place);
    }
    let message = format!("{}: `{path}` is a link that leads out of the folder of this file", from_here(file));
    Err(bad_argument(message, "name it on the command line"))
}

/// The defaults of the maps of a command: for each file, and for none, the first map that it is the nearest one of.
pub(crate) struct OfMaps(Vec<(PathBuf, Option<Found>)>);

/// Reads the files that are nearest to these maps.
pub(crate) fn defaults(maps: &[PathBuf]) -> Result<OfMaps> {
    let (mut files, mut all) = (HashSet::new(), Vec::new());
    // Maps in one folder have the same file.
    let mut folders: HashSet<&Path> = HashSet::new();
    for map in maps {
        if map.parent().is_some_and(|folder| !map.is_dir() && !folders.insert(folder)) {
            continue;
        }
        let file = nearest(map)?;
        if files.insert(file.clone()) {
            all.push((map.clone(), file.as_deref().map(Found::read).transpose()?));
        }
    }
    Ok(OfMaps(all))
}

impl OfMaps {
    /// Whether no file says anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|(_, found)| found.as_ref().is_none_or(|found| found.values.is_empty()))
    }

    /// The values of an option, which the command has once for all of its maps.
    ///
    /// # Errors
    /// The maps have different ones; those of the values.
    fn of(&self, option: &str) -> Result<Option<Vec<OsString>>> {
        let values = |found: &Option<Found>| found.as_ref().map_or(Ok(None), |found| found.of(option));
        let Some(((map, found), others)) = self.0.split_first() else { return Ok(None) };
        let first = values(found)?;
        for (other, other_found) in others {
            if values(other_found)? != first {
                let name = |found: &Option<Found>| match found {
                    Some(found) => from_here(&found.file),
                    None => format!("no {NAME}"),
                };
                let (file, other_file) = (name(found), name(other_found));
                let message = format!(
                    "the maps have different defaults for --{option}: {} those of {file}, {} those of {other_file}",
                    shown(map),
                    shown(other)
                );
                return Err(bad_argument(message, "run the command for the maps of each folder, or name the option"));
            }
        }
        Ok(first)
    }
}

/// A command, and those in it, with these values where an option has none. Only values of options that it has, and that
/// the arguments do not name, are looked at.
///
/// # Errors
/// As those of the values.
pub(crate) fn fill(mut command: clap::Command, maps: &OfMaps, arguments: &[OsString]) -> Result<clap::Command> {
    let options = command.get_arguments().filter_map(|arg| Some((arg.get_id().clone(), arg.get_long()?.to_owned())));
    let is_named = |option: &str| {
        arguments.iter().take_while(|argument| *argument != "--").any(|argument| {
            let name = argument.to_str().and_then(|argument| argument.strip_prefix("--")?.split('=').next());
            name == Some(option)
        })
    };
    for (id, option) in options.filter(|(_, option)| !is_named(option)).collect::<Vec<_>>() {
        if let Some(values) = maps.of(&option)? {
            command = command.mut_arg(id, |arg| arg.required(false).default_values(values));
        }
    }
    let names: Vec<String> = command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    for name in names {
        let mut failed = None;
        command = command.mut_subcommand(name, |own| {
            fill(own.clone(), maps, arguments).unwrap_or_else(|error| {
                failed = Some(error);
                own
            })
        });
        failed.map_or(Ok(()), Err)?;
    }
    Ok(command)
}

/// Show the defaults of a project, and where they are from
///
/// The file bspkit.toml in the folder of a map, or in the nearest folder above it, has two parts. Its section
/// [defaults] gives these options the values that they have if the command line does not name them. What chooses where
/// to write or what to run is not among them, and no path leads out of the folder of the file. Its other sections are
/// the policy for `bspkit ci`: `bspkit help policy` has them.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit config maps
  bspkit config dm4.bsp --json"
))]
pub(crate) struct Args {
    /// Maps or folders
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<PathBuf>,
    /// Print JSON: an indented document for one path, one line for each of several
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    /// The file; none if there is none.
    #[serde(flatten)]
    file: Option<PathJson>,
    defaults: Vec<Default>,
}

/// The values of an option; none if neither the file nor the program has any.
#[derive(Serialize)]
struct Default {
    name: &'static str,
    values: Vec<String>,
    from: &'static str,
}

/// What holds without a file.
const BUILT_IN: [(&str, &str); 2] = [("color", "auto"), ("layout", "keep")];

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    for path in &args.paths {
        if !is_stdin(path) && real_input(path).is_none() {
            bail!("there is no {}", shown(path));
        }
        let file = nearest(path)?;
        let found = file.as_deref().map(Found::read).transpose()?;
        let defaults = of(found.as_ref())?;
        let file = file.as_deref().map(|file| PathJson::new("file", Some(below_here(file))));
        let document = Document { head: Head::new(path), file, defaults };
        let mut out = match args.json {
            true => json(&document, args.paths.len() > 1)?,
            false => text(&document, (args.paths.len() > 1).then_some(path)).into_bytes(),
        };
        if args.json {
            out.push(b'\n');
        }
        if !cx.talk.stdout(&out)? {
            break;
        }
    }
    Ok(Code::Done)
}

fn of(found: Option<&Found>) -> Result<Vec<Default>> {
    let one = |key: Key| {
        if let Some(values) = found.map_or(Ok(None), |found| found.of(key.name))? {
            let path = |value: &OsString| from_here(Path::new(value));
            let word = |value: &OsString| shown(Path::new(value));
            let values = values.iter().map(|value| if key.is_path { path(value) } else { word(value) }).collect();
            return Ok(Default { name: key.name, values, from: "file" });
        }
        let built_in = BUILT_IN.iter().find(|(name, _)| *name == key.name).map(|(_, value)| (*value).to_owned());
        let from = if built_in.is_some() { "built-in" } else { "none" };
        Ok(Default { name: key.name, values: built_in.into_iter().collect(), from })
    };
    KEYS.into_iter().map(one).collect()
}

/// The lines about a path, which is named if it is one of several.
fn text(document: &Document<'_>, path: Option<&PathBuf>) -> String {
    let path = path.map(|path| format!("{}: ", shown(path))).unwrap_or_default();
    let file = document.file.as_ref().map_or_else(|| "no bspkit.toml".to_owned(), PathJson::to_string);
    let mut text = format!("{path}{file}\n");
    for Default { name, values, from } in &document.defaults {
        let values = match *from {
            "file" => values.join(" "),
            "built-in" => format!("{} (built in)", values.join(" ")),
            _ => "-".to_owned(),
        };
        // Writing into a string cannot fail.
        let _ = writeln!(text, "  {name:<8} {values}");
    }
    text
}
