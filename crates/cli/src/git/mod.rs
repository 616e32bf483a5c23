//! `git`: maps in repositories of git.

pub(crate) mod repository;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use bspkit::bytes::{Data, escaped, for_terminal};
use bspkit::content::select::Selector;
use bspkit::disk::input;
use bspkit::file::SideFile;
use bspkit::json::ValueJson;
use bspkit::{Bsp, ErrorKind, Layout, SaveOptions};
use bspkit_game::beside;
use bspkit_ops::merge::{Conflict, Merged, Side, Subject, merge, merge_with};
use bspkit_text::outline::{not_a_map, outline};
use serde::Serialize;

use super::context::Context;
use super::talk::{Code, bad_argument};
use super::words::for_shell;
use super::{commands, help};
use crate::context::{Report, is_stdin};
use crate::maps::{Maps, real_path};
use crate::output::{self, unforced};
use crate::save::write_map;
use crate::talk::{Job, count, library_error, shown};
use repository::{Blobs, Choices, git, is_pointer, pointer_error, top_level, unmerged};

/// Compare and merge maps in a repository of git
///
/// `git install` writes what git has to know into a repository. Afterwards `git diff` and `git log -p` show what
/// changed in maps as text, and merges and rebases merge maps: entities by identity, records one by one, embedded files
/// by name, and other lumps from the side that changed them. `git resolve` settles conflicts one by one.
#[derive(clap::Args)]
#[command(disable_help_subcommand = true, after_help = help!(
    "  bspkit git install
  bspkit git install --write
  bspkit git textconv dm4.bsp
  bspkit git merge base.bsp ours.bsp theirs.bsp -o merged.bsp"
))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: crate::words::Called<Command>,
}

commands! {
    Textconv(TextconvArgs, run_textconv),
    Merge(MergeArgs, run_merge),
    Resolve(ResolveArgs, run_resolve),
    Install(repository::InstallArgs, repository::run_install),
    Uninstall(repository::UninstallArgs, repository::run_uninstall),
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.command.0.run(cx)
}

// `git textconv`: a map as text for `git diff`.

/// Print a map as text that git can compare
///
/// Prints the dialect, each lump with its number of records and a hash of its content, the embedded files, and the text
/// of the entities. There are no offsets in it, so that a map whose lumps only moved has the same text. A file that is
/// not a map gives one line that says what it is and exit status 0, since `git diff` stops if this command fails.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit git textconv dm4.bsp
  git diff --textconv -- maps"
))]
pub(crate) struct TextconvArgs {
    /// The map, a file
    #[arg(value_name = "MAP")]
    map: PathBuf,
}

fn run_textconv(cx: &Context, args: &TextconvArgs) -> Result<Code> {
    Maps::file(&args.map).each(cx, |map, job| {
        match cx.open(&map.path) {
            // Pagers pass on what a map could tell a terminal.
            Ok(bsp) => drop(job.write(for_terminal(&outline(&bsp)).as_bytes())?),
            Err(error) => match library_error(&error).filter(|own| own.kind() != ErrorKind::Io) {
                Some(own) => {
                    let file = File::open(&map.path).and_then(|file| not_a_map(file, own));
                    let line = file.map_err(|error| input::cannot_read(&map.path, error))?;
                    job.write(line.as_bytes())?;
                }
                None => return Err(error),
            },
        }
        Ok(Code::Done)
    })
}

// `git merge`: merges two edits of the same map.

/// Merge two edits of the same map
///
/// Entities are merged by identity and key, records one by one, embedded files by name, and every other lump is taken
/// from the side that changed it. Where one side removes, adds or moves records, the numbers of the other side follow.
/// What both sides changed is a conflict, and so are lumps that do not fit together. Then OURS stays as it
/// is, the conflicts are listed with the values of all three maps, the first ten of them, and the exit status is 1;
/// `git resolve` settles them. Maps of different dialects are not merged.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit git merge base.bsp ours.bsp theirs.bsp -o merged.bsp
  bspkit git merge base.bsp ours.bsp theirs.bsp"
))]
pub(crate) struct MergeArgs {
    /// The map that both sides were made from
    #[arg(value_name = "BASE")]
    base: PathBuf,
    /// Our map; it becomes the merged one, except with -o
    #[arg(value_name = "OURS")]
    ours: PathBuf,
    /// Their map
    #[arg(value_name = "THEIRS")]
    theirs: PathBuf,
    /// The file for the merged map [default: OURS]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The name of the map in messages, for git, which merges temporary files [default: the file for the merged map]
    #[arg(long, value_name = "PATH")]
    path: Option<PathBuf>,
}

