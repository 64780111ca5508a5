//! Where the artifacts of a stage came from.

use std::time::Duration;

/// Where the artifacts of a stage came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The store had the artifacts.
    Cache,
    /// The remote cache had the artifacts; the time of asking and of the immediate fetches.
    Fetched(Duration),
    /// The stage ran, this long.
    Run(Duration),
    /// A worker of the remote cache ran the stage; the time of sending the job and of fetching the result.
    Worker(Duration),
}
