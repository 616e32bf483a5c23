//! Maps to compare.

use bspkit::content::lightmap::Adjustment;
use bspkit::{Bsp, Draft, Layout};
use bspkit_ops::compare;

/// A map of each family.
pub(crate) const FAMILIES: [&str; 7] = [
    "q1/own_rooms",
    "bsp2/own_rooms",
    "goldsrc/own_rooms",
    "q2/own_rooms",
    "q3/own_rooms",
    "source/room_v20",
    "source/room_v21",
];

/// Text that does harm where it is taken for markup.
pub(crate) const HOSTILE: [&str; 6] = [
    "</code></td></table></title></style></svg><script>document.documentElement.dataset.harm = 1</script>",
    "<img src=x onerror='document.documentElement.dataset.harm = 1'>",
    "'><svg/onload=document.documentElement.dataset.harm=1>",
    "\"><a href=\"http://example.invalid/\" onclick=\"1\">x</a>",
    "<!--",
    "]]>&lt;script&gt;\u{202e}\u{0}",
];

/// What is done to light.
pub(crate) const BRIGHTER: Adjustment = Adjustment { gain: 1.7, gamma: 1.0, tint: [1.0, 0.9, 0.5] };

pub(crate) fn fixture(name: &str) -> Bsp<'static> {
    Bsp::open(format!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/maps/{}.bsp"), name)).unwrap()
}

/// The map with an edit, as it is saved.
pub(crate) fn edited(map: &Bsp<'static>, edit: impl FnOnce(&mut Draft<'static>)) -> Bsp<'static> {
    let mut draft = map.draft();
    edit(&mut draft);
    Bsp::from_data(draft.plan(Layout::Keep).unwrap().to_vec().into(), Some(map.dialect())).unwrap()
}

pub(crate) fn page(old: &Bsp<'_>, new: &Bsp<'_>) -> String {
    bspkit_text::page::page(["old.bsp", "new.bsp"], [old, new], &compare::whole(old, new, 1000))
}
