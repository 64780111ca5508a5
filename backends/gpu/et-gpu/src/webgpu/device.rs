//! A GPU of the browser.

use super::calls;
use crate::blob::Language;
use crate::limits::Limits;
use crate::problem::{Outcome, Problem};

/// A GPU of the browser.
pub struct Device {
    number: u32,
    limits: Limits,
    alignment: u32,
}

impl Device {
    /// Opens the GPU that the browser prefers.
    pub fn open() -> Outcome<Self> {
        let (number, name, numbers) = calls::open()?;
        let [on_cpu, workgroups, x, y, z, invocations, binding, buffer, buffers, alignment] = numbers;
        let limits = Limits {
            name,
            on_cpu: on_cpu != 0,
            language: Language::Wgsl,
            workgroups: [workgroups; 3],
            workgroup: [x, y, z],
            invocations,
            buffer: u64::from(binding),
            storage_buffers: buffers,
            bindings: buffers,
            allocation: u64::from(buffer),
            ..Limits::default()
        };
        Ok(Self { number, limits, alignment })
    }

    /// The number for calls.
    pub const fn number(&self) -> u32 {
        self.number
    }

    /// The features and limits.
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The alignment of bindings.
    pub const fn alignment(&self) -> u64 {
        self.alignment as u64
    }

    /// Whether the device has the memory of the CPU: a page never reaches such memory.
    pub const fn is_unified(&self) -> bool {
        false
    }

    /// Whether the device was lost: everything fails from then on.
    pub fn is_lost(&self) -> bool {
        calls::is_lost(self.number)
    }

    /// Fails on a lost device.
    pub fn check(&self) -> Outcome<()> {
        match self.is_lost() {
            true => Err(Problem::new(et_core::Error::DelegateInvalidHandle, "the GPU was lost: the browser reset it")),
            false => Ok(()),
        }
    }

    /// Ends the creation of pipelines.
    pub fn finish_pipelines(&self) -> Outcome<()> {
        calls::finish(self.number)
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        calls::release(self.number);
    }
}
