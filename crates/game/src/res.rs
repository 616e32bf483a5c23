//! The files that players of a GoldSrc or Source map need: what its `.res` file lists, so that servers send them to
//! clients. GoldSrc reads one name in each line, Source the keys of a block of KeyValues.
//!
//! ```
//! use bspkit_game::res::{self, Kind, Options};
//! let map = bspkit::Bsp::open("../../tests/maps/goldsrc/own_rooms.bsp")?;
//! let list: res::List = res::find(&map, &Options::new("own_rooms"))?;
//! let sky = list.files.iter().filter(|file| file.kind == Kind::Sky);
//! assert_eq!(sky.count(), 6);
//! assert_eq!(list.files[0].name, b"own_hl.wad");
//! assert!(list.text().starts_with(b"// wads\nown_hl.wad\n"));
//! # Ok::<(), bspkit::Error>(())
//! ```

use std::collections::{HashMap, HashSet};
use std::fmt;

use crate::assets::keyvalues::KeyValues;
use crate::assets::{Files, Stack, normal_name};
use crate::needs::{self, Found, Sure};
use bspkit::Bsp;
use bspkit::bytes::escaped;
use bspkit::content::wad;
use bspkit::dialect::Role;
use bspkit::{Error, ErrorKind, Result};
use serde::{Serialize, Serializer};

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Kind {
    /// A model.
    Model,
    /// A sprite.
    Sprite,
    /// A sound.
    Sound,
    /// A WAD file, which has textures.
    Wad,
    /// A side of the sky.
    Sky,
    /// The overview for spectators.
    Overview,
    /// The text about the map.
    Text,
    /// A detail texture, or the list of them.
    Detail,
    /// A material of Source.
    Material,
    /// A texture of Source.
    Texture,
    /// Another file.
    Other,
}

impl Kind {
    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Model => "model",
            Kind::Sprite => "sprite",
            Kind::Sound => "sound",
            Kind::Wad => "wad",
            Kind::Sky => "sky",
            Kind::Overview => "overview",
            Kind::Text => "text",
            Kind::Detail => "detail",
            Kind::Material => "material",
            Kind::Texture => "texture",
            Kind::Other => "other",
        }
    }
}

/// Where a file is named.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// A key of an entity.
    Key {
        /// The index of the entity.
        entity: usize,
        /// The key.
        key: Vec<u8>,
    },
    /// The engine looks for it by the name of the map, and it is there.
    Map,
    /// Another file or a lump names it.
    File(Vec<u8>),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Key { entity, key } => write!(f, "entity {entity}, {}", escaped(key)),
            Origin::Map => f.write_str("the name of the map"),
            Origin::File(name) => write!(f, "{}", escaped(name)),
        }
    }
}

impl Serialize for Origin {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A file that players need.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Resource {
    /// Its path from the folder of the game, as the map spells it, with `/`.
    #[serde(flatten, serialize_with = "bspkit::json::name")]
    pub name: Vec<u8>,
    /// What it is.
    pub kind: Kind,
    /// Everything that names it; at least one.
    pub from: Vec<Origin>,
}

/// Where to look for files.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Options<'o> {
    /// The name of the map without `.bsp`.
    pub map: &'o [u8],
    /// The folder of the map's author, which has `maps`: files that engines look for by the name of the map are listed
    /// if they are there.
    pub own: Option<&'o dyn Files>,
    /// What every player has: it is not listed.
    pub stock: Option<&'o dyn Files>,
}

impl<'o> Options<'o> {
    /// Without folders: what the entities name.
    pub fn new(map: &'o (impl AsRef<[u8]> + ?Sized)) -> Self {
        Options { map: map.as_ref(), own: None, stock: None }
    }

    /// With the folder of the map's author, if it is known.
    #[must_use]
    pub fn own(mut self, own: Option<&'o dyn Files>) -> Self {
        self.own = own;
        self
    }

    /// With what every player has.
    #[must_use]
    pub fn stock(mut self, stock: &'o dyn Files) -> Self {
        self.stock = Some(stock);
        self
    }
}

