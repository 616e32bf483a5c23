//! What becomes of numbers whose records go, and lists whose order has a meaning: one map for each fact, and the other
//! way to do the same.

use bspkit::dialect::{
    MOHAA, QUAKE3, RAVEN, Role, SOURCE17, bsp2, goldsrc, mohaa, quake, quake2, quake3, raven, source, source17,
    source21,
};
use bspkit::record::Record;
use bspkit::{Bsp, Builder, Draft, ErrorKind, SlotId, Splice};

use super::maps::saved;
use super::shuffle::model_brushes;

fn blank<R: Record>() -> R {
    R::read(&vec![0; R::SIZE])
}

fn bytes<R: Record>(records: &[R]) -> Vec<u8> {
    let mut bytes = vec![0; records.len() * R::SIZE];
    records.iter().zip(bytes.chunks_exact_mut(R::SIZE)).for_each(|(record, bytes)| record.write(bytes));
    bytes
}

fn source_room() -> Bsp<'static> {
    Bsp::open("tests/maps/source/room_v20.bsp").unwrap()
}

fn remove(draft: &mut Draft<'_>, list: &str, record: usize, cascade: bool) -> Result<(), String> {
    let done = draft.structure().cascade(cascade).remove(&[(list, &[record])]);
    done.map(|_| ()).map_err(|error| {
        assert_eq!(error.kind(), ErrorKind::Refused, "{error:?}");
        error.to_string()
    })
}

/// No engine reads the surface that a side names, and unused ones have any number.
#[test]
fn sides_forget_a_surface_that_goes() {
    let side = |surface| raven::BrushSide { surface, ..blank() };
    let map = Builder::new(&RAVEN)
        .role(Role::Entities, "{\n\"classname\" \"worldspawn\"\n}\n\0")
        .and_then(|map| map.table(raven::SHADERS, &[blank()]))
        .and_then(|map| map.table(raven::PLANES, &[blank(); 2]))
        .and_then(|map| map.table(raven::SURFACES, &[blank(); 3]))
        .and_then(|map| map.table(raven::BRUSHSIDES, &[0, 1, -1, 2, 12_345, 0].map(side)))
        .and_then(|map| map.table(raven::BRUSHES, &[quake3::Brush { side_count: 6, ..blank() }]))
        .and_then(|map| map.table(raven::MODELS, &[quake3::Model { surface_count: 3, brush_count: 1, ..blank() }]));
    let map = Bsp::from_vec(map.unwrap().build().unwrap()).unwrap();
    for cascade in [false, true] {
        let mut draft = map.draft();
        remove(&mut draft, "SURFACES", 0, cascade).unwrap();
        let after = saved(&draft);
        let surfaces: Vec<i32> = after.table(raven::BRUSHSIDES).unwrap().iter().map(|side| side.surface).collect();
        assert_eq!(surfaces, [-1, 0, -1, 1, 12_345, -1]);
        assert_eq!(after.table(raven::BRUSHES).unwrap().len(), 1);
        assert_eq!(after.table(raven::MODELS).unwrap().get(0).unwrap().surface_count, 2);
    }
}

/// What names nothing after the edit is said.
#[test]
fn numbers_that_name_nothing_now_are_said() {
    let map = Bsp::open("tests/maps/q2/own_rooms.bsp").unwrap();
    let removed = map.draft().structure().cascade(true).remove(&[("TEXINFO", &[9])]).unwrap();
    assert_eq!(removed.warnings, ["BRUSHSIDES.texinfo of 2 records named what is removed, and names nothing now"]);
    let room = source_room();
    let brush = room.draft().structure().cascade(true).remove(&[("BRUSHES", &[0])]).unwrap();
    assert_eq!(brush.warnings, [""; 0]);
}

