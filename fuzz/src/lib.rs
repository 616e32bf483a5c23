//! Every door of bspkit under changed input.
//!
//! A door takes any bytes. It must neither panic nor hang, and what it says of a good result must hold. Inputs are
//! seeds, which are fixtures of the project, with changes ([`mutate`]).

pub mod doors;
pub mod mutate;
pub mod run;
pub mod seeds;
