//! ioquake3's dedicated server: once with its own game, once with a game module of ours (`probe.c`).

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::maps::{self, Entity};
use crate::run::{self, Seen, Verdict};

/// The engine and a game module for it.
pub(crate) struct Ioquake3 {
    server: PathBuf,
    module: Vec<u8>,
    /// The file name under which the engine looks for the module; it tells the machine it is for.
    name: OsString,
}

/// The engine with our module.
pub(crate) struct Probe(Ioquake3);

/// What the engine's own game made of a map.
pub(crate) struct Played {
    /// The value of `g_gravity`, which the game takes from worldspawn.
    pub(crate) gravity: String,
    /// The engine's checksum of the whole file.
    pub(crate) checksum: String,
    /// Classes the game does not know.
    pub(crate) unknown: Vec<String>,
    /// The list of entities, and what the game said of items and teams.
    pub(crate) lines: Vec<String>,
}

impl Probe {
    /// Our module in the engine, or nothing where the engine or a C compiler is not installed.
    pub(crate) fn find() -> Option<Self> {
        static MODULE: OnceLock<Vec<u8>> = OnceLock::new();
        let engine = Ioquake3::find()?;
        let compiler = run::find("cc", "/usr/bin/cc", "gcc")?;
        let module = MODULE.get_or_init(|| compile(&compiler)).clone();
        Some(Self(Ioquake3 { module, ..engine }))
    }

    /// Has the engine load a map and print its entities, the bounds of its brush models, and contents, traces and
    /// visibility of the places in the entity text.
    pub(crate) fn load(&self, map: &[u8]) -> Verdict<Seen> {
        let text = match self.0.load(map, "") {
            Verdict::Loaded(text) => text,
            Verdict::Refused(reason) => return Verdict::Refused(reason),
        };
        if !text.lines().any(|line| line == "PROBE done") {
            return Verdict::Refused("the game module did not get to its end".to_owned());
        }
        let lines = lines(&text, |line| line.starts_with("PROBE ") && !line.starts_with("PROBE token"));
        match entities(text.lines().filter_map(|line| line.strip_prefix("PROBE token "))) {
            Ok(entities) => Verdict::Loaded(Seen { entities, lines }),
            Err(reason) => Verdict::Refused(reason),
        }
    }
}

/// Puts the engine's tokens together again.
fn entities<'a>(tokens: impl Iterator<Item = &'a str>) -> Result<Vec<Entity>, String> {
    let (mut all, mut words) = (Vec::new(), Vec::new());
    for token in tokens {
        match token {
            "{" if words.is_empty() => {}
            "{" => return Err(format!("an entity begins behind {words:?}")),
            "}" => all.push(maps::pairs(std::mem::take(&mut words))?),
            _ => words.push(token.to_owned()),
        }
    }
    Ok(all)
}

impl Ioquake3 {
    /// The engine with its own game, or nothing where it is not installed.
    pub(crate) fn find() -> Option<Self> {
        let server = run::find("ioq3ded", "/usr/lib/ioquake3/ioq3ded", "ioquake3-server")?;
        let game = game_module(&server).expect("the game module qagame*.so of the package ioquake3-server");
        let name = game.file_name().unwrap().to_owned();
        Some(Self { server, module: std::fs::read(game).unwrap(), name })
    }

    /// Has the engine load a map with its own game.
    pub(crate) fn play(&self, map: &[u8]) -> Verdict<Played> {
        let text = match self.load(map, "+sv_mapChecksum +g_gravity +entitylist") {
            Verdict::Loaded(text) => text,
            Verdict::Refused(reason) => return Verdict::Refused(reason),
        };
        let unknown = text.lines().filter_map(|line| line.strip_suffix(" doesn't have a spawn function"));
        Verdict::Loaded(Played {
            gravity: cvar(&text, "g_gravity"),
            checksum: cvar(&text, "sv_mapChecksum"),
            unknown: unknown.map(str::to_owned).collect(),
            lines: lines(&text, |line| {
                [":ET_", "items registered", "teams with"].iter().any(|part| line.contains(part))
            }),
        })
    }

