//! Entities as JSON and back: what `ent list --json` prints and `ent import` takes.

use crate::{corpus, random};
use std::path::Path;

use bspkit::content::entities::Entities;
use bspkit::dialect::EntityRules;
use bspkit::{Bsp, ErrorKind};
use bspkit_text::entities::{EntityJson, read};
use proptest::prelude::*;
use random::config;
use serde_json::{Value, json};

/// The document of all entities.
fn document(entities: &Entities<'_>) -> Value {
    let list: Vec<Value> = entities.iter().map(|entity| serde_json::to_value(EntityJson(&entity)).unwrap()).collect();
    json!({"version": 1, "path": "a.bsp", "entities": list, "findings": []})
}

/// The entities after a document was taken back.
fn taken<'a>(entities: &Entities<'a>, document: &Value) -> bspkit::Result<Entities<'a>> {
    let lists = read(serde_json::to_string_pretty(document).unwrap().as_bytes())?;
    let mut entities = entities.clone();
    lists[0].patch(&entities)?.apply_to(&mut entities)?;
    Ok(entities)
}

fn is_identity(map: &Bsp<'_>, name: &str) {
    let Ok(entities) = map.entities() else { return };
    let lists = read(document(&entities).to_string().as_bytes()).unwrap();
    assert!(lists[0].warnings.is_empty(), "{name}: {:?}", lists[0].warnings);
    assert_eq!(lists[0].patch(&entities).unwrap().operations, [], "{name}");
}

#[test]
fn a_list_that_is_taken_back_changes_nothing() {
    for path in corpus::under(Path::new("../../tests/maps")).into_iter().chain(corpus::maps()) {
        if let Ok(map) = Bsp::open(&path) {
            is_identity(&map, &path.display().to_string());
        }
    }
}

const TEXT: &str = "// start\n{\n\"classname\" \"worldspawn\"\n\"message\" \"caf\u{e9}\"\n}\n\
    { // odd spacing\n  \"classname\"   \"light\"\n\t\"origin\" \"0 0 8\"  // where\n \"light\" \"300\"\n}\n\
    {\n\"classname\" \"relay\"\n\"out\" \"a\"\n\"out\" \"b\"\n\"out\" \"a\"\n}\n// between\n\
    {\n\"classname\" \"light\"\n\"origin\" \"0 0 8\"\n}\n{\n\"classname\" \"info_null\"\n}\n// end\n\0";

fn text() -> Entities<'static> {
    let mut bytes = TEXT.as_bytes().to_vec();
    // Not UTF-8.
    let at = bytes.windows(2).position(|two| two == [0xC3, 0xA9]).unwrap();
    bytes.splice(at..at + 2, [0xE9]);
    Entities::parse(bytes, EntityRules::QUAKE3).unwrap()
}

/// One edit of the document, and the same by the methods of the library.
#[derive(Clone, Debug)]
enum Edit {
    Set(usize, usize, u8),
    Rename(usize, usize),
    Unset(usize, usize),
    Push(usize, u8),
    Remove(usize),
    Move(usize, usize),
    Add(u8),
}

fn edit() -> impl Strategy<Value = Edit> {
    let (at, pair) = (1..5_usize, 0..4_usize);
    prop_oneof![
        (at.clone(), pair.clone(), any::<u8>()).prop_map(|(at, pair, value)| Edit::Set(at, pair, value)),
        (at.clone(), 1..4_usize).prop_map(|(at, pair)| Edit::Rename(at, pair)),
        (at.clone(), 1..4_usize).prop_map(|(at, pair)| Edit::Unset(at, pair)),
        (at.clone(), any::<u8>()).prop_map(|(at, value)| Edit::Push(at, value)),
        at.clone().prop_map(Edit::Remove),
        (at.clone(), at).prop_map(|(at, to)| Edit::Move(at, to)),
        any::<u8>().prop_map(Edit::Add),
    ]
}

