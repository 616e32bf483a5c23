//! Rules that were applied before are not applied again: `ent apply`, `rules status`.

use super::room::{Room, entities};

const ADD: &[u8] = b"add:\n{\n\"classname\" \"info_null\"\n\"origin\" \"1 2 3\"\n}\n";

fn count(room: &Room, map: &str, class: &str) -> usize {
    let run = room.bspkit(&format!("ent get {map} * classname")).done();
    run.text().lines().filter(|line| *line == class).count()
}

#[test]
fn applying_twice_is_once() {
    let room = Room::new();
    room.write("r.cfg", ADD);
    room.bspkit("ent apply q2.bsp --rules r.cfg --in-place --backup").done();
    let (once, backup) = (room.read("q2.bsp"), room.read("q2.bsp.bak"));
    let run = room.bspkit("ent apply q2.bsp --rules r.cfg --in-place --backup").done();
    assert!(run.err.contains("the rules are recorded as applied"), "{}", run.err);
    assert!(room.read("q2.bsp") == once && room.read("q2.bsp.bak") == backup);
    room.bspkit("ent apply q2.bsp --rules r.cfg --in-place --again").done();
    assert_eq!(count(&room, "q2.bsp", "info_null"), 2);
}

#[test]
fn a_chain_of_outputs_applies_once() {
    let room = Room::new();
    room.write("r.cfg", ADD);
    room.bspkit("ent apply q2.bsp --rules r.cfg -o a.bsp").done();
    room.bspkit("ent apply a.bsp --rules r.cfg -o b.bsp").done();
    room.bspkit("ent apply b.bsp --rules r.cfg -o out/c.bsp").without_data(2);
    std::fs::create_dir(room.path("out")).unwrap();
    room.bspkit("ent apply b.bsp --rules r.cfg -o out/c.bsp").done();
    assert!(room.read("a.bsp") == room.read("b.bsp") && room.read("a.bsp") == room.read("out/c.bsp"));
}

#[test]
fn a_map_without_its_record_is_recognised_by_what_is_there() {
    let room = Room::new();
    room.write("r.cfg", ADD);
    room.bspkit("ent apply q2.bsp --rules r.cfg -o a.bsp").done();
    room.write("copy/a.bsp", &room.read("a.bsp"));
    let run = room.bspkit("ent apply copy/a.bsp --rules r.cfg -o b.bsp").done();
    assert!(run.err.contains("all that the rules would add is in the map already"), "{}", run.err);
    assert!(room.read("a.bsp") == room.read("b.bsp"));
    // One of two is gone: whether to add it again, nobody can know.
    room.write("two.cfg", &[ADD, b"{\n\"classname\" \"info_notnull\"\n}\n"].concat());
    room.bspkit("ent apply q2.bsp --rules two.cfg -o two.bsp").done();
    room.bspkit("ent rm two.bsp info_notnull -o copy/two.bsp").done();
    let run = room.bspkit("ent apply copy/two.bsp --rules two.cfg -o no.bsp").without_data(2);
    assert!(run.err.contains("it cannot be known") && run.err.contains("--again"), "{}", run.err);
    assert!(!room.path("no.bsp").exists() && !room.path("no.bsp.rules.json").exists());
    room.bspkit("ent apply copy/two.bsp --rules two.cfg -o yes.bsp --again").done();
    assert_eq!(count(&room, "yes.bsp", "info_null"), 2);
}

