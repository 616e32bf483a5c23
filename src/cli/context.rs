//! The context of a command: the common options, the output, and how maps are opened.

use std::io::Read;
use std::path::Path;

use anyhow::{Error, Result};
use bspkit::bytes::Data;
use bspkit::face::input;
use bspkit::{Bsp, ErrorKind};

use super::options::Options;
use super::show::shown;
use super::talk::Talk;
use super::watch;

/// The input of every command besides its own arguments.
pub(crate) struct Context {
    pub(crate) options: Options,
    pub(crate) talk: Talk,
}

impl Context {
    /// Opens a map; `-` is stdin.
    pub(crate) fn open(&self, path: &Path) -> Result<Bsp<'static>> {
        let opened = watch::open(|| {
            let opened = match is_stdin(path) {
                true => read_stdin().and_then(|bytes| Bsp::from_data(Data::from(bytes), self.options.dialect)),
                false => Bsp::open_mapped(path, self.options.dialect),
            };
            if let Ok(bsp) = &opened {
                watch::begin(path, bsp);
            }
            opened
        });
        opened.map_err(|error| match error.kind() {
            // The message of an I/O error already names the file.
            ErrorKind::Io => Error::new(error),
            _ => Error::new(error).context(format!("cannot open {}", shown(path))),
        })
    }
}

/// Whether a path means stdin. A file with the name `-` is given as `./-`.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

fn read_stdin() -> bspkit::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match input::stdin().read_to_end(&mut bytes) {
        Ok(_) => Ok(bytes),
        Err(error) => Err(bspkit::Error::new(ErrorKind::Io, "cannot read stdin").with_source(error)),
    }
}
