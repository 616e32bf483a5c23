//! Files that a script may read: those of one folder, and none without the user's word.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rhai::ImmutableString;

use super::api::{Api, Res, fail};
use super::data::{Bytes, MOST_BYTES, Meter, text};
use super::map::Map;
use crate::face::{input, shown};
use crate::{Bsp, Error, ErrorKind, Hint, Result};

/// The most maps that a script may open.
const MOST_MAPS: usize = 64;

/// The folder that a script may read.
#[derive(Clone, Default)]
pub(super) struct Folder {
    path: Option<PathBuf>,
    maps: Arc<AtomicUsize>,
    meter: Meter,
}

impl Folder {
    pub(super) fn new(path: Option<PathBuf>, meter: Meter) -> Self {
        Folder { path, maps: Arc::default(), meter }
    }

    /// The file of a path below the folder. The path has no `..`, and no part of it is a symbolic link.
    fn file(&self, path: &str) -> Result<PathBuf> {
        let refused = |why: String| Error::new(ErrorKind::Refused, why);
        let Some(folder) = &self.path else {
            return Err(refused(format!("the script may not read `{path}`")).with_hint(Hint::AllowRead));
        };
        let below = Path::new(path);
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if !below.components().all(is_plain) || path.is_empty() {
            let why = format!("`{path}` is not a path below {}: `..` and absolute paths are refused", shown(folder));
            return Err(refused(why));
        }
        let folder = folder.canonicalize().map_err(|error| input::cannot_read(folder, error))?;
        let parts = below.components().filter(|part| matches!(part, Component::Normal(_)));
        let file = parts.fold(folder, |file, part| file.join(part));
        let real = file.canonicalize().map_err(|error| input::cannot_read(&file, error))?;
        match real == file && real.is_file() {
            true => Ok(real),
            false => Err(refused(format!("`{path}` is not a plain file: symbolic links and folders are refused"))),
        }
    }

    fn read(&self, path: &str) -> Res<Vec<u8>> {
        let file = self.file(path).map_err(fail)?;
        let size = file.metadata().map_err(|error| fail(input::cannot_read(&file, error)))?.len();
        if usize::try_from(size).is_ok_and(|size| size <= MOST_BYTES) {
            return input::read(&file).map_err(fail);
        }
        let message = format!("`{path}` has more than {} MiB", MOST_BYTES >> 20);
        Err(fail(Error::new(ErrorKind::TooLarge, message)))
    }

    fn open(&self, path: &str) -> Res<Map> {
        if self.maps.fetch_add(1, Ordering::Relaxed) >= MOST_MAPS {
            return Err(fail(Error::new(ErrorKind::TooLarge, format!("a script may open {MOST_MAPS} maps"))));
        }
        let file = self.file(path).map_err(fail)?;
        let bsp = Bsp::open(&file).map_err(|error| fail(error.within(format!("cannot open {}", shown(&file)))))?;
        Ok(Map::new(bsp.draft(), &file, false, Some(&self.meter)))
    }
}

pub(super) fn register(api: &mut Api, folder: &Folder) {
    api.group("Files of the computer");
    let from = folder.clone();
    api.call(
        "read_text(path)",
        "A file as a string with escapes. The path is below the folder of `--allow-read`; without this option, and for \
         `..`, absolute paths and symbolic links, it is refused.",
        move |path: &str| -> Res<ImmutableString> { text(&from.read(path)?) },
    );
    let from = folder.clone();
    api.call("read_bytes(path)", "The same as bytes.", move |path: &str| Bytes::made(from.read(path)?, &from.meter));
    let from = folder.clone();
    api.call(
        "open_map(path)",
        "Opens another map to read it: `open_map(\"b.bsp\").entities`. It cannot be edited.",
        move |path: &str| from.open(path),
    );
}
