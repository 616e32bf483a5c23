//! The program `git`, and what it has to know to compare and merge maps.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context as _, Result, bail};
use bspkit::SaveOptions;
use bspkit::file::SideFile;
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::help;
use crate::maps::own_place;
use crate::talk::{Code, bad_argument, count, shown};

// The program `git`, and what it says about files.

/// Runs git in a folder and gives what it prints.
pub(crate) fn git<A: AsRef<OsStr>>(folder: &Path, arguments: &[A]) -> Result<Vec<u8>> {
    printed(command(folder, arguments).output())
}

/// As [`git`]; git reads these bytes from its standard input.
fn git_reading<A: AsRef<OsStr>>(folder: &Path, arguments: &[A], input: &[u8]) -> Result<Vec<u8>> {
    let mut command = command(folder, arguments);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().context("cannot run git")?;
    let pipe = child.stdin.take();
    std::thread::scope(|scope| {
        // If git does not read everything, it says why.
        scope.spawn(move || pipe.map(|mut pipe| pipe.write_all(input)));
        printed(child.wait_with_output())
    })
}

fn command<A: AsRef<OsStr>>(folder: &Path, arguments: &[A]) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(arguments);
    command
}

fn printed(output: std::io::Result<Output>) -> Result<Vec<u8>> {
    let output = output.context("cannot run git")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let first = said.lines().next().unwrap_or("it failed without a message");
        bail!("git: {}", first.trim_start_matches("fatal: "));
    }
    Ok(output.stdout)
}

/// The folder of the repository that a folder belongs to.
pub(crate) fn top_level(folder: &Path) -> Result<PathBuf> {
    let top = git(folder, &["rev-parse", "--show-toplevel"])
        .with_context(|| format!("{} is not in a repository of git", shown(folder)))?;
    PathBuf::from(line(&top)?).canonicalize().context("cannot find the folder of the repository")
}

/// A line that git prints.
pub(crate) fn line(printed: &[u8]) -> Result<&str> {
    Ok(std::str::from_utf8(printed).context("git printed a name that is not UTF-8")?.trim_end_matches(['\r', '\n']))
}

/// The start of a pointer of Git LFS, and the most bytes that one has.
const POINTER: &[u8] = b"version https://git-lfs";
const LONGEST: usize = 4096;

/// Whether this is a pointer of Git LFS, which git keeps in place of the map.
pub(crate) fn is_pointer(bytes: &[u8]) -> bool {
    bytes.len() <= LONGEST && bytes.starts_with(POINTER)
}

/// The content of a file that is a pointer of Git LFS; `None` for another file.
pub(crate) fn pointer(path: &Path) -> Option<Vec<u8>> {
    let len = usize::try_from(std::fs::metadata(path).ok()?.len()).ok()?;
    if len > LONGEST {
        return None;
    }
    std::fs::read(path).ok().filter(|bytes| is_pointer(bytes))
}

pub(crate) fn pointer_error() -> anyhow::Error {
    let hint = "git lfs install and git lfs fetch --all get the maps; then bspkit git resolve MAP merges them";
    bad_argument("this is a pointer of Git LFS, and not the map".to_owned(), hint)
}

/// What git writes into the working folder for a blob of this path: filters such as that of Git LFS keep a pointer in
/// place of the map.
pub(crate) fn checked_out(top: &Path, path: &Path, blob: &str) -> Result<Vec<u8>> {
    let bytes = git(top, &["cat-file".into(), "--filters".into(), at_path(path), OsString::from(blob)])?;
    if is_pointer(&bytes) { Err(pointer_error()) } else { Ok(bytes) }
}

/// What git keeps of a file of this path in the working folder: [`checked_out`] the other way round.
pub(crate) fn kept(top: &Path, path: &Path, bytes: &[u8]) -> Result<Vec<u8>> {
    let arguments = ["hash-object".into(), "-w".into(), at_path(path), OsString::from("--stdin")];
    let blob = git_reading(top, &arguments, bytes)?;
    git(top, &["cat-file", "blob", line(&blob)?])
}

/// The map of a pointer of this path.
pub(crate) fn map_of(top: &Path, path: &Path, pointer: &[u8]) -> Result<Vec<u8>> {
    let blob = git_reading(top, &["hash-object", "-w", "--no-filters", "--stdin"], pointer)?;
    checked_out(top, path, line(&blob)?)
}

