//! Packed files that the engine does not need, and how sure that is.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::graph::Graph;
use super::waiting::{Named, Waiting};
use super::{Definitions, Found, Kind, Need, Needs, Options, Referrer, Sure, entities, expand, grow};
use crate::assets::utf16::searchable;
use crate::assets::{Files, PakFiles, found_by, normal_name};
use crate::rename::names::in_file_name;
use bspkit::bytes::{Data, escaped};
use bspkit::content::pak::{Entry, Pak, is_of_system};
use bspkit::dialect::Role;
use bspkit::{Bsp, Result};

// What the graph of references has is needed. Of the rest a file may be loaded if it replaces one of the game, if code
// of games looks for such files, or if a text that may be read has its name; and then all that it refers to may be
// loaded too: it is read as the files of the graph are, and searched as texts are. Only what is left then is likely
// not needed.

/// How sure it is that the engine does not need a packed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Doubt {
    /// No engine reads it.
    None,
    /// Nothing that may be loaded refers to it or has its name.
    Little,
    /// Something that may be loaded has its name, or it is not known what is loaded.
    Much,
}

impl Doubt {
    /// How sure it is, in one word.
    pub fn name(self) -> &'static str {
        match self {
            Doubt::None => "certain",
            Doubt::Little => "likely",
            Doubt::Much => "possible",
        }
    }
}

/// A packed file that the engine does not need as far as is known.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unused {
    /// Its index in the pakfile.
    pub index: usize,
    /// How much speaks against that it is unused.
    pub doubt: Doubt,
    /// Why.
    pub why: String,
}

/// Extensions of files to which the map and other files refer by name, and of which code of games rarely has names.
const REFERRED: [&[u8]; 10] = [b"vmt", b"vtf", b"mdl", b"vvd", b"vtx", b"phy", b"ani", b"wav", b"mp3", b"vhv"];

/// Extensions of other files that name no files: images, films, meshes of navigation.
const NAMELESS: [&[u8]; 14] = [
    b"nav", b"ain", b"bik", b"webm", b"jpg", b"jpeg", b"png", b"dds", b"tga", b"svg", b"raw", b"ogg", b"cache", b"ttf",
];

/// Extensions of files to which others refer, and that refer to none themselves.
const LEAVES: [&[u8]; 5] = [b"vtf", b"vvd", b"wav", b"mp3", b"vhv"];

/// Extensions of programs, which can put names together.
const SCRIPTS: [&[u8]; 6] = [b"nut", b"nuc", b"lua", b"luac", b"js", b"py"];

/// Extensions of texts that are encrypted, such as scripts of weapons: what they name cannot be searched for.
const ENCRYPTED: [&[u8]; 1] = [b"ctx"];

/// Where files of the game are whose names begin with that of the map, and their extensions: waves of robots, and other
/// entities.
const LISTED: [(&[u8], &[u8]); 3] = [(b"scripts/population", b"pop"), (b"maps", b"lmp"), (b"maps", b"ent")];

/// What sentences play for their punctuation, in the folder of their words (`vox.cpp` of the engines).
const PAUSES: [&[u8]; 2] = [b"_comma.wav", b"_period.wav"];

/// An input of entities that runs a program.
const RUN_CODE: &[u8] = b"runscriptcode";

/// A larger file is not searched for names, and no more bytes in total.
const MOST_OF_TEXT: usize = 16 << 20;
const MOST_OF_TEXTS: usize = 128 << 20;

/// No engine looks up a longer name.
const LONGEST: usize = 259;

/// The packed files that the map does not need, in the order of the pakfile, with what may be loaded in
/// [`Needs`] as [`Sure::Possible`].
///
/// # Errors
/// As [`find`](super::find); the pakfile cannot be read.
///
/// ```
/// use bspkit_game::assets::PakFiles;
/// use bspkit::content::pak::Pak;
/// use bspkit_game::needs::{self, Doubt, Options};
/// let map = bspkit::Bsp::open("../../tests/maps/source/room_v20.bsp")?;
/// let mut draft = map.draft();
/// draft.pak()?.add("materials/own/floor.vmt", "LightmappedGeneric {}")?;
/// draft.pak()?.add("materials/own/old.vmt", "LightmappedGeneric {}")?;
/// let map = bspkit::Bsp::from_vec(draft.plan(bspkit::Layout::Keep)?.to_vec())?;
/// // Files of the game may refer to it as long as these are not known.
/// let (_, unused) = needs::unused(&map, &Options::new("room_v20"))?;
/// assert_eq!((unused.len(), unused[0].doubt), (1, Doubt::Much));
/// assert_eq!(map.pak()?.get(unused[0].index).unwrap().name(), b"materials/own/old.vmt");
/// let game = Pak::new(b"");
/// let (_, unused) = needs::unused(&map, &Options::new("room_v20").game(&PakFiles::new(&game)))?;
/// assert_eq!(unused[0].doubt, Doubt::Little);
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn unused(map: &Bsp<'_>, options: &Options<'_>) -> Result<(Needs, Vec<Unused>)> {
    let pak = map.pak()?;
    let packed = PakFiles::new(&pak);
    let (mut graph, mut definitions) = grow(map, &pak, &packed, options)?;
    let mut search = Search::new(&pak, &packed, &graph, options);
    search.entities(map, &mut graph);
    search.run(&mut graph, &mut definitions);
    let blind = search.blind(options);
    let needs = graph.finish()?;
    let unused = pak.iter().filter_map(|entry| search.about(&entry, &needs, blind.as_deref())).collect();
    Ok((needs, unused))
}

