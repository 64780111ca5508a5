//! Processes for workers.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How jobs are run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    /// Platform properties that a worker must have, by name.
    pub platform: BTreeMap<String, String>,
    /// Environment variables of the worker that a job needs, by name; they say where things are.
    pub variables: BTreeMap<String, String>,
    /// For so long a job may wait for a worker and run.
    pub limit: Duration,
}

/// A process for a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Job {
    /// The program, and what it is told.
    pub arguments: Vec<String>,
    /// Environment variables by name.
    pub variables: BTreeMap<String, String>,
    /// The folder that it starts in, from the root of its files.
    pub folder: String,
    /// What it reads, by paths from that root.
    pub files: BTreeMap<String, Vec<u8>>,
    /// What it may write and is wanted, by paths from the folder that it starts in.
    pub outputs: BTreeSet<String>,
}

/// What came of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobResult {
    /// The process's status.
    pub status: i32,
    /// What it printed.
    pub stdout: Vec<u8>,
    /// What it printed about itself.
    pub stderr: Vec<u8>,
    /// Those of the wanted files that it wrote.
    pub outputs: BTreeMap<String, Vec<u8>>,
}

impl Default for Execution {
    fn default() -> Self {
        Self { platform: BTreeMap::new(), variables: BTreeMap::new(), limit: Duration::from_secs(600) }
    }
}