/// Rules may match what they added before, and change it: it was there all the same.
#[test]
fn what_an_earlier_rule_makes_of_an_added_one_is_recognised() {
    const LIGHTS: &str = "modify:\n{\nmatch:\n{\n\"classname\" \"light\"\n}\nreplace:\n{\n\"light\" \"999\"\n}\n}\n\
                          add:\n{\n\"classname\" \"light\"\n\"light\" \"50\"\n}\n";
    const DOORS: &str = "modify:\n{\nmatch:\n{\n\"classname\" \"func_door\"\n}\nreplace:\n{\n\"speed\" \"1\"\n}\n\
                         insert:\n{\n\"speed\" \"2\"\n}\n}\n";
    const OVER: &str = "modify:\n{\nmatch:\n{\n\"classname\" \"light\"\n}\ndelete:\n{\n\"note\" \"/./\"\n}\n\
                        insert:\n{\n\"note\" \"1\"\n}\n}\n";
    for rules in [LIGHTS, DOORS] {
        let room = Room::new();
        room.write("r.cfg", rules.as_bytes());
        room.bspkit("ent apply q2.bsp --rules r.cfg -o a.bsp").done();
        room.write("copy/a.bsp", &room.read("a.bsp"));
        let run = room.bspkit("ent apply copy/a.bsp --rules r.cfg -o b.bsp").done();
        assert!(run.err.contains("all that the rules would add is in the map already"), "{rules}: {}", run.err);
        assert!(room.read("a.bsp") == room.read("b.bsp"), "{rules}");
        // The same with a record, after an edit of something else.
        room.bspkit("ent set a.bsp worldspawn own=1 --in-place").done();
        let run = room.bspkit("ent apply a.bsp --rules r.cfg --in-place").done();
        assert!(run.err.contains("recorded as applied"), "{rules}: {}", run.err);
    }
    // A pair that is removed and written again says nothing.
    let room = Room::new();
    room.write("r.cfg", OVER.as_bytes());
    room.bspkit("ent set q2.bsp #6 note=1 --in-place").done();
    let run = room.bspkit("ent apply q2.bsp --rules r.cfg -o a.bsp").done();
    assert!(run.err.contains("a.bsp: "), "{}", run.err);
}

/// Of equal entities that rules add each one counts.
#[test]
fn one_of_two_equal_entities_is_a_part() {
    let room = Room::new();
    room.write("one.cfg", ADD);
    room.write("two.cfg", &[ADD, ADD].concat());
    room.bspkit("ent apply q2.bsp --rules one.cfg -o one.bsp").done();
    room.write("copy/one.bsp", &room.read("one.bsp"));
    let run = room.bspkit("ent apply copy/one.bsp --rules two.cfg -o no.bsp").without_data(2);
    assert!(run.err.contains("1 of the entities and pairs"), "{}", run.err);
}

/// A pair that an entity has already is no other one.
#[test]
fn inserted_pairs_are_recognised() {
    let room = Room::new();
    room.write("r.cfg", b"modify:\n{\nmatch:\n{\n\"classname\" \"light\"\n}\ninsert:\n{\n\"note\" \"x\"\n}\n}\n");
    room.bspkit("ent apply q2.bsp --rules r.cfg -o a.bsp").done();
    std::fs::remove_file(room.path("a.bsp.rules.json")).unwrap();
    room.bspkit("ent apply a.bsp --rules r.cfg -o b.bsp").done();
    assert!(room.read("a.bsp") == room.read("b.bsp"));
}

/// The record is that of the file, by whatever link the map is named: it is where the save and its backup go.
#[cfg(unix)]
#[test]
fn a_link_to_a_map_has_the_record_of_the_map() {
    let room = Room::new();
    room.write("r.rule", b"{\n\tmatch classname light\n\thave light\n\tmult light 2\n}\n");
    room.write("store/dm.bsp", &room.read("q2.bsp"));
    room.write("srv/none", b"");
    std::os::unix::fs::symlink("../store/dm.bsp", room.path("srv/dm.bsp")).unwrap();
    room.bspkit("ent apply srv/dm.bsp --rules r.rule --in-place").done();
    let once = room.read("store/dm.bsp");
    for map in ["store/dm.bsp", "srv/dm.bsp"] {
        let run = room.bspkit(&format!("ent apply {map} --rules r.rule --in-place")).done();
        assert!(run.err.contains("the rules are recorded as applied"), "{}", run.err);
        assert!(room.read("store/dm.bsp") == once);
        assert!(room.bspkit(&format!("rules status {map}")).done().text().contains("r.rule"));
    }
    assert!(room.path("store/dm.bsp.rules.json").exists() && !room.path("srv/dm.bsp.rules.json").exists());
}

