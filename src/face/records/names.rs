//! Names of the files that hold slots.

use std::collections::HashSet;

use crate::dialect::Role;
use crate::{Bsp, Slot, SlotId};

/// The slots whose bytes a folder of files holds, each with the name of its file, without extension. No two names are
/// equal, even where case does not count; all are letters, digits, `_` and `-`.
///
/// A game lump with members is its members: its own bytes are their directory, which says where in the file they are.
pub fn file_stems<'b>(bsp: &'b Bsp<'_>) -> Vec<(&'b Slot, String)> {
    let has_members = bsp.slots().iter().any(|slot| matches!(slot.id, SlotId::Game(_)));
    let game = bsp.role(Role::GameLump).map(|slot| slot.id).filter(|_| has_members);
    let slots: Vec<&Slot> = bsp.slots().iter().filter(|slot| Some(slot.id) != game).collect();
    let stems = unique(slots.iter().map(|slot| stem(slot)));
    slots.into_iter().zip(stems).collect()
}

fn stem(slot: &Slot) -> String {
    let name = slot.name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' });
    match slot.id {
        SlotId::Lump(index) => format!("{index:02}_{}", name.collect::<String>()),
        _ => name.collect(),
    }
}

/// Names that differ, even where case does not count: an equal one gets `-2`, `-3` and so on, as far as that is free.
fn unique(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut taken = HashSet::new();
    let mut next = std::collections::HashMap::<String, usize>::new();
    let mut free = |name: String| {
        let key = name.to_ascii_lowercase();
        if taken.insert(key.clone()) {
            return name;
        }
        let number = next.entry(key.clone()).or_insert(2);
        while !taken.insert(format!("{key}-{number}")) {
            *number += 1;
        }
        format!("{name}-{number}")
    };
    names.map(&mut free).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_files_are_one() {
        let names = ["bspx-A", "bspx-A-2", "bspx-a", "bspx-A", "bspx-A"].map(str::to_owned);
        let wanted = ["bspx-A", "bspx-A-2", "bspx-a-3", "bspx-A-4", "bspx-A-5"];
        assert_eq!(unique(names.into_iter()), wanted);
    }
}
