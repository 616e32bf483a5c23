//! The graph while it grows: files by their names, with what models, materials and surfaces name.

use std::collections::{HashSet, VecDeque};

use super::patches::Patches;
use super::{Fault, Found, Kind, Need, Needs, Options, Reference, Referrer, Sure, Unresolved, definitions, entities};
use crate::assets::keyvalues::KeyValues;
use crate::assets::material::{Names, material_file, mentions, replaced};
use crate::assets::model::{Model, physics_text, replacements};
use crate::assets::utf16::Order;
use crate::assets::{Files, found_by, normal_name};
use crate::rename::names;
use bspkit::Bsp;
use bspkit::Data;
use bspkit::bytes::word;
use bspkit::content::pak::Pak;
use bspkit::content::texdata::{STRINGS, TABLE};
use bspkit::{Error, ErrorKind, Result};

// The graph while it grows: files by their names, and those that are not read yet.

/// A map that refers to more files is refused.
const MOST_FILES: usize = 1 << 18;

/// A map with more references is refused.
const MOST_REFERENCES: usize = 1 << 21;

/// What is read of all files together, in bytes: the rest is not read.
const MOST_BYTES: usize = 1 << 30;

/// The folders of models are not looked up more often than this.
const MOST_LOOKUPS: usize = 1 << 23;

/// More faults are not kept.
const MOST_FAULTS: usize = 4096;

/// A name that a file defines: a sound of a script, a soundscape, a particle system.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) kind: Kind,
    pub(super) name: Vec<u8>,
    pub(super) referrer: Referrer,
    pub(super) sure: Sure,
}

pub(super) struct Graph<'f> {
    pub(super) needs: Needs,
    /// The names that the map may have, in lower case.
    pub(super) maps: Vec<Vec<u8>>,
    packed: &'f dyn Files,
    game: Option<&'f dyn Files>,
    reference_count: usize,
    byte_count: usize,
    lookup_count: usize,
    /// The files to read, those that are surest first.
    queues: [VecDeque<usize>; 4],
    is_read: Vec<bool>,
    wanted: VecDeque<Wanted>,
    /// Texts in files that were read otherwise, which may have names of files: the file, and the text.
    pub(super) texts: Vec<(Vec<u8>, Vec<u8>)>,
    /// Files of which not all is read that has names.
    pub(super) partly: Vec<Vec<u8>>,
    /// Names that were wanted from this place before.
    asked: HashSet<(Kind, Vec<u8>, Sure)>,
    patches: Patches,
}

impl<'f> Graph<'f> {
    pub(super) fn new(packed: &'f dyn Files, options: &Options<'f>) -> Self {
        Graph {
            needs: Needs::default(),
            maps: [Some(options.map), options.also].into_iter().flatten().map(normal_name).collect(),
            packed,
            game: options.game,
            reference_count: 0,
            byte_count: 0,
            lookup_count: 0,
            queues: Default::default(),
            is_read: Vec::new(),
            wanted: VecDeque::new(),
            texts: Vec::new(),
            partly: Vec::new(),
            asked: HashSet::new(),
            patches: Patches::default(),
        }
    }

    /// Adds a reference to a file. A file that is optional is added only if it is there.
    pub(super) fn add(&mut self, kind: Kind, name: &[u8], referrer: Referrer, written: &[u8], sure: Sure) {
        let name = normal_name(name);
        let effective = self.effective(&referrer, sure);
        let needs_file = sure <= Sure::Optional || effective == Sure::Possible;
        if name.is_empty() || self.is_full() || (needs_file && !self.exists(&name)) {
            return;
        }
        self.reference_count += 1;
        let index = match self.needs.names.get(&name) {
            Some(index) => *index,
            None => {
                let index = self.needs.files.len();
                self.needs.names.insert(name.clone(), index);
                let (found, references) = (self.place(&name), Vec::new());
                self.needs.files.push(Need { name, kind, sure: effective, found, references });
                self.is_read.push(false);
                self.queue(index, effective);
                index
            }
        };
        let need = &mut self.needs.files[index];
        let reference = Reference { referrer: referrer.clone(), written: written.to_vec(), sure };
        // A definition may be read a second time when it is asked for; it was among the last then.
        let mut last = need.references.iter_mut().rev().take(16);
        let same = last.find(|other| other.referrer == reference.referrer && other.written == reference.written);
        match same {
            Some(same) => same.sure = same.sure.max(sure),
            None => need.references.push(reference),
        }
        let is_surer = effective > need.sure;
        need.sure = need.sure.max(effective);
        if self.is_read[index] && self.patches.uses_more(index, &referrer) {
            self.is_read[index] = false;
            let sure = self.needs.files[index].sure;
            self.queue(index, sure);
        } else if is_surer {
            self.queue(index, effective);
        }
    }

