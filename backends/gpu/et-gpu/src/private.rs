//! Private state: state that only this backend accesses, and that can stay on a device therefore.
//!
//! The state of a program file is private as a whole, or not at all. A method may borrow the state of another method (a batch of
//! texts works on the KV caches of several instances), and the file does not say which of its states.

use core::ops::Range;
use std::collections::BTreeSet;

use et_core::{Error, Indices, Result};
use et_format::{ExecutionPlan, Instruction, Kind, ShapeDynamism, Tensor, View};
use et_runtime::DelegateSetup;

use crate::ID;

/// The arguments of the calls of a blob that are private state.
///
/// # Errors
/// [`Error::InvalidProgram`] for a malformed file, and errors of values that the runtime does not support.
pub fn private_states(setup: &DelegateSetup<'_>) -> Result<BTreeSet<usize>> {
    let mut found: Option<BTreeSet<usize>> = None;
    for plan in setup.file.program().execution_plans()?.iter() {
        let method = Method::of(plan?)?;
        if !method.is_private()? {
            return Ok(BTreeSet::new());
        }
        for arguments in method.calls(|delegate| {
            let blob = setup.file.delegate_blob(method.plan.delegate(delegate)?)?;
            Ok(core::ptr::eq(blob, setup.blob))
        })? {
            let states = method.positions(arguments)?;
            found = Some(found.map_or(states.clone(), |found| &found & &states));
        }
    }
    Ok(found.unwrap_or_default())
}

/// Bytes of an arena.
#[derive(Clone, PartialEq, Eq)]
struct Span {
    arena: u32,
    bytes: Range<u64>,
}

impl Span {
    /// The memory of a planned tensor; `None` for a tensor elsewhere.
    fn of(tensor: Tensor<'_>) -> Result<Option<Self>> {
        let Some(place) = tensor.allocation()? else { return Ok(None) };
        let bytes = et_core::TensorLayout {
            scalar_type: tensor.scalar_type()?,
            sizes: tensor.sizes()?,
            dim_order: tensor.dim_order()?,
        };
        let end = place.offset.checked_add(bytes.nbytes()? as u64).ok_or(Error::InvalidProgram)?;
        Ok(Some(Self { arena: place.memory_id, bytes: place.offset..end }))
    }

    fn meets(&self, other: &Self) -> bool {
        self.arena == other.arena && self.bytes.start < other.bytes.end && other.bytes.start < self.bytes.end
    }
}

/// A method with its states.
struct Method<'a> {
    plan: ExecutionPlan<'a>,
    states: Vec<Span>,
    /// Whether the sizes of a state can change.
    is_dynamic: bool,
}

impl<'a> Method<'a> {
    /// Finds the states of a method: planned tensors with names.
    fn of(plan: ExecutionPlan<'a>) -> Result<Self> {
        let (mut states, mut is_dynamic) = (Vec::new(), false);
        for value in plan.values()?.iter() {
            let value = value?;
            if value.kind()? != Kind::Tensor {
                continue;
            }
            let tensor = Tensor::of(value.content()?);
            if let (Some(_), Some(span)) = (tensor.extra()?, Span::of(tensor)?) {
                is_dynamic |= tensor.shape_dynamism()? != ShapeDynamism::Static;
                states.push(span);
            }
        }
        Ok(Self { plan, states, is_dynamic })
    }

