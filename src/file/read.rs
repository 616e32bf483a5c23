//! How files get into memory: a map is mapped or read; a file beside it is read, edited and written back.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::save::{Replacing, SaveOptions, Saved};
use super::target::{self, Origin, Stamp, patiently, written_meanwhile};
use crate::bytes::Data;
use crate::error::{Error, ErrorKind, Result};

// How a map gets into memory: it is mapped if that is possible and enabled, otherwise read.

/// The largest file in bytes: directories have signed 32-bit numbers.
const MOST: u64 = 0x7FFF_FFFF;

/// How the bytes of a file get into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// All are read at once.
    Read,
    /// The file is mapped, where systems and files allow it.
    Map,
}

/// Smaller files are read: that takes a tenth of a millisecond, and other programs cannot change what was read.
#[cfg(all(feature = "mmap", unix))]
const LEAST_MAPPED: u64 = 256 << 10;

/// The bytes of a file, and their origin. A file of more than 2 GiB is refused before it is read, and one into which
/// another program writes meanwhile afterwards.
pub(crate) fn read(path: &Path, access: Access) -> Result<(Data<'static>, Option<Origin>)> {
    let cannot = |error| Error::io(format!("cannot read {}", path.display()), error);
    // Opening a pipe waits for another program, so the kind of the file is checked first.
    if fs::metadata(path).map_err(cannot)?.is_dir() {
        return Err(cannot(io::Error::other("it is a folder")));
    }
    let file = patiently(path, || File::open(path)).map_err(cannot)?;
    let metadata = file.metadata().map_err(cannot)?;
    if metadata.is_file() && metadata.len() > MOST {
        return Err(too_large(path, &format!("{} bytes", metadata.len())));
    }
    let origin = Origin::new(path, &metadata);
    // On Windows a mapped file cannot be replaced, but a save in place must replace it.
    #[cfg(all(feature = "mmap", unix))]
    if access == Access::Map && metadata.is_file() && metadata.len() >= LEAST_MAPPED {
        let data = Data::shared(map::file(&file).map_err(cannot)?);
        return Ok((data, origin.map(|origin| origin.mapped(file))));
    }
    let _ = access;
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0) + 1);
    // The size of a device or pipe is not known and may be unlimited.
    (&file).take(MOST + 1).read_to_end(&mut bytes).map_err(cannot)?;
    let now = file.metadata().map_err(cannot)?;
    if metadata.is_file() && !Stamp::new(&now).has_content_of(&Stamp::new(&metadata)) {
        return Err(written_meanwhile(path));
    }
    match u64::try_from(bytes.len()) {
        Ok(size) if size <= MOST => Ok((Data::from(bytes), origin)),
        _ => Err(too_large(path, "more bytes than that")),
    }
}

fn too_large(path: &Path, size: &str) -> Error {
    let message = format!("{} is not a map: maps have at most 2 GiB, and it has {size}", path.display());
    Error::new(ErrorKind::TooLarge, message)
}

// A file beside a map that is read, edited and written back: nothing that another program wrote meanwhile is lost, and
// a file that cannot be read never counts as one that is not there.

/// The most bytes of a file: sizes in maps are signed 32-bit numbers.
const SIDE_MOST: u64 = 0x7FFF_FFFF;

/// How often [`SideFile::update`] begins again because another program was faster. Where the file system has locks,
/// that happens only to a new file, or if the other program takes no lock.
const TRIES: usize = 100;

/// A file as it was read.
///
/// ```
/// use bspkit::SaveOptions;
/// use bspkit::file::SideFile;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("list.res");
/// let file = SideFile::read(&path)?;
/// assert_eq!(file.bytes(), None);
/// file.save(b"one", &SaveOptions::default())?;
/// // It was there already when this one was saved.
/// assert!(file.save(b"two", &SaveOptions::default()).is_err());
/// assert_eq!(SideFile::read(&path)?.bytes(), Some(&b"one"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SideFile {
    path: PathBuf,
    there: Option<There>,
}

