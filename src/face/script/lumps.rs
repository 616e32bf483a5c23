//! Lumps as bytes, embedded files, and names of textures.

use rhai::{Array, Dynamic};

use super::api::{Api, Res, fail};
use super::data::{Bytes, content_of, text};
use super::entities::signed;
use super::map::{Map, State};
use super::values::{bytes_of, shown};
use crate::content::pak::{Pak, Pattern};
use crate::content::texture_names::Renaming;
use crate::dialect::Role;
use crate::{Error, ErrorKind, Result};

/// The lumps of a map.
#[derive(Clone)]
pub(super) struct Lumps(pub(super) Map);

/// The embedded files of a map.
#[derive(Clone)]
pub(super) struct Files(pub(super) Map);

/// The names of the textures of a map.
#[derive(Clone)]
pub(super) struct Textures(pub(super) Map);

impl Lumps {
    fn names(&mut self) -> Res<Array> {
        self.0
            .look(|state| Ok(state.draft.bsp().slots().iter().map(|slot| shown(slot.name.as_bytes()).into()).collect()))
    }

    fn get(&mut self, name: &str) -> Res<Bytes> {
        self.0.look(|state| {
            state.settle()?;
            let slot = state.draft.bsp().slot(name)?.id;
            Ok(Bytes::shared(state.draft()?.bytes(slot)?, self.0.meter()))
        })
    }

    fn set(&mut self, name: &str, value: Dynamic) -> Res<()> {
        let bytes = content_of(&value)?;
        self.0.edit(|state| {
            state.settle()?;
            let slot = state.draft.bsp().slot(name)?.id;
            if *state.draft()?.bytes(slot)? == *bytes {
                return Ok(());
            }
            if state.draft.bsp().role_of(slot) == Some(Role::Entities) {
                state.forget_entities();
            }
            state.draft()?.set(slot, bytes)
        })
    }
}

/// The pakfile; nothing where maps of this kind have none.
fn pak(state: &mut State) -> Result<Option<&mut Pak<'static>>> {
    state.settle()?;
    if state.draft.bsp().role(Role::Pak).is_none() { Ok(None) } else { state.draft()?.pak().map(Some) }
}

