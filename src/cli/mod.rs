//! The `bspkit` program. It uses only the public API of the library: it parses arguments, prints data to stdout and
//! messages to stderr.

mod cat;
mod check;
mod checksum;
mod choose;
mod ci;
mod completions;
mod compress;
mod context;
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
mod options;
mod pack;
mod pairs;
mod pak;
mod put;
mod records;
mod report;
mod rule_files;
mod rules;
#[cfg(feature = "script")]
mod run;
mod save;
mod set;
mod show;
mod stop;
mod suggest;
mod talk;
mod tex;
mod unpack;
mod verify;
mod vis;
mod words;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser};

use context::Context;
use options::Options;
use talk::{Code, Talk};

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

/// The commands of a group: for each its name and its module, which has `Args` and `run`. (The modules are declared
/// outside the macro, so that `cargo fmt` finds them.)
macro_rules! commands {
    ($($(#[$only:meta])? $name:ident($module:ident),)*) => {
        #[derive(clap::Subcommand)]
        enum Command {
            $($(#[$only])? $name($module::Args),)*
        }

        impl Command {
            fn run(&self, cx: &$crate::cli::context::Context) -> anyhow::Result<$crate::cli::talk::Code> {
                match self {
                    $($(#[$only])? Command::$name(args) => $module::run(cx, args),)*
                }
            }
        }
    };
}
pub(crate) use commands;

/// Open any map of the BSP family, change exactly what you mean to change, and write it back with every other byte
/// as it was.
#[derive(Parser)]
#[command(name = "bspkit", version, after_help = help!(
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
    Unpack(unpack),
    Pack(pack),
    Compress(compress),
    Decompress(decompress),
    Light(light),
    Lmp(lmp),
    Pak(pak),
    #[cfg(feature = "script")]
    Run(run),
    Rules(rules),
    Tex(tex),
    Vis(vis),
    Completions(completions),
    Man(man),
}

pub(crate) fn main() -> ExitCode {
    let mut program = Cli::command();
    let arguments = words::split(&program, std::env::args_os().collect());
    let parsed = program.try_get_matches_from_mut(arguments).and_then(|found| Cli::from_arg_matches(&found));
    let Cli { options, command } = parsed.unwrap_or_else(|mut error| {
        let arguments: Vec<_> = std::env::args_os().collect();
        suggest::suggest(&mut error, &program, words::command(&program, &arguments));
        error.format(&mut program).exit()
    });
    let cx = Context { talk: Talk::new(&options), options };
    stop::listen(cx.talk.quiet);
    let code = command.run(&cx).unwrap_or_else(|error| {
        cx.talk.stderr(cx.talk.error(&error).as_bytes());
        Code::Failed
    });
    code.into()
}
