//! Lists of dispatches: recorded once, executed often. The browser's own command buffers are executed once, so that the page encodes
//! a list for each execution, and the browser finds the barriers.

use core::cell::RefCell;
use core::time::Duration;
use std::sync::Arc;

use super::calls::{self, Dispatched};
use super::device::Device;
use super::image::Image;
use super::pipeline::Pipeline;
use crate::problem::Outcome;

/// Recorded dispatches. The owner keeps the recorded objects until all executions have ended.
pub struct Commands {
    device: Arc<Device>,
    dispatches: Vec<Dispatched>,
}

/// Records dispatches.
pub struct Recorder<'r> {
    dispatches: &'r RefCell<Vec<Dispatched>>,
}

/// A memory barrier, which the browser finds itself.
#[derive(Clone, Copy)]
pub enum Barrier {
    /// Before the first kernel.
    Start,
    /// Between kernels.
    Kernels,
    /// Behind the last kernel.
    End,
}

impl Commands {
    /// Records dispatches.
    pub fn record(device: &Arc<Device>, record: impl FnOnce(&Recorder<'_>) -> Outcome<()>) -> Outcome<Self> {
        let dispatches = RefCell::default();
        record(&Recorder { dispatches: &dispatches })?;
        Ok(Self { device: Arc::clone(device), dispatches: dispatches.into_inner() })
    }

    /// Begins to execute the dispatches, which end before the host reads from the device.
    pub fn run(&mut self) -> Outcome<()> {
        self.device.check()?;
        calls::submit(self.device.number(), &self.dispatches);
        Ok(())
    }

    /// The time of the last execution: a page takes none.
    #[expect(clippy::unused_self, reason = "the interface of drivers")]
    pub const fn duration(&self) -> Option<Duration> {
        None
    }
}

impl Recorder<'_> {
    /// Records no barrier.
    #[expect(clippy::unused_self, reason = "the interface of drivers")]
    pub const fn barrier(&self, _barrier: Barrier, _images: &[&Image]) {}

    /// Records an execution of a kernel.
    pub fn dispatch(&self, pipeline: &Pipeline, set: u32, [x, y, z]: [u32; 3]) {
        self.dispatches.borrow_mut().push([pipeline.number(), set, x, y, z]);
    }
}
