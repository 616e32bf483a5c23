//! The output of the program: data on stdout, messages on stderr, the exit status, and the options of every command.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::io::{self, IsTerminal, Write};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::Path;
use std::process::ExitCode;
use std::str::FromStr;

use anyhow::{Context, Error, Result, bail};
use bspkit::bytes::for_terminal;
use bspkit::dialect::{self, Dialect};
pub(crate) use bspkit::disk::shown;
pub(crate) use bspkit::json::{Head, ValueJson, text_and_raw};
use bspkit::{ErrorKind, Hint, threads};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use serde::Serialize;

use super::pager::{self, Paging};

// The output of the program: data on stdout, messages on stderr, and the exit status.

/// The exit status that shells give a program ended by Ctrl-C.
pub(crate) const STOPPED: u8 = 130;

/// Moves to the start of the line and clears it, so that the next message replaces the progress bar.
pub(crate) const CLEAR: &str = "\r\x1b[K";

/// The exit status; for several maps the worst one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Code {
    Done,
    /// Nothing matched. Of several maps this counts only if nothing matched in all of them.
    Nothing,
    /// Something was found.
    Found,
    Failed,
    /// A signal ended the run before all was done.
    Stopped,
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        ExitCode::from(match code {
            Code::Done => 0,
            Code::Nothing | Code::Found => 1,
            Code::Failed => 2,
            Code::Stopped => STOPPED,
        })
    }
}

/// How to print messages: quiet or verbose, with or without color.
pub(crate) struct Talk {
    pub(crate) quiet: bool,
    pub(crate) verbose: bool,
    color_out: bool,
    color_err: bool,
    /// Whether these streams are terminals. They get no control characters but those of this file: text of a map could
    /// be a command to the terminal.
    terminal_out: bool,
    terminal_err: bool,
}

impl Talk {
    pub(crate) fn new(options: &Options) -> Self {
        Self::with(options.color, options.quiet, options.verbose)
    }

    /// For a command whose options are not known.
    pub(crate) fn without_options() -> Self {
        Self::with(Color::Auto, false, false)
    }

    fn with(color: Color, quiet: bool, verbose: bool) -> Self {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let color = |is_terminal: bool| match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => is_terminal && !no_color,
        };
        let (terminal_out, terminal_err) = (io::stdout().is_terminal(), io::stderr().is_terminal());
        Talk {
            quiet,
            verbose,
            color_out: color(terminal_out),
            color_err: color(terminal_err),
            terminal_out,
            terminal_err,
        }
    }

    /// A quiet one, for tests.
    #[cfg(test)]
    pub(crate) fn silent() -> Self {
        Talk {
            quiet: true,
            verbose: false,
            color_out: false,
            color_err: false,
            terminal_out: false,
            terminal_err: false,
        }
    }

    /// The text of an error: what failed, why, and what to do.
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

    /// A warning as a line of text.
    pub(crate) fn warning(&self, text: &str) -> String {
        format!("{} {text}\n", paint(self.color_err, YELLOW, "warning:"))
    }

    /// A colored word on stdout that states success or failure.
    pub(crate) fn verdict(&self, good: bool, word: &str) -> String {
        paint(self.color_out, if good { GREEN } else { RED }, word)
    }

    /// A title on stdout.
    pub(crate) fn title(&self, text: &str) -> String {
        paint(self.color_out, BOLD, text)
    }

    /// Writes messages to stderr. Errors of stderr are ignored.
    pub(crate) fn stderr(&self, text: &[u8]) {
        let text = ready(text, self.terminal_err, self.color_err);
        if !pager::message(&text) {
            let _ = io::stderr().write_all(&text);
        }
    }

    /// Writes commands to the terminal on stderr: those of the progress bar.
    pub(crate) fn control(&self, text: &str) {
        let _ = io::stderr().write_all(text.as_bytes());
    }

    /// Writes data to stdout. `false` if the reader has closed the pipe, which is not an error.
    pub(crate) fn stdout(&self, data: &[u8]) -> Result<bool> {
        let data = ready(data, self.terminal_out, self.color_out);
        let written = pager::write(&data).unwrap_or_else(|| {
            let mut stdout = io::stdout().lock();
            stdout.write_all(&data).and_then(|()| stdout.flush())
        });
        match written {
            Ok(()) => Ok(true),
            Err(error) if is_closed(&error) => Ok(false),
            Err(error) => Err(error).context("cannot write to stdout"),
        }
    }
}