    /// How sure a reference is with the file that has it.
    fn effective(&self, referrer: &Referrer, sure: Sure) -> Sure {
        match referrer {
            Referrer::File { index, .. } => self.needs.files.get(*index).map_or(sure, |file| file.sure.min(sure)),
            _ => sure,
        }
    }

    fn queue(&mut self, index: usize, sure: Sure) {
        let queue = match sure {
            Sure::Certain => 0,
            Sure::Likely => 1,
            Sure::Optional => 2,
            Sure::Possible => 3,
        };
        self.queues[queue].push_back(index);
    }

    /// The next file to read: the surest one, so that how sure its own references are is final.
    pub(super) fn next(&mut self) -> Option<usize> {
        loop {
            let index = self.queues.iter_mut().find_map(VecDeque::pop_front)?;
            if !std::mem::replace(&mut self.is_read[index], true) {
                return Some(index);
            }
        }
    }

    /// Asks for a name that a file defines.
    pub(super) fn want(&mut self, kind: Kind, name: &[u8], referrer: Referrer, sure: Sure) {
        let name = name.trim_ascii();
        if name.is_empty() || self.is_full() {
            return;
        }
        self.reference_count += 1;
        let sure = self.effective(&referrer, sure);
        self.wanted.push_back(Wanted { kind, name: name.to_vec(), referrer, sure });
    }

    /// The next name that was asked for, and whether it is the first time.
    pub(super) fn next_wanted(&mut self) -> Option<(Wanted, bool)> {
        let wanted = self.wanted.pop_front()?;
        let is_first = self.asked.insert((wanted.kind, wanted.name.to_ascii_lowercase(), wanted.sure));
        Some((wanted, is_first))
    }

    pub(super) fn unresolved(&mut self, wanted: Wanted) {
        let Wanted { kind, name, referrer, sure } = wanted;
        self.needs.unresolved.push(Unresolved { kind, name, referrer, sure });
    }

    fn place(&self, name: &[u8]) -> Found {
        match self.game {
            _ if self.packed.has(name) => Found::Packed,
            Some(game) if game.has(name) => Found::Game,
            _ => Found::Nowhere,
        }
    }

    /// The index of a file that is referred to.
    pub(super) fn index(&self, name: &[u8]) -> Option<usize> {
        self.needs.names.get(name).copied()
    }

    /// Whether a file is in the pakfile.
    pub(super) fn is_packed(&self, name: &[u8]) -> bool {
        self.packed.has(name)
    }

    /// Whether there is a file of this name.
    pub(super) fn exists(&self, name: &[u8]) -> bool {
        self.place(name) != Found::Nowhere
    }

    /// The files of the game in a folder, sorted, if the game is given.
    pub(super) fn names_in_game(&self, folder: &[u8]) -> Vec<Vec<u8>> {
        let mut names = self.game.map_or_else(Vec::new, |game| game.names_in(folder));
        names.sort();
        names
    }

    pub(super) fn has_game(&self) -> bool {
        self.game.is_some()
    }

    /// Whether there is a file of this name, in any form; false after very many such questions.
    pub(super) fn looks_up(&mut self, name: &[u8]) -> bool {
        self.lookup_count += 1;
        self.lookup_count < MOST_LOOKUPS && self.exists(&normal_name(name))
    }

