//! What entities name: files by their extensions, and keys with values of another form.

use super::{Collector, Kind, Origin};
use crate::bsp::Bsp;
use crate::error::Result;

/// Extensions of files that any key may name, the kind, and the folder below which the value is a path. Engines load
/// them only with the extension.
const EXTENSIONS: [(&[u8], Kind, &[u8]); 5] = [
    (b".mdl", Kind::Model, b""),
    (b".spr", Kind::Sprite, b""),
    (b".wav", Kind::Sound, b"sound/"),
    (b".mp3", Kind::Sound, b"sound/"),
    (b".ogg", Kind::Sound, b"sound/"),
];

/// Folders in which sounds are that are not below `sound`.
const SOUND_FOLDERS: [&[u8]; 2] = [b"sound/", b"media/"];

/// Classes, keys, and what their values are.
const KEYS: [(&[u8], &[u8], Form); 4] = [
    (b"worldspawn", b"wad", Form::Wads),
    (b"worldspawn", b"_wad", Form::Wads),
    (b"worldspawn", b"skyname", Form::Sky),
    (b"trigger_changesky", b"skyname", Form::Sky),
];

/// The form of a value that is not a path.
#[derive(Clone, Copy)]
enum Form {
    /// WAD files on the disk of the map's author, with `;` between them. Players need the files of these names.
    Wads,
    /// The name of a sky; empty for the engine's own.
    Sky,
}

/// The sides of a sky, as the engine names their files.
const SIDES: [&str; 6] = ["up", "dn", "lf", "rt", "ft", "bk"];

/// Adds all files that the entities name.
pub(super) fn collect(map: &Bsp<'_>, collector: &mut Collector) -> Result<()> {
    for entity in map.entities()?.iter() {
        let class = entity.class().unwrap_or_default();
        for pair in entity.pairs() {
            let (key, value) = (pair.key, pair.value.trim_ascii());
            let from = || Origin::Key { entity: entity.index(), key: key.to_vec() };
            let is_meant =
                |(own, name): (&[u8], &[u8])| class.eq_ignore_ascii_case(own) && key.eq_ignore_ascii_case(name);
            match KEYS.iter().find(|(own, name, _)| is_meant((own, name))) {
                Some((_, _, Form::Wads)) => wads(value).for_each(|wad| collector.add(Kind::Wad, wad, from())),
                Some((_, _, Form::Sky)) if value.is_empty() => {}
                Some((_, _, Form::Sky)) => {
                    for side in SIDES {
                        let name = [b"gfx/env/", value, side.as_bytes(), b".tga"].concat();
                        collector.add(Kind::Sky, &name, from());
                    }
                }
                None => {
                    if let Some((kind, name)) = file(value) {
                        collector.add(kind, &name, from());
                    }
                }
            }
        }
    }
    Ok(())
}

/// The names of WAD files, without their folders.
fn wads(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let paths = value.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
    let names = paths.filter_map(|path| path.rsplit(|byte| matches!(byte, b'/' | b'\\')).next());
    names.filter(|name| ends_with(name, b".wad"))
}

/// The file that a value names, if it has the extension of one.
fn file(value: &[u8]) -> Option<(Kind, Vec<u8>)> {
    let (_, kind, folder) = EXTENSIONS.iter().find(|(extension, ..)| ends_with(value, extension))?;
    // A text for players may end with the name of a file.
    if value.iter().any(u8::is_ascii_whitespace) && !value.iter().any(|byte| matches!(byte, b'/' | b'\\')) {
        return None;
    }
    if *kind != Kind::Sound {
        return Some((*kind, value.to_vec()));
    }
    // `*` before a sound says that it is read while it plays.
    let value = value.strip_prefix(b"*").unwrap_or(value);
    let is_below = |folder: &&[u8]| value.get(..folder.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(folder));
    let folder = if SOUND_FOLDERS.iter().any(is_below) { &b""[..] } else { folder };
    Some((*kind, [folder, value].concat()))
}

fn ends_with(value: &[u8], extension: &[u8]) -> bool {
    let at = value.len().checked_sub(extension.len()).filter(|at| *at > 0);
    at.is_some_and(|at| value[at..].eq_ignore_ascii_case(extension))
}
