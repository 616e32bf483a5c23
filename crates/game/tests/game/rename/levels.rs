//! Keys that name maps, in every family.

use bspkit::dialect::{self, Dialect};
use bspkit::{Bsp, Builder, ErrorKind};
use bspkit_game::rename::{Rename, Renamed};

fn map(dialect: &'static Dialect, key: &str, value: &str) -> Bsp<'static> {
    let text = format!("{{\n\"classname\" \"worldspawn\"\n}}\n{{\n\"classname\" \"x\"\n\"{key}\" \"{value}\"\n}}\n\0");
    Bsp::from_vec(Builder::new(dialect).lump(0, text.into_bytes()).build().unwrap()).unwrap()
}

fn renamed(key: &str, value: &str, dialect: &'static Dialect) -> (String, Renamed) {
    let mut draft = map(dialect, key, value).draft();
    let done = Rename::new("old", "New").unwrap().apply_to_other(&mut draft).unwrap();
    let entities = draft.entities().unwrap();
    (String::from_utf8_lossy(entities.get(1).unwrap().get(key).unwrap()).into_owned(), done)
}

#[test]
fn keys_that_name_a_map_follow_it() {
    let cases = [
        ("map", "old", "New"),
        ("map", "OLD", "New"),
        ("nextmap", "old", "New"),
        ("MapName", "old", "New"),
        ("map", "old$start", "New$start"),
        ("map", "*old$start", "*New$start"),
        ("map", "eou1_.cin+*old$start", "eou1_.cin+*New$start"),
        ("map", "old.cin+old", "old.cin+New"),
        ("map", "old2", "old2"),
        ("map", "old$old", "New$old"),
        ("map", "*", "*"),
        ("message", "old", "old"),
        ("landmark", "old", "old"),
    ];
    for dialect in [&dialect::QUAKE, &dialect::QUAKE2, &dialect::QUAKE3, &dialect::GOLDSRC, &dialect::SOURCE] {
        for (key, value, wanted) in cases {
            let (new, done) = renamed(key, value, dialect);
            assert_eq!(new, wanted, "{} {key}", dialect.name);
            assert_eq!(done.changes.len(), usize::from(value != wanted));
        }
    }
}

#[test]
fn commands_are_listed_and_stay() {
    let (value, done) = renamed("OnTrigger", "cmd,Command,changelevel old,0,-1", &dialect::SOURCE);
    assert_eq!(value, "cmd,Command,changelevel old,0,-1");
    assert_eq!(done.left[0].to_string(), "entity 1 OnTrigger: cmd,Command,changelevel old,0,-1");
    assert!(renamed("message", "the old map", &dialect::SOURCE).1.left.is_empty());
}

/// In Quake II's lists of levels some letters have a meaning.
#[test]
fn a_name_that_a_list_of_levels_would_split_is_refused() {
    let map = map(&dialect::QUAKE2, "map", "old$start");
    let error = Rename::new("old", "a+b").unwrap().apply_to_other(&mut map.draft()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert!(error.to_string().contains("+ and $"), "{error}");
}
