//! The results of the laws.

use std::fmt;

/// The results of the laws on one map.
///
/// ```
/// let bytes = std::fs::read("tests/maps/q3/own_rooms.bsp")?;
/// let outcome = bspkit::op::verify::run(&bspkit::Bsp::parse(&bytes)?);
/// assert!(outcome.is_ok());
/// assert_eq!(outcome.law("identity"), Some(&bspkit::op::verify::Verdict::Pass));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The verdicts by the names of the laws, in the order of the tests.
    pub laws: Vec<(&'static str, Verdict)>,
    /// How many records of each type there are.
    pub records: Vec<(&'static str, usize)>,
}

/// The result of one law.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// It holds.
    Pass,
    /// It does not apply, with the reason: the map is damaged or pinned in a way that forbids the edit.
    Skipped(String),
    /// It does not hold, with the difference.
    Fail(String),
}

impl Outcome {
    /// The verdict of a law; `None` if there is no law of this name.
    pub fn law(&self, name: &str) -> Option<&Verdict> {
        self.laws.iter().find(|(law, _)| *law == name).map(|(_, verdict)| verdict)
    }

    /// Whether no law failed.
    pub fn is_ok(&self) -> bool {
        !self.laws.iter().any(|(_, verdict)| matches!(verdict, Verdict::Fail(_)))
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Pass => f.write_str("pass"),
            Verdict::Skipped(why) => write!(f, "skipped: {why}"),
            Verdict::Fail(what) => write!(f, "fail: {what}"),
        }
    }
}
