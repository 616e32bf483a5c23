//! Patches name entities: on other versions of the map they do the same to the same entities, or refuse.
//!
//! Each entity has a comment with a number that is its own. Patches do not see it, so the test knows which entity is
//! which without the code that names them. Entities that differ in nothing else may stand for each other.

use std::collections::HashMap;

use bspkit::content::entities::Entities;
use bspkit::dialect::EntityRules;
use bspkit::{Bsp, Error};
use bspkit_ops::diff::diff;
use bspkit_ops::patch::{Match, Operation, Patch, Search, Spot, Target};
use proptest::prelude::*;
use proptest::sample::select;

use super::random::config;

type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

/// An entity with its number.
#[derive(Clone, Debug, PartialEq)]
struct One {
    tag: usize,
    pairs: Pairs,
}

fn text(list: &[One]) -> Vec<u8> {
    let mut text = Vec::new();
    for one in list {
        text.extend(format!("{{ // tag {}\n", one.tag).into_bytes());
        for (key, value) in &one.pairs {
            text.extend([b"\"", &key[..], b"\" \"", value, b"\"\n"].concat());
        }
        text.extend(b"}\n");
    }
    text.push(0);
    text
}

fn read(text: &[u8]) -> Entities<'_> {
    Entities::parse(text, EntityRules::QUAKE3).unwrap()
}

/// The pairs of all entities, sorted.
fn content<'o>(list: impl IntoIterator<Item = &'o One>) -> Vec<Pairs> {
    let mut all: Vec<Pairs> = list.into_iter().map(|one| one.pairs.clone()).collect();
    all.sort();
    all
}

fn read_content(text: &[u8]) -> Vec<Pairs> {
    let pairs = |entity: bspkit::content::entities::Entity<'_>| {
        entity.pairs().map(|pair| (pair.key.to_vec(), pair.value.to_vec())).collect()
    };
    let mut all: Vec<Pairs> = read(text).iter().map(pairs).collect();
    all.sort();
    all
}

/// What the change from `old` to `new` does to `other`, by the numbers.
fn meant(old: &[One], new: &[One], other: &[One]) -> Vec<Pairs> {
    let had: HashMap<usize, &One> = old.iter().map(|one| (one.tag, one)).collect();
    let has: HashMap<usize, &One> = new.iter().map(|one| (one.tag, one)).collect();
    let kept = other.iter().filter_map(|one| match had.contains_key(&one.tag) {
        true => has.get(&one.tag).copied(),
        false => Some(one),
    });
    content(kept.chain(new.iter().filter(|one| !had.contains_key(&one.tag))))
}

/// How patches are made and applied; a fault has another one.
struct Subject {
    diff: fn(&Entities<'_>, &Entities<'_>) -> Result<Patch, Error>,
}

const REAL: Subject = Subject { diff };

/// The law: what the patch does to another version is what it does to the map that it is for. `None` if it is refused.
fn law(subject: &Subject, old: &[One], new: &[One], other: &[One]) -> Result<Option<Patch>, String> {
    let (old_text, new_text, other_text) = (text(old), text(new), text(other));
    let patch = (subject.diff)(&read(&old_text), &read(&new_text)).map_err(|error| error.to_string())?;
    let there = patch.apply(&read(&old_text)).map_err(|error| format!("{error}: {:?}", error.hint()))?;
    if there != new_text {
        return Err(format!("the patch leads elsewhere: {patch:#?}"));
    }
    let entities = read(&new_text);
    if let Ok(located) = patch.locate(&entities, Search::Exact)
        && located.already
        && located.apply().ok().as_ref() != Some(&new_text)
    {
        return Err(format!("done already, and something changes: {patch:#?}"));
    }
    let Ok(done) = patch.apply(&read(&other_text)) else { return Ok(None) };
    match read_content(&done) == meant(old, new, other) {
        true => Ok(Some(patch)),
        false => Err(format!("another entity was edited: {patch:#?}\n{}", String::from_utf8_lossy(&done))),
    }
}

fn pair(key: &str, value: impl Into<Vec<u8>>) -> (Vec<u8>, Vec<u8>) {
    (key.as_bytes().to_vec(), value.into())
}

