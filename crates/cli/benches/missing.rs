//! How long `pak missing` takes over all Source maps, with a game of 100,000 files: `cargo bench --bench missing`.
//!
//! The maps are those in `BSPKIT_CORPUS` (by default `tests/corpus`), or the fixtures if there are none. The game is a VPK
//! directory of 100,000 names, some of which are those that the maps refer to, and a folder of 1,000 loose files.

#[path = "../../../benches/core/harness.rs"]
#[allow(dead_code)]
mod harness;
#[path = "../../../tests/common/vpk.rs"]
#[allow(clippy::unwrap_used)]
mod vpk;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bspkit::dialect::Role;
use bspkit_game::assets::vpk::Vpk;

use harness::{Group, Outcome, Work};

const NAMES: usize = 100_000;
const LOOSE: usize = 1_000;

fn main() -> Outcome {
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let (turns, names) = if is_bench { (5, NAMES) } else { (1, NAMES / 100) };
    if !is_bench {
        println!("Without --bench everything runs once, to see that it runs; the figures mean nothing.");
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let maps = folder.path().join("maps");
    let count = source_maps(&maps)?;
    let archive = game(&folder.path().join("own"), names)?;

    let mut group = Group::new(format!("References of {count} Source maps, and a game of {names} names"));
    let work = Work::Bytes(size(&maps)?);
    let cat = group.reference("`cat` of the maps", work, || {
        run(Command::new("sh").args(["-c", "cat maps/* >/dev/null"]).current_dir(folder.path()))
    });
    group.row("the VPK directory alone", work, cat, || Ok(Vpk::parse(fs::read(&archive)?)?.len()));
    let command = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bspkit"));
        command.current_dir(folder.path()).args(["pak", "missing", "maps", "-q", "--game", "own"]).args(more);
        move || run(&mut command)
    };
    let missing = group.row("`pak missing`", work, cat, command(&[]));
    group.row("`pak missing -j 1`", work, cat, command(&["-j", "1"]));
    let measured = group.measure(turns)?;
    println!("`pak missing` takes {:.2} seconds; the target is below 5.", measured.seconds(missing));
    Ok(())
}

/// Copies all Source maps that open, and returns their number.
fn source_maps(copy: &Path) -> Outcome<usize> {
    let corpus = std::env::var_os("BSPKIT_CORPUS").map_or_else(|| PathBuf::from("tests/corpus"), PathBuf::from);
    let mut folders = vec![if corpus.is_dir() { corpus } else { PathBuf::from("tests/maps") }];
    fs::create_dir_all(copy)?;
    let mut count = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if bspkit::Bsp::open_mapped(&path, None).is_ok_and(|bsp| bsp.role(Role::Pak).is_some()) {
                fs::write(copy.join(format!("{count}.bsp")), fs::read(path)?)?;
                count += 1;
            }
        }
    }
    Ok(count)
}

/// A game: an archive with these many names, a folder of loose files, and `gameinfo.txt`.
fn game(folder: &Path, names: usize) -> Outcome<PathBuf> {
    let kinds = [("materials", "vmt"), ("materials", "vtf"), ("models", "mdl"), ("sound", "wav")];
    let name = |number: usize| {
        let (root, extension) = kinds[number % kinds.len()];
        format!("{root}/folder_{}/of some length/file_{number}.{extension}", number / 200)
    };
    let names: Vec<String> = (0..names).map(name).collect();
    let files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b"text"[..])).collect();
    let archive = folder.join("own_dir.vpk");
    vpk::write(&archive, 2, &files);
    for number in 0..LOOSE {
        let path = folder.join(format!("materials/loose_{}/file_{number}.vmt", number % 20));
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(path, "LightmappedGeneric { }")?;
    }
    let paths = "GameInfo { FileSystem { SearchPaths { game |gameinfo_path|. game own/own.vpk } } }";
    fs::write(folder.join("gameinfo.txt"), paths)?;
    Ok(archive)
}

fn size(folder: &Path) -> Outcome<usize> {
    let sizes = fs::read_dir(folder)?.map(|entry| Ok(usize::try_from(entry?.metadata()?.len())?));
    sizes.sum()
}

fn run(command: &mut Command) -> Outcome {
    let output = command.stdout(Stdio::null()).stderr(Stdio::piped()).output()?;
    match output.status.code() {
        Some(0 | 1) => Ok(()),
        _ => Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)).into()),
    }
}
