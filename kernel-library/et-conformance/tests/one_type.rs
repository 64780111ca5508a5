//! A kernel selected for one type computes that type and refuses the others.

use et_core::{Dtypes, Error, Kernel, ScalarType};
use et_ops::call::{Argument, OwnedTensor, call_kernel};
use et_ops::{Operator, div, exp, mul};

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
