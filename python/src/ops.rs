//! What works on whole maps: differences, patches, rules, queries. Reports come as JSON, which Python reads.

use std::path::Path;

use bspkit::face::changes::ComparisonJson;
use bspkit::face::rules::{Reading, RuleFiles};
use bspkit::face::{patch, records};
use bspkit::op::needs::{self, Need};
use bspkit::op::query::{FieldChange, Query};
use bspkit::op::rename::Rename;
use bspkit::op::rules::{self, Mode};
use bspkit::op::{compare, diff};
use bspkit::{Draft, Error, ErrorKind};

use crate::errors::Res;
use crate::shared::State;

/// What differs between two maps, as the program's `--json` says it. At most `most` differences of a lump are named.
pub(crate) fn differences(old: &Draft<'static>, new: &Draft<'static>, most: usize) -> bspkit::Result<String> {
    let found = compare::maps(&crate::shared::current(old)?, &crate::shared::current(new)?, most)?;
    serde_json::to_string(&ComparisonJson::new(&found))
        .map_err(|error| Error::new(ErrorKind::Argument, error.to_string()))
}

/// The patch of entities that leads from one map to another, as JSON.
pub(crate) fn patch_between(old: &Draft<'static>, new: &Draft<'static>) -> bspkit::Result<String> {
    let (old, new) = (crate::shared::current(old)?, crate::shared::current(new)?);
    let found = diff::diff(&*old.entities()?, &*new.entities()?)?;
    Ok(patch::write(&found))
}

/// Applies a patch of entities: all of it or nothing.
pub(crate) fn apply_patch(state: &mut State, text: &[u8]) -> Res<()> {
    let found = patch::read(text)?;
    let (entities, _) = state.entities()?;
    found.apply_to(entities)?;
    state.forget_entities();
    Ok(())
}

/// A rule that was applied: its file, its line, and how many entities it matched.
pub(crate) type AppliedRule = (String, usize, usize);

/// Applies a rule file, or those of a folder that are for the map.
pub(crate) fn apply_rules(state: &mut State, path: &Path, mode: &str, map: &str) -> Res<Vec<AppliedRule>> {
    let mode = match mode {
        "plugin" => Mode::Plugin,
        "strict" => Mode::Strict,
        "lumper" => Mode::Lumper,
        _ => {
            let message = format!("`{mode}` is not a mode: they are plugin, strict and lumper");
            return Err(Error::new(ErrorKind::Argument, message).into());
        }
    };
    let files = RuleFiles::read(path, Reading { mode, format: None })?;
    let (entities, _) = state.entities()?;
    let report = rules::apply(files.usable(map)?, entities, map)?;
    let row = |applied: &rules::Applied<'_>| (applied.file.name.clone(), applied.rule.at.line, applied.count);
    let applied: Vec<AppliedRule> = report.rules.iter().map(row).collect();
    if applied.iter().any(|(.., count)| *count > 0) {
        state.forget_entities();
    }
    Ok(applied)
}

/// The values that a query finds: the index of each record, and the value as JSON.
pub(crate) fn values(draft: &Draft<'static>, query: &str) -> bspkit::Result<Vec<(usize, String)>> {
    let (query, map) = (Query::parse(query)?, crate::shared::current(draft)?);
    let names = bspkit::record::FlagNames::default();
    let mut found = Vec::new();
    query.each(&map, names, |index, value| {
        found.push((index, records::value_json(value, names)));
        Ok::<_, Error>(true)
    })?;
    Ok(found)
}

/// Sets a field of all records that a query finds (`FACES[texinfo=3].texinfo=7`); returns how many were found.
pub(crate) fn set_values(state: &mut State, change: &str) -> Res<usize> {
    let change = FieldChange::parse(change)?;
    Ok(change.apply(state.draft()?, bspkit::record::FlagNames::default())?)
}

/// What a renaming changed: place, old and new; and the places that have the old name and stay.
pub(crate) type Renamed = (Vec<(String, String, String)>, Vec<String>);

/// Gives a map another name, in all paths that are put together from it.
pub(crate) fn rename(state: &mut State, old: &str, new: &str, force: bool) -> Res<Renamed> {
    let renamed = Rename::new(old, new)?.merging(force).apply(state.draft()?)?;
    state.forget_entities();
    let text = |bytes: &[u8]| bspkit::bytes::escaped(bytes).to_string();
    let changes = renamed.changes.iter();
    let changes = changes.map(|change| (change.place.to_string(), text(&change.from), text(&change.to)));
    Ok((changes.collect(), renamed.left.iter().map(ToString::to_string).collect()))
}

/// What a Source map refers to: name, kind, how sure, where it was found, and what refers to it.
pub(crate) type Needed = (String, &'static str, &'static str, &'static str, Vec<String>);

/// Finds what a map refers to.
pub(crate) fn needs(draft: &Draft<'static>, name: &str) -> bspkit::Result<Vec<Needed>> {
    let found = needs::find(&crate::shared::current(draft)?, &needs::Options::new(name))?;
    let row = |need: &Need| {
        let name = bspkit::bytes::escaped(&need.name).to_string();
        let references = need.references.iter().map(|reference| reference.to_string()).collect();
        (name, need.kind.name(), need.sure.name(), need.found.name(), references)
    };
    Ok(found.files.iter().map(row).collect())
}
