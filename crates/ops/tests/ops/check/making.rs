//! Maps for the faults: what they are made of.

use bspkit::dialect::{self, Dialect};
use bspkit::record::{FieldInfo, Shape};
use bspkit::{Bsp, Builder, Layout, SlotId};

pub(crate) fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/../../tests/maps/{name}.bsp", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

pub(crate) fn own(game: &str) -> Vec<u8> {
    fixture(&format!("{game}/own_rooms"))
}

pub(crate) fn source() -> Vec<u8> {
    fixture("source/room_v20")
}

/// The map with other bytes in a lump.
pub(crate) fn edited(map: &[u8], lump: &str, edit: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let map = Bsp::parse(map).unwrap();
    let slot = map.slot(lump).unwrap().id;
    let mut bytes = map.bytes(slot).unwrap().to_vec();
    edit(&mut bytes);
    let mut draft = map.draft();
    draft.set(slot, bytes).unwrap();
    draft.plan(Layout::Keep).unwrap().to_vec()
}

/// The map with another number in a field: `FACES`, `children[1]`.
pub(crate) fn with(map: &[u8], lump: &str, record: usize, field: &str, value: i64) -> Vec<u8> {
    let at = place(map, lump, record, field);
    edited(map, lump, |bytes| bytes[at.clone()].copy_from_slice(&value.to_le_bytes()[..at.len()]))
}

/// The map with another number in a field of a face, in the list for each dynamic range.
pub(crate) fn in_both(map: &[u8], face: usize, field: &str, value: i64) -> Vec<u8> {
    with(&with(map, "FACES", face, field, value), "FACES_HDR", face, field, value)
}

/// With a float.
pub(crate) fn with_float(map: &[u8], lump: &str, record: usize, field: &str, value: f32) -> Vec<u8> {
    with(map, lump, record, field, i64::from(value.to_bits()))
}

/// Where in a lump a number of a record stands; in a lump of lists the list with the field counts.
pub(crate) fn place(map: &[u8], lump: &str, record: usize, field: &str) -> std::ops::Range<usize> {
    let map = Bsp::parse(map).unwrap();
    let (name, item) =
        field.split_once('[').map_or((field, 0), |(name, rest)| (name, rest[..rest.len() - 1].parse().unwrap()));
    let parts = map.spans(map.slot(lump).unwrap()).unwrap();
    let part = parts.iter().rfind(|part| part.record.field(name).is_some()).unwrap();
    let FieldInfo { offset, shape, .. } = *part.record.field(name).unwrap();
    let shape = leaf(shape);
    let start = part.range.start + record * part.record.size + offset + item * shape.size();
    start..start + shape.size()
}

/// Detail props in these leafs.
pub(crate) fn details(leafs: [i64; 3]) -> Vec<u8> {
    let map = source();
    let [first, second] = [0, 1].map(|record| place(&map, "game:dprp", record, "leaf").start);
    let size = second - first;
    let parsed = Bsp::parse(&map).unwrap();
    let spans = parsed.spans(parsed.slot("game:dprp").unwrap()).unwrap();
    let list = spans.iter().rfind(|part| part.record.field("leaf").is_some()).unwrap().range.clone();
    let map = edited(&map, "game:dprp", |bytes| {
        bytes.truncate(list.start + 2 * size);
        bytes.extend_from_within(list.start..list.start + size);
        bytes[list.start - 4..list.start].copy_from_slice(&3_i32.to_le_bytes());
    });
    let set = |map: Vec<u8>, (at, leaf): (usize, i64)| with(&map, "game:dprp", at, "leaf", leaf);
    leafs.into_iter().enumerate().fold(map, set)
}

pub(crate) fn leaf(shape: Shape) -> Shape {
    match shape {
        Shape::Array(item, _) => leaf(*item),
        shape => shape,
    }
}

pub(crate) fn read(map: &[u8], lump: &str, record: usize, field: &str) -> i64 {
    let at = place(map, lump, record, field);
    let map = Bsp::parse(map).unwrap();
    let bytes = map.bytes(map.slot(lump).unwrap().id).unwrap();
    let mut number = [0; 8];
    number[..at.len()].copy_from_slice(&bytes[at]);
    i64::from_le_bytes(number)
}

/// The map with a texture whose offsets say that its pixels are elsewhere.
pub(crate) fn without_pixels(name: &str) -> Vec<u8> {
    edited(&fixture(name), "TEXTURES", |bytes| {
        let (_, start) = first_texture(bytes);
        bytes[start + 24..start + 40].fill(0);
    })
}

/// The map whose first texture has a name of 16 letters.
pub(crate) fn with_full_name(name: &str) -> Vec<u8> {
    edited(&fixture(name), "TEXTURES", |bytes| {
        let (_, start) = first_texture(bytes);
        bytes[start..start + 16].copy_from_slice(b"a_name_of_16_let");
    })
}

/// The map with another pair in worldspawn.
pub(crate) fn pair(map: &[u8], key: &str, value: &str) -> Vec<u8> {
    text(map, "\"classname\" \"worldspawn\"", &format!("\"classname\" \"worldspawn\"\n\"{key}\" \"{value}\""))
}

