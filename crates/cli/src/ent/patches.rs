//! The `ent` commands for patches and rule files.

use std::io::Write;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result, anyhow};
use bspkit::content::entities::Entities;
use bspkit::dialect::Role;
use bspkit::finding::Severity;
use bspkit::{Bsp, Draft, Error, ErrorKind};
use bspkit_ops::diff::diff;
use bspkit_ops::merge::merge_patch;
use bspkit_ops::patch::{ALREADY, Found, Operation, Patch, Search};
use bspkit_rules::files::{RuleFiles, map_name};
use bspkit_rules::{Action, Applied, Difference, PairCounts, Record, Report, State, Who, difference};
use bspkit_rules::{Bake, Tried, save};
use bspkit_text::patch::{self, write};
use clap::ValueEnum;
use serde::Serialize;
use serde_json::json;

use super::{refuse_cut, text};
use crate::context::{Context, is_stdin};
use crate::git::lines as conflict_lines;
use crate::help;
use crate::maps::{MapArgs, MapFile, Maps, real_path};
use crate::output;
use crate::rules::RuleArgs;
use crate::save::{Edited, Save};
use crate::talk::{Code, Few, Job, count, shown, text_and_raw};

// `ent patch`: applies a JSON patch.

/// Apply a JSON patch to the entities, such as `ent diff` writes
///
/// A patch is `{"bspkit_patch": 1, "operations": [...]}`. An operation has an `op` (edit, replace, remove, move, add,
/// text). Its `on` says which entity: `{"match": [{"key": ..., "value": ...}]}` is the one with these pairs,
/// `{"select": "SEL"}` are those of a selector, `{"index": 17}` is a position. Its `expect` lists pairs that must
/// exist. docs/schema/patch.schema.json describes all fields.
///
/// Patches of `ent diff` find their entities by name, wherever these are now. If one is missing, there are several of
/// it, or something expected is different, all of it is listed, with the entities that may be meant, and nothing is
/// written. --fuzzy takes the best of these. --base merges: the patch is applied to OLD.bsp, from which both the patch
/// and the map come, and what that changes is merged into the map.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent patch dm4.bsp brighter.json -o out.bsp
  bspkit ent patch maps brighter.json --dry-run
  bspkit ent patch dm4_new.bsp brighter.json --base dm4.bsp -o out.bsp
  bspkit ent patch dm4.bsp - -o out.bsp <brighter.json
  bspkit ent diff dm4.bsp dm4_new.bsp | bspkit ent patch dm4.bsp - -o out.bsp"
))]
pub(crate) struct PatchArgs {
    #[command(flatten)]
    maps: MapArgs,
    /// The patch; `-` is stdin
    #[arg(value_name = "PATCH.json")]
    patch: PathBuf,
    /// Where a target means no entity or too many, take the entity that has the most of its pairs; pairs that are
    /// not changed may have other values. What was guessed is listed
    #[arg(long)]
    fuzzy: bool,
    /// Apply the patch to OLD.bsp, the map that it was made from, and merge its changes with what changed since then
    #[arg(long, value_name = "OLD.bsp", conflicts_with = "fuzzy")]
    base: Option<PathBuf>,
    #[command(flatten)]
    save: Save,
}

pub(super) fn run_patch(cx: &Context, args: &PatchArgs) -> Result<Code> {
    args.save.spare(&args.patch)?;
    args.base.iter().try_for_each(|base| args.save.spare(base))?;
    let cannot_read = || format!("cannot read {}", shown(&args.patch));
    let text = text::read_import(&args.patch)?;
    let patch = patch::read(&text).with_context(cannot_read)?;
    let base = args.base.as_ref().map(|base| cx.open(base)).transpose()?;
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        let id = draft.bsp().role(Role::Entities).ok_or_else(|| anyhow!("the map has no entity lump"))?.id;
        refuse_cut(draft.bsp(), job)?;
        let bytes = match &base {
            Some(base) => merged(base, draft.bsp(), &patch, job)?,
            None => match applied(&patch, draft, args, job)? {
                Some(bytes) => bytes,
                None => return Ok(Edited::same()),
            },
        };
        let entities = Entities::parse(&bytes[..], draft.bsp().entity_rules())?;
        if !args.save.force {
            text::refuse_unreadable(draft, &entities)?;
        }
        drop(entities);
        draft.set(id, bytes)?;
        Ok(Edited::Done)
    })
}

