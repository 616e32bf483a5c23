//! Words of the header that are no lump's: the checksum that some engines compare, for example.

use bspkit::dialect::{self, Role};
use bspkit::{Bsp, Builder, Layout, SlotId};
use bspkit_ops::merge::merge;

/// A map with this checksum in its header, and light of this brightness.
fn map(checksum: u32, light: u8) -> Bsp<'static> {
    let fakk = *dialect::ALL.iter().find(|dialect| dialect.name == "fakk").unwrap();
    let text = b"{\n\"classname\" \"worldspawn\"\n}\n\0";
    let builder = Builder::new(fakk).checksum(checksum).role(Role::Entities, &text[..]).unwrap();
    let builder = builder.lump(2, vec![light; 128 * 128 * 3]);
    Bsp::from_vec(builder.build().unwrap()).unwrap()
}

fn checksum(map: &Bsp<'_>) -> u32 {
    u32::from_le_bytes(map.container().bytes()[8..12].try_into().unwrap())
}

#[test]
fn the_side_that_changed_the_checksum_gives_it() {
    let base = map(0x1111_1111, 1);
    for (ours, theirs, expected) in [
        (map(0x1111_1111, 1), map(0x2222_2222, 1), Some(0x2222_2222)),
        (map(0x1111_1111, 1), map(0x2222_2222, 9), Some(0x2222_2222)),
        (map(0x2222_2222, 1), map(0x1111_1111, 9), Some(0x2222_2222)),
        (map(0x1111_1111, 9), map(0x2222_2222, 1), Some(0x2222_2222)),
        (map(0x2222_2222, 1), map(0x2222_2222, 1), Some(0x2222_2222)),
        (map(0x2222_2222, 1), map(0x3333_3333, 1), None),
    ] {
        let merged = merge(&base, &ours, &theirs).unwrap();
        assert_eq!(merged.conflicts.is_empty(), expected.is_some(), "{:?}", merged.conflicts);
        let Some(expected) = expected else { continue };
        let new = Bsp::from_vec(merged.draft.plan(Layout::Keep).unwrap().to_vec()).unwrap();
        assert_eq!(checksum(&new), expected);
        let light = |map: &Bsp<'_>| map.bytes(SlotId::Lump(2)).unwrap()[0];
        let wanted = if light(&ours) == 1 { light(&theirs) } else { light(&ours) };
        assert_eq!(light(&new), wanted);
    }
}
