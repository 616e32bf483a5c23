//! Records that nothing needs: what is found, and that removing it changes nothing else.

mod damaged;
mod kept;

use crate::{facts, maps, walk};
use std::collections::BTreeSet;

use bspkit::content::lightmap::Image;
use bspkit::dialect::{self, Role, goldsrc, quake2, quake3, source};
use bspkit::verify::Verdict;
use bspkit::{Bsp, Builder, ErrorKind};
use bspkit_ops::check;
use bspkit_ops::prune::{Options, Pruned, prune};
use bspkit_ops::unused::Unused;
use maps::{fixtures, real, saved};

/// The maps of the corpus too, where there is one: up to this size, or all if that is asked for.
fn all_maps(most: u64) -> impl Iterator<Item = (String, Bsp<'static>)> {
    fixtures().into_iter().chain(real(most, u64::MAX))
}

/// Prunes a map; `None` if that is refused for a reason that is right.
fn pruned(name: &str, map: &Bsp<'_>, options: &Options) -> Option<(Bsp<'static>, Pruned)> {
    let mut draft = map.draft();
    match prune(&mut draft, options) {
        Ok(pruned) => {
            let errors = check::introduced(&draft, &check::Options::default()).unwrap();
            assert!(errors.is_empty(), "{name}: {errors:#?}");
            Some((saved(&draft), pruned))
        }
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Refused, "{name}: {error}");
            let right = ["not stored in the usual form", "cannot follow", "not all of its records are known"];
            assert!(right.iter().any(|why| error.to_string().contains(why)), "{name}: {error}");
            eprintln!("{name}: {error}");
            None
        }
    }
}

/// A second time there is nothing left, and no fault is new.
#[test]
fn to_prune_twice_is_to_prune_once() {
    let mut count = 0;
    for (name, map) in all_maps(8 << 20) {
        let options = Options::default().light(true);
        let Some((once, _)) = pruned(&name, &map, &options) else { continue };
        let Some((_, again)) = pruned(&name, &once, &options) else { panic!("{name}: a second time it is refused") };
        assert!(again.lumps.is_empty(), "{name}: {again:#?}");
        count += 1;
    }
    eprintln!("{count} maps");
}

#[test]
fn a_pruned_map_passes_the_laws_that_it_passed() {
    for (name, map) in all_maps(1 << 20) {
        let failed = |map: &Bsp<'_>| {
            let verdicts = bspkit::verify::run(map).laws;
            verdicts.into_iter().filter(|(_, verdict)| matches!(verdict, Verdict::Fail(_))).collect::<Vec<_>>()
        };
        let Some((after, _)) = pruned(&name, &map, &Options::default()) else { continue };
        assert!(failed(&map).is_empty() == failed(&after).is_empty(), "{name}: {:?}", failed(&after));
    }
}

/// How many values of the second the first one does not have; `None` if it has others.
fn fewer<T: Ord>(mut few: Vec<T>, mut many: Vec<T>) -> Option<usize> {
    few.sort();
    many.sort();
    let more = many.len().checked_sub(few.len())?;
    let mut left = many.into_iter();
    few.into_iter().all(|value| left.any(|other| other == value)).then_some(more)
}

fn within<T: Ord>(few: Vec<T>, many: Vec<T>, what: &str) -> usize {
    fewer(few, many).unwrap_or_else(|| panic!("{what}: other content"))
}

