//! Files inside of maps and beside them.

use bspkit::content::pak::Pak;
use bspkit::content::palette::Palette;
use bspkit::content::textures::Textures;
use bspkit::content::{bspx, visibility, wad, wal};
use bspkit::file::lzma;
use bspkit_game::aas;
use bspkit_game::assets::{model, particles::Particles, vpk};
use bspkit_ops::lmp;

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
    let _ = wad::Wad::parse(bytes).map(|file| file.has_palettes());
}

pub fn rows(bytes: &[u8]) {
    let row: Vec<u8> = bytes.iter().copied().take(512).collect();
    let packed = visibility::compress(&row);
    assert_eq!(visibility::decompress(&packed, row.len()).ok().map(|(row, _)| row), Some(row));
    let _ = visibility::decompress(bytes, 256);
}

pub fn blocks(bytes: &[u8]) {
    let _ = (bspx::BrushList::parse(bytes).is_ok(), bspx::LightOctree::parse_all(bytes).is_ok());
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

pub fn lumps(bytes: &[u8]) {
    let _ = lmp::LumpFile::parse(bytes);
}

pub fn pictures(bytes: &[u8]) {
    let _ = (wal::Wal::parse(bytes).is_ok(), Palette::read(bytes).is_ok());
}
