//! Light in files: what is not painted on keeps every byte, what is changes one luxel, and what does not fit is refused.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use bspkit::content::View;
use bspkit::content::lightmap::{Image, Light, Luxel};
use bspkit::dialect::{self, LuxelForm, quake2};
use bspkit::record::Record;
use bspkit::{Bsp, Builder};
use tempfile::TempDir;

struct Room {
    folder: TempDir,
    map: PathBuf,
}

impl Room {
    /// A fixture and the files of its light.
    fn new(name: &str, by: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let map = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
            .join("tests/maps")
            .join(name)
            .with_extension("bsp");
        let room = Room { folder, map };
        let out = room.run(&["export", &room.map(), "-o", &room.path("light"), "--by", by]);
        assert!(out.status.success(), "{}", text(&out));
        room
    }

    fn map(&self) -> String {
        self.map.display().to_string()
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_bspkit")).arg("light").args(arguments).output().unwrap()
    }

    fn import(&self, more: &[&str]) -> Output {
        let _ = fs::remove_file(self.path("out.bsp"));
        let (map, light, out) = (self.map(), self.path("light"), self.path("out.bsp"));
        self.run(&[&["import", &map, &light, "-o", &out], more].concat())
    }

    /// The files of one kind, in order.
    fn files(&self, extension: &str) -> Vec<PathBuf> {
        fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() { walk(&path, found) } else { found.push(path) }
            }
        }
        let mut found = Vec::new();
        walk(&self.folder.path().join("light"), &mut found);
        found.retain(|path| path.extension().is_some_and(|own| own == extension));
        found.sort();
        found
    }

    /// The images whose luxels differ after an import, with how many do.
    fn changes(&self) -> Vec<(Image, usize)> {
        let (old, new) = (self.light(&self.map()), self.light(&self.path("out.bsp")));
        let count = |image: &Image| {
            let [wide, high] = old.block(*image).unwrap().size();
            let all = (0..wide * high).map(|at| [at % wide, at / wide]);
            all.filter(|at| old.luxel(*image, *at) != new.luxel(*image, *at)).count()
        };
        old.images().map(|image| (image, count(&image))).filter(|(_, count)| *count > 0).collect()
    }

    fn light(&self, map: &str) -> View<Light<'static>> {
        Bsp::open(map).unwrap().light().unwrap()
    }
}

fn text(out: &Output) -> String {
    let words = String::from_utf8(out.stderr.clone()).unwrap();
    assert!(!words.contains("panicked"), "{words}");
    words
}

/// A PNG with some pixels changed, of the same or another size.
fn paint(path: &Path, change: impl FnOnce(&mut Vec<u8>, &mut u32)) {
    let mut reader = png::Decoder::new(fs::File::open(path).map(std::io::BufReader::new).unwrap()).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    let mut height = info.height;
    change(&mut pixels, &mut height);
    let mut encoder = png::Encoder::new(fs::File::create(path).unwrap(), info.width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header().unwrap().write_image_data(&pixels).unwrap();
}

const MAPS: [&str; 10] = [
    "q1/own_rooms",
    "bsp2/own_rooms_2psb",
    "qbism/own_rooms_qbism",
    "q2/own_rooms",
    "goldsrc/own_rooms",
    "q3/own_rooms",
    "source/room_v19",
    "source/room_v20_lzma",
    "source/room_v21",
    "source/room_strata",
];

#[test]
fn what_was_not_painted_on_keeps_every_byte() {
    for name in MAPS {
        for by in ["page", "face"] {
            let room = Room::new(name, by);
            let out = room.import(&[]);
            assert!(out.status.success(), "{name}: {}", text(&out));
            assert!(fs::read(&room.map).unwrap() == fs::read(room.path("out.bsp")).unwrap(), "{name} by {by}");
            // Without either of two files that show the same, as well.
            for file in room.files("hdr") {
                fs::remove_file(file).unwrap();
            }
            assert!(room.import(&[]).status.success());
            assert!(fs::read(&room.map).unwrap() == fs::read(room.path("out.bsp")).unwrap(), "{name} by {by}");
        }
    }
}

/// Faces wider than a page get one of their own.
#[test]
fn wide_faces_have_pages_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let map = folder.path().join("wide.bsp");
    fs::write(&map, wide_map()).unwrap();
    let room = Room { folder, map };
    let out = room.run(&["export", &room.map(), "-o", &room.path("light")]);
    assert!(out.status.success(), "{}", text(&out));
    assert_eq!(room.files("png").len(), 4);
    assert!(room.import(&[]).status.success());
    assert!(fs::read(&room.map).unwrap() == fs::read(room.path("out.bsp")).unwrap());
    paint(&room.files("png")[2], |pixels, _| pixels[0] ^= 1);
    assert!(room.import(&[]).status.success());
    assert_eq!(room.changes().len(), 1);
}

