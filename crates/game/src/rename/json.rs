//! A renaming of a map as JSON.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{Renamed, Spot};
use bspkit::json::text_and_raw;

/// What a renaming changes and leaves, in JSON.
///
/// ```
/// use bspkit_game::rename::{Rename, RenamedJson};
/// let mut draft = bspkit::Bsp::open("../../tests/maps/source/room_v20.bsp")?.draft();
/// let renamed = Rename::new("room_v20", "own_arena")?.apply(&mut draft)?;
/// let json = serde_json::to_value(RenamedJson::new(&renamed)).unwrap();
/// assert_eq!((&json["old"], &json["new"]), (&"room_v20".into(), &"own_arena".into()));
/// assert_eq!(json["changes"][2]["to"], "maps/own_arena/c0_0_0");
/// assert_eq!(json["left"][0]["key"], "message");
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct RenamedJson {
    old: String,
    new: String,
    changes: Vec<Value>,
    left: Vec<Value>,
    more_left: usize,
    other_maps: Vec<Value>,
    respelled: usize,
    problems: Vec<String>,
}

impl RenamedJson {
    /// The JSON of a renaming.
    pub fn new(renamed: &Renamed) -> Self {
        let changes = renamed.changes.iter().map(|change| {
            let mut object = place(&change.place);
            put(&mut object, "from", &change.from);
            put(&mut object, "to", &change.to);
            Value::Object(object)
        });
        let left = renamed.left.iter().map(|left| {
            let mut object = place(&left.place);
            put(&mut object, "text", &left.text);
            Value::Object(object)
        });
        let other_maps = renamed.others.iter().map(|owner| {
            let name = text_and_raw(&owner.name).0;
            json!({"name": name, "files": owner.files, "textures": owner.textures})
        });
        RenamedJson {
            old: text_and_raw(&renamed.old).0.into_owned(),
            new: text_and_raw(&renamed.new).0.into_owned(),
            changes: changes.collect(),
            left: left.collect(),
            more_left: renamed.more_left,
            other_maps: other_maps.collect(),
            respelled: renamed.respelled,
            problems: renamed.problems.iter().map(ToString::to_string).collect(),
        }
    }
}

/// The members for a place.
fn place(place: &Spot) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("what".to_owned(), place.kind().into());
    let mut number = |name: &str, number: usize| drop(object.insert(name.to_owned(), number.into()));
    match place {
        Spot::File(index) => number("index", *index),
        Spot::Text { line, .. } => number("line", *line),
        Spot::Bytes { offset, .. } => number("offset", *offset),
        Spot::Texture { index, .. } | Spot::Model { index, .. } | Spot::Entity { index, .. } => number("index", *index),
    }
    match place {
        Spot::Text { file, .. } | Spot::Bytes { file, .. } => put(&mut object, "file", file),
        Spot::Texture { lump, .. } => put(&mut object, "lump", lump.as_bytes()),
        Spot::Model { lump, .. } => put(&mut object, "lump", lump.as_bytes()),
        Spot::Entity { key, .. } => put(&mut object, "key", key),
        Spot::File(_) => {}
    }
    object
}

/// Adds bytes as text; those that are not UTF-8 also in base64.
fn put(object: &mut Map<String, Value>, name: &str, bytes: &[u8]) {
    let (text, raw) = text_and_raw(bytes);
    object.insert(name.to_owned(), text.into());
    object.extend(raw.map(|raw| (format!("{name}_raw"), raw.into())));
}
