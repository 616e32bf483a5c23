//! Physics: texts are changed, solids are not; sizes that lie are refused.

use bspkit::content::physics::{PhysDisp, Physics};
use bspkit::{Bsp, Builder, Draft, ErrorKind, dialect};
use proptest::prelude::*;

use super::{corpus, own_maps, random, saved, words};

fn entry(model: i32, solids: &[&[u8]], text: &[u8]) -> Vec<u8> {
    let size = |bytes: usize| i32::try_from(bytes).unwrap();
    let blobs: Vec<u8> = solids.iter().flat_map(|solid| [&words(&[size(solid.len())])[..], solid].concat()).collect();
    [words(&[model, size(blobs.len()), size(text.len()), size(solids.len())]), blobs, text.to_vec()].concat()
}

fn end() -> Vec<u8> {
    words(&[-1, -1, 0, 0])
}

/// That nothing but one text is another.
fn others_keep(old: &Physics<'_>, new: &Physics<'_>, but: usize) -> Result<(), String> {
    if (old.len(), old.rest()) != (new.len(), new.rest()) {
        return Err("there are other entries, or other bytes behind them".into());
    }
    for index in 0..old.len() {
        let solids = |physics: &Physics<'_>| physics.solids(index).unwrap().map(<[u8]>::to_vec).collect::<Vec<_>>();
        if old.model(index).unwrap() != new.model(index).unwrap() || solids(old) != solids(new) {
            return Err(format!("the solids of {index} are others"));
        }
        if index != but && old.text(index).unwrap() != new.text(index).unwrap() {
            return Err(format!("the text of {index} is another"));
        }
    }
    Ok(())
}

/// The lens on one of the two lumps with this layout.
fn opened<'d, 'a>(draft: &'d mut Draft<'a>, lump: &str) -> &'d mut Physics<'a> {
    match lump {
        "PHYSCOLLIDE" => draft.physics().unwrap(),
        _ => draft.surface_physics().unwrap(),
    }
}

/// The same, only to look at.
fn looked_at<'a>(map: &Bsp<'a>, lump: &str) -> bspkit::Result<Physics<'a>> {
    match lump {
        "PHYSCOLLIDE" => map.physics().map(|physics| Physics::clone(&physics)),
        _ => map.surface_physics().map(|physics| Physics::clone(&physics)),
    }
}

/// A draft of a map with this lump, where its entries can be read.
fn built(lump: &[u8]) -> Draft<'static> {
    let builder = Builder::new(&dialect::SOURCE).lump(29, lump.to_vec());
    Bsp::from_vec(builder.build().unwrap()).unwrap().draft()
}

fn edited(draft: &Draft<'_>) -> Vec<u8> {
    draft.bytes(draft.bsp().slot("PHYSCOLLIDE").unwrap().id).unwrap().to_vec()
}

fn check(map: &Bsp<'_>, lump: &str, name: &str) -> (usize, usize) {
    let Ok(slot) = map.slot(lump) else { return (0, 0) };
    let bytes = map.bytes(slot.id).unwrap();
    let old = match looked_at(map, lump) {
        Ok(old) => old,
        Err(error) => {
            println!("{name}: {lump}: {error}");
            return (0, 0);
        }
    };
    let terminator = end();
    if old.rest() != terminator && !bytes.is_empty() {
        println!("{name}: {lump}: {} bytes behind the last entry", old.rest().len());
    }
    let solids = (0..old.len()).map(|index| old.solids(index).unwrap().count()).sum();
    for index in [0, old.len() / 2, old.len().saturating_sub(1)].into_iter().filter(|index| *index < old.len()) {
        let text = old.text(index).unwrap().to_vec();
        for new in [&b""[..], &text[..text.len() / 2], &[&text[..], b"\nmaterialtable { \"own\" \"1\" }\n"].concat()] {
            let mut draft = map.draft();
            opened(&mut draft, lump).set_text(index, new).unwrap();
            let Some(saved) = saved(&draft, name) else { continue };
            let again = looked_at(&saved, lump).unwrap();
            assert_eq!(again.text(index).unwrap(), new, "{name}");
            others_keep(&old, &again, index).unwrap_or_else(|why| panic!("{name}: {why}"));
            let mut back = saved.draft();
            opened(&mut back, lump).set_text(index, &text).unwrap();
            assert_eq!(*back.bytes(slot.id).unwrap(), *bytes, "{name}");
            opened(&mut draft, lump).set_text(index, &text).unwrap();
            assert!(!opened(&mut draft, lump).is_edited() && draft.changes().unwrap().is_empty(), "{name}");
        }
    }
    (old.len(), solids)
}

