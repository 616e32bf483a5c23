//! Operations on whole maps: each with laws, planted faults and real maps.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../../../../tests/edits/follow/beside.rs"]
#[allow(dead_code)]
mod beside;
mod check;
mod compare;
#[path = "../../../../tests/common/corpus.rs"]
#[allow(dead_code)]
mod corpus;
#[path = "../../../../tests/edits/follow/facts.rs"]
#[allow(dead_code)]
mod facts;
mod lmp;
#[path = "../../../../tests/edits/follow/maps.rs"]
#[allow(dead_code)]
mod maps;
mod merge;
mod model;
#[path = "../../../../tests/common/named.rs"]
#[allow(dead_code)]
mod named;
mod patch;
mod prune;
#[path = "../../../../tests/common/random.rs"]
#[allow(dead_code)]
mod random;
#[path = "../../../../tests/edits/follow/shuffle.rs"]
#[allow(dead_code)]
mod shuffle;
#[path = "../../../../tests/edits/follow/walk.rs"]
#[allow(dead_code)]
mod walk;
