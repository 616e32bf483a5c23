//! A model of another map, with all that it needs.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::closure::{needed, refused};
use super::graph::Graph;
use super::outside::Outside;
use super::transplant::Transplant;
use super::{are_known, check, models_of, named};
use crate::bsp::Bsp;
use crate::bytes::escaped;
use crate::content::pak::Pak;
use crate::draft::Draft;
use crate::error::{Error, ErrorKind, Hint, Result};

/// The copy of a model from another map.
///
/// ```
/// use bspkit::op::models::{self, Copying};
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let mut draft = map.draft();
/// // A map may be copied from itself, too.
/// let copied = Copying::default().run(&mut draft, &map, 1)?;
/// assert_eq!((copied.model, copied.entities.len()), (5, 1));
/// let saved = bspkit::Bsp::from_vec(draft.plan(bspkit::Layout::Keep)?.to_vec())?;
/// assert_eq!(models::list(&saved)?[5].faces, 6);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Copying {
    entities: NewEntities,
    force: bool,
}

/// The entities that a copied model gets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum NewEntities {
    /// Copies of those of the other map.
    #[default]
    Theirs,
    /// One of this class, with no other keys.
    Class(Vec<u8>),
    /// None.
    Without,
}

/// What was copied.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Copied {
    /// The number of the new model.
    pub model: usize,
    /// The new entities, by index.
    pub entities: Vec<usize>,
    /// How many records were added, by list.
    pub records: Vec<(String, usize)>,
    /// The bytes of light.
    pub light: usize,
    /// The names of textures that were added.
    pub textures: Vec<Vec<u8>>,
    /// What is missing, and what may be wrong after a copy that was forced.
    pub warnings: Vec<String>,
}

impl Copying {
    /// Makes an entity of this class for the model, in place of copies of the other map's entities.
    pub fn class(self, class: impl AsRef<[u8]>) -> Self {
        Copying { entities: NewEntities::Class(class.as_ref().to_vec()), ..self }
    }

    /// Makes no entity for the model.
    pub fn without_entity(self) -> Self {
        Copying { entities: NewEntities::Without, ..self }
    }

    /// Copies a model although it exceeds a limit of an engine.
    pub fn force(self, force: bool) -> Self {
        Copying { force, ..self }
    }

    /// Copies a model of a map into another one of the same dialect, with all that it refers to. Planes, texinfo,
    /// shaders and other records that are equal in both maps are not added again, and neither are textures with the
    /// same name. Everything is added after what is there, so that no number changes.
    ///
    /// # Errors
    /// [`Refused`](crate::ErrorKind::Refused) for a map of another dialect or version, a collision model in a form that
    /// is not known or with materials of its map, light in files beside the map, numbers that do not fit, records that
    /// engines have no room for, and references that are damaged; [`NotFound`](crate::ErrorKind::NotFound) for a model
    /// that is not there. Then nothing is changed.
    pub fn run(self, draft: &mut Draft<'_>, from: &Bsp<'_>, model: usize) -> Result<Copied> {
        draft.transaction(|draft| self.copy(draft, from, model))
    }

