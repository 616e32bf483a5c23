//! The dialects of the BSP family, as data. Each has one file with its properties and their sources; a
//! relative names its base and lists the differences. Nothing outside this folder asks which dialect a map is.

mod beside;
pub mod blueshift;
pub mod breakthrough;
pub mod bsp2;
pub mod bspx;
mod checks;
mod classes;
pub mod contagion;
pub mod daikatana;
mod detect;
mod entities;
pub mod fakk;
mod follow;
pub mod goldsrc;
pub mod l4d2;
mod light;
mod limits;
mod lumps;
pub mod mohaa;
pub mod mohaa_beta;
pub mod psb2;
pub mod qbism;
pub mod qfusion;
pub mod quake;
pub mod quake2;
pub mod quake3;
pub mod quake64;
pub mod raven;
mod row;
pub mod shared;
pub mod source;
pub mod source17;
pub mod source21;
pub mod source22;
pub mod source360;
pub mod strata;
pub mod vitamin;
pub mod xash;

use crate::bytes::ByteOrder;
use crate::error::{Error, ErrorKind, Result};
use crate::file::Rules;
use crate::file::directory::DirectoryShape;
use crate::near;
pub use beside::{AREAS, Beside, By, Part, Stale, TEXT_FILE};
pub use blueshift::BLUE_SHIFT;
pub use breakthrough::BREAKTHROUGH;
pub use bsp2::BSP2;
pub use checks::{Checks, Checksum, Covers, Engine, Limit, Member, Spawn, Sum, Unit, Use, Whose};
pub use classes::{ClassRules, NeededKey};
pub use contagion::CONTAGION;
pub use daikatana::DAIKATANA;
pub use detect::{Detected, detect};
pub use entities::{EntityRules, TextEffect, TextRule, TextSyntax, TextTrait};
pub use fakk::FAKK;
pub use follow::{Block, Blocks, Each, EntityForm, EntityReference, Holds, OrderFacts, Parallel, Places};
pub use goldsrc::GOLDSRC;
pub use l4d2::L4D2;
pub use light::{
    Averages, Copied, CornerForm, ExtraLight, FaceForm, FaceLight, LightLumps, LightModel, LitFace, LitSurface,
    LuxelForm, PageLight, SurfaceForm, TextureForm, TextureLight,
};
pub use lumps::{Alias, Game, Key, LeafRows, Lump, Role, VisModel};
use lumps::{keys, lump, only};
pub use mohaa::MOHAA;
pub use mohaa_beta::MOHAA_BETA;
pub use psb2::PSB2;
pub use qbism::QBISM;
pub use qfusion::QFUSION;
pub use quake::QUAKE;
pub use quake2::QUAKE2;
pub use quake3::QUAKE3;
pub use quake64::QUAKE64;
pub use raven::RAVEN;
pub use row::{Counted, Facts, Form, List, Proof, Row, Span};
pub use source::SOURCE;
pub use source17::SOURCE17;
pub use source21::SOURCE21;
pub use source22::SOURCE22;
pub use source360::SOURCE360;
pub use strata::STRATA;
pub use vitamin::VITAMIN;

/// Every dialect that is opened.
pub static ALL: &[&Dialect] = &[
    &QUAKE,
    &QUAKE64,
    &BSP2,
    &PSB2,
    &GOLDSRC,
    &BLUE_SHIFT,
    &QUAKE2,
    &QBISM,
    &DAIKATANA,
    &QUAKE3,
    &RAVEN,
    &QFUSION,
    &FAKK,
    &MOHAA,
    &MOHAA_BETA,
    &BREAKTHROUGH,
    &SOURCE17,
    &SOURCE,
    &SOURCE21,
    &L4D2,
    &SOURCE22,
    &STRATA,
    &CONTAGION,
    &VITAMIN,
    &SOURCE360,
];

