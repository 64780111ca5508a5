//! Trying again, where that may help, for a bounded time.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use tonic::{Code, Status};

use crate::RemoteError;

/// How often something is tried in all.
pub const ATTEMPTS: u32 = 4;

/// Before the second attempt one waits for so long, before each later one three times as long as before, and up to as long
/// again, so that many clients do not come back at the same moment.
const FIRST_PAUSE: Duration = Duration::from_millis(60);

/// Whether a failure may be gone at the next attempt.
pub fn may_pass(status: &Status) -> bool {
    matches!(
        status.code(),
        Code::Unavailable | Code::ResourceExhausted | Code::Aborted | Code::Internal | Code::Unknown
    )
}

/// What a failure means once all attempts are used up.
pub fn error(status: &Status) -> RemoteError {
    let text = if status.message().is_empty() { status.code().description() } else { status.message() };
    match status.code() {
        Code::Unavailable | Code::Aborted | Code::Internal | Code::Unknown | Code::Cancelled | Code::DeadlineExceeded => {
            RemoteError::Lost(text.to_owned())
        }
        _ => RemoteError::Refused(text.to_owned()),
    }
}

/// Waits before attempt `number`, the first one being 1.
pub async fn pause(number: u32) {
    let least = FIRST_PAUSE * 3u32.pow(number.min(ATTEMPTS) - 1);
    let more = RandomState::new().hash_one(number) % u64::try_from(least.as_millis()).unwrap_or(1).max(1);
    tokio::time::sleep(least + Duration::from_millis(more)).await;
}

/// What `attempt` gives, tried again where that may help. One that takes longer than `limit` is not.
pub async fn persistently<T>(
    limit: Duration,
    mut attempt: impl AsyncFnMut() -> Result<T, Status>,
) -> Result<T, Status> {
    for number in 1..ATTEMPTS {
        match within(limit, attempt()).await {
            Err(status) if may_pass(&status) => pause(number).await,
            outcome => return outcome,
        }
    }
    within(limit, attempt()).await
}

/// What a call gives, unless it takes longer than `limit`.
pub async fn within<T>(limit: Duration, call: impl Future<Output = Result<T, Status>>) -> Result<T, Status> {
    let silent = |_| Err(Status::cancelled(format!("no answer within {} s", limit.as_secs_f32())));
    tokio::time::timeout(limit, call).await.unwrap_or_else(silent)
}
