//! The pairs of an entity, each of which can be changed, and values with parts: outputs of Source, three numbers.

use std::fmt;

use rhai::{Dynamic, ImmutableString};

use super::api::{Api, Res, fail, wrong};
use super::entities::Entity;
use super::values::{bytes_of, number_in, number_text, print_number, shown, signed, value_of};
use bspkit::content::entities::{Entity as Found, EntityMut, Output, OutputField};
use bspkit::{Error, ErrorKind, Result};

// The pairs of an entity, each of which can be changed.

/// The pairs of an entity as they were when they were asked for.
#[derive(Clone)]
struct Pairs {
    entity: Entity,
    pairs: Vec<(ImmutableString, ImmutableString)>,
}

/// A pair. It is found again by its place, or by its key and its value.
#[derive(Clone)]
pub(super) struct Pair {
    entity: Entity,
    at: usize,
    key: ImmutableString,
    value: ImmutableString,
}

impl Pairs {
    fn of(entity: &mut Entity) -> Res<Pairs> {
        let pairs = entity.look(|found| found.pairs().map(|pair| (shown(pair.key), shown(pair.value))).collect())?;
        Ok(Pairs { entity: entity.clone(), pairs })
    }

    fn iter(self) -> impl Iterator<Item = Res<Dynamic>> {
        let Pairs { entity, pairs } = self;
        let pair = move |(at, (key, value))| Ok(Dynamic::from(Pair { entity: entity.clone(), at, key, value }));
        pairs.into_iter().enumerate().map(pair)
    }
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.key, self.value)
    }
}

impl Pair {
    /// The key, and the number of the pair among those with the same key, from 1.
    fn find(&self, entity: &Found<'_>) -> Result<(Vec<u8>, usize)> {
        let (key, value) = (bytes_of(&self.key), bytes_of(&self.value));
        let pairs: Vec<_> = entity.pairs().collect();
        let is_it = |at: &usize| pairs.get(*at).is_some_and(|pair| pair.key == key && pair.value == value);
        let at = Some(self.at).filter(is_it).or_else(|| (0..pairs.len()).find(is_it));
        let at = at.ok_or_else(|| {
            let message = format!("the entity has no pair `{}` `{}` any more", self.key, self.value);
            Error::new(ErrorKind::NotFound, message)
        })?;
        Ok((key.clone(), pairs[..=at].iter().filter(|pair| pair.key.eq_ignore_ascii_case(&key)).count()))
    }

    fn edit(&self, work: impl Fn(&mut EntityMut<'_, '_>, Vec<u8>, usize) -> Result<()>) -> Res<()> {
        self.entity.edit(|entity| {
            let (key, nth) = self.find(&entity.entity())?;
            work(entity, key, nth)
        })
    }

    fn set_value(&mut self, value: Dynamic) -> Res<()> {
        let value = value_of(&value)?;
        self.edit(|entity, key, nth| entity.set_nth(key, nth, &value))?;
        self.value = shown(&value);
        Ok(())
    }

    fn set_key(&mut self, new: &str) -> Res<()> {
        let new = bytes_of(new);
        self.edit(|entity, key, nth| entity.rename_nth(key, nth, &new))?;
        self.key = shown(&new);
        Ok(())
    }
}

pub(super) fn register(api: &mut Api) {
    api.group("Pairs of an entity");
    api.name::<Pairs>("pairs");
    api.name::<Pair>("pair");
    api.call(
        "e.pairs()",
        "The pairs of an entity in their order, equal keys too, as they are now: `for p in e.pairs()`. Pairs that the \
         loop adds are not visited.",
        Pairs::of,
    );
    api.iterate(|pairs: Pairs| Ok(pairs.iter()));
    api.also("len", |pairs: &mut Pairs| signed(pairs.pairs.len()));
    api.get("p.key", "The key of a pair; `p.key = \"new\"` renames this pair alone.", |pair: &mut Pair| {
        pair.key.clone()
    });
    api.get("p.value", "The value of a pair; `p.value = v` sets this one, also of several equal keys.", {
        |pair: &mut Pair| pair.value.clone()
    });
    api.set("key", |pair: &mut Pair, key: &str| pair.set_key(key));
    api.set("value", Pair::set_value);
    api.call("p.remove()", "Removes this pair alone.", |pair: &mut Pair| {
        pair.edit(|entity, key, nth| entity.unset_nth(key, nth))
    });
    api.also("to_string", |pair: &mut Pair| pair.to_string());
    api.also("to_debug", |pair: &mut Pair| pair.to_string());
}

