//! bspkit in a browser: a map, its edits, and what the page shows of it, as JSON and bytes. Each function calls the
//! crates of bspkit and nothing else; [`Work`] has the same functions for Rust.
//!
//! The script of the page calls them in a worker. What fails is an `Error` of JavaScript with a sentence.

mod edit;
mod rows;
mod work;

use wasm_bindgen::prelude::*;

pub use work::Work;

type Res<T> = Result<T, JsError>;

/// A sentence about an error, with what can be done about it.
fn said(error: &bspkit::Error) -> JsError {
    JsError::new(&work::sentence(error))
}

/// A map with edits that are not saved yet, for JavaScript.
#[wasm_bindgen]
pub struct Map(Work);

#[wasm_bindgen]
impl Map {
    /// Opens a map. A name that ends in `.gz`, `.bz2` or `.zst` says how the bytes are compressed.
    #[wasm_bindgen(constructor)]
    pub fn new(bytes: Vec<u8>, name: &str) -> Res<Map> {
        Work::open(bytes, name).map(Map).map_err(|error| said(&error))
    }

    /// The dialect and the lumps.
    pub fn info(&self) -> Res<String> {
        self.0.info().map_err(|error| said(&error))
    }

    /// What an engine would refuse or a mapper should know.
    pub fn check(&self) -> Res<String> {
        self.0.check().map_err(|error| said(&error))
    }

    /// The entities that a selector matches, at most `most` of them from the one at `from` on.
    pub fn entities(&self, selector: &str, from: usize, most: usize) -> Res<String> {
        self.0.entities(selector, from, most).map_err(|error| said(&error))
    }

    /// Edits the entities that a selector matches: `set`, `unset`, `rename`, `add`, `copy` or `remove`.
    pub fn edit(&mut self, how: &str, selector: &str, words: Vec<String>) -> Res<String> {
        self.0.edit(how, selector, &words).map_err(|error| said(&error))
    }

    /// Sets one value of an entity; key and value are as they are, with escapes.
    #[wasm_bindgen(js_name = setPair)]
    pub fn set_pair(&mut self, entity: usize, key: &str, nth: usize, value: &str) -> Res<String> {
        self.0.set_pair(entity, key, nth, value).map_err(|error| said(&error))
    }

    /// Applies a rule file, of a format that its name or its text says.
    #[wasm_bindgen(js_name = applyRules)]
    pub fn apply_rules(&mut self, name: &str, text: &[u8]) -> Res<String> {
        self.0.apply_rules(name, text).map_err(|error| said(&error))
    }

    /// Takes back the last edit.
    pub fn undo(&mut self) -> Res<String> {
        self.0.undo().map_err(|error| said(&error))
    }

    /// What a save changes.
    pub fn report(&self) -> Res<String> {
        self.0.report().map_err(|error| said(&error))
    }

    /// The bytes that a save writes.
    pub fn save(&self, force: bool) -> Res<Vec<u8>> {
        self.0.save(force).map_err(|error| said(&error))
    }

    /// The embedded files.
    pub fn files(&self) -> Res<String> {
        self.0.files().map_err(|error| said(&error))
    }

    /// The bytes of an embedded file.
    pub fn file(&self, index: usize) -> Res<Vec<u8>> {
        self.0.file(index).map_err(|error| said(&error))
    }

    /// Embeds a file, in the place of one with the same name.
    #[wasm_bindgen(js_name = addFile)]
    pub fn add_file(&mut self, name: &str, bytes: Vec<u8>) -> Res<String> {
        self.0.add_file(name, bytes).map_err(|error| said(&error))
    }

    /// Removes an embedded file.
    #[wasm_bindgen(js_name = removeFile)]
    pub fn remove_file(&mut self, index: usize) -> Res<String> {
        self.0.remove_file(index).map_err(|error| said(&error))
    }

    /// The textures of surfaces that the map has pixels of, and the pages of light.
    pub fn pictures(&mut self) -> Res<String> {
        self.0.pictures().map_err(|error| said(&error))
    }

    /// A texture as a PNG.
    pub fn texture(&self, index: usize) -> Res<Vec<u8>> {
        self.0.texture(index).map_err(|error| said(&error))
    }

    /// A page of light as a PNG.
    pub fn light(&self, index: usize) -> Res<Vec<u8>> {
        self.0.light(index).map_err(|error| said(&error))
    }

    /// What differs between the map and another one, as a page of HTML without scripts.
    pub fn diff(&self, other: &Map) -> Res<String> {
        self.0.diff(&other.0).map_err(|error| said(&error))
    }

    /// What the edits change, as such a page.
    #[wasm_bindgen(js_name = diffOfEdits)]
    pub fn diff_of_edits(&self) -> Res<String> {
        self.0.diff_of_edits().map_err(|error| said(&error))
    }

    /// How many edits can be taken back.
    pub fn undos(&self) -> usize {
        self.0.undos()
    }

    /// What is drawn of the map, as binary glTF.
    pub fn mesh(&self) -> Res<Vec<u8>> {
        self.0.mesh().map_err(|error| said(&error))
    }
}
