//! What an edit changes: compared, checked, merged from both sides, and saved in each way.

use bspkit::content::textures::{Image, Miptex, Textures};
use bspkit::content::wal::Wal;
use bspkit::dialect::{Key, quake, quake2, quake3};
use bspkit::record::Record;
use bspkit::{Bsp, Draft, Layout, SaveOptions, SlotId};
use bspkit_ops::lmp::LumpFile;
use bspkit_ops::merge::{self, Side};
use bspkit_ops::{check, compare};
use bspkit_text::changes::{ComparisonJson, DiffJson, LumpJson};
use bspkit_text::page;

use super::edits::{Choices, edit, saved};
use super::{all_maps, folder_of, good_maps};

/// A draft and its saved map are compared with the same result; where nothing differs the bytes are the same.
pub fn compared(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let all = all_maps();
    let old = &all[choices.below(all.len())];
    let mut draft = old.draft();
    for _ in 0..choices.below(4) {
        let _ = edit(&mut draft, &mut choices);
    }
    if choices.below(3) == 0 {
        let _ = super::edits::restructure(&mut draft, &mut choices);
    }
    let most = [1, 10, 1000][choices.below(3)];
    let (Ok(pending), Some(new)) = (compare::draft(&draft, most), saved(&draft, Layout::Keep)) else { return };
    let Ok(found) = compare::maps(old, &new, most) else { return };
    let counts = |found: &compare::Comparison| found.lumps.iter().map(|lump| lump.changes.len()).sum::<usize>();
    let touched = [&pending, &found].map(|found| found.touched().to_string());
    if most == 1000 {
        // Members of a game lump move with it.
        let has_offsets = old.slots().iter().any(|slot| matches!(slot.id, SlotId::Game(_)));
        assert!(has_offsets || touched[0] == touched[1], "{touched:?}");
    }
    if counts(&found) == 0 {
        for slot in old.slots() {
            let [one, other] = [old, &new].map(|map| map.bytes(slot.id).map(|bytes| bytes.to_vec()).ok());
            assert!(one == other, "{} differs", slot.name);
        }
    }
    for found in [&pending, &found, &compare::whole(old, &new, most)] {
        for lump in &found.lumps {
            let _ = lump.hows.to_string();
            assert!(serde_json::to_string(&LumpJson::new(lump)).is_ok());
            assert!(lump.changes.iter().all(|change| !change.line(&lump.lump).to_string().is_empty()));
        }
        assert!(serde_json::to_string(&ComparisonJson::new(found)).is_ok());
        assert!(serde_json::to_string(&DiffJson::new(found, found.is_same())).is_ok());
    }
    assert!(page::page(["old", "new"], [old, &new], &found).len() <= page::MOST_BYTES);
    let introduced = check::introduced(&draft, &check::Options::default()).unwrap_or_default();
    let now = check::run(&new, &check::Options::default()).unwrap_or_default();
    // An edit that takes the world away has a code of its own.
    let is_there = |code: &str| code == "entity-no-world" || now.iter().any(|it| it.code.name == code);
    for one in introduced.iter().filter(|one| one.place.lump.as_deref() == Some("ENTITIES")) {
        assert!(is_there(one.code.name), "{one}");
    }
    let stale = check::stale(&draft).unwrap_or_default();
    assert!(stale.iter().all(|stale| !stale.to_string().is_empty()));
}

/// Edits of few entities, and of their pairs.
fn edited(draft: &mut Draft<'_>, choices: &mut Choices<'_>) {
    for _ in 0..=choices.below(4) {
        let Ok(all) = draft.entities() else { return };
        let (index, other) = (1 + choices.below(4), 1 + choices.below(4));
        let (key, value) =
            (["origin", "own", "classname", "model"][choices.below(4)], ["1", "2", "*1", "#0"][choices.below(4)]);
        let _ = match choices.below(9) {
            0 => all.remove(index),
            1 => all.move_after(index, other),
            2 => all.duplicate(index).map(drop),
            3 => all.add([("classname", "light"), (key, value)]).map(drop),
            4 => all.get_mut(index).and_then(|mut entity| entity.unset(key).map(drop)),
            5 => all.get_mut(index).and_then(|mut entity| entity.rename(key, "own_key").map(drop)),
            6 => all.get_mut(index).and_then(|mut entity| entity.push(key, value)),
            7 => all.get_mut(index).and_then(|mut entity| entity.set_text("{ // own\n\"classname\" \"own\"\n}")),
            _ => all.get_mut(index).and_then(|mut entity| entity.set(key, value)),
        };
    }
}

