//! The `ent` commands for the whole text: in a file, in an editor, in the compilers' form.

use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io::{self, IsTerminal, Read, Write, stderr, stdin};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Error as AnyhowError, Result, anyhow, bail};
use bspkit::content::entities::{Diagnostic, Entities, ended};
use bspkit::dialect::Role;
use bspkit::disk::{input, names};
use bspkit::{Draft, Error, ErrorKind, Hint};
use bspkit_ops::check;
use bspkit_ops::compare;
use bspkit_ops::diff::{patch_to_text, text_of};
use bspkit_text::entities::{self, List};

use super::{Choice, is_broken, refuse_cut, warn_if_verbose, warn_of};
use crate::context::{self, Context, is_stdin};
use crate::help;
use crate::maps::MapArgs;
use crate::output;
use crate::save::{Edited, Save};
use crate::talk::{Code, Job, bad_argument, count, shown};
use crate::terminal;

// `ent export`: writes the entity text to a file.

/// The extension of the files if there are several maps.
pub(super) const EXTENSION: &str = "ent";

/// Write the entity text unchanged, with the NUL at its end
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent export dm4.bsp -o dm4.ent
  bspkit ent export dm4.bsp | grep -a classname
  bspkit ent export maps -o texts"
))]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    maps: MapArgs,
    /// The file to write; for several maps: a folder, with MAP.ent for each [default: stdout]
    #[arg(short, long, value_name = "FILE|DIR")]
    output: Option<PathBuf>,
}

pub(super) fn run_export(cx: &Context, args: &ExportArgs) -> Result<Code> {
    let maps = args.maps.find();
    if let Some(output) = args.output.as_deref().filter(|_| maps.many)
        && let Some(path) = maps.written_over(maps.iter().map(|map| map.place(output, EXTENSION)))?
    {
        bail!("{} is an input map: name another folder for the texts", shown(&path));
    }
    args.output.iter().filter(|_| maps.many).try_for_each(|output| maps.check_folder(output))?;
    maps.each(cx, |map, job| {
        let bsp = cx.open(&map.path)?;
        let cannot_read = || format!("cannot read the entities of {}", shown(&map.path));
        let Some(slot) = bsp.role(Role::Entities) else { bail!("{} has no entity lump", shown(&map.path)) };
        refuse_cut(&bsp, job).with_context(cannot_read)?;
        let bytes = bsp.bytes(slot.id).with_context(cannot_read)?;
        if cx.talk.verbose {
            warn_if_verbose(bsp.entities().with_context(cannot_read)?.diagnostics(), job);
        }
        let Some(output) = output::file(args.output.as_ref()) else {
            job.write(&bytes)?;
            return Ok(Code::Done);
        };
        let path = &map.file_in(output, EXTENSION)?;
        output::replace(path, [&*map.path], |mut file| file.write_all(&bytes))?;
        job.say(&format!("{}: {}", shown(path), count(bytes.len(), "byte", "bytes")));
        Ok(Code::Done)
    })
}

// `ent import`: replaces the entity text.

