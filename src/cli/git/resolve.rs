//! `git resolve`: the conflicts of a map at which a merge has stopped, settled one by one.
//!
//! Git keeps the base and both sides in its index as long as the conflict lasts, so that the merge is done again each
//! time. What was settled is kept in the folder of git; nothing lies beside the map.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use bspkit::bytes::Data;
use bspkit::content::select::Selector;
use bspkit::file::SideFile;
use bspkit::op::merge::{Conflict, Merged, Side, Subject, merge_with};
use bspkit::{Bsp, Layout, SaveOptions};

use super::conflicts::{Conflicts, lines};
use super::repository::{self, Blobs, Choices, git, is_pointer, pointer_error, top_level, unmerged};
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::Maps;
use crate::cli::save::bad_argument;
use crate::cli::show::{count, shown};
use crate::cli::talk::{Code, Job};

/// Settle the conflicts of a merge one by one
///
/// Lists the open conflicts of a map at which git has stopped, with the values of the base, of ours and of theirs;
/// the exit status is then 1. With --ours, --theirs or --base the named conflicts get what that map has. Names are
/// those of the list (`#6.light`, `FACES[3].side`, a lump, an embedded file), or entities of the base (`light`) and a
/// key (`light.light`); without a name all open conflicts are meant. A settled conflict can be named again. When the
/// last one is settled, the merged map is written, as a whole or not at all, and `git add` ends the conflict for git.
/// Until then the map stays as git has left it, and what was settled is kept in the folder of git until the merge
/// ends.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit git resolve rooms.bsp
  bspkit git resolve rooms.bsp --ours '#6'
  bspkit git resolve rooms.bsp --base '#7.light'
  bspkit git resolve rooms.bsp --theirs light.light"
))]
pub(crate) struct Args {
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

impl Args {
    fn side(&self) -> Option<Side> {
        let flags = [(self.base, Side::Base), (self.ours, Side::Ours), (self.theirs, Side::Theirs)];
        flags.into_iter().find_map(|(flag, side)| flag.then_some(side))
    }
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
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
        let mut path = OsString::from("--path=");
        path.push(&self.path);
        let bytes = git(&self.top, &["cat-file".into(), "--filters".into(), path, OsString::from(blob)])?;
        let opened = match is_pointer(&bytes) {
            true => Err(pointer_error()),
            false => Bsp::from_data(Data::from(bytes), cx.options.dialect).map_err(Into::into),
        };
        opened.with_context(|| format!("cannot merge {}: {what}", self.name))
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

fn resolve(cx: &Context, args: &Args, job: &mut Job<'_>) -> Result<Code> {
    let stopped = Stopped::find(&args.map)?;
    let maps = [stopped.open(cx, 0)?, stopped.open(cx, 1)?, stopped.open(cx, 2)?];
    let mut choices = stopped.choices()?;
    let which = args.which.as_deref().map(|text| Which::new(text, &maps[0]));
    let which = which.as_ref();
    let mut named = BTreeSet::new();
    let (mut merged, mut settled) = merge_as(&maps, &choices, |conflict, is_settled| {
        // Without a name, what was settled stays.
        if which.map_or(!is_settled, |which| which.has(conflict)) {
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
        named.iter().for_each(|name| drop(choices.sides.insert(name.clone(), side.name().to_owned())));
        (merged, settled) = merge_as(&maps, &choices, |_, _| ())?;
        // Choices are kept first: if the map cannot be written, they are not lost.
        repository::choices(&stopped.top, |all| all.insert(stopped.name.clone(), choices))?;
    }
    if merged.conflicts.is_empty() {
        save(&stopped, &args.map, &maps, &merged)?;
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
fn save(stopped: &Stopped, map: &Path, maps: &[Bsp<'_>; 3], merged: &Merged<'_>) -> Result<()> {
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
        file.save(&new, &SaveOptions::default())?;
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
            let found = entities.as_ref().zip(selector.ok()).map(|(entities, selector)| entities.select(&selector));
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
