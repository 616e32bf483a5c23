//! Static props: `game:sprp`.

use std::ops::Range;

use super::variant::{ExtraList, VARIANTS, Variant};
use super::{Lists, NAME, member, names};
use crate::bytes::{Data, Rope};
use crate::content::lens::{Content, Reader};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::record::{Field, Held, Record, records};

/// The versions whose layout is known.
const VERSIONS: std::ops::RangeInclusive<u16> = 4..=13;
/// The first version with leafs of 32 bits.
const LONG_LEAFS: u16 = 12;
const LUMP: &str = "game:sprp";

records! {
    /// The fields of a static prop that all versions have: `StaticPropLump_t` of gamebspfile.h.
    pub struct StaticProp(56) {
        /// Its place in the world.
        pub origin: [f32; 3],
        /// Pitch, yaw, roll.
        pub angles: [f32; 3],
        /// Its model in the list of names.
        pub model: u16 as "PropType",
        /// Its first leaf in the list of leafs.
        pub first_leaf: u16,
        /// How many leafs it is in.
        pub leaf_count: u16,
        /// 0 not solid, 2 a box, 6 the model's physics.
        pub solid: u8,
        /// Flags; garbage in some variants: see [`StaticProps::flags`].
        pub flags: u8,
        /// The model's skin.
        pub skin: i32,
        /// The distance at which it begins to fade.
        pub fade_min: f32,
        /// The distance at which it is invisible.
        pub fade_max: f32,
        /// The point whose light it takes.
        pub lighting_origin: [f32; 3],
    }
}

/// The static props of a map.
///
/// ```
/// use bspkit::{Bsp, Layout};
/// let bytes = std::fs::read("tests/maps/source/room_v20.bsp")?;
/// let map = Bsp::parse(&bytes)?;
/// let mut draft = map.draft();
/// let props = draft.static_props()?;
/// assert_eq!((props.len(), props.names().next()), (3, Some(&b"models/own/crate.mdl"[..])));
///
/// props.update(0, |prop| prop.skin = 2)?;
/// let saved = draft.plan(Layout::Keep)?.to_vec();
/// assert_eq!(Bsp::parse(&saved)?.static_props()?.get(0).map(|prop| prop.skin), Some(2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Files in the pakfile are named by the number of a prop (`sp_0.vhv`): props can be changed here, not added or
/// removed.
#[derive(Clone, Debug)]
pub struct StaticProps<'a> {
    bytes: Held<'a>,
    version: u16,
    names: Range<usize>,
    leafs: Range<usize>,
    props: Range<usize>,
    len: usize,
    variant: Option<&'static Variant>,
}

/// Where the lists are.
struct Lay {
    names: Range<usize>,
    leafs: Range<usize>,
    props: Range<usize>,
    len: usize,
}

impl<'a> Content<'a> for StaticProps<'a> {
    fn read(from: &Reader<'_, 'a>) -> Result<Self> {
        let (slot, version) = member(from.bsp(), LUMP, "static props")?;
        StaticProps::parse(from.own(slot)?, version)
    }

    fn edits(&self) -> Result<Vec<Option<Rope<'a>>>> {
        Ok(vec![self.bytes.new_bytes()])
    }
}

impl<'a> StaticProps<'a> {
    /// Reads the lists of a member of this version. Only their counts are decoded.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for a version other than 4 to 13, [`ErrorKind::Malformed`] if a list does not fit or
    /// the props do not all have the same size.
    pub fn parse(bytes: impl Into<Data<'a>>, version: u16) -> Result<Self> {
        if !VERSIONS.contains(&version) {
            let message = format!("static props of version {version} are not known, only versions 4 to 13");
            return Err(Error::new(ErrorKind::Unsupported, message).at(Place::default().lump(LUMP)));
        }
        let bytes = bytes.into();
        let plain = lay(&bytes, version, None);
        let of_size = |lay: &Lay, list| {
            let is_it = |variant: &&Variant| {
                variant.version == version
                    && variant.list == list
                    && variant.size.checked_mul(lay.len) == Some(lay.props.len())
            };
            VARIANTS.iter().find(is_it).filter(|_| lay.len > 0)
        };
        let known = plain.as_ref().ok().and_then(|lay| of_size(lay, None));
        // A game's own list is accepted only if nothing else fits and all bytes fit with it.
        let with_list = || {
            let lists = [ExtraList::Names, ExtraList::Scales].into_iter();
            lists.map(Some).find_map(|list| {
                let lay = lay(&bytes, version, list).ok()?;
                of_size(&lay, list).map(|variant| (lay, variant))
            })
        };
        // A count of 0 with bytes after it may be a game's own list that begins with zeros.
        let is_empty = plain.as_ref().is_ok_and(|lay| lay.len == 0 && lay.props.end == bytes.len());
        let (lay, variant) = match known {
            Some(_) => (plain?, known),
            None if is_empty => (plain?, None),
            None => match with_list() {
                Some((lay, variant)) => (lay, Some(variant)),
                None => (plain?, None),
            },
        };
        let Lay { names, leafs, props, len } = lay;
        Ok(StaticProps { bytes: Held::new(bytes), version, names, leafs, props, len, variant })
    }

    /// The version of the game lump's member.
    pub fn version(&self) -> u16 {
        self.version
    }

