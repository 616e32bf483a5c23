//! Values of entities and names of files as scripts see them, and back.

use rhai::{Array, Blob, Dynamic, ImmutableString, Map as Object};

use super::api::{Res, wrong};
use super::entities::Entity;
use super::guard::bounded_string;
use super::vector::Vector;
use crate::bytes::{escaped, rounded, unescape};
use crate::content::entities::Output;

/// How deep arrays and objects may be nested where they are printed or compared.
const MOST_NESTED: usize = 64;

/// Bytes as a string of a script, in the printed form of [`escaped`], so that no byte is lost.
pub(super) fn shown(bytes: &[u8]) -> ImmutableString {
    let is_plain = bytes.iter().all(|byte| matches!(byte, b' '..=b'~') && *byte != b'\\');
    match std::str::from_utf8(bytes).ok().filter(|_| is_plain) {
        Some(text) => text.into(),
        None => escaped(bytes).to_string().into(),
    }
}

/// The bytes that a string of a script means.
pub(super) fn bytes_of(text: &str) -> Vec<u8> {
    if text.contains('\\') { unescape(text) } else { text.as_bytes().to_vec() }
}

/// The bytes of a value for an entity: strings, numbers, vectors and outputs have a text form.
pub(super) fn value_of(value: &Dynamic) -> Res<Vec<u8>> {
    if let Ok(text) = value.as_immutable_string_ref() {
        return Ok(bytes_of(&text));
    }
    if let Some(output) = value.read_lock::<Output>() {
        return Ok(output.to_bytes());
    }
    if value.is_bool() {
        return Ok(if value.as_bool() == Ok(true) { b"1".to_vec() } else { b"0".to_vec() });
    }
    if let Ok(number) = value.as_float() {
        return print_number(number).map(String::into_bytes);
    }
    if let Some(vector) = value.read_lock::<Vector>() {
        return Ok(vector.check()?.to_string().into_bytes());
    }
    if let Some(text) = plain(value) {
        return Ok(text.into_bytes());
    }
    let kind = kind(value);
    Err(wrong(format!("{kind} is not a value for an entity: give a string, a number, a vector or an output")))
}

/// The text of a number, a character or a vector.
fn plain(value: &Dynamic) -> Option<String> {
    if let Ok(number) = value.as_int() {
        return Some(number.to_string());
    }
    if let Ok(number) = value.as_float() {
        return Some(number_text(number));
    }
    if let Ok(character) = value.as_char() {
        return Some(character.to_string());
    }
    value.read_lock::<Vector>().map(|vector| vector.to_string())
}

/// The most digits of a number that is printed as it is; what a calculation makes of rounded numbers has more.
const EXACT_DIGITS: usize = 12;

/// A number as engines read it: exactly if it has no more than 12 digits, others as the shortest 32-bit float.
pub(super) fn number_text(number: f64) -> String {
    // All whole numbers below this are exact.
    if number.fract() == 0.0 && number.abs() < 9e15 {
        // Adding zero takes the sign from a negative zero.
        return format!("{}", number + 0.0);
    }
    // The last bits of a double are the rounding of a calculation: 0.1 + 0.2.
    let short = format!("{:.*e}", EXACT_DIGITS - 1, number).parse::<f64>().unwrap_or(number);
    let is_exact = (short - number).abs() <= number.abs() * 4.0 * f64::EPSILON;
    match is_exact {
        true => format!("{short}"),
        false => format!("{}", rounded(number)),
    }
}

/// The same for a value of an entity: an error if it is too large for any engine, or not a number.
pub(super) fn print_number(number: f64) -> Res<String> {
    match rounded(number).is_finite() {
        true => Ok(number_text(number)),
        false => Err(wrong(format!("{number} is not a number that engines read"))),
    }
}

/// The number, if the whole text is one.
pub(super) fn number_in(text: &[u8]) -> Dynamic {
    let Ok(text) = std::str::from_utf8(text.trim_ascii()) else { return Dynamic::UNIT };
    if let Ok(number) = text.parse::<i64>() {
        return number.into();
    }
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    match text.parse::<f64>().ok().filter(|number| is_number && number.is_finite()) {
        Some(number) => number.into(),
        None => Dynamic::UNIT,
    }
}

