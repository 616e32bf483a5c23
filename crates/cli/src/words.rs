//! The words of a command line: which ones are maps, wildcards that the shell did not expand, the commands that it
//! names, and known names that are close to an unknown one.

use std::cell::RefCell;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Component, Path, PathBuf};

use bspkit::content::pattern::Pattern;

use bspkit::near;
use bspkit_game::Archive;
use bspkit_packed::Form;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};

use super::context::is_stdin;
use super::talk::{bad_argument, shown};

// Finds the maps among the arguments of a command line.
//
// A MAP is the first word after the name of the command, and each word directly after it that ends in `.bsp`. If the
// command takes a fixed number of other words, these are the last ones, and all words before them are maps, as with
// `cp`. With a `--` after them, folders before it are maps too. So every command accepts a shell's
// `*.bsp`, and the meaning of the arguments does not depend on which files exist. A MAP with wildcards, which some
// shells do not expand, is replaced by the files that match.
//
// The argument parser knows one MAP. All maps are joined to one argument before it runs, which it splits again.

/// Separates joined maps. No argument of a program can contain it.
pub(crate) const SEPARATOR: char = '\0';

/// What is before a `-` that is the first of several maps: a noncharacter of Unicode.
const STDIN_FIRST: &str = "\u{fdd0}";

/// A map of those that were joined.
pub(crate) fn map_path(word: OsString) -> PathBuf {
    if word.to_str().is_some_and(|word| word.strip_prefix(STDIN_FIRST) == Some("-")) { "-".into() } else { word.into() }
}

/// Joins the maps to one argument, and gives them. Of a command that takes no maps, these are the words that name a
/// file or a folder.
pub(crate) fn split(program: &Command, mut arguments: Vec<OsString>) -> (Vec<OsString>, Vec<PathBuf>) {
    let (command, words) = words(program, &arguments);
    let is_map = |arg: &&Arg| arg.get_value_delimiter().is_some();
    // Operands may be before the maps, and after a `--`, as with `run SCRIPT MAP -- ARGS`.
    let Some(before) = command.get_positionals().position(|arg| is_map(&arg)) else {
        // It shows what holds for each path, and these may differ.
        if command.get_name() == "config" {
            return (arguments, Vec::new());
        }
        let named = words.iter().map(|at| PathBuf::from(&arguments[*at])).filter(|path| path.exists()).collect();
        return (arguments, named);
    };
    let is_after = command.get_positionals().any(Arg::is_last_set);
    let end = arguments.iter().position(|argument| is_after && argument == "--").unwrap_or(arguments.len());
    let words: Vec<usize> = words.into_iter().filter(|at| *at < end).skip(before).collect();
    let operands = command.get_positionals().skip(before).filter(|arg| !is_map(arg) && !arg.is_last_set());
    let operands: Vec<&Arg> = operands.collect();
    if words.is_empty() {
        return (arguments, Vec::new());
    }
    let is_file = |at: &&usize| is_map_name(Path::new(&arguments[**at]));
    let is_pair = |at: &&usize| arguments[**at].as_encoded_bytes().contains(&b'=');
    let leading = 1 + words[1..].iter().take_while(|at| is_file(at) && !is_pair(at)).count();
    let most = operands.iter().map(|arg| most_values(arg)).sum::<Option<usize>>();
    let dashes = arguments.iter().position(|argument| argument == "--").filter(|_| !is_after && !operands.is_empty());
    let before_dashes = dashes.map(|dashes| words.iter().filter(|at| **at < dashes).count());
    // Words that protect an operand, as in `ent get MAP SEL -- -KEY`, are not folders.
    let is_map = |at: &usize| is_file(&at) || arguments[*at] == "-" || Path::new(&arguments[*at]).is_dir();
    let maps = match before_dashes.filter(|before| *before > 0 && words[..*before].iter().all(is_map)) {
        Some(before) => before,
        None => {
            let all = most.map_or(leading, |most| leading.max(words.len().saturating_sub(most)));
            // A word more than the command takes is no map, unless it names something.
            let is_named = |at: &usize| is_map(at) || is_wild(&arguments[*at]) || Path::new(&arguments[*at]).exists();
            if operands.is_empty() || words[leading..all].iter().all(is_named) { all } else { leading }
        }
    };
    let named: Vec<OsString> = words[..maps].iter().flat_map(|at| expand(&arguments[*at])).collect();
    let mut joined = named.join(OsStr::new(&SEPARATOR.to_string()));
    if named.len() > 1 && named[0] == "-" {
        // Otherwise it would look like an option.
        joined = [OsStr::new(STDIN_FIRST), &joined].join(OsStr::new(""));
    }
    // From the last to the first: the positions of those before stay valid.
    for at in words[1..maps].iter().rev() {
        arguments.remove(*at);
    }
    arguments[words[0]] = joined;
    (arguments, named.into_iter().map(PathBuf::from).collect())
}