/// The properties of the maps of an engine and its relatives.
///
/// ```
/// use bspkit::dialect;
/// assert_eq!(dialect::by_name("quake3")?.title, "Quake III Arena");
/// assert!(dialect::ALL.iter().all(|dialect| !dialect.lumps.is_empty()));
/// # Ok::<(), bspkit::Error>(())
/// ```
///
/// Two dialects are equal if they have the same name, which no two of [`ALL`] have.
///
/// ```
/// use bspkit::{Bsp, dialect};
/// assert_eq!(Bsp::open("tests/maps/q2/own_rooms.bsp")?.dialect(), &dialect::QUAKE2);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Dialect {
    /// The short name: lower case, no spaces.
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// How the file begins.
    pub magic: Magic,
    /// Its version numbers.
    pub versions: &'static [i32],
    /// The lump directory's layouts, the most usual one first.
    pub shapes: &'static [DirectoryShape],
    /// The lumps by index.
    pub lumps: &'static [Lump],
    /// What is known of the lumps' content; a relative's own rows come before its base's.
    pub rows: &'static [&'static [Row]],
    /// The games and what they call the bits of flags; the first one for a map's version is meant where none is named.
    pub games: &'static [Game],
    /// Which values of entities refer to records.
    pub entity_references: &'static [EntityReference],
    /// The classes of entities that need a brush model or other keys.
    pub class_rules: &'static ClassRules,
    /// The lumps, or lists as `lump.list`, whose records serve only those that refer to them: one to which nothing
    /// refers has no use. Records of other lumps are content in themselves.
    pub owned: &'static [&'static str],
    /// What is to be known about places in the file.
    pub rules: Rules,
    /// Where the light of faces is.
    pub light: LightModel,
    /// What its engines can read of an entity text.
    pub text: EntityRules,
    /// How its visibility lump is laid out.
    pub visibility: VisModel,
    /// Versions whose game lump is laid out in a way that is not read, with the reason.
    pub opaque_game_lumps: &'static [(i32, &'static str)],
    /// Versions whose engines do not all read compressed lumps and files, with a sentence for the user.
    pub compression_caveats: &'static [(i32, &'static str)],
    /// Versions whose tools gave a pakfile no comment: that says since the Orange Box who made it.
    pub bare_paks: &'static [i32],
    /// The offset of the map revision in the header.
    pub revision_at: Option<usize>,
    /// The sums of a map that its engines compare.
    pub checksums: &'static [Checksum],
    /// Files beside its maps that edits make stale.
    pub beside: &'static [&'static [Beside]],
    /// What a check goes by, and what its engines take at most.
    pub checks: &'static Checks,
    /// The base that this relative is preferred to where both accept a file; nothing else in the header tells them
    /// apart.
    pub preferred_to: Option<&'static Dialect>,
    /// Whether a file with the right magic and version is of this dialect, and how its directory is laid out.
    pub(crate) probe: fn(&[u8], &'static Dialect) -> Option<DirectoryShape>,
}

/// How the files of a dialect begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Magic {
    /// Four characters, then the version.
    Ident([u8; 4]),
    /// The version alone.
    VersionOnly,
}

impl PartialEq for Dialect {
    fn eq(&self, other: &Dialect) -> bool {
        self.name == other.name
    }
}

impl Eq for Dialect {}

impl Dialect {
    /// The index of the lump with this role.
    pub fn role(&self, role: Role) -> Option<usize> {
        self.lumps.iter().position(|lump| lump.role == Some(role))
    }

    /// The names of its lumps' roles, without those that are the lump's name too.
    pub fn role_names<'n>(&self) -> impl Iterator<Item = &'n str> {
        let names = self.lumps.iter().filter_map(|lump| Some((lump.name, lump.role?.name())));
        names.filter(|(name, role)| !name.eq_ignore_ascii_case(role)).map(|(_, role)| role)
    }