    /// Whether the engine's bots take a file of areas as one for the map.
    pub(crate) fn takes_areas(&self, map: &[u8], areas: &[u8]) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let game = folder.path().join("base/testgame");
        std::fs::create_dir_all(game.join("maps")).unwrap();
        std::fs::create_dir_all(game.join("botfiles")).unwrap();
        // The bots want these files, and say themselves that nothing is in them.
        for name in ["weapons.c", "items.c"] {
            std::fs::write(game.join("botfiles").join(name), "// nothing\n").unwrap();
        }
        std::fs::write(game.join("maps/t.aas"), areas).unwrap();
        let text = match self.load_in(folder.path(), map, "+set bot_enable 1") {
            Verdict::Loaded(text) => text,
            Verdict::Refused(reason) => reason,
        };
        let (taken, stale) = (text.contains("loaded maps/t.aas"), text.contains("is out of date"));
        assert!(taken != stale, "neither taken nor refused: {text}");
        taken
    }

    /// The engine's whole output. Its exit code says nothing: it is 0 for a refused map too.
    fn load(&self, map: &[u8], commands: &str) -> Verdict<String> {
        let folder = tempfile::tempdir().unwrap();
        self.load_in(folder.path(), map, commands)
    }

    fn load_in(&self, folder: &Path, map: &[u8], commands: &str) -> Verdict<String> {
        let game = folder.join("base/testgame");
        std::fs::create_dir_all(game.join("maps")).unwrap();
        // The engine wants this file, and wants it not empty.
        std::fs::write(game.join("default.cfg"), "// nothing to set\n").unwrap();
        std::fs::write(game.join("maps/t.bsp"), map).unwrap();
        std::fs::write(game.join(&self.name), &self.module).unwrap();
        let ended = run::run(&self.server, &arguments(folder, commands), folder);
        if let Some(error) = ended.text.lines().find_map(|line| line.strip_prefix("ERROR: ")) {
            return Verdict::Refused(error.to_owned());
        }
        match ended.how {
            Err(reason) => return Verdict::Refused(reason),
            Ok(0) => {}
            Ok(code) => return Verdict::Refused(format!("exit code {code}")),
        }
        // Both lines come only where the map was loaded and the program ended because it was told to.
        for needed in ["found vmMain function", "----- Server Shutdown (Server quit) -----"] {
            if !ended.text.contains(needed) {
                return Verdict::Refused(format!("no line {needed:?}"));
            }
        }
        Verdict::Loaded(ended.text)
    }
}

fn arguments(folder: &Path, commands: &str) -> Vec<String> {
    let mut words = Vec::new();
    let settings = "dedicated 1 net_enabled 0 com_basegame testgame sv_pure 0 vm_game 0 ttycon 0 bot_enable 0";
    let mut settings: Vec<String> = settings.split(' ').map(str::to_owned).collect();
    settings.extend(["fs_basepath".to_owned(), folder.join("base").display().to_string()]);
    settings.extend(["fs_homepath".to_owned(), folder.join("home").display().to_string()]);
    for pair in settings.chunks(2) {
        words.push("+set".to_owned());
        words.extend_from_slice(pair);
    }
    words.extend("+map t".split(' ').chain(commands.split_whitespace()).chain(["+quit"]).map(str::to_owned));
    words
}

/// The value in a line such as `"g_gravity" is:"800^7", the default`.
fn cvar(text: &str, name: &str) -> String {
    let head = format!("\"{name}\" is:\"");
    let rest = text.lines().find_map(|line| line.strip_prefix(&head)).unwrap_or_else(|| panic!("no value of {name}"));
    rest.split('^').next().unwrap_or(rest).to_owned()
}

fn lines(text: &str, wanted: impl Fn(&str) -> bool) -> Vec<String> {
    text.lines().filter(|line| wanted(line)).map(str::to_owned).collect()
}

/// The game module that comes with the server.
fn game_module(server: &Path) -> Option<PathBuf> {
    let server = std::fs::canonicalize(server).ok()?;
    let folders = [server.parent()?.join("baseq3"), PathBuf::from("/usr/lib/ioquake3/baseq3")];
    let files = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    files.map(|file| file.path()).find(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("qagame") && name.ends_with(".so")
    })
}

fn compile(compiler: &Path) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("probe.c"), include_str!("probe.c")).unwrap();
    let words = "-shared -fPIC -O1 -o probe.so probe.c".split(' ').map(str::to_owned).collect::<Vec<_>>();
    let ended = run::run(compiler, &words, folder.path());
    assert_eq!(ended.how, Ok(0), "{}", ended.text);
    std::fs::read(folder.path().join("probe.so")).unwrap()
}
