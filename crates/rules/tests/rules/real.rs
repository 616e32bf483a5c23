//! The example rules on every real map: the laws hold afterwards, and every other lump has its bytes.

use bspkit::dialect::Role;
use bspkit::verify;
use bspkit::{Bsp, Layout};
use bspkit_rules::{apply, difference};

use super::*;

#[test]
fn example_rules_leave_every_other_lump_as_it_is() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/rules/stripper");
    let files = ["global_filters.cfg", "maps/own.cfg", "maps/own_rooms.cfg", "maps/room.cfg"];
    let read = |name: &str| {
        let text = std::fs::read(folder.join(name)).unwrap();
        Rules::parse(name, &text, Format::Stripper, Mode::Strict).unwrap()
    };
    let files = files.map(read);
    let (mut changed, mut said) = (0, 0);
    for path in corpus::maps() {
        let Ok(bsp) = Bsp::open(&path) else { continue };
        let mut draft = bsp.draft();
        let Ok(entities) = draft.entities() else { continue };
        entities.for_any_engine();
        let before = entities.clone();
        let Ok(report) = apply(&files, entities, "map") else { continue };
        assert!(report.rules.iter().any(|applied| applied.count > 0));
        // What the rules did is said by other rules.
        let found = difference(&before, entities);
        let mut again = before.clone();
        let rules = Rules::parse("d.cfg", &found.text, Format::Stripper, Mode::Plugin).unwrap();
        if found.lost.is_empty() {
            rules.apply(&mut again, "map").unwrap();
            assert_eq!(short(&again), short(entities), "{}", path.display());
            said += 1;
        }
        let Ok(plan) = draft.plan(Layout::Keep) else { continue };
        let saved = Bsp::from_vec(plan.to_vec()).unwrap();
        for (old, new) in bsp.slots().iter().zip(saved.slots()) {
            if bsp.role_of(old.id) != Some(Role::Entities) {
                let (old, new) = (bsp.bytes(old.id).ok(), saved.bytes(new.id).ok());
                assert!(old.as_deref() == new.as_deref(), "{}", path.display());
            }
        }
        let failed: Vec<_> =
            verify::run(&saved).laws.into_iter().filter(|(_, it)| matches!(it, verify::Verdict::Fail(_))).collect();
        assert!(failed.is_empty(), "{}: {failed:?}", path.display());
        changed += 1;
    }
    println!("{changed} maps changed by the example rules; the difference is said in full for {said}");
}
