//! Rules that are applied once: what was applied before is known by the record beside the map, or seen in the map.

use std::ops::Range;
use std::path::Path;

use crate::{self as rules, Application, Attempt, Known, Past, Record, Rules, State, record};
use bspkit::content::entities::Entities;
use bspkit::file::SideFile;
use bspkit::{Bsp, Result, SaveOptions};

/// The rules for a map, and what is known of those that were applied to it.
///
/// ```
/// use bspkit_rules::files::{Reading, RuleFiles};
/// use bspkit_rules::{Bake, Tried};
/// let folder = tempfile::tempdir()?;
/// let [map, rules] = ["rooms.bsp", "rooms.cfg"].map(|name| folder.path().join(name));
/// std::fs::copy("../../tests/maps/q2/own_rooms.bsp", &map)?;
/// std::fs::write(&rules, "add:\n{\n\"classname\" \"info_null\"\n}\n")?;
///
/// let files = RuleFiles::read(&rules, Reading::default())?;
/// let mut draft = bspkit::Bsp::open(&map)?.draft();
/// let bake = Bake::of(draft.bsp(), Some(&map), files.usable("rooms")?, "rooms")?;
/// let entities = draft.entities()?;
/// let Tried::Open { from, attempt } = bake.attempt(entities, false)? else { unreachable!() };
/// *entities = attempt.entities.unwrap();
/// let again = bake.with(Some(from), &entities.to_bytes());
/// assert!(matches!(again.attempt(entities, false)?, Tried::Done(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Bake<'r> {
    files: Vec<&'r Rules>,
    name: String,
    record: Record,
    state: State,
    rules: Vec<Known>,
}

/// What applying rules comes to.
#[derive(Debug)]
pub enum Tried<'r, 'a> {
    /// The rules from this one on were not applied before; this is what they do.
    Open {
        /// The number of rules that were applied before.
        from: usize,
        /// What the others do.
        attempt: Attempt<'r, 'a>,
    },
    /// All of them were applied before, as the sentence says.
    Done(String),
    /// It cannot be known what was applied before, for the reason in the sentence.
    Unknown(String),
}

impl<'r> Bake<'r> {
    /// The rules of these files for a map, whose record is beside `path`.
    ///
    /// # Errors
    /// As [`record::read`] and [`State::of`].
    pub fn of(bsp: &Bsp<'_>, path: Option<&Path>, files: Vec<&'r Rules>, name: &str) -> Result<Self> {
        let record = path.map_or_else(|| Ok(Record::default()), record::read)?;
        Ok(Bake::after(record, State::of(bsp)?, files, name))
    }

    /// The rules of these files for a map that is being edited.
    pub fn after(record: Record, state: State, files: Vec<&'r Rules>, name: &str) -> Self {
        let rules = rules::known(files.iter().copied(), name);
        Bake { files, name: name.to_owned(), record, state, rules }
    }

    /// Applies the rules that were not applied before to a copy of the entities, or all of them with `again`. No rules
    /// are tried twice.
    ///
    /// # Errors
    /// As [`rules::attempt`].
    pub fn attempt<'a>(&self, entities: &Entities<'a>, again: bool) -> Result<Tried<'r, 'a>> {
        let run = |part: Range<usize>| rules::attempt(self.files.iter().copied(), part, entities, &self.name);
        let mut last = None;
        let past = match again {
            true => Past::Open(0),
            false => self.record.past(&self.state, &self.rules, |part| {
                let (_, tried) = last.insert((part.clone(), run(part)));
                tried.as_ref().ok().map(|attempt| attempt.effect)
            }),
        };
        match past {
            Past::Open(from) => {
                let part = from..self.rules.len();
                let attempt = match last {
                    Some((tried, attempt)) if tried == part => attempt?,
                    _ => run(part)?,
                };
                Ok(Tried::Open { from, attempt })
            }
            Past::Done(why) => Ok(Tried::Done(why)),
            Past::Unknown(why) => Ok(Tried::Unknown(why)),
        }
    }

    /// What is known after the rules from this one on were applied, and the entities are this text. Without a number
    /// nothing was applied now: what the map has already counts as applied if nothing is recorded.
    #[must_use]
    pub fn with(&self, from: Option<usize>, text: &[u8]) -> Self {
        let (mut applied, _) = self.record.in_map(&self.state);
        let state = self.state.with_entities(text);
        if let Some(from) = from.or(applied.is_empty().then_some(0)) {
            let (before, after) = (self.state.entities.clone(), state.entities.clone());
            applied.push(Application { rules: self.rules[from..].to_vec(), before, after });
        }
        let record = Record { build: self.state.build.clone(), applied };
        Bake { record, state, ..self.clone() }
    }

    /// The record, and the map that it is of.
    pub fn into_record(self) -> (Record, State) {
        (self.record, self.state)
    }
}

/// Writes the record of a map beside it, unless the same one is there. Before a map is saved in its place the record is
/// written with `joined`: what other programs have recorded meanwhile stays in it, and if the map is not saved after
/// all, the record says what the map was to become, and so counts for nothing.
///
/// # Errors
/// As [`record::read`] and [`bspkit::Plan::save_with`].
pub fn save(map: &Path, record: &Record, joined: bool) -> Result<()> {
    SideFile::update(&record::path(map), &SaveOptions::default(), |old| {
        let mut new = record.clone();
        if joined {
            new.join(record::read(map)?);
        }
        let text = record::write(&new)?.into_bytes();
        Ok((old != Some(&text[..])).then_some(text))
    })
    .map(drop)
}
