//! What maps refer to by themselves, as srctools finds it with its own list of keys.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use bspkit::Bsp;
use bspkit_game::needs::{self, Kind, Options, Referrer, Sure};

use super::Reader;
use super::corpus;

/// What the map names in its lumps and in keys of entities: kinds that srctools has types for.
fn ours(path: &Path) -> Option<(BTreeSet<String>, BTreeSet<String>)> {
    let map = Bsp::open(path).ok()?;
    let needs = needs::find(&map, &Options::new("map")).ok()?;
    let kinds = [Kind::Material, Kind::Texture, Kind::Model, Kind::Sound, Kind::Scene];
    let is_plain = |need: &needs::Need| {
        let of_map = need.references.iter().any(|place| {
            let is_lump = matches!(&place.referrer, Referrer::Record { lump, .. } if !lump.contains("dprp"));
            let is_key = matches!(&place.referrer, Referrer::Entity { key, .. } if !key.starts_with(b"On"));
            place.sure == Sure::Certain && (is_lump || is_key)
        });
        kinds.contains(&need.kind) && of_map
    };
    let name = |need: &needs::Need| String::from_utf8_lossy(&need.name).into_owned();
    let plain = needs.files.iter().filter(|need| is_plain(need)).map(name).collect();
    Some((needs.files.iter().map(name).collect(), plain))
}

/// A difference that has a reason other than a mistake of ours.
fn is_known_difference(name: &str) -> bool {
    // The list of srctools has no type for: the material of detail sprites in all games, the models of players' starts,
    // one icon of control points. It has a material for what is a texture in `env_global_light`.
    let known = ["materials/detail/", "models/player/", "obj_icons", "blank_clouds"];
    known.iter().any(|part| name.contains(part))
}

#[test]
fn srctools_finds_the_same_files() {
    let Some(reader) = Reader::srctools() else { return };
    let script = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/readers/needs.py");
    let mut maps =
        vec![Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/maps/source/room_v20.bsp")];
    // Damaged maps are read to another extent by each reader.
    maps.extend(corpus::maps().into_iter().filter(|path| !path.to_string_lossy().contains("damaged")));
    let ours: Vec<_> = maps.iter().map(|path| ours(path)).collect();
    let output = Command::new(&reader.program).arg("-B").arg(&script).args(&maps).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut theirs = vec![BTreeSet::new(); maps.len()];
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let (map, name) = line.split_once(' ').unwrap();
        theirs[map.parse::<usize>().unwrap()].insert(name.to_owned());
    }
    let (mut both, mut wrong) = (0, Vec::new());
    for ((path, ours), theirs) in maps.iter().zip(ours).zip(theirs) {
        let Some((all, plain)) = ours.filter(|_| !theirs.is_empty()) else { continue };
        both += theirs.intersection(&all).count();
        let missed = theirs.difference(&all).map(|name| ("srctools", name));
        let more = plain.difference(&theirs).map(|name| ("bspkit", name));
        let unknown = missed.chain(more).filter(|(_, name)| !is_known_difference(name));
        wrong.extend(unknown.map(|(who, name)| format!("{}: {who} alone: {name}", path.display())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{both} files of {} maps", maps.len());
    assert!(both >= 13);
}
