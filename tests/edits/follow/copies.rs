//! Copies and removals of single records, looked at from the tree: which brushes and faces each leaf of each model has,
//! by their planes. The layouts are written down once more; nothing here follows the library's references.

use std::collections::{BTreeMap, BTreeSet};

use bspkit::{Bsp, ErrorKind, Hint};
use bspkit_ops::check;

use super::maps::{fixtures, real, saved};
use super::shuffle::{self, Random};
use super::walk::hash;

/// Where numbers stand in the records of a family: the size of a record, then offsets.
struct Layout {
    /// The planes: the size, and how many bytes of one count.
    plane: (usize, usize),
    node: usize,
    /// The leaf: its size, and where the first face and the first brush are.
    leaf: (usize, usize, usize),
    /// The bytes of a number in the lists of leafs, and in leafs.
    wide: bool,
    /// The model: its size, the head node, the first face.
    model: (usize, Option<usize>, usize),
    /// The side: its size, and whether its numbers have 32 bits.
    side: (usize, bool),
    /// The face: its size; of polygons that of the first edge.
    face: (usize, usize),
    lumps: [&'static str; 4],
}

const FACES: [&str; 4] = ["LEAFFACES", "FACES", "LEAFBRUSHES", "BRUSHES"];
const QUAKE2: Layout = Layout {
    plane: (20, 16),
    node: 28,
    leaf: (28, 20, 24),
    wide: false,
    model: (48, Some(36), 40),
    side: (4, false),
    face: (20, 4),
    lumps: FACES,
};
const QUAKE3: Layout = Layout {
    plane: (16, 16),
    node: 36,
    leaf: (48, 32, 40),
    wide: true,
    model: (40, None, 24),
    side: (8, true),
    face: (104, 12),
    lumps: ["LEAFSURFACES", "SURFACES", "LEAFBRUSHES", "BRUSHES"],
};
const QUAKE: Layout = Layout {
    plane: (20, 16),
    node: 24,
    leaf: (28, 20, 0),
    wide: false,
    model: (64, Some(36), 56),
    side: (0, false),
    face: (20, 4),
    lumps: ["MARKSURFACES", "FACES", "", ""],
};

fn layout(map: &Bsp<'_>) -> Option<Layout> {
    let len = |lump: &str| map.slot(lump).ok().and_then(|slot| Some(map.bytes(slot.id).ok()?.len())).unwrap_or(0);
    Some(match map.dialect().name {
        "quake" | "goldsrc" => QUAKE,
        "quake2" => QUAKE2,
        "quake3" => QUAKE3,
        "raven" => Layout { side: (12, true), face: (148, 12), ..QUAKE3 },
        "source" => {
            let count = len("NODES") / 32 + len("MODELS") / 48 + 1;
            let leaf = (len("LEAFS") / count, 20, 24);
            Layout { node: 32, leaf, side: (8, false), face: (56, 4), ..QUAKE2 }
        }
        _ => return None,
    })
}

/// The bytes of each lump, by name.
struct Lumps<'m>(BTreeMap<&'m str, Vec<u8>>, Layout);

