//! Changes of inputs: bits, words, blocks; for texts the tokens that other inputs have; for maps the words of the directory
//! and the fields of records.

use bspkit::record::{FieldInfo, Number, Shape};
use bspkit::{Bsp, Layout, SlotId};

use crate::doors::Kind;

/// Random numbers (xorshift64*): the same seed gives the same numbers.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Numbers that these bytes choose.
    pub fn of(bytes: &[u8]) -> Self {
        let add = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3);
        Random::new(bytes.iter().fold(0xCBF2_9CE4_8422_2325, add))
    }

    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `end`; 0 if that is 0.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.bits() >> 33).unwrap_or(0) % end.max(1)
    }

    pub fn pick<'t, T>(&mut self, all: &'t [T]) -> Option<&'t T> {
        all.get(self.below(all.len()))
    }
}

/// Words that are wrong in a special way, as offsets, counts and indices.
const WORDS: [u32; 14] =
    [0, 1, 2, 4, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x1_0000, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFE, 0xFFFF_FFFF];

/// The most bytes of an input.
const MOST: usize = 1 << 20;

/// An input from one of the seeds.
pub fn input(kind: Kind, seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut bytes = random.pick(seeds).cloned().unwrap_or_default();
    changed(kind, &mut bytes, seeds, random);
    bytes
}

/// Makes a number of changes, most often few.
pub fn changed(kind: Kind, bytes: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut Random) {
    let is_text = bytes.iter().take(256).all(|byte| *byte >= 9 && *byte != 127);
    let most = 1 << random.below(5);
    let many = 1 + random.below(most);
    // What is in the structure of a map goes in first: after other changes it may not open.
    if kind == Kind::Map && random.below(2) == 0 {
        if let Some(new) = in_structure(bytes, many, random) {
            *bytes = new;
        }
        if random.below(4) != 0 {
            return;
        }
    }
    for _ in 0..many {
        change(bytes, seeds, is_text, random);
    }
    bytes.truncate(MOST);
}

// Maps.

/// Changes fields of records and the lengths of lumps: the map opens still, and what its records say is wrong.
fn in_structure(bytes: &[u8], many: usize, random: &mut Random) -> Option<Vec<u8>> {
    let map = Bsp::parse(bytes).ok()?;
    let mut draft = map.draft();
    let slots: Vec<SlotId> = map.slots().iter().filter(|slot| slot.length > 0).map(|slot| slot.id).collect();
    for _ in 0..many {
        let slot = *random.pick(&slots)?;
        let Ok(old) = draft.bytes(slot) else { continue };
        let mut lump = map.in_little_endian(slot, old).to_vec();
        let lists =
            map.slots().iter().find(|it| it.id == slot).and_then(|slot| map.lists(&slot.name).ok()).unwrap_or_default();
        match (random.below(6), random.pick(&lists)) {
            (0, _) => lump.truncate(random.below(lump.len() + 1)),
            (1, Some(list)) => {
                // A record once more, at the end of the lump.
                let at = random.below(list.len());
                lump.extend(list.get(at).unwrap_or_default());
            }
            (_, Some(list)) => {
                let (field, place) = (random.pick(list.info().fields)?, list.place(random.below(list.len())));
                if let Some(record) = place.and_then(|place| lump.get_mut(place)) {
                    field_to(record, field, list.len(), random);
                }
            }
            _ => {
                let at = random.below(lump.len()) & !3;
                let word = WORDS[random.below(WORDS.len())].to_le_bytes();
                lump.iter_mut().skip(at).take(4).zip(word).for_each(|(byte, new)| *byte = new);
            }
        }
        let _ = draft.set_little_endian(slot, lump);
    }
    Some(draft.plan(Layout::Keep).ok()?.to_vec())
}

