//! The pager: what a command lists on a terminal is read with `less`, page by page.

use std::io::{self, IsTerminal, Write, stderr, stdin, stdout};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use clap::{ArgMatches, ValueEnum};

use super::terminal;

/// When a pager is used.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Paging {
    Auto,
    Always,
    Never,
}

/// The input of the pager.
enum Input {
    /// The output is not for a pager.
    None,
    /// The pager starts with the first output.
    Wanted,
    Open(ChildStdin),
    /// The user has left the pager.
    Closed,
}

static INPUT: Mutex<Input> = Mutex::new(Input::None);
static CHILD: Mutex<Option<Child>> = Mutex::new(None);

/// The variables that name the pager; the first one that is set holds.
const VARIABLES: [&str; 2] = ["BSPKIT_PAGER", "PAGER"];

/// The pager without them.
const DEFAULT: &str = if cfg!(unix) { "less" } else { "" };

/// Commands that go through many maps: their progress is shown.
const BATCH: [&str; 2] = ["ci", "verify"];

/// From now on the output goes to the pager, if the command only reads: one that writes a map has `--output`.
pub(crate) fn choose(paging: Paging, program: &clap::Command, found: &ArgMatches) {
    let is_wanted = match paging {
        Paging::Always => true,
        Paging::Never => false,
        Paging::Auto => {
            let is_batch = found.subcommand_name().is_some_and(|name| BATCH.contains(&name));
            // A terminal that cannot move its cursor shows no pages.
            let is_dumb = terminal::named(&["TERM"]).is_some_and(|name| name == "dumb");
            let is_screen = stdin().is_terminal() && stdout().is_terminal() && !is_dumb;
            is_screen && !is_batch && only_reads(program, found)
        }
    };
    if is_wanted {
        *input() = Input::Wanted;
    }
}

/// Whether a command, with those in it that are named, has no output but stdout.
fn only_reads(program: &clap::Command, found: &ArgMatches) -> bool {
    let writes = program.get_arguments().any(|arg| arg.get_long() == Some("output"));
    let inner = found.subcommand().and_then(|(name, found)| Some((program.find_subcommand(name)?, found)));
    !writes && inner.is_none_or(|(command, found)| only_reads(command, found))
}

fn input() -> MutexGuard<'static, Input> {
    INPUT.lock().unwrap_or_else(PoisonError::into_inner)
}

fn child() -> MutexGuard<'static, Option<Child>> {
    CHILD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the pager is on the terminal.
pub(crate) fn is_open() -> bool {
    matches!(*input(), Input::Open(_) | Input::Closed)
}

/// Writes output to the pager, which it starts. `None` if there is no pager.
pub(crate) fn write(data: &[u8]) -> Option<io::Result<()>> {
    let mut input = input();
    if matches!(*input, Input::Wanted) && !data.is_empty() {
        *input = start().map_or(Input::None, Input::Open);
    }
    send(&mut input, data)
}

/// Writes a message to the pager if it is on the screen, where it would be lost in the text.
pub(crate) fn message(data: &[u8]) -> bool {
    stderr().is_terminal() && matches!(send(&mut input(), data), Some(Ok(())))
}

fn send(input: &mut Input, data: &[u8]) -> Option<io::Result<()>> {
    let sent = match input {
        Input::None | Input::Wanted => return None,
        Input::Open(pipe) => pipe.write_all(data),
        Input::Closed => Err(io::ErrorKind::BrokenPipe.into()),
    };
    if sent.is_err() {
        *input = Input::Closed;
    }
    Some(sent)
}

/// Starts the pager. `None` if it is `cat`, or none.
fn start() -> Option<ChildStdin> {
    let mut named = terminal::named(&VARIABLES).unwrap_or_else(|| DEFAULT.into());
    if named.is_empty() || named == "cat" {
        return None;
    }
    // Where there is no such program, the text comes as it is.
    if cfg!(unix) {
        named.push(" || [ $? != 127 ] || cat");
    }
    let mut command = terminal::command(&named, None);
    // Leave at the end of a single page; show colors; leave the text on the screen.
    if terminal::named(&["LESS"]).is_none() {
        command.env("LESS", "FRX");
    }
    let mut started = command.stdin(Stdio::piped()).spawn().ok()?;
    let pipe = started.stdin.take();
    *child() = Some(started);
    pipe
}

/// Waits until the user leaves the pager. Without it this does nothing.
pub(crate) fn end() {
    *input() = Input::Closed;
    wait();
}

/// As [`end`], at a signal: whatever is being written to the pager is still written.
pub(crate) fn wait() {
    if let Some(child) = child().as_mut() {
        let _ = child.wait();
    }
}
