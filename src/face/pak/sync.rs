//! A pakfile that is made equal to a folder.

use std::collections::HashMap;
use std::path::Path;

use super::{FoundFile, Names, Placed, files_in, paths};
use crate::bytes::escaped;
use crate::content::pak::{Pak, lookup_name};
use crate::face::{input, shown};
use crate::{Error, ErrorKind, Result};

/// What [`sync`] did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Synced {
    /// How many files are new.
    pub added: usize,
    /// How many files have other bytes.
    pub changed: usize,
    /// How many files are gone.
    pub removed: usize,
    /// How many files are as they were.
    pub same: usize,
    /// The new files whose names are not as they are in the folder: the path there.
    pub renamed: Vec<Vec<u8>>,
    /// The files of the folder that are not embedded: [`Names::leaves_out`] says why.
    pub left_out: Vec<Vec<u8>>,
    /// The embedded files that cannot be files of a folder, by their indices before, and why. They stay.
    pub kept: Vec<(usize, String)>,
}

/// Makes a pakfile equal to a folder: files whose bytes differ are replaced, those that are missing in the folder are
/// removed, and new ones follow the others, sorted by name. Files with the same bytes keep everything: name, order,
/// time and how they are stored. So the folder to which all files were written, by the paths of [`paths`], changes
/// nothing.
///
/// # Errors
/// As [`files_in`] and [`Pak::check_total_size`]; [`ErrorKind::Refused`] if two files of the folder have the same name
/// to engines, if a name cannot be embedded, and for a folder without files, which would remove everything.
pub fn sync<'a>(pak: &mut Pak<'a>, folder: &Path, names: Names) -> Result<Synced> {
    let all: Vec<usize> = (0..pak.len()).collect();
    pak.check_total_size(&all)?;
    let placed = paths(pak, &all);
    let found = files_in(folder)?;
    if found.is_empty() && !pak.is_empty() {
        let message = format!("there is no file in {}", shown(folder));
        return Err(Error::new(ErrorKind::Refused, message).with_hint("`pak rm MAP '**'` removes all files"));
    }
    let mut on_disk: HashMap<Vec<u8>, &FoundFile> = HashMap::with_capacity(found.len());
    for file in &found {
        if let Some(other) = on_disk.insert(lookup_name(&file.name), file) {
            let (one, other) = (escaped(&other.name), escaped(&file.name));
            let message = format!("`{one}` and `{other}` have the same name for engines");
            return Err(Error::new(ErrorKind::Refused, message).with_hint("remove one of them from the folder"));
        }
    }
    let mut synced = Synced::default();
    let mut gone = Vec::new();
    for Placed { index, path, is_folder, .. } in placed {
        let file = path.as_ref().ok().filter(|_| !is_folder).and_then(|path| on_disk.remove(&lookup_name(path)));
        match (path, file) {
            (Ok(path), None) if is_folder && folder.join(crate::face::names::path(&path)?).is_dir() => synced.same += 1,
            (_, Some(file)) => synced.replace(pak, index, file)?,
            (Err(why), None) => synced.kept.push((index, why)),
            (Ok(_), None) => match pak.get(index).map(|entry| entry.data()) {
                Some(Err(error)) => synced.kept.push((index, error.to_string())),
                _ => gone.push(index),
            },
        }
    }
    pak.remove(&gone)?;
    synced.removed = gone.len();
    let new = found.iter().filter(|file| on_disk.contains_key(&lookup_name(&file.name)));
    for file in new {
        synced.add(pak, file, names)?;
    }
    Ok(synced)
}

impl Synced {
    fn replace(&mut self, pak: &mut Pak<'_>, index: usize, file: &FoundFile) -> Result<()> {
        let bytes = input::read(&file.path)?;
        let is_same = |entry: crate::content::pak::Entry<'_, '_>| entry.data().is_ok_and(|data| *data == *bytes);
        if pak.get(index).is_some_and(is_same) {
            self.same += 1;
            return Ok(());
        }
        self.changed += 1;
        pak.replace(index, bytes)
    }

    fn add(&mut self, pak: &mut Pak<'_>, file: &FoundFile, names: Names) -> Result<()> {
        if names.leaves_out(&file.name).is_some() {
            self.left_out.push(file.name.clone());
            return Ok(());
        }
        let name = names.name(&file.name);
        if let [other, ..] = pak.find(&name)[..] {
            let (own, other) = (escaped(&name), escaped(pak.get(other).map_or(&[], |entry| entry.name())));
            let message = format!("`{own}` and the embedded file `{other}` have the same name for engines");
            return Err(Error::new(ErrorKind::Refused, message));
        }
        if name != file.name {
            self.renamed.push(file.name.clone());
        }
        pak.add(&name, input::read(&file.path)?)?;
        self.added += 1;
        Ok(())
    }
}
