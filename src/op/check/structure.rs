//! Lumps as a whole: their place in the file, how they are stored, and whether they have the right form.

use super::code::{
    BSPX_DIRECTORY, COUNT_MISFIT, FILE_CUT, GAME_DIRECTORY, LUMP_COMPRESSION, LUMP_DECOMPRESS, LUMP_EMPTY,
    LUMP_IN_HEADER, LUMP_MISFIT, LUMP_OUTSIDE, LUMP_OVERLAP, LUMP_RAGGED, LUMP_UNCHECKED, LUMP_UNKNOWN, LUMP_VERSION,
    PAK_DIRECTORY,
};
use super::lumps::{Lump, Lumps, State};
use super::sink::{At, Sink};
use crate::bytes::{ByteOrder, wide, word};
use crate::content::pak::Pak;
use crate::dialect::{Form, Role};
use crate::file::{Bounds, SegmentKind, Slot, SlotId};

pub(super) fn check(lumps: &Lumps<'_>, sink: &mut Sink) {
    // Of edits that are not placed yet the places mean nothing.
    let is_placed = !lumps.bsp.container().has_pending();
    let is_cut = is_placed && check_cut(lumps, sink);
    for lump in &lumps.all {
        if is_placed {
            check_place(lumps, lump, is_cut, sink);
        }
        check_compression(lumps, lump, sink);
        check_content(lump, sink);
    }
    check_unknown(lumps, sink);
    if is_placed {
        check_overlaps(lumps, sink);
        check_bspx(lumps, sink);
    }
    check_versions(lumps, sink);
    check_directories(lumps, sink);
    for name in lumps.checks().required {
        // If it names bytes outside of the file, that is already a finding.
        let is_empty = |lump: &&Lump<'_>| lump.slot.length == 0;
        if let Some(lump) = lumps.lump(name).filter(is_empty) {
            sink.add(&LUMP_EMPTY, At::lump(lump.name), || "it is empty, and engines refuse a map without it".into());
        }
    }
}

/// Whether the file was cut short: all lumps from one place on pass its end, and the first of them begins where the
/// file ends or before. If only one lump had a wrong offset or length, other lumps would be after it, or the file would
/// be complete.
fn check_cut(lumps: &Lumps<'_>, sink: &mut Sink) -> bool {
    // Padding that compilers write between lumps: up to a sector.
    const MOST_PADDING: u64 = 2048;
    let size = wide(lumps.bsp.container().bytes().len());
    let top = || lumps.all.iter().map(|lump| lump.slot).filter(|slot| slot.is_top_level());
    let number = |number: i32| u64::try_from(number).unwrap_or(0);
    let cut = || top().filter(|slot| is_past_the_end(slot));
    let Some(first) = cut().map(|slot| number(slot.offset)).min() else { return false };
    let end = cut().map(|slot| number(slot.offset) + number(slot.length)).max().unwrap_or(size);
    let is_after = |slot: &Slot| slot.bounds == Bounds::Inside && number(slot.offset) > first;
    if first > size + MOST_PADDING || top().any(is_after) {
        return false;
    }
    sink.add(&FILE_CUT, At::default(), || {
        let (missing, lumps) = (end - size, cut().count());
        let lumps = if lumps == 1 { "1 lump".to_owned() } else { format!("{lumps} lumps") };
        format!("the file was cut short: it ends at {size}, and {missing} bytes of {lumps} are missing; get it again")
    });
    true
}

fn is_past_the_end(slot: &Slot) -> bool {
    matches!(slot.bounds, Bounds::Overrun | Bounds::Outside)
}

fn check_place(lumps: &Lumps<'_>, lump: &Lump<'_>, is_cut: bool, sink: &mut Sink) {
    let slot = lump.slot;
    if slot.bounds.is_damaged() && !(is_cut && is_past_the_end(slot)) {
        let size = lumps.bsp.container().bytes().len();
        sink.add(&LUMP_OUTSIDE, At::lump(lump.name), || {
            format!("it {}: {} bytes at {} of {size}", slot.bounds, slot.length, slot.offset)
        });
    }
    let header = lumps.bsp.container().shape().header_size();
    if !slot.stored.is_empty() && slot.stored.start < header {
        sink.add(&LUMP_IN_HEADER, At::lump(lump.name), || {
            format!("it begins at {}, within the {header} bytes of the header", slot.stored.start)
        });
    }
}

fn check_compression(lumps: &Lumps<'_>, lump: &Lump<'_>, sink: &mut Sink) {
    let at = At::lump(lump.name);
    match &lump.state {
        State::Packed(why) => return sink.add(&LUMP_DECOMPRESS, at, || why.clone()),
        State::TooLarge => sink.add(&LUMP_UNCHECKED, at, || "it is too large to be decompressed here".into()),
        State::Malformed(_) | State::Read | State::NotWanted => {}
    }
    if let Some(oddity) = lumps.bsp.compression_oddity(lump.slot.id) {
        sink.add(&LUMP_COMPRESSION, at, || format!("it {oddity}"));
    }
}

fn check_content(lump: &Lump<'_>, sink: &mut Sink) {
    let at = At::lump(lump.name);
    if let State::Malformed(why) = &lump.state {
        sink.add(&LUMP_MISFIT, at, || why.clone());
    }
    if let Some(why) = &lump.misfit {
        sink.add(&COUNT_MISFIT, at, || why.clone());
    }
    let Ok(Form::Array(record)) = lump.row.as_ref().map(|row| row.form) else { return };
    let (len, size) = (lump.bytes.len(), record.size);
    if len % size != 0 {
        sink.add(&LUMP_RAGGED, at.offset(len - len % size), || {
            format!("its {len} bytes are not a multiple of {size}, the size of a {}", record.name)
        });
    }
}

