//! The values of records beside those that readers see which nobody here wrote: the crates qbsp (Quake II, GoldSrc) and
//! vbsp (Source). Every number and name that both know has to be the same, on every fixture and every map of the corpus.
//!
//! Each is a program of its own (`tests/readers`): `BSPKIT_QBSP` and `BSPKIT_VBSP` name them, `.ci/run` builds them. A
//! test without its reader is skipped with a notice; `BSPKIT_REQUIRE_READERS=1` makes that a failure.

use crate::corpus;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bspkit::dialect::{Form, GOLDSRC, L4D2, QUAKE2, SOURCE, SOURCE17, SOURCE21};
use bspkit::record::{Cell, Shape};
use bspkit::{Bsp, Builder};

/// What a reader says of one lump.
struct Seen {
    lump: String,
    fields: Vec<String>,
    /// Whether the records stand in another order than in the map.
    is_sorted: bool,
    rows: Vec<String>,
}

/// What a reader says of a map, or why it does not open it.
type Values = Result<Vec<Seen>, String>;

struct Reader {
    name: &'static str,
    program: PathBuf,
    arguments: &'static [&'static str],
}

impl Reader {
    fn qbsp() -> Option<Self> {
        Self::named("qbsp", "BSPKIT_QBSP", &[])
    }

    fn vbsp() -> Option<Self> {
        Self::named("vbsp", "BSPKIT_VBSP", &["--values"])
    }

    fn named(name: &'static str, variable: &str, arguments: &'static [&'static str]) -> Option<Self> {
        if let Some(program) = std::env::var_os(variable) {
            return Some(Reader { name, program: program.into(), arguments });
        }
        let notice = format!("{name} is missing ({variable} names no program): it does not read the maps");
        assert!(std::env::var_os("BSPKIT_REQUIRE_READERS").is_none_or(|value| value != "1"), "{notice}");
        eprintln!("skipped: {notice}");
        None
    }

    /// What it sees in a map. It runs once for each, so that a crash costs no other map.
    fn read(&self, map: &Path) -> Values {
        let mut command = Command::new(&self.program);
        command.args(self.arguments).arg(map).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("cannot start {}: {error}", self.name));
        let (mut seen, mut end) = (Vec::<Seen>::new(), Err("it crashed".to_owned()));
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            if let Some(row) = line.strip_prefix("READ =") {
                seen.last_mut().unwrap().rows.push(row.to_owned());
            } else if let Some(header) = line.strip_prefix("READ values ") {
                let mut words = header.split(' ').map(str::to_owned);
                let lump = words.next().unwrap();
                let is_sorted = lump.starts_with('?');
                let lump = lump.trim_start_matches('?').to_owned();
                seen.push(Seen { lump, fields: words.collect(), is_sorted, rows: Vec::new() });
            } else if let Some(why) = line.strip_prefix("READ failed map ") {
                end = Err(why.to_owned());
            } else if line == "READ end" {
                end = Ok(());
            }
        }
        child.wait().unwrap();
        end.map(|()| seen)
    }
}

/// What of a cell a reader sees.
enum Part {
    Bits(u64),
    Third,
}

/// The value of a cell, as a reader would print it; numbers as if they had no sign.
fn value(cell: &Cell, part: &Part, record: &[u8]) -> String {
    let bytes = &record[cell.place.clone()];
    if let Shape::Name(_) = cell.shape {
        let text = bytes.split(|byte| *byte == 0).next().unwrap();
        return text.iter().fold("x".to_owned(), |text, byte| format!("{text}{byte:02x}"));
    }
    let mut all = [0; 8];
    all[..bytes.len()].copy_from_slice(bytes);
    match part {
        Part::Bits(bits) => (u64::from_le_bytes(all) & bits).to_string(),
        Part::Third => ((i32::from_le_bytes(bytes.try_into().unwrap()) / 3) as u32).to_string(),
    }
}

/// What a reader printed, with numbers as if they had no sign.
fn printed(text: &str, cell: &Cell) -> String {
    match text.parse::<i64>() {
        Ok(number) => (number as u64 & (u64::MAX >> (64 - 8 * cell.place.len()))).to_string(),
        Err(_) => text.to_owned(),
    }
}

