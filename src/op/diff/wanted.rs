//! The patch that makes the entities of a map those of a list, each of which says which one it was.

use std::collections::HashMap;

use super::changes::{self, List};
use super::{MOST_COMPARED, arrange, longest_rise, pair};
use crate::content::entities::Entities;
use crate::op::patch::{Operation, Patch, Spot, Target};
use crate::{Error, ErrorKind, Result};

/// An entity as it is meant to be.
///
/// ```
/// use bspkit::op::diff::{Content, Wanted, patch_to};
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
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
/// [`EntityMut::push`](crate::content::entities::EntityMut::push) for pairs that no edit brings into their order.
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
    Ok(Patch { entities: Some(old.len()), operations })
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
/// use bspkit::op::diff::{patch_to_text, text_of};
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
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
    let pairing = pair(&before, &after, MOST_COMPARED);
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
            let has: List = changes::list(&before);
            if has == *pairs {
                return Ok(None);
            }
            if let Some((_, changes)) = changes::changes(&has, pairs) {
                return Ok(Some(Operation::Edit { on, expect: Vec::new(), changes }));
            }
            let pairs: Vec<(&[u8], &[u8])> = pairs.iter().map(|(key, value)| (&key[..], &value[..])).collect();
            old.text_like(index, &pairs)?
        }
    };
    let is_same = before.bytes() == text;
    Ok((!is_same).then_some(Operation::Replace { on, old: None, text }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::EntityRules;
    use proptest::prelude::*;

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
            let world = Content::Pairs(changes::list(&old.get(0).unwrap()));
            let mut wanted = vec![Wanted { from: Some(0), content: world }];
            for (index, kind) in keys.iter().zip(kinds) {
                let mut pairs = changes::list(&old.get(*index).unwrap());
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
            let got: Vec<_> = done.iter().map(|entity| Content::Pairs(changes::list(&entity))).collect();
            prop_assert_eq!(got, wanted.into_iter().map(|one| one.content).collect::<Vec<_>>());
        }
    }
}
