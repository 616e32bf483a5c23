//! Builds maps of the Source engine from nothing: a closed room with a door, light, props, details and embedded files,
//! once as each kind of map that is about.
//!
//! ```sh
//! cargo run --example source_room -- rooms
//! ```
//!
//! No compiler is needed, because everything in the room faces along an axis. The project's own Source maps in
//! `tests/maps/source` are made this way; running it again gives the same bytes. Without a folder it writes to a new
//! one among the temporary files.

mod files;
mod geometry;
mod light;
mod records;
mod things;
mod wide;

use std::error::Error;
use std::path::PathBuf;

use bspkit::dialect::source::{Area, CubemapSample, TexData};
use bspkit::dialect::source21::FaceBrushList;
use bspkit::dialect::{Dialect, L4D2, SOURCE, SOURCE21, STRATA};
use bspkit::record::Record;
use bspkit::{Builder, Result};

use geometry::Geometry;
use light::Range;
use records::{bytes, longs, shorts, zeros};

/// A kind of map.
struct Kind {
    name: &'static str,
    dialect: &'static Dialect,
    version: i32,
    /// The version of the static props.
    props: u16,
    ranges: &'static [Range],
    /// What divides the parts of an output.
    separator: char,
}

const KINDS: [Kind; 5] = [
    Kind { name: "room_v19", dialect: &SOURCE, version: 19, props: 5, ranges: &[Range::Low], separator: ',' },
    Kind {
        name: "room_v20",
        dialect: &SOURCE,
        version: 20,
        props: 6,
        ranges: &[Range::Low, Range::High],
        separator: ',',
    },
    Kind { name: "room_v21", dialect: &SOURCE21, version: 21, props: 9, ranges: &[Range::High], separator: '\x1B' },
    Kind {
        name: "room_l4d2",
        dialect: &L4D2,
        version: 21,
        props: 9,
        ranges: &[Range::Low, Range::High],
        separator: '\x1B',
    },
    Kind {
        name: "room_strata",
        dialect: &STRATA,
        version: 25,
        props: 13,
        ranges: &[Range::Low, Range::High],
        separator: '\x1B',
    },
];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).map_or_else(|| std::env::temp_dir().join("bspkit_rooms"), PathBuf::from);
    std::fs::create_dir_all(&folder)?;
    for kind in &KINDS {
        let plain = kind.lumps().into_iter().fold(kind.builder(), |builder, (index, lump)| builder.lump(index, lump));
        let map = plain
            .lump(40, files::zip(&things::files(kind.name), false, kind.pak_comment())?)
            .game_lump(*b"sprp", kind.props, things::static_props(kind.props))
            .game_lump(*b"dprp", 4, things::details())
            .build()?;
        write(folder.join(kind.name).with_extension("bsp"), &map)?;
    }
    write(folder.join("room_v20_lzma.bsp"), &compressed(&KINDS[1])?)
}

/// The same map with everything in it compressed, as `bspzip -repack -compress` does it.
fn compressed(kind: &Kind) -> Result<Vec<u8>> {
    let mut builder = kind.builder();
    for (index, lump) in kind.lumps().into_iter().filter(|(_, lump)| !lump.is_empty()) {
        builder = builder.compressed_lump(index, &lump)?;
    }
    builder
        .lump(40, files::zip(&things::files(kind.name), true, kind.pak_comment())?)
        .align(40, 2048)
        .compressed_game_lump(*b"sprp", kind.props, &things::static_props(kind.props))?
        .compressed_game_lump(*b"dprp", 4, &things::details())?
        .game_lump_end()
        .align_game_lumps(4)
        .build()
}

fn write(path: PathBuf, map: &[u8]) -> Result<(), Box<dyn Error>> {
    std::fs::write(&path, map)?;
    println!("{}: {} bytes", path.display(), map.len());
    Ok(())
}

impl Kind {
    /// The map without its lumps, but with their versions.
    fn builder(&self) -> Builder {
        let mut versions = vec![(7, 1), (8, 1), (9, 2)];
        if self.version >= 20 {
            versions.extend([(10, 1), (51, 1), (52, 1), (53, 1), (55, 1), (56, 1), (58, 1)]);
        }
        if self.version >= 21 {
            versions.extend([(15, 1), (54, 1), (62, 16)]);
        }
        if self.is_wide() {
            versions.extend(wide::VERSIONS);
        }
        let builder = Builder::new(self.dialect).version(self.version).revision(7);
        versions.into_iter().fold(builder, |builder, (index, version)| builder.lump_version(index, version))
    }

