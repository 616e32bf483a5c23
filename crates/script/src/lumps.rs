//! Lumps as bytes, embedded files, and names of textures. Bytes are shared until a script changes them.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rhai::{Array, Blob, Dynamic};

use super::api::{Api, MOST_STRING, Res, fail, wrong};
use super::values::{bytes_of, kind, shown, signed};
use super::{Map, State, records};
use bspkit::bytes::{Data, escaped};
use bspkit::content::pak::{Pak, Pattern, lookup_name};
use bspkit::content::texture_names::Renaming;
use bspkit::dialect::Role;
use bspkit::record::{Meaning, Number, Shape};
use bspkit::{Error, ErrorKind, Result};

// Lumps as bytes, embedded files, and names of textures.

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
        self.0.look(|state| {
            Ok(state.session.bsp().slots().iter().map(|slot| shown(slot.name.as_bytes()).into()).collect())
        })
    }

    fn get(&mut self, name: &str) -> Res<Bytes> {
        self.0.look(|state| {
            state.settle()?;
            let slot = state.session.bsp().slot(name)?.id;
            Ok(Bytes::shared(state.session.draft()?.bytes(slot)?, self.0.meter()))
        })
    }

    fn set(&mut self, name: &str, value: Dynamic) -> Res<()> {
        let bytes = content_of(&value)?;
        self.0.edit(|state| {
            state.settle()?;
            let slot = state.session.bsp().slot(name)?.id;
            if *state.session.draft()?.bytes(slot)? == *bytes {
                return Ok(());
            }
            if state.session.bsp().role_of(slot) == Some(Role::Entities) {
                state.session.forget();
            }
            state.session.draft()?.set(slot, bytes)
        })
    }
}

/// The pakfile; nothing where maps of this kind have none.
fn pak(state: &mut State) -> Result<Option<&mut Pak<'static>>> {
    state.settle()?;
    if state.session.bsp().role(Role::Pak).is_none() { Ok(None) } else { state.session.draft()?.pak().map(Some) }
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
            work(state.session.draft()?.pak()?)
        })
    }

    fn set(&mut self, name: &str, value: Dynamic) -> Res<()> {
        let (name, data) = (bytes_of(name), content_of(&value)?);
        // A new name is stored as engines look it up, as `pak add` does.
        self.edit(|pak| {
            let name = if pak.find(&name).is_empty() { lookup_name(name) } else { name };
            pak.add(name, data).map(drop)
        })
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
            let names = state.session.draft()?.texture_names()?.iter().filter(|name| name.problem.is_none());
            let names = names.filter(|name| seen.insert(name.name.clone()));
            Ok(names.map(|name| shown(&name.name).into()).collect())
        })
    }

    fn rename(&mut self, old: &str, new: &str) -> Res<i64> {
        let renaming = Renaming::new(bytes_of(old), bytes_of(new)).map_err(fail)?;
        self.0.edit(|state| {
            state.settle()?;
            let renamed = state.session.draft()?.texture_names()?.rename(&renaming)?;
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
        "The bytes of a lump by its name, number (`\"1\"`) or role: decompressed, with numbers in the byte order \
         of the file. `lumps[name] = value` sets them: bytes, a blob or a string with escapes. After the entity \
         text is set, entities from before cannot be used.",
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
         adds or replaces it: bytes, a blob or a string. A new name is stored in lower case and with `/`.",
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
         whole names, and `{1}` in `new` is what its first wildcard matched. After `=` there is a name without \
         wildcards: `=*lava1`. Names that cannot be read stay.",
        Textures::rename,
    );
}

// Bytes of lumps and files. They are shared until a script changes them, and what scripts make of them is counted.

/// The most bytes that a script may have made in values of this type.
pub(super) const MOST_BYTES: usize = 512 << 20;

/// How many bytes a script has made.
#[derive(Clone, Default)]
pub(super) struct Meter(Arc<AtomicUsize>);

/// Bytes that a script has made; they are counted while they are there.
struct Made {
    bytes: Vec<u8>,
    meter: Meter,
}

impl Made {
    fn new(bytes: Vec<u8>, meter: &Meter) -> Res<Made> {
        let made = meter.0.fetch_add(bytes.len(), Ordering::Relaxed).saturating_add(bytes.len());
        // From here on it is counted, and no longer if it is dropped.
        let bytes = Made { bytes, meter: meter.clone() };
        match made > MOST_BYTES {
            true => Err(fail(Error::new(ErrorKind::TooLarge, "the bytes of the script take more than 512 MiB"))),
            false => Ok(bytes),
        }
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        self.meter.0.fetch_sub(self.bytes.len(), Ordering::Relaxed);
    }
}

/// Bytes: of the map, or made by the script.
#[derive(Clone)]
pub(super) struct Bytes {
    content: Content,
    meter: Meter,
}

#[derive(Clone)]
enum Content {
    Shared(Data<'static>),
    Made(Arc<Made>),
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.get().len())
    }
}

impl Bytes {
    /// Bytes of a map; copies of them count.
    pub(super) fn shared(data: Data<'static>, meter: &Meter) -> Bytes {
        Bytes { content: Content::Shared(data), meter: meter.clone() }
    }

    pub(super) fn made(bytes: Vec<u8>, meter: &Meter) -> Res<Bytes> {
        Ok(Bytes { content: Content::Made(Arc::new(Made::new(bytes, meter)?)), meter: meter.clone() })
    }

    fn get(&self) -> &[u8] {
        match &self.content {
            Content::Shared(data) => data,
            Content::Made(made) => &made.bytes,
        }
    }

