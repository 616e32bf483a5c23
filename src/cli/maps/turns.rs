//! Processes several maps at once and writes their output in order.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use anyhow::{Error, Result, anyhow};

use super::bar::Bar;
use super::tally::Tally;
use crate::cli::stop;
use crate::cli::talk::{Code, Job, Talk, Then};

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
        if state.is_stopped || state.taken == self.all || stop::is_asked() {
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
        let bytes = path.metadata().map_or(0, |it| if it.is_file() { it.len() } else { 0 });
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

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
