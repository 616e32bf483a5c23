//! Files by the name of the map, and the `.res` file as text.

use std::collections::HashSet;

use super::{Collector, Form, Kind, List, Origin, Resource, source};
use crate::content::assets::{Files, normal_name};
use crate::error::Result;

/// The files that engines look for by the name of the map, which is between the two parts.
const BY_NAME: [(&str, &str, Kind); 5] = [
    ("overviews/", ".txt", Kind::Overview),
    ("overviews/", ".bmp", Kind::Overview),
    ("overviews/", ".tga", Kind::Overview),
    ("maps/", ".txt", Kind::Text),
    ("maps/", "_detail.txt", Kind::Detail),
];

/// A larger list of detail textures is not read.
const MOST_BYTES: usize = 1 << 20;

/// Adds the files that are there.
pub(super) fn collect(map: &[u8], own: &dyn Files, collector: &mut Collector) {
    for (before, after, kind) in BY_NAME {
        let name = [before.as_bytes(), map, after.as_bytes()].concat();
        if own.has(&normal_name(&name)) {
            collector.add(kind, &name, Origin::Map);
            if kind == Kind::Detail {
                details(&name, own, collector);
            }
        }
    }
}

/// Adds the textures of a list: a line has a texture, its detail texture below `gfx`, and two numbers.
fn details(list: &[u8], own: &dyn Files, collector: &mut Collector) {
    let text = match own.read(&normal_name(list), MOST_BYTES) {
        Ok(Some(text)) => text,
        Ok(None) => return,
        Err(error) => return collector.faults.push(error.to_string()),
    };
    for line in text.split(|byte| *byte == b'\n') {
        let words = line.split(|byte| byte.is_ascii_whitespace() || *byte == b'"').filter(|word| !word.is_empty());
        let words: Vec<&[u8]> = words.take_while(|word| !word.starts_with(b"//")).collect();
        let [_, detail, ..] = words[..] else { continue };
        collector.add(Kind::Detail, &[b"gfx/", detail, b".tga"].concat(), Origin::File(list.to_vec()));
    }
}

/// A name in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listed {
    /// The name as engines look it up.
    pub name: Vec<u8>,
    /// Its line, from 1.
    pub line: usize,
}

impl List {
    /// Whether it is for a Source map, as KeyValues.
    pub fn is_of_source(&self) -> bool {
        self.form == Form::Block
    }

    /// The text of a new `.res` file.
    pub fn text(&self) -> Vec<u8> {
        match self.form {
            Form::Lines => self.lines_after(b""),
            // An empty text can be added to.
            Form::Block => self.block_after(b"").unwrap_or_default(),
        }
    }

    /// The text of a `.res` file, with what it lacks at its end. Its lines stay; a name in a comment counts as listed.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`](crate::ErrorKind::Malformed) for a list of a Source map that the engine does not read.
    ///
    /// ```
    /// use bspkit::op::res::{self, Options};
    /// let map = bspkit::Bsp::open("tests/maps/source/room_v20.bsp")?;
    /// let list = res::find(&map, &Options::new("room_v20"))?;
    /// let text = String::from_utf8(list.text_after(b"\"resources\"\n{\n\t\"sound/a.wav\" \"file\"\n}\n")?)?;
    /// assert!(text.starts_with("\"resources\"\n{\n\t\"sound/a.wav\" \"file\"\n\t\"materials/own/"));
    /// assert!(text.ends_with("\t\"materials/own/floor.vmt\" \"file\"\n}\n"), "{text}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn text_after(&self, old: &[u8]) -> Result<Vec<u8>> {
        match self.form {
            Form::Lines => Ok(self.lines_after(old)),
            Form::Block => self.block_after(old),
        }
    }

    /// The names in a list that the engine reads from it.
    ///
    /// # Errors
    /// As [`List::text_after`].
    pub fn listed(&self, text: &[u8]) -> Result<Vec<Listed>> {
        match self.form {
            Form::Lines => {
                let lines = text.split(|byte| *byte == b'\n').zip(1..);
                let lines = lines.filter(|(text, _)| !text.trim_ascii().starts_with(b"//"));
                let names = lines.map(|(text, line)| Listed { name: name(text), line });
                Ok(names.filter(|listed| !listed.name.is_empty()).collect())
            }
            Form::Block => Ok(source::names(text)?.into_iter().map(|(name, line)| Listed { name, line }).collect()),
        }
    }

    /// The files that no line names, also not in a comment.
    fn lacking(&self, old: &[u8]) -> impl Iterator<Item = &Resource> {
        let listed: HashSet<Vec<u8>> = old.split(|byte| *byte == b'\n').map(name).collect();
        self.files.iter().filter(move |file| !listed.contains(&normal_name(&file.name)))
    }

    fn block_after(&self, old: &[u8]) -> Result<Vec<u8>> {
        let known: HashSet<Vec<u8>> = source::names(old)?.into_iter().map(|(name, _)| name).collect();
        let lacking = self.lacking(old).filter(|file| !known.contains(&normal_name(&file.name)));
        let more: Vec<&[u8]> = lacking.map(|file| &file.name[..]).collect();
        match more.is_empty() {
            true => Ok(old.to_vec()),
            false => source::with_names(old, &more, line_end(old)),
        }
    }

    fn lines_after(&self, old: &[u8]) -> Vec<u8> {
        let end = line_end(old);
        let mut out = old.to_vec();
        let mut last = None;
        for file in self.lacking(old) {
            if !out.is_empty() && !out.ends_with(b"\n") {
                out.extend_from_slice(end);
            }
            if last != Some(file.kind) {
                out.extend_from_slice(format!("// {}", heading(file.kind)).as_bytes());
                out.extend_from_slice(end);
                last = Some(file.kind);
            }
            // The engine's parser ends a word at a space.
            let quote: &[u8] = if file.name.iter().any(u8::is_ascii_whitespace) { b"\"" } else { b"" };
            out.extend_from_slice(&[quote, &file.name, quote, end].concat());
        }
        out
    }
}

fn line_end(text: &[u8]) -> &'static [u8] {
    if text.windows(2).any(|two| two == b"\r\n") { b"\r\n" } else { b"\n" }
}

/// The name in a line, also in a comment.
fn name(line: &[u8]) -> Vec<u8> {
    let line = line.trim_ascii();
    let line = line.strip_prefix(b"//").unwrap_or(line).trim_ascii();
    let quoted = line.strip_prefix(b"\"").and_then(|rest| rest.split(|byte| *byte == b'"').next());
    normal_name(quoted.unwrap_or_else(|| line.split(|byte| byte.is_ascii_whitespace()).next().unwrap_or_default()))
}

fn heading(kind: Kind) -> &'static str {
    match kind {
        Kind::Model => "models",
        Kind::Sprite => "sprites",
        Kind::Sound => "sounds",
        Kind::Wad => "wads",
        Kind::Sky => "sky",
        Kind::Overview => "overview",
        Kind::Text => "text",
        Kind::Detail => "detail textures",
        Kind::Material => "materials",
        Kind::Texture => "textures",
        Kind::Other => "other files",
    }
}