/// What is left has the content that it had, and what is gone is what was found to be unused.
#[test]
fn what_is_left_is_the_same() {
    let names = ["TEXTURES", "TEXDATA_STRING_DATA"];
    for (name, map) in all_maps(1 << 20) {
        let options = names.iter().fold(Options::default(), |options, lump| options.keep(*lump));
        let Some((after, done)) = pruned(&name, &map, &options) else { continue };
        // What physics may name stays, with all that it names.
        let stays = done.warnings.iter().any(|said| said.starts_with("BRUSHES stays as it is: "));
        let stays = |list: &str| {
            stays && ["BRUSHES", "BRUSHSIDES", "PLANES", "TEXINFO", "TEXDATA", "TEXDATA_STRING_TABLE"].contains(&list)
        };
        // Damaged lumps keep what they may name.
        let is_damaged =
            map.links().map(|links| (0..links.sites.len()).any(|site| links.damage(site).next().is_some()));
        let is_damaged = is_damaged.unwrap();
        let unused = Unused::of(&map).unwrap();
        let (old, new) = (walk::walk(&map), walk::walk(&after));
        assert_eq!(old.entities, new.entities, "{name}");
        for ((list, old), (_, new)) in old.lists.into_iter().zip(new.lists) {
            let gone = within(new, old, &format!("{name}: {list}"));
            assert!(map.spans(map.slot(list.split('.').next().unwrap()).unwrap()).is_ok());
            let found = unused.list(&list).len();
            assert!(
                gone == found || found == 0 || stays(&list) || is_damaged && gone < found,
                "{name}: {list}: {gone} are gone, and {found} were unused"
            );
        }
    }
}

/// A reference that is not declared is seen: what it refers to is removed, and the content is another one then, or a
/// check finds the fault.
#[test]
fn a_reference_that_is_left_out_is_seen() {
    let (mut seen, mut unseen) = (BTreeSet::new(), BTreeSet::new());
    for (name, map) in fixtures().into_iter().filter(|(name, _)| name.contains("room")) {
        let (before, now) = (walk::walk(&map), Unused::of(&map).unwrap());
        let mut fields: Vec<_> =
            facts::facts(map.dialect().name).map(|(lump, field, ..)| format!("{lump}.{field}")).collect();
        fields.sort();
        fields.dedup();
        for field in fields {
            let wrong = Unused::ignoring(&map, &field).unwrap();
            if wrong.beyond(&now).lists.is_empty() {
                continue;
            }
            let mut draft = map.draft();
            let is_seen = match draft.structure().ignore(&field).force(true).remove(&wrong.to_remove()) {
                Err(_) => true,
                Ok(_) => {
                    let after = walk::walk(&saved(&draft));
                    let lists = before.lists.iter().zip(&after.lists);
                    before.entities != after.entities
                        || lists.into_iter().any(|((_, old), (_, new))| fewer(new.clone(), old.clone()).is_none())
                        || !check::introduced(&draft, &check::Options::default()).unwrap().is_empty()
                }
            };
            eprintln!("{name}: without {field}: {is_seen}");
            if is_seen {
                seen.insert(field)
            } else {
                unseen.insert(field)
            };
        }
    }
    // Some maps have records that are alike; another map shows the fact then.
    let missed: Vec<_> = unseen.difference(&seen).collect();
    assert!(missed.is_empty(), "nothing misses {missed:?}");
    assert!(seen.len() > 25, "{} {seen:#?}", seen.len());
}

/// Textures, names of materials and light of what is left.
#[test]
fn what_is_no_record_is_the_same() {
    let (mut textures, mut names, mut light) = (0, 0, 0);
    for (name, map) in all_maps(4 << 20) {
        let Some((after, _)) = pruned(&name, &map, &Options::default().light(true)) else { continue };
        textures += within(textures_of(&after), textures_of(&map), &format!("{name}: textures"));
        names += within(materials_of(&after), materials_of(&map), &format!("{name}: materials"));
        light += within(light_of(&after), light_of(&map), &format!("{name}: light"));
    }
    eprintln!("gone: {textures} texture entries, {names} materials, {light} blocks");
}

/// The texture of each texture entry: all its bytes.
fn textures_of(map: &Bsp<'_>) -> Vec<Option<Vec<u8>>> {
    let (Ok(textures), Ok(texinfo)) = (map.textures(), map.table(goldsrc::TEXINFO)) else { return Vec::new() };
    let texture = |index: i32| {
        let texture = textures.get(usize::try_from(index).ok()?).ok().flatten()?;
        Some(texture.bytes().to_vec())
    };
    texinfo.iter().map(|texinfo| texture(texinfo.texture)).collect()
}

