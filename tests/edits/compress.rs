//! Compressing and decompressing whole maps: every slot keeps its bytes, and the directories say the truth.

use crate::corpus;
use std::io::Write;
use std::num::NonZeroUsize;
use std::process::{Command, Stdio};

use bspkit::bytes::ByteOrder;
use bspkit::compress::{self, Options, Outcome};
use bspkit::dialect::{self, Dialect, Role};
use bspkit::file::lzma;
use bspkit::verify;
use bspkit::{Bsp, Builder, ErrorKind, Layout, Slot, SlotId};

const LAYOUTS: [Layout; 3] = [Layout::Keep, Layout::Append, Layout::Repack];

/// What may be stored in either way, in both maps: a list may have got an end in the new one.
fn pairs<'m>(old: &'m Bsp<'_>, new: &'m Bsp<'_>) -> impl Iterator<Item = (&'m Slot, &'m Slot)> {
    let game_lump = old.role(Role::GameLump).map(|lump| lump.id);
    let find = |slot: &Slot| new.container().slot(slot.id);
    old.slots().iter().filter(move |slot| Some(slot.id) != game_lump).filter_map(move |slot| Some((slot, find(slot)?)))
}

/// Every slot of the old map has the same bytes and version in the new one.
fn same_bytes(old: &Bsp<'_>, new: &Bsp<'_>) -> Result<(), String> {
    let missing = old.slots().len().checked_sub(new.slots().len());
    if missing.is_some_and(|missing| missing > 0) {
        return Err("slots are missing".into());
    }
    for (before, after) in pairs(old, new) {
        let what = |what: &str| format!("{}: {what}", before.name);
        if (&before.name, before.version) != (&after.name, after.version) {
            return Err(what("another name or version"));
        }
        match (old.bytes(before.id), new.bytes(after.id)) {
            (Ok(before), Ok(after)) if *before == *after => {}
            (Err(_), _) if *old.stored(before.id) == *new.stored(after.id) => {}
            _ => return Err(what("other bytes")),
        }
    }
    readable(new)
}

/// An engine measures a compressed member by the offset of the next entry, or by the lump's end where that is 0.
fn readable(map: &Bsp<'_>) -> Result<(), String> {
    let Some(lump) = map.role(Role::GameLump).filter(|lump| map.container().pinned(lump.id).is_none()) else {
        return Ok(());
    };
    let file = map.container().bytes();
    let bytes = &file[lump.stored.clone()];
    let is_big = map.byte_order() == ByteOrder::Big;
    let word = |at: usize| {
        let word = bytes[at..at + 4].try_into().unwrap();
        usize::try_from(if is_big { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }).unwrap()
    };
    // On consoles offsets count from the start of the lump.
    let base = if is_big { lump.stored.start } else { 0 };
    let count = if bytes.is_empty() { 0 } else { word(0) };
    for index in 0..count {
        let at = 4 + 16 * index;
        let (flags, offset, length) = (bytes[at + if is_big { 5 } else { 4 }], base + word(at + 8), word(at + 12));
        let is_packed = file.get(offset..).is_some_and(|rest| rest.starts_with(b"LZMA"));
        if (flags & 1 == 1) != (is_packed && length > 0) {
            return Err(format!("the flags of member {index} do not say how it is stored"));
        }
        if flags & 1 == 0 {
            continue;
        }
        if index + 1 == count {
            return Err(format!("member {index} is compressed and no entry ends the list"));
        }
        let next = match word(at + 16 + 8) {
            0 => lump.stored.end,
            next => base + next,
        };
        let header = |at: usize| u32::from_le_bytes(file[offset + at..][..4].try_into().unwrap());
        let (unpacked, packed) = (header(4), usize::try_from(header(8)).unwrap() + 17);
        if usize::try_from(unpacked).unwrap() != length || !(packed..packed + 4).contains(&(next - offset)) {
            return Err(format!("member {index} has {} bytes in the file, not {packed}", next - offset));
        }
    }
    Ok(())
}

