// How readers print the values of records: `READ values LUMP FIELD…`, then a line with `READ =` for each record. Numbers
// are integers, those of floats their bits; names are hex after an `x`. A field may be a list, whose values follow each
// other. `FIELD&BITS` are those bits of it, `FIELD/3` is it divided, `?LUMP` says that the order of records is not the map's.

use std::fmt::Write;

/// The values of one record.
#[derive(Default)]
pub struct Values(String);

impl Values {
    pub fn number(&mut self, value: impl Into<i64>) -> &mut Self {
        write!(self.0, " {}", value.into()).expect("strings take everything");
        self
    }

    pub fn numbers<N: Into<i64>>(&mut self, values: impl IntoIterator<Item = N>) -> &mut Self {
        for value in values {
            self.number(value);
        }
        self
    }

    pub fn floats(&mut self, values: impl IntoIterator<Item = f32>) -> &mut Self {
        self.numbers(values.into_iter().map(f32::to_bits))
    }

    #[allow(dead_code)]
    pub fn name(&mut self, name: &str) -> &mut Self {
        self.0.push_str(" x");
        name.bytes().for_each(|byte| write!(self.0, "{byte:02x}").expect("strings take everything"));
        self
    }
}

/// Prints the records of a lump.
pub fn table<'t, T: 't>(
    lump: &str,
    fields: &str,
    records: impl IntoIterator<Item = &'t T>,
    values: impl Fn(&T, &mut Values),
) {
    let mut text = format!("READ values {lump} {fields}\n");
    for record in records {
        let mut row = Values::default();
        values(record, &mut row);
        writeln!(text, "READ ={}", row.0).expect("strings take everything");
    }
    print!("{text}");
}