/// The name of each entry of the textures' data.
fn materials_of(map: &Bsp<'_>) -> Vec<Vec<u8>> {
    let (Ok(names), Ok(texdata)) = (map.texture_strings(), map.table(source::TEXDATA)) else { return Vec::new() };
    texdata.iter().map(|texdata| names.get(usize::try_from(texdata.name).unwrap()).unwrap().to_vec()).collect()
}

/// The luxels of each face.
fn light_of(map: &Bsp<'_>) -> Vec<Vec<u8>> {
    let Ok(light) = map.light() else { return Vec::new() };
    let mut found = Vec::new();
    for (set, blocks) in light.sets().iter().enumerate() {
        for (block, of) in blocks.blocks().iter().enumerate() {
            let images = (0..of.styles().len()).flat_map(|style| (0..of.planes()).map(move |plane| (style, plane)));
            let bytes = images.filter_map(|(style, plane)| light.bytes(Image { set, block, style, plane }));
            found.push(bytes.flatten().copied().collect());
        }
    }
    found
}

/// A model that no entity names any more goes with all that belongs to it, and only with that.
#[test]
fn a_model_without_an_entity_goes() {
    for (name, map) in fixtures() {
        let mut draft = map.draft();
        let entities = draft.entities().unwrap();
        let with_model =
            entities.iter().find(|entity| entity.get("model").is_some_and(|model| model.starts_with(b"*")));
        let Some((index, model)) = with_model.map(|entity| (entity.index(), entity.get("model").unwrap().to_vec()))
        else {
            continue;
        };
        let is_other = entities.iter().filter(|entity| entity.get("model") == Some(&model[..])).count() > 1;
        entities.get_mut(index).unwrap().unset("model").unwrap();
        let left = saved(&draft);
        let Some((after, pruned)) = pruned(&name, &left, &Options::default()) else { continue };
        let models = pruned.lumps.iter().find(|lump| lump.lump == "MODELS");
        assert_eq!(models.is_some_and(|models| models.before == models.after + 1), !is_other, "{name}: {pruned:#?}");
        let faces = ["FACES", "SURFACES"].map(|lump| pruned.lumps.iter().any(|pruned| pruned.lump == lump));
        assert!(is_other || faces.contains(&true), "{name}: {pruned:#?}");
        assert!(after.container().bytes().len() <= map.container().bytes().len() + 16, "{name}");
    }
}

/// Textures of which no frame is used go; those that an entity names, and other frames of used ones, stay.
#[test]
fn animated_textures_and_those_of_entities_stay() {
    let map = Bsp::open("../../tests/maps/goldsrc/own_rooms.bsp").unwrap();
    let names = |map: &Bsp<'_>| -> Vec<String> {
        let textures = map.textures().unwrap();
        (0..textures.len())
            .map(|index| String::from_utf8_lossy(textures.name(index).unwrap_or(b"")).into_owned())
            .collect()
    };
    let before = names(&map);
    let frame = before.iter().position(|name| name.starts_with('+')).unwrap();
    // All faces get the frame.
    let unused = |value: &str| {
        let mut draft = map.draft();
        for index in 0..map.table(goldsrc::TEXINFO).unwrap().len() {
            draft.update(goldsrc::TEXINFO, index, |texinfo| texinfo.texture = i32::try_from(frame).unwrap()).unwrap();
        }
        draft.entities().unwrap().get_mut(0).unwrap().set("texture", value).unwrap();
        let (after, _) = pruned("", &saved(&draft), &Options::default()).unwrap();
        names(&after)
    };
    let family = |name: &str| before[frame].get(2..) == name.get(2..) && name.starts_with('+');
    let frames: Vec<String> = before.iter().filter(|name| family(name)).cloned().collect();
    assert_eq!(unused("nothing"), frames);
    let other = before.iter().find(|name| !family(name) && !name.is_empty()).unwrap();
    let with: Vec<String> = before.iter().filter(|name| family(name) || *name == other).cloned().collect();
    assert_eq!(unused(&other.to_lowercase()), with);
}

