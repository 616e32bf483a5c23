//! Arguments of the commands that a command line names. To build those of all commands takes longer than most of them
//! work.

use std::cell::RefCell;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};

use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

thread_local! {
    /// The words of the command line, while its commands are built; `None` if all are wanted.
    static WORDS: RefCell<Option<HashSet<OsString>>> = const { RefCell::new(None) };
}

/// The arguments of a command. A command that is not called has only its name.
pub(crate) struct Called<A>(pub(crate) A);

impl<A: Args> Args for Called<A> {
    fn augment_args(command: Command) -> Command {
        let name = command.get_name();
        let is_called = WORDS.with_borrow(|words| words.as_ref().is_none_or(|words| words.contains(OsStr::new(name))));
        if is_called { A::augment_args(command) } else { command }
    }

    fn augment_args_for_update(command: Command) -> Command {
        A::augment_args_for_update(command)
    }
}

impl<A: FromArgMatches> FromArgMatches for Called<A> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        A::from_arg_matches(matches).map(Called)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

/// The program as this command line needs it: commands that no word of it names have no arguments.
pub(crate) fn only(arguments: &[OsString], build: fn() -> Command) -> Command {
    WORDS.set(Some(arguments.iter().cloned().collect()));
    let program = build();
    WORDS.set(None);
    program
}
