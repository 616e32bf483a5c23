//! A map as a folder: ordinary files, a manifest, and what it takes to make the very same map again.
//!
//! `manifest.json` is what people read and write: the dialect, and a file for each lump. Entities are text, records are
//! JSON lines or CSV, embedded files are files, everything else is bytes. What is default is absent.
//! The folder `original` holds what no such file has: bytes between lumps, directories, compressed streams, the
//! structure of the pakfile, and an index with the place and the checksum of each slot. A map is packed from the
//! original bytes; files whose content differs from the index are an edit of that map, laid out by
//! [`Layout::Keep`](crate::Layout::Keep). A folder without `original` is a new map, which the builder lays out.
//!
//! ```
//! use bspkit::Bsp;
//! use bspkit::face::folder::{Folder, How, unpack};
//!
//! let bytes = std::fs::read("tests/maps/source/room_v20.bsp").unwrap();
//! let folder = tempfile::tempdir().unwrap();
//! unpack(&Bsp::parse(&bytes)?, &How::default(), |name, bytes| {
//!     let path = folder.path().join(name);
//!     std::fs::create_dir_all(path.parent().unwrap()).unwrap();
//!     std::fs::write(path, bytes).unwrap();
//!     Ok(())
//! })?;
//! let packed = Folder::read(folder.path()).unwrap().pack(Default::default()).unwrap();
//! assert_eq!(packed.draft.plan(Default::default())?.to_vec(), bytes);
//! # Ok::<(), bspkit::Error>(())
//! ```

mod contents;
mod embedded;
mod findings;
mod make;
mod manifest;
mod original;
mod pack;
#[cfg(feature = "images")]
mod pictures;
mod survey;
mod target;
mod unpack;

use std::path::Path;

pub use target::Target;
pub use unpack::{How, Unpacked, unpack};

use crate::dialect::{self, Dialect};
use crate::face::records::Numbers;
use crate::file::directory::DirectoryShape;
use crate::op::check::Finding;
use crate::record::FlagNames;
use crate::{Bsp, Draft, Error, Followed, Result};
use contents::Kind;
use make::Making;
use manifest::Manifest;
use original::Original;
use pack::Packing;
use survey::Survey;

/// The names of flags in a game, or in the usual game of the map.
///
/// # Errors
/// The dialect has no such game.
pub fn names(bsp: &Bsp<'_>, game: Option<&str>) -> Result<FlagNames> {
    flag_names(bsp.dialect(), bsp.version(), game)
}

fn flag_names(dialect: &Dialect, version: i32, game: Option<&str>) -> Result<FlagNames> {
    Ok(game.map_or_else(|| Ok(dialect.game(version)), |name| dialect.game_by_name(name))?.flags)
}

/// Whether a folder has a manifest, or would have one if the unpack had not stopped.
pub fn is_unpacked(folder: &Path) -> bool {
    folder.join(manifest::NAME).is_file() || target::is_unfinished(folder)
}

/// A folder with a manifest.
///
/// ```
/// use bspkit::face::folder::Folder;
/// let packed = Folder::read("docs/box".as_ref()).unwrap().pack(Default::default()).unwrap();
/// assert!(packed.is_new && packed.warnings.is_empty());
/// ```
#[derive(Debug)]
pub struct Folder {
    survey: Survey,
    manifest: Manifest,
    original: Option<Original>,
    kind: Kind,
    shape: DirectoryShape,
}

/// The map of a folder.
///
/// ```
/// let folder = bspkit::face::folder::Folder::read("docs/box".as_ref()).unwrap();
/// let bytes = folder.pack(Default::default()).unwrap().draft.plan(Default::default())?.to_vec();
/// assert_eq!(bspkit::Bsp::from_vec(bytes)?.dialect().name, "quake2");
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Packed {
    /// The original map with the edits; a new map without edits.
    pub draft: Draft<'static>,
    /// The files and properties that differ from the original, sorted.
    pub edited: Vec<String>,
    /// Parts of the map that may be wrong: a sentence each.
    pub warnings: Vec<String>,
    /// What [`check`](crate::op::check) finds in the map and did not find in the original one.
    pub findings: Vec<Finding>,
    /// What followed records that were added, removed or moved.
    pub followed: Followed,
    /// Whether the folder does not say how an original map was laid out.
    pub is_new: bool,
}