/// Bytes of no face and of no name are found in the middle, and what follows them moves.
#[test]
fn bytes_that_nothing_has_go() {
    let map = Bsp::open("../../tests/maps/q2/own_rooms.bsp").unwrap();
    let (base, _) = pruned("", &map, &Options::default().light(true)).unwrap();
    let lighting = base.slot("LIGHTING").unwrap().id;
    let (mut draft, light) = (base.draft(), base.bytes(lighting).unwrap());
    draft.set(lighting, [&light[..], &[7; 30]].concat()).unwrap();
    let (after, done) = pruned("", &saved(&draft), &Options::default().light(true)).unwrap();
    assert_eq!(done.lumps.iter().map(|lump| (&lump.lump[..], lump.bytes)).collect::<Vec<_>>(), [("LIGHTING", 30)]);
    assert_eq!(after.bytes(lighting).unwrap(), light);
    // A face without styles that points there has no light: its offset is none, not the end of the lump.
    let mut draft = base.draft();
    draft.set(lighting, [&light[..], &[7; 30]].concat()).unwrap();
    let faces = base.table(quake2::FACES).unwrap();
    let dark = faces.iter().position(|face| face.light_offset < 0).unwrap();
    let end = i32::try_from(light.len()).unwrap();
    draft.update(quake2::FACES, dark, |face| (face.light_offset, face.styles) = (end + 10, [255; 4])).unwrap();
    let (after, _) = pruned("", &saved(&draft), &Options::default().light(true)).unwrap();
    assert_eq!(after.table(quake2::FACES).unwrap().get(dark).unwrap().light_offset, -1);
    // In front of all others.
    let mut draft = base.draft();
    draft.set(lighting, [&[7; 30][..], &light[..]].concat()).unwrap();
    for face in 0..base.table(quake2::FACES).unwrap().len() {
        draft
            .update(quake2::FACES, face, |face| face.light_offset += if face.light_offset >= 0 { 30 } else { 0 })
            .unwrap();
    }
    let (after, _) = pruned("", &saved(&draft), &Options::default().light(true)).unwrap();
    assert_eq!(light_of(&after), light_of(&base));
    assert_eq!(after.bytes(lighting).unwrap(), light);

    let room = Bsp::open("../../tests/maps/source/room_v20.bsp").unwrap();
    let (room, _) = pruned("", &room, &Options::default()).unwrap();
    let mut draft = room.draft();
    draft.texture_strings().unwrap().rename(0, "a/much/longer/name/than/before").unwrap();
    let mut draft = saved(&draft).draft();
    let strings = draft.bsp().slot("TEXDATA_STRING_DATA").unwrap().id;
    let bytes = draft.bsp().bytes(strings).unwrap().to_vec();
    draft.set(strings, [&b"unused\0"[..], &bytes[..]].concat()).unwrap();
    for name in 0..room.table(source::TEXDATA_STRING_TABLE).unwrap().len() {
        draft.update(source::TEXDATA_STRING_TABLE, name, |name| name.offset += 7).unwrap();
    }
    let (after, _) = pruned("", &saved(&draft), &Options::default()).unwrap();
    assert_eq!(after.bytes(strings).unwrap().to_vec(), bytes);
    assert_eq!(after.texture_strings().unwrap().get(0).unwrap(), b"a/much/longer/name/than/before");
}

