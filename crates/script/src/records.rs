//! Records of lumps by name, and the light of faces.

use rhai::{Array, Dynamic, Map as Object};

use super::api::{Api, Res, wrong};
use super::pairs::{Vector, number};
use super::values::{bytes_of, kind, shown, signed};
use super::{Map, State};
use bspkit::bytes::rounded;
use bspkit::content::lightmap::{Adjustment, Image, Light, LightSet, Luxel};
use bspkit::query::{FieldChange, Query};
use bspkit::record::{self, FieldInfo, FlagNames, Meaning, Number, Part, RecordInfo, Shape};
use bspkit::{Error, ErrorKind, Result, SlotId};

// Records of lumps by name, with their fields.

/// The records of a lump.
#[derive(Clone)]
struct Table {
    map: Map,
    /// The lump, as the script names it.
    lump: String,
    slot: SlotId,
    info: &'static RecordInfo,
    /// Where the first one is in the lump, and how many there are.
    start: usize,
    count: usize,
}

/// One record.
#[derive(Clone)]
struct Record {
    table: Table,
    index: usize,
}

impl Table {
    fn open(map: &Map, lump: &str) -> Res<Table> {
        map.look(|state| {
            state.settle()?;
            // The lump as the script has it, since its size may differ.
            let view = state.session.draft()?.view()?;
            let found = view.as_ref().unwrap_or(state.session.bsp()).records(lump)?;
            let (slot, info, start, count) = (found.slot(), found.info(), found.span().range.start, found.len());
            Ok(Table { map: map.clone(), lump: lump.to_owned(), slot, info, start, count })
        })
    }

    /// The records that a query finds: `[texinfo.texture=sky]`.
    fn select(&mut self, query: &str) -> Res<Array> {
        let found = self.map.look(|state| {
            state.settle()?;
            let query = Query::parse(&format!("{}{query}", self.lump))?;
            if !query.field().is_empty() {
                let message = format!("`{query}` is a field: select finds records, and ends with a bracket");
                return Err(Error::new(ErrorKind::Argument, message));
            }
            let view = state.session.draft()?.view()?;
            let bsp = view.as_ref().unwrap_or(state.session.bsp());
            query.find(bsp, bsp.dialect().game(bsp.version()).flags)
        })?;
        Ok(found.into_iter().map(|index| Dynamic::from(Record { table: self.clone(), index })).collect())
    }

    fn at(&mut self, index: i64) -> Res<Record> {
        let place = if index < 0 { index.saturating_add(signed(self.count)) } else { index };
        match usize::try_from(place).ok().filter(|place| *place < self.count) {
            Some(index) => Ok(Record { table: self.clone(), index }),
            None => Err(wrong(format!("there is no record {index}: there are {}", self.count))),
        }
    }
}

impl Record {
    /// The bytes of the record in those of its lump.
    fn place(&self) -> std::ops::Range<usize> {
        let start = self.table.start + self.index * self.table.info.size;
        start..start + self.table.info.size
    }

    fn part(&self, field: &str) -> Result<Part> {
        Part::find(self.table.info.fields, field)
    }

    fn get(&mut self, field: &str) -> Res<Dynamic> {
        self.table.map.look(|state| {
            let part = self.part(field)?;
            let bytes = state.table(self.table.slot, self.place().end)?;
            let start = self.place().start + part.offset;
            Ok(value(part.shape, &bytes[start..start + part.shape.size()]))
        })
    }

    fn set(&mut self, field: &str, new: Dynamic) -> Res<()> {
        self.table.map.edit(|state| {
            let part = self.part(field)?;
            let bsp = state.session.bsp();
            let names = bsp.dialect().game(bsp.version()).flags;
            let start = self.place().start + part.offset;
            let place = start..start + part.shape.size();
            let mut bytes = state.table(self.table.slot, self.place().end)?[place.clone()].to_vec();
            let wrong = |why: String| Error::new(ErrorKind::Argument, format!("{field}: {why}"));
            put(part.shape, part.meaning, &new, &mut bytes, names).map_err(wrong)?;
            state.put(self.table.slot, place, &bytes);
            Ok(())
        })
    }