fn is_packed(map: &Bsp<'_>, slot: &Slot) -> bool {
    map.decompressed_size(slot.id).is_some()
}

/// Compressed with everything there is, written, and read again.
fn packed(map: &Bsp<'_>, layout: Layout) -> bspkit::Result<Vec<u8>> {
    let mut draft = map.draft();
    compress::compress(&mut draft, &Options::default().all(true))?;
    Ok(draft.plan(layout)?.to_vec())
}

fn unpacked(map: &Bsp<'_>, layout: Layout) -> bspkit::Result<Vec<u8>> {
    let mut draft = map.draft();
    compress::decompress(&mut draft, &Options::default())?;
    Ok(draft.plan(layout)?.to_vec())
}

/// The laws on a map; the compressed one, where its damage lets it be written at all.
fn laws(old: &Bsp<'_>) -> Result<Option<Vec<u8>>, String> {
    let say = |error: bspkit::Error| error.to_string();
    let is_explained = old.container().damaged().next().is_some() || old.container().has_immovable();
    let mut draft = old.draft();
    let report = compress::compress(&mut draft, &Options::default().all(true)).map_err(say)?;
    let mut last = None;
    for layout in LAYOUTS {
        let plan = match draft.plan(layout) {
            Err(error) if error.kind() == ErrorKind::Refused && is_explained => continue,
            plan => plan.map_err(say)?,
        };
        let file = plan.to_vec();
        let new = Bsp::from_data(file[..].into(), Some(old.dialect())).map_err(say)?;
        same_bytes(old, &new).map_err(|what| format!("{layout:?}: {what}"))?;
        for piece in &report.pieces {
            let stored = new.stored(piece.slot).len();
            let is_right = match piece.outcome {
                Outcome::Compressed => new.decompressed_size(piece.slot).is_some(),
                Outcome::AsItWas => *old.stored(piece.slot) == *new.stored(piece.slot),
                _ => true,
            };
            if !is_right || stored != piece.sizes.1 {
                return Err(format!("{layout:?}: {} is {stored} bytes, not {}", piece.name, piece.outcome));
            }
        }
        // Again there is nothing to do.
        let mut again = new.draft();
        compress::compress(&mut again, &Options::default().all(true)).map_err(say)?;
        if !again.plan(Layout::Keep).map_err(say)?.is_identity() {
            return Err(format!("{layout:?}: compressed twice is another file"));
        }
        if layout == Layout::Repack && again.plan(Layout::Repack).map_err(say)?.to_vec() != file {
            return Err("rewritten twice is another file".into());
        }
        // And back: every slot's bytes, none compressed but what is left alone.
        let file_raw = match unpacked(&new, layout) {
            Err(error) if error.kind() == ErrorKind::Refused && is_explained => continue,
            file => file.map_err(say)?,
        };
        let raw = Bsp::from_data(file_raw[..].into(), Some(old.dialect())).map_err(say)?;
        same_bytes(old, &raw).map_err(|what| format!("{layout:?}, decompressed: {what}"))?;
        let done = report.pieces.iter().filter(|piece| piece.outcome != Outcome::LeftAlone);
        for piece in done {
            let slot = raw.container().slot(piece.slot).unwrap();
            if is_packed(&raw, slot) || slot.unpacked != Some(0) {
                return Err(format!("{layout:?}: {} is compressed or says so", piece.name));
            }
        }
        last = Some(file);
    }
    // Within one draft it leaves nothing, unless something was compressed before.
    let was_raw = !old.slots().iter().any(|slot| is_packed(old, slot));
    if was_raw {
        compress::decompress(&mut draft, &Options::default()).map_err(say)?;
        if !draft.plan(Layout::Keep).map_err(say)?.is_identity() {
            return Err("compressed and decompressed is an edit".into());
        }
    }
    if last.is_some() || is_explained { Ok(last) } else { Err("it is not written in any layout".into()) }
}

fn sources() -> impl Iterator<Item = &'static Dialect> {
    dialect::ALL.iter().copied().filter(|dialect| dialect.rules.game_lump.is_some())
}