/// Entities of which some have names, some places, some neither, and some are equal.
fn one() -> impl Strategy<Value = Pairs> {
    let class = select(vec!["light", "func_door", "func_wall", "relay"]);
    let maybe = |values: &'static [&'static str]| prop::option::of(select(values.to_vec()));
    let parts = (class, maybe(&["a", "b", "c", "d"]), maybe(&["0 0 0", "1 2 3", "4 5 6"]), maybe(&["*1", "*2", "*3"]));
    (parts, maybe(&["1", "2"])).prop_map(|((class, name, origin, model), wait)| {
        let named = [("targetname", name), ("origin", origin), ("model", model), ("wait", wait)];
        let rest = named.into_iter().filter_map(|(key, value)| Some(pair(key, value?)));
        std::iter::once(pair("classname", class)).chain(rest).collect()
    })
}

/// A change of the list: which one, and what. New ones get numbers from `next` on.
type Step = (u8, usize, usize, Pairs);

fn changed(list: &[One], steps: &[Step], next: usize) -> Vec<One> {
    let mut list = list.to_vec();
    for (number, (what, at, to, new)) in steps.iter().enumerate() {
        // The world stays the first one.
        let (at, to) = (1 + at % list.len().max(1), 1 + to % list.len());
        match what {
            0 | 1 => list.insert(to, One { tag: next + number, pairs: new.clone() }),
            _ if at >= list.len() => {}
            2 => drop(list.remove(at)),
            3 => {
                let one = list.remove(at);
                list.insert(to.min(list.len()), one);
            }
            4 => list[at].pairs.push(pair("extra", number.to_string())),
            _ => {
                if let Some((_, value)) = list[at].pairs.iter_mut().find(|(key, _)| key == b"wait") {
                    *value = b"9".to_vec();
                }
            }
        }
    }
    list
}

fn steps(kinds: std::ops::Range<u8>) -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec((kinds, 0..20_usize, 0..20_usize, one()), 0..6)
}

fn maps() -> impl Strategy<Value = (Vec<One>, Vec<One>, Vec<One>)> {
    // The other version has entities more and less, and in another order: what remains has the same pairs.
    (prop::collection::vec(one(), 1..12), steps(0..6), steps(0..4)).prop_map(|(all, edits, others)| {
        let world = vec![pair("classname", "worldspawn")];
        let all = std::iter::once(world).chain(all).enumerate().map(|(tag, pairs)| One { tag, pairs });
        let old: Vec<One> = all.collect();
        let (new, other) = (changed(&old, &edits, 100), changed(&old, &others, 200));
        (old, new, other)
    })
}

/// Whether an entity that went and one that came have the same name: then the patch means the new one.
fn is_replaced(old: &[One], other: &[One]) -> bool {
    let tells = |one: &One| {
        let get = |name: &str| one.pairs.iter().find(|(key, _)| key == name.as_bytes()).map(|(_, value)| value.clone());
        let (class, name, origin) = (get("classname"), get("targetname"), get("origin"));
        let mut all: Vec<Vec<Option<Vec<u8>>>> = vec![one.pairs.iter().map(|(_, value)| Some(value.clone())).collect()];
        all.extend(name.map(|name| vec![Some(b"name".to_vec()), Some(name)]));
        all.extend(origin.map(|origin| vec![class, Some(origin)]));
        all
    };
    let gone = old.iter().filter(|one| other.iter().all(|other| other.tag != one.tag));
    let gone: Vec<_> = gone.flat_map(tells).collect();
    other.iter().filter(|one| one.tag >= 200).flat_map(tells).any(|name| gone.contains(&name))
}

proptest! {
    #![proptest_config(config(3000, "tests/proptest-regressions/patch.txt"))]

    #[test]
    fn a_patch_edits_the_same_entities_of_another_version((old, new, other) in maps()) {
        prop_assume!(!is_replaced(&old, &other));
        law(&REAL, &old, &new, &other).map_err(TestCaseError::fail)?;
    }
}

fn light(tag: usize, origin: &str, value: &str) -> One {
    One { tag, pairs: vec![pair("classname", "light"), pair("origin", origin), pair("light", value)] }
}

