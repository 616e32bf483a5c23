//! Checks that the meanings of fields cannot express: numbers that share a field with flags, arrays of which only a
//! counted part is used, and lists within lumps.

use super::code::{INDEX_RANGE, PHYS_END, PHYS_SOLIDS, RUN_RANGE, STRING_PLACE, TEXTURE_NAME};
use super::lumps::{Lump, Lumps, View, range};
use super::sink::{At, Sink};
use crate::bytes::word;
use crate::content::physics::{PhysDisp, Physics};
use crate::dialect::{Records, Role};
use crate::error::ErrorKind;
use crate::record::Number;

pub(super) fn check(lumps: &Lumps<'_>, sink: &mut Sink) {
    check_areas(lumps, sink);
    for name in ["FACES", "FACES_HDR"] {
        check_primitives(lumps, name, sink);
    }
    for name in ["OVERLAYS", "WATEROVERLAYS"] {
        check_overlays(lumps, name, sink);
    }
    for (index, samples) in
        [("LEAF_AMBIENT_INDEX", "LEAF_AMBIENT_LIGHTING"), ("LEAF_AMBIENT_INDEX_HDR", "LEAF_AMBIENT_LIGHTING_HDR")]
    {
        check_ambient(lumps, index, samples, sink);
    }
    check_props(lumps, sink);
    check_runs(lumps, sink);
    check_strings(lumps, sink);
    check_physics(lumps, sink);
    check_solids(lumps, sink);
}

/// The number of bits of the area in Source's leafs, by the size of the field in bytes.
const AREA_BITS: [(usize, i64); 2] = [(2, 0x1FF), (4, 0x1_FFFF)];

/// Source's leafs keep their area in the low bits of a field.
fn check_areas(lumps: &Lumps<'_>, sink: &mut Sink) {
    let (Some(leafs), Some(areas)) = (lumps.role(Role::Leafs), lumps.role(Role::Areas)) else { return };
    let Some(column) = leafs.column("area_flags").filter(|_| areas.len() > 0) else { return };
    let Some((_, bits)) = AREA_BITS.into_iter().find(|(bytes, _)| *bytes == column.number.size()) else { return };
    for leaf in 0..leafs.len() {
        let area = column.get(leaf) & bits;
        if usize::try_from(area).is_ok_and(|area| area >= areas.len()) {
            let at = At::lump(leafs.name).record(leaf).offset(column.at(leaf)).field("area_flags");
            sink.add(&INDEX_RANGE, at, || format!("its area is {area}, and {} has {}", areas.name, areas.len()));
        }
    }
}

/// The highest bit of the count is a flag; in a 32-bit count it is the lowest bit.
fn check_primitives(lumps: &Lumps<'_>, name: &str, sink: &mut Sink) {
    let (Some(faces), Some(primitives)) = (lumps.named(name), lumps.named("PRIMITIVES")) else { return };
    let Some(firsts) = faces.column("first_primitive") else { return };
    let narrow = faces.column("primitive_count").map(|counts| (counts, 0x7FFF, 0));
    let wide = || faces.column("shadows_primitive_count").map(|counts| (counts, i64::from(u32::MAX), 1));
    let Some((counts, bits, shift)) = narrow.or_else(wide) else { return };
    for face in 0..faces.len() {
        let (first, count) = (firsts.get(face), (counts.get(face) & bits) >> shift);
        if range(first, count, primitives.len()).is_none() {
            let at = At::lump(faces.name).record(face).offset(firsts.at(face)).field("first_primitive");
            sink.add(&RUN_RANGE, at, || {
                format!("its {count} primitives begin at {first}, and {} has {}", primitives.name, primitives.len())
            });
        }
    }
}

/// The upper two bits of the count are the drawing order; slots after the count are garbage.
fn check_overlays(lumps: &Lumps<'_>, name: &str, sink: &mut Sink) {
    let (Some(overlays), Some(faces)) = (lumps.named(name), lumps.role(Role::Faces)) else { return };
    let (Some(slots), Some(counts)) = (overlays.column("faces"), overlays.column("face_count_order")) else { return };
    for overlay in 0..overlays.len() {
        let at = At::lump(overlays.name).record(overlay).offset(slots.at(overlay)).field("faces");
        let count = usize::try_from(counts.get(overlay) & 0x3FFF).unwrap_or(0);
        if count > slots.items {
            sink.add(&RUN_RANGE, at, || format!("it is on {count} faces, but has room for {}", slots.items));
        }
        for item in 0..count.min(slots.items) {
            let face = slots.item(overlay, item);
            if !usize::try_from(face).is_ok_and(|face| face < faces.len()) {
                sink.add(&INDEX_RANGE, at, || {
                    format!("faces[{item}] is {face}, and {} has {}", faces.name, faces.len())
                });
            }
        }
    }
}