/// Makes the edit in both; `false` where there is nothing to edit.
fn make(edit: &Edit, entities: &mut Entities<'_>, list: &mut Vec<Value>) -> bool {
    let last = list.len() - 1;
    let pairs = |list: &mut Vec<Value>, at: usize| list[at]["pairs"].as_array_mut().unwrap().len();
    // The number of a pair among those with its key.
    let nth = |entities: &Entities<'_>, at: usize, pair: usize| {
        let entity = entities.get(at).unwrap();
        let key = entity.pairs().nth(pair).unwrap().key.to_vec();
        let nth = entity.pairs().take(pair + 1).filter(|pair| pair.key == key).count();
        (key, nth)
    };
    match *edit {
        Edit::Set(at, pair, value) if at <= last && pair < pairs(list, at) => {
            let (key, nth) = nth(entities, at, pair);
            entities.get_mut(at).unwrap().set_nth(key, nth, format!("v{value}")).unwrap();
            list[at]["pairs"][pair] = json!({"key": list[at]["pairs"][pair]["key"], "value": format!("v{value}")});
        }
        Edit::Rename(at, pair) if at <= last && pair < pairs(list, at) => {
            let (key, nth) = nth(entities, at, pair);
            entities.get_mut(at).unwrap().rename_nth(key, nth, "renamed").unwrap();
            list[at]["pairs"][pair]["key"] = json!("renamed");
        }
        Edit::Unset(at, pair) if at <= last && pair < pairs(list, at) => {
            let (key, nth) = nth(entities, at, pair);
            entities.get_mut(at).unwrap().unset_nth(key, nth).unwrap();
            list[at]["pairs"].as_array_mut().unwrap().remove(pair);
        }
        Edit::Push(at, value) if at <= last => {
            entities.get_mut(at).unwrap().push("new", value.to_string()).unwrap();
            list[at]["pairs"].as_array_mut().unwrap().push(json!({"key": "new", "value": value.to_string()}));
        }
        Edit::Remove(at) if at <= last => {
            entities.remove_all(&[at]).unwrap();
            list.remove(at);
        }
        Edit::Move(from, to) if from <= last && to <= last && from != to => {
            entities.move_all_after(&[from], to).unwrap();
            let moved = list.remove(from);
            list.insert(if from < to { to } else { to + 1 }, moved);
        }
        Edit::Add(value) => {
            entities.add([("classname", "new"), ("n", &value.to_string())]).unwrap();
            list.push(
                json!({"pairs": [{"key": "classname", "value": "new"}, {"key": "n", "value": value.to_string()}]}),
            );
        }
        _ => return false,
    }
    true
}

proptest! {
    #![proptest_config(config(400, "tests/proptest-regressions/listed.txt"))]

    /// An edited document gives what the same edit gives in the map, byte for byte.
    #[test]
    fn an_edit_of_the_document_is_the_edit_of_the_map(edit in edit()) {
        let mut entities = text();
        let mut list = document(&entities)["entities"].as_array().unwrap().clone();
        let old = entities.clone();
        make(&edit, &mut entities, &mut list);
        let is_move = matches!(edit, Edit::Move(..));
        let done = taken(&old, &json!({"version": 1, "entities": list})).unwrap();
        // Of two entities that change places either may be the one that moves, with other comments between them.
        let whole = |entities: &Entities<'_>| vec![String::from_utf8_lossy(&entities.to_bytes()).into_owned()];
        let each = |entities: &Entities<'_>| entities.iter().map(|entity| String::from_utf8_lossy(entity.bytes()).into_owned()).collect();
        let shown = |entities: &Entities<'_>| -> Vec<String> { if is_move { each(entities) } else { whole(entities) } };
        prop_assert_eq!(shown(&done), shown(&entities));
    }

    /// After many edits the entities are those of the document, and entities that no edit touched have their bytes.
    #[test]
    fn many_edits_give_the_entities_of_the_document(edits in proptest::collection::vec(edit(), 1..12)) {
        let old = text();
        let mut entities = old.clone();
        let mut list = document(&old)["entities"].as_array().unwrap().clone();
        for edit in &edits {
            make(edit, &mut entities, &mut list);
        }
        let done = taken(&old, &json!({"version": 1, "entities": list})).unwrap();
        let pairs = |entities: &Entities<'_>| -> Vec<Vec<(Vec<u8>, Vec<u8>)>> {
            let pairs = |entity: bspkit::content::entities::Entity<'_>| {
                entity.pairs().map(|pair| (pair.key.to_vec(), pair.value.to_vec())).collect()
            };
            entities.iter().map(pairs).collect()
        };
        prop_assert_eq!(pairs(&done), pairs(&entities));
        for (entity, listed) in done.iter().zip(&list) {
            let from = listed.get("index").and_then(Value::as_u64).map(|from| old.get(from as usize).unwrap());
            if let Some(from) = from.filter(|from| from.pairs().eq(entity.pairs())) {
                prop_assert_eq!(from.bytes(), entity.bytes());
            }
        }
    }
}

