//! The speed of the core, compared with operations of the system on the same bytes in the same run: `cargo bench
//! --bench core`.
//!
//! The maps are those in `BSPKIT_CORPUS` (by default `tests/corpus`), or the fixtures if there are none. A map of 200
//! MB is made from a fixture. Tables are Markdown; the last lines state which targets are met.

#[path = "core/harness.rs"]
mod harness;
#[path = "core/maps.rs"]
mod maps;

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{Read, Write};
use std::path::Path;

use bspkit::content::entities::Entities;
use bspkit::{Bsp, Layout};
use bspkit_ops::compare;
use bspkit_ops::patch::{Match, Operation, Patch, Spot, Target};

use harness::{Group, Outcome, Work, in_time, three_digits};
use maps::{Map, Text};

/// The amount of work.
struct Effort {
    turns: usize,
    /// The size of the large map.
    large: usize,
}

fn main() -> Outcome {
    let effort = if std::env::args().any(|argument| argument == "--bench") {
        Effort { turns: 41, large: 200_000_000 }
    } else {
        println!("Without --bench everything runs once, to see that it runs; the figures mean nothing.");
        Effort { turns: 1, large: 2_000_000 }
    };
    // Not the folder for temporary files, which may be in memory.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let maps = maps::at_hand()?;
    let mut whole = maps.iter().filter(|map| !map.is_damaged);
    let (Some(smallest), Some(largest)) = (whole.next(), whole.next_back()) else { return Err("no maps".into()) };
    let enlarged = maps::enlarged(effort.large, folder.path())?;

    let mut aims = Vec::new();
    open([smallest, largest, &enlarged], &effort, &mut aims)?;
    parse(&maps::longest_text(&maps)?, &effort, &mut aims)?;
    parse(&maps::text(20_000)?, &effort, &mut aims)?;
    edit_all([&maps::text(2_000)?, &maps::text(20_000)?], &effort, &mut aims)?;
    patch(&maps::text(20_000)?, &effort, &mut aims)?;
    for map in [largest, &enlarged] {
        save(map, folder.path(), &effort, &mut aims)?;
    }

    difference(&maps::enlarged(effort.large / 10, &folder.path().join("twenty"))?, folder.path(), &effort, &mut aims)?;
    difference(largest, folder.path(), &effort, &mut aims)?;

    println!();
    aims.iter().for_each(Aim::print);
    Ok(())
}

/// A target, and whether it is met.
struct Aim {
    what: String,
    found: String,
    is_met: bool,
}

impl Aim {
    fn print(&self) {
        let Aim { what, found, is_met } = self;
        println!("aim: {what}: {found}, {}", if *is_met { "met" } else { "missed" });
    }
}

/// Opening reads the directory only.
fn open(maps: [&Map; 3], effort: &Effort, aims: &mut Vec<Aim>) -> Outcome {
    const MOST: f64 = 100e-6;
    for map in maps {
        let mut group = Group::new(format!("Opening {}", map.name()));
        let read = group.reference("`fs::read`", Work::Bytes(map.size), || Ok(fs::read(&map.path)?));
        let open = group.row("`Bsp::open_mapped`", Work::Once, read, || Ok(Bsp::open_mapped(&map.path, None)?));
        let seconds = group.measure(effort.turns)?.seconds(open);
        aims.push(Aim {
            what: format!("{} opens within {}", map.name(), in_time(MOST)),
            found: in_time(seconds),
            is_met: seconds <= MOST,
        });
    }
    Ok(())
}

/// From bytes to entities.
fn parse(text: &Text, effort: &Effort, aims: &mut Vec<Aim>) -> Outcome {
    const LEAST: f64 = 200e6;
    let size = text.bytes.len();
    let mut group = Group::new(format!("Reading the entities of {}", text.name()));
    let memcpy = group.reference("memcpy", Work::Bytes(size), || Ok(text.bytes.to_vec()));
    let parse = || Ok(Entities::parse(text.bytes.clone(), text.rules)?);
    let parse = group.row("`Entities::parse`", Work::Bytes(size), memcpy, parse);
    let rate = size as f64 / group.measure(effort.turns)?.seconds(parse);
    aims.push(Aim {
        what: format!("the entities of {} are read at {} MB/s", text.name(), three_digits(LEAST / 1e6)),
        found: format!("{} MB/s", three_digits(rate / 1e6)),
        is_met: rate >= LEAST,
    });
    Ok(())
}

