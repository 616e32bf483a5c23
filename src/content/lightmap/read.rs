//! Where the light of each face is, by the dialect's model: in blocks or on pages, some of it twice.

use std::ops::Range;

use super::placed::{Placed, Places};
use super::sizes::{Sizes, USUAL_SHIFT};
use super::{Block, Image, Light, LightFault, LightFaultKind, LightSet, Luxel, MOST_STYLES};
use crate::bsp::Bsp;
use crate::bytes::{Data, integer};
use crate::content::lens::Reader;
use crate::dialect::{
    Averages, FaceForm, FaceLight, Key, LightLumps, LightModel, LitFace, LitSurface, LuxelForm, PageLight, Role,
    TextureForm, TextureLight,
};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::file::SlotId;
use crate::record::{Record, RecordInfo, Table};

// Where the light of each face is, by the dialect's model.

pub(super) fn sets<'a>(from: &Reader<'_, 'a>, light: &mut Light<'a>) -> Result<()> {
    let model = from.bsp().dialect().light;
    match model {
        LightModel::Pages(model) => read(from, model, light),
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
    let Some(faces_name) = lumps.faces_of(|name| Ok::<_, Error>(filled(from, name)?.is_some()))? else { return Ok(()) };
    let Some((face_slot, faces)) = filled(from, faces_name)? else { return Ok(()) };
    let form = record_of(bsp, face_slot, model.faces, |form: &FaceForm| form.record)?;
    if form.averages == Averages::Unknown {
        let message =
            format!("the light of the records in {faces_name} cannot be found: no map with such light is known");
        return Err(Error::new(ErrorKind::Unsupported, message).at(Place::default().lump(faces_name)));
    }
    let Some(places) = Places::read(from, model, lumps, faces.len() / form.record.size)? else { return Ok(()) };
    let textures = Textures::read(from, model)?;
    let sizes = if model.by_extents { Some(Sizes::read(from)?) } else { None };
    let extra = extra_bytes(from, model)?;
    let luxel = lumps.copied.map_or(model.luxels, |copied| copied.luxels);
    let lump = luxels.len();
    let (found, claims) = (Vec::new(), Vec::new());
    let mut finder = Finder { model, luxel, form, textures, sizes, extra, places, lump, found, claims };
    let (mut unlit, mut faults) = (0, Vec::new());
    for (index, record) in faces.chunks_exact(form.record.size).enumerate() {
        let Some(face) = (form.read)(record) else { continue };
        match finder.block(index, &face) {
            Ok(None) => unlit += 1,
            Ok(Some(found)) => finder.found.push(found),
            Err(kind) => faults.push(LightFault { face: index, kind }),
        }
    }
    let (blocks, claims) = finder.settle(&mut unlit, &mut faults);
    faults.sort_by_key(|fault| fault.face);
    let lump = light.hold(from, slot, luxels);
    let faces = matches!(form.averages, Averages::InFace(_)).then(|| light.hold(from, face_slot, faces));
    let (name, lump_name, form) = (lumps.name, lumps.light, luxel);
    let placed_by = lumps.placed_by.unwrap_or(faces_name);
    let copy_of = lumps.copied.and_then(|copied| light.sets.iter().position(|set| set.name == copied.of));
    let is_pages = false;
    light.sets.push(LightSet {
        name,
        lump_name,
        faces_name,
        placed_by,
        lump,
        faces,
        form,
        copy_of,
        is_pages,
        blocks,
        unlit,
        claims,
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
    let is = |found: &RecordInfo, form: &F| record(form) == found;
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

/// Light that a face names and that is not shown.
struct Claim {
    face: usize,
    start: usize,
    /// Its size in bytes; `None` if it is not known.
    len: Option<usize>,
}

impl Claim {
    /// The light of a block of this size, with its averages.
    fn of(block: &Block, len: Option<usize>) -> Self {
        let start = block.offset.saturating_sub(block.before());
        Claim { face: block.index, start, len: len.map(|len| len.saturating_add(block.offset - start)) }
    }
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
    /// What the map has for each face that replaces the fields of the face.
    places: Places<'a>,
    /// The size of the lump with the light.
    lump: usize,
    found: Vec<Found>,
    claims: Vec<Claim>,
}

impl Finder<'_, '_> {
    /// The block of a face; `None` if it has no light.
    fn block(&mut self, index: usize, face: &LitFace) -> Result<Option<Found>, LightFaultKind> {
        let Some(Placed { offset, size, shift, styles, style_count }) = self.places.of(index, face) else {
            return Ok(None);
        };
        if offset == -1 || style_count == 0 {
            return Ok(None);
        }
        let texture = self.textures.get(face.texinfo).ok_or(LightFaultKind::Texinfo(face.texinfo))?;
        let is_lit = texture.flags & self.model.unlit == 0;
        if is_lit && style_count > MOST_STYLES {
            return Err(LightFaultKind::Styles(style_count));
        }
        let is_read = texture.flags & self.model.unread == 0;
        let is_known = style_count <= MOST_STYLES && texture.flags & self.model.unsized_luxels == 0;
        let found = match size {
            Some(size) => Ok((size, None)),
            None if is_known => self.size(face, &texture, shift),
            None => Err(LightFaultKind::Size),
        };
        let (size, single) = match found {
            Ok(found) if style_count <= MOST_STYLES => found,
            Err(fault) if is_lit && is_read => return Err(fault),
            _ => {
                self.claims.push(Claim { face: index, start: self.offset(offset), len: None });
                return Ok(None);
            }
        };
        let planes = if texture.flags & self.model.bumped != 0 { 4 } else { 1 };
        let block = Block {
            index,
            size,
            shift,
            styles,
            style_count,
            has_several_styles: false,
            planes,
            offset: self.offset(offset),
            len: 0,
            averages: self.form.averages,
            face_at: index * self.form.record.size,
            has_both: false,
            precision_is_single: false,
            is_directions: false,
        };
        if !is_lit {
            let sizes = [Some(size), single].into_iter().flatten();
            let len = sizes.filter_map(|size| self.len(&block, size)).max();
            self.claims.push(Claim::of(&block, len));
            return Ok(None);
        }
        Ok(Some(Found { block, claimed: offset, single, is_read }))
    }

    /// The size of the light of a face, and the size in single precision if that is another one.
    fn size(
        &mut self,
        face: &LitFace,
        texture: &TextureLight,
        shift: u8,
    ) -> Result<([usize; 2], Option<[usize; 2]>), LightFaultKind> {
        let Some(steps) = face.size else {
            return self.sizes.as_mut().ok_or(LightFaultKind::Size)?.of(face, &texture.vectors, shift);
        };
        let count = |steps: i32| usize::try_from(steps).ok().and_then(|steps| steps.checked_add(1));
        let [Some(wide), Some(high)] = steps.map(count) else { return Err(LightFaultKind::Size) };
        Ok(([wide, high], None))
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
    fn settle(mut self, unlit: &mut usize, faults: &mut Vec<LightFault>) -> (Vec<Block>, Vec<(usize, Range<usize>)>) {
        // Offsets without meaning say nothing of the size of other light.
        let starts = |with_unread: bool| {
            let wanted = self.found.iter().filter(|found| found.is_read || with_unread);
            let mut starts: Vec<usize> = wanted.map(|found| found.block.offset).collect();
            starts.sort_unstable();
            starts.dedup();
            starts
        };
        let of_read = starts(false);
        let of_all = if self.found.iter().all(|found| found.is_read) { Vec::new() } else { starts(true) };
        let mut blocks = Vec::with_capacity(self.found.len());
        let mut unread = Vec::new();
        for found in &self.found {
            let mut block = found.block.clone();
            let starts = if found.is_read { &of_read } else { &of_all };
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
                Some(len) if found.is_read => blocks.push(Block { len, ..block }),
                Some(len) => unread.push(Block { len, ..block }),
                None if !found.is_read => {
                    *unlit += 1;
                    self.claims.push(Claim::of(&block, len));
                }
                None => {
                    let images = block.style_count * block.planes;
                    let (offset, size, lump) = (found.claimed, block.size, self.lump);
                    let kind = LightFaultKind::Range { offset, size, images, lump };
                    faults.push(LightFault { face: block.index, kind });
                }
            }
        }
        let others = add_apart(&mut blocks, unread);
        *unlit += others.len();
        self.claims.extend(others.iter().map(|block| Claim::of(block, Some(block.len))));
        self.find_averages(&mut blocks);
        let claims = if self.claims.is_empty() { Vec::new() } else { self.claimed(&blocks) };
        (blocks, claims)
    }

    /// The bytes of each claim, in the order of the faces. One whose size is not known reaches to what follows.
    fn claimed(&self, blocks: &[Block]) -> Vec<(usize, Range<usize>)> {
        let starts = blocks.iter().map(|block| block.whole().start).chain(self.claims.iter().map(|claim| claim.start));
        let mut starts: Vec<usize> = starts.collect();
        starts.sort_unstable();
        let range = |claim: &Claim| {
            let next = || starts.get(starts.partition_point(|start| *start <= claim.start)).copied();
            let end = claim.len.map_or_else(next, |len| claim.start.checked_add(len));
            let end = end.unwrap_or(self.lump).min(self.lump);
            (claim.start < end).then_some((claim.face, claim.start..end))
        };
        let mut claims: Vec<_> = self.claims.iter().filter_map(range).collect();
        claims.sort_by_key(|(face, _)| *face);
        claims
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

/// Adds the blocks that engines may not read where they are apart from those that they do, or have exactly the bytes of
/// one, and returns the others. These are at an offset without meaning: compilers leave 0 there, or what was in memory.
fn add_apart(blocks: &mut Vec<Block>, unread: Vec<Block>) -> Vec<Block> {
    if unread.is_empty() {
        return unread;
    }
    let mut ranges: Vec<(usize, usize)> = blocks.iter().map(|block| (block.whole().start, block.whole().end)).collect();
    ranges.sort_unstable();
    let mut end = 0;
    let mut ends = Vec::with_capacity(ranges.len());
    for (_, next) in &ranges {
        end = end.max(*next);
        ends.push(end);
    }
    let is_apart = |block: &Block| {
        let own = block.whole();
        let before = ranges.partition_point(|(start, _)| *start < own.end);
        let is_free = before.checked_sub(1).is_none_or(|last| ends[last] <= own.start);
        is_free || ranges.binary_search(&(own.start, own.end)).is_ok()
    };
    let (apart, others): (Vec<_>, Vec<_>) = unread.into_iter().partition(is_apart);
    blocks.extend(apart);
    blocks.sort_by_key(Block::index);
    others
}

// Light in pages, and the place of each surface on them.

/// The page of a surface's light, and the smallest rectangle around its corners there.
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?;
/// let surfaces = map.surface_light()?;
/// assert!(surfaces.iter().all(|surface| surface.page == 0 && surface.at[0] + surface.size[0] <= 128));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SurfaceLight {
    /// The surface.
    pub surface: usize,
    /// The page's number, in the lump or among the files beside the map.
    pub page: usize,
    /// Column and row of its first luxel, on a page of the lump's size.
    pub at: [usize; 2],
    /// Columns and rows.
    pub size: [usize; 2],
}

impl<'a> Bsp<'a> {
    /// The surfaces that are lit by pages, with their place on them; empty for maps without pages.
    ///
    /// # Errors
    /// As [`Bsp::table`].
    pub fn surface_light(&self) -> Result<Vec<SurfaceLight>> {
        let LightModel::Pages(model) = self.dialect().light else { return Ok(Vec::new()) };
        let from = Reader::of(self);
        let corners = records_of(&from, model.vertexes.lump, model.vertexes.record)?;
        let mut corners = corners.chunks_exact(model.vertexes.record.size).map(model.vertexes.read);
        let corners: Vec<_> = std::iter::from_fn(|| corners.next().flatten()).collect();
        let mut found = Vec::new();
        for (index, surface) in surfaces(&from, model)?.into_iter().enumerate() {
            let (first, count) = (usize::try_from(surface.first_vertex), usize::try_from(surface.vertex_count));
            let (Ok(first), Ok(count)) = (first, count) else { continue };
            let own = corners.get(first.min(corners.len())..first.saturating_add(count).min(corners.len()));
            for (style, page) in surface.pages.into_iter().enumerate() {
                let Ok(page) = usize::try_from(page) else { continue };
                let corners = own.unwrap_or_default().iter().map(|corner| corner[style]);
                if let Some((at, size)) = around(corners, model.size) {
                    found.push(SurfaceLight { surface: index, page, at, size });
                }
            }
        }
        Ok(found)
    }

    /// How many surfaces are on no page of light and have the mark of light in vertexes; 0 for maps without pages. Sky,
    /// liquids and others that have no light may have the mark too.
    ///
    /// # Errors
    /// As [`Bsp::table`].
    ///
    /// ```
    /// let map = bspkit::Bsp::open("tests/maps/q3/own_rooms.bsp")?;
    /// assert_eq!(map.vertex_lit()?, 6);
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn vertex_lit(&self) -> Result<usize> {
        let LightModel::Pages(model) = self.dialect().light else { return Ok(0) };
        let surfaces = surfaces(&Reader::of(self), model)?;
        // A surface of Raven's has four pages: those that it does not need are also lit by vertexes.
        let is_lit_so = |pages: &[i32]| pages.contains(&model.by_vertex) && pages.iter().all(|page| *page < 0);
        Ok(surfaces.iter().filter(|surface| is_lit_so(&surface.pages)).count())
    }

    /// The numbers of pages that the map's surfaces need and that are not in the map, in ascending order, and the names
    /// of their files. The files are in a folder beside the map that has the map's name.
    ///
    /// # Errors
    /// As [`Bsp::table`].
    pub fn light_files(&self) -> Result<Vec<(usize, String)>> {
        let LightModel::Pages(model) = self.dialect().light else { return Ok(Vec::new()) };
        if self.slot(model.lump).is_ok_and(|slot| slot.length != 0) {
            return Ok(Vec::new());
        }
        let surfaces = surfaces(&Reader::of(self), model)?;
        let pages = surfaces.iter().flat_map(|surface| surface.pages);
        let mut pages: Vec<u16> = pages.filter_map(|page| u16::try_from(page).ok()).collect();
        pages.sort_unstable();
        pages.dedup();
        let (before, after) = model.files;
        Ok(pages.into_iter().map(|page| (usize::from(page), format!("{before}{page:04}{after}"))).collect())
    }
}

/// The fields of every surface that light depends on.
fn surfaces(from: &Reader<'_, '_>, model: &PageLight) -> Result<Vec<LitSurface>> {
    let form = &model.surfaces;
    let records = records_of(from, form.lump, form.record)?;
    Ok(records.chunks_exact(form.record.size).filter_map(form.read).collect())
}

/// Whether every second page has directions: no surface names one of them, and what they have is vectors of length 1,
/// where 0 to 255 is -1 to 1. Luxels that no surface has are black or 0. Engines look at the numbers of the pages
/// alone, which ordinary maps can have too.
fn are_directions(surfaces: &[LitSurface], luxels: &[u8], page: usize) -> bool {
    let pages = luxels.len() / page;
    let is_odd = |page: &i32| *page > 0 && page % 2 == 1;
    if pages < 2 || pages % 2 == 1 || surfaces.iter().any(|surface| surface.pages.iter().any(is_odd)) {
        return false;
    }
    let (mut vectors, mut units) = (0_usize, 0_usize);
    for luxel in luxels.chunks_exact(page).skip(1).step_by(2).flat_map(|page| page.as_chunks::<3>().0) {
        let vector = luxel.map(|part| f32::from(part) / 127.5 - 1.0);
        let length = vector.iter().map(|part| part * part).sum::<f32>().sqrt();
        if *luxel != [0; 3] && length > 0.02 {
            vectors += 1;
            units += usize::from((length - 1.0).abs() < 0.1);
        }
    }
    // A few may be averages of several.
    vectors > 0 && units >= vectors - vectors / 20
}

/// The styles with which surfaces name a page.
#[derive(Clone, Copy, Default)]
struct PageStyle {
    found: Option<u8>,
    several: bool,
}

impl PageStyle {
    /// The style of all its light, or the least number of several; 0 if no surface names it.
    fn first(self) -> u16 {
        self.found.unwrap_or(0).into()
    }
}

/// The styles of all pages.
fn page_styles(surfaces: &[LitSurface], pages: usize) -> Vec<PageStyle> {
    const NONE: [u8; 2] = [254, 255];
    let mut all = vec![PageStyle::default(); pages];
    let named = surfaces.iter().flat_map(|surface| surface.pages.into_iter().zip(surface.styles));
    for (page, style) in named.filter(|(_, style)| !NONE.contains(style)) {
        let Some(own) = usize::try_from(page).ok().and_then(|page| all.get_mut(page)) else { continue };
        own.several |= own.found.is_some_and(|found| found != style);
        own.found = Some(own.found.map_or(style, |found| found.min(style)));
    }
    all
}

/// The range of luxels of corners whose coordinates are from 0 to 1.
fn around(corners: impl Iterator<Item = [f32; 2]> + Clone, page: usize) -> Option<([usize; 2], [usize; 2])> {
    let size = f32::from(u16::try_from(page).ok()?);
    let (mut at, mut extent) = ([0; 2], [0; 2]);
    for axis in 0..2 {
        let values = corners.clone().map(|corner| (corner[axis] * size).clamp(0.0, size));
        let least = values.clone().fold(f32::INFINITY, f32::min);
        let most = values.fold(f32::NEG_INFINITY, f32::max);
        at[axis] = usize::try_from(integer(least.floor())?).ok()?.min(page - 1);
        extent[axis] = usize::try_from(integer(most.ceil())?).ok()?.saturating_sub(at[axis]).max(1);
    }
    Some((at, extent))
}

pub(super) fn read<'a>(from: &Reader<'_, 'a>, model: &PageLight, light: &mut Light<'a>) -> Result<()> {
    let slot = from.slot(model.lump)?;
    let luxels = from.bytes(slot)?;
    if luxels.is_empty() {
        return Ok(());
    }
    let form = LuxelForm::Rgb;
    let len = model.size * model.size * form.bytes();
    let pages = luxels.len() / len;
    let surfaces = surfaces(from, model)?;
    let has_directions = are_directions(&surfaces, &luxels, len);
    let styles = page_styles(&surfaces, pages);
    let page = |index: usize| Block {
        index,
        size: [model.size; 2],
        shift: USUAL_SHIFT,
        styles: std::array::from_fn(|at| if at == 0 { styles[index].first() } else { 0 }),
        style_count: 1,
        has_several_styles: styles[index].several,
        planes: 1,
        offset: index * len,
        len,
        averages: Averages::None,
        face_at: 0,
        has_both: false,
        precision_is_single: false,
        is_directions: has_directions && index % 2 == 1,
    };
    let (mut unlit, mut faults) = (0, Vec::new());
    for (face, surface) in surfaces.iter().enumerate() {
        let is_missing = |page: &i32| usize::try_from(*page).is_ok_and(|page| page >= pages);
        if let Some(page) = surface.pages.into_iter().find(is_missing) {
            faults.push(LightFault { face, kind: LightFaultKind::Page { page, pages } });
        } else if surface.pages.iter().all(|page| *page < 0) {
            unlit += 1;
        }
    }
    let blocks = (0..pages).map(page).collect();
    let lump = light.hold(from, slot, luxels);
    let (name, lump_name) = ("", model.lump);
    light.sets.push(LightSet {
        name,
        lump_name,
        faces_name: model.surfaces.lump,
        placed_by: model.surfaces.lump,
        lump,
        faces: None,
        form,
        copy_of: None,
        is_pages: true,
        blocks,
        unlit,
        claims: Vec::new(),
        faults,
    });
    Ok(())
}

// Light that a map has twice: a change in one copy is applied to the other.

impl Light<'_> {
    /// Applies changes of the light to its copies, and from a copy to its original, unless the target was edited too.
    /// Returns how many luxels it changed.
    ///
    /// `before` is the light as it was. A luxel that was equal in both is equal again. Otherwise each component is
    /// scaled as in the changed luxel, in linear light; if that component was black, it takes the new value.
    ///
    /// ```
    /// use bspkit::content::lightmap::{Image, Luxel};
    /// let map = bspkit::Bsp::open("tests/maps/q1/own_rooms_bspx.bsp")?;
    /// let before = map.light()?;
    /// let (image, copy) = [0, 1].map(|set| Image { set, block: 3, style: 0, plane: 0 }).into();
    /// assert_eq!(before.sets()[1].copy_of(), Some(0));
    /// let mut draft = map.draft();
    /// let light = draft.light()?;
    /// light.update(image, |_, _| Luxel::Grey(0))?;
    /// assert_eq!(light.carry(&before)?, before.block(copy).unwrap().luxels());
    /// assert_eq!(light.luxel(copy, [0, 0]), Some(Luxel::Rgb([0; 3])));
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Light::update`].
    pub fn carry(&mut self, before: &Light<'_>) -> Result<usize> {
        let pairs = self.sets.iter().enumerate().filter_map(|(copy, set)| Some((set.copy_of?, copy)));
        let pairs: Vec<(usize, usize)> = pairs.collect();
        pairs.into_iter().map(|(set, copy)| self.carry_between(set, copy, before)).sum()
    }

    fn carry_between(&mut self, set: usize, copy: usize, before: &Light<'_>) -> Result<usize> {
        let mut carried = 0;
        let images: Vec<Image> = self.sets.get(set).map(|found| found.images(set).collect()).unwrap_or_default();
        for image in images {
            // The sets need not have the same blocks: some may be beyond the end of one lump.
            let index = self.block(image).map_or(0, super::Block::index);
            let Some(block) = self.sets[copy].block_of(index) else { continue };
            let other = Image { set: copy, block, ..image };
            for (from, to) in [(image, other), (other, image)] {
                if self.bytes(from) != before.bytes(from) {
                    carried += self.carry_image(from, to, before)?;
                }
            }
        }
        Ok(carried)
    }

    fn carry_image(&mut self, from: Image, to: Image, before: &Light<'_>) -> Result<usize> {
        let Some([wide, high]) = self.block(from).map(super::Block::size) else { return Ok(0) };
        let luxels = |light: &Light<'_>| -> Vec<Option<Luxel>> {
            (0..wide * high).map(|at| light.luxel(from, [at % wide, at / wide])).collect()
        };
        let (old, new) = (luxels(before), luxels(self));
        self.update(to, |[x, y], now| {
            let at = y * wide + x;
            match (old.get(at).copied().flatten(), new.get(at).copied().flatten()) {
                (Some(old), Some(new)) if old != new && before.luxel(to, [x, y]) == Some(now) => carry(old, new, now),
                _ => now,
            }
        })
    }
}

/// The new value of a luxel whose copy was changed.
fn carry(old: Luxel, new: Luxel, now: Luxel) -> Luxel {
    if now == old {
        return new;
    }
    let (old, new, mut light) = (old.linear(), new.linear(), now.linear());
    for part in 0..3 {
        light[part] = if old[part] > 0.0 { light[part] * new[part] / old[part] } else { new[part] };
    }
    now.with_linear(light)
}
