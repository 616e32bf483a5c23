//! The texture lump of GoldSrc: a count, where each texture begins, and the textures (`dmiptexlump_t`, `miptex_t`).
//!
//! An offset of -1 is a texture that is not there, offsets of 0 within one mean that a WAD file has it: both legal.

use super::code::{INDEX_RANGE, TEXTURE_FRAMES, TEXTURE_MIPS, TEXTURE_NONE, TEXTURE_PLACE, TEXTURE_SIZE};
use super::lumps::Lumps;
use super::sink::{At, Sink};
use crate::bytes::{escaped, wide, word};
use crate::dialect::{Form, Role};

/// `miptex_t`: a name of 16 bytes, width, height, and where its four pictures begin.
const HEADER: usize = 40;
const HEADER_SIZE: u64 = 40;
/// The number of colours, 256 of them, behind the pictures.
const PALETTE: u64 = 2 + 768;

pub(super) fn check(lumps: &Lumps<'_>, sink: &mut Sink) {
    let Some(lump) = lumps.role_lump(Role::Textures) else { return };
    if lump.bytes.is_empty() {
        let texinfos = lumps.role(Role::TexInfo).filter(|view| view.len() > 0 && view.column("texture").is_some());
        if let (Some(texinfos), 0) = (texinfos, lump.slot.length) {
            let count = texinfos.len();
            sink.add(&TEXTURE_NONE, At::lump(lump.name), || format!("it is empty, and {count} texinfos name textures"));
        }
        return;
    }
    let is_directory = lump.row.as_ref().is_ok_and(|row| matches!(row.form, Form::Lens("textures")));
    let bytes: &[u8] = &lump.bytes;
    let Some(count) = word(bytes, 0).filter(|_| is_directory) else { return };
    check_uses(lumps, lump.name, i64::from(count), sink);
    let room = (bytes.len() / 4).saturating_sub(1);
    let mut names = Vec::new();
    let Some(count) = usize::try_from(count).ok().filter(|count| *count <= room) else {
        return sink.add(&TEXTURE_PLACE, At::lump(lump.name).offset(0), || {
            format!("its {} bytes have no room for the offsets of {count} textures", bytes.len())
        });
    };
    for texture in 0..count {
        let entry = 4 + texture * 4;
        let offset = word(bytes, entry).unwrap_or(-1);
        if offset == -1 {
            continue;
        }
        let at = At::lump(lump.name).record(texture);
        let start = usize::try_from(offset).ok();
        let Some(header) = start.and_then(|start| bytes.get(start..start.checked_add(HEADER)?)) else {
            sink.add(&TEXTURE_PLACE, at.offset(entry), || {
                format!("it begins at {offset}, and the lump has {} bytes", bytes.len())
            });
            continue;
        };
        let number = |at: usize| word(header, at).map_or(0, |number| u64::from(number.cast_unsigned()));
        let [width, height, pixels] = [number(16), number(20), number(24)];
        if let Some(name) = header[..16].split(|byte| *byte == 0).next().filter(|name| name.starts_with(b"+")) {
            names.push((name.to_ascii_uppercase(), texture, start.unwrap_or(0)));
        }
        let name = || escaped(header[..16].split(|byte| *byte == 0).next().unwrap_or_default()).to_string();
        let at = at.offset(start.unwrap_or(0));
        if width % 16 != 0 || height % 16 != 0 {
            sink.add(&TEXTURE_SIZE, at, || format!("`{}` is {width} by {height} pixels", name()));
        }
        let area = width * height;
        let mips = [HEADER_SIZE, HEADER_SIZE + area, HEADER_SIZE + area / 4 * 5, HEADER_SIZE + area / 16 * 21];
        if pixels != 0 && width % 16 == 0 && height % 16 == 0 && [24, 28, 32, 36].map(number) != mips {
            sink.add(&TEXTURE_MIPS, at.offset(start.unwrap_or(0) + 24), || {
                format!("the sizes of `{}` begin at {:?}, not at {mips:?}", name(), [24, 28, 32, 36].map(number))
            });
        }
        let size = (width * height).saturating_mul(85) / 64;
        let end = wide(start.unwrap_or(0) + HEADER).saturating_add(size).saturating_add(PALETTE);
        if pixels != 0 && end > wide(bytes.len()) {
            sink.add(&TEXTURE_PLACE, at, || {
                format!("the pixels and colours of `{}` go on to {end}, and the lump has {} bytes", name(), bytes.len())
            });
        }
    }
    check_frames(lump.name, names, sink);
}

/// A texture `+0name` is a frame, and so are `+1name` and so on, up to 9; `+Aname` to `+Jname` are those of another state.
/// The engine stops where one is missing before the last.
fn check_frames(lump: &str, mut names: Vec<(Vec<u8>, usize, usize)>, sink: &mut Sink) {
    names.sort_by(|one, other| {
        (&one.0[2.min(one.0.len())..], &one.0).cmp(&(&other.0[2.min(other.0.len())..], &other.0))
    });
    let frame = |name: &[u8]| match name.get(1) {
        Some(digit @ b'0'..=b'9') => Some((0, digit - b'0')),
        Some(letter @ b'A'..=b'J') => Some((1, letter - b'A')),
        _ => None,
    };
    let mut before: Option<(Vec<u8>, (u8, u8))> = None;
    for (name, texture, start) in names {
        let at = At::lump(lump).record(texture).offset(start);
        let shown = || escaped(&name).to_string();
        let Some((state, number)) = frame(&name) else {
            sink.add(&TEXTURE_FRAMES, at, || format!("`{}` is neither frame 0 to 9 nor A to J", shown()));
            continue;
        };
        let rest = name[2..].to_vec();
        let next = match &before {
            Some((of, (same, last))) if *of == rest && *same == state => last + 1,
            _ => 0,
        };
        if number > next {
            sink.add(&TEXTURE_FRAMES, at, || format!("`{}` is there, and the frame before it is not", shown()));
        }
        before = Some((rest, (state, number)));
    }
}

/// The textures that texinfos name are in the directory; the engine stops at one that is not.
fn check_uses(lumps: &Lumps<'_>, name: &str, count: i64, sink: &mut Sink) {
    let Some(texinfos) = lumps.role(Role::TexInfo) else { return };
    let Some(column) = texinfos.column("texture") else { return };
    for index in 0..texinfos.len() {
        let texture = column.get(index);
        if !(0..count).contains(&texture) {
            let at = At::lump(texinfos.name).record(index).offset(column.at(index)).field("texture");
            sink.add(&INDEX_RANGE, at, || format!("texture is {texture}, and {name} has {count}"));
        }
    }
}
