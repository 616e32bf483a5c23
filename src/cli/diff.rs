//! `diff`: what differs between two maps.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use bspkit::face::changes::{DiffJson, LumpJson};
use bspkit::face::folder::{Folder, is_unpacked};
use bspkit::face::page::page;
use bspkit::face::records::Numbers;
use bspkit::file::replace;
use bspkit::op::compare::{self, Comparison, Kind};
use bspkit::{Bsp, Error, ErrorKind, Layout, SaveOptions};
use serde::Serialize;

use super::context::{Context, is_stdin};
use super::help;
use super::maps::{MapFile, Maps};
use super::pack::all;
use super::report::Report;
use super::show::shown;
use super::spare::spare;
use super::talk::{Code, Job};

mod text;

/// Show what differs between two maps, or between the maps of two folders
///
/// Compares the content of lumps: entities by identity, records by field, embedded files by name and text files line
/// by line, light by face, textures, visibility, collision models. What is read as nothing else is compared as
/// bytes, and so are headers, gaps between lumps, and what follows the last lump. Lumps, entities, records and files
/// that only moved are not listed as changed. The first differences of each lump are listed; -v lists up to 30,000.
///
/// Of two folders, maps with the same path below them are compared. A folder that `unpack` wrote is the map that
/// `pack` would make of it. Of maps of two dialects, only lumps of the same form are compared: entities, embedded
/// files and others; the rest is named. The exit status is 0 if the files are the same, 1 if they differ, 2 if one
/// cannot be read.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit diff dm4.bsp dm4_new.bsp
  bspkit diff dm4.bsp dm4_new.bsp --stat
  bspkit diff dm4.bsp dm4_new.bsp --only entities --only files -v
  git show HEAD:dm4.bsp | bspkit diff - dm4.bsp
  bspkit diff dm4.bsp dm4_new.bsp --html review.html
  bspkit diff release/maps maps --json > changes.jsonl"
))]
pub(crate) struct Args {
    /// The map before: a file, an unpacked map, `-` for stdin, or a folder of maps
    #[arg(value_name = "A")]
    old: PathBuf,
    /// The map after
    #[arg(value_name = "B")]
    new: PathBuf,
    /// Print only one line for each lump: how many things differ in it, and its size before and after
    #[arg(long)]
    stat: bool,
    /// Compare only this: entities, records, files, light, textures, visibility, physics, header, places (of lumps),
    /// gaps (bytes that no lump covers), bytes (lumps that are read as nothing else), or a lump by its name; can be
    /// repeated
    #[arg(long, value_name = "KIND|LUMP")]
    only: Vec<String>,
    /// Print JSON: an indented document for one map, one line for each of several
    #[arg(long, conflicts_with = "stat")]
    json: bool,
    /// Also write a page for browsers, with the images of light and textures and the map from above; it is one file
    /// that loads nothing
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// How many differences of a lump are listed: by default, in JSON, and with `--verbose`.
const LISTED: [usize; 3] = [10, 1000, 30_000];
/// How many there are at most on a page, if they fit.
const LISTED_ON_PAGE: usize = 5000;

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let Args { old, new, .. } = args;
    let refused = |message: &str| Error::new(ErrorKind::Argument, message);
    let is_folder = |path: &Path| !is_stdin(path) && path.is_dir() && !is_unpacked(path);
    match [old, new].map(|path| is_folder(path)) {
        _ if is_stdin(old) && is_stdin(new) => Err(refused("only one of the maps can be read from stdin").into()),
        [true, true] if args.html.is_some() => Err(refused("--html writes a page about two maps, not folders").into()),
        [false, false] => Maps::file(new).json(args.json).each(cx, |_, job| Pair { cx, args, old, new }.compare(job)),
        [true, true] => {
            let maps = Maps::find(&[new]).and_others(Maps::find(&[old])).json(args.json);
            maps.each(cx, |map, job| named(cx, args, map, job))
        }
        _ => Err(refused("a map cannot be compared with a folder of maps; name two maps or two folders").into()),
    }
}

/// Compares the maps of one name in two folders.
fn named(cx: &Context, args: &Args, map: &MapFile, job: &mut Job<'_>) -> Result<Code> {
    let [old, new] = [&args.old, &args.new].map(|folder| folder.join(&map.name));
    match (old.exists(), new.exists()) {
        (false, _) => job.report(&Alone { how: "added", folder: &args.new, name: &map.name }),
        (_, false) => job.report(&Alone { how: "removed", folder: &args.old, name: &map.name }),
        _ => Pair { cx, args, old: &old, new: &new }.compare(job),
    }
}

/// A map that only one of the folders has.
#[derive(Serialize)]
struct Alone<'a> {
    how: &'static str,
    #[serde(skip)]
    folder: &'a Path,
    #[serde(skip)]
    name: &'a Path,
}

impl Report for Alone<'_> {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        job.line(format!("only in {}: {}", shown(self.folder), shown(self.name)));
        Ok(())
    }

    fn code(&self) -> Code {
        Code::Found
    }
}

