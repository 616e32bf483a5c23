//! `pak set-time`: gives embedded files another time.

use std::ffi::OsString;

use anyhow::Result;
use bspkit::bytes::escaped;
use bspkit::content::pak::{Pak, Time};
use bspkit::{Error, ErrorKind};

use super::names_of;
use crate::cli::context::Context;
use crate::cli::help;
use crate::cli::maps::MapArgs;
use crate::cli::save::{Edited, Save};
use crate::cli::show::count;
use crate::cli::talk::Code;

/// Set the time that the zip directory states for embedded files
///
/// TIME is `none` (zeros, as Valve's tools write them), `2013-06-20`, `2013-06-20T12:34:56`, `@1371731696` (seconds
/// since 1970 in UTC: `@$SOURCE_DATE_EPOCH`), or `like:NAME` (the time of that embedded file). A zip keeps years from
/// 1980 to 2107, in steps of two seconds and without a time zone. All other bytes of the files stay.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit pak set-time map.bsp none -o out.bsp
  bspkit pak set-time map.bsp @1371731696 'materials/**' --in-place
  bspkit pak set-time map.bsp like:materials/my/wall.vmt '*.vmt' --dry-run"
))]
pub(crate) struct Args {
    #[command(flatten)]
    maps: MapArgs,
    /// The time
    #[arg(value_name = "TIME")]
    time: OsString,
    /// The files [default: all]
    #[arg(value_name = "GLOB")]
    patterns: Vec<OsString>,
    #[command(flatten)]
    save: Save,
}

/// A time, or the file that has it.
enum Wanted {
    Time(Time),
    Like(Vec<u8>),
}

impl Wanted {
    fn parse(text: &[u8]) -> bspkit::Result<Self> {
        if let Some(name) = text.strip_prefix(b"like:") {
            return Ok(Wanted::Like(name.to_vec()));
        }
        if let Some(seconds) = text.strip_prefix(b"@") {
            let number = std::str::from_utf8(seconds).ok().and_then(|digits| digits.parse().ok());
            let wrong = || {
                let message = format!("`{}` is not a number of seconds", escaped(seconds));
                Error::new(ErrorKind::Argument, message).with_hint("@ needs the seconds since 1970: @1371731696")
            };
            return Time::from_unix(number.ok_or_else(wrong)?).map(Wanted::Time);
        }
        if text == b"none" { Ok(Wanted::Time(Time::NONE)) } else { Time::parse(text).map(Wanted::Time) }
    }

    fn of(&self, pak: &Pak<'_>) -> bspkit::Result<Time> {
        match self {
            Wanted::Time(time) => Ok(*time),
            Wanted::Like(name) => Ok(pak.get(pak.one(name)?).map_or(Time::NONE, |entry| entry.time())),
        }
    }
}

pub(super) fn run(cx: &Context, args: &Args) -> Result<Code> {
    let wanted = Wanted::parse(args.time.as_encoded_bytes())?;
    args.save.each(cx, args.maps.find(), |draft, _, job| {
        let pak = draft.pak()?;
        let names = names_of(pak);
        let indices = names.chosen(&args.patterns, job);
        if indices.is_empty() {
            return Ok(Edited::Nothing(names.nothing(&args.patterns)));
        }
        let time = wanted.of(pak)?;
        let mut changed = 0;
        for entry in indices.iter().filter_map(|index| pak.get(*index)).filter(|entry| entry.time() != time) {
            changed += 1;
            if args.save.dry_run && !args.save.json {
                job.line(format!("  {}: {} -> {time}, {} bytes", escaped(entry.name()), entry.time(), entry.size()));
            }
        }
        pak.set_time(&indices, time)?;
        let what = format!("{changed} of {} set to {time}", count(indices.len(), "time", "times"));
        Ok(Edited::With { what, is_whole: true })
    })
}
