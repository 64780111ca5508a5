//! `etbuild::choose_experts`: the experts of a mixture that each row chooses, by corrected scores within groups of experts.

use core::cmp::Ordering;

use et_core::{Input, Tensor as View};

use crate::family::extremum::precedes;
use crate::prelude::*;

/// The `count` experts of each row, in order, whose `scores`, `[rows, experts]`, plus `biases`, `[experts]`, are greatest. The experts are in
/// `groups` of neighbours, and a row chooses from its `kept` best groups: those whose `judged` greatest numbers have the greatest sum
/// (DeepSeek-AI 2024). The results are the scores without biases and the experts in int64, `[rows, count]` each. NaN is greatest, and of equal
/// numbers, the first comes first. The kept groups must have `count` experts.
#[cfg(feature = "catalogue")]
pub const CHOOSE_EXPERTS: Operator = Operator {
    schema: "etbuild::choose_experts.values(Tensor scores, Tensor? biases, int count, int groups=1, int kept=1, int judged=1, *, \
             Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)",
    functional: "etbuild::choose_experts",
    path: kernel_path!(values),
    dtypes: Dtypes::FLOATS.with(ScalarType::Long),
    infer,
    kernel: values::<ALL>,
    cases: &[
        Case::exact(
            "the better group, by its greatest score",
            &[
                Tensor(CaseTensor::float(&[2, 4], &[0.5, 0.25, 0.375, 0.125, 0.0, 0.25, 0.5, 1.0])),
                CaseArgument::None,
                Int(2),
                Int(2),
                Int(1),
                Int(1),
            ],
            &[CaseTensor::float(&[2, 2], &[0.5, 0.25, 1.0, 0.5]), CaseTensor::long(&[2, 2], &[0.0, 1.0, 3.0, 2.0])],
        ),
        Case::exact(
            "biases, and groups by the sum of two",
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[1, 6], &[0.5, 0.5, 0.75, 0.0, 0.25, 0.5])),
                Tensor(CaseTensor::of(ScalarType::Double, &[6], &[0.0, 0.0, 0.0, 0.0, 0.0, 1.0])),
                Int(3),
                Int(3),
                Int(2),
                Int(2),
            ],
            &[
                CaseTensor::of(ScalarType::Double, &[1, 3], &[0.5, 0.5, 0.5]),
                CaseTensor::long(&[1, 3], &[5.0, 0.0, 1.0]),
            ],
        ),
        Case::exact(
            "NaN first, among experts and among groups",
            &[
                Tensor(CaseTensor::float(&[2, 4], &[1.0, f64::NAN, f64::NAN, 0.5, 1.0, 0.75, f64::NAN, 0.5])),
                CaseArgument::None,
                Int(2),
                Int(2),
                Int(1),
                Int(1),
            ],
            &[
                CaseTensor::float(&[2, 2], &[f64::NAN, 1.0, f64::NAN, 0.5]),
                CaseTensor::long(&[2, 2], &[1.0, 0.0, 2.0, 3.0]),
            ],
        ),
        Case::refused(
            "more than the kept groups have",
            &[Tensor(CaseTensor::float(&[1, 4], &[0.0; 4])), CaseArgument::None, Int(3), Int(2), Int(1), Int(1)],
            Error::InvalidArgument,
        ),
        Case::refused(
            "groups of two sizes",
            &[Tensor(CaseTensor::float(&[1, 3], &[0.0; 3])), CaseArgument::None, Int(1), Int(2), Int(1), Int(1)],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let scores = args.tensor(0)?;
    let (shape, [count, groups, kept, judged]) = (scores.shape(), numbers(args)?);
    let [rows, experts] = shape.sizes() else { return Err(Error::InvalidArgument) };
    let biases = args.optional_tensor(1)?;
    let is_biased = biases
        .is_none_or(|biases| biases.shape().sizes() == [*experts] && biases.scalar_type() == scores.scalar_type());
    let experts = i64::from(*experts);
    let is_grouped = groups > 0 && experts % groups == 0 && (1..=groups).contains(&kept);
    let fits =
        is_grouped && (1..=experts / groups).contains(&judged) && (1..=kept * (experts / groups)).contains(&count);
    if !(is_biased && fits) {
        return Err(Error::InvalidArgument);
    }
    let scalar_type = if index == 0 { scores.scalar_type() } else { ScalarType::Long };
    Ok(Meta { scalar_type, shape: Shape::new(&[*rows, count as i32])? })
}

