//! Files on disk that are not maps, or that a user names: [`input`] reads them with a limit, [`put`] writes them
//! completely or not at all, [`names`] gives them names that are free. All that names a file prints it by [`shown`].

pub mod input;
pub mod names;
pub mod put;

use std::path::Path;

/// A path as one line of text; bytes that would break the line are escaped.
pub fn shown(path: &Path) -> String {
    match cfg!(windows) {
        true => path.display().to_string(),
        false => crate::bytes::escaped(path.as_os_str().as_encoded_bytes()).to_string(),
    }
}
