//! What a collection of maps has: how many maps and how often, for each class, key, texture, embedded file, lump,
//! dialect and compiler.
//!
//! ```
//! use bspkit_ops::statistics::{Kind, Statistics};
//! let mut all = Statistics::default();
//! for name in ["q2/own_rooms", "q3/own_rooms"] {
//!     let map = bspkit::Bsp::open(format!("../../tests/maps/{name}.bsp"))?;
//!     let (of_map, problems) = Statistics::of(&map);
//!     assert!(problems.is_empty());
//!     all.add(&of_map);
//! }
//! assert_eq!(all.maps, 2);
//! assert_eq!(all.tally(Kind::Class).get(b"func_door").map(|door| door.maps), Some(2));
//! # Ok::<(), bspkit::Error>(())
//! ```

use std::collections::HashMap;

use bspkit::bytes::wide;
use bspkit::dialect::Role;
use bspkit::file::SegmentKind;
use bspkit::{Bsp, Error};
use memchr::memmem;

/// What is counted.
///
/// ```
/// use bspkit_ops::statistics::Kind;
/// assert_eq!(Kind::ALL.map(Kind::name)[3], "class");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize), serde(rename_all = "lowercase"))]
pub enum Kind {
    /// The dialect of the map. Bytes are those of the file.
    Dialect,
    /// The compiler, where the map says which one made it.
    Compiler,
    /// A lump that is not empty, by its name in the dialect. Bytes are as stored.
    Lump,
    /// A class of entities, in lower case.
    Class,
    /// A key of entities, in lower case.
    Key,
    /// A texture, in lower case. The count is that of the records that have the name.
    Texture,
    /// An embedded file, in lower case. Bytes are those of the file, not compressed.
    File,
}

impl Kind {
    /// All kinds, in the order of this list.
    pub const ALL: [Kind; 7] =
        [Kind::Dialect, Kind::Compiler, Kind::Lump, Kind::Class, Kind::Key, Kind::Texture, Kind::File];

    /// The name: `class`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Dialect => "dialect",
            Kind::Compiler => "compiler",
            Kind::Lump => "lump",
            Kind::Class => "class",
            Kind::Key => "key",
            Kind::Texture => "texture",
            Kind::File => "file",
        }
    }
}

/// How many maps have something, how often in all, and its bytes.
///
/// ```
/// let mut tally = bspkit_ops::statistics::Tally::default();
/// tally.count(b"light", 0);
/// tally.count(b"light", 0);
/// let light = tally.get(b"light").unwrap();
/// assert_eq!((light.maps, light.count), (1, 2));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
pub struct Count {
    /// The number of maps.
    pub maps: u64,
    /// How often it is in all of them.
    pub count: u64,
    /// Its bytes in all of them; 0 for what has no size.
    pub bytes: u64,
}

/// Names with their counts. There are at most [`Tally::MOST`] of them: a hostile collection could have more than there
/// is memory.
///
/// ```
/// use bspkit_ops::statistics::Tally;
/// let (mut one, mut other) = (Tally::default(), Tally::default());
/// one.count(b"light", 0);
/// other.count(b"light", 0);
/// other.count(b"door", 0);
/// one.add(&other);
/// let rows: Vec<(&[u8], u64)> = one.sorted().into_iter().map(|(name, count)| (name, count.maps)).collect();
/// assert_eq!(rows, [(&b"light"[..], 2), (b"door", 1)]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Tally {
    rows: HashMap<Vec<u8>, Count>,
    left_out: u64,
}

impl Tally {
    /// The most names.
    pub const MOST: usize = 1_000_000;

    /// Counts a name of one map.
    pub fn count(&mut self, name: &[u8], bytes: u64) {
        if let Some(own) = self.row(name, 1) {
            own.maps = 1;
            own.count = own.count.saturating_add(1);
            own.bytes = own.bytes.saturating_add(bytes);
        }
    }

    /// Adds the counts of other maps.
    pub fn add(&mut self, other: &Tally) {
        for (name, more) in &other.rows {
            if let Some(own) = self.row(name, more.count) {
                own.maps = own.maps.saturating_add(more.maps);
                own.count = own.count.saturating_add(more.count);
                own.bytes = own.bytes.saturating_add(more.bytes);
            }
        }
        self.left_out = self.left_out.saturating_add(other.left_out);
    }

    /// The counts of a name, to add to; if there is no room for one more name, it is left out this many times.
    fn row(&mut self, name: &[u8], times: u64) -> Option<&mut Count> {
        if !self.rows.contains_key(name) {
            if self.rows.len() >= Self::MOST {
                self.left_out = self.left_out.saturating_add(times);
                return None;
            }
            self.rows.insert(name.to_vec(), Count::default());
        }
        self.rows.get_mut(name)
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The counts of a name.
    pub fn get(&self, name: &[u8]) -> Option<Count> {
        self.rows.get(name).copied()
    }

    /// The names, those of the most maps first, then those with the largest count, then by name.
    pub fn sorted(&self) -> Vec<(&[u8], Count)> {
        let mut rows: Vec<(&[u8], Count)> = self.rows.iter().map(|(name, count)| (&name[..], *count)).collect();
        rows.sort_unstable_by(|(name, one), (other_name, other)| {
            (other.maps, other.count, name).cmp(&(one.maps, one.count, other_name))
        });
        rows
    }

    /// How often a name was left out, since there were too many.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }
}

/// The statistics of a collection of maps.
///
/// ```
/// let map = bspkit::Bsp::open("../../tests/maps/source/room_v20.bsp")?;
/// let (of_map, _) = bspkit_ops::statistics::Statistics::of(&map);
/// assert_eq!(of_map.bytes, std::fs::metadata("../../tests/maps/source/room_v20.bsp").unwrap().len());
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// The number of maps.
    pub maps: u64,
    /// The bytes of all files.
    pub bytes: u64,
    tallies: [Tally; Kind::ALL.len()],
}