fn at_path(path: &Path) -> OsString {
    let mut argument = OsString::from("--path=");
    argument.push(path);
    argument
}

/// The blobs of the base, ours and theirs of a file at which a merge has stopped; `None` where there is no such file.
pub(crate) type Blobs = [Option<String>; 3];

/// The files at which a merge has stopped: their paths below the top folder. With a name, only this file of the folder.
pub(crate) fn unmerged(folder: &Path, name: Option<&OsStr>) -> Result<BTreeMap<PathBuf, Blobs>> {
    let mut arguments: Vec<&OsStr> =
        ["--literal-pathspecs", "ls-files", "-u", "-z", "--full-name", "--"].iter().map(OsStr::new).collect();
    arguments.extend(name);
    let printed = git(folder, &arguments)?;
    let mut found: BTreeMap<PathBuf, Blobs> = BTreeMap::new();
    for entry in printed.split(|byte| *byte == 0) {
        // MODE BLOB STAGE, a tab, and the path.
        let Some((head, path)) = entry.iter().position(|byte| *byte == b'\t').map(|at| entry.split_at(at)) else {
            continue;
        };
        let head: Vec<&str> = line(head)?.split(' ').collect();
        let [_, blob, stage] = head[..] else { bail!("git printed an unknown line") };
        let stage = ["1", "2", "3"].iter().position(|one| *one == stage).context("git printed an unknown stage")?;
        found.entry(path_of(&path[1..])).or_default()[stage] = Some(blob.to_owned());
    }
    Ok(found)
}

/// What was settled of the conflicts of a file: the side by the name of the conflict; and the blobs that this is about.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Choices {
    blobs: Blobs,
    pub(crate) sides: BTreeMap<String, String>,
}

impl Choices {
    pub(crate) fn of(blobs: &Blobs) -> Self {
        Choices { blobs: blobs.clone(), sides: BTreeMap::new() }
    }

    pub(crate) fn is_of(&self, blobs: &Blobs) -> bool {
        self.blobs == *blobs
    }
}

/// All choices of the merge, by the path below the top folder.
pub(crate) type AllChoices = BTreeMap<String, Choices>;

/// Edits the choices, which are kept in git's own folder and not beside the map. Without any there is no file.
pub(crate) fn choices<T>(folder: &Path, edit: impl FnOnce(&mut AllChoices) -> T) -> Result<T> {
    let own = git(folder, &["rev-parse", "--absolute-git-dir"])?;
    let path = Path::new(line(&own)?).join("bspkit-choices.json");
    let file = SideFile::read(&path)?;
    let mut all: AllChoices = match file.bytes() {
        Some(bytes) => serde_json::from_slice(bytes).with_context(|| format!("cannot read {}", shown(&path)))?,
        None => AllChoices::new(),
    };
    let result = edit(&mut all);
    let new = serde_json::to_vec_pretty(&all)?;
    match (all.is_empty(), file.bytes()) {
        (true, None) => {}
        (true, Some(_)) => std::fs::remove_file(&path).with_context(|| format!("cannot remove {}", shown(&path)))?,
        (false, old) if old == Some(&new[..]) => {}
        (false, _) => drop(file.save(&new, &SaveOptions::default())?),
    }
    Ok(result)
}

/// Forgets the choices about a file of a merge that has just begun. Git runs the merge driver in the top folder.
pub(crate) fn forget_choices(path: &Path) -> Result<()> {
    // Outside of a repository there are none.
    if git(Path::new("."), &["rev-parse", "--absolute-git-dir"]).is_err() {
        return Ok(());
    }
    choices(Path::new("."), |all| drop(all.remove(&shown(path))))
}

/// The files that changed since a branch parted from a revision, in all repositories that are asked about.
pub(crate) struct Changed {
    rev: String,
    top_levels: HashMap<PathBuf, PathBuf>,
    files: HashMap<PathBuf, HashSet<PathBuf>>,
}

impl Changed {
    /// The files that changed since this revision.
    pub(crate) fn since(rev: &str) -> Result<Self> {
        if rev.starts_with('-') {
            bail!("a revision does not begin with a hyphen: {rev}");
        }
        Ok(Changed { rev: rev.to_owned(), top_levels: HashMap::new(), files: HashMap::new() })
    }

