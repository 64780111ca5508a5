//! Products of two computed matrices.

use etbuild_backend::Refusal;

use crate::program::Parameter;

use super::fixed_point::Rescale;
use super::step::{Elements, Step, malformed};
use super::window::Number;

/// The sizes of a batched GEMM.
struct Product {
    rows: usize,
    inner: usize,
    columns: usize,
    /// Whether the second operand is `[columns][inner]`.
    is_transposed: bool,
    /// The number of the matrix of each operand, for each result.
    matrices: Vec<[usize; 2]>,
}

/// A batched GEMM: in fp16, whose sums are rounded once, or in 8 bits, whose sums are rescaled as those of convolutions.
pub fn matmul(step: &Step<'_>) -> Result<Elements, Refusal> {
    let product = Product::of(step)?;
    let Some(([left, right], output)) = step.of_width(1) else {
        return Ok(step.rounded(product.sums(&step.numbers(0)?, &step.numbers(1)?)?));
    };
    let centred = |position: usize, zero: i64| -> Result<Vec<i64>, Refusal> {
        Ok(step.integers(position)?.into_iter().map(|integer| integer - zero).collect())
    };
    let sums = product.sums(&centred(0, left.zero)?, &centred(1, right.zero)?)?;
    let rescale = Rescale::of(left.scale * right.scale / output.scale);
    Ok(step.saturated(sums.into_iter().map(|sum| rescale.apply(sum) + output.zero)))
}

impl Product {
    fn of(step: &Step<'_>) -> Result<Self, Refusal> {
        let (left, right, to) = (step.tensor(0)?.dims(), step.tensor(1)?.dims(), step.output().dims());
        let (Some((before, [rows, inner])), Some((_, [_, columns]))) = (left.split_last_chunk(), to.split_last_chunk())
        else {
            return Err(malformed());
        };
        let is_transposed = matches!(step.parameter("transpose_in1"), Some(Parameter::Bool(true)));
        let of_right = right.split_last_chunk::<2>().ok_or_else(malformed)?.0;
        let counts = [before, of_right].map(|sizes| sizes.iter().product::<usize>());
        let all: usize = to[..to.len() - 2].iter().product();
        if counts.iter().any(|count| *count != all && *count != 1) {
            return Err(malformed());
        }
        let matrices = (0..all).map(|number| counts.map(|count| if count == 1 { 0 } else { number })).collect();
        Ok(Self { rows: *rows, inner: *inner, columns: *columns, is_transposed, matrices })
    }

    /// The sums of products, `[matrix][row][column]`.
    fn sums<T: Number>(&self, left: &[T], right: &[T]) -> Result<Vec<T>, Refusal> {
        let Self { rows, inner, columns, is_transposed, .. } = *self;
        let mut sums = Vec::with_capacity(self.matrices.len() * rows * columns);
        for [of_left, of_right] in &self.matrices {
            let left = left.get(of_left * rows * inner..).and_then(|left| left.get(..rows * inner));
            let right = right.get(of_right * inner * columns..).and_then(|right| right.get(..inner * columns));
            let (left, right) = (left.ok_or_else(malformed)?, right.ok_or_else(malformed)?);
            for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
                let mut sum = T::default();
                for (place, factor) in left[row * inner..][..inner].iter().enumerate() {
                    let other = if is_transposed { column * inner + place } else { place * columns + column };
                    sum += *factor * right[other];
                }
                sums.push(sum);
            }
        }
        Ok(sums)
    }
}
