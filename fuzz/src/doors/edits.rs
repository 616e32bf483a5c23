//! Edits of good maps, as the bytes say: a plan's file is what the draft is, and structural edits break no reference.

use std::sync::LazyLock;

use bspkit::dialect::Role;
use bspkit::finding::Severity;
use bspkit::{Bsp, Draft, Layout, Session, SlotId, verify};
use bspkit_ops::models::{Copying, Removal};
use bspkit_ops::{check, merge};

use super::{all_maps, good_maps, map};
use crate::mutate::Random;
use crate::seeds;

const LAYOUTS: [Layout; 4] = [Layout::Keep, Layout::Append, Layout::Repack, Layout::Patch];

/// The decisions of an input: two bytes each, then numbers that its bytes make.
pub struct Choices<'b> {
    bytes: &'b [u8],
    rest: Random,
}

impl<'b> Choices<'b> {
    pub fn of(bytes: &'b [u8]) -> Self {
        Choices { bytes, rest: Random::of(bytes) }
    }

    pub fn below(&mut self, end: usize) -> usize {
        let Some(([low, high], rest)) = self.bytes.split_first_chunk() else { return self.rest.below(end) };
        self.bytes = rest;
        usize::from(u16::from_le_bytes([*low, *high])) % end.max(1)
    }

    /// A map of a compiler.
    pub fn map(&mut self) -> &'static Bsp<'static> {
        map(self.below(good_maps().len()))
    }

    fn pick<'t, T>(&mut self, all: &'t [T]) -> Option<&'t T> {
        all.get(self.below(all.len()))
    }

    fn layout(&mut self) -> Layout {
        LAYOUTS[self.below(4)]
    }
}

