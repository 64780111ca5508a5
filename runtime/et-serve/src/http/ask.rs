//! A request to a thread that finishes a request before the next one.

use std::time::Instant;

use tokio::sync::oneshot::Receiver;
use tokio::sync::oneshot::error::RecvError;

use crate::error::ApiError;
use crate::scheduler::{Failure, Queue};
use crate::serial::SerialJob;
use crate::server::Server;

/// Puts a request into the queue, and waits for the answer.
///
/// # Errors
/// A full queue, a server that ends, a failure of the model.
pub async fn ask<Q, A>(server: &Server, queue: &Queue<SerialJob<Q, A>>, request: Q) -> Result<A, ApiError> {
    answered(put(server, queue, request)?.await)
}

/// Puts a request into the queue. The job ends where the receiver of the answer is dropped.
///
/// # Errors
/// A full queue, a server that ends.
pub fn put<Q, A>(
    server: &Server,
    queue: &Queue<SerialJob<Q, A>>,
    request: Q,
) -> Result<Receiver<Result<A, ApiError>>, ApiError> {
    if server.is_stopping() {
        return Err(ApiError::stopping());
    }
    let (job, answer) = SerialJob::new(request, Instant::now() + server.timeout);
    queue.push(job).map_err(|full| server.refusal(full))?;
    Ok(answer)
}

/// The answer of a receiver: the thread has ended where a job has no end.
///
/// # Errors
/// A failure of the model, a server that ends.
pub fn answered<A>(received: Result<Result<A, ApiError>, RecvError>) -> Result<A, ApiError> {
    received.unwrap_or_else(|_| Err(Failure::Stopping.into()))
}
