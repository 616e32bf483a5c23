//! The speed of the program on a folder of maps, compared with operations of the system on the same files in the same
//! run: `cargo bench --bench corpus`. Also its memory for 10,000 maps and for a few.
//!
//! The maps are those in `BSPKIT_CORPUS` (by default `tests/corpus`), or the fixtures if there are none.

#[path = "../../../benches/core/harness.rs"]
#[allow(dead_code)]
mod harness;

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use harness::{Group, Outcome, Work, three_digits};

fn main() -> Outcome {
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let (turns, many) = if is_bench { (21, 10_000) } else { (1, 100) };
    if !is_bench {
        println!("Without --bench everything runs once, to see that it runs; the figures mean nothing.");
    }
    // Not the folder for temporary files, which may be in memory.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let maps = maps(folder.path())?;
    speed(&maps, folder.path(), turns)?;
    memory(folder.path(), many)
}

/// A copy of the maps that open, so that every run succeeds.
fn maps(folder: &Path) -> Outcome<PathBuf> {
    let corpus = std::env::var_os("BSPKIT_CORPUS").map_or_else(|| PathBuf::from("tests/corpus"), PathBuf::from);
    let corpus = if corpus.is_dir() { corpus } else { PathBuf::from("tests/maps") };
    let copy = folder.join("maps");
    let mut folders = vec![(corpus, copy.clone())];
    while let Some((from, to)) = folders.pop() {
        fs::create_dir_all(&to)?;
        for entry in fs::read_dir(from)? {
            let path = entry?.path();
            let target = to.join(path.file_name().unwrap_or_default());
            if path.is_dir() {
                folders.push((path, target));
            } else if bspkit::Bsp::open_mapped(&path, None).is_ok_and(|bsp| bsp.container().damaged().next().is_none())
            {
                // Without its permissions, which may be read-only.
                fs::write(target, fs::read(path)?)?;
            }
        }
    }
    Ok(copy)
}

fn bspkit(arguments: &[&str], folder: &Path) -> Outcome {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bspkit"));
    run(command.args(arguments).arg(folder))
}

fn run(command: &mut Command) -> Outcome {
    let output = command.stdout(Stdio::null()).stderr(Stdio::piped()).output()?;
    match output.status.code() {
        Some(0 | 1) => Ok(()),
        _ => Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)).into()),
    }
}

fn shell(line: &str, folder: &Path) -> Outcome {
    run(Command::new("sh").args(["-c", line]).current_dir(folder))
}

/// The CPU time of the programs that were run; `None` if the system does not give it.
fn seconds_of_cores() -> Outcome<f64> {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // After the program's name, which may have spaces; the unit is a hundredth of a second.
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    Ok(fields.skip(13).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0)
}

/// Bytes and number of the files below a folder.
fn size(folder: &Path) -> Outcome<(usize, usize)> {
    let (mut bytes, mut count) = (0, 0);
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (own, number) = match entry.path().is_dir() {
            true => size(&entry.path())?,
            false => (usize::try_from(entry.metadata()?.len())?, 1),
        };
        (bytes, count) = (bytes + own, count + number);
    }
    Ok((bytes, count))
}

fn speed(maps: &Path, folder: &Path, turns: usize) -> Outcome {
    let (bytes, count) = size(maps)?;
    let work = Work::Bytes(bytes);
    let mut group = Group::new(format!("Reading {count} maps, {} MB", three_digits(bytes as f64 / 1e6)));
    let cat = group.reference("`cat`", work, || shell("find maps -type f -exec cat {} + >/dev/null", folder));
    let check = group.row("`check`", work, cat, || bspkit(&["check", "-q"], maps));
    let verify = group.row("`verify`", work, cat, || bspkit(&["verify", "-q"], maps));
    let measured = group.measure(turns)?;
    let rate = |row| bytes as f64 / measured.seconds(row) / 1e6;
    let (checked, verified) = (rate(check), rate(verify));
    for command in ["check", "verify"] {
        let before = seconds_of_cores()?;
        (0..turns).try_for_each(|_| bspkit(&[command, "-q"], maps))?;
        let rate = (bytes * turns) as f64 / (seconds_of_cores()? - before) / 1e6;
        println!("`{command}` does {} MB in a second of one core, however busy the machine is.", three_digits(rate));
    }

    // Every run has its own target, and earlier data is on the disk already.
    let number = Cell::new(0);
    let target = || {
        number.set(number.get() + 1);
        folder.join(format!("target{}", number.get()))
    };
    let mut group = Group::new(format!("Writing {count} maps"));
    let copy = || shell(&format!("cp -r maps {0} && sync -f {0}", target().display()), folder);
    let copy = group.reference("`cp -r` and `sync`", work, copy);
    let edit = || {
        let target = target();
        let target = target.to_str().ok_or("the folder is no text")?;
        run(Command::new(env!("CARGO_BIN_EXE_bspkit")).args(["ent", "set"]).arg(maps).args([
            "worldspawn",
            "bspkit_bench=1",
            "-q",
            "-o",
            target,
        ]))
    };
    let edit = group.row("`ent set`", work, copy, edit);
    let ratio = group.measure(turns)?.ratio(edit, copy);

    println!();
    aim("maps are checked at 300 MB/s", &format!("{} MB/s", three_digits(checked)), checked >= 300.0);
    aim("maps are verified at 300 MB/s", &format!("{} MB/s", three_digits(verified)), verified >= 300.0);
    aim("an edit of all takes 1.5 of `cp -r` and `sync` at most", &three_digits(ratio), ratio <= 1.5);
    Ok(())
}

fn aim(what: &str, found: &str, is_met: bool) {
    println!("aim: {what}: {found}, {}", if is_met { "met" } else { "missed" });
}

/// The peak memory of a run, in MiB.
fn peak(arguments: &[&str], folder: &Path) -> Outcome<f64> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bspkit"));
    let command = command.args(&arguments[..2]).arg(folder).args(&arguments[2..]).args(["-q", "-j", "2"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let (status, mut most) = (format!("/proc/{}/status", child.id()), 0.0);
    while child.try_wait()?.is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        most = line.and_then(|line| line.split_whitespace().next()?.parse().ok()).map_or(most, |kib: f64| kib / 1024.0);
        std::thread::sleep(Duration::from_micros(500));
    }
    Ok(most)
}

fn memory(folder: &Path, count: usize) -> Outcome {
    let fixture = fs::read("tests/maps/q2/own_rooms.bsp")?;
    for (name, count) in [("few", 16), ("many", count)] {
        for index in 0..count {
            let path = folder.join(name).join((index % 16).to_string());
            fs::create_dir_all(&path)?;
            fs::write(path.join(format!("{index}.bsp")), &fixture)?;
        }
    }
    println!("\n### The most memory, in MiB\n\n| what | 16 maps | {count} maps |\n|---|---:|---:|");
    let out = folder.join("out");
    let out = out.to_str().ok_or("the folder is no text")?;
    let set = ["ent", "set", "worldspawn", "bspkit_bench=1", "-o", out];
    for arguments in [&["info", "--json"][..], &["ent", "list"], &["verify", "--json"], &["check", "--json"], &set] {
        let [few, many] = ["few", "many"].map(|name| peak(arguments, &folder.join(name)));
        println!("| `{} {}` | {:.1} | {:.1} |", arguments[0], arguments[1], few?, many?);
    }
    Ok(())
}
