//! Rule files of every format, also those that are JSON.
//!
//! ```
//! use bspkit_rules::files as rules;
//! use bspkit_rules::{Format, Mode};
//!
//! let text = br#"{ "filter": [ { "classname": "light" } ] } // JSON with comments"#;
//! let rules = rules::read("clean.jsonc", text, rules::detect("clean.jsonc", text), Mode::Plugin);
//! assert_eq!((rules.format, rules.rules.len()), (Format::Cs2, 1));
//! ```

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::value::RawValue;

use bspkit::bytes::escaped;
use bspkit::disk::{input, names, shown};
use bspkit::json::{Members, syntax};
use bspkit::{Bsp, Error, ErrorKind, Result};

use crate::outputs::Wanted;
use crate::{Action, At, Expected, Format, Match, Mode, Need, NewPair, Pattern, Rule, Rules, Step, Test};

/// Formats by the extensions of their files.
const EXTENSIONS: [(&str, Format); 5] = [
    ("cfg", Format::Stripper),
    ("ini", Format::Qmm),
    ("rule", Format::Lazyripent),
    ("jsonc", Format::Cs2),
    ("json", Format::Cs2),
];

/// Extensions of files with entities, which the plug-in would read as filters.
const OF_ENTITIES: [&str; 4] = ["ent", "map", "vmf", "lmp"];

/// The extension of a name, in lower case.
fn extension(name: &str) -> Option<String> {
    name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase())
}

/// The format of a file: by the extension of its name, or by what it begins with; Stripper:Source if neither says.
pub fn detect(name: &str, text: &[u8]) -> Format {
    let extension = extension(name);
    let known = EXTENSIONS.iter().find(|(known, _)| extension.as_deref() == Some(*known));
    let start = text.trim_ascii_start();
    let in_braces = start.strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    let is_json = || {
        in_braces.is_some_and(|inside| {
            [&b"\"filter\""[..], b"\"add\"", b"\"modify\""].iter().any(|word| inside.starts_with(word))
        })
    };
    known.map(|(_, format)| *format).unwrap_or(if is_json() { Format::Cs2 } else { Format::Stripper })
}

/// Reads a file with all its findings, as [`Rules::read`], of any format.
pub fn read(name: &str, text: &[u8], format: Format, mode: Mode) -> Rules {
    match format {
        Format::Cs2 if !input::is_utf16(text) => read_jsonc(name, text),
        _ => Rules::read(name, text, format, mode),
    }
}

// Rule files for many maps: one file for all, or a folder as the plug-ins of Stripper have it.

/// What a folder has, by format: the file for all maps, the extension of those in `maps`, and whether a file is also
/// for maps whose names begin with its name and an underscore.
const FOLDERS: [(Format, &str, &str, bool); 2] =
    [(Format::Stripper, "global_filters.cfg", "cfg", true), (Format::Qmm, "global.ini", "ini", false)];

/// How rule files are read.
///
/// ```
/// use bspkit_rules::files::Reading;
/// let file = tempfile::NamedTempFile::with_suffix(".cfg")?;
/// std::fs::write(&file, "filter:\n{\n\"classname\" \"light\"\n}\n")?;
/// assert_eq!(Reading::default().file(file.path())?.rules.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    /// How files of Stripper:Source are read.
    pub mode: Mode,
    /// The format; `None` to detect it ([`detect`]).
    pub format: Option<Format>,
}

impl Reading {
    /// Reads one file. What it has wrong is in [`Rules::findings`].
    ///
    /// # Errors
    /// The file cannot be read; [`ErrorKind::Argument`] for a map, and for a file with the extension of one with
    /// entities if no format is given.
    pub fn file(&self, path: &Path) -> Result<Rules> {
        let (name, text) = (shown(path), input::read(path)?);
        if Bsp::parse(&text).is_ok() {
            return Err(Error::new(ErrorKind::Argument, format!("{name} is a map, and no file with rules")));
        }
        let is_of_entities = extension(&name).is_some_and(|own| OF_ENTITIES.contains(&&*own));
        if self.format.is_none() && is_of_entities {
            let message = format!("{name} has the extension of a file with entities, and of no format of rules");
            return Err(Error::new(ErrorKind::Argument, message).with_hint("--format says which format it has"));
        }
        let format = self.format.unwrap_or_else(|| detect(&name, &text));
        Ok(read(&name, &text, format, self.mode))
    }
}

