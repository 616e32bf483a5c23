//! The picture of `view --png` shows what the engine shows at the same place.

use std::process::Command;

use bspkit::Bsp;

use crate::client::Client;
use crate::maps;

const COLUMNS: usize = 320;
const ROWS: usize = 240;

/// Brightness, row by row from the top.
type Gray = Vec<f64>;

/// The first picture of the engine, whose rows go up.
fn of_engine(client: &Client, map: &[u8]) -> Gray {
    let all = client.picture(map).unwrap();
    let rows: Vec<&[u8]> = all[..COLUMNS * ROWS * 3].chunks_exact(COLUMNS * 3).rev().collect();
    rows.concat().chunks_exact(3).map(|pixel| pixel.iter().map(|part| f64::from(*part)).sum()).collect()
}

/// Ours, from the eyes of the engine's player, turned by so many degrees.
fn of_program(name: &str, turned: f32) -> Gray {
    let map = Bsp::open(maps::fixture(name)).unwrap();
    let entities = map.entities().unwrap();
    let start = entities.iter().find(|entity| entity.get("classname") == Some(&b"info_player_start"[..]));
    let start = start
        .or_else(|| entities.iter().find(|entity| entity.get("classname") == Some(&b"info_player_deathmatch"[..])));
    let text = |key: &str| {
        start.as_ref().and_then(|start| start.get(key)).map_or("0", |value| std::str::from_utf8(value).unwrap())
    };
    let origin: Vec<f32> = text("origin").split(' ').map(|part| part.parse().unwrap()).collect();
    let yaw: f32 = text("angle").parse().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("map.png");
    let from = format!("--from={},{},{},{}", origin[0], origin[1], origin[2] + 22.0, yaw + turned);
    let out = Command::new(env!("CARGO_BIN_EXE_bspkit"))
        .arg("view")
        .arg(maps::fixture(name))
        .args([&format!("--png={COLUMNS}x{ROWS}"), &from, "-q", "-o"])
        .arg(&file)
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let mut reader =
        png::Decoder::new(std::io::BufReader::new(std::fs::File::open(&file).unwrap())).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    pixels.chunks_exact(3).map(|pixel| pixel.iter().map(|part| f64::from(*part)).sum()).collect()
}

/// How alike two pictures are, whatever their brightness and contrast: 1 for the same.
fn likeness(one: &Gray, other: &Gray) -> f64 {
    assert_eq!(one.len(), other.len());
    let centered = |all: &Gray| -> Gray {
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        all.iter().map(|value| value - mean).collect()
    };
    let (one, other) = (centered(one), centered(other));
    let product = |one: &Gray, other: &Gray| one.iter().zip(other).map(|(one, other)| one * other).sum::<f64>();
    product(&one, &other) / (product(&one, &one) * product(&other, &other)).sqrt()
}

#[test]
fn a_picture_is_like_that_of_the_engine() {
    let Some(client) = Client::find() else { return };
    for name in ["q1/own_rooms", "bsp2/own_rooms", "goldsrc/own_rooms"] {
        let engine = of_engine(&client, &std::fs::read(maps::fixture(name)).unwrap());
        let same = likeness(&engine, &of_program(name, 0.0));
        let others = [6.0, -12.0, 90.0].map(|turned| likeness(&engine, &of_program(name, turned)));
        println!("{name}: {same}, turned {others:?}");
        assert!(same > 0.85, "{name}: {same}");
        assert!(others.iter().all(|other| *other < same - 0.1), "{name}: {same}, turned {others:?}");
    }
}
