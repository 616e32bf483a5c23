//! `checksum`: the checksums that engines compare between server and client.

use std::path::Path;

use anyhow::Result;
use bspkit::dialect::Use;
use bspkit::op::checksum::{self, Computed, Value};
use serde::Serialize;

use super::context::Context;
use super::help;
use super::maps::Reading;
use super::report::Report;
use super::show::shown;
use super::talk::{Code, Job};

/// Print the checksums that server and client compare
///
/// Quake II and III compare a checksum of the whole file. QuakeWorld, GoldSrc and Source leave out the entities, so
/// that a server can edit them alone. Quake engines that load entity files look for a file with the checksum of the
/// entity text in its name. "Unverified" marks a checksum that no engine source or engine output confirms. Writing
/// commands print how the checksums change with -v, --checksum and --dry-run.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit checksum dm4.bsp
  bspkit checksum maps --json > sums.jsonl"
))]
pub(crate) struct Args {
    #[command(flatten)]
    reading: Reading,
}

#[derive(Serialize)]
struct Checksums {
    dialect: &'static str,
    #[serde(skip)]
    title: &'static str,
    checksums: Vec<ChecksumJson>,
}

impl Report for Checksums {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        let none = if self.checksums.is_empty() { "; no checksum of these maps is known" } else { "" };
        job.line(format!("{}: {}{none}", job.path, self.title));
        for ChecksumJson { name, title, value, signed, file, verified } in &self.checksums {
            let value = signed.map_or_else(|| value.clone(), |signed| format!("{value} ({signed})"));
            let value = file.clone().unwrap_or(value);
            let doubt = if *verified { "" } else { ", unverified" };
            job.line(format!("  {name:<12} {value}  {title}{doubt}"));
        }
        Ok(())
    }
}

#[derive(Serialize)]
struct ChecksumJson {
    name: &'static str,
    title: &'static str,
    value: String,
    /// The number as Quake's engines print and send it, if it has 32 bits.
    #[serde(skip_serializing_if = "Option::is_none")]
    signed: Option<i32>,
    /// The file that engines look for, if the checksum is in its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    verified: bool,
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.reading.each(cx, |bsp, job| {
        let checksums = checksum::all(&bsp).iter().map(|computed| as_json(computed, job.file)).collect();
        job.report(&Checksums { dialect: bsp.dialect().name, title: bsp.dialect().title, checksums })
    })
}

fn as_json(computed: &Computed, path: &Path) -> ChecksumJson {
    let Computed { checksum, value, .. } = computed;
    ChecksumJson {
        name: checksum.name,
        title: checksum.title,
        value: value.to_string(),
        signed: signed(value),
        file: file(checksum.use_of, &value.to_string(), path),
        verified: checksum.is_verified,
    }
}

/// Engines print their checksums as signed numbers.
fn signed(value: &Value) -> Option<i32> {
    match value {
        Value::Number(number) => Some(number.cast_signed()),
        _ => None,
    }
}

/// The name of the entity file with this key.
fn file(use_of: Use, key: &str, path: &Path) -> Option<String> {
    let stem = Path::new(path.file_stem()?);
    (use_of == Use::FileName).then(|| format!("{}@{key}.ent", shown(stem)))
}