/// Engines of today show the light of liquids. Compilers of the first day leave an offset without meaning there.
#[test]
fn the_light_of_liquids_stays() {
    for name in ["own_rooms", "own_rooms_bspx"] {
        let map = Bsp::open(format!("../../tests/maps/q2/{name}.bsp")).unwrap();
        let texinfos = map.table(quake2::TEXINFO).unwrap();
        let is_liquid = |face: &quake2::Face| {
            let texinfo = usize::try_from(face.texinfo).unwrap();
            texinfos.get(texinfo).unwrap().flags & 8 != 0
        };
        let faces = map.table(quake2::FACES).unwrap();
        let liquids: Vec<usize> = (0..faces.len()).filter(|face| is_liquid(&faces.get(*face).unwrap())).collect();
        assert_eq!(liquids.len(), 10);
        let light = |map: &Bsp<'_>| -> Vec<Vec<u8>> {
            let light = map.light().unwrap();
            let blocks = liquids.iter().map(|face| light.sets()[0].block_of(*face).unwrap());
            let image = |block| Image { set: 0, block, style: 0, plane: 0 };
            blocks.map(|block| light.bytes(image(block)).unwrap().to_vec()).collect()
        };
        let (after, _) = pruned("", &map, &Options::default().light(true)).unwrap();
        assert_eq!(light(&after), light(&map), "{name}");
        let is_there = |offset: i32| offset >= 0;
        let offsets = after.table(quake2::FACES).unwrap();
        assert!(liquids.iter().all(|face| is_there(offsets.get(*face).unwrap().light_offset)));

        // At offset 0 is the light of another face: none is theirs, and theirs goes.
        let mut draft = map.draft();
        for face in &liquids {
            draft.update(quake2::FACES, *face, |face| face.light_offset = 0).unwrap();
        }
        let old = saved(&draft);
        assert!(old.light().unwrap().sets()[0].faults().is_empty());
        let (after, done) = pruned("", &old, &Options::default().light(true)).unwrap();
        assert!(done.lumps.iter().any(|lump| lump.lump == "LIGHTING"), "{name}: {done:?}");
        assert!(liquids.iter().all(|face| after.light().unwrap().sets()[0].block_of(*face).is_none()));
    }
}

/// Engines differ in which faces they draw with light: what any of them may read stays.
#[test]
fn light_stays_that_only_some_engines_read() {
    // The size of faces and where they have their texinfo and their light; the size of texinfos and where their flags
    // are; the flags that are set.
    let small = (20, 10..12, 16);
    let wide = (28, 12..16, 24);
    for (file, (size, texinfo_at, light_at), (texinfo_size, flags_at), flags) in [
        ("q1/own_rooms", small.clone(), (40, 36), 1),
        ("q1/own_rooms_bspx", small.clone(), (40, 36), 1),
        ("bsp2/own_rooms", wide.clone(), (40, 36), 1),
        ("bsp2/own_rooms_2psb", wide.clone(), (40, 36), 1),
        ("goldsrc/own_rooms", small.clone(), (40, 36), 1),
        ("goldsrc/own_rooms", small.clone(), (40, 36), 8),
        ("q2/own_rooms", small.clone(), (76, 32), 4),
        ("qbism/own_rooms_qbism", wide.clone(), (76, 32), 4),
    ] {
        let map = Bsp::open(format!("../../tests/maps/{file}.bsp")).unwrap();
        let bytes = |map: &Bsp<'_>, lump: &str| map.bytes(map.slot(lump).unwrap().id).unwrap().to_vec();
        let faces = bytes(&map, "FACES");
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |sum, byte| sum * 256 + usize::from(*byte));
        let light = map.light().unwrap();
        let blocks: Vec<_> = light.sets()[0].blocks().iter().map(|block| (block.index(), block.bytes())).collect();
        let mut texinfos = bytes(&map, "TEXINFO");
        for record in texinfos.chunks_exact_mut(texinfo_size) {
            record[flags_at] |= flags;
        }
        // Every second texinfo, so that the map has faces with light.
        let plain = bytes(&map, "TEXINFO");
        for at in (0..plain.len()).step_by(2 * texinfo_size) {
            texinfos[at..at + texinfo_size].copy_from_slice(&plain[at..at + texinfo_size]);
        }
        let mut draft = map.draft();
        draft.set(map.slot("TEXINFO").unwrap().id, texinfos).unwrap();
        // Something that goes, so that offsets move.
        let (after, _) = pruned(file, &saved(&draft), &Options::default().light(true)).unwrap();
        let [old, new] = [bytes(&map, "LIGHTING"), bytes(&after, "LIGHTING")];
        let left = bytes(&after, "FACES");
        assert_eq!(faces.len(), left.len(), "{file}");
        let mut odd = 0;
        for (face, range) in &blocks {
            let record = |faces: &[u8]| faces[face * size..(face + 1) * size].to_vec();
            odd += number(&record(&faces)[texinfo_at.clone()]) % 2;
            let start = number(&record(&left)[light_at..light_at + 4]);
            assert!(new.get(start..start + range.len()) == old.get(range.clone()), "{file}, {flags}: face {face}");
        }
        assert!(odd > 0, "{file}");
    }
    // The sky of this map has light of its own, and no two of its faces share it.
    let map = Bsp::open("../../tests/maps/q2/own_rooms.bsp").unwrap();
    let (after, _) = pruned("", &map, &Options::default().light(true)).unwrap();
    let offsets = |map: &Bsp<'_>| -> Vec<i32> {
        let texinfos = map.table(quake2::TEXINFO).unwrap();
        let is_sky = |face: &quake2::Face| {
            texinfos.get(usize::try_from(face.texinfo).unwrap()).unwrap().texture.bytes() == b"own/sky"
        };
        map.table(quake2::FACES).unwrap().iter().filter(is_sky).map(|face| face.light_offset).collect()
    };
    let (old, new) = (offsets(&map), offsets(&after));
    let count = |offsets: &[i32]| offsets.iter().collect::<std::collections::BTreeSet<_>>().len();
    assert!(count(&old) > 1 && count(&old) == count(&new), "{old:?} {new:?}");
}

