//! `diff`: what differs between two maps.

use std::collections::HashSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::output::PathJson;
use anyhow::{Context as _, Result};
use bspkit::bytes::escaped;
use bspkit::dialect::Role;
use bspkit::disk::put;
use bspkit::file::names;
use bspkit::{Bsp, Error, ErrorKind, Layout};
use bspkit_ops::compare::{self, Change, Comparison, How, Kind, LumpChanges, TextChange};
use bspkit_text::changes::DiffJson;
use bspkit_text::folder::{Folder, is_unpacked};
use bspkit_text::page::{MOST_CHANGES, MapRow, folder, page};
use bspkit_text::records::Numbers;
use serde::Serialize;

use super::context::{Context, Report, is_stdin};
use super::help;
use super::maps::{MapFile, Maps};
use super::output::{self, spare};
use super::pack::all;
use super::talk::{Code, Job, shown};
use crate::talk::count;

/// Show what differs between two maps, or between the maps of two folders
///
/// Compares the content of lumps: entities by identity, records by field, embedded files by name and text files line
/// by line, light by face, textures, visibility, collision models. What is read as nothing else is compared as
/// bytes, and so are headers, gaps between lumps, and what follows the last lump. Lumps, entities, records and files
/// that only moved are not listed as changed. The first differences of each lump are listed; -v lists up to 30,000.
///
/// Of two folders, maps with the same path below them are compared, and --html writes a list of the maps that differ,
/// with a page about each in a folder beside it: review.html and review_files. A folder that `unpack` wrote is the map
/// that `pack` would make of it. Of maps of two dialects, only lumps of the same form are compared: entities, embedded
/// files and others; the rest is named. The exit status is 0 if the files are the same, 1 if they differ, 2 if one
/// cannot be read.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit diff dm4.bsp dm4_new.bsp
  bspkit diff dm4.bsp dm4_new.bsp --stat
  bspkit diff dm4.bsp dm4_new.bsp --only entities --only files -v
  git show HEAD:dm4.bsp | bspkit diff - dm4.bsp
  bspkit diff dm4.bsp dm4_new.bsp --html review.html
  bspkit diff release/maps maps --html review.html
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
    /// that loads nothing, of at most 2 MB
    #[arg(long, value_name = "FILE", value_parser = output::on_disk())]
    html: Option<PathBuf>,
}

/// How many differences of a lump are listed: by default, in JSON, and with `--verbose`.
const LISTED: [usize; 3] = [10, 1000, 30_000];

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let Args { old, new, .. } = args;
    let refused = |message: &str| Error::new(ErrorKind::Argument, message);
    let is_folder = |path: &Path| !is_stdin(path) && path.is_dir() && !is_unpacked(path);
    match [old, new].map(|path| is_folder(path)) {
        _ if is_stdin(old) && is_stdin(new) => Err(refused("only one of the maps can be read from stdin").into()),
        [false, false] => Maps::file(new).json(args.json).each(cx, |_, job| {
            let page = args.html.as_deref();
            Pair { cx, args, old, new, page }.compare(job).map(|(code, _)| code)
        }),
        [true, true] => {
            let maps = Maps::find(&[new]).and_others(Maps::find(&[old])).json(args.json);
            let Some(path) = &args.html else {
                return maps.each(cx, |map, job| named(cx, args, None, map, job).map(|(code, _)| code));
            };
            let pages = Pages::new(path, &maps)?;
            let code = maps.each(cx, |map, job| pages.compare(cx, args, map, job))?;
            pages.write([old, new])?;
            Ok(code)
        }
        _ => {
            // A name that is missing is neither a map nor a folder.
            let missing = |path: &&PathBuf| !is_stdin(path) && !path.exists();
            match [old, new].into_iter().find(missing) {
                Some(path) => Err(Error::new(ErrorKind::Io, format!("there is no {}", shown(path))).into()),
                None => {
                    Err(refused("a map cannot be compared with a folder of maps; name two maps or two folders").into())
                }
            }
        }
    }
}

