//! What edits change, what follows them, and how they are saved.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod assign;
mod compress;
#[path = "../common/corpus.rs"]
#[allow(dead_code)]
mod corpus;
mod draft;
mod follow;
mod query;
#[path = "../common/random.rs"]
#[allow(dead_code)]
mod random;
mod saves;
mod select;
