//! Functions of the language that have no bounds of their own, with bounds.
//!
//! A call makes no value that is much larger than those it is given: what is given is in the memory, which is measured.
//! No call gives a value without a copy of it, unless it is nested little: so nothing is nested deeper than a script
//! has time for.

use std::ops::{Range, RangeInclusive};

use rhai::{Array, Blob, Dynamic, ImmutableString, Map as Object};

use super::api::{Api, Res, fail, wrong};
use super::bounds::{Large, MOST_ITEMS, MOST_NESTED, MOST_STRING, Watch};
use super::entities::signed;
use super::values::{is_equal, text};
use crate::bytes::wide;

/// Refuses a string of more bytes than calls make.
pub(super) fn bounded_string(size: usize) -> Res<()> {
    if size > MOST_STRING { Err(fail(Large::String.error())) } else { Ok(()) }
}

/// Refuses more items than calls make.
fn bounded_items(count: u64) -> Res<usize> {
    usize::try_from(count).ok().filter(|count| *count <= MOST_ITEMS).ok_or_else(|| fail(Large::Items.error()))
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// Replaces text; the result is measured before it is made.
fn replace(string: &mut ImmutableString, find: &str, new: &str) -> Res<()> {
    let count = string.matches(find).count();
    let size = string.len().saturating_add(count.saturating_mul(new.len()));
    bounded_string(size.saturating_sub(count * find.len()))?;
    *string = string.replace(find, new).into();
    Ok(())
}

/// Adds these letters again and again, up to this number of letters in all.
fn pad_string(string: &mut ImmutableString, letters: i64, with: &str) -> Res<()> {
    let more = unsigned(letters).saturating_sub(wide(string.chars().count()));
    let widest = with.chars().map(char::len_utf8).max().unwrap_or(0);
    let more = usize::try_from(more).unwrap_or(usize::MAX);
    bounded_string(more.saturating_mul(widest).saturating_add(string.len()))?;
    if more > 0 && !with.is_empty() {
        string.make_mut().extend(with.chars().cycle().take(more));
    }
    Ok(())
}

/// The number of values in a value, with itself.
fn count(value: &Dynamic) -> u64 {
    match (value.read_lock::<Array>(), value.read_lock::<Object>()) {
        (Some(array), _) => 1 + array.iter().map(count).sum::<u64>(),
        (_, Some(object)) => 1 + object.values().map(count).sum::<u64>(),
        _ => 1,
    }
}

/// Pads an array. The engine computes the new number of items in the width of the machine, where it may not fit.
fn pad(array: &mut Array, size: i64, item: Dynamic) -> Res<()> {
    let more = unsigned(size).saturating_sub(wide(array.len()));
    bounded_items(more.saturating_mul(count(&item)))?;
    array.extend((0..more).map(|_| item.clone()));
    Ok(())
}

fn pad_blob(blob: &mut Blob, size: i64, byte: i64) -> Res<()> {
    let size = bounded_items(unsigned(size))?;
    if size > blob.len() {
        blob.resize(size, byte.to_le_bytes()[0]);
    }
    Ok(())
}

fn blob(size: i64, byte: i64) -> Res<Blob> {
    let mut blob = Blob::new();
    pad_blob(&mut blob, size, byte).map(|()| blob)
}

/// The parts of a string.
fn split<'s, I: Iterator<Item = &'s str>>(string: &'s str, parts: impl FnOnce(&'s str) -> I) -> Res<Array> {
    bounded_string(string.len())?;
    match string.is_empty() {
        true => Ok(vec![string.into()]),
        false => Ok(parts(string).map(Into::into).collect()),
    }
}

fn parts(number: i64) -> usize {
    usize::try_from(number).unwrap_or(0).max(1)
}

/// Whether a value is nested at most as deep as this.
fn is_flat(value: &Dynamic, depth: usize) -> bool {
    let is_flat_item = |item: &Dynamic| depth > 0 && is_flat(item, depth - 1);
    match (value.read_lock::<Array>(), value.read_lock::<Object>()) {
        (Some(array), _) => array.iter().all(is_flat_item),
        (_, Some(object)) => object.values().all(is_flat_item),
        _ => true,
    }
}

/// A value that a call took out of another one without a copy.
fn taken<T: Into<Dynamic> + Clone + Send + Sync + 'static>(value: T) -> Res<Dynamic> {
    let value = Dynamic::from(value);
    if is_flat(&value, MOST_NESTED) { Ok(value) } else { Err(fail(Large::Nested.error())) }
}

/// The items that a start and a length mean. A negative start counts from the end.
fn span(len: usize, start: i64, count: i64) -> Range<usize> {
    let places = usize::try_from(start.unsigned_abs()).unwrap_or(usize::MAX);
    let start = if start < 0 { len.saturating_sub(places) } else { places.min(len) };
    let count = usize::try_from(count).unwrap_or(if count < 0 { 0 } else { usize::MAX });
    start..start.saturating_add(count).min(len)
}

fn drain(array: &mut Array, start: i64, count: i64) -> Res<Dynamic> {
    taken(array.drain(span(array.len(), start, count)).collect::<Array>())
}

/// Keeps these items and gives the others. An empty part changes nothing.
fn retain(array: &mut Array, start: i64, count: i64) -> Res<Dynamic> {
    let kept = span(array.len(), start, count);
    if kept.is_empty() {
        return Ok(Array::new().into());
    }
    let mut others = array.split_off(kept.end);
    let kept = array.split_off(kept.start);
    others.splice(..0, std::mem::replace(array, kept));
    taken(others)
}

/// The start and the length of a range; nothing is before the first item.
fn of_range(start: i64, end: i64) -> (i64, i64) {
    let start = start.max(0);
    (start, end.max(start) - start)
}

