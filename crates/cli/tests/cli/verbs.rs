//! Scripts written for Valve's bspzip and for ripent run unchanged, with links to the program by these names.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use bspkit::Bsp;

use super::room::{Room, Run, fixture};

/// A room with a Source map and a GoldSrc map, and the tools in a folder of their own.
fn room() -> Room {
    let room = Room::empty();
    room.write("maps/my map.bsp", &fixture("source/room_v20"));
    room.write("maps/de_own.bsp", &fixture("goldsrc/own_rooms"));
    room.write("content/materials/My/Wall.vmt", b"LightmappedGeneric {}");
    room.write("content/sound/my/door.wav", b"RIFF");
    std::fs::create_dir(room.path("bin")).unwrap();
    for name in ["bspzip", "BSPZIP.EXE", "ripent", "sdRipent", "Ripent.exe"] {
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_bspkit"), room.path("bin").join(name)).unwrap();
    }
    room
}

/// Runs a script, with the tools in its path.
fn script(room: &Room, text: &str, arguments: &[&str]) -> Run {
    room.write("script.sh", text.as_bytes());
    let own = Path::new(env!("CARGO_BIN_EXE_bspkit")).parent().unwrap().to_path_buf();
    let others = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths([room.path("bin"), own].into_iter().chain(std::env::split_paths(&others))).unwrap();
    let mut command = std::process::Command::new("sh");
    command.arg(room.path("script.sh")).args(arguments).current_dir(room.path("")).env("PATH", path);
    Run::of(&mut command)
}

fn names(room: &Room, map: &str) -> Vec<String> {
    let map = Bsp::from_vec(room.read(map)).unwrap();
    map.pak().unwrap().iter().map(|file| String::from_utf8(file.name().to_vec()).unwrap()).collect()
}

fn file(room: &Room, map: &str, name: &str) -> Vec<u8> {
    let map = Bsp::from_vec(room.read(map)).unwrap();
    let pak = map.pak().unwrap();
    let index = pak.one(name).unwrap();
    pak.get(index).unwrap().data().unwrap().to_vec()
}

/// The names and sums of all lumps but these. (The directory of the game lump has offsets; its members are compared.)
fn others(map: &[u8], left_out: &str) -> Vec<(String, u64)> {
    let map = Bsp::from_vec(map.to_vec()).unwrap();
    let slots = map.slots().iter().filter(|slot| slot.name != left_out && slot.name != "GAME_LUMP" && slot.length > 0);
    let sum = |bytes: &[u8]| {
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        hasher.finish()
    };
    slots.map(|slot| (slot.name.clone(), sum(&map.stored(slot.id)))).collect()
}

