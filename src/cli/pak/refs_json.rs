//! The report of `pak refs`.

use anyhow::Result;
use bspkit::bytes::escaped;
use bspkit::content::pattern::Pattern;
use bspkit::op::needs::{Found, Need, Needs, Reference, Referrer};
use serde::{Serialize, Serializer};

use super::refs::{list, tree};
use crate::cli::report::Report;
use crate::cli::show::{count, text_and_raw};
use crate::cli::talk::Job;

/// What a map refers to, or those of its files that patterns match.
pub(super) struct Refs {
    needs: Needs,
    patterns: Vec<Pattern>,
}

impl Refs {
    pub(super) fn new(needs: Needs, patterns: Vec<Pattern>) -> Self {
        Refs { needs, patterns }
    }
}

#[derive(Serialize)]
struct Document {
    files: Vec<FileJson>,
    unresolved: Vec<UnresolvedJson>,
    faults: Vec<FaultJson>,
}

#[derive(Serialize)]
struct FileJson {
    /// The number by which references name it.
    index: usize,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<String>,
    kind: &'static str,
    sure: &'static str,
    found: &'static str,
    references: Vec<ReferenceJson>,
}

#[derive(Serialize)]
struct ReferenceJson {
    #[serde(flatten)]
    place: PlaceJson,
    written: String,
    sure: &'static str,
}

/// The fields of a place: those of an entity, of a record, or of a file; none for what engines look for by themselves.
#[derive(Serialize, Default)]
struct PlaceJson {
    by: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    entity: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lump: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
}

#[derive(Serialize)]
struct UnresolvedJson {
    kind: &'static str,
    name: String,
    sure: &'static str,
    #[serde(flatten)]
    place: PlaceJson,
}

#[derive(Serialize)]
struct FaultJson {
    name: String,
    message: String,
}

fn text(bytes: &[u8]) -> String {
    text_and_raw(bytes).0.into_owned()
}

fn place(referrer: &Referrer) -> PlaceJson {
    match referrer {
        Referrer::Entity { index, class, key } => PlaceJson {
            by: "entity",
            entity: Some(*index),
            class: Some(text(class)),
            key: Some(text(key)),
            ..PlaceJson::default()
        },
        Referrer::Record { lump, index } => {
            PlaceJson { by: "record", lump: Some(lump), record: Some(*index), ..PlaceJson::default() }
        }
        Referrer::File { index, line } => {
            PlaceJson { by: "file", file: Some(*index), line: *line, ..PlaceJson::default() }
        }
        Referrer::MapName => PlaceJson { by: "map name", ..PlaceJson::default() },
        _ => PlaceJson { by: "engine", ..PlaceJson::default() },
    }
}

fn file((index, need): (usize, &Need)) -> FileJson {
    let reference = |reference: &Reference| ReferenceJson {
        place: place(&reference.referrer),
        written: text(&reference.written),
        sure: reference.sure.name(),
    };
    let (name, raw) = text_and_raw(&need.name);
    FileJson {
        index,
        name: name.into_owned(),
        raw,
        kind: need.kind.name(),
        sure: need.sure.name(),
        found: need.found.name(),
        references: need.references.iter().map(reference).collect(),
    }
}

impl Serialize for Refs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Needs { files, unresolved, faults, .. } = &self.needs;
        let unresolved = unresolved.iter().map(|name| UnresolvedJson {
            kind: name.kind.name(),
            name: text(&name.name),
            sure: name.sure.name(),
            place: place(&name.referrer),
        });
        let faults = faults.iter().map(|fault| FaultJson { name: text(&fault.name), message: fault.message.clone() });
        let is_asked =
            |need: &Need| self.patterns.is_empty() || self.patterns.iter().any(|pattern| pattern.matches(&need.name));
        let files = files.iter().enumerate().filter(|(_, need)| is_asked(need)).map(file).collect();
        Document { files, unresolved: unresolved.collect(), faults: faults.collect() }.serialize(serializer)
    }
}

impl Report for Refs {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        let Needs { files, unresolved, faults, .. } = &self.needs;
        match self.patterns.is_empty() {
            true => tree(&self.needs, job),
            false => list(&self.needs, &self.patterns, job),
        }
        for name in unresolved.iter().filter(|_| self.patterns.is_empty()) {
            let place = self.needs.place(&name.referrer);
            job.line(format!("unknown  {}  ({} of {place})", escaped(&name.name), name.kind.name()));
        }
        for fault in faults {
            job.warn_here(&format!("`{}` is skipped: {}", escaped(&fault.name), fault.message));
        }
        let of = |found: Found| files.iter().filter(|need| need.found == found).count();
        let (packed, game) = (of(Found::Packed), of(Found::Game));
        let all = count(files.len(), "file", "files");
        job.say(&format!("{}: {all}, {packed} packed, {game} in the game", job.path));
        Ok(())
    }

    fn heading(&self, path: &str) -> Option<String> {
        Some(format!("{path}:"))
    }
}
