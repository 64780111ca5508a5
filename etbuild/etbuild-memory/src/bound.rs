//! Memory use of methods: the plan, and a lower bound.

use std::collections::BTreeMap;

use etbuild_ir::PlannedProgram;

use crate::Item;
use crate::items::items;

/// The memory of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodUsage {
    /// Bytes of all arenas together.
    pub planned: u64,
    /// The most bytes in use at any step: no plan can be smaller.
    pub lower_bound: u64,
}

/// The memory of each method, by name.
pub fn usage(program: &PlannedProgram) -> BTreeMap<&str, MethodUsage> {
    let method_usage = |(name, graph): (_, &_)| {
        let plan = program.plans().get(name)?;
        let items: Vec<Item> = items(graph).into_iter().map(|(_, item)| item).collect();
        let planned = plan.arenas.iter().map(|arena| arena.size).sum();
        Some((String::as_str(name), MethodUsage { planned, lower_bound: lower_bound(&items) }))
    };
    program.program().program().methods.iter().filter_map(method_usage).collect()
}

/// The most bytes that are in use at any step.
pub fn lower_bound(items: &[Item]) -> u64 {
    peak(items).1
}

/// The first step at which the most bytes are in use, and their number. Takes `n log n` steps.
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
