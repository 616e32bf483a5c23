//! What is in lumps: every lens on a map, entities beside a plain list, records that are spliced, maps that are built.

use bspkit::content::entities::{Arrangement, Beside, Entities};
use bspkit::content::lightmap::Adjustment;
use bspkit::content::outlines::Outlines;
use bspkit::dialect::{self, EntityRules};
use bspkit::{Bsp, Builder, Layout, SlotId, Splice, compress};

use super::edits::{Choices, saved};
use super::{all_maps, good_maps};

/// Everything that a map has can be looked at, and what is edited is there in the saved map.
pub fn lenses(bytes: &[u8]) {
    let Ok(map) = Bsp::parse(bytes) else { return };
    let mut choices = Choices::of(bytes);
    let mut draft = map.draft();
    if let Ok(all) = draft.physics() {
        for at in 0..all.len().min(64) {
            let _ = (all.model(at).is_ok(), all.text(at).is_ok(), all.solids(at).map(Iterator::count).is_ok());
        }
        let at = choices.below(all.len());
        if all.set_text(at, "solid {\n\"index\" \"0\"\n}\n").is_ok() {
            assert!(all.text(at).is_ok_and(|text| text.starts_with(b"solid")));
        }
    }
    if let Ok(all) = draft.surface_physics() {
        let _ = (0..all.len().min(64)).filter(|at| all.text(*at).is_ok()).count();
    }
    if let Ok(all) = draft.phys_disp() {
        let _ = (0..all.len()).filter(|at| all.get(*at).is_some()).count() + all.rest().len();
    }
    if let Ok(all) = draft.texture_strings() {
        let _ = (all.problems().len(), all.extents().is_some(), all.find("own/wall").count());
        let at = choices.below(all.len());
        if all.rename(at, "own/renamed_by_the_door").is_ok() {
            assert_eq!(all.get(at).ok(), Some(&b"own/renamed_by_the_door"[..]));
        }
    }
    if let Ok(all) = draft.static_props() {
        let (at, name) = (choices.below(all.len()), all.names().count());
        let _ = all.get(at).map(|prop| format!("{prop:?}").len());
        let _ = (all.leafs().count(), all.update(at, |prop| prop.skin = 3).is_ok());
        if all.set_name(choices.below(name), "models/own/other.mdl").is_ok() {
            assert_eq!(all.names().count(), name);
        }
    }
    if let Ok(all) = draft.detail_props() {
        let at = choices.below(all.len());
        let _ = (all.get(at).is_some(), all.sprite_count(), all.update(at, |_| ()).is_ok());
    }
    if let Ok(all) = draft.sample_positions() {
        let (start, luxels) = (choices.below(all.bytes().len()), choices.below(40));
        let first = all.block(start, luxels).next().and_then(Result::ok);
        let _ = (all.extent(start, luxels).is_ok(), all.block(start, luxels).filter(Result::is_ok).count());
        let _ = first.map(|first| all.set(start, 0, first));
    }
    if let Ok(all) = draft.lightmap_alphas() {
        let start = choices.below(all.bytes().len());
        if all.set(start, 0, 9).is_ok() {
            assert!(all.block(start, 1).is_ok_and(|block| block == [9]));
        }
    }
    if let Ok(all) = draft.brush_list() {
        for at in 0..all.len().min(64) {
            let _ = (all.model(at).is_some(), all.brushes(at).count());
        }
        let again = bspkit::content::bspx::BrushList::parse(all.to_bytes()).expect("what is written can be read");
        assert_eq!(again.len(), all.len());
    }
    if let Ok(all) = draft.light_octrees() {
        let _ = format!("{all:?}").len();
    }
    if let Ok(grid) = draft.light_grid() {
        let at = choices.below(grid.len());
        let place = grid.place(at);
        assert!(place.is_none_or(|place| grid.index(place) == Some(at)));
        let _ = (grid.check().is_ok(), place.and_then(|place| grid.position(place)), grid.get(at).is_ok());
        let _ = grid.get(at).map(|light| grid.set(at, light));
    }
    octrees(&map);
    drawn(&map);
    looks(&map, &mut choices);
    light(&mut draft, &mut choices);
    // A lump over the header has another directory in it after each edit.
    let found = bspkit_ops::check::run(&map, &Default::default()).unwrap_or_default();
    if found.iter().any(|found| found.code.name == "lump-in-header") {
        let _ = draft.plan(Layout::Keep).is_ok();
        return;
    }
    let _ = saved(&draft, Layout::Keep);
    let options = compress::Options::default().all(choices.below(2) == 0).pak(choices.below(2) == 0);
    if compress::compress(&mut draft, &options).is_ok() {
        let Some(packed) = saved(&draft, Layout::Repack) else { return };
        let mut draft = packed.draft();
        if compress::decompress(&mut draft, &options).is_ok() {
            let _ = saved(&draft, Layout::Repack);
        }
    }
}