/// Calculations leave nothing to be recognised by; the record knows them.
#[test]
fn calculations_are_recorded() {
    let room = Room::new();
    room.write("r.rule", b"{ match \"classname\" \"light\" have \"light\" mult \"light\" 2 }\n");
    room.bspkit("ent apply goldsrc.bsp --rules r.rule --in-place");
    room.write(
        "r.rule",
        b"{ match \"classname\" \"worldspawn\" new \"n\" \"2\" } { match \"classname\" \"worldspawn\" mult \"n\" 2 }\n",
    );
    room.bspkit("ent apply goldsrc.bsp --rules r.rule --in-place").done();
    room.bspkit("ent apply goldsrc.bsp --rules r.rule --in-place").done();
    assert_eq!(room.bspkit("ent get goldsrc.bsp worldspawn n").text(), "4\n");
}

#[test]
fn an_edit_by_hand_between_does_not_apply_rules_again() {
    let room = Room::new();
    room.write("r.cfg", ADD);
    room.bspkit("ent apply q2.bsp --rules r.cfg --in-place").done();
    room.bspkit("ent set q2.bsp light light=7 --in-place").done();
    room.bspkit("ent apply q2.bsp --rules r.cfg --in-place").done();
    assert_eq!(count(&room, "q2.bsp", "info_null"), 1);
    // What was added has changed: it may be meant, or the map may be another one.
    room.bspkit("ent set q2.bsp info_null note=mine --in-place").done();
    let run = room.bspkit("ent apply q2.bsp --rules r.cfg --in-place").without_data(2);
    assert!(run.err.contains("its entities were edited since"), "{}", run.err);
    assert_eq!(count(&room, "q2.bsp", "info_null"), 1);
}

/// The old file is put back, or the map is compiled again: the record tells of another map.
#[test]
fn a_map_as_it_was_before_gets_the_rules() {
    let room = Room::new();
    room.write("r.cfg", ADD);
    room.bspkit("ent apply q2.bsp --rules r.cfg --in-place --backup").done();
    let once = room.read("q2.bsp");
    room.write("q2.bsp", &room.read("q2.bsp.bak"));
    room.bspkit("ent apply q2.bsp --rules r.cfg --in-place").done();
    assert!(room.read("q2.bsp") == once);
    room.write("q2.bsp", &room.read("q3.bsp"));
    room.bspkit("ent apply q2.bsp --rules r.cfg --in-place").done();
    assert_eq!(count(&room, "q2.bsp", "info_null"), 1);
}

/// A run that applies nothing does not say that what was undone is in the map.
#[test]
fn rules_that_were_undone_are_applied_again() {
    let room = Room::new();
    room.write("one.cfg", ADD);
    room.write("two.cfg", b"filter:\n{\n\"classname\" \"light\"\n}\n");
    let lights = count(&room, "q2.bsp", "light");
    for rules in ["one", "two"] {
        room.bspkit(&format!("ent apply q2.bsp --rules {rules}.cfg --in-place --backup")).done();
    }
    room.bspkit("undo q2.bsp").done();
    assert_eq!(count(&room, "q2.bsp", "light"), lights);
    let run = room.bspkit("ent apply q2.bsp --rules one.cfg --in-place").done();
    assert!(run.err.contains("recorded as applied"), "{}", run.err);
    room.bspkit("ent apply q2.bsp --rules two.cfg --in-place").done();
    assert_eq!((count(&room, "q2.bsp", "light"), count(&room, "q2.bsp", "info_null")), (0, 1));
}

/// A save that is refused records nothing.
#[test]
fn a_refused_save_is_not_recorded() {
    let room = Room::new();
    room.write("r.cfg", ADD);
    let mut rights = std::fs::metadata(room.path("q2.bsp")).unwrap().permissions();
    rights.set_readonly(true);
    std::fs::set_permissions(room.path("q2.bsp"), rights).unwrap();
    room.bspkit("ent apply q2.bsp --rules r.cfg --in-place").without_data(2);
    assert!(!room.path("q2.bsp.rules.json").exists());
    room.bspkit("ent apply q2.bsp --rules r.cfg --in-place --force").done();
    assert!(room.path("q2.bsp.rules.json").exists());
}

