//! Damaged maps: the page is made in bounded time, and is of bounded size.

use std::time::{Duration, Instant};

use bspkit::{Bsp, Draft};

use super::bounded;
use super::pairs::{edited, fixture, page};

/// More than the page of any of these maps takes in a debug build on a busy machine; without bounds they take hours.
const MOST_TIME: Duration = Duration::from_secs(40);

/// The page about a map and the same one with an edit, in both directions.
#[track_caller]
fn ends(name: &str, edit: impl FnOnce(&Bsp<'_>, &mut Draft<'static>)) {
    let old = fixture(name);
    let new = edited(&old, |draft| edit(&old, draft));
    for [old, new] in [[&old, &new], [&new, &old]] {
        let start = Instant::now();
        bounded(&page(old, new));
        assert!(start.elapsed() < MOST_TIME, "{:?}", start.elapsed());
    }
}

fn set(map: &Bsp<'_>, draft: &mut Draft<'_>, lump: &str, bytes: Vec<u8>) {
    draft.set(map.slot(lump).unwrap().id, bytes).unwrap();
}

fn words(words: &[i32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The first record of a lump, with other words at their offsets.
fn record(map: &Bsp<'_>, lump: &str, size: usize, changes: &[(usize, i32)]) -> Vec<u8> {
    let mut bytes = map.bytes(map.slot(lump).unwrap().id).unwrap()[..size].to_vec();
    changes.iter().for_each(|(at, word)| bytes[*at..at + 4].copy_from_slice(&word.to_le_bytes()));
    bytes
}

/// A face of Quake II with this many edges, from the first surfedge on.
fn face(edges: u16) -> Vec<u8> {
    let mut face = vec![0; 20];
    face[8..10].copy_from_slice(&edges.to_le_bytes());
    face[16..20].fill(0xff);
    face
}

#[test]
fn a_model_that_claims_all_faces_there_could_be_ends() {
    ends("q2/own_rooms", |map, draft| {
        set(map, draft, "MODELS", record(map, "MODELS", 48, &[(40, 0), (44, i32::MAX)]));
    });
}

#[test]
fn faces_that_share_all_edges_end() {
    for last in [1, 1 << 30] {
        ends("q2/own_rooms", |map, draft| {
            let mut edges = vec![1; 65_535];
            edges[65_534] = last;
            set(map, draft, "SURFEDGES", words(&edges));
            set(map, draft, "FACES", face(65_535).repeat(100_000));
            set(map, draft, "MODELS", record(map, "MODELS", 48, &[(40, 0), (44, 100_000)]));
        });
    }
}

#[test]
fn models_that_all_have_all_faces_end() {
    ends("q2/own_rooms", |map, draft| {
        let model = |at: i32| record(map, "MODELS", 48, &[(0, at), (40, 0), (44, 50_000)]);
        let one = |at: i32| format!("{{\n\"classname\" \"func_wall\"\n\"model\" \"*{at}\"\n}}\n");
        let text = "{\n\"classname\" \"worldspawn\"\n}\n".to_owned() + &(1..20_000).map(one).collect::<String>();
        set(map, draft, "FACES", face(4).repeat(50_000));
        set(map, draft, "MODELS", (0..20_000).flat_map(model).collect());
        set(map, draft, "ENTITIES", [text.as_bytes(), &[0]].concat());
    });
}

/// Surfaces of which each has very many corners, and no edge that only one triangle has.
#[test]
fn surfaces_without_an_outline_end() {
    ends("q3/own_rooms", |map, draft| {
        let changes = [(8, 1), (12, 0), (16, 3), (20, 0), (24, 65_535)];
        set(map, draft, "DRAWINDEXES", words(&[0, 1, 2].repeat(21_846)));
        set(map, draft, "SURFACES", record(map, "SURFACES", 104, &changes).repeat(100_000));
        set(map, draft, "MODELS", record(map, "MODELS", 40, &[(24, 0), (28, 100_000)]));
    });
    ends("q3/own_rooms", |map, draft| {
        let changes = [(8, 2), (12, 0), (16, 1 << 16), (20, 0), (24, 0), (96, 256), (100, 256)];
        let corner = map.bytes(map.slot("DRAWVERTS").unwrap().id).unwrap()[..44].to_vec();
        set(map, draft, "DRAWVERTS", corner.repeat(1 << 16));
        set(map, draft, "SURFACES", record(map, "SURFACES", 104, &changes).repeat(100_000));
        set(map, draft, "MODELS", record(map, "MODELS", 40, &[(24, 0), (28, 100_000)]));
    });
}

#[test]
fn very_many_textures_and_entities_end() {
    ends("goldsrc/own_rooms", |map, draft| {
        const MANY: i32 = 50_000;
        let mut lump = words(&[MANY]);
        (0..MANY).for_each(|at| lump.extend((4 + 4 * MANY + 40 * at).to_le_bytes()));
        for at in 0..MANY {
            let mut name = format!("t{at:x}").into_bytes();
            name.resize(16, 0);
            lump.extend(name);
            lump.extend(words(&[16, 16, 0, 0, 0, 0]));
        }
        let one = |at: i32| format!("{{\n\"classname\" \"light\"\n\"origin\" \"{at} 0 0\"\n}}\n");
        let text = "{\n\"classname\" \"worldspawn\"\n}\n".to_owned() + &(0..100_000).map(one).collect::<String>();
        set(map, draft, "TEXTURES", lump);
        set(map, draft, "ENTITIES", [text.as_bytes(), &[0]].concat());
    });
}