/// Editing every entity takes time in proportion to their number.
fn edit_all([few, many]: [&Text; 2], effort: &Effort, aims: &mut Vec<Aim>) -> Outcome {
    // Linear, except that the short text fits the caches; a factor of ten would be quadratic.
    const MOST: f64 = 1.5;
    let [few, many] = [few, many].map(|text| Entities::parse(text.bytes.clone(), text.rules));
    let (few, many) = (few?, many?);
    let title = format!("Setting a key of every entity, then printing the text: {} and {}", few.len(), many.len());
    let mut group = Group::new(title);
    // The same number of edits in both rows, so that both run equally long: a busy machine interrupts long runs more
    // often.
    let (work, texts) = (Work::Entities(many.len()), many.len() / few.len());
    let short = group.reference("short texts", work, || (0..texts).try_for_each(|_| set_all(&few).map(drop)));
    let long = group.row("a long text", work, short, || set_all(&many).map(drop));
    let ratio = group.measure(effort.turns)?.ratio(long, short);
    aims.push(Aim {
        what: format!("an edit in {} entities takes no more than {MOST} times one in {}", many.len(), few.len()),
        found: format!("{} times", three_digits(ratio)),
        is_met: ratio <= MOST,
    });
    Ok(())
}

fn set_all(entities: &Entities<'_>) -> Outcome<Vec<u8>> {
    let mut entities = entities.clone();
    for index in 0..entities.len() {
        entities.get_mut(index)?.set("light", "2500")?;
    }
    Ok(black_box(entities.to_bytes()))
}

/// The time of a long patch is proportional to its length and to that of the text.
fn patch(text: &Text, effort: &Effort, aims: &mut Vec<Aim>) -> Outcome {
    const MOST: f64 = 0.2;
    const OPERATIONS: usize = 10_000;
    let entities = Entities::parse(text.bytes.clone(), text.rules)?;
    let expect = Vec::new;
    let named = |index: usize| vec![(b"targetname".to_vec(), format!("door_{index}").into_bytes())];
    type Kind<'a> = (&'static str, &'a dyn Fn(usize) -> Outcome<Operation>);
    let kinds: [Kind<'_>; 4] = [
        ("moves", &|index| {
            let to = Spot::After(Target::Index(10_001 + index * 7 % 9_000));
            Ok(Operation::Move { on: Target::Index(index), expect: expect(), to })
        }),
        ("additions before entities", &|index| {
            Ok(Operation::Add { pairs: named(index), to: Some(Spot::Before(Target::Index(index))) })
        }),
        ("removals by a selector", &|index| {
            let selector = format!("func_door_rotating[targetname=door_{index}]").parse()?;
            Ok(Operation::Remove { on: Target::Select(selector, None), expect: expect() })
        }),
        ("removals by a pair", &|index| {
            Ok(Operation::Remove {
                on: Target::Match(Match { pairs: named(index), ..Match::default() }),
                expect: expect(),
            })
        }),
    ];
    let mut group = Group::new(format!("A patch of {OPERATIONS} operations on {} entities", entities.len()));
    let again = || Ok(Entities::parse(entities.to_bytes(), text.rules)?);
    let reference = group.reference("printing and reading the text", Work::Entities(entities.len()), again);
    let mut rows = Vec::new();
    for (name, operation) in kinds {
        let operations = (1..=OPERATIONS).map(operation).collect::<Outcome<_>>()?;
        let (patch, entities) = (Patch { entities: None, operations, result: None }, &entities);
        let apply = move || Ok(patch.apply(entities)?);
        rows.push((name, group.row(name, Work::Entities(OPERATIONS), reference, apply)));
    }
    let measured = group.measure(effort.turns)?;
    for (name, row) in rows {
        let seconds = measured.seconds(row);
        aims.push(Aim {
            what: format!("{OPERATIONS} {name} within {}", in_time(MOST)),
            found: in_time(seconds),
            is_met: seconds <= MOST,
        });
    }
    Ok(())
}

