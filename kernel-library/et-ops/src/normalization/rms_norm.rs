//! `aten::rms_norm` (RMSNorm): divides each sample by the root mean square over the trailing dimensions
//! `normalized_shape`.

use crate::family::opmath::Opmath;
use crate::family::place::Place;
use crate::family::unary;
use crate::family::walk::Walk;
use crate::math::Math;
use crate::normalization::rows;
use crate::prelude::*;
use et_core::Element;

/// `torch.nn.functional.rms_norm` (Zhang and Sennrich 2019).
#[cfg(feature = "catalogue")]
pub const RMS_NORM: Operator = Operator {
    schema: "aten::rms_norm.out(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None, \
             *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::rms_norm",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "rows with a weight",
            1e-6,
            &[
                Tensor(CaseTensor::float(&[2, 2], &[3.0, 4.0, -1.0, 1.0])),
                Ints(&[2]),
                Tensor(CaseTensor::float(&[2], &[2.0, 0.5])),
                Double(0.0),
            ],
            &[CaseTensor::float(&[2, 2], &[1.69705629, 0.56568545, -2.0, 0.5])],
        ),
        Case::near(
            "two dimensions in half precision without an epsilon",
            1e-3,
            &[
                Tensor(CaseTensor::of(ScalarType::Half, &[1, 2, 2], &[3.0; 4])),
                Ints(&[2, 2]),
                CaseArgument::None,
                CaseArgument::None,
            ],
            &[CaseTensor::of(ScalarType::Half, &[1, 2, 2], &[1.0; 4])],
        ),
        Case::refused(
            "a shape that is not that of the trailing dimensions",
            &[Tensor(CaseTensor::float(&[2, 1], &[1.0, 2.0])), Ints(&[2]), CaseArgument::None, CaseArgument::None],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    rows::leading(args, &[2])?;
    unary::like_first(args, index)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let out = args.tensor(4)?;
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    dispatch!(D, out.scalar_type(), floats, T => normalize::<T>(args, &out))
}

fn normalize<T: Opmath>(args: &Args<'_, '_>, out: &et_core::Tensor<'_>) -> Result<()>
where
    T::Math: Math,
{
    let (input, weight, leading) = (args.tensor(0)?, args.optional_tensor(2)?, rows::leading(args, &[2])?);
    let (elements, to, shape) = (input.input::<T>()?, out.output::<T>()?, input.shape());
    let weights = weight.map(|tensor| tensor.input::<T>()).transpose()?;
    let weight_place = weight.map(|tensor| Place::broadcast(&tensor, &shape)).transpose()?;
    let [from_place, to_place] = [&input, out].map(Place::of);
    let (sample, epsilon) = (rows::sample(&shape, leading), epsilon::<T::Math>(args)?);
    let count = T::Math::from_i64(sample.numel()? as i64);
    for [from_at, to_at] in Walk::over(&rows::samples(&shape, leading), [from_place, to_place])? {
        let (from_place, to_place) = (from_place.at(from_at), to_place.at(to_at));
        let squares = Walk::over(&sample, [from_place])?.map(|[at]| elements.get(at).raise()).map(|x| x * x);
        let scale = T::Math::ONE / (squares.fold(T::Math::ZERO, T::Math::plus) / count + epsilon).sqrt();
        for [from, at, weight] in Walk::over(&sample, [from_place, to_place, weight_place.unwrap_or(from_place)])? {
            let normal = elements.get(from).raise() * scale;
            to.set(at, T::lower(weights.map_or(normal, |weights| normal * weights.get(weight).raise())));
        }
    }
    Ok(())
}

/// The epsilon that is added to the mean of squares; by default the machine epsilon of the dtype of the computation.
fn epsilon<M: Math>(args: &Args<'_, '_>) -> Result<M> {
    let given = args.optional_scalar(3)?;
    Ok(given.map_or(M::power_of_two(-(M::FRACTION as i32)), |epsilon| M::from_f64(epsilon.to_f64())))
}
