//! The light of faces, whether all of it is in the lump and goes along with an edit; the texture lump of Quake and
//! GoldSrc.

use std::collections::HashMap;

use super::finding::{
    At, INDEX_RANGE, LIGHT_EXTENTS, LIGHT_GRID, LIGHT_KIND, LIGHT_MOVED, LIGHT_PAGE, LIGHT_RANGE, LUMP_UNCHECKED,
    STRING_PLACE, Sink, TEXTURE_FRAMES, TEXTURE_MIPS, TEXTURE_NAME, TEXTURE_NONE, TEXTURE_PIXELS, TEXTURE_PLACE,
    TEXTURE_SIZE, TEXTURE_SKY,
};
use super::lumps::Lumps;
use bspkit::bytes::{escaped, index, wide, word};
use bspkit::content::lightmap::{Block, LightFault, LightFaultKind, LightSet};
use bspkit::content::textures::{DrawnAs, SKY_SIZE, frame_faults};
use bspkit::dialect::bspx::LIGHT_SIZES;
use bspkit::dialect::{Form, LightModel, Role};
use bspkit::file::{Slot, SlotId};
use bspkit::{Bsp, Data};

// The light of faces: whether all of it is in the lump. The lens of light says where it is and how large.
//
// An empty lump gives no findings: maps that were never lit have offsets of 0, or old values.

pub(super) fn check(lumps: &Lumps<'_>, sink: &mut Sink) {
    check_grid(lumps.bsp, sink);
    check_kinds(lumps, sink);
    check_extents(lumps, sink);
    // What the lens cannot read is found elsewhere: records of no known form, lumps that do not decompress.
    let Ok(light) = lumps.bsp.light() else { return };
    // The faults of a copy are those of the light that it repeats.
    for set in light.sets().iter().filter(|set| set.copy_of().is_none()) {
        for fault in set.faults() {
            if !check_fault(lumps, set, fault, sink) {
                break;
            }
        }
    }
}

/// Returns false where the faces that follow were not looked at.
fn check_fault(lumps: &Lumps<'_>, set: &LightSet, fault: &LightFault, sink: &mut Sink) -> bool {
    let (code, field) = match fault.kind {
        // Indices that do not exist are found where all references are checked, vectors that are not finite where those
        // of texinfos are.
        LightFaultKind::Texinfo(_) | LightFaultKind::Edges => return true,
        LightFaultKind::Size if matches!(lumps.bsp.dialect().light, LightModel::Faces(it) if it.by_extents) => {
            return true;
        }
        LightFaultKind::Shared => {
            sink.add(&LUMP_UNCHECKED, At::lump(set.faces()).record(fault.face), || fault.kind.to_string());
            return false;
        }
        LightFaultKind::Size | LightFaultKind::Range { .. } if set.placed_by() != set.faces() => {
            (&LIGHT_RANGE, "offset")
        }
        LightFaultKind::Size | LightFaultKind::Range { .. } => (&LIGHT_RANGE, "light_offset"),
        LightFaultKind::Page { .. } => (&LIGHT_PAGE, "lightmap"),
        _ => return true,
    };
    let mut at = At::lump(set.placed_by()).record(fault.face).field(field);
    at.offset = lumps.named(set.placed_by()).and_then(|places| Some(places.columns([field]).ok()?[0].at(fault.face)));
    sink.add(code, at, || format!("{}: {}", set.lump(), fault.kind));
    true
}

/// Engines refuse faces that extend over too many texels, lit or not.
fn check_extents(lumps: &Lumps<'_>, sink: &mut Sink) {
    let Some(most) = lumps.checks().most_extents.map(index) else { return };
    let Some(faces) = lumps.role_lump(Role::Faces) else { return };
    // As above.
    for (face, [wide, high]) in lumps.bsp.face_sizes().unwrap_or_default() {
        let extent = (wide.max(high) - 1).saturating_mul(16);
        if extent > most {
            sink.add(&LIGHT_EXTENTS, At::lump(faces.name).record(face), || {
                format!("it extends over {extent} texels; the engine accepts {most}")
            });
        }
    }
}

/// The lights of Source's world are of one of six kinds (`emittype_t`).
fn check_kinds(lumps: &Lumps<'_>, sink: &mut Sink) {
    for name in ["WORLDLIGHTS", "WORLDLIGHTS_HDR"] {
        let Some(lights) = lumps.named(name) else { continue };
        let Ok([kinds]) = lights.columns(["kind"]) else { continue };
        for light in (0..lights.len()).filter(|light| !(0..=5).contains(&kinds.get(*light))) {
            let at = At::lump(lights.name()).record(light).offset(kinds.at(light)).field("kind");
            sink.add(&LIGHT_KIND, at, || format!("its kind is {}, not 0 to 5", kinds.get(light)));
        }
    }
}

