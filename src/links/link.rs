//! How the numbers of a field name records: read, and written with other numbers.

use std::collections::HashSet;
use std::ops::Range;

use crate::record::{Count, Gone, Meaning, Number, Order, Shape};

/// A number in a record.
///
/// ```
/// use bspkit::links::Word;
/// use bspkit::record::{Number, Shape};
/// let count = Word::of(2, Shape::Number(Number::U16)).unwrap();
/// let mut record = [0; 4];
/// assert!(count.put(&mut record, 500) && !count.put(&mut record, 70_000));
/// assert_eq!(count.get(&record), 500);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// Its offset in the record.
    pub at: usize,
    /// Its type.
    pub number: Number,
}

impl Word {
    /// The number at an offset; `None` if the shape is not one number.
    pub fn of(at: usize, shape: Shape) -> Option<Self> {
        let Shape::Number(number) = shape else { return None };
        Some(Word { at, number })
    }

    /// The number in the bytes of a record; 0 for a float, and if there are not as many bytes.
    #[inline]
    pub fn get(self, record: &[u8]) -> i64 {
        record.get(self.at..).and_then(|rest| self.number.integer(rest)).unwrap_or(0)
    }

    /// Writes a number; false if it has no room.
    #[must_use]
    #[inline]
    pub fn put(self, record: &mut [u8], value: i64) -> bool {
        let size = self.number.size();
        let fits = self.number.range().is_some_and(|(least, most)| (least..=most).contains(&value));
        match record.get_mut(self.at..self.at + size) {
            Some(bytes) if fits => bytes.copy_from_slice(&value.to_le_bytes()[..size]),
            _ => return false,
        }
        true
    }
}

/// A condition on another number of the record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct When {
    pub(super) word: Word,
    pub(super) count: Count,
    pub(super) test: Test,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Test {
    Is(i64),
    IsNot(i64),
    Above(i64),
}

impl When {
    fn holds(&self, record: &[u8]) -> bool {
        let count = self.count.of(self.word.get(record));
        match self.test {
            Test::Is(value) => count == value,
            Test::IsNot(value) => count != value,
            Test::Above(value) => count > value,
        }
    }
}

/// How a number names records.
///
/// ```
/// use bspkit::links::How;
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let links = map.links()?;
/// let edges = links.links.iter().find(|link| link.field == "first_edge").unwrap();
/// assert!(matches!(edges.how, How::Run(..)));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum How {
    /// An index, unless it is one of these.
    Index(&'static [i64]),
    /// An index, if there is a record.
    Perhaps,
    /// An index, if it is not negative.
    Node,
    /// An index, if it is greater than 0.
    Next,
    /// An index with all bits inverted, if it is negative; the map has this many nodes.
    Leaf(i64),
    /// An index with a sign.
    Signed,
    /// An index in these low bits.
    Bits(u32),
    /// The first of several records; the count is in another number.
    Run(Word, Count, Order),
    /// One item of an array, of which the first ones count. Of a removed record the item is removed.
    Item(Word, Count),
    /// A count of records that follow those of the records before.
    Share(usize),
    /// A name, `*` and the index, of this many bytes.
    Starred(usize),
}

/// Numbers of one field of all records of a site that name records of another one.
///
/// ```
/// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
/// let links = map.links()?;
/// let edges = links.links.iter().find(|link| link.field == "first_edge").unwrap();
/// let [from, to] = [edges.from, edges.to].map(|site| &links.sites[site]);
/// assert_eq!((from.name.as_str(), to.name.as_str()), ("FACES", "SURFEDGES"));
/// let mut face = from.record(0).to_vec();
/// edges.put(&mut face, 8, to.len()).unwrap();
/// assert_eq!(edges.named(&face, to.len()).map(|(first, _)| first), Some(8));
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Link {
    /// The site whose records have the field: an index of [`Links::sites`](super::Links::sites).
    pub from: usize,
    /// The site whose records it names.
    pub to: usize,
    /// The path of the field.
    pub field: String,
    /// What the field means.
    pub meaning: Meaning,
    /// The place and the type of the number in a record.
    pub word: Word,
    /// How it names records.
    pub how: How,
    pub(super) when: Option<When>,
    /// What becomes of the number if the record goes that it names.
    pub(crate) gone: Gone,
    /// Of a run: the count with which the number is an index of another list.
    pub(crate) unless: Option<Unless>,
}

/// The count of a run with which its first number is no longer that of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unless {
    pub(crate) count: i64,
    /// The list of which it is an index then.
    pub(crate) other: usize,
    /// The number for no record of that list.
    pub(crate) none: i64,
}

impl Link {
    /// The first record and the number of records that a record names; `None` if it names none. `len` is the number of
    /// records there are.
    #[inline]
    pub fn named(&self, record: &[u8], len: usize) -> Option<(i64, i64)> {
        self.stated(record, len).filter(|(_, count)| *count > 0)
    }

