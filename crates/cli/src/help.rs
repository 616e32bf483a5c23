//! Help texts: the commands in groups by task, and what the help of every command ends with.

use clap::builder::Styles;
use clap::{Command, CommandFactory};

use super::Cli;

/// The text after the options in the help of every command: examples.
macro_rules! help {
    ($examples:literal) => {
        concat!("Examples:\n", $examples)
    };
}
pub(crate) use help;

/// The text of [`help!`] after a table with a heading.
pub(crate) fn with_table(heading: &str, table: &str, help: &str) -> String {
    format!("{heading}:\n{table}\n\n{help}")
}

pub(crate) const EXIT_STATUS: &str = "Exit status:
  0  done
  1  something was found: a check failed, maps differ, some of several maps failed, or
     nothing matched and nothing was written
  2  failed: bad arguments, an unreadable file, a refused edit, a full disk
  130  stopped by Ctrl-C, SIGTERM or a closed terminal; no file is left half written";

/// The commands by task.
const GROUPS: &[(&str, &[&str])] = &[
    ("Look", &["info", "ls", "cat", "diff", "check", "checksum", "export", "view", "decompile"]),
    ("Entities", &["ent", "rules", "run"]),
    (
        "Files",
        &["pak", "res", "unpack", "pack", "lmp", "compress", "decompress", "rename", "cubemap", "undo", "backups"],
    ),
    ("Textures, light, visibility", &["tex", "light", "vis"]),
    ("Structure", &["get", "set", "refs", "dump", "load", "records", "model", "prune"]),
    ("Many maps, git and CI", &["verify", "ci", "stats", "git"]),
    ("Other tools' words", &["bspzip", "ripent"]),
    ("This program", &["help", "config", "completions", "man"]),
];

/// How wide the help is.
const WIDTH: usize = 100;

/// The program with all its help.
pub(crate) fn program() -> Command {
    complete(Cli::command())
}

/// The program for its own help, which lists the commands by task, and then the topics.
pub(crate) fn grouped(topics: fn(&Styles) -> String) -> Command {
    let mut program = program();
    program.build();
    let (list, topics) = (list(&program), topics(program.get_styles()));
    let names: Vec<String> = program.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let hidden = names.into_iter().fold(program, |program, name| program.mut_subcommand(name, |own| own.hide(true)));
    // Where all commands are hidden, the usage does not name one.
    let hidden = hidden.override_usage("bspkit [OPTIONS] <COMMAND>");
    hidden.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}\n{topics}\n{{all-args}}{{after-help}}"
    ))
}

/// How many examples the short help of a command has.
const MOST_EXAMPLES: usize = 2;

/// Adds the exit status to the long help of a command and its subcommands; their short help has the first examples.
fn complete(command: Command) -> Command {
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let names: Vec<String> = command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let short: Vec<&str> = match examples.starts_with("Examples:") {
        true => examples.lines().take(1 + MOST_EXAMPLES).collect(),
        false => examples.lines().collect(),
    };
    let command = command.after_help(short.join("\n"));
    let command =
        command.after_long_help(format!("{examples}{}{EXIT_STATUS}", if examples.is_empty() { "" } else { "\n\n" }));
    names.into_iter().fold(command, |command, name| command.mut_subcommand(name, complete))
}

/// The commands in groups, each with the first sentence of its help.
fn list(program: &Command) -> String {
    let style = program.get_styles().get_header();
    let groups = GROUPS.iter().map(|(title, names)| {
        let commands =
            names.iter().filter_map(|name| Some((*name, program.find_subcommand(name)?.get_about()?.to_string())));
        let lines = commands.map(|(name, about)| format!("  {name:<11}  {}\n", wrapped(&about, 15)));
        format!("{}{title}:{}\n{}", style.render(), style.render_reset(), lines.collect::<String>())
    });
    groups.collect::<Vec<_>>().join("\n")
}

/// A text in lines; those after the first one begin with spaces.
pub(crate) fn wrapped(text: &str, indent: usize) -> String {
    let (mut lines, mut len) = (String::new(), indent);
    for word in text.split(' ') {
        if len + 1 + word.chars().count() > WIDTH {
            lines += "\n";
            lines += &" ".repeat(indent);
            len = indent;
        } else if len > indent {
            lines += " ";
            len += 1;
        }
        lines += word;
        len += word.chars().count();
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let mut program = Cli::command();
        program.build();
        let mut known: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
        let grouped = GROUPS.iter().flat_map(|(_, names)| names.iter().copied());
        let is_there = |name: &&str| match *name {
            "run" => cfg!(feature = "script"),
            "export" | "view" => cfg!(feature = "see"),
            _ => true,
        };
        let mut grouped: Vec<&str> = grouped.filter(is_there).collect();
        known.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(known, grouped);
    }
}
