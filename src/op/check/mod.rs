//! Finds the faults of a map: everything that makes an engine refuse it or read bytes that do not exist.
//!
//! A finding has a code that never changes its meaning, a severity, a place and a sentence. What the formats allow is
//! not a finding, however unusual: `docs/checks.md` has the table, with the exceptions and the source of each fact.
//! Nothing is changed.

mod bspx;
mod code;
mod displacements;
mod edited;
mod entities;
mod light;
mod limits;
mod lumps;
mod physics;
mod references;
mod relit;
mod rules;
mod sink;
mod stale;
mod structure;
mod surfaces;
mod textures;
mod tree;
mod unused;
mod visibility;

pub(super) use code::UNUSED_RECORDS;
pub use code::{CODES, Code, Denied, Severity};
pub use limits::{Usage, usage};
pub use sink::Finding;
pub(super) use sink::{At, LISTED, Sink};
pub use stale::{Stale, stale};

use crate::bsp::{Bsp, Links};
use crate::dialect::{Engine, Role};
use crate::draft::Draft;
use crate::error::Result;
use crate::file::SlotId;
use lumps::Lumps;

/// Options of a check.
///
/// ```
/// use bspkit::op::check::Options;
/// let options = Options::default().engine("q2pro").allow("entity-nul")?;
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// The engine whose limits apply; by default the stock engine for the map's version.
    pub engine: Option<String>,
    /// Codes that are left out.
    pub allowed: Vec<&'static Code>,
}

impl Options {
    /// Sets the engine whose limits apply.
    #[must_use]
    pub fn engine(mut self, name: impl Into<String>) -> Self {
        self.engine = Some(name.into());
        self
    }

    /// Leaves out findings of this code.
    ///
    /// # Errors
    /// As [`Code::by_name`].
    pub fn allow(mut self, code: &str) -> Result<Self> {
        self.allowed.push(Code::by_name(code)?);
        Ok(self)
    }
}

/// All findings about a map, group by group. At most ten findings with the same code in the same lump are listed; one
/// more has the number of the others.
///
/// ```
/// use bspkit::Bsp;
/// use bspkit::dialect::quake2;
/// use bspkit::op::check;
/// let map = Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// assert!(check::run(&map, &check::Options::default())?.is_empty());
///
/// let mut draft = map.draft();
/// draft.update(quake2::FACES, 3, |face| face.texinfo = 500)?;
/// let broken = Bsp::from_vec(draft.plan(bspkit::Layout::Keep)?.to_vec())?;
/// let findings = check::run(&broken, &check::Options::default())?;
/// assert_eq!(findings[0].code.name, "index-range");
/// assert_eq!(findings[0].place.record, Some(3));
/// # Ok::<(), bspkit::Error>(())
/// ```
///
/// # Errors
/// [`crate::ErrorKind::Argument`] for an engine that the dialect does not know.
pub fn run(bsp: &Bsp<'_>, options: &Options) -> Result<Vec<Finding>> {
    let mut sink = Sink::new(&options.allowed, LISTED);
    check(bsp, engine(bsp, options)?, None, &mut sink);
    Ok(sink.into_findings())
}

/// Everything that would be wrong with a map after the edits of a draft, and is not wrong now: of the content, since
/// placement keeps the directory as it should be. Listed as by [`run`].
///
/// What is wrong at the same place already, or elsewhere in the same words, is not new: entities and records may have
/// moved.
///
/// ```
/// use bspkit::Bsp;
/// use bspkit::dialect::quake2;
/// use bspkit::op::check;
/// let mut draft = Bsp::open("tests/maps/q2/own_rooms.bsp")?.draft();
/// draft.update(quake2::FACES, 3, |face| face.texinfo = 500)?;
/// let findings = check::introduced(&draft, &check::Options::default())?;
/// assert_eq!(findings[0].code.name, "index-range");
///
/// let mut again = Bsp::from_vec(draft.plan(bspkit::Layout::Keep)?.to_vec())?.draft();
/// again.update(quake2::FACES, 3, |face| face.plane = 1)?;
/// assert!(check::introduced(&again, &check::Options::default())?.is_empty());
/// # Ok::<(), bspkit::Error>(())
/// ```
///
/// # Errors
/// As [`run`]; those of an open lens that cannot be written.
pub fn introduced(draft: &Draft<'_>, options: &Options) -> Result<Vec<Finding>> {
    let engine = engine(draft.bsp(), options)?;
    let Some(view) = draft.view()? else { return Ok(Vec::new()) };
    let touched = draft.bsp().slots().iter().zip(view.slots());
    let touched = touched.filter(|(old, new)| view.container().is_pending(new.id) || old.version != new.version);
    let touched: Vec<SlotId> = touched.map(|(old, _)| old.id).collect();
    if let Some(findings) = edited::introduced(draft, &view, &touched, engine, options) {
        return Ok(findings);
    }
    let all = |bsp: &Bsp<'_>| {
        let mut sink = Sink::new(&options.allowed, sink::COMPARED);
        check(bsp, engine, Some(&touched), &mut sink);
        sink
    };
    let new = all(&view);
    let mut found = if new.is_empty() { Vec::new() } else { new.without(all(draft.bsp())).into_findings() };
    let mut left = Sink::new(&options.allowed, LISTED);
    relit::check(draft.bsp(), &view, &touched, &mut left);
    found.extend(left.into_findings());
    Ok(found)
}

fn engine(bsp: &Bsp<'_>, options: &Options) -> Result<Option<&'static Engine>> {
    match &options.engine {
        Some(name) => bsp.dialect().engine_by_name(name).map(Some),
        None => Ok(bsp.dialect().engine(bsp.version())),
    }
}

/// Checks a map; where only some slots were touched, what depends on these.
fn check(bsp: &Bsp<'_>, engine: Option<&'static Engine>, touched: Option<&[SlotId]>, sink: &mut Sink) {
    // Nothing but the checks of their own looks at these, and of the other lumps at those that entities refer to.
    let is_apart = |slot: &SlotId| matches!(bsp.role_of(*slot), Some(Role::Entities | Role::Pak));
    let apart = touched.filter(|touched| touched.iter().all(is_apart));
    let lumps = Lumps::read(bsp, |slot| {
        apart.is_none_or(|touched| touched.contains(&slot.id) || entities::refer_to(bsp, &slot.name))
    });
    let links = lumps.links();
    structure::check(&lumps, sink);
    if apart.is_none() {
        check_records(&lumps, &links, sink);
    }
    let entities = entities::check(&lumps, &links, engine, sink);
    limits::check(&lumps, engine, entities.as_ref(), sink);
    // An edit is not at fault if it leaves something that nothing refers to.
    if touched.is_none() {
        unused::check(&lumps, &links, entities.as_ref(), sink);
    }
}

fn check_records(lumps: &Lumps<'_>, links: &Links<'_>, sink: &mut Sink) {
    references::check(lumps, links, sink);
    tree::check(lumps, sink);
    visibility::check(lumps, sink);
    light::check(lumps, sink);
    rules::check(lumps, sink);
    textures::check(lumps, sink);
    surfaces::check(lumps, sink);
    displacements::check(lumps, sink);
    bspx::check(lumps, sink);
    physics::check(lumps, links, sink);
}
