//! Keys: names of lumps that carry the type of their records.

use std::marker::PhantomData;

use super::{Form, Row};
use crate::record::Record;

/// A lump, or a list in it, with the type of its records: the argument of [`crate::Bsp::table`] and
/// [`crate::Draft::table`]. The modules of the dialects have one constant per lump.
///
/// ```
/// use bspkit::dialect::quake2;
/// assert_eq!(quake2::FACES.lump(), "FACES");
/// ```
#[derive(Debug)]
pub struct Key<R> {
    pub(super) lump: &'static str,
    list: &'static str,
    record: PhantomData<fn() -> R>,
}

impl<R> Clone for Key<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Key<R> {}

impl<R: Record> Key<R> {
    pub(crate) const fn new(lump: &'static str) -> Self {
        Key::list(lump, "")
    }

    pub(super) const fn list(lump: &'static str, list: &'static str) -> Self {
        Key { lump, list, record: PhantomData }
    }

    /// A row for the lump.
    pub(super) const fn row(self) -> Row {
        Row::new(self.lump, Form::Array(R::INFO))
    }

    /// The lump's name.
    pub fn lump(&self) -> &'static str {
        self.lump
    }

    /// The list's name; empty where the lump is one array.
    pub fn list_name(&self) -> &'static str {
        self.list
    }
}

/// Declares keys: `NAME: Record = "its doc",` for the lump of that name.
macro_rules! keys {
    ($($name:ident: $record:ty = $doc:literal,)*) => {
        $(
            #[doc = $doc]
            pub const $name: $crate::dialect::Key<$record> = $crate::dialect::Key::new(stringify!($name));
        )*
    };
}

pub(crate) use keys;
