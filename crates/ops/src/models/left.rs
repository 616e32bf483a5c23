//! What a copied model needs of its old map and leaves there: materials, WAD files, the switches of its light.

use std::collections::{BTreeMap, BTreeSet};

use bspkit::Bsp;
use bspkit::bytes::escaped;
use bspkit::content::pak::Pak;
use bspkit::content::wad;

/// Materials that only the other map's pakfile has.
pub(super) fn materials(from: &Bsp<'_>, map: &Bsp<'_>, names: &[Vec<u8>]) -> Vec<String> {
    let Ok(theirs) = from.lens::<Pak<'_>>() else { return Vec::new() };
    let own = map.lens::<Pak<'_>>().ok();
    let file = |name: &Vec<u8>| [b"materials/", &name[..], b".vmt"].concat().to_ascii_lowercase();
    let is_left =
        |file: &Vec<u8>| !theirs.find(file).is_empty() && own.as_ref().is_none_or(|own| own.find(file).is_empty());
    let warning = |file: Vec<u8>| format!("{} is in the other map's pakfile, and is not copied", escaped(&file));
    names.iter().map(file).filter(is_left).map(warning).collect()
}

/// WAD files that only the other map names, if pixels of the new textures are in such files.
pub(super) fn wads(from: &Bsp<'_>, map: &Bsp<'_>, external: &[Vec<u8>]) -> Option<String> {
    let named = |map: &Bsp<'_>| -> BTreeSet<Vec<u8>> {
        let entities = map.entities().ok();
        let world = entities.as_ref().and_then(|entities| entities.get(0));
        let value = world.as_ref().and_then(|world| world.get("wad")).unwrap_or_default();
        wad::named(value).map(<[u8]>::to_ascii_lowercase).collect()
    };
    let own = named(map);
    let missing: Vec<String> = named(from).iter().filter(|name| !own.contains(*name)).map(|wad| listed(wad)).collect();
    if external.is_empty() || missing.is_empty() {
        return None;
    }
    let textures: Vec<String> = external.iter().map(|name| listed(name)).collect();
    Some(format!(
        "the pixels of {} are in WAD files, and the map does not name all of the other one: {}",
        textures.join(", "),
        missing.join(", ")
    ))
}

fn listed(name: &[u8]) -> String {
    format!("`{}`", escaped(name))
}

/// Styles of light from this one on are switched by a name; compilers number them anew in each map.
const SWITCHED: u16 = 32;

/// Where it is in the list of a face, there is no further style.
const NO_STYLE: u16 = 255;

/// Styles of copied faces that another name switches in the map, or none.
pub(super) fn styles(from: &Bsp<'_>, map: &Bsp<'_>, faces: &BTreeSet<usize>) -> Vec<String> {
    let Ok(light) = from.light() else { return Vec::new() };
    let sets = light.sets().iter().filter(|set| !set.is_pages());
    let blocks = sets.flat_map(|set| set.blocks()).filter(|block| faces.contains(&block.index()));
    let styles = blocks.flat_map(|block| block.styles().to_vec());
    let styles: BTreeSet<u16> = styles.filter(|style| *style >= SWITCHED && *style != NO_STYLE).collect();
    if styles.is_empty() {
        return Vec::new();
    }
    let [theirs, own] = [from, map].map(switches);
    let name = |names: Option<&Vec<u8>>| names.map_or("nothing".to_owned(), |name| listed(name));
    let said = |style: &u16| {
        let (theirs, own) = (theirs.get(style), own.get(style));
        let (old, new) = (name(theirs), name(own));
        (theirs != own).then(|| {
            format!("light of the model has style {style}, which {old} switches in the other map, and {new} here")
        })
    };
    styles.iter().filter_map(said).collect()
}

/// The names of the entities that switch styles, by these.
fn switches(map: &Bsp<'_>) -> BTreeMap<u16, Vec<u8>> {
    let Ok(entities) = map.entities() else { return BTreeMap::new() };
    let switch = |entity: bspkit::content::entities::Entity<'_>| {
        let is_light = entity.class().is_some_and(|class| class.to_ascii_lowercase().starts_with(b"light"));
        let style = std::str::from_utf8(entity.get("style")?).ok()?.trim().parse().ok()?;
        Some((style, entity.get("targetname").filter(|_| is_light)?.to_ascii_lowercase()))
    };
    entities.iter().filter_map(switch).collect()
}