// Outputs of Source entities in scripts.

fn field(output: &Output, field: OutputField) -> ImmutableString {
    shown(output.field(field))
}

fn set(output: &mut Output, field: OutputField, value: &Dynamic) -> Res<()> {
    output.set(field, value_of(value)?).map_err(fail)
}

fn set_separator(output: &mut Output, separator: &str) -> Res<()> {
    match &bytes_of(separator)[..] {
        [separator] => output.set_separator(*separator).map_err(fail),
        _ => Err(wrong("the separator of an output is `,` or `\\x1b`")),
    }
}

fn make(target: &str, input: &str, parameter: Dynamic, delay: Dynamic, times: Dynamic) -> Res<Output> {
    let [target, input] = [bytes_of(target), bytes_of(input)];
    let [parameter, delay, times] = [value_of(&parameter)?, value_of(&delay)?, value_of(&times)?];
    Output::new([&target, &input, &parameter, &delay, &times]).map_err(fail)
}

pub(super) fn register_output(api: &mut Api) {
    use OutputField::{Delay, Input, Parameter, Target, Times};
    api.group("Outputs of Source entities");
    api.name::<Output>("output");
    api.call(
        "output(value)",
        "The output that a value means, with its fields; `()` if it is not an output. The separator, `,` or 0x1B, \
         stays.",
        |value: &str| Output::parse(&bytes_of(value)).map_or(Dynamic::UNIT, Dynamic::from),
    );
    api.call(
        "output(target, input, parameter, delay, times)",
        "A new output, with `,` between its fields. -1 times is always.",
        make,
    );
    api.get("o.target", "The name of the entity that gets the input.", |o: &mut Output| field(o, Target));
    api.get("o.input", "The input.", |o: &mut Output| field(o, Input));
    api.get("o.parameter", "The parameter of the input.", |o: &mut Output| field(o, Parameter));
    api.get("o.delay", "The delay in seconds.", |o: &mut Output| number_in(o.field(Delay)));
    api.get("o.times", "How often it fires; -1 is always.", |o: &mut Output| number_in(o.field(Times)));
    api.get("o.separator", "What is between the fields: `,` or `\\x1b`.", |o: &mut Output| shown(&[o.separator()]));
    api.set("target", |o: &mut Output, value: Dynamic| set(o, Target, &value));
    api.set("input", |o: &mut Output, value: Dynamic| set(o, Input, &value));
    api.set("parameter", |o: &mut Output, value: Dynamic| set(o, Parameter, &value));
    api.set("delay", |o: &mut Output, value: Dynamic| set(o, Delay, &value));
    api.set("times", |o: &mut Output, value: Dynamic| set(o, Times, &value));
    api.set("separator", |o: &mut Output, value: &str| set_separator(o, value));
    api.call(
        "o.to_string()",
        "The value for an entity. `e.push(\"OnTrigger\", o)` does the same.",
        |o: &mut Output| shown(&o.to_bytes()),
    );
    api.also("to_debug", |o: &mut Output| shown(&o.to_bytes()));
    api.also("==", |a: Output, b: Output| a == b);
    api.also("!=", |a: Output, b: Output| a != b);
}

// Three numbers: origins, angles, colors.

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
        // Sines of right angles are not exact.
        let exact = |value: f64| (value * 1e12).round() / 1e12 + 0.0;
        Vector([pitch.cos() * yaw.cos(), pitch.cos() * yaw.sin(), -pitch.sin()].map(exact))
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

pub(super) fn register_vector(api: &mut Api) {
    api.group("Numbers");
    api.call("number(text)", "The number that a text means, whole or not; `()` if it is not one.", |text: &str| {
        number_in(text.as_bytes())
    });
    api.also("number", |number: i64| number);
    api.also("number", |number: f64| number);
    api.entry(
        "number.to_string()",
        "The number as maps have it: whole numbers and those of up to 12 digits exactly, others as the shortest number \
         of 32 bits. `${number}` does the same.",
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
    api.get("v.x", "The first number; `v.x = 8.0` sets it. `v[0]` reads it.", |v: &mut Vector| v.0[0]);
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
