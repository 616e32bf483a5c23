//! Brush models: the parts of a map that entities name `*1`, `*2` and so on.
//!
//! What belongs to a model follows from the references that the dialect declares, so that nothing here knows a dialect.
//!
//! ```
//! use bspkit_ops::models;
//! let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
//! let listed = models::list(&map)?;
//! assert_eq!((listed[1].faces, listed[1].entities[0].class.as_slice()), (6, &b"func_door"[..]));
//! # Ok::<(), bspkit::Error>(())
//! ```

mod copy;
mod left;
mod outside;
mod transplant;

use std::collections::{BTreeMap, BTreeSet};

use crate::check::class_with_model;
use crate::luxels;
use bspkit::bytes::{escaped, float};
use bspkit::content::entities::Entity;
use bspkit::content::lightmap::Light;
use bspkit::dialect::{EntityForm, Role};
use bspkit::links::{How, Links, Site, star};
use bspkit::{Bsp, Draft, Error, ErrorKind, Followed, Hint, Place, Result, Splice};
use copy::Graph;
pub use copy::{Copied, Copying};

/// The list with the models of a map.
fn models_of(map: &Bsp<'_>, links: &Links<'_>) -> Result<usize> {
    let slot = map.role(Role::Models).ok_or_else(|| Error::new(ErrorKind::NotFound, "the map has no models"))?;
    map.row(slot)?;
    let none = || Error::new(ErrorKind::Unsupported, format!("{} has no records that are known", slot.name));
    links.site(&slot.name).ok_or_else(none)
}

/// The error for an edit of the world, or of a model that is not there.
fn check(site: &Site<'_>, model: usize) -> Result<()> {
    let (kind, message) = match (model, site.len()) {
        (0, _) => (ErrorKind::Refused, "*0 is the world, which is not a brush model of its own".to_owned()),
        (_, len) if model < len => return Ok(()),
        (_, 0 | 1) => (ErrorKind::NotFound, format!("there is no *{model}: the map has no models but the world")),
        (_, len) => (ErrorKind::NotFound, format!("there is no *{model}: the models are *1 to *{}", len - 1)),
    };
    Err(Error::new(kind, message).at(Place::default().lump(&site.name)))
}

/// Whether all references of the dialect are known, so that models can be edited.
fn are_known(map: &Bsp<'_>, links: &Links<'_>, site: usize) -> Result<()> {
    let dialect = map.dialect();
    if dialect.owned.iter().any(|lump| links.referred(lump) == Some(site)) {
        return Ok(());
    }
    let message = format!("not all references of {} maps are known, so that models cannot be edited", dialect.title);
    Err(Error::new(ErrorKind::Refused, message).at(Place::default().lump(&links.sites[site].name)))
}

/// Whether it is known what belongs to each model, in maps of this dialect.
pub fn has_known_parts(map: &Bsp<'_>) -> bool {
    map.links().is_ok_and(|links| models_of(map, &links).is_ok_and(|site| are_known(map, &links, site).is_ok()))
}

/// The pairs of an entity that name a model: the key, which of the pairs with this key it is (from 1 on), the model.
fn named(map: &Bsp<'_>, entity: &Entity<'_>) -> Vec<(&'static str, usize, i64)> {
    let lump = map.role(Role::Models).map_or("", |slot| &slot.name);
    let to_models = |reference: &&bspkit::dialect::EntityReference| {
        let is_class = reference.class.is_empty() || entity.class() == Some(reference.class.as_bytes());
        is_class && reference.lump == lump && reference.form == EntityForm::Starred
    };
    let references = map.dialect().entity_references.iter().filter(to_models);
    let pairs = references.flat_map(|reference| {
        let values = (1..).zip(entity.all(reference.key));
        values.filter_map(|(nth, value)| Some((reference.key, nth, star(value)?))).collect::<Vec<_>>()
    });
    pairs.collect()
}

// The models of a map, with what they have.

/// A brush model.
///
/// ```
/// let map = bspkit::Bsp::open("../../tests/maps/goldsrc/own_rooms.bsp")?;
/// let door = &bspkit_ops::models::list(&map)?[1];
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
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ModelEntity {
    /// Its index.
    pub index: usize,
    /// Its class; empty if it has none.
    #[cfg_attr(feature = "json", serde(flatten, serialize_with = "class"))]
    pub class: Vec<u8>,
    /// Its name for other entities (`targetname`); empty if it has none.
    #[cfg_attr(feature = "json", serde(flatten, serialize_with = "targetname", skip_serializing_if = "Vec::is_empty"))]
    pub name: Vec<u8>,
}

