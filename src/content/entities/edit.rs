//! Edits of one entity's pairs; outputs of Source entities.

use std::sync::Arc;

use super::parse::Span;
use super::print::{Splice, Style};
use super::{Body, Entities, Entity, Own, number, rule, unquoted};
use crate::bytes::{escaped, index};
use crate::{Error, ErrorKind, Result};

// Edits of one entity's pairs.

/// An entity to edit. Each method either makes its edit or gives an error and changes nothing.
///
/// An edit changes only the bytes of its key or value; setting a value to what it is changes nothing. If edits give an
/// entity its original pairs again, it also has its original text again.
///
/// # Errors
/// All methods give [`ErrorKind::Refused`] for keys and values that engines of the dialect could not read back
/// ([`Entities::for_any_engine`] allows those that at least one engine reads), and if the first entity would no longer
/// be worldspawn.
///
/// ```
/// use bspkit::ErrorKind;
/// use bspkit::content::entities::Entities;
/// use bspkit::dialect::EntityRules;
///
/// let text = b"{\n\"classname\" \"light\"\n}\n\0";
/// let mut entities = Entities::parse(&text[..], EntityRules::SOURCE)?;
/// let mut light = entities.first_class("light")?;
/// light.set("targetname", "lamp")?;
/// assert_eq!(light.set("message", "say \"hi\"").unwrap_err().kind(), ErrorKind::Refused);
/// assert_eq!(entities.to_bytes(), b"{\n\"classname\" \"light\"\n\"targetname\" \"lamp\"\n}\n\0");
/// entities.first_class("light")?.unset("targetname")?;
/// assert_eq!(entities.to_bytes(), text);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Debug)]
pub struct EntityMut<'e, 'a> {
    pub(super) entities: &'e mut Entities<'a>,
    pub(super) index: usize,
    /// Whether the rules for whole entities are checked later.
    is_unchecked: bool,
}

impl<'e, 'a> EntityMut<'e, 'a> {
    pub(super) fn new(entities: &'e mut Entities<'a>, index: usize) -> Self {
        EntityMut { entities, index, is_unchecked: false }
    }

    /// The position among the entities.
    pub fn index(&self) -> usize {
        self.index
    }

