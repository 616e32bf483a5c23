//! What cannot be read is named by face, and the rest goes on; what is legal is no fault.

use bspkit::content::lightmap::LightFaultKind;
use bspkit::dialect::{goldsrc, quake2, quake3, source};
use bspkit::{Bsp, Draft, Layout};
use bspkit_ops::check;

use super::fixture;

/// The faults of a fixture after an edit, and how many blocks there still are.
fn after(name: &str, edit: impl Fn(&mut Draft<'static>)) -> (Vec<String>, usize) {
    let mut draft = fixture(name).draft();
    edit(&mut draft);
    let saved = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
    let light = saved.light().unwrap();
    let Some(set) = light.sets().first() else { return (Vec::new(), 0) };
    (set.faults().iter().map(ToString::to_string).collect(), set.blocks().len())
}

#[test]
fn faults_are_named_by_face() {
    let whole = fixture("q2/own_rooms").light().unwrap().sets()[0].blocks().len();
    let q2 = |edit: &dyn Fn(&mut quake2::Face)| {
        let (faults, blocks) = after("q2/own_rooms", |draft| draft.update(quake2::FACES, 7, edit).unwrap());
        assert!(faults.is_empty() || blocks == whole - 1);
        faults
    };
    let len = fixture("q2/own_rooms").slot("LIGHTING").unwrap().length;
    assert_eq!(q2(&|_| ()), [""; 0]);
    let past = q2(&|face| face.light_offset = len - 4);
    assert!(past.len() == 1 && past[0].starts_with(&format!("face 7: its light begins at {}, ", len - 4)), "{past:?}");
    assert!(q2(&|face| face.light_offset = i32::MIN)[0].contains("begins at -2147483648, "));
    assert_eq!(q2(&|face| face.texinfo = 999), ["face 7: its texinfo 999 does not exist"]);
    assert_eq!(q2(&|face| face.texinfo = -1), ["face 7: its texinfo -1 does not exist"]);
    let no_edges = ["face 7: its edges lead to no corners, so the size of its light is not known"];
    assert_eq!(q2(&|face| face.first_edge = i32::MAX), no_edges);
    assert_eq!(q2(&|face| face.first_edge = -1), no_edges);
    assert_eq!(q2(&|face| face.edge_count = 0), no_edges);

    let corner = |value: f32| {
        after("q2/own_rooms", |draft| draft.update(quake2::TEXINFO, 0, |info| info.vectors[0][3] = value).unwrap()).0
    };
    assert!(corner(f32::NAN).iter().all(|fault| fault.ends_with("the size of its light cannot be computed")));
    assert!(!corner(f32::INFINITY).is_empty());
    // A corner a million texels away counts for no engine either.
    assert!(!corner(1e30).is_empty());

    let (faults, _) =
        after("q3/own_rooms", |draft| draft.update(quake3::SURFACES, 0, |face| face.lightmap = 5).unwrap());
    assert_eq!(faults, ["face 0: its light is on page 5, and there are 1 pages"]);
    let size = |size: [i32; 2]| {
        after("source/room_v20", |draft| draft.update(source::FACES, 0, |face| face.luxel_size = size).unwrap()).0
    };
    assert_eq!(size([-2, 3]), ["face 0: the size of its light cannot be computed"]);
    assert!(size([i32::MAX; 2])[0].starts_with("face 0: its light begins at "));
    // Without room for its averages.
    let (faults, _) =
        after("source/room_v20", |draft| draft.update(source::FACES, 0, |face| face.light_offset = 0).unwrap());
    assert_eq!(faults.len(), 1);
}

#[test]
fn what_is_legal_is_no_fault() {
    // An offset over an empty lump: light that was never computed.
    for (name, lump) in [("q2/own_rooms", "LIGHTING"), ("goldsrc/own_rooms", "LIGHTING"), ("q3/own_rooms", "LIGHTMAPS")]
    {
        let empty = |draft: &mut Draft<'static>| {
            let slot = draft.bsp().slot(lump).unwrap().id;
            draft.set(slot, Vec::new()).unwrap();
        };
        assert_eq!(after(name, empty), (Vec::new(), 0), "{name}");
    }
    // Any offset on faces that have no light: sky, special textures, no style, none at all.
    let q2 = |edit: &dyn Fn(&mut Draft<'static>)| after("q2/own_rooms", edit).0;
    let none = Vec::<String>::new();
    let wild = |face: &mut quake2::Face| face.light_offset = 1 << 30;
    assert_ne!(q2(&|draft| draft.update(quake2::FACES, 7, wild).unwrap()), none);
    for flag in [4, 8] {
        assert_eq!(
            q2(&|draft| {
                let texinfo = draft.bsp().table(quake2::FACES).unwrap().get(7).unwrap().texinfo;
                draft.update(quake2::FACES, 7, wild).unwrap();
                draft.update(quake2::TEXINFO, usize::try_from(texinfo).unwrap(), |info| info.flags |= flag).unwrap();
            }),
            none
        );
    }
    assert_eq!(
        q2(&|draft| draft
            .update(quake2::FACES, 7, |face| {
                wild(face);
                face.styles[0] = 255
            })
            .unwrap()),
        none
    );
    assert_eq!(q2(&|draft| draft.update(quake2::FACES, 7, |face| face.light_offset = -1).unwrap()), none);
    let special = |draft: &mut Draft<'static>| {
        let texinfo = draft.bsp().table(goldsrc::FACES).unwrap().get(7).unwrap().texinfo;
        draft.update(goldsrc::FACES, 7, wild).unwrap();
        draft.update(goldsrc::TEXINFO, usize::try_from(texinfo).unwrap(), |info| info.flags |= 1).unwrap();
    };
    assert_eq!(after("goldsrc/own_rooms", special).0, none);
    for page in [-1, -2, -3, -4] {
        let set = |draft: &mut Draft<'static>| draft.update(quake3::SURFACES, 0, |face| face.lightmap = page).unwrap();
        assert_eq!(after("q3/own_rooms", set).0, none);
    }
}

