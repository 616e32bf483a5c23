//! What of a map is read.

use bspkit_game::assets::Files;

use crate::chosen::Only;

/// What is read of a map, and how finely.
///
/// ```
/// use bspkit_see::{Options, Scene};
/// let map = bspkit::Bsp::open("../../tests/maps/q2/own_rooms.bsp")?;
/// let dark = Scene::read(&map, &Options { light: false, ..Options::default() })?;
/// assert!(dark.light.is_none());
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone)]
#[allow(clippy::exhaustive_structs)]
pub struct Options<'o> {
    /// How many straight pieces each curve of a patch becomes, 1 to 32.
    pub detail: usize,
    /// Whether light is read.
    pub light: bool,
    /// Whether the light is that for high dynamic range, where a map has both; its exact luxels are images too.
    pub hdr: bool,
    /// What of the map; all of it if nothing is chosen.
    pub only: Option<Only>,
    /// Whether the tree, the visibility and the brushes that only stop somebody are read: for pages.
    pub spaces: bool,
    /// Whether all models become one.
    pub merge: bool,
    /// The name of the map, without folder and extension: maps of Quake III may have their light in `maps/NAME`.
    pub name: Option<&'o str>,
    /// Files of the game beside the map: textures, palettes, light.
    pub files: Option<&'o dyn Files>,
}

impl std::fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut options = f.debug_struct("Options");
        options.field("detail", &self.detail).field("light", &self.light).field("hdr", &self.hdr);
        options
            .field("only", &self.only)
            .field("spaces", &self.spaces)
            .field("merge", &self.merge)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options { detail: 6, light: true, hdr: false, only: None, spaces: false, merge: false, name: None, files: None }
    }
}

impl Options<'_> {
    /// The most straight pieces of a curve.
    pub const MOST_DETAIL: usize = 32;
}