/// A fog without a brush is a map that Quake III refuses, so the fog goes with its brush; surfaces can be without fog.
#[test]
fn a_fog_goes_with_its_brush() {
    let map = Builder::new(&QUAKE3)
        .role(Role::Entities, "{\n\"classname\" \"worldspawn\"\n}\n\0")
        .and_then(|map| map.table(quake3::SHADERS, &[blank()]))
        .and_then(|map| map.table(quake3::PLANES, &[blank(); 2]))
        .and_then(|map| map.table(quake3::SURFACES, &[quake3::Surface { fog: 0, ..blank() }]))
        .and_then(|map| map.table(quake3::BRUSHSIDES, &[blank(); 6]))
        .and_then(|map| map.table(quake3::BRUSHES, &[quake3::Brush { side_count: 6, ..blank() }]))
        .and_then(|map| map.table(quake3::FOGS, &[quake3::Fog { brush: 0, ..blank() }]))
        .and_then(|map| map.table(quake3::MODELS, &[quake3::Model { surface_count: 1, brush_count: 1, ..blank() }]));
    let map = Bsp::from_vec(map.unwrap().build().unwrap()).unwrap();
    assert!(remove(&mut map.draft(), "BRUSHES", 0, false).unwrap_err().contains("FOGS[0].brush"));
    let mut draft = map.draft();
    remove(&mut draft, "BRUSHES", 0, true).unwrap();
    let after = saved(&draft);
    assert_eq!(after.table(quake3::FOGS).unwrap().len(), 0);
    assert_eq!(after.table(quake3::SURFACES).unwrap().get(0).unwrap().fog, -1);
}

/// The sides of a brush go with it, unless a brush needs them that the same edit adds.
#[test]
fn parts_stay_for_a_whole_that_is_added() {
    let brush = |first_side| quake3::Brush { first_side, side_count: 6, ..blank() };
    let map = Builder::new(&QUAKE3)
        .role(Role::Entities, "{\n\"classname\" \"worldspawn\"\n}\n\0")
        .and_then(|map| map.table(quake3::SHADERS, &[blank()]))
        .and_then(|map| map.table(quake3::PLANES, &[blank(); 2]))
        .and_then(|map| map.table(quake3::BRUSHSIDES, &[blank(); 12]))
        .and_then(|map| map.table(quake3::BRUSHES, &[brush(0), brush(6)]))
        .and_then(|map| map.table(quake3::MODELS, &[quake3::Model { brush_count: 2, ..blank() }]));
    let map = Bsp::from_vec(map.unwrap().build().unwrap()).unwrap();
    for (added, sides) in
        [(None, 6), (Some(brush(0)), 6), (Some(brush(6)), 12), (Some(quake3::Brush { side_count: 4, ..brush(8) }), 10)]
    {
        let new = Splice { range: 1..1, records: added.map_or_else(Vec::new, |brush| bytes(&[brush])) };
        let gone = Splice { range: 1..2, records: Vec::new() };
        let mut draft = map.draft();
        draft.structure().splice_lists(vec![("BRUSHES", vec![new, gone])]).unwrap();
        let after = saved(&draft);
        assert_eq!(after.table(quake3::BRUSHSIDES).unwrap().len(), sides, "{added:?}");
        assert_eq!(after.table(quake3::BRUSHES).unwrap().len(), 1 + usize::from(added.is_some()));
    }
}

