//! The files that players of a GoldSrc or Source map need: what its `.res` file lists, so that servers send them to
//! clients. GoldSrc reads one name in each line, Source the keys of a block of KeyValues.
//!
//! ```
//! use bspkit::op::res::{self, Kind, Options};
//! let map = bspkit::Bsp::open("tests/maps/goldsrc/own_rooms.bsp")?;
//! let list = res::find(&map, &Options::new("own_rooms"))?;
//! let sky = list.files.iter().filter(|file| file.kind == Kind::Sky);
//! assert_eq!(sky.count(), 6);
//! assert_eq!(list.files[0].name, b"own_hl.wad");
//! assert!(list.text().starts_with(b"// wads\nown_hl.wad\n"));
//! # Ok::<(), bspkit::Error>(())
//! ```

mod keys;
mod source;
mod text;

pub use text::Listed;

use std::collections::HashMap;
use std::fmt;

use crate::bsp::Bsp;
use crate::bytes::escaped;
use crate::content::assets::{Files, normal_name};
use crate::dialect::Role;
use crate::error::{Error, ErrorKind, Result};

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

/// A file that players need.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Resource {
    /// Its path from the folder of the game, as the map spells it, with `/`.
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
}

/// The files that players of a map need, sorted by kind and name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct List {
    /// The files to list.
    pub files: Vec<Resource>,
    /// Those that every player has.
    pub stock: Vec<Resource>,
    /// Values that name no file which a server could send, and files that cannot be read, each in a sentence.
    pub faults: Vec<String>,
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
/// [`needs::find`]: crate::op::needs::find
pub fn find(map: &Bsp<'_>, options: &Options<'_>) -> Result<List> {
    let is_goldsrc = map.has_textures() && map.textures().map_or(true, |textures| textures.has_palettes());
    let mut collector = Collector::default();
    let form = match is_goldsrc {
        true => {
            keys::collect(map, &mut collector)?;
            if let Some(own) = options.own {
                text::collect(options.map, own, &mut collector);
            }
            Form::Lines
        }
        false if map.role(Role::Pak).is_some() => {
            source::collect(map, options, &mut collector)?;
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