#[test]
fn files_are_told_apart() {
    let room = Room::new();
    let other = b"add:\n{\n\"classname\" \"info_notnull\"\n}\n";
    room.write("r.cfg", ADD);
    room.write("s.cfg", other);
    room.bspkit("ent apply q2.bsp --rules r.cfg --in-place").done();
    room.bspkit("ent apply q2.bsp --rules s.cfg --in-place").done();
    for name in ["r.cfg", "s.cfg", "r.cfg"] {
        room.bspkit(&format!("ent apply q2.bsp --rules {name} --in-place")).done();
    }
    assert_eq!((count(&room, "q2.bsp", "info_null"), count(&room, "q2.bsp", "info_notnull")), (1, 1));
    // Comments are no rules, and a file of another name may have the same ones.
    room.write("t.cfg", &[b"; a comment\n", ADD].concat());
    room.bspkit("ent apply q2.bsp --rules t.cfg --in-place").done();
    assert_eq!(count(&room, "q2.bsp", "info_null"), 1);
}

#[test]
fn a_changed_file_adds_what_follows_or_is_refused() {
    let room = Room::new();
    room.write("r.cfg", ADD);
    room.bspkit("ent apply q2.bsp --rules r.cfg --in-place").done();
    // New rules at the end: what the whole file would have done.
    let more = b"filter:\n{\n\"classname\" \"light\"\n}\n";
    room.write("r.cfg", &[ADD, more].concat());
    let run = room.bspkit("ent apply q2.bsp --rules r.cfg --in-place").done();
    assert!(run.err.contains("; applied before: 1 rule"), "{}", run.err);
    assert_eq!((count(&room, "q2.bsp", "info_null"), count(&room, "q2.bsp", "light")), (1, 0));
    room.bspkit("ent apply q2.bsp --rules r.cfg --in-place").done();
    // A new rule before them, or another value: the map has what the old file added.
    let before = room.read("q2.bsp");
    let changed = String::from_utf8(ADD.to_vec()).unwrap().replace("1 2 3", "1 2 4");
    for text in [[b"filter:\n{\n\"classname\" \"none\"\n}\n", ADD].concat(), changed.into_bytes()] {
        room.write("r.cfg", &text);
        let run = room.bspkit("ent apply q2.bsp --rules r.cfg --in-place").without_data(2);
        assert!(run.err.contains("r.cfg") && run.err.contains("as it was before"), "{}", run.err);
        assert!(room.read("q2.bsp") == before);
    }
}

/// Rules that only say how entities are may be applied at any time.
#[test]
fn filters_may_change() {
    let room = Room::new();
    room.write("r.cfg", b"filter:\n{\n\"classname\" \"light\"\n}\n");
    room.bspkit("ent apply q2.bsp --rules r.cfg --in-place").done();
    room.write("r.cfg", b"filter:\n{\n\"classname\" \"target_speaker\"\n}\n");
    room.bspkit("ent apply q2.bsp --rules r.cfg --in-place").done();
    assert_eq!((count(&room, "q2.bsp", "light"), count(&room, "q2.bsp", "target_speaker")), (0, 0));
}

/// A filter and an addition of the same entity: the text of the entity is another one, and the map is the same.
#[test]
fn what_rules_undo_is_no_change() {
    let room = Room::new();
    let rules = b"filter:\n{\n\"classname\" \"info_null\"\n}\nadd:\n{\n\"classname\" \"info_null\"\n}\n";
    room.write("r.cfg", rules);
    room.bspkit("ent apply q2.bsp --rules r.cfg -o a.bsp").done();
    std::fs::remove_file(room.path("a.bsp.rules.json")).unwrap();
    room.bspkit("ent apply a.bsp --rules r.cfg -o b.bsp").done();
    assert_eq!(entities(&room.read("a.bsp")), entities(&room.read("b.bsp")));
    assert_eq!(count(&room, "b.bsp", "info_null"), 1);
}

#[test]
fn status_says_what_was_applied() {
    let room = Room::new();
    room.write("r.cfg", ADD);
    let none = room.bspkit("rules status q2.bsp").done();
    assert_eq!(none.text(), "q2.bsp: no rules are recorded\n");
    room.bspkit("ent apply q2.bsp --rules r.cfg --in-place").done();
    let run = room.bspkit("rules status q2.bsp").done();
    assert_eq!(
        run.text(),
        "q2.bsp: 1 rule was applied, and the entities are as they were after that\n  r.cfg: 1 rule\n"
    );
    room.bspkit("ent set q2.bsp light light=7 --in-place").done();
    let run = room.bspkit("rules status q2.bsp").done();
    assert!(run.text().contains("the entities were edited since"), "{}", run.text());
    room.write("q2.bsp", &room.read("q3.bsp"));
    let run = room.bspkit("rules status q2.bsp").done();
    assert!(run.text().contains("nothing of the record is in the map"), "{}", run.text());
    room.write("q2.bsp.rules.json", b"{}");
    room.bspkit("rules status q2.bsp").without_data(2);
    let run = room.bspkit("ent apply q2.bsp --rules r.cfg --in-place").without_data(2);
    assert!(run.err.contains("q2.bsp.rules.json is no record of rules"), "{}", run.err);
}

