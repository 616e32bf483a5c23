//! `ent edit`: the entity text in an editor.

use std::io::{IsTerminal, stderr, stdin};
use std::sync::{Mutex, PoisonError};

use anyhow::{Error, Result, anyhow, bail};
use bspkit::content::entities::{Diagnostic, Entities};
use bspkit::dialect::Role;
use bspkit::face::input;
use bspkit::op::check::{self, Severity};
use bspkit::op::compare;
use bspkit::op::diff::{patch_to_text, text_of};
use bspkit::{Draft, ErrorKind, Hint};

use super::import::refuse_unreadable;
use super::select::{Choice, is_broken};
use crate::cli::context::{Context, is_stdin};
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::save::{Edited, Save, bad_argument};
use crate::cli::show::shown;
use crate::cli::talk::{Code, Job};
use file::File;

mod file;

/// The most places and differences that are shown.
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
pub(crate) struct Args {
    #[command(flatten)]
    map: MapArgs,
    /// The entities to edit [default: the whole text, with its comments]
    #[arg(value_name = "SEL")]
    selector: Option<String>,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
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
        let edited = session.edit(cx, draft, &file, job)?;
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
    args: &'a Args,
}

impl<'a> Session<'a> {
    fn of(draft: &Draft<'static>, choice: Option<&Choice>, args: &'a Args) -> Result<Self> {
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
                    return Err(Error::new(error).context("engines cannot read the text; --force saves it anyway"));
                }
            }
        }
        let findings = check::introduced(draft, &check::Options::default())?;
        match findings.iter().find(|found| found.code.severity == Severity::Error && !is_forced) {
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
            for lump in compare::draft(draft, LISTED)?.lumps {
                lump.changes.iter().for_each(|change| job.say(&format!("  {}", change.line(&lump.lump))));
                if lump.more > 0 {
                    job.say(&format!("  and {} more", lump.more));
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
