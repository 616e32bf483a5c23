//! Pieces: a new file as ranges of the old one, new bytes and zeros, without ever building it in memory.

use std::ops::Range;

use crate::bytes::{Data, Rope};

/// A part of a new file.
#[derive(Clone, Debug)]
pub(crate) enum Piece<'a> {
    /// A range of the old file.
    Old(Range<usize>),
    /// New bytes.
    New(Data<'a>),
    /// This many zeros.
    Zeros(usize),
}

impl<'a> Piece<'a> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Piece::Old(range) => range.len(),
            Piece::New(data) => data.len(),
            Piece::Zeros(count) => *count,
        }
    }

    fn split(self, at: usize) -> (Piece<'a>, Piece<'a>) {
        match self {
            Piece::Old(Range { start, end }) => (Piece::Old(start..start + at), Piece::Old(start + at..end)),
            Piece::New(data) => (Piece::New(data.slice(0..at)), Piece::New(data.slice(at..data.len()))),
            Piece::Zeros(count) => (Piece::Zeros(at), Piece::Zeros(count - at)),
        }
    }
}

/// Pieces in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pieces<'a> {
    list: Vec<Piece<'a>>,
    len: usize,
}

impl<'a> Pieces<'a> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Piece<'a>> {
        self.list.iter()
    }

    /// Adds a piece. Pieces that are adjacent in the old file are joined.
    pub(crate) fn push(&mut self, piece: Piece<'a>) {
        self.len += piece.len();
        match (self.list.last_mut(), piece) {
            (_, piece) if piece.len() == 0 => {}
            (Some(Piece::Old(last)), Piece::Old(range)) if last.end == range.start => last.end = range.end,
            (Some(Piece::Zeros(last)), Piece::Zeros(count)) => *last += count,
            (_, piece) => self.list.push(piece),
        }
    }

    pub(crate) fn old(&mut self, range: Range<usize>) {
        self.push(Piece::Old(range));
    }

    pub(crate) fn zeros(&mut self, count: usize) {
        self.push(Piece::Zeros(count));
    }

    pub(crate) fn append(&mut self, other: &Pieces<'a>) {
        other.iter().cloned().for_each(|piece| self.push(piece));
    }

    /// Overwrites words at their offsets; `words` are sorted by offset and do not overlap.
    pub(crate) fn overwrite(&mut self, words: &[(usize, [u8; 4])]) {
        let mut words = words.iter().peekable();
        let mut out = Pieces::default();
        // A word may extend over several pieces (a directory entry under an overlapping slot), so the rest of it is
        // skipped in the pieces that follow.
        let mut skip = 0;
        for mut piece in std::mem::take(&mut self.list) {
            if skip > 0 {
                let cut = skip.min(piece.len());
                piece = piece.split(cut).1;
                skip -= cut;
            }
            while let Some((at, bytes)) = words.peek()
                && *at < out.len + piece.len()
            {
                let (before, rest) = piece.split(at - out.len);
                out.push(before);
                out.push(Piece::New(Data::from(bytes.to_vec())));
                let cut = bytes.len().min(rest.len());
                skip = bytes.len() - cut;
                piece = rest.split(cut).1;
                words.next();
            }
            out.push(piece);
        }
        *self = out;
    }
}

impl<'a> From<&Rope<'a>> for Pieces<'a> {
    fn from(rope: &Rope<'a>) -> Self {
        let mut pieces = Pieces::default();
        rope.parts().cloned().for_each(|part| pieces.push(Piece::New(part)));
        pieces
    }
}
