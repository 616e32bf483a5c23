//! What works on whole maps: differences, patches, rules, queries, checks. Reports come as JSON, which Python reads.

use std::collections::BTreeMap;
use std::path::Path;

use bspkit::bytes::escaped;
use bspkit::dialect::Role;
use bspkit::query::{FieldChange, Query};
use bspkit::verify::{self, Verdict};
use bspkit::{Error, ErrorKind};
use bspkit_game::rename::{self, OldName, Rename};
use bspkit_ops::merge;
use bspkit_ops::patch::{ALREADY, Patch, Search};
use bspkit_ops::{check, compare, diff};
use bspkit_rules::files::{Reading, RuleFiles};
use bspkit_rules::{Applied, Bake, Mode, Record, State, Tried, known, record};
use bspkit_text::changes::DiffJson;
use bspkit_text::{folder, patch, records};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{Res, detached};
use crate::needs::warn_of;
use crate::report::Finding;
use crate::shared::{Shared, current};

/// What differs between two maps, as the program's `--json` says it. At most `most` differences of a lump are named.
pub(crate) fn differences<'py>(py: Python<'py>, old: &Shared, new: &Shared, most: usize) -> Res<Bound<'py, PyAny>> {
    let (old, new) = (old.snapshot()?, new.snapshot()?);
    let text = detached(py, || {
        let (old, new) = (current(&old)?, current(&new)?);
        let found = compare::whole(&old, &new, most);
        serde_json::to_string(&DiffJson::new(&found, found.is_same()))
            .map_err(|error| Error::new(ErrorKind::Argument, error.to_string()))
    })?;
    Ok(py.import("json")?.call_method1("loads", (text,))?)
}

/// The patch of entities that leads from one map to another, as JSON.
pub(crate) fn patch_between(py: Python<'_>, old: &Shared, new: &Shared) -> Res<String> {
    let (old, new) = (old.snapshot()?, new.snapshot()?);
    let (text, others) = detached(py, || {
        let (old, new) = (current(&old)?, current(&new)?);
        let found = diff::diff(&*old.entities()?, &*new.entities()?)?;
        Ok((patch::write(&found), found.other_models(&old, &new)?))
    })?;
    others.into_iter().try_for_each(|other| warn_of(py, other))?;
    Ok(text)
}

/// Applies a patch of entities, JSON or what Python reads from it: all of it or nothing. Says what was guessed, what nothing
/// shows to be right, and which entities are at other places than in the map that the patch was made from.
pub(crate) fn apply_patch(
    py: Python<'_>,
    shared: &Shared,
    patch: &Bound<'_, PyAny>,
    fuzzy: bool,
    base: Option<&Shared>,
) -> Res<Vec<String>> {
    let text = match patch.extract::<String>() {
        Ok(text) => text,
        Err(_) => py.import("json")?.call_method1("dumps", (patch,))?.extract()?,
    };
    let found = patch::read(text.as_bytes())?;
    if fuzzy && base.is_some() {
        return Err(Error::new(ErrorKind::Argument, "a patch is guessed or merged, not both").into());
    }
    if let Some(base) = base {
        return merge_patch(py, shared, &found, base);
    }
    shared.with(|state| {
        let entities = state.entities()?;
        let search = if fuzzy { Search::Guess } else { Search::Exact };
        let located = found.locate(entities, search)?;
        let moved = located.found.iter().filter_map(|found| {
            let was = found.was.filter(|was| *was != found.index)?;
            Some(format!("operations[{}]: {} was #{was} and is #{}", found.operation, found.target, found.index))
        });
        let already = located.already.then(|| format!("not applied again: {ALREADY}"));
        let done = located.entities()?;
        let doubts = located.doubts(&done.to_bytes());
        let said = located.guesses.iter().cloned().chain(doubts).chain(moved).chain(already).collect();
        drop(located);
        *entities = done;
        state.forget_entities();
        Ok(said)
    })
}

