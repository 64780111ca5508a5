//! What is tested.

use et_module::Engine;
use etbuild_backend::{Backend, TargetFacts};

/// A backend, what executes its blobs, and the target that it lowers for, which must be this machine.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The backend.
    pub backend: &'a dyn Backend,
    /// Its engine, under its delegate's id.
    pub engines: &'static [Engine],
    /// The target.
    pub target: &'a TargetFacts,
    /// The threads that the engine gets.
    pub threads: usize,
    /// How far an element may be from what the catalogue says beyond the case's own tolerance:
    /// `tolerance * max(1, |expected|)`.
    pub tolerance: f64,
}
