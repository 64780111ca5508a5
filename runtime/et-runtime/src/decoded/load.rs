//! Builds the value table of a decoded method.

use core::cell::Cell;
use core::marker::PhantomData;

use et_core::{Doubles, Error, Indices, Longs, Result, Storage, Tensor, TensorLayout, Value, ascii};
use et_format::{List, ProgramFile};

use super::{DecodedList, DecodedMemory, DecodedPlan, DecodedTensor, DecodedValue, Span};
use crate::inputs::copy_bytes;
use crate::values::Values;
use crate::{Delegate, DelegateSetup, Failure, Memory, NoEvents, Place};

/// A loaded method whose plan is constants of the binary. Executions call the listener `L`.
pub struct DecodedMethod<'a, P, L = NoEvents> {
    pub(super) values: Values<'a>,
    pub(super) delegates: &'a [&'a dyn Delegate<'a>],
    pub(super) listener: L,
    plan: PhantomData<P>,
}

impl<'a, P: DecodedPlan, L: Copy> DecodedMethod<'a, P, L> {
    /// Loads the method: fills the value table, copies initial values, and prepares the delegates, which are in the order of the blobs.
    /// The arenas hold zeros.
    pub fn load(
        listener: L,
        delegates: &'a [&'a dyn Delegate<'a>],
        memory: Memory<'a>,
    ) -> core::result::Result<Self, Failure> {
        let Memory { values, arenas, mut sizes, holds_state: _ } = memory;
        let slots = values.get(..P::VALUES.len()).ok_or(Error::MemoryAllocationFailed)?;
        for (index, (slot, value)) in (0..).zip(slots.iter().zip(P::VALUES)) {
            let value = place::<P>(value, arenas, &mut sizes);
            slot.set(value.map_err(|error| Place::Value(index).failure(error))?);
        }
        initialize::<P>(arenas)?;
        for (index, (delegate, blob)) in (0..).zip(delegates.iter().zip(P::BLOBS)) {
            init::<P>(*delegate, *blob).map_err(|error| Place::Delegate(index).failure(error))?;
        }
        Ok(Self { values: Values(slots), delegates, listener, plan: PhantomData })
    }

    /// The listener.
    pub const fn listener(&self) -> L {
        self.listener
    }

    /// Copies `bytes` into the memory of input `index`, a tensor that keeps its shape.
    pub fn copy_input(&self, index: usize, bytes: &[u8]) -> Result<()> {
        copy_bytes(&self.tensor(P::INPUTS, index)?, et_core::Input::of(bytes))
    }

    /// Output `index` of the last execution.
    pub fn output_tensor(&self, index: usize) -> Result<Tensor<'a>> {
        self.tensor(P::OUTPUTS, index)
    }

    fn tensor(&self, slots: &[i32], index: usize) -> Result<Tensor<'a>> {
        match self.values.slot(*slots.get(index).ok_or(Error::NotFound)?)?.get() {
            Value::Tensor(tensor) => Ok(tensor),
            _ => Err(Error::InvalidType),
        }
    }
}

/// Bytes of the program file.
pub(super) fn bytes<P: DecodedPlan>(span: Span) -> Result<&'static [u8]> {
    P::FILE.get(span.start as usize..).and_then(|rest| rest.get(..span.size as usize)).ok_or(Error::InvalidProgram)
}

/// A value in its memory.
fn place<'a, P: DecodedPlan>(
    value: &DecodedValue,
    arenas: &[&'a [Cell<u8>]],
    sizes: &mut &'a mut [i32],
) -> Result<Value<'a>> {
    Ok(match *value {
        DecodedValue::None => Value::None,
        DecodedValue::Int(halves) => Value::Int(DecodedValue::join(halves).cast_signed()),
        DecodedValue::Bool(value) => Value::Bool(value),
        DecodedValue::Double(halves) => Value::Double(f64::from_bits(DecodedValue::join(halves))),
        DecodedValue::List(kind, span) => list(kind, bytes::<P>(span)?)?,
        DecodedValue::Tensor(tensor) => Value::Tensor(place_tensor::<P>(tensor, arenas, None)?),
        DecodedValue::DynamicTensor(index) => {
            let tensor = *P::DYNAMIC.get(index as usize).ok_or(Error::InvalidProgram)?;
            let (bounds, left) = core::mem::take(sizes)
                .split_at_mut_checked(2 * usize::from(tensor.rank))
                .ok_or(Error::MemoryAllocationFailed)?;
            *sizes = left;
            Value::Tensor(place_tensor::<P>(tensor, arenas, Some(bounds))?)
        }
    })
}

fn list(kind: DecodedList, bytes: &'static [u8]) -> Result<Value<'static>> {
    Ok(match kind {
        DecodedList::Text => Value::String(ascii(bytes)?),
        DecodedList::Int => Value::IntList(Longs::new(bytes)),
        DecodedList::Double => Value::DoubleList(Doubles::new(bytes)),
        DecodedList::Bool => Value::BoolList(bytes),
        DecodedList::Tensor => Value::TensorList(Indices::new(bytes)),
        DecodedList::OptionalTensor => Value::OptionalTensorList(Indices::new(bytes)),
    })
}

fn place_tensor<'a, P: DecodedPlan>(
    tensor: DecodedTensor,
    arenas: &[&'a [Cell<u8>]],
    bounds: Option<&'a mut [i32]>,
) -> Result<Tensor<'a>> {
    let rank = u32::from(tensor.rank);
    let layout = TensorLayout {
        scalar_type: tensor.scalar_type,
        sizes: Indices::new(bytes::<P>(Span { start: tensor.sizes, size: 4 * rank })?),
        dim_order: bytes::<P>(Span { start: tensor.dim_order, size: rank })?,
    };
    let start = tensor.elements as usize;
    let storage = match tensor.memory {
        DecodedMemory::Missing => Storage::Missing,
        DecodedMemory::File => Storage::Constant(P::FILE.get(start..).ok_or(Error::InvalidProgram)?),
        DecodedMemory::Arena(index) => Storage::Shared(arena(arenas, usize::from(index), start)?),
    };
    Tensor::place(layout, storage, bounds)
}

/// An arena from an offset on.
fn arena<'a>(arenas: &[&'a [Cell<u8>]], index: usize, start: usize) -> Result<&'a [Cell<u8>]> {
    arenas.get(index).and_then(|arena| arena.get(start..)).ok_or(Error::InvalidProgram)
}

fn initialize<P: DecodedPlan>(arenas: &[&[Cell<u8>]]) -> Result<()> {
    for value in P::INITIAL {
        let cells = arena(arenas, value.arena as usize, value.offset as usize)?;
        cells.iter().zip(bytes::<P>(value.bytes)?).for_each(|(cell, byte)| cell.set(*byte));
    }
    Ok(())
}

fn init<'a, P: DecodedPlan>(delegate: &dyn Delegate<'a>, blob: Span) -> Result<()> {
    let setup = DelegateSetup { blob: bytes::<P>(blob)?, compile_specs: List::default(), file: ProgramFile::EMPTY };
    delegate.init(&setup)
}
