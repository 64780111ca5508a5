//! The verifier of memory plans.

use std::collections::BTreeMap;

use super::aliases;
use crate::{Allocation, Graph, IdMap, Lifetime, MemoryPlan, Program, ValueId, ValueKind, Violation, lifetimes};

/// The violations of a plan, methods in order. Takes `n log n` steps for `n` values.
pub(super) fn violations(program: &Program, plans: &BTreeMap<String, MemoryPlan>) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut report = |method: &str, (place, reason): Finding| {
        found.push(Violation { method: method.to_owned(), place, reason });
    };
    for (method, graph) in &program.methods {
        match plans.get(method) {
            Some(plan) => check(graph, plan).into_iter().for_each(|finding| report(method, finding)),
            None => report(method, ("plan".into(), "the method has no memory plan".into())),
        }
    }
    for method in plans.keys().filter(|method| !program.methods.contains_key(*method)) {
        report(method, ("plan".into(), "there is no such method".into()));
    }
    shared_state(program, plans, &mut report);
    found
}

/// State with the same name in several methods must have the same place.
fn shared_state(program: &Program, plans: &BTreeMap<String, MemoryPlan>, report: &mut impl FnMut(&str, Finding)) {
    let mut places: BTreeMap<&str, Option<&Allocation>> = BTreeMap::new();
    for (method, graph) in &program.methods {
        for (id, value) in graph.values_with_ids() {
            let ValueKind::State { qualified_name, .. } = &value.kind else { continue };
            let place = plans.get(method).and_then(|plan| plan.allocations.get(id));
            if *places.entry(qualified_name).or_insert(place) != place {
                report(method, (value.name.clone(), "the state has a different place in another method".into()));
            }
        }
    }
}

/// The value, and the fault.
type Finding = (String, String);

/// Bytes with a lifetime.
struct Block {
    value: ValueId,
    place: Allocation,
    size: u64,
    lifetime: Lifetime,
}

fn check(graph: &Graph, plan: &MemoryPlan) -> Vec<Finding> {
    let mut check = Check { graph, plan, blocks: IdMap::default(), found: Vec::new() };
    check.stray_allocations();
    check.place_values();
    check.sweep();
    check.found
}

struct Check<'a> {
    graph: &'a Graph,
    plan: &'a MemoryPlan,
    /// By the first value of a chain of views.
    blocks: IdMap<Block>,
    found: Vec<Finding>,
}

impl Check<'_> {
    fn stray_allocations(&mut self) {
        for (id, _) in self.plan.allocations.iter() {
            match self.graph.values.get(id.index()) {
                Some(_) if !self.graph.needs_memory(id) => self.report(id, "a constant or number needs no memory"),
                Some(_) => {}
                None => self.found.push((format!("value {}", id.0), "the value does not exist".into())),
            }
        }
    }

    fn place_values(&mut self) {
        let aliases = aliases(self.graph);
        for (id, lifetime) in lifetimes(self.graph).iter() {
            let root = aliases.get(id).copied().unwrap_or(id);
            match self.plan.allocations.get(id) {
                None => self.report(id, "the value has no memory"),
                Some(place) if self.plan.allocations.get(root) != Some(place) => {
                    self.report(id, "a view has a different place than its source");
                }
                Some(place) => self.place(id, root, *place, *lifetime),
            }
        }
    }

    fn place(&mut self, id: ValueId, root: ValueId, place: Allocation, lifetime: Lifetime) {
        let size = self.graph.spec(id).nbytes() as u64;
        if let Some(reason) = misplaced(self.plan, place, size) {
            self.report(id, reason);
        }
        let whole = self.blocks.get(root).map_or(lifetime, |block| block.lifetime.union(lifetime));
        self.blocks.insert(root, Block { value: root, place, size, lifetime: whole });
    }

    /// Visits the blocks in the order of their start. Live blocks are disjoint, or were reported, so a new block can
    /// only overlap its neighbours.
    fn sweep(&mut self) {
        let blocks = std::mem::take(&mut self.blocks);
        let mut starts: Vec<&Block> = blocks.iter().map(|(_, block)| block).filter(|block| block.size > 0).collect();
        starts.sort_by_key(|block| block.lifetime.first);
        let mut ends = starts.clone();
        ends.sort_by_key(|block| block.lifetime.last);
        let mut ends = ends.into_iter().peekable();
        let mut live: BTreeMap<(u32, u64), &Block> = BTreeMap::new();
        for block in starts {
            while let Some(over) = ends.next_if(|over| over.lifetime.last < block.lifetime.first) {
                live.remove(&key(over));
            }
            let (before, after) = (live.range(..key(block)).next_back(), live.range(key(block)..).next());
            before.into_iter().chain(after).for_each(|(_, other)| self.compare(other, block));
            live.insert(key(block), block);
        }
    }

    fn compare(&mut self, earlier: &Block, block: &Block) {
        if share_bytes(earlier, block) {
            let other = &self.graph.value(earlier.value).name;
            self.report(block.value, &format!("the value shares bytes with `{other}`, which is in use"));
        }
    }

    fn report(&mut self, id: ValueId, reason: &str) {
        self.found.push((self.graph.value(id).name.clone(), reason.to_owned()));
    }
}

