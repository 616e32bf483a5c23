//! What the program says: data to stdout, talk to stderr, and the exit status.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Error, Result};
use bspkit::{ErrorKind, Hint};

use super::options::{Color, Options};
use super::show::shown;

/// What shells say of a program that Ctrl-C ended.
pub(crate) const STOPPED: u8 = 130;

/// Moves to the start of the line and clears it: what is written to stderr then replaces the progress bar.
pub(crate) const CLEAR: &str = "\r\x1b[K";

/// The exit status; of several maps the worst counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Code {
    Done,
    /// A law failed, or nothing matched.
    Found,
    Failed,
    /// A signal ended the run before all was done.
    Stopped,
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        ExitCode::from(match code {
            Code::Done => 0,
            Code::Found => 1,
            Code::Failed => 2,
            Code::Stopped => STOPPED,
        })
    }
}

/// How to talk: quiet or not, in colours or not.
pub(crate) struct Talk {
    pub(crate) quiet: bool,
    pub(crate) verbose: bool,
    color_out: bool,
    color_err: bool,
}

impl Talk {
    pub(crate) fn new(options: &Options) -> Self {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let color = |is_terminal: bool| match options.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => is_terminal && !no_color,
        };
        Talk {
            quiet: options.quiet,
            verbose: options.verbose,
            color_out: color(io::stdout().is_terminal()),
            color_err: color(io::stderr().is_terminal()),
        }
    }

    /// One that is used by tests.
    #[cfg(test)]
    pub(crate) fn silent() -> Self {
        Talk { quiet: true, verbose: false, color_out: false, color_err: false }
    }

    /// An error as people read it: what failed, why, and what to do.
    pub(crate) fn error(&self, error: &Error) -> String {
        let mut text = format!("{} {error}\n", paint(self.color_err, RED, "error:"));
        for cause in error.chain().skip(1) {
            // Writing into a string cannot fail.
            let _ = writeln!(text, "  caused by: {cause}");
        }
        for hint in hints(error) {
            let _ = writeln!(text, "  hint: {}", hint.replace('\n', "\n        "));
        }
        text
    }

    /// A word of data that says how it went.
    pub(crate) fn verdict(&self, good: bool, word: &str) -> String {
        paint(self.color_out, if good { GREEN } else { RED }, word)
    }

    /// Writes talk; that nobody listens is no failure.
    pub(crate) fn stderr(&self, text: &[u8]) {
        let _ = io::stderr().write_all(text);
    }

    /// Writes data and says whether anybody reads on: a closed pipe is no failure.
    pub(crate) fn stdout(&self, data: &[u8]) -> Result<bool> {
        let mut stdout = io::stdout().lock();
        match stdout.write_all(data).and_then(|()| stdout.flush()) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
            Err(error) => Err(error).context("cannot write to stdout"),
        }
    }
}

/// What is said beside an error and its causes.
pub(crate) fn hints(error: &Error) -> impl Iterator<Item = String> {
    error.chain().filter_map(|cause| cause.downcast_ref::<bspkit::Error>()?.hint().map(worded))
}

/// A hint of the library in terms of the program's options.
fn worded(hint: &Hint) -> String {
    match hint {
        Hint::Dialect(names) => format!("say which with --dialect: {}", names.join(" or ")),
        Hint::Force => "use --force to save it anyway".to_owned(),
        Hint::OrForce(text) => format!("{text}, or use --force"),
        Hint::Keep => "use --layout keep".to_owned(),
        Hint::Append => "use --layout append".to_owned(),
        Hint::Repack => "use --layout repack".to_owned(),
        Hint::Resize => "--resize loads it anyway; what refers to records by number does not follow".to_owned(),
        hint => hint.to_string(),
    }
}

const RED: &str = "1;31";
const GREEN: &str = "32";
const YELLOW: &str = "1;33";

fn paint(on: bool, color: &str, word: &str) -> String {
    if on { format!("\x1b[{color}m{word}\x1b[0m") } else { word.to_owned() }
}

