//! The things in the room: entities, static props, details.

use bspkit::dialect::source::{ColorRgbExp32, DetailObject, DetailSprite, StaticPropV4};
use bspkit::record::Record;

use crate::geometry::HALVES;
use crate::records::{bytes, longs, shorts, zeros};

/// The entity text, as compilers print it. A relay has several outputs under one key; `separator` divides their parts.
pub(crate) fn entities(map: &str, separator: char) -> String {
    let output = |target: &str, input: &str, delay: &str| [target, input, "", delay, "-1"].join(&separator.to_string());
    let relay = [output("door_1", "Open", "0"), output("lamp_1", "TurnOn", "0.5"), output("door_1", "Close", "4")];
    let message = format!("a room ({map}), own fixture");
    let entities: [&[(&str, &str)]; 7] = [
        &[
            ("world_maxs", "272 208 80"),
            ("world_mins", "-272 -208 -80"),
            ("detailmaterial", "detail/own_details"),
            ("detailvbsp", "own_details.vbsp"),
            ("maxpropscreenwidth", "-1"),
            ("skyname", "sky_own_01"),
            ("mapversion", "7"),
            ("hammerid", "1"),
            ("message", &message),
            ("classname", "worldspawn"),
        ],
        &[("origin", "-128 0 -60"), ("angles", "0 0 0"), ("hammerid", "20"), ("classname", "info_player_start")],
        &[("origin", "-128 0 48"), ("_light", "255 243 204 200"), ("hammerid", "22"), ("classname", "light")],
        &[
            ("origin", "128 0 48"),
            ("_light", "255 243 204 200"),
            ("targetname", "lamp_1"),
            ("style", "32"),
            ("hammerid", "24"),
            ("classname", "light"),
        ],
        &[
            ("model", "*1"),
            ("targetname", "door_1"),
            ("origin", "0 128 -16"),
            ("movedir", "0 90 0"),
            ("speed", "100"),
            ("OnFullyOpen", &relay[2]),
            ("hammerid", "26"),
            ("classname", "func_door"),
        ],
        &[
            ("origin", "64 64 0"),
            ("targetname", "relay_1"),
            ("OnTrigger", &relay[0]),
            ("OnTrigger", &relay[1]),
            ("OnTrigger", &relay[2]),
            ("OnTrigger", &relay[2]),
            ("hammerid", "28"),
            ("classname", "logic_relay"),
        ],
        &[("origin", "100 100 40"), ("targetname", "spot_1"), ("hammerid", "30"), ("classname", "info_target")],
    ];
    let line = |(key, value): &(&str, &str)| format!("\"{key}\" \"{value}\"\n");
    let entity = |pairs: &[(&str, &str)]| format!("{{\n{}}}\n", pairs.iter().map(line).collect::<String>());
    entities.into_iter().map(entity).collect::<String>() + "\0"
}

/// The files of the map.
pub(crate) fn files(map: &str) -> Vec<(String, String)> {
    let material = "\"patch\"\n{\n\t\"include\" \"materials/own/wall.vmt\"\n\t\"insert\"\n\t{\n\t\t\"$envmap\" \
                    \"maps/MAP/c0_0_0\"\n\t}\n}\n";
    let notes = "The same line again makes this file compress well.\n".repeat(12);
    vec![
        (format!("materials/maps/{map}/own/wall_0_0_0.vmt"), material.replace("MAP", map)),
        ("materials/own/wall.vmt".to_owned(), "\"LightmappedGeneric\"\n{\n\t\"$basetexture\" \"own/wall\"\n}\n".into()),
        (format!("maps/{map}.txt"), notes),
    ]
}

/// A name of 128 bytes. The bytes after its NUL are left over from other data, as in real maps.
fn name(text: &str, left: &[u8]) -> Vec<u8> {
    let mut name = [text.as_bytes(), &[0], left].concat();
    name.resize(128, 0);
    name
}

/// Static props of version 5, 6, 9 or 13.
pub(crate) fn static_props(version: u16) -> Vec<u8> {
    let [east, west] = HALVES;
    // An odd number of leafs: the next list is not at a multiple of 4.
    let leafs = [west, east, west];
    let common = [
        StaticPropV4 { origin: [-64.0, 0.0, -64.0], angles: [0.0, 45.0, 0.0], leaf_count: 1, solid: 6, ..zeros() },
        StaticPropV4 { origin: [0.0, 64.0, -64.0], leaf_count: 2, first_leaf: 1, solid: 6, flags: 1, ..zeros() },
        StaticPropV4 { origin: [64.0, 0.0, 60.0], model: 1, leaf_count: 1, first_leaf: 1, skin: 1, ..zeros() },
    ];
    let prop = |(index, prop): (usize, &StaticPropV4)| {
        let (fade_min, fade_max) = if prop.flags & 1 == 1 { (600.0, 800.0) } else { (-1.0, 0.0) };
        let mut bytes = StaticPropV4 { fade_min, fade_max, lighting_origin: prop.origin, ..*prop }.encode();
        bytes.extend(1.0_f32.to_le_bytes());
        match version {
            6 => bytes.extend(shorts(&[0, 0])),
            9 | 13 => {
                bytes.extend([0; 4]);
                // White, for all consoles; the padding of a byte to four is never written.
                bytes.extend([[255; 4], [0, 0x5C, 0x80, index as u8]].concat());
            }
            _ => {}
        }
        if version == 13 {
            // No more flags, and a size in each direction.
            bytes.extend([&[0; 4][..], &[1.0_f32, 1.5, 2.0].map(f32::to_le_bytes).concat()].concat());
        }
        bytes
    };
    let props: Vec<u8> = common.iter().enumerate().flat_map(prop).collect();
    let names = [name("models/own/crate.mdl", b""), name("models/own/lamp.mdl", b"es/own/lampshade.mdl\0")];
    let leafs = if version == 13 { longs(&leafs.map(i32::from)) } else { shorts(&leafs) };
    [longs(&[2]), names.concat(), longs(&[3]), leafs, longs(&[3]), props].concat()
}

/// Details: two blades of grass.
pub(crate) fn details() -> Vec<u8> {
    let sprite = DetailSprite {
        upper_left: [-8.0, 16.0],
        lower_right: [8.0, 0.0],
        texture_upper_left: [0.0, 0.0],
        texture_lower_right: [0.5, 0.5],
    };
    let blade = |x: f32, garbage: u8| DetailObject {
        origin: [x, -100.0, -64.0],
        leaf: HALVES[0],
        lighting: ColorRgbExp32 { red: 80, green: 90, blue: 60, exponent: 0 },
        first_style: 0xFFFF_FFFF,
        sway: 10,
        orientation: 2,
        padding: [garbage; 3],
        kind: 1,
        more_padding: [0, garbage, 0],
        scale: 1.0,
        ..zeros()
    };
    let blades = [blade(100.0, 0), blade(140.0, 0xCD)];
    [longs(&[1]), name("models/own/grass.mdl", b""), longs(&[1]), sprite.encode(), longs(&[2]), bytes(&blades)].concat()
}
