//! Selectors as text that reads back as the same selector.

use std::fmt;

use super::test::{Compare, Order, Test};
use super::{All, Head, Selector};
use crate::bytes::escaped;

/// The characters to escape in a class, besides those that always are.
const IN_CLASS: &str = "[],:#\"() ";
/// In a key.
const IN_KEY: &str = "[]=^$*~<>!";
/// In a value without quotes.
const IN_VALUE: &str = "]\"";

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, all) in self.either.iter().enumerate() {
            write!(f, "{}{all}", if index > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}

impl fmt::Display for All {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.head {
            Head::Any if self.tests.is_empty() => f.write_str("*")?,
            Head::Any => {}
            Head::Index(index) => write!(f, "#{index}")?,
            // A bare `*` also matches entities without a class.
            Head::Class(class) if class == b"*" => f.write_str("\\x2a")?,
            Head::Class(class) => print(f, class, IN_CLASS)?,
        }
        self.tests.iter().try_for_each(|test| write!(f, "{test}"))
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (key, compare) = match self {
            Test::Not(selector) => return write!(f, ":not({selector})"),
            Test::Key { key, compare } => (key, compare),
        };
        f.write_str("[")?;
        print(f, key, IN_KEY)?;
        match compare {
            Compare::Exists => {}
            Compare::Equal(value) => with(f, "=", value)?,
            Compare::Begins(value) => with(f, "^=", value)?,
            Compare::Ends(value) => with(f, "$=", value)?,
            Compare::Contains(value) => with(f, "*=", value)?,
            Compare::Matches(it) => write!(f, "~/{}/{}", it.text, if it.ignores_case { "i" } else { "" })?,
            Compare::Number(Order::Less, number) => write!(f, "<{number}")?,
            Compare::Number(Order::LessOrEqual, number) => write!(f, "<={number}")?,
            Compare::Number(Order::Greater, number) => write!(f, ">{number}")?,
            Compare::Number(Order::GreaterOrEqual, number) => write!(f, ">={number}")?,
        }
        f.write_str("]")
    }
}

fn with(f: &mut fmt::Formatter<'_>, operator: &str, value: &[u8]) -> fmt::Result {
    f.write_str(operator)?;
    print(f, value, IN_VALUE)
}

/// Prints bytes with their own escapes, and one for each byte that would end them.
fn print(f: &mut fmt::Formatter<'_>, bytes: &[u8], ends: &str) -> fmt::Result {
    for letter in escaped(bytes).to_string().chars() {
        match ends.contains(letter) {
            // Those are ASCII.
            true => write!(f, "\\x{:02x}", u32::from(letter))?,
            false => write!(f, "{letter}")?,
        }
    }
    Ok(())
}
