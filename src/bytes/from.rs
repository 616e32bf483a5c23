//! What [`Data`] is made from and compared with.

use super::{Data, Owner};

impl<'a> From<&'a [u8]> for Data<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Data { range: 0..bytes.len(), owner: Owner::Borrowed(bytes) }
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Data<'a> {
    fn from(bytes: &'a [u8; N]) -> Self {
        Data::from(&bytes[..])
    }
}

impl<'a> From<&'a str> for Data<'a> {
    fn from(text: &'a str) -> Self {
        Data::from(text.as_bytes())
    }
}

impl From<String> for Data<'_> {
    fn from(text: String) -> Self {
        Data::shared(text)
    }
}

impl PartialEq for Data<'_> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Data<'_> {}

impl From<Vec<u8>> for Data<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Data::shared(bytes)
    }
}
