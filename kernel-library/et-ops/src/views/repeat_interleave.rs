//! `aten::repeat_interleave`: each index, repeated by the count that its element gives.

use et_core::{Element, Tensor as Operand};

use crate::family::choice;
use crate::prelude::*;

/// `torch.repeat_interleave` of repeats alone.
#[cfg(feature = "catalogue")]
pub const REPEAT_INTERLEAVE: Operator = Operator {
    schema: "aten::repeat_interleave.Tensor_out(Tensor repeats, *, SymInt? output_size=None, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::repeat_interleave.Tensor",
    path: kernel_path!(tensor_out),
    dtypes: Dtypes::of(&[ScalarType::Int, ScalarType::Long]),
    infer,
    kernel: tensor_out::<ALL>,
    cases: &[
        Case::exact(
            "a stated size",
            &[Tensor(CaseTensor::long(&[3], &[2.0, 0.0, 3.0])), Int(5)],
            &[CaseTensor::long(&[5], &[0.0, 0.0, 2.0, 2.0, 2.0])],
        ),
        Case::exact(
            "narrow integers",
            &[Tensor(CaseTensor::of(ScalarType::Int, &[2], &[1.0, 2.0])), Int(3)],
            &[CaseTensor::of(ScalarType::Int, &[3], &[0.0, 1.0, 1.0])],
        ),
        Case::exact("nothing", &[Tensor(CaseTensor::long(&[0], &[])), Int(0)], &[CaseTensor::long(&[0], &[])]),
        Case::refused(
            "another size than the sum",
            &[Tensor(CaseTensor::long(&[3], &[2.0, 0.0, 3.0])), Int(4)],
            Error::InvalidArgument,
        ),
        Case::refused(
            "less than none",
            &[Tensor(CaseTensor::long(&[2], &[2.0, -1.0])), Int(1)],
            Error::InvalidArgument,
        ),
        Case::refused(
            "repeats of rank 2",
            &[Tensor(CaseTensor::long(&[1, 1], &[1.0])), Int(1)],
            Error::InvalidArgument,
        ),
    ],
};

/// The stated output size, else the upper bound that the caller expects: the shapes give no bound.
fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let repeats = args.tensor(0)?;
    let size = match args.optional_int(1)? {
        Some(size) => i32::try_from(size).map_err(|_| Error::InvalidArgument)?,
        None => i32::MAX,
    };
    let shape = choice::shape(args, 2, Shape::new(&[size])?)?;
    let bounded = repeats.rank() == 1 && shape.sizes() != [i32::MAX];
    if bounded { Ok(Meta { scalar_type: repeats.scalar_type(), shape }) } else { Err(Error::InvalidArgument) }
}

/// The portable kernel for the types in `D`.
pub fn tensor_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (repeats, out) = (args.tensor(0)?, args.tensor(2)?);
    if repeats.rank() != 1 {
        return Err(Error::InvalidArgument);
    }
    dispatch!(D, out.scalar_type(), integers, T => repeated::<T>(&repeats, args.optional_int(1)?, &out))
}

fn repeated<T: Number>(repeats: &Operand<'_>, stated: Option<i64>, out: &Operand<'_>) -> Result<()> {
    let counts = repeats.input::<T>()?;
    let total = counts
        .iter()
        .map(Element::to_i64)
        .try_fold(0_i64, |total, count| if count < 0 { None } else { total.checked_add(count) });
    let total = total.filter(|total| stated.is_none_or(|stated| stated == *total)).ok_or(Error::InvalidArgument)?;
    out.resize(&Shape::new(&[i32::try_from(total).map_err(|_| Error::InvalidArgument)?])?)?;
    let indices = counts.iter().enumerate().flat_map(|(index, count)| (0..count.to_i64()).map(move |_| index));
    let to = out.output::<T>()?;
    indices.enumerate().for_each(|(at, index)| to.set(at, T::from_i64(index as i64)));
    Ok(())
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;
    use crate::call::{Argument, TensorRef, call_kernel_for};

    #[test]
    fn without_a_stated_size_the_repeats_decide_within_what_the_caller_expects() {
        let bytes = [2_i32, 1].map(i32::to_le_bytes).concat();
        let repeats = TensorRef { scalar_type: ScalarType::Int, sizes: &[2], bytes: &bytes };
        let arguments = [Argument::Tensor(repeats), Argument::None];
        let call = |bound: i32| {
            let meta = Meta { scalar_type: ScalarType::Int, shape: Shape::new(&[bound])? };
            call_kernel_for(&REPEAT_INTERLEAVE, tensor_out::<ALL>, &arguments, &[meta])
        };
        assert_eq!(call(5).unwrap()[0].bytes, [0_i32, 0, 1].map(i32::to_le_bytes).concat());
        assert_eq!(call(2).err(), Some(Error::InvalidArgument));
    }
}