/// The own rooms have no physics of their own: they are given some.
#[test]
fn solids_of_own_maps() {
    let lump = [entry(0, &[b"VPHY0", b"1"], b"solid { }\0"), entry(1, &[b"VPHY"], b"fluid { }\0"), end()].concat();
    let mut rooms = 0;
    for path in own_maps() {
        let (map, name) = (Bsp::open(&path).unwrap(), path.display().to_string());
        let Ok(slot) = map.slot("PHYSCOLLIDE") else { continue };
        let mut draft = map.draft();
        draft.set(slot.id, lump.clone()).unwrap();
        assert_eq!(check(&saved(&draft, &name).unwrap(), "PHYSCOLLIDE", &name), (2, 3), "{name}");
        rooms += 1;
    }
    assert_eq!(rooms, 6);
}

#[test]
fn solids_of_real_maps() {
    for lump in ["PHYSCOLLIDE", "PHYSCOLLIDESURFACE"] {
        let (mut maps, mut entries, mut solids) = (0, 0, 0);
        for path in corpus::maps() {
            let Ok(map) = Bsp::open(&path) else { continue };
            let found = check(&map, lump, &path.display().to_string());
            (maps, entries, solids) = (maps + usize::from(found.0 > 0), entries + found.0, solids + found.1);
        }
        println!("{lump}: {solids} solids in {entries} entries of {maps} maps");
    }
}

