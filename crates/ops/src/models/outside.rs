//! What a model needs that is not a record: light, pages of light, textures, rows of visibility.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use super::copy::{left_out, refused};
use super::transplant::Transplant;
use crate::prune::family;
use bspkit::bytes::{Data, escaped, short, wide, word};
use bspkit::content::View;
use bspkit::content::lightmap::{self, Light, LightSet};
use bspkit::content::texdata::STRINGS;
use bspkit::content::textures::{LEVELS, Miptex, Textures};
use bspkit::content::visibility::Visibility;
use bspkit::dialect::bspx::{LIGHT_SIZES, LMOFFSET, LMSHIFT};
use bspkit::dialect::{Block, Blocks, FaceLight, LightModel, LuxelForm, Role, VisModel};
use bspkit::file::SlotId;
use bspkit::links::{Links, Site};
use bspkit::record::{Cell, Meaning, Number, Shape};
use bspkit::{Bsp, Result};

// What records refer to that is not a record: light, pages of light, textures, rows of visibility.

/// What a number refers to.
#[derive(Clone, Debug)]
enum Kind {
    /// A row of visibility.
    Row,
    /// The name of a material.
    Name,
    /// Light of a face.
    Light,
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
            let kind = |cell: &Cell| match cell.meaning {
                Meaning::Offset { lump } if lump == rows => Some(Kind::Row),
                Meaning::Offset { lump } if lump == STRINGS => Some(Kind::Name),
                Meaning::Offset { .. } => Some(Kind::Light),
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
                Kind::Light => match self.light.block(list, record, old) {
                    Some(offset) => offset,
                    None => {
                        *self.unlit.entry(list.name.clone()).or_default() += 1;
                        -1
                    }
                },
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
    /// Puts the blocks of models, such as their collision models, after those of the models that are there. Numbers of
    /// records in them are those of the copied records. The models have their new numbers with them.
    pub(super) fn blocks(
        &self,
        lumps: &mut BTreeMap<SlotId, Vec<u8>>,
        models: &BTreeMap<usize, usize>,
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
            let place = |block: &Block| models.get(&usize::try_from(word(&bytes, block.at)?).ok()?).copied();
            let (mut places, found): (Vec<(usize, usize)>, Vec<Block>) = found
                .into_iter()
                .filter_map(|block| Some((place(&block)?, block)))
                .enumerate()
                .map(|(at, (place, block))| ((place, at), block))
                .unzip();
            if found.is_empty() {
                continue;
            }
            let Ok(target) = self.to.slot(name).map(|slot| slot.id) else {
                warnings.push(left_out(name));
                continue;
            };
            let mut new = match lumps.remove(&target) {
                Some(new) => new,
                None => self.to.little_endian(target)?.to_vec(),
            };
            let end = (blocks.find)(&new).ok_or_else(unread)?.last().map_or(0, |block| block.range.end);
            self.numbers(*slot, name, &found, &mut bytes)?;
            let mut own = Vec::new();
            places.sort_unstable();
            for (place, at) in places {
                let block = &found[at];
                bytes[block.at..block.at + 4].copy_from_slice(&bspkit::bytes::short(place).to_le_bytes());
                own.extend_from_slice(&bytes[block.range.clone()]);
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
            bytes[*at..*at + 4].copy_from_slice(&bspkit::bytes::short(*new).to_le_bytes());
        }
        Ok(())
    }
}

// Light that a model needs: the blocks of its faces, or the pages of its surfaces.

/// The light of two maps, and what the target gets.
pub(super) struct NewLight<'o> {
    from: &'o Bsp<'o>,
    to: &'o Bsp<'o>,
    theirs: View<Light<'o>>,
    /// The lumps of the target with light, as they will be.
    lumps: BTreeMap<&'static str, Grown<'o>>,
    pages: HashMap<i64, i64>,
    /// Whether the light of the two maps has other bytes after the luxels of each face, such as alphas.
    pub(super) has_other_alphas: bool,
}

