//! The checksums by which engines compare maps, before and after an edit.
//!
//! A map of 200 MB is saved in 0.2 seconds, but its checksums before and after take 0.8 seconds. So they are computed
//! only with `--checksum` or `-v`; a dry run says whether the bytes change that they cover.

use std::path::Path;

use bspkit::dialect::{Checksum, Sum, Use};
use bspkit::op::checksum::{self, Value};
use bspkit::{Bsp, Plan};
use serde::Serialize;

use crate::cli::show::shown;
use crate::cli::talk::Job;

/// The checksums of a map before and after an edit.
pub(super) struct Sums(Vec<Change>);

struct Change {
    checksum: &'static Checksum,
    is_same: bool,
    /// Before and after, where they were computed.
    values: Option<[Value; 2]>,
}

#[derive(Serialize)]
pub(super) struct SumJson {
    name: &'static str,
    title: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<String>,
    same: bool,
    verified: bool,
}

impl Sums {
    /// Whether the checksums change, and their values if they are wanted or cost nothing.
    pub(super) fn new(bsp: &Bsp<'_>, plan: &Plan<'_>, are_wanted: bool) -> Self {
        let change = |checksum: &'static Checksum| {
            let is_same = checksum::is_same(bsp, plan, checksum);
            let values = (are_wanted || matches!(checksum.sum, Sum::Stored | Sum::Crc16)).then(|| {
                let before = checksum::of(bsp, checksum);
                [before, if is_same { before } else { checksum::of_plan(bsp, plan, checksum) }]
            });
            let is_same = values.map_or(is_same, |[before, after]| before == after);
            Change { checksum, is_same, values }
        };
        Sums(bsp.dialect().checksums.iter().map(change).collect())
    }

    /// A line for each.
    pub(super) fn say(&self, place: &Path, job: &mut Job<'_>) {
        for Change { checksum, is_same, values } in &self.0 {
            let what = match checksum.use_of {
                Use::FileName => "key of",
                _ => "checksum for",
            };
            let change = match (is_same, values) {
                (true, Some([value, _])) => format!("stays {value}"),
                (true, None) => "stays".to_owned(),
                (false, Some([before, after])) => format!("{before} -> {after}"),
                (false, None) => "changes".to_owned(),
            };
            let then = match (checksum.use_of, is_same) {
                (Use::FileName, true) => "engines still find the files for the old map",
                (Use::FileName, false) => "engines no longer find the files for the old map",
                (_, true) => "clients with the old map can still join",
                (_, false) => "clients need the new map",
            };
            let doubt = if checksum.is_verified { "" } else { " (unverified)" };
            job.say(&format!("{}: {what} {} {change}; {then}{doubt}", shown(place), checksum.title));
        }
    }

    pub(super) fn as_json(&self) -> Vec<SumJson> {
        let sums = self.0.iter().map(|change| SumJson {
            name: change.checksum.name,
            title: change.checksum.title,
            before: change.values.map(|[before, _]| before.to_string()),
            after: change.values.map(|[_, after]| after.to_string()),
            same: change.is_same,
            verified: change.checksum.is_verified,
        });
        sums.collect()
    }
}