/// The points of the grid fill the box of the world.
pub(super) fn check_grid(bsp: &Bsp<'_>, sink: &mut Sink) {
    let points = bsp.records(Role::LightGrid).ok().filter(|points| !points.is_empty());
    let Some(points) = points else { return };
    let at = At::lump(points.name());
    match bsp.light_grid() {
        Ok(grid) if grid.len() != points.len() => {
            let [x, y, z] = grid.counts();
            let have = points.len();
            sink.add(&LIGHT_GRID, at, || format!("it has {have} points, and the world's box needs {x} by {y} by {z}"));
        }
        Ok(_) => {}
        // Without a world, or if the text cannot be read, there is nothing to compare.
        Err(error) => {
            if error.place().and_then(|place| place.lump.as_deref()) == Some(points.name()) {
                sink.add(&LIGHT_GRID, at, || "the world's box and `gridsize` do not define a grid".into());
            }
        }
    }
}

// Light that an edit does not take along: luxels are bytes from an offset on, and how many of them a face reads
// follows from its corners, its texture axes and its styles. An edit of these makes the face read light of others.

/// The lumps from which the place and the size of light follow, apart from those of all faces.
const PLACES: [Role; 4] = [Role::TexInfo, Role::Vertexes, Role::Edges, Role::SurfEdges];

/// What a face reads: the columns and rows of its images, and their number.
type Size = ([usize; 2], usize);

/// Whether the place or the size of light follows from a slot.
pub fn places_light(bsp: &Bsp<'_>, slot: &Slot) -> bool {
    let LightModel::Faces(model) = bsp.dialect().light else { return false };
    let name = slot.name.as_str();
    let is_of_faces = model.lumps.iter().any(|lumps| lumps.faces.contains(&name) || lumps.placed_by == Some(name));
    is_of_faces || LIGHT_SIZES.contains(&name) || bsp.role_of(slot.id).is_some_and(|role| PLACES.contains(&role))
}

/// Finds the faces that read other light after an edit of these slots.
pub(super) fn check_relit(old: &Bsp<'_>, new: &Bsp<'_>, touched: &[SlotId], sink: &mut Sink) {
    let is_touched = |slot: &&Slot| touched.contains(&slot.id);
    if !old.slots().iter().filter(is_touched).any(|slot| places_light(old, slot)) {
        return;
    }
    let (Ok(before), Ok(after)) = (old.light(), new.light()) else { return };
    for set in after.sets() {
        let Some(was) = before.sets().iter().position(|was| was.name() == set.name()) else { continue };
        // What is wrong with the light is also wrong with its copies.
        if set.copy_of().is_none() {
            let luxels = [old, new].map(|bsp| luxels(bsp, set));
            Sides { sets: [&before.sets()[was], set], luxels }.check(sink);
        }
    }
}

/// The bytes of a set's lump.
fn luxels<'a>(bsp: &Bsp<'a>, set: &LightSet) -> Data<'a> {
    let slot = bsp.slot(set.lump()).ok();
    slot.and_then(|slot| bsp.little_endian(slot.id).ok()).unwrap_or_else(|| Data::from(Vec::new()))
}