#[cfg(feature = "json")]
fn class<S: serde::Serializer>(class: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    bspkit::json::members(class, ["class", "class_raw"], serializer)
}

#[cfg(feature = "json")]
fn targetname<S: serde::Serializer>(name: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    bspkit::json::members(name, ["targetname", "targetname_raw"], serializer)
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
/// [`NotFound`](bspkit::ErrorKind::NotFound) if maps of the dialect have no models,
/// [`Unsupported`](bspkit::ErrorKind::Unsupported) if their struct is not known; those of a lump that cannot be read.
pub fn list(map: &Bsp<'_>) -> Result<Vec<Model>> {
    let links = map.links()?;
    let site = models_of(map, &links)?;
    // A record that names a model has no part of it.
    let owners = Owners::of(&Graph::new(&links, Some(site)), site, bspkit::bytes::short)?;
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
        let of_list = owners.list(index);
        let of_list = if list.is_paired() { &paired(of_list)[..] } else { of_list };
        for (model, count) in counts(of_list) {
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

/// Whose the records of a list of opposite pairs are: a pair goes as a whole, or not at all.
fn paired(owners: &[Owner]) -> Vec<Owner> {
    let whole = |pair: &[Owner]| match *pair {
        [one, other] if one == other => [one; 2],
        [one, Owner::Unused] | [Owner::Unused, one] => [one; 2],
        _ => [Owner::Several; 2],
    };
    owners.chunks(2).flat_map(whole).collect()
}

/// How many of these belong to each model.
fn counts(owners: &[Owner]) -> BTreeMap<usize, usize> {
    let mut counts = BTreeMap::new();
    for owner in owners {
        if let Owner::Model(model) = owner {
            *counts.entry(bspkit::bytes::index(*model)).or_default() += 1;
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
        |link: &&bspkit::links::Link| link.from == site && Some(link.to) == lump && matches!(link.how, How::Run(..));
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
                *own.entry(bspkit::bytes::index(model)).or_default() += end - range.start;
            }
        }
    }
    Ok(own)
}

// Models that go, with everything that only they have.

/// The removal of models.
///
/// ```
/// use bspkit_ops::models::{self, Removal};
/// let mut draft = bspkit::Bsp::open("../../tests/maps/goldsrc/own_rooms.bsp")?.draft();
/// let removed = Removal::default().run(&mut draft, &[2])?;
/// assert!(removed.light > 0 && removed.entities == [10]);
/// let saved = bspkit::Bsp::from_vec(draft.plan(bspkit::Layout::Keep)?.to_vec())?;
/// // Its entity went too, and the models after it have other numbers.
/// assert_eq!(saved.entities()?.get(10).unwrap().get("model"), Some(&b"*2"[..]));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[must_use]
pub struct Removal {
    entities: Entities,
    force: bool,
}

/// What becomes of the entities that name a removed model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Entities {
    /// They go too.
    #[default]
    Go,
    /// They stay, without the key.
    Stay,
    /// They need the model, which cannot go.
    Need,
}

/// What went.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Removed {
    /// The records, and what followed.
    pub followed: Followed,
    /// The entities that named a model, by the index that they had.
    pub entities: Vec<usize>,
    /// Whether they were kept, without the key that named it.
    pub is_kept: bool,
    /// The bytes of light.
    pub light: usize,
}

/// What went with records of a list.
#[derive(Clone, Debug)]
pub enum Gone {
    /// They were models, which go with all that only they have.
    Models(Removed),
    /// Other records, and what followed.
    Records(Followed),
}

/// Removes records of a list and what only they use; a model goes as [`Removal`] takes it away. With `cascade` what
/// needs them goes too. `force` is that of [`Removal::force`] and [`Structure::force`](bspkit::Structure::force).
///
/// ```
/// use bspkit_ops::models::{Gone, remove_records};
/// let mut draft = bspkit::Bsp::open("../../tests/maps/goldsrc/own_rooms.bsp")?.draft();
/// assert!(matches!(remove_records(&mut draft, "MODELS", &[2], true, false)?, Gone::Models(_)));
/// # Ok::<(), bspkit::Error>(())
/// ```
///
/// # Errors
/// As [`Removal::run`], and those of [`Structure::remove`](bspkit::Structure::remove). Then nothing is changed.
pub fn remove_records(
    draft: &mut Draft<'_>,
    list: &str,
    records: &[usize],
    cascade: bool,
    force: bool,
) -> Result<Gone> {
    if Removal::is_of(draft.bsp(), list) {
        let removal = Removal::default().force(force);
        let removal = if cascade { removal } else { removal.refuse_named() };
        return removal.run(draft, records).map(Gone::Models);
    }
    draft.structure().force(force).whole().cascade(cascade).remove(&[(list, records)]).map(Gone::Records)
}

