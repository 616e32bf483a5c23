//! A report and a proof in one document.

use serde::Serialize;

use crate::proof::Proof;
use crate::report::Report;

/// A report and a proof, as JSON has them.
///
/// ```
/// use bspkit_decompile::{Options, Outcome, decompile};
/// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// let outcome = Outcome::new(decompile(&map, &Options::default())?.report, None);
/// assert!(outcome.proof.is_none() && outcome.report.left_out.is_empty());
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Outcome {
    /// What the source holds.
    #[serde(flatten)]
    pub report: Report,
    /// How far it is that of the map; `None` if that was not asked for.
    pub proof: Option<Shares>,
}

/// A proof with its shares.
///
/// ```
/// use bspkit_decompile::{Proof, Shares};
/// assert_eq!(Shares::from(Proof::default()).point_share, 1.0);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Shares {
    /// The share of the points that agree, 0 to 1.
    pub point_share: f64,
    /// The share of the area of faces that agrees, 0 to 1.
    pub area_share: f64,
    /// The proof.
    #[serde(flatten)]
    pub proof: Proof,
}

impl From<Proof> for Shares {
    fn from(proof: Proof) -> Self {
        Shares { point_share: proof.points.share(), area_share: proof.faces.share(), proof }
    }
}

impl Outcome {
    /// A report, and a proof if there is one.
    pub fn new(report: Report, proof: Option<Proof>) -> Self {
        Outcome { report, proof: proof.map(Shares::from) }
    }
}
