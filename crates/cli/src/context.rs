//! What commands share: how maps are opened, arguments that choose named things, pairs of an edit, and reports as text
//! or JSON.

use std::ffi::{OsStr, OsString};
use std::io::{BufReader, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, Error, Result};
use bspkit::bytes::{Data, escaped, unescape};
use bspkit::content::assign::Assignment;
use bspkit::content::entities::Key;
use bspkit::content::pattern::Pattern;
use bspkit::disk::input;
use bspkit::{Bounds, Bsp, ErrorKind, Slot, near};
use bspkit_game::assets::fgd::{self, Fgd};
use bspkit_packed::Form;
use bspkit_packed::archive::{self, Archives};
use clap::builder::OsStringValueParser;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use serde::Serialize;

use super::talk::{Code, Head, Job, Options, Talk, count, hints, json, shown};
use super::watch;

// The context of a command: the common options, the output, and how maps are opened.

/// The input of every command besides its own arguments.
pub(crate) struct Context {
    pub(crate) options: Options,
    pub(crate) talk: Talk,
    archives: Archives,
}

impl Context {
    pub(crate) fn new(options: Options) -> Self {
        Context { talk: Talk::new(&options), options, archives: Archives::default() }
    }

    /// Opens a map; `-` is stdin. A map that is compressed or in an archive is taken out into memory.
    pub(crate) fn open(&self, path: &Path) -> Result<Bsp<'static>> {
        let opened = watch::open(|| {
            let opened = match self.taken_out(path) {
                Some(bytes) => bytes.and_then(|bytes| {
                    watch::takes_out(bytes.len());
                    Bsp::from_data(Data::from(bytes), self.options.dialect)
                }),
                None => Bsp::open_mapped(path, self.options.dialect),
            };
            if let Ok(bsp) = &opened {
                watch::begin(path, bsp);
            }
            opened
        });
        opened.map_err(|error| match error.kind() {
            // The message of an I/O error already names the file.
            ErrorKind::Io => Error::new(error),
            _ => Error::new(error).context(format!("cannot open {}", shown(path))),
        })
    }

    /// The bytes of a map that has no file of its own: on stdin, compressed, in an archive; none for any other.
    fn taken_out(&self, path: &Path) -> Option<bspkit::Result<Vec<u8>>> {
        if is_stdin(path) {
            return Some(read_stdin());
        }
        if let Some(form) = Form::of(path) {
            return Some(input::open(path).and_then(|file| form.unpack(BufReader::new(file))));
        }
        self.in_archive(path)
    }

    /// The bytes of a map in an archive; none for any other.
    pub(crate) fn in_archive(&self, path: &Path) -> Option<bspkit::Result<Vec<u8>>> {
        archive::part(path).map(|(archive, name)| self.archives.read(&archive, &name))
    }

    /// Opens a map to read or edit it, and says whether lumps of it are not in the file.
    pub(crate) fn open_said(&self, path: &Path, job: &mut Job<'_>) -> Result<Bsp<'static>> {
        let bsp = self.open(path)?;
        let is_cut = |slot: &&Slot| matches!(slot.bounds, Bounds::Overrun | Bounds::Outside);
        let cut: Vec<&str> = bsp.slots().iter().filter(is_cut).map(|slot| slot.name.as_str()).collect();
        if let Some(first) = cut.first() {
            let lumps = match cut.len() - 1 {
                0 => format!("{first} is"),
                others => format!("{first} and {} are", count(others, "other lump", "other lumps")),
            };
            job.warn_here(&format!("the file is cut off: {lumps} not, or not whole, in it"));
        }
        Ok(bsp)
    }
}

/// Whether a path means stdin. A file with the name `-` is given as `./-`.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Stdin, which a command reads once.
pub(crate) fn stdin() -> bspkit::Result<impl Read> {
    static IS_TAKEN: AtomicBool = AtomicBool::new(false);
    if IS_TAKEN.swap(true, Ordering::Relaxed) {
        return Err(bspkit::Error::new(ErrorKind::Argument, "only one file can be read from stdin"));
    }
    Ok(input::stdin())
}

/// All of stdin; a compressed map as it is unpacked.
fn read_stdin() -> bspkit::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let cannot = |error| bspkit::Error::new(ErrorKind::Io, "cannot read stdin").with_source(error);
    stdin()?.read_to_end(&mut bytes).map_err(cannot)?;
    match Form::of_bytes(&bytes) {
        Some(form) => form.unpack(&bytes[..]),
        None => Ok(bytes),
    }
}