fn text() -> Vec<u8> {
    let entity = b"{\n\"classname\" \"light\"\n\"origin\" \"1 2 3\"\n}\n".repeat(20);
    [b"{\n\"classname\" \"worldspawn\"\n}\n", &entity[..], b"\0"].concat()
}

fn built(dialect: &'static Dialect) -> Builder {
    Builder::new(dialect)
        .lump(0, text())
        .lump(1, [1; 200])
        .lump(59, [0; 4])
        .lump_version(7, 1)
        .lump(7, [7; 112])
        .game_lump(*b"sprp", 6, [5; 300])
        .game_lump(*b"dprp", 4, [6; 50])
        .lump(40, [9; 22])
}

#[test]
fn built_maps_keep_every_byte() {
    for dialect in sources() {
        let plain = built(dialect);
        let some = plain.clone().compressed_lump(8, &[3; 500]).unwrap();
        let some = some.compressed_game_lump(*b"dplt", 0, &[4; 90]).unwrap().game_lump_end();
        for builder in [plain, some.clone(), some.game_lump_end()] {
            let bytes = builder.build().unwrap();
            let map = Bsp::parse(&bytes).unwrap();
            let file = laws(&map).unwrap_or_else(|what| panic!("{}: {what}", dialect.name)).unwrap();
            assert!(file.len() < bytes.len(), "{}", dialect.name);
            assert!(verify::run(&Bsp::parse(&file).unwrap()).is_ok());
        }
    }
}

#[test]
fn what_would_grow_stays_raw_unless_asked_for() {
    for dialect in sources() {
        let bytes = built(dialect).build().unwrap();
        let map = Bsp::parse(&bytes).unwrap();
        let flags = map.slot("MAP_FLAGS").unwrap().id;
        let outcome = |all: bool| {
            let mut draft = map.draft();
            let report = compress::compress(&mut draft, &Options::default().all(all)).unwrap();
            let piece = report.pieces.iter().find(|piece| piece.slot == flags).unwrap().clone();
            (piece.outcome, piece.sizes, draft.changes().unwrap().contains(&flags))
        };
        assert_eq!(outcome(false), (Outcome::Grows, (4, 4), false));
        let (what, (before, after), is_changed) = outcome(true);
        assert!(what == Outcome::Compressed && before == 4 && after > 20 && is_changed);
    }
}

#[test]
fn as_many_threads_as_one_likes() {
    let bytes = built(&dialect::SOURCE).build().unwrap();
    let map = Bsp::parse(&bytes).unwrap();
    let with = |threads: usize| {
        let mut draft = map.draft();
        let options = Options::default().threads(NonZeroUsize::new(threads).unwrap());
        compress::compress(&mut draft, &options).unwrap();
        draft.plan(Layout::Repack).unwrap().to_vec()
    };
    let one = with(1);
    assert!([2, 3, 64].into_iter().all(|threads| with(threads) == one));
}

#[test]
fn what_makes_no_sense_is_left_alone() {
    let dialect = &dialect::SOURCE;
    let shape = dialect.shapes[0];
    let bytes = built(dialect).compressed_lump(8, &[3; 500]).unwrap().build().unwrap();
    let with = |lump: usize, field: usize, word: i32| {
        let mut bytes = bytes.clone();
        let at = shape.entry_offset(lump) + 4 * field;
        bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        bytes
    };
    let out_of_bounds = i32::try_from(bytes.len()).unwrap();
    for (file, name, what) in [
        (with(8, 3, 499), "LIGHTING", "another size"),
        (with(8, 3, 0), "LIGHTING", "not according to the directory"),
        (with(7, 3, 9), "FACES", "but its bytes are not"),
        (with(40, 1, 22), "", ""),
        (with(59, 1, out_of_bounds), "MAP_FLAGS", "past the end"),
    ] {
        let map = Bsp::parse(&file).unwrap();
        for to_packed in [true, false] {
            let mut draft = map.draft();
            let report = match to_packed {
                true => compress::compress(&mut draft, &Options::default().all(true)),
                false => compress::decompress(&mut draft, &Options::default()),
            };
            let report = report.unwrap();
            let odd: Vec<_> = report.pieces.iter().filter(|piece| piece.outcome == Outcome::LeftAlone).collect();
            assert_eq!(
                odd.iter().map(|piece| piece.name.as_str()).collect::<Vec<_>>(),
                Vec::from_iter((!name.is_empty()).then_some(name))
            );
            assert!(
                name.is_empty() || report.warnings.iter().any(|warning| warning.contains(what)),
                "{:?}",
                report.warnings
            );
            let changes = draft.changes().unwrap();
            assert!(odd.iter().all(|piece| !changes.contains(&piece.slot)));
        }
    }
}

