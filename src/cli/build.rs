//! `build`: makes a map from a manifest and the files that it names.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use bspkit::bytes::Data;
use bspkit::face::folder::{Built, Manifest};
use bspkit::{Bsp, Error, ErrorKind, SaveOptions};

use super::context::Context;
use super::help;
use super::ls;
use super::maps::{Maps, real_path};
use super::report::Report;
use super::show::{count, shown};
use super::talk::Code;

/// Make a map from a manifest and the files that it names
///
/// The manifest is JSON:
/// `{"bspkit_manifest": 1, "dialect": "quake2", "lumps": [{"lump": "planes", "file": "planes.jsonl"}]}`. A file
/// has records as `dump` writes them (.jsonl, .csv), or the bytes of a lump. The manifest also states versions,
/// compression, the order in the file, game lumps and BSPX entries; see docs/schema/manifest.schema.json. `dump --all`
/// writes the manifest of a map, from which the same lumps are built.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit build folder/manifest.json -o out.bsp
  bspkit build folder/manifest.json --dry-run"
))]
pub(crate) struct Args {
    /// The manifest
    #[arg(value_name = "MANIFEST")]
    manifest: PathBuf,
    /// Where to save; the file is replaced completely or not at all
    #[arg(short, long, value_name = "MAP", required_unless_present = "dry_run")]
    output: Option<PathBuf>,
    /// Keep the old file, with this suffix added to its name
    #[arg(long, value_name = "SUFFIX", num_args = 0..=1, require_equals = true, default_missing_value = ".bak")]
    backup: Option<String>,
    /// Write nothing; print where each lump would be
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let manifest = Manifest::read(&args.manifest)?;
    let cannot = || format!("cannot build a map from {}", shown(&args.manifest));
    let files = manifest.files().with_context(cannot)?;
    if let Some(output) = &args.output {
        spare(output, files.iter().chain([&args.manifest]))?;
    }
    Maps::file(&args.manifest).each(cx, |_, job| {
        let Built { dialect, bytes, warnings, .. } = manifest.build().with_context(cannot)?;
        warnings.iter().for_each(|warning| job.warn_here(warning));
        let data = Data::from(bytes);
        match Bsp::from_data(data.clone(), None) {
            Ok(found) if found.dialect().name != dialect.name => {
                job.warn_here(&format!("the new map is detected as a map of {}", found.dialect().title))
            }
            Ok(_) => {}
            Err(error) => job.warn_here(&format!("the dialect of the new map cannot be detected: {error}")),
        }
        let bsp = Bsp::from_data(data, Some(dialect)).with_context(cannot)?;
        let whole = count(bsp.container().bytes().len(), "byte", "bytes");
        match &args.output {
            Some(output) if !args.dry_run => {
                let how = args.backup.iter().fold(SaveOptions::default(), SaveOptions::backup);
                let bytes = bsp.container().bytes();
                let saved = bspkit::file::replace(output, &how, |mut file| file.write_all(bytes))
                    .with_context(|| format!("cannot save {}", shown(output)))?;
                saved.warnings.iter().for_each(|warning| job.warn(&format!("{}: {warning}", shown(output))));
                let backup = saved.backup.map(|path| format!("; the old file is {}", shown(&path))).unwrap_or_default();
                let lumps = bsp.slots().iter().filter(|slot| !slot.stored.is_empty()).count();
                let lumps = count(lumps, "lump", "lumps");
                job.say(&format!("{}: {}, {lumps}, {whole}{backup}", shown(output), dialect.title));
            }
            _ => {
                job.line(format!("{}: {}, {whole}", shown(&args.manifest), dialect.title));
                ls::List::new(&bsp).print(job)?;
            }
        }
        Ok(job.code)
    })
}

/// Refuses to write over an input file.
fn spare<'p>(output: &Path, mut read: impl Iterator<Item = &'p PathBuf>) -> Result<()> {
    let real = |path: &Path| real_path(path).ok().flatten();
    match real(output).is_some() && read.any(|path| real(path) == real(output)) {
        true => {
            let message = format!("{} is an input file and would be replaced", shown(output));
            Err(Error::new(ErrorKind::Argument, message).into())
        }
        false => Ok(()),
    }
}
