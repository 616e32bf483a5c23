//! A folder of its own for each test, with maps in it, and the program running there.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// An editor that waits for nobody: it adds a space to the last line.
const EDITOR: &str = "sed -i '$s/$/ /'";

pub(crate) struct Room {
    folder: TempDir,
}

/// What a run of the program gave.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

impl Room {
    /// An empty one.
    pub(crate) fn empty() -> Self {
        Room { folder: tempfile::tempdir().unwrap() }
    }

    /// One with a map of each family.
    pub(crate) fn new() -> Self {
        let room = Room::empty();
        for (name, bytes) in [
            ("q2.bsp", fixture("q2/own_rooms_bspx")),
            ("q3.bsp", fixture("q3/own_rooms")),
            ("goldsrc.bsp", fixture("goldsrc/own_rooms")),
            ("source.bsp", files_of_source()),
        ] {
            room.write(name, &bytes);
        }
        room
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: impl AsRef<Path>, bytes: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn read(&self, name: impl AsRef<Path>) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// The names of all files and folders, sorted: what a failed save may not add to.
    pub(crate) fn names(&self) -> Vec<PathBuf> {
        fn walk(folder: &Path, names: &mut Vec<PathBuf>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() && !path.is_symlink() {
                    walk(&path, names);
                }
                names.push(path);
            }
        }
        let mut names = Vec::new();
        walk(self.folder.path(), &mut names);
        names.sort();
        names
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bspkit"));
        command.current_dir(self.folder.path()).env_remove("NO_COLOR").env("COLUMNS", "100").env("BSPKIT_PAGER", "");
        command.stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[impl AsRef<OsStr>]) -> Run {
        Run::of(self.command().args(arguments))
    }

    /// Runs with arguments parted by spaces.
    pub(crate) fn bspkit(&self, arguments: &str) -> Run {
        self.run(&arguments.split_whitespace().collect::<Vec<_>>())
    }

    /// Runs with arguments parted by spaces, and bytes on stdin.
    pub(crate) fn with_stdin(&self, arguments: &str, input: &[u8]) -> Run {
        let mut command = self.command();
        let command = command.args(arguments.split_whitespace()).stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        let output = std::thread::scope(|scope| {
            // The program need not read all of it.
            scope.spawn(move || drop(pipe.write_all(input)));
            child.wait_with_output().unwrap()
        });
        Run::from(output)
    }

    /// Runs a line of shell with the program in its path.
    pub(crate) fn shell(&self, line: &str) -> Run {
        self.line(line).unwrap_or_else(|| panic!("this system has no shell for {line}"))
    }

    /// Runs a line of shell, if this system has a shell for it.
    pub(crate) fn line(&self, line: &str) -> Option<Run> {
        let program = || {
            let mut command = self.command();
            command.env_remove("VISUAL").env("EDITOR", EDITOR).env("PATH", path());
            command
        };
        match super::shell::run(line, self.folder.path(), &program) {
            Some(said) => Some(Run::new(Some(said.code), said.out, said.err)),
            None => self.sh(line),
        }
    }

    #[cfg(unix)]
    fn sh(&self, line: &str) -> Option<Run> {
        let mut command = Command::new("sh");
        command.args(["-c", line]).current_dir(self.folder.path()).stdin(Stdio::null());
        let command = command.env("PATH", path()).env("COLUMNS", "100").env("BSPKIT_PAGER", "").env_remove("NO_COLOR");
        Some(Run::of(command.env_remove("VISUAL").env("EDITOR", EDITOR)))
    }

    #[cfg(not(unix))]
    fn sh(&self, _: &str) -> Option<Run> {
        None
    }
}

impl Run {
    pub(crate) fn of(command: &mut Command) -> Self {
        // Wine 8 cannot always start a program while it starts many others: an internal error, by its own words.
        let started = (0..20).find_map(|_| match command.output() {
            Err(error) if cfg!(windows) && error.raw_os_error() == Some(1359) => {
                std::thread::sleep(std::time::Duration::from_millis(100));
                None
            }
            run => Some(run),
        });
        Run::from(started.expect("wine starts programs").unwrap())
    }

    pub(crate) fn from(output: Output) -> Self {
        Run::new(output.status.code(), output.stdout, output.stderr)
    }