#[test]
fn damage_within_a_piece_is_an_error_with_its_name() {
    let builder = built(&dialect::SOURCE).compressed_lump(8, &text()).unwrap();
    let bytes = builder.compressed_game_lump(*b"dplt", 0, &text()).unwrap().game_lump_end().build().unwrap();
    let map = Bsp::parse(&bytes).unwrap();
    for name in ["LIGHTING", "game:dplt"] {
        let stored = map.slot(name).unwrap().stored.clone();
        for (at, byte) in [(12, 255), (17, 7), (30, bytes[stored.start + 30] ^ 0x55)] {
            let mut bad = bytes.clone();
            bad[stored.start + at] = byte;
            let bad = Bsp::parse(&bad).unwrap();
            let mut draft = bad.draft();
            if at == 30 && bad.bytes(bad.slot(name).unwrap().id).is_ok() {
                continue;
            }
            let error = compress::decompress(&mut draft, &Options::default()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Malformed);
            assert_eq!(error.place().unwrap().lump.as_deref(), Some(name));
            assert!(draft.changes().unwrap().is_empty(), "all or nothing");
            // What cannot be read is copied.
            compress::compress(&mut draft, &Options::default()).unwrap();
            let saved = draft.plan(Layout::Repack).unwrap().to_vec();
            let saved = Bsp::parse(&saved).unwrap();
            assert_eq!(*saved.stored(saved.slot(name).unwrap().id), *bad.stored(bad.slot(name).unwrap().id));
        }
    }
}

#[test]
fn other_families_have_no_compressed_lumps() {
    for dialect in dialect::ALL.iter().filter(|dialect| dialect.rules.game_lump.is_none()) {
        let bytes = Builder::new(dialect).lump(dialect.role(Role::Entities).unwrap(), text()).build().unwrap();
        let map = Bsp::parse(&bytes).unwrap();
        assert_eq!(packed(&map, Layout::Keep).unwrap_err().kind(), ErrorKind::Refused, "{}", dialect.name);
        assert_eq!(unpacked(&map, Layout::Keep).unwrap_err().kind(), ErrorKind::Refused);
    }
}

#[test]
fn versions_without_compression_are_warned_of() {
    for (dialect, version, word) in [
        (&dialect::SOURCE17, 17, "not known to read"),
        (&dialect::SOURCE, 19, "not known to read"),
        (&dialect::SOURCE, 20, "single-player"),
        (&dialect::SOURCE21, 21, "Portal 2"),
        (&dialect::L4D2, 21, "Left 4 Dead 2"),
        (&dialect::SOURCE22, 22, "Portal 2"),
        (&dialect::STRATA, 25, ""),
        (&dialect::CONTAGION, 27, "not known to read"),
        (&dialect::VITAMIN, 42, "not known to read"),
    ] {
        let bytes = built(dialect).version(version).build().unwrap();
        let mut draft = Bsp::parse(&bytes).unwrap().draft();
        let warnings = compress::compress(&mut draft, &Options::default()).unwrap().warnings.join("\n");
        assert!(if word.is_empty() { warnings.is_empty() } else { warnings.contains(word) }, "{version}: {warnings}");
    }
}

