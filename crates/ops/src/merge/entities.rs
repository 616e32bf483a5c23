//! Entities: two patches of the base, joined.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::lists::Records;
use super::{Conflict, Desk, Side, Sides, Source, Subject, twin};
use crate::align::moves::Moves;
use crate::diff::{add_by_place, by_index, pair};
use crate::patch::{Change, Operation, Patch, Target};
use bspkit::bytes::escaped;
use bspkit::content::entities::{Entities, Entity, LooseModel};
use bspkit::dialect::{EntityForm, Role};
use bspkit::file::Slot;
use bspkit::{Bsp, Data, Result, Rope};

/// What is put before the number of a record that the other side removed. No value of a map has it.
const REMOVED: &str = "\u{1}removed ";

/// The entity text with the changes of both sides.
pub(super) fn merge<'a>(
    sides: &Sides<'_, 'a>,
    slot: &Slot,
    records: Option<&Records<'_, '_, 'a>>,
    desk: &mut Desk<'_>,
) -> Result<Source<'a>> {
    let maps = [sides.base, sides.ours, sides.theirs];
    let mut texts = Vec::with_capacity(maps.len());
    for (side, map) in maps.into_iter().enumerate() {
        let own = twin(map, slot).map_or(slot.id, |twin| twin.id);
        let mut entities = Entities::parse(map.bytes(own)?, map.entity_rules())?;
        if let Some(records) = records.filter(|records| !records.is_still()) {
            follow(map, &mut entities, |lump| records.moves_of(lump, side))?;
        }
        texts.push(entities.to_bytes());
    }
    let is = |one: usize, other: usize| texts[one] == texts[other];
    // What only one side changed is as it has it.
    let one = if is(2, 0) || is(2, 1) { Some(1) } else { is(1, 0).then_some(2) };
    if let Some(side) = one {
        let bytes = texts.swap_remove(side);
        let own = twin(maps[side], slot).map_or(slot.id, |twin| twin.id);
        dangling(sides, slot, &bytes, desk)?;
        return Ok(match (maps[side].bytes(own)?[..] == bytes[..], side) {
            (true, 1) => Source::Ours,
            (true, _) => Source::Theirs,
            (false, _) => Source::New(Rope::from(Data::from(bytes))),
        });
    }
    match join(sides, slot, texts, desk)? {
        Some(bytes) => {
            dangling(sides, slot, &bytes, desk)?;
            Ok(Source::New(Rope::from(Data::from(bytes))))
        }
        None => Ok(Source::Ours),
    }
}

/// Gives the values that name records the numbers of the merged map.
fn follow<'m>(map: &Bsp<'_>, entities: &mut Entities<'_>, moves: impl Fn(&str) -> Option<&'m Moves>) -> Result<()> {
    for index in 0..entities.len() {
        let mut new: Vec<(usize, String)> = Vec::new();
        let values = entities.get(index).map_or_else(Vec::new, |entity| entity.record_values(map.dialect()));
        for value in values {
            let Some(moves) = moves(value.reference.lump) else { continue };
            let number = moves.one(value.number);
            let number =
                number.map_or_else(|_| format!("{REMOVED}{}", moves.name(value.number)), |new| new.to_string());
            new.push(match value.reference.form {
                EntityForm::Starred => (value.pair, format!("*{number}")),
                EntityForm::Index => (value.pair, number),
                // The field of the record has the number, wherever the record is.
                EntityForm::Field(_) => continue,
            });
        }
        new.sort();
        new.dedup_by_key(|(pair, _)| *pair);
        let new: Vec<(usize, &[u8])> = new.iter().map(|(pair, value)| (*pair, value.as_bytes())).collect();
        entities.get_mut(index)?.set_values(&new)?;
    }
    Ok(())
}

