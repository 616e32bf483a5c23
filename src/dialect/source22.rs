//! Source, versions 22 and 23: the beta of Dota 2 and INFRA, a relative of Source 21 in which some structs have more
//! fields.
//!
//! Both games have version 22 and different structs (the readers of bspsrc and srctools). So the struct is detected
//! from the records: normals of length 1, valid references, sums. A lump that fits no struct stays bytes.

use super::source::fit::one_for_one_of;
use super::source::{
    DISPINFO, DispCornerNeighbors, DispEdgeNeighbors, DispInfo, Face, OVERLAY_FADES, OVERLAYS, Overlay, PRIMITIVES,
    PrimIndex, Primitive, TRIS_OF_DISP, VERTS_OF_DISP, disp_infos, displacements,
};
use super::source21::{OVERLAY_SYSTEM_LEVELS, UNREAD};
use super::{Dialect, Facts, Key, Row, SOURCE21, row};
use crate::bytes::wide;
use crate::dialect::shared::Vertex;
use crate::record::{Field, FlagKind, Meaning, Record, index, records, run};

/// Source, versions 22 and 23.
pub static SOURCE22: Dialect = Dialect {
    name: "source22",
    title: "Source (versions 22 and 23: Dota 2 beta, INFRA)",
    versions: &[22, 23],
    rows: &ROWS,
    compression_caveats: &[(22, UNREAD), (23, UNREAD)],
    ..SOURCE21
};

/// Lump 26 of Dota 2, version 22.
pub const DISPINFO_V22: Key<DispInfoV22> = Key::new("DISPINFO");
/// Lump 26 of Dota 2, version 23.
pub const DISPINFO_V23: Key<DispInfoV23> = Key::new("DISPINFO");
/// Lump 37 of INFRA.
pub const PRIMITIVES_INFRA: Key<PrimitiveInfra> = Key::new("PRIMITIVES");
/// Lump 45 of Dota 2.
pub const OVERLAYS_DOTA: Key<OverlayDota> = Key::new("OVERLAYS");

const OWN: [&[Row]; 1] = [&[
    DISPINFO_V22.row().maps(&[22]).proved(placed::<DispInfoV22>),
    DISPINFO_V23.row().maps(&[23]).proved(placed::<DispInfoV23>),
    DISPINFO.row().proved(placed::<DispInfo>),
    PRIMITIVES_INFRA.row().maps(&[22]).proved(|facts, row| {
        of_indices(facts, row, |one: PrimitiveInfra| {
            [(one.first_index, one.index_count), (one.first_vertex.into(), one.vertex_count.into())]
        })
    }),
    PRIMITIVES.row().proved(|facts, row| {
        of_indices(facts, row, |one: Primitive| {
            [(one.first_index, one.index_count), (one.first_vertex, one.vertex_count)]
                .map(|(first, count)| (first.into(), count.into()))
        })
    }),
    OVERLAYS_DOTA.row().proved(|facts, row| with_normals(facts, row, |overlay: OverlayDota| overlay.normal)),
    OVERLAYS.row().proved(|facts, row| with_normals(facts, row, |overlay: Overlay| overlay.normal)),
    OVERLAY_FADES.row().proved(one_for_each_overlay),
    OVERLAY_SYSTEM_LEVELS.row().proved(one_for_each_overlay),
]];

static KEPT: [Row; row::count(SOURCE21.rows, &OWN)] = row::rows(SOURCE21.rows, &OWN);

static ROWS: [&[Row]; 2] = [OWN[0], &KEPT];

/// The fields of a displacement by which its struct is detected.
struct Links {
    power: i32,
    face: u16,
    edges: [DispEdgeNeighbors; 4],
    corners: [DispCornerNeighbors; 4],
}

trait Linked {
    fn links(&self) -> Links;
}

impl Links {
    /// Whether its references are valid for this many faces and displacements; none is its own neighbor.
    fn are_good(&self, index: usize, faces: usize, count: usize) -> bool {
        let is_there = |other: u16| usize::from(other) < count && usize::from(other) != index;
        let mut edges = self.edges.iter().flat_map(|edge| edge.neighbors);
        let mut corners = self.corners.iter().map(|corner| corner.neighbors.get(..corner.count.into()));
        usize::from(self.face) < faces
            && edges.all(|edge| edge.neighbor == 0xFFFF || is_there(edge.neighbor))
            && corners.all(|corner| corner.is_some_and(|corner| corner.iter().all(|other| is_there(*other))))
    }
}

