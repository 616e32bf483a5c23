//! The options of every command.

use std::num::NonZeroUsize;

use bspkit::dialect::{self, Dialect};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use shard::Shard;

pub(crate) mod shard;

#[derive(Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Options {
    /// Read the map as this dialect, without detection; an unknown name lists the valid ones
    #[arg(long, global = true, value_name = "NAME", ignore_case = true, value_parser = dialects(),
        hide_possible_values = true)]
    pub(crate) dialect: Option<&'static Dialect>,
    /// How many maps to process at once; for one map, how many threads to use
    /// [default: one per core; four per core when saving several maps]
    #[arg(short, long, global = true, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Continue after a failed map (the default)
    #[arg(long, global = true, conflicts_with = "fail_fast")]
    keep_going: bool,
    /// Start no further map after a failed one
    #[arg(long, global = true)]
    pub(crate) fail_fast: bool,
    /// Process only part I of N of the maps, to share the work between machines; maps are sorted by their path below
    /// the folder
    #[arg(long, global = true, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    /// On stderr, print only warnings and errors
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Print more: every law, every oddity in the entity text, checksums, the time taken
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// When to use color; NO_COLOR is respected
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

/// A larger number of threads is taken for a typing error.
const MOST_JOBS: usize = 256;

fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    let jobs = text.parse().ok().filter(|jobs: &NonZeroUsize| jobs.get() <= MOST_JOBS);
    jobs.ok_or_else(|| format!("the number must be from 1 to {MOST_JOBS}"))
}

impl Options {
    /// The number of threads.
    pub(crate) fn jobs(&self) -> usize {
        let cores = || std::thread::available_parallelism().ok();
        self.jobs.or_else(cores).map_or(1, NonZeroUsize::get).min(MOST_JOBS)
    }
}