/// What is said of values that a side adds and that may name a model, where the other side gives models other numbers.
pub(super) fn doubts(sides: &Sides<'_, '_>, records: &Records<'_, '_, '_>) -> Result<Vec<String>> {
    let Some(slot) = sides.base.role(Role::Entities) else { return Ok(Vec::new()) };
    let dialect = sides.base.dialect();
    let mut known: HashMap<Vec<Vec<u8>>, usize> = HashMap::new();
    let mut doubts = Vec::new();
    for (side, map) in [sides.base, sides.ours, sides.theirs].into_iter().enumerate() {
        let own = twin(map, slot).map_or(slot.id, |twin| twin.id);
        let entities = Entities::parse(map.bytes(own)?, map.entity_rules())?;
        let mut left = known.clone();
        for entity in entities.iter() {
            for model in entity.loose_models(dialect) {
                let class = entity.class().unwrap_or_default();
                let words = entity.pairs_in(model.pair..model.pair + 1).flat_map(|pair| [pair.key, pair.value]);
                let name: Vec<Vec<u8>> = [class].into_iter().chain(words).map(<[u8]>::to_vec).collect();
                if side == 0 {
                    *known.entry(name).or_default() += 1;
                    continue;
                }
                // What the base has was in doubt when models got other numbers.
                if let Some(count) = left.get_mut(&name).filter(|count| **count > 0) {
                    *count -= 1;
                    continue;
                }
                let now = match records.moves_of(model.lump, side).map(|moves| moves.one(model.number)) {
                    None => continue,
                    Some(Ok(new)) if new == model.number => continue,
                    Some(Ok(new)) => format!("that model is *{new} now"),
                    Some(Err(why)) => why.to_owned(),
                };
                doubts.push(format!("in {}, {}", Side::ALL[side].name(), model.doubt(&entity, &now)));
            }
        }
    }
    Ok(LooseModel::listed(doubts))
}

/// A value of a conflict as the map has it.
fn without_marks(value: &[u8]) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::with_capacity(value.len()), value);
    while let Some((first, others)) = rest.split_first() {
        match rest.strip_prefix(REMOVED.as_bytes()) {
            Some(number) => rest = number,
            None => {
                out.push(*first);
                rest = others;
            }
        }
    }
    out
}

/// Values that name records which are not in the merged map.
fn dangling(sides: &Sides<'_, '_>, slot: &Slot, bytes: &[u8], desk: &mut Desk<'_>) -> Result<()> {
    if !bytes.windows(REMOVED.len()).any(|part| part == REMOVED.as_bytes()) {
        return Ok(());
    }
    let entities = Entities::parse(bytes, sides.base.entity_rules())?;
    for entity in entities.iter() {
        for pair in
            entity.pairs().filter(|pair| pair.value.windows(REMOVED.len()).any(|part| part == REMOVED.as_bytes()))
        {
            let class = entity.class().map(|class| format!(" {}", escaped(class))).unwrap_or_default();
            let key = escaped(pair.key);
            let message =
                format!("#{}{class}: `{key}` names a record that the other side removes or replaces", entity.index());
            desk.refuse(&slot.name, message);
        }
    }
    Ok(())
}

/// The text with the changes of both sides, as far as they fit. `None` if nothing can be merged.
fn join(sides: &Sides<'_, '_>, slot: &Slot, texts: Vec<Vec<u8>>, desk: &mut Desk<'_>) -> Result<Option<Vec<u8>>> {
    let read = |text: &Vec<u8>| Entities::parse(text.clone(), sides.base.entity_rules());
    let (mut base, mine, other) = (read(&texts[0])?, read(&texts[1])?, read(&texts[2])?);
    // What both sides have already is not refused here.
    base.for_any_engine();
    let [of_mine, of_other] = pairings(&base, [&mine, &other]);
    let (ours, theirs) = (by_index(&base, &mine, &of_mine)?, by_index(&base, &other, &of_other)?);
    let is_whole = |patch: &Patch| matches!(patch.operations[..], [Operation::Text { .. }]);
    if is_whole(&ours) || is_whole(&theirs) {
        desk.refuse(&slot.name, "both sides change it, and one of them the text between entities");
        return Ok(None);
    }
    for entity in mistaken(&base, [(&mine, &ours.operations), (&other, &theirs.operations)]) {
        let class = entity.class().map(|class| format!(" {}", escaped(class))).unwrap_or_default();
        let message = format!(
            "#{}{class}: both sides change it, or another one that is equal: it is not known which one each side means",
            entity.index()
        );
        desk.refuse(&slot.name, message);
    }
    let mut kept = Kept::new(&base, &slot.name, ours.operations, desk);
    // Entities are paired once more only where both sides edit one of them.
    let is_edited = |operation: &Operation| index(operation).is_some_and(|index| kept.content.contains_key(&index));
    if theirs.operations.iter().any(is_edited) {
        let two = [&mine, &other].into_iter().flat_map(|side| in_doubt(&base, side));
        let unknown = without_model([&base, &mine, &other]);
        kept.doubtful = two.map(|index| (index, TWO)).chain(unknown.map(|index| (index, UNKNOWN))).collect();
    }
    theirs.operations.into_iter().for_each(|operation| kept.add(operation));
    let mut all = kept.into_operations();
    // First changes, then additions and moves, and removals at the end; each as the sides have them.
    all.sort_by_key(|operation| match operation {
        Operation::Edit { .. } | Operation::Replace { .. } => 0,
        Operation::Remove { .. } => 2,
        _ => 1,
    });
    let patch = Patch { entities: Some(base.len()), operations: all, result: None };
    match patch.apply(&base) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) => {
            desk.refuse(&slot.name, format!("the changes of both sides do not fit together: {error}"));
            Ok(None)
        }
    }
}

