//! Edits of good maps, as the bytes say: a plan's file is what the draft is, and structural edits break no reference.

use bspkit::dialect::Role;
use bspkit::finding::Severity;
use bspkit::{Bsp, Draft, Layout, SlotId, verify};
use bspkit_ops::{check, merge};

use super::{all_maps, map};
use crate::mutate::Random;

const LAYOUTS: [Layout; 4] = [Layout::Keep, Layout::Append, Layout::Repack, Layout::Patch];

/// The decisions of an input: two bytes each, then numbers that its bytes make.
pub struct Choices<'b> {
    bytes: &'b [u8],
    rest: Random,
}

impl<'b> Choices<'b> {
    pub fn of(bytes: &'b [u8]) -> Self {
        let add = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3);
        Choices { bytes, rest: Random::new(bytes.iter().fold(0xCBF2_9CE4_8422_2325, add)) }
    }

    pub fn below(&mut self, end: usize) -> usize {
        let Some(([low, high], rest)) = self.bytes.split_first_chunk() else { return self.rest.below(end) };
        self.bytes = rest;
        usize::from(u16::from_le_bytes([*low, *high])) % end.max(1)
    }

    fn pick<'t, T>(&mut self, all: &'t [T]) -> Option<&'t T> {
        all.get(self.below(all.len()))
    }

    fn layout(&mut self) -> Layout {
        LAYOUTS[self.below(4)]
    }
}

/// An edit of some lens. What is refused is no edit.
fn edit(draft: &mut Draft<'_>, choices: &mut Choices<'_>) -> String {
    let most = 1 << choices.below(9);
    let value = "x".repeat(choices.below(most));
    match choices.below(8) {
        0 | 1 => {
            let Ok(all) = draft.entities() else { return String::new() };
            let index = choices.below(all.len());
            let _ = match choices.below(5) {
                0 => all.remove(index),
                1 => all.duplicate(index).map(drop),
                2 => all.add([("classname", "light"), ("n", &value)]).map(drop),
                3 => all.move_before(index, choices.below(all.len() + 1)),
                _ => all.get_mut(index).and_then(|mut entity| entity.set("message", &value)),
            };
        }
        2 | 3 => {
            let slots: Vec<_> = draft.bsp().slots().iter().map(|slot| slot.id).collect();
            if let Some(slot) = choices.pick(&slots) {
                let mut bytes = draft.bytes(*slot).map(|bytes| bytes.to_vec()).unwrap_or_default();
                match choices.below(3) {
                    0 => bytes.clear(),
                    1 => bytes.extend(value.as_bytes()),
                    _ => bytes.truncate(choices.below(bytes.len() + 1)),
                }
                let _ = draft.set(*slot, bytes);
            }
        }
        4 => {
            if let Ok(pak) = draft.pak() {
                let _ = pak.add(format!("own/{}.txt", choices.below(4)), value.into_bytes());
                let _ = pak.remove(&[choices.below(pak.len() + 1)]);
            }
        }
        5 => {
            let tint = bspkit::content::lightmap::Adjustment { gain: 0.5, ..Default::default() };
            let _ = draft.light().and_then(|light| light.adjust(&tint, |_, _, _| true));
        }
        6 => {
            let renaming = bspkit::content::texture_names::Renaming::new("**", "mine/{1}");
            let _ = renaming.and_then(|renaming| draft.texture_names()?.rename(&renaming).map(drop));
        }
        _ => drop(bspkit::compress::compress(draft, &bspkit::compress::Options::default())),
    }
    format!("{:?}", draft.changes())
}

