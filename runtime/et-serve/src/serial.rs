//! Jobs of a thread that finishes a request before the next one: encoders, and models for transcripts.

use std::time::Instant;

use tokio::sync::oneshot::{Sender, channel};

use crate::error::ApiError;
use crate::metrics::Metrics;
use crate::scheduler::{Failure, Queue, Waiting};
use crate::server::Server;

/// A request, and where the answer goes.
pub struct SerialJob<Q, A> {
    /// The request.
    pub request: Q,
    deadline: Instant,
    /// A job without a receiver ends.
    answer: Sender<Result<A, ApiError>>,
}

impl<Q, A> SerialJob<Q, A> {
    /// Why the work on the job has to end, if it has to; jobs whose deadline has passed leave the queue.
    pub fn end(&self, queue: &Queue<Self>) -> Option<Failure> {
        let now = Instant::now();
        queue.expire(now);
        if queue.is_cut() || self.is_gone() {
            Some(Failure::Stopping)
        } else if self.deadline <= now {
            Some(Failure::TimedOut)
        } else {
            None
        }
    }
}

impl<Q, A> Waiting for SerialJob<Q, A> {
    fn is_gone(&self) -> bool {
        self.answer.is_closed()
    }

    fn deadline(&self) -> Instant {
        self.deadline
    }

    fn fail(self, failure: Failure) {
        // The receiver may be gone.
        let _gone = self.answer.send(Err(failure.into()));
    }
}

/// Works on jobs until the queue is closed and empty; `work` counts the tokens of an answer.
pub fn run<Q, A>(
    queue: &Queue<SerialJob<Q, A>>,
    metrics: &Metrics,
    mut work: impl FnMut(&SerialJob<Q, A>) -> Result<A, ApiError>,
) {
    while let Some(job) = queue.take(true) {
        let answer = work(&job);
        if answer.is_err() && job.is_gone() {
            metrics.abort();
        }
        // The receiver may be gone.
        let _gone = job.answer.send(answer);
        queue.done();
    }
}

/// Puts a request into the queue, and waits for the answer.
///
/// # Errors
/// A full queue, a server that ends, a failure of the model.
pub async fn ask<Q, A>(server: &Server, queue: &Queue<SerialJob<Q, A>>, request: Q) -> Result<A, ApiError> {
    if server.is_stopping() {
        return Err(ApiError::stopping());
    }
    let (answer, receiver) = channel();
    let job = SerialJob { request, deadline: Instant::now() + server.timeout, answer };
    queue.push(job).map_err(|full| server.refusal(full))?;
    // The thread has ended where a job has no end.
    receiver.await.unwrap_or_else(|_| Err(Failure::Stopping.into()))
}
