//! Kernels for the test programs, and memory for methods.
#![allow(dead_code)] // Each test file uses a part.

use std::cell::Cell;

use et_core::{Args, Error, Indices, Kernel, Result, ScalarType, Shape, Storage, Tensor, TensorLayout, Value};
use et_format::DataFile;
use et_runtime::{Delegate, Failure, Memory, Method, Program};

/// The kernel of an operator in the test programs.
pub fn kernel(name: &str) -> Kernel {
    match name {
        "aten::add" => |args| zip(args, 3, |left, right| left + right),
        "aten::mul" => |args| zip(args, 2, |left, right| left * right),
        "aten::copy_" => |args| zip(args, 0, |_, right| right),
        "dim_order_ops::_to_dim_order_copy" => to_float,
        "aten::view_copy" => reshape,
        "executorch_prim::et_view" => view,
        _ => |_| Err(Error::OperatorMissing),
    }
}

/// Applies a function to the elements of arguments 0 and 1; a single element is broadcast.
fn zip(args: &Args<'_, '_>, out: usize, function: fn(f32, f32) -> f32) -> Result<()> {
    let [left, right, out] = [args.tensor(0)?, args.tensor(1)?, args.tensor(out)?];
    out.resize(&if left.numel() >= right.numel() { left.shape() } else { right.shape() })?;
    let (left, right, out) = (left.input::<f32>()?, right.input::<f32>()?, out.output::<f32>()?);
    if left.is_empty() || right.is_empty() {
        return Err(Error::InvalidArgument);
    }
    for index in 0..out.len() {
        out.set(index, function(left.get(index % left.len()), right.get(index % right.len())));
    }
    Ok(())
}

fn to_float(args: &Args<'_, '_>) -> Result<()> {
    args.tensor(3)?.output::<f32>()?.set(0, args.tensor(0)?.input::<i64>()?.get(0) as f32);
    Ok(())
}

fn flat(tensor: &Tensor<'_>) -> Result<Shape> {
    Shape::new(&[tensor.numel() as i32])
}

fn reshape(args: &Args<'_, '_>) -> Result<()> {
    let out = args.tensor(2)?;
    out.resize(&flat(&args.tensor(0)?)?)?;
    out.output::<f32>()?.copy_from(args.tensor(0)?.input()?);
    Ok(())
}

fn view(args: &Args<'_, '_>) -> Result<()> {
    let out = args.tensor(2)?;
    out.resize(&flat(&args.tensor(0)?)?)?;
    args.set(2, Value::Tensor(out.over(&args.tensor(0)?)?))
}

/// Loads the first method of a program with exactly the required memory, and calls `test` with the method.
pub fn with_method(
    file: &[u8],
    delegates: &[&dyn for<'a> Delegate<'a>],
    test: impl FnOnce(&Method<'_>) -> core::result::Result<(), Failure>,
) -> core::result::Result<(), Failure> {
    with_method_and_data(file, &[], delegates, test)
}

/// The same with data files.
pub fn with_method_and_data(
    file: &[u8],
    data: &[DataFile<'_>],
    delegates: &[&dyn for<'a> Delegate<'a>],
    test: impl FnOnce(&Method<'_>) -> core::result::Result<(), Failure>,
) -> core::result::Result<(), Failure> {
    let plan = Program::new(file)?.method_at(0)?;
    let needs = plan.requirements()?;
    let kernels = plan.plan().operators()?.iter().map(|operator| operator?.name().map(kernel));
    let kernels = kernels.collect::<Result<Vec<_>>>()?;
    let mut memory = Vec::new();
    for index in 0..needs.arenas.min(16) {
        let size = plan.arena_size(index)?;
        if size > 1 << 20 {
            return Err(Error::MemoryAllocationFailed.into());
        }
        memory.push((vec![0; size + 16], size));
    }
    let arenas: Vec<&[Cell<u8>]> = memory.iter_mut().map(|(bytes, size)| aligned(bytes, *size)).collect();
    let mut sizes = vec![0; needs.sizes.min(1 << 20)];
    let delegates: Vec<&dyn Delegate<'_>> = delegates.iter().map(|delegate| *delegate as &dyn Delegate<'_>).collect();
    let values = vec![Cell::new(Value::None); needs.values];
    let memory = Memory { values: &values, arenas: &arenas, sizes: &mut sizes, holds_state: false };
    test(&Method::load_with_data(plan, &kernels, &delegates, memory, data)?)
}

/// `size` bytes with the alignment that arenas must have.
fn aligned(bytes: &mut [u8], size: usize) -> &[Cell<u8>] {
    let skip = bytes.as_ptr().align_offset(16);
    Cell::from_mut(&mut bytes[skip..skip + size]).as_slice_of_cells()
}

/// The bytes of these numbers.
pub fn bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// The elements of output `index`.
pub fn output(method: &Method<'_>, index: usize) -> Vec<f32> {
    method.output_tensor(index).unwrap().input::<f32>().unwrap().iter().collect()
}

/// A constant of 32-bit floating-point numbers.
pub fn constant<'a>(sizes: &'a [u8], order: &'a [u8], bytes: &'a [u8]) -> Tensor<'a> {
    let layout = TensorLayout { scalar_type: ScalarType::Float, sizes: Indices::new(sizes), dim_order: order };
    Tensor::place(layout, Storage::Constant(bytes), None).unwrap()
}