impl Removal {
    /// Removes only the key of the entities that name a model, and not the entities. Where engines refuse a map with an
    /// entity of this class and without a model (`Dialect::class_rules`), that is refused.
    pub fn keep_entity(self, keep_entity: bool) -> Self {
        Removal { entities: if keep_entity { Entities::Stay } else { Entities::Go }, ..self }
    }

    /// Refuses to remove a model that an entity names.
    pub fn refuse_named(self) -> Self {
        Removal { entities: Entities::Need, ..self }
    }

    /// Whether the records of this list are the models of the map, and all that belongs to them is known.
    pub fn is_of(map: &Bsp<'_>, list: &str) -> bool {
        let is_it = |slot: &bspkit::Slot| slot.name.eq_ignore_ascii_case(list);
        map.role(Role::Models).is_some_and(is_it) && has_known_parts(map)
    }

    /// Refuses splices that take away models alone, and would leave their faces.
    ///
    /// # Errors
    /// [`Refused`](bspkit::ErrorKind::Refused) if the list is that of [`Removal::is_of`], and gets shorter.
    pub fn refuse_alone(map: &Bsp<'_>, list: &str, splices: &[Splice]) -> Result<()> {
        let size = map.role(Role::Models).and_then(|slot| map.row(slot).ok()?.record()).map_or(1, |record| record.size);
        let (mut old, mut new) = (0, 0);
        for splice in splices {
            (old, new) = (old + splice.range.len(), new + splice.records.len() / size);
        }
        if new >= old || !Removal::is_of(map, list) {
            return Ok(());
        }
        let message = format!("{list}: a model that goes alone leaves its faces, and what else only it has");
        let error = Error::new(ErrorKind::Refused, message).at(Place::default().lump(list));
        Err(error.with_hint("`model rm`, `records rm` and, in Python, `models.remove` take all of it away"))
    }

    /// Removes models although lumps of unknown content may refer to them or to their parts, and keeps entities that
    /// engines refuse without a model.
    pub fn force(self, force: bool) -> Self {
        Removal { force, ..self }
    }

    /// Removes models: their records, what only they use, the light and the collision models that only they have, and
    /// the entities that name them. Later models get smaller numbers, which entities follow. What nothing used
    /// before stays.
    ///
    /// # Errors
    /// [`Refused`](bspkit::ErrorKind::Refused) for the world, [`NotFound`](bspkit::ErrorKind::NotFound) for a model
    /// that is not there; those of [`Structure::remove`](bspkit::Structure::remove). Then nothing is changed.
    pub fn run(self, draft: &mut Draft<'_>, models: &[usize]) -> Result<Removed> {
        draft.transaction(|draft| self.remove(draft, models))
    }

    fn remove(self, draft: &mut Draft<'_>, models: &[usize]) -> Result<Removed> {
        let models: &BTreeSet<usize> = &models.iter().copied().collect();
        let map = draft.view()?.unwrap_or_else(|| draft.bsp().clone());
        let links = map.links()?;
        let site = models_of(&map, &links)?;
        models.iter().try_for_each(|model| check(&links.sites[site], *model))?;
        are_known(&map, &links, site)?;
        let graph = Graph::new(&links, None);
        let owners = Owners::of(&graph, site, |model| u32::from(models.contains(&model)))?;
        models.iter().try_for_each(|model| self.check_needed(&links, &owners, site, *model))?;
        let lists = lists(&map, &links, &owners);
        let is_gone = |face: usize, faces: usize| owners.list(faces).get(face) == Some(&REMOVED);
        let faces = map.role(Role::Faces).and_then(|slot| links.referred(&slot.name));
        let light = match faces {
            Some(faces) => luxels::only_of(&map, &links, |face| is_gone(face, faces))?,
            None => std::collections::BTreeMap::new(),
        };
        let (entities, warnings) = self.entities(draft, &map, models)?;
        let named: Vec<(&str, &[usize])> = lists.iter().map(|(list, records)| (list.as_str(), &records[..])).collect();
        let followed = draft.structure().force(self.force).remove(&named)?;
        let is_kept = self.entities == Entities::Stay;
        let mut removed = Removed { followed, entities, is_kept, light: 0 };
        removed.followed.warnings.extend(warnings);
        for (lump, gone) in light {
            removed.light += luxels::cut(draft, lump, &gone)?;
        }
        Ok(removed)
    }