/// A face without its primitives is drawn as a fan of its corners.
#[test]
fn faces_can_be_without_primitives() {
    let map = source_room();
    let mut draft = map.draft();
    let primitive = |first_index: u16| source::Primitive { first_index, index_count: 3, ..blank() };
    draft.set(SlotId::Lump(37), bytes(&[primitive(0), primitive(3), primitive(6)])).unwrap();
    draft.set(SlotId::Lump(39), bytes(&[blank::<source::PrimIndex>(); 9])).unwrap();
    for (face, first, count) in [(1, 0, 2), (2, 2, 0x8001_u16)] {
        for faces in [source::FACES, source::FACES_HDR] {
            draft.update(faces, face, |face| (face.first_primitive, face.primitive_count) = (first, count)).unwrap();
        }
    }
    let map = saved(&draft);
    let faces = map.table(source::FACES).unwrap().len();
    assert!(remove(&mut map.draft(), "PRIMITIVES", 0, false).unwrap_err().contains("FACES[1].first_primitive"));
    let mut draft = map.draft();
    remove(&mut draft, "PRIMITIVES", 0, true).unwrap();
    let after = saved(&draft);
    for key in [source::FACES, source::FACES_HDR] {
        let table = after.table(key).unwrap();
        assert_eq!((table.len(), table.get(1).unwrap().primitive_count), (faces, 0));
        let other = table.get(2).unwrap();
        assert_eq!((other.first_primitive, other.primitive_count), (0, 0x8001));
    }
    // The other primitive of the face and their indices went too.
    assert_eq!(after.table(source::PRIMITIVES).unwrap().len(), 1);
    assert_eq!(after.table(source::PRIMINDICES).unwrap().len(), 3);
    // The index of a triangle is needed by its primitive, and that not by its face; flags of the count stay.
    let mut draft = map.draft();
    remove(&mut draft, "PRIMINDICES", 7, true).unwrap();
    let other = saved(&draft).table(source::FACES).unwrap().get(2).unwrap();
    assert_eq!(other.primitive_count, 0x8000);
}

/// Samples of light are a set; without any the number is that of another leaf, which is 0 for none.
#[test]
fn leafs_can_be_without_light() {
    let map = source_room();
    let index: Vec<_> = map.table(source::LEAF_AMBIENT_INDEX).unwrap().iter().collect();
    let lit = index.iter().position(|leaf| leaf.count == 1).unwrap();
    let sample = usize::from(index[lit].first);
    let mut draft = map.draft();
    // Leafs beside it borrow its light.
    let borrowed = index.len() - 1;
    draft
        .update(source::LEAF_AMBIENT_INDEX, borrowed, |leaf| {
            (leaf.count, leaf.first) = (0, u16::try_from(lit).unwrap());
        })
        .unwrap();
    let map = saved(&draft);
    let mut draft = map.draft();
    remove(&mut draft, "LEAF_AMBIENT_LIGHTING", sample, false).unwrap();
    let after = saved(&draft);
    let table = after.table(source::LEAF_AMBIENT_INDEX).unwrap();
    assert_eq!(table.len(), index.len());
    assert_eq!(table.get(lit).unwrap(), source::LeafAmbientIndex { count: 0, first: 0 });
    assert_eq!(usize::from(table.get(borrowed).unwrap().first), lit);
}

/// The number of a leaf without samples is that of a leaf, however many samples there are.
#[test]
fn fewer_samples_do_not_change_what_names_a_leaf() {
    let map = source_room();
    let index: Vec<_> = map.table(source::LEAF_AMBIENT_INDEX).unwrap().iter().collect();
    let samples = map.table(source::LEAF_AMBIENT_LIGHTING).unwrap().len();
    let mut draft = map.draft();
    for (at, _) in index.iter().enumerate().filter(|(_, leaf)| leaf.count == 0) {
        let first = u16::try_from(samples + 1).unwrap();
        draft.update(source::LEAF_AMBIENT_INDEX, at, |leaf| leaf.first = first).unwrap();
    }
    let map = saved(&draft);
    let mut draft = map.draft();
    draft.structure().duplicate_list("LEAF_AMBIENT_LIGHTING", samples - 1..samples).unwrap();
    draft.structure().splice_list("LEAF_AMBIENT_LIGHTING", samples..samples + 1, Vec::new()).unwrap();
    assert!(draft.changes().unwrap().is_empty());
}

