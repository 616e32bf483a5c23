//! Merges of two random edits, edits of the order of records among them: a merge is what one edit after the other is, or
//! a conflict, and both orders of the sides agree. What is the same is found by the walk of `tests/follow`, which knows
//! nothing of the library's references.

use std::collections::BTreeMap;

use bspkit::record::Shape;
use bspkit::{Bsp, Data, Layout};
use bspkit_ops::merge::merge;
use bspkit_ops::models::Removal;

use super::facts::{Kind, facts};
use super::maps::{fixtures, real};
use super::shuffle::{self, Random};
use super::walk;

#[derive(Clone, Debug)]
enum Edit {
    /// Another number in a field.
    Number {
        list: String,
        record: usize,
        at: usize,
        size: usize,
        value: i64,
    },
    /// A value of an entity.
    Entity(usize, String, String),
    /// A new entity with this model.
    AddEntity(usize),
    RemoveEntity(usize),
    Order(String, Vec<usize>),
    Remove(String, std::ops::Range<usize>),
    Duplicate(String, std::ops::Range<usize>),
    RemoveModel(usize),
}

impl Edit {
    fn is_structural(&self) -> bool {
        matches!(self, Edit::Order(..) | Edit::Remove(..) | Edit::Duplicate(..) | Edit::RemoveModel(_))
    }

    /// A random edit of a map.
    fn random(map: &Bsp<'_>, is_structural: bool, random: &mut Random) -> Option<Edit> {
        let lists = shuffle::lists(map);
        let lists: Vec<_> = lists.into_iter().filter(|(_, info, bytes)| bytes.len() > info.size).collect();
        let (list, info, bytes) = lists.get(random.below(lists.len()))?.clone();
        let len = bytes.len() / info.size;
        let entities = map.entities().ok()?;
        let models = lists.iter().find(|(name, ..)| name == "MODELS").map_or(1, |(_, info, all)| all.len() / info.size);
        if is_structural {
            let start = random.below(len);
            let range = start..(start + 1 + random.below(2)).min(len);
            return Some(match random.below(5) {
                0 | 1 => Edit::Order(list.clone(), shuffle::order(map, &list, len, random)),
                2 => Edit::Remove(list, range),
                3 => Edit::Duplicate(list, range),
                _ => Edit::RemoveModel(1 + random.below(models.max(2) - 1)),
            });
        }
        Some(match random.below(7) {
            0 => Edit::Entity(random.below(entities.len()), "own".to_owned(), random.below(100).to_string()),
            1 => Edit::AddEntity(1 + random.below(models.max(2) - 1)),
            2 => Edit::RemoveEntity(1 + random.below(entities.len().max(2) - 1)),
            _ => {
                let record = random.below(len);
                let own: Vec<_> = facts(map.dialect().name).filter(|(from, ..)| *from == list).collect();
                let singles: Vec<_> = own.iter().filter(|(_, _, kind, _)| matches!(kind, Kind::One)).collect();
                let (place, value) = match singles.get(random.below(singles.len() + 1)) {
                    Some((_, field, _, to)) => {
                        let target = lists.iter().find(|(name, ..)| name == to)?;
                        let place = *walk::places(info.fields, field).first()?;
                        (place, random.below(target.2.len() / target.1.size))
                    }
                    None => {
                        let is_plain = |name: &str| {
                            !name.contains("offset")
                                && name != "cluster"
                                // Planes are removed in pairs, as long as they are pairs.
                                && list != "PLANES"
                                && !own.iter().any(|(_, field, kind, _)| {
                                    let counts = match kind {
                                        Kind::Run(of, ..) | Kind::Set(of, ..) | Kind::Turn(of) | Kind::If(of, _) => of,
                                        Kind::Items(of, _) => of,
                                        Kind::Power(_) => "power",
                                        _ => "",
                                    };
                                    field.split('.').next() == Some(name) || counts.split('.').next() == Some(name)
                                })
                        };
                        let fields: Vec<_> = info.fields.iter().filter(|field| is_plain(field.name)).collect();
                        let field = fields.get(random.below(fields.len()))?;
                        (*walk::places(info.fields, field.name).first()?, random.below(90))
                    }
                };
                let (at, Shape::Number(number)) = place else { return None };
                Edit::Number { list, record, at, size: number.size(), value: value as i64 }
            }
        })
    }