/// Whether a name is that of a map, or of an archive of maps.
pub(crate) fn is_map_name(path: &Path) -> bool {
    let is_bsp = |path: &Path| path.extension().is_some_and(|it| it.eq_ignore_ascii_case("bsp"));
    let is_packed = || Form::of(path).is_some() && path.file_stem().is_some_and(|stem| is_bsp(Path::new(stem)));
    is_bsp(path) || is_packed() || Archive::is_name(path)
}

/// The largest number of values of an operand; `None` if there is no limit.
fn most_values(arg: &Arg) -> Option<usize> {
    let values = arg.get_num_args().map_or(1, |values| values.max_values());
    (values < usize::MAX && !matches!(arg.get_action(), ArgAction::Append)).then_some(values)
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

// Wildcards in arguments that the shell did not expand: those of Windows do not expand any.

/// The files that an argument with wildcards names, sorted; the argument itself if nothing matches, or if a file has
/// this name. `*` is any run of characters in a name and `?` is one; case does not matter. A name that begins with a
/// dot is found only by a dot.
pub(crate) fn expand(argument: &OsStr) -> Vec<OsString> {
    let path = Path::new(argument);
    if !is_wild(argument) || fs::symlink_metadata(path).is_ok() {
        return vec![argument.to_owned()];
    }
    let mut found = vec![PathBuf::new()];
    for part in path.components() {
        found = match part {
            Component::Normal(name) if is_wild(name) => found.iter().flat_map(|folder| entries(folder, name)).collect(),
            part => found.into_iter().map(|path| path.join(part)).filter(|path| path.exists()).collect(),
        };
    }
    match found.is_empty() {
        true => vec![argument.to_owned()],
        false => found.into_iter().map(PathBuf::into_os_string).collect(),
    }
}

/// Whether an argument has wildcards and names no file.
pub(crate) fn matches_nothing(path: &Path) -> bool {
    is_wild(path.as_os_str()) && fs::symlink_metadata(path).is_err()
}

fn is_wild(text: &OsStr) -> bool {
    text.as_encoded_bytes().iter().any(|byte| matches!(byte, b'*' | b'?'))
}

/// The entries of a folder whose names match, sorted. A folder that cannot be read has none.
fn entries(folder: &Path, name: &OsStr) -> Vec<PathBuf> {
    let pattern = Pattern::whole(name.as_encoded_bytes());
    let is_hidden = |name: &OsStr| name.as_encoded_bytes().starts_with(b".");
    let place = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = fs::read_dir(place).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let mut names: Vec<OsString> = entries
        .filter(|entry| pattern.matches(entry.as_encoded_bytes()) && (is_hidden(name) || !is_hidden(entry)))
        .collect();
    names.sort();
    names.into_iter().map(|name| folder.join(name)).collect()
}

// The commands that a command line names, and their arguments. To build those of all commands takes longer than most of
// them work.

thread_local! {
    /// The words of the command line, while its commands are built; `None` if all are wanted.
    static WORDS: RefCell<Option<HashSet<OsString>>> = const { RefCell::new(None) };
}

/// Whether the command line may call the command of this name.
fn is_called(name: &str) -> bool {
    WORDS.with_borrow(|words| words.as_ref().is_none_or(|words| words.contains(OsStr::new(name))))
}

/// The arguments of a command, or the commands of a group. A command that is not called has only its name while its
/// group is built, and is then left out: it would get a copy of every option that all commands have.
pub(crate) struct Called<T>(pub(crate) T);

impl<T: FromArgMatches> FromArgMatches for Called<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(Called)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl<A: Args> Args for Called<A> {
    fn augment_args(command: Command) -> Command {
        if is_called(command.get_name()) { A::augment_args(command) } else { command }
    }

    fn augment_args_for_update(command: Command) -> Command {
        A::augment_args_for_update(command)
    }
}

impl<S: Subcommand> Subcommand for Called<S> {
    fn augment_subcommands(command: Command) -> Command {
        if WORDS.with_borrow(Option::is_none) {
            return S::augment_subcommands(command);
        }
        let all = S::augment_subcommands(Command::new("all"));
        command.subcommands(all.get_subcommands().filter(|one| is_called(one.get_name())).cloned())
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        S::augment_subcommands_for_update(command)
    }

    fn has_subcommand(name: &str) -> bool {
        S::has_subcommand(name)
    }
}

/// The program as this command line needs it: without the commands that no word of it names.
pub(crate) fn only(arguments: &[OsString], build: fn() -> Command) -> Command {
    WORDS.set(Some(arguments.iter().cloned().collect()));
    let program = build();
    WORDS.set(None);
    program
}

// Adds the known name that was probably meant to an error about an unknown command, option or value.

/// More valid values are listed only if none is close.
const MOST_LISTED: usize = 30;

/// Whether the option that names the target is what is missing, or a word is alone where only it could be meant.
fn lacks_target(error: &Error, command: &Command) -> bool {
    match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::MissingRequiredArgument, Some(ContextValue::Strings(missing))) => {
            missing.iter().any(|argument| argument.starts_with("--output"))
        }
        (ErrorKind::UnknownArgument, Some(ContextValue::String(word))) => {
            !word.starts_with('-') && command.get_positionals().next().is_none()
        }
        _ => false,
    }
}