/// Changes of one luxel, one texture name and one file, which both sides may change in other ways.
fn touched(draft: &mut Draft<'_>, choices: &mut Choices<'_>) {
    match choices.below(4) {
        0 => {
            let Ok(light) = draft.light() else { return };
            let Some(image) = light.images().nth(choices.below(2)) else { return };
            let (place, color) = ([choices.below(2), 0], choices.below(3));
            let luxel = light.luxel(image, place);
            let new = luxel.map(|luxel| luxel.with_shown([[9, 9, 9], [200, 0, 0], [0, 90, 90]][color]));
            let _ = new.map(|new| light.set(image, place, new));
        }
        1 => {
            let Ok(all) = draft.textures() else { return };
            let (index, value) = (choices.below(all.len()), [3, 4][choices.below(2)]);
            let image = all.get(index).ok().flatten().and_then(|texture| texture.image());
            let new = image.and_then(|old| Image::new(old.width, old.height, vec![value; old.pixels.len()]));
            let _ = new.map(|new| all.set_image(index, &new, None));
        }
        2 => {
            let Ok(pak) = draft.pak() else { return };
            let _ = pak.add("own/one.txt", [&b"one"[..], b"other"][choices.below(2)].to_vec());
            let _ = (choices.below(2) == 0).then(|| pak.remove(&[0]));
        }
        _ => {
            let slots: Vec<_> = draft.bsp().slots().iter().filter(|slot| slot.length > 3).map(|slot| slot.id).collect();
            let Some(slot) = slots.get(choices.below(slots.len())) else { return };
            let mut content = draft.bytes(*slot).map(|bytes| bytes.to_vec()).unwrap_or_default();
            if let Some(byte) = content.get_mut(choices.below(8)) {
                *byte ^= 1;
            }
            let _ = draft.set(*slot, content);
        }
    }
}

/// Merges of edits of the same few things: settled for each side there is no conflict that can be settled, and a merge
/// with no change of the other side is ours.
pub fn merged(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let base = choices.map();
    let mut side = || {
        let mut draft = base.draft();
        match choices.below(4) {
            0 => touched(&mut draft, &mut choices),
            1 => drop(super::edits::restructure(&mut draft, &mut choices)),
            _ => edited(&mut draft, &mut choices),
        }
        if choices.below(4) == 0 {
            edited(&mut draft, &mut choices);
        }
        saved(&draft, Layout::Keep)
    };
    let (Some(ours), Some(theirs)) = (side(), side()) else { return };
    for chosen in [Side::Ours, Side::Theirs] {
        let settled = merge::merge_with(base, &ours, &theirs, &mut |_| Some(chosen));
        if let Ok(settled) = settled {
            let left: Vec<String> =
                settled.conflicts.iter().filter(|one| one.can_settle).map(ToString::to_string).collect();
            assert!(left.is_empty(), "{left:#?}");
            assert!(settled.conflicts.iter().all(|one| !one.name().is_empty() && !one.to_string().is_empty()));
            let _ = saved(&settled.draft, Layout::Keep);
        }
    }
    let _ = merge::merge_with(base, &ours, &theirs, &mut |conflict| {
        conflict.values.as_ref().and_then(|values| values[0].is_some().then_some(Side::Theirs))
    });
    // The other side changes nothing, or the same.
    for other in [base, &ours] {
        let Ok(same) = merge::merge(base, &ours, other) else { continue };
        assert!(same.conflicts.is_empty(), "{:?}", same.conflicts);
        let Some(new) = saved(&same.draft, Layout::Keep) else { continue };
        for slot in ours.slots().iter().filter(|slot| !matches!(slot.id, SlotId::Game(_))) {
            let [one, other] = [&ours, &new].map(|map| map.bytes(slot.id).map(|bytes| bytes.to_vec()).ok());
            assert!(one == other || slot.name == "GAME_LUMP", "{}", slot.name);
        }
    }
    if let (Ok(old), Ok(new)) = (base.entities(), theirs.entities()) {
        let patch = bspkit_ops::diff::diff(&old, &new);
        let _ = patch.and_then(|patch| merge::merge_patch(base, &ours, &patch).map(|merged| merged.conflicts.len()));
    }
}

/// Records by their types: what is set can be got, and is in the saved map.
pub fn tables(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let all = good_maps();
    let map = &all[choices.below(all.len())];
    table(map, quake2::PLANES, &mut choices);
    table(map, quake2::FACES, &mut choices);
    table(map, quake2::MODELS, &mut choices);
    table(map, quake::FACES, &mut choices);
    table(map, quake::EDGES, &mut choices);
    table(map, quake3::SURFACES, &mut choices);
    table(map, quake3::BRUSHES, &mut choices);
}

