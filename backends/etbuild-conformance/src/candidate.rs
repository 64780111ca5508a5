//! The backend under test.

use et_module::Engine;
use etbuild_backend::{Backend, TargetFacts};

/// A backend with its delegate and the target of lowering, which must be this machine.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The backend.
    pub backend: &'a dyn Backend,
    /// The backend's delegate, under its id.
    pub engines: &'static [Engine],
    /// The target.
    pub target: &'a TargetFacts,
    /// The threads of the delegate.
    pub threads: usize,
    /// The extra tolerance of an element, added to the case's tolerance: `tolerance * max(1, |expected|)`.
    pub tolerance: f64,
}
