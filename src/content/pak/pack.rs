//! Compressing and storing many files, on all cores.

use super::fresh::{Content, Own};
use super::method::{self, LZMA, STORED};
use super::{Entry, Method, Node, Pak};
use crate::bytes::wide;
use crate::file::lzma::{self, MOST_DECOMPRESSED};
use crate::threads::{COMPRESSION_MEMORY, in_parallel_within};
use crate::{Data, Error, ErrorKind, Result};

/// The result of storing files in another way.
///
/// ```
/// use bspkit::content::pak::{Method, Pak};
/// let mut pak = Pak::new(b"");
/// pak.add("a.vmt", vec![b' '; 1000])?;
/// pak.add("b.wav", vec![b' '; 1000])?;
/// let packed = pak.compress(&[0, 1], 2)?;
/// assert_eq!((packed.changed, packed.kept), (1, 1));
/// assert_eq!(pak.get(1).unwrap().method(), Method::Stored);
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Packed {
    /// How many files are now stored in another way.
    pub changed: usize,
    /// How many files stay as they are: they were stored that way already, or the other way is not possible or larger.
    pub kept: usize,
    /// The files that failed, with the reason. They stay as they are.
    pub failed: Vec<(usize, Error)>,
    /// The size of the changed files before and after, in bytes.
    pub bytes: (usize, usize),
}

impl<'a> Pak<'a> {
    /// Compresses files with LZMA where that makes them smaller, on this many threads; the result does not depend on
    /// their number. Sounds and the like (`mp3`, `wav`, `ogg`, `ani`, `vcs`) stay as they are: engines read those in
    /// pieces and cannot if they are compressed.
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] if there are fewer files, [`crate::ErrorKind::Refused`] for a console's pakfile.
    pub fn compress(&mut self, indices: &[usize], threads: usize) -> Result<Packed> {
        self.pack(
            indices,
            threads,
            |entry| lzma::memory_to_compress(entry.size()),
            |entry| {
                if entry.method() == Method::Lzma || method::is_read_in_pieces(entry.name()) {
                    return Ok(None);
                }
                entry.check_lengths()?;
                let data = entry.data()?;
                // A larger file could not be read again.
                if data.len() > MOST_DECOMPRESSED {
                    return Ok(None);
                }
                let packed = method::pack(&data)?;
                let header = entry.record();
                let content = Content { method: LZMA, crc: header.crc, size: header.size, stored: Data::from(packed) };
                Ok((content.stored.len() < data.len()).then_some(content))
            },
        )
    }

    /// Stores files uncompressed, on this many threads.
    ///
    /// # Errors
    /// As [`Pak::compress`].
    pub fn store(&mut self, indices: &[usize], threads: usize) -> Result<Packed> {
        self.check_total_size(indices)?;
        self.pack(
            indices,
            threads,
            |entry| entry.memory(),
            |entry| {
                if entry.method() == Method::Stored {
                    return Ok(None);
                }
                entry.check_lengths()?;
                let header = entry.record();
                Ok(Some(Content { method: STORED, crc: header.crc, size: header.size, stored: entry.data()? }))
            },
        )
    }

    fn pack(
        &mut self,
        indices: &[usize],
        threads: usize,
        memory: impl Fn(&Entry<'_, 'a>) -> usize,
        content: impl Fn(&Entry<'_, 'a>) -> Result<Option<Content<'a>>> + Sync,
    ) -> Result<Packed> {
        self.check_editable()?;
        let mut entries = indices.iter().map(|index| self.entry(*index)).collect::<Result<Vec<_>>>()?;
        // The largest first, so that no thread works alone at the end.
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.size()));
        entries.dedup_by_key(|entry| entry.index());
        let results = in_parallel_within(threads, COMPRESSION_MEMORY, &entries, memory, |entry| {
            let content = content(entry)?;
            Ok(content.map(|content| Own::restored(entry, self.origin(entry.index()), content)))
        });
        let done: Vec<_> = entries.iter().map(Entry::index).zip(results).collect();
        let mut packed = Packed::default();
        for (index, result) in done {
            match result {
                Ok(None) => packed.kept += 1,
                Err(error) => packed.failed.push((index, error)),
                Ok(Some(own)) => {
                    packed.changed += 1;
                    packed.bytes.0 += self.view(index).stored_size();
                    packed.bytes.1 += own.body.len();
                    self.nodes[index] = self.settled(own);
                }
            }
        }
        packed.failed.sort_by_key(|(index, _)| *index);
        Ok(packed)
    }
}

/// The size in bytes that the files of any pakfile may have in total after decompression.
const ALWAYS_UNPACKED: usize = 256 << 20;

impl Pak<'_> {
    /// Refuses files whose sizes, as the directory states them, are larger in total than in a real pakfile of this
    /// size: 256 MiB, or 64 times the size of the pakfile if that is more. Entries that share one body can claim a
    /// thousand times as much. Files that an edit made are not counted.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] with both numbers.
    ///
    /// ```
    /// use bspkit::content::pak::Pak;
    /// let mut pak = Pak::new(b"");
    /// pak.add("a.vmt", vec![b' '; 1000])?;
    /// pak.check_total_size(&[0])?;
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn check_total_size(&self, indices: &[usize]) -> Result<()> {
        let is_source = |index: &&usize| matches!(self.nodes.get(**index), Some(Node::Source(_)));
        let sizes = indices.iter().filter(is_source).filter_map(|index| self.get(*index)).map(|entry| entry.size());
        // More than a 32-bit machine can address.
        let size: u64 = sizes.map(wide).sum();
        let most = wide(lzma::most_in_total(self.source.data.len()).max(ALWAYS_UNPACKED));
        if size <= most {
            return Ok(());
        }
        let message = format!("the files would take {size} bytes decompressed, more than {most} for this pakfile");
        Err(Error::new(ErrorKind::TooLarge, message)
            .with_hint("several entries may share one body, which a check of the pakfile reports"))
    }
}
