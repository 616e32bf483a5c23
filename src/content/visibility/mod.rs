//! Visibility between leafs or clusters: the visibility lump in its three models, as one matrix of bits.
//!
//! GoldSrc has a compressed row for each leaf; the leaf stores its offset. Quake II and Source have two compressed rows
//! for each cluster: what can be seen and what can be heard from there. Quake III has the bits uncompressed. The lens
//! keeps the bytes of every row that is not changed: compilers have written rows that are shared, that are longer than
//! engines read, and that have gaps between them.

mod lay;

use std::collections::BTreeMap;
use std::ops::Range;

use super::lens::{Content, Reader};
use crate::bytes::{Data, Rope, wide, word};
use crate::dialect::{LeafRows, Role, VisModel};
use crate::error::{Error, ErrorKind, Place, Result};
pub(crate) use lay::Column;
pub use lay::{compress, decompress};

const LUMP: &str = "VISIBILITY";

/// One of the rows of a leaf or cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum VisSet {
    /// The places that may be seen from there.
    Pvs,
    /// The places that may be heard from there; Source calls it PAS. Only Quake II and Source have it.
    Phs,
}

impl VisSet {
    /// Both.
    pub const ALL: [VisSet; 2] = [VisSet::Pvs, VisSet::Phs];

    /// The name that all engines use.
    pub fn name(self) -> &'static str {
        match self {
            VisSet::Pvs => "PVS",
            VisSet::Phs => "PHS",
        }
    }
}

/// The visibility of a map.
///
/// ```
/// use bspkit::{Bsp, Layout};
/// let map = Bsp::open("tests/maps/goldsrc/own_rooms.bsp")?;
/// let mut draft = map.draft();
/// let visibility = draft.visibility()?;
/// assert!(visibility.sees(1, 1)?);
/// visibility.set(bspkit::content::visibility::VisSet::Pvs, 1, 1, false)?;
///
/// let saved = Bsp::from_vec(draft.plan(Layout::Keep)?.to_vec())?;
/// assert!(!saved.visibility()?.sees(1, 1)?);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Visibility<'a> {
    model: VisModel,
    bytes: Data<'a>,
    /// The lump with the offsets, if rows are per leaf.
    leafs: Data<'a>,
    /// How many places there are.
    len: usize,
    /// The bits of a row, and its bytes after decompression.
    bits: usize,
    size: usize,
    /// Rows that differ from the bytes.
    changed: BTreeMap<(VisSet, usize), VisRow>,
    /// Whether [`Visibility::fill`] replaced the bytes that were read.
    is_filled: bool,
}

impl<'a> Content<'a> for Visibility<'a> {
    fn read(from: &Reader<'_, 'a>) -> Result<Self> {
        let bsp = from.bsp();
        let lump = |role: Role| {
            let missing = || Error::new(ErrorKind::NotFound, format!("the map has no {role}"));
            let slot = bsp.role(role).ok_or_else(missing)?;
            bsp.check_there(slot).map(|()| slot.id)
        };
        let model = bsp.dialect().visibility;
        if let (VisModel::Leafs(_), Some(slot)) = (model, bsp.role(Role::Models)) {
            let unknown = |why| {
                let message = format!("the number of visible leafs is in models whose struct is not known: {why}");
                Error::new(ErrorKind::Unsupported, message).at(Place::default().lump(&slot.name))
            };
            bsp.row(slot).map_err(unknown)?;
        }
        let (leafs, models) = match model {
            VisModel::Leafs(_) => (from.own(lump(Role::Leafs)?)?, from.bytes(lump(Role::Models)?)?),
            VisModel::Clusters | VisModel::Matrix => (Data::from(Vec::new()), Data::from(Vec::new())),
        };
        Visibility::parse(model, from.own(lump(Role::Visibility)?)?, leafs, &models)
    }

    fn edits(&self) -> Result<Vec<Option<Rope<'a>>>> {
        let leafs = matches!(self.model, VisModel::Leafs(_));
        if !self.is_edited() {
            return Ok(vec![None; if leafs { 2 } else { 1 }]);
        }
        let (rows, leaf_bytes) = self.to_bytes()?;
        let rows = Some(Rope::from(rows));
        Ok(if leafs { vec![Some(Rope::from(leaf_bytes)), rows] } else { vec![rows] })
    }
}

