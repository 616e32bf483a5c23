//! `ci`: the laws, the findings and the policy of a project, for CI systems.

use std::collections::{HashMap, HashSet};
use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Error, Result};
use bspkit::bytes::unescape;
use bspkit::disk::{input, names};
use bspkit::file::SideFile;
use bspkit::finding::Finding;
use bspkit::{Bsp, ErrorKind, SaveOptions};
use bspkit_game::assets::fgd::Fgd;
use bspkit_ops::check::few;
use bspkit_ops::policy::{self, Policy};
use bspkit_packed::archive;
use bspkit_text::ci::{self, Baseline, MapFindings, Report};
use bspkit_text::starter::Starter;
use bspkit_text::{defaults, policy as policy_text};
use clap::ValueEnum;

use super::config::{self, from_here, nearest};
use super::context::{Context, is_stdin, read_fgd};
use super::git::repository::Changed;
use super::maps::{MapArgs, MapFile, Maps, own_place, real_input};
use super::output::{self, spare};
use super::save::how_to_list;
use super::talk::{Code, Job, MOST_OF_A_KIND, MOST_OF_ALL, bad_argument, count, library_error, shown};
use super::{check, help};

/// Check maps in CI: laws, findings and the policy of the project
///
/// Tests the laws of `verify`, finds the errors of `check`, and compares each map with the policy in `bspkit.toml`.
/// This file is searched in the folder of the map and in the folders above it. docs/policy.md lists its keys. Without a
/// policy everything that `check` does not refuse is allowed.
///
/// Ten findings of a kind are listed; with -v all. A baseline has all, and all are compared with it. Records to which
/// nothing refers are looked for only if the policy denies this note.
///
/// The exit status is 1 if a map has an error or a finding that the policy denies, and if some of several maps do not
/// open; 2 if none opens.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ci maps
  bspkit ci maps --init -o maps/bspkit.toml
  bspkit ci maps --format sarif -o report.sarif
  bspkit ci maps --format github --changed-since HEAD^
  bspkit ci maps --baseline known.json --write-baseline
  bspkit ci maps --baseline known.json --format junit -o report.xml"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The policy for all maps [default: the nearest bspkit.toml in the folders above each map]
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// The FGD file of the game: classes that it does not have, and keys that look like typing errors of its keys. A
    /// policy may name these codes
    #[arg(long, value_name = "FILE")]
    fgd: Option<PathBuf>,
    /// Leave out the findings in this file. They are recognized by map, code, lump and sentence, also after records and
    /// offsets have moved
    #[arg(long, value_name = "FILE", value_parser = output::on_disk())]
    baseline: Option<PathBuf>,
    /// Write all findings to the file of --baseline, where those of other maps stay; the exit status is 0 if all files
    /// can be read. That a file is no map is a finding too
    #[arg(long, requires = "baseline")]
    write_baseline: bool,
    /// Check only maps that changed since this revision or are not tracked, as git says. For another branch, such as
    /// origin/main, these are the changes since the branches parted. If a policy, the FGD file or a file that it
    /// includes has changed, all its maps are checked
    #[arg(long, value_name = "REV")]
    changed_since: Option<String>,
    /// Print a policy to begin with: all maps keep its rules. With -o it is written, if there is no such file
    #[arg(long, conflicts_with_all = ["policy", "fgd", "baseline", "changed_since", "format"])]
    init: bool,
    /// The format of the report
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Text)]
    format: Format,
    /// The file for the report; an existing file is replaced [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Lines for people
    Text,
    /// One line of JSON for each map
    Json,
    /// JUnit XML: one test case for each map
    Junit,
    /// SARIF 2.1.0
    Sarif,
    /// Annotations of GitHub Actions; also a summary in the file that GITHUB_STEP_SUMMARY names
    Github,
    /// A code quality report of GitLab
    Gitlab,
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let mut maps = args.maps.find();
    if args.init {
        return init(cx, args, &maps);
    }
    let fgd = args.fgd.as_deref().map(|path| read_fgd(cx, path)).transpose()?;
    if let Some(rev) = &args.changed_since {
        retain_changed(&mut maps, args, fgd.as_ref(), rev)?;
        if maps.iter().next().is_none() && !cx.talk.quiet {
            cx.talk.stderr(format!("no map has changed since {rev}\n").as_bytes());
        }
    }
    let policies = Policies::load(&maps, args.policy.as_deref())?;
    args.spare(&maps, &policies)?;
    let baseline = match args.baseline.as_deref().filter(|_| !args.write_baseline) {
        Some(path) => Some(read_baseline(path)?),
        None => None,
    };
    // Any other file is not replaced.
    let old = args.baseline.as_deref().filter(|path| args.write_baseline && has_content(path));
    old.map(read_baseline).transpose()?;
    // With a baseline all are compared, and then as many are listed as without.
    let most = (cx.talk.verbose || args.baseline.is_some()).then_some(MOST_OF_ALL);
    let listed = if cx.talk.verbose { MOST_OF_ALL } else { MOST_OF_A_KIND };
    let streams = args.format == Format::Text && output::file(args.output.as_ref()).is_none();
    // What is known of the maps so far: nothing else of them is kept.
    let sums = Arc::new(Mutex::new(Sums { report: Report::new(args.format.into()), new: Baseline::default() }));
    let code = maps.each(cx, |map, job| {
        let policy = policies.of(map);
        let (found, opened) = look_at(cx, map, policy, fgd.as_ref(), most);
        let before = found.findings.len();
        let found = match (&baseline, &args.baseline) {
            (Some(baseline), Some(path)) => without_known(found, baseline, &path_in(map, path), policy, listed),
            _ => found,
        };
        let is_known = before > 0 && found.findings.is_empty();
        let code = if found.denied() > 0 && !args.write_baseline { Code::Found } else { Code::Done };
        if streams && opened.is_ok() && !args.write_baseline {
            print(&found, policy, job);
        }
        // What is wrong with a map that cannot be read is not known.
        let is_read =
            !opened.as_ref().is_err_and(|error| library_error(error).is_some_and(|own| own.kind() == ErrorKind::Io));
        let baseline = args.baseline.as_deref().filter(|_| args.write_baseline && is_read);
        let name = baseline.map(|path| path_in(map, path));
        let sums = Arc::clone(&sums);
        job.in_turn(move || sums.lock().unwrap_or_else(PoisonError::into_inner).add(&found, name.as_deref(), !streams));
        match opened {
            Err(error) if !is_read || !is_known && !args.write_baseline => Err(error),
            _ => Ok(code),
        }
    })?;
    let sums = &mut *sums.lock().unwrap_or_else(PoisonError::into_inner);
    if !streams {
        let left_out = maps.of_run(cx.options.shard).saturating_sub(sums.report.maps());
        sums.report.leave_out(left_out);
        if left_out > 0 {
            cx.talk.stderr(format!("the report is not about {}\n", count(left_out, "map", "maps")).as_bytes());
        }
        for (path, error) in maps.troubles(cx.options.shard) {
            match library_error(error) {
                Some(error) => sums.report.add_unread(path, error),
                None => {
                    let error = bspkit::Error::new(ErrorKind::Argument, format!("{error:#}"));
                    sums.report.add_unread(path, &error);
                }
            }
        }
        write_report(cx, args, &mut sums.report)?;
    }
    if let Some(path) = args.baseline.as_deref().filter(|_| args.write_baseline) {
        write_baseline(cx, path, std::mem::take(&mut sums.new))?;
    }
    Ok(code)
}

