//! The record beside a map of the rules that were applied to it, as JSON: `dm4.bsp.rules.json`.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Record;
use bspkit::disk::{input, shown};
use bspkit::file::{SideFile, real_file};
use bspkit::json::syntax;
use bspkit::{Error, ErrorKind, Result, SaveOptions};

/// The most bytes of a record: some hundred thousand rules.
const MOST: u64 = 64 << 20;

#[derive(Serialize, Deserialize)]
struct File<R> {
    bspkit_rules: u32,
    /// The sum of the record, by which edits of it are seen.
    checksum: String,
    #[serde(flatten)]
    record: R,
}

/// The path of the record of a map. A symbolic link has that of the file that it leads to, which a save replaces.
///
/// ```
/// use bspkit_rules::record;
/// assert_eq!(record::path("maps/dm4.bsp".as_ref()), std::path::Path::new("maps/dm4.bsp.rules.json"));
/// ```
pub fn path(map: &Path) -> PathBuf {
    let mut name = real_file(map).unwrap_or_else(|_| map.to_path_buf()).into_os_string();
    name.push(".rules.json");
    name.into()
}

/// The record of a map; an empty one if there is no file.
///
/// # Errors
/// The file cannot be read, is not a record, or is not as it was written.
pub fn read(map: &Path) -> Result<Record> {
    let path = path(map);
    match std::fs::metadata(&path) {
        // A map in an archive has no files beside it.
        Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            return Ok(Record::default());
        }
        Ok(there) if there.is_file() && there.len() <= MOST => {}
        Ok(there) => {
            let (kind, why) = match there.is_file() {
                true => (ErrorKind::TooLarge, format!(": it has {} bytes, more than {MOST}", there.len())),
                false => (ErrorKind::Argument, String::new()),
            };
            return Err(Error::new(kind, format!("{} is no record of rules{why}", shown(&path))));
        }
        Err(error) => return Err(input::cannot_read(&path, error)),
    }
    let wrong = |why: &str| Error::new(ErrorKind::Argument, format!("{} is no record of rules: {why}", shown(&path)));
    let file: File<Record> = serde_json::from_slice(&input::read(&path)?).map_err(|error| wrong(&syntax(&error)))?;
    if file.bspkit_rules != 1 {
        return Err(wrong(&format!("its version is {}", file.bspkit_rules)));
    }
    if file.checksum != file.record.checksum() {
        let message = format!("{} is not as it was written: its checksum is another", shown(&path));
        let hint = "bring it back, or remove it; without it, what rules would add is looked for in the map";
        return Err(Error::new(ErrorKind::Refused, message).with_hint(hint));
    }
    Ok(file.record)
}

/// What a save did with the record of rules beside the file that it wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carried {
    /// There was none that was of another map.
    Nothing,
    /// It was of the map that was there, and is now that of the map that was saved.
    Replaced,
    /// It was of the map that was there, and the map that was saved has none.
    Removed,
}

/// Brings the record of a map to the file that the map was saved as. A record that is there is of the map that was
/// replaced, and would say of rules that they were applied to the new one.
///
/// # Errors
/// As [`read`], if a record is there; [`ErrorKind::Io`] if it cannot be replaced or removed. Without one there, a
/// record of the map that cannot be read is left where it is.
///
/// ```
/// use bspkit_rules::record::{self, Carried};
/// let folder = tempfile::tempdir()?;
/// let [one, two] = ["one.bsp", "two.bsp"].map(|name| folder.path().join(name));
/// std::fs::write(record::path(&two), "{}")?;
/// assert_eq!(record::carry(&one, &two)?, Carried::Removed);
/// assert_eq!(record::carry(&one, &two)?, Carried::Nothing);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn carry(from: &Path, to: &Path) -> Result<Carried> {
    let (source, target) = (path(from), path(to));
    if source == target {
        return Ok(Carried::Nothing);
    }
    let is_there = target.is_file();
    let record = match read(from) {
        Err(_) if !is_there => return Ok(Carried::Nothing),
        record => record?,
    };
    if record != Record::default() {
        let text = write(&record)?;
        let mut is_same = false;
        SideFile::update(&target, &SaveOptions::default(), |old| {
            is_same = old == Some(text.as_bytes());
            Ok((!is_same).then(|| text.clone().into_bytes()))
        })?;
        return Ok(if is_there && !is_same { Carried::Replaced } else { Carried::Nothing });
    }
    if !is_there {
        return Ok(Carried::Nothing);
    }
    let cannot = |error| Error::new(ErrorKind::Io, "it cannot be removed").with_source(error);
    std::fs::remove_file(&target).map_err(cannot)?;
    Ok(Carried::Removed)
}

/// The text of a record.
///
/// # Errors
/// [`ErrorKind::TooLarge`] for one that could not be read again.
pub fn write(record: &Record) -> Result<String> {
    // Strings and numbers can always be written as JSON.
    let file = File { bspkit_rules: 1, checksum: record.checksum(), record };
    let mut text = serde_json::to_string_pretty(&file).unwrap_or_default();
    text.push('\n');
    match u64::try_from(text.len()).is_ok_and(|len| len <= MOST) {
        true => Ok(text),
        false => {
            let message = format!("the record of the rules would have {} bytes, more than {MOST}", text.len());
            Err(Error::new(ErrorKind::TooLarge, message))
        }
    }
}
