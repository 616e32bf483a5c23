//! What differs between two maps, as JSON.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::patch;
use bspkit::json::text_and_raw;
use bspkit::record::Text;
use bspkit_ops::compare::{
    Change, Comparison, EntityChange, FieldChange, FileChange, Hows, KeyChange, LightChange, LumpChanges, ModelsChange,
    NumbersChange, Renumbered, SolidChange, TextChange, Touched, WordChange,
};

/// A comparison in JSON: `touched` has the counts, `changes` names what differs, and `more` is the number of changes
/// that are not named.
///
/// ```
/// use bspkit_text::changes::ComparisonJson;
/// use bspkit_ops::compare;
/// let mut draft = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?.draft();
/// draft.update(bspkit::dialect::quake2::PLANES, 3, |plane| plane.distance = 8.0)?;
/// let json = serde_json::to_value(ComparisonJson::new(&compare::draft(&draft, 10)?)).unwrap();
/// assert_eq!(json["touched"]["records"], 1);
/// assert_eq!(json["changes"][0]["fields"][0]["new"], 8);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Default, Serialize)]
pub struct ComparisonJson {
    touched: Touched,
    changes: Vec<Value>,
    more: usize,
}

impl ComparisonJson {
    /// The JSON of a comparison.
    pub fn new(comparison: &Comparison) -> Self {
        let lumps = comparison.lumps.iter();
        let changes =
            lumps.flat_map(|lump| lump.changes.iter().map(|change| Value::Object(object(&lump.lump, change))));
        ComparisonJson {
            touched: comparison.touched(),
            changes: changes.collect(),
            more: comparison.lumps.iter().map(|lump| lump.more).sum(),
        }
    }

    /// The JSON of a file that is not a map, in which this many bytes differ.
    pub fn of_bytes(bytes: usize) -> Self {
        ComparisonJson { touched: Touched::of_bytes(bytes), ..ComparisonJson::default() }
    }
}

/// The difference of two map files in JSON: whether they are equal, what they are, the members of [`ComparisonJson`],
/// and the lumps that differ.
///
/// ```
/// use bspkit_text::changes::DiffJson;
/// use bspkit_ops::compare;
/// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// let found = compare::whole(&map, &map, 10);
/// let json = serde_json::to_value(DiffJson::new(&found, found.is_same())).unwrap();
/// assert_eq!((json["dialects"][0].as_str(), json["moved"].as_u64()), (Some("quake2"), Some(0)));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct DiffJson<'c> {
    equal: bool,
    dialects: [&'c str; 2],
    bsp_versions: [i32; 2],
    bytes: [usize; 2],
    moved: usize,
    skipped: &'c [String],
    #[serde(flatten)]
    comparison: ComparisonJson,
    lumps: Vec<LumpJson<'c>>,
}

impl<'c> DiffJson<'c> {
    /// The JSON of a comparison of whole files, in which nothing that was compared differs if they are `equal`.
    pub fn new(comparison: &'c Comparison, equal: bool) -> Self {
        let files = comparison.files.as_ref();
        DiffJson {
            equal,
            dialects: files.map_or([""; 2], |files| [files.dialects.0, files.dialects.1]),
            bsp_versions: files.map_or([0; 2], |files| [files.versions.0, files.versions.1]),
            bytes: files.map_or([0; 2], |files| [files.sizes.0, files.sizes.1]),
            moved: comparison.moved(),
            skipped: files.map_or(&[], |files| &files.skipped),
            comparison: ComparisonJson::new(comparison),
            lumps: comparison.lumps.iter().map(LumpJson::new).collect(),
        }
    }
}

/// The counts of a lump in JSON.
///
/// ```
/// use bspkit_text::changes::LumpJson;
/// use bspkit_ops::compare;
/// let [map, other] = ["rooms", "box"].map(|name| bspkit::Bsp::open(format!("../../tests/maps/q2/own_{name}.bsp")));
/// let found = compare::whole(&map?, &other?, 10);
/// let json = serde_json::to_value(LumpJson::new(&found.lumps[0])).unwrap();
/// assert_eq!((json["lump"].as_str(), json["content"].as_str()), (Some("ENTITIES"), Some("entities")));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct LumpJson<'c> {
    lump: &'c str,
    content: &'static str,
    bytes: [usize; 2],
    touched: Touched,
    hows: Hows,
    more: usize,
}

impl<'c> LumpJson<'c> {
    /// The JSON of a lump that differs.
    pub fn new(lump: &'c LumpChanges) -> Self {
        let (content, bytes) = (lump.kind.name(), [lump.sizes.0, lump.sizes.1]);
        LumpJson { lump: &lump.lump, content, bytes, touched: lump.touched, hows: lump.hows, more: lump.more }
    }
}

/// The members of a JSON object.
type Object = Map<String, Value>;

/// Adds members that are not strings of bytes.
fn put(object: &mut Object, members: Value) {
    if let Value::Object(members) = members {
        object.extend(members);
    }
}

/// Adds bytes, if there are any: as a string, and with `_raw` in base64 if they are not UTF-8.
fn put_bytes(object: &mut Object, name: &str, bytes: Option<&Vec<u8>>) {
    if let Some(bytes) = bytes {
        patch::bytes(object, name, &format!("{name}_raw"), bytes);
    }
}