/// The files that players of a map need, sorted by kind and name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct List {
    /// The files to list.
    pub files: Vec<Resource>,
    /// Those that every player has.
    pub stock: Vec<Resource>,
    /// Values that name no file which a server could send, and files that cannot be read, each in a sentence.
    pub faults: Vec<String>,
    #[serde(skip)]
    form: Form,
}

/// How the list is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Form {
    /// A name in each line.
    #[default]
    Lines,
    /// KeyValues.
    Block,
}

/// Finds the files that players of a map need.
///
/// # Errors
/// [`ErrorKind::Unsupported`] for a map of another engine; those of [`Bsp::entities`] and of [`needs::find`].
///
/// [`needs::find`]: crate::needs::find
pub fn find(map: &Bsp<'_>, options: &Options<'_>) -> Result<List> {
    let is_goldsrc = map.has_textures() && map.textures().map_or(true, |textures| textures.has_palettes());
    let mut collector = Collector::default();
    let form = match is_goldsrc {
        true => {
            collect_keys(map, &mut collector)?;
            if let Some(own) = options.own {
                collect_text(options.map, own, &mut collector);
            }
            Form::Lines
        }
        false if map.role(Role::Pak).is_some() => {
            collect_source(map, options, &mut collector)?;
            Form::Block
        }
        false => {
            let message = format!("players of {} maps get no files by a .res file", map.dialect().title);
            let hint = "GoldSrc and Source read such files";
            return Err(Error::new(ErrorKind::Unsupported, message).with_hint(hint));
        }
    };
    let mut list = List { faults: collector.faults, form, ..List::default() };
    let is_stock = |name: &[u8]| options.stock.is_some_and(|stock| stock.has(&normal_name(name)));
    (list.stock, list.files) = collector.found.into_iter().partition(|file| is_stock(&file.name));
    for files in [&mut list.files, &mut list.stock] {
        files.sort_by(|one, other| (one.kind, &one.name).cmp(&(other.kind, &other.name)));
    }
    Ok(list)
}

/// The files that were found, each once.
#[derive(Default)]
struct Collector {
    found: Vec<Resource>,
    /// The index of each name, as engines compare names.
    names: HashMap<Vec<u8>, usize>,
    faults: Vec<String>,
}

impl Collector {
    /// Adds a file, which must be below the folder of the game.
    fn add(&mut self, kind: Kind, name: &[u8], from: Origin) {
        let spelled: Vec<u8> = name.iter().map(|byte| if *byte == b'\\' { b'/' } else { *byte }).collect();
        let parts = spelled.split(|byte| *byte == b'/').filter(|part| !part.is_empty() && *part != b".");
        let parts: Vec<&[u8]> = parts.collect();
        let is_bad = |byte: &u8| byte.is_ascii_control() || *byte == b':' || *byte == b'"';
        if parts.contains(&&b".."[..]) || spelled.iter().any(is_bad) {
            self.faults.push(format!("{from}: `{}` is not a path below the game's folder", escaped(name)));
            return;
        }
        let name = parts.join(&b'/');
        let index = *self.names.entry(normal_name(&name)).or_insert(self.found.len());
        match self.found.get_mut(index) {
            Some(known) => known.from.push(from),
            None => self.found.push(Resource { name, kind, from: vec![from] }),
        }
    }
}

// What entities name: files by their extensions, and keys with values of another form.

/// Extensions of files that any key may name, the kind, and the folder below which the value is a path. Engines load
/// them only with the extension.
const EXTENSIONS: [(&[u8], Kind, &[u8]); 5] = [
    (b".mdl", Kind::Model, b""),
    (b".spr", Kind::Sprite, b""),
    (b".wav", Kind::Sound, b"sound/"),
    (b".mp3", Kind::Sound, b"sound/"),
    (b".ogg", Kind::Sound, b"sound/"),
];

/// Folders in which sounds are that are not below `sound`.
const SOUND_FOLDERS: [&[u8]; 2] = [b"sound/", b"media/"];

