//! Saves edited maps: the target, the options, and the report.

mod areas;
mod dry;
mod written;

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result};
use bspkit::file::{Saved, SideFile};
use bspkit::finding::{Finding, Severity};
use bspkit::{Draft, Error, ErrorKind, Layout, Plan, SaveOptions};
use bspkit_game::beside;
use bspkit_ops::check::{self, Options, Stale};
use bspkit_ops::checksum;
use bspkit_ops::compare::Comparison;
use bspkit_packed::{Form, archive};
use clap::{Args, ValueEnum};

use super::context::{Context, is_stdin};
use super::maps::{MapFile, Maps, is_folder, real_path};
use super::output::{refuse_archive, spare, would_be_replaced};
use super::talk::{Code, Job, bad_argument, count, shown};
use areas::Areas;
use dry::{DryRun, Summary, Sums};
pub(crate) use written::write_map;
use written::{carry_record, make_folder};

#[derive(Args)]
#[command(next_help_heading = "Saving")]
pub(crate) struct Save {
    /// The file to save to, or for several maps a folder
    ///
    /// A file is replaced completely or not at all; `-` is stdout. A folder gets all maps.
    #[arg(short, long, value_name = "FILE", conflicts_with = "in_place")]
    output: Option<PathBuf>,
    /// Replace the map itself; =patch writes only what changes
    ///
    /// The map becomes a new file, or with =patch what changes is written into the old one.
    #[arg(long, value_name = "HOW", hide_possible_values = true, num_args = 0..=1, require_equals = true,
        default_missing_value = "whole")]
    in_place: Option<InPlace>,
    /// For several maps: save only those that change, without copies of the others
    #[arg(long, hide_short_help = true, requires = "output")]
    only_changed: bool,
    /// Keep the old file, with this suffix added to its name
    #[arg(long, value_name = "SUFFIX", num_args = 0..=1, require_equals = true, default_missing_value = ".bak",
        value_parser = suffix)]
    backup: Option<String>,
    /// Write nothing; print what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print what changes as JSON; of several maps a line each
    #[arg(long)]
    pub(crate) json: bool,
    /// Where to write lumps that grow
    #[arg(long, hide_short_help = true, value_name = "LAYOUT", default_value = "keep")]
    layout: LayoutName,
    /// Save a damaged map, over a read-only file, an edit that loses data
    #[arg(long)]
    pub(crate) force: bool,
    /// Print how the checksums change that servers and clients compare, as -v does; a dry run says whether they change
    #[arg(long, hide_short_help = true)]
    checksum: bool,
    /// Update the checksum in the .aas file of a Quake III map, or in a copy for the saved map, so that bots accept it;
    /// use it only if the edit does not change walkable geometry
    #[arg(long, hide_short_help = true)]
    fix_aas: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum InPlace {
    // Without documents: the help of the option says it in a line.
    Whole,
    Patch,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum LayoutName {
    /// Every lump stays at its offset if possible
    Keep,
    /// Lumps that do not fit go to the end of the file
    Append,
    /// All lumps are written in the order of the compilers, without gaps
    Repack,
}

/// The result of an edit.
pub(crate) enum Edited {
    /// The edit was made.
    Done,
    /// The edit was made, and the sentence is printed when the map is saved. If it is not whole, some named input was
    /// left out, and the exit status is 1.
    With { what: String, is_whole: bool },
    /// The same, and the edit writes the record of the rules that were applied: before the map, when the edit is not
    /// refused, or later by itself.
    Recorded { what: String, first: Option<First> },
    /// As [`Edited::With`], but nothing was to be done. The file is not rewritten in another layout either.
    Same { what: String, is_whole: bool },
    /// Nothing matched; the sentence names what was looked for.
    Nothing(String),
}

impl Edited {
    /// Nothing was to be done, and nothing is said of it.
    pub(crate) fn same() -> Self {
        Edited::Same { what: String::new(), is_whole: true }
    }

    /// An edit, or none if there was nothing to be done.
    pub(crate) fn with(is_same: bool, what: String, is_whole: bool) -> Self {
        if is_same { Edited::Same { what, is_whole } } else { Edited::With { what, is_whole } }
    }
}

/// What is done before a map is written.
pub(crate) type First = Box<dyn FnOnce() -> bspkit::Result<()>>;

/// What a save needs besides the plan.
struct Before {
    first: Option<First>,
    /// Whether the edit writes the record of rules.
    is_recorded: bool,
    /// The compressed map that is replaced, as it was read.
    packed: Option<SideFile>,
}

impl Save {
    /// Whether lumps stay in their places, so that a lump that gets smaller leaves a hole.
    pub(crate) fn keeps_places(&self) -> bool {
        !matches!(self.layout, LayoutName::Repack)
    }

    /// Edits the maps, and saves each map that the edit matched.
    ///
    /// Several maps are edited at once, since most of the time is spent waiting for the disk.
    pub(crate) fn each(
        &self,
        cx: &Context,
        maps: Maps,
        edit: impl Fn(&mut Draft<'static>, &MapFile, &mut Job<'_>) -> Result<Edited> + Sync,
    ) -> Result<Code> {
        self.run(cx, maps, &edit)
    }

    fn in_place(&self) -> bool {
        self.in_place.is_some()
    }

    fn layout(&self) -> Layout {
        if self.in_place == Some(InPlace::Patch) { Layout::Patch } else { self.layout.into() }
    }

    /// Not generic: saving is compiled once, and not once per command.
    fn run(
        &self,
        cx: &Context,
        maps: Maps,
        edit: &(dyn Fn(&mut Draft<'static>, &MapFile, &mut Job<'_>) -> Result<Edited> + Sync),
    ) -> Result<Code> {
        let maps = self.with_targets(maps)?;
        let unmatched = Mutex::new(Vec::new());
        let any_saved = AtomicBool::new(false);
        let summary = (self.dry_run && maps.many && !self.json).then(Arc::<Mutex<Summary>>::default);
        let code = maps.each(cx, |map, job| {
            summary.iter().for_each(|summary| Summary::of(summary).maps += 1);
            // A compressed map that is replaced must be the one that was read.
            let is_packed = self.in_place() && Form::of(&map.path).is_some();
            let packed = is_packed.then(|| SideFile::read(&map.path)).transpose()?;
            let bsp = cx.open_said(&map.path, job)?;
            let cannot_edit = || format!("cannot edit {}", shown(&map.path));
            let mut draft = bsp.draft();
            let (mut first, mut is_recorded) = (None, false);
            let (what, is_whole, layout) = match edit(&mut draft, map, job).with_context(cannot_edit)? {
                Edited::Done => (String::new(), true, self.layout()),
                Edited::With { what, is_whole } => (what, is_whole, self.layout()),
                Edited::Recorded { what, first: before } => {
                    (first, is_recorded) = (before, true);
                    (what, true, self.layout())
                }
                Edited::Same { what, is_whole } => (what, is_whole, Layout::Keep),
                Edited::Nothing(what) => {
                    if job.json {
                        job.document(&dry::nothing(bsp.container().bytes().len(), &what))?;
                    }
                    let copy = map.target.clone().map(|target| (map.path.clone(), target));
                    unmatched.lock().unwrap_or_else(PoisonError::into_inner).extend(copy);
                    summary.iter().for_each(|summary| Summary::keep(summary, job));
                    return Ok(job.nothing(&what));
                }
            };
            let plan = draft.plan(layout).with_context(cannot_edit)?;
            let code = if maps.many && self.only_changed && plan.is_identity() {
                dry::unsaved(&plan, summary.as_ref(), job)?;
                Code::Done
            } else {
                self.save(map, &draft, &plan, Before { first, is_recorded, packed }, summary.as_ref(), job)?
            };
            any_saved.store(true, Ordering::Relaxed);
            if !what.is_empty() {
                job.say(&format!("{}: {what}", job.path));
            }
            Ok(if is_whole { code } else { code.max(Code::Found) })
        })?;
        summary.iter().try_for_each(|summary| Summary::of(summary).print(cx))?;
        if any_saved.into_inner() && code != Code::Stopped {
            self.copy(cx, &unmatched.into_inner().unwrap_or_else(PoisonError::into_inner))?;
        }
        Ok(code)
    }

    /// Copies the maps in which nothing matched, so that the output folder is complete.
    fn copy(&self, cx: &Context, maps: &[(PathBuf, PathBuf)]) -> Result<()> {
        let Some(folder) = self.output.as_deref().filter(|_| !self.only_changed && !self.dry_run) else {
            return Ok(());
        };
        for (map, target) in maps {
            let cannot = || format!("cannot copy {} to {}", shown(map), shown(target));
            make_folder(target).with_context(cannot)?;
            // A map in an archive becomes a file; a compressed one is copied as it is.
            let mut from: Box<dyn Read> = match cx.in_archive(map) {
                Some(bytes) => Box::new(io::Cursor::new(bytes.with_context(cannot)?)),
                None => Box::new(File::open(map).with_context(cannot)?),
            };
            let copy = |mut file: &File| io::copy(&mut from, &mut file).map(drop);
            bspkit::file::replace(target, &self.how(), copy).with_context(cannot)?;
        }
        if !maps.is_empty() && !cx.talk.quiet {
            let maps = count(maps.len(), "map", "maps");
            cx.talk.stderr(format!("{}: {maps} copied unchanged\n", shown(folder)).as_bytes());
        }
        Ok(())
    }

    /// The options for replacing a file.
    fn how(&self) -> SaveOptions {
        self.backup.iter().fold(SaveOptions::default().force(self.force), SaveOptions::backup)
    }

    /// Whether an edit that loses data is allowed.
    pub(crate) fn force(&self) -> bool {
        self.force
    }

    /// The path of `--output`.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    /// Saves a file that is not a map, under the same rules.
    pub(crate) fn bytes(&self, file: &SideFile, old: &[u8], new: &[u8], job: &mut Job<'_>) -> Result<Code> {
        let path = file.path();
        let Some(target) = self.output.as_deref().or_else(|| self.in_place().then_some(path)) else {
            if self.dry_run {
                dry::print_bytes(path, None, [old, new], self.json, None, job)?;
                return Ok(Code::Done);
            }
            return Err(bad_argument("no output given".into(), "use -o FILE, --in-place or --dry-run"));
        };
        if !self.in_place()
            && real_path(target)?.is_some_and(|real| real_path(path).is_ok_and(|path| path == Some(real)))
        {
            let message = format!("{} is the input file: use --in-place to replace it", shown(target));
            return Err(bad_argument(message, ""));
        }
        if self.dry_run {
            dry::print_bytes(path, Some(target), [old, new], self.json, None, job)?;
            return Ok(Code::Done);
        }
        if self.in_place() && old == new {
            return self.tell_bytes(path, target, [old, new], None, job);
        }
        let saved = match self.in_place() {
            true => file.save(new, &self.how()),
            false => bspkit::file::replace(target, &self.how(), |mut file| file.write_all(new)),
        };
        let saved = saved.with_context(|| format!("cannot save {}", shown(target)))?;
        saved.warnings.iter().for_each(|warning| job.warn(&format!("{}: {warning}", shown(target))));
        if self.in_place == Some(InPlace::Patch) {
            job.warn(&format!("{}: the file was written as a whole: it is not a map", shown(target)));
        }
        self.tell_bytes(path, target, [old, new], saved.backup.as_deref(), job)
    }

    /// Reports how a file that is not a map was saved.
    fn tell_bytes(
        &self,
        path: &Path,
        target: &Path,
        [old, new]: [&[u8]; 2],
        backup: Option<&Path>,
        job: &mut Job<'_>,
    ) -> Result<Code> {
        if self.json {
            dry::print_bytes(path, Some(target), [old, new], true, backup, job)?;
        } else if self.in_place() && old == new {
            job.say(&format!("{}: nothing changes, the file is left as it is", shown(target)));
        } else {
            job.say(&format!("{}: {}{}", shown(target), dry::sizes([old, new]), kept(backup)));
        }
        Ok(Code::Done)
    }

    /// Refuses a target that is an input file of the command.
    pub(crate) fn spare(&self, read: &Path) -> Result<()> {
        self.output.as_deref().map_or(Ok(()), |output| spare(output, [read]))
    }

    /// Refuses a target that is in an input folder of the command.
    pub(crate) fn spare_folder(&self, read: &Path) -> Result<()> {
        let real = |path: &Path| real_path(path).ok().flatten();
        let inside =
            |output: &&Path| real(output).zip(real(read)).is_some_and(|(output, read)| output.starts_with(read));
        match self.output.as_deref().filter(inside) {
            Some(output) => Err(would_be_replaced(output)),
            None => Ok(()),
        }
    }

    /// Refuses a target that is another file that the command writes, which need not exist.
    pub(crate) fn spare_new(&self, written: &Path) -> Result<()> {
        let place = |path: &Path| {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            Some((real_path(folder).ok()??, path.file_name()?.to_owned()))
        };
        match self.output.as_deref().filter(|output| place(output).is_some() && place(output) == place(written)) {
            Some(output) => Err(bad_argument(format!("{} would be written twice", shown(output)), "name two files")),
            None => Ok(()),
        }
    }

    /// The maps, each with its target. A target may be an input map only with `--in-place`.
    fn with_targets(&self, maps: Maps) -> Result<Maps> {
        if self.in_place == Some(InPlace::Patch) {
            let other = match self.layout {
                _ if self.backup.is_some() => Some(("--backup", "leave one of the two out")),
                LayoutName::Keep => None,
                LayoutName::Append => Some(("the layout append", "use --layout keep, or --in-place alone")),
                LayoutName::Repack => Some(("the layout repack", "use --layout keep, or --in-place alone")),
            };
            if let Some((other, hint)) = other {
                let message = format!("--in-place=patch writes into the old file, so it cannot be used with {other}");
                return Err(bad_argument(message, hint));
            }
        }
        if self.in_place() {
            maps.iter().try_for_each(|map| self.check_in_place(&map.path))?;
        }
        if let Some(output) = self.output.as_deref().filter(|output| !is_folder(output) && !maps.many) {
            refuse_archive(output)?;
        }
        if !self.has_output() {
            return Err(bad_argument("no output given".into(), "use -o FILE, --in-place or --dry-run"));
        }
        let maps = if self.in_place() { maps.only_once() } else { maps };
        let has_stdin = maps.iter().any(|map| is_stdin(&map.path));
        let many = maps.many;
        match &self.output {
            Some(output) if is_stdin(output) && (many || self.json || self.fix_aas || self.backup.is_some()) => {
                let what = "only a single map can be written to stdout, and nothing else";
                let hint = "name a file with -o, or leave out --json, --backup and --fix-aas";
                return Err(bad_argument(what.into(), hint));
            }
            Some(output) if many => maps.check_folder(output)?,
            Some(output) if has_stdin && is_folder(output) => {
                let what = "stdin has no file name, so it cannot be saved into a folder";
                return Err(bad_argument(what.into(), "name a file with -o"));
            }
            None if self.in_place() && has_stdin => {
                return Err(bad_argument("stdin cannot be replaced".into(), "use -o FILE, or -o - for stdout"));
            }
            _ => {}
        }
        let maps = maps.json(self.json).saving(|map| match &self.output {
            Some(output) if many || is_folder(output) => Some(output.join(&map.name)),
            Some(output) => Some(output.clone()),
            None => self.in_place().then(|| map.path.clone()),
        });
        if self.in_place() {
            return Ok(maps);
        }
        match maps.written_over(maps.iter().filter_map(|map| map.target.clone()))? {
            Some(target) => {
                let message = format!("{} is the input map: use --in-place to replace it", shown(&target));
                let hint = if many { "or name an output folder outside of the folder of maps" } else { "" };
                Err(bad_argument(message, hint))
            }
            None => Ok(maps),
        }
    }

    /// Refuses to replace a map in an archive, or to write into a compressed one.
    fn check_in_place(&self, path: &Path) -> Result<()> {
        if archive::part(path).is_some() {
            let message = format!("{} is in an archive, which is not written", shown(path));
            return Err(bad_argument(message, "name a folder or a file with -o"));
        }
        if self.in_place == Some(InPlace::Patch) && Form::of(path).is_some() {
            let message = format!("{} is compressed, so it cannot be patched", shown(path));
            return Err(bad_argument(message, "use --in-place alone"));
        }
        Ok(())
    }

    /// Saves one map, or prints what would change.
    fn save(
        &self,
        map: &MapFile,
        draft: &Draft<'_>,
        plan: &Plan<'_>,
        Before { first, is_recorded, packed }: Before,
        summary: Option<&Arc<Mutex<Summary>>>,
        job: &mut Job<'_>,
    ) -> Result<Code> {
        let bsp = draft.bsp();
        let findings = if plan.is_identity() { Findings::default() } else { Findings::of(draft, job)? };
        if !self.force && !self.dry_run {
            findings
                .refuse(job)
                .with_context(|| format!("cannot save {}", shown(map.target.as_deref().unwrap_or(&map.path))))?;
        }
        findings.say(job);
        let target = map.target.as_deref();
        let place = target.unwrap_or(&map.path);
        let mut refusals = Vec::new();
        if self.dry_run {
            let needs_force = findings.needs_force() && !self.force;
            refusals.extend(needs_force.then(|| "saving it needs --force".to_owned()));
            refusals.extend(self.refusal(target, plan, job.many));
            refusals.iter().for_each(|refusal| job.warn_only(refusal));
        }
        let is_refused = !refusals.is_empty() || self.dry_run && plan.check_force(self.force).is_err();
        let areas = match self.fix_aas {
            true => Areas::read(&map.path, bsp, plan, place, self.force, job)?,
            false => None,
        };
        areas.iter().try_for_each(|areas| areas.check(&self.how()))?;
        let mut warnings = match plan.is_identity() {
            true => Vec::new(),
            false => self.warn(map, draft, plan, place, areas.is_some(), job),
        };
        warnings.extend(refusals);
        let touched = if plan.is_identity() { Comparison::default() } else { dry::touched(draft, self.dry_run, job)? };
        let (path, findings) = (&*map.path, &findings);
        let changes = if self.dry_run || self.json { plan.changes() } else { Vec::new() };
        let (touched, sums, written, backup) = (&touched, None, None, None);
        let mut done = DryRun { path, target, plan, touched, sums, changes, written, warnings, findings, backup };
        if self.dry_run {
            let are_wanted = self.checksum || job.talk.verbose;
            if self.json || !job.talk.quiet || summary.is_some() {
                done.sums = Some(Sums::new(bsp, plan, are_wanted));
            }
            match summary {
                Some(summary) => done.add_to(summary, are_wanted, job)?,
                None => done.print(job)?,
            }
            areas.iter().for_each(|areas| areas.say("", job));
            return Ok(if is_refused { Code::Found } else { Code::Done });
        }
        let is_left = self.in_place() && plan.is_identity();
        if let Some(first) = first {
            // What a save would refuse is refused before anything is written.
            let cannot_save = || format!("cannot save {}", shown(place));
            plan.check_force(self.force).with_context(cannot_save)?;
            if !is_left && !is_stdin(place) {
                plan.check_target(place, &self.how()).with_context(cannot_save)?;
            }
            first()?;
        }
        // Checksums are computed only on request. After a patch the map has its new bytes.
        if !is_left && (self.checksum || job.talk.verbose) && (self.json || !job.talk.quiet) {
            done.sums = Some(Sums::new(bsp, plan, true));
        }
        let clients = if is_left || self.json { None } else { checksum::clients_need(bsp, plan) };
        let saved =
            if is_left { Saved::default() } else { self.write(plan, place, packed.as_ref(), &mut done.warnings, job)? };
        if !is_recorded && !is_left && !is_stdin(place) {
            done.warnings.extend(carry_record(&map.path, place, job));
        }
        let backup = saved.backup;
        done.backup = backup.as_deref();
        done.written = (plan.layout() == Layout::Patch && !is_left).then_some(saved.written);
        let mut fixed = None;
        if self.json {
            // What the document says of the map counts for the file beside it too.
            fixed = areas.as_ref().map(|areas| areas.save(&self.how(), job));
            if let Some(Err(error)) = &fixed {
                job.extra.insert("error".to_owned(), format!("{error:#}").into());
            }
            done.print(job)?;
        } else if is_left {
            job.say(&format!("{}: nothing changes, the file is left as it is", shown(place)));
        } else {
            let clients = match clients {
                Some(sum) if sum.is_verified => "; clients need the new map",
                Some(_) => "; clients need the new map (unverified)",
                None => "",
            };
            let patched = match (done.written, &saved.whole) {
                (Some(1), None) => "; 1 byte written".to_owned(),
                (Some(written), None) => format!("; {written} bytes written"),
                _ => String::new(),
            };
            job.say(&format!("{}: {}{patched}{clients}{}", shown(place), done.report(), kept(backup.as_deref())));
            done.sums.iter().for_each(|sums| sums.say(place, job));
        }
        let fixed = fixed.or_else(|| areas.map(|areas| areas.save(&self.how(), job)));
        fixed.unwrap_or(Ok(())).map(|()| Code::Done)
    }

    /// Writes a map to its target, which is stdout for `-`; compressed if the name of the target says so.
    fn write(
        &self,
        plan: &Plan<'_>,
        place: &Path,
        packed: Option<&SideFile>,
        warnings: &mut Vec<String>,
        job: &mut Job<'_>,
    ) -> Result<Saved> {
        let cannot_save = || format!("cannot save {}", shown(place));
        if is_stdin(place) {
            plan.check_force(self.force)?;
            job.deliver(&plan.to_data()).with_context(cannot_save)?;
            return Ok(Saved::default());
        }
        if job.many || self.output.as_deref().is_some_and(is_folder) {
            make_folder(place).with_context(cannot_save)?;
        }
        let saved = write_map(plan, place, packed, &self.how(), self.force).with_context(cannot_save)?;
        let whole = saved.whole.iter().map(|why| format!("the file was written as a whole: {why}"));
        let said: Vec<String> = saved.warnings.iter().cloned().chain(whole).collect();
        said.iter().for_each(|warning| job.warn(&format!("{}: {warning}", shown(place))));
        warnings.extend(said);
        Ok(saved)
    }

    /// Why the target of a dry run would be refused. Folders that a save makes need not be there.
    fn refusal(&self, target: Option<&Path>, plan: &Plan<'_>, many: bool) -> Option<String> {
        let makes_folders = many || self.output.as_deref().is_some_and(is_folder);
        let is_there = |place: &&Path| !makes_folders || place.parent().is_none_or(Path::exists);
        let target = target.filter(|place| !is_stdin(place) && is_there(place));
        let is_left = self.in_place() && plan.is_identity();
        let error = plan.check_target(target.filter(|_| !is_left)?, &self.how()).err()?;
        Some(format!("it would not be saved: {error}"))
    }

    /// Prints the warnings about a save, and returns them.
    fn warn(
        &self,
        map: &MapFile,
        draft: &Draft<'_>,
        plan: &Plan<'_>,
        target: &Path,
        is_fixed: bool,
        job: &mut Job<'_>,
    ) -> Vec<String> {
        let mut warnings = plan.report().warnings.clone();
        if let Some(reason) = plan.needs_force().filter(|_| self.dry_run && !self.force) {
            warnings.push(format!("the map is damaged ({reason}); saving needs --force"));
        }
        if let Some(why) = plan.whole().filter(|_| self.dry_run) {
            warnings.push(format!("the file would be written as a whole: {why}"));
        }
        warnings.iter().for_each(|warning| job.warn(&format!("{}: {warning}", shown(target))));
        for file in beside::stale(draft, plan, &map.path, target).iter().filter(|file| !(is_fixed && file.is_areas)) {
            let more = if file.is_areas { ", or use --fix-aas" } else { "" };
            let warning = format!("{file}{more}");
            job.warn(&warning);
            warnings.push(warning);
        }
        warnings
    }
}

/// The part of a report that names the backup.
fn kept(backup: Option<&Path>) -> String {
    backup.map(|path| format!("; the old file is {}", shown(path))).unwrap_or_default()
}

impl From<LayoutName> for Layout {
    fn from(name: LayoutName) -> Self {
        match name {
            LayoutName::Keep => Layout::Keep,
            LayoutName::Append => Layout::Append,
            LayoutName::Repack => Layout::Repack,
        }
    }
}

// Checks an edit before it is saved: new warnings are printed, new errors are refused.

/// The findings that an edit adds.
#[derive(Default)]
pub(crate) struct Findings {
    pub(crate) list: Vec<Finding>,
    /// References by index to records that left their index.
    pub(crate) stale: Vec<Stale>,
}

impl Findings {
    pub(crate) fn of(draft: &Draft<'_>, job: &Job<'_>) -> Result<Self> {
        let options = Options::default().most(job.most());
        Ok(Findings { list: check::introduced(draft, &options)?, stale: check::stale(draft)? })
    }

    /// The findings that are known to be new.
    pub(crate) fn new(list: Vec<Finding>) -> Self {
        Findings { list, stale: Vec::new() }
    }

    fn errors(&self) -> impl Iterator<Item = &Finding> {
        self.list.iter().filter(|finding| finding.is_error())
    }

    /// Whether a save needs --force.
    pub(crate) fn needs_force(&self) -> bool {
        self.errors().next().is_some()
    }

    /// Refuses a save if the edit adds errors. The message lists the first of them.
    pub(crate) fn refuse(&self, job: &Job<'_>) -> Result<()> {
        let errors: usize = self.errors().map(|finding| finding.count).sum();
        if errors == 0 {
            return Ok(());
        }
        let first = || self.errors().filter(|finding| !is_rest(finding)).take(job.most());
        let listed: Vec<String> = first().map(Finding::to_string).collect();
        let rest = errors - first().map(|finding| finding.count).sum::<usize>();
        let more = if rest > 0 { format!("\nand {rest} more; -v lists them") } else { String::new() };
        let message = format!("the edit would add {} to the map", count(errors, "error", "errors"));
        let hint = format!("{}{more}\nuse --force to save it anyway", listed.join("\n"));
        Err(Error::new(ErrorKind::Refused, message).with_hint(hint).into())
    }

    /// Prints the findings that are not refused, notes about lumps only with `--verbose`, and the references that the
    /// edit does not update.
    pub(crate) fn say(&self, job: &mut Job<'_>) {
        let is_said = |finding: &&Finding| {
            let is_note = finding.code.severity == Severity::Note;
            job.talk.verbose || !is_note || finding.code.name.starts_with("entity-")
        };
        for finding in self.list.iter().filter(is_said) {
            job.warn_only(&format!("the edit adds {finding}{}", how_to_list(finding)));
        }
        for stale in &self.stale {
            if job.takes("fields that refer to other records than before") {
                job.warn_only(&stale.to_string());
            }
        }
    }
}

/// Whether a finding counts others of its kind that are not listed.
pub(crate) fn is_rest(finding: &Finding) -> bool {
    finding.message == format!("and {} more", finding.count)
}

/// What is printed after a finding that counts others.
pub(crate) fn how_to_list(finding: &Finding) -> &'static str {
    if is_rest(finding) { "; -v lists them" } else { "" }
}

/// A suffix of backups: the old file is no map for a command that gets the folder, and stays in its folder.
pub(crate) fn suffix(text: &str) -> Result<String, &'static str> {
    match text {
        "" => Err("the suffix is empty"),
        _ if text.contains(['/', '\\']) => Err("a suffix has no slashes"),
        _ if text
            .rsplit('.')
            .next()
            .is_some_and(|end| !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_digit())) =>
        {
            Err("a number at the end is that of a second backup")
        }
        _ if text.to_ascii_lowercase().ends_with(".bsp") => Err("the old file would be a map for the next command"),
        _ => Ok(text.to_owned()),
    }
}