/// What a value is, for messages.
pub(super) fn kind(value: &Dynamic) -> String {
    match value.type_name() {
        "()" => "()".to_owned(),
        "i64" => "a whole number".to_owned(),
        "f64" => "a number".to_owned(),
        "string" | "alloc::string::String" => "a string".to_owned(),
        "array" => "an array".to_owned(),
        "map" => "an object".to_owned(),
        "blob" => "a blob".to_owned(),
        other => match other.rsplit("::").next() {
            Some(name) => format!("a value of the type {}", name.to_lowercase()),
            None => other.to_owned(),
        },
    }
}

/// The text of any value: strings as they are, arrays and objects as JSON.
pub(super) fn text(value: &Dynamic) -> Res<String> {
    if let Ok(text) = value.as_immutable_string_ref() {
        return Ok(text.to_string());
    }
    if let Some(text) = plain(value) {
        return Ok(text);
    }
    Ok(match json(value)? {
        serde_json::Value::String(text) => text,
        other => other.to_string(),
    })
}

/// Any value as JSON.
pub(super) fn json(value: &Dynamic) -> Res<serde_json::Value> {
    nested_json(value, 0, &mut 0)
}

/// A value as JSON. The bytes of all texts in it are counted: an array can have the same one many times.
fn nested_json(value: &Dynamic, depth: usize, size: &mut usize) -> Res<serde_json::Value> {
    use serde_json::Value;
    if let Ok(text) = value.as_immutable_string_ref() {
        *size += text.len();
        bounded_string(*size)?;
        return Ok(text.as_str().into());
    }
    if depth > MOST_NESTED {
        return Err(wrong(format!("arrays and objects are nested more than {MOST_NESTED} deep")));
    }
    if let Some(array) = value.read_lock::<Array>() {
        return array.iter().map(|item| nested_json(item, depth + 1, size)).collect::<Res<_>>().map(Value::Array);
    }
    if let Some(object) = value.read_lock::<Object>() {
        let members = object.iter().map(|(name, item)| {
            *size += name.len();
            bounded_string(*size)?;
            Ok((name.to_string(), nested_json(item, depth + 1, size)?))
        });
        return members.collect::<Res<_>>().map(Value::Object);
    }
    if let Some(blob) = value.read_lock::<Blob>() {
        return Ok(Value::String(format!("{} bytes", blob.len())));
    }
    if value.is_unit() {
        return Ok(Value::Null);
    }
    if let Ok(number) = value.as_float() {
        return Ok(serde_json::Number::from_f64(number).map_or(Value::Null, Value::Number));
    }
    if let Ok(number) = value.as_int() {
        return Ok(number.into());
    }
    if let Ok(flag) = value.as_bool() {
        return Ok(flag.into());
    }
    Ok(match (value.read_lock::<Output>(), plain(value)) {
        (Some(output), _) => shown(&output.to_bytes()).as_str().into(),
        (None, Some(text)) => text.into(),
        (None, None) => super::print(value).into(),
    })
}

/// Whether two arrays or objects are equal, compared part by part.
pub(super) fn is_equal(one: &Dynamic, other: &Dynamic) -> Res<bool> {
    is_nested_equal(one, other, 0)
}

fn is_nested_equal(one: &Dynamic, other: &Dynamic, depth: usize) -> Res<bool> {
    if depth > MOST_NESTED {
        return Err(wrong(format!("arrays and objects are nested more than {MOST_NESTED} deep")));
    }
    let are = |pairs: &mut dyn Iterator<Item = (&Dynamic, &Dynamic)>| -> Res<bool> {
        for (one, other) in pairs {
            if !is_nested_equal(one, other, depth + 1)? {
                return Ok(false);
            }
        }
        Ok(true)
    };
    if let (Some(one), Some(other)) = (one.read_lock::<Array>(), other.read_lock::<Array>()) {
        let is_as_long = one.len() == other.len();
        return if is_as_long { are(&mut one.iter().zip(other.iter())) } else { Ok(false) };
    }
    if let (Some(one), Some(other)) = (one.read_lock::<Object>(), other.read_lock::<Object>()) {
        let has_same_keys = one.keys().eq(other.keys());
        return if has_same_keys { are(&mut one.values().zip(other.values())) } else { Ok(false) };
    }
    if let (Some(one), Some(other)) = (one.read_lock::<Entity>(), other.read_lock::<Entity>()) {
        return Ok(one.is_same(&other));
    }
    Ok(one.type_name() == other.type_name() && json(one)? == json(other)?)
}
