//! Compressing and decompressing a whole Source map, piece by piece: every lump and every member of the game lump.
//!
//! A piece that is already stored in the requested form keeps its bytes. Pieces are independent, so several threads
//! work on them, the largest first. The result does not depend on the number of threads.

use std::num::NonZeroUsize;

use crate::bytes::Data;
use crate::dialect::Role;
use crate::draft::{Compression, Draft};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::file::lzma::{self, Level};
use crate::file::{Bounds, Slot, SlotId};
use crate::threads::{self, COMPRESSION_MEMORY, in_parallel_within};

/// What to compress or decompress, and how many threads do it.
///
/// ```
/// use bspkit::compress::Options;
/// let options = Options::default().all(true);
/// assert!(options.all && !options.pak);
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// Compress even if the result is larger, as bspzip does; some servers accept only maps in which every lump is
    /// compressed.
    pub all: bool,
    /// Compress or decompress the files in the pakfile as well.
    pub pak: bool,
    /// How much time it takes for how few bytes.
    pub level: Level,
    /// How many threads; by default one per core.
    pub threads: Option<NonZeroUsize>,
}

impl Options {
    /// Compresses even if the result is larger.
    #[must_use]
    pub fn all(mut self, all: bool) -> Self {
        self.all = all;
        self
    }

    /// Includes the files in the pakfile.
    #[must_use]
    pub fn pak(mut self, pak: bool) -> Self {
        self.pak = pak;
        self
    }

    /// Sets the level.
    #[must_use]
    pub fn level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// Sets the number of threads.
    #[must_use]
    pub fn threads(mut self, threads: NonZeroUsize) -> Self {
        self.threads = Some(threads);
        self
    }

    fn thread_count(&self) -> usize {
        self.threads.map_or_else(threads::cores, NonZeroUsize::get)
    }
}

/// What was done.
///
/// ```
/// use bspkit::compress::{self, Options};
/// use bspkit::{Bsp, Builder, Layout, dialect};
/// let bytes = Builder::new(&dialect::SOURCE).lump(1, [7; 400]).lump(59, [0; 4]).build()?;
/// let mut draft = Bsp::parse(&bytes)?.draft();
/// let report = compress::compress(&mut draft, &Options::default())?;
/// assert_eq!(report.pieces.len(), 2);
/// assert_eq!(report.changed().count(), 1, "four bytes would grow");
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// Every piece that has bytes, in the order of the directories.
    pub pieces: Vec<Piece>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

/// One lump or member of a [`Report`].
///
/// ```
/// # use bspkit::compress::{self, Options, Outcome};
/// # use bspkit::{Bsp, Builder, dialect};
/// let bytes = Builder::new(&dialect::SOURCE).lump(59, [0; 4]).build()?;
/// let mut draft = Bsp::parse(&bytes)?.draft();
/// let piece = compress::compress(&mut draft, &Options::default())?.pieces.remove(0);
/// assert_eq!((piece.name.as_str(), piece.sizes, piece.outcome), ("MAP_FLAGS", (4, 4), Outcome::Grows));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Piece {
    /// The slot's name.
    pub name: String,
    /// Which slot it is.
    pub slot: SlotId,
    /// Its bytes in the file before and after, without padding.
    pub sizes: (usize, usize),
    /// The result.
    pub outcome: Outcome,
}

/// The result for a [`Piece`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It is compressed now.
    Compressed,
    /// It is decompressed now.
    Decompressed,
    /// It was already stored in the requested form.
    AsItWas,
    /// It would be larger compressed, so it stays uncompressed.
    Grows,
    /// It is not changed; a warning gives the reason.
    LeftAlone,
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Outcome::Compressed => "compressed",
            Outcome::Decompressed => "decompressed",
            Outcome::AsItWas => "as it was",
            Outcome::Grows => "would grow",
            Outcome::LeftAlone => "left alone",
        })
    }
}

impl Report {
    /// The pieces whose form changed.
    pub fn changed(&self) -> impl Iterator<Item = &Piece> {
        self.pieces.iter().filter(|piece| matches!(piece.outcome, Outcome::Compressed | Outcome::Decompressed))
    }

    /// The bytes of all pieces before and after.
    pub fn sizes(&self) -> (usize, usize) {
        let sizes = self.pieces.iter().map(|piece| piece.sizes);
        sizes.fold((0, 0), |sum, sizes| (sum.0 + sizes.0, sum.1 + sizes.1))
    }
}