    /// Refuses a model that a record names which stays, such as an advertisement.
    fn check_needed(self, links: &Links<'_>, owners: &Owners, site: usize, model: usize) -> Result<()> {
        if owners.list(site).get(model) == Some(&REMOVED) {
            return Ok(());
        }
        let name = &links.sites[site].name;
        let number = i64::try_from(model).ok();
        let names_it = |link: &bspkit::links::Link| {
            let from = &links.sites[link.from];
            let named = |record: &[u8]| link.named(record, links.sites[site].len()).map(|(first, _)| first);
            let at = from.records().position(|record| named(record) == number)?;
            Some(format!("{}[{at}].{}", from.name, link.field))
        };
        let by = links.links.iter().filter(|link| link.to == site).find_map(names_it);
        let by = by.unwrap_or_else(|| "a record of another model".to_owned());
        let message = format!("{name}[{model}] is still needed: by {by}");
        Err(Error::new(ErrorKind::Refused, message).at(Place::default().lump(name)))
    }

    /// Removes the entities that name the models, or takes the models from them; these entities, and warnings.
    fn entities(
        self,
        draft: &mut Draft<'_>,
        map: &Bsp<'_>,
        models: &BTreeSet<usize>,
    ) -> Result<(Vec<usize>, Vec<String>)> {
        let is_gone = |model: i64| usize::try_from(model).is_ok_and(|model| models.contains(&model));
        let (mut found, mut warnings) = (Vec::new(), Vec::new());
        for entity in map.entities()?.iter() {
            let mut pairs = named(map, &entity);
            pairs.retain(|(_, _, model)| is_gone(*model));
            if pairs.is_empty() {
                continue;
            }
            if self.entities == Entities::Need {
                let name = map.role(Role::Models).map_or("MODELS", |slot| &slot.name);
                let (key, _, model) = &pairs[0];
                let message = format!("{name}[{model}] is still needed: by ENTITIES[{}].{key}", entity.index());
                let error = Error::new(ErrorKind::Refused, message).at(Place::default().lump(name));
                return Err(error.with_hint(Hint::Cascade));
            }
            if self.entities == Entities::Stay {
                warnings.extend(self.without_model(map, &entity)?);
            }
            found.push((entity.index(), pairs));
        }
        // The first entity is the world.
        let goes = |index: usize| self.entities == Entities::Go && index > 0;
        let indices: Vec<usize> = found.iter().map(|(index, _)| *index).collect();
        for (index, pairs) in found.into_iter().filter(|(index, _)| !goes(*index)) {
            let entities = draft.entities()?;
            for (key, nth, _) in pairs.into_iter().rev() {
                entities.get_mut(index)?.unset_nth(key, nth)?;
            }
        }
        let gone: Vec<usize> = indices.iter().copied().filter(|index| goes(*index)).collect();
        if !gone.is_empty() {
            draft.entities()?.remove_all(&gone)?;
        }
        Ok((indices, warnings))
    }

    /// What is wrong with an entity that stays without its model.
    fn without_model(self, map: &Bsp<'_>, entity: &Entity<'_>) -> Result<Option<String>> {
        let classes = map.dialect().class_rules;
        let Some(class) = class_with_model(classes, entity) else { return Ok(None) };
        let (index, class) = (entity.index(), escaped(class));
        match classes.refusal {
            Some(refusal) if !self.force => {
                let message = format!(
                    "#{index}, a {class}, needs a model: engines refuse a map in which it has none ({refusal})"
                );
                Err(Error::new(ErrorKind::Refused, message)
                    .at(Place::default().lump("ENTITIES"))
                    .with_hint(Hint::Force))
            }
            Some(refusal) => Ok(Some(format!("#{index}, a {class}, has no model: engines refuse the map ({refusal})"))),
            None => Ok(Some(format!("#{index}, a {class}, has no model, without which it does nothing"))),
        }
    }
}

