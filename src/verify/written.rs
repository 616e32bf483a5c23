//! Files that the laws write: in memory, each with the parts that it was put together from.
//!
//! A map is written 36 times, and most of it is the same each time. The parts say what of a file is the map's own, so
//! that it is neither copied again into a buffer that has it nor compared.

use std::ops::{Deref, DerefMut};

use crate::bytes::Rope;
use crate::error::{Error, ErrorKind, Result};

/// The bytes of a file.
enum Memory {
    Heap(Vec<u8>),
    /// Large pages of the system, and how many bytes are used. For large files the system needs a fourth of the time.
    #[cfg(all(feature = "mmap", target_os = "linux"))]
    Pages(memmap2::MmapMut, usize),
}

impl Memory {
    /// Smaller files are on the heap.
    #[cfg(all(feature = "mmap", target_os = "linux"))]
    const LARGE: usize = 8 << 20;

    /// Makes it this long. Returns whether it kept its bytes.
    fn resize(&mut self, len: usize) -> Result<bool> {
        let no_memory = || Error::new(ErrorKind::TooLarge, format!("there is no memory for {len} bytes"));
        #[cfg(all(feature = "mmap", target_os = "linux"))]
        match self {
            Memory::Pages(pages, used) if len <= pages.len() => {
                *used = len;
                return Ok(true);
            }
            Memory::Heap(bytes) if len < Self::LARGE || len <= bytes.capacity() => {}
            _ => {
                // Edits make the next files a little larger.
                let pages = memmap2::MmapMut::map_anon(len + (1 << 20)).map_err(|_| no_memory())?;
                // Without large pages it works as well.
                let _ = pages.advise(memmap2::Advice::HugePage);
                *self = Memory::Pages(pages, len);
                return Ok(false);
            }
        }
        #[cfg_attr(not(all(feature = "mmap", target_os = "linux")), allow(irrefutable_let_patterns))]
        if let Memory::Heap(bytes) = self {
            bytes.try_reserve_exact(len.saturating_sub(bytes.len())).map_err(|_| no_memory())?;
            bytes.resize(len, 0);
        }
        Ok(true)
    }
}

impl Default for Memory {
    fn default() -> Self {
        Memory::Heap(Vec::new())
    }
}

impl Deref for Memory {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Memory::Heap(bytes) => bytes,
            #[cfg(all(feature = "mmap", target_os = "linux"))]
            Memory::Pages(pages, used) => &pages[..*used],
        }
    }
}

impl DerefMut for Memory {
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Memory::Heap(bytes) => bytes,
            #[cfg(all(feature = "mmap", target_os = "linux"))]
            Memory::Pages(pages, used) => &mut pages[..*used],
        }
    }
}

/// A file in memory.
#[derive(Default)]
pub(super) struct Written<'a> {
    bytes: Memory,
    /// The same bytes, in parts of the map and new ones.
    parts: Rope<'a>,
}

impl<'a> Written<'a> {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn parts(&self) -> &Rope<'a> {
        &self.parts
    }

    /// A file that was made from this one, where parts of this one are those that it has them from.
    pub(super) fn through(&self, other: &Rope<'_>) -> Rope<'a> {
        let mut rope = Rope::new();
        for part in other.parts() {
            let offset = part.as_ptr().addr().checked_sub(self.bytes.as_ptr().addr());
            match offset.filter(|offset| offset.saturating_add(part.len()) <= self.bytes.len()) {
                Some(offset) => self.parts.slice(offset..offset + part.len()).for_each(|part| rope.push(part)),
                None => rope.push(part.to_vec()),
            }
        }
        rope
    }

    /// Puts a file together in the buffer of this one. What is there already is not copied.
    fn become_of(&mut self, parts: Rope<'a>) -> Result<()> {
        let len = parts.len();
        if !self.bytes.resize(len)? {
            self.parts = Rope::new();
        }
        let mut old = self.parts.parts();
        // The next part of the old file, and where it begins.
        let (mut before, mut start) = (old.next(), 0);
        let mut at = 0;
        for part in parts.parts() {
            let end = at + part.len();
            let first = at;
            while at < end {
                while let Some(known) = before.filter(|known| start + known.len() <= at) {
                    start += known.len();
                    before = old.next();
                }
                let stop = before.map_or(end, |known| end.min(start + known.len()));
                let new = &part[at - first..stop - first];
                let is_there = before.is_some_and(|known| std::ptr::eq(&known[at - start..stop - start], new));
                if !is_there {
                    self.bytes[at..stop].copy_from_slice(new);
                }
                at = stop;
            }
        }
        drop(old);
        self.parts = parts;
        Ok(())
    }
}

/// Buffers of files that were written and compared. They are reused: new memory costs more than writing.
#[derive(Default)]
pub(super) struct Spare<'a>(Vec<Written<'a>>);

impl<'a> Spare<'a> {
    /// A file in memory, from its parts.
    ///
    /// # Errors
    /// That of the parts; [`ErrorKind::TooLarge`] if the system has not enough memory.
    pub(super) fn lay(&mut self, parts: Result<Rope<'a>>) -> Result<Written<'a>> {
        let parts = parts?;
        let mut file = self.0.pop().unwrap_or_default();
        file.become_of(parts)?;
        Ok(file)
    }

    pub(super) fn give(&mut self, file: Written<'a>) {
        self.0.push(file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Data;

    /// Whatever was in a buffer before, it has the bytes of the parts.
    #[test]
    fn a_buffer_has_what_the_parts_have() {
        let map: Vec<u8> = (0..=255).collect();
        let map = Data::from(&map[..]);
        let new = Data::from(vec![7; 40]);
        let large = Data::from((0..9 << 20).map(|at: u32| at.to_le_bytes()[1]).collect::<Vec<u8>>());
        let ropes: Vec<Vec<Data<'_>>> = vec![
            vec![map.clone()],
            vec![map.slice(0..100), new.slice(0..3), map.slice(100..256)],
            vec![map.slice(0..100), new.slice(0..3), map.slice(103..256)],
            vec![map.slice(3..100), map.slice(0..3), map.slice(100..200)],
            vec![new.clone(), map.slice(40..256), new.slice(5..6)],
            vec![],
            vec![map.clone(), large.slice(0..9 << 20), map.slice(7..9)],
            vec![map.slice(1..9), large.slice(5..9 << 20)],
            vec![large.clone(), large.clone()],
            vec![map.slice(10..11), map.slice(1..256)],
        ];
        let rope = |parts: &[Data<'static>]| {
            let mut rope = Rope::new();
            parts.iter().for_each(|part| rope.push(part.clone()));
            rope
        };
        let ropes: Vec<Rope<'_>> = ropes
            .iter()
            .map(|parts| rope(&parts.iter().map(|part| part.clone().into_static()).collect::<Vec<_>>()))
            .collect();
        for first in &ropes {
            for second in &ropes {
                let mut spare = Spare::default();
                for rope in [first, second, first] {
                    let file = spare.lay(Ok(rope.clone())).unwrap();
                    assert_eq!(file.bytes(), rope.to_vec());
                    spare.give(file);
                }
            }
        }
    }
}
