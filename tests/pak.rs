//! Pakfiles: whatever is edited, all else keeps its bytes; and every zip reader reads what is written.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "common/corpus.rs"]
mod corpus;
#[path = "common/random.rs"]
mod random;

#[path = "pak/bad.rs"]
mod bad;
#[path = "pak/built.rs"]
mod built;
#[path = "pak/faults.rs"]
mod faults;
#[path = "pak/law.rs"]
mod law;
#[path = "pak/order.rs"]
mod order;
#[path = "pak/readers.rs"]
mod readers;
#[path = "pak/real.rs"]
mod real;
#[path = "pak/rules.rs"]
mod rules;
#[path = "pak/zip.rs"]
mod zip;