/// Whether there is a file that is not empty, or anything else of this name.
fn has_content(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|there| !there.is_file() || there.len() > 0)
}

/// Makes a policy from what the maps have.
fn init(cx: &Context, args: &Args, maps: &Maps) -> Result<Code> {
    if let Some(path) = output::file(args.output.as_ref()).filter(|path| path.exists()) {
        let message = format!("{} is there already", shown(path));
        return Err(bad_argument(message, "name another file, or remove it first"));
    }
    let starter = Arc::new(Mutex::new(Starter::default()));
    let code = maps.each(cx, |map, job| {
        let bsp = cx.open(&map.path)?;
        let name = names::of_map(&map.path).to_string_lossy().into_owned();
        let findings = policy::run(&bsp, &name, &Policy::default(), None)?;
        let starter = Arc::clone(&starter);
        job.in_turn(move || starter.lock().unwrap_or_else(PoisonError::into_inner).add(&bsp, &name, &findings));
        Ok(Code::Done)
    })?;
    if code == Code::Failed || code == Code::Stopped {
        return Ok(code);
    }
    let text = starter.lock().unwrap_or_else(PoisonError::into_inner).write();
    match output::file(args.output.as_ref()) {
        None => _ = cx.talk.stdout(text.as_bytes())?,
        Some(path) => output::replace(path, [], |mut file| file.write_all(text.as_bytes()))?,
    }
    Ok(code)
}

