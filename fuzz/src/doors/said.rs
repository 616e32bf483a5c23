//! What maps say of themselves: statistics, reports, sentences, names that are near.

use bspkit::content::assign::Assignment;
use bspkit::content::entities::Key;
use bspkit::content::pak::{Moves, Time};
use bspkit::content::visibility::VisSet;
use bspkit::{Bsp, Layout, file};

use super::edits::{Choices, edit, saved};
use super::{all_maps, folder_of};

/// Reports of maps and of saves; numbers that are found in two ways are the same.
pub fn maps(bytes: &[u8]) {
    let Ok(map) = Bsp::parse(bytes) else { return };
    let segments = map.container().segments();
    assert_eq!(segments.iter().map(|segment| segment.range.len()).sum::<usize>(), bytes.len());
    segments.iter().for_each(|segment| assert!(!segment.kind.to_string().is_empty()));
    light(&map);
    entities(&map);
    rows(&map);
    octrees(&map);
    let _ = map.pak().map(|pak| pak.check(1).len());
    let draft = map.draft();
    for list in map.slots().iter().take(24).filter_map(|slot| map.any_records(&slot.name)).filter(|it| !it.is_empty()) {
        if let Ok(tree) = draft.reference_tree(list.name(), list.len() / 2, 3, 4) {
            let _ = (format!("{tree:?}").len(), draft.references_of(list.name(), 0).is_ok());
        }
    }
}

fn light(map: &Bsp<'_>) {
    let Ok(light) = map.light() else { return };
    for (at, set) in light.sets().iter().enumerate() {
        let stat = light.stat(at).expect("the set is there");
        let images: usize =
            set.blocks().iter().filter(|block| !block.is_directions()).map(|it| it.styles().len()).sum();
        assert_eq!(stat.styles.values().map(|style| style.faces).sum::<usize>(), images, "{}", set.name());
        assert!(serde_json::to_string(&stat).is_ok_and(|text| text.contains("unowned_bytes")));
    }
    assert!(light.stat(light.sets().len()).is_none());
}

/// A text in which engines read everything is the same list of entities for them.
fn entities(map: &Bsp<'_>) {
    let Ok(all) = map.entities() else { return };
    let flaws: Vec<_> = all.flaws().take(200).collect();
    flaws.iter().for_each(|flaw| assert!(!flaw.message.is_empty() && flaw.entity < all.len()));
    let _ =
        (all.unreadable().take(100).count(), all.diagnostics().iter().map(|it| it.to_string().len()).sum::<usize>());
    for text in ["path_corner[orign]", "lihgt", "light[light=301]", "#1", "*[targetname~/^x/]"] {
        let selector = text.parse().expect("a selector");
        let found = all.near(&selector);
        assert!(found.iter().all(|(name, count)| !name.is_empty() && *count > 0), "{text}");
    }
    let indices: Vec<usize> = (0..all.len()).collect();
    let _ = all.near_key("orign", &indices);
}

fn rows(map: &Bsp<'_>) {
    let Ok(rows) = map.visibility() else { return };
    let _ = (rows.model(), rows.problems().take(100).count(), rows.unheard().take(100).count());
    for set in rows.sets() {
        for place in (0..rows.len()).take(16) {
            let Ok(row) = rows.row(*set, place) else { continue };
            let row = row.unwrap_or_else(|| rows.plain(true));
            let seen: Vec<usize> = row.iter().take(64).collect();
            assert!(seen.iter().all(|to| row.sees(*to)));
            let _ = rows.start(*set, place);
            let sees = |to: usize| if *set == VisSet::Pvs { rows.sees(place, to) } else { rows.hears(place, to) };
            assert!(seen.iter().all(|to| sees(*to).unwrap_or(true)));
        }
    }
}

fn octrees(map: &Bsp<'_>) {
    let Ok(all) = map.light_octrees() else { return };
    for tree in all.iter() {
        let _ = (tree.head(), tree.nodes().count(), tree.points(), tree.fault(), tree.rest().len(), tree.is_empty());
        for leaf in 0..tree.len().min(64) {
            let samples: usize = tree.leaf_points(leaf).map(|point| point.samples().count()).sum();
            let lit = tree.leaf_points(leaf).filter(|point| !point.is_occluded()).count();
            assert!(tree.leaf(leaf).is_some() || samples + lit == 0);
        }
        let _ = tree.at([0, 1, 2]).map(|point| point.map(|point| point.samples().count()));
    }
}