    /// The bytes of a file. What cannot be read is a fault.
    pub(super) fn read(&mut self, name: &[u8], most: usize) -> Option<Data<'f>> {
        if self.byte_count > MOST_BYTES {
            let message = format!("more than {MOST_BYTES} bytes of other files were read before");
            self.fault(name, &Error::new(ErrorKind::TooLarge, message));
            return None;
        }
        let (packed, game) = (self.packed, self.game);
        let read = match self.place(name) {
            Found::Packed => packed.read(name, most),
            _ => game.map_or(Ok(None), |game| game.read(name, most)),
        };
        match read {
            Ok(data) => {
                self.byte_count += data.as_ref().map_or(0, |data| data.len());
                data
            }
            Err(error) => {
                self.fault(name, &error);
                None
            }
        }
    }

    /// A file of the graph as KeyValues. What engines would not read in it is a fault; the rest is read.
    pub(super) fn text(&mut self, name: &[u8], most: usize) -> Option<KeyValues<'f>> {
        let mut data = self.read(name, most)?;
        match (Order::of_mark(&data), Order::of_text(&data)) {
            // `KeyValues::LoadFromBuffer` of the Source SDK translates this order with its mark, and nothing else.
            (Some(Order::Little), _) => data = Order::Little.decode(&data).into(),
            (_, Some(_)) => {
                let message = "it is UTF-16 in a form that engines do not read";
                self.fault(name, &Error::new(ErrorKind::Malformed, message));
                return None;
            }
            (_, None) => {}
        }
        match KeyValues::parse(data) {
            Ok(text) => {
                text.fault().iter().for_each(|error| self.fault(name, error));
                Some(text)
            }
            Err(error) => {
                self.fault(name, &error);
                None
            }
        }
    }

    pub(super) fn fault(&mut self, name: &[u8], error: &Error) {
        if self.needs.faults.len() < MOST_FAULTS {
            self.needs.faults.push(Fault { name: name.to_vec(), message: error.to_string() });
        }
    }

    /// A lump of the map that cannot be read: what it names is not known.
    pub(super) fn lose(&mut self, lump: &str, error: &Error) {
        self.needs.is_partial = true;
        if !self.needs.faults.iter().any(|fault| fault.name == lump.as_bytes()) {
            self.fault(lump.as_bytes(), error);
        }
    }

    /// Whether a bound is reached, which is an error in the end.
    pub(super) fn is_full(&self) -> bool {
        self.reference_count > MOST_REFERENCES || self.needs.names.len() > MOST_FILES
    }

    pub(super) fn finish(self) -> Result<Needs> {
        if self.is_full() {
            let message =
                format!("the map refers to more than {MOST_FILES} files, or in more than {MOST_REFERENCES} places");
            return Err(Error::new(ErrorKind::TooLarge, message));
        }
        Ok(self.needs)
    }
}

// Models: props of the map, and what models name.

/// A larger model is not read.
const MODELS_MOST_BYTES: usize = 64 << 20;

/// Extensions of the triangle strips of a model, for several graphics cards.
const STRIPS: [&[u8]; 5] = [b".dx90.vtx", b".dx80.vtx", b".sw.vtx", b".vtx", b".dx7_2bone.vtx"];

/// The models of static and detail props, and the files of their light.
pub(super) fn collect_models(map: &Bsp<'_>, graph: &mut Graph<'_>) {
    match map.static_props() {
        Ok(props) => {
            names(graph, "game:sprp", props.names());
            for index in 0..props.len() {
                for name in
                    [format!("sp_{index}.vhv"), format!("sp_hdr_{index}.vhv"), format!("texelslighting_{index}.ppl")]
                {
                    let referrer = Referrer::Record { lump: "game:sprp", index };
                    graph.add(Kind::Other, name.as_bytes(), referrer, b"", Sure::Optional);
                }
            }
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        // Of some games the struct is not known.
        Err(error) if error.kind() == ErrorKind::Unsupported => graph.fault(b"game:sprp", &error),
        Err(error) => graph.lose("game:sprp", &error),
    }
    match map.detail_props() {
        Ok(props) => names(graph, "game:dprp", props.names()),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) if error.kind() == ErrorKind::Unsupported => graph.fault(b"game:dprp", &error),
        Err(error) => graph.lose("game:dprp", &error),
    }
}