/// An edit of some lens. What is refused is no edit.
pub fn edit(draft: &mut Draft<'_>, choices: &mut Choices<'_>) -> String {
    let most = 1 << choices.below(9);
    let value = "x".repeat(choices.below(most));
    match choices.below(10) {
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
        7 => {
            if let Ok(rows) = draft.visibility() {
                let (from, to) = (choices.below(rows.len()), choices.below(rows.len()));
                let set = choices.pick(rows.sets()).copied();
                let _ = set.map(|set| rows.set(set, from, to, most > 8));
            }
        }
        8 => {
            if let Ok(light) = draft.light() {
                let images: Vec<_> = light.images().collect();
                let image = choices.pick(&images).copied();
                let _ = image.map(|image| light.update(image, |[x, y], luxel| luxel.with_shown([x as u8, y as u8, 7])));
            }
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
pub fn restructure(draft: &mut Draft<'_>, choices: &mut Choices<'_>) -> Option<String> {
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
    let old = choices.map();
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

/// The files of light of static props go with their props, by name and content.
pub fn lit_props(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let Some(map) = &*LIT else { return };
    let Ok(props) = map.records(PROPS) else { return };
    let mut draft = map.draft();
    // What each prop was before.
    let mut order: Vec<usize> = (0..props.len()).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, choices.below(last + 1));
    }
    let structure = draft.structure().cascade(true).whole();
    let done = match choices.below(3) {
        0 => structure.reorder_list(PROPS, &order),
        1 => {
            let gone = order.split_off(choices.below(order.len()));
            order.sort_unstable();
            structure.remove(&[(PROPS, &gone)])
        }
        _ => {
            let range = 0..1 + choices.below(order.len());
            order = (0..range.end).chain(0..props.len()).collect();
            // Copies come after what they are copies of.
            order[range.end..range.end + range.len()].copy_from_slice(&(0..range.end).collect::<Vec<_>>());
            structure.duplicate_list(PROPS, range)
        }
    };
    if done.is_err() {
        return;
    }
    let Some(new) = saved(&draft, Layout::Keep) else { return };
    let files = |map: &Bsp<'_>, prop: usize| {
        let pak = map.pak().expect("it has a pakfile");
        seeds::LIT_PROPS.map(|(before, after)| {
            pak.one(format!("{before}{prop}{after}")).ok().map(|at| pak.get(at).map(|it| it.size()))
        })
    };
    assert_eq!(new.records(PROPS).map(|props| props.len()).ok(), Some(order.len()));
    for (now, was) in order.into_iter().enumerate() {
        assert_eq!(files(&new, now), files(map, was), "{now} was {was}");
    }
}

const PROPS: &str = "game:sprp.props";

/// A map with static props and their light.
static LIT: LazyLock<Option<Bsp<'static>>> = LazyLock::new(|| Bsp::from_vec(seeds::lit_props()?).ok());

/// Merges of two edits are the same from both sides, or both have conflicts.
pub fn merged(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let base = choices.map();
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

/// Entities by numbers that they keep: the numbers lead to the same entities until the end.
pub fn sessions(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let mut session = Session::new(choices.map().draft());
    let Ok(numbers) = session.numbers().map(<[u32]>::to_vec) else { return };
    let mark = choices.pick(&numbers).copied().unwrap_or(0);
    let _ = session.edit(mark, |entity| entity.set("own_mark", "1"));
    for _ in 0..=choices.below(12) {
        let one = choices.pick(&numbers).copied().unwrap_or(0);
        let other = choices.pick(&numbers).copied().unwrap_or(0);
        let _ = match choices.below(6) {
            0 => session.add(&[("classname", "light")]).map(drop),
            1 => session.duplicate(one).map(drop),
            2 => session.shift(one, other, choices.below(2) == 0),
            3 if one != mark => session.remove(&[one]).map(drop),
            4 => session.select("light[style>0],*[own_mark]").map(drop),
            _ => session.edit(one, |entity| entity.set("own_key", "x")),
        };
    }
    let marked = session.look(mark, |entity| entity.get("own_mark").is_some());
    assert!(marked.is_err() || marked.is_ok_and(|marked| marked), "the number {mark} leads to another entity");
    if let Ok(draft) = session.finish() {
        saved(&draft, Layout::Keep);
    }
}

/// Models that are copied into a map and removed from it.
pub fn models(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let to = choices.map();
    let others: Vec<_> = good_maps().iter().filter(|from| from.dialect() == to.dialect()).collect();
    let Some(from) = choices.pick(&others) else { return };
    let (mut draft, mut said) = (to.draft(), Vec::new());
    for _ in 0..=choices.below(2) {
        let (model, is_copy) = (1 + choices.below(3), choices.below(2) == 0);
        let done = match is_copy {
            true => Copying::default().force(true).run(&mut draft, from, &[model]).map(drop),
            false => Removal::default().run(&mut draft, &[model]).map(drop),
        };
        if done.is_ok() {
            said.push(format!("{} *{model}", if is_copy { "copy" } else { "rm" }));
        }
    }
    let Some(new) = saved(&draft, Layout::Keep) else { return };
    let errors = |map: &Bsp<'_>| {
        let found = check::run(map, &check::Options::default()).unwrap_or_default();
        found.into_iter().filter(|found| found.code.severity == Severity::Error).map(|it| it.to_string()).collect()
    };
    let (before, after): (Vec<String>, Vec<String>) = (errors(to), errors(&new));
    let names = [to, from].map(|map| (map.dialect().name, map.container().bytes().len()));
    assert!(after.len() <= before.len(), "{names:?} {said:?}: {after:#?}");
}

/// A file that is saved in each way is the plan.
pub fn saves(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let old = choices.map();
    let path = super::twice::scratch().with_extension("saved.bsp");
    std::fs::write(&path, old.container().bytes()).expect("the file can be written");
    let open = if choices.below(2) == 0 { Bsp::open(&path) } else { Bsp::open_mapped(&path, None) };
    let Ok(opened) = open else { return };
    let mut draft = opened.draft();
    for _ in 0..=choices.below(2) {
        let _ = edit(&mut draft, &mut choices);
    }
    let layout = choices.layout();
    let wanted = saved(&draft, layout);
    if draft.save(&path, layout).is_ok() {
        let found = Bsp::from_data(std::fs::read(&path).unwrap_or_default().into(), Some(old.dialect()));
        let (found, wanted) = (found.expect("a saved map opens"), wanted.expect("a plan"));
        for slot in wanted.slots() {
            let [one, other] = [&found, &wanted].map(|map| map.bytes(slot.id).map(|bytes| bytes.to_vec()).ok());
            assert!(one == other || has_offsets(&wanted, slot), "{} {layout:?}", slot.name);
        }
    }
    let _ = std::fs::remove_file(&path);
}