    /// What is known of the content of a lump, or of a member of the game lump (`game:sprp`).
    pub fn rows_of<'n>(&self, lump: &'n str) -> impl Iterator<Item = &'static Row> + Clone + use<'n> {
        self.rows.iter().copied().flatten().filter(move |row| row.lump == lump)
    }

    /// A lump's name: the table's, or its number where the table has none.
    pub fn lump_name(&self, index: usize) -> String {
        self.lumps.get(index).map_or_else(|| format!("LUMP_{index}"), |lump| lump.name.to_string())
    }

    /// A version number as it is said: the letters, where it is four.
    pub fn version_name(&self, version: i32) -> String {
        let letters = version.to_le_bytes();
        match letters.iter().all(|letter| letter.is_ascii_alphanumeric() || *letter == b' ') {
            true => letters.iter().copied().map(char::from).collect::<String>().trim().to_owned(),
            false => version.to_string(),
        }
    }

    /// The offset of a checksum in the header.
    pub fn stored_checksum_at(&self) -> Option<usize> {
        self.checksums.iter().find_map(|checksum| match checksum.covers {
            Covers::Header(at) => Some(at),
            _ => None,
        })
    }

    /// The order of the bytes in numbers of its files.
    pub fn byte_order(&self) -> ByteOrder {
        self.shapes.first().map_or(ByteOrder::Little, DirectoryShape::order)
    }

    /// The offset of the version number.
    pub fn version_at(&self) -> usize {
        match self.magic {
            Magic::Ident(_) => 4,
            Magic::VersionOnly => 0,
        }
    }
}

/// The dialect of this name.
///
/// # Errors
/// [`ErrorKind::Argument`] with the names there are.
pub fn by_name(name: &str) -> Result<&'static Dialect> {
    ALL.iter().copied().find(|dialect| dialect.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
        let names: Vec<_> = ALL.iter().map(|dialect| dialect.name).collect();
        Error::new(ErrorKind::Argument, format!("no dialect is called {name}")).with_hint(near::or_all(
            name,
            &names,
            "the dialects are",
        ))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn tables_agree_with_themselves() {
        let mut names = HashSet::new();
        for dialect in ALL {
            assert!(names.insert(dialect.name), "{} twice", dialect.name);
            assert!(dialect.role(Role::Entities).is_some(), "{}", dialect.name);
            let count = dialect.shapes.iter().map(|shape| shape.count).max().unwrap();
            assert_eq!(dialect.lumps.len(), count, "{}", dialect.name);
            let lumps: HashSet<_> = dialect.lumps.iter().map(|lump| lump.name).collect();
            assert_eq!(lumps.len(), count, "{} names a lump twice", dialect.name);
            let roles: Vec<_> = dialect.lumps.iter().filter_map(|lump| lump.role).collect();
            assert_eq!(roles.iter().collect::<HashSet<_>>().len(), roles.len(), "{} has a role twice", dialect.name);
            let order: HashSet<_> = dialect.rules.write_order.iter().collect();
            assert_eq!(order.len(), dialect.rules.write_order.len(), "{} writes a lump twice", dialect.name);
            assert!(order.iter().all(|lump| **lump < count), "{}", dialect.name);
        }
    }

    /// The positions that visibility uses agree with the records.
    #[test]
    fn rows_by_leaf_are_where_the_records_say() {
        let mut seen = 0;
        for dialect in ALL {
            let VisModel::Leafs(rows) = dialect.visibility else { continue };
            let record = |lump| dialect.rows_of(lump).find_map(Row::record).unwrap();
            let (leaf, model) = (record("LEAFS"), record("MODELS"));
            assert_eq!(leaf.size, rows.leaf_size, "{}", dialect.name);
            assert_eq!(leaf.field("visibility_offset").unwrap().offset, rows.offset_at, "{}", dialect.name);
            assert_eq!(model.field("visible_leafs").unwrap().offset, rows.count_at, "{}", dialect.name);
            seen += 1;
        }
        assert!(seen >= 2);
    }
}
