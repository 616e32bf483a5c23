//! What the library reads, and that it gives the same bytes back: containers, records, content.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod broken;
mod bspx;
mod console;
#[path = "../common/corpus.rs"]
#[allow(dead_code)]
mod corpus;
mod entities;
mod extremes;
mod layout_table;
mod lenses;
mod light;
mod limits;
mod odd_places;
mod pak;
mod props;
#[path = "../common/random.rs"]
#[allow(dead_code)]
mod random;
mod records;
mod records_source;
mod relatives;
mod source_room;
mod textures;
mod values;
