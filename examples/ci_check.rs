//! A check for the CI of a project with maps: every map in a folder opens, its entities can be read, and saving it
//! without an edit gives the same bytes. Otherwise the exit status is 1.
//!
//! ```sh
//! cargo run --example ci_check -- maps
//! ```
//!
//! Without a folder it checks the maps that come with the project. Harmless oddities of a map are only printed.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bspkit::{Bsp, Layout};

const OWN_MAPS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/maps");

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).map_or(PathBuf::from(OWN_MAPS), PathBuf::from);
    let maps = maps_under(&folder)?;
    let mut failures = 0;
    for path in &maps {
        match check(path) {
            Ok(remarks) => {
                println!("ok      {}", path.display());
                remarks.iter().for_each(|remark| println!("        {remark}"));
            }
            Err(error) => {
                println!("FAILED  {}: {error}", path.display());
                failures += 1;
            }
        }
    }
    println!("{} maps, {failures} failed", maps.len());
    // No map at all is an error: the folder is probably wrong.
    Ok(if maps.is_empty() || failures > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The oddities of a map, or the reason why it fails.
fn check(path: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let map = Bsp::open(path)?;
    let plan = map.draft().plan(Layout::Keep)?;
    if !plan.is_identity() || plan.to_vec() != fs::read(path)? {
        return Err("a save without an edit would change it".into());
    }
    let damaged = map.container().damaged().map(|slot| format!("{} {}", slot.name, slot.bounds));
    let mut remarks: Vec<String> = damaged.collect();
    remarks.extend(map.entities()?.diagnostics().iter().map(ToString::to_string));
    Ok(remarks)
}

/// All maps in a folder and in the folders inside it, in the order of their names.
fn maps_under(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut maps = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            maps.extend(maps_under(&path)?);
        } else if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("bsp")) {
            maps.push(path);
        }
    }
    maps.sort();
    Ok(maps)
}
