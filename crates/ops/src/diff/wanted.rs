//! The patch that makes the entities of a map those of a list, each of which says which one it was, and the names of
//! entities that fit other versions of the map too.

use std::collections::HashMap;

use super::{List, arrange, longest_rise, pair};
use crate::diff;
use crate::patch::{Expected, Finder, Match, Operation, Patch, Spot, Target, is_brush_model};
use bspkit::content::entities::{Entities, Entity, Key};
use bspkit::{Error, ErrorKind, Result};

// The patch that makes the entities of a map those of a list, each of which says which one it was.

/// An entity as it is meant to be.
///
/// ```
/// use bspkit_ops::diff::{Content, Wanted, patch_to};
/// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// let entities = map.entities()?;
/// let light = Wanted { from: Some(6), content: Content::Text(b"{ \"classname\" \"light\" }".to_vec()) };
/// let patch = patch_to(&entities, &[light], Some(&[6, 7]))?; // of these two, only this one stays
/// assert_eq!(patch.operations.len(), 2);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The index of the entity that it was; `None` for a new one.
    pub from: Option<usize>,
    /// What it is meant to have.
    pub content: Content,
}

/// What an entity is meant to have.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// These pairs in this order. Pairs that it has already keep their bytes.
    Pairs(Vec<(Vec<u8>, Vec<u8>)>),
    /// This text, from brace to brace.
    Text(Vec<u8>),
}

/// The patch that makes the entities of a map those that are wanted, in their order. If `among` is given, only those
/// entities are meant: the others stay where they are.
///
/// # Errors
/// [`ErrorKind::Argument`] if two wanted ones were the same entity, or one was none of those that are meant; as
/// [`EntityMut::push`](bspkit::content::entities::EntityMut::push) for pairs that no edit brings into their order.
pub fn patch_to(old: &Entities<'_>, wanted: &[Wanted], among: Option<&[usize]>) -> Result<Patch> {
    let mut is_meant = vec![among.is_none(); old.len()];
    among.into_iter().flatten().filter(|index| **index < old.len()).for_each(|index| is_meant[*index] = true);
    let mut by_index = vec![None; old.len()];
    for (at, from) in wanted.iter().enumerate().filter_map(|(at, one)| Some((at, one.from?))) {
        let wrong = |what: String| Err(Error::new(ErrorKind::Argument, what));
        match by_index.get_mut(from).filter(|_| is_meant[from]) {
            None => return wrong(format!("entity {from} is not one of those that are edited")),
            Some(Some(_)) => return wrong(format!("entity {from} is there twice")),
            Some(place) => *place = Some(at),
        }
    }
    let order = order(wanted, &is_meant);
    let pairing: Vec<Option<usize>> = order.iter().map(|one| one.from(wanted)).collect();
    let mut operations = Vec::new();
    for index in (0..old.len()).filter(|index| is_meant[*index]) {
        if let Some(at) = by_index[index] {
            operations.extend(edit(old, index, &wanted[at].content)?);
        }
    }
    let add = |at: usize, to: Option<Spot>| match &order[at] {
        One::Wanted(at) => match &wanted[*at].content {
            Content::Pairs(pairs) => Operation::Add { pairs: pairs.clone(), to },
            Content::Text(text) => Operation::AddText { text: text.clone(), to },
        },
        One::Kept(_) => Operation::AddText { text: Vec::new(), to },
    };
    arrange(old, &pairing, add, &mut operations);
    let gone = (0..old.len()).filter(|index| is_meant[*index] && by_index[*index].is_none());
    operations.extend(gone.map(|index| Operation::Remove { on: Target::Index(index), expect: Vec::new() }));
    Ok(Patch { entities: Some(old.len()), operations, result: None })
}

