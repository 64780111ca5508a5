//! Operations that move elements.

use etbuild_backend::Refusal;

use super::step::{Elements, Step, malformed, qparams};

/// Writes the index of an operand's element for an index of the result; `None` for padding.
trait At: Fn(&[usize], &mut [usize]) -> Option<()> {}

impl<F: Fn(&[usize], &mut [usize]) -> Option<()>> At for F {}

/// The position in an operand of each element of the result; `None` for padding.
fn places(step: &Step<'_>, at: impl At) -> Result<Vec<Option<usize>>, Refusal> {
    let (from, to) = (step.tensor(0)?.dims(), step.output().dims());
    let (mut index, mut source) = (vec![0; to.len()], vec![0; from.len()]);
    let mut place = |mut position: usize| {
        for (axis, size) in to.iter().enumerate().rev() {
            (index[axis], position) = (position % size, position / size);
        }
        at(&index, &mut source)?;
        let is_inside = source.iter().zip(&from).all(|(index, size)| index < size);
        is_inside.then(|| source.iter().zip(&from).fold(0, |position, (index, size)| position * size + index))
    };
    Ok((0..to.iter().product()).map(&mut place).collect())
}

fn moved(step: &Step<'_>, at: impl At) -> Result<Elements, Refusal> {
    let places = places(step, at)?.into_iter().collect::<Option<Vec<_>>>().ok_or_else(malformed)?;
    Ok(step.elements(0)?.gathered(&places))
}

/// Dimensions in another order.
pub fn transpose(step: &Step<'_>) -> Result<Elements, Refusal> {
    let order = step.sizes("perm");
    moved(step, |index, from| {
        order.iter().zip(index).try_for_each(|(axis, index)| from.get_mut(*axis).map(|at| *at = *index))
    })
}

/// A part of each dimension.
pub fn slice(step: &Step<'_>) -> Result<Elements, Refusal> {
    let ranges = step.sizes("ranges");
    let ranges = ranges.as_chunks::<3>().0;
    moved(step, |index, from| {
        let axes = from.iter_mut().zip(ranges.iter().zip(index));
        axes.for_each(|(at, ([start, _, by], index))| *at = start + index * by);
        Some(())
    })
}

/// The elements several times along each dimension.
pub fn tile(step: &Step<'_>) -> Result<Elements, Refusal> {
    let sizes = step.tensor(0)?.dims();
    moved(step, |index, from| {
        from.iter_mut().zip(index.iter().zip(&sizes)).for_each(|(at, (index, size))| *at = index % size.max(&1));
        Some(())
    })
}

/// The elements at the indices of an axis.
pub fn gather(step: &Step<'_>) -> Result<Elements, Refusal> {
    let [axis] = step.sizes("axis")[..] else { return Err(malformed()) };
    let indices = step.integers(1)?;
    moved(step, |index, from| {
        from.copy_from_slice(index);
        let at = from.get_mut(axis)?;
        *at = usize::try_from(*indices.get(*at)?).ok()?;
        Some(())
    })
}

/// Zeros around the elements.
pub fn pad(step: &Step<'_>) -> Result<Elements, Refusal> {
    let amounts = step.sizes("pad_amount");
    let amounts = amounts.as_chunks::<2>().0;
    let places = places(step, |index, from| {
        let mut axes = from.iter_mut().zip(amounts.iter().zip(index));
        axes.try_for_each(|(at, ([before, _], index))| index.checked_sub(*before).map(|index| *at = index))
    })?;
    let zero = qparams(step.output()).map_or(0, |qparams| qparams.zero as i32);
    Ok(match &*step.elements(0)? {
        Elements::Integers(integers) => {
            Elements::Integers(places.iter().map(|place| place.map_or(zero, |place| integers[place])).collect())
        }
        Elements::Numbers(numbers) => {
            Elements::Numbers(places.iter().map(|place| place.map_or(0.0, |place| numbers[place])).collect())
        }
    })
}

/// Concatenates the operands along an axis.
pub fn concat(step: &Step<'_>) -> Result<Elements, Refusal> {
    let [axis] = step.sizes("axis")[..] else { return Err(malformed()) };
    let mut parts = Vec::new();
    for position in 0..step.operation.inputs.len() {
        let run: usize = step.tensor(position)?.sizes.iter().skip(axis).map(|size| *size as usize).product();
        parts.push((step.numbers(position)?, run.max(1)));
    }
    let outer: usize = step.output().sizes.iter().take(axis).map(|size| *size as usize).product();
    let rows =
        (0..outer).flat_map(|row| parts.iter().flat_map(move |(part, run)| part.iter().skip(row * run).take(*run)));
    Ok(step.rounded(rows.copied()))
}