fn object(lump: &str, change: &Change) -> Object {
    let mut object = Object::new();
    let mut start = |kind: &str| put(&mut object, json!({"kind": kind, "lump": lump}));
    match change {
        Change::Entity(entity) => {
            start("entity");
            put_entity(&mut object, entity);
        }
        Change::Record(record) => {
            start("record");
            if !record.list.is_empty() {
                put(&mut object, json!({"list": record.list}));
            }
            let fields: Vec<Value> = record.fields.iter().map(field).collect();
            put(&mut object, json!({"how": record.how, "index": record.index, "fields": fields}));
            if record.count > 1 {
                put(&mut object, json!({"count": record.count}));
            }
            if let Some(from) = record.from {
                put(&mut object, json!({"from_index": from}));
            }
            if !record.names.is_empty() {
                let names: Vec<String> = record.names.iter().map(ToString::to_string).collect();
                put(&mut object, json!({"names": names}));
            }
        }
        Change::File(file) => {
            start("file");
            put_file(&mut object, file);
        }
        Change::Light(LightChange { how, set, index, is_page, luxels, by, .. }) => {
            start("light");
            let place = if *is_page { "page" } else { "face" };
            put(&mut object, json!({"how": how, "set": set, place: index, "luxels": luxels}));
            if let Some(by) = by {
                put(&mut object, json!({"largest": by.largest, "mean": by.mean}));
            }
        }
        Change::Texture(texture) => {
            start("texture");
            put(&mut object, json!({"how": texture.how, "index": texture.index, "image": texture.image}));
            if let Some(from) = texture.from {
                put(&mut object, json!({"from_index": from}));
            }
            put_bytes(&mut object, "old", texture.old.as_ref());
            put_bytes(&mut object, "new", texture.new.as_ref());
        }
        Change::Row(row) => {
            start("row");
            put(
                &mut object,
                json!({"set": row.set.name(), "index": row.index, "gained": row.gained, "lost": row.lost}),
            );
        }
        Change::Solid(SolidChange { how, index, model, from, solids, text, .. }) => {
            start("solid");
            put(&mut object, json!({"how": how, "index": index, "model": model, "solids": solids, "text": text}));
            if let Some(from) = from {
                put(&mut object, json!({"from_model": from}));
            }
        }
        Change::Models(ModelsChange { models, more, .. }) => {
            start("models");
            let one = |model: &Renumbered| json!({"old": model.old, "new": model.new, "certain": model.is_certain});
            let models: Vec<Value> = models.iter().map(one).collect();
            put(&mut object, json!({"models": models, "more": more}));
        }
        Change::Numbers(NumbersChange { list, count, .. }) => {
            start("numbers");
            if !list.is_empty() {
                put(&mut object, json!({"list": list}));
            }
            put(&mut object, json!({"records": count}));
        }
        Change::Bytes(bytes) => {
            start("bytes");
            put(&mut object, json!({"offset": bytes.range.start, "bytes": [bytes.old, bytes.range.len()]}));
        }
        Change::Version(old, new) => {
            start("version");
            put(&mut object, json!({"version": [old, new]}));
        }
        Change::Compression(is_compressed) => {
            start("compression");
            put(&mut object, json!({"compressed": is_compressed}));
        }
        Change::Lump(how) => {
            start("lump");
            put(&mut object, json!({"how": how}));
        }
        Change::Place(old, new) => {
            start("place");
            put(&mut object, json!({"offset": [old, new]}));
        }
        Change::Word(WordChange { name, old, new, .. }) => {
            start("word");
            put(&mut object, json!({"name": name, "old": old, "new": new}));
        }
        Change::Padding(old, new) => {
            start("padding");
            put(&mut object, json!({"bytes": [old, new]}));
        }
    }
    object
}

fn put_file(object: &mut Object, file: &FileChange) {
    put(object, json!({"how": file.how, "bytes": [file.sizes.0, file.sizes.1], "content": file.content}));
    put_bytes(object, "name", Some(&file.name));
    put_bytes(object, "from", file.from.as_ref());
    if let Some((old, new)) = file.places {
        put(object, json!({"index": [old, new]}));
    }
    if let Some(TextChange { hunks, more, added, removed, .. }) = &file.text {
        let lines = |lines: &[Vec<u8>]| lines.iter().map(|line| text_and_raw(line).0.into_owned()).collect::<Vec<_>>();
        let hunks = hunks.iter().map(
            |hunk| json!({"line": [hunk.at.0 + 1, hunk.at.1 + 1], "old": lines(&hunk.old), "new": lines(&hunk.new)}),
        );
        let hunks: Vec<Value> = hunks.collect();
        put(object, json!({"text": {"added": added, "removed": removed, "hunks": hunks, "more": more}}));
    }
}

fn put_entity(object: &mut Object, entity: &EntityChange) {
    put(object, json!({"how": entity.how, "index": entity.index}));
    if let Some(from) = entity.from {
        put(object, json!({"from_index": from}));
    }
    put_bytes(object, "class", entity.class.as_ref());
    put_bytes(object, "targetname", entity.name.as_ref());
    let keys: Vec<Value> = entity.keys.iter().map(key).collect();
    put(object, json!({"values": keys}));
    if entity.more > 0 {
        put(object, json!({"more_values": entity.more}));
    }
}

fn key(change: &KeyChange) -> Value {
    let mut object = Object::new();
    put_bytes(&mut object, "key", Some(&change.key));
    put_bytes(&mut object, "old", change.old.as_ref());
    put_bytes(&mut object, "new", change.new.as_ref());
    Value::Object(object)
}

fn field(change: &FieldChange) -> Value {
    let value = |text: &Text| match text {
        Text::Number(number) => serde_json::from_str::<Value>(number).unwrap_or_else(|_| number.clone().into()),
        Text::Word(word) => word.clone().into(),
    };
    let mut object = json!({"field": change.field, "old": value(&change.old), "new": value(&change.new)});
    if let (Some(object), Some([old, new])) = (object.as_object_mut(), &change.textures) {
        put(object, json!({"old_texture": old, "new_texture": new}));
    }
    object
}