/// Mistakes in a compressed file, each of which the laws have to see.
#[test]
fn planted_faults_are_seen() {
    let bytes = built(&dialect::SOURCE).build().unwrap();
    let map = Bsp::parse(&bytes).unwrap();
    let right = packed(&map, Layout::Repack).unwrap();
    let new = Bsp::parse(&right).unwrap();
    assert_eq!(same_bytes(&map, &new), Ok(()));
    let lump = new.role(Role::GameLump).unwrap().stored.start;
    let entry = map.container().shape().entry_offset(1);
    type Fault<'f> = Box<dyn Fn(&mut Vec<u8>) + 'f>;
    let faults: [(&str, Fault<'_>); 7] = [
        ("fourCC stays 0", Box::new(|file| file[entry + 12..entry + 16].fill(0))),
        ("fourCC is the stored size", Box::new(|file| file.copy_within(entry + 4..entry + 8, entry + 12))),
        ("a version is reset", Box::new(|file| file[8 + 16 * 7 + 8] = 0)),
        ("a member's flag is not set", Box::new(|file| file[lump + 8] = 0)),
        (
            "a member's length is the stored one",
            Box::new(|file| file[lump + 16..lump + 20].copy_from_slice(&[40, 0, 0, 0])),
        ),
        ("no entry ends the list", Box::new(|file| file[lump] = 2)),
        ("a stream has another byte", Box::new(|file| file[new.slots()[0].stored.start + 40] ^= 1)),
    ];
    for (name, fault) in faults {
        let mut wrong = right.clone();
        fault(&mut wrong);
        let seen = Bsp::parse(&wrong).map_or(Err("it does not open".to_string()), |wrong| same_bytes(&map, &wrong));
        assert!(seen.is_err(), "{name}");
    }
}

/// Reads pairs of a piece and its bytes (sizes first) and compares them: `.lzma` files have the same stream behind
/// another header.
const PYTHON: &str = "
import lzma, struct, sys
data, at, count = sys.stdin.buffer.read(), 0, 0
while at < len(data):
    packed, raw = struct.unpack_from('<II', data, at)
    piece, bytes = data[at + 8:at + 8 + packed], data[at + 8 + packed:at + 8 + packed + raw]
    at, count = at + 8 + packed + raw, count + 1
    magic, actual, size = struct.unpack_from('<4sII', piece)
    assert (magic, actual, size) == (b'LZMA', raw, packed - 17), piece[:17]
    assert piece[12:17] in (b'\\x5d\\0\\0\\0\\1', b'\\x5d\\0\\0\\4\\0'), piece[:17]
    decoder = lzma.LZMADecompressor(lzma.FORMAT_ALONE)
    assert decoder.decompress(piece[12:17] + struct.pack('<Q', raw) + piece[17:]) == bytes
    assert decoder.eof and not decoder.unused_data
print(count)
";

/// Whether Python reads every piece; with a notice where there is no Python.
fn python_reads(pieces: &[(Vec<u8>, Vec<u8>)]) {
    let mut command = Command::new("python3");
    command.args(["-c", PYTHON]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut child) = command.spawn() else {
        eprintln!("notice: no python3; what it reads of our pieces is not tried");
        return;
    };
    let mut stdin = child.stdin.take().unwrap();
    for (packed, raw) in pieces {
        for size in [packed.len(), raw.len()] {
            stdin.write_all(&u32::try_from(size).unwrap().to_le_bytes()).unwrap();
        }
        stdin.write_all(packed).unwrap();
        stdin.write_all(raw).unwrap();
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), pieces.len().to_string());
}

fn pieces_of(old: &Bsp<'_>, new: &Bsp<'_>) -> Vec<(Vec<u8>, Vec<u8>)> {
    let made = pairs(old, new).filter(|(before, after)| !is_packed(old, before) && is_packed(new, after));
    made.map(|(before, after)| (new.stored(after.id).to_vec(), old.bytes(before.id).unwrap().to_vec())).collect()
}

