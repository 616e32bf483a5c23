//! Records to which nothing refers.

use super::code::UNUSED_RECORDS;
use super::lumps::{Lumps, State};
use super::sink::{At, Sink};
use crate::bsp::Links;
use crate::content::entities::Entities;
use crate::dialect::Role;
use crate::op::unused::Unused;

pub(super) fn check(lumps: &Lumps<'_>, links: &Links<'_>, entities: Option<&Entities<'_>>, sink: &mut Sink) {
    // Whatever is broken may refer to them.
    if sink.leaves_out(&UNUSED_RECORDS)
        || sink.has_errors()
        || !lumps.all.iter().all(|lump| matches!(lump.state, State::Read) && !lump.is_guess)
        || entities.is_none() && lumps.role_lump(Role::Entities).is_some_and(|lump| !lump.bytes.is_empty())
    {
        return;
    }
    // What lumps of unknown content may refer to is not known.
    let unused = Unused::in_links(lumps.bsp, links, entities, &[], &|_| false);
    for list in unused.lists.iter().filter(|list| list.doubts.is_empty()) {
        sink.add(&UNUSED_RECORDS, At::lump(&list.lump), || {
            let name = list.list.strip_prefix(&list.lump).unwrap_or_default().trim_start_matches('.');
            let of = if name.is_empty() { String::new() } else { format!(" of its {name}") };
            format!("nothing refers to {} of {} records{of}; `prune` removes them", list.records.len(), list.total)
        });
    }
}
