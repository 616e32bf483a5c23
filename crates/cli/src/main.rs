//! The `bspkit` program. It uses only public items of the other crates: it parses arguments, prints data to stdout and
//! messages to stderr.

#![deny(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod check;
mod ci;
mod completions;
mod compress;
mod config;
mod context;
mod cubemap;
mod decompile;
mod diff;
mod ent;
mod git;
mod help;
mod info;
mod light;
mod lmp;
mod maps;
mod model;
mod order;
mod output;
mod pack;
mod pager;
mod pak;
mod records;
mod rename;
mod res;
mod rules;
#[cfg(feature = "script")]
mod run;
mod save;
#[cfg(feature = "see")]
mod see;
mod stats;
mod stop;
mod talk;
mod terminal;
mod tex;
mod topics;
mod undo;
mod verbs;
mod verify;
mod vis;
mod watch;
mod words;

pub(crate) use help::help;

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use bspkit::bytes::for_terminal;
use clap::{CommandFactory, FromArgMatches, Parser};

use context::Context;
use talk::{Code, Options, Talk};

/// The commands of a group: for each its name, its arguments and the function that runs it.
macro_rules! commands {
    ($($(#[$only:meta])? $name:ident($args:ty, $run:path),)*) => {
        #[derive(clap::Subcommand)]
        enum Command {
            $($(#[$only])? $name($crate::words::Called<$args>),)*
        }

        impl Command {
            fn run(&self, cx: &$crate::context::Context) -> anyhow::Result<$crate::talk::Code> {
                match self {
                    $($(#[$only])? Command::$name(args) => $run(cx, &args.0),)*
                }
            }
        }
    };
}
pub(crate) use commands;

/// Open any map of the BSP family, change exactly what you mean to change, and write it back with every other byte
/// as it was.
#[derive(Parser)]
#[command(name = "bspkit", bin_name = "bspkit", version, disable_help_subcommand = true, after_help = help!(
    "  bspkit info dm4.bsp
  bspkit ent set dm4.bsp worldspawn message=\"The Place\" -o out.bsp
  bspkit ent list dm4.bsp 'info_player_*'
  bspkit verify maps"
))]
struct Cli {
    #[command(flatten)]
    options: Options,
    #[command(subcommand)]
    command: words::Called<Command>,
}

commands! {
    Info(info::Args, info::run),
    Ls(info::LsArgs, info::run_ls),
    Cat(info::CatArgs, info::run_cat),
    Verify(verify::Args, verify::run),
    Check(check::Args, check::run),
    Ci(ci::Args, ci::run),
    Stats(stats::Args, stats::run),
    Diff(diff::Args, diff::run),
    Git(git::Args, git::run),
    Checksum(check::ChecksumArgs, check::run_checksum),
    Ent(ent::Args, ent::run),
    Undo(undo::UndoArgs, undo::run_undo),
    Backups(undo::Args, undo::run),
    Dump(records::DumpArgs, records::run_dump),
    Load(records::LoadArgs, records::run_load),
    Get(records::GetArgs, records::run_get),
    Set(records::SetArgs, records::run_set),
    Refs(records::RefsArgs, records::run_refs),
    Records(order::Args, order::run),
    Unpack(pack::UnpackArgs, pack::run_unpack),
    Pack(pack::Args, pack::run),
    Compress(compress::Args, compress::run),
    Decompress(compress::DecompressArgs, compress::run_decompress),
    Light(light::Args, light::run),
    Lmp(lmp::Args, lmp::run),
    Pak(pak::Args, pak::run),
    Rename(rename::Args, rename::run),
    Cubemap(cubemap::Args, cubemap::run),
    Model(model::Args, model::run),
    Prune(compress::PruneArgs, compress::run_prune),
    #[cfg(feature = "script")]
    Run(run::Args, run::run),
    Rules(rules::Args, rules::run),
    Tex(tex::Args, tex::run),
    Vis(vis::Args, vis::run),
    #[cfg(feature = "see")]
    Export(see::ExportArgs, see::run_export),
    #[cfg(feature = "see")]
    View(see::ViewArgs, see::run_view),
    Decompile(decompile::Args, decompile::run),
    Bspzip(verbs::BspzipArgs, verbs::run_bspzip),
    Ripent(verbs::RipentArgs, verbs::run_ripent),
    Res(res::Args, res::run),
    Config(config::Args, config::run),
    Help(topics::Args, topics::run),
    Completions(completions::Args, completions::run),
    Man(completions::ManArgs, completions::run_man),
}

fn main() -> ExitCode {
    let arguments = verbs::called(std::env::args_os().collect());
    let (cx, command) = parse(&arguments, words::split);
    stop::listen(cx.talk.quiet);
    let code = run(&cx, &command);
    pager::end();
    code.into()
}

/// Runs a command whose arguments are not split into maps: MAP is one word.
pub(crate) fn call(arguments: &[OsString]) -> Code {
    let (cx, command) = parse(arguments, |_, arguments| (arguments, Vec::new()));
    run(&cx, &command)
}

/// Parts the arguments of a command line, and gives the maps among them.
type Split = fn(&clap::Command, Vec<OsString>) -> (Vec<OsString>, Vec<PathBuf>);

/// The command of these arguments, which are split into maps first; options that they do not name have the defaults of
/// the maps' project. Wrong arguments end the program; the error names the arguments as they were given.
fn parse(given: &[OsString], split: Split) -> (Context, Command) {
    let parsed = |program: &mut clap::Command, given: &[OsString]| {
        let (arguments, maps) = split(program, given.to_vec());
        let filled = config::defaults(&maps).and_then(|defaults| match defaults.is_empty() {
            true => Ok(None),
            false => config::fill(program.clone(), &defaults, &arguments).map(Some),
        });
        let wrong = match filled {
            Ok(None) => None,
            Ok(Some(filled)) => {
                *program = filled;
                None
            }
            Err(error) => Some(error),
        };
        let found = program.try_get_matches_from_mut(arguments).and_then(|found| {
            let cli = Cli::from_arg_matches(&found)?;
            pager::choose(cli.options.paging, program, &found);
            Ok(cli)
        });
        (found, wrong)
    };
    let mut program = words::only(given, Cli::command);
    let (mut found, wrong_defaults) = parsed(&mut program, given);
    let is_text = |error: &clap::Error| !error.use_stderr();
    let wrong_defaults = wrong_defaults.filter(|_| !found.as_ref().is_err_and(is_text));
    // A word in a wrong place may be a value that cannot be read.
    let is_read = found.as_ref().err().is_none_or(|error| error.kind() == clap::error::ErrorKind::ValueValidation);
    let wrong_order = || words::misplaced(&program, given).filter(|_| is_read);
    if let Some(error) = wrong_defaults.or_else(wrong_order) {
        let talk = Talk::without_options();
        talk.stderr(talk.error(&error).as_bytes());
        std::process::exit(2);
    }
    if found.as_ref().is_err_and(|error| error.kind() != clap::error::ErrorKind::DisplayVersion) {
        // Help and errors are about all commands.
        let mut program = help::grouped(topics::list);
        // Messages have words of the command line, which may be the names of files: what they could tell a terminal is
        // escaped.
        let safe = |word: &OsString| word.to_str().map_or(word.clone(), |word| for_terminal(word.as_bytes()).into());
        let escaped: Vec<OsString> = given.iter().map(safe).collect();
        found = parsed(&mut program, &escaped).0.and_then(|_| parsed(&mut program, given).0).map_err(|mut error| {
            words::suggest(&mut error, &program, given);
            error.format(&mut program)
        });
    }
    let found = found.unwrap_or_else(|error| exit_with(&error));
    (Context::new(found.options), found.command.0)
}

/// Prints help, the version or an error, and ends the program. Whoever closes a pipe has read enough.
fn exit_with(error: &clap::Error) -> ! {
    let printed = error.print().and_then(|()| std::io::stdout().flush());
    match printed.err().filter(|failed| failed.kind() != std::io::ErrorKind::BrokenPipe) {
        Some(failed) if !error.use_stderr() => {
            let talk = Talk::without_options();
            talk.stderr(talk.error(&anyhow::Error::new(failed).context("cannot write to stdout")).as_bytes());
            std::process::exit(2)
        }
        _ => std::process::exit(error.exit_code()),
    }
}

fn run(cx: &Context, command: &Command) -> Code {
    watch::looked_after(command.run(cx)).unwrap_or_else(|error| {
        cx.talk.stderr(cx.talk.error(&error).as_bytes());
        Code::Failed
    })
}