/// Light of points in space: what is written is what was read.
fn octrees(map: &Bsp<'_>) {
    use bspkit::content::bspx::LightOctree;
    for slot in map.slots().iter().filter(|slot| slot.name.to_ascii_uppercase().contains("LIGHTGRID")) {
        let Ok(bytes) = map.bytes(slot.id) else { continue };
        for tree in LightOctree::parse_all(bytes).into_iter().flatten() {
            let _ = (tree.fault(), tree.points(), tree.nodes().count(), tree.at([0, 1, 2]).is_ok());
            let leafs = (0..tree.len().min(64)).map(|at| (tree.leaf(at).is_some(), tree.leaf_points(at)));
            let points = leafs.flat_map(|(_, points)| points).take(1000);
            let _ = points.map(|point| point.samples().count() + usize::from(point.is_occluded())).sum::<usize>();
            let again = LightOctree::parse(tree.to_bytes()).expect("what is written can be read");
            assert_eq!((again.len(), again.points()), (tree.len(), tree.points()));
        }
    }
}

fn drawn(map: &Bsp<'_>) {
    let lines = Outlines::read(map);
    let _ = lines.lines(lines.world()).take(500).map(|line| line.len()).sum::<usize>();
    let _ = (lines.lines(lines.model(1)).take(50).count(), lines.face(3), lines.is_exhausted());
    let _ = (map.face_sizes().is_ok(), map.light_files().is_ok(), map.check_mapped().is_ok());
}

/// Names, columns and sums of what is there.
fn looks(map: &Bsp<'_>, choices: &mut Choices<'_>) {
    for slot in map.slots() {
        let _ = (map.detection(slot), map.size(slot), map.decompressed_size(slot.id), map.referred(&slot.name));
        let _ = (map.compression_oddity(slot.id), map.member_flags(slot.id), map.stored(slot.id).len());
        for list in map.lists(&slot.name).into_iter().flatten().filter(|list| !list.is_empty()) {
            let Some(field) = list.info().fields.get(choices.below(list.info().fields.len())) else { continue };
            let Ok([column]) = list.columns([field.name]) else { continue };
            let at = choices.below(list.len());
            let _ = (column.get(at), column.item(at, 0), column.float(at, 0), column.items(), column.at(at));
        }
    }
    if let Ok(links) = map.links() {
        for (at, site) in links.sites.iter().enumerate() {
            let _ = (links.shares(at), links.doubts(at).count(), site.is_ragged(), site.is_paired());
        }
    }
    if let Ok(all) = map.entities() {
        let _ = all.iter().map(|entity| entity.record_values(map.dialect()).len()).sum::<usize>();
        let _ = all.index_by("classname").len();
    }
}

fn light(draft: &mut bspkit::Draft<'_>, choices: &mut Choices<'_>) {
    let Ok(light) = draft.light() else { return };
    let images: Vec<_> = light.images().take(2000).collect();
    let Some(image) = images.get(choices.below(images.len())).copied() else { return };
    let _ = (light.average(image), light.block(image).map(|block| (block.size(), block.luxels(), block.whole())));
    if let Some(luxel) = light.luxel(image, [0, 0]) {
        let other = luxel.with_linear([0.5, 0.25, 4.0]);
        let again = other.with_linear(other.linear());
        assert_eq!(other.shown(), again.shown(), "{other:?} {again:?}");
        let _ = light.set(image, [0, 0], other);
        assert_eq!(light.luxel(image, [0, 0]), Some(other));
    }
    let tint = Adjustment { gain: [0.5, 2.0, 0.0][choices.below(3)], ..Default::default() };
    let _ = light.adjust(&tint, |_, block, _| block.index() % 2 == 0);
}

// Entities beside a list of pairs, on which the same is done.

type Plain = Vec<Vec<(Vec<u8>, Vec<u8>)>>;

fn plain(all: &Entities<'_>) -> Plain {
    let pairs = all.iter().map(|entity| entity.pairs().map(|pair| (pair.key.to_vec(), pair.value.to_vec())).collect());
    pairs.collect()
}

/// Moves what is chosen directly beside the target.
fn moved(list: &mut Plain, chosen: &[usize], target: usize, is_after: bool) {
    let is_chosen = |at: &usize| chosen.contains(at);
    let rest: Vec<usize> = (0..list.len()).filter(|at| !is_chosen(at)).collect();
    let at = rest.iter().position(|it| *it == target).map_or(0, |at| at + usize::from(is_after));
    let order = rest[..at].iter().chain(chosen).chain(&rest[at..]).copied().collect::<Vec<_>>();
    *list = order.iter().map(|at| list[*at].clone()).collect();
}

