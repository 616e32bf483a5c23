//! The graph while it grows: files by their names, and those that are not read yet.

use std::collections::{HashSet, VecDeque};

use super::{Fault, Found, Kind, Need, Needs, Options, Reference, Referrer, Sure, Unresolved};
use crate::Data;
use crate::content::assets::keyvalues::KeyValues;
use crate::content::assets::{Files, normal_name};
use crate::error::{Error, ErrorKind, Result};

/// A map that refers to more files is refused.
const MOST_FILES: usize = 1 << 18;

/// A map with more references is refused.
const MOST_REFERENCES: usize = 1 << 21;

/// What is read of all files together, in bytes: the rest is not read.
const MOST_BYTES: usize = 1 << 30;

/// The folders of models are not looked up more often than this.
const MOST_LOOKUPS: usize = 1 << 23;

/// More faults are not kept.
const MOST_FAULTS: usize = 4096;

/// A name that a file defines: a sound of a script, a soundscape, a particle system.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) kind: Kind,
    pub(super) name: Vec<u8>,
    pub(super) referrer: Referrer,
    pub(super) sure: Sure,
}

pub(super) struct Graph<'f> {
    pub(super) needs: Needs,
    /// The names that the map may have, in lower case.
    pub(super) maps: Vec<Vec<u8>>,
    packed: &'f dyn Files,
    game: Option<&'f dyn Files>,
    reference_count: usize,
    byte_count: usize,
    lookup_count: usize,
    /// The files to read, those that are surest first.
    queues: [VecDeque<usize>; 4],
    is_read: Vec<bool>,
    wanted: VecDeque<Wanted>,
    /// Texts in files that were read otherwise, which may have names of files: the file, and the text.
    pub(super) texts: Vec<(Vec<u8>, Vec<u8>)>,
    /// Files of which not all is read that has names.
    pub(super) partly: Vec<Vec<u8>>,
    /// Names that were wanted from this place before.
    asked: HashSet<(Kind, Vec<u8>, Sure)>,
}

impl<'f> Graph<'f> {
    pub(super) fn new(packed: &'f dyn Files, options: &Options<'f>) -> Self {
        Graph {
            needs: Needs::default(),
            maps: [Some(options.map), options.also].into_iter().flatten().map(normal_name).collect(),
            packed,
            game: options.game,
            reference_count: 0,
            byte_count: 0,
            lookup_count: 0,
            queues: Default::default(),
            is_read: Vec::new(),
            wanted: VecDeque::new(),
            texts: Vec::new(),
            partly: Vec::new(),
            asked: HashSet::new(),
        }
    }

    /// Adds a reference to a file. A file that is optional is added only if it is there.
    pub(super) fn add(&mut self, kind: Kind, name: &[u8], referrer: Referrer, written: &[u8], sure: Sure) {
        let name = normal_name(name);
        let effective = self.effective(&referrer, sure);
        let needs_file = sure <= Sure::Optional || effective == Sure::Possible;
        if name.is_empty() || self.is_full() || (needs_file && !self.exists(&name)) {
            return;
        }
        self.reference_count += 1;
        let index = match self.needs.names.get(&name) {
            Some(index) => *index,
            None => {
                let index = self.needs.files.len();
                self.needs.names.insert(name.clone(), index);
                let (found, references) = (self.place(&name), Vec::new());
                self.needs.files.push(Need { name, kind, sure: effective, found, references });
                self.is_read.push(false);
                self.queue(index, effective);
                index
            }
        };
        let need = &mut self.needs.files[index];
        let reference = Reference { referrer, written: written.to_vec(), sure };
        // A definition may be read a second time when it is asked for; it was among the last then.
        let mut last = need.references.iter_mut().rev().take(16);
        let same = last.find(|other| other.referrer == reference.referrer && other.written == reference.written);
        match same {
            Some(same) => same.sure = same.sure.max(sure),
            None => need.references.push(reference),
        }
        if effective > need.sure {
            need.sure = effective;
            self.queue(index, effective);
        }
    }

    /// How sure a reference is with the file that has it.
    fn effective(&self, referrer: &Referrer, sure: Sure) -> Sure {
        match referrer {
            Referrer::File { index, .. } => self.needs.files.get(*index).map_or(sure, |file| file.sure.min(sure)),
            _ => sure,
        }
    }

    fn queue(&mut self, index: usize, sure: Sure) {
        let queue = match sure {
            Sure::Certain => 0,
            Sure::Likely => 1,
            Sure::Optional => 2,
            Sure::Possible => 3,
        };
        self.queues[queue].push_back(index);
    }