/// The portable kernel for the types in `D`; indices are `int64` regardless of `D`.
pub fn values<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let shape = infer(args, 0)?.shape;
    args.tensor(6)?.resize(&shape)?;
    args.tensor(7)?.resize(&shape)?;
    dispatch!(D, args.tensor(0)?.scalar_type(), floats, T => choose::<T>(args))
}

fn choose<T: Number>(args: &Args<'_, '_>) -> Result<()> {
    let [scores, values, indices] = [args.tensor(0)?, args.tensor(6)?, args.tensor(7)?];
    let biases = args.optional_tensor(1)?;
    let (to, places) = (values.output::<T>()?, indices.output::<i64>()?);
    let (to_steps, place_steps) = (values.strides(), indices.strides());
    for row in 0..scores.size(0) {
        let choice = Choice::<T>::of(args, &scores, biases.as_ref(), row)?;
        let mut last = None;
        for rank in 0..choice.count {
            let kept = (0..choice.groups).filter(|group| choice.is_kept(*group));
            let elements = kept.flat_map(|group| choice.members(group));
            let found = choice.best(elements, last).ok_or(Error::InvalidArgument)?;
            to.set(row * to_steps[0] + rank * to_steps[1], choice.score(found));
            places.set(row * place_steps[0] + rank * place_steps[1], found as i64);
            last = Some(found);
        }
    }
    Ok(())
}

/// What a row chooses from.
struct Choice<'a, T> {
    scores: Input<'a, T>,
    start: usize,
    step: usize,
    biases: Option<(Input<'a, T>, usize)>,
    count: usize,
    groups: usize,
    /// The experts of a group.
    size: usize,
    kept: usize,
    judged: usize,
}

impl<'a, T: Number> Choice<'a, T> {
    fn of(args: &Args<'_, '_>, scores: &View<'a>, biases: Option<&View<'a>>, row: usize) -> Result<Self> {
        let [count, groups, kept, judged] = numbers(args)?.map(|number| number as usize);
        let (strides, size) = (scores.strides(), scores.size(1) / groups.max(1));
        let biases = biases.map(|biases| Ok::<_, Error>((biases.input()?, biases.strides()[0]))).transpose()?;
        let (start, step) = (row * strides[0], strides[1]);
        Ok(Self { scores: scores.input()?, start, step, biases, count, groups, size, kept, judged })
    }

    fn score(&self, expert: usize) -> T {
        self.scores.get(self.start + expert * self.step)
    }

    fn corrected(&self, expert: usize) -> T {
        let bias = self.biases.as_ref().map(|(biases, step)| biases.get(expert * step));
        bias.map_or(self.score(expert), |bias| self.score(expert).plus(bias))
    }

    fn members(&self, group: usize) -> core::ops::Range<usize> {
        group * self.size..(group + 1) * self.size
    }

    /// The best of the experts that come after `last` in the order of the result.
    fn best(&self, experts: impl Iterator<Item = usize>, last: Option<usize>) -> Option<usize> {
        let left = experts.filter(|expert| last.is_none_or(|last| self.precedes(last, *expert)));
        left.reduce(|best, expert| if self.precedes(expert, best) { expert } else { best })
    }

    fn precedes(&self, left: usize, right: usize) -> bool {
        let [left, right] = [left, right].map(|expert| (self.corrected(expert), expert));
        precedes(left, right, Ordering::Greater)
    }

    fn judgement(&self, group: usize) -> T {
        let (mut sum, mut last) = (T::ZERO, None);
        for _ in 0..self.judged {
            last = self.best(self.members(group), last);
            sum = last.map_or(sum, |expert| sum.plus(self.corrected(expert)));
        }
        sum
    }

    /// Whether fewer groups than are kept are better.
    fn is_kept(&self, group: usize) -> bool {
        if self.kept == self.groups {
            return true;
        }
        let own = (self.judgement(group), group);
        let is_better = |other: &usize| precedes((self.judgement(*other), *other), own, Ordering::Greater);
        (0..self.groups).filter(is_better).count() < self.kept
    }
}

/// The experts of a row, the groups, the kept groups, and the numbers that judge a group.
fn numbers(args: &Args<'_, '_>) -> Result<[i64; 4]> {
    Ok([args.int(2)?, args.int(3)?, args.int(4)?, args.int(5)?])
}
