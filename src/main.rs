//! The `bspkit` program.
fn main() {}
