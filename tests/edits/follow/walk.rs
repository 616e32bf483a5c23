//! A walk over a map that follows references and ignores numbers: each record has a color that is computed from its own
//! bytes without references, and, step by step, from the colors of what it refers to. Which numbers are references is
//! stated here once more (`facts.rs`), apart from the library.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use bspkit::Bsp;
use bspkit::bytes::ByteOrder;
use bspkit::content::visibility::VisSet;
use bspkit::record::{RecordInfo, Shape};

use super::facts::{Kind, facts};

/// More than from a leaf to the points of its faces.
const STEPS: usize = 7;

struct List {
    info: &'static RecordInfo,
    bytes: Vec<u8>,
}

impl List {
    fn len(&self) -> usize {
        self.bytes.len() / self.info.size
    }
}

pub(crate) fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// All records of a map, by `LUMP` or `LUMP.list`.
fn lists(map: &Bsp<'_>) -> HashMap<String, List> {
    let mut all = HashMap::new();
    for slot in map.slots() {
        let Ok(parts) = map.spans(slot) else { continue };
        let (Ok(bytes), true) = (map.bytes(slot.id), map.row(slot).is_ok()) else { continue };
        let mut bytes = bytes.to_vec();
        if map.byte_order() == ByteOrder::Big {
            map.row(slot).unwrap().byte_swap(&mut bytes, ByteOrder::Big);
        }
        for part in parts {
            let dot = if part.list.is_empty() { "" } else { "." };
            let end = part.range.start + part.count() * part.record.size;
            let list = List { info: part.record, bytes: bytes[part.range.start..end].to_vec() };
            all.insert(format!("{}{dot}{}", slot.name, part.list), list);
        }
    }
    all
}

/// The place of each number of a field: offset and size. A path may go through structs: `edges.neighbors.neighbor`.
pub(crate) fn places(fields: &'static [bspkit::record::FieldInfo], path: &str) -> Vec<(usize, Shape)> {
    let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
    let Some(field) = fields.iter().find(|field| field.name == name) else { return Vec::new() };
    fn within(offset: usize, shape: Shape, rest: Option<&str>) -> Vec<(usize, Shape)> {
        match (shape, rest) {
            (Shape::Array(item, count), _) => {
                (0..count).flat_map(|index| within(offset + index * item.size(), *item, rest)).collect()
            }
            (Shape::Record(fields), Some(rest)) => {
                places(fields, rest).into_iter().map(|(at, shape)| (offset + at, shape)).collect()
            }
            (shape, _) => vec![(offset, shape)],
        }
    }
    within(field.offset, field.shape, rest)
}

fn number(record: &[u8], (at, shape): (usize, Shape)) -> i64 {
    let Shape::Number(number) = shape else { return 0 };
    number.integer(&record[at..]).unwrap_or(0)
}

/// A reference as it is in a record: the lump, and which records of it.
type Named = (usize, Vec<i64>, bool);

/// What is the same in two maps whose records have other numbers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Walk {
    /// The colors of the records of each list, sorted.
    pub(crate) lists: Vec<(String, Vec<u64>)>,
    /// The colors of the entities in order.
    pub(crate) entities: Vec<u64>,
}

pub(crate) fn walk(map: &Bsp<'_>) -> Walk {
    let lists = lists(map);
    let mut names: Vec<&String> = lists.keys().collect();
    names.sort();
    let index: HashMap<&str, usize> = names.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
    let mut colors: Vec<Vec<u64>> = Vec::new();
    let mut named: Vec<Vec<Vec<Named>>> = Vec::new();
    for name in &names {
        let (own, refs) = plain(map, name, &lists[*name], &index, &lists);
        colors.push(own);
        named.push(refs);
    }
    for _ in 0..STEPS {
        let step = |list: usize| -> Vec<u64> {
            (0..colors[list].len())
                .map(|record| {
                    let refs = named[list][record].iter().map(|(to, which, sorted)| {
                        let mut found: Vec<u64> = which
                            .iter()
                            .map(|at| {
                                usize::try_from(*at)
                                    .ok()
                                    .and_then(|at| colors[*to].get(at))
                                    .map_or(*at as u64, |color| *color)
                            })
                            .collect();
                        if *sorted {
                            found.sort_unstable();
                        }
                        found
                    });
                    hash((colors[list][record], refs.collect::<Vec<_>>()))
                })
                .collect()
        };
        colors = (0..colors.len()).map(step).collect();
    }
    let entities = entities(map, |lump, record| {
        let list = index.get(lump)?;
        colors[*list].get(usize::try_from(record).ok()?).copied()
    });
    let sorted = |mut colors: Vec<u64>| {
        colors.sort_unstable();
        colors
    };
    let lists = names.into_iter().cloned().zip(colors.into_iter().map(sorted)).collect();
    Walk { lists, entities }
}