    /// Whether calls of this backend, and nobody else, access each state of the method, as a whole.
    fn is_private(&self) -> Result<bool> {
        let is_ours = |delegate: usize| Ok(self.plan.delegate(delegate)?.id()? == ID);
        let (mut others, mut called) = (Vec::new(), Vec::new());
        others.extend(self.plan.inputs()?.iter().chain(self.plan.outputs()?.iter()));
        for instruction in self.instructions()? {
            match instruction {
                Instruction::DelegateCall { delegate, arguments } if is_ours(delegate as usize)? => {
                    called.extend(arguments.iter());
                }
                Instruction::KernelCall { arguments, .. } | Instruction::DelegateCall { arguments, .. } => {
                    others.extend(arguments.iter());
                }
                Instruction::MoveCall { from, to } => others.extend([from, to]),
                Instruction::JumpFalseCall { condition: slot, .. } | Instruction::FreeCall { value: slot } => {
                    others.push(slot);
                }
            }
        }
        let (others, called) = (self.spans(&others)?, self.spans(&called)?);
        let is_private = |state: &Span| {
            called.contains(state)
                && !others.iter().any(|span| span.meets(state))
                && called.iter().all(|span| span == state || !span.meets(state))
        };
        Ok(!self.is_dynamic && self.states.iter().all(is_private))
    }

    /// The arguments of the calls of the delegates that `accept` takes.
    fn calls(&self, accept: impl Fn(usize) -> Result<bool>) -> Result<Vec<Indices<'a>>> {
        let mut calls = Vec::new();
        for instruction in self.instructions()? {
            if let Instruction::DelegateCall { delegate, arguments } = instruction
                && accept(delegate as usize)?
            {
                calls.push(arguments);
            }
        }
        Ok(calls)
    }

    /// The positions of the arguments that are states.
    fn positions(&self, arguments: Indices<'_>) -> Result<BTreeSet<usize>> {
        let mut positions = BTreeSet::new();
        for (position, slot) in arguments.iter().enumerate() {
            if self.spans(&[slot])?.iter().any(|span| self.states.contains(span)) {
                positions.insert(position);
            }
        }
        Ok(positions)
    }

    fn instructions(&self) -> Result<Vec<Instruction<'a>>> {
        let mut instructions = Vec::new();
        for chain in self.plan.chains()?.iter() {
            let chain = chain?;
            for index in 0..chain.instruction_count()? {
                instructions.push(chain.instruction(index)?);
            }
        }
        Ok(instructions)
    }

    /// The memory of the planned tensors among values, those in lists included.
    fn spans(&self, slots: &[i32]) -> Result<Vec<Span>> {
        let mut spans = Vec::new();
        for slot in slots {
            // A missing argument is -1.
            let Ok(slot) = usize::try_from(*slot) else { continue };
            let value = self.plan.value(slot)?;
            match value.kind()? {
                Kind::Tensor => spans.extend(Span::of(Tensor::of(value.content()?))?),
                Kind::TensorList | Kind::OptionalTensorList => {
                    for item in value.tensor_list()?.iter().filter_map(|item| usize::try_from(item).ok()) {
                        spans.extend(Span::of(self.plan.tensor(item)?)?);
                    }
                }
                _ => {}
            }
        }
        Ok(spans)
    }
}

#[cfg(test)]
mod tests {
    use et_core::ScalarType;
    use et_format::{ProgramFile, write};
    use write::Instruction::{DelegateCall, FreeCall, JumpFalseCall, KernelCall, MoveCall};

    use super::*;

    /// A tensor of 8 floats, which is a state if the tensor has a name.
    fn tensor(offset: u64, name: Option<&str>) -> write::Tensor {
        let extra = name.map(|name| write::ExtraTensorInfo { fully_qualified_name: name.to_owned(), external: false });
        write::Tensor {
            scalar_type: ScalarType::Float,
            sizes: vec![8],
            dim_order: vec![0],
            data_buffer: 0,
            allocation: Some(write::Allocation { memory_id: 1, offset }),
            dynamic: false,
            extra,
        }
    }

