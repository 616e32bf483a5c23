//! What scripts cost: memory and time, of hostile ones too. A program of its own, since the memory is that of a
//! process.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use bspkit::Bsp;
use bspkit::content::entities::Entities;
use bspkit_script::{Limits, Script, Settings};

/// One test at a time: they measure.
static ALONE: Mutex<()> = Mutex::new(());

fn limits(memory: u64, time: u64) -> Limits {
    let mut limits = Limits::default();
    (limits.memory, limits.time, limits.steps) = (memory, Duration::from_secs(time), 1_000_000_000);
    limits
}

/// The most memory that this process has had, in bytes.
#[cfg(target_os = "linux")]
fn most_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

/// Whatever a value is made of, a script that lets it grow is stopped soon after its bound.
#[cfg(target_os = "linux")]
#[test]
fn values_that_grow_are_stopped() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let long = "let s = \"aaaaaaaaaaaaaaaa\"; for i in 0..16 { s += s; }";
    for text in [
        "let a = [0]; loop { a = [a, a]; }",
        "let a = [0]; loop { a = [a, a, a, a, a, a, a, a]; }",
        "let a = []; loop { a.push(a); }",
        "let a = [0]; loop { a += a; }",
        "let a = [0]; loop { a = a + a; }",
        "let a = [0]; loop { a.append(a); }",
        "let a = [[0]]; loop { a.insert(0, a); }",
        "let a = [0]; loop { a = a.map(|x| a_of()); } fn a_of() { [1, 2, 3, 4] }",
        "let a = []; loop { a.push(0); }",
        "let o = #{a: 1}; loop { o = #{a: o, b: o}; }",
        "let o = #{a: 1}; let n = 0; loop { n += 1; o[`${n}`] = o; }",
        "let s = \"x\"; loop { s = `${s}${s}`; }",
        "let b = blob(100); loop { b += b; }",
        &format!("{long} let a = []; loop {{ a.push(s + \"x\"); }}"),
        &format!("{long} let a = []; loop {{ a.push(s.to_blob()); }}"),
    ] {
        let script = Script::compile("grow.rhai", text).unwrap();
        let mut draft = Bsp::open("../../tests/maps/q3/own_rooms.bsp").unwrap().draft();
        let error = script.run(&mut draft, &Settings::default().limits(limits(256 << 20, 60))).unwrap_err();
        let bound = error.to_string();
        assert!(
            bound.ends_with("more memory than a script may use") || bound.contains("more than 4194304"),
            "{text}: {bound}"
        );
        assert!(most_memory() < 2 << 30, "{text}: {} MiB", most_memory() >> 20);
    }
}

/// A map with this many entities, half of them lights.
fn map(entities: usize) -> Bsp<'static> {
    let mut draft = Bsp::open("../../tests/maps/q3/own_rooms.bsp").unwrap().draft();
    let mut text = String::from("{\n\"classname\" \"worldspawn\"\n}\n");
    for number in 1..entities {
        let class = if number % 2 == 0 { "light" } else { "target_position" };
        text += &format!("{{\n\"classname\" \"{class}\"\n\"origin\" \"{number} 0 0\"\n}}\n");
    }
    let rules = *draft.entities().unwrap().rules();
    *draft.entities().unwrap() = Entities::parse(text.into_bytes(), rules).unwrap();
    let mut bytes = Vec::new();
    draft.plan(bspkit::Layout::Keep).unwrap().write_to(&mut bytes).unwrap();
    Bsp::parse(bytes.leak()).unwrap()
}

/// The shortest of three times of a script.
fn time(bsp: &Bsp<'static>, text: &str) -> Duration {
    let script = Script::compile("time.rhai", text).unwrap();
    let run = || {
        let (mut draft, begun) = (bsp.draft(), Instant::now());
        script.run(&mut draft, &Settings::default().limits(limits(8 << 30, 300))).unwrap();
        begun.elapsed()
    };
    (0..3).map(|_| run()).min().unwrap()
}

/// Four times the work takes about four times as long. What is quadratic takes 16 times as long.
#[test]
fn work_on_each_entity_and_item_is_linear() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let maps = [map(5_000), map(20_000)];
    for text in [
        "for e in entities { if e.classname == \"light\" { e.remove(); } }",
        "for e in entities.select(\"light\") { e.remove(); }",
        "for e in entities.select(\"light\") { let c = e.duplicate(); c.origin = \"1 2 3\"; }",
        "let last = entities[-1]; for e in entities.select(\"light\") { e.move_after(last); }",
        "loop { let e = entities.first(\"light\"); if e == () { break; } e.remove(); }",
        "loop { let e = entities.first(\"light\"); if e == () { break; } e.classname = \"lamp\"; }",
        "for e in entities.select(\"light\") { e.remove(); entities.add(#{classname: \"lamp\"}); }",
        "let a = []; for e in entities { a.push(e); a.push(e.classname); }",
        "let a = []; for e in entities { a.push(1); } let i = 0; while i < a.len() { a[i] += 1; i += 1; }",
        "let o = #{}; for e in entities { o[`${e.index()}`] = 1; }",
    ] {
        // On a busy machine a time may be wrong; what is quadratic is so each time.
        let times = || maps.each_ref().map(|map| time(map, text));
        let is_linear = |[few, many]: &[Duration; 2]| many.as_secs_f64() / few.as_secs_f64() < 8.0;
        let tries: Vec<[Duration; 2]> = std::iter::repeat_with(times).take(4).collect();
        assert!(tries.iter().any(is_linear), "{text}: {tries:?}");
    }
}
