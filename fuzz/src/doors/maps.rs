//! Maps as input: what opens can be read, checked, compared, pruned, unpacked and saved.

use bspkit::finding::Severity;
use bspkit::{Bsp, Layout, verify};
use bspkit_game::{cubemaps, needs, res};
use bspkit_ops::policy::{self, Policy};
use bspkit_ops::statistics::Statistics;
use bspkit_ops::{check, compare, models, prune, unused};
use bspkit_text::folder::{Folder, How, unpack};
use bspkit_text::starter::Starter;
use bspkit_text::{outline, page};

use super::twice::scratch;
use super::{all_maps, map};

/// What opens can be read through and through.
pub fn open(bytes: &[u8]) {
    let Ok(map) = Bsp::parse(bytes) else { return };
    for slot in map.slots() {
        let _ = (map.bytes(slot.id), map.little_endian(slot.id), map.records(&slot.name).map(|records| records.len()));
    }
    let _ = (map.entities().map(|all| all.len()), map.light().map(|light| light.sets().len()));
    let _ = (map.textures().map(|all| all.len()), map.texture_names().map(|all| all.iter().count()));
    let _ = (map.pak().map(|pak| pak.iter().filter(|file| file.data().is_ok()).count()), map.visibility().map(drop));
    let _ = map.links().map(|links| links.links.len());
    let _ = (outline::outline(&map), map.surface_light().is_ok());
    let _ = map.polygons().map(|all| all.iter().take(100).filter(Result::is_ok).count());
    for list in map.slots().iter().filter_map(|slot| map.records(&slot.name).ok()).filter(|list| !list.is_empty()) {
        let _ = map.draft().references_of(list.name(), list.len() - 1);
    }
    assert!(map.draft().plan(Layout::Keep).is_ok_and(|plan| plan.is_identity()));
}

pub fn laws(bytes: &[u8]) {
    let Ok(map) = Bsp::parse(bytes) else { return };
    let outcome = verify::run(&map);
    let is_damaged = || {
        let found = check::run(&map, &check::Options::default()).unwrap_or_default();
        found.iter().any(|found| found.code.severity == Severity::Error)
    };
    let failed = outcome.laws.iter().filter(|(_, verdict)| matches!(verdict, verify::Verdict::Fail(_)));
    let failed: Vec<_> = failed.map(|(law, verdict)| (law, verdict)).collect();
    // Of a damaged map only laws of what stays must hold.
    let is_kept = |law: &str| ["identity", "cover", "entities", "records"].contains(&law);
    assert!(failed.is_empty() || failed.iter().all(|(law, _)| !is_kept(law)) && is_damaged(), "{failed:#?}");
}

/// What opens can be checked, compared with a good map, pruned and saved.
pub fn ops(bytes: &[u8]) {
    let Ok(map) = Bsp::parse(bytes) else { return };
    let _ = check::run(&map, &check::Options::default());
    let _ = (unused::Unused::of(&map), models::list(&map), bspkit_ops::checksum::all(&map));
    let good = all_maps().iter().find(|good| good.dialect() == map.dialect());
    good.iter().for_each(|good| drop(compare::whole(good, &map, 10)));
    let mut draft = map.draft();
    if prune::prune(&mut draft, &prune::Options::default().light(true)).is_ok() {
        let _ = draft.plan(Layout::Keep).map(|plan| Bsp::from_vec(plan.to_vec()).map(|map| map.slots().len()));
    }
}

pub fn game(bytes: &[u8]) {
    let Ok(map) = Bsp::parse(bytes) else { return };
    let _ = (needs::unused(&map, &needs::Options::new("room")), cubemaps::list(&map));
    let _ = (res::find(&map, &res::Options::new("room")), bspkit_game::rename::old_name(&map, b"room"));
    let _ = cubemaps::strip(&mut map.draft(), b"room", true);
}

/// What a collection counts of a map, and the policy that `ci` begins with, which can be read.
pub fn statistics(bytes: &[u8]) {
    let Ok(map) = Bsp::parse(bytes) else { return };
    let (mut all, _) = Statistics::of(&map);
    all.add(&Statistics::of(&map).0);
    let found = policy::run(&map, "room", &Policy::default(), None).unwrap_or_default();
    let mut starter = Starter::default();
    starter.add(&map, "room", &found);
    let text = starter.write();
    assert!(bspkit_text::policy::read("policy", &text).is_ok(), "{text}");
}

pub fn folder(bytes: &[u8]) {
    let Ok(map) = Bsp::parse(bytes) else { return };
    let _ = unpack(&map, &How::default(), |_, _| Ok(()));
}

/// What differs between a good map and another one fits on a page of bounded size.
pub fn pages(bytes: &[u8]) {
    let Ok(new) = Bsp::parse(bytes) else { return };
    let Some(old) = all_maps().iter().find(|good| good.dialect() == new.dialect()) else { return };
    let Ok(found) = compare::maps(old, &new, 100) else { return };
    assert!(page::page(["old", "new"], [old, &new], &found).len() <= page::MOST_BYTES);
}

/// A folder of a map becomes the same map. The bytes choose the map, and change one of the files before.
pub fn packed(bytes: &[u8]) {
    let (number, rest) = bytes.split_first().unwrap_or((&0, &[]));
    let map = map(usize::from(*number));
    let folder = scratch().with_extension("folder");
    let _ = std::fs::remove_dir_all(&folder);
    let mut files = Vec::new();
    let done = unpack(map, &How::default(), |name, content| {
        let path = folder.join(name);
        let _ = path.parent().map(std::fs::create_dir_all);
        std::fs::write(&path, content).expect("a file can be written");
        files.push(path);
        Ok(())
    });
    done.expect("a good map is unpacked");
    let pack = || Folder::read(&folder).and_then(|folder| folder.pack(Default::default()));
    let same = pack().unwrap_or_else(|errors| panic!("{errors:#?}"));
    assert!(
        same.draft.plan(Layout::Keep).expect("a plan").to_vec() == map.container().bytes(),
        "{}",
        map.dialect().name
    );
    let mut random =
        crate::mutate::Random::new(rest.iter().fold(1, |sum: u64, byte| sum.wrapping_mul(31) + u64::from(*byte)));
    if let Some(path) = random.pick(&files) {
        let mut content = std::fs::read(path).unwrap_or_default();
        crate::mutate::changed(super::Kind::Bytes, &mut content, &[rest.to_vec()], &mut random);
        std::fs::write(path, content).expect("a file can be written");
        if let Some(plan) = pack().ok().and_then(|packed| packed.draft.plan(Layout::Keep).ok()) {
            Bsp::from_data(plan.to_vec().into(), Some(map.dialect())).expect("a packed map opens");
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
}
