//! Forms of light that no fixture has, in maps that are built for it: averages in faces, bytes behind the luxels, sizes that
//! fit in single precision alone.

use bspkit::content::lightmap::{Adjustment, Image, Luxel, Precision, extents};
use bspkit::dialect::{self, LuxelForm, quake2, raven, source, source17};
use bspkit::record::Record;
use bspkit::{Bsp, Builder, SlotId};

const BUMPED: i32 = 0x800;

/// Faces of Bloodlines: flat ones of 2 by 2 luxels and bumped ones of 1 by 1, with averages before them or without.
#[test]
fn bloodlines_keeps_averages_in_the_face_and_at_times_in_the_lump_too() {
    let face = |index: u8, texinfo: i16, size: i32, offset: i32| {
        let mut face = source17::Face::decode(&[0; 104]).unwrap();
        face.texinfo = texinfo;
        face.styles = [0, 255, 255, 255, 255, 255, 255, 255];
        face.luxel_size = [size - 1; 2];
        face.light_offset = offset;
        face.average_light[0] = source::ColorRgbExp32::decode(&[index; 4]).unwrap();
        face.encode()
    };
    // Flat, bumped with averages, flat, bumped without, bumped with averages for two styles.
    let mut two = source17::Face::decode(&face(5, 1, 1, 16 + 4 + 16 + 16 + 16 + 8)).unwrap();
    two.styles[1] = 32;
    let faces = [face(1, 0, 2, 0), face(2, 1, 1, 20), face(3, 0, 2, 36), face(4, 1, 1, 52), two.encode()].concat();
    let light: Vec<u8> = (0..16 + 20 + 16 + 16 + 40_u8).map(|byte| byte & 0x7F).collect();
    let mut model = source::Model::decode(&[0; 48]).unwrap();
    model.face_count = 5;
    let mut texinfos = [source::TexInfo::decode(&[0; 72]).unwrap(); 2];
    texinfos[1].flags = BUMPED;
    let bytes = Builder::new(&dialect::SOURCE17)
        .lump(6, texinfos.map(|info| info.encode()).concat())
        .lump(7, faces)
        .lump(8, light)
        .lump(14, model.encode())
        .build()
        .unwrap();
    let map = Bsp::parse(&bytes).unwrap();
    let light = map.light().unwrap();
    let set = &light.sets()[0];
    assert_eq!((set.faults(), set.blocks().len()), (&[][..], 5));
    let stat = light.stat(0).unwrap();
    assert_eq!((stat.overlaps, stat.unowned), (0, 0));

    for (block, planes, in_lump) in [(0, 1, None), (1, 4, Some(16)), (2, 1, None), (3, 4, None), (4, 4, Some(68 + 4))] {
        assert_eq!(set.blocks()[block].planes(), planes);
        let image = Image { set: 0, block, style: 0, plane: 0 };
        let mut draft = map.draft();
        let light = draft.light().unwrap();
        let luxel = Luxel::Rgbe([200, 100, 50], 3);
        light.update(image, |_, _| luxel).unwrap();
        let [faces, lump] = [7, 8].map(|lump| draft.bytes(SlotId::Lump(lump)).unwrap());
        let light = draft.light().unwrap();
        let old = map.bytes(SlotId::Lump(8)).unwrap();
        let start = set.blocks()[block].bytes().start;
        // Neither average is the mean of the luxels; each changes by the factor of the mean.
        let luxels = set.blocks()[block].luxels();
        let linear = |bytes: &[u8]| Luxel::read(LuxelForm::Rgbe, bytes).linear();
        let mut mean = [0.0; 3];
        for light in old[start..start + 4 * luxels].chunks_exact(4).map(linear) {
            mean.iter_mut().zip(light).for_each(|(sum, part)| *sum += part / luxels as f64);
        }
        let follows = |read: &[u8], now: &[u8]| {
            for (part, now) in linear(now).into_iter().enumerate() {
                let wanted = linear(read)[part] * luxel.linear()[part] / mean[part];
                assert!((now / wanted - 1.0).abs() < 0.05, "face {block}: {wanted} is {now}");
            }
        };
        let read = map.bytes(SlotId::Lump(7)).unwrap();
        follows(&read[block * 104..], &faces[block * 104..]);
        match in_lump {
            Some(at) => follows(&old[at..], &lump[at..]),
            None => assert_eq!(lump[..start], old[..start], "face {block}"),
        }
        // Style by style, and the directions of each behind its light.
        if block == 4 {
            let image = Image { style: 1, plane: 2, ..image };
            assert_eq!(light.bytes(image).unwrap(), &old[start + (4 + 2) * 4..][..4]);
        }
        // No direction counts for the average.
        if planes == 4 {
            let mut draft = map.draft();
            draft.light().unwrap().update(Image { plane: 3, ..image }, |_, _| luxel).unwrap();
            assert_eq!(draft.changes().unwrap(), [SlotId::Lump(8)]);
        }
    }
}

