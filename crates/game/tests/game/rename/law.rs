//! The laws of a renaming, with the writer as a parameter.

use bspkit::{Bsp, Layout};
use bspkit_game::rename::{Rename, Renamed, Spot};

use super::resolve::{edges, plain, words};

/// A map under another name, and what the renaming says of it.
pub(crate) type Write<'w> = &'w dyn Fn(&Bsp<'static>, &[u8], &[u8]) -> bspkit::Result<(Vec<u8>, Renamed)>;

pub(crate) fn rename(map: &Bsp<'static>, old: &[u8], new: &[u8]) -> bspkit::Result<(Vec<u8>, Renamed)> {
    let mut draft = map.draft();
    let renamed = Rename::new(old, new)?.apply(&mut draft)?;
    Ok((draft.plan(Layout::Keep)?.to_vec(), renamed))
}

/// Lumps with names.
const NAMED: [&str; 8] = [
    "TEXDATA_STRING_DATA",
    "TEXDATA_STRING_TABLE",
    "PAKFILE",
    "ENTITIES",
    "game:sprp",
    "game:dprp",
    "SHADERS",
    "GAME_LUMP",
];

/// Tries all laws on a map. `Ok(None)` if the renaming is refused.
pub(crate) fn all(map: &Bsp<'static>, old: &[u8], new: &[u8], write: Write<'_>) -> Result<Option<Renamed>, String> {
    let Ok((bytes, renamed)) = write(map, old, new) else { return Ok(None) };
    let saved = Bsp::from_vec(bytes).map_err(|error| error.to_string())?;
    resolves(map, &saved)?;
    all_follow(&saved, old, new, &renamed)?;
    nothing_else(map, &saved, &renamed)?;
    comes_back(map, &saved, &renamed, write)?;
    Ok(Some(renamed))
}

/// Every reference that ended at an embedded file ends at the same file.
fn resolves(map: &Bsp<'_>, saved: &Bsp<'_>) -> Result<(), String> {
    let (before, after) = (edges(map), edges(saved));
    let lost: Vec<_> = before.iter().filter(|edge| !after.contains(edge)).collect();
    if lost.is_empty() {
        Ok(())
    } else {
        Err(format!("resolve: {} of {} are lost: {lost:?}", lost.len(), before.len()))
    }
}

/// No path `maps/OLD/` is left where names are.
fn all_follow(saved: &Bsp<'_>, old: &[u8], new: &[u8], renamed: &Renamed) -> Result<(), String> {
    if plain(old) == plain(new) {
        return Ok(());
    }
    let is_left = |path: &str| {
        let parts: Vec<&str> = path.split('/').collect();
        // A part with the new name is one that was renamed, and no folder of maps.
        let is_old =
            |at: usize| parts[at - 1] == "maps" && parts[at] == plain(old) && (at < 2 || parts[at - 2] != "maps");
        (1..parts.len().saturating_sub(1)).any(is_old)
    };
    let mut left = Vec::new();
    if let Ok(pak) = saved.pak() {
        for file in pak.iter() {
            let is_unread =
                renamed.problems.iter().any(|error| error.to_string().contains(&*String::from_utf8_lossy(file.name())));
            left.push(plain(file.name()));
            if plain(file.name()).ends_with(".vmt") && !is_unread {
                let text = file.data().map(|text| text.to_vec()).unwrap_or_default();
                // Of a text with a quote that is not closed only a part is read; the names in the rest are listed.
                let is_whole = text
                    .split(|byte| *byte == b'\n')
                    .all(|line| line.iter().filter(|byte| **byte == b'"').count() % 2 == 0);
                let is_listed = renamed.left.iter().any(|left| matches!(left.place, Spot::Text { .. }));
                if is_whole || !is_listed {
                    left.extend(words(&text));
                }
            }
        }
    }
    left.extend(saved.texture_names().iter().flat_map(|names| names.iter()).map(|name| plain(&name.name)));
    left.retain(|path| is_left(path));
    if left.is_empty() { Ok(()) } else { Err(format!("follow: {left:?}")) }
}

/// Lumps without names, files that are not listed, and the times and order of all files stay.
fn nothing_else(map: &Bsp<'_>, saved: &Bsp<'_>, renamed: &Renamed) -> Result<(), String> {
    for slot in map.slots().iter().filter(|slot| !NAMED.contains(&&*slot.name)) {
        if map.bytes(slot.id).ok().as_deref() != saved.bytes(slot.id).ok().as_deref() {
            return Err(format!("else: {} differs", slot.name));
        }
    }
    let (Ok(before), Ok(after)) = (map.pak(), saved.pak()) else { return Ok(()) };
    if before.len() != after.len() {
        return Err("else: another number of files".into());
    }
    for (old, new) in before.iter().zip(after.iter()) {
        let [old_name, new_name] = [&old, &new].map(|file| String::from_utf8_lossy(file.name()).into_owned());
        let place = |is_it: &dyn Fn(&Spot) -> bool| renamed.changes.iter().any(|change| is_it(&change.place));
        let is_renamed = place(&|place| *place == Spot::File { index: old.index() });
        let is_edited = place(&|place| matches!(place, Spot::Text { file, .. } if file == old.name()));
        if (old_name != new_name) != is_renamed {
            return Err(format!("else: {old_name} is {new_name}"));
        }
        let head = |file: &bspkit::content::pak::Entry<'_, '_>| {
            let record = file.record();
            let attributes = (record.internal_attributes, record.external_attributes, record.version_made_by);
            (record.time, record.date, record.method, attributes, record.extra_length, record.comment_length)
        };
        if head(&old) != head(&new) {
            return Err(format!("else: {old_name} has other fields"));
        }
        let [old_bytes, new_bytes] = [&old, &new].map(|file| file.stored().ok().map(|bytes| bytes.to_vec()));
        if (old_bytes != new_bytes) != is_edited {
            return Err(format!("else: {old_name} holds other bytes, listed: {is_edited}"));
        }
    }
    Ok(())
}

/// The embedded files in lower case.
fn folded(map: &Bsp<'_>) -> Vec<(String, Option<String>)> {
    let pak = map.pak().unwrap();
    pak.iter().map(|file| (plain(file.name()), file.data().ok().map(|data| plain(&data)))).collect()
}

/// Renaming back gives the old bytes of every lump, unless letters were lost, and then the old names.
fn comes_back(map: &Bsp<'static>, saved: &Bsp<'static>, renamed: &Renamed, write: Write<'_>) -> Result<(), String> {
    let refused = |error: bspkit::Error| format!("back: {error}: {:?}", error.hint());
    let (back, again) = write(saved, &renamed.new, &renamed.old).map_err(refused)?;
    if again.changes.len() != renamed.changes.len() && renamed.respelled == 0 {
        return Err(format!("back: {} changes, then {}", renamed.changes.len(), again.changes.len()));
    }
    let back = Bsp::from_vec(back).map_err(refused)?;
    for slot in map.slots() {
        let [old, new] = [map, &back].map(|map| map.bytes(slot.id).ok().map(|bytes| bytes.to_vec()));
        let is_same = match renamed.respelled {
            0 => old == new,
            // Other letters of the same size; compressed files may have another size.
            _ if slot.name == "PAKFILE" => folded(map) == folded(&back),
            _ => old.map(|bytes| plain(&bytes)) == new.map(|bytes| plain(&bytes)),
        };
        if !is_same {
            return Err(format!("back: {} differs", slot.name));
        }
    }
    Ok(())
}
