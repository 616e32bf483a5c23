//! Saving what was edited: where to, how, and what is said about it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, Error, Result};
use bspkit::{Bsp, Draft, ErrorKind, Layout, Plan, SaveOptions};
use clap::{Args, ValueEnum};

use super::context::Context;
use super::maps::{MapFile, Maps, real_path};
use super::show::shown;
use super::talk::{Code, Job};
use aas::Areas;
use dry::DryRun;
use sums::Sums;

mod aas;
mod dry;
mod sums;

#[derive(Args)]
#[command(next_help_heading = "Saving")]
pub(crate) struct Save {
    /// Where to save; replaced as a whole or not at all. A folder where MAP is one
    #[arg(short, long, value_name = "FILE", conflicts_with = "in_place")]
    output: Option<PathBuf>,
    /// Replace the map itself
    #[arg(long)]
    in_place: bool,
    /// Keep the file that is replaced, under its name with this suffix
    #[arg(long, value_name = "SUFFIX", num_args = 0..=1, require_equals = true, default_missing_value = ".bak")]
    backup: Option<String>,
    /// Write nothing; print what would change
    #[arg(long)]
    dry_run: bool,
    /// Print what changes as JSON; a line for each map of a folder
    #[arg(long)]
    json: bool,
    /// How to place what grows
    #[arg(long, value_name = "LAYOUT", default_value = "keep")]
    layout: LayoutName,
    /// Save an edit of a damaged map; replace a read-only file; do what loses something
    #[arg(long)]
    pub(crate) force: bool,
    /// Say what becomes of the sums that servers and clients compare, as -v and --dry-run do
    #[arg(long)]
    checksum: bool,
    /// Patch the checksum in the .aas file beside a Quake III map, or in a copy for the saved one, so that bots take it; for
    /// edits that change nothing they walk on
    #[arg(long)]
    fix_aas: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum LayoutName {
    /// Everything stays where it is as far as possible
    Keep,
    /// What does not fit goes to the end of the file
    Append,
    /// The compilers' order, without gaps
    Repack,
}

/// What an edit did.
pub(crate) enum Edited {
    /// What it was asked to.
    Done,
    /// That, and the sentence is said when it is saved. Where something was named and left alone, that is a finding.
    Told { what: String, is_whole: bool },
    /// Nothing, as everything is as it should be: nothing is laid again either.
    Same,
    /// Nothing, as nothing fits: the sentence says what was looked for.
    Nothing(String),
}

fn bad_argument(message: String, hint: &str) -> Error {
    let error = bspkit::Error::new(ErrorKind::Argument, message);
    if hint.is_empty() { error.into() } else { error.hint(hint).into() }
}

impl Save {
    /// Edits a map, or every map of a folder, and saves each that something was done to.
    ///
    /// Of a folder several are edited at once: most of a save is waiting for the disk.
    pub(crate) fn each(
        &self,
        cx: &Context,
        maps: Maps,
        edit: impl Fn(&mut Draft<'static>, &MapFile, &mut Job<'_>) -> Result<Edited> + Sync,
    ) -> Result<Code> {
        if self.output.is_none() && !self.in_place && !self.dry_run {
            return Err(bad_argument("there is no place to save to".into(), "say -o FILE, --in-place or --dry-run"));
        }
        let maps = if self.in_place { maps.only_once() } else { maps };
        let maps = maps.saving().json(self.json);
        self.check_targets(&maps)?;
        let many = maps.many;
        let (any_matched, any_left) = (AtomicBool::new(false), AtomicBool::new(false));
        let tally = maps.run(cx, |map, job| {
            let bsp = cx.open(&map.path)?;
            let target = self.target(map, many);
            let cannot_edit = || format!("cannot edit {}", shown(&map.path));
            let mut draft = bsp.draft();
            let mut said = None;
            let layout = match edit(&mut draft, map, job).with_context(cannot_edit)? {
                Edited::Done => self.layout.into(),
                Edited::Told { what, is_whole } => {
                    any_left.fetch_or(!is_whole, Ordering::Relaxed);
                    said = Some((what, is_whole));
                    self.layout.into()
                }
                Edited::Same => Layout::Keep,
                Edited::Nothing(what) => {
                    if self.json && many {
                        dry::print_nothing(&map.path, bsp.container().bytes().len(), &what, job)?;
                    }
                    return Ok(job.nothing(&what));
                }
            };
            any_matched.store(true, Ordering::Relaxed);
            let plan = draft.plan(layout).with_context(cannot_edit)?;
            let code = self.save(map, &bsp, &plan, target.as_deref(), many, job)?;
            let Some((what, is_whole)) = said else { return Ok(code) };
            if !what.is_empty() {
                job.say(&format!("{}: {what}", job.path));
            }
            Ok(if is_whole { code } else { code.max(Code::Found) })
        })?;
        // Of a folder some maps may have nothing that matches; that is a finding only where none has.
        let is_found = tally.has_failed() || any_left.into_inner() || !any_matched.into_inner();
        let code = maps.code(&tally);
        Ok(if code == Code::Found && !is_found { Code::Done } else { code })
    }

