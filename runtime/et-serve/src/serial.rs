//! Jobs of a thread that finishes a request before the next one: encoders, and models for transcripts.

use std::time::Instant;

use tokio::sync::oneshot::{Receiver, Sender, channel};

use crate::error::ApiError;
use crate::metrics::Metrics;
use crate::scheduler::{Failure, Queue, Waiting};

/// A request, and where the answer goes.
pub struct SerialJob<Q, A> {
    /// The request.
    pub request: Q,
    deadline: Instant,
    /// A job without a receiver ends.
    answer: Sender<Result<A, ApiError>>,
}

impl<Q, A> SerialJob<Q, A> {
    /// A job, and where its answer comes.
    pub fn new(request: Q, deadline: Instant) -> (Self, Receiver<Result<A, ApiError>>) {
        let (answer, receiver) = channel();
        (Self { request, deadline, answer }, receiver)
    }

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