/// Reads an FGD file. Included files that cannot be read are warnings.
pub(crate) fn read_fgd(cx: &Context, path: &Path) -> Result<Fgd> {
    let (fgd, skipped) = fgd::read(path).with_context(|| format!("cannot read {}", shown(path)))?;
    skipped.iter().for_each(|text| cx.talk.stderr(cx.talk.warning(text).as_bytes()));
    Ok(fgd)
}

// Selects named things of a map: embedded files, textures.

/// An argument that selects by index or by name.
pub(crate) enum Choice {
    Index(usize),
    Pattern(Pattern),
}

/// The names that a map has, some of which may be unreadable.
pub(crate) struct Names {
    /// What has these names: `textures`.
    pub(crate) kind: &'static str,
    pub(crate) names: Vec<Option<Vec<u8>>>,
    /// Whether arguments have escapes such as `\xff`.
    pub(crate) has_escapes: bool,
}

impl Choice {
    pub(crate) fn new(text: &[u8]) -> Self {
        if let Some(name) = Pattern::exact(text) {
            return Choice::Pattern(Pattern::literal(name));
        }
        let index = text.strip_prefix(b"#").and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
        index.map_or_else(|| Choice::Pattern(Pattern::new(text)), Choice::Index)
    }

    fn matches(&self, index: usize, name: Option<&[u8]>) -> bool {
        match self {
            Choice::Index(own) => *own == index,
            Choice::Pattern(pattern) => name.is_some_and(|name| pattern.matches(name)),
        }
    }
}

impl Names {
    /// The indices of the names that an argument matches.
    pub(crate) fn of(&self, argument: &OsStr) -> Vec<usize> {
        let choice = Choice::new(&self.bytes(argument));
        (0..self.names.len()).filter(|at| choice.matches(*at, self.names[*at].as_deref())).collect()
    }

    /// The indices of all names that any pattern matches, in order; all of them if there is no pattern. Warns of a
    /// pattern that matches nothing if another one matches.
    pub(crate) fn chosen(&self, patterns: &[OsString], job: &mut Job<'_>) -> Vec<usize> {
        let found = patterns.iter().map(|pattern| self.of(pattern));
        let found: Vec<Vec<usize>> = found.collect();
        let idle = || patterns.iter().zip(&found).filter(|(_, found)| found.is_empty());
        if idle().count() < patterns.len() {
            idle().for_each(|(pattern, _)| job.warn_here(&self.nothing(std::slice::from_ref(pattern))));
        }
        let mut is_chosen = vec![patterns.is_empty(); self.names.len()];
        found.into_iter().flatten().for_each(|index| is_chosen[index] = true);
        (0..self.names.len()).filter(|index| is_chosen[*index]).collect()
    }

    /// The message if no pattern matches.
    pub(crate) fn nothing(&self, patterns: &[OsString]) -> String {
        if patterns.is_empty() {
            return format!("no {}", self.kind);
        }
        let patterns: Vec<Vec<u8>> = patterns.iter().map(|pattern| self.bytes(pattern)).collect();
        let text = |name: &[u8]| escaped(name).to_string();
        let what = patterns.iter().map(|pattern| text(pattern)).collect::<Vec<_>>().join(", ");
        let close = patterns.iter().flat_map(|pattern| {
            let name: Vec<u8> = pattern.iter().copied().filter(|byte| !b"*?".contains(byte)).collect();
            near(name, self.names.iter().flatten().map(|name| &name[..]))
        });
        // A name that a pattern of its own letters does not mean.
        let meant = |name: &[u8]| match name.starts_with(b"=") || name.iter().any(|byte| b"*?".contains(byte)) {
            true => format!("={}", text(name)),
            false => text(name),
        };
        match close.map(meant).collect::<Vec<_>>().join(" or ") {
            close if close.is_empty() => format!("nothing matches {what}"),
            close => format!("nothing matches {what}; did you mean {close}?"),
        }
    }

    fn bytes(&self, argument: &OsStr) -> Vec<u8> {
        if self.has_escapes { unescaped(argument) } else { argument.as_encoded_bytes().to_vec() }
    }
}

// `KEY=VALUE` and `--pair KEY VALUE`: the pairs of an edit, in the order of the arguments.

/// Reads `KEY` or `KEY#2`.
pub(crate) fn key(text: &OsStr) -> Result<Key> {
    Ok(Key::parse(&as_text(text))?)
}

/// An argument as text: bytes that are not UTF-8 become escapes.
pub(crate) fn as_text(argument: &OsStr) -> String {
    let mut text = String::new();
    for chunk in argument.as_encoded_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        let backslashes = text.len() - text.trim_end_matches('\\').len();
        // A backslash that is alone would take the one of the escape with it.
        if !chunk.invalid().is_empty() && backslashes % 2 == 1 {
            text.push('\\');
        }
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    text
}

