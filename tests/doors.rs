//! Every door under changed input for a second: no panic, nothing that hangs, and what is said of a good result holds.

use std::time::Duration;

use bspkit_fuzz::doors::{Door, Kind, all};
use bspkit_fuzz::run::enter_for;

#[test]
fn every_door_holds_for_a_second() {
    assert!(enter_for(&all(), Duration::from_secs(1), 1), "see above");
}

#[test]
fn a_door_that_panics_is_found() {
    let enter = |bytes: &[u8]| assert!(bytes.len() < 4, "more than three bytes");
    let door = Door { name: "planted", kind: Kind::Bytes, seeds: vec![b"four".to_vec()], enter };
    assert!(!enter_for(&[door], Duration::from_secs(1), 1));
}
