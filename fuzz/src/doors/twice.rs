//! The same thing done in two ways that share no code: mapped and read, pest and a plain tokenizer, our zip and the crate
//! zip, our LZMA and liblzma, both byte orders, the size of light by a rule of its own.

use std::io::{Read, Write};
use std::path::PathBuf;

use bspkit::bytes::ByteOrder;
use bspkit::content::entities::Entities;
use bspkit::content::pak::Pak;
use bspkit::dialect::{EntityRules, LightModel, TextSyntax};
use bspkit::file::lzma;
use bspkit::record::{Number, Shape};
use bspkit::{Bsp, Layout};

// Files that are read, and files that are mapped.

/// A file of this process that maps are written to.
pub fn scratch() -> PathBuf {
    let fast = PathBuf::from("/dev/shm");
    let folder = if fast.is_dir() { fast } else { std::env::temp_dir() };
    folder.join(format!("bspkit-doors-{}-{:?}.bsp", std::process::id(), std::thread::current().id()))
}

/// A mapped file and a file in memory are the same map, and are saved as the same bytes after the same edit.
pub fn mapped(bytes: &[u8]) {
    let path = scratch();
    std::fs::write(&path, bytes).expect("the file can be written");
    let found = (Bsp::parse(bytes), Bsp::open_mapped(&path, None));
    let _ = std::fs::remove_file(&path);
    let (read, mapped) = match found {
        (Ok(read), Ok(mapped)) => (read, mapped),
        (Err(one), Err(other)) => return assert_eq!(one.kind(), other.kind(), "{one}; {other}"),
        (one, other) => panic!("{:?} {:?}", one.err(), other.err()),
    };
    assert_eq!(read.dialect().name, mapped.dialect().name);
    assert_eq!(read.slots().len(), mapped.slots().len());
    for (one, other) in read.slots().iter().zip(mapped.slots()) {
        let bytes = [(&read, one), (&mapped, other)].map(|(map, slot)| map.bytes(slot.id).map(|it| it.to_vec()).ok());
        assert!(one.id == other.id && bytes[0] == bytes[1], "{}", one.name);
    }
    let edited = |map: &Bsp<'_>| {
        let mut draft = map.draft();
        draft.entities()?.add([("classname", "light"), ("origin", "0 0 0")])?;
        draft.plan(Layout::Keep).map(|plan| plan.to_vec())
    };
    match (edited(&read), edited(&mapped)) {
        (Ok(one), Ok(other)) => assert!(one == other, "other bytes are saved"),
        (one, other) => assert_eq!(one.err().map(|it| it.to_string()), other.err().map(|it| it.to_string())),
    }
}

// Entity texts by a tokenizer letter by letter.

type Pairs = Vec<Vec<(Vec<u8>, Vec<u8>)>>;

/// The next token from `at` on, with its end: quotes are part of it.
fn token<'t>(text: &'t [u8], mut at: usize, syntax: &TextSyntax) -> Option<(&'t [u8], usize)> {
    let byte = |at: usize| text.get(at).copied();
    let is_blank = |byte: u8| byte <= b' ' || syntax.high_blanks && byte >= 0x80;
    let first = loop {
        let here = byte(at)?;
        if is_blank(here) {
            at += 1;
        } else if text[at..].starts_with(b"//") {
            while byte(at).is_some_and(|here| here != b'\n') {
                at += 1;
            }
        } else if syntax.block_comments && text[at..].starts_with(b"/*") {
            at += 2;
            while at < text.len() && !text[at..].starts_with(b"*/") {
                at += 1;
            }
            at = (at + 2).min(text.len());
        } else {
            break here;
        }
    };
    let start = at;
    at += 1;
    if first == b'"' {
        while let Some(here) = byte(at) {
            at += 1;
            match here {
                b'"' => break,
                b'\\' if byte(at).is_some_and(|next| syntax.escaped.contains(&next)) => at += 1,
                _ => {}
            }
        }
    } else if !syntax.single_tokens.contains(&first) {
        while byte(at).is_some_and(|here| !is_blank(here) && !syntax.single_tokens.contains(&here)) {
            at += 1;
        }
    }
    Some((&text[start..at], at))
}

