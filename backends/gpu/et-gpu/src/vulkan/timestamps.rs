//! When the dispatches of a command buffer ended.
#![allow(unsafe_code, reason = "calls the Vulkan driver")]

use core::time::Duration;
use std::sync::Arc;

use ash::vk;

use super::clock::Clock;
use super::device::Device;
use super::failure::failed;
use crate::problem::Outcome;

/// Timestamps of a command buffer: one before the first dispatch, and one after each.
pub struct Timestamps {
    device: Arc<Device>,
    raw: vk::QueryPool,
    clock: Clock,
    count: u32,
}

impl Timestamps {
    /// Timestamps for a number of dispatches; `None` where the queue has none.
    pub fn create(device: &Arc<Device>, dispatches: usize) -> Outcome<Option<Self>> {
        let Some(clock) = device.clock() else { return Ok(None) };
        let count = u32::try_from(dispatches).map_err(|_| et_core::Error::Internal)?.saturating_add(1);
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(count);
        // SAFETY: the queue of the device has timestamps.
        let raw = unsafe { device.raw.create_query_pool(&info, None) }.map_err(failed("take times"))?;
        Ok(Some(Self { device: Arc::clone(device), raw, clock, count }))
    }

    /// The handle.
    pub const fn raw(&self) -> vk::QueryPool {
        self.raw
    }

    /// The number of timestamps.
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// The time of each dispatch in the last execution, which has ended. A dispatch that does not wait for the dispatch before
    /// counts from the end of that dispatch.
    pub fn durations(&self) -> Outcome<Vec<Duration>> {
        let mut stamps = vec![0_u64; self.count as usize];
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
        // SAFETY: the execution that wrote all timestamps has ended.
        unsafe { self.device.raw.get_query_pool_results(self.raw, 0, &mut stamps, flags) }
            .map_err(failed("read times"))?;
        let pairs = stamps.iter().zip(stamps.iter().skip(1));
        Ok(pairs.map(|(begin, end)| self.clock.between(*begin, *end)).collect())
    }
}

impl Drop for Timestamps {
    fn drop(&mut self) {
        if !self.device.queue.hangs() {
            // SAFETY: the owner waits for the end of every execution.
            unsafe { self.device.raw.destroy_query_pool(self.raw, None) };
        }
    }
}
