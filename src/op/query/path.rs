//! Paths to fields: within a record, and on to the records that an index names.

use std::rc::Rc;

use super::Value;
use super::tables::{Table, Tables};
use crate::dialect::Alias;
use crate::record::{Cell, Meaning, Number, Part, Shape};

/// The most records that a path leads over.
const MAX_STEPS: usize = 8;

/// A path to a field, compiled for a lump.
#[derive(Clone, Debug)]
pub(super) struct Path<'a> {
    start: Rc<Table<'a>>,
    steps: Vec<Step<'a>>,
    pub(super) end: End,
}

/// An index that is followed.
#[derive(Clone, Debug)]
struct Step<'a> {
    /// The offset of the number in the record.
    offset: usize,
    number: Number,
    /// Numbers that name no record.
    none: &'static [i64],
    to: Rc<Table<'a>>,
}

/// What is at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum End {
    /// The whole record.
    Record,
    Part(Part),
    /// The name of the record, which is not in it.
    Name,
}

impl<'a> Path<'a> {
    /// The path from records of a table. The error is a sentence.
    pub(super) fn of(tables: &Tables<'_, 'a>, start: &Rc<Table<'a>>, text: &str) -> Result<Self, String> {
        let mut path = Path { start: start.clone(), steps: Vec::new(), end: End::Record };
        if !text.is_empty() {
            let walked = path.walk(tables, text);
            // The records at the start are named by the caller.
            let of = |why: String| match path.steps.last() {
                Some(step) => format!("in the records of {}: {why}", step.to.name),
                None => why,
            };
            walked.map_err(of)?;
        }
        Ok(path)
    }

    /// The table with the record at the end.
    pub(super) fn last(&self) -> &Rc<Table<'a>> {
        self.steps.last().map_or(&self.start, |step| &step.to)
    }

    /// The index of the record at the end; `None` if the path leads nowhere.
    pub(super) fn reach(&self, index: usize) -> Option<usize> {
        let (mut table, mut index) = (&self.start, index);
        for step in &self.steps {
            let number = step.number.integer(table.bytes_at(index, step.offset, step.number.size())?)?;
            index = usize::try_from(number).ok().filter(|index| *index < step.to.len())?;
            if step.none.contains(&number) {
                return None;
            }
            table = &step.to;
        }
        Some(index)
    }

    /// What is at the end, for a record at the start.
    pub(super) fn value(&self, index: usize) -> Value<'_> {
        let found = self.reach(index).and_then(|index| match self.end {
            End::Name => self.last().names.as_ref()?.get(index).map(|name| Value::Name(name)),
            _ => {
                let part = self.part()?;
                let bytes = self.last().bytes_at(index, part.offset, part.shape.size())?;
                Some(Value::Part { shape: part.shape, meaning: part.meaning, bytes })
            }
        });
        found.unwrap_or(Value::Nowhere)
    }

    /// The part of the record at the end.
    pub(super) fn part(&self) -> Option<Part> {
        match self.end {
            End::Part(part) => Some(part),
            End::Record => Part::find(self.last().fields()?, "").ok(),
            End::Name => None,
        }
    }

    /// The numbers and names at the end.
    pub(super) fn cells(&self) -> Vec<Cell> {
        let Some((part, fields)) = self.part().zip(self.last().fields()) else { return Vec::new() };
        let place = part.offset..part.offset + part.shape.size();
        let cells = Cell::all(fields).into_iter().filter(|cell| place.contains(&cell.place.start));
        let moved = |cell: Cell| Cell { place: cell.place.start - place.start..cell.place.end - place.start, ..cell };
        cells.map(moved).collect()
    }

    fn walk(&mut self, tables: &Tables<'_, 'a>, text: &str) -> Result<(), String> {
        let mut before = "";
        for name in text.split('.') {
            self.step(tables, before, name)?;
            before = name;
        }
        Ok(())
    }

    /// One name of a path after another one, with the numbers of items after it.
    fn step(&mut self, tables: &Tables<'_, 'a>, before: &str, name: &str) -> Result<(), String> {
        self.follow(tables, before)?;
        let (offset, fields) = match self.end {
            End::Record => (0, self.last().fields()),
            End::Part(Part { shape: Shape::Record(fields), offset, .. }) => (offset, Some(fields)),
            End::Part(Part { shape: Shape::Array(..), .. }) => {
                return Err(format!("{before} is a list and has no {name}: name an item, as in {before}[0]"));
            }
            End::Part(_) | End::Name => return Err(format!("{before} is a name and has no {name}")),
        };
        let found = fields.map(|fields| Part::find(fields, name).map_err(|error| error.to_string()));
        match found {
            Some(Ok(part)) => {
                self.end = End::Part(Part { offset: offset + part.offset, ..part });
                Ok(())
            }
            _ if self.end == End::Record && self.last().names.is_some() && name.eq_ignore_ascii_case("name") => {
                self.end = End::Name;
                Ok(())
            }
            Some(Err(why)) if self.end == End::Record => self.alias(tables, name).unwrap_or(Err(why)),
            Some(Err(why)) => Err(why),
            None => Err(format!("there is no field {name}; the field is name")),
        }
    }

    /// The field that a name means in other families; `None` if it means nothing here.
    fn alias(&mut self, tables: &Tables<'_, 'a>, name: &str) -> Option<Result<(), String>> {
        let table = self.last().clone();
        let fields = table.fields()?;
        let is_there = |alias: &&Alias| Part::find(fields, alias.path.split('.').next().unwrap_or_default()).is_ok();
        let alias = Alias::of(&table.lump, name).find(is_there)?;
        Some(self.walk(tables, alias.path).and_then(|()| self.name(tables)))
    }

    /// Goes on to the name of the record that the number at the end refers to.
    pub(super) fn name(&mut self, tables: &Tables<'_, 'a>) -> Result<(), String> {
        if !matches!(self.end, End::Part(Part { shape: Shape::Number(_), .. })) {
            return Ok(());
        }
        self.follow(tables, "it")?;
        let table = self.last();
        let is_name = |fields: &'static [_]| {
            let mut fields = fields.iter();
            fields.find(|field: &&crate::record::FieldInfo| matches!(field.shape, Shape::Name(_)))
        };
        self.end = match (&table.names, table.fields().and_then(is_name)) {
            (Some(_), _) => End::Name,
            (None, Some(field)) => End::Part(Part { offset: field.offset, shape: field.shape, meaning: field.meaning }),
            (None, None) => return Err(format!("the records of {} have no names", table.name)),
        };
        Ok(())
    }

    /// Goes on to the record that the number at the end refers to; anything but a number stays.
    pub(super) fn follow(&mut self, tables: &Tables<'_, 'a>, field: &str) -> Result<(), String> {
        let End::Part(Part { offset, shape: Shape::Number(number), meaning }) = self.end else { return Ok(()) };
        let Some((lump, none)) = meaning.one() else {
            return Err(match meaning {
                Meaning::Run { .. } => format!("{field} is the first of several records and cannot be followed"),
                Meaning::Child => format!("{field} is a node or a leaf and cannot be followed"),
                _ => format!("{field} is not the index of a record and cannot be followed"),
            });
        };
        if self.steps.len() == MAX_STEPS {
            return Err(format!("the path leads over more than {MAX_STEPS} records"));
        }
        let to = tables.referred(lump).map_err(|error| error.to_string())?;
        self.steps.push(Step { offset, number, none, to });
        self.end = End::Record;
        Ok(())
    }
}
