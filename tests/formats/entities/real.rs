//! Real maps: their entities are those that their engine reads.

use bspkit::Bsp;
use bspkit::content::entities::Entities;
use bspkit::dialect::Dialect;

use super::engines::{ENGINES, Engine};
use super::{corpus, pairs};

/// The engine of a dialect.
fn engine(dialect: &Dialect) -> &'static Engine {
    let by_name = match dialect.name {
        "source17" => 6,
        "strata" => 7,
        _ => {
            let names = |engine: &Engine| engine.rules.engines == dialect.text.engines;
            ENGINES.iter().position(names).unwrap()
        }
    };
    &ENGINES[by_name]
}

#[test]
fn entities_are_those_that_the_engine_reads() {
    for path in corpus::maps().iter().chain(&corpus::under("tests/maps".as_ref())) {
        let Ok(map) = Bsp::open(path) else { continue };
        let Ok(entities) = map.entities() else { continue };
        let mut engine = engine(map.dialect());
        if map.dialect().name == "strata" && entities.rules().syntax.escaped.is_empty() {
            engine = &ENGINES[5];
        }
        let text = entities.to_bytes();
        let read = engine.read(&text);
        assert!(pairs(&entities) == read.entities, "{}", path.display());
        let flagged = entities.diagnostics().iter().any(|found| found.kind.stops_engines());
        assert_eq!(flagged, read.stops, "{}", path.display());
        if let Ok(canonical) = entities.canonical() {
            assert!(engine.read(&canonical).entities == read.entities, "{}", path.display());
        }
        // The last one goes, and no other.
        let mut fewer = Entities::parse(&text[..], *entities.rules()).unwrap();
        if !fewer.is_empty() && fewer.remove(fewer.len() - 1).is_ok() {
            let left = &read.entities[..read.entities.len() - 1];
            assert!(engine.read(&fewer.to_bytes()).entities == left, "{}", path.display());
        }
        println!("{}: {} entities, stops: {}", path.display(), read.entities.len(), read.stops);
    }
}

#[test]
fn a_stray_quote_is_a_letter_of_its_word() {
    // As in a shipped map, in small: the rest of the text is not read the other way round.
    let text = b"{\n\"classname\" \"worldspawn\"\n}\n{\n\"classname\" \"button\"\n\"OnOut\" outside,Lock,,0,1,,\"\n}\n\
        {\n\"classname\" \"light\"\n}\n\0";
    let mut entities = Entities::parse(&text[..], ENGINES[5].rules).unwrap();
    assert_eq!(entities.len(), 3);
    assert_eq!(entities.get(1).unwrap().get("OnOut"), Some(&b"outside,Lock,,0,1,,\""[..]));
    let error = entities.canonical().unwrap_err();
    let said = "Source engines would read the canonical form of this entity in another way (entities, record 1)";
    assert_eq!(error.to_string(), said);
    entities.get_mut(1).unwrap().set("OnOut", "outside,Lock,,0,1").unwrap();
    let text = String::from_utf8_lossy(text).replace("outside,Lock,,0,1,,\"", "\"outside,Lock,,0,1\"");
    assert_eq!(String::from_utf8(entities.canonical().unwrap()).unwrap(), text);
}