/// Which entities of the base those of each side are. One that neither side has any more may be one of which a side
/// changed all that identifies it: such a change counts as one, and not as a removal and an addition, beside which the
/// merged map would have that of the other side.
fn pairings(base: &Entities<'_>, sides: [&Entities<'_>; 2]) -> [Vec<Option<usize>>; 2] {
    let mut pairings = sides.map(|side| pair(base, side));
    let mut is_gone = vec![true; base.len()];
    pairings.iter().flatten().flatten().for_each(|old| is_gone[*old] = false);
    if is_gone.contains(&true) {
        for (side, pairing) in sides.into_iter().zip(&mut pairings) {
            add_by_place(base, side, pairing, |old| is_gone[old]);
        }
    }
    pairings
}

/// What both sides do.
struct Kept<'o, 'd, 'e> {
    base: &'e Entities<'e>,
    lump: &'o str,
    desk: &'o mut Desk<'d>,
    /// What our side does to the pairs or the text of an entity.
    content: BTreeMap<usize, Operation>,
    /// Each with its place among our operations: a move depends on those before it.
    moved: BTreeMap<usize, (usize, Operation)>,
    removed: BTreeMap<usize, Operation>,
    /// Our additions; `None` is one that neither side gets.
    added: Vec<Option<Operation>>,
    /// The places of our additions among our operations.
    added_at: Vec<usize>,
    /// Our additions that theirs has not got.
    own: Vec<usize>,
    /// How many entities theirs adds.
    others: usize,
    /// What their side does beside.
    theirs: Vec<Operation>,
    /// Entities of which it is not known which ones they are on one side, and why.
    doubtful: BTreeMap<usize, &'static str>,
}

/// Why it is not known which entity of a side is one of the base.
const TWO: &str = "one of them has two that could be it: one at its place with other pairs, and one with its pairs at \
                   another place";
const UNKNOWN: &str = "it is not known which one it is: one side removes the brush model that it names, or another one \
                       that is like it";

/// The keys that say who an entity is.
const IDENTITY: [&str; 4] = ["hammerid", "targetname", "model", "origin"];

fn index(operation: &Operation) -> Option<usize> {
    match operation {
        Operation::Edit { on: Target::Index(index), .. }
        | Operation::Replace { on: Target::Index(index), .. }
        | Operation::Remove { on: Target::Index(index), .. }
        | Operation::Move { on: Target::Index(index), .. } => Some(*index),
        _ => None,
    }
}

impl<'o, 'd, 'e> Kept<'o, 'd, 'e> {
    fn new(base: &'e Entities<'e>, lump: &'o str, operations: Vec<Operation>, desk: &'o mut Desk<'d>) -> Self {
        let (content, moved, removed) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let (added, added_at, own, theirs) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let doubtful = BTreeMap::new();
        let mut kept =
            Kept { base, lump, desk, content, moved, removed, added, added_at, own, others: 0, theirs, doubtful };
        for (place, operation) in operations.into_iter().enumerate() {
            match (&operation, index(&operation)) {
                (Operation::Remove { .. }, Some(index)) => drop(kept.removed.insert(index, operation)),
                (Operation::Move { .. }, Some(index)) => drop(kept.moved.insert(index, (place, operation))),
                (_, Some(index)) => drop(kept.content.insert(index, operation)),
                (_, None) => {
                    kept.added.push(Some(operation));
                    kept.added_at.push(place);
                }
            }
        }
        kept.own = (0..kept.added.len()).collect();
        kept
    }