    /// What ends the pakfile: the alignment of its files, since the Orange Box.
    fn pak_comment(&self) -> &'static [u8] {
        const COMMENT: [u8; 32] = *b"XZP1 0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
        if self.version >= 20 { &COMMENT } else { b"" }
    }

    /// All lumps but the game lump and the embedded files.
    fn lumps(&self) -> Vec<(usize, Vec<u8>)> {
        let all = Geometry::new();
        let (has_low, has_high) = (self.ranges.contains(&Range::Low), self.ranges.contains(&Range::High));
        let (low, low_faces) = light::lightmaps(&all, Range::Low);
        let (high, high_faces) = light::lightmaps(&all, Range::High);
        let lamps = light::lamps(i32::from(self.version >= 21));
        let (names, name_offsets) = self.names();
        let faces = all.faces.len();
        let mut lumps = vec![
            (0, things::entities(self.name, self.separator).into_bytes()),
            (1, bytes(&all.planes)),
            (2, bytes(&tex_data())),
            (3, all.vertexes.concat().iter().flat_map(|at| at.to_le_bytes()).collect()),
            (4, visibility()),
            (5, bytes(&all.nodes)),
            (6, bytes(&all.tex_infos)),
            // Without light of a low range these faces are for the high one.
            (7, bytes(if has_low { &low_faces } else { &high_faces })),
            (9, vec![0; 12]),
            (10, self.leafs(&all)),
            (11, shorts(&(0..faces).map(|face| 40 + face as u16).collect::<Vec<_>>())),
            (12, shorts(&all.edges.concat())),
            (13, longs(&all.surf_edges)),
            (14, bytes(&all.models)),
            (16, shorts(&all.leaf_faces)),
            (17, shorts(&all.leaf_brushes)),
            (18, bytes(&all.brushes)),
            (19, bytes(&all.brush_sides)),
            // Area 0 is none.
            (20, bytes(&[zeros(), Area { portal_count: 0, first_portal: 1 }])),
            (21, bytes(&all.area_portals)),
            (27, bytes(&all.original_faces)),
            (29, longs(&[-1, -1, 0, 0])),
            (30, all.normals.concat().iter().flat_map(|at| at.to_le_bytes()).collect()),
            (31, shorts(&all.normal_indices)),
            (42, zeros::<CubemapSample>().encode()),
            (43, names),
            (44, longs(&name_offsets)),
            (46, shorts(&vec![0xFFFF; all.leafs.len()])),
            (47, shorts(&vec![0xFFFF; faces])),
        ];
        if has_low {
            lumps.extend([(8, low), (15, lamps.clone())]);
        }
        if has_high {
            lumps.extend([(53, high), (54, lamps)]);
        }
        if has_low && has_high {
            lumps.push((58, bytes(&high_faces)));
        }
        if self.version >= 20 {
            let (indices, samples) = light::ambient(&all.leafs);
            if has_low {
                lumps.extend([(52, indices.clone()), (56, samples.clone())]);
            }
            if has_high {
                lumps.extend([(51, indices), (55, samples)]);
            }
            lumps.extend([(28, vec![0; 2]), (59, vec![0; 4])]);
        }
        if [SOURCE21.name, STRATA.name].contains(&self.dialect.name) {
            let brushes = all.brush_of_face.iter().map(|brush| FaceBrushList { count: 1, first: *brush });
            lumps.push((23, bytes(&brushes.collect::<Vec<_>>())));
        }
        if self.is_wide() {
            lumps = lumps.into_iter().map(|(index, lump)| (index, wide::lump(index, lump))).collect();
            lumps.extend(wide::overlays());
        }
        lumps
    }

    /// Whether its numbers have 32 bits.
    fn is_wide(&self) -> bool {
        self.dialect.name == STRATA.name
    }

    /// Leafs; before version 20 their light is in them.
    fn leafs(&self, all: &Geometry) -> Vec<u8> {
        if self.version >= 20 {
            return bytes(&all.leafs);
        }
        let leafs = all.leafs.iter().enumerate().map(|(index, leaf)| {
            let mut leaf = leaf.encode();
            leaf.splice(30..30, bytes(&light::cube(index)));
            leaf
        });
        leafs.collect::<Vec<_>>().concat()
    }

    /// The names of the materials, and where each begins.
    fn names(&self) -> (Vec<u8>, Vec<i32>) {
        let patched = format!("maps/{}/own/wall_0_0_0", self.name);
        let (mut names, mut offsets) = (Vec::new(), Vec::new());
        for name in ["own/floor", "own/ceiling", &patched, "OWN/Door", "TOOLS/TOOLSNODRAW"] {
            offsets.push(names.len() as i32);
            names.extend_from_slice(name.as_bytes());
            names.push(0);
        }
        (names, offsets)
    }
}

/// The materials, in the order of their names.
fn tex_data() -> Vec<TexData> {
    let sizes = [[512, 512], [512, 512], [256, 256], [128, 256], [64, 64]];
    let all = sizes.into_iter().zip(0..).map(|([width, height], name)| TexData {
        reflectivity: [0.25, 0.25, 0.2],
        name,
        width,
        height,
        view_width: width,
        view_height: height,
    });
    all.collect()
}

/// Two clusters that see and hear each other: a count, two offsets for each, and the rows.
fn visibility() -> Vec<u8> {
    const SEES_BOTH: u8 = 0b11;
    [longs(&[2, 20, 22, 21, 23]), vec![SEES_BOTH; 4]].concat()
}