/// The brushes of a face: of one brush the number is the brush's, of several that of the first entry.
#[test]
fn the_brushes_of_faces_follow_and_become_fewer() {
    let map = Bsp::open("tests/maps/source/room_v21.bsp").unwrap();
    let mut draft = map.draft();
    draft.set(SlotId::Lump(22), bytes(&[4, 5, 6].map(|brush| source21::FaceBrush { brush }))).unwrap();
    let list = |count, first| move |list: &mut source21::FaceBrushList| (list.count, list.first) = (count, first);
    draft.update(source21::FACEBRUSHLIST, 1, list(2, 0)).unwrap();
    draft.update(source21::FACEBRUSHLIST, 2, list(3, 0)).unwrap();
    draft.update(source21::FACEBRUSHLIST, 3, list(1, 4)).unwrap();
    draft.update(source21::FACEBRUSHLIST, 4, list(1, 6)).unwrap();
    let map = saved(&draft);
    let mut draft = map.draft();
    remove(&mut draft, "BRUSHES", 4, false).unwrap();
    let after = saved(&draft);
    let table = after.table(source21::FACEBRUSHLIST).unwrap();
    let of = |face| table.get(face).map(|list| (list.count, list.first)).unwrap();
    // Of 4 and 5 only 5 is left, which is 4 now.
    assert_eq!((of(1), of(2), of(3), of(4)), ((1, 4), (2, 0), (1, 0xFFFF), (1, 5)));
    let brushes: Vec<u16> = after.table(source21::FACEBRUSHES).unwrap().iter().map(|face| face.brush).collect();
    assert_eq!(brushes, [4, 5]);
    assert_eq!(after.table(source::FACES).unwrap().len(), map.table(source::FACES).unwrap().len());
}

/// Engines read detail props leaf by leaf.
#[test]
fn detail_props_of_a_leaf_stay_together() {
    let map = source_room();
    let mut draft = map.draft();
    let details = "game:dprp.objects";
    draft.structure().duplicate_list(details, 0..2).unwrap();
    let map = saved(&draft);
    let leafs = |map: &Bsp<'_>| -> Vec<u16> {
        map.table(source::DETAIL_OBJECTS).unwrap().iter().map(|object| object.leaf).collect()
    };
    let mut draft = map.draft();
    for (at, leaf) in [3, 3, 5, 5].into_iter().enumerate() {
        draft.update(source::DETAIL_OBJECTS, at, |object| object.leaf = leaf).unwrap();
    }
    let map = saved(&draft);
    let order = |order: &[usize]| map.draft().structure().reorder_list(details, order).map(|_| ());
    assert!(order(&[1, 0, 3, 2]).is_ok() && order(&[2, 3, 0, 1]).is_ok());
    let error = order(&[0, 2, 1, 3]).unwrap_err();
    assert!(error.kind() == ErrorKind::Refused && error.to_string().contains("the same leaf"), "{error}");
    // A new one is put beside those of its leaf.
    let new =
        |leaf| bytes(&[source::DetailObject { leaf, ..map.table(source::DETAIL_OBJECTS).unwrap().get(0).unwrap() }]);
    let add = |at: usize, leaf| map.draft().structure().splice_list(details, at..at, new(leaf)).map(|_| ());
    assert!(add(2, 3).is_ok() && add(2, 7).is_ok() && add(1, 7).is_err() && add(4, 3).is_err());
    // The leafs may have any order.
    let mut draft = map.draft();
    let mut reversed: Vec<usize> = (0..map.table(source::LEAFS).unwrap().len()).collect();
    reversed[1..].reverse();
    draft.reorder(source::LEAFS, &reversed).unwrap();
    assert!(leafs(&saved(&draft)).is_sorted_by(|one, other| one >= other));
}

