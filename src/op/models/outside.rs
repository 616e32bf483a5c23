//! What records refer to that is not a record: light, pages of light, textures, rows of visibility.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::closure::refused;
use super::light::NewLight;
use super::textures::{NewNames, NewTextures};
use super::transplant::Transplant;
use crate::bsp::{Bsp, Links};
use crate::bytes::word;
use crate::content::texdata::STRINGS;
use crate::content::visibility::Visibility;
use crate::dialect::{Block, Blocks, LightModel, Role, VisModel};
use crate::error::Result;
use crate::file::SlotId;
use crate::record::{Cell, Meaning, Number, Shape};

/// What a number refers to.
#[derive(Clone, Debug)]
enum Kind {
    /// A row of visibility.
    Row,
    /// The name of a material.
    Name,
    /// Light in this lump.
    Light(&'static str),
    /// A page of light.
    Page,
    /// A texture.
    Texture,
    /// A cluster of visibility.
    Cluster,
    /// Something that is not known, unless it is one of these numbers.
    Other(&'static str, &'static [i64]),
}

/// A number of a record.
#[derive(Clone, Debug)]
struct Field {
    path: String,
    place: Range<usize>,
    number: Number,
    kind: Kind,
}

/// The numbers of the records of each list, and what was copied for them.
pub(super) struct Outside<'o> {
    fields: BTreeMap<usize, Vec<Field>>,
    /// How many clusters the target has; `None` if any number is right.
    clusters: Option<usize>,
    pub(super) light: NewLight<'o>,
    pub(super) textures: NewTextures<'o>,
    pub(super) names: NewNames<'o>,
    /// The lists with light that was left out, with how often.
    pub(super) unlit: BTreeMap<String, usize>,
}

impl<'o> Outside<'o> {
    pub(super) fn new(from: &'o Bsp<'_>, to: &'o Bsp<'_>, links: &Links<'_>, sites: &BTreeSet<usize>) -> Result<Self> {
        let dialect = from.dialect();
        let page = if let LightModel::Pages(model) = dialect.light { model.lump } else { "" };
        let texture = from.role(Role::Textures).map_or("", |slot| slot.name.as_str());
        let leafs = from.role(Role::Leafs).map_or("", |slot| slot.name.as_str());
        let rows = from.role(Role::Visibility).map_or("", |slot| slot.name.as_str());
        let mut fields = BTreeMap::new();
        for site in sites {
            let list = &links.sites[*site];
            let instead = |lump: &'static str| {
                list.row.order.instead.iter().find(|(usual, _)| *usual == lump).map_or(lump, |(_, other)| *other)
            };
            let kind = |cell: &Cell| match cell.meaning {
                Meaning::Offset { lump } if lump == rows => Some(Kind::Row),
                Meaning::Offset { lump } if lump == STRINGS => Some(Kind::Name),
                Meaning::Offset { lump } => Some(Kind::Light(instead(lump))),
                Meaning::Perhaps { lump, .. } if lump == page => Some(Kind::Page),
                Meaning::Index { lump, .. } if lump == texture && links.site(lump).is_none() => Some(Kind::Texture),
                Meaning::Index { lump, none, .. } if links.referred(lump).is_none() => Some(Kind::Other(lump, none)),
                _ if list.name == leafs && cell.path == "cluster" => Some(Kind::Cluster),
                _ => None,
            };
            let found = Cell::all(list.record.fields).into_iter().filter_map(|cell| {
                let Shape::Number(number) = cell.shape else { return None };
                Some(Field { kind: kind(&cell)?, path: cell.path, place: cell.place, number })
            });
            fields.insert(*site, found.collect::<Vec<_>>());
        }
        let clusters = match to.dialect().visibility {
            // Without rows everything is visible, whatever the cluster is.
            VisModel::Clusters | VisModel::Matrix => {
                to.lens::<Visibility<'_>>().ok().filter(|rows| !rows.is_empty()).map(|rows| rows.len())
            }
            _ => None,
        };
        Ok(Outside {
            fields,
            clusters,
            light: NewLight::new(from, to)?,
            textures: NewTextures::new(from, to)?,
            names: NewNames::new(from, to)?,
            unlit: BTreeMap::new(),
        })
    }

    /// Writes the numbers of a record that are not those of records.
    pub(super) fn record(
        &mut self,
        work: &Transplant<'_, '_, '_>,
        site: usize,
        record: usize,
        bytes: &mut [u8],
    ) -> Result<()> {
        let list = &work.theirs.links.sites[site];
        for field in self.fields.get(&site).cloned().unwrap_or_default() {
            let Some(old) = bytes.get(field.place.start..).and_then(|rest| field.number.integer(rest)) else {
                continue;
            };
            let new = match field.kind {
                Kind::Row => -1,
                Kind::Name => self.names.place(old).ok_or_else(|| {
                    let message =
                        format!("{}[{record}].{} names no material that can be copied", list.name, field.path);
                    refused(&list.name, message)
                })?,
                Kind::Cluster => {
                    let is_there = usize::try_from(old).is_ok_and(|old| self.clusters.is_none_or(|len| old < len));
                    if is_there { old } else { -1 }
                }
                Kind::Texture => self.textures.place(old).map_err(|why| refused(&list.name, why))?,
                Kind::Page => match self.light.page(old) {
                    Ok(page) => page,
                    Err(why) => {
                        return Err(refused(&list.name, format!("{}[{record}].{} {why}", list.name, field.path)));
                    }
                },
                Kind::Light(lump) => {
                    let is_decoupled = list.parallel.is_some() && list.name.starts_with("bspx:");
                    let faces = if is_decoupled { None } else { Some(list.name.as_str()) };
                    match self.light.block(lump, faces, record, old) {
                        Some(offset) => offset,
                        None => {
                            *self.unlit.entry(list.name.clone()).or_default() += 1;
                            -1
                        }
                    }
                }
                Kind::Other(_, none) if none.contains(&old) => old,
                Kind::Other(lump, _) => {
                    let message =
                        format!("{}[{record}].{} refers to {lump}, which is not known", list.name, field.path);
                    return Err(refused(&list.name, message));
                }
            };
            let fits = field.number.range().is_some_and(|(least, most)| (least..=most).contains(&new));
            let size = field.place.len();
            match bytes.get_mut(field.place).filter(|_| fits) {
                Some(place) => place.copy_from_slice(&new.to_le_bytes()[..size]),
                None => {
                    let message = format!("{}[{record}].{}: {new} does not fit", list.name, field.path);
                    return Err(refused(&list.name, message));
                }
            }
        }
        Ok(())
    }
}

