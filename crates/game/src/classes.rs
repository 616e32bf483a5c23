//! Entities beside the FGD file of their game: classes that the game does not have, and keys that look like typing
//! errors.
//!
//! ```
//! use bspkit_game::assets::fgd::Fgd;
//! use bspkit_game::classes;
//! let mut fgd = Fgd::default();
//! fgd.read(b"@SolidClass = worldspawn [ message(string) : \"Message\" ]")?;
//! fgd.read(b"@PointClass = light [ _light(color255) : \"Light\" ]")?;
//! let map = bspkit::Bsp::open("../../tests/maps/source/room_v20.bsp")?;
//! let mut draft = map.draft();
//! draft.entities()?.first_class("light")?.rename("_light", "_lihgt")?;
//! let found = classes::check(draft.entities()?, "ENTITIES", &fgd);
//! let typo = found.iter().find(|found| found.code.name == "key-unknown").unwrap();
//! assert!(typo.message.ends_with("did you mean _light?"), "{typo}");
//! # Ok::<(), bspkit::Error>(())
//! ```

use std::collections::{BTreeSet, HashMap};

use bspkit::bytes::escaped;
use bspkit::content::entities::{Entities, Output};
use bspkit::finding::{Code, Finding};
use bspkit::{Place, near};
use bspkit_ops::check::{CLASS_UNKNOWN, KEY_UNKNOWN};

use crate::assets::fgd::Fgd;

/// Finds classes that the file does not have, and keys of classes that it has which are close to keys of them. A key
/// that is close to none is no finding: compilers and tools add keys of their own. Each class, and each key of a class,
/// is one finding that names the first entity; `lump` is the lump that the findings name.
pub fn check(entities: &Entities<'_>, lump: &str, fgd: &Fgd) -> Vec<Finding> {
    let classes: BTreeSet<&[u8]> = fgd.classes().collect();
    let mut keys: HashMap<Vec<u8>, BTreeSet<Vec<u8>>> = HashMap::new();
    let all: BTreeSet<&[u8]> = fgd.typed_keys().map(|(_, key, _)| key).collect();
    let mut said: HashMap<(Vec<u8>, Vec<u8>), usize> = HashMap::new();
    let mut found: Vec<Finding> = Vec::new();
    let mut add = |code: &'static Code, entity: usize, name: (Vec<u8>, Vec<u8>), message: &dyn Fn() -> String| {
        let place = *said.entry(name).or_insert_with(|| {
            let mut finding = Finding::new(code, Place::default().lump(lump).record(entity), message());
            finding.count = 0;
            found.push(finding);
            found.len() - 1
        });
        found[place].count += 1;
    };
    for entity in entities.iter() {
        let Some(class) = entity.class().map(<[u8]>::to_ascii_lowercase) else { continue };
        if !classes.contains(&class[..]) {
            let message =
                || format!("the FGD file has no class `{}`{}", escaped(&class), close(&class, classes.iter().copied()));
            add(&CLASS_UNKNOWN, entity.index(), (class.clone(), Vec::new()), &message);
            continue;
        }
        let own = keys.entry(class.clone()).or_insert_with(|| fgd.keys_of(&class));
        for pair in entity.pairs() {
            let key = pair.key.to_ascii_lowercase();
            if all.contains(&key[..]) || own.contains(&key) || Output::parse(pair.value).is_some() {
                continue;
            }
            // Compilers have keys of their own that begin so, as `_light` beside `light`.
            let is_alike = |name: &&Vec<u8>| name.starts_with(b"_") == key.starts_with(b"_");
            let near = close(&key, own.iter().filter(is_alike));
            if !near.is_empty() {
                let message = || format!("`{}` is no key of {}{near}", escaped(&key), escaped(&class));
                add(&KEY_UNKNOWN, entity.index(), (class.clone(), key.clone()), &message);
            }
        }
    }
    found
}

/// The question whether a known name was meant; nothing if none is close.
fn close<N: AsRef<[u8]>>(name: &[u8], known: impl IntoIterator<Item = N>) -> String {
    let close: Vec<String> =
        near(name, known).into_iter().take(3).map(|known| escaped(known.as_ref()).to_string()).collect();
    if close.is_empty() { String::new() } else { format!(": did you mean {}?", close.join(" or ")) }
}