/// The text of some entities, one after the other, to be edited and given to [`patch_to_text`].
pub fn text_of(entities: &Entities<'_>, among: &[usize]) -> Vec<u8> {
    let mut text = Vec::new();
    for entity in among.iter().filter_map(|index| entities.get(*index)) {
        text.extend_from_slice(entity.bytes());
        text.push(b'\n');
    }
    text
}

/// The patch that gives some entities the edited text that [`text_of`] made: entities are found again by what they are,
/// as by [`diff`](super::diff). Those that are gone are removed, and new ones are put after the one before them.
///
/// ```
/// use bspkit_ops::diff::{patch_to_text, text_of};
/// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// let mut draft = map.draft();
/// let entities = draft.entities()?;
/// let text = String::from_utf8_lossy(&text_of(entities, &[6, 7])).replace("250", "100");
/// patch_to_text(entities, &[6, 7], text.as_bytes())?.apply_to(entities)?;
/// assert_eq!(entities.get(6).unwrap().get("light"), Some(&b"100"[..]));
/// # Ok::<(), bspkit::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Refused`] for text outside of entities, which would be lost, and if the old entities cannot be read
/// from their text alone; as [`Entities::parse`].
pub fn patch_to_text(old: &Entities<'_>, among: &[usize], text: &[u8]) -> Result<Patch> {
    let before = Entities::parse(text_of(old, among), *old.rules())?;
    if before.len() != among.len() {
        let message = "the chosen entities run into each other, so that they cannot be edited without the others";
        return Err(Error::new(ErrorKind::Refused, message).with_hint("edit the whole text"));
    }
    let after = Entities::parse(text, *old.rules())?;
    let mut end = 0;
    for span in after.iter().filter_map(|entity| entity.span()).chain(std::iter::once(text.len()..text.len())) {
        let gap = text.get(end..span.start).unwrap_or_default();
        if let Some(at) = gap.iter().position(|byte| *byte > b' ') {
            let line = 1 + memchr::memchr_iter(b'\n', &text[..end + at]).count();
            let message = format!("line {line}: text outside of entities would be lost");
            return Err(Error::new(ErrorKind::Refused, message).with_hint("move it between the braces of an entity"));
        }
        end = span.end;
    }
    let pairing = pair(&before, &after);
    let wanted = after.iter().zip(pairing).map(|(entity, from)| {
        let from = from.and_then(|from| among.get(from).copied());
        Wanted { from, content: Content::Text(entity.bytes().to_vec()) }
    });
    patch_to(old, &wanted.collect::<Vec<_>>(), Some(among))
}

/// An entity of the new order.
#[derive(Clone, Copy)]
enum One {
    /// It is not meant.
    Kept(usize),
    /// By its place in the list.
    Wanted(usize),
}

impl One {
    /// The index that it had.
    fn from(self, wanted: &[Wanted]) -> Option<usize> {
        match self {
            One::Kept(index) => Some(index),
            One::Wanted(at) => wanted[at].from,
        }
    }
}

/// All entities in their new order. Wanted ones that were in their order stay in their places among the others; what is
/// new or moved is directly after the wanted one before it.
fn order(wanted: &[Wanted], is_meant: &[bool]) -> Vec<One> {
    let from: Vec<Option<usize>> = wanted.iter().map(|one| one.from).collect();
    let stays = longest_rise(&from);
    let first = (0..wanted.len()).find(|at| stays[*at]).and_then(|at| from[at]);
    // The places in the list that come before the first one that stays, and after each of these.
    let (mut leading, mut after): (Vec<usize>, HashMap<usize, Vec<usize>>) = Default::default();
    let mut last = None;
    for at in 0..wanted.len() {
        match (stays[at], last) {
            (true, _) => last = from[at],
            (false, None) => leading.push(at),
            (false, Some(last)) => after.entry(last).or_default().push(at),
        }
    }
    let place: HashMap<usize, usize> =
        (0..wanted.len()).filter(|at| stays[*at]).filter_map(|at| Some((from[at]?, at))).collect();
    let mut order = Vec::with_capacity(is_meant.len() + wanted.len());
    for (index, is_meant) in is_meant.iter().enumerate() {
        if !is_meant {
            order.push(One::Kept(index));
        } else if let Some(at) = place.get(&index) {
            if first == Some(index) {
                order.extend(leading.drain(..).map(One::Wanted));
            }
            order.push(One::Wanted(*at));
            order.extend(after.remove(&index).unwrap_or_default().into_iter().map(One::Wanted));
        }
    }
    order.extend(leading.into_iter().map(One::Wanted));
    order
}

