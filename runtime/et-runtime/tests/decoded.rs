//! Methods as constants: values, every instruction, and plans that are wrong.
#![allow(unsafe_code)] // Hooks get a pointer of C.

mod support;

use std::cell::Cell;
use std::ffi::c_void;

use et_core::{Error, Kernel, Result, ScalarType, Value};
use et_runtime::{
    DecodedInstruction, DecodedList, DecodedMemory, DecodedMethod, DecodedPlan, DecodedTensor, DecodedValue, Events,
    Failure, Hooked, Hooks, InitialValue, Memory, NoEvents, Place, Position, Span,
};
use support::bytes;

/// Sizes `[2]` at 0, the dim order at 4, the constant `[3, 4]` at 8, arguments at 16: values 0, 2, 3 and 1, and 3 and 3.
#[repr(align(16))]
struct File([u8; 40]);

static FILE: File = File([
    2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x40, 0x40, 0, 0, 0x80, 0x40, 0, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 3, 0,
    0, 0, 3, 0, 0, 0,
]);

const ADD: DecodedInstruction = DecodedInstruction::Kernel(0, Span { start: 16, size: 16 });

const fn tensor(memory: DecodedMemory, elements: u32) -> DecodedTensor {
    DecodedTensor { sizes: 0, dim_order: 4, elements, scalar_type: ScalarType::Float, rank: 1, memory }
}

const fn planned(elements: u32) -> DecodedValue {
    DecodedValue::Tensor(tensor(DecodedMemory::Arena(0), elements))
}

/// `input + [3, 4]`, with a buffer that starts with `[3, 4]` at 16.
struct Sum;

impl DecodedPlan for Sum {
    const FILE: &'static [u8] = &FILE.0;
    const KERNELS: &'static [Kernel] = &[add];
    const VALUES: &'static [DecodedValue] = &[
        planned(0),
        planned(32),
        DecodedValue::Tensor(tensor(DecodedMemory::File, 8)),
        DecodedValue::Int([5, 0]),
        planned(16),
        DecodedValue::Bool(false),
        DecodedValue::Double([0, 0x3ff8_0000]),
        DecodedValue::List(DecodedList::Tensor, Span { start: 16, size: 8 }),
    ];
    const DYNAMIC: &'static [DecodedTensor] = &[];
    const INITIAL: &'static [InitialValue] =
        &[InitialValue { bytes: Span { start: 8, size: 8 }, arena: 0, offset: 16 }];
    const INPUTS: &'static [i32] = &[0];
    const OUTPUTS: &'static [i32] = &[1, 4];
    const BLOBS: &'static [Span] = &[];
    const INSTRUCTIONS: &'static [DecodedInstruction] = &[ADD];
}

fn add(args: &et_core::Args<'_, '_>) -> Result<()> {
    assert_eq!(args.int(2)?, 5);
    let [left, right, out] = [0, 1, 3].map(|position| args.tensor(position).unwrap());
    let (left, right, out) = (left.input::<f32>()?, right.input::<f32>()?, out.output::<f32>()?);
    (0..out.len()).for_each(|index| out.set(index, left.get(index) + right.get(index)));
    Ok(())
}

/// The plan of [`Sum`] with other items.
macro_rules! variant {
    ($name:ident: $($item:tt)*) => {
        struct $name;

        impl DecodedPlan for $name {
            const FILE: &'static [u8] = Sum::FILE;
            const KERNELS: &'static [Kernel] = Sum::KERNELS;
            const DYNAMIC: &'static [DecodedTensor] = &[tensor(DecodedMemory::Arena(0), 0)];
            const INITIAL: &'static [InitialValue] = &[];
            const INPUTS: &'static [i32] = Sum::INPUTS;
            const OUTPUTS: &'static [i32] = Sum::OUTPUTS;
            const BLOBS: &'static [Span] = &[];
            $($item)*
        }
    };
}

