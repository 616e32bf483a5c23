//! Sources as text: what is written is read as an equal value, and errors say their line.

use bspkit_decompile::source::{
    Alignment, Brush, Displacement, Entity, Format, Patch, Side, SideNumbers, Source, read, write,
};
use proptest::collection::vec;
use proptest::prelude::*;

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        (-4096_i32..4096).prop_map(f64::from),
        -1e6..1e6,
        any::<f32>().prop_filter("finite", |value| value.is_finite()).prop_map(f64::from),
    ]
}

fn point() -> impl Strategy<Value = [f64; 3]> {
    [number(), number(), number()]
}

fn name() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof!["[a-z{}()*+!/]{1,12}", "[ -!#-~]{1,12}"].prop_map(String::into_bytes)
}

fn pairs() -> impl Strategy<Value = Vec<(Vec<u8>, Vec<u8>)>> {
    let value = vec(any::<u8>().prop_filter("no quotes", |byte| *byte != b'"'), 0..12);
    vec(("[a-z_]{3,9}".prop_map(String::into_bytes), value), 0..4)
}

fn axes() -> impl Strategy<Value = Alignment> {
    let axis = || [number(), number(), number(), number()];
    ([axis(), axis()], number(), [number(), number()]).prop_map(|(axes, rotation, scale)| Alignment::Axes {
        axes,
        rotation,
        scale,
    })
}

fn alignment(format: Format) -> BoxedStrategy<Alignment> {
    match format {
        Format::Quake | Format::Quake3 => ([number(), number()], number(), [number(), number()])
            .prop_map(|(offset, rotation, scale)| Alignment::Standard { offset, rotation, scale })
            .boxed(),
        Format::BrushDef => [point(), point()].prop_map(Alignment::Matrix).boxed(),
        _ => axes().boxed(),
    }
}

fn displacement() -> impl Strategy<Value = Displacement> {
    (vec((point(), number(), point(), point(), number()), 25), vec(0_u32..64, 32), any::<[i32; 10]>(), point())
        .prop_map(|(points, triangle_tags, allowed, start)| Displacement {
            power: 2,
            start,
            flags: 6,
            elevation: 1.5,
            is_subdivided: true,
            normals: points.iter().map(|all| all.0).collect(),
            distances: points.iter().map(|all| all.1).collect(),
            offsets: points.iter().map(|all| all.2).collect(),
            offset_normals: points.iter().map(|all| all.3).collect(),
            alphas: points.iter().map(|all| all.4).collect(),
            triangle_tags,
            allowed_vertexes: allowed,
        })
}

fn side(format: Format) -> impl Strategy<Value = Side> {
    let is_vmf = format == Format::Vmf;
    let numbers = proptest::option::of((any::<i32>(), any::<i32>(), any::<i32>()));
    let of_vmf =
        (1_u32..9999, proptest::option::of(number()), any::<u32>(), proptest::option::weighted(0.2, displacement()));
    ([point(), point(), point()], name(), alignment(format), numbers, of_vmf).prop_map(
        move |(points, texture, alignment, numbers, (id, scale, groups, displacement))| Side {
            id: if is_vmf { id } else { 0 },
            points,
            texture,
            alignment,
            numbers: numbers.filter(|_| !is_vmf).map(|(contents, flags, value)| SideNumbers { contents, flags, value }),
            lightmap_scale: scale.filter(|_| is_vmf),
            smoothing_groups: if is_vmf { groups } else { 0 },
            displacement: displacement.filter(|_| is_vmf).map(Box::new),
        },
    )
}

fn patch() -> impl Strategy<Value = Patch> {
    (name(), 1_usize..6, 1_usize..6).prop_flat_map(|(texture, columns, rows)| {
        let points = vec((point(), number(), number()), columns * rows);
        (points, any::<i32>()).prop_map(move |(points, contents)| Patch {
            texture: texture.clone(),
            size: [columns, rows],
            points: points.into_iter().map(|([x, y, z], s, t)| [x, y, z, s, t]).collect(),
            contents,
        })
    })
}