fn wall(tag: usize, model: &str) -> One {
    One { tag, pairs: vec![pair("classname", "func_wall"), pair("model", model)] }
}

fn world() -> One {
    One { tag: 0, pairs: vec![pair("classname", "worldspawn")] }
}

/// Each name of a target in a patch of one changed entity.
fn name_of(old: &[One], new: &[One]) -> Match {
    let (old, new) = (text(old), text(new));
    let patch = diff(&read(&old), &read(&new)).unwrap();
    match &patch.operations[..] {
        [Operation::Edit { on: Target::Match(on), .. } | Operation::Remove { on: Target::Match(on), .. }] => on.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_patch_names_entities_as_people_do() {
    let with = |one: &One, key: &str, value: &str| {
        let mut one = one.clone();
        one.pairs.push(pair(key, value));
        one
    };
    let named = |origin: &str| with(&light(1, origin, "300"), "targetname", "lamp");
    let edit = |old: Vec<One>, at: usize| {
        let mut new = old.clone();
        new[at] = with(&new[at], "style", "3");
        name_of(&old, &new)
    };
    let keys =
        |on: &Match| on.pairs.iter().map(|(key, _)| String::from_utf8_lossy(key).into_owned()).collect::<Vec<_>>();
    // By its name; by class and place; by class, name and place if the name is there twice.
    let on = edit(vec![world(), named("1 2 3"), light(2, "4 5 6", "300")], 1);
    assert_eq!((keys(&on), on.only, on.index), (vec!["targetname".to_owned()], false, Some(1)));
    assert_eq!(
        keys(&edit(vec![world(), light(1, "1 2 3", "300"), light(2, "4 5 6", "300")], 2)),
        ["classname", "origin"]
    );
    assert_eq!(keys(&edit(vec![world(), named("1 2 3"), named("4 5 6")], 2)), ["classname", "origin"]);
    assert_eq!(keys(&edit(vec![world()], 0)), ["classname"]);
    let hammer = |tag: usize| with(&light(tag, "0 0 0", "300"), "hammerid", &tag.to_string());
    assert_eq!(keys(&edit(vec![world(), hammer(1), hammer(2)], 2)), ["classname", "hammerid"]);
    // Equal ones by their order; and the number of a model is no name.
    let twins = || vec![world(), light(1, "0 0 0", "300"), light(2, "0 0 0", "300")];
    let on = edit(twins(), 2);
    assert_eq!((on.only, on.nth, on.count, on.index), (true, Some(2), Some(2), Some(2)));
    let on = edit(vec![world(), wall(1, "*1"), wall(2, "*2")], 1);
    assert_eq!((keys(&on), on.nth, on.count), (vec!["classname".to_owned()], Some(1), Some(2)));
}

#[test]
fn entities_more_and_less_do_not_stop_a_patch() {
    let old = vec![world(), light(1, "1 2 3", "300"), wall(2, "*1"), light(3, "4 5 6", "300")];
    let mut new = old.clone();
    new[1] = light(1, "1 2 3", "200");
    new.remove(3);
    new.insert(2, light(100, "7 8 9", "5"));
    let other = [world(), light(200, "9 9 9", "1"), light(3, "4 5 6", "300"), light(1, "1 2 3", "300"), wall(2, "*1")];
    assert!(law(&REAL, &old, &new, &other).unwrap().is_some());
    let (old_text, new_text, other_text) = (text(&old), text(&new), text(&other));
    let patch = diff(&read(&old_text), &read(&new_text)).unwrap();
    let entities = read(&other_text);
    let found = patch.locate(&entities, Search::Exact).unwrap().found;
    let places: Vec<_> = found.iter().map(|found| (found.was, found.index)).collect();
    assert_eq!(places, [(Some(1), 3), (Some(3), 2)]);
}

/// What is not clear is refused with what may be meant; a guess says what it took.
#[test]
fn an_unclear_target_is_refused_or_guessed_aloud() {
    let old = vec![world(), light(1, "1 2 3", "300"), wall(2, "*1"), wall(3, "*2")];
    let mut new = old.clone();
    new[1] = light(1, "1 2 3", "200");
    new[3].pairs.push(pair("wait", "1"));
    let other =
        [world(), wall(200, "*3"), wall(2, "*1"), wall(3, "*2"), light(1, "1 2 4", "300"), light(201, "0 0 0", "7")];
    let (old_text, new_text, other_text) = (text(&old), text(&new), text(&other));
    let patch = diff(&read(&old_text), &read(&new_text)).unwrap();
    let entities = read(&other_text);
    let error = patch.apply(&entities).unwrap_err();
    let hint = error.hint().unwrap().to_string();
    let lines: Vec<&str> = hint.lines().collect();
    assert_eq!(
        lines[..2],
        [
            "operations[0]: the entity with `classname` `light` `origin` `1 2 3` means no entity, and 1 was expected; \
             perhaps #4 light, which has 2 of 3 pairs",
            "operations[1]: entities with only `classname` `func_wall`: there are 3, and 2 were expected; perhaps #3 \
             func_wall, which has 2 of 2 pairs, or #2 func_wall, which has 1 of 2 pairs, or #1 func_wall, which has 1 of 2 pairs",
        ]
    );
    let located = patch.locate(&entities, Search::Guess).unwrap();
    assert_eq!(located.guesses.len(), 2, "{:?}", located.guesses);
    assert!(located.guesses[1].ends_with("taken: #3 func_wall, which has 2 of 2 pairs"), "{}", located.guesses[1]);
    let done = located.apply().unwrap();
    let classes: Vec<_> = read(&done).iter().map(|entity| entity.pairs().len()).collect();
    assert_eq!(classes, [1, 2, 2, 3, 3, 3]);
    assert_eq!(read(&done).get(4).unwrap().get("light"), Some(&b"200"[..]));
    // What the change replaces must be what was expected, even for a guess.
    let dark = text(&[world(), light(1, "1 2 3", "100")]);
    let only = Patch { entities: None, operations: patch.operations[..1].to_vec(), result: None };
    assert!(only.locate(&read(&dark), Search::Guess).is_err());
}

/// Faults that the law must find.
#[test]
fn the_law_finds_planted_faults() {
    fn with_targets(patch: Patch, fault: fn(&mut Match)) -> Patch {
        let target = |target: &mut Target| {
            if let Target::Match(on) = target {
                fault(on);
            }
        };
        let mut patch = patch;
        for operation in &mut patch.operations {
            match operation {
                Operation::Edit { on, .. } | Operation::Remove { on, .. } => target(on),
                Operation::Add { to: Some(Spot::After(on) | Spot::Before(on)), .. } => target(on),
                _ => {}
            }
        }
        patch
    }
    let old = vec![world(), wall(1, "*1"), light(2, "1 2 3", "300"), light(3, "4 5 6", "300")];
    let mut new = old.clone();
    new[3].pairs.push(pair("style", "3"));
    let other = [old[0].clone(), light(200, "0 0 0", "300"), old[2].clone(), old[3].clone(), old[1].clone()];
    // By place: the next entity is edited, which has the same class and value.
    let by_place = Subject {
        diff: |old, new| {
            let mut patch = diff(old, new)?;
            for operation in &mut patch.operations {
                if let Operation::Edit { on, .. } = operation
                    && let Target::Match(Match { index: Some(index), .. }) = on
                {
                    *on = Target::Index(*index);
                }
            }
            Ok(patch)
        },
    };
    let shifted = [old[0].clone(), light(200, "0 0 0", "300"), old[1].clone(), old[2].clone(), old[3].clone()];
    assert!(law(&by_place, &old, &new, &shifted).is_err());
    assert!(law(&REAL, &old, &new, &shifted).unwrap().is_some());
    // By class and number among the class alone.
    let by_class = Subject {
        diff: |old, new| {
            Ok(with_targets(diff(old, new)?, |on| {
                on.pairs.truncate(1);
                (on.nth, on.count) = (Some(2), Some(2));
            }))
        },
    };
    assert!(law(&by_class, &old, &new, &[old[0].clone(), old[3].clone(), old[2].clone()]).is_err());
    // Equal walls by their order alone, without the number of the model.
    let walls = vec![world(), wall(1, "*1"), wall(2, "*2")];
    let mut edited = walls.clone();
    edited[2].pairs.push(pair("wait", "1"));
    let without_model = Subject {
        diff: |old, new| {
            let mut patch = diff(old, new)?;
            for operation in &mut patch.operations {
                if let Operation::Edit { expect, .. } = operation {
                    expect.retain(|pair| pair.key.name != b"model");
                }
            }
            Ok(patch)
        },
    };
    let turned = [world(), wall(2, "*2"), wall(1, "*1")];
    assert!(law(&without_model, &walls, &edited, &turned).is_err());
    assert!(law(&REAL, &walls, &edited, &turned).unwrap().is_none());
    assert!(law(&REAL, &old, &new, &other).unwrap().is_some());
}

/// Edits of real maps on versions of them with other entities, in another order.
#[test]
fn patches_of_real_maps_fit_other_versions() {
    let (mut applied, mut refused) = (0, 0);
    for path in super::corpus::maps() {
        let Ok(map) = Bsp::open(&path) else { continue };
        let Ok(entities) = map.entities() else { continue };
        let list = |pairs: bspkit::content::entities::Entity<'_>| -> Pairs {
            let quotes = |text: &[u8]| text.contains(&b'"');
            let all = pairs.pairs().filter(|pair| !quotes(pair.key) && !quotes(pair.value));
            all.map(|pair| (pair.key.to_vec(), pair.value.to_vec())).collect()
        };
        let old: Vec<One> = entities.iter().enumerate().map(|(tag, entity)| One { tag, pairs: list(entity) }).collect();
        if old.len() < 8 || read(&text(&old)).len() != old.len() {
            continue;
        }
        for round in 0..4 {
            let mut new = old.clone();
            let at = |step: usize| 1 + (step * 7919 + round * 104_729) % (old.len() - 1);
            for step in 0..4 {
                new[at(step)].pairs.push(pair("bspkit_test", step.to_string()));
            }
            let gone = new.remove(at(9));
            let inserted = vec![pair("classname", "light"), pair("origin", "9 9 9"), pair("x", "1")];
            new.insert(at(5), One { tag: 1_000_000, pairs: inserted });
            let mut other = old.clone();
            let spare = (1..old.len()).find(|spare| *spare != gone.tag && new.contains(&old[*spare])).unwrap();
            other.remove(spare);
            other.insert(1, One { tag: 2_000_000, pairs: vec![pair("classname", "info_null"), pair("y", "2")] });
            if round % 2 == 1 {
                other[1..].reverse();
            }
            match law(&REAL, &old, &new, &other) {
                Ok(Some(_)) => applied += 1,
                Ok(None) => refused += 1,
                Err(why) => panic!("{}: {why}", path.display()),
            }
        }
    }
    eprintln!("{applied} patches applied, {refused} refused");
    assert!(applied >= refused || applied + refused == 0);
}

/// A patch that was applied is done; one whose changes are there but for one is not.
#[test]
fn a_patch_that_was_applied_is_done() {
    let old = vec![world(), light(1, "1 2 3", "300"), wall(2, "*1"), light(3, "4 5 6", "300"), light(4, "7 7 7", "1")];
    let mut new = old.clone();
    new[1] = light(1, "1 2 3", "200");
    new[2].pairs.push(pair("wait", "1"));
    new.remove(3);
    new.push(light(100, "7 8 9", "5"));
    let (old_text, new_text) = (text(&old), text(&new));
    let patch = diff(&read(&old_text), &read(&new_text)).unwrap();
    let already = |list: &[One]| {
        let text = text(list);
        let entities = read(&text);
        [Search::Exact, Search::Guess].map(|search| patch.locate(&entities, search).ok().map(|found| found.already))
    };
    assert_eq!(already(&new), [Some(true); 2]);
    assert_eq!(already(&old), [Some(false); 2]);
    for faulty in 0..5 {
        let mut list = new.clone();
        match faulty {
            0 => list[1] = old[1].clone(),
            1 => list[2] = old[2].clone(),
            2 => list.insert(3, old[3].clone()),
            3 => list.swap(1, 2),
            _ => drop(list.pop()),
        }
        let found = already(&list);
        assert!(found.iter().all(|already| *already != Some(true)), "{faulty}: {found:?}");
    }
}
