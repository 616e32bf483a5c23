//! Texts: entities, selectors, patches and texts of games.

use bspkit::Layout;
use bspkit::content::assign::Assignment;
use bspkit::content::entities::{Entities, Entity};
use bspkit::content::select::Selector;
use bspkit::dialect::EntityRules;
use bspkit::query::{FieldChange, Query};
use bspkit::record::FlagNames;
use bspkit_game::assets::{fgd::Fgd, keyvalues::KeyValues, material};
use bspkit_ops::patch;
use bspkit_text::policy;

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
    let every: Vec<usize> = (0..all.len()).collect();
    if all.assign(&every, &[assignment]).is_ok() {
        assert!(Entities::parse(all.to_bytes().to_vec(), EntityRules::QUAKE2).is_ok());
    }
}

pub fn queries(bytes: &[u8]) {
    let map = map(bytes.len());
    let _ = Query::parse(&text(bytes)).and_then(|query| query.find(map, FlagNames::default()));
    let mut draft = map.draft();
    if FieldChange::parse(&text(bytes)).and_then(|change| change.apply(&mut draft, FlagNames::default())).is_ok() {
        saved(&draft, Layout::Keep);
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
    let _ = bspkit_ops::policy::run(map(bytes.len()), "room", &policy, None);
}

pub fn key_values(bytes: &[u8]) {
    if let Ok(text) = KeyValues::parse(bytes) {
        let _ = (material::mentions(&text).count(), material::replaced(&text).len());
    }
}

pub fn fgd(bytes: &[u8]) {
    let _ = Fgd::default().read(bytes);
}