/// A map that is saved over another one is not the map of the record that is there: week after week the map gets the
/// rules again.
#[test]
fn a_record_of_a_map_that_was_replaced_does_not_count() {
    const FILTER: &[u8] = b"filter:\n{\n\"classname\" \"light\"\n}\n";
    for (rules, class, left) in [(ADD, "info_null", 1), (FILTER, "light", 0)] {
        let room = Room::new();
        room.write("r.cfg", rules);
        for week in 1..=2 {
            let run = room.bspkit(&format!("ent set q2.bsp worldspawn motd={week} -o stage.bsp")).done();
            assert_eq!(
                run.err.contains("stage.bsp.rules.json was of the map that is replaced"),
                week == 2,
                "{}",
                run.err
            );
            let run = room.bspkit("ent apply stage.bsp --rules r.cfg --in-place").done();
            assert!(!run.err.contains("not applied again"), "{}", run.err);
            assert_eq!(count(&room, "stage.bsp", class), left, "week {week}");
        }
        // A copy has the record of its map, and a map that gets the rules by -o has its own.
        room.bspkit("ent set stage.bsp worldspawn motd=3 -o copy.bsp").done();
        let run = room.bspkit("ent apply copy.bsp --rules r.cfg --in-place").done();
        assert!(run.err.contains("not applied again") || rules == FILTER, "{}", run.err);
        let run = room.bspkit("ent apply q2.bsp --rules r.cfg -o copy.bsp").done();
        assert!(!run.err.contains("rules.json"), "{}", run.err);
        assert_eq!(count(&room, "copy.bsp", class), left);
        let status = room.bspkit("rules status copy.bsp").done();
        assert!(status.text().contains("are as they were after that"), "{}", status.text());
    }
}

/// Rules that add nothing do to new entities what they did to the others.
#[test]
fn a_filter_is_applied_again_to_what_came_back() {
    let room = Room::new();
    room.write("r.cfg", b"filter:\n{\n\"classname\" \"light\"\n}\n");
    room.bspkit("ent apply q2.bsp --rules r.cfg --in-place").done();
    room.bspkit("ent add q2.bsp classname=light light=300 --in-place").done();
    room.bspkit("ent apply q2.bsp --rules r.cfg --in-place").done();
    assert_eq!(count(&room, "q2.bsp", "light"), 0);
}

/// A refused or failed save leaves no record, and neither does a dry run.
#[test]
fn only_what_is_saved_is_recorded() {
    let room = Room::new();
    room.write("r.cfg", ADD);
    room.bspkit("ent apply q2.bsp --rules r.cfg --dry-run");
    room.bspkit("ent apply q2.bsp --rules r.cfg -o none/out.bsp").without_data(2);
    room.bspkit("ent apply q2.bsp --rules r.cfg -o -");
    assert!(room.names().iter().all(|name| !name.to_string_lossy().ends_with(".rules.json")));
}

/// A record tells of a map by several sums, and each of them counts: whichever is another, the record is refused.
#[test]
fn a_record_with_another_hash_is_refused() {
    let room = Room::new();
    room.write("r.cfg", ADD);
    room.bspkit("ent apply q2.bsp --rules r.cfg --in-place").done();
    let (map, record) = (room.read("q2.bsp"), String::from_utf8(room.read("q2.bsp.rules.json")).unwrap());
    for key in ["checksum", "build", "before", "after", "sum"] {
        let mut wrong = record.clone().into_bytes();
        let at = record.find(&format!("\"{key}\": \"")).unwrap() + key.len() + 5;
        wrong[at] = if wrong[at] == b'0' { b'1' } else { b'0' };
        room.write("q2.bsp.rules.json", &wrong);
        for line in ["rules status q2.bsp", "ent apply q2.bsp --rules r.cfg --in-place"] {
            let run = room.bspkit(line).without_data(2);
            assert!(run.err.contains("q2.bsp.rules.json is not as it was written"), "{key}: {}", run.err);
        }
        assert!(room.read("q2.bsp") == map, "{key}: the rules are applied again");
    }
    // What is said stays the same, whatever the JSON looks like.
    let plain: serde_json::Value = serde_json::from_str(&record).unwrap();
    room.write("q2.bsp.rules.json", plain.to_string().as_bytes());
    assert!(room.bspkit("rules status q2.bsp").done().text().contains("are as they were after that"));
}

