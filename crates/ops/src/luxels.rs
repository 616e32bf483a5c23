//! Light as bytes: which bytes of a lump only some faces have, and a lump without some of its bytes.

use std::collections::BTreeMap;
use std::ops::Range;

use bspkit::bytes::word;
use bspkit::content::lightmap::Light;
use bspkit::file::SlotId;
use bspkit::links::{Links, Site};
use bspkit::record::{Cell, Meaning};
use bspkit::{Bsp, Draft, Result};

/// Offsets of light that a reader of other light sizes goes by: how much light follows them is not known.
const UNSIZED: &str = "bspx:LMOFFSET";

/// Whether the faces of one list have light in this lump and in another one, at the same offsets: neither can change
/// alone.
pub(crate) fn is_shared(map: &Bsp<'_>, links: &Links<'_>, lump: &str) -> bool {
    let offsets =
        links.sites.iter().flat_map(|site| Cell::meant(site.record.fields).into_iter().map(move |cell| (site, cell)));
    offsets
        .filter_map(|(site, cell)| match cell.meaning {
            Meaning::Offset { lump: usual } => Some(map.offset_lumps(site.row, usual)),
            _ => None,
        })
        .any(|lumps| lumps.len() > 1 && lumps.contains(&lump))
}

/// Where in each record of a list offsets into a lump are.
pub(crate) fn offsets(map: &Bsp<'_>, site: &Site<'_>, lump: &str) -> Vec<usize> {
    let cells = Cell::all(site.record.fields).into_iter().filter(|cell| cell.place.len() == 4);
    let is_it = |cell: &Cell| match cell.meaning {
        Meaning::Offset { lump: usual } => map.offset_lumps(site.row, usual).contains(&lump),
        _ => false,
    };
    cells.filter(is_it).map(|cell| cell.place.start).collect()
}

/// The bytes of each lump with light that only the faces have for which `is_it` is true. Lumps in which the light of
/// another face cannot be read are left out, and lumps that go together.
pub(crate) fn only_of(
    map: &Bsp<'_>,
    links: &Links<'_>,
    is_it: impl Fn(usize) -> bool,
) -> Result<BTreeMap<&'static str, Vec<Range<usize>>>> {
    let mut found: BTreeMap<&'static str, Vec<(Range<usize>, bool)>> = BTreeMap::new();
    let mut unknown = Vec::new();
    let is_unsized = links.site(UNSIZED).is_some_and(|site| !links.sites[site].is_empty());
    let light = map.lens::<Light<'_>>()?;
    for set in light.sets().iter().filter(|set| !set.is_pages() && !is_unsized) {
        if !links.sites.iter().any(|site| !offsets(map, site, set.lump()).is_empty()) {
            continue;
        }
        if set.faults().iter().any(|fault| !is_it(fault.face)) || is_shared(map, links, set.lump()) {
            unknown.push(set.lump());
        }
        let blocks = set.blocks().iter().map(|block| (block.whole(), is_it(block.index())));
        found.entry(set.lump()).or_default().extend(blocks);
    }
    found.retain(|lump, _| !unknown.contains(lump));
    Ok(found.into_iter().map(|(lump, blocks)| (lump, only(blocks))).collect())
}

/// The ranges that are true, without those that overlap one that is not.
fn only(mut blocks: Vec<(Range<usize>, bool)>) -> Vec<Range<usize>> {
    blocks.sort_by_key(|(range, _)| (range.start, range.end));
    let (mut found, mut blocks) = (Vec::new(), blocks.into_iter().peekable());
    while let Some((mut range, mut is_it)) = blocks.next() {
        while let Some((next, also)) = blocks.next_if(|(next, _)| next.start < range.end) {
            range.end = range.end.max(next.end);
            is_it &= also;
        }
        if is_it {
            found.push(range);
        }
    }
    found
}

/// Removes ranges of a lump with light, which are in order; offsets into it, and lumps that run parallel, follow. The
/// number of bytes that were removed, in all lumps; 0 if a parallel lump has no whole records for them.
pub(crate) fn cut(draft: &mut Draft<'_>, lump: &str, gone: &[Range<usize>]) -> Result<usize> {
    let map = draft.view()?.unwrap_or_else(|| draft.bsp().clone());
    let links = map.links()?;
    let Ok(slot) = map.slot(lump) else { return Ok(0) };
    let old = map.little_endian(slot.id)?;
    // How many bytes go before each range.
    let sums = gone.iter().scan(0, |sum, range| {
        *sum += range.len();
        Some(*sum - range.len())
    });
    let sums: Vec<usize> = sums.collect();
    let before = |offset: usize| {
        let next = gone.partition_point(|range| range.start < offset);
        let last = next.checked_sub(1).map(|last| sums[last] + gone[last].end.min(offset) - gone[last].start);
        last.unwrap_or(0)
    };
    let (mut new, mut removed): (BTreeMap<SlotId, Vec<u8>>, usize) =
        (BTreeMap::new(), gone.iter().map(Range::len).sum());
    for site in &links.sites {
        if site.parallel.is_some_and(|parallel| parallel.lump == lump) && !site.is_empty() {
            let scaled = |at: usize| {
                let scaled = at.checked_mul(site.bytes.len())?;
                scaled.is_multiple_of(old.len()).then(|| scaled / old.len())
            };
            let ranges = gone.iter().map(|range| Some(scaled(range.start)?..scaled(range.end)?));
            match ranges.collect::<Option<Vec<_>>>() {
                Some(ranges) => {
                    removed += ranges.iter().map(Range::len).sum::<usize>();
                    new.insert(site.slot, without(&site.bytes, &ranges));
                }
                None => return Ok(0),
            }
        }
        let fields = offsets(&map, site, lump);
        if fields.is_empty() {
            continue;
        }
        let bytes = new.entry(site.slot).or_insert_with(|| site.bytes.to_vec());
        for record in bytes[site.range.clone()].chunks_exact_mut(site.record.size) {
            for at in &fields {
                let offset = word(record, *at).and_then(|offset| usize::try_from(offset).ok());
                let Some(offset) = offset.filter(|offset| *offset <= old.len()) else { continue };
                let followed = u32::try_from(offset - before(offset)).unwrap_or(u32::MAX);
                record[*at..at + 4].copy_from_slice(&followed.to_le_bytes());
            }
        }
    }
    new.insert(slot.id, without(&old, gone));
    draft.transaction(|draft| new.into_iter().try_for_each(|(slot, bytes)| draft.set_little_endian(slot, bytes)))?;
    Ok(removed)
}

/// The bytes outside of the ranges.
fn without(bytes: &[u8], gone: &[Range<usize>]) -> Vec<u8> {
    let (mut kept, mut at) = (Vec::with_capacity(bytes.len()), 0);
    for range in gone {
        kept.extend_from_slice(bytes.get(at..range.start).unwrap_or_default());
        at = range.end;
    }
    kept.extend_from_slice(bytes.get(at..).unwrap_or_default());
    kept
}