impl Transplant<'_, '_, '_> {
    /// Puts the blocks of a model, such as its collision model, after those of the models that are there. Numbers of
    /// records in them are those of the copied records.
    pub(super) fn blocks(
        &self,
        lumps: &mut BTreeMap<SlotId, Vec<u8>>,
        model: usize,
        place: usize,
    ) -> Result<Vec<String>> {
        let (theirs, mut warnings) = (self.theirs.links, Vec::new());
        for links in [theirs, self.own.links] {
            let needs = |lump: &str| theirs.referred(lump).is_some_and(|site| self.needed.contains_key(&site));
            if let Some((_, name, _)) = links.parts.iter().find(|(_, _, parallel)| needs(parallel.lump)) {
                return Err(refused(name, "the model has solids in it that are not copied"));
            }
        }
        let of_models = |blocks: &&(SlotId, String, Blocks)| theirs.referred(blocks.2.lump) == Some(self.models);
        for (slot, name, blocks) in theirs.blocks.iter().filter(of_models) {
            let mut bytes = self.from.little_endian(*slot)?.to_vec();
            let unread = || refused(name, "its blocks cannot be read");
            let found = (blocks.find)(&bytes).ok_or_else(unread)?;
            let is_it = |block: &Block| word(&bytes, block.at).and_then(|of| usize::try_from(of).ok()) == Some(model);
            let found: Vec<Block> = found.into_iter().filter(is_it).collect();
            if found.is_empty() {
                continue;
            }
            let Ok(target) = self.to.slot(name).map(|slot| slot.id) else {
                warnings.push(format!("{name} is left out, since the map has none"));
                continue;
            };
            let mut new = match lumps.remove(&target) {
                Some(new) => new,
                None => self.to.little_endian(target)?.to_vec(),
            };
            let end = (blocks.find)(&new).ok_or_else(unread)?.last().map_or(0, |block| block.range.end);
            self.numbers(*slot, name, &found, &mut bytes)?;
            let mut own = Vec::new();
            for block in found {
                bytes[block.at..block.at + 4].copy_from_slice(&crate::bytes::short(place).to_le_bytes());
                own.extend_from_slice(&bytes[block.range]);
            }
            new.splice(end..end, own);
            lumps.insert(target, new);
        }
        Ok(warnings)
    }

    /// Gives the numbers of records in blocks their new values.
    fn numbers(&self, slot: SlotId, name: &str, blocks: &[Block], bytes: &mut [u8]) -> Result<()> {
        let theirs = self.theirs.links;
        let Some(row) = self.from.container().slot(slot).and_then(|slot| self.from.row(slot).ok()) else {
            return Ok(());
        };
        let Some(places) = row.order.places else { return Ok(()) };
        let unknown = || {
            let message =
                "the collision model names brushes of its map in a form that is not known, and cannot be copied";
            refused(name, message)
        };
        let (_, _, lump, found) = theirs.places.iter().find(|(own, ..)| *own == slot).ok_or_else(unknown)?;
        let site = theirs.referred(lump).ok_or_else(unknown)?;
        let is_in = |at: &&usize| {
            let block = blocks.get(blocks.partition_point(|block| block.range.end <= **at));
            block.is_some_and(|block| block.range.contains(*at))
        };
        for at in found.iter().filter(is_in) {
            if !(places.is_apart)(bytes, *at) {
                let message = format!("at byte {at} it names materials of its map by number, and cannot be copied");
                return Err(refused(name, message));
            }
            let old = word(bytes, *at).unwrap_or(-1);
            let new = usize::try_from(old).ok().and_then(|old| self.places.get(&(site, old)));
            let Some(new) = new else {
                let message = format!("at byte {at} it names {lump}[{old}], which is not of the model");
                return Err(refused(name, message));
            };
            bytes[*at..*at + 4].copy_from_slice(&crate::bytes::short(*new).to_le_bytes());
        }
        Ok(())
    }
}
