//! Changes as lines of text.

use std::fmt;

use super::change::{
    BytesChange, Change, EntityChange, FileChange, How, KeyChange, LightChange, RecordChange, SolidChange,
    TextureChange, WordChange,
};
use crate::bytes::escaped;

/// Longer values are cut off in a line of text.
const MOST_OF_VALUE: usize = 80;

/// More solids of a model are counted and not listed.
const MOST_SOLIDS: usize = 10;

/// A value, in quotes.
struct Quoted<'v>(&'v [u8]);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.get(..MOST_OF_VALUE) {
            Some(start) if self.0.len() > MOST_OF_VALUE => write!(f, "\"{}…\"", escaped(start)),
            _ => write!(f, "\"{}\"", escaped(self.0)),
        }
    }
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            How::Added => "added",
            How::Removed => "removed",
            How::Changed => "changed",
            How::Moved => "moved",
            How::Rewritten => "rewritten with the same content",
        })
    }
}

impl Change {
    /// One line of text; `lump` is the name of its lump.
    ///
    /// ```
    /// use bspkit::op::compare;
    /// let mut draft = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?.draft();
    /// draft.update(bspkit::dialect::quake2::PLANES, 3, |plane| plane.distance = 8.0)?;
    /// let found = compare::draft(&draft, 10)?;
    /// let line = found.lumps[0].changes[0].line(&found.lumps[0].lump).to_string();
    /// assert_eq!(line, "PLANES[3]: distance 768 -> 8");
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn line<'c>(&'c self, lump: &'c str) -> impl fmt::Display + 'c {
        Line { change: self, lump }
    }
}

struct Line<'c> {
    change: &'c Change,
    lump: &'c str,
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lump = self.lump;
        match self.change {
            Change::Entity(entity) => print_entity(f, entity),
            Change::Record(record) => print_record(f, lump, record),
            Change::File(file) => print_file(f, lump, file),
            Change::Light(light) => print_light(f, lump, light),
            Change::Texture(texture) => print_texture(f, lump, texture),
            Change::Row(row) => {
                let (set, index, gained, lost) = (row.set.name(), row.index, row.gained, row.lost);
                write!(f, "{lump}: {set} of {index}, {gained} more visible, {lost} fewer")
            }
            Change::Solid(solid) => print_solid(f, lump, solid),
            Change::Bytes(BytesChange { range, old }) => {
                let (start, new, s) = (range.start, range.len(), if *old == 1 { "" } else { "s" });
                match (*old, new) {
                    (old, new) if old == new => write!(f, "{lump}: {new} byte{s} at {start}"),
                    (0, new) => write!(f, "{lump}: {new} bytes added at {start}"),
                    (old, 0) => write!(f, "{lump}: {old} byte{s} removed at {start}"),
                    _ => write!(f, "{lump}: {old} byte{s} at {start} -> {new} bytes"),
                }
            }
            Change::Version(old, new) => write!(f, "{lump}: version {old} -> {new}"),
            Change::Compression(true) => write!(f, "{lump}: compressed"),
            Change::Compression(false) => write!(f, "{lump}: decompressed"),
            Change::Lump(how) => write!(f, "{lump}: {how}"),
            Change::Place(old, new) => write!(f, "{lump}: moved from {old} to {new}"),
            Change::Word(WordChange { name, old, new }) => write!(f, "{lump}: {name} {old} -> {new}"),
            Change::Padding(old, new) => write!(f, "{lump}: {old} -> {new} bytes of zeros"),
        }
    }
}

fn print_entity(f: &mut fmt::Formatter<'_>, entity: &EntityChange) -> fmt::Result {
    write!(f, "entity {}", entity.index)?;
    if let Some(class) = &entity.class {
        write!(f, " {}", escaped(class))?;
    }
    if let Some(name) = &entity.name {
        write!(f, " {}", Quoted(name))?;
    }
    match (entity.how, entity.from) {
        (How::Changed, None) => {}
        (How::Changed, Some(from)) => write!(f, ", {from} before")?,
        (How::Moved, Some(from)) => write!(f, " moved from {from}")?,
        (how, _) => write!(f, " {how}")?,
    }
    let mut separator = ": ";
    let is_whole = matches!(entity.how, How::Added | How::Removed);
    for KeyChange { key, old, new } in &entity.keys {
        if is_whole {
            // Its class and name are there already.
            let value = new.as_ref().or(old.as_ref());
            let is = |name: &str, said: &Option<Vec<u8>>| {
                key.eq_ignore_ascii_case(name.as_bytes()) && said.as_ref() == value
            };
            if !is("classname", &entity.class) && !is("targetname", &entity.name) {
                write!(f, "{separator}{} {}", escaped(key), Quoted(value.map_or(&[], Vec::as_slice)))?;
                separator = "; ";
            }
            continue;
        }
        write!(f, "{separator}{}", escaped(key))?;
        match (old, new) {
            (Some(old), Some(new)) => write!(f, " {} -> {}", Quoted(old), Quoted(new))?,
            (Some(old), None) => write!(f, " {} removed", Quoted(old))?,
            (None, new) => write!(f, " {} added", Quoted(new.as_deref().unwrap_or_default()))?,
        }
        separator = "; ";
    }
    match entity.more {
        0 => Ok(()),
        more => write!(f, "; and {more} more values"),
    }
}

