//! Indices and numbers that no map has: what takes one says that there is no such thing, and nothing panics. On the
//! fixtures, which have each dialect and each lens.

use std::path::Path;

use bspkit::content::bspx::{BrushList, LightOctrees};
use bspkit::content::disp::{LightmapAlphas, SamplePositions};
use bspkit::content::lightgrid::LightGrid;
use bspkit::content::lightmap::{Image, Light, Luxel};
use bspkit::content::outlines::Outlines;
use bspkit::content::physics::{PhysDisp, Physics};
use bspkit::content::texdata::TextureStrings;
use bspkit::content::textures::Textures;
use bspkit::content::tree::{LeafBrushes, Tree, range, ranges};
use bspkit::content::visibility::{VisSet, Visibility};
use bspkit::{Bsp, Draft};

use crate::corpus;

/// Indices past a list of this length, and those at which sums and products overflow.
fn indices(len: usize) -> Vec<usize> {
    let far = [4, 8, 12, 16, 20, 32, 64].map(|size| usize::MAX / size);
    [len, len + 1, usize::MAX / 2, usize::MAX - 1, usize::MAX].into_iter().chain(far).filter(|at| *at >= len).collect()
}

/// Numbers at which conversions and sums overflow.
const NUMBERS: [i64; 10] =
    [i64::MIN, i64::MIN + 1, -1 << 32, -(1 << 31), -1, 0, (1 << 31) - 1, 1 << 32, i64::MAX - 1, i64::MAX];

