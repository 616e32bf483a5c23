//! Light as bytes: which bytes of a lump only some faces have, and a lump without some of its bytes.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::cut::Cut;
use bspkit::bytes::word;
use bspkit::content::lightmap::Light;
use bspkit::file::SlotId;
use bspkit::links::{Links, Site};
use bspkit::record::{Cell, Meaning};
use bspkit::{Bsp, Draft, Result};

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
/// another face cannot be read are left out, lumps that go together, and those that a lump of unknown content may be
/// for.
pub(crate) fn only_of(
    map: &Bsp<'_>,
    links: &Links<'_>,
    is_it: impl Fn(usize) -> bool,
) -> Result<BTreeMap<&'static str, Cut>> {
    let mut found: BTreeMap<&'static str, Vec<(Range<usize>, bool)>> = BTreeMap::new();
    let mut unknown = Vec::new();
    let light = map.lens::<Light<'_>>()?;
    for set in light.sets().iter().filter(|set| !set.is_pages()) {
        if !links.sites.iter().any(|site| !offsets(map, site, set.lump()).is_empty()) {
            continue;
        }
        let is_unknown = links.unknown_of(set.lump()).next().is_some();
        if is_unknown || set.faults().iter().any(|fault| !is_it(fault.face)) || is_shared(map, links, set.lump()) {
            unknown.push(set.lump());
        }
        let blocks = set.blocks().iter().map(|block| (block.whole(), is_it(block.index())));
        let claims = set.claims().iter().map(|(face, bytes)| (bytes.clone(), is_it(*face)));
        found.entry(set.lump()).or_default().extend(blocks.chain(claims));
    }
    found.retain(|lump, _| !unknown.contains(lump));
    let cut = |(lump, blocks)| Ok((lump, Cut::new(only(blocks), map.little_endian(map.slot(lump)?.id)?.len())));
    found.into_iter().map(cut).collect()
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

/// Removes a part of a lump with light; offsets into it, and lumps that run parallel, follow. A face without light
/// whose offset would be the end of the lump has none. The number of bytes that were removed, in all lumps; 0 if a
/// parallel lump has no whole records for them.
pub(crate) fn cut(draft: &mut Draft<'_>, lump: &str, cut: &Cut) -> Result<usize> {
    let map = draft.view()?.unwrap_or_else(|| draft.bsp().clone());
    let links = map.links()?;
    let Ok(slot) = map.slot(lump) else { return Ok(0) };
    let (mut new, mut removed): (BTreeMap<SlotId, Vec<u8>>, usize) = (BTreeMap::new(), cut.count());
    for site in &links.sites {
        if site.parallel.is_some_and(|parallel| parallel.lump == lump) && !site.is_empty() {
            let Some(own) = cut.parallel(site.bytes.len(), site.record.size) else { return Ok(0) };
            removed += own.count();
            new.insert(site.slot, own.left(&site.bytes));
        }
        let fields = offsets(&map, site, lump);
        if fields.is_empty() {
            continue;
        }
        let bytes = new.entry(site.slot).or_insert_with(|| site.bytes.to_vec());
        for record in bytes[site.range.clone()].chunks_exact_mut(site.record.size) {
            for at in &fields {
                let Some(old) = word(record, *at).map(i64::from) else { continue };
                let followed = if cut.takes_end(old) { -1 } else { cut.offset(old) };
                record[*at..at + 4].copy_from_slice(&i32::try_from(followed).unwrap_or(-1).to_le_bytes());
            }
        }
    }
    new.insert(slot.id, cut.left(&map.little_endian(slot.id)?));
    draft.transaction(|draft| new.into_iter().try_for_each(|(slot, bytes)| draft.set_little_endian(slot, bytes)))?;
    Ok(removed)
}