/// A face of Source of two luxels, whose average is before them.
fn two_luxels(average: [u8; 4], luxels: [[u8; 4]; 2]) -> Bsp<'static> {
    let mut face = source::Face::decode(&[0; 56]).unwrap();
    face.styles = [0, 255, 255, 255];
    face.luxel_size = [1, 0];
    face.light_offset = 4;
    let mut model = source::Model::decode(&[0; 48]).unwrap();
    model.face_count = 1;
    let bytes = Builder::new(&dialect::SOURCE)
        .lump(6, [0; 72])
        .lump(7, face.encode())
        .lump(8, [average, luxels[0], luxels[1]].concat())
        .lump(14, model.encode())
        .build()
        .unwrap();
    Bsp::from_vec(bytes).unwrap()
}

const TWO: Image = Image { set: 0, block: 0, style: 0, plane: 0 };

/// The average of a compiler is often not the mean of the luxels. It is adjusted as they are.
#[test]
fn an_average_is_adjusted_as_the_luxels_are() {
    let luxels = [[200, 100, 0, 0], [100, 60, 0, 0]];
    for (average, twice, root) in [
        // Neither the mean nor near it.
        ([140, 140, 140, 0xFC], [140, 140, 140, 0xFD], [189, 189, 189, 0xFE]),
        // Of black luxels too.
        ([0, 0, 128, 0], [0, 0, 128, 1], [0, 0, 181, 0]),
    ] {
        for (luxels, name) in [(luxels, "light"), ([[0; 4]; 2], "black")] {
            for (adjustment, wanted) in [
                (Adjustment { gain: 2.0, ..Adjustment::default() }, twice),
                (Adjustment { gamma: 2.0, ..Adjustment::default() }, root),
            ] {
                let map = two_luxels(average, luxels);
                let mut draft = map.draft();
                draft.light().unwrap().adjust(&adjustment, |_, _, _| true).unwrap();
                let lump = draft.bytes(SlotId::Lump(8)).unwrap();
                assert_eq!(lump[..4], wanted, "{name} {average:?} {adjustment:?}");
            }
        }
    }
}

#[test]
fn an_average_follows_the_mean_of_changed_luxels() {
    let luxels = [[200, 100, 0, 0], [100, 60, 0, 0]];
    for (average, change, wanted) in [
        // Half as bright, with light where there was none.
        ([160, 160, 160, 0xFC], [[100, 50, 8, 0], [50, 30, 8, 0]], [5, 5, 18, 0]),
        // A part that does not change, also where the luxels have none of it.
        ([160, 160, 160, 0xFC], [[200, 50, 0, 0], [100, 30, 0, 0]], [10, 5, 10, 0]),
        // One that is far brighter than the luxels grows by as much light as these.
        ([240, 160, 0, 2], [[240, 120, 0, 0], [120, 72, 0, 0]], [247, 164, 0, 2]),
        // The mean, as precisely as it can be stored, is the mean again.
        ([150, 80, 0, 0], [[201, 100, 0, 0], [101, 61, 0, 0]], [151, 80, 0, 0]),
        ([151, 79, 0, 0], luxels, [151, 79, 0, 0]),
        // A little darker never is brighter.
        ([140, 140, 0, 0xFC], [[199, 100, 0, 0], [100, 60, 0, 0]], [139, 140, 0, 0xFC]),
    ] {
        let map = two_luxels(average, luxels);
        let mut draft = map.draft();
        let light = draft.light().unwrap();
        light
            .update(TWO, |[x, _], _| {
                let [red, green, blue, exponent] = change[x];
                Luxel::Rgbe([red, green, blue], exponent.cast_signed())
            })
            .unwrap();
        // The exponent is that of a largest part of 128 or more.
        let wanted = Luxel::Rgbe([wanted[0], wanted[1], wanted[2]], wanted[3].cast_signed()).linear();
        let now = light.average(TWO).unwrap().linear();
        for (now, wanted) in now.into_iter().zip(wanted) {
            assert!((now - wanted).abs() < 1.0 / 255.0 / 16.0 + 1e-9, "{average:?} {change:?}: {wanted} is {now}");
        }
        // Taken back, the average is as it was.
        light
            .update(TWO, |[x, _], _| {
                let [red, green, blue, exponent] = luxels[x];
                Luxel::Rgbe([red, green, blue], exponent.cast_signed())
            })
            .unwrap();
        assert!(draft.changes().unwrap().is_empty());
    }
}

