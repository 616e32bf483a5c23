//! Reads `.vmf` texts. Blocks that say nothing of the map (views, cameras, groups) are passed over.

use bspkit::Result;
use bspkit::bytes::escaped;

use super::numbers::parse;
use super::words::{Word, Words, error};
use super::{Alignment, Brush, Displacement, Entity, Side, Source};

pub(super) fn read(text: &[u8]) -> Result<Source> {
    let mut words = Words::new(text);
    let mut source = Source::default();
    while let Some(word) = words.next()? {
        words.expect("{")?;
        match word.bytes {
            b"world" => source.entities.insert(0, entity(&mut words)?),
            b"entity" => source.entities.push(entity(&mut words)?),
            _ => skip(&mut words)?,
        }
    }
    Ok(source)
}

/// What is in a block: a pair, or the name of another block, whose brace is taken.
enum Item<'t> {
    Pair(Word<'t>, Word<'t>),
    Block(Word<'t>),
}

/// The next item; `None` at the end of the block, which is taken.
fn item<'t>(words: &mut Words<'t>) -> Result<Option<Item<'t>>> {
    let key = words.take()?;
    if key.is(b"}") {
        return Ok(None);
    }
    let value = words.take()?;
    match value.is(b"{") {
        true => Ok(Some(Item::Block(key))),
        false if value.is(b"}") => Err(error(value.line, format!("the key `{}` has no value", escaped(key.bytes)))),
        false => Ok(Some(Item::Pair(key, value))),
    }
}

/// Passes over what is left of a block and all that is in it.
fn skip(words: &mut Words<'_>) -> Result<()> {
    let mut depth = 1_usize;
    while depth > 0 {
        let word = words.take()?;
        if word.is(b"{") {
            depth += 1;
        } else if word.is(b"}") {
            depth -= 1;
        }
    }
    Ok(())
}

fn entity(words: &mut Words<'_>) -> Result<Entity> {
    let mut entity = Entity::default();
    while let Some(item) = item(words)? {
        match item {
            Item::Pair(key, value) if key.bytes == b"id" && entity.id == 0 => entity.id = whole(value)?,
            Item::Pair(key, value) => entity.pairs.push((key.bytes.to_vec(), value.bytes.to_vec())),
            Item::Block(name) if name.bytes == b"connections" => {
                while let Some(item) = self::item(words)? {
                    match item {
                        Item::Pair(key, value) => {
                            entity.connections.push((key.bytes.to_vec(), value.bytes.to_vec()));
                        }
                        Item::Block(_) => skip(words)?,
                    }
                }
            }
            Item::Block(name) if name.bytes == b"solid" => entity.brushes.push(brush(words)?),
            // Brushes that an editor hides are compiled by some tools; they are not a part of the map.
            Item::Block(_) => skip(words)?,
        }
    }
    Ok(entity)
}

fn brush(words: &mut Words<'_>) -> Result<Brush> {
    let mut brush = Brush::default();
    while let Some(item) = item(words)? {
        match item {
            Item::Pair(key, value) if key.bytes == b"id" => brush.id = whole(value)?,
            Item::Pair(..) => {}
            Item::Block(name) if name.bytes == b"side" => brush.sides.push(side(words, name.line)?),
            Item::Block(_) => skip(words)?,
        }
    }
    Ok(brush)
}

