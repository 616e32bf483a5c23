//! Bytes of records and numbers.

use bspkit::record::Record;

/// A record of zeros.
pub(crate) fn zeros<R: Record>() -> R {
    let Some(record) = R::decode(&vec![0; R::SIZE]) else { unreachable!("these are as many bytes as it has") };
    record
}

/// The bytes of records, one after the other.
pub(crate) fn bytes<R: Record>(records: &[R]) -> Vec<u8> {
    records.iter().flat_map(Record::encode).collect()
}

/// The bytes of 16-bit numbers.
pub(crate) fn shorts(numbers: &[u16]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// The bytes of 32-bit numbers.
pub(crate) fn longs(numbers: &[i32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}
