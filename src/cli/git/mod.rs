//! What the program does with git.

pub(crate) mod repository;
