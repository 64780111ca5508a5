//! The verifier of memory plans rejects exactly the plans with overlaps.

use std::collections::BTreeMap;

use etbuild_ir::text::parse;
use etbuild_ir::{
    Allocation, Arena, Graph, IdMap, Lifetime, LoweredProgram, MemoryPlan, PlannedProgram, ValueId, aliases, lifetimes,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// A program of sums and views: step `n` adds the values that `operands[n]` selects, or views the first value.
fn program(operands: &[(usize, usize, bool)]) -> LoweredProgram {
    let mut text = "etbuild-ir 1 lowered\nmethod forward\n  input %v0: float32[4]\n".to_owned();
    for (index, (left, right, view)) in operands.iter().enumerate() {
        let (left, right) = (left % (index + 1), right % (index + 1));
        let call = if *view {
            format!("aten.view_copy.default(%v{left}, [4])")
        } else {
            format!("aten.add.Tensor(%v{left}, %v{right}, 1)")
        };
        text += &format!("  %v{}: float32[4] = {call}\n", index + 1);
    }
    text += &format!("  return %v{}\n", operands.len());
    LoweredProgram::verify(parse(&text, &mut |_| None).unwrap().1).unwrap()
}

/// Whether two values other than aliases share bytes while both are live, by comparing all pairs.
fn overlaps(graph: &Graph, places: &IdMap<Allocation>) -> bool {
    let aliases = aliases(graph);
    let mut whole: BTreeMap<ValueId, Lifetime> = BTreeMap::new();
    for (id, lifetime) in lifetimes(graph).iter() {
        let root = aliases.get(id).copied().unwrap_or(id);
        whole.entry(root).and_modify(|known| *known = known.union(*lifetime)).or_insert(*lifetime);
    }
    let meet = |(one, when): (&ValueId, &Lifetime), (other, then): (&ValueId, &Lifetime)| {
        let [one, other] = [one, other].map(|id| places.get(*id).unwrap());
        when.overlaps(*then) && one.memory_id == other.memory_id && one.offset.abs_diff(other.offset) < 16
    };
    whole.iter().enumerate().any(|(index, entry)| whole.iter().skip(index + 1).any(|other| meet(entry, other)))
}

proptest! {
    #[test]
    fn exactly_the_plans_with_overlaps_are_rejected(
        operands in vec((0..9_usize, 0..9_usize, prop::bool::weighted(0.3)), 1..9),
        offsets in vec(0..12_u64, 10),
        arenas in vec(1..3_u32, 10),
    ) {
        let program = program(&operands);
        let graph = &program.program().methods["forward"];
        let roots = aliases(graph);
        let place = |id: ValueId| {
            let root = roots.get(id).copied().unwrap_or(id).index();
            Allocation { memory_id: arenas[root], offset: 8 * offsets[root] }
        };
        let allocations: IdMap<_> = graph.values_with_ids().map(|(id, _)| (id, place(id))).collect();
        let expected = overlaps(graph, &allocations);
        let arena = Arena { bank: "ram".to_owned(), size: 120, alignment: 8 };
        let plan = MemoryPlan { arenas: vec![arena.clone(), arena], allocations };
        let verified = PlannedProgram::verify(program, [("forward".to_owned(), plan)].into());
        prop_assert_eq!(verified.is_err(), expected);
    }
}
