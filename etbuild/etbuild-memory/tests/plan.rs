//! From lowered programs to planned ones.

use etbuild_ir::text::{parse, print_plan};
use etbuild_ir::{Lowered, LoweredProgram, Verified};
use etbuild_memory::{Bank, Greedy, MemoryError, MethodUsage, Naive, Options, Planner, plan, usage};

const CHAIN: &str = "etbuild-ir 1 lowered
method forward
  input %x: float32[4]
  %a: float32[4] = aten.relu.default(%x)
  %b: float32[4] = aten.relu.default(%a)
  %c: float32[4] = aten.add.Tensor(%b, %b, 1)
  return %c
";

fn lowered(text: &str) -> LoweredProgram {
    let (_, program) = parse(text, &mut |_| None).unwrap();
    Verified::<Lowered>::verify(program).unwrap()
}

fn options(planner: &'static dyn Planner, banks: Vec<Bank>) -> Options {
    Options { planner, banks }
}

fn bank(name: &str, size: u64) -> Bank {
    Bank { size: Some(size), ..Bank::unlimited(name) }
}

#[test]
fn a_chain_takes_turns_in_two_places() {
    let planned = plan(lowered(CHAIN), &options(&Greedy, vec![Bank::unlimited("ram")])).unwrap();
    let plans = "plan forward
  arena ram 32 16
  place %x 1 0
  place %a 1 16
  place %b 1 0
  place %c 1 16
";
    assert!(print_plan(&planned).ends_with(plans), "{}", print_plan(&planned));
    assert_eq!(usage(&planned)["forward"], MethodUsage { planned: 32, lower_bound: 32 });
}

#[test]
fn without_sharing_every_value_has_its_own_bytes() {
    let planned = plan(lowered(CHAIN), &options(&Naive, vec![Bank::unlimited("ram")])).unwrap();
    assert_eq!(usage(&planned)["forward"], MethodUsage { planned: 64, lower_bound: 32 });
}

#[test]
fn values_spill_to_the_next_bank() {
    let banks = vec![bank("tcm", 20), bank("empty", 0), bank("sram", 40)];
    let planned = plan(lowered(CHAIN), &options(&Greedy, banks)).unwrap();
    let arenas = planned.plans()["forward"].arenas.iter().map(|arena| (&arena.bank[..], arena.size));
    assert_eq!(arenas.collect::<Vec<_>>(), [("tcm", 16), ("sram", 16)]);
}

#[test]
fn what_fits_nowhere_is_named() {
    let error = plan(lowered(CHAIN), &options(&Greedy, vec![bank("tcm", 20), bank("sram", 10)])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "method `forward` needs 16 bytes in memory bank `sram`, which has 10; largest at the peak: `a` (16 bytes)"
    );
}

#[test]
fn a_program_with_values_needs_a_bank() {
    assert_eq!(plan(lowered(CHAIN), &options(&Greedy, Vec::new())), Err(MemoryError::NoBank));
}