/// The rule files of a path: a file for all maps, or a folder with `global_filters.cfg` and `maps/NAME.cfg`
/// (Stripper:Source), or `global.ini` and `maps/NAME.ini` (stripper_qmm).
///
/// ```
/// use bspkit_rules::files::{Reading, RuleFiles};
/// let folder = tempfile::tempdir()?;
/// std::fs::create_dir(folder.path().join("maps"))?;
/// for name in ["global_filters.cfg", "maps/cp.cfg", "maps/cp_well.cfg", "maps/koth.cfg"] {
///     std::fs::write(folder.path().join(name), "")?;
/// }
/// let files = RuleFiles::read(folder.path(), Reading::default())?;
/// assert_eq!((files.of("cp_well").len(), files.of("dm4").len()), (3, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RuleFiles {
    /// The file for all maps.
    global: Option<Rules>,
    /// In a folder, the files of maps by their names without extension.
    maps: HashMap<String, Rules>,
    /// Whether files are also for maps whose names begin with theirs.
    of_beginnings: bool,
}

impl RuleFiles {
    /// Reads a file, or all files of a folder. What a file has wrong is an error where it is used.
    ///
    /// # Errors
    /// A file cannot be read; [`ErrorKind::Argument`] for a folder without rule files.
    pub fn read(path: &Path, how: Reading) -> Result<Self> {
        if !path.is_dir() {
            return Ok(RuleFiles { global: Some(how.file(path)?), maps: HashMap::new(), of_beginnings: false });
        }
        let is_of_folder = |row: &&(Format, &str, &str, bool)| {
            let wanted = how.format.is_none_or(|format| format == row.0);
            wanted
                && (global_file(path, row.1).is_some()
                    || !in_folder(&path.join("maps"), row.2).is_ok_and(|it| it.is_empty()))
        };
        let Some((_, global, extension, of_beginnings)) = FOLDERS.iter().find(is_of_folder) else {
            let message = format!("{} has neither global_filters.cfg nor a maps/NAME.cfg", shown(path));
            return Err(Error::new(ErrorKind::Argument, message).with_hint("name a folder of Stripper, or a rule file"));
        };
        let global = global_file(path, global).map(|global| how.file(&global)).transpose()?;
        let mut files = RuleFiles { global, maps: HashMap::new(), of_beginnings: *of_beginnings };
        for file in in_folder(&path.join("maps"), extension)? {
            if let Some(stem) = file.file_stem().and_then(|stem| stem.to_str()) {
                files.maps.insert(stem.to_owned(), how.file(&file)?);
            }
        }
        Ok(files)
    }

    /// The files for a map of this name, in the order in which they are applied: the one for all maps, then one for
    /// each beginning of the name before an underscore, then the one of the whole name.
    pub fn of(&self, map: &str) -> Vec<&Rules> {
        let starts = map.match_indices('_').map(|(at, _)| at).filter(|at| *at > 0 && self.of_beginnings);
        let starts = starts.chain([map.len()]);
        self.global.iter().chain(starts.filter_map(|at| self.named(&map[..at]))).collect()
    }

    /// The file of a name; if there is none, the first one whose name differs only in case, as on Windows.
    fn named(&self, name: &str) -> Option<&Rules> {
        let others = || self.maps.iter().filter(|(own, _)| own.eq_ignore_ascii_case(name));
        self.maps.get(name).or_else(|| others().min_by_key(|(own, _)| *own).map(|(_, rules)| rules))
    }

    /// All files, in the order of their names.
    pub fn all(&self) -> Vec<&Rules> {
        let mut maps: Vec<&Rules> = self.maps.values().collect();
        maps.sort_by(|one, other| one.name.cmp(&other.name));
        self.global.iter().chain(maps).collect()
    }