/// What `only` and `keep` name.
#[test]
fn only_what_is_named_goes() {
    let map = Bsp::open("../../tests/maps/q3/own_rooms.bsp").unwrap();
    let lumps = |options: &Options| -> Vec<String> {
        pruned("", &map, options).unwrap().1.lumps.into_iter().map(|lump| lump.lump).collect()
    };
    let all = lumps(&Options::default());
    assert!(all.len() > 2, "{all:?}");
    assert_eq!(lumps(&Options::default().only("DRAWINDEXES")), ["DRAWINDEXES"]);
    let others: Vec<String> = all.iter().filter(|lump| *lump != "DRAWINDEXES").cloned().collect();
    assert_eq!(lumps(&Options::default().keep("DRAWINDEXES")), others);
    // What kept records need stays too.
    let kept = lumps(&Options::default().keep("LEAFS"));
    assert!(!kept.iter().any(|lump| ["LEAFS", "LEAFSURFACES", "LEAFBRUSHES"].contains(&&lump[..])), "{kept:?}");
    assert!(map.table(quake3::LEAFS).is_ok());
}

/// A lump of unknown content may refer to anything.
#[test]
fn unknown_lumps_are_named() {
    let map = Bsp::open("../../tests/maps/q3/own_rooms.bsp").unwrap();
    let lumps = (1..17).map(|lump| (lump, map.bytes(bspkit::SlotId::Lump(lump)).unwrap().to_vec()));
    let builder =
        lumps.fold(bspkit::Builder::new(&bspkit::dialect::QUAKE3), |builder, (lump, bytes)| builder.lump(lump, bytes));
    let text = map.bytes(bspkit::SlotId::Lump(0)).unwrap().to_vec();
    let other = Bsp::from_vec(builder.lump(0, text).bspx("SECRET", [1, 2, 3]).build().unwrap()).unwrap();
    let error = prune(&mut other.draft(), &Options::default()).unwrap_err();
    assert!(error.kind() == ErrorKind::Refused && error.to_string().contains("bspx:SECRET may refer to"), "{error}");
    let pruned = prune(&mut other.draft(), &Options::default().force(true)).unwrap();
    assert!(!pruned.warnings.is_empty() && !pruned.lumps.is_empty());
}

