//! A memory plan over time: which value lies where, from which step to which.

use etbuild_ir::{Graph, MemoryPlan, PlannedProgram, ValueId, aliases, lifetimes};
use serde::Serialize;

/// The memory of a method.
#[derive(Clone, Debug, Serialize)]
pub struct MethodMemory {
    /// The method.
    pub method: String,
    /// The steps: the writing of the inputs, one step for each node, the reading of the outputs.
    pub steps: usize,
    /// The arenas.
    pub arenas: Vec<ArenaUse>,
}

/// An arena with the allocations over time.
#[derive(Clone, Debug, Serialize)]
pub struct ArenaUse {
    /// The memory bank of the target.
    pub bank: String,
    /// Bytes.
    pub size: u64,
    /// The most bytes that values in use take at any step.
    pub peak: u64,
    /// The step of the peak.
    pub peak_step: usize,
    /// The values, in the order of their first steps.
    pub values: Vec<Placed>,
}

/// A value in an arena.
#[derive(Clone, Debug, Serialize)]
pub struct Placed {
    /// The value.
    pub name: String,
    /// Type and shape, such as `float32[1, 10]`.
    pub r#type: String,
    /// Bytes from the arena's start.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// The step that writes the value.
    pub first: usize,
    /// The last step that reads the value.
    pub last: usize,
}

/// The memory of every method.
pub fn of(planned: &PlannedProgram) -> Vec<MethodMemory> {
    let graphs = &planned.program().program().methods;
    let methods = planned.plans().iter().filter_map(|(method, plan)| Some((method, plan, graphs.get(method)?)));
    methods.map(|(method, plan, graph)| of_method(method, plan, graph)).collect()
}

fn of_method(method: &str, plan: &MemoryPlan, graph: &Graph) -> MethodMemory {
    let steps = graph.nodes.len() + 2;
    let mut arenas: Vec<ArenaUse> = plan.arenas.iter().map(|arena| empty(&arena.bank, arena.size)).collect();
    let (mut lifetimes, aliases) = (lifetimes(graph), aliases(graph));
    // The base of a view is in use as long as the view is.
    for (view, root) in aliases.iter() {
        if let (Some(view), Some(whole)) = (lifetimes.get(view).copied(), lifetimes.get(*root).copied()) {
            lifetimes.insert(*root, whole.union(view));
        }
    }
    for (id, place) in plan.allocations.iter().filter(|(id, _)| aliases.get(*id).is_none()) {
        let arena = usize::try_from(place.memory_id).ok().and_then(|id| arenas.get_mut(id.checked_sub(1)?));
        if let (Some(arena), Some(lifetime)) = (arena, lifetimes.get(id)) {
            arena.values.push(placed(graph, id, place.offset, (lifetime.first, lifetime.last)));
        }
    }
    for arena in &mut arenas {
        arena.values.sort_by_key(|value| (value.first, value.offset));
        (arena.peak, arena.peak_step) = peak(&arena.values, steps);
    }
    MethodMemory { method: method.to_owned(), steps, arenas }
}

fn empty(bank: &str, size: u64) -> ArenaUse {
    ArenaUse { bank: bank.to_owned(), size, peak: 0, peak_step: 0, values: Vec::new() }
}

fn placed(graph: &Graph, id: ValueId, offset: u64, (first, last): (usize, usize)) -> Placed {
    let spec = graph.spec(id);
    let sizes: Vec<String> = spec.sizes.iter().map(ToString::to_string).collect();
    let r#type = format!("{}[{}]", spec.scalar_type.name(), sizes.join(", "));
    Placed { name: graph.value(id).name.clone(), r#type, offset, size: spec.nbytes() as u64, first, last }
}

/// The most bytes in use at a step, and the first step with this number.
fn peak(values: &[Placed], steps: usize) -> (u64, usize) {
    let mut changes = vec![(0_u64, 0_u64); steps + 1];
    for value in values {
        changes.get_mut(value.first).into_iter().for_each(|change| change.0 += value.size);
        changes.get_mut(value.last + 1).into_iter().for_each(|change| change.1 += value.size);
    }
    let (mut used, mut most) = (0_u64, (0, 0));
    for (step, (more, less)) in changes.into_iter().enumerate() {
        used = (used + more).saturating_sub(less);
        if used > most.0 {
            most = (used, step);
        }
    }
    most
}
