//! Records of big-endian files. Structs are declared and decoded little-endian. Their bytes are byte-swapped when a
//! lump is read and when it is written, as the record's [`Shape`]s say, so that all other code knows one byte order
//! only.

use std::ops::Range;

use super::{FieldInfo, Record, RecordInfo, Shape};
use crate::bytes::ByteOrder;

/// Byte-swaps every number of whole records in place. Trailing bytes that are less than a record are kept. Applying it
/// twice restores the input.
pub(crate) fn byte_swap(record: &RecordInfo, bytes: &mut [u8]) {
    let mut numbers = Vec::new();
    find(record.fields, 0, &mut numbers);
    if numbers.is_empty() {
        return;
    }
    for record in bytes.chunks_exact_mut(record.size) {
        numbers.iter().for_each(|number| record[number.clone()].reverse());
    }
}

/// Finds the ranges of numbers of more than one byte.
fn find(fields: &[FieldInfo], start: usize, numbers: &mut Vec<Range<usize>>) {
    fields.iter().for_each(|field| find_in(field.shape, start + field.offset, numbers));
}

fn find_in(shape: Shape, at: usize, numbers: &mut Vec<Range<usize>>) {
    match shape {
        Shape::Number(number) if number.size() > 1 => numbers.push(at..at + number.size()),
        Shape::Number(_) | Shape::Name(_) => {}
        Shape::Array(item, count) => (0..count).for_each(|index| find_in(*item, at + index * item.size(), numbers)),
        Shape::Record(fields) => find(fields, at, numbers),
    }
}

/// Decodes a record of a file with this byte order; `None` if there are too few bytes.
pub(crate) fn decode_in<R: Record>(order: ByteOrder, bytes: &[u8]) -> Option<R> {
    match order {
        ByteOrder::Little => R::decode(bytes),
        ByteOrder::Big => {
            let mut bytes = bytes.get(..R::SIZE)?.to_vec();
            byte_swap(R::INFO, &mut bytes);
            R::decode(&bytes)
        }
    }
}

/// The bytes of a record in a file with this byte order.
pub(crate) fn encode_in<R: Record>(order: ByteOrder, record: &R) -> Vec<u8> {
    let mut bytes = record.encode();
    if order == ByteOrder::Big {
        byte_swap(R::INFO, &mut bytes);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{ALL, Form, Row};
    use crate::file::directory::{GameLumpEntry, SourceEntry};

    #[test]
    fn records_are_byte_swapped_by_their_fields() {
        let bytes: Vec<u8> = (1..=16).collect();
        let entry: SourceEntry = decode_in(ByteOrder::Big, &bytes).unwrap();
        assert_eq!((entry.offset, entry.unpacked), (0x0102_0304, 0x0D0E_0F10));
        assert_eq!(encode_in(ByteOrder::Big, &entry), bytes);
        let bytes = b"sprp\0\x01\0\x06\0\0\0\x64\0\0\0\x07";
        let member: GameLumpEntry = decode_in(ByteOrder::Big, bytes).unwrap();
        assert_eq!((member.id, member.flags, member.version), (u32::from_be_bytes(*b"sprp"), 1, 6));
        assert_eq!((member.offset, member.length), (100, 7));
    }

    /// For every record type: byte-swapping twice restores the input, and trailing bytes are kept.
    #[test]
    fn byte_swapping_twice_restores_the_input() {
        let rows = ALL.iter().flat_map(|dialect| dialect.rows.iter().copied().flatten());
        let of_row = |row: &Row| match row.form {
            Form::Array(record) => vec![record],
            Form::Lists(lists) => lists.iter().map(|list| list.record).collect(),
            _ => Vec::new(),
        };
        for record in rows.flat_map(of_row) {
            let old: Vec<u8> = (0_u8..=255).cycle().take(3 * record.size - 1).collect();
            let mut bytes = old.clone();
            byte_swap(record, &mut bytes);
            assert_eq!(bytes[2 * record.size..], old[2 * record.size..], "{}", record.name);
            let is_wide = |field: &FieldInfo| {
                let mut numbers = Vec::new();
                find_in(field.shape, 0, &mut numbers);
                !numbers.is_empty()
            };
            assert_eq!(bytes != old, record.fields.iter().any(is_wide), "{}", record.name);
            byte_swap(record, &mut bytes);
            assert_eq!(bytes, old, "{}", record.name);
        }
    }
}