impl Args {
    /// Refuses to write over what is read: maps, policies, the files of their projects, the FGD file, the baseline.
    fn spare(&self, maps: &Maps, policies: &Policies) -> Result<()> {
        // Without a policy that is named those of the projects are the policies.
        let others = maps.iter().filter(|_| self.policy.is_some() && self.output.is_some());
        let of_projects: HashSet<PathBuf> =
            others.filter_map(|map| nearest(&map.path).transpose()).collect::<Result<_>>()?;
        let policies = || policies.read.keys().chain(&of_projects).map(PathBuf::as_path);
        let named = || maps.iter().map(|map| map.path.as_path()).chain(policies());
        let read = || named().chain(self.fgd.as_deref());
        let baseline = self.baseline.as_deref();
        let written = self.output.as_deref();
        baseline.filter(|_| self.write_baseline).map_or(Ok(()), |file| spare(file, read()))?;
        written.map_or(Ok(()), |file| spare(file, read().chain(baseline)))
    }
}

/// What is collected about all maps, in their order.
struct Sums {
    report: Report,
    /// What is written into the baseline of the maps.
    new: Baseline,
}

impl Sums {
    fn add(&mut self, found: &MapFindings, known_as: Option<&str>, is_reported: bool) {
        if is_reported {
            self.report.add(found);
        }
        if let Some(name) = known_as {
            let findings: Vec<Finding> = found.findings.iter().map(|(finding, _)| finding.clone()).collect();
            self.new.set(name, &findings);
        }
    }
}

/// All findings about a map, at most this many of a kind; the error if it cannot be opened or checked.
fn look_at(
    cx: &Context,
    map: &MapFile,
    policy: &Policy,
    fgd: Option<&Fgd>,
    most: Option<usize>,
) -> (MapFindings, Result<()>) {
    let mut found = MapFindings { path: map.path.clone(), ..MapFindings::default() };
    let name = if is_stdin(&map.path) { Path::new("stdin") } else { &map.path };
    let name = names::of_map(name).to_string_lossy();
    let checked = cx.open(&map.path).and_then(|bsp: Bsp<'_>| {
        found.dialect = Some(bsp.dialect().name);
        let mut findings = policy::run(&bsp, &name, policy, most)?;
        let most = most.unwrap_or(MOST_OF_A_KIND);
        findings.extend(fgd.into_iter().flat_map(|fgd| check::of_game(&bsp, fgd, &policy.check.allow, most)));
        Ok(findings)
    });
    let (findings, result) = match checked {
        Ok(findings) => (findings, Ok(())),
        Err(error) => (library_error(&error).map(policy::unread).into_iter().collect(), Err(error)),
    };
    found.findings = findings.into_iter().map(|finding| (finding.clone(), policy.denies(&finding))).collect();
    (found, result)
}