/// The entity text after the patch, unless it is what the map has; says where its entities were found.
fn applied(patch: &Patch, draft: &mut Draft<'_>, args: &PatchArgs, job: &mut Job<'_>) -> Result<Option<Vec<u8>>> {
    let entities = draft.entities()?;
    if args.save.force {
        entities.for_any_engine();
    }
    let search = if args.fuzzy { Search::Guess } else { Search::Exact };
    let located = patch.locate(entities, search)?;
    if located.already {
        job.say(&format!("{}: not applied again: {ALREADY}", job.path));
        if job.json {
            job.extra.insert("already".to_owned(), ALREADY.into());
        }
        return Ok(None);
    }
    let bytes = located.apply()?;
    for guess in &located.guesses {
        job.warn_here(&format!("guessed: {guess}"));
    }
    let doubts = located.doubts(&bytes);
    for doubt in &doubts {
        job.warn_here(&format!("{doubt}; --base OLD.bsp finds the model of OLD.bsp"));
    }
    let twice = located.twice(&bytes);
    if twice > 0 {
        let (what, comes) =
            (count(twice, "entity or pair", "entities and pairs"), if twice == 1 { "comes" } else { "come" });
        job.warn_here(&format!("{what} that the patch adds {comes} a second time: the map has the same already"));
    }
    tell(&located.found, job);
    if job.json {
        job.extra.insert("doubts".to_owned(), doubts.into());
        let found = located.found.iter().map(|found| {
            let Found { operation, target, was, index } = found;
            json!({"operation": operation, "target": target, "was": was, "index": index})
        });
        job.extra.insert("found".to_owned(), found.collect());
        job.extra.insert("guesses".to_owned(), located.guesses.clone().into());
    }
    Ok(Some(bytes))
}

/// The entities that are not where they were in the map that the patch was made from.
fn tell(found: &[Found], job: &mut Job<'_>) {
    let mut few = Few::new(job.talk.verbose);
    for Found { operation, target, was, index } in found {
        let Some(was) = was.filter(|was| was != index) else { continue };
        if few.takes("entities at other places") {
            job.say(&format!("{}: operations[{operation}]: {target} was #{was} and is #{index}", job.path));
        }
    }
    few.rest().for_each(|rest| job.say(&format!("{}: {rest}", job.path)));
}

/// The entity text of a map with the changes of a patch of its base; refuses conflicts, and says doubts.
fn merged(base: &Bsp<'_>, ours: &Bsp<'_>, patch: &Patch, job: &mut Job<'_>) -> Result<Vec<u8>> {
    let merged = merge_patch(base, ours, patch).context("the patch cannot be merged by way of its base")?;
    if !merged.conflicts.is_empty() {
        let number = count(merged.conflicts.len(), "conflict", "conflicts");
        let message = format!("what the patch changes has changed since its base too: {number}");
        let lines: Vec<String> = merged.conflicts.iter().flat_map(conflict_lines).collect();
        return Err(bspkit::Error::new(ErrorKind::Refused, message).with_hint(lines.join("\n")).into());
    }
    merged.doubts.iter().for_each(|doubt| job.warn_here(doubt));
    if job.json {
        job.extra.insert("doubts".to_owned(), merged.doubts.clone().into());
    }
    let id = ours.role(Role::Entities).ok_or_else(|| anyhow!("the map has no entity lump"))?.id;
    Ok(merged.draft.bytes(id)?.to_vec())
}

// `ent diff`: writes the difference between the entities of two maps as a patch or as rules.

/// Write a patch or rules that change the entities of map A into those of map B
///
/// Entities are matched by identity, not by their position in the text: by hammerid, targetname, model and origin, and
/// by equal pairs. `ent patch A PATCH.json` then produces the entity text of B byte for byte; a text with faults needs
/// `--force`, as in other edits. The exit status is 1 if the maps differ; otherwise the patch has no operations.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent diff dm4.bsp dm4_new.bsp
  bspkit ent diff dm4.bsp dm4_new.bsp -o changes.json
  bspkit ent diff dm4.bsp dm4_new.bsp --as stripper -o dm4.cfg"
))]
pub(crate) struct DiffArgs {
    /// The map that the patch is for
    #[arg(value_name = "A")]
    old: PathBuf,
    /// The map with the entities that the patch produces
    #[arg(value_name = "B")]
    new: PathBuf,
    /// The format: a patch for `ent patch`, or rules for the plug-in of Stripper and `ent apply`
    #[arg(long = "as", value_name = "FORMAT", default_value = "patch")]
    form: Form,
    /// The file to write [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// JSON
    Patch,
    /// Stripper:Source; what it cannot say is listed, and the exit status is 2 then
    Stripper,
}