/// Whether a pipe has no reader any more. Windows has an error of its own for pipes with a name, which some shells use.
fn is_closed(error: &io::Error) -> bool {
    const PIPE_NOT_CONNECTED: i32 = 233;
    error.kind() == io::ErrorKind::BrokenPipe || cfg!(windows) && error.raw_os_error() == Some(PIPE_NOT_CONNECTED)
}

/// What a stream gets: for a terminal text without control characters, otherwise the bytes; with the colors of
/// [`paint`].
fn ready(data: &[u8], is_terminal: bool, has_color: bool) -> Cow<'_, [u8]> {
    let mut data = Cow::Borrowed(data);
    if is_terminal {
        data = Cow::Owned(for_terminal(&data).into_bytes());
    }
    if has_color && PAINTS.iter().any(|(mark, _)| memchr::memmem::find(&data, mark.as_bytes()).is_some()) {
        let mut text = data.into_owned();
        for (mark, color) in PAINTS {
            text = replaced(&text, mark.as_bytes(), color.as_bytes());
        }
        data = Cow::Owned(text);
    }
    data
}

/// The error for arguments that cannot be meant, with what to do instead unless that is empty.
pub(crate) fn bad_argument(message: String, hint: &str) -> Error {
    let error = bspkit::Error::new(ErrorKind::Argument, message);
    if hint.is_empty() { error.into() } else { error.with_hint(hint).into() }
}

/// What is said beside an error and its causes.
pub(crate) fn hints(error: &Error) -> impl Iterator<Item = String> {
    error.chain().filter_map(|cause| cause.downcast_ref::<bspkit::Error>()?.hint().map(worded))
}

/// A hint of the library in terms of the program's options.
pub(super) fn worded(hint: &Hint) -> String {
    match hint {
        Hint::Dialect(names) => format!("choose one with --dialect: {}", names.join(" or ")),
        Hint::Force => "use --force to save it anyway".to_owned(),
        Hint::Replace => "--overwrite replaces it".to_owned(),
        Hint::OrForce(text) => format!("{text}, or use --force"),
        Hint::Keep => "use --layout keep".to_owned(),
        Hint::Append => "use --layout append".to_owned(),
        Hint::Repack => "use --layout repack".to_owned(),
        Hint::Resize => "--follow updates what refers to these records; --resize loads them and does not".to_owned(),
        Hint::Steps => {
            "make the changes one after the other; --resize takes each line for the record with its number".to_owned()
        }
        Hint::Guess => {
            "--fuzzy takes the entity that is most like it, and says which one; --base OLD.bsp merges the patch with \
            what changed since the map that it was made from"
                .to_owned()
        }
        Hint::Cascade => "--cascade removes what needs it too, or empties the field".to_owned(),
        Hint::CopyModel => "`model copy` copies a model with its faces, brushes and tree".to_owned(),
        Hint::Tree => {
            "nodes and leafs are added and removed as whole trees: `model copy` and `model rm` do that".to_owned()
        }
        Hint::LiteralKey(key) => format!("--pair '{key}' VALUE sets a key of this name"),
        Hint::Limit(what) => format!("--max-{what} raises the limit"),
        Hint::AllowRead => "--allow-read DIR lets scripts read the files of a folder".to_owned(),
        Hint::Several(hints) => hints.iter().map(worded).collect::<Vec<_>>().join("\n"),
        hint => hint.to_string(),
    }
}

