//! `keep`: nothing goes from a lump that is to be kept, and the map is as whole as before.

use bspkit::Bsp;
use bspkit::finding::Severity;
use bspkit_ops::check;
use bspkit_ops::prune::{Options, prune};

use super::{fixtures, saved};

/// Faults of the second map, of kinds of which the first one has fewer.
fn new_faults(before: &Bsp<'_>, after: &Bsp<'_>) -> Vec<String> {
    let [before, after] = [before, after].map(|map| {
        let mut findings = check::run(map, &check::Options::default()).unwrap();
        findings.retain(|finding| finding.code.severity > Severity::Note);
        findings
    });
    let count = |code: &str| before.iter().filter(|finding| finding.code.name == code).count();
    let more = |code: &str| after.iter().filter(|finding| finding.code.name == code).count() > count(code);
    after.iter().filter(|finding| more(finding.code.name)).map(ToString::to_string).collect()
}

/// The fixtures, without the entity that names *1.
fn with_unused_model() -> impl Iterator<Item = (String, Bsp<'static>)> {
    fixtures().into_iter().map(|(name, map)| {
        let mut draft = map.draft();
        let door =
            map.entities().unwrap().iter().find(|entity| entity.get("model") == Some(b"*1")).map(|it| it.index());
        door.into_iter().for_each(|door| draft.entities().unwrap().remove(door).unwrap());
        (name, saved(&draft))
    })
}

#[test]
fn each_lump_can_be_kept() {
    let (mut kept, mut refused) = (0, Vec::new());
    for (name, map) in with_unused_model() {
        for slot in map.slots().iter().filter(|slot| slot.length > 0) {
            let options = Options::default().light(true).keep(slot.name.clone());
            let mut draft = map.draft();
            let pruned = match prune(&mut draft, &options) {
                Ok(pruned) => pruned,
                Err(error) => {
                    refused.push(format!("{name} {}: {error}", slot.name));
                    continue;
                }
            };
            kept += 1;
            let of_slot = |lump: &str| {
                lump == slot.name
                    || lump.starts_with(&format!("{}.", slot.name))
                    || slot.name == "GAME_LUMP" && lump.starts_with("game:")
            };
            assert!(!pruned.lumps.iter().any(|lump| of_slot(&lump.lump)), "{name} {}: {pruned:#?}", slot.name);
            let new = new_faults(&map, &saved(&draft));
            assert!(new.is_empty(), "{name} {}: {new:#?}", slot.name);
        }
    }
    // What cannot be edited at all is not a matter of what is kept.
    refused.retain(|line| !line.contains("cannot follow") && !line.contains("usual form"));
    assert!(refused.is_empty() && kept > 200, "{kept}: {refused:#?}");
}

#[test]
fn only_some_lumps_leave_no_new_fault() {
    for (name, map) in with_unused_model() {
        for slot in map.slots().iter().filter(|slot| slot.length > 0) {
            let mut draft = map.draft();
            if prune(&mut draft, &Options::default().light(true).only(slot.name.clone())).is_ok() {
                let new = new_faults(&map, &saved(&draft));
                assert!(new.is_empty(), "{name} {}: {new:#?}", slot.name);
            }
        }
    }
}
