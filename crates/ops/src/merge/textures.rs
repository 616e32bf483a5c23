//! Textures in the map, and names of materials, one by one: their numbers stay, so that each is that of the side which
//! changed it. Anything else that a side did to the lump leaves it to others.

use std::collections::BTreeMap;

use super::lists::Records;
use super::{Conflict, Desk, Side, Sides, Subject, is_of_both, twin};
use bspkit::bytes::{Data, escaped};
use bspkit::content::texdata::{STRINGS, TABLE, TextureStrings};
use bspkit::content::textures::Textures;
use bspkit::dialect::Role;
use bspkit::file::{Slot, SlotId};
use bspkit::{Bsp, Draft, Result};

/// The lumps of textures and of their names with the changes of both sides.
pub(super) fn merge<'a>(
    sides: &Sides<'_, 'a>,
    records: Option<&Records<'_, '_, 'a>>,
    desk: &mut Desk<'_>,
) -> Result<BTreeMap<SlotId, Vec<u8>>> {
    let mut merged = BTreeMap::new();
    if let Some(slot) = sides.base.role(Role::Textures).filter(|slot| is_of_both(sides, slot)) {
        let edit = |draft: &mut Draft<'a>, index: usize, bytes: &[u8]| {
            draft.edit::<Textures<'_>>()?.replace(index, bytes.to_vec())
        };
        let all = [sides.base, sides.ours, sides.theirs].map(|map| {
            let textures = map.lens::<Textures<'_>>().ok()?;
            let one = |index: usize| Some(textures.get(index).ok()?.map_or_else(Vec::new, |one| one.bytes().to_vec()));
            (0..textures.len()).map(one).collect::<Option<Vec<_>>>()
        });
        let show = |bytes: &[u8]| {
            let name = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
            format!("{}, {} bytes, CRC-32 {:08x}", escaped(name), bytes.len(), crc32fast::hash(bytes)).into_bytes()
        };
        let list = List { lump: &slot.name, what: "texture", slots: &[slot], edit: &edit, show: &show };
        merged.extend(list.merge(sides, all, desk)?);
    }
    let found = (sides.base.slot(STRINGS).ok(), sides.base.slot(TABLE).ok());
    let is_still = || records.is_none_or(|records| records.moves_of(TABLE, 0).is_none());
    if let (Some(strings), Some(table)) = found
        && is_of_both(sides, strings)
        && is_still()
    {
        let edit =
            |draft: &mut Draft<'a>, index: usize, name: &[u8]| draft.edit::<TextureStrings<'_>>()?.rename(index, name);
        let all = [sides.base, sides.ours, sides.theirs].map(|map| {
            let names = map.lens::<TextureStrings<'_>>().ok()?;
            (0..names.len()).map(|index| names.get(index).ok().map(<[u8]>::to_vec)).collect::<Option<Vec<_>>>()
        });
        let show = |name: &[u8]| escaped(name).to_string().into_bytes();
        let list = List { lump: TABLE, what: "name", slots: &[strings, table], edit: &edit, show: &show };
        merged.extend(list.merge(sides, all, desk)?);
    }
    Ok(merged)
}

type Edit<'e, 'a> = dyn Fn(&mut Draft<'a>, usize, &[u8]) -> Result<()> + 'e;

/// Things of a lump by their numbers.
struct List<'e, 'a> {
    lump: &'e str,
    what: &'e str,
    /// The slots that they are in.
    slots: &'e [&'e Slot],
    edit: &'e Edit<'e, 'a>,
    show: &'e dyn Fn(&[u8]) -> Vec<u8>,
}

impl<'a> List<'_, 'a> {
    /// The slots with the changes of both sides. None if a side did anything else to them, which is left to others.
    fn merge(
        &self,
        sides: &Sides<'_, 'a>,
        all: [Option<Vec<Vec<u8>>>; 3],
        desk: &mut Desk<'_>,
    ) -> Result<Vec<(SlotId, Vec<u8>)>> {
        let [Some(base), Some(ours), Some(theirs)] = all else { return Ok(Vec::new()) };
        if [ours.len(), theirs.len()] != [base.len(), base.len()] {
            return Ok(Vec::new());
        }
        for (map, side) in [(sides.ours, &ours), (sides.theirs, &theirs)] {
            let again = self.edited(sides.base, &base, side);
            let is_all = |again: Vec<(SlotId, Data<'a>)>| {
                let is_same = |(slot, bytes): (&&Slot, &(SlotId, Data<'a>))| {
                    twin(map, slot).is_some_and(|twin| map.bytes(twin.id).is_ok_and(|own| own[..] == bytes.1[..]))
                };
                self.slots.iter().zip(&again).all(is_same)
            };
            if !again.is_ok_and(is_all) {
                return Ok(Vec::new());
            }
        }
        let mut merged = ours.clone();
        for (index, new) in merged.iter_mut().enumerate() {
            let values = [&base[index], &ours[index], &theirs[index]];
            if values[2] == values[0] || values[1] == values[2] {
                continue;
            }
            let side = match values[1] == values[0] {
                true => Side::Theirs,
                false => {
                    let message = format!("both sides change {} {index}", self.what);
                    let subject = Subject::Record(self.lump.to_owned(), index, String::new());
                    let shown = values.map(|value| Some((self.show)(value)));
                    desk.decide(Conflict::lump(self.lump, message).with(subject, shown))
                }
            };
            new.clone_from(match side {
                Side::Base => values[0],
                Side::Ours => values[1],
                Side::Theirs => values[2],
            });
        }
        let edited = self.edited(sides.base, &base, &merged)?;
        Ok(edited.into_iter().map(|(slot, bytes)| (slot, bytes.to_vec())).collect())
    }

    /// The slots of the base with other content of some of its things.
    fn edited(&self, base: &Bsp<'a>, old: &[Vec<u8>], new: &[Vec<u8>]) -> Result<Vec<(SlotId, Data<'a>)>> {
        let mut draft = base.draft();
        for (index, (_, new)) in old.iter().zip(new).enumerate().filter(|(_, (old, new))| old != new) {
            (self.edit)(&mut draft, index, new)?;
        }
        self.slots.iter().map(|slot| Ok((slot.id, draft.bytes(slot.id)?))).collect()
    }
}
