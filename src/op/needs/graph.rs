//! The graph while it grows: files by their names, and those that are not read yet.

use std::collections::HashMap;

use super::{Fault, Found, Kind, Need, Needs, Reference, Referrer, Sure};
use crate::content::assets::{Files, normal_name};
use crate::error::{Error, ErrorKind, Result};

/// A map that refers to more files is refused.
const MOST_FILES: usize = 1 << 18;

/// A map with more references is refused.
const MOST_REFERENCES: usize = 1 << 21;

pub(super) struct Graph<'f> {
    pub(super) needs: Needs,
    names: HashMap<Vec<u8>, usize>,
    packed: &'f dyn Files,
    game: Option<&'f dyn Files>,
    reference_count: usize,
}

impl<'f> Graph<'f> {
    pub(super) fn new(packed: &'f dyn Files, game: Option<&'f dyn Files>) -> Self {
        Graph { needs: Needs::default(), names: HashMap::new(), packed, game, reference_count: 0 }
    }

    /// Adds a reference to a file.
    pub(super) fn add(&mut self, kind: Kind, name: &[u8], referrer: Referrer, written: &[u8], sure: Sure) {
        let name = normal_name(name);
        self.reference_count += 1;
        if name.is_empty() || self.reference_count > MOST_REFERENCES || self.names.len() > MOST_FILES {
            return;
        }
        let index = match self.names.get(&name) {
            Some(index) => *index,
            None => {
                let found = match self.game {
                    _ if self.packed.has(&name) => Found::Packed,
                    Some(game) if game.has(&name) => Found::Game,
                    _ => Found::Nowhere,
                };
                self.names.insert(name.clone(), self.needs.files.len());
                self.needs.files.push(Need { name, kind, sure, found, references: Vec::new() });
                self.needs.files.len() - 1
            }
        };
        let need = &mut self.needs.files[index];
        let reference = Reference { referrer, written: written.to_vec(), sure };
        if need.references.last() != Some(&reference) {
            need.sure = need.sure.max(sure);
            need.references.push(reference);
        }
    }

    pub(super) fn fault(&mut self, name: &[u8], error: &Error) {
        self.needs.faults.push(Fault { name: name.to_vec(), message: error.to_string() });
    }

    pub(super) fn finish(self) -> Result<Needs> {
        if self.reference_count > MOST_REFERENCES || self.names.len() > MOST_FILES {
            let message =
                format!("the map refers to more than {MOST_FILES} files or in more than {MOST_REFERENCES} places");
            return Err(Error::new(ErrorKind::TooLarge, message));
        }
        Ok(self.needs)
    }
}