/// Marks of colors in messages, and what a terminal gets for them. They are noncharacters of Unicode; a map that has
/// them colors its own text and can do no more.
const PAINTS: [(&str, &str); 5] =
    [(RED, "\x1b[1;31m"), (GREEN, "\x1b[32m"), (YELLOW, "\x1b[1;33m"), (BOLD, "\x1b[1m"), (PLAIN, "\x1b[0m")];
const RED: &str = "\u{fdd0}";
const GREEN: &str = "\u{fdd1}";
const YELLOW: &str = "\u{fdd2}";
const PLAIN: &str = "\u{fdd3}";
const BOLD: &str = "\u{fdd4}";

fn paint(on: bool, color: &str, word: &str) -> String {
    if on { format!("{color}{word}{PLAIN}") } else { word.to_owned() }
}

fn replaced(text: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut result = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memmem::find(rest, old) {
        result.extend_from_slice(&rest[..at]);
        result.extend_from_slice(new);
        rest = &rest[at + old.len()..];
    }
    result.extend_from_slice(rest);
    result
}

/// The output of a command for one map. It is written in one piece, so that the output of several maps does not mix.
pub(crate) struct Job<'t> {
    pub(crate) talk: &'t Talk,
    /// The path of the map, as it is printed.
    pub(crate) path: String,
    pub(crate) file: &'t Path,
    /// Whether reports are JSON, and whether there are several maps.
    pub(crate) json: bool,
    pub(crate) many: bool,
    /// Members that are added to the JSON document of a save.
    pub(crate) extra: serde_json::Map<String, serde_json::Value>,
    /// Whether a dry run lists all changes, and not only the first.
    pub(crate) lists_all: bool,
    /// Messages of which ten of a kind are printed.
    few: Few<'static>,
    /// Findings of a script, which are added to those of a save.
    pub(crate) findings: Vec<bspkit::finding::Finding>,
    /// Warnings about the map, which the JSON document of a save has too.
    pub(crate) warnings: Vec<String>,
    /// For stdout.
    pub(crate) out: Vec<u8>,
    /// For stderr.
    pub(crate) err: Vec<u8>,
    pub(crate) code: Code,
    /// The kind of the first failure.
    pub(crate) failure: Option<&'static str>,
    /// Writes large data at once; `false` if the reader has closed the pipe.
    stream: &'t (dyn Fn(&[u8]) -> Result<bool> + 't),
    /// Whether data was already written through `stream`.
    has_written: bool,
    /// Work in the order of the maps.
    pub(crate) then: Option<Then>,
}

/// Work for when the turn of a map has come.
pub(crate) type Then = Box<dyn FnOnce() + Send>;

/// The most data of one map, in bytes, that is kept in memory.
const MOST_WAITING: usize = 1 << 20;