/// Replaces escapes by their bytes. The argument need not be UTF-8.
pub(crate) fn unescaped(argument: &OsStr) -> Vec<u8> {
    unescape(&as_text(argument))
}

/// The pairs of an edit, as they are given.
pub(crate) struct NewPairs(Vec<NewPair>);

enum NewPair {
    Assignment(OsString),
    Literal(OsString, OsString),
}

impl NewPairs {
    /// Reads them.
    pub(crate) fn read(&self) -> Result<Vec<Assignment>> {
        let read = |pair: &NewPair| match pair {
            NewPair::Assignment(text) => Assignment::parse(&as_text(text)),
            NewPair::Literal(key, value) => Ok(Assignment::literal(unescaped(key), unescaped(value))),
        };
        Ok(self.0.iter().map(read).collect::<bspkit::Result<_>>()?)
    }
}

impl Args for NewPairs {
    fn augment_args(command: Command) -> Command {
        command
            .arg(
                Arg::new("pairs")
                    .value_name("KEY=VALUE")
                    .help("The key and its value; KEY#2 is the second of equal keys; \\xNN \\n \\\\ are escapes")
                    .num_args(1..)
                    .action(ArgAction::Append)
                    .required_unless_present("pair")
                    .value_parser(OsStringValueParser::new()),
            )
            .arg(
                Arg::new("pair")
                    .long("pair")
                    .value_names(["KEY", "VALUE"])
                    .help("A key and its value as they are: of keys with `=`, or empty ones")
                    .num_args(2)
                    .action(ArgAction::Append)
                    .allow_hyphen_values(true)
                    .value_parser(OsStringValueParser::new()),
            )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for NewPairs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let places = |name| matches.indices_of(name).into_iter().flatten();
        let words = |name| matches.get_many::<OsString>(name).into_iter().flatten().cloned();
        let short = places("pairs").zip(words("pairs").map(NewPair::Assignment));
        let long: Vec<OsString> = words("pair").collect();
        let long = long.chunks_exact(2).map(|pair| NewPair::Literal(pair[0].clone(), pair[1].clone()));
        let mut pairs: Vec<(usize, NewPair)> = short.chain(places("pair").step_by(2).zip(long)).collect();
        pairs.sort_by_key(|(place, _)| *place);
        Ok(NewPairs(pairs.into_iter().map(|(_, pair)| pair).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

// The report of a command about a map, as text or as JSON.

/// The report of a reading command about one map. Its fields are the fields of the JSON document.
pub(crate) trait Report: Serialize {
    /// Prints it as text.
    fn print(&self, job: &mut Job<'_>) -> Result<()>;

    /// The line before the text if there are several maps; only for text that does not name the map.
    fn heading(&self, _path: &str) -> Option<String> {
        None
    }

    /// The exit status.
    fn code(&self) -> Code {
        Code::Done
    }
}

/// A JSON document: its head, and the fields of the report.
#[derive(Serialize)]
struct Document<'a, R> {
    #[serde(flatten)]
    head: Head<'a>,
    #[serde(flatten)]
    report: R,
    #[serde(flatten)]
    extra: &'a serde_json::Map<String, serde_json::Value>,
}

/// The JSON report of a map that failed.
#[derive(Serialize)]
struct Failed {
    error: String,
    /// What to do, or a list of everything that is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl Job<'_> {
    /// Adds the report of the map to the output, as text or as JSON.
    pub(crate) fn report(&mut self, report: &impl Report) -> Result<Code> {
        if self.json {
            self.document(report)?;
        } else {
            let heading = if self.many { report.heading(&self.path) } else { None };
            heading.iter().for_each(|line| self.line(line));
            report.print(self)?;
        }
        Ok(report.code())
    }

    /// Adds a JSON document with these fields: indented for a single map, one line for each of several.
    pub(crate) fn document(&mut self, report: &impl Serialize) -> Result<()> {
        let document = Document { head: Head::new(self.file), report, extra: &self.extra };
        self.line(json(&document, self.many)?);
        Ok(())
    }

    /// Reports an error on stderr; also as a JSON document if the map has none yet.
    pub(crate) fn fail_as_report(&mut self, error: &Error) {
        if self.json && self.is_silent() {
            let hints: Vec<String> = hints(error).collect();
            let hint = (!hints.is_empty()).then(|| hints.join("\n"));
            let error = format!("{error:#}");
            self.extra.clear();
            // Strings can always be written as JSON.
            self.document(&Failed { error, hint }).ok();
        }
        self.fail(error);
    }
}