impl Lumps<'_> {
    fn int(&self, lump: &str, at: usize) -> Option<i64> {
        self.0.get(lump)?.get(at..at + 4).map(|bytes| i32::from_le_bytes(bytes.try_into().unwrap()).into())
    }

    fn number(&self, lump: &str, at: usize, wide: bool) -> Option<usize> {
        let bytes = self.0.get(lump)?.get(at..)?;
        match wide {
            true => usize::try_from(i32::from_le_bytes(*bytes.first_chunk()?)).ok(),
            false => Some(u16::from_le_bytes(*bytes.first_chunk()?).into()),
        }
    }

    fn plane(&self, index: usize) -> Option<Vec<u8>> {
        let (size, most) = self.1.plane;
        self.0.get("PLANES")?.get(index * size..index * size + most).map(<[u8]>::to_vec)
    }

    /// The planes that bound a brush, as a set.
    fn brush(&self, index: usize) -> Option<u64> {
        let [first, count] = [0, 4].map(|at| self.number("BRUSHES", 12 * index + at, true));
        let (size, wide) = self.1.side;
        let side = |side: usize| self.plane(self.number("BRUSHSIDES", side * size, wide)?);
        let (first, count) = (first?, count?);
        Some(hash((first..first + count).map(side).collect::<Option<BTreeSet<_>>>()?))
    }

    /// The plane or the material of a face and how many corners it has.
    fn face(&self, index: usize) -> Option<u64> {
        let (size, at) = self.1.face;
        let bytes = self.0.get(self.1.lumps[1])?.get(index * size..(index + 1) * size)?;
        let own = if self.1.wide {
            let shader = self.number("SURFACES", index * size, true)?;
            self.0.get("SHADERS")?.get(72 * shader..72 * shader + 64)?.to_vec()
        } else {
            self.plane(self.number(self.1.lumps[1], index * size, false)?)?
        };
        Some(hash((own, &bytes[at + 4..at + 6])))
    }

    /// What each leaf of a model has, from the front to the back, each with how often.
    fn tree(&self, head: i64) -> Option<Vec<Leaf>> {
        let (mut open, mut leafs, mut steps) = (vec![head], Vec::new(), 0);
        while let Some(child) = open.pop() {
            steps += 1;
            if steps > 1_000_000 {
                return None;
            }
            if let Ok(node) = usize::try_from(child) {
                let at = node * self.1.node;
                match self.1.node {
                    // Quake has children of 16 bits.
                    24 => {
                        let child = |at| self.number("NODES", at, false).map(|child| i64::from(child as u16 as i16));
                        open.extend([child(at + 6)?, child(at + 4)?]);
                    }
                    _ => open.extend([self.int("NODES", at + 8)?, self.int("NODES", at + 4)?]),
                }
                continue;
            }
            let (size, faces, brushes) = self.1.leaf;
            let at = usize::try_from(-1 - child).ok()? * size;
            let list = |place: usize, lump: usize, what: &dyn Fn(usize) -> Option<u64>| {
                let step = if self.1.wide { 4 } else { 2 };
                let (first, count) = (
                    self.number("LEAFS", at + place, self.1.wide)?,
                    self.number("LEAFS", at + place + step, self.1.wide)?,
                );
                let mut found = BTreeMap::new();
                for entry in first..first + count {
                    *found.entry(what(self.number(self.1.lumps[lump], entry * step, self.1.wide)?)?).or_insert(0) += 1;
                }
                Some(found)
            };
            let brushes = if brushes == 0 { BTreeMap::new() } else { list(brushes, 2, &|brush| self.brush(brush))? };
            leafs.push(Leaf { faces: list(faces, 0, &|face| self.face(face))?, brushes });
        }
        Some(leafs)
    }

    /// All models, with the faces that they have themselves; `None` where a number leads nowhere.
    fn models(&self) -> Option<Vec<(Vec<Leaf>, BTreeSet<u64>)>> {
        let (size, head, first) = self.1.model;
        let models = self.0.get("MODELS")?.len() / size;
        let model = |model: usize| {
            let at = model * size;
            let (first, count) =
                (self.number("MODELS", at + first, true)?, self.number("MODELS", at + first + 4, true)?);
            let faces = (first..first + count).map(|face| self.face(face)).collect::<Option<_>>()?;
            // In Quake III only the world has a tree.
            let tree = match head {
                None if model > 0 => Vec::new(),
                None => self.tree(0)?,
                Some(head) => self.tree(self.int("MODELS", at + head)?)?,
            };
            Some((tree, faces))
        };
        (0..models).map(model).collect()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Leaf {
    faces: BTreeMap<u64, usize>,
    brushes: BTreeMap<u64, usize>,
}

type Models = Vec<(Vec<Leaf>, BTreeSet<u64>)>;

fn look(map: &Bsp<'_>) -> Option<Models> {
    let bytes = map.slots().iter().filter_map(|slot| Some((slot.name.as_str(), map.bytes(slot.id).ok()?.to_vec())));
    Lumps(bytes.collect(), layout(map)?).models()
}

/// How many entries the leafs have in all.
fn entries(models: &Models) -> usize {
    let leafs = models.iter().flat_map(|(leafs, _)| leafs);
    leafs.map(|leaf| leaf.faces.values().sum::<usize>() + leaf.brushes.values().sum::<usize>()).sum()
}

/// Whether the models are the same but for how often something is listed.
fn is_same(one: &Models, other: &Models) -> bool {
    let is_leaf = |(one, other): (&Leaf, &Leaf)| {
        one.faces.keys().eq(other.faces.keys()) && one.brushes.keys().eq(other.brushes.keys())
    };
    let is_model = |((one, faces), (other, others)): (&(Vec<Leaf>, _), &(Vec<Leaf>, _))| {
        faces == others && one.len() == other.len() && one.iter().zip(other).all(is_leaf)
    };
    one.len() == other.len() && one.iter().zip(other).all(is_model)
}

/// Whether the first has nothing that the other has not, where no tree and no model is gone.
fn is_less(one: &Models, other: &Models) -> bool {
    let within = |one: &BTreeMap<u64, usize>, other: &BTreeMap<u64, usize>| {
        one.iter().all(|(what, count)| other.get(what).is_some_and(|most| count <= most))
    };
    let is_leaf =
        |(one, other): (&Leaf, &Leaf)| within(&one.faces, &other.faces) && within(&one.brushes, &other.brushes);
    one.len() != other.len()
        || one.iter().zip(other).all(|((one, faces), (other, others))| {
            faces.is_subset(others) && (one.len() != other.len() || one.iter().zip(other).all(is_leaf))
        })
}

/// Whether each displacement and its face name each other, and has vertexes of its own.
fn displacements_agree(map: &Bsp<'_>) -> bool {
    let Some(layout) = layout(map).filter(|_| map.dialect().name == "source") else { return true };
    let bytes = |name: &'static str| Some((name, map.bytes(map.slot(name).ok()?.id).ok()?.to_vec()));
    let lumps = Lumps(["DISPINFO", "FACES"].into_iter().filter_map(bytes).collect(), layout);
    let count = lumps.0.get("DISPINFO").map_or(0, |bytes| bytes.len() / 176);
    let mut next = 0;
    (0..count).all(|disp| {
        let [vertex, power] = [12, 20].map(|at| lumps.number("DISPINFO", 176 * disp + at, true));
        let face = lumps.number("DISPINFO", 176 * disp + 36, false);
        let back = face.and_then(|face| lumps.number("FACES", 56 * face + 12, false));
        let is_next = vertex == Some(next);
        next += power.map_or(0, |power| ((1 << power) + 1) * ((1 << power) + 1));
        back == Some(disp) && is_next
    })
}

/// How often each piece is there: the number of its brush, and two sums of its content.
type Pieces = BTreeMap<(i64, u64, u64), usize>;

/// The convex pieces of collision models, by model, with the planes of their brushes and their own bytes; how many name
/// a brush by its number.
fn pieces(map: &Bsp<'_>, record: usize) -> Option<(Pieces, usize)> {
    let bytes = map.slots().iter().filter_map(|slot| Some((slot.name.as_str(), map.bytes(slot.id).ok()?.to_vec())));
    let lumps = Lumps(bytes.collect(), layout(map).filter(|_| map.dialect().name == "source")?);
    let int = |at: usize| lumps.int("PHYSCOLLIDE", at);
    let size = |at: usize| usize::try_from(int(at)?).ok();
    let (mut found, mut named, mut block) = (BTreeMap::new(), 0, 0);
    while size(block + 4).is_some_and(|size| size > 0) {
        let mut solid = block + 16;
        for _ in 0..size(block + 12)? {
            // The head of 28 bytes, and 32 bytes on in the surface the way to the tree.
            let surface = solid + 4 + 28;
            if lumps.0["PHYSCOLLIDE"].get(surface + 44..surface + 48)? != b"IVPS" {
                return None;
            }
            let mut open = vec![surface + size(surface + 32)?];
            while let Some(node) = open.pop() {
                match size(node)? {
                    0 => {
                        let piece = usize::try_from(i64::try_from(node).unwrap() + int(node + 4)?).ok()?;
                        let end = piece + 16 + 16 * (size(piece + 12)? & 0xFFFF);
                        let own = hash(lumps.0["PHYSCOLLIDE"].get(piece + 8..end)?);
                        let brush = size(piece + 4)?;
                        named += usize::from(brush == record);
                        *found.entry((int(block)?, lumps.brush(brush)?, own)).or_insert(0) += 1;
                    }
                    right => open.extend([node + right, node + 28]),
                }
            }
            solid += 4 + size(solid)?;
        }
        block += 16 + size(block + 4)? + size(block + 8)?;
    }
    Some((found, named))
}

/// Whether the pieces go with their brushes, and no other does.
fn pieces_agree(map: &Bsp<'_>, after: &Bsp<'_>, Try { what, list, record, .. }: Try<'_>) -> bool {
    let Some((before, named)) = pieces(map, record) else { return true };
    let Some((now, _)) = pieces(after, record) else { return false };
    let count = |pieces: &BTreeMap<_, usize>| pieces.values().sum::<usize>();
    let is_less = now.iter().all(|(piece, count)| before.get(piece).is_some_and(|before| count <= before));
    match (what, list) {
        ("dup", _) => now == before,
        (_, "BRUSHES") => is_less && count(&before) - count(&now) == named,
        _ => is_less,
    }
}

/// The entries of a list of leafs, and how many of them name a record.
fn listed(map: &Bsp<'_>, list: &str, record: usize) -> Option<(usize, usize)> {
    let layout = layout(map)?;
    let name = match list {
        "FACES" | "SURFACES" => layout.lumps[0],
        "BRUSHES" => layout.lumps[2],
        _ => return None,
    };
    let bytes = map.bytes(map.slot(name).ok()?.id).ok()?.to_vec();
    let (len, step) = (bytes.len(), if layout.wide { 4 } else { 2 });
    let lumps = Lumps(BTreeMap::from([(name, bytes)]), layout);
    let names = |entry: &usize| lumps.number(name, entry * step, step == 4) == Some(record);
    Some((len / step, (0..len / step).filter(names).count()))
}

/// An edit of a single record.
#[derive(Clone, Copy)]
struct Try<'t> {
    what: &'static str,
    list: &'t str,
    record: usize,
    /// A field that does not follow.
    fault: Option<&'t str>,
}

