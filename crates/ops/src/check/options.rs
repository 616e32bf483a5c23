//! What a check looks at, and how much of it is listed.

use super::finding::{LISTED, code as code_of};
use bspkit::Result;
use bspkit::finding::Code;

/// Options of a check.
///
/// ```
/// use bspkit_ops::check::Options;
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
    /// How many findings of a code are listed for a lump; by default ten.
    pub most: Option<usize>,
}

impl Options {
    /// Sets the engine whose limits apply.
    #[must_use]
    pub fn engine(mut self, name: impl Into<String>) -> Self {
        self.engine = Some(name.into());
        self
    }

    /// Lists this many findings of a code for a lump.
    #[must_use]
    pub fn most(mut self, most: usize) -> Self {
        self.most = Some(most);
        self
    }

    pub(super) fn listed(&self) -> usize {
        self.most.unwrap_or(LISTED)
    }

    /// Leaves out findings of this code.
    ///
    /// # Errors
    /// As [`code`](super::code).
    pub fn allow(mut self, code: &str) -> Result<Self> {
        self.allowed.push(code_of(code)?);
        Ok(self)
    }
}