fn table<R: Record + Copy + PartialEq + std::fmt::Debug>(map: &Bsp<'_>, key: Key<R>, choices: &mut Choices<'_>) {
    let Ok(old) = map.table(key) else { return };
    let (all, mut draft): (Vec<R>, _) = (old.iter().collect(), map.draft());
    assert!(old.get(all.len()).is_err() && old.is_empty() == all.is_empty());
    let _ = old.tail().len();
    if all.is_empty() {
        return;
    }
    let Ok(mut table) = draft.table(key) else { return };
    let mut wanted = all.clone();
    for _ in 0..choices.below(6) {
        let (one, other) = (choices.below(wanted.len()), choices.below(wanted.len()));
        match (choices.below(4), wanted.get(other).copied()) {
            (0, Some(record)) => {
                table.set(one, record).expect("a record that is there");
                wanted[one] = record;
            }
            (1, Some(record)) => {
                table.update(one, |it| *it = record).expect("a record that is there");
                wanted[one] = record;
            }
            (2, Some(record)) => {
                table.push_without_following(record);
                wanted.push(record);
            }
            _ => {
                table.truncate_without_following(one);
                wanted.truncate(one);
            }
        }
        assert_eq!((table.len(), table.is_empty()), (wanted.len(), wanted.is_empty()));
        assert!(wanted.iter().enumerate().all(|(at, record)| table.get(at).is_ok_and(|it| it == *record)));
        assert!(table.get(wanted.len()).is_err() && table.set(wanted.len() + 9, all[0]).is_err());
    }
    let Some(new) = saved(&draft, Layout::Keep) else { return };
    let found: Vec<R> = new.table(key).map(|table| table.iter().collect()).unwrap_or_default();
    assert!(found == wanted, "{found:?} {wanted:?}");
}

/// A file that is saved with options: with a backup the old bytes are there, and after a refusal the file is as it was.
pub fn options(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let all = all_maps();
    let old = &all[choices.below(all.len())];
    let folder = folder_of("options");
    let _ = std::fs::create_dir_all(&folder);
    let path = folder.join("a.bsp");
    let before = old.container().bytes().to_vec();
    std::fs::write(&path, &before).expect("the file can be written");
    let Ok(opened) = Bsp::open_as(&path, old.dialect()) else { return };
    let mut draft = opened.draft();
    for _ in 0..=choices.below(2) {
        let _ = edit(&mut draft, &mut choices);
    }
    let other = choices.below(3) == 0;
    if other {
        std::fs::write(&path, [&before[..], b"more"].concat()).expect("the file can be written");
    }
    let options = SaveOptions::default().force(choices.below(2) == 0).over_changes(choices.below(2) == 0);
    let options = if choices.below(2) == 0 { options.backup(".bak") } else { options };
    for number in 0..2 {
        let there = std::fs::read(&path).expect("the file can be read");
        let layout = [Layout::Keep, Layout::Append, Layout::Repack, Layout::Patch][choices.below(4)];
        let refuses = choices.below(5) == 0;
        let done = draft.save_with(&path, layout, &options, |_, plan| match refuses {
            true => Err(bspkit::Error::new(bspkit::ErrorKind::Refused, "not this one")),
            false => Ok(plan.to_vec()),
        });
        let now = std::fs::read(&path).expect("the file can be read");
        match done {
            Ok((saved, wanted)) => {
                assert!(now == wanted, "{number} {layout:?}");
                let backup = saved.backup.map(|path| std::fs::read(path).expect("the backup can be read"));
                assert!(backup.is_none_or(|backup| backup == there));
            }
            Err(error) => assert!(now == there, "{error}"),
        }
        let _ = edit(&mut draft, &mut choices);
    }
    let _ = std::fs::remove_dir_all(&folder);
}

/// Lump files of Source maps.
pub fn lump_files() -> Vec<Vec<u8>> {
    let maps = all_maps().iter().filter(|map| map.slot("PAKFILE").is_ok());
    let files = maps.flat_map(|map| map.slots().iter().filter_map(|slot| LumpFile::export(map, slot.id).ok()));
    files.filter_map(|file| file.to_bytes().ok()).filter(|bytes| bytes.len() < 1 << 16).step_by(3).collect()
}

/// A lump file is what it was when it is written again, and what is imported from it is exported as the same.
pub fn lumps(bytes: &[u8]) {
    let Ok(file) = LumpFile::parse(bytes) else { return };
    let again = file.to_bytes().and_then(|bytes| LumpFile::parse(&bytes)).expect("what is written can be read");
    assert!((again.id, again.version, again.revision) == (file.id, file.version, file.revision));
    assert!(again.payload == file.payload || bspkit::file::lzma::decompressed_size(&file.payload).is_some());
    let maps: Vec<_> = all_maps().iter().filter(|map| map.slot("PAKFILE").is_ok()).collect();
    let mut draft = maps[bytes.len() % maps.len()].draft();
    if file.import(&mut draft).is_err() {
        assert!(draft.changes().is_ok_and(|changes| changes.is_empty()));
        return;
    }
    let Some(new) = saved(&draft, Layout::Keep) else { return };
    let slot = SlotId::Lump(file.id);
    let is_game = new.role_of(slot) == Some(bspkit::dialect::Role::GameLump);
    if let (Ok(out), false) = (LumpFile::export(&new, slot), is_game) {
        assert!(out.payload.starts_with(&file.payload) && out.payload.len() <= file.payload.len() + 1);
    }
}