pub fn entities(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let maps = good_maps();
    let Ok(view) = maps[choices.below(maps.len())].entities() else { return };
    let (mut all, mut list) = ((*view).clone(), plain(&view));
    for _ in 0..=choices.below(10) {
        let (before, len) = (all.to_bytes(), all.len());
        if len == 0 {
            // There is nothing to choose.
            return;
        }
        let mut chosen: Vec<usize> = (0..choices.below(4)).map(|_| choices.below(len)).collect();
        chosen.sort_unstable();
        chosen.dedup();
        let (one, is_after) = (choices.below(len), choices.below(2) == 0);
        let (key, value) =
            (["classname", "own", "origin", "light"][choices.below(4)], ["", "1 2 3", "a b"][choices.below(3)]);
        let mut new = list.clone();
        let done = match choices.below(9) {
            0 => {
                new.push(vec![(b"classname".to_vec(), b"light".to_vec()), (key.into(), value.into())]);
                all.add([("classname", "light"), (key, value)]).map(drop)
            }
            1 => {
                chosen.iter().rev().for_each(|at| new.insert(*at, list[*at].clone()));
                all.duplicate_all(&chosen)
            }
            2 => {
                chosen.iter().rev().for_each(|at| drop(new.remove(*at)));
                all.remove_all(&chosen)
            }
            3 if !chosen.contains(&one) => {
                moved(&mut new, &chosen, one, is_after);
                if is_after { all.move_all_after(&chosen, one) } else { all.move_all_before(&chosen, one) }
            }
            4 => {
                let mut order: Vec<usize> = (0..len).collect();
                order[1..].rotate_left(one.min(len - 1));
                new = order.iter().map(|at| list[*at].clone()).collect();
                all.reorder(&order)
            }
            5 => {
                let pairs = &mut new[one];
                match pairs.iter_mut().find(|(own, _)| own.eq_ignore_ascii_case(key.as_bytes())) {
                    Some(pair) => pair.1 = value.into(),
                    None => pairs.push((key.into(), value.into())),
                }
                all.get_mut(one).and_then(|mut entity| entity.set(key, value))
            }
            6 => {
                new[one].push((key.into(), value.into()));
                all.get_mut(one).and_then(|mut entity| entity.push(key, value))
            }
            7 => {
                new[one].retain(|(own, _)| !own.eq_ignore_ascii_case(key.as_bytes()));
                all.get_mut(one).and_then(|mut entity| entity.unset(key).map(drop))
            }
            _ => {
                // The same entity as its own text.
                let text = all.get(one).map(|entity| entity.bytes().to_vec()).unwrap_or_default();
                new.push(list[one].clone());
                all.add_text(text).map(drop)
            }
        };
        match done {
            Ok(()) => list = new,
            Err(error) => assert!(all.to_bytes() == before, "{error}"),
        }
        assert!(plain(&all) == list);
    }
    let again = Entities::parse(all.to_bytes(), *all.rules()).expect("an edited text can be read");
    assert!(plain(&again) == list, "read again it is another list");
    if let Ok(text) = all.canonical() {
        let again = Entities::parse(text, *all.rules()).expect("the compilers' form can be read");
        assert!(plain(&again) == list && again.lost_in_canonical().is_ok_and(|lost| lost.iter().count() == 0));
    }
    arranged(all, &mut choices);
}

/// Single edits in an order that is kept by numbers.
fn arranged(all: Entities<'_>, choices: &mut Choices<'_>) {
    let mut list = Arrangement::of(all);
    for _ in 0..choices.below(8) {
        let numbers = list.numbers();
        let (one, other) = (choices.below(numbers.len()), choices.below(numbers.len()));
        let [(Some(one), place), (Some(other), _)] = [one, other].map(|at| (numbers.get(at).copied(), at)) else {
            return;
        };
        let mut wanted = numbers.clone();
        match choices.below(4) {
            0 if list.try_remove(one) => drop(wanted.remove(place)),
            1 => {
                let copy = list.try_duplicate(one);
                copy.into_iter().for_each(|copy| wanted.insert(place + 1, copy));
            }
            2 if list.try_move(one, Beside::After(other)) => {
                wanted.remove(place);
                let at = wanted.iter().position(|it| *it == other).map_or(0, |at| at + 1);
                wanted.insert(at, one);
            }
            _ => {}
        }
        let numbers = list.numbers();
        assert_eq!(numbers, wanted);
        assert!(list.is_sorted(&numbers) && numbers.first().copied() == list.first());
    }
    let _ = list.finish().to_bytes();
}

