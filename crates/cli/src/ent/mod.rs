//! `ent`: the entities of a map.

mod collection;
mod edits;
mod patches;
mod text;

use std::ffi::OsString;
use std::path::Path;

use anyhow::Result;
use bspkit::bytes::escaped;
use bspkit::content::entities::{Diagnostic, DiagnosticKind, Diagnostics, Entities, Entity, Key};
use bspkit::content::select::Selector;
use bspkit::dialect::Role;
use bspkit::finding::{Code as FindingCode, Finding, Severity};
use bspkit::{Bounds, Bsp, Error, ErrorKind, Place};
use bspkit_text::entities::{EntityJson, checksum};
use serde::ser::{Error as _, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::value::to_raw_value;

use super::context::Context;
use super::talk::{Code, bad_argument};
use super::{commands, help};
use crate::context::{self, Report};
use crate::maps::{MapArgs, Reading};
use crate::save::{Edited, Save};
use crate::talk::{Job, ValueJson, count};
use collection::CollectionArgs;

/// Read and edit the entities
///
/// SEL selects entities: `light` (a class), `info_player_*`, `#17` (an index), `*` (all), `[targetname]` (has this
/// key), `[style=32]`, `[target^=door_]` (starts with), `[target$=_1]` (ends with), `[target*=oor]` (contains),
/// `[message~/re/i]` (matches a regular expression; `i` ignores case), `[wait>2]`, `<`, `>=`, `<=` (if the value is one
/// number), `:not(SEL)`. These can follow a class or each other. `light,#17` selects both. Case matters in values, but
/// not in classes and keys.
#[derive(clap::Args)]
#[command(disable_help_subcommand = true, after_help = help!(
    "  bspkit ent list dm4.bsp light
  bspkit ent get dm4.bsp worldspawn message
  bspkit ent set dm4.bsp worldspawn message=\"The Place\" -o out.bsp
  bspkit ent list dm4.bsp 'light[style>=32]:not([targetname]),[message~/^the /i]'
  bspkit ent rm maps 'info_null' -o cleaned"
))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: crate::words::Called<Command>,
}

commands! {
    List(ListArgs, run_list),
    Get(GetArgs, run_get),
    Set(edits::SetArgs, edits::run_set),
    Unset(edits::UnsetArgs, edits::run_unset),
    RenameKey(edits::RenameKeyArgs, edits::run_rename_key),
    Add(edits::AddArgs, edits::run_add),
    Dup(edits::DupArgs, edits::run_dup),
    Rm(edits::RmArgs, edits::run_rm),
    Mv(edits::MvArgs, edits::run_mv),
    Export(text::ExportArgs, text::run_export),
    Import(text::ImportArgs, text::run_import),
    Edit(text::EditArgs, text::run_edit),
    Fmt(text::FmtArgs, text::run_fmt),
    Diff(patches::DiffArgs, patches::run_diff),
    Patch(patches::PatchArgs, patches::run_patch),
    Apply(patches::ApplyArgs, patches::run_apply),
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.command.0.run(cx)
}

// Code that the `ent` commands share: the selection of entities, and warnings about broken text.

/// A selector, and its text as the user wrote it.
#[derive(Clone)]
struct Choice {
    text: String,
    selector: Selector,
}

impl Choice {
    fn parse(text: &str) -> Result<Self> {
        Ok(Choice { text: text.to_owned(), selector: Selector::parse(text)? })
    }

    /// The indices of the matching entities, which are to be edited. Warns of broken text in them.
    fn edited(&self, entities: &Entities<'_>, job: &mut Job<'_>) -> Vec<usize> {
        let indices = self.of(entities);
        let is_edited = |found: &&Diagnostic| found.entity.is_some_and(|index| indices.binary_search(&index).is_ok());
        let is_listed = |found: &&Diagnostic| job.talk.verbose || is_broken(found.kind) && is_edited(found);
        let diagnostics: Vec<_> = entities.diagnostics().iter().filter(is_listed).collect();
        warn_of(diagnostics.len(), diagnostics.into_iter(), job);
        if let Some(beyond) = self.beyond(entities).filter(|_| !indices.is_empty()) {
            job.warn_here(&beyond);
        }
        indices
    }

    /// The indices of the matching entities.
    fn of(&self, entities: &Entities<'_>) -> Vec<usize> {
        entities.matching(&self.selector)
    }

