//! A value that threads of Python use in turn.
#![allow(unsafe_code)] // Carries values with reference counters and cells between threads, one thread at a time.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;

/// A value that may move between threads as a whole.
///
/// # Safety
/// The value owns every holder of the counters (`Rc`), cells and pointers inside, gives no holder out, and keeps no data of a thread.
pub unsafe trait Whole {}

/// A value behind a lock. A thread that waits for the lock lets other threads of Python run.
pub struct Exclusive<T> {
    value: Mutex<T>,
    /// The thread that holds the lock, as a number; 0 while nobody does.
    holder: AtomicUsize,
}

// SAFETY: the value is reached through the lock only, so that a single thread uses the value at a time, and the lock orders the accesses;
// `Whole` rules out references to parts of the value from outside.
unsafe impl<T: Whole> Send for Exclusive<T> {}
// SAFETY: as above.
unsafe impl<T: Whole> Sync for Exclusive<T> {}

/// The value while this thread holds the lock.
pub struct Held<'a, T> {
    holder: &'a AtomicUsize,
    guard: MutexGuard<'a, T>,
}

impl<T: Whole> Exclusive<T> {
    pub const fn new(value: T) -> Self {
        Self { value: Mutex::new(value), holder: AtomicUsize::new(0) }
    }

    /// Waits for the lock.
    ///
    /// # Errors
    /// `RuntimeError` where this thread holds the lock: the caller is a signal handler, a finalizer or an input of a running method.
    pub fn lock(&self, py: Python<'_>) -> PyResult<Held<'_, T>> {
        let this = this_thread();
        if self.holder.load(Ordering::Relaxed) == this {
            return Err(PyRuntimeError::new_err(
                "the program is running in this thread: it must not be called from within",
            ));
        }
        // A panic leaves no program half changed that a later call could not start over.
        let guard = self.value.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        self.holder.store(this, Ordering::Relaxed);
        Ok(Held { holder: &self.holder, guard })
    }
}

impl<T> Drop for Held<'_, T> {
    fn drop(&mut self) {
        self.holder.store(0, Ordering::Relaxed);
    }
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for Held<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

/// A number of this thread, different for all living threads.
fn this_thread() -> usize {
    thread_local!(static PLACE: u8 = const { 0 });
    PLACE.with(|place| std::ptr::from_ref(place).addr())
}

/// Runs `work` without the interpreter's lock, in this thread.
pub fn without_interpreter<T, R>(py: Python<'_>, value: &mut T, work: impl FnOnce(&mut T) -> R) -> R {
    let carried = Carried((value, work));
    let run = move || {
        let Carried((value, work)) = { carried };
        Carried(work(value))
    };
    py.detach(run).0
}

/// A value that `Python::detach` takes along and gives back.
struct Carried<T>(T);

// SAFETY: `Python::detach` runs the closure in the calling thread, so no value moves between threads. The marker asks for `Send` to keep
// references to Python's objects out, and the callers' closures hold none.
unsafe impl<T> Send for Carried<T> {}