/// The cells that a reader's word stands for: one, or those of a list.
fn cells(all: &[Cell], word: &str) -> Vec<(Cell, Part)> {
    let (name, part): (&str, fn(&str) -> Part) = match word.split_once(['&', '/']) {
        Some((name, _)) if word.contains('&') => {
            (name, |word| Part::Bits(u64::from_str_radix(word.split('&').nth(1).unwrap(), 16).unwrap()))
        }
        Some((name, _)) => (name, |_| Part::Third),
        None => (word, |_| Part::Bits(u64::MAX)),
    };
    let is_it =
        |cell: &&Cell| cell.path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.']));
    all.iter().filter(is_it).map(|cell| (cell.clone(), part(word))).collect()
}

/// How many values are the same, by field; or the first one that is not.
fn compare(map: &Bsp<'_>, seen: &Seen, counts: &mut BTreeMap<String, usize>) -> Result<(), String> {
    let slot = map.slot(&seen.lump).map_err(|error| error.to_string())?;
    let parts = map.spans(slot).map_err(|error| error.to_string())?;
    let [part] = &parts[..] else { return Err(format!("{} is no array of records", seen.lump)) };
    let all = Cell::all(part.record.fields);
    let mut wanted = Vec::new();
    for word in &seen.fields {
        let found = cells(&all, word);
        if found.is_empty() {
            return Err(format!("{} has no field {word}", seen.lump));
        }
        wanted.extend(found);
    }
    if part.count() != seen.rows.len() {
        return Err(format!("{} has {} records, the reader sees {}", seen.lump, part.count(), seen.rows.len()));
    }
    let bytes = map.bytes(slot.id).map_err(|error| error.to_string())?;
    let row = |record: &[u8]| wanted.iter().map(|(cell, part)| value(cell, part, record)).collect::<Vec<_>>();
    let mut ours: Vec<_> = bytes[part.range.clone()].chunks_exact(part.record.size).map(row).collect();
    let read = |line: &String| {
        let words = line.split_whitespace().enumerate();
        words.map(|(at, text)| wanted.get(at).map_or(text.to_owned(), |(cell, _)| printed(text, cell))).collect()
    };
    let mut theirs: Vec<Vec<String>> = seen.rows.iter().map(read).collect();
    if seen.is_sorted {
        ours.sort_unstable();
        theirs.sort_unstable();
    }
    for (index, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        if ours.len() != theirs.len() {
            return Err(format!("{} {index}: {} values, the reader sees {}", seen.lump, ours.len(), theirs.len()));
        }
        for ((ours, theirs), (cell, _)) in ours.iter().zip(theirs).zip(&wanted) {
            if ours != theirs {
                return Err(format!("{} {index} {}: {ours}, the reader sees {theirs}", seen.lump, cell.path));
            }
        }
    }
    for word in &seen.fields {
        *counts.entry(format!("{}.{word}", seen.lump)).or_default() += seen.rows.len();
    }
    Ok(())
}

/// Compares all maps of some dialects; those that the reader does not open are named. The lumps that it sees records in
/// and no row of ours does come back.
fn compare_all(reader: &Reader, dialects: &[&str], least: usize) -> BTreeSet<String> {
    let mut maps = corpus::under("tests/maps".as_ref());
    maps.extend(corpus::maps());
    let (mut opened, mut refused, mut wrong) = (0, Vec::new(), Vec::new());
    let (mut counts, mut unknown) = (BTreeMap::new(), BTreeSet::new());
    for path in maps {
        let Ok(map) = Bsp::open(&path) else { continue };
        if !dialects.contains(&map.dialect().name) {
            continue;
        }
        let values = reader.read(&path);
        opened += usize::from(values.is_ok());
        for seen in values.unwrap_or_else(|why| {
            refused.push(format!("{}: {why}", path.display()));
            Vec::new()
        }) {
            if !map.dialect().rows_of(&seen.lump).any(|row| matches!(row.form, Form::Array(_))) {
                unknown.insert(seen.lump);
            } else if let Err(what) = compare(&map, &seen, &mut counts) {
                wrong.push(format!("{}: {what}", path.display()));
            }
        }
    }
    println!("{} opens {opened} maps; values that are the same:", reader.name);
    counts.iter().for_each(|(field, count)| println!("  {field} {count}"));
    println!("refused: {refused:#?}");
    assert!(opened >= least, "{opened} maps");
    assert!(wrong.is_empty(), "{} differ from {}:\n{}", wrong.len(), reader.name, wrong.join("\n"));
    unknown
}

