//! Changes of inputs: bits, words, blocks, and for texts the tokens that other inputs have.

/// Random numbers (xorshift64*): the same seed gives the same numbers.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `end`; 0 if that is 0.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() >> 33).unwrap_or(0) % end.max(1)
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

/// An input from one of the seeds: a number of changes, most often few.
pub fn input(seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut bytes = random.pick(seeds).cloned().unwrap_or_default();
    let is_text = bytes.iter().take(256).all(|byte| *byte >= 9 && *byte != 127);
    let most = 1 << random.below(5);
    let many = 1 + random.below(most);
    for _ in 0..many {
        change(&mut bytes, seeds, is_text, random);
    }
    bytes.truncate(MOST);
    bytes
}

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
        1 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = random.next().to_le_bytes()[1]),
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
