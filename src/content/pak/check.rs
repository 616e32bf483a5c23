//! Findings about a pakfile.

use std::collections::HashMap;
use std::fmt;

use super::record::{ENCRYPTED, EndRecord, HAS_DESCRIPTOR};
use super::{Entry, Node, Pak, entry, write};
use crate::ErrorKind;
use crate::bytes::{self, escaped, is_zero};
use crate::content::pak;
use crate::file::names::{folder_hazard, path_hazard};
use crate::record::Field;
use crate::threads::{WORKING_MEMORY, in_parallel_within};

/// A fault or oddity of a pakfile.
///
/// ```
/// use bspkit::content::pak::{Pak, Severity};
/// let mut pak = Pak::new(b"");
/// pak.add("sound\\hit.wav", "RIFF")?;
/// let pak = Pak::parse(pak.to_rope()?.to_data())?;
/// let findings = pak.check(1);
/// assert_eq!((findings[0].severity, findings[0].code), (Severity::Odd, "backslash"));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// How serious it is.
    pub severity: Severity,
    /// The kind of finding, in one word.
    pub code: &'static str,
    /// The index of the file, if it is about one file.
    pub entry: Option<usize>,
    /// A sentence.
    pub message: String,
}

/// How serious a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Valve's tools would write it in another way; all readers read it.
    Odd,
    /// Some reader cannot read the file's bytes, or reads other bytes than the directory states.
    Wrong,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Severity::Wrong { "wrong" } else { "odd" })
    }
}

/// Valve's tools stop there.
const MOST_FILES: usize = 32768;

impl<'a> Pak<'a> {
    /// Reads every file, on this many threads, and returns all findings: first about the files in their order, then
    /// about the pakfile as a whole.
    pub fn check(&self, threads: usize) -> Vec<Finding> {
        let entries: Vec<_> = self.iter().collect();
        let all: Vec<usize> = (0..self.len()).collect();
        let total = self.check_total_size(&all);
        let check = |entry: &Entry<'_, '_>| check_entry(entry, total.is_ok());
        let mut findings = in_parallel_within(threads, WORKING_MEMORY, &entries, Entry::memory, check).concat();
        self.check_names(&mut findings);
        self.check_places_as_read(&mut findings);
        let of_all = |severity, code, message| Finding { severity, code, entry: None, message };
        if let Err(error) = total {
            findings.push(of_all(Severity::Wrong, "size", format!("{error}: their data is not read")));
        }
        if self.len() > MOST_FILES {
            let message = format!("{} files are more than the {MOST_FILES} that Valve's tools read", self.len());
            findings.push(of_all(Severity::Odd, "many", message));
        }
        findings
    }

    /// Names that are equal to engines.
    fn check_names(&self, findings: &mut Vec<Finding>) {
        let mut first = HashMap::with_capacity(self.len());
        for entry in self.iter() {
            let first = *first.entry(pak::lookup_name(entry.name())).or_insert(entry.index());
            if first != entry.index() {
                let other = escaped(self.name(first));
                let why = format!("to engines it is the same as file #{first}, `{other}`: they read only one");
                findings.push(finding(&entry, Severity::Odd, "duplicate", &why));
            }
        }
    }

    /// Bytes that belong to no file, and files that share theirs.
    fn check_places_as_read(&self, findings: &mut Vec<Finding>) {
        let source = &*self.source;
        let of_all = |severity, code, message| Finding { severity, code, entry: None, message };
        if !self.is_edited() && source.counted_beyond().is_none() {
            let (says, is) = (source.end.directory_size, source.directory.len());
            let message = format!("the directory has {is} bytes, and its end record says {says}");
            findings.push(of_all(Severity::Wrong, "directory", message));
        }
        let mut extents: Vec<_> = Vec::with_capacity(self.len());
        for entry in self.iter() {
            let Node::Source(at) = &self.nodes[entry.index()] else { continue };
            let record = &source.entries[bytes::index(*at)];
            if write::before_directory(source, record).is_none() {
                findings.push(finding(&entry, Severity::Wrong, "place", "it is not before the directory"));
            }
            extents.extend(write::extent(source, record).map(|range| (range, entry.index())));
        }
        extents.sort_by_key(|(range, _)| range.start);
        let mut end = 0;
        let mut gap = |from: usize, to: usize| {
            if from < to && !self.is_console() {
                let what = if is_zero(&source.data[from..to]) { "zeros" } else { "bytes" };
                let message = format!("{} {what} at {from} belong to no file", to - from);
                findings.push(of_all(Severity::Odd, "gap", message));
            }
        };
        let mut shared = Vec::new();
        for (range, index) in extents {
            gap(end, range.start);
            if range.start < end {
                shared.push(index);
            }
            end = end.max(range.end);
        }
        if !self.is_edited() {
            gap(end, source.directory.start);
            gap(source.directory.end, source.end_at);
            let after = (source.end_at + EndRecord::SIZE + source.comment().len()).min(source.data.len());
            gap(after, source.data.len());
        }
        for index in shared {
            findings.push(finding(
                &self.view(index),
                Severity::Wrong,
                "overlap",
                "it shares bytes with the file before it",
            ));
        }
    }
}

