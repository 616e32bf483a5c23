//! Rules of Source: displacements, names of textures, and how the collision models end.

use super::code::{PHYS_END, STRING_PLACE};
use super::lumps::Lumps;
use super::sink::{At, Sink};
use crate::bytes::word;

pub(super) fn check(lumps: &Lumps<'_>, sink: &mut Sink) {
    check_strings(lumps, sink);
    check_physics(lumps, sink);
}

/// The table says where in the strings each name begins.
fn check_strings(lumps: &Lumps<'_>, sink: &mut Sink) {
    let (Some(table), Some(strings)) = (lumps.named("TEXDATA_STRING_TABLE"), lumps.lump("TEXDATA_STRING_DATA")) else {
        return;
    };
    let len = strings.bytes.len();
    for (index, entry) in table.bytes.chunks_exact(table.record.size).enumerate() {
        let offset = word(entry, 0).unwrap_or(0);
        if !usize::try_from(offset).is_ok_and(|offset| offset < len) {
            let at = At::lump(table.name).record(index).offset(index * table.record.size);
            sink.add(&STRING_PLACE, at, || format!("it begins at {offset}, and {} has {len} bytes", strings.name));
        }
    }
}

/// Collision models stand one behind the other; one with the number -1 ends them.
fn check_physics(lumps: &Lumps<'_>, sink: &mut Sink) {
    let Some(lump) = lumps.lump("PHYSCOLLIDE").filter(|lump| !lump.bytes.is_empty()) else { return };
    let mut at = 0;
    loop {
        let number = |index: usize| word(&lump.bytes, at + index * 4);
        let header = number(3).and_then(|_| Some((number(0)?, number(1)?, number(2)?)));
        match header {
            Some((-1, ..)) => return,
            Some((model, data, keys)) => {
                let size = |size: i32| usize::try_from(size).ok();
                let next =
                    size(data).zip(size(keys)).and_then(|(data, keys)| (at + 16).checked_add(data)?.checked_add(keys));
                match next.filter(|next| *next <= lump.bytes.len()) {
                    Some(next) => at = next,
                    None => {
                        return sink.add(&PHYS_END, At::lump(lump.name).offset(at), || {
                            format!("the collision model of model {model} goes beyond the lump")
                        });
                    }
                }
            }
            None => {
                return sink.add(&PHYS_END, At::lump(lump.name).offset(at), || {
                    "the lump ends without the entry of model -1".into()
                });
            }
        }
    }
}