impl<'a> Visibility<'a> {
    /// Reads the header of a lump; leafs and models are read only if rows are per leaf.
    fn parse(model: VisModel, bytes: Data<'a>, leafs: Data<'a>, models: &[u8]) -> Result<Self> {
        let malformed = |message: String, lump: &str, offset: usize| {
            Error::new(ErrorKind::Malformed, message).at(Place::default().lump(lump).offset(wide(offset)))
        };
        let number = |what: &str, at: usize| match word(&bytes, at) {
            None => Err(malformed(format!("it ends before the number of {what}"), LUMP, at)),
            Some(count) => {
                usize::try_from(count).map_err(|_| malformed(format!("it says it has {count} {what}"), LUMP, at))
            }
        };
        let (len, bits, size) = match model {
            VisModel::Leafs(rows) => {
                let len = leafs.len() / rows.leaf_size;
                let says = word(models, rows.count_at).ok_or_else(|| {
                    malformed("there is no model, which has the number of visible leafs".into(), "MODELS", 0)
                })?;
                let bits = usize::try_from(says).ok().filter(|bits| *bits < len.max(1)).ok_or_else(|| {
                    let message = format!("the first model has {says} visible leafs, and the map has {len} leafs");
                    malformed(message, "MODELS", rows.count_at)
                })?;
                (len, bits, bits.div_ceil(8))
            }
            _ if bytes.is_empty() => (0, 0, 0),
            VisModel::Clusters => {
                let len = number("clusters", 0)?;
                if len.checked_mul(8).is_none_or(|length| length > bytes.len() - 4) {
                    let message = format!("there is no room for the offsets of {len} clusters");
                    return Err(malformed(message, LUMP, 0));
                }
                (len, len, len.div_ceil(8))
            }
            VisModel::Matrix => {
                let (len, size) = (number("clusters", 0)?, number("bytes in a row", 4)?);
                if len > 0 && (size == 0 || size > bytes.len() - 8) {
                    return Err(malformed(format!("there is no row of {size} bytes in it"), LUMP, 4));
                }
                if size < len.div_ceil(8) {
                    return Err(malformed(format!("rows of {size} bytes have no room for {len} clusters"), LUMP, 4));
                }
                (len, len, if len > 0 { size } else { 0 })
            }
        };
        Ok(Visibility { model, bytes, leafs, len, bits, size, changed: BTreeMap::new(), is_filled: false })
    }

    /// How the lump is laid out.
    pub fn model(&self) -> VisModel {
        self.model
    }

    /// The number of leafs or clusters; each may have a row.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no rows: everything is visible.
    pub fn is_empty(&self) -> bool {
        self.len == 0 || self.bytes.is_empty()
    }