const WHAT: [&str; 3] = ["dup", "rm", "rm --cascade"];

/// The reason why an edit is refused, if it is; otherwise what is wrong with the map after it, if anything is.
fn attempt(map: &Bsp<'_>, before: &Models, edit: Try<'_>) -> Result<Option<String>, String> {
    let Try { what, list, record, fault } = edit;
    let mut draft = map.draft();
    let structure = draft.structure().whole().cascade(what == "rm --cascade");
    let structure = fault.into_iter().fold(structure, |structure, field| structure.ignore(field));
    let edited = match what {
        "dup" => structure.duplicate_list(list, record..record + 1),
        _ => structure.remove(&[(list, &[record])]),
    };
    if let Err(error) = edited {
        assert_eq!(error.kind(), ErrorKind::Refused, "{what} {list}[{record}]: {error:?}");
        return Err(error.to_string());
    }
    // A damaged map has no room for some edits.
    let file = draft.plan(bspkit::Layout::Keep).map_err(|error| error.to_string())?;
    let after = Bsp::from_vec(file.to_vec()).unwrap();
    let Some(now) = look(&after) else { return Ok(Some("a number leads nowhere".to_owned())) };
    let is_right = match what {
        "dup" => is_same(&now, before) && entries(&now) >= entries(before),
        _ => is_less(&now, before),
    };
    if !is_right {
        return Ok(Some("leafs have other brushes or faces".to_owned()));
    }
    if let (Some((had, named)), Some((has, _))) = (listed(map, list, record), listed(&after, list, record)) {
        let is_it = if what == "dup" { has == had + named } else { has + named <= had };
        if !is_it {
            return Ok(Some(format!("{has} entries of leafs, and {had} before, of which {named} named it")));
        }
    }
    if displacements_agree(map) && !displacements_agree(&after) {
        return Ok(Some("displacements do not go with their faces".to_owned()));
    }
    if !pieces_agree(map, &after, edit) {
        return Ok(Some("collision models do not go with their brushes".to_owned()));
    }
    let errors = check::introduced(&draft, &check::Options::default()).unwrap();
    let error = errors.iter().find(|found| found.is_error());
    Ok(error.map(|error| format!("{}: {}", error.code.name, error.message)))
}