fn run_merge(cx: &Context, args: &MergeArgs) -> Result<Code> {
    let target = args.output.as_ref().unwrap_or(&args.ours);
    let name = args.path.as_ref().unwrap_or(target);
    if let Some(output) = &args.output {
        let real = real_path(output)?;
        if [&args.base, &args.theirs]
            .into_iter()
            .any(|input| real.is_some() && real_path(input).ok() == Some(real.clone()))
        {
            bail!("{} is an input map: name another file", shown(output));
        }
    }
    // The driver gets files as git keeps them, which are pointers where Git LFS keeps the maps.
    let mut is_filtered = false;
    let mut open = |path: &Path, what: &str| {
        let opened = match (repository::pointer(path), &args.path) {
            (Some(pointer), Some(name)) => {
                is_filtered = true;
                let bytes = repository::map_of(Path::new("."), name, &pointer);
                bytes.and_then(|bytes| Ok(Bsp::from_data(Data::from(bytes), cx.options.dialect)?))
            }
            (Some(_), None) => Err(pointer_error()),
            _ => cx.open(path),
        };
        let map = opened.with_context(|| format!("cannot merge {}: {what}", shown(name)))?;
        whole(map, &shown(name).to_string(), what)
    };
    // git gives an empty file for the base of a map that both sides have added.
    if std::fs::metadata(&args.base).is_ok_and(|base| base.len() == 0) {
        let message = format!("cannot merge {}: both sides added it, and there is no base", shown(name));
        return Err(bad_argument(message, "keep one of them: git checkout --ours, or --theirs"));
    }
    let (base, ours, theirs) =
        (open(&args.base, "the base")?, open(&args.ours, "ours")?, open(&args.theirs, "theirs")?);
    let merged = merge(&base, &ours, &theirs).with_context(|| format!("cannot merge {}", shown(name)))?;
    Maps::file(name).each(cx, |_, job| {
        if merged.conflicts.is_empty() {
            if is_stdin(target) {
                job.write(&merged.draft.plan(Layout::Keep)?.to_data())?;
                job.say(&summary(&merged));
                return Ok(Code::Done);
            }
            save_merge(&merged, target, args.path.as_deref().filter(|_| is_filtered))?;
            warn(&merged, name, job)?;
            job.say(&format!("{}: {}", shown(name), summary(&merged)));
            return Ok(Code::Done);
        }
        report(&merged, name, job);
        match &args.path {
            // Choices of an earlier merge of the same maps do not count in this one.
            Some(path) => {
                repository::forget_choices(path)?;
                let (name, word) = (shown(name), for_shell(name.as_os_str()));
                job.say(&format!("{name} stays ours; settle the conflicts with: bspkit git resolve {word}"));
            }
            None if args.output.is_some() => job.say(&format!("{} is not written", shown(target))),
            None => job.say(&format!("{} stays as it is", shown(target))),
        }
        Ok(Code::Found)
    })
}

/// Refuses a map of a merge that has not all of its bytes: what is missing would be a change of that side.
fn whole<'a>(map: Bsp<'a>, name: &str, what: &str) -> Result<Bsp<'a>> {
    let damaged: Vec<String> = map.container().damaged().map(|slot| format!("{} {}", slot.name, slot.bounds)).collect();
    let Some((first, others)) = damaged.split_first() else { return Ok(map) };
    let more = match others.len() {
        0 => String::new(),
        more => format!(", and {} damaged too", count(more, "other lump is", "other lumps are")),
    };
    let message = format!("cannot merge {name}: {what} is damaged: {first}{more}");
    Err(bad_argument(message, "bspkit check says what is missing; get that map again, or take one of the others"))
}

