//! What cannot be read is named by face, and the rest goes on; what is legal is no fault.

use bspkit::content::lightmap::LightFaultKind;
use bspkit::dialect::{goldsrc, quake2, quake3, source};
use bspkit::{Bsp, Draft, Layout};

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