    /// The list whose records it moves or removes, and by how many it gets longer.
    fn list(&self) -> Option<(&str, isize)> {
        match self {
            Edit::Order(list, _) => Some((list, 0)),
            Edit::Remove(list, range) => Some((list, -range.len().cast_signed())),
            Edit::Duplicate(list, range) => Some((list, range.len().cast_signed())),
            Edit::RemoveModel(_) => Some(("MODELS", -1)),
            _ => None,
        }
    }

    /// The same edit after another one has moved records; `None` where it is not plain which records it is about.
    fn after(&self, first: &Edit, base: &Bsp<'_>, now: &Bsp<'_>) -> Option<Edit> {
        let (own, grown) = self.list()?;
        let len = |map: &Bsp<'_>| {
            let list = shuffle::lists(map).into_iter().find(|(list, ..)| list == own);
            list.map(|(_, info, bytes)| bytes.len() / info.size)
        };
        let (before, after) = (len(base)?, len(now)?);
        let (list, change) = first.list()?;
        if list != own {
            return (before == after).then(|| self.clone());
        }
        if before.checked_add_signed(change) != Some(after) || matches!(self, Edit::Order(..)) && grown != change {
            return None;
        }
        // The new number of a record that stays.
        let new = |old: usize| match first {
            Edit::Order(_, order) => order.iter().position(|one| *one == old),
            Edit::Remove(_, range) if old < range.start => Some(old),
            Edit::Remove(_, range) => (old >= range.end).then(|| old - range.len()),
            Edit::RemoveModel(model) if old != *model => Some(old - usize::from(old > *model)),
            // Copies are right behind the records.
            Edit::Duplicate(_, range) => Some(if old < range.end { old } else { old + range.len() }),
            _ => None,
        };
        let moved = |range: &std::ops::Range<usize>| {
            let start = new(range.start)?;
            range.clone().enumerate().all(|(at, old)| new(old) == Some(start + at)).then(|| start..start + range.len())
        };
        match self {
            Edit::Remove(list, range) => Some(Edit::Remove(list.clone(), moved(range)?)),
            Edit::Duplicate(list, range) => Some(Edit::Duplicate(list.clone(), moved(range)?)),
            Edit::RemoveModel(model) => Some(Edit::RemoveModel(new(*model)?)),
            _ => None,
        }
    }

    /// The map after the edit; `None` if it is refused.
    fn apply(&self, map: &Bsp<'static>) -> Option<Bsp<'static>> {
        let mut draft = map.draft();
        match self {
            Edit::Number { list, record, at, size, value } => {
                let (lump, own) = list.split_once('.').unwrap_or((list, ""));
                let slot = map.slot(lump).ok()?.id;
                let part = map.spans(map.slot(lump).ok()?).ok()?.into_iter().find(|part| part.list == own)?;
                let mut bytes = map.bytes(slot).ok()?.to_vec();
                let place = part.range.start + record * part.record.size + at;
                bytes[place..place + size].copy_from_slice(&value.to_le_bytes()[..*size]);
                draft.set(slot, bytes).ok()?;
            }
            Edit::Entity(index, key, value) => {
                draft.entities().ok()?.get_mut(*index).ok()?.set(key.as_str(), value.as_str()).ok()?
            }
            Edit::AddEntity(model) => {
                let model = format!("*{model}");
                draft.entities().ok()?.add([("classname", "func_wall"), ("model", &model)]).ok()?;
            }
            Edit::RemoveEntity(index) => draft.entities().ok()?.remove(*index).ok()?,
            Edit::Order(list, order) => drop(draft.structure().reorder_list(list, order).ok()?),
            Edit::Remove(list, range) => {
                drop(draft.structure().cascade(true).splice_list(list, range.clone(), Vec::new()).ok()?)
            }
            Edit::Duplicate(list, range) => drop(draft.structure().duplicate_list(list, range.clone()).ok()?),
            Edit::RemoveModel(model) => {
                drop(Removal::default().run(&mut draft, &[*model]).ok()?);
            }
        }
        let bytes = draft.plan(Layout::Keep).ok()?.to_vec();
        let new = Bsp::from_data(Data::from(bytes), Some(map.dialect())).ok()?;
        let is_read = |slot: &bspkit::Slot| map.row(slot).is_err() || new.row(new.slot(&slot.name).unwrap()).is_ok();
        map.slots().iter().all(is_read).then_some(new)
    }
}