/// The files that wait for something that may load them.
struct Search<'s, 'a> {
    pak: &'s Pak<'a>,
    packed: &'s PakFiles<'s, 'a>,
    game: Option<&'s dyn Files>,
    waiting: Waiting,
    /// Their names, in the order of `waiting`.
    names: Vec<Vec<u8>>,
    /// Why a file may be loaded, by its name.
    why: HashMap<Vec<u8>, String>,
    /// How many files, faults and texts of the graph were looked at.
    done: [usize; 3],
    searched: HashSet<Vec<u8>>,
    bytes_left: usize,
    /// What cannot be searched, so that it may name any file.
    unread: Option<Vec<u8>>,
    /// A program that may be run.
    script: Option<Vec<u8>>,
}

impl<'s, 'a> Search<'s, 'a> {
    fn new(pak: &'s Pak<'a>, packed: &'s PakFiles<'s, 'a>, graph: &Graph<'_>, options: &Options<'s>) -> Self {
        let mut search = Search {
            pak,
            packed,
            game: options.game,
            waiting: Waiting::default(),
            names: Vec::new(),
            why: HashMap::new(),
            done: [0; 3],
            searched: HashSet::new(),
            bytes_left: MOST_OF_TEXTS,
            unread: None,
            script: None,
        };
        for entry in pak.iter() {
            let name = normal_name(entry.name());
            let is_first = packed.index(&name) == Some(entry.index());
            let is_asked = is_first && graph.index(&name).is_none() && is_no_file(entry.name(), &name).is_none();
            if !is_asked {
                continue;
            }
            let why = if name.len() > LONGEST { None } else { search.at_once(&name, &graph.maps) };
            let index = search.waiting.push(if name.len() > LONGEST { b"" } else { &name });
            let why = why.or_else(|| search.waiting.is_wordless(index).then_some("its name cannot be searched for"));
            if let Some(why) = why {
                search.why.insert(name.clone(), why.to_owned());
            }
            search.names.push(name);
        }
        search
    }

