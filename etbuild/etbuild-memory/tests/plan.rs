//! Golden tests of memory plans (`tests/plans/*.ir`).
//!
//! The option `banks` lists memory banks with sizes in bytes, such as `tcm 20, sram 40`; a bank without a size is
//! unlimited. The option `planner` names a planner. The output has a line per value: its lifetime in steps (step 0
//! writes the inputs, step `n` runs the `n`th node, the last step reads the outputs), its arena, and its bytes in the
//! arena.

use std::path::Path;

use etbuild_golden::{Case, check};
use etbuild_ir::{LoweredProgram, PlannedProgram, lifetimes};
use etbuild_memory::{Bank, Options, PLANNERS, find_planner, plan, usage};

fn bank(text: &str) -> Result<Bank, String> {
    match text.split_once(' ') {
        None => Ok(Bank::unlimited(text)),
        Some((name, size)) => {
            let size = size.parse().map_err(|_| format!("`{size}` is not a size in bytes"))?;
            Ok(Bank { size: Some(size), ..Bank::unlimited(name) })
        }
    }
}

fn options(case: &Case) -> Result<Options, String> {
    let banks =
        case.option("banks").into_iter().flat_map(|list| list.split(", ")).map(bank).collect::<Result<_, _>>()?;
    let planner = case.option("planner").unwrap_or(PLANNERS[0].name());
    let planner = find_planner(planner).ok_or_else(|| format!("there is no planner `{planner}`"))?;
    Ok(Options { planner, banks })
}

fn table(planned: &PlannedProgram) -> String {
    let usage = usage(planned);
    let mut text = String::new();
    for (method, graph) in &planned.program().program().methods {
        let (plan, usage) = (&planned.plans()[method], usage[&method[..]]);
        text += &format!("method {method}: {} bytes, lower bound {}\n", usage.planned, usage.lower_bound);
        for arena in &plan.arenas {
            text += &format!("  arena {}: {} bytes, alignment {}\n", arena.bank, arena.size, arena.alignment);
        }
        let lifetimes = lifetimes(graph);
        for (id, place) in plan.allocations.iter() {
            let (name, lifetime) = (&graph.value(id).name, lifetimes.get(id).unwrap());
            let (start, end) = (place.offset, place.offset + graph.spec(id).nbytes() as u64);
            let steps = format!("steps {}..={}", lifetime.first, lifetime.last);
            text += &format!("  %{name:8} {steps:12} arena {} bytes {start}..{end}\n", place.memory_id);
        }
    }
    text
}

#[test]
fn values_get_the_expected_lifetimes_and_bytes() {
    check(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/plans")), |case| {
        let program = LoweredProgram::verify(case.program()).map_err(|violations| format!("{violations:?}"))?;
        Ok(plan(program, &options(case)?).map_or_else(|error| format!("error: {error}"), |planned| table(&planned)))
    });
}
