//! The policy of a project: what its maps must have and may not have, beyond what engines require. [`run`] tests the
//! laws of [`verify`], finds the faults of [`check`], and compares the map with the policy.
//!
//! ```
//! use bspkit::op::policy::{self, Policy};
//! let mut policy = Policy::default();
//! policy.entities.required.push("info_player_start".parse()?);
//! policy.entities.max_count = Some(10);
//! let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
//! let findings = policy::run(&map, "own_rooms", &policy)?;
//! assert_eq!(findings.len(), 1);
//! assert_eq!(findings[0].to_string(), "error[policy-count] ENTITIES: it has 20 entities, and at most 10 are allowed");
//! # Ok::<(), bspkit::Error>(())
//! ```

mod code;
mod entities;
mod files;
mod lumps;

use crate::bsp::Bsp;
use crate::content::pattern::Pattern;
use crate::content::select::Selector;
use crate::dialect::{Dialect, Engine};
use crate::error::{Error, Result};
use crate::op::check::{self, Code, Denied, Finding, Sink};
use crate::op::verify::{self, Verdict};

pub use code::CODES;

/// What the maps of a project must have and may not have. The default policy allows everything.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Policy {
    /// The file.
    pub map: MapRules,
    /// Lumps.
    pub lumps: LumpRules,
    /// Entities.
    pub entities: EntityPolicy,
    /// Embedded files.
    pub files: FileRules,
    /// Textures.
    pub textures: TextureRules,
    /// Engines.
    pub limits: LimitRules,
    /// The laws and the findings of `check`.
    pub check: CheckRules,
}

/// Rules for the file.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct MapRules {
    /// The file name without `.bsp` matches one of these.
    pub names: Vec<Glob>,
    /// The file name has no upper case letters.
    pub lower_case: bool,
    /// The dialects that are allowed; empty: all.
    pub dialects: Vec<&'static Dialect>,
    /// The size of the file in bytes.
    pub max_bytes: Option<usize>,
    /// No text is left in bytes that no lump has, as editors leave old entities there.
    pub no_stale_text: bool,
}

/// Rules for lumps, by their names or roles.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct LumpRules {
    /// Lumps that are not empty.
    pub required: Vec<String>,
    /// Lumps that are empty, or do not exist.
    pub forbidden: Vec<String>,
    /// Whether lumps are compressed.
    pub compression: Option<Compressed>,
}

/// Whether something is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compressed {
    /// All that becomes smaller is compressed, as `compress` does it.
    Required,
    /// Nothing is.
    Forbidden,
}

/// Rules for entities.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct EntityPolicy {
    /// Each of these matches an entity.
    pub required: Vec<Selector>,
    /// None of these matches one.
    pub forbidden: Vec<Selector>,
    /// Entities that match have all of these keys.
    pub required_keys: Vec<(Selector, Vec<String>)>,
    /// Entities that match have none of these keys.
    pub forbidden_keys: Vec<(Selector, Vec<String>)>,
    /// The number of entities.
    pub max_count: Option<usize>,
    /// The size of the text in bytes.
    pub max_bytes: Option<usize>,
}

/// Rules for embedded files.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct FileRules {
    /// Each of these matches a file.
    pub required: Vec<Glob>,
    /// None of these matches one.
    pub forbidden: Vec<Glob>,
    /// Every file matches one of these; empty: all files are allowed.
    pub allowed: Vec<Glob>,
    /// Names have no upper case letters.
    pub lower_case: bool,
    /// The number of files.
    pub max_count: Option<usize>,
    /// The size of the pakfile in bytes, as it is stored.
    pub max_bytes: Option<usize>,
    /// Whether files are compressed.
    pub compression: Option<Compressed>,
}

/// Rules for the names of textures.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TextureRules {
    /// Every texture matches one of these; empty: all are allowed.
    pub allowed: Vec<Glob>,
    /// None of these matches a texture.
    pub forbidden: Vec<Glob>,
}

/// Rules for the limits of engines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitRules {
    /// The engines whose limits apply: the first one that reads the map's dialect; the stock engine if none does.
    pub engines: Vec<String>,
    /// How much of each limit must be free, in percent.
    pub margin: Option<usize>,
}

/// Rules for the laws and for the findings of [`check`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CheckRules {
    /// Whether the laws of [`verify`] are tested.
    pub verify: bool,
    /// Codes of findings that are left out.
    pub allow: Vec<&'static Code>,
    /// Findings that count as failures, besides errors.
    pub deny: Vec<Denied>,
}

impl Default for CheckRules {
    fn default() -> Self {
        CheckRules { verify: true, allow: Vec::new(), deny: Vec::new() }
    }
}

/// A pattern with its text.
///
/// ```
/// use bspkit::op::policy::Glob;
/// let glob = Glob::new("materials/**");
/// assert_eq!(glob.text, "materials/**");
/// assert!(glob.pattern.matches("materials/my/wall.vmt"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Glob {
    /// As it was written.
    pub text: String,
    /// What it matches.
    pub pattern: Pattern,
}

impl Glob {
    /// Reads a pattern; every text is one.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        Glob { pattern: Pattern::new(&text), text }
    }
}

impl Policy {
    /// Whether a finding counts as a failure.
    pub fn denies(&self, finding: &Finding) -> bool {
        let is_error = finding.code.severity == check::Severity::Error;
        is_error || self.check.deny.iter().any(|denied| denied.includes(finding.code))
    }

    /// The engine whose limits apply to a map.
    fn engine(&self, bsp: &Bsp<'_>) -> Option<&'static Engine> {
        let mut named = self.limits.engines.iter().filter_map(|name| bsp.dialect().engine_by_name(name).ok());
        named.next().or_else(|| bsp.dialect().engine(bsp.version()))
    }
}

/// All findings about a map: laws that fail, faults, and everything that is not as the policy says. `name` is the name
/// of the file without its extension.
///
/// # Errors
/// As [`check::run`].
pub fn run(bsp: &Bsp<'_>, name: &str, policy: &Policy) -> Result<Vec<Finding>> {
    let mut sink = Sink::new(&[], check::LISTED);
    if policy.check.verify {
        for (law, verdict) in verify::run(bsp).laws {
            if let Verdict::Fail(why) = verdict {
                sink.add(&code::LAW, check::At::default(), || format!("the law {law} fails: {why}"));
            }
        }
    }
    let mut findings = sink.into_findings();
    let engine = policy.engine(bsp).map(|engine| engine.name.to_owned());
    let mut options = check::Options { engine, allowed: policy.check.allow.clone() };
    // Most compilers leave some; who wants none of them denies them.
    if !policy.check.deny.iter().any(|denied| denied.includes(&check::UNUSED_RECORDS)) {
        options.allowed.push(&check::UNUSED_RECORDS);
    }
    findings.append(&mut check::run(bsp, &options)?);
    let mut sink = Sink::new(&[], check::LISTED);
    lumps::check(bsp, name, policy, &mut sink);
    entities::check(bsp, policy, &mut sink);
    files::check(bsp, policy, &mut sink);
    findings.append(&mut sink.into_findings());
    Ok(findings)
}

/// The finding about a file that is not a map, or cannot be read.
///
/// ```
/// let error = bspkit::Bsp::parse(b"text").unwrap_err();
/// assert_eq!(bspkit::op::policy::unread(&error).code.name, "map-unread");
/// ```
pub fn unread(error: &Error) -> Finding {
    let message = match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    };
    let place = error.place().cloned().unwrap_or_default();
    Finding { code: &code::UNREAD, place, field: None, message, count: 1 }
}
