//! Rule files for many maps: one file for all, or a folder as the plug-ins of Stripper have it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::{detect, read};
use crate::face::{input, shown};
use crate::op::rules::{Format, Mode, Rules};
use crate::{Error, ErrorKind, Result};

/// What a folder has, by format: the file for all maps, the extension of those in `maps`, and whether a file is also
/// for maps whose names begin with its name and an underscore.
const FOLDERS: [(Format, &str, &str, bool); 2] =
    [(Format::Stripper, "global_filters.cfg", "cfg", true), (Format::Qmm, "global.ini", "ini", false)];

/// How rule files are read.
///
/// ```
/// use bspkit::face::rules::Reading;
/// let file = tempfile::NamedTempFile::with_suffix(".cfg")?;
/// std::fs::write(&file, "filter:\n{\n\"classname\" \"light\"\n}\n")?;
/// assert_eq!(Reading::default().file(file.path())?.rules.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    /// How files of Stripper:Source are read.
    pub mode: Mode,
    /// The format; `None` to detect it ([`detect`]).
    pub format: Option<Format>,
}

impl Reading {
    /// Reads one file. What it has wrong is in [`Rules::findings`].
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn file(&self, path: &Path) -> Result<Rules> {
        let (name, text) = (shown(path), input::read(path)?);
        let format = self.format.unwrap_or_else(|| detect(&name, &text));
        Ok(read(&name, &text, format, self.mode))
    }
}

/// The rule files of a path: a file for all maps, or a folder with `global_filters.cfg` and `maps/NAME.cfg`
/// (Stripper:Source), or `global.ini` and `maps/NAME.ini` (stripper_qmm).
///
/// ```
/// use bspkit::face::rules::{Reading, RuleFiles};
/// let folder = tempfile::tempdir()?;
/// std::fs::create_dir(folder.path().join("maps"))?;
/// for name in ["global_filters.cfg", "maps/cp.cfg", "maps/cp_well.cfg", "maps/koth.cfg"] {
///     std::fs::write(folder.path().join(name), "")?;
/// }
/// let files = RuleFiles::read(folder.path(), Reading::default())?;
/// assert_eq!((files.of("cp_well").len(), files.of("dm4").len()), (3, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RuleFiles {
    /// The file for all maps.
    global: Option<Rules>,
    /// In a folder, the files of maps by their names without extension.
    maps: HashMap<String, Rules>,
    /// Whether files are also for maps whose names begin with theirs.
    of_beginnings: bool,
}

impl RuleFiles {
    /// Reads a file, or all files of a folder. What a file has wrong is an error where it is used.
    ///
    /// # Errors
    /// A file cannot be read; [`ErrorKind::Argument`] for a folder without rule files.
    pub fn read(path: &Path, how: Reading) -> Result<Self> {
        if !path.is_dir() {
            return Ok(RuleFiles { global: Some(how.file(path)?), maps: HashMap::new(), of_beginnings: false });
        }
        let is_of_folder = |row: &&(Format, &str, &str, bool)| {
            let wanted = how.format.is_none_or(|format| format == row.0);
            wanted && (path.join(row.1).exists() || !in_folder(&path.join("maps"), row.2).is_ok_and(|it| it.is_empty()))
        };
        let Some((_, global, extension, of_beginnings)) = FOLDERS.iter().find(is_of_folder) else {
            let message = format!("{} has neither global_filters.cfg nor a maps/NAME.cfg", shown(path));
            return Err(Error::new(ErrorKind::Argument, message).with_hint("name a folder of Stripper, or a rule file"));
        };
        let global = Some(path.join(global)).filter(|global| global.exists());
        let global = global.map(|global| how.file(&global)).transpose()?;
        let mut files = RuleFiles { global, maps: HashMap::new(), of_beginnings: *of_beginnings };
        for file in in_folder(&path.join("maps"), extension)? {
            if let Some(stem) = file.file_stem().and_then(|stem| stem.to_str()) {
                files.maps.insert(stem.to_owned(), how.file(&file)?);
            }
        }
        Ok(files)
    }

    /// The files for a map of this name, in the order in which they are applied: the one for all maps, then one for
    /// each beginning of the name before an underscore, then the one of the whole name.
    pub fn of(&self, map: &str) -> Vec<&Rules> {
        let starts = map.match_indices('_').map(|(at, _)| at).filter(|at| *at > 0 && self.of_beginnings);
        let starts = starts.chain([map.len()]);
        self.global.iter().chain(starts.filter_map(|at| self.named(&map[..at]))).collect()
    }

    /// The file of a name; if there is none, the first one whose name differs only in case, as on Windows.
    fn named(&self, name: &str) -> Option<&Rules> {
        let others = || self.maps.iter().filter(|(own, _)| own.eq_ignore_ascii_case(name));
        self.maps.get(name).or_else(|| others().min_by_key(|(own, _)| *own).map(|(_, rules)| rules))
    }

    /// All files, in the order of their names.
    pub fn all(&self) -> Vec<&Rules> {
        let mut maps: Vec<&Rules> = self.maps.values().collect();
        maps.sort_by(|one, other| one.name.cmp(&other.name));
        self.global.iter().chain(maps).collect()
    }

    /// The files for a map, if they can be used.
    ///
    /// # Errors
    /// [`Rules::refusal`] of the first one that cannot.
    pub fn usable(&self, map: &str) -> Result<Vec<&Rules>> {
        let files = self.of(map);
        match files.iter().find_map(|rules| rules.refusal()) {
            Some(error) => Err(error),
            None => Ok(files),
        }
    }
}

/// The name of a map by which rule files name it: the file name without its extension.
pub fn map_name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The rule files of a folder, sorted; none if there is no such folder.
fn in_folder(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let cannot = |error| input::cannot_read(folder, error);
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(cannot)?,
    };
    let paths = entries.map(|entry| entry.map(|entry| entry.path()).map_err(cannot));
    let mut paths: Vec<PathBuf> = paths.collect::<Result<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|own| own.eq_ignore_ascii_case(extension)) && path.is_file());
    paths.sort();
    Ok(paths)
}