/// Writes the merged map; with a path, as git keeps it.
fn save_merge(merged: &Merged<'_>, target: &Path, path: Option<&Path>) -> Result<()> {
    let plan = merged.draft.plan(Layout::Keep)?;
    match path {
        Some(path) => {
            let kept = repository::kept(Path::new("."), path, &plan.to_vec())?;
            output::replace(target, [], |mut file| file.write_all(&kept))?;
        }
        None => drop(write_map(&plan, target, None, &SaveOptions::default(), false).map_err(unforced)?),
    }
    Ok(())
}

/// Says what may be wrong, and names the files beside the map that do not fit it any more, now that it has the other
/// side's edits.
fn warn(merged: &Merged<'_>, map: &Path, job: &mut Job<'_>) -> Result<()> {
    merged.doubts.iter().for_each(|doubt| job.warn(doubt));
    let plan = merged.draft.plan(Layout::Keep)?;
    beside::stale(&merged.draft, &plan, map, map).iter().for_each(|file| job.warn(&file.to_string()));
    Ok(())
}

/// How many conflicts are listed.
const MERGE_SHOWN: usize = 10;

/// Lists the conflicts on stderr: stdout may be that of a command of git whose output is data.
fn report(merged: &Merged<'_>, name: &Path, job: &mut Job<'_>) {
    let conflicts = count(merged.conflicts.len(), "conflict", "conflicts");
    job.say(&format!("{}: {conflicts}", shown(name)));
    for conflict in merged.conflicts.iter().take(MERGE_SHOWN) {
        lines(conflict).iter().for_each(|line| job.say(line));
    }
    if let Some(more) = merged.conflicts.len().checked_sub(MERGE_SHOWN).filter(|more| *more > 0) {
        job.say(&format!("  and {more} more"));
    }
}

fn summary(merged: &Merged<'_>) -> String {
    let list = |names: &[String], of: &str| (!names.is_empty()).then(|| format!("{} {of}", names.join(", ")));
    let outside = merged.outside_is_theirs.then(|| "what is outside of all lumps is theirs".to_owned());
    let parts = [list(&merged.theirs, "of theirs"), list(&merged.both, "of both sides"), outside];
    match parts.into_iter().flatten().collect::<Vec<_>>() {
        parts if parts.is_empty() => "merged: nothing of theirs is new".to_owned(),
        parts => format!("merged: {}", parts.join(", ")),
    }
}

// Conflicts of a merge, as text and as JSON.

/// The most bytes of a value that are printed as text.
const CONFLICTS_SHOWN: usize = 200;

/// A conflict with its name and the values of all three maps.
pub(crate) fn lines(conflict: &Conflict) -> Vec<String> {
    let name = conflict.name();
    let mut lines = vec![match name.is_empty() {
        true => format!("  {conflict}"),
        false => format!("  {name}: {conflict}"),
    }];
    for (side, value) in Side::ALL.iter().zip(conflict.values.iter().flatten()) {
        let text = match value {
            Some(value) if value.len() > CONFLICTS_SHOWN => format!("{}...", escaped(&value[..CONFLICTS_SHOWN])),
            Some(value) => escaped(value).to_string(),
            None => "(not there)".to_owned(),
        };
        lines.push(format!("    {:<8}{text}", side.name()));
    }
    lines
}

#[derive(Serialize)]
struct Values<'c> {
    base: Option<ValueJson<'c>>,
    ours: Option<ValueJson<'c>>,
    theirs: Option<ValueJson<'c>>,
}

#[derive(Serialize)]
struct One<'c> {
    name: String,
    message: String,
    can_settle: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Values<'c>>,
}

impl<'c> One<'c> {
    fn of(conflict: &'c Conflict) -> Self {
        let value = |value: &'c Option<Vec<u8>>| value.as_deref().map(ValueJson);
        let values = conflict.values.as_ref();
        let values =
            values.map(|[base, ours, theirs]| Values { base: value(base), ours: value(ours), theirs: value(theirs) });
        let (name, message) = (conflict.name(), conflict.to_string());
        One { name, message, can_settle: conflict.can_settle, values }
    }
}

/// The conflicts that are left, and how many are settled.
#[derive(Serialize)]
struct Conflicts<'c> {
    conflicts: Vec<One<'c>>,
    settled: usize,
    #[serde(skip)]
    all: &'c [Conflict],
}