fn names<'n>(graph: &mut Graph<'_>, lump: &'static str, names: impl Iterator<Item = &'n [u8]>) {
    for (index, name) in names.enumerate() {
        graph.add(Kind::Model, name, Referrer::Record { lump, index }, name, Sure::Certain);
    }
}

/// What a model names, and the files that belong to it.
pub(super) fn expand_models(graph: &mut Graph<'_>, index: usize) {
    let name = graph.needs.files[index].name.clone();
    let Some(stem) = name.strip_suffix(b".mdl") else { return };
    let model = match graph.read(&name, MODELS_MOST_BYTES).map(Model::parse) {
        Some(Ok(model)) => model,
        Some(Err(error)) => return graph.fault(&name, &error),
        None => return,
    };
    let from = || Referrer::File { index, line: None };
    parts(graph, stem, &from(), model.part_count > 0);
    if let Some(file) = &model.animations {
        graph.add(Kind::ModelPart, file, from(), file, Sure::Certain);
    }
    for include in &model.includes {
        graph.add(Kind::Model, include, from(), include, Sure::Certain);
    }
    for texture in &model.textures {
        material(graph, &model, texture, &from(), Sure::Certain);
    }
    // Those of the game name materials of the game.
    for extension in STRIPS {
        let part = [stem, extension].concat();
        let Some(index) = graph.index(&part).filter(|_| graph.is_packed(&part)) else { continue };
        match graph.read(&part, MODELS_MOST_BYTES).map(|bytes| replacements(&bytes)) {
            Some(Ok(names)) => {
                let from = Referrer::File { index, line: None };
                names.iter().for_each(|name| material(graph, &model, name, &from, Sure::Likely));
            }
            Some(Err(error)) => graph.fault(&part, &error),
            None => {}
        }
    }
    for sound in &model.sounds {
        definitions::named(graph, sound, from(), Sure::Likely);
    }
    for system in &model.particles {
        graph.want(Kind::Particles, system, from(), Sure::Likely);
    }
    if let Ok(text) = KeyValues::parse(&*model.text) {
        key_values(graph, &text, index);
    }
    graph.texts.push((name.clone(), model.text));
    graph.texts.extend(model.options.into_iter().map(|options| (name.clone(), options)));
    if !(44..=49).contains(&model.version) {
        graph.partly.push(name);
    }
}

/// A material of a model, of whose folders the engine takes the first that has it.
fn material(graph: &mut Graph<'_>, model: &Model, texture: &[u8], from: &Referrer, sure: Sure) {
    let file = |folder: &Vec<u8>| material_file(&[folder, &b"/"[..], texture].concat());
    let there = model.folders.iter().map(file).find(|file| graph.looks_up(file));
    let first = || model.folders.first().map_or_else(|| material_file(texture), file);
    graph.add(Kind::Material, &there.unwrap_or_else(first), from.clone(), texture, sure);
}

/// The files beside a model. Of the files for graphics cards engines take the first that there is.
fn parts(graph: &mut Graph<'_>, stem: &[u8], from: &Referrer, has_body: bool) {
    let part = |extension: &[u8]| [stem, extension].concat();
    let has_strips = STRIPS.iter().any(|extension| graph.exists(&part(extension)));
    let needed = if has_body { Sure::Certain } else { Sure::Optional };
    let first = if has_strips { Sure::Optional } else { needed };
    let rest = [STRIPS[1], STRIPS[2], STRIPS[3], STRIPS[4], b".phy"].map(|extension| (extension, Sure::Optional));
    for (extension, sure) in [(&b".vvd"[..], needed), (STRIPS[0], first)].into_iter().chain(rest) {
        graph.add(Kind::ModelPart, &part(extension), from.clone(), b"", sure);
    }
}