#[test]
fn pairs_in_another_order_are_taken() {
    let old = text();
    let mut document = document(&old);
    document["entities"][1]["pairs"].as_array_mut().unwrap().reverse();
    let done = taken(&old, &document).unwrap();
    let keys: Vec<_> =
        done.get(1).unwrap().pairs().map(|pair| String::from_utf8_lossy(pair.key).into_owned()).collect();
    assert_eq!(keys, ["light", "origin", "classname"]);
    assert!((0..5).filter(|at| *at != 1).all(|at| done.get(at).unwrap().bytes() == old.get(at).unwrap().bytes()));
}

#[test]
fn raw_wins_over_text_and_a_difference_is_said() {
    let old = text();
    let mut list = document(&old);
    assert_eq!(
        (&list["entities"][0]["pairs"][1]["value"], &list["entities"][0]["pairs"][1]["raw"]),
        (&json!("caf\\xe9"), &json!("Y2Fm6Q=="))
    );
    list["entities"][0]["pairs"][1]["value"] = json!("tea");
    let lists = read(list.to_string().as_bytes()).unwrap();
    assert_eq!(lists[0].warnings.len(), 1, "{:?}", lists[0].warnings);
    assert!(lists[0].patch(&old).unwrap().operations.is_empty());
    list["entities"][0]["pairs"][1] = json!({"key": "message", "value": "tea"});
    assert_eq!(taken(&old, &list).unwrap().get(0).unwrap().get("message"), Some(&b"tea"[..]));
    // Without `raw` an escape is the letters that it is written with.
    for (text, is_doubted) in [("caf\\xe9", true), ("c:\\xdm\\x9", false)] {
        list["entities"][0]["pairs"][1] = json!({"key": "message", "value": text});
        let warnings = &read(list.to_string().as_bytes()).unwrap()[0].warnings;
        let is_said = |warning: &String| warning.contains("`\\xe9` in `value` is four letters and not a byte");
        assert_eq!((warnings.len() == 1, warnings.iter().any(is_said)), (is_doubted, is_doubted), "{warnings:?}");
        assert_eq!(taken(&old, &list).unwrap().get(0).unwrap().get("message"), Some(text.as_bytes()));
    }
}

#[test]
fn an_entity_is_found_by_its_index_or_its_span() {
    let old = text();
    let mut list = document(&old);
    let light = list["entities"][1].as_object_mut().unwrap();
    light.remove("index");
    light["pairs"][2]["value"] = json!("100");
    list["entities"][2].as_object_mut().unwrap().remove("span");
    let done = taken(&old, &list).unwrap();
    assert_eq!(
        String::from_utf8_lossy(&done.to_bytes()),
        String::from_utf8_lossy(&old.to_bytes()).replace("300", "100")
    );
}

