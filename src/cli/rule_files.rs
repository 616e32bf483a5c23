//! The rule files of a command: one file for all maps, or a folder as the plug-in of Stripper has it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use bspkit::ErrorKind;
use bspkit::face::{input, rules};
use bspkit::op::rules::{Format, Mode, Rules};
use clap::ValueEnum;

use super::show::shown;

/// What a folder has, by format: the file for all maps, the extension of those in `maps`, and whether a file is also
/// for maps whose names begin with its name and an underscore.
const FOLDERS: [(Format, &str, &str, bool); 2] =
    [(Format::Stripper, "global_filters.cfg", "cfg", true), (Format::Qmm, "global.ini", "ini", false)];

// How rule files are read. (A doc comment would become the help of the command.)
#[derive(clap::Args)]
pub(crate) struct Reading {
    /// How Stripper files are read: as the plug-in does; strictly, so that whatever the plug-in would ignore is an
    /// error and every pair of a filter has to match; or as Lumper does
    #[arg(long, value_name = "MODE", default_value = "plugin")]
    mode: ModeName,
    /// The format [default: by the extension: .cfg, .ini, .rule, .jsonc]
    #[arg(long, value_name = "FORMAT")]
    format: Option<FormatName>,
}

#[derive(Clone, Copy, ValueEnum)]
enum FormatName {
    /// Stripper:Source
    Stripper,
    /// stripper_qmm, for Quake III
    Qmm,
    /// Lazyripent2, for GoldSrc
    Lazyripent,
    /// StripperCS2
    Cs2,
}

#[derive(Clone, Copy, ValueEnum)]
enum ModeName {
    Plugin,
    Strict,
    Lumper,
}

/// The rule files that an argument names.
pub(crate) struct RuleFiles {
    /// The file for all maps.
    global: Option<Rules>,
    /// In a folder, the files of maps by their names without extension.
    maps: HashMap<String, Rules>,
    /// Whether files are also for maps whose names begin with theirs.
    of_beginnings: bool,
}

impl From<FormatName> for Format {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::Stripper => Format::Stripper,
            FormatName::Qmm => Format::Qmm,
            FormatName::Lazyripent => Format::Lazyripent,
            FormatName::Cs2 => Format::Cs2,
        }
    }
}

impl Reading {
    /// Reads a file, or all files of a folder. What a file has wrong is an error where it is used.
    pub(crate) fn read(&self, path: &Path) -> Result<RuleFiles> {
        if !path.is_dir() {
            return Ok(RuleFiles { global: Some(self.file(path)?), maps: HashMap::new(), of_beginnings: false });
        }
        let is_of_folder = |row: &&(Format, &str, &str, bool)| {
            let wanted = self.format.is_none_or(|format| Format::from(format) == row.0);
            wanted && (path.join(row.1).exists() || !in_folder(&path.join("maps"), row.2).is_ok_and(|it| it.is_empty()))
        };
        let Some((_, global, extension, of_beginnings)) = FOLDERS.iter().find(is_of_folder) else {
            bail!(
                "{} has neither global_filters.cfg nor a maps/NAME.cfg: name a folder of Stripper, or a rule file",
                shown(path)
            );
        };
        let global = Some(path.join(global)).filter(|global| global.exists());
        let global = global.map(|global| self.file(&global)).transpose()?;
        let mut files = RuleFiles { global, maps: HashMap::new(), of_beginnings: *of_beginnings };
        for file in in_folder(&path.join("maps"), extension)? {
            if let Some(stem) = file.file_stem().and_then(|stem| stem.to_str()) {
                files.maps.insert(stem.to_owned(), self.file(&file)?);
            }
        }
        Ok(files)
    }

    /// Reads one file.
    pub(crate) fn file(&self, path: &Path) -> Result<Rules> {
        let mode = match self.mode {
            ModeName::Plugin => Mode::Plugin,
            ModeName::Strict => Mode::Strict,
            ModeName::Lumper => Mode::Lumper,
        };
        let (name, text) = (shown(path), input::read(path)?);
        let format = self.format.map_or_else(|| rules::detect(&name, &text), Format::from);
        Ok(rules::read(&name, &text, format, mode))
    }
}

/// The rule files of a folder, sorted; none if there is no such folder.
fn in_folder(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let cannot = |error| bspkit::Error::new(ErrorKind::Io, format!("cannot read {}", shown(folder))).with_source(error);
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(cannot)?,
    };
    let paths = entries.map(|entry| entry.map(|entry| entry.path()).map_err(cannot));
    let mut paths: Vec<PathBuf> = paths.collect::<std::result::Result<_, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|own| own.eq_ignore_ascii_case(extension)) && path.is_file());
    paths.sort();
    Ok(paths)
}

impl RuleFiles {
    /// The files for a map of this name, in the order in which they are applied: the one for all maps, then one for
    /// each beginning of the name before an underscore, then the one of the whole name.
    pub(crate) fn of(&self, map: &str) -> Vec<&Rules> {
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
    pub(crate) fn all(&self) -> Vec<&Rules> {
        let mut maps: Vec<&Rules> = self.maps.values().collect();
        maps.sort_by(|one, other| one.name.cmp(&other.name));
        self.global.iter().chain(maps).collect()
    }

    /// The same files, if none of them is refused.
    pub(crate) fn usable(&self, map: &str) -> Result<Vec<&Rules>> {
        let files = self.of(map);
        match files.iter().find_map(|rules| rules.refusal()) {
            Some(error) => Err(error.into()),
            None => Ok(files),
        }
    }
}

/// The name of a map by which rule files name it: the file name without its extension.
pub(crate) fn map_name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
