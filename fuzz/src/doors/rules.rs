//! Rule files, in every format: what they are in other words, what is known of those that were applied, folders of them.

use std::fs;

use bspkit::content::entities::Entities;
use bspkit::{ErrorKind, Layout};
use bspkit_rules::files::{self, Reading, RuleFiles};
use bspkit_rules::{
    Application, Bake, Format, Known, Lint, Mode, Past, Record, Rules, State, Tried, attempt, difference, record,
};

use super::edits::{Choices, saved};
use super::made_rules;
use super::twice::scratch;
use super::{folder_of, map};

const FORMATS: [Format; 4] = [Format::Stripper, Format::Qmm, Format::Lazyripent, Format::Cs2];
const MODES: [Mode; 3] = [Mode::Plugin, Mode::Strict, Mode::Lumper];

/// Rules of any format: a refused edit leaves the entities as they were, and other words do the same.
pub fn read(bytes: &[u8]) {
    for format in FORMATS {
        for mode in MODES {
            tried(&files::read("rules", bytes, format, mode), bytes.len());
        }
    }
}

/// Rules that mean entities of a map.
pub fn made(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let format = FORMATS[choices.below(4)];
    let number = choices.below(64);
    let text = made_rules::rules(&mut choices, map(number), format);
    let rules = files::read("rules", &text, format, MODES[choices.below(3)]);
    tried(&rules, number);
    applied(&rules, number);
}

/// What Rules do to a map.
fn tried(rules: &Rules, number: usize) {
    let mut draft = map(number).draft();
    let Ok(all) = draft.entities() else { return };
    let old = all.clone();
    let done = rules.apply(all, "room").map(drop);
    match &done {
        Ok(()) => {
            assert!(Entities::parse(all.to_bytes().to_vec(), *all.rules()).is_ok());
            let _ = difference(&old, all);
        }
        Err(_) => assert!(all.to_bytes() == old.to_bytes(), "a refused edit is in the entities"),
    }
    let (stripper, patch) = (rules.to_stripper(), rules.to_patch());
    // As Stripper has it, nothing is lost and the rules are read without a fault: then they do the same.
    let other = Rules::read("other", &stripper.result, Format::Stripper, Mode::Plugin);
    if stripper.lost.is_empty() && rules.refusal().is_none() {
        assert!(other.refusal().is_none(), "{:?}", other.refusal());
        let again = other.to_stripper();
        let texts = [&stripper.result, &again.result].map(|text| String::from_utf8_lossy(text).into_owned());
        assert_eq!(texts[0], texts[1], "printed again it is another text");
    }
    if let Ok(patch) = patch {
        let back = Rules::from_patch("back", &patch.result);
        let _ = back.result.to_stripper();
        let _ = patch.result.locate(&old, bspkit_ops::patch::Search::Exact).and_then(|located| located.apply());
    }
    let (mut lint, mut more) = (Lint::default(), Lint::default());
    let _ = (lint.try_on(&[rules], &old, "room"), more.try_on(&[rules, &other], &old, "own_rooms"));
    lint.join(more);
    let _ = (lint.unmatched(rules), lint.unmatched(&other));
}

/// Rules that were applied are known as applied, also from the record that was written of them.
pub fn again(bytes: &[u8]) {
    for format in FORMATS {
        applied(&files::read("rules", bytes, format, Mode::Plugin), bytes.len());
    }
}

fn applied(rules: &Rules, number: usize) {
    let name = "own_rooms";
    if rules.refusal().is_some() || rules.rules.is_empty() {
        return;
    }
    let mut draft = map(number).draft();
    let Ok(state) = State::of(draft.bsp()) else { return };
    let bake = Bake::after(Record::default(), state, vec![rules], name);
    let Ok(all) = draft.entities() else { return };
    let Ok(Tried::Open { from, attempt }) = bake.attempt(all, false) else { return };
    let changed = attempt.entities.is_some();
    attempt.entities.into_iter().for_each(|new| *all = new);
    let after = bake.with(Some(from), &all.to_bytes());
    let (record, state) = after.clone().into_record();
    if let Ok(text) = record::write(&record) {
        let path = scratch().with_extension("baked.bsp");
        fs::write(record::path(&path), text).expect("a record can be written");
        assert_eq!(record::read(&path).expect("a record is read"), record);
        let _ = fs::remove_file(record::path(&path));
    }
    // A rule that is for this map was applied, and nothing was edited since.
    if !bspkit_rules::known([rules], name).is_empty() {
        let said = after.attempt(all, false).expect("what was applied is known");
        assert!(matches!(said, Tried::Done(_)), "{changed} {said:?}");
    }
    // The rules one after the other do what they do together, if those of one file do.
    let half = rules.rules.len() / 2;
    let _ = attempt_of(rules, half, all, name);
    // After an edit it is known, or it is said why not.
    let _ = all.add([("classname", "light"), ("own", "1")]);
    let later = Bake::after(record, state.with_entities(&all.to_bytes()), vec![rules], name);
    let _ = later.attempt(all, false).is_ok();
}

fn attempt_of(rules: &Rules, half: usize, all: &Entities<'_>, name: &str) -> Option<usize> {
    let count = bspkit_rules::known([rules], name).len();
    let half = half.min(count);
    let one = attempt([rules], ..half, all, name).ok()?;
    let new = one.entities.as_ref().unwrap_or(all);
    attempt([rules], half.., new, name).ok().map(|two| two.effect.new)
}

