//! OBJ and MTL: surfaces with textures, each model in its place. The format has no second coordinates, and so no light.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use bspkit::{Error, ErrorKind, Result};

use crate::files::{File, file_of_texture, in_axes, name_start, placed_at, stem};
use crate::parts::{Part, Texture};
use crate::points::plus;
use crate::scene::Scene;

/// The largest file, in bytes.
const MOST_BYTES: usize = 1 << 29;

pub(crate) fn write(scene: &Scene, name: &str) -> Result<Vec<File>> {
    let materials = format!("{}.mtl", stem(name));
    let mut obj = format!("# 1 unit is 1 metre, y is up\nmtllib {}\n", file_name(&materials));
    let names = names(scene.textures.iter().map(|texture| &*texture.name));
    let mut next = 1_usize;
    for (model, origin) in scene.places() {
        push(&mut obj, format_args!("o model_{model}\n"));
        for part in &scene.models[model].parts {
            next = self::part(&mut obj, part, &names[part.texture], origin, next);
            if obj.len() > MOST_BYTES {
                return Err(Error::new(ErrorKind::TooLarge, format!("{name} would be larger than {MOST_BYTES} bytes")));
            }
        }
    }
    let mut mtl = String::new();
    let mut files = vec![File::new(name, obj.into_bytes())];
    for (index, texture) in scene.textures.iter().enumerate() {
        let picture = texture.picture.as_ref().map(|picture| (file_of_texture(name, index, &texture.name), picture));
        material(&mut mtl, &names[index], texture, picture.as_ref().map(|(file, _)| &**file));
        files.extend(picture.map(|(file, picture)| File::new(file, picture.png.clone())));
    }
    files.insert(1, File::new(materials, mtl.into_bytes()));
    Ok(files)
}

/// Writing into a string cannot fail.
fn push(text: &mut String, line: std::fmt::Arguments<'_>) {
    let _ = text.write_fmt(line);
}

/// The last part of a path.
fn file_name(path: &str) -> &str {
    &path[name_start(path)..]
}

/// A name for the material of each texture, of letters that every reader takes; no two are equal.
fn names<'t>(textures: impl Iterator<Item = &'t str>) -> Vec<String> {
    let (mut taken, mut counts) = (HashSet::new(), HashMap::<String, usize>::new());
    let letter = |letter: char| if letter.is_ascii_graphic() && !matches!(letter, '#' | '\\') { letter } else { '_' };
    let name = |texture: &str| {
        let plain = if texture.is_empty() { "_".to_owned() } else { texture.chars().map(letter).collect::<String>() };
        let count = counts.entry(plain.clone()).or_default();
        loop {
            *count += 1;
            let name = if *count == 1 { plain.clone() } else { format!("{plain}_{count}") };
            if taken.insert(name.clone()) {
                return name;
            }
        }
    };
    textures.map(name).collect()
}

/// Writes a part whose first vertex has a number, and returns the number of the next one.
fn part(obj: &mut String, part: &Part, material: &str, origin: [f32; 3], first: usize) -> usize {
    for vertex in &part.vertices {
        let [x, y, z] = placed_at(plus(vertex.point, origin));
        push(obj, format_args!("v {x} {y} {z}\n"));
    }
    for vertex in &part.vertices {
        // Rows count from below.
        let [s, t] = vertex.texture;
        push(obj, format_args!("vt {s} {}\n", 1.0 - t));
    }
    for vertex in &part.vertices {
        let [x, y, z] = in_axes(vertex.normal);
        push(obj, format_args!("vn {x} {y} {z}\n"));
    }
    push(obj, format_args!("usemtl {material}\n"));
    for triangle in &part.triangles {
        let [a, b, c] = triangle.map(|corner| first + bspkit::bytes::index(corner));
        push(obj, format_args!("f {a}/{a}/{a} {b}/{b}/{b} {c}/{c}/{c}\n"));
    }
    first + part.vertices.len()
}

fn material(mtl: &mut String, material: &str, texture: &Texture, picture: Option<&str>) {
    // A name of a map may have a line break, which would end the comment.
    let name: String = texture.name.chars().filter(|letter| !letter.is_control()).collect();
    let [red, green, blue] = if picture.is_some() { [1.0; 3] } else { texture.color.map(|part| part.powf(1.0 / 2.2)) };
    push(mtl, format_args!("# {name} ({})\nnewmtl {material}\n", texture.surface.name()));
    push(mtl, format_args!("Kd {red:.4} {green:.4} {blue:.4}\nKs 0 0 0\nillum 1\nd {:.4}\n", texture.opacity));
    if let Some(picture) = picture {
        let folder = picture.rsplitn(3, '/').take(2).collect::<Vec<_>>();
        push(mtl, format_args!("map_Kd {}/{}\n", folder.last().unwrap_or(&""), folder.first().unwrap_or(&"")));
    }
    mtl.push('\n');
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn materials_have_the_names_of_textures_and_no_two_the_same() {
        let textures = ["*lava", "a b", "a_b", "a#b", "a_b_2", "", "metal/floor1"];
        let expected = ["*lava", "a_b", "a_b_2", "a_b_3", "a_b_2_2", "_", "metal/floor1"];
        assert_eq!(names(textures.into_iter()), expected);
        let many = names(std::iter::repeat_n("same", 3000));
        assert_eq!(many.last().map(String::as_str), Some("same_3000"));
    }
}
