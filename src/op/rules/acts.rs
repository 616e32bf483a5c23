//! The actions of Lazyripent2 on the entities that a block matches: each action on all of them, then the next one.

use std::collections::HashMap;

use super::apply::Pair;
use super::lazyripent::{Act, Verb, bits, number};
use crate::bytes::escaped;

/// Values that `store` keeps, by file and name.
pub(super) type Stored = HashMap<(String, Vec<u8>), Vec<u8>>;

impl Act {
    /// Changes the pairs of an entity; values refer to the pairs of `of`, or to those of the entity itself. Counts the
    /// pairs that were removed, changed and added.
    ///
    /// # Errors
    /// Why the action does not fit the entity.
    pub(super) fn apply(
        &self,
        pairs: &mut Vec<Pair>,
        of: Option<&[Pair]>,
        (file, stored): (&str, &mut Stored),
        by: usize,
        counts: &mut [usize; 3],
    ) -> Result<(), String> {
        let find = |pairs: &[Pair], key: &[u8]| pairs.iter().position(|pair| pair.key == key);
        let need = || find(pairs, &self.key).ok_or_else(|| format!("the entity has no key `{}`", escaped(&self.key)));
        let lacks = |key: &[u8]| match find(pairs, key) {
            Some(_) => Err(format!("the entity has the key `{}` already", escaped(key))),
            None => Ok(()),
        };
        let new = |key: &[u8], value: Vec<u8>| Pair { key: key.to_vec(), value, origin: None, by: Some(by) };
        let set = |pair: &mut Pair, value: Vec<u8>, counts: &mut [usize; 3]| {
            counts[1] += usize::from(pair.value != value);
            (pair.value, pair.by) = (value, Some(by));
        };
        match self.verb {
            Verb::Replace => {
                let at = need()?;
                let value = solved(&self.value, of.unwrap_or(pairs), (file, stored))?;
                set(&mut pairs[at], value, counts);
            }
            Verb::New => {
                lacks(&self.key)?;
                let value = solved(&self.value, of.unwrap_or(pairs), (file, stored))?;
                pairs.push(new(&self.key, value));
                counts[2] += 1;
            }
            Verb::Remove => {
                need()?;
                let before = pairs.len();
                pairs.retain(|pair| pair.key != self.key);
                counts[0] += before - pairs.len();
            }
            Verb::Rename => {
                let at = need()?;
                lacks(&self.value)?;
                let pair = pairs.remove(at);
                pairs.push(new(&self.value, pair.value));
                (counts[0], counts[2]) = (counts[0] + 1, counts[2] + 1);
            }
            Verb::Store => {
                let at = need()?;
                stored.insert((file.to_owned(), self.value.clone()), pairs[at].value.clone());
            }
            Verb::BitSet | Verb::BitClear => {
                let at = need()?;
                let text = std::str::from_utf8(&pairs[at].value).ok().and_then(|text| text.trim().parse::<i32>().ok());
                let (old, mask) = text.zip(bits(&self.value)).ok_or_else(|| not_a(&pairs[at], "whole number"))?;
                let value = if self.verb == Verb::BitSet { old | mask } else { old & !mask };
                set(&mut pairs[at], value.to_string().into_bytes(), counts);
            }
            Verb::Add | Verb::Sub | Verb::Mult | Verb::Div => {
                let at = need()?;
                let numbers = number(&pairs[at].value).zip(number(&self.value));
                let (old, other) = numbers.ok_or_else(|| not_a(&pairs[at], "number"))?;
                let value = match self.verb {
                    Verb::Add => old + other,
                    Verb::Sub => old - other,
                    Verb::Mult => old * other,
                    _ => old / other,
                };
                if !value.is_finite() {
                    return Err(format!("the result for `{}` is not a number", escaped(&self.key)));
                }
                set(&mut pairs[at], value.to_string().into_bytes(), counts);
            }
        }
        Ok(())
    }
}

fn not_a(pair: &Pair, what: &str) -> String {
    format!("the value `{}` of `{}` is not a {what}", escaped(&pair.value), escaped(&pair.key))
}

/// A value with `{key}` and `{global.name}` filled in; `\{` is a brace.
fn solved(value: &[u8], pairs: &[Pair], (file, stored): (&str, &Stored)) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'\\' if after.first() == Some(&b'{') => {
                out.push(b'{');
                rest = &after[1..];
            }
            b'{' => {
                let Some(end) = memchr::memchr(b'}', after) else {
                    return Err(format!("a `}}` was expected in `{}`", escaped(value)));
                };
                let name = after[..end].trim_ascii();
                rest = &after[end + 1..];
                let found = match name.strip_prefix(b"global.") {
                    Some(name) => stored.get(&(file.to_owned(), name.to_vec())),
                    None => pairs.iter().find(|pair| pair.key == name).map(|pair| &pair.value),
                };
                match found {
                    Some(found) => out.extend_from_slice(found),
                    None => return Err(format!("`{{{}}}` is not known", escaped(name))),
                }
            }
            other => out.push(*other),
        }
        if out.len() > MOST_VALUE {
            return Err(format!("the value of `{}` would be too long", escaped(value)));
        }
    }
    Ok(out)
}

/// More than any engine reads; without a limit, values that refer to values double with each action.
const MOST_VALUE: usize = 1 << 16;
