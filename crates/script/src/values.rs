//! Values of entities as scripts see them: texts, and operators on texts that are numbers.

use std::cmp::Ordering;

use rhai::{Array, Blob, Dynamic, EvalAltResult, ImmutableString, Map as Object, Position};

use super::api::{Api, Res, bounded_string, fail, wrong};
use super::entities::Entity;
use super::pairs::{Vector, number};
use bspkit::bytes::{escaped, rounded, unescape};
use bspkit::content::assign::{Operator, calculate, is_numbers};
use bspkit::content::entities::Output;
use bspkit::{Error, ErrorKind};

// Values of entities and names of files as scripts see them, and back.

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

// Operators on the texts that values of entities are. A text that is all numbers is never joined with a number, or
// compared as text with one: `e.light += 50` calculates, exactly, as `ent set` does, and what could mean both is an
// error.

/// What calculations take: numbers, vectors, texts.
trait Operand: Clone {
    /// The numbers as a text.
    fn text(&self) -> Res<ImmutableString>;
}

impl Operand for i64 {
    fn text(&self) -> Res<ImmutableString> {
        Ok(self.to_string().into())
    }
}

impl Operand for f64 {
    fn text(&self) -> Res<ImmutableString> {
        print_number(*self).map(Into::into)
    }
}

impl Operand for Vector {
    fn text(&self) -> Res<ImmutableString> {
        self.check().map(|vector| vector.to_string().into())
    }
}

impl Operand for ImmutableString {
    fn text(&self) -> Res<ImmutableString> {
        Ok(self.clone())
    }
}

/// A text that was calculated.
fn calculated(text: &str, operator: Operator, operand: &impl Operand) -> Res<ImmutableString> {
    calculate(text, operator, &operand.text()?).map(Into::into).map_err(wrong)
}

/// Two texts in one, unless both are numbers.
fn joined(one: &str, other: &str) -> Res<ImmutableString> {
    if is_numbers(other.as_bytes()) && is_numbers(one.as_bytes()) {
        let error =
            Error::new(ErrorKind::Argument, format!("`{one}` and `{other}` are numbers, and `+` could join them"));
        return Err(fail(error.with_hint("`e.key += 5` calculates, and so does number(text) + 5; `${a}${b}` joins")));
    }
    bounded_string(one.len() + other.len())?;
    Ok([one, other].concat().into())
}

/// A text and the text of a value of another kind, not a number, as for a message. A text of numbers is one that
/// `+` could calculate with.
fn shown_after(one: &str, other: &Dynamic) -> Res<ImmutableString> {
    check_shown(one, other)?;
    joined(one, &text(other)?)
}

fn shown_before(one: &Dynamic, other: &str) -> Res<ImmutableString> {
    check_shown(other, one)?;
    joined(&text(one)?, other)
}

fn check_shown(numbers: &str, other: &Dynamic) -> Res<()> {
    match is_numbers(numbers.as_bytes()) && !other.is_unit() {
        true => {
            let message = format!("`{numbers}` is numbers, and {} is not a value to calculate with", kind(other));
            Err(fail(Error::new(ErrorKind::Argument, message).with_hint("`${a}${b}` joins")))
        }
        false => Ok(()),
    }
}

/// The number that a text is, for a comparison with a number.
fn compared(text: &str, number: f64) -> Res<Ordering> {
    let own = number_in(text.as_bytes());
    if own.is_unit() {
        return Err(wrong(format!("`{text}` is not a number, and is compared with one")));
    }
    super::pairs::number(&own)?.partial_cmp(&number).ok_or_else(|| wrong("it is not a number"))
}

/// Whether a text is this number; other texts are not.
fn is_number(text: &str, other: f64) -> bool {
    let own = number_in(text.as_bytes());
    // As exact as the text is.
    #[allow(clippy::float_cmp)]
    number(&own).is_ok_and(|own| own == other)
}

/// The order of two texts that are not both numbers.
fn order(one: &str, other: &str) -> Res<Ordering> {
    match is_numbers(one.as_bytes()) && is_numbers(other.as_bytes()) {
        true => {
            let error = Error::new(ErrorKind::Argument, format!("`{one}` and `{other}` are numbers, compared as text"));
            Err(fail(error.with_hint("compare number(a) with number(b)")))
        }
        false => Ok(one.cmp(other)),
    }
}

