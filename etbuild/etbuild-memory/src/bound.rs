//! How much memory a method needs at least, and how much its plan takes.

use std::collections::BTreeMap;

use etbuild_ir::PlannedProgram;

use crate::Item;
use crate::plan::items;

/// The memory of one method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodUsage {
    /// Bytes of all arenas together.
    pub planned: u64,
    /// Bytes below which no plan can go: the most that is in use at a step.
    pub lower_bound: u64,
}

/// What the plan of each method takes.
pub fn usage(program: &PlannedProgram) -> BTreeMap<&str, MethodUsage> {
    let method_usage = |(name, graph): (_, &_)| {
        let plan = program.plans().get(name)?;
        let items: Vec<Item> = items(graph).into_iter().map(|(_, item)| item).collect();
        let planned = plan.arenas.iter().map(|arena| arena.size).sum();
        Some((String::as_str(name), MethodUsage { planned, lower_bound: lower_bound(&items) }))
    };
    program.program().program().methods.iter().filter_map(method_usage).collect()
}

/// The most bytes that are in use at a step.
pub fn lower_bound(items: &[Item]) -> u64 {
    peak(items).1
}

/// The step at which most bytes are in use, the first if several, and how many. Takes `n log n` steps.
pub(crate) fn peak(items: &[Item]) -> (usize, u64) {
    let mut changes: BTreeMap<usize, (u128, u128)> = BTreeMap::new();
    for item in items {
        changes.entry(item.lifetime.first).or_default().0 += u128::from(item.size);
        changes.entry(item.lifetime.last + 1).or_default().1 += u128::from(item.size);
    }
    let mut live = 0;
    let mut peak = (0, 0);
    for (step, (begin, end)) in changes {
        live = live + begin - end;
        if live > peak.1 {
            peak = (step, live);
        }
    }
    (peak.0, u64::try_from(peak.1).unwrap_or(u64::MAX))
}
