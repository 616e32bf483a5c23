//! The records that a query reads: each lump is decompressed and byte-swapped once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::bytes::Data;
use crate::content::texture_names::TextureNames;
use crate::dialect::{Form, Records};
use crate::record::{FieldInfo, FlagNames};
use crate::{Bsp, Error, ErrorKind, Place, Result, Slot, SlotId};

/// The lumps of a map that were opened.
pub(super) struct Tables<'b, 'a> {
    bsp: &'b Bsp<'a>,
    pub(super) names: FlagNames,
    open: RefCell<HashMap<String, Rc<Table<'a>>>>,
}

/// The records of a lump, or of a list in it.
#[derive(Debug)]
pub(super) struct Table<'a> {
    /// The lump's name, and the list's after a dot.
    pub(super) name: String,
    /// The lump's name in the dialect.
    pub(super) lump: String,
    pub(super) slot: SlotId,
    /// All bytes of the lump, little-endian.
    pub(super) bytes: Data<'a>,
    /// `None` for a lump whose items have names and are not records.
    pub(super) records: Option<Records>,
    /// The names of the records, if these are not fields.
    pub(super) names: Option<Vec<Vec<u8>>>,
}

impl<'b, 'a> Tables<'b, 'a> {
    pub(super) fn new(bsp: &'b Bsp<'a>, names: FlagNames) -> Self {
        Tables { bsp, names, open: RefCell::default() }
    }

    /// The records of `LUMP` or `LUMP.LIST`.
    pub(super) fn open(&self, name: &str) -> Result<Rc<Table<'a>>> {
        if let Some(table) = self.open.borrow().get(name) {
            return Ok(table.clone());
        }
        let table = match (self.bsp.slot(name), name.rsplit_once('.')) {
            (Ok(slot), _) => self.read(slot, None)?,
            (Err(error), None) => return Err(error),
            (Err(error), Some((before, list))) => match self.bsp.slot(before) {
                Ok(slot) => self.read(slot, Some(list))?,
                Err(_) => return Err(error),
            },
        };
        let table = Rc::new(table);
        self.open.borrow_mut().insert(name.to_owned(), table.clone());
        Ok(table)
    }

    /// The records that numbers refer to that name this lump: those of another one, if it is left out.
    pub(super) fn referred(&self, lump: &str) -> Result<Rc<Table<'a>>> {
        let left_out = self.bsp.dialect().checks.left_out.iter();
        let other = left_out.filter(|(name, _)| *name == lump).find_map(|(_, other)| *other);
        let is_left_out = other.is_some() && self.bsp.slot(lump).is_ok_and(|slot| slot.length == 0);
        self.open(other.filter(|_| is_left_out).unwrap_or(lump))
    }

    fn read(&self, slot: &Slot, list: Option<&str>) -> Result<Table<'a>> {
        let row = self.bsp.row(slot);
        let bytes = self.bsp.little_endian(slot.id)?;
        let has_names = TextureNames::NAMED.contains(&&*slot.name);
        let names = has_names.then(|| self.bsp.texture_names().ok()).flatten();
        let names = names.and_then(|names| names.of_records(&slot.name));
        let parts = match &row {
            Ok(row) => row.parts(&bytes).map_err(|error| error.at(Place::default().lump(&slot.name)))?,
            Err(_) => Vec::new(),
        };
        let lists: Vec<_> = parts.iter().map(|part| part.list).filter(|list| !list.is_empty()).collect();
        let known = lists.iter().map(|list| format!("{}.{list}", slot.name)).collect::<Vec<_>>().join(", ");
        let is_list = |part: &Records| list.is_none_or(|list| part.list.eq_ignore_ascii_case(list));
        let mut found: Vec<Records> = parts.into_iter().filter(is_list).collect();
        let records = match (found.pop(), list) {
            (Some(part), _) if found.is_empty() => Some(part),
            (Some(_), _) => {
                let message = format!("{} has several lists of records", slot.name);
                return Err(Error::new(ErrorKind::Argument, message).with_hint(format!("name one of them: {known}")));
            }
            (None, Some(list)) => {
                let error = Error::new(ErrorKind::NotFound, format!("{} has no list {list}", slot.name));
                return Err(if known.is_empty() { error } else { error.with_hint(format!("it has {known}")) });
            }
            (None, None) if names.is_some() => None,
            (None, None) => {
                let why = match row.map(|row| row.form) {
                    Err(why) => why.to_string(),
                    Ok(Form::Lens(what)) => format!("it holds {what}"),
                    Ok(_) => "it is empty".to_owned(),
                };
                let message = format!("{} has no records: {why}", slot.name);
                return Err(Error::new(ErrorKind::Unsupported, message));
            }
        };
        let dot = records.as_ref().filter(|part| !part.list.is_empty()).map(|part| format!(".{}", part.list));
        let name = format!("{}{}", slot.name, dot.unwrap_or_default());
        Ok(Table { name, lump: slot.name.clone(), slot: slot.id, bytes, records, names })
    }
}

impl Table<'_> {
    pub(super) fn len(&self) -> usize {
        match (&self.records, &self.names) {
            (Some(records), _) => records.count(),
            (None, names) => names.as_ref().map_or(0, Vec::len),
        }
    }

    pub(super) fn fields(&self) -> Option<&'static [FieldInfo]> {
        self.records.as_ref().map(|records| records.record.fields)
    }

    /// The offset of a record in the lump.
    pub(super) fn start(&self, index: usize) -> usize {
        self.records.as_ref().map_or(0, |records| records.range.start + index * records.record.size)
    }

    /// The bytes of a record from this offset on.
    pub(super) fn bytes_at(&self, index: usize, offset: usize, size: usize) -> Option<&[u8]> {
        let start = self.start(index) + offset;
        (index < self.len()).then(|| self.bytes.get(start..start + size)).flatten()
    }
}