/// How often a merge was what, by the kinds of the edits.
#[derive(Debug, Default)]
struct Tally {
    merged: BTreeMap<&'static str, usize>,
    conflicts: BTreeMap<&'static str, usize>,
    /// How many of those that were merged were compared with one edit after the other.
    judged: BTreeMap<&'static str, usize>,
}

/// The merged map, or the first conflict.
type Merge = fn(&Bsp<'static>, &Bsp<'static>, &Bsp<'static>) -> Result<Bsp<'static>, String>;

fn merged(base: &Bsp<'static>, ours: &Bsp<'static>, theirs: &Bsp<'static>) -> Result<Bsp<'static>, String> {
    let merged = merge(base, ours, theirs).unwrap();
    match merged.conflicts.first() {
        Some(conflict) => Err(conflict.to_string()),
        None => {
            let bytes = merged.draft.plan(Layout::Keep).unwrap().to_vec();
            Ok(Bsp::from_data(Data::from(bytes), Some(base.dialect())).unwrap())
        }
    }
}

/// A map without records that nothing needs. The removal of a model takes with it what only that model has, and it
/// depends on the other edit what that is.
fn pruned(map: Bsp<'static>) -> Bsp<'static> {
    let mut draft = map.draft();
    match bspkit_ops::prune::prune(&mut draft, &Default::default()) {
        Ok(_) => Bsp::from_data(Data::from(draft.plan(Layout::Keep).unwrap().to_vec()), Some(map.dialect())).unwrap(),
        Err(_) => map,
    }
}

/// What a map has. Entities that both sides add may have either order.
fn content(map: &Bsp<'_>) -> walk::Walk {
    let mut found = walk::walk(map);
    found.entities.sort_unstable();
    found
}

/// What is wrong with merges of random edits, at the first one.
fn try_all(
    merged: Merge,
    name: &str,
    base: &Bsp<'static>,
    seed: u64,
    times: usize,
    tally: &mut Tally,
) -> Result<(), String> {
    let mut random = Random(seed);
    for time in 0..times {
        let structural = [random.below(2) == 0, random.below(4) == 0];
        let edits = structural.map(|structural| Edit::random(base, structural, &mut random));
        let [Some(one), Some(other)] = edits else { continue };
        let (Some(ours), Some(theirs)) = (one.apply(base), other.apply(base)) else { continue };
        if format!("{one:?}") == format!("{other:?}") {
            // What both sides do alike is done once.
            continue;
        }
        let what = format!("{name}, seed {seed}, {time}: {one:?} and {other:?}");
        let kind = match (one.is_structural(), other.is_structural()) {
            (false, false) => "values",
            (true, true) => "both move",
            _ => "one moves",
        };
        let insist = |is_so: bool, why: &str| if is_so { Ok(()) } else { Err(format!("{what}: {why}")) };
        match (merged(base, &ours, &theirs), merged(base, &theirs, &ours)) {
            (Ok(map), Ok(back)) => {
                *tally.merged.entry(kind).or_default() += 1;
                let found = content(&map);
                insist(found == content(&back), "the two orders of the sides differ")?;
                // An edit of values names records by their numbers in the base: it comes first. A removed entity gives
                // later ones other numbers.
                let is_last = |edit: &Edit| edit.is_structural() || matches!(edit, Edit::RemoveEntity(_));
                let (first, second) = if is_last(&one) { (&theirs, &one) } else { (&ours, &other) };
                let is_both = one.is_structural() && other.is_structural();
                let both = match is_both {
                    true => other.after(&one, base, &ours).and_then(|other| other.apply(&ours)),
                    false if is_last(&one) && is_last(&other) => None,
                    false => {
                        Some(second.apply(first).unwrap_or_else(|| panic!("{what}: one after the other is refused")))
                    }
                };
                let Some(both) = both else { continue };
                let is_model = |edit: &Edit| matches!(edit, Edit::RemoveModel(_));
                let (found, both) = match is_both && (is_model(&one) || is_model(&other)) {
                    true => (content(&pruned(map)), pruned(both)),
                    false => (found, both),
                };
                *tally.judged.entry(kind).or_default() += 1;
                let (expected, differs) = (content(&both), "differs from one edit after the other");
                insist(found.entities == expected.entities, &format!("ENTITIES {differs}"))?;
                for ((list, found), (_, expected)) in found.lists.iter().zip(&expected.lists) {
                    insist(found == expected, &format!("{list} {differs}"))?;
                }
            }
            (Err(_), Err(_)) => *tally.conflicts.entry(kind).or_default() += 1,
            (Ok(_), Err(why)) => {
                insist(false, &format!("one order of the sides is a conflict: theirs and ours: {why}"))?
            }
            (Err(why), Ok(_)) => {
                insist(false, &format!("one order of the sides is a conflict: ours and theirs: {why}"))?
            }
        }
    }
    Ok(())
}

#[test]
fn merges_are_one_edit_after_the_other() {
    let mut tally = Tally::default();
    for (at, (name, base)) in fixtures().into_iter().enumerate() {
        if base.byte_order() == bspkit::bytes::ByteOrder::Little {
            let times = std::env::var("BSPKIT_MERGES").ok().and_then(|times| times.parse().ok()).unwrap_or(10);
            try_all(merged, &name, &base, at as u64, times, &mut tally).unwrap_or_else(|why| panic!("{why}"));
        }
    }
    eprintln!("{tally:#?}");
    assert!(tally.merged["values"] > 20 && tally.merged["one moves"] > 20, "{tally:?}");
}

/// Real maps; the larger ones only where that is asked for.
#[test]
fn merges_of_real_maps_are_one_edit_after_the_other() {
    let mut tally = Tally::default();
    for (at, (name, base)) in real(1 << 18, 1 << 23).enumerate() {
        if base.byte_order() == bspkit::bytes::ByteOrder::Little && base.entities().is_ok() {
            try_all(merged, &name, &base, 1000 + at as u64, 2, &mut tally).unwrap_or_else(|why| panic!("{why}"));
        }
    }
    eprintln!("{tally:#?}");
}

/// A merged map with these lumps as another map has them.
fn with_lumps(merged: &Bsp<'static>, from: &Bsp<'static>, is_lost: impl Fn(&str) -> bool) -> Bsp<'static> {
    let mut draft = merged.draft();
    for slot in from.slots().iter().filter(|slot| is_lost(&slot.name)) {
        if let (Ok(old), Ok(own)) = (from.bytes(slot.id), merged.slot(&slot.name)) {
            draft.set(own.id, old.to_vec()).unwrap();
        }
    }
    Bsp::from_data(Data::from(draft.plan(Layout::Keep).unwrap().to_vec()), Some(merged.dialect())).unwrap()
}

fn lump(map: &Bsp<'_>, name: &str) -> Option<Vec<u8>> {
    Some(map.bytes(map.slot(name).ok()?.id).ok()?.to_vec())
}

/// The entities of a map with the value of the key that the edits set taken away.
fn without_value(map: &Bsp<'static>) -> Bsp<'static> {
    let mut draft = map.draft();
    let entities = draft.entities().unwrap();
    (0..entities.len()).for_each(|index| drop(entities.get_mut(index).unwrap().unset("own")));
    Bsp::from_data(Data::from(draft.plan(Layout::Keep).unwrap().to_vec()), Some(map.dialect())).unwrap()
}

/// What is wrong with a merge, the merge, and what the law says.
const FAULTS: &[(&str, Merge, &str)] = &[
    (
        "the entities of their side are lost",
        |base, ours, theirs| merged(base, ours, theirs).map(|map| with_lumps(&map, ours, |name| name == "ENTITIES")),
        "the two orders of the sides differ",
    ),
    (
        "the entities of both sides are lost",
        |base, ours, theirs| merged(base, ours, theirs).map(|map| with_lumps(&map, base, |name| name == "ENTITIES")),
        "ENTITIES differs from one edit after the other",
    ),
    (
        "a value of an entity is lost",
        |base, ours, theirs| merged(base, ours, theirs).map(|map| without_value(&map)),
        "ENTITIES differs from one edit after the other",
    ),
    (
        "the records of their side are lost",
        |base, ours, theirs| merged(base, ours, theirs).map(|map| with_lumps(&map, ours, |name| name != "ENTITIES")),
        "the two orders of the sides differ",
    ),
    (
        "a number that both sides have in one list is lost",
        |base, ours, theirs| {
            let is_of_both = |name: &str| {
                let old = lump(base, name);
                let is_longer = |map: &Bsp<'_>| lump(map, name).map(|new| new.len()) != old.as_ref().map(Vec::len);
                lump(ours, name) != old && lump(theirs, name) != old && !is_longer(ours) && !is_longer(theirs)
            };
            merged(base, ours, theirs).map(|map| with_lumps(&map, base, |name| name != "ENTITIES" && is_of_both(name)))
        },
        " differs from one edit after the other",
    ),
    (
        "lumps are taken as a whole, and their numbers do not follow",
        |base, ours, theirs| {
            let is_theirs = |name: &str| lump(theirs, name) != lump(base, name);
            merged(base, ours, theirs)?;
            Ok(with_lumps(ours, theirs, is_theirs))
        },
        "",
    ),
    (
        "of a list that both sides change only our side is taken",
        |base, ours, theirs| {
            let is_of_both = |name: &str| {
                let old = lump(base, name).map(|old| old.len());
                let len = |map: &Bsp<'_>| lump(map, name).map(|new| new.len());
                len(ours) != old && len(theirs) != old && name != "ENTITIES"
            };
            merged(base, ours, theirs).map(|map| with_lumps(&map, base, is_of_both))
        },
        " differs from one edit after the other",
    ),
    (
        "a conflict is silence where our side is the longer one",
        |base, ours, theirs| match merged(base, ours, theirs) {
            Err(_) if ours.container().bytes().len() > theirs.container().bytes().len() => {
                Ok(with_lumps(ours, ours, |_| false))
            }
            merged => merged,
        },
        "one order of the sides is a conflict",
    ),
];

/// A law that has never failed is no law: merges with one mistake each.
#[test]
fn a_merge_that_loses_a_side_is_seen() {
    let maps: Vec<_> = fixtures().into_iter().filter(|(name, _)| name.contains("own_rooms.bsp")).collect();
    for (fault, merge, expected) in FAULTS {
        let found = (0..20).find_map(|seed| {
            let law =
                |(name, base): &(String, Bsp<'static>)| try_all(*merge, name, base, seed, 10, &mut Tally::default());
            maps.iter().filter_map(|map| law(map).err()).find(|why| why.contains(expected))
        });
        assert!(found.is_some(), "nobody sees that {fault}");
    }
}
