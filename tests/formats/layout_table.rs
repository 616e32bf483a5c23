//! The layout table, row by row: what an edit of a slot does to the file, with the offsets that have to come out.
//!
//! Each row runs over every dialect to which it applies.

mod inside;
mod place;
mod tail;

use bspkit::dialect::{self, Dialect, Role};
use bspkit::verify;
use bspkit::{Bsp, Builder, Layout, Plan, SlotId};

const LAYOUTS: [Layout; 3] = [Layout::Keep, Layout::Append, Layout::Repack];
const TEXT: &[u8] = b"{\n\"classname\" \"worldspawn\"\n}\n\0";

fn role(dialect: &Dialect, role: Role) -> usize {
    dialect.role(role).unwrap()
}

/// A map with planes before the entities and models, faces behind: 40, `text`, 64 and 12 bytes.
fn sandwich(dialect: &'static Dialect, text: &[u8]) -> Builder {
    let [planes, entities, models, faces] =
        [Role::Planes, Role::Entities, Role::Models, Role::Faces].map(|it| role(dialect, it));
    Builder::new(dialect)
        .lump(planes, [1; 40])
        .lump(entities, text)
        .lump(models, [2; 64])
        .lump(faces, [3; 12])
        .order(&[planes, entities, models, faces])
}

fn text(length: usize) -> Vec<u8> {
    let mut text = TEXT.to_vec();
    text.splice(28..28, std::iter::repeat_n(b' ', length - TEXT.len()));
    text
}

fn with_entities<'a>(map: &Bsp<'a>, bytes: Vec<u8>, layout: Layout) -> bspkit::Result<Plan<'a>> {
    let mut draft = map.draft();
    draft.set(SlotId::Lump(role(map.dialect(), Role::Entities)), bytes)?;
    draft.plan(layout)
}

/// Offset and length of a lump as the directory says them.
fn at(map: &Bsp<'_>, name: Role) -> (i32, i32) {
    let slot = map.role(name).unwrap();
    (slot.offset, slot.length)
}

/// The size of a file with so many bytes, padded as the dialect's are.
fn padded(dialect: &Dialect, bytes: usize) -> usize {
    bytes.next_multiple_of(dialect.rules.end_alignment)
}

/// Where the last lump ends with its padding.
fn last_end(map: &Bsp<'_>) -> usize {
    map.slots().iter().map(|slot| slot.stored.end).max().unwrap().next_multiple_of(4)
}

/// Whatever a row says, the general law holds too.
fn assert_sound(old: &Bsp<'_>, saved: &[u8], layout: Layout, text: &[u8]) {
    let entities = SlotId::Lump(role(old.dialect(), Role::Entities));
    verify::compare(old, saved, Some(layout), Some((entities, text))).unwrap();
}

fn source_family() -> impl Iterator<Item = &'static Dialect> {
    dialect::ALL.iter().copied().filter(|dialect| dialect.rules.game_lump.is_some())
}
