//! `light adjust`: changes the brightness and color of light.

use anyhow::Result;
use bspkit::content::lightmap::{Adjustment, Image};

use super::choose::Choice;
use super::{nothing, warn_of_copies};
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::save::{Edited, Save};
use crate::cli::talk::Code;

/// Make the light brighter or darker, or change its color
///
/// Each channel of a luxel (a pixel of light) is multiplied by the gain and the tint, then raised to the power 1/gamma.
/// This is done in linear light, where 1 leaves a texture unchanged. 8-bit light is converted to linear light with the
/// power 2.2, as engines use it. Light that gets too bright for the format is clamped. Average colors of faces, if the
/// map has them, are computed again. The light grid, light of props and lights of entities do not change.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit light adjust base1.bsp --gain 1.5 -o out.bsp
  bspkit light adjust base1.bsp --tint 1,0.8,0.6 --styles 0 --in-place --backup
  bspkit light adjust maps --gamma 1.2 -o brighter"
))]
pub(super) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    #[command(flatten)]
    numbers: Numbers,
    #[command(flatten)]
    choice: Choice,
    #[command(flatten)]
    save: Save,
}

#[derive(clap::Args)]
#[group(required = true, multiple = true)]
struct Numbers {
    /// Multiply all light by this
    #[arg(long, value_name = "NUMBER", value_parser = factor)]
    gain: Option<f64>,
    /// Above 1, dark light gets brighter; below 1, darker
    #[arg(long, value_name = "NUMBER", value_parser = power)]
    gamma: Option<f64>,
    /// Multiply red, green and blue by these
    #[arg(long, value_name = "R,G,B", value_parser = tint)]
    tint: Option<[f64; 3]>,
}

fn factor(text: &str) -> Result<f64, String> {
    let number = text.trim().parse().map_err(|_| format!("`{text}` is not a number"))?;
    if (0.0..=1e6).contains(&number) { Ok(number) } else { Err(format!("{text} is not from 0 to 1000000")) }
}

fn power(text: &str) -> Result<f64, String> {
    factor(text).and_then(|number| match number {
        number if (0.01..=100.0).contains(&number) => Ok(number),
        _ => Err(format!("{text} is not from 0.01 to 100")),
    })
}

fn tint(text: &str) -> Result<[f64; 3], String> {
    let parts = text.split(',').map(factor).collect::<Result<Vec<_>, _>>()?;
    <[f64; 3]>::try_from(parts).map_err(|_| "three numbers are needed, for red, green and blue".to_owned())
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let Numbers { gain, gamma, tint } = &args.numbers;
    let adjustment =
        Adjustment { gain: gain.unwrap_or(1.0), gamma: gamma.unwrap_or(1.0), tint: tint.unwrap_or([1.0; 3]) };
    args.save.each(cx, args.maps.find(), |draft, map, job| {
        let bsp = draft.bsp().clone();
        let light = draft.light()?;
        if light.sets().is_empty() {
            return Ok(Edited::Nothing(nothing(&bsp, &map.path)?));
        }
        super::say_faults(light, job);
        args.choice.check(light, job)?;
        let is_meant = |image: Image| {
            let set = &light.sets()[image.set];
            args.choice.has(set, &set.blocks()[image.block], image.style)
        };
        if !light.images().any(is_meant) {
            return Ok(Edited::Nothing("no light matches --set, --faces and --styles".to_owned()));
        }
        let changed = light.adjust(&adjustment, |set, block, style| args.choice.has(set, block, style));
        if changed > 0 {
            warn_of_copies(&bsp, job);
        }
        Ok(Edited::Done)
    })
}
