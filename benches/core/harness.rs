//! The rows of a group take turns within one process, so that a busy moment of the machine affects all of them. The
//! results are the median of a row, and the median of its ratios to its reference, each within one turn.

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// The work of one run of a row, for its rate.
#[derive(Clone, Copy)]
pub(crate) enum Work {
    /// Independent of the size of the file.
    Once,
    Bytes(usize),
    Entities(usize),
}

/// Which row of a group.
#[derive(Clone, Copy)]
pub(crate) struct Row(usize);

pub(crate) struct Group<'a> {
    title: String,
    rows: Vec<Pending<'a>>,
}

struct Pending<'a> {
    name: &'static str,
    work: Work,
    reference: Option<Row>,
    run: Box<dyn FnMut() -> Outcome + 'a>,
    /// How many runs make a sample.
    repeat: u32,
    /// Seconds of one run.
    samples: Vec<f64>,
}

impl<'a> Group<'a> {
    pub(crate) fn new(title: String) -> Self {
        Group { title, rows: Vec::new() }
    }

    /// Adds a row, which may be the reference of others.
    pub(crate) fn reference<T>(&mut self, name: &'static str, work: Work, run: impl FnMut() -> Outcome<T> + 'a) -> Row {
        self.push(name, work, None, run)
    }

    /// Adds a row that is compared with a reference.
    pub(crate) fn row<T>(
        &mut self,
        name: &'static str,
        work: Work,
        reference: Row,
        run: impl FnMut() -> Outcome<T> + 'a,
    ) -> Row {
        self.push(name, work, Some(reference), run)
    }

    fn push<T>(
        &mut self,
        name: &'static str,
        work: Work,
        reference: Option<Row>,
        mut run: impl FnMut() -> Outcome<T> + 'a,
    ) -> Row {
        let run = Box::new(move || {
            black_box(run()?);
            Ok(())
        });
        self.rows.push(Pending { name, work, reference, run, repeat: 1, samples: Vec::new() });
        Row(self.rows.len() - 1)
    }

    /// Runs everything `turns` times, and once before that to warm up, and prints the table.
    pub(crate) fn measure(mut self, turns: usize) -> Outcome<Measured> {
        for row in &mut self.rows {
            row.warm_up()?;
        }
        for turn in 0..turns {
            // The first row of a turn changes, so that what a row leaves in the caches does not always affect the same
            // row.
            let count = self.rows.len();
            for index in 0..count {
                self.rows[(turn + index) % count].sample()?;
            }
        }
        let measured = Measured { samples: self.rows.iter().map(|row| row.samples.clone()).collect() };
        self.print(&measured);
        Ok(measured)
    }

    fn print(&self, measured: &Measured) {
        println!("\n### {}\n", self.title);
        println!("| what | median | rate | ratio |\n|---|---:|---:|---|");
        for (index, row) in self.rows.iter().enumerate() {
            let seconds = measured.seconds(Row(index));
            let ratio = match row.reference {
                Some(to) => format!("{} x {}", three_digits(measured.ratio(Row(index), to)), self.rows[to.0].name),
                None => String::new(),
            };
            println!("| {} | {} | {} | {ratio} |", row.name, in_time(seconds), row.work.rate(seconds));
        }
    }
}

impl Pending<'_> {
    /// Runs until it is known how many runs make a sample that is long enough to measure.
    fn warm_up(&mut self) -> Outcome {
        const SAMPLE: Duration = Duration::from_millis(2);
        let start = Instant::now();
        let mut runs = 0;
        while runs == 0 || start.elapsed() < SAMPLE {
            (self.run)()?;
            runs += 1;
        }
        self.repeat = runs;
        Ok(())
    }

    fn sample(&mut self) -> Outcome {
        let start = Instant::now();
        for _ in 0..self.repeat {
            (self.run)()?;
        }
        self.samples.push(start.elapsed().as_secs_f64() / f64::from(self.repeat));
        Ok(())
    }
}

pub(crate) struct Measured {
    samples: Vec<Vec<f64>>,
}

impl Measured {
    /// The median time of a run.
    pub(crate) fn seconds(&self, row: Row) -> f64 {
        median(self.samples[row.0].clone())
    }

    /// The ratio to the time of another row: the median of the turns.
    pub(crate) fn ratio(&self, row: Row, to: Row) -> f64 {
        let pairs = self.samples[row.0].iter().zip(&self.samples[to.0]);
        median(pairs.map(|(own, other)| own / other).collect())
    }
}

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    match samples.len() {
        0 => f64::NAN,
        len if len % 2 == 1 => samples[len / 2],
        len => (samples[len / 2 - 1] + samples[len / 2]) / 2.0,
    }
}

impl Work {
    fn rate(self, seconds: f64) -> String {
        match self {
            Work::Once => String::new(),
            Work::Bytes(bytes) => format!("{} MB/s", three_digits(bytes as f64 / seconds / 1e6)),
            Work::Entities(count) => format!("{} each", in_time(seconds / count as f64)),
        }
    }
}

pub(crate) fn in_time(seconds: f64) -> String {
    let (value, unit) = match seconds {
        seconds if seconds < 1e-6 => (seconds * 1e9, "ns"),
        seconds if seconds < 1e-3 => (seconds * 1e6, "µs"),
        seconds => (seconds * 1e3, "ms"),
    };
    format!("{} {unit}", three_digits(value))
}

pub(crate) fn in_bytes(count: usize) -> String {
    match count as f64 {
        few if few < 1e3 => format!("{count} bytes"),
        some if some < 1e6 => format!("{} KB", three_digits(some / 1e3)),
        many => format!("{} MB", three_digits(many / 1e6)),
    }
}

pub(crate) fn three_digits(value: f64) -> String {
    match value {
        value if value < 0.01 => format!("{value:.1e}"),
        value if value < 10.0 => format!("{value:.2}"),
        value if value < 100.0 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    }
}