/// Replace the whole entity text, or take back a list of entities in JSON
///
/// A text is used unchanged. A byte order mark at its start, which some editors of Windows add, is left out unless the
/// old text has one. If it does not end with a NUL, the NULs at the end of the old text are added.
///
/// JSON is what `ent list --json` prints, edited by any program. Entities keep their `index` and `span`; those without
/// are new, those that are left out are removed, and the order is that of the list. Entities and pairs that are not
/// changed keep their bytes. If the list was made with a selector, only those entities are meant. A value's `raw` wins
/// over its text.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent import dm4.bsp dm4.ent -o out.bsp
  bspkit ent import maps texts -o edited
  bspkit ent list dm4.bsp --json | jq 'del(.entities[7])' | bspkit ent import dm4.bsp - -o out.bsp
  bspkit ent export dm4.bsp | sed s/light_spot/light/ | bspkit ent import dm4.bsp - -o out.bsp"
))]
pub(crate) struct ImportArgs {
    #[command(flatten)]
    maps: MapArgs,
    /// The file with the text or JSON; `-` is stdin. For several maps: a file for all, or a folder that `ent export`
    /// wrote
    #[arg(value_name = "FILE|DIR")]
    file: PathBuf,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run_import(cx: &Context, args: &ImportArgs) -> Result<Code> {
    args.save.spare(&args.file)?;
    // A folder has a text for each map.
    let is_folder = args.file.is_dir() && args.maps.are_many();
    let text = if is_folder { Vec::new() } else { read_import(&args.file)? };
    let lists = if is_json(&text) { Some(read_listed(&text)?) } else { None };
    args.save.each(cx, args.maps.find(), |draft, map, job| {
        let id = draft.bsp().role(Role::Entities).ok_or_else(|| anyhow!("the map has no entity lump"))?.id;
        let mut text = match is_folder.then(|| map.read_from(&args.file, EXTENSION)) {
            None => text.clone(),
            Some(None) => {
                return Ok(Edited::Nothing("no text to import".to_owned()));
            }
            Some(Some(file)) => {
                args.save.spare(&file)?;
                read_import(&file)?
            }
        };
        match &lists {
            Some(lists) => return import(draft, lists, args.maps.are_many(), &args.save, job),
            None if is_folder && is_json(&text) => {
                return import(draft, &read_listed(&text)?, false, &args.save, job);
            }
            None => {}
        }
        if input::has_mark(&text) && !draft.bsp().bytes(id).is_ok_and(|old| input::has_mark(&old)) {
            text = input::without_mark(&text).to_vec();
        }
        text = ended(text, draft.bsp().bytes(id).ok().as_deref());
        let entities = Entities::parse(&text[..], draft.bsp().entity_rules())?;
        if !args.save.force {
            refuse_foreign(&text)?;
            refuse_unreadable(draft, &entities)?;
        }
        warn_if_verbose(entities.diagnostics(), job);
        drop(entities);
        draft.set(id, text)?;
        Ok(Edited::Done)
    })
}

pub(super) fn read_import(path: &Path) -> Result<Vec<u8>> {
    if path == Path::new("-") {
        let mut text = Vec::new();
        context::stdin()?.read_to_end(&mut text).context("cannot read stdin")?;
        input::refuse_utf16(path, &text)?;
        return Ok(text);
    }
    let text = input::read(path)?;
    input::refuse_utf16(path, &text)?;
    Ok(text)
}

/// Refuses a file that is clearly not entity text.
fn refuse_foreign(text: &[u8]) -> Result<()> {
    let body = text.trim_ascii_start();
    if body.starts_with(b"{") || body.starts_with(b"/") || !body.iter().any(|byte| matches!(byte, 1..=8)) {
        return Ok(());
    }
    let message = "the file is not entity text: it looks like binary data";
    Err(Error::new(ErrorKind::Refused, message).with_hint("entity text is what `bspkit ent export` writes").into())
}

/// Refuses a text that engines cannot read, unless the old text had at least as many such places.
pub(super) fn refuse_unreadable(draft: &Draft<'_>, entities: &Entities<'_>) -> Result<()> {
    let stops =
        |entities: &Entities<'_>| entities.diagnostics().iter().filter(|found| found.kind.stops_engines()).count();
    let (old_stops, old) = draft.bsp().entities().map_or((0, 0), |old| (stops(&old), old.unreadable().count()));
    let first_stop = entities.diagnostics().iter().find(|found| found.kind.stops_engines());
    let refused = match (first_stop, entities.unreadable().next()) {
        (Some(found), _) if stops(entities) > old_stops => {
            Error::new(ErrorKind::Refused, format!("{} stop at the text: {found}", entities.rules().engines))
        }
        (_, Some(error)) if entities.unreadable().count() > old => error,
        _ => return Ok(()),
    };
    Err(anyhow::Error::new(refused).context("engines cannot read the text; --force saves it anyway"))
}

// Lists of entities in JSON, for `ent import`.

/// Whether a file is JSON, and not entity text: it is a list, or an object whose first member has a colon.
pub(super) fn is_json(text: &[u8]) -> bool {
    let body = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text).trim_ascii_start();
    let inside = body.strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    let key = inside.and_then(|inside| inside.strip_prefix(b"\""));
    let after = key.and_then(|key| Some(key[key.iter().position(|byte| *byte == b'"')? + 1..].trim_ascii_start()));
    body.starts_with(b"[") || inside == Some(b"}") || after.is_some_and(|after| after.starts_with(b":"))
}

/// Reads a file.
pub(super) fn read_listed(text: &[u8]) -> Result<Vec<List>> {
    entities::read(text).context("cannot read the list of entities")
}

/// Makes the entities of a map those of a list. A file for several maps has a document for each, with its path.
pub(super) fn import(
    draft: &mut Draft<'static>,
    lists: &[List],
    by_path: bool,
    save: &Save,
    job: &mut Job<'_>,
) -> Result<Edited> {
    let list = match lists {
        _ if by_path => lists.iter().find(|list| list.path.as_deref() == Some(job.path.as_str())),
        [list] => Some(list),
        _ => bail!("the file has the entities of {} maps, and only one map is given", lists.len()),
    };
    let Some(list) = list else {
        return Ok(Edited::Nothing("the file has no entities of this map".to_owned()));
    };
    list.warnings.iter().for_each(|warning| job.warn_here(warning));
    let entities = draft.entities()?;
    if save.force {
        entities.for_any_engine();
    }
    list.patch(entities)?.apply_to(entities)?;
    Ok(Edited::Done)
}

