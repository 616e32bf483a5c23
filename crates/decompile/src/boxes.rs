//! Boxes that are found by their places.

use std::ops::Range;

use crate::geometry::{minus, plus};
use crate::source::Point;

/// A box, by its lowest and highest corner.
pub(crate) type Box3 = [Point; 2];

/// The box of points; one that nothing reaches into if there are none.
pub(crate) fn of_points<'p>(points: impl IntoIterator<Item = &'p Point>) -> Box3 {
    points.into_iter().fold([[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]], |[mins, maxs], point| {
        [
            std::array::from_fn(|axis| mins[axis].min(point[axis])),
            std::array::from_fn(|axis| maxs[axis].max(point[axis])),
        ]
    })
}

/// A box that is larger on all sides.
pub(crate) fn grown([mins, maxs]: Box3, by: f64) -> Box3 {
    [minus(mins, [by; 3]), plus(maxs, [by; 3])]
}

fn reaches([mins, maxs]: &Box3, [low, high]: &Box3) -> bool {
    (0..3).all(|axis| mins[axis] <= high[axis] && maxs[axis] >= low[axis])
}

/// Boxes in a tree.
#[derive(Debug, Default)]
pub(crate) struct Boxes {
    /// The numbers of the boxes, in the order of the tree.
    order: Vec<usize>,
    all: Vec<Box3>,
    nodes: Vec<Node>,
}

#[derive(Debug)]
struct Node {
    whole: Box3,
    inner: Inner,
}

#[derive(Debug)]
enum Inner {
    Boxes(Range<usize>),
    Nodes(usize, usize),
}

/// How many boxes a node has that is not divided.
const FEW: usize = 4;

impl Boxes {
    pub(crate) fn new(all: Vec<Box3>) -> Self {
        let mut order: Vec<usize> = (0..all.len()).collect();
        let mut nodes = Vec::new();
        if !all.is_empty() {
            build(&all, &mut order, 0, &mut nodes);
        }
        Boxes { order, all, nodes }
    }

    /// The box of all of them.
    pub(crate) fn whole(&self) -> Option<Box3> {
        self.nodes.last().map(|node| node.whole)
    }

    /// The numbers of the boxes that reach into another one.
    pub(crate) fn within(&self, other: Box3) -> impl Iterator<Item = usize> {
        let mut open = if self.nodes.is_empty() { Vec::new() } else { vec![self.nodes.len() - 1] };
        let mut ready = 0..0;
        std::iter::from_fn(move || {
            loop {
                if let Some(at) = ready.next() {
                    let number = self.order[at];
                    if reaches(&self.all[number], &other) {
                        return Some(number);
                    }
                    continue;
                }
                let node = &self.nodes[open.pop()?];
                if reaches(&node.whole, &other) {
                    match &node.inner {
                        Inner::Boxes(range) => ready = range.clone(),
                        Inner::Nodes(one, other) => open.extend([*one, *other]),
                    }
                }
            }
        })
    }
}

/// Divides boxes at the middle of their longest side; the last node is the root. `first` is the place of the first one
/// in the order.
fn build(all: &[Box3], order: &mut [usize], first: usize, nodes: &mut Vec<Node>) -> usize {
    let whole = of_points(order.iter().flat_map(|number| &all[*number]));
    let inner = if order.len() <= FEW {
        Inner::Boxes(first..first + order.len())
    } else {
        let long = minus(whole[1], whole[0]);
        let axis = (0..3).fold(0, |best, axis| if long[axis] > long[best] { axis } else { best });
        let center = |number: &usize| all[*number][0][axis] + all[*number][1][axis];
        let middle = order.len() / 2;
        order.select_nth_unstable_by(middle, |one, other| center(one).total_cmp(&center(other)));
        let (one, other) = order.split_at_mut(middle);
        Inner::Nodes(build(all, one, first, nodes), build(all, other, first + middle, nodes))
    };
    nodes.push(Node { whole, inner });
    nodes.len() - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reaches_in_is_found() {
        let all: Vec<Box3> = (0..100).map(|at| [[f64::from(at), 0.0, 0.0], [f64::from(at) + 1.5, 1.0, 1.0]]).collect();
        let boxes = Boxes::new(all);
        let mut found: Vec<usize> = boxes.within([[10.2, 0.5, 0.5], [11.1, 0.6, 0.6]]).collect();
        found.sort_unstable();
        assert_eq!(found, [9, 10, 11]);
        assert_eq!(boxes.whole(), Some([[0.0; 3], [100.5, 1.0, 1.0]]));
        assert_eq!(Boxes::new(Vec::new()).within([[0.0; 3]; 2]).count(), 0);
    }
}