impl<'c> Conflicts<'c> {
    fn new(all: &'c [Conflict], settled: usize) -> Self {
        Conflicts { conflicts: all.iter().map(One::of).collect(), settled, all }
    }
}

impl Report for Conflicts<'_> {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        let conflicts = count(self.all.len(), "conflict", "conflicts");
        job.line(format!("{}: {conflicts}, {} settled", job.path, self.settled));
        self.all.iter().flat_map(lines).for_each(|line| job.line(line));
        Ok(())
    }

    fn code(&self) -> Code {
        if self.all.is_empty() { Code::Done } else { Code::Found }
    }
}

// `git resolve`: the conflicts of a map at which a merge has stopped, settled one by one.
//
// Git keeps the base and both sides in its index as long as the conflict lasts, so that the merge is done again each
// time. What was settled is kept in the folder of git; nothing lies beside the map.

/// Settle the conflicts of a merge one by one
///
/// Lists the open conflicts of a map at which git has stopped, with the values of the base, of ours and of theirs;
/// the exit status is then 1. With --ours, --theirs or --base the named conflicts get what that map has. Names are
/// those of the list (`#6.light`, `FACES[3].side`, a lump, an embedded file), or entities of the base (`light`) and a
/// key (`light.light`); without a name all open conflicts are meant. A name that several entities have is refused with
/// their numbers. An entity or a file that both sides add is not in the base, and --base is refused. A settled conflict
/// can be named again. When the last one is settled, the merged map is written, as a whole or not at all, and `git add`
/// ends the conflict for git. Until then the map stays as git has left it, and what was settled is kept in the folder
/// of git until the merge ends.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit git resolve rooms.bsp
  bspkit git resolve rooms.bsp --ours '#6'
  bspkit git resolve rooms.bsp --base '#7.light'
  bspkit git resolve rooms.bsp --theirs"
))]
pub(crate) struct ResolveArgs {
    /// The map
    #[arg(value_name = "MAP")]
    map: PathBuf,
    /// Take what our map has
    #[arg(long, group = "chosen")]
    ours: bool,
    /// Take what their map has
    #[arg(long, group = "chosen")]
    theirs: bool,
    /// Take what the base has: neither change
    #[arg(long, group = "chosen")]
    base: bool,
    /// Which conflicts
    #[arg(value_name = "SEL[.KEY]")]
    which: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl ResolveArgs {
    fn side(&self) -> Option<Side> {
        let flags = [(self.base, Side::Base), (self.ours, Side::Ours), (self.theirs, Side::Theirs)];
        flags.into_iter().find_map(|(flag, side)| flag.then_some(side))
    }
}

fn run_resolve(cx: &Context, args: &ResolveArgs) -> Result<Code> {
    Maps::file(&args.map).json(args.json).each(cx, |_, job| resolve(cx, args, job))
}

/// A map at which a merge has stopped.
struct Stopped {
    top: PathBuf,
    /// Its path below the top folder, and the same as text.
    path: PathBuf,
    name: String,
    blobs: Blobs,
}

impl Stopped {
    fn find(map: &Path) -> Result<Self> {
        let folder = folder_of(map);
        let top = top_level(folder)?;
        let mut found = match map.file_name() {
            Some(name) => unmerged(folder, Some(name))?,
            None => Default::default(),
        };
        match found.pop_first() {
            Some((path, blobs)) if path.file_name() == map.file_name() => {
                Ok(Stopped { name: shown(&path), top, path, blobs })
            }
            _ => {
                let message = format!("{} has no conflict of a merge", shown(map));
                Err(bad_argument(message, "git status lists the files with conflicts"))
            }
        }
    }

    /// One of the three maps, as git would write it into the working folder.
    fn open(&self, cx: &Context, side: usize) -> Result<Bsp<'static>> {
        let what = ["the base", "ours", "theirs"][side];
        let Some(blob) = &self.blobs[side] else {
            let message = format!("cannot merge {}: {what} has no such map", self.name);
            return Err(bad_argument(message, "keep one of the others: git checkout --ours, or --theirs; or git rm"));
        };
        let bytes = repository::checked_out(&self.top, &self.path, blob);
        let opened = bytes.and_then(|bytes| Ok(Bsp::from_data(Data::from(bytes), cx.options.dialect)?));
        let map = opened.with_context(|| format!("cannot merge {}: {what}", self.name))?;
        whole(map, &self.name, what)
    }