#[derive(Debug)]
struct There {
    bytes: Vec<u8>,
    stamp: Stamp,
    /// Kept open, so that no other file gets its number. Windows would not replace an open file.
    _file: Option<File>,
}

impl SideFile {
    /// Reads a file, which need not exist. Symbolic links are followed.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Io`] if the system cannot say whether the file exists, if it cannot be read, is no regular
    /// file, or has more than 2 GiB.
    pub fn read(path: &Path) -> Result<Self> {
        let there = There::read(path).map_err(|error| Error::io(format!("cannot read {}", path.display()), error))?;
        Ok(SideFile { path: path.to_path_buf(), there })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its bytes; `None` if it did not exist.
    pub fn bytes(&self) -> Option<&[u8]> {
        self.there.as_ref().map(|there| &there.bytes[..])
    }

    /// Refuses what a save would refuse before it writes: a read-only file.
    ///
    /// # Errors
    /// As [`SideFile::save`].
    pub fn check(&self, options: &SaveOptions) -> Result<()> {
        Replacing::of(&self.path, options, None).map(drop)
    }

    /// Writes the file, as a whole or not at all, if it is still the one that was read.
    ///
    /// # Errors
    /// As [`crate::Plan::save_with`]: [`crate::ErrorKind::Refused`] if another program has changed it, but for
    /// [`SaveOptions::over_changes`].
    pub fn save(&self, new: &[u8], options: &SaveOptions) -> Result<Saved> {
        self.replace(new, options, None)
    }

    fn replace(&self, new: &[u8], options: &SaveOptions, lock: Option<File>) -> Result<Saved> {
        let stamp = self.there.as_ref().map(|there| there.stamp.clone());
        let replacing = Replacing::of(&self.path, options, None)?;
        let replacing = if options.over_changes { replacing.locked(lock) } else { replacing.still(stamp, lock)? };
        replacing.by(|mut file| file.write_all(new)).map(|(saved, _)| saved)
    }

    /// Reads a file, edits it and writes it back. Other programs that do the same wait; if one that does not wait was
    /// faster, the edit is made again, from its result. Without new bytes nothing is written.
    ///
    /// # Errors
    /// Those of the edit; as [`SideFile::read`] and [`SideFile::save`].
    ///
    /// ```
    /// use bspkit::SaveOptions;
    /// use bspkit::file::SideFile;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("list.res");
    /// for line in ["one\n", "two\n"] {
    ///     let add = |old: Option<&[u8]>| Ok(Some([old.unwrap_or_default(), line.as_bytes()].concat()));
    ///     SideFile::update(&path, &SaveOptions::default(), add)?;
    /// }
    /// assert_eq!(std::fs::read(&path)?, b"one\ntwo\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn update(
        path: &Path,
        options: &SaveOptions,
        mut edit: impl FnMut(Option<&[u8]>) -> Result<Option<Vec<u8>>>,
    ) -> Result<Option<Saved>> {
        let cannot = |error| Error::io(format!("cannot replace {}", path.display()), error);
        let mut tries = 0..TRIES;
        loop {
            let target = target::follow_links(path).map_err(cannot)?;
            let lock = target::lock(&target).map_err(cannot)?;
            let file = SideFile::read(path)?;
            let is_locked = file.there.as_ref().zip(lock.as_ref()).is_none_or(|(it, lock)| it.stamp.is_locked_by(lock));
            // The file that was locked has lost its name meanwhile.
            if !is_locked && tries.next().is_some() {
                continue;
            }
            let Some(new) = edit(file.bytes())? else { return Ok(None) };
            match file.replace(&new, options, lock.filter(|_| is_locked)) {
                Err(error) if file.has_changed().map_err(cannot)? => tries.next().ok_or(error)?,
                saved => return saved.map(Some),
            };
        }
    }

