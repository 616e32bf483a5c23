//! Light with luxels of other sizes and with more styles: `LMSHIFT`, `LMOFFSET`, `LMSTYLE` and `LMSTYLE16` of BSPX. The
//! sizes here are computed from the edges of the faces by a rule of the test.

use bspkit::content::lightmap::{Adjustment, Image, Light, LightFaultKind};
use bspkit::dialect::{self, quake};
use bspkit::{Bsp, Builder, Layout, SlotId};

use super::fixture;

const LIGHTING: usize = 8;
const FACES: usize = 7;

/// The columns and rows of a face's light with luxels of this many texels.
fn size(map: &Bsp<'_>, face: &dialect::shared::Face, texels: f64) -> [usize; 2] {
    let (edges, surf_edges) = (map.table(quake::EDGES).unwrap(), map.table(quake::SURFEDGES).unwrap());
    let (vertexes, texinfo) = (map.table(quake::VERTEXES).unwrap(), map.table(quake::TEXINFO).unwrap());
    let vectors = texinfo.get(usize::try_from(face.texinfo).unwrap()).unwrap().vectors;
    let first = usize::try_from(face.first_edge).unwrap();
    let corners: Vec<[f32; 3]> = (first..first + usize::try_from(face.edge_count).unwrap())
        .map(|at| {
            let edge = surf_edges.get(at).unwrap().edge;
            let ends = edges.get(usize::try_from(edge.abs()).unwrap()).unwrap().vertexes;
            vertexes.get(ends[usize::from(edge < 0)].into()).unwrap().point
        })
        .collect();
    [0, 1].map(|axis| {
        let along = |corner: &[f32; 3]| -> f64 {
            let sum: f64 = (0..3).map(|part| f64::from(corner[part]) * f64::from(vectors[axis][part])).sum();
            sum + f64::from(vectors[axis][3])
        };
        let places: Vec<f64> = corners.iter().map(|corner| along(corner) / texels).collect();
        let least = places.iter().copied().fold(f64::INFINITY, f64::min).floor();
        let most = places.iter().copied().fold(f64::NEG_INFINITY, f64::max).ceil();
        format!("{}", most - least + 1.0).parse().unwrap()
    })
}

/// The fixture of Quake whose lit faces have blocks of these sizes at the end of the lump, and what the entries are.
struct Made {
    bytes: Vec<u8>,
    /// The face, the place of its block and its columns and rows.
    blocks: Vec<(usize, usize, [usize; 2])>,
}

/// `texels` is the size of a luxel, `styles` how many each lit face has. With `LMOFFSET` the light of the faces stays.
fn made(texels: u8, styles: u8, has_offsets: bool, is_wide: bool) -> Made {
    let map = fixture("q1/own_rooms");
    let faces = map.table(quake::FACES).unwrap();
    let lit: Vec<usize> = map.light().unwrap().sets()[0].blocks().iter().map(|block| block.index()).collect();
    let old = map.bytes(map.slot("LIGHTING").unwrap().id).unwrap().to_vec();
    let mut light = if has_offsets { old } else { Vec::new() };
    let (mut records, mut offsets, mut blocks) = (Vec::new(), Vec::new(), Vec::new());
    let mut own_styles: Vec<u16> = Vec::new();
    for (index, mut face) in faces.iter().enumerate() {
        let start = i32::try_from(light.len()).unwrap();
        let is_lit = lit.contains(&index);
        if is_lit {
            let [wide, high] = size(&map, &face, texels.into());
            blocks.push((index, light.len(), [wide, high]));
            light.extend((0..wide * high * usize::from(styles)).map(|at| 20 + u8::try_from(at % 60).unwrap()));
        }
        offsets.extend(if is_lit { start } else { -1 }.to_le_bytes());
        own_styles.extend((0..8).map(|at| if is_lit && at < u16::from(styles) { 40 + at } else { u16::MAX }));
        if !has_offsets {
            face.light_offset = if is_lit { start } else { -1 };
        }
        records.push(face);
    }
    let mut builder = Builder::new(&dialect::QUAKE);
    for slot in map.slots().iter().filter(|slot| !slot.stored.is_empty()) {
        let SlotId::Lump(lump) = slot.id else { continue };
        builder = builder.lump(lump, map.bytes(slot.id).unwrap().to_vec());
    }
    builder = builder.lump(LIGHTING, light);
    builder = builder.lump(FACES, records.iter().flat_map(bspkit::record::Record::encode).collect::<Vec<u8>>());
    builder = builder.bspx("LMSHIFT", vec![texels.ilog2().try_into().unwrap(); faces.len()]);
    if has_offsets {
        builder = builder.bspx("LMOFFSET", offsets);
    }
    let narrow = |style: &u16| u8::try_from(*style).unwrap_or(255);
    builder = match is_wide {
        true => builder.bspx("LMSTYLE16", own_styles.iter().flat_map(|style| style.to_le_bytes()).collect::<Vec<u8>>()),
        false => builder.bspx("LMSTYLE", own_styles.iter().map(narrow).collect::<Vec<u8>>()),
    };
    Made { bytes: builder.build().unwrap(), blocks }
}

