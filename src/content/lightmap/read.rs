//! Where the light of each face is, by the dialect's model.

use super::block::Block;
use super::fault::{LightFault, LightFaultKind};
use super::sizes::Sizes;
use super::{Light, LightSet, pages};
use crate::bsp::Bsp;
use crate::bytes::Data;
use crate::content::lens::Reader;
use crate::dialect::bspx::DecoupledLight;
use crate::dialect::{
    Averages, FaceForm, FaceLight, Key, LightLumps, LightModel, LitFace, LuxelForm, Role, TextureForm, TextureLight,
};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::file::SlotId;
use crate::record::{Field, Record, RecordInfo, Table};

pub(super) fn sets<'a>(from: &Reader<'_, 'a>, light: &mut Light<'a>) -> Result<()> {
    let model = from.bsp().dialect().light;
    match model {
        LightModel::Pages(model) => pages::read(from, model, light),
        LightModel::Faces(model) => {
            for lumps in model.lumps {
                face_set(from, model, lumps, light)?;
            }
            Ok(())
        }
    }
}

/// A lump by its name, if it has bytes.
pub(super) fn filled<'a>(from: &Reader<'_, 'a>, name: &str) -> Result<Option<(SlotId, Data<'a>)>> {
    let Some(slot) = from.bsp().slots().iter().find(|slot| slot.name == name) else { return Ok(None) };
    from.bsp().check_there(slot)?;
    let bytes = from.bytes(slot.id)?;
    Ok((!bytes.is_empty()).then_some((slot.id, bytes)))
}

fn face_set<'a>(from: &Reader<'_, 'a>, model: &FaceLight, lumps: &LightLumps, light: &mut Light<'a>) -> Result<()> {
    // Without luxels the offsets of faces have no meaning: maps that were never lit have any value there.
    let Some((slot, luxels)) = filled(from, lumps.light)? else { return Ok(()) };
    // Engines also ignore a copy with another number of luxels.
    let bsp = from.bsp();
    let is_whole = || bsp.container().slot(slot).is_some_and(|slot| bsp.row(slot).is_ok());
    if lumps.copied.is_some() && !is_whole() {
        return Ok(());
    }
    let mut found = None;
    for name in lumps.faces {
        found = found.or(filled(from, name)?.map(|(slot, faces)| (slot, faces, *name)));
    }
    let Some((face_slot, faces, faces_name)) = found else { return Ok(()) };
    let places = match lumps.placed_by.map(|name| filled(from, name)).transpose()? {
        None => None,
        Some(None) => return Ok(()),
        Some(places) => places.map(|(_, places)| places),
    };
    let form = record_of(bsp, face_slot, model.faces, |form: &FaceForm| form.record)?;
    let textures = Textures::read(from, model)?;
    let sizes = if model.by_extents { Some(Sizes::read(from)?) } else { None };
    let extra = extra_bytes(from, model)?;
    let luxel = lumps.copied.map_or(model.luxels, |copied| copied.luxels);
    let lump = luxels.len();
    let mut finder = Finder { model, luxel, form, textures, sizes, extra, places, lump, found: Vec::new() };
    let (mut unlit, mut faults) = (0, Vec::new());
    for (index, record) in faces.chunks_exact(form.record.size).enumerate() {
        let Some(face) = (form.read)(record) else { continue };
        match finder.block(index, &face) {
            Ok(None) => unlit += 1,
            Ok(Some(found)) => finder.found.push(found),
            Err(kind) => faults.push(LightFault { face: index, kind }),
        }
    }
    let blocks = finder.settle(&mut unlit, &mut faults);
    faults.sort_by_key(|fault| fault.face);
    let lump = light.hold(from, slot, luxels);
    let faces = matches!(form.averages, Averages::InFace(_)).then(|| light.hold(from, face_slot, faces));
    let (name, lump_name, form) = (lumps.name, lumps.light, luxel);
    let copy_of = lumps.copied.and_then(|copied| light.sets.iter().position(|set| set.name == copied.of));
    let is_pages = false;
    light.sets.push(LightSet {
        name,
        lump_name,
        faces_name,
        lump,
        faces,
        form,
        copy_of,
        is_pages,
        blocks,
        unlit,
        faults,
    });
    Ok(())
}

