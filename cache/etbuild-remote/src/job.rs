//! Processes for workers.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How workers execute jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    /// Platform properties that a worker must have, by name.
    pub platform: BTreeMap<String, String>,
    /// The worker's environment variables for a job, by name, such as paths of tools.
    pub variables: BTreeMap<String, String>,
    /// The time limit of a job, including its wait for a worker.
    pub limit: Duration,
}

/// A process for a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Job {
    /// The program and its arguments.
    pub arguments: Vec<String>,
    /// Environment variables by name.
    pub variables: BTreeMap<String, String>,
    /// The working directory, relative to the root of the input files.
    pub folder: String,
    /// The input files, by path from that root.
    pub files: BTreeMap<String, Vec<u8>>,
    /// The output files to collect, by path from the working directory.
    pub outputs: BTreeSet<String>,
}

/// The result of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobResult {
    /// The process's status.
    pub status: i32,
    /// The process's standard output.
    pub stdout: Vec<u8>,
    /// The process's standard error.
    pub stderr: Vec<u8>,
    /// The collected output files; files that the process did not write are absent.
    pub outputs: BTreeMap<String, Vec<u8>>,
}

impl Default for Execution {
    fn default() -> Self {
        Self { platform: BTreeMap::new(), variables: BTreeMap::new(), limit: Duration::from_secs(600) }
    }
}