/// Entities of any text in the compilers' form: nothing else is lost than what is said.
pub fn canonical(bytes: &[u8]) {
    for rules in [EntityRules::QUAKE2, EntityRules::SOURCE] {
        let Ok(all) = Entities::parse(bytes, rules) else { continue };
        let lost = all.lost_in_canonical().map(|lost| lost.iter().count());
        let Ok(text) = all.canonical() else { continue };
        let again = Entities::parse(&text[..], rules).expect("the compilers' form can be read");
        assert!(plain(&again) == plain(&all), "{lost:?}");
        assert!(again.canonical().is_ok_and(|twice| twice == text));
    }
}

// Records that are spliced, and maps that are built.

/// Splices of several lists: what is refused leaves the draft as it was, and what is done is saved.
pub fn spliced(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let all = all_maps();
    let mut draft = all[choices.below(all.len())].draft();
    for _ in 0..=choices.below(3) {
        let before = draft.changes().ok();
        let Ok(links) = draft.bsp().links() else { return };
        let lists: Vec<(String, usize, Vec<u8>)> =
            links.sites.iter().map(|site| (site.name.clone(), site.len(), site.record(0).to_vec())).collect();
        let used: Vec<&(String, usize, Vec<u8>)> = lists.iter().filter(|(_, len, _)| *len > 0).collect();
        let [one, other] = [0, 1].map(|_| used.get(choices.below(used.len())));
        let (Some((one, len, record)), Some((other, others, _))) = (one, other) else { return };
        let (first, count) = (choices.below(*len), choices.below(3));
        let range = first..(first + count).min(*len);
        let structure = draft.structure().cascade(choices.below(2) == 0).force(choices.below(4) == 0);
        let structure = if choices.below(3) == 0 { structure.exact() } else { structure };
        let structure = if choices.below(3) == 0 { structure.ignore(format!("{one}.plane")) } else { structure };
        let order: Vec<usize> = (0..*len).rev().collect();
        let done = match choices.below(5) {
            0 => structure.splice_list(one, range, record.repeat(choices.below(3))),
            1 => {
                let splice = |range, count| Splice { range, records: record.repeat(count) };
                structure.splice_lists(vec![(one, vec![splice(0..0, 1), splice(range.start..range.end, 2)])])
            }
            2 => structure.remove(&[(one, &range.collect::<Vec<_>>()), (other, &[choices.below(*others)])]),
            3 => structure.reorder_lists(&[(one, &order)]),
            _ => structure.duplicate_list(one, range),
        };
        match done {
            Ok(_) => drop(saved(&draft, Layout::Keep)),
            Err(error) => assert_eq!(draft.changes().ok(), before, "{error}"),
        }
    }
}

/// Maps of every dialect with parts in any order: what is built opens, and has what was put in.
pub fn built(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let dialects = dialect::ALL;
    let dialect = dialects[choices.below(dialects.len())];
    let mut builder = Builder::new(dialect).version(dialect.versions[choices.below(dialect.versions.len())]);
    builder = builder.shape(dialect.shapes[choices.below(dialect.shapes.len())]);
    builder = builder.revision(7).checksum(9);
    let text = b"{\n\"classname\" \"worldspawn\"\n}\n\0";
    let Ok(mut builder) = builder.role(dialect::Role::Entities, &text[..]) else { return };
    let mut put = Vec::new();
    for _ in 0..choices.below(5) {
        let (index, content) = (choices.below(20), vec![7; choices.below(300)]);
        builder = match choices.below(8) {
            0 => builder.align(index, 1 << choices.below(6)),
            1 => builder.gap_before(index, content),
            2 => builder.bspx("OWN_LUMP", content),
            3 => builder.tail(content),
            4 => builder.lump_version(index, 1),
            5 => match builder.clone().compressed_lump(index, &content) {
                Ok(new) if index > 3 => new,
                _ => builder,
            },
            6 => builder.game_lump(*b"prps", 4, content).align_game_lumps(4),
            _ if choices.below(2) == 0 => builder.trailer(),
            _ => builder.unpadded(),
        };
        put.push(index);
    }
    builder = if choices.below(3) == 0 { builder.order(&[5, 3, 0, 1]) } else { builder };
    let Ok(bytes) = builder.build() else { return };
    let Ok(map) = Bsp::from_data(bytes.clone().into(), Some(dialect)) else { return };
    let slot = map.role(dialect::Role::Entities).expect("a map has entities").id;
    // What was put in the place of the entities is there.
    if !put.iter().any(|index| SlotId::Lump(*index) == slot) {
        assert_eq!(map.bytes(slot).ok().as_deref(), Some(&text[..]), "{put:?}");
    }
    let draft = map.draft();
    assert!(draft.plan(Layout::Keep).is_ok_and(|plan| plan.is_identity()));
    for layout in [Layout::Append, Layout::Repack, Layout::Patch] {
        let _ = saved(&draft, layout);
    }
    super::maps::laws(&bytes);
}
