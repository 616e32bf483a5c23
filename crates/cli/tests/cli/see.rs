//! `export`: what it writes and says.
#![cfg(feature = "see")]

use std::io::Write as _;

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
        "bspkit export q2.bsp -o - > piped.glb; head -c4 piped.glb",
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
        "bspkit view q2.bsp -o - > piped.html; head -1 piped.html",
        "bspkit view q2.bsp -o q2.png --png 160x120",
        "bspkit view q2.bsp -o - --png 16x12 --from above > piped.png; head -c 4 piped.png | tail -c 3",
        "bspkit view q2.bsp q3.bsp -o pictures --png 32x32 --from=-64,0,64,90,-10 -q; ls pictures",
        "bspkit view q2.bsp -o no.png",
        "bspkit view q2.bsp -o no.html --png 16x12",
        "bspkit view q2.bsp -o no.png --png 0x4",
        "bspkit view q2.bsp -o no.png --png 4096x4096",
        "bspkit view q2.bsp -o no.png --png large",
        "bspkit view q2.bsp -o no.png --png 64x64 --from below",
        "bspkit view q2.bsp -o no.html --from above",
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

/// Textures of Quake III come from its archives; what is loose counts less, and the later archive more.
#[test]
fn textures_come_from_the_archives_of_a_game() {
    let room = Room::empty();
    let own = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/maps/src/q3/baseq3"));
    let image = |name: &str| std::fs::read(own.join("textures/own").join(name)).unwrap();
    let archive = |name: &str, files: &[(&str, Vec<u8>)]| {
        let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
        for (name, bytes) in files {
            zip.start_file(*name, options).unwrap();
            zip.write_all(bytes).unwrap();
        }
        room.write(name, &zip.finish().unwrap().into_inner());
    };
    room.write("baseq3/maps/rooms.bsp", &fixture("q3/own_rooms"));
    room.write("rooms.bsp", &fixture("q3/own_rooms"));
    let textures = |line: &str| -> Vec<(String, Vec<u8>)> {
        let said = room.bspkit(&format!("{line} --overwrite")).done();
        assert_eq!(said.err.matches("warning").count(), 0, "{}", said.err);
        let glb = room.read("out.glb");
        let length = u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
        let document: serde_json::Value = serde_json::from_slice(&glb[20..20 + length]).unwrap();
        let bytes = &glb[28 + length..];
        let images = document["images"].as_array().cloned().unwrap_or_default();
        let view = |image: &serde_json::Value| {
            let view = &document["bufferViews"][image["bufferView"].as_u64().unwrap() as usize];
            let [at, length] = ["byteOffset", "byteLength"].map(|key| view[key].as_u64().unwrap_or(0) as usize);
            (image["name"].as_str().unwrap_or_default().to_owned(), bytes[at..at + length].to_vec())
        };
        images.iter().map(view).filter(|(name, _)| name.contains("own/")).collect()
    };
    assert_eq!(textures("export rooms.bsp -o out.glb --no-light").len(), 0);
    let files = [("textures/own/Wall.TGA", image("wall.tga")), ("textures/own/crate.tga", image("crate.tga"))];
    archive("baseq3/pak0.pk3", &files);
    let first = textures("export baseq3/maps/rooms.bsp -o out.glb --no-light");
    assert_eq!(first.len(), 2);
    for line in ["export rooms.bsp --game baseq3", "export rooms.bsp --game baseq3/pak0.pk3"] {
        assert!(textures(&format!("{line} -o out.glb --no-light")) == first, "{line}");
    }
    // Another reader of images sees the same pixels.
    let wall = first.iter().find(|(name, _)| name.contains("wall")).unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(&wall.1)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    let tga = image("wall.tga");
    let (width, height) =
        (usize::from(tga[12]) | usize::from(tga[13]) << 8, usize::from(tga[14]) | usize::from(tga[15]) << 8);
    assert_eq!((tga[2], tga[16], tga[0]), (2, 24, 0), "the test reads plain images of 24 bits");
    let from_top = tga[17] & 0x20 != 0;
    for (row, column) in (0..height).flat_map(|row| (0..width).map(move |column| (row, column))) {
        let own = if from_top { row } else { height - 1 - row };
        let [b, g, r]: [u8; 3] = tga[18 + 3 * (own * width + column)..][..3].try_into().unwrap();
        assert_eq!(pixels[3 * (row * width + column)..][..3], [r, g, b], "{row} {column}");
    }
    // The archive that is last by its name holds, and archives before loose files.
    archive("baseq3/pak1.pk3", &[("textures/own/wall.tga", image("door.tga"))]);
    room.write("baseq3/textures/own/wall.tga", &image("crate.tga"));
    let last = textures("export rooms.bsp --game baseq3 -o out.glb --no-light");
    assert!(last != first && last.len() == 2);
    // A script names the image of its shader.
    archive(
        "baseq3/pak2.pk3",
        &[("scripts/own.shader", b"textures/own/wall\n{\n{\nmap textures/own/crate.tga\n}\n}\n".to_vec())],
    );
    let by_script = textures("export rooms.bsp --game baseq3 -o out.glb --no-light");
    let [wall, other] =
        ["wall", "crate"].map(|part| &by_script.iter().find(|(name, _)| name.contains(part)).unwrap().1);
    assert!(wall == other);
    // An archive that is damaged is said, and the others are read.
    room.write("baseq3/pak9.pk3", b"PK nothing");
    let run = room.bspkit("export rooms.bsp --game baseq3 -o out.glb --overwrite").done();
    assert!(run.err.contains("pak9.pk3"), "{}", run.err);
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

/// The map is none of the files that are written, whatever its name is.
#[test]
fn an_export_never_replaces_its_map() {
    let room = Room::new();
    for (map, file) in [("rooms.bin", "rooms.gltf"), ("rooms.mtl", "rooms.obj"), ("rooms.x", "rooms.x")] {
        room.write(map, &fixture("goldsrc/own_rooms"));
        let format = if file == "rooms.x" { "--format glb" } else { "" };
        let run = room.bspkit(&format!("export {map} -o {file} --overwrite {format}")).without_data(2);
        assert!(run.err.contains("is an input file and would be replaced"), "{}", run.err);
        assert!(room.read(map) == fixture("goldsrc/own_rooms"), "{map}");
    }
}

/// What cannot be read is not there to be missed: what `check` finds is said, and the exit status is 1.
#[test]
fn parts_of_a_damaged_map_that_are_left_out_are_said() {
    let room = Room::new();
    for (edit, says) in
        [("models[1].face_count=9999", "MODELS 1: first_face is"), ("faces[3].plane=60000", "FACES 3: plane is 60000")]
    {
        room.bspkit(&format!("set q2.bsp {edit} -o broken.bsp --force")).done();
        for command in ["export broken.bsp -o x.glb", "view broken.bsp -o x.html", "decompile broken.bsp -o x.map"] {
            let run = room.bspkit(&format!("{command} --overwrite --json"));
            assert_eq!(run.code, Some(1), "{edit} {command}: {}", run.err);
            assert!(run.err.contains(says), "{edit} {command}: {}", run.err);
        }
    }
}
