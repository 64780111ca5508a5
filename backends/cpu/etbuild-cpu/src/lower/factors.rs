//! Folds per-channel factors (squeeze-and-excite) of an image into the weights of the following GEMM, which has fewer weights
//! than the image has elements.

use et_cpu::{Elementwise, Instruction, Place, Product, Rows, Stream};
use et_kernels::elementwise::Operation;

use crate::builder::Builder;
use crate::lower::back_to_back::of_rows;
use crate::lower::unread::Mentions;

/// The minimum ratio of rows to columns at which each thread scales the weights.
const ROWS: usize = 4;

/// The maximum weights: each thread has a scaled copy.
const MOST: usize = 1 << 16;

/// Folds all such factors into weights.
pub fn join(builder: &mut Builder<'_>) {
    let mentions = Mentions::of(builder);
    for position in 0..builder.instructions.len() {
        let Some(first) = builder.before(position) else { continue };
        let Some(product) = joined(builder, &mentions, first, position) else { continue };
        builder.take(first);
        builder.place_taken(position, product);
    }
}

/// The GEMM with folded factors; `None` where folding does not pay.
fn joined(builder: &Builder<'_>, mentions: &Mentions, first: usize, second: usize) -> Option<Product> {
    let (Some(Instruction::Elementwise(elementwise)), Some(Instruction::Product(product))) =
        (builder.instructions[first], builder.instructions[second])
    else {
        return None;
    };
    let (input, factors) = image_and_factors(&elementwise)?;
    let [.., rows, channels] = elementwise.sizes;
    let [_, _, columns] = product.window.output;
    let written = Rows { place: elementwise.output, stride: channels };
    let follows = mentions.are_between(builder, written, product.input, channels);
    let fits = of_rows(&product.window)? == rows as usize && product.window.input[2] == channels;
    let pays = rows as usize >= ROWS * columns as usize && columns as usize * channels as usize <= MOST;
    (follows && fits && pays).then_some(Product { input, factors, ..product })
}

/// The rows and the per-channel factors of a chain that is a single multiplication.
fn image_and_factors(elementwise: &Elementwise) -> Option<(Rows, Place)> {
    let (streams, steps) = (elementwise.streams.get(..2)?, elementwise.steps.first()?);
    let is_product = [elementwise.stream_count, elementwise.step_count] == [2, 1]
        && steps.operation == Operation::Mul as u32
        && steps.terms[..2].iter().all(|term| term.kind == 0)
        && steps.terms[0].bits + steps.terms[1].bits == 1;
    let is_one = elementwise.sizes[..2] == [1, 1];
    let are_real = elementwise.numbers.scale == 0.0 && streams.iter().all(|stream| stream.numbers.scale == 0.0);
    let factors = |stream: &&Stream| stream.strides[2..] == [0, 1];
    let image = |stream: &&Stream| stream.strides[2] > 0 && stream.strides[3] == 1;
    let (image, factors) = (streams.iter().find(image)?, streams.iter().find(factors)?);
    let input = Rows { place: image.place, stride: image.strides[2] };
    (is_product && is_one && are_real).then_some((input, factors.place))
}
