//! Textures within maps that one side removes, adds or changes: the numbers of the other side follow.

use super::{assert_same_content, edited, merged, open};

use bspkit::content::textures::Textures;
use bspkit::dialect::{Role, goldsrc, quake};
use bspkit::{Bsp, Draft, Layout};
use bspkit_ops::models::{Copying, Removal};
use bspkit_ops::prune::{self, prune};

const MAPS: [&str; 3] = ["q1/own_rooms", "goldsrc/own_rooms", "bsp2/own_rooms"];

/// The name of each face's texture, or its number where it has none.
fn textures_of_faces(map: &Bsp<'_>) -> Vec<String> {
    let (faces, texinfo) = (map.records("faces").unwrap(), map.records("texinfo").unwrap());
    let ([of], [texture]) = (faces.columns(["texinfo"]).unwrap(), texinfo.columns(["texture"]).unwrap());
    let textures = map.textures().unwrap();
    let name = |face: usize| {
        let number = texture.get(usize::try_from(of.get(face)).unwrap());
        let name = usize::try_from(number).ok().and_then(|number| textures.name(number));
        name.map_or_else(|| number.to_string(), |name| String::from_utf8_lossy(name).into_owned())
    };
    (0..faces.len()).map(name).collect()
}

fn set_texture(draft: &mut Draft<'_>, texinfo: usize, texture: i32) {
    let is_goldsrc = draft.bsp().dialect().name == "goldsrc";
    match is_goldsrc {
        true => draft.update(goldsrc::TEXINFO, texinfo, |record| record.texture = texture).unwrap(),
        false => draft.update(quake::TEXINFO, texinfo, |record| record.texture = texture).unwrap(),
    }
}

/// The map with textures that no face has: the first one, and one in the middle.
fn with_unused(name: &str) -> Bsp<'static> {
    let map = open(name);
    let unused = |number: i64| number == 0 || number == 3;
    let texinfo = map.records("texinfo").unwrap();
    let [texture] = texinfo.columns(["texture"]).unwrap();
    let used: Vec<usize> = (0..texinfo.len()).filter(|at| unused(texture.get(*at))).collect();
    edited(&map, Layout::Keep, |draft| used.iter().for_each(|at| set_texture(draft, *at, 5)))
}

