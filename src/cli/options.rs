//! The options that every command has.

use std::num::NonZeroUsize;

use bspkit::dialect::{self, Dialect};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use shard::Shard;

pub(crate) mod shard;

#[derive(Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Options {
    /// Read the map as this dialect, whatever it seems to be; of an unknown name the error lists those there are
    #[arg(long, global = true, value_name = "NAME", ignore_case = true, value_parser = dialects(), hide_possible_values = true)]
    pub(crate) dialect: Option<&'static Dialect>,
    /// How many maps to work on at once; with one map, how many threads its work may take
    /// [default: one for each core, and four where maps are saved]
    #[arg(short, long, global = true, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Go on after a map that fails, as is done in any case
    #[arg(long, global = true, conflicts_with = "fail_fast")]
    keep_going: bool,
    /// Begin no other map after one that fails
    #[arg(long, global = true)]
    pub(crate) fail_fast: bool,
    /// Work on the I-th of N parts of the maps only, which machines may share: parts go by the names below a folder
    #[arg(long, global = true, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    /// Say nothing but warnings and errors on stderr
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Say more: every law, everything odd about an entity text
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// Whether to colour words; NO_COLOR is respected
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

fn dialects() -> impl TypedValueParser<Value = &'static Dialect> {
    let names = dialect::ALL.iter().map(|dialect| dialect.name);
    PossibleValuesParser::new(names).try_map(|name| dialect::by_name(&name))
}

/// More threads than that are a slip of the finger.
const MOST_JOBS: usize = 256;

fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    let jobs = text.parse().ok().filter(|jobs: &NonZeroUsize| jobs.get() <= MOST_JOBS);
    jobs.ok_or_else(|| format!("threads are a number from 1 to {MOST_JOBS}"))
}

impl Options {
    /// How many threads to work on.
    pub(crate) fn jobs(&self) -> usize {
        let cores = || std::thread::available_parallelism().ok();
        self.jobs.or_else(cores).map_or(1, NonZeroUsize::get).min(MOST_JOBS)
    }
}