/// Documents with mistakes: the place, and what is expected there.
#[test]
fn mistakes_are_named_with_line_and_column() {
    let old = text();
    let cases: [(&str, &str); 15] = [
        ("", "line 1, column 1: a document is expected"),
        ("[]", "line 1, column 1: expected an object with `entities`"),
        ("{\"version\": 1}", "line 1, column 14: missing field `entities`"),
        ("{\"version\": 2, \"entities\": []}", "version 2 is not supported, only 1"),
        ("{\"version\": 1,\n \"entity\": []}", "line 2, column 9: unknown field `entity`, expected one of"),
        ("{\"version\": 1,\n \"entities\": [\n  {\"pairs\": [}\n]}", "line 3, column 14: expected value"),
        ("{\"version\": 1,\n \"entities\": [\n  {\"pears\": []}\n]}", "line 3, column 10: unknown field `pears`"),
        (
            "{\"version\": 1, \"entities\": [\n  {\n \"pairs\": [{\"key\": 1}]}]}",
            "line 3, column 20: invalid type: integer `1`, expected a string",
        ),
        (
            "{\"version\": 1, \"entities\": [\n{\"pairs\": [{\"key\": \"a\"}]}]}",
            "line 2, column 12: the pair has no `value`, and no `raw`",
        ),
        ("{\"version\": 1, \"entities\": [{\"pairs\": [{\"key\": \"a\", \"raw\": \"!\"}]}]}", "`raw` is not base64"),
        (
            "{\"version\": 1, \"entities\": [\n {\"index\": 9, \"pairs\": []}]}",
            "line 2, column 2: the map has no entity 9, only 5",
        ),
        (
            "{\"version\": 1, \"entities\": [{\"index\": 1, \"span\": [0, 5], \"pairs\": []}]}",
            "entity 1 of the map is at the bytes ",
        ),
        (
            "{\"version\": 1, \"entities\": [{\"span\": [0, 5], \"pairs\": []}]}",
            "the map has no entity at the bytes 0 to 5",
        ),
        (
            "{\"version\": 1, \"entities\": [{\"index\": 1, \"pairs\": []},\n{\"index\": 1, \"pairs\": []}]}",
            "line 2, column 1: entity 1 is at line 1, column 29 already",
        ),
        (
            "{\"version\": 1, \"selector\": \"light\", \"entities\": [{\"index\": 2, \"pairs\": []}]}",
            "entity 2 is not one that the selector",
        ),
    ];
    for (text, wanted) in cases {
        let error = read(text.as_bytes()).and_then(|lists| lists[0].patch(&old)).unwrap_err();
        assert!(error.to_string().contains(wanted), "{text}: {error}");
        assert!(matches!(error.kind(), ErrorKind::Argument | ErrorKind::Refused), "{text}: {:?}", error.kind());
    }
    assert!(read(b"{\n\xff").unwrap_err().to_string().starts_with("line 2, column 1: it is not UTF-8"));
}

/// 20,000 entities that all change and are turned round take time by their number.
#[test]
fn large_lists_take_linear_time() {
    let one = |at: usize| format!("{{\n\"classname\" \"light\"\n\"n\" \"{at}\"\n}}\n");
    let text: String =
        std::iter::once("{\n\"classname\" \"worldspawn\"\n}\n".to_owned()).chain((0..20_000).map(one)).collect();
    let old = Entities::parse(format!("{text}\0").into_bytes(), EntityRules::QUAKE3).unwrap();
    let mut list = document(&old);
    let entities = list["entities"].as_array_mut().unwrap();
    entities[1..].reverse();
    entities[1..].iter_mut().for_each(|entity| entity["pairs"][1]["value"] = json!("x"));
    let start = std::time::Instant::now();
    let done = taken(&old, &list).unwrap();
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    assert_eq!(done.len(), 20_001);
}
