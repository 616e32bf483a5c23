//! The help texts: word for word, and that their examples run.

#[cfg(unix)]
use std::path::Path;

use super::commands::COMMANDS;
use super::room::Room;
use super::transcript::check;

/// What shells complete and manual pages say is made from the same texts: all of them are there, and nothing depends on
/// when or where they were made.
// It compares folders, and runs bash.
#[cfg(unix)]
#[test]
fn pages_and_completions_have_every_command() {
    let room = Room::empty();
    room.shell("bspkit man -o one && COLUMNS=40 bspkit man -o two -q && diff -r one two").done();
    let name = |command: &str| format!("bspkit {command}").trim_end().replace(' ', "-") + ".1";
    let mut pages: Vec<String> = COMMANDS.iter().map(|command| name(command)).collect();
    pages.sort();
    assert_eq!(room.shell("LC_ALL=C ls one").done().text().lines().collect::<Vec<_>>(), pages);
    for page in &pages {
        let text = String::from_utf8(room.read(format!("one/{page}"))).unwrap();
        let title = page.trim_end_matches(".1");
        let head = format!(".TH {title} 1 \"\" \"bspkit {}\"\n", env!("CARGO_PKG_VERSION"));
        assert!(text.contains(&head) && text.contains("Examples:") && !text.contains("and-map"), "{page}");
    }
    assert_eq!(room.shell("bspkit man").done().out, room.read("one/bspkit.1"));
    // A page that is there and the same is no matter; one that was changed is.
    room.shell("bspkit man -o one").done();
    room.write("one/bspkit-ent.1", b"mine");
    assert!(room.shell("bspkit man -o one").without_data(2).err.contains("--overwrite replaces it"));
    room.shell("bspkit man -o one --overwrite && diff -r one two").done();

    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = room.bspkit(&format!("completions {shell}")).done();
        for command in COMMANDS.iter().flat_map(|command| command.split(' ')) {
            assert!(script.text().contains(command), "{shell}: {command}");
        }
        for value in ["source22", "sdhlt", "lump-overlap", "kingpin", "logic_relay", "DISPINFO"] {
            // Scripts for PowerShell and elvish have no values.
            assert_eq!(script.text().contains(value), ["bash", "zsh", "fish"].contains(&shell), "{shell}: {value}");
        }
    }
    assert_eq!(room.bspkit("completions tcsh").without_data(2).code, Some(2));
    if room.shell("command -v bash").code == Some(0) {
        room.shell("bspkit completions bash >c.sh && bash -n c.sh").done();
        for (words, offered) in [
            ("bspkit ent se", "set"),
            ("bspkit cat q2.bsp plan", "planes"),
            ("bspkit cat plan", ""),
            ("bspkit lmp export a.bsp b.bsp DISPI", "DISPINFO"),
            ("bspkit ent set q2.bsp light_s", "light_spot"),
            ("bspkit ent set light_s", ""),
            ("bspkit ent list q2.bsp --num", "--numbers"),
            ("bspkit get q2.bsp --flag-names king", "kingpin"),
            ("bspkit check --deny lump-ove", "lump-overlap"),
        ] {
            let complete = format!(
                "bash -c '. ./c.sh; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
                _bspkit_after_maps bspkit \"${{COMP_WORDS[-1]}}\" \"${{COMP_WORDS[-2]}}\"; echo ${{COMPREPLY[@]}}'"
            );
            assert_eq!(room.shell(&complete).done().text().trim_end(), offered, "{words}");
        }
    }
}

#[test]
fn help() {
    let lines: Vec<String> = COMMANDS.iter().map(|command| format!("bspkit {command} --help")).collect();
    check("help", &Room::empty(), &lines.iter().map(String::as_str).collect::<Vec<_>>());
}

/// The short help is read on a screen; of all commands it is a few pages.
#[test]
fn the_short_help_is_short() {
    let room = Room::empty();
    let lines = |command: &str| room.bspkit(&format!("{command} -h")).text().lines().count();
    let all: Vec<usize> = COMMANDS.iter().map(|command| lines(command)).collect();
    assert!(all.iter().sum::<usize>() < 2500, "{}", all.iter().sum::<usize>());
    assert!(all.iter().all(|lines| (6..100).contains(lines)), "{all:?}");
}

