//! Broken inputs: each opens without loss or is refused with one sentence that says what it is.
//!
//! The files stand in `tests/broken`, made here from the fixtures and the builder, so that anybody can try the
//! program on them; what is said of each stands in `tests/golden/broken.txt`. `BLESS=1` writes both anew.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use bspkit::dialect;
use bspkit::file::directory::EntryFields;
use bspkit::verify;
use bspkit::{Bsp, Builder, Layout};

const TEXT: &[u8] = b"{\n\"classname\" \"worldspawn\"\n}\n\0";

fn fields(offset: i32, length: i32) -> EntryFields {
    EntryFields { offset, length, version: Some(0), unpacked: Some(0) }
}

fn quake2(text: &[u8]) -> Builder {
    Builder::new(&dialect::QUAKE2).lump(1, [1; 40]).lump(0, text)
}

fn source() -> Builder {
    Builder::new(&dialect::SOURCE).lump(1, [1; 40]).lump(0, TEXT)
}

/// A Tactical Intervention map: a Source map combined with a key of 32 bytes.
fn encrypted() -> Vec<u8> {
    let key: Vec<u8> = (1..=32).map(|byte: u8| byte.wrapping_mul(37)).collect();
    source().build().unwrap().iter().zip(key.iter().cycle()).map(|(byte, key)| byte ^ key).collect()
}

fn overwritten(mut bytes: Vec<u8>, at: usize, with: &[u8]) -> Vec<u8> {
    bytes[at..at + with.len()].copy_from_slice(with);
    bytes
}