    pub(super) fn to_data(&self) -> Data<'static> {
        match &self.content {
            Content::Shared(data) => data.clone(),
            Content::Made(made) => Data::from(made.bytes.clone()),
        }
    }

    /// Overwrites bytes, of a copy if they are shared.
    fn put(&mut self, at: usize, new: &[u8]) -> Res<()> {
        let place = at..at.saturating_add(new.len());
        if self.get().get(place.clone()).is_none() {
            return Err(self.outside(at, new.len()));
        }
        if let Content::Made(made) = &mut self.content
            && let Some(made) = Arc::get_mut(made)
        {
            made.bytes[place].copy_from_slice(new);
            return Ok(());
        }
        let mut bytes = self.get().to_vec();
        bytes[place].copy_from_slice(new);
        *self = Bytes::made(bytes, &self.meter)?;
        Ok(())
    }

    fn outside(&self, at: usize, len: usize) -> Box<rhai::EvalAltResult> {
        let (have, bytes) = (self.get().len(), if len == 1 { "byte" } else { "bytes" });
        wrong(format!("there are {have} bytes, and not {len} {bytes} at {at}"))
    }

    fn part(&self, at: i64, len: i64) -> Res<&[u8]> {
        let [at, len] = [at, len].map(|number| usize::try_from(number).unwrap_or(usize::MAX));
        self.get().get(at..at.saturating_add(len)).ok_or_else(|| self.outside(at, len))
    }

    fn number(&mut self, at: i64, form: &str) -> Res<Dynamic> {
        let number = number_form(form)?;
        let bytes = self.part(at, signed(number.size()))?;
        Ok(records::value(Shape::Number(number), bytes))
    }

    fn set_number(&mut self, at: i64, form: &str, value: Dynamic) -> Res<()> {
        let number = number_form(form)?;
        let mut bytes = self.part(at, signed(number.size()))?.to_vec();
        records::put(Shape::Number(number), Meaning::Plain, &value, &mut bytes, &[]).map_err(wrong)?;
        self.put(usize::try_from(at).unwrap_or(usize::MAX), &bytes)
    }
}

fn number_form(form: &str) -> Res<Number> {
    Ok(match form {
        "u8" => Number::U8,
        "i8" => Number::I8,
        "u16" => Number::U16,
        "i16" => Number::I16,
        "u32" => Number::U32,
        "i32" => Number::I32,
        "f32" => Number::F32,
        _ => return Err(wrong(format!("`{form}` is not a form of a number: u8, i8, u16, i16, u32, i32, f32"))),
    })
}

/// The bytes of a value that a script gives as the content of a file or a lump.
pub(super) fn content_of(value: &Dynamic) -> Res<Data<'static>> {
    if let Some(bytes) = value.read_lock::<Bytes>() {
        return Ok(bytes.to_data());
    }
    if let Some(blob) = value.read_lock::<Blob>() {
        return Ok(Data::from(blob.to_vec()));
    }
    match value.as_immutable_string_ref() {
        Ok(text) => Ok(Data::from(bytes_of(&text))),
        Err(_) => Err(wrong(format!("{} is not bytes: give bytes, a blob or a string", kind(value)))),
    }
}

pub(super) fn register_data(api: &mut Api) {
    api.group("Bytes");
    api.name::<Bytes>("bytes");
    api.entry("b[index]", "A byte, as a number; `b[index] = 255` sets it.");
    api.index(|bytes: &mut Bytes, index: i64| bytes.number(index, "u8"));
    api.change_index(|bytes: &mut Bytes, index: i64, value: Dynamic| bytes.set_number(index, "u8", value));
    api.call("b.len()", "How many bytes there are.", |bytes: &mut Bytes| signed(bytes.get().len()));
    api.call(
        "b.number(offset, form)",
        "The little-endian number at an offset; the form is `u8`, `i8`, `u16`, `i16`, `u32`, `i32` or `f32`.",
        Bytes::number,
    );
    api.entry("b.set_number(offset, form, value)", "Sets the number at an offset.");
    api.change("set_number", Bytes::set_number);
    api.call("b.slice(offset, len)", "A part of the bytes.", |bytes: &mut Bytes, at: i64, len: i64| {
        let part = bytes.part(at, len)?.to_vec();
        Bytes::made(part, &bytes.meter)
    });
    api.call("b.text()", "The bytes as a string with escapes.", |bytes: &mut Bytes| text(bytes.get()));
    api.also("to_string", |bytes: &mut Bytes| bytes.to_string());
    api.also("to_debug", |bytes: &mut Bytes| bytes.to_string());
    api.also("==", |a: Bytes, b: Bytes| a.get() == b.get());
    api.also("!=", |a: Bytes, b: Bytes| a.get() != b.get());
}

/// The functions that make bytes.
pub(super) fn register_own(api: &mut Api, meter: &Meter) {
    api.group("Bytes from text");
    let of = meter.clone();
    api.call("bytes(text)", "The bytes of a string, with `\\xNN`, `\\n` and `\\\\` as escapes.", move |text: &str| {
        Bytes::made(bytes_of(text), &of)
    });
    let of = meter.clone();
    api.also("bytes", move |blob: Blob| Bytes::made(blob, &of));
}

/// Bytes as a string, if it is not larger than strings may be.
pub(super) fn text(bytes: &[u8]) -> Res<rhai::ImmutableString> {
    if bytes.len() > MOST_STRING {
        let message = format!("{} bytes are more than a string may have, which is {MOST_STRING}", bytes.len());
        return Err(fail(Error::new(ErrorKind::TooLarge, message)));
    }
    // Line breaks are not shown as escapes here: what has lines is meant to be read by lines.
    let lines: Vec<String> = bytes.split(|byte| *byte == b'\n').map(|line| escaped(line).to_string()).collect();
    Ok(match lines.len() {
        1 => shown(bytes),
        _ => lines.join("\n").into(),
    })
}
