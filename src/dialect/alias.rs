//! Fields that records of most families have in one form or another: the name of a texture.

/// A field that records answer to, and the path that leads to what it means. The path ends at a name, or at the index
/// of a record that has a name.
///
/// ```
/// use bspkit::dialect::Alias;
/// let paths: Vec<_> = Alias::of("TEXINFO", "texture").map(|alias| alias.path).collect();
/// assert_eq!(paths, ["texdata.name"]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Alias {
    /// The lump of the records.
    pub lump: &'static str,
    /// The field that they answer to, unless they have a field of this name.
    pub field: &'static str,
    /// The path to what is meant. Of several, the first one counts whose first field the records have.
    pub path: &'static str,
}

const fn texture(lump: &'static str, path: &'static str) -> Alias {
    Alias { lump, field: "texture", path }
}

/// What has a texture: in Quake and its relatives by way of texinfo, in Source by way of texinfo and texdata, in Quake
/// III by its shader.
const ALL: &[Alias] = &[
    texture("TEXINFO", "texdata.name"),
    texture("FACES", "texinfo.texture"),
    texture("FACES_HDR", "texinfo.texture"),
    texture("ORIGINALFACES", "texinfo.texture"),
    texture("OVERLAYS", "texinfo.texture"),
    texture("WATEROVERLAYS", "texinfo.texture"),
    texture("BRUSHSIDES", "texinfo.texture"),
    texture("BRUSHSIDES", "shader"),
    texture("BRUSHES", "shader"),
    texture("SURFACES", "shader"),
];

impl Alias {
    /// The meanings of a field of a lump's records.
    pub fn of<'n>(lump: &'n str, field: &'n str) -> impl Iterator<Item = &'static Alias> + use<'n> {
        ALL.iter().filter(move |alias| alias.lump == lump && alias.field.eq_ignore_ascii_case(field))
    }
}