/// The content of a token: without quotes.
fn content(token: &[u8], syntax: &TextSyntax) -> Vec<u8> {
    let Some(inside) = token.strip_prefix(b"\"") else { return token.to_vec() };
    let Some(bare) = inside.strip_suffix(b"\"") else { return inside.to_vec() };
    // The last quote may be escaped: the text ends within the string.
    let mut at = 0;
    while at < bare.len() {
        let escapes = bare[at] == b'\\' && inside.get(at + 1).is_some_and(|next| syntax.escaped.contains(next));
        at += 1 + usize::from(escapes);
    }
    if at > bare.len() { inside.to_vec() } else { bare.to_vec() }
}

/// The pairs of each entity.
fn plain(text: &[u8], syntax: &TextSyntax) -> Pairs {
    let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
    let (mut all, mut open, mut key, mut at) = (Pairs::new(), None::<Vec<_>>, None, 0);
    while let Some((token, end)) = token(text, at, syntax) {
        at = end;
        let is_quoted = token[0] == b'"';
        let first = token.get(usize::from(is_quoted));
        if first == Some(&b'{') && (open.is_none() || token.len() == 1) {
            all.extend(open.replace(Vec::new()));
            key = None;
        } else if first == Some(&b'}') && (!is_quoted || open.is_some() && key.is_none()) {
            all.extend(open.take());
            key = None;
        } else if let Some(pairs) = &mut open {
            match key.take() {
                None => key = Some(content(token, syntax)),
                Some(key) => pairs.push((key, content(token, syntax))),
            }
        }
    }
    all.extend(open);
    all
}

/// The grammar finds the pairs that a plain tokenizer finds, for every syntax.
pub fn tokens(bytes: &[u8]) {
    let every = [
        EntityRules::QUAKE,
        EntityRules::GOLDSRC,
        EntityRules::QUAKE2,
        EntityRules::QFUSION,
        EntityRules::QUAKE3,
        EntityRules::SOURCE,
        EntityRules::BLOODLINES,
        EntityRules::STRATA,
    ];
    for rules in every {
        let Ok(all) = Entities::parse(bytes, rules) else { continue };
        let found: Pairs = all
            .iter()
            .map(|entity| entity.pairs().map(|pair| (pair.key.to_vec(), pair.value.to_vec())).collect())
            .collect();
        let wanted = plain(bytes, &rules.syntax);
        let at = found.iter().zip(&wanted).position(|(one, other)| one != other).unwrap_or(found.len());
        assert!(found == wanted, "{}, entity {at}: {:?} {:?}", rules.engines, found.get(at), wanted.get(at));
    }
}

// Pakfiles.

/// The files of an archive by the crate zip, in the order of the directory; `None` if it cannot read all of them.
fn by_zip(bytes: &[u8]) -> Option<Vec<(Vec<u8>, Vec<u8>)>> {
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).ok()?;
    let mut files = Vec::new();
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).ok()?;
        let mut data = Vec::new();
        file.by_ref().take(1 << 20).read_to_end(&mut data).ok()?;
        files.push((file.name_raw().to_vec(), data));
    }
    Some(files)
}

/// Whether the directory ends where the record of its end begins: readers search for other archives in different ways.
fn is_in_place(bytes: &[u8]) -> bool {
    let Some(end) = bytes.windows(4).rposition(|it| it == b"PK\x05\x06") else { return false };
    let word = |at: usize| bytes.get(at..at + 4).map_or(0, |it| u64::from(bits(it, false)));
    word(end + 12) + word(end + 16) == end as u64
}

/// What we write after an edit has the files that the crate zip reads, if it read the old ones as we did.
pub fn zips(bytes: &[u8]) {
    let ours = |pak: &Pak<'_>| {
        pak.iter().map(|file| Some((file.name().to_vec(), file.data().ok()?.to_vec()))).collect::<Option<Vec<_>>>()
    };
    let (Ok(mut pak), Some(theirs)) = (Pak::parse(bytes), by_zip(bytes)) else { return };
    // Archives that zip readers disagree about are damaged, and a name that is there twice is one file to that crate.
    if !is_in_place(bytes) || ours(&pak).is_none_or(|ours| ours != theirs) {
        return;
    }
    let done =
        pak.add("own/new.txt", "new").and_then(|_| if pak.len() > 1 { pak.remove(&[0]).map(drop) } else { Ok(()) });
    let (Ok(()), Ok(rope)) = (done, pak.to_rope()) else { return };
    let bytes: Vec<u8> = rope.parts().flat_map(|part| part.to_vec()).collect();
    assert_eq!(by_zip(&bytes).expect("the crate zip reads it"), ours(&pak).expect("we read it"));
}

