//! How fast bspkit, vbsp and qbsp decode the same arrays, beside a copy of their bytes in the same run:
//! `cargo run --release --manifest-path tests/readers/bench/Cargo.toml`.

#[allow(dead_code)]
#[path = "../../../../benches/core/harness.rs"]
mod harness;

use std::io::Cursor;

use binrw::{BinRead, BinReaderExt};
use bspkit::dialect::{Key, quake2, source};
use bspkit::record::Record;
use bspkit::{Bsp, Builder, dialect};
use qbsp::BspFormat;
use qbsp::data::LumpEntry;
use qbsp::data::models::BspFace;
use qbsp::data::nodes::BspPlane;
use qbsp::reader::{BspParseContext, BspValue};

use harness::{Group, Outcome, Row, Work};

const COUNT: usize = 100_000;
const TURNS: usize = 41;

fn main() -> Outcome {
    let each = Work::Entities(COUNT);
    // Axial planes: qbsp refuses other kinds than there are.
    let planes: Vec<u8> = [[0; 12], [1; 12]].concat()[4..]
        .repeat(COUNT)
        .chunks(20)
        .flat_map(|plane| [&plane[..16], &[2, 0, 0, 0]].concat())
        .collect();
    let map = Bsp::from_vec(Builder::new(&dialect::QUAKE2).lump(1, &planes[..]).build()?)?;
    let mut group = Group::new(format!("{COUNT} planes of 20 bytes"));
    let memcpy = group.reference("memcpy", each, || Ok(planes.to_vec()));
    ours(&mut group, memcpy, &map, quake2::PLANES)?;
    group.row("vbsp", each, memcpy, || theirs::<vbsp::Plane>(&planes));
    group.row("qbsp", each, memcpy, || lump::<BspPlane>(&planes));
    group.measure(TURNS)?;

    let faces: Vec<u8> = (0..COUNT * 20).map(|at| at as u8).collect();
    let map = Bsp::from_vec(Builder::new(&dialect::QUAKE2).lump(6, &faces[..]).build()?)?;
    let mut group = Group::new(format!("{COUNT} faces of 20 bytes"));
    let memcpy = group.reference("memcpy", each, || Ok(faces.to_vec()));
    ours(&mut group, memcpy, &map, quake2::FACES)?;
    group.row("qbsp", each, memcpy, || lump::<BspFace>(&faces));
    group.measure(TURNS)?;

    let faces: Vec<u8> = (0..COUNT * 56).map(|at| at as u8).collect();
    let model = [&[0; 44][..], &i32::try_from(COUNT)?.to_le_bytes()].concat();
    let map = Bsp::from_vec(Builder::new(&dialect::SOURCE).lump(7, &faces[..]).lump(14, model).build()?)?;
    let mut group = Group::new(format!("{COUNT} faces of 56 bytes"));
    let memcpy = group.reference("memcpy", each, || Ok(faces.to_vec()));
    ours(&mut group, memcpy, &map, source::FACES)?;
    group.row("vbsp", each, memcpy, || theirs::<vbsp::Face>(&faces));
    group.measure(TURNS)?;
    Ok(())
}

fn ours<'m, R: Record>(group: &mut Group<'m>, memcpy: Row, map: &Bsp<'m>, key: Key<R>) -> Outcome {
    let table = map.table(key)?;
    group.row("bspkit", Work::Entities(COUNT), memcpy, move || Ok(table.iter().collect::<Vec<R>>()));
    Ok(())
}

/// As its `LumpReader` does it.
fn theirs<T: for<'a> BinRead<Args<'a> = ()>>(bytes: &[u8]) -> Outcome<Vec<T>> {
    let mut reader = Cursor::new(bytes);
    let mut records = Vec::with_capacity(COUNT);
    for _ in 0..COUNT {
        records.push(reader.read_le()?);
    }
    Ok(records)
}

fn lump<T: BspValue>(bytes: &[u8]) -> Outcome<Vec<T>> {
    let entry = LumpEntry { offset: 0, len: u32::try_from(bytes.len())? };
    Ok(qbsp::read_lump(bytes, entry, "records", &BspParseContext { format: BspFormat::BSP38 })?)
}