/// The place of a point of a grid is where it is.
#[test]
fn grids_keep_their_places() {
    let map = Bsp::open("tests/maps/q3/own_rooms.bsp").unwrap();
    let points = map.table(quake3::LIGHTGRID).unwrap().len();
    let mut draft = map.draft();
    let refusals = [
        draft.structure().reorder_list("LIGHTGRID", &(0..points).rev().collect::<Vec<_>>()),
        draft.structure().duplicate_list("LIGHTGRID", 0..1),
        draft.structure().remove(&[("LIGHTGRID", &[0])]),
    ];
    for refusal in refusals {
        assert!(refusal.unwrap_err().to_string().contains("is its meaning"));
    }
    let map = Builder::new(&RAVEN)
        .role(Role::Entities, "{\n\"classname\" \"worldspawn\"\n}\n\0")
        .and_then(|map| map.table(raven::LIGHTGRID, &[blank(), raven::GridPoint { styles: [1; 4], ..blank() }]))
        .and_then(|map| map.table(raven::LIGHTARRAY, &[0, 1, 1].map(|point| raven::GridIndex { point })));
    let map = Bsp::from_vec(map.unwrap().build().unwrap()).unwrap();
    assert!(map.draft().structure().reorder_list("LIGHTARRAY", &[2, 1, 0]).is_err());
    // The points have no places: the array names them.
    let mut draft = map.draft();
    draft.reorder(raven::LIGHTGRID, &[1, 0]).unwrap();
    let points: Vec<u16> = saved(&draft).table(raven::LIGHTARRAY).unwrap().iter().map(|index| index.point).collect();
    assert_eq!(points, [1, 0, 0]);
}

/// Portals of Bloodlines name clusters of their own lump.
#[test]
fn portals_follow_clusters() {
    let cluster = |portal_count| source17::Cluster { portal_count, ..blank() };
    let map = Builder::new(&SOURCE17)
        .version(17)
        .role(Role::Entities, "{\n\"classname\" \"worldspawn\"\n}\n\0")
        .and_then(|map| map.table(source17::PORTALS, &[source17::Portal { clusters: [0, 2], ..blank() }]))
        .and_then(|map| map.table(source17::CLUSTERS, &[0, 0, 0].map(cluster)));
    let map = Bsp::from_vec(map.unwrap().build().unwrap()).unwrap();
    let mut draft = map.draft();
    draft.reorder(source17::CLUSTERS, &[2, 0, 1]).unwrap();
    assert_eq!(saved(&draft).table(source17::PORTALS).unwrap().get(0).unwrap().clusters, [1, 0]);
}

/// DarkPlaces takes for the brushes of a model of Quake II those from the lowest to the highest number in its tree.
#[test]
fn brushes_stay_with_their_models() {
    let map = Bsp::open("tests/maps/q2/own_rooms.bsp").unwrap();
    let stretches = model_brushes(&map);
    let (one, other) = (stretches[1].clone(), stretches[2].clone());
    let len = map.table(quake2::BRUSHES).unwrap().len();
    let order = |swap: (usize, usize)| {
        let mut order: Vec<usize> = (0..len).collect();
        order.swap(swap.0, swap.1);
        map.draft().structure().reorder_list("BRUSHES", &order).map(|_| ())
    };
    let error = order((1, one.start)).unwrap_err();
    assert!(error.to_string().contains("are those of a model"), "{error}");
    assert!(order((1, 2)).is_ok());
    // Models with one brush each may change places.
    assert_eq!((one.len(), other.len()), (1, 1));
    assert!(order((one.start, other.start)).is_ok());
}

