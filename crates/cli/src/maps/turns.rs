//! Processes several maps at once: their output in order, the table of results, the progress bar.

use std::collections::BTreeMap;
use std::io::{IsTerminal, stderr};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Error, Result, anyhow};

use crate::talk::{CLEAR, Code, Job, MOST_OF_A_KIND, Talk, Then, count};
use crate::{pager, stop, terminal, watch};

// Processes several maps at once and writes their output in order.

/// How far the work may be ahead of the output: this many maps per thread, and this many bytes.
const AHEAD: usize = 16;
const MOST_WAITING: usize = 16 << 20;

/// Hands out maps to threads, and orders what they write.
pub(crate) struct Turns<'t> {
    talk: &'t Talk,
    all: usize,
    ahead: usize,
    most_waiting: usize,
    json: bool,
    many: bool,
    fail_fast: bool,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// The next map to hand out, and the map whose output is written next.
    taken: usize,
    next: usize,
    /// The output of finished maps that waits for the maps before them, and its size in bytes.
    waiting: BTreeMap<usize, Said>,
    bytes: usize,
    /// No further map is handed out.
    is_stopped: bool,
    /// The reader has closed the pipe, which is not an error.
    is_closed: bool,
    error: Option<Error>,
    tally: Tally,
    bar: Bar,
}

/// The output of a map, and its result.
struct Said {
    path: String,
    out: Vec<u8>,
    err: Vec<u8>,
    code: Code,
    failure: Option<&'static str>,
    /// The size of the map.
    bytes: u64,
    then: Option<Then>,
}

impl<'t> Turns<'t> {
    pub(super) fn new(talk: &'t Talk, all: usize, jobs: usize, json: bool, many: bool, fail_fast: bool) -> Self {
        let state = State {
            taken: 0,
            next: 0,
            waiting: BTreeMap::new(),
            bytes: 0,
            is_stopped: false,
            is_closed: false,
            error: None,
            tally: Tally::new(),
            bar: Bar::new(all, talk.quiet),
        };
        let (ahead, state, changed) = (AHEAD * jobs.max(1), Mutex::new(state), Condvar::new());
        let turns = Turns { talk, all, ahead, most_waiting: MOST_WAITING, json, many, fail_fast, state, changed };
        turns.lock().draw(talk);
        turns
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the progress is drawn.
    pub(super) fn has_bar(&self) -> bool {
        self.lock().bar.is_shown
    }

    /// Draws the progress until all is done: a large map takes its time.
    pub(super) fn draw_each_second(&self) {
        let all = self.all;
        let is_busy = |state: &mut State| state.next < state.taken || state.taken < all && !state.is_stopped;
        let mut state = self.lock();
        while is_busy(&mut state) {
            let waited = self.changed.wait_timeout_while(state, SECOND, is_busy);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            state.draw(self.talk);
        }
    }

    fn wait_while(&self, condition: impl Fn(&mut State) -> bool) -> MutexGuard<'_, State> {
        self.changed.wait_while(self.lock(), condition).unwrap_or_else(PoisonError::into_inner)
    }

    /// The next map, once there is room for its output. `None` if no map is left or the run stops.
    pub(super) fn take(&self) -> Option<usize> {
        let is_full = |state: &mut State| {
            let is_ahead = state.taken - state.next >= self.ahead || state.bytes >= self.most_waiting;
            !state.is_stopped && state.taken < self.all && state.taken > state.next && is_ahead
        };
        let mut state = self.wait_while(is_full);
        state.is_stopped |= stop::is_asked();
        if state.is_stopped || state.taken == self.all {
            return None;
        }
        state.taken += 1;
        Some(state.taken - 1)
    }

    /// Does the work on a map and takes its output. The outer error of `work` is a failure of the work; the inner one
    /// was found before, when the maps were listed.
    pub(super) fn work<'e>(
        &self,
        turn: usize,
        path: &Path,
        work: impl FnOnce(&mut Job<'_>) -> Result<Result<Code>, &'e Error>,
    ) {
        let in_file = path.metadata().map_or(0, |it| if it.is_file() { it.len() } else { 0 });
        watch::taken_out();
        let stream = |data: &[u8]| Ok(self.write(turn, data));
        let mut job = Job::new(self.talk, path, &stream);
        (job.json, job.many) = (self.json, self.many);
        // A fault of the program in one map does not stop the others.
        let done = catch_unwind(AssertUnwindSafe(|| work(&mut job)));
        match done {
            Ok(Ok(Ok(code))) => job.code = job.code.max(code),
            Ok(Ok(Err(error))) => job.fail_as_report(&error),
            Ok(Err(error)) => job.fail_as_report(error),
            Err(_) => {
                let error = anyhow!("{}: the program has a fault; please report it with this map", job.path);
                job.fail_as_report(&error);
            }
        }
        job.say_rest();
        let bytes = Some(watch::taken_out()).filter(|bytes| *bytes > 0).unwrap_or(in_file);
        let Job { path, out, err, code, failure, then, .. } = job;
        self.done(turn, Said { path, out, err, code, failure, bytes, then });
    }