/// The owner of what goes: all removed models together.
const REMOVED: Owner = Owner::Model(1);

/// The records that only the removed models have, by list.
fn lists(map: &Bsp<'_>, links: &Links<'_>, owners: &Owners) -> Vec<(String, Vec<usize>)> {
    let is_owned = |site: usize| map.dialect().owned.iter().any(|lump| links.referred(lump) == Some(site));
    let mut lists = Vec::new();
    for (index, site) in links.sites.iter().enumerate() {
        // What belongs to other records by its order goes with them.
        if !is_owned(index) || site.parallel.is_some() {
            continue;
        }
        let (of, is_paired) = (owners.list(index), site.is_paired());
        let goes = |record: &usize| match is_paired {
            false => of[*record] == REMOVED,
            true => {
                let pair = &of[record / 2 * 2..record / 2 * 2 + 2];
                pair.contains(&REMOVED) && pair.iter().all(|of| [REMOVED, Owner::Unused].contains(of))
            }
        };
        let records: Vec<usize> = (site.row.order.fixed..site.len()).filter(goes).collect();
        if !records.is_empty() {
            lists.push((site.name.clone(), records));
        }
    }
    lists
}

// Which records belong to which model alone.

/// Whose a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// No model refers to it.
    Unused,
    /// The model of this number alone, or the models.
    Model(u32),
    /// Several models, or a model and something else.
    Several,
}

/// The owner of each record of each list.
struct Owners {
    of: Vec<Vec<Owner>>,
    /// How many more records of ranges may be looked at.
    budget: usize,
}

/// How often each record may be in a range, on average. In sound maps it is a few times.
const MOST_RANGES: usize = 200;

impl Owners {
    /// The owners of all records; `models` is the list of the models, and models with the same number are one owner.
    fn of(graph: &Graph<'_, '_>, models: usize, number: impl Fn(usize) -> u32) -> Result<Self> {
        let sites = &graph.links.sites;
        let total: usize = sites.iter().map(bspkit::links::Site::len).sum();
        let mut owners = Owners {
            of: sites.iter().map(|site| vec![Owner::Unused; site.len()]).collect(),
            budget: total.saturating_mul(MOST_RANGES),
        };
        for model in 0..sites[models].len() {
            owners.claim(graph, Owner::Model(number(model)), models, model)?;
        }
        // What only says that something belongs to a list does not need it.
        for (at, site) in sites.iter().enumerate().filter(|(_, site)| !site.listed) {
            for record in (0..site.len()).filter(|_| at != models) {
                if owners.of[at][record] == Owner::Unused {
                    let mut found = Vec::new();
                    graph.each(at, record, |to, range| found.push((to, range)));
                    owners.spend(found.iter().map(|(_, range)| range.len()).sum())?;
                    for (to, record) in found.into_iter().flat_map(|(to, range)| range.map(move |at| (to, at))) {
                        owners.claim(graph, Owner::Several, to, record)?;
                    }
                }
            }
        }
        Ok(owners)
    }

    /// The owners of the records of a list.
    fn list(&self, site: usize) -> &[Owner] {
        &self.of[site]
    }

    /// A record, and all that it refers to, belongs to an owner too.
    fn claim(&mut self, graph: &Graph<'_, '_>, owner: Owner, site: usize, record: usize) -> Result<()> {
        let mut open = vec![(site, record)];
        while let Some((site, record)) = open.pop() {
            let own = &mut self.of[site][record];
            *own = match *own {
                known if known == owner || known == Owner::Several => continue,
                Owner::Unused if owner == Owner::Several && graph.links.sites[site].listed => continue,
                Owner::Unused => owner,
                Owner::Model(_) | Owner::Several => Owner::Several,
            };
            let mut looked = 0;
            graph.each(site, record, |to, range| {
                looked += range.len();
                let is_open = |at: &usize| ![owner, Owner::Several].contains(&self.of[to][*at]);
                open.extend(range.filter(is_open).map(|at| (to, at)));
            });
            self.spend(looked)?;
        }
        Ok(())
    }

    fn spend(&mut self, count: usize) -> Result<()> {
        match self.budget.checked_sub(count) {
            Some(budget) => {
                self.budget = budget;
                Ok(())
            }
            None => Err(Error::new(ErrorKind::Malformed, "the records refer to each other too often: it is damaged")),
        }
    }
}
