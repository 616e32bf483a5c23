//! Laws of every lit map.

use std::collections::BTreeSet;

use bspkit::content::lightmap::{Adjustment, Block, Image, Light, Luxel};
use bspkit::{Bsp, Layout, SlotId};

use super::{fixture, lit_maps};

/// As the reference measured it: no block lies on another one, all lie in the lump, and Source's fill it.
fn blocks_fit(map: &Bsp<'_>) -> Result<(), String> {
    let light = map.light().unwrap();
    for (index, set) in light.sets().iter().enumerate() {
        let stat = light.stat(index).unwrap();
        if let Some(fault) = set.faults().first() {
            return Err(format!("{}: {fault}", set.name()));
        }
        let is_full = set.name() == "ldr" || set.name() == "hdr" || set.is_pages();
        if stat.overlaps > 0 || (is_full && stat.unowned > 0) {
            return Err(format!("{}: {} overlaps, {} bytes unowned", set.name(), stat.overlaps, stat.unowned));
        }
    }
    Ok(())
}

#[test]
fn blocks_fit_the_lump() {
    let maps = lit_maps();
    assert!(maps.len() >= 10);
    for (name, map) in maps {
        blocks_fit(&map).unwrap_or_else(|why| panic!("{name}: {why}"));
    }
}

#[test]
fn blocks_that_do_not_fit_are_noticed() {
    use bspkit::dialect::{quake2, source};
    let change = |name: &str, edit: &dyn Fn(&mut bspkit::Draft<'static>)| {
        let map = fixture(name);
        let mut draft = map.draft();
        edit(&mut draft);
        let saved = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
        assert!(blocks_fit(&saved).is_err(), "{name}");
    };
    change("q2/own_rooms", &|draft| {
        let light = draft.bsp().light().unwrap();
        let [first, other] = [1, 5].map(|block| &light.sets()[0].blocks()[block]);
        let offset = i32::try_from(first.bytes().start + 3).unwrap();
        draft.update(quake2::FACES, other.index(), |face| face.light_offset = offset).unwrap();
    });
    change("q2/own_rooms", &|draft| {
        // A luxel more each way, now and then.
        let mut infos = draft.table(quake2::TEXINFO).unwrap();
        for index in 0..infos.len() {
            infos.update(index, |info| info.vectors.iter_mut().for_each(|vector| vector[3] += 8.0)).unwrap();
        }
    });
    change("source/room_v20", &|draft| draft.update(source::FACES, 2, |face| face.luxel_size[0] -= 1).unwrap());
    change("source/room_v20", &|draft| {
        let mut infos = draft.table(source::TEXINFO).unwrap();
        for index in 0..infos.len() {
            infos.update(index, |info| info.flags &= !0x800).unwrap();
        }
    });
}

/// A few images: the first, the last, and some between.
fn some_images(light: &Light<'_>) -> Vec<Image> {
    let all: Vec<Image> = light.images().collect();
    let places: BTreeSet<usize> = (0..6).map(|step| step * (all.len() - 1) / 5).collect();
    places.into_iter().map(|place| all[place]).collect()
}

fn other(luxel: Luxel) -> Luxel {
    match luxel {
        Luxel::Grey(grey) => Luxel::Grey(grey ^ 0x55),
        Luxel::Rgb([red, green, blue]) => Luxel::Rgb([red ^ 0x55, green, blue]),
        Luxel::Rgbe([red, green, blue], exponent) => Luxel::Rgbe([red ^ 0x55, green, blue], exponent),
        _ => unreachable!(),
    }
}

/// Where two slots' bytes differ.
fn differences(old: &Bsp<'_>, new: &Bsp<'_>) -> Vec<(SlotId, usize)> {
    let mut found = Vec::new();
    for (before, after) in old.slots().iter().zip(new.slots()) {
        let (a, b) = (old.bytes(before.id), new.bytes(after.id));
        let (Ok(a), Ok(b)) = (a, b) else { continue };
        assert_eq!(a.len(), b.len(), "{}", before.name);
        if *a != *b {
            found.extend((0..a.len()).filter(|at| a[*at] != b[*at]).map(|at| (before.id, at)));
        }
    }
    found
}

