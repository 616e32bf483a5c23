//! `light stat`: prints statistics of the light.

use std::fmt::Write;

use anyhow::{Context as _, Result};
use bspkit::content::lightmap::{LightSet, LightStat};
use bspkit::dialect::LuxelForm;
use bspkit::face::report::{FindingJson, PlaceJson};
use bspkit::op::check::Severity;
use serde::Serialize;

use super::light_files;
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::Reading;
use crate::cli::report::Report;
use crate::cli::show::{count, shown};
use crate::cli::talk::{Code, Job};

/// Show how bright the light is, for each style
///
/// Ranges and means are in linear light, where 1 leaves a texture unchanged. The histogram counts luxels by how bright
/// they look on a screen, from black to the maximum. Faces with light outside the lump are reported; then the exit
/// status is 1.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit light stat base1.bsp
  bspkit light stat maps --json > light.jsonl"
))]
pub(super) struct Args {
    #[command(flatten)]
    reading: Reading,
}

#[derive(Serialize)]
struct Stat<'a> {
    dialect: &'static str,
    sets: Vec<SetJson<'a>>,
    /// The files outside of the map that hold its light.
    files: Vec<FileJson>,
    #[serde(skip)]
    stats: Vec<(&'a LightSet, LightStat)>,
}

impl Report for Stat<'_> {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        self.stats.iter().try_for_each(|(set, stat)| print(set, stat, job))?;
        for FileJson { file, found } in &self.files {
            job.line(format!("{file}: {}", if *found { "exists" } else { "missing" }));
        }
        if self.stats.is_empty() && self.files.is_empty() {
            job.line("no light");
        }
        Ok(())
    }

    fn heading(&self, path: &str) -> Option<String> {
        Some(format!("{path}:"))
    }
}

#[derive(Serialize)]
struct FileJson {
    file: String,
    found: bool,
}

#[derive(Serialize)]
struct SetJson<'a> {
    name: &'a str,
    lump: &'a str,
    luxel_form: &'static str,
    /// Lit faces, or pages.
    lit_count: usize,
    unlit_count: usize,
    overlap_count: usize,
    shared_count: usize,
    single_precision_count: usize,
    unowned_bytes: usize,
    styles: Vec<StyleJson>,
    findings: Vec<FindingJson>,
}

#[derive(Serialize)]
struct StyleJson {
    style: u8,
    face_count: usize,
    bumped_count: usize,
    luxel_count: usize,
    least: [f64; 3],
    most: [f64; 3],
    mean: [f64; 3],
    histogram: [usize; 16],
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    args.reading.each(cx, |bsp, job| {
        let file = job.file;
        let cannot = || format!("cannot read the light of {}", shown(file));
        let light = bsp.light().with_context(cannot)?;
        let stats = light.sets().iter().enumerate().filter_map(|(at, set)| Some((set, light.stat(at)?))).collect();
        let files = light_files(&bsp, file).with_context(cannot)?;
        super::say_faults(&light, job);
        let stats: Vec<(&LightSet, LightStat)> = stats;
        job.report(&Stat {
            dialect: bsp.dialect().name,
            sets: stats.iter().map(|(set, stat)| set_json(set, stat)).collect(),
            files: files.into_iter().map(|file| FileJson { file: file.path, found: file.is_there }).collect(),
            stats,
        })
    })
}

fn luxels(set: &LightSet) -> &'static str {
    match set.form() {
        LuxelForm::Grey => "grey",
        LuxelForm::Rgbe => "rgbe",
        _ => "rgb",
    }
}

fn set_json<'a>(set: &'a LightSet, stat: &LightStat) -> SetJson<'a> {
    SetJson {
        name: set.name(),
        lump: set.lump(),
        luxel_form: luxels(set),
        lit_count: set.blocks().len(),
        unlit_count: set.unlit(),
        overlap_count: stat.overlaps,
        shared_count: stat.shared,
        single_precision_count: stat.single,
        unowned_bytes: stat.unowned,
        styles: stat
            .styles
            .iter()
            .map(|(style, of)| StyleJson {
                style: *style,
                face_count: of.faces,
                bumped_count: of.bumped,
                luxel_count: of.luxels,
                least: of.least,
                most: of.most,
                mean: of.mean,
                histogram: of.histogram,
            })
            .collect(),
        findings: set.faults().iter().map(|fault| finding(set, fault)).collect(),
    }
}

/// Light that cannot be read, in JSON.
fn finding(set: &LightSet, fault: &impl ToString) -> FindingJson {
    let place = PlaceJson { lump: Some(set.lump().to_owned()), ..PlaceJson::default() };
    FindingJson::new("light", Severity::Error, place, fault.to_string())
}

fn print(set: &LightSet, stat: &LightStat, job: &mut Job<'_>) -> Result<()> {
    let (lit, unlit) = (set.blocks().len(), set.unlit());
    let lit = if set.is_pages() { count(lit, "page", "pages") } else { count(lit, "lit face", "lit faces") };
    let name = if set.name().is_empty() { String::new() } else { format!(" ({})", set.name()) };
    job.line(format!("{}{name}: {}, {lit}, {} without light", set.lump(), luxels(set), count(unlit, "face", "faces")));
    let odd = [
        (stat.shared, "block shared", "blocks shared"),
        (stat.overlaps, "overlap", "overlaps"),
        (stat.single, "size in single precision", "sizes in single precision"),
        (stat.unowned, "unused byte", "unused bytes"),
    ];
    let odd: Vec<_> = odd.iter().filter(|odd| odd.0 > 0).map(|(number, one, more)| count(*number, one, more)).collect();
    if !odd.is_empty() {
        job.line(format!("  {}", odd.join(", ")));
    }
    for (style, of) in &stat.styles {
        let mut line = format!(
            "  style {style}: {}",
            count(
                of.faces,
                if set.is_pages() { "page" } else { "face" },
                if set.is_pages() { "pages" } else { "faces" }
            )
        );
        if of.bumped > 0 {
            write!(line, " ({} bumped)", of.bumped)?;
        }
        write!(line, ", {}", count(of.luxels, "luxel", "luxels"))?;
        job.line(line);
        for (word, light) in [("least", of.least), ("most", of.most), ("mean", of.mean)] {
            let [red, green, blue] = light;
            job.line(format!("    {word:<5} {red:8.4} {green:8.4} {blue:8.4}"));
        }
        let bins: Vec<_> = of.histogram.iter().map(ToString::to_string).collect();
        job.line(format!("    from black to bright {}", bins.join(" ")));
    }
    Ok(())
}