    /// Takes the output of a map, and writes every output whose turn has come.
    fn done(&self, turn: usize, said: Said) {
        let mut state = self.lock();
        state.bytes += said.out.len() + said.err.len();
        state.bar.count(said.code == Code::Failed);
        state.waiting.insert(turn, said);
        loop {
            let next = state.next;
            let Some(said) = state.waiting.remove(&next) else { break };
            state.next += 1;
            state.bytes -= said.out.len() + said.err.len();
            state.write(self.talk, &said.out, &said.err);
            said.then.into_iter().for_each(|then| then());
            state.tally.count(said.code, said.failure, &said.path, said.bytes);
            state.is_stopped |= self.fail_fast && said.code == Code::Failed;
        }
        state.draw(self.talk);
        self.changed.notify_all();
    }

    /// Waits for the turn of a map and writes data of it. `false` if the run is stopped.
    pub(crate) fn write(&self, turn: usize, data: &[u8]) -> bool {
        let mut state = self.wait_while(|state| state.next != turn);
        state.write(self.talk, data, b"");
        !state.is_stopped
    }

    /// Ends the run and returns the results. Prints their table if there are several maps.
    pub(super) fn end(self, many: bool, part: &str) -> Result<Tally> {
        let mut state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let clear = state.bar.clear();
        self.talk.control(clear);
        if let Some(error) = state.error {
            return Err(error);
        }
        state.tally.leave(self.all - state.taken);
        if many && !self.talk.quiet && !state.is_closed {
            self.talk.stderr(state.tally.table(self.talk, part).as_bytes());
        }
        Ok(state.tally)
    }
}

impl State {
    fn write(&mut self, talk: &Talk, out: &[u8], err: &[u8]) {
        if !out.is_empty() || !err.is_empty() {
            talk.control(self.bar.clear());
        }
        // After the pipe is closed no more data is written, but messages still are.
        if !out.is_empty() && !self.is_closed && self.error.is_none() {
            match talk.stdout(out) {
                Ok(true) => {}
                Ok(false) => (self.is_closed, self.is_stopped) = (true, true),
                Err(error) => {
                    self.error = Some(error);
                    self.is_stopped = true;
                }
            }
        }
        talk.stderr(err);
    }

    fn draw(&mut self, talk: &Talk) {
        let bar = self.bar.draw();
        if !bar.is_empty() {
            talk.control(&bar);
        }
    }
}

// The results of a run over maps, and their table.

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
        let named = if talk.verbose { self.failed.len() } else { MOST_OF_A_KIND };
        self.failed.iter().take(named).for_each(|path| text += &format!("failed: {path}\n"));
        match self.failed.len().saturating_sub(named) {
            0 => {}
            more => text += &format!("failed: {}; -v names all\n", count(more, "other map", "other maps")),
        }
        if talk.verbose {
            text += &format!("{:.1} seconds\n", self.since.elapsed().as_secs_f64());
        }
        text
    }
}

// The progress bar: the last line on a terminal.

/// The least time between two drawings.
const PAUSE: Duration = Duration::from_millis(100);
const SECOND: Duration = Duration::from_secs(1);
const WIDTH: usize = 30;

/// The progress of a run over several maps.
pub(super) struct Bar {
    all: usize,
    done: usize,
    failed: usize,
    since: Instant,
    drawn: Option<Instant>,
    is_shown: bool,
}

impl Bar {
    /// A new bar. It is shown only on a terminal, without `--quiet`; for a single map after the first second.
    pub(super) fn new(all: usize, quiet: bool) -> Self {
        let is_shown = all > 0 && !quiet && stderr().is_terminal();
        Bar { all, done: 0, failed: 0, since: Instant::now(), drawn: None, is_shown }
    }