    /// The sets of rows that the model has.
    pub fn sets(&self) -> &'static [VisSet] {
        match self.model {
            VisModel::Clusters => &[VisSet::Pvs, VisSet::Phs],
            VisModel::Leafs(_) | VisModel::Matrix => &[VisSet::Pvs],
        }
    }

    /// The row of a leaf or cluster; `None` if it has none, and everything is visible from there.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is no such place or set, [`ErrorKind::Malformed`] if the row cannot be read.
    pub fn row(&self, set: VisSet, index: usize) -> Result<Option<VisRow>> {
        self.check(set, index)?;
        match self.changed.get(&(set, index)) {
            Some(row) => Ok(Some(row.clone())),
            None => self.read(set, index),
        }
    }

    /// Whether something in one leaf or cluster may be seen from another.
    ///
    /// ```
    /// let visibility = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?.visibility()?;
    /// assert!(visibility.sees(0, 0)?);
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Visibility::row`].
    pub fn sees(&self, from: usize, to: usize) -> Result<bool> {
        self.reaches(VisSet::Pvs, from, to)
    }

    /// Whether something in one cluster may be heard from another.
    ///
    /// # Errors
    /// As [`Visibility::row`].
    pub fn hears(&self, from: usize, to: usize) -> Result<bool> {
        self.reaches(VisSet::Phs, from, to)
    }

    /// The places from where something can be seen that cannot be heard. Compilers make none: what is visible is
    /// audible, and servers leave out sounds and events by what is audible. Rows that cannot be read do not count.
    ///
    /// ```
    /// use bspkit::content::visibility::VisSet;
    /// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
    /// let mut draft = map.draft();
    /// let visibility = draft.visibility()?;
    /// assert_eq!(visibility.unheard().count(), 0);
    /// let nothing = visibility.plain(false);
    /// visibility.set_row(VisSet::Phs, 1, nothing)?;
    /// assert_eq!(visibility.unheard().collect::<Vec<_>>(), [1]);
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn unheard(&self) -> impl Iterator<Item = usize> {
        let places = if self.sets().contains(&VisSet::Phs) && !self.is_empty() { self.len } else { 0 };
        let row = |set, place| self.row(set, place).ok().map(|row| row.unwrap_or_else(|| self.plain(true)));
        (0..places).filter(move |place| {
            let rows = row(VisSet::Pvs, *place).zip(row(VisSet::Phs, *place));
            rows.is_some_and(|(seen, heard)| {
                seen.bytes.iter().zip(&heard.bytes).any(|(seen, heard)| seen & !heard != 0)
            })
        })
    }

    fn reaches(&self, set: VisSet, from: usize, to: usize) -> Result<bool> {
        self.check(set, to)?;
        Ok(self.row(set, from)?.unwrap_or_else(|| self.plain(true)).sees(to))
    }

    /// Sets whether one leaf or cluster may be seen, or heard, from another. To change many bits of a row,
    /// [`Visibility::set_row`] is faster.
    ///
    /// # Errors
    /// As [`Visibility::row`] and [`Visibility::set_row`].
    pub fn set(&mut self, set: VisSet, from: usize, to: usize, sees: bool) -> Result<()> {
        let mut row = self.row(set, from)?.unwrap_or_else(|| self.plain(true));
        row.set(to, sees)?;
        self.set_row(set, from, row)
    }

    /// A row in which everything is seen, or nothing.
    pub fn plain(&self, sees: bool) -> VisRow {
        VisRow::all(sees, self.size, self.first(), self.bits)
    }

    /// Gives a leaf or cluster another row; setting the row that it has is not an edit.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] as [`Visibility::row`]; [`ErrorKind::Refused`] for another row of leaf 0, which sees
    /// everything and has none, if the map has no visibility, and for a row of another size.
    pub fn set_row(&mut self, set: VisSet, index: usize, row: VisRow) -> Result<()> {
        self.check(set, index)?;
        let refused = |message: &str| {
            let place = Place::default().lump(LUMP).record(index);
            Err(Error::new(ErrorKind::Refused, message).at(place))
        };
        let plain = self.plain(true);
        if !row.is_like(&plain) {
            return refused("the row has another size than those of this map");
        }
        let old = self.read(set, index);
        if old.as_ref().is_ok_and(|old| *old.as_ref().unwrap_or(&plain) == row) {
            self.changed.remove(&(set, index));
            return Ok(());
        }
        match self.model {
            _ if self.bytes.is_empty() => return refused("the map has no visibility: everything is visible"),
            VisModel::Leafs(_) if index == 0 => return refused("leaf 0 is the solid leaf and has no row"),
            // A missing row of a matrix has no place.
            VisModel::Matrix => drop(old?),
            VisModel::Leafs(_) | VisModel::Clusters => {}
        }
        self.changed.insert((set, index), row);
        Ok(())
    }

    /// The range of a row's bytes in the lump that was read; `None` if there is no row.
    ///
    /// # Errors
    /// As [`Visibility::row`].
    pub fn extent(&self, set: VisSet, index: usize) -> Result<Option<Range<usize>>> {
        let Some(start) = self.start(set, index)? else { return Ok(None) };
        let (used, end) = self.span(start, |_, _| {});
        end.map(|()| Some(start..start + used)).map_err(|why| self.damaged(set, index, start, why))
    }

    /// The problems of rows, in order; for a matrix that ends early, the first missing row.
    pub fn problems(&self) -> impl Iterator<Item = Error> {
        let len = match self.model {
            VisModel::Matrix => self.len.min(self.bytes.len().saturating_sub(8) / self.size.max(1) + 1),
            _ => self.len,
        };
        let rows = self.sets().iter().flat_map(move |set| (0..len).map(|index| (*set, index)));
        rows.filter_map(|(set, index)| self.extent(set, index).err())
    }

    /// Whether a row differs from what was read.
    pub fn is_edited(&self) -> bool {
        self.is_filled || !self.changed.is_empty()
    }

    /// The leaf or cluster of the first bit of a row.
    fn first(&self) -> usize {
        usize::from(matches!(self.model, VisModel::Leafs(_)))
    }

    fn check(&self, set: VisSet, index: usize) -> Result<()> {
        let what = match self.model {
            _ if !self.sets().contains(&set) => format!("the map has no {}", set.name()),
            _ if index < self.len => return Ok(()),
            VisModel::Leafs(_) => format!("there is no leaf {index}, only {}", self.len),
            _ => format!("there is no cluster {index}, only {}", self.len),
        };
        Err(Error::new(ErrorKind::NotFound, what).at(Place::default().lump(LUMP)))
    }

    /// The row that the bytes have.
    fn read(&self, set: VisSet, index: usize) -> Result<Option<VisRow>> {
        let Some(start) = self.start(set, index)? else { return Ok(None) };
        let mut row = Vec::new();
        let (_, end) = self.span(start, |byte, count| row.extend(std::iter::repeat_n(byte, count)));
        end.map_err(|why| self.damaged(set, index, start, why))?;
        if let VisModel::Matrix = self.model {
            row = self.bytes[start..start + self.size].to_vec();
        }
        Ok(Some(VisRow::new(row, self.first(), self.bits)))
    }

    /// The length of the row that begins there, up to the byte that cannot be read, and the reason if there is one.
    fn span(&self, start: usize, emit: impl FnMut(u8, usize)) -> (usize, Result<(), &'static str>) {
        let bytes = self.bytes.get(start..).unwrap_or_default();
        match self.model {
            VisModel::Matrix if bytes.len() < self.size => (bytes.len(), Err("runs past the end of the lump")),
            VisModel::Matrix => (self.size, Ok(())),
            VisModel::Leafs(_) | VisModel::Clusters => lay::walk(bytes, self.size, emit),
        }
    }

    /// The offset of a row in the lump that was read; `None` if there is none. Rows may share their bytes.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] as [`Visibility::row`]; [`ErrorKind::Malformed`] if it is outside of the rows.
    pub fn start(&self, set: VisSet, index: usize) -> Result<Option<usize>> {
        self.check(set, index)?;
        if let VisModel::Matrix = self.model {
            return Ok(Some(index.saturating_mul(self.size).saturating_add(8)));
        }
        let Some(says) = self.offset(set, index) else { return Ok(None) };
        let header = self.header();
        match usize::try_from(says) {
            Ok(start) if start >= self.bytes.len() => Err("begins after the end of the lump"),
            Ok(start) if start < header => Err("begins within the header"),
            Ok(start) => Ok(Some(start)),
            Err(_) => Err("begins before the lump"),
        }
        .map_err(|why| {
            let message = format!("row {index} of the {} {why}, at {says}", set.name());
            Error::new(ErrorKind::Malformed, message).at(Place::default().lump(LUMP).record(index))
        })
    }

    /// The bytes before the rows.
    fn header(&self) -> usize {
        match self.model {
            VisModel::Leafs(_) => 0,
            VisModel::Clusters => 4 + 8 * self.len,
            VisModel::Matrix => 8,
        }
    }

    /// The offset that is stored for a compressed row; `None` if it means that there is no row.
    fn offset(&self, set: VisSet, index: usize) -> Option<i32> {
        match self.model {
            VisModel::Leafs(rows) if index > 0 && !self.bytes.is_empty() => {
                word(&self.leafs, leaf_word(rows, index)).filter(|offset| *offset != -1)
            }
            VisModel::Clusters => word(&self.bytes, cluster_word(set, index)),
            VisModel::Leafs(_) | VisModel::Matrix => None,
        }
    }

    #[cold]
    fn damaged(&self, set: VisSet, index: usize, start: usize, why: &str) -> Error {
        let message = format!("row {index} of the {} {why}", set.name());
        let place = Place::default().lump(LUMP).record(index).offset(wide(start));
        Error::new(ErrorKind::Malformed, message).at(place)
    }
}