    /// The whole record as an object.
    fn object(&mut self) -> Res<Dynamic> {
        self.table.map.look(|state| {
            let bytes = state.table(self.table.slot, self.place().end)?;
            Ok(value(Shape::Record(self.table.info.fields), &bytes[self.place()]))
        })
    }
}

/// A part of a record as a value of a script.
pub(super) fn value(shape: Shape, bytes: &[u8]) -> Dynamic {
    match shape {
        Shape::Number(Number::F32) => {
            let number = f32::from_le_bytes(bytes.first_chunk().copied().unwrap_or_default());
            // The shortest decimal: 0.1, and not 0.10000000149.
            number.to_string().parse().unwrap_or(f64::from(number)).into()
        }
        Shape::Number(number) => number.integer(bytes).unwrap_or_default().into(),
        Shape::Name(_) => {
            let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
            shown(&bytes[..end]).into()
        }
        Shape::Array(item, _) => {
            let items = bytes.chunks_exact(item.size().max(1)).map(|bytes| value(*item, bytes));
            items.collect::<Array>().into()
        }
        Shape::Record(fields) => {
            let member = |field: &FieldInfo| {
                let bytes = &bytes[field.offset..field.offset + field.shape.size()];
                (field.name.into(), value(field.shape, bytes))
            };
            fields.iter().map(member).collect::<Object>().into()
        }
    }
}

/// Writes a value of a script to a part of a record.
pub(super) fn put(
    shape: Shape,
    meaning: Meaning,
    value: &Dynamic,
    to: &mut [u8],
    names: FlagNames,
) -> Result<(), String> {
    match shape {
        Shape::Number(Number::F32) => {
            let number = super::pairs::number(value).map_err(|_| format!("{} is not a number", kind(value)))?;
            let short = rounded(number);
            if !short.is_finite() {
                return Err(format!("{number} is not a number of 32 bits"));
            }
            to.copy_from_slice(&short.to_le_bytes());
            Ok(())
        }
        Shape::Number(_) => {
            let whole = value.as_float().ok().filter(|number| number.fract() == 0.0).map(super::values::number_text);
            let text = value.as_int().map(|number| number.to_string()).ok().or(whole);
            let text = text.or_else(|| value.clone().into_string().ok());
            let text = text.ok_or_else(|| format!("{} is not a whole number", kind(value)))?;
            record::fill(shape, meaning, &text, to, names)
        }
        Shape::Name(size) => {
            let text = value.as_immutable_string_ref().map_err(|_| format!("{} is not a string", kind(value)))?;
            let name = bytes_of(&text);
            if name.len() > size {
                return Err(format!("the name has {} bytes, and there is room for {size}", name.len()));
            }
            to.fill(0);
            to[..name.len()].copy_from_slice(&name);
            Ok(())
        }
        Shape::Array(item, count) => {
            let items = items_of(value).filter(|items| items.len() == count);
            let items = items.ok_or_else(|| format!("an array of {count} is needed"))?;
            let places = to.chunks_exact_mut(item.size().max(1));
            items.iter().zip(places).try_for_each(|(value, to)| put(*item, meaning, value, to, names))
        }
        Shape::Record(fields) => {
            let object = value.read_lock::<Object>().ok_or_else(|| format!("{} is not an object", kind(value)))?;
            object.iter().try_for_each(|(name, value)| {
                let part = Part::find(fields, name).map_err(|error| error.to_string())?;
                let to = &mut to[part.offset..part.offset + part.shape.size()];
                put(part.shape, part.meaning, value, to, names).map_err(|why| format!("{name}: {why}"))
            })
        }
    }
}

/// The items of an array or of a vector.
fn items_of(value: &Dynamic) -> Option<Vec<Dynamic>> {
    if let Some(vector) = value.read_lock::<Vector>() {
        return Some(vector.0.iter().map(|part| (*part).into()).collect());
    }
    value.read_lock::<Array>().map(|array| array.to_vec())
}

/// A lump of records that a script reads or edits, with numbers little-endian.
#[derive(Default)]
pub(super) struct Open {
    bytes: Vec<u8>,
    is_edited: bool,
}