impl<'t> Job<'t> {
    pub(crate) fn new(talk: &'t Talk, file: &'t Path, stream: &'t (dyn Fn(&[u8]) -> Result<bool> + 't)) -> Self {
        let (out, err) = (Vec::new(), Vec::new());
        let (path, code, failure) = (shown(file), Code::Done, None);
        let (extra, findings, [json, many, lists_all, has_written]) = (serde_json::Map::new(), Vec::new(), [false; 4]);
        Job {
            talk,
            path,
            file,
            json,
            many,
            extra,
            lists_all,
            few: Few::new(talk.verbose),
            findings,
            warnings: Vec::new(),
            out,
            err,
            code,
            failure,
            stream,
            has_written,
            then: None,
        }
    }

    /// Adds data of any size and keeps only little of it in memory. `false` if the reader has closed the pipe.
    pub(crate) fn write(&mut self, data: &[u8]) -> Result<bool> {
        if self.out.len() + data.len() < MOST_WAITING {
            self.out.extend_from_slice(data);
            return Ok(true);
        }
        self.has_written = true;
        let out = std::mem::take(&mut self.out);
        Ok((self.stream)(&out)? && (self.stream)(data)?)
    }

    /// Writes a whole file at once. That no one reads it is an error here: the file is not where it was to be.
    pub(crate) fn deliver(&mut self, data: &[u8]) -> Result<()> {
        self.has_written = true;
        let out = std::mem::take(&mut self.out);
        match (self.stream)(&out)? && (self.stream)(data)? {
            true => Ok(()),
            false => bail!("the reader of stdout has closed it"),
        }
    }

    /// Does this once the output of all earlier maps is written, one map after the other.
    pub(crate) fn in_turn(&mut self, work: impl FnOnce() + Send + 'static) {
        self.then = Some(Box::new(work));
    }

    /// Whether no data was added.
    pub(crate) fn is_silent(&self) -> bool {
        self.out.is_empty() && !self.has_written
    }

    /// Adds a line of data.
    pub(crate) fn line(&mut self, text: impl AsRef<[u8]>) {
        self.out.extend_from_slice(text.as_ref());
        self.out.push(b'\n');
    }

    /// Adds a message, except with `--quiet`.
    pub(crate) fn say(&mut self, text: &str) {
        if !self.talk.quiet {
            self.err.extend_from_slice(format!("{text}\n").as_bytes());
        }
    }

    /// Adds a warning. Warnings do not change the exit status.
    pub(crate) fn warn(&mut self, text: &str) {
        self.err.extend_from_slice(self.talk.warning(text).as_bytes());
    }

    /// Adds a warning that names the map, and that the JSON document of a save has too.
    pub(crate) fn warn_here(&mut self, text: &str) {
        self.warnings.extend(self.json.then(|| text.to_owned()));
        self.warn_only(text);
    }

    /// Adds a warning that names the map, and that a JSON document has in another form.
    pub(crate) fn warn_only(&mut self, text: &str) {
        self.warn(&format!("{}: {text}", self.path));
    }

    /// How many of a kind are printed.
    pub(crate) fn most(&self) -> usize {
        if self.talk.verbose { MOST_OF_ALL } else { MOST_OF_A_KIND }
    }

    /// Whether one more message of a kind is printed: ten are, or all with `--verbose`. The others are counted.
    pub(crate) fn takes(&mut self, kind: &'static str) -> bool {
        self.few.takes(kind)
    }

    /// Says how many messages of each kind were not printed.
    pub(crate) fn say_rest(&mut self) {
        let rest: Vec<String> = self.few.rest().collect();
        rest.iter().for_each(|rest| self.warn_here(rest));
    }

    /// Adds a message that nothing was found, and returns this exit status.
    pub(crate) fn nothing(&mut self, text: &str) -> Code {
        self.say(&format!("{}: {text}", self.path));
        Code::Nothing
    }

    /// Adds an error and sets the exit status.
    pub(crate) fn fail(&mut self, error: &Error) {
        self.err.extend_from_slice(self.talk.error(error).as_bytes());
        self.code = Code::Failed;
        self.failure.get_or_insert(kind(error));
    }
}

/// The library's error among the causes of an error.
pub(crate) fn library_error(error: &Error) -> Option<&bspkit::Error> {
    error.chain().find_map(|cause| cause.downcast_ref())
}

/// The kind of a failure, in the words of the summary table.
fn kind(error: &Error) -> &'static str {
    match library_error(error).map(bspkit::Error::kind) {
        Some(ErrorKind::Io) => "cannot be read or written",
        Some(ErrorKind::NotABsp) => "not a map",
        Some(ErrorKind::Unsupported) => "not supported",
        Some(ErrorKind::Ambiguous) => "more than one dialect fits",
        Some(ErrorKind::Malformed) => "malformed",
        Some(ErrorKind::NotFound) => "not found in the map",
        Some(ErrorKind::Argument) => "bad arguments",
        Some(ErrorKind::Refused) => "refused",
        Some(ErrorKind::Damaged) => "damaged, needs --force",
        Some(ErrorKind::TooLarge) => "too large",
        Some(_) => "other reason",
        None if error.chain().any(|cause| cause.is::<std::io::Error>()) => "cannot be read or written",
        None => "other reason",
    }
}