/// Classes, keys, and what their values are.
const KEYS: [(&[u8], &[u8], KeysForm); 4] = [
    (b"worldspawn", b"wad", KeysForm::Wads),
    (b"worldspawn", b"_wad", KeysForm::Wads),
    (b"worldspawn", b"skyname", KeysForm::Sky),
    (b"trigger_changesky", b"skyname", KeysForm::Sky),
];

/// The form of a value that is not a path.
#[derive(Clone, Copy)]
enum KeysForm {
    /// WAD files on the disk of the map's author, with `;` between them. Players need the files of these names.
    Wads,
    /// The name of a sky; empty for the engine's own.
    Sky,
}

/// The sides of a sky, as the engine names their files.
const SIDES: [&str; 6] = ["up", "dn", "lf", "rt", "ft", "bk"];

/// Adds all files that the entities name.
fn collect_keys(map: &Bsp<'_>, collector: &mut Collector) -> Result<()> {
    for entity in map.entities()?.iter() {
        let class = entity.class().unwrap_or_default();
        for pair in entity.pairs() {
            let (key, value) = (pair.key, pair.value.trim_ascii());
            let from = || Origin::Key { entity: entity.index(), key: key.to_vec() };
            let is_meant =
                |(own, name): (&[u8], &[u8])| class.eq_ignore_ascii_case(own) && key.eq_ignore_ascii_case(name);
            match KEYS.iter().find(|(own, name, _)| is_meant((own, name))) {
                Some((_, _, KeysForm::Wads)) => {
                    let wads = wad::named(value).filter(|name| ends_with(name, b".wad"));
                    wads.for_each(|wad| collector.add(Kind::Wad, wad, from()));
                }
                Some((_, _, KeysForm::Sky)) if value.is_empty() => {}
                Some((_, _, KeysForm::Sky)) => {
                    for side in SIDES {
                        let name = [b"gfx/env/", value, side.as_bytes(), b".tga"].concat();
                        collector.add(Kind::Sky, &name, from());
                    }
                }
                None => {
                    if let Some((kind, name)) = file(value) {
                        collector.add(kind, &name, from());
                    }
                }
            }
        }
    }
    Ok(())
}

/// The file that a value names, if it has the extension of one.
fn file(value: &[u8]) -> Option<(Kind, Vec<u8>)> {
    let (_, kind, folder) = EXTENSIONS.iter().find(|(extension, ..)| ends_with(value, extension))?;
    // A text for players may end with the name of a file.
    if value.iter().any(u8::is_ascii_whitespace) && !value.iter().any(|byte| matches!(byte, b'/' | b'\\')) {
        return None;
    }
    if *kind != Kind::Sound {
        return Some((*kind, value.to_vec()));
    }
    // `*` before a sound says that it is read while it plays.
    let value = value.strip_prefix(b"*").unwrap_or(value);
    let is_below = |folder: &&[u8]| value.get(..folder.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(folder));
    let folder = if SOUND_FOLDERS.iter().any(is_below) { &b""[..] } else { folder };
    Some((*kind, [folder, value].concat()))
}

fn ends_with(value: &[u8], extension: &[u8]) -> bool {
    let at = value.len().checked_sub(extension.len()).filter(|at| *at > 0);
    at.is_some_and(|at| value[at..].eq_ignore_ascii_case(extension))
}

// Files by the name of the map, and the `.res` file as text.

/// The files that engines look for by the name of the map, which is between the two parts.
const BY_NAME: [(&str, &str, Kind); 5] = [
    ("overviews/", ".txt", Kind::Overview),
    ("overviews/", ".bmp", Kind::Overview),
    ("overviews/", ".tga", Kind::Overview),
    ("maps/", ".txt", Kind::Text),
    ("maps/", "_detail.txt", Kind::Detail),
];

/// A larger list of detail textures is not read.
const MOST_BYTES: usize = 1 << 20;

/// Adds the files that are there.
fn collect_text(map: &[u8], own: &dyn Files, collector: &mut Collector) {
    for (before, after, kind) in BY_NAME {
        let name = [before.as_bytes(), map, after.as_bytes()].concat();
        if own.has(&normal_name(&name)) {
            collector.add(kind, &name, Origin::Map);
            if kind == Kind::Detail {
                details(&name, own, collector);
            }
        }
    }
}