    /// Why a file may be loaded whatever refers to it.
    fn at_once(&self, name: &[u8], maps: &[Vec<u8>]) -> Option<&'static str> {
        let last = name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let has_map = |map: &Vec<u8>| !map.is_empty() && memchr::memmem::find(last, map).is_some();
        match () {
            () if self.game.is_some_and(|game| game.has(name)) => Some("it replaces a file of the game"),
            () if !REFERRED.contains(&extension(name)) => Some("code of the game can look for such a file"),
            () if maps.iter().any(has_map) => Some("its name has that of the map"),
            () if PAUSES.contains(&last) => Some("sentences have it in place of a comma or a period"),
            () => None,
        }
    }

    /// Searches what entities say.
    fn entities(&mut self, map: &Bsp<'_>, graph: &mut Graph<'_>) {
        match map.role(Role::Entities).map(|slot| map.bytes(slot.id)) {
            Some(Ok(text)) => {
                if memchr::memmem::find(&text.to_ascii_lowercase(), RUN_CODE).is_some() {
                    self.script = Some(b"the entities".to_vec());
                }
                self.search(&text, "the entities", graph);
            }
            _ => self.unread = Some(b"ENTITIES".to_vec()),
        }
        if graph.needs.is_partial {
            self.unread = graph.needs.faults.first().map(|fault| fault.name.clone());
        }
    }

    /// Adds what may be loaded to the graph, until nothing new is.
    fn run(&mut self, graph: &mut Graph<'_>, definitions: &mut Definitions) {
        let mut names: Vec<Vec<u8>> = self.why.keys().cloned().collect();
        names.sort();
        for name in names {
            add(graph, &name);
        }
        self.second_files(graph);
        self.listed_of_game(graph);
        loop {
            expand(graph, definitions);
            let before = self.done;
            while self.done[0] < graph.needs.files.len() {
                let need = &graph.needs.files[self.done[0]];
                let (name, found, is_of_map) = (need.name.clone(), need.found, is_of_map(need));
                self.done[0] += 1;
                let why = format!("it is beside {}, which may be loaded", escaped(&name));
                for index in self.waiting.beside(&name) {
                    self.found(index, why.clone(), graph);
                }
                match found {
                    Found::Packed => self.file(&name, graph),
                    Found::Game if is_of_map => self.file_of_game(&name, graph),
                    _ => {}
                }
            }
            while self.done[1] < graph.needs.faults.len() {
                let name = graph.needs.faults[self.done[1]].name.clone();
                self.done[1] += 1;
                // What files of the game name the game has, and then a packed file replaces it.
                let is_of_game = self.game.is_some_and(|game| game.has(&name)) && !self.packed.has(&name);
                let is_of_map = graph.index(&name).is_some_and(|index| is_of_map(&graph.needs.files[index]));
                if !is_of_game || is_of_map {
                    self.bytes(&name, graph);
                }
            }
            for name in std::mem::take(&mut graph.partly) {
                self.bytes(&name, graph);
            }
            while self.done[2] < graph.texts.len() {
                let (name, text) = graph.texts[self.done[2]].clone();
                self.done[2] += 1;
                self.search(&text, &escaped(&name).to_string(), graph);
            }
            if self.done == before {
                return;
            }
        }
    }

    /// Searches the files whose name an earlier file has, with other bytes: an engine may take the last one.
    fn second_files(&mut self, graph: &mut Graph<'_>) {
        let pak = self.pak;
        for entry in pak.iter() {
            let name = normal_name(entry.name());
            let first = self.packed.index(&name).filter(|first| *first != entry.index());
            let is_lost = found_by(entry.name()).is_none() || !entry.is_read_by_engines();
            if is_lost
                || first.is_none_or(|first| is_copy(pak, first, &entry))
                || is_no_file(entry.name(), &name).is_some()
            {
                continue;
            }
            self.note(&name);
            if !LEAVES.contains(&extension(&name)) && !NAMELESS.contains(&extension(&name)) {
                let is_small = entry.size() <= MOST_OF_TEXT.min(self.bytes_left);
                let data = if is_small { entry.data().ok() } else { None };
                self.text_of(&name, data, graph);
            }
            let why = format!("it is beside {}, which may be loaded", escaped(&name));
            for index in self.waiting.beside(&name) {
                self.found(index, why.clone(), graph);
            }
        }
    }

    /// Notes a file that may be loaded if it is a program or cannot be searched.
    fn note(&mut self, name: &[u8]) {
        if SCRIPTS.contains(&extension(name)) {
            self.script.get_or_insert_with(|| name.to_vec());
        }
        if ENCRYPTED.contains(&extension(name)) {
            self.unread.get_or_insert_with(|| name.to_vec());
        }
    }

    /// Looks at a packed file that may be loaded.
    fn file(&mut self, name: &[u8], graph: &mut Graph<'_>) {
        self.note(name);
        // Of the other files all that they name is read.
        if !REFERRED.contains(&extension(name)) && !NAMELESS.contains(&extension(name)) {
            self.bytes(name, graph);
        }
    }

    /// Searches the files of the game that have the map's name and more, which the graph cannot know.
    fn listed_of_game(&mut self, graph: &mut Graph<'_>) {
        let Some(game) = self.game else { return };
        for (folder, end) in LISTED {
            let mut names = game.names_in(folder);
            names.retain(|name| {
                extension(name) == end && graph.maps.iter().any(|map| in_file_name(name, map).is_some())
            });
            names.sort();
            for name in names.into_iter().filter(|name| !self.packed.has(name)) {
                self.bytes(&name, graph);
            }
        }
    }

    /// Looks at a file of the game that belongs to this map, so that it may name files that the game does not have.
    fn file_of_game(&mut self, name: &[u8], graph: &mut Graph<'_>) {
        // Maps for downloads are not read as they are.
        if extension(name) != b"bz2" {
            self.file(name, graph);
        }
    }

    /// Searches a file as a text, whatever it is.
    fn bytes(&mut self, name: &[u8], graph: &mut Graph<'_>) {
        if !self.searched.insert(name.to_vec()) {
            return;
        }
        let most = MOST_OF_TEXT.min(self.bytes_left);
        let data = match self.game {
            Some(game) if !self.packed.has(name) => game.read(name, most),
            _ => self.packed.read(name, most),
        };
        let data = data.ok().flatten();
        self.text_of(name, data, graph);
    }

    /// Searches the bytes of a file. One that cannot be read may name any other.
    fn text_of(&mut self, name: &[u8], data: Option<Data<'_>>, graph: &mut Graph<'_>) {
        match data {
            Some(data) => {
                self.bytes_left -= data.len().min(self.bytes_left);
                self.search(&data, &escaped(name).to_string(), graph);
            }
            None => drop(self.unread.get_or_insert_with(|| name.to_vec())),
        }
    }

    fn search(&mut self, text: &[u8], place: &str, graph: &mut Graph<'_>) {
        let decoded = searchable(text);
        let mut found = self.waiting.named_in(&decoded, &self.names);
        // A binary file may begin as a text in UTF-16 does.
        if let Cow::Owned(_) = decoded {
            found.extend(self.waiting.named_in(text, &self.names));
        }
        for (index, named) in found {
            let why = match named {
                Named::Whole => format!("its name is in {place}"),
                Named::Stem => format!("its name without the extension is in {place}"),
                Named::Words => format!("the words of its name, or parts of these, are in {place}"),
                Named::WordsOfTexts => {
                    format!("the words of its name, or parts of these, are in {place} and in other texts")
                }
                Named::Folder => format!("the path of its folder, or the end of that path, is in {place}"),
            };
            self.found(index, why, graph);
        }
    }

    fn found(&mut self, index: usize, why: String, graph: &mut Graph<'_>) {
        let name = self.names[index].clone();
        if graph.index(&name).is_none() {
            self.why.insert(name.clone(), why);
            add(graph, &name);
        }
    }

    /// Why it cannot be known that a file is not loaded.
    fn blind(&self, options: &Options<'_>) -> Option<String> {
        match (&self.unread, &self.script) {
            (Some(name), _) => Some(format!("`{}` cannot be read, and may refer to it", escaped(name))),
            (None, Some(name)) => Some(format!("a program can put its name together: {}", escaped(name))),
            _ if options.game.is_none() => {
                Some("nothing packed refers to it; files of the game are not read".to_owned())
            }
            _ => None,
        }
    }

    /// What is said about a file; nothing of one that is needed.
    fn about(&self, entry: &Entry<'_, '_>, needs: &Needs, blind: Option<&str>) -> Option<Unused> {
        let name = normal_name(entry.name());
        let (index, first) = (entry.index(), self.packed.index(&name).unwrap_or(entry.index()));
        let said = |doubt, why: &str| Some(Unused { index, doubt, why: why.to_owned() });
        let why = is_no_file(entry.name(), &name);
        if let Some(why) = why.or(found_by(entry.name()).is_none().then_some("engines look for no file of this name")) {
            return said(Doubt::None, why);
        }
        if first != index {
            return match is_copy(self.pak, first, entry) {
                true => said(Doubt::None, "an earlier file has this name and these bytes"),
                false => said(Doubt::Much, "an earlier file has this name and other bytes"),
            };
        }
        if !entry.is_read_by_engines() {
            return said(Doubt::None, "no engine reads the file");
        }
        match needs.get(&name) {
            Some(need) if need.sure == Sure::Possible => {
                let by = need.references.iter().find(|reference| reference.file().is_some());
                let passed_on = || by.map(|by| format!("{} refers to it and may be loaded", needs.referrer(by)));
                let why = self.why.get(&name).cloned().or_else(passed_on);
                said(Doubt::Much, &why.unwrap_or_else(|| "it may be loaded".to_owned()))
            }
            Some(_) => None,
            None => match (self.why.get(&name), blind) {
                (Some(why), _) => said(Doubt::Much, why),
                (None, Some(why)) => said(Doubt::Much, why),
                (None, None) => said(Doubt::Little, "nothing that may be loaded refers to it or has its name"),
            },
        }
    }
}

