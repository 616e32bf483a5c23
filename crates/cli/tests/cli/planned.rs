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
    let run = room.bspkit(&format!("{edit} --dry-run"));
    assert_eq!(run.code, Some(1), "{}", run.err);
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
    refused(&room, "load q3.bsp entities text.bin", &["entity-no-world", "entity-structure"]);
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
    room.write("cut.bsp", include_bytes!("../../../../tests/broken/entities_overrun.bsp"));
    room.write("new.ent", b"{\n\"classname\" \"worldspawn\"\n\"message\" \"new\"\n}\n");
    room.write("patch.json", b"{\"bspkit_patch\": 1, \"operations\": [{\"op\": \"add\", \"text\": \"{\\n}\"}]}");
    for edit in ["set cut.bsp worldspawn message=new", "import cut.bsp new.ent", "patch cut.bsp patch.json"] {
        let run = room.bspkit(&format!("ent {edit} -o whole.bsp")).done();
        assert!(run.err.contains("ENTITIES runs past the end of the file"), "{edit}: {}", run.err);
        assert!(!room.bspkit("info whole.bsp").done().text().contains("past the end"), "{edit}");
        room.bspkit("verify whole.bsp").done();
    }
    // Another lump that is damaged still is.
    room.write("both.bsp", include_bytes!("../../../../tests/broken/lump_far_away.bsp"));
    assert!(room.bspkit("ent set both.bsp worldspawn message=new -o x.bsp").without_data(2).err.contains("--force"));
}

/// Where content is missing for certain, an edit would hide that: the new lump is whole.
#[test]
fn a_lump_that_is_cut_off_is_edited_with_force_alone() {
    let room = Room::new();
    let map = room.read("q2.bsp");
    let text = Bsp::parse(&map).unwrap().role(Role::Entities).unwrap().stored.clone();
    room.write("cut.bsp", &map[..text.end - 300]);
    assert!(!map[..text.end - 300].ends_with(b"}\n"));
    room.write("new.ent", b"{\n\"classname\" \"worldspawn\"\n}\n");
    for edit in ["set cut.bsp worldspawn message=new", "import cut.bsp new.ent"] {
        let run = room.bspkit(&format!("ent {edit} -o whole.bsp")).without_data(2);
        assert!(
            run.err.contains("ENTITIES runs past the end of the file") && run.err.contains("--force"),
            "{}",
            run.err
        );
        room.bspkit(&format!("ent {edit} -o whole.bsp --force")).done();
    }
    // A lump that is not text is never known to be whole.
    let mut cut = map.clone();
    let length = u32::try_from(map.len()).unwrap().to_le_bytes();
    cut[8 + 8 * 7 + 4..][..4].copy_from_slice(&length);
    let mut draft = Bsp::parse(&cut).unwrap().draft();
    let light = draft.bsp().role(Role::Lighting).unwrap().id;
    draft.set(light, vec![7; 9]).unwrap();
    assert!(draft.plan(Layout::Keep).unwrap().needs_force().is_some_and(|why| why.contains("LIGHTING")));
}

/// The references of a field to another lump, in JSON.
fn references(room: &Room, edit: &str) -> Vec<(String, u64, u64)> {
    let json = room.bspkit(&format!("{edit} --dry-run --json --force")).done().json();
    let list = json["references"].as_array().unwrap().iter().map(|stale| {
        let text = |name: &str| stale[name].as_str().unwrap().to_owned();
        let name = format!("{}.{} {}", text("lump"), text("field"), text("target"));
        (name, stale["moved"].as_u64().unwrap(), stale["missing"].as_u64().unwrap())
    });
    list.collect()
}

#[test]
fn references_to_records_that_moved_are_warned_of_though_they_are_in_range() {
    let room = Room::new();
    let planes = room.bspkit("dump q2.bsp planes").done().text().to_owned();
    let lines: Vec<&str> = planes.lines().collect();
    let write = |name: &str, lines: &[&str]| room.write(name, lines.join("\n").as_bytes());
    // Another plane at the end moves nothing; without the last one, what names it names nothing.
    let last = lines.len() - 1;
    write("more.jsonl", &[&lines[..], &lines[..1]].concat());
    write("less.jsonl", &lines[..last]);
    write("first.jsonl", &lines[1..]);
    write(
        "other.jsonl",
        &[&[&*lines[0].replace("\"distance\":", "\"distance\":1")][..], &lines[1..], &lines[..1]].concat(),
    );
    let load = |name: &str| format!("load q2.bsp planes {name}.jsonl --resize");
    assert_eq!(references(&room, &load("more")), []);
    assert_eq!(references(&room, &load("other")), [], "a plane in its place that changes is still that plane");
    let missing = references(&room, &load("less"));
    assert!(missing.iter().all(|(_, moved, missing)| *moved == 0 && *missing > 0), "{missing:?}");
    let map = Bsp::from_vec(room.read("q2.bsp")).unwrap();
    let faces = map.table(bspkit::dialect::quake2::FACES).unwrap();
    let all = references(&room, &load("first"));
    let names: Vec<&str> = all.iter().map(|(name, ..)| &**name).collect();
    assert_eq!(names, ["NODES.plane PLANES", "FACES.plane PLANES", "BRUSHSIDES.plane PLANES"]);
    // The last plane is gone from its index; all others have another one there.
    let gone = faces.iter().filter(|face| usize::from(face.plane) == last).count() as u64;
    assert_eq!((all[1].1, all[1].2), (faces.len() as u64 - gone, gone));
    let run = room.bspkit(&format!("{} -o out.bsp --force", load("first"))).done();
    assert!(run.err.contains("warning: q2.bsp: FACES.plane: "), "{}", run.err);
    assert!(run.err.contains(" references name another record of PLANES than before"), "{}", run.err);
    // A save of the same number of records says nothing of the kind.
    assert_eq!(references(&room, "set q2.bsp planes[0].distance=8"), []);
}