/// What was done how often, and how often what was refused, with a reason.
#[derive(Debug, Default)]
struct Done(BTreeMap<String, usize>, BTreeMap<String, (usize, String)>);

/// Copies and removes single records of all lists; each edit that is not refused has to give the map that it says.
fn try_all(name: &str, map: &Bsp<'_>, tries: usize, done: &mut Done) {
    let Some(before) = look(map) else { return };
    let (family, mut random) = (map.dialect().name, Random(hash(name)));
    for (list, info, bytes) in shuffle::lists(map) {
        let len = bytes.len() / info.size;
        for _ in 0..if len > 0 { tries } else { 0 } {
            let record = random.below(len);
            for what in WHAT {
                let of = format!("{family} {what} {list}");
                match attempt(map, &before, Try { what, list: &list, record, fault: None }) {
                    // A world without a face, and the lump of a map that was ragged.
                    Ok(Some(wrong)) if ["lump-empty", "lump-ragged"].iter().any(|code| wrong.starts_with(code)) => {}
                    Ok(Some(wrong)) => panic!("{name}: {what} {list}[{record}]: {wrong}"),
                    Ok(None) => *done.0.entry(of).or_default() += 1,
                    Err(why) => {
                        let refused = done.1.entry(of).or_default();
                        *refused = (refused.0 + 1, why);
                    }
                }
            }
        }
    }
}