/// The models into which a model breaks.
pub(super) fn expand_part(graph: &mut Graph<'_>, index: usize) {
    let name = graph.needs.files[index].name.clone();
    if !name.ends_with(b".phy") {
        return;
    }
    let Some(data) = graph.read(&name, MODELS_MOST_BYTES) else { return };
    match physics_text(&data).and_then(KeyValues::parse) {
        Ok(text) => key_values(graph, &text, index),
        Err(error) => graph.fault(&name, &error),
    }
}

/// The key values of a model or of its physics: pieces, sounds of doors, particles.
fn key_values(graph: &mut Graph<'_>, text: &KeyValues<'_>, index: usize) {
    let mut block: &[u8] = b"";
    for pair in text.iter() {
        let from = Referrer::File { index, line: None };
        let Some(value) = pair.value() else {
            block = pair.key();
            continue;
        };
        let is_in = |known: &str| block.eq_ignore_ascii_case(known.as_bytes());
        match () {
            () if is_in("break") && (pair.is("model") || pair.is("ragdoll")) => {
                graph.add(Kind::Model, &piece(value), from, value, Sure::Certain);
            }
            () if ["defaults", "skin", "door_options"].iter().any(|known| is_in(known))
                && ["move", "open", "close", "locked", "unlocked", "lock"].iter().any(|key| pair.is(key)) =>
            {
                definitions::named(graph, value, from, Sure::Likely);
            }
            () if pair.is("explosive_particle") || (pair.is("name") && is_in("particle")) => {
                graph.want(Kind::Particles, value, from, Sure::Likely);
            }
            () => {}
        }
    }
}

/// The path of a piece, which is written without the folder, with or without extension.
fn piece(name: &[u8]) -> Vec<u8> {
    let name = super::normal_name(name);
    let stem = name.strip_suffix(b".mdl").unwrap_or(&name);
    let folder: &[u8] = if stem.starts_with(b"models/") { b"" } else { b"models/" };
    [folder, stem, b".mdl"].concat()
}

// What materials name.

/// A larger material is not read.
const MATERIALS_MOST_BYTES: usize = 1 << 20;

pub(super) fn expand_materials(graph: &mut Graph<'_>, index: usize) {
    let name = graph.needs.files[index].name.clone();
    let Some(text) = graph.text(&name, MATERIALS_MOST_BYTES) else { return };
    graph.patches.note(index, replaced(&text));
    let passed = graph.patches.replaced(index, &graph.needs.files[index]);
    for mention in mentions(&text) {
        let (file, referrer) = (mention.file(), Referrer::File { index, line: Some(mention.pair.line()) });
        let (kind, sure) = match mention.names {
            Names::Include | Names::Material => (Kind::Material, Sure::Certain),
            // A block within has values of its own.
            Names::Texture if mention.pair.depth() == 1 && passed.contains(&mention.key()) => {
                (Kind::Texture, Sure::Optional)
            }
            Names::Texture => (Kind::Texture, Sure::Certain),
            // A guess is right only if there is such a file.
            Names::Perhaps => (Kind::Texture, Sure::Optional),
        };
        if mention.is_envmap() {
            let twin = [file.strip_suffix(b".vtf").unwrap_or(&file), b".hdr.vtf"].concat();
            graph.add(Kind::Texture, &twin, referrer.clone(), mention.written, Sure::Optional);
        }
        if mention.names == Names::Perhaps {
            let material = material_file(mention.written);
            graph.add(Kind::Material, &material, referrer.clone(), mention.written, Sure::Optional);
        }
        graph.add(kind, &file, referrer, mention.written, sure);
    }
    // A text may begin with another one, whose path is that from its own folder.
    let folder = name.iter().rposition(|byte| *byte == b'/').map_or(&b""[..], |end| &name[..=end]);
    for pair in text.roots().filter(|pair| pair.is("#include") || pair.is("#base")) {
        let Some(written) = pair.value() else { continue };
        let referrer = Referrer::File { index, line: Some(pair.line()) };
        graph.add(Kind::Material, &[folder, written].concat(), referrer, written, Sure::Optional);
    }
}