    /// The layout of a prop; `None` if there are no props, or no known game has props of this size.
    pub fn variant(&self) -> Option<&'static Variant> {
        self.variant
    }

    /// How many props there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes of a prop; 0 if there are none.
    pub fn size(&self) -> usize {
        self.props.len().checked_div(self.len).unwrap_or(0)
    }

    /// The names of the models, each as far as its first NUL.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        names(&self.bytes.get()[self.names.clone()])
    }

    /// Renames a model. Only the name and the NUL after it are written.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is no such name, [`ErrorKind::Refused`] for one with a NUL in it or of more
    /// than 127 bytes.
    pub fn set_name(&mut self, index: usize, name: impl AsRef<[u8]>) -> Result<()> {
        let (name, count) = (name.as_ref(), self.names.len() / NAME);
        if index >= count {
            return Err(Error::new(ErrorKind::NotFound, format!("there is no model {index}, only {count}")));
        }
        if name.len() >= NAME || name.contains(&0) {
            let message = format!("the name of a model has at most {} bytes and no NUL", NAME - 1);
            return Err(Error::new(ErrorKind::Refused, message));
        }
        self.bytes.put(self.names.start + index * NAME, &[name, &[0]].concat());
        Ok(())
    }

    /// The leafs that props are in.
    pub fn leafs(&self) -> impl ExactSizeIterator<Item = u32> {
        let leafs = &self.bytes.get()[self.leafs.clone()];
        leafs.chunks_exact(leaf_size(self.version)).map(|leaf| match *leaf {
            [a, b] => u16::from_le_bytes([a, b]).into(),
            [a, b, c, d] => u32::from_le_bytes([a, b, c, d]),
            _ => 0,
        })
    }

    /// All bytes of a prop.
    pub fn record(&self, index: usize) -> Option<&[u8]> {
        self.place(index).map(|place| &self.bytes.get()[place])
    }

    /// The fields of a prop that all variants have; `None` if there is no such prop, or the variant is not known.
    pub fn get(&self, index: usize) -> Option<StaticProp> {
        self.variant?;
        StaticProp::decode(self.record(index)?)
    }

    /// Changes fields of a prop; the other fields of its variant stay.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is no such prop, [`ErrorKind::Unsupported`] if the variant is not known.
    pub fn update(&mut self, index: usize, change: impl FnOnce(&mut StaticProp)) -> Result<()> {
        let (place, _) = self.known(index)?;
        let mut prop = self.get(index).ok_or_else(|| self.no_prop(index))?;
        change(&mut prop);
        self.bytes.put(place.start, &prop.encode());
        Ok(())
    }

    /// The flags of a prop, at the place that its variant has for them.
    pub fn flags(&self, index: usize) -> Option<u32> {
        match *self.record(index)?.get(flags_place(self.variant?))? {
            [byte] => Some(byte.into()),
            [a, b, c, d] => Some(u32::from_le_bytes([a, b, c, d])),
            _ => None,
        }
    }

    /// Sets the flags of a prop, at the place that its variant has for them.
    ///
    /// # Errors
    /// As [`StaticProps::update`]; [`ErrorKind::Refused`] for a flag that does not fit.
    pub fn set_flags(&mut self, index: usize, flags: u32) -> Result<()> {
        let (place, variant) = self.known(index)?;
        let flags_place = flags_place(variant);
        let flag_bytes = flags.to_le_bytes();
        let (bytes, rest) = flag_bytes.split_at(flags_place.len());
        if rest.iter().any(|byte| *byte != 0) {
            let message = format!("the flags {flags:#x} do not fit: these props have one byte for them");
            return Err(Error::new(ErrorKind::Refused, message));
        }
        self.bytes.put(place.start + flags_place.start, bytes);
        Ok(())
    }

    /// The bytes after the last prop; always empty if there are props.
    pub fn rest(&self) -> &[u8] {
        &self.bytes.get()[self.props.end..]
    }

    fn place(&self, index: usize) -> Option<Range<usize>> {
        let start = self.props.start + index.checked_mul(self.size())?;
        (index < self.len).then(|| start..start + self.size())
    }

    fn known(&self, index: usize) -> Result<(Range<usize>, &'static Variant)> {
        let place = self.place(index).ok_or_else(|| self.no_prop(index))?;
        let variant = self.variant.ok_or_else(|| {
            let message =
                format!("no known game has static props of version {} with {} bytes", self.version, self.size());
            Error::new(ErrorKind::Unsupported, message).at(Place::default().lump(LUMP).record(index))
        })?;
        Ok((place, variant))
    }

    fn no_prop(&self, index: usize) -> Error {
        Error::new(ErrorKind::NotFound, format!("there is no static prop {index}, only {}", self.len))
    }
}

fn lay(bytes: &[u8], version: u16, list: Option<ExtraList>) -> Result<Lay> {
    let mut lists = Lists { bytes, lump: LUMP, at: 0 };
    let (names, _) = lists.next("model names", NAME)?;
    if list == Some(ExtraList::Names) {
        lists.next("more names", NAME)?;
    }
    let (leafs, _) = lists.next("leafs", leaf_size(version))?;
    if list == Some(ExtraList::Scales) {
        lists.next("scales", 16)?;
    }
    let len = lists.count("props")?;
    let rest = bytes.len() - lists.at;
    // Without props their size is not known.
    let length = if len == 0 { 0 } else { rest };
    if len > 0 && (!rest.is_multiple_of(len) || rest / len < StaticProp::SIZE) {
        return Err(lists.error(format!("{rest} bytes cannot be divided into {len} props of one size"), lists.at));
    }
    Ok(Lay { names, leafs, props: lists.at..lists.at + length, len })
}

fn leaf_size(version: u16) -> usize {
    if version < LONG_LEAFS { 2 } else { 4 }
}

fn flags_place(variant: &Variant) -> Range<usize> {
    let at = variant.flags_at;
    if at == 31 { at..at + 1 } else { at..at + 4 }
}