/// Leaves what the baseline does not have, at most this many of a kind.
fn without_known(
    mut found: MapFindings,
    baseline: &Baseline,
    path: &str,
    policy: &Policy,
    listed: usize,
) -> MapFindings {
    let all: Vec<Finding> = std::mem::take(&mut found.findings).into_iter().map(|(finding, _)| finding).collect();
    let number = all.len();
    let new = baseline.new_ones(path, all);
    found.known = number - new.len();
    let new = few(new, listed).into_iter();
    found.findings = new.map(|finding| (finding.clone(), policy.denies(&finding))).collect();
    found
}

fn print(found: &MapFindings, policy: &Policy, job: &mut Job<'_>) {
    let findings: Vec<Finding> = found.findings.iter().map(|(finding, _)| finding.clone()).collect();
    let known = count(found.known, "finding is", "findings are");
    match (found.known, &findings[..]) {
        (0, _) => check::print(&findings, |finding| policy.denies(finding), how_to_list, check::NOTHING, job),
        (_, []) => job.say(&format!("{}: nothing new; {known} in the baseline", job.path)),
        _ => {
            check::print(&findings, |finding| policy.denies(finding), how_to_list, "nothing new is wrong", job);
            job.say(&format!("{}: {known} in the baseline", job.path));
        }
    }
}

/// Whether a map that a baseline knows is still there: in the folder of the baseline, or as it was named.
fn is_there(map: &str, baseline: &Path) -> bool {
    // A path may be escaped.
    let bare = names::path(&unescape(map)).ok();
    [Some(PathBuf::from(map)), bare].into_iter().flatten().any(|map| {
        let beside = baseline.parent().map(|folder| folder.join(&map));
        real_input(&map).or_else(|| real_input(&beside?)).is_some()
    })
}

/// The path of a map as the baseline has it: relative to the baseline's folder if the map is in it, or the archive that
/// has the map. A link is another map than the one that it leads to.
fn path_in(map: &MapFile, baseline: &Path) -> String {
    let folder = baseline.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let inside = archive::part(&map.path).map_or(PathBuf::new(), |(_, name)| name.into());
    let inner = own_place(&map.path).zip(folder.canonicalize().ok()).and_then(|(file, folder)| {
        let file = file.strip_prefix(folder).ok()?;
        Some(if inside.as_os_str().is_empty() { file.to_path_buf() } else { file.join(&inside) })
    });
    let path = inner.unwrap_or_else(|| map.path.clone());
    let mut path = path.into_os_string().into_encoded_bytes();
    if cfg!(windows) {
        path.iter_mut().filter(|byte| **byte == b'\\').for_each(|byte| *byte = b'/');
    }
    Baseline::path(&path)
}

fn read_baseline(path: &Path) -> Result<Baseline> {
    let text = bspkit::disk::input::text(path)?;
    Baseline::read(&text).with_context(|| format!("cannot read {}", shown(path)))
}

/// Writes what is known of these maps into a baseline. What it has of maps that were not looked at stays, also what
/// another program has written into it meanwhile.
fn write_baseline(cx: &Context, path: &Path, new: Baseline) -> Result<()> {
    let mut findings = 0;
    SideFile::update(path, &SaveOptions::default(), |old| {
        let old = old.map(input::without_mark).filter(|text| !text.is_empty());
        let old = old.map(|text| Baseline::read(&String::from_utf8_lossy(text)));
        let mut all = old.transpose()?.unwrap_or_default();
        all.retain(|map| is_there(map, path));
        all.update(new.clone());
        findings = all.findings();
        Ok(Some(all.write().into_bytes()))
    })
    .with_context(|| format!("cannot write {}", shown(path)))?;
    if !cx.talk.quiet {
        cx.talk.stderr(format!("{}: {}\n", shown(path), count(findings, "finding", "findings")).as_bytes());
    }
    Ok(())
}

