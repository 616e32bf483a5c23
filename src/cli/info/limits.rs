//! `info --limits`: how full the tables of the engine are.

use anyhow::{Result, bail};
use bspkit::Bsp;
use bspkit::dialect::{Unit, Whose};
use bspkit::op::check::{self, Usage};
use serde::Serialize;

use super::super::report::Report;
use super::super::show::shown;
use super::super::talk::{Code, Job};

#[derive(Serialize)]
struct Limits {
    dialect: &'static str,
    engine: &'static str,
    title: &'static str,
    limits: Vec<LimitJson>,
}

#[derive(Serialize)]
struct LimitJson {
    lump: &'static str,
    unit: &'static str,
    /// `engine` or `compiler`.
    whose: &'static str,
    count: usize,
    max: usize,
    percent: f64,
    /// The bytes of `count` and of `max` units, if all units have one size.
    bytes: Option<usize>,
    max_bytes: Option<usize>,
}

impl From<&Usage> for LimitJson {
    fn from(usage: &Usage) -> Self {
        let Usage { limit, count, unit_bytes, .. } = *usage;
        let unit = match limit.unit {
            Unit::Records => "records",
            Unit::Bytes => "bytes",
            Unit::Entities => "entities",
            Unit::InGame => "in-game",
            Unit::Textures => "textures",
            Unit::FaceEdges => "face-edges",
            _ => "other",
        };
        // Tenths are enough, and stay short as text.
        let percent = (usage.percent() * 10.0).round() / 10.0;
        let bytes = |units: usize| unit_bytes.map(|size| units.saturating_mul(size));
        LimitJson {
            lump: limit.lump,
            unit,
            whose: match limit.whose {
                Whose::Compiler => "compiler",
                _ => "engine",
            },
            count,
            max: limit.most,
            percent,
            bytes: bytes(count),
            max_bytes: bytes(limit.most),
        }
    }
}

impl Report for Limits {
    fn print(&self, job: &mut Job<'_>) -> Result<()> {
        let wide = |lump: &dyn Fn(&LimitJson) -> usize| self.limits.iter().map(lump).max().unwrap_or(0).max(4);
        let width = wide(&|limit| limit.lump.len());
        let line = |cells: [&str; 7]| {
            let [lump, used, max, unit, bytes, full, whose] = cells;
            format!("{lump:<width$}  {used:>9}  {max:>9}  {unit:<10}  {bytes:>21}  {full:>7}  {whose}")
                .trim_end()
                .to_owned()
        };
        job.line(format!("{}: limits of {} ({})", job.path, self.title, self.engine));
        job.line(line(["lump", "used", "max", "unit", "of bytes", "full", "limit of"]));
        for LimitJson { lump, unit, whose, count, max, percent, bytes, max_bytes } in &self.limits {
            let bytes = bytes.zip(*max_bytes).map(|(used, max)| format!("{used} / {max}")).unwrap_or_default();
            let (count, most, full) = (count.to_string(), max.to_string(), format!("{percent:.1}%"));
            job.line(line([lump, &count, &most, unit, &bytes, &full, whose]));
        }
        if job.many {
            job.line("");
        }
        Ok(())
    }
}

/// Prints how much of each limit of an engine the map uses; an engine of another dialect has no effect.
pub(super) fn report(bsp: &Bsp<'_>, engine: Option<&str>, job: &mut Job<'_>) -> Result<Code> {
    let dialect = bsp.dialect();
    let named = engine.and_then(|name| dialect.engine_by_name(name).ok());
    let Some(engine) = named.or_else(|| dialect.engine(bsp.version())) else {
        bail!("{}: no limits of engines are known for {}", shown(job.file), dialect.title);
    };
    let limits = check::usage(bsp, engine).iter().map(LimitJson::from).collect();
    job.report(&Limits { dialect: dialect.name, engine: engine.name, title: engine.title, limits })
}
