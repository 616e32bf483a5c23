//! Entities that a compiler turns into records: cube maps and static props.

use bspkit::bytes::bits;
use bspkit::{Bsp, Column, Records};

use super::{Pairs, are_finite, list, pair};
use crate::dress::Dress;
use crate::report::Counts;
use crate::source::Entity;

pub(super) fn cubemaps(map: &Bsp<'_>, entities: &mut Vec<Entity>, dress: &mut Dress<'_>) {
    let Some(samples) = map.any_records("CUBEMAPS") else { return };
    let Ok([origin, size]) = samples.columns(["origin", "size"]) else { return };
    for at in 0..samples.len() {
        let origin = [0, 1, 2].map(|axis| origin.item(at, axis).to_string());
        let pairs =
            vec![pair("classname", "env_cubemap"), pair("cubemapsize", size.get(at)), pair("origin", origin.join(" "))];
        entities.push(Entity { id: dress.id(), pairs, ..Entity::default() });
    }
}

/// Flags of props, and the keys that set them.
const FLAGS: [(u32, &str); 5] = [
    (8, "ignorenormals"),
    (0x10, "disableshadows"),
    (0x20, "screenspacefade"),
    (0x40, "disablevertexlighting"),
    (0x80, "disableselfshadowing"),
];
const USES_LIGHTING_ORIGIN: u32 = 2;
/// The compiler's flag of props that have no light for each texel; with the key the size of the light is read.
const NO_LIGHT_OF_TEXELS: u32 = 0x100;

/// More flags of props, of other games.
const MORE_FLAGS: [(u32, &str); 2] = [(1, "disableshadowdepth"), (4, "enablelightbounce")];

pub(super) fn props(map: &Bsp<'_>, entities: &mut Vec<Entity>, dress: &mut Dress<'_>, counts: &mut Counts) {
    let (Some(props), Ok(lens)) = (map.any_records("game:sprp.props"), map.static_props()) else { return };
    let names: Vec<&[u8]> = lens.names().collect();
    let Some(columns) = Columns::new(&props) else {
        counts.leave_out("prop", "props of this game are not read", props.len());
        return;
    };
    for number in 0..props.len() {
        let name = columns.model.index(number).and_then(|model| names.get(model));
        let Some(name) = name else {
            counts.leave_out("prop", "its model does not exist", number);
            continue;
        };
        let flags = bits(columns.flags.get(number));
        let placed = [&columns.origin, &columns.angles, &columns.fade_min, &columns.fade_max];
        // Without the flag the place of the light has any content.
        let lighting = Some(&columns.lighting_origin).filter(|_| flags & USES_LIGHTING_ORIGIN != 0);
        let more = [columns.fade_scale.as_ref(), columns.scale.as_ref(), lighting].into_iter().flatten();
        if !are_finite(&placed.into_iter().chain(more).collect::<Vec<_>>(), number) {
            counts.leave_out("prop", "its place or size is not a number", number);
            continue;
        }
        let mut pairs = columns.pairs(number, name, flags);
        if flags & USES_LIGHTING_ORIGIN != 0 {
            // The place has a name, which is gone.
            let target = format!("decompiled_lighting_{number}");
            pairs.push(pair("lightingorigin", &target));
            let place = list(columns.lighting_origin.floats::<3>(number, 0));
            let lighting = vec![pair("classname", "info_lighting"), pair("targetname", target), pair("origin", place)];
            entities.push(Entity { id: dress.id(), pairs: lighting, ..Entity::default() });
        }
        entities.push(Entity { id: dress.id(), pairs, ..Entity::default() });
    }
}

struct Columns<'r> {
    origin: Column<'r>,
    angles: Column<'r>,
    model: Column<'r>,
    solid: Column<'r>,
    flags: Column<'r>,
    skin: Column<'r>,
    fade_min: Column<'r>,
    fade_max: Column<'r>,
    lighting_origin: Column<'r>,
    fade_scale: Option<Column<'r>>,
    dx_levels: Option<Column<'r>>,
    levels: Option<Column<'r>>,
    modulation: Option<Column<'r>>,
    scale: Option<Column<'r>>,
    lightmap_size: Option<Column<'r>>,
    flags_ex: Option<Column<'r>>,
    disable_x360: Option<Column<'r>>,
}

impl<'r> Columns<'r> {
    fn new(props: &'r Records<'_>) -> Option<Self> {
        let one = |name: &str| props.column(name).ok();
        Some(Columns {
            origin: one("origin")?,
            angles: one("angles")?,
            model: one("model")?,
            solid: one("solid")?,
            flags: one("flags")?,
            skin: one("skin")?,
            fade_min: one("fade_min")?,
            fade_max: one("fade_max")?,
            lighting_origin: one("lighting_origin")?,
            fade_scale: one("fade_scale"),
            dx_levels: one("dx_levels"),
            levels: one("levels"),
            modulation: one("modulation"),
            scale: one("uniform_scale").or_else(|| one("scale")),
            lightmap_size: one("lightmap_size"),
            flags_ex: one("flags_ex"),
            disable_x360: one("disable_x360"),
        })
    }

    fn pairs(&self, number: usize, name: &[u8], flags: u32) -> Pairs {
        let mut pairs = vec![
            pair("classname", "prop_static"),
            (b"model".to_vec(), name.to_vec()),
            pair("skin", self.skin.get(number)),
            pair("solid", self.solid.get(number)),
            pair("fademindist", self.fade_min.float(number, 0)),
            pair("fademaxdist", self.fade_max.float(number, 0)),
        ];
        if let Some(scale) = self.fade_scale {
            pairs.push(pair("fadescale", scale.float(number, 0)));
        }
        for (bit, key) in FLAGS {
            pairs.push(pair(key, u8::from(flags & bit != 0)));
        }
        let more = self.flags_ex.map_or(0, |more| bits(more.get(number)));
        pairs.extend(MORE_FLAGS.iter().filter(|(bit, _)| more & bit != 0).map(|(_, key)| pair(key, 1)));
        if self.lightmap_size.is_some() {
            pairs.push(pair("generatelightmaps", u8::from(flags & NO_LIGHT_OF_TEXELS == 0)));
        }
        let mut numbers = |column: Option<Column<'_>>, keys: &[&str]| {
            if let Some(column) = column {
                pairs.extend(keys.iter().enumerate().map(|(item, key)| pair(key, column.item(number, item))));
            }
        };
        numbers(self.dx_levels, &["mindxlevel", "maxdxlevel"]);
        numbers(self.levels, &["mincpulevel", "maxcpulevel", "mingpulevel", "maxgpulevel"]);
        numbers(self.disable_x360, &["disableX360"]);
        numbers(self.lightmap_size, &["lightmapresolutionx", "lightmapresolutiony"]);
        if let Some(color) = self.modulation {
            let [red, green, blue, alpha] = [0, 1, 2, 3].map(|item| color.item(number, item));
            pairs.push(pair("rendercolor", format!("{red} {green} {blue}")));
            pairs.push(pair("renderamt", alpha));
        }
        if let Some(scale) = self.scale {
            match scale.items() {
                1 => pairs.push(pair("uniformscale", scale.float(number, 0))),
                _ => pairs.push(pair("modelscale", list(scale.floats::<3>(number, 0)))),
            }
        }
        pairs.push(pair("angles", list(self.angles.floats::<3>(number, 0))));
        pairs.push(pair("origin", list(self.origin.floats::<3>(number, 0))));
        pairs
    }
}
