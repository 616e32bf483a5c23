//! `model copy`: brush models of another map.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use bspkit::bytes::escaped;
use bspkit::op::models::{Copied, Copying};

use super::ModelName;
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::save::{Edited, Save};
use crate::cli::show::{count, shown};
use crate::cli::talk::Code;

/// Copy brush models of another map with all that they need, and the entities that name them
///
/// Both maps must be of the same game; the map itself may be the other one. What is equal in both maps is not added
/// again: planes, texinfo, shaders, textures of the same name. A collision model is refused if it names materials of
/// its map, or brushes in a form that is not known.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit model copy base1.bsp --from base2.bsp '*1' -o out.bsp
  bspkit model copy base1.bsp --from base2.bsp '*1' --class func_wall -o out.bsp
  bspkit model copy base1.bsp --from base2.bsp '*1' '*2' --dry-run"
))]
pub(crate) struct Args {
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

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.save.spare(&args.from).or_else(|error| if args.maps.first() == args.from { Ok(()) } else { Err(error) })?;
    let other = cx.open(&args.from)?;
    let copying = match &args.class {
        Some(class) => Copying::default().class(class),
        None if args.no_entity => Copying::default().without_entity(),
        None => Copying::default(),
    };
    let copying = copying.force(args.save.force);
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        let mut said = Vec::new();
        for ModelName(model) in &args.models {
            let cannot = || format!("cannot copy *{model} of {}", shown(&args.from));
            let copied = copying.clone().run(draft, &other, *model).with_context(cannot)?;
            copied.warnings.iter().for_each(|warning| job.warn_here(warning));
            said.push(sentence(*model, &copied));
        }
        Ok(Edited::With { what: said.join("\n"), is_whole: true })
    })
}

fn sentence(model: usize, copied: &Copied) -> String {
    let records: Vec<String> = copied.records.iter().map(|(list, count)| format!("{count} of {list}")).collect();
    let textures: Vec<String> = copied.textures.iter().map(|name| escaped(name).to_string()).collect();
    let textures = if textures.is_empty() { String::new() } else { format!("; textures {}", textures.join(", ")) };
    let entities: Vec<String> = copied.entities.iter().map(|index| format!("#{index}")).collect();
    let entities = match entities.len() {
        0 => "no entity".to_owned(),
        len => format!("{} {}", count(len, "entity", "entities"), entities.join(", ")),
    };
    let (new, light) = (copied.model, copied.light);
    format!("*{model} is *{new} now: {entities}; added {}; {light} bytes of light{textures}", records.join(", "))
}
