//! Operators on the texts that values of entities are. A text that is all numbers is never joined with a number, or
//! compared as text with one: `e.light += 50` calculates, exactly, as `ent set` does, and what could mean both is an
//! error.

use std::cmp::Ordering;

use rhai::{Dynamic, EvalAltResult, ImmutableString, Position};

use super::api::{Api, Res, fail, wrong};
use super::guard::bounded_string;
use super::values::{number_in, print_number};
use super::vector::{Vector, number};
use crate::content::assign::{Operator, calculate, is_numbers};
use crate::{Error, ErrorKind};

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

/// The number that a text is, for a comparison with a number.
fn compared(text: &str, number: f64) -> Res<Ordering> {
    let own = number_in(text.as_bytes());
    if own.is_unit() {
        return Err(wrong(format!("`{text}` is not a number, and is compared with one")));
    }
    super::vector::number(&own)?.partial_cmp(&number).ok_or_else(|| wrong("it is not a number"))
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
        "Calculates with each number of a value, exactly, as `ent set` does: with a number, a vector \
         (`e.origin += vec(0, 0, 8)`) or a text of numbers. So do `-=`, `*=` and `/=`. A value that is not a number is \
         an error, and so is `+` where both sides are numbers and one is a text: `number(e.light) + 50` calculates, \
         and `${e.light}50` joins.",
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
    api.change("+=", |_: &mut ImmutableString, (): ()| -> Res<()> { Err(wrong("() is not a value to add to a text")) });
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