// `ent edit`: the entity text in an editor.

/// The most places of mistakes that are shown: the text is edited again, and shows the next ones.
const LISTED: usize = 10;

/// Edit the entity text, or some entities, in an editor
///
/// The editor is $VISUAL or $EDITOR, with its arguments, else vi (Windows: notepad). When it ends, the text is checked,
/// the differences are printed, and the map is saved. Nothing is written if the text is not changed, or if the editor
/// fails. If engines cannot read the text, the file is kept and its path is printed; in a terminal it can be edited
/// again.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent edit dm4.bsp --in-place --backup
  bspkit ent edit dm4.bsp 'light*' -o out.bsp
  bspkit ent edit dm4.bsp worldspawn --dry-run"
))]
pub(crate) struct EditArgs {
    #[command(flatten)]
    map: MapArgs,
    /// The entities to edit [default: the whole text, with its comments]
    #[arg(value_name = "SEL")]
    selector: Option<String>,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run_edit(cx: &Context, args: &EditArgs) -> Result<Code> {
    if args.map.are_many() {
        bail!("only one map can be edited at a time");
    }
    if is_stdin(args.map.first()) {
        bail!("the editor needs the terminal, so the map cannot come from stdin");
    }
    let choice = args.selector.as_deref().map(Choice::parse).transpose()?;
    let kept: Mutex<Option<File>> = Mutex::new(None);
    let code = args.save.each(cx, args.map.find(), |draft, map, job| {
        let mut session = Session::of(draft, choice.as_ref(), args)?;
        if session.is_empty() {
            return Ok(Edited::Nothing(
                choice.as_ref().map_or_else(String::new, |choice| choice.nothing(&session.old)),
            ));
        }
        let file = File::new(&map.path, &session.text)?;
        let edited = session.edit(cx, draft, &file, job).inspect_err(|_| file.remove_empty())?;
        if let Edited::Nothing(_) = edited {
            file.remove();
        } else {
            *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(file);
        }
        Ok(edited)
    });
    // The text is removed only when the map is saved.
    if let Some(file) = kept.into_inner().unwrap_or_else(PoisonError::into_inner) {
        match &code {
            Ok(Code::Done) if !args.save.dry_run => file.remove(),
            _ => cx.talk.stderr(format!("the edited text is in {}\n", shown(file.path())).as_bytes()),
        }
    }
    code
}

/// What is edited.
struct Session<'a> {
    old: Entities<'static>,
    /// The chosen entities; `None` for the whole text.
    among: Option<Vec<usize>>,
    /// The text in the editor.
    text: Vec<u8>,
    /// The NULs after the whole text.
    tail: Vec<u8>,
    args: &'a EditArgs,
}

impl<'a> Session<'a> {
    fn of(draft: &Draft<'static>, choice: Option<&Choice>, args: &'a EditArgs) -> Result<Self> {
        let bsp = draft.bsp();
        let id = bsp.role(Role::Entities).ok_or_else(|| anyhow!("the map has no entity lump"))?.id;
        let bytes = bsp.bytes(id)?;
        let old = Entities::parse(bytes.clone(), bsp.entity_rules())?;
        let among = choice.map(|choice| choice.of(&old));
        let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let text = among.as_ref().map_or_else(|| bytes[..end].to_vec(), |among| text_of(&old, among));
        Ok(Session { old, among, text, tail: bytes[end..].to_vec(), args })
    }

    /// Whether no entity is chosen.
    fn is_empty(&self) -> bool {
        self.among.as_ref().is_some_and(Vec::is_empty)
    }

