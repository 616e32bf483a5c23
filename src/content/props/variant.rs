//! The variants of static props that games have made: one table.

/// How the static props of some games are laid out.
///
/// ```
/// use bspkit::content::props::VARIANTS;
/// let team_fortress = VARIANTS.iter().find(|variant| (variant.version, variant.size) == (10, 72)).unwrap();
/// assert_eq!(team_fortress.flags_at, 64);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Variant {
    /// The version of the game lump's member.
    pub version: u16,
    /// The bytes of a prop.
    pub size: usize,
    /// The games that have it.
    pub games: &'static str,
    /// Where in a prop its flags are: one byte at 31, or four at 64, in which case byte 31 is garbage.
    pub flags_at: usize,
    /// A list that only these games have. No map with one was available.
    pub list: Option<ExtraList>,
}

/// A list that only some games have.
///
/// ```
/// use bspkit::content::props::{ExtraList, VARIANTS};
/// assert!(VARIANTS.iter().any(|variant| variant.list == Some(ExtraList::Names)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExtraList {
    /// More names, after the names of the models.
    Names,
    /// Scales of props, 16 bytes each, before the props.
    Scales,
}

/// The variants: by version and size of a prop, those without a list of their own first.
///
/// Seen in maps: versions 4 to 6 of the plain sizes, 9 and 10 of 72 bytes, 10 of 76, 13. The others are as BSPSource
/// and the headers of the games' SDKs describe them.
pub const VARIANTS: &[Variant] = &[
    plain(4, 56, "Bloodlines, early Half-Life 2"),
    plain(5, 60, "Half-Life 2, Vindictus"),
    plain(5, 188, "The Ship"),
    plain(6, 64, "Episode One, Orange Box"),
    plain(6, 136, "Dark Messiah"),
    plain(6, 192, "Bloody Good Time"),
    plain(7, 68, "Left 4 Dead"),
    late_flags(7, 72, "Team Fortress 2 for a while, Black Mesa"),
    plain(8, 68, "Left 4 Dead, early Left 4 Dead 2"),
    plain(9, 72, "Left 4 Dead 2, Alien Swarm, Portal 2"),
    plain(9, 76, "Dear Esther"),
    late_flags(10, 72, "Team Fortress 2, Source SDK 2013"),
    plain(10, 76, "Counter-Strike: Global Offensive"),
    late_flags(11, 76, "Black Mesa"),
    // Black Mesa has 80 bytes too, with its flags elsewhere: the lump does not show which of the two it is.
    plain(11, 80, "Counter-Strike: Global Offensive, Black Mesa"),
    plain(12, 80, "Strata"),
    plain(13, 88, "Strata"),
    Variant { list: Some(ExtraList::Names), ..plain(7, 68, "Zeno Clash") },
    Variant { list: Some(ExtraList::Scales), ..plain(6, 60, "Vindictus") },
    Variant { list: Some(ExtraList::Scales), ..plain(7, 64, "Vindictus") },
];

const fn plain(version: u16, size: usize, games: &'static str) -> Variant {
    Variant { version, size, games, flags_at: 31, list: None }
}

const fn late_flags(version: u16, size: usize, games: &'static str) -> Variant {
    Variant { flags_at: 64, ..plain(version, size, games) }
}