#[test]
fn other_damage_is_an_error_and_no_panic() {
    let map = fixture("q2/own_rooms");
    for lump in ["VERTEXES", "EDGES", "SURFEDGES", "TEXINFO", "FACES"] {
        for len in [0, 1, 50] {
            let mut draft = map.draft();
            let slot = map.slot(lump).unwrap().id;
            draft.set(slot, map.bytes(slot).unwrap()[..len].to_vec()).unwrap();
            let light = draft.light().unwrap();
            let faults = light.sets().iter().flat_map(|set| set.faults());
            assert!(faults.clone().all(|fault| fault.kind != LightFaultKind::Size), "{lump}");
            assert!(lump == "FACES" || faults.count() > 0, "{lump}");
        }
    }
}

/// The number of findings with a code that a draft adds.
fn introduced(draft: &Draft<'static>, code: &str) -> usize {
    let found = check::introduced(draft, &check::Options::default()).unwrap();
    found.iter().filter(|finding| finding.code.name == code).map(|finding| finding.count).sum()
}

/// Corners beyond the numbers that engines begin with are ignored by them, so the light has a huge size.
#[test]
fn check_finds_the_faults_that_the_lens_finds() {
    let map = fixture("q2/own_rooms");
    let mut draft = map.draft();
    let count = map.table(quake2::TEXINFO).unwrap().len();
    (0..count).for_each(|at| draft.update(quake2::TEXINFO, at, |info| info.vectors[0][3] = -300_000.0).unwrap());
    let bytes = draft.plan(Layout::Keep).unwrap().to_vec();
    let shifted = Bsp::from_vec(bytes).unwrap();
    let faults = shifted.light().unwrap().sets()[0].faults().len();
    let found = check::run(&shifted, &check::Options::default()).unwrap();
    let found = found.iter().filter(|finding| finding.code.name == "light-range").map(|finding| finding.count);
    assert_eq!((faults, found.sum::<usize>()), (98, 98));
}

