//! The threads that a delegate may use.

/// Threads that share the work of a call. Results must not depend on the number of threads: tasks write to disjoint
/// memory, and no task adds to another task's output.
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
