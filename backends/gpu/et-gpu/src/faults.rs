//! Injected faults for tests, and another device. A fault happens once, and counts the calls of all delegates of the process.
#![cfg_attr(
    any(target_family = "wasm", target_vendor = "apple"),
    allow(dead_code, reason = "the faults are of Vulkan")
)]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The calls until the fault, plus 1; 0 for no fault.
static SUBMISSIONS: AtomicU64 = AtomicU64::new(0);
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static DISCRETE: AtomicBool = AtomicBool::new(false);
static NO_SUBGROUPS: AtomicBool = AtomicBool::new(false);
static NO_TIMESTAMPS: AtomicBool = AtomicBool::new(false);

/// Loses the device at a submission instead of the execution: 0 is the next submission. The lost device stays lost, and later
/// delegates open another.
pub fn lose_device_at(submission: u64) {
    SUBMISSIONS.store(submission.saturating_add(1), Ordering::SeqCst);
}

/// Lets an allocation of memory fail: 0 is the next allocation.
pub fn fail_allocation_at(allocation: u64) {
    ALLOCATIONS.store(allocation.saturating_add(1), Ordering::SeqCst);
}

/// Whether weights and states are loaded as for a GPU with memory of its own, whatever the device.
pub fn treat_as_discrete(is_discrete: bool) {
    DISCRETE.store(is_discrete, Ordering::SeqCst);
}

/// Whether the device is to be treated as a discrete GPU.
pub(crate) fn is_discrete() -> bool {
    DISCRETE.load(Ordering::SeqCst)
}

/// Whether later sessions find no subgroups, whatever the device has.
pub fn without_subgroups(lacks: bool) {
    NO_SUBGROUPS.store(lacks, Ordering::SeqCst);
}

/// Whether the device is to be treated as one without subgroups.
pub(crate) fn lacks_subgroups() -> bool {
    NO_SUBGROUPS.load(Ordering::SeqCst)
}

/// Whether observed sessions find no timestamps, whatever the queue has.
pub fn without_timestamps(lacks: bool) {
    NO_TIMESTAMPS.store(lacks, Ordering::SeqCst);
}

/// Whether the queue is to be treated as one without timestamps.
pub(crate) fn lacks_timestamps() -> bool {
    NO_TIMESTAMPS.load(Ordering::SeqCst)
}

/// Forgets the faults that have not happened; returns whether there were any.
pub fn clear() -> bool {
    let submissions = SUBMISSIONS.swap(0, Ordering::SeqCst);
    submissions + ALLOCATIONS.swap(0, Ordering::SeqCst) != 0
}

/// Counts a submission, and returns whether the submission loses the device.
pub(crate) fn loses_device() -> bool {
    counts_down(&SUBMISSIONS)
}

/// Counts an allocation, and returns whether the allocation fails.
pub(crate) fn fails_allocation() -> bool {
    counts_down(&ALLOCATIONS)
}

fn counts_down(count: &AtomicU64) -> bool {
    count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |count| count.checked_sub(1)) == Ok(1)
}