// The text of JSON documents and of counts.

/// An indented document for a single map, one line for each of several.
pub(crate) fn json(document: &impl Serialize, many: bool) -> Result<Vec<u8>> {
    Ok(if many { serde_json::to_vec(document)? } else { serde_json::to_vec_pretty(document)? })
}

/// `3 entities`, `1 entity`.
pub(crate) fn count(number: usize, one: &str, more: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { more })
}

/// How many lines of a kind are printed.
pub(crate) const MOST_OF_A_KIND: usize = 10;

/// How many are printed with `--verbose`. A hostile map may have more of them than there is memory.
pub(crate) const MOST_OF_ALL: usize = 100_000;

/// Lines of several kinds: the first ten of each are printed, and of the rest the number.
#[derive(Default)]
pub(crate) struct Few<'k> {
    counts: Vec<(&'k str, usize)>,
    all: bool,
}

impl<'k> Few<'k> {
    /// With `all` every line is printed.
    pub(crate) fn new(all: bool) -> Self {
        Few { counts: Vec::new(), all }
    }

    /// Whether one more line of a kind is printed. There are few kinds.
    pub(crate) fn takes(&mut self, kind: &'k str) -> bool {
        let at = self.counts.iter().position(|(known, _)| *known == kind).unwrap_or_else(|| {
            self.counts.push((kind, 0));
            self.counts.len() - 1
        });
        self.counts[at].1 += 1;
        self.all || self.counts[at].1 <= MOST_OF_A_KIND
    }

    /// What is said of the lines that were not printed: a sentence for each kind.
    pub(crate) fn rest(&self) -> impl Iterator<Item = String> {
        let rest = self.counts.iter().map(|(kind, count)| (kind, count.saturating_sub(MOST_OF_A_KIND)));
        let rest = rest.filter(|(_, more)| *more > 0 && !self.all);
        rest.map(|(kind, more)| format!("and {more} more ({kind}); -v lists them"))
    }
}

// The options of every command.

#[derive(Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Options {
    /// Read the map as this dialect, without detection; an unknown name lists the valid ones
    #[arg(long, global = true, hide_short_help = true,
        value_name = "NAME", ignore_case = true, value_parser = dialects(),
        hide_possible_values = true)]
    pub(crate) dialect: Option<&'static Dialect>,
    /// How many maps to process at once; for one map, how many threads to use
    /// [default: one per core; four per core when saving several maps]
    #[arg(short, long, global = true, hide_short_help = true, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Continue after a failed map (the default)
    #[arg(long, global = true, hide_short_help = true, conflicts_with = "fail_fast")]
    keep_going: bool,
    /// Start no further map after a failed one
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) fail_fast: bool,
    /// Process only part I of N of the maps, to share the work between machines; maps are sorted by their path below
    /// the folder
    #[arg(long, global = true, hide_short_help = true, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    /// On stderr, print only warnings and errors
    #[arg(short, long, global = true, hide_short_help = true)]
    pub(crate) quiet: bool,
    /// Print more: every law, every oddity in the entity text, checksums, the time taken
    #[arg(short, long, global = true, hide_short_help = true)]
    pub(crate) verbose: bool,
    /// When to use color; NO_COLOR is respected
    #[arg(long, global = true, hide_short_help = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
    /// When to show with a pager what a command lists: auto is on a terminal. BSPKIT_PAGER or PAGER names the pager,
    /// without them it is `less`
    #[arg(long, global = true, hide_short_help = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) paging: Paging,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

fn dialects() -> impl TypedValueParser<Value = &'static Dialect> {
    let names = dialect::ALL.iter().map(|dialect| dialect.name);
    PossibleValuesParser::new(names).try_map(|name| dialect::by_name(&name))
}

/// A larger number of threads is taken for a typing error.
const MOST_JOBS: usize = 256;

fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    let jobs = text.parse().ok().filter(|jobs: &NonZeroUsize| jobs.get() <= MOST_JOBS);
    jobs.ok_or_else(|| format!("the number must be from 1 to {MOST_JOBS}"))
}

