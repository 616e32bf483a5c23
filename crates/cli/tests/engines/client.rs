//! DarkPlaces' client draws a map in a virtual X server, in software, which gives the same picture each time.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::darkplaces;
use crate::run;

/// The engine, and what it needs to draw.
pub(crate) struct Client {
    engine: PathBuf,
    screen: PathBuf,
    program: Vec<u8>,
}

/// As many as the game program has made.
const PICTURES: usize = 6;

/// A virtual screen; it ends with this.
struct Screen {
    child: Child,
    name: String,
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Client {
    /// The engine, or nothing where it is not installed.
    pub(crate) fn find() -> Option<Self> {
        let engine = run::find("darkplaces", "/usr/games/darkplaces", "darkplaces, with libgl1-mesa-dri")?;
        let screen = run::find("Xvfb", "/usr/bin/Xvfb", "xvfb")?;
        let compiler = run::find("fteqcc", "/usr/bin/fteqcc", "fteqcc")?;
        Some(Client { engine, screen, program: darkplaces::compile(&compiler, include_str!("client.qc")) })
    }

    /// The pixels of what a player sees first and at some other places, or why there are none.
    pub(crate) fn picture(&self, map: &[u8]) -> Result<Vec<u8>, String> {
        self.picture_with(map, "")
    }

    /// The same with a setting of the engine.
    pub(crate) fn picture_with(&self, map: &[u8], setting: &str) -> Result<Vec<u8>, String> {
        let folder = tempfile::tempdir().unwrap();
        let game = folder.path().join("id1");
        std::fs::create_dir_all(game.join("maps")).unwrap();
        std::fs::write(game.join("maps/t.bsp"), map).unwrap();
        std::fs::write(game.join("progs.dat"), &self.program).unwrap();
        // What moves or speaks is off; the game program has the pictures made once everything has settled.
        let settings = "scr_screenshot_jpeg 0\nscr_screenshot_name_in_mapdir 0\nscr_conforcewhiledisconnected 0\n\
                        con_notify 0\ncrosshair 0\nviewsize 120\nr_coronas 0\nshowfps 0\nr_waterscroll 0\ncl_bob 0\nv_idlescale 0\ngl_flashblend 0\nr_drawparticles 0\ncl_rollangle 0\n\
                        cl_nolerp 1\ncl_stairsmoothspeed 0\n";
        std::fs::write(game.join("go.cfg"), format!("{settings}{setting}\nmap t\n")).unwrap();
        let screen = self.open_screen(folder.path());
        let home = folder.path().join("home");
        let mut words = darkplaces::network(folder.path(), &home);
        words.extend(
            "-nosound +vid_fullscreen 0 +vid_width 320 +vid_height 240 +exec go.cfg".split(' ').map(str::to_owned),
        );
        let settings =
            [("DISPLAY", screen.name.as_str()), ("LIBGL_ALWAYS_SOFTWARE", "1"), ("SDL_AUDIODRIVER", "dummy")];
        let ended = run::run_with(&self.engine, &words, folder.path(), &settings);
        let picture = |number: usize| {
            let shot = find_file(folder.path(), &format!("shot{number}.tga"))
                .ok_or_else(|| format!("no picture {number}: {:?}: {}", ended.how, ended.text))?;
            let bytes = std::fs::read(shot).unwrap();
            // Type 2: colors, not compressed; 18 bytes of header and a comment before them.
            assert_eq!((bytes[2], bytes[16]), (2, 24), "another kind of TGA");
            Ok(bytes[18 + usize::from(bytes[0])..].to_vec())
        };
        (0..PICTURES).map(picture).collect::<Result<Vec<_>, String>>().map(|all| all.concat())
    }

    fn open_screen(&self, folder: &Path) -> Screen {
        let number = folder.join("display");
        let words = "-displayfd 1 -screen 0 640x480x24 -nolisten tcp";
        let child = Command::new(&self.screen)
            .args(words.split(' '))
            .stdin(Stdio::null())
            .stdout(File::create(&number).unwrap())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut screen = Screen { child, name: String::new() };
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(20) {
            let text = std::fs::read_to_string(&number).unwrap();
            if let Some(number) = text.strip_suffix('\n') {
                screen.name = format!(":{}", number.trim());
                return screen;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("Xvfb opens no screen");
    }
}

fn find_file(folder: &Path, name: &str) -> Option<PathBuf> {
    std::fs::read_dir(folder)
        .ok()?
        .flatten()
        .map(|entry| entry.path())
        .find_map(|path| if path.is_dir() { find_file(&path, name) } else { path.ends_with(name).then_some(path) })
}

/// How many pixels of two pictures differ.
pub(crate) fn differing(a: &[u8], b: &[u8]) -> usize {
    assert_eq!(a.len(), b.len());
    a.chunks_exact(3).zip(b.chunks_exact(3)).filter(|(a, b)| a != b).count()
}
