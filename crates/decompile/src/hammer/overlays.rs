//! Overlays: pictures on sides.

use std::collections::HashSet;

use bspkit::bytes::bits;
use bspkit::{Bsp, Column, Records};

use super::{Pairs, Sides, are_finite, list, pair};
use crate::drawn::Drawn;
use crate::dress::Dress;
use crate::geometry::cross;
use crate::report::Counts;
use crate::source::{Entity, writable};

/// The bits of the number of faces; the order of drawing is above them.
const COUNT: u32 = 0x3FFF;

pub(super) fn add(
    map: &Bsp<'_>,
    faces: &[Drawn],
    sides: &Sides,
    entities: &mut Vec<Entity>,
    dress: &mut Dress<'_>,
    counts: &mut Counts,
) {
    let mut by_number: Vec<Option<&Drawn>> = Vec::new();
    for face in faces {
        if by_number.len() <= face.number {
            by_number.resize(face.number + 1, None);
        }
        by_number[face.number] = Some(face);
    }
    let of_water = map.any_records("WATEROVERLAYS.overlays").or_else(|| map.any_records("WATEROVERLAYS"));
    (0..of_water.map_or(0, |overlays| overlays.len()))
        .for_each(|number| counts.leave_out("water overlay", "its two lists of sides are not known", number));
    let Some(overlays) = map.any_records("OVERLAYS.overlays").or_else(|| map.any_records("OVERLAYS")) else { return };
    let Some(columns) = Columns::new(&overlays) else {
        counts.leave_out("overlay", "overlays of this game are not read", overlays.len());
        return;
    };
    let fades = map.any_records("OVERLAY_FADES").filter(|fades| fades.len() == overlays.len());
    // Overlays of a damaged map may all name faces that lie on many sides.
    let mut left = sides.all.len().saturating_mul(8).saturating_add(faces.len().saturating_mul(8));
    for number in 0..overlays.len() {
        let Some(look) = columns.texinfo.below(number, dress.looks.len()) else {
            counts.leave_out("overlay", "its texture does not exist", number);
            continue;
        };
        let placed = [&columns.u, &columns.v, &columns.points, &columns.origin, &columns.normal];
        if !are_finite(&placed, number) {
            counts.leave_out("overlay", "its place is not a number", number);
            continue;
        }
        let own = columns.faces(number).filter_map(|face| by_number.get(face).copied().flatten());
        let mut ids: Vec<u32> = Vec::new();
        for face in own {
            let found = sides.of(face);
            left = left.saturating_sub(found.len() + 1);
            ids.extend(found);
            if left == 0 {
                break;
            }
        }
        ids.sort_unstable();
        ids.dedup();
        if ids.is_empty() {
            counts.leave_out("overlay", "it lies on no side", number);
            continue;
        }
        let material = dress.name(&dress.looks[look].name);
        let mut pairs = columns.pairs(number, &material, &ids);
        if let Some([least, most]) = fades.as_ref().and_then(|fades| fades.columns(["min_squared", "max_squared"]).ok())
        {
            for (key, column) in [("fademindist", least), ("fademaxdist", most)] {
                let squared = column.float(number, 0);
                pairs.push(pair(key, if squared > 0.0 { squared.sqrt() } else { squared.max(-1.0) }));
            }
        }
        // An entity that inputs reach by a name says which overlay it is.
        let id = columns.id.get(number).to_string();
        let accessor = entities.iter().position(|entity| {
            entity.class().eq_ignore_ascii_case(b"info_overlay_accessor")
                && entity.get(b"OverlayID") == Some(id.as_bytes())
        });
        if let Some(at) = accessor {
            // What the record says holds: of equal keys compilers take the last one.
            let known: HashSet<Vec<u8>> = pairs.iter().map(|(key, _)| key.to_ascii_lowercase()).collect();
            let is_other =
                |key: &[u8]| !key.eq_ignore_ascii_case(b"OverlayID") && !known.contains(&key.to_ascii_lowercase());
            let others = entities[at].pairs.iter().filter(|(key, _)| is_other(key));
            pairs.extend(others.cloned().collect::<Vec<_>>());
            entities[at].pairs = pairs;
        } else {
            entities.push(Entity { id: dress.id(), pairs, ..Entity::default() });
        }
    }
}

struct Columns<'r> {
    id: Column<'r>,
    texinfo: Column<'r>,
    count: Column<'r>,
    faces: Column<'r>,
    u: Column<'r>,
    v: Column<'r>,
    points: Column<'r>,
    origin: Column<'r>,
    normal: Column<'r>,
}

impl<'r> Columns<'r> {
    fn new(overlays: &'r Records<'_>) -> Option<Self> {
        let one = |name: &str| overlays.column(name).ok();
        Some(Columns {
            id: one("id")?,
            texinfo: one("texinfo")?,
            count: one("face_count_order")?,
            faces: one("faces")?,
            u: one("u").or_else(|| one("place.u"))?,
            v: one("v").or_else(|| one("place.v"))?,
            points: one("uv_points").or_else(|| one("place.uv_points"))?,
            origin: one("origin").or_else(|| one("place.origin"))?,
            normal: one("normal").or_else(|| one("place.normal"))?,
        })
    }

    fn faces(&self, number: usize) -> impl Iterator<Item = usize> {
        let count = bspkit::bytes::index(bits(self.count.get(number)) & COUNT).min(self.faces.items());
        (0..count).filter_map(move |item| usize::try_from(self.faces.item(number, item)).ok())
    }

    fn pairs(&self, number: usize, material: &[u8], sides: &[u32]) -> Pairs {
        let origin: [f32; 3] = self.origin.floats(number, 0);
        let normal: [f32; 3] = self.normal.floats(number, 0);
        let points: [[f32; 3]; 4] = [0, 3, 6, 9].map(|first| self.points.floats(number, first));
        // The third numbers of the points hold one direction; the other one is at right angles to it.
        let u = [points[0][2], points[1][2], points[2][2]];
        let v = cross(normal.map(f64::from), u.map(f64::from)).map(bspkit::bytes::rounded);
        let v = if points[3][2] == 1.0 { v.map(|part| -part) } else { v };
        let ids: Vec<String> = sides.iter().map(u32::to_string).collect();
        let mut pairs = vec![
            pair("classname", "info_overlay"),
            (b"material".to_vec(), writable(material)),
            pair("sides", ids.join(" ")),
            pair("RenderOrder", bits(self.count.get(number)) >> 14 & 3),
            pair("StartU", self.u.float(number, 0)),
            pair("EndU", self.u.float(number, 1)),
            pair("StartV", self.v.float(number, 0)),
            pair("EndV", self.v.float(number, 1)),
            pair("BasisOrigin", list(origin)),
            pair("BasisU", list(u)),
            pair("BasisV", list(v)),
            pair("BasisNormal", list(normal)),
        ];
        for (at, [x, y, _]) in points.into_iter().enumerate() {
            pairs.push(pair(&format!("uv{at}"), list([x, y, 0.0])));
        }
        pairs.push(pair("origin", list(origin)));
        pairs
    }
}