pub(super) fn run_diff(cx: &Context, args: &DiffArgs) -> Result<Code> {
    let maps = [cx.open(&args.old)?, cx.open(&args.new)?];
    let read = |map: usize, path: &PathBuf| {
        maps[map].entities().with_context(|| format!("cannot read the entities of {}", shown(path)))
    };
    let (old, new) = (read(0, &args.old)?, read(1, &args.new)?);
    let patch = diff(&old, &new)?;
    let others = patch.other_models(&maps[0], &maps[1])?;
    let (document, said, lost, is_same) = match args.form {
        Form::Patch => (write(&patch).into_bytes(), said_of(&patch), Vec::new(), patch.operations.is_empty()),
        Form::Stripper => {
            let Difference { text, counts, lost } = difference(&old, &new);
            let is_same = counts == [0; 3] && lost.is_empty();
            (text, numbers(counts), lost, is_same)
        }
    };
    Maps::file(&args.old).each(cx, |_, job| {
        match output::file(args.output.as_ref()) {
            None => drop(job.write(&document)?),
            Some(path) => output::replace(path, [&*args.old, &args.new], |mut file| file.write_all(&document))?,
        }
        job.say(if is_same { "the entities are the same" } else { &said });
        others.iter().for_each(|what| job.warn(what));
        lost.iter().for_each(|what| job.warn(&format!("Stripper cannot say: {what}")));
        Ok(match (is_same, lost.is_empty()) {
            (true, _) => Code::Done,
            (false, true) => Code::Found,
            (false, false) => Code::Failed,
        })
    })
}

fn said_of(patch: &Patch) -> String {
    if let [Operation::Text { .. }] = &patch.operations[..] {
        return "the text between entities differs, or too many entities move: the patch has the whole text".to_owned();
    }
    let number = |is: fn(&Operation) -> bool| patch.operations.iter().filter(|operation| is(operation)).count();
    let edited = number(|it| matches!(it, Operation::Edit { .. } | Operation::Replace { .. }));
    let added = number(|it| matches!(it, Operation::Add { .. } | Operation::AddText { .. }));
    let removed = number(|it| matches!(it, Operation::Remove { .. }));
    let moved = number(|it| matches!(it, Operation::Move { .. }));
    format!("{}, {moved} moved", numbers([edited, added, removed]))
}

fn numbers([edited, added, removed]: [usize; 3]) -> String {
    format!("{}, {added} added, {removed} removed", count(edited, "entity changed", "entities changed"))
}

// `ent apply`: applies rule files to the entities.

/// Apply rule files to the entities, such as those of Stripper:Source
///
/// Files of stripper_qmm, Lazyripent2 and StripperCS2 are read too. A map is changed by all of its rules or, after an
/// error, by none. With -v, --dry-run and --json the report lists what each rule matched and did. The exit status is 1
/// if no rule matches.
///
/// Applying twice is once: MAP.rules.json beside the saved map records the rules, and `rules status` prints them. Rules
/// that were added at the end of the files are applied alone. Without the record, what rules would add is looked for in
/// the map. Where it cannot be known whether rules were applied, the map is refused, unless --again is given.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent apply dm4.bsp --rules clean.cfg -o out.bsp
  bspkit ent apply maps --rules addons/stripper -o edited
  bspkit ent apply maps --rules clean.cfg --mode strict --require-matches --dry-run
  bspkit ent apply dm4.bsp --rules triggers.rule -o out.bsp"
))]
pub(crate) struct ApplyArgs {
    #[command(flatten)]
    maps: MapArgs,
    /// A rule file, or a folder with global_filters.cfg and maps/NAME.cfg; of the latter those apply whose names are
    /// the map's name or its beginning before an underscore, the shortest first
    #[arg(long, value_name = "PATH")]
    rules: PathBuf,
    #[command(flatten)]
    reading: RuleArgs,
    /// Refuse a map in which a rule matches nothing
    #[arg(long)]
    require_matches: bool,
    /// Apply all rules, also those that were applied to the map before
    #[arg(long)]
    again: bool,
    #[command(flatten)]
    save: Save,
}

