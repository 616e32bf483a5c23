//! Files inside of maps and beside them.

use std::io::Cursor;

use bspkit::bytes::escaped;
use bspkit::content::pak::{Order, Pak, Time};
use bspkit::content::palette::{self, Palette};
use bspkit::content::textures::Textures;
use bspkit::content::{bspx, visibility, wad, wal};
use bspkit::file::lzma;
use bspkit_game::assets::{model, particles::Particles, vpk};
use bspkit_game::{Archive, aas};
use bspkit_packed::Form;

pub fn pak(bytes: &[u8]) {
    let Ok(mut pak) = Pak::parse(bytes) else { return };
    let read = |pak: &Pak<'_>| pak.iter().map(|file| file.data().map(|data| data.to_vec()).ok()).collect::<Vec<_>>();
    let before = read(&pak);
    if pak.add("own/new.txt", "new").is_ok() {
        // A damaged one may refuse to be written.
        let Ok(rope) = pak.to_rope() else { return };
        let bytes: Vec<u8> = rope.parts().flat_map(|part| part.to_vec()).collect();
        let again = Pak::parse(bytes).expect("it opens");
        let added = again.one("own/new.txt").expect("the new file is there");
        let mut after = read(&again);
        if after.len() == before.len() + 1 {
            after.remove(added);
            assert_eq!(after, before);
        }
    }
}

/// A number of edits: the files that are not edited keep their bytes, and the result can be read.
pub fn pak_edits(bytes: &[u8]) {
    let mut choices = super::edits::Choices::of(bytes);
    let all = super::all_maps().iter().filter(|map| map.pak().is_ok_and(|pak| !pak.is_empty())).collect::<Vec<_>>();
    let mut draft = all[choices.below(all.len())].draft();
    let Ok(pak) = draft.pak() else { return };
    edit_pak(pak, &mut choices);
    check_edited(pak);
}

/// The same for a zip of its own.
pub fn made_zips(bytes: &[u8]) {
    let mut choices = super::edits::Choices::of(bytes);
    let bytes = super::zips::zip(&mut choices).build();
    pak(&bytes);
    let Ok(mut pak) = Pak::parse(bytes) else { return };
    pak.check(1);
    edit_pak(&mut pak, &mut choices);
    check_edited(&pak);
}

/// A number of edits.
pub fn edit_pak(pak: &mut Pak<'_>, choices: &mut super::edits::Choices<'_>) {
    for _ in 0..=choices.below(8) {
        let (one, most) = (choices.below(pak.len()), 1 << choices.below(12));
        let _ = match choices.below(9) {
            0 => pak.add(format!("own/{}.txt", choices.below(6)), vec![7; choices.below(most)]).map(drop),
            1 => pak.remove(&[one]),
            2 => pak.rename(one, format!("own/renamed_{}.txt", choices.below(6))),
            3 => pak.replace(one, vec![choices.below(256) as u8; choices.below(most)]),
            4 => pak.compress(&(0..pak.len()).collect::<Vec<_>>(), 1, lzma::Level::default()).map(drop),
            5 => pak.store(&[one], 1).map(drop),
            6 => pak.set_time(&[one], Time::NONE),
            7 => pak.sort([Order::Name, Order::Type, Order::Size][choices.below(3)]),
            _ => {
                pak.check(1);
                Ok(())
            }
        };
    }
}

/// What is written has the same files.
fn check_edited(pak: &Pak<'_>) {
    let files = |pak: &Pak<'_>| {
        pak.iter().map(|file| (file.name().to_vec(), file.data().map(|it| it.to_vec()).ok())).collect::<Vec<_>>()
    };
    let Ok(rope) = pak.to_rope() else { return };
    assert!(files(&Pak::parse(rope.to_data()).expect("it opens")) == files(pak), "other files");
}

/// Compressed maps: what comes out can be written and read again.
pub fn compressed_maps(bytes: &[u8]) {
    for form in [Form::Gzip, Form::Bzip2, Form::Zstd] {
        let Ok(map) = form.unpack(bytes) else { continue };
        // A few bytes may become very many.
        let map = &map[..map.len().min(1 << 20)];
        let mut packed = Vec::new();
        form.pack(map, &mut packed).expect("memory takes it");
        assert!(form.unpack(&packed[..]).is_ok_and(|again| again == map), "{form:?}");
    }
}