/// If there are no samples, the first index is that of a leaf that has some. With more than 65,535 samples the meaning
/// of a 16-bit field is not known.
fn check_ambient(lumps: &Lumps<'_>, name: &str, samples: &str, sink: &mut Sink) {
    let (Some(index), Some(samples)) = (lumps.named(name), lumps.named(samples)) else { return };
    let (Some(firsts), Some(counts)) = (index.column("first"), index.column("count")) else { return };
    if firsts.number == Number::U16 && samples.len() > usize::from(u16::MAX) {
        return;
    }
    for leaf in 0..index.len() {
        let (first, count) = (firsts.get(leaf), counts.get(leaf));
        if range(first, count, samples.len()).is_none() {
            let at = At::lump(index.name).record(leaf).offset(firsts.at(leaf)).field("first");
            sink.add(&RUN_RANGE, at, || {
                format!("its {count} samples begin at {first}, and {} has {}", samples.name, samples.len())
            });
        }
    }
}

/// Runs of records in another list of the same lump or of another one: lump, list, the fields with the first index and
/// the count, and the lump and list of the records.
const RUNS: [[[&str; 2]; 3]; 5] = [
    [["game:sprp", "props"], ["first_leaf", "leaf_count"], ["game:sprp", "leafs"]],
    [["game:dprp", "objects"], ["first_style", "style_count"], ["game:dplt", "lights"]],
    [["OCCLUSION", "occluders"], ["first_polygon", "polygon_count"], ["OCCLUSION", "polygons"]],
    [["OCCLUSION", "polygons"], ["first_vertex", "vertex_count"], ["OCCLUSION", "vertexes"]],
    [["OVERLAYS", "overlays"], ["first_face", "face_count"], ["OVERLAYS", "faces"]],
];

fn check_runs(lumps: &Lumps<'_>, sink: &mut Sink) {
    for [[name, list], [first, count], [of_lump, of]] in RUNS {
        let Some((lump, part)) = list_of(lumps, name, list) else { continue };
        let view = list_view(lump, part);
        let (Some(firsts), Some(counts)) = (view.column(first), view.column(count)) else { continue };
        let Some((_, target)) = list_of(lumps, of_lump, of) else { continue };
        for record in 0..view.len() {
            let (from, many) = (firsts.get(record), counts.get(record));
            if range(from, many, target.count()).is_none() {
                let at = At::lump(lump.name).record(record).offset(part.range.start + firsts.at(record)).field(first);
                sink.add(&RUN_RANGE, at, || {
                    format!("its {many} {of} begin at {from}, and there are {}", target.count())
                });
            }
        }
    }
}

fn list_of<'b, 'a>(lumps: &'b Lumps<'a>, lump: &str, list: &str) -> Option<(&'b Lump<'a>, &'b Records)> {
    let lump = lumps.lump(lump)?;
    Some((lump, lump.parts.iter().find(|part| part.list == list)?))
}

/// Static props refer to a model in the list before them, detail props to a model or a sprite.
fn check_props(lumps: &Lumps<'_>, sink: &mut Sink) {
    for (name, list) in [("game:sprp", "props"), ("game:dprp", "objects")] {
        let Some((lump, props)) = list_of(lumps, name, list) else { continue };
        let view = list_view(lump, props);
        let Some(models) = view.column("model") else { continue };
        let kinds = view.column("kind");
        let count = |list| list_of(lumps, name, list).map_or(0, |(_, part)| part.count());
        let (names, sprites) = (count("names"), count("sprites"));
        for prop in 0..view.len() {
            let (what, many) = match kinds.map_or(0, |kinds| kinds.get(prop)) {
                0 => ("names", names),
                _ => ("sprites", sprites),
            };
            let model = models.get(prop);
            if !usize::try_from(model).is_ok_and(|model| model < many) {
                let at = At::lump(lump.name).record(prop).offset(props.range.start + models.at(prop)).field("model");
                sink.add(&INDEX_RANGE, at, || format!("its model is {model}, and there are {many} {what}"));
            }
        }
    }
}

fn list_view<'b>(lump: &'b Lump<'_>, part: &Records) -> View<'b> {
    let bytes = lump.bytes.get(part.range.clone()).unwrap_or_default();
    View { name: lump.name, bytes, record: part.record }
}

