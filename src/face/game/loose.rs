//! A folder of loose files, in which names are found without regard to case, as games find them on Windows.

use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::face::{input, shown};
use crate::{Error, ErrorKind, Result};

/// A folder whose folders are listed when a name in them is looked for, once.
#[derive(Debug)]
pub(super) struct Loose {
    root: PathBuf,
    /// By the path below the folder, in lower case.
    listed: Mutex<HashMap<Vec<u8>, Arc<Listing>>>,
}

/// What is in a folder, by names in lower case. Several folders may have names that differ only in case.
#[derive(Debug, Default)]
struct Listing {
    files: HashMap<Vec<u8>, PathBuf>,
    folders: HashMap<Vec<u8>, Vec<PathBuf>>,
}

impl Listing {
    /// Lists folders; those that cannot be read have nothing in them.
    fn of(paths: &[PathBuf]) -> Self {
        let mut listing = Listing::default();
        for entry in paths.iter().filter_map(|path| fs::read_dir(path).ok()).flatten().flatten() {
            let (name, path) = (entry.file_name().as_encoded_bytes().to_ascii_lowercase(), entry.path());
            // Only links need a second look.
            let is_folder = match entry.file_type() {
                Ok(kind) if kind.is_symlink() => path.is_dir(),
                kind => kind.is_ok_and(|kind| kind.is_dir()),
            };
            match is_folder {
                true => listing.folders.entry(name).or_default().push(path),
                false => drop(listing.files.entry(name).or_insert(path)),
            }
        }
        listing
    }
}

impl Loose {
    pub(super) fn new(root: PathBuf) -> Self {
        Loose { root, listed: Mutex::default() }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The path of a file on disk.
    pub(super) fn path(&self, name: &[u8]) -> Option<PathBuf> {
        let end = name.iter().rposition(|byte| *byte == b'/');
        let (folder, file) = end.map_or((&[][..], name), |end| (&name[..end], &name[end + 1..]));
        self.listing(folder).files.get(file).cloned()
    }

    fn listing(&self, folder: &[u8]) -> Arc<Listing> {
        let known = |folder: &[u8]| self.listed.lock().unwrap_or_else(PoisonError::into_inner).get(folder).cloned();
        // The longest part of the path that is listed already.
        let mut end = folder.len();
        let mut found = loop {
            match known(&folder[..end]) {
                Some(listing) => break listing,
                None if end == 0 => break self.keep(&[], Listing::of(std::slice::from_ref(&self.root))),
                None => end = folder[..end].iter().rposition(|byte| *byte == b'/').unwrap_or(0),
            }
        };
        while end < folder.len() {
            let start = if end == 0 { 0 } else { end + 1 };
            let next = folder[start..].iter().position(|byte| *byte == b'/').map_or(folder.len(), |at| start + at);
            let Some(inner) = found.folders.get(&folder[start..next]) else { return Arc::default() };
            found = self.keep(&folder[..next], Listing::of(inner));
            end = next;
        }
        found
    }

    fn keep(&self, folder: &[u8], listing: Listing) -> Arc<Listing> {
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(listed.entry(folder.to_vec()).or_insert_with(|| Arc::new(listing)))
    }

    /// The bytes of a file of at most this size.
    pub(super) fn read(&self, name: &[u8], most: usize) -> Result<Option<Vec<u8>>> {
        let Some(path) = self.path(name) else { return Ok(None) };
        let cannot = |error| input::cannot_read(&path, error);
        // Opening a pipe would wait for a writer.
        if !fs::metadata(&path).map_err(cannot)?.is_file() {
            return Err(Error::new(ErrorKind::Io, format!("{} is not a regular file", shown(&path))));
        }
        let mut bytes = Vec::new();
        let limit = crate::bytes::wide(most).saturating_add(1);
        fs::File::open(&path).and_then(|file| file.take(limit).read_to_end(&mut bytes)).map_err(cannot)?;
        if bytes.len() > most {
            let message = format!("{} has more than the {most} bytes that are read", shown(&path));
            return Err(Error::new(ErrorKind::TooLarge, message));
        }
        Ok(Some(bytes))
    }
}
