//! New maps of every dialect and shape, as a builder makes them: what was put in is what is read.

use std::num::NonZeroUsize;

use bspkit::compress::{self, Options};
use bspkit::dialect::{ALL, Dialect, Role};
use bspkit::file::directory::EntryFields;
use bspkit::file::lzma::Level;
use bspkit::{Bsp, Builder, Layout, SlotId, verify};

use super::edits::{Choices, saved};

const ENTITIES: &[u8] = b"{\n\"classname\" \"worldspawn\"\n}\n\0";

/// What a new map has, where that can be read again.
#[derive(Default)]
struct Put {
    lumps: Vec<(usize, Vec<u8>)>,
    members: Vec<Vec<u8>>,
    blocks: Vec<(String, Vec<u8>)>,
    /// Whether the directory says something else, on purpose.
    is_bent: bool,
}

pub fn maps(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let dialect = ALL[choices.below(ALL.len())];
    let (builder, put) = build(&mut choices, dialect);
    let Ok(file) = builder.build() else { return };
    let map = Bsp::from_data(file.into(), Some(dialect));
    if put.is_bent {
        let _ = map.map(|map| verify::run(&map).is_ok());
        return;
    }
    let map = map.expect("a new map opens");
    // A directory with an entry more has it if the lump has bytes.
    for (index, bytes) in put.lumps.iter().filter(|(_, bytes)| !bytes.is_empty()) {
        let slot = map.slots().iter().find(|slot| slot.id == SlotId::Lump(*index)).expect("it has the lump");
        assert_eq!(map.bytes(slot.id).expect("the lump can be read").to_vec(), *bytes, "{}", slot.name);
    }
    let members = map.slots().iter().filter(|slot| matches!(slot.id, SlotId::Game(_)) && slot.length > 0);
    let members: Vec<_> = members.map(|slot| map.bytes(slot.id).expect("a member can be read").to_vec()).collect();
    assert_eq!(members, put.members.iter().filter(|bytes| !bytes.is_empty()).cloned().collect::<Vec<_>>());
    for (name, bytes) in &put.blocks {
        let slot = map.slots().iter().find(|slot| slot.name == format!("bspx:{name}")).expect("it has the block");
        assert_eq!(map.bytes(slot.id).expect("the block can be read").to_vec(), *bytes, "{name}");
    }
    assert!(verify::run(&map).is_ok(), "{:?}", verify::run(&map));
    packed(&map, &mut choices);
}

/// Compression at each level, on any number of threads, and back.
fn packed(map: &Bsp<'_>, choices: &mut Choices<'_>) {
    let threads = NonZeroUsize::new(1 + choices.below(3)).expect("more than none");
    let level = Level::new([0, 1, 6, 9][choices.below(4)]).expect("a level");
    let options = Options::default().all(choices.below(2) == 0).level(level).threads(threads).pak(true);
    let mut draft = map.draft();
    let Ok(report) = compress::compress(&mut draft, &options) else { return };
    let (before, after) = report.sizes();
    assert!(options.all || after <= before, "it has grown from {before} to {after} bytes");
    let names = report.pieces.iter().map(|piece| format!("{} {}", piece.name, piece.outcome));
    assert!(names.collect::<String>().len() >= report.pieces.len());
    let Some(small) = saved(&draft, Layout::Repack) else { return };
    let mut draft = small.draft();
    if compress::decompress(&mut draft, &options).is_ok() {
        let _ = saved(&draft, Layout::Repack);
    }
}

fn build(choices: &mut Choices<'_>, dialect: &'static Dialect) -> (Builder, Put) {
    let mut put = Put::default();
    let shape = dialect.shapes[choices.below(dialect.shapes.len())];
    let mut builder = Builder::new(dialect).shape(shape);
    let version = dialect.versions[choices.below(dialect.versions.len())];
    builder = builder.version(version);
    builder = builder.revision(7).checksum(9);
    let entities = dialect.role(Role::Entities);
    for _ in 0..choices.below(6) {
        let index = choices.below(shape.count);
        // What has a structure of its own is not any bytes.
        if Some(index) == dialect.rules.game_lump || Some(index) == entities || put.has(index) {
            continue;
        }
        let bytes = vec![7; choices.below(400)];
        let packs = choices.below(3) == 0;
        builder = match packs.then(|| builder.clone().compressed_lump(index, &bytes)) {
            Some(Ok(builder)) => builder,
            _ => builder.lump(index, bytes.clone()),
        };
        builder = builder.lump_version(index, i32::from(choices.below(2) == 0));
        if choices.below(3) == 0 {
            builder = builder.align(index, [1, 2, 4, 16, 2048, 3][choices.below(6)]);
        }
        if choices.below(4) == 0 {
            builder = builder.gap_before(index, vec![3; choices.below(20)]);
            // Readers look for BSPX directly after the last lump with bytes.
            put.is_bent |= bytes.is_empty();
        }
        put.lumps.push((index, bytes));
    }
    if let Some(index) = entities {
        builder = builder.lump(index, ENTITIES);
        put.lumps.push((index, ENTITIES.to_vec()));
    }
    // Some versions have members in another layout, which is not read.
    let is_opaque = dialect.opaque_game_lumps.iter().any(|(opaque, _)| *opaque == version);
    if dialect.rules.game_lump.is_some() && !is_opaque {
        builder = members(choices, builder, &mut put);
    }
    if choices.below(4) == 0 {
        let name = ["OWN", "RGBLIGHTING", "A NAME OF TWENTY-TWO B", "A\0B", ""][choices.below(5)];
        let bytes = vec![5; 1 + choices.below(40)];
        builder = builder.bspx(name, bytes.clone());
        put.is_bent |= name != "OWN";
        put.blocks.push((name.to_owned(), bytes));
    }
    if choices.below(8) == 0 {
        builder = builder.order(&[choices.below(shape.count), choices.below(shape.count)]);
    }
    for _ in 0..choices.below(8) / 7 {
        put.is_bent = true;
        let number = i32::try_from(choices.below(1 << 16)).unwrap_or_default();
        builder = match choices.below(5) {
            0 => builder.entry(
                choices.below(shape.count + 1),
                EntryFields { offset: number, length: number, version: Some(number), unpacked: Some(number) },
            ),
            1 => builder.trailer(),
            2 => builder.tail(vec![1; choices.below(40)]),
            3 => builder.extra(choices.below(80), vec![2; choices.below(40)]),
            _ => builder.unpadded(),
        };
    }
    (builder, put)
}

fn members(choices: &mut Choices<'_>, mut builder: Builder, put: &mut Put) -> Builder {
    builder = builder.align_game_lumps([1, 4, 16][choices.below(3)]);
    for at in 0..choices.below(4) {
        let id = [b'o', b'w', b'n', b'0' + u8::try_from(at).unwrap_or_default()];
        let bytes = vec![9; choices.below(300)];
        builder = match choices.below(3) {
            0 => match builder.clone().compressed_game_lump(id, 1, &bytes) {
                Ok(builder) => builder,
                Err(_) => builder.game_lump(id, 1, bytes.clone()),
            },
            1 => builder.game_lump(id, 1, bytes.clone()).game_lump_flags(2),
            _ => builder.game_lump(id, 1, bytes.clone()),
        };
        put.members.push(bytes);
    }
    if choices.below(2) == 0 { builder.game_lump_end() } else { builder }
}

impl Put {
    fn has(&self, index: usize) -> bool {
        self.lumps.iter().any(|(known, _)| *known == index)
    }
}
