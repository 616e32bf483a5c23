//! Files of games on disk: `gameinfo.txt`, loose folders, VPK archives, lists of names.

use crate::vpk;
use std::fs;
use std::path::{Path, PathBuf};

use bspkit::ErrorKind;
use bspkit_game::Game;
use bspkit_game::assets::Files;
use tempfile::TempDir;

struct Disk(TempDir);

impl Disk {
    fn new() -> Self {
        Disk(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// The game of a folder with these search paths.
    fn game(&self, folder: &str, paths: &str) -> Game {
        let text = format!(
            "\"GameInfo\"\n{{\n game \"Own\"\n FileSystem {{ SteamAppId 1 SearchPaths {{\n{paths}\n}} }}\n}}\n"
        );
        self.write(&format!("{folder}/gameinfo.txt"), text);
        let mut game = Game::of_this_machine();
        game.add_game(&self.path(folder)).unwrap();
        game
    }
}

/// What one player added or downloaded no other has.
#[test]
fn every_player_has_what_came_with_the_game() {
    let disk = Disk::new();
    for folder in ["own/custom/mine", "own/CUSTOM2", "own/download", "own"] {
        disk.write(&format!("{folder}/materials/{}.vmt", folder.replace('/', "_")), "x");
    }
    disk.game(
        "own",
        "game+mod own/custom/*\n game+mod |gameinfo_path|Custom/mine\n game+Download own/download\n\
         game own/CUSTOM2\n game+mod own\n",
    );
    let mut game = Game::default();
    game.add_game(&disk.path("own")).unwrap();
    for (name, is_there) in [("own_custom_mine", false), ("own_download", false), ("own_CUSTOM2", true), ("own", true)]
    {
        assert_eq!(game.has(format!("materials/{}.vmt", name.to_lowercase()).as_bytes()), is_there, "{name}");
    }
    assert_eq!(game.faults(), [""; 0]);
}

fn read(game: &Game, name: &str) -> Option<Vec<u8>> {
    game.read(name.as_bytes(), 1 << 20).unwrap().map(|data| data.to_vec())
}

/// The folder or archive that has a file, below the disk.
fn place(disk: &Disk, game: &Game, name: &str) -> String {
    let root = disk.0.path().canonicalize().unwrap();
    let place = game.place(name.as_bytes()).unwrap();
    place.strip_prefix(&root).or(place.strip_prefix(disk.0.path())).unwrap().to_str().unwrap().replace('\\', "/")
}

#[test]
fn search_paths_are_those_of_the_engine() {
    let disk = Disk::new();
    disk.write("own/materials/a.vmt", "own");
    disk.write("own/custom/b mod/materials/a.vmt", "b");
    disk.write("own/custom/a mod/materials/a.vmt", "a");
    disk.write("own/custom/note.txt", "no folder");
    disk.write("base/materials/base.vmt", "base");
    disk.write("base/materials/a.vmt", "base");
    disk.write("base/bin/materials/of_programs.vmt", "no content");
    disk.write("platform/materials/p.vmt", "platform");
    disk.write("base/download/materials/d.vmt", "download");
    vpk::write(&disk.path("own/custom/c_dir.vpk"), 2, &[("materials/c.vmt", b"c")]);
    vpk::write(&disk.path("base/base_textures_dir.vpk"), 1, &[("materials/t.vtf", b"pixels")]);
    vpk::write(&disk.path("base/pak01_dir.vpk"), 1, &[("materials/n.vtf", b"numbered")]);
    let game = disk.game(
        "own",
        "game+mod own/custom/*\n\
         Game |gameinfo_path|.\n\
         mod |gameinfo_path|\n\
         gamebin base/bin\n\
         game |all_source_engine_paths|base/base_textures.vpk\n\
         game base\n\
         platform |all_source_engine_paths|Platform\n\
         game_write base/download\n\
         game xbox [$X360]\n\
         game nowhere/else\n",
    );
    for (name, expected) in [
        ("materials/a.vmt", "own/custom/a mod"),
        ("materials/c.vmt", "own/custom/c_dir.vpk"),
        ("materials/t.vtf", "base/base_textures_dir.vpk"),
        ("materials/n.vtf", "base/pak01_dir.vpk"),
        ("materials/base.vmt", "base"),
        // The name on the disk, where case matters; otherwise the one that the file asks for.
        ("materials/p.vmt", if cfg!(windows) { "Platform" } else { "platform" }),
    ] {
        assert_eq!(place(&disk, &game, name), expected, "{name}");
    }
    assert_eq!(read(&game, "materials/a.vmt").unwrap(), b"a");
    for name in ["materials/of_programs.vmt", "materials/d.vmt", "note.txt", "custom/note.tx"] {
        assert!(!game.has(name.as_bytes()), "{name}");
    }
    let [fault] = game.faults() else { panic!("{:?}", game.faults()) };
    assert!(fault.contains("gameinfo.txt, line 14: ") && fault.ends_with("nowhere does not exist"), "{fault}");
}

#[test]
fn loose_files_are_found_in_any_case() {
    let disk = Disk::new();
    disk.write("Materials/Own/WALL.vmt", "wall");
    disk.write("materials/own/floor.VMT", "floor");
    disk.write("sound/a.wav", "RIFF");
    fs::create_dir_all(disk.path("materials/own/folder.vmt")).unwrap();
    let mut game = Game::default();
    game.add(&disk.path("")).unwrap();
    assert_eq!(read(&game, "materials/own/wall.vmt").unwrap(), b"wall");
    assert_eq!(read(&game, "materials/own/floor.vmt").unwrap(), b"floor");
    for name in [
        "",
        "materials",
        "materials/own",
        "materials/own/folder.vmt",
        "materials/own/wall.vmt/x",
        "nope/a",
        "sound/b.wav",
    ] {
        assert!(!game.has(name.as_bytes()), "{name}");
        assert_eq!(read(&game, name), None);
    }
    assert_eq!(game.read(b"sound/a.wav", 3).unwrap_err().kind(), ErrorKind::TooLarge);
    assert!(game.read(b"sound/a.wav", 4).unwrap().is_some());
}

#[test]
fn archives_are_read_in_all_their_parts() {
    let disk = Disk::new();
    let large: Vec<u8> = (0..5000_u32).map(|number| number.to_le_bytes()[0]).collect();
    let files: Vec<(&str, &[u8])> = vec![
        ("materials/own/wall.vmt", b"text of a wall"),
        ("sound/large.wav", &large),
        ("readme", b""),
        ("a.b/c", b"x"),
    ];
    for version in [1, 2] {
        let path = disk.path(&format!("own{version}_dir.vpk"));
        vpk::write(&path, version, &files);
        // Of an archive people also name the file without `_dir`.
        for named in [path, disk.path(&format!("own{version}.vpk"))] {
            let mut game = Game::default();
            game.add(&named).unwrap();
            for (name, bytes) in &files {
                assert_eq!(read(&game, name).as_deref(), Some(*bytes), "{name}");
            }
            assert!(!game.has(b"materials/own"));
        }
    }
    // One file with everything.
    vpk::write_single(&disk.path("single.vpk"), &files);
    let mut game = Game::default();
    game.add(&disk.path("single.vpk")).unwrap();
    assert_eq!(read(&game, "sound/large.wav").as_deref(), Some(&large[..]));
}

#[test]
fn damaged_archives_are_named_and_never_fatal() {
    let disk = Disk::new();
    vpk::write(&disk.path("own/good_dir.vpk"), 1, &[("a.txt", b"text of a"), ("b.txt", b"text of b")]);
    disk.write("own/bad_dir.vpk", "no archive");
    let game = disk.game("own", "game own/bad.vpk\ngame own/good.vpk");
    let [fault] = game.faults() else { panic!("{:?}", game.faults()) };
    assert!(fault.contains("bad_dir.vpk: the VPK directory does not begin"), "{fault}");
    assert!(game.has(b"a.txt"));
    // A part that is cut off, and one that is missing.
    let part = disk.path("own/good_001.vpk");
    let bytes = fs::read(&part).unwrap();
    fs::write(&part, &bytes[..bytes.len() - 1]).unwrap();
    assert!(read(&game, "a.txt").is_some());
    let error = game.read(b"b.txt", 100).unwrap_err();
    assert!(error.kind() == ErrorKind::Malformed && error.to_string().contains("good_001.vpk"), "{error}");
    fs::remove_file(&part).unwrap();
    assert_eq!(game.read(b"b.txt", 100).unwrap_err().kind(), ErrorKind::Io);
    let mut game = Game::default();
    assert!(game.add(&disk.path("own/bad_dir.vpk")).is_err() && game.add(&disk.path("nothing.vpk")).is_err());
}

#[test]
fn a_folder_that_is_not_a_game_says_so() {
    let disk = Disk::new();
    disk.write("steam/tf/gameinfo.txt", "GameInfo { FileSystem { SearchPaths { game |gameinfo_path|. } } }");
    disk.write("steam/hl2/GameInfo.TXT", "GameInfo { FileSystem { SearchPaths { game |gameinfo_path|. } } }");
    disk.write("steam/maps/a.bsp", "x");
    let error = |folder: &str| Game::default().add_source_game(&disk.path(folder)).unwrap_err();
    let found = error("steam");
    assert_eq!(found.kind(), ErrorKind::NotFound);
    assert!(found.to_string().contains("steam is not the folder of a game: it has no gameinfo.txt"), "{found}");
    let hint = found.hint().unwrap().to_string();
    assert!(hint.contains("hl2, ") && hint.ends_with("tf"), "{hint}");
    assert!(error("steam/maps").hint().unwrap().to_string().contains("such as `Team Fortress 2/tf`"));
    assert!(error("nowhere").to_string().contains("is not the folder of a game"));
    Game::default().add_game(&disk.path("steam/hl2")).unwrap();
    disk.write("empty/gameinfo.txt", "GameInfo { }");
    assert_eq!(error("empty").kind(), ErrorKind::Malformed);
}

#[test]
fn lists_have_names_and_no_bytes() {
    let disk = Disk::new();
    disk.write(
        "stock.txt",
        "\u{FEFF}Materials\\Own\\Wall.vmt\r\n// a comment\n\n  sound/a b.wav  # of the game\nlast.txt",
    );
    let mut game = Game::default();
    game.add_names(&disk.path("stock.txt")).unwrap();
    for name in ["materials/own/wall.vmt", "sound/a b.wav", "last.txt"] {
        assert!(game.has(name.as_bytes()), "{name}");
        assert_eq!(read(&game, name), None);
    }
    assert!(!game.has(b"") && !game.has(b"// a comment"));
    assert!(game.add_names(Path::new("nothing.txt")).is_err());
}

#[test]
fn folders_are_listed_over_all_places() {
    let disk = Disk::new();
    disk.write("own/Scripts/Population/Own_A.pop", "loose");
    disk.write("own/scripts/population/deep/own_b.pop", "deeper");
    vpk::write(&disk.path("own/c_dir.vpk"), 2, &[("scripts/population/own_c.pop", b"c"), ("scripts/other.txt", b"")]);
    disk.write("list.txt", "scripts/population/own_d.pop\nscripts/populations/own_e.pop\n");
    let mut game = disk.game("own", "game |gameinfo_path|.\ngame |gameinfo_path|c.vpk");
    game.add_names(&disk.path("list.txt")).unwrap();
    let mut names = game.names_in(b"scripts/population");
    names.sort();
    let expected = ["a", "c", "d"].map(|letter| format!("scripts/population/own_{letter}.pop").into_bytes());
    assert_eq!(names, expected);
    assert!(game.names_in(b"scripts/nothing").is_empty());
}
