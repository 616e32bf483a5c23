//! A map, its pending edits, and the edits that can be taken back.

#![forbid(unsafe_code)]

use std::cell::OnceCell;
use std::path::Path;

use bspkit::bytes::escaped;
use bspkit::content::lightmap::Light;
use bspkit::content::pak::Pak;
use bspkit::content::select::Selector;
use bspkit::finding::Finding;
use bspkit::{Bsp, Draft, Error, ErrorKind, Hint, Layout, Plan, Result};
use bspkit_ops::check::{self, Stale};
use bspkit_ops::{checksum, compare};
use bspkit_packed::Form;
use bspkit_see::{Format, Options, Scene};
use bspkit_text::images::light;
use bspkit_text::page::{MOST_CHANGES, page};
use serde::Serialize;

use crate::rows::{Info, Listed, Lists, PictureRow, Pictures, Report, file_rows};

/// The edits that can be taken back; older ones stay.
const MOST_UNDONE: usize = 64;

/// A map with edits that are not saved yet.
pub struct Work {
    pub(crate) name: String,
    draft: Draft<'static>,
    past: Vec<Draft<'static>>,
    /// The map as a save would write it, from the first call that needs it until the next edit.
    current: OnceCell<Bsp<'static>>,
    /// Textures as PNGs, from the call that lists them until the next edit.
    textures: Vec<Vec<u8>>,
}

/// An error in a sentence, with its causes and what can be done about it.
pub(crate) fn sentence(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    // The page has no way to force an edit.
    match error.hint() {
        None | Some(Hint::Force) => text,
        Some(Hint::OrForce(hint)) => format!("{text} ({hint})"),
        Some(hint) => format!("{text} ({hint})"),
    }
}

fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::new(ErrorKind::Argument, error.to_string()))
}

fn missing(what: &str, index: usize) -> Error {
    Error::new(ErrorKind::NotFound, format!("there is no {what} {index}"))
}

/// The findings that an edit adds, and the references that it does not update.
fn introduced(draft: &Draft<'_>, plan: &Plan<'_>) -> Result<(Vec<Finding>, Vec<Stale>)> {
    if plan.is_identity() {
        return Ok((Vec::new(), Vec::new()));
    }
    Ok((check::introduced(draft, &check::Options::default())?, check::stale(draft)?))
}

impl Work {
    /// Opens a map. A name that ends in `.gz`, `.bz2` or `.zst` says how the bytes are compressed.
    ///
    /// # Errors
    /// Those of [`Bsp::from_vec`] and [`Form::unpack`].
    pub fn open(bytes: Vec<u8>, name: &str) -> Result<Self> {
        let (bytes, name) = match Form::of(Path::new(name)) {
            Some(form) => (form.unpack(&bytes[..])?, Path::new(name).with_extension("").to_string_lossy().into_owned()),
            None => (bytes, name.to_owned()),
        };
        let draft = Bsp::from_vec(bytes)?.draft();
        Ok(Work { name, draft, past: Vec::new(), current: OnceCell::new(), textures: Vec::new() })
    }

