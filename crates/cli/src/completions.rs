//! `completions` and `man`: completion scripts of shells and manual pages, made from the help texts.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use bspkit::dialect::{ALL, Role};
use bspkit::disk::put::{self, put};
use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;

use super::context::Context;
use super::output;
use super::talk::{Code, count, shown};
use super::{Cli, help};

// `completions`: the completion script of a shell.

/// Print the completion script of a shell
///
/// Save it where your shell looks for completions; the examples show the usual file names. In bash, zsh and fish it
/// also completes values: dialects, engines, codes, games, the lumps and roles of all dialects, common classes.
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit completions bash > bspkit.bash
  bspkit completions zsh > _bspkit
  bspkit completions fish > bspkit.fish
  bspkit completions powershell > bspkit.ps1"
))]
pub(crate) struct Args {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Classes that many games have.
const CLASSES: [&str; 24] = [
    "worldspawn",
    "ambient_generic",
    "env_sprite",
    "func_button",
    "func_detail",
    "func_door",
    "func_illusionary",
    "func_wall",
    "info_null",
    "info_player_deathmatch",
    "info_player_intermission",
    "info_player_start",
    "info_target",
    "info_teleport_destination",
    "light",
    "light_environment",
    "light_spot",
    "logic_auto",
    "logic_relay",
    "misc_teleporter_dest",
    "path_corner",
    "trigger_multiple",
    "trigger_once",
    "trigger_teleport",
];

/// After the function of clap, which knows nothing of positions: the words for the arguments after the maps.
const BASH: &str = r#"
_bspkit_after_maps() {
    _bspkit "$@"
    local words= depth=1
    case "${COMP_WORDS[1]} ${COMP_WORDS[2]}" in
CASES    esac
    if [[ "${COMP_WORDS[COMP_CWORD]}" != -* && ${COMP_CWORD} -gt $((depth + 1)) ]] ; then
        COMPREPLY+=( $(compgen -W "${words}" -- "${COMP_WORDS[COMP_CWORD]}") )
    fi
}
"#;

pub(crate) fn run(cx: &Context, args: &Args) -> Result<Code> {
    // In bash, words for a position would be offered in place of MAP too; fish gets none from clap.
    let is_positional_offered = !matches!(args.shell, Shell::Bash | Shell::Fish);
    let mut program = offering(Cli::command(), is_positional_offered);
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, "bspkit", &mut script);
    let mut script = String::from_utf8(script)?;
    let offers = offers(&Cli::command(), "");
    match args.shell {
        Shell::Bash => {
            let cases = offers.iter().fold(String::new(), |mut cases, (command, values)| {
                let (depth, any) = (command.split(' ').count(), if command.contains(' ') { "" } else { "\\ *" });
                let name = command.replace(' ', "\\ ");
                // Writing into a string cannot fail.
                let _ = writeln!(cases, "        {name}{any}) depth={depth} words='{}' ;;", values.join(" "));
                cases
            });
            let wrapper = BASH.replace("CASES", &cases);
            let at = script.find("\nif [[ \"${BASH_VERSINFO").unwrap_or(script.len());
            script.insert_str(at, &wrapper);
            script = script.replace("complete -F _bspkit ", "complete -F _bspkit_after_maps ");
        }
        Shell::Fish => {
            for (command, values) in &offers {
                let mut names = command.split(' ');
                let first = names.next().unwrap_or_default();
                let inner =
                    names.next().map_or(String::new(), |name| format!("; and __fish_seen_subcommand_from {name}"));
                let condition = format!("__fish_bspkit_using_subcommand {first}{inner}");
                let _ = writeln!(script, "complete -c bspkit -n \"{condition}\" -a \"{}\"", values.join(" "));
            }
        }
        _ => {}
    }
    cx.talk.stdout(script.as_bytes())?;
    Ok(Code::Done)
}