/// What a command has to say about one map; written when all of it is known, so that maps do not mix.
pub(crate) struct Job<'t> {
    pub(crate) talk: &'t Talk,
    /// The map's path, as it is shown.
    pub(crate) path: String,
    pub(crate) file: &'t Path,
    /// Whether reports are JSON, and whether the map is one of several.
    pub(crate) json: bool,
    pub(crate) many: bool,
    /// For stdout.
    pub(crate) out: Vec<u8>,
    /// For stderr.
    pub(crate) err: Vec<u8>,
    pub(crate) code: Code,
    /// What kind of failure the first one was.
    pub(crate) failure: Option<&'static str>,
    /// Writes data of which there is much; says whether anybody reads on.
    stream: &'t (dyn Fn(&[u8]) -> Result<bool> + 't),
    /// Whether data was written before the map was done.
    has_written: bool,
}

/// How much data of one map waits for the data of those before it.
const MOST_WAITING: usize = 1 << 20;

impl<'t> Job<'t> {
    pub(crate) fn new(talk: &'t Talk, file: &'t Path, stream: &'t (dyn Fn(&[u8]) -> Result<bool> + 't)) -> Self {
        let (out, err) = (Vec::new(), Vec::new());
        let (path, code, failure) = (shown(file), Code::Done, None);
        Job { talk, path, file, json: false, many: false, out, err, code, failure, stream, has_written: false }
    }

    /// Adds data of any size, of which little is kept in memory; says whether anybody reads on.
    pub(crate) fn write(&mut self, data: &[u8]) -> Result<bool> {
        if self.out.len() + data.len() < MOST_WAITING {
            self.out.extend_from_slice(data);
            return Ok(true);
        }
        self.has_written = true;
        let out = std::mem::take(&mut self.out);
        Ok((self.stream)(&out)? && (self.stream)(data)?)
    }

    /// Whether there was no data.
    pub(crate) fn is_silent(&self) -> bool {
        self.out.is_empty() && !self.has_written
    }

    /// Adds a line of data.
    pub(crate) fn line(&mut self, text: impl AsRef<[u8]>) {
        self.out.extend_from_slice(text.as_ref());
        self.out.push(b'\n');
    }

    /// Says what was done, unless the user wants to hear nothing.
    pub(crate) fn say(&mut self, text: &str) {
        if !self.talk.quiet {
            self.err.extend_from_slice(format!("{text}\n").as_bytes());
        }
    }

    /// Warns; that never changes the exit status.
    pub(crate) fn warn(&mut self, text: &str) {
        let word = paint(self.talk.color_err, YELLOW, "warning:");
        self.err.extend_from_slice(format!("{word} {text}\n").as_bytes());
    }

    /// Warns of something in the map itself.
    pub(crate) fn warn_here(&mut self, text: &str) {
        self.warn(&format!("{}: {text}", self.path));
    }

    /// Says that nothing was found; the exit status says so too.
    pub(crate) fn nothing(&mut self, text: &str) -> Code {
        self.say(&format!("{text} in {}", self.path));
        Code::Found
    }

    /// Says what failed.
    pub(crate) fn fail(&mut self, error: &Error) {
        self.err.extend_from_slice(self.talk.error(error).as_bytes());
        self.code = Code::Failed;
        self.failure.get_or_insert(kind(error));
    }
}

/// Why something failed, in the words of the table.
fn kind(error: &Error) -> &'static str {
    let own = error.chain().find_map(|cause| cause.downcast_ref::<bspkit::Error>());
    match own.map(bspkit::Error::kind) {
        Some(ErrorKind::Io) => "cannot be read or written",
        Some(ErrorKind::NotABsp) => "no map",
        Some(ErrorKind::Unsupported) => "not supported",
        Some(ErrorKind::Ambiguous) => "of more than one dialect",
        Some(ErrorKind::Malformed) => "contradicts itself",
        Some(ErrorKind::NotFound) => "what was asked for is not in it",
        Some(ErrorKind::Argument) => "not to be done with these arguments",
        Some(ErrorKind::Refused) => "refused",
        Some(ErrorKind::Damaged) => "damaged, needs --force",
        Some(ErrorKind::TooLarge) => "too large",
        Some(_) => "for another reason",
        None if error.chain().any(|cause| cause.is::<std::io::Error>()) => "cannot be read or written",
        None => "for another reason",
    }
}
