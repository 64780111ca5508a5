//! What a queue knows of a job.

use std::time::Instant;

use super::failure::Failure;

/// A job that can wait in a queue.
pub trait Waiting {
    /// Whether the client went away.
    fn is_gone(&self) -> bool;

    /// When the request has taken too long.
    fn deadline(&self) -> Instant;

    /// Ends the job without an answer.
    fn fail(self, failure: Failure);
}