// Materials of faces, overlays and water, which the strings of texdata name, and cubemaps.

const CUBEMAPS: &str = "CUBEMAPS";

pub(super) fn collect_surfaces(map: &Bsp<'_>, graph: &mut Graph<'_>) {
    materials(map, graph);
    cubemaps(map, graph);
}

/// The textures of cubemaps, which the game writes; without one a surface reflects nothing.
fn cubemaps(map: &Bsp<'_>, graph: &mut Graph<'_>) {
    let Ok(slot) = map.slot(CUBEMAPS) else { return };
    let record = map.row(slot).ok().and_then(|row| row.record());
    let origin = record.and_then(|record| Some((record.size, record.field("origin")?.offset)));
    let (Some((size, origin)), Ok(bytes)) = (origin, map.bytes(slot.id)) else { return };
    let bytes = map.in_little_endian(slot.id, bytes);
    for (index, sample) in bytes.chunks_exact(size).enumerate() {
        let at = |axis: usize| word(sample, origin + 4 * axis).unwrap_or(0);
        let stem = format!("/c{}_{}_{}", at(0), at(1), at(2));
        for extension in [".vtf", ".hdr.vtf"] {
            for map in graph.maps.clone() {
                let name = [b"materials/maps/", &map[..], stem.as_bytes(), extension.as_bytes()].concat();
                graph.add(Kind::Texture, &name, Referrer::Record { lump: CUBEMAPS, index }, b"", Sure::Optional);
            }
        }
    }
}

fn materials(map: &Bsp<'_>, graph: &mut Graph<'_>) {
    let strings = match map.texture_strings() {
        Ok(strings) => strings,
        Err(error) => return graph.lose(STRINGS, &error),
    };
    for index in 0..strings.len() {
        match strings.get(index) {
            Ok(written) => {
                let name = [b"materials/", written, b".vmt"].concat();
                graph.add(Kind::Material, &name, Referrer::Record { lump: TABLE, index }, written, Sure::Certain);
            }
            Err(error) => graph.lose(STRINGS, &error),
        }
    }
}

// Files that engines look for by the name of the map.

/// A larger text is not read.
const BY_NAME_MOST_BYTES: usize = 1 << 20;

/// Adds the files of the table that engines look for, and those of the pakfile that fit a row of it.
pub(super) fn collect_by_name(pak: &Pak<'_>, graph: &mut Graph<'_>) {
    for map in graph.maps.clone() {
        for name in names::named_by(&map) {
            graph.add(entities::of_extension(&name), &name, Referrer::MapName, b"", Sure::Optional);
        }
        for entry in pak.iter() {
            let Some(name) = found_by(entry.name()) else { continue };
            if names::in_file_name(&name, &map).is_some() && graph.index(&name).is_none() {
                graph.add(entities::of_extension(&name), &name, Referrer::MapName, b"", Sure::Optional);
            }
        }
    }
}

/// The material of an overview, which its text names.
pub(super) fn expand_overview(graph: &mut Graph<'_>, index: usize) {
    let name = graph.needs.files[index].name.clone();
    if !(name.starts_with(b"resource/overviews/") && name.ends_with(b".txt")) {
        return;
    }
    let Some(text) = graph.text(&name, BY_NAME_MOST_BYTES) else { return };
    for pair in text.iter().filter(|pair| pair.is("material")) {
        let Some(written) = pair.value() else { continue };
        let referrer = Referrer::File { index, line: Some(pair.line()) };
        let radar = [b"resource/", written, b"_radar.dds"].concat();
        graph.add(Kind::Texture, &radar, referrer.clone(), written, Sure::Optional);
        graph.add(Kind::Material, &material_file(written), referrer, written, Sure::Likely);
    }
}