    fn into_operations(self) -> Vec<Operation> {
        let added = self.added_at.into_iter().zip(self.added).filter_map(|(place, added)| Some((place, added?)));
        let mut placed: Vec<(usize, Operation)> = self.moved.into_values().chain(added).collect();
        placed.sort_by_key(|(place, _)| *place);
        let placed = placed.into_iter().map(|(_, operation)| operation);
        let ours = self.content.into_values().chain(self.removed.into_values()).chain(placed);
        ours.chain(self.theirs).collect()
    }

    /// Decides who settles what both sides do to an entity.
    fn decide(&mut self, index: usize, message: &str, values: [Option<Vec<u8>>; 3]) -> Side {
        let message = format!("{}: {message}", self.label(index));
        self.settle(message, Subject::Entity(index, None), values)
    }

    fn settle(&mut self, message: String, subject: Subject, values: [Option<Vec<u8>>; 3]) -> Side {
        let values = values.map(|value| value.as_deref().map(without_marks));
        self.desk.decide(Conflict::lump(self.lump, message).with(subject, values))
    }

    /// Adds an operation of their side.
    fn add(&mut self, operation: Operation) {
        let Some(index) = index(&operation) else { return self.add_entity(operation) };
        let text = self.base.get(index).map(|entity| entity.bytes().to_vec());
        let is_removed = self.removed.contains_key(&index);
        match &operation {
            Operation::Remove { .. } if is_removed => {}
            Operation::Remove { .. } if self.content.contains_key(&index) || self.moved.contains_key(&index) => {
                let message = match self.content.contains_key(&index) {
                    true => "our side changes it, and theirs removes it",
                    false => "our side moves it, and theirs removes it",
                };
                let ours = self.text_after(index, self.content.get(&index));
                let side = self.decide(index, message, [text, ours, None]);
                if side != Side::Ours {
                    self.content.remove(&index);
                    self.moved.remove(&index);
                }
                if side == Side::Theirs {
                    self.theirs.push(operation);
                }
            }
            _ if is_removed => {
                let theirs = self.text_after(index, Some(&operation));
                let message = "our side removes it, and theirs changes or moves it";
                let side = self.decide(index, message, [text, None, theirs]);
                if side != Side::Ours {
                    self.removed.remove(&index);
                }
                if side == Side::Theirs {
                    self.theirs.push(operation);
                }
            }
            Operation::Move { to, .. } => match self.moved.get(&index) {
                Some((_, Operation::Move { to: ours, .. })) if ours == to => {}
                Some(_) => {
                    let side = self.decide(index, "both sides move it", [None, None, None]);
                    if side != Side::Ours {
                        self.moved.remove(&index);
                    }
                    if side == Side::Theirs {
                        self.theirs.push(operation);
                    }
                }
                None => self.theirs.push(operation),
            },
            _ => self.add_content(index, operation),
        }
    }

    /// Another text or other pairs of an entity that our side does not remove.
    fn add_content(&mut self, index: usize, operation: Operation) {
        match (self.content.get(&index), &operation) {
            (None, _) => self.theirs.push(operation),
            (Some(ours), _) if is_equal(ours, &operation) => {}
            (Some(Operation::Edit { .. }), Operation::Edit { .. }) if !self.doubtful.contains_key(&index) => {
                self.add_beside(index, operation);
            }
            (ours, _) => {
                let text = self.base.get(index).map(|entity| entity.bytes().to_vec());
                let values = [text, self.text_after(index, ours), self.text_after(index, Some(&operation))];
                let why = self.doubtful.get(&index).copied().unwrap_or("one of them its text apart from pairs");
                let message = &format!("both sides change it, and {why}");
                let side = self.decide(index, message, values);
                if side != Side::Ours {
                    self.content.remove(&index);
                }
                if side == Side::Theirs {
                    self.theirs.push(operation);
                }
            }
        }
    }

