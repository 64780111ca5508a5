//! The GPU of an Apple system.

use core::sync::atomic::{AtomicBool, Ordering};

use et_core::Error;
use objc2::rc::{Retained, autoreleasepool};
use objc2::runtime::ProtocolObject;
use objc2_metal::{MTLCommandQueue, MTLCopyAllDevices, MTLDevice};

use super::failure::no_memory;
use crate::blob::Language;
use crate::limits::Limits;
use crate::problem::{Outcome, Problem};

/// The invocations of a SIMD-group of every GPU of Apple.
const SUBGROUP: u32 = 32;

/// The buffers of a kernel.
const BUFFERS: u32 = 31;

/// The alignment of bindings, which is enough for every type of elements and for every GPU.
const ALIGNMENT: u64 = 256;

/// A GPU with the queue of this process.
pub struct Device {
    /// The GPU.
    pub raw: Retained<ProtocolObject<dyn MTLDevice>>,
    /// The queue.
    pub queue: Retained<ProtocolObject<dyn MTLCommandQueue>>,
    limits: Limits,
    lost: AtomicBool,
}

impl Device {
    /// Opens the GPU.
    pub fn open() -> Outcome<Self> {
        autoreleasepool(|_| {
            // The list is there without a window and without Core Graphics, which the default device wants on macOS.
            let raw = MTLCopyAllDevices().firstObject().ok_or_else(|| Problem::unsupported("no GPU has Metal"))?;
            let queue = raw.newCommandQueue().ok_or_else(|| no_memory("open the GPU"))?;
            Ok(Self { limits: limits(&raw), raw, queue, lost: AtomicBool::new(false) })
        })
    }

    /// The features and limits.
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The alignment of bindings.
    #[expect(clippy::unused_self, reason = "the interface of drivers")]
    pub const fn alignment(&self) -> u64 {
        ALIGNMENT
    }

    /// Whether the device has the memory of the CPU.
    #[expect(clippy::unused_self, reason = "the interface of drivers")]
    pub const fn is_unified(&self) -> bool {
        true
    }

    /// Says that the device was lost: everything fails from then on.
    pub fn lose(&self) {
        self.lost.store(true, Ordering::Release);
    }

    /// Whether the device was lost.
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// Fails on a lost device.
    pub fn check(&self) -> Outcome<()> {
        match self.is_lost() {
            true => Err(Problem::new(Error::DelegateInvalidHandle, "the GPU was lost: its driver reset it")),
            false => Ok(()),
        }
    }

    /// Ends the creation of pipelines. The system keeps compiled kernels for later processes.
    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "the interface of drivers")]
    pub const fn finish_pipelines(&self) -> Outcome<()> {
        Ok(())
    }
}

fn limits(device: &ProtocolObject<dyn MTLDevice>) -> Limits {
    let (workgroup, buffer) = (device.maxThreadsPerThreadgroup(), device.maxBufferLength() as u64);
    let workgroup = [workgroup.width, workgroup.height, workgroup.depth].map(|size| size as u32);
    let invocations = workgroup.into_iter().max().unwrap_or_default();
    Limits {
        name: device.name().to_string(),
        language: Language::Msl,
        int64: true,
        float16: true,
        subgroup: SUBGROUP,
        subgroups: (SUBGROUP, SUBGROUP),
        workgroup_subgroups: invocations / SUBGROUP,
        workgroups: [u32::MAX; 3],
        workgroup,
        invocations,
        shared: device.maxThreadgroupMemoryLength() as u64,
        buffer,
        storage_buffers: BUFFERS,
        bindings: BUFFERS,
        allocation: buffer,
        ..Limits::default()
    }
}