/// The main task, from the file on disk to the edited file on disk; both rows replace an existing file.
fn save(map: &Map, folder: &Path, effort: &Effort, aims: &mut Vec<Aim>) -> Outcome {
    const MOST: f64 = 1.15;
    let (from, work) = (&map.path, Work::Bytes(map.size));
    let bytes = fs::read(from)?;
    let targets = ["copied", "sent", "kept", "appended"].map(|name| folder.join(name).with_extension("bsp"));
    for target in &targets {
        copy(from, target)?;
    }
    let [copied, sent, kept, appended] = &targets;

    let mut group = Group::new(format!("One edit, saved: {}", map.name()));
    let cp = group.reference("cp + fsync", work, || copy(from, copied));
    group.row("`fs::copy` + fsync", work, cp, || send(from, sent));
    group.row("memcpy", work, cp, || Ok(bytes.to_vec()));
    let keep = group.row("open, edit, save: keep", work, cp, || edit_and_save(from, kept, Layout::Keep));
    let append = group.row("open, edit, save: append", work, cp, || edit_and_save(from, appended, Layout::Append));
    let measured = group.measure(effort.turns)?;
    for (layout, row) in [("keep", keep), ("append", append)] {
        let ratio = measured.ratio(row, cp);
        aims.push(Aim {
            what: format!("{} is edited and saved ({layout}) within {MOST} of cp + fsync", map.name()),
            found: three_digits(ratio),
            is_met: ratio <= MOST,
        });
    }
    Ok(())
}

/// Comparing two maps that differ in one lump, from the files on disk.
fn difference(map: &Map, folder: &Path, effort: &Effort, aims: &mut Vec<Aim>) -> Outcome {
    const MOST: f64 = 3.0;
    let bsp = Bsp::open_mapped(&map.path, None)?;
    let light = light_lump(&bsp)?;
    let texts = folder.join("other_text.bsp");
    edit_and_save(&map.path, &texts, Layout::Keep)?;
    let lights = folder.join("other_light.bsp");
    let mut draft = bsp.draft();
    let mut luxels = bsp.bytes(light)?.to_vec();
    luxels.iter_mut().step_by(10_007).for_each(|byte| *byte ^= 1);
    draft.set(light, luxels)?;
    draft.plan(Layout::Keep)?.save(&lights)?;

    let mut group = Group::new(format!("Comparing two maps: {}", map.name()));
    let work = Work::Bytes(2 * map.size);
    let read = group.reference("`fs::read` of both", work, || Ok([fs::read(&map.path)?, fs::read(&texts)?]));
    let same = group.row("the same map", work, read, || compare_files([&map.path, &map.path]));
    let text = group.row("with other entities", work, read, || compare_files([&map.path, &texts]));
    let light = group.row("with other light", work, read, || compare_files([&map.path, &lights]));
    let measured = group.measure(effort.turns)?;
    for (what, row) in [("that are the same", same), ("with other entities", text), ("with other light", light)] {
        let ratio = measured.ratio(row, read);
        aims.push(Aim {
            what: format!("maps {what} of the size of {} are compared within {MOST} of reading them", map.name()),
            found: three_digits(ratio),
            is_met: ratio <= MOST,
        });
    }
    Ok(())
}

/// The longest lump with light.
fn light_lump(map: &Bsp<'_>) -> Outcome<bspkit::SlotId> {
    let light = map.slots().iter().filter(|slot| slot.name.contains("LIGHT"));
    light.max_by_key(|slot| slot.stored.len()).map(|slot| slot.id).ok_or_else(|| "the map has no light".into())
}

fn compare_files([old, new]: [&Path; 2]) -> Outcome<compare::Comparison> {
    Ok(compare::whole(&Bsp::open_mapped(old, None)?, &Bsp::open_mapped(new, None)?, 10))
}

/// Like `cp` on a file system that cannot copy by itself.
fn copy(from: &Path, to: &Path) -> Outcome {
    let (mut from, mut to) = (File::open(from)?, File::create(to)?);
    let mut buffer = vec![0; 128 << 10];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(to.sync_data()?),
            length => to.write_all(&buffer[..length])?,
        }
    }
}

/// Like `cp` if the system can copy files.
fn send(from: &Path, to: &Path) -> Outcome {
    fs::copy(from, to)?;
    Ok(File::options().write(true).open(to)?.sync_data()?)
}

fn edit_and_save(from: &Path, to: &Path, layout: Layout) -> Outcome {
    let mut draft = Bsp::open_mapped(from, None)?.draft();
    draft.entities()?.first_class("worldspawn")?.set("message", "The Place, where every byte has its own")?;
    Ok(draft.plan(layout)?.save(to)?)
}