    /// An edit of an entity beside ours: changes of other keys fit.
    fn add_beside(&mut self, index: usize, operation: Operation) {
        let Operation::Edit { on, expect, changes } = operation else { return };
        let (mut rest, mut dropped) = (Vec::new(), Vec::new());
        // Changes of a key stay together.
        let mut groups: Vec<(BTreeSet<Vec<u8>>, Vec<Change>)> = Vec::new();
        for change in changes {
            let mut names: BTreeSet<Vec<u8>> = keys(&change).into_iter().collect();
            let (together, others): (Vec<_>, Vec<_>) =
                groups.into_iter().partition(|(known, _)| !known.is_disjoint(&names));
            groups = others;
            let mut all = Vec::new();
            for (known, changes) in together {
                names.extend(known);
                all.extend(changes);
            }
            all.push(change);
            groups.push((names, all));
        }
        for (names, changes) in groups {
            let is_about = |change: &&Change| keys(change).iter().any(|key| names.contains(key));
            let ours: Vec<Change> = match self.content.get(&index) {
                Some(Operation::Edit { changes, .. }) => changes.iter().filter(is_about).cloned().collect(),
                _ => Vec::new(),
            };
            if ours.is_empty() {
                rest.extend(changes);
            } else if ours != changes {
                let shown: Vec<String> = names.iter().map(|name| format!("`{}`", escaped(name))).collect();
                let message = format!("{}: both sides change {}", self.label(index), shown.join(" and "));
                let key = names.iter().next().cloned();
                let edit = |changes: &[Change]| {
                    let on = Target::Index(index);
                    let edit = Operation::Edit { on, expect: Vec::new(), changes: changes.to_vec() };
                    self.values_after(index, key.as_deref().unwrap_or_default(), Some(&edit))
                };
                let base = self.values_after(index, key.as_deref().unwrap_or_default(), None);
                let values = [base, edit(&ours), edit(&changes)];
                let subject = Subject::Entity(index, key);
                let side = self.settle(message, subject, values);
                if side != Side::Ours {
                    dropped.extend(ours);
                }
                if side == Side::Theirs {
                    rest.extend(changes);
                }
            }
        }
        if let Some(Operation::Edit { changes, .. }) = self.content.get_mut(&index) {
            changes.retain(|change| !dropped.contains(change));
            if changes.is_empty() {
                self.content.remove(&index);
            }
        }
        if !rest.is_empty() {
            self.theirs.push(Operation::Edit { on, expect, changes: rest });
        }
    }

    fn add_entity(&mut self, operation: Operation) {
        let place = self.others;
        self.others += 1;
        let find = |is: fn(&Operation, &Operation) -> bool| {
            let is_it = |ours: &usize| self.added[*ours].as_ref().is_some_and(|ours| is(ours, &operation));
            self.own.iter().position(is_it)
        };
        if let Some(at) = find(is_equal) {
            self.own.swap_remove(at);
            return;
        }
        let Some(at) = find(is_same_entity) else { return self.theirs.push(operation) };
        let ours = self.own[at];
        let same = self.added[ours].as_ref().and_then(|ours| same_by(ours, &operation));
        let message = format!("both sides add {}", described(&operation, same));
        let values = [None, self.added[ours].as_ref().map(printed), Some(printed(&operation))];
        let side = self.settle(message, Subject::Added(place), values);
        if side != Side::Ours {
            self.own.swap_remove(at);
            self.added[ours] = (side == Side::Theirs).then_some(operation);
        }
    }

