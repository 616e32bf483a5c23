//! Findings about many maps in the formats that CI systems read: a [`Report`], and the [`Baseline`] of what is known.

mod formats;

use std::collections::HashMap;
use std::io::{self, Seek, Write};
use std::path::PathBuf;

use md5::{Digest, Md5};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tempfile::SpooledTempFile;

use bspkit::bytes::{escaped, unescape};
use bspkit::disk::shown;
use bspkit::finding::{Code, Finding, Severity};
use bspkit::json::text_and_raw;
use bspkit::{Error, ErrorKind, Result};
use bspkit_ops::policy::unread;

/// The findings about one map.
///
/// ```
/// use bspkit_text::ci::MapFindings;
/// let error = bspkit::Bsp::parse(b"text").unwrap_err();
/// let findings = vec![(bspkit_ops::policy::unread(&error), true)];
/// let map = MapFindings { path: "a.bsp".into(), findings, ..MapFindings::default() };
/// assert_eq!(map.denied(), 1);
/// ```
#[derive(Clone, Debug, Default)]
pub struct MapFindings {
    /// The path of the map.
    pub path: PathBuf,
    /// The dialect; `None` if the map could not be opened.
    pub dialect: Option<&'static str>,
    /// Each finding, and whether it counts as a failure.
    pub findings: Vec<(Finding, bool)>,
    /// How many findings were left out, since the baseline has them.
    pub known: usize,
}

impl MapFindings {
    /// How many findings count as failures.
    pub fn denied(&self) -> usize {
        self.findings.iter().filter(|(_, is_denied)| *is_denied).map(|(finding, _)| finding.count).sum()
    }

    /// Whether it could not be opened.
    fn is_unread(&self) -> bool {
        self.dialect.is_none()
    }

    /// The path as text, with slashes, without `./` at its start; escaped if it is not UTF-8.
    fn uri(&self) -> String {
        text_and_raw(&self.bytes()).0.into_owned()
    }

    /// The bytes of that path.
    fn bytes(&self) -> Vec<u8> {
        let mut path = self.path.as_os_str().as_encoded_bytes().to_vec();
        if cfg!(windows) {
            path.iter_mut().filter(|byte| **byte == b'\\').for_each(|byte| *byte = b'/');
        }
        path.strip_prefix(b"./").map_or(path.clone(), <[u8]>::to_vec)
    }
}

/// Where a finding is, in words: `FACES, record 3, texinfo`; empty if no place is known.
fn place(finding: &Finding) -> String {
    let place = &finding.place;
    let mut parts: Vec<String> = place.lump.iter().cloned().collect();
    parts.extend(place.record.map(|record| format!("record {record}")));
    parts.extend(finding.place.field.clone());
    let offset = place.offset.filter(|_| place.record.is_none());
    parts.extend(offset.map(|offset| format!("offset {offset}")));
    parts.join(", ")
}

/// The place and the sentence of a finding.
fn sentence(finding: &Finding) -> String {
    match place(finding) {
        place if place.is_empty() => finding.message.clone(),
        place => format!("{place}: {}", finding.message),
    }
}

/// Names for findings of a map that stay the same when records and offsets move: a hash of the path, the code, the lump
/// and the sentence, with a number for equal ones.
#[derive(Default)]
struct Fingerprints(HashMap<Vec<u8>, usize>);

