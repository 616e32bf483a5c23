//! What a Source map refers to: materials, models, sounds and all other files, from the map itself and from the files
//! that these files name in turn.
//!
//! The result is a graph: each file that is referred to is there once, with everything that refers to it, how sure that
//! is, and where the file was found ([`Needs`]). Files in the pakfile are read, and those of the game if it is given. A
//! damaged file is a [`Fault`]; it is skipped.
//!
//! ```
//! use bspkit::op::needs::{self, Found, Kind, Options};
//! let map = bspkit::Bsp::open("tests/maps/source/room_v20.bsp")?;
//! let needs = needs::find(&map, &Options::new("room_v20"))?;
//! let floor = needs.get("materials/own/floor.vmt").unwrap();
//! assert_eq!((floor.kind, floor.found), (Kind::Material, Found::Nowhere));
//! assert_eq!(floor.references[0].to_string(), "TEXDATA_STRING_TABLE, record 0");
//! # Ok::<(), bspkit::Error>(())
//! ```

mod by_name;
mod definitions;
mod entities;
mod fill;
mod graph;
mod keys;
mod loose;
mod materials;
mod model;
mod models;
mod sounds;
mod surfaces;
mod unused;

use crate::bsp::Bsp;
use crate::content::assets::{Files, PakFiles, normal_name};
use crate::content::pak::Pak;
use crate::dialect::Role;
use crate::error::{Error, ErrorKind, Result};

use super::rename::owners;
use definitions::Definitions;
pub use fill::{Choice, Fill, fill};
use graph::Graph;
pub use keys::{Holds, Keys};
pub use model::{Fault, Found, Kind, Need, Needs, Reference, Referrer, Sure, Unresolved};
pub use unused::{Doubt, Unused, unused};

/// Where to look for files, and how to read the map.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Options<'o> {
    /// The name of the map without `.bsp`: engines look for some files by it.
    pub map: &'o [u8],
    /// A second name, if it is not known by which one the map is loaded.
    pub also: Option<&'o [u8]>,
    /// The files of the game, if they are available.
    pub game: Option<&'o dyn Files>,
    /// Which key of an entity holds what.
    pub keys: &'o Keys,
}

impl<'o> Options<'o> {
    /// Without a game: only files of the pakfile are read.
    pub fn new(map: &'o (impl AsRef<[u8]> + ?Sized)) -> Self {
        Options { map: map.as_ref(), also: None, game: None, keys: Keys::built_in() }
    }

    /// With a second name: files by either are looked for ([`compiled_name`]).
    #[must_use]
    pub fn with_name(mut self, name: Option<&'o [u8]>) -> Self {
        self.also = name;
        self
    }

    /// With the files of the game.
    #[must_use]
    pub fn with_game(mut self, game: &'o dyn Files) -> Self {
        self.game = Some(game);
        self
    }

    /// With another table of keys.
    #[must_use]
    pub fn with_keys(mut self, keys: &'o Keys) -> Self {
        self.keys = keys;
        self
    }
}

/// The name that most paths in a map have, if it is not that of its file: a copy or a renamed file keeps the paths that
/// the compiler wrote. By which name engines look for files is not known then.
///
/// # Errors
/// Those of a pakfile or of names that cannot be read.
pub fn compiled_name(map: &Bsp<'_>, name: &[u8]) -> Result<Option<Vec<u8>>> {
    let owner = owners(map)?.into_iter().next().map(|owner| owner.name);
    Ok(owner.filter(|owner| !owner.eq_ignore_ascii_case(name)))
}

/// Finds what a map refers to.
///
/// # Errors
/// [`ErrorKind::Unsupported`] for a map without a pakfile, which is not one of Source; [`ErrorKind::TooLarge`] for a
/// map that refers to more than 262,144 files, or does so in more than 2,097,152 places.
pub fn find(map: &Bsp<'_>, options: &Options<'_>) -> Result<Needs> {
    if map.role(Role::Pak).is_none() {
        let message = format!("references of {} maps are not known", map.dialect().title);
        let hint = "they are known of Source maps, which have a pakfile";
        return Err(Error::new(ErrorKind::Unsupported, message).with_hint(hint));
    }
    let (pak, fault) = match map.pak() {
        Ok(pak) => ((*pak).clone(), None),
        Err(error) => (Pak::new(b""), Some(error)),
    };
    let packed = PakFiles::new(&pak);
    let (mut graph, _) = grow(map, &pak, &packed, options)?;
    if let Some(error) = fault {
        graph.fault(b"pakfile", &error);
    }
    graph.finish()
}

/// The graph of all references, which can grow on.
fn grow<'f>(
    map: &Bsp<'_>,
    pak: &Pak<'_>,
    packed: &'f dyn Files,
    options: &Options<'f>,
) -> Result<(Graph<'f>, Definitions)> {
    let mut graph = Graph::new(packed, options);
    surfaces::collect(map, &mut graph);
    models::collect(map, &mut graph);
    entities::collect(map, pak, options.keys, &mut graph);
    let mut definitions = Definitions::default();
    definitions.of_map(&mut graph);
    by_name::collect(pak, &mut graph);
    expand(&mut graph, &mut definitions);
    Ok((graph, definitions))
}

/// Reads file after file until no new one is named. Names that other files define come after the files that are known,
/// so that what is sure is read first.
fn expand(graph: &mut Graph<'_>, definitions: &mut Definitions) {
    loop {
        if let Some((wanted, is_first)) = graph.next_wanted() {
            definitions.resolve(graph, wanted, is_first);
        } else if let Some(index) = graph.next() {
            match graph.needs.files[index].kind {
                Kind::Material => materials::expand(graph, index),
                Kind::Model => models::expand(graph, index),
                Kind::ModelPart => models::expand_part(graph, index),
                Kind::Scene => sounds::expand_scene(graph, index),
                Kind::Other => by_name::expand_overview(graph, index),
                _ => {}
            }
        } else {
            return;
        }
    }
}