impl State {
    /// The bytes of a lump of records, at least this many.
    fn table(&mut self, slot: SlotId, len: usize) -> Result<&[u8]> {
        if !self.tables.contains_key(&slot) {
            let bytes = self.session.draft()?.bytes(slot)?;
            let bytes = self.session.bsp().in_little_endian(slot, bytes).to_vec();
            self.tables.insert(slot, Open { bytes, is_edited: false });
        }
        let open = self.tables.get(&slot).filter(|open| open.bytes.len() >= len);
        let shrunk = || Error::new(ErrorKind::NotFound, "the lump has become smaller: ask for its records again");
        open.map(|open| &open.bytes[..]).ok_or_else(shrunk)
    }

    fn put(&mut self, slot: SlotId, place: std::ops::Range<usize>, new: &[u8]) {
        if let Some(open) = self.tables.get_mut(&slot)
            && open.bytes[place.clone()] != *new
        {
            open.bytes[place].copy_from_slice(new);
            open.is_edited = true;
        }
    }

    /// Writes edited records into the draft. What reads lumps in another way calls it first.
    pub(super) fn settle(&mut self) -> Result<()> {
        for (slot, open) in std::mem::take(&mut self.tables) {
            if open.is_edited {
                self.session.draft()?.set_little_endian(slot, open.bytes)?;
            }
        }
        Ok(())
    }
}

pub(super) fn register(api: &mut Api) {
    api.group("Records");
    api.name::<Table>("records");
    api.name::<Record>("record");
    api.call(
        "map.records(lump)",
        "The records of a lump by its name, number (`\"1\"`) or role, or of one list of it as `LUMP.LIST`. \
         `records(\"planes\")` is `map.records(\"planes\")`.",
        |map: &mut Map, lump: &str| Table::open(map, lump),
    );
    api.call("r.len()", "How many there are.", |table: &mut Table| signed(table.count));
    api.entry("r[index]", "A record; -1 is the last one. `for record in records(\"faces\")` visits all.");
    api.index(Table::at);
    api.call(
        "r.select(query)",
        "An array of the records that a query finds, as in `records(\"faces\").select(\"[texinfo.texture=sky]\")`. \
         Queries are those of `bspkit get`.",
        Table::select,
    );
    api.call(
        "map.set(change)",
        "Changes a field of all records that a query finds, as `bspkit set` does: \
         `map.set(\"texinfo[texture~/water/i].flags|=WARP\")`. Returns how many records have the field.",
        |map: &mut Map, change: &str| {
            map.edit(|state| {
                state.settle()?;
                let bsp = state.session.bsp();
                let names = bsp.dialect().game(bsp.version()).flags;
                Ok(signed(FieldChange::parse(change)?.apply(state.session.draft()?, names)?))
            })
        },
    );
    api.iterate(|table: Table| {
        Ok((0..table.count).map(move |index| Ok(Dynamic::from(Record { table: table.clone(), index }))))
    });
    api.entry(
        "record.field",
        "A field by its name: a number, a string for a name, an array, or an object for a struct. Names of engines \
         work too, and paths: `record[\"normal[2]\"]`. `record.field = value` sets it; flags may be names, as in \
         `\"SKY|NODRAW\"`. Other records that refer to this one by number do not follow.",
    );
    api.index(Record::get);
    api.set_index(Record::set);
    api.getter("tag", |record: &mut Record| record.get("tag"));
    api.set("tag", |record: &mut Record, value: Dynamic| record.set("tag", value));
    api.call("record.index()", "Its number in the lump.", |record: &mut Record| signed(record.index));
    api.call("record.object()", "All fields as an object.", Record::object);
    let print = |record: &mut Record| super::values::text(&record.object()?);
    api.also("to_string", print);
    api.also("to_debug", print);
}

/// `records(lump)` of the map that the script edits.
pub(super) fn register_own(api: &mut Api, map: &Map) {
    let map = map.clone();
    api.also("records", move |lump: &str| Table::open(&map, lump));
}

// The light of faces.

/// The light of a map.
#[derive(Clone)]
pub(super) struct Lights(pub(super) Map);

/// The light of a face, or a page of light.
#[derive(Clone)]
struct Face {
    map: Map,
    set: usize,
    block: usize,
    index: usize,
}

