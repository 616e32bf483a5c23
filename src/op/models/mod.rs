//! Brush models: the parts of a map that entities name `*1`, `*2` and so on.
//!
//! What belongs to a model follows from the references that the dialect declares, so that nothing here knows a dialect.
//!
//! ```
//! use bspkit::op::models;
//! let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
//! let listed = models::list(&map)?;
//! assert_eq!((listed[1].faces, listed[1].entities[0].class.as_slice()), (6, &b"func_door"[..]));
//! # Ok::<(), bspkit::Error>(())
//! ```

mod closure;
mod copy;
mod graph;
mod light;
mod list;
mod outside;
mod owners;
mod remove;
mod textures;
mod transplant;

pub use copy::{Copied, Copying};
pub use list::{Model, ModelEntity, OwnRecords, list};
pub use remove::{Removal, Removed};

use crate::bsp::{Bsp, Links, Site, star};
use crate::content::entities::Entity;
use crate::dialect::{EntityForm, Role};
use crate::error::{Error, ErrorKind, Place, Result};

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

/// The pairs of an entity that name a model: the key, which of the pairs with this key it is (from 1 on), the model.
fn named(map: &Bsp<'_>, entity: &Entity<'_>) -> Vec<(&'static str, usize, i64)> {
    let lump = map.role(Role::Models).map_or("", |slot| &slot.name);
    let to_models = |reference: &&crate::dialect::EntityReference| {
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
