//! The clock of a queue.

use core::time::Duration;

use ash::vk;

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
    pub fn between(self, begin: u64, end: u64) -> Duration {
        let ticks = end.wrapping_sub(begin) & (u64::MAX >> (64 - self.bits.min(64)));
        Duration::from_nanos((ticks as f64 * f64::from(self.period)) as u64)
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
