//! Pixels of textures: in the map (Quake, GoldSrc), in files beside it (WAL files, WAD files, palettes), and in the
//! pakfile (Source).

use std::cell::Cell;
use std::collections::HashMap;

use bspkit::bytes::{escaped, index};
use bspkit::content::View;
use bspkit::content::palette::Palette;
use bspkit::content::textures::{Miptex, Textures};
use bspkit::content::wad::{self, Wad};
use bspkit::content::wal::Wal;
use bspkit::dialect::{LightModel, Role};
use bspkit::{Bsp, Place, Records, Result};
use bspkit_game::assets::keyvalues::KeyValues;
use bspkit_game::assets::material::{Names, material_file, mentions};
use bspkit_game::assets::{Files, PakFiles, normal_name};

use super::shaders::Shaders;
use super::{plain, texdata};
use crate::builder::{Findings, LIMIT, TEXTURE};
use crate::parts::{Surface, Texture};
use crate::picture::{Alpha, Picture};
use crate::vtf;

/// The most pixels of all textures together.
const MOST_PIXELS: usize = 1 << 27;
/// The largest file that is read.
const MOST_BYTES: usize = 1 << 27;
/// The most bytes of all materials and textures of Source.
const MOST_READ: usize = 1 << 29;
/// The largest text of a material.
const MOST_TEXT: usize = 1 << 20;
/// How many materials may include each other in a row.
const MOST_INCLUDES: usize = 4;
/// The color of holes in textures whose names begin with `{`.
const HOLE: u8 = 255;

/// Where pixels come from.
pub(super) struct Pixels<'r, 'a> {
    texdata: Option<Records<'a>>,
    files: Option<&'r dyn Files>,
    own: Option<View<Textures<'a>>>,
    /// The files of the pakfile (Source).
    packed: Option<&'r PakFiles<'r, 'a>>,
    /// The palette of the game, for textures that have none.
    palette: Option<Palette>,
    /// WAD files that worldspawn names.
    wads: Vec<Wad<'static>>,
    /// Whether textures are named by records and are in WAL files.
    has_wals: bool,
    /// The images of shaders, in maps with those.
    shaders: Option<Shaders<'r>>,
    left: usize,
    /// How many bytes of files may still be read.
    bytes: Cell<usize>,
}

/// Pixels, or only a size.
#[derive(Default)]
struct Found {
    size: Option<[u32; 2]>,
    picture: Option<Picture>,
    color: Option<[f32; 3]>,
}

impl<'r, 'a> Pixels<'r, 'a> {
    pub(super) fn new(map: &'r Bsp<'a>, files: Option<&'r dyn Files>, packed: Option<&'r PakFiles<'r, 'a>>) -> Self {
        let own = map.textures().ok();
        let texdata = map.any_records("TEXDATA");
        let palette = |name: &[u8]| {
            let bytes = files?.read(name, MOST_BYTES).ok().flatten()?;
            Palette::read(&bytes).ok()
        };
        let has_palettes = own.as_ref().is_some_and(|own| own.has_palettes());
        let is_quake = own.is_some() && !has_palettes;
        let palette = palette(b"gfx/palette.lmp").or_else(|| palette(b"pics/colormap.pcx"));
        let palette = palette.or_else(|| is_quake.then_some(Palette::QUAKE));
        let wads = files.filter(|_| has_palettes).map_or_else(Vec::new, |files| wads(map, files));
        let has_wals = map.role(Role::TexInfo).is_some() && own.is_none() && texdata.is_none();
        let has_shaders = matches!(map.dialect().light, LightModel::Pages(_)) && map.role(Role::Textures).is_some();
        let shaders = files.filter(|_| has_shaders).map(Shaders::new);
        let (left, bytes) = (MOST_PIXELS, Cell::new(MOST_READ));
        Pixels { texdata, files, own, packed, palette, wads, has_wals, shaders, left, bytes }
    }