    /// As [`Self::named`], and runs of fewer than 0 records, which name none.
    #[inline]
    pub fn stated(&self, record: &[u8], len: usize) -> Option<(i64, i64)> {
        self.states(self.word.get(record), record, len)
    }

    /// As [`Self::stated`], where the number of the field is known.
    #[inline]
    pub fn states(&self, value: i64, record: &[u8], len: usize) -> Option<(i64, i64)> {
        if !self.applies(record) {
            return None;
        }
        match self.how {
            How::Index(none) => (!none.contains(&value)).then_some((value, 1)),
            How::Perhaps => usize::try_from(value).is_ok_and(|index| index < len).then_some((value, 1)),
            How::Node => Some(self.far(value, len)).filter(|value| *value >= 0).map(|value| (value, 1)),
            How::Leaf(nodes) => {
                let is_far = self.word.number == Number::I16 && value.saturating_add(FAR) < nodes;
                (value < 0 && !is_far).then_some((-1 - value, 1))
            }
            How::Next => (value > 0).then_some((value, 1)),
            How::Signed => Some((value.checked_abs()?, 1)),
            How::Bits(mask) => Some((value & i64::from(mask), 1)),
            How::Run(word, count, _) => {
                Some(count.of(word.get(record))).filter(|count| *count != 0).map(|count| (value, count))
            }
            How::Item(..) => Some((value, 1)),
            How::Share(_) => None,
            How::Starred(size) => star(record.get(self.word.at..self.word.at + size)?).map(|index| (index, 1)),
        }
    }

    /// Takes the number out of a record.
    pub(crate) fn erase(&self, record: &mut [u8]) {
        let size = match self.how {
            How::Bits(mask) => {
                let rest = self.word.get(record) & !i64::from(mask);
                let _ = self.word.put(record, rest);
                return;
            }
            How::Share(_) => return,
            How::Starred(size) => size,
            _ => self.word.number.size(),
        };
        record.iter_mut().skip(self.word.at).take(size).for_each(|byte| *byte = 0);
    }

    /// Numbers that are right in a list of this many records, whatever else there is in the record: a range, outside of
    /// which numbers may be right too.
    pub fn good(&self, len: i64) -> Range<i64> {
        match self.how {
            How::Index(none) if none.contains(&-1) => -1..len,
            How::Index(_) | How::Perhaps | How::Item(..) => 0..len,
            How::Node | How::Next => i64::MIN..len,
            How::Leaf(_) => len.saturating_neg()..i64::MAX,
            How::Signed => 1_i64.saturating_sub(len)..len,
            How::Bits(_) | How::Run(..) | How::Share(_) | How::Starred(_) => 0..0,
        }
    }

    /// Numbers from 0 to this one are indices of records, in every record, if there are this many records.
    pub fn indices(&self, len: usize) -> usize {
        match self.how {
            How::Index(none) if self.when.is_none() && none.iter().all(|none| *none < 0) => len,
            How::Perhaps if self.when.is_none() => len,
            _ => 0,
        }
    }

    /// All numbers that say what the field names: the field, and those that it is read with.
    pub fn words(&self) -> Vec<Word> {
        let beside = match self.how {
            How::Run(word, ..) | How::Item(word, _) => Some(word),
            _ => None,
        };
        let name = matches!(self.how, How::Starred(_));
        let own = if name { None } else { Some(self.word) };
        let mut words: Vec<Word> = own.into_iter().chain(beside).collect();
        if let Some(when) = self.when.filter(|when| words.iter().all(|word| word.at != when.word.at)) {
            words.push(when.word);
        }
        words
    }

    /// The bytes of the field in the record.
    pub fn place(&self) -> Range<usize> {
        let size = if let How::Starred(size) = self.how { size } else { self.word.number.size() };
        self.word.at..self.word.at + size
    }

    /// The path of the field, of items of an array that of the array.
    pub fn array(&self) -> &str {
        let end = if matches!(self.how, How::Item(..)) { self.field.rfind('[') } else { None };
        &self.field[..end.unwrap_or(self.field.len())]
    }

    /// The path of the field without the numbers of items: `faces` of `faces[3]`.
    pub fn plain_field(&self) -> String {
        plain(&self.field)
    }

    /// The number that means that there is no record, if the field has one.
    pub fn none(&self) -> Option<i64> {
        match self.gone {
            Gone::Needed => None,
            Gone::Becomes(none) | Gone::Forgotten(none) => Some(none),
        }
    }

    /// Whether nothing is lost if the record goes that the number names.
    pub fn is_weak(&self) -> bool {
        matches!(self.gone, Gone::Forgotten(_))
    }

    /// Whether the number is that of a run, an index or whatever it states, in this record.
    pub fn applies(&self, record: &[u8]) -> bool {
        self.when.as_ref().is_none_or(|when| when.holds(record))
    }

