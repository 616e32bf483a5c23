//! Collision models: whether their blocks end, and whether solids have the number and size that is stated.

use super::code::{LUMP_PARALLEL, PHYS_END, PHYS_SOLIDS};
use super::lumps::{Lump, Lumps};
use super::sink::{At, Sink};
use crate::bsp::Links;
use crate::bytes::word;
use crate::content::physics::{PhysDisp, Physics};
use crate::error::ErrorKind;

pub(super) fn check(lumps: &Lumps<'_>, links: &Links<'_>, sink: &mut Sink) {
    if let Some(lump) = lumps.lump("PHYSCOLLIDE").filter(|lump| !lump.bytes.is_empty()) {
        check_end(lump, sink);
        // A lump that cannot be read at all has lost its end.
        if let Ok(physics) = Physics::parse(lump.bytes.clone()) {
            for index in 0..physics.len() {
                if let Some(error) = physics.solids(index).err() {
                    sink.add(&PHYS_SOLIDS, At::lump(lump.name).record(index), || error.to_string());
                }
            }
        }
    }
    for (slot, name, parallel) in &links.parts {
        let lump = lumps.all.iter().find(|lump| lump.slot.id == *slot && !lump.bytes.is_empty());
        let Some((lump, to)) = lump.zip(links.referred(parallel.lump)) else { continue };
        let (at, count) = (At::lump(name), links.sites[to].len());
        match PhysDisp::parse(lump.bytes.clone(), lump.slot.version.unwrap_or(0)) {
            Ok(solids) if !solids.is_empty() && solids.len() != count => sink.add(&LUMP_PARALLEL, at, || {
                format!("it has solids of {} records, and {} has {count}", solids.len(), parallel.lump)
            }),
            Err(error) if error.kind() == ErrorKind::Malformed => sink.add(&PHYS_SOLIDS, at, || error.to_string()),
            _ => {}
        }
    }
}

/// Collision models are one after the other, each with four numbers before it: its model, the bytes of its solids, the
/// bytes of its text, and the number of solids. An entry with the model -1 ends them.
fn check_end(lump: &Lump<'_>, sink: &mut Sink) {
    const HEADER: usize = 16;
    let mut at = 0;
    loop {
        let number = |index: usize| word(&lump.bytes, at + index * 4);
        let header = number(3).and_then(|_| Some((number(0)?, number(1)?, number(2)?)));
        let place = At::lump(lump.name).offset(at);
        let Some((model, data, keys)) = header else {
            return sink.add(&PHYS_END, place, || "the lump ends without the entry of model -1".into());
        };
        if model == -1 {
            return;
        }
        let size = |size: i32| usize::try_from(size).ok();
        let sizes = size(data).zip(size(keys));
        let next = sizes.and_then(|(data, keys)| (at + HEADER).checked_add(data)?.checked_add(keys));
        let Some(next) = next.filter(|next| *next <= lump.bytes.len()) else {
            return sink.add(&PHYS_END, place, || format!("the solids of model {model} go beyond the lump"));
        };
        at = next;
    }
}
