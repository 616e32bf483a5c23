//! `model`: brush models.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use bspkit::Bsp;
use bspkit::bytes::escaped;
use bspkit::dialect::Role;
use bspkit_ops::models::{self, Copied, Copying, Model, ModelEntity, Removal, Removed};
use serde::Serialize;

use super::context::Context;
use super::talk::Code;
use super::{commands, help};
use crate::context::Report;
use crate::ent::refuse_cut;
use crate::maps::{MapArgs, Reading};
use crate::save::{Edited, Save};
use crate::talk::{Job, count, shown};

/// List, remove and copy brush models
///
/// A brush model is a part of a map that moves or triggers something: a door, a lift, a trigger. Entities name it `*1`,
/// `*2` and so on. `*0` is the world.
#[derive(clap::Args)]
#[command(disable_help_subcommand = true, after_help = help!(
    "  bspkit model list base1.bsp
  bspkit model rm base1.bsp '*2' -o out.bsp
  bspkit model copy base1.bsp --from base2.bsp '*1' -o out.bsp"
))]
pub(crate) struct Args {
    #[command(subcommand)]
    command: crate::words::Called<Command>,
}

commands! {
    List(ListArgs, run_list),
    Rm(RmArgs, run_rm),
    Copy(CopyArgs, run_copy),
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.command.0.run(cx)
}

/// The name of a model: `*2`, or its number.
#[derive(Clone, Copy, Debug)]
struct ModelName(usize);

impl std::str::FromStr for ModelName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.strip_prefix('*').unwrap_or(text).parse();
        number.map(ModelName).map_err(|_| format!("`{text}` is not the name of a model, such as `*2`"))
    }
}

// `model list`: brush models and what they have.

/// List brush models: the entities that name them, faces, brushes or clip nodes, bytes, bounds
///
/// Bytes, brushes and clip nodes are those that belong to the model alone. `no entity` marks a model that no entity
/// names: the game never shows it.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit model list base1.bsp
  bspkit model list maps --json"
))]
pub(crate) struct ListArgs {
    #[command(flatten)]
    reading: Reading,
}

#[derive(Serialize)]
struct Models<'a> {
    models: Vec<Listed<'a>>,
}

#[derive(Serialize)]
struct Listed<'a> {
    model: String,
    entities: &'a [ModelEntity],
    faces: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    brushes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clip_nodes: Option<usize>,
    bytes: usize,
    light: usize,
    mins: [f32; 3],
    maxs: [f32; 3],
    records: BTreeMap<&'a str, usize>,
    #[serde(skip)]
    is_world: bool,
}

impl<'a> Listed<'a> {
    fn new(bsp: &Bsp<'_>, model: &'a Model) -> Self {
        let is_known = models::has_known_parts(bsp);
        let count = |role: Role| bsp.role(role).filter(|_| is_known).map(|slot| model.count(&slot.name));
        Listed {
            model: format!("*{}", model.number),
            entities: &model.entities,
            faces: model.faces,
            brushes: count(Role::Brushes),
            clip_nodes: count(Role::ClipNodes),
            bytes: model.bytes(),
            light: model.light,
            mins: model.mins,
            maxs: model.maxs,
            records: model.records.iter().map(|own| (own.list.as_str(), own.count)).collect(),
            is_world: model.number == 0,
        }
    }

    /// The entities in words.
    fn users(&self) -> String {
        let users = self.entities.iter().map(|entity| {
            let name = if entity.name.is_empty() { String::new() } else { format!(" \"{}\"", escaped(&entity.name)) };
            format!("#{} {}{name}", entity.index, escaped(&entity.class))
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
            let Listed { model: name, faces, bytes, mins: [x, y, z], maxs: [right, back, top], .. } = model;
            job.line(format!(
                "{name:>6} {faces:>7}{brushes}{clip_nodes} {bytes:>9}  {}; {x} {y} {z}  to  {right} {back} {top}",
                model.users()
            ));
        }
        Ok(())
    }

    fn heading(&self, path: &str) -> Option<String> {
        Some(format!("{path}:"))
    }
}

fn run_list(cx: &Context, args: &ListArgs) -> Result<Code> {
    args.reading.each(cx, |bsp, job| {
        refuse_cut(&bsp, job)?;
        let listed = models::list(&bsp).context("cannot list the models")?;
        job.report(&Models { models: listed.iter().map(|model| Listed::new(&bsp, model)).collect() })
    })
}

// `model copy`: brush models of another map.

/// Copy brush models of another map with all that they need, and the entities that name them
///
/// Both maps must be of the same game; the map itself may be the other one. What is equal in both maps is not added
/// again: planes, texinfo, shaders, textures of the same name; a warning names those that have other pixels or another
/// size in this map. A collision model is refused if it names materials of its map, or brushes in a form that is not
/// known.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit model copy base1.bsp --from base2.bsp '*1' -o out.bsp
  bspkit model copy base1.bsp --from base2.bsp '*1' --class func_wall -o out.bsp
  bspkit model copy base1.bsp --from base2.bsp '*1' '*2' --dry-run"
))]
pub(crate) struct CopyArgs {
    #[command(flatten)]
    maps: MapArgs,
    /// The models of the other map: `*2`, or its number
    #[arg(value_name = "MODEL", required = true)]
    models: Vec<ModelName>,
    /// The map that has the models
    #[arg(long, value_name = "OTHER")]
    from: PathBuf,
    /// Make an entity of this class, in place of copies of the entities that the other map has
    #[arg(long, value_name = "CLASS")]
    class: Option<String>,
    /// Make no entity
    #[arg(long, conflicts_with = "class")]
    no_entity: bool,
    #[command(flatten)]
    save: Save,
}

