//! What a pipeline is loaded with.

use std::path::PathBuf;
use std::sync::Arc;

use et_llm::MakeText;
use et_module::{Engine, Kernels, Observer};

/// The parts of a binary that a pipeline is loaded with.
#[derive(Clone, Copy)]
pub struct Loading<'k> {
    /// The kernels of the operators.
    pub kernels: Kernels<'k>,
    /// The backends of the delegates.
    pub engines: &'static [Engine],
    /// The most threads of the backends.
    pub threads: usize,
    /// The function that makes the tokenizer.
    pub text: Option<MakeText>,
    /// Data files of the program.
    pub data: &'k [PathBuf],
    /// The observer of the executions.
    pub observer: Option<&'k Arc<dyn Observer>>,
}
