//! The bytes of lumps, from the files of a folder.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::manifest::Part;
use super::survey::{Survey, sentence};
use crate::Result;
use crate::bytes::ByteOrder;
use crate::dialect::{Dialect, Form, Role, Row};
use crate::face::input;
use crate::face::records::{Format, List, Lump, RecordName};
use crate::record::FlagNames;

/// What the content of files depends on.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) dialect: &'static Dialect,
    pub(super) version: i32,
    pub(super) names: FlagNames,
}

/// The content of a part.
pub(super) struct Content {
    /// Decompressed, in the byte order of the map.
    pub(super) bytes: Vec<u8>,
    pub(super) records: Option<Records>,
}

/// The records of a text.
pub(super) struct Records {
    pub(super) lists: Vec<List>,
    pub(super) row: &'static Row,
    /// The bytes after the last record.
    pub(super) rest: Vec<u8>,
}

/// A slot in a folder: its name in lower case, and how many slots before it have the same name.
pub(super) type Key = (String, usize);

/// Counts equal names.
#[derive(Default)]
pub(super) struct Keys(HashMap<String, usize>);

impl Keys {
    /// The key of the next slot of this name.
    pub(super) fn next(&mut self, name: &str) -> Key {
        let name = name.to_lowercase();
        let count = self.0.entry(name.clone()).or_default();
        *count += 1;
        (name, *count - 1)
    }
}

impl Kind {
    /// The index of a lump: by its number, its name or its role.
    pub(super) fn lump(&self, name: &str) -> Option<usize> {
        let lumps = self.dialect.lumps;
        let by_number = || name.parse().ok().filter(|index| *index < lumps.len());
        let by_name = || lumps.iter().position(|lump| lump.name.eq_ignore_ascii_case(name));
        let role = || Role::ALL.iter().find(|role| role.name().eq_ignore_ascii_case(name));
        by_number().or_else(by_name).or_else(|| self.dialect.role(*role()?))
    }

    /// The name of the slot that a part of a manifest means.
    pub(super) fn name(&self, part: &Part) -> String {
        self.lump(&part.lump).map_or_else(|| part.lump.clone(), |index| self.dialect.lump_name(index))
    }

    /// The content of a part from its file.
    ///
    /// # Errors
    /// The file is missing or cannot be read, or its content is wrong: the message says where.
    pub(super) fn content(&self, part: &Part, survey: &Survey) -> Result<Content> {
        let mut content = Content { bytes: Vec::new(), records: None };
        if let Some(file) = &part.file {
            let missing = |why: String| part.wrong("file", why);
            content = match part.file_format() {
                Format::Raw => Content { bytes: survey.read(file).map_err(missing)?, records: None },
                format => {
                    let path = survey.file(file).map_err(missing)?;
                    let mut read = BufReader::new(input::open(path).map_err(|error| missing(sentence(&error)))?);
                    let start = read.fill_buf().map_err(|error| missing(error.to_string()))?;
                    refuse_utf16(part, start)?;
                    let found = self.records(part, format, read);
                    found.map_err(|error| part.wrong("file", format!("{file}: {}", sentence(&error))))?
                }
            };
        }
        let rest = part.rest.as_ref().map_or_else(|| Ok(Vec::new()), |rest| BASE64_STANDARD.decode(rest));
        let rest = rest.map_err(|error| part.wrong("rest", format!("it is not base64: {error}")))?;
        content.bytes.extend_from_slice(&rest);
        content.bytes.resize(content.bytes.len() + part.nul_count(), 0);
        content.records.iter_mut().for_each(|records| records.rest.clone_from(&rest));
        Ok(content)
    }

    /// The records of a text.
    pub(super) fn records(&self, part: &Part, format: Format, file: impl BufRead) -> Result<Content> {
        let wanted = RecordName { name: part.record.as_deref(), size: part.record_size };
        let (lump, row) = Lump::blank(self.dialect, self.version, &self.name(part), part.version, &wanted)?;
        let lists = lump.lists(format, self.names, file)?;
        let mut bytes = lump.assemble(&lists)?;
        if self.dialect.byte_order() == ByteOrder::Big {
            row.byte_swap(&mut bytes, ByteOrder::Little);
        }
        Ok(Content { bytes, records: Some(Records { lists, row, rest: Vec::new() }) })
    }

    /// Whether a lump of this name may have records.
    pub(super) fn has_records(&self, name: &str) -> bool {
        self.dialect.rows_of(name).any(|row| matches!(row.form, Form::Array(_) | Form::Lists(_)))
    }
}

/// Refuses the text of a part if it is UTF-16.
pub(super) fn refuse_utf16(part: &Part, text: &[u8]) -> Result<()> {
    let file = part.file.as_deref().unwrap_or_default();
    input::refuse_utf16(file.as_ref(), text).map_err(|error| {
        let hint = error.hint().map(ToString::to_string).unwrap_or_default();
        part.wrong("file", error).with_hint(hint)
    })
}