/// The map with other words in its entity text.
pub(crate) fn text(map: &[u8], old: &str, new: &str) -> Vec<u8> {
    edited(map, "entities", |bytes| {
        let at = bytes.windows(old.len()).position(|window| window == old.as_bytes()).unwrap();
        bytes.splice(at..at + old.len(), new.bytes());
    })
}

/// The map with one more entity at the end of its text.
pub(crate) fn entity(map: &[u8], text: &str) -> Vec<u8> {
    edited(map, "entities", |bytes| {
        assert_eq!(bytes.pop(), Some(0));
        bytes.extend(text.bytes().chain([0]));
    })
}

/// The map with another word in a lump's entry: offset, length, and of Source version and size.
pub(crate) fn word(mut map: Vec<u8>, lump: usize, field: usize, value: i32) -> Vec<u8> {
    let shape = Bsp::parse(&map).unwrap().container().shape();
    let at = shape.entry_offset(lump) + 4 * field;
    map[at..at + 4].copy_from_slice(&value.to_le_bytes());
    map
}

/// A small Quake III map of one plane, node and leaf, without the lump of this number.
pub(crate) fn quake3_without(lump: usize) -> Vec<u8> {
    let node: Vec<u8> = [0_i32, -1, -1, 0, 0, 0, 0, 0, 0].into_iter().flat_map(i32::to_le_bytes).collect();
    let lumps =
        [(0, b"{\n\"classname\" \"worldspawn\"\n}\n\0".to_vec()), (1, vec![0; 72]), (2, vec![0; 16]), (3, node)];
    let lumps = lumps.into_iter().chain([(4, vec![0; 48]), (7, vec![0; 40])]);
    build(&dialect::QUAKE3, lumps.filter(|(index, _)| *index != lump))
}

pub(crate) fn build(dialect: &'static Dialect, lumps: impl Iterator<Item = (usize, Vec<u8>)>) -> Vec<u8> {
    lumps.fold(Builder::new(dialect), |builder, (index, bytes)| builder.lump(index, bytes)).build().unwrap()
}

/// The Source map with a displacement on its first face.
pub(crate) fn displaced() -> Vec<u8> {
    let mut displacement = vec![0; 176];
    displacement[20] = 2;
    // No neighbours.
    displacement[48..136].fill(0xFF);
    [104, 114, 124, 134].into_iter().for_each(|count: usize| displacement[count] = 0);
    let map = edited(&source(), "DISPINFO", |bytes| bytes.clone_from(&displacement));
    let map = edited(&map, "DISP_VERTS", |bytes| bytes.resize(25 * 20, 0));
    let map = edited(&map, "DISP_TRIS", |bytes| bytes.resize(32 * 2, 0));
    in_both(&map, 0, "displacement", 0)
}

/// The Source map with light of two styles for its detail props, of which the first says it has so many.
pub(crate) fn styled(count: i64) -> Vec<u8> {
    let map = with(&with(&source(), "game:dprp", 0, "style_count", count), "game:dprp", 0, "first_style", 0);
    let map = Bsp::parse(&map).unwrap();
    let mut builder = Builder::new(map.dialect()).version(map.version());
    for slot in map.slots() {
        let bytes = map.bytes(slot.id).unwrap().to_vec();
        let version = slot.version.unwrap();
        builder = match slot.id {
            SlotId::Lump(35) => builder,
            SlotId::Lump(index) => builder.lump(index, bytes).lump_version(index, version),
            _ => {
                let id: [u8; 4] = slot.name.as_bytes()[5..9].try_into().unwrap();
                builder.game_lump(id, u16::try_from(version).unwrap(), bytes)
            }
        };
    }
    let lights = [&[2, 0, 0, 0][..], &[0; 10]].concat();
    builder.game_lump(*b"dplt", 0, lights).build().unwrap()
}

/// The displacement with so many neighbors in its first corner, none of which is there.
pub(crate) fn corner(count: u8) -> Vec<u8> {
    edited(&displaced(), "DISPINFO", |bytes| bytes[96 + 8] = count)
}

/// The Quake II map with a ring of the texinfos 1 and 2, into which 3 leads.
pub(crate) fn frames(into: i64) -> Vec<u8> {
    let map = with(&own("q2"), "TEXINFO", 1, "next", 2);
    let map = with(&map, "TEXINFO", 2, "next", 1);
    with(&map, "TEXINFO", 3, "next", into)
}

/// Lumps that unpack to 90 MiB, in a file that is large enough for it.
pub(crate) fn expanding() -> Vec<u8> {
    let mut map = bombs(&[49, 57, 59]);
    map.resize(2 << 20, 0);
    map
}

/// The compressed map with a lump that states another size after decompression, in the directory and in its header.
pub(crate) fn stating(lump: usize, size: i32) -> Vec<u8> {
    stated(fixture("source/room_v20_lzma"), lump, size)
}