fn pruned(base: &Bsp<'static>) -> Bsp<'static> {
    let options = prune::Options::default().only("TEXTURES");
    edited(base, Layout::Keep, |draft| drop(prune(draft, &options).unwrap()))
}

#[test]
fn numbers_of_textures_follow_where_the_other_side_removes_some() {
    for name in MAPS {
        let base = with_unused(name);
        let ours = pruned(&base);
        let removed = base.textures().unwrap().len() - ours.textures().unwrap().len();
        assert!(removed > 0, "{name}");
        let theirs = edited(&base, Layout::Keep, |draft| set_texture(draft, 4, 7));
        let wanted = textures_of_faces(&theirs);
        assert_ne!(wanted, textures_of_faces(&base), "{name}");
        for (one, other) in [(&ours, &theirs), (&theirs, &ours)] {
            let (map, conflicts) = merged(&base, one, other);
            assert_eq!(conflicts, Vec::<String>::new(), "{name}");
            assert_eq!(textures_of_faces(&map), wanted, "{name}");
            assert_eq!(map.textures().unwrap().len(), base.textures().unwrap().len() - removed, "{name}");
            assert_same_content(&map, &pruned(&theirs), name);
        }
    }
}

#[test]
fn a_texture_that_one_side_removes_and_the_other_needs_or_renames_is_a_conflict() {
    for name in MAPS {
        let base = with_unused(name);
        let ours = pruned(&base);
        let is_kept = |number: usize| {
            let name = base.textures().unwrap().name(number).map(<[u8]>::to_vec);
            let left = ours.textures().unwrap();
            (0..left.len()).any(|at| left.name(at).map(<[u8]>::to_vec) == name)
        };
        let gone = (0..base.textures().unwrap().len()).find(|number| !is_kept(*number)).unwrap();
        let needs = edited(&base, Layout::Keep, |draft| set_texture(draft, 4, i32::try_from(gone).unwrap()));
        for (one, other) in [(&ours, &needs), (&needs, &ours)] {
            let (_, conflicts) = merged(&base, one, other);
            assert!(conflicts.iter().any(|line| line.contains("removes the record that it names")), "{conflicts:?}");
        }
        if base.textures().unwrap().get(gone).unwrap().is_none() {
            continue;
        }
        let renames = edited(&base, Layout::Keep, |draft| {
            draft.edit::<Textures<'_>>().unwrap().rename(gone, b"renamed").unwrap();
        });
        for (one, other) in [(&ours, &renames), (&renames, &ours)] {
            let (_, conflicts) = merged(&base, one, other);
            assert!(conflicts.iter().any(|line| line.contains("and the other one removes it")), "{conflicts:?}");
        }
    }
}

/// A new texture goes after those that the other side leaves; two new ones of the same number are a conflict.
#[test]
fn a_side_adds_textures() {
    for name in MAPS {
        let base = with_unused(name);
        let with = |new: &[u8], texinfo: usize| {
            edited(&base, Layout::Keep, |draft| {
                let textures = draft.textures().unwrap();
                let mut one = textures.get(5).unwrap().unwrap().bytes().to_vec();
                one[..16].fill(0);
                one[..new.len()].copy_from_slice(new);
                let (count, bytes) = (textures.len(), textures.with(&[Some(one)]).unwrap());
                let slot = draft.bsp().role(Role::Textures).unwrap().id;
                draft.set(slot, bytes).unwrap();
                set_texture(draft, texinfo, i32::try_from(count).unwrap());
            })
        };
        let (ours, theirs, less) = (with(b"ours", 4), with(b"theirs", 5), pruned(&base));
        for (one, other) in [(&ours, &less), (&less, &ours)] {
            let (map, conflicts) = merged(&base, one, other);
            assert_eq!(conflicts, Vec::<String>::new(), "{name}");
            assert_eq!(textures_of_faces(&map), textures_of_faces(&ours), "{name}");
            assert_eq!(map.textures().unwrap().len(), less.textures().unwrap().len() + 1, "{name}");
        }
        for (one, other) in [(&ours, &theirs), (&theirs, &ours)] {
            let (_, conflicts) = merged(&base, one, other);
            assert!(conflicts.iter().any(|line| line.contains("both sides add texture 11")), "{conflicts:?}");
        }
    }
}

/// A model whose faces have a texture that the other side's removal gives another number.
#[test]
fn a_copied_model_keeps_its_textures() {
    for name in ["q1/own_rooms", "goldsrc/own_rooms"] {
        let base = with_unused(name);
        let ours = pruned(&base);
        let other = edited(&base, Layout::Keep, |draft| set_texture(draft, 9, 7));
        let theirs = edited(&base, Layout::Keep, |draft| {
            Copying::default().run(draft, &other, &[1]).map(drop).unwrap();
        });
        for (one, two) in [(&ours, &theirs), (&theirs, &ours)] {
            let (map, conflicts) = merged(&base, one, two);
            assert_eq!(conflicts, Vec::<String>::new(), "{name}");
            assert_eq!(textures_of_faces(&map), textures_of_faces(&theirs), "{name}");
        }
        let fewer = edited(&base, Layout::Keep, |draft| {
            Removal::default().run(draft, &[1]).map(drop).unwrap();
        });
        for (one, two) in [(&ours, &fewer), (&fewer, &ours)] {
            let (map, conflicts) = merged(&base, one, two);
            assert_eq!(conflicts, Vec::<String>::new(), "{name}");
            assert_eq!(textures_of_faces(&map), textures_of_faces(&fewer), "{name}");
        }
    }
}
