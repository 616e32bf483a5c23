//! The results of a run over maps, and their table.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::cli::stop;
use crate::cli::talk::{Code, Talk};

/// The result for a map: the rows of the table, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Row {
    Done,
    Nothing,
    Found,
    Failed(&'static str),
    /// The run was stopped before this map.
    Left,
}

/// A number of maps, and their size in bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    maps: usize,
    bytes: u64,
}

/// The results so far.
#[derive(Debug)]
pub(crate) struct Tally {
    rows: BTreeMap<Row, Sum>,
    failed: Vec<String>,
    since: Instant,
}

impl Tally {
    pub(super) fn new() -> Self {
        Tally { rows: BTreeMap::new(), failed: Vec::new(), since: Instant::now() }
    }

    /// Counts a map.
    pub(super) fn count(&mut self, code: Code, why: Option<&'static str>, path: &str, bytes: u64) {
        let row = match code {
            Code::Done => Row::Done,
            Code::Nothing => Row::Nothing,
            Code::Found => Row::Found,
            Code::Failed | Code::Stopped => Row::Failed(why.unwrap_or("other reason")),
        };
        if let Row::Failed(_) = row {
            self.failed.push(path.to_owned());
        }
        self.add(row, Sum { maps: 1, bytes });
    }

    /// Counts maps that were not processed.
    pub(super) fn leave(&mut self, maps: usize) {
        if maps > 0 {
            self.add(Row::Left, Sum { maps, bytes: 0 });
        }
    }

    fn add(&mut self, row: Row, sum: Sum) {
        let own = self.rows.entry(row).or_default();
        own.maps += sum.maps;
        own.bytes += sum.bytes;
    }

    /// The exit status: 2 if every map failed; 1 if some failed, if something was found, or if nothing matched in any
    /// map.
    pub(crate) fn code(&self) -> Code {
        let has = |row: Row| self.rows.contains_key(&row);
        let (has_done, has_nothing, has_found) = (has(Row::Done), has(Row::Nothing), has(Row::Found));
        match self.failed.is_empty() {
            _ if stop::is_asked() => Code::Stopped,
            false if !has_done && !has_nothing && !has_found => Code::Failed,
            false => Code::Found,
            true if has_found => Code::Found,
            true if has_nothing && !has_done => Code::Nothing,
            true => Code::Done,
        }
    }

    /// The table and the maps that failed; the elapsed time only with `-v`, since it differs from run to run.
    pub(super) fn table(&self, talk: &Talk, part: &str) -> String {
        let mut all = Sum::default();
        let mut text = format!("{:>8} {:>14}  result\n", "maps", "bytes");
        let mut line = |sum: Sum, what: &str| text += &format!("{:>8} {:>14}  {what}\n", sum.maps, sum.bytes);
        for (row, sum) in &self.rows {
            all.maps += sum.maps;
            all.bytes += sum.bytes;
            match row {
                Row::Done => line(*sum, "done"),
                Row::Nothing => line(*sum, "nothing matched"),
                Row::Found => line(*sum, "something was found"),
                Row::Failed(why) => line(*sum, &format!("failed: {why}")),
                Row::Left => line(*sum, "not started, since the run was stopped"),
            }
        }
        line(all, &format!("total{part}"));
        self.failed.iter().for_each(|path| text += &format!("failed: {path}\n"));
        if talk.verbose {
            text += &format!("{:.1} seconds\n", self.since.elapsed().as_secs_f64());
        }
        text
    }
}
