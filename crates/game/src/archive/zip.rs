//! ZIP files.

use bspkit::{Error, ErrorKind, Result};
use zip::ZipArchive;
use zip::result::ZipError;

use super::{Source, bounded};

pub(super) struct Zip(ZipArchive<Box<dyn Source>>);

impl std::fmt::Debug for Zip {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Zip({} files)", self.0.len())
    }
}

impl Zip {
    pub(super) fn new(file: Box<dyn Source>) -> Result<Self> {
        ZipArchive::new(file).map(Zip).map_err(|error| malformed(&error))
    }

    /// The names of all files. Some programs write `\` between their parts; a name that is not text is empty.
    pub(super) fn names(&self) -> Vec<Vec<u8>> {
        let name =
            |name: std::result::Result<std::borrow::Cow<'_, str>, _>| name.unwrap_or_default().replace('\\', "/");
        self.0.file_names().map(|own| name(own).into_bytes()).collect()
    }

    pub(super) fn read(&mut self, index: usize, most: usize) -> Result<Vec<u8>> {
        bounded(self.0.by_index(index).map_err(|error| malformed(&error))?, most)
    }
}

fn malformed(error: &ZipError) -> Error {
    Error::new(ErrorKind::Malformed, error.to_string())
}
