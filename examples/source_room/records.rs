//! The structs of a Source map (bspfile.h and gamebspfile.h of the Source SDK), declared as the library declares its
//! own: a list of fields, the size beside it.

use binrw::binrw;
use bspkit::record::{Field, Record};

macro_rules! records {
    ($($(#[$doc:meta])* $name:ident($size:literal) { $($field:ident: $type:ty,)* })*) => { $(
        $(#[$doc])*
        #[binrw]
        #[brw(little)]
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub(crate) struct $name {
            $(pub(crate) $field: $type,)*
        }

        impl Field for $name {
            const SIZE: usize = 0 $(+ <$type as Field>::SIZE)*;
        }

        impl Record for $name {}

        const _: () = assert!(<$name as Field>::SIZE == $size);
    )* };
}

/// Red, green, blue, and the exponent of all three.
pub(crate) type Light = [u8; 4];

records! {
    Plane(20) { normal: [f32; 3], distance: f32, kind: i32, }

    TexData(32) { reflectivity: [f32; 3], name: i32, size: [i32; 2], view: [i32; 2], }

    TexInfo(72) { texture: [[f32; 4]; 2], lightmap: [[f32; 4]; 2], flags: i32, tex_data: i32, }

    Face(56) {
        plane: u16,
        side: u8,
        on_node: u8,
        first_edge: i32,
        edge_count: i16,
        tex_info: i16,
        displacement: i16,
        fog_volume: i16,
        styles: [u8; 4],
        light_offset: i32,
        area: f32,
        luxel_mins: [i32; 2],
        luxel_size: [i32; 2],
        original_face: i32,
        primitive_count: u16,
        first_primitive: u16,
        smoothing_groups: u32,
    }

    Node(32) {
        plane: i32,
        children: [i32; 2],
        mins: [i16; 3],
        maxs: [i16; 3],
        first_face: u16,
        face_count: u16,
        area: i16,
        padding: i16,
    }

    /// Version 1 of the lump; version 0 has the light between `water` and `padding`.
    Leaf(32) {
        contents: i32,
        cluster: i16,
        area_and_flags: u16,
        mins: [i16; 3],
        maxs: [i16; 3],
        first_face: u16,
        face_count: u16,
        first_brush: u16,
        brush_count: u16,
        water: i16,
        padding: u16,
    }

    Model(48) { mins: [f32; 3], maxs: [f32; 3], origin: [f32; 3], head_node: i32, first_face: i32, face_count: i32, }

    Brush(12) { first_side: i32, side_count: i32, contents: i32, }

    BrushSide(8) { plane: u16, tex_info: i16, displacement: i16, bevel: i16, }

    Area(8) { portal_count: i32, first_portal: i32, }

    AreaPortal(12) { key: u16, other_area: u16, first_vertex: u16, vertex_count: u16, plane: i32, }

    AmbientIndex(4) { count: u16, first: u16, }

    AmbientSample(28) { cube: [Light; 6], place: [u8; 3], padding: u8, }

    /// What a light is; between `head` and the rest version 1 of the lump has a shadow offset.
    WorldLightHead(36) { origin: [f32; 3], intensity: [f32; 3], normal: [f32; 3], }

    WorldLightRest(52) {
        cluster: i32,
        kind: i32,
        style: i32,
        cones: [f32; 2],
        exponent: f32,
        radius: f32,
        attenuation: [f32; 3],
        flags: i32,
        tex_info: i32,
        owner: i32,
    }

    Cubemap(16) { origin: [i32; 3], size: u8, padding: [u8; 3], }

    Physics(16) { model: i32, size: i32, text_size: i32, solid_count: i32, }

    FaceBrushes(4) { count: u16, first: u16, }

    /// A static prop as far as all versions agree.
    Prop(56) {
        origin: [f32; 3],
        angles: [f32; 3],
        model: u16,
        first_leaf: u16,
        leaf_count: u16,
        solid: u8,
        flags: u8,
        skin: i32,
        fade: [f32; 2],
        lighting_origin: [f32; 3],
    }

    /// What Left 4 Dead 2 and its kin add to a static prop behind the processor levels.
    PropColor(8) { modulation: [u8; 4], disable_x360: u8, garbage: [u8; 3], }

    Sprite(32) { corners: [[f32; 2]; 2], texture_corners: [[f32; 2]; 2], }

    Detail(52) {
        origin: [f32; 3],
        angles: [f32; 3],
        model: u16,
        leaf: u16,
        light: Light,
        first_style: u32,
        style_count: u8,
        sway: u8,
        shape_angle: u8,
        shape_size: u8,
        orientation: u8,
        garbage: [u8; 3],
        kind: u8,
        more_garbage: [u8; 3],
        scale: f32,
    }

    /// What stands before a file in a zip, behind the signature.
    ZipFile(26) {
        needs: u16,
        flags: u16,
        method: u16,
        time: u16,
        date: u16,
        crc: u32,
        packed: u32,
        unpacked: u32,
        name_size: u16,
        extra_size: u16,
    }

    /// What the directory of a zip adds behind the fields of a file.
    ZipPlace(14) { comment_size: u16, disk: u16, inner: u16, outer: u32, offset: u32, }

    /// The end of a zip, behind the signature.
    ZipEnd(18) { disks: [u16; 2], counts: [u16; 2], size: u32, offset: u32, comment_size: u16, }
}

/// The bytes of records, one behind the other.
pub(crate) fn bytes<R: Record>(records: &[R]) -> Vec<u8> {
    records.iter().flat_map(Record::encode).collect()
}

/// The bytes of 16-bit numbers.
pub(crate) fn shorts(numbers: &[u16]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// The bytes of 32-bit numbers.
pub(crate) fn longs(numbers: &[i32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}