/// Displacements whose vertexes are as many as the map has, with valid faces and neighbors.
fn placed<R: Record + Linked>(facts: &Facts<'_>, row: &Row) -> Result<(), String> {
    let (bytes, faces) = (facts.own(row), facts.count("FACES", Face::SIZE));
    displacements(facts, row, |record: R| record.links().power)?;
    let count = bytes.len() / R::SIZE;
    let mut all = bytes.chunks_exact(R::SIZE).filter_map(R::decode).enumerate();
    match all.find(|(index, record)| !record.links().are_good(*index, faces, count)) {
        // Less than one record proves nothing.
        None if count == 0 => Err(format!("its {} bytes are not a displacement of {}", bytes.len(), R::SIZE)),
        None => Ok(()),
        Some((index, _)) => Err(format!(
            "with {} bytes each, displacement {index} names faces or neighbors that are not there",
            R::SIZE
        )),
    }
}

/// Primitives that together have as many indices as the map, all with valid indices and vertexes.
fn of_indices<R: Record>(facts: &Facts<'_>, row: &Row, runs: fn(R) -> [(u32, u32); 2]) -> Result<(), String> {
    let (bytes, vertexes) = (facts.own(row), facts.count("PRIMVERTS", Vertex::SIZE));
    let indices = facts.count("PRIMINDICES", PrimIndex::SIZE);
    let mut sum = 0;
    let mut all = bytes.chunks_exact(R::SIZE).filter_map(R::decode).map(runs);
    let are_there = all.all(|runs| {
        sum += u64::from(runs[0].1);
        let mut runs = runs.into_iter().zip([indices, vertexes]);
        runs.all(|((first, count), there)| count == 0 || u64::from(first) + u64::from(count) <= wide(there))
    });
    match are_there && bytes.len().is_multiple_of(R::SIZE) && sum == wide(indices) {
        true => Ok(()),
        false => Err(format!(
            "as primitives of {} bytes its {} bytes do not have the {indices} indices and {vertexes} vertexes",
            R::SIZE,
            bytes.len()
        )),
    }
}

/// Overlays with normals of length 1.
fn with_normals<R: Record>(facts: &Facts<'_>, row: &Row, normal: fn(R) -> [f32; 3]) -> Result<(), String> {
    let bytes = facts.own(row);
    let mut normals = bytes.chunks_exact(R::SIZE).filter_map(R::decode).map(normal);
    let is_one = |normal: [f32; 3]| (normal.iter().map(|part| part * part).sum::<f32>() - 1.0).abs() < 0.01;
    match bytes.len().is_multiple_of(R::SIZE) && normals.all(is_one) {
        true => Ok(()),
        false => {
            Err(format!("as overlays of {} bytes its {} bytes do not have normals of length 1", R::SIZE, bytes.len()))
        }
    }
}

fn one_for_each_overlay(facts: &Facts<'_>, row: &Row) -> Result<(), String> {
    one_for_one_of(facts, row, "OVERLAYS", &[Overlay::SIZE, OverlayDota::SIZE], "overlays")
}

macro_rules! linked {
    ($($name:ident),*) => {
        $(impl Linked for $name {
            fn links(&self) -> Links {
                Links { power: self.power, face: self.face, edges: self.edges, corners: self.corners }
            }
        })*
    };
}

linked!(DispInfo, DispInfoV22, DispInfoV23);

disp_infos! {
    /// `ddispinfo_t` of Dota 2, version 22.
    DispInfoV22(180) {} {
        /// Of unknown meaning.
        pub unknown: i32,
    }

    /// `ddispinfo_t` of Dota 2, version 23.
    DispInfoV23(184) {
        /// Of unknown meaning.
        pub unknown: i32,
    } {
        /// Of unknown meaning.
        pub more_unknown: i32,
    }

    => {
    /// `dprimitive_t` of INFRA: triangles of a face that its edges do not give.
    pub struct PrimitiveInfra(16) {
        /// 0 for a list of triangles, 1 for a strip.
        pub kind: u32 as "type",
        /// Its first index.
        pub first_index: u32 as "firstIndex" => run("PRIMINDICES", "index_count"),
        /// How many indices it has.
        pub index_count: u32 as "indexCount",
        /// Its first vertex.
        pub first_vertex: u16 as "firstVert" => run("PRIMVERTS", "vertex_count"),
        /// How many vertexes it has of its own.
        pub vertex_count: u16 as "vertCount",
    }

    /// `doverlay_t` of Dota 2.
    pub struct OverlayDota(356) {
        ..Overlay,
        /// Of unknown meaning.
        pub unknown: i32,
    }
    }
}