/// Loads a plan with an arena of 48 bytes, and calls `test` with the method.
fn with<P: DecodedPlan>(
    test: impl FnOnce(&DecodedMethod<'_, P>) -> core::result::Result<(), Failure>,
) -> core::result::Result<(), Failure> {
    load::<P, _>(NoEvents, test)
}

/// The same with a listener.
fn load<P: DecodedPlan, L: Events + Copy>(
    listener: L,
    test: impl FnOnce(&DecodedMethod<'_, P, L>) -> core::result::Result<(), Failure>,
) -> core::result::Result<(), Failure> {
    #[repr(align(16))]
    struct Arena([Cell<u8>; 48]);
    let arena = Arena([const { Cell::new(0) }; 48]);
    let values = [const { Cell::new(Value::None) }; 8];
    let mut sizes = [0; 2];
    let memory = Memory { values: &values, arenas: &[&arena.0], sizes: &mut sizes, holds_state: true };
    test(&DecodedMethod::<P, L>::load(listener, &[], memory)?)
}

fn output<P: DecodedPlan>(method: &DecodedMethod<'_, P>, index: usize) -> Vec<f32> {
    method.output_tensor(index).unwrap().input::<f32>().unwrap().iter().collect()
}

#[test]
fn values_are_in_the_arena_and_in_the_file() {
    with::<Sum>(|method| {
        method.copy_input(0, &bytes(&[1.0, 2.0]))?;
        method.execute()?;
        assert_eq!([output(method, 0), output(method, 1)], [[4.0, 6.0], [3.0, 4.0]]);
        assert_eq!(method.copy_input(0, &[0; 4]), Err(Error::InvalidArgument));
        assert_eq!(method.output_tensor(2).err(), Some(Error::NotFound));
        Ok(())
    })
    .unwrap();
}

/// What hooks have noted, where `context` is a cell of a text.
fn notes(context: *mut c_void) -> &'static Cell<String> {
    // SAFETY: the context of the hooks of this file is such a cell, which the test leaks.
    unsafe { &*context.cast() }
}

fn note(context: *mut c_void, text: &str) {
    let cell = notes(context);
    cell.set(cell.take() + text);
}

extern "C" fn alive(context: *mut c_void) {
    note(context, "alive ");
}

/// Counts the characters of the notes.
extern "C" fn cycles(context: *mut c_void) -> u32 {
    let cell = notes(context);
    let text = cell.take();
    let count = text.len() as u32;
    cell.set(text + ". ");
    count
}

extern "C" fn executed(context: *mut c_void, operator: u32, cycles: u32) {
    note(context, &format!("{operator} took {cycles} "));
}

#[test]
fn hooks_are_called_around_each_operator_and_each_part_of_a_delegate() {
    let cell: &'static Cell<String> = Box::leak(Box::default());
    let context = std::ptr::from_ref(cell).cast_mut().cast();
    let hooked = Hooked::new();
    load::<Sum, _>(&hooked, |method| {
        method.execute()?;
        assert_eq!(cell.take(), "", "no hooks yet");
        hooked.set(Hooks { context, alive: Some(alive), cycles: Some(cycles), executed: Some(executed) });
        hooked.restart();
        method.execute()
    })
    .unwrap();
    assert_eq!(cell.take(), "alive . . 0 took 2 ");
    hooked.set(Hooks { context, alive: Some(alive), cycles: None, executed: Some(executed) });
    hooked.restart();
    let (mut events, at) = (&hooked, Position { chain: 0, instruction: 0 });
    events.begin(at);
    (0..2).for_each(|part| events.part(part));
    events.pulse();
    events.end(at).unwrap();
    assert_eq!(cell.take(), "alive 0 took 0 alive alive 1 took 0 ");
}

variant! { Jump:
    const VALUES: &'static [DecodedValue] = Sum::VALUES;
    const INSTRUCTIONS: &'static [DecodedInstruction] =
        &[DecodedInstruction::JumpFalse(5, 2), ADD, DecodedInstruction::Move(2, 1), DecodedInstruction::Free(0)];
}

#[test]
fn instructions_jump_move_and_free() {
    with::<Jump>(|method| {
        method.execute()?;
        assert_eq!(output(method, 0), [3.0, 4.0], "the constant in the place of the sum");
        assert_eq!(method.copy_input(0, &[0; 8]), Err(Error::AccessFailed), "without memory");
        Ok(())
    })
    .unwrap();
}

variant! { Endless:
    const VALUES: &'static [DecodedValue] = Sum::VALUES;
    const INSTRUCTIONS: &'static [DecodedInstruction] = &[DecodedInstruction::JumpFalse(5, 0)];
}

#[test]
fn an_endless_loop_is_an_error() {
    let failure = with::<Endless>(|method| method.execute()).unwrap_err();
    assert_eq!(failure, Place::Instruction(0).failure(Error::OutOfResources));
}

variant! { Dynamic:
    const VALUES: &'static [DecodedValue] = &[DecodedValue::DynamicTensor(0)];
    const INSTRUCTIONS: &'static [DecodedInstruction] = &[];
}

#[test]
fn a_dynamic_tensor_has_its_bounds() {
    with::<Dynamic>(|method| Ok(method.copy_input(0, &[0; 8])?)).unwrap();
}

variant! { Outside:
    const VALUES: &'static [DecodedValue] = &[planned(0), planned(44)];
    const INSTRUCTIONS: &'static [DecodedInstruction] = &[];
}

variant! { Behind:
    const VALUES: &'static [DecodedValue] = &[DecodedValue::List(DecodedList::Bool, Span { start: 39, size: 2 })];
    const INSTRUCTIONS: &'static [DecodedInstruction] = &[];
}

variant! { Nothing:
    const VALUES: &'static [DecodedValue] = &[];
    const INSTRUCTIONS: &'static [DecodedInstruction] = &[DecodedInstruction::Kernel(1, Span { start: 0, size: 0 })];
}

#[test]
fn a_wrong_plan_is_an_error_with_its_place() {
    assert_eq!(with::<Outside>(|_| Ok(())), Err(Place::Value(1).failure(Error::AccessFailed)));
    assert_eq!(with::<Behind>(|_| Ok(())), Err(Place::Value(0).failure(Error::InvalidProgram)));
    assert_eq!(with::<Nothing>(|method| method.execute()), Err(Place::Instruction(0).failure(Error::InvalidProgram)));
}

#[test]
fn a_value_takes_four_words_and_an_instruction_three() {
    assert_eq!([size_of::<DecodedValue>(), size_of::<DecodedInstruction>()], [16, 12]);
}