    /// Engines of Quake with more nodes than fit 15 bits read 16 bits without a sign.
    fn far(&self, value: i64, len: usize) -> i64 {
        let is_far =
            self.word.number == Number::I16 && value < 0 && usize::try_from(value + FAR).is_ok_and(|to| to < len);
        if is_far { value + FAR } else { value }
    }

    /// Writes the first record that a record names. `len` is the number of records there are.
    ///
    /// # Errors
    /// The reason why the field cannot name it.
    pub fn put(&self, record: &mut [u8], first: i64, len: usize) -> Result<(), String> {
        let old = self.word.get(record);
        let is_far = self.far(old, len) != old;
        let value = match self.how {
            How::Leaf(_) => -1 - first,
            How::Signed if old < 0 => first.saturating_neg(),
            How::Bits(mask) => old & !i64::from(mask) | first & i64::from(mask),
            How::Node if is_far && first > i64::from(i16::MAX) => first - FAR,
            How::Starred(size) => {
                let name = record.get_mut(self.word.at..self.word.at + size);
                let fits = name.is_some_and(|name| crate::record::write_name(name, format!("*{first}").as_bytes()));
                return if fits { Ok(()) } else { Err(format!("*{first} does not fit its field")) };
            }
            _ => first,
        };
        let is_none = matches!(self.how, How::Index(none) if none.contains(&value))
            || matches!(self.how, How::Next) && value <= 0;
        let is_cut = matches!(self.how, How::Bits(mask) if first & i64::from(mask) != first);
        let far = value.saturating_add(FAR);
        let is_node = matches!(self.how, How::Leaf(nodes) if self.word.number == Number::I16 && far < nodes);
        if is_none {
            return Err(format!("{first} means that there is none"));
        }
        match !is_cut && !is_node && self.word.put(record, value) {
            true => Ok(()),
            false => Err(format!("{first} does not fit its {} bits", 8 * self.word.number.size())),
        }
    }
}

/// The path of a field without the numbers of items.
pub(crate) fn plain(path: &str) -> String {
    let mut depth = 0;
    let mut is_outside = |c: char| {
        depth += i32::from(c == '[');
        let outside = depth == 0;
        depth -= i32::from(c == ']');
        outside
    };
    path.chars().filter(|c| is_outside(*c)).collect()
}

/// What is added to a negative number of 16 bits to read it without a sign.
const FAR: i64 = 0x1_0000;

/// The numbers that come again after others, with their places: of records that engines read as one group.
///
/// ```
/// use bspkit::links::parted;
/// assert_eq!(parted([7, 7, 8, 7, 9].into_iter()).collect::<Vec<_>>(), [(3, 7)]);
/// ```
pub fn parted(numbers: impl Iterator<Item = i64>) -> impl Iterator<Item = (usize, i64)> {
    let (mut seen, mut last) = (HashSet::new(), None);
    let mut comes_again = move |number| last.replace(number) != Some(number) && !seen.insert(number);
    numbers.enumerate().filter(move |(_, number)| comes_again(*number))
}

/// The index in the name of a brush model: 12 of `*12`. Engines read it as C's `atoi` does: with spaces around it, and
/// with a plus.
///
/// ```
/// use bspkit::links::star;
/// assert_eq!((star(b"*12"), star(b"*12\0\0"), star(b"12")), (Some(12), Some(12), None));
/// assert_eq!((star(b"* +12 "), star(b"*-1"), star(b"*1x")), (Some(12), None, None));
/// ```
pub fn star(name: &[u8]) -> Option<i64> {
    let text = name.split(|byte| *byte == 0).next()?.strip_prefix(b"*")?.trim_ascii();
    let digits = text.strip_prefix(b"+").unwrap_or(text);
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(digits).ok().filter(|_| is_number)?.parse().ok()
}

/// The number of a text that is the name of a model ([`star`]), or those that come after a `*` in it, where no letter
/// or digit is directly before that. What is after a number does not matter: some engines read digits as far as they
/// go.
///
/// ```
/// let numbers: Vec<i64> = bspkit::links::stars(b"lift,AddOutput,model *29,0,-1").collect();
/// assert_eq!(numbers, [29]);
/// assert_eq!(bspkit::links::stars(b"* +3").collect::<Vec<_>>(), [3]);
/// assert_eq!(bspkit::links::stars(b"2*3 *own **6").count(), 0);
/// ```
pub fn stars(text: &[u8]) -> impl Iterator<Item = i64> + '_ {
    let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'*');
    let whole = star(text);
    let parts = if whole.is_some() { &b""[..] } else { text };
    whole.into_iter().chain(memchr::memchr_iter(b'*', parts).filter_map(move |at| {
        let rest = &text[at + 1..];
        let len = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        std::str::from_utf8(&rest[..len]).ok().filter(|_| !is_word(text[..at].last()))?.parse().ok()
    }))
}