fn run_copy(cx: &Context, args: &CopyArgs) -> Result<Code> {
    args.save.spare(&args.from).or_else(|error| if args.maps.first() == args.from { Ok(()) } else { Err(error) })?;
    let other = cx.open(&args.from)?;
    let copying = match &args.class {
        Some(class) => Copying::default().class(class),
        None if args.no_entity => Copying::default().without_entity(),
        None => Copying::default(),
    };
    let copying = copying.force(args.save.force);
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        let models: Vec<usize> = args.models.iter().map(|model| model.0).collect();
        let names: Vec<String> = models.iter().take(MOST_NAMED).map(|model| format!("*{model}")).collect();
        let others = if models.len() > MOST_NAMED { ", ..." } else { "" };
        let cannot = || format!("cannot copy {}{others} of {}", names.join(", "), shown(&args.from));
        let copied = copying.clone().run(draft, &other, &models).with_context(cannot)?;
        copied.warnings.iter().for_each(|warning| job.warn_here(warning));
        Ok(Edited::With { what: sentence(&copied), is_whole: true })
    })
}

/// How many models an error names.
const MOST_NAMED: usize = 5;

fn sentence(copied: &Copied) -> String {
    let records: Vec<String> = copied.records.iter().map(|(list, count)| format!("{count} of {list}")).collect();
    let textures: Vec<String> = copied.textures.iter().map(|name| escaped(name).to_string()).collect();
    let textures = if textures.is_empty() { String::new() } else { format!("; textures {}", textures.join(", ")) };
    let models = copied.models.iter().map(|copy| {
        let entities: Vec<String> = copy.entities.iter().map(|index| format!("#{index}")).collect();
        let entities = match entities.len() {
            0 => "no entity".to_owned(),
            len => format!("{} {}", count(len, "entity", "entities"), entities.join(", ")),
        };
        format!("*{} is *{} now: {entities}", copy.from, copy.model)
    });
    let models: Vec<String> = models.collect();
    format!("{}; added {}; {} bytes of light{textures}", models.join("; "), records.join(", "), copied.light)
}

// `model rm`: removes brush models.

/// Remove brush models with all that only they have: faces, brushes or clip nodes, light, collision models
///
/// The entity that names a model goes with it, unless `--keep-entity` is given. Later models get smaller numbers, which
/// the key `model` of all entities follows; `*N` under another key stays, with a warning. What the model shares with
/// others stays, and so does what nothing used before.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit model rm base1.bsp '*2' -o out.bsp
  bspkit model rm base1.bsp '*2' '*3' --in-place --backup
  bspkit model rm base1.bsp '*2' --dry-run"
))]
pub(crate) struct RmArgs {
    #[command(flatten)]
    maps: MapArgs,
    /// The models: `*2`, or its number
    #[arg(value_name = "MODEL", required = true)]
    models: Vec<ModelName>,
    /// Keep the entities that name them, without their key `model`; refused for classes that engines refuse so
    #[arg(long)]
    keep_entity: bool,
    #[command(flatten)]
    save: Save,
}

fn run_rm(cx: &Context, args: &RmArgs) -> Result<Code> {
    let models: Vec<usize> = args.models.iter().map(|model| model.0).collect();
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        let removal = Removal::default().keep_entity(args.keep_entity).force(args.save.force);
        let removed = removal.run(draft, &models).context("cannot remove the model")?;
        Ok(gone(&removed, job))
    })
}

/// What went, for the report.
pub(super) fn gone(removed: &Removed, job: &mut Job<'_>) -> Edited {
    removed.followed.warnings.iter().for_each(|warning| job.warn_here(warning));
    let gone = removed.followed.removed.iter().map(|gone| format!("{} of {}", gone.count, gone.lump));
    let gone: Vec<String> = gone.collect();
    // What the model shares with another one stays.
    let gone = if gone.is_empty() { "no records".to_owned() } else { gone.join(", ") };
    let entities = match removed.entities.len() {
        0 => "no entity named it".to_owned(),
        entities if removed.is_kept => format!("{} without a model", count(entities, "entity", "entities")),
        entities => format!("{} removed", count(entities, "entity", "entities")),
    };
    let what = format!("removed {gone}; {} bytes of light; {entities}", removed.light);
    Edited::With { what, is_whole: true }
}