#[test]
fn quake2_and_goldsrc_have_the_values_that_qbsp_sees() {
    if let Some(reader) = Reader::qbsp() {
        assert_eq!(compare_all(&reader, &[QUAKE2.name, GOLDSRC.name], 6), BTreeSet::new());
    }
}

#[test]
fn source_has_the_values_that_vbsp_sees() {
    if let Some(reader) = Reader::vbsp() {
        let dialects = [SOURCE.name, SOURCE17.name, SOURCE21.name, L4D2.name];
        assert_eq!(compare_all(&reader, &dialects, 5), BTreeSet::new());
    }
}

/// A law that cannot fail is no law: of every field in turn one bit is another for us than for the reader.
#[test]
fn a_value_that_is_another_is_noticed() {
    let qbsp = Reader::qbsp().map(|reader| (reader, &["q2/own_rooms", "goldsrc/own_rooms"][..], 70));
    let vbsp = Reader::vbsp().map(|reader| (reader, &["source/room_v20"][..], 120));
    for (reader, maps, least) in [qbsp, vbsp].into_iter().flatten() {
        for name in maps {
            let path = PathBuf::from(format!("tests/maps/{name}.bsp"));
            let map = Bsp::open(&path).unwrap();
            let seen = reader.read(&path).unwrap();
            let faults: usize = seen.iter().map(|seen| plant(&map, seen, name)).sum();
            assert!(faults > least, "{name}: {faults} faults");
        }
    }
}

/// Changes a bit of each field of a record, and sees that it is noticed; how many there are.
fn plant(map: &Bsp<'_>, seen: &Seen, name: &str) -> usize {
    assert_eq!(compare(map, seen, &mut BTreeMap::new()), Ok(()), "{name}");
    let slot = map.slot(&seen.lump).unwrap();
    let part = map.spans(slot).unwrap().remove(0);
    let Some(index) = part.count().checked_sub(1).map(|last| last.min(1)) else { return 0 };
    let all = Cell::all(part.record.fields);
    let cells: Vec<_> = seen.fields.iter().flat_map(|word| cells(&all, word)).collect();
    for (cell, part_of) in &cells {
        let mut bytes = map.bytes(slot.id).unwrap().to_vec();
        bytes[index * part.record.size + cell.place.start] ^= match part_of {
            // A third is another one only where the number is another by three or more.
            Part::Third => 0x40,
            Part::Bits(_) => 1,
        };
        let mut draft = map.draft();
        draft.set(slot.id, bytes).unwrap();
        let other = draft.plan(bspkit::Layout::Keep).unwrap().to_vec();
        let wrong = compare(&Bsp::parse(&other).unwrap(), seen, &mut BTreeMap::new()).unwrap_err();
        let place = if seen.is_sorted { "LEAFS ".to_owned() } else { format!("{} {index} {}: ", seen.lump, cell.path) };
        assert!(wrong.starts_with(&place), "{name}: {wrong}, not {place}");
    }
    cells.len()
}

#[test]
fn records_and_fields_that_one_side_lacks_are_noticed() {
    let seen = |fields: &str, rows: &[&str]| Seen {
        lump: "VERTEXES".to_owned(),
        fields: vec![fields.to_owned()],
        is_sorted: false,
        rows: rows.iter().map(|row| (*row).to_owned()).collect(),
    };
    let map = Builder::new(&QUAKE2).lump(2, [0; 24]).build().unwrap();
    let map = Bsp::parse(&map).unwrap();
    let compare = |seen: &Seen| compare(&map, seen, &mut BTreeMap::new());
    assert_eq!(compare(&seen("point", &["0 0 0", "0 0 0"])), Ok(()));
    assert_eq!(compare(&seen("point", &["0 0 0"])).unwrap_err(), "VERTEXES has 2 records, the reader sees 1");
    assert_eq!(compare(&seen("place", &["0 0 0", "0 0 0"])).unwrap_err(), "VERTEXES has no field place");
    for (row, count) in [("0 0", 2), ("0 0 0 0", 4)] {
        let wrong = compare(&seen("point", &["0 0 0", row])).unwrap_err();
        assert_eq!(wrong, format!("VERTEXES 1: 3 values, the reader sees {count}"));
    }
}