// LZMA.

/// The header of an LZMA file (`.lzma`) from that of a compressed lump: `LZMA`, the size, the packed size, 5 properties.
fn alone(lump: &[u8]) -> Option<Vec<u8>> {
    let (header, data) = lump.split_at_checked(17)?;
    let mut file = header[12..].to_vec();
    file.extend(u64::from(u32::from_le_bytes([header[4], header[5], header[6], header[7]])).to_le_bytes());
    file.extend(data);
    Some(file)
}

/// liblzma reads what we compress, and we read what liblzma compresses.
pub fn codecs(bytes: &[u8]) {
    let level = lzma::Level::new(bytes.first().map_or(6, |byte| byte % 10)).expect("a level");
    let Ok(packed) = lzma::compress(bytes, level) else { return };
    let mut unpacked = Vec::new();
    let stream = liblzma::stream::Stream::new_lzma_decoder(u64::MAX).expect("a decoder");
    let file = alone(&packed).expect("a header");
    liblzma::read::XzDecoder::new_stream(&file[..], stream).read_to_end(&mut unpacked).expect("liblzma reads it");
    assert!(unpacked == bytes, "liblzma reads other bytes");

    let options = liblzma::stream::LzmaOptions::new_preset(1).expect("a preset");
    let stream = liblzma::stream::Stream::new_lzma_encoder(&options).expect("an encoder");
    let mut encoder = liblzma::write::XzEncoder::new_stream(Vec::new(), stream);
    encoder.write_all(bytes).expect("liblzma compresses it");
    let theirs = encoder.finish().expect("liblzma compresses it");
    let size = |size: usize| u32::try_from(size).unwrap_or(0).to_le_bytes();
    let lump = [b"LZMA", &size(bytes.len())[..], &size(theirs.len() - 13), &theirs[..5], &theirs[13..]].concat();
    assert!(lzma::decompress(&lump).expect("we read it") == bytes, "we read other bytes");
}

// Byte orders.

/// The numbers of a shape, each by its offset.
fn numbers(shape: Shape, start: usize, found: &mut Vec<(usize, Number)>) {
    match shape {
        Shape::Number(number) => found.push((start, number)),
        Shape::Array(item, count) => (0..count).for_each(|at| numbers(*item, start + at * item.size(), found)),
        Shape::Record(fields) => fields.iter().for_each(|field| numbers(field.shape, start + field.offset, found)),
        _ => {}
    }
}

/// The bits of a number, which has 1, 2 or 4 bytes in one of both orders.
fn bits(bytes: &[u8], is_big: bool) -> u32 {
    let add = |sum: u32, byte: &u8| sum << 8 | u32::from(*byte);
    if is_big { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) }
}

/// In a big-endian map each number of a record is the one that its bytes are in their own order.
pub fn byte_orders(bytes: &[u8]) {
    let Ok(map) = Bsp::parse(bytes) else { return };
    if map.byte_order() == ByteOrder::Little {
        return;
    }
    for slot in map.slots() {
        let (Ok(lists), Ok(stored)) = (map.lists(&slot.name), map.bytes(slot.id)) else { continue };
        for list in &lists {
            let mut wanted = Vec::new();
            list.info().fields.iter().for_each(|field| numbers(field.shape, field.offset, &mut wanted));
            for index in 0..list.len() {
                let (Some(place), Some(record)) = (list.place(index), list.get(index)) else { continue };
                for (offset, number) in &wanted {
                    let own = |bytes: &[u8], start: usize, is_big| {
                        bits(&bytes[start + offset..start + offset + number.size()], is_big)
                    };
                    let [one, other] = [own(&stored, place.start, true), own(record, 0, false)];
                    assert_eq!(one, other, "{}[{index}], byte {offset}", list.name());
                }
            }
        }
    }
}

// Light.