fn finding(entry: &Entry<'_, '_>, severity: Severity, code: &'static str, why: &str) -> Finding {
    let message = format!("`{}`: {why}", escaped(entry.name()));
    Finding { severity, code, entry: Some(entry.index()), message }
}

fn check_entry(entry: &Entry<'_, '_>, reads_data: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut add = |severity, code, why: &str| findings.push(finding(entry, severity, code, why));
    if let Some(why) = pak::problem(entry.name()) {
        add(Severity::Wrong, "name", &format!("the name {why}"));
    }
    let hazard = match entry.name().strip_suffix(b"/") {
        Some(folder) => folder_hazard(folder),
        None => path_hazard(entry.name()),
    };
    if let Some(why) = hazard.filter(|_| pak::problem(entry.name()).is_none()) {
        add(Severity::Odd, "unsafe", &format!("it is not written to a disk: {why}"));
    }
    if entry.name().contains(&b'\\') {
        add(Severity::Odd, "backslash", "the name has a backslash, which zip readers do not read as a slash");
    }
    let record = entry.record();
    if record.flags & ENCRYPTED != 0 {
        add(Severity::Wrong, "encrypted", "it is encrypted, which no engine reads");
    }
    if record.flags & HAS_DESCRIPTOR != 0 {
        add(Severity::Odd, "descriptor", "it has a data descriptor, which Valve's tools do not know");
    }
    if let Some(after) = entry.misread() {
        let why = format!("the lengths in its two headers differ, so engines read its data {after:+} bytes off");
        add(Severity::Wrong, "extra", &why);
    }
    if let Some(local) = entry.local() {
        let has_descriptor = local.flags & HAS_DESCRIPTOR != 0;
        let sizes = |crc, stored, size| if has_descriptor { (0, 0, 0) } else { (crc, stored, size) };
        let of_local = (local.method, sizes(local.crc, local.stored_size, local.size));
        if of_local != (record.method, sizes(record.crc, record.stored_size, record.size)) {
            add(Severity::Wrong, "headers", "its local header and the directory contradict each other");
        }
    }
    if let Some(local) = entry.local_name().filter(|name| *name != entry.name()) {
        add(Severity::Wrong, "headers", &format!("its local header names it `{}`", escaped(local)));
    }
    if !reads_data {
        return findings;
    }
    match entry.unpacked() {
        Err(error) if record.flags & ENCRYPTED != 0 && error.kind() == ErrorKind::Unsupported => {}
        Err(error) => {
            let (code, severity) = match error.kind() {
                ErrorKind::Unsupported => ("method", Severity::Wrong),
                _ => ("data", Severity::Wrong),
            };
            let cause = std::error::Error::source(&error).map_or(String::new(), |cause| format!(": {cause}"));
            findings.push(Finding { severity, code, entry: Some(entry.index()), message: format!("{error}{cause}") });
        }
        Ok((data, rest)) => {
            if !entry.has_crc_of(&data) {
                let crc = crc32fast::hash(&data);
                let why = format!("its CRC is {crc:08x}, and the directory says {:08x}", entry.crc());
                add(Severity::Wrong, "crc", &why);
            }
            if rest > 0 {
                add(Severity::Wrong, "data", &format!("{rest} of its stored bytes are not part of its data"));
            }
            if record.method == entry::LZMA && entry::is_read_in_pieces(entry.name()) {
                add(Severity::Wrong, "sound", "it is compressed, and engines can only play it stored");
            }
        }
    }
    findings
}
