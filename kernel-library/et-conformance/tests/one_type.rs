//! A kernel selected for one dtype computes that dtype and refuses every different dtype.

use et_core::{Dtypes, Error, Kernel, ScalarType};
use et_ops::Operator;
use et_ops::activations::{silu, softplus};
use et_ops::call::{Argument, OwnedTensor, call_kernel};
use et_ops::elementwise::{atan2, div, exp, mul};
use et_ops::indexing::masked_fill;

const FLOAT: u32 = Dtypes::of(&[ScalarType::Float]).0;

fn floats(values: &[f32]) -> OwnedTensor {
    let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    OwnedTensor { scalar_type: ScalarType::Float, sizes: vec![values.len() as i32], bytes }
}

fn longs(values: &[i64]) -> OwnedTensor {
    let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    OwnedTensor { scalar_type: ScalarType::Long, sizes: vec![values.len() as i32], bytes }
}

fn call(operator: &Operator, kernel: Kernel, tensors: &[&OwnedTensor]) -> Result<Vec<OwnedTensor>, Error> {
    let arguments: Vec<_> = tensors.iter().map(|tensor| Argument::Tensor(tensor.as_ref())).collect();
    call_kernel(operator, kernel, &arguments)
}

#[test]
fn a_kernel_for_floats_computes_floats() {
    let (left, right) = (floats(&[1.5, -2.0]), floats(&[2.0, 4.0]));
    assert_eq!(call(&mul::MUL, mul::out::<FLOAT>, &[&left, &right]), Ok(vec![floats(&[3.0, -8.0])]));
    assert_eq!(call(&div::DIV, div::out::<FLOAT>, &[&left, &right]), Ok(vec![floats(&[0.75, -0.5])]));
    assert_eq!(call(&exp::EXP, exp::out::<FLOAT>, &[&floats(&[0.0])]), Ok(vec![floats(&[1.0])]));
}

#[test]
fn a_kernel_for_floats_refuses_integers_alone_and_mixed() {
    let (integers, numbers) = (longs(&[3]), floats(&[2.0]));
    for tensors in [[&integers, &integers], [&integers, &numbers], [&numbers, &integers]] {
        assert_eq!(call(&mul::MUL, mul::out::<FLOAT>, &tensors), Err(Error::InvalidType));
        assert_eq!(call(&div::DIV, div::out::<FLOAT>, &tensors), Err(Error::InvalidType));
    }
    assert_eq!(call(&exp::EXP, exp::out::<FLOAT>, &[&integers]), Err(Error::InvalidType));
}

#[test]
fn a_kernel_for_floats_takes_numbers_and_masks_beside_them() {
    let input = floats(&[0.0, 1.0]);
    let mask = OwnedTensor { scalar_type: ScalarType::Bool, sizes: vec![2], bytes: vec![1, 0] };
    let arguments = [Argument::Tensor(input.as_ref()), Argument::Tensor(mask.as_ref()), Argument::Double(-2.5)];
    let filled = call_kernel(&masked_fill::MASKED_FILL_SCALAR, masked_fill::scalar_out::<FLOAT>, &arguments);
    assert_eq!(filled, Ok(vec![floats(&[-2.5, 1.0])]));
    let arguments = [Argument::Tensor(input.as_ref()), Argument::Int(0), Argument::Int(20)];
    let flat = call_kernel(&softplus::SOFTPLUS, softplus::out::<FLOAT>, &arguments);
    assert_eq!(flat, Ok(vec![floats(&[f32::INFINITY; 2])]));
}

#[test]
fn a_kernel_for_floats_refuses_what_would_become_floats() {
    let (integers, numbers) = (longs(&[3]), floats(&[0.0]));
    assert_eq!(call(&atan2::ATAN2, atan2::out::<FLOAT>, &[&numbers, &numbers]), Ok(vec![floats(&[0.0])]));
    assert_eq!(call(&atan2::ATAN2, atan2::out::<FLOAT>, &[&integers, &integers]), Err(Error::InvalidType));
    assert_eq!(call(&silu::SILU, silu::out::<FLOAT>, &[&integers]), Err(Error::InvalidType));
}
