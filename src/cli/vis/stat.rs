//! `vis stat`: counts what is visible.

use anyhow::{Context as _, Result};
use bspkit::content::visibility::{VisSet, Visibility};
use bspkit::dialect::{Role, VisModel};
use bspkit::face::images::visibility::places;
use bspkit::face::report::{FindingJson, PlaceJson};
use bspkit::op::check::Severity;
use serde::Serialize;

use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::Reading;
use crate::cli::report::Report;
use crate::cli::show::{count, shown};
use crate::cli::talk::{Code, Job};

/// Print from how many leafs or clusters how many others are visible
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
struct Stat {
    /// The places that have rows: leafs or clusters.
    rows_are: &'static str,
    place_count: usize,
    bytes: usize,
    sets: Vec<SetJson>,
    /// Rows that cannot be read.
    findings: Vec<FindingJson>,
}

#[derive(Serialize)]
struct SetJson {
    set: &'static str,
    row_count: usize,
    /// Places without a row, from where everything is visible.
    without_row_count: usize,
    /// The number of places that are visible from one place.
    least: usize,
    most: usize,
    mean: f64,
}

impl Report for Stat {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        let (rows_are, places) = (self.rows_are, self.place_count);
        if places == 0 {
            job.line(format!("{}: no visibility, everything is visible", job.path));
        }
        let whole = f64::from(u32::try_from(places)?);
        for SetJson { set, without_row_count, least, most, mean, .. } in &self.sets {
            let bare = match without_row_count {
                0 => String::new(),
                bare => format!(", {} without a row", count(*bare, "place", "places")),
            };
            let (path, percent) = (&job.path, 100.0 * mean / whole);
            job.line(format!(
                "{path}: {set} of {places} {rows_are}: {least} to {most} visible, {mean:.1} on average \
                 ({percent:.1} %){bare}"
            ));
        }
        self.findings.iter().for_each(|finding| job.warn_here(&finding.message));
        Ok(())
    }

    fn code(&self) -> Code {
        if self.findings.is_empty() { Code::Done } else { Code::Found }
    }
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.reading.each(cx, |bsp, job| {
        let cannot = || format!("cannot read the visibility of {}", shown(job.file));
        let visibility = bsp.visibility().with_context(cannot)?;
        let places = places(&visibility);
        let mut findings = Vec::new();
        let sets = visibility.sets().iter().filter(|_| !places.is_empty());
        let bytes = bsp.role(Role::Visibility).map_or(Ok(0), |slot| bsp.bytes(slot.id).map(|bytes| bytes.len()))?;
        job.report(&Stat {
            rows_are: if matches!(visibility.model(), VisModel::Leafs(_)) { "leafs" } else { "clusters" },
            place_count: places.len(),
            bytes,
            sets: sets.map(|set| of_set(&visibility, *set, &places, &mut findings)).collect(),
            findings,
        })
    })
}

/// The most findings that are listed: a damaged lump may have a fault in every row.
const MOST_FINDINGS: usize = 10;

fn of_set(visibility: &Visibility<'_>, set: VisSet, places: &[usize], findings: &mut Vec<FindingJson>) -> SetJson {
    let (mut counts, mut without_row, mut sum, mut rows) = (Vec::new(), 0, 0.0, 0.0);
    for place in places {
        match visibility.row(set, *place) {
            Ok(None) => without_row += 1,
            Ok(Some(row)) => {
                counts.push(row.iter().count());
                rows += 1.0;
                sum += row.iter().map(|_| 1.0).sum::<f64>();
            }
            Err(error) if findings.len() < MOST_FINDINGS => {
                let place = PlaceJson { record: Some(*place), ..PlaceJson::default() };
                findings.push(FindingJson::new("vis-row", Severity::Error, place, error.to_string()));
            }
            Err(_) => {}
        }
    }
    let (least, most) = (counts.iter().min(), counts.iter().max());
    SetJson {
        set: set.name(),
        row_count: counts.len(),
        without_row_count: without_row,
        least: least.copied().unwrap_or(0),
        most: most.copied().unwrap_or(0),
        mean: if rows > 0.0 { sum / rows } else { 0.0 },
    }
}
