//! Rules for the file, its lumps and the limits of engines.

use super::code::{COMPRESSION, DIALECT, LIMIT, LUMP, NAME, SIZE, STALE};
use super::{Compressed, Policy};
use crate::SegmentKind;
use crate::bsp::Bsp;
use crate::bytes::escaped;
use crate::op::check::{At, Sink, Usage, usage};
use crate::op::compress::{self, compress};

/// Shorter runs of letters between lumps are accidents.
const LEAST_TEXT: usize = 16;
/// How much of a text a message shows, in bytes.
const SHOWN: usize = 40;

pub(super) fn check(bsp: &Bsp<'_>, name: &str, policy: &Policy, sink: &mut Sink) {
    check_map(bsp, name, policy, sink);
    if policy.map.no_stale_text {
        check_gaps(bsp, sink);
    }
    for wanted in &policy.lumps.required {
        if bsp.slot(wanted).map_or(true, |slot| slot.stored.is_empty()) {
            sink.add(&LUMP, At::default(), || format!("the lump {wanted} is required, and is empty or not there"));
        }
    }
    for unwanted in &policy.lumps.forbidden {
        if let Some(slot) = bsp.slot(unwanted).ok().filter(|slot| !slot.stored.is_empty()) {
            sink.add(&LUMP, At::lump(&slot.name), || format!("it is forbidden and has {} bytes", slot.stored.len()));
        }
    }
    check_compression(bsp, policy.lumps.compression, sink);
    if let (Some(margin), Some(engine)) = (policy.limits.margin, policy.engine(bsp)) {
        for Usage { limit, count, .. } in usage(bsp, engine) {
            let free = limit.most.saturating_sub(count);
            if count > limit.most || free.saturating_mul(100) < limit.most.saturating_mul(margin) {
                sink.add(&LIMIT, At::lump(limit.lump), || {
                    let (unit, title, most) = (limit.unit, engine.title, limit.most);
                    format!("it has {count} {unit}; {title} accepts {most}, and {margin}% must be free")
                });
            }
        }
    }
}

fn check_map(bsp: &Bsp<'_>, name: &str, policy: &Policy, sink: &mut Sink) {
    let rules = &policy.map;
    let at = At::default();
    if !rules.names.is_empty() && !rules.names.iter().any(|glob| glob.pattern.matches(name)) {
        let names: Vec<&str> = rules.names.iter().map(|glob| &*glob.text).collect();
        sink.add(&NAME, at, || format!("the name `{}` matches none of {}", escaped(name.as_bytes()), names.join(", ")));
    }
    if rules.lower_case && name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        sink.add(&NAME, at, || format!("the name `{}` has upper case letters", escaped(name.as_bytes())));
    }
    if !rules.dialects.is_empty() && !rules.dialects.contains(&bsp.dialect()) {
        let allowed: Vec<&str> = rules.dialects.iter().map(|dialect| dialect.name).collect();
        let message = || format!("the dialect is {}, and {} is allowed", bsp.dialect().name, allowed.join(" or "));
        sink.add(&DIALECT, at, message);
    }
    let size = bsp.container().bytes().len();
    if let Some(most) = rules.max_bytes.filter(|most| size > *most) {
        sink.add(&SIZE, at, || format!("the file has {size} bytes, and at most {most} are allowed"));
    }
}

/// Finds text with a quote in bytes that no lump has, between lumps or after the last one. What is directly after the
/// header is the mark of a compiler.
fn check_gaps(bsp: &Bsp<'_>, sink: &mut Sink) {
    let segments = bsp.container().segments();
    let is_gap = |kind| matches!(kind, SegmentKind::Gap | SegmentKind::BspxGap | SegmentKind::Tail);
    let after_header = segments.iter().position(|segment| segment.kind != SegmentKind::Header);
    let gaps =
        segments.iter().enumerate().filter(|(index, segment)| is_gap(segment.kind) && Some(*index) != after_header);
    for (_, gap) in gaps {
        let bytes = &bsp.container().bytes()[gap.range.clone()];
        let is_text = |byte: &u8| matches!(byte, b' '..=b'~' | b'\t' | b'\r' | b'\n');
        let mut at = 0;
        for run in bytes.split(|byte| !is_text(byte)) {
            let start = gap.range.start + at;
            at += run.len() + 1;
            if run.len() >= LEAST_TEXT && run.contains(&b'"') {
                let (begin, size) = (escaped(&run[..run.len().min(SHOWN)]), run.len());
                sink.add(&STALE, At::default().offset(start), || format!("{size} bytes of text in no lump: `{begin}`"));
            }
        }
    }
}

fn check_compression(bsp: &Bsp<'_>, wanted: Option<Compressed>, sink: &mut Sink) {
    match wanted {
        None => {}
        Some(Compressed::Forbidden) => {
            for slot in bsp.slots().iter().filter(|slot| bsp.decompressed_size(slot.id).is_some()) {
                sink.add(&COMPRESSION, At::lump(&slot.name), || "it is compressed, which is forbidden".to_owned());
            }
        }
        Some(Compressed::Required) => {
            let mut draft = bsp.draft();
            // Maps of dialects without compression have nothing to compress.
            let Ok(report) = compress(&mut draft, &compress::Options::default()) else { return };
            for piece in report.changed() {
                let (old, new) = piece.sizes;
                let message = || format!("it is not compressed, which is required: {old} bytes would be {new}");
                sink.add(&COMPRESSION, At::lump(&piece.name), message);
            }
        }
    }
}