    /// A texture by its name and its index.
    pub(super) fn texture(
        &mut self,
        name: &[u8],
        of: Option<usize>,
        surface: Surface,
        opacity: f32,
        findings: &mut Findings,
    ) -> Texture {
        let mut texture = plain(name, surface, opacity);
        if self.left == 0 {
            let message = format!("`{}` is shown in a color: the textures have too many pixels", texture.name);
            findings.add(&LIMIT, Place::default(), message);
            return texture;
        }
        match self.found(name, of, surface == Surface::Fence) {
            Ok(found) => {
                texture.size = found.size.filter(|size| size.iter().all(|side| *side > 0));
                texture.color = found.color.unwrap_or(texture.color);
                let pixels = found.picture.as_ref().map_or(0, |picture| picture.size.map(index).iter().product());
                self.left = self.left.saturating_sub(pixels);
                texture.picture = found.picture;
                // The pixels say how opaque it is.
                let has_alpha = texture.picture.as_ref().is_some_and(|picture| picture.alpha != Alpha::Opaque);
                if surface == Surface::Glass && self.packed.is_some() && has_alpha {
                    texture.opacity = 1.0;
                }
            }
            Err(error) => {
                let place = error.place().cloned().unwrap_or_default();
                let error = error.within(format!("`{}` is shown in a color", texture.name)).at(place);
                findings.fail(&TEXTURE, &error);
            }
        }
        texture
    }

    fn found(&self, name: &[u8], of: Option<usize>, is_fence: bool) -> Result<Found> {
        if let Some(own) = &self.own {
            let Some(at) = of.filter(|at| *at < own.len()) else { return Ok(Found::default()) };
            let Some(texture) = own.get(at)? else { return Ok(Found::default()) };
            return self.miptex(&texture, is_fence);
        }
        if of.is_some() {
            let mut found = Found::default();
            if let Some((size, color)) = self.texdata.as_ref().zip(of).and_then(|(all, of)| texdata(all, of)) {
                found.size = Some(size);
                let is_color = color.iter().all(|part| (0.0..=1.0).contains(part)) && color != [0.0; 3];
                found.color = is_color.then_some(color);
            }
            found.picture = self.material(name)?;
            return Ok(found);
        }
        if self.has_wals {
            return self.wal(name);
        }
        if let Some(picture) = self.shaders.as_ref().map_or(Ok(None), |shaders| shaders.picture(name))? {
            return Ok(Found { size: Some(picture.size), picture: Some(picture), color: None });
        }
        Ok(Found::default())
    }

    /// A texture of Quake or GoldSrc; its pixels may be in a WAD file.
    fn miptex(&self, texture: &Miptex<'_>, is_fence: bool) -> Result<Found> {
        let size = [texture.width(), texture.height()];
        let found = Found { size: Some(size), ..Found::default() };
        if let Some(picture) = self.picture(texture, is_fence)? {
            return Ok(Found { picture: Some(picture), ..found });
        }
        for wad in &self.wads {
            let Some(at) = wad.find(texture.name()) else { continue };
            return Ok(Found { picture: self.picture(&wad.miptex(at)?, is_fence)?, ..found });
        }
        Ok(found)
    }

    fn picture(&self, texture: &Miptex<'_>, is_fence: bool) -> Result<Option<Picture>> {
        let Some(pixels) = texture.pixels(0) else { return Ok(None) };
        let palette = texture.palette().or_else(|| self.palette.clone()).unwrap_or_else(|| shades(texture.name()));
        let hole = is_fence.then_some(HOLE);
        Picture::indexed([texture.width(), texture.height()], pixels, &palette, hole).map(Some)
    }