    /// A method that calls our delegate on an input, a state and an output, and on the state again, which is written in place.
    fn method(instructions: &[write::Instruction]) -> write::ExecutionPlan<'static> {
        let tensors = [tensor(32, None), tensor(0, Some("cache")), tensor(64, None), tensor(0, None), tensor(16, None)];
        let mut values: Vec<_> = tensors.into_iter().map(write::EValue::Tensor).collect();
        values.push(write::EValue::OptionalTensorList(vec![-1, 1]));
        let delegate = |id: &str, blob| write::BackendDelegate { id: id.to_owned(), blob, compile_specs: vec![] };
        let ours = DelegateCall { delegate: 0, arguments: vec![0, 1, 2, 3, -1] };
        write::ExecutionPlan {
            name: "forward".to_owned(),
            values,
            inputs: vec![0],
            outputs: vec![2],
            chains: vec![write::Chain { instructions: [&[ours], instructions].concat() }],
            operators: vec![write::Operator { name: "aten::relu".to_owned(), overload: "out".to_owned() }],
            delegates: vec![delegate(ID, b"blob"), delegate("Other", b"blobs"), delegate(ID, b"more")],
            arena_sizes: vec![96],
            ..write::ExecutionPlan::default()
        }
    }

    /// The private states of the first delegate of methods.
    fn found(methods: &[write::ExecutionPlan<'_>]) -> Vec<usize> {
        let program = write::Program { execution_plans: methods.to_vec(), ..write::Program::default() };
        let mut bytes = Vec::new();
        write::write_program(&program, &mut bytes).unwrap();
        let file = ProgramFile::parse(&bytes).unwrap();
        let delegate = file.program().execution_plan(0).unwrap().delegate(0).unwrap();
        let (blob, compile_specs) = (file.delegate_blob(delegate).unwrap(), delegate.compile_specs().unwrap());
        private_states(&DelegateSetup { blob, compile_specs, file }).unwrap().into_iter().collect()
    }

    /// The private states of a method, if another method of the file has a further instruction.
    fn found_beside(instruction: write::Instruction) -> Vec<usize> {
        found(&[method(&[]), method(&[instruction])])
    }

    #[test]
    fn a_state_of_calls_of_this_backend_is_private() {
        assert_eq!(found(&[method(&[])]), [1, 3]);
        assert_eq!(found_beside(KernelCall { operator: 0, arguments: vec![0, 2] }), [1, 3]);
        assert_eq!(found_beside(DelegateCall { delegate: 1, arguments: vec![0, 2, -1] }), [1, 3]);
        assert_eq!(found_beside(DelegateCall { delegate: 2, arguments: vec![1] }), [1, 3]);
    }

    #[test]
    fn a_state_of_another_instruction_is_not_private() {
        let others = [
            KernelCall { operator: 0, arguments: vec![0, 3] },
            KernelCall { operator: 0, arguments: vec![4] },
            KernelCall { operator: 0, arguments: vec![5, 2] },
            DelegateCall { delegate: 1, arguments: vec![1, 2] },
            MoveCall { from: 1, to: 2 },
            MoveCall { from: 2, to: 1 },
            JumpFalseCall { condition: 1, destination: 0 },
            FreeCall { value: 1 },
        ];
        for instruction in others {
            assert_eq!(found_beside(instruction.clone()), [0; 0], "{instruction:?}");
        }
    }

    #[test]
    fn a_state_that_is_an_input_an_output_or_unused_is_not_private() {
        let dynamic = || write::EValue::Tensor(write::Tensor { dynamic: true, ..tensor(0, Some("cache")) });
        let changes: [&dyn Fn(&mut write::ExecutionPlan<'_>); 4] = [
            &|plan| plan.inputs.push(1),
            &|plan| plan.outputs.push(3),
            &|plan| plan.values.push(write::EValue::Tensor(tensor(64, Some("unused")))),
            &|plan| plan.values[1] = dynamic(),
        ];
        for change in changes {
            let mut other = method(&[]);
            change(&mut other);
            assert_eq!(found(&[method(&[]), other]), [0; 0]);
        }
    }

    #[test]
    fn a_part_of_a_state_is_not_private() {
        assert_eq!(found_beside(DelegateCall { delegate: 2, arguments: vec![4] }), [0; 0]);
    }

    #[test]
    fn an_argument_is_private_if_it_is_in_every_call_of_the_blob() {
        assert_eq!(found_beside(DelegateCall { delegate: 0, arguments: vec![0, 1, 2, 2] }), [1]);
    }
}
