//! Light, textures and visibility as images. The bytes of these lumps are in the folder `original`; an image that was
//! edited changes only what it shows.

use std::path::Path;

use super::sentence;
use crate::images::textures::{self, file_name};
use crate::images::{light, visibility};
use bspkit::content::visibility::VisSet;
use bspkit::dialect::Role;
use bspkit::{Bsp, Draft, Error, ErrorKind, Result, Slot, SlotId};

const LIGHT: &str = "light";
const TEXTURES: &str = "textures";
const VISIBILITY: &str = "visibility";
const SETS: [(VisSet, &str); 2] = [(VisSet::Pvs, "pvs.png"), (VisSet::Phs, "phs.png")];

/// Writes an image: its path below the folder of the map, and its bytes.
type Write<'w> = &'w mut dyn FnMut(&str, &[u8]) -> Result<()>;

/// Writes all images of a map, and returns the slots that they show, each with the folder of its images.
pub(super) fn unpack(bsp: &Bsp<'_>, write: Write<'_>) -> Result<Vec<(SlotId, &'static str)>> {
    let mut shown = Vec::new();
    let has_bytes = |slot: &&Slot| !slot.stored.is_empty() && bsp.bytes(slot.id).is_ok();
    for lump in unpack_light(bsp, write)? {
        shown.extend(bsp.slot(lump).ok().filter(has_bytes).map(|slot| (slot.id, LIGHT)));
    }
    if let Some(slot) = bsp.role(Role::Visibility).filter(has_bytes)
        && unpack_visibility(bsp, write)?
    {
        shown.push((slot.id, VISIBILITY));
    }
    if let Some(slot) = bsp.role(Role::Textures).filter(has_bytes)
        && unpack_textures(bsp, write)?
    {
        shown.push((slot.id, TEXTURES));
    }
    Ok(shown)
}

/// The lumps whose light is written.
fn unpack_light(bsp: &Bsp<'_>, write: Write<'_>) -> Result<Vec<&'static str>> {
    let Ok(light) = bsp.light() else { return Ok(Vec::new()) };
    if light.sets().iter().any(|set| !set.faults().is_empty()) {
        return Ok(Vec::new());
    }
    // The name of the map's file would differ between equal maps.
    let Ok(export) = light::export(bsp, &light, "map.bsp", false, |set, _, _| set.copy_of().is_none()) else {
        return Ok(Vec::new());
    };
    if export.files().is_empty() {
        return Ok(Vec::new());
    }
    for file in export.files() {
        for (name, bytes) in export.encode(file)? {
            write(&format!("{LIGHT}/{name}"), &bytes)?;
        }
    }
    write(&format!("{LIGHT}/{}", light::INDEX), export.index())?;
    let is_shown = |set: &&bspkit::content::lightmap::LightSet| set.copy_of().is_none() && !set.blocks().is_empty();
    Ok(light.sets().iter().filter(is_shown).map(|set| set.lump()).collect())
}

fn unpack_visibility(bsp: &Bsp<'_>, write: Write<'_>) -> Result<bool> {
    let Ok(seen) = bsp.visibility() else { return Ok(false) };
    if visibility::places(&seen).is_empty() {
        return Ok(false);
    }
    let mut images = Vec::new();
    for (set, name) in SETS.into_iter().filter(|(set, _)| seen.sets().contains(set)) {
        let mut image = Vec::new();
        match visibility::export(&seen, set, visibility::Kind::Png, &mut image) {
            Ok(unread) if unread.is_empty() => images.push((name, image)),
            _ => return Ok(false),
        }
    }
    images.iter().try_for_each(|(name, image)| write(&format!("{VISIBILITY}/{name}"), image)).map(|()| true)
}

fn unpack_textures(bsp: &Bsp<'_>, write: Write<'_>) -> Result<bool> {
    let Ok(all) = bsp.textures() else { return Ok(false) };
    let stems = file_name::stems((0..all.len()).map(|index| all.name(index)));
    let mut any = false;
    for (index, stem) in stems.iter().enumerate() {
        let (Ok(Some(texture)), Some(stem)) = (all.get(index), stem) else { continue };
        let (Some(palette), Some(pixels)) = (texture.palette(), texture.pixels(0)) else { continue };
        let image = textures::encode(texture.width(), texture.height(), pixels, &palette);
        if let Ok(image) = image {
            write(&format!("{TEXTURES}/{stem}.png"), &image)?;
            any = true;
        }
    }
    Ok(any)
}

/// Takes the images of a folder into a draft; `edited` are the files in it that differ from the original.
///
/// # Errors
/// A sentence for each image that cannot be taken.
pub(super) fn take(draft: &mut Draft<'_>, folder: &str, root: &Path, edited: &[String]) -> Result<(), Vec<String>> {
    match folder {
        LIGHT => take_light(draft, root),
        VISIBILITY => each(edited, |file| {
            let set = SETS.iter().find(|(_, name)| file.eq_ignore_ascii_case(name)).map(|(set, _)| *set);
            let set = set.ok_or_else(|| Error::new(ErrorKind::NotFound, "the map has no visibility of this name"))?;
            visibility::import(draft.visibility()?, set, &root.join(file)).map(drop)
        }),
        _ => each(edited, |file| take_texture(draft, root, file)),
    }
}

fn each(edited: &[String], mut take: impl FnMut(&str) -> Result<()>) -> Result<(), Vec<String>> {
    let problem = |file: &String| take(file).err().map(|error| format!("{file}: {}", sentence(&error)));
    let problems: Vec<String> = edited.iter().filter_map(problem).collect();
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn take_light(draft: &mut Draft<'_>, root: &Path) -> Result<(), Vec<String>> {
    let index = light::Index::read(root).map_err(|error| vec![sentence(&error)])?;
    let light = draft.light().map_err(|error| vec![sentence(&error)])?;
    let taken = light::import(light, &index);
    if taken.faults.is_empty() { Ok(()) } else { Err(taken.faults) }
}

fn take_texture(draft: &mut Draft<'_>, root: &Path, file: &str) -> Result<()> {
    let none = || Error::new(ErrorKind::NotFound, "the map has no texture of this name");
    let all = draft.textures()?;
    let stems = file_name::stems((0..all.len()).map(|index| all.name(index)));
    let is_it =
        |stem: &Option<String>| stem.as_ref().is_some_and(|stem| file.eq_ignore_ascii_case(&format!("{stem}.png")));
    let index = stems.iter().position(is_it).ok_or_else(none)?;
    let picture = textures::read(&root.join(file))?;
    let texture = all.get(index)?.ok_or_else(none)?;
    let [size, own] = [[picture.width, picture.height], [texture.width(), texture.height()]];
    if size != own {
        let message = format!("it has {} by {} pixels, but the texture {} by {}", size[0], size[1], own[0], own[1]);
        return Err(Error::new(ErrorKind::Refused, message));
    }
    let (image, palette) = textures::with_own_palette(&picture, &texture, false)?;
    all.set_image(index, &image, Some(&palette))
}
