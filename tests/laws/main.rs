//! The round-trip laws, on made and real maps, and planted faults that each of them finds.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../common/corpus.rs"]
#[allow(dead_code)]
mod corpus;
mod laws;
mod mutations;
#[path = "../common/named.rs"]
#[allow(dead_code)]
mod named;
#[path = "../common/random.rs"]
#[allow(dead_code)]
mod random;
mod real;
#[path = "../common/recipe.rs"]
#[allow(dead_code)]
mod recipe;
