//! A small pool of threads. A call that follows another finds the threads awake, and costs microseconds.
#![allow(unsafe_code)] // Threads borrow the task of a caller that waits for them, which safe Rust cannot say.

use std::cell::UnsafeCell;
use std::hint::spin_loop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle, yield_now};

use et_runtime::Workers;

use crate::threads::MOST_THREADS;

/// How often a thread polls for the next call before sleeping: about 0.1 ms. WebAssembly has no instruction to pause with.
const SPINS: u32 = if cfg!(target_family = "wasm") { 50_000 } else { 2_000 };

/// Threads that share the tasks of successive calls.
pub struct Pool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    /// Held by the caller whose tasks the threads run.
    turn: Mutex<()>,
}

/// The state that the threads share.
struct Shared {
    /// The number of the call, whether threads may still join the call, and how many threads have joined and not left: see [`State`].
    state: AtomicU64,
    /// The call. Written while no thread has joined, read by threads that have joined.
    job: UnsafeCell<Job>,
    /// The next task that nobody runs.
    next: AtomicUsize,
    panicked: AtomicBool,
    stopping: AtomicBool,
    /// How many threads sleep, or are about to.
    sleepers: AtomicUsize,
    lock: Mutex<()>,
    wake: Condvar,
}

/// The tasks of a call.
#[derive(Clone, Copy)]
struct Job {
    task: *const (dyn Fn(usize) + Sync),
    tasks: usize,
}

// SAFETY: everything but `job` is made for threads. `job` is written by the caller that holds `turn` while the state says
// that no thread has joined and no thread may join, and read between a thread's joining and leaving. The task is `Sync`.
unsafe impl Sync for Shared {}
// SAFETY: as above; the pointer in `job` is followed only during the call of the job.
unsafe impl Send for Shared {}

/// The state of a pool as one number, so that a thread joins a call only while the call is open.
#[derive(Clone, Copy)]
struct State(u64);

impl State {
    const OPEN: u64 = 1 << 31;

    /// The number of the call.
    const fn call(self) -> u64 {
        self.0 >> 32
    }

    const fn is_open(self) -> bool {
        self.0 & Self::OPEN != 0
    }

    /// The threads that have joined and are not done.
    const fn joined(self) -> u64 {
        self.0 & (Self::OPEN - 1)
    }

    /// The next call, open.
    const fn opened(self) -> Self {
        Self((self.call() + 1) << 32 | Self::OPEN)
    }
}

impl Pool {
    /// A pool of `threads` threads, of which the caller is one. The pool has fewer where the system
    /// gives fewer, and at most 256.
    pub fn new(threads: usize) -> Self {
        let shared = Arc::new(Shared::new());
        let spawn = |index| {
            let shared = shared.clone();
            Builder::new().name(format!("worker {index}")).spawn(move || shared.serve()).ok()
        };
        let threads = (1..threads.min(MOST_THREADS)).map_while(spawn).collect();
        Self { shared, threads, turn: Mutex::new(()) }
    }
}

impl Workers for Pool {
    fn threads(&self) -> usize {
        self.threads.len() + 1
    }

    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        if tasks <= 1 || self.threads.is_empty() {
            return (0..tasks).for_each(task);
        }
        let _turn = guard(&self.turn);
        let call = self.shared.open(tasks, task);
        task(0);
        call.shared.take_tasks(tasks, task);
        drop(call);
        assert!(!self.shared.panicked.load(Ordering::Relaxed), "a task panicked on another thread");
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        self.shared.wake_all();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// A call that threads may join. Dropping the call waits until every joined thread has left.
struct Call<'a> {
    shared: &'a Shared,
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.shared.state.fetch_and(!State::OPEN, Ordering::Relaxed);
        let mut spins = 0;
        while State(self.shared.state.load(Ordering::Acquire)).joined() > 0 {
            if spins < SPINS {
                spins += 1;
                spin_loop();
            } else {
                yield_now();
            }
        }
    }
}

impl Shared {
    fn new() -> Self {
        fn nothing(_: usize) {}
        let nothing: &'static (dyn Fn(usize) + Sync) = &nothing;
        Self {
            state: AtomicU64::new(0),
            job: UnsafeCell::new(Job { task: nothing, tasks: 0 }),
            next: AtomicUsize::new(0),
            panicked: AtomicBool::new(false),
            stopping: AtomicBool::new(false),
            sleepers: AtomicUsize::new(0),
            lock: Mutex::new(()),
            wake: Condvar::new(),
        }
    }

