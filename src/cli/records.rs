//! The values of `--format`.

use bspkit::face::records::Format;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Reads a format by its name.
pub(crate) fn formats() -> impl TypedValueParser<Value = Format> {
    let value = |name, help| PossibleValue::new(name).help(help);
    let values = [
        value("json", "One JSON object per line, one per record"),
        value("csv", "A header line, then one line per record"),
        value("raw", "The bytes of the lump"),
    ];
    PossibleValuesParser::new(values).map(|name| match &*name {
        "csv" => Format::Csv,
        "raw" => Format::Raw,
        _ => Format::Json,
    })
}