#[test]
fn a_luxel_is_all_that_changes() {
    for (name, map) in lit_maps() {
        if map.container().damaged().next().is_some() {
            continue;
        }
        let before = map.light().unwrap();
        for image in some_images(&before) {
            let mut draft = map.draft();
            let light = draft.light().unwrap();
            let block = light.block(image).unwrap();
            let at = [block.size()[0] / 2, block.size()[1] - 1];
            let old = light.luxel(image, at).unwrap();
            assert!(light.set(image, at, other(old)).unwrap(), "{name}: {image:?}");
            let bytes = draft.plan(Layout::Keep).unwrap().to_vec();
            let saved = Bsp::from_data(bspkit::Data::from(bytes), Some(map.dialect())).unwrap();
            let after = saved.light().unwrap();
            let count = before.images().filter(|other| {
                let (a, b) = (before.bytes(*other).unwrap(), after.bytes(*other).unwrap());
                a != b
            });
            // Maps with finer light have the other one beside it, and blocks may be shared.
            assert!((1..=2).contains(&count.count()), "{name}: {image:?}");
            let changed = differences(&map, &saved);
            // A byte of the luxel, and up to four of the average.
            assert!((1..=5).contains(&changed.len()), "{name}: {image:?}: {changed:?}");
            assert_eq!(after.luxel(image, at), Some(other(old)), "{name}");
            let keeps_average = image.plane > 0 || before.average(image).is_none();
            assert!(!keeps_average || changed.len() == 1, "{name}: {image:?}: {changed:?}");

            // Taken back before the save it leaves nothing.
            draft.light().unwrap().set(image, at, old).unwrap();
            assert_eq!(draft.changes().unwrap(), [], "{name}");
        }
    }
}

#[test]
fn an_adjustment_of_nothing_changes_nothing() {
    for (name, map) in lit_maps() {
        let mut draft = map.draft();
        assert_eq!(draft.light().unwrap().adjust(&Adjustment::default(), |_, _, _| true).unwrap(), 0, "{name}");
        assert!(draft.changes().unwrap().is_empty(), "{name}");
    }
}

/// Twice the light and half of it: 8-bit light loses what saturates, Source's nothing but last bits.
#[test]
fn an_adjustment_is_in_linear_light() {
    for name in [
        "q1/own_rooms",
        "bsp2/own_rooms",
        "qbism/own_rooms_qbism",
        "q2/own_rooms",
        "goldsrc/own_rooms",
        "q3/own_rooms",
        "source/room_v20",
        "source/room_v21",
        "source/room_strata",
    ] {
        let map = fixture(name);
        let old = map.light().unwrap();
        let mut new = Light::clone(&old);
        let twice = Adjustment { gain: 2.0, ..Adjustment::default() };
        assert!(new.adjust(&twice, |_, block, style| block.styles()[style] == 0).unwrap() > 100, "{name}");
        for image in old.images() {
            let style = old.block(image).unwrap().styles()[image.style];
            if style != 0 {
                assert_eq!(old.bytes(image), new.bytes(image), "{name}: {image:?}");
                continue;
            }
            let [wide, high] = old.block(image).unwrap().size();
            for at in (0..wide * high).map(|at| [at % wide, at / wide]) {
                let (a, b) = (old.luxel(image, at).unwrap(), new.luxel(image, at).unwrap());
                for (a, b) in a.linear().into_iter().zip(b.linear()) {
                    let wanted = if old.sets()[image.set].name().is_empty() { (2.0 * a).min(1.0) } else { 2.0 * a };
                    assert!((b - wanted).abs() <= 0.005 + 0.01 * wanted, "{name}: {image:?} {at:?}: {a} became {b}");
                }
            }
            // A mean of zeros in front of it would be noticed.
            if let Some(average) = new.average(image) {
                let old = old.average(image).unwrap();
                assert!(average.linear()[0] > 1.5 * old.linear()[0], "{name}: {image:?}: {old:?} became {average:?}");
            }
        }
    }
}

/// Pages, and blocks that faces share, are adjusted once and not as often as they are named.
#[test]
fn shared_luxels_are_adjusted_once() {
    use bspkit::dialect::quake2;
    let map = fixture("q2/own_rooms");
    let mut draft = map.draft();
    let first = map.table(quake2::FACES).unwrap().get(map.light().unwrap().sets()[0].blocks()[0].index()).unwrap();
    // Every lit face of its size points to the same block.
    let light = map.light().unwrap();
    let blocks = light.sets()[0].blocks();
    let is_alike =
        |block: &&Block| (block.size(), block.styles().len()) == (blocks[0].size(), blocks[0].styles().len());
    let same: Vec<usize> = blocks.iter().filter(is_alike).map(Block::index).collect();
    assert!(same.len() > 1);
    for face in same {
        draft.update(quake2::FACES, face, |face| face.light_offset = first.light_offset).unwrap();
    }
    let light = draft.light().unwrap();
    let image = Image { set: 0, block: 0, style: 0, plane: 0 };
    light.update(image, |_, _| Luxel::Rgb([10; 3])).unwrap();
    light.adjust(&Adjustment { gain: 2.0, ..Adjustment::default() }, |_, _, _| true).unwrap();
    let Some(Luxel::Rgb(color)) = light.luxel(image, [0, 0]) else { unreachable!() };
    assert_eq!(color, [14; 3]); // 10 times the 2.2nd root of 2
    assert!(light.stat(0).unwrap().shared > 0);
}