    /// Whether a file changed since the revision, or is new: an archive for what is in it, a link as well as what it
    /// leads to. So has what git says nothing of: stdin, and what a link leads to if that is not there, or in no
    /// repository.
    ///
    /// # Errors
    /// The folder of the file is in no repository.
    pub(crate) fn has(&mut self, path: &Path) -> Result<bool> {
        let Some(own) = own_place(path) else { return Ok(true) };
        let is_changed = self.beside(&own)?.contains(&own);
        if is_changed || !own.is_symlink() {
            return Ok(is_changed);
        }
        let Ok(real) = own.canonicalize() else { return Ok(true) };
        Ok(self.beside(&real).map_or(true, |files| files.contains(&real)))
    }

    /// Whether the nearest file of a name in the folders above a file changed, or one that was nearer and is gone.
    pub(crate) fn has_above(&mut self, path: &Path, name: &str) -> Result<bool> {
        let Some(path) = own_place(path) else { return Ok(true) };
        let files = self.beside(&path)?;
        let mut places = path.ancestors().skip(1).map(|folder| folder.join(name));
        let nearest = places.find(|place| files.contains(place) || place.is_file());
        Ok(nearest.is_some_and(|place| files.contains(&place)))
    }

    /// The files that changed in the repository of a file.
    fn beside(&mut self, path: &Path) -> Result<&HashSet<PathBuf>> {
        let folder = path.parent().unwrap_or(path).to_path_buf();
        let top = match self.top_levels.get(&folder) {
            Some(top) => top.clone(),
            None => top_level(&folder)?,
        };
        self.top_levels.insert(folder, top.clone());
        if !self.files.contains_key(&top) {
            let files = changed(&top, &self.rev)?;
            self.files.insert(top.clone(), files);
        }
        Ok(&self.files[&top])
    }
}

fn changed(top: &Path, rev: &str) -> Result<HashSet<PathBuf>> {
    let commit = git(top, &["rev-parse", "--verify", "--quiet", &format!("{rev}^{{commit}}")]).map_err(|_| {
        let hint = "a shallow clone has only the newest commits: fetch the revision first";
        bad_argument(format!("git does not know the revision {rev}"), hint)
    })?;
    // What the revision has got since the histories parted is not a change of this branch. A shallow clone may not know
    // where that was.
    let parted = git(top, &["merge-base", line(&commit)?, "HEAD"]).unwrap_or(commit);
    let differ = git(top, &["diff", "--name-only", "-z", "--no-renames", line(&parted)?, "--"])?;
    let new = git(top, &["ls-files", "-z", "--others", "--exclude-standard"])?;
    let names = differ.split(|byte| *byte == 0).chain(new.split(|byte| *byte == 0)).filter(|name| !name.is_empty());
    Ok(names.map(|name| top.join(path_of(name))).collect())
}

#[cfg(unix)]
fn path_of(name: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    OsStr::from_bytes(name).into()
}

#[cfg(not(unix))]
fn path_of(name: &[u8]) -> PathBuf {
    String::from_utf8_lossy(name).into_owned().into()
}

// `git install`: what git has to know to compare and merge maps.

/// Set up a repository so that git compares and merges maps
///
/// Shows which lines of .gitattributes and which settings of the repository are missing. With --write they are written.
/// Lines of .gitattributes are for all who use the repository; settings are for this clone, so each clone needs this
/// command once. Nothing outside of the repository changes.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit git install
  bspkit git install --write"
))]
pub(crate) struct InstallArgs {
    /// A folder of the repository
    #[arg(value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,
    /// Write it
    #[arg(long)]
    write: bool,
}

/// The file with the attributes of paths.
pub(super) const ATTRIBUTES: &str = ".gitattributes";

/// Maps are never changed by git, such as their line ends. Names have letters of any case.
pub(super) const LINE: &str = "*.[bB][sS][pP] -text diff=bspkit merge=bspkit";

