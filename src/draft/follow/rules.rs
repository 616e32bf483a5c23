//! What must stay: records with a meaning by their index, pairs, lumps that are found by bytes, limits of engines.

use std::collections::HashSet;

use super::change::{Change, Source};
use super::{Options, refused};
use crate::bsp::{Bsp, Links, Site, Word};
use crate::dialect::Unit;
use crate::error::{Hint, Result};
use crate::record::Order;

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

/// Whether groups of records, and those of a model, stay together in the list that is edited. `fresh` are new records.
pub(super) fn together(links: &Links<'_>, index: usize, change: &Change, fresh: &[u8]) -> Result<()> {
    let site = &links.sites[index];
    if change.is_order()
        && let Some(stretch) = links.stretches(index).into_iter().find(|stretch| {
            let [first, count] = [stretch.start, stretch.len()].map(|number| i64::try_from(number).unwrap_or(i64::MAX));
            change.run(first, count, Order::Free).is_err()
        })
    {
        let message = format!(
            "{}[{}..{}] are those of a model, and would not follow each other: some engines take for a model all from \
             the lowest to the highest number",
            site.name, stretch.start, stretch.end
        );
        return Err(refused(&site.name, message));
    }
    let word = site.grouped.and_then(|field| site.record.field(field)).and_then(|field| {
        let word = Word::of(field.offset, field.shape);
        word.map(|word| (field.name, word))
    });
    let Some((field, word)) = word else { return Ok(()) };
    let new = |source: &Source| match source {
        Source::Old(old) => word.get(site.record(*old)),
        Source::New(new, _) => word.get(fresh.get(new * site.record.size..).unwrap_or_default()),
    };
    if parted(site.records().map(|record| word.get(record))).is_some() {
        return Ok(());
    }
    match parted(change.content.iter().map(new)) {
        None => Ok(()),
        Some(number) => {
            let message = format!(
                "records of {} with the same {field} follow each other, and those with {number} would not: engines \
                 read them as one group",
                site.name
            );
            Err(refused(&site.name, message))
        }
    }
}

/// A number that comes again after others.
fn parted(mut numbers: impl Iterator<Item = i64>) -> Option<i64> {
    let (mut seen, mut last) = (HashSet::new(), None);
    numbers.find(|number| last.replace(*number) != Some(*number) && !seen.insert(*number))
}

/// Whether a list can be edited at all.
pub(super) fn target(links: &Links<'_>, site: &Site<'_>) -> Result<()> {
    let is_other = |lump: &str| links.referred(lump).is_none_or(|to| links.sites[to].name != site.name);
    if let Some(parallel) = site.parallel.filter(|parallel| is_other(parallel.lump)) {
        let message = format!("its records belong to those of {} by their order; edit {0}", parallel.lump);
        return Err(refused(&site.name, message));
    }
    if site.row.order.placed {
        return Err(refused(
            &site.name,
            "the place of each of its records is its meaning: none can move, be added or go",
        ));
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
