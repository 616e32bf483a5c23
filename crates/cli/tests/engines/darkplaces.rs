//! DarkPlaces' dedicated server, with a game program of our own (`probe.qc`) that prints what the engine sees.

use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::maps;
use crate::run::{self, Seen, Verdict};

/// The engine, and our game program compiled.
pub(crate) struct DarkPlaces {
    server: PathBuf,
    program: &'static [u8],
}

impl DarkPlaces {
    /// The engine, or nothing where it is not installed.
    pub(crate) fn find() -> Option<Self> {
        static PROGRAM: OnceLock<Vec<u8>> = OnceLock::new();
        let server = run::find("darkplaces-server", "/usr/games/darkplaces-server", "darkplaces-server")?;
        let compiler = run::find("fteqcc", "/usr/bin/fteqcc", "fteqcc")?;
        Some(Self { server, program: PROGRAM.get_or_init(|| compile(&compiler, include_str!("probe.qc"))) })
    }

    /// Has the engine load a map and print counts, warnings, spawned entities, bounds, surfaces and traces.
    pub(crate) fn load(&self, map: &[u8]) -> Verdict<Seen> {
        let folder = tempfile::tempdir().unwrap();
        let game = folder.path().join("id1");
        std::fs::create_dir_all(game.join("maps")).unwrap();
        std::fs::write(game.join("maps/t.bsp"), map).unwrap();
        std::fs::write(game.join("progs.dat"), self.program).unwrap();
        let home = folder.path().join("home");
        let ended = run::run(&self.server, &arguments(folder.path(), &home), folder.path());
        let complaint = ended.text.lines().find(|line| {
            line.contains("Error: ") || line.starts_with("Couldn't load map") || line.starts_with("Couldn't spawn")
        });
        if let Some(complaint) = complaint {
            return Verdict::Refused(complaint.to_owned());
        }
        match ended.how {
            Err(reason) => return Verdict::Refused(reason),
            Ok(0) => {}
            Ok(code) => return Verdict::Refused(format!("exit code {code}")),
        }
        if !ended.text.lines().any(|line| line == "Server spawned.") {
            return Verdict::Refused("no server was spawned".to_owned());
        }
        let text = std::fs::read_to_string(home.join("id1/maps/t.ent")).map_err(|error| error.to_string());
        match text.and_then(|text| maps::entities(&text)) {
            Ok(entities) => Verdict::Loaded(Seen { entities, lines: about_the_map(&ended.text) }),
            Err(reason) => Verdict::Refused(format!("the engine's entity text: {reason}")),
        }
    }
}

/// The lines without those on the one entity of this class.
pub(crate) fn lines_without(class: &str, lines: &[String]) -> Vec<String> {
    let head = format!("PROBE entity {class}");
    let start = lines.iter().position(|line| *line == head).unwrap_or_else(|| panic!("no line {head:?}"));
    let own = |line: &&String| line.starts_with("PROBE message") || line.starts_with("PROBE place");
    let length = 1 + lines[start + 1..].iter().take_while(own).count();
    [&lines[..start], &lines[start + length..]].concat()
}

/// The lines as they would be with another message in worldspawn.
pub(crate) fn lines_with_message(message: &str, lines: &[String]) -> Vec<String> {
    let mut lines = lines.to_vec();
    let line = lines.iter_mut().find(|line| line.starts_with("PROBE message ")).expect("a message");
    *line = format!("PROBE message {message}");
    lines
}

/// The lines that say something about the map.
fn about_the_map(text: &str) -> Vec<String> {
    let wanted = ["PROBE ", "Stats for ", "Mod_", "maps/t.bsp:"];
    text.lines().filter(|line| wanted.iter().any(|start| line.starts_with(start))).map(str::to_owned).collect()
}

fn arguments(folder: &Path, home: &Path) -> Vec<String> {
    let mut words = network(folder, home);
    words.extend("+developer 1 +map t +sv_saveentfile +quit".split(' ').map(str::to_owned));
    words
}

/// Where the engine reads and writes; nothing but the loopback is listened on.
pub(crate) fn network(folder: &Path, home: &Path) -> Vec<String> {
    let port = UdpSocket::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
    let mut words = vec!["-basedir".to_owned(), folder.display().to_string()];
    words.extend(["-userdir".to_owned(), home.display().to_string()]);
    let network = format!("+sv_public 0 +net_address 127.0.0.1 +net_address_ipv6 ::1 +port {port}");
    words.extend(network.split(' ').map(str::to_owned));
    words
}

/// A game program of ours, as the engine takes it.
pub(crate) fn compile(compiler: &Path, source: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("program.qc"), source).unwrap();
    std::fs::write(folder.path().join("progs.src"), "progs.dat\nprogram.qc\n").unwrap();
    let ended = run::run(compiler, &["-Tstandard".to_owned()], folder.path());
    assert_eq!(ended.how, Ok(0), "{}", ended.text);
    std::fs::read(folder.path().join("progs.dat")).unwrap()
}