#[test]
fn python_reads_what_is_compressed() {
    let mut random = 1_u32;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        random.to_le_bytes()[3]
    })
    .take(70_000)
    .collect();
    let builder =
        built(&dialect::SOURCE).lump(2, noise).lump(3, vec![0; 300_000]).lump(4, [7]).lump(5, text().repeat(99));
    let bytes = builder.build().unwrap();
    let map = Bsp::parse(&bytes).unwrap();
    let file = packed(&map, Layout::Repack).unwrap();
    let pieces = pieces_of(&map, &Bsp::parse(&file).unwrap());
    assert_eq!(pieces.len(), 10);
    python_reads(&pieces);
}

#[test]
fn every_source_map_keeps_every_byte() {
    let (folder, maps) = (corpus::folder(), corpus::maps());
    if maps.is_empty() {
        return;
    }
    let (mut broken, mut pieces, mut tried) = (Vec::new(), Vec::new(), 0);
    for path in &maps {
        let bytes = std::fs::read(path).unwrap();
        let Ok(map) = Bsp::parse(&bytes) else { continue };
        if map.dialect().rules.game_lump.is_none() {
            continue;
        }
        tried += 1;
        let name = path.strip_prefix(&folder).unwrap_or(path).display();
        match laws(&map) {
            Err(what) => broken.push(format!("{name}: {what}")),
            Ok(None) => println!("{name}: refused in every layout"),
            Ok(Some(file)) => {
                let new = Bsp::from_data(file[..].into(), Some(map.dialect())).unwrap();
                pieces.extend(pieces_of(&map, &new));
                // Each law saves a large text many times, compressed each time.
                let is_short = map.slots()[0].stored.len() < 50_000;
                let outcome = is_short.then(|| verify::run(&new)).filter(|outcome| !outcome.is_ok());
                broken.extend(outcome.map(|outcome| format!("{name}, compressed: {outcome:?}")));
                let text = |map: &Bsp<'_>| map.entities().map(|entities| entities.to_bytes()).ok();
                assert_eq!(text(&map), text(&new), "{name}");
            }
        }
    }
    println!("{tried} Source maps, {} pieces compressed", pieces.len());
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    python_reads(&pieces);
}

#[test]
fn game_lumps_that_cannot_be_read_are_left_alone() {
    let bytes = Builder::new(&dialect::SOURCE).lump(0, text()).lump(35, [0xEE; 30]).build().unwrap();
    let map = Bsp::parse(&bytes).unwrap();
    let mut draft = map.draft();
    let report = compress::compress(&mut draft, &Options::default()).unwrap();
    assert!(report.warnings.iter().any(|warning| warning.contains("members of the game lump are not changed")));
    assert_eq!(draft.changes().unwrap(), [SlotId::Lump(0)]);
    let saved = draft.plan(Layout::Keep).unwrap().to_vec();
    assert_eq!(*Bsp::parse(&saved).unwrap().stored(SlotId::Lump(35)), [0xEE; 30]);
}

/// Readers measure a compressed member by the place of the next one, so that it cannot share its bytes.
#[test]
fn members_that_share_bytes_stay_raw() {
    let bytes = built(&dialect::SOURCE).game_lump(*b"aaaa", 4, [8; 70]).build().unwrap();
    let map = Bsp::parse(&bytes).unwrap();
    let (entry, member) = (map.role(Role::GameLump).unwrap().stored.start + 4 + 32, map.slot("game:dprp").unwrap());
    let mut shared = bytes.clone();
    shared[entry + 8..entry + 12].copy_from_slice(&i32::try_from(member.stored.start).unwrap().to_le_bytes());
    shared[entry + 12..entry + 16].copy_from_slice(&50_i32.to_le_bytes());
    let map = Bsp::parse(&shared).unwrap();
    for layout in [Layout::Keep, Layout::Append, Layout::Repack] {
        let mut draft = map.draft();
        let report = compress::compress(&mut draft, &Options::default().all(true)).unwrap();
        let outcome = |name: &str| report.pieces.iter().find(|piece| piece.name == name).unwrap().outcome;
        assert_eq!(
            ["game:sprp", "game:dprp", "game:aaaa"].map(outcome),
            [Outcome::Compressed, Outcome::LeftAlone, Outcome::LeftAlone]
        );
        let saved = Bsp::from_vec(draft.plan(layout).unwrap().to_vec()).unwrap();
        for slot in map.slots().iter().filter(|slot| matches!(slot.id, SlotId::Game(_))) {
            assert_eq!(saved.bytes(slot.id).unwrap().to_vec(), map.bytes(slot.id).unwrap().to_vec(), "{}", slot.name);
        }
    }
}

