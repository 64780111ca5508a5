//! `torchvision::nms`: boxes by falling score, without those that overlap a better box.

use et_core::{Float, Input, Output};

use crate::family::choice;
use crate::family::divide::Divide;
use crate::prelude::*;

/// `torchvision.ops.nms`. `dets`, `[boxes, 4]`, has the left, upper, right and lower edge of each box. The output has the numbers of the
/// boxes that stay: a box goes if it and a better box share more than `iou_threshold` of their union.
#[cfg(feature = "catalogue")]
pub const NMS: Operator = Operator {
    schema: "torchvision::nms.out(Tensor dets, Tensor scores, float iou_threshold, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "torchvision::nms",
    path: kernel_path!(out),
    dtypes: Dtypes::of(&[ScalarType::Float, ScalarType::Double]),
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::bounded(
            "one of two that overlap, and one apart",
            &[
                Tensor(CaseTensor::float(&[3, 4], &[0.0, 0.0, 4.0, 4.0, 1.0, 0.0, 4.0, 4.0, 8.0, 8.0, 9.0, 9.0])),
                Tensor(CaseTensor::float(&[3], &[0.25, 0.75, 0.5])),
                Double(0.5),
            ],
            &[CaseTensor::long(&[2], &[1.0, 2.0])],
        ),
        Case::exact(
            "all, equal scores in order, in double precision",
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[2, 4], &[0.0, 0.0, 2.0, 2.0, 1.0, 1.0, 3.0, 3.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[2], &[0.5, 0.5])),
                Double(0.2),
            ],
            &[CaseTensor::long(&[2], &[0.0, 1.0])],
        ),
        Case::exact(
            "no boxes",
            &[Tensor(CaseTensor::float(&[0, 4], &[])), Tensor(CaseTensor::float(&[0], &[])), Double(0.5)],
            &[CaseTensor::long(&[0], &[])],
        ),
        Case::refused(
            "another number of scores",
            &[Tensor(CaseTensor::float(&[1, 4], &[0.0; 4])), Tensor(CaseTensor::float(&[2], &[0.5; 2])), Double(0.5)],
            Error::InvalidArgument,
        ),
    ],
};

/// All boxes at most, unless the caller knows better.
fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (boxes, scores) = (args.tensor(0)?, args.tensor(1)?);
    let (shape, count) = (boxes.shape(), scores.shape());
    match (shape.sizes(), count.sizes()) {
        ([boxes, 4], [scores]) if boxes == scores => {}
        _ => return Err(Error::InvalidArgument),
    }
    if boxes.scalar_type() != scores.scalar_type() {
        return Err(Error::InvalidType);
    }
    Ok(Meta { scalar_type: ScalarType::Long, shape: choice::shape(args, 3, count)? })
}

/// The portable kernel for input dtypes `D`; numbers of boxes are `int64` regardless of `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    infer(args, 0)?;
    dispatch!(D, args.tensor(0)?.scalar_type(), precise, T => keep::<T>(args))
}

fn keep<T: Float + Divide>(args: &Args<'_, '_>) -> Result<()> {
    let (boxes, scores, limit, out) = (args.tensor(0)?, args.tensor(1)?, args.scalar(2)?.to_f64(), args.tensor(3)?);
    let boxes = Boxes { elements: boxes.input::<T>()?, steps: [boxes.strides()[0], boxes.strides()[1]] };
    let scores = Scores { elements: scores.input::<T>()?, step: scores.strides()[0], count: scores.size(0) };
    // The numbers of kept boxes are stored as they are found, so the output has to hold all that stay before their count is known.
    out.resize(&infer(args, 0)?.shape)?;
    let (found, to, step) = (out.size(0), out.output::<i64>()?, out.strides()[0]);
    let mut kept = 0;
    let mut last = None;
    while let Some(next) = scores.after(last) {
        last = Some(next);
        if !boxes.overlaps(next, (to, step), kept, limit) {
            if kept == found {
                return Err(Error::InvalidArgument);
            }
            to.set(kept * step, next as i64);
            kept += 1;
        }
    }
    out.resize(&Shape::new(&[kept as i32])?)
}

/// The scores of boxes.
struct Scores<'a, T> {
    elements: Input<'a, T>,
    step: usize,
    count: usize,
}

impl<T: Float + Divide> Scores<'_, T> {
    /// The box that follows another in the order of falling scores, NaN first and equal scores as they lie.
    fn after(&self, last: Option<usize>) -> Option<usize> {
        let follows = |number: &usize| last.is_none_or(|last| self.comes_before(last, *number));
        (0..self.count)
            .filter(follows)
            .reduce(|best, number| if self.comes_before(number, best) { number } else { best })
    }

    fn comes_before(&self, left: usize, right: usize) -> bool {
        let [one, other] = [left, right].map(|number| self.elements.get(number * self.step).to_f64());
        match (one.is_nan(), other.is_nan()) {
            (false, false) if one != other => one > other,
            (false, false) | (true, true) => left < right,
            (is_first, _) => is_first,
        }
    }
}

/// The edges of boxes.
struct Boxes<'a, T> {
    elements: Input<'a, T>,
    steps: [usize; 2],
}

impl<T: Float + Divide> Boxes<'_, T> {
    fn edges(&self, number: usize) -> [T; 4] {
        [0, 1, 2, 3].map(|edge| self.elements.get(number * self.steps[0] + edge * self.steps[1]))
    }

    /// Whether a box shares more than `limit` of the union with one of the first `count` kept boxes.
    fn overlaps(&self, number: usize, (kept, step): (Output<'_, i64>, usize), count: usize, limit: f64) -> bool {
        let own = self.edges(number);
        (0..count).any(|index| {
            let other = self.edges(kept.get(index * step) as usize);
            shared(other, own).to_f64() > limit
        })
    }
}

/// The common area of two boxes divided by the area of their union, rounded as torchvision rounds it.
fn shared<T: Float + Divide>(one: [T; 4], other: [T; 4]) -> T {
    let area = |edges: [T; 4]| edges[2].minus(edges[0]).times(edges[3].minus(edges[1]));
    let larger = |left: T, right: T| if left < right { right } else { left };
    let smaller = |left: T, right: T| if right < left { right } else { left };
    let side =
        |low: usize, high: usize| larger(T::ZERO, smaller(one[high], other[high]).minus(larger(one[low], other[low])));
    let common = side(0, 2).times(side(1, 3));
    common.divided(area(one).plus(area(other)).minus(common))
}
