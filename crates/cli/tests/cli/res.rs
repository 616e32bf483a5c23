//! `res`: the files that players of a GoldSrc or Source map need.

use serde_json::{Value, json};

use super::room::{Room, fixture};

/// A room with a mod's folder: a map with entities that name files in many ways, and files beside it.
fn room() -> Room {
    let room = Room::empty();
    room.write("my/maps/de_own.bsp", &fixture("goldsrc/own_rooms"));
    let entities = r#"
{
"classname" "cycler"
"model" "models\own\Tree.mdl"
}
{
"classname" "env_sprite"
"model" "sprites/own/flame.spr"
"targetname" "not/a/file.sprite"
}
{
"classname" "monster_generic"
"model" "models/own/tree.mdl"
"message" "*ambience/own hum.wav"
}
{
"classname" "ambient_generic"
"message" "ambience/wind.WAV"
}
{
"classname" "ambient_generic"
"message" "!HOLO_1"
}
{
"classname" "ambient_music"
"message" "media/theme.mp3"
}
{
"classname" "func_door"
"model" "*1"
"movesnd" "3"
"noise1" "sound/doors/own.wav"
}
{
"classname" "game_text"
"message" "play theme.wav"
}
{
"classname" "trigger_changesky"
"skyname" "own/night"
}
{
"classname" "cycler"
"model" "../../valve/models/out.mdl"
}
"#;
    let wads = r"wad=\quiver\valve\halflife.wad;C:\wads\Own_hl.wad;own_hl.wad;none";
    let old = room.bspkit("ent export my/maps/de_own.bsp").done().out;
    let all: Vec<_> = old.into_iter().filter(|byte| *byte != 0).chain(entities.bytes()).collect();
    room.write("all.ent", &all);
    room.bspkit("ent import my/maps/de_own.bsp all.ent --in-place --force").done();
    room.run(&["ent", "set", "my/maps/de_own.bsp", "worldspawn", wads, "--in-place", "--force"]).done();
    room.shell("rm all.ent").done();
    room
}

const LIST: &str = "\
// models
models/own/Tree.mdl
// sprites
sprites/own/flame.spr
// sounds
media/theme.mp3
\"sound/ambience/own hum.wav\"
sound/ambience/wind.WAV
sound/doors/own.wav
// wads
Own_hl.wad
halflife.wad
// sky
gfx/env/desertbk.tga
gfx/env/desertdn.tga
gfx/env/desertft.tga
gfx/env/desertlf.tga
gfx/env/desertrt.tga
gfx/env/desertup.tga
gfx/env/own/nightbk.tga
gfx/env/own/nightdn.tga
gfx/env/own/nightft.tga
gfx/env/own/nightlf.tga
gfx/env/own/nightrt.tga
gfx/env/own/nightup.tga
";

#[test]
fn what_entities_name_is_listed_once() {
    let room = room();
    let run = room.bspkit("res my/maps/de_own.bsp -o -").done();
    assert_eq!(run.text(), LIST);
    assert!(run.err.contains("`../../valve/models/out.mdl` is not a path below the game's folder"), "{}", run.err);
    let run = room.bspkit("res my/maps/de_own.bsp").done();
    assert!(run.err.contains("my/maps/de_own.res: 20 files"), "{}", run.err);
    assert_eq!(String::from_utf8(room.read("my/maps/de_own.res")).unwrap(), LIST);
    // What names a file is told.
    let json = room.bspkit("res my/maps/de_own.bsp --json").done().json();
    let tree =
        json!({"name": "models/own/Tree.mdl", "kind": "model", "from": ["entity 18, model", "entity 20, model"]});
    assert_eq!(json["files"][0], tree);
    assert_eq!(json["faults"].as_array().map(Vec::len), Some(1));
    // What one line of data less would do: a key that is not known names nothing.
    room.bspkit("ent rename-key my/maps/de_own.bsp worldspawn skyname sky -o other.bsp --force").done();
    assert!(!room.bspkit("res other.bsp -o -").done().text().contains("desert"));
}

