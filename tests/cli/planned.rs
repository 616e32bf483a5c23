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

/// E9, E10: GoldSrc's and Quake's engines that read a value in another way, in whatever way the text comes.
#[test]
fn letters_that_engines_read_in_another_way_are_warned_of() {
    let room = Room::new();
    room.write("q1.bsp", &fixture("q1/own_rooms"));
    let patch = |changes: &str| {
        let on = "\"op\": \"edit\", \"on\": {\"index\": 0}";
        format!("{{\"bspkit_patch\": 1, \"operations\": [{{{on}, \"changes\": [{changes}]}}]}}")
    };
    let change = |key: &str, value: &str| format!("{{\"do\": \"set\", \"key\": \"{key}\", \"value\": \"{value}\"}}");
    let many: Vec<String> = (0..300).map(|number| change(&format!("k{number}"), "v")).collect();
    room.write("many.json", patch(&many.join(", ")).as_bytes());
    room.write("end.json", patch(&change("wad", "c:\\\\")).as_bytes());
    room.write("letters.json", patch(&change("message", "a\\\\b")).as_bytes());
    let text = |inside: &str| format!("{{\n\"classname\" \"worldspawn\"\n{inside}}}\n");
    let pairs: String = (0..300).map(|number| format!("\"k{number}\" \"v\"\n")).collect();
    room.write("many.ent", text(&pairs).as_bytes());
    room.write("end.ent", text("\"wad\" \"c:\\\"\n").as_bytes());
    room.write("letters.ent", text("\"message\" \"a\\b\"\n").as_bytes());
    room.write("key.ent", text("\"key \" \"a\"\n").as_bytes());
    for file in ["many", "end"] {
        warned(&room, &format!("ent patch goldsrc.bsp {file}.json"), "entity-engines");
        warned(&room, &format!("ent import goldsrc.bsp {file}.ent"), "entity-engines");
    }
    for edit in ["patch q1.bsp letters.json", "import q1.bsp letters.ent", "import q1.bsp key.ent"] {
        let run = room.bspkit(&format!("ent {edit} -o noted.bsp")).done();
        assert!(run.err.contains("the edit adds note[entity-letters]"), "{edit}: {}", run.err);
    }
    let run = room.run(&["ent", "set", "q1.bsp", "worldspawn", "message=a\\\\b", "-o", "noted.bsp"]).done();
    assert!(run.err.contains("the edit adds note[entity-letters]"), "{}", run.err);
    // Notes about other lumps are for --verbose.
    let run = room.bspkit("ent import q1.bsp letters.ent -o noted.bsp -q").done();
    assert!(run.err.contains("engines drop") || run.err.contains("lose the letter"), "{}", run.err);
}

/// E8: an entity edit replaces all of a text that runs past the end of the file, so nothing is damaged afterwards.
#[test]
fn entities_that_run_past_the_end_are_edited_without_force() {
    let room = Room::empty();
    room.write("cut.bsp", include_bytes!("../broken/entities_overrun.bsp"));
    room.write("new.ent", b"{\n\"classname\" \"worldspawn\"\n\"message\" \"new\"\n}\n");
    room.write("patch.json", b"{\"bspkit_patch\": 1, \"operations\": [{\"op\": \"add\", \"text\": \"{\\n}\"}]}");
    for edit in ["set cut.bsp worldspawn message=new", "import cut.bsp new.ent", "patch cut.bsp patch.json"] {
        let run = room.bspkit(&format!("ent {edit} -o whole.bsp")).done();
        assert!(run.err.contains("ENTITIES runs past the end of the file"), "{edit}: {}", run.err);
        assert!(!room.bspkit("info whole.bsp").done().text().contains("past the end"), "{edit}");
        room.bspkit("verify whole.bsp").done();
    }
    // Another lump that is damaged still is.
    room.write("both.bsp", include_bytes!("../broken/lump_far_away.bsp"));
    assert!(room.bspkit("ent set both.bsp worldspawn message=new -o x.bsp").without_data(2).err.contains("--force"));
}
