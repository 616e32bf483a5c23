//! `ent get`: values.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::Result;
use bspkit::content::entities::Entity;
use serde::Serialize;

use super::list::EntityJson;
use super::select::{Choice, warn_if_verbose};
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::Maps;
use crate::cli::pairs::Key;
use crate::cli::show::{Head, ValueJson, json};
use crate::cli::talk::{Code, Job};

/// Print values, one on a line, as they stand in the text
///
/// Without a KEY all pairs are printed, with an empty line between entities.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent get dm4.bsp worldspawn message
  bspkit ent get dm4.bsp '#0'
  bspkit ent get dm4.bsp 'info_player_*' origin --json"
))]
pub(crate) struct Args {
    /// A map, or a folder of maps
    #[arg(value_name = "MAP")]
    map: PathBuf,
    /// Which entities
    #[arg(value_name = "SEL")]
    selector: String,
    /// Whose values; KEY#2 is the second of equal keys
    #[arg(value_name = "KEY")]
    key: Option<OsString>,
    /// Print JSON: a document for a map, a line for each of a folder
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Document<'a, E> {
    #[serde(flatten)]
    head: Head<'a>,
    entities: Vec<E>,
}

#[derive(Serialize)]
struct ValuesJson<'a> {
    index: usize,
    values: Vec<ValueJson<'a>>,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let choice = Choice::parse(&args.selector)?;
    let key = args.key.as_deref().map(Key::parse).transpose()?;
    let maps = Maps::of(&args.map).json(args.json);
    maps.each(cx, |map, job| {
        let entities = cx.open(&map.path)?.entities()?;
        warn_if_verbose(entities.diagnostics(), job);
        let indices = choice.of(&entities);
        let chosen: Vec<Entity<'_>> = indices.iter().filter_map(|index| entities.get(*index)).collect();
        let with_values: Vec<(usize, Vec<&[u8]>)> = match &key {
            Some(key) => chosen.iter().map(|entity| (entity.index(), key.values(entity))).collect(),
            None => Vec::new(),
        };
        let is_empty = match key {
            Some(_) => with_values.iter().all(|(_, values)| values.is_empty()),
            None => chosen.is_empty(),
        };
        let path = Head::new(&map.path);
        if args.json && key.is_some() {
            let values = with_values.iter().filter(|(_, values)| !values.is_empty()).map(|(index, values)| {
                ValuesJson { index: *index, values: values.iter().map(|value| ValueJson::new(value)).collect() }
            });
            job.line(json(&Document { head: path, entities: values.collect() }, maps.many)?);
        } else if args.json {
            let entities = chosen.iter().map(EntityJson).collect();
            job.line(json(&Document { head: path, entities }, maps.many)?);
        } else {
            if maps.many && !is_empty {
                job.line(format!("// {}", job.path));
            }
            match key {
                Some(_) => with_values.iter().flat_map(|(_, values)| values).for_each(|value| job.line(value)),
                None => print_pairs(&chosen, job),
            }
        }
        match (is_empty, &key) {
            (false, _) => Ok(Code::Done),
            (true, Some(key)) if !chosen.is_empty() => Ok(job.nothing(&choice.nothing_with(&key.shown()))),
            (true, _) => Ok(job.nothing(&choice.nothing())),
        }
    })
}

fn print_pairs(entities: &[Entity<'_>], job: &mut Job<'_>) {
    for (place, entity) in entities.iter().enumerate() {
        if place > 0 {
            job.line("");
        }
        for pair in entity.pairs() {
            job.line([b"\"", pair.key, b"\" \"", pair.value, b"\""].concat());
        }
    }
}
