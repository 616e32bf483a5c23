//! Baselines: findings that are known, so that only new ones count.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};
use crate::op::check::Finding;

/// The findings that are known, by map.
///
/// A finding is known if the baseline has one for the same map with the same code, lump and field, and the same
/// sentence. Records and offsets may be others, since they move. If the sentences differ only in numbers and the record
/// is the same, it is known too. Each entry of a baseline is for one finding.
///
/// ```
/// use bspkit::face::ci::Baseline;
/// let error = bspkit::Bsp::parse(b"text").unwrap_err();
/// let found = bspkit::op::policy::unread(&error);
/// let mut baseline = Baseline::default();
/// baseline.add("a.bsp", &[found.clone()]);
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
            field: finding.field.clone(),
            message: finding.message.clone(),
            count: finding.count,
        }
    }

    fn kind(&self) -> (&str, Option<&str>, Option<&str>) {
        (&self.code, self.lump.as_deref(), self.field.as_deref())
    }

    /// Whether both are the same finding, apart from where it is.
    fn says_the_same(&self, other: &Known) -> bool {
        self.kind() == other.kind() && self.message == other.message
    }

    /// Whether both are about the same record and differ only in numbers.
    fn is_there_too(&self, other: &Known) -> bool {
        let is_placed = self.record.is_some() && self.record == other.record;
        is_placed && self.kind() == other.kind() && without_numbers(&self.message).eq(without_numbers(&other.message))
    }

    /// Whether both say how many more findings of a kind there are, and there are not more now.
    fn is_rest_of(&self, other: &Known) -> bool {
        other.count > 1 && self.count > 1 && self.kind() == other.kind() && self.count <= other.count
    }
}

fn without_numbers(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().filter(|letter| !letter.is_ascii_digit())
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

    /// Adds findings about a map; the path is relative to the baseline's folder, with slashes.
    pub fn add(&mut self, path: &str, findings: &[Finding]) {
        let known = findings.iter().map(|finding| Known::new(path, finding));
        self.maps.entry(path.to_owned()).or_default().extend(known);
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
        let mut left: Vec<&Known> = self.maps.get(path).into_iter().flatten().collect();
        let mut new: Vec<(Known, Finding)> =
            findings.into_iter().map(|finding| (Known::new(path, &finding), finding)).collect();
        let ways: [fn(&Known, &Known) -> bool; 4] =
            [Known::eq, Known::says_the_same, Known::is_there_too, Known::is_rest_of];
        for is_known in ways {
            new.retain(|(finding, _)| match left.iter().position(|known| is_known(finding, known)) {
                Some(at) => {
                    left.swap_remove(at);
                    false
                }
                None => true,
            });
        }
        new.into_iter().map(|(_, finding)| finding).collect()
    }
}