/// Columns and rows of a face's light: steps of 16 texels from the least to the greatest corner, computed from records by
/// the names of their fields.
fn sizes(map: &Bsp<'_>) -> Result<Vec<Option<[i64; 2]>>, bspkit::Error> {
    let faces = map.records("FACES")?;
    let [first, count, texinfo] = faces.columns(["first_edge", "edge_count", "texinfo"])?;
    let (surfedges, edges) = (map.records("SURFEDGES")?, map.records("EDGES")?);
    let (vertexes, textures) = (map.records("VERTEXES")?, map.records("TEXINFO")?);
    let [edge] = surfedges.columns(["edge"])?;
    let [ends] = edges.columns(["vertexes"])?;
    let [point] = vertexes.columns(["point"])?;
    let [vectors] = textures.columns(["vectors"])?;
    let place = |number: i64, len: usize| usize::try_from(number).ok().filter(|at| *at < len);
    let size = |face: usize| {
        let texture = place(texinfo.get(face), textures.len())?;
        let (mut least, mut most) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for at in 0..count.get(face) {
            let number = edge.get(place(first.get(face) + at, surfedges.len())?);
            let end = ends.item(place(number.abs(), edges.len())?, usize::from(number < 0));
            let vertex = place(end, vertexes.len())?;
            for axis in 0..2 {
                let factor = |item: usize| f64::from(vectors.float(texture, axis * 4 + item));
                let product = |item: usize| f64::from(point.float(vertex, item)) * factor(item);
                // Engines keep the sum in single precision, and divide it there.
                let sum = product(0) + product(1) + product(2) + factor(3);
                #[expect(clippy::cast_possible_truncation)]
                let sum = f64::from(sum as f32 / 16.0);
                least[axis] = least[axis].min(sum);
                most[axis] = most[axis].max(sum);
            }
        }
        let sane = |value: f64| value.abs() < 6_000.0;
        if !least.iter().chain(&most).all(|value| sane(*value)) {
            return None;
        }
        #[expect(clippy::cast_possible_truncation)]
        let luxels = |axis: usize| (most[axis].ceil() - least[axis].floor()) as i64 + 1;
        Some([luxels(0), luxels(1)])
    };
    Ok((0..faces.len()).map(size).collect())
}

/// The light of a face has the size that another rule gives.
pub fn light_sizes(bytes: &[u8]) {
    let Ok(map) = Bsp::parse(bytes) else { return };
    if !matches!(map.dialect().light, LightModel::Faces(light) if light.by_extents) {
        return;
    }
    let (Ok(found), Ok(wanted)) = (map.face_sizes(), sizes(&map)) else { return };
    for (face, [columns, rows]) in found {
        let Some(wanted) = wanted.get(face).copied().flatten() else { continue };
        let found = [columns, rows].map(|size| i64::try_from(size).unwrap_or(-1));
        assert_eq!(found, wanted, "face {face} of {}", map.dialect().name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each comparison was made, and not left out for another reason, on the maps of the project.
    #[test]
    fn comparisons_of_all_maps_happen() {
        let maps = super::super::all_maps();
        let lit = maps.iter().filter_map(|map| Some((map.face_sizes().ok()?.len(), sizes(map).ok()?.len())));
        assert!(lit.filter(|(one, other)| *one > 0 && *other > 0).count() > 5);
        assert!(maps.iter().any(|map| map.byte_order() == ByteOrder::Big));
        let paks = maps.iter().filter_map(|map| Some(map.bytes(map.slot("PAKFILE").ok()?.id).ok()?.to_vec()));
        assert!(paks.filter(|pak| by_zip(pak).is_some_and(|files| !files.is_empty())).count() > 2);
    }

    #[test]
    fn an_archive_or_map_of_another_kind_is_an_error_of_both() {
        let error = Bsp::parse(b"none").unwrap_err();
        assert_eq!(error.kind(), bspkit::ErrorKind::NotABsp);
        mapped(b"none");
    }

    #[test]
    fn plain_tokens_are_what_engines_read() {
        let text = b"{ key \"a b\" \"q\\\"x\" y } // {\n{\"}\" 1 a}b /* { */";
        let pair = |key: &[u8], value: &[u8]| (key.to_vec(), value.to_vec());
        let all = plain(text, &EntityRules::BLOODLINES.syntax);
        assert_eq!(all[0], [pair(b"key", b"a b"), pair(b"q\\\"x", b"y")]);
    }
}