/// Where the faces from which others were cut name their texinfos, and whether all are those of their faces: otherwise
/// they are numbers of another table.
fn texinfo_of_originals(name: &str, lists: &HashMap<String, List>) -> Option<((usize, Shape), bool)> {
    let (own, faces, texinfos) = (lists.get(name)?, lists.get("FACES")?, lists.get("TEXINFO")?);
    let place = |list: &List, field: &str| places(list.info.fields, field).first().copied();
    let by = place(faces, "original_face").filter(|_| name == "ORIGINALFACES")?;
    let (texinfo, of_face) = (place(own, "texinfo")?, place(faces, "texinfo")?);
    let numbers: Vec<i64> = own.bytes.chunks_exact(own.info.size).map(|record| number(record, texinfo)).collect();
    let mut named = faces
        .bytes
        .chunks_exact(faces.info.size)
        .filter_map(|face| Some((*numbers.get(usize::try_from(number(face, by)).ok()?)?, number(face, of_face))));
    let end = i64::try_from(texinfos.len()).unwrap();
    let are_own = numbers.iter().all(|number| (0..end).contains(number)) && named.all(|(one, other)| one == other);
    Some((texinfo, are_own))
}

/// The colors without references, and the references.
fn plain(
    map: &Bsp<'_>,
    name: &str,
    list: &List,
    index: &HashMap<&str, usize>,
    lists: &HashMap<String, List>,
) -> (Vec<u64>, Vec<Vec<Named>>) {
    let size = list.info.size;
    let mut colors: Vec<u64> = Vec::new();
    let mut named: Vec<Vec<Named>> = Vec::new();
    let facts: Vec<_> = facts(map.dialect().name).filter(|(lump, ..)| *lump == name).collect();
    let texinfo = texinfo_of_originals(name, lists).and_then(|found| Some((found, *index.get("TEXINFO")?)));
    // Displacements have no counts.
    for record in list.bytes.chunks_exact(size) {
        let (mut own, mut refs) = (record.to_vec(), Vec::new());
        if let Some(((place, are_own), to)) = texinfo {
            own[place.0..place.0 + place.1.size()].fill(0);
            refs.extend(are_own.then(|| (to, vec![number(record, place)], false)));
        }
        // The row follows as a reference.
        if let Some((at, shape)) = places(list.info.fields, "visibility_offset").first() {
            own[*at..at + shape.size()].fill(0);
        }
        for (_, field, kind, target) in &facts {
            // A console's map without faces of low range refers to those of high range.
            let has_faces = lists.get("FACES").is_some_and(|faces| faces.len() > 0);
            let target = if has_faces || *target != "FACES" { target } else { &"FACES_HDR" };
            let Some(to) = index.get(target) else { continue };
            let len = lists[*target].len() as i64;
            let count = |field: &str| places(list.info.fields, field).first().map_or(0, |place| number(record, *place));
            let all = places(list.info.fields, field);
            let mut mask = |at: usize, size: usize| own[at..at + size].fill(0);
            match *kind {
                Kind::Several(of) if count(of) < 2 => {}
                Kind::Run(of, mask_bits, shift)
                | Kind::Spare(of, mask_bits, shift)
                | Kind::Set(of, mask_bits, shift) => {
                    let count = (count(of) & mask_bits) >> shift;
                    let first = all.first().map_or(0, |place| number(record, *place));
                    let Some((at, shape)) = all.first() else { continue };
                    if count > 0 && first >= 0 && first + count <= len {
                        mask(*at, shape.size());
                        refs.push((*to, (first..first + count).collect(), matches!(kind, Kind::Set(..))));
                    }
                }
                Kind::Turn(of) | Kind::Several(of) => {
                    let (first, count) = (all.first().map_or(0, |place| number(record, *place)), count(of));
                    let Some((at, shape)) = all.first() else { continue };
                    if count > 0 && first >= 0 && first + count <= len {
                        mask(*at, shape.size());
                        refs.push((*to, (first..first + count).collect(), true));
                    }
                }
                Kind::Power(triangles) => {
                    let side = 1_i64 << count("power");
                    let count = if triangles { 2 * side * side } else { (side + 1) * (side + 1) };
                    let Some((at, shape)) = all.first() else { continue };
                    let first = number(record, (*at, *shape));
                    mask(*at, shape.size());
                    refs.push((*to, (first..first + count).collect(), false));
                }
                Kind::Items(of, bits) => {
                    let group = all.len() / places(list.info.fields, of).len().max(1);
                    for (nth, of) in places(list.info.fields, of).into_iter().enumerate() {
                        let count = usize::try_from(number(record, of) & bits).unwrap();
                        let items: Vec<_> = all[nth * group..(nth + 1) * group].iter().take(count).copied().collect();
                        let which = items.iter().map(|place| number(record, *place)).collect();
                        items.iter().for_each(|(at, shape)| mask(*at, shape.size()));
                        refs.push((*to, which, true));
                    }
                }
                Kind::If(of, wanted) if (count(of) == wanted.abs()) != (wanted >= 0) => {}
                _ => {
                    for (at, shape) in all {
                        let value = match shape {
                            Shape::Name(size) => {
                                let name = &record[at..at + size];
                                let text = name.split(|byte| *byte == 0).next().unwrap();
                                let number = text.strip_prefix(b"*").and_then(|text| std::str::from_utf8(text).ok());
                                number.and_then(|number| number.parse().ok()).unwrap_or(-1)
                            }
                            _ => number(record, (at, shape)),
                        };
                        let (value, sign) = match *kind {
                            Kind::Signed => (value.abs(), value < 0),
                            Kind::Leaf => (-1 - value, true),
                            Kind::Bits(bits) => (value & bits, false),
                            _ => (value, false),
                        };
                        let is_none = matches!(*kind, Kind::Next) && value == 0;
                        if (0..len).contains(&value) && !is_none {
                            match *kind {
                                Kind::Bits(bits) => {
                                    let kept = number(record, (at, shape)) & !bits;
                                    mask(at, shape.size());
                                    refs.push((usize::MAX, vec![kept], false));
                                }
                                _ => mask(at, shape.size()),
                            }
                            refs.push((*to, vec![value], false));
                            refs.push((usize::MAX, vec![i64::from(sign)], false));
                        }
                    }
                }
            }
        }
        colors.push(hash((name, own, refs.iter().filter(|(to, ..)| *to == usize::MAX).collect::<Vec<_>>())));
        refs.retain(|(to, ..)| *to != usize::MAX);
        named.push(refs);
    }
    super::beside::beside(
        map,
        name,
        index,
        lists.iter().map(|(name, list)| (name.as_str(), &list.bytes[..], list.info)),
        &mut colors,
        &mut named,
    );
    if name == "LEAFS" {
        rows(map, index[name], &mut named);
    }
    (colors, named)
}

