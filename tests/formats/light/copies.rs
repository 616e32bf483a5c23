//! Light that a map has twice: a sample in color for each in grey, in the same order.

use bspkit::content::lightmap::{Image, Light, Luxel};
use bspkit::dialect::quake;
use bspkit::{Bsp, Layout};

use super::{corpus, fixture};

const MAP: &str = "q1/own_rooms_bspx";

fn bytes_of(map: &Bsp<'_>, name: &str) -> Vec<u8> {
    map.bytes(map.slot(name).unwrap().id).unwrap().to_vec()
}

/// The same luxel of the other set.
fn twin(light: &Light<'_>, image: Image) -> Image {
    let set = 1 - image.set;
    let block = light.sets()[set].block_of(light.block(image).unwrap().index()).unwrap();
    Image { set, block, ..image }
}

/// The compiler made the grey of the color, so that a sample of another place would be of another brightness.
#[test]
fn the_copy_has_a_sample_for_each_luxel() {
    let map = fixture(MAP);
    let light = map.light().unwrap();
    let names: Vec<_> = light.sets().iter().map(|set| (set.name(), set.lump(), set.copy_of())).collect();
    assert_eq!(names, [("", "LIGHTING", None), ("rgb", "bspx:RGBLIGHTING", Some(0))]);
    let (grey, color) = (bytes_of(&map, "LIGHTING"), bytes_of(&map, "bspx:RGBLIGHTING"));
    let faces = map.table(quake::FACES).unwrap();
    for image in light.images().filter(|image| image.set == 0) {
        let block = light.block(image).unwrap();
        let offset = usize::try_from(faces.get(block.index()).unwrap().light_offset).unwrap();
        let start = offset + image.style * block.luxels();
        assert_eq!(light.bytes(image).unwrap(), &grey[start..start + block.luxels()]);
        let of_copy = light.bytes(twin(&light, image)).unwrap();
        assert_eq!(of_copy, &color[3 * start..3 * (start + block.luxels())]);
        for (grey, color) in light.bytes(image).unwrap().iter().zip(of_copy.chunks(3)) {
            let [least, most] = [color.iter().min().unwrap(), color.iter().max().unwrap()];
            assert!((least.saturating_sub(2)..=most.saturating_add(2)).contains(grey), "{grey} of {color:?}");
        }
    }
}

#[test]
fn a_change_is_carried_to_the_copy_and_back() {
    let map = fixture(MAP);
    let before = map.light().unwrap();
    let lit = |image: &Image| before.luxel(*image, [1, 1]).is_some_and(|luxel| luxel.linear()[0] > 0.05);
    for set in [0, 1] {
        let image = before.images().filter(|image| image.set == set).find(lit).unwrap();
        let other = twin(&before, image);
        let (old, old_twin) = (before.luxel(image, [1, 1]).unwrap(), before.luxel(other, [1, 1]).unwrap());
        let mut draft = map.draft();
        let light = draft.light().unwrap();
        assert!(light.set(image, [1, 1], old.with_linear(old.linear().map(|part| part / 2.0))).unwrap());
        assert_eq!(light.carry(&before).unwrap(), 1);
        let new_twin = light.luxel(other, [1, 1]).unwrap();
        for (old, new) in old_twin.linear().into_iter().zip(new_twin.linear()) {
            assert!((new - old / 2.0).abs() < 0.01, "{old} became {new}");
        }
        // Once more nothing is left to be carried.
        assert_eq!(light.carry(&before).unwrap(), 0);
        let saved = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
        let count =
            |name: &str| bytes_of(&saved, name).iter().zip(bytes_of(&map, name)).filter(|(a, b)| **a != *b).count();
        assert_eq!(count("LIGHTING"), 1);
        assert!((1..=3).contains(&count("bspx:RGBLIGHTING")));
        assert_eq!(bytes_of(&saved, "bspx:LIGHTINGDIR"), bytes_of(&map, "bspx:LIGHTINGDIR"));
    }
}

/// Engines take a copy only where it has as many luxels.
#[test]
fn a_copy_of_another_size_is_none() {
    let map = fixture(MAP);
    let mut draft = map.draft();
    let short = bytes_of(&map, "bspx:RGBLIGHTING");
    draft.set(map.slot("bspx:RGBLIGHTING").unwrap().id, short[..short.len() - 3].to_vec()).unwrap();
    let saved = Bsp::from_vec(draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
    assert_eq!(saved.light().unwrap().sets().iter().map(|set| set.name()).collect::<Vec<_>>(), [""]);
}

/// What was painted itself stays as it was painted.
#[test]
fn what_was_changed_in_both_is_left_alone() {
    let map = fixture(MAP);
    let before = map.light().unwrap();
    let image = before.images().next().unwrap();
    let other = twin(&before, image);
    let mut draft = map.draft();
    let light = draft.light().unwrap();
    light.update(image, |_, _| Luxel::Grey(201)).unwrap();
    light.update(other, |[x, y], old| if [x, y] == [0, 0] { Luxel::Rgb([1, 2, 3]) } else { old }).unwrap();
    light.carry(&before).unwrap();
    assert_eq!(light.luxel(image, [0, 0]), Some(Luxel::Grey(201)));
    assert_eq!(light.luxel(other, [0, 0]), Some(Luxel::Rgb([1, 2, 3])));
    assert_ne!(light.luxel(other, [1, 0]), before.luxel(other, [1, 0]));
}

/// Some maps have no light but the copy: it is read by where the faces say the other one would be.
#[test]
fn copies_of_real_maps() {
    let mut alone = 0;
    for path in corpus::maps() {
        let Ok(map) = Bsp::open(&path) else { continue };
        let Ok(light) = map.light() else { continue };
        let copies: Vec<_> = light.sets().iter().filter(|set| set.lump() == "bspx:RGBLIGHTING").collect();
        assert!(copies.iter().all(|set| set.faults().is_empty()), "{}", path.display());
        assert!(copies.is_empty() || copies.iter().any(|set| !set.blocks().is_empty()), "{}", path.display());
        alone += usize::from(!copies.is_empty() && copies.len() == light.sets().len());
    }
    println!("{alone} maps have light in color alone");
}