/// Merges what a patch does to its base with what changed since then; a conflict is refused.
fn merge_patch(py: Python<'_>, shared: &Shared, patch: &Patch, base: &Shared) -> Res<Vec<String>> {
    let (base, ours) = (base.snapshot()?, shared.snapshot()?);
    let merged = detached(py, || {
        let (base, ours) = (current(&base)?, current(&ours)?);
        let merged = merge::merge_patch(&base, &ours, patch)?;
        if !merged.conflicts.is_empty() {
            let lines: Vec<String> = merged.conflicts.iter().map(ToString::to_string).collect();
            let message = "what the patch changes has changed since its base too";
            return Err(Error::new(ErrorKind::Refused, message).with_hint(lines.join("\n")));
        }
        let missing = || Error::new(ErrorKind::NotFound, "the map has no entity lump");
        let id = ours.role(Role::Entities).ok_or_else(missing)?.id;
        Ok((id, merged.draft.bytes(id)?.to_vec(), merged.doubts))
    })?;
    shared.change(|state| {
        let (id, bytes, doubts) = merged;
        state.draft()?.set(id, bytes)?;
        state.forget_entities();
        Ok(doubts)
    })
}

/// Applies a rule file, or those of a folder that are for the map. The result has for each rule its file, its line, and
/// how many entities it matched. Rules that were applied before are not applied again, with a warning.
pub(crate) fn apply_rules<'py>(
    py: Python<'py>,
    shared: &Shared,
    path: &Path,
    mode: &str,
    name: Option<String>,
    again: bool,
) -> Res<Vec<Bound<'py, PyAny>>> {
    let name = name.unwrap_or_else(|| shared.name());
    let home = shared.home();
    let (applied, before) = shared.with(|state| {
        let files = RuleFiles::read(path, Reading { mode: mode_named(mode)?, format: None })?;
        let usable = files.usable(&name)?;
        let pending = state.baked().take();
        let record = match (pending.clone(), &home) {
            (Some(record), _) => record,
            (None, Some(home)) => record::read(&home.absolute)?,
            (None, None) => Record::default(),
        };
        let now = State::of(state.bsp())?;
        let entities = state.entities()?;
        let bake = Bake::after(record.clone(), now.with_entities(&entities.to_bytes()), usable.clone(), &name);
        let tried = bake.attempt(entities, again);
        let (applied, before, record) = match tried {
            Ok(Tried::Open { from, attempt }) => {
                let row = |applied: &Applied<'_>| (applied.file.name.clone(), applied.rule.at.line, applied.count);
                let applied: Vec<(String, usize, usize)> = attempt.report.rules.iter().map(row).collect();
                let is_edit = applied.iter().any(|(.., count)| *count > 0);
                if let Some(new) = attempt.entities {
                    *entities = new;
                }
                let bake = if is_edit { bake.with(Some(from), &entities.to_bytes()) } else { bake };
                if is_edit {
                    state.forget_entities();
                }
                // Rules that match nothing leave what was applied before and is not saved yet.
                (applied, None, if is_edit { Some(bake.into_record().0) } else { pending })
            }
            Ok(Tried::Done(why)) => {
                let none = known(usable, &name).into_iter().map(|rule| (rule.file, rule.line, 0)).collect();
                (none, Some(why), Some(record))
            }
            Ok(Tried::Unknown(why)) => {
                *state.baked() = Some(record);
                let message = format!("it cannot be known whether to apply {} again: {why}", path.display());
                return Err(Error::new(ErrorKind::Refused, message).with_hint("again=True applies them").into());
            }
            Err(error) => {
                *state.baked() = Some(record);
                return Err(error.into());
            }
        };
        *state.baked() = record;
        Ok((applied, before))
    })?;
    if let Some(why) = before {
        let text = format!("{} is not applied again: {why}; again=True applies it", path.display());
        let kind = py.get_type::<pyo3::exceptions::PyUserWarning>();
        PyErr::warn(py, &kind, &std::ffi::CString::new(text).unwrap_or_default(), 1)?;
    }
    let rule = py.import("bspkit._types")?.getattr("AppliedRule")?;
    Ok(applied.into_iter().map(|row| rule.call1(row)).collect::<PyResult<_>>()?)
}

fn mode_named(name: &str) -> bspkit::Result<Mode> {
    match name {
        "plugin" => Ok(Mode::Plugin),
        "strict" => Ok(Mode::Strict),
        "lumper" => Ok(Mode::Lumper),
        _ => {
            let message = format!("`{name}` is not a mode: they are plugin, strict and lumper");
            Err(Error::new(ErrorKind::Argument, message))
        }
    }
}