    /// The entity alone after an operation; `None` if it removes the entity.
    fn after(&self, index: usize, operation: Option<&Operation>) -> Option<Entities<'static>> {
        let alone = Entities::parse(self.base.get(index)?.bytes().to_vec(), *self.base.rules()).ok()?;
        let mut operation = operation.cloned();
        match &mut operation {
            Some(Operation::Edit { on, .. } | Operation::Replace { on, .. }) => *on = Target::Index(0),
            _ => operation = None,
        }
        let patch = Patch { entities: None, operations: operation.into_iter().collect(), result: None };
        patch.applied(&alone).ok()
    }

    fn text_after(&self, index: usize, operation: Option<&Operation>) -> Option<Vec<u8>> {
        Some(self.after(index, operation)?.get(0)?.bytes().to_vec())
    }

    /// The values of a key after an operation, one a line.
    fn values_after(&self, index: usize, key: &[u8], operation: Option<&Operation>) -> Option<Vec<u8>> {
        let after = self.after(index, operation)?;
        let values: Vec<&[u8]> = after.get(0)?.all(key).collect();
        (!values.is_empty()).then(|| values.join(&b'\n'))
    }

    /// `#6 light`
    fn label(&self, index: usize) -> String {
        let class = |entity: Entity<'_>| entity.class().map(|class| format!(" {}", escaped(class)));
        format!("#{index}{}", self.base.get(index).and_then(class).unwrap_or_default())
    }
}

/// An added entity as text.
fn printed(operation: &Operation) -> Vec<u8> {
    match operation {
        Operation::AddText { text, .. } => text.clone(),
        Operation::Add { pairs, .. } => {
            let line = |(key, value): &(Vec<u8>, Vec<u8>)| [b"\"", &key[..], b"\" \"", value, b"\"\n"].concat();
            pairs.iter().flat_map(line).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether both do the same, wherever added entities go.
fn is_equal(one: &Operation, other: &Operation) -> bool {
    match (one, other) {
        (Operation::Edit { changes, .. }, Operation::Edit { changes: other, .. }) => changes == other,
        (Operation::Replace { text, .. }, Operation::Replace { text: other, .. })
        | (Operation::AddText { text, .. }, Operation::AddText { text: other, .. }) => text == other,
        (Operation::Add { pairs, .. }, Operation::Add { pairs: other, .. }) => pairs == other,
        _ => false,
    }
}

/// The keys that a change is about, in lower case.
fn keys(change: &Change) -> Vec<Vec<u8>> {
    match change {
        Change::Set { key, .. } | Change::Unset { key } => vec![key.name.to_ascii_lowercase()],
        Change::Add { key, .. } => vec![key.to_ascii_lowercase()],
        Change::Rename { key, to } => vec![key.name.to_ascii_lowercase(), to.to_ascii_lowercase()],
    }
}

fn value<'p>(operation: &'p Operation, key: &str) -> Option<&'p [u8]> {
    let Operation::Add { pairs, .. } = operation else { return None };
    pairs.iter().find(|(name, _)| name.eq_ignore_ascii_case(key.as_bytes())).map(|(_, value)| &value[..])
}

/// The key by which two added entities of a class are the same one. Those with two names are two.
fn same_by(one: &Operation, other: &Operation) -> Option<&'static str> {
    let both = |key: &str| Some((value(one, key)?, value(other, key)?)).filter(|(one, _)| !one.is_empty());
    let is_like = |key: &str| both(key).is_some_and(|(one, other)| one == other);
    let has_two_names = both("targetname").is_some() && !is_like("targetname");
    let mut keys = IDENTITY.into_iter().filter(|key| *key == "hammerid" || !has_two_names);
    keys.find(|key| is_like("classname") && is_like(key))
}

fn is_same_entity(one: &Operation, other: &Operation) -> bool {
    same_by(one, other).is_some()
}

/// Entities of the base that nothing but place and class identifies, where one side has an entity at this place with
/// other pairs and a new one with the same pairs at another place: either may be the one of the base.
fn in_doubt(base: &Entities<'_>, side: &Entities<'_>) -> Vec<usize> {
    let found = pair(base, side);
    let rest = |entity: &Entity<'_>| -> Vec<(Vec<u8>, Vec<u8>)> {
        let others = entity.pairs().filter(|pair| !pair.key.eq_ignore_ascii_case(b"origin"));
        others.map(|pair| (pair.key.to_ascii_lowercase(), pair.value.to_vec())).collect()
    };
    let is_by_place = |entity: &Entity<'_>| {
        IDENTITY.iter().all(|key| entity.get(key).is_some_and(|value| !value.is_empty()) == (*key == "origin"))
    };
    let new = side.iter().filter(|entity| found[entity.index()].is_none() && is_by_place(entity));
    let new: BTreeSet<_> = new.map(|entity| rest(&entity)).collect();
    if new.is_empty() {
        return Vec::new();
    }
    let pairs = found.iter().zip(side.iter()).filter_map(|(old, new)| Some((base.get((*old)?)?, new)));
    let is_in_doubt = |(old, now): &(Entity<'_>, Entity<'_>)| {
        let before = rest(old);
        is_by_place(old) && old.get("origin") == now.get("origin") && before != rest(now) && new.contains(&before)
    };
    pairs.filter(is_in_doubt).map(|(old, _)| old.index()).collect()
}

