//! Edits: adding, replacing, removing and renaming files.

use std::sync::Arc;

use super::fresh::{Content, Own};
use super::method::{self, LZMA};
use super::{Entry, Method, Node, Pak, name};
use crate::bytes::escaped;
use crate::near;
use crate::{Data, Error, ErrorKind, Result};

/// Each method makes its edit or gives an error and changes nothing. All of them give [`ErrorKind::Refused`] for a
/// console's pakfile, and for names that no engine looks up.
impl<'a> Pak<'a> {
    /// Adds a file after the others; its name must be free.
    fn put(&mut self, name: &[u8], data: Data<'a>) -> Result<usize> {
        self.check_editable()?;
        name::check(name)?;
        let own = Own::new(name, None, Content::stored(data)?)?;
        self.by_name.push(name, self.nodes.len());
        self.nodes.push(Node::Own(Arc::new(own)));
        Ok(self.nodes.len() - 1)
    }

    /// Adds a file after the others; if a file has a name that is the same to engines, gives that one new bytes.
    /// Returns the file's index.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] if several names are the same to engines and none is spelled like this, besides those of
    /// all edits.
    ///
    /// ```
    /// use bspkit::content::pak::Pak;
    /// let mut pak = Pak::new(b"");
    /// pak.add("a.txt", "one")?;
    /// pak.add("A.TXT", "two")?;
    /// assert_eq!((pak.len(), pak.get(0).unwrap().name()), (1, &b"a.txt"[..]));
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn add(&mut self, name: impl AsRef<[u8]>, data: impl Into<Data<'a>>) -> Result<usize> {
        let name = name.as_ref();
        if self.find(name).is_empty() {
            return self.put(name, data.into());
        }
        let index = self.one(name)?;
        self.replace(index, data).map(|()| index)
    }

    /// Gives a file new bytes; its name and its position stay. A file that was compressed is compressed again if that
    /// makes it smaller. Setting the bytes that it has is not an edit.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there are fewer files.
    ///
    /// ```
    /// use bspkit::content::pak::Pak;
    /// let mut pak = Pak::new(b"");
    /// pak.add("a.txt", "one")?;
    /// pak.replace(0, "two")?;
    /// assert_eq!(&*pak.get(0).unwrap().data()?, b"two");
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn replace(&mut self, index: usize, data: impl Into<Data<'a>>) -> Result<()> {
        let data = data.into();
        self.check_editable()?;
        let entry = self.entry(index)?;
        if entry.data().is_ok_and(|old| *old == *data) {
            return Ok(());
        }
        let origin = self.origin(index);
        if let Some(node) = self.as_read(index, &data) {
            self.nodes[index] = node;
            return Ok(());
        }
        let mut content = Content::stored(data)?;
        if entry.method() == Method::Lzma && !method::is_read_in_pieces(entry.name()) {
            let packed = method::pack(&content.stored)?;
            if packed.len() < content.stored.len() {
                content = Content { method: LZMA, stored: Data::from(packed), ..content };
            }
        }
        let own = Own::new(entry.name(), origin, content)?;
        self.nodes[index] = Node::Own(Arc::new(own));
        Ok(())
    }

    /// Removes files.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there are fewer files.
    pub fn remove(&mut self, indices: &[usize]) -> Result<()> {
        self.check_editable()?;
        let mut goes = vec![false; self.len()];
        for index in indices {
            self.entry(*index)?;
            goes[*index] = true;
        }
        // The last file leaves all others their indices.
        match (indices, self.len().checked_sub(1)) {
            ([], _) => {}
            ([one], Some(last)) if *one == last => {
                let name = self.name(last).to_vec();
                self.by_name.remove_last(&name);
            }
            _ => self.by_name.clear(),
        }
        let mut goes = goes.into_iter();
        self.nodes.retain(|_| !goes.next().unwrap_or(false));
        Ok(())
    }

    /// Gives a file another name; all other fields of its records stay.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there are fewer files; [`ErrorKind::Refused`] if another file has a name that is the
    /// same to engines, and if the file's own header contradicts the directory.
    ///
    /// ```
    /// use bspkit::content::pak::Pak;
    /// let mut pak = Pak::new(b"");
    /// pak.add("a.txt", "one")?;
    /// pak.rename(0, "A.txt")?;
    /// assert_eq!(pak.get(0).unwrap().name(), b"A.txt");
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn rename(&mut self, index: usize, name: impl AsRef<[u8]>) -> Result<()> {
        self.rename_all(&[(index, name.as_ref().to_vec())])
    }

    /// The one file of a name: the one with this spelling, else the one whose name is the same to engines.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is none; [`ErrorKind::Refused`] if there are several.
    pub fn one(&self, name: impl AsRef<[u8]>) -> Result<usize> {
        let name = name.as_ref();
        let found = self.find(name);
        let spelled_so = |index: &&usize| self.name(**index) == name;
        match (&found[..], found.iter().take_while(spelled_so).count()) {
            ([], _) => {
                let message = format!("the pakfile has no file `{}`", escaped(name));
                let names = (0..self.len()).map(|index| self.name(index));
                Err(near::or_none(Error::new(ErrorKind::NotFound, message), name, names))
            }
            ([one], _) | ([one, ..], 1) => Ok(*one),
            (several, _) => {
                let list = several.iter().map(|index| format!("#{index} {}", escaped(self.name(*index))));
                let message = format!("several files are called `{}`; to engines they are one", escaped(name));
                let hint = format!("they are {}", list.collect::<Vec<_>>().join(", "));
                Err(Error::new(ErrorKind::Refused, message).with_hint(hint))
            }
        }
    }

    pub(super) fn entry(&self, index: usize) -> Result<Entry<'_, 'a>> {
        let missing = || format!("no file {index}: the pakfile has {}", self.len());
        self.get(index).ok_or_else(|| Error::new(ErrorKind::NotFound, missing()))
    }

    pub(super) fn check_editable(&self) -> Result<()> {
        if !self.is_console() {
            return Ok(());
        }
        let what = escaped(self.comment().trim_ascii_end().split(|byte| *byte == 0).next().unwrap_or_default());
        let message = format!("the pakfile is a console's ({what}): its files can be read but not edited");
        Err(Error::new(ErrorKind::Refused, message))
    }

    /// The file of the source that this one replaces.
    pub(super) fn origin(&self, index: usize) -> Option<u32> {
        match &self.nodes[index] {
            Node::Source(at) => Some(*at),
            Node::Own(own) => own.origin,
        }
    }

    /// The node of an edited file; that of the source if the edit changes nothing.
    pub(super) fn settled(&self, own: Own<'a>) -> Node<'a> {
        match own.origin.filter(|_| own.is_as_in(&self.source)) {
            Some(at) => Node::Source(at),
            None => Node::Own(Arc::new(own)),
        }
    }

    /// The file as it was read, if these are its original bytes.
    fn as_read(&self, index: usize, data: &Data<'a>) -> Option<Node<'a>> {
        let node = Node::Source(self.origin(index)?);
        let before = Pak {
            source: Arc::clone(&self.source),
            nodes: vec![node.clone()],
            by_name: super::ByName::default(),
            is_sorted: false,
        };
        let is_same = before.name(0) == self.name(index) && before.view(0).data().is_ok_and(|old| *old == **data);
        is_same.then_some(node)
    }
}