/// The form of a lump's records.
pub(in crate::content) fn record_of<'f, F>(
    bsp: &Bsp<'_>,
    slot: SlotId,
    forms: &'f [F],
    record: impl Fn(&F) -> &'static RecordInfo,
) -> Result<&'f F> {
    let slot = bsp.container().slot(slot).ok_or_else(|| Error::new(ErrorKind::NotFound, "the map has no faces"))?;
    let unknown = |why: String| {
        let message = format!("the records in {} are not known, so light cannot be found: {why}", slot.name);
        Error::new(ErrorKind::Unsupported, message).at(Place::default().lump(&slot.name))
    };
    let row = bsp.row(slot).map_err(|why| unknown(why.to_string()))?;
    let is = |found: &RecordInfo, form: &F| (record(form).type_id)() == (found.type_id)();
    let found = row.record().and_then(|found| forms.iter().find(|form| is(found, form)));
    found.ok_or_else(|| unknown("no known field of its records is about light".to_owned()))
}

/// The number of bytes per luxel after the light of each face.
fn extra_bytes<'a>(from: &Reader<'_, 'a>, model: &FaceLight) -> Result<usize> {
    let Some(extra) = model.extra else { return Ok(0) };
    let Some((_, flags)) = filled(from, extra.flags)? else { return Ok(0) };
    let bits = flags.first().copied().unwrap_or(0) & extra.mask;
    Ok(extra.bytes.iter().find(|(value, _)| *value == bits).map_or(0, |(_, bytes)| *bytes))
}

/// The texinfo of a map.
pub(super) struct Textures<'a, 'f> {
    form: &'f TextureForm,
    bytes: Data<'a>,
}

impl<'a, 'f> Textures<'a, 'f> {
    pub(super) fn read(from: &Reader<'_, 'a>, model: &'f FaceLight) -> Result<Self> {
        let none = || Error::new(ErrorKind::NotFound, "the map has no texinfo");
        let bsp = from.bsp();
        let slot = bsp.role(Role::TexInfo).ok_or_else(none)?;
        let form = record_of(bsp, slot.id, model.textures, |form| form.record)?;
        Ok(Textures { form, bytes: from.bytes(slot.id)? })
    }

    pub(super) fn get(&self, index: i32) -> Option<TextureLight> {
        let start = usize::try_from(index).ok()?.checked_mul(self.form.record.size)?;
        (self.form.read)(self.bytes.get(start..)?)
    }
}

/// The records of a role, as the draft has them.
pub(super) fn table<'a, R: Record>(from: &Reader<'_, 'a>, role: Role) -> Result<Table<'a, R>> {
    let dialect = from.bsp().dialect();
    let lump = dialect.role(role).and_then(|index| dialect.lumps.get(index));
    let lump = lump.ok_or_else(|| Error::new(ErrorKind::NotFound, format!("the map has no {role}")))?;
    by_key(from, Key::new(lump.name))
}

/// The bytes of a lump, if it has these records.
pub(super) fn records_of<'a>(from: &Reader<'_, 'a>, lump: &str, record: &'static RecordInfo) -> Result<Data<'a>> {
    let slot = from.slot(lump)?;
    record_of(from.bsp(), slot, &[record], |record| record)?;
    from.bytes(slot)
}

/// The records of a key, as the draft has them.
fn by_key<'a, R: Record>(from: &Reader<'_, 'a>, key: Key<R>) -> Result<Table<'a, R>> {
    let (slot, row) = from.bsp().keyed(key)?;
    let bytes = from.bytes(slot)?;
    let (part, _) = from.bsp().part(key, row, &bytes)?;
    Ok(Table::new(key.lump(), bytes.slice(part)))
}

/// A block that may not fit.
struct Found {
    block: Block,
    claimed: i32,
    /// The size in single precision, if it is another one.
    single: Option<[usize; 2]>,
    /// Whether engines read it.
    is_read: bool,
}

struct Finder<'a, 'f> {
    model: &'f FaceLight,
    /// The form of the luxels; a copy may have another one than the model.
    luxel: LuxelForm,
    form: &'f FaceForm,
    textures: Textures<'a, 'f>,
    sizes: Option<Sizes<'a>>,
    /// Bytes per luxel after the light of each face.
    extra: usize,
    /// A record per face with the place of its light, which replaces the fields of the face.
    places: Option<Data<'a>>,
    /// The size of the lump with the light.
    lump: usize,
    found: Vec<Found>,
}