/// Textures of Quake and of Quake II that are edited: what is set is there, and all others are as they were.
pub fn textures(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let maps: Vec<_> = all_maps().iter().filter(|map| map.textures().is_ok_and(|all| !all.is_empty())).collect();
    let map = maps[choices.below(maps.len())];
    let mut draft = map.draft();
    let Ok(all) = draft.textures() else { return };
    edit_textures(all, &mut choices);
    let wanted = looks(all);
    if let Some(new) = saved(&draft, Layout::Keep) {
        assert!(new.textures().is_ok_and(|all| looks(&all) == wanted));
    }
}

/// The bytes of each texture; none for places without one.
pub fn looks(all: &Textures<'_>) -> Vec<Option<Vec<u8>>> {
    (0..all.len()).map(|at| all.get(at).ok().flatten().map(|it| it.bytes().to_vec())).collect()
}

/// A number of edits, each of one texture: the others keep their bytes, and so does one whose edit is refused.
pub fn edit_textures(all: &mut Textures<'_>, choices: &mut Choices<'_>) {
    for _ in 0..=choices.below(4) {
        let (index, other) = (choices.below(all.len()), choices.below(all.len()));
        let before = looks(all);
        let image = all.get(other).ok().flatten().and_then(|texture| texture.image());
        let from = all.get(other).ok().flatten().map(|texture| texture.bytes().to_vec());
        let pixels = vec![choices.below(256) as u8; [64, 256, 1024][choices.below(3)]];
        let done = match choices.below(7) {
            0 => all.rename(index, [&b"own_name"[..], b"{hole", b"a name of too many bytes"][choices.below(3)]),
            1 => all.strip(index),
            2 => all.set_level(index, choices.below(5), &pixels),
            3 => from.map_or(Ok(()), |from| all.replace(index, from)),
            4 => {
                let from = from.as_deref().unwrap_or_default();
                let from = if all.has_palettes() { Miptex::read(from) } else { Miptex::read_bare(from) };
                from.map_or(Ok(()), |from| all.embed(index, &from))
            }
            _ => image.map_or(Ok(()), |mut image| {
                let at = choices.below(image.pixels.len());
                image.pixels.iter_mut().skip(at).take(9).for_each(|pixel| *pixel = pixels[0]);
                all.set_image(index, &image, None)
            }),
        };
        let after = looks(all);
        let is_other = (0..before.len()).filter(|at| before[*at] != after[*at]).any(|at| at != index || done.is_err());
        assert!(!is_other, "{index} {done:?}");
    }
}

/// A texture of Quake II: an image that is set is there, in a file that can be read.
pub fn wals(bytes: &[u8]) {
    let Ok(mut wal) = Wal::parse(bytes) else { return };
    let mut choices = Choices::of(bytes);
    let (width, height) = (wal.header().width, wal.header().height);
    let colors = bspkit::content::palette::Palette(std::array::from_fn(|at| u8::try_from(at / 3).unwrap_or(0)));
    let Some(mut pixels) = wal.pixels(0).map(<[u8]>::to_vec) else { return };
    let at = choices.below(pixels.len());
    pixels.iter_mut().skip(at).take(20).for_each(|pixel| *pixel = 77);
    let image = Image::new(width, height, pixels.clone()).expect("the size is that of the file");
    if wal.set_image(&image, &colors).is_ok() {
        let again = Wal::parse(wal.bytes().to_vec()).expect("what is written can be read");
        assert!(again.pixels(0) == Some(&pixels[..]));
    }
    let level = choices.below(5);
    if let Some(old) = wal.pixels(level).map(<[u8]>::to_vec) {
        let new: Vec<u8> = old.iter().map(|pixel| !pixel).collect();
        if wal.set_level(level, &new).is_ok() {
            assert!(wal.pixels(level) == Some(&new[..]));
        }
    }
    wal.update(|header| header.value = 7);
    assert_eq!(Wal::parse(wal.bytes().to_vec()).map(|wal| wal.header().value).ok(), Some(7));
    if let Ok(new) = Wal::new(b"own/new", &image, &colors) {
        assert!(Wal::parse(new.bytes().to_vec()).is_ok_and(|new| new.pixels(0) == Some(&image.pixels[..])));
    }
}
