//! Reads `.map` texts: all forms of sides and patches, whichever are in a text.

use bspkit::Result;
use bspkit::bytes::escaped;

use super::words::{Word, Words, error};
use super::{Alignment, Brush, Entity, Patch, Side, SideNumbers, Source};

/// The most control points along a side of a patch.
const MOST_OF_PATCH: f64 = 1023.0;

pub(super) fn read(text: &[u8]) -> Result<Source> {
    let mut words = Words::new(text);
    let mut source = Source::default();
    loop {
        let comments: Vec<Vec<u8>> =
            words.comments().into_iter().filter(|line| !is_number(line)).map(<[u8]>::to_vec).collect();
        let Some(word) = words.next()? else { return Ok(source) };
        if !word.is(b"{") {
            return Err(error(word.line, format!("an entity begins with `{{`, not `{}`", escaped(word.bytes))));
        }
        source.entities.push(Entity { comments, ..entity(&mut words)? });
    }
}

/// Whether a comment is the number that editors write before an entity.
fn is_number(comment: &[u8]) -> bool {
    comment.strip_prefix(b"entity ").is_some_and(|number| number.iter().all(u8::is_ascii_digit))
}

fn entity(words: &mut Words<'_>) -> Result<Entity> {
    let mut entity = Entity::default();
    loop {
        let word = words.take()?;
        if word.is(b"}") {
            return Ok(entity);
        } else if word.is(b"{") {
            block(words, &mut entity)?;
        } else {
            let value = words.take()?;
            if !value.is_quoted && matches!(value.bytes, b"{" | b"}") {
                return Err(error(value.line, format!("the key `{}` has no value", escaped(word.bytes))));
            }
            entity.pairs.push((word.bytes.to_vec(), value.bytes.to_vec()));
        }
    }
}

/// A brush or a patch, after its brace.
fn block(words: &mut Words<'_>, entity: &mut Entity) -> Result<()> {
    if words.accept(b"patchDef2")? {
        entity.patches.push(patch(words)?);
        return words.expect("}");
    }
    let is_def = words.accept(b"brushDef")?;
    if is_def {
        words.expect("{")?;
    }
    let mut brush = Brush::default();
    loop {
        let word = words.take()?;
        if word.is(b"}") {
            break;
        }
        if !word.is(b"(") {
            return Err(error(word.line, format!("a side begins with `(`, not `{}`", escaped(word.bytes))));
        }
        brush.sides.push(side(words, is_def)?);
    }
    if is_def {
        words.expect("}")?;
    }
    entity.brushes.push(brush);
    Ok(())
}

/// A side, after its first parenthesis.
fn side(words: &mut Words<'_>, is_def: bool) -> Result<Side> {
    let mut points = [[0.0; 3]; 3];
    for (at, point) in points.iter_mut().enumerate() {
        if at > 0 {
            words.expect("(")?;
        }
        *point = words.numbers()?;
        words.expect(")")?;
    }
    let matrix = if is_def { Some(matrix(words)?) } else { None };
    let texture = words.take()?;
    let alignment = match matrix {
        Some(matrix) => Alignment::Matrix(matrix),
        None if words.peek()?.is_some_and(|word| word.is(b"[")) => {
            let axes = [axis(words)?, axis(words)?];
            let [rotation, wide, high] = words.numbers()?;
            Alignment::Axes { axes, rotation, scale: [wide, high] }
        }
        None => {
            let [x, y, rotation, wide, high] = words.numbers()?;
            Alignment::Standard { offset: [x, y], rotation, scale: [wide, high] }
        }
    };
    let is_end = |word: &Word<'_>| word.is(b"(") || word.is(b"}");
    let numbers = match words.peek()? {
        Some(word) if !is_end(&word) => {
            Some(SideNumbers { contents: whole(words)?, flags: whole(words)?, value: whole(words)? })
        }
        _ => None,
    };
    Ok(Side {
        id: 0,
        points,
        texture: texture.bytes.to_vec(),
        alignment,
        numbers,
        lightmap_scale: None,
        smoothing_groups: 0,
        displacement: None,
    })
}

fn axis(words: &mut Words<'_>) -> Result<[f64; 4]> {
    words.expect("[")?;
    let axis = words.numbers()?;
    words.expect("]")?;
    Ok(axis)
}

fn matrix(words: &mut Words<'_>) -> Result<[[f64; 3]; 2]> {
    words.expect("(")?;
    let mut rows = [[0.0; 3]; 2];
    for row in &mut rows {
        words.expect("(")?;
        *row = words.numbers()?;
        words.expect(")")?;
    }
    words.expect(")")?;
    Ok(rows)
}

/// A whole number, which may be written as unsigned.
fn whole(words: &mut Words<'_>) -> Result<i32> {
    let word = words.take()?;
    let number = std::str::from_utf8(word.bytes).ok().and_then(|text| text.parse::<i64>().ok());
    let found = number
        .and_then(|number| i32::try_from(number).ok().or_else(|| u32::try_from(number).ok().map(u32::cast_signed)));
    found.ok_or_else(|| error(word.line, format!("`{}` is not a whole number of 32 bits", escaped(word.bytes))))
}

/// A patch, after its word.
fn patch(words: &mut Words<'_>) -> Result<Patch> {
    words.expect("{")?;
    let texture = words.take()?;
    words.expect("(")?;
    let mut size = [0; 2];
    for side in &mut size {
        let line = words.peek()?.map_or(0, |word| word.line);
        let number = words.number()?;
        if !(1.0..=MOST_OF_PATCH).contains(&number) || number.fract() != 0.0 {
            return Err(error(line, format!("a patch does not have {number} control points along a side")));
        }
        *side = bspkit::bytes::integer(bspkit::bytes::rounded(number))
            .and_then(|number| usize::try_from(number).ok())
            .unwrap_or(0);
    }
    let contents = whole(words)?;
    let _: [f64; 2] = words.numbers()?;
    words.expect(")")?;
    let [columns, rows] = size;
    words.expect("(")?;
    let mut all = Vec::new();
    for _ in 0..columns {
        words.expect("(")?;
        for _ in 0..rows {
            words.expect("(")?;
            all.push(words.numbers::<5>()?);
            words.expect(")")?;
        }
        words.expect(")")?;
    }
    words.expect(")")?;
    words.expect("}")?;
    // The text has them column after column.
    let points = (0..rows).flat_map(|row| all.iter().skip(row).step_by(rows).copied()).collect();
    Ok(Patch { texture: texture.bytes.to_vec(), size, points, contents })
}
