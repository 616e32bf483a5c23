//! Luxels of no face.

use super::cut::{Cut, cut, offsets};
use super::{Options, Pruned, now};
use crate::bsp::Links;
use crate::bytes::Data;
use crate::draft::Draft;
use crate::error::Result;
use crate::file::SlotId;

pub(super) fn prune(draft: &mut Draft<'_>, options: &Options, pruned: &mut Pruned) -> Result<()> {
    let map = now(draft)?;
    let Some(light) = Some(()).filter(|()| options.light).and_then(|()| map.light().ok()) else { return Ok(()) };
    let mut lumps: Vec<&str> = light.sets().iter().filter(|set| !set.is_pages()).map(|set| set.lump()).collect();
    lumps.dedup();
    let links = map.links()?;
    for lump in lumps.into_iter().filter(|lump| !options.keeps(lump)) {
        let Some(slot) = map.slots().iter().find(|slot| slot.name == lump) else { continue };
        let sets = || light.sets().iter().filter(|set| set.lump() == lump);
        // Offsets of copies are those of the luxels that they are copies of, and go with these.
        if offsets(&links, lump).is_empty() {
            continue;
        }
        let faults = sets().map(|set| set.faults().len()).sum::<usize>();
        if faults > 0 {
            pruned.warnings.push(format!("{lump} stays: the light of {faults} faces cannot be found"));
            continue;
        }
        let kept: Vec<_> = sets().flat_map(|set| set.blocks()).map(|block| block.whole()).collect();
        let bytes = map.little_endian(slot.id)?;
        let gone = Cut::all_but(kept.clone(), bytes.len());
        // Without any luxels a map is as bright as can be.
        if gone.is_nothing() || kept.is_empty() {
            continue;
        }
        let Some(copies) = copies(&links, lump, &bytes, &gone) else {
            pruned
                .warnings
                .push(format!("{lump} stays: a lump runs parallel to it, sample by sample, and cannot follow"));
            continue;
        };
        cut(draft, &links, slot.id, lump, &bytes, &gone)?;
        copies.into_iter().try_for_each(|(slot, bytes)| draft.set_little_endian(slot, bytes))?;
    }
    Ok(())
}

/// What is left of lumps that run parallel; `None` if their samples are not those of the lump.
fn copies(links: &Links<'_>, lump: &str, bytes: &Data<'_>, gone: &Cut) -> Option<Vec<(SlotId, Vec<u8>)>> {
    let sites = links.sites.iter().filter(|site| site.parallel.is_some_and(|parallel| parallel.lump == lump));
    let copy = |site: &crate::bsp::Site<'_>| {
        let sample = bytes.len().checked_div(site.len())?;
        let fits = sample > 0 && bytes.len() == sample * site.len() && gone.is_whole(sample);
        fits.then(|| (site.slot, gone.apply(&site.bytes, sample, site.record.size)))
    };
    sites.map(copy).collect()
}
