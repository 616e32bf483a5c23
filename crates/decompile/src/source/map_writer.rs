//! `.map` texts.

use std::io::Write as _;

use super::numbers::{is_writable, number, numbers, quoted, writable};
use super::{Alignment, Brush, Entity, Format, Patch, Side, SideNumbers, Source};

/// What editors write for a side without a texture.
const NO_TEXTURE: &[u8] = b"__TB_empty";

pub(super) fn write(source: &Source, format: Format) -> Vec<u8> {
    let mut out = Vec::new();
    for (at, entity) in source.entities.iter().enumerate() {
        // Writing to a vector does not fail.
        let _ = writeln!(out, "// entity {at}");
        for comment in &entity.comments {
            out.extend(b"// ");
            // A line is one.
            out.extend(comment.iter().filter(|byte| !matches!(byte, b'\n' | b'\r' | 0)));
            out.push(b'\n');
        }
        write_entity(&mut out, entity, format);
    }
    out
}

fn write_entity(out: &mut Vec<u8>, entity: &Entity, format: Format) {
    out.extend(b"{\n");
    for (key, value) in entity.pairs.iter().chain(&entity.connections) {
        quoted(out, key);
        out.push(b' ');
        quoted(out, value);
        out.push(b'\n');
    }
    for (at, brush) in entity.brushes.iter().enumerate() {
        let _ = writeln!(out, "// brush {at}");
        write_brush(out, brush, format);
    }
    for (at, patch) in entity.patches.iter().enumerate() {
        let _ = writeln!(out, "// brush {}", entity.brushes.len() + at);
        write_patch(out, patch);
    }
    out.extend(b"}\n");
}

fn write_brush(out: &mut Vec<u8>, brush: &Brush, format: Format) {
    // A block is of one form: sides with a matrix are in `brushDef` alone.
    let is_matrix = |side: &Side| matches!(side.alignment, Alignment::Matrix(_));
    let is_def = match brush.sides.is_empty() {
        true => format == Format::BrushDef,
        false => brush.sides.iter().all(is_matrix),
    };
    out.extend(if is_def { &b"{\nbrushDef\n{\n"[..] } else { b"{\n" });
    brush.sides.iter().for_each(|side| write_side(out, side));
    out.extend(if is_def { &b"}\n}\n"[..] } else { b"}\n" });
}

fn write_side(out: &mut Vec<u8>, side: &Side) {
    for point in side.points {
        out.extend(b"( ");
        numbers(out, point);
        out.extend(b" ) ");
    }
    if let Alignment::Matrix([s, t]) = side.alignment {
        out.extend(b"( ( ");
        numbers(out, s);
        out.extend(b" ) ( ");
        numbers(out, t);
        out.extend(b" ) ) ");
    }
    write_name(out, &side.texture);
    match side.alignment {
        Alignment::Standard { offset: [x, y], rotation, scale: [wide, high] } => {
            out.push(b' ');
            numbers(out, [x, y, rotation, wide, high]);
        }
        Alignment::Axes { axes, rotation, scale: [wide, high] } => {
            for axis in axes {
                out.extend(b" [ ");
                numbers(out, axis);
                out.extend(b" ]");
            }
            out.push(b' ');
            numbers(out, [rotation, wide, high]);
        }
        Alignment::Matrix(_) => {}
    }
    if let Some(SideNumbers { contents, flags, value }) = side.numbers {
        let _ = write!(out, " {contents} {flags} {value}");
    }
    out.push(b'\n');
}

fn write_name(out: &mut Vec<u8>, name: &[u8]) {
    let name = if name.is_empty() { NO_TEXTURE } else { name };
    // Compilers skip from these marks on, and end a word at a semicolon too.
    let is_comment = [&b"//"[..], b"/*", b"#"].iter().any(|mark| name.starts_with(mark)) || name.contains(&b';');
    let is_plain = is_writable(name)
        && !is_comment
        && !name.contains(&b' ')
        && !matches!(name, b"(" | b")" | b"[" | b"]" | b"{" | b"}");
    if is_plain { out.extend(name) } else { quoted(out, &writable(name)) }
}

fn write_patch(out: &mut Vec<u8>, patch: &Patch) {
    let [columns, rows] = patch.size;
    out.extend(b"{\npatchDef2\n{\n");
    write_name(out, &patch.texture);
    let _ = write!(out, "\n( {columns} {rows} {} 0 0 )\n(\n", patch.contents);
    for column in 0..columns {
        out.extend(b"( ");
        for point in patch.points.iter().skip(column).step_by(columns.max(1)).take(rows) {
            out.extend(b"( ");
            for (at, value) in point.iter().enumerate() {
                if at > 0 {
                    out.push(b' ');
                }
                number(out, *value);
            }
            out.extend(b" ) ");
        }
        out.extend(b")\n");
    }
    out.extend(b")\n}\n}\n");
}
