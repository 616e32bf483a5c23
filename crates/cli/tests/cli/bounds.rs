//! What hostile maps may cost, and what damaged ones may lose: nothing beyond a bound, nothing of others.

use std::time::{Duration, Instant};

use bspkit::bytes::Data;
use bspkit::content::pak::{Packed, Pak};
use bspkit::{Builder, dialect, file::lzma};

use super::room::{Room, fixture, slashes};

const TEXT: &str = "{\n\"classname\" \"worldspawn\"\n}\n\0";

/// How files are packed.
type Work = fn(&mut Pak<'static>, &[usize], usize) -> bspkit::Result<Packed>;

fn compress(pak: &mut Pak<'static>, files: &[usize], threads: usize) -> bspkit::Result<Packed> {
    pak.compress(files, threads, Default::default())
}

/// A map whose pakfile has this many entries that all are one body of `size` bytes.
fn shared_body(entries: u16, size: usize, work: Work) -> Vec<u8> {
    let mut pak = Pak::new(b"");
    pak.add("x", Data::from(vec![0; size])).unwrap();
    work(&mut pak, &[0], 1).unwrap();
    let zip = pak.to_rope().unwrap().to_data().to_vec();
    let end = zip.len() - 22;
    let directory = usize::try_from(u32::from_le_bytes(zip[end + 16..end + 20].try_into().unwrap())).unwrap();
    let record = &zip[directory..end];
    let mut new = zip[..directory].to_vec();
    (0..entries).for_each(|_| new.extend_from_slice(record));
    let mut last = zip[end..].to_vec();
    let count = entries.to_le_bytes();
    last[8..12].copy_from_slice(&[count, count].concat());
    let length = u32::try_from(record.len()).unwrap() * u32::from(entries);
    last[12..16].copy_from_slice(&length.to_le_bytes());
    new.extend(last);
    Builder::new(&dialect::SOURCE).lump(0, TEXT).lump(40, new).build().unwrap()
}

/// A map with lumps that all are one compressed piece.
fn shared_piece(lumps: usize, size: usize) -> Vec<u8> {
    let piece = lzma::compress(&vec![0; size], Default::default()).unwrap();
    let mut map = Builder::new(&dialect::SOURCE).lump(0, TEXT).lump(1, piece.clone()).build().unwrap();
    let at = map.windows(piece.len()).position(|window| window == piece).unwrap();
    let entry = [at, piece.len(), 0, size].map(|word| u32::try_from(word).unwrap().to_le_bytes()).concat();
    for lump in (1..).filter(|lump| ![35, 40].contains(lump)).take(lumps) {
        map[8 + 16 * lump..][..16].copy_from_slice(&entry);
    }
    map
}

#[test]
fn files_that_share_a_body_are_not_extracted() {
    let room = Room::empty();
    room.write("map.bsp", &shared_body(2000, 31 << 20, compress));
    let (names, start) = (room.names(), Instant::now());
    for line in ["pak extract map.bsp -o out", "pak store map.bsp -o out.bsp", "pak compress map.bsp -o out.bsp"] {
        let run = room.bspkit(line).without_data(2);
        assert!(run.err.contains("would take 65011712000 bytes decompressed, more than 268435456"), "{}", run.err);
        assert_eq!(room.names(), names, "{line}");
    }
    let run = room.bspkit("pak verify map.bsp");
    assert_eq!(run.code, Some(1));
    assert!(run.text().contains("their data is not read"), "{}", run.text());
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    // A few of them are no danger, and files that shrink well are extracted.
    room.bspkit("pak extract map.bsp -o one #3").done();
    room.write("zeros.bsp", &shared_body(1, 31 << 20, compress));
    room.bspkit("pak extract zeros.bsp -o zeros").done();
    assert_eq!(room.read("zeros/x").len(), 31 << 20);
}

#[test]
fn lumps_that_share_a_piece_are_not_decompressed() {
    let room = Room::empty();
    room.write("map.bsp", &shared_piece(61, 31 << 20));
    let run = room.bspkit("decompress map.bsp -o out.bsp").without_data(2);
    assert!(run.err.contains("would take 1982857216 bytes decompressed, more than 67108864"), "{}", run.err);
    // Neither are they read: each would have as many records.
    let start = Instant::now();
    for line in ["verify map.bsp", "diff map.bsp map.bsp", "decompile map.bsp -o out.vmf", "model list map.bsp"] {
        room.bspkit(line);
        assert!(start.elapsed() < Duration::from_secs(20), "{line}: {:?}", start.elapsed());
    }
    room.write("map.bsp", &shared_piece(61, 1 << 20));
    room.bspkit("decompress map.bsp -o out.bsp").done();
}

/// The most memory that a run had in use, in bytes.
#[cfg(target_os = "linux")]
fn most_memory(room: &Room, line: &str) -> u64 {
    // A run that ends at once is over before it is looked at.
    (0..50).map(|_| memory_of_a_run(room, line)).find(|most| *most > 0).unwrap_or(0)
}

#[cfg(target_os = "linux")]
fn memory_of_a_run(room: &Room, line: &str) -> u64 {
    let mut run = room.command();
    run.args(line.split(' ')).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut run = run.spawn().unwrap();
    let mut most = 0;
    while run.try_wait().unwrap().is_none() {
        let status = std::fs::read_to_string(format!("/proc/{}/status", run.id())).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0 kB");
        most = most.max(peak.trim().trim_end_matches(" kB").parse().unwrap_or(0) << 10);
        std::thread::sleep(Duration::from_millis(1));
    }
    most
}

/// Threads share one bound: each of these files takes 62 MiB to decompress.
#[cfg(target_os = "linux")]
#[test]
fn threads_share_the_memory() {
    let room = Room::empty();
    room.write("map.bsp", &shared_body(8, 31 << 20, compress));
    for line in ["pak verify map.bsp -j 8", "pak extract map.bsp -o out -j 8"] {
        let most = most_memory(&room, line);
        assert!((1..160 << 20).contains(&most), "{line}: {most} bytes");
    }
}

/// As above for `pak compress`: each of these files takes 104 MiB to compress.
#[cfg(target_os = "linux")]
#[test]
fn threads_share_the_memory_of_compression() {
    let room = Room::empty();
    room.write("map.bsp", &shared_body(12, 8 << 20, Pak::store));
    let most = most_memory(&room, "pak compress map.bsp --dry-run -j 12");
    assert!((1..700 << 20).contains(&most), "{most} bytes");
}

/// A dry run, and the sums that it prints, take no copy of the map.
#[cfg(target_os = "linux")]
#[test]
fn a_dry_run_makes_no_copy() {
    let room = Room::empty();
    room.write("map.bsp", &fixture("q3/own_rooms"));
    let file = std::fs::OpenOptions::new().write(true).open(room.path("map.bsp")).unwrap();
    file.set_len(400 << 20).unwrap();
    // The mapping of the file counts; a copy would double it.
    let most = most_memory(&room, "ent set map.bsp worldspawn message=x --dry-run");
    assert!((1..600 << 20).contains(&most), "{most} bytes");
}

#[test]
fn a_member_that_ends_behind_the_file_is_damage() {
    let room = Room::empty();
    let mut map = fixture("source/room_v20");
    let word = |map: &[u8], at: usize| u32::from_le_bytes(map[at..at + 4].try_into().unwrap());
    let lump = usize::try_from(word(&map, 8 + 35 * 16)).unwrap();
    let length = u32::try_from(map.len()).unwrap() - word(&map, lump + 12) + 1;
    map[lump + 16..lump + 20].copy_from_slice(&length.to_le_bytes());
    room.write("map.bsp", &map);
    let edit = "ent set map.bsp worldspawn message=a-message-that-is-longer-than-anything -o out.bsp";
    for line in [edit.to_owned(), format!("{edit} --force")] {
        let run = room.bspkit(&line).without_data(2);
        assert!(run.err.contains("past the end of the file") || run.err.contains("outside of the file"), "{}", run.err);
    }
    // What takes no room is possible, by force.
    let small = "ent unset map.bsp worldspawn world_maxs -o out.bsp";
    let run = room.bspkit(small).without_data(2);
    assert!(run.err.contains("use --force"), "{}", run.err);
    room.bspkit(&format!("{small} --force")).done();
    room.bspkit("verify out.bsp").done();
}

#[test]
fn equal_names_get_numbers() {
    let room = Room::empty();
    room.write("map.bsp", &shared_body(300, 1, compress));
    let run = room.bspkit("pak extract map.bsp -o out").without_data(0);
    assert!(room.path("out/x~300").exists(), "{}", run.err);
}

#[test]
fn names_are_stored_as_engines_write_them() {
    let room = Room::new();
    room.write("x.vmt", b"x");
    for name in ["content/materials/A.vmt", "content/.DS_Store", "content/sound/Thumbs.db", "content/desktop.ini"] {
        room.write(name, b"x");
    }
    let list = |map: &str| room.bspkit(&format!("pak list {map}")).done().text().to_owned();
    let run = room.run(&["pak", "add", "source.bsp", r"materials\my\x.vmt=x.vmt", "content", "-o", "out.bsp"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(list("out.bsp").contains("materials/my/x.vmt") && list("out.bsp").contains("materials/a.vmt"));
    assert!(!list("out.bsp").contains("DS_Store") && !list("out.bsp").contains("Thumbs.db"));
    for said in [
        "note: `.DS_Store` (and 2 others) is left out",
        r"note: `materials\\my\\x.vmt` (and 1 other) is stored in lower case and with / for \",
    ] {
        assert!(run.err.contains(&slashes(said)), "{said} is not in {}", run.err);
    }
    let run = room.run(&["pak", "add", "source.bsp", r"a\x.vmt=x.vmt", "content", "--as-is", "-o", "as.bsp", "-q"]);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    assert!(list("as.bsp").contains(".DS_Store") && list("as.bsp").contains(r"a\"), "{}", list("as.bsp"));
    let run = room.bspkit("pak add source.bsp x.vmt -o no.bsp").without_data(2);
    assert!(run.err.contains("NAME=x.vmt; to replace the whole pakfile, use `load MAP pak`"), "{}", run.err);
}

/// A full pakfile: nothing is said to be embedded that is not.
#[test]
fn a_full_pakfile_says_only_that_it_is_full() {
    let room = Room::empty();
    room.write("map.bsp", &shared_body(65535, 1, compress));
    room.write("x.vmt", b"x");
    let run = room.bspkit("pak add map.bsp y.vmt=x.vmt -o out.bsp").without_data(2);
    assert!(!run.err.contains("embedded"), "{}", run.err);
    assert!(!room.path("out.bsp").exists());
}

/// A report about many maps takes no more memory than one about few, whatever its format; nor do the findings.
#[cfg(target_os = "linux")]
#[test]
fn a_report_about_many_maps_takes_the_memory_of_few() {
    let room = Room::empty();
    room.write("maps/0.bsp", &fixture("q2/own_rooms"));
    room.write("bspkit.toml", b"map.names = ['x']\nmap.lower_case = true\nentities.forbidden = ['*']\n");
    let grow = |from: usize, to: usize| {
        for index in from..to {
            std::fs::hard_link(room.path("maps/0.bsp"), room.path(format!("maps/{index}.bsp"))).unwrap();
        }
    };
    let formats = ["junit", "sarif"];
    let all = || formats.map(|format| most_memory(&room, &format!("ci maps -q --format {format} -o report")));
    grow(1, 100);
    let few = all();
    grow(100, 800);
    for ((few, many), format) in few.into_iter().zip(all()).zip(formats) {
        // A map costs its path, not its findings: the last of these reports has 4 MB.
        assert!(many < few + (2 << 20), "{format}: {few} bytes for 100 maps, {many} for 800");
    }
    assert!(room.read("report").len() > 4 << 20);
}

/// All faces name one plane: what is listed does not depend on their number.
#[cfg(target_os = "linux")]
#[test]
fn references_are_counted_and_not_collected() {
    let room = Room::empty();
    let map = fixture("q2/own_rooms");
    let bsp = bspkit::Bsp::parse(&map).unwrap();
    let faces = bsp.slot("faces").unwrap().id;
    let size = bsp.row(bsp.slot("faces").unwrap()).unwrap().record().unwrap().size;
    let record = bsp.bytes(faces).unwrap()[..size].to_vec();
    let plane = u16::from_le_bytes(record[..2].try_into().unwrap());
    let mut draft = bsp.draft();
    draft.set(faces, record.repeat(1_000_000)).unwrap();
    room.write("map.bsp", &draft.plan(bspkit::Layout::Keep).unwrap().to_vec());
    let line = format!("refs map.bsp planes[{plane}] --depth 1");
    let run = room.bspkit(&line).done();
    assert!(run.text().contains("and 999"), "{}", run.text());
    let most = most_memory(&room, &line);
    assert!((1..100 << 20).contains(&most), "{most} bytes");
}

/// Each fault has its line; looking for it from the start of the file each time would take minutes.
#[test]
fn a_file_of_defaults_with_many_faults_is_read_once() {
    let room = Room::new();
    let start = Instant::now();
    for text in ["a=1\n".repeat(60_000), (0..60_000).map(|section| format!("[s{section}]\n")).collect()] {
        room.write("bspkit.toml", text.as_bytes());
        let run = room.bspkit("info q2.bsp");
        assert!(run.err.contains("bspkit.toml:2:1") || run.code == Some(0), "{}", &run.err[..run.err.len().min(300)]);
    }
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}
