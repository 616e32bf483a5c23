//! `pak list`: lists embedded files.

use std::borrow::Cow;
use std::ffi::OsString;

use anyhow::{Context as _, Result};
use bspkit::bytes::escaped;
use bspkit::content::pak::Entry;
use serde::Serialize;

use super::names_of;
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::Reading;
use crate::cli::report::Report;
use crate::cli::show::{shown, text_and_raw};
use crate::cli::talk::{Code, Job};

/// List the embedded files in the order of the zip directory; the files themselves are not read
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit pak list map.bsp
  bspkit pak list map.bsp '*.vmt'
  bspkit pak list map.bsp --names > names.txt
  bspkit pak list map.bsp --json"
))]
pub(crate) struct Args {
    #[command(flatten)]
    reading: Reading,
    /// The files [default: all]
    #[arg(value_name = "GLOB")]
    patterns: Vec<OsString>,
    /// Print only the names, a line for each
    #[arg(long, conflicts_with = "json")]
    names: bool,
}

#[derive(Serialize)]
struct List<'a> {
    console: bool,
    comment: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comment_raw: Option<String>,
    files: Vec<FileJson<'a>>,
    #[serde(skip)]
    only_names: bool,
}

#[derive(Serialize)]
struct FileJson<'a> {
    index: usize,
    name: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<String>,
    bytes: usize,
    stored: usize,
    method: String,
    crc: String,
    offset: u32,
    time: String,
    #[serde(skip)]
    own: &'a [u8],
}

impl<'a> FileJson<'a> {
    fn new(entry: &Entry<'a, '_>) -> Self {
        let (name, raw) = text_and_raw(entry.name());
        FileJson {
            index: entry.index(),
            name,
            raw,
            bytes: entry.size(),
            stored: entry.stored_size(),
            method: entry.method().to_string(),
            crc: format!("{:08x}", entry.crc()),
            offset: entry.record().local_offset,
            time: entry.time().to_string(),
            own: entry.name(),
        }
    }
}

impl Report for List<'_> {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        if self.only_names {
            self.files.iter().for_each(|file| job.line(escaped(file.own).to_string()));
            return Ok(());
        }
        if !self.files.is_empty() {
            job.line(format!("{:>6} {:>10} {:>10} {:8} {:8}  name", "#", "bytes", "stored", "method", "crc"));
        }
        for FileJson { index, bytes, stored, method, crc, own, .. } in &self.files {
            let name = escaped(own);
            job.line(format!("{index:>6} {bytes:>10} {stored:>10} {method:8} {crc}  {name}"));
        }
        Ok(())
    }

    fn heading(&self, path: &str) -> Option<String> {
        (!self.files.is_empty() && !self.only_names).then(|| format!("{path}:"))
    }
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.reading.each(cx, |bsp, job| {
        let file = job.file;
        let cannot = || format!("cannot list the files in {}", shown(file));
        super::damage(&bsp).iter().for_each(|damage| job.warn_here(damage));
        let pak = bsp.pak().with_context(cannot)?;
        let names = names_of(&pak);
        let indices = names.chosen(&args.patterns, job);
        let (comment, comment_raw) = text_and_raw(pak.comment());
        let files = indices.iter().filter_map(|index| pak.get(*index)).map(|entry| FileJson::new(&entry)).collect();
        job.report(&List { console: pak.is_console(), comment, comment_raw, files, only_names: args.names })?;
        match indices.is_empty() && !args.patterns.is_empty() {
            true => Ok(job.nothing(&names.nothing(&args.patterns))),
            false => Ok(Code::Done),
        }
    })
}