/// The operation that gives an entity its content, if it has another one.
fn edit(old: &Entities<'_>, index: usize, content: &Content) -> Result<Option<Operation>> {
    let Some(before) = old.get(index) else { return Ok(None) };
    let on = Target::Index(index);
    let text = match content {
        Content::Text(text) => text.clone(),
        Content::Pairs(pairs) => {
            let has: List = diff::list(&before);
            if has == *pairs {
                return Ok(None);
            }
            if let Some((_, changes)) = diff::changes(&has, pairs) {
                return Ok(Some(Operation::Edit { on, expect: Vec::new(), changes }));
            }
            let pairs: Vec<(&[u8], &[u8])> = pairs.iter().map(|(key, value)| (&key[..], &value[..])).collect();
            old.text_like(index, &pairs)?
        }
    };
    let is_same = before.bytes() == text;
    Ok((!is_same).then_some(Operation::Replace { on, old: None, text }))
}

// Names the entities of a patch as people would, so that it fits other versions of the map too.
//
// A name is a few pairs that no other entity has: of the keys that stay when a map is compiled again or gets more
// entities. An entity without a name is found by all of its pairs, and equal ones by their order among these. The
// number of its brush model is no name, since compilers number models anew; but it must be the expected one.

/// The keys that name an entity if no other one has the same values, the best ones first.
const NAMING: [&[&[u8]]; 5] = [
    &[b"targetname"],
    &[b"classname", b"targetname"],
    &[b"classname", b"hammerid"],
    &[b"classname", b"origin"],
    &[b"classname", b"targetname", b"origin"],
];

/// A patch of entities by index, with the entities by name.
pub(super) fn named(old: &Entities<'_>, patch: Patch) -> Patch {
    let mut namer = Namer::new(old);
    let operations = patch.operations.into_iter().map(|operation| namer.operation(operation)).collect();
    Patch { entities: None, operations, result: None }
}

struct Namer<'e, 'a> {
    old: &'e Entities<'a>,
    finder: Finder<'e>,
    /// How many entities have the values of each row of [`NAMING`].
    counts: Vec<HashMap<Vec<&'e [u8]>, usize>>,
    known: HashMap<usize, Target>,
}

/// The first values of some keys, if all are there and not empty.
fn values<'e>(entity: &Entity<'e>, keys: &[&[u8]]) -> Option<Vec<&'e [u8]>> {
    keys.iter().map(|key| entity.get(key).filter(|value| !value.is_empty())).collect()
}

impl<'e, 'a> Namer<'e, 'a> {
    fn new(old: &'e Entities<'a>) -> Self {
        let count = |keys: &&[&[u8]]| {
            let mut counts: HashMap<Vec<&[u8]>, usize> = HashMap::new();
            old.iter().filter_map(|entity| values(&entity, keys)).for_each(|row| *counts.entry(row).or_default() += 1);
            counts
        };
        let counts = NAMING.iter().map(count).collect();
        Namer { old, finder: Finder::new(old), counts, known: HashMap::new() }
    }

