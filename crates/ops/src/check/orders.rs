//! Orders that engines rely on: groups of records, lists that say the same as another one, corners by their faces.

use bspkit::dialect::{Each, Role};
use bspkit::links::{Links, Site, Word, parted};

use super::finding::{At, GROUP_ORDER, NORMAL_ORDER, Sink, TWIN_RECORD};
use super::lumps::Lumps;

pub(super) fn check_orders(lumps: &Lumps<'_>, links: &Links<'_>, sink: &mut Sink) {
    for site in &links.sites {
        check_groups(site, sink);
        check_twins(site, links, sink);
    }
    check_corners(lumps, links, sink);
}

/// Records with the same number follow each other. Engines take the last run of a number for all of them.
fn check_groups(site: &Site<'_>, sink: &mut Sink) {
    let field = site.grouped.and_then(|field| site.record.field(field));
    let Some((field, word)) = field.and_then(|field| Some((field, Word::of(field.offset, field.shape)?))) else {
        return;
    };
    for (index, number) in parted(site.records().map(|record| word.get(record))) {
        let at = At::lump(&site.name).record(index).field(field.name);
        sink.add(&GROUP_ORDER, at, || format!("its {} is {number}, as that of records before others", field.name));
    }
}

/// What the records of twin lists may have of their own: light.
const OWN: [&str; 2] = ["styles", "light_offset"];

/// Records of a list that is there a second time, for the light of another dynamic range.
fn check_twins(site: &Site<'_>, links: &Links<'_>, sink: &mut Sink) {
    let Some(parallel) = site.parallel.filter(|parallel| parallel.each == Each::Twin) else { return };
    let Some(other) = links.named(parallel.lump).filter(|other| other.record.size == site.record.size) else { return };
    for (index, (own, other)) in site.records().zip(other.records()).enumerate() {
        if own == other {
            continue;
        }
        let differs = site.record.fields.iter().filter(|field| !OWN.contains(&field.name)).find(|field| {
            let range = field.offset..field.offset + field.shape.size();
            own.get(range.clone()) != other.get(range)
        });
        if let Some(field) = differs {
            let at = At::lump(&site.name).record(index).field(field.name);
            sink.add(&TWIN_RECORD, at, || format!("its {} is not that in {}", field.name, parallel.lump));
        }
    }
}

/// Corners with normals follow each other face by face. One engine finds them by the faces before, another one by the
/// number of the first edge; both find the same where edges are in the order of faces.
fn check_corners(lumps: &Lumps<'_>, links: &Links<'_>, sink: &mut Sink) {
    let Some(corners) = links.named("bspx:FACENORMALS.corners").filter(|corners| !corners.is_empty()) else { return };
    let Some(faces) = lumps.role(Role::Faces) else { return };
    let Ok([firsts, counts]) = faces.columns(["first_edge", "edge_count"]) else { return };
    let mut before = 0_i64;
    let mut apart = (0..faces.len()).filter_map(|face| {
        let corner = before;
        before += counts.get(face);
        (firsts.get(face) != corner && counts.get(face) > 0).then_some((face, corner))
    });
    // Where one face is elsewhere, many are: one finding says it.
    if let Some((face, corner)) = apart.next() {
        let others = apart.count();
        let at = At::lump(faces.name()).record(face).offset(firsts.at(face)).field("first_edge");
        sink.add(&NORMAL_ORDER, at, || {
            let (first, name) = (firsts.get(face), &corners.name);
            format!("its first edge is {first}, its first corner in {name} is {corner}; {others} others are like it")
        });
    }
}