/// One pixel in one PNG is one luxel, for all families alike.
#[test]
fn a_pixel_is_a_luxel() {
    for name in MAPS {
        for by in ["page", "face"] {
            let room = Room::new(name, by);
            let files = room.files("png");
            let is_grey = room.light(&room.map()).sets()[0].form() == LuxelForm::Grey;
            let color = if is_grey { [201_u8; 3] } else { [201, 150, 170] };
            paint(&files[files.len() / 2], |pixels, _| pixels[..3].copy_from_slice(&color));
            let out = room.import(&[]);
            assert!(out.status.success(), "{name}: {}", text(&out));
            assert!(text(&out).contains(": 1 luxel; "), "{name}: {}", text(&out));
            let changes = room.changes();
            assert_eq!(changes.iter().map(|(_, count)| count).sum::<usize>(), 1, "{name} by {by}: {changes:?}");
            let new = room.light(&room.path("out.bsp"));
            let shown = new.luxel(changes[0].0, [0, 0]).unwrap().shown();
            // Light with an exponent has 8 bits for its brightest part, and another scale.
            let most = if name.starts_with("source") { 1 } else { 0 };
            assert!(shown.iter().zip(color).all(|(a, b)| a.abs_diff(b) <= most), "{name} by {by}: {shown:?}");
            let verify = Command::new(env!("CARGO_BIN_EXE_bspkit")).args(["verify", &room.path("out.bsp")]).output();
            assert!(verify.unwrap().status.success());
        }
    }
}

/// Where a map has its light in grey and in color, what is painted in one changes the other too; what is painted in both
/// is as it was painted.
#[test]
fn a_pixel_in_grey_is_one_in_color() {
    let unpainted = Room::new("q1/own_rooms_bspx", "page");
    assert!(unpainted.import(&[]).status.success());
    assert!(fs::read(&unpainted.map).unwrap() == fs::read(unpainted.path("out.bsp")).unwrap());
    for (painted, carried) in
        [(&["page_000.png"][..], 1), (&["rgb/page_000.png"], 1), (&["page_000.png", "rgb/page_000.png"], 0)]
    {
        let room = Room::new("q1/own_rooms_bspx", "page");
        for name in painted {
            let color = if name.starts_with("rgb") { [201, 150, 170] } else { [202; 3] };
            paint(&room.folder.path().join("light").join(name), |pixels, _| pixels[..3].copy_from_slice(&color));
        }
        let out = room.import(&[]);
        assert!(out.status.success(), "{}", text(&out));
        assert_eq!(
            text(&out).matches("1 luxel of the same light in another lump changed").count(),
            carried,
            "{}",
            text(&out)
        );
        assert_eq!(
            room.changes().iter().map(|(image, count)| (image.set, *count)).collect::<Vec<_>>(),
            [(0, 1), (1, 1)]
        );
        let new = room.light(&room.path("out.bsp"));
        let [grey, color] = [0, 1].map(|set| new.luxel(Image { set, block: 0, style: 0, plane: 0 }, [0, 0]).unwrap());
        assert_eq!(grey == Luxel::Grey(202), painted.contains(&"page_000.png"), "{grey:?}");
        assert_eq!(color == Luxel::Rgb([201, 150, 170]), painted.contains(&"rgb/page_000.png"), "{color:?}");
    }
}