/// Adds the textures of a list: a line has a texture, its detail texture below `gfx`, and two numbers.
fn details(list: &[u8], own: &dyn Files, collector: &mut Collector) {
    let text = match own.read(&normal_name(list), MOST_BYTES) {
        Ok(Some(text)) => text,
        Ok(None) => return,
        Err(error) => return collector.faults.push(error.to_string()),
    };
    for line in text.split(|byte| *byte == b'\n') {
        let words = line.split(|byte| byte.is_ascii_whitespace() || *byte == b'"').filter(|word| !word.is_empty());
        let words: Vec<&[u8]> = words.take_while(|word| !word.starts_with(b"//")).collect();
        let [_, detail, ..] = words[..] else { continue };
        collector.add(Kind::Detail, &[b"gfx/", detail, b".tga"].concat(), Origin::File(list.to_vec()));
    }
}

/// A name in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listed {
    /// The name as engines look it up.
    pub name: Vec<u8>,
    /// Its line, from 1.
    pub line: usize,
}

impl List {
    /// Whether it is for a Source map, as KeyValues.
    pub fn is_of_source(&self) -> bool {
        self.form == Form::Block
    }

    /// The text of a new `.res` file.
    pub fn text(&self) -> Vec<u8> {
        match self.form {
            Form::Lines => self.lines_after(b""),
            // An empty text can be added to.
            Form::Block => self.block_after(b"").unwrap_or_default(),
        }
    }

    /// The text of a `.res` file, with what it lacks at its end. Its lines stay; a name in a comment counts as listed.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] for a list of a Source map that the engine does not read.
    ///
    /// ```
    /// use bspkit_game::res::{self, Options};
    /// let map = bspkit::Bsp::open("../../tests/maps/source/room_v20.bsp")?;
    /// let list = res::find(&map, &Options::new("room_v20"))?;
    /// let text = String::from_utf8(list.text_after(b"\"resources\"\n{\n\t\"sound/a.wav\" \"file\"\n}\n")?)?;
    /// let lines: Vec<&str> = text.lines().take(4).collect();
    /// assert_eq!(lines[2..], ["\t\"sound/a.wav\" \"file\"", "\t\"models/own/crate.mdl\" \"file\""]);
    /// assert!(text.ends_with("\t\"materials/own/wall.vtf\" \"file\"\n}\n"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn text_after(&self, old: &[u8]) -> Result<Vec<u8>> {
        match self.form {
            Form::Lines => Ok(self.lines_after(old)),
            Form::Block => self.block_after(old),
        }
    }

    /// The names in a list that the engine reads from it.
    ///
    /// # Errors
    /// As [`List::text_after`].
    pub fn listed(&self, text: &[u8]) -> Result<Vec<Listed>> {
        match self.form {
            Form::Lines => {
                let lines = text.split(|byte| *byte == b'\n').zip(1..);
                let lines = lines.filter(|(text, _)| !text.trim_ascii().starts_with(b"//"));
                let names = lines.map(|(text, line)| Listed { name: name(text), line });
                Ok(names.filter(|listed| !listed.name.is_empty()).collect())
            }
            Form::Block => Ok(self::names(text)?.into_iter().map(|(name, line)| Listed { name, line }).collect()),
        }
    }

    /// The files that no line names, also not in a comment.
    fn lacking(&self, old: &[u8]) -> impl Iterator<Item = &Resource> {
        let listed: HashSet<Vec<u8>> = old.split(|byte| *byte == b'\n').map(name).collect();
        self.files.iter().filter(move |file| !listed.contains(&normal_name(&file.name)))
    }

    fn block_after(&self, old: &[u8]) -> Result<Vec<u8>> {
        let known: HashSet<Vec<u8>> = names(old)?.into_iter().map(|(name, _)| name).collect();
        let lacking = self.lacking(old).filter(|file| !known.contains(&normal_name(&file.name)));
        let more: Vec<&[u8]> = lacking.map(|file| &file.name[..]).collect();
        match more.is_empty() {
            true => Ok(old.to_vec()),
            false => with_names(old, &more, line_end(old)),
        }
    }

    fn lines_after(&self, old: &[u8]) -> Vec<u8> {
        let end = line_end(old);
        let mut out = old.to_vec();
        let mut last = None;
        for file in self.lacking(old) {
            if !out.is_empty() && !out.ends_with(b"\n") {
                out.extend_from_slice(end);
            }
            if last != Some(file.kind) {
                out.extend_from_slice(format!("// {}", heading(file.kind)).as_bytes());
                out.extend_from_slice(end);
                last = Some(file.kind);
            }
            // The engine's parser ends a word at a space.
            let quote: &[u8] = if file.name.iter().any(u8::is_ascii_whitespace) { b"\"" } else { b"" };
            out.extend_from_slice(&[quote, &file.name, quote, end].concat());
        }
        out
    }
}

