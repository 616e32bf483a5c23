//! What shaders of Quake III and its relatives look like: the image of the same name, or the first image that the
//! shader's script names.

use std::cell::RefCell;
use std::collections::HashMap;

use bspkit::Result;
use bspkit_game::assets::{Files, normal_name};

use crate::images::Images;
use crate::picture::Picture;

/// The most bytes of all scripts, and of one.
const MOST_SCRIPTS: usize = 1 << 26;
const MOST_SCRIPT: usize = 1 << 24;

/// The keys of a shader that name an image. A shader without another one has the image of editors.
const MAPS: [&[u8]; 3] = [b"map", b"clampmap", b"animmap"];
const EDITOR: &[u8] = b"qer_editorimage";

/// The images of shaders, from the files of a game.
pub(super) struct Shaders<'r> {
    files: &'r dyn Files,
    images: Images<'r>,
    /// The image that a script names, by the shader's name. Scripts are read for the first shader without an image.
    scripts: RefCell<Option<HashMap<Vec<u8>, Vec<u8>>>>,
}

impl<'r> Shaders<'r> {
    pub(super) fn new(files: &'r dyn Files) -> Self {
        Shaders { files, images: Images::new(files), scripts: RefCell::new(None) }
    }

    /// The picture of a shader; `None` if the game has no image for it.
    pub(super) fn picture(&self, name: &[u8]) -> Result<Option<Picture>> {
        let named = self.named(&normal_name(name));
        // A script holds where there is one: an image of the same name is only that of the editor.
        if let Some(image) = named
            && let Some(picture) = self.image(&image)?
        {
            return Ok(Some(picture));
        }
        self.image(name)
    }

    fn named(&self, name: &[u8]) -> Option<Vec<u8>> {
        self.scripts.borrow_mut().get_or_insert_with(|| scripts(self.files)).get(name).cloned()
    }

    fn image(&self, name: &[u8]) -> Result<Option<Picture>> {
        let Some(image) = self.images.find(name)? else { return Ok(None) };
        Picture::rgba(image.size, &image.pixels).map(Some)
    }
}

/// The images that the scripts of a game name. Of several shaders with one name the engine takes the first in a script,
/// and of several scripts the last by name.
fn scripts(files: &dyn Files) -> HashMap<Vec<u8>, Vec<u8>> {
    let mut names: Vec<Vec<u8>> =
        files.names_in(b"scripts").into_iter().filter(|name| name.ends_with(b".shader")).collect();
    names.sort_by(|one, other| other.cmp(one));
    names.dedup();
    let (mut images, mut left) = (HashMap::new(), MOST_SCRIPTS);
    for name in names {
        let Ok(Some(text)) = files.read(&name, MOST_SCRIPT.min(left)) else { continue };
        left -= text.len();
        add(&text, &mut images);
    }
    images
}

/// Adds the shaders of a script: a name, and a block with pairs and with a block for each stage.
fn add(text: &[u8], images: &mut HashMap<Vec<u8>, Vec<u8>>) {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    let (mut depth, mut name, mut image, mut editor) = (0_usize, &[][..], None, None);
    let words: Vec<Word<'_>> = words(text);
    for (at, word) in words.iter().enumerate() {
        match word.text {
            b"{" => depth += 1,
            b"}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    if let Some(found) = image.or(editor) {
                        images.entry(normal_name(name)).or_insert_with(|| <[u8]>::to_vec(found));
                    }
                    (image, editor) = (None, None);
                }
            }
            text if depth == 0 => name = text,
            text if word.is_first => {
                let key = text.to_ascii_lowercase();
                // `animMap` has a frequency before its images.
                let value = words.get(at + if key == b"animmap" { 2 } else { 1 });
                let value = value.filter(|value| !value.is_first && !value.text.starts_with(b"$"));
                let value = value.map(|value| value.text).filter(|value| !value.starts_with(b"*"));
                if MAPS.contains(&&key[..]) {
                    image = image.or(value);
                } else if key == EDITOR {
                    editor = editor.or(value);
                }
            }
            _ => {}
        }
    }
}

/// A word of a script; quotes may be around it.
struct Word<'t> {
    text: &'t [u8],
    /// Whether it is the first one in its line, or after a brace.
    is_first: bool,
}

/// The words of a script without its comments.
fn words(text: &[u8]) -> Vec<Word<'_>> {
    let (mut words, mut at, mut is_first) = (Vec::new(), 0, true);
    while let Some(byte) = text.get(at) {
        let rest = &text[at..];
        let length = match byte {
            b'\n' | b'\r' => {
                is_first = true;
                at += 1;
                continue;
            }
            _ if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            _ if rest.starts_with(b"//") => {
                at += rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
                continue;
            }
            _ if rest.starts_with(b"/*") => {
                at += rest.windows(2).position(|two| two == b"*/").map_or(rest.len(), |end| end + 2);
                continue;
            }
            b'"' => {
                let end = rest[1..].iter().position(|byte| *byte == b'"').unwrap_or(rest.len() - 1);
                words.push(Word { text: &rest[1..=end], is_first });
                is_first = false;
                at += end + 2;
                continue;
            }
            _ => rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len()),
        };
        words.push(Word { text: &rest[..length], is_first });
        is_first = matches!(rest[..length], [b'{' | b'}']);
        at += length;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_names_the_image_of_its_first_stage() {
        let text =
            b"// own\ntextures/own/fire\n{\n\tqer_editorimage textures/own/edit.tga\n\t{\n\t\tmap $lightmap\n\t}\n\
            \t{ animMap 10 textures/own/f1.tga textures/own/f2.tga\n\t}\n}\n\
            Textures\\own/Glass { qer_editorimage a.jpg }\n\
            textures/own/none { surfaceparm nodraw }\ntextures/own/fire { { map other.tga } }";
        let mut images = HashMap::new();
        add(text, &mut images);
        assert_eq!(images.len(), 2, "{images:?}");
        assert_eq!(images[&b"textures/own/fire"[..]], b"textures/own/f1.tga");
        assert_eq!(images[&b"textures/own/glass"[..]], b"a.jpg");
        let text = b"\xEF\xBB\xBF/* textures/own/a { { map no.tga } } */ \"textures/own/a\" // b\n{\n{\n\
            MAP \"own/a b.tga\"\n} }\n";
        let mut images = HashMap::new();
        add(text, &mut images);
        assert_eq!(images.into_iter().collect::<Vec<_>>(), [(b"textures/own/a".to_vec(), b"own/a b.tga".to_vec())]);
        // What is cut short ends.
        for end in 0..text.len() {
            add(&text[..end], &mut HashMap::new());
        }
    }

    /// Two scripts.
    struct Two;

    impl Files for Two {
        fn has(&self, _: &[u8]) -> bool {
            true
        }

        fn read(&self, name: &[u8], _: usize) -> Result<Option<bspkit::Data<'_>>> {
            let text: &[u8] = match name {
                b"scripts/a.shader" => b"x { { map a.tga } } only { { map a.tga } }",
                _ => b"x { { map first.tga } } x { { map second.tga } }",
            };
            Ok(Some(text.into()))
        }

        fn names_in(&self, _: &[u8]) -> Vec<Vec<u8>> {
            vec![b"scripts/a.shader".to_vec(), b"scripts/b.shader".to_vec(), b"scripts/b.txt".to_vec()]
        }
    }

    #[test]
    fn the_last_script_holds_and_the_first_shader_in_it() {
        let images = scripts(&Two);
        assert_eq!((&images[&b"x"[..]][..], &images[&b"only"[..]][..]), (&b"first.tga"[..], &b"a.tga"[..]));
    }
}
