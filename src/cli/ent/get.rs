//! `ent get`: prints values.

use std::ffi::OsString;

use anyhow::Result;
use bspkit::content::entities::Entity;
use serde::Serialize;

use super::select::{Choice, refuse_cut, warn_if_verbose};
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::Reading;
use crate::cli::pairs;
use crate::cli::report::Report;
use crate::cli::show::ValueJson;
use crate::cli::talk::{Code, Job};
use bspkit::face::entities::EntityJson;

/// Print values, one per line, exactly as in the text
///
/// Without a KEY all pairs are printed, with an empty line between entities. With a KEY and several maps each line is
/// PATH:#INDEX:VALUE.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit ent get dm4.bsp worldspawn message
  bspkit ent get dm4.bsp '#0'
  bspkit ent get dm4.bsp 'info_player_*' origin --json"
))]
pub(crate) struct Args {
    #[command(flatten)]
    reading: Reading,
    /// The entities
    #[arg(value_name = "SEL")]
    selector: String,
    /// The key whose values are printed; KEY#2 is the second of equal keys
    #[arg(value_name = "KEY")]
    key: Option<OsString>,
}

#[derive(Serialize)]
struct Chosen<'e, 'a> {
    entities: Vec<EntityJson<'e, 'a>>,
}

impl Report for Chosen<'_, '_> {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        for (place, EntityJson(entity)) in self.entities.iter().enumerate() {
            if place > 0 {
                job.line("");
            }
            for pair in entity.pairs() {
                job.line([b"\"", pair.key, b"\" \"", pair.value, b"\""].concat());
            }
        }
        Ok(())
    }

    fn heading(&self, path: &str) -> Option<String> {
        (!self.entities.is_empty()).then(|| format!("// {path}"))
    }
}

#[derive(Serialize)]
struct Values<'a> {
    entities: Vec<ValuesOf<'a>>,
}

#[derive(Serialize)]
struct ValuesOf<'a> {
    index: usize,
    values: Vec<ValueJson<'a>>,
    #[serde(skip)]
    raw: Vec<&'a [u8]>,
}

impl Report for Values<'_> {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        for entity in &self.entities {
            let place = if job.many { format!("{}:#{}:", job.path, entity.index) } else { String::new() };
            entity.raw.iter().for_each(|value| job.line([place.as_bytes(), value].concat()));
        }
        Ok(())
    }
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let choice = Choice::parse(&args.selector)?;
    let key = args.key.as_deref().map(pairs::key).transpose()?;
    args.reading.each(cx, |bsp, job| {
        refuse_cut(&bsp, job)?;
        let entities = bsp.entities()?;
        warn_if_verbose(entities.diagnostics(), job);
        let indices = choice.of(&entities);
        let chosen: Vec<Entity<'_>> = indices.iter().filter_map(|index| entities.get(*index)).collect();
        let Some(key) = &key else {
            job.report(&Chosen { entities: chosen.iter().map(EntityJson).collect() })?;
            return Ok(if chosen.is_empty() { job.nothing(&choice.nothing(&entities)) } else { Code::Done });
        };
        let with_values = chosen.iter().map(|entity| (entity.index(), key.values(entity)));
        let with_values = with_values.filter(|(_, values)| !values.is_empty()).map(|(index, raw)| ValuesOf {
            index,
            values: raw.iter().map(|value| ValueJson::new(value)).collect(),
            raw,
        });
        let values = Values { entities: with_values.collect() };
        job.report(&values)?;
        match (values.entities.is_empty(), chosen.is_empty()) {
            (false, _) => Ok(Code::Done),
            (true, false) => Ok(job.nothing(&choice.nothing_with(&[key], &entities))),
            (true, true) => Ok(job.nothing(&choice.nothing(&entities))),
        }
    })
}
