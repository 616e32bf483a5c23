//! The records of Source maps: the sizes that the format gives, real maps lump by lump, and built maps whose version
//! numbers lie.

mod built;
mod real;
mod sizes;
mod strata;

use crate::{corpus, random};
use bspkit::dialect::{CONTAGION, Dialect, Form, L4D2, Row, SOURCE, SOURCE17, SOURCE21, SOURCE22, STRATA, VITAMIN};
use bspkit::record::RecordInfo;

const DIALECTS: [&Dialect; 8] = [&SOURCE17, &SOURCE, &SOURCE21, &L4D2, &SOURCE22, &STRATA, &CONTAGION, &VITAMIN];

/// The records of a row, with the names of their lists.
fn records_of(row: &Row) -> Vec<(&'static str, &'static RecordInfo)> {
    match row.form {
        Form::Array(record) => vec![("", record)],
        Form::Lists(lists) => lists.iter().map(|list| (list.name, list.record)).collect(),
        _ => Vec::new(),
    }
}