    fn new(code: Option<i32>, out: Vec<u8>, err: Vec<u8>) -> Self {
        let err = String::from_utf8(err).unwrap();
        assert!(!err.contains("panicked"), "{err}");
        // Messages name paths as the system writes them; the tests expect slashes.
        let err = slashes(&err);
        Run { code, out, err }
    }

    /// Insists on success.
    #[track_caller]
    pub(crate) fn done(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.err);
        self
    }

    /// Insists on an exit status, and that nothing was printed as data.
    #[track_caller]
    pub(crate) fn without_data(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}", self.err);
        assert_eq!(String::from_utf8_lossy(&self.out), "");
        self
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.out).unwrap()
    }

    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

/// Text with slashes in the paths that it names. JSON has each backslash twice.
pub(crate) fn slashes(text: &str) -> String {
    if cfg!(windows) { text.replace("\\\\", "/").replace('\\', "/") } else { text.to_owned() }
}

/// A path as this system writes it.
pub(crate) fn native(path: &str) -> String {
    if cfg!(windows) { path.replace('/', "\\") } else { path.to_owned() }
}

/// The bytes of a fixture such as `q3/own_rooms`.
pub(crate) fn fixture(name: &str) -> Vec<u8> {
    fs::read(
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/maps").join(name).with_extension("bsp"),
    )
    .unwrap()
}

/// The entity lump, by the directory: lump 0 in all families.
pub(crate) fn entities(map: &[u8]) -> &[u8] {
    let at = if map.starts_with(b"IBSP") || map.starts_with(b"VBSP") { 8 } else { 4 };
    let word = |at: usize| u32::from_le_bytes(map[at..at + 4].try_into().unwrap()) as usize;
    &map[word(at)..word(at) + word(at + 4)]
}

/// The map with another word in its directory: `field` 0 is a lump's offset, 1 its length.
pub(crate) fn with_word(mut map: Vec<u8>, lump: usize, field: usize, word: i32) -> Vec<u8> {
    let at = 8 + 8 * lump + 4 * field;
    map[at..at + 4].copy_from_slice(&word.to_le_bytes());
    map
}

/// The text of the compressed map that [`Room::new`] has.
pub(crate) const SOURCE_TEXT: &[u8] =
    b"{\n\"world_maxs\" \"1 2 3\"\n\"classname\" \"worldspawn\"\n}\n{\n\"OnTrigger\" \"a,Open\"\n\"OnTrigger\" \"b,Open\"\n\"classname\" \"logic_auto\"\n}\n\0";

/// A Source map: compressed entities, one game-lump member, nothing else.
fn files_of_source() -> Vec<u8> {
    const HEADER: usize = 1036;
    let packed = bspkit::file::lzma::compress(SOURCE_TEXT, Default::default()).unwrap();
    let game_at = (HEADER + packed.len()).next_multiple_of(4);
    let mut map = vec![0; game_at];
    map[..8].copy_from_slice(b"VBSP\x14\0\0\0");
    map[HEADER..][..packed.len()].copy_from_slice(&packed);
    let mut words = |at: usize, words: &[usize]| {
        for (index, word) in words.iter().enumerate() {
            map[at + 4 * index..][..4].copy_from_slice(&u32::try_from(*word).unwrap().to_le_bytes());
        }
    };
    words(8, &[HEADER, packed.len(), 0, SOURCE_TEXT.len()]);
    words(8 + 16 * 35, &[game_at, 28, 0, 0]);
    words(1032, &[7]);
    map.extend_from_slice(&1_u32.to_le_bytes());
    map.extend_from_slice(b"prps\0\0\x0a\0");
    map.extend_from_slice(&u32::try_from(game_at + 20).unwrap().to_le_bytes());
    map.extend_from_slice(&8_u32.to_le_bytes());
    map.extend_from_slice(b"PROPDATA");
    map
}

/// The path of a shell, with the program in it.
fn path() -> std::ffi::OsString {
    let folder = Path::new(env!("CARGO_BIN_EXE_bspkit")).parent().unwrap().to_path_buf();
    let rest = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(folder).chain(std::env::split_paths(&rest))).unwrap()
}
