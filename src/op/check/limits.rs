//! The engine's limits.

use super::code::LIMIT;
use super::lumps::Lumps;
use super::sink::{At, Sink};
use crate::bytes::word;
use crate::dialect::{Engine, Unit};

/// Compares what the map has with the engine's limits; `entities` is their number.
pub(super) fn check(lumps: &Lumps<'_>, engine: Option<&'static Engine>, entities: Option<usize>, sink: &mut Sink) {
    let Some(engine) = engine else { return };
    for limit in engine.limits {
        let Some(lump) = lumps.lump(limit.lump) else { continue };
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
        if let Some(count) = count.filter(|count| *count > limit.most) {
            sink.add(&LIMIT, At::lump(lump.name), || {
                format!("it has {count} {}; {} accepts {}", limit.unit, engine.title, limit.most)
            });
        }
    }
}
