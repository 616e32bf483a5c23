//! Findings about a pakfile.

use std::collections::HashMap;
use std::ops::Range;

use super::record::{EndRecord, HAS_DESCRIPTOR};
use super::{Entry, Node, Pak, entry, write};
use crate::bytes::{self, escaped, is_zero};
use crate::content::pak;
use crate::error::{ErrorKind, Place};
use crate::file::names::{folder_hazard, path_hazard};
use crate::finding::{Code, Finding, Severity};
use crate::record::Field;
use crate::threads::{WORKING_MEMORY, in_parallel_within};

macro_rules! codes {
    ($($name:ident = $text:literal, $severity:ident, $meaning:literal;)*) => {
        $(static $name: Code = Code::new($text, Severity::$severity, $meaning);)*

        /// The codes of the findings of [`Pak::check`]. Errors: some reader cannot read the bytes of a file, or reads
        /// others than the directory states. Warnings: Valve's tools would write it in another way.
        pub const CODES: &[&Code] = &[$(&$name,)*];
    };
}

codes! {
    NAME = "name", Error, "no engine finds a file of this name";
    UNSAFE = "unsafe", Warning, "a name is not written to a disk";
    BACKSLASH = "backslash", Warning, "a name has a backslash, which zip readers do not read as a slash";
    DUPLICATE = "duplicate", Warning, "two names are the same to engines, which read only one of the files";
    ENCRYPTED_FILE = "encrypted", Error, "a file is encrypted, which no engine reads";
    DESCRIPTOR = "descriptor", Warning, "a file has a data descriptor, which Valve's tools do not know";
    EXTRA = "extra", Error, "engines read the data of a file at another place than the headers say";
    HEADERS = "headers", Error, "the local header of a file and the directory contradict each other";
    METHOD = "method", Error, "a file is compressed in a way that no engine reads";
    DATA = "data", Error, "the data of a file cannot be read, or has bytes too many";
    CRC = "crc", Error, "the CRC of a file is not that of its data";
    SOUND = "sound", Error, "a sound is compressed, and engines can only play it stored";
    DIRECTORY = "directory", Error, "the directory is not the one that its end record says";
    PLACE = "place", Error, "a file is not before the directory";
    OVERLAP = "overlap", Error, "two files share bytes";
    GAP = "gap", Warning, "bytes belong to no file";
    SIZE = "size", Error, "the data of all files is too large to be read";
    MANY = "many", Warning, "there are more files than Valve's tools read";
}

/// Valve's tools stop there.
const MOST_FILES: usize = 32768;

impl<'a> Pak<'a> {
    /// Reads every file, on this many threads, and returns all findings: first about the files in their order, then
    /// about the pakfile as a whole.
    ///
    /// ```
    /// use bspkit::content::pak::Pak;
    /// let mut pak = Pak::new(b"");
    /// pak.add("sound\\hit.wav", "RIFF")?;
    /// let pak = Pak::parse(pak.to_rope()?.to_data())?;
    /// let findings = pak.check(1);
    /// assert_eq!((findings[0].code.name, findings[0].place.file), ("backslash", Some(0)));
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn check(&self, threads: usize) -> Vec<Finding> {
        let entries: Vec<_> = self.iter().collect();
        let all: Vec<usize> = (0..self.len()).collect();
        let total = self.check_total_size(&all);
        let check = |entry: &Entry<'_, '_>| check_entry(entry, total.is_ok());
        let mut findings = in_parallel_within(threads, WORKING_MEMORY, &entries, Entry::memory, check).concat();
        self.check_names(&mut findings);
        self.check_places_as_read(&mut findings);
        let of_all = |code, message: String| Finding::new(code, Place::default(), message);
        if let Err(error) = total {
            findings.push(of_all(&SIZE, format!("{error}: their data is not read")));
        }
        if self.len() > MOST_FILES {
            let message = format!("{} files are more than the {MOST_FILES} that Valve's tools read", self.len());
            findings.push(of_all(&MANY, message));
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
                findings.push(finding(&entry, &DUPLICATE, &why));
            }
        }
    }

    /// Bytes that belong to no file, and files that share theirs.
    fn check_places_as_read(&self, findings: &mut Vec<Finding>) {
        let source = &*self.source;
        let of_all = |code, message: String| Finding::new(code, Place::default(), message);
        if !self.is_edited() && source.counted_beyond().is_none() {
            let (says, is) = (source.end.directory_size, source.directory.len());
            let message = format!("the directory has {is} bytes, and its end record says {says}");
            findings.push(of_all(&DIRECTORY, message));
        }
        if let Some(at) = source.uncounted() {
            let message =
                format!("the directory goes on at {at}, after the files that its end record counts: {}", self.len());
            findings.push(of_all(&DIRECTORY, message));
        }
        if let Some(at) = source.other_end() {
            let message = format!("another end record is at {at}, which some readers take");
            findings.push(of_all(&DIRECTORY, message));
        }
        for entry in self.iter() {
            let Node::Source(at) = &self.nodes[entry.index()] else { continue };
            if write::before_directory(source, &source.entries[bytes::index(*at)]).is_none() {
                findings.push(finding(&entry, &PLACE, "it is not before the directory"));
            }
        }
        for gap in self.gaps() {
            let what = if is_zero(&source.data[gap.clone()]) { "zeros" } else { "bytes" };
            let message = format!("{} {what} at {} belong to no file", gap.len(), gap.start);
            findings.push(of_all(&GAP, message));
        }
        let (mut shared, mut end) = (Vec::new(), 0);
        for (range, index) in self.extents() {
            if range.start < end {
                shared.push(index);
            }
            end = end.max(range.end);
        }
        for index in shared {
            findings.push(finding(&self.view(index), &OVERLAP, "it shares bytes with the file before it"));
        }
    }
}

