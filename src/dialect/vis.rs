//! How the visibility lump of a dialect is laid out.

/// How a dialect stores visibility.
///
/// ```
/// use bspkit::dialect::{QUAKE3, SOURCE21, VisModel};
/// assert_eq!(QUAKE3.visibility, VisModel::Matrix);
/// assert_eq!(SOURCE21.visibility, VisModel::Clusters);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VisModel {
    /// A compressed row for each leaf; the leaf has the offset of its row (`dleaf_t::visofs`).
    Leafs(LeafRows),
    /// A count of clusters, then for each the offsets of its two compressed rows (`dvis_t`).
    Clusters,
    /// A count of clusters, the size of a row in bytes, then the rows, not compressed.
    Matrix,
}

/// Where other lumps have the numbers that rows by leaf need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeafRows {
    /// The bytes of a leaf.
    pub leaf_size: usize,
    /// The position of the row's offset in a leaf, 32 bits (`visofs`).
    pub offset_at: usize,
    /// The position in the first model of the number of leafs that have bits, 32 bits (`visleafs`).
    pub count_at: usize,
}

impl LeafRows {
    /// `dleaf_t` and `dmodel_t` of bspfile.h of the Half-Life SDK's compilers, as of Quake's.
    pub(super) const GOLDSRC: Self = LeafRows { leaf_size: 28, offset_at: 4, count_at: 52 };
}
