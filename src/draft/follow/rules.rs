//! What must stay: records with a meaning by their index, pairs, lumps that are found by bytes, limits of engines.

use super::change::{Change, Source};
use super::{Options, refused};
use crate::bsp::{Bsp, Links, Site};
use crate::dialect::Unit;
use crate::error::{Hint, Result};

/// Whether the records of a list may come into this order.
pub(super) fn order(site: &Site<'_>, change: &Change) -> Result<()> {
    let fixed = site.row.order.fixed.min(site.len());
    if let Some(moved) = (0..fixed).find(|index| change.place(*index) != Some(*index)) {
        let message =
            format!("{}[{moved}] has a meaning by its number, so that it can neither move nor be removed", site.name);
        return Err(refused(&site.name, message));
    }
    if site.is_paired() {
        return pairs(site, change);
    }
    Ok(())
}

/// Pairs stay pairs, and the even one of each stays even.
fn pairs(site: &Site<'_>, change: &Change) -> Result<()> {
    let whole = change.len().is_multiple_of(2);
    let broken = change.content.chunks(2).position(|pair| match pair {
        [Source::Old(even), Source::Old(odd)] => !(even.is_multiple_of(2) && even + 1 == *odd),
        [Source::New(..), Source::New(..)] => false,
        // One of a pair may be replaced in its place.
        [Source::Old(even), Source::New(..)] => !even.is_multiple_of(2),
        [Source::New(..), Source::Old(odd)] => odd.is_multiple_of(2),
        _ => true,
    });
    match broken.filter(|_| change.len() > 0).or((!whole).then_some(change.len() / 2)) {
        None => Ok(()),
        Some(pair) => {
            let message = format!(
                "{} come in opposite pairs, an even number and the next one, and {} would not be one",
                site.name,
                2 * pair
            );
            Err(refused(&site.name, message))
        }
    }
}

/// Whether a list can be edited at all.
pub(super) fn target(links: &Links<'_>, site: &Site<'_>) -> Result<()> {
    let is_other = |lump: &str| links.referred(lump).is_none_or(|to| links.sites[to].name != site.name);
    if let Some(parallel) = site.parallel.filter(|parallel| is_other(parallel.lump)) {
        let message = format!("its records belong to those of {} by their order; edit {0}", parallel.lump);
        return Err(refused(&site.name, message));
    }
    match links.offsets.contains(&site.row.lump) {
        true => Err(refused(&site.name, "others refer to bytes in it, not to records: its records cannot move")),
        false => Ok(()),
    }
}

/// What may be wrong after the edit: the error, or warnings if it is forced.
pub(super) fn doubts(
    map: &Bsp<'_>,
    links: &Links<'_>,
    changes: &[(usize, &Change)],
    options: &Options,
) -> Result<Vec<String>> {
    let mut doubts = Vec::new();
    for (index, change) in changes {
        let site = &links.sites[*index];
        let moves = (0..change.old_len()).any(|index| change.place(index) != Some(index));
        for (name, why) in links.doubts(*index).filter(|_| moves) {
            doubts.push((site, format!("{name} may refer to {}, and cannot follow: {why}", site.name)));
        }
        let engine = map.dialect().engine(map.version());
        let limits = engine.into_iter().flat_map(|engine| engine.limits.iter().map(move |limit| (engine, limit)));
        for (engine, limit) in limits.filter(|(_, limit)| limit.lump == site.name && limit.unit == Unit::Records) {
            if change.len() > limit.most && change.len() > change.old_len() {
                let message = format!(
                    "{} would have {} records, and {} reads at most {}",
                    site.name,
                    change.len(),
                    engine.title,
                    limit.most
                );
                doubts.push((site, message));
            }
        }
    }
    match doubts.first() {
        Some((site, message)) if !options.force => Err(refused(&site.name, message).with_hint(Hint::Force)),
        _ => {
            let mut warnings: Vec<String> = doubts.into_iter().map(|(_, message)| message).collect();
            warnings.dedup();
            Ok(warnings)
        }
    }
}
