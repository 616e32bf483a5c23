//! `export`: what it writes and says.
#![cfg(feature = "see")]

use super::room::{Room, fixture};
use super::transcript::check;

#[test]
fn meshes() {
    let room = Room::new();
    room.write("q1.bsp", &fixture("q1/own_rooms"));
    let lines = [
        "bspkit export q2.bsp -o q2.glb",
        "bspkit export q2.bsp -o q2.glb",
        "bspkit export q2.bsp -o q2.glb --overwrite -q",
        "bspkit export q1.bsp -o q1.gltf",
        "ls q1.textures | head -4",
        "bspkit export q3.bsp -o q3.obj --detail 8",
        "head -3 q3.obj",
        "bspkit export goldsrc.bsp -o door.glb --only '*1' --json",
        "bspkit export source.bsp -o lights.glb --only light --no-light",
        "bspkit export q2.bsp q3.bsp -o meshes --merge",
        "ls meshes",
        "bspkit export q2.bsp -o - | head -c4",
        "bspkit export q2.bsp -o q2",
        "bspkit export q2.bsp -o q2.bsp --format glb",
        "bspkit export q2.bsp -o - --format obj",
        "bspkit export q2.bsp -o - --json",
        "bspkit export q2.bsp -o no.glb --only '*9'",
        "bspkit export q2.bsp -o no.glb --only nothing",
        "bspkit export q2.bsp -o no.glb --only '['",
        "bspkit export q2.bsp -o no.glb --detail 99",
        "bspkit export q2.bsp -o no.glb --format fbx",
        "bspkit export q2.bsp q3.bsp -o no.glb",
        "bspkit export q2.bsp -o no.glb --game nowhere",
        "bspkit set q2.bsp 'faces[3..5].edge_count=1' 'faces[30].light_offset=99999999' -o damaged.bsp -q --force",
        "bspkit export damaged.bsp -o damaged.glb",
        "bspkit export damaged.bsp -o damaged.glb --json --overwrite -q | tail -13",
        "bspkit view q3.bsp -o q3.html",
        "bspkit view q3.bsp -o q3.html --only light",
        "bspkit view q2.bsp q3.bsp -o pages",
        "ls pages",
        "bspkit view q2.bsp -o - | head -1",
    ];
    check("meshes", &room, &lines);
}

/// Textures that are beside the map, in the game's folder.
#[test]
fn textures_are_found_beside_the_map() {
    let room = Room::empty();
    let game = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/maps/src/q2"));
    for file in ["pics/colormap.pcx", "textures/own/wall.wal", "textures/own/floor.wal"] {
        room.write(format!("baseq2/{file}"), &std::fs::read(game.join(file)).unwrap());
    }
    room.write("baseq2/maps/rooms.bsp", &fixture("q2/own_rooms"));
    room.write("rooms.bsp", &fixture("q2/own_rooms"));
    let pictures = |line: &str| {
        let said = room.bspkit(&format!("{line} --json")).done();
        serde_json::from_str::<serde_json::Value>(said.text()).unwrap()["picture_count"].as_u64().unwrap()
    };
    assert_eq!(pictures("export rooms.bsp -o a.glb"), 0);
    assert_eq!(pictures("export baseq2/maps/rooms.bsp -o b.glb"), 2);
    assert_eq!(pictures("export rooms.bsp -o c.glb --game baseq2"), 2);
    assert!(
        room.read("c.glb") == room.read("b.glb").as_slice() || room.read("c.glb").len() == room.read("b.glb").len()
    );
}

/// What is written twice is the same, and a file that is there stays unless it may be replaced.
#[test]
fn nothing_is_replaced_without_a_word() {
    let room = Room::new();
    room.bspkit("export q3.bsp -o a.gltf").done();
    room.write("a.textures/light_style0_page0.png", b"mine");
    let run = room.bspkit("export q3.bsp -o a.gltf");
    assert_eq!(run.code, Some(2), "{}", run.err);
    assert_eq!(room.read("a.textures/light_style0_page0.png"), b"mine");
    room.bspkit("export q3.bsp -o a.gltf --overwrite").done();
    room.bspkit("export q3.bsp -o b.gltf").done();
    assert_eq!(room.read("a.bin"), room.read("b.bin"));
    assert_eq!(room.read("a.textures/light_style0_page0.png"), room.read("b.textures/light_style0_page0.png"));
}
