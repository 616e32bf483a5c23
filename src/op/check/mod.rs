//! What is wrong with a map, and where: everything that makes an engine refuse it or read what is not there.
//!
//! A finding has a code that never changes its meaning, a severity, a place and a sentence. What the formats allow is
//! no finding, however odd: `docs/checks.md` has the table, with what is left out on purpose and the source of each
//! fact. Nothing is changed.

mod bspx;
mod code;
mod displacements;
mod entities;
mod light;
mod limits;
mod lists;
mod lumps;
mod references;
mod rules;
mod sink;
mod structure;
mod surfaces;
mod textures;
mod tree;
mod visibility;

pub use code::{CODES, Code, Severity};
pub use sink::Finding;

use crate::bsp::Bsp;
use crate::dialect::Engine;
use crate::error::Result;
use lumps::Lumps;
use sink::Sink;

/// What is checked.
///
/// ```
/// use bspkit::op::check::Options;
/// let options = Options::default().engine("q2pro").allow("entity-nul")?;
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// The engine whose limits hold; the stock one of the map's version where it is not said.
    pub engine: Option<String>,
    /// What is not looked for.
    pub allowed: Vec<&'static Code>,
}

impl Options {
    /// Says whose limits hold.
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

/// Everything that is wrong with a map, group by group. Of findings with the same code in the same lump ten are
/// listed; one more says how many there are beyond.
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
    let engine = match &options.engine {
        Some(name) => Some(bsp.dialect().engine_by_name(name)?),
        None => bsp.dialect().engine(bsp.version()),
    };
    let mut sink = Sink::new(&options.allowed);
    all(bsp, engine, &mut sink);
    Ok(sink.into_findings())
}

fn all(bsp: &Bsp<'_>, engine: Option<&'static Engine>, sink: &mut Sink) {
    let lumps = Lumps::read(bsp);
    structure::check(&lumps, sink);
    references::check(&lumps, sink);
    tree::check(&lumps, sink);
    visibility::check(&lumps, sink);
    light::check(&lumps, sink);
    rules::check(&lumps, sink);
    textures::check(&lumps, sink);
    surfaces::check(&lumps, sink);
    displacements::check(&lumps, sink);
    bspx::check(&lumps, sink);
    lists::check(&lumps, sink);
    let entities = entities::check(&lumps, engine, sink);
    limits::check(&lumps, engine, entities, sink);
}