    /// Counts a map.
    pub(super) fn count(&mut self, failed: bool) {
        self.done += 1;
        self.failed += usize::from(failed);
    }

    /// The text that removes the bar before a message.
    pub(super) fn clear(&mut self) -> &'static str {
        if self.drawn.take().is_some() { CLEAR } else { "" }
    }

    /// The text that draws the bar; empty if it was drawn a moment ago.
    pub(super) fn draw(&mut self) -> String {
        let is_due = self.drawn.is_none_or(|drawn| drawn.elapsed() >= PAUSE);
        let seconds = self.since.elapsed().as_secs();
        let is_early = self.all == 1 && seconds == 0;
        if !self.is_shown || !is_due || is_early || terminal::is_taken() || pager::is_open() {
            return String::new();
        }
        self.drawn = Some(Instant::now());
        format!("{CLEAR}{}", self.line())
    }

    fn line(&self) -> String {
        if self.all == 1 {
            return format!("working, {} s", self.since.elapsed().as_secs());
        }
        let full = WIDTH * self.done / self.all.max(1);
        let failed = if self.failed > 0 { format!(", {} failed", self.failed) } else { String::new() };
        let seconds = match self.since.elapsed().as_secs() {
            0 => String::new(),
            seconds => format!(", {seconds} s"),
        };
        let (full, rest) = ("#".repeat(full), ".".repeat(WIDTH - full));
        format!("[{full}{rest}] {} of {} maps{failed}{seconds}", self.done, self.all)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    #[test]
    fn it_fills_and_is_drawn_now_and_then() {
        let mut bar = Bar { all: 4, is_shown: true, ..Bar::new(4, true) };
        assert_eq!(bar.clear(), "");
        assert_eq!(bar.draw(), format!("{CLEAR}[{}] 0 of 4 maps", ".".repeat(30)));
        bar.count(false);
        assert_eq!(bar.draw(), "", "too soon");
        assert_eq!(bar.clear(), CLEAR);
        bar.count(true);
        assert_eq!(bar.draw(), format!("{CLEAR}[{}{}] 2 of 4 maps, 1 failed", "#".repeat(15), ".".repeat(15)));
        bar.count(false);
        bar.count(false);
        assert_eq!(bar.line(), format!("[{}] 4 of 4 maps, 1 failed", "#".repeat(30)));
        let mut one = Bar { is_shown: true, ..Bar::new(1, true) };
        assert_eq!(one.draw(), "", "it may be done soon");
        one.since -= Duration::from_secs(3);
        assert_eq!(one.draw(), format!("{CLEAR}working, 3 s"));
        bar.is_shown = false;
        bar.clear();
        assert_eq!(bar.draw(), "", "not a terminal");
    }

    /// A slow first map does not let the others run ahead without a limit.
    #[test]
    fn waiting_output_is_bounded() {
        const ALL: usize = 1000;
        for (said, most) in [(&b""[..], AHEAD * 2), (b"\n", 4)] {
            let talk = Talk::silent();
            let mut turns = Turns::new(&talk, ALL, 2, false, true, false);
            turns.most_waiting = 4;
            let turns = turns;
            let (go, wait) = channel::<()>();
            let done = Mutex::new(Vec::new());
            let worker = |slow: Option<std::sync::mpsc::Receiver<()>>| {
                let mut slow = slow;
                while let Some(turn) = turns.take() {
                    turns.work(turn, Path::new("map"), |job| {
                        slow.take().into_iter().for_each(|wait| wait.recv().unwrap());
                        let mut done = done.lock().unwrap();
                        done.push(turn);
                        // Just enough output to reach the limit.
                        job.err = if done.len() < 10 { said.to_vec() } else { Vec::new() };
                        Ok(Ok(Code::Done))
                    });
                }
            };
            std::thread::scope(|scope| {
                scope.spawn(|| worker(Some(wait)));
                std::thread::sleep(Duration::from_millis(50));
                scope.spawn(|| worker(None));
                std::thread::sleep(Duration::from_millis(200));
                let ahead = done.lock().unwrap().len();
                go.send(()).unwrap();
                assert!(ahead > 0 && ahead <= most, "{ahead} of {most}");
            });
            assert_eq!(done.into_inner().unwrap().len(), ALL);
            assert_eq!(turns.end(false, "").unwrap().code(), Code::Done);
        }
    }
}