impl Statistics {
    /// Those of one map, and what of it cannot be read.
    pub fn of(bsp: &Bsp<'_>) -> (Self, Vec<Error>) {
        let size = wide(bsp.container().bytes().len());
        let mut found = Statistics { maps: 1, bytes: size, ..Statistics::default() };
        let mut problems = Vec::new();
        found.tally_mut(Kind::Dialect).count(bsp.dialect().name.as_bytes(), size);
        for slot in bsp.slots().iter().filter(|slot| !slot.stored.is_empty()) {
            found.tally_mut(Kind::Lump).count(slot.name.as_bytes(), wide(slot.stored.len()));
        }
        let mut compiler = mark(bsp);
        match bsp.entities() {
            Ok(entities) => {
                for entity in entities.iter() {
                    if let Some(class) = entity.class() {
                        found.tally_mut(Kind::Class).count(&class.to_ascii_lowercase(), 0);
                    }
                    let keys = found.tally_mut(Kind::Key);
                    entity.pairs().for_each(|pair| keys.count(&pair.key.to_ascii_lowercase(), 0));
                }
                let of_key = |key: &str, name: &str| {
                    let value = entities.get(0)?.get(key)?.to_vec();
                    Some([name.as_bytes(), &value].concat())
                };
                compiler = compiler.or_else(|| of_key("_q3map2_version", "q3map2 ")).or_else(|| of_key("compiler", ""));
            }
            Err(error) => problems.push(error),
        }
        if let Some(compiler) = compiler {
            found.tally_mut(Kind::Compiler).count(&compiler, 0);
        }
        match bsp.texture_names() {
            Ok(names) => {
                for texture in names.iter().filter(|texture| texture.problem.is_none()) {
                    found.tally_mut(Kind::Texture).count(&texture.name.to_ascii_lowercase(), 0);
                }
            }
            Err(error) => problems.push(error),
        }
        if bsp.role(Role::Pak).is_some() {
            match bsp.pak() {
                Ok(pak) => {
                    for file in pak.iter() {
                        found.tally_mut(Kind::File).count(&file.name().to_ascii_lowercase(), wide(file.size()));
                    }
                }
                Err(error) => problems.push(error),
            }
        }
        (found, problems)
    }

    /// Adds those of other maps.
    pub fn add(&mut self, other: &Statistics) {
        self.maps = self.maps.saturating_add(other.maps);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.tallies.iter_mut().zip(&other.tallies).for_each(|(own, other)| own.add(other));
    }

    /// The counts of one kind.
    pub fn tally(&self, kind: Kind) -> &Tally {
        &self.tallies[place(kind)]
    }

    fn tally_mut(&mut self, kind: Kind) -> &mut Tally {
        &mut self.tallies[place(kind)]
    }
}

fn place(kind: Kind) -> usize {
    Kind::ALL.iter().position(|own| *own == kind).unwrap_or(0)
}

/// The mark that q3map2 writes directly after the header: `I LOVE MY Q3MAP2 2.5.17n on ...`.
fn mark(bsp: &Bsp<'_>) -> Option<Vec<u8>> {
    const MARK: &[u8] = b"I LOVE MY Q3MAP2 ";
    let segments = bsp.container().segments();
    let after = segments.iter().find(|segment| segment.kind != SegmentKind::Header)?;
    let bytes = &bsp.container().bytes()[after.range.clone()];
    let at = memmem::find(bytes.get(..bytes.len().min(64))?, MARK)? + MARK.len();
    let version: Vec<u8> = bytes[at..].iter().copied().take_while(|byte| byte.is_ascii_graphic()).take(40).collect();
    Some([b"q3map2 ", &version[..]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_names_than_are_kept_are_counted() {
        let mut all = Tally::default();
        (0..Tally::MOST + 5).for_each(|name| all.count(name.to_string().as_bytes(), 1));
        assert_eq!((all.rows.len(), all.left_out()), (Tally::MOST, 5));
        // A name that is there already is counted on.
        all.count(b"7", 1);
        assert_eq!(all.get(b"7"), Some(Count { maps: 1, count: 2, bytes: 2 }));
        let mut twice = all.clone();
        twice.add(&all);
        assert_eq!(twice.left_out(), 10);
        assert_eq!(twice.get(b"7"), Some(Count { maps: 2, count: 4, bytes: 4 }));
    }

    #[test]
    fn names_are_sorted_by_maps_then_count_then_name() {
        let mut all = Tally::default();
        for names in [&["b", "a", "c", "c"][..], &["c"], &["a", "d", "d", "d"]] {
            let mut one = Tally::default();
            names.iter().for_each(|name| one.count(name.as_bytes(), 0));
            all.add(&one);
        }
        let rows: Vec<_> = all.sorted().into_iter().map(|(name, count)| (name, count.maps, count.count)).collect();
        assert_eq!(rows, [(&b"c"[..], 2, 3), (b"a", 2, 2), (b"d", 1, 3), (b"b", 1, 1)]);
    }
}