/// Of each set of equal entities of the base the first one, if both sides change some of the set, not alike, and a side
/// has these at other places: which of them is which is not known there.
fn mistaken<'e>(base: &'e Entities<'_>, sides: [(&Entities<'_>, &[Operation]); 2]) -> Vec<Entity<'e>> {
    let [ours, theirs] = sides.map(|(_, operations)| -> BTreeMap<usize, &Operation> {
        let contents =
            operations.iter().filter(|one| matches!(one, Operation::Edit { .. } | Operation::Replace { .. }));
        contents.filter_map(|one| Some((index(one)?, one))).collect()
    });
    if ours.is_empty() || theirs.is_empty() {
        return Vec::new();
    }
    // The same pairs in another text are known by the text.
    let mut equal: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
    for entity in base.iter() {
        equal.entry(entity.bytes()).or_default().push(entity.index());
    }
    let is_of = |changed: &BTreeMap<usize, &Operation>, set: &[usize]| set.iter().any(|at| changed.contains_key(at));
    let is_alike = |index: &usize| match (ours.get(index), theirs.get(index)) {
        (Some(ours), Some(theirs)) => is_equal(ours, theirs),
        (ours, theirs) => ours.is_none() && theirs.is_none(),
    };
    let mut sets: Vec<Vec<usize>> = equal.into_values().filter(|set| set.len() > 1).collect();
    sets.retain(|set| is_of(&ours, set) && is_of(&theirs, set) && !set.iter().all(is_alike));
    if sets.is_empty() {
        return Vec::new();
    }
    let found = sides.map(|(side, _)| pair(base, side));
    let is_at_place = |index: &usize| found.iter().all(|found| found.get(*index) == Some(&Some(*index)));
    sets.retain(|set| !set.iter().all(is_at_place));
    sets.iter().filter_map(|set| base.get(*set.first()?)).collect()
}

/// Entities of the base that name a record which a side removed, or of which it is not known where it is, where
/// nothing else identifies them in one of the maps.
fn without_model<'m>(maps: [&'m Entities<'_>; 3]) -> impl Iterator<Item = usize> + 'm {
    let identity = |entity: &Entity<'_>| {
        let keys = IDENTITY.iter().filter(|key| **key != "model");
        let (key, value) =
            keys.filter_map(|key| Some((*key, entity.get(key)?))).find(|(_, value)| !value.is_empty())?;
        Some((key, value.to_vec(), entity.class().map(<[u8]>::to_vec)))
    };
    let mut counts: BTreeMap<_, [usize; 3]> = BTreeMap::new();
    for (at, map) in maps.into_iter().enumerate() {
        map.iter().filter_map(|entity| identity(&entity)).for_each(|own| counts.entry(own).or_default()[at] += 1);
    }
    let is_known = move |entity: &Entity<'_>| {
        let counts = identity(entity).and_then(|own| counts.get(&own));
        counts.is_some_and(|counts| counts.iter().all(|count| *count <= 1))
    };
    let is_marked = |entity: &Entity<'_>| {
        entity.pairs().any(|pair| pair.value.windows(REMOVED.len()).any(|part| part == REMOVED.as_bytes()))
    };
    maps[0].iter().filter(move |entity| is_marked(entity) && !is_known(entity)).map(|entity| entity.index())
}

fn described(operation: &Operation, key: Option<&str>) -> String {
    let class = value(operation, "classname").unwrap_or(b"an entity");
    let key = key.and_then(|key| Some((key, value(operation, key)?)));
    let by = key.map(|(key, value)| format!(" with {key} `{}`", escaped(value))).unwrap_or_default();
    format!("{}{by}, with other pairs", escaped(class))
}