impl Folder {
    /// Lists a folder and reads its manifest.
    ///
    /// # Errors
    /// All problems of the manifest, and of what is in the folder: symbolic links, names that differ only in case. A
    /// folder to which a map was not unpacked to the end.
    pub fn read(path: &Path) -> Result<Self, Vec<Error>> {
        if target::is_unfinished(path) {
            let why = "a map was unpacked here and not to the end: files are missing, or of another map";
            let hint = "unpack the map again, with --force";
            return Err(vec![manifest::wrong(target::UNFINISHED, why).with_hint(hint)]);
        }
        Folder::open(path)
    }

    /// As [`Folder::read`], whether it is complete or not.
    fn open(path: &Path) -> Result<Self, Vec<Error>> {
        let survey = Survey::of(path)?;
        if !survey.has(manifest::NAME) {
            return Err(vec![manifest::wrong(
                manifest::NAME,
                "the folder has no such file, so it is not an unpacked map",
            )]);
        }
        let manifest = Manifest::read(&path.join(manifest::NAME))?;
        let original = Original::read(&survey).map_err(|error| vec![error])?;
        let one = |error: Error| vec![error];
        let dialect = dialect::by_name(&manifest.dialect).map_err(|error| {
            let hint = error.hint().map(ToString::to_string).unwrap_or_default();
            one(manifest.wrong("dialect", &error).with_hint(hint))
        })?;
        let version = manifest.version.unwrap_or(dialect.versions[0]);
        let names = flag_names(dialect, version, manifest.game.as_deref())
            .map_err(|error| one(manifest.wrong("game", error)))?;
        let shape = shape(&manifest, dialect).map_err(one)?;
        Ok(Folder { survey, manifest, original, kind: Kind { dialect, version, names }, shape })
    }

    /// The files in it that belong to the map, by their paths below the folder.
    pub fn files(&self) -> Vec<String> {
        let Manifest { lumps, tail, .. } = &self.manifest;
        let parts = lumps.iter().flat_map(|part| part.file.iter().chain(&part.gap_before)).chain(tail).cloned();
        let folders = lumps.iter().filter_map(|part| part.folder.as_ref());
        let images = self.original.iter().flat_map(|original| original.images.iter().map(|image| image.file.clone()));
        let embedded = folders.flat_map(|folder| self.survey.below(folder).map(move |path| format!("{folder}/{path}")));
        let original = self.original.iter().flat_map(|original| original.kept());
        let original =
            original.map(|(name, _)| name.to_owned()).chain([original::INDEX, findings::FINDINGS].map(str::to_owned));
        parts.chain(embedded).chain(images).chain(original).filter(|name| self.survey.has(name)).collect()
    }

    /// Makes the map. The numbers of records in all files are those of the original map, whichever records were added,
    /// removed or moved; `numbers` says what happens then.
    ///
    /// # Errors
    /// All problems, each with its file and line: files that are missing, that nothing names, or that have another
    /// content than their names say; properties that the original map cannot have; records that [`Numbers`] does not
    /// allow, or of which it is not known which ones they are.
    pub fn pack(&self, numbers: Numbers) -> Result<Packed, Vec<Error>> {
        let Folder { survey, manifest, kind, shape, .. } = self;
        match &self.original {
            Some(original) => Packing::new(survey, manifest, original, kind, *shape).pack(numbers),
            None => Making { survey, manifest, kind, shape: *shape }.make(),
        }
    }
}

/// The shape of the directory with this number of entries.
fn shape(manifest: &Manifest, dialect: &Dialect) -> Result<DirectoryShape> {
    let entries = manifest.entries.unwrap_or(dialect.shapes[0].count);
    let shape = dialect.shapes.iter().find(|shape| shape.count == entries);
    shape.copied().ok_or_else(|| {
        let known: Vec<_> = dialect.shapes.iter().map(|shape| shape.count.to_string()).collect();
        manifest.wrong("entries", format!("a directory of {} has {}", dialect.title, known.join(" or ")))
    })
}

/// The checksum in the header of a map.
fn checksum(bsp: &Bsp<'_>) -> Option<u32> {
    let at = bsp.dialect().stored_checksum_at()?;
    bsp.container().bytes().get(at..)?.first_chunk().map(|word| u32::from_le_bytes(*word))
}