#[test]
fn files_by_the_name_of_the_map_are_listed_if_they_are_there() {
    let room = room();
    let details =
        "// texture, detail, scales\nOWN_WALL detail/dt_brick 10 10\r\n\"own_floor\" detail/../../dt_out 4 4\n\n";
    room.write("my/maps/DE_OWN_detail.txt", details.as_bytes());
    room.write("my/overviews/de_own.txt", b"global {}");
    room.write("my/overviews/de_own.BMP", b"BM");
    room.write("my/maps/other.txt", b"not this map's");
    let run = room.bspkit("res my/maps/de_own.bsp -o -").done();
    let more = "// overview\noverviews/de_own.bmp\noverviews/de_own.txt\n// detail textures\ngfx/detail/dt_brick.tga\nmaps/de_own_detail.txt\n";
    assert_eq!(run.text(), format!("{LIST}{more}"));
    assert!(run.err.contains("dt_out"), "{}", run.err);
    // Elsewhere only with --own.
    room.shell("mkdir other && cp my/maps/de_own.bsp other").done();
    let run = room.bspkit("res other/de_own.bsp -o -").done();
    assert_eq!(run.text(), LIST);
    assert!(run.err.contains("--own"), "{}", run.err);
    let run = room.bspkit("res other/de_own.bsp -o - --own my").done();
    assert_eq!(run.text(), format!("{LIST}{more}"));
}

#[test]
fn what_every_player_has_is_left_out() {
    let room = room();
    for name in ["gfx/env/desertUP.tga", "halflife.wad", "sound/ambience/wind.wav"] {
        room.write(format!("valve/{name}"), b"");
    }
    room.write("stock.txt", b"// Half-Life\r\nsprites\\own\\flame.spr\r\ngfx/env/desertdn.tga\r\n");
    let run = room.bspkit("res my/maps/de_own.bsp --game valve --stock stock.txt").done();
    assert!(run.err.contains("15 files, 5 left out"), "{}", run.err);
    let text = String::from_utf8(room.read("my/maps/de_own.res")).unwrap();
    let stock = ["sprites", "desertdn", "desertup", "halflife", "wind.WAV"];
    assert!(!stock.iter().any(|name| text.contains(name)), "{text}");
    assert_eq!(text.lines().filter(|line| !line.starts_with("//")).count(), 15);
    let json = room.bspkit("res my/maps/de_own.bsp --game valve --stock stock.txt --json").done().json();
    assert_eq!(json["stock"].as_array().map(Vec::len), Some(5));
}

#[test]
fn a_file_that_is_there_keeps_its_lines() {
    let room = room();
    let old = "// by hand\r\nsound/own/extra.wav\r\n//models/own/tree.mdl\r\nGFX/env/DesertBK.tga";
    room.write("my/maps/de_own.res", old.as_bytes());
    room.bspkit("res my/maps/de_own.bsp").done();
    let new = String::from_utf8(room.read("my/maps/de_own.res")).unwrap();
    assert!(new.starts_with(&format!("{old}\r\n// sprites\r\n")), "{new}");
    assert_eq!(new.matches("tree.mdl").count() + new.matches("Tree.mdl").count(), 1);
    assert_eq!(new.to_ascii_lowercase().matches("desertbk").count(), 1);
    assert!(!new.replace("\r\n", "").contains('\n'), "{new}");
    let run = room.bspkit("res my/maps/de_own.bsp").done();
    assert!(run.err.contains("nothing changes"), "{}", run.err);
    assert_eq!(room.read("my/maps/de_own.res"), new.as_bytes());
    room.bspkit("res my/maps/de_own.bsp --overwrite").done();
    assert_eq!(String::from_utf8(room.read("my/maps/de_own.res")).unwrap(), LIST);
}