impl Fingerprints {
    fn of(&mut self, map: &MapFindings, finding: &Finding) -> String {
        let (lump, field) = (finding.place.lump.as_deref().unwrap_or(""), finding.place.field.as_deref().unwrap_or(""));
        // The bytes of the path: the text of two paths may be the same.
        let rest = ["", finding.code.name, lump, field, &finding.message].join("\0");
        let text = [map.bytes(), rest.into_bytes()].concat();
        let nth = self.0.entry(text.clone()).or_default();
        *nth += 1;
        hex(&Md5::digest([text, format!("\0{nth}").into_bytes()].concat()))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The name of a severity in another format.
fn severity(severity: Severity, names: [&'static str; 3]) -> &'static str {
    match severity {
        Severity::Error => names[0],
        Severity::Warning => names[1],
        Severity::Note => names[2],
    }
}

/// `3 findings`, `1 finding`.
fn count(number: usize, one: &str, more: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { more })
}

// A report about many maps, written map by map.

/// A longer report waits in a file without a name.
const MOST_IN_MEMORY: usize = 1 << 20;

/// The format of a [`Report`].
///
/// ```
/// use bspkit_text::ci::{Format, Report};
/// let mut text = Vec::new();
/// Report::new(Format::Gitlab).write_to(&mut text)?;
/// assert_eq!(text, b"[]\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// A line for each finding.
    Text,
    /// A line of JSON for each map, as `docs/schema/ci.schema.json` says.
    JsonLines,
    /// JUnit XML: a test case for each map.
    Junit,
    /// SARIF 2.1.0, the Static Analysis Results Interchange Format of OASIS.
    Sarif,
    /// Workflow commands of GitHub Actions.
    Github,
    /// GitLab's code quality report.
    Gitlab,
}

/// A report about many maps. Its memory does not depend on their number.
///
/// ```
/// use bspkit_text::ci::{Format, MapFindings, Report};
/// let error = bspkit::Bsp::parse(b"text").unwrap_err();
/// let findings = vec![(bspkit_ops::policy::unread(&error), true)];
/// let mut report = Report::new(Format::Github);
/// report.add(&MapFindings { path: "maps/a.bsp".into(), findings, ..MapFindings::default() });
/// let mut text = Vec::new();
/// report.write_to(&mut text)?;
/// assert!(text.starts_with(b"::error file=maps/a.bsp,title=map-unread::"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Report {
    format: Format,
    body: SpooledTempFile,
    /// The first error of the file.
    error: Option<io::Error>,
    totals: Totals,
    /// The codes that were found, in the order of the first finding of each.
    codes: Vec<&'static Code>,
    /// The rows of GitHub's summary.
    rows: Vec<String>,
    /// What SARIF says of named files and folders that could not be read.
    unread: Vec<String>,
}

/// What was counted so far.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    maps: usize,
    /// Maps that could not be opened, and others with findings that count as failures.
    errors: usize,
    failures: usize,
    findings: usize,
    known: usize,
    /// Maps that were not looked at.
    left_out: usize,
}

impl Report {
    /// A report about no map yet.
    pub fn new(format: Format) -> Self {
        let (error, totals, codes, rows, unread) = Default::default();
        Report { format, body: SpooledTempFile::new(MOST_IN_MEMORY), error, totals, codes, rows, unread }
    }

    /// Adds a map. An error of the file in which a long report waits is given by [`Report::write_to`].
    pub fn add(&mut self, map: &MapFindings) {
        self.totals.maps += 1;
        self.totals.errors += usize::from(map.is_unread());
        self.totals.failures += usize::from(!map.is_unread() && map.denied() > 0);
        self.totals.known += map.known;
        let part = self.part(map);
        self.totals.findings += map.findings.len();
        if let Err(error) = self.body.write_all(part.as_bytes()) {
            self.error.get_or_insert(error);
        }
    }