    /// The entity as it is now.
    pub fn entity(&self) -> Entity<'_> {
        self.entities.view(self.index)
    }

    /// The value of the first `classname`.
    pub fn class(&self) -> Option<&[u8]> {
        self.entity().class()
    }

    /// The first value of a key. Case does not matter.
    pub fn get(&self, key: impl AsRef<[u8]>) -> Option<&[u8]> {
        self.entity().get(key)
    }

    /// Makes several edits that are one: what is true of the whole entity, as that it has a class, is checked after the
    /// last of them. After an error the entity is as it was before all of them.
    ///
    /// ```
    /// use bspkit::content::entities::Entities;
    /// use bspkit::dialect::EntityRules;
    ///
    /// let mut entities = Entities::parse("{\n\"classname\" \"light\"\n}\n\0", EntityRules::SOURCE)?;
    /// let mut light = entities.first_class("light")?;
    /// assert!(light.unset("classname").is_err());
    /// light.all_at_once(|light| {
    ///     light.unset("classname")?;
    ///     light.push("classname", "light_spot")
    /// })?;
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn all_at_once(&mut self, edit: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let old = self.entities.nodes[self.index].body.clone();
        let was_unchecked = std::mem::replace(&mut self.is_unchecked, true);
        let done = edit(self);
        self.is_unchecked = was_unchecked;
        let result = done.and_then(|()| if was_unchecked { Ok(()) } else { self.check_against(&old) });
        if result.is_err() {
            self.entities.nodes[self.index].body = old;
        }
        result
    }

    /// Sets the value of a key, the first of several; adds the pair if there is none.
    pub fn set(&mut self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<()> {
        let (key, value) = (key.as_ref(), value.as_ref());
        let pair = self.entity().numbers_of(key).next();
        match pair {
            Some(pair) => self.set_value(pair, value),
            None => self.push(key, value),
        }
    }

    /// Sets the `n`-th value of a key, counted from 1.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the entity has fewer, besides those of all edits.
    pub fn set_nth(&mut self, key: impl AsRef<[u8]>, n: usize, value: impl AsRef<[u8]>) -> Result<()> {
        let pair = self.nth(key.as_ref(), n)?;
        self.set_value(pair, value.as_ref())
    }

    /// Adds a pair after the last one, with the same spacing; other pairs of the same key stay.
    pub fn push(&mut self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<()> {
        self.push_all(&[(key.as_ref(), value.as_ref())])
    }

    /// Adds pairs after the last one, all or none.
    ///
    /// ```
    /// use bspkit::content::entities::Entities;
    /// let mut entities = Entities::parse("{\n\"classname\" \"light\"\n}\n", bspkit::dialect::EntityRules::QUAKE2)?;
    /// let mut light = entities.get_mut(0).unwrap();
    /// light.push_all(&[(b"light", b"300"), (b"style", b"1")])?;
    /// light.set_values(&[(1, b"200")])?;
    /// light.remove_pairs(&[2])?;
    /// assert_eq!(entities.to_bytes(), b"{\n\"classname\" \"light\"\n\"light\" \"200\"\n}\n"[..]);
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn push_all(&mut self, pairs: &[(&[u8], &[u8])]) -> Result<()> {
        if pairs.is_empty() {
            return Ok(());
        }
        pairs.iter().try_for_each(|(key, value)| self.check_pair(Some(key), value))?;
        let entity = self.entity();
        if let Some(last) = entity.pairs.last()
            && is_unterminated(&entity, last.value)
        {
            return Err(rule::refused("the last value has no closing quote and would swallow the new pair".to_owned())
                .at(rule::place(self.index))
                .with_hint("set that value first: this adds its quotes"));
        }
        let style = Style::of(&entity).unwrap_or_else(|| self.entities.style_near(self.index));
        let own = Own::with_pairs(&entity, &style, pairs)?;
        self.commit(own)
    }

    /// Whether engines of the dialect could read back a value, and its key if it is new.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] if they could not.
    pub fn check_pair(&self, key: Option<&[u8]>, value: &[u8]) -> Result<()> {
        key.map_or(Ok(()), |key| rule::check_key(&self.entities.rules, self.index, key))?;
        rule::check_value(&self.entities.rules, self.index, value)
    }

    /// Removes all pairs of a key and returns their number. Comments stay.
    pub fn unset(&mut self, key: impl AsRef<[u8]>) -> Result<usize> {
        let pairs = self.find(key.as_ref());
        self.remove_pairs(&pairs)?;
        Ok(pairs.len())
    }

    /// Removes the `n`-th pair of a key, counted from 1.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the entity has fewer, besides those of all edits.
    pub fn unset_nth(&mut self, key: impl AsRef<[u8]>, n: usize) -> Result<()> {
        let pair = self.nth(key.as_ref(), n)?;
        self.remove_pairs(&[pair])
    }

    /// Gives all pairs of a key another key and returns their number.
    pub fn rename(&mut self, old: impl AsRef<[u8]>, new: impl AsRef<[u8]>) -> Result<usize> {
        let pairs = self.find(old.as_ref());
        self.rename_pairs(&pairs, new.as_ref())?;
        Ok(pairs.len())
    }

    /// Gives the `n`-th pair of a key, counted from 1, another key.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the entity has fewer, besides those of all edits.
    pub fn rename_nth(&mut self, old: impl AsRef<[u8]>, n: usize, new: impl AsRef<[u8]>) -> Result<()> {
        let pair = self.nth(old.as_ref(), n)?;
        self.rename_pairs(&[pair], new.as_ref())
    }

    fn set_value(&mut self, pair: usize, value: &[u8]) -> Result<()> {
        self.set_values(&[(pair, value)])
    }

    /// Sets the values of pairs, by their places among all pairs, which ascend; all or none.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the entity has fewer pairs, [`ErrorKind::Argument`] if the places do not ascend,
    /// besides those of all edits.
    pub fn set_values(&mut self, values: &[(usize, &[u8])]) -> Result<()> {
        let entity = self.entity();
        self.check_places(values.iter().map(|(pair, _)| *pair))?;
        let mut splices = Vec::with_capacity(values.len());
        for &(pair, value) in values {
            let new = Splice::token(&entity, entity.pairs[pair].value, value);
            if !new.is_empty() {
                rule::check_value(&self.entities.rules, self.index, value)?;
                splices.extend(new);
            }
        }
        if splices.is_empty() {
            return Ok(());
        }
        let own = Own::spliced(&entity, &splices, &[])?;
        self.commit(own)
    }

    fn rename_pairs(&mut self, pairs: &[usize], new: &[u8]) -> Result<()> {
        let entity = self.entity();
        let splices: Vec<_> =
            pairs.iter().flat_map(|&pair| Splice::token(&entity, entity.pairs[pair].key, new)).collect();
        if splices.is_empty() {
            return Ok(());
        }
        rule::check_key(&self.entities.rules, self.index, new)?;
        let own = Own::spliced(&entity, &splices, &[])?;
        self.commit(own)
    }

    /// Removes pairs by their places among all pairs, which ascend; all or none. Comments stay.
    ///
    /// # Errors
    /// As [`EntityMut::set_values`].
    pub fn remove_pairs(&mut self, pairs: &[usize]) -> Result<()> {
        if pairs.is_empty() {
            return Ok(());
        }
        self.check_places(pairs.iter().copied())?;
        let entity = self.entity();
        let own = Own::spliced(&entity, &Splice::removal(&entity, pairs), pairs)?;
        self.commit(own)
    }

    /// Refuses places of pairs that do not ascend or that the entity does not have.
    fn check_places(&self, places: impl Iterator<Item = usize>) -> Result<()> {
        let count = self.entity().pairs.len();
        let mut next = 0;
        for place in places {
            let error = match place {
                _ if place >= count => (ErrorKind::NotFound, format!("no pair {place}: the entity has {count}")),
                _ if place < next => (ErrorKind::Argument, format!("pair {place} is named after a later one")),
                _ => {
                    next = place + 1;
                    continue;
                }
            };
            return Err(Error::new(error.0, error.1).at(rule::place(self.index)));
        }
        Ok(())
    }

    /// The indices of a key's pairs.
    fn find(&self, key: &[u8]) -> Vec<usize> {
        self.entity().numbers_of(key).collect()
    }

    fn nth(&self, key: &[u8], n: usize) -> Result<usize> {
        let pairs = self.find(key);
        n.checked_sub(1).and_then(|at| pairs.get(at).copied()).ok_or_else(|| {
            let (key, count) = (escaped(key), pairs.len());
            Error::new(ErrorKind::NotFound, format!("no pair {n} of key `{key}`: the entity has {count}"))
                .at(rule::place(self.index))
        })
    }

    /// Replaces the text by the edited one, which has other pairs, if the rules for whole entities allow it.
    fn commit(&mut self, mut own: Own) -> Result<()> {
        let entities = &mut *self.entities;
        // One that is as in the source can only become different.
        let (origin, was_edited) = match &entities.nodes[self.index].body {
            Body::Source(origin) => (Some(*origin), false),
            Body::Own(old) => (old.origin, true),
        };
        own.origin = origin;
        let body = match origin {
            Some(origin) if was_edited && has_pairs_of_source(entities, origin, &own) => Body::Source(origin),
            _ => Body::Own(Arc::new(own)),
        };
        self.check_read(&body)?;
        self.put(body)
    }

    /// Of an entity without an end, a string that nothing closes may go on into what is new.
    fn check_read(&self, body: &Body) -> Result<()> {
        let new = self.entities.view_of(self.index, body);
        if self.entity().is_closed() && new.is_closed() {
            return Ok(());
        }
        let read = Entities::parse(new.bytes(), self.entities.rules)?;
        match read.len() == 1 && read.view(0).pairs().eq(new.pairs()) {
            true => Ok(()),
            false => Err(rule::refused("a quote that nothing closes would swallow what is new".to_owned())
                .at(rule::place(self.index))),
        }
    }

    /// Replaces the body, if the rules for whole entities allow it.
    pub(super) fn put(&mut self, body: Body) -> Result<()> {
        let old = std::mem::replace(&mut self.entities.nodes[self.index].body, body);
        let result = if self.is_unchecked { Ok(()) } else { self.check_against(&old) };
        if result.is_err() {
            self.entities.nodes[self.index].body = old;
        }
        result
    }

    fn check_against(&self, old: &Body) -> Result<()> {
        if self.index > 0 && !rule::limits_entities(&self.entities.rules) {
            return Ok(());
        }
        let (before, after) = (self.entities.view_of(self.index, old), self.entity());
        rule::check_size(&self.entities.rules, Some(&before), &after)?;
        match self.index == 0 && rule::is_world(Some(&before)) && !rule::is_world(Some(&after)) {
            true => Err(rule::not_the_world(&self.entities.rules)),
            false => Ok(()),
        }
    }
}

fn has_pairs_of_source(entities: &Entities<'_>, origin: u32, own: &Own) -> bool {
    let (bytes, pairs) = (&entities.source.data[..], entities.source.pairs(index(origin)));
    let syntax = &entities.rules.syntax;
    let same = |one: Span, other: Span| {
        unquoted(&own.text[one.range()], syntax).0 == unquoted(&bytes[other.range()], syntax).0
    };
    own.pairs.len() == pairs.len()
        && own.pairs.iter().zip(pairs).all(|(own, old)| same(own.key, old.key) && same(own.value, old.value))
}

fn is_unterminated(entity: &Entity<'_>, span: Span) -> bool {
    !unquoted(&entity.bytes[span.range()], entity.syntax).1
}

// Outputs of Source entities: a value like `door,Open,,0.5,-1`.

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
        Output::with_separator(Output::COMMA, fields)
    }

    /// As [`Output::new`], with another byte between the fields.
    ///
    /// # Errors
    /// As [`Output::set`] and [`Output::set_separator`].
    pub fn with_separator(separator: u8, fields: [&[u8]; 5]) -> Result<Self> {
        let mut output = Output { fields: Default::default(), separator: Output::COMMA };
        output.set_separator(separator)?;
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
    /// [`ErrorKind::Argument`] if the value has the separator or ESC, is not a number where one is expected, or is an
    /// input without a name.
    pub fn set(&mut self, field: OutputField, value: impl AsRef<[u8]>) -> Result<()> {
        let value = value.as_ref();
        let wrong = |why: String| Err(Error::new(ErrorKind::Argument, format!("`{}` {why}", escaped(value))));
        // With the newer one in any field a value is read as if all fields had it between them.
        if let Some(separator) = [self.separator, Output::ESCAPE].into_iter().find(|byte| value.contains(byte)) {
            return wrong(format!("has the separator `{}` of the fields of an output", escaped(&[separator])));
        }
        if field.is_number() && decimal(value).is_none() {
            return wrong("is not a number".to_owned());
        }
        if field == OutputField::Input && value.is_empty() {
            return wrong("is not the name of an input".to_owned());
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
