//! `completions`: the completion script of a shell.

use std::fmt::Write as _;

use anyhow::Result;
use bspkit::dialect::{ALL, Role};
use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, CommandFactory};
use clap_complete::Shell;

use super::context::Context;
use super::talk::Code;
use super::{Cli, help};

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
        "NAME" if arg.get_long() == Some("game") => {
            ALL.iter().flat_map(|dialect| dialect.games).map(|game| game.name).collect()
        }
        _ => return None,
    };
    let mut seen = std::collections::HashSet::new();
    values.retain(|value| !value.is_empty() && seen.insert(value.to_ascii_lowercase()));
    Some(values)
}