#[test]
fn single_records_are_copied_and_removed_rightly() {
    let mut done = Done::default();
    for (name, map) in fixtures() {
        try_all(&name, &map, 3, &mut done);
    }
    for (name, map) in real(600_000, 10_000_000) {
        try_all(&name, &map, 1, &mut done);
    }
    eprintln!("{done:#?}");
    for what in ["BRUSHES", "BRUSHSIDES", "FACES"] {
        assert!(done.0.contains_key(&format!("source dup {what}")), "{what}: {:#?}", done.1);
    }
    assert!(done.0.values().sum::<usize>() > 300, "{:#?}", done.0);
}

/// Planted faults: a field does not follow, and the look from the tree, or the checks, see it.
#[test]
fn a_copy_that_is_not_whole_is_seen() {
    let faults = [
        ("dup", "BRUSHES", "LEAFBRUSHES.brush"),
        ("dup", "BRUSHES", "LEAFS.first_leaf_brush"),
        ("dup", "BRUSHES", "BRUSHES.first_side"),
        ("dup", "BRUSHSIDES", "BRUSHES.first_side"),
        ("dup", "FACES", "LEAFFACES.face"),
        ("dup", "FACES", "LEAFS.first_leaf_face"),
        ("dup", "FACES", "MODELS.first_face"),
        ("rm", "BRUSHES", "LEAFBRUSHES.brush"),
        ("rm", "BRUSHES", "LEAFS.first_leaf_brush"),
        ("rm", "FACES", "LEAFFACES.face"),
        ("rm --cascade", "TEXINFO", "LEAFFACES.face"),
    ];
    let map = Bsp::open("tests/maps/source/room_v20.bsp").unwrap();
    are_seen(&map, &faults);
    // Fixtures have no pieces that name brushes.
    let has_pieces = |(_, map): &(String, Bsp<'_>)| pieces(map, 0).is_some_and(|(found, _)| found.len() > 4);
    if let Some((_, map)) = real(600_000, 600_000).find(has_pieces) {
        are_seen(&map, &[("rm", "BRUSHES", "PHYSCOLLIDE.brushes"), ("dup", "BRUSHES", "PHYSCOLLIDE.brushes")]);
    }
}

fn are_seen(map: &Bsp<'_>, faults: &[(&'static str, &str, &str)]) {
    let before = look(map).unwrap();
    for (what, list, field) in faults.iter().copied() {
        let info = shuffle::lists(map).into_iter().find(|(name, ..)| name == list).unwrap();
        let mut each = (0..info.2.len() / info.1.size).filter_map(|record| {
            let edit = |fault| attempt(map, &before, Try { what, list, record, fault });
            let whole = edit(None).ok()?;
            assert_eq!(whole, None, "{what} {list}[{record}]");
            // A fault that is refused is seen too.
            Some(edit(Some(field)).map_or(true, |wrong| wrong.is_some()))
        });
        assert!(each.any(|is_seen| is_seen), "nobody misses {field} where {list} is edited by {what}");
    }
}