/// A plan's file is what the draft is: it opens, and each slot has the bytes of the draft.
pub fn saved(draft: &Draft<'_>, layout: Layout) -> Option<Bsp<'static>> {
    let plan = draft.plan(layout).ok()?;
    let map = Bsp::from_data(plan.to_vec().into(), Some(draft.bsp().dialect())).expect("a saved map opens");
    for slot in draft.bsp().slots() {
        let (Ok(wanted), Ok(found)) = (draft.bytes(slot.id), map.bytes(slot.id)) else { continue };
        let at = wanted.iter().zip(&*found).position(|(one, other)| one != other);
        let sizes = (wanted.len(), found.len());
        assert!(*wanted == *found || has_offsets(draft.bsp(), slot), "{} {layout:?} {sizes:?} {at:?}", slot.name);
    }
    Some(map)
}

/// The game lump has offsets of its members in the file, which change where it moves.
fn has_offsets(map: &Bsp<'_>, slot: &bspkit::Slot) -> bool {
    map.slot("GAME_LUMP").is_ok_and(|lump| lump.id == slot.id)
}

pub fn edits(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let all = all_maps();
    let mut draft = all[choices.below(all.len())].draft();
    for _ in 0..=choices.below(4) {
        let _ = edit(&mut draft, &mut choices);
    }
    // The same edit in another layout has the same content.
    let [one, other] = [choices.layout(), choices.layout()].map(|layout| saved(&draft, layout));
    let (Some(one), Some(other)) = (one, other) else { return };
    assert!(one.draft().plan(Layout::Keep).is_ok_and(|plan| plan.is_identity()));
    // New bytes of a game lump say where its members are in the file.
    let is_game = |slot: &SlotId| matches!(slot, SlotId::Game(_)) || one.role_of(*slot) == Some(Role::GameLump);
    for slot in one.slots().iter().filter(|slot| !is_game(&slot.id)) {
        let [one, other] = [&one, &other].map(|map| map.bytes(slot.id).map(|bytes| bytes.to_vec()).ok());
        assert!(one == other, "{} has other bytes", slot.name);
    }
}

/// A structural edit: where it is done, no reference is wrong that was right before.
fn restructure(draft: &mut Draft<'_>, choices: &mut Choices<'_>) -> Option<String> {
    let lists: Vec<(String, usize)> = {
        let links = draft.bsp().links().ok()?;
        links.sites.iter().map(|site| (site.name.clone(), site.len())).filter(|(_, len)| *len > 0).collect()
    };
    let (list, len) = choices.pick(&lists)?;
    let first = choices.below(*len);
    let range = first..(first + 1 + choices.below(2)).min(*len);
    let cascade = choices.below(2) == 0;
    // As the program edits: what is not whole by itself is refused.
    let structure = draft.structure().cascade(cascade).whole();
    let (what, done) = match choices.below(3) {
        0 => ("dup", structure.duplicate_list(list, range.clone())),
        1 => ("rm", structure.remove(&[(list, &range.clone().collect::<Vec<_>>())])),
        _ => {
            let mut order: Vec<usize> = (0..*len).collect();
            order.rotate_left(first);
            ("rotate", structure.reorder_list(list, &order))
        }
    };
    done.ok().map(|_| format!("{what} {list} {range:?}, cascade {cascade}"))
}

pub fn follow(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let old = map(choices.below(64));
    let mut draft = old.draft();
    let Some(done) = restructure(&mut draft, &mut choices) else { return };
    let Some(new) = saved(&draft, Layout::Keep) else { return };
    let errors = |map: &Bsp<'_>| {
        let found = check::run(map, &check::Options::default()).unwrap_or_default();
        let errors = found.into_iter().filter(|found| found.code.severity == Severity::Error);
        errors.map(|found| found.to_string()).collect::<Vec<_>>()
    };
    let (before, after) = (errors(old), errors(&new));
    assert!(after.len() <= before.len(), "{done}: {after:#?}");
    let outcome = verify::run(&new);
    assert!(outcome.is_ok(), "{done}: {outcome:?}");
}

/// Merges of two edits are the same from both sides, or both have conflicts.
pub fn merged(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let base = map(choices.below(64));
    let mut said = Vec::new();
    let mut side = || {
        let mut draft = base.draft();
        said.push(match choices.below(2) {
            0 => edit(&mut draft, &mut choices),
            _ => restructure(&mut draft, &mut choices).unwrap_or_default(),
        });
        saved(&draft, Layout::Keep)
    };
    let (Some(ours), Some(theirs)) = (side(), side()) else { return };
    let one = merge::merge(base, &ours, &theirs);
    let other = merge::merge(base, &theirs, &ours);
    if let (Ok(one), Ok(other)) = (&one, &other) {
        let [one, other] =
            [one, other].map(|merged| merged.conflicts.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(one.is_empty(), other.is_empty(), "{said:?}: {one:#?} {other:#?}");
    }
    one.iter().for_each(|merged| drop(saved(&merged.draft, Layout::Keep)));
}