/// Whether a word is missing, or one is too many.
fn is_about_words(error: &Error) -> bool {
    let is_word = |word: &ContextValue| matches!(word, ContextValue::String(word) if !word.starts_with('-'));
    match error.kind() {
        ErrorKind::MissingRequiredArgument => true,
        ErrorKind::UnknownArgument => error.get(ContextKind::InvalidArg).is_some_and(is_word),
        _ => false,
    }
}

/// The arguments with the maps before the other words, if these do not begin with one and have one later.
fn with_maps_first(command: &Command, given: &[OsString], words: &[usize]) -> Option<Vec<OsString>> {
    let first = command.get_positionals().next()?;
    let is_several = first.get_value_delimiter() == Some(SEPARATOR);
    if !is_several && first.get_value_names()?.first()? != "MAP" {
        return None;
    }
    let is_map = |at: &&usize| {
        let path = Path::new(&given[**at]);
        is_map_name(path) || is_several && path.is_dir()
    };
    let (maps, others): (Vec<&usize>, Vec<&usize>) = words.iter().partition(is_map);
    if maps.is_empty() || words.first().is_none_or(|first| maps.contains(&first)) {
        return None;
    }
    let mut order = maps.into_iter().chain(others);
    let words = |at: usize| if words.contains(&at) { order.next().map(|at| &given[*at]) } else { Some(&given[at]) };
    Some((0..given.len()).filter_map(words).cloned().collect())
}

