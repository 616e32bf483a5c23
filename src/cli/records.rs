//! The values of `--format`.

use bspkit::face::records::Format;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Reads a format by its name.
pub(crate) fn formats() -> impl TypedValueParser<Value = Format> {
    let value = |name, help| PossibleValue::new(name).help(help);
    let values = [
        value("json", "An object on a line for each record"),
        value("csv", "A header, then a line for each record"),
        value("raw", "The lump's bytes"),
    ];
    PossibleValuesParser::new(values).map(|name| match &*name {
        "csv" => Format::Csv,
        "raw" => Format::Raw,
        _ => Format::Json,
    })
}
