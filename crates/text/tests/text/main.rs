//! Maps as text and folders, and back.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../../../../tests/common/corpus.rs"]
#[allow(dead_code)]
mod corpus;
mod folder;
mod listed;
mod loaded;
#[path = "../../../../tests/common/random.rs"]
#[allow(dead_code)]
mod random;
#[path = "../../../../tests/common/recipe.rs"]
#[allow(dead_code)]
mod recipe;
