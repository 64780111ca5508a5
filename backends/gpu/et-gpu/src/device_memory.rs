//! Counts the memory of the device that the delegates of this process allocate.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of device memory by purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceMemory {
    /// Weights.
    pub weights: u64,
    /// Values between dispatches.
    pub scratch: u64,
    /// Inputs and outputs.
    pub arguments: u64,
    /// Copies of states.
    pub states: u64,
    /// Buffers through which weights and states are copied.
    pub staging: u64,
    /// All of these.
    pub total: u64,
    /// Weights and states in memory of the host, which the device uses without an allocation.
    pub imported: u64,
}

/// What memory holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    any(target_family = "wasm", target_vendor = "apple"),
    expect(dead_code, reason = "not every driver stages and imports")
)]
pub enum Purpose {
    /// [`DeviceMemory::weights`].
    Weights,
    /// [`DeviceMemory::scratch`].
    Scratch,
    /// [`DeviceMemory::arguments`].
    Arguments,
    /// [`DeviceMemory::states`].
    States,
    /// [`DeviceMemory::staging`].
    Staging,
    /// [`DeviceMemory::imported`].
    Imported,
}

/// The bytes now, and the most of each at a time.
static COUNTS: Mutex<[DeviceMemory; 2]> = Mutex::new([DeviceMemory::NONE; 2]);

/// The most bytes of each purpose that the delegates of this process have had at a time; the most of all purposes together may be
/// less than the sum.
pub fn peak_memory() -> DeviceMemory {
    counts()[1]
}

/// Bytes that count until the value is dropped.
pub struct Counted {
    purpose: Purpose,
    bytes: u64,
}

impl Counted {
    /// Counts bytes.
    pub fn new(purpose: Purpose, bytes: u64) -> Self {
        let mut counts = counts();
        let [now, most] = &mut *counts;
        now.change(purpose, |count| *count += bytes);
        most.raise_to(now);
        Self { purpose, bytes }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        counts()[0].change(self.purpose, |count| *count = count.saturating_sub(self.bytes));
    }
}

impl DeviceMemory {
    const NONE: Self = Self { weights: 0, scratch: 0, arguments: 0, states: 0, staging: 0, total: 0, imported: 0 };

    fn change(&mut self, purpose: Purpose, change: impl Fn(&mut u64)) {
        match purpose {
            Purpose::Weights => change(&mut self.weights),
            Purpose::Scratch => change(&mut self.scratch),
            Purpose::Arguments => change(&mut self.arguments),
            Purpose::States => change(&mut self.states),
            Purpose::Staging => change(&mut self.staging),
            Purpose::Imported => return change(&mut self.imported),
        }
        change(&mut self.total);
    }

    fn raise_to(&mut self, other: &Self) {
        *self = Self {
            weights: self.weights.max(other.weights),
            scratch: self.scratch.max(other.scratch),
            arguments: self.arguments.max(other.arguments),
            states: self.states.max(other.states),
            staging: self.staging.max(other.staging),
            total: self.total.max(other.total),
            imported: self.imported.max(other.imported),
        };
    }
}

fn counts() -> MutexGuard<'static, [DeviceMemory; 2]> {
    COUNTS.lock().unwrap_or_else(PoisonError::into_inner)
}