/// Every file of the folder: its name and its bytes.
fn inputs() -> Vec<(&'static str, Vec<u8>)> {
    let build = |builder: Builder| builder.build().unwrap();
    let plain = build(quake2(TEXT));
    let packed = build(source().compressed_lump(0, TEXT).unwrap());
    let entities = Bsp::parse(&packed).unwrap().slots()[0].stored.start;
    let with_members = build(source().game_lump(*b"sprp", 6, [5; 9]));
    let members = Bsp::parse(&with_members).unwrap().slots()[35].stored.start;
    let bspx = build(quake2(TEXT).bspx("RGBLIGHTING", [7; 5]));
    let block = bspx.windows(4).position(|window| window == b"BSPX").unwrap();
    vec![
        ("empty.bsp", Vec::new()),
        ("one_byte.bsp", vec![30]),
        ("noise.bsp", (0..=255_u8).map(|byte| byte.wrapping_mul(113) ^ 85).collect()),
        ("text.bsp", b"// the source of a map\n{\n\"classname\" \"worldspawn\"\n}\n".to_vec()),
        ("web_page.bsp", b"<!DOCTYPE html><title>404</title>".to_vec()),
        ("git_lfs.bsp", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 0\n".to_vec()),
        ("zip.bsp", b"PK\x03\x04 and so on".to_vec()),
        ("bzip2.bsp", b"BZh91AY&SY".to_vec()),
        ("model.bsp", b"IDP3\x0f\0\0\0".to_vec()),
        ("respawn.bsp", b"rBSP\x25\0\0\0\x01\0\0\0\x7f\0\0\0".to_vec()),
        ("encrypted.bsp", encrypted()),
        ("unknown_version.bsp", b"IBSP\x63\0\0\0".to_vec()),
        // Quake's version behind an ident.
        ("version_of_quake.bsp", [&b"IBSP\x1d\0\0\0"[..], &[0; 200]].concat()),
        ("quake_2_world.bsp", [&b"IBSP\x45\0\0\0"[..], &[0; 200]].concat()),
        ("header_cut.bsp", plain[..100].to_vec()),
        ("header_alone.bsp", plain[..160].to_vec()),
        ("file_cut.bsp", plain[..plain.len() - 9].to_vec()),
        ("entities_overrun.bsp", build(quake2(TEXT).entry(0, fields(200, 40)))),
        ("lump_far_away.bsp", build(quake2(TEXT).entry(13, fields(1 << 30, 48)))),
        ("lump_negative.bsp", build(quake2(TEXT).entry(13, fields(-4, 48)).entry(14, fields(160, -1)))),
        ("lump_in_header.bsp", build(quake2(TEXT).entry(13, fields(4, 48)))),
        ("lumps_shared.bsp", build(quake2(TEXT).entry(13, fields(160, 40)))),
        ("lumps_overlap.bsp", build(quake2(TEXT).entry(13, fields(180, 40)))),
        ("quote_open.bsp", build(quake2(b"{\n\"classname\" \"worldspawn\n}\n\0"))),
        ("quotes_flipped.bsp", build(quake2(b"{\n\"classname\" worldspawn\"\n\"a\" \"b\"\n}\n\0"))),
        ("brace_open.bsp", build(quake2(b"{\n\"classname\" \"worldspawn\"\n\0"))),
        ("key_alone.bsp", build(quake2(b"{\n\"classname\" \"worldspawn\"\n\"wait\"\n}\n\0"))),
        ("no_nul.bsp", build(quake2(&TEXT[..TEXT.len() - 1]))),
        ("two_nuls.bsp", build(quake2(&[TEXT, b"\0"].concat()))),
        ("space_for_nul.bsp", build(quake2(&[&TEXT[..TEXT.len() - 1], b" "].concat()))),
        ("lzma_lies.bsp", overwritten(packed.clone(), entities + 4, &[0xFF, 0xFF, 0xFF, 0x02])),
        ("lzma_cut.bsp", overwritten(packed, entities + 8, &[4, 0, 0, 0])),
        ("game_lump_outside.bsp", overwritten(with_members.clone(), members + 12, &[0xFF, 0xFF, 0, 0])),
        ("game_lump_endless.bsp", overwritten(with_members, members, &[0xFF, 0xFF, 0xFF, 0x7F])),
        ("bspx_entry_overrun.bsp", overwritten(bspx.clone(), block + 36, &[0xFF, 0xFF, 0, 0])),
        ("bspx_cut.bsp", bspx[..block + 20].to_vec()),
    ]
}

/// What the library says of an input.
fn verdict(bytes: &[u8]) -> String {
    let map = match Bsp::parse(bytes) {
        Ok(map) => map,
        Err(error) => return format!("{:?}: {error}", error.kind()),
    };
    let mut out = format!("{} opens", map.dialect().name);
    for slot in map.container().damaged() {
        write!(out, "\n  {} {}", slot.name, slot.bounds).unwrap();
    }
    for slot in map.slots() {
        if let Some(reason) = map.container().pinned(slot.id) {
            write!(out, "\n  {} is pinned: {reason}", slot.name).unwrap();
        }
    }
    match map.entities() {
        Ok(entities) => {
            entities.diagnostics().iter().for_each(|odd| write!(out, "\n  {odd}").unwrap());
        }
        Err(error) => write!(out, "\n  no entities: {error}").unwrap(),
    }
    let mut draft = map.draft();
    let edit = draft.entities().and_then(|entities| entities.first_class("worldspawn")?.set("message", "The Place"));
    match edit.and_then(|()| draft.plan(Layout::Keep)) {
        Ok(plan) => {
            write!(out, "\n  an edit: {}", plan.report()).unwrap();
            plan.needs_force().into_iter().for_each(|why| write!(out, ", by force alone: {why}").unwrap());
        }
        Err(error) => write!(out, "\n  no edit: {error}").unwrap(),
    }
    out
}

#[test]
fn each_opens_or_is_named() {
    let bless = std::env::var_os("BLESS").is_some();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken");
    let mut said = String::new();
    for (name, bytes) in inputs() {
        let path = folder.join(name);
        if bless {
            fs::write(&path, &bytes).unwrap();
        }
        assert_eq!(fs::read(&path).unwrap(), bytes, "{name} is not what this test makes");
        writeln!(said, "{name}: {}", verdict(&bytes)).unwrap();
    }
    let golden = folder.join("../golden/broken.txt");
    if bless {
        fs::write(&golden, &said).unwrap();
    }
    assert_eq!(fs::read_to_string(&golden).unwrap(), said);
}

#[test]
fn no_law_is_broken_on_any() {
    for (name, bytes) in inputs() {
        if let Ok(map) = Bsp::parse(&bytes) {
            let outcome = verify::run(&map);
            assert!(outcome.is_ok(), "{name}: {outcome:?}");
        }
    }
}

#[test]
fn every_prefix_of_a_map_opens_or_is_named() {
    for fixture in ["q1/own_box.bsp", "bsp2/own_box.bsp", "q2/own_box.bsp", "q3/own_box.bsp", "goldsrc/own_box.bsp"] {
        let bytes = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/maps").join(fixture)).unwrap();
        for end in (0..bytes.len()).step_by(bytes.len() / 97) {
            if let Ok(map) = Bsp::parse(&bytes[..end]) {
                let outcome = verify::run(&map);
                assert!(outcome.is_ok(), "{fixture} cut at {end}: {outcome:?}");
            }
        }
    }
}
