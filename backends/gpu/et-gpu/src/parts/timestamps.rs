//! Times of dispatches in a command buffer, which the drivers do not take.

use core::time::Duration;
use std::sync::Arc;

use super::commands::Recorder;
use super::device::Device;
use crate::problem::Outcome;

/// The type of timestamps, without values.
pub enum Timestamps {}

impl Timestamps {
    /// Returns `None`: the driver takes no timestamps.
    #[expect(clippy::unnecessary_wraps, reason = "the interface of drivers")]
    pub const fn create(_device: &Arc<Device>, _dispatches: usize) -> Outcome<Option<Self>> {
        Ok(None)
    }

    /// The time of each dispatch.
    pub const fn durations(&self) -> Outcome<Vec<Duration>> {
        match *self {}
    }
}

impl Recorder<'_> {
    /// Records that timestamps are taken anew.
    #[expect(clippy::unused_self, reason = "the interface of drivers")]
    pub const fn start(&self, timestamps: &Timestamps) {
        match *timestamps {}
    }

    /// Records that a timestamp is taken.
    #[expect(clippy::unused_self, reason = "the interface of drivers")]
    pub const fn stamp(&self, timestamps: &Timestamps, _index: u32) {
        match *timestamps {}
    }
}