/// What goes with a copy, and where it is.
#[test]
fn copies_have_parts_of_their_own() {
    let map = Bsp::open("tests/maps/source/room_v20.bsp").unwrap();
    let number = |map: &Bsp<'_>, lump: &str, at: usize| {
        let bytes = map.bytes(map.slot(lump).unwrap().id).unwrap();
        usize::try_from(i32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())).unwrap()
    };
    let len = |map: &Bsp<'_>, lump: &str| map.bytes(map.slot(lump).unwrap().id).unwrap().len();
    let mut draft = map.draft();
    draft.structure().whole().duplicate_list("BRUSHES", 1..3).unwrap();
    let after = saved(&draft);
    // Two brushes of six sides each, copied as a block: the copies have the sides 18 to 30.
    let first = |brush: usize| number(&after, "BRUSHES", 12 * brush);
    assert_eq!([0, 1, 2, 3, 4, 5].map(first), [0, 6, 12, 18, 24, 30]);
    assert_eq!(len(&after, "BRUSHSIDES"), len(&map, "BRUSHSIDES") + 12 * 8);
    // The copies go with their sides and entries, and every byte is as it was.
    draft.structure().whole().remove(&[("BRUSHES", &[3, 4])]).unwrap();
    assert!(draft.changes().unwrap().is_empty());

    // A side may be there twice, and goes again; an only one is needed.
    draft.structure().whole().duplicate_list("BRUSHSIDES", 8..9).unwrap();
    assert_eq!(number(&saved(&draft), "BRUSHES", 12 + 4), 7);
    draft.structure().whole().remove(&[("BRUSHSIDES", &[8])]).unwrap();
    assert!(draft.changes().unwrap().is_empty());
    let needed = draft.structure().whole().remove(&[("BRUSHSIDES", &[8])]).unwrap_err().to_string();
    assert!(needed.contains("still needed: by BRUSHES[1].first_side"), "{needed}");
    let among = draft.structure().whole().duplicate_list("BRUSHSIDES", 4..8).unwrap_err().to_string();
    assert!(among.contains("BRUSHES[1].first_side"), "{among}");

    // Quake III reads the first six sides as a box.
    let map = Bsp::open("tests/maps/q3/own_rooms.bsp").unwrap();
    let mut draft = map.draft();
    let among = draft.structure().duplicate_list("BRUSHSIDES", 2..3).unwrap_err().to_string();
    assert!(among.contains("new ones would be among them"), "{among}");
    draft.structure().duplicate_list("BRUSHSIDES", 5..6).unwrap();
    assert_eq!(number(&saved(&draft), "BRUSHES", 4), number(&map, "BRUSHES", 4) + 1);
}

/// Edits that would part a tree name the commands that do it, and never say that they can be forced.
#[test]
fn refusals_of_trees_name_the_way() {
    let map = Bsp::open("tests/maps/source/room_v20.bsp").unwrap();
    let hint = |what: &str, list: &str, record: usize| {
        let mut draft = map.draft();
        let edit = draft.structure().whole().cascade(true);
        let error = match what {
            "dup" => edit.duplicate_list(list, record..record + 1),
            _ => edit.remove(&[(list, &[record])]),
        };
        error.unwrap_err().hint().unwrap_or_else(|| panic!("{what} {list}")).clone()
    };
    for (what, list) in [("dup", "LEAFS"), ("dup", "NODES"), ("rm", "LEAFS"), ("rm", "NODES")] {
        assert_eq!(hint(what, list, 2), Hint::Tree, "{what} {list}");
    }
    assert_eq!(hint("dup", "MODELS", 1), Hint::CopyModel);
}