    /// Runs the editor until the text can be taken, or the user gives up.
    fn edit(&mut self, cx: &Context, draft: &mut Draft<'static>, file: &File, job: &mut Job<'_>) -> Result<Edited> {
        loop {
            if let Err(error) = file.edit() {
                if file.read().is_ok_and(|text| text == self.text) {
                    file.remove();
                    return Err(error.context("nothing is written"));
                }
                return Err(error.context(self.left_in(file)));
            }
            let mut text = as_before(file.read()?, &self.text);
            if text.trim_ascii().is_empty() && !self.args.save.force {
                file.remove();
                return Err(bad_argument("the text is empty: nothing is written".into(), "`ent rm` removes entities"));
            }
            // Editors add a line break to the last line.
            if !self.text.ends_with(b"\n") && text.ends_with(b"\n") {
                text.truncate(text.len() - if text.ends_with(b"\r\n") { 2 } else { 1 });
            }
            if text == self.text {
                return Ok(Edited::Nothing("the text is not changed".to_owned()));
            }
            let error = match self.take(draft, &text) {
                Ok(()) => return self.done(draft, job),
                Err(error) => error,
            };
            let carets = carets(&text, &Entities::parse(&text[..], draft.bsp().entity_rules())?, file);
            cx.talk.stderr(carets.as_bytes());
            if !(stdin().is_terminal() && stderr().is_terminal()) {
                return Err(error.context(self.left_in(file)));
            }
            cx.talk.stderr(cx.talk.error(&error).as_bytes());
            if !ask(cx, "edit it again?")? {
                return Err(anyhow!("nothing is written").context(self.left_in(file)));
            }
        }
    }

    fn left_in(&self, file: &File) -> String {
        format!("the text is not taken, and is kept in {}", shown(file.path()))
    }

    /// Gives the draft the edited text, if engines can read it.
    fn take(&self, draft: &mut Draft<'static>, text: &[u8]) -> Result<()> {
        let id = draft.bsp().role(Role::Entities).ok_or_else(|| anyhow!("the map has no entity lump"))?.id;
        draft.revert(id);
        let new = Entities::parse(text, draft.bsp().entity_rules())?;
        let is_forced = self.args.save.force;
        match &self.among {
            None => {
                if !is_forced {
                    refuse_unreadable(draft, &new)?;
                }
                draft.set(id, [text, &self.tail].concat())?;
            }
            Some(among) => {
                if let Some(found) = new.diagnostics().iter().find(|found| is_broken(found.kind) && !is_forced) {
                    bail!("the text is broken: {found}");
                }
                let patch = patch_to_text(&self.old, among, text)?;
                patch.apply_to(draft.entities()?)?;
                let all = draft.entities()?.clone();
                if let Some(error) =
                    all.unreadable().next().filter(|_| !is_forced && self.old.unreadable().next().is_none())
                {
                    return Err(
                        AnyhowError::new(error).context("engines cannot read the text; --force saves it anyway")
                    );
                }
            }
        }
        let findings = check::introduced(draft, &check::Options::default())?;
        match findings.iter().find(|found| found.is_error() && !is_forced) {
            Some(found) => {
                let error = bspkit::Error::new(ErrorKind::Refused, format!("the edit would add {found}"));
                Err(error.with_hint(Hint::Force).into())
            }
            None => Ok(()),
        }
    }

    /// Prints the differences; a dry run and JSON have them in their report.
    fn done(&self, draft: &Draft<'static>, job: &mut Job<'_>) -> Result<Edited> {
        if !job.json && !self.args.save.dry_run {
            for lump in compare::draft(draft, job.most())?.lumps {
                lump.lines().for_each(|line| job.say(&format!("  {line}")));
                if lump.more > 0 {
                    job.say(&format!("  and {} more; -v lists them", lump.more));
                }
            }
        }
        Ok(Edited::Done)
    }
}

/// A text without the byte order mark and the carriage returns that editors of Windows add.
fn as_before(text: Vec<u8>, old: &[u8]) -> Vec<u8> {
    let text = if input::has_mark(old) { &text[..] } else { input::without_mark(&text) };
    if old.contains(&b'\r') || !text.contains(&b'\r') {
        return text.to_vec();
    }
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    let plain = |line: &[u8]| line.strip_suffix(b"\r\n").map_or_else(|| line.to_vec(), |line| [line, b"\n"].concat());
    lines.flat_map(plain).collect()
}

/// Asks a question; yes is the answer of an empty line.
fn ask(cx: &Context, question: &str) -> Result<bool> {
    cx.talk.stderr(format!("{question} [Y/n] ").as_bytes());
    let mut answer = String::new();
    let is_end = stdin().read_line(&mut answer)? == 0;
    Ok(!is_end && !answer.trim_start().starts_with(['n', 'N']))
}

/// The places of mistakes in a text, each with its line and a mark below it.
fn carets(text: &[u8], entities: &Entities<'_>, file: &File) -> String {
    let is_mistake = |found: &&Diagnostic| is_broken(found.kind) || found.kind.stops_engines();
    let found = entities.diagnostics().iter().filter(is_mistake).take(LISTED);
    found.map(|found| caret(text, found, &shown(file.path()))).collect()
}