/// A Radiance picture gives a luxel its very bytes.
#[test]
fn a_radiance_pixel_is_a_luxel() {
    let room = Room::new("source/room_v20", "face");
    let files = room.files("hdr");
    let file = files.iter().find(|file| file.parent().unwrap().ends_with("ldr/faces")).unwrap();
    let bytes = fs::read(file).unwrap();
    let start = bytes.windows(2).position(|pair| pair == b"\n\n").unwrap() + 2;
    let line = start + bytes[start..].iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let header = String::from_utf8(bytes[start..line].to_vec()).unwrap();
    let words: Vec<&str> = header.split_whitespace().collect();
    let (high, wide): (usize, usize) = (words[1].parse().unwrap(), words[3].parse().unwrap());
    let old = room.light(&room.map());
    let image = old.images().next().unwrap();
    assert_eq!(old.block(image).unwrap().size(), [wide, high]);
    // As another tool writes it: no compression, the largest part as large as it can be.
    let mut flat = format!("#?RGBE\nFORMAT=32-bit_rle_rgbe\n\n-Y {high} +X {wide}\n").into_bytes();
    for at in (0..wide * high).map(|at| [at % wide, at / wide]) {
        let Some(Luxel::Rgbe(mut color, mut exponent)) = old.luxel(image, at) else { unreachable!() };
        while color.iter().all(|part| *part < 128) && color != [0; 3] {
            (color, exponent) = (color.map(|part| 2 * part), exponent - 1);
        }
        flat.extend(color);
        flat.push(exponent.to_le_bytes()[0] ^ 0x80);
    }
    fs::write(file, &flat).unwrap();
    assert!(room.import(&[]).status.success());
    assert!(fs::read(&room.map).unwrap() == fs::read(room.path("out.bsp")).unwrap());

    let last = flat.len() - 4;
    flat[last..].copy_from_slice(&[9, 200, 1, 131]);
    fs::write(file, flat).unwrap();
    assert!(room.import(&[]).status.success());
    assert_eq!(room.changes(), [(image, 1)]);
    let new = room.light(&room.path("out.bsp"));
    assert_eq!(new.luxel(image, [wide - 1, high - 1]), Some(Luxel::Rgbe([9, 200, 1], 3)));
    assert_ne!(new.average(image), old.average(image));
}

/// What does not fit is named with the face and what was expected; nothing is written, or with --force the rest.
#[test]
fn what_does_not_fit_is_named_and_nothing_is_written() {
    let room = Room::new("q2/own_rooms", "face");
    let files = room.files("png");
    let name = |index: usize| files[index].file_name().unwrap().to_str().unwrap().to_owned();
    paint(&files[0], |pixels, _| pixels[0] ^= 0x40);
    paint(&files[1], |pixels, height| {
        pixels.extend_from_within(..);
        *height *= 2;
    });
    fs::write(&files[2], b"no picture").unwrap();
    fs::remove_file(&files[3]).unwrap();
    let mut deep = png::Encoder::new(fs::File::create(&files[4]).unwrap(), 4, 4);
    deep.set_depth(png::BitDepth::Sixteen);
    deep.set_color(png::ColorType::Rgb);
    deep.write_header().unwrap().write_image_data(&[0; 96]).unwrap();
    for more in [&[][..], &["--force"]] {
        let out = room.import(more);
        let words = text(&out);
        assert_eq!(out.status.code(), Some(1), "{words}");
        for index in 1..5 {
            let face: usize = name(index)[..5].parse().unwrap();
            assert!(words.contains(&format!("faces/{}: face {face}, style ", name(index))), "{index}: {words}");
        }
        assert!(words.contains(" are expected") && words.contains("the file does not exist"), "{words}");
        assert_eq!(Path::new(&room.path("out.bsp")).exists(), !more.is_empty());
    }
    assert_eq!(room.changes().len(), 1);
}

