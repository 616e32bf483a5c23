//! Finds materials and the files that they name, by a reader of its own: a name of a texture, the material of this name
//! in the pakfile, and everything in it that is a file of the pakfile.

use bspkit::Bsp;

/// Who names which embedded file: the texture or file, the number of the word in its text, and the file, by indices.
pub(crate) type Edge = (Source, usize, usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    Texture(usize),
    File(usize),
    Entity(usize),
}

/// All references that end at a file of the pakfile.
pub(crate) fn edges(map: &Bsp<'_>) -> Vec<Edge> {
    let Ok(pak) = map.pak() else { return Vec::new() };
    let names: Vec<String> = pak.iter().map(|file| plain(file.name())).collect();
    // The first of several files of one name, as engines have it.
    let find = |name: String| names.iter().position(|other| *other == name);
    let mut found = Vec::new();
    if let Ok(textures) = map.texture_names() {
        for (at, texture) in textures.iter().enumerate() {
            let file = find(format!("materials/{}.vmt", plain(&texture.name)));
            found.extend(file.map(|file| (Source::Texture(at), 0, file)));
        }
    }
    for file in pak.iter().filter(|file| plain(file.name()).ends_with(".vmt")) {
        let Ok(text) = file.data() else { continue };
        for (number, word) in words(&text).iter().enumerate() {
            found.extend(named(&find, word).map(|to| (Source::File(file.index()), number, to)));
        }
    }
    if let Ok(entities) = map.entities() {
        for entity in entities.iter() {
            for (number, pair) in entity.pairs().enumerate() {
                let parts = pair.value.split(|byte| matches!(byte, b',' | 0x1b)).enumerate();
                let parts = parts.filter(|(_, part)| part.contains(&b'/'));
                let named = parts.filter_map(|(part, value)| Some((part, named(&find, &plain(value))?)));
                found.extend(named.map(|(part, to)| (Source::Entity(entity.index()), 100 * number + part, to)));
            }
        }
    }
    found
}

/// The file that a word of a material names.
fn named(find: &impl Fn(String) -> Option<usize>, word: &str) -> Option<usize> {
    let forms = ["", "materials/", "models/", "sound/"]
        .iter()
        .flat_map(|root| ["", ".vmt", ".vtf", ".hdr.vtf"].iter().map(move |end| format!("{root}{word}{end}")));
    forms.filter_map(find).next()
}

/// As engines compare names.
pub(crate) fn plain(name: &[u8]) -> String {
    name.iter().map(|byte| char::from(byte.to_ascii_lowercase())).collect::<String>().replace('\\', "/")
}

/// The words of a material: in quotes, or between spaces and braces; comments are left out.
pub(crate) fn words(text: &[u8]) -> Vec<String> {
    let text = plain(text);
    let mut found = Vec::new();
    for line in text.lines() {
        let mut rest = line;
        while let Some(at) = rest.find(|letter: char| !letter.is_whitespace() && !"{}".contains(letter)) {
            rest = &rest[at..];
            if rest.starts_with("//") {
                break;
            }
            let (word, after) = match rest.strip_prefix('"') {
                Some(inner) => inner.split_once('"').unwrap_or((inner, "")),
                None => {
                    let is_end = |letter: char| letter.is_whitespace() || "{}\"".contains(letter);
                    rest.split_at(rest.find(is_end).unwrap_or(rest.len()))
                }
            };
            found.push(word.to_owned());
            rest = after;
        }
    }
    found
}
