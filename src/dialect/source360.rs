//! Source on the Xbox 360 and the PlayStation 3, a relative of Source: the ident is `PSBV`, `VBSP` in big-endian order.
//! So is every number in the file, except in compressed data and in the pakfile.
//!
//! The maps are made from those for PCs by `SwapBSPFile` and `CompressBSP` of the SDK's bsplib.cpp, which define what
//! is byte-swapped and in which order lumps are written. A map of the Orange Box confirmed this. They leave out the
//! faces, lamps and light for low dynamic range if those for high range exist, and lumps that they do not know. The
//! version of lump 59 is a checksum of the map for PCs.

use crate::bytes::ByteOrder;
use crate::file::Rules;
use crate::file::directory::{DirectoryShape, EntryShape};
use crate::record::{Field, decode_in};

use super::checks::{Checks, engine};
use super::source::physics::{PhysicsHead, SolidHead};
use super::{Dialect, Magic, Row, SOURCE, limits, source};

/// Source on consoles, before version 21.
pub static SOURCE360: Dialect = Dialect {
    name: "source360",
    title: "Source (Xbox 360, PlayStation 3)",
    magic: Magic::Ident(*b"PSBV"),
    versions: &[20, 19],
    shapes: &[DirectoryShape { first: 8, count: 64, entry: EntryShape::SourceBig, trailing: 4 }],
    rows: &ALL_ROWS,
    rules: Rules {
        // `CompressGameLump`: offsets are relative to the lump.
        relative_members: true,
        trailer_lump: None,
        // `XBOX_DVD_SECTORSIZE`.
        end_alignment: 2048,
        // "Flags for 360 must be first", "lighting must be the penultimate lump", "Pakfile for 360 must be last".
        first_lump: Some(59),
        last_lumps: &[8, 53, 40],
        // As in every compressed lump of the available map.
        dictionary: 1 << 18,
        // The lumps that it leaves out are before the light.
        write_order: &[
            59, 10, 55, 51, 56, 52, 9, 35, 58, 7, 54, 15, 28, 29, 4, 14, 3, 1, 5, 6, 2, 26, 33, 48, 34, 47, 37, 38, 39,
            27, 16, 17, 13, 12, 18, 19, 20, 21, 0, 36, 30, 31, 41, 42, 43, 44, 45, 50, 46, 60, 11, 22, 23, 24, 25, 32,
            49, 57, 61, 62, 63, 8, 53, 40,
        ],
        ..SOURCE.rules
    },
    opaque_game_lumps: &[],
    // The engines of all consoles read them.
    compression_caveats: &[],
    bare_paks: &[],
    // Which checksums consoles compare is not known.
    checksums: &[],
    checks: &CHECKS,
    ..SOURCE
};

/// The limits of its time.
const CHECKS: Checks = Checks {
    engines: &[engine("source360", "Source on the Xbox 360 and the PlayStation 3", &[], &limits::source_limits(8_192))],
    // `SwapBSPFile` strips the faces for low range if there are faces for high range. The available map has no original
    // faces; it is not known what stripped them.
    left_out: &[("FACES", Some("FACES_HDR")), ("ORIGINALFACES", None)],
    ..source::CHECKS
};

const ROWS: &[Row] = &[
    Row::lens("VISIBILITY", "visibility").byte_swapped(byte_swap_visibility),
    source::physics::PHYSCOLLIDE.byte_swapped(byte_swap_physics),
    source::geometry::PHYSDISP.byte_swapped(byte_swap_disp_physics),
    Row::opaque("PHYSCOLLIDESURFACE", "no console map is known to have it"),
];

const ALL_ROWS: [&[Row]; 10] = source::rows_behind(&[ROWS]);

/// `SwapVisibilityLump`: the number of clusters and the offsets of their rows. Rows are bits.
fn byte_swap_visibility(bytes: &mut [u8], from: ByteOrder) {
    let clusters = from.word(bytes, 0).and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
    turn_words(bytes, 0, clusters.saturating_mul(2).saturating_add(1));
}

/// `SwapPhyscollideLump`: the sizes of entries and of the solids in them. The inside of solids is not byte-swapped.
fn byte_swap_physics(bytes: &mut [u8], from: ByteOrder) {
    let size = |size: i32| usize::try_from(size).ok();
    let mut at = 0;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let head = decode_in::<PhysicsHead>(from, rest);
        turn_words(bytes, at, PhysicsHead::SIZE / 4);
        let Some(head) = head else { return };
        let sizes = (size(head.solids_size), size(head.text_size), size(head.solid_count));
        let (Some(solids @ 1..), Some(text), Some(count)) = sizes else { return };
        let mut solid = at + PhysicsHead::SIZE;
        let end = solid.saturating_add(solids);
        for _ in 0..count {
            let inside = bytes.get(solid..end.min(bytes.len())).unwrap_or_default();
            let Some(head) = decode_in::<SolidHead>(from, inside) else { break };
            turn_words(bytes, solid, SolidHead::SIZE / 4);
            let Some(size) = size(head.size) else { break };
            solid = solid.saturating_add(SolidHead::SIZE).saturating_add(size);
        }
        at = end.saturating_add(text);
        if at >= bytes.len() {
            return;
        }
    }
}

/// `SwapPhysdispLump`: their number and the length of each, in 16 bits.
fn byte_swap_disp_physics(bytes: &mut [u8], from: ByteOrder) {
    let count = from.half(bytes, 0).map_or(0, usize::from);
    bytes.chunks_exact_mut(2).take(count + 1).for_each(<[u8]>::reverse);
}

fn turn_words(bytes: &mut [u8], at: usize, count: usize) {
    let words = bytes.get_mut(at..).unwrap_or_default();
    words.chunks_exact_mut(4).take(count).for_each(<[u8]>::reverse);
}