    /// How a file is replaced.
    fn how(&self) -> SaveOptions {
        self.backup.iter().fold(SaveOptions::default().force(self.force), SaveOptions::backup)
    }

    /// Where a single file is to be saved, if not in its own place.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    /// Saves a file that is no map, under the same rules.
    pub(crate) fn bytes(&self, path: &Path, old: &[u8], new: &[u8], job: &mut Job<'_>) -> Result<Code> {
        let Some(target) = self.output.as_deref().or_else(|| self.in_place.then_some(path)) else {
            if self.dry_run {
                dry::print_bytes(path, None, [old, new], self.json, None, job)?;
                return Ok(Code::Done);
            }
            return Err(bad_argument("there is no place to save to".into(), "say -o FILE, --in-place or --dry-run"));
        };
        if !self.in_place && real_path(target)?.is_some_and(|real| real_path(path).is_ok_and(|path| path == Some(real)))
        {
            let message = format!("{} is the file that is edited: say --in-place to replace it", shown(target));
            return Err(bad_argument(message, ""));
        }
        if self.dry_run {
            dry::print_bytes(path, Some(target), [old, new], self.json, None, job)?;
            return Ok(Code::Done);
        }
        if self.in_place && old == new {
            return self.tell_bytes(path, target, [old, new], None, job);
        }
        let saved = bspkit::file::replace(target, &self.how(), |mut file| file.write_all(new))
            .with_context(|| format!("cannot save {}", shown(target)))?;
        saved.warnings.iter().for_each(|warning| job.warn(&format!("{}: {warning}", shown(target))));
        self.tell_bytes(path, target, [old, new], saved.backup.as_deref(), job)
    }