/// The light of a static prop is in a file that has its number in its name.
#[test]
fn names_of_embedded_files_that_are_left_behind_are_said() {
    let room = Room::new();
    room.write("light.vhv", b"light");
    room.write("v20.bsp", &super::room::fixture("source/room_v20"));
    let count = room.bspkit("dump v20.bsp game:sprp.props").text().lines().count();
    room.bspkit(&format!(
        "pak add v20.bsp sp_0.vhv=light.vhv sp_hdr_{}.vhv=light.vhv sp_x.vhv=light.vhv -o lit.bsp",
        count - 1
    ))
    .done();
    let props = room.bspkit("dump lit.bsp game:sprp.props").text().to_owned();
    room.write("less.jsonl", props.split_inclusive('\n').skip(1).collect::<String>().as_bytes());
    let run = room.bspkit("load lit.bsp game:sprp.props less.jsonl --resize -o out.bsp").done();
    assert!(
        run.err.contains("PAKFILE.names: 1 reference names another record of game:sprp.props than before, 1 names one"),
        "{}",
        run.err
    );
    let run = room.bspkit("load lit.bsp game:sprp.props less.jsonl --follow -o out.bsp").done();
    assert!(!run.err.contains("PAKFILE.names"), "{}", run.err);
}

#[test]
fn references_in_runs_trees_edges_and_entities_are_followed() {
    let room = Room::new();
    let without_first = |lump: &str| {
        let text = room.bspkit(&format!("dump q2.bsp {lump}")).done().text().to_owned();
        let (_, rest) = text.split_once('\n').unwrap();
        room.write(format!("{lump}.jsonl"), rest.as_bytes());
        let names = references(&room, &format!("load q2.bsp {lump} {lump}.jsonl --resize"));
        names.into_iter().map(|(name, ..)| name).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(without_first("leaffaces"), "LEAFS.first_leaf_face LEAFFACES");
    assert_eq!(without_first("edges"), "SURFEDGES.edge EDGES");
    assert!(without_first("leafs").contains("NODES.children[0] LEAFS, NODES.children[1] LEAFS"));
    assert_eq!(without_first("models"), "ENTITIES.model MODELS");
}

/// `load --follow` treats records that are missing or new as removed or added: everything that refers to them follows.
#[test]
fn loaded_records_can_be_followed() {
    let room = Room::new();
    let dump = |map: &str, lump: &str| room.bspkit(&format!("dump {map} {lump}")).done().text().to_owned();
    let texinfo = dump("q2.bsp", "texinfo");
    let lines: Vec<&str> = texinfo.lines().collect();
    room.write("more.jsonl", [&lines[..1], &lines[..]].concat().join("\n").as_bytes());
    room.bspkit("load q2.bsp texinfo more.jsonl --follow -o more.bsp").done();
    let number = |map: &str| -> Vec<u64> {
        let faces = dump(map, "faces");
        faces
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["texinfo"].as_u64().unwrap())
            .collect()
    };
    let moved: Vec<u64> =
        number("q2.bsp").into_iter().map(|texinfo| if texinfo == 0 { 0 } else { texinfo + 1 }).collect();
    assert_eq!(number("more.bsp"), moved);
    room.bspkit("check more.bsp").done();
    // And the old records again.
    room.write("old.jsonl", texinfo.as_bytes());
    room.bspkit("load more.bsp texinfo old.jsonl --follow -o back.bsp").done();
    for lump in ["texinfo", "faces", "brushsides"] {
        assert_eq!(dump("back.bsp", lump), dump("q2.bsp", lump));
    }

    // Who needs a removed record is listed, or goes too.
    room.write("less.jsonl", lines[1..].join("\n").as_bytes());
    let run = room.bspkit("load q2.bsp texinfo less.jsonl --follow -o no.bsp").without_data(2);
    assert!(run.err.contains("TEXINFO[0] is still needed: by ") && run.err.contains("--cascade"), "{}", run.err);
    let run = room.bspkit("load q2.bsp texinfo less.jsonl --follow --cascade -o less.bsp").done();
    assert!(format!("{}{}", run.err, run.text()).contains("1 of TEXINFO"), "{}", run.err);
    // Without it the report says which fields name other records.
    assert!(!references(&room, "load q2.bsp texinfo less.jsonl --resize").is_empty());
    let run = room.bspkit("load q2.bsp texinfo less.jsonl -o no.bsp").without_data(2);
    assert!(run.err.contains("--follow"), "{}", run.err);
}

/// References that are updated in the same edit are not stale.
#[test]
fn references_that_are_updated_too_are_not_warned_of() {
    let map = Bsp::from_vec(fixture("q2/own_rooms")).unwrap();
    let mut draft = map.draft();
    let planes = map.slot("planes").unwrap().id;
    let bytes = map.bytes(planes).unwrap();
    draft.set(planes, [&bytes[..20], &bytes[..]].concat()).unwrap();
    let stale = bspkit_ops::check::stale(&draft).unwrap();
    assert!(stale.iter().any(|stale| stale.lump == "FACES"), "{stale:?}");
    let faces = draft.table(bspkit::dialect::quake2::FACES).unwrap().len();
    for index in 0..faces {
        draft.update(bspkit::dialect::quake2::FACES, index, |face| face.plane += 1).unwrap();
    }
    let stale = bspkit_ops::check::stale(&draft).unwrap();
    assert!(stale.iter().all(|stale| stale.lump != "FACES") && !stale.is_empty(), "{stale:?}");
}
