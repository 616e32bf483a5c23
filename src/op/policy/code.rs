//! The codes of findings that only a policy has.

use crate::op::check::{Code, Severity};

macro_rules! codes {
    ($($name:ident = $text:literal, $meaning:literal;)*) => {
        $(pub(super) static $name: Code =
            Code { name: $text, severity: Severity::Error, meaning: $meaning };)*

        /// The codes of the findings of [`run`](super::run) that [`check`](crate::op::check) does not have. All are
        /// errors.
        pub static CODES: &[&Code] = &[$(&$name),*];
    };
}

codes! {
    UNREAD = "map-unread", "the file is not a map, or cannot be read";
    LAW = "law", "a round-trip law of `verify` fails";
    NAME = "policy-name", "the name of the map is not as the policy says";
    DIALECT = "policy-dialect", "the policy does not allow the dialect";
    SIZE = "policy-size", "the file, the entity text or the pakfile is larger than the policy allows";
    COUNT = "policy-count", "there are more entities or embedded files than the policy allows";
    STALE = "policy-stale-text", "text is left in bytes that no lump has";
    LUMP = "policy-lump", "a lump is empty that the policy requires, or has bytes though the policy forbids it";
    COMPRESSION = "policy-compression", "something is compressed or not compressed against the policy";
    LIMIT = "policy-limit", "a number is closer to the engine's limit than the policy allows";
    ENTITY = "policy-entity", "an entity that the policy requires is missing, or the policy forbids an entity";
    KEY = "policy-key", "an entity does not have a key that the policy requires, or has one that it forbids";
    FILE = "policy-file", "an embedded file that the policy requires is missing, or the policy forbids a file";
    TEXTURE = "policy-texture", "the policy does not allow a texture";
}
