//! The models of a map, with what they have.

use std::collections::BTreeMap;

use super::graph::Graph;
use super::owners::{Owner, Owners};
use super::{models_of, named};
use crate::bsp::{Bsp, How, Links, Site};
use crate::bytes::float;
use crate::content::lightmap::Light;
use crate::dialect::Role;
use crate::error::Result;

/// A brush model.
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/goldsrc/own_rooms.bsp")?;
/// let door = &bspkit::op::models::list(&map)?[1];
/// assert_eq!((door.mins, door.count("CLIPNODES")), ([259.0, -31.0, 1.0], 18));
/// assert!(door.bytes() > door.light && door.light > 0);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Model {
    /// Its number. 0 is the world.
    pub number: usize,
    /// The box around it, in units.
    pub mins: [f32; 3],
    /// The box around it, in units.
    pub maxs: [f32; 3],
    /// The entities that name it, in their order. The world needs none.
    pub entities: Vec<ModelEntity>,
    /// How many faces it has.
    pub faces: usize,
    /// The records that belong to it alone, by list in the order of the lumps.
    pub records: Vec<OwnRecords>,
    /// The bytes of light of its faces. Bytes that other faces have too, and pages that surfaces share, do not count.
    pub light: usize,
}

/// An entity that names a model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelEntity {
    /// Its index.
    pub index: usize,
    /// Its class; empty if it has none.
    pub class: Vec<u8>,
    /// Its name for other entities (`targetname`); empty if it has none.
    pub name: Vec<u8>,
}

/// Records of a list that belong to one model alone.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OwnRecords {
    /// The lump, or the list in it.
    pub list: String,
    /// How many there are.
    pub count: usize,
    /// Their bytes.
    pub bytes: usize,
}

impl Model {
    /// The bytes that belong to it alone: records and light.
    pub fn bytes(&self) -> usize {
        self.light + self.records.iter().map(|own| own.bytes).sum::<usize>()
    }

    /// How many records of a list belong to it alone.
    pub fn count(&self, list: &str) -> usize {
        self.records.iter().find(|own| own.list == list).map_or(0, |own| own.count)
    }
}

/// The models of a map.
///
/// # Errors
/// [`NotFound`](crate::ErrorKind::NotFound) if maps of the dialect have no models,
/// [`Unsupported`](crate::ErrorKind::Unsupported) if their struct is not known; those of a lump that cannot be read.
pub fn list(map: &Bsp<'_>) -> Result<Vec<Model>> {
    let links = map.links()?;
    let site = models_of(map, &links)?;
    let owners = Owners::of(&Graph::new(&links), site, crate::bytes::short)?;
    let mut entities: BTreeMap<i64, Vec<ModelEntity>> = BTreeMap::new();
    for entity in map.entities()?.iter() {
        for (_, _, model) in named(map, &entity) {
            entities.entry(model).or_default().push(ModelEntity {
                index: entity.index(),
                class: entity.class().unwrap_or_default().to_vec(),
                name: entity.get("targetname").unwrap_or_default().to_vec(),
            });
        }
    }
    let mut own: Vec<Vec<OwnRecords>> = vec![Vec::new(); links.sites[site].len()];
    for (index, list) in links.sites.iter().enumerate() {
        for (model, count) in counts(owners.list(index)) {
            if let Some(own) = own.get_mut(model) {
                own.push(OwnRecords { list: list.name.clone(), count, bytes: count * list.record.size });
            }
        }
    }
    let light = light(map, &links, &owners)?;
    let model = |(number, records): (usize, Vec<OwnRecords>)| {
        let record = links.sites[site].record(number);
        Model {
            number,
            mins: corner(&links.sites[site], record, "mins"),
            maxs: corner(&links.sites[site], record, "maxs"),
            entities: i64::try_from(number).ok().and_then(|number| entities.remove(&number)).unwrap_or_default(),
            faces: faces(map, &links, site, record),
            records,
            light: light.get(&number).copied().unwrap_or(0),
        }
    };
    Ok(own.into_iter().enumerate().map(model).collect())
}

/// How many of these belong to each model.
fn counts(owners: &[Owner]) -> BTreeMap<usize, usize> {
    let mut counts = BTreeMap::new();
    for owner in owners {
        if let Owner::Model(model) = owner {
            *counts.entry(crate::bytes::index(*model)).or_default() += 1;
        }
    }
    counts
}

fn corner(site: &Site<'_>, record: &[u8], field: &str) -> [f32; 3] {
    let at = site.record.field(field).map_or(record.len(), |field| field.offset);
    [0, 4, 8].map(|axis| float(record, at + axis).unwrap_or(0.0))
}

/// How many faces the record of a model states.
fn faces(map: &Bsp<'_>, links: &Links<'_>, site: usize, record: &[u8]) -> usize {
    let lump = map.role(Role::Faces).and_then(|slot| links.referred(&slot.name));
    let is_run =
        |link: &&crate::bsp::Link| link.from == site && Some(link.to) == lump && matches!(link.how, How::Run(..));
    let link = links.links.iter().find(is_run);
    let count = link.and_then(|link| link.named(record, links.sites[link.to].len())).map(|(_, count)| count);
    count.and_then(|count| usize::try_from(count).ok()).unwrap_or(0)
}

/// The bytes of light that only faces of one model have, by model.
fn light(map: &Bsp<'_>, links: &Links<'_>, owners: &Owners) -> Result<BTreeMap<usize, usize>> {
    let mut own = BTreeMap::new();
    let faces = map.role(Role::Faces).and_then(|slot| links.referred(&slot.name));
    let (Some(faces), Ok(light)) = (faces, map.lens::<Light<'_>>()) else { return Ok(own) };
    for set in light.sets().iter().filter(|set| !set.is_pages()) {
        let mut blocks: Vec<_> = set.blocks().iter().map(|block| (block.whole(), block.index())).collect();
        blocks.sort_by_key(|(range, _)| (range.start, range.end));
        let owner = |face: usize| owners.list(faces).get(face).copied().unwrap_or(Owner::Unused);
        let mut blocks = blocks.into_iter().peekable();
        // Blocks that overlap belong together.
        while let Some((range, face)) = blocks.next() {
            let (mut end, mut whose) = (range.end, owner(face));
            while let Some((next, face)) = blocks.next_if(|(next, _)| next.start < end) {
                end = end.max(next.end);
                whose = if owner(face) == whose { whose } else { Owner::Several };
            }
            if let Owner::Model(model) = whose {
                *own.entry(crate::bytes::index(model)).or_default() += end - range.start;
            }
        }
    }
    Ok(own)
}
