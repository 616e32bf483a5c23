//! The files of a pakfile by their names: many lookups and edits take linear time in all.

use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::lookup_name;

/// Fewer lookups go through all names, which is faster than a table.
const FEW: usize = 8;

/// Indices by names in the form in which engines look them up, in ascending order.
type Table = HashMap<Vec<u8>, Vec<usize>>;

/// A table that is made when the names are looked up often. Whoever changes names tells it, or clears it.
#[derive(Debug, Default)]
pub(super) struct ByName {
    table: OnceLock<Table>,
    lookups: AtomicUsize,
}

impl Clone for ByName {
    fn clone(&self) -> Self {
        ByName { table: self.table.clone(), lookups: AtomicUsize::new(self.lookups.load(Ordering::Relaxed)) }
    }
}

impl ByName {
    /// The table, unless there were few lookups.
    pub(super) fn get<'n, N: Iterator<Item = &'n [u8]>>(&self, names: impl FnOnce() -> N) -> Option<&Table> {
        if self.table.get().is_none() && self.lookups.fetch_add(1, Ordering::Relaxed) < FEW {
            return None;
        }
        Some(self.table.get_or_init(|| {
            let mut table = Table::new();
            for (index, name) in names().enumerate() {
                table.entry(lookup_name(name)).or_default().push(index);
            }
            table
        }))
    }

    /// A file was added after the others.
    pub(super) fn push(&mut self, name: &[u8], index: usize) {
        if let Some(table) = self.table.get_mut() {
            table.entry(lookup_name(name)).or_default().push(index);
        }
    }

    /// The last file is removed.
    pub(super) fn remove_last(&mut self, name: &[u8]) {
        let Some(table) = self.table.get_mut() else { return };
        let name = lookup_name(name);
        if let Some(files) = table.get_mut(&name) {
            files.pop();
            if files.is_empty() {
                table.remove(&name);
            }
        }
    }

    /// A file has another name.
    pub(super) fn rename(&mut self, old: &[u8], new: &[u8], index: usize) {
        let Some(table) = self.table.get_mut() else { return };
        let old = lookup_name(old);
        if let Some(files) = table.get_mut(&old) {
            files.retain(|file| *file != index);
            if files.is_empty() {
                table.remove(&old);
            }
        }
        let files = table.entry(lookup_name(new)).or_default();
        let at = files.partition_point(|file| *file < index);
        files.insert(at, index);
    }

    /// Files have other indices.
    pub(super) fn clear(&mut self) {
        *self = ByName::default();
    }
}
