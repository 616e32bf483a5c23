//! Records of a lump replaced by those of a file, with all that refers to them.

use std::io::BufRead;

use super::{Format, Lump};
use crate::bytes::ByteOrder;
use crate::record::{FlagNames, byte_swap};
use crate::{Draft, Error, ErrorKind, Followed, Result};

impl<'a> Lump<'a> {
    /// As [`Lump::load`], for files with more or fewer records: records that were added or removed are treated as such,
    /// so that everything that refers to later ones follows. `force` and `cascade` are those of [`crate::Structure`].
    ///
    /// Equal records at the start and at the end stay; those between replace each other one by one, and the rest of
    /// them is added or removed.
    ///
    /// ```
    /// use bspkit::face::records::{Format, Lump};
    /// let map = bspkit::Bsp::open("tests/maps/q2/own_rooms.bsp")?;
    /// let vertexes = Lump::find(&map, "vertexes")?;
    /// let mut text = b"{\"point\":[1,2,3]}\n".to_vec();
    /// vertexes.print(Format::Json, &[], |piece| {
    ///     text.extend_from_slice(piece);
    ///     Ok::<_, bspkit::Error>(true)
    /// })?;
    /// let mut draft = map.draft();
    /// let followed = vertexes.load_and_follow(&mut draft, Format::Json, &[], (false, false), &text[..])?;
    /// assert_eq!(followed.fields[0].lump, "EDGES");
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lump::rows`], and as [`crate::Structure::splice`].
    pub fn load_and_follow(
        &self,
        draft: &mut Draft<'a>,
        format: Format,
        names: FlagNames,
        (force, cascade): (bool, bool),
        file: impl BufRead,
    ) -> Result<Followed> {
        let part = self.one()?;
        let size = part.record.size;
        let mut new = self.rows(format, names, file)?;
        if !new.len().is_multiple_of(size) {
            let message = format!("the file has {} bytes, which are not whole records of {size}", new.len());
            return Err(Error::new(ErrorKind::Argument, message));
        }
        if format == Format::Raw && draft.bsp().byte_order() == ByteOrder::Big {
            byte_swap(part.record, &mut new);
        }
        let old = &self.bytes[part.range.start..part.range.start + part.count() * size];
        let pairs = || old.chunks_exact(size).zip(new.chunks_exact(size));
        let start = pairs().take_while(|(old, new)| old == new).count();
        let both = part.count().min(new.len() / size) - start;
        let pairs = old.rchunks_exact(size).zip(new.rchunks_exact(size)).take(both);
        let end = pairs.take_while(|(old, new)| old == new).count();
        let middle = new[start * size..new.len() - end * size].to_vec();
        // A list that was named has its name already.
        let is_named = part.list.is_empty() || self.name.ends_with(&format!(".{}", part.list));
        let name = if is_named { self.name.clone() } else { format!("{}.{}", self.name, part.list) };
        let structure = draft.structure().force(force).cascade(cascade);
        structure.splice_list(&name, start..part.count() - end, middle)
    }
}
