//! New bytes for a file, in the records that it has.

use super::fresh::{Content, Own};
use super::method::{self, LZMA};
use super::{Method, Pak};
use crate::{Data, Result};

impl<'a> Pak<'a> {
    /// Gives a file new bytes; all fields of its records that do not describe the data stay: the time, attributes, the
    /// extra field, the comment. A compressed file is compressed again, even if that makes it larger. Setting the bytes
    /// that it has is not an edit. [`Pak::replace`] makes the records anew instead.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there are fewer files;
    /// [`ErrorKind::Refused`](crate::ErrorKind::Refused) for a console's pakfile, and if the two headers of the file
    /// contradict each other.
    ///
    /// ```
    /// use bspkit::content::pak::Pak;
    /// let mut pak = Pak::new(b"");
    /// pak.add("a.vmt", "one")?;
    /// pak.update(0, "two")?;
    /// assert_eq!(&*pak.get(0).unwrap().data()?, b"two");
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn update(&mut self, index: usize, data: impl Into<Data<'a>>) -> Result<()> {
        let data = data.into();
        self.check_editable()?;
        let entry = self.entry(index)?;
        if entry.data().is_ok_and(|old| *old == *data) {
            return Ok(());
        }
        entry.check_lengths()?;
        let mut content = Content::stored(data)?;
        if entry.method() == Method::Lzma {
            let packed = Data::from(method::pack(&content.stored)?);
            content = Content { method: LZMA, stored: packed, ..content };
        }
        let own = Own::restored(&entry, self.origin(index), content);
        self.nodes[index] = self.settled(own);
        Ok(())
    }
}