    /// Adds an archive or a folder that was named and in which no map can be read. It is in the report as a map that
    /// cannot be read, and SARIF says that the run was no success.
    ///
    /// ```
    /// use bspkit::{Error, ErrorKind};
    /// use bspkit_text::ci::{Format, Report};
    /// let mut report = Report::new(Format::Junit);
    /// report.add_unread("a.pk3", &Error::new(ErrorKind::Malformed, "it is cut short"));
    /// let mut text = Vec::new();
    /// report.write_to(&mut text)?;
    /// assert!(String::from_utf8_lossy(&text).contains("tests=\"1\" failures=\"0\" errors=\"1\""));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn add_unread(&mut self, path: impl Into<PathBuf>, error: &Error) {
        let map = MapFindings { path: path.into(), findings: vec![(unread(error), true)], ..MapFindings::default() };
        if self.unread.len() < formats::MOST_LISTED {
            self.unread.extend(map.findings.iter().map(|(finding, _)| format!("{}: {}", map.uri(), sentence(finding))));
        }
        self.add(&map);
    }

    /// How many maps were added.
    pub fn maps(&self) -> usize {
        self.totals.maps
    }

    /// States that this many maps were not looked at: the run was stopped. SARIF, JUnit and the summary say it; the
    /// other formats have no place for it.
    pub fn leave_out(&mut self, maps: usize) {
        self.totals.left_out = maps;
    }

    /// The part of the report about a map.
    fn part(&mut self, map: &MapFindings) -> String {
        match self.format {
            Format::Text => {
                let path = shown(&map.path);
                map.findings.iter().map(|(finding, _)| format!("{path}: {finding}\n")).collect()
            }
            Format::JsonLines => formats::line(map),
            Format::Junit => formats::case(map),
            Format::Github => {
                let room = formats::MOST_LISTED - self.rows.len();
                self.rows.extend(map.findings.iter().take(room).map(|(finding, _)| formats::row(map, finding)));
                formats::lines(map)
            }
            Format::Sarif => {
                let rules: Vec<usize> = map.findings.iter().map(|(finding, _)| self.rule(finding.code)).collect();
                let mut prints = Fingerprints::default();
                let results = map.findings.iter().zip(rules);
                self.items(8, results.map(|(it, rule)| formats::result(map, it, rule, &prints.of(map, &it.0))))
            }
            Format::Gitlab => {
                let mut prints = Fingerprints::default();
                self.items(2, map.findings.iter().map(|it| formats::issue(map, it, &prints.of(map, &it.0))))
            }
        }
    }

    /// The place of a code among those that were found.
    fn rule(&mut self, code: &'static Code) -> usize {
        self.codes.iter().position(|known| std::ptr::eq(*known, code)).unwrap_or_else(|| {
            self.codes.push(code);
            self.codes.len() - 1
        })
    }

    /// Items of a list of JSON, each on lines of its own that are indented.
    fn items(&self, spaces: usize, items: impl Iterator<Item = Value>) -> String {
        let indent = format!("\n{:spaces$}", "");
        let mut text = String::new();
        for (index, item) in items.enumerate() {
            if index > 0 || self.totals.findings > 0 {
                text.push(',');
            }
            // Line breaks within strings are escaped.
            text += &format!("\n{item:#}").replace('\n', &indent);
        }
        text
    }

    /// Writes the report.
    ///
    /// # Errors
    /// Those of the writer, and those of the file in which a long report waited.
    pub fn write_to(&mut self, mut out: impl Write) -> io::Result<()> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let [head, foot] = match self.format {
            Format::Junit => formats::junit_frame(&self.totals),
            Format::Sarif => formats::sarif_frame(&self.codes, self.totals.left_out, &self.unread),
            Format::Gitlab => ["[".to_owned(), "]\n".to_owned()],
            Format::Text | Format::JsonLines | Format::Github => Default::default(),
        };
        out.write_all(head.as_bytes())?;
        self.body.rewind()?;
        io::copy(&mut self.body, &mut out)?;
        // The end of a list that is not empty has its own line.
        let end = match self.format {
            Format::Sarif if self.totals.findings > 0 => "\n      ",
            Format::Gitlab if self.totals.findings > 0 => "\n",
            _ => "",
        };
        out.write_all(end.as_bytes())?;
        out.write_all(foot.as_bytes())
    }

    /// A summary in Markdown, for the file that `GITHUB_STEP_SUMMARY` names. A report in GitHub's format has it.
    pub fn summary(&self) -> String {
        formats::summary(&self.totals, &self.rows)
    }
}