/// What an edit would do, in words, and backups of saves: each one is the file before.
pub fn reports(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let all = all_maps();
    let mut draft = all[choices.below(all.len())].draft();
    for _ in 0..=choices.below(3) {
        let _ = edit(&mut draft, &mut choices);
    }
    let layout = [Layout::Keep, Layout::Append, Layout::Repack, Layout::Patch][choices.below(4)];
    if let Ok(plan) = draft.plan(layout) {
        let (report, changes) = (plan.report().to_string(), plan.changes());
        assert!(!report.is_empty() && (changes.is_empty() == plan.is_identity() || layout != Layout::Keep), "{report}");
        let _ = (plan.whole().map(str::len), plan.needs_force().map(|why| why.len()));
        changes.iter().for_each(|change| assert!(!change.kind.to_string().is_empty()));
        let (whole, end) = (plan.to_vec(), plan.size());
        let (start, stop) = (choices.below(end), choices.below(end));
        let range = start.min(stop)..start.max(stop);
        assert!(plan.slice(range.clone()).collect::<Vec<_>>().concat() == whole[range]);
    }
    backups(&mut choices);
}

fn backups(choices: &mut Choices<'_>) {
    let old = choices.map();
    let folder = folder_of("backups");
    let _ = std::fs::create_dir_all(&folder);
    let (path, suffix) = (folder.join("a.bsp"), std::ffi::OsStr::new(".bak"));
    std::fs::write(&path, old.container().bytes()).expect("the file can be written");
    let options = file::SaveOptions::default().backup(suffix);
    let mut versions = vec![std::fs::read(&path).unwrap_or_default()];
    for _ in 0..=choices.below(3) {
        let Ok(mut draft) = Bsp::open(&path).map(|map| map.draft()) else { break };
        let _ = edit(&mut draft, choices);
        let is_saved = saved(&draft, Layout::Keep).is_some();
        let Some(plan) = draft.plan(Layout::Keep).ok().filter(|_| is_saved) else { continue };
        if plan.save_with(&path, &options).is_ok() {
            versions.push(std::fs::read(&path).unwrap_or_default());
        }
    }
    let found = file::backups(&path, suffix).expect("backups can be listed");
    let read = |path: &std::path::PathBuf| std::fs::read(path).unwrap_or_default();
    let before = &versions[..versions.len() - 1];
    assert!(found.is_empty() || found.iter().map(read).eq(before.iter().cloned()));
    let keep = choices.below(3);
    let gone = file::remove_backups(&path, suffix, keep).expect("backups can be removed");
    assert_eq!(gone, found.len().saturating_sub(keep));
    if let Some(last) = file::backups(&path, suffix).expect("backups can be listed").last() {
        file::take_back(&path, last, false).expect("a backup can be taken back");
        assert!(std::fs::read(&path).unwrap_or_default() == versions[versions.len() - 2]);
    }
    let _ = std::fs::remove_dir_all(&folder);
}

/// Times, names of moved files, keys and pairs of new entities, from lines of text.
pub fn words(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(time) = Time::parse(text.trim()) {
        assert_eq!(Time::parse(time.to_string()).ok(), Some(time));
    }
    if let Ok(key) = Key::parse(&text) {
        assert_eq!(Key::parse(&key.to_string()).map(|again| again.name).ok(), Some(key.name));
    }
    let (old, new) = text.split_once(' ').unwrap_or((&text, "materials/*"));
    let mut maps = all_maps().iter().filter_map(|map| map.pak().ok()).filter(|pak| !pak.is_empty());
    let Some(pak) = maps.next() else { return };
    if let Ok(moves) = Moves::new(old, new) {
        for entry in pak.iter() {
            let _ = moves.apply(entry.name()).map(|name| name.len());
        }
    }
    let pairs: Vec<Assignment> = text.lines().take(8).filter_map(|line| Assignment::parse(line).ok()).collect();
    if let Ok(new) = Assignment::new_pairs(&pairs) {
        assert_eq!(new.len(), pairs.len());
    }
    pairs.iter().for_each(|pair| assert!(pair.key().to_string().len() >= pair.key().name.len()));
}
