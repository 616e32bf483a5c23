//! Three numbers: origins, angles, colors.

use std::fmt;

use rhai::Dynamic;

use super::api::{Api, Res, wrong};
use super::entities::Entity;
use super::values::{number_in, number_text, print_number};

/// Three numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Vector(pub(super) [f64; 3]);

impl fmt::Display for Vector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.0.map(number_text);
        write!(f, "{x} {y} {z}")
    }
}

impl Vector {
    /// The vector, if the text is three numbers.
    pub(super) fn parse(text: &str) -> Option<Vector> {
        let number = |word: &str| word.parse().ok().filter(|number: &f64| number.is_finite());
        let numbers: Vec<f64> = text.split_whitespace().map(number).collect::<Option<_>>()?;
        numbers.try_into().ok().map(Vector)
    }

    /// The vector, if all its numbers are such that engines read.
    pub(super) fn check(self) -> Res<Self> {
        self.0.iter().try_for_each(|part| print_number(*part).map(drop)).map(|()| self)
    }

    fn each(self, other: Vector, work: impl Fn(f64, f64) -> f64) -> Vector {
        let ([a, b, c], [x, y, z]) = (self.0, other.0);
        Vector([work(a, x), work(b, y), work(c, z)])
    }

    fn dot(self, other: Vector) -> f64 {
        self.each(other, |a, b| a * b).0.iter().sum()
    }

    fn times(self, factor: f64) -> Vector {
        Vector(self.0.map(|part| part * factor))
    }

    /// The direction that these angles (pitch, yaw, roll in degrees) look to; pitch is positive for down.
    fn direction(self) -> Vector {
        let [pitch, yaw, _] = self.0.map(f64::to_radians);
        Vector([pitch.cos() * yaw.cos(), pitch.cos() * yaw.sin(), -pitch.sin()])
    }

    /// The pitch and yaw, in degrees, that look to this direction.
    fn angles(self) -> Vector {
        let [x, y, z] = self.0;
        let pitch = (-z).atan2(x.hypot(y)).to_degrees();
        let yaw = if x == 0.0 && y == 0.0 { 0.0 } else { y.atan2(x).to_degrees() };
        Vector([pitch, yaw.rem_euclid(360.0), 0.0].map(|angle| (angle * 1e6).round() / 1e6))
    }
}

/// A number of either kind.
pub(super) fn number(value: &Dynamic) -> Res<f64> {
    match (value.as_float(), value.as_int()) {
        (Ok(number), _) => Ok(number),
        // Whole numbers in maps have 32 bits, so that none is rounded.
        (_, Ok(number)) => number.to_string().parse().map_err(|_| wrong("it is not a number")),
        _ => Err(wrong(format!("{} is not a number", super::values::kind(value)))),
    }
}

fn three(x: Dynamic, y: Dynamic, z: Dynamic) -> Res<Vector> {
    Ok(Vector([number(&x)?, number(&y)?, number(&z)?]))
}

fn read(text: &str) -> Res<Vector> {
    Vector::parse(text).ok_or_else(|| wrong(format!("`{text}` is not three numbers")))
}

fn part(vector: Vector, index: i64) -> Res<f64> {
    let part = usize::try_from(index).ok().and_then(|index| vector.0.get(index).copied());
    part.ok_or_else(|| wrong(format!("a vector has the parts 0 to 2, and no [{index}]")))
}

pub(super) fn register(api: &mut Api) {
    api.group("Numbers");
    api.call("number(text)", "The number that a text means, whole or not; `()` if it is not one.", |text: &str| {
        number_in(text.as_bytes())
    });
    api.also("number", |number: i64| number);
    api.also("number", |number: f64| number);
    api.entry(
        "number.to_string()",
        "The number as maps have it: exactly up to 12 digits, with more as the shortest number of 32 bits. `${number}` \
         does the same.",
    );
    api.also("to_string", number_text);
    api.group("Vectors and angles");
    api.name::<Vector>("vector");
    api.call("vec(x, y, z)", "A vector.", three);
    api.call(
        "vec(text)",
        "The vector that a text of three numbers means, such as `vec(e.origin)`; other text is an error.",
        |text: &str| read(text),
    );
    api.call(
        "e.vec(key)",
        "The vector of a key; `()` if the value is not three numbers.",
        |e: &mut Entity, key: &str| {
            let vector = e.value(key)?.and_then(|value| Vector::parse(std::str::from_utf8(&value).ok()?));
            Ok::<_, Box<rhai::EvalAltResult>>(vector.map_or(Dynamic::UNIT, Dynamic::from))
        },
    );
    api.get("v.x", "The first number; `v.x = 8.0` sets it. `v[0]` is the same.", |v: &mut Vector| v.0[0]);
    api.get("v.y", "The second number.", |v: &mut Vector| v.0[1]);
    api.get("v.z", "The third number.", |v: &mut Vector| v.0[2]);
    api.set("x", |v: &mut Vector, value: Dynamic| number(&value).map(|value| v.0[0] = value));
    api.set("y", |v: &mut Vector, value: Dynamic| number(&value).map(|value| v.0[1] = value));
    api.set("z", |v: &mut Vector, value: Dynamic| number(&value).map(|value| v.0[2] = value));
    api.index(|v: &mut Vector, index: i64| part(*v, index));
    api.entry("a + b", "The sum of two vectors. `a - b`, `-a`, `a == b` and `a += b` are there too.");
    api.also("+", |a: Vector, b: Vector| a.each(b, |a, b| a + b));
    api.also("-", |a: Vector, b: Vector| a.each(b, |a, b| a - b));
    api.also("-", |a: Vector| a.times(-1.0));
    api.entry("a * b", "Each number times a number, or times that of another vector. `a / 2` divides.");
    api.also("*", |a: Vector, b: Vector| a.each(b, |a, b| a * b));
    api.also("*", |a: Vector, b: f64| a.times(b));
    api.also("*", |a: f64, b: Vector| b.times(a));
    api.also("*", |a: Vector, b: i64| number(&b.into()).map(|b| a.times(b)));
    api.also("*", |a: i64, b: Vector| number(&a.into()).map(|a| b.times(a)));
    api.also("/", |a: Vector, b: f64| Vector(a.0.map(|part| part / b)));
    api.also("/", |a: Vector, b: i64| number(&b.into()).map(|b| Vector(a.0.map(|part| part / b))));
    api.also("==", |a: Vector, b: Vector| a == b);
    api.also("!=", |a: Vector, b: Vector| a != b);
    api.also("to_string", |v: &mut Vector| v.to_string());
    api.also("to_debug", |v: &mut Vector| v.to_string());
    api.call("v.length()", "The length of a vector.", |v: &mut Vector| v.dot(*v).sqrt());
    api.call("v.dot(other)", "The dot product.", |v: &mut Vector, other: Vector| v.dot(other));
    api.call(
        "v.direction()",
        "The direction that angles look to: pitch (positive for down), yaw and roll, in degrees.",
        |v: &mut Vector| v.direction(),
    );
    api.call("v.angles()", "The angles that look to a direction; the roll is 0.", |v: &mut Vector| v.angles());
}
