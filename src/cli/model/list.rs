//! `model list`: brush models and what they have.

use std::borrow::Cow;
use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use bspkit::Bsp;
use bspkit::bytes::escaped;
use bspkit::dialect::Role;
use bspkit::op::models::{self, Model};
use serde::Serialize;

use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::Reading;
use crate::cli::report::Report;
use crate::cli::show::text_and_raw;
use crate::cli::talk::{Code, Job};

/// List brush models: the entities that name them, faces, brushes or clip nodes, bytes, bounds
///
/// Bytes, brushes and clip nodes are those that belong to the model alone. `no entity` marks a model that no entity
/// names: the game never shows it.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit model list base1.bsp
  bspkit model list maps --json"
))]
pub(crate) struct Args {
    #[command(flatten)]
    reading: Reading,
}

#[derive(Serialize)]
struct Models<'a> {
    models: Vec<ModelJson<'a>>,
}

#[derive(Serialize)]
struct ModelJson<'a> {
    model: String,
    entities: Vec<EntityJson<'a>>,
    faces: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    brushes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clip_nodes: Option<usize>,
    bytes: usize,
    light: usize,
    /// `None` for numbers that are not finite.
    mins: [Option<f32>; 3],
    maxs: [Option<f32>; 3],
    records: BTreeMap<&'a str, usize>,
    #[serde(skip)]
    bounds: String,
    #[serde(skip)]
    is_world: bool,
}

#[derive(Serialize)]
struct EntityJson<'a> {
    index: usize,
    class: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    class_raw: Option<String>,
    #[serde(skip_serializing_if = "str::is_empty")]
    targetname: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    targetname_raw: Option<String>,
    #[serde(skip)]
    own: [&'a [u8]; 2],
}

impl<'a> ModelJson<'a> {
    fn new(bsp: &Bsp<'_>, model: &'a Model) -> Self {
        let count = |role: Role| bsp.role(role).map(|slot| model.count(&slot.name));
        let finite = |point: [f32; 3]| point.map(|axis| Some(axis).filter(|axis| axis.is_finite()));
        let point = |[x, y, z]: [f32; 3]| format!("{x} {y} {z}");
        let entities = model.entities.iter().map(|entity| {
            let ((class, class_raw), (targetname, targetname_raw)) =
                (text_and_raw(&entity.class), text_and_raw(&entity.name));
            let own = [&entity.class[..], &entity.name[..]];
            EntityJson { index: entity.index, class, class_raw, targetname, targetname_raw, own }
        });
        ModelJson {
            model: format!("*{}", model.number),
            entities: entities.collect(),
            faces: model.faces,
            brushes: count(Role::Brushes),
            clip_nodes: count(Role::ClipNodes),
            bytes: model.bytes(),
            light: model.light,
            mins: finite(model.mins),
            maxs: finite(model.maxs),
            records: model.records.iter().map(|own| (own.list.as_str(), own.count)).collect(),
            bounds: format!("{}  to  {}", point(model.mins), point(model.maxs)),
            is_world: model.number == 0,
        }
    }

    /// The entities in words.
    fn users(&self) -> String {
        let users = self.entities.iter().map(|entity| {
            let [class, name] = entity.own.map(escaped);
            let name = if entity.own[1].is_empty() { String::new() } else { format!(" \"{name}\"") };
            format!("#{} {class}{name}", entity.index)
        });
        match (self.is_world, self.entities.is_empty()) {
            (true, true) => "the world".to_owned(),
            (false, true) => "no entity".to_owned(),
            _ => users.collect::<Vec<_>>().join(", "),
        }
    }
}

impl Report for Models<'_> {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        let Some(first) = self.models.first() else { return Ok(()) };
        let column = |title: &str, is_there: bool| if is_there { format!(" {title:>7}") } else { String::new() };
        let number = |number: Option<usize>| number.map(|number| format!(" {number:>7}")).unwrap_or_default();
        let brushes = column("brushes", first.brushes.is_some());
        let clip_nodes = column("clips", first.clip_nodes.is_some());
        job.line(format!("{:>6} {:>7}{brushes}{clip_nodes} {:>9}  entity; bounds", "model", "faces", "bytes"));
        for model in &self.models {
            let (brushes, clip_nodes) = (number(model.brushes), number(model.clip_nodes));
            let ModelJson { model: name, faces, bytes, bounds, .. } = model;
            job.line(format!("{name:>6} {faces:>7}{brushes}{clip_nodes} {bytes:>9}  {}; {bounds}", model.users()));
        }
        Ok(())
    }

    fn heading(&self, path: &str) -> Option<String> {
        Some(format!("{path}:"))
    }
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.reading.each(cx, |bsp, job| {
        let listed = models::list(&bsp).context("cannot list the models")?;
        job.report(&Models { models: listed.iter().map(|model| ModelJson::new(&bsp, model)).collect() })
    })
}
