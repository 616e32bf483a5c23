//! What every command is given besides its own arguments.

use std::path::Path;

use anyhow::{Error, Result};
use bspkit::{Bsp, ErrorKind};

use super::options::Options;
use super::show::shown;
use super::talk::Talk;

/// The options that every command has, and how to talk to the user.
pub(crate) struct Context {
    pub(crate) options: Options,
    pub(crate) talk: Talk,
}

impl Context {
    /// Opens a map.
    pub(crate) fn open(&self, path: &Path) -> Result<Bsp<'static>> {
        Bsp::open_as(path, self.options.dialect).map_err(|error| match error.kind() {
            // They name the file already.
            ErrorKind::Io => Error::new(error),
            _ => Error::new(error).context(format!("cannot open {}", shown(path))),
        })
    }
}