/// What operators of comparisons say of an order.
type Comparison = (&'static str, fn(Ordering) -> bool);
const COMPARISONS: [Comparison; 4] =
    [("<", Ordering::is_lt), ("<=", Ordering::is_le), (">", Ordering::is_gt), (">=", Ordering::is_ge)];

/// Operators of a text and another type.
macro_rules! with {
    ($api:ident: $($type:ty),+) => {$(
        for (name, operator) in [
            ("+=", Operator::Add), ("-=", Operator::Subtract), ("*=", Operator::Multiply), ("/=", Operator::Divide),
        ] {
            $api.change(name, move |text: &mut ImmutableString, operand: $type| -> Res<()> {
                *text = calculated(text, operator, &operand)?;
                Ok(())
            });
        }
        $api.also("+", |text: ImmutableString, operand: $type| joined(&text, &operand.text()?));
        $api.also("+", |operand: $type, text: ImmutableString| joined(&operand.text()?, &text));
    )+};
}

/// Comparisons of a text and a number.
macro_rules! compare {
    ($api:ident: $($type:ty),+) => {$(
        for (name, is) in COMPARISONS {
            let as_float = |value: $type| number(&Dynamic::from(value));
            $api.also(name, move |a: ImmutableString, b: $type| -> Res<bool> {
                Ok(is(compared(&a, as_float(b)?)?))
            });
            $api.also(name, move |a: $type, b: ImmutableString| -> Res<bool> {
                Ok(is(compared(&b, as_float(a)?)?.reverse()))
            });
        }
        $api.also("==", |a: ImmutableString, b: $type| number(&Dynamic::from(b)).map(|b| is_number(&a, b)));
        $api.also("==", |a: $type, b: ImmutableString| number(&Dynamic::from(a)).map(|a| is_number(&b, a)));
        $api.also("!=", |a: ImmutableString, b: $type| number(&Dynamic::from(b)).map(|b| !is_number(&a, b)));
        $api.also("!=", |a: $type, b: ImmutableString| number(&Dynamic::from(a)).map(|a| !is_number(&b, a)));
    )+};
}

pub(super) fn register(api: &mut Api) {
    api.group("Values");
    api.entry(
        "e.key += 50",
        "Calculates with each number of a value, exactly, as `ent set` does: with a number, a vector (`e.origin += \
         vec(0, 0, 8)`). So do `-=`, `*=` and `/=`, also with a text of numbers. A value that is not a number is \
         an error, and so is `+` where both sides are numbers and one is a text: `number(e.light) + 50` \
         calculates, and `${e.light}50` joins.",
    );
    api.entry(
        "e.key > 9",
        "Compares the number that a value is; so do `<`, `<=`, `>=`, `==` and `!=`. In an order, a value that is not \
         a number is an error, and so are two texts that are numbers.",
    );
    with!(api: i64, f64, Vector);
    for (name, operator) in [("-=", Operator::Subtract), ("*=", Operator::Multiply), ("/=", Operator::Divide)] {
        api.change(name, move |text: &mut ImmutableString, operand: ImmutableString| -> Res<()> {
            *text = calculated(text, operator, &operand)?;
            Ok(())
        });
    }
    api.also("+", |a: ImmutableString, b: ImmutableString| joined(&a, &b));
    api.change("+=", |a: &mut ImmutableString, b: ImmutableString| joined(a, &b).map(|text| *a = text));
    api.also("+", |a: ImmutableString, b: char| joined(&a, b.encode_utf8(&mut [0; 4])));
    api.also("+", |a: char, b: ImmutableString| joined(a.encode_utf8(&mut [0; 4]), &b));
    api.change("+=", |a: &mut ImmutableString, b: char| joined(a, b.encode_utf8(&mut [0; 4])).map(|text| *a = text));
    // All other types: the engine would join their texts in silence, and of () it would add nothing.
    api.change("+=", |_: &mut ImmutableString, (): ()| -> Res<()> { Err(wrong("() is not a value to add to a text")) });
    api.change("+=", |_: &mut ImmutableString, other: Dynamic| -> Res<()> {
        Err(wrong(format!("{} is not a value to add to a text", kind(&other))))
    });
    api.also("+", |a: ImmutableString, b: Dynamic| shown_after(&a, &b));
    api.also("+", |a: Dynamic, b: ImmutableString| shown_before(&a, &b));
    compare!(api: i64, f64);
    for (name, is) in COMPARISONS {
        api.also(name, move |a: ImmutableString, b: ImmutableString| order(&a, &b).map(is));
    }
    let same = |text: &str, vector: Vector| Vector::parse(text) == Some(vector);
    api.also("==", move |a: ImmutableString, b: Vector| same(&a, b));
    api.also("==", move |a: Vector, b: ImmutableString| same(&b, a));
    api.also("!=", move |a: ImmutableString, b: Vector| !same(&a, b));
    api.also("!=", move |a: Vector, b: ImmutableString| !same(&b, a));
    // The engine would look for these each time before it makes them of `+` and the like.
    macro_rules! assign {
        ($($name:literal $method:ident),+) => {$(
            api.change($name, |a: &mut i64, b: i64| match a.$method(b) {
                Some(new) => {
                    *a = new;
                    Ok(())
                }
                None => Err(Box::new(EvalAltResult::ErrorArithmetic(
                    format!("{a} {} {b} is too large, or has no result", $name), Position::NONE,
                ))),
            });
        )+};
    }
    assign!("+=" checked_add, "-=" checked_sub, "*=" checked_mul, "/=" checked_div);
    api.change("+=", |a: &mut f64, b: f64| *a += b);
    api.change("-=", |a: &mut f64, b: f64| *a -= b);
    api.change("*=", |a: &mut f64, b: f64| *a *= b);
}

/// A count as a number of a script.
pub(super) fn signed(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
