//! What a vendor's compiler estimates of a partition on an NPU, for reports.

use serde::{Deserialize, Serialize};

/// The estimate of a partition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NpuEstimate {
    /// The cycles of a run, with the waits for memory.
    pub cycles: u64,
    /// The clock of the NPU in Hz.
    pub clock: u64,
    /// The operators of the NPU in order.
    pub operators: Vec<NpuOperator>,
}

/// An operator of an NPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NpuOperator {
    /// The value that the operator computes.
    pub value: String,
    /// The operator's name at the compiler.
    pub name: String,
    /// The cycles of the operator, the largest of those below.
    pub cycles: u64,
    /// The cycles of the arithmetic.
    pub arithmetic: u64,
    /// The cycles of accesses to SRAM.
    pub sram: u64,
    /// The cycles of accesses to flash and DRAM.
    pub beyond: u64,
    /// The multiplications.
    pub multiplications: u64,
}

impl NpuEstimate {
    /// The time of a run in microseconds.
    pub fn microseconds(&self) -> f64 {
        self.cycles as f64 * 1e6 / self.clock.max(1) as f64
    }
}