/// Settings of the repository, after the program where it is run. Names of maps may begin with a hyphen.
/// Of branches that were merged crosswise git first merges the bases: there a driver that keeps one side would make the
/// other side's values look as if they were never changed, and `binary` keeps what both began with.
pub(super) const SETTINGS: [(&str, bool, &str); 4] = [
    ("diff.bspkit.textconv", true, "git textconv --"),
    ("merge.bspkit.name", false, "maps of the BSP family"),
    ("merge.bspkit.driver", true, "git merge --path=%P -- %O %A %B"),
    ("merge.bspkit.recursive", false, "binary"),
];

/// Whether a line of attributes is that of maps.
pub(super) fn is_line(line: &str) -> bool {
    line.split_whitespace().eq(LINE.split_whitespace())
}

/// The file with the attributes of a repository. Git does not follow a link there.
fn attributes(top: &Path) -> Result<PathBuf> {
    let path = top.join(ATTRIBUTES);
    if std::fs::symlink_metadata(&path).is_ok_and(|there| there.is_symlink()) {
        let message = format!("{} is a symbolic link, which git does not follow", shown(&path));
        return Err(bad_argument(message, "put a file in its place"));
    }
    Ok(path)
}

/// Whether the line of maps is there, and no later one may say something else of some maps.
fn counts(text: &str) -> bool {
    // How maps are compared, merged and written into the folder does not depend on these. Git LFS is a filter.
    const OTHERS: [&str; 4] = ["filter", "whitespace", "export-ignore", "delta"];
    let is_other = |word: &str| {
        let name = word.trim_start_matches(['-', '!']).split('=').next().unwrap_or_default();
        OTHERS.contains(&name) || name.starts_with("linguist-")
    };
    let is_of_maps = |pattern: &str| {
        let end = pattern.rsplit_once('.').map(|(_, end)| end);
        !end.is_some_and(|end| end.chars().all(char::is_alphanumeric) && !end.eq_ignore_ascii_case("bsp"))
    };
    let later = text.lines().rev().take_while(|line| !is_line(line));
    let mut later = later.filter(|line| !line.trim_start().starts_with('#'));
    let is_harmless = |line: &str| {
        let mut words = line.split_whitespace();
        words.next().is_none_or(|pattern| !is_of_maps(pattern) || words.all(is_other))
    };
    text.lines().any(is_line) && later.all(is_harmless)
}

/// The program as a shell finds it: its name if that is on the path, or else where it is.
fn program() -> Result<String> {
    let name = format!("bspkit{}", std::env::consts::EXE_SUFFIX);
    let path = std::env::var_os("PATH").unwrap_or_default();
    if std::env::split_paths(&path).any(|folder| folder.join(&name).is_file()) {
        return Ok("bspkit".to_owned());
    }
    let own = std::env::current_exe().context("cannot find the program")?;
    let own = own.to_str().context("the path of the program is not UTF-8")?;
    Ok(format!("'{}'", own.replace('\'', r"'\''")))
}

/// Prints the lines that are there or missing, and what is said of the repository.
fn report(cx: &Context, folder: &Path, lines: &str, said: &str) -> Result<Code> {
    cx.talk.stdout(lines.as_bytes())?;
    if !cx.talk.quiet {
        cx.talk.stderr(format!("{}: {said}\n", shown(folder)).as_bytes());
    }
    Ok(Code::Done)
}

pub(super) fn run_install(cx: &Context, args: &InstallArgs) -> Result<Code> {
    let top = top_level(&args.folder)?;
    let attributes = attributes(&top)?;
    let mut text = String::new();
    let file = SideFile::read(&attributes)?;
    let old = std::str::from_utf8(file.bytes().unwrap_or_default());
    let old = old.with_context(|| format!("{} is not text", shown(&attributes)))?;
    // Of several lines for a file the last one counts: that of Git LFS may follow ours.
    let is_there = counts(old) && without_attributes(&top, &["map.bsp".into()])?.is_empty();
    if !is_there {
        text += &format!("{ATTRIBUTES}: {LINE}\n");
        if args.write {
            let others: String = old.split_inclusive('\n').filter(|line| !is_line(line)).collect();
            let end = if others.is_empty() || others.ends_with('\n') { "" } else { "\n" };
            file.save(format!("{others}{end}{LINE}\n").as_bytes(), &SaveOptions::default())?;
        }
    }
    let program = program()?;
    for (name, is_run, value) in SETTINGS {
        let value = &*if is_run { format!("{program} {value}") } else { value.to_owned() };
        // A setting that does not exist is an error of git.
        let old = git(&top, &["config", "--local", "--get", name]).ok();
        if old.as_deref().and_then(|old| line(old).ok()) == Some(value) {
            continue;
        }
        text += &format!("git config {name} \"{value}\"\n");
        if args.write {
            git(&top, &["config", "--local", name, value]).with_context(|| format!("cannot set {name}"))?;
        }
    }
    let said = match (text.is_empty(), args.write) {
        (true, _) => "is set up already",
        (false, true) => "is set up",
        (false, false) => "is not set up; --write writes these lines",
    };
    report(cx, &args.folder, &text, said)?;
    if args.write || text.is_empty() {
        let others = others(&top)?;
        if let Some(first) = others.first() {
            let count = count(others.len(), "map has", "maps have");
            let first = shown(first);
            let message = format!("{count} other attributes in a file that counts more: git check-attr -a {first}");
            cx.talk.stderr(cx.talk.warning(&message).as_bytes());
        }
    }
    Ok(Code::Done)
}

