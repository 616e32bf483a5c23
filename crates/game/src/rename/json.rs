//! How the fields of a renaming are written in JSON.

use bspkit::Error;
use bspkit::json::members;
use serde::Serializer;

/// For each field of bytes a function of its name: the text, and by the second name the bytes if they are not UTF-8.
macro_rules! bytes {
    ($($field:ident $raw:literal;)*) => {
        $(pub(super) fn $field<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
            members(bytes, [stringify!($field), $raw], serializer)
        })*
    };
}

bytes! {
    file "file_raw";
    from "from_raw";
    key "key_raw";
    text "text_raw";
    to "to_raw";
}

pub(super) fn problems<S: Serializer>(problems: &[Error], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(problems.iter().map(ToString::to_string))
}