/// The light of a set before and after.
struct Sides<'s, 'a> {
    sets: [&'s LightSet; 2],
    luxels: [Data<'a>; 2],
}

impl Sides<'_, '_> {
    fn check(&self, sink: &mut Sink) {
        let [before, after] = self.sets;
        match self.luxels[0] == self.luxels[1] {
            true => check_places(before, after, sink),
            false => self.check_faces(before, after, sink),
        }
    }

    /// Where the light is edited too, a face is at fault if it reads the old light with another size.
    fn check_faces(&self, before: &LightSet, after: &LightSet, sink: &mut Sink) {
        // Lit, unlit and faulty ones.
        let faces = |set: &LightSet| set.blocks().len() + set.unlit() + set.faults().len();
        if faces(before) != faces(after) {
            return;
        }
        for block in after.blocks() {
            let Some(was) = before.block_of(block.index()).map(|at| &before.blocks()[at]) else { continue };
            let shared = was.bytes().len().min(block.bytes().len());
            let bytes =
                |side: usize, block: &Block| self.luxels[side].get(block.bytes().start..block.bytes().start + shared);
            let is_same_place = was.bytes().start == block.bytes().start && bytes(0, was) == bytes(1, block);
            if is_same_place && size(was) != size(block) {
                resized(after, block, size(was), sink);
            }
        }
    }
}

/// Where the light is as it was, it has the sizes that faces had: each face begins where light of its size did.
fn check_places(before: &LightSet, after: &LightSet, sink: &mut Sink) {
    let mut sizes: HashMap<usize, Vec<Size>> = HashMap::new();
    for block in before.blocks() {
        let known = sizes.entry(block.bytes().start).or_default();
        // Light at one place has one size in maps of compilers.
        if known.len() < MOST_SIZES && !known.contains(&size(block)) {
            known.push(size(block));
        }
    }
    for block in after.blocks() {
        match sizes.get(&block.bytes().start) {
            Some(known) if known.contains(&size(block)) || known.len() >= MOST_SIZES => {}
            Some(known) => resized(after, block, known[0], sink),
            None => {
                let at = At::lump(after.faces()).record(block.index());
                sink.add(&LIGHT_MOVED, at, || {
                    format!(
                        "its light begins at {}, where that of no lit face began: it may show light of others",
                        block.bytes().start
                    )
                });
            }
        }
    }
}

/// The most sizes that are compared for one place.
const MOST_SIZES: usize = 16;

fn size(block: &Block) -> Size {
    (block.size(), block.styles().len() * block.planes())
}

fn resized(set: &LightSet, block: &Block, (was, old_images): Size, sink: &mut Sink) {
    let at = At::lump(set.faces()).record(block.index());
    let (is, images) = size(block);
    let of = |count: usize| if count == 1 { String::new() } else { format!(" in {count} images") };
    sink.add(&LIGHT_MOVED, at, || {
        format!(
            "it has {} by {} luxels{}, and its light at {} was made for {} by {}{}: it shows light of others",
            is[0],
            is[1],
            of(images),
            block.bytes().start,
            was[0],
            was[1],
            of(old_images)
        )
    });
}

// The texture lump of Quake and GoldSrc: a count, the offset of each texture, and the textures (`dmiptexlump_t`,
// `miptex_t`); the names of Source's textures.
//
// An offset of -1 is a missing texture; offsets of 0 within a texture mean that its pixels are in a WAD file. Both are
// legal in GoldSrc. Quake's engines read no WAD file: they take what follows the header for pixels.

/// `miptex_t`: a name of 16 bytes, width, height, and the offsets of its four pictures.
const HEADER: usize = 40;
const HEADER_SIZE: u64 = 40;
/// The number of colours and 256 colours, after the pictures.
const PALETTE: u64 = 2 + 768;

pub(super) fn check_textures(lumps: &Lumps<'_>, sink: &mut Sink) {
    check_strings(lumps, sink);
    check_pictures(lumps, sink);
}

fn check_pictures(lumps: &Lumps<'_>, sink: &mut Sink) {
    let Some(lump) = lumps.role_lump(Role::Textures) else { return };
    if lump.bytes.is_empty() {
        let texinfos = lumps.role(Role::TexInfo).filter(|all| !all.is_empty() && all.columns(["texture"]).is_ok());
        if let (Some(texinfos), 0) = (texinfos, lump.slot.length) {
            let count = texinfos.len();
            sink.add(&TEXTURE_NONE, At::lump(lump.name), || format!("it is empty, and {count} texinfos name textures"));
        }
        return;
    }
    let palette = match lump.row.as_ref().map(|row| row.form) {
        Ok(Form::Lens("textures")) => PALETTE,
        Ok(Form::Lens("textures without palettes")) => 0,
        _ => return,
    };
    let bytes: &[u8] = &lump.bytes;
    let Some(count) = word(bytes, 0) else { return };
    check_uses(lumps, lump.name, i64::from(count), sink);
    let room = (bytes.len() / 4).saturating_sub(1);
    let mut names = Vec::new();
    let Some(count) = usize::try_from(count).ok().filter(|count| *count <= room) else {
        return sink.add(&TEXTURE_PLACE, At::lump(lump.name).offset(0), || {
            format!("its {} bytes have no room for the offsets of {count} textures", bytes.len())
        });
    };
    for texture in 0..count {
        let entry = 4 + texture * 4;
        let offset = word(bytes, entry).unwrap_or(-1);
        if offset == -1 {
            continue;
        }
        let at = At::lump(lump.name).record(texture);
        let start = usize::try_from(offset).ok();
        let Some(header) = start.and_then(|start| bytes.get(start..start.checked_add(HEADER)?)) else {
            sink.add(&TEXTURE_PLACE, at.offset(entry), || {
                format!("it begins at {offset}, and the lump has {} bytes", bytes.len())
            });
            continue;
        };
        let number = |at: usize| word(header, at).map_or(0, |number| u64::from(number.cast_unsigned()));
        let [width, height, pixels] = [number(16), number(20), number(24)];
        let own_name = header[..16].split(|byte| *byte == 0).next().unwrap_or_default();
        if own_name.starts_with(b"+") {
            names.push((own_name.to_vec(), (texture, start.unwrap_or(0))));
        }
        let name = || escaped(own_name).to_string();
        let at = at.offset(start.unwrap_or(0));
        if !header[..16].contains(&0) {
            sink.add(&TEXTURE_NAME, at, || "its 16 bytes have no NUL after the name".to_owned());
        }
        if width % 16 != 0 || height % 16 != 0 {
            sink.add(&TEXTURE_SIZE, at, || format!("`{}` is {width} by {height} pixels", name()));
        }
        let (sky_width, sky_height) = SKY_SIZE;
        let is_sky = palette == 0 && pixels != 0 && DrawnAs::by_name(own_name, false) == DrawnAs::Sky;
        if is_sky && (width, height) != (sky_width.into(), sky_height.into()) {
            sink.add(&TEXTURE_SKY, at, || {
                format!("`{}` is {width} by {height} pixels, not {sky_width} by {sky_height}", name())
            });
        }
        // A product of two 32-bit numbers; with the smaller sizes it can exceed 64 bits.
        let area = width * height;
        let mips = [0, area, (area / 4).saturating_mul(5), (area / 16).saturating_mul(21)]
            .map(|size| size.saturating_add(HEADER_SIZE));
        if pixels != 0 && width % 16 == 0 && height % 16 == 0 && [24, 28, 32, 36].map(number) != mips {
            sink.add(&TEXTURE_MIPS, at.offset(start.unwrap_or(0) + 24), || {
                format!("the sizes of `{}` begin at {:?}, not at {mips:?}", name(), [24, 28, 32, 36].map(number))
            });
        }
        if pixels == 0 && area > 0 && palette == 0 {
            sink.add(&TEXTURE_PIXELS, at, || {
                format!("`{}` is {width} by {height} pixels, and none of them are here", name())
            });
        }
        let size = area.saturating_mul(85) / 64;
        let end = wide(start.unwrap_or(0) + HEADER).saturating_add(size).saturating_add(palette);
        if pixels != 0 && end > wide(bytes.len()) {
            sink.add(&TEXTURE_PLACE, at, || {
                format!("the pixels and colours of `{}` end at {end}, and the lump has {} bytes", name(), bytes.len())
            });
        }
    }
    check_frames(lump.name, &names, sink);
}

/// Faults of animation frames at which engines stop.
fn check_frames(lump: &str, names: &[(Vec<u8>, (usize, usize))], sink: &mut Sink) {
    for ((texture, start), fault) in frame_faults(names) {
        let at = At::lump(lump).record(texture).offset(start);
        sink.add(&TEXTURE_FRAMES, at, || fault.to_string());
    }
}

/// The textures that texinfos refer to must be in the directory; the engine stops at one that is not.
fn check_uses(lumps: &Lumps<'_>, name: &str, count: i64, sink: &mut Sink) {
    let Some(texinfos) = lumps.role(Role::TexInfo) else { return };
    let Ok([column]) = texinfos.columns(["texture"]) else { return };
    for index in 0..texinfos.len() {
        let texture = column.get(index);
        if !(0..count).contains(&texture) {
            let at = At::lump(texinfos.name()).record(index).offset(column.at(index)).field("texture");
            sink.add(&INDEX_RANGE, at, || format!("texture is {texture}, and {name} has {count}"));
        }
    }
}

/// The bytes of a texture's name with its NUL (`TEXTURE_NAME_LENGTH`).
const MOST_NAME: usize = 128;

/// The table has the offset of each name in the strings.
fn check_strings(lumps: &Lumps<'_>, sink: &mut Sink) {
    let (Some(table), Some(strings)) = (lumps.named("TEXDATA_STRING_TABLE"), lumps.lump("TEXDATA_STRING_DATA")) else {
        return;
    };
    let Ok([offsets]) = table.columns(["offset"]) else { return };
    let len = strings.bytes.len();
    for index in 0..table.len() {
        let offset = offsets.get(index);
        if !usize::try_from(offset).is_ok_and(|offset| offset < len) {
            let at = At::lump(table.name()).record(index).offset(offsets.at(index)).field("offset");
            sink.add(&STRING_PLACE, at, || format!("it begins at {offset}, and {} has {len} bytes", strings.name));
            continue;
        }
        let rest = usize::try_from(offset).ok().and_then(|offset| strings.bytes.get(offset..)).unwrap_or_default();
        let at = At::lump(table.name()).record(index).offset(offsets.at(index)).field("offset");
        match rest.iter().take(MOST_NAME).position(|byte| *byte == 0) {
            Some(_) => {}
            None if rest.len() < MOST_NAME => {
                sink.add(&STRING_PLACE, at, || format!("no NUL ends the name at {offset} of {}", strings.name));
            }
            None => sink.add(&TEXTURE_NAME, at, || format!("its name has more than {} bytes", MOST_NAME - 1)),
        }
    }
}