    /// A texture of Quake II: a WAL file beside the map.
    fn wal(&self, name: &[u8]) -> Result<Found> {
        let file = [&b"textures/"[..], name, b".wal"].concat();
        let Some(bytes) = self.files.map(|files| files.read(&normal_name(&file), MOST_BYTES)).transpose()?.flatten()
        else {
            return Ok(Found::default());
        };
        let wal = Wal::parse(&bytes[..]).map_err(|error| error.within(escaped(&file).to_string()))?;
        let size = [wal.header().width, wal.header().height];
        let palette = self.palette.clone().unwrap_or_else(|| shades(name));
        let picture = wal.pixels(0).map(|pixels| Picture::indexed(size, pixels, &palette, None)).transpose()?;
        Ok(Found { size: Some(size), picture, color: None })
    }

    /// The base texture of a material of Source, in the pakfile or in the game.
    fn material(&self, name: &[u8]) -> Result<Option<Picture>> {
        if self.bytes.get() == 0 {
            return Ok(None);
        }
        let read = |file: &[u8], most: usize| -> Result<Option<bspkit::Data<'_>>> {
            let file = normal_name(file);
            let read = match self.packed.map_or(Ok(None), |packed| packed.read(&file, most))? {
                Some(bytes) => Some(bytes.into_static()),
                None => self.files.map_or(Ok(None), |files| files.read(&file, most))?,
            };
            // Many materials may name one texture, which takes time whether it can be read or not.
            let left = self.bytes.get().checked_sub(read.as_ref().map_or(0, |bytes| bytes.len()));
            self.bytes.set(left.unwrap_or(0));
            Ok(read.filter(|_| left.is_some()))
        };
        let mut file = material_file(name);
        for _ in 0..MOST_INCLUDES {
            let Some(text) = read(&file, MOST_TEXT)? else { return Ok(None) };
            let text = KeyValues::parse(text).map_err(|error| error.within(escaped(&file).to_string()))?;
            let (mut texture, mut include) = (None, None);
            for mention in mentions(&text) {
                match mention.names {
                    Names::Texture if mention.key() == b"basetexture" => texture = texture.or(Some(mention.file())),
                    Names::Include => include = Some(mention.file()),
                    _ => {}
                }
            }
            if let Some(texture) = texture {
                let Some(bytes) = read(&texture, MOST_BYTES)? else { return Ok(None) };
                let picture = vtf::read(&bytes);
                return picture.map(Some).map_err(|error| error.within(escaped(&texture).to_string()));
            }
            let Some(next) = include else { return Ok(None) };
            file = next;
        }
        Ok(None)
    }
}

/// The WAD files that worldspawn names, if they are beside the map.
fn wads(map: &Bsp<'_>, files: &dyn Files) -> Vec<Wad<'static>> {
    const MOST: usize = 64;
    let Ok(entities) = map.entities() else { return Vec::new() };
    let named = entities.get(0).and_then(|world| world.get("wad")).unwrap_or_default();
    let mut known = HashMap::new();
    let first = |name: &&[u8]| known.insert(name.to_ascii_lowercase(), ()).is_none();
    let names: Vec<&[u8]> = wad::named(named).filter(first).take(MOST).collect();
    let read = |name: &[u8]| Some(files.read(&normal_name(name), MOST_BYTES).ok()??.into_static());
    names.into_iter().filter_map(|name| Wad::parse(read(name)?).ok()).collect()
}

/// A palette for pixels whose palette is not there: in the palettes of Quake, 16 colors each are from dark to bright,
/// and from the eighth row on from bright to dark. All have the hue that the name gives.
fn shades(name: &[u8]) -> Palette {
    const DOWN: std::ops::Range<u32> = 128..224;
    let hue = super::of_name(name).map(u32::from);
    let mut colors = [0; 768];
    for (number, color) in (0..256).zip(colors.as_chunks_mut::<3>().0) {
        let step = if DOWN.contains(&number) { 15 - number % 16 } else { number % 16 };
        *color = hue.map(|part| u8::try_from(part * (2 + step) / 17).unwrap_or(u8::MAX));
    }
    Palette(colors)
}