// Baselines: findings that are known, so that only new ones count.

/// The findings that are known, by map.
///
/// A finding is known if the baseline has one for the same map with the same code, lump and field, and the same
/// sentence. Records and offsets may be others, since they move. If the sentences differ only in numbers and the record
/// is the same, it is known too. Each entry of a baseline is for one finding.
///
/// ```
/// use bspkit_text::ci::Baseline;
/// let error = bspkit::Bsp::parse(b"text").unwrap_err();
/// let found = bspkit_ops::policy::unread(&error);
/// let mut baseline = Baseline::default();
/// baseline.set("a.bsp", &[found.clone()]);
/// let read = Baseline::read(&baseline.write())?;
/// assert_eq!(read.new_ones("a.bsp", vec![found.clone(), found.clone()]).len(), 1);
/// assert_eq!(read.new_ones("b.bsp", vec![found]).len(), 1);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Baseline {
    maps: HashMap<String, Vec<Known>>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    path: String,
    code: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    lump: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    message: String,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    count: usize,
}

fn one() -> usize {
    1
}

fn is_one(count: &usize) -> bool {
    *count == 1
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    findings: Vec<Known>,
}

impl Known {
    fn new(path: &str, finding: &Finding) -> Self {
        Known {
            path: path.to_owned(),
            code: finding.code.name.to_owned(),
            lump: finding.place.lump.clone(),
            record: finding.place.record,
            field: finding.place.field.clone(),
            message: finding.message.clone(),
            count: finding.count,
        }
    }

    /// The whole finding.
    fn whole(&self) -> Option<Key> {
        Some(self.key(self.record, self.message.clone()))
    }

    /// The finding, wherever it is.
    fn anywhere(&self) -> Option<Key> {
        Some(self.key(None, self.message.clone()))
    }

    /// The finding about a record, with whatever numbers; digits of names count.
    fn in_place(&self) -> Option<Key> {
        self.record.map(|record| self.key(Some(record), without_numbers(&self.message)))
    }

    fn key(&self, record: Option<usize>, message: String) -> Key {
        (self.code.clone(), self.lump.clone(), self.field.clone(), record, message, self.count)
    }

    /// Whether both say how many more findings of a kind there are, and there are not more now.
    fn is_rest_of(&self, other: &Known) -> bool {
        let kind = |known: &Known| (known.code.clone(), known.lump.clone(), known.field.clone());
        other.count > 1 && self.count > 1 && kind(self) == kind(other) && self.count <= other.count
    }
}

/// Code, lump, field, record, message and count of a finding.
type Key = (String, Option<String>, Option<String>, Option<usize>, String, usize);

/// A sentence without the digits outside of quoted names.
fn without_numbers(text: &str) -> String {
    let mut is_quoted = false;
    let kept = text.chars().filter(|letter| {
        is_quoted ^= *letter == '`';
        is_quoted || !letter.is_ascii_digit()
    });
    kept.collect()
}

impl Baseline {
    /// Reads a baseline.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for a text that is not a baseline.
    pub fn read(text: &str) -> Result<Self> {
        let document: Document = serde_json::from_str(text)
            .map_err(|error| Error::new(ErrorKind::Argument, "it is not a baseline").with_source(error))?;
        if document.version != 1 {
            let message = format!("the baseline has version {}, and only version 1 is known", document.version);
            return Err(Error::new(ErrorKind::Argument, message));
        }
        let mut baseline = Baseline::default();
        for known in document.findings {
            baseline.maps.entry(known.path.clone()).or_default().push(known);
        }
        Ok(baseline)
    }

