//! The facts that the proofs of rows may use.

use super::Dialect;
use crate::bytes::{ByteOrder, Data};
use crate::record::{Record, decode_in};

/// The facts that a proof may use: the map's version and its other lumps.
///
/// [`crate::Bsp::row`] calls the proofs with the facts of a map.
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let planes = map.slot("planes")?;
/// assert_eq!(map.row(planes).unwrap().lump, "PLANES");
/// # Ok::<(), bspkit::Error>(())
/// ```
pub struct Facts<'m> {
    pub(crate) dialect: &'static Dialect,
    pub(crate) version: i32,
    /// The byte order of the numbers in the file.
    pub(crate) order: ByteOrder,
    /// Whether sizes of lumps must be exact. If no row fits exactly, a few extra bytes are allowed.
    pub(crate) is_exact: bool,
    /// Whether the map's structs are known from other evidence. A wrong number is then a fault and not a sign of
    /// another struct. Only checks use this.
    pub(crate) is_likely: bool,
    pub(crate) lump_version: Option<i32>,
    pub(crate) len: &'m dyn Fn(&str) -> Option<usize>,
    pub(crate) bytes: &'m dyn Fn(&str) -> Option<Data<'m>>,
}

impl std::fmt::Debug for Facts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut facts = f.debug_struct("Facts");
        facts.field("dialect", &self.dialect.name).field("version", &self.version);
        facts.field("lump_version", &self.lump_version).finish_non_exhaustive()
    }
}

impl<'m> Facts<'m> {
    /// The map's version.
    pub fn version(&self) -> i32 {
        self.version
    }

    /// The version of the row's lump, if lumps have versions.
    pub fn lump_version(&self) -> Option<i32> {
        self.lump_version
    }

    /// The length of a lump, decompressed.
    pub fn len(&self, lump: &str) -> usize {
        (self.len)(lump).unwrap_or(0)
    }

    /// The bytes of a lump in the byte order of the file; empty if they cannot be read.
    pub fn bytes(&self, lump: &str) -> Data<'m> {
        (self.bytes)(lump).unwrap_or_else(|| Data::from(Vec::new()))
    }

    /// How many whole records of a size a lump has.
    pub(super) fn count(&self, lump: &str, size: usize) -> usize {
        self.len(lump) / size
    }

    fn decoded<'b, R: Record>(&self, bytes: &'b [u8]) -> impl Iterator<Item = R> + use<'b, R> {
        let order = self.order;
        bytes.chunks_exact(R::SIZE).filter_map(move |record| decode_in(order, record))
    }

    /// The sum of a number of every record of a lump.
    pub(super) fn sum<R: Record>(&self, lump: &str, number: impl Fn(R) -> i64) -> i64 {
        let bytes = self.bytes(lump);
        self.decoded(&bytes).map(number).fold(0, i64::saturating_add)
    }

    /// The largest number of any record of a lump; -1 if there is none.
    pub(super) fn most<R: Record>(&self, lump: &str, number: impl Fn(R) -> i64) -> i64 {
        let bytes = self.bytes(lump);
        self.decoded(&bytes).map(number).fold(-1, i64::max)
    }
}