/// Compares the maps of one name in two folders. Only of a map that differs the row of the list is given.
fn named(
    cx: &Context,
    args: &Args,
    page: Option<&Path>,
    map: &MapFile,
    job: &mut Job<'_>,
) -> Result<(Code, Option<MapRow>)> {
    let [old, new] = [&args.old, &args.new].map(|folder| folder.join(&map.name));
    let alone = |how: &'static str, folder: &Path, job: &mut Job<'_>| {
        let code = job.report(&Alone { how, folder, name: &map.name })?;
        Ok((code, Some(MapRow::new("", how))))
    };
    match (old.exists(), new.exists()) {
        (false, _) => alone("added", &args.new, job),
        (_, false) => alone("removed", &args.old, job),
        _ => Pair { cx, args, old: &old, new: &new, page }.compare(job),
    }
}

/// The most pages about maps of folders; all maps are in the list.
const MOST_PAGES: usize = 1000;

/// The list of maps, and the pages about them in a folder beside it.
struct Pages<'a> {
    path: &'a Path,
    /// The name of the folder.
    folder: String,
    /// The maps that have a page if they differ.
    paged: HashSet<PathBuf>,
    rows: Mutex<Vec<MapRow>>,
    equal: AtomicUsize,
}

impl<'a> Pages<'a> {
    fn new(path: &'a Path, maps: &Maps) -> Result<Self> {
        names::refuse(path)?;
        spare(path, maps.iter().map(|map| &*map.path))?;
        let stem = path.file_stem().with_context(|| format!("{} is no name of a file", shown(path)))?;
        let folder = format!("{}_files", stem.to_str().context("the name of the page is not UTF-8")?);
        let paged = maps.iter().take(MOST_PAGES).map(|map| map.name.clone()).collect();
        Ok(Pages { path, folder, paged, rows: Mutex::default(), equal: AtomicUsize::new(0) })
    }

    /// Compares the maps of one name, writes the page if they differ, and remembers the row.
    fn compare(&self, cx: &Context, args: &Args, map: &MapFile, job: &mut Job<'_>) -> Result<Code> {
        // Two maps may have names that differ only in the extension.
        let mut place = map.name.clone().into_os_string();
        place.push(".html");
        let page = self.path.with_file_name(&self.folder).join(&place);
        let paged = self.paged.contains(&map.name).then_some(page.as_path());
        let name = map.name.to_string_lossy().into_owned();
        let (done, mut row) = match named(cx, args, paged, map, job) {
            Ok((code, None)) => {
                self.equal.fetch_add(1, Ordering::Relaxed);
                return Ok(code);
            }
            Ok((code, Some(row))) => (Ok(code), row),
            Err(error) => {
                let mut row = MapRow::new("", "failed");
                row.what = format!("not compared: {error:#}");
                (Err(error), row)
            }
        };
        let sizes = [&args.old, &args.new].map(|folder| size(&folder.join(&map.name)));
        let address = page.exists().then(|| address(&self.folder, Path::new(&place)));
        let page = paged.and(address).filter(|_| row.how == "changed");
        (row.name, row.sizes, row.page) = (name, sizes, page);
        self.rows.lock().unwrap_or_else(PoisonError::into_inner).push(row);
        done
    }

    fn write(self, folders: [&Path; 2]) -> Result<()> {
        let mut rows = self.rows.into_inner().unwrap_or_else(PoisonError::into_inner);
        rows.sort_unstable();
        let names = folders.map(|folder| folder.to_string_lossy());
        let html = folder([&names[0], &names[1]], &rows, self.equal.into_inner());
        output::replace(self.path, [], |mut file| file.write_all(html.as_bytes()))
    }
}

/// The size of a map in bytes; an unpacked one has none.
fn size(map: &Path) -> Option<usize> {
    let data = std::fs::metadata(map).ok().filter(std::fs::Metadata::is_file)?;
    usize::try_from(data.len()).ok()
}

/// The address of a page, from the list.
fn address(folder: &str, place: &Path) -> String {
    let parts = place.iter().map(|part| encoded(part.as_encoded_bytes()));
    std::iter::once(encoded(folder.as_bytes())).chain(parts).collect::<Vec<_>>().join("/")
}