#[test]
fn other_maps_and_bad_arguments_are_refused() {
    let room = room();
    room.write("q1.bsp", &fixture("q1/own_rooms"));
    room.write("q2.bsp", &fixture("q2/own_rooms"));
    let names = room.names();
    for (line, says) in [
        ("res q1.bsp", "GoldSrc and Source read such files"),
        ("res q2.bsp", "GoldSrc and Source read such files"),
        ("res my/maps/de_own.bsp --game none", "cannot read the game in none"),
        ("res my/maps/de_own.bsp --stock none.txt", "none.txt"),
        ("res my/maps/de_own.bsp -o my/maps/de_own.bsp", "is an input file"),
        ("res my/maps/de_own.bsp -o none/de_own.res", "none/de_own.res"),
        ("res my/maps/de_own.bsp -o x.res --json", "cannot be used with"),
    ] {
        let run = room.bspkit(line).without_data(2);
        assert!(run.err.contains(says), "{line}: {}", run.err);
        assert_eq!(room.names(), names, "{line}");
    }
    // Of several maps the others are done.
    room.shell("cp my/maps/de_own.bsp q3.bsp").done();
    let run = room.bspkit("res q1.bsp q3.bsp -o lists");
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert_eq!(String::from_utf8(room.read("lists/q3.res")).unwrap(), LIST);
    let lines = room.bspkit("res q1.bsp q3.bsp --json");
    let documents: Vec<Value> = lines.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(documents[0]["error"].is_string() && documents[1]["files"].is_array());
}

/// A mod's folder of Source: a map with an entity that names a model and a sound, and files beside it.
fn source_room() -> Room {
    let room = Room::empty();
    room.write("my/maps/own.bsp", &fixture("source/room_v20"));
    room.bspkit("ent add my/maps/own.bsp classname=prop_dynamic model=models/own/tree.mdl --in-place").done();
    room.bspkit("ent add my/maps/own.bsp classname=ambient_generic message=own/hum.wav --in-place").done();
    room.write("my/sound/own/hum.wav", b"RIFF");
    room.write("my/maps/own_particles.txt", b"particles_manifest { }\n");
    room.write("my/maps/own.nav", b"nav");
    room.write("my/maps/cfg/own.cfg", b"exec");
    room
}

/// The names in a list as the engine reads it: the keys of the first block, by other code than the program's.
fn names_of_source(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.starts_with("//")).collect();
    assert!(lines[0].starts_with("\"resources\""), "{text}");
    assert_eq!((lines[1], *lines.last().unwrap()), ("{", "}"), "{text}");
    let pair = |line: &&str| {
        let words: Vec<&str> = line.split('"').collect();
        assert_eq!((words.len(), words[3]), (5, "file"), "{line}");
        words[1].to_owned()
    };
    lines[2..lines.len() - 1].iter().map(pair).collect()
}

#[test]
fn players_of_source_maps_get_a_list_in_the_form_of_that_engine() {
    let room = source_room();
    let run = room.bspkit("res my/maps/own.bsp").done();
    assert!(run.err.contains("files of the game are listed too"), "{}", run.err);
    let text = String::from_utf8(room.read("my/maps/own.res")).unwrap();
    let names = names_of_source(&text);
    for name in ["models/own/tree.mdl", "sound/own/hum.wav", "materials/own/floor.vmt", "maps/own_particles.txt"] {
        assert!(names.contains(&name.to_owned()), "{name}: {names:?}");
    }
    let is_left_out = |name: &String| [".nav", ".cfg", ".bsp", ".res"].iter().any(|ending| name.ends_with(ending));
    assert!(!names.iter().any(is_left_out), "{names:?}");
    let packed = room.bspkit("pak list my/maps/own.bsp").done().text().to_owned();
    assert!(!names.iter().any(|name| packed.contains(&**name)), "{names:?} {packed}");

    room.write("stock.txt", b"models/own/tree.mdl\n");
    let run = room.bspkit("res my/maps/own.bsp --stock stock.txt --overwrite").done();
    assert!(!run.err.contains("of the game are listed"), "{}", run.err);
    let rest: Vec<String> = names.iter().filter(|name| *name != "models/own/tree.mdl").cloned().collect();
    assert_eq!(names_of_source(&String::from_utf8(room.read("my/maps/own.res")).unwrap()), rest);
}

