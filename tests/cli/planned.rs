//! An edit is checked as it is planned: what it makes wrong is warned of, and refused where engines stop.

use std::collections::BTreeSet;

use bspkit::dialect::Role;
use bspkit::{Bsp, Layout};

use super::room::{Room, fixture};

/// Runs an edit that makes errors of these codes: refused with all of them, taken with --force.
fn refused(room: &Room, edit: &str, codes: &[&str]) {
    let run = room.bspkit(&format!("{edit} -o refused.bsp")).without_data(2);
    assert!(run.err.contains("the edit would add") && run.err.contains("use --force"), "{}", run.err);
    let found: BTreeSet<&str> = run.err.split("error[").skip(1).filter_map(|rest| rest.split(']').next()).collect();
    assert_eq!(found, BTreeSet::from_iter(codes.iter().copied()), "{}", run.err);
    assert!(!room.path("refused.bsp").exists());
    let run = room.bspkit(&format!("{edit} -o forced.bsp --force")).done();
    assert!(run.err.contains("the edit adds error["), "{}", run.err);
    let run = room.bspkit(&format!("{edit} --dry-run")).done();
    assert!(run.err.contains("saving it needs --force"), "{}", run.err);
}

/// Runs an edit that makes a warning of this code.
fn warned(room: &Room, edit: &str, code: &str) {
    let run = room.bspkit(&format!("{edit} -o warned.bsp")).done();
    assert!(run.err.contains(&format!("the edit adds warning[{code}]")), "{}", run.err);
    let json = room.bspkit(&format!("{edit} -o warned.bsp --json")).done().json();
    assert_eq!(json["findings"][0]["code"], code, "{json}");
}

#[test]
fn a_visibility_that_passes_the_limit_is_warned_of() {
    // Rows of zeros take little room, and the row of ones that `vis fill` writes takes 16,250 bytes.
    const CLUSTERS: usize = 130_000;
    let room = Room::empty();
    let map = fixture("q2/own_rooms");
    let bsp = Bsp::parse(&map).unwrap();
    let start = 4 + CLUSTERS * 8;
    let mut lump = (CLUSTERS as u32).to_le_bytes().to_vec();
    lump.extend((0..CLUSTERS * 2).flat_map(|_| (start as u32).to_le_bytes()));
    (0..CLUSTERS.div_ceil(8).div_ceil(255)).for_each(|_| lump.extend([0, 255]));
    let mut draft = bsp.draft();
    draft.set(bsp.role(Role::Visibility).unwrap().id, lump).unwrap();
    room.write("map.bsp", &draft.plan(Layout::Keep).unwrap().to_vec());
    warned(&room, "vis fill map.bsp", "limit");
}

#[test]
fn braces_that_touch_words_are_found_in_whatever_way_the_text_comes() {
    let room = Room::new();
    room.write("text.bin", b"{\"classname\" \"worldspawn\"}\n\0");
    refused(&room, "load q3.bsp entities text.bin", &["entity-structure"]);
    warned(&room, "load goldsrc.bsp entities text.bin", "entity-engines");
}

#[test]
fn missing_and_empty_classes_are_found_in_whatever_way_the_text_comes() {
    let room = Room::new();
    room.write("q1.bsp", &fixture("q1/own_rooms"));
    room.write("none.bin", b"{\n\"classname\" \"worldspawn\"\n}\n{\n\"origin\" \"0 0 0\"\n}\n\0");
    refused(&room, "load source.bsp entities none.bin", &["entity-class"]);
    room.write("empty.bin", b"{\n\"classname\" \"worldspawn\"\n}\n{\n\"classname\" \"\"\n}\n\0");
    warned(&room, "load q1.bsp entities empty.bin", "entity-engines");
}

#[test]
fn frames_that_an_animation_loses_are_refused() {
    refused(&Room::new(), "tex rename goldsrc.bsp +0OWN_BTN +1OWN_BTN", &["texture-frames"]);
}

#[test]
fn what_names_a_face_that_is_gone_is_refused() {
    let room = Room::new();
    let faces = room.bspkit("dump q2.bsp faces --json").done();
    let lines: Vec<&str> = faces.text().lines().collect();
    room.write("less.jsonl", lines[..lines.len() - 1].join("\n").as_bytes());
    refused(&room, "load q2.bsp faces less.jsonl --resize", &["run-range", "index-range"]);
}

#[test]
fn what_was_wrong_before_is_not_told_again() {
    let room = Room::new();
    room.bspkit("set q2.bsp faces[3].texinfo=99 -o bad.bsp --force").done();
    for edit in ["set bad.bsp faces[4].texinfo=1", "set bad.bsp faces[3].texinfo=98", "ent rm bad.bsp #2"] {
        let run = room.bspkit(&format!("{edit} -o out.bsp")).done();
        assert!(!run.err.contains("warning"), "{edit}: {}", run.err);
    }
    // Entities behind one that is removed move, and what is wrong with them is not new.
    room.bspkit("ent set q3.bsp #5 model=*99 -o bad.bsp --force").done();
    let run = room.bspkit("ent rm bad.bsp #2 -o out.bsp").done();
    assert!(!run.err.contains("warning"), "{}", run.err);
    refused(&room, "ent set bad.bsp #6 model=*98", &["entity-model"]);
}

#[test]
fn ten_errors_are_listed_and_the_others_counted() {
    let room = Room::new();
    room.write("two.bin", &[0; 40]);
    let run = room.bspkit("load q2.bsp planes two.bin --resize -o out.bsp").without_data(2);
    assert_eq!(run.err.matches("error[").count(), 10, "{}", run.err);
    assert!(run.err.contains("the edit would add 247 errors") && run.err.contains("and 237 more"), "{}", run.err);
}