/// A part of an address: bytes that are not letters, digits or harmless signs have their numbers.
fn encoded(part: &[u8]) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~');
    part.iter()
        .map(|byte| if is_plain(*byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
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
    /// Where a page is written, if the maps differ or are two that were named.
    page: Option<&'a Path>,
}

impl Pair<'_> {
    /// The exit status, and what is on the list of a folder if the maps differ.
    fn compare(&self, job: &mut Job<'_>) -> Result<(Code, Option<MapRow>)> {
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
        let on_page = self.page.map(|_| found(MOST_CHANGES));
        let found = found(most);
        let titles = [old.dialect().title, new.dialect().title];
        let is_partial = only.is_some();
        let difference = Difference { pair: self, found: &found, titles, is_partial };
        if let (Some(path), Some(found)) = (self.page, on_page)
            && (!job.many || !difference.is_same())
        {
            if let Some(folder) = path.parent().filter(|_| job.many) {
                put::folder(folder)?;
            }
            self.write_page(path, [&old, &new], &found)?;
        }
        let row = (!difference.is_same()).then(|| {
            let mut row = MapRow::new("", "changed");
            row.what = summary(difference.found);
            row
        });
        Ok((job.report(&difference)?, row))
    }

    /// Writes the page. It has the names of the maps without their folders, so that it is the same wherever these are.
    fn write_page(&self, path: &Path, maps: [&Bsp<'_>; 2], found: &Comparison) -> Result<()> {
        let sides = [self.old, self.new];
        let named = if is_stdin(self.old) {
            [self.new; 2]
        } else if is_stdin(self.new) {
            [self.old; 2]
        } else {
            sides
        };
        // The page escapes names itself.
        let names = named.map(|map| map.file_name().unwrap_or(map.as_os_str()).to_string_lossy());
        let html = page([&names[0], &names[1]], maps, found);
        output::replace(path, sides, |mut file| file.write_all(html.as_bytes()))
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
                Some(kind) => {
                    only.kinds.push(*kind);
                    // Quake II and Quake III name their textures in records.
                    let named = |map: &Bsp<'_>| {
                        let names = map.role(Role::Textures).or_else(|| map.role(Role::TexInfo))?;
                        Some(names.name.clone())
                    };
                    if *kind == Kind::Textures {
                        only.lumps.extend(maps.into_iter().filter_map(named));
                    }
                }
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
        let is_skipped = || self.found.files.as_ref().is_some_and(|files| !files.skipped.is_empty());
        self.found.is_same() || self.is_partial && self.found.lumps.is_empty() && !is_skipped()
    }
}

#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    old: PathJson,
    #[serde(flatten)]
    difference: DiffJson<'a>,
}

impl Serialize for Difference<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let old = PathJson::new("old", Some(self.pair.old));
        Document { old, difference: DiffJson::new(self.found, self.is_same()) }.serialize(serializer)
    }
}

impl Report for Difference<'_> {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        print(self, job);
        Ok(())
    }

    fn code(&self) -> Code {
        if self.is_same() { Code::Done } else { Code::Found }
    }
}

// A difference as text: the counts, one line for each lump, and the differences of each lump.

/// How many lumps that moved are named.
const NAMED: usize = 5;
/// How many distances of lumps that moved are listed.
const DISTANCES: usize = 10;
/// Longer lines of embedded text are cut off, in characters.
const MOST_OF_LINE: usize = 160;

fn print(difference: &Difference<'_>, job: &mut Job<'_>) {
    let (pair, found) = (difference.pair, difference.found);
    if difference.is_same() {
        if !job.many || job.talk.verbose {
            let (old, new) = (shown(pair.old), shown(pair.new));
            job.say(&match difference.is_partial {
                true => format!("nothing that was compared differs between {old} and {new}"),
                false => format!("{old} and {new} are the same"),
            });
        }
        return;
    }
    let names = format!("{} -> {}", shown(pair.old), shown(pair.new));
    job.line(format!("{}: {}", job.talk.title(&names), summary(difference.found)));
    dialects(difference, job);
    let all: Vec<&LumpChanges> = found.lumps.iter().filter(|lump| has_content(lump)).collect();
    if pair.args.stat {
        stat(&all, job);
    } else {
        let (counted, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|lump| !lump.touched.is_empty());
        counted.iter().for_each(|lump| section(lump, job));
        forms(&others, job);
    }
    places(difference, job);
}

/// Whether a change is that of a place: no program reads the offset of an empty lump.
fn is_place(change: &Change) -> bool {
    match change {
        Change::Place(..) => true,
        Change::Word(word) => word.name == "offset",
        _ => false,
    }
}

