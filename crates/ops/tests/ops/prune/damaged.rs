//! Damaged maps: what a torn text or a cut record may name stays.

use bspkit::dialect::Role;
use bspkit::{Bsp, Data, ErrorKind};
use bspkit_ops::models::Removal;
use bspkit_ops::prune::{Options, prune};

use super::{fixtures, saved};

/// The maps of the families with an entity that has the brush model *1, and where its text begins in the lump.
fn with_door() -> Vec<(String, Bsp<'static>, usize)> {
    let door = |map: &Bsp<'_>| {
        let entities = map.entities().ok()?;
        entities.iter().find(|entity| entity.get("model") == Some(b"*1")).map(|entity| entity.span().unwrap().start)
    };
    fixtures()
        .into_iter()
        .filter_map(|(name, map)| Some((name, door(&map)?)).map(|(name, at)| (name, map, at)))
        .collect()
}

/// The map with another entity text.
fn with_text(map: &Bsp<'static>, edit: impl FnOnce(&mut Vec<u8>)) -> Bsp<'static> {
    let slot = map.role(Role::Entities).unwrap().id;
    let mut draft = map.draft();
    let mut text = map.bytes(slot).unwrap().to_vec();
    edit(&mut text);
    draft.set(slot, text).unwrap();
    saved(&draft)
}

/// Nothing of the models goes, and the reason is said; to remove or to move models is refused.
fn stays(name: &str, map: &Bsp<'static>, why: &str) {
    let mut draft = map.draft();
    let pruned = prune(&mut draft, &Options::default()).unwrap();
    let models = map.role(Role::Models).unwrap();
    assert!(!pruned.lumps.iter().any(|lump| lump.lump == models.name), "{name}: {pruned:#?}");
    assert!(
        pruned.warnings.iter().any(|line| line.starts_with(&models.name) && line.contains(why)),
        "{name}: {pruned:#?}"
    );
    let error = Removal::default().run(&mut map.draft(), &[2]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused, "{name}: {error}");
    let mut draft = map.draft();
    let count = map.lists(&models.name).unwrap()[0].len();
    let order: Vec<usize> = [0].into_iter().chain((1..count).rev()).collect();
    let error = draft.structure().reorder_list(&models.name, &order).unwrap_err();
    assert!(error.to_string().contains(why), "{name}: {error}");
}

#[test]
fn models_that_a_torn_text_may_name_stay() {
    let mut count = 0;
    for (name, map, at) in with_door() {
        let mut draft = map.draft();
        // A refusal for another reason shows nothing.
        if Removal::default().run(&mut draft, &[2]).is_err() {
            continue;
        }
        count += 1;
        stays(&name, &with_text(&map, |text| text[at] = b' '), "ENTITIES may refer to");
        stays(&name, &with_text(&map, |text| text[at - 1] = 0), "ENTITIES may refer to");
    }
    assert!(count >= 10, "{count}");
}

/// The last model without its last byte: what it has is not known.
#[test]
fn what_a_cut_record_may_name_stays() {
    for (name, map, _) in with_door() {
        let models = map.role(Role::Models).unwrap();
        let bytes = map.bytes(models.id).unwrap();
        let mut draft = map.draft();
        draft.set(models.id, bytes[..bytes.len() - 1].to_vec()).unwrap();
        let cut = Bsp::from_data(Data::from(saved(&draft).container().bytes().to_vec()), Some(map.dialect())).unwrap();
        let mut draft = cut.draft();
        let Ok(pruned) = prune(&mut draft, &Options::default()) else { continue };
        let has = |lump: &str| {
            cut.links().unwrap().links.iter().any(|link| {
                let links = cut.links().unwrap();
                links.sites[link.from].slot == models.id && links.sites[link.to].name == lump
            })
        };
        let gone: Vec<_> = pruned.lumps.iter().filter(|lump| has(&lump.lump)).collect();
        assert!(gone.is_empty(), "{name}: {gone:#?}");
        assert!(pruned.warnings.iter().any(|line| line.contains("ends within a record")), "{name}: {pruned:#?}");
    }
}
