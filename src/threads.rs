//! Work on many things at once: lumps to compress, files to write.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The results of work on every item, in the order of the items, by so many threads at most. They take the items from
/// the front: put the largest first, so that no thread is left with one at the end.
///
/// # Panics
/// Where the work panics.
///
/// ```
/// let squares = bspkit::threads::in_parallel(2, &[1, 2, 3], |number| number * number);
/// assert_eq!(squares, [1, 4, 9]);
/// ```
pub fn in_parallel<T: Sync, R: Send>(threads: usize, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = threads.min(items.len());
    if threads <= 1 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let take = || {
        let index = next.fetch_add(1, Ordering::Relaxed);
        Some((index, work(items.get(index)?)))
    };
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let workers: Vec<_> =
            (0..threads).map(|_| scope.spawn(|| std::iter::from_fn(take).collect::<Vec<_>>())).collect();
        let results = workers.into_iter().map(|worker| match worker.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        results.flatten().collect()
    });
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..1000).collect();
        for threads in [0, 1, 2, 7, 2000] {
            let done = in_parallel(threads, &items, |item| {
                if item % 3 == 0 {
                    std::thread::yield_now();
                }
                item * 2
            });
            assert!(done.iter().copied().eq(items.iter().map(|item| item * 2)), "{threads} threads");
        }
        assert!(in_parallel(4, &[], |item: &u8| *item).is_empty());
    }
}