/// Records at the end that nothing names are found in the lists whose records serve others, and go without a trace.
#[test]
fn planted_records_are_found() {
    let mut found = BTreeSet::new();
    for (name, map) in fixtures() {
        let before = Unused::of(&map).unwrap();
        for list in map.dialect().owned {
            let Ok((len, size)) = count(&map, list) else { continue };
            // The last of an odd number of planes would be in a pair with the first new one.
            let many = if *list == "PLANES" { 2 } else { 1 };
            if many == 2 && !len.is_multiple_of(2) {
                continue;
            }
            let mut draft = map.draft();
            let planted = match map.slot(list) {
                // What the last set of records ends with would get the new ones.
                Ok(slot) => {
                    let mut bytes = map.bytes(slot.id).unwrap().to_vec();
                    (0..many).for_each(|nth| bytes.extend(plane(nth, size)));
                    draft.set(slot.id, bytes).is_ok()
                }
                Err(_) => draft.structure().splice_list(list, len..len, vec![0; many * size]).is_ok(),
            };
            let planted = if planted { saved(&draft) } else { continue };
            // Structs are detected from the numbers of records, and lists that run parallel have fewer now.
            let Ok(unused) = Unused::of(&planted).map(|unused| unused.beyond(&before)) else { continue };
            if unused.list(list) != (len..len + many).collect::<Vec<_>>() || unused.lists.len() > 1 {
                assert!(map.dialect().rules.game_lump.is_some(), "{name}: {list}: {unused:?}");
                continue;
            }
            let mut draft = planted.draft();
            draft.structure().force(true).remove(&unused.to_remove()).unwrap();
            let after = saved(&draft);
            for (old, new) in map.slots().iter().zip(after.slots()) {
                assert_eq!(map.bytes(old.id).unwrap(), after.bytes(new.id).unwrap(), "{name}: {list}, {}", old.name);
            }
            found.insert(*list);
        }
    }
    assert!(found.len() > 30, "{} {found:?}", found.len());
}

/// One of two opposite planes, which is a record of other lumps as well.
fn plane(nth: usize, size: usize) -> Vec<u8> {
    let x = if nth == 0 { 1.0_f32 } else { -1.0 };
    let mut plane: Vec<u8> = [x, 0.0, 0.0, x].into_iter().flat_map(f32::to_le_bytes).collect();
    plane.resize(size, 0);
    plane
}

/// The number of records of a list, and the size of each.
fn count(map: &Bsp<'_>, list: &str) -> Result<(usize, usize), bspkit::Error> {
    let (lump, part) = match map.slot(list) {
        Ok(slot) => (slot, ""),
        Err(_) => {
            let (lump, part) = list.rsplit_once('.').unwrap_or((list, ""));
            (map.slot(lump)?, part)
        }
    };
    let parts = map.spans(lump)?;
    let part = parts.iter().find(|records| records.list == part);
    part.map(|part| (part.count(), part.record.size)).ok_or_else(|| map.slot("no such list").unwrap_err())
}

/// Of F.A.K.K.2 and its relatives not all references are known: that is said, and nothing goes.
#[test]
fn what_is_not_known_is_said() {
    let map = Builder::new(&dialect::FAKK).role(Role::Entities, "{\n}\n").unwrap().build().unwrap();
    let map = Bsp::from_vec(map).unwrap();
    let pruned = prune(&mut map.draft(), &Options::default()).unwrap();
    assert!(pruned.lumps.is_empty());
    assert!(pruned.warnings.iter().any(|warning| warning.contains("not all references")), "{:?}", pruned.warnings);
    assert!(!bspkit_ops::models::has_known_parts(&map));
    let known = Bsp::open("../../tests/maps/q3/own_rooms.bsp").unwrap();
    assert!(bspkit_ops::models::has_known_parts(&known));
    assert_eq!(prune(&mut known.draft(), &Options::default()).unwrap().warnings, [""; 0]);
}

