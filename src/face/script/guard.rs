//! Functions of the language that have no bounds of their own, with bounds.

use rhai::{Array, Dynamic, EvalAltResult, ImmutableString, Map as Object, Position};

use super::api::{Api, Res, wrong};
use super::bounds;
use super::values::{is_equal, text};
use crate::bytes::wide;

/// Replaces text; the result is measured before it is made.
fn replace(string: &mut ImmutableString, find: &str, new: &str) -> Res<()> {
    let count = string.matches(find).count();
    let size = string.len().saturating_add(count.saturating_mul(new.len()));
    if size.saturating_sub(count * find.len()) > bounds::string_size() {
        return Err(EvalAltResult::ErrorDataTooLarge("string".to_owned(), Position::NONE).into());
    }
    *string = string.replace(find, new).into();
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
    let more = u64::try_from(size).unwrap_or(0).saturating_sub(wide(array.len()));
    let there: u64 = array.iter().map(count).sum();
    match usize::try_from(more.saturating_mul(count(&item)).saturating_add(there)) {
        Ok(all) if all <= bounds::array_size() => {
            array.extend((0..more).map(|_| item.clone()));
            Ok(())
        }
        _ => Err(EvalAltResult::ErrorDataTooLarge("array".to_owned(), Position::NONE).into()),
    }
}

fn no_sleep() -> Res<()> {
    Err(wrong("a script cannot wait"))
}

pub(super) fn register(api: &mut Api) {
    let letter = |letter: char| letter.to_string();
    api.change("replace", replace);
    api.change("replace", move |s: &mut ImmutableString, a: char, b: &str| replace(s, &letter(a), b));
    api.change("replace", move |s: &mut ImmutableString, a: &str, b: char| replace(s, a, &letter(b)));
    api.change("replace", move |s: &mut ImmutableString, a: char, b: char| replace(s, &letter(a), &letter(b)));
    api.change("pad", pad);
    api.also("sleep", |_: i64| no_sleep());
    api.also("sleep", |_: f64| no_sleep());
    // The engine prints and compares nested values by a recursion through all its layers.
    for name in ["to_string", "to_debug", "print", "debug"] {
        api.also(name, |array: &mut Array| text(&Dynamic::from(array.clone())));
        api.also(name, |object: &mut Object| text(&Dynamic::from(object.clone())));
    }
    api.also("==", |a: Array, b: Array| is_equal(&a.into(), &b.into()));
    api.also("!=", |a: Array, b: Array| is_equal(&a.into(), &b.into()).map(|is| !is));
    api.also("==", |a: Object, b: Object| is_equal(&a.into(), &b.into()));
    api.also("!=", |a: Object, b: Object| is_equal(&a.into(), &b.into()).map(|is| !is));
    api.also("to_json", |object: &mut Object| text(&Dynamic::from(object.clone())));
}
