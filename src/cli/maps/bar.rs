//! The progress bar: the last line on a terminal.

use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

use crate::cli::talk::CLEAR;

/// The least time between two drawings.
const PAUSE: Duration = Duration::from_millis(100);
const WIDTH: usize = 30;

/// The progress of a run over several maps.
pub(super) struct Bar {
    all: usize,
    done: usize,
    failed: usize,
    drawn: Option<Instant>,
    is_shown: bool,
}

impl Bar {
    /// A new bar. It is shown only on a terminal, for several maps, without `--quiet`.
    pub(super) fn new(all: usize, quiet: bool) -> Self {
        Bar { all, done: 0, failed: 0, drawn: None, is_shown: all > 1 && !quiet && stderr().is_terminal() }
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
        if !self.is_shown || !is_due {
            return String::new();
        }
        self.drawn = Some(Instant::now());
        format!("{CLEAR}{}", self.line())
    }

    fn line(&self) -> String {
        let full = WIDTH * self.done / self.all.max(1);
        let failed = if self.failed > 0 { format!(", {} failed", self.failed) } else { String::new() };
        format!("[{}{}] {} of {} maps{failed}", "#".repeat(full), ".".repeat(WIDTH - full), self.done, self.all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_fills_and_is_drawn_now_and_then() {
        let mut bar = Bar { all: 4, done: 0, failed: 0, drawn: None, is_shown: true };
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
        bar.is_shown = false;
        bar.clear();
        assert_eq!(bar.draw(), "", "not a terminal");
    }
}
