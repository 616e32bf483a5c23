//! Work on many items in parallel: lumps to compress, files to write.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The memory in bytes that parallel decompression takes in total: 64 MiB.
pub const WORKING_MEMORY: usize = 64 << 20;

/// The memory in bytes that parallel compression takes in total: 512 MiB. Compression needs more memory than
/// decompression of the same bytes, and takes most of the time of a command.
pub const COMPRESSION_MEMORY: usize = 512 << 20;

/// How many threads can run at the same time; 1 where the system does not say it.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Does the work on every item and returns the results in the order of the items. It uses at most this many threads,
/// and the caller's thread is one of them. Threads take items from the front: put the largest items first, so that all
/// threads end at about the same time.
///
/// # Panics
/// If the work panics.
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
        let work = || std::iter::from_fn(take).collect::<Vec<_>>();
        // If the system refuses a thread, fewer threads do the work.
        let others: Vec<_> =
            (1..threads).map_while(|_| std::thread::Builder::new().spawn_scoped(scope, work).ok()).collect();
        let own = work();
        let results = others.into_iter().map(|worker| match worker.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        results.flatten().chain(own).collect()
    });
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

/// As [`in_parallel`], for work that takes much memory: `cost` gives the bytes for an item. Items that run at the same
/// time take at most `memory` bytes in total ([`WORKING_MEMORY`], [`COMPRESSION_MEMORY`]), whatever the number of
/// threads. An item that takes more than that runs alone.
///
/// # Panics
/// If the work panics.
///
/// ```
/// use bspkit::threads::{WORKING_MEMORY, in_parallel_within};
/// let sizes = [1 << 20, 2 << 20, 3 << 20];
/// let lengths = in_parallel_within(2, WORKING_MEMORY, &sizes, |size| *size, |size| vec![0; *size].len());
/// assert_eq!(lengths, sizes);
/// ```
pub fn in_parallel_within<T: Sync, R: Send>(
    threads: usize,
    memory: usize,
    items: &[T],
    cost: impl Fn(&T) -> usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    // Items that take more than one thread's share run first, on fewer threads: allocators keep freed memory per
    // thread.
    let share = memory / threads.max(1);
    let (large, small): (Vec<_>, Vec<_>) = items.iter().enumerate().partition(|(_, item)| cost(item) > share);
    let largest = large.iter().map(|(_, item)| cost(item)).max().unwrap_or(share);
    let few = (memory / largest.max(1)).clamp(1, threads.max(1));
    let work = |(index, item): &(usize, &T)| (*index, work(item));
    let mut done = in_parallel(few, &large, work);
    done.extend(in_parallel(threads, &small, work));
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The most memory that items take at once, where `cost` says that they take that much.
    fn most_at_once(cost: fn(&usize) -> usize) -> usize {
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let costs = [30 << 20, 100 << 20, 30 << 20, 0, 60 << 20, usize::MAX, 1].repeat(20);
        let work = |cost: &usize| {
            let bytes = (*cost).min(WORKING_MEMORY);
            most.fetch_max(now.fetch_add(bytes, Ordering::SeqCst) + bytes, Ordering::SeqCst);
            std::thread::sleep(std::time::Duration::from_millis(1));
            now.fetch_sub(bytes, Ordering::SeqCst);
            *cost
        };
        assert_eq!(in_parallel_within(8, WORKING_MEMORY, &costs, cost, work), costs);
        most.into_inner()
    }

    #[test]
    fn what_runs_at_once_takes_a_bounded_amount() {
        assert!(most_at_once(|cost| *cost) <= WORKING_MEMORY);
        // If the memory of items is not given, more is assumed.
        assert!(most_at_once(|_| 0) > WORKING_MEMORY);
    }

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
