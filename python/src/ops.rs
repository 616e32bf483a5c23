//! What works on whole maps: differences, patches, rules, queries. Reports come as JSON, which Python reads.

use std::path::PathBuf;

use bspkit::face::changes::ComparisonJson;
use bspkit::face::{patch, records, rules as files};
use bspkit::op::query::{FieldChange, Query};
use bspkit::op::rules::{self, Mode};
use bspkit::op::{compare, diff};
use bspkit::{Draft, Error, ErrorKind};

use crate::errors::Res;
use crate::map::State;

/// What differs between two maps, as the program's `--json` says it. At most `most` differences of a lump are named.
pub(crate) fn differences(old: &Draft<'static>, new: &Draft<'static>, most: usize) -> bspkit::Result<String> {
    let found = compare::maps(&crate::map::current(old)?, &crate::map::current(new)?, most)?;
    serde_json::to_string(&ComparisonJson::new(&found))
        .map_err(|error| Error::new(ErrorKind::Argument, error.to_string()))
}

/// The patch of entities that leads from one map to another, as JSON.
pub(crate) fn patch_between(old: &Draft<'static>, new: &Draft<'static>) -> bspkit::Result<String> {
    let (old, new) = (crate::map::current(old)?, crate::map::current(new)?);
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

/// Applies a rule file; returns for each rule its line and how many entities it matched.
pub(crate) fn apply_rules(state: &mut State, path: &PathBuf, mode: &str, map: &str) -> Res<Vec<(usize, usize)>> {
    let mode = match mode {
        "plugin" => Mode::Plugin,
        "strict" => Mode::Strict,
        "lumper" => Mode::Lumper,
        _ => {
            let message = format!("`{mode}` is not a mode: they are plugin, strict and lumper");
            return Err(Error::new(ErrorKind::Argument, message).into());
        }
    };
    let text = std::fs::read(path)?;
    let name = path.display().to_string();
    let found = files::read(&name, &text, files::detect(&name, &text), mode);
    if let Some(refusal) = found.refusal() {
        return Err(refusal.into());
    }
    let (entities, _) = state.entities()?;
    let report = rules::apply([&found], entities, map)?;
    let counts = report.rules.iter().map(|applied| (applied.rule.at.line, applied.count)).collect();
    state.forget_entities();
    Ok(counts)
}

/// The values that a query finds: the index of each record, and the value as JSON.
pub(crate) fn values(draft: &Draft<'static>, query: &str) -> bspkit::Result<Vec<(usize, String)>> {
    let (query, map) = (Query::parse(query)?, crate::map::current(draft)?);
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
