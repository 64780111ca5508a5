//! Calls a single operator from the host: owned arguments in, owned tensors out.
#![allow(unsafe_code)] // Lends owned buffers to raw tensors for the length of a call.

use core::cell::Cell;
use std::vec::Vec;

use et_core::{
    Access, Args, DimOrder, Doubles, Error, Indices, Kernel, Longs, Result, Scalar, ScalarType, Shape, TensorLayout,
    Value,
};

use crate::{Meta, Operator, Outs, Primitive};

/// A tensor that owns the memory of its elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedTensor {
    /// The type of the elements.
    pub scalar_type: ScalarType,
    /// The sizes, outermost first.
    pub sizes: Vec<i32>,
    /// The elements, little-endian, row-major unless a call was asked for another order.
    pub bytes: Vec<u8>,
}

/// An argument of an operator, owned or borrowed.
#[derive(Clone, Debug)]
pub enum Argument<'a> {
    /// Absent.
    None,
    /// An integer; a scalar type is passed as its number.
    Int(i64),
    /// A boolean.
    Bool(bool),
    /// A floating-point number.
    Double(f64),
    /// Text.
    Text(&'a str),
    /// Integers.
    Ints(Vec<i64>),
    /// Floating-point numbers.
    Doubles(Vec<f64>),
    /// Booleans.
    Bools(Vec<bool>),
    /// A tensor.
    Tensor(TensorRef<'a>),
    /// A tensor whose elements lie in memory as the dim order says.
    Ordered(TensorRef<'a>, DimOrder),
    /// Tensors, some perhaps absent.
    Tensors(Vec<Option<TensorRef<'a>>>),
}

/// A tensor in someone else's memory.
#[derive(Clone, Copy, Debug)]
pub struct TensorRef<'a> {
    /// The type of the elements.
    pub scalar_type: ScalarType,
    /// The sizes, outermost first.
    pub sizes: &'a [i32],
    /// The elements, row-major unless said otherwise; empty where only type and shape matter.
    pub bytes: &'a [u8],
}

impl OwnedTensor {
    /// A tensor of zeros.
    pub fn zeros(meta: &Meta) -> Result<Self> {
        let bytes = std::vec![0; meta.shape.numel()? * meta.scalar_type.size()];
        Ok(Self { scalar_type: meta.scalar_type, sizes: meta.shape.sizes().to_vec(), bytes })
    }

    /// Shrinks the tensor to the shape that a kernel gave the output; the dropped elements lie at the end of the
    /// buffer.
    fn shrink(&mut self, shape: &Shape) -> Result<()> {
        self.bytes.truncate(shape.numel()? * self.scalar_type.size());
        self.sizes = shape.sizes().to_vec();
        Ok(())
    }

    /// The tensor, borrowed.
    pub fn as_ref(&self) -> TensorRef<'_> {
        TensorRef { scalar_type: self.scalar_type, sizes: &self.sizes, bytes: &self.bytes }
    }
}

/// Dtype and shape of each output of `operator`, by the operator's shape rule. `wanted` has an item per output: the
/// tensor that the caller wants, or `None` for no preference. Only some operators leave the caller a choice.
pub fn infer(operator: &Operator, arguments: &[Argument<'_>], wanted: &[Option<Meta>]) -> Result<Vec<Meta>> {
    let outs = match operator.outs() {
        Outs::FirstArgument => Vec::new(),
        Outs::Tensors(_) | Outs::List => wanted.iter().map(wanted_slot).collect(),
    };
    let table = Table::new(operator.outs(), arguments, outs)?;
    table.with_args(|args| (0..wanted.len()).map(|index| (operator.infer)(args, index)).collect())
}

/// Calls the portable kernel of `operator`, whose number of outputs the schema says.
pub fn call(operator: &Operator, arguments: &[Argument<'_>]) -> Result<Vec<OwnedTensor>> {
    call_kernel(operator, operator.kernel, arguments)
}

/// Calls any kernel that implements `operator`, whose number of outputs the schema says.
pub fn call_kernel(operator: &Operator, kernel: Kernel, arguments: &[Argument<'_>]) -> Result<Vec<OwnedTensor>> {
    let count = operator.outs().count().ok_or(Error::NotSupported)?;
    call_kernel_for(operator, kernel, arguments, &infer(operator, arguments, &std::vec![None; count])?)
}

/// Calls a kernel whose outputs are of these types and shapes, or smaller where the elements decide.
pub fn call_kernel_for(
    operator: &Operator,
    kernel: Kernel,
    arguments: &[Argument<'_>],
    metas: &[Meta],
) -> Result<Vec<OwnedTensor>> {
    call_ordered(operator, kernel, arguments, metas, DimOrder::contiguous)
}

/// Like [`call_kernel_for`], with outputs laid out in the dim order that `order` gives for their rank. An argument that
/// the kernel writes must have that dim order too.
pub fn call_ordered(
    operator: &Operator,
    kernel: Kernel,
    arguments: &[Argument<'_>],
    metas: &[Meta],
    order: fn(usize) -> DimOrder,
) -> Result<Vec<OwnedTensor>> {
    let mut outputs: Vec<OwnedTensor> = metas.iter().map(OwnedTensor::zeros).collect::<Result<_>>()?;
    if let (Outs::FirstArgument, [output], Some(written)) = (operator.outs(), &mut outputs[..], arguments.first()) {
        output.bytes = elements(written).filter(|bytes| bytes.len() == output.bytes.len()).ok_or(Error::InvalidType)?;
    }
    let outs = outputs.iter_mut().map(|output| output_slot(output, order(output.sizes.len()))).collect();
    let table = Table::new(operator.outs(), arguments, outs)?;
    let shapes = table.with_args(|args| {
        kernel(args)?;
        (0..metas.len()).map(|index| output_shape(operator, args, index)).collect::<Result<Vec<_>>>()
    })?;
    drop(table);
    outputs.iter_mut().zip(shapes).try_for_each(|(output, shape)| output.shrink(&shape))?;
    Ok(outputs)
}

/// Calls a primitive whose result is a number.
pub fn call_primitive(primitive: &Primitive, arguments: &[Argument<'_>]) -> Result<Scalar> {
    let with_result: Vec<Argument<'_>> = arguments.iter().cloned().chain([Argument::None]).collect();
    let table = Table::new(Outs::Tensors(0), &with_result, Vec::new())?;
    table.with_args(|args| {
        (primitive.kernel)(args)?;
        args.scalar(arguments.len())
    })
}

/// The shape that an output has after a call.
fn output_shape(operator: &Operator, args: &Args<'_, '_>, index: usize) -> Result<Shape> {
    let first = operator.in_count();
    let output = match operator.outs() {
        Outs::Tensors(_) => args.tensor(first + index),
        Outs::List => args.tensor_of(first, index),
        Outs::FirstArgument => args.tensor(0),
    };
    Ok(output?.shape())
}

/// The elements of an argument that is a tensor.
fn elements(argument: &Argument<'_>) -> Option<Vec<u8>> {
    match argument {
        Argument::Tensor(tensor) | Argument::Ordered(tensor, _) => Some(tensor.bytes.to_vec()),
        _ => None,
    }
}

/// Owns the memory that the values of a call point into: the counterpart of a method in a program file.
struct Table<'a> {
    /// The arguments, the out tensors, then the items of lists and the list of out tensors.
    slots: Vec<Slot<'a>>,
    /// The slots of the arguments in schema order, little-endian.
    arguments: Vec<u8>,
}

enum Slot<'a> {
    Plain(Value<'a>),
    Tensor { scalar_type: ScalarType, sizes: Vec<u8>, order: DimOrder, data: *mut u8, room: Room },
    IntList(Vec<u8>),
    DoubleList(Vec<u8>),
    BoolList(Vec<u8>),
    TensorList(Vec<u8>),
}

/// Whether a kernel may write and shrink a tensor.
enum Room {
    Constant,
    /// Sizes and their bounds.
    Writable(Vec<Cell<i32>>),
}

impl<'a> Table<'a> {
    /// `outs` are the out tensors. If a kernel writes its first argument, the out tensor takes the place of that
    /// argument.
    fn new(form: Outs, arguments: &'a [Argument<'a>], outs: Vec<Slot<'a>>) -> Result<Self> {
        let places = arguments.len() as i32..(arguments.len() + outs.len()) as i32;
        let mut items = Vec::new();
        let mut slots = Vec::with_capacity(arguments.len() + outs.len());
        for argument in arguments {
            slots.push(argument_slot(argument, places.end as usize, &mut items)?);
        }
        slots.extend(outs.into_iter().chain(items));
        let mut indices: Vec<i32> = (0..places.start).collect();
        match form {
            Outs::Tensors(_) => indices.extend(places),
            Outs::List => {
                indices.push(slots.len() as i32);
                slots.push(Slot::TensorList(little_endian(places)));
            }
            Outs::FirstArgument => drop(indices.splice(..places.len(), places)),
        }
        Ok(Self { slots, arguments: little_endian(indices) })
    }

    fn with_args<R>(&self, body: impl FnOnce(&Args<'_, '_>) -> Result<R>) -> Result<R> {
        let values: Vec<Cell<Value<'_>>> =
            self.slots.iter().map(|slot| slot.value().map(Cell::new)).collect::<Result<_>>()?;
        body(&Args::new(&values, Indices::new(&self.arguments)))
    }
}

impl Slot<'_> {
    fn value(&self) -> Result<Value<'_>> {
        match self {
            Self::Plain(value) => Ok(*value),
            Self::IntList(slots) => Ok(Value::IntList(Longs::new(slots))),
            Self::DoubleList(items) => Ok(Value::DoubleList(Doubles::new(items))),
            Self::BoolList(items) => Ok(Value::BoolList(items)),
            Self::TensorList(slots) => Ok(Value::OptionalTensorList(Indices::new(slots))),
            Self::Tensor { scalar_type, sizes, order, data, room } => {
                let (sizes, dim_order) = (Indices::new(sizes), order.dims());
                let layout = TensorLayout { scalar_type: *scalar_type, sizes, dim_order };
                // SAFETY: the table borrows the buffer, mutably if the buffer is writable, and `tensor_slot` and
                // `OwnedTensor::zeros` guarantee that the buffer is as long as the shape says, or null.
                let tensor = unsafe {
                    match room {
                        Room::Constant => et_core::Tensor::new(layout, *data, Access::Constant),
                        Room::Writable(cells) => et_core::Tensor::new_dynamic(layout, *data, Access::Writable, cells),
                    }
                };
                tensor.map(Value::Tensor)
            }
        }
    }
}

/// Items of lists get slots of their own from `first_item` on.
fn argument_slot<'a>(argument: &Argument<'a>, first_item: usize, items: &mut Vec<Slot<'a>>) -> Result<Slot<'a>> {
    let first = (first_item + items.len()) as i32;
    Ok(match argument {
        Argument::None => Slot::Plain(Value::None),
        Argument::Int(value) => Slot::Plain(Value::Int(*value)),
        Argument::Bool(value) => Slot::Plain(Value::Bool(*value)),
        Argument::Double(value) => Slot::Plain(Value::Double(*value)),
        Argument::Text(value) => Slot::Plain(Value::String(value)),
        Argument::Doubles(values) => Slot::DoubleList(values.iter().flat_map(|value| value.to_le_bytes()).collect()),
        Argument::Bools(values) => Slot::BoolList(values.iter().map(|value| u8::from(*value)).collect()),
        Argument::Tensor(tensor) => tensor_slot(tensor, DimOrder::contiguous(tensor.sizes.len()))?,
        Argument::Ordered(tensor, order) => tensor_slot(tensor, *order)?,
        Argument::Ints(values) => {
            items.extend(values.iter().map(|value| Slot::Plain(Value::Int(*value))));
            Slot::IntList((i64::from(first)..).take(values.len()).flat_map(i64::to_le_bytes).collect())
        }
        Argument::Tensors(tensors) => {
            let present = tensors.iter().scan(first, |next, tensor| {
                *next += i32::from(tensor.is_some());
                Some(if tensor.is_some() { *next - 1 } else { -1 })
            });
            let slots = little_endian(present);
            for tensor in tensors.iter().flatten() {
                items.push(tensor_slot(tensor, DimOrder::contiguous(tensor.sizes.len()))?);
            }
            Slot::TensorList(slots)
        }
    })
}

fn tensor_slot<'a>(tensor: &TensorRef<'a>, order: DimOrder) -> Result<Slot<'a>> {
    let wanted = Shape::new(tensor.sizes)?.numel()? * tensor.scalar_type.size();
    if !tensor.bytes.is_empty() && tensor.bytes.len() != wanted {
        return Err(Error::InvalidArgument);
    }
    let data = if tensor.bytes.is_empty() { core::ptr::null_mut() } else { tensor.bytes.as_ptr().cast_mut() };
    let (scalar_type, sizes) = (tensor.scalar_type, little_endian(tensor.sizes.iter().copied()));
    Ok(Slot::Tensor { scalar_type, sizes, order, data, room: Room::Constant })
}

fn output_slot<'a>(output: &'a mut OwnedTensor, order: DimOrder) -> Slot<'a> {
    let (scalar_type, sizes) = (output.scalar_type, little_endian(output.sizes.iter().copied()));
    let room = Room::Writable(std::vec![Cell::new(0); 2 * output.sizes.len()]);
    Slot::Tensor { scalar_type, sizes, order, data: output.bytes.as_mut_ptr(), room }
}

