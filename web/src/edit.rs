//! Edits of entities, as the commands `ent set`, `ent unset`, `ent rename-key`, `ent add`, `ent dup` and `ent rm` make
//! them, and rule files.

#![forbid(unsafe_code)]

use bspkit::bytes::{escaped, unescape};
use bspkit::content::assign::{Assignment, Removal};
use bspkit::content::entities::{Entities, Key};
use bspkit::content::select::Selector;
use bspkit::{Draft, Error, ErrorKind, Result};
use bspkit_rules::Mode;
use bspkit_rules::files::{detect, map_name, read};
use serde::Serialize;

use crate::work::Work;

/// As many sentences of a kind are listed.
const MOST_SAID: usize = 20;

/// What an edit did.
#[derive(Serialize)]
struct Done {
    /// In how many entities something was edited.
    entities: usize,
    /// What stays as it is, and why.
    said: Vec<String>,
}

/// What a rule file did.
#[derive(Serialize)]
struct Ruled {
    /// The rules that matched something, and all rules.
    rules: [usize; 2],
    entities: usize,
    said: Vec<String>,
}

fn wrong(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Argument, message)
}

fn chosen(entities: &Entities<'_>, selector: &str) -> Result<Vec<usize>> {
    let indices = entities.matching(&Selector::parse(selector)?);
    if indices.is_empty() {
        let near = entities.near(&Selector::parse(selector)?);
        let near: Vec<String> = near.iter().map(|(name, count)| format!("{} ({count})", escaped(name))).collect();
        let near = if near.is_empty() { String::new() } else { format!(": this map has {}", near.join(", ")) };
        return Err(Error::new(ErrorKind::NotFound, format!("nothing matches {selector}{near}")));
    }
    Ok(indices)
}

fn edit(draft: &mut Draft<'static>, how: &str, selector: &str, words: &[String]) -> Result<Done> {
    let entities = draft.entities()?;
    if how == "add" {
        if words.is_empty() {
            return Err(wrong("a new entity needs pairs: KEY=VALUE, classname first"));
        }
        let pairs: Vec<_> = words.iter().map(|word| Assignment::parse(word)).collect::<Result<_>>()?;
        let pairs = Assignment::new_pairs(&pairs)?;
        entities.add(pairs.iter().map(|(key, value)| (key, value)))?;
        return Ok(Done { entities: 1, said: Vec::new() });
    }
    let indices = chosen(entities, selector)?;
    let mut done = Done { entities: indices.len(), said: Vec::new() };
    let text = |entities: &Entities<'_>, index: usize| entities.get(index).map(|entity| entity.bytes().to_vec());
    let before: Vec<_> = indices.iter().map(|index| text(entities, *index)).collect();
    match (how, words) {
        ("set", [_, ..]) => {
            let assignments: Vec<_> = words.iter().map(|word| Assignment::parse(word)).collect::<Result<_>>()?;
            let assigned = entities.assign(&indices, &assignments)?;
            done.said.extend(assigned.left.iter().take(MOST_SAID).map(ToString::to_string));
            let more = assigned.left_in_total.saturating_sub(MOST_SAID);
            done.said.extend((more > 0).then(|| format!("{more} more values stay as they are")));
            if assigned.entities == 0 {
                let why = done.said.first().map_or_else(|| format!("no value of {selector} matches"), Clone::clone);
                return Err(Error::new(ErrorKind::NotFound, why));
            }
        }
        ("unset", [_, ..]) => {
            let removals: Vec<_> = words.iter().map(|word| Removal::parse(word)).collect::<Result<_>>()?;
            let removed = entities.remove_pairs(&indices, &removals)?;
            if removed.iter().all(|count| *count == 0) {
                let message = format!("no entity that matches {selector} has {}", words.join(" or "));
                return Err(Error::new(ErrorKind::NotFound, message));
            }
        }
        ("rename", [old, new]) => {
            let (old, new) = (Key::parse(old)?, unescape(new));
            let mut renamed = 0;
            for index in &indices {
                let mut entity = entities.get_mut(*index)?;
                renamed += match old.nth {
                    None => entity.rename(&old.name, &new)?,
                    Some(nth) if nth > entity.entity().all(&old.name).count() => 0,
                    Some(nth) => entity.rename_nth(&old.name, nth, &new).map(|()| 1)?,
                };
            }
            if renamed == 0 {
                return Err(Error::new(
                    ErrorKind::NotFound,
                    format!("no entity that matches {selector} has the key {old}"),
                ));
            }
        }
        ("copy", []) => entities.duplicate_all(&indices)?,
        ("remove", []) => entities.remove_all(&indices)?,
        _ => return Err(wrong(format!("`{how}` does not go with {} words", words.len()))),
    }
    if matches!(how, "set" | "unset" | "rename") {
        let both = indices.iter().zip(before);
        done.entities = both.filter(|(index, before)| text(entities, **index) != *before).count();
        if done.entities == 0 {
            return Err(Error::new(ErrorKind::NotFound, "nothing changes"));
        }
    }
    Ok(done)
}

impl Work {
    /// Edits the entities that a selector matches. `set` takes `KEY=VALUE` and calculations, `unset` keys, `rename` the
    /// old and the new key, `add` the pairs of a new entity; `copy` and `remove` take nothing. The result is JSON:
    /// `entities`, `said`.
    ///
    /// # Errors
    /// A word cannot be read, nothing matches, or the map could not be read back.
    pub fn edit(&mut self, how: &str, selector: &str, words: &[String]) -> Result<String> {
        self.change(|draft| edit(draft, how, selector, words))
    }

    /// Sets the value of a key of one entity, of equal keys the one with the number `nth`, from 1. Key and value are as
    /// they are, with escapes. The result is that of [`Work::edit`].
    ///
    /// # Errors
    /// As [`Work::edit`].
    pub fn set_pair(&mut self, entity: usize, key: &str, nth: usize, value: &str) -> Result<String> {
        self.change(|draft| {
            draft.entities()?.get_mut(entity)?.set_nth(unescape(key), nth, unescape(value))?;
            Ok(Done { entities: 1, said: Vec::new() })
        })
    }

    /// Applies a rule file, of a format that its name or its text says: all rules or, after an error, none. The result
    /// is JSON: `rules`, `entities`, `said`.
    ///
    /// # Errors
    /// The rules cannot be read, none matches, or the map could not be read back.
    pub fn apply_rules(&mut self, name: &str, text: &[u8]) -> Result<String> {
        let rules = read(name, text, detect(name, text), Mode::default());
        rules.refusal().map_or(Ok(()), Err)?;
        let map = map_name(self.name.as_ref());
        let found = rules.findings.iter().map(|finding| format!("{name}:{}: {}", finding.at.line, finding.message));
        let found: Vec<String> = found.take(MOST_SAID).collect();
        self.change(|draft| {
            let report = rules.apply(draft.entities()?, &map)?;
            let matched = report.rules.iter().filter(|applied| applied.count > 0).count();
            if matched == 0 {
                let said: Vec<String> = ["no rule matches".to_owned()].into_iter().chain(found).collect();
                return Err(Error::new(ErrorKind::NotFound, said.join("; ")));
            }
            let idle = report.unmatched().map(|place| format!("{place} matches nothing"));
            Ok(Ruled {
                rules: [matched, report.rules.len()],
                entities: report.matched(),
                said: found.into_iter().chain(idle).take(MOST_SAID).collect(),
            })
        })
    }
}