fn leaf_word(rows: LeafRows, leaf: usize) -> usize {
    leaf * rows.leaf_size + rows.offset_at
}

fn cluster_word(set: VisSet, cluster: usize) -> usize {
    4 + 8 * cluster + if set == VisSet::Pvs { 0 } else { 4 }
}

// A row of bits.

/// Visibility from one place: a bit for each leaf or cluster.
///
/// ```
/// use bspkit::content::visibility::VisSet;
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let row = map.visibility()?.row(VisSet::Pvs, 0)?.unwrap();
/// assert!(row.sees(0));
/// assert!(row.iter().all(|cluster| row.sees(cluster)));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VisRow {
    bytes: Vec<u8>,
    /// The leaf or cluster of the first bit: rows per leaf have no bit for leaf 0.
    first: usize,
    count: usize,
}

impl VisRow {
    fn new(bytes: Vec<u8>, first: usize, count: usize) -> Self {
        VisRow { bytes, first, count }
    }

    /// A row of this many bytes in which everything or nothing is visible; the bits after the last one are 0.
    fn all(sees: bool, size: usize, first: usize, count: usize) -> Self {
        let mut row = VisRow::new(vec![0; size], first, count);
        if sees {
            row.bytes[..count / 8].fill(0xFF);
            (count / 8 * 8..count).for_each(|bit| row.bytes[bit / 8] |= 1 << (bit % 8));
        }
        row
    }