#[test]
fn displacements_of_real_maps() {
    let (mut maps, mut disps, mut others) = (0, 0, 0);
    for path in corpus::maps() {
        let Ok(map) = Bsp::open(&path) else { continue };
        match map.phys_disp() {
            Ok(solids) => {
                assert!(solids.rest().is_empty(), "{}", path.display());
                let infos = map.bytes(map.slot("DISPINFO").unwrap().id).unwrap().len();
                assert!(solids.is_empty() || infos > 0 && infos % solids.len() == 0, "{}", path.display());
                (maps, disps) = (maps + 1, disps + solids.len());
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => {
                println!("{}: {error}", path.display());
                others += 1;
            }
        }
    }
    println!("{disps} displacements in {maps} maps; {others} not read");
}

#[test]
fn a_text_changes_and_its_size_follows() {
    let lump =
        [entry(0, &[b"VPHY0", b""], b"solid\0"), entry(3, &[b"x"], b""), entry(4, &[b"y"], b"ab\0\0"), end(), vec![7]];
    let mut draft = built(&lump.concat());
    let physics = draft.physics().unwrap();
    assert_eq!((physics.len(), physics.rest()), (3, &[end(), vec![7]].concat()[..]));
    physics.set_text(1, "new").unwrap();
    physics.set_text(2, "c").unwrap();
    let [first, _, _, last, behind] = lump.clone();
    let expected = [first, entry(3, &[b"x"], b"new\0"), entry(4, &[b"y"], b"c\0\0"), last, behind].concat();
    assert_eq!(edited(&draft), expected);
    let physics = draft.physics().unwrap();
    assert_eq!(physics.set_text(0, b"a\0b").unwrap_err().kind(), ErrorKind::Refused);
    assert_eq!(physics.set_text(3, b"a").unwrap_err().kind(), ErrorKind::NotFound);
    physics.set_text(1, "").unwrap();
    physics.set_text(2, "ab").unwrap();
    assert!(!physics.is_edited());
    assert_eq!(edited(&draft), lump.concat());
}

#[test]
fn sizes_that_lie_are_refused() {
    for (model, solids, text) in [(0, i32::MAX, 0), (0, 8, i32::MAX), (0, 8, -1), (0, 9, 0), (0, i32::MAX, i32::MAX)] {
        let lump = [entry(0, &[b"x"], b"\0"), words(&[model, solids, text, 1]), vec![0; 8]].concat();
        let error = Physics::parse(lump).unwrap_err();
        assert_eq!(
            (error.kind(), error.place().and_then(|place| place.record)),
            (ErrorKind::Malformed, Some(1)),
            "{error}"
        );
    }
    // The sizes of solids: too large, before, left over, another count.
    for (sizes, count) in [(vec![9, 0], 1), (vec![-1, 0], 1), (vec![0, 4], 2), (vec![0, 0], 1), (vec![0, 0], -1)] {
        let lump = [words(&[0, 8, 0, count]), words(&sizes), end()].concat();
        let physics = Physics::parse(lump).unwrap();
        assert_eq!(physics.solids(0).err().unwrap().kind(), ErrorKind::Malformed, "{sizes:?} {count}");
    }
    // No end, a cut one, nothing at all.
    for rest in [0, 4, 12] {
        let lump = [entry(0, &[b"x"], b"t\0"), end()[..rest].to_vec()].concat();
        let physics = Physics::parse(lump.clone()).unwrap();
        assert_eq!((physics.len(), physics.rest().len()), (1, rest));
    }
    assert!(Physics::parse(vec![]).unwrap().is_empty());
    let kind = |bytes: &[u8], version: i32| PhysDisp::parse(bytes.to_vec(), version).unwrap_err().kind();
    assert_eq!([kind(&[0; 4], 1), kind(&[0; 4], 3)], [ErrorKind::Unsupported; 2]);
    assert_eq!(
        [kind(&[1], 0), kind(&[2, 0, 0, 0], 0), kind(&[1, 0, 2, 0, 9], 0), kind(&[255, 255], 0)],
        [ErrorKind::Malformed; 4]
    );
    assert!(PhysDisp::parse(vec![], 0).unwrap().is_empty());
}

/// Version 2 has numbers of 32 bits; a size of all bits stands for none in both.
#[test]
fn wide_sizes_of_displacements_are_read() {
    let lump = [words(&[3, 2, -1, 1]), b"abc".to_vec()].concat();
    let solids = PhysDisp::parse(lump.clone(), 2).unwrap();
    assert_eq!([0, 1, 2].map(|disp| solids.get(disp)), [Some(&b"ab"[..]), None, Some(b"c")]);
    assert_eq!((solids.len(), solids.rest()), (3, &[][..]));
    assert_eq!(PhysDisp::parse(words(&[0]), 2).unwrap().len(), 0);
    let large = [words(&[1, 0xFFFF]), vec![7; 0xFFFF]].concat();
    assert_eq!(PhysDisp::parse(large, 2).unwrap().get(0).map(<[u8]>::len), Some(0xFFFF));
    for wrong in [words(&[-1]), words(&[i32::MAX]), words(&[1]), words(&[1, 1]), words(&[1, -2]), vec![1, 0, 0]] {
        assert_eq!(PhysDisp::parse(wrong.clone(), 2).unwrap_err().kind(), ErrorKind::Malformed, "{wrong:?}");
    }
    // What version it is decides: as numbers of 16 bits it is none.
    assert!(PhysDisp::parse(lump, 0).is_ok_and(|solids| solids.get(0) != Some(b"ab")));
}

#[test]
fn a_size_that_does_not_follow_breaks_the_law() {
    let lump = |text: &[u8], says: i32| {
        let mut first = entry(0, &[b"x"], text);
        first[8..12].copy_from_slice(&words(&[says]));
        Physics::parse([first, entry(1, &[b"y"], b"b\0"), end()].concat())
    };
    let old = lump(b"a\0", 2).unwrap();
    others_keep(&old, &lump(b"aaaa\0", 5).unwrap(), 0).unwrap();
    assert!(lump(b"aaaa\0", 2).is_err() || others_keep(&old, &lump(b"aaaa\0", 2).unwrap(), 0).is_err());
    assert!(others_keep(&old, &lump(b"aaaa\0", 5).unwrap(), 1).is_err());
}

proptest! {
    #![proptest_config(random::config(500, "tests/formats/lenses/physics.seeds"))]

    #[test]
    fn noise_is_read_or_refused(words_: Vec<(u8, bool)>, tail: Vec<u8>) {
        let numbers: Vec<i32> = words_.iter().map(|(number, minus)| i32::from(*number) * if *minus { -1 } else { 1 }).collect();
        let lump = [words(&numbers), tail].concat();
        let mut draft = built(&lump);
        if let Ok(physics) = draft.physics() {
            for index in 0..physics.len() {
                let _ = physics.solids(index).map(Iterator::count);
                physics.set_text(index, "own").unwrap();
            }
            let new = physics.clone();
            let again = Physics::parse(edited(&draft)).unwrap();
            prop_assert_eq!((again.len(), again.rest()), (new.len(), new.rest()));
        }
        for solids in [0, 2].into_iter().filter_map(|version| PhysDisp::parse(lump.clone(), version).ok()) {
            prop_assert!((0..=solids.len()).filter_map(|disp| solids.get(disp)).count() <= solids.len());
        }
    }
}
