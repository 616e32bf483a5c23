//! The order of entities as a linked list: an entity is moved without a look at all others.

/// Where the labels end.
const END: u64 = 1 << 62;
/// The distance of labels at first.
const STEP: u64 = 1 << 40;

/// Entities by numbers that stay theirs wherever they go. Each has a label, and labels ascend in the order of the
/// list, so that two entities are compared without a walk. Where there is no label between two, those around are
/// spread over a larger range: M. Bender et al., "Two Simplified Algorithms for Maintaining Order in a List".
pub(super) struct Order {
    /// Number n is row n + 1; row 0 is before the first entity and after the last one.
    rows: Vec<Row>,
}

#[derive(Clone, Copy, Default)]
struct Row {
    before: usize,
    after: usize,
    label: u64,
}

impl Order {
    /// Numbers from 0 up, in this order.
    pub(super) fn new(len: usize) -> Self {
        let mut order = Order { rows: vec![Row::default()] };
        for _ in 0..len {
            order.push();
        }
        order
    }

    /// Puts the next number last and returns it.
    pub(super) fn push(&mut self) -> usize {
        let number = self.rows.len() - 1;
        self.rows.push(Row::default());
        self.put(number, self.last());
        number
    }

    pub(super) fn first(&self) -> Option<usize> {
        self.rows[0].after.checked_sub(1)
    }

    pub(super) fn last(&self) -> Option<usize> {
        self.rows[0].before.checked_sub(1)
    }

    pub(super) fn before(&self, number: usize) -> Option<usize> {
        self.rows[number + 1].before.checked_sub(1)
    }

    pub(super) fn after(&self, number: usize) -> Option<usize> {
        self.rows[number + 1].after.checked_sub(1)
    }

    /// A number that is larger the later the entity is.
    pub(super) fn label(&self, number: usize) -> u64 {
        self.rows[number + 1].label
    }

    /// From first to last.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        std::iter::successors(self.first(), |number| self.after(*number))
    }

    /// Takes an entity out of the list.
    pub(super) fn take(&mut self, number: usize) {
        let Row { before, after, .. } = self.rows[number + 1];
        self.rows[before].after = after;
        self.rows[after].before = before;
    }

    /// Puts an entity that is not in the list after another one, or first.
    pub(super) fn put(&mut self, number: usize, after: Option<usize>) {
        let before = after.map_or(0, |after| after + 1);
        if self.room(before) < 2 {
            self.spread(before);
        }
        let label = self.rows[before].label + (self.room(before) / 2).min(STEP);
        let after = self.rows[before].after;
        self.rows[number + 1] = Row { before, after, label };
        self.rows[before].after = number + 1;
        self.rows[after].before = number + 1;
    }

    /// The distance to the next label.
    fn room(&self, row: usize) -> u64 {
        let next = self.rows[row].after;
        (if next == 0 { END } else { self.rows[next].label }) - self.rows[row].label
    }

    /// Makes room after a row: gives the rows around it labels with even distances, in the smallest range of labels
    /// that is sparse enough for its size.
    fn spread(&mut self, row: usize) {
        let label = self.rows[row].label;
        let (mut first, mut last) = (row, row);
        let (mut count, mut most): (u64, u64) = (1, 1);
        for bits in 2..=END.ilog2() {
            most += most / 3 + 1;
            let start = label >> bits << bits;
            let end = start + (1 << bits);
            while first != 0 && self.rows[self.rows[first].before].label >= start {
                first = self.rows[first].before;
                count += 1;
            }
            while self.rows[last].after != 0 && self.rows[self.rows[last].after].label < end {
                last = self.rows[last].after;
                count += 1;
            }
            let step = (end - start) / (count + 1);
            if count > most || step < 2 {
                continue;
            }
            let (mut at, mut label) = (first, start);
            loop {
                self.rows[at].label = label;
                if at == last {
                    return;
                }
                (at, label) = (self.rows[at].after, label + step);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Order;

    /// Against a plain list; most entities go to a few places, so that labels run out there.
    #[test]
    fn an_order_is_that_of_a_plain_list() {
        let (mut order, mut list): (_, Vec<usize>) = (Order::new(50), (0..50).collect());
        let mut random = 7_u64;
        for turn in 0..20_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if turn % 40 == 0 {
                list.push(order.push());
            }
            let below = |count: usize, bits: u32| usize::try_from(random >> bits).unwrap_or(0) % count;
            let number = if turn % 40 == 0 { list.len() - 1 } else { below(list.len(), 33) };
            order.take(number);
            list.retain(|other| *other != number);
            let at = [0, 1, list.len() / 2, below(list.len() + 1, 40)][turn / 64 % 4];
            order.put(number, at.checked_sub(1).map(|at| list[at]));
            list.insert(at, number);
            if turn % 50 == 0 {
                assert!(order.iter().eq(list.iter().copied()));
            }
            assert!(order.before(number) == at.checked_sub(1).map(|at| list[at]));
            assert!(order.after(number) == list.get(at + 1).copied());
            let labels: Vec<u64> = list.iter().map(|number| order.label(*number)).collect();
            assert!(turn % 10 > 0 || labels.is_sorted_by(|one, other| one < other));
        }
        assert_eq!((order.first(), order.last()), (list.first().copied(), list.last().copied()));
    }
}
