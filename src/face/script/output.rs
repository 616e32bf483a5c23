//! Outputs of Source entities: a value like `door,Open,,0.5,-1`.

use rhai::{Dynamic, ImmutableString};

use super::api::{Api, Res, wrong};
use super::values::{bytes_of, number_in, shown, value_of};

/// The separator from Left 4 Dead 2 on; the older one is a comma.
const ESCAPE: u8 = 0x1B;

/// An output: its five fields as they are in the value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Output {
    fields: [Vec<u8>; 5],
    separator: u8,
}

const TARGET: usize = 0;
const INPUT: usize = 1;
const PARAMETER: usize = 2;
const DELAY: usize = 3;
const TIMES: usize = 4;

impl Output {
    /// The output that a value means; nothing if it does not have five fields.
    fn parse(value: &[u8]) -> Option<Output> {
        let separator = if value.contains(&ESCAPE) { ESCAPE } else { b',' };
        let fields: Vec<Vec<u8>> = value.split(|byte| *byte == separator).map(<[u8]>::to_vec).collect();
        let is_number = |field: &[u8]| !number_in(field).is_unit();
        let fields: [Vec<u8>; 5] = fields.try_into().ok()?;
        // Other values with four commas, such as lists of numbers, name no input.
        let is_output = !fields[INPUT].is_empty() && is_number(&fields[DELAY]) && is_number(&fields[TIMES]);
        is_output.then_some(Output { fields, separator })
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        self.fields.join(&self.separator)
    }

    fn field(&self, field: usize) -> ImmutableString {
        shown(&self.fields[field])
    }

    fn set(&mut self, field: usize, value: &Dynamic) -> Res<()> {
        let bytes = value_of(value)?;
        let separator = self.separator;
        if bytes.contains(&separator) {
            let text = shown(&bytes);
            let separator = shown(&[separator]);
            return Err(wrong(format!("`{text}` has the separator `{separator}` of the fields of an output")));
        }
        if field >= DELAY && number_in(&bytes).is_unit() {
            return Err(wrong(format!("`{}` is not a number", shown(&bytes))));
        }
        self.fields[field] = bytes;
        Ok(())
    }

    fn set_separator(&mut self, separator: &str) -> Res<()> {
        let new = match &bytes_of(separator)[..] {
            [new @ (b',' | ESCAPE)] => *new,
            _ => return Err(wrong("the separator of an output is `,` or `\\x1b`")),
        };
        if let Some(field) = self.fields.iter().find(|field| field.contains(&new)) {
            return Err(wrong(format!("the field `{}` has that separator", shown(field))));
        }
        self.separator = new;
        Ok(())
    }
}

fn make(target: &str, input: &str, parameter: Dynamic, delay: Dynamic, times: Dynamic) -> Res<Output> {
    let mut output = Output { fields: Default::default(), separator: b',' };
    let fields = [target.into(), input.into(), parameter, delay, times];
    fields.iter().enumerate().try_for_each(|(field, value)| output.set(field, value))?;
    Ok(output)
}

pub(super) fn register(api: &mut Api) {
    api.group("Outputs of Source entities");
    api.name::<Output>("output");
    api.call(
        "output(value)",
        "The output that a value means, with its fields; `()` if it is not an output. The separator, `,` or 0x1B, \
         stays.",
        |value: &str| Output::parse(&bytes_of(value)).map_or(Dynamic::UNIT, Dynamic::from),
    );
    api.call(
        "output(target, input, parameter, delay, times)",
        "A new output, with `,` between its fields. -1 times is always.",
        make,
    );
    api.get("o.target", "The name of the entity that gets the input.", |o: &mut Output| o.field(TARGET));
    api.get("o.input", "The input.", |o: &mut Output| o.field(INPUT));
    api.get("o.parameter", "The parameter of the input.", |o: &mut Output| o.field(PARAMETER));
    api.get("o.delay", "The delay in seconds.", |o: &mut Output| number_in(&o.fields[DELAY]));
    api.get("o.times", "How often it fires; -1 is always.", |o: &mut Output| number_in(&o.fields[TIMES]));
    api.get("o.separator", "What is between the fields: `,` or `\\x1b`.", |o: &mut Output| shown(&[o.separator]));
    api.set("target", |o: &mut Output, value: Dynamic| o.set(TARGET, &value));
    api.set("input", |o: &mut Output, value: Dynamic| o.set(INPUT, &value));
    api.set("parameter", |o: &mut Output, value: Dynamic| o.set(PARAMETER, &value));
    api.set("delay", |o: &mut Output, value: Dynamic| o.set(DELAY, &value));
    api.set("times", |o: &mut Output, value: Dynamic| o.set(TIMES, &value));
    api.set("separator", |o: &mut Output, value: &str| o.set_separator(value));
    api.call(
        "o.to_string()",
        "The value for an entity. `e.push(\"OnTrigger\", o)` does the same.",
        |o: &mut Output| shown(&o.to_bytes()),
    );
    api.also("to_debug", |o: &mut Output| shown(&o.to_bytes()));
    api.also("==", |a: Output, b: Output| a == b);
    api.also("!=", |a: Output, b: Output| a != b);
}