    /// Whether a leaf or cluster is visible; `false` for leaf 0, which has no bit, and for indices out of range.
    pub fn sees(&self, index: usize) -> bool {
        self.bit(index).is_some_and(|bit| self.bytes[bit / 8] & (1 << (bit % 8)) != 0)
    }

    /// Sets whether a leaf or cluster is visible.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the row has no bit for it.
    pub fn set(&mut self, index: usize, sees: bool) -> Result<()> {
        let Some(bit) = self.bit(index) else {
            let (first, end) = (self.first, self.first + self.count);
            let message = format!("a row has no bit for {index}, only from {first} to below {end}");
            return Err(Error::new(ErrorKind::NotFound, message));
        };
        let mask = 1 << (bit % 8);
        if sees {
            self.bytes[bit / 8] |= mask;
        } else {
            self.bytes[bit / 8] &= !mask;
        }
        Ok(())
    }

    /// The leafs or clusters that are seen, in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        let bytes = self.bytes.iter().enumerate().filter(|(_, byte)| **byte != 0);
        let bits =
            bytes.flat_map(|(at, byte)| (0..8).filter(move |bit| byte & (1 << bit) != 0).map(move |bit| 8 * at + bit));
        bits.take_while(|bit| *bit < self.count).map(|bit| bit + self.first)
    }

    /// The bits as they are in the file after decompression, with those after the last one.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn is_like(&self, other: &VisRow) -> bool {
        (self.bytes.len(), self.first, self.count) == (other.bytes.len(), other.first, other.count)
    }

    fn bit(&self, index: usize) -> Option<usize> {
        index.checked_sub(self.first).filter(|bit| *bit < self.count)
    }
}

// Everything visible from everywhere.

impl Visibility<'_> {
    /// Makes everything visible and audible from everywhere; returns whether that changed anything.
    ///
    /// Compressed rows become one row that all leafs or clusters share, since a row for each of them can make the lump
    /// larger than engines read. Rows of a matrix are not shared, and keep their places.
    ///
    /// ```
    /// use bspkit::Bsp;
    /// let map = Bsp::open("tests/maps/q2/own_rooms.bsp")?;
    /// let lump = map.slot("visibility")?.id;
    /// let mut draft = map.draft();
    /// assert!(draft.visibility()?.fill()?);
    /// assert!(draft.bytes(lump)?.len() < map.bytes(lump)?.len());
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] if a row of a matrix is missing, [`ErrorKind::TooLarge`] if an offset would pass 2 GiB.
    pub fn fill(&mut self) -> Result<bool> {
        let all = self.plain(true);
        let places: Vec<usize> = if self.is_empty() { Vec::new() } else { all.iter().collect() };
        let keys: Vec<_> = self.sets().iter().flat_map(|set| places.iter().map(|place| (*set, *place))).collect();
        let is_full = |row: Result<Option<_>>| row.is_ok_and(|row| row.is_none_or(|row| row == all));
        if keys.iter().all(|(set, place)| is_full(self.row(*set, *place))) {
            return Ok(false);
        }
        let header = self.header();
        let start = i32::try_from(header).map_err(|_| {
            Error::new(ErrorKind::TooLarge, "rows would begin after 2 GiB").at(Place::default().lump(LUMP))
        })?;
        match self.model {
            VisModel::Matrix => {
                keys.into_iter().try_for_each(|(set, place)| self.set_row(set, place, all.clone()))?;
                return Ok(true);
            }
            VisModel::Clusters => {
                let mut bytes = self.bytes[..header].to_vec();
                for (set, place) in keys {
                    let at = cluster_word(set, place);
                    bytes[at..at + 4].copy_from_slice(&start.to_le_bytes());
                }
                bytes.extend(compress(all.bytes()));
                self.bytes = bytes.into();
            }
            VisModel::Leafs(rows) => {
                let mut leafs = self.leafs.to_vec();
                // Rows of leafs that the world does not have are not read, but they must not begin outside the lump.
                for at in (1..self.len).map(|leaf| leaf_word(rows, leaf)) {
                    if word(&leafs, at) != Some(-1) {
                        leafs[at..at + 4].copy_from_slice(&start.to_le_bytes());
                    }
                }
                self.leafs = Data::from(leafs);
                self.bytes = compress(all.bytes()).into();
            }
        }
        self.changed.clear();
        self.is_filled = true;
        Ok(true)
    }
}
