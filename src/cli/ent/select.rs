//! Code that the `ent` commands share: the selection of entities, and warnings about broken text.

use std::path::Path;

use anyhow::Result;
use bspkit::bytes::escaped;
use bspkit::content::entities::{Diagnostic, DiagnosticKind, Diagnostics, Entities, Key};
use bspkit::content::select::Selector;
use bspkit::dialect::Role;
use bspkit::face::report::{FindingJson, PlaceJson};
use bspkit::op::check::Severity;
use bspkit::{Bounds, Bsp, Error, ErrorKind};

use crate::cli::context::Context;
use crate::cli::maps::MapArgs;
use crate::cli::save::{Edited, Save};
use crate::cli::show::count;
use crate::cli::talk::{Code, Job};

/// The most oddities that are listed; the others are only counted.
const LISTED: usize = 10;

/// A selector, and its text as the user wrote it.
#[derive(Clone)]
pub(super) struct Choice {
    pub(super) text: String,
    selector: Selector,
}

impl Choice {
    pub(super) fn parse(text: &str) -> Result<Self> {
        Ok(Choice { text: text.to_owned(), selector: Selector::parse(text)? })
    }

    /// The indices of the matching entities, which are to be edited. Warns of broken text in them.
    fn edited(&self, entities: &Entities<'_>, job: &mut Job<'_>) -> Vec<usize> {
        let indices = self.of(entities);
        let is_edited = |found: &&Diagnostic| found.entity.is_some_and(|index| indices.binary_search(&index).is_ok());
        let is_listed = |found: &&Diagnostic| job.talk.verbose || is_broken(found.kind) && is_edited(found);
        let diagnostics: Vec<_> = entities.diagnostics().iter().filter(is_listed).collect();
        warn_of(diagnostics.len(), diagnostics.into_iter(), job);
        indices
    }

    /// The indices of the matching entities.
    pub(super) fn of(&self, entities: &Entities<'_>) -> Vec<usize> {
        entities.select(&self.selector)
    }

    /// The message if it matches nothing.
    pub(super) fn nothing(&self, entities: &Entities<'_>) -> String {
        let near = close(&entities.near(&self.selector));
        let meant = if near.is_empty() { self.meant(entities) } else { String::new() };
        format!("nothing matches {}{near}{meant}", self.text)
    }

    /// The form that the user may have meant, if the selector is a plain word that is not a class of the map.
    fn meant(&self, entities: &Entities<'_>) -> String {
        let text = &self.text;
        if text.contains(['[', '#', ':', ',']) {
            return String::new();
        }
        let with_key = entities.iter().filter(|entity| entity.get(text).is_some()).count();
        match () {
            () if text.bytes().all(|byte| byte.is_ascii_digit()) => {
                format!(": #{text} is the entity of this number")
            }
            () if text.contains('=') => format!(": [{text}] compares a value"),
            () if with_key > 0 => {
                format!(": [{text}] matches {}", count(with_key, "entity with this key", "entities with this key"))
            }
            () if Path::new(text).exists() => {
                ": it is a file or folder; with `--` before the selector, folders before it are maps".to_owned()
            }
            () => String::new(),
        }
    }

    /// The message if no entity that it matches has one of these keys.
    pub(super) fn nothing_with(&self, keys: &[&Key], entities: &Entities<'_>) -> String {
        let shown: Vec<_> = keys.iter().map(|key| format!("`{key}`")).collect();
        self.without(&format!("the key {}", shown.join(" or ")), keys, entities)
    }

    /// The message if no entity that it matches has something, with keys that are close to these.
    pub(super) fn without(&self, what: &str, keys: &[&Key], entities: &Entities<'_>) -> String {
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
pub(super) struct Which {
    #[command(flatten)]
    maps: MapArgs,
    /// The entities
    #[arg(value_name = "SEL")]
    selector: String,
}

/// The selected entities of one map: at least one.
pub(super) struct Chosen<'c> {
    pub(super) choice: &'c Choice,
    pub(super) indices: &'c [usize],
}

impl Which {
    /// Edits the entities that the selector matches, and saves each map that has some.
    pub(super) fn edit(
        &self,
        cx: &Context,
        save: &Save,
        edit: impl Fn(&mut Entities<'static>, &Chosen<'_>, &mut Job<'_>) -> Result<Edited> + Sync,
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
            edit(entities, &Chosen { choice: &choice, indices: &indices }, job)
        })
    }
}

/// Refuses a map whose entities are not in the file, since it is cut off; warns if a part of them is there.
pub(super) fn refuse_cut(bsp: &Bsp<'_>, job: &mut Job<'_>) -> Result<()> {
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
pub(super) fn is_broken(kind: DiagnosticKind) -> bool {
    use DiagnosticKind::{KeyWithoutValue, MissingClosingBrace, NestedBrace, UnterminatedQuote};
    matches!(kind, KeyWithoutValue | MissingClosingBrace | NestedBrace | UnterminatedQuote)
}

/// Warns of oddities of a text that is only read, with `--verbose`.
pub(super) fn warn_if_verbose(diagnostics: &Diagnostics, job: &mut Job<'_>) {
    if job.talk.verbose {
        warn_of(diagnostics.total(), diagnostics.iter(), job);
    }
}

/// Warns of oddities: lists the first ones and counts the others.
pub(super) fn warn_of<'d>(total: usize, diagnostics: impl Iterator<Item = &'d Diagnostic>, job: &mut Job<'_>) {
    for diagnostic in diagnostics.take(LISTED) {
        job.warn_here(&format!("the entity text: {diagnostic}"));
    }
    if total > LISTED {
        job.warn_here(&format!(
            "the entity text: {}",
            count(total - LISTED, "more place is odd", "more places are odd")
        ));
    }
}

/// The oddities, in JSON.
pub(super) fn findings(diagnostics: &Diagnostics) -> Vec<FindingJson> {
    let rows = diagnostics.iter().map(|diagnostic| {
        let offset = u64::try_from(diagnostic.span.start).ok();
        let place = PlaceJson { entity: diagnostic.entity, offset, ..PlaceJson::default() };
        FindingJson::new("entity-text", Severity::Warning, place, diagnostic.kind.to_string())
    });
    rows.collect()
}
