//! The order of files: in the directory, and of their data before it.

use std::collections::HashMap;

use super::{Entry, Pak};
use crate::content::pak;
use crate::{Error, ErrorKind, Result};

/// An order of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// By name, as engines compare names.
    Name,
    /// By extension, then by name. A game that reads all files of a type reads the fewest parts of the map.
    Type,
    /// The smallest first, then by name.
    Size,
}

impl Order {
    fn compare(self, one: &Entry<'_, '_>, other: &Entry<'_, '_>) -> std::cmp::Ordering {
        let by_name = || pak::lookup_name(one.name()).cmp(&pak::lookup_name(other.name()));
        match self {
            Order::Name => by_name(),
            Order::Type => extension(one.name()).cmp(&extension(other.name())).then_with(by_name),
            Order::Size => one.size().cmp(&other.size()).then_with(by_name),
        }
    }
}

/// What follows the last dot of the last part of a name, as engines compare it.
fn extension(name: &[u8]) -> Vec<u8> {
    let name = pak::lookup_name(name);
    let last = name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    last.iter().rposition(|byte| *byte == b'.').map_or_else(Vec::new, |dot| last[dot + 1..].to_vec())
}

impl Pak<'_> {
    /// Puts the files in another order, both in the directory and before it. Each keeps all of its bytes; bytes before
    /// a file that belong to no file go with it. Files whose names are the same to engines keep their order.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] for a console's pakfile.
    ///
    /// ```
    /// use bspkit::content::pak::{Order, Pak};
    /// let mut pak = Pak::new(b"");
    /// pak.add("b.vtf", "1")?;
    /// pak.add("c.vmt", "22")?;
    /// pak.add("a.vtf", "333")?;
    /// let names = |pak: &Pak<'_>| pak.iter().map(|entry| entry.name()[0]).collect::<Vec<_>>();
    /// pak.sort(Order::Type)?;
    /// assert_eq!(names(&pak), b"cab");
    /// pak.sort(Order::Size)?;
    /// assert_eq!(names(&pak), b"bca");
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn sort(&mut self, order: Order) -> Result<()> {
        self.check_editable()?;
        let mut sorted: Vec<usize> = (0..self.len()).collect();
        sorted.sort_by(|one, other| order.compare(&self.view(*one), &self.view(*other)));
        self.arrange(&sorted)
    }

    /// Puts the files in this order of their indices, as [`Pak::sort`] does.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] for a console's pakfile, and if the order does not have each file once.
    ///
    /// ```
    /// use bspkit::content::pak::Pak;
    /// let mut pak = Pak::new(b"");
    /// pak.add("a.vmt", "1")?;
    /// pak.add("b.vmt", "2")?;
    /// pak.arrange(&[1, 0])?;
    /// assert_eq!(pak.get(0).unwrap().name(), b"b.vmt");
    /// assert!(pak.arrange(&[0, 0]).is_err());
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn arrange(&mut self, order: &[usize]) -> Result<()> {
        self.check_editable()?;
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..self.len()) {
            return Err(Error::new(ErrorKind::Refused, "an order of files has each of them once"));
        }
        let mut sorted = order.to_vec();
        self.keep_order_of_equals(&mut sorted);
        self.by_name.clear();
        self.nodes = sorted.into_iter().map(|index| self.nodes[index].clone()).collect();
        // A file at a smaller offset than the one before it has to move.
        let is_in_place = self.source.entries.iter().map(|entry| entry.header.local_offset).is_sorted();
        self.is_sorted = false;
        self.is_sorted = !is_in_place || self.is_edited();
        Ok(())
    }

    /// Puts files whose names are the same to engines in their old order, so that engines still read the same one.
    fn keep_order_of_equals(&self, sorted: &mut [usize]) {
        let mut places: HashMap<Vec<u8>, Vec<usize>> = HashMap::with_capacity(sorted.len());
        for (place, index) in sorted.iter().enumerate() {
            places.entry(pak::lookup_name(self.name(*index))).or_default().push(place);
        }
        for places in places.into_values().filter(|places| places.len() > 1) {
            let mut members: Vec<usize> = places.iter().map(|place| sorted[*place]).collect();
            members.sort_unstable();
            places.into_iter().zip(members).for_each(|(place, index)| sorted[place] = index);
        }
    }
}
