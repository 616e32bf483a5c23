//! The speed and ratio of compression, compared with liblzma in the same run, with a dictionary fitted to each piece:
//! `cargo bench --bench compress`.
//!
//! The maps are those in `BSPKIT_CORPUS` (by default `tests/corpus`), and a map made of typical structs.

#[allow(dead_code, reason = "the other bench needs more of it")]
#[path = "core/harness.rs"]
mod harness;
#[allow(dead_code, reason = "the other bench needs more of it")]
#[path = "core/maps.rs"]
mod maps;

use std::num::NonZeroUsize;
use std::thread;

use bspkit::compress::{self, Options};
use bspkit::file::lzma;
use bspkit::{Bsp, Builder, Data, dialect};
use liblzma::stream::{Action, Filters, LzmaOptions, Status, Stream};

use harness::{Group, Outcome, Work, in_bytes, three_digits};

/// The allowed ratio of time and of size.
const MOST: f64 = 1.02;

fn main() -> Outcome {
    let (turns, size) = if std::env::args().any(|argument| argument == "--bench") {
        (7, 8_000_000)
    } else {
        println!("Without --bench everything runs once, to see that it runs; the figures mean nothing.");
        (1, 80_000)
    };
    let made = Bsp::from_vec(structs(size)?)?;
    compare(&format!("structs ({})", in_bytes(size)), &made, turns)?;
    let maps = maps::at_hand()?;
    let sources = maps
        .iter()
        .rev()
        .filter(|map| !map.is_damaged)
        .filter_map(|map| Some((map.name(), Bsp::open_mapped(&map.path, None).ok()?)));
    let mut sources = sources.filter(|(_, bsp)| bsp.dialect().rules.game_lump.is_some());
    match sources.next() {
        Some((name, bsp)) if turns > 1 => compare(&name, &bsp, turns)?,
        Some(_) => {}
        None => println!("There is no Source map in the folder."),
    }
    Ok(())
}

fn compare(name: &str, bsp: &Bsp<'static>, turns: usize) -> Outcome {
    let pieces: Vec<Data<'_>> = {
        let mut draft = bsp.draft();
        let report = compress::compress(&mut draft, &Options::default().all(true))?;
        report.changed().map(|piece| bsp.bytes(piece.slot)).collect::<Result<_, _>>()?
    };
    let size = pieces.iter().map(|piece| piece.len()).sum();
    let cores = thread::available_parallelism()?;
    let work = Work::Bytes(size);
    let (mut theirs, mut ours) = (0, 0);

    let mut group =
        Group::new(format!("Compressing {name}: {} pieces, {}, {cores} cores", pieces.len(), in_bytes(size)));
    let reference = group.reference("liblzma, one thread", work, || {
        theirs = pieces.iter().try_fold(0, |sum, piece| Outcome::Ok(sum + liblzma_size(piece)?))?;
        Ok(())
    });
    let pack = group.row("`lzma::compress`, one thread", work, reference, || {
        ours = pieces
            .iter()
            .try_fold(0, |sum, piece| Outcome::Ok(sum + lzma::compress(piece, Default::default())?.len()))?;
        Ok(())
    });
    let whole = |threads: NonZeroUsize| {
        let mut draft = bsp.draft();
        compress::compress(&mut draft, &Options::default().all(true).threads(threads))?;
        Ok(draft)
    };
    let one = group.row("`compress`, one thread", work, reference, || whole(NonZeroUsize::MIN));
    let all = group.row("`compress`, all threads", work, reference, || whole(cores));
    let measured = group.measure(turns)?;

    let share = |packed: usize| format!("{} %", three_digits(packed as f64 * 100.0 / size as f64));
    let (time, bytes) = (measured.ratio(pack, reference), ours as f64 / theirs as f64);
    println!("\nLeft of the bytes: {} (liblzma {})", share(ours), share(theirs));
    println!("All threads: {} times as fast as one", three_digits(measured.ratio(one, all)));
    for (what, ratio) in [("time", time), ("bytes", bytes)] {
        let verdict = if ratio <= MOST { "met" } else { "missed" };
        println!("aim: {name} takes at most {MOST} of liblzma's {what}: {ratio:.3}, {verdict}");
    }
    Ok(())
}

/// The size from liblzma with the same parameters; it includes an end marker, which liblzma always writes.
fn liblzma_size(piece: &[u8]) -> Outcome<usize> {
    let mut options = LzmaOptions::new_preset(6)?;
    options.dict_size(u32::try_from(piece.len())?.clamp(4096, 1 << 24).next_power_of_two());
    let mut filters = Filters::new();
    filters.lzma1(&options);
    let mut stream = Stream::new_raw_encoder(&filters)?;
    let mut packed = Vec::with_capacity(piece.len() + piece.len() / 2 + 1024);
    stream.process_vec(piece, &mut packed, Action::Run)?;
    while stream.process_vec(&[], &mut packed, Action::Finish)? != Status::StreamEnd {
        packed.reserve(1 << 16);
    }
    Ok(packed.len() + 17)
}

/// Makes a record from its index and from random numbers below given limits.
type Record<'r> = dyn FnMut(u32, &mut dyn FnMut(u32) -> u32) -> Vec<u8> + 'r;

/// A map of about this many bytes: planes, vertexes, edges, faces, light, an entity text.
fn structs(size: usize) -> Outcome<Vec<u8>> {
    let mut state = 1_u32;
    let mut random = move |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % below
    };
    let each = size / 6;
    let mut lump = |record: &mut Record<'_>| {
        let mut bytes = Vec::with_capacity(each);
        for index in 0.. {
            if bytes.len() >= each {
                break;
            }
            bytes.extend(record(index, &mut random));
        }
        bytes
    };
    let floats = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let planes = lump(&mut |_, random| {
        let angle = random(64) as f32 * 0.098;
        let mut bytes = floats(&[angle.cos(), angle.sin(), 0.0, random(4096) as f32]);
        bytes.extend(random(6).to_le_bytes());
        bytes
    });
    let vertexes =
        lump(&mut |_, random| floats(&[random(512) as f32 * 16.0, random(512) as f32 * 16.0, random(32) as f32 * 8.0]));
    let edges = lump(&mut |index, random| {
        [index, index.saturating_sub(random(9))].map(|at| at as u16).map(u16::to_le_bytes).concat()
    });
    let faces = lump(&mut |index, random| {
        let words = [
            index / 2,
            index * 4,
            4 << 16 | random(300),
            u32::MAX << 16,
            random(256),
            index * 64,
            0,
            0,
            random(8),
            random(8),
            0,
            0,
            0,
            0,
        ];
        words.map(u32::to_le_bytes).concat()
    });
    let mut level = 90;
    let light = lump(&mut |_, random| {
        level = (level + random(7)).saturating_sub(3).clamp(8, 250);
        [level, level * 9 / 10, level * 3 / 4, 254 + random(3)].map(|value| value as u8).to_vec()
    });
    let text = lump(&mut |index, random| {
        let (x, y) = (random(4096), random(4096));
        format!("{{\n\"origin\" \"{x} {y} 64\"\n\"targetname\" \"door_{index}\"\n\"classname\" \"func_door\"\n}}\n")
            .into_bytes()
    });
    let builder = Builder::new(&dialect::SOURCE).lump(0, text).lump(1, planes).lump(3, vertexes).lump(7, faces);
    Ok(builder.lump(8, light).lump(12, edges).build()?)
}