/// Without its record a calculation is done again: the record alone keeps it from that.
#[test]
fn a_record_that_is_missing_is_seen() {
    let room = Room::new();
    room.write("r.rule", b"{ match \"classname\" \"worldspawn\" have \"n\" mult \"n\" 2 }\n");
    room.bspkit("ent set goldsrc.bsp worldspawn n=2 --in-place").done();
    for (is_kept, expected) in [(true, "4\n"), (true, "4\n"), (false, "8\n")] {
        if !is_kept {
            std::fs::remove_file(room.path("goldsrc.bsp.rules.json")).unwrap();
        }
        room.bspkit("ent apply goldsrc.bsp --rules r.rule --in-place").done();
        assert_eq!(room.bspkit("ent get goldsrc.bsp worldspawn n").text(), expected);
    }
}

/// The record is written before a map that is saved in its place, so that no rule is applied twice if the program ends
/// in between; and it counts for nothing while the map is as it was.
#[test]
fn a_record_of_what_was_not_saved_counts_for_nothing() {
    let room = Room::new();
    room.write("add.cfg", b"add:\n{\n\"classname\" \"info_null\"\n}\n");
    room.write("other.cfg", b"add:\n{\n\"classname\" \"info_notnull\"\n}\n");
    let before = room.read("q2.bsp");
    room.bspkit("ent apply q2.bsp --rules add.cfg --in-place").done();
    let (saved, record) = (room.read("q2.bsp"), room.read("q2.bsp.rules.json"));
    // The program ended before the map was written: the rules are applied now.
    room.write("q2.bsp", &before);
    room.bspkit("ent apply q2.bsp --rules add.cfg --in-place").done();
    assert_eq!((room.read("q2.bsp"), room.read("q2.bsp.rules.json")), (saved.clone(), record.clone()));
    // Another program applied other rules to the same map at the same time, and did not write it.
    room.write("q2.bsp", &before);
    room.bspkit("ent apply q2.bsp --rules other.cfg --in-place").done();
    room.write("q2.bsp", &saved);
    let text = String::from_utf8(room.read("q2.bsp.rules.json")).unwrap();
    assert!(text.contains("other.cfg") && text.contains("add.cfg"), "{text}");
    let again = room.bspkit("ent apply q2.bsp --rules add.cfg --in-place").done();
    assert!(again.err.contains("recorded as applied") && room.read("q2.bsp") == saved, "{}", again.err);
    let other = room.bspkit("ent apply q2.bsp --rules other.cfg --in-place").done();
    assert!(!other.err.contains("not applied again"), "{}", other.err);
    // A refused edit leaves no record.
    room.write("bad.cfg", b"add:\n{\n\"classname\" \"trigger_hurt\"\n}\n");
    room.bspkit("ent apply q3.bsp --rules bad.cfg --in-place").without_data(2);
    assert!(!room.path("q3.bsp.rules.json").exists());
}

/// Programs that apply rules at once to one map leave a record of all that is in it.
#[test]
fn rules_applied_at_once_are_all_recorded() {
    let room = Room::new();
    for number in 0..4 {
        room.write(format!("{number}.cfg"), format!("add:\n{{\n\"classname\" \"n{number}\"\n}}\n").as_bytes());
    }
    std::thread::scope(|scope| {
        for number in 0..4 {
            let room = &room;
            scope.spawn(move || {
                let line = format!("ent apply q2.bsp --rules {number}.cfg --in-place -q");
                let mut said = String::new();
                let is_done = (0..20).any(|_| {
                    let run = room.bspkit(&line);
                    said = run.err;
                    run.code == Some(0)
                });
                assert!(is_done, "{said}");
            });
        }
    });
    let saved = room.read("q2.bsp");
    for number in 0..4 {
        let run = room.bspkit(&format!("ent apply q2.bsp --rules {number}.cfg --in-place")).done();
        assert!(run.err.contains("not applied again"), "{}", run.err);
    }
    assert_eq!(room.read("q2.bsp"), saved);
}