fn entity(format: Format) -> impl Strategy<Value = Entity> {
    let is_vmf = format == Format::Vmf;
    let brush = (1_u32..9999, vec(side(format), 1..5))
        .prop_map(move |(id, sides)| Brush { id: if is_vmf { id } else { 0 }, sides });
    let comment = "[a-z/]([ a-z\"{}/]{0,8}[a-z])?".prop_map(String::into_bytes);
    (1_u32..9999, vec(comment, 0..3), pairs(), pairs(), vec(brush, 0..3), vec(patch(), 0..2)).prop_map(
        move |(id, comments, pairs, connections, brushes, patches)| Entity {
            id: if is_vmf { id } else { 0 },
            comments: if is_vmf { Vec::new() } else { comments },
            pairs,
            connections: if is_vmf { connections } else { Vec::new() },
            brushes,
            patches: if is_vmf { Vec::new() } else { patches },
        },
    )
}

fn sources() -> impl Strategy<Value = (Format, Source)> {
    proptest::sample::select(Format::ALL.to_vec())
        .prop_flat_map(|format| vec(entity(format), 0..4).prop_map(move |entities| (format, Source { entities })))
}

proptest! {
    #[test]
    fn what_is_written_is_read((format, source) in sources()) {
        let text = write(&source, format);
        prop_assert_eq!(read(&text, format).unwrap(), source, "{}", String::from_utf8_lossy(&text));
    }

    #[test]
    fn no_text_is_too_much(format in any::<prop::sample::Index>(), text in "[(){}\\[\\]\" a-z0-9\n]{0,200}") {
        let format = *format.get(&Format::ALL);
        let _ = read(text.as_bytes(), format);
    }
}

#[test]
fn errors_say_their_line() {
    let message = |text: &str, format| read(text.as_bytes(), format).unwrap_err().to_string();
    let open = "{\n\"classname\" \"worldspawn\"\n{\n( 0 0 0 ) ( 1 x 1 ) ( 2 2 2 ) a 0 0 0 1 1\n}\n}\n";
    assert_eq!(message(open, Format::Quake), "line 4: `x` is not a number");
    assert_eq!(message("{\n\"a\" \"b\"\n", Format::Valve), "line 2: the text ends within a block");
    let vmf = "world\n{\n\tsolid\n\t{\n\t\tside\n\t\t{\n\t\t\t\"plane\" \"(0 0) (1)\"\n";
    assert_eq!(message(vmf, Format::Vmf), "line 7: 9 numbers are expected, not 3");
    assert_eq!(message("world\n{\nside\n}\n", Format::Vmf), "line 4: the key `side` has no value");
}

#[test]
fn the_sources_of_the_fixtures_come_back() {
    for (file, brushes) in [("q1", 18), ("goldsrc", 18), ("q2", 21), ("q3", 20)] {
        let text = std::fs::read(format!("../../tests/maps/{file}/own_rooms.map")).unwrap();
        let source = read(&text, Format::Quake).unwrap();
        let count: usize = source.entities.iter().map(|entity| entity.brushes.len()).sum();
        assert!(count >= brushes, "{file}: {count}");
        assert_eq!(read(&write(&source, Format::Quake), Format::Quake).unwrap(), source);
    }
}

/// The tokenizer of compilers skips from `;`, `#` and `//` to the end of the line, and ends a word at `;`.
#[test]
fn names_that_compilers_take_for_comments_are_quoted() {
    let text = std::fs::read("../../tests/maps/q2/own_rooms.map").unwrap();
    let source = read(&text, Format::Quake).unwrap();
    for name in ["#wall", ";ceil", "ceil;2", "//wall", "/*wall", "two words"] {
        let mut own = source.clone();
        own.entities[0].brushes[0].sides[0].texture = name.into();
        let text = String::from_utf8(write(&own, Format::Quake)).unwrap();
        assert!(text.contains(&format!(" ) \"{name}\" ")), "{name}");
        assert_eq!(read(text.as_bytes(), Format::Quake).unwrap(), own);
    }
    for name in ["wall#2", "own/wall", "{fence", "*water", "+0light"] {
        let mut own = source.clone();
        own.entities[0].brushes[0].sides[0].texture = name.into();
        let text = String::from_utf8(write(&own, Format::Quake)).unwrap();
        assert!(text.contains(&format!(" ) {name} ")), "{name}");
    }
}
