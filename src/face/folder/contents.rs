//! The bytes of lumps, from the files of a folder.

use std::collections::HashMap;
use std::io::BufReader;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::manifest::Part;
use super::survey::{Survey, sentence};
use crate::Result;
use crate::bytes::ByteOrder;
use crate::dialect::{Dialect, Role};
use crate::face::input;
use crate::face::records::{Format, Lump, RecordName};
use crate::record::FlagNames;

/// What the content of files depends on.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) dialect: &'static Dialect,
    pub(super) version: i32,
    pub(super) names: FlagNames,
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

    /// The bytes of a part from its file, decompressed, in the byte order of the map.
    ///
    /// # Errors
    /// The file is missing or cannot be read, or its content is wrong: the message says where.
    pub(super) fn bytes(&self, part: &Part, survey: &Survey) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        if let Some(file) = &part.file {
            let missing = |why: String| part.wrong("file", why);
            bytes = match part.file_format() {
                Format::Raw => survey.read(file).map_err(missing)?,
                format => {
                    let path = survey.file(file).map_err(missing)?;
                    let read = BufReader::new(input::open(path).map_err(|error| missing(sentence(&error)))?);
                    let found = self.records(part, format, read);
                    found.map_err(|error| part.wrong("file", format!("{file}: {}", sentence(&error))))?
                }
            };
        }
        if let Some(rest) = &part.rest {
            let rest = BASE64_STANDARD.decode(rest);
            bytes.extend(rest.map_err(|error| part.wrong("rest", format!("it is not base64: {error}")))?);
        }
        bytes.resize(bytes.len() + part.nul_count(), 0);
        Ok(bytes)
    }

    /// The bytes of records, in the byte order of the map.
    pub(super) fn records(&self, part: &Part, format: Format, file: impl std::io::BufRead) -> Result<Vec<u8>> {
        let wanted = RecordName { name: part.record.as_deref(), size: part.record_size };
        let (lump, row) = Lump::blank(self.dialect, self.version, &self.name(part), part.version, &wanted)?;
        let mut bytes = lump.parse(format, self.names, true, file)?;
        if self.dialect.byte_order() == ByteOrder::Big {
            row.byte_swap(&mut bytes, ByteOrder::Little);
        }
        Ok(bytes)
    }
}
