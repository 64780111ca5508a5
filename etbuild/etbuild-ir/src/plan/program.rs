//! The program that the emitter accepts.

use std::collections::BTreeMap;

use super::verify::violations;
use crate::{LoweredProgram, MemoryPlan, Violation};

/// A lowered program with a place for every value: only [`PlannedProgram::verify`] makes one.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedProgram {
    program: LoweredProgram,
    plans: BTreeMap<String, MemoryPlan>,
}

impl PlannedProgram {
    /// The name in printed programs.
    pub const NAME: &'static str = "planned";

    /// Checks that each method has a plan in which every value that needs memory has an aligned place inside an arena,
    /// and no two values share bytes while both are in use, unless one [aliases](crate::aliases) the other.
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
