//! The engine's limits, and how much of them a map uses.

use super::code::LIMIT;
use super::lumps::Lumps;
use super::sink::{At, Sink};
use crate::bsp::Bsp;
use crate::bytes::{amount, word};
use crate::content::entities::Entities;
use crate::dialect::{Engine, Limit, Role, Spawn, Unit, Whose};

/// How much of a limit a map uses: [`usage`].
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let usages = bspkit::op::check::usage(&map, map.dialect().engine_by_name("quake2")?);
/// assert!(usages.iter().all(|usage| usage.percent() < 3.0));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// The limit.
    pub limit: &'static Limit,
    /// What the map has, in the limit's unit.
    pub count: usize,
    /// The size of a unit in bytes, if all units have one size: of a record, or of a byte.
    pub unit_bytes: Option<usize>,
}

impl Usage {
    /// The used part of the limit, in percent.
    pub fn percent(&self) -> f64 {
        100.0 * amount(self.count) / amount(self.limit.most.max(1))
    }
}

/// Compares what the map has with the engine's limits.
pub(super) fn check(
    lumps: &Lumps<'_>,
    engine: Option<&'static Engine>,
    entities: Option<&Entities<'_>>,
    sink: &mut Sink,
) {
    if let Some(engine) = engine {
        check_these(lumps, engine, engine.limits.iter(), entities, sink);
    }
}

/// As [`check`], with some of the engine's limits.
pub(super) fn check_these(
    lumps: &Lumps<'_>,
    engine: &'static Engine,
    limits: impl Iterator<Item = &'static Limit>,
    entities: Option<&Entities<'_>>,
    sink: &mut Sink,
) {
    for Usage { limit, count, .. } in counted(lumps, limits, entities).filter(|it| it.count > it.limit.most) {
        sink.add(&LIMIT, At::lump(limit.lump), || {
            let has = format!("it has {count} {}", limit.unit);
            match limit.whose {
                Whose::Compiler => format!("{has}; compilers for {} accept {}", engine.title, limit.most),
                _ if limit.unit == Unit::InGame => format!("{has}; {} has room for {}", engine.title, limit.most),
                _ => format!("{has}; {} accepts {}", engine.title, limit.most),
            }
        });
    }
}

/// The limits of an engine, in the order of its table, with what the map has of each. Limits of lumps that the map does
/// not have, or that cannot be read, are left out.
///
/// ```
/// use bspkit::Bsp;
/// use bspkit::op::check;
/// let map = Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let engine = map.dialect().engine_by_name("quake2")?;
/// let usages = check::usage(&map, engine);
/// let entities = usages.iter().find(|usage| usage.limit.most == 2_048).unwrap();
/// assert_eq!(entities.count, 20);
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn usage(bsp: &Bsp<'_>, engine: &'static Engine) -> Vec<Usage> {
    let lumps = Lumps::read(bsp, |_| true);
    let text = lumps.role_lump(Role::Entities).filter(|lump| !lump.bytes.is_empty());
    let entities = text.and_then(|text| Entities::parse(text.bytes.clone(), bsp.entity_rules()).ok());
    counted(&lumps, engine.limits.iter(), entities.as_ref()).collect()
}

/// The number of entities that the game keeps, in the game mode with the most. The first entity is the world, which
/// has a place of its own.
fn in_game(spawn: &Spawn, entities: &Entities<'_>) -> usize {
    let modes = (spawn.mode_flags.len() + spawn.mode_keys.len()).max(1);
    let mut kept = vec![0; modes];
    for entity in entities.iter().skip(1) {
        let is = |names: &[&str]| {
            entity.class().is_some_and(|class| names.iter().any(|name| class.eq_ignore_ascii_case(name.as_bytes())))
        };
        let has_name = entity.get("targetname").is_some_and(|name| !name.is_empty());
        if is(spawn.removed) || (!has_name && is(spawn.removed_without_name)) {
            continue;
        }
        let flags = entity.get("spawnflags").map_or(0, leading_integer);
        let by_flag = spawn.mode_flags.iter().map(|bit| flags & bit != 0);
        let by_key = spawn.mode_keys.iter().map(|key| entity.get(key).is_some_and(|value| leading_integer(value) != 0));
        let mut left_out = by_flag.chain(by_key);
        for mode in &mut kept {
            *mode += usize::from(!left_out.next().unwrap_or(false));
        }
    }
    kept.into_iter().max().unwrap_or(0)
}

/// The number at the start of a value, as `atoi` reads it; 0 without one.
fn leading_integer(value: &[u8]) -> i64 {
    let text = value.trim_ascii_start();
    let sign = usize::from(matches!(text.first(), Some(b'-' | b'+')));
    let end = text[sign..].iter().position(|byte| !byte.is_ascii_digit()).map_or(text.len(), |end| sign + end);
    std::str::from_utf8(&text[..end]).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn counted<'a>(
    lumps: &'a Lumps<'_>,
    limits: impl Iterator<Item = &'static Limit> + 'a,
    entities: Option<&'a Entities<'_>>,
) -> impl Iterator<Item = Usage> + 'a {
    limits.filter_map(move |limit| {
        let lump = lumps.lump(limit.lump)?;
        let count = match limit.unit {
            Unit::Records => lumps.named(limit.lump).map(|view| view.len()),
            Unit::Bytes => Some(lumps.bsp.len(lump.slot)),
            Unit::Entities => entities.map(Entities::len),
            Unit::InGame => entities.map(|entities| in_game(&lumps.bsp.dialect().checks.spawn, entities)),
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
        let unit_bytes = match limit.unit {
            Unit::Records => lumps.named(limit.lump).map(|view| view.record.size),
            Unit::Bytes => Some(1),
            Unit::Entities | Unit::InGame | Unit::FaceEdges | Unit::Textures => None,
        };
        Some(Usage { limit, count: count?, unit_bytes })
    })
}