/// Compresses every lump and member that has bytes and is not compressed, if that makes it smaller or with
/// [`Options::all`]. The game lump and the pakfile are not compressed as a whole, since no engine can read that.
///
/// # Errors
/// [`ErrorKind::Refused`] for a map of a family that has no compressed lumps; as [`Draft::bytes`] for edited entities
/// that cannot be read, and as [`Draft::pak`] for a pakfile with [`Options::pak`]. After an error the draft is
/// unchanged.
///
/// ```
/// use bspkit::compress::{self, Options};
/// use bspkit::{Bsp, Builder, Layout, dialect};
/// let bytes = Builder::new(&dialect::SOURCE).lump(1, [7; 400]).build()?;
/// let map = Bsp::parse(&bytes)?;
/// let mut draft = map.draft();
/// compress::compress(&mut draft, &Options::default())?;
/// let small = draft.plan(Layout::Repack)?.to_vec();
/// assert!(small.len() < bytes.len() - 300);
/// assert_eq!(*Bsp::parse(&small)?.bytes(map.slot("planes")?.id)?, [7; 400]);
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn compress(draft: &mut Draft<'_>, options: &Options) -> Result<Report> {
    let mut report = Report::default();
    let pieces = pieces(draft, Compression::Lzma, &mut report)?;
    let is_wanted = |slot: &Slot| draft.compression(slot.id) == Compression::Lzma;
    let memory = |slot: &Slot| lzma::memory_to_compress(slot.stored.len());
    let mut found = on_all_cores(&pieces, options.thread_count(), memory, |slot| {
        if is_wanted(slot) {
            return Ok(Done::Nothing(Outcome::AsItWas));
        }
        let bytes = draft.bytes(slot.id)?;
        if bytes.is_empty() {
            return Ok(Done::Nothing(Outcome::AsItWas));
        }
        if bytes.len() > lzma::MOST_DECOMPRESSED {
            return Ok(Done::Nothing(Outcome::LeftAlone));
        }
        let packed = draft.bsp().pack(&bytes, options.level)?;
        if packed.len() >= bytes.len() && !options.all {
            return Ok(Done::Nothing(Outcome::Grows));
        }
        Ok(Done::Packed { of: bytes, packed: Data::from(packed) })
    })?;
    let too_large = pieces.iter().zip(&found).filter(|(_, done)| matches!(done, Done::Nothing(Outcome::LeftAlone)));
    report.warnings.extend(too_large.map(|(slot, _)| {
        format!(
            "{} has more than {} bytes, more than is ever decompressed: it stays raw",
            slot.name,
            lzma::MOST_DECOMPRESSED
        )
    }));
    leave_what_is_too_much(draft, &pieces, &mut found, &mut report.warnings);
    pak(draft, options, Compression::Lzma, &mut report)?;
    report.add(draft, &pieces, found);
    let caveat = draft.bsp().compression_caveat().filter(|_| report.changed().next().is_some());
    report.warnings.splice(..0, caveat.map(str::to_owned));
    Ok(report)
}

/// Decompresses every lump and member that is compressed.
///
/// # Errors
/// As [`compress`]; [`ErrorKind::Malformed`] and [`ErrorKind::TooLarge`] with the lump's name if one cannot be
/// decompressed; [`ErrorKind::TooLarge`] if all of them would take more than 64 MiB and more than 64 times the size of
/// the file, for example if many lumps share one compressed piece. After an error the draft is unchanged.
///
/// ```
/// use bspkit::compress::{self, Options};
/// use bspkit::{Bsp, Builder, Layout, dialect};
/// let bytes = Builder::new(&dialect::SOURCE).compressed_lump(1, &[7; 400])?.build()?;
/// let map = Bsp::parse(&bytes)?;
/// let mut draft = map.draft();
/// compress::decompress(&mut draft, &Options::default())?;
/// let large = draft.plan(Layout::Repack)?.to_vec();
/// assert_eq!(*Bsp::parse(&large)?.stored(map.slot("planes")?.id), [7; 400]);
/// # Ok::<(), bspkit::Error>(())
/// ```
pub fn decompress(draft: &mut Draft<'_>, options: &Options) -> Result<Report> {
    let mut report = Report::default();
    let pieces = pieces(draft, Compression::Raw, &mut report)?;
    draft.bsp().check_total_size()?;
    let memory = |slot: &Slot| lzma::memory_for(draft.bsp().decompressed_size(slot.id).unwrap_or_default());
    let found = on_all_cores(&pieces, options.thread_count(), memory, |slot| match draft.compression(slot.id) {
        Compression::Raw => Ok(Done::Nothing(Outcome::AsItWas)),
        Compression::Lzma => Ok(Done::Unpacked(draft.bsp().bytes(slot.id)?)),
    })?;
    pak(draft, options, Compression::Raw, &mut report)?;
    report.add(draft, &pieces, found);
    Ok(report)
}