fn side(words: &mut Words<'_>, line: usize) -> Result<Side> {
    let (mut points, mut axes, mut rotation) = (None, [None; 2], 0.0);
    let mut side = Side {
        id: 0,
        points: [[0.0; 3]; 3],
        texture: Vec::new(),
        alignment: Alignment::Matrix([[0.0; 3]; 2]),
        numbers: None,
        lightmap_scale: None,
        smoothing_groups: 0,
        displacement: None,
    };
    while let Some(item) = item(words)? {
        let (key, value) = match item {
            Item::Pair(key, value) => (key, value),
            Item::Block(name) if name.bytes == b"dispinfo" => {
                side.displacement = Some(Box::new(displacement(words)?));
                continue;
            }
            Item::Block(_) => {
                skip(words)?;
                continue;
            }
        };
        match key.bytes {
            b"id" => side.id = whole(value)?,
            b"plane" => {
                let [a, b, c, d, e, f, g, h, i] = exact(value)?;
                points = Some([[a, b, c], [d, e, f], [g, h, i]]);
            }
            b"material" => side.texture = value.bytes.to_vec(),
            b"uaxis" => axes[0] = Some(exact::<5>(value)?),
            b"vaxis" => axes[1] = Some(exact::<5>(value)?),
            b"rotation" => [rotation] = exact(value)?,
            b"lightmapscale" => side.lightmap_scale = Some(exact::<1>(value)?[0]),
            b"smoothing_groups" => side.smoothing_groups = whole(value)?,
            _ => {}
        }
    }
    side.points = points.ok_or_else(|| error(line, "a side has no plane"))?;
    if let [Some([a, b, c, d, wide]), Some([e, f, g, h, high])] = axes {
        side.alignment = Alignment::Axes { axes: [[a, b, c, d], [e, f, g, h]], rotation, scale: [wide, high] };
    }
    Ok(side)
}

fn displacement(words: &mut Words<'_>) -> Result<Displacement> {
    let mut found = Displacement::default();
    while let Some(item) = item(words)? {
        let name = match item {
            Item::Pair(key, value) => {
                match key.bytes {
                    b"power" => found.power = whole(value)?,
                    b"startposition" => found.start = exact(value)?,
                    b"flags" => found.flags = whole(value)?,
                    b"elevation" => [found.elevation] = exact(value)?,
                    b"subdiv" => found.is_subdivided = whole(value)? != 0,
                    _ => {}
                }
                continue;
            }
            Item::Block(name) => name,
        };
        let known: [&[u8]; 7] =
            [b"normals", b"distances", b"offsets", b"offset_normals", b"alphas", b"triangle_tags", b"allowed_verts"];
        if !known.contains(&name.bytes) {
            skip(words)?;
            continue;
        }
        let all = rows(words)?;
        let points = || all.as_chunks::<3>().0.to_vec();
        // A word of flags has more digits than a float of single precision.
        let bits = |value: &f64| value.to_string().parse::<i32>().unwrap_or(0);
        match name.bytes {
            b"normals" => found.normals = points(),
            b"distances" => found.distances = all,
            b"offsets" => found.offsets = points(),
            b"offset_normals" => found.offset_normals = points(),
            b"alphas" => found.alphas = all,
            b"triangle_tags" => found.triangle_tags = all.iter().map(|tag| bits(tag).cast_unsigned()).collect(),
            _ => found.allowed_vertexes.iter_mut().zip(&all).for_each(|(own, value)| *own = bits(value)),
        }
    }
    Ok(found)
}

/// All numbers of the rows of a block.
fn rows(words: &mut Words<'_>) -> Result<Vec<f64>> {
    let mut all = Vec::new();
    while let Some(item) = item(words)? {
        match item {
            Item::Pair(_, value) => all.extend(numbers(value)?),
            Item::Block(_) => skip(words)?,
        }
    }
    Ok(all)
}

/// The numbers of a value; brackets and parentheses divide them too.
fn numbers(value: Word<'_>) -> Result<Vec<f64>> {
    let is_between = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'(' | b')' | b'[' | b']');
    let parts = value.bytes.split(is_between).filter(|part| !part.is_empty());
    let all: Option<Vec<f64>> = parts.map(parse).collect();
    all.ok_or_else(|| error(value.line, format!("`{}` is not a list of numbers", escaped(value.bytes))))
}

fn exact<const N: usize>(value: Word<'_>) -> Result<[f64; N]> {
    let all = numbers(value)?;
    let count = all.len();
    all.try_into().map_err(|_| error(value.line, format!("{N} numbers are expected, not {count}")))
}

fn whole(value: Word<'_>) -> Result<u32> {
    let text = std::str::from_utf8(value.bytes).ok();
    let number = text.and_then(|text| text.parse().ok().or_else(|| text.parse().ok().map(i32::cast_unsigned)));
    number.ok_or_else(|| error(value.line, format!("`{}` is not a whole number", escaped(value.bytes))))
}