/// A lump that gets more bytes at its end.
struct Grown<'o> {
    slot: SlotId,
    old: Data<'o>,
    theirs: Data<'o>,
    added: Vec<u8>,
    /// The ranges of the other map's lump, in the order in which they were added, with their places.
    ranges: Vec<Range<usize>>,
    places: HashMap<(usize, usize), usize>,
}

impl Grown<'_> {
    /// Where a range of the other map's lump is, or would be put.
    fn next(&self, range: &Range<usize>) -> usize {
        let known = self.places.get(&(range.start, range.end));
        known.copied().unwrap_or(self.old.len() + self.added.len())
    }

    /// Where a range of the other map's lump is put.
    fn put(&mut self, range: Range<usize>) -> usize {
        let place = self.next(&range);
        *self.places.entry((range.start, range.end)).or_insert_with(|| {
            self.added.extend_from_slice(&self.theirs[range.clone()]);
            self.ranges.push(range);
            place
        })
    }
}

impl<'o> NewLight<'o> {
    pub(super) fn new(from: &'o Bsp<'_>, to: &'o Bsp<'_>) -> Result<Self> {
        let names: Vec<&'static str> = match from.dialect().light {
            LightModel::Faces(model) => {
                model.lumps.iter().filter(|lumps| lumps.copied.is_none()).map(|lumps| lumps.light).collect()
            }
            LightModel::Pages(model) => vec![model.lump],
            _ => Vec::new(),
        };
        let mut lumps = BTreeMap::new();
        for name in names {
            let (Ok(slot), Ok(other)) = (to.slot(name), from.slot(name)) else { continue };
            let (old, theirs) = (to.little_endian(slot.id)?, from.little_endian(other.id)?);
            lumps.insert(
                name,
                Grown { slot: slot.id, old, theirs, added: Vec::new(), ranges: Vec::new(), places: HashMap::new() },
            );
        }
        let has_other_alphas = alphas(from) != alphas(to);
        Ok(NewLight { from, to, theirs: from.lens::<Light<'_>>()?, lumps, pages: HashMap::new(), has_other_alphas })
    }

    /// The new offset of the light of a face, which a record of a list has; `None` if it cannot be copied. The records
    /// of a list may have light in several lumps, at one offset.
    pub(super) fn block(&mut self, list: &Site<'_>, face: usize, old: i64) -> Option<i64> {
        let is_it = |set: &&LightSet| set.placed_by() == list.name && set.copy_of().is_none();
        let LightModel::Faces(model) = self.from.dialect().light else { return Some(old) };
        if list.parallel.is_none() && model.lumps.iter().all(|lumps| !lumps.faces.contains(&&*list.name)) {
            // Faces before they were split: no engine reads their light.
            return Some(old);
        }
        let (mut ranges, mut is_unlit) = (Vec::new(), false);
        for set in self.theirs.sets().iter().filter(is_it) {
            match set.block_of(face) {
                Some(block) => {
                    let block = &set.blocks()[block];
                    if !self.reads_alike(block) {
                        return None;
                    }
                    let (range, start) = (block.whole(), block.bytes().start);
                    let is_there = |grown: &&Grown<'_>| !grown.old.is_empty() && range.end <= grown.theirs.len();
                    let (name, grown) = self.lumps.iter().find(|(name, _)| **name == set.lump())?;
                    let grown = Some(grown).filter(is_there)?;
                    ranges.push((*name, range.clone(), grown.next(&range) + (start - range.start)));
                }
                // Compilers leave any number where a face has no light; most write -1 or 0.
                None => is_unlit = !set.faults().iter().any(|fault| fault.face == face),
            }
        }
        let Some((.., place)) = ranges.first().cloned() else {
            return (is_unlit || [-1, 0].contains(&old)).then_some(if is_unlit && old == 0 { 0 } else { -1 });
        };
        if ranges.iter().any(|(.., other)| *other != place) {
            return None;
        }
        for (name, range, _) in ranges {
            self.lumps.get_mut(name)?.put(range);
        }
        i64::try_from(place).ok()
    }

    /// Whether the target reads a block of the other map with the same luxels and styles. Those of `LMSHIFT` and
    /// `LMSTYLE` count for `LMOFFSET` where a map has it, and otherwise for the faces.
    fn reads_alike(&self, block: &lightmap::Block) -> bool {
        if self.has_other_alphas {
            return false;
        }
        let has = |map: &Bsp<'_>, name: &str| map.slot(name).is_ok_and(|slot| slot.length != 0);
        let is_usual = block.shift() == lightmap::USUAL_SHIFT;
        match (has(self.from, LMOFFSET.lump()), has(self.to, LMOFFSET.lump())) {
            (true, false) => !LIGHT_SIZES.iter().any(|name| has(self.to, name)),
            (false, true) => is_usual,
            _ => is_usual || has(self.to, LMSHIFT.lump()),
        }
    }

    /// The new number of a page; the reason if it cannot be copied.
    pub(super) fn page(&mut self, old: i64) -> Result<i64, String> {
        let LightModel::Pages(model) = self.from.dialect().light else { return Ok(old) };
        if old < 0 {
            return Ok(old);
        }
        if let Some(place) = self.pages.get(&old) {
            return Ok(*place);
        }
        let Some(grown) = self.lumps.get_mut(model.lump) else { return Err("has light in no lump".to_owned()) };
        if grown.theirs.is_empty() {
            return Err("has its light in a file beside the other map".to_owned());
        }
        if grown.old.is_empty() && self.to.light_files().is_ok_and(|files| !files.is_empty()) {
            return Err("has light, and the light of the map is in files beside it".to_owned());
        }
        let size = model.size * model.size * LuxelForm::Rgb.bytes();
        let start = usize::try_from(old).ok().and_then(|page| page.checked_mul(size));
        let range =
            start.map(|start| start..start.saturating_add(size)).filter(|range| range.end <= grown.theirs.len());
        let range = range.ok_or_else(|| format!("names the page {old}, which is not there"))?;
        let page = &grown.theirs[range.clone()];
        // Pages begin at multiples of their size; bytes after the last one stay before the new ones.
        let known = grown.old.chunks_exact(size).position(|other| other == page);
        let place = match known {
            Some(known) => known,
            None if grown.old.len().is_multiple_of(size) => grown.put(range) / size,
            None => return Err("has light on a page, and those of the map are not whole".to_owned()),
        };
        let place = i64::try_from(place).unwrap_or(i64::MAX);
        self.pages.insert(old, place);
        Ok(place)
    }

    /// How many bytes of light the target gets.
    pub(super) fn bytes(&self) -> usize {
        self.lumps.values().map(|grown| grown.added.len()).sum()
    }

    /// The lumps with light, and those that run parallel to them.
    pub(super) fn lumps(&self, own: &Links<'_>, theirs: &Links<'_>) -> Result<BTreeMap<SlotId, Vec<u8>>> {
        let mut new = BTreeMap::new();
        for (name, grown) in self.lumps.iter().filter(|(_, grown)| !grown.added.is_empty()) {
            new.insert(grown.slot, [&grown.old[..], &grown.added[..]].concat());
            for site in own
                .sites
                .iter()
                .filter(|site| site.parallel.is_some_and(|other| other.lump == *name) && !site.is_empty())
            {
                let other = theirs.named(&site.name).filter(|other| !other.is_empty());
                let added = match other {
                    Some(other) => scaled(&other.bytes, &grown.theirs, &grown.ranges),
                    // Light in color that is the same for all colors.
                    None if site.bytes.len() == 3 * grown.old.len() && site.name.ends_with("RGBLIGHTING") => {
                        Some(grown.added.iter().flat_map(|luxel| [*luxel; 3]).collect())
                    }
                    None => None,
                };
                let added = added.ok_or_else(|| {
                    let message = format!("it has a sample for each of {name}, and the other map has none");
                    refused(&site.name, message)
                })?;
                new.insert(site.slot, [&site.bytes[..], &added[..]].concat());
            }
        }
        Ok(new)
    }

    /// The lumps of the other map that run parallel to its light, with light of the model, and that the target does not
    /// have.
    pub(super) fn left_out(&self, own: &Links<'_>, theirs: &Links<'_>) -> Vec<String> {
        let has_light = |lump: &str| self.lumps.get(lump).is_some_and(|grown| !grown.added.is_empty());
        let is_left = |name: &str| own.named(name).is_none_or(|site| site.is_empty());
        let parallel = theirs.sites.iter().filter(|site| !site.is_empty() && is_left(&site.name));
        let of_light = parallel.filter(|site| site.parallel.is_some_and(|parallel| has_light(parallel.lump)));
        of_light.map(|site| site.name.clone()).collect()
    }

    /// The lump in which one of the maps alone has its light, since the one that it is a copy of is empty.
    pub(super) fn is_in_copy(&self) -> Option<&'static str> {
        let LightModel::Faces(model) = self.from.dialect().light else { return None };
        let has = |map: &Bsp<'_>, lump: &str| map.slot(lump).is_ok_and(|slot| slot.length != 0);
        let copies = model.lumps.iter().filter(|lumps| lumps.copied.is_some());
        let is_alone = |map: &Bsp<'_>, copy: &str| has(map, copy) && !self.lumps.keys().any(|lump| has(map, lump));
        copies.map(|lumps| lumps.light).find(|copy| is_alone(self.from, copy) || is_alone(self.to, copy))
    }

