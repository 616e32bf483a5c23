//! Finds the maps among the arguments of a command line.
//!
//! A MAP is the first word after the name of the command, and each word directly after it that ends in `.bsp`. If the
//! command takes a fixed number of other words, these are the last ones, and all words before them are maps, as with
//! `cp`. With a `--` after them, folders before it are maps too. So every command accepts a shell's
//! `*.bsp`, and the meaning of the arguments does not depend on which files exist. A MAP with wildcards, which some
//! shells do not expand, is replaced by the files that match.
//!
//! The argument parser knows one MAP. All maps are joined to one argument before it runs, which it splits again.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::{Arg, ArgAction, Command};

use super::wild::expand;

/// Separates joined maps. No argument of a program can contain it.
pub(crate) const SEPARATOR: char = '\0';

/// Joins the maps to one argument.
pub(crate) fn split(program: &Command, mut arguments: Vec<OsString>) -> Vec<OsString> {
    let (command, words) = words(program, &arguments);
    let is_map = |arg: &&Arg| arg.get_value_delimiter().is_some();
    // Operands may be before the maps, and after a `--`, as with `run SCRIPT MAP -- ARGS`.
    let Some(before) = command.get_positionals().position(|arg| is_map(&arg)) else { return arguments };
    let is_after = command.get_positionals().any(Arg::is_last_set);
    let end = arguments.iter().position(|argument| is_after && argument == "--").unwrap_or(arguments.len());
    let words: Vec<usize> = words.into_iter().filter(|at| *at < end).skip(before).collect();
    let operands = command.get_positionals().skip(before).filter(|arg| !is_map(arg) && !arg.is_last_set());
    let operands: Vec<&Arg> = operands.collect();
    if words.is_empty() {
        return arguments;
    }
    let is_file =
        |at: &&usize| Path::new(&arguments[**at]).extension().is_some_and(|it| it.eq_ignore_ascii_case("bsp"));
    let is_pair = |at: &&usize| arguments[**at].as_encoded_bytes().contains(&b'=');
    let leading = 1 + words[1..].iter().take_while(|at| is_file(at) && !is_pair(at)).count();
    let most = operands.iter().map(|arg| most_values(arg)).sum::<Option<usize>>();
    let dashes = arguments.iter().position(|argument| argument == "--").filter(|_| !is_after && !operands.is_empty());
    let before_dashes = dashes.map(|dashes| words.iter().filter(|at| **at < dashes).count());
    // Words that protect an operand, as in `ent get MAP SEL -- -KEY`, are not folders.
    let is_map = |at: &usize| is_file(&at) || Path::new(&arguments[*at]).is_dir();
    let maps = match before_dashes.filter(|before| *before > 0 && words[..*before].iter().all(is_map)) {
        Some(before) => before,
        None => most.map_or(leading, |most| leading.max(words.len().saturating_sub(most))),
    };
    let joined = words[..maps].iter().flat_map(|at| expand(&arguments[*at]));
    let joined = joined.collect::<Vec<_>>().join(OsStr::new(&SEPARATOR.to_string()));
    // From the last to the first: the positions of those before stay valid.
    for at in words[1..maps].iter().rev() {
        arguments.remove(*at);
    }
    arguments[words[0]] = joined;
    arguments
}

/// The largest number of values of an operand; `None` if there is no limit.
fn most_values(arg: &Arg) -> Option<usize> {
    let values = arg.get_num_args().map_or(1, |values| values.max_values());
    (values < usize::MAX && !matches!(arg.get_action(), ArgAction::Append)).then_some(values)
}

/// The command that is called.
pub(crate) fn command<'c>(program: &'c Command, arguments: &[OsString]) -> &'c Command {
    words(program, arguments).0
}

/// The command that is called, and the positions of its words. A word is an argument that is not an option, not a
/// value of an option and not the name of a command.
fn words<'c>(program: &'c Command, arguments: &[OsString]) -> (&'c Command, Vec<usize>) {
    let (mut command, mut words, mut at) = (program, Vec::new(), 1);
    while let Some(argument) = arguments.get(at) {
        let bytes = argument.as_encoded_bytes();
        let after = match bytes {
            b"--" => {
                words.extend(at + 1..arguments.len());
                break;
            }
            b"-" => None,
            [b'-', b'-', name @ ..] => Some(values_after_long(program, command, name)),
            [b'-', letters @ ..] => Some(values_after_short(program, command, letters)),
            _ => None,
        };
        let inner = argument.to_str().and_then(|name| command.find_subcommand(name)).filter(|_| words.is_empty());
        match (after, inner) {
            (Some(values), _) => at += values,
            (None, Some(inner)) => command = inner,
            (None, None) => words.push(at),
        }
        at += 1;
    }
    (command, words)
}

fn find<'c>(program: &'c Command, command: &'c Command, is: impl Fn(&Arg) -> bool) -> Option<&'c Arg> {
    command.get_arguments().chain(program.get_arguments()).find(|arg| is(arg))
}

/// The number of following arguments that are values of `--name`.
fn values_after_long(program: &Command, command: &Command, name: &[u8]) -> usize {
    let Ok(name) = std::str::from_utf8(name) else { return 0 };
    find(program, command, |arg| arg.get_long() == Some(name)).map_or(0, own_values)
}

/// The number of following arguments that are values of the last of several letters, as of `-j` in `-qj`.
fn values_after_short(program: &Command, command: &Command, letters: &[u8]) -> usize {
    let text = String::from_utf8_lossy(letters);
    for (at, letter) in text.char_indices() {
        let values = find(program, command, |arg| arg.get_short() == Some(letter)).map_or(0, own_values);
        if values > 0 {
            // The rest of the argument is the value.
            return if at + letter.len_utf8() < text.len() { values - 1 } else { values };
        }
    }
    0
}

/// The number of arguments after an option that are its values.
fn own_values(arg: &Arg) -> usize {
    match arg.get_action() {
        ArgAction::Set | ArgAction::Append if !arg.is_require_equals_set() => {
            arg.get_num_args().map_or(1, |values| values.min_values())
        }
        _ => 0,
    }
}