fn of_inclusive(range: &RangeInclusive<i64>) -> (i64, i64) {
    of_range(*range.start(), range.end().saturating_add(1))
}

fn no_sleep() -> Res<()> {
    Err(wrong("a script cannot wait"))
}

pub(super) fn register(api: &mut Api) {
    strings(api);
    arrays(api);
    api.change("pad", pad_blob);
    api.also("blob", |size: i64| blob(size, 0));
    api.also("blob", blob);
    api.also("to_array", |blob: &mut Blob| {
        bounded_items(wide(blob.len()))?;
        Ok::<Array, Box<rhai::EvalAltResult>>(blob.iter().map(|byte| i64::from(*byte).into()).collect())
    });
    api.also("sleep", |_: i64| no_sleep());
    api.also("sleep", |_: f64| no_sleep());
    api.also("==", |a: Array, b: Array| is_equal(&a.into(), &b.into()));
    api.also("!=", |a: Array, b: Array| is_equal(&a.into(), &b.into()).map(|is| !is));
    api.also("==", |a: Object, b: Object| is_equal(&a.into(), &b.into()));
    api.also("!=", |a: Object, b: Object| is_equal(&a.into(), &b.into()).map(|is| !is));
    api.also("to_json", |object: &mut Object| text(&Dynamic::from(object.clone())));
}

fn strings(api: &mut Api) {
    let letter = |letter: char| letter.to_string();
    api.change("replace", replace);
    api.change("replace", move |s: &mut ImmutableString, a: char, b: &str| replace(s, &letter(a), b));
    api.change("replace", move |s: &mut ImmutableString, a: &str, b: char| replace(s, a, &letter(b)));
    api.change("replace", move |s: &mut ImmutableString, a: char, b: char| replace(s, &letter(a), &letter(b)));
    api.change("pad", pad_string);
    api.change("pad", move |s: &mut ImmutableString, letters: i64, with: char| pad_string(s, letters, &letter(with)));
    api.also("split", |s: &str| split(s, str::split_whitespace));
    api.also("split", |s: &str, by: &str| split(s, |s| s.split(by)));
    api.also("split", |s: &str, by: char| split(s, |s| s.split(by)));
    api.also("split", |s: &str, by: &str, most: i64| split(s, |s| s.splitn(parts(most), by)));
    api.also("split", |s: &str, by: char, most: i64| split(s, |s| s.splitn(parts(most), by)));
    api.also("split_rev", |s: &str, by: &str| split(s, |s| s.rsplit(by)));
    api.also("split_rev", |s: &str, by: char| split(s, |s| s.rsplit(by)));
    api.also("split_rev", |s: &str, by: &str, most: i64| split(s, |s| s.rsplitn(parts(most), by)));
    api.also("split_rev", |s: &str, by: char, most: i64| split(s, |s| s.rsplitn(parts(most), by)));
    api.also("to_chars", |s: &str| {
        bounded_string(s.len())?;
        Ok::<Array, Box<rhai::EvalAltResult>>(s.chars().map(Dynamic::from).collect())
    });
}

fn arrays(api: &mut Api) {
    api.change("pad", pad);
    api.change("take", |value: &mut Dynamic| taken(std::mem::take(value)));
    api.change("pop", |array: &mut Array| taken(array.pop().unwrap_or_default()));
    api.change("shift", |array: &mut Array| match array.is_empty() {
        true => Ok(Dynamic::UNIT),
        false => taken(array.remove(0)),
    });
    api.change("remove", |array: &mut Array, index: i64| {
        let place = if index < 0 { signed(array.len()).checked_add(index) } else { Some(index) };
        match place.and_then(|place| usize::try_from(place).ok()).filter(|place| *place < array.len()) {
            Some(place) => taken(array.remove(place)),
            None => Ok(Dynamic::UNIT),
        }
    });
    api.change("remove", |object: &mut Object, name: &str| taken(object.remove(name).unwrap_or_default()));
    api.change("split", |array: &mut Array, start: i64| drain(array, start, i64::MAX));
    api.change("drain", drain);
    api.change("drain", |array: &mut Array, range: Range<i64>| {
        let (start, count) = of_range(range.start, range.end);
        drain(array, start, count)
    });
    api.change("drain", |array: &mut Array, range: RangeInclusive<i64>| {
        let (start, count) = of_inclusive(&range);
        drain(array, start, count)
    });
    api.change("retain", retain);
    api.change("retain", |array: &mut Array, range: Range<i64>| {
        let (start, count) = of_range(range.start, range.end);
        retain(array, start, count)
    });
    api.change("retain", |array: &mut Array, range: RangeInclusive<i64>| {
        let (start, count) = of_inclusive(&range);
        retain(array, start, count)
    });
}

/// The functions that print values. The engine prints nested values by a recursion through all their layers, and all
/// of a text that a value has many times; it does so too where a function that prints fails. So this one does not
/// fail, but stops the script.
pub(super) fn register_own(api: &mut Api, watch: &Watch) {
    for name in ["to_string", "to_debug", "print", "debug"] {
        let printed = |watch: &Watch, value: Dynamic| -> ImmutableString {
            let text = text(&value).and_then(|text| bounded_string(text.len()).map(|()| text));
            text.unwrap_or_else(|error| {
                watch.stop(super::fault::reason_of(*error));
                String::new()
            })
            .into()
        };
        let own = watch.clone();
        api.also(name, move |array: &mut Array| printed(&own, Dynamic::from(array.clone())));
        let own = watch.clone();
        api.also(name, move |object: &mut Object| printed(&own, Dynamic::from(object.clone())));
    }
}
