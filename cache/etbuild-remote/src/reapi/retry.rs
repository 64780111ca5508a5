//! Retries of calls, and the meaning of failures.

use std::time::Duration;

use tonic::{Code, Status};

use crate::RemoteError;
pub use crate::retry::{ATTEMPTS, pause};

/// Whether a failure may be gone at the next attempt.
pub fn may_pass(status: &Status) -> bool {
    matches!(
        status.code(),
        Code::Unavailable | Code::ResourceExhausted | Code::Aborted | Code::Internal | Code::Unknown
    )
}

/// The error after the last attempt.
pub fn error(status: &Status) -> RemoteError {
    let text = if status.message().is_empty() { status.code().description() } else { status.message() };
    match status.code() {
        Code::Unavailable
        | Code::Aborted
        | Code::Internal
        | Code::Unknown
        | Code::Cancelled
        | Code::DeadlineExceeded => RemoteError::Lost(text.to_owned()),
        _ => RemoteError::Refused(text.to_owned()),
    }
}

/// Runs `attempt` with retries after transient failures. A call that exceeds `limit` is not retried.
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

/// Runs a call with the time limit `limit`.
pub async fn within<T>(limit: Duration, call: impl Future<Output = Result<T, Status>>) -> Result<T, Status> {
    let silent = |_| Err(Status::cancelled(format!("no answer within {} s", limit.as_secs_f32())));
    tokio::time::timeout(limit, call).await.unwrap_or_else(silent)
}