fn line_end(text: &[u8]) -> &'static [u8] {
    if text.windows(2).any(|two| two == b"\r\n") { b"\r\n" } else { b"\n" }
}

/// The name in a line, also in a comment.
fn name(line: &[u8]) -> Vec<u8> {
    let line = line.trim_ascii();
    let line = line.strip_prefix(b"//").unwrap_or(line).trim_ascii();
    let quoted = line.strip_prefix(b"\"").and_then(|rest| rest.split(|byte| *byte == b'"').next());
    normal_name(quoted.unwrap_or_else(|| line.split(|byte| byte.is_ascii_whitespace()).next().unwrap_or_default()))
}

fn heading(kind: Kind) -> &'static str {
    match kind {
        Kind::Model => "models",
        Kind::Sprite => "sprites",
        Kind::Sound => "sounds",
        Kind::Wad => "wads",
        Kind::Sky => "sky",
        Kind::Overview => "overview",
        Kind::Text => "text",
        Kind::Detail => "detail textures",
        Kind::Material => "materials",
        Kind::Texture => "textures",
        Kind::Other => "other files",
    }
}

// The files that players of a Source map need: what the map refers to and does not have in its pakfile, and what
// servers send. The list is KeyValues, of which the engine takes the keys (`CDownloadListGenerator` in
// downloadlistgenerator.cpp).

/// Endings of files that are never sent (`CNetChan::IsValidFileForTransfer`).
const NOT_SENT: [&str; 19] = [
    "bat", "cfg", "com", "dll", "dylib", "exe", "gcf", "ini", "lmp", "log", "lst", "lua", "nut", "smx", "so", "sys",
    "vbs", "vdf", "zip",
];

/// Folders whose files are never sent.
const KEPT: [&str; 4] = ["addons/", "cfg/", "gamemodes/", "lua/"];

/// The braces of an old list that may be the last one; others are in comments.
const MOST_BRACES: usize = 64;

/// Adds the files that the map refers to, itself or by way of other files. Those of the author and the game are read.
fn collect_source(map: &Bsp<'_>, options: &Options<'_>, collector: &mut Collector) -> Result<()> {
    let sources: Vec<Box<dyn Files>> =
        [options.own, options.stock].into_iter().flatten().map(|files| Box::new(Borrowed(files)) as _).collect();
    let files = Stack::new(sources);
    let found = needs::find(map, &needs::Options::new(options.map).game(&files))?;
    for need in found.files.iter().filter(|need| need.found != Found::Packed && is_sent(&need.name)) {
        // What the engine only looks for is needed where the author has it.
        let is_own = options.own.is_some_and(|own| own.has(&need.name));
        if !is_own && need.sure < Sure::Likely {
            continue;
        }
        for reference in &need.references {
            let from = match &reference.referrer {
                needs::Referrer::MapName | needs::Referrer::Engine => Origin::Map,
                needs::Referrer::Entity { index, key, .. } => Origin::Key { entity: *index, key: key.clone() },
                other => Origin::File(found.place(other).into_bytes()),
            };
            collector.add(kind(need.kind), &need.name, from);
        }
    }
    let faults =
        found.faults.into_iter().map(|fault| format!("{}: {}", bspkit::bytes::escaped(&fault.name), fault.message));
    collector.faults.extend(faults);
    Ok(())
}

