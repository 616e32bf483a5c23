//! Packed files that the engine does not need, and how sure that is; files wait until something that may be loaded has
//! their names.

use std::collections::{HashMap, HashSet};

use super::graph::Graph;
use super::{Definitions, Found, Needs, Options, Referrer, Sure, entities, expand, grow};
use crate::assets::utf16::searchable;
use crate::assets::{Files, PakFiles, normal_name};
use bspkit::Bsp;
use bspkit::Result;
use bspkit::bytes::escaped;
use bspkit::content::pak::{Entry, Pak, is_of_system};
use bspkit::dialect::Role;

// Packed files that the engine does not need, and how sure that is.
//
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

/// Extensions of programs, which can put names together.
const SCRIPTS: [&[u8]; 6] = [b"nut", b"nuc", b"lua", b"luac", b"js", b"py"];

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
/// let (_, unused) = needs::unused(&map, &Options::new("room_v20").with_game(&PakFiles::new(&game)))?;
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
    }

    /// Adds what may be loaded to the graph, until nothing new is.
    fn run(&mut self, graph: &mut Graph<'_>, definitions: &mut Definitions) {
        let mut names: Vec<Vec<u8>> = self.why.keys().cloned().collect();
        names.sort();
        for name in names {
            add(graph, &name);
        }
        loop {
            expand(graph, definitions);
            let before = self.done;
            while self.done[0] < graph.needs.files.len() {
                let need = &graph.needs.files[self.done[0]];
                let (name, is_packed) = (need.name.clone(), need.found == Found::Packed);
                self.done[0] += 1;
                let why = format!("it is beside {}, which may be loaded", escaped(&name));
                for index in self.waiting.beside(&name) {
                    self.found(index, why.clone(), graph);
                }
                if is_packed {
                    self.file(&name, graph);
                }
            }
            while self.done[1] < graph.needs.faults.len() {
                let name = graph.needs.faults[self.done[1]].name.clone();
                self.done[1] += 1;
                // What files of the game name the game has, and then a packed file replaces it.
                let is_of_game = graph.index(&name).is_some_and(|index| graph.needs.files[index].found == Found::Game);
                if !is_of_game && !self.game.is_some_and(|game| game.has(&name) && !self.packed.has(&name)) {
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

    /// Looks at a packed file that may be loaded.
    fn file(&mut self, name: &[u8], graph: &mut Graph<'_>) {
        if SCRIPTS.contains(&extension(name)) {
            self.script.get_or_insert_with(|| name.to_vec());
        }
        // Of the other files all that they name is read.
        if !REFERRED.contains(&extension(name)) && !NAMELESS.contains(&extension(name)) {
            self.bytes(name, graph);
        }
    }

    /// Searches a file as a text, whatever it is.
    fn bytes(&mut self, name: &[u8], graph: &mut Graph<'_>) {
        if !self.searched.insert(name.to_vec()) {
            return;
        }
        let data = self.packed.read(name, MOST_OF_TEXT.min(self.bytes_left)).ok().flatten();
        match data {
            Some(data) => {
                self.bytes_left -= data.len().min(self.bytes_left);
                self.search(&data, &escaped(name).to_string(), graph);
            }
            None => drop(self.unread.get_or_insert_with(|| name.to_vec())),
        }
    }

    fn search(&mut self, text: &[u8], place: &str, graph: &mut Graph<'_>) {
        for (index, named) in self.waiting.named_in(&searchable(text), &self.names) {
            let why = match named {
                Named::Whole => format!("its name is in {place}"),
                Named::Stem => format!("its name without the extension is in {place}"),
                Named::Words => format!("the words of its name, or their beginnings, are in {place}"),
                Named::WordsOfTexts => {
                    format!("the words of its name, or their beginnings, are in {place} and in other texts")
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
        if first != index {
            return match is_copy(self.pak, first, entry) {
                true => said(Doubt::None, "an earlier file has this name and these bytes"),
                false => said(Doubt::Much, "an earlier file has this name and other bytes"),
            };
        }
        if let Some(why) = is_no_file(entry.name(), &name) {
            return said(Doubt::None, why);
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

// Packed files that wait until something that may be loaded has their names: texts of any form are searched for words.

/// Ends that engines and games put after the name of a file: numbers (without the digits), sides of a sky, colors of
/// teams, twins for other graphics cards, far sides and pieces.
const ENDS: [&[u8]; 24] = [
    b"rt",
    b"lf",
    b"bk",
    b"ft",
    b"up",
    b"dn",
    b"_back",
    b"_red",
    b"_blue",
    b"_neutral",
    b"_hdr",
    b"hdr",
    b"_dx",
    b"_radar",
    b"_spectate",
    b"_lower",
    b"_upper",
    b"_higher",
    b"_normal",
    b"_ref",
    b"_lod",
    b"_gib",
    b"_break",
    b"_",
];

/// A name has at most this many forms without such ends.
const MOST_FORMS: usize = 32;

/// The folders of a file that are looked for, from the last one on.
const MOST_FOLDERS: usize = 16;

/// How a text names a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// By the last part of its path.
    Whole,
    /// By that part up to the first dot.
    Stem,
    /// By the words of that part, in any order, perhaps without ends.
    Words,
    /// In the same way, by several texts together.
    WordsOfTexts,
    /// By its folder.
    Folder,
}

/// The files that wait, by their indices.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// How many words of a file's name were not seen yet.
    missing: Vec<usize>,
    /// The number of texts that were searched, and for each file the text that had the first of its words.
    texts: usize,
    first: Vec<usize>,
    /// The files, and which of their words, by each form of the word.
    words: HashMap<Vec<u8>, Vec<(usize, usize)>>,
    /// The words that were seen.
    seen: Vec<Vec<bool>>,
    /// The files by their folders, and by the ends of the paths of these.
    folders: HashMap<Vec<u8>, Vec<usize>>,
    /// The files by their paths up to the first dot of the last part, also without ends.
    beside: HashMap<Vec<u8>, Vec<usize>>,
}

impl Waiting {
    /// Adds a file by its name; the result is its index.
    pub(super) fn push(&mut self, name: &[u8]) -> usize {
        let index = self.missing.len();
        let (folder, stem) = parts(name);
        let words: Vec<&[u8]> = split(stem).collect();
        let mut count = 0;
        for (at, word) in words.iter().enumerate() {
            let forms = forms(word);
            // A number alone says nothing.
            let is_number = forms.iter().any(|form| form.is_empty());
            count += usize::from(!is_number);
            forms.iter().filter(|_| !is_number).for_each(|form| {
                self.words.entry(form.to_vec()).or_default().push((index, at));
            });
        }
        self.missing.push(count);
        self.first.push(0);
        self.seen.push(vec![false; words.len()]);
        let starts = folder.iter().enumerate().rev().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at + 1);
        // The last folder alone is a word of any text.
        for start in starts.chain([0]).skip(1).take(MOST_FOLDERS) {
            self.folders.entry(folder[start..].to_vec()).or_default().push(index);
        }
        for form in forms(stem) {
            self.beside.entry([folder, &b"/"[..], form].concat()).or_default().push(index);
        }
        index
    }

    /// Whether the name of a file consists of no words, so that no text could be searched for it.
    pub(super) fn is_wordless(&self, index: usize) -> bool {
        self.missing[index] == 0
    }

    /// The files whose names are in a text of any form; `names` has the names of all files.
    pub(super) fn named_in(&mut self, text: &[u8], names: &[Vec<u8>]) -> Vec<(usize, Named)> {
        let text = text.to_ascii_lowercase();
        self.texts += 1;
        let mut found = Vec::new();
        let is_quote = |byte: &u8| *byte < b' ' || *byte == b'"' || *byte == b'\'' || *byte == 0x7F;
        for value in text.split(is_quote).filter(|value| !value.is_empty()) {
            self.folder(value, &mut found);
            for token in value.split(|byte| b" ,;=(){}[]<>|:".contains(byte)).filter(|token| token.len() < value.len())
            {
                self.folder(token, &mut found);
            }
            let mut at = 0;
            for word in value.split(|byte| !is_letter(*byte)) {
                for index in self.word(word) {
                    let name = names.get(index).map_or(&b""[..], |name| name);
                    let named = match self.first[index] == self.texts {
                        true => named_at(value, at, name),
                        false => Named::WordsOfTexts,
                    };
                    found.push((index, named));
                }
                at += word.len() + 1;
            }
        }
        found
    }

    /// The files beside a file that may be loaded: those with the same path up to the first dot.
    pub(super) fn beside(&mut self, name: &[u8]) -> Vec<usize> {
        let (folder, stem) = parts(name);
        self.beside.remove(&[folder, &b"/"[..], stem].concat()).unwrap_or_default()
    }

    fn folder(&mut self, path: &[u8], found: &mut Vec<(usize, Named)>) {
        if let Some(files) = self.folders.remove(&normal_name(path)) {
            found.extend(files.into_iter().map(|index| (index, Named::Folder)));
        }
    }

    /// The files of whose names this was the last word that was not seen.
    fn word(&mut self, word: &[u8]) -> Vec<usize> {
        let mut found = Vec::new();
        for (index, at) in self.words.remove(word).unwrap_or_default() {
            if !std::mem::replace(&mut self.seen[index][at], true) {
                if self.first[index] == 0 {
                    self.first[index] = self.texts;
                }
                self.missing[index] -= 1;
                if self.missing[index] == 0 {
                    found.push(index);
                }
            }
        }
        found
    }
}

/// How a value names a file with its word at this place, the last one that was not seen. Only the text around the word
/// is compared.
fn named_at(value: &[u8], at: usize, name: &[u8]) -> Named {
    let last = name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let (_, stem) = parts(name);
    let near = &value[at.saturating_sub(last.len())..value.len().min(at + last.len() + 1)];
    let is_part = |byte: Option<&u8>| byte.is_some_and(|byte| is_letter(*byte));
    let has = |whole: &[u8]| {
        memchr::memmem::find_iter(near, whole)
            .any(|at| !is_part(near[..at].last()) && !is_part(near.get(at + whole.len())))
    };
    match () {
        () if stem.is_empty() => Named::Words,
        () if has(last) => Named::Whole,
        () if has(stem) => Named::Stem,
        () => Named::Words,
    }
}

/// The folder of a file, and the last part of its name up to the first dot: `box.dx90.vtx` is a part of `box`.
fn parts(name: &[u8]) -> (&[u8], &[u8]) {
    let (folder, last) = match name.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (&name[..at], &name[at + 1..]),
        None => (&b""[..], name),
    };
    (folder, last.split(|byte| *byte == b'.').next().unwrap_or_default())
}

/// Words of letters, digits and underscores.
fn split(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| !is_letter(*byte)).filter(|word| !word.is_empty())
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// A word, and what is left of it without the ends that engines put there.
fn forms(word: &[u8]) -> Vec<&[u8]> {
    let mut forms = vec![word];
    let mut at = 0;
    while at < forms.len() && forms.len() < MOST_FORMS {
        let form = forms[at];
        let digits = form.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let ends = ENDS.iter().filter_map(|end| form.strip_suffix(*end));
        for shorter in ends.chain([&form[..form.len() - digits]]) {
            if !forms.contains(&shorter) {
                forms.push(shorter);
            }
        }
        at += 1;
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(names: &[&str], text: &str) -> Vec<usize> {
        said(names, &[text]).into_iter().map(|(index, _)| index).collect()
    }

    /// What each of the texts says of the files.
    fn said(names: &[&str], texts: &[&str]) -> Vec<(usize, Named)> {
        let mut waiting = Waiting::default();
        let names: Vec<Vec<u8>> = names.iter().map(|name| name.as_bytes().to_vec()).collect();
        names.iter().for_each(|name| {
            waiting.push(name);
        });
        texts.iter().flat_map(|text| waiting.named_in(text.as_bytes(), &names)).collect()
    }

    #[test]
    fn a_reason_says_how_a_text_names_a_file() {
        let name = "models/own/boss.mdl";
        for (texts, named) in [
            (&["\"models/own/boss.mdl\""][..], Named::Whole),
            (&["x = Boss.MDL"], Named::Whole),
            (&["RunScriptFile boss.nut"], Named::Stem),
            (&["boss"], Named::Stem),
            (&["the boss.mdlx is another"], Named::Stem),
            (&["models/own"], Named::Folder),
        ] {
            assert_eq!(said(&[name], texts), [(0, named)], "{texts:?}");
        }
        let name = "materials/own/wall-old_red2.vmt";
        for (texts, named) in [
            (&["own/wall-old_red2.vmt"][..], Named::Whole),
            (&["own/wall-old_red2"], Named::Stem),
            (&["old wall"], Named::Words),
            (&["wall", "old_red"], Named::WordsOfTexts),
        ] {
            assert_eq!(said(&[name], texts), [(0, named)], "{texts:?}");
        }
        assert_eq!(said(&["a/nightrt.vmt"], &["sv_skyname night"]), [(0, Named::Words)]);
    }

    #[test]
    fn names_are_found_in_texts_of_any_form() {
        let name = ["materials/own/wall-old_red2.vmt"];
        for text in [
            "\"own/wall-old_red2\"",
            "x=OWN\\WALL-OLD_RED2.VMT",
            "wall 1, old",
            "wall\0old_red",
            "materials/own",
            "a 'Materials\\own/'",
        ] {
            assert_eq!(found(&name, text), [0], "{text}");
        }
        for text in ["wall", "old_red2", "materials", "own/", "walls old", ""] {
            assert_eq!(found(&name, text), [0; 0], "{text}");
        }
        assert_eq!(found(&["a/nightrt.vmt", "a/nightbk.vmt", "a/day.vmt"], "sv_skyname night"), [0, 1]);
    }

    #[test]
    fn files_beside_are_those_of_one_name() {
        let mut waiting = Waiting::default();
        for name in ["m/own/box.phy", "m/own/box.dx80.vtx", "m/own/box2.mdl", "m/other/box.phy", "m/own/boxes.mdl"] {
            waiting.push(name.as_bytes());
        }
        assert_eq!(waiting.beside(b"m/own/box.mdl"), [0, 1, 2]);
    }
}