    /// Whether the light of the target is in no lump, so that faces cannot get any.
    pub(super) fn is_dark(&self) -> bool {
        self.lumps.values().all(|grown| grown.old.is_empty())
    }
}

/// The flags that say which bytes follow the luxels of each face.
fn alphas(map: &Bsp<'_>) -> u8 {
    let LightModel::Faces(FaceLight { extra: Some(extra), .. }) = map.dialect().light else { return 0 };
    let flags = map.slot(extra.flags).and_then(|slot| map.bytes(slot.id));
    flags.ok().and_then(|flags| flags.first().copied()).unwrap_or(0) & extra.mask
}

/// The bytes of a parallel lump for ranges of a lump.
fn scaled(bytes: &[u8], of: &[u8], ranges: &[Range<usize>]) -> Option<Vec<u8>> {
    let at = |at: usize| {
        let scaled = wide(at).checked_mul(wide(bytes.len()))?;
        let len = wide(of.len());
        scaled.is_multiple_of(len).then(|| usize::try_from(scaled / len).ok())?
    };
    let parts = ranges.iter().map(|range| bytes.get(at(range.start)?..at(range.end)?));
    Some(parts.collect::<Option<Vec<_>>>()?.concat())
}

// Textures within a map, and names of materials, that a model needs: by name, and none twice.