#[test]
fn a_list_of_source_keeps_its_lines_and_gets_what_it_lacks() {
    let room = source_room();
    room.bspkit("res my/maps/own.bsp").done();
    let all = names_of_source(&String::from_utf8(room.read("my/maps/own.res")).unwrap());
    for old in [
        "\"resources\"\r\n{\r\n\t\"sound/extra.wav\" \"file\"\r\n\t// \"models/own/tree.mdl\" \"file\"\r\n}\r\n// end }\r\n",
        "resources { \"sound/extra.wav\" \"file\" }",
        "// mine\n",
        "",
        "\"resources\"\n{\n}\n",
    ] {
        room.write("my/maps/own.res", old.as_bytes());
        room.bspkit("res my/maps/own.bsp").done();
        let new = String::from_utf8(room.read("my/maps/own.res")).unwrap();
        let is_there = |name: &&String| new.to_lowercase().matches(&format!("\"{name}\"")).count() == 1;
        assert_eq!(all.iter().filter(is_there).count(), all.len(), "{new}");
        assert_eq!(new.contains("extra"), old.contains("extra"));
        assert_eq!((new.matches('{').count(), new.contains("\r\n")), (1, old.contains("\r\n")), "{new}");
        let run = room.bspkit("res my/maps/own.bsp").done();
        assert!(run.err.contains("nothing changes") && room.read("my/maps/own.res") == new.as_bytes(), "{}", run.err);
    }
    // What the engine would not read is not added to.
    for old in ["models/own/tree.mdl\n", "\"resources\" { \"a\" \"file\"", "{ { } }"] {
        room.write("my/maps/own.res", old.as_bytes());
        let run = room.bspkit("res my/maps/own.bsp").without_data(2);
        assert!(run.err.contains("--overwrite makes it anew"), "{old}: {}", run.err);
        assert_eq!(room.read("my/maps/own.res"), old.as_bytes());
    }
    room.bspkit("res my/maps/own.bsp --overwrite").done();
    assert_eq!(names_of_source(&String::from_utf8(room.read("my/maps/own.res")).unwrap()), all);
}

#[test]
fn lines_that_name_files_of_every_player_are_named() {
    let room = room();
    room.write("stock.txt", b"models/barney.mdl\nsprites/flare.spr\n");
    room.bspkit("res my/maps/de_own.bsp --stock stock.txt").done();
    let list = String::from_utf8(room.read("my/maps/de_own.res")).unwrap();
    room.write("my/maps/de_own.res", format!("models/Barney.mdl\n//sprites/flare.spr\n{list}").as_bytes());
    let run = room.bspkit("res my/maps/de_own.bsp --stock stock.txt").done();
    assert!(run.err.contains("my/maps/de_own.res:1: every player has models/barney.mdl"), "{}", run.err);
    assert!(
        run.err.contains("1 line that needs not be there stays") && run.err.contains("nothing changes"),
        "{}",
        run.err
    );
    assert!(!run.err.contains("flare"), "{}", run.err);
    room.bspkit("res my/maps/de_own.bsp --stock stock.txt --overwrite").done();
    assert_eq!(String::from_utf8(room.read("my/maps/de_own.res")).unwrap(), list);

    let source = source_room();
    source.write("stock.txt", b"sound/extra.wav\n");
    source.write("my/maps/own.res", b"\"resources\"\n{\n\t\"sound/extra.wav\" \"file\"\n}\n");
    let run = source.bspkit("res my/maps/own.bsp --stock stock.txt").done();
    assert!(run.err.contains("my/maps/own.res:3: every player has sound/extra.wav"), "{}", run.err);
}

#[test]
fn a_list_of_stock_files_is_not_replaced() {
    let room = Room::new();
    room.write("stock.txt", b"models/own.mdl\n");
    let run = room.bspkit("res goldsrc.bsp --stock stock.txt -o stock.txt --overwrite").without_data(2);
    assert!(run.err.contains("is an input file"), "{}", run.err);
    assert_eq!(room.read("stock.txt"), b"models/own.mdl\n");
}