impl Options {
    /// The number of threads.
    pub(crate) fn jobs(&self) -> usize {
        self.jobs.map_or_else(threads::cores, NonZeroUsize::get).min(MOST_JOBS)
    }
}

// `--shard I/N`: one of N parts of the maps.

/// The number of a part, counted from 1, and the number of parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    part: usize,
    parts: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || format!("`{text}` is not a part: write I/N, for example 2/4 for the second of four");
        // `parse` alone would accept a sign.
        let number = |digits: &str| digits.parse().ok().filter(|_| digits.bytes().all(|digit| digit.is_ascii_digit()));
        let (part, parts) = text.split_once('/').ok_or_else(bad)?;
        let (part, parts) = (number(part).ok_or_else(bad)?, number(parts).ok_or_else(bad)?);
        match (part, parts) {
            (_, 0) => Err("the number of parts must be at least 1: 2/4 is the second of four".to_owned()),
            (0, _) => Err("parts are counted from 1: 2/4 is the second of four".to_owned()),
            (part, parts) if part > parts => Err(format!("there is no part {part} of {parts}")),
            _ => Ok(Shard { part, parts }),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.part, self.parts)
    }
}

impl Shard {
    /// The range of this part in a sorted list of `all` items. The parts follow each other without gaps, cover the
    /// list, and their sizes differ by at most one.
    pub(crate) fn range(self, all: usize) -> Range<usize> {
        let (size, larger) = (all / self.parts, all % self.parts);
        let start = |part: usize| part.saturating_mul(size) + part.min(larger);
        start(self.part - 1)..start(self.part)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn parts_are_disjoint_and_cover_everything(all in 0_usize..5000, parts in 1_usize..200) {
            let ranges: Vec<_> = (1..=parts).map(|part| Shard { part, parts }.range(all)).collect();
            prop_assert_eq!(ranges[0].start, 0);
            prop_assert_eq!(ranges[parts - 1].end, all);
            prop_assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
            let sizes = || ranges.iter().map(ExactSizeIterator::len);
            prop_assert!(sizes().max().unwrap() - sizes().min().unwrap() <= 1);
        }

        #[test]
        fn no_part_is_out_of_bounds(all in 0_usize..50, part in 1_usize.., parts in 1_usize..) {
            let (part, parts) = (part.min(parts), part.max(parts));
            let range = Shard { part, parts }.range(all);
            prop_assert!(range.start <= range.end && range.end <= all);
        }
    }

    #[test]
    fn invalid_parts_are_refused() {
        assert_eq!("2/4".parse(), Ok(Shard { part: 2, parts: 4 }));
        assert_eq!("1/1".parse::<Shard>().unwrap().range(7), 0..7);
        for bad in
            ["", "/", "1", "1/", "/2", "0/4", "5/4", "1/0", "0/0", "-1/4", "+1/4", "1/4/2", "a/b", " 1/2", "1.0/2"]
        {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
        assert!("1/99999999999999999999999".parse::<Shard>().is_err());
    }

    /// Text of a map that a terminal would take for commands, in every form that control characters have.
    #[test]
    fn a_terminal_gets_no_commands_of_a_map() {
        let text = b"\x1b]0;x\x07 \x9b2J \xc2\x9b \xe2\x80\xae \xe2\x80\xa8 \r \x08\n\tcaf\xe9 \xc3\xa9\r\n";
        let shown =
            "\\x1b]0;x\\x07 \\x9b2J \\xc2\\x9b \\xe2\\x80\\xae \\xe2\\x80\\xa8 \\x0d \\x08\n\tcaf\\xe9 \u{e9}\n";
        assert_eq!(ready(text, true, true), shown.as_bytes());
        assert_eq!(ready(text, false, false), &text[..]);
        assert_eq!(ready(paint(true, RED, "no").as_bytes(), true, true), &b"\x1b[1;31mno\x1b[0m"[..]);
    }
}
