//! What records refer to that is not a record: light, pages of light, textures, rows of visibility.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::closure::refused;
use super::light::NewLight;
use super::textures::NewTextures;
use super::transplant::Transplant;
use crate::bsp::{Bsp, Links};
use crate::bytes::word;
use crate::content::visibility::Visibility;
use crate::dialect::{LightModel, Role, VisModel};
use crate::error::Result;
use crate::record::{Cell, Meaning, Number, Shape};

/// What a number refers to.
#[derive(Clone, Debug)]
enum Kind {
    /// A row of visibility.
    Row,
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
                    match self.light.block(lump, is_decoupled, record, old) {
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

/// The blocks of a lump that belong to a model, put after those of the other models.
pub(super) fn with_block(
    own: &[u8],
    find: fn(&[u8]) -> Option<Vec<crate::dialect::Block>>,
    block: &[u8],
) -> Option<Vec<u8>> {
    let end = find(own)?.last().map_or(0, |block| block.range.end);
    let mut new = own.to_vec();
    new.splice(end..end, block.iter().copied());
    Some(new)
}

/// The blocks that belong to a record, with its new number.
pub(super) fn blocks_of(
    bytes: &[u8],
    find: fn(&[u8]) -> Option<Vec<crate::dialect::Block>>,
    record: usize,
    place: usize,
) -> Vec<Vec<u8>> {
    let is_it = |block: &crate::dialect::Block| {
        word(bytes, block.at).and_then(|number| usize::try_from(number).ok()) == Some(record)
    };
    let found = find(bytes).unwrap_or_default().into_iter().filter(is_it);
    let numbered = found.filter_map(|block| {
        let mut new = bytes.get(block.range.clone())?.to_vec();
        let at = block.at.checked_sub(block.range.start)?;
        new.get_mut(at..at + 4)?.copy_from_slice(&crate::bytes::short(place).to_le_bytes());
        Some(new)
    });
    numbered.collect()
}
