//! Rules for embedded files and textures.

use std::collections::BTreeSet;

use super::code::{COMPRESSION, COUNT, FILE, SIZE, TEXTURE};
use super::{Compressed, Glob, Policy};
use crate::bsp::Bsp;
use crate::bytes::escaped;
use crate::content::pak::{Method, Pak};
use crate::dialect::Role;
use crate::op::check::{At, Sink};

pub(super) fn check(bsp: &Bsp<'_>, policy: &Policy, sink: &mut Sink) {
    check_files(bsp, policy, sink);
    check_textures(bsp, policy, sink);
}

fn check_files(bsp: &Bsp<'_>, policy: &Policy, sink: &mut Sink) {
    let rules = &policy.files;
    // Only some dialects have embedded files.
    let Some(slot) = bsp.role(Role::Pak) else { return };
    let at = At::lump(&slot.name);
    if let Some(most) = rules.max_bytes.filter(|most| slot.stored.len() > *most) {
        sink.add(&SIZE, at, || format!("it has {} bytes, and at most {most} are allowed", slot.stored.len()));
    }
    let Ok(pak) = bsp.pak() else { return };
    if let Some(most) = rules.max_count.filter(|most| pak.len() > *most) {
        sink.add(&COUNT, at, || format!("it has {} files, and at most {most} are allowed", pak.len()));
    }
    for glob in rules.required.iter().filter(|glob| pak.select(&glob.pattern).is_empty()) {
        sink.add(&FILE, at, || format!("no file matches {}, which is required", glob.text));
    }
    for entry in pak.iter() {
        let (at, name) = (at.record(entry.index()), || escaped(entry.name()));
        if let Some(glob) = matching(&rules.forbidden, entry.name()) {
            sink.add(&FILE, at, || format!("`{}` matches {}, which is forbidden", name(), glob.text));
        }
        if !rules.allowed.is_empty() && matching(&rules.allowed, entry.name()).is_none() {
            sink.add(&FILE, at, || format!("`{}` is not allowed", name()));
        }
        if rules.lower_case && entry.name().iter().any(u8::is_ascii_uppercase) {
            sink.add(&FILE, at, || format!("the name `{}` has upper case letters", name()));
        }
    }
    check_compression(&pak, at, rules.compression, sink);
}

fn check_compression(pak: &Pak<'_>, at: At<'_>, wanted: Option<Compressed>, sink: &mut Sink) {
    let Some(wanted) = wanted else { return };
    let mut compressed = pak.clone();
    let all: Vec<usize> = (0..pak.len()).collect();
    // A pakfile of a console cannot be compressed.
    if wanted == Compressed::Required && compressed.compress(&all, 1).is_err() {
        return;
    }
    for (entry, after) in pak.iter().zip(compressed.iter()) {
        let (at, name) = (at.record(entry.index()), || escaped(entry.name()));
        match wanted {
            Compressed::Forbidden if entry.method() != Method::Stored => {
                sink.add(&COMPRESSION, at, || format!("`{}` is compressed, which is forbidden", name()));
            }
            Compressed::Required if entry.method() != after.method() => {
                sink.add(&COMPRESSION, at, || format!("`{}` is not compressed, which is required", name()));
            }
            _ => {}
        }
    }
}

fn check_textures(bsp: &Bsp<'_>, policy: &Policy, sink: &mut Sink) {
    let rules = &policy.textures;
    if *rules == Default::default() {
        return;
    }
    let Ok(names) = bsp.texture_names() else { return };
    let mut seen = BTreeSet::new();
    for texture in names.iter().filter(|texture| texture.problem.is_none()) {
        if !seen.insert(texture.name.to_ascii_lowercase()) {
            continue;
        }
        let (at, name) = (At::lump(&texture.lump).record(texture.index), || escaped(&texture.name).to_string());
        if let Some(glob) = matching(&rules.forbidden, &texture.name) {
            sink.add(&TEXTURE, at, || format!("`{}` matches {}, which is forbidden", name(), glob.text));
        }
        if !rules.allowed.is_empty() && matching(&rules.allowed, &texture.name).is_none() {
            sink.add(&TEXTURE, at, || format!("`{}` is not allowed", name()));
        }
    }
}

fn matching<'g>(globs: &'g [Glob], name: &[u8]) -> Option<&'g Glob> {
    globs.iter().find(|glob| glob.pattern.matches(name))
}