impl State {
    fn light(&mut self) -> Result<&mut Light<'static>> {
        self.settle()?;
        self.session.draft()?.light()
    }

    /// The light for an edit: the first edit keeps the light as it was, for the copies of sets.
    fn edited_light(&mut self) -> Result<&mut Light<'static>> {
        if self.light_before.is_none() && self.light()?.sets().iter().any(|set| set.copy_of().is_some()) {
            self.light_before = Some(self.light()?.clone());
        }
        self.light()
    }

    /// Edits the copies of edited light.
    pub(super) fn carry_light(&mut self) -> Result<()> {
        if let Some(before) = self.light_before.take() {
            self.light()?.carry(&before)?;
        }
        Ok(())
    }
}

/// The factors of a value: a number for all colors, or a vector.
fn adjustment(value: &Dynamic) -> Res<Adjustment> {
    let tint = value.read_lock::<Vector>().map(|vector| vector.0);
    let tint = tint.map_or_else(|| number(value).map(|factor| [factor; 3]), Ok)?;
    match tint.iter().all(|factor| (0.0..=1e6).contains(factor)) {
        true => Ok(Adjustment { tint, ..Adjustment::default() }),
        false => Err(wrong("a factor for light is from 0 to 1000000")),
    }
}

impl Lights {
    fn set(light: &Light<'_>, name: &str) -> Result<usize> {
        light.sets().iter().position(|set| set.name() == name).ok_or_else(|| {
            let names: Vec<_> = light.sets().iter().map(LightSet::name).collect();
            let error = Error::new(ErrorKind::NotFound, format!("the map has no light called {name}"));
            if names.is_empty() { error } else { error.with_hint(format!("it has {}", names.join(", "))) }
        })
    }

    fn names(&self) -> Res<Array> {
        self.0.look(|state| Ok(state.light()?.sets().iter().map(|set| set.name().into()).collect()))
    }

    fn faces(&self, set: Option<&str>) -> Res<Vec<Face>> {
        self.0.look(|state| {
            let light = state.light()?;
            let set = set.map_or(Ok(0), |name| Lights::set(light, name))?;
            let blocks = light.sets().get(set).map(LightSet::blocks).unwrap_or_default();
            let face = |(block, index)| Face { map: self.0.clone(), set, block, index };
            Ok(blocks.iter().map(|block| block.index()).enumerate().map(face).collect())
        })
    }

    fn face(&self, index: i64, set: Option<&str>) -> Res<Dynamic> {
        self.0.look(|state| {
            let light = state.light()?;
            let set = set.map_or(Ok(0), |name| Lights::set(light, name))?;
            let index = usize::try_from(index).unwrap_or(usize::MAX);
            let block = light.sets().get(set).and_then(|found| found.block_of(index));
            let face = |block| Dynamic::from(Face { map: self.0.clone(), set, block, index });
            Ok(block.map_or(Dynamic::UNIT, face))
        })
    }

    fn scale(&self, factor: &Dynamic) -> Res<i64> {
        let adjustment = adjustment(factor)?;
        self.0.edit(|state| Ok(signed(state.edited_light()?.adjust(&adjustment, |_, _, _| true)?)))
    }
}

impl Face {
    fn look<T>(&self, work: impl FnOnce(&bspkit::content::lightmap::Block) -> T) -> Res<T> {
        self.map.look(|state| {
            let image = self.image(0);
            state.light()?.block(image).map(work).ok_or_else(gone)
        })
    }

    fn image(&self, style: usize) -> Image {
        Image { set: self.set, block: self.block, style, plane: 0 }
    }

    fn get(&self, x: i64, y: i64, style: i64) -> Res<Vector> {
        let [x, y, style] = [x, y, style].map(|number| usize::try_from(number).unwrap_or(usize::MAX));
        self.map.look(|state| {
            let luxel = state.light()?.luxel(self.image(style), [x, y]);
            luxel.map(|luxel| Vector(luxel.linear())).ok_or_else(outside)
        })
    }

    fn set(&self, x: i64, y: i64, style: i64, color: Vector) -> Res<()> {
        let [x, y, style] = [x, y, style].map(|number| usize::try_from(number).unwrap_or(usize::MAX));
        if !color.0.iter().all(|part| part.is_finite() && *part >= 0.0) {
            return Err(wrong("light is three numbers that are not negative"));
        }
        self.map.edit(|state| {
            let (light, image) = (state.edited_light()?, self.image(style));
            let old = light.luxel(image, [x, y]).ok_or_else(outside)?;
            if old.linear() != color.0 {
                light.set(image, [x, y], old.with_linear(color.0))?;
            }
            Ok(())
        })
    }