/// Lumps without a known layout are notes. Lumps that no known layout fits are warnings: a game may have changed the
/// layout, or they are broken. If one lump does not fit, others that depend on it are not known either, for the same
/// reason.
fn check_unknown(lumps: &Lumps<'_>, sink: &mut Sink) {
    let dialect = lumps.bsp.dialect();
    let mut reasons: Vec<&str> = Vec::new();
    for lump in lumps.all.iter().filter(|lump| !lump.bytes.is_empty()) {
        let Err(why) = &lump.row else { continue };
        // BSPX entries and extra lumps are known by their names alone.
        if !matches!(lump.slot.id, SlotId::Lump(_) | SlotId::Game(_)) {
            continue;
        }
        // Counts that fit no layout are a fault, whatever the game.
        let is_told = lumps.bsp.byte_order() == ByteOrder::Little;
        let member = dialect.checks.members.iter().find(|(name, _)| is_told && *name == lump.name);
        if let Some(why) = member.and_then(|(_, fits)| fits(lump.slot.version.unwrap_or(0), &lump.bytes).err()) {
            sink.add(&COUNT_MISFIT, At::lump(lump.name), || why);
            continue;
        }
        let mut rows = dialect.rows_of(lump.name);
        let is_foreign = rows.clone().any(|row| matches!(row.form, Form::Opaque(opaque) if opaque == why));
        let is_first = !reasons.contains(&why.as_str());
        let is_misfit = !is_foreign && is_first && !lump.is_unread && rows.any(|row| row.proof.is_some());
        let code = if is_misfit { &LUMP_MISFIT } else { &LUMP_UNKNOWN };
        sink.add(code, At::lump(lump.name), || why.clone());
        if is_misfit {
            reasons.push(why);
        }
    }
}

/// The directories within lumps: of the game lump, which has another layout in some games, and of the pakfile.
fn check_directories(lumps: &Lumps<'_>, sink: &mut Sink) {
    let opaque = lumps.bsp.dialect().opaque_game_lumps;
    for lump in &lumps.all {
        let pinned = lumps.bsp.container().pinned(lump.slot.id);
        if let Some(why) = pinned.filter(|why| !opaque.iter().any(|(_, known)| known == why)) {
            sink.add(&GAME_DIRECTORY, At::lump(lump.name), || why.to_owned());
        }
    }
    // A pakfile that runs past the end of the file has lost its directory; that is already a finding.
    let pak = lumps.role_lump(Role::Pak).filter(|lump| !lump.bytes.is_empty() && !lump.slot.bounds.is_damaged());
    if let Some((lump, error)) = pak.and_then(|lump| Some((lump, Pak::parse(lump.bytes.clone()).err()?))) {
        sink.add(&PAK_DIRECTORY, At::lump(lump.name), || error.to_string());
    }
}

/// A block whose directory cannot be read is ignored by readers.
fn check_bspx(lumps: &Lumps<'_>, sink: &mut Sink) {
    let container = lumps.bsp.container();
    if lumps.all.iter().any(|lump| matches!(lump.slot.id, SlotId::Bspx(_))) {
        return;
    }
    for segment in container.segments().iter().filter(|segment| segment.kind == SegmentKind::Bspx) {
        let bytes = container.bytes().get(segment.range.clone()).unwrap_or_default();
        let start = bytes.windows(4).take(4).position(|window| window == b"BSPX").unwrap_or(0);
        let count = word(bytes, start + 4).filter(|count| *count != 0);
        if let Some(count) = count {
            let at = segment.range.start;
            sink.add(&BSPX_DIRECTORY, At::default().offset(at), || {
                format!("the BSPX block at {at} states {count} entries, and they cannot be read")
            });
        }
    }
}

/// Versions of lumps that no engine reads.
fn check_versions(lumps: &Lumps<'_>, sink: &mut Sink) {
    for (name, known) in lumps.checks().versions {
        let Some(lump) = lumps.lump(name).filter(|lump| lump.slot.length > 0) else { continue };
        if let Some(version) = lump.slot.version.filter(|version| !known.contains(version)) {
            sink.add(&LUMP_VERSION, At::lump(lump.name), || {
                format!("its version is {version}, and engines read {} to {}", known.start(), known.end())
            });
        }
    }
}

fn check_overlaps(lumps: &Lumps<'_>, sink: &mut Sink) {
    let top = lumps.all.iter().filter(|lump| lump.slot.is_top_level() && !lump.slot.stored.is_empty());
    let mut sorted: Vec<&Lump<'_>> = top.collect();
    sorted.sort_by_key(|lump| (lump.slot.stored.start, lump.slot.stored.end));
    let mut last: Option<&Lump<'_>> = None;
    for lump in sorted {
        let (start, end) = (lump.slot.stored.start, lump.slot.stored.end);
        // Two entries for the same bytes are legal.
        let is_other = |before: &&Lump<'_>| before.slot.stored.end > start && before.slot.stored != lump.slot.stored;
        if let Some(before) = last.filter(is_other) {
            let shared = before.slot.stored.end.min(end) - start;
            sink.add(&LUMP_OVERLAP, At::lump(lump.name), || format!("it shares {shared} bytes with {}", before.name));
        }
        if last.is_none_or(|before| before.slot.stored.end < end) {
            last = Some(lump);
        }
    }
}
