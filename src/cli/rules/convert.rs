//! `rules convert`: rules in another format.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use bspkit::SaveOptions;
use bspkit::face::{input, patch};
use bspkit::file::replace;
use bspkit::op::rules::Rules;
use clap::ValueEnum;

use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::real_path;
use crate::cli::rule_files::RuleArgs;
use crate::cli::show::shown;
use crate::cli::talk::Code;

/// Convert a rule file to a patch, or a patch or another rule file to Stripper
///
/// What the other format cannot say is listed, and the exit status is 1. A patch means entities as they are before it,
/// and each of its selectors has to match; rules apply one after the other, to whatever matches.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit rules convert clean.cfg --to patch -o clean.json
  bspkit rules convert brighter.json --to stripper"
))]
pub(crate) struct Args {
    /// A rule file, or a patch of `ent patch`
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The format to write
    #[arg(long, value_name = "FORMAT")]
    to: To,
    #[command(flatten)]
    reading: RuleArgs,
    /// The file to write [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum To {
    /// The JSON of `ent patch`
    Patch,
    /// Stripper:Source
    Stripper,
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let name = shown(&args.file);
    let text = input::read(&args.file)?;
    let is_patch =
        text.trim_ascii_start().starts_with(b"{") && text.windows(14).any(|part| part == b"\"bspkit_patch\"");
    let (result, lost): (Vec<u8>, Vec<String>) = match (is_patch, args.to) {
        (true, To::Patch) => bail!("{name} is a patch already"),
        (true, To::Stripper) => {
            let patch = patch::read(&text).with_context(|| format!("cannot read {name}"))?;
            let rules = Rules::from_patch(&name, &patch);
            let printed = rules.result.to_stripper();
            let lost = rules.lost.into_iter().chain(printed.lost);
            let lost = lost.map(|(at, what)| format!("{name}: operations[{}]: {what}", at.line - 1));
            (printed.result, lost.collect())
        }
        (false, to) => {
            let rules = args.reading.reading().file(&args.file)?;
            if let Some(error) = rules.refusal() {
                return Err(error.into());
            }
            let (result, lost) = match to {
                To::Patch => {
                    let converted = rules.to_patch()?;
                    (patch::write(&converted.result).into_bytes(), converted.lost)
                }
                To::Stripper => {
                    let printed = rules.to_stripper();
                    (printed.result, printed.lost)
                }
            };
            (result, lost.into_iter().map(|(at, what)| format!("{name}:{at}: {what}")).collect())
        }
    };
    write(cx, args.output.as_deref(), &args.file, &result)?;
    lost.iter().for_each(|what| cx.talk.stderr(format!("cannot be said: {what}\n").as_bytes()));
    Ok(if lost.is_empty() { Code::Done } else { Code::Found })
}

/// Writes a file, or stdout.
fn write(cx: &Context, output: Option<&Path>, input: &Path, result: &[u8]) -> Result<()> {
    let Some(output) = output else {
        cx.talk.stdout(result)?;
        return Ok(());
    };
    let real = real_path(output).with_context(|| format!("cannot write {}", shown(output)))?;
    if real.is_some() && real == real_path(input)? {
        bail!("{} is the input file: name another one", shown(output));
    }
    replace(output, &SaveOptions::default(), |mut file| file.write_all(result))?;
    Ok(())
}