#[test]
fn an_index_of_another_map_or_of_none_is_refused() {
    let room = Room::new("q2/own_rooms", "page");
    let other = Room::new("goldsrc/own_rooms", "page");
    let out = room.run(&["import", &other.map(), &room.path("light"), "-o", &room.path("out.bsp")]);
    assert_eq!(out.status.code(), Some(1));
    assert!(text(&out).contains("face "), "{}", text(&out));
    assert!(!Path::new(&room.path("out.bsp")).exists());
    let index = room.folder.path().join("light/light.json");
    let good = fs::read_to_string(&index).unwrap();
    for bad in [
        "{}".to_owned(),
        good.replace("\"version\": 1", "\"version\": 2"),
        good.replace("\"page_000.png\"", "\"../page_000.png\""),
        good.replace("\"page_000.png\"", "\"/etc/hostname\""),
        good.replace("\"x\":0,", "\"x\":18446744073709551615,"),
        good.replace("\"width\": 512", "\"width\": 9007199254740993"),
        good.replace("\"face\":", "\"face\":9"),
        good.replace("\"plane\"", "\"plane\":3,\"was\"").replace("\"x\":0,", "\"plane\":2,\"x\":0,"),
    ] {
        fs::write(&index, &bad).unwrap();
        let out = room.import(&[]);
        assert!(matches!(out.status.code(), Some(1 | 2)), "{}: {}", &bad[..bad.len().min(300)], text(&out));
        text(&out);
        assert!(!Path::new(&room.path("out.bsp")).exists());
    }
}

/// Two images of the same luxels that were changed to different ones are no edit that could be made.
#[test]
fn two_changes_of_one_luxel_clash() {
    let room = Room::new("source/room_v20", "face");
    let (hdr, shown) = (room.files("hdr"), room.files("png"));
    let mut bytes = fs::read(&hdr[0]).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&hdr[0], bytes).unwrap();
    paint(&shown[0], |pixels, _| pixels.iter_mut().for_each(|part| *part = 255));
    let out = room.import(&[]);
    assert_eq!(out.status.code(), Some(1), "{}", text(&out));
    assert!(text(&out).contains("give one luxel different values"), "{}", text(&out));
}

#[test]
fn no_file_is_replaced_unasked() {
    let room = Room::new("q3/own_rooms", "page");
    let page = room.folder.path().join("light/page_000.png");
    fs::write(&page, b"mine").unwrap();
    let export = |more: &[&str]| room.run(&[&["export", &room.map(), "-o", &room.path("light")], more].concat());
    let out = export(&[]);
    assert_eq!(out.status.code(), Some(2));
    assert!(text(&out).contains("exists already") && text(&out).contains("--overwrite"), "{}", text(&out));
    assert_eq!(fs::read(&page).unwrap(), b"mine");
    assert!(export(&["--overwrite"]).status.success());
    assert!(fs::read(&page).unwrap().starts_with(b"\x89PNG"));
}

/// A Quake II map whose faces are wider than a page of an export, and one that is not.
fn wide_map() -> Vec<u8> {
    let texinfo = |scale: f32| {
        let mut texinfo = quake2::TexInfo::decode(&[0; 76]).unwrap();
        texinfo.vectors = [[scale, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]];
        texinfo.encode()
    };
    let mut offset = 0;
    let mut face = |(texinfo, wide): (i16, i32)| {
        let mut face = quake2::Face::decode(&[0; 20]).unwrap();
        (face.edge_count, face.styles, face.texinfo) = (2, [0, 255, 255, 255], texinfo);
        face.light_offset = offset;
        offset += wide * 5 * 3;
        face.encode()
    };
    // 64 units of 1 and of 250 texels.
    let faces = [(0, 5), (1, 1001), (0, 5), (1, 1001), (1, 1001), (0, 5)].map(&mut face);
    let point = |x: f32, y: f32| [x, y, 0.0].map(f32::to_le_bytes).concat();
    Builder::new(&dialect::QUAKE2)
        .lump(2, [point(0.0, 0.0), point(64.0, 64.0)].concat())
        .lump(5, [texinfo(1.0), texinfo(250.0)].concat())
        .lump(6, faces.concat())
        .lump(7, (0..3 * (5 * 5 + 1001 * 5) * 3).map(|at: usize| (at % 251) as u8).collect::<Vec<_>>())
        .lump(11, [0, 0, 0, 0, 0, 0, 1, 0])
        .lump(12, [1_i32, -1].map(i32::to_le_bytes).concat())
        .build()
        .unwrap()
}
