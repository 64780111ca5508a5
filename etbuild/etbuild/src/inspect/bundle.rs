//! The cases of a bundled program.

use et_core::Result;
use et_format::BundledProgram;
use serde::Serialize;

/// The cases of a method.
#[derive(Serialize)]
pub struct Suite {
    /// The method.
    pub method: String,
    /// Their number.
    pub cases: usize,
}

/// How many cases each method has.
pub fn suites(bundle: BundledProgram<'_>) -> Result<Vec<Suite>> {
    let suites = bundle.suites()?;
    let suite = |suite: Result<et_format::BundledSuite<'_>>| {
        let suite = suite?;
        Ok(Suite { method: suite.method_name()?.to_owned(), cases: suite.cases()?.len() })
    };
    suites.iter().map(suite).collect()
}
