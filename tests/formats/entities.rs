//! The laws of entity text, over hostile bytes and over the oddities of shipped maps.

mod cases;
mod engines;
mod laws;
mod real;

use crate::{corpus, random};
use bspkit::content::entities::{Entities, Entity};
use bspkit::dialect::EntityRules;

fn parse(text: &[u8]) -> Entities<'_> {
    Entities::parse(text, EntityRules::SOURCE.for_any_engine()).unwrap()
}

fn pairs(entities: &Entities<'_>) -> Vec<Vec<(Vec<u8>, Vec<u8>)>> {
    let pairs = |entity: Entity<'_>| entity.pairs().map(|pair| (pair.key.to_vec(), pair.value.to_vec())).collect();
    entities.iter().map(pairs).collect()
}