#[derive(Serialize)]
struct Done<'r> {
    file: &'r str,
    line: usize,
    action: &'static str,
    count: usize,
    entities: Vec<Matched<'r>>,
    pairs: PairCounts,
}

#[derive(Serialize)]
struct Matched<'r> {
    index: usize,
    #[serde(flatten)]
    who: Option<&'r Who>,
}

pub(super) fn run_apply(cx: &Context, args: &ApplyArgs) -> Result<Code> {
    args.save.spare(&args.rules)?;
    let files = RuleFiles::read(&args.rules, args.reading.reading())?;
    warn_of_findings(cx, &files);
    let done = Mutex::new(Vec::new());
    let code = args.save.each(cx, args.maps.find(), |draft, map, job| {
        let path = Some(&*map.path).filter(|path| !is_stdin(path));
        let name = path.map(map_name).unwrap_or_default();
        let bake = Bake::of(draft.bsp(), path, files.usable(&name)?, &name)?;
        refuse_cut(draft.bsp(), job)?;
        let entities = draft.entities()?;
        if args.save.force {
            entities.for_any_engine();
        }
        let cannot = || format!("cannot apply {}", shown(&args.rules));
        let (from, attempt) = match bake.attempt(entities, args.again).with_context(cannot)? {
            Tried::Open { from, attempt } => (from, attempt),
            Tried::Done(why) => {
                job.say(&format!("{}: not applied again: {why}; --again applies them", job.path));
                if job.json {
                    job.extra.insert("already".to_owned(), why.into());
                }
                let new = NewRecord::of(bake.with(None, &entities.to_bytes()), map)?;
                done.lock().unwrap_or_else(PoisonError::into_inner).extend(new);
                return Ok(Edited::same());
            }
            Tried::Unknown(why) => {
                let hint = "apply them to the map as it was before, or use --again to apply all of them to this one";
                return Err(Error::new(
                    ErrorKind::Refused,
                    format!("it cannot be known whether to apply {} again: {why}", shown(&args.rules)),
                )
                .with_hint(hint)
                .into());
            }
        };
        let report = attempt.report;
        if args.require_matches {
            require(&report)?;
        }
        if job.json {
            let rules = report.rules.iter().map(|applied| done_by(applied, &report)).collect::<Vec<_>>();
            job.extra.insert("rules".to_owned(), serde_json::to_value(rules)?);
        } else {
            for applied in &report.rules {
                let line = format!("{}: {}", job.path, line(applied, &report, job.most()));
                match args.save.dry_run {
                    true => job.line(line),
                    false if job.talk.verbose => job.say(&line),
                    false => {}
                }
            }
        }
        let matching = report.rules.iter().filter(|applied| applied.count > 0).count();
        if matching == 0 {
            return Ok(Edited::Nothing("no rule matches".to_owned()));
        }
        let rules = count(report.rules.len(), "rule", "rules");
        let mut what = format!("{matching} of {rules} matched {}", count(report.matched(), "entity", "entities"));
        if from > 0 {
            what += &format!("; applied before: {}", count(from, "rule", "rules"));
        }
        if let Some(new) = attempt.entities {
            *entities = new;
        }
        let new = NewRecord::of(bake.with(Some(from), &entities.to_bytes()), map)?;
        match new {
            Some(new) if new.is_in_place => {
                Ok(Edited::Recorded { what, first: Some(Box::new(move || save(&new.map, &new.record, true))) })
            }
            // The record is written after the map.
            Some(new) => {
                done.lock().unwrap_or_else(PoisonError::into_inner).push(new);
                Ok(Edited::Recorded { what, first: None })
            }
            None => Ok(Edited::With { what, is_whole: true }),
        }
    });
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    if !args.save.dry_run {
        done.iter().for_each(|done| done.write(cx));
    }
    code
}

/// The record of a map that is to be saved.
struct NewRecord {
    map: PathBuf,
    record: Record,
    after: String,
    /// Whether the map is saved in its place. Then the record is written first: if the program ends in between, it says
    /// what the map was to become, and nothing is applied twice.
    is_in_place: bool,
}