/// Bits beyond the last leaf stay where they are, and are not taken for those of new leafs.
#[test]
fn bits_beyond_the_last_leaf_mean_no_leaf() {
    use bspkit::dialect::{GOLDSRC, goldsrc};
    let leaf = |visibility_offset| goldsrc::Leaf { contents: -1, visibility_offset, ..blank() };
    let map = Builder::new(&GOLDSRC)
        .role(Role::Entities, "{\n\"classname\" \"worldspawn\"\n}\n\0")
        .and_then(|map| map.table(goldsrc::LEAFS, &[goldsrc::Leaf { contents: -2, ..blank() }, leaf(0), leaf(1)]))
        .and_then(|map| map.table(goldsrc::MODELS, &[goldsrc::Model { visible_leafs: 2, ..blank() }]))
        .and_then(|map| map.role(Role::Visibility, [0b101, 0b010]));
    let map = Bsp::from_vec(map.unwrap().build().unwrap()).unwrap();
    let mut draft = map.draft();
    draft.reorder(goldsrc::LEAFS, &[0, 2, 1]).unwrap();
    let after = saved(&draft);
    let slot = after.role(Role::Visibility).unwrap().id;
    assert_eq!(*after.bytes(slot).unwrap(), [0b110, 0b001]);
    draft.reorder(goldsrc::LEAFS, &[0, 2, 1]).unwrap();
    assert!(draft.changes().unwrap().is_empty());
    let error = draft.structure().duplicate_list("LEAFS", 2..3).unwrap_err();
    assert!(error.kind() == ErrorKind::Refused && error.to_string().contains("beyond the last leaf"), "{error}");

    // A row that cannot be read refuses the edit: it is no fault of the law that tries it.
    let mut draft = map.draft();
    draft.set(slot, vec![0, 0]).unwrap();
    let damaged = saved(&draft);
    let error = damaged.draft().reorder(goldsrc::LEAFS, &[0, 2, 1]).unwrap_err();
    assert!(error.kind() == ErrorKind::Refused && error.to_string().contains("cannot follow"), "{error}");
    let outcome = bspkit::verify::run_on_list(&damaged, &bspkit::verify::Subject::REAL, "LEAFS");
    let laws = ["reorder", "splice"].map(|law| outcome.law(law).unwrap().to_string());
    assert!(laws.iter().all(|verdict| verdict.starts_with("skipped: ")), "{laws:?}");
    assert!(laws[1].contains("cannot follow LEAFS"), "{laws:?}");
}

/// The struct of a list of Source is known before an edit, and is that after it: sums by which it is detected need not
/// hold any more. A saved map is read as well, and checks still name the sum.
#[test]
fn records_of_source_can_be_added_and_removed() {
    for name in ["room_v19", "room_v20", "room_v21", "room_l4d2", "room_strata"] {
        let map = Bsp::open(format!("tests/maps/source/{name}.bsp")).unwrap();
        let parts = ["BRUSHES", "LEAFS", "NODES"];
        for list in parts {
            let count = |map: &Bsp<'_>| {
                let slot = map.slot(list).unwrap();
                map.spans(slot).unwrap()[0].count()
            };
            let last = count(&map) - 1;
            let mut draft = map.draft();
            draft.structure().duplicate_list(list, last..last + 1).unwrap_or_else(|why| panic!("{name} {list}: {why}"));
            let after = saved(&draft);
            assert_eq!(count(&after), last + 2, "{name}: {list}");
            assert!(parts.iter().all(|list| !after.spans(after.slot(list).unwrap()).unwrap().is_empty()));
            let mut again = after.draft();
            again.structure().remove(&[(list, &[last + 1])]).unwrap_or_else(|why| panic!("{name} {list}: {why}"));
            assert_eq!(
                saved(&again).bytes(map.slot(list).unwrap().id).unwrap()[..],
                map.bytes(map.slot(list).unwrap().id).unwrap()[..]
            );
        }
        // A brush goes with its sides, so that all sums hold.
        let mut draft = map.draft();
        remove(&mut draft, "BRUSHES", 1, false).unwrap();
        let errors = bspkit_ops::check::introduced(&draft, &bspkit_ops::check::Options::default()).unwrap();
        assert!(errors.is_empty(), "{name}: {errors:#?}");
        remove(&mut map.draft(), "BRUSHSIDES", 7, true).unwrap();
    }
}