    /// What was settled in this merge. What belongs to no merge any more is forgotten.
    fn choices(&self) -> Result<Choices> {
        let open = unmerged(&self.top, None)?;
        let open =
            |name: &str, known: &Choices| open.iter().any(|(path, blobs)| shown(path) == name && known.is_of(blobs));
        repository::choices(&self.top, |all| {
            all.retain(|name, known| open(name, known));
            all.get(&self.name).cloned().unwrap_or_else(|| Choices::of(&self.blobs))
        })
    }
}

fn folder_of(map: &Path) -> &Path {
    map.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn resolve(cx: &Context, args: &ResolveArgs, job: &mut Job<'_>) -> Result<Code> {
    let stopped = Stopped::find(&args.map)?;
    let maps = [stopped.open(cx, 0)?, stopped.open(cx, 1)?, stopped.open(cx, 2)?];
    let mut choices = stopped.choices()?;
    let which = args.which.as_deref().map(|text| Which::new(text, &maps[0]));
    let which = which.as_ref();
    let (mut named, mut entities, mut without_base) = (BTreeSet::new(), BTreeMap::new(), None);
    let (mut merged, mut settled) = merge_as(&maps, &choices, |conflict, is_settled| {
        // Without a name, what was settled stays.
        if which.map_or(!is_settled, |which| which.has(conflict)) {
            if let Subject::Entity(index, _) = conflict.subject {
                entities.entry(index).or_insert_with(|| conflict.name());
            }
            if conflict.is_addition() {
                without_base = without_base.take().or(Some(conflict.name()));
            }
            named.insert(conflict.name());
        }
    })?;
    if let Some(which) = which.filter(|which| named.is_empty() && !merged.conflicts.iter().any(|one| which.has(one))) {
        let message = format!("{} has no conflict {}", job.path, which.text);
        return Err(bad_argument(message, "bspkit git resolve MAP lists them"));
    }
    if let Some(side) = args.side() {
        if which.is_some() && named.is_empty() {
            let message = format!(
                "{}: a conflict such as {} cannot be settled alone",
                job.path,
                args.which.as_deref().unwrap_or_default()
            );
            return Err(bad_argument(message, WHOLE));
        }
        if let Some(text) = args.which.as_deref().filter(|_| entities.len() > 1) {
            let all: Vec<&str> = entities.values().map(|name| &name[..]).collect();
            let message = format!("{}: {text} means several entities: {}", job.path, listed(&all));
            return Err(bad_argument(message, "name one of them by its number"));
        }
        if let Some(name) = without_base.filter(|_| side == Side::Base) {
            let message = format!("{}: {name} is not in the base: both sides add it", job.path);
            return Err(bad_argument(message, "take one of them: --ours, or --theirs"));
        }
        named.iter().for_each(|name| drop(choices.sides.insert(name.clone(), side.name().to_owned())));
        (merged, settled) = merge_as(&maps, &choices, |_, _| ())?;
        // Choices are kept first: if the map cannot be written, they are not lost.
        repository::choices(&stopped.top, |all| all.insert(stopped.name.clone(), choices))?;
    }
    if merged.conflicts.is_empty() {
        save_resolve(&stopped, &args.map, &maps, &merged)?;
        warn(&merged, &args.map, job)?;
        if args.json {
            return job.report(&Conflicts::new(&[], settled));
        }
        job.say(&format!(
            "{}: merged, {} settled, and added to git",
            job.path,
            count(settled, "conflict", "conflicts")
        ));
        return Ok(Code::Done);
    }
    if args.side().is_none() || args.json {
        let is_meant = |conflict: &&Conflict| which.is_none_or(|which| which.has(conflict));
        let left: Vec<Conflict> = merged.conflicts.iter().filter(is_meant).cloned().collect();
        return job.report(&Conflicts::new(&left, settled));
    }
    let left = merged.conflicts.len();
    job.say(&format!("{}: {settled} settled, {}", job.path, count(left, "conflict is left", "conflicts are left")));
    if merged.conflicts.iter().any(|conflict| conflict.can_settle) {
        return Ok(Code::Done);
    }
    merged.conflicts.iter().flat_map(lines).for_each(|line| job.say(&line));
    job.say(&format!("  none of these can be settled alone: {WHOLE}"));
    Ok(Code::Found)
}

/// The most entities that an error lists.
const ENTITIES_LISTED: usize = 20;

/// Names as a list, the first ones of many.
fn listed(all: &[&str]) -> String {
    match all.len().checked_sub(ENTITIES_LISTED).filter(|more| *more > 0) {
        Some(more) => format!("{} and {more} more", all[..ENTITIES_LISTED].join(", ")),
        None => all.join(", "),
    }
}

const WHOLE: &str = "settle what it hangs on another way, or take a whole map: git checkout --ours, or --theirs";

impl Choices {
    fn side(&self, conflict: &Conflict) -> Option<Side> {
        let name = self.sides.get(&conflict.name())?;
        Side::ALL.into_iter().find(|side| side.name() == name)
    }
}

/// The merge with these choices, and how many conflicts they settle. Each conflict that can be settled is seen, and
/// whether it is.
fn merge_as<'a>(
    maps: &[Bsp<'a>; 3],
    choices: &Choices,
    mut see: impl FnMut(&Conflict, bool),
) -> Result<(Merged<'a>, usize)> {
    let mut settled = 0;
    let merged = merge_with(&maps[0], &maps[1], &maps[2], &mut |conflict| {
        let side = choices.side(conflict);
        settled += usize::from(side.is_some());
        see(conflict, side.is_some());
        side
    })?;
    Ok((merged, settled))
}

/// Writes the merged map and ends the conflict for git.
fn save_resolve(stopped: &Stopped, map: &Path, maps: &[Bsp<'_>; 3], merged: &Merged<'_>) -> Result<()> {
    let new = merged.draft.plan(Layout::Keep)?.to_vec();
    let file = SideFile::read(map)?;
    let is_known = |bytes: &[u8]| {
        is_pointer(bytes) || bytes == new || maps.iter().any(|map| map.container().bytes()[..] == *bytes)
    };
    if !file.bytes().is_none_or(is_known) {
        let message = format!("{} was changed after the merge had stopped", shown(map));
        let hint = "git add takes it as it is; git checkout --ours brings our map back, which can be replaced";
        return Err(bad_argument(message, hint));
    }
    if file.bytes() != Some(&new[..]) {
        file.save(&new, &SaveOptions::default()).map_err(unforced)?;
    }
    let arguments = ["--literal-pathspecs", "add", "--"].map(OsString::from);
    let arguments: Vec<OsString> = arguments.into_iter().chain([stopped.path.clone().into()]).collect();
    git(&stopped.top, &arguments).with_context(|| format!("{} is written, and is not added to git", shown(map)))?;
    repository::choices(&stopped.top, |all| drop(all.remove(&stopped.name)))
}

/// The conflicts that an argument names.
struct Which<'t> {
    text: &'t str,
    /// The entities of the base that it selects.
    entities: BTreeSet<usize>,
    /// The same of the part before the last dot, and the key after it.
    key: Option<(BTreeSet<usize>, &'t str)>,
}

impl<'t> Which<'t> {
    fn new(text: &'t str, base: &Bsp<'_>) -> Self {
        let entities = base.entities().ok();
        let select = |text: &str| -> BTreeSet<usize> {
            let selector: bspkit::Result<Selector> = text.parse();
            let found = entities.as_ref().zip(selector.ok()).map(|(entities, selector)| entities.matching(&selector));
            found.unwrap_or_default().into_iter().collect()
        };
        let key = text.rsplit_once('.').map(|(text, key)| (select(text), key));
        Which { text, entities: select(text), key }
    }

    fn has(&self, conflict: &Conflict) -> bool {
        if conflict.name().eq_ignore_ascii_case(self.text) {
            return true;
        }
        match (&conflict.subject, &self.key) {
            (Subject::Entity(index, _), _) if self.entities.contains(index) => true,
            (Subject::Entity(index, Some(own)), Some((entities, key))) => {
                entities.contains(index) && own.eq_ignore_ascii_case(key.as_bytes())
            }
            (Subject::File(name), _) => name == self.text.as_bytes(),
            _ => false,
        }
    }
}
