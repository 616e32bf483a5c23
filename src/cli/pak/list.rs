//! `pak list`: the directory.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use bspkit::bytes::escaped;
use bspkit::content::pak::{Entry, Pak};
use serde::Serialize;

use super::choose;
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::Maps;
use crate::cli::show::{Head, json, shown, text_and_raw};
use crate::cli::talk::{Code, Job};

/// List the embedded files in the order of their directory; the files themselves are not read
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit pak list map.bsp
  bspkit pak list map.bsp '*.vmt'
  bspkit pak list map.bsp --json"
))]
pub(crate) struct Args {
    /// A map, or a folder of maps
    #[arg(value_name = "MAP")]
    map: PathBuf,
    /// Which files [default: all]
    #[arg(value_name = "GLOB")]
    patterns: Vec<OsString>,
    /// Print JSON: a document for a map, a line for each of a folder
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    console: bool,
    comment: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comment_raw: Option<String>,
    files: Vec<FileJson<'a>>,
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
        }
    }
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let maps = Maps::of(&args.map).json(args.json);
    maps.each(cx, |map, job| {
        let cannot = || format!("cannot list the files in {}", shown(&map.path));
        let bsp = cx.open(&map.path)?;
        super::damage(&bsp).iter().for_each(|damage| job.warn_here(damage));
        let pak = bsp.pak().with_context(cannot)?;
        let indices = choose::chosen(&pak, &args.patterns, job);
        if args.json {
            let (comment, comment_raw) = text_and_raw(pak.comment());
            let files = indices.iter().filter_map(|index| pak.get(*index));
            let document = Document {
                head: Head::new(&map.path),
                console: pak.is_console(),
                comment,
                comment_raw,
                files: files.map(|entry| FileJson::new(&entry)).collect(),
            };
            job.line(json(&document, maps.many)?);
        } else {
            if maps.many && !indices.is_empty() {
                job.line(format!("{}:", job.path));
            }
            print(&pak, &indices, job);
        }
        match indices.is_empty() && !args.patterns.is_empty() {
            true => Ok(job.nothing(&choose::nothing(&args.patterns))),
            false => Ok(Code::Done),
        }
    })
}

fn print(pak: &Pak<'_>, indices: &[usize], job: &mut Job<'_>) {
    if indices.is_empty() {
        return;
    }
    job.line(format!("{:>6} {:>10} {:>10} {:8} {:8}  name", "#", "bytes", "stored", "method", "crc"));
    for entry in indices.iter().filter_map(|index| pak.get(*index)) {
        let (index, bytes, stored) = (entry.index(), entry.size(), entry.stored_size());
        let (method, crc, name) = (entry.method().to_string(), entry.crc(), escaped(entry.name()));
        job.line(format!("{index:>6} {bytes:>10} {stored:>10} {method:8} {crc:08x}  {name}"));
    }
}
