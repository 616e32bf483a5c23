//! Bytes of lumps and files. They are shared until a script changes them, and what scripts make of them is counted.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rhai::{Blob, Dynamic};

use super::api::{Api, Res, fail, wrong};
use super::bounds::MOST_STRING;
use super::entities::signed;
use super::records;
use super::values::{bytes_of, kind, shown};
use crate::bytes::{Data, escaped};
use crate::record::{Meaning, Number, Shape};
use crate::{Error, ErrorKind};

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

pub(super) fn register(api: &mut Api) {
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
