//! What is printed reads back to the same bytes: random records of every type, and every lump of real maps.

use bspkit::dialect::{self, Form, Row};
use proptest::prelude::*;

use super::*;

#[path = "../../../../tests/common/corpus.rs"]
mod corpus;
#[path = "../../../../tests/common/random.rs"]
mod random;

fn printed(lump: &Lump<'_>, format: Format, names: FlagNames) -> Vec<u8> {
    let mut text = Vec::new();
    let write = |piece: &[u8]| {
        text.extend_from_slice(piece);
        Ok::<_, Error>(true)
    };
    lump.print(format, names, write).unwrap();
    text
}

/// Prints and reads back in every format that the lump has.
fn round_trip(lump: &Lump<'_>, names: FlagNames) {
    let csv = (lump.parts.len() == 1).then_some(Format::Csv);
    for format in [Format::Json].into_iter().filter(|_| !lump.parts.is_empty()).chain(csv).chain([Format::Raw]) {
        let text = printed(lump, format, names);
        let back = match format {
            Format::Raw => text,
            _ => lump.assemble(&lump.lists(format, names, &text[..]).unwrap()).unwrap(),
        };
        // Raw bytes stay in the order of the file.
        let wanted = if format == Format::Raw { &lump.raw } else { &lump.bytes };
        assert!(*back == **wanted, "{} differs by way of {format:?}", lump.name);
    }
}

/// Bytes of a row's form with records of random bytes, and a few bytes after them.
fn filled(row: &Row, noise: &[u8]) -> Vec<u8> {
    let mut noise = noise.iter().copied().cycle();
    let mut records = |size: usize| -> Vec<u8> { noise.by_ref().take(3 * size).collect() };
    match row.form {
        Form::Array(record) => [records(record.size), vec![7; record.size - 1]].concat(),
        Form::Lists(lists) => {
            let count = 3_u32.to_le_bytes();
            let ahead = lists.iter().filter(|list| matches!(list.counted, dialect::Counted::At(_))).count();
            let list = |list: &dialect::List| {
                let before = if list.counted == dialect::Counted::Before { &count[..] } else { &[] };
                [before, &records(list.record.size)].concat()
            };
            count.repeat(ahead).into_iter().chain(lists.iter().flat_map(list)).collect()
        }
        _ => Vec::new(),
    }
}

proptest! {
    #![proptest_config(random::config(64, "src/records/tests.proptest-regressions"))]
    #[test]
    fn records_of_every_type_read_back(noise in prop::collection::vec(any::<u8>(), 64..2000)) {
        for dialect in dialect::ALL {
            for row in dialect.rows.iter().copied().flatten() {
                let bytes = Data::from(filled(row, &noise));
                let parts = row.parts(&bytes).unwrap();
                let has_lists = parts.len() > 1;
                let (slot, why) = (SlotId::Lump(0), String::new());
                let (name, raw) = (row.lump.to_owned(), bytes.clone());
                let lump = Lump { slot, name, bytes, raw, parts, has_lists, why };
                for game in dialect.games {
                    round_trip(&lump, game.flags);
                }
            }
        }
    }
}

#[test]
fn lumps_of_real_maps_read_back() {
    for path in corpus::maps() {
        let Ok(bsp) = Bsp::open(&path) else { continue };
        let names = bsp.dialect().game(bsp.version()).flags;
        for slot in bsp.slots() {
            // A lump of many megabytes is more of the same.
            if let Ok(lump) = Lump::read(&bsp, slot)
                && lump.bytes.len() < 1 << 18
            {
                round_trip(&lump, names);
            }
        }
    }
}