/// The command with the values that shells offer for its arguments. Arguments are not parsed by it.
fn offering(command: Command, is_positional_offered: bool) -> Command {
    let command = command.mut_args(|arg| match offered(&arg) {
        Some(values) if !arg.is_positional() || is_positional_offered => {
            arg.value_parser(PossibleValuesParser::new(values))
        }
        _ => arg,
    });
    command.mut_subcommands(|command| offering(command, is_positional_offered))
}

/// The words for positions, by command: `ent set`.
fn offers(command: &Command, path: &str) -> Vec<(String, Vec<&'static str>)> {
    let own = command.get_positionals().filter_map(offered).map(|values| (path.to_owned(), values));
    let inner =
        command.get_subcommands().flat_map(|inner| offers(inner, format!("{path} {}", inner.get_name()).trim()));
    own.chain(inner).collect()
}

/// What is offered for an argument, by the name of its value.
fn offered(arg: &Arg) -> Option<Vec<&'static str>> {
    let lumps = || ALL.iter().flat_map(|dialect| dialect.lumps).map(|lump| lump.name);
    let mut values: Vec<&str> = match arg.get_value_names()?.first()?.as_str() {
        "LUMP" | "LUMP|DIR" => Role::ALL.iter().map(|role| role.name()).chain(lumps()).collect(),
        "SEL" => CLASSES.to_vec(),
        "GAME" if arg.get_long() == Some("flag-names") => {
            ALL.iter().flat_map(|dialect| dialect.games).map(|game| game.name).collect()
        }
        _ => return None,
    };
    let mut seen = std::collections::HashSet::new();
    values.retain(|value| !value.is_empty() && seen.insert(value.to_ascii_lowercase()));
    Some(values)
}

// `man`: manual pages, made from the help texts.

/// Print the manual page of the program, or write one page per command to a folder
#[derive(clap::Args)]
#[command(after_help = help!(
    "  bspkit man > bspkit.1
  bspkit man -o man1"
))]
pub(crate) struct ManArgs {
    /// The folder to write to: one page for the program and one for each command
    #[arg(short, long, value_name = "DIR", value_parser = output::on_disk())]
    output: Option<PathBuf>,
    /// Replace existing files
    #[arg(long, requires = "output")]
    overwrite: bool,
}

pub(crate) fn run_man(cx: &Context, args: &ManArgs) -> Result<Code> {
    let mut program = help::program().disable_help_subcommand(true);
    // Gives the commands their full names and the common options.
    program.build();
    let Some(folder) = &args.output else {
        cx.talk.stdout(&page(program)?)?;
        return Ok(Code::Done);
    };
    let mut pages = Vec::new();
    pages_of(&program, &mut pages)?;
    put::folder(folder)?;
    for (name, page) in &pages {
        put(&folder.join(format!("{name}.1")), page, args.overwrite)?;
    }
    if !cx.talk.quiet {
        cx.talk.stderr(format!("{}: {}\n", shown(folder), count(pages.len(), "page", "pages")).as_bytes());
    }
    Ok(Code::Done)
}

/// The pages of a command and its subcommands, by name: `bspkit-ent-set`.
fn pages_of(command: &Command, pages: &mut Vec<(String, Vec<u8>)>) -> Result<()> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    pages.push((name.to_owned(), page(command.clone())?));
    command.get_subcommands().try_for_each(|command| pages_of(command, pages))
}

fn page(command: Command) -> Result<Vec<u8>> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let mut page = Vec::new();
    Man::new(command).render(&mut page).context("cannot make a manual page")?;
    // Without a date clap_mangen puts the name of the program in its place, and the title of a command has no version.
    let title = format!(".TH {name} 1 \"\" \"bspkit {}\"\n", env!("CARGO_PKG_VERSION"));
    let is_title = |line: &&[u8]| line.starts_with(b".TH ");
    let lines = page.split_inclusive(|byte| *byte == b'\n');
    Ok(lines.flat_map(|line| if is_title(&line) { title.as_bytes() } else { line }).copied().collect())
}
