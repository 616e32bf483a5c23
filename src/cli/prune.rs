//! `prune`: removes what nothing needs.

use anyhow::Result;
use bspkit::Bsp;
use bspkit::face::records::list_name;
use bspkit::op::prune::{Freed, Options, Pruned, PrunedLump, prune};

use super::context::Context;
use super::help;
use super::maps::MapArgs;
use super::save::{Edited, Save};
use super::talk::Code;

/// Remove what nothing in a map needs
///
/// These go: planes, texture entries and their names, vertexes, edges, brushes, nodes and lists to which nothing
/// refers, models that no entity names with all that belongs to them, and embedded textures that no face has. What
/// entities name stays, and so do animated textures of which one frame is used. Everything that stays has the same
/// content.
///
/// The table has the lumps that get smaller and the limits of the engine that are won back. If a lump of unknown
/// content may refer to records that would move, the map is refused; --keep leaves these records, --force moves them.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit prune base1.bsp --dry-run
  bspkit prune base1.bsp --light -o out.bsp
  bspkit prune maps --keep planes --in-place --backup
  bspkit prune goldsrc.bsp --only textures -o out.bsp"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// Remove only from this lump, by number, name or role, or from this list as LUMP.LIST; can be repeated
    #[arg(long, value_name = "LUMP")]
    only: Vec<String>,
    /// Remove nothing from this lump, or list; can be repeated
    #[arg(long, value_name = "LUMP")]
    keep: Vec<String>,
    /// Also remove light that no face refers to; offsets of light change
    #[arg(long)]
    light: bool,
    #[command(flatten)]
    save: Save,
}

impl Args {
    fn options(&self, map: &Bsp<'_>) -> Result<Options> {
        let mut options = Options::default().light(self.light).force(self.save.force);
        for name in &self.only {
            options = options.only(list_name(map, name)?);
        }
        for name in &self.keep {
            options = options.keep(list_name(map, name)?);
        }
        Ok(options)
    }
}

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        let options = args.options(draft.bsp())?;
        let pruned = prune(draft, &options)?;
        pruned.warnings.iter().for_each(|warning| job.warn_here(warning));
        if job.json {
            let mut document = serde_json::to_value(&pruned)?;
            document["bytes"] = pruned.bytes().into();
            job.extra.insert("prune".to_owned(), document);
        }
        if pruned.lumps.is_empty() {
            job.say(&format!("{}: nothing is unused", job.path));
            return Ok(Edited::Same);
        }
        let lines = table(&pruned).into_iter().chain(limits(&pruned));
        match args.save.dry_run {
            true if !job.json => lines.for_each(|line| job.line(line)),
            _ => lines.for_each(|line| job.say(&line)),
        }
        // In its place a smaller lump leaves a hole.
        let holes = if args.save.keeps_places() { "; `--layout repack` makes the file smaller by them" } else { "" };
        Ok(Edited::With { what: format!("{} bytes were not needed{holes}", pruned.bytes()), is_whole: true })
    })
}

/// What goes, lump by lump.
fn table(pruned: &Pruned) -> Vec<String> {
    let width = pruned.lumps.iter().map(|lump| lump.lump.len()).max().unwrap_or(0).max(4);
    let line = |[lump, before, after, unit, bytes]: [&str; 5]| {
        format!("{lump:<width$}  {before:>9}  {after:>9}  {unit:<8}  {bytes:>9}")
    };
    let row = |PrunedLump { lump, unit, before, after, bytes, .. }: &PrunedLump| {
        line([lump, &before.to_string(), &after.to_string(), unit, &bytes.to_string()])
    };
    let head = line(["lump", "before", "after", "of", "bytes won"]);
    std::iter::once(head).chain(pruned.lumps.iter().map(row)).collect()
}

/// Which limits of the engine are won back.
fn limits(pruned: &Pruned) -> Vec<String> {
    let row = |Freed { lump, unit, before, after, max, .. }: &Freed| {
        format!("limit of {lump}: {before} -> {after} of {max} {unit}")
    };
    pruned.limits.iter().map(row).collect()
}
