//! WAD files that textures are copied to.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result, bail};
use bspkit::SaveOptions;
use bspkit::content::textures::{Miptex, Textures};
use bspkit::content::wad::Wad;
use bspkit::face::put::put;
use bspkit::file::SideFile;

use super::finding;
use super::shelf::{Shelf, named, open_wad};
use crate::cli::context::Context;
use crate::cli::maps::Maps;
use crate::cli::show::{count, shown};
use crate::cli::spare::spare;
use crate::cli::talk::{Code, Job};

/// Writes the textures of maps, or of WAD files, to a WAD file.
pub(super) fn export(cx: &Context, maps: Maps, path: &Path, patterns: &[OsString], force: bool) -> Result<Code> {
    let all: Mutex<Option<Wad<'static>>> = Mutex::new(None);
    let code = maps.one_by_one().each(cx, |map, job| {
        spare(path, &map.path)?;
        let shelf = Shelf::open(cx, &map.path).with_context(|| format!("cannot export from {}", shown(&map.path)))?;
        let names = shelf.names();
        let chosen = names.chosen(patterns, job);
        if chosen.is_empty() && !patterns.is_empty() {
            return Ok(job.nothing(&names.nothing(patterns)));
        }
        let mut wad = all.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut taken, mut code) = (0, Code::Done);
        for index in chosen {
            let Some(texture) = shelf.get(index).transpose() else { continue };
            let added = texture.and_then(|texture| match texture.is_embedded() {
                true => wad.get_or_insert_with(|| Wad::new(texture.has_palette())).add(&texture).map(|_| 1),
                false => Ok(0),
            });
            match added {
                Ok(number) => taken += number,
                Err(error) => {
                    finding(job, &named(index, shelf.name(index)), &error.into());
                    code = Code::Found;
                }
            }
        }
        job.say(&format!("{}: {}", job.path, count(taken, "texture", "textures")));
        Ok(code)
    })?;
    let Some(wad) = all.into_inner().unwrap_or_else(PoisonError::into_inner) else {
        if code == Code::Done && !cx.talk.quiet {
            cx.talk.stderr(format!("{}: no texture with pixels\n", shown(path)).as_bytes());
        }
        return Ok(code.max(Code::Found));
    };
    put(path, &wad.to_bytes(), force)?;
    if !cx.talk.quiet {
        let text = format!("{}: {}\n", shown(path), count(wad.entries().len(), "texture", "textures"));
        cx.talk.stderr(text.as_bytes());
    }
    Ok(code)
}

/// Gives the textures of a map the pixels that a WAD file has for their names, all or none. Returns their number.
pub(super) fn import(textures: &mut Textures<'static>, path: &Path, resizes: bool, job: &mut Job<'_>) -> Result<usize> {
    let wad = open_wad(path)?;
    let (mut taken, mut used) = (0, BTreeSet::new());
    for index in 0..textures.len() {
        let Some((name, at)) = textures.name(index).and_then(|name| Some((name.to_vec(), wad.find(name)?))) else {
            continue;
        };
        let what = || format!("{}: {}", shown(path), named(index, Some(&name)));
        let new = wad.miptex(at).with_context(what)?;
        let old = textures.get(index).with_context(what)?;
        let sizes = old.map(|old| (old.width(), old.height())).filter(|size| *size != (new.width(), new.height()));
        if let Some((width, height)) = sizes.filter(|_| !resizes) {
            let own = format!("{} by {} pixels, but the texture {width} by {height}", new.width(), new.height());
            bail!("{} has {own}; --resize accepts it", what());
        }
        textures.embed(index, &new).with_context(what)?;
        used.insert(at);
        taken += 1;
    }
    let others = wad.entries().len() - used.len();
    if taken > 0 && others > 0 {
        job.warn(&format!(
            "{}: {} left out: the map does not have the name",
            shown(path),
            count(others, "entry", "entries")
        ));
    }
    Ok(taken)
}

/// A WAD file that keeps the pixels which are removed from maps. It is read with the first texture.
pub(super) struct Keeper {
    path: PathBuf,
    wad: Mutex<Option<Wad<'static>>>,
}

impl Keeper {
    pub(super) fn new(path: &Path) -> Self {
        Keeper { path: path.to_path_buf(), wad: Mutex::new(None) }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the file, or begins a new one, for textures with or without palettes.
    pub(super) fn open(&self, has_palettes: bool) -> Result<()> {
        let mut wad = self.wad.lock().unwrap_or_else(PoisonError::into_inner);
        let wad = match &mut *wad {
            Some(wad) => wad,
            none => none
                .insert(read_or_new(SideFile::read(&self.path)?.bytes(), has_palettes).with_context(|| self.cannot())?),
        };
        if wad.has_palettes() != has_palettes {
            let (own, other) = if has_palettes { ("GoldSrc", "Quake") } else { ("Quake", "GoldSrc") };
            bail!("{} is a WAD file of {other}, and the map is of {own}: name another file", shown(&self.path));
        }
        Ok(())
    }

    /// Adds a texture, unless the same one is there.
    pub(super) fn add(&self, texture: &Miptex<'_>) -> Result<()> {
        let mut wad = self.wad.lock().unwrap_or_else(PoisonError::into_inner);
        let wad = wad.as_mut().context("the WAD file was not opened")?;
        wad.add(texture).map(drop).with_context(|| format!("cannot copy it to {}", shown(&self.path)))
    }

    /// Adds the new textures to the file as it is now: other programs may have added some meanwhile.
    pub(super) fn save(&self, job: &mut Job<'_>) -> Result<()> {
        let mut wad = self.wad.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(own) = wad.take_if(|wad| wad.is_edited()) else { return Ok(()) };
        let mut latest = None;
        SideFile::update(&self.path, &SaveOptions::default(), |old| {
            let mut wad = read_or_new(old, own.has_palettes())?;
            own.added().try_for_each(|texture| wad.add(&texture?).map(drop))?;
            let wad = &*latest.insert(wad);
            Ok(wad.is_edited().then(|| wad.to_bytes()))
        })
        .with_context(|| format!("cannot copy textures to {}", shown(&self.path)))?;
        if let Some(latest) = latest {
            job.say(&format!("{}: {}", shown(&self.path), count(latest.entries().len(), "texture", "textures")));
            *wad = Some(Wad::parse(latest.to_bytes())?);
        }
        Ok(())
    }

    fn cannot(&self) -> String {
        format!("cannot open {}", shown(&self.path))
    }
}

/// The WAD file with these bytes, or a new one.
fn read_or_new(old: Option<&[u8]>, has_palettes: bool) -> bspkit::Result<Wad<'static>> {
    old.map_or_else(|| Ok(Wad::new(has_palettes)), |bytes| Wad::parse(bytes.to_vec()))
}