/// Leaves the largest pieces raw of a map that would not be decompressed again ([`Bsp::check_total_size`]).
fn leave_what_is_too_much(draft: &Draft<'_>, pieces: &[Slot], found: &mut [Done<'_>], warnings: &mut Vec<String>) {
    let unpacked = |(slot, done): (&Slot, &Done<'_>)| match done {
        Done::Packed { of, .. } => of.len(),
        _ => draft.bsp().decompressed_size(slot.id).unwrap_or(0),
    };
    let stored = |(slot, done): (&Slot, &Done<'_>)| match done {
        Done::Packed { packed, .. } => packed.len(),
        _ => slot.stored.len(),
    };
    let sum = |found: &[Done<'_>], size: &dyn Fn((&Slot, &Done<'_>)) -> usize| -> usize {
        pieces.iter().zip(found).map(size).fold(0, usize::saturating_add)
    };
    while sum(found, &unpacked) > lzma::most_in_total(sum(found, &stored)) {
        let size = |done: &Done<'_>| if let Done::Packed { of, .. } = done { of.len() } else { 0 };
        let largest = (0..found.len()).max_by_key(|at| size(&found[*at])).filter(|at| size(&found[*at]) > 0);
        let Some(largest) = largest else { return };
        found[largest] = Done::Nothing(Outcome::LeftAlone);
        let name = &pieces[largest].name;
        warnings.push(format!("{name} stays raw: all lumps would take more bytes than are ever decompressed"));
    }
}

/// The result of a thread for a piece.
enum Done<'a> {
    Nothing(Outcome),
    Packed { of: Data<'a>, packed: Data<'a> },
    Unpacked(Data<'a>),
}

impl Report {
    /// Applies the results to the draft.
    fn add<'a>(&mut self, draft: &mut Draft<'a>, pieces: &[Slot], found: Vec<Done<'a>>) {
        for (slot, done) in pieces.iter().zip(found) {
            let before = slot.stored.len();
            let (after, outcome) = match done {
                Done::Nothing(outcome) => (before, outcome),
                Done::Packed { of, packed } => {
                    let after = packed.len();
                    draft.set_compressed(slot.id, of, packed);
                    (after, Outcome::Compressed)
                }
                Done::Unpacked(bytes) => {
                    let after = bytes.len();
                    draft.set_decompressed(slot.id, bytes);
                    (after, Outcome::Decompressed)
                }
            };
            self.pieces.push(Piece { name: slot.name.clone(), slot: slot.id, sizes: (before, after), outcome });
        }
        let order = |piece: &Piece| piece.slot;
        self.pieces.sort_by_key(order);
    }
}

/// The slots with bytes that can be stored in either form. Slots with an implausible directory entry are not changed.
fn pieces(draft: &Draft<'_>, to: Compression, report: &mut Report) -> Result<Vec<Slot>> {
    let bsp = draft.bsp();
    let dialect = bsp.dialect();
    if bsp.slots().first().is_none_or(|slot| slot.words.unpacked.is_none()) {
        let message = format!("no engine reads compressed lumps of {} maps", dialect.title);
        return Err(Error::new(ErrorKind::Refused, message));
    }
    let mut pieces = Vec::new();
    for slot in bsp.slots() {
        if slot.stored.is_empty() && slot.bounds == Bounds::Empty || draft.never_compressed(slot.id)?.is_some() {
            continue;
        }
        match oddity(draft, slot, to) {
            None => pieces.push(slot.clone()),
            Some(what) => {
                report.warnings.push(format!("{} {what}: it is not changed", slot.name));
                let size = slot.stored.len();
                let (name, outcome) = (slot.name.clone(), Outcome::LeftAlone);
                report.pieces.push(Piece { name, slot: slot.id, sizes: (size, size), outcome });
            }
        }
    }
    if let Some(reason) = bsp.role(Role::GameLump).and_then(|lump| bsp.container().pinned(lump.id)) {
        report.warnings.push(format!("the members of the game lump are not changed: {reason}"));
    }
    Ok(pieces)
}

