//! From lowered programs to planned ones.

use etbuild_ir::text::{parse, print_plan};
use etbuild_ir::{ConstantData, Lowered, LoweredProgram, Verified};
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

/// Two methods that hold the same state, and a third that holds none.
const SHARING: &str = "etbuild-ir 1 lowered
method read
  input %x: float32[4]
  state %k: float32[4] = \"cache\" b3:ZEROS
  %a: float32[4] = aten.add.Tensor(%x, %k, 1)
  return %a
method sum
  input %y: float32[4]
  %b: float32[4] = aten.relu.default(%y)
  return %b
method write
  input %x: float32[4]
  input %y: float32[4]
  state %k: float32[4] = \"cache\" b3:ZEROS
  %a: float32[4] = aten.add.Tensor(%x, %y, 1)
  update %k %a
  return %a
";

fn sharing(text: &str) -> LoweredProgram {
    let mut data = |digest| {
        let known = [vec![0_u8; 16], vec![0; 32]].map(ConstantData::new);
        known.into_iter().find(|data| data.digest() == digest)
    };
    let text = text.replace("ZEROS", &ConstantData::new(vec![0_u8; 16]).digest().to_string());
    let (_, program) = parse(&text, &mut data).unwrap();
    Verified::<Lowered>::verify(program).unwrap()
}

#[test]
fn state_of_one_name_has_one_place_in_the_first_arena_of_all_methods() {
    let planned = plan(sharing(SHARING), &options(&Greedy, vec![bank("ram", 80)])).unwrap();
    let plans = "plan read
  arena ram 16 16
  arena ram 32 16
  place %x 2 0
  place %k 1 0
  place %a 2 16
plan sum
  arena ram 16 16
  arena ram 32 16
  place %y 2 0
  place %b 2 16
plan write
  arena ram 16 16
  arena ram 48 16
  place %x 2 0
  place %y 2 16
  place %k 1 0
  place %a 2 32
";
    assert!(print_plan(&planned).ends_with(plans), "{}", print_plan(&planned));
    // What is shared is taken from the bank of every method.
    let error = plan(sharing(SHARING), &options(&Greedy, vec![bank("ram", 48)])).unwrap_err();
    assert!(matches!(&error, MemoryError::DoesNotFit { method, .. } if method == "write"), "{error}");
}

#[test]
fn state_of_one_name_that_is_not_the_same_is_refused() {
    let zeros = ConstantData::new(vec![0_u8; 32]).digest();
    let (first, last) = SHARING.split_at(SHARING.find("method write").unwrap());
    let last = last.replace("%k: float32[4]", "%k: float32[8]");
    let last = last.replace("ZEROS", &zeros.to_string());
    let last = last.replace("update %k %a\n", "");
    let error = plan(sharing(&format!("{first}{last}")), &options(&Greedy, vec![Bank::unlimited("ram")])).unwrap_err();
    let methods = ["read", "write"].map(str::to_owned);
    assert_eq!(error, MemoryError::StateDiffers { name: "cache".to_owned(), methods });
}
