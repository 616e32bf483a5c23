//! Outputs of Source entities in scripts.

use rhai::{Dynamic, ImmutableString};

use super::api::{Api, Res, fail, wrong};
use super::values::{bytes_of, number_in, shown, value_of};
use crate::content::entities::{Output, OutputField};

fn field(output: &Output, field: OutputField) -> ImmutableString {
    shown(output.field(field))
}

fn set(output: &mut Output, field: OutputField, value: &Dynamic) -> Res<()> {
    output.set(field, value_of(value)?).map_err(fail)
}

fn set_separator(output: &mut Output, separator: &str) -> Res<()> {
    match &bytes_of(separator)[..] {
        [separator] => output.set_separator(*separator).map_err(fail),
        _ => Err(wrong("the separator of an output is `,` or `\\x1b`")),
    }
}

fn make(target: &str, input: &str, parameter: Dynamic, delay: Dynamic, times: Dynamic) -> Res<Output> {
    let [target, input] = [bytes_of(target), bytes_of(input)];
    let [parameter, delay, times] = [value_of(&parameter)?, value_of(&delay)?, value_of(&times)?];
    Output::new([&target, &input, &parameter, &delay, &times]).map_err(fail)
}

pub(super) fn register(api: &mut Api) {
    use OutputField::{Delay, Input, Parameter, Target, Times};
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
    api.get("o.target", "The name of the entity that gets the input.", |o: &mut Output| field(o, Target));
    api.get("o.input", "The input.", |o: &mut Output| field(o, Input));
    api.get("o.parameter", "The parameter of the input.", |o: &mut Output| field(o, Parameter));
    api.get("o.delay", "The delay in seconds.", |o: &mut Output| number_in(o.field(Delay)));
    api.get("o.times", "How often it fires; -1 is always.", |o: &mut Output| number_in(o.field(Times)));
    api.get("o.separator", "What is between the fields: `,` or `\\x1b`.", |o: &mut Output| shown(&[o.separator()]));
    api.set("target", |o: &mut Output, value: Dynamic| set(o, Target, &value));
    api.set("input", |o: &mut Output, value: Dynamic| set(o, Input, &value));
    api.set("parameter", |o: &mut Output, value: Dynamic| set(o, Parameter, &value));
    api.set("delay", |o: &mut Output, value: Dynamic| set(o, Delay, &value));
    api.set("times", |o: &mut Output, value: Dynamic| set(o, Times, &value));
    api.set("separator", |o: &mut Output, value: &str| set_separator(o, value));
    api.call(
        "o.to_string()",
        "The value for an entity. `e.push(\"OnTrigger\", o)` does the same.",
        |o: &mut Output| shown(&o.to_bytes()),
    );
    api.also("to_debug", |o: &mut Output| shown(&o.to_bytes()));
    api.also("==", |a: Output, b: Output| a == b);
    api.also("!=", |a: Output, b: Output| a != b);
}