fn print_record(f: &mut fmt::Formatter<'_>, lump: &str, record: &RecordChange) -> fmt::Result {
    let dot = if record.list.is_empty() { "" } else { "." };
    write!(f, "{lump}{dot}{}[{}", record.list, record.index)?;
    if record.count > 1 {
        write!(f, "..{}", record.index + record.count)?;
    }
    f.write_str("]")?;
    match (record.how, record.from) {
        (How::Changed, _) => {}
        (How::Moved, Some(from)) => write!(f, " moved from {from}")?,
        (how, _) => write!(f, " {how}")?,
    }
    let mut separator = ": ";
    for field in &record.fields {
        write!(f, "{separator}{} {} -> {}", field.field, field.old, field.new)?;
        separator = "; ";
    }
    Ok(())
}

fn print_file(f: &mut fmt::Formatter<'_>, lump: &str, file: &FileChange) -> fmt::Result {
    let (old, new) = file.sizes;
    if let Some(from) = &file.from {
        return write!(f, "{lump}: {} -> {}, {new} bytes", escaped(from), escaped(&file.name));
    }
    write!(f, "{lump}: {} {}", escaped(&file.name), file.how)?;
    match file.how {
        How::Added => write!(f, ", {new} bytes"),
        How::Changed if old == new => write!(f, ", {new} bytes"),
        How::Changed => write!(f, ", {old} -> {new} bytes"),
        _ => write!(f, ", {old} bytes"),
    }?;
    match file.places {
        Some((old, new)) => write!(f, ", from place {old} in the list to {new}"),
        None => Ok(()),
    }
}

fn print_light(f: &mut fmt::Formatter<'_>, lump: &str, light: &LightChange) -> fmt::Result {
    let LightChange { set, index, is_page, luxels, by } = light;
    let space = if set.is_empty() { "" } else { " " };
    let (what, s) = (if *is_page { "page" } else { "face" }, if *luxels == 1 { "" } else { "s" });
    write!(f, "{lump}: {set}{space}{what} {index}, {luxels} luxel{s}")?;
    match by {
        None => write!(f, ", other size"),
        Some(by) => write!(f, ", by up to {} of 255, {:.1} on average", by.largest, by.mean),
    }
}

fn print_solid(f: &mut fmt::Formatter<'_>, lump: &str, solid: &SolidChange) -> fmt::Result {
    let SolidChange { how, index, model, solids, text } = solid;
    write!(f, "{lump}[{index}] of model {model}")?;
    match how {
        How::Changed => write!(f, ": ")?,
        how => return write!(f, " {how}"),
    }
    let list: Vec<String> = solids.iter().take(MOST_SOLIDS).map(usize::to_string).collect();
    let (s, more) = (if solids.len() == 1 { "" } else { "s" }, solids.len() - list.len());
    match (solids.is_empty(), more) {
        (true, _) => {}
        (false, 0) => write!(f, "solid{s} {}", list.join(", "))?,
        (false, more) => write!(f, "solid{s} {} and {more} more", list.join(", "))?,
    }
    match (text, solids.is_empty()) {
        (true, true) => f.write_str("text"),
        (true, false) => f.write_str(", and the text"),
        (false, _) => Ok(()),
    }
}

fn print_texture(f: &mut fmt::Formatter<'_>, lump: &str, texture: &TextureChange) -> fmt::Result {
    write!(f, "{lump}[{}]: ", texture.index)?;
    let from = texture.from.map(|from| format!(", {from} before")).unwrap_or_default();
    match (&texture.old, &texture.new) {
        (Some(old), Some(new)) if old == new => write!(f, "{}{from}", escaped(new))?,
        (Some(old), Some(new)) => write!(f, "{} -> {}{from}", escaped(old), escaped(new))?,
        (Some(old), None) => write!(f, "{} removed", escaped(old))?,
        (None, new) => write!(f, "{} added", escaped(new.as_deref().unwrap_or_default()))?,
    }
    if texture.image && texture.old.is_some() && texture.new.is_some() { f.write_str(", other image") } else { Ok(()) }
}