/// Calls a function with each fixture; returns for how many it had something to look at.
fn each(look: impl Fn(&Bsp<'static>) -> Option<()>) -> usize {
    let maps = corpus::under(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/maps"));
    maps.iter().filter_map(|path| look(&Bsp::open(path).unwrap())).count()
}

/// The same with a draft of it.
fn each_draft(look: impl Fn(&mut Draft<'static>) -> Option<()>) -> usize {
    each(|map| look(&mut map.draft()))
}

#[test]
fn records_and_columns() {
    let seen = each(|map| {
        let links = map.links().ok()?;
        for records in links.sites.iter().filter_map(|site| map.records(site.name.as_str()).ok()) {
            for at in indices(records.len()) {
                assert_eq!((records.get(at), records.place(at)), (None, None));
                for field in records.info().fields {
                    let Ok(column) = records.column(field.name) else { continue };
                    let numbers = (column.get(at), column.item(at, at), column.float(at, at), column.floats(at, at));
                    assert_eq!(numbers, (0, 0, 0.0, [0.0, 0.0]));
                    let item = at.max(column.items());
                    assert_eq!((column.item(0, item), column.floats(0, item)), (0, [0.0, 0.0]));
                    let _ = (column.index(at), column.below(at, at), column.at(at));
                }
            }
        }
        Some(())
    });
    assert!(seen > 20, "{seen}");
}

#[test]
fn references() {
    let seen = each(|map| {
        let links = map.links().ok()?;
        for site in &links.sites {
            for at in indices(site.len()) {
                assert!(site.record(at).is_empty());
                let _ = links.shares(at);
                for word in
                    site.record.fields.iter().filter_map(|field| bspkit::links::Word::of(field.offset, field.shape))
                {
                    site.numbers(word, [at].into_iter(), |_, _, _| panic!("there is no such record"));
                    for number in NUMBERS {
                        site.outside(word, number..i64::MAX, &mut |_, _, _| {});
                    }
                }
            }
            assert!(site.opposite(&[]).is_none_or(|record| record.is_empty()));
            assert!(!site.is_against_axis(&[]));
        }
        for link in &links.links {
            let Some(site) = links.sites.get(link.from) else { continue };
            for len in [0, 1, usize::MAX / 2, usize::MAX] {
                let _ = (link.named(&[], len), link.stated(&[], len), link.indices(len));
                let _ = (link.named(site.record(0), len), link.stated(site.record(0), len));
                for number in NUMBERS {
                    let _ = (link.states(number, site.record(0), len), link.good(number));
                    let mut record = site.record(0).to_vec();
                    let _ = (link.put(&mut record, number, len), link.put(&mut [], number, len));
                }
            }
        }
        Some(())
    });
    assert!(seen > 20, "{seen}");
    for number in NUMBERS {
        for other in NUMBERS {
            let _ = range(number, other, usize::MAX);
        }
    }
}

#[test]
fn trees_and_outlines() {
    let seen = each(|map| {
        let tree = Tree::read(map).ok()?;
        let models = map.records("models").ok()?;
        for at in indices(tree.models()) {
            assert_eq!(tree.head(at), None);
            assert!(tree.leafs_of(at, &mut tree.unseen()).is_empty());
        }
        for number in NUMBERS {
            let _ = (tree.node(number), tree.leaf(number));
        }
        let _ = ranges(&models, "first_face", "face_count", usize::MAX);
        if let Some(brushes) = LeafBrushes::read(map) {
            assert!(indices(map.records("leafs").ok()?.len()).into_iter().all(|at| brushes.of(at).is_empty()));
        }
        let outlines = Outlines::read(map);
        for at in indices(outlines.world().end.max(1 << 20)) {
            assert_eq!(outlines.model(at), 0..0);
            assert!(outlines.face(at).is_none_or(|lines| lines.is_empty()));
        }
        if let Ok(polygons) = map.polygons() {
            assert!(indices(polygons.len()).into_iter().all(|at| polygons.get(at).is_err()));
        }
        Some(())
    });
    assert!(seen > 10, "{seen}");
}

#[test]
fn light() {
    let seen = each_draft(|draft| {
        let map = draft.bsp().clone();
        let light = map.lens::<Light>().ok()?;
        let count = map.drawn_faces().map_or(1 << 20, |faces| faces.len());
        let edited = draft.edit::<Light>().ok()?;
        for at in indices(count.max(8)) {
            let images = [
                Image { set: at, block: 0, style: 0, plane: 0 },
                Image { set: 0, block: at, style: 0, plane: 0 },
                Image { set: 0, block: 0, style: at, plane: 0 },
                Image { set: 0, block: 0, style: 0, plane: at },
                Image { set: at, block: at, style: at, plane: at },
            ];
            for image in images {
                assert_eq!((light.bytes(image), light.luxel(image, [0, 0]), light.average(image)), (None, None, None));
                assert!(edited.update(image, |_, luxel| luxel).is_err());
                assert!(edited.set(image, [0, 0], Luxel::Grey(0)).is_err());
            }
        }
        for at in indices(1 << 20) {
            let first = Image { set: 0, block: 0, style: 0, plane: 0 };
            for place in [[at, 0], [0, at], [at, at]] {
                assert_eq!(light.luxel(first, place), None);
                assert!(edited.set(first, place, Luxel::Grey(0)).is_err());
            }
            assert!(light.sets().iter().all(|set| set.block_of(at).is_none()) && light.stat(at).is_none());
        }
        Some(())
    });
    assert!(seen > 10, "{seen}");
}

#[test]
fn grids_and_octrees() {
    let seen = each_draft(|draft| {
        let map = draft.bsp().clone();
        let mut found = None;
        if let Ok(grid) = map.lens::<LightGrid>() {
            let edited = draft.edit::<LightGrid>().unwrap();
            for at in indices(grid.len()) {
                assert!(grid.get(at).is_err() && edited.set(at, [0; 8]).is_err());
                assert_eq!((grid.place(at), grid.index([at; 3]), grid.position([at; 3])), (None, None, None));
            }
            found = Some(());
        }
        if let Ok(trees) = map.lens::<LightOctrees>() {
            for tree in trees.iter() {
                for at in indices(tree.len()) {
                    assert!(tree.leaf(at).is_none());
                    assert_eq!(tree.leaf_points(at).count(), 0);
                }
                for cell in [u32::MAX, u32::MAX / 2, 1 << 31] {
                    let _ = (tree.at([cell, 0, 0]), tree.at([0, cell, 0]), tree.at([cell; 3]));
                }
            }
        }
        if let Ok(list) = map.lens::<BrushList>() {
            for at in indices(list.len()) {
                assert!(list.model(at).is_none() && list.brushes(at).next().is_none());
            }
        }
        found
    });
    assert!(seen > 0, "{seen}");
}

#[test]
fn visibility() {
    let seen = each_draft(|draft| {
        let map = draft.bsp().clone();
        let vis = map.lens::<Visibility>().ok()?;
        let edited = draft.edit::<Visibility>().ok()?;
        for at in indices(vis.len()) {
            assert!(vis.sees(at, 0).is_err() && vis.sees(0, at).is_err() && vis.hears(at, at).is_err());
            for set in [VisSet::Pvs, VisSet::Phs] {
                assert!(vis.row(set, at).is_err() && vis.extent(set, at).is_err() && vis.start(set, at).is_err());
                assert!(edited.set(set, at, 0, true).is_err() && edited.set(set, 0, at, true).is_err());
            }
            if let Ok(Some(mut row)) = vis.row(VisSet::Pvs, 0) {
                assert!(!row.sees(at) && row.set(at, true).is_err());
                assert!(edited.set_row(VisSet::Pvs, at, row).is_err());
            }
        }
        Some(())
    });
    assert!(seen > 5, "{seen}");
}

#[test]
fn textures_and_names() {
    let seen = each_draft(|draft| {
        let map = draft.bsp().clone();
        let mut found = None;
        if let Ok(textures) = map.lens::<Textures>() {
            let edited = draft.edit::<Textures>().unwrap();
            for at in indices(textures.len()) {
                assert!(textures.get(at).is_err() && textures.extent(at).is_none() && textures.name(at).is_none());
                assert!(edited.rename(at, b"x").is_err() && edited.strip(at).is_err());
                assert!(edited.set_level(at, 0, &[]).is_err() && edited.set_level(0, at, &[]).is_err());
                assert!(edited.replace(at, Vec::new()).is_err());
                if let Ok(Some(texture)) = textures.get(0) {
                    assert!(texture.pixels(at).is_none() && texture.with_level(at, &[]).is_err());
                }
            }
            found = Some(());
        }
        if let Ok(strings) = map.lens::<TextureStrings>() {
            let edited = draft.edit::<TextureStrings>().unwrap();
            assert!(
                indices(strings.len())
                    .into_iter()
                    .all(|at| strings.get(at).is_err() && edited.rename(at, "x").is_err())
            );
            found = Some(());
        }
        found
    });
    assert!(seen > 5, "{seen}");
}

#[test]
fn solids_and_displacements() {
    let seen = each_draft(|draft| {
        let map = draft.bsp().clone();
        let mut found = None;
        if let Ok(physics) = map.lens::<Physics>() {
            let edited = draft.edit::<Physics>().unwrap();
            for at in indices(physics.len()) {
                assert!(physics.model(at).is_err() && physics.solids(at).is_err() && physics.text(at).is_err());
                assert!(edited.set_text(at, "x").is_err());
            }
            found = Some(());
        }
        if let Ok(disps) = map.lens::<PhysDisp>() {
            assert!(indices(disps.len()).into_iter().all(|at| disps.get(at).is_none()));
        }
        if let Ok(samples) = map.lens::<SamplePositions>() {
            for at in indices(1 << 20) {
                assert!(samples.extent(at, at).is_err() && samples.extent(0, at).is_err());
                assert!(samples.block(at, 2).next().is_none_or(|sample| sample.is_err()));
            }
        }
        if let Ok(alphas) = map.lens::<LightmapAlphas>() {
            let edited = draft.edit::<LightmapAlphas>().unwrap();
            for at in indices(1 << 20) {
                assert!(alphas.block(at, 1).is_err() && alphas.block(0, at).is_err() && alphas.block(at, at).is_err());
                assert!(edited.set(at, at, 0).is_err() && edited.set(0, at, 0).is_err());
            }
        }
        found
    });
    assert!(seen > 0, "{seen}");
}

#[test]
fn entities_and_files() {
    let seen = each_draft(|draft| {
        let len = draft.bsp().entities().ok()?.len();
        for at in indices(len) {
            let entities = draft.entities().unwrap();
            assert!(entities.get(at).is_none() && entities.get_mut(at).is_err() && entities.origin(at).is_none());
            assert!(entities.duplicate(at).is_err() && entities.duplicate_all(&[0, at]).is_err());
            assert!(entities.remove(at).is_err() && entities.remove_all(&[at]).is_err());
            assert!(entities.move_before(at, 0).is_err() && entities.move_after(0, at).is_err());
            assert!(
                entities.reorder(&[at]).is_err() && entities.text_like(at, &[]).is_ok(),
                "it has a style of its own"
            );
            assert_eq!(entities.len(), len);
        }
        if let Ok(pak) = draft.pak() {
            for at in indices(pak.len()) {
                assert!(
                    pak.get(at).is_none() && pak.replace(at, b"".to_vec()).is_err() && pak.rename(at, "x").is_err()
                );
                assert!(pak.remove(&[at]).is_err() && pak.arrange(&[at]).is_err());
                assert!(pak.store(&[at], 1).is_err() && pak.check_total_size(&[at]).is_ok());
            }
        }
        Some(())
    });
    assert!(seen > 20, "{seen}");
}

#[test]
fn structure() {
    let seen = each_draft(|draft| {
        let map = draft.bsp().clone();
        for site in &map.links().ok()?.sites {
            for at in indices(site.len()) {
                assert!(draft.references_of(&site.name, at).is_err(), "{} {at}", site.name);
                assert!(draft.reference_tree(&site.name, at, usize::MAX, usize::MAX).is_err(), "{} {at}", site.name);
            }
        }
        Some(())
    });
    assert!(seen > 20, "{seen}");
}
