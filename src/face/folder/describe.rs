//! Makes the manifest of a map, and the files for bytes outside of lumps.

use std::path::Path;

use super::manifest::{Manifest, NAME, Part};
use crate::dialect::Role;
use crate::face::report::base64;
use crate::{Bsp, SegmentKind, Slot, SlotId};

/// The start of the names of files with bytes before a lump that belong to no lump.
const GAP: &str = "gap_before_";
const TAIL: &str = "tail";

/// A lump that gets a file, and the format of the file.
pub(super) struct Dumped<'b> {
    pub(super) slot: &'b Slot,
    /// The name of the file.
    pub(super) file: String,
    /// The name of the records in it and their size, if it is not written as bytes.
    pub(super) record: Option<(String, usize)>,
    /// The bytes after the last record.
    pub(super) rest: Vec<u8>,
}

/// Whether a file in a folder is not the file of a lump but one that only `build` reads.
pub(super) fn is_extra(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name == NAME || name.starts_with(GAP) || name == "tail.bin"
}

/// A file: its name in the folder, and its bytes.
pub(super) type NamedFile = (String, Vec<u8>);

/// The files with bytes outside of lumps, and the manifest.
pub(super) fn describe(bsp: &Bsp<'_>, game: Option<&str>, dumped: &[Dumped<'_>]) -> Vec<NamedFile> {
    let (dialect, container) = (bsp.dialect(), bsp.container());
    let mut files = Vec::new();
    let mut lumps: Vec<Part> = dumped.iter().map(|dumped| part(bsp, dumped)).collect();
    // A game lump with members has no file. Its other properties are in the manifest.
    let game_lump = bsp.role(Role::GameLump).filter(|slot| dumped.iter().all(|dumped| dumped.slot.id != slot.id));
    let placed = game_lump.map(|slot| placed(bsp, slot)).filter(|part| part.version.is_some() || part.align.is_some());
    lumps.extend(placed);

    let segments = container.segments();
    let is_zero = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
    for pair in segments.windows(2) {
        let bytes = &container.bytes()[pair[0].range.clone()];
        let is_lump = |id: &&SlotId| matches!(id, SlotId::Lump(_));
        let Some(id) = pair[1].slots.iter().find(is_lump).filter(|_| pair[0].kind == SegmentKind::Gap) else {
            continue;
        };
        let Some(slot) = container.slot(*id).filter(|_| !is_zero(bytes)) else { continue };
        let name = format!("{GAP}{}.bin", slot.name);
        match lumps.iter_mut().find(|part| part.lump == slot.name) {
            Some(part) => part.gap_before = Some(name.clone()),
            None => lumps.push(Part { lump: slot.name.clone(), gap_before: Some(name.clone()), ..Part::default() }),
        }
        files.push((name, bytes.to_vec()));
    }
    let of_kind = |kind| segments.iter().filter(move |segment| segment.kind == kind);
    let tail: Vec<u8> = of_kind(SegmentKind::Tail)
        .flat_map(|segment| container.bytes()[segment.range.clone()].iter().copied())
        .collect();
    let tail = (!tail.is_empty()).then(|| {
        files.push((format!("{TAIL}.bin"), tail));
        format!("{TAIL}.bin")
    });
    let has_trailer = of_kind(SegmentKind::Trailer).next().is_some();
    let is_ragged = !container.bytes().len().is_multiple_of(dialect.rules.end_alignment);
    let manifest = Manifest {
        folder: std::path::PathBuf::new(),
        bspkit_manifest: 1,
        dialect: dialect.name.to_owned(),
        version: Some(bsp.version()),
        revision: bsp.revision(),
        checksum: dialect.stored_checksum_at().and_then(|at| {
            let word = container.bytes().get(at..)?.first_chunk()?;
            Some(u32::from_le_bytes(*word))
        }),
        entries: Some(container.shape().count),
        game: game.map(str::to_owned),
        lumps,
        order: order(bsp),
        align_game_lumps: members_alignment(bsp),
        trailer: has_trailer,
        unpadded: is_ragged && tail.is_none() && !has_trailer,
        tail,
    };
    // Writing to memory cannot fail.
    let mut text = serde_json::to_vec_pretty(&manifest).unwrap_or_default();
    text.push(b'\n');
    files.push((NAME.to_owned(), text));
    files
}

fn part(bsp: &Bsp<'_>, dumped: &Dumped<'_>) -> Part {
    let Dumped { slot, file, record, rest } = dumped;
    let (record, record_size) = record.clone().unzip();
    Part {
        file: Some(file.clone()),
        record,
        record_size,
        rest: (!rest.is_empty()).then(|| base64(rest)),
        ..placed(bsp, slot)
    }
}

/// A part of the manifest without its content.
fn placed(bsp: &Bsp<'_>, slot: &Slot) -> Part {
    let mut part = Part { lump: slot.name.clone(), ..Part::default() };
    part.version = slot.version.filter(|version| *version != 0);
    part.compressed = bsp.decompressed_size(slot.id).is_some();
    match slot.id {
        SlotId::Lump(index) => {
            let alignments = bsp.dialect().rules.alignments.iter();
            let mut own = alignments.filter(|alignment| alignment.lump == index && alignment.only_if_it_stood_so);
            let is_aligned = |bytes: usize| !slot.stored.is_empty() && slot.stored.start.is_multiple_of(bytes);
            part.align = own.find(|alignment| is_aligned(alignment.bytes)).map(|alignment| alignment.bytes);
        }
        // Bit 0 is the member `compressed`.
        SlotId::Game(_) => part.flags = bsp.member_flags(slot.id).unwrap_or(0) & !1,
        _ => {}
    }
    part
}

/// The names of the lumps in the order of the file, if it is not the usual order of the dialect.
fn order(bsp: &Bsp<'_>) -> Vec<String> {
    let lumps = bsp.slots().iter().filter(|slot| matches!(slot.id, SlotId::Lump(_)) && !slot.stored.is_empty());
    let mut lumps: Vec<&Slot> = lumps.collect();
    let usual = bsp.dialect().rules.write_order;
    let rank = |slot: &&Slot| {
        let index = |index: &usize| slot.id == SlotId::Lump(*index);
        (usual.iter().position(index).unwrap_or(usual.len()), slot.id)
    };
    lumps.sort_by_key(|slot| slot.stored.start);
    match lumps.is_sorted_by_key(rank) {
        true => Vec::new(),
        false => lumps.into_iter().map(|slot| slot.name.clone()).collect(),
    }
}

/// 4, if the offsets of all members of the game lump are multiples of 4.
fn members_alignment(bsp: &Bsp<'_>) -> Option<usize> {
    let members = bsp.slots().iter().filter(|slot| matches!(slot.id, SlotId::Game(_)) && !slot.stored.is_empty());
    let mut starts = members.map(|slot| slot.stored.start).peekable();
    (starts.peek().is_some() && starts.all(|start| start.is_multiple_of(4))).then_some(4)
}