/// The index of the file with this name.
fn find(pak: &Pak<'_>, name: &[u8]) -> Result<Option<usize>> {
    match pak.one(name) {
        Ok(index) => Ok(Some(index)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

impl Files {
    fn names(&self) -> Res<Array> {
        self.0.look(|state| {
            let names = pak(state)?.map(|pak| pak.iter().map(|file| shown(file.name()).into()).collect());
            Ok(names.unwrap_or_default())
        })
    }

    fn get(&mut self, name: &str) -> Res<Dynamic> {
        self.0.look(|state| {
            let Some(pak) = pak(state)? else { return Ok(Dynamic::UNIT) };
            let file = find(pak, &bytes_of(name))?.and_then(|index| pak.get(index));
            let data = file.map(|file| file.data()).transpose()?;
            Ok(data.map_or(Dynamic::UNIT, |data| Dynamic::from(Bytes::shared(data, self.0.meter()))))
        })
    }

    fn text(&mut self, name: &str) -> Res<Dynamic> {
        let bytes = self.get(name)?;
        bytes.read_lock::<Bytes>().map_or(Ok(Dynamic::UNIT), |bytes| Ok(text(&bytes.to_data())?.into()))
    }

    /// Edits the pakfile; `Draft::pak` says why a map cannot have one.
    fn edit<T>(&self, work: impl FnOnce(&mut Pak<'static>) -> Result<T>) -> Res<T> {
        self.0.edit(|state| {
            state.settle()?;
            work(state.draft()?.pak()?)
        })
    }

    fn set(&mut self, name: &str, value: Dynamic) -> Res<()> {
        let (name, data) = (bytes_of(name), content_of(&value)?);
        self.edit(|pak| pak.add(name, data).map(drop))
    }

    fn remove(&mut self, pattern: &str) -> Res<i64> {
        let pattern = Pattern::new(bytes_of(pattern));
        self.edit(|pak| {
            let indices = pak.select(&pattern);
            pak.remove(&indices)?;
            Ok(signed(indices.len()))
        })
    }

    fn rename(&mut self, old: &str, new: &str) -> Res<()> {
        let (old, new) = (bytes_of(old), bytes_of(new));
        self.edit(|pak| {
            let index = pak.one(old)?;
            pak.rename(index, new)
        })
    }
}

impl Textures {
    fn names(&self) -> Res<Array> {
        self.0.look(|state| {
            state.settle()?;
            let mut seen = std::collections::HashSet::new();
            let names = state.draft()?.texture_names()?.iter().filter(|name| name.problem.is_none());
            let names = names.filter(|name| seen.insert(name.name.clone()));
            Ok(names.map(|name| shown(&name.name).into()).collect())
        })
    }

    fn rename(&mut self, old: &str, new: &str) -> Res<i64> {
        let renaming = Renaming::new(bytes_of(old), bytes_of(new)).map_err(fail)?;
        self.0.edit(|state| {
            state.settle()?;
            let renamed = state.draft()?.texture_names()?.rename(&renaming)?;
            match renamed.frames.first() {
                Some(frame) => Err(Error::new(ErrorKind::Refused, frame.clone())),
                None => Ok(signed(renamed.count)),
            }
        })
    }
}

fn each(names: Array) -> impl Iterator<Item = Res<Dynamic>> {
    names.into_iter().map(Ok)
}

pub(super) fn register(api: &mut Api) {
    api.group("Lumps");
    api.name::<Lumps>("lumps");
    api.get("map.lumps", "The lumps of a map; `lumps` are those of the map that the script edits.", |map: &mut Map| {
        Lumps(map.clone())
    });
    api.call("lumps.names()", "The names of all lumps. `for name in lumps` visits them.", Lumps::names);
    api.iterate(|mut lumps: Lumps| lumps.names().map(each));
    api.entry(
        "lumps[name]",
        "The bytes of a lump by its name, number or role: decompressed, with numbers in the byte order of the file. \
         `lumps[name] = value` sets them: bytes, a blob or a string with escapes. After the entity text is set, \
         entities from before cannot be used.",
    );
    api.index(Lumps::get);
    api.set_index(Lumps::set);
    files(api);
    textures(api);
}

fn files(api: &mut Api) {
    api.group("Embedded files");
    api.name::<Files>("files");
    api.get("map.files", "The files in the pakfile of a Source map; `files` are those of the edited map.", {
        |map: &mut Map| Files(map.clone())
    });
    api.call("files.names()", "Their names. `for name in files` visits them.", |files: &mut Files| files.names());
    api.iterate(|files: Files| files.names().map(each));
    api.entry(
        "files[name]",
        "The bytes of a file; `()` if it is not there. Case does not matter, and `\\` is `/`. `files[name] = value` \
         adds or replaces it: bytes, a blob or a string.",
    );
    api.index(Files::get);
    api.set_index(Files::set);
    api.call("files.text(name)", "A file as a string; `()` if it is not there.", Files::text);
    api.call(
        "files.remove(pattern)",
        "Removes the files that a pattern matches (`*`, `**` and `?` are wildcards), and returns their number.",
        Files::remove,
    );
    api.call("files.rename(old, new)", "Renames a file. What refers to it does not follow.", Files::rename);
}

fn textures(api: &mut Api) {
    api.group("Texture names");
    api.name::<Textures>("textures");
    api.get("map.textures", "The names of textures; `textures` are those of the edited map.", |map: &mut Map| {
        Textures(map.clone())
    });
    api.call("textures.names()", "The names, each once. `for name in textures` visits them.", |list: &mut Textures| {
        list.names()
    });
    api.iterate(|list: Textures| list.names().map(each));
    api.call(
        "textures.rename(old, new)",
        "Renames textures wherever the map names them, and returns how many names matched. `old` is a pattern for \
         whole names, and `{1}` in `new` is what its first wildcard matched. Names that cannot be read stay.",
        Textures::rename,
    );
}