/// A map of another game is still not read as a usual one: half of its structs are wider.
#[test]
fn wider_structs_are_not_taken_for_edited_ones() {
    let map = source_room();
    let mut draft = map.draft();
    for (lump, size, wide) in [(7, 56, 72), (10, 32, 60), (12, 4, 8), (19, 8, 16)] {
        let old = map.bytes(SlotId::Lump(lump)).unwrap();
        let new =
            old.chunks_exact(size).flat_map(|record| [record, &vec![0; wide - size]].concat()).collect::<Vec<_>>();
        draft.set(SlotId::Lump(lump), new).unwrap();
    }
    let wide = saved(&draft);
    for lump in ["FACES", "LEAFS", "BRUSHSIDES", "EDGES"] {
        assert!(wide.row(wide.slot(lump).unwrap()).is_err(), "{lump}");
    }
}

/// However many refer to a record, those are kept that are listed.
#[test]
fn a_tree_keeps_what_it_lists() {
    let map = Bsp::open("tests/maps/q2/own_rooms.bsp").unwrap();
    let all = map.draft().references(quake2::TEXINFO, 0).unwrap();
    let tree = map.draft().reference_tree("TEXINFO", 0, 1, 3).unwrap();
    assert_eq!((tree.by.branches.len(), tree.by.more), (3, all.by.len() - 3));
    assert!(tree.by.branches.iter().map(|branch| &branch.reference).eq(&all.by[..3]));
}

/// Compilers write the number of clip nodes for a hull that is not there.
#[test]
fn the_number_of_records_means_none_before_and_after() {
    let mut map = Bsp::open("tests/maps/goldsrc/own_rooms.bsp").unwrap().draft();
    let len = i32::try_from(map.bsp().table(goldsrc::CLIPNODES).unwrap().len()).unwrap();
    map.update(goldsrc::MODELS, 1, |model| model.clip_nodes = [len; 3]).unwrap();
    let map = saved(&map);
    let hulls = |draft: &Draft<'_>| saved(draft).table(goldsrc::MODELS).unwrap().get(1).unwrap().clip_nodes;
    let mut draft = map.draft();
    draft.structure().duplicate_list("CLIPNODES", 3..4).unwrap();
    assert_eq!(hulls(&draft), [len + 1; 3]);
    draft.structure().splice_list("CLIPNODES", 4..5, Vec::new()).unwrap();
    assert_eq!(hulls(&draft), [len; 3]);
    assert!(draft.changes().unwrap().is_empty());
}

/// Not all references of a lump that is cut off are known.
#[test]
fn records_of_which_a_cut_lump_has_numbers_stay_where_they_are() {
    let mut bytes = std::fs::read("tests/maps/q2/own_rooms.bsp").unwrap();
    let (word, size) = (8 + 8 * 6, bytes.len() as u32);
    // Half of the faces.
    bytes[word..word + 4].copy_from_slice(&(size - 200).to_le_bytes());
    let map = Bsp::parse(&bytes).unwrap();
    assert_eq!(map.container().damaged().count(), 1);
    let mut draft = map.draft();
    let why = draft.structure().duplicate_list("TEXINFO", 0..1).unwrap_err().to_string();
    assert!(why.contains("FACES may refer to TEXINFO, and cannot follow: runs past the end of the file"), "{why}");
    // Faces have no numbers of brushes.
    draft.structure().duplicate_list("BRUSHES", 0..1).unwrap();
}

/// An accessor names its overlay by the number that this has; without one it would be for overlay 0.
#[test]
fn an_accessor_goes_with_its_overlay() {
    let map = Bsp::open("tests/maps/source/room_v20.bsp").unwrap();
    let mut draft = map.draft();
    let overlays: Vec<u8> = [7, 9].into_iter().flat_map(|id: u8| [vec![id], vec![0; 351]].concat()).collect();
    draft.set(map.slot("overlays").unwrap().id, overlays).unwrap();
    let accessor = [("classname", "info_overlay_accessor"), ("OverlayID", "9")];
    draft.entities().unwrap().add(accessor).unwrap();
    let map = saved(&draft);
    let accessors = |draft: &mut Draft<'_>| draft.entities().unwrap().select("info_overlay_accessor").unwrap().len();
    let mut draft = map.draft();
    let error = draft.structure().splice_list("OVERLAYS", 1..2, Vec::new()).unwrap_err();
    assert!(error.to_string().contains("OverlayID"), "{error}");
    draft.structure().splice_list("OVERLAYS", 0..1, Vec::new()).unwrap();
    assert_eq!(accessors(&mut draft), 1);
    draft.structure().cascade(true).splice_list("OVERLAYS", 0..1, Vec::new()).unwrap();
    assert_eq!(accessors(&mut draft), 0);
}

