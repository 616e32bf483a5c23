//! Texts: entities, selectors, patches and texts of games.

use bspkit::Layout;
use bspkit::content::assign::{Assignment, Removal};
use bspkit::content::entities::{Entities, Entity};
use bspkit::content::select::Selector;
use bspkit::dialect::EntityRules;
use bspkit::query::{FieldChange, Query};
use bspkit_game::assets::{fgd::Fgd, keyvalues::KeyValues, material};
use bspkit_ops::patch;
use bspkit_text::policy;
use bspkit_text::records::CsvRows;

use super::edits::{Choices, saved};
use super::map;

fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

pub fn entities(bytes: &[u8]) {
    for rules in [EntityRules::QUAKE2, EntityRules::SOURCE] {
        let Ok(mut all) = Entities::parse(bytes, rules) else { continue };
        assert_eq!(&*all.to_bytes(), bytes);
        let _ = all.diagnostics();
        let mut choices = Choices::of(bytes);
        let index = choices.below(all.len() + 1);
        let done = match choices.below(4) {
            0 => all.get_mut(index).and_then(|mut entity| entity.set("own_key", "own value")),
            1 => all.remove(index),
            2 => all.duplicate(index).map(drop),
            _ => all.move_before(index, choices.below(all.len() + 1)),
        };
        if done.is_ok() {
            let again = Entities::parse(all.to_bytes().to_vec(), rules).expect("an edited text can be read");
            let pairs = |all: &Entities<'_>| {
                let of = |entity: Entity<'_>| {
                    entity.pairs().map(|pair| (pair.key.to_vec(), pair.value.to_vec())).collect::<Vec<_>>()
                };
                all.iter().map(of).collect::<Vec<_>>()
            };
            assert_eq!(pairs(&again), pairs(&all));
        }
    }
}

pub fn selectors(bytes: &[u8]) {
    let Ok(selector) = Selector::parse(&text(bytes)) else { return };
    assert_eq!(Selector::parse(&selector.to_string()).ok().as_ref(), Some(&selector));
    let _ = map(bytes.len()).entities().map(|all| all.matching(&selector));
}

pub fn assignments(bytes: &[u8]) {
    let Ok(assignment) = Assignment::parse(&text(bytes)) else { return };
    let mut draft = map(bytes.len()).draft();
    let Ok(all) = draft.entities() else { return };
    // What was edited before a refusal stays edited, so that each entity is one call.
    for index in 0..all.len() {
        let before = all.to_bytes();
        match all.assign(&[index], std::slice::from_ref(&assignment)) {
            Ok(_) => assert!(Entities::parse(all.to_bytes(), EntityRules::QUAKE2).is_ok()),
            Err(_) => assert!(all.to_bytes() == before, "a refused assignment is in the entities"),
        }
    }
}

pub fn removals(bytes: &[u8]) {
    let Ok(removal) = Removal::parse(&text(bytes)) else { return };
    let mut draft = map(bytes.len()).draft();
    let Ok(all) = draft.entities() else { return };
    let (every, before) = ((0..all.len()).collect::<Vec<_>>(), all.to_bytes());
    match all.remove_pairs(&every, std::slice::from_ref(&removal)) {
        Ok(_) => {
            // What was removed is not there.
            let text = all.to_bytes();
            assert!(removal.key().nth.is_some() || all.remove_pairs(&every, &[removal]).is_ok());
            assert!(removed_once(all, &text));
        }
        Err(_) => assert!(all.to_bytes() == before),
    }
}

fn removed_once(all: &Entities<'_>, text: &[u8]) -> bool {
    all.to_bytes() == text
}

pub fn queries(bytes: &[u8]) {
    let map = map(bytes.len());
    let names = map.dialect().game(map.version()).flags;
    if let Ok(query) = Query::parse(&text(bytes)) {
        let found = query.find(map, names);
        let mut seen = Vec::new();
        let each = query.each(map, names, |index, _| {
            seen.push(index);
            Ok(true)
        });
        if let (Ok(found), Ok(_)) = (&found, &each) {
            assert!(*found == seen, "{found:?} {seen:?}");
        }
        let rows = CsvRows::new(&query, map, names);
        let _ = (rows.map(|rows| rows.finish().is_ok()), query.is_one());
    }
    let mut draft = map.draft();
    match FieldChange::parse(&text(bytes)).map(|change| change.apply(&mut draft, names)) {
        Ok(Ok(_)) => drop(saved(&draft, Layout::Keep)),
        _ => assert!(draft.changes().is_ok_and(|changes| changes.is_empty()), "a refused change is in the draft"),
    }
}

pub fn patches_in(bytes: &[u8]) {
    let Ok(found) = bspkit_text::patch::read(bytes) else { return };
    let again = bspkit_text::patch::read(bspkit_text::patch::write(&found).as_bytes()).expect("a patch can be read");
    assert_eq!(again, found);
    let Ok(all) = map(0).entities() else { return };
    for search in [patch::Search::Exact, patch::Search::Guess] {
        let _ = found.locate(&all, search).and_then(|located| located.apply());
    }
}

pub fn policies(bytes: &[u8]) {
    let Ok(policy) = policy::read("policy", &text(bytes)) else { return };
    let all = super::all_maps();
    for map in [map(bytes.len()), &all[bytes.len() * 7 % all.len()]] {
        let few = bspkit_ops::policy::run(map, "room", &policy, Some(1)).map(|found| found.len());
        let all = bspkit_ops::policy::run(map, "room", &policy, None);
        let denied = all.iter().flatten().filter(|found| policy.denies(found) || found.to_string().is_empty());
        let _ = denied.count();
        if let (Ok(few), Ok(all)) = (few, all) {
            assert!(few <= all.len(), "{few} {}", all.len());
        }
    }
}

pub fn key_values(bytes: &[u8]) {
    if let Ok(text) = KeyValues::parse(bytes) {
        let _ = (material::mentions(&text).count(), material::replaced(&text).len());
    }
}

pub fn fgd(bytes: &[u8]) {
    let _ = Fgd::default().read(bytes);
}