/// Liquids of Quake II have light where it is apart from that of other faces, or just that of one. It is adjusted once.
#[test]
fn light_of_liquids_is_adjusted_once() {
    use bspkit::dialect::quake2;
    let map = fixture("q2/own_rooms_bspx");
    let texinfos = map.table(quake2::TEXINFO).unwrap();
    let faces = map.table(quake2::FACES).unwrap();
    let flags = |face: usize| {
        let texinfo = usize::try_from(faces.get(face).unwrap().texinfo).unwrap();
        texinfos.get(texinfo).unwrap().flags
    };
    let liquids: Vec<usize> = (0..faces.len()).filter(|face| flags(*face) & 8 != 0).collect();
    let light = map.light().unwrap();
    let set = &light.sets()[0];
    let block_of = |face: usize| set.blocks()[set.block_of(face).unwrap()].clone();
    let [own, alike] = [block_of(liquids[0]), block_of(liquids[1])];
    assert_eq!(own.bytes().len(), alike.bytes().len());
    let twice = Adjustment { gain: 2.0, ..Adjustment::default() };
    for (offset, is_lit) in [
        (own.bytes().start, true),
        // Just the light of another face, a part of it, and past the end.
        (alike.bytes().start, true),
        (set.blocks()[0].bytes().start + 3, false),
        (48_935, false),
    ] {
        let mut draft = map.draft();
        let offset = i32::try_from(offset).unwrap();
        draft.update(quake2::FACES, liquids[0], |face| face.light_offset = offset).unwrap();
        let light = draft.light().unwrap();
        assert!(light.sets()[0].faults().is_empty(), "{offset}");
        assert_eq!(light.sets()[0].block_of(liquids[0]).is_some(), is_lit, "{offset}");
        let lump = map.slot("LIGHTING").unwrap().id;
        light.adjust(&twice, |_, _, _| true).unwrap();
        let (old, new) = (map.bytes(lump).unwrap(), draft.bytes(lump).unwrap());
        let once = |byte: u8| twice.of(Luxel::Rgb([byte; 3]));
        let is_once = |(old, new): (&u8, &u8)| new == old || once(*old) == Luxel::Rgb([*new; 3]);
        assert!(old.iter().zip(&new[..]).all(is_once), "{offset}");
    }
}

/// Surfaces on no page that have the mark of light in vertexes are counted, also sky and water.
#[test]
fn surfaces_lit_by_their_vertexes_are_counted() {
    use bspkit::dialect::quake3;
    let map = fixture("q3/own_rooms");
    let before = map.vertex_lit().unwrap();
    let surfaces = map.table(quake3::SURFACES).unwrap();
    let lit: Vec<usize> = (0..surfaces.len()).filter(|index| surfaces.get(*index).unwrap().lightmap >= 0).collect();
    let mut draft = map.draft();
    for (surface, page) in [(lit[0], -3), (lit[1], -3), (lit[2], -1)] {
        draft.update(quake3::SURFACES, surface, |surface| surface.lightmap = page).unwrap();
    }
    let map = draft.plan(Layout::Keep).unwrap().to_vec();
    assert_eq!(Bsp::from_vec(map).unwrap().vertex_lit().unwrap(), before + 2);
    assert_eq!(fixture("q2/own_rooms").vertex_lit().unwrap(), 0);
}

/// A surface of Raven's has four pages, and the mark of vertex light in those that it does not need.
#[test]
fn a_page_of_four_is_enough_for_light() {
    let surface = |pages: [i32; 4]| {
        let mut record = [0_u8; 148];
        for (at, page) in pages.into_iter().enumerate() {
            record[36 + 4 * at..40 + 4 * at].copy_from_slice(&page.to_le_bytes());
        }
        record
    };
    let lump = [[0, -3, -3, -3], [-3; 4], [-1; 4]].map(surface).concat();
    let map = bspkit::Builder::new(&bspkit::dialect::RAVEN).lump(13, lump).build().unwrap();
    assert_eq!(Bsp::from_vec(map).unwrap().vertex_lit().unwrap(), 1);
}