    /// The map as a save would write it.
    fn current(&self) -> Result<&Bsp<'static>> {
        match self.current.get() {
            Some(map) => Ok(map),
            None => {
                let plan = self.draft.plan(Layout::Keep)?;
                let map = match plan.is_identity() {
                    true => self.draft.bsp().clone(),
                    false => Bsp::from_data(plan.to_data(), Some(self.draft.bsp().dialect()))?,
                };
                Ok(self.current.get_or_init(|| map))
            }
        }
    }

    /// Forgets what was made of the map before an edit.
    fn forget(&mut self) {
        (self.current, self.textures) = (OnceCell::new(), Vec::new());
    }

    /// Makes an edit that can be taken back. After an error nothing is changed.
    pub(crate) fn change<T: Serialize>(
        &mut self,
        edit: impl FnOnce(&mut Draft<'static>) -> Result<T>,
    ) -> Result<String> {
        let before = self.draft.clone();
        match edit(&mut self.draft) {
            Err(error) => {
                self.draft = before;
                Err(error)
            }
            Ok(done) => {
                if self.past.len() == MOST_UNDONE {
                    self.past.remove(0);
                }
                self.past.push(before);
                self.forget();
                json(&done)
            }
        }
    }

    /// Takes back the last edit. The result is how many more can be taken back.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is none.
    pub fn undo(&mut self) -> Result<String> {
        let nothing = || Error::new(ErrorKind::NotFound, "there is no edit to take back");
        self.draft = self.past.pop().ok_or_else(nothing)?;
        self.forget();
        json(&self.past.len())
    }

    /// How many edits can be taken back.
    pub fn undos(&self) -> usize {
        self.past.len()
    }

    /// The dialect and the lumps, as JSON.
    ///
    /// # Errors
    /// The edits cannot be made.
    pub fn info(&self) -> Result<String> {
        json(&Info::new(&self.name, self.current()?))
    }

    /// The findings of a check, as JSON.
    ///
    /// # Errors
    /// Those of [`check::run`].
    pub fn check(&self) -> Result<String> {
        json(&check::run(self.current()?, &check::Options::default())?)
    }

    /// The entities that a selector matches, at most `most` of them from the one at `from` on, as JSON. An empty
    /// selector matches all.
    ///
    /// # Errors
    /// The selector cannot be read, or the map has no entities.
    pub fn entities(&self, selector: &str, from: usize, most: usize) -> Result<String> {
        let map = self.current()?;
        let entities = map.entities()?;
        let indices = match selector.trim() {
            "" => (0..entities.len()).collect(),
            text => entities.matching(&Selector::parse(text)?),
        };
        let chosen = indices.iter().skip(from).take(most).filter_map(|index| entities.get(*index));
        let listed: Vec<Listed> = chosen.map(|entity| Listed::new(&entity)).collect();
        json(&Lists { total: entities.len(), matched: indices.len(), entities: listed, undo: self.past.len() })
    }

    /// What a save changes, as JSON.
    ///
    /// # Errors
    /// The edits cannot be saved at all.
    pub fn report(&self) -> Result<String> {
        let plan = self.draft.plan(Layout::Keep)?;
        let (findings, stale) = introduced(&self.draft, &plan)?;
        let touched =
            if plan.is_identity() { String::new() } else { compare::draft(&self.draft, 0)?.touched().to_string() };
        let clients = checksum::clients_need(self.draft.bsp(), &plan).filter(|_| !plan.is_identity());
        let force = plan.needs_force().map(|why| format!("the map is damaged: {why}"));
        let errors = findings.iter().any(Finding::is_error).then(|| "the edits add errors".to_owned());
        json(&Report::new(&plan, touched, clients.is_some(), force.or(errors), &findings, &stale))
    }

    /// The bytes that a save writes.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] for edits that add errors, and [`ErrorKind::Damaged`] for those of a damaged map, without
    /// `force`.
    pub fn save(&self, force: bool) -> Result<Vec<u8>> {
        let plan = self.draft.plan(Layout::Keep)?;
        check::admit(&self.draft, &plan, force)?;
        Ok(plan.to_vec())
    }

    /// The embedded files, as JSON.
    ///
    /// # Errors
    /// The map has none.
    pub fn files(&self) -> Result<String> {
        json(&file_rows(&*self.current()?.pak()?))
    }

    /// The bytes of an embedded file.
    ///
    /// # Errors
    /// It is not there, or damaged.
    pub fn file(&self, index: usize) -> Result<Vec<u8>> {
        let map = self.current()?;
        let files = map.pak()?;
        let entry = files.get(index).ok_or_else(|| missing("file", index))?;
        Ok(entry.data()?.to_vec())
    }

    /// Embeds a file, in the place of one with the same name; the result is its name.
    ///
    /// # Errors
    /// Those of [`Pak::add`].
    pub fn add_file(&mut self, name: &str, bytes: Vec<u8>) -> Result<String> {
        let name = bspkit_text::pak::Names::Normal.name(name.as_bytes());
        self.change(|draft| {
            draft.pak()?.add(&name, bytes)?;
            Ok(escaped(&name).to_string())
        })
    }

    /// Removes an embedded file; the result is its name.
    ///
    /// # Errors
    /// It is not there.
    pub fn remove_file(&mut self, index: usize) -> Result<String> {
        self.change(|draft| {
            let files: &mut Pak<'static> = draft.pak()?;
            let name = files.get(index).map(|entry| escaped(entry.name()).to_string());
            let name = name.ok_or_else(|| missing("file", index))?;
            files.remove(&[index])?;
            Ok(name)
        })
    }

    /// The textures of surfaces that the map has pixels of, and the pages of light, as JSON. What cannot be read is
    /// said.
    ///
    /// # Errors
    /// The edits cannot be made.
    pub fn pictures(&mut self) -> Result<String> {
        let map = self.current()?;
        let (mut pictures, mut pixels) = (Pictures::default(), Vec::new());
        match Scene::read(map, &Options { light: false, ..Options::default() }) {
            Ok(scene) => {
                for texture in scene.textures {
                    let Some(picture) = texture.picture else { continue };
                    let row = PictureRow { name: texture.name, size: Some(picture.size) };
                    pictures.textures.push(row);
                    pixels.push(picture.png);
                }
            }
            Err(error) => pictures.notes.push(sentence(&error)),
        }
        let names = |light: &Light<'_>| -> Result<Vec<String>> {
            Ok(light::export(map, light, &self.name, false, |_, _, _| true)?.names().collect())
        };
        match map.light().and_then(|light| names(&light)) {
            Ok(names) => {
                let pages = names.into_iter().filter(|name| name.ends_with(".png"));
                pictures.light = pages.map(|name| PictureRow { name, size: None }).collect();
            }
            Err(error) => pictures.notes.push(sentence(&error)),
        }
        self.textures = pixels;
        json(&pictures)
    }

    /// A texture as a PNG, by its place in [`Work::pictures`].
    ///
    /// # Errors
    /// The textures were not listed since the last edit, or there is none.
    pub fn texture(&self, index: usize) -> Result<Vec<u8>> {
        self.textures.get(index).cloned().ok_or_else(|| missing("texture", index))
    }

    /// A page of light as a PNG.
    ///
    /// # Errors
    /// There is none, or it is too large.
    pub fn light(&self, index: usize) -> Result<Vec<u8>> {
        let map = self.current()?;
        let lens = map.light()?;
        let export = light::export(map, &lens, &self.name, false, |_, _, _| true)?;
        let sheet = export.files().get(index).ok_or_else(|| missing("page of light", index))?;
        let mut files = export.encode(sheet)?;
        // Of light for high dynamic range the PNG comes second.
        files.pop().map(|(_, png)| png).ok_or_else(|| missing("page of light", index))
    }

    /// What differs between the map and another one, as a page of HTML.
    ///
    /// # Errors
    /// The edits cannot be made.
    pub fn diff(&self, other: &Work) -> Result<String> {
        let (old, new) = (self.current()?, other.current()?);
        Ok(page([&self.name, &other.name], [old, new], &compare::whole(old, new, MOST_CHANGES)))
    }

    /// What the edits change, as such a page.
    ///
    /// # Errors
    /// The edits cannot be made.
    pub fn diff_of_edits(&self) -> Result<String> {
        let (old, new) = (self.draft.bsp(), self.current()?);
        let names = [&*self.name, &format!("{} (edited)", self.name)];
        Ok(page(names, [old, new], &compare::whole(old, new, MOST_CHANGES)))
    }

    /// What is drawn of the map, as binary glTF.
    ///
    /// # Errors
    /// Those of [`Scene::read`].
    pub fn mesh(&self) -> Result<Vec<u8>> {
        let scene = Scene::read(self.current()?, &Options { spaces: true, ..Options::default() })?;
        let name = Path::new(&self.name).with_extension("glb").to_string_lossy().into_owned();
        let file = bspkit_see::export(&scene, Format::Glb, &name)?.into_iter().next();
        file.map(|file| file.bytes).ok_or_else(|| missing("file", 0))
    }
}