    fn scale(&self, factor: &Dynamic) -> Res<i64> {
        let adjustment = adjustment(factor)?;
        self.map.edit(|state| {
            let light = state.edited_light()?;
            let (styles, planes) = {
                let block = light.block(self.image(0)).ok_or_else(gone)?;
                (block.styles().len(), block.planes())
            };
            let mut changed = 0;
            for style in 0..styles {
                for plane in 0..planes {
                    let image = Image { plane, ..self.image(style) };
                    changed += light.update(image, |_, luxel: Luxel| adjustment.of(luxel))?;
                }
            }
            Ok(signed(changed))
        })
    }
}

fn gone() -> Error {
    Error::new(ErrorKind::NotFound, "the light of the face is not there any more")
}

fn outside() -> Error {
    Error::new(ErrorKind::NotFound, "the face has no such luxel or style")
}

pub(super) fn register_light(api: &mut Api) {
    api.group("Light of faces");
    api.name::<Lights>("light");
    api.name::<Face>("face_light");
    api.get("map.light", "The light of a map; `light` is that of the edited map.", |map: &mut Map| Lights(map.clone()));
    api.call(
        "light.sets()",
        "The names of the sets of light: one empty name for most maps, such as `ldr` and `hdr` for others. An edit of \
         one set is carried over to a set that is a copy of it.",
        |light: &mut Lights| light.names(),
    );
    api.call(
        "light.face(index)",
        "The light of a face (of a page in Quake III), `()` if it has none. `light.face(index, set)` for another set \
         than the first.",
        |light: &mut Lights, index: i64| light.face(index, None),
    );
    api.also("face", |light: &mut Lights, index: i64, set: &str| light.face(index, Some(set)));
    api.call("light.faces()", "An array of the light of all lit faces; `light.faces(set)` for another set.", {
        |light: &mut Lights| light.faces(None).map(as_array)
    });
    api.also("faces", |light: &mut Lights, set: &str| light.faces(Some(set)).map(as_array));
    api.call(
        "light.scale(factor)",
        "Multiplies all light by a number or by a vector of factors for red, green and blue, in linear light, each \
         luxel once. Returns how many luxels changed.",
        |light: &mut Lights, factor: Dynamic| light.scale(&factor),
    );
    face(api);
}

fn face(api: &mut Api) {
    api.get("face.index", "The number of the face, or of the page.", |face: &mut Face| signed(face.index));
    api.get("face.width", "Columns of luxels.", |face: &mut Face| face.look(|block| signed(block.size()[0])));
    api.get("face.height", "Rows of luxels.", |face: &mut Face| face.look(|block| signed(block.size()[1])));
    api.get("face.styles", "The numbers of its light styles, in their order.", |face: &mut Face| {
        face.look(|block| block.styles().iter().map(|style| i64::from(*style).into()).collect::<Array>())
    });
    api.call(
        "face.get(x, y)",
        "A luxel as a vector of linear light, where 1 shows a texture unchanged. `face.get(x, y, style)` for the \
         style of this position in `face.styles`.",
        |face: &mut Face, x: i64, y: i64| face.get(x, y, 0),
    );
    api.also("get", |face: &mut Face, x: i64, y: i64, style: i64| face.get(x, y, style));
    api.call(
        "face.set(x, y, light)",
        "Sets a luxel; `face.set(x, y, style, light)` for another style than the first. Light that is too bright for \
         the format is clamped.",
        |face: &mut Face, x: i64, y: i64, color: Vector| face.set(x, y, 0, color),
    );
    api.also("set", |face: &mut Face, x: i64, y: i64, style: i64, color: Vector| face.set(x, y, style, color));
    api.call(
        "face.scale(factor)",
        "Multiplies the light of one face, with all its styles. Luxels that faces share change for all of them.",
        |face: &mut Face, factor: Dynamic| face.scale(&factor),
    );
}

fn as_array(faces: Vec<Face>) -> Array {
    faces.into_iter().map(Dynamic::from).collect()
}
