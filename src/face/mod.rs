//! What a program shows of maps and takes from its users: text, JSON, images. The `bspkit` program is written on it,
//! and other programs and languages can be. The modules need the feature `json` or `images`.

use std::path::Path;

#[cfg(feature = "json")]
pub mod folder;
#[cfg(feature = "images")]
pub mod images;
pub mod input;
pub mod names;
#[cfg(feature = "json")]
pub mod patch;
#[cfg(feature = "json")]
pub mod records;
#[cfg(feature = "json")]
pub mod report;

/// A path on one line, whatever bytes are in it.
pub fn shown(path: &Path) -> String {
    match cfg!(windows) {
        true => path.display().to_string(),
        false => crate::bytes::escaped(path.as_os_str().as_encoded_bytes()).to_string(),
    }
}