impl NewRecord {
    /// The record for a map that is saved to a file.
    fn of(bake: Bake<'_>, map: &MapFile) -> Result<Option<Self>> {
        let Some(target) = map.target.as_deref().filter(|target| !is_stdin(target)) else { return Ok(None) };
        let (record, state) = bake.into_record();
        let is_in_place =
            real_path(target)?.is_some_and(|real| real_path(&map.path).is_ok_and(|path| path == Some(real)));
        Ok(Some(NewRecord { map: target.to_path_buf(), record, after: state.entities, is_in_place }))
    }

    /// Writes the record, if the file has the entities that it tells of.
    fn write(&self, cx: &Context) {
        let is_saved =
            cx.open(&self.map).and_then(|bsp| Ok(State::of(&bsp)?)).is_ok_and(|now| now.entities == self.after);
        if !is_saved {
            return;
        }
        if let Err(error) = save(&self.map, &self.record, self.is_in_place) {
            let text = format!("{}: the rules are applied and not recorded: {error}", shown(&self.map));
            cx.talk.stderr(cx.talk.warning(&text).as_bytes());
        }
    }
}

/// Says how much of each file is not read as it looks; `rules lint` lists it.
fn warn_of_findings(cx: &Context, files: &RuleFiles) {
    for file in files.all().into_iter().filter(|file| file.refusal().is_none()) {
        let of = |severity| file.findings.iter().filter(|found| found.code.severity == severity).count();
        let (errors, warnings) = (of(Severity::Error), of(Severity::Warning));
        if errors + warnings > 0 {
            let [errors, warnings] = [count(errors, "error", "errors"), count(warnings, "warning", "warnings")];
            let text = format!("{}: {errors}, {warnings}; `bspkit rules lint` lists them", file.name);
            cx.talk.stderr(cx.talk.warning(&text).as_bytes());
        }
    }
}

/// Refuses a map in which a rule matches nothing.
fn require(report: &Report<'_>) -> Result<()> {
    let mut unmatched = report.unmatched();
    let Some(first) = unmatched.next() else { return Ok(()) };
    let rest: Vec<String> = unmatched.collect();
    let more = if rest.is_empty() { String::new() } else { format!(", and {} more", rest.len()) };
    let error = Error::new(ErrorKind::Refused, format!("the rule at {first} matches nothing{more}"));
    Err(error.with_list(rest).into())
}

fn verb(action: &Action) -> [&'static str; 2] {
    match action {
        Action::Remove => ["remove", "removes"],
        Action::Add(_) | Action::AddFor(..) => ["add", "adds"],
        _ => ["modify", "matches"],
    }
}

fn done_by<'r>(applied: &Applied<'r>, report: &'r Report<'_>) -> Done<'r> {
    let entity = |index: &usize| Matched { index: *index, who: report.entities.get(index) };
    Done {
        file: &applied.file.name,
        line: applied.rule.at.line,
        action: verb(&applied.rule.action)[0],
        count: applied.count,
        entities: applied.matched.iter().map(entity).collect(),
        pairs: applied.pairs,
    }
}

/// What a rule did, as a line of text.
fn line(applied: &Applied<'_>, report: &Report<'_>, most: usize) -> String {
    let place = format!("{}:{}", applied.file.name, applied.rule.at.line);
    if applied.count == 0 {
        return format!("{place} matches nothing");
    }
    let shown = |index: &usize| {
        let who = report.entities.get(index);
        let class = who.and_then(|who| who.class.as_deref()).map(|class| format!(" {}", text_and_raw(class).0));
        let name = who.and_then(|who| who.name.as_deref()).map(|name| format!(" `{}`", text_and_raw(name).0));
        format!("#{index}{}{}", class.unwrap_or_default(), name.unwrap_or_default())
    };
    let listed: Vec<String> = applied.matched.iter().take(most).map(shown).collect();
    let rest = applied.count - listed.len();
    let more = if rest > 0 { format!(" and {rest} more (-v lists them)") } else { String::new() };
    let pairs = match (&applied.rule.action, applied.pairs) {
        (Action::Modify(_) | Action::Acts(_), PairCounts { removed, set, added }) => {
            format!(" (pairs: {removed} removed, {set} set, {added} added)")
        }
        _ => String::new(),
    };
    let entities = count(applied.count, "entity", "entities");
    format!("{place} {} {entities}{pairs}: {}{more}", verb(&applied.rule.action)[1], listed.join(", "))
}