/// The examples of every help text run as they stand there.
// They are lines of a shell of Unix.
#[cfg(unix)]
#[test]
fn examples_in_help_run() {
    let room = Room::new();
    for (name, source) in [
        ("halflife.wad", "own_hl.wad"),
        ("own.wad", "own_hl.wad"),
        ("c1m4.bsp", "../source/room_v20.bsp"),
        ("mygame.fgd", "../../game/own_base.fgd"),
        ("quake.fgd", "../../game/own_base.fgd"),
        ("metal1_1.wal", "q2/textures/own/wall.wal"),
        ("pics/colormap.pcx", "q2/pics/colormap.pcx"),
    ] {
        let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/maps/src").join(source);
        room.write(name, &std::fs::read(path).unwrap());
    }
    for script in
        std::fs::read_dir(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("examples/scripts")).unwrap()
    {
        let script = script.unwrap();
        room.write(script.file_name().to_str().unwrap(), &std::fs::read(script.path()).unwrap());
    }
    let prepare = "set -e
        bspkit ent add q3.bsp classname=light style=32 light=200 origin='0 0 64' _color='1 1 1' -o dm4.bsp -q
        bspkit ent add dm4.bsp classname=light_spot -o 2.bsp -q
        bspkit ent add 2.bsp classname=info_null -o 3.bsp -q
        bspkit ent export dm4.bsp -o dm4.ent -q
        mkdir maps; mv 3.bsp maps; cp q2.bsp quake2.bsp; cp 2.bsp dm4.bsp
        echo LightmappedGeneric >wall.vmt; mkdir -p content/sound tf/maps; cp wall.vmt content/sound/hit.wav
        bspkit ent set dm4.bsp worldspawn message=new -o dm4_new.bsp -q
        echo '{\"bspkit_patch\": 1, \"operations\": [{\"op\": \"edit\", \"on\": {\"select\": \"light\"}, \"changes\": [
            {\"do\": \"set\", \"key\": \"light\", \"value\": \"400\"}]}]}' >brighter.json
        printf 'cfg/map.cfg\r\nwall.vmt\r\n' >files.txt; cp files.txt list.txt
        echo halflife.wad >stock.txt; mkdir -p valve
        printf 'filter:\n{\n\"classname\" \"light_spot\"\n}\n' >clean.cfg
        printf '{ match classname light replace light 400 }' >triggers.rule
        mkdir -p addons/stripper; cp clean.cfg addons/stripper/global_filters.cfg
        bspkit pak add source.bsp materials/my/wall.vmt=wall.vmt materials/maps/sky.vtf=wall.vmt -o 4.bsp -q
        bspkit pak add 4.bsp materials/a.vhv=wall.vmt sound/hit.wav=wall.vmt -o map.bsp -q; mv 4.bsp tf/maps
        bspkit tex rename q2.bsp 'own/*' 'e1u1/{1}' -o base1.bsp -q; cp base1.bsp kingpin.bsp; cp base1.bsp base2.bsp
        cp goldsrc.bsp c1a0.bsp; bspkit tex export c1a0.bsp -o images -q; cp -r images photo
        bspkit pak rm map.bsp '*.vhv' -o new.bsp -q; cp map.bsp old.bsp; cp -r content files
        bspkit pak add map.bsp readme.txt=wall.vmt materials/maps/old/a.vmt=wall.vmt \
            materials/maps/old/c0_0_0.vtf=wall.vmt -o 5.bsp -q; mv 5.bsp map.bsp
        mkdir -p 'Team Fortress 2/tf'; echo 'GameInfo { SearchPaths { game |gameinfo_path|. } }' >'Team Fortress 2/tf/gameinfo.txt'
        printf '\\064\\022\\252\\125\\001\\0\\0\\0\\001\\0\\0\\0\\0' >pak01_dir.vpk; echo materials/my/wall.vmt >stock.txt
        mkdir goldsrcs; cp goldsrc.bsp goldsrcs
        bspkit tex export metal1_1.wal -o metal1_1.png --palette pics/colormap.pcx -q; cp metal1_1.png lamp.png
        bspkit lmp export source.bsp entities -q; cp source.bsp c1m1.bsp; mkdir sources; cp source.bsp sources
        for map in maps/*.bsp; do cp $map $map.bak; done
        git init -q .; git config user.name a; git config user.email a@example.com
        git commit -qm one --allow-empty; mkdir release; cp -r maps release; cp 2.bsp release/maps/3.bsp; git add maps dm4.bsp; git commit -qm two
        cp q2.bsp base.bsp; cp q2.bsp ours.bsp; cp q2.bsp theirs.bsp
        for light in 1 2 3; do bspkit ent set q2.bsp light light=$light -o rooms.bsp -q --force
            printf '100644 %s %s\\trooms.bsp\\n' $(git hash-object -w rooms.bsp) $light; done | git update-index --index-info; rm rooms.bsp";
    room.shell(prepare).done();
    let mut count = 0;
    for command in COMMANDS {
        let help = room.shell(&format!("bspkit {command} --help")).done();
        let text = help.text();
        assert!(text.contains("\nExit status:\n  0  done\n"), "{command}");
        let examples = text.split("Examples:\n").nth(1).unwrap().split("\n\n").next().unwrap();
        for example in examples.lines() {
            room.shell("mkdir keep; cp -r dm4.bsp map.bsp dm4.ent maps source.bsp sources keep").done();
            let run = room.shell(&example.replace("| xxd | head", "| head -c9"));
            let no_such_lump = example.contains("RGBLIGHTING");
            let differs = ["diff ", "pak unused", "resolve rooms.bsp"]
                .iter()
                .any(|it| example.contains("bspkit") && example.contains(it))
                && !example.contains('|')
                && !(example.contains("git resolve") && example.contains("--"));
            let code = if no_such_lump { 2 } else { i32::from(differs) };
            assert_eq!(run.code, Some(code), "{example}: {}", run.err);
            room.shell(
                "rm -rf merged.bsp edited cleaned files packed lumps out.bsp maps sources dm4.* c1m1_*; mv keep/* .; rmdir keep",
            )
            .done();
            count += 1;
        }
    }
    assert!(count > 45, "{count}");
}
