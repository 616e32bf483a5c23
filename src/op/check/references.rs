//! Numbers that refer to records, in every way that a dialect declares: indices, runs, children of trees, items of
//! arrays, blocks that belong to records, and lumps that run parallel to others.
//!
//! The first index of an empty run does not matter.

use super::code::{CHILD_RANGE, Code, DISP_VERTS, EDGE_RANGE, ENTITY_MODEL, INDEX_RANGE, LUMP_PARALLEL, RUN_RANGE};
use super::lumps::Lumps;
use super::sink::{At, Sink};
use crate::bsp::{How, Link, Links, Site};
use crate::bytes::word;
use crate::dialect::{Each, Role};
use crate::record::{CountForm, Meaning, Number};

pub(super) fn check(lumps: &Lumps<'_>, links: &Links<'_>, sink: &mut Sink) {
    let unnamed = unnamed_edge(lumps);
    for link in links.links.iter().filter(|link| is_known(link, &links.sites[link.to])) {
        let is_unnamed = unnamed == Some(links.sites[link.from].name.as_str());
        check_link(links, link, usize::from(is_unnamed), sink);
        check_room(links, link, sink);
    }
    check_blocks(lumps, links, sink);
    check_parallel(links, sink);
}

/// Whether it is known what the numbers mean: bits beside flags are unused in maps without such records, and with more
/// than 65,535 records the meaning of the first of a run in 16 bits is not known.
fn is_known(link: &Link, to: &Site<'_>) -> bool {
    match link.how {
        How::Bits(_) => to.len() > 0,
        How::Run(..) => link.word.number != Number::U16 || to.len() <= usize::from(u16::MAX),
        _ => true,
    }
}

/// The lump of the edges if no surfedge names the first edge: then engines never read its ends. It is unused, since 0
/// has no sign.
fn unnamed_edge<'l>(lumps: &'l Lumps<'_>) -> Option<&'l str> {
    let (edges, surf_edges) = (lumps.role(Role::Edges)?, lumps.role(Role::SurfEdges)?);
    let edge = surf_edges.column("edge")?;
    (0..surf_edges.len()).all(|index| edge.get(index) != 0).then_some(edges.name)
}

/// Checks one reference of all records from the first one on.
fn check_link(links: &Links<'_>, link: &Link, first: usize, sink: &mut Sink) {
    let (from, to) = (&links.sites[link.from], &links.sites[link.to]);
    let len = to.len();
    let most = i64::try_from(len).unwrap_or(i64::MAX);
    let mut look = |index: usize, record: &[u8], value: i64| {
        if let How::Run(word, count, _) = link.how {
            let count = count.of(word.get(record));
            if count == 0 || value >= 0 && count > 0 && value.saturating_add(count) <= most {
                return;
            }
        }
        let Some((named, count)) = link.stated(record, len).filter(|_| index >= first) else { return };
        if named >= 0 && count > 0 && named.saturating_add(count) <= most {
            return;
        }
        let offset = from.range.start + index * from.record.size + link.word.at;
        let at = At::lump(from.row.lump).record(index).offset(offset).field(&link.field);
        sink.add(code(link, named, most), at, || {
            format!("{}, and {} has {len}", sentence(link, record, (named, count)), to.name)
        });
    };
    from.outside(link.word, link.good(most), &mut look);
}

/// The code of a reference that names something that is not there.
fn code(link: &Link, first: i64, len: i64) -> &'static Code {
    match (link.meaning, link.how) {
        (Meaning::Child, _) => &CHILD_RANGE,
        (_, How::Signed) => &EDGE_RANGE,
        (_, How::Starred(_)) => &ENTITY_MODEL,
        (_, How::Run(_, count, _)) if matches!(count.form, CountForm::Vertexes | CountForm::Triangles) => {
            if (0..len).contains(&first) { &DISP_VERTS } else { &INDEX_RANGE }
        }
        (_, How::Run(..)) => &RUN_RANGE,
        _ => &INDEX_RANGE,
    }
}

