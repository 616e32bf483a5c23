//! The speed of reading and writing records in a user's crate, compared with a copy of the same bytes in the same
//! process: `cargo run --locked --release --manifest-path benches/user/Cargo.toml`.
//!
//! Arrays of a million records, which have targets, of 100,000, and of 50,000, which fit the caches: there the copy goes
//! into memory that is in use already, and decoding has a target beside that.
//! `tests/readers/bench` measures other crates with the same arrays. Tables are Markdown; the last lines are the
//! targets.

#[allow(dead_code)]
#[path = "../../core/harness.rs"]
mod harness;

use std::hint::black_box;

use bspkit::dialect::{Dialect, Key, QUAKE2, QUAKE3, SOURCE, quake2, quake3, source};
use bspkit::record::Record;
use bspkit::{Bsp, Builder};

use harness::{Group, Outcome, Work, in_time, three_digits};

const MANY: usize = 1_000_000;
const WARM: usize = 50_000;
const TURNS: usize = 21;

fn main() -> Outcome {
    let mut aims = Vec::new();
    for count in [WARM, 100_000, MANY] {
        let bench = Bench { count };
        let planes = Array { dialect: &QUAKE2, key: quake2::PLANES, lump: 1 };
        bench.measure(planes, |plane| plane.distance, |plane| plane.distance += 8.0, &mut aims)?;
        let vertexes = Array { dialect: &QUAKE3, key: quake3::DRAWVERTS, lump: 10 };
        bench.measure(vertexes, |vertex| vertex.point[2], |vertex| vertex.point[2] += 8.0, &mut aims)?;
        let faces = Array { dialect: &SOURCE, key: source::FACES, lump: 7 };
        bench.measure(faces, |face| face.light_offset, |face| face.light_offset += 4, &mut aims)?;
        let surfaces = Array { dialect: &QUAKE3, key: quake3::SURFACES, lump: 13 };
        bench.measure(surfaces, |surface| surface.fog, |surface| surface.fog += 1, &mut aims)?;
    }
    println!();
    aims.iter().for_each(|aim| println!("aim: {aim}"));
    Ok(())
}

/// A lump of records.
struct Array<R> {
    dialect: &'static Dialect,
    key: Key<R>,
    lump: usize,
}

struct Bench {
    count: usize,
}

impl Bench {
    fn measure<R: Record, F>(
        &self,
        array: Array<R>,
        field: impl Fn(&R) -> F,
        change: impl Fn(&mut R),
        aims: &mut Vec<String>,
    ) -> Outcome {
        let size = R::INFO.size;
        let bytes: Vec<u8> = (0..self.count * size).map(|at| (at * 31 + at / 255) as u8 & 0x3F).collect();
        let map = Builder::new(array.dialect).lump(array.lump, bytes.clone());
        // Source's faces are accepted only if a model has as many.
        let model = [&[0; 44][..], &i32::try_from(self.count)?.to_le_bytes()].concat();
        let map = if array.lump == 7 { map.lump(14, model) } else { map };
        let map = Bsp::from_vec(map.build()?)?;
        let table = map.table(array.key)?;
        let records: Vec<R> = table.iter().collect();
        let (mut first, mut second, mut third) = (map.draft(), map.draft(), map.draft());
        let (mut written, mut updated) = (first.table(array.key)?, second.table(array.key)?);
        let mut got = third.table(array.key)?;
        // The first edit copies the lump.
        written.push_without_following(records[0]);

        let (mut copied, mut kept) = (bytes.clone(), records.clone());
        let name = format!("{} {} of {size} bytes", self.count, array.key.lump());
        let mut group = Group::new(name.clone());
        let each = Work::Entities(self.count);
        let memcpy = group.reference("memcpy", each, || Ok(bytes.to_vec()));
        let decode = group.row("all decoded", each, memcpy, || Ok(table.iter().collect::<Vec<R>>()));
        group.row("a field of all", each, memcpy, || {
            table.iter().for_each(|record| drop(black_box(field(&record))));
            Ok(())
        });
        let warm = group.reference("memcpy into the same memory", each, || {
            copied.copy_from_slice(black_box(&bytes));
            black_box(&copied);
            Ok(())
        });
        let again = group.row("all decoded into the same memory", each, warm, || {
            kept.iter_mut().zip(table.iter()).for_each(|(kept, record)| *kept = record);
            black_box(&kept);
            Ok(())
        });
        let encode = group.row("all decoded and encoded", each, memcpy, || Ok((R::INFO.reencode)(&bytes)));
        let set = group.row("all set", each, memcpy, || {
            Ok(records.iter().enumerate().try_for_each(|(index, record)| written.set(index, *record))?)
        });
        let update = group.row("all changed in place", each, memcpy, || {
            Ok((0..self.count).try_for_each(|index| updated.update(index, &change))?)
        });
        let get_set = group.row("all got, changed, set", each, memcpy, || {
            Ok((0..self.count).try_for_each(|index| {
                let mut record = got.get(index)?;
                change(&mut record);
                got.set(index, record)
            })?)
        });
        let measured = group.measure(TURNS)?;

        if self.count == WARM {
            const MOST: f64 = 1.3;
            let ratio = measured.ratio(again, warm);
            let verdict = if ratio <= MOST { "met" } else { "missed" };
            aims.push(format!(
                "{name} are decoded into the same memory within {MOST} of memcpy: {}, {verdict}",
                three_digits(ratio)
            ));
        }
        if self.count < MANY {
            return Ok(());
        }
        let most = if size < 44 { 3.0 } else { 1.5 };
        for (what, row) in [("decoded", decode), ("encoded", encode), ("set", set)] {
            let ratio = measured.ratio(row, memcpy);
            let verdict = if ratio <= most { "met" } else { "missed" };
            aims.push(format!("{name} are {what} within {most} of memcpy: {}, {verdict}", three_digits(ratio)));
        }
        const MOST: f64 = 3e-9;
        for (what, row) in [("updated", update), ("got, changed and set", get_set)] {
            let seconds = measured.seconds(row) / self.count as f64;
            let verdict = if seconds <= MOST { "met" } else { "missed" };
            aims.push(format!("{name} are {what} within {} each: {}, {verdict}", in_time(MOST), in_time(seconds)));
        }
        Ok(())
    }
}
