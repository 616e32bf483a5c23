//! Entity text.