/// As CompilePal, PowerShell scripts and Hammer's build steps do it: a list with pairs of lines, paths of Windows, the
/// map as its own target.
const PACK: &str = r#"set -e
bsp="$1"
list="$(dirname "$bsp")/files.txt"
: > "$list"
(cd content && find . -type f | sort) | while read -r name; do
    printf '%s\r\n' "$(echo "${name#./}" | tr / '\\')" "$(echo "content/${name#./}" | tr / '\\')" >> "$list"
done
bspzip -game "C:\Games\my game\tf" -addorupdatelist "$bsp" "$list" "$bsp"
bspzip -dir "$bsp" > names.txt
grep -qi "materials/my/wall.vmt" names.txt
"#;

#[test]
fn a_script_packs_its_content() {
    let room = room();
    let old = room.read("maps/my map.bsp");
    let run = script(&room, PACK, &["maps/my map.bsp"]).done();
    assert_eq!(run.text(), "", "messages go to stderr");
    let all = names(&room, "maps/my map.bsp");
    assert_eq!(all[3..], ["materials/my/wall.vmt", "sound/my/door.wav"]);
    assert_eq!(String::from_utf8(room.read("names.txt")).unwrap(), all.join("\n") + "\n");
    assert_eq!(
        others(&room.read("maps/my map.bsp"), "PAKFILE"),
        others(&old, "PAKFILE"),
        "the other lumps keep their bytes"
    );
    // Again: nothing changes, and no file is there twice.
    let packed = room.read("maps/my map.bsp");
    script(&room, PACK, &["maps/my map.bsp"]).done();
    assert_eq!(room.read("maps/my map.bsp"), packed);
    room.write("content/sound/my/door.wav", b"RIFF2");
    script(&room, PACK, &["maps/my map.bsp"]).done();
    assert_eq!(file(&room, "maps/my map.bsp", "sound/my/door.wav"), b"RIFF2");
    assert_eq!(names(&room, "maps/my map.bsp").len(), 5);
    // What was deleted is as before the script.
    let delete = "bspzip -deletelist \"$1\" gone.txt \"$1\"";
    room.write("gone.txt", b"Materials\\My\\Wall.vmt\r\nsound/my/door.wav\r\n");
    script(&room, delete, &["maps/my map.bsp"]).done();
    assert_eq!(room.read("maps/my map.bsp"), old);
}

#[test]
fn each_verb_of_bspzip_does_its_work() {
    let room = room();
    room.write("in.bsp", &fixture("source/room_v20"));
    let list = "materials/a.vmt\ncontent/materials/My/Wall.vmt\n";
    room.write("list.txt", list.as_bytes());
    room.write("paths.txt", b"content\\materials\\My\\Wall.vmt\ncontent/sound/my/door.wav");
    let run = |line: &str| script(&room, &format!("set -e\n{line}\n"), &[]).done();
    run("bspzip -addlist in list.txt one");
    run("BSPZIP.EXE -AddFile in.bsp 'materials/a.vmt' 'content/materials/My/Wall.vmt' 'two.bsp'");
    run("bspkit bspzip -addfiles in.bsp materials/new/ paths.txt three.bsp");
    assert_eq!(room.read("one.bsp"), room.read("two.bsp"));
    assert_eq!(names(&room, "three.bsp")[3..], ["materials/new/wall.vmt", "materials/new/door.wav"]);
    run("bspzip -deletefile one.bsp MATERIALS/a.vmt one.bsp; cmp one.bsp in.bsp");
    // Extracting is repeatable, and gives what other zip readers give.
    for _ in 0..2 {
        run("bspzip -extract three files\nbspzip -extractfiles three.bsp out");
        run("BSPZIP.EXE -v -threads 2 -extractfiles three.bsp out -game x");
    }
    assert_eq!(room.read("out/materials/new/wall.vmt"), b"LightmappedGeneric {}");
    let map = Bsp::from_vec(room.read("three.bsp")).unwrap();
    assert_eq!(room.read("files.zip"), map.stored(map.slot("PAKFILE").unwrap().id).to_vec());
    // Compressed and decompressed, in place.
    run("cp three.bsp small.bsp; bspzip -repack -compress small.bsp; bspzip -repack small.bsp");
    assert_eq!(others(&room.read("small.bsp"), "PAKFILE"), others(&room.read("three.bsp"), "PAKFILE"));
    run("bspzip -compress -repack small.bsp");
    assert!(room.read("small.bsp").len() < room.read("three.bsp").len());
    assert_eq!(file(&room, "small.bsp", "materials/new/wall.vmt"), b"LightmappedGeneric {}");
}

/// Valve's program means all textures; here they are the images of cube maps.
#[test]
fn cube_maps_are_extracted_and_deleted() {
    let room = room();
    let texture = "content/sound/my/door.wav";
    let own = ["materials/maps/room_v20/c0_0_0.vtf", "materials/maps/room_v20/c0_0_0.hdr.vtf"];
    let stays =
        ["materials/maps/room_v20/cubemapdefault.vtf", "materials/maps/room_v20/concrete.vtf", "materials/a.vtf"];
    let pairs: Vec<String> = own.iter().chain(&stays).map(|name| format!("{name}={texture}")).collect();
    let old = names(&room, "maps/my map.bsp");
    let words: Vec<&str> = pairs.iter().map(String::as_str).collect();
    room.run(&[&["pak", "add", "maps/my map.bsp", "-o", "maps/room_v20.bsp"], &words[..]].concat()).done();
    script(&room, "bspzip -extractcubemaps maps/room_v20 \"$PWD/images\"", &[]).done();
    assert!([own[0], own[1], stays[0]].iter().all(|name| room.read(format!("images/{name}")) == b"RIFF"));
    assert!([stays[1], stays[2]].iter().all(|name| !room.path(format!("images/{name}")).exists()));
    script(&room, "bspzip -game tf -deletecubemaps maps/room_v20.bsp", &[]).done();
    let left = names(&room, "maps/room_v20.bsp");
    assert_eq!(left, [&old[..], &stays.map(str::to_owned)].concat());
    // None is left: nothing is written.
    let run = script(&room, "bspzip -deletecubemaps maps/room_v20.bsp", &[]).without_data(1);
    assert!(run.err.contains("no image"), "{}", run.err);
    let run = script(&room, "bspzip -extractcubemaps 'maps/my map' none", &[]).without_data(2);
    assert!(run.err.contains("has no images of cube maps"), "{}", run.err);
    assert!(!room.path("none").exists());
}

/// Every line is refused, says why, and leaves all files as they are.
#[test]
fn bad_lines_are_refused_before_anything_is_written() {
    let room = room();
    room.write("in.bsp", &fixture("source/room_v20"));
    room.write("odd.txt", b"a.vmt\r\ncontent/sound/my/door.wav\r\nb.vmt\r\n");
    room.write("hole.txt", b"a.vmt\n\nb.vmt\ncontent/sound/my/door.wav\n");
    room.write("absent.txt", b"a.vmt\ncontent/sound/my/door.wav\nb.vmt\nC:\\none\\b.vmt\n");
    room.write("twice.txt", b"a.vmt\ncontent/sound/my/door.wav\nA.vmt\ncontent/materials/My/Wall.vmt\n");
    room.write("none.txt", b"no/such.vmt\n");
    let old: Vec<_> = room.names();
    let lines = [
        ("bspzip", 2, "bspzip -addlist BSP LIST NEW"),
        ("bspzip -adlist in.bsp odd.txt out.bsp", 2, "did you mean -addlist"),
        ("bspzip -addlist in.bsp odd.txt", 2, "-addlist takes BSP LIST NEW, and 2 were given"),
        ("bspzip -dir in.bsp out.bsp", 2, "-dir takes BSP, and 2 were given"),
        ("bspzip -dir -extract in.bsp", 2, "-dir and -extract do not go together"),
        ("bspzip -compress in.bsp", 2, "do not go together"),
        ("bspzip in.bsp", 2, "no verb is given"),
        ("bspzip -dir in.bsp -game", 2, "-game needs a value"),
        ("bspzip -dir in.bsp -threads many", 2, "many"),
        ("bspzip -dir none.bsp", 2, "none.bsp"),
        ("bspzip -dir maps/de_own.bsp", 2, "have no pakfile"),
        ("bspzip -addlist in.bsp odd.txt out.bsp", 2, "it has 3 lines"),
        ("bspzip -addlist in.bsp hole.txt in.bsp", 2, "line 2 is empty"),
        ("bspzip -addorupdatelist in.bsp absent.txt in.bsp", 2, "none/b.vmt"),
        ("bspzip -addlist in.bsp twice.txt in.bsp", 2, "two of the files have the name `a.vmt`"),
        ("bspzip -addlist in.bsp none/list.txt in.bsp", 2, "none/list.txt"),
        ("bspzip -addfile in.bsp ../a.vmt content/sound/my/door.wav out.bsp", 2, "../a.vmt"),
        ("bspzip -addfile in.bsp a=b.vmt content/sound/my/door.wav out.bsp", 2, "use -addlist"),
        ("bspzip -addfile in.bsp a.vmt content out.bsp", 2, "not a regular file"),
        ("bspzip -deletefile in.bsp 'materials/**' out.bsp", 1, "nothing matches"),
        ("bspzip -deletelist in.bsp none.txt out.bsp", 1, "nothing matches"),
        ("bspzip -extract in.bsp in.bsp", 2, "is an input file"),
        ("ripent", 2, "ripent -import BSP"),
        ("ripent -exprot maps/de_own", 2, "did you mean -export"),
        ("ripent maps/de_own", 2, "no verb is given"),
        ("ripent -export", 2, "-export takes BSP, and 0 were given"),
        ("ripent -import maps/de_own", 2, "de_own.ent"),
        ("ripent -textureimport maps/de_own", 2, "de_own.wad"),
        ("ripent -export -texdata", 2, "-texdata needs a value"),
        ("ripent -export none", 2, "none.bsp"),
    ];
    for (line, code, says) in lines {
        let run = script(&room, line, &[]).without_data(code);
        assert!(run.err.contains(says), "{line}: {}", run.err);
        let new: Vec<PathBuf> = room.names().into_iter().filter(|path| !old.contains(path)).collect();
        assert_eq!(new, [room.path("script.sh")], "{line}");
        assert_eq!(room.read("in.bsp"), fixture("source/room_v20"), "{line}");
        assert_eq!(room.read("maps/de_own.bsp"), fixture("goldsrc/own_rooms"), "{line}");
    }
}

#[test]
fn names_in_a_pakfile_do_not_lead_out_of_the_folder() {
    let room = room();
    room.write("in.bsp", &fixture("source/room_v20"));
    let mut map = room.read("in.bsp");
    // The same length, in both headers of the file.
    let (old, new) = (&b"materials/own/wall.vmt"[..], &b"../../../escaped00.vmt"[..]);
    let is_name = |at: &usize| map[at - 46..].starts_with(b"PK\x01\x02") || map[at - 30..].starts_with(b"PK\x03\x04");
    let places = (46..map.len() - old.len()).filter(|at| map[*at..].starts_with(old));
    let places: Vec<usize> = places.filter(is_name).collect();
    assert_eq!(places.len(), 2);
    places.into_iter().for_each(|at| map[at..at + old.len()].copy_from_slice(new));
    room.write("bad.bsp", &map);
    let run = script(&room, "bspzip -extractfiles bad.bsp deep/in/folder", &[]).without_data(2);
    assert!(run.err.contains("../../../escaped00.vmt") && run.err.contains("leads out of its folder"), "{}", run.err);
    assert!(!room.names().iter().any(|path| path.to_string_lossy().contains("escaped00")));
    assert!(room.path("deep/in/folder/maps/room_v20.txt").exists(), "the others are written");
}

/// As batch files of mappers do it: out, through an editor, in.
const EDIT: &str = r#"set -e
for map in "$@"; do
    ripent -export "$map"
    ent="${map%.bsp}.ent"
    sed 's/OWN ROOMS/NEW ROOMS/' "$ent" > edited && mv edited "$ent"
    Ripent.exe -import -noinfo "${map%.bsp}"
done
"#;

#[test]
fn entities_and_textures_go_out_and_in() {
    let room = room();
    let old = room.read("maps/de_own.bsp");
    script(&room, "ripent -export -parse maps/de_own; ripent -import maps\\\\de_own.bsp -parse", &[]).done();
    assert_eq!(room.read("maps/de_own.bsp"), old, "what goes out comes in unchanged");
    assert_eq!(room.read("maps/de_own.ent").last(), Some(&0));
    script(&room, "sed -i 's/\"message\" \"[^\"]*\"/\"message\" \"OWN ROOMS\"/' maps/de_own.ent", &[]).done();
    script(&room, "ripent -import maps/de_own.bsp", &[]).done();
    script(&room, EDIT, &["maps/de_own.bsp"]).done();
    let new = room.read("maps/de_own.bsp");
    assert!(room.bspkit("ent get maps/de_own.bsp worldspawn message").done().text().contains("NEW ROOMS"));
    assert_eq!(others(&new, "ENTITIES"), others(&old, "ENTITIES"));

    script(&room, "ripent -textureexport maps/de_own && ripent -TextureImport -textureparse maps/de_own.bsp", &[])
        .done();
    assert_eq!(room.read("maps/de_own.bsp"), new);
    // A pixel is painted in the WAD file: the first texture's.
    let mut wad = room.read("maps/de_own.wad");
    wad[12 + 40] ^= 1;
    room.write("maps/de_own.wad", &wad);
    script(&room, "ripent -textureimport maps/de_own", &[]).done();
    let painted = room.read("maps/de_own.bsp");
    assert_eq!(painted.iter().zip(&new).filter(|(one, other)| one != other).count(), 1);
    assert_eq!(others(&painted, "TEXTURES"), others(&new, "TEXTURES"));
    // A name with a dot in it is no extension.
    script(
        &room,
        "cp maps/de_own.bsp maps/de_own.v2.bsp; ripent -export maps/de_own.v2; ripent -import maps/de_own.v2",
        &[],
    )
    .done();
    assert_eq!(room.read("maps/de_own.v2.bsp"), painted);
    assert_eq!(room.read("maps/de_own.v2.ent").last(), Some(&0));
    // Several verbs and several maps, of other families too.
    room.write("maps/q2.bsp", &fixture("q2/own_rooms"));
    let run = script(&room, "ripent -export -chart maps/de_own maps/q2.bsp", &[]).done();
    assert!(run.text().contains("limits of GoldSrc") && run.text().contains("limits of Quake II"), "{}", run.text());
    assert!(Path::new(&room.path("maps/q2.ent")).exists());
}

/// The name of the program decides alone where it is one of the two.
#[test]
fn other_names_of_the_program_change_nothing() {
    let room = room();
    let run = script(&room, "sdRipent -export maps/de_own", &[]).without_data(2);
    assert!(run.err.contains("unexpected argument"), "{}", run.err);
    for line in ["bspzip --help", "bspzip -?", "bspkit bspzip -h", "bspkit help bspzip"] {
        let run = script(&room, line, &[]).done();
        assert!(run.text().contains("-addorupdatelist BSP LIST NEW"), "{line}: {}", run.text());
    }
}
