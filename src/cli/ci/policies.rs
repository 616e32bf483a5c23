//! The policies of maps: the nearest `bspkit.toml`.

use std::collections::HashMap;
use std::env;
use std::path::{Path, PathBuf};

use anyhow::Result;
use bspkit::face::{input, policy};
use bspkit::op::policy::Policy;

use crate::cli::context::is_stdin;
use crate::cli::maps::{MapFile, Maps};
use crate::cli::show::shown;

/// The name of the file with the policy of a folder and the folders in it.
const NAME: &str = "bspkit.toml";

/// The policies of all maps of a run, each read once.
pub(super) struct Policies {
    by_map: HashMap<PathBuf, PathBuf>,
    read: HashMap<PathBuf, Policy>,
    none: Policy,
}

impl Policies {
    /// Reads the policies of these maps, before any map is checked.
    pub(super) fn load(maps: &Maps, named: Option<&Path>) -> Result<Self> {
        let (mut by_map, mut read) = (HashMap::new(), HashMap::new());
        // A policy that is named is read even if there is no map.
        if let Some(path) = named {
            read.insert(path.to_path_buf(), open(path)?);
        }
        for map in maps.iter() {
            let Some(path) = named.map_or_else(|| find(map), |path| Ok(Some(path.to_path_buf())))? else { continue };
            if !read.contains_key(&path) {
                read.insert(path.clone(), open(&path)?);
            }
            by_map.insert(map.path.clone(), path);
        }
        Ok(Policies { by_map, read, none: Policy::default() })
    }

    /// The policy of a map; without a file everything is allowed.
    pub(super) fn of(&self, map: &MapFile) -> &Policy {
        self.by_map.get(&map.path).and_then(|path| self.read.get(path)).unwrap_or(&self.none)
    }
}

/// The nearest policy in the folders above a map.
pub(super) fn find(map: &MapFile) -> Result<Option<PathBuf>> {
    let from = match is_stdin(&map.path) {
        true => env::current_dir().ok(),
        false => map.path.canonicalize().ok().and_then(|path| path.parent().map(Path::to_path_buf)),
    };
    for path in from.iter().flat_map(|from| from.ancestors()).map(|folder| folder.join(NAME)) {
        // A policy that cannot be read is no missing one: everything would be allowed.
        if input::is_there(&path)? && !path.is_dir() {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

fn open(path: &Path) -> Result<Policy> {
    // In messages the path is relative to the current folder, where it can be.
    let here = env::current_dir().and_then(|folder| folder.canonicalize()).unwrap_or_default();
    let name = shown(path.strip_prefix(here).unwrap_or(path));
    Ok(policy::read(&name, &input::text(path)?)?)
}
