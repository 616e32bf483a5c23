//! Merges of files, of textures and of entities beside a merge by name that shares no code with them: what only one side
//! changed is as that side made it, what neither changed is as it was, and what both made something else of is a conflict.

use std::collections::BTreeMap;
use std::fmt::Debug;

use bspkit::{Bsp, Draft, Layout};
use bspkit_ops::merge;

use super::edits::{Choices, saved};
use super::{all_maps, changes, files, good_maps};

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

type Keys = BTreeMap<Vec<u8>, Vec<u8>>;

/// What a side makes of each entity of the map, where it removes none, and what it adds.
struct Made {
    kept: Vec<Option<Keys>>,
    added: Vec<Keys>,
}

/// Merges of edits of values, with entities that are removed and added. Which entity is which, the edits say.
pub fn entities(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let base = good_maps()[choices.below(good_maps().len())].clone();
    let Some(was) = keys(&base).filter(|was| is_plain(was)) else { return };
    let mut side = |number: usize| {
        let mut draft = base.draft();
        let made = edited(&mut draft, &was, number, &mut choices)?;
        let new = saved(&draft, Layout::Keep)?;
        is_plain(&keys(&new)?).then_some((made, new))
    };
    let (Some((one, ours)), Some((other, theirs))) = (side(0), side(1)) else { return };
    let Ok(done) = merge::merge(&base, &ours, &theirs) else { return };
    if !done.conflicts.is_empty() {
        return;
    }
    let Some(mut found) = saved(&done.draft, Layout::Keep).and_then(|new| keys(&new)) else { return };
    let mut wanted = [one.added, other.added].concat();
    for (at, was) in was.iter().enumerate() {
        let (one, other) = (&one.kept[at], &other.kept[at]);
        let now = settled(&Some(was), &one.as_ref(), &other.as_ref()).map(|keys| keys.cloned()).unwrap_or_else(|| {
            let both = one.as_ref().zip(other.as_ref());
            let (one, other) = both.unwrap_or_else(|| panic!("no conflict about entity {at}, that one side removed"));
            Some(by_key(was, one, other).unwrap_or_else(|| panic!("no conflict about entity {at}")))
        });
        wanted.extend(now);
    }
    wanted.sort_unstable();
    found.sort_unstable();
    let at = wanted.iter().zip(&found).position(|(one, other)| one != other);
    assert!(wanted == found, "{:?} {:?}", at.map(|at| (&wanted[at], &found[at])), (wanted.len(), found.len()));
}

fn keys(map: &Bsp<'_>) -> Option<Vec<Keys>> {
    let all = map.entities().ok()?;
    let of = |pairs: Vec<(Vec<u8>, Vec<u8>)>| {
        let count = pairs.len();
        Some(pairs.into_iter().collect::<Keys>()).filter(|keys| keys.len() == count)
    };
    all.iter().map(|entity| of(entity.pairs().map(|it| (it.key.to_vec(), it.value.to_vec())).collect())).collect()
}

/// Whether no entity is the same as another one, so that one knows which was removed.
fn is_plain(all: &[Keys]) -> bool {
    let mut sorted: Vec<&Keys> = all.iter().collect();
    sorted.sort_unstable();
    sorted.windows(2).all(|pair| pair[0] != pair[1])
}

fn by_key(was: &Keys, one: &Keys, other: &Keys) -> Option<Keys> {
    let names = was.keys().chain(one.keys()).chain(other.keys());
    let pairs = names.map(|name| Some((name, settled(&was.get(name), &one.get(name), &other.get(name))?.cloned())));
    let pairs = pairs.collect::<Option<Vec<_>>>()?;
    Some(pairs.into_iter().filter_map(|(name, value)| Some((name.clone(), value?))).collect())
}

fn edited(draft: &mut Draft<'_>, was: &[Keys], side: usize, choices: &mut Choices<'_>) -> Option<Made> {
    let mut made = Made { kept: was.iter().cloned().map(Some).collect(), added: Vec::new() };
    let all = draft.entities().ok()?;
    let mut gone = Vec::new();
    for number in 0..=choices.below(6) {
        let at = choices.below(was.len());
        let (key, value) = (["own_a", "own_b", "message"][choices.below(3)], ["1", "2 2", ""][choices.below(3)]);
        match choices.below(6) {
            0 if at > 0 && !gone.contains(&at) => {
                made.kept[at] = None;
                gone.push(at);
            }
            1 => {
                let name = format!("{side} {number}");
                all.add([("classname", "own_new"), ("targetname", &name)]).ok()?;
                let pairs = [("classname", "own_new"), ("targetname", &name[..])];
                made.added.push(pairs.map(|(key, value)| (key.into(), value.into())).into_iter().collect());
            }
            2 => {
                all.get_mut(at).ok()?.unset(key).ok()?;
                let _ = made.kept[at].as_mut().map(|keys| keys.remove(key.as_bytes()));
            }
            _ => {
                all.get_mut(at).ok()?.set(key, value).ok()?;
                let _ = made.kept[at].as_mut().map(|keys| keys.insert(key.into(), value.into()));
            }
        }
    }
    all.remove_all(&gone).ok()?;
    Some(made)
}
