//! Entities and props with their places.

use bspkit::bytes::{escaped, rounded};
use bspkit::content::View;
use bspkit::content::entities::{Entities, Entity};
use bspkit::json::text_and_raw;
use bspkit::{Bsp, ErrorKind, Place};

use crate::builder::{ENTITY, Findings, OVERLAY};
use crate::placed::{Placed, What};
use crate::points::is_near;

/// The entities and props of a map.
pub(crate) fn read<'a>(
    map: &Bsp<'a>,
    models: usize,
    findings: &mut Findings,
) -> (Vec<Placed>, Option<View<Entities<'a>>>) {
    let (mut placed, mut found) = (Vec::new(), None);
    match map.entities() {
        Ok(entities) => {
            placed.extend(entities.iter().map(|entity| self::placed(map, &entity, models)));
            found = Some(entities);
        }
        Err(error) => findings.fail(&ENTITY, &error),
    }
    match map.static_props() {
        Ok(props) => {
            let records = map.any_records("game:sprp.props");
            let column = |name: &str| records.as_ref()?.column(name).ok();
            let scales = column("uniform_scale").or_else(|| column("scale"));
            let names: Vec<String> = props.names().map(|name| escaped(name).to_string()).collect();
            let all = || (0..props.len()).filter_map(|index| Some((index, props.get(index)?)));
            for (index, _) in all().filter(|(_, prop)| !is_near(prop.origin)) {
                let place = Place::default().lump("game:sprp").record(index);
                findings.add(&ENTITY, place, "it is at no place of the world, and shown at 0 0 0");
            }
            placed.extend(all().map(|(index, prop)| Placed {
                what: What::Prop,
                index,
                name: names.get(usize::from(prop.model)).cloned().unwrap_or_default(),
                pairs: vec![
                    ("skin".to_owned(), prop.skin.to_string()),
                    ("solid".to_owned(), prop.solid.to_string()),
                    ("flags".to_owned(), prop.flags.to_string()),
                ],
                origin: near(prop.origin),
                angles: finite(prop.angles),
                scale: scales.map_or([1.0; 3], |scales| match scales.items() {
                    1 => scale([scales.float(index, 0); 3]),
                    _ => scale(scales.floats(index, 0)),
                }),
                model: None,
            }));
        }
        // Maps without props are as usual as maps of games that have none.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Unsupported) => {}
        Err(error) => findings.fail(&ENTITY, &error),
    }
    placed.extend(static_models(map));
    for lump in ["OVERLAYS", "WATEROVERLAYS"] {
        let count = map.any_records(lump).map_or(0, |overlays| overlays.len());
        if count > 0 {
            let plural = if count == 1 { "overlay is" } else { "overlays are" };
            findings.add(&OVERLAY, Place::default().lump(lump), format!("{count} {plural} not shown"));
        }
    }
    (placed, found)
}

/// Classes of places where players begin, the best first.
const STARTS: [&str; 3] = ["info_player_start", "info_player_deathmatch", "info_player_"];
/// A place that only the camera takes.
const CAMERA: &str = "info_player_intermission";

/// The eyes of a player where the game begins, and how far they look to the left of east, in degrees.
pub(crate) fn start(map: &Bsp<'_>, placed: &[Placed]) -> Option<[f32; 4]> {
    let is_of = |class: &&str| {
        let is_start = |name: &str| name.starts_with(*class) && name != CAMERA;
        placed.iter().find(|placed| placed.what == What::Entity && is_start(&placed.name))
    };
    let placed = STARTS.iter().find_map(is_of)?;
    let [x, y, z] = placed.origin;
    Some([x, y, z + map.dialect().class_rules.eyes, placed.angles[1]])
}

/// The static models of Medal of Honor.
fn static_models(map: &Bsp<'_>) -> Vec<Placed> {
    let Some(models) = map.any_records("STATICMODELDEF") else { return Vec::new() };
    let Ok([origin, angles, scale]) = models.columns(["origin", "angles", "scale"]) else { return Vec::new() };
    let name = |index: usize| {
        let field = models.info().field("model")?;
        let bytes = models.get(index)?.get(field.offset..field.offset + field.shape.size())?;
        Some(escaped(bytes.split(|byte| *byte == 0).next()?).to_string())
    };
    let placed = |index: usize| Placed {
        what: What::Prop,
        index,
        name: name(index).unwrap_or_default(),
        pairs: Vec::new(),
        origin: near(origin.floats(index, 0)),
        angles: finite(angles.floats(index, 0)),
        scale: self::scale([scale.float(index, 0); 3]),
        model: None,
    };
    (0..models.len()).map(placed).collect()
}

fn placed(map: &Bsp<'_>, entity: &Entity<'_>, models: usize) -> Placed {
    let class = entity.class().map(|class| escaped(class).to_string()).unwrap_or_default();
    // As JSON has them elsewhere: only what is no text is escaped.
    let text = |bytes: &[u8]| text_and_raw(bytes).0.into_owned();
    let pairs = entity.pairs().map(|pair| (text(pair.key), text(pair.value)));
    let values = entity.record_values(map.dialect());
    let is_model = |lump: &str| map.role(bspkit::dialect::Role::Models).is_some_and(|slot| slot.name == lump);
    let numbers = values.iter().filter(|value| is_model(value.reference.lump));
    let number = numbers.filter_map(|value| usize::try_from(value.number).ok()).find(|number| *number < models);
    let model = if entity.index() == 0 && entity.is_world() { Some(0) } else { number };
    Placed {
        what: What::Entity,
        index: entity.index(),
        name: class,
        pairs: pairs.collect(),
        origin: entity.vector("origin").map_or([0.0; 3], |origin| near(origin.map(rounded))),
        angles: if model.is_some() { [0.0; 3] } else { angles(entity) },
        scale: [1.0; 3],
        model,
    }
}

/// Pitch, yaw and roll of an entity. An `angle` of -1 and -2 is up and down, and no turn.
fn angles(entity: &Entity<'_>) -> [f32; 3] {
    let yaw = || entity.number("angle").filter(|yaw| *yaw >= 0.0).map(|yaw| [0.0, yaw, 0.0]);
    let found = entity.vector("angles").or_else(yaw).unwrap_or_default();
    finite(found.map(rounded))
}

/// A place within the world; the origin for any other.
fn near(point: [f32; 3]) -> [f32; 3] {
    if is_near(point) { point } else { [0.0; 3] }
}

/// A size that can be shown; that of the model for any other.
fn scale(scale: [f32; 3]) -> [f32; 3] {
    if scale.iter().all(|part| (1e-3..1e3).contains(part)) { scale } else { [1.0; 3] }
}

fn finite(angles: [f32; 3]) -> [f32; 3] {
    if angles.iter().all(|angle| angle.is_finite()) { angles } else { [0.0; 3] }
}
