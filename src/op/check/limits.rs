//! The engine's limits.

use super::code::LIMIT;
use super::lumps::Lumps;
use super::sink::{At, Sink};
use crate::bsp::Bsp;
use crate::bytes::word;
use crate::content::entities::Entities;
use crate::dialect::{Engine, Limit, Role, Unit};

/// Compares what the map has with the engine's limits; `entities` is their number.
pub(super) fn check(lumps: &Lumps<'_>, engine: Option<&'static Engine>, entities: Option<usize>, sink: &mut Sink) {
    let Some(engine) = engine else { return };
    for (limit, count) in counted(lumps, engine, entities).filter(|(limit, count)| *count > limit.most) {
        sink.add(&LIMIT, At::lump(limit.lump), || {
            format!("it has {count} {}; {} accepts {}", limit.unit, engine.title, limit.most)
        });
    }
}

/// The limits of an engine, with what the map has.
pub(in crate::op) fn of(bsp: &Bsp<'_>, engine: &'static Engine) -> Vec<(&'static Limit, usize)> {
    let lumps = Lumps::read(bsp, |_| true);
    let text = lumps.role_lump(Role::Entities).filter(|lump| !lump.bytes.is_empty());
    let entities = text.and_then(|text| Entities::parse(text.bytes.clone(), bsp.entity_rules()).ok());
    counted(&lumps, engine, entities.map(|entities| entities.len())).collect()
}

fn counted(
    lumps: &Lumps<'_>,
    engine: &'static Engine,
    entities: Option<usize>,
) -> impl Iterator<Item = (&'static Limit, usize)> {
    engine.limits.iter().filter_map(move |limit| {
        let lump = lumps.lump(limit.lump)?;
        let count = match limit.unit {
            Unit::Records => lumps.named(limit.lump).map(|view| view.len()),
            Unit::Bytes => Some(lump.bytes.len()),
            Unit::Entities => entities,
            Unit::FaceEdges => lumps.named(limit.lump).and_then(|faces| {
                let counts = faces.column("edge_count")?;
                (0..faces.len()).filter_map(|face| usize::try_from(counts.get(face)).ok()).max()
            }),
            // A count that does not fit the lump is another fault.
            Unit::Textures => {
                let count = word(&lump.bytes, 0).and_then(|count| usize::try_from(count).ok());
                count.filter(|count| *count <= lump.bytes.len() / 4)
            }
        };
        Some((limit, count?))
    })
}