/// The output that a caller wants, as a tensor without memory.
fn wanted_slot<'a>(wanted: &Option<Meta>) -> Slot<'a> {
    let Some(Meta { scalar_type, shape }) = wanted else { return Slot::Plain(Value::None) };
    Slot::Tensor {
        scalar_type: *scalar_type,
        sizes: little_endian(shape.sizes().iter().copied()),
        order: DimOrder::contiguous(shape.rank()),
        data: core::ptr::null_mut(),
        room: Room::Constant,
    }
}

fn little_endian(items: impl IntoIterator<Item = i32>) -> Vec<u8> {
    items.into_iter().flat_map(i32::to_le_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_allocates_and_fills_its_output() {
        let sizes = [2];
        let bytes: Vec<u8> = [-1.0_f32, 2.0].into_iter().flat_map(f32::to_le_bytes).collect();
        let tensor = TensorRef { scalar_type: ScalarType::Float, sizes: &sizes, bytes: &bytes };
        let outputs = call(&crate::activations::relu::RELU, &[Argument::Tensor(tensor)]).unwrap();
        assert_eq!(outputs[0].bytes, [0, 0, 0, 0, 0, 0, 0, 0x40]);
    }

    #[test]
    fn a_buffer_of_the_wrong_length_is_refused() {
        let tensor = TensorRef { scalar_type: ScalarType::Float, sizes: &[2], bytes: &[0; 4] };
        assert_eq!(
            call(&crate::activations::relu::RELU, &[Argument::Tensor(tensor)]).err(),
            Some(Error::InvalidArgument)
        );
    }
}
