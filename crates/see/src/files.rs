//! Files of an export: their names, and the axes and the unit of what is in them.

use bspkit::bytes::rounded;

/// How long a unit of the map is in files: an inch, in metres. A player of Half-Life is then 1.83 metres tall, and one
/// of Quake 1.42.
pub const METRES: f64 = 0.0254;

/// A file to write.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct File {
    /// Its name: that of the export, or a path below its folder.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

impl File {
    pub(crate) fn new(name: impl Into<String>, bytes: Vec<u8>) -> Self {
        File { name: name.into(), bytes }
    }
}

/// A point of the map in the axes and the unit of files.
pub(crate) fn placed_at([x, y, z]: [f32; 3]) -> [f32; 3] {
    in_axes([x, y, z]).map(|part| rounded(f64::from(part) * METRES))
}

/// A direction of the map in the axes of files: z of the map is y, and y is -z. What is 0 has no sign.
pub(crate) fn in_axes([x, y, z]: [f32; 3]) -> [f32; 3] {
    [x, z, -y].map(|part| part + 0.0)
}

/// Where the name of a file begins in its path.
pub(crate) fn name_start(path: &str) -> usize {
    path.rfind(std::path::is_separator).map_or(0, |at| at + 1)
}

/// A path for other files of the export: without the end that names a form, if it has one.
pub(crate) fn stem(path: &str) -> &str {
    let name = name_start(path);
    // A name that begins with its only dot has no end.
    path[name..].rfind('.').filter(|at| *at > 0).map_or(path, |at| &path[..name + at])
}

/// The name of the file of a texture's picture.
pub(crate) fn file_of_texture(name: &str, index: usize, texture: &str) -> String {
    const MOST: usize = 48;
    let letters =
        texture.chars().map(|letter| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' });
    let letters: String = letters.take(MOST).collect();
    format!("{}.textures/{index:03}_{letters}.png", stem(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn up_is_y_in_files() {
        assert_eq!(in_axes([1.0, 2.0, 3.0]), [1.0, 3.0, -2.0]);
        assert_eq!(placed_at([1000.0, 0.0, 0.0]), [25.4, 0.0, 0.0]);
        assert!(in_axes([0.0; 3]).iter().all(|part| part.is_sign_positive()));
    }

    #[test]
    fn the_dots_of_folders_are_no_end_of_a_name() {
        let stems = ["a/b.c.gltf", "out.d/rooms", "./rooms", "../x.obj", ".rooms", "a.d/.rooms"].map(stem);
        assert_eq!(stems, ["a/b.c", "out.d/rooms", "./rooms", "../x", ".rooms", "a.d/.rooms"]);
    }

    #[test]
    fn names_of_files_are_plain() {
        let odd = file_of_texture("a b.gltf", 7, "../e1u1/../wall\u{202e}\0.png");
        assert_eq!(odd, "a b.textures/007____e1u1____wall___png.png");
        assert!(file_of_texture("x.obj", 1, &"w".repeat(500)).len() < 80);
    }
}