impl Pak<'_> {
    /// The ranges of the bytes that were read that belong to no file, directory or comment. Of an edited pakfile, those
    /// between the files that are as they were read. None for the pakfile of a console.
    ///
    /// ```
    /// use bspkit::content::pak::Pak;
    /// let mut pak = Pak::new(b"");
    /// pak.add("a.txt", "text")?;
    /// let zip = pak.to_rope()?.to_data().to_vec();
    /// assert!(Pak::parse(zip.clone())?.gaps().is_empty());
    /// assert_eq!(Pak::parse([&zip[..], b"more"].concat())?.gaps(), [zip.len()..zip.len() + 4]);
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn gaps(&self) -> Vec<Range<usize>> {
        if self.is_console() {
            return Vec::new();
        }
        let source = &*self.source;
        let (mut gaps, mut end) = (Vec::new(), 0);
        for (range, _) in self.extents() {
            gaps.push(end..range.start);
            end = end.max(range.end);
        }
        if !self.is_edited() {
            gaps.push(end..source.directory.start);
            gaps.push(source.directory.end..source.end_at);
            gaps.push(
                (source.end_at + EndRecord::SIZE + source.comment().len()).min(source.data.len())..source.data.len(),
            );
        }
        gaps.retain(|gap| gap.start < gap.end);
        gaps
    }

    /// The ranges of the files that are as they were read, with their headers, and their indices.
    fn extents(&self) -> Vec<(Range<usize>, usize)> {
        let source = &*self.source;
        let mut extents = Vec::with_capacity(self.len());
        for (index, node) in self.nodes.iter().enumerate() {
            if let Node::Source(at) = node {
                let range = write::extent(source, &source.entries[bytes::index(*at)]);
                extents.extend(range.map(|range| (range, index)));
            }
        }
        extents.sort_by_key(|(range, _)| range.start);
        extents
    }
}

fn finding(entry: &Entry<'_, '_>, code: &'static Code, why: &str) -> Finding {
    Finding::new(code, Place::default().file(entry.index()), format!("`{}`: {why}", escaped(entry.name())))
}

fn check_entry(entry: &Entry<'_, '_>, reads_data: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut add = |code, why: &str| findings.push(finding(entry, code, why));
    if let Some(why) = pak::problem(entry.name()) {
        add(&NAME, &format!("the name {why}"));
    }
    let hazard = match entry.name().strip_suffix(b"/") {
        Some(folder) => folder_hazard(folder),
        None => path_hazard(entry.name()),
    };
    if let Some(why) = hazard.filter(|_| pak::problem(entry.name()).is_none()) {
        add(&UNSAFE, &format!("it is not written to a disk: {why}"));
    }
    if entry.name().contains(&b'\\') {
        add(&BACKSLASH, "the name has a backslash, which zip readers do not read as a slash");
    }
    let record = entry.record();
    if entry.is_encrypted() {
        add(&ENCRYPTED_FILE, "it is encrypted, which no engine reads");
    }
    if record.flags & HAS_DESCRIPTOR != 0 {
        add(&DESCRIPTOR, "it has a data descriptor, which Valve's tools do not know");
    }
    if let Some(after) = entry.misread() {
        let why = format!("the lengths in its two headers differ, so engines read its data {after:+} bytes off");
        add(&EXTRA, &why);
    }
    if let Some(local) = entry.local() {
        let has_descriptor = local.flags & HAS_DESCRIPTOR != 0;
        let sizes = |crc, stored, size| if has_descriptor { (0, 0, 0) } else { (crc, stored, size) };
        let of_local = (local.method, sizes(local.crc, local.stored_size, local.size));
        if of_local != (record.method, sizes(record.crc, record.stored_size, record.size)) {
            add(&HEADERS, "its local header and the directory contradict each other");
        }
    }
    if let Some(local) = entry.local_name().filter(|name| *name != entry.name()) {
        add(&HEADERS, &format!("its local header names it `{}`", escaped(local)));
    }
    if !reads_data {
        return findings;
    }
    match entry.unpacked() {
        Err(error) if entry.is_encrypted() && error.kind() == ErrorKind::Unsupported => {}
        Err(error) => {
            let code = if error.kind() == ErrorKind::Unsupported { &METHOD } else { &DATA };
            let cause = std::error::Error::source(&error).map_or(String::new(), |cause| format!(": {cause}"));
            findings.push(Finding::new(code, Place::default().file(entry.index()), format!("{error}{cause}")));
        }
        Ok((data, rest)) => {
            if !entry.has_crc_of(&data) {
                let crc = crc32fast::hash(&data);
                let why = format!("its CRC is {crc:08x}, and the directory says {:08x}", entry.crc());
                add(&CRC, &why);
            }
            if rest > 0 {
                add(&DATA, &format!("{rest} of its stored bytes are not part of its data"));
            }
            if record.method == entry::LZMA && entry::is_read_in_pieces(entry.name()) {
                add(&SOUND, "it is compressed, and engines can only play it stored");
            }
        }
    }
    findings
}