    /// The message if it matches nothing.
    fn nothing(&self, entities: &Entities<'_>) -> String {
        let mut near = close(&entities.near(&self.selector));
        if let Some(beyond) = self.beyond(entities) {
            near = format!("{near}{} {beyond}", if near.is_empty() { ":" } else { ";" });
        }
        let meant = if near.is_empty() { self.meant(entities) } else { String::new() };
        format!("nothing matches {}{near}{meant}", self.text)
    }

    /// What is said of a number that no entity has.
    fn beyond(&self, entities: &Entities<'_>) -> Option<String> {
        let index = self.selector.indexes().find(|index| *index >= entities.len())?;
        let last = match entities.len().checked_sub(1) {
            Some(last) => format!("the last one is #{last}"),
            None => "there are none".to_owned(),
        };
        let index = if index == usize::MAX { String::new() } else { format!(" #{index}") };
        Some(format!("the map has no entity{index}, {last}"))
    }

    /// The form that the user may have meant.
    fn meant(&self, entities: &Entities<'_>) -> String {
        match entities.meant(&self.text) {
            Some((text, found)) => format!(": {text} matches {}", count(found, "entity", "entities")),
            None if Path::new(&self.text).exists() => {
                ": it is a file or folder; with `--` before the selector, folders before it are maps".to_owned()
            }
            None => String::new(),
        }
    }

    /// The message if no entity that it matches has one of these keys.
    fn nothing_with(&self, keys: &[&Key], entities: &Entities<'_>) -> String {
        let shown: Vec<_> = keys.iter().map(|key| format!("`{key}`")).collect();
        self.without(&format!("the key {}", shown.join(" or ")), keys, entities)
    }

    /// The message if no entity that it matches has something, with keys that are close to these.
    fn without(&self, what: &str, keys: &[&Key], entities: &Entities<'_>) -> String {
        let indices = self.of(entities);
        let keys = keys.iter().filter(|key| key.nth.is_none());
        let near: Vec<_> = keys.flat_map(|key| entities.near_key(&key.name, &indices)).collect();
        format!("no entity that matches {} has {what}{}", self.text, close(&near))
    }
}

/// The end of a message about an unknown class, key or value: what the map has instead, and how many entities have it.
fn close(near: &[(Vec<u8>, usize)]) -> String {
    let near: Vec<_> = near.iter().map(|(name, count)| format!("{} ({count})", escaped(name))).collect();
    if near.is_empty() { String::new() } else { format!(": this map has {}", near.join(", ")) }
}

/// The maps and entities of an edit.
#[derive(clap::Args)]
struct Which {
    #[command(flatten)]
    maps: MapArgs,
    /// The entities
    #[arg(value_name = "SEL")]
    selector: String,
}

/// The selected entities of one map: at least one.
struct Selected<'c> {
    choice: &'c Choice,
    indices: &'c [usize],
}

impl Which {
    /// The error if a folder is where the selector has to be, after another one.
    fn misplaced(&self) -> Option<anyhow::Error> {
        let is_folder = self.maps.first().is_dir() && Path::new(&self.selector).is_dir();
        let message = || format!("{} is a folder, in the place of the selector", self.selector);
        let hint = "folders are maps only before `--`: bspkit ent set FOLDER FOLDER -o OUT -- SEL KEY=VALUE";
        is_folder.then(|| bad_argument(message(), hint))
    }