    /// The text for a path. It is the path itself, but escaped if it is not UTF-8 or could be read as the
    /// escaped text of another path: two paths never have the same text.
    ///
    /// ```
    /// use bspkit_text::ci::Baseline;
    /// assert_eq!(Baseline::path("maps/\u{e9}.bsp".as_bytes()), "maps/\u{e9}.bsp");
    /// assert_eq!(Baseline::path(b"\xff.bsp"), r"\xff.bsp");
    /// assert_eq!(Baseline::path(br"\xff.bsp"), r"\\xff.bsp");
    /// ```
    pub fn path(path: &[u8]) -> String {
        match std::str::from_utf8(path) {
            Ok(text) if unescape(text) == path => text.to_owned(),
            _ => escaped(path).to_string(),
        }
    }

    /// Sets the findings about a map; the path is relative to the baseline's folder, with slashes.
    pub fn set(&mut self, path: &str, findings: &[Finding]) {
        let known = findings.iter().map(|finding| Known::new(path, finding));
        self.maps.insert(path.to_owned(), known.collect());
    }

    /// Takes what a newer baseline says of its maps, also that nothing is wrong with one.
    ///
    /// ```
    /// use bspkit_text::ci::Baseline;
    /// let found = bspkit_ops::policy::unread(&bspkit::Bsp::parse(b"text").unwrap_err());
    /// let [mut old, mut new] = [Baseline::default(), Baseline::default()];
    /// old.set("a.bsp", &[found.clone()]);
    /// old.set("b.bsp", &[found]);
    /// new.set("a.bsp", &[]);
    /// old.update(new);
    /// assert!(old.findings() == 1 && old.write().contains("b.bsp"));
    /// ```
    pub fn update(&mut self, newer: Baseline) {
        self.maps.extend(newer.maps);
    }

    /// Keeps the findings of some maps, by their paths.
    pub fn retain(&mut self, mut is_kept: impl FnMut(&str) -> bool) {
        self.maps.retain(|path, _| is_kept(path));
    }

    /// How many findings are known.
    pub fn findings(&self) -> usize {
        self.maps.values().map(Vec::len).sum()
    }

    /// The document: sorted, one line for each finding, so that version control shows what changed.
    pub fn write(&self) -> String {
        let mut all: Vec<&Known> = self.maps.values().flatten().collect();
        all.sort();
        // Strings and numbers can always be written.
        let lines: Vec<String> = all.iter().map(|known| serde_json::to_string(known).unwrap_or_default()).collect();
        let list = if lines.is_empty() { "[]".to_owned() } else { format!("[\n{}\n]", lines.join(",\n")) };
        format!("{{\"version\": 1, \"findings\": {list}}}\n")
    }

    /// The findings about a map that are not known.
    pub fn new_ones(&self, path: &str, findings: Vec<Finding>) -> Vec<Finding> {
        let known = self.maps.get(path).map_or(&[][..], Vec::as_slice);
        let mut is_left = vec![true; known.len()];
        let mut new: Vec<(Known, Finding)> =
            findings.into_iter().map(|finding| (Known::new(path, &finding), finding)).collect();
        let ways: [fn(&Known) -> Option<Key>; 3] = [Known::whole, Known::anywhere, Known::in_place];
        for way in ways {
            let mut by_key: HashMap<Key, Vec<usize>> = HashMap::new();
            for (at, known) in known.iter().enumerate().rev().filter(|(at, _)| is_left[*at]) {
                way(known).into_iter().for_each(|key| by_key.entry(key).or_default().push(at));
            }
            new.retain(|(finding, _)| match way(finding).and_then(|key| by_key.get_mut(&key)?.pop()) {
                Some(at) => {
                    is_left[at] = false;
                    false
                }
                None => true,
            });
        }
        new.retain(|(finding, _)| {
            let is_known = |at: &usize| is_left[*at] && finding.is_rest_of(&known[*at]);
            finding.count == 1 || !(0..known.len()).any(|at| is_known(&at))
        });
        new.into_iter().map(|(_, finding)| finding).collect()
    }
}
