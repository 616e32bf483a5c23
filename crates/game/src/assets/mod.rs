//! Files beside or within maps that maps refer to: where they are found ([`Files`]), and what they refer to themselves.
//!
//! Each reader takes the bytes of one file, goes only as far as references need, and has bounds: a damaged file is an
//! error that its user can name and skip.

pub mod fgd;
pub mod keyvalues;
pub mod material;
pub mod model;
pub mod particles;
pub(crate) mod sound;
pub(crate) mod utf16;
pub mod vpk;

use std::collections::HashMap;

use bspkit::bytes::escaped;
use bspkit::content::pak::{Pak, lookup_name};
use bspkit::{Data, Error, ErrorKind, Result};

// Where files are found: a trait, the pakfile of a map, and several sources in order.

/// A source of files, by their names in the form of [`normal_name`].
///
/// A source may know that there is a file and not have its bytes, such as a list of names: then [`Files::has`] is true,
/// and [`Files::read`] gives `None`.
///
/// ```
/// use bspkit_game::assets::{Files, PakFiles, normal_name};
/// use bspkit::content::pak::Pak;
/// let mut pak = Pak::new(b"");
/// pak.add("materials/My/wall.vmt", "LightmappedGeneric {}")?;
/// let files = PakFiles::new(&pak);
/// let name = normal_name("Materials\\my//wall.vmt");
/// assert!(files.has(&name) && !files.has(b"materials/my/floor.vmt"));
/// assert_eq!(files.read(&name, 1024)?.as_deref(), Some(&b"LightmappedGeneric {}"[..]));
/// # Ok::<(), bspkit::Error>(())
/// ```
pub trait Files: Sync {
    /// Whether there is a file of this name.
    fn has(&self, name: &[u8]) -> bool;

    /// The bytes of a file, decompressed; `None` if there is no such file, or only its name is known.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] for a file of more than `most` bytes, before it is read; [`ErrorKind::Io`] and
    /// [`ErrorKind::Malformed`] if it cannot be read.
    fn read(&self, name: &[u8], most: usize) -> Result<Option<Data<'_>>>;

    /// The names of the files in a folder, without those in folders below it, as far as the source can list them. It
    /// need not: then files are only found by names that are known.
    fn names_in(&self, folder: &[u8]) -> Vec<Vec<u8>> {
        let _ = folder;
        Vec::new()
    }
}

/// Whether a file is in a folder itself.
pub(crate) fn is_in(name: &[u8], folder: &[u8]) -> bool {
    let rest = name.strip_prefix(folder).and_then(|rest| rest.strip_prefix(b"/"));
    rest.is_some_and(|rest| !rest.contains(&b'/'))
}

/// A name as engines look it up: lower case, `/` for `\`, without empty parts, `.` and `..`.
///
/// ```
/// use bspkit_game::assets::normal_name;
/// assert_eq!(normal_name("\\Materials//own/x/../Wall.VMT"), b"materials/own/wall.vmt");
/// ```
pub fn normal_name(name: impl AsRef<[u8]>) -> Vec<u8> {
    let name = lookup_name(name);
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in name.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join(&b'/')
}

/// The name by which engines find a file of a pakfile; `None` if they look for no such name, as `./a` or `a//b`.
///
/// ```
/// use bspkit_game::assets::found_by;
/// assert_eq!(found_by("Materials\\Wall.vmt").unwrap(), b"materials/wall.vmt");
/// assert_eq!((found_by("./wall.vmt"), found_by("materials//wall.vmt")), (None, None));
/// ```
pub fn found_by(name: impl AsRef<[u8]>) -> Option<Vec<u8>> {
    let found = normal_name(&name);
    (found == lookup_name(&name)).then_some(found)
}

/// The files of a pakfile, found by name as engines do: of several with one name the first is found, and names with
/// other spellings of a path are not. A file that no engine reads is not there.
///
/// ```
/// use bspkit_game::assets::{Files, PakFiles};
/// let map = bspkit::Bsp::open("../../tests/maps/source/room_v20.bsp")?;
/// let pak = map.pak()?;
/// assert!(!PakFiles::new(&pak).has(b"no such file"));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PakFiles<'p, 'a> {
    pak: &'p Pak<'a>,
    /// The index of each file, and whether engines read it.
    names: HashMap<Vec<u8>, (usize, bool)>,
}

impl<'p, 'a> PakFiles<'p, 'a> {
    /// Reads the names of all files.
    pub fn new(pak: &'p Pak<'a>) -> Self {
        let mut names = HashMap::with_capacity(pak.len());
        for entry in pak.iter() {
            if let Some(name) = found_by(entry.name()) {
                names.entry(name).or_insert_with(|| (entry.index(), entry.is_read_by_engines()));
            }
        }
        PakFiles { pak, names }
    }

    /// The index in the pakfile of the file that engines find, whether they read it or not.
    pub fn index(&self, name: &[u8]) -> Option<usize> {
        self.names.get(name).map(|(index, _)| *index)
    }
}

impl Files for PakFiles<'_, '_> {
    fn has(&self, name: &[u8]) -> bool {
        self.names.get(name).is_some_and(|(_, is_read)| *is_read)
    }

    fn read(&self, name: &[u8], most: usize) -> Result<Option<Data<'_>>> {
        let index = self.index(name).filter(|_| self.has(name));
        let Some(entry) = index.and_then(|index| self.pak.get(index)) else { return Ok(None) };
        check_size(name, entry.size(), most)?;
        entry.data().map(Some)
    }

    fn names_in(&self, folder: &[u8]) -> Vec<Vec<u8>> {
        self.names.keys().filter(|name| is_in(name, folder) && self.has(name)).cloned().collect()
    }
}

/// Refuses a file that is too large, before it is read.
pub(crate) fn check_size(name: &[u8], size: usize, most: usize) -> Result<()> {
    if size <= most {
        return Ok(());
    }
    let message = format!("`{}` has {size} bytes, and at most {most} are read", escaped(name));
    Err(Error::new(ErrorKind::TooLarge, message))
}

/// Several sources: the first one that has a file gives it.
///
/// ```
/// use bspkit_game::assets::{Files, PakFiles, Stack};
/// use bspkit::content::pak::Pak;
/// let (mut one, mut two) = (Pak::new(b""), Pak::new(b""));
/// one.add("a.txt", "1")?;
/// two.add("a.txt", "2")?;
/// two.add("b.txt", "3")?;
/// let stack = Stack::new(vec![Box::new(PakFiles::new(&one)), Box::new(PakFiles::new(&two))]);
/// assert_eq!(stack.read(b"a.txt", 10)?.as_deref(), Some(&b"1"[..]));
/// assert!(stack.has(b"b.txt"));
/// # Ok::<(), bspkit::Error>(())
/// ```
pub struct Stack<'f>(Vec<Box<dyn Files + 'f>>);

impl<'f> Stack<'f> {
    /// These sources, the first one to be asked first.
    pub fn new(sources: Vec<Box<dyn Files + 'f>>) -> Self {
        Stack(sources)
    }
}

impl Files for Stack<'_> {
    fn has(&self, name: &[u8]) -> bool {
        self.0.iter().any(|source| source.has(name))
    }

    fn read(&self, name: &[u8], most: usize) -> Result<Option<Data<'_>>> {
        self.0.iter().find(|source| source.has(name)).map_or(Ok(None), |source| source.read(name, most))
    }

    fn names_in(&self, folder: &[u8]) -> Vec<Vec<u8>> {
        self.0.iter().flat_map(|source| source.names_in(folder)).collect()
    }
}