/// Behind the luxels of each face stand one or four bytes a luxel more, as the flags say.
#[test]
fn bytes_behind_the_luxels_are_left_alone() {
    for (flags, extra) in [(0x02_u8, 0), (0x04, 1), (0x07, 1), (0x7C, 4), (0x7E, 4), (0x08, 0)] {
        let face = |offset: usize| {
            let mut face = source::Face::decode(&[0; 56]).unwrap();
            face.styles = [0, 255, 255, 255];
            face.luxel_size = [1, 2];
            face.light_offset = i32::try_from(offset).unwrap();
            face.encode()
        };
        let block = 4 + 6 * 4 + 6 * extra;
        let mut model = source::Model::decode(&[0; 48]).unwrap();
        model.face_count = 2;
        let bytes = Builder::new(&dialect::SOURCE21)
            .lump(6, [0; 72])
            .lump(7, [face(4), face(4 + block)].concat())
            .lump(8, vec![9; 2 * block])
            .lump(14, model.encode())
            .lump(59, [flags, 0, 0, 0])
            .build()
            .unwrap();
        let map = Bsp::parse(&bytes).unwrap();
        let mut draft = map.draft();
        let light = draft.light().unwrap();
        let stat = light.stat(0).unwrap();
        assert_eq!((stat.overlaps, stat.unowned, light.sets()[0].faults().len()), (0, 0, 0), "{flags:#x}");
        light.update(Image { set: 0, block: 0, style: 0, plane: 0 }, |_, _| Luxel::Rgbe([255; 3], 0)).unwrap();
        let lump = draft.bytes(SlotId::Lump(8)).unwrap();
        assert_eq!(lump[..28], [[255, 255, 255, 0]; 7].concat(), "{flags:#x}");
        assert!(lump[28..].iter().all(|byte| *byte == 9), "{flags:#x}");
    }
}

/// Corners that lie on the edge between two luxels, by a hair, in one precision and not in the other.
#[test]
fn sums_are_in_double_precision_and_then_rounded() {
    let luxels = |vector: [f32; 4], corner: [f32; 3], precision| {
        extents([[0.0; 3], corner], &[vector, [1.0, 0.0, 0.0, 0.0]], 4, precision).unwrap().luxels[0]
    };
    for (vector, corner, double, single) in [
        ([0.666_666_7, -0.333_333_34, 0.0, 168.0], [1768.0, -2008.0, 0.0], 117, 118),
        ([0.6, 0.8, 0.0, -152.0], [1928.0, -416.0, 0.0], 54, 53),
    ] {
        assert_eq!(luxels(vector, corner, Precision::Double), double);
        assert_eq!(luxels(vector, corner, Precision::Single), single);
    }
    // The engines' start values.
    assert_eq!(luxels([1.0, 0.0, 0.0, 0.0], [1e6, 0.0, 0.0], Precision::Double), 62_501);
    let far = [[1e6, 0.0, 0.0], [2e6, 0.0, 0.0]];
    let found = extents(far, &[[1.0, 0.0, 0.0, 0.0]; 2], 4, Precision::Double).unwrap();
    assert_eq!(found.luxel_mins, [62_499; 2]);
    assert_eq!(extents([], &[[1.0; 4]; 2], 4, Precision::Double), None);
}