/// A map that would take more bytes than are ever decompressed could not be read again.
#[test]
fn a_map_is_not_compressed_beyond_what_is_read() {
    let large = vec![0; 23 << 20];
    let builder = Builder::new(&dialect::SOURCE).lump(0, text()).lump(1, [1; 200]);
    let bytes = builder.lump(61, large.clone()).lump(62, large.clone()).lump(63, large).build().unwrap();
    let map = Bsp::parse(&bytes).unwrap();
    let mut draft = map.draft();
    let report = compress::compress(&mut draft, &Options::default().level(lzma::Level::new(1).unwrap())).unwrap();
    let outcomes: Vec<_> = report.pieces.iter().map(|piece| piece.outcome).collect();
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == Outcome::LeftAlone).count(), 1, "{outcomes:?}");
    assert!(report.warnings.iter().any(|warning| warning.contains("more bytes than are ever decompressed")));
    let saved = Bsp::from_vec(draft.plan(Layout::Repack).unwrap().to_vec()).unwrap();
    assert!(saved.check_total_size().is_ok());
    assert_eq!(saved.bytes(saved.slot("61").unwrap().id).unwrap().len(), 23 << 20);
}

/// Another lump lies over a part of the game lump, and is edited too: its old bytes stay only as far as a lump has them.
#[test]
fn a_lump_over_the_game_lump_does_not_damage_it() {
    let fixture = std::fs::read("tests/maps/source/room_v20.bsp").unwrap();
    let lump = Bsp::parse(&fixture).unwrap().role(Role::GameLump).unwrap().stored.clone();
    let (mut refused, mut written) = (0, 0);
    for start in (lump.start..lump.end + 40).step_by(42) {
        for len in [3, 50, 300] {
            let mut bytes = fixture.clone();
            let entry = 8 + 16 * 61;
            bytes[entry..entry + 4].copy_from_slice(&u32::try_from(start).unwrap().to_le_bytes());
            bytes[entry + 4..entry + 8].copy_from_slice(&u32::to_le_bytes(len));
            let Ok(old) = Bsp::parse(&bytes) else { continue };
            for (layout, all, pak) in LAYOUTS
                .into_iter()
                .flat_map(|layout| [(false, false), (true, false), (true, true)].map(|(all, pak)| (layout, all, pak)))
            {
                let mut draft = old.draft();
                let done = compress::compress(&mut draft, &Options::default().all(all).pak(pak));
                let what = format!("{start} + {len}, {layout:?}, all {all}, pak {pak}");
                let plan = match done.and_then(|_| draft.plan(layout)) {
                    Ok(plan) => plan,
                    // The look at shared bytes refuses what is wrongly placed: here nothing is.
                    Err(error) if error.to_string().contains("would lose some of them") => panic!("{what}: {error}"),
                    Err(_) => {
                        refused += 1;
                        continue;
                    }
                };
                let new = Bsp::from_vec(plan.to_vec()).unwrap();
                for (slot, twin) in pairs(&old, &new) {
                    let expected = draft.bytes(slot.id).unwrap();
                    let overwritten = plan.report().overwritten.contains(&slot.name);
                    assert!(overwritten || *expected == *new.bytes(twin.id).unwrap(), "{what}: {}", slot.name);
                }
                readable(&new).unwrap_or_else(|why| panic!("{what}: {why}"));
                written += 1;
            }
        }
    }
    assert!(written > 100 && refused < written, "{written} written, {refused} refused");
}
