//! Names of lists of records, and names of files for slots.

use crate::dialect::Role;
use crate::face::names::Taken;
use crate::file::names::hazard;
use crate::{Bsp, Result, Slot, SlotId};

/// The name of a lump, or of a list in it as `LUMP.list`, for a number, a name or a role.
///
/// # Errors
/// [`crate::ErrorKind::NotFound`] if the map has no such lump. Whether it has such a list is not looked at.
pub fn list_name(bsp: &Bsp<'_>, name: &str) -> Result<String> {
    match (bsp.slot(name), name.rsplit_once('.')) {
        (Ok(slot), _) => Ok(slot.name.clone()),
        (Err(error), None) => Err(error),
        (Err(error), Some((before, list))) => match bsp.slot(before) {
            Ok(slot) => Ok(format!("{}.{list}", slot.name)),
            Err(_) => Err(error),
        },
    }
}

/// The slots that get a file in a folder, each with the name of its file, without extension. No two names are equal,
/// even without regard to case. All consist of letters, digits, `_`, `-` and `~`.
///
/// A game lump with members has no file; its members have files. Its own bytes are only the directory of the members.
pub fn file_stems<'b>(bsp: &'b Bsp<'_>) -> Vec<(&'b Slot, String)> {
    let has_members = bsp.slots().iter().any(|slot| matches!(slot.id, SlotId::Game(_)));
    let game = bsp.role(Role::GameLump).map(|slot| slot.id).filter(|_| has_members);
    let slots: Vec<&Slot> = bsp.slots().iter().filter(|slot| Some(slot.id) != game).collect();
    let mut taken = Taken::default();
    let named = slots.into_iter().enumerate().map(|(number, slot)| {
        let (stem, _) = taken.take(stem(slot).as_bytes(), number);
        (slot, String::from_utf8_lossy(&stem).into_owned())
    });
    named.collect()
}

fn stem(slot: &Slot) -> String {
    let name = slot.name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' });
    let name: String = name.collect();
    match slot.id {
        SlotId::Lump(index) => format!("{index:02}_{name}"),
        _ if hazard(name.as_bytes()).is_some() => format!("_{name}"),
        _ => name,
    }
}