/// The place, the size and the number of styles of each block of a set.
fn placed(light: &Light<'_>, name: &str) -> Vec<(usize, usize, [usize; 2], usize)> {
    let set = light.sets().iter().find(|set| set.name() == name).unwrap();
    assert_eq!(set.faults(), []);
    set.blocks().iter().map(|it| (it.index(), it.bytes().start, it.size(), it.styles().len())).collect()
}

#[test]
fn light_of_other_sizes_and_styles_is_found() {
    for (texels, styles, has_offsets, is_wide) in
        [(8, 1, true, false), (8, 6, false, false), (32, 2, false, true), (4, 3, true, true), (16, 6, false, true)]
    {
        let made = made(texels, styles, has_offsets, is_wide);
        let map = Bsp::parse(&made.bytes).unwrap();
        let light = map.light().unwrap();
        let expected: Vec<_> = made.blocks.iter().map(|(face, at, size)| (*face, *at, *size, styles.into())).collect();
        let name = if has_offsets { "scaled" } else { "" };
        assert_eq!(placed(&light, name), expected, "{texels} {styles}");
        let names: Vec<_> = light.sets().iter().map(|set| (set.name(), set.placed_by())).collect();
        if has_offsets {
            assert_eq!(names, [("", "FACES"), ("scaled", "bspx:LMOFFSET")]);
            // The light of the faces is for readers that know nothing of this.
            let old = fixture("q1/own_rooms");
            assert_eq!(placed(&light, ""), placed(&old.light().unwrap(), ""));
        } else {
            assert_eq!(names, [("", "FACES")]);
        }
        let number = light.sets().len() - 1;
        // Gaps between the blocks of the faces.
        let gaps = if has_offsets { fixture("q1/own_rooms").light().unwrap().stat(0).unwrap().unowned } else { 0 };
        assert_eq!(light.stat(number).unwrap().unowned, gaps);
        let block = &light.sets()[number].blocks()[0];
        assert_eq!(block.styles(), (40..40 + u16::from(styles)).collect::<Vec<_>>());
        assert_eq!(block.shift(), u8::try_from(texels.ilog2()).unwrap());
    }
}

#[test]
fn an_adjustment_changes_all_luxels_of_all_sizes_once() {
    for has_offsets in [false, true] {
        let made = made(8, 6, has_offsets, false);
        let map = Bsp::parse(&made.bytes).unwrap();
        let mut draft = map.draft();
        let twice = Adjustment { gain: 2.0, gamma: 1.0, tint: [1.0; 3] };
        draft.light().unwrap().adjust(&twice, |_, _, _| true).unwrap();
        let saved = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
        let [old, new] = [&map, &saved].map(|map| map.bytes(map.slot("LIGHTING").unwrap().id).unwrap().to_vec());
        let light = map.light().unwrap();
        let mut is_owned = vec![false; old.len()];
        light.sets().iter().flat_map(|set| set.blocks()).for_each(|block| is_owned[block.bytes()].fill(true));
        // Twice the light, by the curve of the luxels: the same byte becomes the same.
        let mut became = [None; 256];
        for ((old, new), is_owned) in old.iter().zip(&new).zip(is_owned) {
            if !is_owned {
                assert_eq!(old, new, "{has_offsets}");
                continue;
            }
            assert_eq!(became[usize::from(*old)].get_or_insert(*new), new, "{old} {has_offsets}");
            assert!(!(8..255).contains(old) || new > old, "{old} {new} {has_offsets}");
        }
    }
}

/// Engines leave out an entry that is not for as many faces as the map has; light with more styles than they read is a
/// fault.
#[test]
fn entries_that_do_not_fit_do_not_count() {
    let made = made(8, 1, true, false);
    let map = Bsp::parse(&made.bytes).unwrap();
    for (name, length) in [("bspx:LMOFFSET", 8), ("bspx:LMSHIFT", 3), ("bspx:LMSTYLE", 5)] {
        let mut draft = map.draft();
        draft.set(map.slot(name).unwrap().id, vec![3; length]).unwrap();
        let odd = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
        let light = odd.light().unwrap();
        let set = light.sets().last().unwrap();
        let image = Image { set: light.sets().len() - 1, block: 0, style: 0, plane: 0 };
        let (shift, styles) = (set.blocks()[0].shift(), light.block(image).unwrap().styles()[0]);
        match name {
            "bspx:LMOFFSET" => assert_eq!(light.sets().len(), 1),
            "bspx:LMSHIFT" => assert_eq!(shift, 4),
            _ => assert_eq!((shift, styles < 40), (3, true)),
        }
    }
    let faces = map.table(quake::FACES).unwrap().len();
    let mut draft = map.draft();
    draft.set(map.slot("bspx:LMSTYLE").unwrap().id, vec![3; 17 * faces]).unwrap();
    let odd = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
    let light = odd.light().unwrap();
    let faults = light.sets()[1].faults();
    assert!(!faults.is_empty() && faults.iter().all(|fault| fault.kind == LightFaultKind::Styles(17)), "{faults:?}");
}
