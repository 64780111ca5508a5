//! A limit on concurrent work that needs much memory.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A counting semaphore. A caller waits while all slots are taken.
#[derive(Debug)]
pub struct Slots {
    free: Mutex<usize>,
    freed: Condvar,
}

impl Slots {
    /// This many.
    pub const fn new(count: usize) -> Self {
        Self { free: Mutex::new(count), freed: Condvar::new() }
    }

    /// Waits for a free slot. A caller that holds a slot must not take a second slot.
    pub fn take(&self) -> Slot<'_> {
        let none_left = |free: &mut usize| *free == 0;
        let mut free = self.freed.wait_while(self.free(), none_left).unwrap_or_else(PoisonError::into_inner);
        *free -= 1;
        Slot(self)
    }

    fn free(&self) -> MutexGuard<'_, usize> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place that is taken, until dropped.
#[derive(Debug)]
pub struct Slot<'a>(&'a Slots);

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        *self.0.free() += 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn no_more_work_than_there_are_places() {
        let (slots, working, done) = (Slots::new(2), AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    let _slot = slots.take();
                    assert!(working.fetch_add(1, Ordering::SeqCst) < 2);
                    thread::yield_now();
                    working.fetch_sub(1, Ordering::SeqCst);
                    done.fetch_add(1, Ordering::SeqCst);
                });
            }
        });
        assert_eq!(done.into_inner(), 16);
    }

    #[test]
    fn a_panic_releases_its_slot() {
        let slots = Slots::new(1);
        let broke = catch_unwind(AssertUnwindSafe(|| {
            let _slot = slots.take();
            panic!("the work broke");
        }));
        assert!(broke.is_err());
        drop(slots.take());
    }
}