/// The values that a query finds, by the index of the record; flags by their names in the usual game of the map.
pub(crate) fn values<'py>(py: Python<'py>, shared: &Shared, query: &str) -> Res<Bound<'py, PyDict>> {
    let draft = shared.snapshot()?;
    let found = detached(py, || {
        let (query, map) = (Query::parse(query)?, current(&draft)?);
        let (names, mut found) = (folder::names(&map, None)?, Vec::new());
        query.each(&map, names, |index, value| {
            found.push((index, records::value_json(value, names)));
            Ok::<_, Error>(true)
        })?;
        Ok(found)
    })?;
    let (loads, values) = (py.import("json")?.getattr("loads")?, PyDict::new(py));
    for (index, value) in found {
        values.set_item(index, loads.call1((value,))?)?;
    }
    Ok(values)
}

/// Sets a field of all records that a query finds (`FACES[texinfo=3].texinfo=7`); returns how many were found.
pub(crate) fn set_values(shared: &Shared, change: &str) -> Res<usize> {
    shared.change(|state| {
        let draft = state.draft()?;
        let names = folder::names(draft.bsp(), None)?;
        Ok(FieldChange::parse(change)?.apply_with(draft, names, records::parse_value)?)
    })
}

/// Gives a map another name, in all paths that are put together from it. The result has what changed (place, old and
/// new), and the places that have the old name and stay.
pub(crate) fn rename<'py>(
    py: Python<'py>,
    shared: &Shared,
    old: Option<String>,
    new: &str,
    force: bool,
) -> Res<Bound<'py, PyAny>> {
    let old = match old {
        Some(old) => old.into_bytes(),
        None => old_name(py, shared)?,
    };
    let renamed = shared.change(|state| {
        // Values of entities change, and neither their number nor their order.
        Ok(Rename::new(&old, new)?.merging(force).apply(state.draft()?)?)
    })?;
    let text = |bytes: &[u8]| bspkit::bytes::escaped(bytes).to_string();
    let changes = renamed.changes.iter();
    let changes = changes.map(|change| (change.place.to_string(), text(&change.from), text(&change.to)));
    let (changes, left): (Vec<_>, Vec<_>) = (changes.collect(), renamed.left.iter().map(ToString::to_string).collect());
    Ok(py.import("bspkit._types")?.call_method1("Renamed", (changes, left))?)
}

/// The old name of a map: that of its file, or the one that its paths have, with a warning.
fn old_name(py: Python<'_>, shared: &Shared) -> Res<Vec<u8>> {
    let (own, draft) = (shared.name().into_bytes(), shared.snapshot()?);
    match detached(py, || rename::old_name(&current(&draft)?, &own))? {
        OldName::Own => Ok(own),
        OldName::OfPaths(owner) => {
            let (own, name) = (escaped(&own), escaped(&owner.name));
            warn_of(py, format!("the paths in the map are those of `{name}`, not of `{own}`: {name} is the old name"))?;
            Ok(owner.name)
        }
        OldName::Unclear(owners) => {
            let list: Vec<String> = owners.iter().map(|owner| escaped(&owner.name).to_string()).collect();
            let message = format!("the map has paths of several maps: {}", list.join(", "));
            Err(Error::new(ErrorKind::Argument, message).with_hint("old says which name is the old one").into())
        }
    }
}

/// What an engine would refuse or a mapper should know.
pub(crate) fn check(py: Python<'_>, shared: &Shared, engine: Option<String>, allow: &[String]) -> Res<Vec<Finding>> {
    let draft = shared.snapshot()?;
    let findings = detached(py, || {
        let mut options = check::Options::default();
        if let Some(engine) = engine {
            options = options.engine(engine);
        }
        for code in allow {
            options = options.allow(code)?;
        }
        check::run(&current(&draft)?, &options)
    })?;
    Ok(findings.iter().map(Finding::new).collect())
}

/// Tries all laws on a map: `"pass"`, why it is skipped, or what failed.
pub(crate) fn verify(py: Python<'_>, shared: &Shared) -> Res<BTreeMap<&'static str, String>> {
    let draft = shared.snapshot()?;
    let outcome = detached(py, || current(&draft).map(|bsp| verify::run(&bsp)))?;
    let text = |verdict: &Verdict| match verdict {
        Verdict::Pass => "pass".to_owned(),
        Verdict::Skipped(why) => format!("skipped: {why}"),
        Verdict::Fail(what) => format!("fail: {what}"),
        _ => "unknown".to_owned(),
    };
    Ok(outcome.laws.iter().map(|(name, verdict)| (*name, text(verdict))).collect())
}
