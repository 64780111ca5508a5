//! From a lowered program to a planned program.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use etbuild_ir::{Allocation, Arena, Graph, LoweredProgram, MemoryPlan, PlannedProgram, aliases};

use crate::bound::peak;
use crate::items::{Entry, accesses, items};
use crate::options::Bank;
use crate::shared::SharedState;
use crate::{LiveTensor, MemoryError, Options, PlanRequest, Planner};

/// Places every value in a bank with room. Where the values do not fit in the first banks, those go there whose bytes are accessed most.
///
/// # Errors
/// An alignment of 0, no bank, values that do not fit in any bank, state that differs between methods.
pub fn plan(program: LoweredProgram, options: &Options) -> Result<PlannedProgram, MemoryError> {
    if let Some(bank) = options.banks.iter().find(|bank| bank.alignment == 0) {
        return Err(MemoryError::Alignment { bank: bank.name.clone() });
    }
    let shared = SharedState::place(program.program(), options)?;
    let methods = program.program().methods.iter();
    let plans = methods.map(|(name, graph)| Ok((name.clone(), plan_method(name, graph, &shared, options)?)));
    let plans: BTreeMap<String, MemoryPlan> = plans.collect::<Result<_, MemoryError>>()?;
    let planner = options.planner.name();
    PlannedProgram::verify(program, plans).map_err(|violations| MemoryError::Unsound { planner, violations })
}

fn plan_method(
    method: &str,
    graph: &Graph,
    shared: &SharedState,
    options: &Options,
) -> Result<MemoryPlan, MemoryError> {
    let mut plan = MemoryPlan {
        arenas: shared.arena().cloned().into_iter().collect(),
        allocations: shared.places(graph).collect(),
    };
    let (mut left, mut handed) = (items(graph), Vec::new());
    left.retain(|(id, _)| plan.allocations.get(*id).is_none());
    if options.banks.len() > 1 {
        let accesses = accesses(graph);
        left.sort_by_key(|(id, _)| Reverse(accesses.get(*id).copied().unwrap_or(0)));
    }
    for (bank, later) in options.banks.iter().zip((0..options.banks.len()).rev()) {
        let bank = Bank { size: bank.size.map(|size| size.saturating_sub(shared.taken(&bank.name))), ..bank.clone() };
        handed = std::mem::take(&mut left);
        let taken = if later > 0 { hottest(&bank, &handed, options.planner) } else { handed.clone() };
        left = fill_bank(&bank, &taken, options.planner, &mut plan);
        left.extend(handed.iter().filter(|entry| !taken.contains(entry)));
    }
    if !left.is_empty() {
        return Err(does_not_fit(method, graph, &handed, options));
    }
    for (view, root) in aliases(graph).iter() {
        plan.allocations.get(*root).copied().map(|place| plan.allocations.insert(view, place));
    }
    Ok(plan)
}

/// The first of the entries that fit in a bank together, each further one where the bank still has room: all of them, or those with the most
/// accesses.
fn hottest(bank: &Bank, entries: &[Entry], planner: &dyn Planner) -> Vec<Entry> {
    let fits = |entries: &[Entry]| planner.plan(&request(bank, entries, bank.size)).offsets.iter().all(Option::is_some);
    if fits(entries) {
        return entries.to_vec();
    }
    let mut taken = Vec::new();
    for entry in entries {
        taken.push(*entry);
        if !fits(&taken) {
            taken.pop();
        }
    }
    taken
}

/// Places the values that fit and returns the rest. A bank without values has no arena.
fn fill_bank(bank: &Bank, entries: &[Entry], planner: &dyn Planner, plan: &mut MemoryPlan) -> Vec<Entry> {
    let layout = planner.plan(&request(bank, entries, bank.size));
    let memory_id = plan.arenas.len() as u32 + 1;
    let mut left = Vec::new();
    for (entry, offset) in entries.iter().zip(&layout.offsets) {
        match offset {
            Some(offset) => drop(plan.allocations.insert(entry.0, Allocation { memory_id, offset: *offset })),
            None => left.push(*entry),
        }
    }
    if layout.offsets.iter().any(Option::is_some) {
        plan.arenas.push(Arena { bank: bank.name.clone(), size: layout.size, alignment: bank.alignment });
    }
    left
}

fn request(bank: &Bank, entries: &[Entry], capacity: Option<u64>) -> PlanRequest {
    let items = entries.iter().map(|(_, item)| *item).collect();
    PlanRequest { items, alignment: bank.alignment, capacity }
}

/// The error for the last bank, given the values that the earlier banks had no room for.
fn does_not_fit(method: &str, graph: &Graph, handed: &[Entry], options: &Options) -> MemoryError {
    let Some(bank) = options.banks.last() else { return MemoryError::NoBank };
    let unlimited = request(bank, handed, None);
    MemoryError::DoesNotFit {
        method: method.to_owned(),
        bank: bank.name.clone(),
        need: options.planner.plan(&unlimited).size,
        size: bank.size.unwrap_or_default(),
        peak: live_at(peak(&unlimited.items).0, graph, handed),
    }
}

fn live_at(step: usize, graph: &Graph, entries: &[Entry]) -> Vec<LiveTensor> {
    let live = entries.iter().filter(|(_, item)| (item.lifetime.first..=item.lifetime.last).contains(&step));
    let tensor = |(id, item): &Entry| LiveTensor {
        name: graph.value(*id).name.clone(),
        scalar_type: graph.spec(*id).scalar_type,
        bytes: item.size,
    };
    let mut live: Vec<LiveTensor> = live.map(tensor).collect();
    live.sort_by_key(|tensor| Reverse(tensor.bytes));
    live
}