/// Whether anything but the place of a lump differs.
fn has_content(lump: &LumpChanges) -> bool {
    lump.more > 0 || lump.changes.iter().any(|change| !is_place(change))
}

/// What differs, in one line.
pub(crate) fn summary(found: &Comparison) -> String {
    let (touched, moved) = (found.touched(), found.moved());
    let mut parts = Vec::new();
    if !touched.is_empty() {
        parts.push(touched.to_string());
    }
    let others = || found.lumps.iter().filter(|lump| lump.touched.is_empty() && has_content(lump));
    let is_part = |lump: &&LumpChanges| matches!(lump.kind, Kind::Header | Kind::Gaps);
    match others().filter(|lump| !is_part(lump)).count() {
        0 => {}
        forms => parts.push(format!("{} in another form", count(forms, "lump", "lumps"))),
    }
    parts.extend(others().filter(is_part).map(form));
    if moved > 0 {
        parts.push(format!("{} moved", count(moved, "lump", "lumps")));
    } else if let empty @ 1.. = empty(found) {
        parts.push(format!("{} of empty lumps", count(empty, "offset", "offsets")));
    }
    if parts.is_empty() {
        parts.push("nothing that can be compared differs".to_owned());
    }
    if let Some(files) = &found.files {
        parts.push(sizes(files.sizes));
    }
    parts.join("; ")
}

/// How many empty lumps have another offset.
fn empty(found: &Comparison) -> usize {
    let words = found.lumps.iter().flat_map(|lump| &lump.changes);
    words.filter(|change| is_place(change) && !matches!(change, Change::Place(..))).count()
}

/// A size before and after.
fn sizes((old, new): (usize, usize)) -> String {
    if old == new { format!("{new} bytes") } else { format!("{old} -> {new} bytes") }
}

/// What could not be compared of maps of two dialects.
fn dialects(difference: &Difference<'_>, job: &mut Job<'_>) {
    let Some(files) = difference.found.files.as_ref().filter(|files| files.dialects.0 != files.dialects.1) else {
        return;
    };
    let [old, new] = difference.titles;
    let skipped: Vec<&str> = files.skipped.iter().map(String::as_str).collect();
    let skipped = if skipped.is_empty() { String::new() } else { format!("; not compared: {}", list(&skipped, job)) };
    job.line(format!("a map of {old} and one of {new}: only lumps of the same form are compared{skipped}"));
}

/// One line for each lump.
fn stat(lumps: &[&LumpChanges], job: &mut Job<'_>) {
    let width = lumps.iter().map(|lump| lump.lump.chars().count()).max().unwrap_or(0);
    let what: Vec<String> = lumps.iter().map(|lump| counts(lump)).collect();
    let counted = what.iter().map(String::len).max().unwrap_or(0);
    for (lump, what) in lumps.iter().zip(what) {
        job.line(format!("  {:width$}  {what:counted$}  {}", lump.lump, sizes(lump.sizes)));
    }
}

/// What differs in a lump, counted.
fn counts(lump: &LumpChanges) -> String {
    let LumpChanges { touched, hows, .. } = lump;
    let kinds = hows.to_string();
    match (touched.is_empty(), kinds.contains(", ") || hows.changed == 0) {
        (true, _) => form(lump),
        (false, true) if !kinds.is_empty() => format!("{touched} ({kinds})"),
        (false, _) => touched.to_string(),
    }
}

/// The changes of a lump that has the same content: of its version, its compression, a word, padding.
fn form(lump: &LumpChanges) -> String {
    let changes = lump.changes.iter().filter(|change| !is_place(change));
    changes.map(|change| line(change, &lump.lump)).collect::<Vec<_>>().join("; ")
}

/// Lumps that have the same content in another form. Those with the same changes are on one line.
fn forms(lumps: &[&LumpChanges], job: &mut Job<'_>) {
    if !lumps.is_empty() {
        job.line("");
    }
    let mut known: Vec<(String, Vec<&str>)> = Vec::new();
    for lump in lumps {
        let form = form(lump);
        match known.iter_mut().find(|(other, _)| *other == form) {
            Some((_, names)) => names.push(&lump.lump),
            None => known.push((form, vec![&lump.lump])),
        }
    }
    for (form, names) in known {
        job.line(format!("{}: {form}", list(&names, job)));
    }
}

