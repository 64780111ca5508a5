//! The clock of a queue: when the dispatches of a command buffer ended.
#![allow(unsafe_code, reason = "calls the Vulkan driver")]

use core::time::Duration;
use std::sync::Arc;

use ash::vk;

use super::device::Device;
use crate::problem::{Outcome, failed};

/// The clock of a queue.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// The bits of a timestamp that count.
    bits: u32,
    /// Nanoseconds of a tick.
    period: f32,
}

impl Clock {
    /// The clock of a queue; `None` for a queue without timestamps.
    pub fn of(family: &vk::QueueFamilyProperties, limits: &vk::PhysicalDeviceLimits) -> Option<Self> {
        let (bits, period) = (family.timestamp_valid_bits, limits.timestamp_period);
        (bits > 0 && period > 0.0).then_some(Self { bits, period })
    }

    /// The time between two timestamps, of which the second may be small again.
    fn between(self, begin: u64, end: u64) -> Duration {
        let ticks = end.wrapping_sub(begin) & (u64::MAX >> (64 - self.bits.min(64)));
        Duration::from_nanos((ticks as f64 * f64::from(self.period)) as u64)
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_ticks_of_the_period_across_the_end_of_the_counter() {
        let clock = Clock { bits: 36, period: 2.5 };
        assert_eq!(clock.between(100, 140), Duration::from_nanos(100));
        assert_eq!(clock.between((1 << 36) - 10, 30), Duration::from_nanos(100));
        assert_eq!(Clock { bits: 64, period: 1.0 }.between(u64::MAX, 4), Duration::from_nanos(5));
    }

    #[test]
    fn a_queue_without_valid_bits_has_no_clock() {
        let limits = vk::PhysicalDeviceLimits::default().timestamp_period(1.0);
        let family = vk::QueueFamilyProperties::default();
        assert!(Clock::of(&family, &limits).is_none());
        assert!(Clock::of(&family.timestamp_valid_bits(64), &limits).is_some());
    }
}