impl Finder<'_, '_> {
    /// The block of a face; `None` if it has no light.
    fn block(&mut self, index: usize, face: &LitFace) -> Result<Option<Found>, LightFaultKind> {
        let style_count = face.styles.iter().take_while(|style| **style != 255).count();
        let placed = match &self.places {
            None => None,
            Some(places) => match place(places, index) {
                None => return Ok(None),
                placed => placed,
            },
        };
        let offset = placed.map_or(face.offset, |(offset, _)| offset);
        if offset == -1 || style_count == 0 {
            return Ok(None);
        }
        let texture = self.textures.get(face.texinfo).ok_or(LightFaultKind::Texinfo(face.texinfo))?;
        if texture.flags & self.model.unlit != 0 {
            return Ok(None);
        }
        let is_read = texture.flags & self.model.unread == 0;
        let mut single = None;
        let size = match (placed, face.size) {
            (Some((_, size)), _) => size,
            (None, Some(steps)) => {
                let count = |steps: i32| usize::try_from(steps).ok().and_then(|steps| steps.checked_add(1));
                let [Some(wide), Some(high)] = steps.map(count) else { return Err(LightFaultKind::Size) };
                [wide, high]
            }
            (None, None) => {
                let sizes = self.sizes.as_mut().ok_or(LightFaultKind::Size)?;
                let (size, other) = sizes.of(face, &texture.vectors)?;
                single = other;
                size
            }
        };
        let planes = if texture.flags & self.model.bumped != 0 { 4 } else { 1 };
        let block = Block {
            index,
            size,
            styles: face.styles,
            style_count,
            planes,
            offset: self.offset(offset),
            len: 0,
            averages: self.form.averages,
            face_at: index * self.form.record.size,
            has_both: false,
            precision_is_single: false,
        };
        Ok(Some(Found { block, claimed: offset, single, is_read }))
    }

    /// The offset of a block in the lump; the faces store it for luxels of the model's form.
    fn offset(&self, claimed: i32) -> usize {
        let luxels = usize::try_from(claimed).ok().map(|claimed| match self.luxel == self.model.luxels {
            true => Some(claimed),
            false => (claimed / self.model.luxels.bytes()).checked_mul(self.luxel.bytes()),
        });
        luxels.flatten().unwrap_or(usize::MAX)
    }

    /// The bytes of a block with this size; `None` if the number is larger than any lump.
    fn len(&self, block: &Block, [wide, high]: [usize; 2]) -> Option<usize> {
        let luxels = wide.checked_mul(high).filter(|luxels| *luxels > 0 && *luxels <= self.lump)?;
        let images = block.style_count * block.planes;
        Some(luxels * self.luxel.bytes() * images + luxels * self.extra)
    }

    /// If a block would overlap the next one with its first size, and not with the other one, it takes the other one. A
    /// block that does not fit is a fault.
    fn settle(self, unlit: &mut usize, faults: &mut Vec<LightFault>) -> Vec<Block> {
        let mut starts: Vec<usize> = self.found.iter().map(|found| found.block.offset).collect();
        starts.sort_unstable();
        starts.dedup();
        let mut blocks = Vec::with_capacity(self.found.len());
        for found in &self.found {
            let mut block = found.block.clone();
            let next = starts.get(starts.partition_point(|start| *start <= block.offset));
            let room = next.copied().unwrap_or(self.lump).min(self.lump).saturating_sub(block.offset);
            let fits = |size| self.len(&block, size).is_some_and(|len| len <= room);
            if let Some(single) = found.single.filter(|single| !fits(block.size) && fits(*single)) {
                block.size = single;
                block.precision_is_single = true;
            }
            let len = self.len(&block, block.size);
            let end = len.and_then(|len| block.offset.checked_add(len)).filter(|end| *end <= self.lump);
            match len.filter(|_| end.is_some() && block.before() <= block.offset) {
                Some(len) => blocks.push(Block { len, ..block }),
                None if !found.is_read => *unlit += 1,
                None => {
                    let images = block.style_count * block.planes;
                    let (offset, size, lump) = (found.claimed, block.size, self.lump);
                    let kind = LightFaultKind::Range { offset, size, images, lump };
                    faults.push(LightFault { face: block.index, kind });
                }
            }
        }
        self.find_averages(&mut blocks);
        blocks
    }

    /// If the faces store averages, some of the bumped blocks also have averages before them. Only the gap to the block
    /// before shows which ones.
    fn find_averages(&self, blocks: &mut [Block]) {
        if !matches!(self.form.averages, Averages::InFace(_)) {
            return;
        }
        let mut ends: Vec<usize> = blocks.iter().map(|block| block.bytes().end).collect();
        ends.sort_unstable();
        for block in blocks.iter_mut().filter(|block| block.planes > 1) {
            let before = ends.partition_point(|end| *end <= block.offset);
            let end = before.checked_sub(1).map_or(0, |index| ends[index]);
            block.has_both = block.offset.checked_sub(end) == Some(4 * block.style_count);
        }
    }
}

/// The place of a face's light, and how large it is.
fn place(places: &[u8], face: usize) -> Option<(i32, [usize; 2])> {
    let record = DecoupledLight::decode(places.get(face.checked_mul(DecoupledLight::SIZE)?..)?)?;
    Some((record.offset, record.size.map(usize::from)))
}
