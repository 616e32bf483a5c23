//! The texture lump of Quake and GoldSrc: a count, the offset of each texture, and the textures (`dmiptexlump_t`,
//! `miptex_t`); the names of Source's textures.
//!
//! An offset of -1 is a missing texture; offsets of 0 within a texture mean that its pixels are in a WAD file. Both are
//! legal in GoldSrc. Quake's engines read no WAD file: they take what follows the header for pixels.

use super::code::{
    INDEX_RANGE, STRING_PLACE, TEXTURE_FRAMES, TEXTURE_MIPS, TEXTURE_NAME, TEXTURE_NONE, TEXTURE_PIXELS, TEXTURE_PLACE,
    TEXTURE_SIZE,
};
use super::lumps::Lumps;
use super::sink::{At, Sink};
use crate::bytes::{escaped, wide, word};
use crate::content::textures::frames;
use crate::dialect::{Form, Role};

/// `miptex_t`: a name of 16 bytes, width, height, and the offsets of its four pictures.
const HEADER: usize = 40;
const HEADER_SIZE: u64 = 40;
/// The number of colours and 256 colours, after the pictures.
const PALETTE: u64 = 2 + 768;

pub(super) fn check(lumps: &Lumps<'_>, sink: &mut Sink) {
    check_strings(lumps, sink);
    check_pictures(lumps, sink);
}

fn check_pictures(lumps: &Lumps<'_>, sink: &mut Sink) {
    let Some(lump) = lumps.role_lump(Role::Textures) else { return };
    if lump.bytes.is_empty() {
        let texinfos = lumps.role(Role::TexInfo).filter(|view| view.len() > 0 && view.column("texture").is_some());
        if let (Some(texinfos), 0) = (texinfos, lump.slot.length) {
            let count = texinfos.len();
            sink.add(&TEXTURE_NONE, At::lump(lump.name), || format!("it is empty, and {count} texinfos name textures"));
        }
        return;
    }
    let palette = match lump.row.as_ref().map(|row| row.form) {
        Ok(Form::Lens("textures")) => PALETTE,
        Ok(Form::Lens("textures without palettes")) => 0,
        _ => return,
    };
    let bytes: &[u8] = &lump.bytes;
    let Some(count) = word(bytes, 0) else { return };
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
            names.push((name.to_vec(), (texture, start.unwrap_or(0))));
        }
        let name = || escaped(header[..16].split(|byte| *byte == 0).next().unwrap_or_default()).to_string();
        let at = at.offset(start.unwrap_or(0));
        if width % 16 != 0 || height % 16 != 0 {
            sink.add(&TEXTURE_SIZE, at, || format!("`{}` is {width} by {height} pixels", name()));
        }
        // A product of two 32-bit numbers; with the smaller sizes it can exceed 64 bits.
        let area = width * height;
        let mips = [0, area, (area / 4).saturating_mul(5), (area / 16).saturating_mul(21)]
            .map(|size| size.saturating_add(HEADER_SIZE));
        if pixels != 0 && width % 16 == 0 && height % 16 == 0 && [24, 28, 32, 36].map(number) != mips {
            sink.add(&TEXTURE_MIPS, at.offset(start.unwrap_or(0) + 24), || {
                format!("the sizes of `{}` begin at {:?}, not at {mips:?}", name(), [24, 28, 32, 36].map(number))
            });
        }
        if pixels == 0 && area > 0 && palette == 0 {
            sink.add(&TEXTURE_PIXELS, at, || {
                format!("`{}` is {width} by {height} pixels, and none of them are here", name())
            });
        }
        let size = area.saturating_mul(85) / 64;
        let end = wide(start.unwrap_or(0) + HEADER).saturating_add(size).saturating_add(palette);
        if pixels != 0 && end > wide(bytes.len()) {
            sink.add(&TEXTURE_PLACE, at, || {
                format!("the pixels and colours of `{}` end at {end}, and the lump has {} bytes", name(), bytes.len())
            });
        }
    }
    check_frames(lump.name, &names, sink);
}

/// Faults of animation frames at which engines stop.
fn check_frames(lump: &str, names: &[(Vec<u8>, (usize, usize))], sink: &mut Sink) {
    for ((texture, start), fault) in frames::faults(names) {
        let at = At::lump(lump).record(texture).offset(start);
        sink.add(&TEXTURE_FRAMES, at, || fault.to_string());
    }
}

/// The textures that texinfos refer to must be in the directory; the engine stops at one that is not.
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

/// The bytes of a texture's name with its NUL (`TEXTURE_NAME_LENGTH`).
const MOST_NAME: usize = 128;

/// The table has the offset of each name in the strings.
fn check_strings(lumps: &Lumps<'_>, sink: &mut Sink) {
    let (Some(table), Some(strings)) = (lumps.named("TEXDATA_STRING_TABLE"), lumps.lump("TEXDATA_STRING_DATA")) else {
        return;
    };
    let Some(offsets) = table.column("offset") else { return };
    let len = strings.bytes.len();
    for index in 0..table.len() {
        let offset = offsets.get(index);
        if !usize::try_from(offset).is_ok_and(|offset| offset < len) {
            let at = At::lump(table.name).record(index).offset(offsets.at(index)).field("offset");
            sink.add(&STRING_PLACE, at, || format!("it begins at {offset}, and {} has {len} bytes", strings.name));
            continue;
        }
        let rest = usize::try_from(offset).ok().and_then(|offset| strings.bytes.get(offset..)).unwrap_or_default();
        let at = At::lump(table.name).record(index).offset(offsets.at(index)).field("offset");
        match rest.iter().take(MOST_NAME).position(|byte| *byte == 0) {
            Some(_) => {}
            None if rest.len() < MOST_NAME => {
                sink.add(&STRING_PLACE, at, || format!("no NUL ends the name at {offset} of {}", strings.name));
            }
            None => sink.add(&TEXTURE_NAME, at, || format!("its name has more than {} bytes", MOST_NAME - 1)),
        }
    }
}
