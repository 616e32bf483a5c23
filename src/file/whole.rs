//! A plan that is written to a new file. File systems that can share bytes between files (Btrfs, XFS) store only what
//! changes.

use std::fs::File;
use std::io;

use super::plan::Plan;
use super::target;
use crate::bytes::wide;

impl Plan<'_> {
    /// Writes the whole new file to an empty one.
    pub(super) fn write_whole(&self, file: &File) -> io::Result<()> {
        let old = self.container().origin.as_deref().and_then(|origin| origin.file());
        if !old.is_some_and(|old| target::share(old, file)) {
            return self.write_to(file);
        }
        self.changes().iter().try_for_each(|change| self.write_at(&change.range, file))?;
        file.set_len(wide(self.size()))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Bsp, Builder, Layout, dialect};

    /// Lumps that stay, that move by whole blocks or not, and small ones between them. The temporary folder may
    /// be on a file system that shares bytes.
    #[test]
    fn a_file_that_shares_bytes_is_what_would_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from.bsp"), folder.path().join("to.bsp"));
        let noise =
            |seed: usize, len: usize| -> Vec<u8> { (0..len).map(|at| (at * 31 + at / 251 + seed) as u8).collect() };
        let builder = Builder::new(&dialect::QUAKE2).lump(0, "{\n\"classname\" \"worldspawn\"\n}\n\0");
        let builder = builder.lump(7, noise(1, 900_001)).lump(3, noise(2, 70_000)).lump(6, noise(3, 600_000));
        let bytes = builder.order(&[0, 7, 3, 6]).build().unwrap();
        std::fs::write(&from, bytes).unwrap();
        let map = Bsp::open_mapped(&from, None).unwrap();
        assert!(map.is_mapped() || !cfg!(all(unix, feature = "mmap")));
        for more in [0, 1, 4096, 5000, 300_000] {
            for layout in [Layout::Keep, Layout::Append, Layout::Repack, Layout::Patch] {
                let mut draft = map.draft();
                draft.set(map.slot("entities").unwrap().id, vec![b' '; 40 + more]).unwrap();
                let plan = draft.plan(layout).unwrap();
                plan.save(&to).unwrap();
                assert!(std::fs::read(&to).unwrap() == plan.to_vec(), "{more}, {layout:?}");
            }
        }
    }
}
