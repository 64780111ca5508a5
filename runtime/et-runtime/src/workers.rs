//! The threads that a delegate may use.

/// Threads that share the work of one call. Who hands in tasks says nothing about how many threads there are, and results
/// must not depend on it: tasks write to disjoint memory, and none adds to what another made.
pub trait Workers: Sync {
    /// How many tasks may run at once; at least 1.
    fn threads(&self) -> usize;

    /// Calls `task` with each number below `tasks` once, in any order and on any of the threads, and returns when all
    /// calls have. A task hands in no tasks itself.
    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync));
}

/// The thread of the caller alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct Serial;

impl Workers for Serial {
    fn threads(&self) -> usize {
        1
    }

    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        (0..tasks).for_each(task);
    }
}
