//! Trying again, for a bounded time.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// The number of attempts, the first included.
pub const ATTEMPTS: u32 = 4;

/// The pause before the second attempt. Each later pause is three times as long, plus a random part of up to the same
/// length, so that clients do not retry simultaneously.
const FIRST_PAUSE: Duration = Duration::from_millis(60);

/// Waits before attempt `number`, the first one being 1.
pub async fn pause(number: u32) {
    let least = FIRST_PAUSE * 3u32.pow(number.min(ATTEMPTS).saturating_sub(1));
    let more = RandomState::new().hash_one(number) % u64::try_from(least.as_millis()).unwrap_or(1).max(1);
    tokio::time::sleep(least + Duration::from_millis(more)).await;
}