/// A compiler that summed in single precision laid its blocks by that, and they are read so where they fit no other way.
#[test]
fn blocks_by_single_precision_are_found_where_they_fit_alone() {
    let map = |room: usize| {
        let luxels = |wide: usize| wide * 122 * 3;
        let mut texinfo = quake2::TexInfo::decode(&[0; 76]).unwrap();
        texinfo.vectors = [[0.6, 0.8, 0.0, -152.0], [1.0, 0.0, 0.0, 0.0]];
        let mut face = quake2::Face::decode(&[0; 20]).unwrap();
        (face.edge_count, face.styles) = (2, [0, 255, 255, 255]);
        let mut second = face;
        second.light_offset = i32::try_from(luxels(room)).unwrap();
        let point = |x: f32, y: f32| [x, y, 0.0].map(f32::to_le_bytes).concat();
        Builder::new(&dialect::QUAKE2)
            .lump(2, [point(0.0, 0.0), point(1928.0, -416.0)].concat())
            .lump(5, texinfo.encode())
            .lump(6, [face, second].map(|face| face.encode()).concat())
            .lump(7, vec![50; luxels(room) + luxels(54)])
            .lump(11, [0, 0, 0, 0, 0, 0, 1, 0])
            .lump(12, [1_i32, -1].map(i32::to_le_bytes).concat())
            .build()
            .unwrap()
    };
    for (room, wide, single) in [(53, 53, true), (54, 54, false)] {
        let bytes = map(room);
        let light = Bsp::parse(&bytes).unwrap().light().unwrap();
        let set = &light.sets()[0];
        assert_eq!((set.faults(), set.blocks()[0].size()), (&[][..], [wide, 122]));
        assert_eq!(set.blocks()[0].is_in_single_precision(), single);
        assert_eq!(set.blocks()[1].size(), [54, 122]);
        assert_eq!(light.stat(0).unwrap().overlaps, 0);
    }
}

/// Pages of directions follow pages of light, as q3map2 writes them for engines with bumps: no surface names them.
#[test]
fn directions_are_no_light() {
    let map = Bsp::open("tests/maps/q3/own_rooms.bsp").unwrap();
    let slot = map.slot("LIGHTMAPS").unwrap().id;
    let page = map.bytes(slot).unwrap()[..128 * 128 * 3].to_vec();
    let with = |second: Vec<u8>| {
        let mut draft = map.draft();
        draft.set(slot, [page.clone(), second].concat()).unwrap();
        Bsp::from_vec(draft.plan(bspkit::Layout::Keep).unwrap().to_vec()).unwrap()
    };
    let gain = Adjustment { gain: 0.5, ..Adjustment::default() };
    let adjusted = |map: &Bsp<'_>| {
        let mut draft = map.draft();
        draft.light().unwrap().adjust(&gain, |_, _, _| true).unwrap();
        draft.bytes(slot).unwrap()[page.len()..].to_vec()
    };
    // Up, along an axis at an angle, and luxels that no surface has.
    let directions = [[128, 128, 255], [218, 128, 218], [0, 0, 0], [127, 127, 127]].concat().repeat(128 * 32);
    let deluxe = with(directions.clone());
    let stat = deluxe.light().unwrap().stat(0).unwrap();
    assert_eq!((stat.directions, stat.styles[&0].faces, stat.unowned), (1, 1, 0));
    assert!(adjusted(&deluxe) == directions);
    // Another page of light, an empty one, and one of bright red.
    for other in [page.clone(), vec![0; page.len()], [255, 0, 0].repeat(128 * 128)] {
        let plain = with(other.clone());
        assert_eq!(plain.light().unwrap().stat(0).unwrap().directions, 0);
        assert!(adjusted(&plain) != other || other.iter().all(|byte| *byte == 0));
    }
}

/// Pages of Raven's games have the style of the surfaces that name them; of several the least, which is said.
#[test]
fn pages_have_the_styles_of_their_surfaces() {
    let surface = |pages: [i32; 4], styles: [u8; 4]| {
        let mut surface = raven::Surface::decode(&[0; 148]).unwrap();
        (surface.lightmap, surface.lightmap_styles) = (pages, styles);
        surface
    };
    let surfaces = [
        surface([0, 1, -1, -1], [0, 32, 255, 255]),
        surface([3, 2, 2, -1], [0, 33, 34, 255]),
        surface([0, 1, 3, -3], [0, 32, 254, 255]),
    ];
    let bytes = Builder::new(&dialect::RAVEN).table(raven::SURFACES, &surfaces).unwrap();
    let bytes = bytes.role(dialect::Role::Lighting, vec![9; 5 * 128 * 128 * 3]).unwrap().build().unwrap();
    let map = Bsp::parse(&bytes).unwrap();
    let light = map.light().unwrap();
    let blocks = light.sets()[0].blocks();
    let found: Vec<_> = blocks.iter().map(|page| (page.styles().to_vec(), page.has_several_styles())).collect();
    let expected = [(0, false), (32, false), (33, true), (0, false), (0, false)];
    assert_eq!(found, expected.map(|(style, several)| (vec![style], several)));
    assert_eq!(light.stat(0).unwrap().mixed, 1);
}