fn write_report(cx: &Context, args: &Args, report: &mut Report) -> Result<()> {
    match output::file(args.output.as_ref()) {
        None => report.write_to(BufWriter::new(Stdout(cx)))?,
        Some(path) => output::replace(path, [], |file| report.write_to(BufWriter::new(file)))?,
    }
    let summary_file = env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()).map(PathBuf::from);
    if let Some(path) = summary_file.filter(|_| args.format == Format::Github) {
        let written = OpenOptions::new().append(true).create(true).open(&path);
        let written = written.and_then(|mut file| file.write_all(report.summary().as_bytes()));
        written.with_context(|| format!("cannot write {}", shown(&path)))?;
    }
    Ok(())
}

/// Stdout as the program writes to it: a reader that has closed the pipe is no error.
struct Stdout<'c>(&'c Context);

impl Write for Stdout<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.talk.stdout(bytes).map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl From<Format> for ci::Format {
    fn from(format: Format) -> Self {
        match format {
            Format::Text => ci::Format::Text,
            Format::Json => ci::Format::JsonLines,
            Format::Junit => ci::Format::Junit,
            Format::Sarif => ci::Format::Sarif,
            Format::Github => ci::Format::Github,
            Format::Gitlab => ci::Format::Gitlab,
        }
    }
}

/// Keeps the maps that git says have changed, and those whose policy has.
fn retain_changed(maps: &mut Maps, args: &Args, fgd: Option<&Fgd>, rev: &str) -> Result<()> {
    let mut changed = Changed::since(rev)?;
    // The one of an installed game is in no repository. Since when an included one is gone is not known.
    let mut is_other = |path: &Path| !path.exists() || changed.has(path).unwrap_or(false);
    let has_other_fgd = fgd.is_some_and(|fgd| fgd.files().any(&mut is_other));
    let mut failed: Option<Error> = None;
    maps.retain(|map| {
        let mut has_changed = || -> Result<bool> {
            let has_other_policy = match &args.policy {
                Some(policy) => changed.has(policy)?,
                None => changed.has_above(&map.path, config::NAME)?,
            };
            Ok(has_other_fgd || has_other_policy || changed.has(&map.path)?)
        };
        has_changed().unwrap_or_else(|error| {
            failed.get_or_insert(error);
            false
        })
    });
    failed.map_or(Ok(()), Err)
}

// The policies of maps: the nearest `bspkit.toml`.

/// The policies of all maps of a run, each read once.
struct Policies {
    by_map: HashMap<PathBuf, PathBuf>,
    read: HashMap<PathBuf, Policy>,
    none: Policy,
}

impl Policies {
    /// Reads the policies of these maps, before any map is checked.
    fn load(maps: &Maps, named: Option<&Path>) -> Result<Self> {
        let (mut by_map, mut read) = (HashMap::new(), HashMap::new());
        // A policy that is named is read even if there is no map.
        if let Some(path) = named {
            read.insert(path.to_path_buf(), open(path)?);
        }
        for map in maps.iter() {
            let Some(path) = named.map_or_else(|| nearest(&map.path), |path| Ok(Some(path.to_path_buf())))? else {
                continue;
            };
            if !read.contains_key(&path) {
                read.insert(path.clone(), open(&path)?);
            }
            by_map.insert(map.path.clone(), path);
        }
        Ok(Policies { by_map, read, none: Policy::default() })
    }

    /// The policy of a map; without a file everything is allowed.
    fn of(&self, map: &MapFile) -> &Policy {
        self.by_map.get(&map.path).and_then(|path| self.read.get(path)).unwrap_or(&self.none)
    }
}

fn open(path: &Path) -> Result<Policy> {
    let (name, text) = (from_here(path), input::text(path)?);
    // The defaults of a project are in the same file, and nothing in it may be a mistake.
    defaults::read(&name, &text)?;
    Ok(policy_text::read(&name, &text)?)
}
