//! Outputs of Source entities: a value like `door,Open,,0.5,-1`.

use super::entity::number;
use crate::bytes::escaped;
use crate::{Error, ErrorKind, Result};

/// An output: its five fields as they are in the value.
///
/// ```
/// use bspkit::content::entities::{Output, OutputField};
/// let mut output = Output::parse(b"door,Open,,0.50,-1").unwrap();
/// assert_eq!((output.field(OutputField::Target), output.delay()), (&b"door"[..], 0.5));
/// output.set(OutputField::Parameter, "now")?;
/// assert_eq!(output.to_bytes(), b"door,Open,now,0.50,-1");
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    fields: [Vec<u8>; 5],
    separator: u8,
}

/// A field of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputField {
    /// The name of the entity that gets the input.
    Target,
    /// The input.
    Input,
    /// The parameter of the input.
    Parameter,
    /// The delay in seconds.
    Delay,
    /// How often it fires; -1 is always.
    Times,
}

impl OutputField {
    /// All fields, in their order.
    pub const ALL: [OutputField; 5] =
        [OutputField::Target, OutputField::Input, OutputField::Parameter, OutputField::Delay, OutputField::Times];

    fn place(self) -> usize {
        OutputField::ALL.iter().position(|field| *field == self).unwrap_or(0)
    }

    fn is_number(self) -> bool {
        matches!(self, OutputField::Delay | OutputField::Times)
    }
}

impl Output {
    /// The separator of fields in most games.
    pub const COMMA: u8 = b',';
    /// The separator from Left 4 Dead 2 on (`VMF_IOPARAM_STRING_DELIMITER`).
    pub const ESCAPE: u8 = 0x1B;

    /// A new output of these fields, with commas between them.
    ///
    /// # Errors
    /// As [`Output::set`].
    pub fn new(fields: [&[u8]; 5]) -> Result<Self> {
        let mut output = Output { fields: Default::default(), separator: Output::COMMA };
        OutputField::ALL.into_iter().zip(fields).try_for_each(|(field, value)| output.set(field, value))?;
        Ok(output)
    }

    /// The output that a value means; nothing if it does not have five fields, an input, and numbers at the end.
    pub fn parse(value: &[u8]) -> Option<Self> {
        let separator = if value.contains(&Output::ESCAPE) { Output::ESCAPE } else { Output::COMMA };
        let fields: Vec<Vec<u8>> = value.split(|byte| *byte == separator).map(<[u8]>::to_vec).collect();
        let output = Output { fields: fields.try_into().ok()?, separator };
        // Other values with four commas, such as lists of numbers, name no input.
        let is_output = !output.field(OutputField::Input).is_empty()
            && OutputField::ALL.iter().all(|field| !field.is_number() || decimal(output.field(*field)).is_some());
        is_output.then_some(output)
    }

    /// The value for an entity.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.fields.join(&self.separator)
    }

    /// A field as it is in the value.
    pub fn field(&self, field: OutputField) -> &[u8] {
        &self.fields[field.place()]
    }

    /// Sets a field.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if the value has the separator, or is not a number where one is expected.
    pub fn set(&mut self, field: OutputField, value: impl AsRef<[u8]>) -> Result<()> {
        let value = value.as_ref();
        let wrong = |why: String| Err(Error::new(ErrorKind::Argument, format!("`{}` {why}", escaped(value))));
        if value.contains(&self.separator) {
            return wrong(format!("has the separator `{}` of the fields of an output", escaped(&[self.separator])));
        }
        if field.is_number() && decimal(value).is_none() {
            return wrong("is not a number".to_owned());
        }
        self.fields[field.place()] = value.to_vec();
        Ok(())
    }

    /// The delay in seconds.
    pub fn delay(&self) -> f64 {
        decimal(self.field(OutputField::Delay)).unwrap_or_default()
    }

    /// How often it fires; -1 is always.
    pub fn times(&self) -> f64 {
        decimal(self.field(OutputField::Times)).unwrap_or_default()
    }

    /// The byte between the fields: [`Output::COMMA`] or [`Output::ESCAPE`].
    pub fn separator(&self) -> u8 {
        self.separator
    }

    /// Sets the byte between the fields.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for another byte, and if a field has it.
    pub fn set_separator(&mut self, separator: u8) -> Result<()> {
        if !matches!(separator, Output::COMMA | Output::ESCAPE) {
            return Err(Error::new(ErrorKind::Argument, "the separator of an output is `,` or `\\x1b`"));
        }
        if let Some(field) = self.fields.iter().find(|field| field.contains(&separator)) {
            return Err(Error::new(ErrorKind::Argument, format!("the field `{}` has that separator", escaped(field))));
        }
        self.separator = separator;
        Ok(())
    }
}

/// A finite number in digits; names such as `inf` are not numbers here.
fn decimal(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text.trim_ascii()).ok()?;
    let is_decimal = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    number(text).filter(|_| is_decimal)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn values_that_are_outputs_come_back_as_they_were() {
        for value in
            ["door,Open,,0.5,-1", ",FireUser1,a b,00.50,1", "d\x1bOpen\x1ba,b\x1b0\x1b-1", "caf\u{e9},Open,,0,1"]
        {
            assert_eq!(Output::parse(value.as_bytes()).unwrap().to_bytes(), value.as_bytes());
        }
        for other in
            ["", "a,b,c,1", "a,b,c,1,2,3", "1,,3,4,5", "a,b,c,x,1", "a,b,c,1,inf", "a,b,c,,1", "a\x1bb,c,d,1,2"]
        {
            assert_eq!(Output::parse(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn a_field_never_has_the_separator() {
        let mut output = Output::new([b"door", b"Open", b"", b"0", b"-1"]).unwrap();
        assert!(output.set(OutputField::Target, "a,b").is_err() && output.set(OutputField::Delay, "soon").is_err());
        assert!(output.set_separator(b';').is_err());
        output.set_separator(Output::ESCAPE).unwrap();
        output.set(OutputField::Target, "a,b").unwrap();
        assert!(output.set_separator(Output::COMMA).is_err());
        assert_eq!(output.to_bytes(), b"a,b\x1bOpen\x1b\x1b0\x1b-1");
        assert!(Output::new([b"a", b"b", b"c", b"d", b"e"]).is_err());
    }
}
