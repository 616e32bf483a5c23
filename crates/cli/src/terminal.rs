//! Other programs that a person uses on the terminal: the editor and the pager.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether another program has the terminal.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// Whether another program has the terminal: then nothing is drawn there.
pub(crate) fn is_taken() -> bool {
    IS_TAKEN.load(Ordering::SeqCst)
}

/// Runs a program that has the terminal for this time.
pub(crate) fn lent<T>(work: impl FnOnce() -> T) -> T {
    IS_TAKEN.store(true, Ordering::SeqCst);
    let done = work();
    IS_TAKEN.store(false, Ordering::SeqCst);
    done
}

/// A program that a person has named, for a file. A shell splits the program and its arguments, as git does it.
#[cfg(unix)]
pub(crate) fn command(named: &OsStr, file: Option<&Path>) -> Command {
    let mut script = named.to_owned();
    script.push(" \"$@\"");
    let mut command = Command::new("sh");
    command.arg("-c").arg(script).arg(named).args(file);
    command
}

/// A program that a person has named, for a file. The program is the first word, or what is in the first quotes.
#[cfg(not(unix))]
pub(crate) fn command(named: &OsStr, file: Option<&Path>) -> Command {
    let text = named.to_string_lossy();
    let (program, rest) = match text.strip_prefix('"').and_then(|text| text.split_once('"')) {
        Some((program, rest)) => (program, rest),
        None => text.split_once(' ').unwrap_or((&text, "")),
    };
    let mut command = Command::new(program);
    command.args(rest.split_whitespace()).args(file);
    command
}

/// The value of the first of these variables that is set.
pub(crate) fn named(variables: &[&str]) -> Option<OsString> {
    variables.iter().find_map(std::env::var_os)
}
