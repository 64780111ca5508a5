//! Element-wise kernels on tensors that lie in different dim orders.
#![allow(unsafe_code)] // Lends local arrays to tensors.

use std::cell::Cell;

use et_core::{Access, Args, Error, Indices, Kernel, Longs, Result, ScalarType, Tensor, TensorLayout, Value};
use et_ops::ALL;
use et_ops::elementwise::mul;
use et_ops::views::clone_dim_order;

const SIZES: [u8; 8] = [2, 0, 0, 0, 3, 0, 0, 0];
const ROWS: &[u8] = &[0, 1];
const COLUMNS: &[u8] = &[1, 0];

/// A tensor of shape `[2, 3]`.
fn tensor<'a>(elements: &'a mut [f32; 6], dim_order: &'a [u8]) -> Value<'a> {
    let layout = TensorLayout { scalar_type: ScalarType::Float, sizes: Indices::new(&SIZES), dim_order };
    let data = elements.as_mut_ptr().cast();
    // SAFETY: the elements are borrowed for the lifetime of the tensor, and accessed only through the tensor.
    Value::Tensor(unsafe { Tensor::new(layout, data, Access::Writable) }.unwrap())
}

fn call(kernel: Kernel, values: &[Value<'_>]) -> Result<()> {
    let slots: Vec<u8> = (0..values.len() as i32).flat_map(i32::to_le_bytes).collect();
    let values: Vec<Cell<Value<'_>>> = values.iter().copied().map(Cell::new).collect();
    kernel(&Args::new(&values, Indices::new(&slots)))
}

#[test]
fn a_product_pairs_elements_by_position_not_by_address() {
    let mut rows = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let mut columns = [10.0, 40.0, 20.0, 50.0, 30.0, 60.0];
    let mut out = [0.0; 6];
    let values = [tensor(&mut rows, ROWS), tensor(&mut columns, COLUMNS), tensor(&mut out, ROWS)];
    call(mul::out::<ALL>, &values).unwrap();
    assert_eq!(out, [10.0, 40.0, 90.0, 160.0, 250.0, 360.0]);
}

#[test]
fn a_copy_takes_the_dim_order_of_its_output() {
    let mut rows = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let mut out = [0.0; 6];
    let values = [tensor(&mut rows, ROWS), Value::Bool(false), Value::None, tensor(&mut out, COLUMNS)];
    call(clone_dim_order::out::<ALL>, &values).unwrap();
    assert_eq!(out, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
}

#[test]
fn a_stated_dim_order_that_the_output_lacks_is_refused() {
    let (mut rows, mut out) = ([0.0; 6], [0.0; 6]);
    let values = [
        tensor(&mut rows, ROWS),
        Value::Bool(false),
        Value::IntList(Longs::new(&[4, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0])),
        tensor(&mut out, COLUMNS),
        Value::Int(0),
        Value::Int(1),
    ];
    let slots: Vec<u8> = (0..4_i32).flat_map(i32::to_le_bytes).collect();
    let values = values.map(Cell::new);
    let args = Args::new(&values, Indices::new(&slots));
    assert_eq!(clone_dim_order::out::<ALL>(&args), Err(Error::InvalidArgument));
}
