//! How the visibility lump of a dialect is laid out.

/// How a dialect says what is visible from where.
///
/// ```
/// use bspkit::dialect::{QUAKE3, SOURCE21, VisModel};
/// assert_eq!(QUAKE3.visibility, VisModel::Matrix);
/// assert_eq!(SOURCE21.visibility, VisModel::Clusters);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VisModel {
    /// A compressed row for each leaf, which says itself where its row begins (`dleaf_t::visofs`).
    Leafs(LeafRows),
    /// A count of clusters, then for each where its two compressed rows begin (`dvis_t`).
    Clusters,
    /// A count of clusters, the bytes of a row, then the rows as they are.
    Matrix,
}

/// Where the numbers are that rows by leaf need, in lumps of other records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeafRows {
    /// The bytes of a leaf.
    pub leaf_size: usize,
    /// Where in a leaf its row's offset is, 32 bits (`visofs`).
    pub offset_at: usize,
    /// Where in the first model the number of leafs is that have bits, 32 bits (`visleafs`).
    pub count_at: usize,
}

impl LeafRows {
    /// `dleaf_t` and `dmodel_t` of bspfile.h of the Half-Life SDK's compilers, as of Quake's.
    pub(super) const GOLDSRC: Self = LeafRows { leaf_size: 28, offset_at: 4, count_at: 52 };
}