    /// Tells what became of a file that is no map.
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
        } else if self.in_place && old == new {
            job.say(&format!("{}: nothing changes, the file is left as it is", shown(target)));
        } else {
            job.say(&format!("{}: {}{}", shown(target), dry::sizes([old, new]), kept(backup)));
        }
        Ok(Code::Done)
    }

    /// Refuses a target that is another file which the command reads.
    pub(crate) fn spare(&self, read: &Path) -> Result<()> {
        let real = |path: &Path| real_path(path).ok().flatten();
        match self.output.as_deref().filter(|output| real(output).is_some() && real(output) == real(read)) {
            Some(output) => Err(bad_argument(format!("{} is read and would be replaced", shown(output)), "")),
            None => Ok(()),
        }
    }

    /// Where a map goes.
    fn target(&self, map: &MapFile, many: bool) -> Option<PathBuf> {
        match &self.output {
            Some(output) if many || output.is_dir() => Some(output.join(&map.name)),
            Some(output) => Some(output.clone()),
            None => self.in_place.then(|| map.path.clone()),
        }
    }

    /// No target may be a map that is read, unless that was asked for.
    fn check_targets(&self, maps: &Maps) -> Result<()> {
        let Some(output) = &self.output else { return Ok(()) };
        if maps.many && output.exists() && !output.is_dir() {
            return Err(bad_argument(format!("{} is no folder, where several maps go", shown(output)), ""));
        }
        match maps.written_over(maps.iter().filter_map(|map| self.target(map, maps.many)))? {
            Some(target) => {
                let message = format!("{} is the map that is edited: say --in-place to replace it", shown(&target));
                Err(bad_argument(message, ""))
            }
            None => Ok(()),
        }
    }

    fn save(
        &self,
        map: &MapFile,
        bsp: &Bsp<'_>,
        plan: &Plan<'_>,
        target: Option<&Path>,
        many: bool,
        job: &mut Job<'_>,
    ) -> Result<Code> {
        let place = target.unwrap_or(&map.path);
        let areas = match self.fix_aas {
            true => Areas::read(&map.path, bsp, plan, place, self.force, job)?,
            false => None,
        };
        let mut warnings = match plan.is_identity() {
            true => Vec::new(),
            false => self.warn(map, bsp, plan, place, areas.is_some(), job),
        };
        if self.dry_run {
            // What nobody sees is not computed.
            let sums = match self.json || !job.talk.quiet {
                true => Some(Sums::new(bsp, plan)),
                false => None,
            };
            DryRun { path: &map.path, target, plan, sums, warnings, backup: None }.print(self.json, many, job)?;
            areas.iter().for_each(|areas| areas.say("", job));
            return Ok(Code::Done);
        }
        let save_areas = |job: &mut Job<'_>| match &areas {
            Some(areas) => areas.save(&self.how(), job),
            None => Ok(()),
        };
        if self.in_place && plan.is_identity() {
            if self.json {
                DryRun { path: &map.path, target, plan, sums: None, warnings, backup: None }.print(true, many, job)?;
                return save_areas(job).map(|()| Code::Done);
            }
            job.say(&format!("{}: nothing changes, the file is left as it is", shown(place)));
            return save_areas(job).map(|()| Code::Done);
        }
        let cannot_save = || format!("cannot save {}", shown(place));
        if many && let Some(folder) = place.parent() {
            fs::create_dir_all(folder).with_context(cannot_save)?;
        }
        let saved = plan.save_with(place, &self.how()).with_context(cannot_save)?;
        saved.warnings.iter().for_each(|warning| job.warn(&format!("{}: {warning}", shown(place))));
        warnings.extend(saved.warnings);
        let backup = saved.backup.as_deref();
        // What nobody asked for is not computed.
        let sums = match (self.checksum || job.talk.verbose) && (self.json || !job.talk.quiet) {
            true => Some(Sums::new(bsp, plan)),
            false => None,
        };
        if self.json {
            DryRun { path: &map.path, target, plan, sums, warnings, backup }.print(true, many, job)?;
        } else {
            job.say(&format!("{}: {}{}", shown(place), plan.report(), kept(backup)));
            sums.iter().for_each(|sums| sums.say(place, job));
        }
        save_areas(job).map(|()| Code::Done)
    }

    /// Warns of what a save would do, and gives the warnings.
    fn warn(
        &self,
        map: &MapFile,
        bsp: &Bsp<'_>,
        plan: &Plan<'_>,
        target: &Path,
        is_fixed: bool,
        job: &mut Job<'_>,
    ) -> Vec<String> {
        let mut warnings = plan.report().warnings.clone();
        if let Some(reason) = plan.needs_force().filter(|_| self.dry_run && !self.force) {
            warnings.push(format!("the map is damaged ({reason}); saving needs --force"));
        }
        warnings.iter().for_each(|warning| job.warn(&format!("{}: {warning}", shown(target))));
        let Some(extension) = bsp.dialect().checksummed_by.filter(|_| !is_fixed) else { return warnings };
        let beside = [target, &map.path].map(|path| path.with_extension(extension));
        if let Some(file) = beside.iter().find(|file| file.exists()) {
            let what = "holds a checksum of the whole map: bots refuse it until that file is built again, or --fix-aas patches it";
            let warning = format!("{} {what}", shown(file));
            job.warn(&warning);
            warnings.push(warning);
        }
        warnings
    }
}

/// Where the file is that was replaced.
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
