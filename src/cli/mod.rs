//! The `bspkit` program, written against the library's public face: arguments in, data on stdout, talk on stderr.

mod build;
mod cat;
mod check;
mod checksum;
mod completions;
mod compress;
mod dump;
mod ent;
mod get;
mod image;
mod info;
mod input;
mod light;
mod lmp;
mod load;
mod ls;
mod man;
mod maps;
mod options;
mod pairs;
mod pak;
mod put;
mod records;
mod save;
mod set;
mod show;
mod stop;
mod talk;
mod tex;
mod verify;
mod vis;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use options::Options;
use talk::{Code, Talk};

/// The text below the options of every command's help: worked examples, then the exit status.
macro_rules! help {
    ($examples:literal) => {
        concat!(
            "Examples:\n",
            $examples,
            "\n\nExit status:\n",
            "  0  done\n",
            "  1  something was found: a law that fails, a map of several that cannot be done; or nothing\n",
            "     matched, and nothing was written\n",
            "  2  failed: bad arguments, an unreadable file, a refused edit, a full disk\n",
            "  130  stopped by Ctrl-C, SIGTERM or a closed terminal; files are whole"
        )
    };
}
pub(crate) use help;

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

#[derive(Subcommand)]
enum Command {
    Info(info::Args),
    Ls(ls::Args),
    Cat(cat::Args),
    Verify(verify::Args),
    Check(check::Args),
    Checksum(checksum::Args),
    Ent(ent::Args),
    Dump(dump::Args),
    Load(load::Args),
    Get(get::Args),
    Set(set::Args),
    Build(build::Args),
    Compress(compress::CompressArgs),
    Decompress(compress::DecompressArgs),
    Light(light::Args),
    Lmp(lmp::Args),
    Pak(pak::Args),
    Tex(tex::Args),
    Vis(vis::Args),
    Completions(completions::Args),
    Man(man::Args),
}

pub(crate) fn main() -> ExitCode {
    let Cli { options, command } = Cli::parse();
    let talk = Talk::new(&options);
    stop::listen(options.quiet);
    let result = run(&options, &talk, &command);
    let code = result.unwrap_or_else(|error| {
        talk.stderr(talk.error(&error).as_bytes());
        Code::Failed
    });
    code.into()
}

fn run(options: &Options, talk: &Talk, command: &Command) -> Result<Code> {
    match command {
        Command::Info(args) => info::run(options, talk, args),
        Command::Ls(args) => ls::run(options, talk, args),
        Command::Cat(args) => cat::run(options, talk, args),
        Command::Verify(args) => verify::run(options, talk, args),
        Command::Check(args) => check::run(options, talk, args),
        Command::Checksum(args) => checksum::run(options, talk, args),
        Command::Ent(args) => ent::run(options, talk, args),
        Command::Dump(args) => dump::run(options, talk, args),
        Command::Load(args) => load::run(options, talk, args),
        Command::Get(args) => get::run(options, talk, args),
        Command::Set(args) => set::run(options, talk, args),
        Command::Build(args) => build::run(talk, args),
        Command::Compress(args) => compress::compress(options, talk, args),
        Command::Decompress(args) => compress::decompress(options, talk, args),
        Command::Light(args) => light::run(options, talk, args),
        Command::Lmp(args) => lmp::run(options, talk, args),
        Command::Pak(args) => pak::run(options, talk, args),
        Command::Tex(args) => tex::run(options, talk, args),
        Command::Vis(args) => vis::run(options, talk, args),
        Command::Completions(args) => completions::run(talk, args),
        Command::Man(args) => man::run(talk, args),
    }
}