fn caret(text: &[u8], found: &Diagnostic, path: &str) -> String {
    /// Longer lines are cut off before and after the place.
    const WIDTH: usize = 100;
    let at = found.span.start.min(text.len());
    let start = text[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |before| before + 1);
    let end = text[at..].iter().position(|byte| *byte == b'\n').map_or(text.len(), |next| at + next);
    let line = 1 + text[..start].iter().filter(|byte| **byte == b'\n').count();
    let from = start.max(at.saturating_sub(WIDTH / 2));
    let shown = |range: std::ops::Range<usize>| {
        // Tabs and line ends take one column each.
        let bytes: Vec<u8> = text[range].iter().map(|byte| if *byte < b' ' { b' ' } else { *byte }).collect();
        bspkit::bytes::escaped(&bytes).to_string()
    };
    let before = shown(from..at);
    let marks = found.span.end.min(end).saturating_sub(at).clamp(1, WIDTH / 2);
    let (source, marks) = (shown(from..end.min(from + WIDTH)), "^".repeat(marks));
    let space = " ".repeat(before.chars().count());
    format!("{path}:{line}:{}: {}\n  {source}\n  {space}{marks}\n", at - start + 1, found.kind)
}

// The file that is edited: in a new folder that only its owner can read.

struct File(PathBuf);

impl File {
    /// A file with this text, named after the map.
    fn new(map: &Path, text: &[u8]) -> Result<Self> {
        let name =
            Some(names::of_map(map)).filter(|name| !name.is_empty()).map_or_else(|| "map".into(), OsString::from);
        let path = folder().context("cannot make a folder for the text")?.join(name).with_extension("ent");
        fs::write(&path, text).with_context(|| format!("cannot write {}", shown(&path)))?;
        Ok(File(path))
    }

    fn path(&self) -> &Path {
        &self.0
    }

    /// Runs the editor.
    fn edit(&self) -> Result<()> {
        let named = ["VISUAL", "EDITOR"].iter().filter_map(std::env::var_os).find(|editor| !editor.is_empty());
        let editor = named.unwrap_or_else(|| if cfg!(windows) { "notepad" } else { "vi" }.into());
        let name = shown(Path::new(&editor));
        let run = || terminal::command(&editor, Some(&self.0)).status();
        let status = terminal::lent(run).with_context(|| format!("cannot run the editor `{name}`"))?;
        match status.success() {
            true => Ok(()),
            false => bail!("the editor `{name}` failed: {status}"),
        }
    }

    fn read(&self) -> Result<Vec<u8>> {
        Ok(input::read(&self.0)?)
    }

    /// Removes its folder if the editor removed the file.
    fn remove_empty(&self) {
        self.0.parent().map(fs::remove_dir);
    }

    /// Removes it with its folder; what cannot be removed stays.
    fn remove(&self) {
        let _ = fs::remove_file(&self.0);
        self.remove_empty();
    }
}

/// A new folder among the temporary files.
fn folder() -> io::Result<PathBuf> {
    #[cfg_attr(not(unix), allow(unused_mut))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let mut number = 0;
    loop {
        let folder = std::env::temp_dir().join(format!("bspkit-{}-{number}", std::process::id()));
        match builder.create(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1000 => number += 1,
            Err(error) => return Err(error),
        }
    }
}

// `ent fmt`: rewrites the entity text in the form of the compilers.

/// Rewrite the entity text in the form that compilers write
///
/// This is refused if it would lose something (comments, tokens outside of entities, keys without a value). --force
/// allows it.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent fmt dm4.bsp -o out.bsp
  bspkit ent fmt maps --in-place --backup"
))]
pub(crate) struct FmtArgs {
    #[command(flatten)]
    maps: MapArgs,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run_fmt(cx: &Context, args: &FmtArgs) -> Result<Code> {
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        refuse_cut(draft.bsp(), job)?;
        let entities = draft.entities()?;
        let lost = entities.lost_in_canonical()?;
        if let Some(first) = lost.iter().next().filter(|_| !args.save.force) {
            let places = count(lost.total(), "place", "places");
            let message = format!("the canonical form would lose text at {places}; the first: {first}");
            return Err(Error::new(ErrorKind::Refused, message).with_hint("--force does it anyway").into());
        }
        let is_listed = |found: &&Diagnostic| job.talk.verbose || is_broken(found.kind);
        let diagnostics: Vec<Diagnostic> = entities.diagnostics().iter().filter(is_listed).cloned().collect();
        warn_of(diagnostics.len(), diagnostics.iter(), job);
        let text = entities.canonical()?;
        if let Some(slot) = draft.bsp().role(Role::Entities) {
            let id = slot.id;
            draft.set(id, text)?;
        }
        Ok(Edited::Done)
    })
}