    fn operation(&mut self, operation: Operation) -> Operation {
        match operation {
            Operation::Edit { on, expect, changes } => {
                let (on, expect) = self.target(on, expect, |_| true);
                Operation::Edit { on, expect, changes }
            }
            Operation::Replace { on, old, text } => {
                Operation::Replace { on: self.target(on, Vec::new(), |_| true).0, old, text }
            }
            Operation::Remove { on, expect } => {
                let is_kept =
                    |pair: &Expected| !is_brush_model(&pair.key.name, pair.value.as_deref().unwrap_or_default());
                let (on, expect) = self.target(on, expect, is_kept);
                Operation::Remove { on, expect }
            }
            Operation::Move { on, expect, to } => {
                let is_kept = |pair: &Expected| pair.key.name.eq_ignore_ascii_case(b"classname");
                let (on, expect) = self.target(on, expect, is_kept);
                Operation::Move { on, expect, to: self.spot(to) }
            }
            Operation::Add { pairs, to } => Operation::Add { pairs, to: to.map(|to| self.spot(to)) },
            Operation::AddText { text, to } => Operation::AddText { text, to: to.map(|to| self.spot(to)) },
            Operation::Text { .. } => operation,
        }
    }

    /// The name of a target, and what is expected of it: of an entity with a name only what is to be kept.
    fn target(
        &mut self,
        on: Target,
        mut expect: Vec<Expected>,
        is_kept: impl Fn(&Expected) -> bool,
    ) -> (Target, Vec<Expected>) {
        let Target::Index(index) = on else { return (on, expect) };
        let name = self.name(index);
        match &name {
            Target::Match(Match { only: false, .. }) => expect.retain(is_kept),
            Target::Match(_) => {
                // The number of the model, or that it has no model.
                let model = self.old.get(index).and_then(|entity| entity.get("model").map(<[u8]>::to_vec));
                if model.as_ref().is_none_or(|model| is_brush_model(b"model", model)) {
                    let key = Key::literal("model");
                    expect
                        .extend((!expect.iter().any(|pair| pair.key == key)).then_some(Expected { key, value: model }));
                }
            }
            _ => {}
        }
        (name, expect)
    }

    fn spot(&mut self, spot: Spot) -> Spot {
        let (Spot::Before(target) | Spot::After(target)) = &spot;
        let name = match target {
            Target::Index(index) => self.name(*index),
            target => target.clone(),
        };
        match spot {
            Spot::Before(_) => Spot::Before(name),
            Spot::After(_) => Spot::After(name),
        }
    }

    fn name(&mut self, index: usize) -> Target {
        if let Some(known) = self.known.get(&index) {
            return known.clone();
        }
        let Some(entity) = self.old.get(index) else { return Target::Index(index) };
        let name = self.by_pairs(&entity).or_else(|| self.by_all(&entity)).unwrap_or(Target::Index(index));
        self.known.insert(index, name.clone());
        name
    }

    /// The name by the pairs that people name an entity by.
    fn by_pairs(&mut self, entity: &Entity<'e>) -> Option<Target> {
        let index = entity.index();
        let is_world = entity.class().is_some_and(|class| class.eq_ignore_ascii_case(b"worldspawn"));
        let world: &[&[u8]] = &[b"classname"];
        let rows = NAMING.into_iter().zip(&self.counts).filter(|(keys, counts)| {
            values(entity, keys).and_then(|row| counts.get(&row)).is_some_and(|count| *count == 1)
        });
        let rows: Vec<&[&[u8]]> = is_world.then_some(world).into_iter().chain(rows.map(|(keys, _)| keys)).collect();
        rows.into_iter().find_map(|keys| {
            let values = values(entity, keys)?;
            let pairs = keys.iter().zip(values).map(|(key, value)| (key.to_vec(), value.to_vec())).collect();
            self.checked(index, Match { pairs, index: Some(index), ..Match::default() })
        })
    }