/// Engines read a model's number with spaces around it, with a plus, and some of them with other letters after it.
#[test]
fn a_number_in_an_odd_form_is_a_use() {
    let pruned = |value: &str| {
        let mut draft = Bsp::open("../../tests/maps/q2/own_rooms.bsp").unwrap().draft();
        let entities = draft.entities().unwrap();
        let door = entities.iter().position(|entity| entity.get("model") == Some(b"*1")).unwrap();
        entities.get_mut(door).unwrap().set("model", value).unwrap();
        let odd = saved(&draft);
        let mut draft = odd.draft();
        prune(&mut draft, &Options::default()).unwrap();
        saved(&draft).table(quake2::MODELS).unwrap().len()
    };
    assert!(pruned("x*1") < pruned("*1"), "a model without an entity goes");
    for value in ["*1 ", "* 1", "*+1", "*1 x", "*1x"] {
        assert_eq!(pruned(value), pruned("*1"), "{value}");
    }
}

/// A model that any value names stays, and one that a key is, as in a text with a broken quote.
#[test]
fn a_model_under_any_key_is_used() {
    let pruned = |text: &str| {
        let map = Bsp::open("../../tests/maps/q2/own_rooms.bsp").unwrap();
        let mut draft = map.draft();
        let entities = map.bytes(map.role(Role::Entities).unwrap().id).unwrap().to_vec();
        let entities = String::from_utf8(entities).unwrap().replacen("\"model\" \"*1\"", text, 1);
        draft.set(map.role(Role::Entities).unwrap().id, entities.into_bytes()).unwrap();
        let odd = saved(&draft);
        let mut draft = odd.draft();
        prune(&mut draft, &Options::default()).unwrap();
        saved(&draft).table(quake2::MODELS).unwrap().len()
    };
    let all = pruned("\"model\" \"*1\"");
    assert_eq!(pruned("\"othermodel\" \"2*1\""), all - 1);
    for text in [
        "\"OnUse\" \"lift,SetModel,*1,0,-1\"",
        "\"othermodel\" \"*1\"",
        "\"*1\" \"model\"",
        "\"spawnflags\" \"1\"model\" \"*1\"",
    ] {
        assert_eq!(pruned(text), all, "{text}");
    }
}

/// A lump of unknown content may have something for each luxel: without force the light stays.
#[test]
fn light_under_a_lump_of_unknown_content_stays() {
    let map = Bsp::open("../../tests/maps/goldsrc/own_rooms.bsp").unwrap();
    let light = map.bytes(map.slot("LIGHTING").unwrap().id).unwrap().to_vec();
    let mut builder = Builder::new(&dialect::GOLDSRC);
    for slot in map.slots() {
        let bspkit::SlotId::Lump(lump) = slot.id else { continue };
        let extra: &[u8] = if slot.name == "LIGHTING" { &[7; 300] } else { &[] };
        builder = builder.lump(lump, [&map.bytes(slot.id).unwrap()[..], extra].concat());
    }
    let plain = Bsp::from_vec(builder.build().unwrap()).unwrap();
    let odd = builder.bspx("OWN_LIGHT", vec![5; light.len() + 300]);
    let odd = Bsp::from_vec(odd.build().unwrap()).unwrap();
    let pruned = |map: &Bsp<'_>, options: &Options| {
        let mut draft = map.draft();
        let done = prune(&mut draft, &options.clone().only("LIGHTING").light(true)).unwrap();
        (done.lumps.iter().any(|lump| lump.lump == "LIGHTING"), done.warnings)
    };
    assert!(pruned(&plain, &Options::default()).0);
    let (is_done, warnings) = pruned(&odd, &Options::default());
    assert!(!is_done && warnings.iter().any(|text| text.contains("OWN_LIGHT may be for its luxels")), "{warnings:?}");
    assert!(pruned(&odd, &Options::default().force(true)).0);
}