/// Two maps to compare.
struct Pair<'a> {
    cx: &'a Context,
    args: &'a Args,
    old: &'a Path,
    new: &'a Path,
}

impl Pair<'_> {
    fn compare(&self, job: &mut Job<'_>) -> Result<Code> {
        let (old, new) = (open(self.cx, self.old)?, open(self.cx, self.new)?);
        let only = Only::parse(&self.args.only, [&old, &new])?;
        let [few, some, all] = LISTED;
        let most = match (job.talk.verbose, job.json, self.args.stat) {
            (true, ..) => all,
            (false, true, _) => some,
            (false, false, true) => 1,
            (false, false, false) => few,
        };
        let found = |most| match &only {
            None => compare::whole(&old, &new, most),
            Some(only) => compare::chosen(&old, &new, most, &|kind, lump| only.has(kind, lump)),
        };
        if let Some(path) = &self.args.html {
            self.write_page(path, [&old, &new], &found(LISTED_ON_PAGE))?;
        }
        let found = found(most);
        let titles = [old.dialect().title, new.dialect().title];
        let is_partial = only.is_some();
        job.report(&Difference { pair: self, found: &found, titles, is_partial })
    }

    /// Writes the page. It has the names of the maps without their folders, so that it is the same wherever these are.
    fn write_page(&self, path: &Path, maps: [&Bsp<'_>; 2], found: &Comparison) -> Result<()> {
        let sides = [self.old, self.new];
        sides.iter().filter(|map| !is_stdin(map)).try_for_each(|map| spare(path, map))?;
        let named = if is_stdin(self.old) {
            [self.new; 2]
        } else if is_stdin(self.new) {
            [self.old; 2]
        } else {
            sides
        };
        let names = named.map(|map| map.file_name().map_or_else(|| shown(map), |name| shown(Path::new(name))));
        let html = page([&names[0], &names[1]], maps, found);
        replace(path, &SaveOptions::default(), |mut file| file.write_all(html.as_bytes()))?;
        Ok(())
    }
}

/// Opens a map; of an unpacked one the map that is packed of it.
fn open(cx: &Context, path: &Path) -> Result<Bsp<'static>> {
    if is_stdin(path) || !is_unpacked(path) {
        return cx.open(path);
    }
    let packed = Folder::read(path).and_then(|folder| folder.pack(Numbers::Kept)).map_err(all);
    let map = packed.and_then(|packed| {
        let bytes = packed.draft.plan(Layout::Keep)?.to_vec();
        Bsp::from_data(bytes.into(), Some(packed.draft.bsp().dialect()))
    });
    map.with_context(|| format!("cannot pack {}", shown(path)))
}

/// What is compared.
struct Only {
    kinds: Vec<Kind>,
    lumps: Vec<String>,
}

impl Only {
    /// The kinds and lumps of these names; `None` without names.
    fn parse(names: &[String], maps: [&Bsp<'_>; 2]) -> Result<Option<Self>> {
        let mut only = Only { kinds: Vec::new(), lumps: Vec::new() };
        for name in names {
            match Kind::ALL.iter().find(|kind| kind.name().eq_ignore_ascii_case(name)) {
                Some(kind) => only.kinds.push(*kind),
                None => {
                    let [old, new] = maps.map(|map| map.slot(name));
                    let lump =
                        old.or(new).with_context(|| format!("{name} is neither a kind of content nor a lump"))?;
                    only.lumps.push(lump.name.clone());
                }
            }
        }
        Ok((!names.is_empty()).then_some(only))
    }

    fn has(&self, kind: Kind, lump: &str) -> bool {
        self.kinds.contains(&kind) || self.lumps.iter().any(|name| name == lump)
    }
}

/// What differs between two maps.
pub(super) struct Difference<'a> {
    pair: &'a Pair<'a>,
    found: &'a Comparison,
    titles: [&'static str; 2],
    /// Whether only some of the content was compared.
    is_partial: bool,
}

impl Difference<'_> {
    fn is_same(&self) -> bool {
        let is_other = |files: &compare::Files| {
            !files.skipped.is_empty() || !self.is_partial && files.dialects.0 != files.dialects.1
        };
        self.found.lumps.is_empty() && !self.found.files.as_ref().is_some_and(is_other)
    }
}

#[derive(Serialize)]
struct Document<'a> {
    old: String,
    equal: bool,
    #[serde(flatten)]
    difference: DiffJson<'a>,
    lumps: Vec<LumpJson<'a>>,
}

impl Serialize for Difference<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let lumps = self.found.lumps.iter().map(LumpJson::new).collect();
        let (old, equal) = (shown(self.pair.old), self.is_same());
        Document { old, equal, difference: DiffJson::new(self.found), lumps }.serialize(serializer)
    }
}

impl Report for Difference<'_> {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        text::print(self, job);
        Ok(())
    }

    fn code(&self) -> Code {
        if self.is_same() { Code::Done } else { Code::Found }
    }
}