    /// The files for a map, if they can be used.
    ///
    /// # Errors
    /// [`Rules::refusal`] of the first one that cannot; [`ErrorKind::Refused`] for a map without a name: whether a file
    /// of one map is for it is not known.
    pub fn usable(&self, map: &str) -> Result<Vec<&Rules>> {
        if map.is_empty() && !self.maps.is_empty() {
            let message = "the map has no name, so it is not known which files of `maps` are for it";
            return Err(Error::new(ErrorKind::Refused, message).with_hint("give the name, or one rule file"));
        }
        let files = self.of(map);
        match files.iter().find_map(|rules| rules.refusal()) {
            Some(error) => Err(error),
            None => Ok(files),
        }
    }
}

/// The name of a map by which rule files name it: the file name without its extension.
pub fn map_name(path: &Path) -> String {
    names::of_map(path).to_string_lossy().into_owned()
}

/// The file for all maps in a folder; if it lacks this name, the first one whose name differs only in case, as
/// on Windows.
fn global_file(folder: &Path, name: &str) -> Option<PathBuf> {
    let exact = folder.join(name);
    if exact.exists() {
        return Some(exact);
    }
    let others = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let is_it = |path: &PathBuf| path.file_name().is_some_and(|own| own.eq_ignore_ascii_case(name));
    others.filter(is_it).min()
}

/// The rule files of a folder, sorted; none if there is no such folder.
fn in_folder(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let cannot = |error| input::cannot_read(folder, error);
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(cannot)?,
    };
    let paths = entries.map(|entry| entry.map(|entry| entry.path()).map_err(cannot));
    let mut paths: Vec<PathBuf> = paths.collect::<Result<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|own| own.eq_ignore_ascii_case(extension)) && path.is_file());
    paths.sort();
    Ok(paths)
}

// Files of StripperCS2: JSON with comments, in which `filter`, `add` and `modify` may be there several times.
//
// All filters are applied, then all additions, then all changes. Values and outputs are matched with their case, keys
// and expressions without. Outputs under `io` are matched and written as pairs of Source: the output as key, and as
// value target, input, parameter, delay and number of times, divided by commas. Source: the schema of StripperCS2.

type Wrong = (At, String);

/// Reads a file; what is wrong with it is a finding.
fn read_jsonc(name: &str, text: &[u8]) -> Rules {
    let mut rules = Rules::new(name, Format::Cs2, Mode::Plugin);
    let plain = without_comments(text);
    let read = std::str::from_utf8(&plain)
        .map_err(|error| (at(&plain, error.valid_up_to()), "the file is not UTF-8".to_owned()))
        .and_then(|text| {
            let starts =
                [0].into_iter().chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|end| end + 1)).collect();
            Reader { text, starts, rules: &mut rules }.root()
        });
    if let Err((at, message)) = read {
        rules.find(crate::SYNTAX, at, message);
    }
    rules
}

/// The text with blanks in place of comments, so that every offset stays.
fn without_comments(text: &[u8]) -> Vec<u8> {
    let mut plain = text.to_vec();
    let blank = |range: &mut [u8]| range.iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    let mut at = if text.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    blank(&mut plain[..at]);
    while at < text.len() {
        let rest = &text[at..];
        let length = match rest {
            [b'"', inner @ ..] => {
                let mut is_escaped = false;
                let end = inner.iter().position(|byte| {
                    let ends = *byte == b'"' && !is_escaped;
                    is_escaped = *byte == b'\\' && !is_escaped;
                    ends
                });
                end.map_or(rest.len(), |end| end + 2)
            }
            [b'/', b'/', ..] => {
                let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                blank(&mut plain[at..at + length]);
                length
            }
            [b'/', b'*', ..] => {
                let length = memchr::memmem::find(rest, b"*/").map_or(rest.len(), |end| end + 2);
                blank(&mut plain[at..at + length]);
                length
            }
            _ => 1,
        };
        at += length;
    }
    plain
}

