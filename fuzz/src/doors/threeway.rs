//! Merges of files and of textures beside a merge by name that shares no code with them: what only one side changed is as
//! that side made it, what neither changed is as it was, and what both made something else of is a conflict.

use std::collections::BTreeMap;
use std::fmt::Debug;

use bspkit::{Bsp, Draft, Layout};
use bspkit_ops::merge;

use super::edits::{Choices, saved};
use super::{all_maps, changes, files};

/// The value that a merge gives; `None` if both sides made another one.
fn settled<'v, T: PartialEq>(base: &'v T, ours: &'v T, theirs: &'v T) -> Option<&'v T> {
    match (base == ours, base == theirs || ours == theirs) {
        (_, true) => Some(ours),
        (true, _) => Some(theirs),
        _ => None,
    }
}

/// Merges two edits of a map, and compares what is under each name.
fn merged<V: Clone + PartialEq + Debug>(
    base: &Bsp<'static>,
    mut edit: impl FnMut(&mut Draft<'_>),
    read: impl Fn(&Bsp<'_>) -> Option<BTreeMap<Vec<u8>, V>>,
) {
    let mut side = || {
        let mut draft = base.draft();
        edit(&mut draft);
        saved(&draft, Layout::Keep)
    };
    let (Some(ours), Some(theirs)) = (side(), side()) else { return };
    let (Some(was), Some(one), Some(other)) = (read(base), read(&ours), read(&theirs)) else { return };
    let Ok(done) = merge::merge(base, &ours, &theirs) else { return };
    let names = was.keys().chain(one.keys()).chain(other.keys());
    let wanted: BTreeMap<&Vec<u8>, Option<Option<&V>>> =
        names.map(|name| (name, settled(&was.get(name), &one.get(name), &other.get(name)).copied())).collect();
    if !done.conflicts.is_empty() {
        return;
    }
    let Some(new) = saved(&done.draft, Layout::Keep).and_then(|new| read(&new)) else { return };
    for (name, wanted) in wanted {
        let wanted = wanted.unwrap_or_else(|| panic!("no conflict about {}", name.escape_ascii()));
        assert!(new.get(name) == wanted, "{}: {:?} instead of {wanted:?}", name.escape_ascii(), new.get(name));
    }
}

/// Merges of edits of embedded files.
pub fn paks(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let all = all_maps().iter().filter(|map| map.pak().is_ok_and(|pak| !pak.is_empty())).collect::<Vec<_>>();
    let base = all[choices.below(all.len())];
    let edit = |draft: &mut Draft<'_>| {
        if let Ok(pak) = draft.pak() {
            files::edit_pak(pak, &mut choices);
        }
    };
    merged(base, edit, |map| {
        let pak = map.pak().ok()?;
        let files = pak.iter().map(|file| Some((file.name().to_vec(), file.data().ok()?.to_vec())));
        let found = files.collect::<Option<Vec<_>>>()?;
        let count = found.len();
        // Of two files of one name engines read one.
        let by_name: BTreeMap<_, _> = found.into_iter().collect();
        (by_name.len() == count).then_some(by_name)
    });
}

/// Merges of edits of textures, by their places.
pub fn textures(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let all = all_maps().iter().filter(|map| map.textures().is_ok_and(|all| !all.is_empty())).collect::<Vec<_>>();
    let base = all[choices.below(all.len())];
    let edit = |draft: &mut Draft<'_>| {
        if let Ok(all) = draft.textures() {
            changes::edit_textures(all, &mut choices);
        }
    };
    merged(base, edit, |map| {
        let looks = changes::looks(&*map.textures().ok()?);
        Some(looks.into_iter().enumerate().map(|(at, look)| (at.to_string().into_bytes(), look)).collect())
    });
}