    /// Edits the entities that the selector matches, and saves each map that has some.
    fn edit(
        &self,
        cx: &Context,
        save: &Save,
        edit: impl Fn(&mut Entities<'static>, &Selected<'_>, &mut Job<'_>) -> Result<Edited> + Sync,
    ) -> Result<Code> {
        let choice = Choice::parse(&self.selector)?;
        save.each(cx, self.maps.find(), |draft, _, job| {
            refuse_cut(draft.bsp(), job)?;
            let entities = draft.entities()?;
            if save.force {
                entities.for_any_engine();
            }
            let indices = choice.edited(entities, job);
            if indices.is_empty() {
                return Ok(Edited::Nothing(choice.nothing(entities)));
            }
            edit(entities, &Selected { choice: &choice, indices: &indices }, job)
        })
    }
}

/// Refuses a map whose entities are not in the file, since it is cut off; warns if a part of them is there.
pub(crate) fn refuse_cut(bsp: &Bsp<'_>, job: &mut Job<'_>) -> Result<()> {
    let Some(slot) = bsp.role(Role::Entities) else { return Ok(()) };
    let message = format!("{} {}: the file is cut off", slot.name, slot.bounds);
    match slot.bounds {
        Bounds::Outside | Bounds::Negative => {
            Err(Error::new(ErrorKind::Damaged, format!("{message}, and its entities are not there")).into())
        }
        Bounds::Overrun => {
            job.warn_here(&format!("{message}, and entities at the end may be missing"));
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Whether an engine may read the entity in another way than its author meant it.
fn is_broken(kind: DiagnosticKind) -> bool {
    use DiagnosticKind::{KeyWithoutValue, MissingClosingBrace, NestedBrace, UnterminatedQuote};
    matches!(kind, KeyWithoutValue | MissingClosingBrace | NestedBrace | UnterminatedQuote)
}

/// Warns of oddities of a text that is only read, with `--verbose`.
fn warn_if_verbose(diagnostics: &Diagnostics, job: &mut Job<'_>) {
    if job.talk.verbose {
        warn_of(diagnostics.total(), diagnostics.iter(), job);
    }
}

/// Warns of oddities: lists the first ones and counts the others.
fn warn_of<'d>(total: usize, diagnostics: impl Iterator<Item = &'d Diagnostic>, job: &mut Job<'_>) {
    let mut listed = 0;
    for diagnostic in diagnostics {
        listed += 1;
        if job.takes("odd places of the entity text") {
            job.warn_here(&format!("the entity text: {diagnostic}"));
        }
    }
    (listed..total).for_each(|_| _ = job.takes("odd places of the entity text"));
}

static ENTITY_TEXT: FindingCode =
    FindingCode::new("entity-text", Severity::Warning, "engines may read the entity text in another way than intended");

/// The oddities, in JSON.
fn findings(diagnostics: &Diagnostics) -> Vec<Finding> {
    let rows = diagnostics.iter().map(|diagnostic| {
        let offset = u64::try_from(diagnostic.span.start).ok();
        let mut place = Place::default();
        (place.entity, place.offset) = (diagnostic.entity, offset);
        Finding::new(&ENTITY_TEXT, place, diagnostic.kind.to_string())
    });
    rows.collect()
}

// `ent list`: prints entities.

/// Print entities exactly as in the text
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent list dm4.bsp
  bspkit ent list dm4.bsp 'info_player_*' -n
  bspkit ent list dm4.bsp '[targetname]' --json
  bspkit ent list -l maps -- light
  bspkit ent list maps --group classname
  bspkit ent list maps --format csv > pairs.csv"
))]
pub(crate) struct ListArgs {
    #[command(flatten)]
    reading: Reading,
    /// The entities [default: all]
    #[arg(value_name = "SEL")]
    selector: Option<String>,
    /// Print the index before each entity, as a comment
    #[arg(short, long)]
    numbers: bool,
    #[command(flatten)]
    collection: CollectionArgs,
}

#[derive(Serialize)]
struct List<'a> {
    /// Which entities these are; without it, all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    selector: Option<&'a str>,
    /// The checksum of the text that they are from, also of those that are not listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    entities_crc32: Option<String>,
    #[serde(serialize_with = "all")]
    entities: Vec<Entity<'a>>,
    findings: Vec<Finding>,
    /// Whether to print the index of each entity.
    #[serde(skip)]
    with_numbers: bool,
}

impl Report for List<'_> {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        for entity in &self.entities {
            if self.with_numbers {
                job.line(format!("// #{}", entity.index()));
            }
            job.line(entity.bytes());
        }
        Ok(())
    }

    fn heading(&self, path: &str) -> Option<String> {
        (!self.entities.is_empty()).then(|| format!("// {path}"))
    }
}