pub(crate) fn stated(map: Vec<u8>, lump: usize, size: i32) -> Vec<u8> {
    let mut map = word(map, lump, 3, size);
    let start = Bsp::parse(&map).unwrap().slots()[lump].stored.start;
    map[start + 4..start + 8].copy_from_slice(&size.to_le_bytes());
    map
}

/// Lumps that unpack to 30 MiB each.
pub(crate) fn bombs(lumps: &[usize]) -> Vec<u8> {
    const SIZE: i32 = 30 << 20;
    let packed = bspkit::file::lzma::compress(&vec![0; usize::try_from(SIZE).unwrap()], Default::default()).unwrap();
    let mut map = source();
    for lump in lumps.iter().copied() {
        let at = i32::try_from(map.len()).unwrap();
        let len = i32::try_from(packed.len()).unwrap();
        map.extend(&packed);
        map = word(word(word(map, lump, 0, at), lump, 1, len), lump, 3, SIZE);
    }
    map
}

/// The GoldSrc map with a face of 2,000 texels, which has no light.
pub(crate) fn stretched() -> Vec<u8> {
    let mut map = own("goldsrc");
    let texinfos = (0..116).map(|face| read(&map, "FACES", face, "texinfo"));
    let is_lit = |texinfo: &i64| read(&map, "TEXINFO", usize::try_from(*texinfo).unwrap(), "flags") == 0;
    let texinfo = texinfos.into_iter().find(is_lit).unwrap();
    for item in 0..8 {
        let old = read(&map, "TEXINFO", usize::try_from(texinfo).unwrap(), &format!("vectors[{item}]"));
        let old = f32::from_bits(u32::try_from(old).unwrap());
        map = with_float(&map, "TEXINFO", usize::try_from(texinfo).unwrap(), &format!("vectors[{item}]"), old * 40.0);
    }
    for face in 0..116 {
        if read(&map, "FACES", face, "texinfo") == texinfo {
            map = with(&map, "FACES", face, "light_offset", -1);
        }
    }
    map
}

/// The Source map as a game with wider structs has it: with zeros behind each record.
pub(crate) fn widened() -> Vec<u8> {
    let sizes =
        [("FACES", 56, 72), ("FACES_HDR", 56, 72), ("ORIGINALFACES", 56, 72), ("EDGES", 4, 8), ("LEAFS", 32, 56)];
    let more =
        [("NODES", 32, 48), ("BRUSHSIDES", 8, 16), ("AREAPORTALS", 12, 20), ("LEAFFACES", 2, 4), ("LEAFBRUSHES", 2, 4)];
    sizes.into_iter().chain(more).fold(source(), |map, (lump, old, new)| {
        edited(&map, lump, |bytes| {
            let wide = bytes.chunks_exact(old).flat_map(|record| record.iter().copied().chain(vec![0; new - old]));
            *bytes = wide.collect();
        })
    })
}

/// The Source map with another number of names, leafs or static props.
pub(crate) fn props(which: fn(usize, usize, usize) -> usize, count: i32) -> Vec<u8> {
    edited(&source(), "game:sprp", |bytes| {
        let number = |at: usize| usize::try_from(i32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())).unwrap();
        let leafs = 4 + number(0) * 128;
        let at = which(0, leafs, leafs + 4 + number(leafs) * 2);
        bytes[at..at + 4].copy_from_slice(&count.to_le_bytes());
    })
}

/// The Source map with an occluder of one polygon of three corners: the first and number of each.
pub(crate) fn occluder(polygons: [i32; 2], corners: [i32; 2]) -> Vec<u8> {
    let (one, none): (&[i32], &[i32]) = (&[1], &[0; 6]);
    let words = [one, &[0], &polygons, none, &[-1], one, &corners, &[0], &[3, 0, 1, 2]].concat();
    edited(&source(), "OCCLUSION", |bytes| *bytes = words.into_iter().flat_map(i32::to_le_bytes).collect())
}

pub(crate) fn first_surface(map: &[u8], kind: i64) -> usize {
    (0..51).find(|surface| read(map, "SURFACES", *surface, "kind") == kind).unwrap()
}

/// Where the offset of the first texture that is there stands, and where it begins.
pub(crate) fn first_texture(bytes: &[u8]) -> (usize, usize) {
    let number = |at: usize| i32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let entry = (1..).map(|index| index * 4).find(|entry| number(*entry) != -1).unwrap();
    (entry, usize::try_from(number(entry)).unwrap())
}

/// The GoldSrc map with another name for its first texture.
pub(crate) fn renamed(name: &[u8]) -> Vec<u8> {
    edited(&own("goldsrc"), "TEXTURES", |bytes| {
        let (_, at) = first_texture(bytes);
        bytes[at..at + 16].fill(0);
        bytes[at..at + name.len()].copy_from_slice(name);
    })
}

/// The map without its last bytes.
pub(crate) fn cut(mut map: Vec<u8>, bytes: usize) -> Vec<u8> {
    map.truncate(map.len() - bytes);
    map
}

/// A plane across x.
pub(crate) fn axial(map: &[u8]) -> usize {
    (0..).find(|plane| read(map, "PLANES", *plane, "kind") == 0).unwrap()
}
