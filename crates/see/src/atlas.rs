//! Rectangles on pages: rows of rectangles, the highest first.

/// The most columns and rows of a page. Every graphics card takes it.
pub(crate) const SIDE: usize = 4096;

/// The most luxels of all pages together.
pub(crate) const MOST_LUXELS: usize = 1 << 26;

/// Where a rectangle is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) page: usize,
    /// Column and row of its first luxel.
    pub(crate) at: [usize; 2],
    /// Columns and rows.
    pub(crate) size: [usize; 2],
}

/// Puts rectangles on pages, and returns the place of each and the columns and rows of each page. A rectangle has no
/// place if it is larger than a page, or if the pages are full. Two luxels of their own are on each page, for surfaces
/// without light and for those that are always bright.
pub(crate) fn pack(sizes: &[[usize; 2]]) -> (Vec<Option<Place>>, Vec<Page>) {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|index| (std::cmp::Reverse([sizes[*index][1], sizes[*index][0]]), *index));
    let fits = |size: &[usize; 2]| size.iter().all(|side| (1..=SIDE).contains(side));
    let area: usize = sizes.iter().filter(|size| fits(size)).map(|[wide, high]| wide * high).sum();
    let widest = sizes.iter().filter(|size| fits(size)).map(|size| size[0]).max().unwrap_or(1);
    // A little more than a square, since rows are not full.
    let width = (area + area / 8).isqrt().max(widest).max(16).next_power_of_two().min(SIDE);
    let (mut places, mut pages, mut used) = (vec![None; sizes.len()], Vec::new(), 0);
    let mut page = Shelves::new(width);
    for index in order.into_iter().filter(|index| fits(&sizes[*index])) {
        let size = sizes[index];
        used += size[0] * size[1];
        if used > MOST_LUXELS {
            break;
        }
        if !page.has_room(size) {
            pages.push(page.page());
            page = Shelves::new(width);
        }
        places[index] = Some(Place { page: pages.len(), at: page.put(size), size });
    }
    pages.push(page.page());
    (places, pages)
}

/// A page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// Columns and rows.
    pub(crate) size: [usize; 2],
}

/// The luxel of a page that is black, and the one that shows textures as they are.
pub(crate) const BLACK: [usize; 2] = [0, 0];
pub(crate) const PLAIN: [usize; 2] = [2, 0];

struct Shelves {
    width: usize,
    at: [usize; 2],
    row: usize,
}

impl Shelves {
    /// A page whose first row has the two luxels, with a luxel beside each so that neighbors do not mix.
    fn new(width: usize) -> Self {
        Shelves { width, at: [4, 0], row: 1 }
    }

    fn place(&self, [wide, _]: [usize; 2]) -> [usize; 2] {
        if self.at[0] + wide > self.width { [0, self.at[1] + self.row] } else { self.at }
    }

    fn has_room(&self, size: [usize; 2]) -> bool {
        self.place(size)[1] + size[1] <= SIDE
    }

    fn put(&mut self, size: [usize; 2]) -> [usize; 2] {
        let place = self.place(size);
        let row = if place == self.at { self.row } else { 0 };
        self.row = row.max(size[1]);
        self.at = [place[0] + size[0], place[1]];
        place
    }

    fn page(&self) -> Page {
        Page { size: [self.width, self.at[1] + self.row] }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn overlap(one: &Place, other: &Place) -> bool {
        let apart = |axis: usize| {
            one.at[axis] + one.size[axis] <= other.at[axis] || other.at[axis] + other.size[axis] <= one.at[axis]
        };
        one.page == other.page && !apart(0) && !apart(1)
    }

    proptest! {
        #[test]
        fn no_two_rectangles_share_a_luxel(sizes in prop::collection::vec((1_usize..60, 1_usize..60), 0..80)) {
            let sizes: Vec<[usize; 2]> = sizes.into_iter().map(|(wide, high)| [wide, high]).collect();
            let (places, pages) = pack(&sizes);
            let own = [BLACK, PLAIN].map(|at| Place { page: 0, at, size: [1, 1] });
            let all: Vec<Place> = places.into_iter().map(Option::unwrap).chain(own).collect();
            for (index, place) in all.iter().enumerate() {
                let size = pages[place.page].size;
                prop_assert!((0..2).all(|axis| place.at[axis] + place.size[axis] <= size[axis]));
                prop_assert!(all[index + 1..].iter().all(|other| !overlap(place, other)));
            }
        }
    }

    #[test]
    fn what_is_larger_than_a_page_has_no_place() {
        let (places, pages) = pack(&[[SIDE + 1, 1], [SIDE, SIDE - 1], [SIDE, 2], [0, 4]]);
        assert_eq!(places.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true, true, false]);
        assert_eq!(pages.len(), 2);
    }
}