    /// The next file to read: the surest one, so that how sure its own references are is final.
    pub(super) fn next(&mut self) -> Option<usize> {
        loop {
            let index = self.queues.iter_mut().find_map(VecDeque::pop_front)?;
            if !std::mem::replace(&mut self.is_read[index], true) {
                return Some(index);
            }
        }
    }

    /// Asks for a name that a file defines.
    pub(super) fn want(&mut self, kind: Kind, name: &[u8], referrer: Referrer, sure: Sure) {
        let name = name.trim_ascii();
        if name.is_empty() || self.is_full() {
            return;
        }
        self.reference_count += 1;
        let sure = self.effective(&referrer, sure);
        self.wanted.push_back(Wanted { kind, name: name.to_vec(), referrer, sure });
    }

    /// The next name that was asked for, and whether it is the first time.
    pub(super) fn next_wanted(&mut self) -> Option<(Wanted, bool)> {
        let wanted = self.wanted.pop_front()?;
        let is_first = self.asked.insert((wanted.kind, wanted.name.to_ascii_lowercase(), wanted.sure));
        Some((wanted, is_first))
    }

    pub(super) fn unresolved(&mut self, wanted: Wanted) {
        let Wanted { kind, name, referrer, sure } = wanted;
        self.needs.unresolved.push(Unresolved { kind, name, referrer, sure });
    }

    fn place(&self, name: &[u8]) -> Found {
        match self.game {
            _ if self.packed.has(name) => Found::Packed,
            Some(game) if game.has(name) => Found::Game,
            _ => Found::Nowhere,
        }
    }

    /// The index of a file that is referred to.
    pub(super) fn index(&self, name: &[u8]) -> Option<usize> {
        self.needs.names.get(name).copied()
    }

    /// Whether a file is in the pakfile.
    pub(super) fn is_packed(&self, name: &[u8]) -> bool {
        self.packed.has(name)
    }

    /// Whether there is a file of this name.
    pub(super) fn exists(&self, name: &[u8]) -> bool {
        self.place(name) != Found::Nowhere
    }

    /// Whether there is a file of this name, in any form; false after very many such questions.
    pub(super) fn looks_up(&mut self, name: &[u8]) -> bool {
        self.lookup_count += 1;
        self.lookup_count < MOST_LOOKUPS && self.exists(&normal_name(name))
    }

    /// The bytes of a file. What cannot be read is a fault.
    pub(super) fn read(&mut self, name: &[u8], most: usize) -> Option<Data<'f>> {
        if self.byte_count > MOST_BYTES {
            let message = format!("more than {MOST_BYTES} bytes of other files were read before");
            self.fault(name, &Error::new(ErrorKind::TooLarge, message));
            return None;
        }
        let (packed, game) = (self.packed, self.game);
        let read = match self.place(name) {
            Found::Packed => packed.read(name, most),
            _ => game.map_or(Ok(None), |game| game.read(name, most)),
        };
        match read {
            Ok(data) => {
                self.byte_count += data.as_ref().map_or(0, |data| data.len());
                data
            }
            Err(error) => {
                self.fault(name, &error);
                None
            }
        }
    }

    /// A file of the graph as KeyValues. What engines would not read in it is a fault; the rest is read.
    pub(super) fn text(&mut self, name: &[u8], most: usize) -> Option<KeyValues<'f>> {
        let data = self.read(name, most)?;
        match KeyValues::parse(data) {
            Ok(text) => {
                text.fault().iter().for_each(|error| self.fault(name, error));
                Some(text)
            }
            Err(error) => {
                self.fault(name, &error);
                None
            }
        }
    }

    pub(super) fn fault(&mut self, name: &[u8], error: &Error) {
        if self.needs.faults.len() < MOST_FAULTS {
            self.needs.faults.push(Fault { name: name.to_vec(), message: error.to_string() });
        }
    }

    /// Whether a bound is reached, which is an error in the end.
    fn is_full(&self) -> bool {
        self.reference_count > MOST_REFERENCES || self.needs.names.len() > MOST_FILES
    }

    pub(super) fn finish(self) -> Result<Needs> {
        if self.is_full() {
            let message =
                format!("the map refers to more than {MOST_FILES} files, or in more than {MOST_REFERENCES} places");
            return Err(Error::new(ErrorKind::TooLarge, message));
        }
        Ok(self.needs)
    }
}