/// Archives: each name that is listed can be looked for.
pub fn archives_of_maps(bytes: &[u8]) {
    for name in ["a.pk3", "a.pak"] {
        let Ok(archive) = Archive::over(name.as_ref(), Cursor::new(bytes.to_vec())) else { continue };
        for name in archive.names().take(8) {
            let read = archive.read_exactly(name, 1 << 20);
            assert!(!read.is_ok_and(|found| found.is_none()), "{} is listed", escaped(name));
        }
        for name in archive.normal_names().take(8) {
            let _ = archive.read(name, 1 << 20);
        }
    }
}

pub fn packed(bytes: &[u8]) {
    let _ = lzma::decompressed_size(bytes)
        .filter(|size| *size < 1 << 24)
        .map(|_| lzma::decompress(bytes).map(|it| it.len()));
}

pub fn textures(bytes: &[u8]) {
    let Ok(all) = Textures::parse(bytes) else { return };
    for index in 0..all.len() {
        let _ = all.get(index).map(|texture| texture.map(|texture| texture.name().len()));
    }
    assert_eq!(all.to_bytes().ok().as_deref(), Some(bytes));
}

pub fn wads(bytes: &[u8]) {
    let Ok(file) = wad::Wad::parse(bytes) else { return };
    let mut copy = wad::Wad::new(file.has_palettes());
    for at in 0..file.entries().len() {
        let _ = file.miptex(at).and_then(|texture| copy.add(&texture));
    }
    assert!(wad::Wad::parse(copy.to_bytes()).is_ok());
}

pub fn rows(bytes: &[u8]) {
    let row: Vec<u8> = bytes.iter().copied().take(512).collect();
    let packed = visibility::compress(&row);
    assert_eq!(visibility::decompress(&packed, row.len()).ok().map(|(row, _)| row), Some(row));
    let _ = visibility::decompress(bytes, 256);
}

pub fn blocks(bytes: &[u8]) {
    if let Ok(list) = bspx::BrushList::parse(bytes) {
        assert!(bytes.starts_with(&list.to_bytes()), "other brushes");
        let _ = (0..list.len()).map(|model| list.brushes(model).count()).sum::<usize>();
    }
    let all = bspx::LightOctree::parse(bytes).into_iter();
    for tree in all.chain(bspx::LightOctree::parse_all(bytes).unwrap_or_default()) {
        let _ = (tree.fault(), tree.rest().len());
        let own = tree.to_bytes();
        let again = bspx::LightOctree::parse(&own[..]).ok().filter(|again| again.to_bytes() == own);
        // Those of several grids have sides, of which the bytes of one say nothing.
        assert!(again.is_some() || tree.leaf_points(0).any(|point| point.samples().next().is_some()), "other light");
        for leaf in (0..tree.len()).take(64) {
            let at = tree.leaf(leaf).map(|head| head.mins.map(|number| u32::try_from(number).unwrap_or(0)));
            let _ = at.map(|at| tree.at(at).is_ok());
            let _ = tree
                .leaf_points(leaf)
                .take(64)
                .filter(|point| point.is_occluded() || point.samples().count() > 0)
                .count();
        }
    }
}

pub fn game_models(bytes: &[u8]) {
    let _ = (model::Model::parse(bytes), model::replacements(bytes), model::physics_text(bytes));
}

pub fn particles(bytes: &[u8]) {
    let _ = Particles::parse(bytes);
}

pub fn archives(bytes: &[u8]) {
    let _ = vpk::Vpk::parse(bytes);
}

pub fn areas(bytes: &[u8]) {
    if let Ok(sum) = aas::checksum(bytes) {
        let mut copy = bytes.to_vec();
        assert!(aas::set_checksum(&mut copy, sum).is_ok() && copy == bytes);
    }
}

pub fn pictures(bytes: &[u8]) {
    let _ = (wal::Wal::parse(bytes).map(|wal| wal.pixels(0).map(<[u8]>::len)), Palette::read(bytes).is_ok());
    let pixels: Vec<[u8; 3]> = bytes.chunks_exact(3).take(4096).map(|it| [it[0], it[1], it[2]]).collect();
    let palette = palette::quantize(&pixels, 1 + bytes.len() % 256);
    assert_eq!(palette::reduce(&pixels, &palette).len(), pixels.len());
}