/// A node or leaf goes only with its whole tree: over what it needs, only a piece of the tree would go.
#[test]
fn no_piece_of_a_tree_goes_with_what_it_needs() {
    let open = |name: &str| Bsp::open(format!("tests/maps/{name}.bsp")).unwrap();
    let (q1, q2, big) = (open("q1/own_rooms"), open("q2/own_rooms"), open("bsp2/own_rooms"));
    let planes = q1.table(quake::NODES).unwrap();
    let plane = planes.iter().map(|node| usize::try_from(node.plane).unwrap()).max().unwrap();
    for (map, list, record) in [
        (&q2, "LEAFS", q2.table(quake2::LEAFS).unwrap().len() - 1),
        (&q1, "CLIPNODES", q1.table(quake::CLIPNODES).unwrap().len() - 1),
        (&q1, "PLANES", plane),
        (&big, "NODES", big.table(bsp2::NODES).unwrap().len() - 1),
    ] {
        let error = remove(&mut map.draft(), list, record, true).unwrap_err();
        assert!(error.contains("needs what is removed") && error.contains("cannot go"), "{list}: {error}");
    }
}

/// Medal of Honor takes 0 for no equation (`CMod_LoadBrushSides`), so that record 0 is named by nothing.
#[test]
fn equation_0_is_none() {
    let side = |equation| mohaa::BrushSide { equation, ..blank() };
    let map = Builder::new(&MOHAA)
        .role(Role::Entities, "{\n\"classname\" \"worldspawn\"\n}\n\0")
        .and_then(|map| map.table(mohaa::SHADERS, &[blank()]))
        .and_then(|map| map.table(mohaa::PLANES, &[blank(); 2]))
        .and_then(|map| {
            map.table(mohaa::SIDEEQUATIONS, &[1.0, 2.0, 3.0].map(|s| mohaa::SideEquation { s: [s; 4], ..blank() }))
        })
        .and_then(|map| map.table(mohaa::BRUSHSIDES, &[0, 1, 2, 0, 0, 0].map(side)))
        .and_then(|map| map.table(mohaa::BRUSHES, &[quake3::Brush { side_count: 6, ..blank() }]))
        .and_then(|map| map.table(mohaa::MODELS, &[quake3::Model { brush_count: 1, ..blank() }]));
    let map = Bsp::from_vec(map.unwrap().build().unwrap()).unwrap();
    let sides = |draft: &Draft<'_>| -> Vec<i32> {
        saved(draft).table(mohaa::BRUSHSIDES).unwrap().iter().map(|side| side.equation).collect()
    };
    let mut draft = map.draft();
    draft.structure().reorder(mohaa::SIDEEQUATIONS, &[0, 2, 1]).unwrap();
    assert_eq!(sides(&draft), [0, 2, 1, 0, 0, 0]);
    let mut draft = map.draft();
    remove(&mut draft, "SIDEEQUATIONS", 1, true).unwrap();
    assert_eq!(sides(&draft), [0, 0, 1, 0, 0, 0]);
    // What would get the number 0 could not be named.
    let mut draft = map.draft();
    let error = draft.structure().reorder(mohaa::SIDEEQUATIONS, &[1, 0, 2]).unwrap_err();
    assert!(error.to_string().contains("SIDEEQUATIONS") && error.to_string().contains("0 means"), "{error}");
}