/// The first names, and how many more there are.
fn list(names: &[&str], job: &Job<'_>) -> String {
    let most = if job.talk.verbose { names.len() } else { NAMED };
    let named = names.iter().take(most).copied().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(most) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// A change without the name of its lump.
fn line(change: &Change, lump: &str) -> String {
    let line = change.line(lump).to_string();
    line.strip_prefix(lump).and_then(|rest| rest.strip_prefix(": ")).map_or(line.clone(), str::to_owned)
}

/// A text in the color of what is new, or of what is gone.
fn colored(text: String, how: Option<How>, job: &Job<'_>) -> String {
    match how {
        Some(How::Added) => job.talk.verdict(true, &text),
        Some(How::Removed) => job.talk.verdict(false, &text),
        _ => text,
    }
}

/// The differences of a lump.
fn section(lump: &LumpChanges, job: &mut Job<'_>) {
    let LumpChanges { lump: name, changes, more, .. } = lump;
    job.line("");
    job.line(format!("{}: {}, {}", job.talk.title(name), counts(lump), sizes(lump.sizes)));
    for change in changes.iter().filter(|change| !is_place(change)) {
        job.line(format!("  {}", colored(line(change, name), change.how(), job)));
        if let Change::File(file) = change {
            file.text.iter().for_each(|text| lines(text, job));
        }
    }
    if *more > 0 {
        let how = if job.talk.verbose { "" } else { " (-v lists them)" };
        job.line(format!("  … and {more} more{how}"));
    }
}

/// Lines of an embedded file that differ.
fn lines(text: &TextChange, job: &mut Job<'_>) {
    for hunk in &text.hunks {
        job.line(format!("    @@ -{} +{} @@", hunk.at.0 + 1, hunk.at.1 + 1));
        let (old, new) =
            (hunk.old.iter().map(|line| (How::Removed, line)), hunk.new.iter().map(|line| (How::Added, line)));
        for (how, line) in old.chain(new) {
            let mut line = escaped(line).to_string();
            if let Some((end, _)) = line.char_indices().nth(MOST_OF_LINE) {
                line.truncate(end);
                line.push('…');
            }
            let sign = if how == How::Added { '+' } else { '-' };
            let line = colored(format!("{sign}{line}"), Some(how), job);
            job.line(format!("    {line}"));
        }
    }
    if text.more > 0 {
        job.line(format!("    … in all {} added, {} removed", count(text.added, "line", "lines"), text.removed));
    }
}

/// The lumps that moved, by distance.
fn places(difference: &Difference<'_>, job: &mut Job<'_>) {
    let found = difference.found;
    let moved: Vec<(&str, usize, usize)> = found
        .lumps
        .iter()
        .flat_map(|lump| {
            lump.changes.iter().filter_map(|change| match change {
                Change::Place(old, new) => Some((&*lump.lump, *old, *new)),
                _ => None,
            })
        })
        .collect();
    let empty = empty(found);
    if moved.is_empty() && empty == 0 {
        return;
    }
    if !difference.pair.args.stat {
        job.line("");
    }
    let indent = if difference.pair.args.stat { "  " } else { "" };
    let empty = match empty {
        0 => String::new(),
        empty => format!(", {} of empty lumps", count(empty, "offset", "offsets")),
    };
    job.line(format!("{indent}places: {} moved{empty}", count(moved.len(), "lump", "lumps")));
    if difference.pair.args.stat {
        return;
    }
    if job.talk.verbose {
        moved.iter().for_each(|(lump, old, new)| job.line(format!("  {lump} from {old} to {new}")));
        return;
    }
    let mut distances: Vec<(String, Vec<&str>)> = Vec::new();
    for (lump, old, new) in moved {
        let distance = if old < new { format!("+{}", new - old) } else { format!("-{}", old - new) };
        match distances.iter_mut().find(|(known, _)| *known == distance) {
            Some((_, lumps)) => lumps.push(lump),
            None => distances.push((distance, vec![lump])),
        }
    }
    for (distance, lumps) in distances.iter().take(DISTANCES) {
        job.line(format!("  {distance} bytes: {}", list(lumps, job)));
    }
    let rest: usize = distances.iter().skip(DISTANCES).map(|(_, lumps)| lumps.len()).sum();
    if rest > 0 {
        job.line(format!("  … and {rest} more (-v lists them)"));
    }
}