/// Faces that all name the same thousands of edges: only some of them are looked at.
#[test]
fn shared_edges_are_bounded_in_the_lens() {
    let map = fixture("q2/own_rooms");
    let edges = i16::try_from(map.table(quake2::SURFEDGES).unwrap().len()).unwrap();
    let mut draft = map.draft();
    let faces = map.table(quake2::FACES).unwrap().len();
    for face in 0..faces {
        let all = |face: &mut quake2::Face| (face.first_edge, face.edge_count) = (0, edges);
        draft.update(quake2::FACES, face, all).unwrap();
    }
    let shared = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
    let light = shared.light().unwrap();
    let left = light.sets()[0].faults().iter().filter(|fault| fault.kind == LightFaultKind::Shared).count();
    let read = faces - light.sets()[0].unlit() - left;
    assert_eq!(read, 16, "each edge may be looked at 16 times");
    let polygons = shared.polygons().unwrap();
    assert_eq!(polygons.iter().filter(Result::is_ok).count(), 16, "all polygons together have a bound too");
    assert!(polygons.get(faces - 1).is_ok(), "one alone is not too much");
    let found = check::run(&shared, &check::Options::default()).unwrap();
    let notes = found.iter().filter(|finding| finding.code.name == "lump-unchecked");
    assert_eq!(notes.map(|finding| finding.count).sum::<usize>(), 1);
}

/// Each way to change how much light a face reads, or from where, is said; what changes neither is not.
#[test]
fn edits_that_leave_light_behind_are_found() {
    let face = |edit: fn(&mut quake2::Face)| {
        let mut draft = fixture("q2/own_rooms").draft();
        draft.update(quake2::FACES, 3, edit).unwrap();
        introduced(&draft, "light-moved")
    };
    assert_eq!(face(|face| face.styles[3] = 0), 0, "a style after the first 255 is not read");
    assert_eq!(face(|face| face.light_offset += 3), 1);
    assert_eq!(face(|face| face.light_offset = -1), 0);
    assert_eq!(face(|face| face.styles[1] = if face.styles[1] == 255 { 2 } else { 255 }), 1);
    assert_eq!(face(|face| face.plane ^= 1), 0);
    let mut draft = fixture("q2/own_rooms").draft();
    draft.update(quake2::TEXINFO, 3, |info| info.vectors[0][0] = 0.5).unwrap();
    assert_eq!(introduced(&draft, "light-moved"), 10);
    let mut draft = fixture("q2/own_rooms").draft();
    draft.update(quake2::VERTEXES, 0, |vertex| vertex.point[0] += 300.0).unwrap();
    assert!(introduced(&draft, "light-moved") > 0);
    let mut draft = fixture("goldsrc/own_rooms").draft();
    draft.update(goldsrc::FACES, 3, |face| face.texinfo = 9).unwrap();
    assert_eq!(introduced(&draft, "light-moved"), 1);
    // Source stores the size.
    let mut draft = fixture("source/room_v20").draft();
    draft.update(source::FACES, 3, |face| face.luxel_size[0] -= 1).unwrap();
    assert_eq!(introduced(&draft, "light-moved"), 1);
    // Light alone is edited freely, and so is all but light.
    let mut draft = fixture("q2/own_rooms").draft();
    draft
        .light()
        .unwrap()
        .update(bspkit::content::lightmap::Image { set: 0, block: 3, style: 0, plane: 0 }, |_, _| {
            bspkit::content::lightmap::Luxel::Rgb([9, 9, 9])
        })
        .unwrap();
    draft.update(quake2::FACES, 3, |face| face.plane ^= 1).unwrap();
    assert_eq!(introduced(&draft, "light-moved"), 0);
}