    fn copy(self, draft: &mut Draft<'_>, from: &Bsp<'_>, model: usize) -> Result<Copied> {
        let map = draft.view()?.unwrap_or_else(|| draft.bsp().clone());
        let (own_links, their_links) = (map.links()?, from.links()?);
        let (own_models, models) = (models_of(&map, &own_links)?, models_of(from, &their_links)?);
        check(&their_links.sites[models], model)?;
        are_alike(&map, from)?;
        are_known(&map, &own_links, own_models)?;
        let (own, theirs) = (Graph::new(&own_links), Graph::new(&their_links));
        let needed = needed(from, &theirs, models, model)?;
        let mut work = Transplant {
            from,
            to: &map,
            theirs: &theirs,
            own: &own,
            models,
            needed,
            sites: BTreeMap::new(),
            places: HashMap::new(),
            added: BTreeMap::new(),
            warnings: Vec::new(),
        };
        work.find_lists()?;
        let sites: BTreeSet<usize> = work.needed.keys().copied().collect();
        let mut outside = Outside::new(from, &map, &their_links, &sites)?;
        work.put(&mut outside)?;
        work.limits(self.force)?;
        let number = own_links.sites[own_models].len();
        let mut lumps = work.lumps()?;
        lumps.extend(outside.light.lumps(&own_links, &their_links)?);
        lumps.extend(outside.textures.lump());
        lumps.extend(outside.names.lump());
        let warnings = work.blocks(&mut lumps, model, number)?;
        work.warnings.extend(warnings);
        let copy = outside.light.is_in_copy().filter(|_| !outside.unlit.is_empty());
        if let Some(lump) = copy.filter(|_| !self.force) {
            let message = format!("the light of one of the maps is in {lump} alone, from where it is not copied");
            return Err(refused(lump, message).with_hint(Hint::Force));
        }
        for (list, count) in &outside.unlit {
            let why = match copy {
                Some(lump) => format!("it is in {lump} alone, from where it is not copied"),
                None if outside.light.is_dark() => "the map has no light".to_owned(),
                None => "it cannot be read".to_owned(),
            };
            work.warnings.push(format!("the light of {count} records of {list} is left out: {why}"));
        }
        let records = work.added.iter().map(|(own, added)| {
            let site = &own_links.sites[*own];
            (site.name.clone(), added.len() / site.record.size)
        });
        let mut copied = Copied {
            model: number,
            entities: Vec::new(),
            records: records.filter(|(_, count)| *count > 0).collect(),
            light: outside.light.bytes(),
            textures: [&outside.textures.names[..], &outside.names.names].concat(),
            warnings: std::mem::take(&mut work.warnings),
        };
        copied.warnings.extend(left_behind(from, &map, &outside.names.names));
        lumps.into_iter().try_for_each(|(slot, bytes)| draft.set_little_endian(slot, bytes))?;
        copied.entities = self.entities(draft, from, model, number)?;
        Ok(copied)
    }

    /// The new entities, by index.
    fn entities(&self, draft: &mut Draft<'_>, from: &Bsp<'_>, model: usize, number: usize) -> Result<Vec<usize>> {
        let name = format!("*{number}");
        let texts = from.entities()?;
        let mut new: Vec<Vec<(Vec<u8>, Vec<u8>)>> = Vec::new();
        match &self.entities {
            NewEntities::Without => {}
            NewEntities::Class(class) => {
                new.push(vec![(b"classname".to_vec(), class.clone()), (b"model".to_vec(), name.into_bytes())]);
            }
            NewEntities::Theirs => {
                for entity in texts.iter() {
                    let pairs = named(from, &entity);
                    let keys: Vec<&str> = pairs
                        .iter()
                        .filter(|(_, _, of)| usize::try_from(*of) == Ok(model))
                        .map(|(key, ..)| *key)
                        .collect();
                    if keys.is_empty() {
                        continue;
                    }
                    let is_it = |key: &[u8], value: &[u8]| {
                        keys.iter().any(|known| known.as_bytes() == key) && value == format!("*{model}").as_bytes()
                    };
                    let pair = |key: &[u8], value: &[u8]| {
                        let value = if is_it(key, value) { name.as_bytes() } else { value };
                        (key.to_vec(), value.to_vec())
                    };
                    new.push(entity.pairs().map(|own| pair(own.key, own.value)).collect());
                }
            }
        }
        let mut indices = Vec::new();
        for pairs in new {
            indices.push(draft.entities()?.add(pairs)?);
        }
        Ok(indices)
    }
}

/// Materials that only the other map's pakfile has.
fn left_behind(from: &Bsp<'_>, map: &Bsp<'_>, names: &[Vec<u8>]) -> Vec<String> {
    let Ok(theirs) = from.lens::<Pak<'_>>() else { return Vec::new() };
    let own = map.lens::<Pak<'_>>().ok();
    let file = |name: &Vec<u8>| [b"materials/", &name[..], b".vmt"].concat().to_ascii_lowercase();
    let is_left =
        |file: &Vec<u8>| !theirs.find(file).is_empty() && own.as_ref().is_none_or(|own| own.find(file).is_empty());
    let warning = |file: Vec<u8>| format!("{} is in the other map's pakfile, and is not copied", escaped(&file));
    names.iter().map(file).filter(is_left).map(warning).collect()
}

/// Whether a model of one map can be in the other.
fn are_alike(map: &Bsp<'_>, from: &Bsp<'_>) -> Result<()> {
    let name =
        |map: &Bsp<'_>| format!("{} (version {})", map.dialect().title, map.dialect().version_name(map.version()));
    let alike = map.dialect() == from.dialect() && map.version() == from.version();
    let message = || format!("the map is of {}, and the other one of {}", name(map), name(from));
    if !alike {
        return Err(Error::new(ErrorKind::Refused, message()));
    }
    Ok(())
}
