//! Entities that neither side has any more: removed by one, and by the other changed in all that identifies them.

use bspkit::Layout;
use bspkit_ops::merge::{Side, merge_with};

use super::{edited, merged, open, set};

const PLAYER: &str = "info_player_start";

#[test]
fn an_entity_that_both_sides_change_throughout_is_a_conflict() {
    for name in ["q1/own_rooms", "q2/own_rooms", "q3/own_rooms", "goldsrc/own_rooms"] {
        let base = open(name);
        let entities = base.entities().unwrap();
        let player = entities.iter().find(|entity| entity.class() == Some(PLAYER.as_bytes())).unwrap().index();
        let moved = |origin: &str, angle: &str| {
            edited(&base, Layout::Keep, |draft| {
                set(draft, player, "origin", origin);
                set(draft, player, "angle", angle);
            })
        };
        let (ours, theirs) = (moved("7 7 7", "90"), moved("8 8 8", "80"));
        let (map, conflicts) = merged(&base, &ours, &theirs);
        let count = |map: &bspkit::Bsp<'_>| {
            map.entities().unwrap().iter().filter(|entity| entity.class() == Some(PLAYER.as_bytes())).count()
        };
        assert_eq!((count(&map), count(&base)), (1, 1), "{name}");
        assert!(
            !conflicts.is_empty() && conflicts.iter().all(|line| line.contains("both sides change")),
            "{conflicts:?}"
        );
        // Each side's answer is that side's entity.
        for (side, origin) in [(Side::Ours, "7 7 7"), (Side::Theirs, "8 8 8")] {
            let merged = merge_with(&base, &ours, &theirs, &mut |_| Some(side)).unwrap();
            let bytes = merged.draft.plan(Layout::Keep).unwrap().to_vec();
            let map = bspkit::Bsp::parse(&bytes).unwrap();
            let entity = map.entities().unwrap().get(player).unwrap().get("origin").map(<[u8]>::to_vec);
            assert_eq!(entity.as_deref(), Some(origin.as_bytes()), "{name}");
        }
        // The same change on both sides is one change.
        let (map, conflicts) = merged(&base, &ours, &moved("7 7 7", "90"));
        assert!(conflicts.is_empty() && super::bytes(&map) == super::bytes(&ours), "{name}: {conflicts:?}");
        // Changed by one side, removed by the other.
        let gone = edited(&base, Layout::Keep, |draft| draft.entities().unwrap().remove(player).unwrap());
        for (ours, theirs, who) in [(&ours, &gone, "our side changes it"), (&gone, &theirs, "our side removes it")] {
            let (_, conflicts) = merged(&base, ours, theirs);
            assert!(matches!(&conflicts[..], [one] if one.contains(who)), "{name}: {conflicts:?}");
        }
    }
}

/// Bytes that belong to no embedded file are not left out in silence.
#[test]
fn bytes_between_embedded_files_are_a_conflict() {
    let base = open("source/room_v20");
    let pak = base.slot("PAKFILE").unwrap().id;
    let ours = edited(&base, Layout::Keep, |draft| {
        draft.pak().unwrap().add("c.txt", "ours").unwrap();
    });
    let theirs = edited(&base, Layout::Keep, |draft| {
        let old = base.bytes(pak).unwrap().to_vec();
        draft.set(pak, [&old[..], b"MORE"].concat()).unwrap();
    });
    let (_, conflicts) = merged(&base, &ours, &theirs);
    assert!(matches!(&conflicts[..], [one] if one.contains("belong to no file")), "{conflicts:?}");
}
