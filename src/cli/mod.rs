//! The `bspkit` program. It uses only the public API of the library: it parses arguments, prints data to stdout and
//! messages to stderr.

mod called;
mod cat;
mod check;
mod checksum;
mod choose;
mod ci;
mod completions;
mod compress;
mod context;
mod cubemap;
mod decompress;
mod diff;
mod dump;
mod ent;
mod get;
mod git;
mod info;
mod light;
mod lmp;
mod load;
mod ls;
mod man;
mod maps;
mod model;
mod options;
mod order;
mod pack;
mod pairs;
mod pak;
mod prune;
mod records;
mod refs;
mod rename;
mod report;
mod res;
mod rule_files;
mod rules;
#[cfg(feature = "script")]
mod run;
mod save;
mod set;
mod show;
mod spare;
mod stop;
mod suggest;
mod talk;
mod tex;
mod unpack;
mod verbs;
mod verify;
mod vis;
mod watch;
mod wild;
mod words;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser};

use context::Context;
use options::Options;
use talk::{Code, Talk};
use verbs::{bspzip, ripent};

/// The text after the options in the help of every command: examples, then the exit status.
macro_rules! help {
    ($examples:literal) => {
        concat!(
            "Examples:\n",
            $examples,
            "\n\nExit status:\n",
            "  0  done\n",
            "  1  something was found: a check failed, maps differ, some of several maps failed, or\n",
            "     nothing matched and nothing was written\n",
            "  2  failed: bad arguments, an unreadable file, a refused edit, a full disk\n",
            "  130  stopped by Ctrl-C, SIGTERM or a closed terminal; no file is left half written"
        )
    };
}
pub(crate) use help;

/// The text of [`help!`] after a table with a heading.
pub(crate) fn with_table(heading: &str, table: &str, help: &str) -> String {
    format!("{heading}:\n{table}\n\n{help}")
}

/// The commands of a group: for each its name and its module, which has `Args` and `run`. (The modules are declared
/// outside the macro, so that `cargo fmt` finds them.)
macro_rules! commands {
    ($($(#[$only:meta])? $name:ident($module:ident),)*) => {
        #[derive(clap::Subcommand)]
        enum Command {
            $($(#[$only])? $name($crate::cli::called::Called<$module::Args>),)*
        }

        impl Command {
            fn run(&self, cx: &$crate::cli::context::Context) -> anyhow::Result<$crate::cli::talk::Code> {
                match self {
                    $($(#[$only])? Command::$name(args) => $module::run(cx, &args.0),)*
                }
            }
        }
    };
}
pub(crate) use commands;

/// Open any map of the BSP family, change exactly what you mean to change, and write it back with every other byte
/// as it was.
#[derive(Parser)]
#[command(name = "bspkit", bin_name = "bspkit", version, after_help = help!(
    "  bspkit info dm4.bsp
  bspkit ent set dm4.bsp worldspawn message=\"The Place\" -o out.bsp
  bspkit ent list dm4.bsp 'info_player_*'
  bspkit verify maps"
))]
struct Cli {
    #[command(flatten)]
    options: Options,
    #[command(subcommand)]
    command: Command,
}

commands! {
    Info(info),
    Ls(ls),
    Cat(cat),
    Verify(verify),
    Check(check),
    Ci(ci),
    Diff(diff),
    Git(git),
    Checksum(checksum),
    Ent(ent),
    Dump(dump),
    Load(load),
    Get(get),
    Set(set),
    Refs(refs),
    Records(order),
    Unpack(unpack),
    Pack(pack),
    Compress(compress),
    Decompress(decompress),
    Light(light),
    Lmp(lmp),
    Pak(pak),
    Rename(rename),
    Cubemap(cubemap),
    Model(model),
    Prune(prune),
    #[cfg(feature = "script")]
    Run(run),
    Rules(rules),
    Tex(tex),
    Vis(vis),
    Bspzip(bspzip),
    Ripent(ripent),
    Res(res),
    Completions(completions),
    Man(man),
}

pub(crate) fn main() -> ExitCode {
    let arguments = verbs::called(std::env::args_os().collect());
    let (cx, command) = parse(&arguments, words::split);
    stop::listen(cx.talk.quiet);
    run(&cx, &command).into()
}

/// Runs a command whose arguments are not split into maps: MAP is one word.
pub(crate) fn call(arguments: &[OsString]) -> Code {
    let (cx, command) = parse(arguments, |_, arguments| arguments);
    run(&cx, &command)
}

/// The command of these arguments, which are split into maps first. Wrong arguments end the program; the error names
/// the arguments as they were given.
fn parse(given: &[OsString], split: fn(&clap::Command, Vec<OsString>) -> Vec<OsString>) -> (Context, Command) {
    let parsed = |program: &mut clap::Command| {
        let arguments = split(program, given.to_vec());
        program.try_get_matches_from_mut(arguments).and_then(|found| Cli::from_arg_matches(&found))
    };
    let found = match parsed(&mut called::only(given, Cli::command)) {
        Err(error) if error.kind() == clap::error::ErrorKind::DisplayVersion => error.exit(),
        // Help and errors are about all commands.
        Err(_) => {
            let mut program = Cli::command();
            parsed(&mut program).unwrap_or_else(|mut error| {
                suggest::suggest(&mut error, &program, words::command(&program, given));
                error.format(&mut program).exit()
            })
        }
        Ok(found) => found,
    };
    (Context { talk: Talk::new(&found.options), options: found.options }, found.command)
}

fn run(cx: &Context, command: &Command) -> Code {
    watch::looked_after(command.run(cx)).unwrap_or_else(|error| {
        cx.talk.stderr(cx.talk.error(&error).as_bytes());
        Code::Failed
    })
}