fn misplaced(plan: &MemoryPlan, place: Allocation, size: u64) -> Option<&'static str> {
    let Some(arena) = plan.arena(place.memory_id) else { return Some("there is no such arena") };
    if place.offset.checked_rem(arena.alignment) != Some(0) {
        return Some("the offset is not a multiple of the arena's alignment");
    }
    place.offset.checked_add(size).is_none_or(|end| end > arena.size).then_some("the value ends outside its arena")
}

const fn key(block: &Block) -> (u32, u64) {
    (block.place.memory_id, block.place.offset)
}

const fn share_bytes(one: &Block, other: &Block) -> bool {
    one.place.memory_id == other.place.memory_id
        && one.place.offset < other.place.offset.saturating_add(other.size)
        && other.place.offset < one.place.offset.saturating_add(one.size)
}

#[cfg(test)]
mod tests {
    use crate::text::{PlanTextError, parse_plan};

    const PROGRAM: &str = "etbuild-ir 1 planned
method forward
  input %x: float32[2]
  %a: float32[2] = aten.relu.default(%x)
  %b: float32[2] = aten.relu.default(%a)
  return %b
plan forward
  arena ram 64 16
";

    /// The reasons for rejecting a plan with these places.
    fn reasons(places: &str) -> Vec<String> {
        match parse_plan(&format!("{PROGRAM}{places}"), &mut |_| None) {
            Ok(_) => Vec::new(),
            Err(PlanTextError::Violations(violations)) => violations.into_iter().map(|found| found.reason).collect(),
            Err(PlanTextError::Syntax(error)) => panic!("{error}"),
        }
    }

    #[test]
    fn values_with_disjoint_lifetimes_may_share_bytes() {
        assert!(reasons("  place %x 1 0\n  place %a 1 16\n  place %b 1 0\n").is_empty());
    }

    #[test]
    fn values_with_overlapping_lifetimes_must_not_share_bytes() {
        let found = reasons("  place %x 1 0\n  place %a 1 0\n  place %b 1 16\n");
        assert_eq!(found, ["the value shares bytes with `x`, which is in use"]);
    }

    #[test]
    fn every_value_has_an_aligned_place_in_an_arena() {
        assert_eq!(reasons("  place %x 1 0\n  place %a 1 16\n"), ["the value has no memory"]);
        let found = reasons("  place %x 1 8\n  place %a 2 16\n  place %b 1 64\n");
        assert_eq!(
            found,
            [
                "the offset is not a multiple of the arena's alignment",
                "there is no such arena",
                "the value ends outside its arena"
            ]
        );
    }

    #[test]
    fn a_plan_of_an_unknown_method_is_rejected() {
        let found = reasons("  place %x 1 0\n  place %a 1 16\n  place %b 1 0\nplan other\n");
        assert_eq!(found, ["there is no such method"]);
    }
}
