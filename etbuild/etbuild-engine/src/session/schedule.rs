//! Independent work side by side.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Calls `work` for `0..count` on at most `jobs` threads, and returns the results in order.
///
/// `work` must not unwind: a thread that does takes the whole command with it.
pub fn side_by_side<T: Send, C: Clone + Send>(
    count: usize,
    jobs: usize,
    context: &C,
    work: impl Fn(&C, usize) -> T + Sync,
) -> Vec<T> {
    let results: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(count) {
            let (context, next, results, work) = (context.clone(), &next, &results, &work);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(result) = results.get(index) else { break };
                    let value = work(&context, index);
                    *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
                }
            });
        }
    });
    results.into_iter().filter_map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_whatever_the_number_of_threads() {
        for jobs in [1, 3, 50] {
            assert_eq!(side_by_side(20, jobs, &2, |factor, index| index * factor), Vec::from_iter((0..40).step_by(2)));
        }
    }
}