/// What leafs of Quake and GoldSrc see.
fn rows(map: &Bsp<'_>, leafs: usize, named: &mut [Vec<Named>]) {
    let Ok(visibility) = map.visibility() else { return };
    if visibility.model() == bspkit::dialect::QUAKE2.visibility || visibility.is_empty() {
        return;
    }
    if visibility.model() == bspkit::dialect::QUAKE3.visibility {
        return;
    }
    // The offset is not part of the content, but the row is.
    for (leaf, named) in named.iter_mut().enumerate() {
        if let Ok(Some(row)) = visibility.row(VisSet::Pvs, leaf) {
            named.push((leafs, row.iter().map(|leaf| leaf as i64).collect(), true));
        }
    }
}

/// Entities, with the colors of what they name.
fn entities(map: &Bsp<'_>, color: impl Fn(&str, i64) -> Option<u64>) -> Vec<u64> {
    let Ok(entities) = map.entities() else { return Vec::new() };
    let of = |entity: bspkit::content::entities::Entity<'_>| {
        let pairs = entity.pairs().map(|pair| {
            let text = std::str::from_utf8(pair.value).unwrap_or("");
            let number = match pair.key {
                b"model" => {
                    text.strip_prefix('*').and_then(|number| number.parse().ok()).and_then(|n| color("MODELS", n))
                }
                b"occludernumber" => text.parse().ok().and_then(|n| color("OCCLUSION.occluders", n)),
                _ => None,
            };
            number.map_or_else(|| hash((pair.key, pair.value)), |number| hash((pair.key, number)))
        });
        hash(pairs.collect::<Vec<_>>())
    };
    entities.iter().map(of).collect()
}