/// A limit on the size of files ends the program while it writes the map: the record is there already, and the map is as
/// it was. The rules are applied then as if nothing had been.
#[cfg(unix)]
#[test]
fn the_record_is_written_before_the_map() {
    let room = Room::new();
    room.write("add.cfg", b"add:\n{\n\"classname\" \"info_null\"\n}\n");
    let before = room.read("q2.bsp");
    let run = room.shell("ulimit -f 16; bspkit ent apply q2.bsp --rules add.cfg --in-place");
    assert_ne!(run.code, Some(0), "{}", run.err);
    assert_eq!(room.read("q2.bsp"), before);
    assert!(room.path("q2.bsp.rules.json").exists(), "{}", run.err);
    room.bspkit("ent apply q2.bsp --rules add.cfg --in-place").done();
    let saved = room.read("q2.bsp");
    assert_ne!(saved, before);
    let again = room.bspkit("ent apply q2.bsp --rules add.cfg --in-place").done();
    assert!(again.err.contains("not applied again") && room.read("q2.bsp") == saved, "{}", again.err);
}

/// A new version of a map beside the record of the old one: some of what the rules added may have been kept in it.
#[test]
fn a_map_that_has_a_part_of_what_rules_do_is_refused() {
    let room = Room::new();
    room.write("r.cfg", &[b"filter:\n{\n\"classname\" \"light\"\n}\n", ADD].concat());
    room.bspkit("ent apply q2.bsp --rules r.cfg -o a.bsp").done();
    room.run(&["ent", "add", "q2.bsp", "classname=info_null", "origin=1 2 3", "-o", "new.bsp"]).done();
    room.write("a.bsp", &room.read("new.bsp"));
    let run = room.bspkit("ent apply a.bsp --rules r.cfg -o no.bsp").without_data(2);
    assert!(run.err.contains("a part of what they do is there now, and a part is not"), "{}", run.err);
}

/// A rule that is about what an earlier one adds finds it in a map without a record too.
#[test]
fn what_a_later_rule_makes_of_an_added_entity_is_recognised() {
    let room = Room::new();
    let modify = b"modify:\n{\nmatch:\n{\n\"classname\" \"info_null\"\n}\nreplace:\n{\n\"origin\" \"7 7 7\"\n}\n}\n";
    room.write("r.cfg", &[ADD, modify].concat());
    room.bspkit("ent apply q2.bsp --rules r.cfg -o a.bsp").done();
    room.write("copy/a.bsp", &room.read("a.bsp"));
    let run = room.bspkit("ent apply copy/a.bsp --rules r.cfg -o b.bsp").done();
    assert!(run.err.contains("all that the rules would add is in the map already"), "{}", run.err);
    assert!(room.read("a.bsp") == room.read("b.bsp"));
}

/// Names of the files in a folder count as on Windows, and files with entities are no rules.
#[test]
fn files_of_rules_are_known_by_their_names() {
    let room = Room::new();
    room.write("sv/Global_Filters.cfg", b"filter:\n{\n\"classname\" \"light\"\n}\n");
    room.write("sv/maps/Q2.CFG", ADD);
    room.bspkit("ent apply q2.bsp --rules sv -o a.bsp").done();
    assert_eq!((count(&room, "a.bsp", "light"), count(&room, "a.bsp", "info_null")), (0, 1));
    room.write("items.ent", b"{\n\"classname\" \"light\"\n}\n");
    let run = room.bspkit("ent apply q2.bsp --rules items.ent -o no.bsp").without_data(2);
    assert!(run.err.contains("the extension of a file with entities") && run.err.contains("--format"), "{}", run.err);
    room.bspkit("ent apply q2.bsp --rules items.ent --format stripper -o b.bsp").done();
    assert_eq!(count(&room, "b.bsp", "light"), 0);
}
