//! The files that players of a Source map need: what the map refers to and does not have in its pakfile, and what
//! servers send. The list is KeyValues, of which the engine takes the keys (`CDownloadListGenerator` in
//! downloadlistgenerator.cpp).

use super::{Collector, Kind, Options, Origin};
use crate::bsp::Bsp;
use crate::content::assets::keyvalues::KeyValues;
use crate::content::assets::{Files, Stack, normal_name};
use crate::error::{Error, ErrorKind, Result};
use crate::op::needs::{self, Found, Sure};

/// Endings of files that are never sent (`CNetChan::IsValidFileForTransfer`).
const NOT_SENT: [&str; 19] = [
    "bat", "cfg", "com", "dll", "dylib", "exe", "gcf", "ini", "lmp", "log", "lst", "lua", "nut", "smx", "so", "sys",
    "vbs", "vdf", "zip",
];

/// Folders whose files are never sent.
const KEPT: [&str; 4] = ["addons/", "cfg/", "gamemodes/", "lua/"];

/// The braces of an old list that may be the last one; others are in comments.
const MOST_BRACES: usize = 64;

/// Adds the files that the map refers to, itself or by way of other files. Those of the author and the game are read.
pub(super) fn collect(map: &Bsp<'_>, options: &Options<'_>, collector: &mut Collector) -> Result<()> {
    let sources: Vec<Box<dyn Files>> =
        [options.own, options.stock].into_iter().flatten().map(|files| Box::new(Borrowed(files)) as _).collect();
    let files = Stack::new(sources);
    let found = needs::find(map, &needs::Options::new(options.map).with_game(&files))?;
    for need in found.files.iter().filter(|need| need.found != Found::Packed && is_sent(&need.name)) {
        // What the engine only looks for is needed where the author has it.
        let is_own = options.own.is_some_and(|own| own.has(&need.name));
        if !is_own && need.sure < Sure::Likely {
            continue;
        }
        for reference in &need.references {
            let from = match &reference.referrer {
                needs::Referrer::MapName | needs::Referrer::Engine => Origin::Map,
                needs::Referrer::Entity { index, key, .. } => Origin::Key { entity: *index, key: key.clone() },
                other => Origin::File(found.place(other).into_bytes()),
            };
            collector.add(kind(need.kind), &need.name, from);
        }
    }
    let faults =
        found.faults.into_iter().map(|fault| format!("{}: {}", crate::bytes::escaped(&fault.name), fault.message));
    collector.faults.extend(faults);
    Ok(())
}

/// Files of a source that lives longer.
struct Borrowed<'f>(&'f dyn Files);

impl Files for Borrowed<'_> {
    fn has(&self, name: &[u8]) -> bool {
        self.0.has(name)
    }

    fn read(&self, name: &[u8], most: usize) -> Result<Option<crate::bytes::Data<'_>>> {
        self.0.read(name, most)
    }
}

fn kind(kind: needs::Kind) -> Kind {
    match kind {
        needs::Kind::Material => Kind::Material,
        needs::Kind::Texture => Kind::Texture,
        needs::Kind::Model | needs::Kind::ModelPart => Kind::Model,
        needs::Kind::Sound => Kind::Sound,
        _ => Kind::Other,
    }
}

/// Whether servers send a file. The engine lists the map, its areas and its nodes by itself.
fn is_sent(name: &[u8]) -> bool {
    let extension = name.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
    let is_listed = name.starts_with(b"maps/") && [&b"nav"[..], b"ain", b"bsp", b"res"].contains(&extension);
    let is_kept = KEPT.iter().any(|folder| name.starts_with(folder.as_bytes()));
    !is_listed && !is_kept && !NOT_SENT.iter().any(|ending| ending.as_bytes() == extension)
}

/// The names that a list has, as the engine reads it.
pub(super) fn names(text: &[u8]) -> Result<Vec<(Vec<u8>, usize)>> {
    let list = KeyValues::parse(text.to_vec())?;
    let wrong =
        |why: &str| Error::new(ErrorKind::Malformed, format!("the list is not one that the engine reads: {why}"));
    if let Some(fault) = list.fault() {
        return Err(wrong(&fault.to_string()));
    }
    match list.roots().next() {
        Some(root) if root.is_block() => {
            Ok(root.children().map(|pair| (normal_name(pair.key()), pair.line())).collect())
        }
        Some(_) => Err(wrong("it does not begin with a name and a block, `\"resources\" { ... }`")),
        None => Ok(Vec::new()),
    }
}

/// A list with more names at the end of its block; a new list for a text without one.
pub(super) fn with_names(old: &[u8], more: &[&[u8]], end: &[u8]) -> Result<Vec<u8>> {
    let lines: Vec<u8> = more.iter().flat_map(|name| [b"\t\"", *name, b"\" \"file\"", end].concat()).collect();
    let known = names(old)?;
    if known.is_empty() && !old.contains(&b'{') {
        let break_line: &[u8] = if old.is_empty() || old.ends_with(b"\n") { b"" } else { end };
        return Ok([old, break_line, b"\"resources\"", end, b"{", end, &lines, b"}", end].concat());
    }
    if more.is_empty() {
        return Ok(old.to_vec());
    }
    let braces = old.iter().enumerate().rev().filter(|(_, byte)| **byte == b'}').map(|(at, _)| at);
    for at in braces.take(MOST_BRACES) {
        let start = old[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |line| line + 1);
        // A line with the brace alone stays as it is.
        let (at, break_line) = match old[start..at].trim_ascii().is_empty() {
            true => (start, &b""[..]),
            false => (at, end),
        };
        let new = [&old[..at], break_line, &lines, &old[at..]].concat();
        let has_all = names(&new).is_ok_and(|names| {
            names.len() == known.len() + more.len()
                && known.iter().zip(&names).all(|(old, new)| old.0 == new.0)
                && more.iter().zip(&names[known.len()..]).all(|(more, new)| normal_name(more) == new.0)
        });
        if has_all {
            return Ok(new);
        }
    }
    Err(Error::new(ErrorKind::Malformed, "names cannot be added to the list: the end of its block is not found"))
}