/// The place of an offset.
fn at(text: &[u8], offset: usize) -> At {
    let before = &text[..offset.min(text.len())];
    let start = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
    At { line: memchr::memchr_iter(b'\n', before).count() + 1, column: before.len() - start + 1 }
}

/// Whether StripperCS2 reads a value as an expression.
fn is_pattern(text: &str) -> bool {
    text.len() >= 3 && text.starts_with('/') && text.ends_with('/')
}

/// Tests of keys with their values, and of outputs.
#[derive(Default)]
struct Tests {
    pairs: Vec<Test>,
    outputs: Vec<Test>,
}

impl Tests {
    fn join(&mut self, other: Tests) {
        self.pairs.extend(other.pairs);
        self.outputs.extend(other.outputs);
    }

    fn both(self) -> Match {
        Match { tests: self.pairs.into_iter().chain(self.outputs).collect(), need: Need::Each }
    }
}

struct Reader<'t, 'r> {
    text: &'t str,
    /// Where the lines begin.
    starts: Vec<usize>,
    rules: &'r mut Rules,
}

impl<'t> Reader<'t, '_> {
    /// The place of a part of the text.
    fn at(&self, part: &str) -> At {
        let offset = part.as_ptr().addr().saturating_sub(self.text.as_ptr().addr());
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = line.checked_sub(1).and_then(|line| self.starts.get(line));
        At { line, column: offset - start.unwrap_or(&0) + 1 }
    }

    fn wrong<T>(&self, raw: &RawValue, what: &str) -> Result<T, Wrong> {
        Err((self.at(raw.get()), what.to_owned()))
    }

    fn root(&mut self) -> Result<(), Wrong> {
        let raw: &'t RawValue = serde_json::from_str(self.text)
            .map_err(|error| (At { line: error.line(), column: error.column().max(1) }, syntax(&error)))?;
        let mut lists: [Vec<&'t RawValue>; 3] = Default::default();
        for (name, value) in self.all_members(raw)? {
            let place = ["filter", "add", "modify"].iter().position(|known| *known == name);
            match place {
                Some(place) => lists[place].extend(self.items(&name, value)?),
                None if name == "$schema" => {}
                None => {
                    return self.wrong(value, &format!("there is no `{name}` here: filter, add and modify are known"));
                }
            }
        }
        let [filters, adds, changes] = lists;
        for raw in filters {
            let on = self.matching(raw)?.both();
            self.push(raw, on, Action::Remove);
        }
        for raw in adds {
            let pairs = self.pairs(raw)?.into_iter().map(|(_, pair)| pair).collect();
            self.push(raw, Match::default(), Action::Add(pairs));
        }
        changes.into_iter().try_for_each(|raw| self.modify(raw))
    }

    fn push(&mut self, raw: &RawValue, on: Match, action: Action) {
        let at = self.at(raw.get());
        self.rules.rules.push(Rule { at, maps: Vec::new(), on, action });
    }

    /// The members of an object. Of equal keys the last one counts, as in the program (its JSON reader).
    fn members(&mut self, raw: &'t RawValue) -> Result<Vec<(String, &'t RawValue)>, Wrong> {
        let mut kept: Vec<(String, &'t RawValue)> = Vec::new();
        let mut places = HashMap::new();
        for (name, value) in self.all_members(raw)? {
            let place = *places.entry(name.clone()).or_insert(kept.len());
            let Some((_, old)) = kept.get_mut(place) else {
                kept.push((name, value));
                continue;
            };
            let (old, line) = (self.at(std::mem::replace(old, value).get()), self.at(value.get()).line);
            let name = escaped(name.as_bytes());
            let message = format!("the object has the key `{name}` again in line {line}: this value does nothing");
            self.rules.find(crate::REPEATED, old, message);
        }
        Ok(kept)
    }

    fn all_members(&self, raw: &'t RawValue) -> Result<Vec<(String, &'t RawValue)>, Wrong> {
        match serde_json::from_str(raw.get()) {
            Ok(Members(members)) => Ok(members),
            Err(_) => self.wrong(raw, "an object was expected"),
        }
    }

    /// The items of a list.
    fn items(&self, name: &str, raw: &'t RawValue) -> Result<Vec<&'t RawValue>, Wrong> {
        let message = || format!("`{name}` is not a list, and StripperCS2 reads nothing else there");
        serde_json::from_str(raw.get()).or_else(|_| self.wrong(raw, &message()))
    }

    fn modify(&mut self, raw: &'t RawValue) -> Result<(), Wrong> {
        let (mut on, mut delete) = (Tests::default(), Tests::default());
        let (mut replace, mut outputs, mut insert) = (Vec::new(), Vec::new(), Vec::new());
        for (name, value) in self.members(raw)? {
            match name.as_str() {
                "match" => on.join(self.matching(value)?),
                "delete" => delete.join(self.matching(value)?),
                "replace" => {
                    for (name, value) in self.members(value)? {
                        match name == "io" {
                            true => outputs.push(value),
                            false => replace.push(self.pair(name, value)?),
                        }
                    }
                }
                "insert" => insert.extend(self.pairs(value)?),
                _ => {
                    return self.wrong(
                        value,
                        &format!("there is no `{name}` here: match, replace, delete and insert are known"),
                    );
                }
            }
        }
        if on.pairs.is_empty() && on.outputs.is_empty() {
            let at = self.at(raw.get());
            self.rules.find(crate::EMPTY_BLOCK, at, "nothing is to be matched, so every entity is changed");
        }
        let set = |pair| Step::Set { pair, is_exact: false };
        // Which outputs are meant is known before anything is replaced.
        let mut steps = Vec::new();
        for value in outputs {
            steps.extend(self.template(value, &on.outputs)?);
        }
        steps.extend(replace.into_iter().map(set));
        steps.push(Step::Delete(delete.both().tests));
        // An output is added beside others of the same name.
        steps.extend(insert.into_iter().map(|(is_output, pair): (bool, NewPair)| {
            if is_output || pair.key.starts_with(b"On") { Step::Insert(pair) } else { set(pair) }
        }));
        self.push(raw, on.both(), Action::Modify(steps));
        Ok(())
    }

    /// What the outputs become that these tests found; nothing if no outputs are matched, as in the program.
    fn template(&mut self, raw: &'t RawValue, tests: &[Test]) -> Result<Option<Step>, Wrong> {
        if raw.get().starts_with('[') {
            return self.wrong(raw, "`io` is a list, and StripperCS2 reads one object in `replace`");
        }
        let output = self.output(raw)?;
        if tests.is_empty() {
            let message = "no `io` is in `match`, so no output is meant and this does nothing";
            self.rules.find(crate::IGNORED, self.at(raw.get()), message);
            return Ok(None);
        }
        self.check_parts(raw, &output);
        let parts = output.parts();
        Ok(Some(Step::Outputs { tests: tests.to_vec(), key: output.name.map(String::into_bytes), parts }))
    }

    fn matching(&mut self, raw: &'t RawValue) -> Result<Tests, Wrong> {
        let mut tests = Tests::default();
        for (name, value) in self.members(raw)? {
            if name == "io" {
                for item in self.items("io", value)? {
                    tests.outputs.push(self.output_test(item)?);
                }
                continue;
            }
            let text = self.string(value)?;
            let at = self.at(value.get());
            let value = match is_pattern(&text).then(|| &text[1..text.len() - 1]) {
                Some(inner) => self.pattern(At { column: at.column + 2, ..at }, inner),
                None => Expected::IsExactly(text.into_bytes()),
            };
            tests.pairs.push(Test { at, key: name.into_bytes(), is_exact: false, value, is_negated: false });
        }
        if tests.pairs.is_empty() && tests.outputs.is_empty() {
            let at = self.at(raw.get());
            self.rules.find(crate::EMPTY_BLOCK, at, "the object is empty and matches every entity");
        }
        Ok(tests)
    }

    /// An expression; one that does not compile stops StripperCS2.
    fn pattern(&mut self, at: At, text: &str) -> Expected {
        let pattern: Option<Box<Pattern>> = self.rules.pattern(at, text.as_bytes());
        pattern.map_or(Expected::Nothing, Expected::Like)
    }

    fn string(&self, raw: &RawValue) -> Result<String, Wrong> {
        serde_json::from_str(raw.get()).or_else(|_| self.wrong(raw, "a string was expected"))
    }

    /// Pairs to be written, and whether each is an output.
    fn pairs(&mut self, raw: &'t RawValue) -> Result<Vec<(bool, NewPair)>, Wrong> {
        let mut pairs = Vec::new();
        for (name, value) in self.members(raw)? {
            if name == "io" {
                for item in self.items("io", value)? {
                    let output = self.output(item)?;
                    self.check_parts(item, &output);
                    let value = output.value();
                    let Some(key) = output.name else { return self.wrong(item, "`outputname` is missing") };
                    pairs.push((true, NewPair { at: self.at(item.get()), key: key.into_bytes(), value }));
                }
                continue;
            }
            pairs.push((false, self.pair(name, value)?));
        }
        Ok(pairs)
    }

    fn pair(&self, name: String, value: &RawValue) -> Result<NewPair, Wrong> {
        let at = self.at(value.get());
        Ok(NewPair { at, key: name.into_bytes(), value: self.string(value)?.into_bytes() })
    }

    /// An output as it is written.
    fn output(&mut self, raw: &'t RawValue) -> Result<Wanted, Wrong> {
        let mut output = Wanted::default();
        for (name, value) in self.members(raw)? {
            let text = match &name[..] {
                "outputname" => &mut output.name,
                "targetname" => &mut output.texts[0],
                "inputname" => &mut output.texts[1],
                "overrideparam" => &mut output.texts[2],
                "delay" => {
                    // JSON has no other words for numbers than Rust.
                    let number = value.get().parse().ok().filter(|number: &f32| number.is_finite());
                    let Some(number) = number else { return self.wrong(value, "a number was expected") };
                    output.delay = Some(number);
                    continue;
                }
                "timestofire" => {
                    let whole = value.get().parse().ok().map(|number: f64| format!("{:.0}", number.trunc()));
                    let Some(times) = whole.and_then(|whole| whole.parse().ok()) else {
                        return self.wrong(value, "a number was expected that is not too large");
                    };
                    output.times = Some(times);
                    continue;
                }
                "targettype" => {
                    let at = self.at(value.get());
                    self.rules.find(crate::UNSUPPORTED, at, "`targettype` is of Source 2 only");
                    continue;
                }
                _ => {
                    let known = "outputname, targetname, inputname, overrideparam, delay, timestofire, targettype";
                    return self.wrong(value, &format!("there is no `{name}` in an output: {known}"));
                }
            };
            let written = self.string(value)?;
            if is_pattern(&written) {
                let message = "versions of StripperCS2 differ: to older ones a value in `io` is the text between \
                               quotes, also one with slashes, and to newer ones a regular expression; write it \
                               without slashes";
                self.rules.find(crate::UNSUPPORTED, self.at(value.get()), message);
            }
            *text = Some(written);
        }
        Ok(output)
    }

    /// A part that has what divides parts would be two of them.
    fn check_parts(&mut self, raw: &RawValue, output: &Wanted) {
        if let Some(part) = output.texts.iter().flatten().find(|part| part.contains([',', '\x1b'])) {
            let part = escaped(part.as_bytes());
            let message = format!("the part `{part}` of an output has a comma or an ESC, which divide parts in a map");
            self.rules.find(crate::UNSUPPORTED, self.at(raw.get()), message);
        }
    }

    /// An output as a test of a pair: what is not written can be anything, also the name.
    fn output_test(&mut self, raw: &'t RawValue) -> Result<Test, Wrong> {
        let output = self.output(raw)?;
        let at = self.at(raw.get());
        let pattern = output.expression().and_then(|text| self.rules.pattern(at, text.as_bytes()));
        let value = pattern.map_or(Expected::Nothing, Expected::Output);
        let key = output.name.unwrap_or_default().into_bytes();
        Ok(Test { at, key, is_exact: true, value, is_negated: false })
    }
}