/// Whether a file belongs to this map if it is one of the game: by its name, or as a text or program that an entity
/// names. What else the game has names what the game has.
fn is_of_map(need: &Need) -> bool {
    let is_text = matches!(need.kind, Kind::Other | Kind::Script);
    need.references.iter().any(|reference| match reference.referrer {
        Referrer::MapName => true,
        Referrer::Entity { .. } => is_text,
        _ => false,
    })
}

/// Adds a file that may be loaded.
fn add(graph: &mut Graph<'_>, name: &[u8]) {
    graph.add(entities::of_extension(name), name, Referrer::Engine, b"", Sure::Possible);
}

/// Why no engine reads an entry.
fn is_no_file(written: &[u8], name: &[u8]) -> Option<&'static str> {
    match () {
        () if written.ends_with(b"/") => Some("it is an entry for a folder"),
        () if is_of_system(name) => Some("file managers and version control create it"),
        () => None,
    }
}

/// Whether two files have the same bytes.
fn is_copy(pak: &Pak<'_>, first: usize, entry: &Entry<'_, '_>) -> bool {
    let Some(first) = pak.get(first).filter(|first| first.size() == entry.size()) else { return false };
    matches!((first.data(), entry.data()), (Ok(one), Ok(other)) if *one == *other)
}

fn extension(name: &[u8]) -> &[u8] {
    let last = name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let dot = last.iter().rposition(|byte| *byte == b'.');
    dot.map_or(&b""[..], |dot| &last[dot + 1..])
}