/// The textures of two maps, and those that the target gets.
pub(super) struct NewTextures<'o> {
    theirs: Option<View<Textures<'o>>>,
    /// Whether both maps have the same textures at the same places.
    is_alike: bool,
    own: Option<(SlotId, View<Textures<'o>>)>,
    places: HashMap<usize, usize>,
    /// The bytes of the new ones; `None` for one that is missing.
    added: Vec<Option<Vec<u8>>>,
    /// The names of the new ones.
    pub(super) names: Vec<Vec<u8>>,
    /// Those of the target that copied faces have in place of others of the same name, with what differs.
    pub(super) exchanged: Vec<String>,
    /// The names of the new ones whose pixels are in no map.
    pub(super) external: Vec<Vec<u8>>,
}

impl<'o> NewTextures<'o> {
    pub(super) fn new(from: &'o Bsp<'_>, to: &'o Bsp<'_>) -> Result<Self> {
        let mut textures = NewTextures {
            theirs: None,
            is_alike: false,
            own: None,
            places: HashMap::new(),
            added: Vec::new(),
            names: Vec::new(),
            exchanged: Vec::new(),
            external: Vec::new(),
        };
        if from.has_textures() {
            textures.theirs = Some(from.lens::<Textures<'_>>()?);
        }
        if let Some(slot) = to.role(Role::Textures).filter(|_| to.has_textures()) {
            let own = to.little_endian(slot.id)?;
            textures.is_alike = from
                .role(Role::Textures)
                .is_some_and(|slot| from.little_endian(slot.id).is_ok_and(|theirs| theirs == own));
            textures.own = Some((slot.id, to.lens::<Textures<'_>>()?));
        }
        Ok(textures)
    }

    /// The number in the target for a texture of the other map; the reason if there can be none. The other frames of an
    /// animation come with one: engines find them by their names.
    pub(super) fn place(&mut self, old: i64) -> Result<i64, String> {
        let known = self.places.len();
        let place = self.place_one(old)?;
        if let (Some(theirs), true) = (&self.theirs, self.places.len() > known) {
            let name = |at: usize| theirs.name(at).and_then(family);
            if let Some(own) = usize::try_from(old).ok().and_then(name) {
                let is_frame = |at: &usize| name(*at).is_some_and(|other| other.eq_ignore_ascii_case(own));
                let frames: Vec<usize> = (0..theirs.len()).filter(is_frame).collect();
                for frame in frames {
                    self.place_one(i64::from(short(frame)))?;
                }
            }
        }
        Ok(place)
    }

    fn place_one(&mut self, old: i64) -> Result<i64, String> {
        let (Some(theirs), Some((_, own))) = (&self.theirs, &self.own) else {
            return Err("textures within the map cannot be read".to_owned());
        };
        let index = usize::try_from(old).ok().filter(|index| *index < theirs.len());
        let index = index.ok_or_else(|| format!("a texture {old} is named, which is not there"))?;
        if let Some(place) = self.places.get(&index) {
            return Ok(i64::from(short(*place)));
        }
        let texture = theirs.get(index).map_err(|error| format!("the texture {index} cannot be copied: {error}"))?;
        let name = texture.as_ref().map(|texture| texture.name().to_vec());
        let is_same = |at: &usize| match (&name, own.name(*at)) {
            (Some(name), Some(other)) => other.eq_ignore_ascii_case(name),
            // What is missing has no name, so nothing says that it is the same in another map.
            (None, None) => self.is_alike && *at == index,
            _ => false,
        };
        // Some maps have two of the same name.
        let place =
            std::iter::once(index).filter(|at| *at < own.len()).chain(0..own.len()).find(is_same).unwrap_or_else(
                || {
                    let is_external = |texture: &&Miptex<'_>| !texture.is_embedded();
                    let external = texture.as_ref().filter(is_external);
                    self.external.extend(external.map(|texture| texture.name().to_vec()));
                    self.added.push(texture.map(|texture| texture.bytes().to_vec()));
                    self.names.extend(name);
                    own.len() + self.added.len() - 1
                },
            );
        if let (Some(theirs), true) = (&texture, place < own.len())
            && let Some(what) = difference(own.get(place).ok().flatten().as_ref(), theirs)
        {
            self.exchanged.push(format!("`{}` ({what})", escaped(theirs.name())));
        }
        self.places.insert(index, place);
        Ok(i64::from(short(place)))
    }

    /// How many of the new ones are missing in the other map: they have neither a name nor pixels.
    pub(super) fn missing(&self) -> usize {
        self.added.iter().filter(|texture| texture.is_none()).count()
    }

    /// The lump with the new textures after the others.
    pub(super) fn lump(&self) -> Result<Option<(SlotId, Vec<u8>)>> {
        let own = self.own.as_ref().filter(|_| !self.added.is_empty());
        own.map(|(slot, own)| Ok((*slot, own.with(&self.added)?))).transpose()
    }
}

/// What differs between a texture of the target and one of the other map that has its name; `None` if nothing does.
fn difference(own: Option<&Miptex<'_>>, theirs: &Miptex<'_>) -> Option<String> {
    let Some(own) = own else { return Some("it cannot be read here".to_owned()) };
    let size = |texture: &Miptex<'_>| [texture.width(), texture.height()];
    let ([width, height], [their_width, their_height]) = (size(own), size(theirs));
    if size(own) != size(theirs) {
        let message = format!(
            "{width} by {height} pixels, and {their_width} by {their_height} in the other map: it has another scale"
        );
        return Some(message);
    }
    match (own.is_embedded(), theirs.is_embedded()) {
        (false, true) => Some("no pixels, and some in the other map".to_owned()),
        (true, false) => Some("pixels, and none in the other map".to_owned()),
        _ if (0..LEVELS).any(|level| own.pixels(level) != theirs.pixels(level)) => Some("other pixels".to_owned()),
        _ if own.palette() != theirs.palette() => Some("other colors".to_owned()),
        _ => None,
    }
}

/// The names of materials of two maps, and those that the target gets.
pub(super) struct NewNames<'o> {
    theirs: Data<'o>,
    own: Option<(SlotId, Data<'o>)>,
    /// Where each name of the target begins.
    places: HashMap<Vec<u8>, usize>,
    added: Vec<u8>,
    /// The new ones.
    pub(super) names: Vec<Vec<u8>>,
}

impl<'o> NewNames<'o> {
    pub(super) fn new(from: &Bsp<'o>, to: &Bsp<'o>) -> Result<Self> {
        let slot = |map: &Bsp<'o>| map.slots().iter().find(|slot| slot.name == STRINGS).map(|slot| slot.id);
        let mut names = NewNames {
            theirs: slot(from).map_or_else(|| Ok(Data::from(Vec::new())), |slot| from.little_endian(slot))?,
            own: None,
            places: HashMap::new(),
            added: Vec::new(),
            names: Vec::new(),
        };
        if let Some(slot) = slot(to) {
            let bytes = to.little_endian(slot)?;
            let mut start = 0;
            for name in bytes.split_inclusive(|byte| *byte == 0) {
                if let Some(name) = name.strip_suffix(b"\0") {
                    names.places.entry(name.to_vec()).or_insert(start);
                }
                start += name.len();
            }
            names.own = Some((slot, bytes));
        }
        Ok(names)
    }

    /// The place in the target of the name at an offset of the other map; `None` if it is not one.
    pub(super) fn place(&mut self, old: i64) -> Option<i64> {
        let (_, own) = self.own.as_ref()?;
        let rest = self.theirs.get(usize::try_from(old).ok()?..)?;
        let name = &rest[..rest.iter().position(|byte| *byte == 0)?];
        let place = match self.places.get(name) {
            Some(place) => *place,
            None => {
                // A name before it may have no end.
                if self.added.is_empty() && own.last().is_some_and(|last| *last != 0) {
                    self.added.push(0);
                }
                let place = own.len() + self.added.len();
                self.added.extend_from_slice(name);
                self.added.push(0);
                self.places.insert(name.to_vec(), place);
                self.names.push(name.to_vec());
                place
            }
        };
        i64::try_from(place).ok()
    }

    /// The lump with the new names after the others.
    pub(super) fn lump(&self) -> Option<(SlotId, Vec<u8>)> {
        let (slot, own) = self.own.as_ref().filter(|_| !self.added.is_empty())?;
        Some((*slot, [&own[..], &self.added[..]].concat()))
    }
}
