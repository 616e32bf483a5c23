//! `cubemap list`: places and images of cube maps.

use std::borrow::Cow;

use anyhow::Result;
use bspkit::bytes::escaped;
use bspkit::content::pak::Pak;
use bspkit::op::cubemaps;
use serde::Serialize;

use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::Reading;
use crate::cli::report::Report;
use crate::cli::show::text_and_raw;
use crate::cli::talk::{Code, Job};

/// List cube maps: the position, the size in texels, and the embedded images
///
/// Embedded images that belong to no place come last: the default ones, and those of places that are gone.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit cubemap list map.bsp
  bspkit cubemap list source.bsp --json"
))]
pub(crate) struct Args {
    #[command(flatten)]
    reading: Reading,
}

#[derive(Serialize)]
struct Cubemaps<'a> {
    cubemaps: Vec<CubemapJson<'a>>,
    /// Images that belong to no place.
    others: Vec<FileJson<'a>>,
}

#[derive(Serialize)]
struct CubemapJson<'a> {
    index: usize,
    origin: [i32; 3],
    size: usize,
    files: Vec<FileJson<'a>>,
}

#[derive(Serialize)]
struct FileJson<'a> {
    index: usize,
    name: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<String>,
    bytes: usize,
    #[serde(skip)]
    own: &'a [u8],
}

impl<'a> FileJson<'a> {
    fn new(pak: &'a Pak<'_>, index: &usize) -> Option<Self> {
        let file = pak.get(*index)?;
        let (name, raw) = text_and_raw(file.name());
        Some(FileJson { index: *index, name, raw, bytes: file.size(), own: file.name() })
    }
}

impl Report for Cubemaps<'_> {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        let files = |files: &[FileJson<'_>]| match files {
            [] => "-".to_owned(),
            files => files.iter().map(|file| escaped(file.own).to_string()).collect::<Vec<_>>().join(", "),
        };
        if !self.cubemaps.is_empty() {
            job.line(format!("{:>6} {:>22} {:>6}  images", "#", "position", "size"));
        }
        for cubemap in &self.cubemaps {
            let [x, y, z] = cubemap.origin;
            let (index, size, place) = (cubemap.index, cubemap.size, format!("{x} {y} {z}"));
            job.line(format!("{index:>6} {place:>22} {size:>6}  {}", files(&cubemap.files)));
        }
        if !self.others.is_empty() {
            job.line(format!("{:>6} {:>22} {:>6}  {}", "-", "-", "-", files(&self.others)));
        }
        Ok(())
    }

    fn heading(&self, path: &str) -> Option<String> {
        (!self.cubemaps.is_empty() || !self.others.is_empty()).then(|| format!("{path}:"))
    }
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.reading.each(cx, |bsp, job| {
        let listed = cubemaps::list(&bsp)?;
        let pak = bsp.pak()?;
        let files = |indices: &[usize]| indices.iter().filter_map(|index| FileJson::new(&pak, index)).collect();
        let samples = listed.samples.iter();
        let cubemaps = samples.map(|sample| CubemapJson {
            index: sample.index,
            origin: sample.origin,
            size: sample.size,
            files: files(&sample.files),
        });
        job.report(&Cubemaps { cubemaps: cubemaps.collect(), others: files(&listed.others) })
    })
}
