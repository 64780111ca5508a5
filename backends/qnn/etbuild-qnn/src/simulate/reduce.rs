//! Reductions and pools, whose results are rounded once.

use etbuild_backend::Refusal;

use crate::program::Parameter;

use super::step::{Elements, Step, malformed};

/// The arithmetic mean.
pub fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len().max(1) as f64
}

/// The largest number.
pub fn most(numbers: &[f64]) -> f64 {
    numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// The smallest number.
pub fn least(numbers: &[f64]) -> f64 {
    numbers.iter().copied().fold(f64::INFINITY, f64::min)
}

/// A reduction over dimensions.
pub fn over(step: &Step<'_>, reduce: fn(&[f64]) -> f64) -> Result<Elements, Refusal> {
    let (axes, sizes) = (step.sizes("axes"), step.tensor(0)?.sizes.clone());
    let kept = |axis: usize| !axes.contains(&axis);
    let count: usize =
        sizes.iter().enumerate().filter(|(axis, _)| kept(*axis)).map(|(_, size)| *size as usize).product();
    let mut groups = vec![Vec::new(); count];
    for (mut position, number) in step.numbers(0)?.into_iter().enumerate() {
        let (mut group, mut distance) = (0, 1);
        for (axis, size) in sizes.iter().map(|size| *size as usize).enumerate().rev() {
            if kept(axis) {
                group += position % size * distance;
                distance *= size;
            }
            position /= size;
        }
        groups[group].push(number);
    }
    Ok(step.rounded(groups.iter().map(|numbers| reduce(numbers))))
}

/// An average pool.
pub fn average_pool(step: &Step<'_>) -> Result<Elements, Refusal> {
    let counts_padding = matches!(step.parameter("count_pad_for_edges"), Some(Parameter::Bool(true)));
    let area: usize = step.sizes("filter_size").iter().product();
    pool(step, |numbers| match counts_padding {
        true => numbers.iter().sum::<f64>() / area.max(1) as f64,
        false => mean(numbers),
    })
}

/// A maximum pool.
pub fn max_pool(step: &Step<'_>) -> Result<Elements, Refusal> {
    pool(step, most)
}

/// A function of the elements in a window that moves over an image with channels last.
fn pool(step: &Step<'_>, reduce: impl Fn(&[f64]) -> f64) -> Result<Elements, Refusal> {
    let [_, height, width, channels] = sizes(&step.tensor(0)?.sizes)?;
    let [images, rows, columns, _] = sizes(&step.output().sizes)?;
    let (kernel, stride, padding) = (step.sizes("filter_size"), step.sizes("stride"), step.sizes("pad_amount"));
    let ([tall, wide], [down, right], [top, _, left, _]) = (&kernel[..], &stride[..], &padding[..]) else {
        return Err(malformed());
    };
    let numbers = step.numbers(0)?;
    let mut results = Vec::with_capacity(images * rows * columns * channels);
    for place in 0..images * rows * columns {
        let (image, row, column) = (place / (rows * columns), place / columns % rows, place % columns);
        let along = |place: usize, taps: usize, step: usize, padding: usize, size: usize| {
            let positions = (0..taps).filter_map(move |tap| (place * step + tap).checked_sub(padding));
            positions.filter(move |position| *position < size)
        };
        for channel in 0..channels {
            let window = along(row, *tall, *down, *top, height).flat_map(|y| {
                along(column, *wide, *right, *left, width)
                    .map(move |x| ((image * height + y) * width + x) * channels + channel)
            });
            let window: Vec<f64> = window.map(|position| numbers[position]).collect();
            results.push(reduce(&window));
        }
    }
    Ok(step.rounded(results))
}

fn sizes(sizes: &[u32]) -> Result<[usize; 4], Refusal> {
    match *sizes {
        [images, height, width, channels] => Ok([images, height, width, channels].map(|size| size as usize)),
        _ => Err(malformed()),
    }
}