/// Files of a source that lives longer.
struct Borrowed<'f>(&'f dyn Files);

impl Files for Borrowed<'_> {
    fn has(&self, name: &[u8]) -> bool {
        self.0.has(name)
    }

    fn read(&self, name: &[u8], most: usize) -> Result<Option<bspkit::bytes::Data<'_>>> {
        self.0.read(name, most)
    }

    fn names_in(&self, folder: &[u8]) -> Vec<Vec<u8>> {
        self.0.names_in(folder)
    }
}

fn kind(kind: needs::Kind) -> Kind {
    match kind {
        needs::Kind::Material => Kind::Material,
        needs::Kind::Texture => Kind::Texture,
        needs::Kind::Model | needs::Kind::ModelPart => Kind::Model,
        needs::Kind::Sound => Kind::Sound,
        _ => Kind::Other,
    }
}

/// Whether servers send a file. The engine lists the map, its areas and its nodes by itself.
fn is_sent(name: &[u8]) -> bool {
    let extension = name.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
    let is_listed = name.starts_with(b"maps/") && [&b"nav"[..], b"ain", b"bsp", b"res"].contains(&extension);
    let is_kept = KEPT.iter().any(|folder| name.starts_with(folder.as_bytes()));
    !is_listed && !is_kept && !NOT_SENT.iter().any(|ending| ending.as_bytes() == extension)
}

/// The names that a list has, as the engine reads it.
fn names(text: &[u8]) -> Result<Vec<(Vec<u8>, usize)>> {
    let list = KeyValues::parse(text.to_vec())?;
    let wrong =
        |why: &str| Error::new(ErrorKind::Malformed, format!("the list is not one that the engine reads: {why}"));
    if let Some(fault) = list.fault() {
        return Err(wrong(&fault.to_string()));
    }
    match list.roots().next() {
        Some(root) if root.is_block() => {
            Ok(root.children().map(|pair| (normal_name(pair.key()), pair.line())).collect())
        }
        Some(_) => Err(wrong("it does not begin with a name and a block, `\"resources\" { ... }`")),
        None => Ok(Vec::new()),
    }
}

/// A list with more names at the end of its block; a new list for a text without one.
fn with_names(old: &[u8], more: &[&[u8]], end: &[u8]) -> Result<Vec<u8>> {
    let lines: Vec<u8> = more.iter().flat_map(|name| [b"\t\"", *name, b"\" \"file\"", end].concat()).collect();
    let known = names(old)?;
    if known.is_empty() && !old.contains(&b'{') {
        let break_line: &[u8] = if old.is_empty() || old.ends_with(b"\n") { b"" } else { end };
        return Ok([old, break_line, b"\"resources\"", end, b"{", end, &lines, b"}", end].concat());
    }
    if more.is_empty() {
        return Ok(old.to_vec());
    }
    let braces = old.iter().enumerate().rev().filter(|(_, byte)| **byte == b'}').map(|(at, _)| at);
    for at in braces.take(MOST_BRACES) {
        let start = old[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |line| line + 1);
        // A line with the brace alone stays as it is.
        let (at, break_line) = match old[start..at].trim_ascii().is_empty() {
            true => (start, &b""[..]),
            false => (at, end),
        };
        let new = [&old[..at], break_line, &lines, &old[at..]].concat();
        let has_all = names(&new).is_ok_and(|names| {
            names.len() == known.len() + more.len()
                && known.iter().zip(&names).all(|(old, new)| old.0 == new.0)
                && more.iter().zip(&names[known.len()..]).all(|(more, new)| normal_name(more) == new.0)
        });
        if has_all {
            return Ok(new);
        }
    }
    Err(Error::new(ErrorKind::Malformed, "names cannot be added to the list: the end of its block is not found"))
}
