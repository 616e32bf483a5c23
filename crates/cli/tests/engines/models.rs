//! Maps that lost a brush model, or got one, load in the engines, with all else as it was.

use std::path::Path;

use bspkit::Bsp;
use bspkit_ops::models;

use crate::follow::{Loaded, difference, load};
use crate::{GOLDSRC, QUAKE, QUAKE2, QUAKE3, maps};

/// How many entities have a brush model, in what an engine saw.
fn with_model(seen: &Loaded) -> usize {
    let has_model = |entity: &&maps::Entity| entity.iter().any(|(key, value)| key == "model" && value == "*");
    seen.entities.iter().filter(has_model).count()
}

/// What the engines see of a map after a command; `change` is how many more entities they see with and without a model.
fn loaded(case: &str, map: &Path, before: &[Loaded], change: (isize, isize)) {
    let after = load(case, &std::fs::read(map).unwrap());
    assert_eq!(after.len(), before.len(), "{case}");
    // One engine does not print its entities.
    for (old, new) in before.iter().zip(&after).filter(|(old, _)| !old.entities.is_empty()) {
        let counts = |seen: &Loaded| [seen.entities.len(), with_model(seen)].map(usize::cast_signed);
        let ([old_all, old_models], [all, models]) = (counts(old), counts(new));
        assert_eq!((all - old_all, models - old_models), change, "{case}, {}", old.engine);
    }
}

#[test]
fn engines_load_maps_that_lost_or_got_a_model() {
    let rooms = [&QUAKE[..], &QUAKE2, &GOLDSRC, &QUAKE3].concat();
    for name in rooms.into_iter().filter(|name| name.contains("own_rooms")) {
        let map = maps::fixture(name);
        let before = load(name, &std::fs::read(&map).unwrap());
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let model = |words: &[&str], out: &str| {
            maps::bspkit(&[&["model"], words, &["-o", path(out).to_str().unwrap()]].concat());
        };
        let (original, copy) = (map.to_str().unwrap(), path("copy.bsp"));

        // The game of Quake III refuses a door without a model.
        model(&["rm", original, "*1"], "removed.bsp");
        loaded(&format!("{name} without *1"), &path("removed.bsp"), &before, (-1, -1));

        model(&["copy", original, "*1", "--from", original], "copy.bsp");
        loaded(&format!("{name} with a copy of *1"), &copy, &before, (1, 1));

        let number = models::list(&Bsp::open(&map).unwrap()).unwrap().len();
        model(&["rm", copy.to_str().unwrap(), &format!("*{number}")], "back.bsp");
        let back = load(name, &std::fs::read(path("back.bsp")).unwrap());
        assert_eq!(difference(&before, &back), None, "{name} with a copy of *1 that was removed");
    }
}