/// Writes entities as JSON one at a time, since a text may have a million pairs; each is one line of an indented
/// document, for programs that search by line.
fn all<S: Serializer>(entities: &[Entity<'_>], serializer: S) -> Result<S::Ok, S::Error> {
    let mut list = serializer.serialize_seq(Some(entities.len()))?;
    for entity in entities {
        list.serialize_element(&to_raw_value(&EntityJson(entity)).map_err(S::Error::custom)?)?;
    }
    list.end()
}

fn run_list(cx: &Context, args: &ListArgs) -> Result<Code> {
    let choice = args.selector.as_deref().map(Choice::parse).transpose()?;
    let collection = args.collection.begin(cx)?;
    let code = collection.each(&args.reading, cx, |bsp, job| {
        refuse_cut(&bsp, job)?;
        let entities = bsp.entities()?;
        warn_if_verbose(entities.diagnostics(), job);
        let indices = choice.as_ref().map_or_else(|| (0..entities.len()).collect(), |choice| choice.of(&entities));
        let chosen: Vec<Entity<'_>> = indices.iter().filter_map(|index| entities.get(*index)).collect();
        if let Some(code) = collection.print(&chosen, None, job)? {
            return Ok(code);
        }
        job.report(&List {
            selector: args.selector.as_deref(),
            entities_crc32: job.json.then(|| checksum(&entities)),
            entities: chosen,
            findings: findings(entities.diagnostics()),
            with_numbers: args.numbers,
        })?;
        match &choice {
            Some(choice) if indices.is_empty() => Ok(job.nothing(&choice.nothing(&entities))),
            _ => Ok(Code::Done),
        }
    })?;
    collection.end(cx, args.reading.json)?;
    Ok(code)
}

// `ent get`: prints values.

/// Print values, one per line, exactly as in the text
///
/// Without a KEY all pairs are printed, with an empty line between entities. With a KEY and several maps each line is
/// PATH:#INDEX:VALUE.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent get dm4.bsp worldspawn message
  bspkit ent get dm4.bsp '#0'
  bspkit ent get dm4.bsp 'info_player_*' origin --json
  bspkit ent get maps '*' origin -c"
))]
pub(crate) struct GetArgs {
    #[command(flatten)]
    reading: Reading,
    /// The entities
    #[arg(value_name = "SEL")]
    selector: String,
    /// The key whose values are printed; KEY#2 is the second of equal keys
    #[arg(value_name = "KEY")]
    key: Option<OsString>,
    #[command(flatten)]
    collection: CollectionArgs,
}

#[derive(Serialize)]
struct Gotten<'a> {
    #[serde(serialize_with = "all")]
    entities: Vec<Entity<'a>>,
}

impl Report for Gotten<'_> {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        for (place, entity) in self.entities.iter().enumerate() {
            if place > 0 {
                job.line("");
            }
            for pair in entity.pairs() {
                job.line([b"\"", pair.key, b"\" \"", pair.value, b"\""].concat());
            }
        }
        Ok(())
    }

    fn heading(&self, path: &str) -> Option<String> {
        (!self.entities.is_empty()).then(|| format!("// {path}"))
    }
}

#[derive(Serialize)]
struct Values<'a> {
    entities: Vec<ValuesOf<'a>>,
}

#[derive(Serialize)]
struct ValuesOf<'a> {
    index: usize,
    values: Vec<ValueJson<'a>>,
}

impl Report for Values<'_> {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        for entity in &self.entities {
            let place = if job.many { format!("{}:#{}:", job.path, entity.index) } else { String::new() };
            entity.values.iter().for_each(|value| job.line([place.as_bytes(), value.0].concat()));
        }
        Ok(())
    }
}

fn run_get(cx: &Context, args: &GetArgs) -> Result<Code> {
    let choice = Choice::parse(&args.selector)?;
    let key = args.key.as_deref().map(context::key).transpose()?;
    let collection = args.collection.begin(cx)?;
    let code = collection.each(&args.reading, cx, |bsp, job| {
        refuse_cut(&bsp, job)?;
        let entities = bsp.entities()?;
        warn_if_verbose(entities.diagnostics(), job);
        let indices = choice.of(&entities);
        let chosen: Vec<Entity<'_>> = indices.iter().filter_map(|index| entities.get(*index)).collect();
        if let Some(code) = collection.print(&chosen, key.as_ref(), job)? {
            return Ok(code);
        }
        let Some(key) = &key else {
            let gotten = Gotten { entities: chosen };
            job.report(&gotten)?;
            return Ok(match gotten.entities.is_empty() {
                true => job.nothing(&choice.nothing(&entities)),
                false => Code::Done,
            });
        };
        let with_values = chosen.iter().map(|entity| (entity.index(), key.values(entity)));
        let with_values = with_values
            .filter(|(_, values)| !values.is_empty())
            .map(|(index, values)| ValuesOf { index, values: values.into_iter().map(ValueJson).collect() });
        let values = Values { entities: with_values.collect() };
        job.report(&values)?;
        match (values.entities.is_empty(), chosen.is_empty()) {
            (false, _) => Ok(Code::Done),
            (true, false) => Ok(job.nothing(&choice.nothing_with(&[key], &entities))),
            (true, true) => Ok(job.nothing(&choice.nothing(&entities))),
        }
    })?;
    collection.end(cx, args.reading.json)?;
    Ok(code)
}
