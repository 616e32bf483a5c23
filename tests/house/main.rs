//! The rules of the house, and the examples.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod examples;
mod locks;
mod tidy;