    /// The name by all pairs, and by the order among equal ones.
    fn by_all(&mut self, entity: &Entity<'e>) -> Option<Target> {
        let index = entity.index();
        let pairs = diff::list(entity).into_iter().filter(|(key, value)| !is_brush_model(key, value)).collect();
        let alike = self.finder.alike(entity.pairs().map(|pair| (pair.key, pair.value)));
        let (count, at) = (alike.len(), alike.binary_search(&index).ok()?);
        let (nth, count) = if count > 1 { (Some(at + 1), Some(count)) } else { (None, None) };
        self.checked(index, Match { pairs, only: true, nth, count, index: Some(index) })
    }

    /// The target, if it means this entity alone.
    fn checked(&mut self, index: usize, on: Match) -> Option<Target> {
        let target = Target::Match(on);
        (self.finder.find(&target) == Ok(vec![index])).then_some(target)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use bspkit::dialect::EntityRules;

    fn text() -> Entities<'static> {
        let one = |class: &str| format!("{{\n\"classname\" \"{class}\"\n\"x\" \"1\"\n}}\n");
        let all: String = ["worldspawn", "a", "b", "c", "d"].map(one).concat();
        Entities::parse(all.into_bytes(), EntityRules::QUAKE3).unwrap()
    }

    fn classes(entities: &Entities<'_>) -> Vec<String> {
        entities.iter().filter_map(|entity| Some(entity.text("classname")?.into_owned())).collect()
    }

    #[test]
    fn chosen_entities_keep_their_places_among_the_others() {
        let old = text();
        let like =
            |from: usize| Wanted { from: Some(from), content: Content::Text(old.get(from).unwrap().bytes().to_vec()) };
        let new = Wanted { from: None, content: Content::Pairs(vec![(b"classname".to_vec(), b"new".to_vec())]) };
        let done = |wanted: &[Wanted], among: &[usize]| {
            classes(&patch_to(&old, wanted, Some(among)).unwrap().applied(&old).unwrap()).join(" ")
        };
        assert_eq!(done(&[like(1), like(3)], &[1, 3]), "worldspawn a b c d");
        assert_eq!(done(&[like(1), new.clone(), like(3)], &[1, 3]), "worldspawn a new b c d");
        assert_eq!(done(&[new.clone(), like(3)], &[1, 3]), "worldspawn b new c d");
        assert_eq!(done(&[new], &[1]), "worldspawn b c d new");
        assert_eq!(done(&[like(3), like(1)], &[1, 3]), "worldspawn c a b d");
        assert!(patch_to(&old, &[like(2)], Some(&[1])).unwrap_err().to_string().contains("entity 2 is not one of"));
        assert!(patch_to(&old, &[like(1), like(1)], None).unwrap_err().to_string().contains("entity 1 is there twice"));
    }

    proptest! {
        /// Any order with any of the old ones, some of them with other pairs, and new ones.
        #[test]
        fn the_entities_are_those_that_are_wanted(
            keys in Just((1..5_usize).collect::<Vec<_>>()).prop_shuffle(),
            kinds in proptest::collection::vec(0..4_u8, 4),
        ) {
            let old = text();
            let world = Content::Pairs(diff::list(&old.get(0).unwrap()));
            let mut wanted = vec![Wanted { from: Some(0), content: world }];
            for (index, kind) in keys.iter().zip(kinds) {
                let mut pairs = diff::list(&old.get(*index).unwrap());
                match kind {
                    0 => {}
                    1 => pairs.insert(0, (b"k".to_vec(), b"v".to_vec())),
                    2 => pairs.reverse(),
                    _ => continue,
                }
                let from = (index % 2 == 0 || kind == 2).then_some(*index);
                wanted.push(Wanted { from, content: Content::Pairs(pairs) });
            }
            let done = patch_to(&old, &wanted, None).unwrap().applied(&old).unwrap();
            let got: Vec<_> = done.iter().map(|entity| Content::Pairs(diff::list(&entity))).collect();
            prop_assert_eq!(got, wanted.into_iter().map(|one| one.content).collect::<Vec<_>>());
        }
    }
}