/// Records of any past: what they say holds for the map that they end with.
pub fn records(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let sums = ["a", "b", "c", "d", "e"].map(str::to_owned);
    let known = |choices: &mut Choices<'_>| Known {
        file: ["r.cfg", "s.cfg"][choices.below(2)].to_owned(),
        line: choices.below(3),
        sum: sums[choices.below(5)].clone(),
        adds: choices.below(2) == 0,
    };
    let list = |choices: &mut Choices<'_>| (0..choices.below(4)).map(|_| known(choices)).collect::<Vec<_>>();
    let applied = (0..choices.below(6)).map(|_| Application {
        rules: list(&mut choices),
        before: sums[choices.below(5)].clone(),
        after: sums[choices.below(5)].clone(),
    });
    let record = Record { applied: applied.collect(), build: "p".to_owned() };
    let now = State { entities: sums[choices.below(5)].clone(), build: ["p", "q"][choices.below(2)].to_owned() };
    let rules = list(&mut choices);
    let (there, new) = (choices.below(2), choices.below(2));
    let (in_map, since) = record.in_map(&now);
    assert!(in_map.iter().all(|one| record.applied.contains(one)));
    if since == bspkit_rules::Since::Same {
        assert!(in_map.last().is_some_and(|last| last.after == now.entities));
    }
    match record.past(&now, &rules, |_| Some(bspkit_rules::Effect { there, new })) {
        Past::Open(from) => assert!(from <= rules.len() && (from < rules.len() || from == 0)),
        Past::Done(why) | Past::Unknown(why) => assert!(!why.is_empty()),
    }
    let text = record::write(&record).expect("a small record");
    let path = scratch().with_extension("record.bsp");
    fs::write(record::path(&path), &text).expect("a record can be written");
    assert_eq!(record::read(&path).expect("a record is read"), record);
    // Another text is read as what it says, or refused.
    fs::write(record::path(&path), bytes).expect("a file can be written");
    if let Ok(read) = record::read(&path) {
        fs::write(record::path(&path), record::write(&read).expect("it is written")).expect("a file can be written");
        assert_eq!(record::read(&path).expect("a record is read"), read);
    }
    // What another program has recorded stays.
    fs::write(record::path(&path), text).expect("a record can be written");
    let other = Record { build: "p".to_owned(), applied: record.applied.iter().take(1).cloned().collect() };
    bspkit_rules::save(&path, &other, true).expect("a record is saved");
    let joined = record::read(&path).expect("a record is read");
    assert!(record.applied.iter().all(|one| joined.applied.contains(one)));
    let _ = fs::remove_file(record::path(&path));
}

/// An expression in a match of each format, on values of maps. The same expression has the same answer again.
pub fn patterns(bytes: &[u8]) {
    let expression: Vec<u8> = bytes.iter().copied().filter(|byte| !b"\"\r\n\0".contains(byte)).take(200).collect();
    let stripper = [b"filter:\n{\n\"classname\" \"/", &expression[..], b"/\"\n}\n"].concat();
    let qmm = [b"filter:\n{\n\"classname\" \"", &expression[..], b"\"\n}\n"].concat();
    let escaped = String::from_utf8_lossy(&expression).replace('\\', "\\\\");
    let cs2 = format!("{{\"filter\": [ {{ \"classname\": \"/{escaped}/\" }} ]}}").into_bytes();
    for (text, format) in [(stripper, Format::Stripper), (qmm, Format::Qmm), (cs2, Format::Cs2)] {
        for mode in MODES {
            let [rules, other] = [0, 1].map(|_| files::read("rules", &text, format, mode));
            let Ok(old) = map(bytes.len()).entities() else { return };
            let (mut one, mut two) = ((*old).clone(), (*old).clone());
            let (first, second) = (rules.apply(&mut one, "room"), other.apply(&mut two, "room"));
            assert_eq!(first.is_ok(), second.is_ok());
            assert!(one.to_bytes() == two.to_bytes());
            let _ = (rules.to_patch().is_ok(), rules.to_stripper());
        }
    }
}

/// A folder of rule files, one of which is the input.
pub fn folders(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let folder = folder_of("rules");
    let names = [
        ["global_filters.cfg", "maps/own.cfg", "maps/own_rooms.cfg", "maps/Room.cfg"],
        ["global.ini", "maps/own.ini", "maps/own_rooms.ini", "maps/ROOM.ini"],
    ];
    let names = names[choices.below(2)];
    let _ = fs::create_dir_all(folder.join("maps"));
    let given = choices.below(4);
    for (number, name) in names.iter().enumerate() {
        let text: &[u8] = if number == given { bytes } else { b"{\n\"classname\" \"info_null\"\n}\n" };
        if choices.below(5) != 0 || number == given {
            fs::write(folder.join(name), text).expect("a file can be written");
        }
    }
    let format = [None, Some(Format::Stripper), Some(Format::Qmm)][choices.below(3)];
    let reading = Reading { mode: MODES[choices.below(3)], format };
    if let Ok(all) = RuleFiles::read(&folder, reading) {
        for name in ["own_rooms", "own", "room", "ROOM", "", "_", "no"] {
            let of = all.of(name);
            assert!(of.len() <= all.all().len());
            match all.usable(name) {
                Ok(usable) => {
                    assert_eq!(usable.len(), of.len());
                    let mut draft = choices.map().draft();
                    let done = draft.entities().and_then(|all| bspkit_rules::apply(usable, all, name).map(drop));
                    let _ = done.map(|()| saved(&draft, Layout::Keep));
                }
                Err(error) => assert_ne!(error.kind(), ErrorKind::Io),
            }
        }
    }
    let _ = (Reading::default().file(&folder.join(names[given])), files::detect("rules", bytes));
    let _ = fs::remove_dir_all(&folder);
}