/// The bytes of a texture's name with its NUL (`TEXTURE_NAME_LENGTH`).
const MOST_NAME: usize = 128;

/// The table has the offset of each name in the strings.
fn check_strings(lumps: &Lumps<'_>, sink: &mut Sink) {
    let (Some(table), Some(strings)) = (lumps.named("TEXDATA_STRING_TABLE"), lumps.lump("TEXDATA_STRING_DATA")) else {
        return;
    };
    let Some(offsets) = table.column("offset") else { return };
    let len = strings.bytes.len();
    for index in 0..table.len() {
        let offset = offsets.get(index);
        if !usize::try_from(offset).is_ok_and(|offset| offset < len) {
            let at = At::lump(table.name).record(index).offset(offsets.at(index)).field("offset");
            sink.add(&STRING_PLACE, at, || format!("it begins at {offset}, and {} has {len} bytes", strings.name));
            continue;
        }
        let rest = usize::try_from(offset).ok().and_then(|offset| strings.bytes.get(offset..)).unwrap_or_default();
        let at = At::lump(table.name).record(index).offset(offsets.at(index)).field("offset");
        match rest.iter().take(MOST_NAME).position(|byte| *byte == 0) {
            Some(_) => {}
            None if rest.len() < MOST_NAME => {
                sink.add(&STRING_PLACE, at, || format!("no NUL ends the name at {offset} of {}", strings.name));
            }
            None => sink.add(&TEXTURE_NAME, at, || format!("its name has more than {} bytes", MOST_NAME - 1)),
        }
    }
}

/// The solids of each collision model, and of each displacement, have the number and size that it states.
fn check_solids(lumps: &Lumps<'_>, sink: &mut Sink) {
    if let Some(lump) = lumps.lump("PHYSCOLLIDE").filter(|lump| !lump.bytes.is_empty()) {
        // A lump that cannot be read at all is a finding above.
        let physics = Physics::parse(lump.bytes.clone()).ok();
        for (index, physics) in physics.iter().flat_map(|physics| (0..physics.len()).map(move |index| (index, physics)))
        {
            if let Some(error) = physics.solids(index).err() {
                sink.add(&PHYS_SOLIDS, At::lump(lump.name).record(index), || error.to_string());
            }
        }
    }
    let disps = lumps.lump("PHYSDISP").filter(|lump| !lump.bytes.is_empty() && lump.row.is_ok());
    let read = |lump: &Lump<'_>| PhysDisp::parse(lump.bytes.clone(), lump.slot.version.unwrap_or(0)).err();
    if let Some((lump, error)) = disps.and_then(|lump| Some((lump, read(lump)?)))
        && error.kind() == ErrorKind::Malformed
    {
        sink.add(&PHYS_SOLIDS, At::lump(lump.name), || error.to_string());
    }
}

/// Collision models are one after the other, each with four numbers before it: its model, the bytes of its solids, the
/// bytes of its text, and the number of solids. An entry with the model -1 ends them.
fn check_physics(lumps: &Lumps<'_>, sink: &mut Sink) {
    const HEADER: usize = 16;
    let Some(lump) = lumps.lump("PHYSCOLLIDE").filter(|lump| !lump.bytes.is_empty()) else { return };
    let models = lumps.role(Role::Models).map(|models| models.len());
    let mut at = 0;
    loop {
        let number = |index: usize| word(&lump.bytes, at + index * 4);
        let header = number(3).and_then(|_| Some((number(0)?, number(1)?, number(2)?)));
        let place = At::lump(lump.name).offset(at);
        let Some((model, data, keys)) = header else {
            return sink.add(&PHYS_END, place, || "the lump ends without the entry of model -1".into());
        };
        if model == -1 {
            return;
        }
        let size = |size: i32| usize::try_from(size).ok();
        let sizes = size(data).zip(size(keys));
        let next = sizes.and_then(|(data, keys)| (at + HEADER).checked_add(data)?.checked_add(keys));
        let Some(next) = next.filter(|next| *next <= lump.bytes.len()) else {
            return sink.add(&PHYS_END, place, || format!("the solids of model {model} go beyond the lump"));
        };
        if let Some(models) = models.filter(|models| !usize::try_from(model).is_ok_and(|model| model < *models)) {
            sink.add(&INDEX_RANGE, place, || format!("it is for model {model}, and the map has {models}"));
        }
        at = next;
    }
}
