//! A request to a thread that finishes a request before the next one.

use std::time::Instant;

use crate::error::ApiError;
use crate::scheduler::{Failure, Queue};
use crate::serial::SerialJob;
use crate::server::Server;

/// Puts a request into the queue, and waits for the answer.
///
/// # Errors
/// A full queue, a server that ends, a failure of the model.
pub async fn ask<Q, A>(server: &Server, queue: &Queue<SerialJob<Q, A>>, request: Q) -> Result<A, ApiError> {
    if server.is_stopping() {
        return Err(ApiError::stopping());
    }
    let (job, answer) = SerialJob::new(request, Instant::now() + server.timeout);
    queue.push(job).map_err(|full| server.refusal(full))?;
    // The thread has ended where a job has no end.
    answer.await.unwrap_or_else(|_| Err(Failure::Stopping.into()))
}