    /// Lets threads join a call. The caller holds the turn.
    fn open<'a>(&'a self, tasks: usize, task: &'a (dyn Fn(usize) + Sync)) -> Call<'a> {
        // SAFETY: only the lifetime changes. The task is called by threads that have joined, and `Call` waits for these threads
        // before the borrow ends.
        let task = unsafe {
            std::mem::transmute::<*const (dyn Fn(usize) + Sync + '_), *const (dyn Fn(usize) + Sync + 'static)>(task)
        };
        // SAFETY: the last call is over, so that no thread reads, and the caller holds the turn, so that no other thread writes.
        unsafe { *self.job.get() = Job { task, tasks } };
        // The caller runs the first task itself.
        self.next.store(1, Ordering::Relaxed);
        self.panicked.store(false, Ordering::Relaxed);
        let state = State(self.state.load(Ordering::Relaxed)).opened();
        self.state.store(state.0, Ordering::SeqCst);
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            self.wake_all();
        }
        Call { shared: self }
    }

    /// Runs the remaining tasks. A thread that only looks leaves the counter in the cache of the thread that changed the counter last.
    fn take_tasks(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        while self.next.load(Ordering::Relaxed) < tasks {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            if index < tasks {
                task(index);
            }
        }
    }

    /// The life of a thread.
    fn serve(&self) {
        let mut seen = 0;
        while let Some(state) = self.wait(seen) {
            seen = state.call();
            let joined = state.0 + 1;
            if self.state.compare_exchange(state.0, joined, Ordering::Acquire, Ordering::Relaxed).is_err() {
                seen -= 1; // Another joined or the call was closed meanwhile: look again.
                continue;
            }
            // SAFETY: the call is joined, so that no thread writes to the job, and the task outlives the joining.
            let (task, tasks) = unsafe {
                let job = *self.job.get();
                (&*job.task, job.tasks)
            };
            if catch_unwind(AssertUnwindSafe(|| self.take_tasks(tasks, task))).is_err() {
                self.panicked.store(true, Ordering::Relaxed);
            }
            self.state.fetch_sub(1, Ordering::Release);
        }
    }

    /// Waits for a call after number `seen` that is open; `None` where the pool stops.
    fn wait(&self, seen: u64) -> Option<State> {
        for _ in 0..SPINS {
            if let Some(found) = self.look(seen) {
                return found;
            }
            spin_loop();
        }
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        let mut lock = guard(&self.lock);
        let found = loop {
            if let Some(found) = self.look(seen) {
                break found;
            }
            lock = self.wake.wait(lock).unwrap_or_else(PoisonError::into_inner);
        };
        drop(lock);
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
        found
    }

    /// The next call to join, or the end of the pool; `None` while neither has come.
    fn look(&self, seen: u64) -> Option<Option<State>> {
        let state = State(self.state.load(Ordering::SeqCst));
        if state.is_open() && state.call() > seen {
            return Some(Some(state));
        }
        self.stopping.load(Ordering::SeqCst).then_some(None)
    }

    /// Wakes the sleeping threads. A thread about to sleep holds the lock from the last look on.
    fn wake_all(&self) {
        let _lock = guard(&self.lock);
        self.wake.notify_all();
    }
}

fn guard(mutex: &Mutex<()>) -> MutexGuard<'_, ()> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often each of `tasks` tasks ran.
    fn runs(pool: &Pool, tasks: usize) -> Vec<usize> {
        let counts: Vec<AtomicUsize> = (0..tasks).map(|_| AtomicUsize::new(0)).collect();
        pool.run(tasks, &|index| {
            counts[index].fetch_add(1, Ordering::Relaxed);
        });
        counts.into_iter().map(AtomicUsize::into_inner).collect()
    }

    #[test]
    fn every_task_runs_once_in_every_call() {
        let pool = Pool::new(4);
        assert_eq!(pool.threads(), 4);
        for tasks in (0..2_000).map(|call| call % 17) {
            assert_eq!(runs(&pool, tasks), vec![1; tasks]);
        }
    }

    #[test]
    fn threads_that_slept_wake_up() {
        let pool = Pool::new(3);
        while pool.shared.sleepers.load(Ordering::SeqCst) < 2 {
            yield_now();
        }
        // Each task waits for the other tasks, so that three threads must come.
        let met = AtomicUsize::new(0);
        pool.run(3, &|_| {
            met.fetch_add(1, Ordering::SeqCst);
            while met.load(Ordering::SeqCst) < 3 {
                yield_now();
            }
        });
        assert_eq!(met.into_inner(), 3);
    }

    #[test]
    fn callers_take_turns() {
        let pool = Pool::new(2);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| (0..200).for_each(|_| assert_eq!(runs(&pool, 5), vec![1; 5])));
            }
        });
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_pool_lives_on() {
        let pool = Pool::new(2);
        for failing in 0..8 {
            let failed = catch_unwind(AssertUnwindSafe(|| {
                pool.run(8, &|index| assert_ne!(index, failing));
            }));
            assert!(failed.is_err());
            assert_eq!(runs(&pool, 3), vec![1; 3]);
        }
    }
}
