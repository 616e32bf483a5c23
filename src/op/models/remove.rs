//! Models that go, with everything that only they have.

use std::collections::BTreeSet;

use super::graph::Graph;
use super::owners::{Owner, Owners};
use super::{are_known, check, models_of, named};
use crate::bsp::{Bsp, Links};
use crate::bytes::escaped;
use crate::content::entities::Entity;
use crate::dialect::Role;
use crate::draft::{Draft, Followed};
use crate::error::{Error, ErrorKind, Hint, Place, Result};
use crate::op::luxels;

/// The removal of models.
///
/// ```
/// use bspkit::op::models::{self, Removal};
/// let mut draft = bspkit::Bsp::open("tests/maps/goldsrc/own_rooms.bsp")?.draft();
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

impl Removal {
    /// Removes only the key of the entities that name a model, and not the entities. Where engines refuse a map with an
    /// entity of this class and without a model (`Dialect::brush_classes`), that is refused.
    pub fn keep_entity(self, keep_entity: bool) -> Self {
        Removal { entities: if keep_entity { Entities::Stay } else { Entities::Go }, ..self }
    }

    /// Refuses to remove a model that an entity names.
    pub fn refuse_named(self) -> Self {
        Removal { entities: Entities::Need, ..self }
    }

    /// Whether the records of this list are the models of the map, and all that belongs to them is known.
    pub fn is_of(map: &Bsp<'_>, list: &str) -> bool {
        let is_it = |slot: &crate::Slot| slot.name.eq_ignore_ascii_case(list);
        map.role(Role::Models).is_some_and(is_it)
            && map
                .links()
                .is_ok_and(|links| models_of(map, &links).is_ok_and(|site| are_known(map, &links, site).is_ok()))
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
    /// [`Refused`](crate::ErrorKind::Refused) for the world, [`NotFound`](crate::ErrorKind::NotFound) for a model that
    /// is not there; those of [`Structure::remove`](crate::Structure::remove). Then nothing is changed.
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
        let graph = Graph::new(&links);
        let owners = Owners::of(&graph, site, |model| u32::from(models.contains(&model)))?;
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
        let (classes, class) = (map.dialect().brush_classes, entity.class().unwrap_or_default());
        if !classes.needs(class) {
            return Ok(None);
        }
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