/// The maps in the index, and those that may come there, that git does not compare and merge as maps.
fn others(top: &Path) -> Result<Vec<PathBuf>> {
    let maps = git(top, &["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ":(icase)*.bsp"])?;
    let maps: Vec<PathBuf> = maps.split(|byte| *byte == 0).filter(|name| !name.is_empty()).map(path_of).collect();
    without_attributes(top, &maps)
}

/// Those of some paths that do not have the attributes of maps.
fn without_attributes(top: &Path, paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let names: Vec<&[u8]> = paths.iter().map(|path| path.as_os_str().as_encoded_bytes()).collect();
    let printed = git_reading(top, &["check-attr", "-z", "--stdin", "diff", "merge"], &names.join(&0))?;
    // PATH, ATTRIBUTE, VALUE of each.
    let all: Vec<&[u8]> = printed.split(|byte| *byte == 0).collect();
    let mut found: Vec<PathBuf> =
        all.chunks_exact(3).filter(|one| one[2] != b"bspkit").map(|one| path_of(one[0])).collect();
    found.dedup();
    Ok(found)
}

// `git uninstall`: takes out what `git install` has put into a repository.

/// Take out of a repository what git install has put in
///
/// Shows the line of .gitattributes and the settings of the repository that `git install` has written. With --write
/// they are taken out; a .gitattributes with nothing else is removed. Settings with other values stay.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit git uninstall
  bspkit git uninstall --write"
))]
pub(crate) struct UninstallArgs {
    /// A folder of the repository
    #[arg(value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,
    /// Take it out
    #[arg(long)]
    write: bool,
}

pub(super) fn run_uninstall(cx: &Context, args: &UninstallArgs) -> Result<Code> {
    let top = top_level(&args.folder)?;
    let attributes = attributes(&top)?;
    let mut text = String::new();
    let file = SideFile::read(&attributes)?;
    let old = std::str::from_utf8(file.bytes().unwrap_or_default());
    let old = old.with_context(|| format!("{} is not text", shown(&attributes)))?;
    let new: String = old.split_inclusive('\n').filter(|line| !is_line(line)).collect();
    if new != old {
        text += &format!("{ATTRIBUTES}: {LINE}\n");
        if args.write && new.is_empty() {
            std::fs::remove_file(&attributes).with_context(|| format!("cannot remove {}", shown(&attributes)))?;
        } else if args.write {
            file.save(new.as_bytes(), &SaveOptions::default())?;
        }
    }
    for (name, is_run, value) in SETTINGS {
        // A setting that does not exist is an error of git.
        let Ok(old) = git(&top, &["config", "--local", "--get", name]) else { continue };
        let old = line(&old)?;
        // The program may be called by its path.
        let is_own = if is_run { old.ends_with(&format!(" {value}")) } else { old == value };
        if !is_own {
            continue;
        }
        text += &format!("git config --unset {name} \"{old}\"\n");
        if args.write {
            git(&top, &["config", "--local", "--unset", name]).with_context(|| format!("cannot unset {name}"))?;
        }
    }
    let said = match (text.is_empty(), args.write) {
        (true, _) => "has nothing of git install",
        (false, true) => "has nothing of git install any more",
        (false, false) => "is set up; --write takes this out",
    };
    report(cx, &args.folder, &text, said)
}
