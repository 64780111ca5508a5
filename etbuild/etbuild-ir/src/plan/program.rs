//! Planned programs, the input of the emitter.

use std::collections::BTreeMap;

use super::verify::violations;
use crate::{LoweredProgram, MemoryPlan, Violation};

/// A lowered program with a place for every value. [`PlannedProgram::verify`] is the only constructor.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedProgram {
    program: LoweredProgram,
    plans: BTreeMap<String, MemoryPlan>,
}

impl PlannedProgram {
    /// The name in printed programs.
    pub const NAME: &'static str = "planned";

    /// Checks that each method has a plan, every value that needs memory has an aligned place inside of an arena, and
    /// no two values with overlapping lifetimes share bytes, unless the values are [aliases](crate::aliases).
    pub fn verify(program: LoweredProgram, plans: BTreeMap<String, MemoryPlan>) -> Result<Self, Vec<Violation>> {
        let found = violations(program.program(), &plans);
        if found.is_empty() { Ok(Self { program, plans }) } else { Err(found) }
    }

    /// The program.
    pub const fn program(&self) -> &LoweredProgram {
        &self.program
    }

    /// The plans by method.
    pub const fn plans(&self) -> &BTreeMap<String, MemoryPlan> {
        &self.plans
    }
}
