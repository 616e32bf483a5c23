//! Where it is not known what a side means, and what a merge says of errors.

use super::{edited, merged, open, set};

use bspkit::dialect::quake2;
use bspkit::{Bsp, Layout};
use bspkit_ops::merge::merge;

/// Of entities that are equal it is not known which one a side means once its other entities have other places.
#[test]
fn changes_of_equal_entities_are_not_put_on_one() {
    let base = edited(&open("q2/own_rooms"), Layout::Keep, |draft| {
        let all = draft.entities().unwrap();
        for _ in 0..2 {
            all.add([("classname", "info_null")]).unwrap();
        }
    });
    let count = base.entities().unwrap().len();
    let (one, other) = (count - 2, count - 1);
    let theirs = edited(&base, Layout::Keep, |draft| set(draft, other, "noise", "b"));
    let still = edited(&base, Layout::Keep, |draft| set(draft, one, "message", "a"));
    let longer = edited(&still, Layout::Keep, |draft| {
        draft.entities().unwrap().add([("classname", "light"), ("light", "1")]).unwrap();
    });
    for (ours, theirs) in [(&still, &theirs), (&theirs, &still)] {
        let (map, conflicts) = merged(&base, ours, theirs);
        assert_eq!(conflicts, Vec::<String>::new());
        let all = map.entities().unwrap();
        let has = |index: usize, key: &str| all.get(index).unwrap().get(key).is_some();
        assert!(has(one, "message") && !has(one, "noise") && has(other, "noise") && !has(other, "message"));
    }
    for (ours, theirs) in [(&longer, &theirs), (&theirs, &longer)] {
        let (_, conflicts) = merged(&base, ours, theirs);
        assert!(conflicts.iter().any(|line| line.contains("which one each side means")), "{conflicts:?}");
    }
    // Both sides change one alike, and each something else.
    let more = edited(&longer, Layout::Keep, |draft| set(draft, 0, "message", "b"));
    assert_eq!(merged(&base, &longer, &more).1, Vec::<String>::new());
    // One side alone, and both alike.
    for (ours, theirs) in [(&longer, &base), (&base, &longer), (&longer, &longer)] {
        assert_eq!(merged(&base, ours, theirs).1, Vec::<String>::new());
    }
}

/// An error that their side has comes into the merged map, and is said.
#[test]
fn an_error_of_their_side_is_said() {
    let base = open("q2/own_rooms");
    let wrong = edited(&base, Layout::Keep, |draft| {
        draft.update(quake2::FACES, 0, |face| face.plane = 60_000).unwrap();
    });
    let other = edited(&base, Layout::Keep, |draft| set(draft, 0, "message", "a"));
    let said = |ours: &Bsp<'static>, theirs: &Bsp<'static>| merge(&base, ours, theirs).unwrap().doubts;
    let doubts = said(&other, &wrong);
    assert!(doubts.iter().any(|line| line.contains("an error of their side") && line.contains("60000")), "{doubts:?}");
    assert_eq!((said(&wrong, &other), said(&other, &base)), (Vec::new(), Vec::new()));
}
