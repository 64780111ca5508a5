//! Lists of dispatches: recorded once, executed often. Metal executes a command buffer once, so that a list is encoded for each
//! execution.
#![allow(unsafe_code, reason = "binds buffers by number")]

use core::cell::RefCell;
use core::time::Duration;
use std::sync::Arc;

use et_core::Error;
use objc2::rc::autoreleasepool;
use objc2::runtime::ProtocolObject;
use objc2_metal::{
    MTLBarrierScope, MTLCommandBuffer, MTLCommandBufferError, MTLCommandBufferStatus, MTLCommandEncoder,
    MTLCommandQueue, MTLComputeCommandEncoder, MTLDispatchType,
};

use super::descriptors::Bound;
use super::device::Device;
use super::failure::{failed, no_memory};
use super::image::Image;
use super::pipeline::{Pipeline, size};
use crate::problem::{Outcome, Problem};

/// A recorded command.
enum Command {
    /// Writes of the dispatches before come before the accesses of those behind.
    Barrier,
    /// An execution of a kernel.
    Dispatch { pipeline: Pipeline, bound: Bound, workgroups: [u32; 3] },
}

/// Recorded dispatches, with references to all that they access.
pub struct Commands {
    device: Arc<Device>,
    commands: Vec<Command>,
    duration: Option<Duration>,
}

/// Records dispatches.
pub struct Recorder<'r> {
    commands: &'r RefCell<Vec<Command>>,
}

/// A memory barrier.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Barrier {
    /// Before the first kernel. Each execution waits for its end: Metal orders accesses to one buffer, and states of sessions are several buffers over
    /// the same memory.
    Start,
    /// Between kernels.
    Kernels,
    /// Behind the last kernel, where the host waits.
    End,
}

type Encoder = ProtocolObject<dyn MTLComputeCommandEncoder>;

impl Commands {
    /// Records dispatches.
    pub fn record(device: &Arc<Device>, record: impl FnOnce(&Recorder<'_>) -> Outcome<()>) -> Outcome<Self> {
        let commands = RefCell::default();
        record(&Recorder { commands: &commands })?;
        Ok(Self { device: Arc::clone(device), commands: commands.into_inner(), duration: None })
    }

    /// Executes the dispatches and waits for their end.
    pub fn run(&mut self) -> Outcome<()> {
        self.device.check()?;
        self.duration = autoreleasepool(|_| self.execute())?;
        Ok(())
    }

    /// Executes the dispatches, and returns the time on the GPU.
    fn execute(&self) -> Outcome<Option<Duration>> {
        let buffer = self.device.queue.commandBuffer().ok_or_else(|| no_memory("record commands"))?;
        // Dispatches run at the same time up to a barrier.
        let encoder = buffer.computeCommandEncoderWithDispatchType(MTLDispatchType::Concurrent);
        let encoder = encoder.ok_or_else(|| no_memory("record commands"))?;
        self.commands.iter().for_each(|command| encode(command, &encoder));
        encoder.endEncoding();
        buffer.commit();
        buffer.waitUntilCompleted();
        if buffer.status() == MTLCommandBufferStatus::Completed {
            return Ok(Duration::try_from_secs_f64(buffer.GPUEndTime() - buffer.GPUStartTime()).ok());
        }
        Err(self.failure(&buffer))
    }

    /// Why a command buffer failed.
    fn failure(&self, buffer: &ProtocolObject<dyn MTLCommandBuffer>) -> Problem {
        let Some(error) = buffer.error() else { return Error::Internal.into() };
        match MTLCommandBufferError(error.code() as usize) {
            MTLCommandBufferError::OutOfMemory => no_memory("execute"),
            MTLCommandBufferError::Timeout
            | MTLCommandBufferError::AccessRevoked
            | MTLCommandBufferError::DeviceRemoved => {
                self.device.lose();
                Problem { error: Error::DelegateInvalidHandle, ..failed("execute")(&error) }
            }
            _ => failed("execute")(&error),
        }
    }

    /// The time of the last execution on the GPU.
    pub const fn duration(&self) -> Option<Duration> {
        self.duration
    }
}

fn encode(command: &Command, encoder: &Encoder) {
    let Command::Dispatch { pipeline, bound, workgroups } = command else {
        return encoder.memoryBarrierWithScope(MTLBarrierScope::Buffers);
    };
    encoder.setComputePipelineState(&pipeline.raw);
    for (number, (memory, offset)) in bound.iter().enumerate() {
        // SAFETY: the plan counted the bindings, and the buffer has the offset.
        unsafe { encoder.setBuffer_offset_atIndex(Some(memory.raw()), *offset, number) };
    }
    for (number, length) in pipeline.lengths.iter().enumerate() {
        // SAFETY: `MetalKernel::read` counted the variables.
        unsafe { encoder.setThreadgroupMemoryLength_atIndex(*length, number) };
    }
    encoder.dispatchThreadgroups_threadsPerThreadgroup(size(*workgroups), pipeline.workgroup);
}

impl Recorder<'_> {
    /// Records a barrier.
    pub fn barrier(&self, barrier: Barrier, _images: &[&Image]) {
        if barrier == Barrier::Kernels {
            self.commands.borrow_mut().push(Command::Barrier);
        }
    }

    /// Records an execution of a kernel.
    pub fn dispatch(&self, pipeline: &Pipeline, bound: Bound, workgroups: [u32; 3]) {
        self.commands.borrow_mut().push(Command::Dispatch { pipeline: pipeline.clone(), bound, workgroups });
    }
}