    /// Whether the file is another one now.
    fn has_changed(&self) -> io::Result<bool> {
        let now = Stamp::now(&target::follow_links(&self.path)?)?;
        Ok(now.is_some() && now.as_ref() != self.there.as_ref().map(|there| &there.stamp))
    }
}

impl There {
    fn read(path: &Path) -> io::Result<Option<Self>> {
        // Opening a pipe waits for another program, so the kind of the file is checked first.
        match target::there(path)? {
            None => return Ok(None),
            Some(there) if !there.is_file() => return Err(io::Error::other("it is not a regular file")),
            Some(_) => {}
        }
        let file = super::target::patiently(path, || File::open(path))?;
        let metadata = file.metadata()?;
        if metadata.len() > SIDE_MOST {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it has more bytes than any part of a map"));
        }
        let mut bytes = Vec::new();
        (&file).take(SIDE_MOST).read_to_end(&mut bytes)?;
        Ok(Some(There { bytes, stamp: Stamp::new(&metadata), _file: cfg!(unix).then_some(file) }))
    }
}

/// The library's only unsafe line.
///
/// The mapping is read-only and shared: a save never writes to it, since it renames a new file over the name, which
/// does not change the mapped file. If another program writes into the file while it is open, the mapping changes too:
/// two reads of the same bytes may then differ. [`Origin::check_mapped`] sees that, and every save looks. If another
/// program shortens the file, a read past its new end stops the process by SIGBUS. So [`crate::Bsp::open`] reads, and
/// only who asks for a mapping has one: [`crate::Bsp::open_mapped`].
#[cfg(all(feature = "mmap", unix))]
#[allow(unsafe_code)]
mod map {
    use std::fs::File;
    use std::io;

    /// Maps a file for reading.
    pub(super) fn file(file: &File) -> io::Result<memmap2::Mmap> {
        // SAFETY: see the module; the bytes are only read through the shared slice.
        unsafe { memmap2::Mmap::map(file) }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn add(path: &Path, line: &str) -> Result<Option<Saved>> {
        let new = |old: Option<&[u8]>| Ok(Some([old.unwrap_or_default(), line.as_bytes()].concat()));
        SideFile::update(path, &SaveOptions::default(), new)
    }

    #[test]
    fn updates_at_once_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list");
        std::thread::scope(|scope| {
            for worker in 0..8 {
                let path = &path;
                scope.spawn(move || {
                    for at in 0..12 {
                        add(path, &format!("{worker} {at}\n")).unwrap();
                    }
                });
            }
        });
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().collect::<std::collections::BTreeSet<_>>().len(), 96);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn save_refuses_a_file_that_came_or_changed_meanwhile() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list");
        let none = SideFile::read(&path).unwrap();
        fs::write(&path, "first").unwrap();
        let one = SideFile::read(&path).unwrap();
        fs::write(&path, "second").unwrap();
        for (file, name) in [(none, "none"), (one, "one")] {
            let error = file.save(b"mine", &SaveOptions::default().force(true)).unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::Refused, "{name}: {error}");
        }
        assert_eq!(fs::read(&path).unwrap(), b"second");
        // One that went away has nothing to lose.
        let gone = SideFile::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        gone.save(b"mine", &SaveOptions::default()).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"mine");
    }

    /// The system fails to look at the file: a loop of links in place of a faulty disk.
    #[cfg(unix)]
    #[test]
    fn a_file_that_cannot_be_looked_at_is_not_one_that_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("loop");
        std::os::unix::fs::symlink("loop", &path).unwrap();
        assert_eq!(SideFile::read(&path).unwrap_err().kind(), crate::ErrorKind::Io);
        assert!(Stamp::now(&path).is_err());
        assert_eq!(add(&path, "mine").unwrap_err().kind(), crate::ErrorKind::Io);
        assert!(path.is_symlink());
        assert_eq!(SideFile::read(folder.path()).unwrap_err().kind(), crate::ErrorKind::Io);
        assert_eq!(SideFile::read(&folder.path().join("none")).unwrap().bytes(), None);
    }
}