fn sentence(link: &Link, record: &[u8], (first, count): (i64, i64)) -> String {
    let (field, value) = (&link.field, link.word.get(record));
    match (link.meaning, link.how) {
        (Meaning::Child, How::Leaf(_)) => format!("{field} is {value}, leaf {first}"),
        (Meaning::Child, _) => format!("{field} is {value}, a node"),
        (Meaning::Run { count: of, .. } | Meaning::RunOr { count: of, .. }, How::Run(..)) => match of.form {
            CountForm::Number | CountForm::Bits { .. } => format!("{field} is {first} and {} {count}", of.field),
            CountForm::Vertexes | CountForm::Triangles => format!("{field} is {first} for {count} records"),
        },
        (_, How::Starred(_)) => format!("{field} is *{first}"),
        (_, How::Bits(_)) => format!("{field} names {first}"),
        _ => format!("{field} is {value}"),
    }
}

/// Of an array that has a count there are not more items than it has room for.
fn check_room(links: &Links<'_>, link: &Link, sink: &mut Sink) {
    let How::Item(word, count) = link.how else { return };
    if !link.field.ends_with("[0]") {
        return;
    }
    let array = link.array();
    let room = links.links.iter().filter(|other| other.from == link.from && other.array() == array).count();
    let from = &links.sites[link.from];
    for (index, record) in from.records().enumerate() {
        let many = count.of(word.get(record));
        if usize::try_from(many).is_ok_and(|many| many > room) {
            let offset = from.range.start + index * from.record.size + link.word.at;
            sink.add(&RUN_RANGE, At::lump(from.row.lump).record(index).offset(offset).field(array), || {
                format!("it has {many} {array}, and room for {room}")
            });
        }
    }
}

/// Numbers in lumps without records, and blocks, each with the index of a record that it belongs to.
fn check_blocks(lumps: &Lumps<'_>, links: &Links<'_>, sink: &mut Sink) {
    for (slot, _, target, places) in &links.places {
        let lump = lumps.all.iter().find(|lump| lump.slot.id == *slot);
        let Some((lump, to)) = lump.zip(links.referred(target)) else { continue };
        for at in places.iter().copied() {
            let number = word(&lump.bytes, at).unwrap_or(-1);
            if !usize::try_from(number).is_ok_and(|number| number < links.sites[to].len()) {
                sink.add(&INDEX_RANGE, At::lump(lump.name).offset(at), || {
                    format!("it refers to record {number} of {target}, which has {}", links.sites[to].len())
                });
            }
        }
    }
    for (slot, name, blocks) in &links.blocks {
        let lump = lumps.all.iter().find(|lump| lump.slot.id == *slot);
        let Some((lump, to)) = lump.zip(links.referred(blocks.lump)) else { continue };
        let len = links.sites[to].len();
        for (nth, block) in (blocks.find)(&lump.bytes).into_iter().flatten().enumerate() {
            let number = word(&lump.bytes, block.at).unwrap_or(-1);
            if usize::try_from(number).is_ok_and(|number| number < len) {
                continue;
            }
            sink.add(&INDEX_RANGE, At::lump(name).record(nth).offset(block.at), || {
                format!("it is for record {number} of {}, which has {len}", blocks.lump)
            });
        }
    }
}

/// Lumps with records for those of another lump, or none.
fn check_parallel(links: &Links<'_>, sink: &mut Sink) {
    for (index, site) in links.sites.iter().enumerate() {
        let Some((to, starts)) = links.shares(index) else { continue };
        let (have, want) = (site.len(), starts.last().copied().unwrap_or(0));
        if have == want || site.parallel.is_some_and(|parallel| parallel.each == Each::Part) {
            continue;
        }
        let (other, counted) = (&links.sites[to], site.parallel.map(|parallel| parallel.each));
        sink.add(&LUMP_PARALLEL, At::lump(&site.name), || match counted {
            Some(Each::Counted(field)) => {
                format!("it has {have} records, and the {field} of {} is {want} in total", other.name)
            }
            Some(Each::Several) => {
                format!("it has {have} records, which is not a multiple of the {} of {}", other.len(), other.name)
            }
            _ => format!("it has {have} records, and {} has {want}", other.name),
        });
    }
}