/// The files in the pakfile: each is compressed on its own if that makes it smaller.
fn pak(draft: &mut Draft<'_>, options: &Options, to: Compression, report: &mut Report) -> Result<()> {
    let Some(slot) = draft.bsp().role(Role::Pak).filter(|slot| options.pak && !slot.stored.is_empty()).cloned() else {
        return Ok(());
    };
    let pak = draft.pak()?;
    let files: Vec<usize> = (0..pak.len()).collect();
    let (packed, outcome) = match to {
        Compression::Lzma => (pak.compress(&files, options.thread_count(), options.level)?, Outcome::Compressed),
        Compression::Raw => (pak.store(&files, options.thread_count())?, Outcome::Decompressed),
    };
    let left_alone =
        packed.failed.iter().map(|(file, error)| format!("{} file {file} is not changed: {error}", slot.name));
    report.warnings.extend(left_alone);
    if packed.changed > 0 {
        let name = format!("{} ({} files)", slot.name, packed.changed);
        report.pieces.push(Piece { name, slot: slot.id, sizes: packed.bytes, outcome });
    }
    Ok(())
}

/// Why the directory entry of a slot cannot be trusted.
fn oddity(draft: &Draft<'_>, slot: &Slot, to: Compression) -> Option<String> {
    let bsp = draft.bsp();
    if slot.bounds.is_damaged() {
        return Some(slot.bounds.to_string());
    }
    if let Some(oddity) = bsp.compression_oddity(slot.id) {
        return Some(oddity.to_string());
    }
    let is_new = to == Compression::Lzma && bsp.decompressed_size(slot.id).is_none();
    let why = match () {
        () if is_new && is_out_of_order(bsp.slots(), slot) => "is before its predecessor in the list",
        () if is_new && is_shared(bsp.slots(), slot) => "shares its bytes with another member",
        () => return None,
    };
    Some(why.to_owned())
}

/// Whether a member of the game lump has bytes of another one: a compressed one has its own.
fn is_shared(slots: &[Slot], slot: &Slot) -> bool {
    let members = slots.iter().filter(|other| matches!(other.id, SlotId::Game(_)) && other.id != slot.id);
    let overlaps = |other: &Slot| slot.stored.start < other.stored.end && other.stored.start < slot.stored.end;
    matches!(slot.id, SlotId::Game(_)) && members.into_iter().any(overlaps)
}

/// Whether a member of the game lump is placed before its predecessor in the list. Readers compute the size of a
/// compressed member from the offset of the next.
fn is_out_of_order(slots: &[Slot], slot: &Slot) -> bool {
    let members = slots.iter().filter(|other| matches!(other.id, SlotId::Game(_)) && !other.stored.is_empty());
    let starts: Vec<_> = members.map(|member| member.stored.start).collect();
    matches!(slot.id, SlotId::Game(_)) && !starts.is_sorted()
}

/// Does the work on every piece, the largest first; `memory` is what it takes in bytes. The results are in the order of
/// the pieces, and of several errors it is the first piece's.
fn on_all_cores<T: Send>(
    pieces: &[Slot],
    threads: usize,
    memory: impl Fn(&Slot) -> usize,
    work: impl Fn(&Slot) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let mut order: Vec<(usize, &Slot)> = pieces.iter().enumerate().collect();
    order.sort_by_key(|(_, piece)| std::cmp::Reverse(piece.stored.len()));
    let results = in_parallel_within(
        threads,
        COMPRESSION_MEMORY,
        &order,
        |(_, piece)| memory(piece),
        |(_, piece)| {
            work(piece).map_err(|error| match error.place() {
                Some(_) => error,
                None => error.at(Place::default().lump(&piece.name)),
            })
        },
    );
    let mut results: Vec<_> = order.iter().map(|(index, _)| *index).zip(results).collect();
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}
