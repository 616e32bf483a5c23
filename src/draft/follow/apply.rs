//! Computes all that an edit changes, and puts it into the draft.

use std::collections::BTreeMap;

use super::change::{Change, Source};
use super::files::Files;
use super::outside::Outside;
use super::plan::Edit;
use super::rewrite::Rewrite;
use super::{Followed, FollowedField, FollowedRecords, Options, cascade, entities, refused, rules, turn};
use crate::bsp::{Bsp, Links, Site};
use crate::bytes::{Data, Rope};
use crate::dialect::Each;
use crate::draft::Draft;
use crate::error::Result;
use crate::file::SlotId;

/// All lists that change, and the records that are new in them.
pub(super) struct Changes {
    pub(super) of: BTreeMap<usize, Change>,
    pub(super) fresh: BTreeMap<usize, Vec<u8>>,
}

impl<'a> Draft<'a> {
    pub(super) fn follow(
        &mut self,
        options: &Options,
        plan: impl FnOnce(&Links<'a>) -> Result<Edit>,
    ) -> Result<Followed> {
        let map = self.view()?.unwrap_or_else(|| self.bsp.clone());
        let mut links = map.links()?;
        let sites: Vec<String> = links.sites.iter().map(|site| site.name.clone()).collect();
        let is_ignored = |field: String| options.ignored.contains(&field);
        links.links.retain(|link| !is_ignored(format!("{}.{}", sites[link.from], plain(&link.field))));
        links.sites.iter_mut().filter(|site| is_ignored(site.name.clone())).for_each(|site| site.parallel = None);
        links.parts.retain(|(_, name, _)| !is_ignored(name.clone()));
        links.blocks.retain(|(_, name, _)| !is_ignored(name.clone()));
        links.places.retain(|(_, name, lump, _)| !is_ignored(format!("{name}.{}", lump.to_lowercase())));

        let edit = plan(&links)?;
        let mut followed = Followed::default();
        let changes = changes(&map, &links, edit, options, &mut followed)?;
        let mut new = Rewrite { links: &links, changes: &changes, followed: &mut followed }.all()?;
        let mut outside =
            Outside { map: &map, links: &links, changes: &changes, options, new: &mut new, followed: &mut followed };
        outside.places()?;
        outside.blocks()?;
        outside.parts()?;
        if !is_ignored("VISIBILITY".to_owned()) {
            outside.visibility()?;
        }
        if !is_ignored("ENTITIES".to_owned()) {
            entities::follow(outside)?;
        }
        let own = |(slot, bytes)| (slot, map.in_own_order(slot, Data::from(bytes)));
        let new: BTreeMap<SlotId, Data<'a>> = new.into_iter().map(own).collect();
        if changes.of.values().any(|change| change.len() != change.old_len()) {
            check_rows(&map, &new)?;
        }
        let files = Files::of(&map, &links, &changes, &mut followed)?;
        let moved = changes.of.keys().map(|site| links.sites[*site].row.lump.to_owned());
        self.followed.extend(moved.collect::<Vec<_>>());
        self.transaction(|draft| {
            new.into_iter().try_for_each(|(slot, bytes)| draft.set(slot, bytes))?;
            files.apply(draft)
        })?;
        Ok(followed)
    }
}

/// The path of a field without the numbers of items.
pub(crate) fn plain(path: &str) -> String {
    let mut depth = 0;
    let mut is_outside = |c: char| {
        depth += i32::from(c == '[');
        let outside = depth == 0;
        depth -= i32::from(c == ']');
        outside
    };
    path.chars().filter(|c| is_outside(*c)).collect()
}

fn changes(
    map: &Bsp<'_>,
    links: &Links<'_>,
    edit: Edit,
    options: &Options,
    followed: &mut Followed,
) -> Result<Changes> {
    let removed = cascade::close(links, &edit, options)?;
    for site in removed.keys().chain(edit.lists.keys()) {
        rules::target(links, &links.sites[*site])?;
    }
    let mut of = BTreeMap::new();
    for (site, gone) in removed.iter().filter(|(site, _)| !edit.lists.contains_key(site)) {
        let mut content = Vec::with_capacity(gone.len());
        content.extend((0..gone.len()).filter(|index| !gone[*index]).map(Source::Old));
        let change = Change::spliced(gone.len(), content, &[]);
        rules::order(&links.sites[*site], &change)?;
        of.insert(*site, change);
    }
    for (site, change) in edit.changes(links, &removed)? {
        rules::together(links, site, &change, edit.records(site))?;
        of.insert(site, change);
    }
    for link in links.links.iter().filter(|link| edit.lists.contains_key(&link.from) && link.to != link.from) {
        if let Some(change) = of.get(&link.from).and_then(|change| turn::follow(links, link, change)) {
            let [from, to] = [link.from, link.to].map(|site| &links.sites[site]);
            if edit.lists.contains_key(&link.to) {
                let message = format!("its order follows that of {}: give one of them another order", from.name);
                return Err(refused(&to.name, message));
            }
            rules::order(to, &change)?;
            of.insert(link.to, change);
        }
    }
    let listed: Vec<(usize, &Change)> = of.iter().map(|(site, change)| (*site, change)).collect();
    followed.warnings = rules::doubts(map, links, &listed, options)?;
    for (site, change) in listed {
        let count = (0..change.old_len()).filter(|index| change.place(*index) == Some(super::change::GONE)).count();
        if count > 0 {
            followed.removed.push(FollowedRecords { lump: links.sites[site].name.clone(), count });
        }
    }
    let fresh = edit.lists.into_iter().map(|(site, list)| (site, list.records)).collect();
    let mut changes = Changes { of, fresh };
    for (index, site) in links.sites.iter().enumerate() {
        parallel(links, index, site, &mut changes)?;
    }
    changes.of.retain(|_, change| !change.is_nothing());
    Ok(changes)
}

/// The change of a list whose records belong to those of a list that changes.
fn parallel(links: &Links<'_>, index: usize, site: &Site<'_>, changes: &mut Changes) -> Result<()> {
    let Some((parallel, (to, starts))) = site.parallel.zip(links.shares(index)) else { return Ok(()) };
    let Some(change) = changes.of.get(&to).filter(|_| parallel.each != Each::Part) else { return Ok(()) };
    let (master, none) = (&links.sites[to], Vec::new());
    let fresh = changes.fresh.get(&to).unwrap_or(&none);
    let total = starts.last().copied().unwrap_or(0);
    if total != site.len() {
        let message = format!(
            "its {} records belong to those of {}, which call for {total}: it cannot follow them",
            site.len(),
            master.name
        );
        return Err(refused(&site.name, message));
    }
    let new = |record: usize, _: Option<usize>| match parallel.each {
        Each::Several => site.len() / master.len().max(1),
        Each::Counted(field) => master.number(field, fresh.get(record * master.record.size..).unwrap_or_default()),
        _ => 1,
    };
    let own = change.expanded(|old| starts[old]..starts[old + 1], new);
    let mut bytes = Vec::new();
    let size = site.record.size;
    // Those of a twin are the records that were added to the other list.
    let mut others = change.added().into_iter();
    for (_, like) in own.fresh() {
        match (like, parallel.each) {
            (Some(like), _) => bytes.extend_from_slice(site.record(like)),
            (None, Each::Twin) if master.record.size == size => {
                let of = others.next().unwrap_or(0);
                bytes.extend_from_slice(fresh.get(of * size..(of + 1) * size).unwrap_or(&vec![0; size]));
            }
            _ => bytes.extend(parallel.fill.iter().cycle().take(size)),
        }
    }
    changes.of.insert(index, own);
    changes.fresh.insert(index, bytes);
    Ok(())
}

/// Structs that are detected from numbers of records must still be detected.
fn check_rows<'a>(map: &Bsp<'a>, new: &BTreeMap<SlotId, Data<'a>>) -> Result<()> {
    let new = new.iter().map(|(slot, bytes)| (*slot, Rope::from(bytes.clone()))).collect();
    let after = map.pending(&new, &BTreeMap::new());
    for (old, new) in map.slots().iter().zip(after.slots()).filter(|(_, new)| new.length > 0) {
        let Ok(row) = map.row(old) else { continue };
        let why = match after.row(new) {
            // The struct of an empty lump is the first one that it may have.
            Ok(other) if old.length == 0 && !std::ptr::eq(row, other) => "it would have other records".to_owned(),
            Ok(_) => continue,
            Err(why) => why.to_string(),
        };
        let message = format!("after the edit {} could not be read: {why}", row.lump);
        return Err(refused(&old.name, message).with_hint(
            "the struct of a lump is detected from numbers of records that must agree, such as one leaf for each node \
             and model, and one more: one list cannot change alone",
        ));
    }
    Ok(())
}

impl Followed {
    /// Adds what another edit, made after this one, changed.
    #[cfg(feature = "json")]
    pub(crate) fn add(&mut self, other: Followed) {
        other.fields.iter().for_each(|field| self.note(&field.lump, &field.field, field.count));
        self.removed.extend(other.removed);
        self.warnings.extend(other.warnings);
    }

    pub(super) fn note(&mut self, lump: &str, field: &str, count: usize) {
        if count == 0 {
            return;
        }
        let field = plain(field);
        match self.fields.iter_mut().find(|known| known.lump == lump && known.field == field) {
            Some(known) => known.count = known.count.max(count),
            None => self.fields.push(FollowedField { lump: lump.to_owned(), field, count }),
        }
    }
}