/// The line that calls the program with these arguments.
fn line(program: &Command, arguments: &[OsString]) -> String {
    let words = arguments.iter().skip(1).map(|word| for_shell(word));
    std::iter::once(program.get_name().to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// The error about a word in the place of the map, where there is no such file, if a map that is there follows.
pub(crate) fn misplaced(program: &Command, given: &[OsString]) -> Option<anyhow::Error> {
    let (command, words) = words(program, given);
    let first = Path::new(&given[*words.first()?]);
    if is_stdin(first) || is_map_name(first) || is_wild(first.as_os_str()) || fs::symlink_metadata(first).is_ok() {
        return None;
    }
    let is_there = |at: &usize| fs::symlink_metadata(&given[*at]).is_ok();
    let right = words.iter().skip(1).any(is_there).then(|| with_maps_first(command, given, &words))??;
    let message = format!("there is no map {}, and the maps come first", shown(first));
    Some(bad_argument(message, &line(program, &right)))
}

/// The arguments with their target after `-o`. The target is the first word after the maps, as in `MAP TARGET GLOB`.
fn with_target(command: &Command, given: &[OsString], words: &[usize]) -> Option<Vec<OsString>> {
    let target = command.get_arguments().find(|arg| arg.get_long() == Some("output"))?;
    let is_target = |at: &&usize| Path::new(&given[**at]).extension().is_none_or(|it| !it.eq_ignore_ascii_case("bsp"));
    let at = match command.get_positionals().count() {
        0 => words.first(),
        1 => words.iter().skip(1).next_back(),
        _ => words.iter().skip(1).find(is_target),
    };
    let mut right = Vec::new();
    for (index, word) in given.iter().enumerate() {
        if Some(&index) == at {
            right.push("-o".into());
        }
        right.push(word.clone());
    }
    if at.is_none() {
        let name = target.get_value_names().and_then(<[_]>::first).map_or("FILE", |name| name.as_str());
        right.extend(["-o".into(), name.into()]);
    }
    Some(right)
}

/// A word as a shell of Unix takes it.
pub(crate) fn for_shell(word: &OsStr) -> String {
    let text = shown(Path::new(word));
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./=:,+@%#".contains(letter);
    match !text.is_empty() && !text.starts_with('#') && text.chars().all(is_plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// Adds close names to an error in these arguments, or the right form where the target is missing.
pub(crate) fn suggest(error: &mut Error, program: &Command, given: &[OsString]) {
    let (command, words) = words(program, given);
    if let Some(right) = with_maps_first(command, given, &words).filter(|_| is_about_words(error)) {
        let whole = if lacks_target(error, command) { with_target(command, &right, &words) } else { None };
        let tip = format!("the maps come first: {}", line(program, &whole.unwrap_or(right)));
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
        return;
    }
    if let Some(word) = words.last().map(|at| Path::new(&given[*at])).filter(|word| is_map_name(word) && !word.exists())
        && error.kind() == ErrorKind::MissingRequiredArgument
    {
        let tip = format!(
            "{} counts as a map, as it ends like one: leave out its extension, or put `--` before it",
            shown(word)
        );
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
        return;
    }
    if lacks_target(error, command) {
        if let Some(right) = with_target(command, given, &words) {
            let tip = format!("the target is named with -o: {}", line(program, &right));
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
        }
        return;
    }
    let (unknown, suggested) = match error.kind() {
        ErrorKind::InvalidSubcommand => (ContextKind::InvalidSubcommand, ContextKind::SuggestedSubcommand),
        ErrorKind::UnknownArgument => (ContextKind::InvalidArg, ContextKind::SuggestedArg),
        ErrorKind::InvalidValue => (ContextKind::InvalidValue, ContextKind::SuggestedValue),
        _ => return,
    };
    let Some(ContextValue::String(name)) = error.get(unknown) else { return };
    let known: Vec<String> = match (error.kind(), error.get(ContextKind::ValidValue)) {
        (ErrorKind::InvalidSubcommand, _) => command.get_subcommands().map(|it| it.get_name().to_owned()).collect(),
        (ErrorKind::InvalidValue, Some(ContextValue::Strings(values))) => values.clone(),
        _ => {
            let options = command.get_arguments().chain(program.get_arguments()).filter(|it| !it.is_hide_set());
            options.filter_map(|it| Some(format!("--{}", it.get_long()?))).collect()
        }
    };
    let (count, close) = (known.len(), near(name, known));
    if !close.is_empty() {
        if count > MOST_LISTED {
            error.remove(ContextKind::ValidValue);
        }
        error.insert(suggested, ContextValue::Strings(close));
    }
}
