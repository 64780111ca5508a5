//! Planned programs as text: the program, then for each method the arenas (bank, size, alignment) and a line per
//! value (memory id, offset).
//!
//! ```text
//! plan forward
//!   arena ram 9216 16
//!   place %x 1 5120
//! ```

use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Display, Formatter};

use super::lex::{Cursor, ParseError, Result};
use super::word::Name;
use super::{parse, print};
use crate::{
    Allocation, Arena, ConstantData, Digest, Graph, LoweredProgram, MemoryPlan, PlannedProgram, Program, ValueId,
    Violation,
};

/// Errors of [`parse_plan`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanTextError {
    /// A syntax error.
    #[error(transparent)]
    Syntax(#[from] ParseError),
    /// Violations of the program or of the plan.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Violations(Vec<Violation>),
}

/// The program and the memory plans as text.
pub fn print_plan(planned: &PlannedProgram) -> String {
    let program = planned.program().program();
    let plans = PlansText { program, plans: planned.plans() };
    format!("{}{plans}", print(PlannedProgram::NAME, program))
}

/// Parses and verifies a planned program that [`print_plan`] printed.
///
/// # Errors
/// The first syntax error, or all violations.
pub fn parse_plan(
    text: &str,
    constants: &mut dyn FnMut(Digest) -> Option<ConstantData>,
) -> std::result::Result<PlannedProgram, PlanTextError> {
    let mut cursor = Cursor::new(text);
    let (dialect, program) = parse::program(&mut cursor, constants)?;
    if dialect != PlannedProgram::NAME {
        return Ok(cursor.error("the program is not planned")?);
    }
    let plans = plans(&mut cursor, &program)?;
    let lowered = LoweredProgram::verify(program).map_err(PlanTextError::Violations)?;
    PlannedProgram::verify(lowered, plans).map_err(PlanTextError::Violations)
}

struct PlansText<'a> {
    program: &'a Program,
    plans: &'a BTreeMap<String, MemoryPlan>,
}

impl Display for PlansText<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        for (method, graph) in &self.program.methods {
            writeln!(formatter, "plan {}", Name(method))?;
            self.plans.get(method).map_or(Ok(()), |plan| write_plan(graph, plan, formatter))?;
        }
        Ok(())
    }
}

fn write_plan(graph: &Graph, plan: &MemoryPlan, formatter: &mut Formatter<'_>) -> fmt::Result {
    for arena in &plan.arenas {
        writeln!(formatter, "  arena {} {} {}", Name(&arena.bank), arena.size, arena.alignment)?;
    }
    for (id, place) in plan.allocations.iter() {
        writeln!(formatter, "  place %{} {} {}", Name(&graph.value(id).name), place.memory_id, place.offset)?;
    }
    Ok(())
}

fn plans(cursor: &mut Cursor<'_>, program: &Program) -> Result<BTreeMap<String, MemoryPlan>> {
    let mut plans = BTreeMap::new();
    while !cursor.is_at_end() {
        cursor.expect_word("plan")?;
        let method = cursor.name()?.into_owned();
        cursor.end_of_line()?;
        let plan = plan(cursor, program.methods.get(&method))?;
        if plans.insert(method, plan).is_some() {
            return cursor.error("the method has two plans");
        }
    }
    Ok(plans)
}

fn plan(cursor: &mut Cursor<'_>, graph: Option<&Graph>) -> Result<MemoryPlan> {
    let values = graph.into_iter().flat_map(Graph::values_with_ids);
    let ids: HashMap<&str, ValueId> = values.map(|(id, value)| (&value.name[..], id)).collect();
    let mut plan = MemoryPlan::default();
    while cursor.accept_word("arena") {
        let (bank, size) = (cursor.name()?.into_owned(), cursor.number()?);
        plan.arenas.push(Arena { bank, size, alignment: cursor.number()? });
        cursor.end_of_line()?;
    }
    while cursor.accept_word("place") {
        cursor.expect('%')?;
        let name = cursor.name()?;
        let Some(id) = ids.get(&*name) else { return cursor.error(format!("the method has no value `{name}`")) };
        let place = Allocation { memory_id: cursor.number()?, offset: cursor.number()? };
        if plan.allocations.insert(*id, place).is_some() {
            return cursor.error(format!("`{name}` has two places"));
        }
        cursor.end_of_line()?;
    }
    Ok(plan)
}
