//! `vis stat`: how much is visible.

use anyhow::{Context as _, Result};
use bspkit::content::visibility::{VisSet, Visibility};
use bspkit::dialect::{Role, VisModel};
use bspkit::face::images::visibility::places;
use serde::Serialize;

use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::Reading;
use crate::cli::show::{Head, count, json, shown};
use crate::cli::talk::Code;

/// Say how much is visible from how many places
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit vis stat dm4.bsp
  bspkit vis stat maps --json > vis.jsonl"
))]
pub(crate) struct Args {
    #[command(flatten)]
    reading: Reading,
}

#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    /// What has rows: leafs or clusters.
    rows_are: &'static str,
    places: usize,
    bytes: usize,
    sets: Vec<SetJson>,
    /// Rows that cannot be read.
    problems: Vec<String>,
}

#[derive(Serialize)]
struct SetJson {
    set: &'static str,
    rows: usize,
    /// Places without a row, from where everything is visible.
    without_row: usize,
    /// How many places are visible from one.
    least: usize,
    most: usize,
    mean: f64,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let maps = args.reading.maps();
    maps.each(cx, |map, job| {
        let bsp = cx.open(&map.path)?;
        let cannot = || format!("cannot read the visibility of {}", shown(&map.path));
        let visibility = bsp.visibility().with_context(cannot)?;
        let places = places(&visibility);
        let mut problems = Vec::new();
        let sets = visibility.sets().iter().filter(|_| !places.is_empty());
        let sets: Vec<SetJson> = sets.map(|set| of_set(&visibility, *set, &places, &mut problems)).collect();
        let rows_are = if matches!(visibility.model(), VisModel::Leafs(_)) { "leafs" } else { "clusters" };
        let code = if problems.is_empty() { Code::Done } else { Code::Found };
        let bytes = bsp.role(Role::Visibility).map_or(Ok(0), |slot| bsp.bytes(slot.id).map(|bytes| bytes.len()))?;
        if args.reading.json {
            let (path, places) = (Head::new(&map.path), places.len());
            job.line(json(&Document { head: path, rows_are, places, bytes, sets, problems }, maps.many)?);
            return Ok(code);
        }
        if places.is_empty() {
            job.line(format!("{}: no visibility, everything is visible", job.path));
        }
        for SetJson { set, without_row, least, most, mean, .. } in sets {
            let whole = f64::from(u32::try_from(places.len())?);
            let bare = match without_row {
                0 => String::new(),
                bare => format!(", {} without a row", count(bare, "place", "places")),
            };
            job.line(format!(
                "{}: {set} of {} {rows_are}: {least} to {most} visible, {mean:.1} in the mean ({:.1} %){bare}",
                job.path,
                places.len(),
                100.0 * mean / whole
            ));
        }
        problems.iter().for_each(|problem| job.warn_here(problem));
        Ok(code)
    })
}

/// A damaged lump may have as many problems as rows.
const MOST_PROBLEMS: usize = 10;

fn of_set(visibility: &Visibility<'_>, set: VisSet, places: &[usize], problems: &mut Vec<String>) -> SetJson {
    let (mut counts, mut without_row, mut sum, mut rows) = (Vec::new(), 0, 0.0, 0.0);
    for place in places {
        match visibility.row(set, *place) {
            Ok(None) => without_row += 1,
            Ok(Some(row)) => {
                counts.push(row.iter().count());
                rows += 1.0;
                sum += row.iter().map(|_| 1.0).sum::<f64>();
            }
            Err(error) if problems.len() < MOST_PROBLEMS => problems.push(error.to_string()),
            Err(_) => {}
        }
    }
    let (least, most) = (counts.iter().min(), counts.iter().max());
    SetJson {
        set: set.name(),
        rows: counts.len(),
        without_row,
        least: least.copied().unwrap_or(0),
        most: most.copied().unwrap_or(0),
        mean: if rows > 0.0 { sum / rows } else { 0.0 },
    }
}
