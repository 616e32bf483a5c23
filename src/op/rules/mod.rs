//! Rules for entities, from the files that people have: Stripper:Source, as its plug-in reads them, and its relatives.
//!
//! [`Rules::parse`] reads a file, [`Rules::apply`] applies it to the entities of a map: all of it or nothing. What is
//! odd in a file is in [`Rules::findings`]; [`Lint`] also tries the rules on maps.
//!
//! | format | extension | source |
//! |---|---|---|
//! | [`Format::Stripper`] | `.cfg` | `parser.cpp` of alliedmodders/stripper-source |
//! | [`Format::Qmm`] | `.ini` | the documentation of stripper_qmm 2.5, and of the versions before |
//! | [`Format::Lazyripent`] | `.rule` | the documentation of Lazyripent2 |
//! | [`Format::Cs2`] | `.jsonc` | the schema of StripperCS2; `face::rules` reads it (feature `json`) |
//!
//! ```
//! use bspkit::op::rules::{Format, Mode, Rules};
//! let text = b"filter:\n{\n\"classname\" \"light\"\n}\n";
//! let rules = Rules::parse("global_filters.cfg", text, Format::Stripper, Mode::Plugin)?;
//! let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
//! let mut draft = map.draft();
//! let report = rules.apply(draft.entities()?, "own_rooms")?;
//! assert_eq!(report.matched(), 3);
//! # Ok::<(), bspkit::Error>(())
//! ```

mod acts;
mod again;
mod apply;
mod convert;
mod difference;
mod door;
mod find;
pub(crate) mod finding;
mod lazyripent;
mod lint;
mod lumper;
mod model;
mod pattern;
mod qmm;
mod stripper;
mod tokens;
mod write;

pub use again::{Application, Effect, Known, Past, Record, Since, State, known};
pub use apply::{Attempt, apply, attempt};
pub use difference::{Difference, difference};
pub use finding::{At, CODES, Code, Finding};
pub use lazyripent::{Act, Verb};
pub use lint::Lint;
pub use model::{Action, Applied, Expected, Match, Need, NewPair, Report, Rule, Rules, Step, Test, Who};
pub use pattern::Pattern;
pub use write::Converted;

use crate::Result;

/// How a Stripper:Source file is read and applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// As the plug-in does, with all that it ignores.
    #[default]
    Plugin,
    /// Refuses what the plug-in would read in another way than it is written; every pair of a filter has to be in an
    /// entity.
    Strict,
    /// As Lumper does.
    Lumper,
}

/// The format of a rule file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Stripper:Source.
    Stripper,
    /// stripper_qmm, for Quake III and its relatives.
    Qmm,
    /// Lazyripent2, for GoldSrc.
    Lazyripent,
    /// StripperCS2.
    Cs2,
}

impl Rules {
    /// Reads a file; the name is for messages.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Argument`] with file, line and column of what the mode refuses; all of it, if there is more.
    pub fn parse(name: &str, text: &[u8], format: Format, mode: Mode) -> Result<Self> {
        let rules = Rules::read(name, text, format, mode);
        match rules.refusal() {
            Some(error) => Err(error),
            None => Ok(rules),
        }
    }

    /// Reads a file with all its findings, also those that its mode refuses.
    pub fn read(name: &str, text: &[u8], format: Format, mode: Mode) -> Self {
        let mut rules = Rules::new(name, format, mode);
        match (format, mode) {
            _ if text.starts_with(b"\xFF\xFE") || text.starts_with(b"\xFE\xFF") => {
                let at = At { line: 1, column: 1 };
                rules.find(finding::SYNTAX, at, "the file is UTF-16, which no server reads: save it as UTF-8");
            }
            (Format::Stripper, Mode::Lumper) => lumper::read(&mut rules, text),
            (Format::Stripper, _) => stripper::read(&mut rules, text),
            (Format::Qmm, _) => qmm::read(&mut rules, text),
            (Format::Lazyripent, _) => lazyripent::read(&mut rules, text),
            (Format::Cs2, _) => {
                let at = At { line: 1, column: 1 };
                rules.find(finding::UNSUPPORTED, at, "files of StripperCS2 are JSON, which `face::rules` reads");
            }
        }
        rules.findings.sort_by_key(|found| found.at);
        rules
    }
}