/// Gives a number of a field another value: one that is wrong in a special way, one near the old one, or a number near the
/// length of a list.
fn field_to(record: &mut [u8], field: &FieldInfo, len: usize, random: &mut Random) {
    let (mut shape, mut at) = (field.shape, field.offset);
    let number = loop {
        match shape {
            Shape::Number(number) => break number,
            Shape::Array(item, count) => (shape, at) = (*item, at + random.below(count) * item.size()),
            Shape::Record(fields) => match random.pick(fields) {
                Some(field) => (shape, at) = (field.shape, at + field.offset),
                None => return,
            },
            _ => break Number::U8,
        }
    };
    let Some(bytes) = record.get_mut(at..at + number.size()) else { return };
    let near = |len: usize| u32::try_from(len).unwrap_or(0);
    let old = bytes.iter().rev().fold(0_u32, |sum, byte| sum << 8 | u32::from(*byte));
    let new = match (number, random.below(4)) {
        (Number::F32, 0..3) => {
            [0.0, -0.0, 1.0, 1e-42, 0.5, 99_999.5, -3e38, f32::INFINITY, f32::NAN][random.below(9)].to_bits()
        }
        (_, 0) => WORDS[random.below(WORDS.len())],
        (_, 1) => old.wrapping_add([1, 2, 0xFFFF_FFFF, 0xFFFF_FFFE][random.below(4)]),
        (_, 2) => near(random.below(len + 2)),
        _ => near(len).wrapping_add([0, 1, 0xFFFF_FFFF][random.below(3)]).wrapping_neg(),
    };
    bytes.copy_from_slice(&new.to_le_bytes()[..number.size()]);
}

// Bytes and texts.

fn change(bytes: &mut Vec<u8>, seeds: &[Vec<u8>], is_text: bool, random: &mut Random) {
    let at = random.below(bytes.len());
    // Headers and directories are at the beginning.
    let at = if random.below(3) == 0 { at % 1100.min(bytes.len().max(1)) } else { at };
    let range = |random: &mut Random, len: usize| {
        let (from, most) = (random.below(len), 1 << random.below(10));
        from..(from + 1 + random.below(most)).min(len)
    };
    match random.below(if is_text { 12 } else { 9 }) {
        0 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << random.below(8)),
        1 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = random.bits().to_le_bytes()[1]),
        2 | 3 => {
            let word = WORDS[random.below(WORDS.len())].to_le_bytes();
            bytes.iter_mut().skip(at & !3).take(4).zip(word).for_each(|(byte, new)| *byte = new);
        }
        4 => {
            // A word that is near another one: offsets that overlap, counts that are off by one.
            if let Some(word) = bytes.get_mut(at & !3..(at & !3) + 4) {
                let old = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
                let step = [1, 4, 16, 0xFFFF_FFFF, 0xFFFF_FFFC][random.below(5)];
                word.copy_from_slice(&old.wrapping_add(step).to_le_bytes());
            }
        }
        5 => drop(bytes.drain(range(random, bytes.len()))),
        6 => bytes.truncate(at),
        7 => {
            let from = range(random, bytes.len());
            let block = bytes[from].to_vec();
            drop(bytes.splice(at..at, block));
        }
        8 => {
            if let Some(other) = random.pick(seeds) {
                let from = range(random, other.len());
                let end = (at + from.len()).min(bytes.len());
                drop(bytes.splice(at..end, other[from].to_vec()));
            }
        }
        9 => {
            if let Some(token) = token(seeds, random) {
                drop(bytes.splice(at..at, token));
            }
        }
        10 => {
            let end = (at + random.below(8)).min(bytes.len());
            if let Some(token) = token(seeds, random) {
                drop(bytes.splice(at..end, token));
            }
        }
        _ => {
            let odd = *random.pick(b"\0\"\\{}[](),;:=/*#\n\r\t ~^$%&|<>+-.'`\x1B\x7F\x80\xC3\xFF").unwrap_or(&0);
            bytes.insert(at.min(bytes.len()), odd);
        }
    }
}

/// A word of a text, with the separator before it.
fn token(seeds: &[Vec<u8>], random: &mut Random) -> Option<Vec<u8>> {
    let text = random.pick(seeds)?;
    let is_end = |byte: &u8| !byte.is_ascii_alphanumeric() && *byte != b'_';
    let from = random.below(text.len());
    let start = text[..from].iter().rposition(is_end).unwrap_or(0);
    let end = text[from..].iter().position(is_end).map_or(text.len(), |end| from + end);
    text.get(start..end).map(<[u8]>::to_vec)
}
